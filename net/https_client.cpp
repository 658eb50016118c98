#include "net/https_client.h"

#include <Poco/Exception.h>
#include <Poco/Net/Context.h>
#include <Poco/Net/DNS.h>
#include <Poco/Net/HTTPClientSession.h>
#include <Poco/Net/HTTPRequest.h>
#include <Poco/Net/HTTPResponse.h>
#include <Poco/Net/SecureStreamSocket.h>
#include <Poco/String.h>
#include <Poco/URI.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <functional>
#include <istream>
#include <mutex>
#include <ostream>
#include <system_error>
#include <thread>

namespace jackpot::net {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kStopCheckInterval{100};
constexpr int kMaxHeaderFields = 64;

Poco::Timespan timespan(milliseconds duration) { return Poco::Timespan{duration.count() * 1000}; }

class Deadline {
public:
    Deadline(milliseconds timeout, std::stop_token stop)
        : until_{Clock::now() + timeout}, stop_{std::move(stop)}
    {}
    [[nodiscard]] Clock::time_point until() const { return until_; }
    [[nodiscard]] const std::stop_token& stop() const { return stop_; }
    [[nodiscard]] milliseconds left() const
    {
        return std::max(std::chrono::ceil<milliseconds>(until_ - Clock::now()), milliseconds{0});
    }
    // The reason why nothing more is to be done.
    [[nodiscard]] Result<void> check() const
    {
        if (stop_.stop_requested()) return Error{"stopped"};
        if (left() == milliseconds{0}) return Error{"no answer in time"};
        return {};
    }

private:
    const Clock::time_point until_;
    const std::stop_token stop_;
};

// Shuts a connected socket down at the deadline or a stop request, which ends each call that waits
// for it. POCO's timeouts start again with each byte, so they limit nothing.
class SocketShutdown {
public:
    SocketShutdown(int socket, const Deadline& deadline)
        : socket_{::fcntl(socket, F_DUPFD_CLOEXEC, 0)},  // POCO may close its own at any time
          onStop_{deadline.stop(), [this] { shutDown(); }},
          thread_{[this, until = deadline.until()](const std::stop_token& finished) {
              std::mutex mutex;
              std::condition_variable_any never;
              std::unique_lock lock{mutex};
              never.wait_until(lock, finished, until, [] { return false; });
              if (!finished.stop_requested()) shutDown();
          }}
    {}

private:
    struct Descriptor {
        explicit Descriptor(int given) : number{given} {}
        Descriptor(const Descriptor&) = delete;
        Descriptor& operator=(const Descriptor&) = delete;
        ~Descriptor() { ::close(number); }
        const int number;
    };
    void shutDown() const { ::shutdown(socket_.number, SHUT_RDWR); }

