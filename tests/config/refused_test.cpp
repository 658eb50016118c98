// Each problem of a file is reported with its line and its rule.
#include <doctest/doctest.h>

#include <array>

#include "tests/support/sample_config.h"

namespace jackpot::config {
namespace {

using testing::kSampleConfig;
using testing::lineOf;
using testing::problemsOf;
using testing::with;

struct Case {
    std::string_view from;  // occurs once in kSampleConfig
    std::string_view to;
    std::string_view at;    // part of the line that the message names
    std::string_view says;  // part of the message, with the rule in brackets
};

constexpr std::string_view kBj = "seats = 7";
constexpr std::string_view kInc = "increment = \"0.235\"";
constexpr std::string_view kCa = "ca = \"pki/ca.pem\"";

constexpr auto kCases = std::to_array<Case>({
    // [site]
    {"[site]\nname = \"star.example/jackpot\"\n", "", "", "the section [site] is missing"},
    {"name = \"star.example/jackpot\"", "", "[site]", "name: this is missing from [site]"},
    {"\"star.example/jackpot\"", "7", "name = 7", "takes a text in quotation marks"},
    {"\"star.example/jackpot\"", "\"\"", "name = ", "1 to 4096 bytes"},
    {"\"star.example/jackpot\"", "\"a b\"", "name = ", "the name contains a space"},
    {"\"star.example/jackpot\"", "\"a+b\"", "name = ", "the name contains a plus sign"},
    {"\"star.example/jackpot\"", "\"a\\u0001b\"", "name = ", "control character"},
    {"[site]\n", "[site]\nnam = 1\n", "nam = 1",
     "unknown key \"nam\" in [site]: did you mean \"name\"?"},
    {"[site]\n", "[site]\nxylophone = 1\n", "xylophone",
     "unknown key \"xylophone\" in [site]: it takes name"},
    // [journal]
    {"[journal]\ndirectory = \"journal\"\n", "", "[site]", "the section [journal] is missing"},
    {"directory = \"journal\"", "", "[journal]", "directory: this is missing"},
    {"directory = \"journal\"", "directory = true", "directory = ", "and this is true or false"},
    {"directory = \"journal\"", "directory = \"a\\u0000b\"", "directory = ", "null character"},
    {"directory", "key = 1\ndirectory", "key = 1", "takes a text"},
    {"directory", "snapshot_every = 99\ndirectory", "snapshot_every",
     "99 is out of range: it takes 100 to 10000000"},
    {"directory", "snapshot_every = 10000001\ndirectory", "snapshot_every", "out of range"},
    {"directory", "snapshot_every = \"100\"\ndirectory", "snapshot_every",
     "without quotation marks"},
    {"directory", "snapshot_every = 100.0\ndirectory", "snapshot_every",
     "and this is a number with decimals"},
    {"directory", "heartbeat_s = 0\ndirectory", "heartbeat_s", "it takes 1 to 3600"},
    {"directory", "heartbeat_s = -1\ndirectory", "heartbeat_s", "it takes 1 to 3600"},
    {"directory", "heartbeat = 1\ndirectory", "heartbeat", "did you mean \"heartbeat_s\"?"},
    {"directory", "heartbeat_s = 9223372036854775807\ndirectory", "heartbeat_s", "out of range"},
    {"directory", "heartbeat_s = 9223372036854775808\ndirectory", "heartbeat_s",
     "this is not TOML"},
    // [link]
    {"certificate = \"pki/server.pem\"", "", "[link]", "certificate: this is missing"},
    {"key = \"pki/server.key\"", "", "[link]", "key: this is missing"},
    {kCa, "", "[link]", "ca: this is missing"},
    {kCa, "ca = []", "ca = []", "and this is a list"},
    {kCa, "ca = \"c\"\ncrl = 2026-11-16", "crl", "and this is a date or time"},
    {kCa, "ca = \"c\"\nplayer_card_key = {}", "player_card_key", "and this is a section"},
    {kCa, "ca = \"c\"\nlisten = 7707", "listen", "takes a text"},
    {kCa, "ca = \"c\"\nlisten = \"7707\"", "listen", "is not an address and port"},
    {kCa, "ca = \"c\"\nmax_connections = 0", "max_connections", "it takes 1 to 60000"},
    {kCa, "ca = \"c\"\nmax_connections = 1", "max_connections",
     "1 connections are too few for 2 tables"},
    {kCa, "ca = \"c\"\nmax_connections = 60001", "max_connections", "it takes 1 to 60000"},
    {kCa, "ca = \"c\"\nmax_connections_per_address = 0", "max_conn", "it takes 1 to 60000"},
    {kCa, "ca = \"c\"\nhandshake_timeout_ms = 99", "handshake", "it takes 100 to 60000"},
    {kCa, "ca = \"c\"\nframe_timeout_ms = 60001", "frame", "it takes 100 to 60000"},
    {kCa, "ca = \"c\"\noffline_after_ms = 999", "offline", "it takes 1000 to 60000"},
    {kCa, "ca = \"c\"\noffline_notice_after_s = 0", "offline", "it takes 1 to 86400"},
    {kCa, "ca = \"c\"\noffline_after_ms = 7001", "[[pool]] # blazing",
     "settle_after_ms: 10000 ms is less than 10001"},
    {kCa, "ca = \"c\"\nrefusals_per_minute = 0", "refusals", "it takes 1 to 100000"},
    {kCa, "ca = \"c\"\nrounds_per_minute = 0", "rounds", "it takes 1 to 1000000"},
    {kCa, "ca = \"c\"\nrounds_per_minute = 0.5", "rounds", "a number with decimals"},
    {kCa, "ca = \"c\"\nmax_conections = 1", "max_con", "did you mean \"max_connections\"?"},
    {"[site]", "[lgo]\n[site]", "[lgo]", "unknown key \"lgo\""},
    {"[site]", "[wriet]\n[site]", "[wriet]", "unknown key \"wriet\": did you mean \"writer\"?"},
    {"[link]", "[[link]]", "[[link]]", "takes a section: write [link]"},
    // [writer], [log]
    // [desk]
    {"[link]", "[desk]\ncertificate = \"c\"\nkey = \"k\"\n[link]", "[desk]",
     "listen: this is missing"},
    {"[link]", "[desk]\nlisten = \"a:1\"\nkey = \"k\"\n[link]", "[desk]",
     "certificate: this is missing"},
    {"[link]", "[desk]\ncertificate = \"c\"\nkey = \"k\"\nlisten = \"x\"\n[link]", "listen",
     "is not an address and port"},
    {"[link]", "[desk]\ncertificate = \"c\"\nkey = \"k\"\nlisten = \"a:1\"\nmax_feed = 1\n[link]",
     "max_feed", "did you mean \"max_feeds\"?"},
    {"[link]",
     "[desk]\ncertificate = \"c\"\nkey = \"k\"\nlisten = \"a:1\"\nrequest_timeout_ms = 99\n[link]",
     "request_timeout_ms", "it takes 100 to 60000"},
    {"[link]",
     "[desk]\ncertificate = \"c\"\nkey = \"k\"\nlisten = \"a:1\"\nsession_idle_minutes = 0\n[link]",
     "session_idle_minutes", "it takes 1 to 1440"},
    {"[link]",
     "[desk]\ncertificate = \"c\"\nkey = \"k\"\nlisten = \"a:1\"\nbind_session_to_address = "
     "1\n[link]",
     "bind_session_to_address", "and this is a whole number"},
    {"[link]", "[witness]\n[link]", "[witness]", "there is no receiver"},
    {"[link]", "[witness]\nsyslog = false\n[link]", "[witness]", "there is no receiver"},
    {"[link]", "[witness]\nurl = \"http://w\"\nca = \"a\"\n[link]", "url",
     "is not the address of a witness"},
    {"[link]", "[witness]\nurl = \"https://\"\nca = \"a\"\n[link]", "url",
     "is not the address of a witness"},
    {"[link]", "[witness]\nurl = \"https://w\"\n[link]", "[witness]", "ca: this is missing"},
    {"[link]", "[witness]\nsyslog = true\nca = \"a\"\n[link]", "ca = \"a\"",
     "it is for url, which is not given"},
    {"[link]", "[witness]\nsyslog = true\nevery_s = 0\n[link]", "every_s", "it takes 1 to 3600"},
    {"[link]", "[witness]\nsyslog = true\nevery = 1\n[link]", "every", "did you mean \"every_s\"?"},
    // [demo]
    {"[link]", "[demo]\ntables = [\"BJ01\"]\n[link]", "tables",
     "dealers come to the desk in a browser: add the section [desk]"},
    {"[link]",
     "[desk]\ncertificate = \"c\"\nkey = \"k\"\nlisten = \"a:1\"\n[demo]\npki = \"p\"\n[link]",
     "[demo]", "tables: this is missing"},
    {"[link]",
     "[desk]\ncertificate = \"c\"\nkey = \"k\"\nlisten = \"a:1\"\n[demo]\ntables = "
     "[\"BJ99\"]\n[link]",
     "\"BJ99\"", "there is no table \"BJ99\""},
    {"[link]",
     "[desk]\ncertificate = \"c\"\nkey = \"k\"\nlisten = \"a:1\"\n[demo]\ntables = "
     "[\"BJ01\", \"BJ01\"]\n[link]",
     "\"BJ01\"]", "\"BJ01\" is there twice"},
    {"[link]", "[writer]\nmailbox = 63\n[link]", "mailbox", "it takes 64 to 1048576"},
    {"[link]", "[writer]\nmailbox = 1048577\n[link]", "mailbox", "it takes 64 to 1048576"},
    {"[link]", "[writer]\nbatch = 0\n[link]", "batch", "it takes 1 to 65536"},
    {"[link]", "[writer]\nbatch = 8193\n[link]", "batch",
     "8193 is more than the mailbox holds, which is 8192"},
    {"[link]",
     "[desk]\ncertificate = \"c\"\nkey = \"k\"\nlisten = \"a:1\"\nnotice_command = "
     "[\"mail\"]\n[link]",
     "notice_command", "is not the whole path of a program"},
    {"[link]",
     "[desk]\ncertificate = \"c\"\nkey = \"k\"\nlisten = \"a:1\"\nnotice_command = "
     "\"/bin/mail\"\n[link]",
     "notice_command", "takes a list"},
    {"[link]",
     "[desk]\ncertificate = \"c\"\nkey = \"k\"\nlisten = \"a:1\"\nnotice_syslog = 1\n[link]",
     "notice_syslog", "takes true or false"},
    {"[link]",
     "[desk]\ncertificate = \"c\"\nkey = \"k\"\nlisten = \"a:1\"\nsecond_person_from = "
     "10000\n[link]",
     "second_person_from", "takes"},
    {"[link]",
     "[desk]\ncertificate = \"c\"\nkey = \"k\"\nlisten = \"a:1\"\nsecond_person_from = "
     "\"-1.00\"\n[link]",
     "second_person_from", "it is negative"},
    {"[link]", "[writer]\nmail_box = 64\n[link]", "mail_box", "did you mean \"mailbox\"?"},
    {"[link]", "[writer.mailbox]\n[link]", "[writer.mailbox]", "and this is a section"},
    {"[site]", "writer = 1\n[site]", "writer", "takes a section"},
    {"[link]", "[log]\nlevel = \"info\"\n[link]", "level",
     "takes \"error\", \"warning\", \"information\" or \"debug\", not \"info\""},
    {"[link]", "[log]\nlevel = 3\n[link]", "level", "and this is a whole number"},
    {"[link]", "[log]\nlevle = \"debug\"\n[link]", "levle", "did you mean \"level\"?"},
    // the document
    {"[site]", "[pools]\n[site]", "[pools]", "unknown key \"pools\": did you mean \"pool\"?"},
    {"[site]", "version = 1\n[site]", "version",
     "there are demo, desk, journal, link, log, meter, meters, metrics, paytable, pool, site, "
     "table, witness, writer"},
    {"[site]", "\"\" = 1\n[site]", "\"\"", "unknown key \"\""},
    {"[journal]", "[site]\n[journal]", "[site]\n[journal]", "this is not TOML"},
    {"[journal]", "name = \"twice\"\n[journal]", "twice", "this is not TOML"},
    {"[journal]", "[journal", "[journal", "this is not TOML"},
    {"[journal]", "journal]", "journal]", "this is not TOML"},
    {"seats = 7", "seats = ", "seats = ", "this is not TOML"},
    {"seats = 7", "seats = 07", "seats = ", "this is not TOML"},
    {"seats = 7", "seats = seven", "seats = ", "this is not TOML"},
    {"seats = 7", "seats = 7 7", "seats = ", "this is not TOML"},
    {"id = \"BJ01\"", "id = \"BJ01", "id = \"BJ01", "this is not TOML"},
    {"id = \"BJ01\"", "id = \"BJ\\q\"", "id = \"BJ", "this is not TOML"},
    {"id = \"BJ01\"", "id = \"BJ\xff\"", "id = \"BJ", "this is not UTF-8"},
    {"id = \"BJ01\"", "id = \"BJ\xc0\xaf\"", "id = \"BJ", "this is not UTF-8"},
    {"seats = 7", "seats = 7 # \xed\xa0\x80", "seats = 7", "this is not UTF-8"},
    // [[paytable]]
    {"id = \"U1\"", "", "[[paytable]]\n\ngame = \"uth\"", "id: this is missing from [[paytable]]"},
    {"id = \"U1\"", "id = \"B5\"", "id = \"B5\"\ngame = \"uth\"", "\"B5\" is there twice"},
    {"game = \"uth\"\nwager", "game = \"poker\"\nwager", "poker",
     "takes \"blazing7s\" or \"uth\", not \"poker\""},
    {"game = \"uth\"\nwager", "wager", "[[paytable]]\nid = \"U1\"", "game: this is missing"},
    {"wager = \"1.00\"\nrow", "wager = 1.00\nrow", "wager = 1.00",
     "takes an amount in quotation marks, such as \"2.50\""},
    {"wager = \"5.00\"\nrow", "wager = \"4.00\"\nrow", "4.00",
     "$4.00 has no pay table: a Blazing 7's wager is $2.50 or $5.00 (BJ 14.24)"},
    {"\"2500.00\"", "\"2500.01\"", "2500.01",
     "amount: $2,500.01 is not the approved award of $2,500.00 (BJ 14.24)"},
    {"\"2500.00\"", "2500", "amount = 2500", "takes an amount in quotation marks"},
    {"\"2500.00\"", "\"2,500.00\"", "2,500.00", "is not an amount"},
    {"\"2500.00\"", "\"-2500.00\"", "-2500.00", "is not the approved award"},
    {", amount = \"2500.00\"", "", "three_same_colour",
     "amount: this is missing from a row that pays \"fixed\""},
    {"\"three_same_colour_sevens\"", "\"three_same_color_sevens\"", "three_same_color",
     "is not a tier of this game: did you mean \"three_same_colour_sevens\"? (BJ 14.24)"},
    {"\"three_same_colour_sevens\"", "\"flush\"", "tier = \"flush\"",
     "\"flush\" is not a tier of this game (BJ 14.24)"},
    {"\"three_same_colour_sevens\"", "\"none\"", "tier = \"none\"", "is not a tier of this game"},
    {"tier = \"three_same_colour_sevens\", ", "", "2500.00",
     "tier: this is missing from [[paytable.row]]"},
    {"\"three_suited_sevens\", pays = \"tenth\"", "\"three_suited_sevens\", pays = \"all\"",
     "three_suited", "pays: takes \"tenth\" for \"three_suited_sevens\", not \"all\" (BJ 14.24)"},
    {"\"three_suited_sevens\", pays = \"tenth\"", "\"three_suited_sevens\", pays = \"10 %\"",
     "three_suited", "takes \"fixed\", \"tenth\" or \"all\""},
    {"\"three_suited_sevens\", pays = \"tenth\"", "\"three_suited_sevens\"", "three_suited",
     "pays: this is missing"},
    {"\"three_suited_sevens\", pays = \"tenth\"",
     "\"three_suited_sevens\", pays = \"tenth\", amount = \"1.00\"", "three_suited",
     "only what pays \"fixed\" has an amount"},
    {"    { tier = \"full_house\", pays = \"fixed\", amount = \"150.00\" },\n", "",
     "row = [\n    { tier = \"royal", "row: the row of \"full_house\" is missing (UTH 15.2.9.4)"},
    {"\"150.00\"", "\"151.00\"", "151.00",
     "$151.00 is not the approved award of $150.00 (UTH 15.2.9.4)"},
    {"\"150.00\"", "\"150.00\", bonus = 1", "bonus = 1",
     "unknown key \"bonus\" in [[paytable.row]]"},
    {"pays = \"fixed\", amount = \"150.00\"", "pays = \"all\"", "full_house",
     "takes \"fixed\" for \"full_house\", not \"all\" (UTH 15.2.9.4)"},
    // [[pool]]
    {"id = \"B7\"", "", "[[pool]] # blazing", "id: this is missing from [[pool]]"},
    {"id = \"B7\"", "id = \"B 7\"", "B 7", "\"B 7\" is not an id: it takes 1 to 32 letters"},
    {"id = \"UTH\"", "id = \"B7\"", "id = \"B7\"\ngame = \"uth\"", "\"B7\" is there twice"},
    {"game = \"blazing7s\" # pool", "", "[[pool]] # blazing", "game: this is missing"},
    {"game = \"blazing7s\" # pool", "game = \"Blazing7s\"", "Blazing7s",
     "takes \"blazing7s\" or \"uth\""},
    {"game = \"blazing7s\" # pool", "game = \"uth\"", "paytable = \"B5\"",
     "\"B5\" is of the game \"blazing7s\", the pool of \"uth\" (UTH 15.2.9)"},
    {"paytable = \"B5\"", "", "[[pool]] # blazing", "paytable: this is missing"},
    {"paytable = \"B5\"", "paytable = \"B4\"", "paytable = \"B4\"",
     "there is no [[paytable]] \"B4\": did you mean \"B5\"?"},
    {"paytable = \"B5\"", "paytable = \"other\"", "other", "there is no [[paytable]] \"other\""},
    {"paytable = \"B5\"", "paytable = \"U1\"", "paytable = \"U1\"", "(BJ 14.24)"},
    {"wager = \"5.00\" # pool", "wager = \"2.50\"", "paytable = \"B5\"",
     "\"B5\" is for a wager of $5.00, the pool's is $2.50 (BJ 14.24)"},
    {"wager = \"1.00\" # pool", "wager = \"2.00\"", "paytable = \"U1\"", "(UTH 15.2.5)"},
    {"wager = \"5.00\" # pool", "wager = 5", "wager = 5\n",
     "takes an amount in quotation marks, such as \"2.50\", and this is a whole number"},
    {"wager = \"5.00\" # pool", "wager = 5.00 # pool", "wager = 5.00",
     "and this is a number with decimals"},
    {"wager = \"5.00\" # pool", "wager = \"5 dollars\"", "dollars", "is not an amount"},
    {"wager = \"5.00\" # pool", "", "[[pool]] # blazing", "wager: this is missing"},
    {kInc, "increment = 0.235", "increment = 0.235",
     "takes a rate in quotation marks, such as \"0.235\""},
    {kInc, "increment = \"1.1\"", "1.1", "is not a rate"},
    {kInc, "increment = \"0.0000001\"", "0.0000001", "is not a rate"},
    {kInc, "increment = \"-0.1\"", "-0.1", "is not a rate"},
    {kInc, "increment = \"23.5%\"", "23.5%", "is not a rate"},
    {kInc, "increment = \"0.6\"\nreserve_increment = \"0.5\"", "reserve_",
     "are together more than 1"},
    {kInc, "increment = \"0.6\"\nreserve_increment = 0", "reserve_",
     "takes a rate in quotation marks"},
    {kInc, "", "[[pool]] # blazing", "increment: this is missing"},
    {"minimum = \"50000.00\"", "minimum = \"20000.00\"", "20000.00",
     "minimum: $20,000.00 is not a minimum: it is $10,000.00, $25,000.00 or $50,000.00 (BJ 14.28)"},
    {"minimum = \"60000.00\"", "minimum = \"60000.001\"", "60000.001", "whole cents"},
    {"minimum = \"60000.00\"", "minimum = \"-1.00\"", "-1.00", "(BJ 14.28)"},
    {"minimum = \"60000.00\"", "minimum = \"99999999999999999999\"", "9999999", "is not an amount"},
    {"minimum = \"50000.00\"", "", "[[pool]] # blazing", "minimum: this is missing"},
    {kInc, "increment = \"0\"\nopening = \"49999.99\"", "opening",
     "$49,999.99 is below the minimum of $50,000.00 (BJ 14.28)"},
    {kInc, "increment = \"0\"\nopening = 50000", "opening", "in quotation marks"},
    {kInc, "increment = \"0\"\ncap = \"49999.99\"", "cap",
     "is below the opening amount of $50,000.00"},
    {kInc, "increment = \"0\"\npayout_unit = \"0.001\"", "payout_unit", "(BJ 5.12)"},
    {kInc, "increment = \"0\"\npayout_unit = \"0\"", "payout_unit", "(BJ 5.12)"},
    {kInc, "increment = \"0\"\nsimultaneity_window_ms = -1", "simultaneity", "(BJ 14.27.4)"},
    {kInc, "increment = \"0\"\nsimultaneity_window_ms = 4001", "[[pool]] # blazing",
     "settle_after_ms: 10000 ms is less than 10001: simultaneity_window_ms, [link] "
     "offline_after_ms and a heartbeat of 1000 ms together (BJ 14.27.4)"},
    {kInc, "increment = \"0\"\nsettle_after_ms = 7999", "settle_after_ms = 7999",
     "settle_after_ms: 7999 ms is less than 8000"},
    {kInc, "increment = \"0\"\nsettle_after_ms = 1999", "settle_after_ms = 1999",
     "1999 ms is less than simultaneity_window_ms (2000) (BJ 14.27.4)"},
    {kInc, "increment = \"0\"\nsettle_after_ms = \"9000\"", "settle_after_ms",
     "whole number without quotation marks"},
    {kInc, "increment = \"0\"\nguarantee.royal_flush = \"60000.00\"", "guarantee",
     "the guarantee of Blazing 7's is its minimum (BJ 14.28)"},
    {kInc, "increment = \"0\"\nsimultaneity_window_ms = \"2000\"", "simultaneity",
     "whole number without quotation marks"},
    {kInc, "increment = \"0\"\nbonus.royal_flush = \"1.00\"\n", "bonus.royal_flush = \"1.00\"",
     "Blazing 7's has no bonus jackpot (UTH 15.2.10 has) (BJ 14.24)"},
    {kInc, "increment = \"0\"\nminimun = \"1\"", "minimun",
     "unknown key \"minimun\" in [[pool]]: did you mean \"minimum\"?"},
    {"increment = \"0.2\"", "increment = \"0.2\"\nsimultaneity_window_ms = 0", "simultaneity",
     "(UTH 15.2.13)"},
    {"increment = \"0.2\"", "increment = \"0.2\"\nsettle_after_ms = 9000", "settle_after_ms",
     "(UTH 15.2.13)"},
    {"increment = \"0.2\"", "increment = \"0.2\"\nguarantee.royal_flush = \"49999.99\"",
     "guarantee", "$49,999.99 is not a number of whole cents from $50,000.00"},
    {"increment = \"0.2\"", "increment = \"0.2\"\nguarantee.straight_flush = \"4999.99\"",
     "guarantee", "(UTH 15.2.9)"},
    {"increment = \"0.2\"", "increment = \"0.2\"\nguarantee.royal_flush = 50000", "guarantee",
     "royal_flush: takes an amount in quotation marks"},
    {"increment = \"0.2\"", "increment = \"0.2\"\nguarantee = {}", "guarantee",
     "it names neither royal_flush nor straight_flush (UTH 15.2.13)"},
    {"bonus.royal_flush = \"1000.00\"", "bonus.royal_flush = 1000", "bonus",
     "royal_flush: takes an amount in quotation marks"},
    {"bonus.royal_flush = \"1000.00\"", "bonus.royal_flush = \"0.001\"", "bonus", "(UTH 15.2.11)"},
    {"bonus.royal_flush = \"1000.00\"", "bonus = \"1000.00\"", "bonus", "takes a section"},
    {"bonus.royal_flush = \"1000.00\"", "bonus = {}", "bonus",
     "it names neither royal_flush nor straight_flush (UTH 15.2.10)"},
    // [[table]]
    {"id = \"BJ01\"\n", "", "[[table]] # blackjack", "id: this is missing from [[table]]"},
    {"id = \"UTH01\"", "id = \"BJ01\"", "id = \"BJ01\"\npool = \"UTH\"",
     "\"BJ01\" is there twice (UTH 15.1.2.2)"},
    {"pool = \"B7\"", "", "[[table]] # blackjack", "pool: this is missing"},
    {"pool = \"B7\"", "pool = \"B8\"", "B8",
     "there is no pool \"B8\": did you mean \"B7\"? (UTH 15.1.2.2)"},
    {"pool = \"B7\"", "pool = [\"B7\", \"UTH\"]", "[\"B7\"",
     "takes a text in quotation marks, and this is a list"},
    {kBj, "seats = 4", "seats = 4", "4 seats: a table of this game has 5 to 9 (BJ 2.2.1)"},
    {kBj, "seats = 10", "seats = 10", "(BJ 2.2.1)"},
    {kBj, "seats = \"7\"", "seats = \"7\"", "whole number"},
    {"seats = 6", "seats = 0", "seats = 0", "(UTH 2.2.1)"},
    {kBj, "require_player_card = \"yes\"", "require",
     "takes true or false without quotation marks"},
    {kBj, "require_player_card = 1", "require", "takes true or false"},
    {kBj, "decks = 8", "decks", "8 decks: the game is played with 6 (BJ 3.1.1)"},
    {"seats = 6", "decks = 6", "decks", "(UTH 3.1)"},
    {kBj, "shuffling_device = false", "shuffling",
     "a progressive jackpot needs a shuffling device (BJ 2.3.4.3)"},
    {kBj, "wager = \"2.50\"", "wager = \"2.50\"",
     "$2.50 is not the pool's wager of $5.00 (BJ 14.26.3)"},
    {"seats = 6", "wager = \"2.50\"", "wager = \"2.50\"", "(UTH 15.2.5)"},
    {kBj, "wager = 5", "wager = 5\n", "in quotation marks"},
    {kBj, "seat = 7", "seat = 7", "did you mean \"seats\"?"},
    // [[meter]]
    {"id = \"M1\"", "", "[[meter]]", "id: this is missing from [[meter]]"},
    {"id = \"M2\"", "id = \"M1\"", "id = \"M1\"\nunit = 2", "\"M1\" is there twice"},
    {"unit = 1", "", "[[meter]]", "unit: this is missing"},
    {"unit = 1", "unit = 0", "unit = 0", "it takes 1 to 247"},
    {"unit = 1", "unit = 248", "unit = 248", "it takes 1 to 247"},
    {"unit = 2", "unit = 1 # again", "again", "1 is the unit of meter \"M1\" already"},
    {"tables = [\"BJ01\"]", "", "[[meter]]", "tables: this is missing"},
    {"tables = [\"BJ01\"]", "tables = []", "tables = []", "the list takes 1 to 10000 texts"},
    {"tables = [\"BJ01\"]", "tables = \"BJ01\"", "tables = \"BJ01\"", "takes a list such as"},
    {"tables = [\"BJ01\"]", "tables = [\"BJ01\", 2]", "tables = [\"BJ01\", 2]",
     "takes texts in quotation marks, and this is a whole number"},
    {"tables = [\"BJ01\"]", "tables = [\n\"BJ01\",\n\"BJ02\"]", "\"BJ02\"",
     "there is no [[table]] \"BJ02\": did you mean \"BJ01\"?"},
    {"tables = [\"BJ01\"]", "tables = [\"BJ01\", \"BJ01\"]", "\"BJ01\", \"BJ01\"",
     "\"BJ01\" is there twice"},
    {"tables = [\"BJ01\"]", "tables = [\"BJ01\",\n\"UTH01\"]", "\"UTH01\"]",
     "\"UTH01\" is linked to pool \"UTH\", \"BJ01\" to \"B7\": a meter shows one pool (UTH "
     "15.1.2.2)"},
    {"tables = [\"UTH01\"]", "tables = [\"BJ01\"]", "[[table]] # poker",
     "table \"UTH01\" has no meter: name it in the tables of a [[meter]] (UTH 15.1.3)"},
    {"tables = [\"BJ01\"]", "tables = [\"UTH01\"]", "[[table]] # blackjack",
     "table \"BJ01\" has no meter"},
    {"unit = 1", "unit = 1\npool = \"B7\" # of the meter", "# of the meter",
     "unknown key \"pool\" in [[meter]]: it takes display, drive, id, listen, silent_after_s, "
     "suspend_when_silent, tables, unit"},
    {"unit = 1", "unit = 1\nlisten = \"127.0.0.1:1503\"", "listen = \"127.0.0.1:1503\"",
     "there is no [meters], so nothing is polled"},
    {"unit = 1", "unit = 1\ndisplay = \"ten\"", "display = ", "it takes the display's address"},
    {"unit = 1", "unit = 1\nsilent_after_s = 0", "silent_after_s", "it takes 1 to 86400"},
    {"unit = 1", "unit = 1\nsuspend_when_silent = true", "suspend_when", "it takes silent_after_s"},
    // [meters]
    {"[journal]", "[meters]\nlisten = \"0.0.0.0:502\"\n[journal]", "listen = \"0.0.0.0:502\"",
     "displays come from elsewhere: name their networks"},
    {"[journal]", "[meters]\nlisten = \"127.0.0.1\"\n[journal]", "listen = \"127.0.0.1\"",
     "is not an address and port"},
    {"[journal]", "[meters]\nlisten = \"systemd:modbus\"\n[journal]", "listen = \"systemd:modbus\"",
     "displays come from elsewhere: name their networks"},
    {"[journal]", "[meters]\nlisten = \"systemd:a b\"\n[journal]", "listen = \"systemd:a b\"",
     "\"systemd:a b\" names no socket"},
    {"[journal]", "[meters]\nlisten = 502\n[journal]", "listen = 502", "takes a text"},
    {kCa, "ca = \"c\"\nlisten = \"systemd:link\"", "listen", "is not an address and port"},
    {"[journal]", "[meters]\nallow = [\"10.1.0.0/8\"]\n[journal]",
     "allow = ", "\"10.1.0.0/8\" is no network"},
    {"[journal]", "[meters]\nallow = [\"10.0.0.0/33\"]\n[journal]", "allow = ", "is no network"},
    {"[journal]", "[meters]\nallow = [\"fd00::/129\"]\n[journal]", "allow = ", "is no network"},
    {"[journal]", "[meters]\nallow = []\n[journal]", "allow = ", "the list takes 1 to 100 texts"},
    {"[journal]", "[meters]\nmax_displays = 0\n[journal]", "max_displays", "it takes 1 to 10000"},
    {"[journal]", "[meters]\nframe_timeout_ms = 9\n[journal]", "frame_timeout_ms",
     "it takes 10 to 5000"},
    {"[journal]", "[meters]\nport = 502\n[journal]", "port = 502", "unknown key \"port\""},
    // [metrics]
    {"[journal]", "[metrics]\n[journal]", "[metrics]", "add a section [desk]"},
    {"[link]",
     "[desk]\nlisten = \"[::1]:1\"\ncertificate = \"c\"\nkey = \"k\"\n"
     "[metrics]\nallow = [\"10.0.0.1/8\"]\n[link]",
     "allow = ", "\"10.0.0.1/8\" is no network"},
    {"[link]",
     "[desk]\nlisten = \"[::1]:1\"\ncertificate = \"c\"\nkey = \"k\"\n"
     "[metrics]\nport = 9100\n[link]",
     "port = 9100", "unknown key \"port\" in [metrics]: it takes allow"},
});

TEST_CASE("the message for each mistake has the line, the fault and the rule")
{
    static_assert(kCases.size() >= 100);
    CHECK(problemsOf(kSampleConfig).empty());
    for (const Case& each : kCases) {
        const std::string text = with(kSampleConfig, each.from, each.to);
        CAPTURE(each.from);
        CAPTURE(each.to);
        const auto problems = problemsOf(text);
        std::string all;
        for (const ConfigProblem& problem : problems) all += inWords(problem) + "\n";
        CAPTURE(all);
        REQUIRE_FALSE(problems.empty());
        CHECK(problems.size() == 1);
        CHECK(problems[0].file == "/etc/jackpotd/site.toml");
        CHECK(problems[0].line == lineOf(text, each.at));
        CHECK(inWords(problems[0]).find(each.says) != std::string::npos);
    }
}

std::string allOf(const std::vector<ConfigProblem>& problems)
{
    std::string all;
    for (const ConfigProblem& problem : problems)
        all += std::to_string(problem.line) + ":" + std::to_string(problem.column) + " " +
               problem.message + (problem.rule.empty() ? "" : " (" + problem.rule + ")") + "\n";
    return all;
}

TEST_CASE("values at the limits of the configuration are accepted")
{
    struct Within {
        std::string_view from;
        std::string_view to;
    };
    for (const Within& each : std::to_array<Within>({
             {"[site]\nname", "site.name"},
             {"directory", "snapshot_every = 100\ndirectory"},
             {"directory", "snapshot_every = 10000000\ndirectory"},
             {"directory", "heartbeat_s = 1\ndirectory"},
             {"directory", "heartbeat_s = 0xE10\ndirectory"},
             {kCa, "ca = \"c\"\nmax_connections = 2"},
             {kCa, "ca = \"c\"\nmax_connections = 60000"},
             {kCa, "ca = \"c\"\nrounds_per_minute = 1_000_000"},
             {"[link]", "[writer]\nmailbox = 64\n[link]"},
             {"[link]", "[writer]\nmailbox = 64\nbatch = 64\n[link]"},
             {"[link]", "[writer]\n[log]\n[link]"},
             {"\"2500.00\"", "\"2500\""},
             {"\"2500.00\"", "'2500.0'"},
             {kInc, "increment = \"0\"\nreserve_increment = \"1\""},
             {kInc, "increment = \"0.6\"\nreserve_increment = \"0.4\""},
             {kInc, "increment = \"0\"\nopening = \"50000.00\"\ncap = \"50000.00\""},
             {kInc, "increment = \"0\"\nsimultaneity_window_ms = 0"},
             {"minimum = \"50000.00\"", "minimum = \"10000.00\""},
             {"minimum = \"60000.00\"", "minimum = \"0.01\""},
             {kInc, "increment = \"0\"\nsettle_after_ms = 8000"},
             {kCa, "ca = \"c\"\noffline_after_ms = 7000"},
             {"increment = \"0.2\"", "increment = \"0.2\"\nguarantee.royal_flush = \"50000.00\""},
             {kBj, "seats = 5"},
             {kBj, "seats = 9"},
             {kBj, "wager = \"5\""},
             {"seats = 6", "seats = 1"},
             {"seats = 6", "shuffling_device = false"},
             {"unit = 2", "unit = 247"},
         })) {
        CAPTURE(each.to);
        CHECK(problemsOf(with(kSampleConfig, each.from, each.to)).empty());
    }
}

TEST_CASE("a window of 0 is only for a pool with one table")
{
    const std::string alone =
        with(kSampleConfig, kInc, "increment = \"0\"\nsimultaneity_window_ms = 0");
    CHECK(problemsOf(alone).empty());
    std::string two = with(alone, "[[table]] # poker",
                           "[[table]]\nid = \"BJ02\"\npool = \"B7\"\n[[table]] # poker");
    two = with(two, "[\"BJ01\"]", "[\"BJ01\", \"BJ02\"]");
    CHECK(allOf(problemsOf(two)) ==
          "43:26 simultaneity_window_ms: 0 is only for a pool with one table; it has 2 (BJ "
          "14.27.4)\n");
}

TEST_CASE("all mistakes are reported at once, in the order of their lines")
{
    std::string text = with(kSampleConfig, "unit = 2", "unit = \"two\"");
    text = with(text, "wager = \"1.00\" # pool", "wager = 1.00");
    text = with(text, "minimum = \"50000.00\"", "minimum = \"20000.00\"");
    text = with(text, "tier = \"full_house\"", "tier = \"flush\"");
    text = with(text, "seats = 7", "seats = 4\ndecks = 8");
    text = with(text, "name = \"star.example/jackpot\"", "nmae = \"star.example\"");
    text = with(text, "[link]", "[link]\nlisten = 1");
    CHECK(allOf(problemsOf(text)) == R"(1:1 name: this is missing from [site]
2:1 unknown key "nmae" in [site]: did you mean "name"?
8:10 listen: takes a text in quotation marks, and this is a whole number
30:7 row: the row of "full_house" is missing (UTH 15.2.9.4)
34:48 amount: $150.00 is not the approved award of $100.00 (UTH 15.2.9.5)
35:14 tier: "flush" is there twice
44:11 minimum: $20,000.00 is not a minimum: it is $10,000.00, $25,000.00 or $50,000.00 (BJ 14.28)
50:9 wager: takes an amount in quotation marks, such as "2.50", and this is a number with decimals
58:9 seats: 4 seats: a table of this game has 5 to 9 (BJ 2.2.1)
59:9 decks: 8 decks: the game is played with 6 (BJ 3.1.1)
73:8 unit: takes a whole number from 1 to 247 without quotation marks, and this is a string
)");
}

TEST_CASE("a mistake's consequences are not reported as further mistakes")
{
    CHECK(allOf(problemsOf(with(kSampleConfig, "game = \"blazing7s\" # pool", "game = 7"))) ==
          "39:8 game: takes \"blazing7s\" or \"uth\", and this is a whole number\n");
    CHECK(allOf(problemsOf(with(kSampleConfig, "[[table]] # blackjack", "[[tabel]]"))) ==
          "54:3 unknown key \"tabel\": did you mean \"table\"?\n"
          "67:11 tables: there is no [[table]] \"BJ01\"\n");
    CHECK(allOf(problemsOf(with(kSampleConfig, "bonus.royal_flush", "bonus.royal_flsh"))) ==
          "52:1 bonus: it names neither royal_flush nor straight_flush (UTH 15.2.10)\n"
          "52:7 unknown key \"royal_flsh\" in [pool.bonus]: did you mean \"royal_flush\"?\n");
}

TEST_CASE("the messages for an empty file name every required section")
{
    CHECK(allOf(problemsOf("")) == R"(1:1 site: the section [site] is missing
1:1 journal: the section [journal] is missing
1:1 link: the section [link] is missing
1:1 pool: there is no [[pool]]: a site has at least one
1:1 table: there is no [[table]]: a site has at least one
)");
}

TEST_CASE("too many sections or list entries are refused")
{
    std::string units{kSampleConfig};
    std::string tables{kSampleConfig};
    std::string pools{kSampleConfig};
    for (std::size_t i = 0; i < kMaxTables - 1; ++i)
        tables += "[[table]]\nid = \"T" + std::to_string(i) + "\"\npool = \"B7\"\n";
    for (std::size_t i = 0; i < kMaxPools - 1; ++i)
        pools += "[[pool]]\nid = \"P" + std::to_string(i) +
                 "\"\ngame = \"uth\"\npaytable = \"U1\"\nwager = \"1.00\"\nincrement = \"0\"\n"
                 "minimum = \"1.00\"\n";
    for (int i = 3; i <= 2001; ++i)
        units += "[[meter]]\nid = \"U" + std::to_string(i) + "\"\nunit = 3\ntables = [\"BJ01\"]\n";
    CHECK(allOf(problemsOf(tables)).find("10001 of them, and 10000 is the most") !=
          std::string::npos);
    CHECK(allOf(problemsOf(pools)).find("101 of them, and 100 is the most") != std::string::npos);
    CHECK(allOf(problemsOf(units)).find("2001 of them, and 2000 is the most") != std::string::npos);
}

}  // namespace
}  // namespace jackpot::config
