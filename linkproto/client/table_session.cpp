#include "linkproto/client/table_session.h"

#include <algorithm>
#include <vector>

#include "base/utf8.h"
#include "linkproto/frame.h"

namespace jackpot::linkproto {

using link::v2::Command;
using link::v2::Goodbye;
using link::v2::Rejected;

namespace {

// A connection that lived so long or brought a decision was a good one: after it the first try is
// immediate again.
constexpr std::int64_t kGoodConnectionMs = 5000;
constexpr std::int64_t kDrainMs = 5000;
constexpr int kMaxRewinds = 3;
// Tag, length and age around a command; see sendEntry().
constexpr std::size_t kMaxAroundCommand = 32;

// Looks for what the daemon would call malformed.
class Limits {
public:
    void text(std::string_view value)
    {
        if (value.size() > kMaxTextBytes)
            wrong_ = "a text is longer than " + std::to_string(kMaxTextBytes) + " bytes";
        else if (!isUtf8(value))
            wrong_ = "a text is not UTF-8";
    }
    void count(int listed)
    {
        if (listed > kMaxListed) wrong_ = "more than " + std::to_string(kMaxListed) + " of a kind";
    }
    void result(const link::v2::ReportResult& result)
    {
        count(result.board_size());
        count(result.hands_size());
        for (const auto& card : result.board()) text(card);
        for (const auto& hand : result.hands()) {
            count(hand.cards_size());
            for (const auto& card : hand.cards()) text(card);
        }
    }
    void ground(bool isKnown)
    {
        if (!isKnown) wrong_ = "no ground is given, or not one of this version";
    }
    template <class Message>
    void reasonAndBy(const Message& message)
    {
        text(message.reason());
        text(message.by());
    }
    [[nodiscard]] const std::string& wrong() const { return wrong_; }
    void say(std::string wrong) { wrong_ = std::move(wrong); }

private:
    std::string wrong_;
};

template <class Message>
bool isGround(int ground)
{
    return ground != Message::GROUND_UNSPECIFIED && Message::Ground_IsValid(ground);
}

Result<void> checkLimits(const Command& command)
{
    Limits limits;
    switch (command.what_case()) {
        case Command::kOpenRound:
            limits.count(command.open_round().wagers_size());
            for (const auto& wager : command.open_round().wagers()) {
                limits.text(wager.player_card());
                limits.text(wager.approved_by());
            }
            break;
        case Command::kReportResult: limits.result(command.report_result()); break;
        case Command::kCorrectResult:
            limits.result(command.correct_result().result());
            limits.text(command.correct_result().by());
            break;
        case Command::kConfirmJackpot:
        case Command::kCloseRound: break;
        case Command::kVoidRound:
            limits.ground(isGround<link::v2::VoidRound>(command.void_round().ground()));
            limits.reasonAndBy(command.void_round());
            break;
        case Command::kVoidWager:
            limits.ground(isGround<link::v2::VoidWager>(command.void_wager().ground()));
            limits.reasonAndBy(command.void_wager());
            break;
        case Command::kSuspend:
            limits.ground(isGround<link::v2::Suspend>(command.suspend().ground()));
            limits.reasonAndBy(command.suspend());
            break;
        case Command::kResume: limits.reasonAndBy(command.resume()); break;
        case Command::WHAT_NOT_SET: limits.say("nothing is in it"); break;
    }
    if (!limits.wrong().empty()) return Error{"malformed command: " + limits.wrong()};
    return {};
}

// What an accepted command makes of the round whose result is not in.
void follow(const Command& command, std::optional<std::int64_t>& openRound)
{
    switch (command.what_case()) {
        case Command::kOpenRound: openRound = command.open_round().round(); break;
        case Command::kReportResult:
            if (openRound == command.report_result().round()) openRound.reset();
            break;
        case Command::kVoidRound:
            if (openRound == command.void_round().round()) openRound.reset();
            break;
        // A suspension returns the wagers of a round whose result is not in (BJ 16.18).
        case Command::kSuspend: openRound.reset(); break;
        default: break;
    }
}

std::optional<std::int64_t> openRoundOf(const link::v2::TableState& state)
{
    if (!state.round_opened() || state.result_in() || state.voided() || state.closed())
        return std::nullopt;
    return state.round();
}

void putVarint(std::string& out, std::uint64_t value)
{
    for (; value >= 0x80; value >>= 7U) out += static_cast<char>(value | 0x80U);
    out += static_cast<char>(value);
}

std::size_t varintBytes(std::uint64_t value)
{
    std::size_t bytes = 1;
    while (value >>= 7U) ++bytes;
    return bytes;
}

}  // namespace

std::string_view nameOf(TableFault fault)
{
    switch (fault) {
        case TableFault::BadFrame: return "bad frame";
        case TableFault::Version: return "version";
        case TableFault::WrongTable: return "wrong table";
        case TableFault::LostCommands: return "lost commands";
        case TableFault::Conflict: return "conflict";
        case TableFault::Malformed: return "malformed";
        case TableFault::OutOfOrder: return "out of order";
        case TableFault::Outbox: return "outbox";
    }
    return "unknown";
}

TableSession::TableSession(Outbox outbox, TableEvents& events, std::string software,
                           std::uint64_t jitterSeed)
    : outbox_{std::move(outbox)},
      events_{events},
      software_{std::move(software)},
      random_{jitterSeed * 0x9E37'79B9'7F4A'7C15U | 1U}
{
    software_.resize(std::min(software_.size(), kMaxTextBytes));
    recallOpenRound();
}

void TableSession::recallOpenRound()
{
    openRound_ = outbox_.memory().openRound;
    for (const Outbox::Entry& entry : outbox_.entries())
        if (entry.number > outbox_.memory().counted && scratch_.ParseFromString(entry.command))
            follow(scratch_, openRound_);
}

// ---- commands
// --------------------------------------------------------------------------------------

Result<void> TableSession::checkEnqueue(const Command& command, ClockReading now) const
{
    if (auto checked = checkLimits(command); !checked) return checked;
    if (outbox_.memory().isNew)
        return Error{"no daemon has told yet which number comes next: connect first"};
    if (command.what_case() != Command::kOpenRound) return {};
    if (!canOpenRound(now)) return Error{"no round can be opened: the jackpot can't be reached"};
    if (outbox_.entries().size() >= Outbox::kMaxEntries / 2)
        return Error{"no round can be opened: " + std::to_string(outbox_.entries().size()) +
                     " commands wait for a decision"};
    return {};
}

Result<std::uint64_t> TableSession::enqueue(Command& command, ClockReading now, std::int64_t agoMs)
{
    return enqueue(std::span{&command, 1}, now, agoMs);
}

Result<std::uint64_t> TableSession::enqueue(std::span<Command> commands, ClockReading now,
                                            std::int64_t agoMs)
{
    const std::int64_t ago = std::max<std::int64_t>(agoMs, 0);
    const std::uint64_t first = outbox_.memory().last + 1;
    const auto entryOf = [&](Command& command, std::uint64_t number) {
        command.set_number(number);
        command.set_clock_ms(now.wallMs - ago);
        command.clear_age_ms();
        return Outbox::Entry{.number = number,
                             .happened = {.bootMs = now.bootMs - ago, .wallMs = now.wallMs - ago},
                             .command = command.SerializeAsString(),
                             .sameBoot = true};
    };
    for (const Command& command : commands)
        if (auto checked = checkEnqueue(command, now); !checked) return checked.error();
    Result<void> appended;
    if (commands.size() == 1) {
        auto entry = entryOf(commands.front(), first);
        if (entry.command.size() > kMaxFrameBytes - kMaxAroundCommand)
            return Error{"malformed command: too long"};
        appended = outbox_.append(std::move(entry));
    } else {
        std::vector<Outbox::Entry> entries;
        for (Command& command : commands) {
            entries.push_back(entryOf(command, first + entries.size()));
            if (entries.back().command.size() > kMaxFrameBytes - kMaxAroundCommand)
                return Error{"malformed command: too long"};
        }
        appended = outbox_.append(entries);
    }
    if (!appended) return appended.error();
    for (const Command& command : commands) follow(command, openRound_);
    pump(now);
    return first;
}

void TableSession::pump(ClockReading now)
{
    if (link_ != Link::Up || mustHangUp_ || stoppedBy_ || hasLostCommands_) return;
    if (isDraining_) {
        if (rejected_ < sent_ || now.bootMs < resumeMs_) return;
        rewinds_ = wasTooFast_ ? 0 : rewinds_ + 1;
        if (rewinds_ > kMaxRewinds)
            return stop(TableFault::OutOfOrder, "the daemon keeps asking for another number");
        isDraining_ = wasTooFast_ = false;
        sent_ = rejected_ = 0;
    }
    const auto& entries = outbox_.entries();
    while (sent_ < entries.size() && sent_ < kMaxInFlight) sendEntry(entries[sent_++], now);
}

// The command's bytes are as they were stored; a protobuf field may come in any place, so the age
// is put behind them.
void TableSession::sendEntry(const Outbox::Entry& entry, ClockReading now)
{
    const std::int64_t age =
        entry.sameBoot ? now.bootMs - entry.happened.bootMs : now.wallMs - entry.happened.wallMs;
    const auto ageMs = static_cast<std::uint64_t>(std::max<std::int64_t>(age, 0));
    const std::size_t size = entry.command.size() + 1 + varintBytes(ageMs);
    appendFrameHead(output_, 1 + varintBytes(size) + size);
    output_ += char{link::v2::ToDaemon::kCommandFieldNumber << 3 | 2};
    putVarint(output_, size);
    output_ += entry.command;
    output_ += char{Command::kAgeMsFieldNumber << 3};
    putVarint(output_, ageMs);
    saidMs_ = now.bootMs;
}

template <class Message>
void TableSession::send(const Message& message, ClockReading now)
{
    appendFrame(output_, message);
    saidMs_ = now.bootMs;
}

// ---- the connection
// --------------------------------------------------------------------------------

void TableSession::onConnected(ClockReading now)
{
    link_ = Link::Greeting;
    mustHangUp_ = wasSentAway_ = false;
    output_.clear();
    lastReceivedMs_ = now.bootMs;
    link::v2::ToDaemon message;
    auto& hello = *message.mutable_hello();
    hello.set_version(kLinkVersion);
    hello.set_software(software_);
    hello.set_receipt(outbox_.memory().receipt);
    hello.set_decided(outbox_.memory().decided);
    send(message, now);
}

bool TableSession::wasGood(ClockReading now) const
{
    return link_ == Link::Up &&
           (hasBroughtDecision_ || now.bootMs - upSinceMs_ >= kGoodConnectionMs);
}

void TableSession::onDisconnected(ClockReading now)
{
    if (wasGood(now) && !wasSentAway_) backoffMs_ = 0;
    if (link_ == Link::Down || wasSentAway_) backoffMs_ = std::max(backoffMs_, kFirstBackoffMs);
    link_ = Link::Down;
    mustHangUp_ = false;
    output_.clear();
    sent_ = rejected_ = 0;
    isDraining_ = wasTooFast_ = false;
    connectMs_ = now.bootMs + jittered(backoffMs_);
    backoffMs_ = std::clamp(2 * backoffMs_, kFirstBackoffMs, kLastBackoffMs);
}

// Between half of it and all of it (xorshift64).
std::int64_t TableSession::jittered(std::int64_t ms)
{
    random_ ^= random_ << 13U;
    random_ ^= random_ >> 7U;
    random_ ^= random_ << 17U;
    const std::int64_t half = ms / 2;
    return ms - static_cast<std::int64_t>(random_ % static_cast<std::uint64_t>(half + 1));
}

std::int64_t TableSession::nextDeadline() const
{
    if (link_ == Link::Down) return connectMs_;
    std::int64_t deadline = lastReceivedMs_ + kSilenceMs;
    if (link_ == Link::Up) deadline = std::min(deadline, saidMs_ + kHeartbeatMs);
    if (isDraining_) deadline = std::min(deadline, rejected_ < sent_ ? drainByMs_ : resumeMs_);
    return deadline;
}

void TableSession::onTick(ClockReading now)
{
    if (link_ == Link::Down) return;
    if (now.bootMs - lastReceivedMs_ >= kSilenceMs) mustHangUp_ = true;
    if (isDraining_ && rejected_ < sent_ && now.bootMs >= drainByMs_) mustHangUp_ = true;
    if (link_ != Link::Up || mustHangUp_) return;
    if (isDraining_) pump(now);
    if (now.bootMs - saidMs_ < kHeartbeatMs) return;
    link::v2::ToDaemon message;
    auto& heartbeat = *message.mutable_heartbeat();
    heartbeat.set_clock_ms(now.wallMs);
    heartbeat.set_wagers(outbox_.memory().wagers);
    heartbeat.set_as_of(outbox_.memory().counted);
    send(message, now);
}

void TableSession::query(ClockReading now)
{
    if (link_ != Link::Up) return;
    link::v2::ToDaemon message;
    message.mutable_query();
    send(message, now);
}

void TableSession::takeOutput(std::string& into)
{
    into += output_;
    output_.clear();
}

bool TableSession::canOpenRound(ClockReading now) const
{
    return link_ == Link::Up && !mustHangUp_ && now.bootMs - lastReceivedMs_ < kSilenceMs &&
           !isUnavailable_ && !stoppedBy_ && !hasLostCommands_;
}

bool TableSession::mayTakeWagers(ClockReading now) const
{
    return canOpenRound(now) && !state_.suspended() && state_.pool().open();
}

void TableSession::hangUp(TableFault fault, std::string_view detail)
{
    mustHangUp_ = true;
    events_.onFault(fault, detail);
}

void TableSession::stop(TableFault fault, std::string_view detail)
{
    stoppedBy_ = fault;
    isDraining_ = false;
    events_.onFault(fault, detail);
}

// ---- what the daemon says
// ----------------------------------------------------------------------------

void TableSession::onFrame(std::string_view frame, ClockReading now)
{
    if (link_ == Link::Down || mustHangUp_) return;
    if (frame.size() > kMaxFrameBytes ||
        !received_.ParseFromArray(frame.data(), static_cast<int>(frame.size())))
        return hangUp(TableFault::BadFrame, "a frame is not a message of this protocol");
    lastReceivedMs_ = now.bootMs;
    using Message = link::v2::ToTable;
    const auto what = received_.message_case();
    if (what == Message::kGoodbye) return take(received_.goodbye(), now);
    if ((what == Message::kWelcome) != (link_ == Link::Greeting))
        return hangUp(TableFault::BadFrame, "a message came out of turn");
    switch (what) {
        case Message::kWelcome: return take(received_.welcome(), now);
        case Message::kDecisions: return take(received_.decisions(), now);
        case Message::kHeartbeat: return;
        case Message::kState:
            state_ = received_.state();
            events_.onState(state_);
            if (state_.has_pool()) take(state_.pool());
            return;
        case Message::kPool: {
            *state_.mutable_pool() = received_.pool();
            return take(received_.pool());
        }
        case Message::kSuspension:
            state_.set_suspended(received_.suspension().suspended());
            state_.set_suspended_by_desk(received_.suspension().by_desk());
            return events_.onSuspension(received_.suspension());
        case Message::kSettlement: return take(received_.settlement());
        case Message::kRejected: return take(received_.rejected(), now);
        default: return;  // of a newer daemon of the same version: not for us
    }
}

void TableSession::take(const link::v2::Welcome& welcome, ClockReading now)
{
    if (welcome.version() != kLinkVersion) {
        backoffMs_ = kLastBackoffMs;
        return hangUp(TableFault::Version,
                      "the daemon speaks version " + std::to_string(welcome.version()));
    }
    if (!outbox_.table().empty() && welcome.state().table() != outbox_.table()) {
        backoffMs_ = kLastBackoffMs;
        return hangUp(TableFault::WrongTable, "the certificate is table " +
                                                  welcome.state().table() + "'s, the outbox " +
                                                  outbox_.table() + "'s");
    }
    link_ = Link::Up;
    hasBroughtDecision_ = false;
    upSinceMs_ = now.bootMs;
    sent_ = rejected_ = 0;
    isDraining_ = wasTooFast_ = false;
    state_ = welcome.state();

    const std::uint64_t known = welcome.last_number();
    const auto& memory = outbox_.memory();
    const auto& entries = outbox_.entries();
    const std::uint64_t oldest = entries.empty() ? memory.last + 1 : entries.front().number;
    const std::uint64_t lostUpTo = oldest - 1;
    hasLostCommands_ = !memory.isNew && oldest > known + 1;
    const bool isLossAccepted = hasLostCommands_ && welcome.restored();
    if (welcome.restored()) numberAnew(known, hasLostCommands_);
    if (memory.isNew || known > memory.last) {
        nextMemory_ = memory;
        nextMemory_.isNew = false;
        nextMemory_.last = nextMemory_.counted = known;
        nextMemory_.wagers = state_.wagers();
        nextMemory_.openRound = openRoundOf(state_);
        if (entries.empty()) nextMemory_.decided = known;
        remember(nextMemory_);
        recallOpenRound();
    }
    events_.onWelcome(welcome);
    if (hasLostCommands_ || isLossAccepted)
        events_.onFault(TableFault::LostCommands,
                        "the daemon knows commands up to " + std::to_string(known) +
                            ", but those up to " + std::to_string(lostUpTo) + " were decided" +
                            (isLossAccepted ? ": people have accepted that they are lost" : ""));
    isUnavailable_ = isUnavailable_ && state_.pool().unavailable();
    if (state_.pool().unavailable()) beUnavailable();
    pump(now);
}

// The journal was restored, and people have accepted what is lost with that: the receipt is of a
// history that is no more. What is still in the outbox gets the numbers that come next in this one,
// where none of it is known.
void TableSession::numberAnew(std::uint64_t known, bool hasLost)
{
    nextMemory_ = outbox_.memory();
    nextMemory_.receiptSize = 0;
    nextMemory_.receipt.clear();
    auto entries = outbox_.entries();
    if (hasLost) {
        nextMemory_.last = nextMemory_.decided = nextMemory_.counted = known;
        nextMemory_.wagers = state_.wagers();
        nextMemory_.openRound = openRoundOf(state_);
        for (Outbox::Entry& entry : entries) {
            if (!scratch_.ParseFromString(entry.command))
                return stop(TableFault::Outbox, "a command in the outbox cannot be read");
            entry.number = ++nextMemory_.last;
            scratch_.set_number(entry.number);
            entry.command = scratch_.SerializeAsString();
        }
    }
    if (auto replaced = outbox_.replace(nextMemory_, std::move(entries)); !replaced)
        return stop(TableFault::Outbox, replaced.error().message);
    hasLostCommands_ = false;
    recallOpenRound();
}

void TableSession::take(const link::v2::Decisions& decisions, ClockReading now)
{
    const std::uint64_t decidedBefore = outbox_.memory().decided;
    const auto& entries = outbox_.entries();
    nextMemory_ = outbox_.memory();
    bool wasRefused = false;
    std::size_t fresh = 0;
    for (const auto& decision : decisions.decisions()) {
        if (decision.number() <= nextMemory_.decided) continue;
        if (fresh >= entries.size() || decision.number() != entries[fresh].number)
            return hangUp(
                TableFault::BadFrame,
                "a decision on command " + std::to_string(decision.number()) + " came out of turn");
        const Outbox::Entry& entry = entries[fresh++];
        nextMemory_.decided = entry.number;
        if (entry.number <= nextMemory_.counted) continue;
        nextMemory_.counted = entry.number;
        if (decision.has_refusal()) {
            wasRefused = true;
        } else if (scratch_.ParseFromString(entry.command)) {
            follow(scratch_, nextMemory_.openRound);
            nextMemory_.wagers += static_cast<std::uint64_t>(scratch_.open_round().wagers_size());
        }
    }
    takeReceipt(decisions.receipt(), nextMemory_);
    remember(nextMemory_);
    if (wasRefused) recallOpenRound();
    sent_ -= std::min(sent_, fresh);
    if (fresh > 0) {
        rewinds_ = 0;
        hasBroughtDecision_ = true;
    }
    for (const auto& decision : decisions.decisions()) {
        if (decision.number() <= decidedBefore) continue;
        state_.mutable_pool()->set_displayed_cents(decision.displayed_cents());
        events_.onDecision(decision);
    }
    pump(now);
}

void TableSession::takeReceipt(const link::v2::Receipt& receipt, Outbox::Memory& memory)
{
    if (receipt.note().empty() || receipt.note().size() > Outbox::kMaxReceiptBytes ||
        receipt.size() < memory.receiptSize)
        return;
    memory.receiptSize = receipt.size();
    memory.receipt = receipt.note();
}

void TableSession::remember(const Outbox::Memory& memory)
{
    if (auto remembered = outbox_.remember(memory); !remembered)
        events_.onFault(TableFault::Outbox, remembered.error().message);
}

void TableSession::take(const Rejected& rejected, ClockReading now)
{
    const std::string detail =
        "command " + std::to_string(rejected.number()) + ": " + rejected.detail();
    switch (rejected.why()) {
        case Rejected::CONFLICT: return stop(TableFault::Conflict, detail);
        case Rejected::OUT_OF_ORDER:
            if (!outbox_.entries().empty() &&
                rejected.expected() < outbox_.entries().front().number) {
                hasLostCommands_ = true;
                isDraining_ = false;
                return events_.onFault(TableFault::LostCommands,
                                       detail + " (the daemon asks for " +
                                           std::to_string(rejected.expected()) +
                                           ", which was decided)");
            }
            break;
        case Rejected::TOO_FAST:
            wasTooFast_ = true;
            resumeMs_ = now.bootMs + kTooFastMs;
            break;
        default: return stop(TableFault::Malformed, detail);
    }
    if (!isDraining_) {
        isDraining_ = true;
        drainByMs_ = now.bootMs + kDrainMs;
        rejected_ = 0;
        if (!wasTooFast_) resumeMs_ = now.bootMs;
    }
    ++rejected_;
    pump(now);
}

void TableSession::take(const Goodbye& goodbye, ClockReading now)
{
    mustHangUp_ = wasSentAway_ = true;
    switch (goodbye.why()) {
        case Goodbye::VERSION:
        case Goodbye::NOT_A_TABLE:
        case Goodbye::REPLACED:
        case Goodbye::LOCKED: backoffMs_ = kLastBackoffMs; break;
        default:
            if (wasGood(now)) backoffMs_ = kFirstBackoffMs;
            break;
    }
    events_.onGoodbye(goodbye);
    if (goodbye.why() == Goodbye::UNAVAILABLE) beUnavailable();
}

void TableSession::take(const link::v2::PoolNews& news)
{
    if (!news.unavailable()) isUnavailable_ = false;
    events_.onPool(news);
    if (news.unavailable()) beUnavailable();
}

void TableSession::beUnavailable()
{
    if (isUnavailable_) return;
    isUnavailable_ = true;
    events_.onUnavailable(openRound_);
}

void TableSession::take(const link::v2::Settlement& settlement)
{
    nextMemory_ = outbox_.memory();
    takeReceipt(settlement.receipt(), nextMemory_);
    remember(nextMemory_);
    state_.mutable_pool()->set_displayed_cents(settlement.displayed_cents());
    events_.onSettlement(settlement);
}

}  // namespace jackpot::linkproto
