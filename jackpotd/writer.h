// The one place where state changes. Whoever has the turn takes what waits, decides each with the
// rules, commits all of it in one durable transaction with one signed checkpoint, and only then
// lets anyone know. The turn is the writer's own thread's, or that of a thread with a lone command.
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
#include <unordered_map>
#include <variant>
#include <vector>

#include "jackpotd/accepted_restores.h"
#include "jackpotd/journal_clock.h"
#include "jackpotd/log.h"
#include "jackpotd/mailbox.h"
#include "jackpotd/writer_metrics.h"
#include "linkproto/server/link_server.h"
#include "meters/published_pools.h"
#include "rules/commands.h"
#include "rules/outcome.h"
#include "storage/journal.h"

namespace jackpot {

struct WriterLimits {
    std::int64_t refusalsPerMinute = 60;          // of one table; more suspend it
    std::optional<std::int64_t> roundsPerMinute;  // of one table
};

struct WriterSettings {
    std::filesystem::path journalDirectory;
    std::size_t mailbox = 8192;
    std::size_t batch = 1024;
    std::int64_t heartbeatMs = 60'000;
    WriterLimits limits;
};

class Writer {
public:
    using Deliver = std::function<void(linkproto::Delivery)>;
    // Called once, from the writer's thread, when the journal can't be written any more. All tables
    // have been told.
    using Failed = std::function<void(const storage::JournalError&)>;

    Writer(WriterSettings settings, storage::Journal journal, const Log& log, Failed failed);
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    ~Writer();

    // Where outcomes go. Before start().
    void tell(Deliver deliver) { deliver_ = std::move(deliver); }
    void start();
    // Takes no more, settles what is due, commits, tells, and ends the thread.
    void stop();

    // Any thread. How many were taken, from the front; fewer where there is no room. A lone one
    // that finds the writer idle is decided by the thread that brought it: two handovers between
    // threads would take it half as long again.
    std::size_t post(std::vector<linkproto::Incoming>& incoming);
    // A command of a person or of the daemon itself. Its outcome when it is durable, or why it is
    // not.
    std::future<Result<rules::Outcome>> submit(rules::Command command);
    // A plain record of what a person or the daemon did, and its number. `fields` is called once,
    // in the writer's turn; what it writes is small and waits for nothing.
    using Fields = std::function<void(storage::JsonText&)>;
    std::future<Result<std::uint64_t>> note(std::string kind, Fields fields);
    // A copy of the state, all of it durable. For people: it costs as much as the site is large.
    std::future<Result<std::shared_ptr<const rules::State>>> look();
    // Why nothing is decided, and what tables have shown that this journal never gave.
    struct LockState {
        std::string why;  // empty where it is not locked
        std::uint64_t records = 0;
        ShownReceipts shown;
    };
    std::future<Result<LockState>> lockState();
    // Two people give up the history that the shown receipts are of: journals that, accepts those
    // receipts from then on, and decides again. `size` and `root` are of the largest, as they have
    // seen it. The number of the record.
    struct Acceptance {
        std::uint64_t size = 0;
        std::string root;  // base64
        std::vector<std::string> by;
        std::string reason;
    };
    std::future<Result<std::uint64_t>> acceptRestore(Acceptance acceptance);
    // What displays may show.
    [[nodiscard]] const meters::PublishedPools& board() const { return board_; }
    void setLimits(const WriterLimits& limits);
    // A plain record for people, such as what a background verification found.
    void raise(std::string code, std::string detail);

    // Any thread's to read, and never waited for, whatever the journal does.
    [[nodiscard]] const WriterMetrics& figures() const { return figures_; }
    // As it is on disk, at most a second ago.
    [[nodiscard]] std::vector<PoolMetrics> pools() const;
    [[nodiscard]] std::size_t waiting() const { return mailbox_.size(); }
    // Since a turn has ended last. There is at least one a second, also with nothing to do.
    [[nodiscard]] std::chrono::milliseconds sinceLastTurn() const;
    // Why nothing is decided any more, for anyone to hear; empty where all is well.
    [[nodiscard]] std::string_view trouble() const { return trouble_.load(); }
    [[nodiscard]] bool isLocked() const { return trouble_ == kLocked; }

private:
    static constexpr const char* kLocked =
        "it is locked: the journal is not the one that a table has a receipt of";
    // More than a configuration has; each takes 200 bytes.
    static constexpr std::size_t kMaxPools = 128;

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
    struct AlarmItem {
        std::string code;
        std::string detail;
    };
    struct LockStatusRequest {
        std::shared_ptr<Promise<LockState>> answer;
    };
    struct RestoreAcceptance {
        Acceptance acceptance;
        std::shared_ptr<Promise<std::uint64_t>> answer;
    };
    using Item = std::variant<linkproto::Incoming, CommandItem, EventItem, SnapshotRequest,
                              AlarmItem, LockStatusRequest, RestoreAcceptance>;
    struct TableWatch {
        rules::TimeMs minuteMs = 0;
        std::int64_t refusals = 0;
        std::int64_t rounds = 0;
        std::unordered_map<std::string, rules::TimeMs> alarmedMs;
    };
    struct LastPublished {
        std::int64_t shownCents = -1;      // on displays
        rules::TimeMs wonMs = 0;           // the win on displays
        std::int64_t displayedCents = -1;  // as tables were told
        std::uint32_t flags = 0;
        rules::TimeMs atMs = 0;
    };

