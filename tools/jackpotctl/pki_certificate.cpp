#include "tools/jackpotctl/pki_certificate.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <stdexcept>

namespace jackpot::ctl::pki {
namespace {

template <auto Free>
struct Freed {
    template <class T>
    void operator()(T* held) const
    {
        Free(held);
    }
};
template <class T, auto Free>
using Owned = std::unique_ptr<T, Freed<Free>>;

using Bio = Owned<BIO, BIO_free_all>;
using Number = Owned<BIGNUM, BN_free>;
using Time = Owned<ASN1_TIME, ASN1_TIME_free>;
using Integer = Owned<ASN1_INTEGER, ASN1_INTEGER_free>;
using Enumerated = Owned<ASN1_ENUMERATED, ASN1_ENUMERATED_free>;
using Certificate = Owned<X509, X509_free>;
using Key = Owned<EVP_PKEY, EVP_PKEY_free>;
using Crl = Owned<X509_CRL, X509_CRL_free>;
using Extension = Owned<X509_EXTENSION, X509_EXTENSION_free>;
using Names = Owned<GENERAL_NAMES, GENERAL_NAMES_free>;
using Name = Owned<GENERAL_NAME, GENERAL_NAME_free>;
using Octets = Owned<ASN1_OCTET_STRING, ASN1_OCTET_STRING_free>;

constexpr std::size_t kSerialBytes = 16;
constexpr std::size_t kMaxHostBytes = 253;
constexpr long kVersion3 = 2;
constexpr long kCrlVersion2 = 1;

struct ReasonName {
    Reason reason;
    std::string_view id;
};
constexpr std::array kReasons{
    ReasonName{Reason::Unspecified, "unspecified"},
    ReasonName{Reason::KeyCompromise, "key-compromise"},
    ReasonName{Reason::Superseded, "superseded"},
    ReasonName{Reason::CessationOfOperation, "cessation-of-operation"},
};
constexpr std::array<std::string_view, 3> kKinds{"server", "table", "operator"};

void must(bool worked, const char* what)
{
    if (worked) return;
    std::array<char, 256> detail{};
    ERR_error_string_n(ERR_get_error(), detail.data(), detail.size());
    throw std::runtime_error{std::string{"OpenSSL could not "} + what + ": " + detail.data()};
}

template <class T>
T needed(T made, const char* what)
{
    must(made != nullptr, what);
    return made;
}

Time asTime(Seconds seconds)
{
    return needed(Time{ASN1_TIME_set(nullptr, static_cast<time_t>(seconds))}, "set a time");
}

Seconds asSeconds(const ASN1_TIME* time)
{
    std::tm parts{};
    must(ASN1_TIME_to_tm(time, &parts) == 1, "read a time");
    return timegm(&parts);
}

Bio reader(std::string_view text)
{
    return needed(Bio{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))}, "read PEM");
}

std::string textOf(BIO* bio)
{
    BUF_MEM* memory = nullptr;
    must(BIO_get_mem_ptr(bio, &memory) == 1, "write PEM");
    return {memory->data, memory->length};
}

Bio writer() { return needed(Bio{BIO_new(BIO_s_mem())}, "write PEM"); }

std::string hexOf(const ASN1_INTEGER* serial)
{
    const Number number = needed(Number{ASN1_INTEGER_to_BN(serial, nullptr)}, "read a serial");
    std::array<unsigned char, kSerialBytes> bytes{};
    if (BN_bn2binpad(number.get(), bytes.data(), static_cast<int>(bytes.size())) < 0) return {};
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string hex;
    for (const unsigned char byte : bytes) {
        hex += kDigits[byte >> 4U];
        hex += kDigits[byte & 0x0FU];
    }
    return hex;
}

Integer serialOf(const std::string& hex)
{
    BIGNUM* raw = nullptr;
    must(BN_hex2bn(&raw, hex.c_str()) == static_cast<int>(hex.size()), "read a serial");
    const Number number{raw};
    return needed(Integer{BN_to_ASN1_INTEGER(number.get(), nullptr)}, "make a serial");
}

void addExtension(X509* certificate, X509* issuer, int nid, const char* value)
{
    X509V3_CTX context{};
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    const Extension extension =
        needed(Extension{X509V3_EXT_conf_nid(nullptr, &context, nid, value)}, "make an extension");
    must(X509_add_ext(certificate, extension.get(), -1) == 1, "add an extension");
}

