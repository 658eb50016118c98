// Signatures that are moved, keys that are replaced, and histories that are combined from several.
#include <doctest/doctest.h>

#include "base/encoding.h"
#include "storage/merkle.h"
#include "tests/storage/tamper_journal.h"

namespace jackpot::storage::tamper {
namespace {

namespace fs = std::filesystem;

constexpr auto kEnd = static_cast<std::int64_t>(kRecords);

const Contents& genuine() { return original().contents; }
std::uint64_t lastOf(std::int64_t size) { return seqOf(size) - 1; }

std::int64_t rotatedAt() { return static_cast<std::int64_t>(findRecord(genuine(), "key_rotated")); }

class Forged {
public:
    ~Forged()
    {
        const auto verdict = verdictOn(genuine());
        CHECK_MESSAGE(verdict, inWords(verdict));
    }
    Verdict verdictOn(const Contents& contents, const VerifyOptions& options = everything())
    {
        store(contents, file_);
        return storage::verify({file_}, options);
    }
    // The file that was last looked at.
    [[nodiscard]] Verdict again(const VerifyOptions& options) const
    {
        return storage::verify({file_}, options);
    }

private:
    MemoryDirectory directory_;
    fs::path file_ = directory_ / "journal.db";
};

VerifyOptions trusting(std::vector<Verifier> keys)
{
    VerifyOptions options = everything();
    options.trusted = std::move(keys);
    return options;
}

Contents with(const std::function<void(Contents&)>& change)
{
    Contents contents = genuine();
    change(contents);
    return contents;
}

Note noteOf(std::int64_t size) { return Note::parse(genuine().notes.at(size)).value(); }

Contents withNote(std::int64_t size, const Note& note)
{
    return with([&](Contents& all) { all.notes.at(size) = note.format().value(); });
}

NoteSignature signatureBy(char letter, const std::string& text, const std::string& name = "site")
{
    Signer signer = signerOf(letter, name);
    return {signer.name(), signer.keyId(), signer.sign(text)};
}

rules::TimeMs timeOf(const std::string& payload) { return readRecord(payload).value().head.timeMs; }

}  // namespace

// --- signatures ----------------------------------------------------------------------------------

TEST_CASE("signatures exchanged between all pairs of checkpoints")
{
    Forged forged;
    Family family{"signatures exchanged between all pairs of checkpoints"};
    Family control{"control: the same without signatures"};
    for (auto a = genuine().notes.begin(); a != genuine().notes.end(); ++a)
        for (auto b = std::next(a); b != genuine().notes.end(); ++b) {
            Note first = noteOf(a->first);
            Note second = noteOf(b->first);
            const bool sameNumber = first.signatures.size() == second.signatures.size();
            std::swap(first.signatures, second.signatures);
            const auto which = [&, a = a->first, b = b->first] {
                return std::to_string(a) + " and " + std::to_string(b);
            };
            const auto verdict = forged.verdictOn(with([&](Contents& all) {
                all.notes.at(a->first) = first.format().value();
                all.notes.at(b->first) = second.format().value();
            }));
            family.mustDetect(verdict, oneOf({lastOf(a->first)}), which);
            const auto blind = forged.again(treeOnly());
            if (sameNumber)
                control.mustPass(blind, which);
            else
                control.mustDetect(blind, oneOf({lastOf(a->first)}), which);
        }
    const std::size_t notes = genuine().notes.size();
    family.expect(notes * (notes - 1) / 2);
    control.expect(notes * (notes - 1) / 2);
}

TEST_CASE("each signature taken away, doubled, or made by another key")
{
    Forged forged;
    Family family{"each signature taken away, doubled or made by another key"};
    std::uint64_t signatures = 0;
    for (const auto& [size, text] : genuine().notes) {
        const Note note = noteOf(size);
        for (std::size_t i = 0; i < note.signatures.size(); ++i) {
            ++signatures;
            const auto at = oneOf({lastOf(size)});
            // The last one is read before all else.
            const auto gone = size == kEnd ? oneOf({std::nullopt, lastOf(size)}) : at;
            const auto which = [&, size = size] { return std::to_string(size); };
            const auto tryIt = [&](const Family::At& right, const auto& change) {
                Note changed = note;
                change(changed.signatures);
                std::string bytes = changed.text + '\n';
                for (const NoteSignature& each : changed.signatures)
                    bytes += "\u2014 " + each.keyName + ' ' +
                             encodeBase64(keyIdBytes(each.keyId) + each.bytes) + '\n';
                const auto contents = with([&](Contents& all) { all.notes.at(size) = bytes; });
                family.mustDetect(forged.verdictOn(contents, withoutOutcomes()), right, which);
            };
            using Signatures = std::vector<NoteSignature>;
            const auto here = static_cast<std::ptrdiff_t>(i);
            tryIt(note.signatures.size() == 1 ? gone : at,
                  [&](Signatures& all) { all.erase(all.begin() + here); });
            tryIt(at, [&](Signatures& all) { all.push_back(all[i]); });
            tryIt(at, [&](Signatures& all) { all[i] = signatureBy(kForeignKey, note.text); });
            tryIt(at, [&](Signatures& all) {
                all[i].bytes = signatureBy(kForeignKey, note.text).bytes;
            });
            tryIt(at, [&](Signatures& all) { all[i].bytes = std::string(64, '\0'); });
            tryIt(at, [&](Signatures& all) { all[i].bytes += '\0'; });
            tryIt(at, [&](Signatures& all) { all[i].bytes.pop_back(); });
            tryIt(at, [&](Signatures& all) { all[i].keyName = "other"; });
            tryIt(at, [&](Signatures& all) { all[i].keyId ^= 1; });
            tryIt(at, [&](Signatures& all) {
                all.push_back(signatureBy(kForeignKey, note.text, "witness"));
            });
        }
    }
    CHECK(signatures == genuine().notes.size() + 1);
    family.expect(10 * signatures);
}

TEST_CASE("checkpoints that say something else, signed with the right key")
{
    Forged forged;
    Family family{"checkpoints that say something else, signed with the right key"};
    const Signing signing = asOriginal(genuine());
    for (const auto& [size, text] : genuine().notes) {
        const Checkpoint checkpoint = Checkpoint::parse(noteOf(size).text).value();
        const auto tryIt = [&](const Family::At& right, const auto& change) {
            Checkpoint changed = checkpoint;
            change(changed);
            Note note{changed.format().value(), {}};
            for (Signer* signer : signing(seqOf(size))) note.sign(*signer);
            family.mustDetect(forged.verdictOn(withNote(size, note), withoutOutcomes()), right,
                              [&, size = size] { return std::to_string(size); });
        };
        const auto at = oneOf({lastOf(size)});
        const auto claimed = [&](std::uint64_t records) {
            return size == kEnd ? oneOf({std::nullopt, lastOf(size), records, kRecords}) : at;
        };
        tryIt(at, [](Checkpoint& all) { all.origin = "other"; });
        tryIt(at, [](Checkpoint& all) { all.root.bytes.at(0) ^= 1; });
        tryIt(claimed(seqOf(size) - 1), [](Checkpoint& all) { --all.size; });
        tryIt(claimed(seqOf(size) + 1), [](Checkpoint& all) { ++all.size; });
        tryIt(claimed(0), [](Checkpoint& all) { all.size = kMaxTreeSize; });
    }
    family.expect(5 * genuine().notes.size());
}

TEST_CASE("everything signed again with another key")
{
    Forged forged;
    Family family{"everything signed again with another key"};
    const auto foreign = [](char first, char second) {
        return [first, second](Contents& all) {
            for (auto& [seq, payload] : all.payloads)
                for (const auto& [from, to] : {std::pair{kFirstKey, first}, {kSecondKey, second}}) {
                    const std::string key = verifierOf(from).format();
                    if (payload.find(key) != std::string::npos)
                        payload = replaced(payload, key, verifierOf(to).format());
                }
        };
    };
    // The records name the right key, the signatures are another's.
    family.mustDetect(forged.verdictOn(signedAnew(genuine(), alwaysBy(kForeignKey))), oneOf({0}),
                      [] { return "the records as they were"; });
    // Under the right key's id.
    family.mustDetect(forged.verdictOn(with([](Contents& all) {
        for (auto& [size, text] : all.notes) {
            Note note = Note::parse(text).value();
            for (NoteSignature& each : note.signatures)
                each.bytes = signatureBy(kForeignKey, note.text).bytes;
            text = note.format().value();
        }
    })),
                      oneOf({0}), [] { return "with the right key's id"; });
    // A journal of another site, whole and right, but not of a key that is trusted.
    auto first = std::make_shared<Signer>(signerOf('x'));
    auto second = std::make_shared<Signer>(signerOf('y'));
    const Contents other =
        signedAnew(with(foreign('x', 'y')), [=](std::uint64_t size) -> std::vector<Signer*> {
            const auto rotated = static_cast<std::uint64_t>(rotatedAt());
            if (size <= rotated) return {first.get()};
            if (size == rotated + 1) return {first.get(), second.get()};
            return {second.get()};
        });
    family.mustDetect(forged.verdictOn(other), wholeFile(), [] { return "another site's"; });
    family.mustPass(forged.again(trusting({first->verifier()})), [] { return "its own auditor"; });
    family.mustDetect(forged.again(trusting({})), wholeFile(), [] { return "no key given"; });
    family.mustDetect(forged.again(trusting({verifierOf('x', "other")})), wholeFile(),
                      [] { return "its key under another name"; });
    family.expect(6);
}

// --- rotation ------------------------------------------------------------------------------------

TEST_CASE("a change of keys counts with both signatures")
{
    Forged forged;
    Family family{"a change of keys with something wrong"};
    const std::int64_t size = rotatedAt() + 1;
    const auto at = oneOf({seqOf(rotatedAt())});
    const Note note = noteOf(size);
    REQUIRE(note.signatures.size() == 2);
    const auto tryNote = [&](const std::string& what, const auto& change) {
        Note changed = note;
        change(changed.signatures);
        family.mustDetect(forged.verdictOn(withNote(size, changed)), at, [&] { return what; });
    };
    using Signatures = std::vector<NoteSignature>;
    tryNote("the old key's signature alone", [](Signatures& all) { all.pop_back(); });
    tryNote("the new key's signature alone", [](Signatures& all) { all.erase(all.begin()); });
    tryNote("the new key's twice", [](Signatures& all) { all[0] = all[1]; });
    tryNote("the old key's twice", [](Signatures& all) { all[1] = all[0]; });
    tryNote("another instead of the old key's",
            [&](Signatures& all) { all[0] = signatureBy(kForeignKey, note.text); });
    tryNote("another instead of the new key's",
            [&](Signatures& all) { all[1] = signatureBy(kForeignKey, note.text); });
    tryNote("a third",
            [&](Signatures& all) { all.push_back(signatureBy(kForeignKey, note.text)); });

    // Opening the journal goes by which of the two comes last.
    tryNote("the other order", [](Signatures& all) { std::swap(all[0], all[1]); });

    // The record, edited: without a key, the tree shows it or its own words do.
    const std::string& record = genuine().payloads.at(rotatedAt());
    const std::string oldKey = verifierOf(kFirstKey).format();
    const std::string newKey = verifierOf(kSecondKey).format();
    const std::string foreignKey = verifierOf(kForeignKey).format();
    const std::vector<std::pair<std::string, std::string>> edits{
        {R"("c")", R"("z")"},
        {R"(["c","d"])", "[]"},
        {R"("lost":false)", R"("lost":true)"},
        {oldKey, foreignKey},
        {newKey, foreignKey},
        {newKey, oldKey},
        {R"("key_rotated")", R"("key_rotated ")"},
    };
    for (const auto& [what, to] : edits)
        family.mustDetect(forged.verdictOn(with([&](Contents& all) {
            all.payloads.at(rotatedAt()) = replaced(record, what, to);
        })),
                          at, [&] { return "edited: " + to; });
    family.expect(8 + edits.size());
}

TEST_CASE("a change of keys rewritten by someone who holds one of them")
{
    Forged forged;
    Family family{"a change of keys rewritten with one of its two keys"};
    const std::string& record = genuine().payloads.at(rotatedAt());
    const auto at = oneOf({seqOf(rotatedAt())});
    const auto rewritten = [&](const std::string& what, const std::string& to,
                               const Signing& signing) {
        return signedAnew(
            with([&](Contents& all) { all.payloads.at(rotatedAt()) = replaced(record, what, to); }),
            signing);
    };
    auto first = std::make_shared<Signer>(signerOf(kFirstKey));
    auto second = std::make_shared<Signer>(signerOf(kSecondKey));
    auto foreign = std::make_shared<Signer>(signerOf(kForeignKey));
    const auto rotated = static_cast<std::uint64_t>(rotatedAt());
    const auto signing = [rotated](Signer* before, std::vector<Signer*> then, Signer* after) {
        return [=](std::uint64_t size) -> std::vector<Signer*> {
            if (size <= rotated) return {before};
            return size == rotated + 1 ? then : std::vector<Signer*>{after};
        };
    };
    // A holder of the new key alone claims that the old one was lost.
    const Contents lost = rewritten(R"("lost":false)", R"("lost":true)",
                                    signing(first.get(), {second.get()}, second.get()));
    const auto verdict = forged.verdictOn(lost);
    family.mustDetect(verdict, wholeFile(), [] { return "lost, by the new key"; });
    REQUIRE_FALSE(verdict);
    CHECK(verdict.error().what.find("replaced as lost") != std::string::npos);
    // A verifier that trusts the new key has it from elsewhere, and gets a remark.
    const auto told = forged.again(trusting({second->verifier()}));
    family.mustPass(told, [] { return "lost, the new key trusted"; });
    REQUIRE(told);
    REQUIRE(told->remarks.size() == 1);
    CHECK(told->remarks[0].find("replaced a lost one") != std::string::npos);

    const std::string key = verifierOf(kSecondKey).format();
    const std::string foreignKey = verifierOf(kForeignKey).format();
    family.mustDetect(forged.verdictOn(rewritten(
                          key, foreignKey, signing(first.get(), {first.get()}, foreign.get()))),
                      at, [] { return "to another key, without its signature"; });
    family.mustDetect(
        forged.verdictOn(rewritten(
            key, foreignKey, signing(first.get(), {second.get(), foreign.get()}, foreign.get()))),
        at, [] { return "to another key, without the old key's signature"; });
    family.mustDetect(forged.verdictOn(rewritten(
                          key, foreignKey, signing(foreign.get(), {foreign.get()}, foreign.get()))),
                      oneOf({0}), [] { return "all by the other key"; });

    // The holder of the key that signs can hand it over to whom he likes, and rewrite what came
    // after. Only a later checkpoint or receipt shows it.
    const Contents handed = rewritten(
        key, foreignKey, signing(first.get(), {first.get(), foreign.get()}, foreign.get()));
    family.mustPass(forged.verdictOn(handed), [] { return "handed to another by the old key"; });
    family.mustDetect(forged.again(since(original().verified.lastNote)), oneOf({kRecords - 1}),
                      [] { return "the same, seen by a receipt"; });
    family.expect(7);
}

// Without a trusted key it must not be possible to continue a genuine journal.
TEST_CASE("a journal carried on by someone without its key")
{
    Forged forged;
    Family family{"a journal carried on without its key"};
    struct Step {
        char from;
        char to;
        bool lost;
    };
    // Adds the changes of keys as one commit, or each as one, after the last record.
    const auto carriedOn = [&](const std::vector<Step>& steps, const std::vector<char>& signers,
                               bool oneCommit) {
        Contents all = genuine();
        Frontier frontier;
        for (const auto& [seq, payload] : all.payloads) frontier.append(leafHash(payload));
        const rules::TimeMs time = timeOf(all.payloads.at(kEnd - 1));
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const std::uint64_t seq = frontier.size();
            const std::string payload =
                rotation(seq, time, steps[i].from, steps[i].to, steps[i].lost);
            all.payloads[static_cast<std::int64_t>(seq)] = payload;
            frontier.append(leafHash(payload));
            if (oneCommit && i + 1 < steps.size()) continue;
            Note note{Checkpoint{"site", frontier.size(), frontier.root(), {}}.format().value(),
                      {}};
            for (const char letter : signers) {
                Signer signer = signerOf(letter);
                note.sign(signer);
            }
            all.notes[static_cast<std::int64_t>(frontier.size())] = note.format().value();
        }
        return all;
    };
    const auto tryIt = [&](const std::string& what, const Contents& contents,
                           const Family::At& right) {
        family.mustDetect(forged.verdictOn(contents), right, [&] { return what; });
        // Nor where the last genuine key is the one that is trusted.
        family.mustDetect(forged.again(trusting({verifierOf(kSecondKey)})), right,
                          [&] { return what + ", with the newest key"; });
    };
    tryIt("to x, signed by x", carriedOn({{'b', 'x', false}}, {'x'}, true), oneOf({kRecords}));
    tryIt("to x, signed by x and y", carriedOn({{'b', 'x', false}}, {'x', 'y'}, true),
          oneOf({kRecords}));
    tryIt("to x as lost, signed by x", carriedOn({{'b', 'x', true}}, {'x'}, true), wholeFile());
    tryIt("from a key that was replaced", carriedOn({{'a', 'x', false}}, {'x', 'y'}, true),
          oneOf({kRecords}));
    // Each pair of neighbours signs, but the genuine key never does.
    tryIt("to x and on to y under one checkpoint",
          carriedOn({{'b', 'x', false}, {'x', 'y', false}}, {'x', 'y'}, true),
          between(kRecords, kRecords + 1));
    tryIt("to x, y and z under one checkpoint",
          carriedOn({{'b', 'x', false}, {'x', 'y', false}, {'y', 'z', false}}, {'y', 'z'}, true),
          between(kRecords, kRecords + 2));
    tryIt("to x and on to y, each with a checkpoint",
          carriedOn({{'b', 'x', false}, {'x', 'y', false}}, {'x', 'y'}, false), oneOf({kRecords}));
    tryIt("to x as lost and on to y under one checkpoint",
          carriedOn({{'b', 'x', true}, {'x', 'y', false}}, {'x', 'y'}, true), anywhere());
    tryIt("to x and on to y as lost under one checkpoint",
          carriedOn({{'b', 'x', false}, {'x', 'y', true}}, {'y'}, true), anywhere());
    tryIt("to x and back under one checkpoint",
          carriedOn({{'b', 'x', false}, {'x', 'b', false}}, {'x'}, true), anywhere());

