// Every bit of every stored byte of a journal of 300 records, one at a time, in the file itself.
// JACKPOT_TAMPER_SHARD=1/2 and 2/2 do half of the cases each.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <set>

#include "tests/storage/tamper_journal.h"

namespace jackpot::storage::tamper {
namespace {

struct Shard {
    std::uint64_t index = 0;
    std::uint64_t of = 1;

    [[nodiscard]] bool has(std::uint64_t number) const { return number % of == index; }
    // Of so many cases, numbered from 0.
    [[nodiscard]] std::uint64_t share(std::uint64_t cases) const
    {
        return cases / of + (index < cases % of ? 1 : 0);
    }
};

Shard shard()
{
    const char* const text = std::getenv("JACKPOT_TAMPER_SHARD");
    if (!text) return {};
    char* rest = nullptr;
    const std::uint64_t index = std::strtoull(text, &rest, 10);
    const std::uint64_t of = *rest == '/' ? std::strtoull(rest + 1, &rest, 10) : 0;
    REQUIRE((*rest == '\0' && index >= 1 && index <= of));
    return {index - 1, of};
}

// The journal's file, each byte of which can be changed where it lies.
class Image {
public:
    Image() : specimen_{directory_ / "journal.db"}
    {
        const int descriptor = ::open(specimen_.file().c_str(), O_RDWR | O_CLOEXEC);
        REQUIRE(descriptor >= 0);
        void* const mapped = ::mmap(nullptr, original().bytes.size(), PROT_READ | PROT_WRITE,
                                    MAP_SHARED, descriptor, 0);
        ::close(descriptor);
        REQUIRE(mapped != MAP_FAILED);
        bytes_ = static_cast<unsigned char*>(mapped);
        REQUIRE(specimen_.verify());
    }
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;
    ~Image() { ::munmap(bytes_, original().bytes.size()); }

    void flip(std::size_t at, unsigned bit)
    {
        bytes_[at] = static_cast<unsigned char>(bytes_[at] ^ (1U << bit));
    }
    [[nodiscard]] Verdict verify(const VerifyOptions& options) const
    {
        return specimen_.verify(options);
    }
    [[nodiscard]] Contents contents() const { return specimen_.contents(); }
    [[nodiscard]] Verdict withFlipped(std::size_t at, unsigned bit, const VerifyOptions& options)
    {
        flip(at, bit);
        auto verdict = verify(options);
        flip(at, bit);
        return verdict;
    }

    void checkThatAllWasUndone() const
    {
        CHECK(bytesOf(specimen_.file()) == original().bytes);
        const auto verdict = specimen_.verify();
        CHECK_MESSAGE(verdict, inWords(verdict));
    }

private:
    MemoryDirectory directory_;
    Specimen specimen_;
    unsigned char* bytes_ = nullptr;
};

// One value of one row.
struct Value {
    std::string column;
    std::int64_t key = 0;
    std::string_view bytes;
    std::size_t place = 0;  // in the file, where it lies in one piece

