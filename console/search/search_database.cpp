#include "console/search/search_database.h"

#include <algorithm>
#include <string>
#include <vector>

#include "audit/describe.h"
#include "base/encoding.h"
#include "console/people/person_name.h"
#include "console/search/proposal.h"
#include "storage/sha256.h"

namespace jackpot::console {
namespace {

namespace fs = std::filesystem;
using audit::Json;
using storage::Database;
using storage::numberAt;
using storage::Statement;
using storage::textAt;

constexpr std::int64_t kApplicationId = 0x4a504253;  // "JPBS"
constexpr std::int64_t kVersion = 2;  // of the tables and of the rows that records add

// The database has the last amount that a pool displayed in each interval, and the amounts before
// and after every win.
constexpr std::int64_t kAmountIntervalMs = 10'000;

constexpr std::string_view kTables = R"(
CREATE TABLE place(one INTEGER PRIMARY KEY, next INTEGER NOT NULL, hash TEXT NOT NULL) STRICT;
INSERT INTO place VALUES(1, 0, '');
CREATE TABLE record(seq INTEGER PRIMARY KEY, time INTEGER NOT NULL, kind TEXT NOT NULL,
    pool TEXT, tbl TEXT, round INTEGER, who TEXT, refused INTEGER NOT NULL) STRICT;
CREATE INDEX record_time ON record(time);
CREATE INDEX record_kind ON record(kind);
CREATE INDEX record_pool ON record(pool) WHERE pool IS NOT NULL;
CREATE INDEX record_tbl ON record(tbl) WHERE tbl IS NOT NULL;
CREATE INDEX record_round ON record(tbl, round) WHERE round IS NOT NULL;
CREATE TABLE person(name TEXT, seq INTEGER, PRIMARY KEY(name, seq)) STRICT, WITHOUT ROWID;
CREATE TABLE claim(id INTEGER PRIMARY KEY, tbl TEXT NOT NULL, round INTEGER NOT NULL,
    seat INTEGER NOT NULL, pool TEXT NOT NULL, tier TEXT NOT NULL, state TEXT NOT NULL,
    board TEXT NOT NULL, cards TEXT NOT NULL, claimed INTEGER NOT NULL,
    claimed_ms INTEGER NOT NULL, changed INTEGER NOT NULL, confirmed_ms INTEGER,
    pressed_ms INTEGER, UNIQUE(tbl, round, seat)) STRICT;
CREATE INDEX claim_state ON claim(state);
CREATE TABLE award(id INTEGER PRIMARY KEY, seq INTEGER NOT NULL, place INTEGER NOT NULL,
    tbl TEXT NOT NULL, round INTEGER NOT NULL, seat INTEGER NOT NULL, tier TEXT NOT NULL,
    amount TEXT NOT NULL, rule TEXT NOT NULL, form TEXT NOT NULL, arithmetic TEXT NOT NULL,
    state TEXT NOT NULL, state_seq INTEGER, paid TEXT, how TEXT, who TEXT) STRICT;
CREATE INDEX award_round ON award(tbl, round);
CREATE TABLE notice(seq INTEGER NOT NULL, place INTEGER NOT NULL, time INTEGER NOT NULL,
    whom TEXT NOT NULL, rule TEXT NOT NULL, words TEXT NOT NULL, delivery TEXT NOT NULL,
    who TEXT, acknowledged_ms INTEGER, remark TEXT, PRIMARY KEY(seq, place)) STRICT;
CREATE INDEX notice_delivery ON notice(delivery);
CREATE TABLE proposal(seq INTEGER PRIMARY KEY, time INTEGER NOT NULL, expires INTEGER NOT NULL,
    who TEXT NOT NULL, reason TEXT NOT NULL, proposed TEXT NOT NULL, hash TEXT NOT NULL,
    words TEXT NOT NULL, state TEXT NOT NULL, closed_by TEXT, remark TEXT, closed INTEGER,
    outcome INTEGER, expected TEXT) STRICT;
CREATE INDEX proposal_state ON proposal(state);
CREATE TABLE amount(pool TEXT NOT NULL, time INTEGER NOT NULL, seq INTEGER NOT NULL,
    cents INTEGER NOT NULL, before INTEGER, PRIMARY KEY(pool, time, seq)) STRICT, WITHOUT ROWID;
CREATE INDEX amount_event ON amount(pool, time) WHERE before IS NOT NULL;
)";

// Nothing if the file is not a search database of this version.
std::optional<Database> openFile(const fs::path& file)
{
    Database database{file.empty() ? ":memory:" : file.string(), Database::Mode::Create};
    // There is one connection only. After a power cut, lost rows are read from the journal again.
    database.execute(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;"
        "PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY");
    const bool ours = database.number("PRAGMA application_id") == kApplicationId &&
                      database.number("PRAGMA user_version") == kVersion;
    if (ours) return database;
    if (database.number("SELECT count(*) FROM sqlite_schema") != 0) return std::nullopt;
    database.execute("BEGIN;" + std::string{kTables} +
                     "PRAGMA application_id = " + std::to_string(kApplicationId) +
                     ";PRAGMA user_version = " + std::to_string(kVersion) + ";COMMIT");
    return database;
}

Database openOrReplace(const fs::path& file)
{
    auto opened = storage::runSqlite([&] { return openFile(file); });
    const bool isForeign = opened ? !*opened : opened.error().isDamage();
    if (file.empty() || !isForeign) return storage::orThrow(std::move(opened)).value();
    std::error_code ignored;
    for (const char* suffix : {"", "-wal", "-shm", "-journal"})
        fs::remove(file.string() + suffix, ignored);
    return openFile(file).value();
}

void bindOptional(Statement& statement, int index, std::string_view text)
{
    if (text.empty())
        statement.bindNull(index);
    else
        statement.bindText(index, text);
}

// "first, second" names two people.
std::vector<std::string> namesIn(std::string_view text)
{
    std::vector<std::string> names;
    while (true) {
        const std::size_t comma = text.find(", ");
        names.emplace_back(text.substr(0, comma));
        if (comma == std::string_view::npos) return names;
        text.remove_prefix(comma + 2);
    }
}

std::vector<std::string> actorsOf(const rules::Command& command)
{
    return std::visit(
        [](const auto& each) -> std::vector<std::string> {
            if constexpr (requires { each.by.substr(0); })
                return each.by.empty() ? std::vector<std::string>{} : namesIn(each.by);
            else if constexpr (requires { each.by; })
                return each.by;
            else
                return {};
        },
        command);
}

std::vector<std::string> actorsOf(const Json& event)
{
    const Json* by = storage::find(event, "by");
    if (by == nullptr) by = storage::find(event, "person");
    if (by == nullptr) return {};
    if (by->IsArray()) return storage::textsAt(event, "by");
    return by->IsString() ? namesIn(storage::viewOf(*by)) : std::vector<std::string>{};
}

std::string joinedTexts(const std::vector<std::string>& texts, std::string_view between)
{
    std::string joined;
    for (const std::string& each : texts) {
        if (!joined.empty()) joined += between;
        joined += each;
    }
    return joined;
}

// The result that the command reports; nullptr if it reports none.
const rules::ReportResult* resultOf(const audit::Payload& record)
{
    const auto* const corrected = record.commandAs<rules::CorrectResult>();
    return corrected ? &corrected->result : record.commandAs<rules::ReportResult>();
}

std::string cardsOfSeat(const rules::ReportResult* result, std::int64_t seat)
{
    std::string cards;
    if (result != nullptr)
        for (const rules::Hand& hand : result->hands)
            if (hand.seat == seat) cards = joinedTexts(hand.cards, " ");
    return cards;
}

std::string_view optionalText(const Json& json, std::string_view key)
{
    const Json* value = storage::find(json, key);
    return value != nullptr && value->IsString() ? storage::viewOf(*value) : std::string_view{};
}

std::optional<std::int64_t> optionalNumber(const Json& json, std::string_view key)
{
    const Json* value = storage::find(json, key);
    return value != nullptr && value->IsInt64() ? std::optional{value->GetInt64()} : std::nullopt;
}

bool isHoldem(rules::Tier tier)
{
    return tier >= rules::Tier::RoyalFlush && tier <= rules::Tier::Bonus;
}

}  // namespace

