// Rows that are moved, deleted, inserted, exchanged, copied over each other, and journals that are
// cut off.
#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <random>

#include "base/encoding.h"
#include "storage/merkle.h"
#include "storage/replay.h"
#include "storage/snapshot.h"
#include "tests/storage/tamper_journal.h"

namespace jackpot::storage::tamper {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr auto kEnd = static_cast<std::int64_t>(kRecords);

// A specimen that is untouched before the first case and after the last.
class Rows : public Specimen {
public:
    Rows() : Specimen{directory() / "journal.db"} { REQUIRE(verify()); }
    ~Rows()
    {
        restore();
        const auto verdict = verify();
        CHECK_MESSAGE(verdict, inWords(verdict));
        CHECK(contents() == original().contents);
    }

    [[nodiscard]] Verdict after(const std::string& sql, const VerifyOptions& options) const
    {
        restore();
        edit(sql);
        return verify(options);
    }

private:
    static const MemoryDirectory& directory()
    {
        static const MemoryDirectory made;
        return made;
    }
};

std::string text(std::int64_t number) { return std::to_string(number); }

std::string quoted(std::string_view value) { return "CAST(x'" + encodeHex(value) + "' AS TEXT)"; }

std::string putPayload(std::int64_t seq, std::string_view payload)
{
    return "UPDATE journal SET payload=" + quoted(payload) + " WHERE seq=" + text(seq) + ";";
}

const std::string& payload(std::int64_t seq) { return original().contents.payloads.at(seq); }

// The largest checkpoint of at most this size, or 0.
std::int64_t checkpointUpTo(std::int64_t size)
{
    std::int64_t found = 0;
    for (const auto& [each, note] : original().contents.notes)
        if (each <= size) found = each;
    return found;
}

struct Column {
    std::string table;
    std::string key;
    std::vector<std::int64_t> keys;
};

template <class Rows>
std::vector<std::int64_t> keysOf(const Rows& rows)
{
    std::vector<std::int64_t> keys;
    for (const auto& [key, row] : rows) keys.push_back(key);
    return keys;
}

std::vector<Column> keyColumns()
{
    const Contents& all = original().contents;
    return {{"journal", "seq", keysOf(all.payloads)},
            {"checkpoint", "size", keysOf(all.notes)},
            {"node", "idx", keysOf(all.nodes)},
            {"snapshot", "size", keysOf(all.snapshots)},
            {"segment", "first", keysOf(all.segments)}};
}

// Gives the row another key; a row that has it takes the first one's.
std::string rekey(const Column& column, std::int64_t from, std::int64_t to)
{
    constexpr std::int64_t kNobodys = -4'000'000'000'000'000'000;
    const auto set = [&](std::int64_t old, std::int64_t fresh) {
        return "UPDATE " + column.table + " SET " + column.key + "=" + text(fresh) + " WHERE " +
               column.key + "=" + text(old) + ";";
    };
    return set(to, kNobodys) + set(from, to) + set(kNobodys, from);
}

// Where a row with another key is to be named.
Family::At rekeyedAt(const Column& column, std::int64_t from, std::int64_t to)
{
    const std::int64_t earlier = std::min(from, to);
    const bool exchanged = std::ranges::find(column.keys, to) != column.keys.end();
    if (column.table == "journal") {
        // Says itself that it is another record; or is missing where it was, or is one too many.
        if (exchanged) return oneOf({seqOf(earlier)});
        if (to < 0 || from == 0) return oneOf({std::nullopt, seqOf(from), kRecords});
        return oneOf({seqOf(from), kRecords});
    }
    if (column.table == "checkpoint") {
        // Where it is now it is wrong; where it was, the next one has not the two signatures that a
        // change of keys needs, or there is none; and the last one says how many records there are.
        const auto next = original().contents.notes.upper_bound(from);
        const std::int64_t lacks = next == original().contents.notes.end() ? kEnd : next->first;
        std::vector<std::optional<std::uint64_t>> right{seqOf(from) - 1, seqOf(lacks) - 1};
        if (to > 0 && to <= kEnd) right.emplace_back(seqOf(to) - 1);
        if (from == kEnd) right.emplace_back(seqOf(checkpointUpTo(kEnd - 1)));
        if (to == kEnd || to > kEnd) right.emplace_back(seqOf(from));
        if (to <= 0 || to > kEnd || from == kEnd) right.emplace_back(std::nullopt);
        return exchanged && from != kEnd && to != kEnd ? oneOf({seqOf(earlier) - 1}) : oneOf(right);
    }
    if (column.table == "node") return oneOf({std::nullopt, (std::uint64_t{1} << kNodeLevel) - 1});
    if (column.table == "snapshot") {
        if (exchanged) return oneOf({seqOf(earlier)});
        return to >= 0 && to < kEnd ? oneOf({seqOf(to)}) : wholeFile();
    }
    return wholeFile();
}

}  // namespace

