#include "storage/command_json.h"

#include <array>
#include <optional>

#include "storage/json_read.h"

namespace jackpot::storage {
namespace {

using namespace rules;

void writeOptional(JsonText& json, std::string_view key, const std::string& value)
{
    if (!value.empty()) json.textField(key, value);
}

void writeTexts(JsonText& json, std::string_view key, const std::vector<std::string>& texts)
{
    json.key(key);
    json.beginArray();
    for (const std::string& each : texts) json.text(each);
    json.endArray();
}

void writeNumbers(JsonText& json, std::string_view key, const std::vector<std::int64_t>& numbers)
{
    json.key(key);
    json.beginArray();
    for (const std::int64_t each : numbers) json.number(each);
    json.endArray();
}

void writeTierAmounts(JsonText& json, std::string_view key,
                      const std::optional<TierAmounts>& amounts)
{
    if (!amounts) return;
    json.key(key);
    json.beginObject();
    if (amounts->royalFlush) json.moneyField("royal_flush", *amounts->royalFlush);
    if (amounts->straightFlush) json.moneyField("straight_flush", *amounts->straightFlush);
    json.endObject();
}

void writeParameterFields(JsonText& json, const PoolParameters& pool,
                          const std::optional<Money>& opening)
{
    json.textField("increment", toText(pool.increment));
    json.textField("reserve_increment", toText(pool.reserveIncrement));
    json.moneyField("minimum", pool.minimum);
    if (opening) json.moneyField("opening", *opening);
    if (pool.cap) json.moneyField("cap", *pool.cap);
    json.moneyField("payout_unit", pool.payoutUnit);
    if (pool.simultaneityWindowMs)
        json.numberField("simultaneity_window_ms", *pool.simultaneityWindowMs);
    if (pool.settleAfterMs) json.numberField("settle_after_ms", *pool.settleAfterMs);
    writeTierAmounts(json, "bonus", pool.bonus);
    writeTierAmounts(json, "guarantee", pool.guarantee);
}

void writePool(JsonText& json, const PoolConfig& pool)
{
    json.beginObject();
    json.textField("id", pool.id);
    json.textField("game", idOf(pool.game));
    json.moneyField("wager", pool.wager);
    writeParameterFields(json, pool, pool.opening);
    json.endObject();
}

// Of a refused configuration too, so a rate above 1 is read like any other; it is read as money is,
// padded to eight decimals for moneyIn().
Rate rateAt(const Json& object, std::string_view key)
{
    std::string digits{textAt(object, key)};
    const auto point = digits.find('.');
    const std::size_t decimals = point == std::string::npos ? 0 : digits.size() - point - 1;
    if (decimals > 6) throw BadJson{"\"" + std::string{key} + "\" is not a rate"};
    if (point == std::string::npos) digits += '.';
    digits.append(8 - decimals, '0');
    return Rate::ofPartsPerMillion(moneyIn(digits).units() / 100);
}

std::optional<Money> optionalMoney(const Json& object, std::string_view key)
{
    if (!find(object, key)) return std::nullopt;
    return moneyAt(object, key);
}

std::optional<std::int64_t> optionalNumber(const Json& object, std::string_view key)
{
    if (!find(object, key)) return std::nullopt;
    return numberAt(object, key);
}

std::optional<TierAmounts> optionalTierAmounts(const Json& object, std::string_view key)
{
    const Json* const amounts = find(object, key);
    if (!amounts) return std::nullopt;
    return TierAmounts{optionalMoney(*amounts, "royal_flush"),
                       optionalMoney(*amounts, "straight_flush")};
}

PoolConfig readPool(const Json& json)
{
    PoolConfig pool;
    pool.id = textAt(json, "id");
    const auto game = gameOfId(textAt(json, "game"));
    if (!game) throw BadJson{"\"game\" is unknown"};
    pool.game = *game;
    pool.wager = moneyAt(json, "wager");
    pool.opening = optionalMoney(json, "opening");
    static_cast<PoolParameters&>(pool) = readParameters(json);
    return pool;
}

void writeTable(JsonText& json, const TableConfig& table)
{
    json.beginObject();
    json.textField("id", table.id);
    json.textField("pool", table.pool);
    json.numberField("seats", table.seats);
    json.boolField("require_player_card", table.requirePlayerCard);
    if (table.wager) json.moneyField("wager", *table.wager);
    if (table.decks) json.numberField("decks", *table.decks);
    json.boolField("shuffling_device", table.shufflingDevice);
    json.endObject();
}

TableConfig readTable(const Json& json)
{
    TableConfig table;
    table.id = textAt(json, "id");
    table.pool = textAt(json, "pool");
    table.seats = numberAt(json, "seats");
    table.requirePlayerCard = flagAt(json, "require_player_card");
    table.wager = optionalMoney(json, "wager");
    table.decks = optionalNumber(json, "decks");
    table.shufflingDevice = flagAt(json, "shuffling_device");
    return table;
}

Site siteIn(const Json& json)
{
    Site site;
    for (const Json& each : arrayAt(json, "pools").GetArray()) site.pools.push_back(readPool(each));
    for (const Json& each : arrayAt(json, "tables").GetArray())
        site.tables.push_back(readTable(each));
    return site;
}

void writeRound(JsonText& json, const std::string& table, std::int64_t round)
{
    json.textField("table", table);
    json.numberField("round", round);
}

// A payment where there is no award has no tier.
void writeAwardRef(JsonText& json, const AwardRef& award, bool hasTier = true)
{
    writeRound(json, award.table, award.round);
    json.numberField("seat", award.seat);
    if (hasTier) json.textField("tier", idOf(award.tier));
}

AwardRef readAwardRef(const Json& json, bool hasTier = true)
{
    const auto tier = hasTier ? tierOfId(textAt(json, "tier")) : std::nullopt;
    return {std::string{textAt(json, "table")}, numberAt(json, "round"), numberAt(json, "seat"),
            tier.value_or(Tier::None)};
}

// What each kind of command holds; read() is the reverse of write().
struct Write {
    JsonText& json;

