#include "linkproto/server/connection.h"

#include <algorithm>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace jackpot::linkproto {
namespace {

constexpr std::size_t kMaxDecisionsBytes = 12U << 10U;  // of one frame
constexpr std::size_t kDecisionHeaderBytes = 4;         // tag and length
constexpr std::size_t kMaxReceiptBytes = 4096;

}  // namespace

Connection::Connection(std::uint64_t id, std::string address, ConnectionEvents& events,
                       std::int64_t frameTimeoutMs, std::int64_t deadlineMs)
    : id_{id},
      address_{std::move(address)},
      events_{events},
      frameTimeoutMs_{frameTimeoutMs},
      deadlineMs_{deadlineMs}
{}

void Connection::handleFrames()
{
    bool hasNewFrame = false;
    bool isStalled = false;
    while (!isClosing() && !(isStalled = events_.mustStall(*this))) {
        const auto frame = frames_.next();
        if (!frame) break;
        hasNewFrame = true;
        lastReceivedMs_ = events_.nowMs();
        handleFrame(*frame);
    }
    if (frames_.fault() != FrameReader::Fault::None)
        protocolError(frames_.fault() == FrameReader::Fault::Empty
                          ? "an empty frame"
                          : "a frame of more than 16384 bytes");
    if (!isIdentified() || isClosing()) return;
    // Each frame has its own deadline. While the mailbox is full, the delay is not the peer's.
    if (!frames_.isInsideFrame() || isStalled)
        deadlineMs_ = 0;
    else if (hasNewFrame || deadlineMs_ == 0)
        deadlineMs_ = events_.nowMs() + frameTimeoutMs_;
}

void Connection::handleFrame(std::string_view frame)
{
    // Shared by all connections of the thread, so that its memory is reused.
    thread_local v2::ToDaemon message;
    message.Clear();
    if (!message.ParseFromArray(frame.data(), static_cast<int>(frame.size())))
        return protocolError("a frame that is no message");
    switch (message.message_case()) {
        case v2::ToDaemon::kHello:
            if (stage_ == Stage::Hello) return handleHello(message.hello());
            return protocolError("a second Hello");
        case v2::ToDaemon::kCommand:
            if (stage_ == Stage::Open) return handleCommand(message.command());
            return protocolError("a command before the welcome");
        case v2::ToDaemon::kHeartbeat: return handleHeartbeat(message.heartbeat());
        case v2::ToDaemon::kQuery:
            if (stage_ == Stage::Open) return post(StateRequest{});
            return protocolError("a query before the welcome");
        case v2::ToDaemon::MESSAGE_NOT_SET: break;
    }
    protocolError("a message that this version does not know");
}

void Connection::handleHello(const v2::Hello& hello)
{
    const auto table = events_.findTable(*this);
    if (!table) {
        events_.onNotATable(address_ + ": " + table.error().message);
        return closeWithGoodbye(GoodbyeReason::NotATable, table.error().message);
    }
    if (hello.version() != kLinkVersion)
        return closeWithGoodbye(GoodbyeReason::Version,
                                "this daemon speaks version " + std::to_string(kLinkVersion));
    table_ = *table;
    stage_ = Stage::Welcome;
    deadlineMs_ = 0;
    events_.onIdentified(*this);
    post(TableConnected{hello.receipt().substr(0, kMaxReceiptBytes),
                        hello.software().substr(0, kMaxTextBytes), hello.decided()});
}

void Connection::handleCommand(const v2::Command& message)
{
    if (inFlight_ >= kMaxInFlight)
        return closeWithGoodbye(
            GoodbyeReason::TooMuch,
            "more than " + std::to_string(kMaxInFlight) + " commands in flight");
    auto command = events_.readCommand(message, *table_);
    if (!command) {
        send(toMessage(
            Rejection{message.number(), RejectionReason::Malformed, 0, command.error().message}));
        return post(MalformedCommand{command.error().message});
    }
    ++inFlight_;
    post(CommandReceived{std::move(*command), message.number(), message.clock_ms(),
                         events_.nowMs()});
}

void Connection::handleHeartbeat(const v2::Heartbeat& heartbeat)
{
    if (stage_ == Stage::Open) return post(WagerCountReport{heartbeat.wagers(), heartbeat.as_of()});
    if (stage_ != Stage::Welcome) protocolError("a heartbeat before Hello");
}

