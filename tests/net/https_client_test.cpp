// The HTTPS client against servers that are slow, silent, too talkative or not to be trusted.
#include "net/https_client.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <thread>

#include "net/socket.h"
#include "net/tls.h"
#include "tests/support/authority.h"
#include "tests/support/scratch.h"

namespace jackpot::net {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Accepts connections one after the other and hands each socket to `serve`, which may block.
class Server {
public:
    explicit Server(std::function<void(int socket, const std::stop_token&)> serve)
        : listener_{listenOn("127.0.0.1", 0).value()},
          thread_{[this, serve = std::move(serve)](const std::stop_token& stop) {
              while (!stop.stop_requested()) {
                  pollfd waiting{listener_, POLLIN, 0};
                  if (::poll(&waiting, 1, 20) <= 0) continue;
                  const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK);
                  serve(socket, stop);
              }
          }}
    {
        ::signal(SIGPIPE, SIG_IGN);
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server()
    {
        thread_.request_stop();
        thread_.join();
        ::close(listener_);
    }
    [[nodiscard]] std::string url(const std::string& host = "127.0.0.1") const
    {
        return "https://" + host + ":" + std::to_string(portOf(listener_));
    }

private:
    int listener_;
    std::jthread thread_;
};

struct Fixture {
    ScratchDirectory scratch;
    Authority authority{scratch.path(), "own"};
    TlsFiles files = authority.daemon();
    TlsContext context =
        TlsContext::make(TlsContext::Role::WebServer, {files.certificate, files.key, {}, {}})
            .value();

    // Over TLS: the reply `text`, then one byte every 20 ms until the client closes.
    auto replying(std::string text, bool drips = false)
    {
        return [this, text = std::move(text), drips](int socket, const std::stop_token& stop) {
            TlsStream stream{context, socket};
            const auto finish = [&](auto&& step) {
                while (!stop.stop_requested()) {
                    const auto progress = step();
                    if (progress == TlsStream::Progress::Done) return true;
                    if (TlsStream::isOver(progress)) return false;
                    pollfd waiting{socket, POLLIN, 0};
                    ::poll(&waiting, 1, 20);
                }
                return false;
            };
            std::string request;
            if (!finish([&] { return stream.handshake(); })) return;
            while (request.find("\r\n\r\n") == std::string::npos)
                if (!finish([&] { return stream.read(request, 4096); })) return;
            std::string_view rest = text;
            if (!finish([&] { return stream.write(rest); })) return;
            for (bool isOpen = drips; isOpen;) {
                std::this_thread::sleep_for(20ms);
                std::string_view drop = "x";
                isOpen = finish([&] { return stream.write(drop); });
            }
            stream.close();
        };
    }
    [[nodiscard]] HttpsClientSettings settings(const Server& server) const
    {
        return {.url = server.url(), .ca = files.ca, .timeout = 400ms};
    }
};

template <class Send>
void checkEndsInTime(Send&& send, const std::string& message)
{
    const auto began = Clock::now();
    const Result<HttpsReply> reply = send();
    REQUIRE_FALSE(reply);
    CHECK(reply.error().message == message);
    CHECK(Clock::now() - began < 5s);
}

}  // namespace

TEST_CASE("a server that drips bytes cannot extend the deadline, in the handshake or the reply")
{
    Fixture fixture;
    const Server handshake{[](int socket, const std::stop_token& stop) {
        std::string_view record = "\x16\x03\x03\x3F\xFF";  // a handshake record of 16 KiB
        while (!stop.stop_requested() && ::send(socket, record.data(), 1, MSG_NOSIGNAL) == 1) {
            if (record.size() > 1) record.remove_prefix(1);
            std::this_thread::sleep_for(20ms);
        }
        ::close(socket);
    }};
    const HttpsClient first{fixture.settings(handshake)};
    checkEndsInTime([&] { return first.send({.path = "/"}); }, "no answer in time");

    const Server head{fixture.replying("HTTP/1.1 200 OK\r\nX-Long: ", true)};
    const HttpsClient second{fixture.settings(head)};
    checkEndsInTime([&] { return second.send({.path = "/"}); }, "no answer in time");

    const Server body{fixture.replying("HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n", true)};
    const HttpsClient third{fixture.settings(body)};
    checkEndsInTime([&] { return third.send({.path = "/"}); }, "no answer in time");
}

TEST_CASE("a stop request ends a request that waits for a silent server")
{
    Fixture fixture;
    const Server silent{[](int socket, const std::stop_token& stop) {
        while (!stop.stop_requested()) std::this_thread::sleep_for(20ms);
        ::close(socket);
    }};
    auto settings = fixture.settings(silent);
    settings.timeout = 60s;
    const HttpsClient client{settings};
    std::stop_source source;
    const std::jthread stopper{[&] {
        std::this_thread::sleep_for(200ms);
        source.request_stop();
    }};
    checkEndsInTime([&] { return client.send({.path = "/"}, source.get_token()); }, "stopped");
}

TEST_CASE("a reply is complete and within the limit, or an error")
{
    Fixture fixture;
    const Server good{
        fixture.replying("HTTP/1.1 409 Conflict\r\nX-Seen: 7\r\n"
                         "Content-Length: 2\r\n\r\n7\n")};
    auto settings = fixture.settings(good);
    settings.timeout = 10s;
    const auto reply = HttpsClient{settings}.send({.method = "POST", .path = "/", .body = "b"});
    REQUIRE(reply);
    CHECK(reply->status == 409);
    CHECK(reply->body == "7\n");
    CHECK(reply->headers.at("x-seen") == "7");
    settings.maxReplyBytes = 1;
    CHECK_FALSE(HttpsClient{settings}.send({.path = "/"}));

    const Server cut{fixture.replying("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")};
    settings = fixture.settings(cut);
    settings.timeout = 10s;
    checkEndsInTime([&] { return HttpsClient{settings}.send({.path = "/"}); },
                    "the connection was closed within the reply");
}

TEST_CASE("a server needs a certificate for its host, by the configured authority")
{
    Fixture fixture;
    const Server server{fixture.replying("HTTP/1.1 204 No Content\r\n\r\n")};
    auto settings = fixture.settings(server);
    settings.timeout = 10s;
    CHECK(HttpsClient{settings}.send({.path = "/"}));
    settings.url = server.url("localhost");
    CHECK(HttpsClient{settings}.send({.path = "/"}));
    settings.url = server.url("127.0.0.2");
    CHECK_FALSE(HttpsClient{settings}.send({.path = "/"}));
    settings.url = server.url();
    settings.ca = Authority{fixture.scratch.path(), "other"}.ca();
    CHECK_FALSE(HttpsClient{settings}.send({.path = "/"}));
    settings.ca = fixture.scratch.path() / "missing.crt";
    CHECK_FALSE(HttpsClient{settings}.send({.path = "/"}));
    for (const char* url : {"https://", "http://127.0.0.1", "https://127.0.0.1:1"})
        CHECK_FALSE(HttpsClient{{.url = url, .ca = fixture.files.ca}}.send({.path = "/"}));
}

}  // namespace jackpot::net