    [[nodiscard]] std::string inWords(std::size_t byte, unsigned bit) const
    {
        return column + " " + std::to_string(key) + ", byte " + std::to_string(byte) + ", bit " +
               std::to_string(bit);
    }
};

std::vector<Value> valuesOf(const std::string& column,
                            const std::map<std::int64_t, std::string>& rows)
{
    const std::string& file = original().bytes;
    std::vector<Value> values;
    for (const auto& [key, bytes] : rows) {
        // A frontier may be a part of another; its row also has a state, which is before it.
        const auto snapshot = original().contents.snapshots.find(key);
        const bool isFrontier = column == "snapshot frontier";
        const std::size_t from = isFrontier ? file.find(snapshot->second.state) : 0;
        const std::size_t at = file.find(bytes, from);
        REQUIRE(at != std::string::npos);
        if (!isFrontier) REQUIRE(file.find(bytes, at + 1) == std::string::npos);
        values.push_back({column, key, bytes, at});
    }
    return values;
}

std::uint64_t bytesIn(const std::vector<Value>& values)
{
    std::uint64_t bytes = 0;
    for (const Value& each : values) bytes += each.bytes.size();
    return bytes;
}

std::vector<Value> payloads() { return valuesOf("payload", original().contents.payloads); }
std::vector<Value> notes() { return valuesOf("note", original().contents.notes); }
std::vector<Value> nodes() { return valuesOf("node", original().contents.nodes); }

std::vector<Value> snapshots(const std::string& column, std::string Contents::Snapshot::*member)
{
    static std::map<std::string, std::map<std::int64_t, std::string>> all;
    auto& rows = all[column];
    for (const auto& [size, snapshot] : original().contents.snapshots)
        rows[size] = snapshot.*member;
    return valuesOf(column, rows);
}
std::vector<Value> states() { return snapshots("snapshot state", &Contents::Snapshot::state); }
std::vector<Value> frontiers()
{
    return snapshots("snapshot frontier", &Contents::Snapshot::frontier);
}

// "0\n" is not the only such text in the file: it lies at the end of its page, which has one row.
std::vector<Value> segments()
{
    const auto& [first, text] = *original().contents.segments.begin();
    REQUIRE(original().contents.segments.size() == 1);
    const std::string& file = original().bytes;
    for (std::size_t end = kTamperPageBytes; end <= file.size(); end += kTamperPageBytes) {
        const bool isLeafWithOneRow =
            file.substr(end - kTamperPageBytes, 5) == std::string{"\x0D\0\0\0\1", 5};
        if (isLeafWithOneRow && file.substr(end - text.size(), text.size()) == text)
            return {{"segment frontier", first, text, end - text.size()}};
    }
    FAIL("no page of the segment was found");
    return {};
}

constexpr unsigned kBits = 8;
// One flip a byte where all would take too long; which bit differs from byte to byte.
unsigned oneBitOf(std::size_t byte) { return static_cast<unsigned>(byte * 5 % kBits); }

using Where = std::function<Family::At(const Value& value)>;

void flipEachBit(Family& family, const std::vector<Value>& values, const VerifyOptions& options,
                 const Where& where)
{
    Image image;
    const Shard mine = shard();
    std::uint64_t number = 0;
    for (const Value& value : values) {
        const Family::At right = where(value);
        for (std::size_t i = 0; i < value.bytes.size(); ++i)
            for (unsigned bit = 0; bit < kBits; ++bit)
                if (mine.has(number++))
                    family.mustDetect(image.withFlipped(value.place + i, bit, options), right,
                                      [&] { return value.inWords(i, bit); });
    }
    image.checkThatAllWasUndone();
    family.expect(mine.share(kBits * bytesIn(values)));
}

std::uint64_t unsignedKey(const Value& value) { return static_cast<std::uint64_t>(value.key); }

}  // namespace

TEST_CASE("each bit of each payload: the tree shows it")
{
    Family family{"each bit of each payload, tree alone"};
    flipEachBit(family, payloads(), treeOnly(), [](const Value& value) {
        const std::uint64_t seq = unsignedKey(value);
        // Records that hold keys are read even where no outcome is recomputed.
        const bool isRead = seq == 0 || value.bytes.find("key_rotated") != std::string_view::npos;
        return isRead ? oneOf({seq, shownBy(seq)}) : oneOf({shownBy(seq)});
    });
}

TEST_CASE("each bit of each checkpoint")
{
    Family family{"each bit of each checkpoint"};
    flipEachBit(family, notes(), withoutOutcomes(), [](const Value& value) -> Family::At {
        const std::uint64_t last = unsignedKey(value) - 1;
        if (last + 1 != kRecords) return oneOf({last});
        // The last one says how many records there should be: it may name the first that is
        // missing, the first that it does not cover, or itself.
        return [last](std::optional<std::uint64_t> seq) { return !seq || *seq <= last + 1; };
    });
}

TEST_CASE("each bit of each stored tree node")
{
    Family family{"each bit of each tree node"};
    flipEachBit(family, nodes(), treeOnly(), [](const Value& value) {
        return oneOf({((unsignedKey(value) + 1) << kNodeLevel) - 1});
    });
}

TEST_CASE("each bit of each snapshot's state")
{
    Family family{"each bit of each snapshot's state"};
    flipEachBit(family, states(), treeOnly(),
                [](const Value& value) { return oneOf({unsignedKey(value)}); });
}

TEST_CASE("each bit of each snapshot's tree")
{
    Family family{"each bit of each snapshot's frontier"};
    flipEachBit(family, frontiers(), treeOnly(),
                [](const Value& value) { return oneOf({unsignedKey(value)}); });
}

TEST_CASE("each bit of what the file says of its beginning")
{
    Family family{"each bit of the segment's frontier"};
    flipEachBit(family, segments(), treeOnly(), [](const Value&) { return wholeFile(); });
}

// With everything on, the record itself is named if what it says no longer follows from the
// commands, else the record at which the tree shows it.
TEST_CASE("a bit of each byte of ten payloads, with everything on")
{
    constexpr std::array kKinds{
        R"("journal_opened")",      R"("site_configured")", R"("round_result")",  R"("settle_due")",
        R"("surveillance_ruling")", R"("refused")",         R"("clock_stepped")", R"("snapshot")",
        R"("key_rotated")",         R"("heartbeat")"};
    std::set<std::uint64_t> chosen;
    for (const char* kind : kKinds) chosen.insert(findRecord(original().contents, kind));
    REQUIRE(chosen.size() == kKinds.size());

    Image image;
    const Shard mine = shard();
    Family family{"a bit of each byte of ten payloads, everything on"};
    std::uint64_t number = 0;
    for (const Value& value : payloads()) {
        const std::uint64_t seq = unsignedKey(value);
        if (!chosen.contains(seq)) continue;
        for (std::size_t i = 0; i < value.bytes.size(); ++i)
            if (mine.has(number++))
                family.mustDetect(image.withFlipped(value.place + i, oneBitOf(i), everything()),
                                  between(seq, shownBy(seq)),
                                  [&] { return value.inWords(i, oneBitOf(i)); });
    }
    image.checkThatAllWasUndone();
    family.expect(mine.share(number));
}

// What lies around the values: page and cell headers, the schema's page, space that is not used.
TEST_CASE("a bit of each byte of the file that is not a value")
{
    std::set<std::size_t> taken;
    std::uint64_t bytes = 0;
    for (const auto& values : {payloads(), notes(), nodes(), states(), frontiers(), segments()})
        for (const Value& value : values) {
            bytes += value.bytes.size();
            for (std::size_t i = 0; i < value.bytes.size(); ++i) taken.insert(value.place + i);
        }
    REQUIRE(taken.size() == bytes);

    Image image;
    const Shard mine = shard();
    Family family{"a bit of each byte between the values"};
    const auto isUnchanged = [&] {
        try {
            return image.contents() == original().contents;
        } catch (const SqliteFailure&) {
            return false;
        }
    };
    std::uint64_t number = 0;
    for (std::size_t at = 0; at < original().bytes.size(); ++at) {
        if (taken.contains(at) || !mine.has(number++)) continue;
        image.flip(at, oneBitOf(at));
        const auto verdict = image.verify(treeOnly());
        family.mustDetectOr(verdict && isUnchanged(), verdict, anywhere(), [&] {
            return "byte " + std::to_string(at) + " of the file, bit " +
                   std::to_string(oneBitOf(at));
        });
        image.flip(at, oneBitOf(at));
    }
    image.checkThatAllWasUndone();
    CHECK(number == original().bytes.size() - bytes);
    family.expect(mine.share(number));
}

// The cases above must be able to fail: a verifier that leaves something out misses exactly what
// that would have shown.
TEST_CASE("without signatures a changed signature passes, and nothing else does")
{
    Image image;
    const Shard mine = shard();
    Family family{"control: a bit of each byte of the checkpoints, without signatures"};
    std::uint64_t number = 0;
    std::uint64_t passed = 0;
    for (const Value& value : notes())
        for (std::size_t i = 0; i < value.bytes.size(); ++i) {
            if (!mine.has(number++)) continue;
            const unsigned bit = oneBitOf(i);
            std::string changed{value.bytes};
            changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
            const auto before = Note::parse(value.bytes);
            const auto after = Note::parse(changed);
            const bool onlySignature = after && after->text == before->text;
            const auto verdict = image.withFlipped(value.place + i, bit, treeOnly());
            const auto which = [&] { return value.inWords(i, bit); };
            if (onlySignature)
                family.mustPass(verdict, which);
            else
                family.mustDetect(verdict, anywhere(), which);
            passed += onlySignature ? 1 : 0;
        }
    CHECK(passed > number / mine.of / 4);
    image.checkThatAllWasUndone();
    family.expect(mine.share(number));
}

}  // namespace jackpot::storage::tamper
