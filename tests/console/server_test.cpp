// The server over real sockets with a client of its own, so that the sanitizers see all of it.
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <thread>

#include "console/people/authorization.h"
#include "console/people/people_api.h"
#include "net/http_server.h"
#include "tests/console/console_fixture.h"
#include "tests/support/authority.h"

namespace jackpot::console {
namespace {

using testing::ConsoleFixture;

class Desk {
public:
    explicit Desk(ConsoleFixture& house, net::HttpServerSettings settings = {},
                  std::vector<Route> more = {})
        : authority_{house.directory(), "ca"}
    {
        ::signal(SIGPIPE, SIG_IGN);
        const auto files = authority_.daemon();
        settings.tls = {files.certificate, files.key, {}, {}};
        auto routes = allRoutes(
            {house.controller, *house.people, *house.sessions, *house.desk, house.monitoring});
        for (Route& each : more) routes.push_back(std::move(each));
        auto listening = net::HttpServer::listen(
            settings, guardedRoutes(std::move(routes), *house.sessions), [](const std::string&) {});
        REQUIRE(listening);
        server = std::move(*listening);
    }
    std::unique_ptr<net::HttpServer> server;

private:
    Authority authority_;
};

class Client {
public:
    explicit Client(std::uint16_t port)
        : context_{SSL_CTX_new(TLS_client_method()), SSL_CTX_free}, socket_{connected(port)}
    {
        session_ = {SSL_new(context_.get()), SSL_free};
        SSL_set_fd(session_.get(), socket_);
        isOpen = SSL_connect(session_.get()) == 1;
    }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;
    ~Client()
    {
        session_.reset();
        ::close(socket_);
    }
    void send(const std::string& bytes)
    {
        SSL_write(session_.get(), bytes.data(), static_cast<int>(bytes.size()));
    }
    // Until the text has come, or the end.
    std::string receive(const std::string& until)
    {
        std::string all;
        std::array<char, 4096> piece{};
        while (all.find(until) == std::string::npos) {
            const int got = SSL_read(session_.get(), piece.data(), static_cast<int>(piece.size()));
            if (got <= 0) break;
            all.append(piece.data(), static_cast<std::size_t>(got));
        }
        return all;
    }
    bool isOpen = false;

private:
    static int connected(std::uint16_t port)
    {
        const int made = ::socket(AF_INET, SOCK_STREAM, 0);
        const timeval patience{20, 0};
        ::setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ::connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address);
        return made;
    }
    std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
    int socket_;
    std::unique_ptr<SSL, void (*)(SSL*)> session_{nullptr, SSL_free};
};

std::string get(const std::string& path, const std::string& token = "", const char* more = "")
{
    return "GET " + path + " HTTP/1.1\r\nHost: d\r\n" +
           (token.empty() ? "" : "Authorization: Bearer " + token + "\r\n") + more + "\r\n";
}

constexpr const char* kClose = "Connection: close\r\n";

TEST_CASE(
    "many threads send requests, publish and read feeds at once; the server then shuts down "
    "cleanly")
{
    ConsoleFixture house;
    house.add("ann", Role::Supervisor);
    const auto ann =
        house.people->signIn({"ann", ConsoleFixture::passwordOf("ann")}, "", "127.0.0.1");
    REQUIRE(ann);
    Desk desk{house};
    const std::uint16_t port = desk.server->port();
    std::atomic<int> answered{0};
    std::atomic<int> told{0};
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int j = 0; j < 5; ++j) {
                Client client{port};
                for (int k = 0; k < 5; ++k) {
                    client.send(get("/api/v1/session", ann->session.token));
                    if (client.receive("expires_in_s").find(" 200 OK") != std::string::npos)
                        ++answered;
                }
            }
        });
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            Client client{port};
            client.send(get("/api/v1/feed", ann->session.token));
            if (client.receive("\"last\"").find("event: news") != std::string::npos) ++told;
        });
    threads.emplace_back([&] {
        while (desk.server->counters().feeds < 4) std::this_thread::yield();
        for (int i = 0; i < 50; ++i) desk.server->publish("news", R"({"number":1})");
        desk.server->publish("news", R"("last")");
    });
    threads.clear();
    CHECK(answered == 100);
    CHECK(told == 4);
    Client open{port};
    open.send(get("/api/v1/feed", ann->session.token));
    open.receive("welcome");
    desk.server.reset();
    CHECK(open.receive("never").empty());
}