    // A history made up from its first record, which names a trusted key that never signs.
    Contents madeUp;
    madeUp.segments = genuine().segments;
    madeUp.payloads = {
        {0, genuine().payloads.at(0)},
        {1, rotation(1, 1, 'a', 'x')},
        {2, rotation(2, 1, 'x', 'y')},
        {3, R"({"seq":3,"time":1,"kind":"heartbeat"})"},
    };
    madeUp.notes = {{4, {}}};
    auto x = std::make_shared<Signer>(signerOf('x'));
    auto y = std::make_shared<Signer>(signerOf('y'));
    madeUp = signedAnew(madeUp, [=](std::uint64_t) {
        return std::vector<Signer*>{x.get(), y.get()};
    });
    family.mustDetect(forged.verdictOn(madeUp), between(1, 3), [] { return "made up from 0"; });
    family.expect(2 * 10 + 1);
}

TEST_CASE("a lost key's successor is not trusted with the old key alone")
{
    const MemoryDirectory directory;
    Family family{"a lost key and its successor"};
    {
        auto journal = Journal::create({directory / "journal", 100, {}}, signerOf(kFirstKey), 1);
        REQUIRE(journal);
        Night night{*journal, 27};
        night.everyKind(0);
        night.commit();
    }
    {
        auto journal = Journal::open({directory / "journal", 100, {}}, signerOf(kSecondKey), 9000,
                                     LostKey{verifierOf(kFirstKey), {"c", "d"}});
        REQUIRE(journal);
        journal->heartbeat(9001);
        REQUIRE(journal->commit());
    }
    const auto files = filesOf(directory / "journal");
    const auto look = [&](const std::vector<Verifier>& keys) {
        return storage::verify(files, trusting(keys));
    };
    const auto old = look({verifierOf(kFirstKey)});
    family.mustDetect(old, wholeFile(), [] { return "the old key"; });
    REQUIRE_FALSE(old);
    CHECK(old.error().what.find("replaced as lost") != std::string::npos);
    family.mustDetect(look({verifierOf(kForeignKey)}), wholeFile(), [] { return "another key"; });
    family.mustPass(look({verifierOf(kSecondKey)}), [] { return "the new key"; });
    family.mustPass(look({verifierOf(kFirstKey), verifierOf(kSecondKey)}), [] { return "both"; });
    family.expect(4);
}

