// Applies commands to the state by the rules and adds their records to the journal's batch. Used in
// the writer's turn only. Nothing of a batch is durable before the writer commits it.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "jackpotd/journal_clock.h"
#include "jackpotd/log.h"
#include "jackpotd/publisher.h"
#include "jackpotd/replies.h"
#include "jackpotd/writer_metrics.h"
#include "rules/commands.h"
#include "rules/outcome.h"
#include "storage/journal.h"

namespace jackpot {

class Decider {
public:
    // The others outlive it.
    Decider(storage::Journal journal, Replies& replies, Publisher& publisher,
            WriterMetrics& metrics, const Log& log);

    [[nodiscard]] storage::Journal& journal() { return journal_; }
    [[nodiscard]] const storage::Journal& journal() const { return journal_; }
    [[nodiscard]] const rules::State& state() const { return journal_.state(); }
    [[nodiscard]] const rules::Table& table(std::uint32_t index) const
    {
        return journal_.state().tables[index];
    }
    [[nodiscard]] rules::TimeMs now() const { return clock_.now(); }

    // Settles first what is due by now, as the rules require. `origin` is set for a command that a
    // table has sent; the other tables that the outcome concerns get a settlement.
    rules::Outcome decide(const rules::Command& command,
                          const std::optional<storage::LinkOrigin>& origin = std::nullopt);
    void settleDue();
    // When the next win is due or final; nothing if no win is open, or while paused.
    [[nodiscard]] std::optional<rules::TimeMs> nextDueMs() const { return nextDueMs_; }
    // While paused nothing falls due; the caller decides nothing.
    void pause() { nextDueMs_.reset(); }
    void resume() { findNextDue(); }

    // Adds a record that holds no command, and returns its number. Throws std::invalid_argument,
    // and adds nothing, if such a record could not be read again.
    template <class Fields>
    std::uint64_t appendEvent(std::string_view kind, Fields&& fields)
    {
        const std::uint64_t record = journal_.size();
        journal_.add(kind, now(), std::forward<Fields>(fields));
        lastRecordMs_ = now();
        return record;
    }
    void appendHeartbeat();
    [[nodiscard]] rules::TimeMs lastRecordMs() const { return lastRecordMs_; }

private:
    void findNextDue();
    void logNotices(const rules::Outcome& outcome) const;

    storage::Journal journal_;
    Replies& replies_;
    Publisher& publisher_;
    WriterMetrics& metrics_;
    const Log& log_;
    JournalClock clock_;
    std::optional<rules::TimeMs> nextDueMs_;
    rules::TimeMs lastRecordMs_;
};

}  // namespace jackpot
