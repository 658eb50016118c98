#include "console/search/search_index.h"

#include <algorithm>
#include <limits>
#include <ranges>

#include "audit/journal_view.h"
#include "base/encoding.h"
#include "console/people/person_name.h"
#include "console/search/search_database.h"
#include "storage/file_names.h"
#include "storage/json_read.h"
#include "storage/sha256.h"

namespace jackpot::console {
namespace {

namespace fs = std::filesystem;
using audit::JournalView;
using storage::Statement;

// After a failed pass over the journal.
constexpr std::chrono::milliseconds kRetryDelay{1000};

// A SELECT whose conditions are added one by one.
class SqlQuery {
public:
    explicit SqlQuery(std::string sql) : sql_{std::move(sql)} {}

    void where(std::string_view column, std::string_view comparison, std::int64_t value)
    {
        add(column, comparison);
        values_.push_back({value, {}, true});
    }
    void where(std::string_view column, std::string_view comparison, std::string text)
    {
        add(column, comparison);
        values_.push_back({0, std::move(text), false});
    }
    void whereIs(std::string_view column, const std::string& text)
    {
        if (!text.empty()) where(column, "=", text);
    }
    void addCondition(std::string_view condition) { nextCondition() += condition; }
    // A condition with one question mark, and its value.
    void addCondition(std::string_view condition, std::string text)
    {
        addCondition(condition);
        values_.push_back({0, std::move(text), false});
    }
    void addCondition(std::string_view condition, std::int64_t number)
    {
        addCondition(condition);
        values_.push_back({number, {}, true});
    }

    template <class Row, class Read>
    storage::SqliteResult<std::vector<Row>> rows(storage::Database& database,
                                                 std::string_view order, std::size_t limit,
                                                 Read&& read)
    {
        return storage::runSqlite([&] {
            Statement statement =
                database.prepare(sql_ + " ORDER BY " + std::string{order} + " LIMIT " +
                                 std::to_string(std::clamp<std::size_t>(limit, 1, kMaxRows)));
            for (std::size_t i = 0; i < values_.size(); ++i) {
                const int index = static_cast<int>(i) + 1;
                if (values_[i].isNumber)
                    statement.bind(index, values_[i].number);
                else
                    statement.bindText(index, values_[i].text);
            }
            std::vector<Row> found;
            while (statement.step()) found.push_back(read(statement));
            return found;
        });
    }

private:
    struct Value {
        std::int64_t number;
        std::string text;
        bool isNumber;
    };
    std::string& nextCondition()
    {
        sql_ += first_ ? " WHERE " : " AND ";
        first_ = false;
        return sql_;
    }
    void add(std::string_view column, std::string_view comparison)
    {
        nextCondition() += std::string{column} + " " + std::string{comparison} + " ?";
    }

