#include "console/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/encoding.h"

namespace jackpot::console {
namespace {

Error about(const std::filesystem::path& file, const std::string& what)
{
    std::string message = file.string() + ": " + what;
    while (const unsigned long code = ERR_get_error())
        if (const char* const reason = ERR_reason_error_string(code))
            message += std::string{": "} + reason;
    return Error{std::move(message)};
}

}  // namespace

Result<TlsContext> TlsContext::make(const TlsFiles& files)
{
    ERR_clear_error();
    std::shared_ptr<SSL_CTX> context{SSL_CTX_new(TLS_server_method()), SSL_CTX_free};
    if (!context) return Error{"OpenSSL offers no TLS"};
    SSL_CTX* const raw = context.get();
    SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
    SSL_CTX_set_options(raw, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
    if (SSL_CTX_set_cipher_list(raw, "ECDHE+AESGCM:ECDHE+CHACHA20") != 1)
        return Error{"OpenSSL offers no cipher with forward secrecy"};
    // Each connection shows its certificate anew: no resumption.
    SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(raw, 0);
    SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);

    if (SSL_CTX_use_certificate_chain_file(raw, files.certificate.c_str()) != 1)
        return about(files.certificate, "not a certificate in PEM");
    struct stat status {};
    if (::stat(files.key.c_str(), &status) != 0) return about(files.key, std::strerror(errno));
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return about(files.key, "others can read this private key: chmod 600 it");
    if (SSL_CTX_use_PrivateKey_file(raw, files.key.c_str(), SSL_FILETYPE_PEM) != 1)
        return about(files.key, "not the private key of " + files.certificate.string());
    if (files.clientCa) {
        if (SSL_CTX_load_verify_file(raw, files.clientCa->c_str()) != 1)
            return about(*files.clientCa, "not a certificate in PEM");
        SSL_CTX_set_client_CA_list(raw, SSL_load_client_CA_file(files.clientCa->c_str()));
        SSL_CTX_set_verify(raw, SSL_VERIFY_PEER, nullptr);
    }
    return TlsContext{std::move(context)};
}

TlsStream::TlsStream(const TlsContext& context, int socket)
    : socket_{socket}, session_{SSL_new(context.handle())}
{
    if (!session_) throw std::bad_alloc{};
    SSL_set_fd(session_.get(), socket_);
    SSL_set_accept_state(session_.get());
}

TlsStream::~TlsStream()
{
    session_.reset();
    ::close(socket_);
}

void TlsStream::Free::operator()(ssl_st* session) const noexcept { SSL_free(session); }

TlsStream::Progress TlsStream::after(int returned)
{
    if (returned > 0) return Progress::Done;
    const int error = SSL_get_error(session_.get(), returned);
    // What is left in the queue would be taken for the next connection's.
    ERR_clear_error();
    if (error == SSL_ERROR_WANT_READ) return Progress::WantsRead;
    if (error == SSL_ERROR_WANT_WRITE) return Progress::WantsWrite;
    return Progress::Ended;
}

TlsStream::Progress TlsStream::handshake() { return after(SSL_do_handshake(session_.get())); }

TlsStream::Progress TlsStream::read(std::string& into, std::size_t most)
{
    std::array<char, 16384> piece{};
    const std::size_t room = std::min(most, piece.size());
    const int got = SSL_read(session_.get(), piece.data(), static_cast<int>(room));
    if (got > 0) into.append(piece.data(), static_cast<std::size_t>(got));
    return after(got);
}

TlsStream::Progress TlsStream::write(std::string_view& from)
{
    constexpr std::size_t kRecord = 16384;
    while (!from.empty()) {
        const int put = SSL_write(session_.get(), from.data(),
                                  static_cast<int>(std::min(from.size(), kRecord)));
        if (put <= 0) return after(put);
        from.remove_prefix(static_cast<std::size_t>(put));
    }
    return Progress::Done;
}

void TlsStream::close()
{
    if (SSL_is_init_finished(session_.get()) == 1) SSL_shutdown(session_.get());
    ERR_clear_error();
    ::shutdown(socket_, SHUT_WR);
}

std::string TlsStream::fingerprint() const
{
    X509* const shown = SSL_get0_peer_certificate(session_.get());
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (!shown || X509_digest(shown, EVP_sha256(), digest.data(), &size) != 1) return {};
    return encodeHex({reinterpret_cast<const char*>(digest.data()), size});
}

}  // namespace jackpot::console
