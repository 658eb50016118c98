#include "tools/floorsim/table.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace jackpot::floorsim {
namespace {

using net::TlsStream;
using What = v2::Command;

constexpr std::size_t kReadBytes = 8U << 10U;  // small, because each read zeroes its buffer first
constexpr std::size_t kMaxConnecting = 64;     // more handshakes at once would time out
constexpr std::int64_t kConnectMs = 5000;
constexpr std::int64_t kNotReadingMs = 20;  // enough for the daemon to answer
constexpr std::size_t kMaxDuplicated = 12;  // the link allows 32 commands in flight
constexpr std::size_t kMaxNotes = 50;

}  // namespace

Now Now::read()
{
    return {linkproto::ClockReading::now(), std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                std::chrono::steady_clock::now().time_since_epoch())
                                                .count()};
}

void FloorShared::addNote(std::string what)
{
    if (notes.size() < kMaxNotes) notes.push_back(std::move(what));
}

FloorTable::FloorTable(FloorShared& floor, std::uint32_t index, linkproto::Outbox outbox,
                       net::TlsContext tls)
    : floor_{floor},
      index_{index},
      terms_{floor.books.tables()[index]},
      planTable_{.index = index,
                 .tables = static_cast<std::uint32_t>(floor.books.tables().size()),
                 .salt = saltOf(terms_.id),
                 .game = floor.books.pools()[terms_.pool].terms().game,
                 .seats = terms_.seats},
      tls_{std::move(tls)},
      session_{std::move(outbox), *this, "floorsim", planTable_.salt | 1U}
{}

FloorTable::~FloorTable()
{
    if (socket_ >= 0) ::close(socket_);
}

// ---- the link
// --------------------------------------------------------------------------------------

void FloorTable::watch(std::uint32_t events)
{
    if (events == watched_ || !stream_) return;
    epoll_event event{};
    event.events = events;
    event.data.u32 = index_;
    ::epoll_ctl(floor_.epoll, EPOLL_CTL_MOD, stream_->socket(), &event);
    watched_ = events;
}

void FloorTable::connect(const Now& now)
{
    const auto* const address = reinterpret_cast<const sockaddr*>(floor_.address.data());
    socket_ = ::socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int on = 1;
    if (socket_ < 0 ||
        (::connect(socket_, address, static_cast<socklen_t>(floor_.address.size())) != 0 &&
         errno != EINPROGRESS)) {
        floor_.addNote("table " + terms_.id + ": no connection: " + std::strerror(errno));
        if (socket_ >= 0) ::close(socket_);
        socket_ = -1;
        return session_.onDisconnected(now.clock);
    }
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_event event{};
    event.events = watched_ = EPOLLOUT;
    event.data.u32 = index_;
    ::epoll_ctl(floor_.epoll, EPOLL_CTL_ADD, socket_, &event);
    link_ = Link::Connecting;
    deadlineMs_ = now.clock.bootMs + kConnectMs;
    ++floor_.connecting;
}

void FloorTable::handshake(const Now& now)
{
    switch (stream_->handshake()) {
        case TlsStream::Progress::Done: break;
        case TlsStream::Progress::WantsRead: return watch(EPOLLIN);
        case TlsStream::Progress::WantsWrite: return watch(EPOLLOUT);
        default:
            floor_.addNote("table " + terms_.id + ": TLS: " + stream_->error());
            return drop(now);
    }
    --floor_.connecting;
    ++floor_.connections;
    link_ = Link::Open;
    session_.onConnected(now.clock);
    flush(now);
}

void FloorTable::drop(const Now& now)
{
    if (link_ == Link::Connecting || link_ == Link::Handshaking) --floor_.connecting;
    stream_.reset();
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
    link_ = Link::Down;
    reader_ = {};
    out_.clear();
    outAt_ = 0;
    wantsDrop_ = wantsReadPause_ = wantsDuplicate_ = false;
    if (wrongCount_ == WrongCount::Reported || wrongCount_ == WrongCount::Querying)
        wrongCount_ = WrongCount::None;
    session_.onDisconnected(now.clock);
}

void FloorTable::onReady(std::uint32_t events, const Now& now)
{
    if (link_ == Link::Connecting) {
        int error = 0;
        socklen_t size = sizeof error;
        ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size);
        if (error != 0) {
            floor_.addNote("table " + terms_.id + ": no connection: " + std::strerror(error));
            return drop(now);
        }
        stream_.emplace(tls_, std::exchange(socket_, -1), floor_.settings.host);
        link_ = Link::Handshaking;
    }
    if (link_ == Link::Handshaking) return handshake(now);
    if (link_ != Link::Open) return;
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) receive(now);
    if (link_ == Link::Open) play(now);
}

