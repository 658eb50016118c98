#include "storage/keys.h"

#include <doctest/doctest.h>
#include <openssl/err.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <vector>

#include "base/encoding.h"
#include "tests/storage/public_pem.h"
#include "tests/support/random.h"
#include "tests/support/scratch.h"

namespace jackpot::storage {
namespace {

std::string_view view(const PublicKey& key)
{
    return {reinterpret_cast<const char*>(key.data()), key.size()};
}

unsigned modeOf(const std::filesystem::path& file)
{
    struct stat found {};
    REQUIRE(::stat(file.c_str(), &found) == 0);
    return found.st_mode & 07777;
}

bool contains(const std::string& text, std::string_view part)
{
    return text.find(part) != std::string::npos;
}

struct Umask {
    mode_t before;
    explicit Umask(mode_t mask) : before{::umask(mask)} {}
    ~Umask() { ::umask(before); }
};

struct CredentialsDirectory {
    explicit CredentialsDirectory(const std::filesystem::path& path)
    {
        ::setenv("CREDENTIALS_DIRECTORY", path.c_str(), 1);
    }
    ~CredentialsDirectory() { ::unsetenv("CREDENTIALS_DIRECTORY"); }
};

}  // namespace

TEST_CASE("signing answers RFC 8032 section 7.1, test 1 to 3")
{
    struct Example {
        std::string seed, publicKey, message, signature;
    };
    const std::vector<Example> examples{
        {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
         "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
         "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701"
         "cf9b46b"
         "d25bf5f0595bbe24655141438e7a100b"},
        {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
         "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
         "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d"
         "0f11d8c"
         "387b2eaeb4302aeeb00d291612bb0c00"},
        {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
         "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
         "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f7609"
         "84dc659"
         "4a7c15e9716ed28dc027beceea1ec40a"}};
    for (const Example& example : examples) {
        // RFC 8410: a PKCS#8 Ed25519 key is these 16 bytes and the seed.
        const std::string der = *decodeHex("302e020100300506032b657004220420" + example.seed);
        auto key = PrivateKey::fromPem("-----BEGIN PRIVATE KEY-----\n" + encodeBase64(der) +
                                       "\n-----END PRIVATE KEY-----\n");
        REQUIRE(key);
        CHECK(encodeHex(view(key->publicKey())) == example.publicKey);

        auto signer = Signer::make("rfc8032", *key);
        REQUIRE(signer);
        const std::string message = *decodeHex(example.message);
        for (int again = 0; again < 3; ++again) {
            const std::string signature = signer->sign(message);
            CHECK(encodeHex(signature) == example.signature);
            CHECK(signer->verifier().verify(message, signature));
            CHECK_FALSE(signer->verifier().verify(message + "x", signature));
        }
        CHECK(signer->sign({}) == signer->sign(""));
    }
}

TEST_CASE("a signature with any bit flipped, or of another length, is refused")
{
    auto signer = Signer::make("jackpot.example", PrivateKey::generate());
    const std::string signature = signer->sign("message");
    const Verifier verifier = signer->verifier();
    REQUIRE(verifier.verify("message", signature));
    for (std::size_t bit = 0; bit < 512; ++bit) {
        std::string other = signature;
        other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << bit % 8));
        CHECK_FALSE(verifier.verify("message", other));
    }
    CHECK_FALSE(verifier.verify("message", ""));
    CHECK_FALSE(verifier.verify("message", signature.substr(1)));
    CHECK_FALSE(verifier.verify("message", signature + '\0'));
    CHECK_FALSE(Signer::make("jackpot.example", PrivateKey::generate())
                    ->verifier()
                    .verify("message", signature));
}

TEST_CASE("copies of a verifier verify on several threads at once")
{
    auto signer = Signer::make("jackpot.example", PrivateKey::generate());
    const std::string signature = signer->sign("message");
    std::array<int, 4> verified{};
    {
        std::vector<std::jthread> threads;
        for (int& count : verified)
            threads.emplace_back([&count, &signature, verifier = signer->verifier()] {
                for (int i = 0; i < 50; ++i) count += verifier.verify("message", signature);
            });
    }
    CHECK(verified == std::array<int, 4>{50, 50, 50, 50});
}

