#include "console/search/search_database.h"

#include <algorithm>
#include <string>
#include <vector>

#include "audit/describe.h"
#include "base/encoding.h"
#include "console/people/person_name.h"
#include "console/search/proposal.h"
#include "storage/command_json.h"
#include "storage/sha256.h"

namespace jackpot::console {
namespace {

namespace fs = std::filesystem;
using audit::Json;
using storage::Database;
using storage::moneyAt;
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

std::vector<std::string> actorsOf(const Json& object)
{
    const Json* by = storage::find(object, "by");
    if (by == nullptr) by = storage::find(object, "person");
    if (by == nullptr) return {};
    if (by->IsArray()) return storage::textsAt(object, "by");
    if (!by->IsString()) return {};
    std::vector<std::string> names;
    std::string_view rest = storage::viewOf(*by);
    while (true) {
        const std::size_t comma = rest.find(", ");
        names.emplace_back(rest.substr(0, comma));
        if (comma == std::string_view::npos) return names;
        rest.remove_prefix(comma + 2);
    }
}

std::string joinedCards(const Json& list)
{
    std::string cards;
    for (const Json& each : list.GetArray()) {
        if (!each.IsString()) throw storage::BadJson{"a card is not a string"};
        if (!cards.empty()) cards += ' ';
        cards += storage::viewOf(each);
    }
    return cards;
}

// The board and the cards of a seat; empty if the record has no result.
std::pair<std::string, std::string> cardsOfSeat(const Json* command, std::int64_t seat)
{
    if (command == nullptr || storage::find(*command, "board") == nullptr) return {};
    std::pair<std::string, std::string> found{joinedCards(storage::arrayAt(*command, "board")), ""};
    for (const Json& hand : storage::arrayAt(*command, "hands").GetArray())
        if (numberAt(hand, "seat") == seat)
            found.second = joinedCards(storage::arrayAt(hand, "cards"));
    return found;
}

std::string_view optionalText(const Json& json, std::string_view key)
{
    const Json* value = storage::find(json, key);
    return value != nullptr && value->IsString() ? storage::viewOf(*value) : std::string_view{};
}

bool isHoldem(rules::Tier tier)
{
    return tier >= rules::Tier::RoyalFlush && tier <= rules::Tier::Bonus;
}

}  // namespace

SearchDatabase::SearchDatabase(const fs::path& file) : database_{openOrReplace(file)}
{
    next_ = static_cast<std::uint64_t>(database_.number("SELECT next FROM place").value_or(0));
    lastHash_ = database_.text("SELECT hash FROM place").value_or("");
    committedNext_ = next_;
    committedHash_ = lastHash_;
}

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
        if (!record_.refusal().empty()) return;
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
    const bool isCommand = storage::isCommandKind(record_.kind());
    const Json& json = record_.json();
    const Json* command = isCommand ? &storage::at(json, "command") : nullptr;
    std::vector<std::string> names = actorsOf(command != nullptr ? *command : json);
    std::string who;
    for (const std::string& name : names) who += (who.empty() ? "" : ", ") + name;
    const Json* round = storage::find(command != nullptr ? *command : json, "round");

