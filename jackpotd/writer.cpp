#include "jackpotd/writer.h"

#include <pthread.h>

#include <algorithm>
#include <fstream>

#include "jackpotd/repeated_reply.h"
#include "rules/invariants.h"
#include "storage/backup.h"
#include "storage/note.h"

namespace jackpot {
namespace {

namespace v1 = linkproto::v1;
using linkproto::CommandReceived;
using linkproto::Delivery;
using linkproto::Incoming;
using linkproto::MalformedCommand;
using linkproto::RejectedConnections;
using linkproto::StateRequest;
using linkproto::TableConnected;
using linkproto::TableTimedOut;
using linkproto::WagerCountReport;
using rules::Outcome;
using rules::TimeMs;

constexpr TimeMs kMinuteMs = 60'000;
// How often the tables of a pool are told its amount, besides in the answers to their commands.
constexpr TimeMs kNewsMs = 500;
constexpr TimeMs kIdleMs = 20;
constexpr TimeMs kLookMs =
    1000;  // the thread looks at least so often whether there is an idle moment
// A lone command is committed at once. Where several were decided together, those who sent them are
// likely to send the next together too, and one commit for all is sooner than two.
constexpr std::chrono::microseconds kPatience{150};
constexpr const char* kSelf = "jackpotd";
constexpr const char* kWitness = "(witness)";  // no table can be called that

// What people do to unlock the daemon is journaled while it is locked: that they are there, and who
// they are.
bool isNotedWhenLocked(std::string_view kind)
{
    return kind.starts_with("person_") || kind == "sign_in_refused" || kind == "restore_agreed";
}

// Of each list in one Settlement, so that it fits a frame.
constexpr int kMaxSettled = 24;

static_assert(v1::Rejected::Why_ARRAYSIZE == std::tuple_size_v<decltype(WriterMetrics::rejected)>);

// Wins are shown on displays for so long.
constexpr std::chrono::seconds kWinShown{30};

meters::Reading readingOf(const rules::State& state, const rules::Pool& pool)
{
    meters::Reading reading{pool.config.id, !pool.suspended,          pool.isPending(),
                            pool.isHeld(),  pool.displayed().cents(), {}};
    if (!pool.lastWin) return reading;
    const auto* const row = findRow(pool.payTable, pool.lastWin->tier);
    reading.lastWin = {pool.lastWin->amount.cents(), pool.lastWin->atMs / 1000,
                       static_cast<std::uint16_t>(row && row->pays == rules::Pays::All ? 1 : 2),
                       state.tables[pool.lastWin->table].config.id};
    return reading;
}

}  // namespace

Writer::Writer(WriterSettings settings, storage::Journal journal, const Log& log, Failed failed)
    : settings_{std::move(settings)},
      journal_{std::move(journal)},
      log_{log},
      failed_{std::move(failed)},
      clock_{journal_.lastTimeMs()},
      mailbox_{settings_.mailbox},
      board_{kMaxPools},
      lastTurn_{std::chrono::steady_clock::now().time_since_epoch().count()},
      lastRecordMs_{clock_.now()},
      acceptedRestores_{settings_.journalDirectory}
{
    figures_.mailbox = settings_.mailbox;
    figures_.records.set(journal_.lastReceipt().size);
    figures_.lastCommitMs.set(static_cast<std::uint64_t>(journal_.lastTimeMs()));
    lookForDue();
    sayNews();
    delivery_ = {};
    publish();
}

Writer::~Writer() { stop(); }

void Writer::start()
{
    lookAtWitnessed();
    thread_ = std::jthread{[this] { run(); }};
}

void Writer::stop()
{
    mailbox_.close();
    if (thread_.joinable()) thread_.join();
}

template <class Answer, class Question>
std::future<Result<Answer>> Writer::put(Question question)
{
    const auto answer = question.answer;
    auto future = answer->get_future();
    Item item{std::move(question)};
    if (!mailbox_.put(item))
        answer->set_value(Error{"the daemon is busy or shutting down: try again"});
    return future;
}

std::future<Result<Outcome>> Writer::submit(rules::Command command)
{
    return put<Outcome>(CommandItem{std::move(command), std::make_shared<Promise<Outcome>>()});
}

std::future<Result<std::uint64_t>> Writer::note(std::string kind, Fields fields)
{
    return put<std::uint64_t>(
        EventItem{std::move(kind), std::move(fields), std::make_shared<Promise<std::uint64_t>>()});
}

std::future<Result<std::shared_ptr<const rules::State>>> Writer::look()
{
    using Copy = std::shared_ptr<const rules::State>;
    return put<Copy>(SnapshotRequest{std::make_shared<Promise<Copy>>()});
}

std::future<Result<Writer::LockState>> Writer::lockState()
{
    return put<LockState>(LockStatusRequest{std::make_shared<Promise<LockState>>()});
}

std::future<Result<std::uint64_t>> Writer::acceptRestore(Acceptance acceptance)
{
    return put<std::uint64_t>(
        RestoreAcceptance{std::move(acceptance), std::make_shared<Promise<std::uint64_t>>()});
}

void Writer::setLimits(const WriterLimits& limits)
{
    const std::scoped_lock turn{turn_};
    settings_.limits = limits;
}

void Writer::raise(std::string code, std::string detail)
{
    const std::scoped_lock turn{turn_};
    std::vector<Item> items;
    items.emplace_back(AlarmItem{std::move(code), std::move(detail)});
    takeTurn(items);
}

// --- the thread
// ------------------------------------------------------------------------------------

std::size_t Writer::post(std::vector<Incoming>& incoming)
{
    if (incoming.empty()) return 0;
    // Before it is put: whoever takes it ends the turn.
    board_.beginTurn();
    if (incoming.size() != 1) return mailbox_.putMany(incoming);
    std::unique_lock turn{turn_, std::try_to_lock};
    if (!turn || lastBatch_ > 1 || !mailbox_.isEmptyAndOpen()) return mailbox_.putMany(incoming);
    const auto dueBefore = nextDueMs_;
    std::vector<Item> items;
    items.emplace_back(std::move(incoming[0]));
    takeTurn(items);
    if (nextDueMs_ != dueBefore) mailbox_.wake();  // its thread waits for another moment now
    return 1;
}

void Writer::run()
{
    ::pthread_setname_np(::pthread_self(), "writer");
    std::vector<Item> items;
    bool open = true;
    while (open) {
        TimeMs waitMs = 0;
        std::size_t enough = 0;
        {
            const std::scoped_lock turn{turn_};
            if (failure_) break;
            const TimeMs now = clock_.now();
            waitMs = std::clamp<TimeMs>(lastRecordMs_ + settings_.heartbeatMs - now, 0, kLookMs);
            if (nextDueMs_) waitMs = std::clamp<TimeMs>(*nextDueMs_ - now, 0, waitMs);
            if (!locked_.empty()) waitMs = kLookMs;
            if (!tidied_) waitMs = std::min(waitMs, kIdleMs);
            enough = lastBatch_ * 7 / 8;
        }
        const bool closed = mailbox_.isClosed();
        items.clear();
        mailbox_.takeAll(items,
                         std::chrono::steady_clock::now() + std::chrono::milliseconds{waitMs},
                         enough, kPatience);
        const std::scoped_lock turn{turn_};
        const bool done = takeTurn(items);
        if (done) figures_.turns.add();
        open = done && !(closed && items.empty());
    }
    const std::scoped_lock turn{turn_};
    for (const auto& answer : answers_) answer(false);
    answers_.clear();
    if (failure_) failed_(*failure_);
}

// False where it was the last one.
bool Writer::takeTurn(std::vector<Item>& items)
{
    if (failure_) return false;
    if (!items.empty() || (nextDueMs_ && *nextDueMs_ <= clock_.now())) board_.beginTurn();
    try {
        lastBatch_ = items.size();
        if (items.empty() && !tidied_ && (!nextDueMs_ || !locked_.empty()) &&
            mailbox_.isEmptyAndOpen()) {
            // An idle moment: the log is moved into the file now rather than inside a commit.
            if (auto done = journal_.tidy(); !done) fail(done.error());
            tidied_ = true;
        }
        if (!items.empty()) tidied_ = false;
        if (!failure_) process(items);
    } catch (const std::exception& error) {
        // We are wrong, and nobody has been told what came of it.
        fail({storage::JournalError::Kind::Refused,
              std::string{"a fault of the program itself: "} + error.what(), std::nullopt});
    }
    board_.endTurn();
    lastTurn_ = std::chrono::steady_clock::now().time_since_epoch().count();
    return !failure_;
}

void Writer::process(std::vector<Item>& items)
{
    std::size_t inBatch = 0;
    if (locked_.empty()) settleDue();
    for (Item& item : items) {
        if (failure_) return;
        handle(item);
        if (++inBatch < settings_.batch) continue;
        if (!commitAndTell()) return;
        inBatch = 0;
    }
    if (clock_.now() - lastRecordMs_ >= settings_.heartbeatMs && locked_.empty()) {
        journal_.heartbeat(clock_.now());
        lastRecordMs_ = clock_.now();
    }
    commitAndTell();
}

void Writer::handle(Item& item)
{
    std::visit([this](auto& each) { handle(each); }, item);
}

void Writer::handle(AlarmItem& raised) { alarm(std::nullopt, raised.code, raised.detail); }

void Writer::handle(EventItem& noted)
{
    if (!locked_.empty() && !isNotedWhenLocked(noted.kind))
        return noted.answer->set_value(Error{locked_});
    const std::uint64_t record = journal_.size();
    try {
        journal_.add(noted.kind, clock_.now(), noted.fields);
    } catch (const std::invalid_argument& error) {
        return noted.answer->set_value(Error{error.what()});
    }
    lastRecordMs_ = clock_.now();
    answerWhenDurable(noted.answer, record);
}

void Writer::handle(SnapshotRequest& looked)
{
    answerWhenDurable(looked.answer, std::make_shared<const rules::State>(journal_.state()));
}

void Writer::handle(LockStatusRequest& looked)
{
    looked.answer->set_value(LockState{locked_, journal_.size(), shown_});
}

void Writer::handle(RestoreAcceptance& accepted)
{
    const Acceptance& given = accepted.acceptance;
    const auto refuse = [&](const char* why) { accepted.answer->set_value(Error{why}); };
    if (locked_.empty()) return refuse("nothing is locked");
    if (rules::differentPeople(given.by) < 2) return refuse("it takes two different people");
    const storage::Checkpoint& largest = largestOf(shown_);
    if (given.size != largest.size || given.root != largest.root.base64())
        return refuse("this is not the newest receipt that tables have shown: look again");
    const std::uint64_t record = journal_.size();
    journal_.add(AcceptedRestores::kKind, clock_.now(), [&](storage::JsonText& json) {
        json.textField("reason", given.reason);
        json.key("by");
        json.beginArray();
        for (const std::string& each : given.by) json.text(each);
        json.endArray();
        AcceptedRestores::write(json, shown_);
    });
    lastRecordMs_ = clock_.now();
    // Durable before anybody is let in by it.
    if (!commitAndTell()) return refuse("the journal cannot be written");
    if (const auto added = acceptedRestores_.add(record); !added) log_.error(added.error().message);
    log_.warning("unlocked: " + given.by[0] + " and " + given.by[1] +
                 " have given up a history of " + std::to_string(given.size) + " records");
    unlock();
    accepted.answer->set_value(record);
}

// For what was asked in this batch: nobody hears of it before it is durable.
template <class Answer>
void Writer::answerWhenDurable(std::shared_ptr<Promise<Answer>> promise,
                               std::type_identity_t<Answer> answer)
{
    answers_.emplace_back([promise = std::move(promise), answer = std::move(answer)](bool durable) {
        if (durable)
            promise->set_value(answer);
        else
            promise->set_value(Error{"the journal cannot be written"});
    });
}

void Writer::handle(Incoming& incoming)
{
    if (const auto* strangers = std::get_if<RejectedConnections>(&incoming.what)) {
        log_.warning("refused " + std::to_string(strangers->count) +
                         " connections, such as: " + strangers->example,
                     {.code = "strangers"});
        journal_.add("strangers_refused", clock_.now(), [&](storage::JsonText& json) {
            json.numberField("count", static_cast<std::int64_t>(strangers->count));
            json.textField("example", strangers->example);
        });
        return;
    }
    const std::uint32_t table = incoming.table;
    if (table >= journal_.state().tables.size()) return;
    if (!locked_.empty()) {
        // The more of them are known, the fewer lock it again when people have accepted these.
        if (const auto* online = std::get_if<TableConnected>(&incoming.what)) {
            const std::string& id = journal_.state().tables[table].config.id;
            if (const auto fault = receiptFault(online->receipt, id);
                fault && !acceptedRestores_.covers(fault->receipt))
                shown_.insert_or_assign(id, fault->receipt);
        }
        sayGoodbye(incoming.connection, table, v1::Goodbye::LOCKED, locked_);
        return;
    }
    if (const auto* asked = std::get_if<CommandReceived>(&incoming.what))
        return ask(incoming, *asked);
    if (const auto* online = std::get_if<TableConnected>(&incoming.what))
        return welcome(incoming, *online);
    if (std::holds_alternative<StateRequest>(incoming.what))
        return linkproto::writeState(*say(incoming.connection, table).mutable_state(),
                                     journal_.state(), table);
    if (const auto* counted = std::get_if<WagerCountReport>(&incoming.what))
        return checkCount(table, *counted);
    if (const auto* garbled = std::get_if<MalformedCommand>(&incoming.what)) {
        alarm(table, "garbled", garbled->what);
        return countRefusal(table);
    }
    if (std::holds_alternative<TableTimedOut>(incoming.what) &&
        !journal_.state().tables[table].offline)
        decide(rules::MarkTableOffline{journal_.state().tables[table].config.id});
}

void Writer::handle(CommandItem& submitted)
{
    if (!locked_.empty()) return submitted.answer->set_value(Error{locked_});
    const std::string* const id = tableOf(submitted.command);
    const auto table = id ? journal_.state().findTable(*id) : std::nullopt;
    Outcome outcome = decide(submitted.command);
    if (table && !outcome.refusal &&
        (std::holds_alternative<rules::SuspendTable>(submitted.command) ||
         std::holds_alternative<rules::ResumeTable>(submitted.command)))
        say(0, *table).mutable_suspension()->set_suspended(
            journal_.state().tables[*table].suspended);
    answerWhenDurable(submitted.answer, std::move(outcome));
}

// --- deciding
// --------------------------------------------------------------------------------------

void Writer::settleDue()
{
    while (nextDueMs_ && *nextDueMs_ <= clock_.now()) {
        const auto due = journal_.state().nextDue();
        if (!due || due->atMs > clock_.now()) return lookForDue();
        decide(rules::SettleDue{journal_.state().pools[due->pool].config.id});
    }
}

void Writer::lookForDue()
{
    const auto due = journal_.state().nextDue();
    nextDueMs_ = due ? std::optional{due->atMs} : std::nullopt;
}

Outcome Writer::decide(const rules::Command& command, const std::optional<storage::Origin>& from)
{
    const TimeMs now = clock_.now();
    // The rules want what is due settled before anything later.
    if (nextDueMs_ && *nextDueMs_ <= now && !std::holds_alternative<rules::SettleDue>(command))
        settleDue();
    Outcome outcome = journal_.decide(command, now, from);
    figures_.count(command, outcome);
    if (!std::holds_alternative<rules::OpenRound>(command) &&
        !std::holds_alternative<rules::ReportResult>(command))
        tablesChanged_ = true;
    lastRecordMs_ = now;
    if (!outcome.claims.empty() || nextDueMs_) lookForDue();
    std::optional<std::uint32_t> own;
    if (from)
        if (const std::string* id = tableOf(command)) own = journal_.state().findTable(*id);
    noteOutcome(outcome, own);
    return outcome;
}

// Tables other than the one that asked hear of what concerns them.
void Writer::noteOutcome(const Outcome& outcome, std::optional<std::uint32_t> ownTable)
{
    std::vector<std::uint32_t> others;
    const auto add = [&](std::uint32_t table) {
        if (table != ownTable && std::ranges::find(others, table) == others.end())
            others.push_back(table);
    };
    for (const rules::Award& award : outcome.awards) add(award.table);
    for (const rules::ClaimChange& claim : outcome.claims) add(claim.table);
    for (const std::uint32_t table : others) {
        v1::Settlement all;
        if (!linkproto::writeSettlement(all, outcome, table)) continue;
        for (int at = 0; at < std::max(all.awards_size(), all.claims_size()); at += kMaxSettled) {
            v1::Settlement& part = *say(0, table).mutable_settlement();
            part.set_record(journal_.size() - 1);
            part.set_displayed_cents(
                journal_.state().pools[journal_.state().tables[table].pool].displayed().cents());
            for (int i = at; i < std::min(at + kMaxSettled, all.awards_size()); ++i)
                *part.add_awards() = all.awards(i);
            for (int i = at; i < std::min(at + kMaxSettled, all.claims_size()); ++i)
                *part.add_claims() = all.claims(i);
        }
    }
    for (const rules::Notice& notice : outcome.notices)
        log_.warning(
            "notice to " +
                std::string{notice.whom == rules::Notify::Inspector
                                ? "the inspector"
                                : "surveillance and the inspector"} +
                " (" + std::string{notice.rule} + "): " + notice.text,
            {.pool = outcome.pool
                         ? std::string_view{journal_.state().pools[*outcome.pool].config.id}
                         : std::string_view{},
             .code = "notice"});
}

// --- tables
// ----------------------------------------------------------------------------------------

void Writer::welcome(const Incoming& incoming, const TableConnected& online)
{
    const std::uint32_t index = incoming.table;
    const std::string id = journal_.state().tables[index].config.id;
    const auto fault = receiptFault(online.receipt, id);
    const bool restored = fault && acceptedRestores_.covers(fault->receipt);
    if (fault && !restored) {
        alarm(index, "receipt", fault->why);
        shown_.insert_or_assign(id, fault->receipt);
        return lock(fault->why);
    }
    if (restored) sayWhatIsLost(index, online);
    if (journal_.state().tables[index].offline) decide(rules::MarkTableOnline{id});
    log_.information("table " + id + " is connected (" + online.software + ")", {.table = id});
    v1::Welcome& welcome = *say(incoming.connection, index).mutable_welcome();
    welcome.set_version(linkproto::kLinkVersion);
    welcome.set_site(journal_.verifier().name());
    welcome.set_verifier(journal_.verifier().format());
    welcome.set_last_number(journal_.state().tables[index].heard.number);
    welcome.set_restored(restored);
    linkproto::writeState(*welcome.mutable_state(), journal_.state(), index);
}

// What a table had a decision on in the history that was given up is in no outbox any more.
void Writer::sayWhatIsLost(std::uint32_t index, const TableConnected& online)
{
    const std::uint64_t known = journal_.state().tables[index].heard.number;
    if (online.decided > known)
        alarm(index, "commands_lost",
              "the commands " + std::to_string(known + 1) + " to " +
                  std::to_string(online.decided) + " of this table, " +
                  std::to_string(online.decided - known) +
                  " of them, were decided in the history that was given up and are not in this "
                  "journal: compare its paper with the books");
    else if (online.decided == 0)
        alarm(index, "commands_lost",
              "the table does not say what was decided in the history that was given up; this "
              "journal knows its commands up to " +
                  std::to_string(known) + ": compare its paper with the books");
}

// What a witness had seen of this journal when it was restored: it locks as a table's receipt does.
void Writer::lookAtWitnessed()
{
    constexpr std::size_t kMost = 16U << 10U;
    std::ifstream file{settings_.journalDirectory / storage::kWitnessedName, std::ios::binary};
    std::string note(kMost, '\0');
    file.read(note.data(), static_cast<std::streamsize>(note.size()));
    note.resize(static_cast<std::size_t>(file.gcount()));
    const auto fault = receiptFault(note, "");
    if (!fault || acceptedRestores_.covers(fault->receipt)) return;
    alarm(std::nullopt, "receipt", fault->why);
    shown_.insert_or_assign(kWitness, fault->receipt);
    lock(fault->why);
    (void)commitAndTell();
}

// Why a receipt shows that this journal is not the one that gave it. Only our own signature counts;
// any other receipt is that table's fault. Without a table it is a witness's.
std::optional<Writer::ReceiptFault> Writer::receiptFault(const std::string& receipt,
                                                         const std::string& table)
{
    if (receipt.empty()) return std::nullopt;
    const std::string who = table.empty() ? "a witness" : "table " + table;
    const auto note = storage::Note::parse(receipt);
    const auto checkpoint = note ? storage::openCheckpoint(*note, journal_.verifier())
                                 : Result<storage::Checkpoint>{note.error()};
    if (!checkpoint) {
        log_.warning(who + " shows a receipt that is not ours: " + checkpoint.error().message,
                     {.table = table, .code = "receipt"});
        return std::nullopt;
    }
    const std::string size = std::to_string(checkpoint->size);
    if (acceptedRestores_.covers(*checkpoint))
        return ReceiptFault{"its history was given up", *checkpoint};
    const storage::Receipt& last = journal_.lastReceipt();
    if (checkpoint->size > last.size)
        return ReceiptFault{who + " has a receipt for " + size + " records, the journal has only " +
                                std::to_string(last.size) + ": it was rolled back",
                            *checkpoint};
    auto files = storage::filesOf(settings_.journalDirectory);
    std::ranges::reverse(files);
    for (const auto& file : files) {
        storage::JournalReader reader{file};
        if (checkpoint->size <= reader.firstSeq()) continue;  // in an earlier file
        std::optional<storage::Hash> root;
        reader.forEachCheckpoint(checkpoint->size - 1, checkpoint->size,
                                 [&](std::uint64_t, std::string_view text) {
                                     if (const auto ours = storage::readCheckpoint(text))
                                         root = ours->root;
                                     return false;
                                 });
        if (root == checkpoint->root) return std::nullopt;
        return ReceiptFault{who + " has a receipt for " + size +
                                " records that this journal never gave: it is another history",
                            *checkpoint};
    }
    return std::nullopt;  // its segment is not here any more
}

void Writer::ask(const Incoming& incoming, const CommandReceived& asked)
{
    const rules::Table& table = journal_.state().tables[incoming.table];
    const std::uint64_t expected = table.heard.number + 1;
    if (asked.number < expected) return repeat(incoming, asked);
    if (asked.number > expected)
        return reject(incoming, asked.number, v1::Rejected::OUT_OF_ORDER,
                      "number " + std::to_string(expected) + " comes next");
    if (settings_.limits.roundsPerMinute &&
        std::holds_alternative<rules::OpenRound>(asked.command) &&
        ++watchOf(incoming.table).rounds > *settings_.limits.roundsPerMinute) {
        alarm(
            incoming.table, "too_fast",
            "more than " + std::to_string(*settings_.limits.roundsPerMinute) + " rounds a minute");
        return reject(incoming, asked.number, v1::Rejected::TOO_FAST,
                      "more rounds a minute than a table plays");
    }

    const Outcome outcome = decide(asked.command, storage::Origin{asked.number, asked.clockMs});
    linkproto::Decided decided;
    decided.number = asked.number;
    decided.record = journal_.size() - 1;
    const rules::State& state = journal_.state();
    decided.displayedCents = state.pools[state.tables[incoming.table].pool].displayed().cents();
    decided.details = linkproto::toDecision(outcome, incoming.table);
    delivery_.outgoing.push_back({incoming.connection, incoming.table, std::move(decided)});
    if (!outcome.refusal) return;
    if (log_.isOn(config::LogLevel::Debug)) {
        const std::string_view code = idOf(outcome.refusal->code);
        log_.debug("table " + table.config.id + ": " + std::string{kindOf(asked.command)} +
                       " is refused: " + std::string{code},
                   {.table = table.config.id, .code = code});
    }
    countRefusal(incoming.table);
}

// Sent again: the same answer, or a conflict where it is another command.
void Writer::repeat(const Incoming& incoming, const CommandReceived& asked)
{
    const std::string id = journal_.state().tables[incoming.table].config.id;
    const rules::LinkSequence& heard = journal_.state().tables[incoming.table].heard;
    const auto conflict = [&](const std::string& detail) {
        alarm(incoming.table, "conflict", detail);
        reject(incoming, asked.number, v1::Rejected::CONFLICT, detail);
        countRefusal(incoming.table);
    };
    if (asked.number == 0 || heard.number - asked.number >= rules::LinkSequence::kRecent)
        return conflict("number " + std::to_string(asked.number) + " was decided long ago");
    const std::uint64_t seq = heard.records.at(asked.number % rules::LinkSequence::kRecent);
    // Its first sending may be in this very batch.
    if (seq >= journal_.lastReceipt().size && !commitAndTell()) return;

    std::optional<std::string> payload;
    std::string covering;
    auto files = storage::filesOf(settings_.journalDirectory);
    std::ranges::reverse(files);  // it is likely to be in the newest
    for (const auto& file : files) {
        storage::JournalReader reader{file};
        if (seq < reader.firstSeq() || !(payload = reader.payload(seq))) continue;
        reader.forEachCheckpoint(seq, storage::kMaxTreeSize,
                                 [&](std::uint64_t, std::string_view t) {
                                     covering = t;
                                     return false;
                                 });
        break;
    }
    if (!payload) throw std::runtime_error{"record " + std::to_string(seq) + " is not found"};
    const auto record = storage::readRecord(*payload);
    rules::Command again = asked.command;
    // How long ago the button was pressed is another time each time it is sent.
    if (auto* confirm = std::get_if<rules::ConfirmJackpot>(&again))
        if (const auto* first = std::get_if<rules::ConfirmJackpot>(&*record->command))
            confirm->pressedAgoMs = first->pressedAgoMs;
    if (again != record->command || record->from->clockMs != asked.clockMs)
        return conflict("number " + std::to_string(asked.number) +
                        " was decided with other contents");
    figures_.repeated.add();
    v1::ToTable& message = say(incoming.connection, incoming.table);
    v1::Decision& decision = *message.mutable_decisions()->add_decisions();
    readDecision(*payload, id, decision);
    decision.set_number(asked.number);
    decision.set_again(true);
    v1::Receipt& receipt = *message.mutable_decisions()->mutable_receipt();
    if (const auto checkpoint = storage::readCheckpoint(covering)) {
        receipt.set_size(checkpoint->size);
        receipt.set_root(std::string{checkpoint->root.view()});
    }
    receipt.set_note(covering);
}

void Writer::reject(const Incoming& incoming, std::uint64_t number, v1::Rejected::Why why,
                    const std::string& detail)
{
    figures_.rejected.at(static_cast<std::size_t>(why)).add();
    v1::Rejected& rejected = *say(incoming.connection, incoming.table).mutable_rejected();
    rejected.set_number(number);
    rejected.set_why(why);
    rejected.set_expected(journal_.state().tables[incoming.table].heard.number + 1);
    rejected.set_detail(detail);
}

void Writer::checkCount(std::uint32_t index, const WagerCountReport& counted)
{
    const rules::Table& table = journal_.state().tables[index];
    if (counted.asOf != table.heard.number || counted.wagers == table.wagers || table.suspended)
        return;
    const std::string detail = "the table has counted " + std::to_string(counted.wagers) +
                               " wagers, the journal " + std::to_string(table.wagers);
    suspend(index, "wager_count", detail);
}

void Writer::suspend(std::uint32_t index, const std::string& code, const std::string& detail)
{
    alarm(index, code, detail);
    decide(
        rules::SuspendTable{std::string{journal_.state().tables[index].config.id}, detail, kSelf});
    v1::Suspension& suspension = *say(0, index).mutable_suspension();
    suspension.set_suspended(true);
    suspension.set_reason(detail);
}

Writer::TableWatch& Writer::watchOf(std::uint32_t table)
{
    if (watches_.size() <= table) watches_.resize(journal_.state().tables.size());
    TableWatch& watch = watches_[table];
    if (const TimeMs now = clock_.now(); now - watch.minuteMs >= kMinuteMs) {
        watch.minuteMs = now;
        watch.refusals = 0;
        watch.rounds = 0;
    }
    return watch;
}

void Writer::countRefusal(std::uint32_t index)
{
    if (++watchOf(index).refusals <= settings_.limits.refusalsPerMinute) return;
    if (journal_.state().tables[index].suspended) return;
    suspend(index, "refusals",
            "more than " + std::to_string(settings_.limits.refusalsPerMinute) +
                " refusals in a minute");
}

// --- telling
// ---------------------------------------------------------------------------------------

// A line in the log and a record, of each kind and table at most one a minute.
void Writer::alarm(std::optional<std::uint32_t> table, const std::string& code,
                   const std::string& detail)
{
    figures_.alarms.at(alarmIndex(code)).add();
    if (table) {
        TimeMs& last = watchOf(*table).alarmedMs[code];
        const TimeMs now = clock_.now();
        if (last != 0 && now - last < kMinuteMs) return;
        last = now;
    }
    const std::string id = table ? journal_.state().tables[*table].config.id : "";
    log_.error("alarm: " + code + (id.empty() ? "" : " at table " + id) + ": " + detail,
               {.table = id, .code = code});
    journal_.add("alarm_raised", clock_.now(), [&](storage::JsonText& json) {
        json.textField("code", code);
        if (!id.empty()) json.textField("table", id);
        json.textField("detail", detail);
    });
    lastRecordMs_ = clock_.now();
}

void Writer::lock(const std::string& why)
{
    locked_ = why;
    trouble_ = kLocked;
    nextDueMs_.reset();
    log_.error("locked: " + why + "; nothing is decided until people have looked at it",
               {.code = "locked"});
    board_.fail();
    for (std::uint32_t i = 0; i < journal_.state().tables.size(); ++i)
        sayGoodbye(0, i, v1::Goodbye::LOCKED, why);
}

void Writer::unlock()
{
    locked_.clear();
    trouble_ = "";
    shown_.clear();
    said_.clear();  // so that all pools are shown again
    lookForDue();
    board_.recover();
}

void Writer::sayGoodbye(std::uint64_t connection, std::uint32_t table, v1::Goodbye::Why why,
                        const std::string& detail)
{
    v1::Goodbye& goodbye = *say(connection, table).mutable_goodbye();
    goodbye.set_why(why);
    goodbye.set_detail(detail);
}

v1::ToTable& Writer::say(std::uint64_t connection, std::uint32_t table)
{
    delivery_.outgoing.push_back({connection, table, v1::ToTable{}});
    return std::get<v1::ToTable>(delivery_.outgoing.back().what);
}

// Tables hear of their pool at most every kNewsMs, unless it is in another state; displays show
// every change as soon as it is durable.
void Writer::sayNews()
{
    const rules::State& state = journal_.state();
    const TimeMs now = clock_.now();
    said_.resize(state.pools.size());
    for (std::uint32_t i = 0; i < state.pools.size(); ++i) {
        const rules::Pool& pool = state.pools[i];
        LastPublished& said = said_[i];
        const std::int64_t displayed = pool.displayed().cents();
        const std::uint32_t flags =
            (pool.suspended ? 1U : 0U) | (pool.isPending() ? 2U : 0U) | (pool.isHeld() ? 4U : 0U);
        const bool otherState = flags != said.flags;
        const TimeMs wonMs = pool.lastWin ? pool.lastWin->atMs : 0;
        if (otherState || displayed != said.shownCents || wonMs != said.wonMs) {
            said.shownCents = displayed;
            said.wonMs = wonMs;
            changed_.push_back(i);
        }
        if (!otherState && (displayed == said.displayedCents || now - said.atMs < kNewsMs))
            continue;
        said.displayedCents = displayed;
        said.flags = flags;
        said.atMs = now;
        v1::PoolNews news;
        linkproto::writeNews(news, pool);
        for (std::uint32_t j = 0; j < state.tables.size(); ++j)
            if (state.tables[j].pool == i) *say(0, j).mutable_pool() = news;
    }
}

void Writer::publish()
{
    const rules::State& state = journal_.state();
    const TimeMs now = clock_.now();
    for (const std::uint32_t i : changed_) {
        const rules::Pool& pool = state.pools[i];
        const auto shownUntil = pool.lastWin
                                    ? meters::Clock::now() + kWinShown -
                                          std::chrono::milliseconds{now - pool.lastWin->atMs}
                                    : meters::Clock::time_point{};
        board_.publish(i, readingOf(state, pool), now / 1000, shownUntil);
    }
    changed_.clear();
    publishPools();
}

// For whoever watches. A reader is not waited for: then the next turn brings it.
void Writer::publishPools()
{
    if (!poolsChanged_) return;
    const std::unique_lock lock{poolsMutex_, std::try_to_lock};
    if (!lock) return;
    const rules::State& state = journal_.state();
    pools_.resize(state.pools.size());
    for (std::size_t i = 0; i < pools_.size(); ++i) {
        const rules::Pool& pool = state.pools[i];
        PoolMetrics& figures = pools_[i];
        figures.displayed = pool.displayed();
        figures.reserve = pool.reserve;
        figures.suspended = pool.suspended;
        figures.pending = pool.isPending();
        figures.held = pool.isHeld();
        if (!tablesChanged_) continue;
        figures.pool = pool.config.id;
        figures.tables = figures.tablesOffline = figures.tablesSuspended = 0;
    }
    if (tablesChanged_)
        for (const rules::Table& table : state.tables) {
            PoolMetrics& figures = pools_[table.pool];
            ++figures.tables;
            if (table.offline) ++figures.tablesOffline;
            if (table.suspended) ++figures.tablesSuspended;
        }
    poolsChanged_ = tablesChanged_ = false;
}

std::vector<PoolMetrics> Writer::pools() const
{
    const std::scoped_lock lock{poolsMutex_};
    return pools_;
}

std::chrono::milliseconds Writer::sinceLastTurn() const
{
    using Clock = std::chrono::steady_clock;
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch() -
                                                                 Clock::duration{lastTurn_.load()});
}

