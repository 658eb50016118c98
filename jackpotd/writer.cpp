#include "jackpotd/writer.h"

#include <pthread.h>

#include <algorithm>

namespace jackpot {
namespace {

using linkproto::Incoming;
using rules::Outcome;
using rules::TimeMs;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kMaxTurnInterval{1000};
constexpr milliseconds kIdleAfter{20};
constexpr milliseconds kIdleUntilDue{1000};  // no idle work if a win is due within this time
// A lone command is committed at once. After a batch of several commands their senders are likely
// to send the next ones together too, and one commit for all is earlier than two.
constexpr std::chrono::microseconds kBatchTimeout{150};
constexpr const char* kCannotWrite = "the journal cannot be written";

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
      tableCommands_{settings_.journalDirectory,
                     settings_.limits,
                     decider_,
                     alarms_,
                     guard_,
                     replies_,
                     metrics_,
                     log_,
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
        } else if (const bool isDueSoon = dueMs && *dueMs - decider_.now() < kIdleUntilDue.count();
                   !isIdleWorkDone_ && !isDueSoon && mailbox_.isEmptyAndOpen()) {
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
        if (const auto* incoming = std::get_if<Incoming>(&item))
            tableCommands_.handle(*incoming);
        else
            std::get<Task>(item)();
        if (++inBatch < settings_.batch) continue;
        if (!commit()) return;
        inBatch = 0;
    }
    if (!guard_.isLocked()) {
        tableCommands_.reportAbsences();
        if (decider_.now() - decider_.lastRecordMs() >= settings_.heartbeatMs)
            decider_.appendHeartbeat();
    }
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

// ---- requests of people and of the daemon

template <class T>
void Writer::answerWhenDurable(Answer<T> promise, std::type_identity_t<T> answer)
{
    answers_.emplace_back([promise = std::move(promise), answer = std::move(answer)](bool durable) {
        if (durable)
            promise->set_value(answer);
        else
            promise->set_value(Error{kCannotWrite});
    });
}

// `work` runs in a turn and gives the answer.
template <class T, class Work>
std::future<Result<T>> Writer::enqueue(Work work)
{
    const auto answer = std::make_shared<std::promise<Result<T>>>();
    auto future = answer->get_future();
    Item item{Task{[answer, work = std::move(work)] { work(answer); }}};
    if (!mailbox_.put(item))
        answer->set_value(Error{"the daemon is busy or shutting down: try again"});
    return future;
}

std::future<Result<Outcome>> Writer::submit(rules::Command command)
{
    return enqueue<Outcome>([this, command = std::move(command)](const Answer<Outcome>& answer) {
        if (guard_.isLocked()) return answer->set_value(Error{guard_.reason()});
        Outcome outcome = decider_.decide(command);
        const bool isSuspension = std::holds_alternative<rules::SuspendTable>(command) ||
                                  std::holds_alternative<rules::ResumeTable>(command);
        if (isSuspension && !outcome.refusal) {
            const std::uint32_t table = *decider_.state().findTable(*tableOf(command));
            replies_.addSuspension(table, decider_.state(), {});
        }
        answerWhenDurable(answer, std::move(outcome));
    });
}

std::future<Result<std::uint64_t>> Writer::appendEvent(std::string kind, Fields fields)
{
    return enqueue<std::uint64_t>([this, kind = std::move(kind), fields = std::move(fields)](
                                      const Answer<std::uint64_t>& answer) {
        if (guard_.isLocked() && !RestoreGuard::allows(kind))
            return answer->set_value(Error{guard_.reason()});
        try {
            answerWhenDurable(answer, decider_.appendEvent(kind, fields));
        } catch (const std::invalid_argument& error) {
            answer->set_value(Error{error.what()});
        }
    });
}

std::future<Result<std::shared_ptr<const rules::State>>> Writer::snapshot()
{
    using Copy = std::shared_ptr<const rules::State>;
    return enqueue<Copy>([this](const Answer<Copy>& answer) {
        answerWhenDurable(answer, std::make_shared<const rules::State>(decider_.state()));
    });
}

std::future<Result<LockState>> Writer::lockState()
{
    return enqueue<LockState>(
        [this](const Answer<LockState>& answer) { answer->set_value(guard_.state()); });
}

std::future<Result<std::uint64_t>> Writer::acceptRestore(RestoreAcceptance acceptance)
{
    return enqueue<std::uint64_t>(
        [this, acceptance = std::move(acceptance)](const Answer<std::uint64_t>& answer) {
            const auto record = guard_.accept(acceptance);
            if (!record) return answer->set_value(record.error());
            if (!commit()) return answer->set_value(Error{kCannotWrite});
            guard_.unlock(*record, acceptance);
            answer->set_value(*record);
        });
}

void Writer::raiseAlarm(const std::string& code, const std::string& detail)
{
    const std::scoped_lock turn{turn_};
    std::vector<Item> items;
    items.emplace_back(Task{[&] { alarms_.raise(code, detail); }});
    takeTurn(items);
}

void Writer::setLimits(const TableLimits& limits)
{
    const std::scoped_lock turn{turn_};
    tableCommands_.setLimits(limits);
}

}  // namespace jackpot
