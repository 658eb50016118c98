#include "storage/snapshot.h"

#include <algorithm>
#include <array>
#include <limits>

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

std::uint64_t countAt(const Json& json, std::string_view key)
{
    return static_cast<std::uint64_t>(numberAt(json, key));
}

void countField(JsonText& json, std::string_view key, std::uint64_t value)
{
    json.numberField(key, static_cast<std::int64_t>(value));
}

std::uint32_t smallCountAt(const Json& json, std::string_view key)
{
    const std::int64_t number = numberAt(json, key);
    if (number < 0 || number > std::numeric_limits<std::uint32_t>::max())
        throw BadJson{"\"" + std::string{key} + "\" is out of range"};
    return static_cast<std::uint32_t>(number);
}

void writeAwardRecord(JsonText& json, const AwardRecord& award)
{
    json.numberField("round", award.round);
    json.numberField("seat", award.seat);
    json.textField("tier", idOf(award.tier));
    json.moneyField("amount", award.amount);
    json.moneyField("paid", award.paid);
    json.numberField("payments", award.payments);
    enumField(json, "state", award.state);
    json.boolField("was_due", award.wasDue);
    json.boolField("withheld", award.withheld);
}

AwardRecord readAwardRecord(const Json& json)
{
    return {numberAt(json, "round"),
            moneyAt(json, "amount"),
            moneyAt(json, "paid"),
            smallCountAt(json, "payments"),
            static_cast<std::int8_t>(seatIn(json)),
            tierIn(json),
            enumAt(json, "state", AwardRecord::State::Withdrawn),
            flagAt(json, "was_due"),
            flagAt(json, "withheld")};
}

void writeRound(JsonText& json, const Round& round)
{
    json.boolField("opened", round.opened);
    json.numberField("number", round.number);
    json.numberField("opened_ms", round.openedMs);
    json.boolField("result_in", round.resultIn);
    json.boolField("voided", round.voided);
    json.boolField("closed", round.closed);
    json.boolField("confirmed", round.confirmed);
    json.boolField("final", round.final);
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
}

Round readRound(const Json& json)
{
    Round round;
    round.opened = flagAt(json, "opened");
    round.number = numberAt(json, "number");
    round.openedMs = numberAt(json, "opened_ms");
    round.resultIn = flagAt(json, "result_in");
    round.voided = flagAt(json, "voided");
    round.closed = flagAt(json, "closed");
    round.confirmed = flagAt(json, "confirmed");
    round.final = flagAt(json, "final");
    for (const Json& each : arrayAt(json, "seats").GetArray())
        round.seat(seatIn(each)) = {flagAt(each, "wagered"),     moneyAt(each, "to_meter"),
                                    moneyAt(each, "to_reserve"), tierIn(each),
                                    flagAt(each, "claims"),      textOr(each, "player_card")};
    return round;
}

std::uint32_t tableIn(const Json& json, std::size_t tables)
{
    const std::int64_t table = numberAt(json, "table");
    if (table < 0 || table >= static_cast<std::int64_t>(tables))
        throw BadJson{"\"table\" is none of the site's"};
    return static_cast<std::uint32_t>(table);
}

void writePlaceKey(JsonText& json, const PlaceKey& key)
{
    countField(json, "arrival", key.arrival);
    countField(json, "ruling", key.ruling);
    json.numberField("index", key.index);
}

PlaceKey readPlaceKey(const Json& json)
{
    return {countAt(json, "arrival"), countAt(json, "ruling"), smallCountAt(json, "index")};
}

void writeChange(JsonText& json, std::string_view key, const Change& change)
{
    json.key(key);
    json.beginObject();
    json.moneyField("sum", change.sum);
    json.moneyField("floor", change.floor);
    json.endObject();
}

Change changeAt(const Json& json, std::string_view key)
{
    const Json& change = at(json, key);
    return {moneyAt(change, "sum"), moneyAt(change, "floor")};
}

void writePlace(JsonText& json, const Place& place)
{
    writePlaceKey(json, place.key);
    json.moneyField("before", place.before);
    json.moneyField("paid", place.paid);
    writeChange(json, "finals", place.finals);
    writeChange(json, "since", place.since);
}

Place readPlace(const Json& json)
{
    return {readPlaceKey(json), moneyAt(json, "before"), moneyAt(json, "paid"),
            changeAt(json, "finals"), changeAt(json, "since")};
}

void writeWin(JsonText& json, const Win& win)
{
    json.numberField("table", win.table);
    json.numberField("round", win.round);
    countField(json, "order", win.order);
    json.numberField("arrived_ms", win.arrivedMs);
    json.numberField("pressed_ms", win.pressedMs);
    json.boolField("impossible", win.impossible);
    json.boolField("due", win.due);
    countField(json, "hold", win.hold);
    json.boolField("holds_itself", win.holdsItself);
    json.key("place");
    json.beginObject();
    writePlaceKey(json, win.place);
    json.endObject();
    json.objectsField("awards", win.awards, [&](const WinAward& award) {
        json.numberField("seat", award.seat);
        json.textField("tier", idOf(award.tier));
        json.moneyField("amount", award.amount);
    });
}

