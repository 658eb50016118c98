#include "jackpotd/writer.h"

#include <pthread.h>

#include <algorithm>

namespace jackpot {
namespace {

using linkproto::Incoming;
using linkproto::v1::Goodbye;
using rules::Outcome;
using rules::TimeMs;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kMaxTurnInterval{1000};
constexpr milliseconds kIdleAfter{20};
// A lone command is committed at once. After a batch of several commands their senders are likely
// to send the next ones together too, and one commit for all is earlier than two.
constexpr std::chrono::microseconds kBatchTimeout{150};
constexpr const char* kCannotWrite = "the journal cannot be written";

// People sign in and discuss the restore while the daemon is locked: these events are journaled.
bool isJournaledWhileLocked(std::string_view kind)
{
    return kind.starts_with("person_") || kind == "sign_in_refused" || kind == "restore_agreed";
}

}  // namespace

Writer::Writer(WriterSettings settings, storage::Journal journal, const Log& log, Failed failed)
    : settings_{std::move(settings)},
      log_{log},
      failed_{std::move(failed)},
      mailbox_{settings_.mailbox},
      lastTurn_{steady_clock::now().time_since_epoch().count()},
      decider_{std::move(journal), replies_, publisher_, metrics_, log_},
      alarms_{decider_, metrics_, log_},
      guard_{settings_.journalDirectory, decider_, alarms_, replies_, publisher_, log_},
      tableCommands_{
          settings_.journalDirectory, settings_.limits, decider_, alarms_, replies_, metrics_, log_,
          [this] { return commit(); }}
{
    const storage::Journal& opened = decider_.journal();
    metrics_.mailbox = settings_.mailbox;
    metrics_.records.set(opened.lastReceipt().size);
    metrics_.lastCommitMs.set(static_cast<std::uint64_t>(opened.lastTimeMs()));
    publisher_.collectChanges(decider_.state(), decider_.now(), replies_);
    replies_.clear();
    publisher_.publish(decider_.state(), decider_.now());
}

Writer::~Writer() { stop(); }

Result<void> Writer::start()
{
    {
        const std::scoped_lock turn{turn_};
        if (auto loaded = guard_.load(); !loaded) return loaded;
        if (guard_.isLocked()) (void)commit();
    }
    thread_ = std::jthread{[this] { run(); }};
    return {};
}

void Writer::setReplySink(ReplySink sink)
{
    const std::scoped_lock turn{turn_};
    replySink_ = std::move(sink);
}

void Writer::stop()
{
    mailbox_.close();
    if (thread_.joinable()) thread_.join();
}

template <class Answer, class Request>
std::future<Result<Answer>> Writer::enqueue(Request request)
{
    const auto answer = request.answer;
    auto future = answer->get_future();
    Item item{std::move(request)};
    if (!mailbox_.put(item))
        answer->set_value(Error{"the daemon is busy or shutting down: try again"});
    return future;
}

std::future<Result<Outcome>> Writer::submit(rules::Command command)
{
    return enqueue<Outcome>(CommandItem{std::move(command), std::make_shared<Promise<Outcome>>()});
}

std::future<Result<std::uint64_t>> Writer::appendEvent(std::string kind, Fields fields)
{
    return enqueue<std::uint64_t>(
        EventItem{std::move(kind), std::move(fields), std::make_shared<Promise<std::uint64_t>>()});
}

std::future<Result<std::shared_ptr<const rules::State>>> Writer::snapshot()
{
    using Copy = std::shared_ptr<const rules::State>;
    return enqueue<Copy>(SnapshotRequest{std::make_shared<Promise<Copy>>()});
}

std::future<Result<LockState>> Writer::lockState()
{
    return enqueue<LockState>(LockStateRequest{std::make_shared<Promise<LockState>>()});
}

std::future<Result<std::uint64_t>> Writer::acceptRestore(RestoreAcceptance acceptance)
{
    return enqueue<std::uint64_t>(
        AcceptanceItem{std::move(acceptance), std::make_shared<Promise<std::uint64_t>>()});
}

void Writer::setLimits(const TableLimits& limits)
{
    const std::scoped_lock turn{turn_};
    tableCommands_.setLimits(limits);
}

void Writer::raiseAlarm(const std::string& code, const std::string& detail)
{
    const std::scoped_lock turn{turn_};
    std::vector<Item> items;
    items.emplace_back(AlarmItem{code, detail});
    takeTurn(items);
}

milliseconds Writer::sinceLastTurn() const
{
    return std::chrono::duration_cast<milliseconds>(steady_clock::now().time_since_epoch() -
                                                    steady_clock::duration{lastTurn_.load()});
}

// ---- turns

std::size_t Writer::post(std::vector<Incoming>& incoming)
{
    if (incoming.empty()) return 0;
    // Before the items are put: the thread that takes them calls endTurn().
    publisher_.beginTurn();
    if (incoming.size() != 1) return mailbox_.putMany(incoming);
    std::unique_lock turn{turn_, std::try_to_lock};
    if (!turn || lastBatch_ > 1 || !mailbox_.isEmptyAndOpen()) return mailbox_.putMany(incoming);
    const auto dueBefore = decider_.nextDueMs();
    std::vector<Item> items;
    items.emplace_back(std::move(incoming[0]));
    takeTurn(items);
    // The writer's thread must compute its waiting time again.
    if (decider_.nextDueMs() != dueBefore) mailbox_.wake();
    return 1;
}

void Writer::run()
{
    ::pthread_setname_np(::pthread_self(), "writer");
    std::vector<Item> items;
    bool isOpen = true;
    while (isOpen) {
        milliseconds wait{0};
        std::size_t enough = 0;
        {
            const std::scoped_lock turn{turn_};
            if (failure_) break;
            wait = timeUntilNextTurn();
            enough = lastBatch_ * 7 / 8;
        }
        const bool wasClosed = mailbox_.isClosed();
        items.clear();
        mailbox_.takeAll(items, steady_clock::now() + wait, enough, kBatchTimeout);
        const std::scoped_lock turn{turn_};
        const bool isDone = takeTurn(items);
        if (isDone) metrics_.turns.add();
        isOpen = isDone && !(wasClosed && items.empty());
    }
    const std::scoped_lock turn{turn_};
    for (const auto& answer : answers_) answer(false);
    answers_.clear();
    if (failure_) failed_(*failure_);
}

milliseconds Writer::timeUntilNextTurn() const
{
    milliseconds wait = kMaxTurnInterval;
    if (!guard_.isLocked()) {
        const auto until = [now = decider_.now()](TimeMs atMs) {
            return std::clamp(milliseconds{atMs - now}, milliseconds{0}, kMaxTurnInterval);
        };
        wait = until(decider_.lastRecordMs() + settings_.heartbeatMs);
        if (const auto dueMs = decider_.nextDueMs()) wait = std::min(wait, until(*dueMs));
    }
    return isIdleWorkDone_ ? wait : std::min(wait, kIdleAfter);
}

// False if the journal has failed: there are no more turns.
bool Writer::takeTurn(std::vector<Item>& items)
{
    if (failure_) return false;
    const auto dueMs = decider_.nextDueMs();
    if (!items.empty() || (dueMs && *dueMs <= decider_.now())) publisher_.beginTurn();
    try {
        lastBatch_ = items.size();
        if (!items.empty()) {
            isIdleWorkDone_ = false;
        } else if (!isIdleWorkDone_ && !dueMs && mailbox_.isEmptyAndOpen()) {
            // SQLite's log is moved into the file now, so that no commit has to do it.
            if (auto done = decider_.journal().tidy(); !done) fail(done.error());
            isIdleWorkDone_ = true;
        }
        if (!failure_) process(items);
    } catch (const std::exception& error) {
        // A fault of ours. No reply has been sent for this batch.
        fail({storage::JournalError::Kind::Refused,
              std::string{"a fault of the program itself: "} + error.what(), std::nullopt});
    }
    publisher_.endTurn();
    lastTurn_ = steady_clock::now().time_since_epoch().count();
    return !failure_;
}

void Writer::process(std::vector<Item>& items)
{
    std::size_t inBatch = 0;
    decider_.settleDue();
    for (Item& item : items) {
        if (failure_) return;
        std::visit([this](auto& each) { handle(each); }, item);
        if (++inBatch < settings_.batch) continue;
        if (!commit()) return;
        inBatch = 0;
    }
    if (!guard_.isLocked() && decider_.now() - decider_.lastRecordMs() >= settings_.heartbeatMs)
        decider_.appendHeartbeat();
    commit();
}

// Nothing of the batch is visible before the commit is durable.
bool Writer::commit()
{
    publisher_.collectChanges(decider_.state(), decider_.now(), replies_);
    storage::Journal& journal = decider_.journal();
    const std::uint64_t before = journal.lastReceipt().size;
    const auto begin = steady_clock::now();
    const auto receipt = journal.commit();
    if (!receipt) {
        fail(receipt.error());
        return false;
    }
    if (receipt->size > before) {
        metrics_.countCommit(receipt->size - before, steady_clock::now() - begin, receipt->size,
                             journal.lastTimeMs());
        publisher_.markPoolsChanged();
    }
    publisher_.publish(decider_.state(), decider_.now());
    if (!replies_.isEmpty() && replySink_) replySink_(replies_.release(*receipt));
    for (const auto& answer : answers_) answer(true);
    answers_.clear();
    return true;
}

// Drops the replies of the batch; the tables learn that the jackpot is not available.
void Writer::fail(const storage::JournalError& error)
{
    failure_ = error;
    publisher_.fail(kCannotWrite);
    mailbox_.close();
    log_.error(std::string{kCannotWrite} + ": " + inWords(error), {.code = "journal_failed"});
    replies_.clear();
    replies_.addUnavailableToAll(
        decider_.state(),
        std::string{kCannotWrite} + ": return the round's wagers and play on without the jackpot");
    if (replySink_) replySink_(replies_.release());
}

template <class Answer>
void Writer::answerWhenDurable(std::shared_ptr<Promise<Answer>> promise,
                               std::type_identity_t<Answer> answer)
{
    answers_.emplace_back([promise = std::move(promise), answer = std::move(answer)](bool durable) {
        if (durable)
            promise->set_value(answer);
        else
            promise->set_value(Error{kCannotWrite});
    });
}

// ---- items of people and of the daemon

void Writer::handle(CommandItem& item)
{
    if (guard_.isLocked()) return item.answer->set_value(Error{guard_.reason()});
    const std::string* const id = tableOf(item.command);
    const auto table = id ? decider_.state().findTable(*id) : std::nullopt;
    Outcome outcome = decider_.decide(item.command);
    if (table && !outcome.refusal &&
        (std::holds_alternative<rules::SuspendTable>(item.command) ||
         std::holds_alternative<rules::ResumeTable>(item.command)))
        replies_.addSuspension(*table, decider_.table(*table).suspended, {});
    answerWhenDurable(item.answer, std::move(outcome));
}

void Writer::handle(EventItem& item)
{
    if (guard_.isLocked() && !isJournaledWhileLocked(item.kind))
        return item.answer->set_value(Error{guard_.reason()});
    try {
        answerWhenDurable(item.answer, decider_.appendEvent(item.kind, item.fields));
    } catch (const std::invalid_argument& error) {
        item.answer->set_value(Error{error.what()});
    }
}

void Writer::handle(SnapshotRequest& request)
{
    answerWhenDurable(request.answer, std::make_shared<const rules::State>(decider_.state()));
}

void Writer::handle(LockStateRequest& request) { request.answer->set_value(guard_.state()); }

void Writer::handle(AcceptanceItem& item)
{
    const auto record = guard_.accept(item.acceptance);
    if (!record) return item.answer->set_value(record.error());
    if (!commit()) return item.answer->set_value(Error{kCannotWrite});
    guard_.unlock(*record, item.acceptance);
    item.answer->set_value(*record);
}

void Writer::handle(AlarmItem& item) { alarms_.raise(item.code, item.detail); }

// ---- items of tables

void Writer::handle(Incoming& incoming)
{
    if (const auto* rejected = std::get_if<linkproto::RejectedConnections>(&incoming.what))
        return handleRejectedConnections(*rejected);
    const std::uint32_t table = incoming.table;
    if (table >= decider_.state().tables.size()) return;
    if (guard_.isLocked()) return handleWhileLocked(incoming);
    const Recipient from{incoming.connection, table};
    if (const auto* received = std::get_if<linkproto::CommandReceived>(&incoming.what)) {
        if (const auto done = tableCommands_.handle(from, *received); !done)
            disconnectAfterFailedRead(from, done.error());
    } else if (const auto* connected = std::get_if<linkproto::TableConnected>(&incoming.what)) {
        handleConnected(from, *connected);
    } else if (std::holds_alternative<linkproto::StateRequest>(incoming.what)) {
        replies_.addState(from, decider_.state());
    } else if (const auto* report = std::get_if<linkproto::WagerCountReport>(&incoming.what)) {
        tableCommands_.checkWagerCount(table, *report);
    } else if (const auto* malformed = std::get_if<linkproto::MalformedCommand>(&incoming.what)) {
        tableCommands_.countMalformed(table, malformed->what);
    } else if (std::holds_alternative<linkproto::TableTimedOut>(incoming.what) &&
               !decider_.table(table).offline) {
        decider_.decide(rules::MarkTableOffline{decider_.table(table).config.id});
    }
}

void Writer::handleRejectedConnections(const linkproto::RejectedConnections& rejected)
{
    log_.warning("rejected " + std::to_string(rejected.count) +
                     " connections, for example: " + rejected.example,
                 {.code = "rejected_connections"});
    decider_.appendEvent("strangers_refused", [&](storage::JsonText& json) {
        json.numberField("count", static_cast<std::int64_t>(rejected.count));
        json.textField("example", rejected.example);
    });
}

void Writer::handleConnected(const Recipient& from, const linkproto::TableConnected& connected)
{
    const auto verdict = guard_.checkReceipt(from.table, connected.receipt);
    if (!verdict) return disconnectAfterFailedRead(from, verdict.error());
    if (*verdict == RestoreGuard::Verdict::Locked) return;
    const bool isRestored = *verdict == RestoreGuard::Verdict::Restored;
    if (isRestored) guard_.reportLostCommands(from.table, connected.decided);
    const std::string id = decider_.table(from.table).config.id;
    if (decider_.table(from.table).offline) decider_.decide(rules::MarkTableOnline{id});
    log_.information("table " + id + " is connected (" + connected.software + ")", {.table = id});
    replies_.addWelcome(from, decider_.journal().verifier(), decider_.state(), isRestored);
}

void Writer::handleWhileLocked(const Incoming& incoming)
{
    const Recipient from{incoming.connection, incoming.table};
    if (const auto* connected = std::get_if<linkproto::TableConnected>(&incoming.what))
        if (const auto done = guard_.collectReceipt(from.table, connected->receipt); !done)
            return disconnectAfterFailedRead(from, done.error());
    replies_.addGoodbye(from, Goodbye::LOCKED, guard_.reason());
}

// The table connects again and sends again what has no decision.
void Writer::disconnectAfterFailedRead(const Recipient& from, const Error& error)
{
    metrics_.failedReads.add();
    const std::string& id = decider_.table(from.table).config.id;
    log_.error(
        "table " + id + " is disconnected, because the journal could not be read: " + error.message,
        {.table = id, .code = "read_failed"});
    replies_.addGoodbye(from, Goodbye::BUSY, "the journal could not be read: connect again");
}

}  // namespace jackpot
