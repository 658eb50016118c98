// A journal of three files: one missing, in another order, of another journal, or with another
// beginning than the end of the one before.
#include <doctest/doctest.h>

#include <algorithm>

#include "storage/merkle.h"
#include "storage/replay.h"
#include "storage/snapshot.h"
#include "tests/storage/tamper_journal.h"

namespace jackpot::storage::tamper {
namespace {

namespace fs = std::filesystem;

// The key changes in the second file.
struct Segments {
    std::vector<std::string> bytes;
    std::vector<Contents> contents;

    [[nodiscard]] std::uint64_t first(std::size_t i) const
    {
        return seqOf(contents[i].segments.begin()->first);
    }
    [[nodiscard]] std::uint64_t end(std::size_t i) const { return contents[i].end(); }
};

Segments makeSegments(int variant, char firstKey, char secondKey)
{
    const MemoryDirectory directory;
    {
        auto journal = Journal::create({directory / "journal", 1000, {}}, signerOf(firstKey), 1);
        REQUIRE(journal);
        Night night{*journal, 9};
        night.everyKind(variant);
        night.quiet(44);
        REQUIRE(journal->closeSegment(night.now()));
        night.commit();
        night.quiet(60);
        REQUIRE(journal->rotateKey(signerOf(secondKey), {"c", "d"}, night.now()));
        night.quiet(83);
        REQUIRE(journal->closeSegment(night.now()));
        night.commit();
        night.quiet(120);
        night.commit();
    }
    Segments made;
    for (const fs::path& file : filesOf(directory / "journal")) {
        const fs::path copy = directory / "copy.db";
        writeBytes(copy, bytesOf(file));
        Specimen specimen{copy, bytesOf(file)};
        specimen.edit("PRAGMA journal_mode=DELETE; PRAGMA page_size=" +
                      std::to_string(kTamperPageBytes) + "; VACUUM");
        made.bytes.push_back(bytesOf(copy));
        made.contents.push_back(contentsOf(copy));
    }
    REQUIRE(made.bytes.size() == 3);
    return made;
}

const Segments& ours()
{
    static const Segments made = makeSegments(0, kFirstKey, kSecondKey);
    return made;
}

// The three files, each of which can be changed.
class Archive {
public:
    Archive()
    {
        for (std::size_t i = 0; i < 3; ++i)
            files_.push_back(directory_ / ("segment-" + std::to_string(i) + ".db"));
        restore();
        REQUIRE(verify({0, 1, 2}));
    }
    ~Archive()
    {
        restore();
        const auto verdict = verify({0, 1, 2});
        CHECK_MESSAGE(verdict, inWords(verdict));
    }

    void restore() const
    {
        for (std::size_t i = 0; i < 3; ++i) put(i, ours().bytes[i]);
    }
    void put(std::size_t i, const std::string& bytes) const { writeBytes(files_[i], bytes); }
    void put(std::size_t i, const Contents& contents) const { store(contents, files_[i]); }
    [[nodiscard]] const fs::path& file(std::size_t i) const { return files_[i]; }

    [[nodiscard]] Verdict verify(const std::vector<std::size_t>& which,
                                 const VerifyOptions& options = both()) const
    {
        std::vector<fs::path> files;
        for (const std::size_t i : which) files.push_back(files_[i]);
        return storage::verify(files, options);
    }

