#include "storage/keys.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

#include "base/encoding.h"
#include "base/utf8.h"
#include "storage/sha256.h"

namespace jackpot::storage {
namespace {

constexpr char kEd25519Type = 0x01;  // signed-note, "Signature types"
constexpr std::size_t kEd25519SignatureBytes = 64;

struct Descriptor {
    int number;

    explicit Descriptor(int opened) : number{opened} {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor()
    {
        if (number >= 0) ::close(number);
    }
};

// One byte more than allowed, so that a file that is too large shows.
struct SecretBuffer {
    std::array<char, kMaxKeyFileBytes + 1> bytes{};
    std::size_t length = 0;

    ~SecretBuffer() { OPENSSL_cleanse(bytes.data(), bytes.size()); }
};

using Bio = std::unique_ptr<BIO, decltype([](BIO* bio) { BIO_free(bio); })>;
using Context =
    std::unique_ptr<EVP_MD_CTX, decltype([](EVP_MD_CTX* context) { EVP_MD_CTX_free(context); })>;

// OpenSSL's error queue belongs to the thread: what a refused key leaves in it would surface
// elsewhere.
struct ErrorQueueGuard {
    ErrorQueueGuard() { ERR_set_mark(); }
    ErrorQueueGuard(const ErrorQueueGuard&) = delete;
    ErrorQueueGuard& operator=(const ErrorQueueGuard&) = delete;
    ~ErrorQueueGuard() { ERR_pop_to_mark(); }
};

const unsigned char* unsignedBytes(std::string_view bytes)
{
    return reinterpret_cast<const unsigned char*>(bytes.data());
}

std::string_view view(const PublicKey& key)
{
    return {reinterpret_cast<const char*>(key.data()), key.size()};
}

std::shared_ptr<EVP_PKEY> owned(EVP_PKEY* key)
{
    if (key == nullptr) throw std::runtime_error{"OpenSSL could not make an Ed25519 key"};
    return {key, EVP_PKEY_free};
}

Error failed(const std::filesystem::path& file, std::string_view what)
{
    return Error{file.string() + ": can't " + std::string{what} + ": " +
                 std::generic_category().message(errno)};
}

// Without this, OpenSSL asks for the passphrase on the terminal.
int refusePassphrase(char*, int, int, void* asked)
{
    *static_cast<bool*>(asked) = true;
    return -1;
}

std::uint32_t computeKeyId(std::string_view name, const PublicKey& key)
{
    return keyIdOf(sha256({name, "\n", {&kEd25519Type, 1}, view(key)}).view().substr(0, 4));
}

// The White_Space property of Unicode.
mode_t forbiddenBits(const std::filesystem::path& file)
{
    const char* const credentials = std::getenv("CREDENTIALS_DIRECTORY");
    const bool fromSystemd =
        credentials != nullptr && *credentials != '\0' && file.parent_path() == credentials;
    return fromSystemd ? S_IWGRP | S_IXGRP | S_IRWXO : S_IRWXG | S_IRWXO;
}

std::string octal(mode_t mode)
{
    std::string text = "0000";
    for (std::size_t i = 4; i-- > 0; mode >>= 3) text[i] = static_cast<char>('0' + (mode & 7));
    return text;
}

bool writeAll(int descriptor, std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

bool readAll(int descriptor, SecretBuffer& buffer)
{
    while (buffer.length < buffer.bytes.size()) {
        const ssize_t got =
            ::read(descriptor, &buffer.bytes[buffer.length], buffer.bytes.size() - buffer.length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return false;
        if (got == 0) break;
        buffer.length += static_cast<std::size_t>(got);
    }
    return true;
}

bool syncDirectory(const std::filesystem::path& directory)
{
    const Descriptor opened{
        ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    return opened.number >= 0 && ::fsync(opened.number) == 0;
}

}  // namespace

PrivateKey PrivateKey::generate()
{
    return PrivateKey{owned(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"))};
}

Result<PrivateKey> PrivateKey::fromPem(std::string_view pem)
{
    if (pem.size() > kMaxKeyFileBytes)
        return Error{"larger than " + std::to_string(kMaxKeyFileBytes) +
                     " bytes, which no Ed25519 key is"};
    const ErrorQueueGuard guard;
    const Bio bio{BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
    if (!bio) throw std::runtime_error{"OpenSSL could not open a buffer"};

    bool encrypted = false;
    EVP_PKEY* const read =
        PEM_read_bio_PrivateKey(bio.get(), nullptr, refusePassphrase, &encrypted);
    if (encrypted) {
        EVP_PKEY_free(read);
        return Error{"encrypted; decrypt it first: openssl pkey -in FILE -out NEW_FILE"};
    }
    if (read == nullptr)
        return Error{"not a private key in PEM; make one: openssl genpkey -algorithm ed25519"};
    auto key = owned(read);
    if (EVP_PKEY_is_a(key.get(), "ED25519") != 1)
        return Error{"not an Ed25519 key; make one: openssl genpkey -algorithm ed25519"};
    return PrivateKey{std::move(key)};
}

Result<PrivateKey> PrivateKey::load(const std::filesystem::path& file)
{
    // O_NONBLOCK: opening a pipe that nobody writes to would block without limit.
    const Descriptor in{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    if (in.number < 0) return failed(file, "open the key");
    struct stat found {};
    if (::fstat(in.number, &found) != 0) return failed(file, "examine the key");
    if (!S_ISREG(found.st_mode))
        return Error{file.string() + ": not a regular file; name the key's PEM file"};
    if ((found.st_mode & forbiddenBits(file)) != 0)
        return Error{file.string() + ": mode " + octal(found.st_mode & 07777) +
                     " lets others than its owner at the private key; run: chmod 600 " +
                     file.string()};

    SecretBuffer buffer;
    if (!readAll(in.number, buffer)) return failed(file, "read the key");
    auto key = fromPem({buffer.bytes.data(), buffer.length});
    if (!key) return Error{file.string() + ": " + key.error().message};
    return key;
}

Result<void> PrivateKey::writeTo(const std::filesystem::path& file) const
{
    const Bio bio{BIO_new(BIO_s_secmem())};
    const char* pem = nullptr;
    if (!bio || PEM_write_bio_PKCS8PrivateKey(bio.get(), key_.get(), nullptr, nullptr, 0, nullptr,
                                              nullptr) != 1)
        throw std::runtime_error{"OpenSSL could not write an Ed25519 key as PEM"};
    const auto length = static_cast<std::size_t>(BIO_get_mem_data(bio.get(), &pem));

    const Descriptor out{
        ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR)};
    if (out.number < 0 && errno == EEXIST)
        return Error{file.string() +
                     ": already exists; a key is never overwritten, name another file"};
    if (out.number < 0) return failed(file, "create the key");

    // fchmod: the umask may have taken away our own access.
    if (::fchmod(out.number, S_IRUSR | S_IWUSR) != 0 || !writeAll(out.number, {pem, length}) ||
        ::fsync(out.number) != 0 || !syncDirectory(file.parent_path())) {
        const Error error = failed(file, "write the key");
        ::unlink(file.c_str());
        return error;
    }
    return {};
}

PublicKey PrivateKey::publicKey() const
{
    PublicKey key{};
    std::size_t length = key.size();
    if (EVP_PKEY_get_raw_public_key(key_.get(), key.data(), &length) != 1 || length != key.size())
        throw std::runtime_error{"OpenSSL could not tell the public key"};
    return key;
}

Verifier::Verifier(std::string name, std::uint32_t keyId, const PublicKey& key)
    : name_{std::move(name)},
      keyId_{keyId},
      publicKey_{key},
      key_{owned(
          EVP_PKEY_new_raw_public_key_ex(nullptr, "ED25519", nullptr, key.data(), key.size()))}
{}

Result<Verifier> Verifier::make(std::string name, const PublicKey& key)
{
    if (const auto fine = checkKeyName(name); !fine) return fine.error();
    const std::uint32_t keyId = computeKeyId(name, key);
    return Verifier{std::move(name), keyId, key};
}

Result<Verifier> Verifier::parse(std::string_view text)
{
    const std::size_t first = text.find('+');
    const std::size_t second = first == std::string_view::npos ? first : text.find('+', first + 1);
    if (second == std::string_view::npos) return Error{"verifier key: not of the form name+id+key"};

    const auto id = decodeHex(text.substr(first + 1, second - first - 1));
    if (!id || id->size() != 4)
        return Error{"verifier key: its id is not eight lower-case hex digits"};
    const auto typed = decodeBase64(text.substr(second + 1));
    if (!typed) return Error{"verifier key: " + typed.error().message};
    if (!typed->starts_with(kEd25519Type)) return Error{"verifier key: not of type 0x01 (Ed25519)"};
    PublicKey key{};
    if (typed->size() != 1 + key.size())
        return Error{"verifier key: the public key is not 32 bytes long"};
    std::transform(typed->begin() + 1, typed->end(), key.begin(),
                   [](char c) { return static_cast<std::uint8_t>(c); });

    auto verifier = make(std::string{text.substr(0, first)}, key);
    if (!verifier) return Error{"verifier key: " + verifier.error().message};
    if (verifier->keyId() != keyIdOf(*id))
        return Error{"verifier key: the id does not belong to this name and key"};
    return verifier;
}

std::string Verifier::format() const
{
    return name_ + '+' + encodeHex(keyIdBytes(keyId_)) + '+' +
           encodeBase64(kEd25519Type + std::string{view(publicKey_)});
}

bool Verifier::verify(std::string_view message, std::string_view signature) const
{
    const ErrorQueueGuard guard;
    const Context context{EVP_MD_CTX_new()};
    if (!context || EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key_.get()) != 1)
        throw std::runtime_error{"OpenSSL could not start to verify"};
    return signature.size() == kEd25519SignatureBytes &&
           EVP_DigestVerify(context.get(), unsignedBytes(signature), signature.size(),
                            unsignedBytes(message), message.size()) == 1;
}

void Signer::FreeContext::operator()(evp_md_ctx_st* context) const noexcept
{
    EVP_MD_CTX_free(context);
}

Signer::Signer(PrivateKey key, Verifier verifier)
    : key_{std::move(key)}, verifier_{std::move(verifier)}, context_{EVP_MD_CTX_new()}
{
    if (!context_ ||
        EVP_DigestSignInit(context_.get(), nullptr, nullptr, nullptr, key_.key_.get()) != 1)
        throw std::runtime_error{"OpenSSL could not start to sign"};
}

Result<Signer> Signer::make(std::string name, PrivateKey key)
{
    auto verifier = Verifier::make(std::move(name), key.publicKey());
    if (!verifier) return verifier.error();
    return Signer{std::move(key), *std::move(verifier)};
}

std::string Signer::sign(std::string_view message)
{
    std::string signature(kEd25519SignatureBytes, '\0');
    std::size_t length = signature.size();
    // Without a key, Init rewinds the context; from OpenSSL 3.2 on, signing twice without it fails.
    if (EVP_DigestSignInit(context_.get(), nullptr, nullptr, nullptr, nullptr) != 1 ||
        EVP_DigestSign(context_.get(), reinterpret_cast<unsigned char*>(signature.data()), &length,
                       unsignedBytes(message), message.size()) != 1 ||
        length != signature.size())
        throw std::runtime_error{"OpenSSL could not sign"};
    return signature;
}

Result<void> checkKeyName(std::string_view name)
{
    if (name.empty()) return Error{"the key name is empty"};
    while (!name.empty()) {
        const auto c = takeCodePoint(name);
        if (!c) return Error{"the key name is not UTF-8"};
        if (isSpace(*c)) return Error{"the key name contains a space"};
        if (*c < 0x20) return Error{"the key name contains a control character"};
        if (*c == '+') return Error{"the key name contains a plus sign"};
    }
    return {};
}

std::string keyIdBytes(std::uint32_t keyId)
{
    std::string bytes;
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(keyId >> shift);
    return bytes;
}

std::uint32_t keyIdOf(std::string_view fourBytes)
{
    std::uint32_t keyId = 0;
    for (const char c : fourBytes.substr(0, 4)) keyId = keyId << 8 | static_cast<unsigned char>(c);
    return keyId;
}

}  // namespace jackpot::storage
