#include <algorithm>
#include <map>

#include "config/address.h"
#include "config/identifiers.h"
#include "config/sections.h"

namespace jackpot::config {
namespace {

using rules::Game;
using rules::Money;
using rules::Pays;

constexpr std::size_t kMaxRows = 20;
constexpr std::int64_t kMaxUnit = 247;  // Modbus over serial line 2.2
constexpr std::size_t kMaxMeters = 2000;

std::string_view wordOf(Pays pays)
{
    switch (pays) {
        case Pays::Fixed: return "fixed";
        case Pays::Tenth: return "tenth";
        case Pays::All: return "all";
    }
    return "";
}

std::optional<Game> readGame(const Value& value)
{
    const auto game =
        value.oneOf({rules::idOf(Game::BlazingSevens), rules::idOf(Game::UltimateTexasHoldem)});
    if (!game) return std::nullopt;
    return *game == 0 ? Game::BlazingSevens : Game::UltimateTexasHoldem;
}

std::optional<Money> optionalMoney(const Value& value)
{
    if (!value.isThere()) return std::nullopt;
    return value.money();
}

// Of a section with amounts for Ultimate Texas Hold'em's jackpot tiers.
std::optional<rules::TierAmounts> readTierAmounts(TomlSection& pool, std::string_view key)
{
    TomlSection section = pool.section(key);
    if (!section.isThere()) return std::nullopt;
    const rules::TierAmounts amounts{optionalMoney(section["royal_flush"]),
                                     optionalMoney(section["straight_flush"])};
    section.refuseUnknownKeys();
    for (const std::string_view tier : {"royal_flush", "straight_flush"})
        if (section.isBad(tier)) pool.markBad(std::string{key} + "." + std::string{tier});
    return amounts;
}

// Reads the four lists. A problem that follows from one already recorded is not recorded.
class Floor {
public:
    Floor(TomlSection& document, Config& config) : config_{config}, document_{document} {}

    void read()
    {
        payTables_ = document_.sections("paytable", kMaxPayTables);
        pools_ = document_.sections("pool", kMaxPools);
        tables_ = document_.sections("table", kMaxTables);
        meters_ = document_.sections("meter", kMaxMeters);
        for (const std::string_view key : {"pool", "table"})
            if (!document_[key].isThere())
                document_.error(
                    key, "there is no [[" + std::string{key} + "]]: a site has at least one");

        for (TomlSection& section : payTables_) readPayTable(section);
        for (TomlSection& section : pools_) readPool(section);
        for (TomlSection& section : tables_) readTable(section);
        addBrokenRules();
        requireTimeToSettle();
        for (TomlSection& section : meters_) readMeter(section);
        requireMeters();
        requireConnections();
    }

private:
    static bool allIdsKnown(const std::deque<TomlSection>& sections)
    {
        return std::ranges::none_of(sections,
                                    [](const TomlSection& each) { return each.isBad("id"); });
    }

    static void refuseTwice(TomlSection& section, const std::string& id,
                            std::map<std::string, std::size_t, std::less<>>& seen)
    {
        if (!section.isBad("id") && !seen.emplace(id, seen.size()).second)
            section.error("id", inQuotes(id) + " is there twice");
    }

    void readPayTable(TomlSection& section)
    {
        PayTable& table = config_.payTables.emplace_back();
        table.id = section.required("id").id();
        refuseTwice(section, table.id, payTableIds_);
        const auto game = readGame(section.required("game"));
        table.game = game.value_or(table.game);
        table.wager = section.required("wager").money();
        std::deque<TomlSection> rows = section.sections("row", kMaxRows);
        section.refuseUnknownKeys();

        const bool blazing = table.game == Game::BlazingSevens;
        const bool known = game && !section.isBad("wager");
        const bool hasColumn =
            !blazing || table.wager == Money::ofCents(250) || table.wager == Money::ofCents(500);
        if (known && !hasColumn)
            section.error("wager",
                          rules::toRead(table.wager) +
                              " has no pay table: a Blazing 7's wager is $2.50 or $5.00",
                          "BJ 14.24");
        if (known && hasColumn)
            readRows(section, rows, table);
        else
            for (TomlSection& row : rows) (void)readRow(row, {});
    }