void addName(GENERAL_NAMES* names, int type, const std::string& text)
{
    Name name = needed(Name{GENERAL_NAME_new()}, "make a name");
    if (type == GEN_IPADD) {
        Octets address = needed(Octets{a2i_IPADDRESS(text.c_str())}, "read an address");
        GENERAL_NAME_set0_value(name.get(), type, address.release());
    } else {
        Owned<ASN1_IA5STRING, ASN1_IA5STRING_free> value{ASN1_IA5STRING_new()};
        must(value && ASN1_STRING_set(value.get(), text.data(), static_cast<int>(text.size())) == 1,
             "make a name");
        GENERAL_NAME_set0_value(name.get(), type, value.release());
    }
    must(sk_GENERAL_NAME_push(names, name.get()) > 0, "add a name");
    (void)name.release();
}

bool isAddress(const std::string& text)
{
    const Octets address{a2i_IPADDRESS(text.c_str())};
    ERR_clear_error();
    return address != nullptr;
}

void addAlternativeNames(X509* certificate, const LeafRequest& request)
{
    const Names names = needed(Names{GENERAL_NAMES_new()}, "make names");
    if (request.kind == Kind::Server)
        for (const std::string& host : request.hosts)
            addName(names.get(), isAddress(host) ? GEN_IPADD : GEN_DNS, host);
    else
        addName(names.get(), GEN_URI,
                "jackpot:" + std::string{idOf(request.kind)} + ":" + request.name);
    must(X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, X509V3_ADD_DEFAULT) ==
             1,
         "add the alternative names");
}

Key makeKey() { return needed(Key{EVP_EC_gen("P-256")}, "make a key"); }

void setCommonName(X509* certificate, const std::string& name)
{
    must(X509_NAME_add_entry_by_NID(X509_get_subject_name(certificate), NID_commonName,
                                    MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(name.data()),
                                    static_cast<int>(name.size()), -1, 0) == 1,
         "set the subject");
}

// Sets everything except the names and extensions.
Certificate prepare(EVP_PKEY* key, Seconds now, Seconds notAfter)
{
    std::array<unsigned char, kSerialBytes> random{};
    must(RAND_bytes(random.data(), static_cast<int>(random.size())) == 1, "draw a serial");
    const Number number =
        needed(Number{BN_bin2bn(random.data(), static_cast<int>(random.size()), nullptr)},
               "make a serial");
    Certificate certificate = needed(Certificate{X509_new()}, "make a certificate");
    must(X509_set_version(certificate.get(), kVersion3) == 1 &&
             BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate.get())) &&
             X509_set1_notBefore(certificate.get(), asTime(now - kBackdated).get()) == 1 &&
             X509_set1_notAfter(certificate.get(), asTime(notAfter).get()) == 1 &&
             X509_set_pubkey(certificate.get(), key) == 1,
         "fill a certificate in");
    return certificate;
}

Pair pairOf(X509* certificate, EVP_PKEY* key)
{
    Pair pair;
    pair.serial = hexOf(X509_get0_serialNumber(certificate));
    pair.notAfter = asSeconds(X509_get0_notAfter(certificate));
    const Bio out = writer();
    must(PEM_write_bio_X509(out.get(), certificate) == 1, "write a certificate");
    pair.certificate = textOf(out.get());
    const Bio secret = needed(Bio{BIO_new(BIO_s_secmem())}, "write a key");
    must(PEM_write_bio_PKCS8PrivateKey(secret.get(), key, nullptr, nullptr, 0, nullptr, nullptr) ==
             1,
         "write a key");
    pair.key = textOf(secret.get());
    return pair;
}

Certificate certificateOf(std::string_view pem)
{
    Certificate certificate{PEM_read_bio_X509(reader(pem).get(), nullptr, nullptr, nullptr)};
    ERR_clear_error();
    return certificate;
}