SearchDatabase::SearchDatabase(const fs::path& file)
    : database_{openOrReplace(file)},
      next_{static_cast<std::uint64_t>(database_.number("SELECT next FROM place").value_or(0))},
      lastHash_{database_.text("SELECT hash FROM place").value_or("")},
      committedNext_{next_},
      committedHash_{lastHash_}
{}

Statement& SearchDatabase::statement(std::string_view sql)
{
    auto found = statements_.find(sql);
    if (found == statements_.end())
        found = statements_.emplace(std::string{sql}, database_.prepare(sql)).first;
    return found->second;
}

void SearchDatabase::clear(std::uint64_t first)
{
    begin();
    for (const char* table : {"record", "person", "claim", "award", "notice", "proposal", "amount"})
        database_.execute("DELETE FROM " + std::string{table});
    next_ = first;
    lastHash_.clear();
    commit();
}

void SearchDatabase::commit()
{
    Statement& place = statement("UPDATE place SET next = ?1, hash = ?2");
    place.bind(1, static_cast<std::int64_t>(next_)).bindText(2, lastHash_).run();
    database_.execute("COMMIT");
    committedNext_ = next_;
    committedHash_ = lastHash_;
}

void SearchDatabase::rollBack()
{
    // Fails if the error that is being handled has already ended the transaction.
    (void)storage::runSqlite([&] { database_.execute("ROLLBACK"); });
    next_ = committedNext_;
    lastHash_ = committedHash_;
}

