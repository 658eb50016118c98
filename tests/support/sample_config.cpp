#include "tests/support/sample_config.h"

#include <algorithm>
#include <stdexcept>

namespace jackpot::config::testing {

const std::string_view kSampleConfig = R"([site]
name = "star.example/jackpot"

[journal]
directory = "journal"

[link]
certificate = "pki/server.pem"
key = "pki/server.key"
ca = "pki/ca.pem"

[[paytable]]
id = "B5"
game = "blazing7s"
wager = "5.00"
row = [
    { tier = "three_sevens_diamonds", pays = "all" },
    { tier = "three_suited_sevens", pays = "tenth" },
    { tier = "three_same_colour_sevens", pays = "fixed", amount = "2500.00" },
    { tier = "three_sevens", pays = "fixed", amount = "1000.00" },
    { tier = "two_player_sevens", pays = "fixed", amount = "100.00" },
    { tier = "one_each_sevens", pays = "fixed", amount = "50.00" },
]

[[paytable]]
id = "U1"
game = "uth"
wager = "1.00"
row = [
    { tier = "royal_flush", pays = "all" },
    { tier = "straight_flush", pays = "tenth" },
    { tier = "four_of_a_kind", pays = "fixed", amount = "500.00" },
    { tier = "full_house", pays = "fixed", amount = "150.00" },
    { tier = "flush", pays = "fixed", amount = "100.00" },
]

[[pool]] # blazing
id = "B7"
game = "blazing7s" # pool
paytable = "B5"
wager = "5.00" # pool
increment = "0.235"
minimum = "50000.00"

[[pool]] # holdem
id = "UTH"
game = "uth" # pool
paytable = "U1"
wager = "1.00" # pool
increment = "0.2"
minimum = "60000.00"
bonus.royal_flush = "1000.00"

[[table]] # blackjack
id = "BJ01"
pool = "B7"
seats = 7

[[table]] # poker
id = "UTH01"
pool = "UTH"
seats = 6

[[meter]]
id = "M1"
unit = 1
tables = ["BJ01"]

[[meter]]
id = "M2"
unit = 2
tables = ["UTH01"]
)";

std::string samplePaytables()
{
    const std::size_t from = kSampleConfig.find("[[paytable]]");
    return std::string{kSampleConfig.substr(from, kSampleConfig.find("[[pool]]") - from)};
}

std::string with(std::string_view text, std::string_view from, std::string_view to)
{
    const std::size_t at = text.find(from);
    if (at == std::string_view::npos || text.find(from, at + 1) != std::string_view::npos)
        throw std::logic_error{"not there once: " + std::string{from}};
    std::string changed{text};
    return changed.replace(at, from.size(), to);
}

std::uint32_t lineOf(std::string_view text, std::string_view at)
{
    const std::size_t found = text.find(at);
    if (found == std::string_view::npos) throw std::logic_error{"not there: " + std::string{at}};
    return static_cast<std::uint32_t>(std::ranges::count(text.substr(0, found), '\n')) + 1;
}

Config parsed(std::string_view text)
{
    const Loaded loaded = parse(text, "/etc/jackpotd/site.toml");
    if (loaded) return *loaded;
    throw std::logic_error{inWords(loaded.error().front())};
}

std::vector<ConfigProblem> problemsOf(std::string_view text)
{
    const Loaded loaded = parse(text, "/etc/jackpotd/site.toml");
    return loaded ? std::vector<ConfigProblem>{} : loaded.error();
}

}  // namespace jackpot::config::testing
