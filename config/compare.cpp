#include "config/compare.h"

#include <algorithm>
#include <string_view>

namespace jackpot::config {
namespace {

namespace fs = std::filesystem;

std::string shown(std::int64_t number) { return std::to_string(number); }
std::string shown(bool value) { return value ? "true" : "false"; }
std::string shown(rules::Money amount) { return rules::toRead(amount); }
std::string shown(rules::Rate rate) { return rules::toText(rate); }
std::string shown(const std::string& text) { return "\"" + text + "\""; }
std::string shown(const fs::path& path) { return shown(path.string()); }
std::string shown(LogLevel level) { return shown(std::string{idOf(level)}); }
std::string shown(rules::Game game) { return shown(std::string{rules::idOf(game)}); }
std::string shown(const Endpoint& endpoint)
{
    if (!endpoint.inherited.empty()) return shown("systemd:" + endpoint.inherited);
    const bool bracketed = endpoint.host.find(':') != std::string::npos;
    return shown((bracketed ? "[" + endpoint.host + "]" : endpoint.host) + ":" +
                 std::to_string(endpoint.port));
}
std::string shown(Parity parity) { return shown(std::string{idOf(parity)}); }
std::string shown(const std::vector<std::string>& texts)
{
    std::string all;
    for (const std::string& each : texts) all += (all.empty() ? "" : ", ") + shown(each);
    return "[" + all + "]";
}
template <class T>
std::string shown(const std::optional<T>& value)
{
    return value ? shown(*value) : "unset";
}

constexpr std::string_view kRestart = "it takes a restart";
constexpr std::string_view kTwoPeople =
    "change it only by a command of two people: jackpotctl change-pool";

class Comparison {
public:
    Comparison(const Config& running, const Config& wanted) : running_{running}, wanted_{wanted} {}

    Changes run()
    {
        refused("[site] name", running_.siteName, wanted_.siteName,
                "the journal is signed under this name; a new name is a new journal");
        compareJournal(running_.journal, wanted_.journal);
        compareLink(running_.link, wanted_.link);
        compareDesk();
        compareWitness();
        if (running_.demo != wanted_.demo)
            changes_.refused.push_back("[demo] changes: " + std::string{kRestart});
        if (running_.metrics != wanted_.metrics)
            changes_.refused.push_back("[metrics] changes: " + std::string{kRestart});
        refused("[writer] mailbox", running_.writer.mailbox, wanted_.writer.mailbox, kRestart);
        refused("[writer] batch", running_.writer.batch, wanted_.writer.batch, kRestart);
        comparePolling();
        applied("[log] level", running_.logLevel, wanted_.logLevel);
        comparePools();
        compareTables();
        compareMeters();
        return std::move(changes_);
    }

private:
    template <class T>
    static std::string change(const std::string& what, const T& from, const T& to)
    {
        return what + " changes from " + shown(from) + " to " + shown(to);
    }
    template <class T>
    void applied(const std::string& what, const T& from, const T& to)
    {
        if (from != to) changes_.applied.push_back(change(what, from, to));
    }
    template <class T>
    void refused(const std::string& what, const T& from, const T& to, std::string_view why)
    {
        if (from != to)
            changes_.refused.push_back(change(what, from, to) + ": " + std::string{why});
    }

    void compareJournal(const JournalConfig& from, const JournalConfig& to)
    {
        refused("[journal] directory", from.directory, to.directory, kRestart);
        refused("[journal] key", from.key, to.key,
                "a key is changed with jackpotctl journal rotate-key while the daemon is stopped");
        refused("[journal] snapshot_every", from.snapshotEvery, to.snapshotEvery, kRestart);
        refused("[journal] heartbeat_s", from.heartbeatS, to.heartbeatS, kRestart);
    }

    void compareLink(const LinkConfig& from, const LinkConfig& to)
    {
        refused("[link] listen", from.listen, to.listen, kRestart);
        refused("[link] certificate", from.certificate, to.certificate, kRestart);
        refused("[link] key", from.key, to.key, kRestart);
        refused("[link] ca", from.ca, to.ca, kRestart);
        applied("[link] crl", from.crl, to.crl);
        refused("[link] player_card_key", from.playerCardKey, to.playerCardKey,
                "players would get new pseudonyms; it takes a restart");
        applied("[link] max_connections", from.maxConnections, to.maxConnections);
        applied("[link] max_connections_per_address", from.maxConnectionsPerAddress,
                to.maxConnectionsPerAddress);
        refused("[link] handshake_timeout_ms", from.handshakeTimeoutMs, to.handshakeTimeoutMs,
                kRestart);
        refused("[link] frame_timeout_ms", from.frameTimeoutMs, to.frameTimeoutMs, kRestart);
        applied("[link] offline_after_ms", from.offlineAfterMs, to.offlineAfterMs);
        applied("[link] offline_notice_after_s", from.offlineNoticeAfterS, to.offlineNoticeAfterS);
        applied("[link] refusals_per_minute", from.refusalsPerMinute, to.refusalsPerMinute);
        applied("[link] rounds_per_minute", from.roundsPerMinute, to.roundsPerMinute);
    }

