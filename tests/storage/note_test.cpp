#include "storage/note.h"

#include <doctest/doctest.h>

#include <vector>

#include "base/encoding.h"
#include "storage/merkle.h"
#include "tests/storage/public_pem.h"
#include "tests/support/random.h"
#include "tests/support/scratch.h"

namespace jackpot::storage {
namespace {

const std::string kPeterKey = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const std::string kPeterText =
    "If you think cryptography is the answer to your problem,\nthen you don't know what your "
    "problem is.\n";
const std::string kPeterLine =
    "\u2014 PeterNeumann "
    "x08go/ZJkuBS9UG/"
    "SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";
const std::string kEnochLine =
    "\u2014 EnochRoot "
    "rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/"
    "5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n";
const std::string kRoot = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=";

Signer newSigner(const std::string& name)
{
    return Signer::make(name, PrivateKey::generate()).value();
}

std::string_view view(const PublicKey& key)
{
    return {reinterpret_cast<const char*>(key.data()), key.size()};
}

}  // namespace

TEST_CASE("the notes of the public specifications verify")
{
    struct Example {
        std::string key, text, lines;
    };
    const std::vector<Example> examples{
        {kPeterKey, kPeterText, kPeterLine},
        {kPeterKey, kPeterText, kPeterLine + kEnochLine},
        {kPeterKey, kPeterText, kEnochLine + kPeterLine},
        {"example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
         "This is an example message.\n",
         "\u2014 example.com/foo "
         "Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72Ineya"
         "QM=\n"}};
    for (const auto& [key, text, lines] : examples) {
        const std::string bytes = text + "\n" + lines;
        const auto note = Note::parse(bytes);
        REQUIRE(note);
        CHECK(note->text == text);
        CHECK(note->verify(*Verifier::parse(key)));
        CHECK(note->format().value() == bytes);
    }
}

TEST_CASE("a note's text may have blank lines: the last one separates")
{
    const std::string bytes =
        "Ognuno sta solo sul cuor della terra\ntrafitto da un raggio di sole:\n\ned \u00e8 subito "
        "sera.\n\n"
        "\u2014 quasimodo.example/salvatore "
        "NnugSzTjtVAewIS+Z/iJhUPeFDkO/"
        "5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=\n";
    const auto note = Note::parse(bytes);
    REQUIRE(note);
    CHECK(note->text.ends_with(":\n\ned \u00e8 subito sera.\n"));
    CHECK(note->signatures.at(0).keyName == "quasimodo.example/salvatore");
    CHECK(note->signatures.at(0).keyId == 0x367ba04b);
    CHECK(note->signatures.at(0).bytes.size() == 64);
    CHECK(note->format().value() == bytes);

    CHECK(Note::parse("text\n\n\n" + kPeterLine)->text == "text\n\n");
    CHECK(Note::parse("\n\n" + kPeterLine)->text == "\n");
}

TEST_CASE("malformed notes are refused")
{
    const std::string good = kPeterText + "\n" + kPeterLine;
    REQUIRE(Note::parse(good));
    std::string tooMany = kPeterText + "\n";
    for (std::size_t i = 0; i < kMaxNoteSignatures; ++i) tooMany += kPeterLine;
    REQUIRE(Note::parse(tooMany));
    std::string largest = std::string(kMaxNoteBytes - good.size(), 'x') + good;
    REQUIRE(Note::parse(largest));

    for (const std::string& bytes :
         std::vector<std::string>{"",
                                  "\n",
                                  "\n\n",
                                  kPeterText,
                                  kPeterText + "\n",
                                  kPeterText + "\n\n",
                                  kPeterText + kPeterLine,
                                  "\n" + kPeterLine,
                                  kPeterLine,
                                  good.substr(0, good.size() - 1),
                                  good + "\n",
                                  good + "x",
                                  good + "\n" + kPeterText,
                                  "\x80" + good,
                                  "\xC0\x80" + good,
                                  "\t" + good,
                                  std::string(1, '\0') + good,
                                  "\r\n" + good,
                                  good.substr(0, good.size() - 1) + "\r\n",
                                  kPeterText + "\n-" + kPeterLine.substr(3),
                                  kPeterText + "\n" + kPeterLine.substr(3),
                                  kPeterText + "\n " + kPeterLine,
                                  kPeterText + "\n\u2014\u00a0PeterNeumann x08go/ZJ\n",
                                  kPeterText + "\n\u2014  PeterNeumann x08go/ZJ\n",
                                  kPeterText + "\n\u2014 PeterNeumann  x08go/ZJ\n",
                                  kPeterText + "\n\u2014 PeterNeumann x08go/ZJ \n",
                                  kPeterText + "\n\u2014 PeterNeumann x08go/ZJ x\n",
                                  kPeterText + "\n\u2014 Peter+Neumann x08go/ZJ\n",
                                  kPeterText + "\n\u2014 Peter\u2003Neumann x08go/ZJ\n",
                                  kPeterText + "\n\u2014 PeterNeumann\n",
                                  kPeterText + "\n\u2014 PeterNeumann \n",
                                  kPeterText + "\n\u2014 \n",
                                  kPeterText + "\n\u2014  x08go/ZJ\n",
                                  kPeterText + "\n\u2014 PeterNeumann x08gow==\n",
                                  kPeterText + "\n\u2014 PeterNeumann x08go/Z\n",
                                  kPeterText + "\n\u2014 PeterNeumann x08go/ZJ=\n",
                                  kPeterText + "\n\u2014 PeterNeumann x08go_ZJ\n",
                                  kPeterText + "\n" + kPeterLine + "\u2014 bad\n" + kPeterLine,
                                  tooMany + kPeterLine,
                                  "x" + largest}) {
        CAPTURE(bytes.substr(0, 300));
        const auto note = Note::parse(bytes);
        REQUIRE_FALSE(note);
        CHECK(note.error().message.starts_with("note: "));
    }
}

TEST_CASE("sixteen post-quantum signatures fit (signed-note, Format)")
{
    Note note{.text = "text\n", .signatures = {}};
    for (int i = 0; i < 16; ++i)
        note.signatures.push_back(
            {"witness.example/with-a-long-name/" + std::to_string(i), 7, std::string(5000, 's')});
    const auto bytes = note.format();
    REQUIRE(bytes);
    CHECK(Note::parse(*bytes).value() == note);
}

TEST_CASE("what would not read back is not written")
{
    const NoteSignature fine{"name", 1, "signature"};
    CHECK(Note{"text\n", {fine}}.format());
    for (const Note& note :
         std::vector<Note>{{"text\n", {}},
                           {"text", {fine}},
                           {"", {fine}},
                           {"two\n\nparts", {fine}},
                           {"tab\t\n", {fine}},
                           {"text\n", {{"", 1, "signature"}}},
                           {"text\n", {{"a b", 1, "signature"}}},
                           {"text\n", {{"a+b", 1, "signature"}}},
                           {"text\n", {{"a AAAAAAAA\n\u2014 b", 1, "signature"}}},
                           {"text\n", {{"name", 1, ""}}},
                           {"text\n", std::vector<NoteSignature>(kMaxNoteSignatures + 1, fine)}}) {
        CAPTURE(note.text);
        CHECK_FALSE(note.format());
    }

    const Hash root = Hash::fromBase64(kRoot).value();
    CHECK(Checkpoint{"origin", 1, root, {"extension"}}.format());
    for (const Checkpoint& checkpoint :
         std::vector<Checkpoint>{{"", 1, root, {}},
                                 {"a\nb", 1, root, {}},
                                 {"a\tb", 1, root, {}},
                                 {"a\xFF", 1, root, {}},
                                 {"origin", kMaxTreeSize + 1, root, {}},
                                 {"origin", 1, root, {""}},
                                 {"origin", 1, root, {"a\nb"}}}) {
        CAPTURE(checkpoint.origin);
        CHECK_FALSE(checkpoint.format());
        Signer signer = newSigner("origin");
        CHECK_FALSE(signCheckpoint(checkpoint, signer));
    }
}

TEST_CASE("several keys sign one note; each verifies alone")
{
    Signer log = newSigner("jackpot.example");
    Signer rotated = newSigner("jackpot.example");
    Signer witness = newSigner("witness.example");
    Signer stranger = newSigner("stranger.example");
    Note note{.text = "text\n", .signatures = {}};
    for (Signer* const signer : {&log, &rotated, &witness}) note.sign(*signer);
    CHECK(note.signatures.size() == 3);

    const Note read = Note::parse(note.format().value()).value();
    CHECK(read == note);
    for (const Signer* const signer : {&log, &rotated, &witness})
        CHECK(read.verify(signer->verifier()));
    CHECK_FALSE(read.verify(stranger.verifier()));

    Note again = read;
    again.sign(log);
    CHECK(again.signatures.size() == 3);
    CHECK(again.verify(log.verifier()));
}

TEST_CASE("a wrong signature by the key fails the note, one by another key does not")
{
    Signer log = newSigner("jackpot.example");
    Signer witness = newSigner("witness.example");
    Note note{.text = "text\n", .signatures = {}};
    note.sign(log);
    note.sign(witness);
    const Note good = note;

    note.signatures[1].bytes = "nonsense";
    CHECK(note.verify(log.verifier()));
    CHECK(note.verify(witness.verifier()).error().message.find("is wrong") != std::string::npos);

    note = good;
    note.signatures.push_back(note.signatures[0]);
    CHECK(note.verify(log.verifier()));
    note.signatures.back().bytes[5] ^= 1;
    CHECK_FALSE(note.verify(log.verifier()));

    note = good;
    note.text = "Text\n";
    CHECK_FALSE(note.verify(log.verifier()));

    note = good;
    note.signatures[0].keyId ^= 1;
    CHECK(note.verify(log.verifier()).error().message.find("not signed by") != std::string::npos);
    note = good;
    note.signatures[0].keyName = "jackpot.example.org";
    CHECK(note.verify(log.verifier()).error().message.find("not signed by") != std::string::npos);
    note.signatures.clear();
    CHECK_FALSE(note.verify(log.verifier()));
}

TEST_CASE("a checkpoint reads and writes as tlog-checkpoint shows it, extension lines kept")
{
    const std::string text = "example.com/behind-the-sofa\n20852163\n" + kRoot + "\n";
    const std::string line =
        "\u2014 example.com/behind-the-sofa "
        "Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/"
        "Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n";
    const Note note = Note::parse(text + "\n" + line).value();
    const auto checkpoint = Checkpoint::parse(note.text);
    REQUIRE(checkpoint);
    CHECK(*checkpoint ==
          Checkpoint{"example.com/behind-the-sofa", 20852163, Hash::fromBase64(kRoot).value(), {}});
    CHECK(checkpoint->format().value() == text);

    for (const std::string& other :
         {"a b+c\n0\n" + kRoot + "\n", text + "one\n", text + "one\ntwo = 2\n \n",
          "o\n9223372036854775807\n" + kRoot + "\n"}) {
        const auto parsed = Checkpoint::parse(other);
        REQUIRE(parsed);
        CHECK(parsed->format().value() == other);
    }
    CHECK(Checkpoint::parse(text + "one\ntwo\n")->extensions ==
          std::vector<std::string>{"one", "two"});
}

TEST_CASE("malformed checkpoints are refused")
{
    for (const std::string& text :
         std::vector<std::string>{"",
                                  "\n",
                                  "origin\n",
                                  "origin\n1\n",
                                  "origin\n1\n" + kRoot,
                                  "\n1\n" + kRoot + "\n",
                                  "origin\n\n" + kRoot + "\n",
                                  "origin\n01\n" + kRoot + "\n",
                                  "origin\n00\n" + kRoot + "\n",
                                  "origin\n+1\n" + kRoot + "\n",
                                  "origin\n-1\n" + kRoot + "\n",
                                  "origin\n 1\n" + kRoot + "\n",
                                  "origin\n1 \n" + kRoot + "\n",
                                  "origin\n0x1\n" + kRoot + "\n",
                                  "origin\n9223372036854775808\n" + kRoot + "\n",
                                  "origin\r\n1\r\n" + kRoot + "\r\n",
                                  "origin\n1\n\n",
                                  "origin\n1\n" + kRoot.substr(4) + "\n",
                                  "origin\n1\n" + kRoot.substr(0, 43) + "\n",
                                  "origin\n1\nAAAA" + kRoot + "\n",
                                  "origin\n1\n" + kRoot.substr(0, 42) + "J=\n",
                                  "origin\n1\n" + kRoot + " \n",
                                  "origin\n1\n" + kRoot + "\n\n",
                                  "origin\n1\n" + kRoot + "\n\nextension\n",
                                  "origin\n1\n" + kRoot + "\nextension",
                                  "origin\n1\n" + kRoot + "\nextension\t\n",
                                  "orig\xFFin\n1\n" + kRoot + "\n"}) {
        CAPTURE(text);
        const auto checkpoint = Checkpoint::parse(text);
        REQUIRE_FALSE(checkpoint);
        CHECK(checkpoint.error().message.starts_with("checkpoint"));
    }
}

TEST_CASE("a signed checkpoint opens with its key, for its origin alone")
{
    Signer signer = newSigner("jackpot.example/pit-7");
    const Checkpoint checkpoint{"jackpot.example/pit-7", 42, leafHash("x"), {"extension"}};
    const Note note = Note::parse(signCheckpoint(checkpoint, signer).value()).value();
    CHECK(openCheckpoint(note, signer.verifier()).value() == checkpoint);
    CHECK_FALSE(openCheckpoint(note, newSigner("jackpot.example/pit-7").verifier()));

    Checkpoint foreign = checkpoint;
    foreign.origin = "jackpot.example/pit-8";
    const Note other = Note::parse(signCheckpoint(foreign, signer).value()).value();
    CHECK(other.verify(signer.verifier()));
    CHECK_FALSE(openCheckpoint(other, signer.verifier()));

    Note plain{.text = "no checkpoint\n", .signatures = {}};
    plain.sign(signer);
    CHECK_FALSE(openCheckpoint(plain, signer.verifier()));
}

TEST_CASE("the openssl program verifies what we sign, and we verify what it signs")
{
    const ScratchDirectory directory;
    const PrivateKey key = PrivateKey::generate();
    REQUIRE(key.writeTo(directory / "key"));
    Signer signer = Signer::make("jackpot.example", key).value();
    directory.write("public", publicPem(view(key.publicKey())));

    const std::string bytes =
        signCheckpoint({"jackpot.example", 7, leafHash("x"), {}}, signer).value();
    Note note = Note::parse(bytes).value();
    const std::string verify =
        "pkeyutl -verify -pubin -inkey public -rawin -in text -sigfile signature";
    directory.write("text", note.text);
    directory.write("signature", note.signatures.at(0).bytes);
    CHECK(directory.openssl(verify));
    directory.write("text", note.text + "\n");
    CHECK_FALSE(directory.openssl(verify));

    const std::string text = "signed by the program\n";
    directory.write("text", text);
    REQUIRE(directory.openssl("pkeyutl -sign -inkey key -rawin -in text -out signature"));
    note = {.text = text,
            .signatures = {{"jackpot.example", signer.keyId(), bytesOf(directory / "signature")}}};
    const Note read = Note::parse(note.format().value()).value();
    CHECK(read.verify(signer.verifier()));
    note.text = "Signed by the program\n";
    CHECK_FALSE(note.verify(signer.verifier()));
}

TEST_CASE(
    "whatever note is accepted formats back to the same bytes, and verifies only with its own text")
{
    auto random = seededRandom();
    Signer signer = newSigner("jackpot.example");
    Signer witness = newSigner("witness.example");
    const Checkpoint checkpoint{"jackpot.example", 42, leafHash("x"), {"extension"}};
    Note note = Note::parse(signCheckpoint(checkpoint, signer).value()).value();
    note.sign(witness);
    const std::string bytes = note.format().value();
    int wrong = 0;
    for (int i = 0; i < 100'000; ++i) {
        const std::string other = mutated(bytes, random);
        const auto parsed = Note::parse(other);
        if (!parsed) continue;
        if (parsed->format().value() != other) ++wrong;
        if (parsed->text != note.text && i % 10 == 0 && parsed->verify(signer.verifier())) ++wrong;
        const auto inside = Checkpoint::parse(parsed->text);
        if (inside && inside->format().value() != parsed->text) ++wrong;
    }
    CHECK(wrong == 0);
}

}  // namespace jackpot::storage
