#include "jackpotd/table_commands.h"

#include <algorithm>
#include <chrono>

#include "jackpotd/committed_records.h"
#include "storage/journal.h"

namespace jackpot {
namespace {

using linkproto::CommandReceived;
using linkproto::GoodbyeReason;
using linkproto::Incoming;
using linkproto::RejectionReason;
using rules::TimeMs;

constexpr TimeMs kMinuteMs = 60'000;
constexpr const char* kSuspendedBy = "jackpotd";

bool isSameCommand(const CommandReceived& received, const storage::Record& record)
{
    rules::Command command = received.command;
    // How long ago the button was pressed differs each time the table sends the command.
    if (auto* confirm = std::get_if<rules::ConfirmJackpot>(&command))
        if (const auto* first = std::get_if<rules::ConfirmJackpot>(&*record.command))
            confirm->pressedAgoMs = first->pressedAgoMs;
    return command == record.command && record.from->clockMs == received.clockMs;
}

// The time that the command has waited for its decision counts as its age (BJ 14.27.4).
rules::Command withWaitAsAge(const CommandReceived& received)
{
    rules::Command command = received.command;
    if (auto* confirm = std::get_if<rules::ConfirmJackpot>(&command)) {
        using namespace std::chrono;
        const auto now =
            duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
        confirm->pressedAgoMs += std::max<std::int64_t>(now - received.receivedMs, 0);
    }
    return command;
}

}  // namespace

TableCommands::TableCommands(std::filesystem::path journalDirectory, const TableLimits& limits,
                             Decider& decider, Alarms& alarms, RestoreGuard& guard,
                             Replies& replies, WriterMetrics& metrics, const Log& log,
                             Commit commit)
    : directory_{std::move(journalDirectory)},
      limits_{limits},
      decider_{decider},
      alarms_{alarms},
      guard_{guard},
      replies_{replies},
      metrics_{metrics},
      log_{log},
      commit_{std::move(commit)}
{}

void TableCommands::handle(const Incoming& incoming)
{
    if (const auto* rejected = std::get_if<linkproto::RejectedConnections>(&incoming.what))
        return handleRejectedConnections(*rejected);
    const std::uint32_t table = incoming.table;
    if (table >= decider_.state().tables.size()) return;
    if (guard_.isLocked()) return handleWhileLocked(incoming);
    const Recipient from{incoming.connection, table};
    if (const auto* received = std::get_if<CommandReceived>(&incoming.what)) {
        if (const auto done = decide(from, *received); !done)
            disconnectAfterFailedRead(from, done.error());
    } else if (const auto* connected = std::get_if<linkproto::TableConnected>(&incoming.what)) {
        handleConnected(from, *connected);
    } else if (std::holds_alternative<linkproto::StateRequest>(incoming.what)) {
        replies_.addState(from, decider_.state());
    } else if (const auto* report = std::get_if<linkproto::WagerCountReport>(&incoming.what)) {
        checkWagerCount(table, *report);
    } else if (const auto* malformed = std::get_if<linkproto::MalformedCommand>(&incoming.what)) {
        alarms_.raiseForTable(table, "malformed_command", malformed->what);
        countRefusal(table);
    } else if (std::holds_alternative<linkproto::TableTimedOut>(incoming.what)) {
        handleTimedOut(table);
    }
}

// ---- connections

void TableCommands::handleRejectedConnections(const linkproto::RejectedConnections& rejected)
{
    log_.warning("rejected " + std::to_string(rejected.count) +
                     " connections, for example: " + rejected.example,
                 {.code = "rejected_connections"});
    decider_.appendEvent("strangers_refused", [&](storage::JsonText& json) {
        json.numberField("count", static_cast<std::int64_t>(rejected.count));
        json.textField("example", rejected.example);
    });
}

void TableCommands::handleConnected(const Recipient& from,
                                    const linkproto::TableConnected& connected)
{
    const auto verdict = guard_.checkReceipt(from.table, connected.receipt);
    if (!verdict) return disconnectAfterFailedRead(from, verdict.error());
    if (*verdict == RestoreGuard::Verdict::Locked) return;
    const bool isRestored = *verdict == RestoreGuard::Verdict::Restored;
    if (isRestored) guard_.reportLostCommands(from.table, connected.decided);
    const std::string id = decider_.table(from.table).config.id;
    if (decider_.table(from.table).offline) decider_.decide(rules::MarkTableOnline{id});
    absences_.end(from.table);
    log_.information("table " + id + " is connected (" + connected.software + ")", {.table = id});
    replies_.addWelcome(from, decider_.journal().verifier(), decider_.state(), isRestored);
}

void TableCommands::handleTimedOut(std::uint32_t table)
{
    if (!decider_.table(table).offline)
        decider_.decide(rules::MarkTableOffline{decider_.table(table).config.id});
    absences_.begin(table, decider_.now());
}

void TableCommands::reportAbsences()
{
    const std::int64_t limitS = limits_.offlineNoticeAfterS;
    while (const auto table = absences_.takeLonger(limitS * 1000, decider_.now()))
        alarms_.raiseForTable(*table, "table_offline",
                              "no link for more than " + std::to_string(limitS) + " s");
}

void TableCommands::handleWhileLocked(const Incoming& incoming)
{
    const Recipient from{incoming.connection, incoming.table};
    if (const auto* connected = std::get_if<linkproto::TableConnected>(&incoming.what))
        if (const auto done = guard_.collectReceipt(from.table, connected->receipt); !done)
            return disconnectAfterFailedRead(from, done.error());
    replies_.add(from, linkproto::Goodbye{GoodbyeReason::Locked, guard_.reason()});
}

// The table connects again and sends again what has no decision.
void TableCommands::disconnectAfterFailedRead(const Recipient& from, const Error& error)
{
    metrics_.failedReads.add();
    const std::string& id = decider_.table(from.table).config.id;
    log_.error(
        "table " + id + " is disconnected, because the journal could not be read: " + error.message,
        {.table = id, .code = "read_failed"});
    replies_.add(from, linkproto::Goodbye{GoodbyeReason::Busy,
                                          "the journal could not be read: connect again"});
}

// ---- commands

Result<void> TableCommands::decide(const Recipient& from, const CommandReceived& received)
{
    const rules::Table& table = decider_.table(from.table);
    const std::uint64_t expected = table.sequence.expected();
    if (received.number < expected) return repeat(from, received);
    if (received.number > expected) {
        reject(from, received.number, RejectionReason::OutOfOrder,
               "number " + std::to_string(expected) + " comes next");
        return {};
    }
    if (limits_.roundsPerMinute && std::holds_alternative<rules::OpenRound>(received.command) &&
        ++minuteOf(from.table).rounds > *limits_.roundsPerMinute) {
        alarms_.raiseForTable(
            from.table, "too_fast",
            "more than " + std::to_string(*limits_.roundsPerMinute) + " rounds a minute");
        reject(from, received.number, RejectionReason::TooFast,
               "more rounds a minute than a table plays");
        return {};
    }

    const rules::Outcome outcome = decider_.decide(
        withWaitAsAge(received), storage::LinkOrigin{received.number, received.clockMs});
    replies_.addDecision(from, received.number, decider_.journal().size() - 1, outcome,
                         decider_.state());
    if (!outcome.refusal) return {};
    if (log_.isOn(config::LogLevel::Debug)) {
        const std::string_view code = idOf(outcome.refusal->code);
        log_.debug("table " + table.config.id + ": " + std::string{kindOf(received.command)} +
                       " is refused: " + std::string{code},
                   {.table = table.config.id, .code = code});
    }
    countRefusal(from.table);
    return {};
}

// Sends the first decision again, or rejects the command if its contents differ.
Result<void> TableCommands::repeat(const Recipient& from, const CommandReceived& received)
{
    const std::string number = "number " + std::to_string(received.number);
    const auto seq = decider_.table(from.table).sequence.findRecord(received.number);
    if (!seq) {
        rejectConflict(from, received.number, number + " was decided long ago");
        return {};
    }
    // The table may have sent it twice within this batch.
    if (*seq >= decider_.journal().lastReceipt().size && !commit_()) return {};

    const auto found = readCommittedRecord(directory_, *seq);
    if (!found) return found.error();
    if (!*found) return Error{"record " + std::to_string(*seq) + " is in no file of the journal"};
    const CommittedRecord& committed = **found;
    const auto record = storage::readRecord(committed.payload);
    if (!isSameCommand(received, *record)) {
        rejectConflict(from, received.number, number + " was decided with other contents");
        return {};
    }
    metrics_.repeated.add();
    return replies_.addRepeatedDecision(from, received.number, decider_.table(from.table).config.id,
                                        committed.payload, committed.checkpoint);
}

void TableCommands::reject(const Recipient& from, std::uint64_t number, RejectionReason reason,
                           const std::string& detail)
{
    metrics_.rejected.at(static_cast<std::size_t>(reason)).add();
    replies_.add(from, linkproto::Rejection{
                           number, reason, decider_.table(from.table).sequence.expected(), detail});
}

void TableCommands::rejectConflict(const Recipient& from, std::uint64_t number,
                                   const std::string& detail)
{
    alarms_.raiseForTable(from.table, "conflict", detail);
    reject(from, number, RejectionReason::Conflict, detail);
    countRefusal(from.table);
}

void TableCommands::checkWagerCount(std::uint32_t index, const linkproto::WagerCountReport& report)
{
    const rules::Table& table = decider_.table(index);
    if (report.asOf != table.sequence.last() || report.wagers == table.wagers || table.suspended)
        return;
    suspend(index, "wager_count",
            "the table has counted " + std::to_string(report.wagers) + " wagers, the journal " +
                std::to_string(table.wagers));
}

void TableCommands::countRefusal(std::uint32_t table)
{
    if (++minuteOf(table).refusals <= limits_.refusalsPerMinute) return;
    if (decider_.table(table).suspended) return;
    suspend(table, "refusals",
            "more than " + std::to_string(limits_.refusalsPerMinute) + " refusals in a minute");
}

void TableCommands::suspend(std::uint32_t table, const std::string& code, const std::string& detail)
{
    alarms_.raiseForTable(table, code, detail);
    decider_.decide(rules::SuspendTable{decider_.table(table).config.id,
                                        rules::SuspensionGround::Malfunction,
                                        rules::Origin::Desk,
                                        detail,
                                        {kSuspendedBy}});
    replies_.addSuspension(table, decider_.state(), detail);
}

TableCommands::Minute& TableCommands::minuteOf(std::uint32_t table)
{
    if (minutes_.size() <= table) minutes_.resize(decider_.state().tables.size());
    Minute& minute = minutes_[table];
    if (const TimeMs now = decider_.now(); now - minute.beginMs >= kMinuteMs) minute = {now, 0, 0};
    return minute;
}

}  // namespace jackpot
