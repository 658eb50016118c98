#include "console/desk/desk_requests.h"

#include <rapidjson/document.h>

#include <algorithm>
#include <set>

#include "base/utf8.h"
#include "storage/json_read.h"

namespace jackpot::console {
namespace {

using storage::BadJson;
using storage::Json;

constexpr std::size_t kMaxNameBytes = 100;
constexpr std::size_t kMaxCards = 5;
constexpr std::int64_t kMaxRound = (1LL << 53) - 2;  // a page can still count to the next one

std::string quoted(std::string_view key) { return "\"" + std::string{key} + "\""; }

void checkText(std::string_view key, std::string_view text, std::size_t most)
{
    if (text.empty()) throw BadJson{quoted(key) + " is empty"};
    if (text.size() > most)
        throw BadJson{quoted(key) + " is longer than " + std::to_string(most) + " bytes"};
    std::string_view rest = text;
    bool blank = true;
    while (!rest.empty()) {
        const auto point = takeCodePoint(rest);
        if (!point) throw BadJson{quoted(key) + " is not UTF-8"};
        if (*point < 0x20 || (*point >= 0x7F && *point < 0xA0))
            throw BadJson{quoted(key) + " holds a control character"};
        blank = blank && isSpace(*point);
    }
    if (blank) throw BadJson{quoted(key) + " is blank"};
}

// An object whose keys are asked for one by one; what is left over is refused.
class Fields {
public:
    explicit Fields(const Json& json) : json_{json}
    {
        if (!json.IsObject()) throw BadJson{"it is not an object"};
        std::set<std::string_view> names;
        for (const auto& member : json.GetObject())
            if (!names.insert(storage::viewOf(member.name)).second)
                throw BadJson{"a key is there twice"};
    }