void SearchDatabase::add(std::uint64_t seq, std::string_view payload)
{
    record_.parse(seq, payload);
    record_.read([this] {
        addRecord();
        addProposals();
        if (record_.isRefused()) return;
        addClaims();
        addAwards();
        addPayment();
        addNotices();
        addAmounts();
    });
    next_ = seq + 1;
    lastHash_ = storage::sha256({payload}).hex();
}

void SearchDatabase::addRecord()
{
    const auto& command = record_.record().command;
    const std::vector<std::string> names = command ? actorsOf(*command) : actorsOf(record_.event());
    // SQLite reads bound texts when the statement runs.
    const auto pool = command ? record_.pool() : optionalText(record_.event(), "pool");
    const auto table = command ? record_.table() : optionalText(record_.event(), "table");
    const auto allNames = joinedTexts(names, ", ");
    Statement& insert = statement("INSERT INTO record VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
    insert.bind(1, static_cast<std::int64_t>(record_.seq()));
    insert.bind(2, record_.timeMs());
    insert.bindText(3, record_.kind());
    bindOptional(insert, 4, pool);
    bindOptional(insert, 5, table);
    if (const auto round = command ? record_.round() : optionalNumber(record_.event(), "round"))
        insert.bind(6, *round);
    else
        insert.bindNull(6);
    bindOptional(insert, 7, allNames);
    insert.bind(8, record_.isRefused() ? 1 : 0);
    insert.run();

    for (const std::string& name : names) {
        const std::string folded = foldedName(name);
        if (folded.empty()) continue;
        statement("INSERT OR IGNORE INTO person VALUES(?1, ?2)")
            .bindText(1, folded)
            .bind(2, static_cast<std::int64_t>(record_.seq()))
            .run();
    }
}

void SearchDatabase::addClaims()
{
    const auto seq = static_cast<std::int64_t>(record_.seq());
    const auto* const confirmed = record_.commandAs<rules::ConfirmJackpot>();
    if (!record_.outcome().claims.empty() || confirmed) lastChanged_.claims = record_.seq() + 1;
    if (confirmed)
        statement(
            "UPDATE claim SET confirmed_ms = ?3, pressed_ms = ?4 WHERE tbl = ?1 AND round = "
            "?2 AND state = 'claimed'")
            .bindText(1, confirmed->table)
            .bind(2, confirmed->round)
            .bind(3, record_.timeMs())
            .bind(4, record_.timeMs() -
                         std::clamp<std::int64_t>(confirmed->pressedAgoMs, 0, record_.timeMs()))
            .run();
    const rules::ReportResult* const result = resultOf(record_);
    for (const storage::RecordedClaim& claim : record_.outcome().claims) {
        if (claim.state != rules::ClaimState::Claimed) {
            statement(
                "UPDATE claim SET state = ?4, changed = ?5 WHERE tbl = ?1 AND round = ?2 "
                "AND seat = ?3")
                .bindText(1, claim.table)
                .bind(2, claim.round)
                .bind(3, claim.seat)
                .bindText(4, idOf(claim.state))
                .bind(5, seq)
                .run();
            continue;
        }
        statement(
            "INSERT INTO claim(tbl, round, seat, pool, tier, state, board, cards, claimed, "
            "claimed_ms, changed) VALUES(?1, ?2, ?3, ?4, ?5, 'claimed', ?6, ?7, ?8, ?9, ?8) "
            "ON CONFLICT(tbl, round, seat) DO UPDATE SET pool = ?4, tier = ?5, state = 'claimed', "
            "board = ?6, cards = ?7, claimed = ?8, claimed_ms = ?9, changed = ?8, "
            "confirmed_ms = NULL, pressed_ms = NULL")
            .bindText(1, claim.table)
            .bind(2, claim.round)
            .bind(3, claim.seat)
            .bindText(4, record_.pool())
            .bindText(5, idOf(claim.tier))
            .bindText(6, result ? joinedTexts(result->board, " ") : "")
            .bindText(7, cardsOfSeat(result, claim.seat))
            .bind(8, seq)
            .bind(9, record_.timeMs())
            .run();
    }
}

void SearchDatabase::markAward(const rules::AwardRef& award, std::string_view state)
{
    // The latest award: a corrected result can make the same award due again.
    statement(
        "UPDATE award SET state = ?5, state_seq = ?6 WHERE id = (SELECT max(id) FROM award "
        "WHERE tbl = ?1 AND round = ?2 AND seat = ?3 AND tier = ?4 AND state <> 'withdrawn')")
        .bindText(1, award.table)
        .bind(2, award.round)
        .bind(3, award.seat)
        .bindText(4, idOf(award.tier))
        .bindText(5, state)
        .bind(6, static_cast<std::int64_t>(record_.seq()))
        .run();
}

void SearchDatabase::addAwards()
{
    for (const auto& each : record_.outcome().withdrawn) markAward(each, "withdrawn");
    std::int64_t place = 0;
    for (const storage::RecordedAward& award : record_.outcome().awards)
        statement(
            "INSERT INTO award(seq, place, tbl, round, seat, tier, amount, rule, form, "
            "arithmetic, state) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'due')")
            .bind(1, static_cast<std::int64_t>(record_.seq()))
            .bind(2, ++place)
            .bindText(3, award.table)
            .bind(4, award.round)
            .bind(5, award.seat)
            .bindText(6, idOf(award.tier))
            .bindText(7, toExact(award.amount))
            .bindText(8, award.rule)
            .bindText(9, award.form())
            .bindText(10, award.inWords())
            .run();
}

void SearchDatabase::addPayment()
{
    const auto* const payment = record_.commandAs<rules::RecordPayment>();
    const auto* const withheld = record_.commandAs<rules::WithholdAward>();
    if (!payment && !withheld) return;
    const rules::AwardRef& award = payment ? payment->award : withheld->award;
    const std::string_view state = payment ? "paid" : "withheld";
    lastChanged_.claims = record_.seq() + 1;
    markAward(award, state);
    statement(
        "UPDATE claim SET state = ?5, changed = ?6 WHERE tbl = ?1 AND round = ?2 AND seat = "
        "?3 AND tier = ?4")
        .bindText(1, award.table)
        .bind(2, award.round)
        .bind(3, award.seat)
        .bindText(4, idOf(award.tier))
        .bindText(5, state)
        .bind(6, static_cast<std::int64_t>(record_.seq()))
        .run();
    if (!payment) return;
    statement("UPDATE award SET paid = ?2, how = ?3, who = ?4 WHERE state_seq = ?1")
        .bind(1, static_cast<std::int64_t>(record_.seq()))
        .bindText(2, toExact(payment->paid))
        .bindText(3, payment->how)
        .bindText(4, payment->by)
        .run();
}

void SearchDatabase::addNotice(std::int64_t place, std::string_view whom, std::string_view rule,
                               const std::string& text)
{
    lastChanged_.notices = record_.seq() + 1;
    statement(
        "INSERT INTO notice(seq, place, time, whom, rule, words, delivery) VALUES(?1, ?2, "
        "?3, ?4, ?5, ?6, '')")
        .bind(1, static_cast<std::int64_t>(record_.seq()))
        .bind(2, place)
        .bind(3, record_.timeMs())
        .bindText(4, whom)
        .bindText(5, rule)
        .bindText(6, text)
        .run();
}

void SearchDatabase::addNotices()
{
    std::int64_t place = 0;
    const storage::RecordedOutcome& outcome = record_.outcome();
    for (const storage::RecordedNotice& each : outcome.notices)
        addNotice(++place, storage::idOf(each.whom), each.rule, happenedInWords(record_));
    if (record_.commandAs<rules::SuspendPool>())
        addNotice(++place, "inspector", "", happenedInWords(record_));
    if (const auto* const command = record_.commandAs<rules::RecordPayment>();
        command && outcome.payment) {
        const rules::Money difference = outcome.payment->paid - outcome.payment->due;
        if (difference != rules::Money{})
            addNotice(++place, "inspector",
                      isHoldem(command->award.tier) ? "UTH 11.12" : "BJ 16.19",
                      happenedInWords(record_) + "; due " + toRead(outcome.payment->due) + ", " +
                          (difference.isNegative() ? "underpaid by " + toRead(-difference)
                                                   : "overpaid by " + toRead(difference)));
    }
    if (!record_.record().command) addNoticeEvents();
}

void SearchDatabase::addNoticeEvents()
{
    const Json& event = record_.event();
    if (record_.kind() == "alarm_raised") {
        const std::string_view table = optionalText(event, "table");
        addNotice(1, "surveillance_and_inspector", "",
                  "alarm " + std::string{optionalText(event, "code")} +
                      (table.empty() ? "" : " at table " + std::string{table}) + ": " +
                      std::string{optionalText(event, "detail")});
    }
    const bool acknowledged = record_.kind() == "notice_acknowledged";
    if (!acknowledged && record_.kind() != "notice_delivered" && record_.kind() != "notice_failed")
        return;
    const std::string_view id = optionalText(event, "notice");
    const std::size_t dot = std::min(id.find('.'), id.size());
    const auto seq = parseDecimal(id.substr(0, dot));
    const auto part = parseDecimal(id.substr(std::min(dot + 1, id.size())));
    if (!seq || !part) return;
    lastChanged_.notices = record_.seq() + 1;
    if (acknowledged)
        statement(
            "UPDATE notice SET who = ?3, acknowledged_ms = ?4, remark = ?5 WHERE seq = ?1 "
            "AND place = ?2 AND who IS NULL")
            .bind(1, static_cast<std::int64_t>(*seq))
            .bind(2, static_cast<std::int64_t>(*part))
            .bindText(3, optionalText(event, "by"))
            .bind(4, record_.timeMs())
            .bindText(5, optionalText(event, "remark"))
            .run();
    else
        statement("UPDATE notice SET delivery = ?3 WHERE seq = ?1 AND place = ?2")
            .bind(1, static_cast<std::int64_t>(*seq))
            .bind(2, static_cast<std::int64_t>(*part))
            .bindText(3, record_.kind() == "notice_delivered" ? "delivered" : "failed")
            .run();
}

void SearchDatabase::addProposals()
{
    const std::string_view kind = record_.kind();
    const auto seq = static_cast<std::int64_t>(record_.seq());
    if (kind.starts_with("proposal_") || mayNeedTwoPeople(kind))
        lastChanged_.proposals = record_.seq() + 1;
    if (mayNeedTwoPeople(kind)) return markProposalDone();
    const Json& json = record_.event();
    if (kind == "proposal_made") {
        const auto command = readProposed(storage::at(json, "proposed"));
        if (!command) throw storage::BadJson{command.error().message};
        const std::string text = proposedText(*command);
        statement(
            "INSERT INTO proposal(seq, time, expires, who, reason, proposed, hash, words, "
            "state) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'open')")
            .bind(1, seq)
            .bind(2, record_.timeMs())
            .bind(3, numberAt(json, "expires"))
            .bindText(4, textAt(json, "by"))
            .bindText(5, textAt(json, "reason"))
            .bindText(6, text)
            .bindText(7, proposedHash(text))
            .bindText(8, audit::commandInWords(*command))
            .run();
        return;
    }
    if (kind == "proposal_approved" || kind == "proposal_rejected" ||
        kind == "proposal_withdrawn") {
        const std::int64_t id = numberAt(json, "proposal");
        const std::string by{textAt(json, "by")};
        std::string expected;
        Statement& find = statement("SELECT proposed FROM proposal WHERE seq = ?1");
        find.bind(1, id);
        if (find.step()) {
            const auto command = readProposed(find.text(0));
            if (command) expected = proposedText(withSecondPerson(*command, by));
        }
        find.reset();
        statement(
            "UPDATE proposal SET state = ?2, closed_by = ?3, remark = ?4, closed = ?5, "
            "expected = ?6 WHERE seq = ?1 AND state = 'open'")
            .bind(1, id)
            .bindText(2, kind.substr(std::string_view{"proposal_"}.size()))
            .bindText(3, by)
            .bindText(4, optionalText(json, "reason"))
            .bind(5, seq)
            .bindText(6, expected)
            .run();
    }
}

// The amounts that the pools display, for charts.
void SearchDatabase::addAmounts()
{
    const bool hasJackpot = record_.outcome().hasJackpot();
    for (const storage::RecordedPool& each : record_.outcome().pools) {
        std::optional<std::int64_t> before;
        if (hasJackpot || each.isSeeded()) {
            Statement& last = statement(
                "SELECT cents FROM amount WHERE pool = ?1 ORDER BY time DESC, seq DESC LIMIT 1");
            last.bindText(1, each.pool);
            if (last.step()) before = last.number(0);
            last.reset();
        }
        statement("DELETE FROM amount WHERE pool = ?1 AND time >= ?2 AND before IS NULL")
            .bindText(1, each.pool)
            .bind(2, record_.timeMs() - record_.timeMs() % kAmountIntervalMs)
            .run();
        Statement& insert = statement("INSERT INTO amount VALUES(?1, ?2, ?3, ?4, ?5)");
        insert.bindText(1, each.pool)
            .bind(2, record_.timeMs())
            .bind(3, static_cast<std::int64_t>(record_.seq()))
            .bind(4, each.meter.roundedDownToCent().cents());
        if (before)
            insert.bind(5, *before);
        else
            insert.bindNull(5);
        insert.run();
    }
}

// Marks the approved proposal of this command as done or refused. The command equals the proposed
// one and names both people.
void SearchDatabase::markProposalDone()
{
    // The latest approval: an earlier one whose command was lost in a crash stays approved.
    statement(
        "UPDATE proposal SET state = ?2, outcome = ?3 WHERE seq = (SELECT seq FROM proposal "
        "WHERE state = 'approved' AND expected = ?1 ORDER BY closed DESC LIMIT 1)")
        .bindText(1, proposedText(*record_.record().command))
        .bindText(2, record_.isRefused() ? "refused" : "done")
        .bind(3, static_cast<std::int64_t>(record_.seq()))
        .run();
}

}  // namespace jackpot::console
