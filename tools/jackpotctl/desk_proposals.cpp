// jackpotctl adjust, propose, proposals, proposal, approve, reject and withdraw.
#include <algorithm>

#include "rules/money.h"
#include "storage/json_read.h"
#include "tools/jackpotctl/desk_arguments.h"
#include "tools/jackpotctl/desk_command.h"

namespace jackpot::tools {
namespace {

using audit::Arguments;
using Form = audit::Option::Form;
using storage::JsonText;

constexpr std::string_view kAdjustHelp =
    R"(jackpotctl adjust - add to a pool's meter or take from it, by two people

Usage:
  jackpotctl adjust POOL AMOUNT --reason TEXT

Makes a proposal, as supervisor or administrator; an administrator or inspector approves it.

Options:
  --reason TEXT       why
)";

constexpr std::string_view kProposeHelp =
    R"(jackpotctl propose - agree on other parameters of a pool, by two people

Usage:
  jackpotctl propose POOL --reason TEXT KEY=VALUE ...

Makes a proposal, as supervisor or administrator; an administrator or inspector approves it. What is agreed takes
effect when the pool next resets; what is not named stays. (jackpotctl change-pool does the same on the machine
itself, from the configuration file.)

KEY is increment, reserve_increment (such as 0.235), minimum, cap, payout_unit (such as 0.05),
simultaneity_window_ms, bonus.royal_flush or bonus.straight_flush. cap=none and bonus=none take them away.

Options:
  --reason TEXT       why
)";

constexpr std::string_view kProposalsHelp =
    R"(jackpotctl proposals - what was proposed, the newest first

Usage:
  jackpotctl proposals [--state STATE]

STATE is open, expired, done, refused (approved, but the rules did not take it by then), rejected, withdrawn, or
approved (the daemon was cut off before it was done: propose it anew).

Options:
  --state STATE       those alone
  --limit N           at most so many, 100 unless given and at most 500
  --before ID         the next of a long list
)";

constexpr std::string_view kProposalHelp =
    R"(jackpotctl proposal - all about a proposal: the exact command, its hash, and what became of it

Usage:
  jackpotctl proposal ID

Options:
)";

constexpr std::string_view kApproveHelp =
    R"(jackpotctl approve - be the second person; what was proposed is then done

Usage:
  jackpotctl approve ID [--sha256 HASH] [--yes]

Shows the exact command and its hash, and asks. Payments and withholdings are approved by another supervisor or an
administrator, adjustments and parameters by an administrator or inspector; never by who proposed it.

Options:
  --sha256 HASH       of the command that you have seen: anything else is refused
  --yes               do not ask
)";

constexpr std::string_view kRejectHelp =
    R"(jackpotctl reject - refuse what another has proposed

Usage:
  jackpotctl reject ID --reason TEXT

Options:
  --reason TEXT       why
)";

constexpr std::string_view kWithdrawHelp =
    R"(jackpotctl withdraw - take back what you have proposed

Usage:
  jackpotctl withdraw ID [--reason TEXT]

Options:
  --reason TEXT       why
)";

std::string pathOf(const Arguments& arguments)
{
    return "/api/v1/proposals/" +
           std::to_string(wholeNumber(arguments, "proposal", arguments.positional()[0]));
}

void adjust(DeskClient& desk, const Arguments& arguments)
{
    const auto& words = arguments.positional();
    const std::string amount = amountIn(arguments, words[1]);
    const std::string reason = required(arguments, "--reason");
    showProposal(desk, desk.post("/api/v1/pools/" + encoded(words[0]) + "/adjustments",
                                 jsonObject([&](JsonText& json) {
                                     json.textField("amount", amount);
                                     json.textField("reason", reason);
                                 })));
}

void writeParameter(const Arguments& arguments, JsonText& json, const std::string& key,
                    const std::string& value)
{
    constexpr std::string_view kRates[] = {"increment", "reserve_increment"};
    constexpr std::string_view kAmounts[] = {"minimum", "cap", "payout_unit"};
    if (std::ranges::find(kRates, key) != std::end(kRates)) {
        if (const auto rate = rules::parseRate(value); !rate)
            arguments.refuse(key + ": \"" + value + "\": " + rate.error().message);
        json.textField(key, value);
    } else if (std::ranges::find(kAmounts, key) != std::end(kAmounts)) {
        json.textField(key, amountIn(arguments, value));
    } else if (key == "simultaneity_window_ms") {
        json.numberField(key, wholeNumber(arguments, "time in milliseconds", value));
    } else {
        arguments.refuse("there is no parameter \"" + key + "\"");
    }
}