bool Writer::commitAndTell()
{
    sayNews();
    const std::uint64_t before = journal_.lastReceipt().size;
    const auto begun = std::chrono::steady_clock::now();
    const auto receipt = journal_.commit();
    if (!receipt) {
        fail(receipt.error());
        return false;
    }
    if (receipt->size > before) {
        figures_.countCommit(receipt->size - before, std::chrono::steady_clock::now() - begun,
                             receipt->size, journal_.lastTimeMs());
        poolsChanged_ = true;
    }
    publish();
    delivery_.receipt.set_size(receipt->size);
    delivery_.receipt.set_root(std::string{receipt->root.view()});
    delivery_.receipt.set_note(receipt->note);
    for (linkproto::Outgoing& each : delivery_.outgoing)
        if (auto* message = std::get_if<v1::ToTable>(&each.what);
            message && message->has_settlement())
            *message->mutable_settlement()->mutable_receipt() = delivery_.receipt;
    if (!delivery_.outgoing.empty() && deliver_) deliver_(std::exchange(delivery_, {}));
    for (const auto& answer : answers_) answer(true);
    answers_.clear();
    return true;
}

// Nothing of the batch is told. The tables hear that the jackpot is not available.
void Writer::fail(const storage::JournalError& error)
{
    failure_ = error;
    trouble_ = "the journal cannot be written";
    board_.fail();
    mailbox_.close();
    log_.error("the journal cannot be written: " + inWords(error), {.code = "journal_failed"});
    delivery_ = {};
    for (std::uint32_t i = 0; i < journal_.state().tables.size(); ++i) {
        v1::PoolNews& news = *say(0, i).mutable_pool();
        news.set_pool(journal_.state().pools[journal_.state().tables[i].pool].config.id);
        news.set_unavailable(true);
        sayGoodbye(0, i, v1::Goodbye::UNAVAILABLE,
                   "the journal cannot be written: return the round's wagers and play on without "
                   "the jackpot");
    }
    if (deliver_) deliver_(std::exchange(delivery_, {}));
}

}  // namespace jackpot
