#include "storage/outcome_json.h"

#include <algorithm>

#include "rules/explain.h"
#include "storage/command_json.h"
#include "storage/parsed_json.h"

namespace jackpot::storage {
namespace {

using namespace rules;

void writePlace(JsonText& json, const State& state, std::uint32_t table, std::int64_t round,
                int seat)
{
    json.textField("table", state.tables[table].config.id);
    json.numberField("round", round);
    json.numberField("seat", seat);
}

void writeArithmetic(JsonText& json, const Arithmetic& arithmetic)
{
    if (arithmetic.kind != Arithmetic::Kind::Tenth && arithmetic.kind != Arithmetic::Kind::All)
        return;
    json.key("arithmetic");
    json.beginObject();
    json.textField("takes", arithmetic.kind == Arithmetic::Kind::Tenth ? "10 %" : "100 %");
    json.moneyField("displayed", arithmetic.displayed);
    json.moneyField("aggregate", arithmetic.aggregate);
    json.numberField("winners", arithmetic.winners);
    json.moneyField("share", arithmetic.share);
    json.moneyField("guarantee", arithmetic.guarantee);
    json.moneyField("payout_unit", arithmetic.payoutUnit);
    json.endObject();
}

void writeAward(JsonText& json, const State& state, const Award& award)
{
    writePlace(json, state, award.table, award.round, award.seat);
    json.textField("tier", idOf(award.tier));
    json.moneyField("amount", award.amount);
    json.textField("rule", award.rule);
    if (!award.playerCard.empty()) json.textField("player_card", award.playerCard);
    writeArithmetic(json, award.arithmetic);
}

void writeNotice(JsonText& json, const Notice& notice)
{
    json.textField("kind", idOf(notice.kind));
    json.key("to");
    json.beginArray();
    for (const std::string_view each : recipientIds(notice.kind)) json.text(each);
    json.endArray();
    json.textField("rule", notice.rule);
}

void writePayment(JsonText& json, const Payment& payment)
{
    json.key("payment");
    json.beginObject();
    json.moneyField("due", payment.due);
    json.moneyField("paid", payment.paid);
    json.moneyField("sum", payment.sum);
    json.endObject();
}

// An empty list is not written.
template <class T, class WriteOne>
void writeList(JsonText& json, std::string_view key, const std::vector<T>& list,
               WriteOne&& writeOne)
{
    if (!list.empty()) json.objectsField(key, list, writeOne);
}

void writeParametersChange(JsonText& json, const Pool& pool, const ParametersChange& change)
{
    json.key("parameters");
    json.beginObject();
    json.textField("pool", pool.config.id);
    json.textField("state", idOf(change.state));
    json.key("from");
    writeParameters(json, change.from);
    json.key("to");
    writeParameters(json, change.to);
    json.endObject();
}

void writeAmendment(JsonText& json, const State& state, const Amendment& amendment)
{
    const auto ids = [&](std::string_view key, const std::vector<std::uint32_t>& indices,
                         const auto& all) {
        if (indices.empty()) return;
        json.key(key);
        json.beginArray();
        for (const std::uint32_t i : indices) json.text(all[i].config.id);
        json.endArray();
    };
    json.key("amended");
    json.beginObject();
    ids("new_pools", amendment.newPools, state.pools);
    ids("new_tables", amendment.newTables, state.tables);
    ids("changed_tables", amendment.changedTables, state.tables);
    json.endObject();
}

constexpr std::size_t kCauses = static_cast<std::size_t>(Cause::Adjustment) + 1;

void writePoolPostings(JsonText& json, const Outcome& outcome, std::uint32_t pool)
{
    std::array<std::array<Money, kAccounts>, kCauses> sums{};
    std::array<bool, kCauses> used{};
    for (const Posting& posting : outcome.postings) {
        if (posting.pool != pool) continue;
        const auto cause = static_cast<std::size_t>(posting.cause);
        sums.at(cause).at(static_cast<std::size_t>(posting.account)) += posting.amount;
        used.at(cause) = true;
    }
    json.beginObject();
    for (std::size_t cause = 0; cause < kCauses; ++cause) {
        if (!used.at(cause)) continue;
        json.key(idOf(static_cast<Cause>(cause)));
        json.beginObject();
        for (std::size_t account = 0; account < kAccounts; ++account)
            if (const Money sum = sums.at(cause).at(account); sum != Money{})
                json.moneyField(idOf(static_cast<Account>(account)), sum);
        json.endObject();
    }
    json.endObject();
}

// A pool's id is a value here, not a key: it can contain any character.
void writePools(JsonText& json, const Outcome& outcome, const State& state)
{
    json.key("pools");
    json.beginArray();
    const auto writeOne = [&](std::uint32_t i) {
        const Pool& pool = state.pools[i];
        json.beginObject();
        json.textField("pool", pool.config.id);
        json.key("postings");
        writePoolPostings(json, outcome, i);
        json.moneyField("meter", pool.meter);
        json.moneyField("reserve", pool.reserve);
        json.endObject();
    };
    if (outcome.pool)
        writeOne(*outcome.pool);
    else if (!outcome.refusal)
        for (std::uint32_t i = 0; i < state.pools.size(); ++i) writeOne(i);
    json.endArray();
}

// The value of the enumeration that has this id; `last` is its last value.
template <class Enum>
Enum enumIn(std::string_view id, std::string_view key, Enum last)
{
    for (std::size_t i = 0; i <= static_cast<std::size_t>(last); ++i)
        if (const auto value = static_cast<Enum>(i); idOf(value) == id) return value;
    throw BadJson{"\"" + std::string{key} + "\" is unknown"};
}

template <class Enum>
Enum enumAt(const Json& json, std::string_view key, Enum last)
{
    return enumIn(textAt(json, key), key, last);
}

// Far more than the seats of any site.
constexpr std::int64_t kMaxWinners = 1'000'000;

std::int64_t numberBetween(const Json& json, std::string_view key, std::int64_t max)
{
    const std::int64_t number = numberAt(json, key);
    if (number < 1 || number > max) throw BadJson{"\"" + std::string{key} + "\" is out of range"};
    return number;
}

void readPlace(const Json& json, auto& into)
{
    into.table = textAt(json, "table");
    into.round = numberAt(json, "round");
    into.seat = numberBetween(json, "seat", kMaxSeats);
}

void readTier(const Json& json, AwardRef& into)
{
    const auto tier = tierOfId(textAt(json, "tier"));
    if (!tier) throw BadJson{"\"tier\" is unknown"};
    into.tier = *tier;
}

Arithmetic::Kind kindAt(const Json& json)
{
    const std::string_view takes = textAt(json, "takes");
    if (takes == "10 %") return Arithmetic::Kind::Tenth;
    if (takes == "100 %") return Arithmetic::Kind::All;
    throw BadJson{"\"takes\" is unknown"};
}

Arithmetic readArithmetic(const Json& json)
{
    return {kindAt(json),
            moneyAt(json, "displayed"),
            moneyAt(json, "aggregate"),
            numberBetween(json, "winners", kMaxWinners),
            moneyAt(json, "share"),
            moneyAt(json, "guarantee"),
            moneyAt(json, "payout_unit")};
}

void read(const Json& json, RecordedRefusal& refusal)
{
    refusal.code = enumAt(json, "code", RefusalCode::AwardPaid);
    refusal.rule = textOr(json, "rule");
}

void read(const Json& json, RecordedAward& award)
{
    readPlace(json, award);
    readTier(json, award);
    award.amount = moneyAt(json, "amount");
    award.rule = textAt(json, "rule");
    award.playerCard = textOr(json, "player_card");
    const Json* const arithmetic = find(json, "arithmetic");
    award.arithmetic = arithmetic
                           ? readArithmetic(*arithmetic)
                           : Arithmetic::plain(award.tier == Tier::Bonus ? Arithmetic::Kind::Bonus
                                                                         : Arithmetic::Kind::Fixed,
                                               award.amount);
}

void read(const Json& json, RecordedWithdrawal& withdrawal)
{
    readPlace(json, withdrawal);
    readTier(json, withdrawal);
    withdrawal.amount = moneyAt(json, "amount");
}

void read(const Json& json, RecordedRefund& refund)
{
    readPlace(json, refund);
    refund.amount = moneyAt(json, "amount");
}

void read(const Json& json, RecordedClaim& claim)
{
    readPlace(json, claim);
    readTier(json, claim);
    claim.state = enumAt(json, "state", ClaimState::Dropped);
}

void read(const Json& json, RecordedNotice& notice)
{
    notice.kind = enumAt(json, "kind", NoticeKind::ParametersInForce);
    if (!std::ranges::equal(textsAt(json, "to"), recipientIds(notice.kind)))
        throw BadJson{"\"to\" is not who receives such a notice"};
    notice.rule = textAt(json, "rule");
}

void read(const Json& json, Payment& payment)
{
    payment.due = moneyAt(json, "due");
    payment.paid = moneyAt(json, "paid");
    payment.sum = moneyAt(json, "sum");
}

void read(const Json& json, RecordedParameters& change)
{
    change.pool = textAt(json, "pool");
    change.state = enumAt(json, "state", ParametersState::TakenBack);
    change.from = readParameters(at(json, "from"));
    change.to = readParameters(at(json, "to"));
}

void read(const Json& json, RecordedAmendment& amendment)
{
    const auto texts = [&](std::string_view key) {
        return find(json, key) ? textsAt(json, key) : std::vector<std::string>{};
    };
    amendment.newPools = texts("new_pools");
    amendment.newTables = texts("new_tables");
    amendment.changedTables = texts("changed_tables");
}

void read(const Json& json, RecordedPool& pool)
{
    pool.pool = textAt(json, "pool");
    const Json& postings = at(json, "postings");
    if (!postings.IsObject()) throw BadJson{"\"postings\" is not an object"};
    pool.postings.reserve(postings.MemberCount());
    for (const auto& cause : postings.GetObject()) {
        RecordedPosting& posting = pool.postings.emplace_back();
        posting.cause = enumIn(viewOf(cause.name), "postings", Cause::Adjustment);
        if (!cause.value.IsObject()) throw BadJson{"a posting is not an object"};
        for (const auto& account : cause.value.GetObject()) {
            const auto to = enumIn(viewOf(account.name), "postings", Account::Reserve);
            if (!account.value.IsString()) throw BadJson{"a posting is not an amount"};
            posting.gained.at(static_cast<std::size_t>(to)) = moneyIn(viewOf(account.value));
        }
    }
    pool.meter = moneyAt(json, "meter");
    pool.reserve = moneyAt(json, "reserve");
}

template <class T>
void read(const Json& json, std::optional<T>& into)
{
    if (into) throw BadJson{"a key occurs twice"};
    read(json, into.emplace());
}

template <class T>
void read(const Json& json, std::vector<T>& into)
{
    if (!into.empty()) throw BadJson{"a key occurs twice"};
    if (!json.IsArray()) throw BadJson{"a list is missing"};
    into.reserve(json.Size());
    for (const Json& each : json.GetArray()) read(each, into.emplace_back());
}

void readMember(std::string_view name, const Json& json, RecordedOutcome& outcome)
{
    if (name == "pools") return read(json, outcome.pools);
    if (name == "refused") return read(json, outcome.refusal);
    if (name == "awards") return read(json, outcome.awards);
    if (name == "withdrawn") return read(json, outcome.withdrawn);
    if (name == "locked") return read(json, outcome.locked);
    if (name == "refunds") return read(json, outcome.refunds);
    if (name == "claims") return read(json, outcome.claims);
    if (name == "notices") return read(json, outcome.notices);
    if (name == "payment") return read(json, outcome.payment);
    if (name == "parameters") return read(json, outcome.parameters);
    if (name == "amended") return read(json, outcome.amendment);
    throw BadJson{"\"" + std::string{name} + "\" is unknown"};
}

}  // namespace

void writeOutcome(JsonText& json, const Outcome& outcome, const State& after)
{
    if (outcome.refusal) {
        json.key("refused");
        json.beginObject();
        json.textField("code", idOf(outcome.refusal->code));
        if (!outcome.refusal->rule.empty()) json.textField("rule", outcome.refusal->rule);
        json.endObject();
    }
    const auto award = [&](const Award& each) { writeAward(json, after, each); };
    writeList(json, "awards", outcome.awards, award);
    writeList(json, "withdrawn", outcome.withdrawn, [&](const Withdrawal& each) {
        writePlace(json, after, each.table, each.round, each.seat);
        json.textField("tier", idOf(each.tier));
        json.moneyField("amount", each.amount);
    });
    writeList(json, "locked", outcome.locked, award);
    writeList(json, "refunds", outcome.refunds, [&](const Refund& each) {
        writePlace(json, after, each.table, each.round, each.seat);
        json.moneyField("amount", each.amount);
    });
    writeList(json, "claims", outcome.claims, [&](const ClaimChange& each) {
        writePlace(json, after, each.table, each.round, each.seat);
        json.textField("tier", idOf(each.tier));
        json.textField("state", idOf(each.state));
    });
    writeList(json, "notices", outcome.notices,
              [&](const Notice& each) { writeNotice(json, each); });
    if (outcome.payment) writePayment(json, *outcome.payment);
    if (outcome.parameters)
        writeParametersChange(json, after.pools[*outcome.pool], *outcome.parameters);
    if (outcome.amendment) writeAmendment(json, after, *outcome.amendment);
    writePools(json, outcome, after);
}

Result<RecordedOutcome> readOutcome(std::string_view text)
{
    Result<RecordedOutcome> outcome{RecordedOutcome{}};
    try {
        const ParsedJson json{text, ParsedJson::Form::RestOfObject};
        (void)at(json.value(), "pools");
        for (const auto& member : json.value().GetObject())
            readMember(viewOf(member.name), member.value, *outcome);
    } catch (const BadJson& error) {
        return Error{"its outcome: " + std::string{error.what()}};
    }
    return outcome;
}

std::vector<std::string_view> recipientIds(NoticeKind kind)
{
    switch (recipientsOf(kind)) {
        case Notify::Surveillance: return {"surveillance"};
        case Notify::Inspector: return {"inspector"};
        case Notify::SurveillanceAndInspector: break;
    }
    return {"surveillance", "inspector"};
}

bool RecordedAward::isJackpot() const
{
    return arithmetic.kind == Arithmetic::Kind::Tenth || arithmetic.kind == Arithmetic::Kind::All;
}

std::string_view RecordedAward::form() const
{
    if (isJackpot()) return "jackpot";
    return tier == Tier::Bonus ? "bonus" : "fixed";
}

std::string RecordedAward::inWords() const
{
    Award award;
    award.amount = amount;
    award.arithmetic = arithmetic;
    try {
        return arithmeticInWords(award);
    } catch (const MoneyOverflow&) {
        return "arithmetic that cannot be: run jackpot-audit verify";
    }
}

bool RecordedPool::has(Cause cause) const
{
    return std::ranges::find(postings, cause, &RecordedPosting::cause) != postings.end();
}

Money RecordedPool::posted(Cause cause, Account account) const
{
    const auto found = std::ranges::find(postings, cause, &RecordedPosting::cause);
    return found == postings.end() ? Money{} : found->to(account);
}

bool RecordedOutcome::hasJackpot() const
{
    return std::ranges::any_of(awards, &RecordedAward::isJackpot);
}

}  // namespace jackpot::storage