void Connection::protocolError(const std::string& what)
{
    if (isClosing()) return;
    events_.onBadFrame();
    if (isIdentified())
        post(MalformedCommand{what});
    else
        events_.onNotATable(address_ + ": " + what);
    closeWithGoodbye(GoodbyeReason::BadFrame, what);
}

void Connection::deliver(const Reply& reply, const v2::Receipt& receipt)
{
    std::visit([&](const auto& each) { deliverEach(each, receipt); }, reply);
}

void Connection::deliverEach(const Decision& decision, const v2::Receipt& receipt)
{
    countAnswered(1);
    v2::Decision message;
    writeDecision(message, decision);
    const std::size_t bytes = kDecisionHeaderBytes + message.ByteSizeLong();
    if (decisionsBytes_ + bytes > kMaxDecisionsBytes) flushDecisions(receipt);
    decisionsBytes_ += bytes;
    decisions_.add_decisions()->Swap(&message);
    const std::vector<v2::ToTable> overflow = overflowOf(decision, receipt);
    if (!overflow.empty()) sendAll(overflow, receipt);
}

void Connection::deliverEach(const Settlement& settlement, const v2::Receipt& receipt)
{
    if (stage_ == Stage::Open) sendAll(toMessages(settlement, receipt), receipt);
}

void Connection::deliverEach(const RepeatedDecision& repeated, const v2::Receipt& receipt)
{
    countAnswered(1);
    if (stage_ == Stage::Open) sendAll(toMessages(repeated), receipt);
}

void Connection::deliverEach(const Goodbye& goodbye, const v2::Receipt& receipt)
{
    flushDecisions(receipt);
    send(toMessage(goodbye));
    stage_ = Stage::Closing;
    deadlineMs_ = events_.nowMs() + kGoodbyeMs;
}

template <class Single>
void Connection::deliverEach(const Single& reply, const v2::Receipt& receipt)
{
    if constexpr (std::is_same_v<Single, Welcome>) stage_ = Stage::Open;
    if constexpr (std::is_same_v<Single, Rejection>) countAnswered(1);
    // Before the Welcome, a table receives nothing but a Goodbye.
    if (stage_ != Stage::Open) return;
    flushDecisions(receipt);
    send(toMessage(reply));
}

void Connection::sendAll(const std::vector<v2::ToTable>& messages, const v2::Receipt& receipt)
{
    flushDecisions(receipt);
    for (const v2::ToTable& message : messages) send(message);
}

void Connection::flushDecisions(const v2::Receipt& receipt)
{
    if (!hasDecisions()) return;
    *decisions_.mutable_receipt() = receipt;
    v2::ToTable message;
    message.mutable_decisions()->Swap(&decisions_);
    send(message);
    message.mutable_decisions()->Swap(&decisions_);  // reuses its memory
    decisions_.Clear();
    decisionsBytes_ = 0;
}

void Connection::sendHeartbeat(std::int64_t wallClockMs)
{
    v2::ToTable message;
    message.mutable_heartbeat()->set_clock_ms(wallClockMs);
    send(message);
}

void Connection::send(const v2::ToTable& message)
{
    try {
        appendFrame(output_, message);
    } catch (const std::length_error&) {
        // An oversized answer ends this connection only, not the link of all tables.
        return closeWithGoodbye(GoodbyeReason::TooMuch, "an answer of more than a frame");
    }
    events_.onOutput(*this);
}

void Connection::closeWithGoodbye(GoodbyeReason reason, const std::string& detail)
{
    if (isClosing()) return;
    if (stage_ != Stage::Handshake) {
        appendFrame(output_, toMessage(Goodbye{reason, detail}));
    }
    stage_ = Stage::Closing;
    deadlineMs_ = events_.nowMs() + kGoodbyeMs;
    events_.onClosing(*this);
}

bool Connection::isDeadlinePassed() const
{
    return deadlineMs_ > 0 && events_.nowMs() >= deadlineMs_;
}

bool Connection::onDeadline()
{
    if (isClosing()) return false;
    if (!isIdentified()) {
        events_.onNotATable(address_ + ": it did not say who it is in time");
        return false;
    }
    deadlineMs_ = 0;
    protocolError("a frame that was not finished in time");
    return true;
}

}  // namespace jackpot::linkproto
