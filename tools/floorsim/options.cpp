#include "tools/floorsim/options.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/encoding.h"
#include "config/config.h"
#include "linkproto/limits.h"
#include "tools/jackpot-audit/cli.h"

namespace jackpot::floor {

const std::string_view kFloorHelp =
    R"(floorsim - a simulated gaming floor that keeps its own books

Usage:
  floorsim --config FILE --pki DIR (--rounds N | --seconds N) [OPTION ...]
  floorsim --connect HOST:PORT --pki DIR [--tables LIST] (--rounds N | --seconds N) [OPTION ...]
  floorsim --help | --version

Plays many tables of both games against a running jackpotd, over the real link: TLS with a certificate for
each table, durable outboxes if wanted, real shuffled cards (six decks for Blazing 7's, one for Ultimate
Texas Hold'em). From what it sent and dealt it keeps books of its own, with arithmetic of its own, and
compares them with everything the daemon says. Use it to try an installation, to measure it, and to break it.

NEVER run it against a controller that is in use: its wagers and awards are journaled like any others.

The floor:
  --config FILE        the daemon's configuration: where it listens, pools, tables. Without it the books know
                       neither the pools' rates nor their minimum, and leave meters and jackpots unchecked
  --connect HOST:PORT  where the daemon is, if not where the configuration says; IPv6 in brackets. Needed where
                       that says port 0
  --pki DIR            certificates as jackpotctl pki lays them out: ca.pem, table/ID.pem, table/ID.key
  --tables LIST        the tables to play, as BJ01,BJ02,UTH01, or all (default): all of the configuration but those of
                       [demo], whose dealers are people; or without one all with a certificate in DIR
  --key KEY            the journal's verifier key, or a file with it; default: the key that the daemon names

How much:
  --rounds N           of each table
  --seconds N          or for so long, after the warm-up
  --warmup N           seconds that are played and not measured (default 0)
  --rate R             rounds of each table in a minute (default: as fast as they are decided)
  --in-flight K        commands of a table that may be undecided, 1 to 32 (default 1: as a table does)
  --seed S             of cards and faults (default 1). The same seed, tables and round numbers give the same
                       cards; what the tables do at the same time is up to the clock
  --no-jackpots        shuffles again where a jackpot would be dealt: at thousands of rounds a second they come
                       faster than their windows end

What goes wrong, in so many of a thousand rounds:
  --disconnect N       the link is cut as the round is opened
  --resend N           the link is cut after the result was sent and before the answer is read
  --duplicate N        commands are sent twice on the same link
  --late-result N      the link is cut while the round is open, and the result waits in the outbox
  --void N             the round is voided before or after its result, or one of its wagers is
  --wrong-count N      the table reports one wager too many. It expects to be suspended, and resumes
And besides:
  --force-jackpots N   so many jackpots by stacked decks, over all tables, the tiers by turns. With --seconds one
                       every four rounds of a table
  --simultaneous       dealers press the button at once. By default a dealer waits while another table's jackpot
                       of the same pool waits for its window, because ties are held for a ruling, and nobody
                       rules here

The run:
  --outbox DIR         durable outboxes, one ID.outbox a table, and books.log; default: in memory
  --resume             goes on with the run whose --outbox this is, after floorsim was killed. --rounds counts
                       those of before
  --patience N         seconds to wait for connections, and at the end for decisions (default 10)
  --sample-receipts    verifies one signature in 64 (by default all); for measuring
  --live               shows pools, tables and rounds a second while it runs: a screen on a terminal, else a line
                       every few seconds
  --caption TEXT       below that screen, which leaves nothing else to be seen on a terminal
  --json               prints the result as JSON
  --quiet              prints nothing but differences; with --json only that

Ctrl-C (or SIGTERM) ends the run in order: rounds that are open are finished, decisions awaited, the books
compared. Twice ends it at once. The daemon may be killed and restarted at any time, and so may floorsim with
--outbox and --resume.

What the books check, exactly:
  - each command is decided once and in order; an answer that comes again is the same answer; nothing is
    refused but what follows from a suspension
  - each fixed award, claim, refund and withdrawal, by seat, tier and cent, against the cards
  - for a pool all of whose tables are played here (with --config): the amount in each decision, in the order
    of the journal's records, against a meter kept to 1e-8 dollar: contributions, caps, returns, resets to the
    minimum, jackpots; and each 10 % and 100 % award, bonus and guarantee
  - receipts never shrink, cover what they come with, and are signed by the journal's key
  - at the end, for each table: the daemon's count of its wagers and the number of its last command; for each
    pool the amount shown; that nothing is undecided and no award is missing
What they can't know:
  - a pool that was played before shows whole cents: its meter is known up to a cent until it is reset, and
    each amount shown narrows that down. One with jackpots that waited before the run is not checked
  - what a ruling on held jackpots says: their awards are taken as told, and the meter anew from then on
  - changes by people while it runs (adjustments, parameters, a table suspended in the middle of a round):
    they show as differences
  - a jackpot whose settlement was lost with a link is looked up in the table's state, which lists 64

Exit status:
  0   everything agrees
  1   the books differ, or the floor could not be played: what, and where, is in the report
  2   the command line, a file or a certificate cannot be used: nothing was played
  130 ended at once by a second Ctrl-C

Examples:
  floorsim --config jackpotd.toml --pki pki --rounds 1000 --live
  floorsim --config jackpotd.toml --pki pki --seconds 60 --rate 60 --disconnect 20 --resend 20 --duplicate 20 \
           --void 10 --late-result 10 --wrong-count 2 --force-jackpots 10 --outbox /tmp/floor
  floorsim --config jackpotd.toml --pki pki --seconds 20 --warmup 5 --in-flight 16 --no-jackpots \
           --sample-receipts --quiet --json
)";

namespace {

using audit::Arguments;
using audit::Option;
namespace fs = std::filesystem;

constexpr std::uint64_t kMany = 1'000'000'000;

const std::vector<Option> kOptions = {
    {"--config", Option::Form::Value},
    {"--connect", Option::Form::Value},
    {"--pki", Option::Form::Value},
    {"--tables", Option::Form::Value},
    {"--key", Option::Form::Values},
    {"--rounds", Option::Form::Value},
    {"--seconds", Option::Form::Value},
    {"--warmup", Option::Form::Value},
    {"--rate", Option::Form::Value},
    {"--in-flight", Option::Form::Value},
    {"--seed", Option::Form::Value},
    {"--no-jackpots"},
    {"--disconnect", Option::Form::Value},
    {"--resend", Option::Form::Value},
    {"--duplicate", Option::Form::Value},
    {"--late-result", Option::Form::Value},
    {"--void", Option::Form::Value},
    {"--wrong-count", Option::Form::Value},
    {"--force-jackpots", Option::Form::Value},
    {"--simultaneous"},
    {"--outbox", Option::Form::Value},
    {"--resume"},
    {"--patience", Option::Form::Value},
    {"--sample-receipts"},
    {"--live"},
    {"--caption", Option::Form::Value},
    {"--json"},
    {"--quiet"},
};

// Arguments names the command in its messages; floorsim is one by itself.
[[noreturn]] void refuse(const std::string& message)
{
    throw audit::Stop{audit::kBadInput, message + " (see floorsim --help)"};
}

std::vector<std::string> split(const std::string& list)
{
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= list.size();) {
        const std::size_t end = std::min(list.find(',', at), list.size());
        parts.push_back(list.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

void readEndpoint(const std::string& text, FloorSettings& settings)
{
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0) refuse("--connect takes HOST:PORT");
    const auto port = parseDecimal(text.substr(colon + 1));
    if (!port || *port < 1 || *port > 65535)
        refuse("--connect: the port is a number from 1 to 65535");
    settings.port = static_cast<std::uint16_t>(*port);
    settings.host = text.substr(0, colon);
    if (settings.host.starts_with('[') && settings.host.ends_with(']'))
        settings.host = settings.host.substr(1, settings.host.size() - 2);
}

double readRate(const std::string& text)
{
    double rate = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
    if (error != std::errc{} || end != text.data() + text.size() || !(rate > 0 && rate <= 1e6))
        refuse("--rate takes rounds a minute, above 0 and at most a million, not \"" + text + "\"");
    return rate;
}

PoolTerms termsOf(const rules::PoolConfig& pool)
{
    PoolTerms terms;
    terms.id = pool.id;
    terms.game = pool.game;
    terms.wagerCents = pool.wager.units() / kUnitsPerCent;
    terms.increment = pool.increment.partsPerMillion();
    terms.reserveIncrement = pool.reserveIncrement.partsPerMillion();
    terms.minimum = pool.minimum.units();
    terms.opening = pool.openingAmount().units();
    if (pool.cap) terms.cap = pool.cap->units();
    terms.payoutUnit = pool.payoutUnit.units();
    terms.windowMs = pool.windowMs();
    if (pool.bonus && pool.bonus->royalFlush) terms.bonusRoyal = pool.bonus->royalFlush->units();
    if (pool.bonus && pool.bonus->straightFlush)
        terms.bonusStraight = pool.bonus->straightFlush->units();
    return terms;
}

void readSite(const fs::path& file, const std::optional<std::vector<std::string>>& wanted,
              FloorSettings& settings)
{
    const auto config = config::load(file);
    if (!config) {
        std::string problems;
        for (const auto& problem : config.error())
            problems += (problems.empty() ? "" : "\n") + inWords(problem);
        throw audit::Stop{audit::kBadInput, problems};
    }
    settings.host = config->link.listen.host;
    if (settings.host == "0.0.0.0") settings.host = "127.0.0.1";
    if (settings.host == "::") settings.host = "::1";
    settings.port = config->link.listen.port;
    const rules::Site& site = config->site;
    std::vector<std::size_t> played(site.pools.size());
    for (const rules::PoolConfig& pool : site.pools) settings.pools.push_back(termsOf(pool));
    // Two controllers of one table would take its link from each other.
    const auto isDealtByHand = [&](const std::string& id) {
        return config->demo &&
               std::ranges::find(config->demo->tables, id) != config->demo->tables.end();
    };
    for (const rules::TableConfig& table : site.tables) {
        if (wanted && std::ranges::find(*wanted, table.id) == wanted->end()) continue;
        if (!wanted && isDealtByHand(table.id)) continue;
        const auto pool = static_cast<std::size_t>(
            std::ranges::find(site.pools, table.pool, &rules::PoolConfig::id) - site.pools.begin());
        settings.tables.push_back({table.id, static_cast<std::uint32_t>(pool),
                                   static_cast<int>(table.seats), table.requirePlayerCard});
        ++played[pool];
    }
    if (wanted)
        for (const std::string& id : *wanted)
            if (std::ranges::find(settings.tables, id, &TableTerms::id) == settings.tables.end())
                refuse("--tables: " + file.string() + " has no table \"" + id + "\"");
    for (std::size_t i = 0; i < settings.pools.size(); ++i)
        settings.pools[i].isAllOurs =
            played[i] > 0 &&
            played[i] == static_cast<std::size_t>(std::ranges::count(site.tables, site.pools[i].id,
                                                                     &rules::TableConfig::pool));
}

}  // namespace

FloorOptions readOptions(const std::vector<std::string>& given)
{
    const Arguments arguments{"", given, kOptions, "floorsim"};
    if (!arguments.positional().empty())
        refuse("\"" + arguments.positional().front() + "\" is no option");
    FloorOptions options;
    FloorSettings& settings = options.settings;

    const auto pki = arguments.value("--pki");
    if (!pki) refuse("--pki DIR is needed");
    settings.pki = *pki;
    std::optional<std::vector<std::string>> wanted;
    if (const auto list = arguments.value("--tables"); list && *list != "all") {
        wanted = split(*list);
        std::vector<std::string> sorted = *wanted;
        std::ranges::sort(sorted);
        if (std::ranges::adjacent_find(sorted) != sorted.end() || sorted.front().empty())
            refuse("--tables: each table once, as BJ01,BJ02");
    }
    const auto config = arguments.value("--config");
    const auto connect = arguments.value("--connect");
    if (!config && !connect) refuse("--config FILE or --connect HOST:PORT is needed");
    if (config) readSite(*config, wanted, settings);
    if (connect) readEndpoint(*connect, settings);
    if (settings.port == 0)
        refuse("the configuration leaves the port to the system: say where it is with --connect");
    if (!config) {
        settings.isConfigured = false;
        if (!wanted) {
            std::error_code failed;
            wanted.emplace();
            for (const auto& entry : fs::directory_iterator{settings.pki / "table", failed})
                if (entry.path().extension() == ".pem") wanted->push_back(entry.path().stem());
            std::ranges::sort(*wanted);
        }
        for (const std::string& id : *wanted) settings.tables.push_back({.id = id});
    }
    if (settings.tables.empty()) refuse("there is no table to play");

    const auto rounds = arguments.value("--rounds");
    if (rounds.has_value() == arguments.has("--seconds"))
        refuse("one of --rounds N and --seconds N is needed");
    if (rounds)
        settings.plan.rounds = arguments.number("--rounds", 1, kMany, 1);
    else
        settings.seconds = static_cast<std::int64_t>(arguments.number("--seconds", 1, kMany, 1));
    settings.warmupS = static_cast<std::int64_t>(arguments.number("--warmup", 0, 3600, 0));
    if (const auto rate = arguments.value("--rate")) settings.roundsPerMinute = readRate(*rate);
    settings.inFlight = arguments.number("--in-flight", 1, linkproto::kMaxInFlight, 1);
    settings.plan.seed = arguments.number("--seed", 0, ~std::uint64_t{0}, 1);
    settings.plan.noJackpots = arguments.has("--no-jackpots");
    const auto rate = [&](std::string_view option) {
        return static_cast<std::uint32_t>(arguments.number(option, 0, 1000, 0));
    };
    settings.plan.faults = {.disconnect = rate("--disconnect"),
                            .resend = rate("--resend"),
                            .duplicate = rate("--duplicate"),
                            .voids = rate("--void"),
                            .lateResult = rate("--late-result"),
                            .wrongCount = rate("--wrong-count")};
    settings.plan.forcedJackpots = arguments.number("--force-jackpots", 0, kMany, 0);
    if (settings.plan.rounds &&
        settings.plan.forcedJackpots > *settings.plan.rounds * settings.tables.size())
        refuse("--force-jackpots: more than there are rounds");
    settings.simultaneous = arguments.has("--simultaneous");
    settings.outbox = arguments.value("--outbox").value_or("");
    settings.resume = arguments.has("--resume");
    if (settings.resume && settings.outbox.empty())
        refuse("--resume needs the --outbox of the run");
    settings.patienceS = static_cast<std::int64_t>(arguments.number("--patience", 1, 3600, 10));
    settings.checks.verifyOneIn = arguments.has("--sample-receipts") ? 64 : 1;
    if (arguments.has("--key")) {
        const auto keys = audit::trustedKeys(arguments);
        if (keys.size() != 1) refuse("--key takes one key");
        settings.checks.key = keys.front();
    }
    options.live = arguments.has("--live");
    options.caption = arguments.value("--caption").value_or("");
    options.json = arguments.has("--json");
    options.quiet = arguments.has("--quiet");
    return options;
}

}  // namespace jackpot::floor
