// Forged by someone who holds the keys: the tree and every signature are right, and only the rules
// can tell what is not. Each case is found by recomputing and passes where that is left out.
#include <doctest/doctest.h>

#include "rules/apply.h"
#include "storage/merkle.h"
#include "storage/replay.h"
#include "storage/snapshot.h"
#include "tests/storage/tamper_journal.h"

namespace jackpot::storage::tamper {
namespace {

namespace fs = std::filesystem;

const Contents& genuine() { return original().contents; }

// Changed records, signed again correctly, in a file.
class Forgery {
public:
    ~Forgery()
    {
        // Signing unchanged records again gives the same journal.
        CHECK(signedAnew(genuine(), asOriginal(genuine())) == genuine());
        const auto verdict = verdictOn(genuine(), everything());
        CHECK_MESSAGE(verdict, inWords(verdict));
    }

    [[nodiscard]] Verdict verdictOn(const Contents& changed, const VerifyOptions& options) const
    {
        store(signedAnew(changed, asOriginal(changed)), file_);
        return storage::verify({file_}, options);
    }
    [[nodiscard]] Verdict again(const VerifyOptions& options) const
    {
        return storage::verify({file_}, options);
    }

    // Seen where it was done, and only by recomputing.
    void tryIt(Family& family, Family& control, const Contents& changed, std::int64_t at,
               const Family::Which& which)
    {
        family.mustDetect(verdictOn(changed, everything()), oneOf({seqOf(at)}), which);
        control.mustPass(again(withoutOutcomes()), which);
    }
    void tryRecord(Family& family, Family& control, std::int64_t seq, const std::string& payload)
    {
        Contents changed = genuine();
        REQUIRE(changed.payloads.at(seq) != payload);
        changed.payloads.at(seq) = payload;
        tryIt(family, control, changed, seq, [&] { return std::to_string(seq) + ": " + payload; });
    }

private:
    MemoryDirectory directory_;
    fs::path file_ = directory_ / "journal.db";
};

// All places of a text in a payload.
std::vector<std::size_t> placesOf(const std::string& payload, std::string_view text)
{
    std::vector<std::size_t> places;
    for (std::size_t at = payload.find(text); at != std::string::npos;
         at = payload.find(text, at + 1))
        places.push_back(at);
    return places;
}

// The amount that begins there, one unit of 1e-8 more.
std::string oneUnitMore(std::string payload, std::size_t at)
{
    std::size_t end = payload.find('"', at);
    const bool negative = payload[at] == '-';
    for (std::size_t i = end; i-- > at;) {
        if (payload[i] == '.' || payload[i] == '-') continue;
        if (!negative && payload[i] == '9') {
            payload[i] = '0';
            continue;
        }
        if (negative && payload[i] == '0') {
            payload[i] = '9';
            continue;
        }
        payload[i] = static_cast<char>(payload[i] + (negative ? -1 : 1));
        break;
    }
    return payload;
}

std::size_t commandEnd(const std::string& payload)
{
    for (const char* next :
         {R"(,"refused":)", R"(,"awards":)", R"(,"withdrawn":)", R"(,"refunds":)", R"(,"claims":)",
          R"(,"notices":)", R"(,"payment":)", R"(,"parameters":)", R"(,"amended":)",
          R"(,"pools":[{"pool")", R"(,"pools":[])"}) {
        const std::size_t at = payload.find(next);
        if (at != std::string::npos) return at;
    }
    return payload.size();
}

bool isCommand(const std::string& payload)
{
    return payload.find(R"(,"command":)") != std::string::npos;
}

Contents with(const std::function<void(Contents&)>& change)
{
    Contents contents = genuine();
    change(contents);
    return contents;
}

// The records from one on under other numbers, with their checkpoints and snapshots.
Contents shifted(std::int64_t from, std::int64_t by)
{
    const Contents& old = genuine();
    Contents moved;
    moved.segments = old.segments;
    moved.schema = old.schema;
    const auto number = [&](std::int64_t key) { return key < from ? key : key + by; };
    for (const auto& [seq, payload] : old.payloads)
        if (seq < from || seq + by >= from)
            moved.payloads[number(seq)] = renumbered(payload, seqOf(number(seq)));
    // A checkpoint belongs to the record before its size.
    for (const auto& [size, note] : old.notes) moved.notes[number(size - 1) + 1] = note;
    for (const auto& [size, snapshot] : old.snapshots) moved.snapshots[number(size)] = snapshot;
    return moved;
}

Contents without(std::int64_t seq) { return shifted(seq, -1); }

Contents withInserted(std::int64_t seq, const std::string& payload)
{
    Contents moved = shifted(seq, 1);
    moved.payloads[seq] = payload;
    return moved;
}

rules::State stateBefore(std::int64_t seq)
{
    Replay replay;
    for (const auto& [each, payload] : genuine().payloads) {
        if (each == seq) break;
        REQUIRE(replay.step(seqOf(each), readRecord(payload).value(), payload).empty());
    }
    return replay.takeState();
}

std::string timeText(const std::string& payload)
{
    const std::size_t from = payload.find(R"("time":)") + 7;
    return payload.substr(from, payload.find(',', from) - from);
}

// What the rules make of a command between a record and the one before.
std::string recordOf(std::int64_t seq, const rules::Command& command)
{
    rules::State state = stateBefore(seq);
    const rules::TimeMs now = std::stoll(timeText(genuine().payloads.at(seq - 1)));
    std::string payload;
    REQUIRE(beginCommandRecord(payload, seqOf(seq), now, command));
    const rules::Outcome outcome = apply(state, command, now);
    finishCommandRecord(payload, outcome, state);
    return payload;
}

}  // namespace

TEST_CASE("each amount that was computed, one unit of 1e-8 more")
{
    Forgery forgery;
    Family family{"each computed amount off by 1e-8"};
    Family control{"control: the same without outcomes"};
    std::uint64_t amounts = 0;
    for (const auto& [seq, payload] : genuine().payloads) {
        if (!isCommand(payload)) continue;
        for (const std::size_t at : placesOf(payload, R"(":")")) {
            const std::size_t from = at + 3;
            const std::size_t end = payload.find('"', from);
            const bool isAmount = end - from > 9 && payload[end - 9] == '.' &&
                                  payload.find_first_not_of("-0123456789.", from) == end;
            if (!isAmount || from < commandEnd(payload)) continue;
            ++amounts;
            forgery.tryRecord(family, control, seq, oneUnitMore(payload, from));
        }
    }
    CHECK(amounts > 200);
    family.expect(amounts);
    control.expect(amounts);
}

TEST_CASE("outcomes that are not what the rules give")
{
    Forgery forgery;
    Family family{"forged outcomes, signed"};
    Family control{"control: the same without outcomes"};
    struct Edit {
        std::string_view what;
        std::string_view with;
    };
    const std::vector<Edit> edits{
        {R"("seat":1,"tier":"three_sevens_diamonds","amount")",
         R"("seat":2,"tier":"three_sevens_diamonds","amount")"},
        {R"("tier":"three_sevens_diamonds","amount")", R"("tier":"three_suited_sevens","amount")"},
        {R"("amount":"50.00000000","rule":"BJ 14.24")",
         R"("amount":"500.00000000","rule":"BJ 14.24")"},
        {R"("rule":"BJ 14.27.2","arithmetic")", R"("rule":"BJ 14.27.1","arithmetic")"},
        {R"("state":"claimed")", R"("state":"dropped")"},
        {R"("state":"locked")", R"("state":"held")"},
        {R"("state":"due")", R"("state":"locked")"},
        {R"("refused":{"code":"not_offline"},)", ""},
        {R"("refused":{"code":"pool_suspended"},)", ""},
        {R"("refused":{"code":"needs_two_people"},)", ""},
        {R"("refused":{"code":"unknown_table","rule":"UTH 15.1.2.2"},)", ""},
        {R"("code":"not_offline")", R"("code":"table_offline")"},
        {R"("notices":[{"kind":"malfunction","to":["inspector"],"rule":"BJ 16.18"}],)", ""},
        {R"("to":["surveillance","inspector"])", R"("to":["inspector"])"},
        {R"("postings":{})", R"("postings":{"seed":{}})"},
        {R"("postings":{"wager")", R"("postings":{"seed")"},
        {R"("payment":{"due":)", R"("payment":{"due_":)"},
        {R"("winners":2,)", R"("winners":1,)"},
        {R"("takes":"100 %")", R"("takes":"10 %")"},
        {R"("refunds":[)", R"("returns":[)"},
        {R"(,"pools":[{"pool")", R"(,"refused":{"code":"out_of_range"},"pools":[{"pool")"},
        {R"(,"pools":[{"pool")",
         R"(,"awards":[{"table":"T2","round":1,"seat":1,"tier":"three_sevens_diamonds","amount":"50000.00000000","rule":"BJ 14.24"}],"pools":[{"pool")"},
        // The same in other words is not the same.
        {R"("pools":[)", R"("pools": [)"},
        {R"("pools":[)", R"("pools":[],"pools":[)"},
        {R"("kind":")", R"("kind":"table_online","kind":")"},
        {R"("meter":")", R"("meter":"1.00000000","meter":")"},
    };
    std::uint64_t cases = 0;
    for (const Edit& edit : edits) {
        std::uint64_t places = 0;
        for (const auto& [seq, payload] : genuine().payloads) {
            const auto found = placesOf(payload, edit.what);
            // Two kinds of kind would be read as the first; what is no command is another test.
            if (found.empty() || !isCommand(payload)) continue;
            ++places;
            std::string changed = payload;
            changed.replace(found.back(), edit.what.size(), edit.with);
            forgery.tryRecord(family, control, seq, changed);
        }
        CHECK_MESSAGE(places > 0, edit.what);
        cases += places;
    }
    family.expect(cases);
    control.expect(cases);
}

TEST_CASE("commands that are not the ones that led to the outcome")
{
    Forgery forgery;
    Family family{"commands exchanged under their outcome, signed"};
    Family control{"control: the same without outcomes"};
    const std::vector<std::pair<std::string_view, std::string_view>> edits{
        {R"("wagers":[{"seat":3}])", R"("wagers":[{"seat":3},{"seat":4}])"},
        {R"("cards":["7D","7D"])", R"("cards":["7D","7S"])"},
        {R"("amount":"1.25000000","reason":"error","by":["a","b"])",
         R"("amount":"-1.25000000","reason":"error","by":["a","b"])"},
        {R"("by":["a","b"]},"pools":[{"pool":"B","postings":{"adjustment")",
         R"("by":["a","a"]},"pools":[{"pool":"B","postings":{"adjustment")"},
        {R"("table":"T2","round":4,"seat":2,"reason":"late")",
         R"("table":"T2","round":4,"seat":1,"reason":"late")"},
        {R"("paid":"9.00000000","how")", R"("paid":"8.00000000","how")"},
        {R"("opening":"90000.00000000")", R"("opening":"90001.00000000")"},
    };
    std::uint64_t cases = 0;
    for (const auto& [what, to] : edits)
        for (const auto& [seq, payload] : genuine().payloads) {
            if (payload.find(what) == std::string::npos) continue;
            ++cases;
            forgery.tryRecord(family, control, seq, replaced(payload, what, to));
        }
    CHECK(cases >= edits.size());
    family.expect(cases);
    control.expect(cases);
}

TEST_CASE("records that say another number or an earlier time")
{
    Forgery forgery;
    Family family{"another number or an earlier time, signed"};
    Family control{"control: the same without outcomes"};
    for (const auto& [seq, payload] : genuine().payloads) {
        forgery.tryRecord(family, control, seq, renumbered(payload, seqOf(seq) ^ 1U));
        if (seq == 0) continue;
        const std::string before = timeText(genuine().payloads.at(seq - 1));
        forgery.tryRecord(family, control, seq,
                          replaced(payload, R"("time":)" + timeText(payload),
                                   R"("time":)" + std::to_string(std::stoll(before) - 1)));
    }
    family.expect(2 * kRecords - 1);
    control.expect(2 * kRecords - 1);
}

TEST_CASE("settlements that are left out or added")
{
    Forgery forgery;
    Family family{"settlements left out or added, signed"};
    Family control{"control: the same without outcomes"};
    Family idle{"settlements added where nothing is due"};
    const auto settlement =
        static_cast<std::int64_t>(findRecord(genuine(), R"("kind":"settle_due")"));
    CHECK_THROWS(findRecord(genuine(), R"("kind":"settle_due")", seqOf(settlement) + 1));
    const std::string& payload = genuine().payloads.at(settlement);

    // What came next could not have been done before it.
    forgery.tryIt(family, control, without(settlement), settlement, [] { return "left out"; });
    // Before the window has passed there is nothing to settle.
    const std::string& before = genuine().payloads.at(settlement - 1);
    Contents early = genuine();
    early.payloads[settlement] =
        replaced(payload, R"("time":)" + timeText(payload), R"("time":)" + timeText(before));
    forgery.tryIt(family, control, early, settlement, [] { return "too early"; });
    // Once more, in each later place.
    std::uint64_t places = 0;
    for (std::int64_t seq = settlement + 1; seq < static_cast<std::int64_t>(kRecords); seq += 10) {
        const std::string again =
            replaced(renumbered(payload, seqOf(seq)), R"("time":)" + timeText(payload),
                     R"("time":)" + timeText(genuine().payloads.at(seq - 1)));
        forgery.tryIt(family, control, withInserted(seq, again), seq,
                      [&] { return "again at " + std::to_string(seq); });
        ++places;
        // If nothing is due, the rules give nothing: such a record is empty.
        const std::string nothing = recordOf(seq, rules::SettleDue{"B"});
        CHECK(nothing.find("awards") == std::string::npos);
        CHECK(nothing.find(R"("postings":{})") != std::string::npos);
        idle.mustPass(forgery.verdictOn(withInserted(seq, nothing), everything()),
                      [&] { return std::to_string(seq); });
    }
    family.expect(2 + places);
    control.expect(2 + places);
    idle.expect(places);
}

// The views show what any record says of awards and pools.
TEST_CASE("records that hold no command and show an outcome")
{
    Forgery forgery;
    Family family{"an outcome in a record that holds no command, signed"};
    const std::vector<std::string> fields{
        R"("command":{"table":"T1","round":7})",
        R"("refused":{"code":"not_offline"})",
        R"("awards":[{"table":"T1","round":7,"seat":1,"tier":"three_sevens_diamonds","amount":"50000.00000000","rule":"BJ 14.24"}])",
        R"("\u0061wards":[{"table":"T1","round":7,"seat":1,"amount":"50000.00000000"}])",
        R"("withdrawn":[])",
        R"("refunds":[])",
        R"("claims":[])",
        R"("notices":[])",
        R"("payment":{"due":"1.00000000","paid":"1.00000000"})",
        R"("parameters":{"pool":"B","state":"in_force"})",
        R"("amended":{"new_pools":["B"]})",
        R"("pools":[{"pool":"B","postings":{},"meter":"90000.00000000","reserve":"0.00000000"}])",
    };
    std::vector<std::int64_t> plain;
    for (const char* kind : {"journal_opened", "clock_stepped", "snapshot", "key_rotated"})
        plain.push_back(static_cast<std::int64_t>(
            findRecord(genuine(), std::string{R"("kind":")"} + kind + '"')));
    for (std::uint64_t from = 0; from < kRecords; from += 50)
        plain.push_back(static_cast<std::int64_t>(findRecord(genuine(), "heartbeat", from)));
    for (const std::int64_t seq : plain)
        for (const std::string& field : fields) {
            std::string payload = genuine().payloads.at(seq);
            payload.insert(payload.size() - 1, "," + field);
            family.mustDetect(
                forgery.verdictOn(with([&](Contents& all) { all.payloads.at(seq) = payload; }),
                                  everything()),
                oneOf({seqOf(seq)}), [&] { return payload; });
        }
    // A command under a kind that is none of the rules' is not recomputed.
    std::uint64_t renamed = 0;
    for (const char* kind :
         {"settle_due", "round_opened", "surveillance_ruling", "pool_adjusted"}) {
        const std::string quoted = std::string{R"("kind":")"} + kind;
        const auto seq = static_cast<std::int64_t>(findRecord(genuine(), quoted + '"'));
        for (const std::string& other : {quoted + "_", quoted + " "}) {
            ++renamed;
            family.mustDetect(forgery.verdictOn(with([&](Contents& all) {
                                                    all.payloads.at(seq) = replaced(
                                                        all.payloads.at(seq), quoted, other);
                                                }),
                                                everything()),
                              oneOf({seqOf(seq)}), [&] { return other; });
        }
    }
    family.expect(plain.size() * fields.size() + renamed);
}

TEST_CASE("a journal or a segment that begins in the middle of another")
{
    Forgery forgery;
    Family family{"a beginning in the middle, signed"};
    for (const char* kind : {"journal_opened", "segment_opened"})
        for (std::int64_t seq = 1; seq < static_cast<std::int64_t>(kRecords); seq += 23) {
            const std::string payload = writePlainRecord(
                seqOf(seq), std::stoll(timeText(genuine().payloads.at(seq - 1))), kind,
                [&](JsonText& json) {
                    json.textField("sha256", stateHash(writeState(stateBefore(seq))));
                    json.textField("key", verifierOf(kFirstKey).format());
                });
            family.mustDetect(forgery.verdictOn(withInserted(seq, payload), everything()),
                              oneOf({seqOf(seq)}), [&] { return payload; });
        }
    family.expect(2 * 13);
}

// --- snapshots -----------------------------------------------------------------------------------

TEST_CASE("snapshots with more money in them")
{
    Forgery forgery;
    Family family{"forged snapshots"};
    Family control{"control: forged snapshots with their record, without outcomes"};
    const auto raise = [](const std::string& state, std::string_view field) {
        const std::string key = '"' + std::string{field} + R"(":")";
        std::string changed = state;
        const std::size_t at = changed.find(key) + key.size();
        changed.insert(changed[at] == '-' ? at + 1 : at, "9");
        REQUIRE(readState(changed));
        return changed;
    };
    const std::vector<std::string_view> fields{"meter",         "reserve",        "seeded",
                                               "contributed",   "returned",       "from_reserve",
                                               "paid_by_house", "paid_from_pool", "adjusted"};
    for (const auto& [size, snapshot] : genuine().snapshots)
        for (const std::string_view field : fields) {
            const std::string state = raise(snapshot.state, field);
            const std::string& record = genuine().payloads.at(size);
            const std::string named = replaced(record, stateHash(snapshot.state), stateHash(state));
            const auto which = [&, at = size] {
                return std::to_string(at) + ", " + std::string{field};
            };
            const auto at = oneOf({seqOf(size)});
            const auto row = [&, key = size](Contents& all) {
                all.snapshots.at(key).state = state;
            };
            const auto hash = [&, key = size](Contents& all) { all.payloads.at(key) = named; };

            family.mustDetect(forgery.verdictOn(with(row), everything()), at, which);
            family.mustDetect(forgery.verdictOn(with(hash), everything()), at, which);
            family.mustDetect(forgery.verdictOn(with([&, key = size](Contents& all) {
                                                    hash(all);
                                                    all.snapshots.erase(key);
                                                }),
                                                everything()),
                              at, which);
            const Contents both = with([&](Contents& all) {
                row(all);
                hash(all);
            });
            forgery.tryIt(family, control, both, size, which);
        }
    const std::uint64_t cases = genuine().snapshots.size() * fields.size();
    family.expect(4 * cases);
    control.expect(cases);
}

TEST_CASE("snapshots with another tree")
{
    const MemoryDirectory directory;
    const fs::path file = directory / "journal.db";
    Family family{"snapshots with another tree"};
    for (const auto& [size, snapshot] : genuine().snapshots) {
        Frontier other;
        for (std::int64_t i = 0; i < size; ++i) other.append(leafHash(std::to_string(i)));
        for (const std::string& text :
             {other.format(), std::string{}, snapshot.frontier + "\n", std::string{"0\n"}}) {
            store(with([&, key = size](Contents& all) { all.snapshots.at(key).frontier = text; }),
                  file);
            family.mustDetect(storage::verify({file}, everything()), oneOf({seqOf(size)}),
                              [&, key = size] { return std::to_string(key); });
        }
    }
    family.expect(4 * genuine().snapshots.size());
}

}  // namespace jackpot::storage::tamper
