// TLS on non-blocking sockets, for the table link (mutual TLS) and for HTTPS servers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/stream.h"

struct ssl_st;
struct ssl_ctx_st;

namespace jackpot::net {

struct TlsFiles {
    std::filesystem::path certificate;         // followed by its intermediate certificates, if any
    std::filesystem::path key;                 // must not be readable by group or others
    std::filesystem::path ca;                  // may be empty for Role::WebServer only
    std::optional<std::filesystem::path> crl;  // if set, every certificate is checked against it

    bool operator==(const TlsFiles&) const = default;
};

// Keys, trusted authorities and protocol versions of one side. Immutable, so any thread may use it
// for new streams.
class TlsContext {
public:
    enum class Role : std::uint8_t {
        MutualServer,  // TLS 1.3; requires a client certificate signed by `ca`
        MutualClient,  // TLS 1.3; verifies the server by `ca` and host name, presents a certificate
        WebServer,     // TLS 1.2 and 1.3; requests a client certificate only if `ca` is set
    };
    // The error names the file that cannot be used.
    static Result<TlsContext> make(Role role, const TlsFiles& files);

    [[nodiscard]] Role role() const { return role_; }
    [[nodiscard]] ssl_ctx_st* handle() const { return context_.get(); }

private:
    TlsContext(Role role, std::shared_ptr<ssl_ctx_st> context)
        : role_{role}, context_{std::move(context)}
    {}
    Role role_;
    std::shared_ptr<ssl_ctx_st> context_;
};

// One TLS connection. Its thread must block or ignore SIGPIPE, because OpenSSL writes without
// MSG_NOSIGNAL. Closed is the peer's close_notify; after Failed, error() has the reason.
class TlsStream final : public Stream {
public:
    // `serverName` is for clients: the name or address that the server's certificate must be for.
    TlsStream(const TlsContext& context, int socket, const std::string& serverName = {});
    TlsStream(TlsStream&& other) noexcept;
    TlsStream& operator=(TlsStream&&) = delete;
    ~TlsStream() override;

    Progress handshake() override;
    Progress read(std::string& into, std::size_t maxBytes) override;
    // True if OpenSSL holds received bytes; epoll will not report them.
    [[nodiscard]] bool hasBufferedInput() const;
    // True once the peer has sent close_notify. read() returns Closed only after the last byte.
    [[nodiscard]] bool isPeerClosed() const;
    Progress write(std::string_view& from) override;
    // Sends close_notify.
    void close() override;

    [[nodiscard]] int socket() const override { return socket_; }
    [[nodiscard]] const std::string& error() const { return error_; }

    // The peer's certificate. All of these are for use after the handshake.

    // The subject's common name; an error if the certificate has none or several.
    [[nodiscard]] Result<std::string> peerCommonName() const;
    // The URIs among the subject's alternative names.
    [[nodiscard]] std::vector<std::string> peerUris() const;
    [[nodiscard]] std::string peerFingerprint() const override;
    // Verifies the peer's certificate again, as a client's, by the authorities of `context`.
    [[nodiscard]] Result<void> verifyPeer(const TlsContext& context) const;

private:
    struct Free {
        void operator()(ssl_st* session) const noexcept;
    };
    Progress progressAfter(int returned);

    int socket_;
    std::unique_ptr<ssl_st, Free> session_;
    std::string error_;
};

}  // namespace jackpot::net
