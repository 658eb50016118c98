// A load generator for the link: many tables on one thread over real TLS, without an outbox, so
// that it measures the daemon and not the tables' disks.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/daemon.h"
#include "link.pb.h"
#include "linkproto/frame.h"
#include "net/tls.h"

namespace jackpot::bench {

namespace v1 = link::v1;
using Progress = net::TlsStream::Progress;

// One table: connects, sends Hello, and opens rounds of three wagers, `inFlight` at a time.
class LoadTable {
public:
    LoadTable(const std::string& pki, const std::string& id, std::uint16_t port)
        : tls_{makeTls(pki, id)}, stream_{tls_, connectTo(port), "127.0.0.1"}
    {
        v1::ToDaemon hello;
        hello.mutable_hello()->set_version(1);
        hello.mutable_hello()->set_software("bench");
        linkproto::appendFrame(out_, hello);
        command_.mutable_command()->mutable_open_round();
        for (int seat = 1; seat <= 3; ++seat)
            command_.mutable_command()->mutable_open_round()->add_wagers()->set_seat(seat);
    }

    [[nodiscard]] int socket() const { return stream_.socket(); }
    [[nodiscard]] bool isWelcome() const { return welcome_; }
    [[nodiscard]] std::uint64_t decided() const { return decided_; }
    [[nodiscard]] std::int64_t displayedCents() const { return displayedCents_; }
    [[nodiscard]] std::size_t inFlight() const { return sentAt_.size() - sentFirst_; }
    // The round-trip times since the last call, in seconds.
    std::vector<double> takeLatencies() { return std::exchange(latencies_, {}); }

    void sendRounds(std::size_t count)
    {
        for (std::size_t i = 0; i < count; ++i) {
            v1::Command& command = *command_.mutable_command();
            command.set_number(++number_);
            command.set_clock_ms(1'700'000'000'000 + static_cast<std::int64_t>(number_));
            command.mutable_open_round()->set_round(++round_);
            linkproto::appendFrame(out_, command_);
            sentAt_.push_back(Clock::now());
        }
    }

    // Advances as far as possible; true if it waits until the socket can be written.
    bool progress(bool refill, std::size_t inFlightWanted)
    {
        if (!shaken_) {
            const Progress how = stream_.handshake();
            if (how == Progress::Failed || how == Progress::Closed) fail(stream_.error());
            if (how == Progress::WantsWrite) return true;
            if (how == Progress::WantsRead) return false;
            shaken_ = true;
        }
        const Progress read = stream_.read(frames_.buffer(), 64U << 10U);
        if (read == Progress::Failed || read == Progress::Closed)
            fail("the daemon hung up: " + stream_.error());
        while (const auto frame = frames_.next()) take(*frame);
        if (welcome_ && refill && inFlight() < inFlightWanted)
            sendRounds(inFlightWanted - inFlight());
        return flush();
    }

    bool flush()
    {
        if (!shaken_ || out_.empty()) return false;
        std::string_view rest = out_;
        const Progress how = stream_.write(rest);
        out_.erase(0, out_.size() - rest.size());
        return how == Progress::WantsWrite;
    }

    void beat()
    {
        v1::ToDaemon beat;
        beat.mutable_heartbeat()->set_as_of(0);
        linkproto::appendFrame(out_, beat);
    }

private:
    static net::TlsContext makeTls(const std::string& pki, const std::string& id)
    {
        auto tls = net::TlsContext::make(
            net::TlsContext::Role::MutualClient,
            {pki + "/table/" + id + ".pem", pki + "/table/" + id + ".key", pki + "/ca.pem", {}});
        if (!tls) fail(tls.error().message);
        return *tls;
    }
    static int connectTo(std::uint16_t port)
    {
        const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
            fail("cannot connect to the daemon");
        const int on = 1;
        ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        ::fcntl(socket, F_SETFL, O_NONBLOCK);
        return socket;
    }
    void take(std::string_view frame)
    {
        if (!message_.ParseFromArray(frame.data(), static_cast<int>(frame.size())))
            fail("the daemon sent no message");
        if (message_.has_welcome()) {
            welcome_ = true;
            number_ = message_.welcome().last_number();
            round_ = message_.welcome().state().round();
        }
        if (message_.has_rejected()) fail("rejected: " + message_.rejected().detail());
        if (message_.has_goodbye()) fail("goodbye: " + message_.goodbye().detail());
        if (!message_.has_decisions()) return;
        const auto now = Clock::now();
        for (const v1::Decision& decision : message_.decisions().decisions()) {
            if (decision.has_refusal()) fail("refused: " + decision.refusal().detail());
            latencies_.push_back(
                std::chrono::duration<double>(now - sentAt_[sentFirst_++]).count());
            ++decided_;
            displayedCents_ = decision.displayed_cents();
        }
        if (sentFirst_ > 4096) {
            sentAt_.erase(sentAt_.begin(),
                          sentAt_.begin() + static_cast<std::ptrdiff_t>(sentFirst_));
            sentFirst_ = 0;
        }
    }

