// A FakeDaemonLogic behind real TLS, in a thread of its own.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "linkproto/frame.h"
#include "net/tls.h"
#include "tests/linkproto/fake_daemon_logic.h"

namespace jackpot::linkproto {

class FakeDaemon {
public:
    explicit FakeDaemon(const net::TlsFiles& files);
    FakeDaemon(const FakeDaemon&) = delete;
    FakeDaemon& operator=(const FakeDaemon&) = delete;
    ~FakeDaemon();

    [[nodiscard]] std::uint16_t port() const { return port_; }

    // Everything below may be called from any thread.
    template <class Use>
    auto withLogic(Use use)
    {
        const std::scoped_lock lock{mutex_};
        return use(logic_);
    }
    void push(const link::v2::ToTable& message);  // to every connection
    void dropAll();                               // closes without a Goodbye
    void refuse(bool isRefusing);                 // new connections are closed at once
    void beSilent(bool isSilent);                 // reads and sends nothing
    void loseAnswers(int count);                  // decides, and drops the connection instead
    [[nodiscard]] int connections() const;        // completed handshakes since the start
    [[nodiscard]] std::string fault() const;      // faults that a correct table never causes

private:
    struct Connection {
        net::TlsStream stream;
        FrameReader reader{};
        std::string output{};
        bool isUp = false;
        bool isOver = false;
    };
    void run(const std::stop_token& stop);
    void accept();
    void serve(Connection& connection);
    void answer(Connection& connection, std::string_view frame);
    void send(Connection& connection, const link::v2::ToTable& message);

    net::TlsContext tls_;
    int listener_ = -1;
    std::uint16_t port_ = 0;

    mutable std::mutex mutex_;  // what follows
    FakeDaemonLogic logic_;
    std::list<Connection> connections_;
    bool isRefusing_ = false;
    bool isSilent_ = false;
    int losing_ = 0;
    int shaken_ = 0;
    std::string fault_;

    std::jthread thread_;
};

}  // namespace jackpot::linkproto
