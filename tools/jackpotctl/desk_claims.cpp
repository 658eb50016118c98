// jackpotctl claims, claim, pay, withhold, void and correct.
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
                   {"POOL", "pool"},
                   {"CLAIMED", "claimed_utc"},
                   {"PRESSED", "pressed_utc"}});
    const auto& awards = storage::arrayAt(answer, "awards");
    printLine(awards.Empty() ? "no awards" : "awards, in the order of payment:");
    printAwards(awards);
}

struct ClaimsOptions : DeskOptions {
    std::optional<std::string> state;
    std::optional<std::string> pool;
    std::optional<std::string> table;
    std::optional<std::string> before;
    std::optional<std::uint64_t> limit;
};

void listClaims(DeskClient& desk, const ClaimsOptions& options)
{
    const auto answer = desk.get("/api/v1/claims" + queryOf({{"state", options.state},
                                                             {"pool", options.pool},
                                                             {"table", options.table},
                                                             {"before", options.before},
                                                             {"limit", textOf(options.limit)}}));
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
    printMore(answer);
}

struct RoundOptions : DeskOptions {
    std::string table;
    std::uint64_t round = 0;
    std::optional<std::uint64_t> seat;
    std::string tier;
    std::string paid;
    std::string how;
    std::string reason;
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

// The award that the command is about. Without --tier it is the one that the seat has due.
struct Award {
    std::int64_t seat;
    std::string tier;
};

Award awardOf(DeskClient& desk, const RoundOptions& options)
{
    Award award{static_cast<std::int64_t>(options.seat.value()), options.tier};
    if (!award.tier.empty()) return award;
    const auto answer = desk.get(claimPath(options.table, options.round));
    std::string tiers;
    std::size_t due = 0;
    for (const auto& each : storage::arrayAt(answer, "awards").GetArray()) {
        if (storage::numberAt(each, "seat") != award.seat || cellOf(each, "state") != "due")
            continue;
        award.tier = cellOf(each, "tier");
        tiers += (due++ == 0 ? "" : ", ") + award.tier;
    }
    if (due == 0) throw cli::CommandError{kDeskRefused, "this seat has no award due in this round"};
    if (due > 1)
        throw cli::UsageError{"this seat has several awards due, choose one with --tier: " + tiers};
    return award;
}

void showPaid(const DeskClient& desk, const rapidjson::Document& answer)
{
    storage::find(answer, "proposal") ? showProposal(desk, answer) : showRound(desk, answer);
}

void pay(DeskClient& desk, const RoundOptions& options)
{
    const std::string paid = amountIn(options.paid);
    if (paid.starts_with('-')) throw cli::UsageError{"--paid is negative"};
    const Award award = awardOf(desk, options);
    showPaid(desk, desk.post(claimPath(options.table, options.round) + "/payments",
                             jsonObject([&](JsonText& json) {
                                 json.numberField("seat", award.seat);
                                 json.textField("tier", award.tier);
                                 json.textField("paid", paid);
                                 json.textField("how", options.how);
                             })));
}

void withhold(DeskClient& desk, const RoundOptions& options)
{
    const Award award = awardOf(desk, options);
    showPaid(desk, desk.post(claimPath(options.table, options.round) + "/withhold",
                             jsonObject([&](JsonText& json) {
                                 json.numberField("seat", award.seat);
                                 json.textField("tier", award.tier);
                                 json.textField("reason", options.reason);
                             })));
}

void printDone(const DeskClient& desk, const rapidjson::Document& answer, const std::string& text)
{
    desk.wantsJson() ? desk.show(answer) : printLine(text);
}

void voidRound(DeskClient& desk, const RoundOptions& options)
{
    std::string path = roundPath(options.table, options.round);
    std::string what = roundInWords(options);
    if (options.seat) {
        path += "/wagers/" + std::to_string(*options.seat);
        what += " seat " + std::to_string(*options.seat);
    }
    printDone(desk, desk.post(path + "/void", reasonBody(options.reason)), what + " is void");
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
            "For supervisors. Records the amount that was paid, which may differ from the amount "
            "due: the difference stays with the award, is reported to the inspector (BJ 16.19, UTH "
            "11.12) and, above $1,000, is in the report of differences. A large payment needs two "
            "people: the command then makes a proposal and prints the command for the second "
            "person.")
        .number("--seat N", options->seat, kAnyNumber, "the seat that won")
        .required()
        .option("--paid AMOUNT", options->paid, "the amount that was paid, such as 50001.20")
        .required()
        .option("--how TEXT", options->how, "the means of payment, such as \"cheque 4711\"")
        .required()
        .option("--tier TIER", options->tier,
                "the award, if the seat has more than one due, such as three_sevens_diamonds")
        .example("jackpotctl pay BJ01 17 --seat 2 --paid 50001.20 --how \"cheque 4711\"");
    runAtDesk(command, options, pay);
}

void addWithhold(cli::Command& program)
{
    auto options = std::make_shared<RoundOptions>();
    cli::Command& command =
        addRoundCommand(program, *options, "withhold", "propose not to pay an award");
    command
        .describe(
            "For supervisors. Makes a proposal (UTH 13.19, BJ 18.1), which another supervisor or "
            "an "
            "administrator approves.")
        .number("--seat N", options->seat, kAnyNumber, "the seat that won")
        .required()
        .option("--reason TEXT", options->reason, "the reason")
        .required()
        .option("--tier TIER", options->tier, "the award, if the seat has more than one due");
    runAtDesk(command, options, withhold);
}

void addCorrect(cli::Command& program)
{
    auto options = std::make_shared<RoundOptions>();
    cli::Command& command =
        addRoundCommand(program, *options, "correct", "give the right cards of a round");
    command
        .describe(
            "For supervisors. Replaces the whole result (BJ 16.8): name each hand, also those that "
            "were right. A card is its rank (23456789TJQKA) and suit (CDHS).")
        .option("--board CARDS", options->board, "such as 7H, or 2C,7D,9H")
        .required()
        .option("--hand SEAT=CARDS", options->hands, "such as 2=7H,7D; once for each hand")
        .required()
        .example("jackpotctl correct BJ01 17 --board 7H --hand 1=7H,7D --hand 2=2C,9S");
    runAtDesk(command, options, correctRound);
}

}  // namespace

void addClaimCommands(cli::Command& program)
{
    auto claims = std::make_shared<ClaimsOptions>();
    cli::Command& list = program.add("claims", "list the jackpots that were won", kClaimsHeading);
    list.describe(
            "Lists the newest claim first. A claim is claimed by the result, pending when the "
            "button "
            "was pressed, held for a ruling, settled, dropped (void or corrected), paid or "
            "withheld.")
        .choice("--state STATE", claims->state,
                {"claimed", "pending", "held", "settled", "dropped", "paid", "withheld"},
                "only claims in this state")
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
        "its rule, the arithmetic, and whether it is due, paid (the amount, the means and the "
        "person) or withheld.");
    runAtDesk(claim, round, showClaim);

    addPay(program);
    addWithhold(program);

    auto voided = std::make_shared<RoundOptions>();
    cli::Command& voidCommand =
        addRoundCommand(program, *voided, "void", "return the wagers of a round, or one of them");
    voidCommand.describe("For supervisors.")
        .option("--reason TEXT", voided->reason, "the reason")
        .required()
        .number("--seat N", voided->seat, kAnyNumber, "only the wager of this seat");
    runAtDesk(voidCommand, voided, voidRound);

    addCorrect(program);
}

}  // namespace jackpot::ctl