    void comparePolling()
    {
        if (running_.polling == wanted_.polling) return;
        changes_.refused.push_back("[meters] changes: " + std::string{kRestart});
    }

    void compareWitness()
    {
        if (running_.witness == wanted_.witness) return;
        changes_.refused.push_back("[witness] changes: " + std::string{kRestart});
    }

    void compareDesk()
    {
        if (!running_.desk || !wanted_.desk) {
            if (running_.desk.has_value() != wanted_.desk.has_value())
                changes_.refused.push_back(std::string{"[desk] is "} +
                                           (wanted_.desk ? "added: " : "removed: ") +
                                           std::string{kRestart});
            return;
        }
        const DeskConfig& from = *running_.desk;
        const DeskConfig& to = *wanted_.desk;
        refused("[desk] listen", from.listen, to.listen, kRestart);
        refused("[desk] certificate", from.certificate, to.certificate, kRestart);
        refused("[desk] key", from.key, to.key, kRestart);
        refused("[desk] client_ca", from.clientCa, to.clientCa, kRestart);
        applied("[desk] max_connections", from.maxConnections, to.maxConnections);
        applied("[desk] max_connections_per_address", from.maxConnectionsPerAddress,
                to.maxConnectionsPerAddress);
        applied("[desk] max_feeds", from.maxFeeds, to.maxFeeds);
        applied("[desk] request_timeout_ms", from.requestTimeoutMs, to.requestTimeoutMs);
        applied("[desk] session_idle_minutes", from.sessionIdleMinutes, to.sessionIdleMinutes);
        applied("[desk] session_hours", from.sessionHours, to.sessionHours);
        refused("[desk] notice_command", from.noticeCommand, to.noticeCommand, kRestart);
        refused("[desk] notice_syslog", from.noticeSyslog, to.noticeSyslog, kRestart);
        refused("[desk] second_person_from", from.secondPersonFrom, to.secondPersonFrom, kRestart);
        applied("[desk] bind_session_to_address", from.bindSessionToAddress,
                to.bindSessionToAddress);
    }

    void comparePools()
    {
        const auto& before = running_.site.pools;
        const auto& after = wanted_.site.pools;
        for (std::size_t i = 0; i < before.size(); ++i) {
            const auto same = std::ranges::find(after, before[i].id, &rules::PoolConfig::id);
            const std::string name = "pool " + shown(before[i].id);
            if (same == after.end()) {
                changes_.refused.push_back(name + " is removed: a pool holds money; suspend it " +
                                           "instead");
                continue;
            }
            comparePool(name, before[i], *same);
            const auto at = static_cast<std::size_t>(same - after.begin());
            refused(name + ": paytable", running_.payTableOfPool[i], wanted_.payTableOfPool[at],
                    kTwoPeople);
        }
        for (const rules::PoolConfig& pool : after)
            if (std::ranges::find(before, pool.id, &rules::PoolConfig::id) == before.end())
                changes_.applied.push_back("pool " + shown(pool.id) + " is added, opening at " +
                                           shown(pool.openingAmount()));
    }

    void comparePool(const std::string& name, const rules::PoolConfig& from,
                     const rules::PoolConfig& to)
    {
        refused(name + ": game", from.game, to.game, "a pool keeps its game; add a new pool");
        refused(name + ": wager", from.wager, to.wager, kTwoPeople);
        refused(name + ": increment", from.increment, to.increment, kTwoPeople);
        refused(name + ": reserve_increment", from.reserveIncrement, to.reserveIncrement,
                kTwoPeople);
        refused(name + ": minimum", from.minimum, to.minimum, kTwoPeople);
        refused(name + ": opening", from.opening, to.opening,
                "the pool is open already; its amount is changed by an adjustment of two people");
        refused(name + ": cap", from.cap, to.cap, kTwoPeople);
        refused(name + ": payout_unit", from.payoutUnit, to.payoutUnit, kTwoPeople);
        refused(name + ": simultaneity_window_ms", from.simultaneityWindowMs,
                to.simultaneityWindowMs, kTwoPeople);
        refused(name + ": settle_after_ms", from.settleAfterMs, to.settleAfterMs, kTwoPeople);
        compareAmounts(name + ": bonus", from.bonus, to.bonus);
        compareAmounts(name + ": guarantee", from.guarantee, to.guarantee);
    }