// --- other histories -----------------------------------------------------------------------------

// The holder of the key can write another history from the first record on. All of it follows from
// its commands and is signed: nothing in the file can tell which of the two was acknowledged. Any
// one checkpoint or receipt of the genuine one can.
TEST_CASE("a whole history replaced by another of the same key")
{
    Forged forged;
    Family family{"a whole history replaced by another of the same key"};
    family.mustPass(forged.verdictOn(original(1).contents), [] { return "the other history"; });
    for (const auto& [size, note] : genuine().notes)
        // Both begin with the same record.
        if (size == 1)
            family.mustPass(forged.again(since(note)), [] { return "since the first record"; });
        else
            family.mustDetect(forged.again(since(note)), oneOf({lastOf(size)}),
                              [&, size = size] { return "since " + std::to_string(size); });
    family.expect(1 + genuine().notes.size());
}

TEST_CASE("an earlier checkpoint or receipt that the journal's keys did not sign")
{
    Forged forged;
    Family family{"receipts that the journal's keys did not sign"};
    REQUIRE(forged.verdictOn(genuine()));
    for (const auto& [size, text] : genuine().notes) {
        const auto which = [&, size = size] { return std::to_string(size); };
        family.mustPass(forged.again(since(text)), which);
        Note other = noteOf(size);
        other.signatures = {signatureBy(kForeignKey, other.text)};
        family.mustDetect(forged.again(since(other.format().value())), anywhere(), which);
        Note damaged = noteOf(size);
        for (NoteSignature& each : damaged.signatures) each.bytes[0] ^= 1;
        family.mustDetect(forged.again(since(damaged.format().value())), anywhere(), which);
        family.mustDetect(forged.again(since(text.substr(0, text.size() - 1))), wholeFile(), which);
    }
    family.expect(4 * genuine().notes.size());
}