TEST_CASE("each bit of each row's number")
{
    const Rows rows;
    Family family{"each bit of each row's number"};
    std::uint64_t keys = 0;
    for (const Column& column : keyColumns())
        for (const std::int64_t key : column.keys) {
            ++keys;
            for (unsigned bit = 0; bit < 64; ++bit) {
                const auto to = static_cast<std::int64_t>(static_cast<std::uint64_t>(key) ^
                                                          (std::uint64_t{1} << bit));
                family.mustDetect(rows.after(rekey(column, key, to), withoutSignatures()),
                                  rekeyedAt(column, key, to), [&] {
                                      return column.table + " " + text(key) + " as " + text(to);
                                  });
            }
        }
    family.expect(64 * keys);
    CHECK(keys == kRecords + original().contents.notes.size() + 1 + 2 + 1);
}

TEST_CASE("each row deleted")
{
    const Rows rows;
    Family family{"each row deleted"};
    const std::int64_t rotation =
        static_cast<std::int64_t>(findRecord(original().contents, "key_rotated")) + 1;
    std::uint64_t cases = 0;
    for (const Column& column : keyColumns())
        for (const std::int64_t key : column.keys) {
            ++cases;
            const auto verdict =
                rows.after("DELETE FROM " + column.table + " WHERE " + column.key + "=" + text(key),
                           everything());
            const auto which = [&] { return column.table + " " + text(key); };
            if (column.table == "journal" && key == 0)
                family.mustDetect(verdict, oneOf({std::nullopt, 0}), which);
            else if (column.table == "journal")
                family.mustDetect(verdict, oneOf({seqOf(key)}), which);
            else if (column.table == "node")
                family.mustDetect(verdict, oneOf({((seqOf(key) + 1) << kNodeLevel) - 1}), which);
            else if (column.table == "segment")
                family.mustDetect(verdict, wholeFile(), which);
            else if (column.table == "checkpoint" && key == kEnd)
                family.mustDetect(verdict, oneOf({seqOf(checkpointUpTo(key - 1))}), which);
            else if (column.table == "checkpoint" && key == rotation)
                // The next one has not the two signatures that a change of keys needs.
                family.mustDetect(
                    verdict, oneOf({seqOf(original().contents.notes.upper_bound(key)->first) - 1}),
                    which);
            else {
                // Any other checkpoint and a snapshot may go: what they said, later ones say too.
                const Contents now = rows.contents();
                const Contents& before = original().contents;
                const bool unchanged =
                    verdict && now.payloads == before.payloads && now.nodes == before.nodes &&
                    now.segments == before.segments && verdict->last == original().verified.last &&
                    verdict->lastNote == original().verified.lastNote;
                family.mustDetectOr(unchanged, verdict, anywhere(), which);
            }
        }
    CHECK(family.unchanged() >= original().contents.notes.size() - 2);
    family.expect(cases);
}

TEST_CASE("each record once more under a number that no record has")
{
    const Rows rows;
    Family family{"each record once more under a free number"};
    for (const auto& [seq, each] : original().contents.payloads)
        for (const std::int64_t to : {-1 - seq, kLeast + seq, kEnd, kEnd + 1 + seq, kMost - seq}) {
            const auto verdict = rows.after("INSERT INTO journal SELECT " + text(to) +
                                                ", payload FROM journal WHERE seq=" + text(seq),
                                            treeOnly());
            family.mustDetect(verdict, to < 0 ? wholeFile() : oneOf({kRecords}),
                              [&, seq = seq] { return text(seq) + " as " + text(to); });
        }
    family.expect(5 * kRecords);
}

