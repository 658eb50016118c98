// Tables that play as fast as they can until they are killed. Each writes down what it is about to
// do and what it received, so that another program can compare that with the journal:
//
//     intent ROUND SEATS     before a round is opened; it may or may not have been stored
//     stored ROUND NUMBER    it is in the outbox: it must be in the journal, once
//     decided NUMBER RECORD AGAIN
//     undecided COUNT        in the outbox when this process began
//     suspended ROUND        the journal failed in this round: its wagers are returned
//
// A line is one write(), which a kill does not undo. SIGTERM ends it: no new rounds, all is
// decided.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>
#include <vector>

#include "linkproto/client/table_link.h"

namespace {

using namespace jackpot::link;
using namespace std::chrono_literals;

volatile std::sig_atomic_t gEnd = 0;
bool gMidRound = false;

class Notes {
public:
    explicit Notes(const std::string& file)
        : descriptor_{::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)}
    {
        if (descriptor_ < 0) std::abort();
    }
    Notes(const Notes&) = delete;
    Notes& operator=(const Notes&) = delete;
    ~Notes() { ::close(descriptor_); }

    template <class... Words>
    void line(const Words&... words)
    {
        std::ostringstream text;
        ((text << words << ' '), ...);
        text << '\n';
        const std::string all = text.str();
        if (::write(descriptor_, all.data(), all.size()) != static_cast<ssize_t>(all.size()))
            std::abort();
    }

private:
    int descriptor_;
};

std::int64_t newestRound(const std::string& file)
{
    std::int64_t newest = 0;
    std::ifstream in{file};
    for (std::string line; std::getline(in, line);) {
        std::istringstream words{line};
        std::string what;
        std::int64_t round = 0;
        if (words >> what >> round && what == "intent") newest = std::max(newest, round);
    }
    return newest;
}

constexpr const char* kSupervisor = "sue";

ReportResult resultOf(std::int64_t round) { return {.round = round, .board = {"9H"}, .hands = {}}; }

void play(const std::string& folder, const std::string& table, std::uint16_t port)
{
    const std::string file = folder + "/" + table + ".notes";
    std::int64_t round = newestRound(file);
    Notes notes{file};
    std::atomic<std::int64_t> unavailable{0};  // the round in which the journal failed
    auto link = TableLink::open(
        {.host = "127.0.0.1",
         .port = port,
         .table = table,
         .certificate = folder + "/pki/table/" + table + ".pem",
         .key = folder + "/pki/table/" + table + ".key",
         .ca = folder + "/pki/ca.pem",
         .outbox = folder + "/" + table + ".link"},
        {.onDecision =
             [&](const Decision& decision) {
                 notes.line("decided", decision.number, decision.record, decision.again ? 1 : 0);
                 if (decision.refusal)
                     notes.line("refused", decision.number, decision.refusal->code);
             },
         .onUnavailable =
             [&](std::optional<std::int64_t> open) { unavailable = open.value_or(0); },
         .onFault = [&](const std::string& fault,
                        const std::string& detail) { notes.line("fault", fault, detail); }});
    if (!link) {
        notes.line("fault", "open", link.error().message);
        return;
    }
    notes.line("undecided", (*link)->status().undecided);
    // With its result; or, after a failure of the journal, without the jackpot (BJ 16.18).
    const auto finish = [&] {
        const auto open = (*link)->status().openRound;
        if (!open) return;
        if (unavailable.exchange(0) != *open) {
            (void)(*link)->send(resultOf(*open));
            return;
        }
        notes.line("suspended", *open);
        (void)(*link)->send(
            Suspend{.ground = SuspensionGround::Malfunction, .by = kSupervisor});
        (void)(*link)->send(Resume{.by = kSupervisor});
    };
    finish();
    while (gEnd == 0) {
        if ((*link)->status().undecided > 20 || !(*link)->status().mayTakeWagers) {
            std::this_thread::sleep_for(1ms);
            continue;
        }
        ++round;
        OpenRound open{.round = round, .wagers = {}};
        std::string seats;
        for (std::int64_t seat = 1; seat <= 1 + round % 7; ++seat) {
            open.wagers.push_back({.seat = seat, .playerCard = "P-" + std::to_string(seat)});
            seats += std::to_string(seat);
        }
        notes.line("intent", round, seats);
        if (const auto number = (*link)->send(open)) notes.line("stored", round, *number);
        if (gMidRound) std::this_thread::sleep_for(10ms);
        finish();
    }
    while ((*link)->status().undecided > 0 && (*link)->status().stoppedBy.empty())
        std::this_thread::sleep_for(5ms);
}

}  // namespace

int main(int count, char** arguments)
{
    std::vector<std::string> given{arguments + 1, arguments + count};
    gMidRound = std::erase(given, "--mid-round") > 0;
    if (given.size() < 3) {
        std::cerr << "usage: kill_floor FOLDER PORT [--mid-round] TABLE...\n";
        return 2;
    }
    std::signal(SIGTERM, [](int) { gEnd = 1; });
    std::vector<std::jthread> tables;
    for (std::size_t i = 2; i < given.size(); ++i)
        tables.emplace_back(
            [&, i] { play(given[0], given[i], static_cast<std::uint16_t>(std::stoi(given[1]))); });
    return 0;
}
