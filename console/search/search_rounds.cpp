// Rows about rounds: claims, awards, payments, refunds, suspensions and their notices.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "audit/describe.h"
#include "console/search/record_people.h"
#include "console/search/search_database.h"

namespace jackpot::console {
namespace {

using rules::Money;
using storage::Statement;

// The result that the command reports; nullptr if it reports none.
const rules::ReportResult* resultOf(const audit::Payload& record)
{
    const auto* const corrected = record.commandAs<rules::CorrectResult>();
    return corrected ? &corrected->result : record.commandAs<rules::ReportResult>();
}

std::string cardsOfSeat(const rules::ReportResult* result, std::int64_t seat)
{
    std::string cards;
    if (result != nullptr)
        for (const rules::Hand& hand : result->hands)
            if (hand.seat == seat) cards = joinedTexts(hand.cards, " ");
    return cards;
}

std::string_view ruleOfDifference(rules::Tier tier)
{
    if (tier == rules::Tier::None) return "BJ 16.19, UTH 11.12";
    return tier >= rules::Tier::RoyalFlush && tier <= rules::Tier::Bonus ? "UTH 11.12" : "BJ 16.19";
}

// The rounds that this record holds: "T1 round 17, T2 round 9".
std::string heldInWords(const storage::RecordedOutcome& outcome)
{
    std::vector<std::string> rounds;
    for (const storage::RecordedClaim& each : outcome.claims) {
        std::string round = each.table + " round " + std::to_string(each.round);
        if (each.state == rules::ClaimState::Held &&
            std::ranges::find(rounds, round) == rounds.end())
            rounds.push_back(std::move(round));
    }
    return joinedTexts(rounds, ", ");
}

std::string noticeInWords(const audit::Payload& record, rules::NoticeKind kind)
{
    using enum rules::NoticeKind;
    switch (kind) {
        case Held: return "held for a ruling: " + heldInWords(record.outcome());
        case LatePress:
            return happenedInWords(record) +
                   "; it may have been pressed before, or at the time of, a win that is final";
        case ParametersInForce: return joinedTexts(changesInWords(record), "; ");
        case MissingOrForeignCard:
        case Malfunction: break;
    }
    return happenedInWords(record);
}

}  // namespace

Statement& SearchDatabase::statement(std::string_view sql, const rules::AwardRef& award)
{
    return statement(sql)
        .bindText(1, award.table)
        .bind(2, award.round)
        .bind(3, award.seat)
        .bindText(4, idOf(award.tier));
}

void SearchDatabase::addClaims()
{
    const auto seq = static_cast<std::int64_t>(record_.seq());
    const auto* const confirmed = record_.commandAs<rules::ConfirmJackpot>();
    if (!record_.outcome().claims.empty() || confirmed) lastChanged_.claims = record_.seq() + 1;
    if (confirmed)
        statement(
            "UPDATE claim SET confirmed_ms = ?3, pressed_ms = ?4 WHERE tbl = ?1 AND round = "
            "?2 AND state = 'claimed'")
            .bindText(1, confirmed->table)
            .bind(2, confirmed->round)
            .bind(3, record_.timeMs())
            .bind(4, record_.timeMs() -
                         std::clamp<std::int64_t>(confirmed->pressedAgoMs, 0, record_.timeMs()))
            .run();
    const rules::ReportResult* const result = resultOf(record_);
    for (const storage::RecordedClaim& claim : record_.outcome().claims) {
        // Of a result: a new claim, or one with other cards. After the button it is not claimed
        // again, the press stands.
        const bool isNew = result != nullptr && claim.state != rules::ClaimState::Dropped &&
                           claim.table == result->table && claim.round == result->round;
        if (!isNew) {
            statement(
                "UPDATE claim SET state = ?5, changed = ?6 WHERE tbl = ?1 AND round = ?2 AND "
                "seat = ?3 AND tier = ?4",
                claim)
                .bindText(5, idOf(claim.state))
                .bind(6, seq)
                .run();
            continue;
        }
        statement(
            "INSERT INTO claim(tbl, round, seat, tier, pool, state, board, cards, claimed, "
            "claimed_ms, changed) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?9) "
            "ON CONFLICT(tbl, round, seat) DO UPDATE SET tier = ?4, state = ?6, board = ?7, "
            "cards = ?8, changed = ?9, claimed = CASE WHEN tier = ?4 AND state <> 'dropped' THEN "
            "claimed ELSE ?9 END, claimed_ms = CASE WHEN tier = ?4 AND state <> 'dropped' THEN "
            "claimed_ms ELSE ?10 END",
            claim)
            .bindText(5, record_.pool())
            .bindText(6, idOf(claim.state))
            .bindText(7, joinedTexts(result->board, " "))
            .bindText(8, cardsOfSeat(result, claim.seat))
            .bind(9, seq)
            .bind(10, record_.timeMs())
            .run();
        // A press that stands is that of the round's other claims; a new claim has none.
        statement(claim.state == rules::ClaimState::Claimed
                      ? "UPDATE claim SET confirmed_ms = NULL, pressed_ms = NULL WHERE tbl = ?1 "
                        "AND round = ?2 AND seat = ?3 AND tier = ?4"
                      : "UPDATE claim SET (confirmed_ms, pressed_ms) = (SELECT max(confirmed_ms), "
                        "max(pressed_ms) FROM claim AS other WHERE other.tbl = ?1 AND other.round "
                        "= ?2) WHERE tbl = ?1 AND round = ?2 AND seat = ?3 AND tier = ?4",
                  claim)
            .run();
    }
}

void SearchDatabase::withdraw(const storage::RecordedWithdrawal& award)
{
    const auto seq = static_cast<std::int64_t>(record_.seq());
    statement(
        "INSERT INTO earlier_amount(tbl, round, seat, tier, seq, amount, withdrawn, withdrawn_ms) "
        "SELECT tbl, round, seat, tier, seq, ?5, ?6, ?7 FROM award WHERE tbl = ?1 AND round = ?2 "
        "AND seat = ?3 AND tier = ?4",
        award)
        .bindText(5, toExact(award.amount))
        .bind(6, seq)
        .bind(7, record_.timeMs())
        .run();
    statement(
        "UPDATE award SET state = 'withdrawn', withheld = 0 WHERE tbl = ?1 AND round = ?2 AND "
        "seat = ?3 AND tier = ?4",
        award)
        .run();
}

void SearchDatabase::addAward(const storage::RecordedAward& award, std::int64_t place,
                              std::string_view state)
{
    statement(
        "INSERT INTO award(tbl, round, seat, tier, form, step, player, amount, rule, arithmetic, "
        "seq, place, state) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) "
        "ON CONFLICT(tbl, round, seat, tier) DO UPDATE SET player = ?7, amount = ?8, rule = ?9, "
        "arithmetic = ?10, seq = ?11, place = ?12, state = ?13, withheld = 0",
        award)
        .bindText(5, award.form())
        .bind(6, static_cast<std::int64_t>(award.arithmetic.kind))
        .bindText(7, award.playerCard)
        .bindText(8, toExact(award.amount))
        .bindText(9, award.rule)
        .bindText(10, award.inWords())
        .bind(11, static_cast<std::int64_t>(record_.seq()))
        .bind(12, place)
        .bindText(13, state)
        .run();
}

void SearchDatabase::dropLocked(const std::string& table, std::int64_t round)
{
    statement(
        "UPDATE award SET state = 'withdrawn' WHERE tbl = ?1 AND round = ?2 AND state = 'locked' "
        "AND seq < ?3")
        .bindText(1, table)
        .bind(2, round)
        .bind(3, static_cast<std::int64_t>(record_.seq()))
        .run();
}

void SearchDatabase::addAwards()
{
    const storage::RecordedOutcome& outcome = record_.outcome();
    for (const auto& each : outcome.withdrawn) withdraw(each);
    std::int64_t place = 0;
    for (const auto& each : outcome.locked) addAward(each, ++place, "locked");
    place = 0;
    for (const auto& each : outcome.awards) addAward(each, ++place, "due");
    // The record has all awards of each win that is not due and changed: others of that round are
    // no more. The same holds where a win becomes due or loses a claim.
    for (const auto& each : outcome.locked) dropLocked(each.table, each.round);
    for (const auto& each : outcome.claims)
        if (each.state == rules::ClaimState::Due || each.state == rules::ClaimState::Dropped)
            dropLocked(each.table, each.round);
}

void SearchDatabase::addPayment()
{
    const auto* const command = record_.commandAs<rules::RecordPayment>();
    const auto& payment = record_.outcome().payment;
    if (!command || !payment) return;
    lastChanged_.claims = record_.seq() + 1;
    rules::AwardRef award = command->award;
    if (command->withoutAward) award.tier = rules::Tier::None;
    Statement& before = statement(
        "SELECT paid FROM payment WHERE tbl = ?1 AND round = ?2 AND seat = ?3 AND tier = ?4",
        award);
    Money sum;
    bool rectification = false;
    for (; before.step(); rectification = true) sum += storage::moneyIn(before.bytes(0));
    before.reset();
    // Where there is no award, the record has the sum of one payment only.
    sum = command->withoutAward ? sum + payment->paid : payment->sum;
    statement(
        "INSERT INTO payment(tbl, round, seat, tier, seq, time, paid, due, total, rectification, "
        "how, who) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        award)
        .bind(5, static_cast<std::int64_t>(record_.seq()))
        .bind(6, record_.timeMs())
        .bindText(7, toExact(payment->paid))
        .bindText(8, toExact(payment->due))
        .bindText(9, toExact(sum))
        .bind(10, rectification ? 1 : 0)
        .bindText(11, command->how)
        .bindText(12, joinedTexts(peopleIn(record_), "\n"))
        .run();
    statement(
        "UPDATE award SET paid = ?5, payments = payments + 1 WHERE tbl = ?1 AND round = ?2 AND "
        "seat = ?3 AND tier = ?4",
        award)
        .bindText(5, toExact(sum))
        .run();
}

void SearchDatabase::addWithholding()
{
    const auto* const withheld = record_.commandAs<rules::WithholdAward>();
    const auto* const released = record_.commandAs<rules::ReleaseAward>();
    if (!withheld && !released) return;
    lastChanged_.claims = record_.seq() + 1;
    statement(
        "UPDATE award SET withheld = ?5, state_seq = ?6, state_reason = ?7, state_who = ?8 WHERE "
        "tbl = ?1 AND round = ?2 AND seat = ?3 AND tier = ?4",
        withheld ? withheld->award : released->award)
        .bind(5, withheld ? 1 : 0)
        .bind(6, static_cast<std::int64_t>(record_.seq()))
        .bindText(7, withheld ? withheld->reason : released->reason)
        .bindText(8, joinedTexts(peopleIn(record_), "\n"))
        .run();
}

void SearchDatabase::addRefunds()
{
    for (const storage::RecordedRefund& each : record_.outcome().refunds)
        statement(
            "INSERT INTO refund(seq, time, tbl, round, seat, amount) VALUES(?1, ?2, ?3, ?4, ?5, "
            "?6)")
            .bind(1, static_cast<std::int64_t>(record_.seq()))
            .bind(2, record_.timeMs())
            .bindText(3, each.table)
            .bind(4, each.round)
            .bind(5, each.seat)
            .bindText(6, toExact(each.amount))
            .run();
}

void SearchDatabase::addSuspension()
{
    if (const auto* const resumed = record_.commandAs<rules::ResumeTable>())
        statement("DELETE FROM suspension WHERE tbl = ?1").bindText(1, resumed->table).run();
    const auto* const suspended = record_.commandAs<rules::SuspendTable>();
    if (!suspended) return;
    statement("INSERT OR REPLACE INTO suspension VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)")
        .bindText(1, suspended->table)
        .bind(2, static_cast<std::int64_t>(record_.seq()))
        .bind(3, record_.timeMs())
        .bindText(4, idOf(suspended->ground))
        .bindText(5, idOf(suspended->from))
        .bindText(6, suspended->reason)
        .bindText(7, joinedTexts(peopleIn(record_), "\n"))
        .run();
}

void SearchDatabase::addNotice(std::string_view kind, std::string_view recipients,
                               std::string_view rule, const std::string& text)
{
    lastChanged_.notices = record_.seq() + 1;
    statement(
        "INSERT INTO notice(seq, place, time, kind, recipients, rule, words, delivery) VALUES(?1, "
        "?2, ?3, ?4, ?5, ?6, ?7, '')")
        .bind(1, static_cast<std::int64_t>(record_.seq()))
        .bind(2, ++notices_)
        .bind(3, record_.timeMs())
        .bindText(4, kind)
        .bindText(5, recipients)
        .bindText(6, rule)
        .bindText(7, text)
        .run();
}

void SearchDatabase::addDifference(const rules::AwardRef& award)
{
    Money paid;
    Money due;
    if (award.tier == rules::Tier::None) {
        Statement& find = statement(
            "SELECT total FROM payment WHERE tbl = ?1 AND round = ?2 AND seat = ?3 AND tier = ?4 "
            "ORDER BY seq DESC LIMIT 1",
            award);
        if (find.step()) paid = storage::moneyIn(find.bytes(0));
        find.reset();
    } else {
        Statement& find = statement(
            "SELECT paid, amount, state FROM award WHERE tbl = ?1 AND round = ?2 AND seat = ?3 AND "
            "tier = ?4 AND payments > 0",
            award);
        const bool isPaid = find.step();
        if (isPaid) {
            paid = storage::moneyIn(find.bytes(0));
            if (find.bytes(2) == "due") due = storage::moneyIn(find.bytes(1));
        }
        find.reset();
        if (!isPaid) return;
    }
    const Money difference = paid - due;
    if (difference == Money{}) return;
    addNotice("payment_difference", "inspector", ruleOfDifference(award.tier),
              audit::awardOf(award) + ": due " + toRead(due) + ", paid " + toRead(paid) + ", " +
                  (difference.isNegative() ? "underpaid by " + toRead(-difference)
                                           : "overpaid by " + toRead(difference)) +
                  " (" + happenedInWords(record_) + ")");
}

void SearchDatabase::addNotices()
{
    const storage::RecordedOutcome& outcome = record_.outcome();
    for (const storage::RecordedNotice& each : outcome.notices) {
        std::string recipients;
        for (const std::string_view to : storage::recipientIds(each.kind))
            recipients += (recipients.empty() ? "" : "\n") + std::string{to};
        addNotice(idOf(each.kind), recipients, each.rule, noticeInWords(record_, each.kind));
    }
    if (record_.commandAs<rules::SuspendPool>())
        addNotice("pool_suspended", "inspector", "", happenedInWords(record_));

    std::vector<rules::AwardRef> changed;
    const auto change = [&](const rules::AwardRef& award) {
        if (std::ranges::find(changed, award) == changed.end()) changed.push_back(award);
    };
    for (const auto& each : outcome.withdrawn) change(each);
    for (const auto& each : outcome.awards) change(each);
    if (const auto* const payment = record_.commandAs<rules::RecordPayment>()) {
        change(payment->award);
        if (payment->withoutAward) changed.back().tier = rules::Tier::None;
    }
    for (const rules::AwardRef& each : changed) addDifference(each);
    addNoticeEvents();
}

}  // namespace jackpot::console