void addRevoked(X509_CRL* crl, const Revoked& each)
{
    Owned<X509_REVOKED, X509_REVOKED_free> entry{X509_REVOKED_new()};
    must(entry && X509_REVOKED_set_serialNumber(entry.get(), serialOf(each.serial).get()) == 1 &&
             X509_REVOKED_set_revocationDate(entry.get(), asTime(each.at).get()) == 1,
         "list a revoked certificate");
    // RFC 5280, 5.3.1: an unspecified reason is left out.
    if (each.reason != Reason::Unspecified) {
        const Enumerated reason = needed(Enumerated{ASN1_ENUMERATED_new()}, "make a reason");
        must(ASN1_ENUMERATED_set(reason.get(), static_cast<long>(each.reason)) == 1 &&
                 X509_REVOKED_add1_ext_i2d(entry.get(), NID_crl_reason, reason.get(), 0,
                                           X509V3_ADD_DEFAULT) == 1,
             "add a reason");
    }
    must(X509_CRL_add0_revoked(crl, entry.get()) == 1, "list a revoked certificate");
    (void)entry.release();
}

}  // namespace

std::string_view idOf(Kind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }

std::optional<Kind> kindOfId(std::string_view id)
{
    for (const Kind kind : {Kind::Server, Kind::Table, Kind::Operator})
        if (idOf(kind) == id) return kind;
    return std::nullopt;
}

std::string_view idOf(Reason reason)
{
    return std::ranges::find(kReasons, reason, &ReasonName::reason)->id;
}

std::optional<Reason> reasonOfId(std::string_view id)
{
    const auto* const found = std::ranges::find(kReasons, id, &ReasonName::id);
    if (found == kReasons.end()) return std::nullopt;
    return found->reason;
}

Pair::~Pair() { OPENSSL_cleanse(key.data(), key.size()); }

Pair Issuer::makeAuthority(Seconds now, Seconds notAfter)
{
    const Key key = makeKey();
    const Certificate certificate = prepare(key.get(), now, notAfter);
    // Two authorities must not have the same name.
    const std::string serial = hexOf(X509_get0_serialNumber(certificate.get()));
    setCommonName(certificate.get(), "jackpotd site CA " + serial.substr(0, 8));
    must(X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get())) == 1,
         "set the issuer");
    X509* const own = certificate.get();
    addExtension(own, own, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
    addExtension(own, own, NID_key_usage, "critical,keyCertSign,cRLSign");
    addExtension(own, own, NID_subject_key_identifier, "hash");
    addExtension(own, own, NID_authority_key_identifier, "keyid:always");
    must(X509_sign(own, key.get(), EVP_sha256()) > 0, "sign the authority's certificate");
    return pairOf(own, key.get());
}

Result<Issuer> Issuer::fromPem(std::string_view certificate, std::string_view key)
{
    Certificate own = certificateOf(certificate);
    if (!own) return Error{"the authority's certificate is not PEM"};
    Key secret{PEM_read_bio_PrivateKey(reader(key).get(), nullptr, nullptr, nullptr)};
    ERR_clear_error();
    if (!secret) return Error{"the authority's key is not an unencrypted PEM key"};
    if (X509_check_private_key(own.get(), secret.get()) != 1) {
        ERR_clear_error();
        return Error{"the authority's key does not belong to its certificate"};
    }
    return Issuer{std::shared_ptr<X509>{std::move(own)},
                  std::shared_ptr<EVP_PKEY>{std::move(secret)}};
}

Seconds Issuer::notAfter() const { return asSeconds(X509_get0_notAfter(certificate_.get())); }

Pair Issuer::issue(const LeafRequest& request) const
{
    const Key key = makeKey();
    const Certificate certificate = prepare(key.get(), request.now, request.notAfter);
    setCommonName(certificate.get(), request.name);
    X509* const own = certificate.get();
    X509* const issuer = certificate_.get();
    must(X509_set_issuer_name(own, X509_get_subject_name(issuer)) == 1, "set the issuer");
    addExtension(own, issuer, NID_basic_constraints, "critical,CA:FALSE");
    addExtension(own, issuer, NID_key_usage, "critical,digitalSignature");
    addExtension(own, issuer, NID_ext_key_usage,
                 request.kind == Kind::Server ? "serverAuth" : "clientAuth");
    addExtension(own, issuer, NID_subject_key_identifier, "hash");
    addExtension(own, issuer, NID_authority_key_identifier, "keyid:always");
    addAlternativeNames(own, request);
    must(X509_sign(own, key_.get(), EVP_sha256()) > 0, "sign a certificate");
    return pairOf(own, key.get());
}

