// The bytes of one connection on a non-blocking socket: TLS (tls.h), or plain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace jackpot::net {

// It owns its connected socket. One thread at a time.
class Stream {
public:
    enum class Progress : std::uint8_t {
        Done,
        WantsRead,   // call again when the socket is readable
        WantsWrite,  // call again when the socket is writable
        Closed,      // the peer has ended the stream
        Failed,      // the connection is broken
    };
    static bool isOver(Progress progress)
    {
        return progress == Progress::Closed || progress == Progress::Failed;
    }

    virtual ~Stream() = default;

    virtual Progress handshake() = 0;
    // Appends at most `maxBytes` received bytes. Done if at least one byte was appended.
    virtual Progress read(std::string& into, std::size_t maxBytes) = 0;
    // Removes the bytes that were written from the front of `from`. Done if all were written.
    virtual Progress write(std::string_view& from) = 0;
    // Sends the end of the stream; does not wait for the peer's.
    virtual void close() = 0;
    [[nodiscard]] virtual int socket() const = 0;
    // SHA-256 of the peer's certificate in lower-case hexadecimal, after the handshake; empty
    // without one.
    [[nodiscard]] virtual std::string peerFingerprint() const = 0;

protected:
    Stream() = default;
    Stream(const Stream&) = default;
    Stream& operator=(const Stream&) = default;
};

// Without TLS, for a socket that only processes of this machine can connect to.
class PlainStream final : public Stream {
public:
    explicit PlainStream(int socket) : socket_{socket} {}
    PlainStream(const PlainStream&) = delete;
    PlainStream& operator=(const PlainStream&) = delete;
    ~PlainStream() override;

    Progress handshake() override { return Progress::Done; }
    Progress read(std::string& into, std::size_t maxBytes) override;
    Progress write(std::string_view& from) override;
    void close() override;
    [[nodiscard]] int socket() const override { return socket_; }
    [[nodiscard]] std::string peerFingerprint() const override { return {}; }

private:
    int socket_;
};

}  // namespace jackpot::net
