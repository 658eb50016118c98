#include "net/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/encoding.h"

namespace jackpot::net {
namespace {

// The newest error of this thread. Clears OpenSSL's error queue.
std::string takeOpensslError()
{
    std::string message = "unknown error";
    while (const unsigned long code = ERR_get_error()) {
        const char* const reason = ERR_reason_error_string(code);
        if (reason) message = reason;
    }
    return message;
}

Error fileError(const std::filesystem::path& file, const std::string& what)
{
    return Error{file.string() + ": " + what};
}

Result<void> checkPrivate(const std::filesystem::path& key)
{
    struct stat status {};
    if (::stat(key.c_str(), &status) != 0) return fileError(key, std::strerror(errno));
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return fileError(key, "others can read this private key: chmod 600 it");
    return {};
}

Result<void> loadCrl(SSL_CTX* context, const std::filesystem::path& file)
{
    X509_STORE* const store = SSL_CTX_get_cert_store(context);
    X509_LOOKUP* const lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
    if (!lookup || X509_load_crl_file(lookup, file.c_str(), X509_FILETYPE_PEM) < 1)
        return fileError(file, "not a list of revoked certificates in PEM: " + takeOpensslError());
    X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
    return {};
}

Result<void> setWebProtocols(SSL_CTX* context)
{
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_COMPRESSION |
                                     SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
    if (SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") != 1)
        return Error{"OpenSSL offers no cipher with forward secrecy"};
    return {};
}

template <class T, void (*kFree)(T*)>
struct FreeWith {
    void operator()(T* object) const noexcept { kFree(object); }
};

}  // namespace

Result<TlsContext> TlsContext::make(Role role, const TlsFiles& files)
{
    ERR_clear_error();
    const bool isClient = role == Role::MutualClient;
    const std::shared_ptr<SSL_CTX> context{
        SSL_CTX_new(isClient ? TLS_client_method() : TLS_server_method()), SSL_CTX_free};
    if (!context) return Error{"OpenSSL offers no TLS: " + takeOpensslError()};
    SSL_CTX* const raw = context.get();
    // No session resumption: each connection presents its certificate.
    SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(raw, 0);
    SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    if (role == Role::WebServer) {
        if (auto set = setWebProtocols(raw); !set) return set.error();
    } else {
        SSL_CTX_set_min_proto_version(raw, TLS1_3_VERSION);
        SSL_CTX_set_read_ahead(raw, 1);
    }

    if (SSL_CTX_use_certificate_chain_file(raw, files.certificate.c_str()) != 1)
        return fileError(files.certificate, "not a certificate in PEM: " + takeOpensslError());
    if (auto isPrivate = checkPrivate(files.key); !isPrivate) return isPrivate.error();
    if (SSL_CTX_use_PrivateKey_file(raw, files.key.c_str(), SSL_FILETYPE_PEM) != 1)
        return fileError(files.key, "not the private key of " + files.certificate.string() + ": " +
                                        takeOpensslError());
    if (role == Role::WebServer && files.ca.empty()) return TlsContext{role, context};

    if (SSL_CTX_load_verify_file(raw, files.ca.c_str()) != 1)
        return fileError(files.ca, "not a certificate in PEM: " + takeOpensslError());
    if (files.crl)
        if (auto loaded = loadCrl(raw, *files.crl); !loaded) return loaded.error();
    if (role == Role::WebServer) {
        // Browsers offer the user only certificates of these authorities.
        SSL_CTX_set_client_CA_list(raw, SSL_load_client_CA_file(files.ca.c_str()));
        SSL_CTX_set_verify(raw, SSL_VERIFY_PEER, nullptr);
    } else {
        SSL_CTX_set_verify(raw, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    }
    return TlsContext{role, context};
}

TlsStream::TlsStream(const TlsContext& context, int socket, const std::string& serverName)
    : socket_{socket}, session_{SSL_new(context.handle())}
{
    if (!session_) throw std::bad_alloc{};
    SSL_set_fd(session_.get(), socket_);
    if (context.role() != TlsContext::Role::MutualClient) {
        SSL_set_accept_state(session_.get());
        return;
    }
    SSL_set_connect_state(session_.get());
    X509_VERIFY_PARAM* const check = SSL_get0_param(session_.get());
    if (X509_VERIFY_PARAM_set1_ip_asc(check, serverName.c_str()) != 1) {
        X509_VERIFY_PARAM_set1_host(check, serverName.c_str(), serverName.size());
        // What the macro SSL_set_tlsext_host_name() does, without its C-style cast.
        std::string name = serverName;
        SSL_ctrl(session_.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                 name.data());
    }
    ERR_clear_error();
}

TlsStream::TlsStream(TlsStream&& other) noexcept
    : socket_{std::exchange(other.socket_, -1)},
      session_{std::move(other.session_)},
      error_{std::move(other.error_)}
{}

TlsStream::~TlsStream()
{
    session_.reset();
    if (socket_ >= 0) ::close(socket_);
}

void TlsStream::Free::operator()(ssl_st* session) const noexcept { SSL_free(session); }

TlsStream::Progress TlsStream::progressAfter(int returned)
{
    if (returned > 0) return Progress::Done;
    const int system = errno;
    switch (SSL_get_error(session_.get(), returned)) {
        case SSL_ERROR_WANT_READ: return Progress::WantsRead;
        case SSL_ERROR_WANT_WRITE: return Progress::WantsWrite;
        case SSL_ERROR_ZERO_RETURN: return Progress::Closed;
        case SSL_ERROR_SYSCALL:
            error_ = system != 0 ? std::strerror(system) : "the connection was cut";
            ERR_clear_error();
            return Progress::Failed;
        default: break;
    }
    if (const long verified = SSL_get_verify_result(session_.get()); verified != X509_V_OK)
        error_ = std::string{"certificate: "} + X509_verify_cert_error_string(verified);
    else
        error_ = takeOpensslError();
    ERR_clear_error();
    return Progress::Failed;
}

TlsStream::Progress TlsStream::handshake()
{
    errno = 0;
    return progressAfter(SSL_do_handshake(session_.get()));
}

TlsStream::Progress TlsStream::read(std::string& into, std::size_t maxBytes)
{
    // Reading into `into` directly would first fill it with zeros.
    thread_local std::array<char, 16U << 10U> piece;
    std::size_t total = 0;
    Progress progress = Progress::Done;
    while (total < maxBytes) {
        std::size_t got = 0;
        errno = 0;
        progress = progressAfter(SSL_read_ex(session_.get(), piece.data(),
                                             std::min(piece.size(), maxBytes - total), &got));
        if (progress != Progress::Done) break;
        into.append(piece.data(), got);
        total += got;
        // Another SSL_read_ex() would cost a system call only to return WantsRead.
        if (!hasBufferedInput()) break;
    }
    return total > 0 ? Progress::Done : progress;
}

bool TlsStream::hasBufferedInput() const { return SSL_has_pending(session_.get()) == 1; }

bool TlsStream::isPeerClosed() const
{
    return (SSL_get_shutdown(session_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
}

TlsStream::Progress TlsStream::write(std::string_view& from)
{
    while (!from.empty()) {
        std::size_t written = 0;
        errno = 0;
        const Progress progress =
            progressAfter(SSL_write_ex(session_.get(), from.data(), from.size(), &written));
        if (progress != Progress::Done) return progress;
        from.remove_prefix(written);
    }
    return Progress::Done;
}

void TlsStream::close()
{
    if (SSL_is_init_finished(session_.get()) == 1) SSL_shutdown(session_.get());
    ERR_clear_error();
}

Result<std::string> TlsStream::peerCommonName() const
{
    const X509* const certificate = SSL_get0_peer_certificate(session_.get());
    if (!certificate) return Error{"no certificate was shown"};
    X509_NAME* const subject = X509_get_subject_name(certificate);
    const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    if (at < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0)
        return Error{"the certificate has no common name, or several"};
    unsigned char* text = nullptr;
    const int size =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    if (size < 0) return Error{"the certificate's common name cannot be read"};
    std::string name{reinterpret_cast<const char*>(text), static_cast<std::size_t>(size)};
    OPENSSL_free(text);
    return name;
}

std::vector<std::string> TlsStream::peerUris() const
{
    std::vector<std::string> uris;
    const X509* const certificate = SSL_get0_peer_certificate(session_.get());
    if (!certificate) return uris;
    const std::unique_ptr<GENERAL_NAMES, FreeWith<GENERAL_NAMES, GENERAL_NAMES_free>> names{
        static_cast<GENERAL_NAMES*>(
            X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr))};
    for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
        const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
        if (name->type != GEN_URI) continue;
        const ASN1_IA5STRING* const uri = name->d.uniformResourceIdentifier;
        uris.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)),
                          static_cast<std::size_t>(ASN1_STRING_length(uri)));
    }
    return uris;
}

std::string TlsStream::peerFingerprint() const
{
    const X509* const certificate = SSL_get0_peer_certificate(session_.get());
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (!certificate || X509_digest(certificate, EVP_sha256(), digest.data(), &size) != 1)
        return {};
    return encodeHex({reinterpret_cast<const char*>(digest.data()), size});
}

Result<void> TlsStream::verifyPeer(const TlsContext& context) const
{
    X509* const certificate = SSL_get0_peer_certificate(session_.get());
    const std::unique_ptr<X509_STORE_CTX, FreeWith<X509_STORE_CTX, X509_STORE_CTX_free>> check{
        X509_STORE_CTX_new()};
    if (!certificate || !check ||
        X509_STORE_CTX_init(check.get(), SSL_CTX_get_cert_store(context.handle()), certificate,
                            SSL_get_peer_cert_chain(session_.get())) != 1)
        return Error{"the certificate cannot be checked"};
    X509_STORE_CTX_set_default(check.get(), "ssl_client");
    const bool good = X509_verify_cert(check.get()) == 1;
    ERR_clear_error();
    if (good) return {};
    return Error{std::string{"certificate: "} +
                 X509_verify_cert_error_string(X509_STORE_CTX_get_error(check.get()))};
}

}  // namespace jackpot::net
