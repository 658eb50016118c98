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

// One TLS connection. It owns its connected, non-blocking socket. One thread at a time, and that
// thread must block or ignore SIGPIPE, because OpenSSL writes without MSG_NOSIGNAL.
class TlsStream {
public:
    // `serverName` is for clients: the name or address that the server's certificate must be for.
    TlsStream(const TlsContext& context, int socket, const std::string& serverName = {});
    TlsStream(TlsStream&& other) noexcept;
    TlsStream& operator=(TlsStream&&) = delete;
    ~TlsStream();

    enum class Progress : std::uint8_t {
        Done,
        WantsRead,   // call again when the socket is readable
        WantsWrite,  // call again when the socket is writable
        Closed,      // the peer sent close_notify
        Failed,      // error() has the reason
    };
    static bool isOver(Progress progress)
    {
        return progress == Progress::Closed || progress == Progress::Failed;
    }

    Progress handshake();
    // Appends at most `maxBytes` received bytes. Done if at least one byte was appended.
    Progress read(std::string& into, std::size_t maxBytes);
    // True if OpenSSL holds received bytes; epoll will not report them.
    [[nodiscard]] bool hasBufferedInput() const;
    // True once the peer has sent close_notify. read() returns Closed only after the last byte.
    [[nodiscard]] bool isPeerClosed() const;
    // Removes the bytes that were written from the front of `from`. Done if all were written.
    Progress write(std::string_view& from);
    // Sends close_notify; does not wait for the peer's.
    void close();

    [[nodiscard]] int socket() const { return socket_; }
    [[nodiscard]] const std::string& error() const { return error_; }

    // The peer's certificate. All of these are for use after the handshake.

    // The subject's common name; an error if the certificate has none or several.
    [[nodiscard]] Result<std::string> peerCommonName() const;
    // The URIs among the subject's alternative names.
    [[nodiscard]] std::vector<std::string> peerUris() const;
    // SHA-256 in lower-case hexadecimal; empty if the peer has no certificate.
    [[nodiscard]] std::string peerFingerprint() const;
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