TEST_CASE("a client that does not read its feed loses the oldest events and gets their number")
{
    ConsoleFixture house;
    house.add("ann", Role::Supervisor);
    const auto ann =
        house.people->signIn({"ann", ConsoleFixture::passwordOf("ann")}, "", "127.0.0.1");
    Desk desk{house};
    Client slow{desk.server->port()};
    slow.send(get("/api/v1/feed", ann->session.token));
    slow.receive("welcome");
    const std::string large(16'000, 'x');
    for (int i = 0; i < 4000; ++i) {
        desk.server->publish("news", "\"" + std::to_string(i) + large + "\"");
        if (i % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    const std::string all = slow.receive("\"3999x");
    CHECK(all.find("event: lost\ndata: {\"count\":") != std::string::npos);
    CHECK(all.find("\"3999x") != std::string::npos);
}

TEST_CASE("a sign receives only its own pool, and half of the feeds are reserved for people")
{
    ConsoleFixture house;
    house.controller.poolReading = [](const std::string& pool) -> std::optional<std::string> {
        if (pool == "B7" || pool == "UTH") return R"({"pool":")" + pool + R"("})";
        return std::nullopt;
    };
    house.add("ann", Role::Supervisor);
    const auto ann =
        house.people->signIn({"ann", ConsoleFixture::passwordOf("ann")}, "", "127.0.0.1");
    net::HttpServerSettings settings;
    settings.limits.maxFeeds = 4;
    settings.heartbeatMs = 300;
    Desk desk{house, settings};
    Client sign{desk.server->port()};
    sign.send(get("/api/v1/signs/B7/feed"));
    sign.receive("welcome");
    Client person{desk.server->port()};
    person.send(get("/api/v1/feed", ann->session.token));
    person.receive("welcome");
    desk.server->publish("pool", R"("of the other")", signTopic("UTH"));
    desk.server->publish("news", R"("of none")");
    desk.server->publish("pool", R"("its own")", signTopic("B7"));
    const std::string heard = sign.receive("its own");
    CHECK(heard.find("of the other") == std::string::npos);
    CHECK(heard.find("of none") == std::string::npos);
    const std::string all = person.receive("its own");
    CHECK(all.find("of the other") != std::string::npos);
    CHECK(all.find("of none") != std::string::npos);
    CHECK(sign.receive("event: alive").find("event: alive") != std::string::npos);

    Client second{desk.server->port()};
    second.send(get("/api/v1/signs/UTH/feed"));
    second.receive("welcome");
    Client third{desk.server->port()};
    third.send(get("/api/v1/signs/UTH/feed", "", kClose));
    CHECK(third.receive("never").find("too_many_feeds") != std::string::npos);
    Client another{desk.server->port()};
    another.send(get("/api/v1/feed", ann->session.token));
    CHECK(another.receive("welcome").find("welcome") != std::string::npos);

    Client unknown{desk.server->port()};
    unknown.send(get("/api/v1/signs/nowhere/feed", "", kClose));
    CHECK(unknown.receive("never").find("unknown_pool") != std::string::npos);
}

TEST_CASE("pages may only run their own files, which browsers may cache")
{
    ConsoleFixture house;
    Desk desk{house};
    const auto answered = [&](const std::string& path) {
        Client client{desk.server->port()};
        client.send(get(path, "", kClose));
        return client.receive("never");
    };
    for (const char* path : {"/", "/sign/B7", "/table/BJ01"}) {
        const std::string page = answered(path);
        CHECK(page.find("HTTP/1.1 200 ") == 0);
        CHECK(page.find("script-src 'self';") != std::string::npos);
        CHECK(page.find("unsafe") == std::string::npos);
        const std::size_t script = page.find("/assets/", page.find("<script"));
        REQUIRE(script != std::string::npos);
        const std::string asset = answered(page.substr(script, page.find('"', script) - script));
        CHECK(asset.find("HTTP/1.1 200 ") == 0);
        CHECK(asset.find("immutable") != std::string::npos);
    }
    CHECK(answered("/assets/console.html").find("HTTP/1.1 404 ") == 0);
    CHECK(answered("/assets/..%2Fserver.cpp").find("HTTP/1.1 404 ") == 0);
}

TEST_CASE("a handler that throws gives status 500, and the end of its session closes a feed")
{
    ConsoleFixture house;
    house.add("ann", Role::Supervisor);
    const auto ann =
        house.people->signIn({"ann", ConsoleFixture::passwordOf("ann")}, "", "127.0.0.1");
    Desk desk{house,
              {},
              {{"GET", "/throws", Access::Anyone, {}, Owner::Allowed, [](const Request&) -> Reply {
                    throw std::runtime_error{"on purpose"};
                }}}};
    Client client{desk.server->port()};
    client.send(get("/throws", "", kClose));
    CHECK(client.receive("never").find("HTTP/1.1 500 ") == 0);
    Client feed{desk.server->port()};
    feed.send(get("/api/v1/feed", ann->session.token));
    feed.receive("welcome");
    house.sessions->endAllOfPerson("ann");
    CHECK(feed.receive("never").empty());
}

TEST_CASE("slow connections are closed, and connections above the limit are rejected")
{
    ConsoleFixture house;
    net::HttpServerSettings settings;
    settings.limits.requestTimeoutMs = 300;
    settings.limits.maxConnections = 3;
    settings.limits.maxConnectionsPerAddress = 2;
    Desk desk{house, settings};
    Client slow{desk.server->port()};
    slow.send("GET / HT");
    CHECK(slow.receive("never").find("HTTP/1.1 408 ") == 0);
    Client first{desk.server->port()};
    Client second{desk.server->port()};
    Client third{desk.server->port()};
    CHECK(first.isOpen);
    CHECK(!third.isOpen);
    CHECK(desk.server->counters().rejected >= 1);
    desk.server->setLimits({});
    Client fourth{desk.server->port()};
    CHECK(fourth.isOpen);
    fourth.send(get("/healthz", "", kClose));
    CHECK(fourth.receive("never").find("HTTP/1.1 200 ") == 0);
}

}  // namespace
}  // namespace jackpot::console
