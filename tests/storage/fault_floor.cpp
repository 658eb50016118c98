#include "tests/storage/fault_floor.h"

#include <cstdlib>
#include <stdexcept>

#include "base/encoding.h"
#include "rules/holds.h"
#include "rules/settle_due.h"
#include "storage/merkle.h"
#include "storage/replay.h"
#include "tests/support/rules_fixture.h"

namespace jackpot::storage {
namespace {

namespace fs = std::filesystem;
using namespace rules;

constexpr TimeMs kMorningMs = 1'750'000'000'000;

Site busySite()
{
    PoolConfig sevens = blazingPool();
    sevens.increment = Rate::ofPartsPerMillion(234'567);
    sevens.reserveIncrement = Rate::ofPartsPerMillion(12'345);
    Site site = siteOf(std::move(sevens), 2);
    site.pools.push_back(holdemPool());
    for (const char* id : {"T3", "T4"}) {
        TableConfig table;
        table.id = id;
        table.pool = "UTH";
        site.tables.push_back(std::move(table));
    }
    return site;
}

// Reading a key takes OpenSSL longer than opening a journal takes us.
const PrivateKey& testKey(int number)
{
    static std::map<int, PrivateKey> keys;
    if (const auto found = keys.find(number); found != keys.end()) return found->second;
    std::string der = decodeHex("302e020100300506032b657004220420").value();
    der.append(31, 'k');
    der += static_cast<char>(number);
    const std::string pem =
        "-----BEGIN PRIVATE KEY-----\n" + encodeBase64(der) + "\n-----END PRIVATE KEY-----\n";
    return keys.emplace(number, PrivateKey::fromPem(pem).value()).first->second;
}

Verdict wrong(std::string what, std::uint64_t size)
{
    return {Verdict::Kind::Wrong, std::move(what), size};
}

}  // namespace

Signer testSigner(int number)
{
    return Signer::make("floor.example/journal", testKey(number)).value();
}

std::uint64_t soakFactor()
{
    const char* const given = std::getenv("JACKPOT_SOAK");
    const std::uint64_t factor = given != nullptr ? std::strtoull(given, nullptr, 10) : 0;
    return factor == 0 ? 1 : 10 * factor;
}

TimeMs BusyFloor::now(const Journal& journal)
{
    return std::max(journal.lastTimeMs(), kMorningMs) + static_cast<TimeMs>(below(1500));
}

void BusyFloor::play(Journal& journal, std::size_t commands)
{
    for (std::size_t i = 0; i < commands; ++i) {
        const TimeMs at = now(journal);
        settleDue(journal, at);
        (void)journal.decide(next(journal.state()), at);
    }
}

void BusyFloor::note(Journal& journal, std::size_t bytes)
{
    std::string text(bytes, ' ');
    for (char& c : text) c = static_cast<char>('a' + below(26));
    journal.add("note", now(journal), [&](JsonText& json) { json.textField("text", text); });
}

void BusyFloor::settleDue(Journal& journal, TimeMs now)
{
    rules::settleDue(journal.state(), now,
                     [&](const SettleDue& due, TimeMs atMs) { journal.decide(due, atMs); });
}

Command BusyFloor::next(const State& state)
{
    if (state.pools.empty()) return ConfigureSite{busySite()};
    for (const Pool& pool : state.pools) {
        const auto holds = holdsOf(state, pool);
        if (holds.empty() || below(2) != 0) continue;
        RuleOnClaims ruling{pool.config.id, {}, {"surveillance 7"}};
        for (const RoundRef& each : holds.front()) ruling.order.push_back({each});
        return ruling;
    }
    if (below(40) == 0) return OpenRound{"T9", 1, {}};  // there is no such table
    if (below(40) == 0)
        return AdjustPool{"B7", Money::ofCents(1), "a test", {"manager 1", "manager 2"}};
    return forTable(state, state.tables[below(state.tables.size())]);
}

Command BusyFloor::forTable(const State& state, const Table& table)
{
    const Round& round = table.current;
    if (round.hasUnconfirmedClaims())
        return ConfirmJackpot{table.config.id, round.number, static_cast<std::int64_t>(below(300))};
    if (!round.opened || round.resultIn || round.voided) {
        OpenRound open{table.config.id, round.number + 1, {}};
        for (std::int64_t seat = 1; seat <= 7; ++seat)
            if (seat == 1 || below(3) == 0)
                open.wagers.push_back({seat, true, below(2) == 0 ? "card-7f31" : "", {}});
        return open;
    }
    const bool jackpot = below(8) == 0;
    if (state.pools[table.pool].config.game == Game::BlazingSevens) {
        if (jackpot)
            return ReportResult{table.config.id, round.number, {"7S"}, {{1, {"7S", "7S"}}}};
        return ReportResult{table.config.id, round.number, {"KD"}, {}};
    }
    if (jackpot)
        return ReportResult{table.config.id, round.number, {"9C", "8C", "7C"}, {{1, {"JC", "TC"}}}};
    return ReportResult{table.config.id, round.number, {"9C", "8D", "2H"}, {}};
}

Result<Journal, JournalError> openWithAnyKey(const JournalSettings& settings, int& key)
{
    constexpr int kKeys = 100;
    while (true) {
        auto journal = Journal::open(settings, testSigner(key), 0);
        if (journal || journal.error().kind != JournalError::Kind::BadKey || key == kKeys)
            return journal;
        ++key;
    }
}

std::vector<std::string> payloadsOf(const fs::path& directory)
{
    std::vector<std::string> payloads;
    for (const fs::path& file : filesOf(directory)) {
        auto reader = orThrow(JournalReader::open(file));
        orThrow(reader.forEachPayload(reader.firstSeq(), orThrow(reader.endSeq()),
                                      [&](std::uint64_t, std::string_view payload) {
                                          payloads.emplace_back(payload);
                                          return true;
                                      }));
    }
    return payloads;
}

History History::of(const fs::path& directory)
{
    History history;
    history.payloads = payloadsOf(directory);
    std::map<std::uint64_t, Hash> roots;
    for (const fs::path& file : filesOf(directory)) {
        auto reader = orThrow(JournalReader::open(file));
        orThrow(reader.forEachCheckpoint(
            0, kMaxTreeSize, [&](std::uint64_t size, std::string_view note) {
                roots[size] = Checkpoint::parse(Note::parse(note).value().text).value().root;
                return true;
            }));
    }
    Frontier frontier;
    Replay replay;
    for (std::uint64_t seq = 0; seq < history.payloads.size(); ++seq) {
        const std::string& payload = history.payloads[seq];
        frontier.append(leafHash(payload));
        const std::string fault = replay.step(seq, readRecord(payload).value(), payload);
        if (!fault.empty())
            throw std::runtime_error{"record " + std::to_string(seq) + ": " + fault};
        if (const auto found = roots.find(seq + 1); found != roots.end()) {
            if (found->second != frontier.root())
                throw std::runtime_error{"the root at " + std::to_string(seq + 1) + " is wrong"};
            history.moments[seq + 1] = {found->second, replay.state()};
        }
    }
    if (history.moments.size() != roots.size())
        throw std::runtime_error{"there are checkpoints beyond the records"};
    return history;
}

Verdict judge(const Journal& journal, const fs::path& directory, const History& history,
              std::uint64_t acknowledged)
{
    const std::uint64_t size = journal.size();
    if (size < acknowledged)
        return {Verdict::Kind::Lost,
                std::to_string(size) + " of " + std::to_string(acknowledged) +
                    " acknowledged records are there",
                size};
    const auto moment = history.moments.find(size);
    if (moment == history.moments.end())
        return wrong(std::to_string(size) + " records are there: half of a batch", size);
    const auto payloads = payloadsOf(directory);
    if (payloads.size() < acknowledged)
        return {Verdict::Kind::Lost,
                "the files have " + std::to_string(payloads.size()) + " of " +
                    std::to_string(acknowledged) + " acknowledged records",
                payloads.size()};
    if (payloads.size() != size)
        return wrong("the files have " + std::to_string(payloads.size()) + " records, not " +
                         std::to_string(size),
                     size);
    for (std::uint64_t seq = 0; seq < size; ++seq)
        if (payloads[seq] != history.payloads[seq])
            return wrong("record " + std::to_string(seq) + " is another: " + payloads[seq], size);
    const Receipt& receipt = journal.lastReceipt();
    if (receipt.size != size || receipt.root != moment->second.root)
        return wrong("the last receipt is another", size);
    if (!(journal.state() == moment->second.state))
        return wrong("the state is not what a replay gives", size);
    return {Verdict::Kind::Whole, {}, size};
}

Verdict openAndJudge(const fs::path& directory, int key, const History& history,
                     std::uint64_t acknowledged)
{
    const auto journal = openWithAnyKey({directory, 8, {}}, key);
    if (!journal) return {Verdict::Kind::NotOpened, inWords(journal.error()), 0};
    try {
        return judge(*journal, directory, history, acknowledged);
    } catch (const SqliteFailure& failure) {
        return wrong(failure.what(), journal->size());
    }
}

}  // namespace jackpot::storage