    net::TlsContext tls_;
    net::TlsStream stream_;
    linkproto::FrameReader frames_;
    std::string out_;
    bool shaken_ = false;
    bool welcome_ = false;
    std::uint64_t number_ = 0;
    std::int64_t round_ = 0;
    std::uint64_t decided_ = 0;
    std::int64_t displayedCents_ = 0;
    std::vector<Clock::time_point> sentAt_;
    std::size_t sentFirst_ = 0;
    std::vector<double> latencies_;
    v1::ToDaemon command_;
    v1::ToTable message_;
};

// All tables on one epoll.
class Load {
public:
    Load(const std::string& pki, const std::vector<std::string>& ids, std::uint16_t port)
        : epoll_{::epoll_create1(EPOLL_CLOEXEC)}
    {
        for (const std::string& id : ids) {
            tables_.push_back(std::make_unique<LoadTable>(pki, id, port));
            epoll_event event{};
            event.events = EPOLLIN;
            event.data.u64 = tables_.size() - 1;
            ::epoll_ctl(epoll_, EPOLL_CTL_ADD, tables_.back()->socket(), &event);
            (void)tables_.back()->progress(false, 0);
            if (tables_.size() % 50 == 0) turn(0, false, 0, 0);
        }
        const auto deadline = Clock::now() + std::chrono::seconds{60};
        while (!std::ranges::all_of(tables_, [](const auto& each) { return each->isWelcome(); })) {
            turn(100, false, 0, 0);
            if (Clock::now() > deadline) fail("not all tables were welcomed");
        }
    }
    Load(const Load&) = delete;
    Load& operator=(const Load&) = delete;
    ~Load() { ::close(epoll_); }

    LoadTable& table(std::size_t index) { return *tables_.at(index); }

    struct Result {
        double perSecond = 0;
        std::vector<double> latencies;  // sorted
        [[nodiscard]] double at(double share) const
        {
            return latencies.at(
                static_cast<std::size_t>(share * static_cast<double>(latencies.size() - 1)));
        }
    };

    // The first `active` tables keep `inFlight` commands in flight for `seconds`.
    Result run(double seconds, std::size_t active, std::size_t inFlight)
    {
        const std::uint64_t before = decided();
        const auto start = Clock::now();
        const auto end = start + std::chrono::duration<double>(seconds);
        for (std::size_t i = 0; i < active; ++i) (void)tables_[i]->progress(true, inFlight);
        while (Clock::now() < end) turn(10, true, active, inFlight);
        const double took = std::chrono::duration<double>(Clock::now() - start).count();
        return {static_cast<double>(decided() - before) / took, drain()};
    }

    // Sends this many commands per second over the first `active` tables, at fixed times, without
    // waiting for replies.
    Result runAt(double perSecond, double seconds, std::size_t active)
    {
        const std::uint64_t before = decided();
        const auto start = Clock::now();
        std::int64_t sent = 0;
        std::size_t next = 0;
        double took = 0;
        while ((took = std::chrono::duration<double>(Clock::now() - start).count()) < seconds) {
            for (; sent < static_cast<std::int64_t>(took * perSecond); ++sent) {
                LoadTable& table = *tables_[next++ % active];
                if (table.inFlight() < 30) table.sendRounds(1);
            }
            for (std::size_t i = 0; i < active; ++i) (void)tables_[i]->flush();
            turn(0, false, 0, 0);
            // Sends the commands of half a millisecond at a time, so that the daemon gets a core
            // for itself.
            ::usleep(300);
        }
        return {static_cast<double>(decided() - before) / took, drain()};
    }

    void idle(double seconds)
    {
        const auto end = Clock::now() + std::chrono::duration<double>(seconds);
        while (Clock::now() < end) turn(50, false, 0, 0);
    }

    // One round trip of the first table, in seconds.
    double roundTrip()
    {
        LoadTable& table = *tables_[0];
        (void)table.takeLatencies();
        const std::uint64_t before = table.decided();
        table.sendRounds(1);
        (void)table.flush();
        while (table.decided() == before) turn(1000, false, 0, 0);
        return table.takeLatencies().back();
    }

private:
    std::uint64_t decided() const
    {
        std::uint64_t sum = 0;
        for (const auto& each : tables_) sum += each->decided();
        return sum;
    }
    std::vector<double> drain()
    {
        while (std::ranges::any_of(tables_, [](const auto& each) { return each->inFlight() > 0; }))
            turn(100, false, 0, 0);
        std::vector<double> all;
        for (const auto& each : tables_) {
            const auto part = each->takeLatencies();
            all.insert(all.end(), part.begin(), part.end());
        }
        std::ranges::sort(all);
        return all;
    }
    void turn(int waitMs, bool refill, std::size_t active, std::size_t inFlight)
    {
        std::array<epoll_event, 256> events{};
        const int count =
            ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), waitMs);
        for (int i = 0; i < count; ++i) {
            const std::size_t index = events.at(static_cast<std::size_t>(i)).data.u64;
            const bool wantsWrite = tables_[index]->progress(refill && index < active, inFlight);
            if (wantsWrite == wantsWrite_[index]) continue;
            wantsWrite_[index] = wantsWrite;
            epoll_event event{};
            event.events = EPOLLIN;
            if (wantsWrite) event.events |= EPOLLOUT;
            event.data.u64 = index;
            ::epoll_ctl(epoll_, EPOLL_CTL_MOD, tables_[index]->socket(), &event);
        }
        const auto now = Clock::now();
        if (now - beat_ < std::chrono::seconds{1}) return;
        beat_ = now;
        for (const auto& each : tables_)
            if (each->isWelcome()) {
                each->beat();
                (void)each->flush();
            }
    }

    int epoll_;
    std::vector<std::unique_ptr<LoadTable>> tables_;
    std::vector<bool> wantsWrite_ = std::vector<bool>(10'000);
    Clock::time_point beat_ = Clock::now();
};

}  // namespace jackpot::bench