    void compareAmounts(const std::string& name, const std::optional<rules::TierAmounts>& from,
                        const std::optional<rules::TierAmounts>& to)
    {
        const rules::TierAmounts before = from.value_or(rules::TierAmounts{});
        const rules::TierAmounts after = to.value_or(rules::TierAmounts{});
        refused(name + ".royal_flush", before.royalFlush, after.royalFlush, kTwoPeople);
        refused(name + ".straight_flush", before.straightFlush, after.straightFlush, kTwoPeople);
    }

    void compareTables()
    {
        const auto& before = running_.site.tables;
        const auto& after = wanted_.site.tables;
        for (const rules::TableConfig& table : before) {
            const auto same = std::ranges::find(after, table.id, &rules::TableConfig::id);
            const std::string name = "table " + shown(table.id);
            if (same == after.end()) {
                changes_.refused.push_back(name + " is removed: suspend it instead");
                continue;
            }
            refused(name + ": pool", table.pool, same->pool,
                    "a table keeps its pool; suspend it and add another table");
            applied(name + ": seats", table.seats, same->seats);
            applied(name + ": require_player_card", table.requirePlayerCard,
                    same->requirePlayerCard);
            // These three only repeat facts of the pool and the game.
            applied(name + ": wager", table.wager, same->wager);
            applied(name + ": decks", table.decks, same->decks);
            applied(name + ": shuffling_device", table.shufflingDevice, same->shufflingDevice);
        }
        for (const rules::TableConfig& table : after)
            if (std::ranges::find(before, table.id, &rules::TableConfig::id) == before.end())
                changes_.applied.push_back("table " + shown(table.id) + " is added to pool " +
                                           shown(table.pool));
    }

    static std::string listOf(std::vector<std::string> tables)
    {
        std::ranges::sort(tables);
        std::string list;
        for (const std::string& table : tables) list += (list.empty() ? "" : ", ") + table;
        return list;
    }

    void compareMeters()
    {
        for (const Meter& meter : running_.meters) {
            const auto same = std::ranges::find(wanted_.meters, meter.id, &Meter::id);
            const std::string name = "meter " + shown(meter.id);
            if (same == wanted_.meters.end()) {
                changes_.applied.push_back(name + " is removed");
                continue;
            }
            applied(name + ": unit", meter.unit, same->unit);
            applied(name + ": tables", listOf(meter.tables), listOf(same->tables));
            refused(name + ": listen", meter.listen, same->listen, kRestart);
            if (meter.display != same->display)
                changes_.applied.push_back(name + ": display changes");
            applied(name + ": silent_after_s", meter.silentAfterS, same->silentAfterS);
            applied(name + ": suspend_when_silent", meter.suspendWhenSilent,
                    same->suspendWhenSilent);
            compareDrive(name, meter.drive, same->drive);
        }
        for (const Meter& meter : wanted_.meters)
            if (std::ranges::find(running_.meters, meter.id, &Meter::id) == running_.meters.end())
                changes_.applied.push_back("meter " + shown(meter.id) + " is added for pool " +
                                           shown(meter.pool));
    }

    void compareDrive(const std::string& meter, const std::optional<Drive>& from,
                      const std::optional<Drive>& to)
    {
        if (from && !to) changes_.applied.push_back(meter + " is not driven any more");
        if (!from && to)
            changes_.applied.push_back(meter + " is driven at " + inWords(to->to) + ", unit " +
                                       shown(to->unit));
        if (!from || !to) return;
        const std::string name = meter + ": drive.";
        applied(name + "to", inWords(from->to), inWords(to->to));
        const auto* const port = std::get_if<SerialPort>(&from->to);
        const auto* const newPort = std::get_if<SerialPort>(&to->to);
        if (port && newPort) {
            applied(name + "baud", port->baud, newPort->baud);
            applied(name + "parity", port->parity, newPort->parity);
            applied(name + "stop_bits", port->stopBits, newPort->stopBits);
        }
        applied(name + "unit", from->unit, to->unit);
        applied(name + "format", from->format, to->format);
        applied(name + "digits", from->digits, to->digits);
        const auto order = [](const Drive& drive) {
            return std::string{drive.lowFirst ? "low_first" : "high_first"};
        };
        applied(name + "word_order", order(*from), order(*to));
        applied(name + "address", from->address, to->address);
        applied(name + "status_address", from->statusAddress, to->statusAddress);
        applied(name + "function", from->function, to->function);
        applied(name + "read_back", from->readBack, to->readBack);
        applied(name + "timeout_ms", from->timeoutMs, to->timeoutMs);
        applied(name + "heartbeat_ms", from->heartbeatMs, to->heartbeatMs);
    }

    const Config& running_;
    const Config& wanted_;
    Changes changes_;
};

}  // namespace

Changes compare(const Config& running, const Config& wanted)
{
    return Comparison{running, wanted}.run();
}

}  // namespace jackpot::config