    void operator()(const ConfigureSite& c) const
    {
        json.key("site");
        writeSite(json, c.site);
    }
    void operator()(const OpenRound& c) const
    {
        writeRound(json, c.table, c.round);
        json.key("wagers");
        json.beginArray();
        for (const Wager& wager : c.wagers) {
            json.beginObject();
            json.numberField("seat", wager.seat);
            if (!wager.baseWager) json.boolField("no_base_wager", true);
            writeOptional(json, "player_card", wager.playerCard);
            writeOptional(json, "approved_by", wager.approvedBy);
            json.endObject();
        }
        json.endArray();
    }
    void operator()(const ReportResult& c) const
    {
        writeRound(json, c.table, c.round);
        writeTexts(json, "board", c.board);
        json.key("hands");
        json.beginArray();
        for (const Hand& hand : c.hands) {
            json.beginObject();
            json.numberField("seat", hand.seat);
            writeTexts(json, "cards", hand.cards);
            json.endObject();
        }
        json.endArray();
    }
    void operator()(const CorrectResult& c) const
    {
        (*this)(c.result);
        writeTexts(json, "by", c.by);
    }
    void operator()(const ConfirmJackpot& c) const
    {
        writeRound(json, c.table, c.round);
        json.numberField("pressed_ago_ms", c.pressedAgoMs);
    }
    void operator()(const RuleOnClaims& c) const
    {
        json.textField("pool", c.pool);
        json.key("order");
        json.beginArray();
        for (const auto& group : c.order) {
            json.beginArray();
            for (const RoundRef& ref : group) {
                json.beginObject();
                writeRound(json, ref.table, ref.round);
                json.endObject();
            }
            json.endArray();
        }
        json.endArray();
        writeTexts(json, "by", c.by);
    }
    void operator()(const AdjustPool& c) const
    {
        json.textField("pool", c.pool);
        json.moneyField("amount", c.amount);
        json.textField("reason", c.reason);
        writeTexts(json, "by", c.by);
    }
    void operator()(const ChangePool& c) const
    {
        json.textField("pool", c.pool);
        json.key("to");
        writeParameters(json, c.to);
        json.textField("reason", c.reason);
        writeTexts(json, "by", c.by);
    }
    void operator()(const RecordPayment& c) const
    {
        writeAwardRef(json, c.award, !c.withoutAward);
        json.moneyField("paid", c.paid);
        json.textField("how", c.how);
        writeTexts(json, "by", c.by);
    }
    // What is left names an award, a table or a pool, perhaps a round and a seat, the ground, where
    // it was done, a reason and people.
    void operator()(const auto& c) const
    {
        if constexpr (requires { c.award; }) writeAwardRef(json, c.award);
        if constexpr (requires { c.table; }) json.textField("table", c.table);
        if constexpr (requires { c.pool; }) json.textField("pool", c.pool);
        if constexpr (requires { c.round; }) json.numberField("round", c.round);
        if constexpr (requires { c.seat; }) json.numberField("seat", c.seat);
        if constexpr (requires { c.ground; }) json.textField("ground", idOf(c.ground));
        if constexpr (requires { c.forfeited; }) writeNumbers(json, "forfeited", c.forfeited);
        if constexpr (requires { c.from; }) json.textField("from", idOf(c.from));
        if constexpr (requires { c.reason; }) json.textField("reason", c.reason);
        if constexpr (requires { c.by; }) writeTexts(json, "by", c.by);
    }
};

void readEnum(const Json& json, std::string_view key, auto&& ofId, auto& into)
{
    const auto value = ofId(textAt(json, key));
    if (!value) throw BadJson{"\"" + std::string{key} + "\" is unknown"};
    into = *value;
}

void readGround(const Json& json, VoidRoundGround& ground)
{
    readEnum(json, "ground", voidRoundGroundOfId, ground);
}
void readGround(const Json& json, VoidWagerGround& ground)
{
    readEnum(json, "ground", voidWagerGroundOfId, ground);
}
void readGround(const Json& json, SuspensionGround& ground)
{
    readEnum(json, "ground", suspensionGroundOfId, ground);
}

template <class T>
T read(const Json& json)
{
    T c;
    if constexpr (requires { c.award; }) c.award = readAwardRef(json);
    if constexpr (requires { c.table; }) c.table = textAt(json, "table");
    if constexpr (requires { c.pool; }) c.pool = textAt(json, "pool");
    if constexpr (requires { c.round; }) c.round = numberAt(json, "round");
    if constexpr (requires { c.seat; }) c.seat = numberAt(json, "seat");
    if constexpr (requires { c.ground; }) readGround(json, c.ground);
    if constexpr (requires { c.forfeited; }) c.forfeited = numbersAt(json, "forfeited");
    if constexpr (requires { c.from; }) readEnum(json, "from", originOfId, c.from);
    if constexpr (requires { c.reason; }) c.reason = textAt(json, "reason");
    if constexpr (requires { c.by; }) c.by = textsAt(json, "by");
    return c;
}

template <>
ConfigureSite read(const Json& json)
{
    return {siteIn(at(json, "site"))};
}

template <>
OpenRound read(const Json& json)
{
    OpenRound c{std::string{textAt(json, "table")}, numberAt(json, "round"), {}};
    const auto& wagers = arrayAt(json, "wagers");
    c.wagers.reserve(wagers.Size());
    for (const Json& each : wagers.GetArray())
        c.wagers.push_back({numberAt(each, "seat"), !flagAt(each, "no_base_wager"),
                            textOr(each, "player_card"), textOr(each, "approved_by")});
    return c;
}

template <>
ReportResult read(const Json& json)
{
    ReportResult c{
        std::string{textAt(json, "table")}, numberAt(json, "round"), textsAt(json, "board"), {}};
    for (const Json& each : arrayAt(json, "hands").GetArray())
        c.hands.push_back({numberAt(each, "seat"), textsAt(each, "cards")});
    return c;
}

template <>
CorrectResult read(const Json& json)
{
    return {read<ReportResult>(json), textsAt(json, "by")};
}

template <>
ConfirmJackpot read(const Json& json)
{
    return {std::string{textAt(json, "table")}, numberAt(json, "round"),
            numberAt(json, "pressed_ago_ms")};
}

template <>
RuleOnClaims read(const Json& json)
{
    RuleOnClaims c{std::string{textAt(json, "pool")}, {}, textsAt(json, "by")};
    for (const Json& group : arrayAt(json, "order").GetArray()) {
        if (!group.IsArray()) throw BadJson{"a group is not a list"};
        auto& rounds = c.order.emplace_back();
        for (const Json& each : group.GetArray())
            rounds.push_back({std::string{textAt(each, "table")}, numberAt(each, "round")});
    }
    return c;
}

template <>
AdjustPool read(const Json& json)
{
    return {std::string{textAt(json, "pool")}, moneyAt(json, "amount"),
            std::string{textAt(json, "reason")}, textsAt(json, "by")};
}

template <>
ChangePool read(const Json& json)
{
    return {std::string{textAt(json, "pool")}, readParameters(at(json, "to")),
            std::string{textAt(json, "reason")}, textsAt(json, "by")};
}

template <>
RecordPayment read(const Json& json)
{
    const bool withoutAward = find(json, "tier") == nullptr;
    return {readAwardRef(json, !withoutAward), withoutAward, moneyAt(json, "paid"),
            std::string{textAt(json, "how")}, textsAt(json, "by")};
}

using Reader = Command (*)(const Json&);

template <std::size_t... I>
constexpr std::array<Reader, sizeof...(I)> makeReaders(std::index_sequence<I...>)
{
    return {[](const Json& json) -> Command {
        return read<std::variant_alternative_t<I, Command>>(json);
    }...};
}

constexpr auto kReaders = makeReaders(std::make_index_sequence<std::variant_size_v<Command>>{});

}  // namespace

Money moneyIn(std::string_view text)
{
    const bool negative = text.starts_with('-');
    const std::string_view digits = negative ? text.substr(1) : text;
    const auto point = digits.find('.');
    if (point == std::string_view::npos || point == 0 || digits.size() - point != 9)
        throw BadJson{"\"" + std::string{text} + "\" is not an amount with eight decimals"};
    std::int64_t units = 0;
    for (const char c : digits) {
        if (c == '.') continue;
        // Downwards, so that the least of all amounts can be read.
        if (c < '0' || c > '9' || __builtin_mul_overflow(units, 10, &units) ||
            __builtin_sub_overflow(units, c - '0', &units))
            throw BadJson{"\"" + std::string{text} + "\" is not an amount that fits"};
    }
    if (!negative && __builtin_sub_overflow(std::int64_t{0}, units, &units))
        throw BadJson{"\"" + std::string{text} + "\" is not an amount that fits"};
    return Money::ofUnits(units);
}

void writeCommand(JsonText& json, const Command& command)
{
    json.beginObject();
    std::visit(Write{json}, command);
    json.endObject();
}

Result<Command> readCommand(std::string_view kind, const Json& json)
{
    const auto index = commandOfKind(kind);
    if (!index) return Error{"\"" + std::string{kind} + "\" is not a kind of command"};
    try {
        return kReaders.at(*index)(json);
    } catch (const BadJson& error) {
        return Error{"the command cannot be read: " + std::string{error.what()}};
    }
}

bool isCommandKind(std::string_view kind) { return commandOfKind(kind).has_value(); }

void writeParameters(JsonText& json, const PoolParameters& parameters)
{
    json.beginObject();
    writeParameterFields(json, parameters, std::nullopt);
    json.endObject();
}

PoolParameters readParameters(const Json& json)
{
    PoolParameters parameters;
    parameters.increment = rateAt(json, "increment");
    parameters.reserveIncrement = rateAt(json, "reserve_increment");
    parameters.minimum = moneyAt(json, "minimum");
    parameters.cap = optionalMoney(json, "cap");
    parameters.payoutUnit = moneyAt(json, "payout_unit");
    parameters.simultaneityWindowMs = optionalNumber(json, "simultaneity_window_ms");
    parameters.settleAfterMs = optionalNumber(json, "settle_after_ms");
    parameters.bonus = optionalTierAmounts(json, "bonus");
    parameters.guarantee = optionalTierAmounts(json, "guarantee");
    return parameters;
}

void writeSite(JsonText& json, const Site& site)
{
    json.beginObject();
    json.key("pools");
    json.beginArray();
    for (const PoolConfig& pool : site.pools) writePool(json, pool);
    json.endArray();
    json.key("tables");
    json.beginArray();
    for (const TableConfig& table : site.tables) writeTable(json, table);
    json.endArray();
    json.endObject();
}

Result<Site> readSite(const Json& json)
{
    try {
        return siteIn(json);
    } catch (const BadJson& error) {
        return Error{"the site cannot be read: " + std::string{error.what()}};
    }
}

}  // namespace jackpot::storage
