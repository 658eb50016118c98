#include "audit/describe.h"

#include <algorithm>
#include <array>

#include "rules/explain.h"
#include "rules/outcome.h"
#include "storage/command_json.h"

namespace jackpot::audit {
namespace {

using rules::Money;
using storage::moneyAt;
using storage::numberAt;
using storage::textAt;
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

std::string byWhom(const std::string& by) { return by.empty() ? "" : ", by " + by; }
std::string byWhom(const std::vector<std::string>& by)
{
    return by.empty() ? "" : ", by " + joined(by, " and ");
}
std::string because(const std::string& reason) { return reason.empty() ? "" : ": " + reason; }

std::string awardOf(const rules::AwardRef& ref)
{
    return roundOf(ref.table, ref.round) + " seat " + std::to_string(ref.seat) +
           (ref.tier == rules::Tier::None ? "" : ", " + std::string{titleOf(ref.tier)});
}

std::string resultInWords(const rules::ReportResult& result)
{
    std::string text =
        ": " + (result.board.empty() ? std::string{"no board"} : joined(result.board, " "));
    for (const rules::Hand& hand : result.hands)
        text += "; seat " + std::to_string(hand.seat) + ": " + joined(hand.cards, " ");
    return text;
}

struct InWords {
    std::string operator()(const rules::ConfigureSite& c) const
    {
        std::vector<std::string> pools;
        for (const rules::PoolConfig& pool : c.site.pools) pools.push_back(pool.id);
        return "the site is configured; pools: " + joined(pools, ", ") +
               "; tables: " + std::to_string(c.site.tables.size());
    }
    std::string operator()(const rules::OpenRound& c) const
    {
        std::vector<std::string> seats;
        for (const rules::Wager& wager : c.wagers)
            seats.push_back(
                std::to_string(wager.seat) +
                (wager.playerCard.empty() ? "" : " (card " + wager.playerCard + ")") +
                (wager.approvedBy.empty() ? "" : " (allowed by " + wager.approvedBy + ")") +
                (wager.baseWager ? "" : " (no base wager)"));
        return roundOf(c.table, c.round) + " opened, " +
               (seats.empty() ? "no jackpot wagers"
                              : "jackpot wagers on seats " + joined(seats, ", "));
    }
    std::string operator()(const rules::ReportResult& c) const
    {
        return roundOf(c.table, c.round) + " result" + resultInWords(c);
    }
    std::string operator()(const rules::CorrectResult& c) const
    {
        return roundOf(c.result.table, c.result.round) + " result corrected" + byWhom(c.by) +
               resultInWords(c.result);
    }
    std::string operator()(const rules::ConfirmJackpot& c) const
    {
        return roundOf(c.table, c.round) + " jackpot confirmed by the dealer's button" +
               (c.pressedAgoMs == 0 ? ""
                                    : ", pressed " + std::to_string(c.pressedAgoMs) + " ms before");
    }
    std::string operator()(const rules::RuleOnClaims& c) const
    {
        std::vector<std::string> groups;
        for (const auto& group : c.order) {
            std::vector<std::string> rounds;
            for (const rules::RoundRef& ref : group)
                rounds.push_back(roundOf(ref.table, ref.round));
            groups.push_back(joined(rounds, " together with "));
        }
        return "Surveillance rules on pool " + c.pool + ": " + joined(groups, ", then ") +
               byWhom(c.by);
    }
    std::string operator()(const rules::VoidRound& c) const
    {
        return roundOf(c.table, c.round) + " void" + because(c.reason) + byWhom(c.by);
    }
    std::string operator()(const rules::VoidWager& c) const
    {
        return roundOf(c.table, c.round) + " seat " + std::to_string(c.seat) + " wager invalid" +
               because(c.reason) + byWhom(c.by);
    }
    std::string operator()(const rules::SuspendTable& c) const
    {
        return "table " + c.table + " suspended" + because(c.reason) + byWhom(c.by);
    }
    std::string operator()(const rules::ResumeTable& c) const
    {
        return "table " + c.table + " resumed" + because(c.reason) + byWhom(c.by);
    }
    std::string operator()(const rules::MarkTableOffline& c) const
    {
        return "table " + c.table + " lost its link";
    }
    std::string operator()(const rules::MarkTableOnline& c) const
    {
        return "table " + c.table + " is linked again";
    }
    std::string operator()(const rules::SuspendPool& c) const
    {
        return "pool " + c.pool + " suspended" + because(c.reason) + byWhom(c.by);
    }
    std::string operator()(const rules::ResumePool& c) const
    {
        return "pool " + c.pool + " resumed" + because(c.reason) + byWhom(c.by);
    }
    std::string operator()(const rules::AdjustPool& c) const
    {
        return "pool " + c.pool + " adjusted by " + toRead(c.amount) + because(c.reason) +
               byWhom(c.by);
    }
    std::string operator()(const rules::ChangePool& c) const
    {
        return "pool " + c.pool + " parameters for its next reset: " + parametersInWords(c.to) +
               because(c.reason) + byWhom(c.by);
    }
    std::string operator()(const rules::SettleDue& c) const
    {
        return "pool " + c.pool + ": the window for wins at the same time has passed";
    }
    std::string operator()(const rules::WithholdAward& c) const
    {
        return awardOf(c.award) + " award withheld" + because(c.reason) + byWhom(c.by);
    }
    std::string operator()(const rules::RecordPayment& c) const
    {
        return awardOf(c.award) + " payment of " + toRead(c.paid) + " recorded" +
               (c.how.empty() ? "" : " (" + c.how + ")") + byWhom(c.by);
    }
};

// What the daemon records besides commands: the journal's own kinds, and others by their fields.
std::string plainInWords(const Payload& payload)
{
    const std::string_view kind = payload.kind();
    const auto text = [&](std::string_view name) {
        return std::string{textAt(payload.json(), name)};
    };
    std::string words;
    payload.read([&] {
        if (kind == "journal_opened") {
            words = "the journal begins, signed with " + text("key");
        } else if (kind == "segment_opened") {
            words = "the journal goes on in a new file, signed with " + text("key");
        } else if (kind == "heartbeat") {
            words = "heartbeat";
        } else if (kind == "snapshot") {
            words = "snapshot of the state, SHA-256 " + text("sha256");
        } else if (kind == "key_rotated") {
            words = "the key " + text("new") +
                    (storage::flagAt(payload.json(), "lost") ? " replaces the lost "
                                                             : " takes over from ") +
                    text("old") + byWhom(storage::textsAt(payload.json(), "by"));
        } else {
            std::vector<std::string> fields;
            for (const auto& member : payload.json().GetObject()) {
                const std::string_view name = viewOf(member.name);
                if (name == "seq" || name == "time" || name == "kind") continue;
                std::string value = "...";
                if (member.value.IsString()) value = viewOf(member.value);
                if (member.value.IsInt64()) value = std::to_string(member.value.GetInt64());
                if (member.value.IsBool()) value = member.value.GetBool() ? "true" : "false";
                fields.push_back(std::string{name} + " " + value);
            }
            words = joined(fields, ", ");
        }
    });
    return words;
}

std::string placeOf(const Json& json)
{
    return roundOf(textAt(json, "table"), numberAt(json, "round")) + " seat " +
           std::to_string(numberAt(json, "seat"));
}

std::string tierTitle(const Json& json)
{
    const auto tier = rules::tierOfId(textAt(json, "tier"));
    return std::string{tier ? titleOf(*tier) : textAt(json, "tier")};
}

std::string claimInWords(const Json& json)
{
    const std::string_view state = textAt(json, "state");
    std::string words;
    if (state == idOf(rules::ClaimState::Claimed)) words = "claimed";
    if (state == idOf(rules::ClaimState::Pending))
        words = "confirmed, waits for other tables' buttons";
    if (state == idOf(rules::ClaimState::Held))
        words = "HELD until Surveillance rules which wins were at the same time [BJ 14.27.4]";
    if (state == idOf(rules::ClaimState::Settled)) words = "settled";
    if (state == idOf(rules::ClaimState::Dropped)) words = "dropped";
    return placeOf(json) + ", " + tierTitle(json) + ": " +
           (words.empty() ? std::string{state} : words);
}

std::string awardInWords(const RecordedAward& each)
{
    return roundOf(each.table, each.award.round) + " seat " + std::to_string(each.award.seat) +
           ", " + std::string{titleOf(each.award.tier)} + ", " + toRead(each.award.amount) + " [" +
           each.rule + "]";
}

std::string parametersChangeInWords(const Json& json)
{
    const std::string_view state = textAt(json, "state");
    std::string words{state};
    if (state == idOf(rules::ParametersState::Agreed)) words = "agreed for the next reset";
    if (state == idOf(rules::ParametersState::InForce)) words = "IN FORCE from this record on";
    if (state == idOf(rules::ParametersState::TakenBack)) words = "taken back, not in force";
    return "parameters of " + std::string{textAt(json, "pool")} + " " + words + ": " +
           rules::changeInWords(storage::readParameters(storage::at(json, "from")),
                                storage::readParameters(storage::at(json, "to")));
}

std::vector<std::string> amendmentInWords(const Json& json)
{
    std::vector<std::string> words;
    for (const auto& [key, title] :
         {std::pair{"new_pools", "new pools"}, std::pair{"new_tables", "new tables"},
          std::pair{"changed_tables", "changed tables"}})
        if (storage::find(json, key))
            words.push_back(std::string{title} + ": " + joined(storage::textsAt(json, key), ", "));
    return words;
}

constexpr std::array kAccounts{rules::Account::House, rules::Account::Players,
                               rules::Account::Meter, rules::Account::Reserve};

void printPools(const Payload& payload, Output& out)
{
    payload.forEach("pools", [&](const Json& pool) {
        const Json& postings = storage::at(pool, "postings");
        if (!postings.IsObject()) throw storage::BadJson{"\"postings\" is not an object"};
        out.line("");
        out.line("Pool " + std::string{textAt(pool, "pool")});
        if (postings.MemberCount() > 0) {
            TextTable table{1};
            std::vector<std::string> head{"posted"};
            for (const rules::Account account : kAccounts) head.emplace_back(idOf(account));
            table.add(std::move(head));
            for (const auto& cause : postings.GetObject()) {
                std::vector<std::string> row{std::string{viewOf(cause.name)}};
                for (const rules::Account account : kAccounts)
                    row.push_back(storage::find(cause.value, idOf(account))
                                      ? toRead(moneyAt(cause.value, idOf(account)))
                                      : "");
                table.add(std::move(row));
            }
            table.print(out, "  ");
        }
        const Money meter = moneyAt(pool, "meter");
        out.line("  meter " + toRead(meter) + ", displayed " + toRead(meter.roundedDownToCent()) +
                 ", reserve " + toRead(moneyAt(pool, "reserve")));
    });
}

void printList(const Payload& payload, std::string_view list, std::string_view title, Output& out,
               const std::function<void(const Json&)>& print)
{
    bool first = true;
    payload.forEach(list, [&](const Json& each) {
        if (first) {
            out.line("");
            out.line(title);
            first = false;
        }
        print(each);
    });
}

}  // namespace

std::string commandInWords(const rules::Command& command) { return std::visit(InWords{}, command); }

std::string happenedInWords(const Payload& payload)
{
    if (!storage::isCommandKind(payload.kind())) return plainInWords(payload);
    std::string words;
    payload.read([&] {
        const auto command =
            storage::readCommand(payload.kind(), storage::at(payload.json(), "command"));
        if (!command) throw storage::BadJson{command.error().message};
        words = commandInWords(*command);
    });
    return words;
}

std::vector<std::string> changesInWords(const Payload& payload)
{
    std::vector<std::string> words;
    payload.read([&] {
        if (const Json* change = payload.find("parameters"))
            words.push_back(parametersChangeInWords(*change));
        if (const Json* amended = payload.find("amended"))
            for (std::string& each : amendmentInWords(*amended)) words.push_back(std::move(each));
    });
    return words;
}

std::string oneLine(const Payload& payload)
{
    std::string line = std::to_string(payload.seq()) + "  " + readableTime(payload.timeMs()) +
                       "  " + std::string{payload.kind()} + "  " + happenedInWords(payload);
    if (!payload.refusal().empty()) {
        line += "; REFUSED (" + std::string{payload.refusal()} + ")";
        if (!payload.refusalRule().empty()) line += " [" + std::string{payload.refusalRule()} + "]";
    }
    payload.forEach("withdrawn", [&](const Json& each) {
        line += "; withdrawn: " + awardInWords(RecordedAward{each});
    });
    payload.forEach("refunds", [&](const Json& each) {
        line += "; returned: " + placeOf(each) + ", " + toRead(moneyAt(each, "amount"));
    });
    payload.forEach("claims", [&](const Json& each) { line += "; jackpot " + claimInWords(each); });
    payload.forEach("awards", [&](const Json& each) {
        line += "; AWARD " + awardInWords(RecordedAward{each});
    });
    for (const std::string& change : changesInWords(payload)) line += "; " + change;
    payload.forEach("pools", [&](const Json& each) {
        line += "; " + std::string{textAt(each, "pool")} + " " +
                toRead(moneyAt(each, "meter").roundedDownToCent());
    });
    return line;
}

void printRecord(const Payload& payload, Output& out)
{
    out.line("Record " + std::to_string(payload.seq()) + ", " + readableTime(payload.timeMs()) +
             " UTC, " + std::string{payload.kind()});
    out.line("  " + happenedInWords(payload));
    if (!payload.refusal().empty())
        out.line(
            "  REFUSED: " + std::string{payload.refusal()} +
            (payload.refusalRule().empty() ? "" : " [" + std::string{payload.refusalRule()} + "]") +
            "; nothing was changed");

    printList(payload, "withdrawn", "Withdrawn", out,
              [&](const Json& each) { out.line("  " + awardInWords(RecordedAward{each})); });
    printList(payload, "refunds", "Wagers returned", out, [&](const Json& each) {
        out.line("  " + placeOf(each) + ", " + toRead(moneyAt(each, "amount")));
    });
    printList(payload, "claims", "Jackpot claims", out,
              [&](const Json& each) { out.line("  " + claimInWords(each)); });
    std::size_t count = 0;
    printList(payload, "awards", "Awards in the order of payment", out, [&](const Json& each) {
        const RecordedAward award{each};
        out.line("  " + std::to_string(++count) + ". " + awardInWords(award));
        out.line("     " + award.inWords());
    });
    printList(payload, "notices", "Notices", out, [&](const Json& each) {
        out.line("  to " +
                 std::string{textAt(each, "whom") == "inspector"
                                 ? "an inspector"
                                 : "Surveillance and an inspector"} +
                 " [" + std::string{textAt(each, "rule")} + "]");
    });
    if (const Json* payment = payload.find("payment")) {
        payload.read([&] {
            const Money due = moneyAt(*payment, "due");
            const Money paid = moneyAt(*payment, "paid");
            out.line("");
            out.line("Payment");
            out.line("  due " + toRead(due) + ", paid " + toRead(paid) + ", difference " +
                     toRead(paid - due));
        });
    }
    payload.read([&] {
        if (const Json* change = payload.find("parameters")) {
            out.line("");
            out.line("Parameters");
            out.line("  " + parametersChangeInWords(*change));
        }
        if (const Json* amended = payload.find("amended")) {
            out.line("");
            out.line("Amended");
            for (const std::string& each : amendmentInWords(*amended)) out.line("  " + each);
        }
    });
    printPools(payload, out);
}

}  // namespace jackpot::audit
