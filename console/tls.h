// The desk's side of TLS 1.2 and 1.3, on sockets that never block.
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

namespace jackpot::console {

struct TlsFiles {
    std::filesystem::path certificate;  // with the intermediate ones, if there are any
    std::filesystem::path key;
    std::optional<std::filesystem::path> clientCa;  // then clients are asked for a certificate
};

// Immutable once made.
class TlsContext {
public:
    static Result<TlsContext> make(const TlsFiles& files);
    [[nodiscard]] ssl_ctx_st* handle() const { return context_.get(); }

private:
    explicit TlsContext(std::shared_ptr<ssl_ctx_st> context) : context_{std::move(context)} {}
    std::shared_ptr<ssl_ctx_st> context_;
};

// One connection over an accepted non-blocking socket, which it owns. One thread, with SIGPIPE
// ignored.
class TlsStream {
public:
    TlsStream(const TlsContext& context, int socket);
    TlsStream(const TlsStream&) = delete;
    TlsStream& operator=(const TlsStream&) = delete;
    ~TlsStream();

    enum class Progress : std::uint8_t {
        Done,
        WantsRead,
        WantsWrite,
        Ended,  // by the peer, in order or not
    };
    Progress handshake();
    // Appends what has come, at most so many bytes. Done where something was appended.
    Progress read(std::string& into, std::size_t most);
    // Takes what it could write off the front. Done where all was written.
    Progress write(std::string_view& from);
    // Tells the peer that nothing more comes; does not wait.
    void close();

    [[nodiscard]] int socket() const { return socket_; }
    // SHA-256 of the certificate that the peer has shown, in hex; empty without one.
    [[nodiscard]] std::string fingerprint() const;

private:
    struct Free {
        void operator()(ssl_st* session) const noexcept;
    };
    Progress after(int returned);

    int socket_;
    std::unique_ptr<ssl_st, Free> session_;
};

}  // namespace jackpot::console
