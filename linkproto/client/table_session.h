// The table's side of the protocol, without I/O and without a clock: frames and time go in, bytes
// to send and events come out. One thread at a time. docs/link.md says what it does and why.
//
// The caller connects at nextDeadline() while isDown(), calls onConnected(), passes each frame on,
// sends the bytes of takeOutput(), calls onTick() at nextDeadline() and after a wake-up, and closes
// the connection when mustHangUp(). It calls onDisconnected() after a connection has ended or an
// attempt has failed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "link.pb.h"
#include "linkproto/client/clock_reading.h"
#include "linkproto/client/outbox.h"
#include "linkproto/limits.h"

namespace jackpot::linkproto {

inline constexpr int kMaxListed = 9;  // wagers, hands, cards of a board or a hand
inline constexpr std::int64_t kSilenceMs = 5000;
inline constexpr std::int64_t kTooFastMs = 1000;
inline constexpr std::int64_t kFirstBackoffMs = 100;
inline constexpr std::int64_t kLastBackoffMs = 10'000;

enum class TableFault : std::uint8_t {
    BadFrame,      // the daemon sent what the protocol does not have; connects again
    Version,       // it speaks another version; connects again, slowly
    WrongTable,    // the certificate is another table's than the outbox; the same
    LostCommands,  // it does not know commands that it had decided; sends no commands to it, unless
                   // people have accepted the loss: then goes on with what is in the outbox
    Conflict,      // a number was decided with other contents; sends no commands until restarted
    Malformed,     // it can't read a command of ours; the same
    OutOfOrder,    // it keeps asking for another number; the same
    Outbox,        // the outbox could not be written
};
std::string_view nameOf(TableFault fault);

// Called from within the session's functions; may enqueue(), and nothing else.
class TableEvents {
public:
    virtual ~TableEvents() = default;
    virtual void onWelcome(const link::v2::Welcome&) {}
    virtual void onDecision(const link::v2::Decision&) {}
    virtual void onPool(const link::v2::PoolNews&) {}
    virtual void onSuspension(const link::v2::Suspension&) {}
    virtual void onSettlement(const link::v2::Settlement&) {}
    virtual void onState(const link::v2::TableState&) {}
    // The journal can't be written. `round` has no result: a supervisor decides whether its wagers
    // are returned and play goes on without the jackpot; then enqueue a Suspend for a malfunction.
    virtual void onUnavailable(std::optional<std::int64_t> /*round*/) {}
    virtual void onGoodbye(const link::v2::Goodbye&) {}
    virtual void onFault(TableFault, std::string_view /*detail*/) {}
};

class TableSession {
public:
    // `events` outlives the session. The seed spreads reconnections; give each table its own.
    TableSession(Outbox outbox, TableEvents& events, std::string software,
                 std::uint64_t jitterSeed = 1);

    // Puts a command into the outbox, and on its way if there is a connection. Fills in number,
    // clock and age. The number; or why not, and then nothing has happened:
    // - before the first Welcome of a new outbox, as the number is not known;
    // - a round to be opened while the jackpot can't take wagers for want of a link;
    // - a text that is too long or not UTF-8, too many wagers, hands or cards;
    // - the outbox is full, or for a round to be opened half full, so that one can be finished.
    Result<std::uint64_t> enqueue(link::v2::Command& command, ClockReading now,
                                  std::int64_t agoMs = 0);
    // All of them or none, with one write to the disk. The first number.
    Result<std::uint64_t> enqueue(std::span<link::v2::Command> commands, ClockReading now,
                                  std::int64_t agoMs = 0);

    void onConnected(ClockReading now);
    void onFrame(std::string_view frame, ClockReading now);
    void onTick(ClockReading now);
    void onDisconnected(ClockReading now);
    // Asks for a TableState; without a connection nothing happens.
    void query(ClockReading now);

    // Appends what is to be sent.
    void takeOutput(std::string& into);
    [[nodiscard]] bool hasOutput() const { return !output_.empty(); }
    [[nodiscard]] bool mustHangUp() const { return mustHangUp_; }
    // By ClockReading::bootMs: when to connect, or when onTick() has something to do.
    [[nodiscard]] std::int64_t nextDeadline() const;

