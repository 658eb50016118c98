// The configuration: one TOML file, read and checked as a whole. A Config that exists keeps every
// limit stated here and every rule that rules::validate() knows; the files it names are not opened.
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

struct ConfigProblem {
    std::string file;
    std::uint32_t line = 0;  // from 1; 0 where the file could not be read at all
    std::uint32_t column = 0;
    std::string rule;  // "BJ 14.28"; empty where the limit is our own
    std::string message;

    bool operator==(const ConfigProblem&) const = default;
};

// "jackpotd.toml:12:11: minimum: ... (BJ 14.28)"
std::string inWords(const ConfigProblem& problem);

struct JournalConfig {
    std::filesystem::path directory;
    std::optional<std::filesystem::path> key;  // else journal.key in $CREDENTIALS_DIRECTORY
    std::int64_t snapshotEvery = 50'000;       // records
    std::int64_t heartbeatS = 60;

    bool operator==(const JournalConfig&) const = default;
};

struct Endpoint {
    std::string host = "127.0.0.1";  // an address or a name; IPv6 without its brackets
    std::uint16_t port = 7707;       // 0 lets the system choose
    // Where not empty, the name of a socket that systemd hands over, which is used instead.
    std::string inherited{};

    bool operator==(const Endpoint&) const = default;
};

struct LinkConfig {
    Endpoint listen;
    std::filesystem::path certificate;
    std::filesystem::path key;
    std::filesystem::path ca;
    std::optional<std::filesystem::path> crl;
    std::optional<std::filesystem::path> playerCardKey;  // else player_card.key, as journal.key
    std::int64_t maxConnections = 2500;
    std::int64_t maxConnectionsPerAddress = 2500;
    std::int64_t handshakeTimeoutMs = 5000;
    std::int64_t frameTimeoutMs = 5000;
    std::int64_t offlineAfterMs = 5000;
    std::int64_t refusalsPerMinute = 60;          // of one table; more suspend it
    std::optional<std::int64_t> roundsPerMinute;  // of one table; unset is no limit

    bool operator==(const LinkConfig&) const = default;
};

using Network = IpNetwork;

// Whether a numeric address is in one of the networks.
bool contains(const std::vector<Network>& networks, std::string_view address);

// 127.0.0.0/8 and ::1.
std::vector<Network> thisMachine();

// For displays that poll. Without [meters] there is nothing to poll.
struct PollingConfig {
    Endpoint listen{"127.0.0.1", 1502};
    std::vector<Network> allow = thisMachine();
    std::int64_t maxDisplays = 500;
    std::int64_t maxDisplaysPerAddress = 500;
    std::int64_t frameTimeoutMs = 30;
    std::int64_t idleTimeoutS = 60;

    bool operator==(const PollingConfig&) const = default;
};

// The claims desk. Without the section there is none.
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
    std::vector<std::string> noticeCommand;  // a program by its whole path, and its arguments
    bool noticeSyslog = false;
    // An award or payment from this amount on needs two people.
    rules::Money secondPersonFrom = rules::Money::ofDollars(10'000);

    bool operator==(const DeskConfig&) const = default;
};

// The receivers of the journal's checkpoints; at least one of the three.
struct WitnessConfig {
    std::optional<std::filesystem::path> file;
    bool syslog = false;
    std::string url;             // "https://HOST:PORT", empty for none
    std::filesystem::path ca{};  // what its certificate is checked with
    std::int64_t everyS = 10;

    bool operator==(const WitnessConfig&) const = default;
};

// Tables of which this daemon plays the table's side too, for dealers in a browser (docs/demo.md).
// Never where money is played for.
struct DemoConfig {
    std::vector<std::string> tables;  // of the site, at least one
    std::filesystem::path pki;        // as jackpotctl pki lays it out
    std::filesystem::path outbox;     // a directory

    bool operator==(const DemoConfig&) const = default;
};

// Of the desk's /metrics.
struct MetricsConfig {
    std::vector<Network> allow = thisMachine();  // from where they are read without a session

    bool operator==(const MetricsConfig&) const = default;
};

struct WriterConfig {
    std::int64_t mailbox = 8192;  // commands that may wait
    std::int64_t batch = 1024;    // of them in one commit, at most the mailbox

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

// As the file states it; it is loaded only where it says what the approved rules say.
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
    std::int64_t baud = 19'200;  // as MODBUS over serial line has these defaults
    Parity parity = Parity::Even;
    std::int64_t stopBits = 1;

    bool operator==(const SerialPort&) const = default;
};

// How a display that is a slave is written to.
struct Drive {
    std::variant<Endpoint, SerialPort> to;
    std::int64_t unit = 1;         // the display's own on its line: 1 to 247, over TCP also 255
    std::string format = "block";  // a name that meters::formatNamed() knows
    std::int64_t digits = 0;       // 1 to 16 of a format with digits
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
    std::optional<std::int64_t> unit;  // where it is polled: 1 to 247, unlike any other's there
    std::string pool;
    std::vector<std::string> tables;
    std::optional<Endpoint> listen;            // where it is polled, if not at [meters] listen
    std::optional<Network> display;            // its address, if displays share a unit
    std::optional<std::int64_t> silentAfterS;  // alarm if not read for this time
    bool suspendWhenSilent = false;            // its tables that no other meter shows
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

// All problems at once, in the order of their lines. Relative paths in the file are taken from its
// directory. After a syntax error or bad UTF-8 nothing else has been looked at.
Loaded load(const std::filesystem::path& file);
// The same of a text; `file` is for messages and relative paths.
Loaded parse(std::string_view text, const std::filesystem::path& file);

}  // namespace jackpot::config
