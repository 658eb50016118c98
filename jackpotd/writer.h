// The one thread that changes state. It takes what waits, decides each with the rules, commits all
// of it in one durable transaction with one signed checkpoint, and only then lets anyone know.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

#include "jackpotd/log.h"
#include "jackpotd/mailbox.h"
#include "jackpotd/one_clock.h"
#include "linkproto/server.h"
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

    // Any thread. How many were taken, from the front; fewer where there is no room.
    std::size_t post(std::vector<linkproto::Incoming>& incoming)
    {
        return mailbox_.putMany(incoming);
    }
    // A command of a person or of the daemon itself. Its outcome when it is durable, or why it is
    // not.
    std::future<Result<rules::Outcome>> submit(rules::Command command);
    void setLimits(const WriterLimits& limits);
    // A plain record for people, such as what a background verification found.
    void raise(std::string code, std::string detail);

    struct Counters {
        std::atomic<std::uint64_t> commands{0};
        std::atomic<std::uint64_t> commits{0};
        std::atomic<std::uint64_t> repeated{0};
        std::atomic<std::uint64_t> rejected{0};
        std::atomic<std::uint64_t> alarms{0};
    };
    [[nodiscard]] const Counters& counters() const { return counters_; }

private:
    struct Submitted {
        rules::Command command;
        std::promise<Result<rules::Outcome>> outcome;
    };
    struct Raised {
        std::string code;
        std::string detail;
    };
    using Item = std::variant<linkproto::Incoming, Submitted, Raised, WriterLimits>;
    struct TableWatch {
        rules::TimeMs minuteMs = 0;
        std::int64_t refusals = 0;
        std::int64_t rounds = 0;
        std::unordered_map<std::string, rules::TimeMs> alarmedMs;
    };
    struct PoolSaid {
        std::int64_t displayedCents = -1;
        std::uint32_t flags = 0;
        rules::TimeMs atMs = 0;
    };

    void run();
    void runUntilClosed();
    void process(std::vector<Item>& items);
    void handle(Item& item);
    void handle(linkproto::Incoming& incoming);
    void handle(Submitted& submitted);
    void settleDue();
    rules::Outcome decide(const rules::Command& command,
                          const std::optional<storage::Origin>& from = std::nullopt);
    void noteOutcome(const rules::Outcome& outcome, std::optional<std::uint32_t> ownTable);

    void welcome(const linkproto::Incoming& incoming, const linkproto::CameOnline& online);
    std::string receiptFault(const std::string& receipt, const std::string& table);
    void ask(const linkproto::Incoming& incoming, const linkproto::Asked& asked);
    void repeat(const linkproto::Incoming& incoming, const linkproto::Asked& asked);
    void reject(const linkproto::Incoming& incoming, std::uint64_t number,
                linkproto::v1::Rejected::Why why, const std::string& detail);
    void checkCount(std::uint32_t table, const linkproto::Counted& counted);
    void countRefusal(std::uint32_t table);
    TableWatch& watchOf(std::uint32_t table);

    void alarm(std::optional<std::uint32_t> table, const std::string& code,
               const std::string& detail);
    void lock(const std::string& why);
    linkproto::v1::ToTable& say(std::uint64_t connection, std::uint32_t table);
    void sayNews();
    bool commitAndTell();
    void fail(const storage::JournalError& error);

    WriterSettings settings_;
    storage::Journal journal_;
    const Log& log_;
    Failed failed_;
    Deliver deliver_;
    OneClock clock_;
    Mailbox<Item> mailbox_;
    Counters counters_;

    // Of the thread alone.
    linkproto::Delivery delivery_;
    std::vector<std::pair<std::promise<Result<rules::Outcome>>, rules::Outcome>> answers_;
    std::vector<TableWatch> watches_;
    std::vector<PoolSaid> said_;
    std::optional<rules::TimeMs> nextDueMs_;
    std::size_t lastBatch_ = 0;
    rules::TimeMs lastRecordMs_ = 0;
    std::string locked_;  // why nothing is decided any more
    std::optional<storage::JournalError> failure_;

    std::jthread thread_;
};

}  // namespace jackpot
