#include "console/search/search_index.h"

#include <algorithm>
#include <limits>

#include "audit/journal_view.h"
#include "base/encoding.h"
#include "console/people/person_name.h"
#include "console/search/search_database.h"
#include "storage/json_read.h"
#include "storage/sha256.h"

namespace jackpot::console {
namespace {

namespace fs = std::filesystem;
using audit::JournalView;
using storage::Statement;

constexpr std::string_view kName = "search.db";
// After a pass that failed.
constexpr std::chrono::milliseconds kPatience{1000};

// A question put together from what was asked for.
class Question {
public:
    explicit Question(std::string sql) : sql_{std::move(sql)} {}

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
    void also(std::string_view condition) { join() += condition; }
    // The same for a condition that holds one question mark.
    void also(std::string_view condition, std::string text)
    {
        also(condition);
        values_.push_back({0, std::move(text), false});
    }
    void also(std::string_view condition, std::int64_t number)
    {
        also(condition);
        values_.push_back({number, {}, true});
    }

    template <class Row, class Read>
    std::vector<Row> rows(storage::Database& database, std::string_view order, std::size_t limit,
                          Read&& read)
    {
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
    }

private:
    struct Value {
        std::int64_t number;
        std::string text;
        bool isNumber;
    };
    std::string& join()
    {
        sql_ += first_ ? " WHERE " : " AND ";
        first_ = false;
        return sql_;
    }
    void add(std::string_view column, std::string_view comparison)
    {
        join() += std::string{column} + " " + std::string{comparison} + " ?";
    }