    void readRows(TomlSection& section, std::deque<TomlSection>& rows, PayTable& table)
    {
        const rules::PayTable approved = rules::payTableOf(table.game, table.wager, {});
        bool allTiersKnown = !section.isBad("row");
        for (TomlSection& row : rows) {
            const PayTableRow read = readRow(row, approved);
            allTiersKnown = allTiersKnown && !row.isBad("tier");
            if (row.isBad("tier")) continue;
            if (std::ranges::find(table.rows, read.tier, &PayTableRow::tier) != table.rows.end())
                row.error("tier", inQuotes(rules::idOf(read.tier)) + " is there twice");
            else
                table.rows.push_back(read);
        }
        if (!allTiersKnown) return;
        for (const rules::PayTableRow& each : approved)
            if (std::ranges::find(table.rows, each.tier, &PayTableRow::tier) == table.rows.end())
                section.error("row",
                              "the row of " + inQuotes(rules::idOf(each.tier)) + " is missing",
                              each.rule);
    }

    // Without an approved table, only the form of the row is checked.
    static PayTableRow readRow(TomlSection& row, const rules::PayTable& approved)
    {
        PayTableRow read;
        const Value tier = row.required("tier");
        const std::string name = tier.text();
        read.tier = rules::tierOfId(name).value_or(rules::Tier::None);
        const Value pays = row.required("pays");
        const auto word = pays.oneOf({wordOf(Pays::Fixed), wordOf(Pays::Tenth), wordOf(Pays::All)});
        if (word) read.pays = static_cast<Pays>(*word);
        const Value amount = row["amount"];
        read.amount = amount.money();
        row.refuseUnknownKeys();

        const rules::PayTableRow* const rule = rules::findRow(approved, read.tier);
        if (!approved.empty() && !rule && !row.isBad("tier")) {
            std::vector<std::string_view> tiers;
            for (const rules::PayTableRow& each : approved) tiers.push_back(rules::idOf(each.tier));
            const std::string hint = didYouMean(name, tiers);
            tier.error(inQuotes(name) + " is not a tier of this game" +
                           (hint.empty() ? std::string{} : hint),
                       approved.front().rule.starts_with("BJ") ? "BJ 14.24" : "UTH 15.2.9");
        }
        if (!word) return read;
        if (read.pays != Pays::Fixed && amount.isThere())
            amount.error("only what pays \"fixed\" has an amount");
        if (rule && read.pays != rule->pays) {
            pays.error("takes " + inQuotes(wordOf(rule->pays)) + " for " + inQuotes(name) +
                           ", not " + inQuotes(wordOf(read.pays)),
                       rule->rule);
            return read;
        }
        if (read.pays != Pays::Fixed) return read;
        if (!amount.isThere())
            row.error("amount", "this is missing from a row that pays \"fixed\"");
        else if (rule && !row.isBad("amount") && read.amount != rule->amount)
            amount.error(rules::toRead(read.amount) + " is not the approved award of " +
                             rules::toRead(rule->amount),
                         rule->rule);
        return read;
    }