TEST_CASE("a written key is its owner's alone and loads again")
{
    const ScratchDirectory directory;
    const PrivateKey key = PrivateKey::generate();
    for (const mode_t mask : {0U, 022U, 0777U}) {
        const Umask umask{mask};
        const auto file = directory / ("key" + std::to_string(mask));
        REQUIRE(key.writeTo(file));
        CHECK(modeOf(file) == 0600);
        CHECK(bytesOf(file).starts_with("-----BEGIN PRIVATE KEY-----\n"));
        auto loaded = PrivateKey::load(file);
        REQUIRE(loaded);
        CHECK(loaded->publicKey() == key.publicKey());
    }
    CHECK(PrivateKey::generate().publicKey() != key.publicKey());
}

TEST_CASE("a key is never overwritten")
{
    const ScratchDirectory directory;
    const auto file = directory.write("precious", "precious");
    std::filesystem::create_symlink(directory / "nowhere", directory / "dangling");
    for (const char* const name : {"precious", "dangling"}) {
        const auto written = PrivateKey::generate().writeTo(directory / name);
        REQUIRE_FALSE(written);
        CHECK(contains(written.error().message, "already exists"));
    }
    CHECK(bytesOf(file) == "precious");
    CHECK_FALSE(std::filesystem::exists(directory / "nowhere"));

    const auto nowhere = PrivateKey::generate().writeTo(directory / "missing/key");
    REQUIRE_FALSE(nowhere);
    CHECK(contains(nowhere.error().message, "No such file or directory"));
}

TEST_CASE("a key that can't be written whole leaves no half behind")
{
    const ScratchDirectory directory;
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit tight{10, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &tight) == 0);
    const auto written = PrivateKey::generate().writeTo(directory / "key");
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    std::signal(SIGXFSZ, handler);

    REQUIRE_FALSE(written);
    CHECK(contains(written.error().message, "File too large"));
    CHECK_FALSE(std::filesystem::exists(directory / "key"));
}

TEST_CASE("a key that others can get at is refused, with the remedy")
{
    const ScratchDirectory directory;
    const auto file = directory / "key";
    REQUIRE(PrivateKey::generate().writeTo(file));
    for (const unsigned mode : {0600U, 0400U, 0700U}) {
        REQUIRE(::chmod(file.c_str(), mode) == 0);
        CHECK(PrivateKey::load(file));
    }
    for (const unsigned mode :
         {0640U, 0440U, 0604U, 0644U, 0620U, 0602U, 0610U, 0601U, 0666U, 0777U}) {
        REQUIRE(::chmod(file.c_str(), mode) == 0);
        const auto loaded = PrivateKey::load(file);
        REQUIRE_FALSE(loaded);
        CHECK(contains(loaded.error().message, "chmod 600 " + file.string()));
    }
}

TEST_CASE("in systemd's credentials directory, and only there, the group bits may be an ACL's mask")
{
    const ScratchDirectory credentials;
    const ScratchDirectory elsewhere;
    REQUIRE(PrivateKey::generate().writeTo(credentials / "key"));
    REQUIRE(PrivateKey::generate().writeTo(elsewhere / "key"));
    const auto loads = [](const std::filesystem::path& file, unsigned mode) {
        REQUIRE(::chmod(file.c_str(), mode) == 0);
        return static_cast<bool>(PrivateKey::load(file));
    };
    CHECK_FALSE(loads(credentials / "key", 0440));

    const CredentialsDirectory given{credentials.path()};
    CHECK(loads(credentials / "key", 0400));
    CHECK(loads(credentials / "key", 0440));
    CHECK_FALSE(loads(credentials / "key", 0460));
    CHECK_FALSE(loads(credentials / "key", 0444));
    CHECK(loads(elsewhere / "key", 0400));
    CHECK_FALSE(loads(elsewhere / "key", 0440));

    const CredentialsDirectory none{""};
    CHECK_FALSE(loads(credentials / "key", 0440));
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(credentials.path());
    CHECK_FALSE(loads("key", 0440));
    std::filesystem::current_path(before);
}

