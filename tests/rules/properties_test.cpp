// Properties over random histories. Each prints its seed; RC_PARAMS="seed=... max_success=3000"
// runs it again.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <map>

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
        rc::gen::element<std::uint16_t>(0, 1, 300, 499, 500, 501, 2000, 5000));
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
    blazing.simultaneityWindowMs = *rc::gen::element(0, 500, 2000);
    site.pools.push_back(holdemPool());
    site.pools[1].reserveIncrement = Rate::ofPartsPerMillion(30'000);
    if (coin()) site.pools[1].bonus = BonusAmounts{Money::ofDollars(100), Money::ofDollars(25)};
    for (const char* id : {"U1", "U2"}) {
        TableConfig table;
        table.id = id;
        table.pool = "UTH";
        site.tables.push_back(table);
    }
    return site;
}

// A second set of books, kept from the postings and awards alone.
struct Books {
    std::map<std::pair<std::uint32_t, Account>, Money> accounts;
    Money awarded;
    Money refunded;

    void enter(const Outcome& outcome)
    {
        for (const Posting& posting : outcome.postings)
            accounts[{posting.pool, posting.account}] += posting.amount;
        for (const Award& award : outcome.awards) awarded += award.amount;
        for (const Award& award : outcome.withdrawn) awarded -= award.amount;
        for (const Refund& refund : outcome.refunds) refunded += refund.amount;
    }
};

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
        TimeMs now = 0;
        Money wagered;
        const auto moves = *rc::gen::scale(4.0, rc::gen::container<std::vector<Move>>(anyMove()));
        for (const Move& move : moves) {
            now += move.ms;
            settleDue(state, now, [&](const SettleDue& due, TimeMs atMs) {
                books.enter(apply(state, due, atMs));
            });
            const Command command = commandFor(state, move);
            const State before = state;
            const Outcome outcome = apply(state, command, now);
            ++happened[std::string{kindOf(command)} + (outcome.refusal ? " refused" : "")];
            for (const Award& award : outcome.awards) ++happened[std::string{idOf(award.tier)}];
            for (const ClaimChange& claim : outcome.claims)
                ++happened[std::string{idOf(claim.state)}];
            if (outcome.parameters) ++happened[std::string{idOf(outcome.parameters->state)}];
            if (outcome.amendment) ++happened["amended"];
            for (std::size_t i = 0; i < before.tables.size(); ++i) {
                RC_ASSERT(state.tables.at(i).config.id == before.tables[i].config.id);
                RC_ASSERT(state.tables.at(i).pool == before.tables[i].pool);
            }
            for (std::size_t i = 0; i < before.pools.size(); ++i)
                RC_ASSERT(state.pools.at(i).config.id == before.pools[i].config.id);
            if (outcome.refusal)
                RC_ASSERT(state == before);
            else if (std::holds_alternative<ConfigureSite>(command) && !outcome.amendment)
                RC_ASSERT(state == before);
            else if (const auto* open = std::get_if<OpenRound>(&command))
                wagered += Money::ofDollars(5) * static_cast<std::int64_t>(open->wagers.size());
            books.enter(outcome);
        }
        RC_ASSERT(checkWhole(state).empty());
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
        RC_ASSERT(players == books.awarded + books.refunded - wagered);
        Money paid;
        for (const Pool& pool : state.pools)
            paid += pool.totals.paidFromPool + pool.totals.paidByHouse;
        RC_ASSERT(paid == books.awarded);
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
                             "held",
                             "pending",
                             "settled",
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
            RuleOnClaims ruling{"B7", {{}}, "eye"};
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

TEST_CASE(
    "a history with a voided round equals the history without it, where no award came between")
{
    // Without a cap, that is: what a voided wager pushed over the cap into the reserve stays there.
    property("one round of many voided", [] {
        PoolConfig config = holdemPool();
        config.increment = Rate::ofPartsPerMillion(*rc::gen::inRange(0, 500'000));
        config.reserveIncrement = Rate::ofPartsPerMillion(*rc::gen::inRange(0, 500'000));
        const auto rounds = *rc::gen::nonEmpty(rc::gen::container<std::vector<Move>>(anyMove()));
        const std::size_t voided = *rc::gen::inRange<std::size_t>(0, rounds.size());
        const std::size_t voidedAt = *rc::gen::inRange(voided, rounds.size());
        // The voided round's table plays no later round before the void.
        const auto tableOf = [&](std::size_t i) {
            return i == voided ? 0 : 1 + rounds[i].table % 3;
        };

        const auto play = [&](bool withIt) {
            RulesFixture floor{config, 4};
            for (std::size_t i = 0; i < rounds.size(); ++i) {
                const std::string table = "T" + std::to_string(tableOf(i) + 1);
                std::vector<int> seats;
                for (int seat = 1; seat <= 7; ++seat)
                    if (((rounds[i].a >> seat) & 1) != 0) seats.push_back(seat);
                if (i != voided || withIt)
                    (void)floor.open(table, static_cast<std::int64_t>(i) + 1, seats);
                if (i == voidedAt && withIt) {
                    const Outcome outcome = floor.give(
                        VoidRound{"T1", static_cast<std::int64_t>(voided) + 1, "misdeal", {}});
                    RC_ASSERT(!outcome.refusal);
                }
            }
            return std::pair{floor.pool().meter, floor.pool().reserve};
        };
        RC_ASSERT((play(true) == play(false)));
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