    void readPool(TomlSection& section)
    {
        rules::PoolConfig& pool = config_.site.pools.emplace_back();
        pool.id = section.required("id").id();
        pool.game = readGame(section.required("game")).value_or(pool.game);
        pool.wager = section.required("wager").money();
        pool.increment = section.required("increment").rate();
        pool.reserveIncrement = section["reserve_increment"].rate();
        pool.minimum = section.required("minimum").money();
        pool.opening = optionalMoney(section["opening"]);
        pool.cap = optionalMoney(section["cap"]);
        if (const Value unit = section["payout_unit"]; unit.isThere())
            pool.payoutUnit = unit.money();
        if (const Value window = section["simultaneity_window_ms"]; window.isThere())
            pool.simultaneityWindowMs = window.integer();
        if (const Value settle = section["settle_after_ms"]; settle.isThere())
            pool.settleAfterMs = settle.integer();
        pool.bonus = readTierAmounts(section, "bonus");
        pool.guarantee = readTierAmounts(section, "guarantee");
        config_.payTableOfPool.push_back(section.required("paytable").text());
        section.refuseUnknownKeys();
        checkPayTable(section, pool, config_.payTableOfPool.back());
    }

    void checkPayTable(TomlSection& section, const rules::PoolConfig& pool, const std::string& id)
    {
        if (section.isBad("paytable")) return;
        const auto table = std::ranges::find(config_.payTables, id, &PayTable::id);
        if (table == config_.payTables.end()) {
            if (!allIdsKnown(payTables_)) return;
            std::vector<std::string_view> ids;
            for (const PayTable& each : config_.payTables) ids.push_back(each.id);
            section.error("paytable",
                          "there is no [[paytable]] " + inQuotes(id) + didYouMean(id, ids));
            return;
        }
        const TomlSection& stated =
            payTables_[static_cast<std::size_t>(table - config_.payTables.begin())];
        const bool blazing = pool.game == Game::BlazingSevens;
        const bool gamesKnown = !section.isBad("game") && !stated.isBad("game");
        const bool wagersKnown = !section.isBad("wager") && !stated.isBad("wager");
        if (gamesKnown && table->game != pool.game)
            section.error("paytable",
                          inQuotes(id) + " is of the game \"" +
                              std::string{rules::idOf(table->game)} + "\", the pool of \"" +
                              std::string{rules::idOf(pool.game)} + "\"",
                          blazing ? "BJ 14.24" : "UTH 15.2.9");
        else if (wagersKnown && table->wager != pool.wager)
            section.error("paytable",
                          inQuotes(id) + " is for a wager of " + rules::toRead(table->wager) +
                              ", the pool's is " + rules::toRead(pool.wager),
                          blazing ? "BJ 14.24" : "UTH 15.2.5");
    }

    void readTable(TomlSection& section)
    {
        rules::TableConfig& table = config_.site.tables.emplace_back();
        table.id = section.required("id").id();
        table.pool = section.required("pool").text();
        if (const Value seats = section["seats"]; seats.isThere()) table.seats = seats.integer();
        table.requirePlayerCard = section["require_player_card"].boolean(true);
        table.wager = optionalMoney(section["wager"]);
        if (const Value decks = section["decks"]; decks.isThere()) table.decks = decks.integer();
        table.shufflingDevice = section["shuffling_device"].boolean(table.shufflingDevice);
        section.refuseUnknownKeys();
    }

    void addBrokenRules()
    {
        for (const rules::ConfigError& error : rules::validate(config_.site)) {
            const bool ofPool = error.of == rules::ConfigError::Of::Pool;
            TomlSection& section = ofPool ? pools_[error.index] : tables_[error.index];
            if (section.isBad(error.field)) continue;
            if (ofPool ? followsInPool(section, error.field)
                       : followsInTable(config_.site.tables[error.index], error.field))
                continue;
            std::string message = error.message;
            if (!ofPool && error.field == "pool") {
                std::vector<std::string_view> ids;
                for (const rules::PoolConfig& pool : config_.site.pools) ids.push_back(pool.id);
                message += didYouMean(config_.site.tables[error.index].pool, ids);
            }
            section.error(error.field, message, error.rule);
        }
    }

