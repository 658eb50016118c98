// Sends checkpoints to witnesses; a slow witness must not delay the daemon.
#include "jackpotd/witness.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <mutex>

#include "net/http_server.h"
#include "net/https_client.h"
#include "net/socket.h"
#include "storage/journal.h"
#include "tests/support/authority.h"
#include "tests/support/eventually.h"
#include "tests/support/scratch.h"

namespace jackpot {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// A journal, an authority, and an HTTPS server that keeps what it is sent.
struct WitnessFixture {
    ScratchDirectory scratch;
    Authority authority{scratch.path(), "house"};
    net::TlsFiles tls = authority.daemon();
    Log log{config::LogLevel::Error};
    storage::Journal journal =
        storage::Journal::create(
            {scratch / "journal", 50'000, {}},
            storage::Signer::make("test", storage::PrivateKey::generate()).value(), 1)
            .value();
    ChangeSignal commits;
    std::mutex mutex;
    std::vector<std::string> bodies;
    std::vector<std::string> alarms;
    std::atomic<int> status{200};
    std::unique_ptr<net::HttpServer> server;

    WitnessFixture()
    {
        ::signal(SIGPIPE, SIG_IGN);
        net::HttpServerSettings settings;
        settings.tls = {tls.certificate, tls.key, {}, {}};
        settings.bodyType = "";
        const auto handle = [this](const net::Request& request) {
            const std::scoped_lock lock{mutex};
            bodies.push_back(request.body);
            net::Reply reply;
            reply.status = status;
            reply.body = "7\n";
            return reply;
        };
        server = net::HttpServer::listen(settings,
                                         {net::publicRoute("POST", "/w/add-checkpoint", handle)},
                                         [](const std::string&) {})
                     .value();
    }

    [[nodiscard]] std::string url() const
    {
        return "https://localhost:" + std::to_string(server->port()) + "/w/";
    }
    void grow()
    {
        journal.heartbeat(1);
        REQUIRE(journal.commit());
        commits.notify();
    }
    std::size_t told()
    {
        const std::scoped_lock lock{mutex};
        return bodies.size();
    }
    std::string lastBody()
    {
        const std::scoped_lock lock{mutex};
        return bodies.empty() ? "" : bodies.back();
    }
    std::size_t alarmed()
    {
        const std::scoped_lock lock{mutex};
        return alarms.size();
    }
    Witness::Raise raise()
    {
        return [this](const std::string& code, const std::string& detail) {
            const std::scoped_lock lock{mutex};
            alarms.push_back(code + ": " + detail);
        };
    }
};

}  // namespace

TEST_CASE("a file and an HTTPS witness get each checkpoint that exists at their time")
{
    WitnessFixture house;
    const auto file = house.scratch / "lines";
    const Witness witness{
        {.file = file, .syslog = false, .url = house.url(), .ca = house.tls.ca, .everyS = 1},
        house.tls,
        house.scratch / "journal",
        house.commits,
        house.log,
        house.raise()};
    REQUIRE(eventually([&] { return house.told() == 1; }));
    CHECK(house.lastBody().starts_with("old 0\n\ntest\n1\n"));
    house.grow();
    REQUIRE(eventually([&] { return house.told() == 2; }));
    CHECK(house.lastBody().starts_with("old 1\n"));
    CHECK(house.lastBody().ends_with(house.journal.lastReceipt().note));
    std::ifstream in{file};
    std::size_t lines = 0;
    for (std::string line; std::getline(in, line);) ++lines;
    CHECK(lines == 2);
    CHECK(house.alarmed() == 0);
}

TEST_CASE("a witness that refuses raises one alarm, and gets checkpoints again when it accepts")
{
    WitnessFixture house;
    house.status = 500;
    const Witness witness{{.file = std::nullopt,
                           .syslog = false,
                           .url = house.url(),
                           .ca = house.tls.ca,
                           .everyS = 1},
                          house.tls,
                          house.scratch / "journal",
                          house.commits,
                          house.log,
                          house.raise()};
    REQUIRE(eventually([&] { return house.told() >= 3; }));
    CHECK(house.alarmed() == 1);
    house.status = 200;
    house.grow();
    REQUIRE(eventually([&] { return house.lastBody().find("\ntest\n2\n") != std::string::npos; }));
    CHECK(house.alarmed() == 1);
}

TEST_CASE("one that takes the connection and says nothing holds up no end")
{
    WitnessFixture house;
    const int silent = net::listenOn("127.0.0.1", 0).value();
    const auto began = Clock::now();
    {
        const Witness witness{{.file = std::nullopt,
                               .syslog = false,
                               .url = "https://127.0.0.1:" + std::to_string(net::portOf(silent)),
                               .ca = house.tls.ca,
                               .everyS = 1},
                              house.tls,
                              house.scratch / "journal",
                              house.commits,
                              house.log,
                              house.raise()};
        std::this_thread::sleep_for(200ms);
    }
    CHECK(Clock::now() - began < 5s);
    // Without a stop request, the client's own deadline ends it.
    const auto post = [&](const std::string& url) {
        const net::HttpsClient client{{.url = url,
                                       .ca = house.tls.ca,
                                       .certificate = house.tls.certificate,
                                       .key = house.tls.key,
                                       .timeout = 300ms}};
        return client.send({.method = "POST", .path = "/", .body = "x"});
    };
    const auto answer = post("https://127.0.0.1:" + std::to_string(net::portOf(silent)));
    REQUIRE_FALSE(answer);
    CHECK(answer.error().message == "no answer in time");
    ::close(silent);
    CHECK_FALSE(post("https://127.0.0.1:1"));
    CHECK_FALSE(post("https://[::1]"));
    CHECK_FALSE(post("https://"));
}

}  // namespace jackpot
