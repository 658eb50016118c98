#include "jackpotd/decider.h"

#include <string>

#include "rules/settle_due.h"

namespace jackpot {

using rules::Outcome;
using rules::TimeMs;

namespace {

std::string recipientsInWords(rules::NoticeKind kind)
{
    switch (recipientsOf(kind)) {
        case rules::Notify::Surveillance: return "surveillance";
        case rules::Notify::Inspector: return "the inspector";
        case rules::Notify::SurveillanceAndInspector: break;
    }
    return "surveillance and the inspector";
}

}  // namespace

Decider::Decider(storage::Journal journal, Replies& replies, Publisher& publisher,
                 WriterMetrics& metrics, const Log& log)
    : journal_{std::move(journal)},
      replies_{replies},
      publisher_{publisher},
      metrics_{metrics},
      log_{log},
      clock_{journal_.lastTimeMs()},
      lastRecordMs_{clock_.now()}
{
    findNextDue();
}

void Decider::settleDue()
{
    if (!nextDueMs_ || *nextDueMs_ > clock_.now()) return;
    rules::settleDue(state(), clock_.now(),
                     [this](const rules::SettleDue& command, TimeMs) { decide(command); });
    findNextDue();
}

void Decider::findNextDue()
{
    const auto due = state().nextDue();
    nextDueMs_ = due ? std::optional{due->atMs} : std::nullopt;
}

Outcome Decider::decide(const rules::Command& command,
                        const std::optional<storage::LinkOrigin>& origin)
{
    const TimeMs now = clock_.now();
    if (!std::holds_alternative<rules::SettleDue>(command)) settleDue();
    Outcome outcome = journal_.decide(command, now, origin);
    metrics_.count(command, outcome);
    if (!std::holds_alternative<rules::OpenRound>(command) &&
        !std::holds_alternative<rules::ReportResult>(command))
        publisher_.markTablesChanged();
    lastRecordMs_ = now;
    if (!outcome.claims.empty() || nextDueMs_) findNextDue();
    std::optional<std::uint32_t> own;
    if (origin)
        if (const std::string* id = tableOf(command)) own = state().findTable(*id);
    replies_.addSettlements(command, outcome, own, journal_.size() - 1, state());
    logNotices(outcome);
    return outcome;
}

void Decider::appendHeartbeat()
{
    journal_.heartbeat(clock_.now());
    lastRecordMs_ = clock_.now();
}

void Decider::logNotices(const Outcome& outcome) const
{
    for (const rules::Notice& notice : outcome.notices)
        log_.warning(
            "notice to " + recipientsInWords(notice.kind) +
                (notice.rule.empty() ? "" : " (" + std::string{notice.rule} + ")") + ": " +
                notice.text,
            {.pool = outcome.pool ? std::string_view{state().pools[*outcome.pool].config.id}
                                  : std::string_view{},
             .code = "notice"});
}

}  // namespace jackpot
