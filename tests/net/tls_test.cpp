#include "net/tls.h"

#include <doctest/doctest.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>

#include "linkproto/server/table_certificate.h"
#include "tests/support/authority.h"
#include "tests/support/scratch.h"

namespace jackpot::linkproto {
namespace {

using Progress = net::TlsStream::Progress;
using Role = net::TlsContext::Role;

std::array<int, 2> connectedSockets()
{
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0);
    return ends;
}

net::TlsContext context(Role role, const net::TlsFiles& files)
{
    auto made = net::TlsContext::make(role, files);
    REQUIRE_MESSAGE(made, (made ? "" : made.error().message));
    return *std::move(made);
}

struct Meeting {
    bool daemonHeard = false;
    bool tableHeard = false;
    std::string daemonError;
    std::string tableError;
    std::string tableId;
};

// While it lives, a write to a socket whose peer is gone is an error.
class WithoutBrokenPipe {
public:
    WithoutBrokenPipe() : before_{std::signal(SIGPIPE, SIG_IGN)} {}
    WithoutBrokenPipe(const WithoutBrokenPipe&) = delete;
    WithoutBrokenPipe& operator=(const WithoutBrokenPipe&) = delete;
    ~WithoutBrokenPipe() { std::signal(SIGPIPE, before_); }

private:
    void (*before_)(int);
};

// Both do the handshake, send a word, and read: a refused table learns of it only by reading.
Meeting meet(const net::TlsContext& daemonSide, const net::TlsContext& tableSide,
             const std::string& host = "localhost")
{
    const auto ends = connectedSockets();
    net::TlsStream daemon{daemonSide, ends[0]};
    net::TlsStream table{tableSide, ends[1], host};
    Meeting meeting;
    struct Party {
        net::TlsStream& stream;
        bool& heard;
        std::string& error;
        bool isUp = false;
        bool isDown = false;
        bool hasSaid = false;
    };
    Party parties[] = {{daemon, meeting.daemonHeard, meeting.daemonError},
                       {table, meeting.tableHeard, meeting.tableError}};
    for (int turn = 0; turn < 100; ++turn) {
        for (Party& party : parties) {
            if (party.isDown) continue;
            Progress progress = Progress::Done;
            if (!party.isUp) {
                progress = party.stream.handshake();
                party.isUp = progress == Progress::Done;
            }
            if (party.isUp && !party.hasSaid) {
                std::string_view word = "word";
                progress = party.stream.write(word);
                party.hasSaid = progress == Progress::Done;
            }
            if (party.isUp && progress == Progress::Done) {
                std::string heard;
                progress = party.stream.read(heard, 100);
                party.heard = party.heard || heard == "word";
            }
            if (progress == Progress::Failed || progress == Progress::Closed) {
                party.isDown = true;
                party.error = progress == Progress::Closed ? "closed" : party.stream.error();
                ::shutdown(party.stream.socket(), SHUT_WR);
            }
        }
    }
    if (meeting.daemonHeard) {
        const auto id = tableIdOf(daemon);
        meeting.tableId = id ? *id : "(" + id.error().message + ")";
    }
    return meeting;
}

// Neither side accepts data from the other.
void checkRefused(const Meeting& meeting, std::string_view because)
{
    CAPTURE(meeting.daemonError);
    CAPTURE(meeting.tableError);
    CHECK_FALSE(meeting.daemonHeard);
    CHECK_FALSE(meeting.tableHeard);
    CHECK_FALSE(meeting.tableError.empty());
    CHECK((meeting.daemonError + meeting.tableError).find(because) != std::string::npos);
}

// A client that is not ours, and what it reads after its handshake.
struct Stranger {
    explicit Stranger(int socket, int maxVersion = 0)
        : context{SSL_CTX_new(TLS_client_method()), SSL_CTX_free},
          session{SSL_new(context.get()), SSL_free}
    {
        if (maxVersion != 0) SSL_set_max_proto_version(session.get(), maxVersion);
        SSL_set_fd(session.get(), socket);
        SSL_set_connect_state(session.get());
    }
    std::shared_ptr<SSL_CTX> context;
    std::shared_ptr<SSL> session;
};

std::string daemonErrorAfter(net::TlsStream& daemon, const std::function<void()>& step)
{
    for (int turn = 0; turn < 50; ++turn) {
        step();
        const Progress progress = daemon.handshake();
        if (progress == Progress::Done) return {};
        if (progress == Progress::Failed) return daemon.error();
    }
    return "no end";
}

struct Site {
    WithoutBrokenPipe guard;
    ScratchDirectory scratch;
    Authority authority{scratch.path(), "site"};
    Authority other{scratch.path(), "other"};
    net::TlsContext daemon = context(Role::MutualServer, authority.daemon());
};

}  // namespace

