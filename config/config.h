// The configuration: one TOML file, read and checked as a whole. A Config satisfies every limit
// stated here and every rule of rules::validate(). The files it names are not opened.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ip_network.h"
#include "base/result.h"
#include "rules/paytable.h"
#include "rules/site.h"

namespace jackpot::config {

inline constexpr std::size_t kMaxFileBytes = 1U << 20U;
inline constexpr std::size_t kMaxPayTables = 100;
inline constexpr std::size_t kMaxPools = 100;
inline constexpr std::size_t kMaxTables = 10'000;
inline constexpr std::int64_t kHeartbeatMs = 1000;  // of the link

struct ConfigProblem {
    std::string file;
    std::uint32_t line = 0;  // from 1; 0 if the file could not be read at all
    std::uint32_t column = 0;
    std::string rule;  // "BJ 14.28"; empty if the limit comes from no rule
    std::string message;

    bool operator==(const ConfigProblem&) const = default;
};

// "jackpotd.toml:12:11: minimum: ... (BJ 14.28)"
std::string inWords(const ConfigProblem& problem);

struct JournalConfig {
    std::filesystem::path directory;
    std::optional<std::filesystem::path> key;  // unset: journal.key in $CREDENTIALS_DIRECTORY
    std::int64_t snapshotEvery = 50'000;       // records
    std::int64_t heartbeatS = 60;

    bool operator==(const JournalConfig&) const = default;
};

struct Endpoint {
    std::string host = "127.0.0.1";  // an address or a name; IPv6 without its brackets
    std::uint16_t port = 7707;       // 0 lets the system choose
    // If not empty: the name of a socket from systemd, which is used instead.
    std::string inherited{};

    bool operator==(const Endpoint&) const = default;
};

struct LinkConfig {
    Endpoint listen;
    std::filesystem::path certificate;
    std::filesystem::path key;
    std::filesystem::path ca;
    std::optional<std::filesystem::path> crl;
    // Unset: player_card.key in $CREDENTIALS_DIRECTORY.
    std::optional<std::filesystem::path> playerCardKey;
    std::int64_t maxConnections = 2500;
    std::int64_t maxConnectionsPerAddress = 2500;
    std::int64_t handshakeTimeoutMs = 5000;
    std::int64_t frameTimeoutMs = 5000;
    std::int64_t offlineAfterMs = 5000;
    std::int64_t offlineNoticeAfterS = 60;        // a table that is offline for longer is a notice
    std::int64_t refusalsPerMinute = 60;          // of one table; a table with more is suspended
    std::optional<std::int64_t> roundsPerMinute;  // of one table; unset: no limit

    bool operator==(const LinkConfig&) const = default;
};

// The least settle_after_ms of a Blazing 7's pool: a lost link is known before a win is due.
std::int64_t leastSettleAfterMs(const rules::PoolConfig& pool, const LinkConfig& link);

using Network = IpNetwork;

// Whether a numeric address is in one of the networks.
bool contains(const std::vector<Network>& networks, std::string_view address);

// 127.0.0.0/8 and ::1.
std::vector<Network> thisMachine();

// For displays that poll. Without [meters] the daemon has no Modbus listener.
struct PollingConfig {
    Endpoint listen{"127.0.0.1", 1502};
    std::vector<Network> allow = thisMachine();
    std::int64_t maxDisplays = 500;
    std::int64_t maxDisplaysPerAddress = 500;
    std::int64_t frameTimeoutMs = 30;
    std::int64_t idleTimeoutS = 60;

    bool operator==(const PollingConfig&) const = default;
};

// The claims desk. Without the section the daemon has no desk.
struct DeskConfig {
    Endpoint listen;
    std::filesystem::path certificate;
    std::filesystem::path key;
    std::optional<std::filesystem::path> clientCa;
    std::int64_t maxConnections = 500;
    std::int64_t maxConnectionsPerAddress = 300;
    std::int64_t maxFeeds = 250;
    std::int64_t requestTimeoutMs = 10'000;
    std::int64_t sessionIdleMinutes = 15;
    std::int64_t sessionHours = 12;
    bool bindSessionToAddress = true;
    std::vector<std::string> noticeCommand;  // the absolute path of a program, and its arguments
    bool noticeSyslog = false;
    // An award or payment from this amount on needs two people.
    rules::Money secondPersonFrom = rules::Money::ofDollars(10'000);

    bool operator==(const DeskConfig&) const = default;
};

// The receivers of the journal's checkpoints; at least one of file, syslog and url is set.
struct WitnessConfig {
    std::optional<std::filesystem::path> file;
    bool syslog = false;
    std::string url;             // "https://HOST:PORT"; empty: not used
    std::filesystem::path ca{};  // the CA that its certificate is checked against
    std::int64_t everyS = 10;