std::string parametersBody(const Arguments& arguments)
{
    constexpr std::string_view kBonus = "bonus.";
    const auto& words = arguments.positional();
    std::vector<std::string> seen;
    std::string bonus;
    std::string none;  // JsonText writes no null
    std::string body = jsonObject([&](JsonText& json) {
        json.textField("reason", required(arguments, "--reason"));
        for (std::size_t i = 1; i < words.size(); ++i) {
            const auto equals = words[i].find('=');
            if (equals == std::string::npos || equals + 1 == words[i].size())
                arguments.refuse("\"" + words[i] + "\" is no KEY=VALUE");
            const std::string key = words[i].substr(0, equals);
            const std::string value = words[i].substr(equals + 1);
            if (std::ranges::find(seen, key) != seen.end())
                arguments.refuse(key + " is given twice");
            seen.push_back(key);
            if (value == "none" && (key == "cap" || key == "bonus"))
                none += ",\"" + key + "\":null";
            else if (key == "bonus.royal_flush" || key == "bonus.straight_flush")
                bonus += (bonus.empty() ? "\"" : ",\"") + key.substr(kBonus.size()) + "\":\"" +
                         amountIn(arguments, value) + "\"";
            else
                writeParameter(arguments, json, key, value);
        }
    });
    if (!bonus.empty() && std::ranges::find(seen, "bonus") != seen.end())
        arguments.refuse("bonus=none and a bonus contradict each other");
    if (!bonus.empty()) none += ",\"bonus\":{" + bonus + "}";
    body.insert(body.size() - 1, none);
    return body;
}

void propose(DeskClient& desk, const Arguments& arguments)
{
    showProposal(desk,
                 desk.post("/api/v1/pools/" + encoded(arguments.positional()[0]) + "/parameters",
                           parametersBody(arguments)));
}

void proposals(DeskClient& desk, const Arguments& arguments)
{
    const auto answer =
        desk.get("/api/v1/proposals" + queryOf(arguments, {"--state", "--before", "--limit"}));
    desk.show(answer, "proposals",
              {{"PROPOSAL", "proposal"},
               {"STATE", "state"},
               {"BY", "by"},
               {"SECOND", "closed_by"},
               {"MADE", "made_utc"},
               {"WHAT", "words"}});
    sayMore(answer);
}

void proposal(DeskClient& desk, const Arguments& arguments)
{
    showProposal(desk, desk.get(pathOf(arguments)));
}

void approve(DeskClient& desk, const Arguments& arguments)
{
    const std::string path = pathOf(arguments);
    const auto hash = arguments.value("--sha256");
    if (hash &&
        (hash->size() != 64 || hash->find_first_not_of("0123456789abcdef") != std::string::npos))
        arguments.refuse("--sha256 takes 64 hex digits");
    requireConfirmable(arguments);
    const auto seen = desk.get(path);
    if (!arguments.has("--yes")) {
        say(cellOf(seen, "words"));
        say("  proposed by " + cellOf(seen, "by") + ": " + cellOf(seen, "reason"));
        say("  command  " + cellOf(seen, "proposed"));
        say("  sha256   " + cellOf(seen, "sha256"));
    }
    confirm(arguments, "approve this?");
    showProposal(desk, desk.post(path + "/approve", jsonObject([&](JsonText& json) {
                                     json.textField("sha256",
                                                    hash.value_or(cellOf(seen, "sha256")));
                                 })));
}

void reject(DeskClient& desk, const Arguments& arguments)
{
    showProposal(desk, desk.post(pathOf(arguments) + "/reject", reasonBody(arguments)));
}

void withdraw(DeskClient& desk, const Arguments& arguments)
{
    showProposal(desk, desk.post(pathOf(arguments) + "/withdraw",
                                 arguments.has("--reason") ? reasonBody(arguments) : "{}"));
}

}  // namespace

std::vector<DeskCommand> proposalCommands()
{
    constexpr std::size_t kMostParameters = 20;
    constexpr std::string_view kId = "one ID, as jackpotctl proposals shows";
    return {
        {"adjust", kAdjustHelp, {kReasonOption}, 2, 2, "POOL and AMOUNT", adjust, ""},
        {"propose",
         kProposeHelp,
         {kReasonOption},
         2,
         kMostParameters,
         "POOL and KEY=VALUE",
         propose,
         ""},
        {"proposals",
         kProposalsHelp,
         {{"--state", Form::Value}, {"--limit", Form::Value}, {"--before", Form::Value}},
         0,
         0,
         "no argument but its options",
         proposals,
         ""},
        {"proposal", kProposalHelp, {}, 1, 1, kId, proposal, ""},
        {"approve", kApproveHelp, {{"--sha256", Form::Value}, kYesOption}, 1, 1, kId, approve, ""},
        {"reject", kRejectHelp, {kReasonOption}, 1, 1, kId, reject, ""},
        {"withdraw", kWithdrawHelp, {kReasonOption}, 1, 1, kId, withdraw, ""},
    };
}

}  // namespace jackpot::tools