Win readWin(const Json& json, std::size_t tables)
{
    return {tableIn(json, tables),
            numberAt(json, "round"),
            countAt(json, "order"),
            numberAt(json, "arrived_ms"),
            numberAt(json, "pressed_ms"),
            flagAt(json, "impossible"),
            flagAt(json, "due"),
            countAt(json, "hold"),
            flagAt(json, "holds_itself"),
            readPlaceKey(at(json, "place")),
            readList<WinAward>(json, "awards", [](const Json& award) {
                return WinAward{seatIn(award), tierIn(award), moneyAt(award, "amount")};
            })};
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
    json.objectsField("wins", pool.wins, [&](const Win& each) { writeWin(json, each); });
    json.moneyField("base", pool.base);
    json.objectsField("places", pool.places, [&](const Place& each) { writePlace(json, each); });
    countField(json, "rulings", pool.rulings);
    if (pool.lastWin) {
        json.key("last_win");
        json.beginObject();
        json.moneyField("amount", pool.lastWin->amount);
        json.numberField("at_ms", pool.lastWin->atMs);
        json.textField("tier", idOf(pool.lastWin->tier));
        json.numberField("table", pool.lastWin->table);
        json.endObject();
    }
    if (pool.nextLookMs != Pool::kNever) json.numberField("next_look_ms", pool.nextLookMs);
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
    pool.wins =
        readList<Win>(json, "wins", [tables](const Json& each) { return readWin(each, tables); });
    pool.base = moneyAt(json, "base");
    pool.places = readList<Place>(json, "places", readPlace);
    pool.rulings = countAt(json, "rulings");
    if (const Json* win = find(json, "last_win"))
        pool.lastWin = {moneyAt(*win, "amount"), numberAt(*win, "at_ms"), tierIn(*win),
                        tableIn(*win, tables)};
    if (find(json, "next_look_ms")) pool.nextLookMs = numberAt(json, "next_look_ms");
    const Json* next = find(json, "next");
    if (!next) return;
    pool.next = readParameters(*next);
    pool.nextIsDue = flagAt(json, "next_is_due");
}

void writeTable(JsonText& json, const Table& table)
{
    if (table.suspended) json.textField("suspended", idOf(*table.suspended));
    json.boolField("offline", table.offline);
    json.key("current");
    json.beginObject();
    writeRound(json, table.current);
    json.endObject();
    json.objectsField("earlier", table.earlier,
                      [&](const Round& round) { writeRound(json, round); });
    const auto award = [&](const AwardRecord& each) { writeAwardRecord(json, each); };
    json.objectsField("awards", table.awards, award);
    json.objectsField("jackpots", table.jackpots, award);
    if (table.lastFinal) {
        json.key("last_final");
        json.beginObject();
        json.numberField("arrived_ms", table.lastFinal->arrivedMs);
        json.numberField("pressed_ms", table.lastFinal->pressedMs);
        json.endObject();
    }
    countField(json, "wagers", table.wagers);
    countField(json, "last_number", table.sequence.last());
    json.key("records");
    json.beginArray();
    if (table.sequence.last() > 0)
        for (const std::uint64_t record : table.sequence.records())
            json.number(static_cast<std::int64_t>(record));
    json.endArray();
}

LinkSequence readSequence(const Json& json)
{
    const std::uint64_t last = countAt(json, "last_number");
    const std::vector<std::int64_t> records = numbersAt(json, "records");
    if (records.size() != (last > 0 ? LinkSequence::kRecent : 0))
        throw BadJson{"\"records\" has not as many numbers as it should"};
    LinkSequence::Records recent{};
    std::ranges::transform(records, recent.begin(),
                           [](std::int64_t each) { return static_cast<std::uint64_t>(each); });
    return {last, recent};
}

void readTable(const Json& json, Table& table)
{
    if (find(json, "suspended")) {
        table.suspended = originOfId(textAt(json, "suspended"));
        if (!table.suspended) throw BadJson{"\"suspended\" is unknown"};
    }
    table.offline = flagAt(json, "offline");
    table.current = readRound(at(json, "current"));
    table.earlier = readList<Round>(json, "earlier", readRound);
    table.awards = readList<AwardRecord>(json, "awards", readAwardRecord);
    table.jackpots = readList<AwardRecord>(json, "jackpots", readAwardRecord);
    if (const Json* press = find(json, "last_final"))
        table.lastFinal = {numberAt(*press, "arrived_ms"), numberAt(*press, "pressed_ms")};
    table.wagers = countAt(json, "wagers");
    table.sequence = readSequence(json);
}

}  // namespace

std::string writeState(const State& state)
{
    std::string out;
    JsonText json{out};
    json.beginObject();
    json.key("site");
    writeSite(json, siteOf(state));
    countField(json, "confirmations", state.confirmations);
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
        state.confirmations = countAt(document, "confirmations");
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
