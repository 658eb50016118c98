#include "tests/support/authority.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cstdio>
#include <stdexcept>

namespace jackpot {
namespace {

using Key = std::shared_ptr<EVP_PKEY>;
using Certificate = std::shared_ptr<X509>;

template <class T>
T* good(T* object)
{
    if (!object) throw std::runtime_error{"OpenSSL failed"};
    return object;
}

Key newKey() { return {good(EVP_EC_gen("P-256")), EVP_PKEY_free}; }

void setName(X509_NAME* name, const std::string& commonName)
{
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(commonName.c_str()), -1, -1,
                               0);
}

void add(X509* certificate, X509* issuer, int what, const std::string& value)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* const extension =
        good(X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str()));
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

Certificate newCertificate(EVP_PKEY* key, const std::string& commonName, long serial,
                           long fromSeconds, long toSeconds)
{
    Certificate certificate{good(X509_new()), X509_free};
    X509_set_version(certificate.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), fromSeconds);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), toSeconds);
    X509_set_pubkey(certificate.get(), key);
    setName(X509_get_subject_name(certificate.get()), commonName);
    return certificate;
}

template <class Write>
void writeTo(const std::filesystem::path& path, Write write)
{
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{good(std::fopen(path.c_str(), "w")),
                                                               std::fclose};
    ::chmod(path.c_str(), 0600);
    if (write(file.get()) != 1) throw std::runtime_error{"OpenSSL failed"};
}

}  // namespace

Authority::Authority(std::filesystem::path directory, const std::string& name)
    : directory_{std::move(directory)},
      name_{name},
      ca_{directory_ / (name + ".pem")},
      key_{newKey()}
{
    certificate_ = newCertificate(key_.get(), name, serial_++, -3600, 360'000);
    X509* const raw = certificate_.get();
    X509_set_issuer_name(raw, X509_get_subject_name(raw));
    add(raw, raw, NID_basic_constraints, "critical,CA:TRUE");
    add(raw, raw, NID_key_usage, "critical,keyCertSign,cRLSign");
    add(raw, raw, NID_subject_key_identifier, "hash");
    X509_sign(raw, key_.get(), EVP_sha256());
    writeTo(ca_, [&](std::FILE* file) { return PEM_write_X509(file, raw); });
}

net::TlsFiles Authority::issue(const Request& request)
{
    const long serial = serial_++;
    const Key key = newKey();
    const Certificate certificate = newCertificate(key.get(), request.commonName, serial,
                                                   request.fromSeconds, request.toSeconds);
    X509* const raw = certificate.get();
    X509_set_issuer_name(raw, X509_get_subject_name(certificate_.get()));
    add(raw, certificate_.get(), NID_basic_constraints, "critical,CA:FALSE");
    add(raw, certificate_.get(), NID_key_usage, "critical,digitalSignature");
    add(raw, certificate_.get(), NID_ext_key_usage, request.isServer ? "serverAuth" : "clientAuth");
    if (!request.altNames.empty())
        add(raw, certificate_.get(), NID_subject_alt_name, request.altNames);
    X509_sign(raw, key_.get(), EVP_sha256());

    const std::string base = directory_ / (name_ + "-" + std::to_string(serial));
    writeTo(base + ".pem", [&](std::FILE* file) { return PEM_write_X509(file, raw); });
    writeTo(base + ".key", [&](std::FILE* file) {
        return PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    return {.certificate = base + ".pem", .key = base + ".key", .ca = ca_, .crl = std::nullopt};
}

std::filesystem::path Authority::revoke(const std::vector<net::TlsFiles>& revoked, long toSeconds)
{
    const std::shared_ptr<X509_CRL> list{good(X509_CRL_new()), X509_CRL_free};
    X509_CRL_set_version(list.get(), X509_CRL_VERSION_2);
    X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(certificate_.get()));
    const std::shared_ptr<ASN1_TIME> time{good(ASN1_TIME_new()), ASN1_TIME_free};
    X509_gmtime_adj(time.get(), -7200);
    X509_CRL_set1_lastUpdate(list.get(), time.get());
    X509_gmtime_adj(time.get(), toSeconds);
    X509_CRL_set1_nextUpdate(list.get(), time.get());
    X509_gmtime_adj(time.get(), -3600);
    for (const auto& files : revoked) {
        const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{
            good(std::fopen(files.certificate.c_str(), "r")), std::fclose};
        const Certificate certificate{good(PEM_read_X509(file.get(), nullptr, nullptr, nullptr)),
                                      X509_free};
        X509_REVOKED* const entry = good(X509_REVOKED_new());
        X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(certificate.get()));
        X509_REVOKED_set_revocationDate(entry, time.get());
        X509_CRL_add0_revoked(list.get(), entry);
    }
    X509_CRL_sort(list.get());
    X509_CRL_sign(list.get(), key_.get(), EVP_sha256());
    const auto path = directory_ / (name_ + "-" + std::to_string(serial_++) + ".crl");
    writeTo(path, [&](std::FILE* file) { return PEM_write_X509_CRL(file, list.get()); });
    return path;
}

}  // namespace jackpot