TEST_CASE("a record put in before each, with all after it moved on")
{
    const Rows rows;
    Family family{"a record put in before each record"};
    for (std::int64_t at = 0; at < kEnd; ++at) {
        const std::string makeRoom = "UPDATE journal SET seq=-seq-2 WHERE seq>=" + text(at) +
                                     "; UPDATE journal SET seq=-seq-1 WHERE seq<0;";
        const auto put = [&](std::string_view what) {
            return "INSERT INTO journal VALUES (" + text(at) + ", " + quoted(what) + ");";
        };
        const std::string copy = makeRoom + put(payload(at));
        family.mustDetect(rows.after(copy, withoutSignatures()), oneOf({kRecords, seqOf(at) + 1}),
                          [&] { return "a copy at " + text(at); });
        // With a checkpoint for as many records as there are now it must still show.
        const std::string coverAll = "UPDATE checkpoint SET size=301 WHERE size=300;";
        family.mustDetect(rows.after(copy + coverAll, withoutSignatures()),
                          oneOf({kRecords, seqOf(at) + 1}),
                          [&] { return "a copy and the last checkpoint at " + text(at); });

        rows.restore();
        rows.edit([&](Database& database) {
            database.execute(makeRoom + put(R"({"seq":)" + text(at) + R"(,"time":)" +
                                            (at == 0 ? "1" : "900") + R"(,"kind":"heartbeat"})"));
            for (std::int64_t seq = at; seq < kEnd; ++seq)
                database.execute(putPayload(seq + 1, renumbered(payload(seq), seqOf(seq) + 1)));
        });
        family.mustDetect(rows.verify(withoutSignatures()), oneOf({kRecords, seqOf(at)}),
                          [&] { return "a heartbeat, the others renumbered, at " + text(at); });
    }
    family.expect(3 * kRecords);
}

TEST_CASE("a checkpoint under each size that has none")
{
    const Rows rows;
    Family family{"a checkpoint under each free size"};
    const auto& notes = original().contents.notes;
    const auto insert = [&](std::int64_t size, std::int64_t from) {
        return rows.after("INSERT INTO checkpoint SELECT " + text(size) +
                              ", note FROM checkpoint WHERE size=" + text(from),
                          treeOnly());
    };
    for (std::int64_t size = 1; size < kEnd; ++size) {
        if (notes.contains(size)) continue;
        const std::int64_t from = notes.upper_bound(size)->first;
        family.mustDetect(insert(size, from), oneOf({seqOf(size) - 1}),
                          [&] { return "of " + text(from) + " as " + text(size); });
    }
    constexpr std::array kOutside{std::int64_t{0}, std::int64_t{-1}, kLeast,
                                  kEnd + 1,        kEnd + 512,       kMost};
    for (const std::int64_t size : kOutside)
        for (const auto& [from, note] : notes)
            family.mustDetect(insert(size, from), oneOf({std::nullopt, seqOf(from)}),
                              [&, key = from] { return "of " + text(key) + " as " + text(size); });
    family.expect(kRecords - notes.size() + kOutside.size() * notes.size());
}

TEST_CASE("a tree node under a number that no 256 records have")
{
    const Rows rows;
    Family family{"a tree node under a free number"};
    constexpr std::array kNumbers{
        std::int64_t{-1},      std::int64_t{-2},      kLeast,
        std::int64_t{1},       std::int64_t{2},       std::int64_t{1} << 40,
        std::int64_t{1} << 55, std::int64_t{1} << 56, kMost};
    for (const std::int64_t index : kNumbers)
        family.mustDetect(
            rows.after("INSERT INTO node SELECT " + text(index) + ", hash FROM node", treeOnly()),
            wholeFile(), [&] { return text(index); });
    family.expect(kNumbers.size());
}

