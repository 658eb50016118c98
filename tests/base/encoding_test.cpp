#include "base/encoding.h"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "base/utf8.h"
#include "storage/sha256.h"
#include "tests/support/random.h"

namespace jackpot::storage {

TEST_CASE(
    "SHA-256 gives the results of the FIPS 180-4 examples, on any thread, in any number of parts")
{
    const auto examples = [] {
        return sha256({}).hex() ==
                   "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" &&
               sha256({"abc"}).hex() ==
                   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" &&
               sha256({"a", {}, "", "bc"}) == sha256({"abc"}) &&
               sha256({std::string(1'000'000, 'a')}).hex() ==
                   "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
    };
    CHECK(examples());
    bool elsewhere = false;
    std::thread{[&] { elsewhere = examples(); }}.join();
    CHECK(elsewhere);
}

TEST_CASE("base64 gives the results of the examples in RFC 4648 section 10")
{
    const std::vector<std::pair<std::string, std::string>> examples{{"", ""},
                                                                    {"f", "Zg=="},
                                                                    {"fo", "Zm8="},
                                                                    {"foo", "Zm9v"},
                                                                    {"foob", "Zm9vYg=="},
                                                                    {"fooba", "Zm9vYmE="},
                                                                    {"foobar", "Zm9vYmFy"},
                                                                    {"\xFB\xFF", "+/8="}};
    for (const auto& [bytes, text] : examples) {
        CAPTURE(text);
        CHECK(encodeBase64(bytes) == text);
        CHECK(decodeBase64(text).value() == bytes);
    }
}

TEST_CASE("base64 that is not in its canonical form is refused")
{
    for (const std::string text :
         {"Z",     "Zg",    "Zg=",      "Zm8",      "Zg===", "Z===",   "====", "=",
          "==",    "Zm9v=", "Zm9v====", "Zg==Zg==", "Zh==",  "Zm9=",   "Zm-v", "Zm_v",
          "Zm 9v", " Zm9v", "Zm9v\n",   "Zm\n9v==", "Z=g=",  "Zm9\x80"}) {
        CAPTURE(text);
        const auto decoded = decodeBase64(text);
        REQUIRE_FALSE(decoded);
        CHECK_FALSE(decoded.error().message.empty());
    }
    CHECK_FALSE(decodeBase64(std::string_view{"Zm9\0", 4}));
}

TEST_CASE("hex has lower-case digits and an even length")
{
    CHECK(encodeHex(std::string_view{"\x00\x7F\xFF", 3}) == "007fff");
    CHECK(decodeHex("007fff").value() == std::string{"\x00\x7F\xFF", 3});
    CHECK(decodeHex("").value().empty());
    for (const std::string text : {"0", "0g", "0A", "0x00", "00 ", "-1"})
        CHECK_FALSE(decodeHex(text));
}

TEST_CASE("each number from 0 to 2^63 - 1 has one form")
{
    CHECK(parseDecimal("0").value() == 0);
    CHECK(parseDecimal("9223372036854775807").value() == 9223372036854775807U);
    for (const std::string text :
         {"", "00", "01", "+1", "-1", "-0", " 1", "1 ", "1\n", "0x1", "1e3", "1.0", "a",
          "9223372036854775808", "18446744073709551616", "99999999999999999999999999"}) {
        CAPTURE(text);
        CHECK_FALSE(parseDecimal(text));
    }
}

TEST_CASE("code points are only read from well-formed UTF-8 (RFC 3629)")
{
    const std::vector<std::pair<std::string, char32_t>> points{{"A", U'A'},
                                                               {"\x7F", 0x7F},
                                                               {"\xC2\x80", 0x80},
                                                               {"\xDF\xBF", 0x7FF},
                                                               {"\xE0\xA0\x80", 0x800},
                                                               {"\xED\x9F\xBF", 0xD7FF},
                                                               {"\xEE\x80\x80", 0xE000},
                                                               {"\xE2\x80\x94", 0x2014},
                                                               {"\xEF\xBF\xBF", 0xFFFF},
                                                               {"\xF0\x90\x80\x80", 0x10000},
                                                               {"\xF4\x8F\xBF\xBF", 0x10FFFF}};
    for (const auto& [bytes, point] : points) {
        const std::string followed = bytes + "x";
        std::string_view rest = followed;
        CHECK(takeCodePoint(rest).value() == point);
        CHECK(rest == "x");
    }
    for (const std::string bytes :
         {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2x", "\xE0\x9F\xBF", "\xE2\x80",
          "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
          "\xF5\x80\x80\x80", "\xF0\x90\x80", "\xFF"}) {
        std::string_view rest = bytes;
        CHECK_FALSE(takeCodePoint(rest));
    }
}

TEST_CASE("a hash has 32 bytes")
{
    const Hash hash = sha256({"abc"});
    CHECK(Hash::fromBytes(hash.view()).value() == hash);
    CHECK(Hash::fromBase64(hash.base64()).value() == hash);
    CHECK_FALSE(Hash::fromBytes(hash.view().substr(1)));
    CHECK_FALSE(Hash::fromBase64(encodeBase64(std::string{hash.view()} + "x")));
    CHECK_FALSE(Hash::fromBase64("no"));
}

TEST_CASE("every accepted base64 text encodes back to the same text")
{
    auto random = seededRandom();
    int wrong = 0;
    for (int i = 0; i < 100'000; ++i) {
        std::string bytes(below(random, 40), '\0');
        for (char& c : bytes) c = static_cast<char>(below(random, 256));
        const std::string text = encodeBase64(bytes);
        if (decodeBase64(text).value() != bytes) ++wrong;
        const std::string other = mutated(text, random);
        if (const auto decoded = decodeBase64(other); decoded && encodeBase64(*decoded) != other)
            ++wrong;
    }
    CHECK(wrong == 0);
}

}  // namespace jackpot::storage