    Statement& insert = statement("INSERT INTO record VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
    insert.bind(1, static_cast<std::int64_t>(record_.seq()));
    insert.bind(2, record_.timeMs());
    insert.bindText(3, record_.kind());
    bindOptional(insert, 4, isCommand ? record_.pool() : optionalText(json, "pool"));
    bindOptional(insert, 5, isCommand ? record_.table() : optionalText(json, "table"));
    if (round != nullptr && round->IsInt64())
        insert.bind(6, round->GetInt64());
    else
        insert.bindNull(6);
    bindOptional(insert, 7, who);
    insert.bind(8, record_.refusal().empty() ? 0 : 1);
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
    const std::string_view pool = record_.pool();
    const bool changes = record_.find("claims") != nullptr;
    if (changes || record_.kind() == "jackpot_confirmed") lastChanged_.claims = record_.seq() + 1;
    if (record_.kind() == "jackpot_confirmed") {
        const Json& command = storage::at(record_.json(), "command");
        statement(
            "UPDATE claim SET confirmed_ms = ?3, pressed_ms = ?4 WHERE tbl = ?1 AND round = "
            "?2 AND state = 'claimed'")
            .bindText(1, textAt(command, "table"))
            .bind(2, numberAt(command, "round"))
            .bind(3, record_.timeMs())
            .bind(4,
                  record_.timeMs() - std::clamp<std::int64_t>(numberAt(command, "pressed_ago_ms"),
                                                              0, record_.timeMs()))
            .run();
    }
    record_.forEach("claims", [&](const Json& each) {
        const std::string_view state = textAt(each, "state");
        const std::int64_t seat = numberAt(each, "seat");
        if (state != "claimed") {
            statement(
                "UPDATE claim SET state = ?4, changed = ?5 WHERE tbl = ?1 AND round = ?2 "
                "AND seat = ?3")
                .bindText(1, textAt(each, "table"))
                .bind(2, numberAt(each, "round"))
                .bind(3, seat)
                .bindText(4, state)
                .bind(5, seq)
                .run();
            return;
        }
        const auto [board, cards] = cardsOfSeat(record_.find("command"), seat);
        statement(
            "INSERT INTO claim(tbl, round, seat, pool, tier, state, board, cards, claimed, "
            "claimed_ms, changed) VALUES(?1, ?2, ?3, ?4, ?5, 'claimed', ?6, ?7, ?8, ?9, ?8) "
            "ON CONFLICT(tbl, round, seat) DO UPDATE SET pool = ?4, tier = ?5, state = 'claimed', "
            "board = ?6, cards = ?7, claimed = ?8, claimed_ms = ?9, changed = ?8, "
            "confirmed_ms = NULL, pressed_ms = NULL")
            .bindText(1, textAt(each, "table"))
            .bind(2, numberAt(each, "round"))
            .bind(3, seat)
            .bindText(4, pool)
            .bindText(5, textAt(each, "tier"))
            .bindText(6, board)
            .bindText(7, cards)
            .bind(8, seq)
            .bind(9, record_.timeMs())
            .run();
    });
}

void SearchDatabase::markAward(const Json& ref, std::string_view state)
{
    // The latest award: a corrected result can make the same award due again.
    statement(
        "UPDATE award SET state = ?5, state_seq = ?6 WHERE id = (SELECT max(id) FROM award "
        "WHERE tbl = ?1 AND round = ?2 AND seat = ?3 AND tier = ?4 AND state <> 'withdrawn')")
        .bindText(1, textAt(ref, "table"))
        .bind(2, numberAt(ref, "round"))
        .bind(3, numberAt(ref, "seat"))
        .bindText(4, textAt(ref, "tier"))
        .bindText(5, state)
        .bind(6, static_cast<std::int64_t>(record_.seq()))
        .run();
}

void SearchDatabase::addAwards()
{
    record_.forEach("withdrawn", [&](const Json& each) { markAward(each, "withdrawn"); });
    std::int64_t place = 0;
    record_.forEach("awards", [&](const Json& each) {
        const audit::RecordedAward award{each};
        statement(
            "INSERT INTO award(seq, place, tbl, round, seat, tier, amount, rule, form, "
            "arithmetic, state) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'due')")
            .bind(1, static_cast<std::int64_t>(record_.seq()))
            .bind(2, ++place)
            .bindText(3, award.table)
            .bind(4, award.award.round)
            .bind(5, award.award.seat)
            .bindText(6, idOf(award.award.tier))
            .bindText(7, textAt(each, "amount"))
            .bindText(8, award.rule)
            .bindText(9, award.form())
            .bindText(10, award.inWords())
            .run();
    });
}

void SearchDatabase::addPayment()
{
    const bool paid = record_.kind() == "payment_recorded";
    if (!paid && record_.kind() != "award_withheld") return;
    const Json& command = storage::at(record_.json(), "command");
    lastChanged_.claims = record_.seq() + 1;
    markAward(command, paid ? "paid" : "withheld");
    statement(
        "UPDATE claim SET state = ?5, changed = ?6 WHERE tbl = ?1 AND round = ?2 AND seat = "
        "?3 AND tier = ?4")
        .bindText(1, textAt(command, "table"))
        .bind(2, numberAt(command, "round"))
        .bind(3, numberAt(command, "seat"))
        .bindText(4, textAt(command, "tier"))
        .bindText(5, paid ? "paid" : "withheld")
        .bind(6, static_cast<std::int64_t>(record_.seq()))
        .run();
    if (!paid) return;
    const Json& payment = storage::at(record_.json(), "payment");
    statement("UPDATE award SET paid = ?2, how = ?3, who = ?4 WHERE state_seq = ?1")
        .bind(1, static_cast<std::int64_t>(record_.seq()))
        .bindText(2, textAt(payment, "paid"))
        .bindText(3, textAt(command, "how"))
        .bindText(4, storage::textOr(command, "by"))
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
    record_.forEach("notices", [&](const Json& each) {
        addNotice(++place, textAt(each, "whom"), textAt(each, "rule"), happenedInWords(record_));
    });
    if (record_.kind() == "pool_suspended")
        addNotice(++place, "inspector", "", happenedInWords(record_));
    if (record_.kind() == "alarm_raised") {
        const std::string_view table = optionalText(record_.json(), "table");
        addNotice(++place, "surveillance_and_inspector", "",
                  "alarm " + std::string{optionalText(record_.json(), "code")} +
                      (table.empty() ? "" : " at table " + std::string{table}) + ": " +
                      std::string{optionalText(record_.json(), "detail")});
    }
    if (const Json* payment = record_.find("payment")) {
        const rules::Money difference = moneyAt(*payment, "paid") - moneyAt(*payment, "due");
        const auto tier = rules::tierOfId(textAt(storage::at(record_.json(), "command"), "tier"));
        if (difference != rules::Money{})
            addNotice(++place, "inspector", tier && isHoldem(*tier) ? "UTH 11.12" : "BJ 16.19",
                      happenedInWords(record_) + "; due " + toRead(moneyAt(*payment, "due")) +
                          ", " +
                          (difference.isNegative() ? "underpaid by " + toRead(-difference)
                                                   : "overpaid by " + toRead(difference)));
    }
    const bool acknowledged = record_.kind() == "notice_acknowledged";
    if (!acknowledged && record_.kind() != "notice_delivered" && record_.kind() != "notice_failed")
        return;
    const std::string_view id = optionalText(record_.json(), "notice");
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
            .bindText(3, optionalText(record_.json(), "by"))
            .bind(4, record_.timeMs())
            .bindText(5, optionalText(record_.json(), "remark"))
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
    const Json& json = record_.json();
    const auto seq = static_cast<std::int64_t>(record_.seq());
    if (kind.starts_with("proposal_") || mayNeedTwoPeople(kind))
        lastChanged_.proposals = record_.seq() + 1;
    if (kind == "proposal_made") {
        const Json& proposed = storage::at(json, "proposed");
        const auto command =
            storage::readCommand(textAt(proposed, "kind"), storage::at(proposed, "command"));
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
        return;
    }
    if (mayNeedTwoPeople(kind)) markProposalDone();
}

// The amounts that the pools display, for charts.
void SearchDatabase::addAmounts()
{
    bool isJackpot = false;
    record_.forEach("awards", [&](const Json& each) {
        isJackpot = isJackpot || audit::RecordedAward{each}.isJackpot();
    });
    record_.forEach("pools", [&](const Json& each) {
        const std::string_view pool = textAt(each, "pool");
        const Json& postings = storage::at(each, "postings");
        const bool isEvent = isJackpot || storage::find(postings, idOf(rules::Cause::Seed)) ||
                             storage::find(postings, idOf(rules::Cause::FromReserve));
        std::optional<std::int64_t> before;
        if (isEvent) {
            Statement& last = statement(
                "SELECT cents FROM amount WHERE pool = ?1 ORDER BY time DESC, seq DESC LIMIT 1");
            last.bindText(1, pool);
            if (last.step()) before = last.number(0);
            last.reset();
        }
        statement("DELETE FROM amount WHERE pool = ?1 AND time >= ?2 AND before IS NULL")
            .bindText(1, pool)
            .bind(2, record_.timeMs() - record_.timeMs() % kAmountIntervalMs)
            .run();
        Statement& insert = statement("INSERT INTO amount VALUES(?1, ?2, ?3, ?4, ?5)");
        insert.bindText(1, pool)
            .bind(2, record_.timeMs())
            .bind(3, static_cast<std::int64_t>(record_.seq()))
            .bind(4, moneyAt(each, "meter").roundedDownToCent().cents());
        if (before)
            insert.bind(5, *before);
        else
            insert.bindNull(5);
        insert.run();
    });
}

// Marks the approved proposal of this command as done or refused. The command equals the proposed
// one and names both people.
void SearchDatabase::markProposalDone()
{
    const auto command =
        storage::readCommand(record_.kind(), storage::at(record_.json(), "command"));
    if (!command) throw storage::BadJson{command.error().message};
    // The latest approval: an earlier one whose command was lost in a crash stays approved.
    statement(
        "UPDATE proposal SET state = ?2, outcome = ?3 WHERE seq = (SELECT seq FROM proposal "
        "WHERE state = 'approved' AND expected = ?1 ORDER BY closed DESC LIMIT 1)")
        .bindText(1, proposedText(*command))
        .bindText(2, record_.refusal().empty() ? "done" : "refused")
        .bind(3, static_cast<std::int64_t>(record_.seq()))
        .run();
}

}  // namespace jackpot::console