    static VerifyOptions both()
    {
        VerifyOptions options = everything();
        options.trusted.push_back(verifierOf(kSecondKey));
        return options;
    }
    static VerifyOptions bothWithoutSignatures()
    {
        VerifyOptions options = both();
        options.signatures = false;
        return options;
    }

private:
    MemoryDirectory directory_;
    std::vector<fs::path> files_;
};

std::string listed(const std::vector<std::size_t>& which)
{
    std::string text = "files";
    for (const std::size_t i : which) text += " " + std::to_string(i);
    return text;
}

// Signed as the three files are: a up to the rotation in the second, then b.
Signing asOurs()
{
    auto a = std::make_shared<Signer>(signerOf(kFirstKey));
    auto b = std::make_shared<Signer>(signerOf(kSecondKey));
    const std::uint64_t rotated = findRecord(ours().contents[1], "key_rotated");
    return [=](std::uint64_t size) -> std::vector<Signer*> {
        if (size <= rotated) return {a.get()};
        if (size == rotated + 1) return {a.get(), b.get()};
        return {b.get()};
    };
}

}  // namespace

TEST_CASE("every choice of the three files in every order")
{
    const Archive archive;
    Family family{"files missing, twice or in another order"};
    Family receipts{"files missing at the end, seen by the last receipt"};
    Family remarks{"files missing at the beginning, told in a remark"};
    Family earlier{"files missing at the beginning, an earlier checkpoint needs them"};
    std::vector<std::vector<std::size_t>> choices;
    for (std::size_t a = 0; a < 3; ++a) {
        choices.push_back({a});
        for (std::size_t b = 0; b < 3; ++b) {
            choices.push_back({a, b});
            for (std::size_t c = 0; c < 3; ++c) choices.push_back({a, b, c});
        }
    }
    VerifyOptions last = Archive::both();
    last.since = ours().contents[2].notes.rbegin()->second;
    VerifyOptions inFirst = Archive::both();
    inFirst.since = std::next(ours().contents[0].notes.rbegin())->second;
    std::uint64_t cutOff = 0;
    std::uint64_t headless = 0;
    for (const auto& choice : choices) {
        const auto which = [&] { return listed(choice); };
        const auto verdict = archive.verify(choice);
        const auto broken = std::ranges::adjacent_find(
            choice, [](std::size_t before, std::size_t after) { return after != before + 1; });
        if (broken != choice.end()) {
            family.mustDetect(verdict, oneOf({ours().end(*broken)}), which);
            if (!verdict) CHECK(verdict.error().file == archive.file(*std::next(broken)));
            continue;
        }
        family.mustPass(verdict, which);
        REQUIRE(verdict);
        CHECK(verdict->first == ours().first(choice.front()));
        CHECK(verdict->end == ours().end(choice.back()));
        if (choice.back() != 2) {
            ++cutOff;
            receipts.mustDetect(archive.verify(choice, last), oneOf({ours().end(choice.back())}),
                                which);
        }
        if (choice.front() != 0) {
            ++headless;
            remarks.mustPass(verdict, which);
            CHECK(std::ranges::any_of(verdict->remarks, [](const std::string& remark) {
                return remark.find("were not given") != std::string::npos;
            }));
            earlier.mustDetect(archive.verify(choice, inFirst), wholeFile(), which);
        }
    }
    family.expect(3 + 9 + 27);
    receipts.expect(cutOff);
    remarks.expect(headless);
    earlier.expect(headless);
    CHECK(cutOff == 3);
    CHECK(headless == 3);
}

TEST_CASE("without the file of the change of keys the newest key is needed")
{
    const Archive archive;
    Family family{"one key and some of the files"};
    const auto with = [](char letter) {
        VerifyOptions options = everything();
        options.trusted = {verifierOf(letter)};
        return options;
    };
    family.mustPass(archive.verify({0, 1, 2}, with(kFirstKey)), [] { return "all, old key"; });
    family.mustPass(archive.verify({0, 1, 2}, with(kSecondKey)), [] { return "all, new key"; });
    family.mustPass(archive.verify({1, 2}, with(kFirstKey)), [] { return "1 and 2, old key"; });
    family.mustPass(archive.verify({2}, with(kSecondKey)), [] { return "2, new key"; });
    family.mustDetect(archive.verify({2}, with(kFirstKey)), wholeFile(),
                      [] { return "2, old key"; });
    family.mustDetect(archive.verify({0}, with(kSecondKey)), wholeFile(),
                      [] { return "0, new key"; });
    family.mustDetect(archive.verify({0, 1, 2}, with(kForeignKey)), wholeFile(),
                      [] { return "all, another key"; });
    family.expect(7);
}

TEST_CASE("a file of another journal in the place of each")
{
    const Archive archive;
    Family family{"a file of another journal"};
    const auto theirs = [](const Segments& segments, const std::string& whose) {
        return std::pair{segments, whose};
    };
    for (const auto& [other, whose] :
         {theirs(makeSegments(1, kFirstKey, kSecondKey), "the same keys"),
          theirs(makeSegments(0, 'x', 'y'), "other keys"),
          theirs(makeSegments(1, 'x', 'y'), "other keys and amounts")}) {
        const std::string keys = whose;
        for (std::size_t i = 0; i < 3; ++i) {
            REQUIRE(other.first(i) == ours().first(i));
            archive.restore();
            archive.put(i, other.bytes[i]);
            const auto which = [&] { return "file " + std::to_string(i) + " of " + keys; };
            // The first file is detected by the second, which does not continue it.
            const std::size_t shown = std::max<std::size_t>(i, 1);
            family.mustDetect(archive.verify({0, 1, 2}), oneOf({ours().first(shown)}), which);
            if (i == 0) continue;
            // Made to begin where ours ends: then its own first record is not what ours leads to.
            Contents fitted = other.contents[i];
            fitted.segments = ours().contents[i].segments;
            archive.put(i, fitted);
            family.mustDetect(archive.verify({0, 1, 2}), oneOf({ours().first(i)}), which);
            // With our snapshot and opening record too, the first checkpoint shows it.
            fitted.snapshots = ours().contents[i].snapshots;
            fitted.payloads.begin()->second = ours().contents[i].payloads.begin()->second;
            archive.put(i, fitted);
            family.mustDetect(archive.verify({0, 1, 2}),
                              between(ours().first(i), seqOf(fitted.notes.begin()->first) - 1),
                              which);
        }
    }
    family.expect(3 * (3 + 2 * 2));
}

TEST_CASE("each bit of where each later file says it begins")
{
    const Archive archive;
    Family frontiers{"each bit of a later segment's frontier"};
    Family alone{"each bit of a later segment's frontier, the file alone"};
    Family numbers{"each bit of a later segment's first record"};
    std::uint64_t bytes = 0;
    for (std::size_t i = 1; i < 3; ++i) {
        const std::string& text = ours().contents[i].segments.begin()->second;
        bytes += text.size();
        const auto right = oneOf({std::nullopt, ours().first(i)});
        Specimen specimen{archive.file(i), ours().bytes[i]};
        const auto change = [&](const std::string& set, const std::string& value) {
            specimen.restore();
            specimen.edit([&](Database& database) {
                database.prepare("UPDATE segment SET " + set + "=?").bindText(1, value).run();
            });
        };
        for (std::size_t byte = 0; byte < text.size(); ++byte)
            for (unsigned bit = 0; bit < 8; ++bit) {
                std::string changed = text;
                changed[byte] = static_cast<char>(changed[byte] ^ (1 << bit));
                const auto which = [&] {
                    return "file " + std::to_string(i) + ", byte " + std::to_string(byte);
                };
                change("frontier", changed);
                frontiers.mustDetect(archive.verify({0, 1, 2}, Archive::bothWithoutSignatures()),
                                     right, which);
                alone.mustDetect(archive.verify({i}, Archive::bothWithoutSignatures()), right,
                                 which);
            }
        for (unsigned bit = 0; bit < 64; ++bit) {
            const auto first =
                static_cast<std::int64_t>(ours().first(i) ^ (std::uint64_t{1} << bit));
            specimen.restore();
            specimen.edit("UPDATE segment SET first=" + std::to_string(first));
            const auto which = [&] { return "first " + std::to_string(first); };
            numbers.mustDetect(archive.verify({0, 1, 2}), anywhere(), which);
            numbers.mustDetect(archive.verify({i}), anywhere(), which);
        }
        specimen.restore();
    }
    frontiers.expect(8 * bytes);
    alone.expect(8 * bytes);
    numbers.expect(2 * 2 * 64);
}

// A file that is given alone is replayed from its snapshot, which nobody has looked at before.
TEST_CASE("each bit of the snapshot that a lone file begins with")
{
    const Archive archive;
    Family family{"each bit of a lone segment's snapshot"};
    const std::string state = ours().contents[1].snapshots.begin()->second.state;
    std::string bytes = ours().bytes[1];
    const std::size_t place = bytes.find(state);
    REQUIRE(place != std::string::npos);
    for (std::size_t byte = 0; byte < state.size(); ++byte)
        for (unsigned bit = 0; bit < 8; ++bit) {
            bytes[place + byte] = static_cast<char>(bytes[place + byte] ^ (1 << bit));
            archive.put(1, bytes);
            family.mustDetect(archive.verify({1}, Archive::bothWithoutSignatures()),
                              oneOf({ours().first(1)}),
                              [&] { return "byte " + std::to_string(byte); });
            bytes[place + byte] = static_cast<char>(bytes[place + byte] ^ (1 << bit));
        }
    CHECK(bytes == ours().bytes[1]);
    family.expect(8 * state.size());
}

TEST_CASE("a snapshot with more money in it at the beginning of a file")
{
    const Archive archive;
    Family family{"a forged snapshot at the beginning of a file"};
    for (std::size_t i = 1; i < 3; ++i) {
        const auto which = [&] { return "file " + std::to_string(i); };
        const auto right = oneOf({ours().first(i)});
        Contents forged = ours().contents[i];
        std::string& state = forged.snapshots.begin()->second.state;
        const std::string before = stateHash(state);
        state = replaced(state, R"("meter":"5)", R"("meter":"95)");
        REQUIRE(readState(state));
        archive.restore();
        archive.put(i, forged);
        family.mustDetect(archive.verify({0, 1, 2}), right, which);
        family.mustDetect(archive.verify({i}), right, which);
        // With its record, signed with the right keys: found from what came before. The file alone
        // has nothing but the key's word for what the pools held when it began, and what follows
        // must be made to fit it.
        std::string& opening = forged.payloads.begin()->second;
        opening = replaced(opening, before, stateHash(state));
        forged = signedAnew(forged, asOurs());
        archive.put(i, forged);
        family.mustDetect(archive.verify({0, 1, 2}), right, which);
        family.mustDetect(archive.verify({i}), between(ours().first(i) + 1, ours().end(i) - 1),
                          which);
        const std::int64_t only = forged.notes.begin()->first;
        REQUIRE(seqOf(only) == ours().first(i) + 1);
        forged.payloads.erase(forged.payloads.upper_bound(only - 1), forged.payloads.end());
        forged.notes.erase(std::next(forged.notes.begin()), forged.notes.end());
        archive.put(i, signedAnew(forged, asOurs()));
        family.mustPass(archive.verify({i}), which);
    }
    family.expect(2 * 5);
}

TEST_CASE("an opening record that says something else, signed with the right key")
{
    const Archive archive;
    Family family{"opening records that say something else"};
    for (std::size_t i = 1; i < 3; ++i) {
        const std::string& genuine = ours().contents[i].payloads.begin()->second;
        const std::string key = verifierOf(i == 1 ? kFirstKey : kSecondKey).format();
        const std::vector<std::string> openings{
            replaced(genuine, key, verifierOf(kForeignKey).format()),
            replaced(genuine, key, verifierOf(i == 1 ? kSecondKey : kFirstKey).format()),
            replaced(genuine, "segment_opened", "journal_opened"),
            replaced(genuine, "segment_opened", "heartbeat"),
            replaced(genuine, R"("sha256":")", R"("sha256":"0)"),
            R"({"seq":)" + std::to_string(ours().first(i)) + R"(,"time":9000,"kind":"heartbeat"})",
        };
        for (const std::string& opening : openings) {
            Contents forged = ours().contents[i];
            forged.payloads.begin()->second = opening;
            archive.restore();
            archive.put(i, signedAnew(forged, asOurs()));
            for (const std::vector<std::size_t>& files :
                 {std::vector<std::size_t>{0, 1, 2}, std::vector<std::size_t>{i}})
                family.mustDetect(archive.verify(files), oneOf({ours().first(i)}),
                                  [&] { return opening + ", " + listed(files); });
        }
    }
    family.expect(2 * 6 * 2);
}

// The key that the opening record names is public: naming it is not signing with it.
TEST_CASE("a file made up by someone without the key")
{
    const Archive archive;
    Family family{"a lone file made up without the key"};
    Contents madeUp;
    const Contents& genuine = ours().contents[1];
    const std::int64_t first = genuine.segments.begin()->first;
    madeUp.segments = genuine.segments;
    madeUp.snapshots = genuine.snapshots;
    madeUp.payloads[first] = genuine.payloads.at(first);
    madeUp.payloads[first + 1] = rotation(seqOf(first) + 1, 9000, kFirstKey, 'x');
    madeUp.payloads[first + 2] = rotation(seqOf(first) + 2, 9000, 'x', 'y');
    madeUp.notes[first + 3] = {};
    auto x = std::make_shared<Signer>(signerOf('x'));
    auto y = std::make_shared<Signer>(signerOf('y'));
    archive.put(1, signedAnew(madeUp, [=](std::uint64_t) {
                    return std::vector<Signer*>{x.get(), y.get()};
                }));
    const auto right = between(seqOf(first) + 1, seqOf(first) + 2);
    family.mustDetect(archive.verify({1}), right, [] { return "alone"; });
    family.mustDetect(archive.verify({0, 1}), right, [] { return "after the first"; });
    family.expect(2);
}

TEST_CASE("each record of each file changed and deleted")
{
    const Archive archive;
    Family family{"three bits of each record of three files"};
    Family deleted{"each record of three files deleted"};
    std::uint64_t records = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        const Contents& contents = ours().contents[i];
        Specimen specimen{archive.file(i), ours().bytes[i]};
        std::string bytes = ours().bytes[i];
        for (const auto& [key, payload] : contents.payloads) {
            ++records;
            const std::uint64_t seq = seqOf(key);
            const std::size_t place = bytes.find(payload);
            REQUIRE(place != std::string::npos);
            const auto which = [&] { return "record " + std::to_string(seq); };
            for (const std::size_t at : {std::size_t{0}, payload.size() / 2, payload.size() - 1}) {
                bytes[place + at] = static_cast<char>(bytes[place + at] ^ 2);
                archive.put(i, bytes);
                bytes[place + at] = static_cast<char>(bytes[place + at] ^ 2);
                const auto verdict = archive.verify({0, 1, 2}, Archive::bothWithoutSignatures());
                family.mustDetect(verdict, between(seq, shownBy(seq, contents)), which);
                if (!verdict) CHECK(verdict.error().file == archive.file(i));
            }
            specimen.restore();
            specimen.edit("DELETE FROM journal WHERE seq=" + std::to_string(seq));
            const auto verdict = archive.verify({0, 1, 2}, Archive::bothWithoutSignatures());
            // A file that does not begin where it says is wrong as a whole.
            deleted.mustDetect(
                verdict, seq == ours().first(i) ? oneOf({std::nullopt, seq}) : oneOf({seq}), which);
            if (!verdict) CHECK(verdict.error().file == archive.file(i));
        }
        specimen.restore();
    }
    CHECK(records == ours().end(2));
    family.expect(3 * records);
    deleted.expect(records);
}

}  // namespace jackpot::storage::tamper
