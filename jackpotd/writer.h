// The writer changes the state. In one turn it takes the items that wait, decides each by the
// rules, commits them all in one durable transaction with one signed checkpoint, and only then
// publishes and replies. Turns exclude each other. The writer's own thread takes them; a thread
// with a lone command, or with an alarm, takes one itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <variant>
#include <vector>

#include "jackpotd/alarms.h"
#include "jackpotd/decider.h"
#include "jackpotd/log.h"
#include "jackpotd/mailbox.h"
#include "jackpotd/publisher.h"
#include "jackpotd/replies.h"
#include "jackpotd/restore_guard.h"
#include "jackpotd/table_commands.h"
#include "jackpotd/writer_metrics.h"
#include "linkproto/server/link_server.h"
#include "rules/commands.h"
#include "rules/outcome.h"
#include "storage/journal.h"

namespace jackpot {

struct WriterSettings {
    std::filesystem::path journalDirectory;
    std::size_t mailbox = 8192;
    std::size_t batch = 1024;
    std::int64_t heartbeatMs = 60'000;
    TableLimits limits;
};

class Writer {
public:
    using ReplySink = std::function<void(linkproto::Delivery)>;
    // Called once, in the writer's thread, when the journal can't be written any more and every
    // table has been sent a goodbye.
    using Failed = std::function<void(const storage::JournalError&)>;

    Writer(WriterSettings settings, storage::Journal journal, const Log& log, Failed failed);
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    ~Writer();

    // Call before start().
    void setReplySink(ReplySink sink);
    // An error: the journal could not be read; nothing was started.
    Result<void> start();
    // Accepts no more items, settles what is due, commits, replies, and ends the thread.
    void stop();

    // ---- any thread

    // Consumes a prefix of `incoming` and returns its length; less than all if the mailbox is full.
    // A lone command that finds the writer idle is decided in the calling thread: handing it over
    // and back would make it half as slow again.
    std::size_t post(std::vector<linkproto::Incoming>& incoming);
    // A command of a person or of the daemon itself. The outcome when it is durable, or an error.
    std::future<Result<rules::Outcome>> submit(rules::Command command);
    // Adds a record that holds no command; its number when it is durable. `fields` is called once,
    // in the writer's turn: it must write little and wait for nothing.
    using Fields = std::function<void(storage::JsonText&)>;
    std::future<Result<std::uint64_t>> appendEvent(std::string kind, Fields fields);
    // A copy of the state, all of it durable. The cost grows with the site: for people's requests.
    std::future<Result<std::shared_ptr<const rules::State>>> snapshot();
    std::future<Result<LockState>> lockState();
    // Journals the acceptance and unlocks; the number of the record.
    std::future<Result<std::uint64_t>> acceptRestore(RestoreAcceptance acceptance);
    // Takes a turn in the calling thread.
    void raiseAlarm(const std::string& code, const std::string& detail);
    void setLimits(const TableLimits& limits);

    // Thread-safe and non-blocking, even while a commit hangs.
    [[nodiscard]] const meters::PublishedReadings& readings() const
    {
        return publisher_.readings();
    }
    [[nodiscard]] const WriterMetrics& metrics() const { return metrics_; }
    [[nodiscard]] std::vector<PoolMetrics> poolMetrics() const { return publisher_.poolMetrics(); }
    [[nodiscard]] std::size_t waiting() const { return mailbox_.size(); }
    // At most about a second while the writer is healthy, busy or not.
    [[nodiscard]] std::chrono::milliseconds sinceLastTurn() const;
    // Why nothing is decided, for any reader; empty if all is well.
    [[nodiscard]] std::string_view trouble() const { return publisher_.trouble(); }
    [[nodiscard]] bool isLocked() const { return trouble() == RestoreGuard::kLocked; }

private:
    template <class Answer>
    using Promise = std::promise<Result<Answer>>;
    struct CommandItem {
        rules::Command command;
        std::shared_ptr<Promise<rules::Outcome>> answer;
    };
    struct EventItem {
        std::string kind;
        Fields fields;
        std::shared_ptr<Promise<std::uint64_t>> answer;
    };
    struct SnapshotRequest {
        std::shared_ptr<Promise<std::shared_ptr<const rules::State>>> answer;
    };
    struct LockStateRequest {
        std::shared_ptr<Promise<LockState>> answer;
    };
    struct AcceptanceItem {
        RestoreAcceptance acceptance;
        std::shared_ptr<Promise<std::uint64_t>> answer;
    };
    struct AlarmItem {
        std::string code;
        std::string detail;
    };
    using Item = std::variant<linkproto::Incoming, CommandItem, EventItem, SnapshotRequest,
                              LockStateRequest, AcceptanceItem, AlarmItem>;

    template <class Answer, class Request>
    std::future<Result<Answer>> enqueue(Request request);
    template <class Answer>
    void answerWhenDurable(std::shared_ptr<Promise<Answer>> promise,
                           std::type_identity_t<Answer> answer);

    void run();
    [[nodiscard]] std::chrono::milliseconds timeUntilNextTurn() const;
    bool takeTurn(std::vector<Item>& items);
    void process(std::vector<Item>& items);
    void handle(linkproto::Incoming& incoming);
    void handle(CommandItem& item);
    void handle(EventItem& item);
    void handle(SnapshotRequest& request);
    void handle(LockStateRequest& request);
    void handle(AcceptanceItem& item);
    void handle(AlarmItem& item);
    void handleRejectedConnections(const linkproto::RejectedConnections& rejected);
    void handleConnected(const Recipient& from, const linkproto::TableConnected& connected);
    void handleWhileLocked(const linkproto::Incoming& incoming);
    void disconnectAfterFailedRead(const Recipient& from, const Error& error);
    bool commit();
    void fail(const storage::JournalError& error);

    const WriterSettings settings_;
    const Log& log_;
    const Failed failed_;
    Mailbox<Item> mailbox_;
    WriterMetrics metrics_;
    std::atomic<std::chrono::steady_clock::rep> lastTurn_;

    // Held for a turn; protects all that follows.
    std::mutex turn_;
    ReplySink replySink_;
    Publisher publisher_;
    Replies replies_;
    Decider decider_;
    Alarms alarms_;
    RestoreGuard guard_;
    TableCommands tableCommands_;
    std::vector<std::function<void(bool durable)>> answers_;
    std::size_t lastBatch_ = 0;
    bool isIdleWorkDone_ = false;
    std::optional<storage::JournalError> failure_;

    std::jthread thread_;
};

// The writer's answer, or an error if the journal has failed.
template <class T>
Result<T> awaitAnswer(std::future<Result<T>> answer)
{
    try {
        return answer.get();
    } catch (const std::future_error&) {  // the writer has failed and dropped the request
        return Error{"the journal cannot be written"};
    }
}
template <class T>
Result<T> awaitAnswer(std::future<Result<T>> answer, std::chrono::milliseconds timeout)
{
    if (answer.wait_for(timeout) == std::future_status::ready)
        return awaitAnswer(std::move(answer));
    return Error{"the journal takes too long: check whether it was done before you try again"};
}

}  // namespace jackpot
