// TLS 1.3 with certificates on both sides, on sockets that never block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

struct ssl_st;
struct ssl_ctx_st;

namespace jackpot::net {

struct TlsFiles {
    std::filesystem::path certificate;  // with the intermediate ones, if there are any
    std::filesystem::path key;
    std::filesystem::path ca;
    std::optional<std::filesystem::path> crl;  // then every certificate must be on a current list

    bool operator==(const TlsFiles&) const = default;
};

// What a side shows and accepts. Immutable once made, so any thread may start sessions with it.
class TlsContext {
public:
    enum class Side : std::uint8_t { Daemon, Table };
    static Result<TlsContext> make(Side side, const TlsFiles& files);

    [[nodiscard]] Side side() const { return side_; }
    [[nodiscard]] ssl_ctx_st* handle() const { return context_.get(); }

private:
    TlsContext(Side side, std::shared_ptr<ssl_ctx_st> context)
        : side_{side}, context_{std::move(context)}
    {}
    Side side_;
    std::shared_ptr<ssl_ctx_st> context_;
};

// One connection over a connected non-blocking socket, which it owns. One thread at a time, and one
// that blocks or ignores SIGPIPE: OpenSSL writes to a socket whose peer is gone like to any other.
class TlsStream {
public:
    // A table gives the name or address that the daemon's certificate must be for.
    TlsStream(const TlsContext& context, int socket, const std::string& daemonHost = {});
    TlsStream(TlsStream&& other) noexcept;
    TlsStream& operator=(TlsStream&&) = delete;
    ~TlsStream();

    enum class Progress : std::uint8_t {
        Done,
        WantsRead,   // go on when the socket can be read
        WantsWrite,  // go on when it can be written
        Closed,      // the peer ended the connection in order
        Failed,      // error() says why
    };
    Progress handshake();
    // Appends what has come, at most so many bytes. Done where something was appended.
    Progress read(std::string& into, std::size_t most);
    // There is more to read that no event of the socket will tell of.
    [[nodiscard]] bool hasMore() const;
    // The peer has said that nothing more comes; read() says so only when it has nothing to give.
    [[nodiscard]] bool isEnded() const;
    // Takes what it could write off the front. Done where all was written.
    Progress write(std::string_view& from);
    // Tells the peer that nothing more comes; does not wait.
    void close();

    [[nodiscard]] int socket() const { return socket_; }
    [[nodiscard]] const std::string& error() const { return error_; }

    // The id of the table whose certificate the peer has shown: its common name. A certificate with
    // a "jackpot:" URI is what that URI says and nothing else. After the handshake.
    [[nodiscard]] Result<std::string> tableId() const;
    // Whether a table with the certificate that the peer has shown would be let in by this context.
    [[nodiscard]] Result<void> checkPeer(const TlsContext& context) const;

private:
    struct Free {
        void operator()(ssl_st* session) const noexcept;
    };
    Progress after(int returned);

    int socket_;
    std::unique_ptr<ssl_st, Free> session_;
    std::string error_;
};

}  // namespace jackpot::net
