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
using rules::kMaxRound;

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

// The ground with its id in the field "ground".
template <class Ground>
Ground groundField(JsonObjectReader& fields, std::optional<Ground> (*groundOfId)(std::string_view))
{
    const auto ground = groundOfId(fields.visibleText("ground", kMaxShortTextBytes));
    if (!ground) throw BadJson{"\"ground\" is not one of the grounds for this"};
    return *ground;
}

std::string optionalReason(JsonObjectReader& fields, std::size_t maxBytes = kMaxReasonBytes)
{
    return fields.has("reason") ? fields.visibleText("reason", maxBytes) : std::string{};
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

// Null removes the amounts; without the key they stay.
std::optional<std::optional<rules::TierAmounts>> tierAmountsField(JsonObjectReader& object,
                                                                  std::string_view key)
{
    const Json* const json = object.optional(key);
    if (!json) return std::nullopt;
    std::optional<rules::TierAmounts> amounts;
    if (json->IsNull()) return amounts;
    JsonObjectReader fields{*json};
    amounts.emplace();
    if (fields.has("royal_flush")) amounts->royalFlush = moneyField(fields, "royal_flush");
    if (fields.has("straight_flush")) amounts->straightFlush = moneyField(fields, "straight_flush");
    fields.finish();
    return amounts;
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
        const std::string id = fields.visibleText("tier", kMaxShortTextBytes);
        const auto tier = id == idOf(rules::Tier::None) ? rules::Tier::None : rules::tierOfId(id);
        if (!tier) throw BadJson{"\"tier\" is unknown; it is \"none\" where there is no award"};
        return PaymentRequest{fields.number("seat", 1, rules::kMaxSeats), *tier,
                              moneyField(fields, "paid"),
                              fields.visibleText("how", kMaxReasonBytes)};
    });
}

Result<WithholdRequest> readWithhold(std::string_view body)
{
    return readJsonObject(body, [](JsonObjectReader& fields) {
        return WithholdRequest{fields.number("seat", 1, rules::kMaxSeats), tierField(fields),
                               fields.visibleText("reason", kMaxReasonBytes)};
    });
}

Result<VoidRoundRequest> readVoidRound(std::string_view body)
{
    return readJsonObject(body, [](JsonObjectReader& fields) {
        VoidRoundRequest read{
            groundField(fields, rules::voidRoundGroundOfId), {}, optionalReason(fields)};
        const Json* const forfeited = fields.optional("forfeited");
        if (!forfeited) return read;
        if (read.ground != rules::VoidRoundGround::Invalidated)
            throw BadJson{"\"forfeited\" is only for the ground \"invalidated\""};
        for (const Json& each :
             checkedList(*forfeited, "\"forfeited\"", rules::kMaxSeats).GetArray()) {
            if (!each.IsInt64() || each.GetInt64() < 1 || each.GetInt64() > rules::kMaxSeats)
                throw BadJson{"\"forfeited\" contains a value that is not a seat"};
            read.forfeited.push_back(each.GetInt64());
        }
        return read;
    });
}

Result<VoidWagerRequest> readVoidWager(std::string_view body)
{
    return readJsonObject(body, [](JsonObjectReader& fields) {
        return VoidWagerRequest{groundField(fields, rules::voidWagerGroundOfId),
                                optionalReason(fields)};
    });
}

Result<SuspensionRequest> readSuspension(std::string_view body)
{
    return readJsonObject(body, [](JsonObjectReader& fields) {
        return SuspensionRequest{groundField(fields, rules::suspensionGroundOfId),
                                 optionalReason(fields)};
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
    return readJsonObject(body, [](JsonObjectReader& fields) { return optionalReason(fields); });
}

Result<CorrectionRequest> readCorrection(std::string_view body)
{
    return readJsonObject(body, [](JsonObjectReader& fields) {
        return CorrectionRequest{readCards(fields.required("board"), "\"board\""),
                                 readHands(fields), fields.visibleText("reason", kMaxReasonBytes)};
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

Result<rules::CorrectResult> readDealerCorrection(std::string_view body)
{
    auto result = readReportResult(body);
    if (!result) return result.error();
    return rules::CorrectResult{std::move(*result), {}};
}

Result<rules::CloseRound> readCloseRound(std::string_view body)
{
    return readJsonObject(body, [](JsonObjectReader& fields) {
        return rules::CloseRound{{}, fields.number("round", 1, kMaxRound)};
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

Result<rules::VoidRound> readDealerVoid(std::string_view body)
{
    constexpr std::size_t kMaxBytes = 256;  // of a text on the link
    return readJsonObject(body, [](JsonObjectReader& fields) {
        rules::VoidRound read;
        read.round = fields.number("round", 1, kMaxRound);
        read.ground = groundField(fields, rules::voidRoundGroundOfId);
        read.reason = optionalReason(fields, kMaxBytes);
        if (read.ground == rules::VoidRoundGround::Invalidated)
            throw BadJson{"two people at the desk void a round as \"invalidated\""};
        return read;
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
    if (settleAfterMs) present.settleAfterMs = *settleAfterMs;
    if (bonus) present.bonus = *bonus;
    if (guarantee) present.guarantee = *guarantee;
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
        if (fields.has("settle_after_ms"))
            read.settleAfterMs = fields.number("settle_after_ms", 0, INT64_MAX);
        read.bonus = tierAmountsField(fields, "bonus");
        read.guarantee = tierAmountsField(fields, "guarantee");
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