    bool operator==(const WitnessConfig&) const = default;
};

// Demo tables: the daemon also runs the table's side, and dealers use a browser (docs/demo.md).
// Never use it with real money.
struct DemoConfig {
    std::vector<std::string> tables;  // ids of the site's tables, at least one
    std::filesystem::path pki;        // directory with the layout of jackpotctl pki
    std::filesystem::path outbox;     // a directory

    bool operator==(const DemoConfig&) const = default;
};

// Settings of the desk's /metrics.
struct MetricsConfig {
    std::vector<Network> allow = thisMachine();  // networks that may read them without a session

    bool operator==(const MetricsConfig&) const = default;
};

struct WriterConfig {
    std::int64_t mailbox = 8192;  // the most commands that may wait
    std::int64_t batch = 1024;    // the most commands in one commit; at most `mailbox`

    bool operator==(const WriterConfig&) const = default;
};

enum class LogLevel : std::uint8_t { Error, Warning, Information, Debug };

std::string_view idOf(LogLevel level);  // "information"

struct PayTableRow {
    rules::Tier tier = rules::Tier::None;
    rules::Pays pays = rules::Pays::Fixed;
    rules::Money amount;  // of a fixed award

    bool operator==(const PayTableRow&) const = default;
};

// A pay table of the file. Loading fails if it differs from the approved rules.
struct PayTable {
    std::string id;
    rules::Game game = rules::Game::BlazingSevens;
    rules::Money wager;
    std::vector<PayTableRow> rows;

    bool operator==(const PayTable&) const = default;
};

enum class Parity : std::uint8_t { None, Even, Odd };

std::string_view idOf(Parity parity);  // "even"

struct SerialPort {
    std::string device;
    std::int64_t baud = 19'200;  // this and the next two: defaults of MODBUS over Serial Line
    Parity parity = Parity::Even;
    std::int64_t stopBits = 1;

    bool operator==(const SerialPort&) const = default;
};

// How the daemon, as the Modbus master, writes to a display.
struct Drive {
    std::variant<Endpoint, SerialPort> to;
    std::int64_t unit = 1;         // the display's unit on its line: 1 to 247, over TCP also 255
    std::string format = "block";  // a name that meters::formatNamed() knows
    std::int64_t digits = 0;       // 1 to 16, for a format with digits
    bool lowFirst = false;
    std::int64_t address = 0;
    std::optional<std::int64_t> statusAddress;  // outside the amount's registers
    std::int64_t function = 16;                 // or 6
    bool readBack = false;
    std::int64_t timeoutMs = 500;
    std::int64_t heartbeatMs = 1000;

    bool operator==(const Drive&) const = default;
};

// "tcp://10.1.2.3:502" or "rtu:///dev/ttyUSB0"
std::string inWords(const std::variant<Endpoint, SerialPort>& line);

// A display, and the tables whose pool it shows. It is polled, or driven, or both.
struct Meter {
    std::string id;
    std::optional<std::int64_t>
        unit;  // if polled: 1 to 247; unique, or else listen or display differ
    std::string pool;
    std::vector<std::string> tables;
    std::optional<Endpoint> listen;  // if it is polled: the listener, unless [meters] listen
    std::optional<Network> display;  // the display's address, if displays share a unit
    std::optional<std::int64_t> silentAfterS;  // alarm if not read for this time
    bool suspendWhenSilent = false;            // suspend its tables that no other meter shows
    std::optional<Drive> drive{};

    bool operator==(const Meter&) const = default;
};

struct Config {
    std::filesystem::path file;
    std::string siteName;  // the name of the journal's key and the origin of its checkpoints
    JournalConfig journal;
    LinkConfig link;
    std::optional<DeskConfig> desk;
    std::optional<WitnessConfig> witness;
    std::optional<DemoConfig> demo{};  // only with a desk
    MetricsConfig metrics;
    WriterConfig writer;
    std::optional<PollingConfig> polling;
    LogLevel logLevel = LogLevel::Information;
    std::vector<PayTable> payTables;
    rules::Site site;
    std::vector<std::string> payTableOfPool;  // the id, for each of site.pools
    std::vector<Meter> meters;                // every table is in at least one

    bool operator==(const Config&) const = default;
};

using Loaded = Result<Config, std::vector<ConfigProblem>>;

// Returns all problems at once, in the order of their lines. Relative paths in the file are
// relative to its directory. After a syntax error or bad UTF-8 nothing else is checked.
Loaded load(const std::filesystem::path& file);
// Reads the configuration from a text; `file` is used for messages and relative paths.
Loaded parse(std::string_view text, const std::filesystem::path& file);

}  // namespace jackpot::config
