#include "jackpotd/table_commands.h"

#include "jackpotd/committed_records.h"
#include "storage/journal.h"

namespace jackpot {
namespace {

using linkproto::CommandReceived;
using linkproto::v1::Rejected;
using rules::TimeMs;

constexpr TimeMs kMinuteMs = 60'000;
constexpr const char* kSuspendedBy = "jackpotd";

static_assert(Rejected::Why_ARRAYSIZE == std::tuple_size_v<decltype(WriterMetrics::rejected)>);

bool isSameCommand(const CommandReceived& received, const storage::Record& record)
{
    rules::Command command = received.command;
    // How long ago the button was pressed differs each time the table sends the command.
    if (auto* confirm = std::get_if<rules::ConfirmJackpot>(&command))
        if (const auto* first = std::get_if<rules::ConfirmJackpot>(&*record.command))
            confirm->pressedAgoMs = first->pressedAgoMs;
    return command == record.command && record.from->clockMs == received.clockMs;
}

}  // namespace

TableCommands::TableCommands(std::filesystem::path journalDirectory, const TableLimits& limits,
                             Decider& decider, Alarms& alarms, Replies& replies,
                             WriterMetrics& metrics, const Log& log, Commit commit)
    : directory_{std::move(journalDirectory)},
      limits_{limits},
      decider_{decider},
      alarms_{alarms},
      replies_{replies},
      metrics_{metrics},
      log_{log},
      commit_{std::move(commit)}
{}

Result<void> TableCommands::handle(const Recipient& from, const CommandReceived& received)
{
    const rules::Table& table = decider_.table(from.table);
    const std::uint64_t expected = table.heard.number + 1;
    if (received.number < expected) return repeat(from, received);
    if (received.number > expected) {
        reject(from, received.number, Rejected::OUT_OF_ORDER,
               "number " + std::to_string(expected) + " comes next");
        return {};
    }
    if (limits_.roundsPerMinute && std::holds_alternative<rules::OpenRound>(received.command) &&
        ++minuteOf(from.table).rounds > *limits_.roundsPerMinute) {
        alarms_.raiseForTable(
            from.table, "too_fast",
            "more than " + std::to_string(*limits_.roundsPerMinute) + " rounds a minute");
        reject(from, received.number, Rejected::TOO_FAST,
               "more rounds a minute than a table plays");
        return {};
    }

    const rules::Outcome outcome =
        decider_.decide(received.command, storage::Origin{received.number, received.clockMs});
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
    const rules::LinkSequence& sequence = decider_.table(from.table).heard;
    const std::string number = "number " + std::to_string(received.number);
    if (received.number == 0 || sequence.number - received.number >= rules::LinkSequence::kRecent) {
        rejectConflict(from, received.number, number + " was decided long ago");
        return {};
    }
    const std::uint64_t seq = sequence.records.at(received.number % rules::LinkSequence::kRecent);
    // The table may have sent it twice within this batch.
    if (seq >= decider_.journal().lastReceipt().size && !commit_()) return {};

    const auto found = readCommittedRecord(directory_, seq);
    if (!found) return found.error();
    if (!*found) return Error{"record " + std::to_string(seq) + " is in no file of the journal"};
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

void TableCommands::reject(const Recipient& from, std::uint64_t number, Rejected::Why reason,
                           const std::string& detail)
{
    metrics_.rejected.at(static_cast<std::size_t>(reason)).add();
    replies_.addRejection(from, number, reason, decider_.table(from.table).heard.number + 1,
                          detail);
}

void TableCommands::rejectConflict(const Recipient& from, std::uint64_t number,
                                   const std::string& detail)
{
    alarms_.raiseForTable(from.table, "conflict", detail);
    reject(from, number, Rejected::CONFLICT, detail);
    countRefusal(from.table);
}

void TableCommands::checkWagerCount(std::uint32_t index, const linkproto::WagerCountReport& report)
{
    const rules::Table& table = decider_.table(index);
    if (report.asOf != table.heard.number || report.wagers == table.wagers || table.suspended)
        return;
    suspend(index, "wager_count",
            "the table has counted " + std::to_string(report.wagers) + " wagers, the journal " +
                std::to_string(table.wagers));
}

void TableCommands::countMalformed(std::uint32_t table, const std::string& detail)
{
    alarms_.raiseForTable(table, "malformed_command", detail);
    countRefusal(table);
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
    decider_.decide(rules::SuspendTable{decider_.table(table).config.id, detail, kSuspendedBy});
    replies_.addSuspension(table, true, detail);
}

TableCommands::Minute& TableCommands::minuteOf(std::uint32_t table)
{
    if (minutes_.size() <= table) minutes_.resize(decider_.state().tables.size());
    Minute& minute = minutes_[table];
    if (const TimeMs now = decider_.now(); now - minute.beginMs >= kMinuteMs) minute = {now, 0, 0};
    return minute;
}

}  // namespace jackpot