void FloorTable::receive(const Now& now)
{
    TlsStream::Progress progress = TlsStream::Progress::Done;
    while (progress == TlsStream::Progress::Done && !session_.mustHangUp()) {
        progress = stream_->read(reader_.buffer(), kReadBytes);
        while (const auto frame = reader_.next()) {
            if (floor_.log) floor_.log->add(FloorLog::Kind::Received, index_, *frame);
            auto* const message =
                google::protobuf::Arena::CreateMessage<v2::ToTable>(&floor_.arena);
            if (message->ParseFromArray(frame->data(), static_cast<int>(frame->size())))
                floor_.books.received(index_, *message, now.ns);
            floor_.arena.Reset();
            session_.onFrame(*frame, now.clock);
        }
        if (reader_.fault() != linkproto::FrameReader::Fault::None) break;
    }
    if (isUnavailable_) {
        isUnavailable_ = false;
        enterOutbox(now);
        restoreStep();
    }
    const bool isOver =
        progress == TlsStream::Progress::Closed || progress == TlsStream::Progress::Failed;
    if (isOver || session_.mustHangUp() || reader_.fault() != linkproto::FrameReader::Fault::None)
        drop(now);
}

void FloorTable::flush(const Now& now)
{
    if (link_ != Link::Open) return;
    session_.takeOutput(out_);
    std::string_view unsent = std::string_view{out_}.substr(outAt_);
    if (!unsent.empty() && stream_->write(unsent) == TlsStream::Progress::Failed) return drop(now);
    outAt_ = out_.size() - unsent.size();
    if (unsent.empty()) {
        out_.clear();
        outAt_ = 0;
    }
    watch(unsent.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT);
}

void FloorTable::onTick(const Now& now)
{
    const std::int64_t nowMs = now.clock.bootMs;
    switch (link_) {
        case Link::Down:
            if (nowMs >= session_.nextDeadline() && floor_.connecting < kMaxConnecting)
                connect(now);
            break;
        case Link::Connecting:
        case Link::Handshaking:
        case Link::NotReading:
            if (nowMs >= deadlineMs_) drop(now);
            break;
        case Link::Open:
            if (nowMs < session_.nextDeadline()) break;
            session_.onTick(now.clock);
            if (session_.mustHangUp()) drop(now);
            break;
    }
    if (link_ != Link::NotReading) play(now);
}

void FloorTable::query(const Now& now)
{
    session_.query(now.clock);
    flush(now);
}

void FloorTable::close(const Now& now)
{
    if (link_ == Link::Open) stream_->close();
    drop(now);
}

void FloorTable::onFault(linkproto::TableFault fault, std::string_view detail)
{
    floor_.addNote("table " + terms_.id + ": " + std::string{nameOf(fault)} + ": " +
                   std::string{detail});
}

void FloorTable::onUnavailable(std::optional<std::int64_t>) { isUnavailable_ = true; }

// ---- the dealer
// ------------------------------------------------------------------------------------

bool FloorTable::isIdle() const
{
    return step_ == Step::Idle && wrongCount_ == WrongCount::None &&
           floor_.books.undecided(index_) == 0;
}

void FloorTable::enterOutbox(const Now& now)
{
    for (const auto& entry : session_.outbox().entries()) {
        if (entry.number <= floor_.books.lastNumber(index_)) continue;
        if (!command_.ParseFromString(entry.command)) continue;
        floor_.books.sent(index_, command_, now.ns);
        if (floor_.log) floor_.log->add(FloorLog::Kind::Sent, index_, entry.command);
    }
}

// Finds the dealer's step from the commands that were sent.
void FloorTable::restoreStep()
{
    const Books::Progress& progress = floor_.books.progress(index_);
    isStepRestored_ = true;
    round_ = std::max(progress.firstRound, progress.lastRound);
    step_ = Step::Idle;
    hasPlan_ = false;
    if (progress.last == What::kOpenRound) {
        plan_ =
            planOf(floor_.settings.plan, planTable_, round_, progress.rounds, progress.lastSeats);
        plan_.lateResult = false;
        plan_.voids = RoundPlan::Void::None;
        step_ = Step::Opened;
    } else if (progress.last == What::kReportResult && progress.lastHasJackpot) {
        step_ = Step::Won;
    }
}

void FloorTable::prepareForRun(const Now& now)
{
    const auto state = floor_.books.stateOf(index_);
    if (!state || floor_.books.undecided(index_) > 0) return;
    if (state->suspended()) {
        command_.Clear();
        command_.mutable_resume()->set_reason("a new run");
        command_.mutable_resume()->set_by("floorsim");
        send(command_, now);
    }
    const bool isClaimed = state->result_in() && !state->confirmed() &&
                           std::ranges::any_of(state->wagered(), &v2::Seat::claims);
    if (state->round_opened() && !state->voided() && (!state->result_in() || isClaimed)) {
        round_ = state->round();
        voidRound(now, "left by an earlier run");
    }
    flush(now);
}