    [[nodiscard]] bool isDown() const { return link_ == Link::Down; }
    [[nodiscard]] bool isOnline() const { return link_ == Link::Up; }
    // There is a link over which a round can be opened: the daemon may still refuse it.
    [[nodiscard]] bool canOpenRound(ClockReading now) const;
    // And neither the table nor the pool is suspended.
    [[nodiscard]] bool mayTakeWagers(ClockReading now) const;
    [[nodiscard]] bool isSuspended() const { return state_.suspended(); }
    [[nodiscard]] bool isUnavailable() const { return isUnavailable_; }
    // Sends no commands any more, for this reason.
    [[nodiscard]] std::optional<TableFault> stoppedBy() const { return stoppedBy_; }
    // The amount to display, as received last.
    [[nodiscard]] std::int64_t displayedCents() const { return state_.pool().displayed_cents(); }
    // As received last; suspension and pool are kept up to date.
    [[nodiscard]] const link::v2::TableState& state() const { return state_; }
    // The round that is open by what this table has sent.
    [[nodiscard]] std::optional<std::int64_t> openRound() const { return openRound_; }
    [[nodiscard]] std::size_t inFlight() const { return sent_; }
    [[nodiscard]] const Outbox& outbox() const { return outbox_; }

private:
    enum class Link : std::uint8_t { Down, Greeting, Up };

    Result<void> checkEnqueue(const link::v2::Command& command, ClockReading now) const;
    void take(const link::v2::Welcome& welcome, ClockReading now);
    void numberAnew(std::uint64_t known, bool hasLost);
    void take(const link::v2::Decisions& decisions, ClockReading now);
    void take(const link::v2::Rejected& rejected, ClockReading now);
    void take(const link::v2::Goodbye& goodbye, ClockReading now);
    void take(const link::v2::PoolNews& news);
    void take(const link::v2::Settlement& settlement);
    void takeReceipt(const link::v2::Receipt& receipt, Outbox::Memory& memory);
    void beUnavailable();
    void recallOpenRound();
    void remember(const Outbox::Memory& memory);
    void pump(ClockReading now);
    void sendEntry(const Outbox::Entry& entry, ClockReading now);
    template <class Message>
    void send(const Message& message, ClockReading now);
    void hangUp(TableFault fault, std::string_view detail);
    void stop(TableFault fault, std::string_view detail);
    [[nodiscard]] bool wasGood(ClockReading now) const;
    std::int64_t jittered(std::int64_t ms);

    Outbox outbox_;
    TableEvents& events_;
    std::string software_;
    std::uint64_t random_;

    Link link_ = Link::Down;
    bool mustHangUp_ = false;
    bool hasBroughtDecision_ = false;
    bool wasSentAway_ = false;  // by a Goodbye: then no try is immediate
    std::string output_;
    link::v2::ToTable received_;  // kept for its memory
    link::v2::Command scratch_;   // the same
    Outbox::Memory nextMemory_;   // the same
    std::int64_t lastReceivedMs_ = 0;
    std::int64_t saidMs_ = 0;
    std::int64_t upSinceMs_ = 0;
    std::int64_t connectMs_ = 0;
    std::int64_t backoffMs_ = 0;  // 0: the next try is immediate

    std::size_t sent_ = 0;      // the first entries, on this connection and undecided
    std::size_t rejected_ = 0;  // how many of them came back
    // After a rejection nothing is sent until all that was sent is answered; then all of it again.
    bool isDraining_ = false;
    bool wasTooFast_ = false;
    std::int64_t drainByMs_ = 0;
    std::int64_t resumeMs_ = 0;
    int rewinds_ = 0;  // without a decision in between

    bool hasLostCommands_ = false;
    std::optional<TableFault> stoppedBy_;
    bool isUnavailable_ = false;
    std::optional<std::int64_t> openRound_;
    link::v2::TableState state_;
};

}  // namespace jackpot::linkproto