    void requireTimeToSettle()
    {
        for (std::size_t i = 0; i < pools_.size(); ++i) {
            const rules::PoolConfig& pool = config_.site.pools[i];
            TomlSection& section = pools_[i];
            const std::int64_t least = leastSettleAfterMs(pool, config_.link);
            if (pool.waitMs() >= least || section.isBad("settle_after_ms") ||
                followsInPool(section, "settle_after_ms"))
                continue;
            section.error("settle_after_ms",
                          std::to_string(pool.waitMs()) + " ms is less than " +
                              std::to_string(least) +
                              ": simultaneity_window_ms, [link] offline_after_ms and a heartbeat "
                              "of " +
                              std::to_string(kHeartbeatMs) + " ms together",
                          "BJ 14.27.4");
        }
    }

    static bool followsInPool(const TomlSection& pool, std::string_view field)
    {
        if (pool.isBad("game") && field != "id") return true;
        if (field == "reserve_increment") return pool.isBad("increment");
        if (field == "opening") return pool.isBad("minimum");
        if (field == "settle_after_ms") return pool.isBad("simultaneity_window_ms");
        if (field == "cap") return pool.isBad("opening") || pool.isBad("minimum");
        return false;
    }

    bool followsInTable(const rules::TableConfig& table, std::string_view field) const
    {
        if (field == "id") return false;
        if (field == "pool") return !allIdsKnown(pools_);
        const auto pool = std::ranges::find(config_.site.pools, table.pool, &rules::PoolConfig::id);
        if (pool == config_.site.pools.end()) return true;
        const TomlSection& section =
            pools_[static_cast<std::size_t>(pool - config_.site.pools.begin())];
        return section.isBad("game") || (field == "wager" && section.isBad("wager"));
    }

    void readMeter(TomlSection& section)
    {
        Meter& meter = config_.meters.emplace_back();
        meter.id = section.required("id").id();
        refuseTwice(section, meter.id, meterIds_);
        if (TomlSection drive = section.section("drive"); drive.isThere()) {
            meter.drive = readDrive(drive);
            checkLine(drive, meter);
        }
        const Value unit = meter.drive ? section["unit"] : section.required("unit");
        if (unit.isThere()) meter.unit = unit.integer(1, 1, kMaxUnit);
        readPolled(section, unit, meter);
        const Value tables = section.required("tables");
        for (const Value::Item& item : tables.texts(kMaxTables)) addTable(section, meter, item);
        section.refuseUnknownKeys();
    }

