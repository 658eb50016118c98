#include <algorithm>

#include "rules/explain.h"

namespace jackpot::rules {
namespace {

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

std::string byWhom(const People& by) { return by.empty() ? "" : ", by " + joined(by, " and "); }
template <class Ground>
std::string groundOf(Ground ground)
{
    std::string words{idOf(ground)};
    std::ranges::replace(words, '_', ' ');
    return words;
}

std::string because(const std::string& reason) { return reason.empty() ? "" : ": " + reason; }

std::string awardOf(const AwardRef& ref)
{
    return roundOf(ref.table, ref.round) + " seat " + std::to_string(ref.seat) +
           (ref.tier == Tier::None ? "" : ", " + std::string{titleOf(ref.tier)});
}

std::string resultInWords(const ReportResult& result)
{
    std::string text =
        ": " + (result.board.empty() ? std::string{"no board"} : joined(result.board, " "));
    for (const Hand& hand : result.hands)
        text += "; seat " + std::to_string(hand.seat) + ": " + joined(hand.cards, " ");
    return text;
}

struct InWords {
    std::string operator()(const ConfigureSite& c) const
    {
        std::vector<std::string> pools;
        for (const PoolConfig& pool : c.site.pools) pools.push_back(pool.id);
        return "the site is configured; pools: " + joined(pools, ", ") +
               "; tables: " + std::to_string(c.site.tables.size());
    }
    std::string operator()(const OpenRound& c) const
    {
        std::vector<std::string> seats;
        for (const Wager& wager : c.wagers)
            seats.push_back(
                std::to_string(wager.seat) +
                (wager.playerCard.empty() ? "" : " (card " + wager.playerCard + ")") +
                (wager.approvedBy.empty() ? "" : " (allowed by " + wager.approvedBy + ")") +
                (wager.baseWager ? "" : " (no base wager)"));
        return roundOf(c.table, c.round) + " opened, " +
               (seats.empty() ? "no jackpot wagers"
                              : "jackpot wagers on seats " + joined(seats, ", "));
    }
    std::string operator()(const ReportResult& c) const
    {
        return roundOf(c.table, c.round) + " result" + resultInWords(c);
    }
    std::string operator()(const CorrectResult& c) const
    {
        return roundOf(c.result.table, c.result.round) + " result corrected" + byWhom(c.by) +
               resultInWords(c.result);
    }
    std::string operator()(const ConfirmJackpot& c) const
    {
        return roundOf(c.table, c.round) + " jackpot confirmed by the dealer's button" +
               (c.pressedAgoMs == 0 ? ""
                                    : ", pressed " + std::to_string(c.pressedAgoMs) + " ms before");
    }
    std::string operator()(const RuleOnClaims& c) const
    {
        std::vector<std::string> groups;
        for (const auto& group : c.order) {
            std::vector<std::string> rounds;
            for (const RoundRef& ref : group) rounds.push_back(roundOf(ref.table, ref.round));
            groups.push_back(joined(rounds, " together with "));
        }
        return "Surveillance rules on pool " + c.pool + ": " + joined(groups, ", then ") +
               byWhom(c.by);
    }
    std::string operator()(const CloseRound& c) const
    {
        return roundOf(c.table, c.round) + " closed";
    }
    std::string operator()(const VoidRound& c) const
    {
        std::vector<std::string> seats;
        for (const std::int64_t seat : c.forfeited) seats.push_back(std::to_string(seat));
        return roundOf(c.table, c.round) + " void, " + groundOf(c.ground) + because(c.reason) +
               (seats.empty() ? "" : "; forfeited: seats " + joined(seats, ", ")) + byWhom(c.by);
    }
    std::string operator()(const VoidWager& c) const
    {
        return roundOf(c.table, c.round) + " seat " + std::to_string(c.seat) + " wager void, " +
               groundOf(c.ground) + because(c.reason) + byWhom(c.by);
    }
    std::string operator()(const SuspendTable& c) const
    {
        return "table " + c.table + " suspended from the " + std::string{idOf(c.from)} + ", " +
               groundOf(c.ground) + because(c.reason) + byWhom(c.by);
    }
    std::string operator()(const ResumeTable& c) const
    {
        return "table " + c.table + " resumed from the " + std::string{idOf(c.from)} +
               because(c.reason) + byWhom(c.by);
    }
    std::string operator()(const MarkTableOffline& c) const
    {
        return "table " + c.table + " lost its link";
    }
    std::string operator()(const MarkTableOnline& c) const
    {
        return "table " + c.table + " is linked again";
    }
    std::string operator()(const SuspendPool& c) const
    {
        return "pool " + c.pool + " suspended" + because(c.reason) + byWhom(c.by);
    }
    std::string operator()(const ResumePool& c) const
    {
        return "pool " + c.pool + " resumed" + because(c.reason) + byWhom(c.by);
    }
    std::string operator()(const AdjustPool& c) const
    {
        return "pool " + c.pool + " adjusted by " + toRead(c.amount) + because(c.reason) +
               byWhom(c.by);
    }
    std::string operator()(const ChangePool& c) const
    {
        return "pool " + c.pool + " parameters for its next reset: " + parametersInWords(c.to) +
               because(c.reason) + byWhom(c.by);
    }
    std::string operator()(const SettleDue& c) const
    {
        return "pool " + c.pool + ": the time has come for wins that are due or final";
    }
    std::string operator()(const WithholdAward& c) const
    {
        return awardOf(c.award) + " award withheld" + because(c.reason) + byWhom(c.by);
    }
    std::string operator()(const ReleaseAward& c) const
    {
        return awardOf(c.award) + " award released" + because(c.reason) + byWhom(c.by);
    }
    std::string operator()(const RecordPayment& c) const
    {
        return awardOf(c.award) + (c.withoutAward ? ", no award," : "") + " payment of " +
               toRead(c.paid) + " recorded" + (c.how.empty() ? "" : " (" + c.how + ")") +
               byWhom(c.by);
    }
};

}  // namespace

std::string commandInWords(const Command& command) { return std::visit(InWords{}, command); }

}  // namespace jackpot::rules
