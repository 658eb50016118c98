// The smallest table controller: plays one round of Blazing 7's over the link to jackpotd, and
// prints the outcome.
//
//     table HOST PORT TABLE PKI OUTBOX
//
// PKI is a directory with ca.pem, table/TABLE.pem and table/TABLE.key, in the layout of
// jackpotctl pki.
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>

#include "linkproto/client/table_link.h"

namespace {

using namespace jackpot::link;
using std::chrono::seconds;

// Sends a command and waits for its decision, which is durable and signed. If none comes in time,
// nothing is lost: the command stays in the outbox and is sent until it is decided.
bool sendAndWait(TableLink& link, const Command& command, const std::string& description)
{
    const auto number = link.send(command);
    if (!number) {
        std::cerr << description << ": not accepted: " << number.error().message << "\n";
        return false;
    }
    const auto decision = link.wait(*number, seconds{10});
    if (!decision) {
        std::cerr << description << ": " << decision.error().message << "\n";
        return false;
    }
    if (decision->refusal) {
        std::cerr << description << ": refused: " << decision->refusal->detail << "\n";
        return false;
    }
    std::cout << description << ": acknowledged in record " << decision->record
              << "; the jackpot is " << decision->displayedCents << " cents\n";
    for (const Award& award : decision->awards)
        std::cout << "pay seat " << award.seat << " " << award.amountCents << " cents ("
                  << award.rule << ")\n";
    return true;
}

}  // namespace

int main(int argc, char** argv)
{
    int port = 0;
    if (argc == 6) std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), port);
    if (port < 1 || port > 65535) {
        std::cerr << "usage: table HOST PORT TABLE PKI OUTBOX\n";
        return 2;
    }
    const std::string table = argv[3];
    const std::filesystem::path pki = argv[4];
    const auto link = TableLink::open(
        {.host = argv[1],
         .port = static_cast<std::uint16_t>(port),
         .table = table,
         .certificate = pki / "table" / (table + ".pem"),
         .key = pki / "table" / (table + ".key"),
         .ca = pki / "ca.pem",
         .outbox = argv[5],
         .software = "example 1.0"},
        // A real controller also shows the amount (onPool), settlements (onSettlement) and faults
        // to the dealer, and returns the wagers when the jackpot is unavailable (onUnavailable).
        {.onOffline = [](const std::string& why) { std::cerr << "offline: " << why << "\n"; }});
    if (!link) {
        std::cerr << link.error().message << "\n";
        return 2;
    }
    if (!(*link)->waitOnline(seconds{10})) return 1;

    // The number must be greater than that of every earlier round; the state has the last one that
    // the daemon has seen.
    const std::int64_t round = (*link)->state().round.value_or(0) + 1;
    const bool played =
        sendAndWait(**link, OpenRound{.round = round, .wagers = {{.seat = 1}, {.seat = 3}}},
                    "two wagers") &&
        // The dealer shows the nine of hearts, and seat 3 has two sevens.
        sendAndWait(
            **link,
            ReportResult{
                .round = round, .board = {"9H"}, .hands = {{.seat = 3, .cards = {"7D", "7S"}}}},
            "the result");
    return played ? 0 : 1;
}
