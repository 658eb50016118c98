#include "console/desk/desk_requests.h"

#include <limits>

#include "storage/json_object_reader.h"

namespace jackpot::console {
namespace {

using storage::BadJson;
using storage::checkedList;
using storage::Json;
using storage::JsonObjectReader;
using storage::readJsonObject;

constexpr std::size_t kMaxShortTextBytes = 100;  // ids, tokens, amounts
constexpr std::size_t kMaxCards = 5;
constexpr std::int64_t kMaxRound = (1LL << 53) - 2;  // JavaScript can still count to the next one

template <class T>
T valueOrThrow(std::string_view key, Result<T> parsed)
{
    if (!parsed) throw BadJson{"\"" + std::string{key} + "\": " + parsed.error().message};
    return *std::move(parsed);
}

rules::Money moneyField(JsonObjectReader& fields, std::string_view key)
{
    return valueOrThrow(key, rules::parseMoney(fields.visibleText(key, kMaxShortTextBytes)));
}

rules::Rate rateField(JsonObjectReader& fields, std::string_view key)
{
    return valueOrThrow(key, rules::parseRate(fields.visibleText(key, kMaxShortTextBytes)));
}

rules::Tier tierField(JsonObjectReader& fields)
{
    const auto tier = rules::tierOfId(fields.visibleText("tier", kMaxShortTextBytes));
    if (!tier || *tier == rules::Tier::None) throw BadJson{"\"tier\" is unknown"};
    return *tier;
}

RulingOrder readOrder(const Json& json)
{
    RulingOrder order;
    std::size_t rounds = 0;
    for (const Json& group : checkedList(json, "\"order\"", kMaxRuledRounds).GetArray()) {
        order.emplace_back();
        for (const Json& each :
             checkedList(group, "a group of \"order\"", kMaxRuledRounds).GetArray()) {
            if (++rounds > kMaxRuledRounds) throw BadJson{"\"order\" names too many rounds"};
            JsonObjectReader fields{each};
            order.back().push_back({fields.visibleText("table", kMaxShortTextBytes),
                                    fields.number("round", 0, INT64_MAX)});
            fields.finish();
        }
        if (order.back().empty()) throw BadJson{"a group of \"order\" is empty"};
    }
    if (order.empty()) throw BadJson{"\"order\" is empty"};
    return order;
}

std::vector<std::string> readCards(const Json& json, std::string_view what)
{
    std::vector<std::string> cards;
    for (const Json& each : checkedList(json, what, kMaxCards).GetArray()) {
        if (!each.IsString() || !rules::parseCard(storage::viewOf(each)))
            throw BadJson{std::string{what} +
                          " contains a value that is not a card such as \"7D\""};
        cards.emplace_back(storage::viewOf(each));
    }
    return cards;
}

std::vector<rules::Hand> readHands(JsonObjectReader& fields)
{
    std::vector<rules::Hand> hands;
    for (const Json& each :
         checkedList(fields.required("hands"), "\"hands\"", rules::kMaxSeats).GetArray()) {
        JsonObjectReader hand{each};
        hands.push_back({hand.number("seat", 1, rules::kMaxSeats),
                         readCards(hand.required("cards"), "\"cards\"")});
        hand.finish();
    }
    return hands;
}

rules::BonusAmounts readBonus(const Json& json)
{
    JsonObjectReader fields{json};
    rules::BonusAmounts bonus;
    if (fields.has("royal_flush")) bonus.royalFlush = moneyField(fields, "royal_flush");
    if (fields.has("straight_flush")) bonus.straightFlush = moneyField(fields, "straight_flush");
    fields.finish();
    return bonus;
}

}  // namespace

Result<RulingRequest> readRuling(std::string_view body)
{
    return readJsonObject(body, [](JsonObjectReader& fields) {
        return RulingRequest{readOrder(fields.required("order")),
                             fields.visibleText("reason", kMaxReasonBytes),
                             fields.visibleText("token", kMaxShortTextBytes)};
    });
}

Result<RulingOrder> readRulingOrder(std::string_view body)
{
    return readJsonObject(
        body, [](JsonObjectReader& fields) { return readOrder(fields.required("order")); });
}

Result<PaymentRequest> readPayment(std::string_view body)
{
    return readJsonObject(body, [](JsonObjectReader& fields) {
        PaymentRequest read{fields.number("seat", 1, rules::kMaxSeats), tierField(fields),
                            moneyField(fields, "paid"), fields.visibleText("how", kMaxReasonBytes)};
        if (read.paid.isNegative()) throw BadJson{"\"paid\" is negative"};
        return read;
    });
}

Result<WithholdRequest> readWithhold(std::string_view body)
{
    return readJsonObject(body, [](JsonObjectReader& fields) {
        return WithholdRequest{fields.number("seat", 1, rules::kMaxSeats), tierField(fields),
                               fields.visibleText("reason", kMaxReasonBytes)};
    });
}

Result<std::string> readReason(std::string_view body)
{
    return readJsonObject(body, [](JsonObjectReader& fields) {
        return fields.visibleText("reason", kMaxReasonBytes);
    });
}

Result<std::string> readRemark(std::string_view body)
{
    if (body.empty()) return std::string{};
    return readJsonObject(body, [](JsonObjectReader& fields) {
        return fields.has("reason") ? fields.visibleText("reason", kMaxReasonBytes) : std::string{};
    });
}

Result<CorrectionRequest> readCorrection(std::string_view body)
{
    return readJsonObject(body, [](JsonObjectReader& fields) {
        return CorrectionRequest{readCards(fields.required("board"), "\"board\""),
                                 readHands(fields)};
    });
}

Result<rules::OpenRound> readOpenRound(std::string_view body)
{
    return readJsonObject(body, [](JsonObjectReader& fields) {
        rules::OpenRound read{{}, fields.number("round", 1, kMaxRound), {}};
        for (const Json& each :
             checkedList(fields.required("wagers"), "\"wagers\"", rules::kMaxSeats).GetArray()) {
            JsonObjectReader wager{each};
            read.wagers.push_back({wager.number("seat", 1, rules::kMaxSeats), true, {}, {}});
            if (wager.has("player_card"))
                read.wagers.back().playerCard =
                    wager.visibleText("player_card", kMaxShortTextBytes);
            wager.finish();
        }
        return read;
    });
}

Result<rules::ReportResult> readReportResult(std::string_view body)
{
    return readJsonObject(body, [](JsonObjectReader& fields) {
        return rules::ReportResult{{},
                                   fields.number("round", 1, kMaxRound),
                                   readCards(fields.required("board"), "\"board\""),
                                   readHands(fields)};
    });
}

Result<rules::ConfirmJackpot> readConfirmation(std::string_view body)
{
    constexpr std::int64_t kDayMs = 24LL * 60 * 60 * 1000;
    return readJsonObject(body, [](JsonObjectReader& fields) {
        return rules::ConfirmJackpot{
            {}, fields.number("round", 1, kMaxRound), fields.number("age_ms", 0, kDayMs)};
    });
}

Result<rules::VoidRound> readVoidRound(std::string_view body)
{
    constexpr std::size_t kMaxBytes = 256;  // of a text on the link
    return readJsonObject(body, [](JsonObjectReader& fields) {
        return rules::VoidRound{
            {}, fields.number("round", 1, kMaxRound), fields.visibleText("reason", kMaxBytes), {}};
    });
}

Result<AdjustmentRequest> readAdjustment(std::string_view body)
{
    return readJsonObject(body, [](JsonObjectReader& fields) {
        AdjustmentRequest read{moneyField(fields, "amount"),
                               fields.visibleText("reason", kMaxReasonBytes)};
        if (read.amount == rules::Money{}) throw BadJson{"\"amount\" changes nothing"};
        return read;
    });
}

rules::PoolParameters ParametersRequest::appliedTo(rules::PoolParameters present) const
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

Result<ParametersRequest> readParameters(std::string_view body)
{
    return readJsonObject(body, [](JsonObjectReader& fields) {
        ParametersRequest read;
        if (fields.has("increment")) read.increment = rateField(fields, "increment");
        if (fields.has("reserve_increment"))
            read.reserveIncrement = rateField(fields, "reserve_increment");
        if (fields.has("minimum")) read.minimum = moneyField(fields, "minimum");
        if (const Json* cap = fields.optional("cap"))
            read.cap = cap->IsNull() ? std::nullopt : std::optional{moneyField(fields, "cap")};
        if (fields.has("payout_unit")) read.payoutUnit = moneyField(fields, "payout_unit");
        if (fields.has("simultaneity_window_ms"))
            read.simultaneityWindowMs = fields.number("simultaneity_window_ms", 0, INT64_MAX);
        if (const Json* bonus = fields.optional("bonus"))
            read.bonus = bonus->IsNull() ? std::nullopt : std::optional{readBonus(*bonus)};
        read.reason = fields.visibleText("reason", kMaxReasonBytes);
        return read;
    });
}

Result<RestoreRequest> readRestore(std::string_view body)
{
    return readJsonObject(body, [](JsonObjectReader& fields) {
        RestoreRequest restore;
        restore.size = fields.number("size", 1, std::numeric_limits<std::int64_t>::max());
        restore.root = fields.visibleText("root", kMaxShortTextBytes);
        restore.reason = fields.visibleText("reason", kMaxReasonBytes);
        return restore;
    });
}

Result<std::string> readApproval(std::string_view body)
{
    return readJsonObject(body, [](JsonObjectReader& fields) {
        std::string hash = fields.visibleText("sha256", kMaxShortTextBytes);
        if (hash.size() != 64 || hash.find_first_not_of("0123456789abcdef") != std::string::npos)
            throw BadJson{"\"sha256\" is not 64 hex digits"};
        return hash;
    });
}

}  // namespace jackpot::console
