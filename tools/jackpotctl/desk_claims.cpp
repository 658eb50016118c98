// jackpotctl claims, claim, pay, withhold, void and correct.
#include "storage/json_read.h"
#include "tools/jackpotctl/desk_arguments.h"
#include "tools/jackpotctl/desk_command.h"

namespace jackpot::tools {
namespace {

using audit::Arguments;
using Form = audit::Option::Form;
using storage::JsonText;

constexpr std::string_view kClaimsHelp =
    R"(jackpotctl claims - the jackpots that were won, the newest first

Usage:
  jackpotctl claims [--state STATE] [--pool POOL] [--table TABLE]

STATE is claimed (by the result), pending (the button was pressed), held (for a ruling), settled, dropped (void or
corrected), paid or withheld.

Options:
  --state STATE       those alone
  --pool POOL, --table TABLE
                      those of a pool or table alone
  --limit N           at most so many, 100 unless given and at most 500
  --before ID         the next of a long list
)";

constexpr std::string_view kClaimHelp =
    R"(jackpotctl claim - all about what was won in a round

Usage:
  jackpotctl claim TABLE ROUND

Prints the claims with board and cards, and the awards in the order of payment: each with its rule, the arithmetic,
and whether it is due, paid (what, how and by whom) or withheld.

Options:
)";

constexpr std::string_view kPayHelp =
    R"(jackpotctl pay - record the payment of an award; for supervisors

Usage:
  jackpotctl pay TABLE ROUND --seat N [--tier TIER] --paid AMOUNT --how TEXT

Records what was paid, which may differ from what is due: the difference stays with the award, goes to the inspector
(BJ 16.19, UTH 11.12) and, above $1,000, into the report of differences. A large payment takes two people: then a
proposal is made, and what the second person runs is printed.

Options:
  --seat N            whose
  --tier TIER         which award, where the seat has more than one due, such as three_sevens_diamonds
  --paid AMOUNT       what was paid, such as 50001.20
  --how TEXT          how, such as "cheque 4711"
)";

constexpr std::string_view kWithholdHelp =
    R"(jackpotctl withhold - do not pay an award, by two people; for supervisors

Usage:
  jackpotctl withhold TABLE ROUND --seat N [--tier TIER] --reason TEXT

Makes a proposal (UTH 13.19, BJ 18.1), which another supervisor or an administrator approves.

Options:
  --seat N            whose
  --tier TIER         which award, where the seat has more than one due
  --reason TEXT       why
)";

constexpr std::string_view kVoidHelp =
    R"(jackpotctl void - return the wagers of a round, or one of them; for supervisors

Usage:
  jackpotctl void TABLE ROUND [--seat N] --reason TEXT

Options:
  --seat N            the wager of this seat alone
  --reason TEXT       why
)";

constexpr std::string_view kCorrectHelp =
    R"(jackpotctl correct - give the right cards of a round whose result was wrong; for supervisors

Usage:
  jackpotctl correct TABLE ROUND --board CARDS --hand SEAT=CARDS ...

Takes the place of the whole result (BJ 16.8), so name each hand, also those that were right. A card is its rank
(23456789TJQKA) and suit (CDHS).

Options:
  --board CARDS       such as 7H, or 2C,7D,9H
  --hand SEAT=CARDS   such as 2=7H,7D; once for each hand
)";

void showRound(const DeskClient& desk, const rapidjson::Document& answer)
{
    if (desk.wantsJson()) return desk.show(answer);
    say(cellOf(answer, "table") + " round " + cellOf(answer, "round"));
    if (!storage::arrayAt(answer, "claims").Empty())
        desk.show(answer, "claims",
                  {{"SEAT", "seat"},
                   {"TIER", "tier"},
                   {"STATE", "state"},
                   {"BOARD", "board"},
                   {"CARDS", "cards"},
                   {"POOL", "pool"},
                   {"CLAIMED", "claimed_utc"},
                   {"PRESSED", "pressed_utc"}});
    const auto& awards = storage::arrayAt(answer, "awards");
    say(awards.Empty() ? "no awards" : "awards, in the order of payment:");
    sayAwards(awards);
}

void claims(DeskClient& desk, const Arguments& arguments)
{
    const auto answer =
        desk.get("/api/v1/claims" +
                 queryOf(arguments, {"--state", "--pool", "--table", "--before", "--limit"}));
    desk.show(answer, "claims",
              {{"TABLE", "table"},
               {"ROUND", "round"},
               {"SEAT", "seat"},
               {"TIER", "tier"},
               {"STATE", "state"},
               {"POOL", "pool"},
               {"BOARD", "board"},
               {"CARDS", "cards"},
               {"CLAIMED", "claimed_utc"}});
    sayMore(answer);
}

void claim(DeskClient& desk, const Arguments& arguments)
{
    showRound(desk, desk.get(roundPath(arguments, "/api/v1/claims")));
}

// The award that the command is about. Without --tier it is the one that the seat has due.
struct Award {
    std::int64_t seat;
    std::string tier;
};