TEST_CASE("what is not a key file is refused")
{
    const ScratchDirectory directory;
    const auto refusal = [](const std::filesystem::path& file) {
        const auto loaded = PrivateKey::load(file);
        REQUIRE_FALSE(loaded);
        CHECK(loaded.error().message.starts_with(file.string() + ": "));
        return loaded.error().message;
    };
    CHECK(contains(refusal(directory / "missing"), "No such file"));
    CHECK(contains(refusal(directory.path()), "not a regular file"));
    CHECK(contains(refusal("/dev/zero"), "not a regular file"));
    REQUIRE(::mkfifo((directory / "pipe").c_str(), 0600) == 0);
    CHECK(contains(refusal(directory / "pipe"), "not a regular file"));
    CHECK(contains(refusal(directory.write("empty", "")), "not a private key in PEM"));
    CHECK(contains(refusal(directory.write("garbage", "garbage")), "not a private key in PEM"));
    CHECK(contains(refusal(directory.write("large", std::string(kMaxKeyFileBytes + 1, '\n'))),
                   "larger than"));
    CHECK(contains(refusal(directory.write("huge", std::string(10'000'000, 'x'))), "larger than"));

    const PrivateKey key = PrivateKey::generate();
    CHECK(contains(refusal(directory.write("public", publicPem(view(key.publicKey())))),
                   "not a private key in PEM"));
    REQUIRE(key.writeTo(directory / "key"));
    const std::string pem = bytesOf(directory / "key");
    CHECK(contains(refusal(directory.write("half", pem.substr(0, pem.size() / 2))),
                   "not a private key in PEM"));
    CHECK(PrivateKey::load(
        directory.write("padded", std::string(kMaxKeyFileBytes - pem.size(), '\n') + pem)));

    std::filesystem::create_symlink(directory / "key", directory / "link");
    CHECK(PrivateKey::load(directory / "link")->publicKey() == key.publicKey());
    std::filesystem::create_symlink(directory / "missing", directory / "dangling");
    CHECK(contains(refusal(directory / "dangling"), "No such file"));
}

TEST_CASE("the openssl program reads our keys, we read its Ed25519 keys and refuse its others")
{
    const ScratchDirectory directory;
    const Umask umask{077};
    const PrivateKey ours = PrivateKey::generate();
    REQUIRE(ours.writeTo(directory / "ours"));
    REQUIRE(directory.openssl("pkey -in ours -pubout -out ours.pub"));
    CHECK(bytesOf(directory / "ours.pub") == publicPem(view(ours.publicKey())));

    REQUIRE(directory.openssl("genpkey -algorithm ed25519 -out theirs"));
    REQUIRE(directory.openssl("pkey -in theirs -pubout -out theirs.pub"));
    const auto theirs = PrivateKey::load(directory / "theirs");
    REQUIRE(theirs);
    CHECK(bytesOf(directory / "theirs.pub") == publicPem(view(theirs->publicKey())));

    const std::vector<std::pair<std::string, std::string>> others{
        {"rsa", "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048"},
        {"p256", "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256"},
        {"x25519", "genpkey -algorithm x25519"},
        {"ed448", "genpkey -algorithm ed448"}};
    for (const auto& [name, command] : others) {
        CAPTURE(name);
        REQUIRE(directory.openssl(command + " -out " + name));
        const auto loaded = PrivateKey::load(directory / name);
        REQUIRE_FALSE(loaded);
        CHECK(contains(loaded.error().message, "not an Ed25519 key"));
    }
    REQUIRE(directory.openssl("pkey -in theirs -aes256 -passout pass:secret -out locked"));
    const auto locked = PrivateKey::load(directory / "locked");
    REQUIRE_FALSE(locked);
    CHECK(contains(locked.error().message, "encrypted; decrypt it first"));
}

TEST_CASE("a refusal leaves nothing in OpenSSL's error queue")
{
    ERR_clear_error();
    CHECK_FALSE(PrivateKey::fromPem("garbage"));
    CHECK_FALSE(
        PrivateKey::fromPem("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"));
    const auto signer = Signer::make("jackpot.example", PrivateKey::generate());
    CHECK_FALSE(signer->verifier().verify("message", std::string(64, '\xFF')));
    CHECK(ERR_peek_error() == 0);
}