TEST_CASE("a history put together from two of the same key")
{
    Forged forged;
    Family rows{"records of another history from each record on"};
    Family all{"records and checkpoints of another history from each record on"};
    Family signedAll{"the same, signed again with the right keys"};
    const Contents& other = original(1).contents;
    const Signing signing = asOriginal(genuine());
    // The first record is the same in both.
    for (std::int64_t from = 2; from < kEnd; ++from) {
        Contents mixed = genuine();
        for (std::int64_t seq = from; seq < kEnd; ++seq)
            mixed.payloads[seq] = other.payloads.at(seq);
        const bool same = mixed.payloads == genuine().payloads;
        const auto which = [&] { return std::to_string(from); };
        const auto it = genuine().notes.upper_bound(from);
        const std::uint64_t next = lastOf(it->first);
        // Heartbeats are the same in both: the first record that is not shows it.
        std::int64_t differs = from;
        while (differs < kEnd && other.payloads.at(differs) == genuine().payloads.at(differs))
            ++differs;
        rows.mustDetectOr(
            same, forged.verdictOn(mixed, withoutSignatures()),
            differs == kEnd ? anywhere() : between(seqOf(differs), shownBy(seqOf(differs))), which);
        for (const auto& [size, note] : other.notes)
            if (size > from) mixed.notes[size] = note;
        all.mustDetect(forged.verdictOn(mixed, withoutSignatures()), between(seqOf(from), next),
                       which);
        // With the keys only the rules can show it; a rest of heartbeats is no other history.
        signedAll.mustDetectOr(same, forged.verdictOn(signedAnew(mixed, signing)),
                               between(seqOf(from), kRecords - 1), which);
    }
    rows.expect(kRecords - 2);
    all.expect(kRecords - 2);
    signedAll.expect(kRecords - 2);
}

}  // namespace jackpot::storage::tamper