    template <class Answer, class Question>
    std::future<Result<Answer>> put(Question question);
    template <class Answer>
    void answerWhenDurable(std::shared_ptr<Promise<Answer>> promise,
                           std::type_identity_t<Answer> answer);

    void run();
    bool takeTurn(std::vector<Item>& items);
    void process(std::vector<Item>& items);
    void handle(Item& item);
    void handle(linkproto::Incoming& incoming);
    void handle(CommandItem& submitted);
    void handle(EventItem& noted);
    void handle(SnapshotRequest& looked);
    void handle(AlarmItem& raised);
    void handle(LockStatusRequest& looked);
    void handle(RestoreAcceptance& accepted);
    void lookForDue();
    void settleDue();
    rules::Outcome decide(const rules::Command& command,
                          const std::optional<storage::Origin>& from = std::nullopt);
    void noteOutcome(const rules::Outcome& outcome, std::optional<std::uint32_t> ownTable);

    void welcome(const linkproto::Incoming& incoming, const linkproto::TableConnected& online);
    struct ReceiptFault {
        std::string why;
        storage::Checkpoint receipt;
    };
    void lookAtWitnessed();
    std::optional<ReceiptFault> receiptFault(const std::string& receipt, const std::string& table);
    void sayWhatIsLost(std::uint32_t table, const linkproto::TableConnected& online);
    void ask(const linkproto::Incoming& incoming, const linkproto::CommandReceived& asked);
    void repeat(const linkproto::Incoming& incoming, const linkproto::CommandReceived& asked);
    void reject(const linkproto::Incoming& incoming, std::uint64_t number,
                linkproto::v1::Rejected::Why why, const std::string& detail);
    void checkCount(std::uint32_t table, const linkproto::WagerCountReport& counted);
    void countRefusal(std::uint32_t table);
    void suspend(std::uint32_t table, const std::string& code, const std::string& detail);
    TableWatch& watchOf(std::uint32_t table);

    void alarm(std::optional<std::uint32_t> table, const std::string& code,
               const std::string& detail);
    void lock(const std::string& why);
    void unlock();
    linkproto::v1::ToTable& say(std::uint64_t connection, std::uint32_t table);
    void sayGoodbye(std::uint64_t connection, std::uint32_t table, linkproto::v1::Goodbye::Why why,
                    const std::string& detail);
    void sayNews();
    void publish();
    void publishPools();
    bool commitAndTell();
    void fail(const storage::JournalError& error);

    WriterSettings settings_;
    storage::Journal journal_;
    const Log& log_;
    Failed failed_;
    Deliver deliver_;
    JournalClock clock_;
    Mailbox<Item> mailbox_;
    meters::PublishedPools board_;
    WriterMetrics figures_;
    std::atomic<std::chrono::steady_clock::rep> lastTurn_;
    std::atomic<const char*> trouble_{""};
    mutable std::mutex poolsMutex_;
    std::vector<PoolMetrics> pools_;

    // Of whoever has the turn: the writer's thread, or one with a lone command.
    std::mutex turn_;
    bool tidied_ = false;
    linkproto::Delivery delivery_;
    std::vector<std::function<void(bool durable)>> answers_;
    std::vector<TableWatch> watches_;
    std::vector<LastPublished> said_;
    std::vector<std::uint32_t> changed_;  // pools that displays show otherwise with the next commit
    bool poolsChanged_ = true;            // since they were published for whoever watches
    bool tablesChanged_ = true;           // in other ways than by playing
    std::optional<rules::TimeMs> nextDueMs_;
    std::size_t lastBatch_ = 0;
    rules::TimeMs lastRecordMs_ = 0;
    std::string locked_;  // why nothing is decided any more
    ShownReceipts shown_;
    AcceptedRestores acceptedRestores_;
    std::optional<storage::JournalError> failure_;

    std::jthread thread_;
};

}  // namespace jackpot
