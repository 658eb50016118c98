// One table of the simulated floor: its link, and a dealer who plays by the plan.
#pragma once

#include <google/protobuf/arena.h>

#include <cstdint>
#include <optional>
#include <string>

#include "linkproto/client/table_session.h"
#include "linkproto/frame.h"
#include "net/tls.h"
#include "tools/floorsim/books.h"
#include "tools/floorsim/log.h"
#include "tools/floorsim/run.h"

namespace jackpot::floorsim {

struct Now {
    linkproto::ClockReading clock;
    std::int64_t ns = 0;  // of the steady clock
    static Now read();
};

// What the tables of a floor share.
struct FloorShared {
    const FloorSettings& settings;
    Books& books;
    FloorLog* log = nullptr;
    int epoll = -1;
    std::vector<std::uint8_t> address{};  // a sockaddr
    std::size_t connecting = 0;
    google::protobuf::Arena arena{};  // memory of the frame that is being read
    std::uint64_t connections = 0;
    FaultsInjected injected{};
    std::vector<std::string> notes{};
    bool isPlaying = false;  // new rounds may be opened
    bool mayFinish = false;  // open rounds may be finished

    void addNote(std::string text);
};

class FloorTable final : private linkproto::TableEvents {
public:
    FloorTable(FloorShared& floor, std::uint32_t index, linkproto::Outbox outbox,
               net::TlsContext tls);
    FloorTable(const FloorTable&) = delete;
    FloorTable& operator=(const FloorTable&) = delete;
    ~FloorTable() override;

    void onReady(std::uint32_t events, const Now& now);
    // Call regularly: handles deadlines, connects, and plays.
    void onTick(const Now& now);
    void query(const Now& now);
    // Closes the link with a TLS close.
    void disconnect(const Now& now);
    // Prepares a table for a new run: resumes it if it is suspended, and voids a round that an
    // earlier run left open.
    void prepareForRun(const Now& now);

    [[nodiscard]] bool isOnline() const { return session_.isOnline(); }
    // No round is open and no command is undecided.
    [[nodiscard]] bool isIdle() const;
    [[nodiscard]] bool isStopped() const { return session_.stoppedBy().has_value(); }
    // After a restart: enters the commands of the outbox that the books do not have yet.
    void enterOutbox(const Now& now);

private:
    enum class Link : std::uint8_t { Down, Connecting, Handshaking, Open, NotReading };
    enum class Step : std::uint8_t {
        Idle,
        Opened,
        Ready,      // for the result
        ToCorrect,  // the first result was misread
        Reported,
        Won,
        ToClose,
        ToSuspend,
        ToResume,
    };
    enum class WrongCount : std::uint8_t { None, Reported, Resuming, Querying };

    void connect(const Now& now);
    void handshake(const Now& now);
    void receive(const Now& now);
    void flush(const Now& now);
    void drop(const Now& now);
    void watch(std::uint32_t events);

    void play(const Now& now);
    bool playOne(const Now& now);
    bool open(const Now& now);
    bool report(const Now& now);
    bool correct(const Now& now);
    bool playReported(const Now& now);
    bool confirm(const Now& now);
    bool closeRound(const Now& now);
    bool suspend(const Now& now);
    bool resume(const Now& now, const char* reason);
    bool voidRound(const Now& now, int ground);
    bool voidWager(const Now& now);
    void writeResult(const Deal& deal, v2::ReportResult& result) const;
    [[nodiscard]] bool hasWon() const;
    bool isDue(const Now& now) const;
    void playWrongCount(const Now& now);
    bool send(v2::Command& command, const Now& now);
    void restoreStep();

    void onFault(linkproto::TableFault fault, std::string_view detail) override;

    FloorShared& floor_;
    const std::uint32_t index_;
    const TableTerms& terms_;
    PlanTable planTable_;
    net::TlsContext tls_;
    linkproto::TableSession session_;

    Link link_ = Link::Down;
    int socket_ = -1;  // -1 once stream_ owns it
    std::optional<net::TlsStream> stream_;
    linkproto::FrameReader reader_;
    std::string out_;
    std::size_t outAt_ = 0;
    std::uint32_t watched_ = 0;
    std::int64_t deadlineMs_ = 0;  // ends Connecting, Handshaking or NotReading
    v2::Command command_;
    v2::Command opening_;  // kept because most commands are these: reuses their memory
    v2::Command result_;

    bool isStepRestored_ = false;
    Step step_ = Step::Idle;
    std::int64_t round_ = 0;  // the newest
    RoundPlan plan_;
    bool hasPlan_ = false;  // plan_ is the next round's
    bool hasDropped_ = false;
    bool wantsDuplicate_ = false;
    bool wantsDrop_ = false;
    bool wantsReadPause_ = false;
    WrongCount wrongCount_ = WrongCount::None;
    bool hasPlayedWrongCount_ = false;
    std::int64_t wrongCountDeadlineMs_ = 0;
    std::int64_t nextRoundNs_ = 0;
};

}  // namespace jackpot::floorsim
