// The outcome codec over random histories. Each property prints its seed; RC_PARAMS="seed=..." runs
// it again.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <map>

#include "rules/apply.h"
#include "rules/settle_due.h"
#include "storage/outcome_json.h"
#include "storage/record.h"
#include "tests/support/rules_fixture.h"
#include "tests/support/rules_history.h"

namespace jackpot::storage {
namespace {

using namespace rules;

// The outcome with the ids of pools and tables, made without JSON.
RecordedOutcome expectedOf(const Outcome& outcome, const State& state)
{
    const auto tableId = [&](std::uint32_t table) { return state.tables.at(table).config.id; };
    const auto poolId = [&](std::uint32_t pool) { return state.pools.at(pool).config.id; };
    RecordedOutcome expected;
    if (outcome.refusal)
        expected.refusal = {outcome.refusal->code, std::string{outcome.refusal->rule}};
    const auto award = [&](const Award& each) {
        return RecordedAward{{tableId(each.table), each.round, each.seat, each.tier},
                             each.amount,
                             std::string{each.rule},
                             each.playerCard,
                             each.arithmetic};
    };
    for (const Award& each : outcome.awards) expected.awards.push_back(award(each));
    for (const Withdrawal& each : outcome.withdrawn)
        expected.withdrawn.push_back(
            {{tableId(each.table), each.round, each.seat, each.tier}, each.amount});
    for (const Award& each : outcome.locked) expected.locked.push_back(award(each));
    for (const Refund& each : outcome.refunds)
        expected.refunds.push_back({tableId(each.table), each.round, each.seat, each.amount});
    for (const ClaimChange& each : outcome.claims)
        expected.claims.push_back(
            {{tableId(each.table), each.round, each.seat, each.tier}, each.state});
    for (const Notice& each : outcome.notices)
        expected.notices.push_back({each.kind, std::string{each.rule}});
    expected.payment = outcome.payment;
    if (outcome.parameters)
        expected.parameters = RecordedParameters{*outcome.parameters, poolId(*outcome.pool)};
    if (outcome.amendment) {
        expected.amendment.emplace();
        for (const auto i : outcome.amendment->newPools)
            expected.amendment->newPools.push_back(poolId(i));
        for (const auto i : outcome.amendment->newTables)
            expected.amendment->newTables.push_back(tableId(i));
        for (const auto i : outcome.amendment->changedTables)
            expected.amendment->changedTables.push_back(tableId(i));
    }
    for (std::uint32_t i = 0; i < state.pools.size(); ++i) {
        const bool isIn = outcome.pool ? *outcome.pool == i : !outcome.refusal;
        if (!isIn) continue;
        RecordedPool& pool = expected.pools.emplace_back();
        pool.pool = poolId(i);
        pool.meter = state.pools[i].meter;
        pool.reserve = state.pools[i].reserve;
        std::map<Cause, RecordedPosting> causes;
        for (const Posting& each : outcome.postings) {
            if (each.pool != i) continue;
            causes[each.cause].cause = each.cause;
            causes[each.cause].gained.at(static_cast<std::size_t>(each.account)) += each.amount;
        }
        for (const auto& [cause, posting] : causes) pool.postings.push_back(posting);
    }
    return expected;
}

// The kinds of records and the parts of outcomes that a history had.
using Seen = std::map<std::string, int>;

void count(Seen& seen, const Command& command, const Outcome& outcome)
{
    ++seen[std::string{kindOf(command)} + (outcome.refusal ? " refused" : "")];
    if (!outcome.awards.empty()) ++seen["awards"];
    for (const Award& each : outcome.awards)
        if (each.arithmetic.kind == Arithmetic::Kind::Tenth) ++seen["10 %"];
    if (!outcome.withdrawn.empty()) ++seen["withdrawn"];
    if (!outcome.locked.empty()) ++seen["locked"];
    if (!outcome.refunds.empty()) ++seen["refunds"];
    for (const ClaimChange& each : outcome.claims) ++seen[std::string{idOf(each.state)}];
    for (const Notice& each : outcome.notices) ++seen["notice " + std::string{idOf(each.kind)}];
    if (outcome.payment) ++seen["payment"];
    if (outcome.parameters) ++seen["parameters"];
    if (outcome.amendment) ++seen["amendment"];
}

Site anySite()
{
    Site site = siteOf(blazingPool("B7 \"main\" \u2663"), 4);
    site.pools[0].opening = Money::ofDollars(*rc::gen::element(50'000, 500'000));
    site.pools[0].reserveIncrement = Rate::ofPartsPerMillion(*rc::gen::element(0, 50'000));
    site.pools.push_back(holdemPool());
    site.pools[1].bonus = TierAmounts{Money::ofDollars(100), Money::ofDollars(25)};
    TableConfig table;
    table.id = "U1";
    table.pool = "UTH";
    table.requirePlayerCard = true;
    site.tables.push_back(table);
    return site;
}

rc::Gen<Move> anyMove()
{
    return rc::gen::construct<Move>(
        rc::gen::inRange<std::uint8_t>(0, kMoveKinds), rc::gen::inRange<std::uint8_t>(0, 5),
        rc::gen::arbitrary<std::uint8_t>(), rc::gen::arbitrary<std::uint8_t>(),
        rc::gen::element<std::uint16_t>(0, 1, 300, 500, 2000, 5000));
}

// Calls `check` with the text and the expected outcome of each record of a random history. The
// first award of each command is paid, with one cent too much, and then cannot be withheld.
template <class Check>
void forRandomHistory(Seen& seen, Check&& check)
{
    State state;
    TimeMs now = 0;
    std::uint64_t seq = 0;
    const auto decide = [&](const Command& command) {
        std::string payload;
        RC_ASSERT(beginCommandRecord(payload, seq, now, command));
        const std::size_t commandEnd = payload.size();
        const Outcome outcome = apply(state, command, now);
        finishCommandRecord(payload, outcome, state);
        const auto record = readRecord(payload);
        RC_ASSERT(static_cast<bool>(record));
        RC_ASSERT(record->head.seq == seq++);
        RC_ASSERT(record->command == command);
        RC_ASSERT(record->commandEnd == commandEnd);
        count(seen, command, outcome);
        check(payload.substr(commandEnd), expectedOf(outcome, state));
        return outcome;
    };
    decide(ConfigureSite{anySite()});
    decide(OpenRound{"no such table", 1, {}});
    const auto moves = *rc::gen::scale(3.0, rc::gen::container<std::vector<Move>>(anyMove()));
    for (const Move& move : moves) {
        now += move.ms;
        settleDue(state, now, [&](const SettleDue& due, TimeMs) { decide(due); });
        const Outcome outcome = decide(commandFor(state, move));
        if (outcome.awards.empty()) continue;
        const Award& award = outcome.awards.front();
        const AwardRef ref{state.tables[award.table].config.id, award.round, award.seat,
                           award.tier};
        decide(RecordPayment{ref, false, award.amount + Money::ofCents(1), "cash", {"Ann"}});
        decide(WithholdAward{ref, "checked twice", {"Ann", "Bob"}});
    }
}

// One other character of the kind that stood there.
char changed(char c)
{
    if (c >= '0' && c <= '9') return c == '9' ? '0' : static_cast<char>(c + 1);
    return c == 'x' ? 'y' : 'x';
}

}  // namespace

TEST_CASE("readOutcome reads what writeOutcome has written")
{
    Seen seen;
    const std::string description = "outcomes of random histories";
    INFO(description);
    CHECK(rc::check(description, [&] {
        forRandomHistory(seen, [](const std::string& text, const RecordedOutcome& expected) {
            const auto read = readOutcome(text);
            RC_ASSERT(static_cast<bool>(read));
            RC_ASSERT(*read == expected);
        });
    }));
    // The histories must contain each kind of record and each part of an outcome.
    for (const std::string what : {"site_configured",
                                   "site_configured refused",
                                   "round_opened",
                                   "round_opened refused",
                                   "round_result",
                                   "result_corrected",
                                   "jackpot_confirmed",
                                   "round_closed",
                                   "surveillance_ruling",
                                   "round_voided",
                                   "wager_voided",
                                   "table_suspended",
                                   "table_resumed",
                                   "table_offline",
                                   "table_online",
                                   "pool_suspended",
                                   "pool_resumed",
                                   "pool_adjusted",
                                   "settle_due",
                                   "award_withheld",
                                   "award_withheld refused",
                                   "award_released refused",
                                   "payment_recorded",
                                   "pool_change_agreed",
                                   "pool_change_agreed refused",
                                   "awards",
                                   "10 %",
                                   "withdrawn",
                                   "refunds",
                                   "locked",
                                   "claimed",
                                   "held",
                                   "due",
                                   "final",
                                   "dropped",
                                   "notice held",
                                   "notice malfunction",
                                   "payment",
                                   "parameters",
                                   "amendment"}) {
        CAPTURE(what);
        CHECK(seen[what] > 0);
    }
}

// The control of the property above: a comparison that misses a field would find no difference
// here.
TEST_CASE("readOutcome notices each changed character of an outcome")
{
    Seen seen;
    const std::string description = "changed outcomes of random histories";
    INFO(description);
    CHECK(rc::check(description, [&] {
        forRandomHistory(seen, [](const std::string& text, const RecordedOutcome& expected) {
            const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
            std::string other = text;
            other[at] = changed(other[at]);
            const auto read = readOutcome(other);
            const bool isNoticed = !read || *read != expected;
            RC_ASSERT(isNoticed);
        });
    }));
}

TEST_CASE("readOutcome refuses a text that no writer of outcomes writes")
{
    const std::string pools =
        R"(,"pools":[{"pool":"B","postings":{},"meter":"1.00000000","reserve":"0.00000000"}]})";
    REQUIRE(readOutcome(pools));
    const std::string award =
        R"(,"awards":[{"table":"T1","round":1,"seat":1,"tier":"royal_flush","amount":"1.00000000",)"
        R"("rule":"R"}])";
    REQUIRE(readOutcome(award + pools));
    for (const std::string& bad : {
             std::string{},
             std::string{","},
             std::string{"}"},
             std::string{",}"},
             std::string{R"(,"refused":{"code":"wrong_round"}})"},
             pools.substr(1),
             pools + "}",
             award + award + pools,
             R"(,"unknown":1)" + pools,
             R"(,"refused":{"code":"no such code"})" + pools,
             R"(,"awards":{})" + pools,
             R"(,"awards":[7])" + pools,
             R"(,"payment":{"due":"1.00000000","paid":1,"sum":"1.00000000"})" + pools,
             R"(,"notices":[{"kind":"held","to":["inspector"],"rule":"R"}])" + pools,
             std::string{R"(,"pools":[{"pool":"B","postings":[],"meter":"1.00000000"}]})"},
         }) {
        CAPTURE(bad);
        CHECK_FALSE(readOutcome(bad));
    }
}

}  // namespace jackpot::storage
