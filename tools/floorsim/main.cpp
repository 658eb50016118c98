// floorsim: a simulated gaming floor that keeps its own books.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "tools/cli/command_error.h"
#include "tools/floorsim/options.h"
#include "tools/floorsim/report.h"

namespace {

using namespace jackpot;

constexpr int kBooksDiffer = 1;
constexpr auto kLineInterval = std::chrono::seconds{5};

std::atomic<int> interrupts{0};

int play(const floorsim::FloorOptions& options)
{
    auto floor = floorsim::Floor::open(options.settings);
    if (!floor) throw cli::CommandError{cli::kBadInput, floor.error().message};

    std::signal(SIGPIPE, SIG_IGN);
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { ++interrupts; });
    const bool isScreen = ::isatty(STDOUT_FILENO) != 0 && !options.json;
    std::chrono::steady_clock::time_point last{};
    std::string lastPhase;
    const auto result = (*floor)->run(interrupts, [&](const floorsim::FloorView& view) {
        if (!options.live || options.quiet) return;
        if (isScreen) {
            std::cout << progressScreen(view) << options.caption << std::flush;
        } else if (std::chrono::steady_clock::now() - last >= kLineInterval ||
                   lastPhase != view.phase) {
            lastPhase = view.phase;
            last = std::chrono::steady_clock::now();
            // With --json, standard output has the result and nothing else.
            (options.json ? std::cerr : std::cout) << progressLine(view) << std::endl;
        }
    });
    if (isScreen && options.live) std::cout << "\033[H\033[J";
    const bool agrees = result.view.books.mistakeCount() == 0;
    if (options.json)
        std::cout << reportJson(result, options.settings.plan.seed);
    else if (!options.quiet || !agrees)
        std::cout << reportText(result);
    if (interrupts > 1) return cli::kInterrupted;
    return agrees ? cli::kSuccess : kBooksDiffer;
}

}  // namespace

int main(int argc, char** argv)
{
    cli::Program program{"floorsim", JACKPOT_VERSION,
                         "a simulated gaming floor that keeps its own books"};
    floorsim::declareCommandLine(program.root(), play);
    return program.run({argv + 1, argv + argc});
}