// What opening the journal would start from.
TEST_CASE("a snapshot under each size that has none")
{
    const Rows rows;
    Family family{"a snapshot under each free size"};
    const Contents& all = original().contents;
    const auto insert = [&](std::int64_t size, const std::string& state,
                            const std::string& frontier) {
        rows.restore();
        rows.edit([&](Database& database) {
            database.prepare("INSERT INTO snapshot VALUES (?, ?, ?)")
                .bind(1, size)
                .bindText(2, state)
                .bindText(3, frontier)
                .run();
        });
        return rows.verify(withoutSignatures());
    };
    const Contents::Snapshot& newest = all.snapshots.rbegin()->second;
    const std::string rich = replaced(newest.state, R"("meter":"5)", R"("meter":"9)");

    Frontier frontier;
    Replay replay;
    for (const auto& [seq, each] : all.payloads) {
        if (!all.snapshots.contains(seq)) {
            const auto which = [&, key = seq] { return text(key); };
            // With the tree and the state as they were: only the record that names it is not there.
            family.mustDetect(insert(seq, writeState(replay.state()), frontier.format()),
                              oneOf({seqOf(seq)}), which);
            family.mustDetect(insert(seq, rich, frontier.format()), oneOf({seqOf(seq)}), which);
            family.mustDetect(insert(seq, newest.state, newest.frontier), oneOf({seqOf(seq)}),
                              which);
        }
        REQUIRE(replay.step(seqOf(seq), readRecord(each).value(), each).empty());
        frontier.append(leafHash(each));
    }
    constexpr std::array kOutside{std::int64_t{-1}, kLeast, kEnd, kEnd + 1, kMost};
    for (const std::int64_t size : kOutside) {
        family.mustDetect(insert(size, rich, frontier.format()), wholeFile(),
                          [&] { return text(size); });
        family.mustDetect(insert(size, writeState(replay.state()), frontier.format()), wholeFile(),
                          [&] { return text(size); });
    }
    family.expect(3 * (kRecords - all.snapshots.size()) + 2 * kOutside.size());
}

TEST_CASE("a second beginning")
{
    const Rows rows;
    Family family{"a second row that says where the file begins"};
    constexpr std::array kNumbers{std::int64_t{-1}, kLeast, std::int64_t{1}, kEnd, kMost};
    for (const std::int64_t first : kNumbers)
        family.mustDetect(
            rows.after("INSERT INTO segment SELECT " + text(first) + ", frontier FROM segment",
                       treeOnly()),
            wholeFile(), [&] { return text(first); });
    family.expect(kNumbers.size());
}

TEST_CASE("payloads exchanged")
{
    const Rows rows;
    Family family{"payloads exchanged, as they are and with their seq adapted"};
    const auto exchange = [&](std::int64_t a, std::int64_t b) {
        const std::int64_t earlier = std::min(a, b);
        const auto which = [&] { return text(a) + " and " + text(b); };
        family.mustDetect(
            rows.after(putPayload(a, payload(b)) + putPayload(b, payload(a)), withoutSignatures()),
            oneOf({seqOf(earlier)}), which);
        // Then it may be only the tree that shows it.
        family.mustDetect(rows.after(putPayload(a, renumbered(payload(b), seqOf(a))) +
                                         putPayload(b, renumbered(payload(a), seqOf(b))),
                                     withoutSignatures()),
                          between(seqOf(earlier), shownBy(seqOf(earlier))), which);
    };
    for (std::int64_t seq = 0; seq + 1 < kEnd; ++seq) exchange(seq, seq + 1);
    constexpr std::uint64_t kRandomPairs = 1500;
    std::mt19937_64 random{20'240'613};
    std::uniform_int_distribution<std::int64_t> any{0, kEnd - 1};
    for (std::uint64_t i = 0; i < kRandomPairs; ++i) {
        const std::int64_t a = any(random);
        std::int64_t b = any(random);
        while (b == a) b = any(random);
        exchange(a, b);
    }
    family.expect(2 * (kRecords - 1 + kRandomPairs));
}

TEST_CASE("all pairs of checkpoints and of snapshots exchanged")
{
    const Rows rows;
    Family family{"checkpoints and snapshots exchanged"};
    std::uint64_t pairs = 0;
    for (const Column& column : keyColumns()) {
        if (column.table != "checkpoint" && column.table != "snapshot") continue;
        for (auto a = column.keys.begin(); a != column.keys.end(); ++a)
            for (auto b = a + 1; b != column.keys.end(); ++b, ++pairs)
                family.mustDetect(rows.after(rekey(column, *a, *b), everything()),
                                  rekeyedAt(column, *a, *b),
                                  [&] { return column.table + " " + text(*a); });
    }
    const std::size_t notes = original().contents.notes.size();
    CHECK(pairs == notes * (notes - 1) / 2 + 1);
    family.expect(pairs);
}

TEST_CASE("each payload over that of its neighbours")
{
    const Rows rows;
    Family family{"a payload over its neighbour's, as it is and with its seq adapted"};
    for (std::int64_t seq = 0; seq < kEnd; ++seq)
        for (const std::int64_t over : {seq - 1, seq + 1}) {
            if (over < 0 || over == kEnd) continue;
            const auto which = [&] { return text(seq) + " over " + text(over); };
            family.mustDetect(rows.after(putPayload(over, payload(seq)), withoutSignatures()),
                              oneOf({seqOf(over)}), which);
            family.mustDetect(rows.after(putPayload(over, renumbered(payload(seq), seqOf(over))),
                                         withoutSignatures()),
                              between(seqOf(over), shownBy(seqOf(over))), which);
        }
    family.expect(4 * (kRecords - 1));
}