    void readPolled(TomlSection& section, const Value& unit, Meter& meter)
    {
        if (const Value listen = section["listen"]; listen.isThere()) {
            meter.listen = endpointOrInherited(listen, {});
            if (!config_.polling) listen.error("there is no [meters], so nothing is polled");
        }
        if (const Value display = section["display"]; display.isThere()) {
            meter.display = networkOf(display.text());
            if (!meter.display)
                display.error("it takes the display's address, such as \"10.1.2.3\", or a network");
        }
        if (const Value silent = section["silent_after_s"]; silent.isThere())
            meter.silentAfterS = silent.integer(30, 1, 86'400);
        const Value suspend = section["suspend_when_silent"];
        meter.suspendWhenSilent = suspend.boolean(false);
        if (meter.suspendWhenSilent && !meter.silentAfterS)
            suspend.error("it takes silent_after_s: how long a meter may not be read");
        if (!meter.unit || section.isBad("unit") || section.isBad("listen") ||
            section.isBad("display"))
            return;
        for (std::size_t i = 0; i + 1 < config_.meters.size(); ++i) {
            const Meter& other = config_.meters[i];
            if (other.unit == meter.unit && other.listen == meter.listen &&
                other.display == meter.display && !meters_[i].isBad("unit"))
                return unit.error(std::to_string(*meter.unit) + " is the unit of meter " +
                                  inQuotes(other.id) + " already");
        }
    }

    void checkLine(TomlSection& section, const Meter& meter)
    {
        if (section.isBad("to")) return;
        const Drive& drive = *meter.drive;
        const std::string line = inWords(drive.to);
        if (!section.isBad("unit"))
            if (const auto [first, isNew] =
                    drivenUnits_.emplace(std::pair{line, drive.unit}, meter.id);
                !isNew)
                section.error("unit", std::to_string(drive.unit) + " of " + line + " is meter " +
                                          inQuotes(first->second) +
                                          " already: give each display on a line its own");
        for (const std::string_view key : {"baud", "parity", "stop_bits"})
            if (section.isBad(key)) return;
        const auto [first, isNew] = lines_.emplace(line, std::pair{drive.to, meter.id});
        if (!isNew && first->second.first != drive.to)
            section.error("to", line + " has another baud, parity or stop_bits for meter " +
                                    inQuotes(first->second.second) +
                                    ": all displays on a line have the same");
    }

    void addTable(TomlSection& section, Meter& meter, const Value::Item& item)
    {
        const auto table =
            std::ranges::find(config_.site.tables, item.text, &rules::TableConfig::id);
        if (table == config_.site.tables.end()) {
            if (!allIdsKnown(tables_)) return;
            std::vector<std::string_view> ids;
            for (const rules::TableConfig& each : config_.site.tables) ids.push_back(each.id);
            section.errorAt(
                item.place, "tables",
                "there is no [[table]] " + inQuotes(item.text) + didYouMean(item.text, ids));
            return;
        }
        if (std::ranges::find(meter.tables, item.text) != meter.tables.end()) {
            section.errorAt(item.place, "tables", inQuotes(item.text) + " is there twice");
            return;
        }
        if (meter.tables.empty()) meter.pool = table->pool;
        if (table->pool != meter.pool)
            section.errorAt(item.place, "tables",
                            inQuotes(item.text) + " is linked to pool " + inQuotes(table->pool) +
                                ", " + inQuotes(meter.tables.front()) + " to " +
                                inQuotes(meter.pool) + ": a meter shows one pool",
                            "UTH 15.1.2.2");
        meter.tables.push_back(item.text);
        metered_.insert(item.text);
    }

    void requireMeters()
    {
        const bool listsKnown = std::ranges::none_of(
            meters_, [](const TomlSection& meter) { return meter.isBad("tables"); });
        if (!listsKnown) return;
        for (std::size_t i = 0; i < config_.site.tables.size(); ++i) {
            const rules::TableConfig& table = config_.site.tables[i];
            if (metered_.contains(table.id) || tables_[i].isBad("id")) continue;
            const auto pool =
                std::ranges::find(config_.site.pools, table.pool, &rules::PoolConfig::id);
            const bool holdem =
                pool != config_.site.pools.end() && pool->game == Game::UltimateTexasHoldem;
            tables_[i].errorAt(tables_[i].place(), "meter",
                               "table " + inQuotes(table.id) +
                                   " has no meter: name it in the tables of a [[meter]]",
                               holdem ? "UTH 15.1.3" : "");
        }
    }

    void requireConnections()
    {
        if (document_.isBad("link")) return;
        TomlSection link = document_.section("link");
        const auto tables = static_cast<std::int64_t>(config_.site.tables.size());
        if (tables > config_.link.maxConnections)
            link.error("max_connections", std::to_string(config_.link.maxConnections) +
                                              " connections are too few " + "for " +
                                              std::to_string(tables) + " tables");
    }

    Config& config_;
    TomlSection& document_;
    std::deque<TomlSection> payTables_;
    std::deque<TomlSection> pools_;
    std::deque<TomlSection> tables_;
    std::deque<TomlSection> meters_;
    std::map<std::string, std::size_t, std::less<>> payTableIds_;
    std::map<std::string, std::size_t, std::less<>> meterIds_;
    std::map<std::pair<std::string, std::int64_t>, std::string> drivenUnits_;
    std::map<std::string, std::pair<std::variant<Endpoint, SerialPort>, std::string>> lines_;
    std::set<std::string, std::less<>> metered_;
};

}  // namespace

void readFloor(TomlSection& document, Config& config) { Floor{document, config}.read(); }

}  // namespace jackpot::config