    const Json* optional(std::string_view key)
    {
        known_.insert(std::string{key});
        return storage::find(json_, key);
    }
    const Json& required(std::string_view key)
    {
        if (const Json* value = optional(key)) return *value;
        throw BadJson{quoted(key) + " is missing"};
    }
    std::string text(std::string_view key, std::size_t most)
    {
        (void)required(key);
        const std::string_view value = storage::textAt(json_, key);
        checkText(key, value, most);
        return std::string{value};
    }
    std::int64_t number(std::string_view key, std::int64_t least, std::int64_t most)
    {
        (void)required(key);
        const std::int64_t value = storage::numberAt(json_, key);
        if (value < least || value > most)
            throw BadJson{quoted(key) + " is not between " + std::to_string(least) + " and " +
                          std::to_string(most)};
        return value;
    }
    rules::Money money(std::string_view key)
    {
        const auto amount = rules::parseMoney(text(key, kMaxNameBytes));
        if (!amount) throw BadJson{quoted(key) + ": " + amount.error().message};
        return *amount;
    }
    rules::Rate rate(std::string_view key)
    {
        const auto rate = rules::parseRate(text(key, kMaxNameBytes));
        if (!rate) throw BadJson{quoted(key) + ": " + rate.error().message};
        return *rate;
    }
    rules::Tier tier()
    {
        const auto tier = rules::tierOfId(text("tier", kMaxNameBytes));
        if (!tier || *tier == rules::Tier::None) throw BadJson{"\"tier\" is unknown"};
        return *tier;
    }
    void finish() const
    {
        for (const auto& member : json_.GetObject())
            if (!known_.contains(storage::viewOf(member.name)))
                throw BadJson{"a key is unknown; it takes " + keys()};
    }

private:
    std::string keys() const
    {
        std::string all;
        for (const std::string& key : known_) all += (all.empty() ? "" : ", ") + quoted(key);
        return all;
    }
    const Json& json_;
    std::set<std::string, std::less<>> known_;
};

template <class Read>
auto readBody(std::string_view body, Read&& read) -> Result<decltype(read(std::declval<Fields&>()))>
{
    if (body.size() > net::kMaxBodyBytes) return Error{"the body is too long"};
    rapidjson::Document json;
    json.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(body.data(),
                                                                                       body.size());
    if (json.HasParseError()) return Error{"the body is not well-formed JSON"};
    try {
        Fields fields{json};
        auto value = read(fields);
        fields.finish();
        return value;
    } catch (const BadJson& error) {
        return Error{"the body: " + std::string{error.what()}};
    }
}

const Json& listIn(const Json& json, std::string_view what, std::size_t most)
{
    if (!json.IsArray() || json.Size() > most)
        throw BadJson{std::string{what} + " is not a list of at most " + std::to_string(most)};
    return json;
}

RulingOrder orderIn(const Json& json)
{
    RulingOrder order;
    std::size_t rounds = 0;
    for (const Json& group : listIn(json, "\"order\"", kMaxRuledRounds).GetArray()) {
        order.emplace_back();
        for (const Json& each : listIn(group, "a group", kMaxRuledRounds).GetArray()) {
            if (++rounds > kMaxRuledRounds) throw BadJson{"\"order\" names too many rounds"};
            Fields fields{each};
            order.back().push_back(
                {fields.text("table", kMaxNameBytes), fields.number("round", 0, INT64_MAX)});
            fields.finish();
        }
        if (order.back().empty()) throw BadJson{"a group is empty"};
    }
    if (order.empty()) throw BadJson{"\"order\" is empty"};
    return order;
}

std::vector<std::string> cardsIn(const Json& json, std::string_view what)
{
    std::vector<std::string> cards;
    for (const Json& each : listIn(json, what, kMaxCards).GetArray()) {
        if (!each.IsString() || !rules::parseCard(storage::viewOf(each)))
            throw BadJson{std::string{what} + " holds what is no card, such as \"7D\""};
        cards.emplace_back(storage::viewOf(each));
    }
    return cards;
}

std::vector<rules::Hand> handsIn(Fields& fields)
{
    std::vector<rules::Hand> hands;
    for (const Json& each :
         listIn(fields.required("hands"), "\"hands\"", rules::kMaxSeats).GetArray()) {
        Fields hand{each};
        hands.push_back({hand.number("seat", 1, rules::kMaxSeats),
                         cardsIn(hand.required("cards"), "\"cards\"")});
        hand.finish();
    }
    return hands;
}

rules::BonusAmounts bonusIn(const Json& json)
{
    Fields fields{json};
    rules::BonusAmounts bonus;
    if (fields.optional("royal_flush")) bonus.royalFlush = fields.money("royal_flush");
    if (fields.optional("straight_flush")) bonus.straightFlush = fields.money("straight_flush");
    fields.finish();
    return bonus;
}

}  // namespace

Result<RulingBody> readRuling(std::string_view body)
{
    return readBody(body, [](Fields& fields) {
        return RulingBody{orderIn(fields.required("order")), fields.text("reason", kMaxReasonBytes),
                          fields.text("token", kMaxNameBytes)};
    });
}

Result<RulingOrder> readRulingOrder(std::string_view body)
{
    return readBody(body, [](Fields& fields) { return orderIn(fields.required("order")); });
}

Result<PaymentBody> readPayment(std::string_view body)
{
    return readBody(body, [](Fields& fields) {
        PaymentBody read{fields.number("seat", 1, rules::kMaxSeats), fields.tier(),
                         fields.money("paid"), fields.text("how", kMaxReasonBytes)};
        if (read.paid.isNegative()) throw BadJson{"\"paid\" is negative"};
        return read;
    });
}

Result<WithholdBody> readWithhold(std::string_view body)
{
    return readBody(body, [](Fields& fields) {
        return WithholdBody{fields.number("seat", 1, rules::kMaxSeats), fields.tier(),
                            fields.text("reason", kMaxReasonBytes)};
    });
}

Result<std::string> readReason(std::string_view body)
{
    return readBody(body, [](Fields& fields) { return fields.text("reason", kMaxReasonBytes); });
}

Result<std::string> readRemark(std::string_view body)
{
    if (body.empty()) return std::string{};
    return readBody(body, [](Fields& fields) {
        return fields.optional("reason") ? fields.text("reason", kMaxReasonBytes) : std::string{};
    });
}

Result<CorrectionBody> readCorrection(std::string_view body)
{
    return readBody(body, [](Fields& fields) {
        return CorrectionBody{cardsIn(fields.required("board"), "\"board\""), handsIn(fields)};
    });
}

Result<rules::OpenRound> readOpenRound(std::string_view body)
{
    return readBody(body, [](Fields& fields) {
        rules::OpenRound read{{}, fields.number("round", 1, kMaxRound), {}};
        for (const Json& each :
             listIn(fields.required("wagers"), "\"wagers\"", rules::kMaxSeats).GetArray()) {
            Fields wager{each};
            read.wagers.push_back({wager.number("seat", 1, rules::kMaxSeats), true, {}, {}});
            if (wager.optional("player_card"))
                read.wagers.back().playerCard = wager.text("player_card", kMaxNameBytes);
            wager.finish();
        }
        return read;
    });
}

Result<rules::ReportResult> readReportResult(std::string_view body)
{
    return readBody(body, [](Fields& fields) {
        return rules::ReportResult{{},
                                   fields.number("round", 1, kMaxRound),
                                   cardsIn(fields.required("board"), "\"board\""),
                                   handsIn(fields)};
    });
}

Result<rules::ConfirmJackpot> readConfirmation(std::string_view body)
{
    constexpr std::int64_t kDayMs = 24LL * 60 * 60 * 1000;
    return readBody(body, [](Fields& fields) {
        return rules::ConfirmJackpot{
            {}, fields.number("round", 1, kMaxRound), fields.number("age_ms", 0, kDayMs)};
    });
}

Result<rules::VoidRound> readVoidRound(std::string_view body)
{
    constexpr std::size_t kMaxBytes = 256;  // of a text on the link
    return readBody(body, [](Fields& fields) {
        return rules::VoidRound{
            {}, fields.number("round", 1, kMaxRound), fields.text("reason", kMaxBytes), {}};
    });
}

Result<AdjustmentBody> readAdjustment(std::string_view body)
{
    return readBody(body, [](Fields& fields) {
        AdjustmentBody read{fields.money("amount"), fields.text("reason", kMaxReasonBytes)};
        if (read.amount == rules::Money{}) throw BadJson{"\"amount\" changes nothing"};
        return read;
    });
}

rules::PoolParameters ParametersBody::appliedTo(rules::PoolParameters present) const
{
    if (increment) present.increment = *increment;
    if (reserveIncrement) present.reserveIncrement = *reserveIncrement;
    if (minimum) present.minimum = *minimum;
    if (cap) present.cap = *cap;
    if (payoutUnit) present.payoutUnit = *payoutUnit;
    if (simultaneityWindowMs) present.simultaneityWindowMs = *simultaneityWindowMs;
    if (bonus) present.bonus = *bonus;
    return present;
}

Result<ParametersBody> readParametersBody(std::string_view body)
{
    return readBody(body, [](Fields& fields) {
        ParametersBody read;
        if (fields.optional("increment")) read.increment = fields.rate("increment");
        if (fields.optional("reserve_increment"))
            read.reserveIncrement = fields.rate("reserve_increment");
        if (fields.optional("minimum")) read.minimum = fields.money("minimum");
        if (const Json* cap = fields.optional("cap"))
            read.cap = cap->IsNull() ? std::nullopt : std::optional{fields.money("cap")};
        if (fields.optional("payout_unit")) read.payoutUnit = fields.money("payout_unit");
        if (fields.optional("simultaneity_window_ms"))
            read.simultaneityWindowMs = fields.number("simultaneity_window_ms", 0, INT64_MAX);
        if (const Json* bonus = fields.optional("bonus"))
            read.bonus = bonus->IsNull() ? std::nullopt : std::optional{bonusIn(*bonus)};
        read.reason = fields.text("reason", kMaxReasonBytes);
        return read;
    });
}

Result<RestoreBody> readRestore(std::string_view body)
{
    return readBody(body, [](Fields& fields) {
        RestoreBody restore;
        restore.size = fields.number("size", 1, std::numeric_limits<std::int64_t>::max());
        restore.root = fields.text("root", kMaxNameBytes);
        restore.reason = fields.text("reason", kMaxReasonBytes);
        return restore;
    });
}

Result<std::string> readApproval(std::string_view body)
{
    return readBody(body, [](Fields& fields) {
        std::string hash = fields.text("sha256", kMaxNameBytes);
        if (hash.size() != 64 || hash.find_first_not_of("0123456789abcdef") != std::string::npos)
            throw BadJson{"\"sha256\" is not 64 hex digits"};
        return hash;
    });
}

}  // namespace jackpot::console