TEST_CASE("key files of any bytes are read or refused")
{
    auto random = seededRandom();
    const ScratchDirectory directory;
    REQUIRE(PrivateKey::generate().writeTo(directory / "key"));
    const std::string pem = bytesOf(directory / "key");
    int silent = 0;
    for (int i = 0; i < 3'000; ++i)
        if (const auto key = PrivateKey::fromPem(mutated(pem, random));
            !key && key.error().message.empty())
            ++silent;
    CHECK(silent == 0);
}

TEST_CASE("public verifier keys are read and written as they are")
{
    for (const std::string text :
         {"PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
          "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"}) {
        const auto verifier = Verifier::parse(text);
        REQUIRE(verifier);
        CHECK(verifier->name() == text.substr(0, text.find('+')));
        CHECK(encodeHex(keyIdBytes(verifier->keyId())) == text.substr(text.find('+') + 1, 8));
        CHECK(verifier->format() == text);
        CHECK(Verifier::make(verifier->name(), verifier->publicKey())->format() == text);
    }
}

TEST_CASE("malformed verifier keys are refused")
{
    const std::string key = "ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    for (const std::string& text :
         std::vector<std::string>{"",
                                  "+",
                                  "++",
                                  "PeterNeumann",
                                  "PeterNeumann+c74f20a3",
                                  "PeterNeumann+c74f20a3+",
                                  "+c74f20a3+" + key,
                                  "PeterNeumann++" + key,
                                  "PeterNeumann+c74f20a4+" + key,
                                  "PeterNeumann+C74F20A3+" + key,
                                  "PeterNeumann+74f20a3+" + key,
                                  "PeterNeumann+0c74f20a3+" + key,
                                  "PeterNeumann+c74f20+" + key,
                                  "PeterNeuman+c74f20a3+" + key,
                                  "Peter Neumann+c74f20a3+" + key,
                                  "Peter\xFFNeumann+c74f20a3+" + key,
                                  " PeterNeumann+c74f20a3+" + key,
                                  "PeterNeumann+c74f20a3+" + key + "\n",
                                  "PeterNeumann+c74f20a3+" + key + " ",
                                  "PeterNeumann+c74f20a3+" + key + "+",
                                  "PeterNeumann+c74f20a3+" + key.substr(4),
                                  "PeterNeumann+c74f20a3+" + key + "AAAA",
                                  "PeterNeumann+c74f20a3+" + key.substr(0, 43) + "=",
                                  "PeterNeumann+c74f20a3+Ah" + key.substr(2),
                                  "PeterNeumann+c74f20a3+BB" + key.substr(2)}) {
        CAPTURE(text);
        const auto verifier = Verifier::parse(text);
        REQUIRE_FALSE(verifier);
        CHECK(verifier.error().message.starts_with("verifier key: "));
    }
}

TEST_CASE("key names are not empty and have no space, plus, control character or broken UTF-8")
{
    for (const std::string name : {"a", "jackpot.example/pit-7",
                                   "\xC3\xBC"
                                   "bung",
                                   "\xE2\x80\x94", "a\x7F", "\xE2\x80\x8B"}) {
        CAPTURE(name);
        CHECK(checkKeyName(name));
    }
    for (const std::string name : {"",
                                   " ",
                                   "a b",
                                   "a+b",
                                   "+",
                                   "a\n",
                                   "\ta",
                                   "a\x01",
                                   "a\x1F",
                                   "a\r",
                                   "\xC2\x85",
                                   "a\xC2\xA0",
                                   "\xE1\x9A\x80",
                                   "\xE2\x80\x80",
                                   "\xE2\x80\x8A",
                                   "\xE2\x80\xA8",
                                   "\xE2\x80\xA9",
                                   "\xE2\x80\xAF",
                                   "\xE2\x81\x9F",
                                   "\xE3\x80\x80",
                                   "\x80",
                                   "a\xC3"}) {
        CAPTURE(name);
        CHECK_FALSE(checkKeyName(name));
        CHECK_FALSE(Signer::make(name, PrivateKey::generate()));
    }
}

TEST_CASE("whatever verifier key is accepted formats back to the same text")
{
    auto random = seededRandom();
    const std::string text = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    int wrong = 0;
    for (int i = 0; i < 100'000; ++i) {
        const std::string other = mutated(text, random);
        if (const auto parsed = Verifier::parse(other); parsed && parsed->format() != other)
            ++wrong;
    }
    CHECK(wrong == 0);
}

}  // namespace jackpot::storage
