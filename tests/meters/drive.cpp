// Drives the displays of a configuration from a board that the lines on standard input write to:
//
//     drive CONFIGURATION [DESCRIPTORS [first]]
//
//   set POOL CENTS [closed] [pending] [held] [won]    publish
//   begin | end       a turn of the writer, which is stale after a while
//   fail              the journal has failed
//   drive FILE        the displays of another configuration from now on
//   state             one line for each display, its fields divided by tabs, and a dot
//
// Each is answered with a line, at least a dot. DESCRIPTORS are open before displays are driven,
// and, with "first", before the master is made. At the end of the input it says how long stopping
// took.
#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>

#include "config/config.h"
#include "jackpotd/displays.h"
#include "meters/modbus_master.h"

namespace jackpot {
namespace {

using meters::Clock;
using std::chrono::milliseconds;

config::Config loadOrExit(const std::string& file)
{
    auto loaded = config::load(file);
    if (loaded) return *std::move(loaded);
    for (const config::ConfigProblem& problem : loaded.error())
        std::cerr << inWords(problem) << "\n";
    std::exit(2);
}

std::optional<std::size_t> poolOf(const config::Config& config, const std::string& id)
{
    const auto pool = std::ranges::find(config.site.pools, id, &rules::PoolConfig::id);
    if (pool == config.site.pools.end()) return std::nullopt;
    return static_cast<std::size_t>(pool - config.site.pools.begin());
}

void driveOrExit(meters::Master& master, const config::Config& config)
{
    std::vector<meters::DrivenDisplay> displays;
    for (const config::Meter& meter : config.meters)
        if (meter.drive)
            displays.push_back(toDrivenDisplay(meter, poolOf(config, meter.pool).value()));
    if (const auto driven = master.drive(displays); !driven) {
        std::cerr << driven.error().message << "\n";
        std::exit(1);
    }
}

void publish(meters::PublishedReadings& board, std::size_t pool, const std::string& id,
             std::istream& words)
{
    meters::PoolReading reading;
    reading.pool = id;
    reading.open = true;
    std::int64_t cents = 0;
    words >> cents;
    reading.displayed = rules::Money::ofCents(cents);
    for (std::string word; words >> word;) {
        if (word == "closed") reading.open = false;
        if (word == "pending") reading.pending = true;
        if (word == "held") reading.held = true;
        if (word == "won") reading.winShownUntil = Clock::now() + milliseconds{500};
    }
    board.publish(pool, reading, 1'700'000'000);
    board.announce();
}

void print(const std::vector<meters::DisplayState>& states)
{
    for (const meters::DisplayState& each : states) {
        std::cout << each.id << '\t' << (each.connected ? 1 : 0) << '\t' << each.writes << '\t'
                  << each.errors << '\t' << (each.cents ? std::to_string(*each.cents) : "-") << '\t'
                  << each.status << '\t';
        if (each.lastWrite)
            std::cout
                << std::chrono::duration_cast<milliseconds>(Clock::now() - *each.lastWrite).count();
        else
            std::cout << '-';
        std::cout << '\t' << each.lastError << '\n';
    }
}

void openDescriptors(int count)
{
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    for (int i = 0; i < count; ++i)
        if (::open("/dev/null", O_RDONLY | O_CLOEXEC) == -1) std::exit(3);
}

int main(const std::vector<std::string>& arguments)
{
    if (arguments.empty() || arguments.size() > 3) return 2;
    const int descriptors = arguments.size() > 1 ? std::stoi(arguments[1]) : 0;
    const bool first = arguments.size() > 2;
    const config::Config config = loadOrExit(arguments[0]);
    meters::PublishedReadings board{config.site.pools.size()};
    if (first) openDescriptors(descriptors);
    std::optional<meters::Master> master{std::in_place, board};
    if (!first) openDescriptors(descriptors);
    driveOrExit(*master, config);

    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words{line};
        std::string command;
        std::string what;
        words >> command >> what;
        if (command == "set") publish(board, poolOf(config, what).value(), what, words);
        if (command == "begin") board.beginTurn();
        if (command == "end") board.endTurn();
        if (command == "fail") board.fail();
        if (command == "drive") driveOrExit(*master, loadOrExit(what));
        if (command == "state") print(master->states());
        std::cout << "." << std::endl;
    }
    const Clock::time_point asked = Clock::now();
    master.reset();
    std::cout << "stopped in "
              << std::chrono::duration_cast<milliseconds>(Clock::now() - asked).count() << " ms\n";
    return 0;
}

}  // namespace
}  // namespace jackpot

int main(int argc, char** argv) { return jackpot::main({argv + 1, argv + argc}); }