std::string Issuer::makeCrl(const std::vector<Revoked>& revoked, std::uint64_t number, Seconds now,
                            Seconds nextUpdate) const
{
    const Crl crl = needed(Crl{X509_CRL_new()}, "make a revocation list");
    must(X509_CRL_set_version(crl.get(), kCrlVersion2) == 1 &&
             X509_CRL_set_issuer_name(crl.get(), X509_get_subject_name(certificate_.get())) == 1 &&
             X509_CRL_set1_lastUpdate(crl.get(), asTime(now - kBackdated).get()) == 1 &&
             X509_CRL_set1_nextUpdate(crl.get(), asTime(nextUpdate).get()) == 1,
         "fill a revocation list in");
    for (const Revoked& each : revoked) addRevoked(crl.get(), each);

    X509V3_CTX context{};
    X509V3_set_ctx(&context, certificate_.get(), nullptr, nullptr, crl.get(), 0);
    const Extension issuer =
        needed(Extension{X509V3_EXT_conf_nid(nullptr, &context, NID_authority_key_identifier,
                                             "keyid:always")},
               "make an extension");
    const Integer crlNumber = needed(Integer{ASN1_INTEGER_new()}, "make a number");
    must(X509_CRL_add_ext(crl.get(), issuer.get(), -1) == 1 &&
             ASN1_INTEGER_set_uint64(crlNumber.get(), number) == 1 &&
             X509_CRL_add1_ext_i2d(crl.get(), NID_crl_number, crlNumber.get(), 0,
                                   X509V3_ADD_DEFAULT) == 1 &&
             X509_CRL_sort(crl.get()) == 1 &&
             X509_CRL_sign(crl.get(), key_.get(), EVP_sha256()) > 0,
         "sign a revocation list");
    const Bio out = writer();
    must(PEM_write_bio_X509_CRL(out.get(), crl.get()) == 1, "write a revocation list");
    return textOf(out.get());
}

Result<CertificateFacts> factsOfCertificate(std::string_view pem)
{
    const Certificate certificate = certificateOf(pem);
    if (!certificate) return Error{"not a certificate in PEM"};
    CertificateFacts facts;
    facts.serial = hexOf(X509_get0_serialNumber(certificate.get()));
    facts.notAfter = asSeconds(X509_get0_notAfter(certificate.get()));
    const Names names{static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr))};
    for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
        GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
        if (name->type != GEN_DNS && name->type != GEN_IPADD) continue;
        const Bio out = writer();
        must(GENERAL_NAME_print(out.get(), name) == 1, "print a name");
        const std::string printed = textOf(out.get());  // "DNS:localhost", "IP Address:127.0.0.1"
        facts.hosts.push_back(printed.substr(printed.find(':') + 1));
    }
    return facts;
}

Result<CrlFacts> factsOfCrl(std::string_view pem)
{
    const Crl crl{PEM_read_bio_X509_CRL(reader(pem).get(), nullptr, nullptr, nullptr)};
    ERR_clear_error();
    if (!crl || !X509_CRL_get0_nextUpdate(crl.get())) return Error{"not a revocation list in PEM"};
    CrlFacts facts;
    facts.nextUpdate = asSeconds(X509_CRL_get0_nextUpdate(crl.get()));
    const Integer number{static_cast<ASN1_INTEGER*>(
        X509_CRL_get_ext_d2i(crl.get(), NID_crl_number, nullptr, nullptr))};
    if (number && ASN1_INTEGER_get_uint64(&facts.number, number.get()) != 1)
        return Error{"not a revocation list of this program"};
    return facts;
}

bool isHost(const std::string& text)
{
    if (isAddress(text)) return true;
    if (text.empty() || text.size() > kMaxHostBytes || text.front() == '.' || text.back() == '.' ||
        text.front() == '-' || text.find("..") != std::string::npos)
        return false;
    // A name of only digits and dots is a mistyped address.
    return text.find_first_not_of("0123456789.") != std::string::npos &&
           std::ranges::all_of(text, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '.';
           });
}

}  // namespace jackpot::ctl::pki
