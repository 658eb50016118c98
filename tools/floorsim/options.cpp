#include "tools/floorsim/options.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>

#include "base/encoding.h"
#include "config/config.h"
#include "linkproto/limits.h"
#include "tools/cli/command_error.h"
#include "tools/cli/verifier_keys.h"

namespace jackpot::floorsim {

namespace {

namespace fs = std::filesystem;

constexpr cli::Range kCount{1, 1'000'000'000};
constexpr cli::Range kCountOrNone{0, kCount.max};
constexpr cli::Range kPerThousand{0, 1000};
constexpr cli::Range kSeconds{1, 3600};

// The command line as it was given.
struct Given {
    std::string config;
    std::string connect;
    std::string pki;
    std::string tables = "all";
    std::vector<std::string> keys;
    std::optional<std::uint64_t> rounds;
    std::optional<std::uint64_t> seconds;
    std::uint64_t warmup = 0;
    std::optional<std::string> rate;
    std::uint64_t inFlight = 1;
    std::uint64_t seed = 1;
    bool noJackpots = false;
    std::uint64_t disconnect = 0;
    std::uint64_t resend = 0;
    std::uint64_t duplicate = 0;
    std::uint64_t lateResult = 0;
    std::uint64_t latePress = 0;
    std::uint64_t voids = 0;
    std::uint64_t corrections = 0;
    std::uint64_t suspends = 0;
    std::uint64_t wrongCount = 0;
    std::uint64_t forceJackpots = 0;
    bool simultaneous = false;
    std::string outbox;
    bool resume = false;
    std::uint64_t patience = 10;
    bool sampleReceipts = false;
    bool live = false;
    std::string caption;
    bool json = false;
    bool quiet = false;
};

constexpr char kDescription[] =
    R"(Plays many tables of both games against a running jackpotd, over the real link: TLS with a
certificate for each table, durable outboxes if wanted, real shuffled cards (six decks for Blazing
7's, one for Ultimate Texas Hold'em). From the cards and the commands it keeps its own books, with
its own arithmetic, and compares them with every message of the daemon. Use it to try an
installation, to measure it, and to test it under faults.

NEVER run it against a controller that is in use: its wagers and awards are journaled like any
others.

Ctrl-C (or SIGTERM) ends the run in order: open rounds are finished, decisions are awaited, the
books are compared. A second Ctrl-C ends it at once. The daemon may be killed and restarted at any
time, and so may floorsim with --outbox and --resume.

The books check, exactly:
  - each command is decided once and in order; a repeated answer is the same
    answer; only commands of a suspended table or pool are refused
  - each fixed award, claim, refund and withdrawal, by seat, tier and cent,
    against the cards, the corrections and the ground of a void; an award names
    the same player for the same card
  - for a pool whose tables are all played here (with --config): the amount in
    each decision, in the order of the journal's records, against a meter kept
    to 1e-8 dollar: contributions, caps, returns, resets to the minimum, and
    jackpots, which take their money at the button; and each 10 % and 100 %
    award, bonus and guarantee, when it is locked and when it is due
  - no Blazing 7's jackpot is due before settle_after_ms have passed, and none
    without a ruling whose button was pressed together with another table's
  - receipts never shrink, cover the decisions they come with, and are signed
    by the journal's key
  - at the end, for each table: the daemon's count of its wagers and the number
    of its last command; for each pool the amount shown; that no command is
    undecided and no award is missing

The books cannot know:
  - the exact meter of a pool that was played before: it shows whole cents, so
    its meter is known to a cent until it is reset, and each amount shown
    narrows that down
  - the ruling on held jackpots: if it changes amounts, these and the meter after
    it are accepted as reported
  - other changes by people during the run (adjustments, parameters, voids and
    corrections of a confirmed round, a table suspended in the middle of a
    round): they are reported as differences
  - a jackpot whose settlement was lost with a link, unless the table's state,
    which lists 64, still has it)";

void declareFloor(cli::Command& program, Given& given)
{
    program.section("The floor")
        .option("--config FILE", given.config,
                "the daemon's configuration: its address, pools and tables. Without it the books "
                "know neither the pools' rates nor their minimum, and do not check meters and "
                "jackpots")
        .option("--connect HOST:PORT", given.connect,
                "the daemon's address, if it is not that of the configuration; IPv6 in brackets. "
                "Required if the configuration has port 0")
        .option("--pki DIR", given.pki,
                "certificates as jackpotctl pki writes them: ca.pem, table/ID.pem, table/ID.key")
        .required()
        .option("--tables LIST", given.tables,
                "the tables to play, as BJ01,BJ02,UTH01, or all: all of the configuration except "
                "those of [demo], which people deal; or, without a configuration, all with a "
                "certificate in DIR")
        .option("--key KEY", given.keys,
                "the journal's verifier key, or a file with it; the key that the daemon names "
                "unless given");
    program.section("How much")
        .number("--rounds N", given.rounds, kCount, "rounds of each table")
        .number("--seconds N", given.seconds, kCount, "or the seconds to play, after the warm-up")
        .number("--warmup N", given.warmup, {0, 3600}, "seconds that are played and not measured")
        .option("--rate R", given.rate,
                "rounds of each table per minute; as fast as they are decided unless given")
        .number("--in-flight K", given.inFlight, {1, linkproto::kMaxInFlight},
                "commands of a table that may be undecided; a real table has 1")
        .number("--seed S", given.seed, {0, ~std::uint64_t{0}},
                "the seed of cards and faults. The same seed, tables and round numbers give the "
                "same cards; the order between tables depends on the clock")
        .flag("--no-jackpots", given.noJackpots,
              "shuffles again if a jackpot would be dealt: at thousands of rounds per second they "
              "come faster than windows end. A table with seven wins that are not final gets no "
              "further jackpot in any case: with eight it could open no round");
}

void declareRun(cli::Command& program, Given& given)
{
    program.section("Faults, in how many of a thousand rounds")
        .number("--disconnect N", given.disconnect, kPerThousand,
                "the link is cut as the round is opened")
        .number("--resend N", given.resend, kPerThousand,
                "the link is cut after the result was sent and before the answer is read")
        .number("--duplicate N", given.duplicate, kPerThousand,
                "commands are sent twice on the same link")
        .number("--late-result N", given.lateResult, kPerThousand,
                "the link is cut while the round is open, and the result waits in the outbox")
        .number("--late-press N", given.latePress, kPerThousand,
                "the link is cut before the button is pressed, and the press waits in the outbox")
        .number("--void N", given.voids, kPerThousand,
                "the round is voided before or after its result, or one of its wagers is, for each "
                "ground that a table has")
        .number("--correct N", given.corrections, kPerThousand,
                "another result is reported first, and corrected before the button")
        .number("--suspend N", given.suspends, kPerThousand,
                "the table is suspended, for a malfunction in the round or between rounds, and "
                "resumes")
        .number("--wrong-count N", given.wrongCount, kPerThousand,
                "the table reports one wager too many. It expects to be suspended, and resumes");
    program.section("Jackpots")
        .number("--force-jackpots N", given.forceJackpots, kCountOrNone,
                "this many jackpots by stacked decks, over all tables, the tiers in turn. With "
                "--seconds, one in every four rounds of a table")
        .flag("--simultaneous", given.simultaneous,
              "dealers press the button at once. By default a dealer waits until another table's "
              "press for the same pool is decided and the window has passed, because ties are held "
              "for a ruling, and nobody rules here");
    program.section("The run")
        .option("--outbox DIR", given.outbox,
                "durable outboxes, one ID.outbox per table, and books.log; in memory unless given")
        .flag("--resume", given.resume,
              "continues the run with this --outbox after floorsim was killed. --rounds includes "
              "the rounds before")
        .number("--patience N", given.patience, kSeconds,
                "seconds to wait for connections, and at the end for decisions")
        .flag("--sample-receipts", given.sampleReceipts,
              "verifies one signature in 64 instead of all; for measuring")
        .flag("--live", given.live,
              "shows pools, tables and rounds per second while it runs: a screen on a terminal, "
              "else a line every few seconds")
        .option("--caption TEXT", given.caption, "a text below that screen")
        .flag("--json", given.json, "prints the result as JSON")
        .flag("--quiet", given.quiet, "prints only differences; with --json only the result");
}

[[noreturn]] void refuse(const std::string& message) { throw cli::UsageError{message}; }

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
    terms.settleAfterMs = pool.waitMs();
    if (pool.guarantee && pool.guarantee->royalFlush)
        terms.guaranteeRoyal = pool.guarantee->royalFlush->units();
    if (pool.guarantee && pool.guarantee->straightFlush)
        terms.guaranteeStraight = pool.guarantee->straightFlush->units();
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
        throw cli::CommandError{cli::kBadInput, problems};
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

// The tables of --tables; nullopt for all.
std::optional<std::vector<std::string>> wantedTables(const Given& given)
{
    if (given.tables == "all") return std::nullopt;
    std::vector<std::string> wanted = split(given.tables);
    std::vector<std::string> sorted = wanted;
    std::ranges::sort(sorted);
    if (std::ranges::adjacent_find(sorted) != sorted.end() || sorted.front().empty())
        refuse("--tables: each table once, as BJ01,BJ02");
    return wanted;
}

void readFloor(const Given& given, FloorSettings& settings)
{
    settings.pki = given.pki;
    auto wanted = wantedTables(given);
    if (given.config.empty() && given.connect.empty())
        refuse("--config FILE or --connect HOST:PORT is required");
    if (!given.config.empty()) readSite(given.config, wanted, settings);
    if (!given.connect.empty()) readEndpoint(given.connect, settings);
    if (settings.port == 0)
        refuse("the configuration has port 0: give the daemon's address with --connect");
    if (given.config.empty()) {
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
}

void readPlan(const Given& given, FloorSettings& settings)
{
    if (given.rounds.has_value() == given.seconds.has_value())
        refuse("one of --rounds N and --seconds N is required");
    settings.plan.rounds = given.rounds;
    if (given.seconds) settings.seconds = static_cast<std::int64_t>(*given.seconds);
    settings.warmupS = static_cast<std::int64_t>(given.warmup);
    if (given.rate) settings.roundsPerMinute = readRate(*given.rate);
    settings.inFlight = given.inFlight;
    settings.plan.seed = given.seed;
    settings.plan.noJackpots = given.noJackpots;
    const auto rate = [](std::uint64_t perThousand) {
        return static_cast<std::uint32_t>(perThousand);
    };
    settings.plan.faults = {.disconnect = rate(given.disconnect),
                            .resend = rate(given.resend),
                            .duplicate = rate(given.duplicate),
                            .voids = rate(given.voids),
                            .corrections = rate(given.corrections),
                            .suspends = rate(given.suspends),
                            .lateResult = rate(given.lateResult),
                            .latePress = rate(given.latePress),
                            .wrongCount = rate(given.wrongCount)};
    settings.plan.forcedJackpots = given.forceJackpots;
    if (given.rounds && given.forceJackpots > *given.rounds * settings.tables.size())
        refuse("--force-jackpots: there are fewer rounds than jackpots");
}

FloorOptions optionsOf(const Given& given)
{
    FloorOptions options;
    FloorSettings& settings = options.settings;
    readFloor(given, settings);
    readPlan(given, settings);
    settings.simultaneous = given.simultaneous;
    settings.outbox = given.outbox;
    settings.resume = given.resume;
    if (settings.resume && settings.outbox.empty())
        refuse("--resume needs the --outbox of the run");
    settings.timeoutS = static_cast<std::int64_t>(given.patience);
    settings.checks.verifyOneIn = given.sampleReceipts ? 64 : 1;
    if (!given.keys.empty()) {
        const auto keys = cli::trustedKeys(given.keys);
        if (keys.size() != 1) refuse("--key takes one key");
        settings.checks.key = keys.front();
    }
    options.live = given.live;
    options.caption = given.caption;
    options.json = given.json;
    options.quiet = given.quiet;
    return options;
}

}  // namespace

void declareCommandLine(cli::Command& program, std::function<int(const FloorOptions&)> play)
{
    auto given = std::make_shared<Given>();
    program.usage("--config FILE --pki DIR (--rounds N | --seconds N) [OPTIONS]")
        .usage("--connect HOST:PORT --pki DIR [--tables LIST] (--rounds N | --seconds N) [OPTIONS]")
        .usage("--help | --version")
        .describe(kDescription);
    declareFloor(program, *given);
    declareRun(program, *given);
    program
        .exitStatuses(
            {{0, "the books agree"},
             {1, "the books differ, or the floor could not be played: the report names the place"},
             {2, "the command line, a file or a certificate cannot be used: nothing was played"},
             {130, "ended at once by a second Ctrl-C"}})
        .example("floorsim --config jackpotd.toml --pki pki --rounds 1000 --live")
        .example("floorsim --config jackpotd.toml --pki pki --seconds 60 --rate 60 \\")
        .example("         --disconnect 20 --resend 20 --duplicate 20 --void 10 \\")
        .example("         --correct 10 --suspend 5 --late-result 10 --late-press 10 \\")
        .example("         --wrong-count 2 --outbox /tmp/floor")
        .example("floorsim --config jackpotd.toml --pki pki --seconds 20 --warmup 5 \\")
        .example("         --in-flight 16 --no-jackpots --sample-receipts --quiet --json")
        .run([given, play = std::move(play)] { return play(optionsOf(*given)); });
}

}  // namespace jackpot::floorsim