    std::string sql_;
    bool first_ = true;
    std::vector<Value> values_;
};

std::string textIn(const Statement& row, int column) { return std::string{row.bytes(column)}; }

template <class Number = std::int64_t>
std::optional<Number> numberIn(const Statement& row, int column)
{
    if (row.type(column) == SQLITE_NULL) return std::nullopt;
    return static_cast<Number>(row.number(column));
}

std::uint64_t seqIn(const Statement& row, int column)
{
    return static_cast<std::uint64_t>(row.number(column));
}

constexpr const char* kRecords =
    "SELECT seq, time, kind, pool, tbl, round, who, refused FROM record";
RecordRow recordIn(const Statement& row)
{
    return {seqIn(row, 0),  row.number(1),    textIn(row, 2), textIn(row, 3),
            textIn(row, 4), numberIn(row, 5), textIn(row, 6), row.number(7) != 0};
}

constexpr const char* kClaims =
    "SELECT id, pool, tbl, round, seat, tier, state, board, cards, claimed, claimed_ms, changed, "
    "confirmed_ms, pressed_ms FROM claim";
ClaimRow claimIn(const Statement& row)
{
    return {row.number(0),  textIn(row, 1), textIn(row, 2),    row.number(3),    row.number(4),
            textIn(row, 5), textIn(row, 6), textIn(row, 7),    textIn(row, 8),   seqIn(row, 9),
            row.number(10), seqIn(row, 11), numberIn(row, 12), numberIn(row, 13)};
}

AwardRow awardIn(const Statement& row)
{
    return {
        seqIn(row, 0),
        row.number(1),
        textIn(row, 2),
        row.number(3),
        row.number(4),
        textIn(row, 5),
        storage::moneyIn(row.bytes(6)),
        textIn(row, 7),
        textIn(row, 8),
        textIn(row, 9),
        textIn(row, 10),
        numberIn<std::uint64_t>(row, 11),
        row.type(12) == SQLITE_NULL ? std::nullopt : std::optional{storage::moneyIn(row.bytes(12))},
        textIn(row, 13),
        textIn(row, 14)};
}

constexpr const char* kNotices =
    "SELECT seq, place, time, whom, rule, words, delivery, who, acknowledged_ms, remark FROM "
    "notice";
NoticeRow noticeIn(const Statement& row)
{
    return {std::to_string(row.number(0)) + "." + std::to_string(row.number(1)),
            seqIn(row, 0),
            row.number(2),
            textIn(row, 3),
            textIn(row, 4),
            textIn(row, 5),
            textIn(row, 6),
            textIn(row, 7),
            numberIn(row, 8),
            textIn(row, 9)};
}

constexpr const char* kProposals =
    "SELECT seq, time, expires, who, reason, proposed, hash, words, state, closed_by, remark, "
    "closed, outcome FROM proposal";
ProposalRow proposalIn(const Statement& row)
{
    return {seqIn(row, 0),
            row.number(1),
            row.number(2),
            textIn(row, 3),
            textIn(row, 4),
            textIn(row, 5),
            textIn(row, 6),
            textIn(row, 7),
            textIn(row, 8),
            textIn(row, 9),
            textIn(row, 10),
            numberIn<std::uint64_t>(row, 11),
            numberIn<std::uint64_t>(row, 12)};
}

AmountRow amountIn(const Statement& row)
{
    AmountRow read{row.number(0), seqIn(row, 1), rules::Money::ofCents(row.number(2)), {}};
    if (const auto before = numberIn(row, 3)) read.before = rules::Money::ofCents(*before);
    return read;
}

template <class Row>
std::optional<Row> first(std::vector<Row> rows)
{
    return rows.empty() ? std::nullopt : std::optional{std::move(rows.front())};
}

}  // namespace

SearchIndex::SearchIndex(Settings settings) : settings_{std::move(settings)}
{
    if (settings_.file.empty()) settings_.file = settings_.journal / kName;
    open();
    thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

SearchIndex::~SearchIndex() = default;

void SearchIndex::open()
{
    const std::scoped_lock lock{mutex_};
    index_.reset();
    try {
        index_ = std::make_unique<SearchDatabase>(settings_.file);
    } catch (const storage::SqliteFailure&) {
        index_ = std::make_unique<SearchDatabase>(fs::path{});
    }
    const std::scoped_lock state{state_};
    changes_ = {.records = index_->next()};
}

// The database is damaged: it goes, and everything is read again.
void SearchIndex::beginAnew()
{
    {
        const std::scoped_lock lock{mutex_};
        index_.reset();
        std::error_code ignored;
        for (const char* suffix : {"", "-wal", "-shm", "-journal"})
            fs::remove(settings_.file.string() + suffix, ignored);
        index_ = std::make_unique<SearchDatabase>(fs::path{});
    }
    open();
}

// --- the thread
// ------------------------------------------------------------------------------------

void SearchIndex::run(const std::stop_token& stop)
{
    bool failed = false;
    while (!stop.stop_requested()) {
        std::uint64_t asked = 0;
        {
            std::unique_lock state{state_};
            const auto atMost = failed ? std::max(settings_.every, kPatience) : settings_.every;
            changed_.wait_for(state, stop, atMost, [this] { return asked_ > answered_; });
            asked = asked_;
        }
        if (stop.stop_requested()) return;
        std::string fault;
        try {
            pass(stop);
        } catch (const audit::Stop& error) {
            fault = error.what();
        } catch (const storage::SqliteFailure& failure) {
            const int code = failure.code() & 0xff;
            fault = std::string{"the search database: "} + failure.what();
            if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) beginAnew();
        } catch (const std::exception& error) {
            fault = error.what();
        }
        failed = !fault.empty();
        {
            const std::scoped_lock state{state_};
            fault_ = fault;
            answered_ = asked;
        }
        changed_.notify_all();
    }
}

void SearchIndex::pass(const std::stop_token& stop)
{
    const std::uint64_t start = index_->next();
    // The last two files will do, unless it lags further behind. They are opened anew each time: a
    // reader that stays would keep the writer from closing a segment.
    const std::vector<fs::path> journal{settings_.journal};
    JournalView source{journal, 2};
    const bool known = start > 0 && source.first() < start;
    if (!known) source = JournalView{journal};
    const bool sameJournal =
        start > source.first() && start <= source.end() &&
        storage::sha256({source.payload(start - 1)}).hex() == index_->lastHash();
    if (!sameJournal && (start != source.first() || !index_->lastHash().empty())) {
        source = JournalView{journal};
        const std::scoped_lock lock{mutex_};
        index_->clear(source.first());
        const std::scoped_lock state{state_};
        changes_.records = source.first();
    }
    if (index_->next() < source.end()) add(source, stop);
}

void SearchIndex::add(JournalView& source, const std::stop_token& stop)
{
    std::unique_lock lock{mutex_, std::defer_lock};
    std::size_t inPage = 0;
    const auto finishPage = [&] {
        if (inPage == 0) return;
        index_->commit();
        inPage = 0;
        {
            const std::scoped_lock state{state_};
            const SearchDatabase::ChangedSince& touched = index_->touched();
            changes_ = {index_->next(), touched.claims, touched.notices, touched.proposals};
        }
        lock.unlock();
        changed_.notify_all();
    };
    try {
        source.forEach(index_->next(), source.end(),
                       [&](std::uint64_t seq, std::string_view payload) {
                           if (inPage++ == 0) {
                               lock.lock();
                               index_->begin();
                           }
                           index_->add(seq, payload);
                           if (inPage >= settings_.page) finishPage();
                           return !stop.stop_requested();
                       });
        finishPage();
    } catch (...) {
        if (lock.owns_lock()) index_->rollBack();
        throw;
    }
}

bool SearchIndex::catchUp(std::chrono::milliseconds timeout)
{
    std::unique_lock state{state_};
    const std::uint64_t mine = ++asked_;
    changed_.notify_all();
    return changed_.wait_for(state, timeout, [&] { return answered_ >= mine; }) && fault_.empty();
}

bool SearchIndex::waitUntil(std::uint64_t seq, std::chrono::milliseconds timeout)
{
    std::unique_lock state{state_};
    ++asked_;
    changed_.notify_all();
    return changed_.wait_for(state, timeout, [&] { return changes_.records > seq; });
}

SearchIndex::Changes SearchIndex::changes() const
{
    const std::scoped_lock state{state_};
    return changes_;
}

std::string SearchIndex::fault() const
{
    const std::scoped_lock state{state_};
    return fault_;
}

// --- questions
// -------------------------------------------------------------------------------------

std::vector<RecordRow> SearchIndex::records(const RecordQuery& query) const
{
    Question question{kRecords};
    // The most telling is looked up, the rest is compared (a plus keeps SQLite from its index): few
    // records are of one person or table, most are of one pool.
    const bool who = !query.who.empty();
    const bool table = !query.table.empty();
    const bool kind = !query.kind.empty();
    if (who) question.also("seq IN (SELECT seq FROM person WHERE name = ?)", foldedName(query.who));
    question.whereIs(who ? "+tbl" : "tbl", query.table);
    question.whereIs(who || table ? "+kind" : "kind", query.kind);
    question.whereIs(who || table || kind ? "+pool" : "pool", query.pool);
    if (query.round) question.where(who ? "+round" : "round", "=", *query.round);
    // Times never decrease, so they are bounds of record numbers.
    if (query.fromMs)
        question.also("seq >= (SELECT seq FROM record WHERE time >= ? ORDER BY time, seq LIMIT 1)",
                      *query.fromMs);
    if (query.toMs)
        question.also(
            "seq < coalesce((SELECT seq FROM record WHERE time >= ? ORDER BY time, seq LIMIT 1), "
            "9223372036854775807)",
            *query.toMs);
    if (query.after) question.where("seq", ">", static_cast<std::int64_t>(*query.after));
    if (query.before) question.where("seq", "<", static_cast<std::int64_t>(*query.before));
    const std::scoped_lock lock{mutex_};
    return question.rows<RecordRow>(index_->database(), query.after ? "seq" : "seq DESC",
                                    query.limit, recordIn);
}

std::optional<RecordRow> SearchIndex::record(std::uint64_t seq) const
{
    Question question{kRecords};
    question.where("seq", "=", static_cast<std::int64_t>(seq));
    const std::scoped_lock lock{mutex_};
    return first(question.rows<RecordRow>(index_->database(), "seq", 1, recordIn));
}

std::vector<ClaimRow> SearchIndex::claims(const ClaimQuery& query) const
{
    Question question{kClaims};
    question.whereIs("state", query.state);
    question.whereIs("pool", query.pool);
    question.whereIs("tbl", query.table);
    if (query.before) question.where("id", "<", *query.before);
    const std::scoped_lock lock{mutex_};
    return question.rows<ClaimRow>(index_->database(), "id DESC", query.limit, claimIn);
}

std::vector<ClaimRow> SearchIndex::claimsOf(const std::string& table, std::int64_t round) const
{
    Question question{kClaims};
    question.where("tbl", "=", table);
    question.where("round", "=", round);
    const std::scoped_lock lock{mutex_};
    return question.rows<ClaimRow>(index_->database(), "seat DESC", kMaxRows, claimIn);
}

std::vector<AwardRow> SearchIndex::awardsOf(const std::string& table, std::int64_t round) const
{
    Question question{
        "SELECT seq, place, tbl, round, seat, tier, amount, rule, form, arithmetic, state, "
        "state_seq, paid, how, who FROM award"};
    question.where("tbl", "=", table);
    question.where("round", "=", round);
    const std::scoped_lock lock{mutex_};
    return question.rows<AwardRow>(index_->database(), "seq, place", kMaxRows, awardIn);
}

std::vector<NoticeRow> SearchIndex::notices(const NoticeQuery& query) const
{
    Question question{kNotices};
    if (query.acknowledged) question.also(*query.acknowledged ? "who IS NOT NULL" : "who IS NULL");
    if (query.delivery) {
        question.where("delivery", "=", *query.delivery);
        question.where("time", ">=", query.fromMs);
    }
    if (query.before) question.where("seq", "<", static_cast<std::int64_t>(*query.before));
    const std::scoped_lock lock{mutex_};
    return question.rows<NoticeRow>(index_->database(),
                                    query.delivery ? "seq, place" : "seq DESC, place DESC",
                                    query.limit, noticeIn);
}

std::optional<NoticeRow> SearchIndex::notice(const std::string& id) const
{
    const std::size_t dot = std::min(id.find('.'), id.size());
    const auto seq = parseDecimal(std::string_view{id}.substr(0, dot));
    const auto place = parseDecimal(std::string_view{id}.substr(std::min(dot + 1, id.size())));
    if (!seq || !place) return std::nullopt;
    Question question{kNotices};
    question.where("seq", "=", static_cast<std::int64_t>(*seq));
    question.where("place", "=", static_cast<std::int64_t>(*place));
    const std::scoped_lock lock{mutex_};
    return first(question.rows<NoticeRow>(index_->database(), "seq", 1, noticeIn));
}

std::vector<ProposalRow> SearchIndex::proposals(const ProposalQuery& query) const
{
    Question question{kProposals};
    question.whereIs("state", query.state);
    if (query.before) question.where("seq", "<", static_cast<std::int64_t>(*query.before));
    const std::scoped_lock lock{mutex_};
    return question.rows<ProposalRow>(index_->database(), "seq DESC", query.limit, proposalIn);
}

std::optional<ProposalRow> SearchIndex::proposal(std::uint64_t id) const
{
    Question question{kProposals};
    question.where("seq", "=", static_cast<std::int64_t>(id));
    const std::scoped_lock lock{mutex_};
    return first(question.rows<ProposalRow>(index_->database(), "seq", 1, proposalIn));
}

std::vector<AmountRow> SearchIndex::amounts(const AmountQuery& query) const
{
    const std::string columns = "SELECT time, seq, cents, before FROM amount WHERE pool = ?1 AND ";
    const std::scoped_lock lock{mutex_};
    storage::Database& database = index_->database();
    Statement standing =
        database.prepare(columns + "time <= ?2 ORDER BY time DESC, seq DESC LIMIT 1");
    const auto standingAt = [&](rules::TimeMs at) {
        std::optional<AmountRow> row;
        standing.bindText(1, query.pool).bind(2, at);
        if (standing.step()) row = amountIn(standing);
        standing.reset();
        return row;
    };
    const auto latest = standingAt(query.toMs.value_or(std::numeric_limits<rules::TimeMs>::max()));
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
                standingAt(from + (to - from) / parts * part + (to - from) % parts * part / parts))
            found.push_back(*row);
    Statement events = database.prepare(columns +
                                        "time >= ?2 AND time <= ?3 AND before IS NOT NULL "
                                        "ORDER BY time DESC, seq DESC LIMIT " +
                                        std::to_string(kMaxRows));
    events.bindText(1, query.pool).bind(2, query.fromMs.value_or(from)).bind(3, to);
    while (events.step()) found.push_back(amountIn(events));

    std::ranges::sort(found, {}, &AmountRow::seq);
    const auto same = std::ranges::unique(found, {}, &AmountRow::seq);
    found.erase(same.begin(), same.end());
    // What stood when the period began came about before it.
    if (found.front().timeMs < query.fromMs.value_or(0)) found.front().before.reset();
    return found;
}

}  // namespace jackpot::console