    const Descriptor socket_;
    std::stop_callback<std::function<void()>> onStop_;
    std::jthread thread_;
};

Result<Poco::Net::StreamSocket> connectTo(const Poco::Net::SocketAddress& address,
                                          const Deadline& deadline)
{
    Poco::Net::StreamSocket socket;
    socket.connectNB(address);
    constexpr int kEvents = Poco::Net::Socket::SELECT_WRITE | Poco::Net::Socket::SELECT_ERROR;
    while (!socket.poll(timespan(std::min(deadline.left(), kStopCheckInterval)), kEvents))
        if (const auto goesOn = deadline.check(); !goesOn) return goesOn.error();
    if (const int error = socket.impl()->socketError(); error != 0)
        return Error{std::generic_category().message(error)};
    socket.setBlocking(true);
    return socket;
}

Result<Poco::Net::StreamSocket> connectTo(const Poco::URI& uri, const Deadline& deadline)
{
    Result<Poco::Net::StreamSocket> socket = Error{"the host has no address"};
    const Poco::Net::HostEntry host = Poco::Net::DNS::resolve(uri.getHost());
    for (const Poco::Net::IPAddress& address : host.addresses()) {
        socket = connectTo(Poco::Net::SocketAddress{address, uri.getPort()}, deadline);
        if (socket || !deadline.check()) break;
    }
    return socket;
}

Result<Poco::Net::StreamSocket> connectTo(const std::filesystem::path& localSocket,
                                          const Deadline& deadline)
{
    using Poco::Net::SocketAddress;
    try {
        return connectTo(SocketAddress{SocketAddress::UNIX_LOCAL, localSocket.string()}, deadline);
    } catch (const Poco::IOException& error) {
        if (error.code() == EACCES)
            return Error{"permission denied: only the daemon's user and root may connect"};
        if (error.code() == ENOENT || error.code() == ECONNREFUSED)
            return Error{
                "there is no such socket, or nothing listens on it: is the daemon running?"};
        return Error{std::generic_category().message(error.code())};
    }
}

// OpenSSL checks the certificate against the authority and the host. POCO's own check of the host
// knows no addresses and is skipped for localhost.
Poco::Net::Context::Ptr makeContext(const HttpsClientSettings& settings, const std::string& host)
{
    using Poco::Net::Context;
    Context::Ptr context{new Context{Context::TLS_CLIENT_USE, settings.key.string(),
                                     settings.certificate.string(), settings.ca.string(),
                                     Context::VERIFY_STRICT, 9, settings.ca.empty()}};
    context->requireMinimumProtocol(settings.requiresTls13 ? Context::PROTO_TLSV1_3
                                                           : Context::PROTO_TLSV1_2);
    context->enableExtendedCertificateVerification(false);
    X509_VERIFY_PARAM* const check = SSL_CTX_get0_param(context->sslContext());
    if (X509_VERIFY_PARAM_set1_ip_asc(check, host.c_str()) != 1 &&
        X509_VERIFY_PARAM_set1_host(check, host.c_str(), host.size()) != 1)
        throw Poco::InvalidArgumentException{"not a host name", host};
    return context;
}

Result<HttpsReply> receive(Poco::Net::HTTPClientSession& session, std::size_t maxBytes)
{
    Poco::Net::HTTPResponse response;
    response.setFieldLimit(kMaxHeaderFields);
    std::istream& in = session.receiveResponse(response);
    HttpsReply reply{response.getStatus(), {}, {}};
    for (const auto& [name, value] : response) reply.headers[Poco::toLower(name)] = value;
    std::array<char, 16384> piece{};
    while (in.read(piece.data(), piece.size()) || in.gcount() > 0) {
        reply.body.append(piece.data(), static_cast<std::size_t>(in.gcount()));
        if (reply.body.size() > maxBytes)
            return Error{"the reply is larger than " + std::to_string(maxBytes) + " bytes"};
    }
    // The stream keeps an exception of the socket to itself.
    const bool isShort =
        response.hasContentLength() &&
        reply.body.size() < static_cast<std::size_t>(response.getContentLength64());
    if (in.bad() || isShort) return Error{"the connection was closed within the reply"};
    return reply;
}

Result<HttpsReply> exchange(const HttpsClientSettings& settings, const HttpsRequest& request,
                            const Deadline& deadline)
{
    using namespace Poco::Net;
    const bool isLocal = !settings.localSocket.empty();
    const Poco::URI uri{isLocal ? "http://localhost" : settings.url};
    if (!isLocal && (uri.getScheme() != "https" || uri.getHost().empty()))
        return Error{"the URL is not https://HOST:PORT"};
    Context::Ptr context;
    if (!isLocal) context = makeContext(settings, uri.getHost());
    auto socket = isLocal ? connectTo(settings.localSocket, deadline) : connectTo(uri, deadline);
    if (!socket) return socket.error();
    socket->setReceiveTimeout(timespan(settings.timeout));
    socket->setSendTimeout(timespan(settings.timeout));
    const SocketShutdown shutdown{socket->impl()->sockfd(), deadline};

    // HTTPSClientSession accepts no socket that is connected already.
    HTTPClientSession session{
        isLocal ? *socket : SecureStreamSocket::attach(*socket, uri.getHost(), context)};
    std::string path = uri.getPath();
    while (path.ends_with('/')) path.pop_back();
    HTTPRequest head{request.method, path + request.path, HTTPMessage::HTTP_1_1};
    head.setHost(uri.getHost(), uri.getPort());
    for (const auto& [name, value] : request.headers) head.set(name, value);
    if (request.method != "GET")
        head.setContentLength(static_cast<std::streamsize>(request.body.size()));
    session.sendRequest(head) << request.body << std::flush;
    return receive(session, settings.maxReplyBytes);
}

}  // namespace

Result<HttpsReply> HttpsClient::send(const HttpsRequest& request, const std::stop_token& stop) const
{
    const Deadline deadline{settings_.timeout, stop};
    // POCO leaves errors of an earlier request in OpenSSL's queue of this thread.
    ERR_clear_error();
    Result<HttpsReply> reply = Error{};
    try {
        reply = exchange(settings_, request, deadline);
    } catch (const Poco::Exception& error) {
        reply = Error{error.displayText()};
    }
    if (reply) return reply;
    // What POCO reports after the shutdown of its socket is of no use.
    if (const auto goesOn = deadline.check(); !goesOn) return goesOn.error();
    return reply;
}

}  // namespace jackpot::net
