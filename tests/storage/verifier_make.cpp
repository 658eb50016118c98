// Makes journals for the tests of verifier.py and for the examples of docs/journal-format.md. The
// same shape gives the same bytes in every record and checkpoint: keys, times and choices are
// fixed.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "rules/holds.h"
#include "rules/settle_due.h"
#include "storage/journal.h"
#include "storage/proof.h"

namespace {

using namespace jackpot;
using namespace jackpot::rules;
using namespace jackpot::storage;
namespace fs = std::filesystem;

constexpr TimeMs kStartMs = 1'767'225'600'000;  // 2026-01-01T00:00:00Z
constexpr const char* kName = "jackpot.example/floor";

template <class T, class E>
T must(Result<T, E> result)
{
    if (result) return std::move(*result);
    if constexpr (std::is_same_v<E, JournalError>)
        throw std::runtime_error{inWords(result.error())};
    else
        throw std::runtime_error{result.error().message};
}

// RFC 8410: the private key's 32 bytes in PKCS #8.
Signer signerOf(const std::string& name, const std::string& seed)
{
    const std::string der = *decodeHex("302e020100300506032b657004220420") + seed;
    const std::string pem =
        "-----BEGIN PRIVATE KEY-----\n" + encodeBase64(der) + "\n-----END PRIVATE KEY-----\n";
    return must(Signer::make(name, must(PrivateKey::fromPem(pem))));
}

Signer numberedSigner(const std::string& name, char number)
{
    return signerOf(name, std::string(32, number));
}

PoolConfig blazingPool()
{
    PoolConfig pool;
    pool.id = "B7";
    pool.game = Game::BlazingSevens;
    pool.wager = Money::ofDollars(5);
    pool.increment = Rate::ofPartsPerMillion(200'000);
    pool.minimum = Money::ofDollars(50'000);
    return pool;
}

TableConfig tableOf(const std::string& id, const std::string& pool)
{
    TableConfig table;
    table.id = id;
    table.pool = pool;
    return table;
}

Site twoGames()
{
    PoolConfig blazing = blazingPool();
    blazing.reserveIncrement = Rate::ofPartsPerMillion(12'345);
    blazing.opening = Money::ofDollars(50'100);
    blazing.cap = Money::ofDollars(50'400);
    blazing.payoutUnit = Money::ofCents(25);
    PoolConfig holdem = blazingPool();
    holdem.id = "UTH – Süd 🂡";
    holdem.game = Game::UltimateTexasHoldem;
    holdem.increment = Rate::ofPartsPerMillion(235'001);
    holdem.reserveIncrement = Rate::ofPartsPerMillion(20'000);
    holdem.minimum = Money::ofDollars(2'000);
    holdem.bonus = TierAmounts{Money::ofDollars(1'000), Money::ofDollars(100)};
    Site site{{blazing, holdem}, {}};
    for (const char* id : {"T1", "T2", "T3", "Tisch \"4\""})
        site.tables.push_back(tableOf(id, blazing.id));
    for (const char* id : {"U1", "U2"}) {
        TableConfig table = tableOf(id, holdem.id);
        table.seats = 6;
        table.decks = 1;
        table.wager = holdem.wager;
        site.tables.push_back(table);
    }
    return site;
}

class SampleJournal {
public:
    SampleJournal(fs::path directory, std::string name, std::uint64_t snapshotEvery,
                  std::uint64_t seed = 20'260'101, char key = 1)
        : settings_{std::move(directory), snapshotEvery, {}},
          name_{std::move(name)},
          key_{key},
          random_{seed}
    {
        journal_.emplace(must(Journal::create(settings_, numberedSigner(name_, key_), now_)));
        tellKey();
    }

    Journal& journal() { return *journal_; }

    Outcome give(const Command& command)
    {
        rules::settleDue(state(), now_, [this](const SettleDue& due, TimeMs atMs) {
            journal_->decide(due, atMs);
        });
        Outcome outcome = journal_->decide(command, now_);
        if (random(3) == 0) commit();
        return outcome;
    }

    void commit() { must(journal_->commit()); }
    // Until there are that many records more.
    void play(std::uint64_t records)
    {
        const std::uint64_t until = journal_->size() + records;
        while (journal_->size() < until) {
            now_ += static_cast<TimeMs>(random(4) == 0 ? random(3'000) : random(300));
            if (random(25) == 0)
                journal_->heartbeat(now_);
            else
                playOne();
        }
        commit();
    }

    void rotateKey()
    {
        must(journal_->rotateKey(numberedSigner(name_, ++key_), {"Zoë", "Bob"}, now_));
        tellKey();
    }

    void loseKey()
    {
        const Verifier old = journal_->verifier();
        journal_.reset();
        journal_.emplace(must(Journal::open(settings_, numberedSigner(name_, ++key_), now_,
                                            LostKey{old, {"Zoë", "Bob"}})));
        tellKey();
    }

    void reopen(std::uint64_t snapshotEvery)
    {
        journal_.reset();
        settings_.snapshotEvery = snapshotEvery;
        journal_.emplace(must(Journal::open(settings_, numberedSigner(name_, key_), now_)));
    }

    // From now on the site and its parameters change too.
    void startAmending() { amends_ = true; }

    void closeSegment() { must(journal_->closeSegment(now_)); }

private:
    const State& state() const { return journal_->state(); }
    std::size_t random(std::size_t bound) { return random_() % bound; }
    void tellKey() const { std::cout << "key " << journal_->verifier().format() << '\n'; }

    const std::string& any(const std::vector<std::string>& texts)
    {
        return texts[random(texts.size())];
    }

    std::string reason()
    {
        static const std::vector<std::string> kReasons{"misdeal",
                                                       "a missing card",
                                                       "tab\there, \"quoted\" \\ and \x7F",
                                                       "falscher Einsatz",
                                                       "ошибка раздачи 🂧",
                                                       "line\nand\u2028separator",
                                                       std::string{"nul\0here", 8},
                                                       "not UTF-8: \xC3\x28 \xFF"};
        return any(kReasons);
    }

    std::string person()
    {
        static const std::vector<std::string> kPeople{"Zoë", "Bob", "王小明", ""};
        return any(kPeople);
    }

    std::vector<std::string> people() { return {person(), person(), "Eve"}; }

    void playOne()
    {
        const Table& table = state().tables[random(state().tables.size())];
        const std::string id = table.config.id;
        const Round& round = table.current;
        const std::int64_t number = round.number;
        const std::string pool = table.config.pool;

        if (amends_ && random(20) == 0) return amend(table);
        if (random(12) == 0) return playRefused(id, number, pool);
        if (random(7) == 0) return playByHand(table);
        if (table.suspended) {
            give(ResumeTable{id, Origin::Desk, reason(), {person()}});
        } else if (round.opened && !round.voided && !round.resultIn) {
            report(table);
        } else if (round.hasUnconfirmedClaims()) {
            const auto press = static_cast<std::int64_t>(random(4'000));
            give(random(10) == 0 ? Command{voidRound(id, number)}
                                 : Command{ConfirmJackpot{id, number, press}});
        } else if (state().pools[table.pool].isHeld() && random(3) == 0) {
            rule(pool);
        } else if (table.openWins() > 0 && random(2) == 0) {
            payJackpots(table.pool);
        } else {
            openRound(table);
        }
    }

    VoidRound voidRound(const std::string& table, std::int64_t round)
    {
        const auto ground = static_cast<VoidRoundGround>(random(4));
        return {table, round, ground, {1, 4}, reason(), people()};
    }

    void openRound(const Table& table)
    {
        OpenRound command{table.config.id, table.current.number + 1, {}};
        for (std::int64_t seat = 1; seat <= table.config.seats; ++seat)
            if (random(2) == 0) {
                const std::string card =
                    random(3) == 0 ? "" : "card-é" + std::to_string(100 + seat);
                command.wagers.push_back({seat, true, card, random(9) == 0 ? person() : ""});
            }
        give(command);
    }

    ReportResult resultOf(const Table& table)
    {
        struct Deal {
            std::vector<std::string> board;
            std::vector<std::vector<std::string>> hands;
        };
        static const std::vector<Deal> kBlazing{
            {{"2S"}, {{"9C", "4D"}, {"7C", "7H"}, {"KD", "KD"}}},
            {{"7H"}, {{"9C", "7S"}, {"7C", "7H"}, {"7D", "7D"}, {"7H", "7H"}}},
            {{"7H"}, {{"7H", "7H"}, {"7H", "7H"}}},
            {{"7D"}, {{"7D", "7D"}, {"7D", "7D"}, {"3C", "4C"}}},
            {{"7S"}, {{"7S", "7S"}}},
        };
        static const std::vector<Deal> kHoldem{
            {{"2S", "9H", "JD"}, {{"3C", "4C"}, {"5C", "6D"}}},
            {{"9S", "9H", "9D"}, {{"9C", "4C"}, {"5C", "5D"}, {"2H", "3H"}}},
            {{"9H", "8H", "7H"}, {{"6H", "5H"}, {"JH", "TH"}, {"2H", "3H"}, {"2C", "3C"}}},
            {{"QS", "JS", "TS"}, {{"AS", "KS"}, {"9S", "8S"}, {"2S", "4S"}, {"2C", "3C"}}},
        };
        const bool holdem = state().pools[table.pool].config.game == Game::UltimateTexasHoldem;
        const auto& deals = holdem ? kHoldem : kBlazing;
        const Deal& deal = deals[random(deals.size())];
        ReportResult result{table.config.id, table.current.number, deal.board, {}};
        std::size_t next = 0;
        for (int seat = 1; seat <= kMaxSeats && next < deal.hands.size(); ++seat)
            if (table.current.seat(seat).wagered)
                result.hands.push_back({seat, deal.hands[next++]});
        return result;
    }

    void report(const Table& table)
    {
        const std::string id = table.config.id;
        const std::int64_t number = table.current.number;
        if (random(12) == 0) return (void)give(voidRound(id, number));
        give(resultOf(table));
        if (random(4) == 0) give(CorrectResult{resultOf(table), people()});
        if (random(6) == 0)
            give(VoidWager{id, number, 1 + static_cast<int>(random(6)),
                           static_cast<VoidWagerGround>(random(4)), reason(), people()});
        if (random(4) == 0) give(CloseRound{id, number});
    }

    void rule(const std::string& id)
    {
        const Pool& pool = state().pools[*state().findPool(id)];
        RuleOnClaims ruling{id, {}, {person()}};
        auto holds = holdsOf(state(), pool);
        if (holds.empty()) holds.emplace_back();
        for (const RoundRef& ref : holds.front()) {
            const bool joins = pool.config.game == Game::BlazingSevens && !ruling.order.empty() &&
                               ruling.order.back()[0].table != ref.table &&
                               ruling.order.back().size() == 1 && random(2) == 0;
            if (joins)
                ruling.order.back().push_back(ref);
            else
                ruling.order.push_back({ref});
        }
        give(ruling);
    }

    void playByHand(const Table& table)
    {
        const std::string id = table.config.id;
        const std::string pool = table.config.pool;
        switch (random(amends_ ? 11 : 8)) {
            case 0:
                give(SuspendTable{id, static_cast<SuspensionGround>(random(3)), Origin::Desk,
                                  reason(), people()});
                break;
            case 1:
                give(MarkTableOffline{id});
                give(MarkTableOnline{id});
                break;
            case 2:
                give(SuspendPool{pool, reason(), {person()}});
                give(ResumePool{pool, reason(), {person()}});
                break;
            case 3:
                give(AdjustPool{pool, Money::ofCents(static_cast<std::int64_t>(random(20'000))),
                                reason(), people()});
                break;
            case 4: give(AdjustPool{pool, Money::ofDollars(-100'000), reason(), people()}); break;
            case 8:
            case 9:
            case 10: changeParameters(state().pools[table.pool]); break;
            default: payOrWithhold(); break;
        }
    }

    void changeParameters(const Pool& pool)
    {
        PoolParameters to = parametersOf(pool.config);
        if (random(5) != 0) {
            const std::int64_t minimum = pool.config.game == Game::BlazingSevens
                                             ? std::array{10'000, 25'000, 50'000}.at(random(3))
                                             : 2'000 + static_cast<std::int64_t>(random(2'000));
            to.minimum = Money::ofDollars(minimum);
            to.cap.reset();
            if (random(2) == 0) to.cap = to.minimum + Money::ofDollars(300);
            to.reserveIncrement =
                Rate::ofPartsPerMillion(static_cast<std::int64_t>(random(90'000)));
            if (to.simultaneityWindowMs == kDefaultWindowMs) to.simultaneityWindowMs.reset();
        }
        const std::string id = pool.config.id;
        const PoolParameters present = parametersOf(pool.config);
        give(ChangePool{id, to, reason(), people()});
        if (random(4) == 0) give(ChangePool{id, present, reason(), people()});
        payJackpots(*state().findPool(id));
    }

    // So that the wins that are due are final.
    void payJackpots(std::uint32_t pool)
    {
        for (const auto& [ref, record] : dueAwards())
            if (isJackpot(ref.tier) && !record.withheld &&
                state().tables[*state().findTable(ref.table)].pool == pool)
                give(RecordPayment{ref, false, record.amount, "чек № 7", {"Zoë"}});
    }

    // Tables of the first pool begin with a T, those of new pools with a P.
    void amend(const Table& at)
    {
        Site site;
        for (const Pool& pool : state().pools) site.pools.push_back(pool.config);
        for (const Table& table : state().tables) site.tables.push_back(table.config);
        TableConfig& table = site.tables.at(static_cast<std::size_t>(&at - state().tables.data()));
        const std::string number = std::to_string(site.tables.size());
        switch (random(4)) {
            case 0: table.seats = 5 + static_cast<int>(random(2)); break;
            case 1:
                if (site.tables.size() < 9)
                    site.tables.insert(site.tables.begin(),
                                       tableOf("T+" + number, site.pools[0].id));
                break;
            case 2:
                if (site.pools.size() < 4) {
                    site.pools.push_back(blazingPool());
                    site.pools.back().id = "P" + number;
                    site.tables.push_back(tableOf("Pt" + number, "P" + number));
                }
                break;
            default: std::ranges::reverse(site.tables);
        }
        give(ConfigureSite{site});
    }

    void payOrWithhold()
    {
        const auto due = dueAwards();
        if (due.empty())
            return (void)give(RecordPayment{
                {"T1", 1, 1, Tier::None}, random(2) == 0, Money::ofCents(5), "", {person()}});
        const auto& [ref, record] = due.front();
        if (record.withheld)
            give(ReleaseAward{ref, reason(), people()});
        else if (random(4) == 0)
            give(WithholdAward{ref, reason(), people()});
        else
            give(RecordPayment{ref, false, record.amount, "чек № 7", {person()}});
    }

    // Those without a payment; the jackpots of each table first.
    std::vector<std::pair<AwardRef, AwardRecord>> dueAwards() const
    {
        std::vector<std::pair<AwardRef, AwardRecord>> due;
        for (const Table& table : state().tables)
            for (const auto* list : {&table.jackpots, &table.awards})
                for (const AwardRecord& each : *list)
                    if (each.state == AwardRecord::State::Due && each.payments == 0)
                        due.push_back({{table.config.id, each.round, each.seat, each.tier}, each});
        return due;
    }

    void playRefused(const std::string& table, std::int64_t round, const std::string& pool)
    {
        switch (random(8)) {
            case 0: give(OpenRound{"no such\ttable", 1, {}}); break;
            case 1: give(OpenRound{table, round, {{1, true, "", ""}}}); break;
            case 2:
                give(OpenRound{table, round + 1, {{1, false, "", ""}, {1, true, "x", "y"}}});
                break;
            case 3: give(ReportResult{table, round, {"ZZ", "7é"}, {{-1, {}}}}); break;
            case 4: give(ConfirmJackpot{table, round, -5}); break;
            case 5: give(RuleOnClaims{pool, {{{table, round}}, {}}, {}}); break;
            case 6: give(AdjustPool{pool, Money::ofCents(1), reason(), {"Bob", "Bob"}}); break;
            default: {
                Site site = twoGames();
                site.pools[0].increment = {};
                give(ConfigureSite{site});
            }
        }
    }

    JournalSettings settings_;
    std::string name_;
    char key_;
    TimeMs now_ = kStartMs;
    std::optional<Journal> journal_;
    std::mt19937_64 random_;
    bool amends_ = false;
};

void makeFloor(const fs::path& directory)
{
    SampleJournal floor{directory, kName, 100};
    floor.give(ConfigureSite{twoGames()});
    floor.play(400);
}

// Another one each time; JACKPOT_TEST_SEED repeats one.
void makeRandom(const fs::path& directory)
{
    const char* const given = std::getenv("JACKPOT_TEST_SEED");
    const std::uint64_t seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::cout << "seed " << seed << '\n';
    SampleJournal floor{directory, kName, 400, seed};
    floor.give(ConfigureSite{twoGames()});
    floor.play(1'500);
}

// The second rotation's commit has a snapshot too.
void makeRotated(const fs::path& directory)
{
    SampleJournal floor{directory, kName, 50};
    floor.give(ConfigureSite{twoGames()});
    floor.play(70);
    floor.rotateKey();
    floor.play(70);
    floor.reopen(1);
    floor.rotateKey();
    floor.reopen(50);
    floor.play(60);
}

void makeLost(const fs::path& directory)
{
    SampleJournal floor{directory, kName, 1'000};
    floor.give(ConfigureSite{twoGames()});
    floor.play(60);
    floor.rotateKey();
    floor.play(30);
    floor.loseKey();
    floor.play(60);
    floor.rotateKey();
    floor.play(20);
}

// Some so short that the snapshot they begin with is still there, one so long that others have
// followed.
void makeSegments(const fs::path& directory)
{
    SampleJournal floor{directory, kName, 90};
    floor.give(ConfigureSite{twoGames()});
    floor.play(300);
    floor.closeSegment();
    floor.closeSegment();
    floor.play(40);
    floor.rotateKey();
    floor.closeSegment();
    floor.play(310);
    floor.closeSegment();
    floor.play(30);
}

// A site that changes in play.
void makeAmended(const fs::path& directory)
{
    SampleJournal floor{directory, kName, 60};
    floor.give(ConfigureSite{twoGames()});
    floor.startAmending();
    floor.play(900);
}

// The same, each file with a snapshot of the site as it was amended to begin with.
void makeAmendedSegments(const fs::path& directory)
{
    SampleJournal floor{directory, kName, 90, 11};
    floor.give(ConfigureSite{twoGames()});
    floor.startAmending();
    for (int i = 0; i < 6; ++i) {
        floor.play(200);
        const PoolConfig& config = floor.journal().state().pools[1].config;
        PoolParameters to = parametersOf(config);
        to.payoutUnit = Money::ofCents(i % 2 == 0 ? 5 : 10);
        floor.give(ChangePool{config.id, to, "chips", {"Zoë", "Bob"}});
        floor.closeSegment();
    }
    floor.play(100);
}

void makeOther(const fs::path& directory)
{
    SampleJournal floor{directory, "other.example/floor", 100, 7, 100};
    floor.give(ConfigureSite{twoGames()});
    floor.play(400);
}

// Writes until its standard input ends.
void makeLive(const fs::path& directory)
{
    SampleJournal floor{directory, kName, 30};
    floor.give(ConfigureSite{twoGames()});
    floor.play(60);
    std::cout << "ready" << std::endl;
    pollfd input{STDIN_FILENO, POLLIN, 0};
    while (::poll(&input, 1, 10) == 0) floor.play(3);
}

// The inclusion proof of one record in the newest checkpoint's tree.
std::string proofOf(std::uint64_t index, const fs::path& directory)
{
    std::vector<Hash> leaves;
    std::string note;
    for (const fs::path& file : filesOf(directory)) {
        auto reader = orThrow(JournalReader::open(file));
        orThrow(
            reader.forEachPayload(0, kMaxTreeSize, [&](std::uint64_t, std::string_view payload) {
                leaves.push_back(leafHash(payload));
                return true;
            }));
        note = orThrow(reader.lastNote()).value();
    }
    const NodeSource nodes = [&leaves](unsigned level, std::uint64_t node) -> Result<Hash> {
        Frontier subtree;
        for (std::uint64_t i = node << level; i < (node + 1) << level; ++i)
            subtree.append(leaves.at(i));
        return subtree.root();
    };
    const Proof proof{
        index, must(inclusionProof(index, leaves.size(), nodes)), must(Note::parse(note)), {}};
    return must(proof.format());
}

// The journal of docs/journal-format.md. Its keys are those of RFC 8032 section 7.1, tests 1
// and 2.
void makeExample(const fs::path& directory)
{
    const std::string name = "jackpot.example/casino";
    const std::string first =
        *decodeHex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
    const std::string second =
        *decodeHex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
    TimeMs now = kStartMs;
    Journal journal = must(Journal::create({directory, 1'000, {}}, signerOf(name, first), now));
    std::cout << "key " << journal.verifier().format() << '\n';
    const auto give = [&](const Command& command) { (void)journal.decide(command, now); };
    const auto commit = [&] { must(journal.commit()); };

    give(ConfigureSite{{{blazingPool()}, {tableOf("T1", "B7"), tableOf("T2", "B7")}}});
    commit();
    now += 30'000;
    give(OpenRound{"T1", 1, {{1, true, "p-5f0c", ""}, {3, true, "", ""}}});
    commit();
    now += 20;
    give(OpenRound{"T2", 1, {{4, true, "", ""}, {4, true, "", ""}}});
    now += 20'000;
    give(ReportResult{"T1", 1, {"7H"}, {{1, {"7H", "7H"}}, {3, {"7C", "2D"}}}});
    commit();
    now += 4'000;
    give(ConfirmJackpot{"T1", 1, 150});
    commit();
    now += 10'000;
    give(SettleDue{"B7"});
    commit();
    now += 1'000;
    must(journal.rotateKey(signerOf(name, second), {"A. Baker", "Zoë"}, now));
    std::cout << "key " << journal.verifier().format() << '\n';
    must(journal.closeSegment(now + 1'000));
    journal.heartbeat(now + 61'000);
    commit();
    std::ofstream{directory / "record-6.tlog-proof", std::ios::binary} << proofOf(6, directory);
}

const std::map<std::string, std::function<void(const fs::path&)>> kShapes{
    {"example", makeExample}, {"floor", makeFloor},
    {"live", makeLive},       {"lost", makeLost},
    {"other", makeOther},     {"random", makeRandom},
    {"rotated", makeRotated}, {"segments", makeSegments},
    {"amended", makeAmended}, {"amended_segments", makeAmendedSegments},
};

}  // namespace

int main(int argc, char** argv)
{
    if (argc != 3 || !kShapes.contains(argv[1])) {
        std::cerr << "usage: make_sample_journal SHAPE DIRECTORY\nshapes:";
        for (const auto& [shape, make] : kShapes) std::cerr << ' ' << shape;
        std::cerr << '\n';
        return 2;
    }
    try {
        kShapes.at(argv[1])(argv[2]);
        return 0;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
