#include "tests/storage/tamper_journal.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "base/encoding.h"
#include "rules/settle_due.h"
#include "storage/merkle.h"
#include "tests/support/rules_fixture.h"

namespace jackpot::storage::tamper {

namespace fs = std::filesystem;
using namespace rules;

Signer signerOf(char letter, const std::string& name)
{
    // PKCS #8 of an Ed25519 key (RFC 8410).
    const std::string key =
        *decodeHex("302e020100300506032b657004220420") + std::string(32, letter);
    const std::string pem =
        "-----BEGIN PRIVATE KEY-----\n" + encodeBase64(key) + "\n-----END PRIVATE KEY-----\n";
    return Signer::make(name, PrivateKey::fromPem(pem).value()).value();
}

Verifier verifierOf(char letter, const std::string& name)
{
    return signerOf(letter, name).verifier();
}

// --- a floor at work -----------------------------------------------------------------------------

void Night::give(const Command& command)
{
    now_ += 7;
    settleDue(journal_.state(), now_, [this](const SettleDue& due, TimeMs atMs) {
        journal_.decide(due, atMs);
        afterEach();
    });
    (void)journal_.decide(command, now_);
    afterEach();
}

void Night::afterEach()
{
    if (journal_.size() - committed_ >= batch_) commit();
}

void Night::commit()
{
    REQUIRE(journal_.commit());
    committed_ = journal_.size();
}

void Night::claim(const std::string& table, const std::string& suit)
{
    give(OpenRound{table, ++round_, {{1, true, {}, {}}, {2, true, {}, {}}}});
    give(ReportResult{
        table, round_, {"7" + suit}, {{1, {"7" + suit, "7" + suit}}, {2, {"7C", "KC"}}}});
}

void Night::everyKind(int variant)
{
    PoolConfig pool = blazingPool("B");
    pool.opening = Money::ofDollars(90'000 + variant);
    pool.increment = Rate::ofPartsPerMillion(200'000 + variant);
    pool.reserveIncrement = Rate::ofPartsPerMillion(30'000);
    give(ConfigureSite{siteOf(pool, 2)});

    claim("T1", "D");
    give(ConfirmJackpot{"T1", round_, 5});
    now_ += kDefaultSettleAfterMs;
    give(MarkTableOffline{"T2"});
    give(MarkTableOnline{"T2"});
    give(RecordPayment{
        {"T1", round_, 1, Tier::ThreeSevensDiamonds}, false, dollars("9"), "cheque", {"s"}});
    give(RecordPayment{{"T1", round_, 5, {}}, true, dollars("-2"), "chips", {"s"}});
    give(WithholdAward{{"T1", round_, 2, Tier::OneEachSevens}, "minor", {"a", "b"}});
    give(ReleaseAward{{"T1", round_, 2, Tier::OneEachSevens}, "of age", {"a", "b"}});
    give(CloseRound{"T1", round_});

    claim("T1", "S");
    give(ConfirmJackpot{"T1", round_, 0});
    const std::int64_t tied = round_;
    claim("T2", "S");
    give(ConfirmJackpot{"T2", round_, 0});
    give(RuleOnClaims{"B", {{{"T2", round_}, {"T1", tied}}}, {"eye"}});

    claim("T2", "H");
    give(CorrectResult{{"T2", round_, {"7H"}, {{1, {"7H", "KH"}}}}, {"s"}});
    give(VoidWager{"T2", round_, 2, VoidWagerGround::InvalidWager, "late", {"s"}});
    give(VoidRound{"T2", round_, VoidRoundGround::MissingOrForeignCard, {}, "", {"s"}});
    give(SuspendTable{"T1", SuspensionGround::Malfunction, Origin::Desk, "sensor", {"g"}});
    give(ResumeTable{"T1", Origin::Desk, "mended", {"g"}});
    give(SuspendPool{"B", "audit", {"g"}});
    give(OpenRound{"T1", 99, {}});
    give(ResumePool{"B", "done", {"g"}});
    give(AdjustPool{"B", dollars("1.25"), "error", {"a", "b"}});
    give(AdjustPool{"B", dollars("1.25"), "error", {"a"}});
    PoolParameters to = pool;
    to.payoutUnit = Money::ofCents(5);
    give(ChangePool{"B", to, "chips", {"a", "b"}});
    give(AdjustPool{"B", dollars("-1000"), "reset", {"a", "b"}});
    give(AdjustPool{"B", dollars("1000"), "back", {"a", "b"}});
    Site site = siteOf(pool, 2);
    site.pools[0] = withParameters(pool, to);  // an opening amount would be ignored
    site.tables.push_back(site.tables[0]);
    site.tables.back().id = "T3";
    give(ConfigureSite{site});
    journal_.add("clock_stepped", now_, [](JsonText& json) {
        json.textField("why", "\u2014 \"ntp\"\n");
        json.numberField("ms", -3);
    });
    afterEach();
}

void Night::quiet(std::uint64_t until)
{
    constexpr std::uint64_t kPeriod = 48;
    for (std::uint64_t i = 0; journal_.size() < until; ++i) {
        if (i % kPeriod == 0) give(MarkTableOnline{"T1"});
        if (i % kPeriod == 4) give(VoidRound{"T9", 1, VoidRoundGround::DealingError, {}, "x", {}});
        if (i % kPeriod == 8) give(OpenRound{"T2", ++round_, {{3, true, {}, {}}}});
        if (i % kPeriod == 9) give(ReportResult{"T2", round_, {"2C"}, {}});
        if (journal_.size() == until) break;
        now_ += 7;
        journal_.heartbeat(now_);
        afterEach();
    }
}

// --- what is stored ------------------------------------------------------------------------------

namespace {

std::int64_t keyIn(const Statement& row)
{
    if (row.type(0) != SQLITE_INTEGER) throw SqliteFailure{SQLITE_MISMATCH, "a key is no number"};
    return row.number(0);
}

std::string valueIn(const Statement& row, int column, int type)
{
    if (row.type(column) != type)
        throw SqliteFailure{SQLITE_MISMATCH, "a value is not of its column's type"};
    return std::string{row.bytes(column)};
}

std::map<std::int64_t, std::string> tableOf(Database& database, const std::string& columns,
                                            int type)
{
    std::map<std::int64_t, std::string> rows;
    Statement all = database.prepare("SELECT " + columns);
    while (all.step())
        if (!rows.emplace(keyIn(all), valueIn(all, 1, type)).second)
            throw SqliteFailure{SQLITE_CORRUPT, "a key is there twice"};
    // A row that is there must also be found by its number.
    Statement one = database.prepare("SELECT " + columns + " WHERE rowid=?");
    for (const auto& [key, value] : rows) {
        one.bind(1, key);
        if (!one.step() || one.bytes(1) != value)
            throw SqliteFailure{SQLITE_CORRUPT, "a row is not found by its key"};
        one.reset();
    }
    return rows;
}

void insertAll(Database& database, const std::string& into,
               const std::map<std::int64_t, std::string>& rows, bool blob = false)
{
    Statement insert = database.prepare("INSERT INTO " + into + " VALUES (?, ?)");
    for (const auto& [key, value] : rows) {
        insert.bind(1, key);
        if (blob)
            insert.bindBlob(2, value);
        else
            insert.bindText(2, value);
        insert.run();
    }
}

Database openFreely(const fs::path& file)
{
    Database database{file.string(), Database::Mode::ReadWrite};
    sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
    sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1, nullptr);
    database.execute("PRAGMA synchronous=OFF");
    return database;
}

}  // namespace

Contents contentsOf(const fs::path& file)
{
    Database database{file.string(), Database::Mode::ReadOnly};
    database.execute("BEGIN");  // many questions, one look at the file
    Contents contents;
    contents.payloads = tableOf(database, "seq, payload FROM journal", SQLITE_TEXT);
    contents.notes = tableOf(database, "size, note FROM checkpoint", SQLITE_TEXT);
    contents.nodes = tableOf(database, "idx, hash FROM node", SQLITE_BLOB);
    contents.segments = tableOf(database, "first, frontier FROM segment", SQLITE_TEXT);
    Statement snapshots = database.prepare("SELECT size, state, frontier FROM snapshot");
    while (snapshots.step())
        contents.snapshots[keyIn(snapshots)] = {valueIn(snapshots, 1, SQLITE_TEXT),
                                                valueIn(snapshots, 2, SQLITE_TEXT)};
    Statement schema = database.prepare("SELECT sql FROM sqlite_schema");
    while (schema.step()) contents.schema.push_back(valueIn(schema, 0, SQLITE_TEXT));
    return contents;
}

void store(const Contents& contents, const fs::path& file)
{
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) fs::remove(file.string() + suffix);
    const auto start = Frontier::parse(contents.segments.begin()->second);
    REQUIRE(JournalFile::create(file, start.value()));
    Database database = openFreely(file);
    (void)database.text("PRAGMA journal_mode=DELETE");
    database.execute("BEGIN");
    insertAll(database, "journal", contents.payloads);
    insertAll(database, "checkpoint", contents.notes);
    insertAll(database, "node", contents.nodes, true);
    for (const auto& [size, row] : contents.snapshots)
        database.prepare("INSERT INTO snapshot VALUES (?, ?, ?)")
            .bind(1, size)
            .bindText(2, row.state)
            .bindText(3, row.frontier)
            .run();
    database.execute("COMMIT");
}

Contents signedAnew(Contents contents, const Signing& signing)
{
    Frontier frontier = Frontier::parse(contents.segments.begin()->second).value();
    contents.nodes.clear();
    const NodeSink keep = [&](unsigned level, std::uint64_t index, const Hash& hash) {
        if (level == kNodeLevel)
            contents.nodes[static_cast<std::int64_t>(index)] = std::string{hash.view()};
    };
    for (const auto& [seq, payload] : contents.payloads) {
        if (const auto snapshot = contents.snapshots.find(seq);
            snapshot != contents.snapshots.end())
            snapshot->second.frontier = frontier.format();
        frontier.append(leafHash(payload), keep);
        const auto stored = contents.notes.find(seq + 1);
        if (stored == contents.notes.end()) continue;
        const auto signers = signing(frontier.size());
        Note note{Checkpoint{signers.front()->name(), frontier.size(), frontier.root(), {}}
                      .format()
                      .value(),
                  {}};
        for (Signer* signer : signers) note.sign(*signer);
        stored->second = note.format().value();
    }
    return contents;
}

Signing alwaysBy(char letter)
{
    auto signer = std::make_shared<Signer>(signerOf(letter));
    return [signer](std::uint64_t) { return std::vector<Signer*>{signer.get()}; };
}

Signing asOriginal(const Contents& contents)
{
    auto first = std::make_shared<Signer>(signerOf(kFirstKey));
    auto second = std::make_shared<Signer>(signerOf(kSecondKey));
    const std::uint64_t rotated = findRecord(contents, R"("kind":"key_rotated")");
    return [=](std::uint64_t size) -> std::vector<Signer*> {
        if (size <= rotated) return {first.get()};
        if (size == rotated + 1) return {first.get(), second.get()};
        return {second.get()};
    };
}

std::uint64_t findRecord(const Contents& contents, std::string_view text, std::uint64_t from)
{
    for (const auto& [seq, payload] : contents.payloads)
        if (static_cast<std::uint64_t>(seq) >= from && payload.find(text) != std::string::npos)
            return static_cast<std::uint64_t>(seq);
    throw std::logic_error{"no record has " + std::string{text}};
}

std::string replaced(std::string text, std::string_view what, std::string_view with)
{
    const std::size_t at = text.find(what);
    if (at == std::string::npos || text.find(what, at + 1) != std::string::npos)
        throw std::logic_error{"\"" + std::string{what} + "\" is not there exactly once: " + text};
    return text.replace(at, what.size(), with);
}

std::string renumbered(std::string payload, std::uint64_t seq)
{
    const std::string_view before = R"({"seq":)";
    const std::size_t end = payload.find(',');
    if (!payload.starts_with(before)) throw std::logic_error{"a record without a number"};
    return payload.replace(before.size(), end - before.size(), std::to_string(seq));
}

std::string rotation(std::uint64_t seq, TimeMs time, char from, char to, bool lost)
{
    const KeyRotation change{verifierOf(from).format(), verifierOf(to).format(), lost, {"e", "f"}};
    return writePlainRecord(seq, time, "key_rotated",
                            [&](JsonText& json) { writeRotation(json, change); });
}

// --- the journal that most cases start from ------------------------------------------------------

namespace {

Original makeOriginal(int variant)
{
    const MemoryDirectory directory;
    {
        auto journal = Journal::create({directory / "journal", 100, {}}, signerOf(kFirstKey), 1);
        REQUIRE(journal);
        Night night{*journal, 27};
        night.everyKind(variant);
        night.quiet(150);
        REQUIRE(journal->rotateKey(signerOf(kSecondKey), {"c", "d"}, night.now()));
        night.quiet(kRecords);
        night.commit();
    }
    const fs::path file = directory / "journal/journal.db";
    {
        Database database = openFreely(file);
        (void)database.text("PRAGMA journal_mode=DELETE");
        database.execute("PRAGMA page_size=" + std::to_string(kTamperPageBytes) + "; VACUUM");
    }
    const auto verified = verify({file}, everything());
    if (!verified) FAIL(storage::inWords(verified.error()));
    return {bytesOf(file), contentsOf(file), *verified};
}

}  // namespace

const Original& original(int variant)
{
    static std::map<int, Original> made;
    const auto found = made.find(variant);
    return found != made.end() ? found->second
                               : made.emplace(variant, makeOriginal(variant)).first->second;
}

std::uint64_t shownBy(std::uint64_t seq, const Contents& contents)
{
    const auto key = static_cast<std::int64_t>(seq);
    std::int64_t at = contents.notes.upper_bound(key)->first - 1;
    for (const auto& [index, hash] : contents.nodes) {
        const std::int64_t last = ((index + 1) << kNodeLevel) - 1;
        if (last >= key) at = std::min(at, last);
    }
    const auto snapshot = contents.snapshots.upper_bound(key);
    if (snapshot != contents.snapshots.end()) at = std::min(at, snapshot->first);
    return static_cast<std::uint64_t>(at);
}

// --- verifying -----------------------------------------------------------------------------------

VerifyOptions everything()
{
    static const Verifier first = verifierOf(kFirstKey);
    VerifyOptions options;
    options.trusted.push_back(first);
    options.threads = 1;
    return options;
}

VerifyOptions since(const std::string& note, VerifyOptions options)
{
    options.since = note;
    return options;
}

VerifyOptions withoutSignatures()
{
    VerifyOptions options = everything();
    options.signatures = false;
    return options;
}

VerifyOptions withoutOutcomes()
{
    VerifyOptions options = everything();
    options.outcomes = false;
    return options;
}

VerifyOptions treeOnly()
{
    VerifyOptions options = withoutSignatures();
    options.outcomes = false;
    return options;
}

Specimen::Specimen(fs::path file, std::string bytes)
    : file_{std::move(file)}, bytes_{std::move(bytes)}
{
    restore();
}

void Specimen::restore() const { writeBytes(file_, bytes_); }

void Specimen::edit(const std::string& sql) const
{
    edit([&](Database& database) { database.execute(sql); });
}

void Specimen::edit(const std::function<void(Database&)>& work) const
{
    Database database = openFreely(file_);
    database.execute("PRAGMA journal_mode=MEMORY");
    work(database);
}

Verdict Specimen::verify(const VerifyOptions& options) const
{
    return storage::verify({file_}, options);
}

// --- counting ------------------------------------------------------------------------------------

Family::~Family()
{
    if (!ended_) std::fprintf(stderr, "tampering, %s: not counted\n", name_.c_str());
}

void Family::wrong(const Which& which, const std::string& what)
{
    constexpr std::size_t kTold = 10;
    ++wrong_;
    if (firstWrong_.size() < kTold) firstWrong_.push_back(which() + ": " + what);
}

void Family::mustDetect(const Verdict& verdict, const At& isRight, const Which& which)
{
    mustDetectOr(false, verdict, isRight, which);
}

void Family::mustDetectOr(bool unchanged, const Verdict& verdict, const At& isRight,
                          const Which& which)
{
    ++tried_;
    if (verdict && unchanged)
        ++unchanged_;
    else if (verdict)
        wrong(which, "not seen");
    else if (!isRight(verdict.error().seq))
        wrong(which, "named wrongly: " + storage::inWords(verdict.error()));
    else
        ++detected_;
}

void Family::mustPass(const Verdict& verdict, const Which& which)
{
    ++tried_;
    if (verdict)
        ++passed_;
    else
        wrong(which, storage::inWords(verdict.error()));
}

void Family::expect(std::uint64_t cases)
{
    ended_ = true;
    std::printf("tampering, %s: %llu cases: %llu detected", name_.c_str(),
                static_cast<unsigned long long>(tried_),
                static_cast<unsigned long long>(detected_));
    if (unchanged_ != 0)
        std::printf(", %llu without effect", static_cast<unsigned long long>(unchanged_));
    if (passed_ != 0)
        std::printf(", %llu let through as they must be", static_cast<unsigned long long>(passed_));
    if (wrong_ != 0) std::printf(", %llu WRONG", static_cast<unsigned long long>(wrong_));
    std::printf("\n");
    std::fflush(stdout);
    CAPTURE(name_);
    for (const std::string& each : firstWrong_) FAIL_CHECK(each);
    CHECK(wrong_ == 0);
    CHECK(tried_ == cases);
}

Family::At anywhere()
{
    return [](std::optional<std::uint64_t>) { return true; };
}

Family::At between(std::uint64_t first, std::uint64_t last)
{
    return [=](std::optional<std::uint64_t> seq) { return seq && first <= *seq && *seq <= last; };
}

Family::At wholeFile()
{
    return [](std::optional<std::uint64_t> seq) { return !seq; };
}

Family::At oneOf(std::vector<std::optional<std::uint64_t>> seqs)
{
    return [seqs = std::move(seqs)](std::optional<std::uint64_t> seq) {
        return std::ranges::find(seqs, seq) != seqs.end();
    };
}

std::string inWords(const Verdict& verdict)
{
    return verdict ? "it verifies" : storage::inWords(verdict.error());
}

}  // namespace jackpot::storage::tamper