TEST_CASE("two sides with certificates of one authority connect")
{
    Site site;
    for (const char* const host : {"localhost", "127.0.0.1", "::1"}) {
        const auto meeting =
            meet(site.daemon, context(Role::MutualClient, site.authority.table("BJ01")), host);
        CHECK(meeting.daemonHeard);
        CHECK(meeting.tableHeard);
        CHECK(meeting.tableId == "BJ01");
    }
}

TEST_CASE("a table with an invalid certificate is refused")
{
    Site site;
    const auto table = [&](const Authority::Request& wish) {
        return context(Role::MutualClient, site.authority.issue(wish));
    };
    SUBCASE("of another authority")
    {
        net::TlsFiles files = site.other.table("BJ01");
        files.ca = site.authority.ca();
        checkRefused(meet(site.daemon, context(Role::MutualClient, files)), "certificate");
    }
    SUBCASE("expired")
    {
        checkRefused(meet(site.daemon,
                          table({.commonName = "BJ01", .fromSeconds = -7200, .toSeconds = -60})),
                     "expired");
    }
    SUBCASE("not yet valid")
    {
        checkRefused(
            meet(site.daemon, table({.commonName = "BJ01", .fromSeconds = 60, .toSeconds = 7200})),
            "not yet valid");
    }
    SUBCASE("a daemon's")
    {
        checkRefused(meet(site.daemon, table({.commonName = "BJ01", .isServer = true})), "purpose");
    }
    SUBCASE("revoked, while others are not")
    {
        const net::TlsFiles bad = site.authority.table("BJ01");
        const net::TlsFiles good = site.authority.table("BJ02");
        net::TlsFiles files = site.authority.daemon();
        files.crl = site.authority.revoke({bad});
        const auto daemon = context(Role::MutualServer, files);
        checkRefused(meet(daemon, context(Role::MutualClient, bad)), "revoked");
        CHECK(meet(daemon, context(Role::MutualClient, good)).tableId == "BJ02");
    }
    SUBCASE("by a list that has expired")
    {
        net::TlsFiles files = site.authority.daemon();
        files.crl = site.authority.revoke({}, -60);
        checkRefused(meet(context(Role::MutualServer, files),
                          context(Role::MutualClient, site.authority.table("BJ01"))),
                     "CRL has expired");
    }
}

TEST_CASE("a daemon with an invalid certificate is refused by the table")
{
    Site site;
    const auto table = context(Role::MutualClient, site.authority.table("BJ01"));
    const auto daemon = [&](const Authority::Request& wish) {
        return context(Role::MutualServer, site.authority.issue(wish));
    };
    const std::string names = "DNS:localhost";
    SUBCASE("wrong name") { checkRefused(meet(site.daemon, table, "elsewhere"), "mismatch"); }
    SUBCASE("wrong address") { checkRefused(meet(site.daemon, table, "127.0.0.2"), "mismatch"); }
    SUBCASE("of another authority")
    {
        net::TlsFiles files = site.other.daemon();
        files.ca = site.authority.ca();
        checkRefused(meet(context(Role::MutualServer, files), table), "certificate");
    }
    SUBCASE("expired")
    {
        checkRefused(meet(daemon({.commonName = "jackpotd",
                                  .isServer = true,
                                  .altNames = names,
                                  .fromSeconds = -7200,
                                  .toSeconds = -60}),
                          table),
                     "expired");
    }
    SUBCASE("a table's certificate, which would allow a man in the middle")
    {
        checkRefused(meet(daemon({.commonName = "BJ02", .altNames = names}), table), "purpose");
    }
    SUBCASE("revoked")
    {
        const net::TlsFiles revoked = site.authority.daemon();
        net::TlsFiles files = site.authority.table("BJ01");
        files.crl = site.authority.revoke({revoked});
        checkRefused(meet(context(Role::MutualServer, revoked), context(Role::MutualClient, files)),
                     "revoked");
    }
}