bool FloorTable::send(v2::Command& command, const Now& now)
{
    const auto number = session_.enqueue(command, now.clock);
    if (!number) {
        floor_.addNote("table " + terms_.id + ": " + number.error().message);
        return false;
    }
    floor_.books.sent(index_, command, now.ns);
    if (floor_.log)
        floor_.log->add(FloorLog::Kind::Sent, index_, session_.outbox().entries().back().command);
    if (wantsDuplicate_ && link_ == Link::Open && session_.inFlight() <= kMaxDuplicated) {
        wantsDuplicate_ = false;
        const std::size_t before = out_.size();
        session_.takeOutput(out_);
        if (out_.size() > before) {
            out_ += std::string{out_, before};
            ++floor_.injected.duplicates;
        }
    }
    return true;
}

void FloorTable::play(const Now& now)
{
    if (!floor_.books.hasBegun() || !floor_.mayFinish) return flush(now);
    if (!isStepRestored_) restoreStep();
    while (floor_.books.undecided(index_) < floor_.settings.inFlight && !wantsDrop_ &&
           playOne(now)) {
    }
    if (wantsDrop_) return drop(now);
    flush(now);
    if (wantsReadPause_ && link_ == Link::Open && outAt_ == out_.size()) {
        watch(0);
        link_ = Link::NotReading;
        deadlineMs_ = now.clock.bootMs + kNotReadingMs;
    }
}

bool FloorTable::playOne(const Now& now)
{
    if (wrongCount_ != WrongCount::None) {
        playWrongCount(now);
        return false;
    }
    switch (step_) {
        case Step::Idle: return open(now);
        case Step::Opened:
            if (plan_.voids == RoundPlan::Void::BeforeResult) return voidRound(now, "misdeal");
            if (plan_.voids == RoundPlan::Void::OneWager) return voidWager(now);
            [[fallthrough]];
        case Step::WagerVoided:
            if (plan_.lateResult && !hasDropped_) {
                if (floor_.books.undecided(index_) > 0) return false;
                ++floor_.injected.lateResults;
                hasDropped_ = true;
                if (link_ != Link::Down) drop(now);
            }
            return report(now);
        case Step::Won: return confirm(now);
        case Step::ToVoid: return voidRound(now, "cards exposed");
    }
    return false;
}

bool FloorTable::isDue(const Now& now) const
{
    const auto& settings = floor_.settings;
    if (!floor_.isPlaying) return false;
    if (settings.plan.rounds && floor_.books.progress(index_).rounds >= *settings.plan.rounds)
        return false;
    return now.ns >= nextRoundNs_;
}

bool FloorTable::open(const Now& now)
{
    if (!isDue(now)) return false;
    if (session_.isSuspended() && floor_.settings.plan.faults.wrongCount > 0) {
        wrongCount_ = WrongCount::Reported;
        wrongCountDeadlineMs_ = now.clock.bootMs + floor_.settings.timeoutS * 1000;
        return false;
    }
    if (!session_.mayTakeWagers(now.clock)) return false;
    const auto& settings = floor_.settings;
    if (!hasPlan_) {
        plan_ =
            planOf(settings.plan, planTable_, round_ + 1, floor_.books.progress(index_).rounds + 1);
        hasPlan_ = true;
        hasPlayedWrongCount_ = hasDropped_ = false;
    }
    if (plan_.wrongCount && !hasPlayedWrongCount_) {
        if (floor_.books.undecided(index_) == 0) playWrongCount(now);
        return false;
    }
    v2::OpenRound& open = *opening_.mutable_open_round();
    open.Clear();
    open.set_round(round_ + 1);
    for (int seat = 1; seat <= terms_.seats; ++seat) {
        if (!has(plan_.seats, seat)) continue;
        v2::Wager& wager = *open.add_wagers();
        wager.set_seat(seat);
        if (terms_.requirePlayerCard) wager.set_player_card(terms_.id + "-" + std::to_string(seat));
    }
    wantsDuplicate_ = plan_.duplicate;
    if (!send(opening_, now)) return false;
    ++round_;
    hasPlan_ = false;
    step_ = Step::Opened;
    if (plan_.isForced) ++floor_.injected.forcedJackpots;
    if (settings.roundsPerMinute) {
        const auto interval = static_cast<std::int64_t>(60e9 / *settings.roundsPerMinute);
        // Spread the tables' first rounds over the interval.
        if (nextRoundNs_ == 0)
            nextRoundNs_ = now.ns + static_cast<std::int64_t>(planTable_.salt %
                                                              static_cast<std::uint64_t>(interval));
        else
            nextRoundNs_ = std::max(nextRoundNs_ + interval, now.ns);
    }
    if (plan_.disconnect) {
        ++floor_.injected.disconnects;
        wantsDrop_ = true;
    }
    return true;
}

