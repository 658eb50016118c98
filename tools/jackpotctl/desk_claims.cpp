// jackpotctl claims, claim, pay, withhold, release, void, correct and close.
#include <algorithm>
#include <iterator>

#include "storage/json_read.h"
#include "tools/jackpotctl/desk_arguments.h"
#include "tools/jackpotctl/desk_command.h"

namespace jackpot::ctl {
namespace {

using storage::JsonText;

void showRound(const DeskClient& desk, const rapidjson::Document& answer)
{
    if (desk.wantsJson()) return desk.show(answer);
    printLine(cellOf(answer, "table") + " round " + cellOf(answer, "round"));
    if (!storage::arrayAt(answer, "claims").Empty())
        desk.show(answer, "claims",
                  {{"SEAT", "seat"},
                   {"TIER", "tier"},
                   {"STATE", "state"},
                   {"BOARD", "board"},
                   {"CARDS", "cards"},
                   {"HELD FOR", "held_for"},
                   {"PLAYER", "player"},
                   {"POOL", "pool"},
                   {"CLAIMED", "claimed_utc"},
                   {"PRESSED", "pressed_utc"}});
    const auto& awards = storage::arrayAt(answer, "awards");
    printLine(awards.Empty() ? "no awards" : "awards, in the order of payment:");
    printAwards(awards);
    for (const auto& each : storage::arrayAt(answer, "payments_without_award").GetArray()) {
        printLine("  seat " + cellOf(each, "seat") + "  paid without an award");
        printPayments(each);
    }
    for (const auto& each : storage::arrayAt(answer, "refunds").GetArray())
        printLine("  seat " + cellOf(each, "seat") + "  the wager of " +
                  cellOf(each, "amount", true) + " was returned");
}

struct ClaimsOptions : DeskOptions {
    std::optional<std::string> state;
    std::optional<std::string> pool;
    std::optional<std::string> table;
    std::optional<std::string> paid;
    std::optional<std::string> before;
    std::optional<std::uint64_t> limit;
};

void listClaims(DeskClient& desk, const ClaimsOptions& options)
{
    const auto answer = desk.get("/api/v1/claims" + queryOf({{"state", options.state},
                                                             {"pool", options.pool},
                                                             {"table", options.table},
                                                             {"paid", options.paid},
                                                             {"before", options.before},
                                                             {"limit", textOf(options.limit)}}));
    desk.show(answer, "claims",
              {{"TABLE", "table"},
               {"ROUND", "round"},
               {"SEAT", "seat"},
               {"TIER", "tier"},
               {"STATE", "state"},
               {"HELD FOR", "held_for"},
               {"POOL", "pool"},
               {"PLAYER", "player"},
               {"CLAIMED", "claimed_utc"},
               {"AMOUNT", "amount", true},
               {"PAID", "paid", true}});
    printMore(answer);
}

struct RoundOptions : DeskOptions {
    std::string table;
    std::uint64_t round = 0;
    std::optional<std::uint64_t> seat;
    std::string tier;
    std::string paid;
    std::string how;
    std::string ground;
    std::string reason;
    std::vector<std::string> forfeited;
    std::string board;
    std::vector<std::string> hands;
};

std::string roundInWords(const RoundOptions& options)
{
    return options.table + " round " + std::to_string(options.round);
}

void showClaim(DeskClient& desk, const RoundOptions& options)
{
    showRound(desk, desk.get(claimPath(options.table, options.round)));
}

// The award that the command is about. Without --tier it is the only one of the seat that is in a
// state that the command is for.
struct Award {
    std::int64_t seat;
    std::string tier;
};

Award awardOf(DeskClient& desk, const RoundOptions& options,
              const std::vector<std::string_view>& states)
{
    Award award{static_cast<std::int64_t>(options.seat.value()), options.tier};
    if (!award.tier.empty()) return award;
    const auto answer = desk.get(claimPath(options.table, options.round));
    std::string tiers;
    std::size_t found = 0;
    for (const auto& each : storage::arrayAt(answer, "awards").GetArray()) {
        if (storage::numberAt(each, "seat") != award.seat ||
            std::ranges::find(states, cellOf(each, "state")) == states.end())
            continue;
        award.tier = cellOf(each, "tier");
        tiers += (found++ == 0 ? "" : ", ") + award.tier;
    }
    const std::string state{states.front()};
    if (found == 0)
        throw cli::CommandError{kDeskRefused, "this seat has no award in this round that is " +
                                                  state + ": choose one with --tier"};
    if (found > 1)
        throw cli::UsageError{"this seat has several such awards, choose one with --tier: " +
                              tiers};
    return award;
}

// The answer is the round, or a proposal if it takes two people.
void showRoundOrProposal(const DeskClient& desk, const rapidjson::Document& answer)
{
    storage::find(answer, "proposal") ? showProposal(desk, answer) : showRound(desk, answer);
}

void pay(DeskClient& desk, const RoundOptions& options)
{
    const std::string paid = amountIn(options.paid);
    const Award award = awardOf(desk, options, {"due"});
    showRoundOrProposal(desk, desk.post(claimPath(options.table, options.round) + "/payments",
                                        jsonObject([&](JsonText& json) {
                                            json.numberField("seat", award.seat);
                                            json.textField("tier", award.tier);
                                            json.textField("paid", paid);
                                            json.textField("how", options.how);
                                        })));
}

void setWithheld(DeskClient& desk, const RoundOptions& options, const std::string& verb,
                 std::string_view state)
{
    const Award award = awardOf(desk, options, {state});
    showRoundOrProposal(desk, desk.post(claimPath(options.table, options.round) + "/" + verb,
                                        jsonObject([&](JsonText& json) {
                                            json.numberField("seat", award.seat);
                                            json.textField("tier", award.tier);
                                            json.textField("reason", options.reason);
                                        })));
}

void withhold(DeskClient& desk, const RoundOptions& options)
{
    setWithheld(desk, options, "withhold", "due");
}

void release(DeskClient& desk, const RoundOptions& options)
{
    setWithheld(desk, options, "release", "withheld");
}

// Prints that it is done, or the proposal if it takes two people.
void printDone(const DeskClient& desk, const rapidjson::Document& answer, const std::string& text)
{
    if (storage::find(answer, "proposal")) return showProposal(desk, answer);
    desk.wantsJson() ? desk.show(answer) : printLine(text);
}

constexpr std::string_view kRoundGrounds[] = {"dealing_error", "missing_or_foreign_card",
                                              "shuffling_device", "invalidated"};
constexpr std::string_view kWagerGrounds[] = {"invalid_wager", "loss_limit", "prohibited_device",
                                              "refused"};

void voidRound(DeskClient& desk, const RoundOptions& options)
{
    const bool isWager = options.seat.has_value();
    const auto& grounds = isWager ? kWagerGrounds : kRoundGrounds;
    if (std::ranges::find(grounds, options.ground) == std::end(grounds))
        throw cli::UsageError{"--ground " + options.ground + " is " +
                              (isWager ? "not for one wager" : "only for one wager, with --seat")};
    if (!options.forfeited.empty() && options.ground != "invalidated")
        throw cli::UsageError{"--forfeited is only for --ground invalidated"};
    std::string body = groundBody(options.ground, options.reason);
    std::string seats;
    for (const std::string& seat : options.forfeited)
        seats += (seats.empty() ? "" : ",") + std::to_string(wholeNumber("seat", seat));
    if (!seats.empty()) body.insert(1, "\"forfeited\":[" + seats + "],");
    std::string path = roundPath(options.table, options.round);
    std::string what = roundInWords(options);
    if (isWager) {
        path += "/wagers/" + std::to_string(*options.seat);
        what = "the wager of seat " + std::to_string(*options.seat) + " in " + what;
    }
    printDone(desk, desk.post(path + "/void", body), what + " is void");
}

void closeRound(DeskClient& desk, const RoundOptions& options)
{
    printDone(
        desk,
        desk.post(roundPath(options.table, options.round) + "/close", reasonBody(options.reason)),
        roundInWords(options) + " is closed");
}

void correctRound(DeskClient& desk, const RoundOptions& options)
{
    const auto writeCards = [](JsonText& json, const std::vector<std::string>& cards) {
        json.beginArray();
        for (const std::string& card : cards) json.text(card);
        json.endArray();
    };
    const auto board = cardsIn(options.board);
    const std::string body = jsonObject([&](JsonText& json) {
        json.key("board");
        writeCards(json, board);
        json.objectsField("hands", options.hands, [&](const std::string& hand) {
            const auto equals = hand.find('=');
            if (equals == std::string::npos)
                throw cli::UsageError{"\"" + hand + "\" is not a hand, such as 2=7H,7D"};
            json.numberField("seat", wholeNumber("seat", hand.substr(0, equals)));
            json.key("cards");
            writeCards(json, cardsIn(hand.substr(equals + 1)));
        });
        json.textField("reason", options.reason);
    });
    printDone(desk, desk.post(roundPath(options.table, options.round) + "/correct", body),
              roundInWords(options) + " is corrected");
}

cli::Command& addRoundCommand(cli::Command& program, RoundOptions& options, const std::string& name,
                              const std::string& summary)
{
    return program.add(name, summary, kClaimsHeading)
        .argument("TABLE", options.table)
        .argument("ROUND", options.round);
}

void addPay(cli::Command& program)
{
    auto options = std::make_shared<RoundOptions>();
    cli::Command& command =
        addRoundCommand(program, *options, "pay", "record the payment of an award");
    command
        .describe(
            "For supervisors. Records the amount that was really paid, as often as needed: the "
            "second payment of an award is a rectification, and a negative amount is money that "
            "came back. The difference between all payments and the amount due stays with the "
            "award, is reported to the inspector (BJ 16.19, UTH 11.12) and, above $1,000, is in "
            "the report of differences. A large payment needs two people: the command then makes a "
            "proposal and prints the command for the second person.")
        .number("--seat N", options->seat, kAnyNumber, "the seat that won")
        .required()
        .option("--paid AMOUNT", options->paid,
                "the amount that was paid, such as 50001.20, or -25 for money that came back")
        .required()
        .option("--how TEXT", options->how, "the means of payment, such as \"cheque 4711\"")
        .required()
        .option("--tier TIER", options->tier,
                "the award, if the seat has more than one due or it was withdrawn, such as "
                "three_sevens_diamonds; none if nothing was due")
        .example("jackpotctl pay BJ01 17 --seat 2 --paid 50001.20 --how \"cheque 4711\"");
    runAtDesk(command, options, pay);
}

void addWithhold(cli::Command& program, const std::string& name, const std::string& summary,
                 void (*work)(DeskClient&, const RoundOptions&))
{
    auto options = std::make_shared<RoundOptions>();
    cli::Command& command = addRoundCommand(program, *options, name, summary);
    command
        .describe(
            "For supervisors. Makes a proposal (UTH 13.19, BJ 18.1), which another supervisor or "
            "an administrator approves. The table is informed.")
        .number("--seat N", options->seat, kAnyNumber, "the seat that won")
        .required()
        .option("--reason TEXT", options->reason, "the reason")
        .required()
        .option("--tier TIER", options->tier, "the award, if the seat has more than one");
    runAtDesk(command, options, work);
}

void addVoid(cli::Command& program)
{
    auto options = std::make_shared<RoundOptions>();
    cli::Command& command =
        addRoundCommand(program, *options, "void", "void a round, or one of its wagers");
    command
        .describe(R"(For supervisors. The ground decides what becomes of wagers and awards.

Grounds for a round:
  dealing_error            BJ 16.8, UTH 11.1 to 11.6
  missing_or_foreign_card  BJ 16.16, UTH 11.7; Surveillance and an inspector
                           are notified
  shuffling_device         BJ 17.4, UTH 12.2
  invalidated              BJ 18.9, UTH 13.9; always two people. Also for a
                           closed round whose win is open

Grounds for the wager of one seat, with --seat:
  invalid_wager            BJ 16.22, 18.1, UTH 11.16, 13.1; also for a winner who
                           is found invalid before the payment
  loss_limit               BJ 16.23, UTH 11.17
  prohibited_device        BJ 18.8, UTH 13.8
  refused                  BJ 18.16, UTH 13.16; only before the result

It takes two people if the round is confirmed and its win is open, or if an award is paid or withheld: the command then makes a proposal and prints the command for the second person.)")
        .choice("--ground GROUND", options->ground,
                {"dealing_error", "missing_or_foreign_card", "shuffling_device", "invalidated",
                 "invalid_wager", "loss_limit", "prohibited_device", "refused"},
                "the ground")
        .required()
        .number("--seat N", options->seat, kAnyNumber, "only the wager of this seat")
        .option("--forfeited SEAT", options->forfeited,
                "a seat whose wager is not returned (BJ 18.10, UTH 13.10), once for each; only "
                "with invalidated")
        .option("--reason TEXT", options->reason, "a remark")
        .example("jackpotctl void BJ01 17 --seat 2 --ground invalid_wager");
    runAtDesk(command, options, voidRound);
}

void addClose(cli::Command& program)
{
    auto options = std::make_shared<RoundOptions>();
    cli::Command& command =
        addRoundCommand(program, *options, "close", "close a round that has a result");
    command
        .describe(
            "For supervisors, if the table cannot close its round itself. The result can't be "
            "corrected any more.")
        .option("--reason TEXT", options->reason, "the reason")
        .required();
    runAtDesk(command, options, closeRound);
}

void addCorrect(cli::Command& program)
{
    auto options = std::make_shared<RoundOptions>();
    cli::Command& command =
        addRoundCommand(program, *options, "correct", "give the right cards of a round");
    command
        .describe(
            "For supervisors. Replaces the whole result (BJ 16.8), until the round is closed, also "
            "after the button: name each hand, also those that were right. A card is its rank "
            "(23456789TJQKA) and suit (CDHS). It takes two people once the jackpot is confirmed or "
            "an award is paid: the command then makes a proposal and prints the command for the "
            "second person.")
        .option("--board CARDS", options->board, "such as 7H, or 2C,7D,9H")
        .required()
        .option("--hand SEAT=CARDS", options->hands, "such as 2=7H,7D; once for each hand")
        .required()
        .option("--reason TEXT", options->reason, "the reason")
        .required()
        .example("jackpotctl correct BJ01 17 --board 7H --hand 1=7H,7D --reason \"card misread\"");
    runAtDesk(command, options, correctRound);
}

}  // namespace

void addClaimCommands(cli::Command& program)
{
    auto claims = std::make_shared<ClaimsOptions>();
    cli::Command& list = program.add("claims", "list the jackpots that were won", kClaimsHeading);
    list.describe(
            "Lists the newest claim first. A claim is claimed by the result, locked when the "
            "button "
            "was pressed (the money has left the meter and is not due yet), held for a ruling, "
            "due, "
            "final (it never changes again) or dropped (void or corrected).")
        .choice("--state STATE", claims->state,
                {"claimed", "locked", "held", "due", "final", "dropped"},
                "only claims in this state")
        .choice("--paid PAID", claims->paid, {"true", "false"},
                "only claims whose award has a payment (true), or is due and has none (false)")
        .option("--pool POOL", claims->pool, "only claims on this pool")
        .option("--table TABLE", claims->table, "only claims from this table")
        .number("--limit N", claims->limit, kLimits, kLimitHelp)
        .option("--before ID", claims->before, "continue a long list");
    runAtDesk(list, claims, listClaims);

    auto round = std::make_shared<RoundOptions>();
    cli::Command& claim =
        addRoundCommand(program, *round, "claim", "print the claims and awards of a round");
    claim.describe(
        "Prints the claims with board and cards, and the awards in the order of payment: each with "
        "its rule, the arithmetic, whether it is locked, due, withheld or withdrawn, and its "
        "payments; then payments without an award, and wagers that were returned.");
    runAtDesk(claim, round, showClaim);

    addPay(program);
    addWithhold(program, "withhold", "propose not to pay an award", withhold);
    addWithhold(program, "release", "propose to pay a withheld award after all", release);
    addVoid(program);
    addClose(program);
    addCorrect(program);
}

}  // namespace jackpot::ctl