Award awardOf(DeskClient& desk, const Arguments& arguments, const std::string& round)
{
    Award award{wholeNumber(arguments, "seat", required(arguments, "--seat")),
                arguments.value("--tier").value_or("")};
    if (!award.tier.empty()) return award;
    const auto answer = desk.get(round);
    std::string tiers;
    std::size_t due = 0;
    for (const auto& each : storage::arrayAt(answer, "awards").GetArray()) {
        if (storage::numberAt(each, "seat") != award.seat || cellOf(each, "state") != "due")
            continue;
        award.tier = cellOf(each, "tier");
        tiers += (due++ == 0 ? "" : ", ") + award.tier;
    }
    if (due == 0) throw audit::Stop{kDeskRefused, "this seat has no award due in this round"};
    if (due > 1) arguments.refuse("this seat has more than one due, name it by --tier: " + tiers);
    return award;
}

void showPaid(const DeskClient& desk, const rapidjson::Document& answer)
{
    storage::find(answer, "proposal") ? showProposal(desk, answer) : showRound(desk, answer);
}

void pay(DeskClient& desk, const Arguments& arguments)
{
    const std::string round = roundPath(arguments, "/api/v1/claims");
    const std::string paid = amountIn(arguments, required(arguments, "--paid"));
    if (paid.starts_with('-')) arguments.refuse("--paid is negative");
    const std::string how = required(arguments, "--how");
    const Award award = awardOf(desk, arguments, round);
    showPaid(desk, desk.post(round + "/payments", jsonObject([&](JsonText& json) {
                                 json.numberField("seat", award.seat);
                                 json.textField("tier", award.tier);
                                 json.textField("paid", paid);
                                 json.textField("how", how);
                             })));
}

void withhold(DeskClient& desk, const Arguments& arguments)
{
    const std::string round = roundPath(arguments, "/api/v1/claims");
    const std::string reason = required(arguments, "--reason");
    const Award award = awardOf(desk, arguments, round);
    showPaid(desk, desk.post(round + "/withhold", jsonObject([&](JsonText& json) {
                                 json.numberField("seat", award.seat);
                                 json.textField("tier", award.tier);
                                 json.textField("reason", reason);
                             })));
}

void sayDone(const DeskClient& desk, const rapidjson::Document& answer, const std::string& words)
{
    desk.wantsJson() ? desk.show(answer) : say(words);
}

void voidRound(DeskClient& desk, const Arguments& arguments)
{
    std::string path = roundPath(arguments, "/api/v1/tables");
    std::string what = arguments.positional()[0] + " round " + arguments.positional()[1];
    if (const auto seat = arguments.value("--seat")) {
        path += "/wagers/" + std::to_string(wholeNumber(arguments, "seat", *seat));
        what += " seat " + *seat;
    }
    sayDone(desk, desk.post(path + "/void", reasonBody(arguments)), what + " is void");
}

void correct(DeskClient& desk, const Arguments& arguments)
{
    const std::string path = roundPath(arguments, "/api/v1/tables") + "/correct";
    const auto writeCards = [](JsonText& json, const std::vector<std::string>& cards) {
        json.beginArray();
        for (const std::string& card : cards) json.text(card);
        json.endArray();
    };
    const auto board = cardsIn(arguments, required(arguments, "--board"));
    const auto hands = arguments.values("--hand");
    if (hands.empty()) arguments.refuse("it takes --hand");
    const std::string body = jsonObject([&](JsonText& json) {
        json.key("board");
        writeCards(json, board);
        json.objectsField("hands", hands, [&](const std::string& hand) {
            const auto equals = hand.find('=');
            if (equals == std::string::npos)
                arguments.refuse("\"" + hand + "\" is no hand, such as 2=7H,7D");
            json.numberField("seat", wholeNumber(arguments, "seat", hand.substr(0, equals)));
            json.key("cards");
            writeCards(json, cardsIn(arguments, hand.substr(equals + 1)));
        });
    });
    sayDone(desk, desk.post(path, body),
            arguments.positional()[0] + " round " + arguments.positional()[1] + " is corrected");
}

}  // namespace

std::vector<DeskCommand> claimCommands()
{
    constexpr std::string_view kRound = "TABLE and ROUND";
    return {
        {"claims",
         kClaimsHelp,
         {{"--state", Form::Value},
          {"--pool", Form::Value},
          {"--table", Form::Value},
          {"--limit", Form::Value},
          {"--before", Form::Value}},
         0,
         0,
         "no argument but its options",
         claims,
         ""},
        {"claim", kClaimHelp, {}, 2, 2, kRound, claim, ""},
        {"pay",
         kPayHelp,
         {{"--seat", Form::Value},
          {"--tier", Form::Value},
          {"--paid", Form::Value},
          {"--how", Form::Value}},
         2,
         2,
         kRound,
         pay,
         ""},
        {"withhold",
         kWithholdHelp,
         {{"--seat", Form::Value}, {"--tier", Form::Value}, kReasonOption},
         2,
         2,
         kRound,
         withhold,
         ""},
        {"void", kVoidHelp, {{"--seat", Form::Value}, kReasonOption}, 2, 2, kRound, voidRound, ""},
        {"correct",
         kCorrectHelp,
         {{"--board", Form::Value}, {"--hand", Form::Values}},
         2,
         2,
         kRound,
         correct,
         ""},
    };
}

}  // namespace jackpot::tools