bool FloorTable::report(const Now& now)
{
    v2::ReportResult& result = *result_.mutable_report_result();
    result.Clear();
    result.set_round(round_);
    const std::size_t boardCards = planTable_.game == Game::BlazingSevens ? 1 : 3;
    for (std::size_t i = 0; i < boardCards; ++i) result.add_board(textOf(plan_.dealt.board[i]));
    bool hasWon = false;
    for (int seat = 1; seat <= terms_.seats; ++seat) {
        if (!has(plan_.seats, seat)) continue;
        v2::Hand& hand = *result.add_hands();
        hand.set_seat(seat);
        for (const Card card : plan_.dealt.hands[static_cast<std::size_t>(seat)])
            hand.add_cards(textOf(card));
        hasWon = hasWon || isJackpot(plan_.dealt.tiers[static_cast<std::size_t>(seat)]);
    }
    if (!send(result_, now)) return false;
    step_ = hasWon                                        ? Step::Won
            : plan_.voids == RoundPlan::Void::AfterResult ? Step::ToVoid
                                                          : Step::Idle;
    if (plan_.resend && link_ == Link::Open) {
        ++floor_.injected.resends;
        wantsReadPause_ = true;
    }
    return true;
}

bool FloorTable::confirm(const Now& now)
{
    const std::uint32_t pool = terms_.pool;
    const Books& books = floor_.books;
    // Simultaneous presses are held for a ruling, and nobody gives one here.
    if (!floor_.settings.simultaneous && books.pools()[pool].terms().windowMs > 0 &&
        books.isWaiting(pool) && !books.isHeld(pool))
        return false;
    command_.Clear();
    command_.mutable_confirm_jackpot()->set_round(round_);
    if (!send(command_, now)) return false;
    step_ = Step::Idle;
    return true;
}

bool FloorTable::voidRound(const Now& now, const char* reason)
{
    command_.Clear();
    v2::VoidRound& round = *command_.mutable_void_round();
    round.set_round(round_);
    round.set_reason(reason);
    round.set_by("floorsim");
    if (!send(command_, now)) return false;
    if (floor_.books.hasBegun()) ++floor_.injected.voids;
    step_ = Step::Idle;
    return true;
}

bool FloorTable::voidWager(const Now& now)
{
    command_.Clear();
    v2::VoidWager& wager = *command_.mutable_void_wager();
    wager.set_round(round_);
    wager.set_seat(plan_.voidSeat);
    wager.set_reason("no base wager");
    wager.set_by("floorsim");
    if (!send(command_, now)) return false;
    ++floor_.injected.voids;
    plan_.seats = static_cast<SeatSet>(plan_.seats & ~bitOf(plan_.voidSeat));
    step_ = Step::WagerVoided;
    return true;
}

// Reports a wrong count of wagers, expects to be suspended, and resumes.
void FloorTable::playWrongCount(const Now& now)
{
    const bool isAllDecided = floor_.books.undecided(index_) == 0;
    switch (wrongCount_) {
        case WrongCount::None: {
            if (link_ != Link::Open || !isAllDecided) return;
            v2::ToDaemon message;
            message.mutable_heartbeat()->set_clock_ms(now.clock.wallMs);
            message.mutable_heartbeat()->set_wagers(session_.outbox().memory().wagers + 1);
            message.mutable_heartbeat()->set_as_of(session_.outbox().memory().counted);
            flush(now);
            linkproto::appendFrame(out_, message);
            ++floor_.injected.wrongCounts;
            wrongCount_ = WrongCount::Reported;
            wrongCountDeadlineMs_ = now.clock.bootMs + floor_.settings.timeoutS * 1000;
            return;
        }
        case WrongCount::Reported:
            if (session_.isSuspended()) {
                command_.Clear();
                command_.mutable_resume()->set_reason("wagers counted again");
                command_.mutable_resume()->set_by("floorsim");
                if (send(command_, now)) wrongCount_ = WrongCount::Resuming;
            } else if (now.clock.bootMs >= wrongCountDeadlineMs_) {
                floor_.books.addMistake("table " + terms_.id +
                                        ": reported a wrong count of wagers and was not suspended");
                hasPlayedWrongCount_ = true;
                wrongCount_ = WrongCount::None;
            }
            return;
        case WrongCount::Resuming:
            if (!isAllDecided || !session_.isOnline()) return;
            session_.query(now.clock);
            wrongCount_ = WrongCount::Querying;
            return;
        case WrongCount::Querying:
            if (session_.isSuspended()) return;
            hasPlayedWrongCount_ = true;
            wrongCount_ = WrongCount::None;
            return;
    }
}

}  // namespace jackpot::floorsim