    std::string sql_;
    bool first_ = true;
    std::vector<Value> values_;
};

std::string textColumn(const Statement& row, int column) { return std::string{row.bytes(column)}; }

template <class Number = std::int64_t>
std::optional<Number> numberColumn(const Statement& row, int column)
{
    if (row.type(column) == SQLITE_NULL) return std::nullopt;
    return static_cast<Number>(row.number(column));
}

std::uint64_t seqColumn(const Statement& row, int column)
{
    return static_cast<std::uint64_t>(row.number(column));
}

rules::Money moneyColumn(const Statement& row, int column)
{
    return storage::moneyIn(row.bytes(column));
}

// A list of texts, as joinedLines() wrote it.
std::vector<std::string> linesColumn(const Statement& row, int column)
{
    std::vector<std::string> lines;
    for (const auto part : std::views::split(row.bytes(column), '\n'))
        lines.emplace_back(part.begin(), part.end());
    return lines;
}

std::string awardState(const Statement& row, int state, int withheld)
{
    return row.number(withheld) != 0 ? "withheld" : textColumn(row, state);
}

constexpr const char* kRecords =
    "SELECT seq, time, kind, pool, tbl, round, who, refused FROM record";
RecordRow readRecordRow(const Statement& row)
{
    return {seqColumn(row, 0),  row.number(1),        textColumn(row, 2), textColumn(row, 3),
            textColumn(row, 4), numberColumn(row, 5), textColumn(row, 6), row.number(7) != 0};
}

constexpr const char* kClaims =
    "SELECT claim.id, claim.pool, claim.tbl, claim.round, claim.seat, claim.tier, claim.state, "
    "board, cards, claimed, claimed_ms, changed, confirmed_ms, pressed_ms, award.amount, "
    "award.player, award.state, award.withheld, award.paid, award.payments FROM claim LEFT JOIN "
    "award ON award.tbl = claim.tbl AND award.round = claim.round AND award.seat = claim.seat AND "
    "award.tier = claim.tier";
ClaimRow readClaimRow(const Statement& row)
{
    ClaimRow read{row.number(0),         textColumn(row, 1),    textColumn(row, 2),
                  row.number(3),         row.number(4),         textColumn(row, 5),
                  textColumn(row, 6),    textColumn(row, 7),    textColumn(row, 8),
                  seqColumn(row, 9),     row.number(10),        seqColumn(row, 11),
                  numberColumn(row, 12), numberColumn(row, 13), std::nullopt};
    if (row.type(14) == SQLITE_NULL) return read;
    AwardRow& award = read.award.emplace();
    award.amount = moneyColumn(row, 14);
    award.player = textColumn(row, 15);
    award.state = awardState(row, 16, 17);
    award.paid = moneyColumn(row, 18);
    award.payments = row.number(19);
    return read;
}

AwardRow readAwardRow(const Statement& row)
{
    return {textColumn(row, 0),   row.number(1),       row.number(2),
            textColumn(row, 3),   textColumn(row, 4),  textColumn(row, 5),
            moneyColumn(row, 6),  textColumn(row, 7),  textColumn(row, 8),
            seqColumn(row, 9),    row.number(10),      awardState(row, 11, 12),
            moneyColumn(row, 13), row.number(14),      numberColumn<std::uint64_t>(row, 15),
            textColumn(row, 16),  linesColumn(row, 17)};
}

PaymentRow readPaymentRow(const Statement& row)
{
    return {seqColumn(row, 0),   row.number(1),       row.number(2),       textColumn(row, 3),
            moneyColumn(row, 4), moneyColumn(row, 5), moneyColumn(row, 6), row.number(7) != 0,
            textColumn(row, 8),  linesColumn(row, 9)};
}

EarlierAmountRow readEarlierAmountRow(const Statement& row)
{
    return {seqColumn(row, 0),   row.number(1),     textColumn(row, 2),
            moneyColumn(row, 3), seqColumn(row, 4), row.number(5)};
}

RefundRow readRefundRow(const Statement& row)
{
    return {seqColumn(row, 0), row.number(1), row.number(2), moneyColumn(row, 3)};
}

SuspensionRow readSuspensionRow(const Statement& row)
{
    return {seqColumn(row, 0),  row.number(1),      textColumn(row, 2),
            textColumn(row, 3), textColumn(row, 4), linesColumn(row, 5)};
}

constexpr const char* kNotices =
    "SELECT seq, place, time, kind, recipients, rule, words, delivery, who, acknowledged_ms, "
    "remark FROM notice";
NoticeRow readNoticeRow(const Statement& row)
{
    return {std::to_string(row.number(0)) + "." + std::to_string(row.number(1)),
            seqColumn(row, 0),
            row.number(2),
            textColumn(row, 3),
            linesColumn(row, 4),
            textColumn(row, 5),
            textColumn(row, 6),
            textColumn(row, 7),
            textColumn(row, 8),
            numberColumn(row, 9),
            textColumn(row, 10)};
}

constexpr const char* kProposals =
    "SELECT seq, time, expires, who, reason, proposed, hash, words, state, closed_by, remark, "
    "closed, outcome FROM proposal";
ProposalRow readProposalRow(const Statement& row)
{
    return {seqColumn(row, 0),
            row.number(1),
            row.number(2),
            textColumn(row, 3),
            textColumn(row, 4),
            textColumn(row, 5),
            textColumn(row, 6),
            textColumn(row, 7),
            textColumn(row, 8),
            textColumn(row, 9),
            textColumn(row, 10),
            numberColumn<std::uint64_t>(row, 11),
            numberColumn<std::uint64_t>(row, 12)};
}

AmountRow readAmountRow(const Statement& row)
{
    AmountRow read{row.number(0), seqColumn(row, 1), rules::Money::ofCents(row.number(2)), {}};
    if (const auto before = numberColumn(row, 3)) read.before = rules::Money::ofCents(*before);
    return read;
}

template <class Row>
storage::SqliteResult<std::optional<Row>> first(storage::SqliteResult<std::vector<Row>> rows)
{
    if (!rows) return rows.error();
    return rows->empty() ? std::nullopt : std::optional{std::move(rows->front())};
}

std::vector<AmountRow> readAmounts(storage::Database& database, const AmountQuery& query)
{
    const std::string columns = "SELECT time, seq, cents, before FROM amount WHERE pool = ?1 AND ";
    Statement lastAmountBefore =
        database.prepare(columns + "time <= ?2 ORDER BY time DESC, seq DESC LIMIT 1");
    const auto amountAt = [&](rules::TimeMs at) {
        std::optional<AmountRow> row;
        lastAmountBefore.bindText(1, query.pool).bind(2, at);
        if (lastAmountBefore.step()) row = readAmountRow(lastAmountBefore);
        lastAmountBefore.reset();
        return row;
    };
    const auto latest = amountAt(query.toMs.value_or(std::numeric_limits<rules::TimeMs>::max()));
    if (!latest) return {};
    Statement earliest = database.prepare("SELECT min(time) FROM amount WHERE pool = ?1");
    earliest.bindText(1, query.pool).step();
    const rules::TimeMs to = latest->timeMs;
    const rules::TimeMs from = std::clamp(query.fromMs.value_or(0), earliest.number(0), to);

    std::vector<AmountRow> found;
    const auto parts =
        static_cast<std::int64_t>(std::clamp<std::size_t>(query.points, 2, kMaxRows)) - 1;
    for (std::int64_t part = 0; part <= parts; ++part)
        if (auto row =
                amountAt(from + (to - from) / parts * part + (to - from) % parts * part / parts))
            found.push_back(*row);
    Statement events = database.prepare(columns +
                                        "time >= ?2 AND time <= ?3 AND before IS NOT NULL "
                                        "ORDER BY time DESC, seq DESC LIMIT " +
                                        std::to_string(kMaxRows));
    events.bindText(1, query.pool).bind(2, query.fromMs.value_or(from)).bind(3, to);
    while (events.step()) found.push_back(readAmountRow(events));

    std::ranges::sort(found, {}, &AmountRow::seq);
    const auto same = std::ranges::unique(found, {}, &AmountRow::seq);
    found.erase(same.begin(), same.end());
    // The first amount was displayed before the period began: its win is not part of the period.
    if (found.front().timeMs < query.fromMs.value_or(0)) found.front().before.reset();
    return found;
}

}  // namespace

SearchIndex::SearchIndex(Settings settings, ChangeSignal& changes)
    : settings_{std::move(settings)}, signal_{changes}
{
    if (settings_.file.empty()) settings_.file = settings_.journal / storage::kSearchName;
    open();
    thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

SearchIndex::~SearchIndex() = default;

void SearchIndex::open()
{
    const std::scoped_lock lock{databaseMutex_};
    database_.reset();
    auto opened =
        storage::runSqlite([&] { return std::make_unique<SearchDatabase>(settings_.file); });
    database_ = opened ? std::move(*opened) : std::make_unique<SearchDatabase>(fs::path{});
    const std::scoped_lock progress{progressMutex_};
    changes_ = {.records = database_->next()};
}

// The database is damaged: delete it and read the whole journal again.
void SearchIndex::rebuild()
{
    {
        const std::scoped_lock lock{databaseMutex_};
        database_.reset();
        std::error_code ignored;
        for (const char* suffix : {"", "-wal", "-shm", "-journal"})
            fs::remove(settings_.file.string() + suffix, ignored);
        database_ = std::make_unique<SearchDatabase>(fs::path{});
    }
    open();
}

// The thread.

void SearchIndex::run(const std::stop_token& stop)
{
    while (!stop.stop_requested()) {
        std::uint32_t seen = signal_.count();
        std::uint64_t requested = 0;
        std::uint64_t sizeBefore = 0;
        {
            const std::scoped_lock progress{progressMutex_};
            requested = passesRequested_;
            sizeBefore = changes_.records;
        }
        std::string fault;
        try {
            const auto indexed = storage::runSqlite([&] { indexNewRecords(stop); });
            if (!indexed) fault = "search.db: " + indexed.error().message;
            if (!indexed && indexed.error().isDamage()) rebuild();
        } catch (const audit::AuditError& error) {
            fault = error.what();
        } catch (const std::exception& error) {
            fault = error.what();
        }
        const bool failed = !fault.empty();
        const auto next =
            std::chrono::steady_clock::now() +
            (failed ? std::max(settings_.minInterval, kRetryDelay) : settings_.minInterval);
        std::unique_lock progress{progressMutex_};
        fault_ = fault;
        passesDone_ = requested;
        changed_.notify_all();
        // Its own notification does not cause another pass.
        if (changes_.records != sizeBefore && signal_.notify() == seen + 1) ++seen;
        changed_.wait_until(progress, stop, next,
                            [this] { return passesRequested_ > passesDone_; });
        const bool isRequested = passesRequested_ > passesDone_;
        progress.unlock();
        if (!failed && !isRequested) signal_.wait(seen, ChangeSignal::kForever, stop);
    }
}

void SearchIndex::indexNewRecords(const std::stop_token& stop)
{
    const std::uint64_t start = database_->next();
    // Usually the last two files contain every new record. Open them for each pass only: an open
    // reader prevents the writer from closing a segment.
    const std::vector<fs::path> journal{settings_.journal};
    JournalView source{journal, 2};
    const bool lastTwoFilesSuffice = start > 0 && source.first() < start;
    if (!lastTwoFilesSuffice) source = JournalView{journal};
    const bool sameJournal =
        start > source.first() && start <= source.end() &&
        storage::sha256({source.payload(start - 1)}).hex() == database_->lastHash();
    if (!sameJournal && (start != source.first() || !database_->lastHash().empty())) {
        source = JournalView{journal};
        const std::scoped_lock lock{databaseMutex_};
        database_->clear(source.first());
        const std::scoped_lock progress{progressMutex_};
        changes_.records = source.first();
    }
    if (database_->next() < source.end()) indexRecords(source, stop);
}

void SearchIndex::indexRecords(JournalView& source, const std::stop_token& stop)
{
    std::unique_lock lock{databaseMutex_, std::defer_lock};
    std::size_t uncommitted = 0;
    const auto commit = [&] {
        if (uncommitted == 0) return;
        database_->commit();
        uncommitted = 0;
        {
            const std::scoped_lock progress{progressMutex_};
            const SearchDatabase::LastChanged& lastChanged = database_->lastChanged();
            changes_ = {database_->next(), lastChanged.claims, lastChanged.notices,
                        lastChanged.proposals};
        }
        lock.unlock();
        changed_.notify_all();
    };
    try {
        source.forEach(database_->next(), source.end(),
                       [&](std::uint64_t seq, std::string_view payload) {
                           if (uncommitted++ == 0) {
                               lock.lock();
                               database_->begin();
                           }
                           database_->add(seq, payload);
                           if (uncommitted >= settings_.recordsPerTransaction) commit();
                           return !stop.stop_requested();
                       });
        commit();
    } catch (...) {
        if (lock.owns_lock()) database_->rollBack();
        throw;
    }
}

// With progressMutex_ held. The thread waits for one of the two.
void SearchIndex::requestPass()
{
    ++passesRequested_;
    changed_.notify_all();
    signal_.notify();
}

bool SearchIndex::catchUp(std::chrono::milliseconds timeout)
{
    std::unique_lock progress{progressMutex_};
    requestPass();
    const std::uint64_t pass = passesRequested_;
    return changed_.wait_for(progress, timeout, [&] { return passesDone_ >= pass; }) &&
           fault_.empty();
}

bool SearchIndex::waitForRecord(std::uint64_t seq, std::chrono::milliseconds timeout)
{
    std::unique_lock progress{progressMutex_};
    requestPass();
    return changed_.wait_for(progress, timeout, [&] { return changes_.records > seq; });
}

SearchIndex::Changes SearchIndex::changes() const
{
    const std::scoped_lock progress{progressMutex_};
    return changes_;
}

std::string SearchIndex::fault() const
{
    const std::scoped_lock progress{progressMutex_};
    return fault_;
}

// Queries.

storage::SqliteResult<std::vector<RecordRow>> SearchIndex::records(const RecordQuery& query) const
{
    SqlQuery sql{kRecords};
    // Use the index of the most selective condition only (a plus sign disables an index): few
    // records belong to one person or table, many to one pool.
    const bool who = !query.who.empty();
    const bool table = !query.table.empty();
    const bool kind = !query.kind.empty();
    if (who)
        sql.addCondition("seq IN (SELECT seq FROM person WHERE name = ?)", foldedName(query.who));
    sql.whereIs(who ? "+tbl" : "tbl", query.table);
    sql.whereIs(who || table ? "+kind" : "kind", query.kind);
    sql.whereIs(who || table || kind ? "+pool" : "pool", query.pool);
    if (query.round) sql.where(who ? "+round" : "round", "=", *query.round);
    // Times never decrease with record numbers, so a period is a range of record numbers.
    if (query.fromMs)
        sql.addCondition(
            "seq >= (SELECT seq FROM record WHERE time >= ? ORDER BY time, seq LIMIT 1)",
            *query.fromMs);
    if (query.toMs)
        sql.addCondition(
            "seq < coalesce((SELECT seq FROM record WHERE time >= ? ORDER BY time, seq LIMIT 1), "
            "9223372036854775807)",
            *query.toMs);
    if (query.after) sql.where("seq", ">", static_cast<std::int64_t>(*query.after));
    if (query.before) sql.where("seq", "<", static_cast<std::int64_t>(*query.before));
    const std::scoped_lock lock{databaseMutex_};
    return sql.rows<RecordRow>(database_->connection(), query.after ? "seq" : "seq DESC",
                               query.limit, readRecordRow);
}

storage::SqliteResult<std::optional<RecordRow>> SearchIndex::record(std::uint64_t seq) const
{
    SqlQuery sql{kRecords};
    sql.where("seq", "=", static_cast<std::int64_t>(seq));
    const std::scoped_lock lock{databaseMutex_};
    return first(sql.rows<RecordRow>(database_->connection(), "seq", 1, readRecordRow));
}

storage::SqliteResult<std::vector<ClaimRow>> SearchIndex::claims(const ClaimQuery& query) const
{
    SqlQuery sql{kClaims};
    sql.whereIs("claim.state", query.state);
    sql.whereIs("claim.pool", query.pool);
    sql.whereIs("claim.tbl", query.table);
    if (query.paid)
        sql.addCondition(*query.paid ? "award.payments > 0"
                                     : "award.payments = 0 AND award.state = 'due'");
    if (query.before) sql.where("claim.id", "<", *query.before);
    const std::scoped_lock lock{databaseMutex_};
    return sql.rows<ClaimRow>(database_->connection(), "claim.id DESC", query.limit, readClaimRow);
}

storage::SqliteResult<std::vector<ClaimRow>> SearchIndex::claimsOf(const std::string& table,
                                                                   std::int64_t round) const
{
    SqlQuery sql{kClaims};
    sql.where("claim.tbl", "=", table);
    sql.where("claim.round", "=", round);
    const std::scoped_lock lock{databaseMutex_};
    return sql.rows<ClaimRow>(database_->connection(), "claim.seat DESC", kMaxRows, readClaimRow);
}

template <class Row, class Read>
storage::SqliteResult<std::vector<Row>> SearchIndex::rowsOfRound(const char* select,
                                                                 const std::string& table,
                                                                 std::int64_t round,
                                                                 std::string_view order,
                                                                 Read&& read) const
{
    SqlQuery sql{select};
    sql.where("tbl", "=", table);
    sql.where("round", "=", round);
    const std::scoped_lock lock{databaseMutex_};
    return sql.rows<Row>(database_->connection(), order, kMaxRows, read);
}

storage::SqliteResult<std::vector<AwardRow>> SearchIndex::awardsOf(const std::string& table,
                                                                   std::int64_t round) const
{
    // Of one round: first the fixed awards, then bonuses, the 10 % tier and the 100 % tier.
    return rowsOfRound<AwardRow>(
        "SELECT tbl, round, seat, tier, form, player, amount, rule, arithmetic, seq, place, state, "
        "withheld, paid, payments, state_seq, state_reason, state_who FROM award",
        table, round, "step, seat DESC", readAwardRow);
}

storage::SqliteResult<std::vector<PaymentRow>> SearchIndex::paymentsOf(const std::string& table,
                                                                       std::int64_t round) const
{
    return rowsOfRound<PaymentRow>(
        "SELECT seq, time, seat, tier, paid, due, total, rectification, how, who FROM payment",
        table, round, "seq", readPaymentRow);
}

storage::SqliteResult<std::vector<EarlierAmountRow>> SearchIndex::earlierAmountsOf(
    const std::string& table, std::int64_t round) const
{
    return rowsOfRound<EarlierAmountRow>(
        "SELECT seq, seat, tier, amount, withdrawn, withdrawn_ms FROM earlier_amount", table, round,
        "withdrawn", readEarlierAmountRow);
}

storage::SqliteResult<std::vector<RefundRow>> SearchIndex::refundsOf(const std::string& table,
                                                                     std::int64_t round) const
{
    return rowsOfRound<RefundRow>("SELECT seq, time, seat, amount FROM refund", table, round,
                                  "seq, seat", readRefundRow);
}

storage::SqliteResult<std::optional<SuspensionRow>> SearchIndex::suspensionOf(
    const std::string& table) const
{
    SqlQuery sql{"SELECT seq, time, ground, origin, reason, who FROM suspension"};
    sql.where("tbl", "=", table);
    const std::scoped_lock lock{databaseMutex_};
    return first(sql.rows<SuspensionRow>(database_->connection(), "seq", 1, readSuspensionRow));
}

storage::SqliteResult<std::vector<NoticeRow>> SearchIndex::notices(const NoticeQuery& query) const
{
    SqlQuery sql{kNotices};
    if (query.acknowledged)
        sql.addCondition(*query.acknowledged ? "who IS NOT NULL" : "who IS NULL");
    if (query.delivery) {
        sql.where("delivery", "=", *query.delivery);
        sql.where("time", ">=", query.fromMs);
    }
    if (query.before) sql.where("seq", "<", static_cast<std::int64_t>(*query.before));
    const std::scoped_lock lock{databaseMutex_};
    return sql.rows<NoticeRow>(database_->connection(),
                               query.delivery ? "seq, place" : "seq DESC, place DESC", query.limit,
                               readNoticeRow);
}

storage::SqliteResult<std::optional<NoticeRow>> SearchIndex::notice(const std::string& id) const
{
    const std::size_t dot = std::min(id.find('.'), id.size());
    const auto seq = parseDecimal(std::string_view{id}.substr(0, dot));
    const auto place = parseDecimal(std::string_view{id}.substr(std::min(dot + 1, id.size())));
    if (!seq || !place) return std::optional<NoticeRow>{};
    SqlQuery sql{kNotices};
    sql.where("seq", "=", static_cast<std::int64_t>(*seq));
    sql.where("place", "=", static_cast<std::int64_t>(*place));
    const std::scoped_lock lock{databaseMutex_};
    return first(sql.rows<NoticeRow>(database_->connection(), "seq", 1, readNoticeRow));
}

storage::SqliteResult<std::vector<ProposalRow>> SearchIndex::proposals(
    const ProposalQuery& query) const
{
    SqlQuery sql{kProposals};
    sql.whereIs("state", query.state);
    if (query.before) sql.where("seq", "<", static_cast<std::int64_t>(*query.before));
    const std::scoped_lock lock{databaseMutex_};
    return sql.rows<ProposalRow>(database_->connection(), "seq DESC", query.limit, readProposalRow);
}

storage::SqliteResult<std::optional<ProposalRow>> SearchIndex::proposal(std::uint64_t id) const
{
    SqlQuery sql{kProposals};
    sql.where("seq", "=", static_cast<std::int64_t>(id));
    const std::scoped_lock lock{databaseMutex_};
    return first(sql.rows<ProposalRow>(database_->connection(), "seq", 1, readProposalRow));
}

storage::SqliteResult<std::vector<AmountRow>> SearchIndex::amounts(const AmountQuery& query) const
{
    const std::scoped_lock lock{databaseMutex_};
    return storage::runSqlite([&] { return readAmounts(database_->connection(), query); });
}

}  // namespace jackpot::console
