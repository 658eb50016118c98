#include "storage/snapshot.h"

#include <array>

#include "storage/command_json.h"
#include "storage/json_read.h"

namespace jackpot::storage {
namespace {

using namespace rules;

template <class T, class ReadOne>
std::vector<T> readList(const Json& object, std::string_view key, ReadOne&& readOne)
{
    std::vector<T> list;
    for (const Json& each : arrayAt(object, key).GetArray()) list.push_back(readOne(each));
    return list;
}

template <class Enum>
Enum enumAt(const Json& json, std::string_view key, Enum last)
{
    const std::int64_t number = numberAt(json, key);
    if (number < 0 || number > static_cast<std::int64_t>(last))
        throw BadJson{"\"" + std::string{key} + "\" is unknown"};
    return static_cast<Enum>(number);
}

template <class Enum>
void enumField(JsonText& json, std::string_view key, Enum value)
{
    json.numberField(key, static_cast<std::int64_t>(value));
}

void writeDue(JsonText& json, const DueAward& due)
{
    json.numberField("round", due.round);
    json.numberField("seat", due.seat);
    json.textField("tier", idOf(due.tier));
    json.moneyField("amount", due.amount);
    enumField(json, "status", due.status);
}

int seatIn(const Json& json)
{
    const std::int64_t seat = numberAt(json, "seat");
    if (seat < 1 || seat > kMaxSeats) throw BadJson{"a seat is out of range"};
    return static_cast<int>(seat);
}

Tier tierIn(const Json& json)
{
    if (!find(json, "tier")) return Tier::None;
    const auto tier = tierOfId(textAt(json, "tier"));
    if (!tier) throw BadJson{"a tier is unknown"};
    return *tier;
}

DueAward readDue(const Json& json)
{
    return {numberAt(json, "round"), seatIn(json), tierIn(json), moneyAt(json, "amount"),
            enumAt(json, "status", DueAward::Status::Withheld)};
}

void writeRound(JsonText& json, const Round& round)
{
    json.boolField("opened", round.opened);
    json.numberField("number", round.number);
    json.boolField("result_in", round.resultIn);
    json.boolField("voided", round.voided);
    json.boolField("confirmed", round.confirmed);
    json.boolField("settled", round.settled);
    json.key("seats");
    json.beginArray();
    for (int i = 1; i <= kMaxSeats; ++i) {
        const Seat& seat = round.seat(i);
        if (seat == Seat{}) continue;
        json.beginObject();
        json.numberField("seat", i);
        json.boolField("wagered", seat.wagered);
        json.moneyField("to_meter", seat.toMeter);
        json.moneyField("to_reserve", seat.toReserve);
        if (seat.tier != Tier::None) json.textField("tier", idOf(seat.tier));
        json.boolField("claims", seat.claims);
        json.textField("player_card", seat.playerCard);
        json.endObject();
    }
    json.endArray();
    json.objectsField("due", round.due, [&](const DueAward& due) { writeDue(json, due); });
}

Round readRound(const Json& json)
{
    Round round;
    round.opened = flagAt(json, "opened");
    round.number = numberAt(json, "number");
    round.resultIn = flagAt(json, "result_in");
    round.voided = flagAt(json, "voided");
    round.confirmed = flagAt(json, "confirmed");
    round.settled = flagAt(json, "settled");
    for (const Json& each : arrayAt(json, "seats").GetArray())
        round.seat(seatIn(each)) = {flagAt(each, "wagered"),     moneyAt(each, "to_meter"),
                                    moneyAt(each, "to_reserve"), tierIn(each),
                                    flagAt(each, "claims"),      textOr(each, "player_card")};
    round.due = readList<DueAward>(json, "due", readDue);
    return round;
}

std::uint32_t tableIn(const Json& json, std::size_t tables)
{
    const std::int64_t table = numberAt(json, "table");
    if (table < 0 || table >= static_cast<std::int64_t>(tables))
        throw BadJson{"\"table\" is none of the site's"};
    return static_cast<std::uint32_t>(table);
}

void writeConfirmation(JsonText& json, const Confirmation& each)
{
    json.numberField("table", each.table);
    json.numberField("round", each.round);
    json.numberField("order", static_cast<std::int64_t>(each.order));
    json.numberField("arrived_ms", each.arrivedMs);
    json.numberField("pressed_ms", each.pressedMs);
    enumField(json, "hold", each.hold);
    json.moneyField("meter", each.meter);
    json.moneyField("since_sum", each.since.sum);
    json.moneyField("since_floor", each.since.floor);
}

Confirmation readConfirmation(const Json& json, std::size_t tables)
{
    return {tableIn(json, tables),
            numberAt(json, "round"),
            static_cast<std::uint64_t>(numberAt(json, "order")),
            numberAt(json, "arrived_ms"),
            numberAt(json, "pressed_ms"),
            enumAt(json, "hold", Hold::Offline),
            moneyAt(json, "meter"),
            {moneyAt(json, "since_sum"), moneyAt(json, "since_floor")}};
}

// One list for both ways, so that no total is written and not read.
struct NamedTotal {
    std::string_view name;
    Money Totals::*total;
};
constexpr std::array kTotals{
    NamedTotal{"seeded", &Totals::seeded},
    NamedTotal{"contributed", &Totals::contributed},
    NamedTotal{"returned", &Totals::returned},
    NamedTotal{"from_reserve", &Totals::fromReserve},
    NamedTotal{"paid_from_pool", &Totals::paidFromPool},
    NamedTotal{"paid_by_house", &Totals::paidByHouse},
    NamedTotal{"adjusted", &Totals::adjusted},
};

void writePool(JsonText& json, const Pool& pool)
{
    json.boolField("suspended", pool.suspended);
    json.moneyField("meter", pool.meter);
    json.moneyField("reserve", pool.reserve);
    for (const NamedTotal& each : kTotals) json.moneyField(each.name, pool.totals.*each.total);
    json.objectsField("confirmations", pool.confirmations,
                      [&](const Confirmation& each) { writeConfirmation(json, each); });
    if (pool.lastWin) {
        json.key("last_win");
        json.beginObject();
        json.moneyField("amount", pool.lastWin->amount);
        json.numberField("at_ms", pool.lastWin->atMs);
        json.textField("tier", idOf(pool.lastWin->tier));
        json.numberField("table", pool.lastWin->table);
        json.endObject();
    }
    if (!pool.next) return;
    json.key("next");
    writeParameters(json, *pool.next);
    json.boolField("next_is_due", pool.nextIsDue);
}

void readPool(const Json& json, Pool& pool, std::size_t tables)
{
    pool.suspended = flagAt(json, "suspended");
    pool.meter = moneyAt(json, "meter");
    pool.reserve = moneyAt(json, "reserve");
    for (const NamedTotal& each : kTotals) pool.totals.*each.total = moneyAt(json, each.name);
    pool.confirmations = readList<Confirmation>(json, "confirmations", [tables](const Json& each) {
        return readConfirmation(each, tables);
    });
    if (const Json* win = find(json, "last_win"))
        pool.lastWin = {moneyAt(*win, "amount"), numberAt(*win, "at_ms"), tierIn(*win),
                        tableIn(*win, tables)};
    const Json* next = find(json, "next");
    if (!next) return;
    pool.next = readParameters(*next);
    pool.nextIsDue = flagAt(json, "next_is_due");
}

void writeTable(JsonText& json, const Table& table)
{
    json.boolField("suspended", table.suspended);
    json.boolField("offline", table.offline);
    json.key("current");
    json.beginObject();
    writeRound(json, table.current);
    json.endObject();
    json.objectsField("waiting", table.waiting,
                      [&](const Round& round) { writeRound(json, round); });
    json.objectsField("jackpots_due", table.jackpotsDue,
                      [&](const DueAward& due) { writeDue(json, due); });
    json.numberField("wagers", static_cast<std::int64_t>(table.wagers));
    json.numberField("heard", static_cast<std::int64_t>(table.sequence.last()));
    json.key("heard_in");
    json.beginArray();
    if (table.sequence.last() > 0)
        for (const std::uint64_t record : table.sequence.records())
            json.number(static_cast<std::int64_t>(record));
    json.endArray();
}

void readTable(const Json& json, Table& table)
{
    table.suspended = flagAt(json, "suspended");
    table.offline = flagAt(json, "offline");
    table.current = readRound(at(json, "current"));
    table.waiting = readList<Round>(json, "waiting", readRound);
    table.jackpotsDue = readList<DueAward>(json, "jackpots_due", readDue);
    table.wagers = static_cast<std::uint64_t>(numberAt(json, "wagers"));
    const auto last = static_cast<std::uint64_t>(numberAt(json, "heard"));
    const Json& records = arrayAt(json, "heard_in");
    if (records.Size() != (last > 0 ? LinkSequence::kRecent : 0))
        throw BadJson{"\"heard_in\" has not as many records as it should"};
    LinkSequence::Records recent{};
    for (rapidjson::SizeType i = 0; i < records.Size(); ++i) {
        if (!records[i].IsInt64()) throw BadJson{"\"heard_in\" holds what is not a number"};
        recent.at(i) = static_cast<std::uint64_t>(records[i].GetInt64());
    }
    table.sequence = {last, recent};
}

}  // namespace

std::string writeState(const State& state)
{
    std::string out;
    JsonText json{out};
    json.beginObject();
    json.key("site");
    writeSite(json, siteOf(state));
    json.numberField("confirmations", static_cast<std::int64_t>(state.confirmations));
    json.objectsField("pools", state.pools, [&](const Pool& pool) { writePool(json, pool); });
    json.objectsField("tables", state.tables, [&](const Table& table) { writeTable(json, table); });
    json.endObject();
    return out;
}

Result<State> readState(std::string_view text)
{
    rapidjson::Document document;
    document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(
        text.data(), text.size());
    if (document.HasParseError()) return Error{"the snapshot is not well-formed JSON"};
    try {
        const auto site = readSite(at(document, "site"));
        if (!site) return site.error();
        if (!validate(*site).empty()) return Error{"the snapshot's site breaks a rule"};
        State state;
        state.configure(*site);
        state.confirmations = static_cast<std::uint64_t>(numberAt(document, "confirmations"));
        const Json& pools = arrayAt(document, "pools");
        const Json& tables = arrayAt(document, "tables");
        if (pools.Size() != state.pools.size() || tables.Size() != state.tables.size())
            return Error{"the snapshot's pools or tables are not those of its site"};
        for (rapidjson::SizeType i = 0; i < pools.Size(); ++i)
            readPool(pools[i], state.pools[i], state.tables.size());
        for (rapidjson::SizeType i = 0; i < tables.Size(); ++i)
            readTable(tables[i], state.tables[i]);
        return state;
    } catch (const BadJson& error) {
        return Error{"the snapshot cannot be read: " + std::string{error.what()}};
    }
}

}  // namespace jackpot::storage
