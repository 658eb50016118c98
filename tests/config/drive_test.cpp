// [meter.drive]: its keys, its mistakes, and the changes that a running daemon applies.
#include <doctest/doctest.h>

#include <array>
#include <fstream>
#include <string>

#include "config/compare.h"
#include "tests/support/sample_config.h"

namespace jackpot::config {
namespace {

using testing::kSampleConfig;
using testing::lineOf;
using testing::parsed;
using testing::problemsOf;
using testing::with;

// A configuration whose first meter is driven; the second is unchanged.
std::string driven(std::string_view keys)
{
    return with(kSampleConfig, "tables = [\"BJ01\"]\n",
                "tables = [\"BJ01\"]\n[meter.drive]\n" + std::string{keys} + "\n");
}

// Both driven.
std::string both(std::string_view first, std::string_view second)
{
    return driven(first) + "[meter.drive]\n" + std::string{second} + "\n";
}

TEST_CASE("a driven meter loads with the fewest keys and with all keys")
{
    Drive least;
    least.to = Endpoint{"10.1.2.3", 502};
    CHECK(parsed(driven("to = \"tcp://10.1.2.3:502\"\nunit = 1")).meters[0].drive == least);
    CHECK_FALSE(parsed(kSampleConfig).meters[0].drive);

    Drive all;
    all.to = SerialPort{"/dev/ttyUSB0", 9600, Parity::Odd, 2};
    all.unit = 247;
    all.format = "ascii_dollars";
    all.digits = 9;
    all.lowFirst = true;
    all.address = 400;
    all.statusAddress = 409;
    all.function = 6;
    all.readBack = true;
    all.timeoutMs = 2000;
    all.heartbeatMs = 60'000;
    CHECK(parsed(driven(R"(to = "rtu:///dev/ttyUSB0"
unit = 247
baud = 9600
parity = "odd"
stop_bits = 2
format = "ascii_dollars"
digits = 9
word_order = "low_first"
address = 400
status_address = 409
function = 6
read_back = true
timeout_ms = 2000
heartbeat_ms = 60000)"))
              .meters[0]
              .drive == all);
    const auto to = [](std::string_view text) {
        return inWords(
            parsed(driven("to = \"" + std::string{text} + "\"\nunit = 255")).meters[0].drive->to);
    };
    for (const char* line : {"tcp://[fe80::1]:502", "tcp://sign.example:1", "tcp://10.1.2.3:65535"})
        CHECK(to(line) == line);
}

TEST_CASE("the section that the sample has commented out shows the defaults")
{
    std::string text;
    std::ifstream in{JACKPOT_SAMPLE};
    bool inDrive = false;
    for (std::string line; std::getline(in, line);) {
        inDrive = line == "# [meter.drive]" || (inDrive && !line.empty());
        const bool ofAnotherFormat = line.starts_with("# digits") ||
                                     line.starts_with("# word_order") ||
                                     line.starts_with("# status_address");
        text += (inDrive && !ofAnotherFormat ? line.substr(2) : line) + "\n";
    }
    Drive expected;
    expected.to = SerialPort{};
    std::get<SerialPort>(expected.to).device = "/dev/ttyUSB0";
    CHECK(parsed(text).meters[0].drive == expected);
}

TEST_CASE("a driven meter needs no unit to be polled at, and may have one")
{
    const std::string text = driven("to = \"tcp://10.1.2.3:502\"\nunit = 9");
    CHECK(parsed(text).meters[0].unit == 1);
    CHECK_FALSE(parsed(with(text, "unit = 1\n", "")).meters[0].unit);
    // Meters that are not polled need no different units.
    const std::string neither =
        with(with(both("to = \"tcp://10.1.2.3:502\"\nunit = 9", "to = \"rtu:///dev/x\"\nunit = 9"),
                  "unit = 1\n", ""),
             "unit = 2\n", "");
    CHECK(problemsOf(neither).empty());
}

TEST_CASE("values at the limits of a driven display are accepted")
{
    for (const char* keys : {
             "format = \"block\"\naddress = 65496",
             "format = \"uint32_cents\"\naddress = 65534",
             "format = \"uint64_cents\"\naddress = 4\nstatus_address = 8",
             "format = \"uint64_dollars\"\naddress = 4\nstatus_address = 3",
             "format = \"bcd_cents\"\ndigits = 9\nstatus_address = 3",
             "format = \"ascii_cents\"\ndigits = 16\naddress = 65520",
             "format = \"float32_dollars\"\nfunction = 6",
             "format = \"float32_cents\"\nword_order = \"high_first\"",
             "format = \"bcd_dollars\"\ndigits = 1\nfunction = 6",
             "format = \"uint32_dollars\"\nfunction = 6\nstatus_address = 3",
             "function = 6",
             "timeout_ms = 50\nheartbeat_ms = 100",
         }) {
        CAPTURE(keys);
        const std::string text =
            driven("to = \"tcp://a.example:502\"\nunit = 1\n" + std::string{keys});
        CHECK(problemsOf(text).empty());
    }
}

TEST_CASE("the message for each mistake has the line and the remedy")
{
    constexpr std::string_view kTcp = "to = \"tcp://10.1.2.3:502\"\nunit = 5\n";
    constexpr std::string_view kRtu = "to = \"rtu:///dev/ttyS0\"\nunit = 5\n";
    struct Case {
        std::string_view before;
        std::string_view keys;
        std::string_view at;
        std::string_view says;
    };
    for (const Case& each : std::to_array<Case>({
             {"", "unit = 5", "[meter.drive]", "to: this is missing from [meter.drive]"},
             {"", "to = \"tcp://10.1.2.3:502\"", "[meter.drive]", "unit: this is missing"},
             {"", "unit = 5\nto = 1", "to = 1", "takes a text"},
             {"", "unit = 5\nto = \"10.1.2.3:502\"", "to =", "is no line: it takes \"tcp://"},
             {"", "unit = 5\nto = \"tcp://10.1.2.3\"", "to =", "is no line"},
             {"", "unit = 5\nto = \"tcp://10.1.2.3:0\"", "to =", "is no line"},
             {"", "unit = 5\nto = \"tcp://::1:502\"", "to =", "\"tcp://[::1]:502\""},
             {"", "unit = 5\nto = \"udp://10.1.2.3:502\"", "to =", "is no line"},
             {"", "unit = 5\nto = \"rtu://ttyUSB0\"", "to =", "\"rtu:///dev/ttyUSB0\""},
             {"", "unit = 5\nto = \"rtu://\"", "to =", "is no line"},
             {"", "to = \"tcp://a:1\"\nunit = 0", "unit = 0", "0 would be all at once"},
             {"", "to = \"tcp://a:1\"\nunit = 248", "unit = 248", "1 to 247 or, over TCP, 255"},
             {"", "to = \"rtu:///dev/x\"\nunit = 255", "unit = 255", "1 to 247 or, over TCP, 255"},
             {"", "to = \"tcp://a:1\"\nunit = 256", "unit = 256", "0 to 255"},
             {kRtu, "baud = 9601", "baud", "9601 is none: it takes 1200, 2400"},
             {kRtu, "baud = \"9600\"", "baud", "whole number"},
             {kRtu, "parity = \"mark\"", "parity", "takes \"none\", \"even\" or \"odd\""},
             {kRtu, "stop_bits = 3", "stop_bits", "1 to 2"},
             {kTcp, "baud = 9600", "baud", "only a serial line has this, not tcp://10.1.2.3:502"},
             {kTcp, "parity = \"even\"", "parity", "only a serial line"},
             {kTcp, "stop_bits = 1", "stop_bits", "only a serial line"},
             {kTcp, "format = \"uint16_cents\"", "format", "takes \"block\", \"uint32_cents\","},
             {kTcp, "format = \"bcd_cents\"", "[meter.drive]", "say how many digits"},
             {kTcp, "format = \"ascii_cents\"\ndigits = 17", "digits", "1 to 16"},
             {kTcp, "format = \"uint32_cents\"\ndigits = 8", "digits", "only the formats bcd_"},
             {kTcp, "digits = 8", "digits", "only the formats bcd_"},
             {kTcp, "word_order = \"low_first\"", "word_order", "an order of its own"},
             {kTcp, "word_order = \"middle\"\nformat = \"uint32_cents\"", "word_order",
              "takes \"high_first\" or \"low_first\""},
             {kTcp, "status_address = 99", "status_address", "in its second register"},
             {kTcp, "address = 65536", "address", "0 to 65535"},
             {kTcp, "address = 65497", "address", "the last register would be 65536"},
             {kTcp, "format = \"uint64_cents\"\naddress = 5\nstatus_address = 8", "status_address",
              "8 is in the amount's registers, which are 5 to 8"},
             {kTcp, "format = \"bcd_cents\"\ndigits = 9\nstatus_address = 2", "status_address",
              "which are 0 to 2"},
             {kTcp, "function = 5", "function", "takes 16, which writes all registers at once"},
             {kTcp, "function = 6\nformat = \"uint32_cents\"", "function",
              "a \"uint32_cents\" in pieces would be a wrong amount until the last: give a "
              "status_address"},
             {kTcp, "read_back = 1", "read_back", "takes true or false"},
             {kTcp, "timeout_ms = 49", "timeout_ms", "50 to 2000"},
             {kTcp, "timeout_ms = 2001", "timeout_ms", "50 to 2000"},
             {kTcp, "heartbeat_ms = 99", "heartbeat_ms", "100 to 60000"},
             {kTcp, "hartbeat_ms = 100", "hartbeat_ms", "did you mean \"heartbeat_ms\"?"},
         })) {
        const std::string text = driven(std::string{each.before} + std::string{each.keys});
        CAPTURE(each.keys);
        const auto problems = problemsOf(text);
        std::string all;
        for (const ConfigProblem& problem : problems) all += inWords(problem) + "\n";
        CAPTURE(all);
        REQUIRE(problems.size() == 1);
        const std::size_t header = text.find("[meter.drive]");
        CHECK(problems[0].line == lineOf(text, "[meter.drive]") - 1 +
                                      lineOf(std::string_view{text}.substr(header), each.at));
        CHECK(all.find(each.says) != std::string::npos);
    }
    const auto problems =
        problemsOf(with(kSampleConfig, "unit = 1\n", "unit = 1\ndrive = \"tcp\"\n"));
    REQUIRE(problems.size() == 1);
    CHECK(inWords(problems[0]).find("write [meter.drive]") != std::string::npos);
}

TEST_CASE("displays on one line have different units and the same line settings")
{
    const auto said = [](std::string_view first, std::string_view second) {
        const auto problems = problemsOf(both(first, second));
        return problems.empty() ? std::string{} : problems.front().message;
    };
    constexpr std::string_view kRtu = "to = \"rtu:///dev/ttyS0\"\nunit = 5\n";
    CHECK(said(kRtu, "to = \"rtu:///dev/ttyS0\"\nunit = 6").empty());
    CHECK(said(kRtu, "to = \"rtu:///dev/ttyS1\"\nunit = 5\nbaud = 9600").empty());
    CHECK(
        said(kRtu, "to = \"rtu:///dev/ttyS0\"\nunit = 6\nbaud = 19200\nparity = \"even\"").empty());
    CHECK(said("to = \"tcp://a:1\"\nunit = 5", "to = \"tcp://a:2\"\nunit = 5").empty());
    CHECK(said(kRtu, kRtu) ==
          "unit: 5 of rtu:///dev/ttyS0 is meter \"M1\" already: give each "
          "display on a line its own");
    CHECK(said("to = \"tcp://a:1\"\nunit = 5", "to = \"tcp://a:1\"\nunit = 5")
              .starts_with("unit: 5 of tcp://a:1 is meter \"M1\" already"));
    for (const char* other : {"baud = 9600", "parity = \"none\"", "stop_bits = 2"})
        CHECK(said(kRtu, "to = \"rtu:///dev/ttyS0\"\nunit = 6\n" + std::string{other}) ==
              "to: rtu:///dev/ttyS0 has another baud, parity or stop_bits for meter \"M1\": all "
              "displays on a line have the same");
}

TEST_CASE("a running daemon applies changes of [meter.drive]")
{
    const std::string plain = driven(
        "to = \"rtu:///dev/ttyS0\"\nunit = 5\nformat = \"bcd_cents\"\n"
        "digits = 8");
    const auto said = [](std::string_view from, std::string_view to) {
        const Changes changes = compare(parsed(from), parsed(to));
        CHECK(changes.refused.empty());
        return changes.applied;
    };
    using Said = std::vector<std::string>;
    CHECK(said(plain, plain).empty());
    CHECK(said(kSampleConfig, plain) == Said{"meter \"M1\" is driven at rtu:///dev/ttyS0, unit 5"});
    CHECK(said(plain, kSampleConfig) == Said{"meter \"M1\" is not driven any more"});
    CHECK(said(plain, with(plain, "unit = 1\n", "")) ==
          Said{"meter \"M1\": unit changes from 1 to unset"});
    struct Change {
        std::string_view key;
        std::string_view from;
        std::string_view to;
    };
    for (const Change& each : std::to_array<Change>({
             {"baud", "19200", "9600"},
             {"parity", "\"even\"", "\"none\""},
             {"stop_bits", "1", "2"},
             {"word_order", "\"high_first\"", "\"low_first\""},
             {"address", "0", "7"},
             {"status_address", "unset", "7"},
             {"function", "16", "6"},
             {"read_back", "false", "true"},
             {"timeout_ms", "500", "501"},
             {"heartbeat_ms", "1000", "1001"},
         }))
        CHECK(said(plain,
                   with(plain, "digits = 8",
                        "digits = 8\n" + std::string{each.key} + " = " + std::string{each.to})) ==
              Said{"meter \"M1\": drive." + std::string{each.key} + " changes from " +
                   std::string{each.from} + " to " + std::string{each.to}});
    CHECK(said(plain, with(plain, "digits = 8", "digits = 7")) ==
          Said{"meter \"M1\": drive.digits changes from 8 to 7"});
    CHECK(said(plain, with(plain, "unit = 5", "unit = 6")) ==
          Said{"meter \"M1\": drive.unit changes from 5 to 6"});
    CHECK(said(plain, with(plain, "bcd_cents", "ascii_cents")) ==
          Said{"meter \"M1\": drive.format changes from \"bcd_cents\" to \"ascii_cents\""});
    CHECK(said(plain, with(plain, "rtu:///dev/ttyS0", "tcp://a:1")) ==
          Said{"meter \"M1\": drive.to changes from \"rtu:///dev/ttyS0\" to \"tcp://a:1\""});
}

}  // namespace
}  // namespace jackpot::config