TEST_CASE("a client without a certificate thinks it is connected until it reads")
{
    Site site;
    const auto ends = connectedSockets();
    net::TlsStream daemon{site.daemon, ends[0]};
    Stranger stranger{ends[1]};
    int shaken = 0;
    const std::string error = daemonErrorAfter(daemon, [&] {
        if (shaken != 1) shaken = SSL_do_handshake(stranger.session.get());
    });
    CHECK(error.find("did not return a certificate") != std::string::npos);
    CHECK(shaken == 1);
    char byte = 0;
    CHECK(SSL_read(stranger.session.get(), &byte, 1) <= 0);
    CHECK(SSL_get_error(stranger.session.get(), -1) == SSL_ERROR_SSL);
    ::close(ends[1]);
}

TEST_CASE("TLS 1.2 and bytes that are not TLS are refused")
{
    Site site;
    {
        const auto ends = connectedSockets();
        net::TlsStream daemon{site.daemon, ends[0]};
        Stranger stranger{ends[1], TLS1_2_VERSION};
        const std::string error =
            daemonErrorAfter(daemon, [&] { SSL_do_handshake(stranger.session.get()); });
        CHECK(error.find("unsupported protocol") != std::string::npos);
        ::close(ends[1]);
    }
    for (const std::string_view bytes :
         {std::string_view{"GET / HTTP/1.1\r\n\r\n"}, std::string_view{"\0\0\0\x11\x0a\x0f", 6},
          std::string_view{"\x16\x03\x01\xFF\xFF garbage in a record"}}) {
        const auto ends = connectedSockets();
        net::TlsStream daemon{site.daemon, ends[0]};
        REQUIRE(::write(ends[1], bytes.data(), bytes.size()) > 0);
        ::shutdown(ends[1], SHUT_WR);
        const std::string error = daemonErrorAfter(daemon, [] {});
        CHECK_FALSE(error.empty());
        CHECK(error != "no end");
        ::close(ends[1]);
    }
}

TEST_CASE("the jackpot URI of a certificate gives its kind and name")
{
    Site site;
    const auto idOf = [&](const std::string& commonName, const std::string& altNames) {
        return meet(site.daemon,
                    context(Role::MutualClient,
                            site.authority.issue({.commonName = commonName, .altNames = altNames})))
            .tableId;
    };
    CHECK(idOf("BJ01", "URI:jackpot:table:BJ01") == "BJ01");
    CHECK(idOf("BJ01", "URI:https://example.org/") == "BJ01");
    CHECK(idOf("BJ01", "URI:jackpot:operator:BJ01").find("not for table") != std::string::npos);
    CHECK(idOf("BJ01", "URI:jackpot:table:BJ02").find("not for table") != std::string::npos);
}

TEST_CASE("files that can't be used are refused with their name")
{
    Site site;
    const net::TlsFiles good = site.authority.table("BJ01");
    const auto refuses = [&](const net::TlsFiles& files, std::string_view says) {
        const auto made = net::TlsContext::make(Role::MutualClient, files);
        REQUIRE_FALSE(made);
        CAPTURE(made.error().message);
        CHECK(made.error().message.find(says) != std::string::npos);
    };
    net::TlsFiles files = good;
    files.certificate = site.scratch / "none.pem";
    refuses(files, "none.pem");
    files = good;
    files.key = site.authority.table("BJ02").key;
    refuses(files, "not the private key of");
    files = good;
    files.ca = good.key;
    refuses(files, good.key.string());
    files = good;
    files.crl = good.ca;
    refuses(files, "not a list of revoked");
    REQUIRE(::chmod(good.key.c_str(), 0640) == 0);
    refuses(good, "chmod 600");
}

}  // namespace jackpot::linkproto
