#include "audit/describe.h"

#include <algorithm>
#include <array>

#include "rules/explain.h"
#include "rules/outcome.h"

namespace jackpot::audit {
namespace {

using rules::Money;
using storage::viewOf;

std::string joined(const std::vector<std::string>& parts, std::string_view between)
{
    std::string text;
    for (const std::string& part : parts) {
        if (!text.empty()) text += between;
        text += part;
    }
    return text;
}

std::string roundOf(std::string_view table, std::int64_t round)
{
    return std::string{table} + " round " + std::to_string(round);
}

std::string byWhom(const std::vector<std::string>& by)
{
    return by.empty() ? "" : ", by " + joined(by, " and ");
}
std::string eventFields(const Json& event)
{
    std::vector<std::string> fields;
    for (const auto& member : event.GetObject()) {
        const std::string_view name = viewOf(member.name);
        if (name == "seq" || name == "time" || name == "kind") continue;
        std::string value = "...";
        if (member.value.IsString()) value = viewOf(member.value);
        if (member.value.IsInt64()) value = std::to_string(member.value.GetInt64());
        if (member.value.IsBool()) value = member.value.GetBool() ? "true" : "false";
        fields.push_back(std::string{name} + " " + value);
    }
    return joined(fields, ", ");
}

// A record without a command: the journal's own kinds, and the daemon's events by their fields.
std::string eventInWords(const Payload& payload)
{
    const storage::Record& record = payload.record();
    const std::string_view kind = payload.kind();
    if (kind == "journal_opened") return "the journal begins, signed with " + record.key;
    if (kind == "segment_opened")
        return "the journal goes on in a new file, signed with " + record.key;
    if (kind == "heartbeat") return "heartbeat";
    if (kind == "snapshot") return "snapshot of the state, SHA-256 " + record.stateHash;
    if (record.rotation)
        return "the key " + record.rotation->to +
               (record.rotation->lost ? " replaces the lost " : " takes over from ") +
               record.rotation->from + byWhom(record.rotation->by);
    return eventFields(payload.event());
}

std::string claimInWords(const storage::RecordedClaim& claim)
{
    using enum rules::ClaimState;
    const auto words = [&]() -> std::string {
        switch (claim.state) {
            case Claimed: return "claimed";
            case Locked: return "confirmed, its money is locked and not due yet";
            case Held: return "HELD until Surveillance rules [BJ 14.27.4]";
            case Due: return "due";
            case Final: return "final";
            case Dropped: return "dropped";
        }
        return {};
    };
    return awardOf(claim) + ": " + words();
}

std::string withdrawalInWords(const storage::RecordedWithdrawal& withdrawal)
{
    return awardOf(withdrawal) + ", " + toRead(withdrawal.amount);
}

std::string noticeInWords(const storage::RecordedNotice& notice)
{
    std::string kind{idOf(notice.kind)};
    std::ranges::replace(kind, '_', ' ');
    std::vector<std::string> to;
    for (const std::string_view each : storage::recipientIds(notice.kind))
        to.emplace_back(each == "inspector" ? "an inspector" : "Surveillance");
    return kind + ", to " + joined(to, " and ") +
           (notice.rule.empty() ? "" : " [" + notice.rule + "]");
}

std::string refundInWords(const storage::RecordedRefund& refund)
{
    return roundOf(refund.table, refund.round) + " seat " + std::to_string(refund.seat) + ", " +
           toRead(refund.amount);
}

std::string ruleInBrackets(const storage::RecordedRefusal& refusal)
{
    return refusal.rule.empty() ? "" : " [" + refusal.rule + "]";
}

std::string parametersChangeInWords(const storage::RecordedParameters& change)
{
    using enum rules::ParametersState;
    std::string words = "agreed for the next reset";
    if (change.state == InForce) words = "IN FORCE from this record on";
    if (change.state == TakenBack) words = "taken back, not in force";
    return "parameters of " + change.pool + " " + words + ": " +
           rules::changeInWords(change.from, change.to);
}

std::vector<std::string> amendmentInWords(const storage::RecordedAmendment& amendment)
{
    std::vector<std::string> words;
    for (const auto& [title, ids] : {std::pair{"new pools: ", &amendment.newPools},
                                     std::pair{"new tables: ", &amendment.newTables},
                                     std::pair{"changed tables: ", &amendment.changedTables}})
        if (!ids->empty()) words.push_back(title + joined(*ids, ", "));
    return words;
}

constexpr std::array kAccountOrder{rules::Account::House, rules::Account::Players,
                                   rules::Account::Meter, rules::Account::Reserve};

void printPool(const storage::RecordedPool& pool, Output& out)
{
    out.line("");
    out.line("Pool " + pool.pool);
    if (!pool.postings.empty()) {
        TextTable table{1};
        std::vector<std::string> head{"posted"};
        for (const rules::Account account : kAccountOrder) head.emplace_back(idOf(account));
        table.add(std::move(head));
        for (const storage::RecordedPosting& posting : pool.postings) {
            std::vector<std::string> row{std::string{idOf(posting.cause)}};
            for (const rules::Account account : kAccountOrder)
                row.push_back(posting.to(account) == Money{} ? "" : toRead(posting.to(account)));
            table.add(std::move(row));
        }
        table.print(out, "  ");
    }
    out.line("  meter " + toRead(pool.meter) + ", displayed " +
             toRead(pool.meter.roundedDownToCent()) + ", reserve " + toRead(pool.reserve));
}

void printHeading(std::string_view title, Output& out)
{
    out.line("");
    out.line(title);
}

template <class T, class InWords>
void printList(std::string_view title, const std::vector<T>& list, Output& out, InWords&& inWords)
{
    if (!list.empty()) printHeading(title, out);
    for (const T& each : list) out.line("  " + inWords(each));
}

void printAwards(std::string_view title, const std::vector<storage::RecordedAward>& awards,
                 Output& out)
{
    if (!awards.empty()) printHeading(title, out);
    std::size_t count = 0;
    for (const storage::RecordedAward& award : awards) {
        out.line("  " + std::to_string(++count) + ". " + awardInWords(award));
        out.line("     " + award.inWords());
    }
}

}  // namespace

std::string awardOf(const rules::AwardRef& ref)
{
    return roundOf(ref.table, ref.round) + " seat " + std::to_string(ref.seat) +
           (ref.tier == rules::Tier::None ? "" : ", " + std::string{titleOf(ref.tier)});
}

std::string awardInWords(const storage::RecordedAward& award)
{
    return awardOf(award) + (award.playerCard.empty() ? "" : ", card " + award.playerCard) + ", " +
           toRead(award.amount) + " [" + award.rule + "]";
}

std::string happenedInWords(const Payload& payload)
{
    const auto& command = payload.record().command;
    return command ? rules::commandInWords(*command) : eventInWords(payload);
}

std::vector<std::string> changesInWords(const Payload& payload)
{
    const storage::RecordedOutcome& outcome = payload.outcome();
    std::vector<std::string> words;
    if (outcome.parameters) words.push_back(parametersChangeInWords(*outcome.parameters));
    if (outcome.amendment)
        for (std::string& each : amendmentInWords(*outcome.amendment))
            words.push_back(std::move(each));
    return words;
}

std::string oneLine(const Payload& payload)
{
    const storage::RecordedOutcome& outcome = payload.outcome();
    std::string line = std::to_string(payload.seq()) + "  " + readableTime(payload.timeMs()) +
                       "  " + payload.kind() + "  " + happenedInWords(payload);
    if (outcome.refusal)
        line +=
            "; REFUSED (" + std::string{payload.refusal()} + ")" + ruleInBrackets(*outcome.refusal);
    for (const auto& each : outcome.withdrawn) line += "; withdrawn: " + withdrawalInWords(each);
    for (const auto& each : outcome.locked) line += "; locked: " + awardInWords(each);
    for (const auto& each : outcome.refunds) line += "; returned: " + refundInWords(each);
    for (const auto& each : outcome.claims) line += "; jackpot " + claimInWords(each);
    for (const auto& each : outcome.awards) line += "; AWARD " + awardInWords(each);
    for (const std::string& change : changesInWords(payload)) line += "; " + change;
    for (const auto& each : outcome.pools)
        line += "; " + each.pool + " " + toRead(each.meter.roundedDownToCent());
    return line;
}

void printRecord(const Payload& payload, Output& out)
{
    const storage::RecordedOutcome& outcome = payload.outcome();
    out.line("Record " + std::to_string(payload.seq()) + ", " + readableTime(payload.timeMs()) +
             " UTC, " + payload.kind());
    out.line("  " + happenedInWords(payload));
    if (outcome.refusal)
        out.line("  REFUSED: " + std::string{payload.refusal()} + ruleInBrackets(*outcome.refusal) +
                 "; nothing was changed");

    printList("Withdrawn", outcome.withdrawn, out, withdrawalInWords);
    printList("Wagers returned", outcome.refunds, out, refundInWords);
    printList("Jackpot claims", outcome.claims, out, claimInWords);
    printAwards("Awards in the order of payment", outcome.awards, out);
    printAwards("Locked, not due yet", outcome.locked, out);
    printList("Notices", outcome.notices, out, noticeInWords);
    if (const auto& payment = outcome.payment) {
        printHeading("Payment", out);
        payload.read([&] {
            out.line("  due " + toRead(payment->due) + ", paid " + toRead(payment->paid) +
                     ", in sum " + toRead(payment->sum) + ", difference " +
                     toRead(payment->sum - payment->due));
        });
    }
    if (outcome.parameters) {
        printHeading("Parameters", out);
        out.line("  " + parametersChangeInWords(*outcome.parameters));
    }
    if (outcome.amendment) {
        printHeading("Amended", out);
        for (const std::string& each : amendmentInWords(*outcome.amendment)) out.line("  " + each);
    }
    for (const storage::RecordedPool& pool : outcome.pools) printPool(pool, out);
}

}  // namespace jackpot::audit
