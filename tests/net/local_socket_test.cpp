// The HTTP server and the client on a Unix socket, without HTTPS.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>

#include "net/http_server.h"
#include "net/https_client.h"
#include "net/socket.h"
#include "tests/support/scratch.h"

namespace jackpot::net {
namespace {

struct LocalServer {
    LocalServer()
    {
        ::signal(SIGPIPE, SIG_IGN);
        HttpServerSettings settings;
        settings.host.clear();
        settings.localSocket = path;
        settings.notFound = "not here";
        const auto authorize = [](const RequestHead&,
                                  const Client& client) -> Result<Authorized, Reply> {
            if (!client.localUser) return errorReply(403, "remote", "");
            const std::string user = std::to_string(*client.localUser);
            return Authorized{[user, address = client.address](const Request& request) {
                return Reply{200, user + " " + address + " " + request.body, "text/plain"};
            }};
        };
        auto listening = HttpServer::listen(
            std::move(settings), {{"GET", "/user", authorize}, {"POST", "/user", authorize}},
            [](const std::string&) {});
        REQUIRE(listening);
        server = std::move(*listening);
    }
    [[nodiscard]] Result<HttpsReply> send(const HttpsRequest& request) const
    {
        return HttpsClient{{.localSocket = path}}.send(request);
    }

    ScratchDirectory scratch;
    std::filesystem::path path = scratch.path() / "s.sock";
    std::unique_ptr<HttpServer> server;
};

TEST_CASE("a request on the local socket has the user of the process")
{
    LocalServer local;
    const auto reply = local.send({.path = "/user"});
    REQUIRE(reply);
    CHECK(reply->body == std::to_string(::geteuid()) + " local ");
    const auto posted = local.send({.method = "POST",
                                    .path = "/user",
                                    .body = "[1]",
                                    .headers = {{"Content-Type", "application/json"}}});
    REQUIRE(posted);
    CHECK(posted->body.ends_with(" local [1]"));
    const auto missing = local.send({.path = "/other"});
    REQUIRE(missing);
    CHECK(missing->status == 404);
    CHECK(missing->body.find("not here") != std::string::npos);
    CHECK(local.server->counters().requests == 0);  // of HTTPS
}

TEST_CASE("the file is the owner's alone, replaces what was left, and is removed at the end")
{
    LocalServer local;
    struct stat status {};
    REQUIRE(::stat(local.path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0600U);
    local.server.reset();
    CHECK_FALSE(std::filesystem::exists(local.path));
    const auto gone = local.send({.path = "/user"});
    REQUIRE_FALSE(gone);
    CHECK(gone.error().message.find("is the daemon running?") != std::string::npos);

    const auto first = listenOnPath(local.path);
    REQUIRE(first);
    ::close(*first);  // as after a kill: the file stays
    CHECK(std::filesystem::exists(local.path));
    CHECK(local.send({.path = "/user"}).error().message.find("is the daemon running?") !=
          std::string::npos);
    const auto second = listenOnPath(local.path);
    REQUIRE(second);
    ::close(*second);
    const auto tooLong = listenOnPath(local.path.parent_path() / std::string(120, 'x'));
    REQUIRE_FALSE(tooLong);
    CHECK(tooLong.error().message.find("too long a path") != std::string::npos);
}

}  // namespace
}  // namespace jackpot::net
