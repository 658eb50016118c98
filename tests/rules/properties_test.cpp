// Properties over random histories. Each prints its seed; RC_PARAMS="seed=... max_success=3000"
// runs it again.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "rules/invariants.h"
#include "rules/settle_due.h"
#include "rules/settlement.h"
#include "tests/support/rules_fixture.h"
#include "tests/support/rules_history.h"

namespace jackpot::rules {
namespace {

void property(const std::string& description, const auto& testable)
{
    INFO(description);
    CHECK(rc::check(description, testable));
}

rc::Gen<Move> anyMove()
{
    return rc::gen::construct<Move>(
        rc::gen::inRange<std::uint8_t>(0, kMoveKinds), rc::gen::inRange<std::uint8_t>(0, 6),
        rc::gen::arbitrary<std::uint8_t>(), rc::gen::arbitrary<std::uint8_t>(),
        rc::gen::element<std::uint32_t>(0, 0, 1, 300, 499, 500, 501, 2000, 5000, 30'000'000));
}

Site anySite()
{
    Site site = siteOf(blazingPool(), 4);
    const auto coin = [] { return *rc::gen::arbitrary<bool>(); };
    PoolConfig& blazing = site.pools[0];
    blazing.opening = blazing.minimum + *rc::gen::element(Money{}, Money::ofDollars(2'000),
                                                          Money::ofDollars(450'000));
    blazing.reserveIncrement = Rate::ofPartsPerMillion(*rc::gen::element(0, 50'000));
    if (coin()) blazing.cap = *blazing.opening + Money::ofCents(350);
    blazing.payoutUnit =
        *rc::gen::element(Money::ofCents(1), Money::ofCents(50), Money::ofDollars(25));
    blazing.simultaneityWindowMs = *rc::gen::element(1, 500, 2000);
    blazing.settleAfterMs = *rc::gen::element(2000, 5000);
    site.pools.push_back(holdemPool());
    site.pools[1].reserveIncrement = Rate::ofPartsPerMillion(30'000);
    if (coin()) site.pools[1].bonus = TierAmounts{Money::ofDollars(100), Money::ofDollars(25)};
    for (const char* id : {"U1", "U2"}) {
        TableConfig table;
        table.id = id;
        table.pool = "UTH";
        site.tables.push_back(table);
    }
    return site;
}

using AwardKey = std::tuple<std::uint32_t, std::int64_t, int, Tier>;

// A second set of books, kept from the outcomes alone.
struct Books {
    std::map<std::pair<std::uint32_t, Account>, Money> accounts;
    std::map<AwardKey, Money> due;
    std::set<std::pair<std::uint32_t, std::int64_t>> final;  // tables and rounds
    Money refunded;

    void enter(const Outcome& outcome)
    {
        for (const Posting& posting : outcome.postings)
            accounts[{posting.pool, posting.account}] += posting.amount;
        for (const Withdrawal& award : outcome.withdrawn) {
            // It was due, with this amount; and what is final never changes.
            const auto found = due.find({award.table, award.round, award.seat, award.tier});
            RC_ASSERT(found != due.end() && found->second == award.amount);
            RC_ASSERT(!final.contains({award.table, award.round}));
            due.erase(found);
        }
        for (const Award& award : outcome.awards) {
            RC_ASSERT(!final.contains({award.table, award.round}));
            RC_ASSERT((due.emplace(AwardKey{award.table, award.round, award.seat, award.tier},
                                   award.amount))
                          .second);
        }
        for (const ClaimChange& claim : outcome.claims)
            if (claim.state == ClaimState::Final) final.insert({claim.table, claim.round});
        for (const Refund& refund : outcome.refunds) refunded += refund.amount;
    }
    // What the players have besides refunds and their wagers: due and locked awards.
    [[nodiscard]] Money awarded(const State& state) const
    {
        Money sum;
        for (const auto& [key, amount] : due) sum += amount;
        for (const Pool& pool : state.pools)
            for (const Win& win : pool.wins)
                if (!win.due)
                    for (const WinAward& award : win.awards) sum += award.amount;
        return sum;
    }
};

// Everything that changed the meter of a pool, one by one from its opening on; the wins at their
// places. What the rules compose into single changes is replayed here as it happened.
class LiteralReplay {
public:
    LiteralReplay(const State& state, std::uint32_t pool)
        : pool_{pool}, opening_{state.pools[pool].meter}
    {}

    void enter(const State& before, const State& after, const Command& command,
               const Outcome& outcome)
    {
        // Another minimum from here on.
        if (outcome.pool == pool_ && outcome.parameters &&
            outcome.parameters->state == ParametersState::InForce)
            given_up_ = true;
        Money returned;
        for (const Posting& posting : outcome.postings) {
            if (posting.pool != pool_ || posting.account != Account::Meter) continue;
            if (posting.cause == Cause::Contribution || posting.cause == Cause::Adjustment)
                log_.push_back({posting.amount, {}});
            if (posting.cause == Cause::Return) returned += posting.amount;
        }
        if (returned != Money{}) log_.push_back({returned, {}});
        for (const ClaimChange& claim : outcome.claims)
            if (claim.state == ClaimState::Final) rememberFinal(before, claim, command);
        for (const Win& win : after.pools[pool_].wins)
            if (win.order >= arrived_) {
                arrived_ = win.order + 1;
                log_.push_back({{}, win.order});
            }
    }

    // False if there is nothing to compare any more, or no open win.
    bool compare(const State& state) const
    {
        if (given_up_) return false;
        const Pool& pool = state.pools[pool_];
        const Money minimum = pool.config.minimum;
        Money meter = opening_;
        for (const Entry& entry : log_) {
            if (!entry.arrival) {
                meter = std::max(meter + entry.amount, minimum);
                continue;
            }
            std::map<PlaceKey, std::vector<const Win*>> groups;
            for (const Win& win : pool.wins)
                if (win.place.arrival == *entry.arrival) groups[win.place].push_back(&win);
            for (const auto& [key, paid] : finals_)
                if (key.arrival == *entry.arrival) groups[key];
            for (auto& [key, group] : groups) {
                if (const auto paid = finals_.find(key); paid != finals_.end()) {
                    meter = std::max(meter - paid->second, minimum);
                    continue;
                }
                std::ranges::sort(group, {}, [&](const Win* win) {
                    return std::pair{win->arrivedMs, state.tables[win->table].config.id};
                });
                const Settlement settlement = settle(state, pool, group, meter);
                for (const Win* win : group) {
                    std::vector<WinAward> awards;
                    for (const Award& award : settlement.awards)
                        if (award.table == win->table)
                            awards.push_back({award.seat, award.tier, award.amount});
                    RC_ASSERT(win->awards == awards);
                }
                meter = std::max(meter - settlement.fromPool, minimum);
            }
        }
        RC_ASSERT(meter == pool.meter);
        return !pool.wins.empty();
    }

private:
    struct Entry {
        Money amount;
        std::optional<std::uint64_t> arrival;
    };

    void rememberFinal(const State& before, const ClaimChange& claim, const Command& command)
    {
        const Pool& pool = before.pools[pool_];
        for (const Win& win : pool.wins)
            if (win.table == claim.table && win.round == claim.round) {
                // A ruling or a void that makes a paid win final also changes it: not followed
                // here.
                const bool known = std::holds_alternative<SettleDue>(command) ||
                                   std::holds_alternative<RecordPayment>(command) ||
                                   std::holds_alternative<WithholdAward>(command);
                if (!known) given_up_ = true;
                const auto place = std::ranges::find(pool.places, win.place, &Place::key);
                finals_[win.place] = place->paid;
            }
    }

    std::uint32_t pool_;
    Money opening_;
    std::vector<Entry> log_;
    std::map<PlaceKey, Money> finals_;
    std::uint64_t arrived_ = 0;
    bool given_up_ = false;
};

// Pools and tables stay at their index.
void checkIndices(const State& before, const State& state)
{
    for (std::size_t i = 0; i < before.tables.size(); ++i) {
        RC_ASSERT(state.tables.at(i).config.id == before.tables[i].config.id);
        RC_ASSERT(state.tables.at(i).pool == before.tables[i].pool);
    }
    for (std::size_t i = 0; i < before.pools.size(); ++i)
        RC_ASSERT(state.pools.at(i).config.id == before.pools[i].config.id);
}

// The accounts are the pools', and sum to zero. Returns what the players have.
Money checkAccounts(Books& books, const State& state)
{
    Money players;
    for (std::uint32_t i = 0; i < state.pools.size(); ++i) {
        RC_ASSERT((books.accounts[{i, Account::Meter}] == state.pools[i].meter));
        RC_ASSERT((books.accounts[{i, Account::Reserve}] == state.pools[i].reserve));
        Money all;
        for (const Account account :
             {Account::House, Account::Players, Account::Meter, Account::Reserve})
            all += books.accounts[{i, account}];
        RC_ASSERT(all == Money{});
        players += books.accounts[{i, Account::Players}];
    }
    return players;
}

Money sumOf(const std::vector<Award>& awards)
{
    Money sum;
    for (const Award& award : awards) sum += award.amount;
    return sum;
}

}  // namespace

TEST_CASE("whatever happens on the floor, the invariants hold and the postings are the books")
{
    std::map<std::string, int> happened;
    property("random histories of six tables and two pools", [&happened] {
        State state;
        const Site site = anySite();
        Books books;
        books.enter(apply(state, ConfigureSite{site}, 0));
        std::vector<LiteralReplay> replays{{state, 0}, {state, 1}};
        TimeMs now = 0;
        Money wagered;
        const auto give = [&](const Command& command, TimeMs atMs) {
            const State before = state;
            Outcome outcome = apply(state, command, atMs);
            books.enter(outcome);
            for (LiteralReplay& replay : replays) {
                replay.enter(before, state, command, outcome);
                if (replay.compare(state)) ++happened["replayed"];
            }
            for (const Pool& pool : state.pools)
                for (const Place& place : pool.places) {
                    if (place.key.ruling != 0) ++happened["a place given by a ruling"];
                    if (place.finals.sum != Money{}) ++happened["a final win at a place"];
                }
            return outcome;
        };
        const auto moves = *rc::gen::scale(4.0, rc::gen::container<std::vector<Move>>(anyMove()));
        for (const Move& move : moves) {
            now += move.ms;
            settleDue(state, now,
                      [&](const SettleDue& due, TimeMs atMs) { (void)give(due, atMs); });
            const Command command = commandFor(state, move);
            const State before = state;
            const Outcome outcome = give(command, now);
            ++happened[std::string{kindOf(command)} + (outcome.refusal ? " refused" : "")];
            for (const Award& award : outcome.awards) ++happened[std::string{idOf(award.tier)}];
            for (const ClaimChange& claim : outcome.claims)
                ++happened[std::string{idOf(claim.state)}];
            if (outcome.parameters) ++happened[std::string{idOf(outcome.parameters->state)}];
            if (outcome.amendment) ++happened["amended"];
            checkIndices(before, state);
            if (outcome.refusal)
                RC_ASSERT(state == before);
            else if (std::holds_alternative<ConfigureSite>(command) && !outcome.amendment)
                RC_ASSERT(state == before);
            else if (const auto* open = std::get_if<OpenRound>(&command))
                wagered += Money::ofDollars(5) * static_cast<std::int64_t>(open->wagers.size());
        }
        RC_ASSERT(checkWhole(state).empty());
        const Money players = checkAccounts(books, state);
        RC_ASSERT(players == books.awarded(state) + books.refunded - wagered);
        Money paid;
        for (const Pool& pool : state.pools)
            paid += pool.totals.paidFromPool + pool.totals.paidByHouse;
        RC_ASSERT(paid == books.awarded(state));
    });

    // The histories must have been worth checking.
    for (const char* what : {"round_opened",
                             "round_result",
                             "result_corrected",
                             "jackpot_confirmed",
                             "surveillance_ruling",
                             "round_voided",
                             "wager_voided",
                             "table_suspended",
                             "pool_adjusted",
                             "pool_change_agreed",
                             "pool_change_agreed refused",
                             "agreed",
                             "in_force",
                             "taken_back",
                             "site_configured refused",
                             "amended",
                             "three_sevens_diamonds",
                             "three_suited_sevens",
                             "one_each_sevens",
                             "royal_flush",
                             "straight_flush",
                             "flush",
                             "bonus",
                             "payment_recorded",
                             "award_withheld",
                             "round_closed",
                             "replayed",
                             "a place given by a ruling",
                             "a final win at a place",
                             "held",
                             "locked",
                             "due",
                             "final",
                             "dropped"}) {
        CAPTURE(what);
        CHECK(happened[what] >= 20);
    }
}

TEST_CASE(
    "the order in which simultaneous rounds were confirmed does not change the sum paid (BJ "
    "14.27.4)")
{
    property("permutations of the buttons", [] {
        const int tables = *rc::gen::inRange(2, 6);
        const auto diamonds = *rc::gen::container<std::vector<bool>>(
            static_cast<std::size_t>(tables), rc::gen::arbitrary<bool>());
        std::vector<int> order;
        for (int i = 1; i <= tables; ++i) order.push_back(i);
        const std::vector<int> straight = order;
        for (std::size_t i = order.size(); i > 1; --i)
            std::swap(order[i - 1], order[*rc::gen::inRange<std::size_t>(0, i)]);
        PoolConfig config = blazingPool();
        config.opening = config.minimum + Money::ofCents(*rc::gen::inRange(0, 90'000'000));

        const auto paidWhenConfirmed = [&](const std::vector<int>& buttons) {
            RulesFixture floor{config, tables};
            RuleOnClaims ruling{"B7", {{}}, {"eye"}};
            for (int i = 1; i <= tables; ++i) {
                const std::string table = "T" + std::to_string(i);
                const std::string card = diamonds[static_cast<std::size_t>(i - 1)] ? "7D" : "7S";
                (void)floor.open(table, 1, {1});
                (void)floor.result(table, 1, {card}, {{1, {card, card}}});
                ruling.order[0].push_back({table, 1});
            }
            for (const int i : buttons) {
                floor.now += 1;
                (void)floor.confirm("T" + std::to_string(i), 1);
            }
            const Outcome ruled = floor.give(ruling);
            RC_ASSERT(ruled.awards.size() == static_cast<std::size_t>(tables));
            return std::pair{sumOf(ruled.awards), floor.pool().meter};
        };
        RC_ASSERT((paidWhenConfirmed(straight) == paidWhenConfirmed(order)));
    });
}

TEST_CASE("a voided win leaves the meter and the other wins as if it had never been")
{
    // The contributions of the voided round come in and go out again at other times than the other
    // wins, so none are made here; the next test has them.
    property("one win of many voided", [] {
        PoolConfig config = blazingPool();
        config.increment = Rate{};
        config.opening = config.minimum + Money::ofCents(*rc::gen::inRange(0, 9'000'000));
        const int wins = *rc::gen::inRange(1, 7);
        const int voided = *rc::gen::inRange(0, wins);
        const auto diamonds = *rc::gen::container<std::vector<bool>>(static_cast<std::size_t>(wins),
                                                                     rc::gen::arbitrary<bool>());
        const auto play = [&](bool withIt) {
            RulesFixture floor{config, wins};
            for (int i = 0; i < wins; ++i) {
                const std::string table = "T" + std::to_string(i + 1);
                floor.now = i * 5'000;
                (void)floor.give(AdjustPool{"B7", Money::ofCents(i * 70'000), "", {"a", "b"}});
                if (i == voided && !withIt) continue;
                floor.claim(table, 1, diamonds[static_cast<std::size_t>(i)] ? "7D" : "7S");
                (void)floor.confirm(table, 1);
            }
            if (withIt)
                (void)floor.give(VoidRound{"T" + std::to_string(voided + 1),
                                           1,
                                           VoidRoundGround::ShufflingDevice,
                                           {},
                                           "",
                                           {"a", "b"}});
            std::map<std::uint32_t, std::vector<WinAward>> awards;
            for (const Win& win : floor.pool().wins) awards[win.table] = win.awards;
            return std::pair{floor.pool().meter, awards};
        };
        RC_ASSERT((play(true) == play(false)));
    });
}

TEST_CASE(
    "a history with a voided round equals the history without it, where no award came between")
{
    // Without a cap, that is: what a voided wager pushed over the cap into the reserve stays there.
    property("one round of many voided, a win or not", [] {
        PoolConfig config = holdemPool();
        config.opening = config.minimum + Money::ofDollars(*rc::gen::inRange(0, 90'000));
        config.increment = Rate::ofPartsPerMillion(*rc::gen::inRange(0, 500'000));
        config.reserveIncrement = Rate::ofPartsPerMillion(*rc::gen::inRange(0, 500'000));
        const auto rounds = *rc::gen::nonEmpty(rc::gen::container<std::vector<Move>>(anyMove()));
        const std::size_t voided = *rc::gen::inRange<std::size_t>(0, rounds.size());
        const std::size_t voidedAt = *rc::gen::inRange(voided, rounds.size());
        const bool wins = *rc::gen::arbitrary<bool>();
        // The voided round's table plays no later round before the void.
        const auto tableOf = [&](std::size_t i) {
            return i == voided ? 0 : 1 + rounds[i].table % 3;
        };

        const auto play = [&](bool withIt) {
            RulesFixture floor{config, 4};
            for (std::size_t i = 0; i < rounds.size(); ++i) {
                const std::string table = "T" + std::to_string(tableOf(i) + 1);
                const auto number = static_cast<std::int64_t>(i) + 1;
                std::vector<int> seats{1};
                for (int seat = 2; seat <= 7; ++seat)
                    if (((rounds[i].a >> seat) & 1) != 0) seats.push_back(seat);
                if (i != voided) {
                    floor.play(table, number, seats);
                } else if (withIt) {
                    (void)floor.open(table, number, seats);
                    if (wins) {
                        (void)floor.result(table, number, {"QS", "JS", "TS"}, {{1, {"AS", "KS"}}});
                        RC_ASSERT(!floor.confirm(table, number).awards.empty());
                    }
                }
                if (i == voidedAt && withIt) {
                    const Outcome outcome =
                        floor.give(VoidRound{"T1",
                                             static_cast<std::int64_t>(voided) + 1,
                                             VoidRoundGround::DealingError,
                                             {},
                                             "",
                                             {"a", "b"}});
                    RC_ASSERT(!outcome.refusal);
                }
            }
            return floor.pool().meter;
        };
        RC_ASSERT(play(true) == play(false));
    });
}

TEST_CASE("splitting among n differs from the aggregate by less than n payout units")
{
    property("shares without a guarantee", [] {
        const Money aggregate =
            Money::ofUnits(*rc::gen::inRange<std::int64_t>(0, kMaxAmount.units()));
        const std::int64_t winners = *rc::gen::inRange(1, 100);
        const Money unit = Money::ofCents(*rc::gen::inRange(1, 100'000));
        const Share share = equalShare(aggregate, winners, Money{}, unit);
        RC_ASSERT(share.each * winners - aggregate == share.fromHouse);
        RC_ASSERT(!share.fromHouse.isNegative());
        RC_ASSERT(share.fromHouse < unit * winners);
        RC_ASSERT(share.each.units() % unit.units() == 0);
    });
}

TEST_CASE("changes composed into one are the same as changes replayed one by one")
{
    property("composition of changes", [] {
        const Money minimum = Money::ofCents(*rc::gen::inRange(0, 10'000));
        const auto amounts = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-5'000, 5'000));
        const std::size_t cut = *rc::gen::inRange<std::size_t>(0, amounts.size() + 1);
        const Money start = minimum + Money::ofCents(*rc::gen::inRange(0, 10'000));

        Money replayed = start;
        std::array<Change, 2> parts{Change::none(minimum), Change::none(minimum)};
        for (std::size_t i = 0; i < amounts.size(); ++i) {
            const Money amount = Money::ofUnits(amounts[i] * 700'001LL);
            replayed += amount;
            if (replayed.roundedDownToCent() < minimum) replayed = minimum;
            parts.at(i < cut ? 0 : 1).then(amount, minimum);
        }
        RC_ASSERT(parts[1].appliedTo(parts[0].appliedTo(start)) == replayed);
        parts[0].then(parts[1]);
        RC_ASSERT(parts[0].appliedTo(start) == replayed);
    });
}

TEST_CASE("an amount survives being written and read")
{
    property("round trip", [] {
        const Money amount = Money::ofUnits(
            *rc::gen::inRange<std::int64_t>(-kMaxAmount.units(), kMaxAmount.units() + 1));
        RC_ASSERT(parseMoney(toExact(amount)).value() == amount);
        RC_ASSERT(parseMoney(toCents(amount)).value() == amount.roundedDownToCent());
    });
}

}  // namespace jackpot::rules
