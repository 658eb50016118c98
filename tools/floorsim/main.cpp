// floorsim: a simulated gaming floor that keeps its own books.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "base/printable.h"
#include "tools/floorsim/options.h"
#include "tools/floorsim/report.h"
#include "tools/jackpot-audit/cli.h"

namespace {

using namespace jackpot;

constexpr int kInterrupted = 130;
constexpr auto kLineEvery = std::chrono::seconds{5};

std::atomic<int> interrupts{0};

int run(const std::vector<std::string>& given)
{
    const floor::FloorOptions options = floor::readOptions(given);
    auto floor = floor::Floor::open(options.settings);
    if (!floor) throw audit::Stop{audit::kBadInput, floor.error().message};

    std::signal(SIGPIPE, SIG_IGN);
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { ++interrupts; });
    const bool isScreen = ::isatty(STDOUT_FILENO) != 0 && !options.json;
    std::chrono::steady_clock::time_point last{};
    std::string lastPhase;
    const auto result = (*floor)->run(interrupts, [&](const floor::FloorView& view) {
        if (!options.live || options.quiet) return;
        if (isScreen) {
            std::cout << progressScreen(view) << options.caption << std::flush;
        } else if (std::chrono::steady_clock::now() - last >= kLineEvery ||
                   lastPhase != view.phase) {
            lastPhase = view.phase;
            last = std::chrono::steady_clock::now();
            // The result alone goes to standard output where a program reads it.
            (options.json ? std::cerr : std::cout) << progressLine(view) << std::endl;
        }
    });
    if (isScreen && options.live) std::cout << "\033[H\033[J";
    const bool agrees = result.view.books.mistakeCount() == 0;
    if (options.json)
        std::cout << reportJson(result, options.settings.plan.seed);
    else if (!options.quiet || !agrees)
        std::cout << reportText(result);
    if (interrupts > 1) return kInterrupted;
    return agrees ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv)
{
    const std::vector<std::string> given{argv + 1, argv + argc};
    for (const std::string& argument : given) {
        if (argument == "--help" || argument == "-h") {
            std::cout << jackpot::floor::kFloorHelp;
            return 0;
        }
        if (argument == "--version") {
            std::cout << "floorsim " << JACKPOT_VERSION << "\n";
            return 0;
        }
    }
    try {
        return run(given);
    } catch (const jackpot::audit::Stop& stop) {
        std::cerr << "floorsim: " << printable(stop.what()) << "\n";
        return stop.status();
    } catch (const std::exception& error) {
        std::cerr << "floorsim: " << printable(error.what()) << "\n";
        return 2;
    }
}