// --- cut off -------------------------------------------------------------------------------------

namespace {

std::string cutRecords(std::int64_t size)
{
    return "DELETE FROM journal WHERE seq>=" + text(size) + ";";
}
std::string cutCheckpoints(std::int64_t size)
{
    return "DELETE FROM checkpoint WHERE size>" + text(size) + ";";
}
std::string cutDerived(std::int64_t size)
{
    return "DELETE FROM node WHERE ((idx+1)<<8)>" + text(size) +
           "; DELETE FROM snapshot WHERE size>=" + text(size) + ";";
}

}  // namespace

TEST_CASE("cut off at each record, the checkpoints left")
{
    const Rows rows;
    Family family{"cut off at each record, the checkpoints left"};
    for (std::int64_t size = 0; size < kEnd; ++size)
        family.mustDetect(rows.after(cutRecords(size), everything()),
                          size == 0 ? wholeFile() : oneOf({seqOf(size)}),
                          [&] { return text(size); });
    family.expect(kRecords);
}

// A file alone cannot show that it once was longer where it ends as it ended then: all of it is
// what was signed. A later checkpoint, of an auditor's earlier visit or in a
// table's receipt, shows it.
TEST_CASE("cut off at each record together with its checkpoints")
{
    const Rows rows;
    const auto& notes = original().contents.notes;
    Family left{"cut off with its checkpoints, nodes and snapshots left"};
    Family all{"cut off with its checkpoints, nodes and snapshots"};
    Family since{"cut off with everything, seen by each later checkpoint or receipt"};
    Family before{"cut off with everything, an earlier checkpoint is still a part of it"};
    std::uint64_t pairs = 0;
    for (std::int64_t size = 0; size < kEnd; ++size) {
        const std::int64_t covered = checkpointUpTo(size);
        const auto which = [&] { return text(size); };
        const bool hasDerived = size <= original().contents.snapshots.rbegin()->first ||
                                size < std::int64_t{1} << kNodeLevel;
        const auto leftVerdict = rows.after(cutRecords(size) + cutCheckpoints(size), everything());
        const auto verdict =
            rows.after(cutRecords(size) + cutCheckpoints(size) + cutDerived(size), everything());
        if (covered != size || size == 0) {
            const auto right = size == 0 ? wholeFile() : oneOf({seqOf(covered)});
            left.mustDetect(leftVerdict, right, which);
            all.mustDetect(verdict, right, which);
            continue;
        }
        if (hasDerived)
            left.mustDetect(leftVerdict, wholeFile(), which);
        else
            left.mustPass(leftVerdict, which);
        all.mustPass(verdict, which);
        for (const auto& [receiptSize, receipt] : notes) {
            VerifyOptions options = everything();
            options.since = receipt;
            const auto held = rows.verify(options);
            const auto whose = [&, key = receiptSize] {
                return text(size) + ", a receipt of " + text(key);
            };
            if (receiptSize > size)
                since.mustDetect(held, oneOf({seqOf(size)}), whose);
            else
                before.mustPass(held, whose);
            ++pairs;
        }
    }
    left.expect(kRecords);
    all.expect(kRecords);
    const std::uint64_t cuts = notes.size() - 1;
    CHECK(pairs == cuts * notes.size());
    since.expect(cuts * (cuts + 1) / 2);
    before.expect(cuts * (cuts + 1) / 2);
}

TEST_CASE("control: without outcomes or signatures the tree still shows rows that were moved")
{
    const Rows rows;
    Family family{"control: neighbours exchanged with their seq adapted, tree alone"};
    for (std::int64_t seq = 1; seq + 1 < kEnd; ++seq)
        family.mustDetect(
            rows.after(putPayload(seq, renumbered(payload(seq + 1), seqOf(seq))) +
                           putPayload(seq + 1, renumbered(payload(seq), seqOf(seq) + 1)),
                       treeOnly()),
            between(seqOf(seq), shownBy(seqOf(seq))), [&] { return text(seq); });
    family.expect(kRecords - 2);
}

}  // namespace jackpot::storage::tamper
