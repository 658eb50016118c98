// jackpotctl adjust, propose, proposals, proposal, approve, reject and withdraw.
#include <algorithm>

#include "rules/money.h"
#include "storage/json_read.h"
#include "tools/jackpotctl/desk_arguments.h"
#include "tools/jackpotctl/desk_command.h"

namespace jackpot::ctl {
namespace {

using storage::JsonText;

struct ParameterOptions : DeskOptions {
    std::string pool;
    std::string amount;
    std::string reason;
    std::vector<std::string> parameters;  // KEY=VALUE
};

void adjust(DeskClient& desk, const ParameterOptions& options)
{
    const std::string amount = amountIn(options.amount);
    showProposal(desk, desk.post("/api/v1/pools/" + encoded(options.pool) + "/adjustments",
                                 jsonObject([&](JsonText& json) {
                                     json.textField("amount", amount);
                                     json.textField("reason", options.reason);
                                 })));
}

void writeParameter(JsonText& json, const std::string& key, const std::string& value)
{
    constexpr std::string_view kRates[] = {"increment", "reserve_increment"};
    constexpr std::string_view kAmounts[] = {"minimum", "cap", "payout_unit"};
    if (std::ranges::find(kRates, key) != std::end(kRates)) {
        if (const auto rate = rules::parseRate(value); !rate)
            throw cli::UsageError{key + ": \"" + value + "\": " + rate.error().message};
        json.textField(key, value);
    } else if (std::ranges::find(kAmounts, key) != std::end(kAmounts)) {
        json.textField(key, amountIn(value));
    } else if (key == "simultaneity_window_ms" || key == "settle_after_ms") {
        json.numberField(key, wholeNumber("time in milliseconds", value));
    } else {
        throw cli::UsageError{"there is no parameter \"" + key + "\""};
    }
}

// The amounts by tier that are given, or that there shall be none.
struct TierObject {
    std::string key;    // "bonus"
    std::string tiers{};  // fields of a JSON object
    bool isNone = false;
};

// Takes "bonus=none" or "bonus.royal_flush=1000"; false if it is another parameter.
bool takeTier(TierObject& object, const std::string& key, const std::string& value)
{
    if (key == object.key && value == "none") {
        object.isNone = true;
    } else if (key == object.key + ".royal_flush" || key == object.key + ".straight_flush") {
        object.tiers += (object.tiers.empty() ? "\"" : ",\"") + key.substr(object.key.size() + 1) +
                        "\":\"" + amountIn(value) + "\"";
    } else {
        return false;
    }
    if (object.isNone && !object.tiers.empty())
        throw cli::UsageError{object.key + "=none and a " + object.key + " contradict each other"};
    return true;
}

std::string parametersBody(const ParameterOptions& options)
{
    std::vector<std::string> seen;
    TierObject bonus{.key = "bonus"};
    TierObject guarantee{.key = "guarantee"};
    std::string more;  // JsonText writes no null
    std::string body = jsonObject([&](JsonText& json) {
        json.textField("reason", options.reason);
        for (const std::string& parameter : options.parameters) {
            const auto equals = parameter.find('=');
            if (equals == std::string::npos || equals + 1 == parameter.size())
                throw cli::UsageError{"\"" + parameter + "\" is not KEY=VALUE"};
            const std::string key = parameter.substr(0, equals);
            const std::string value = parameter.substr(equals + 1);
            if (std::ranges::find(seen, key) != seen.end())
                throw cli::UsageError{key + " is given twice"};
            seen.push_back(key);
            if (takeTier(bonus, key, value) || takeTier(guarantee, key, value)) continue;
            if (value == "none" && key == "cap")
                more += ",\"cap\":null";
            else
                writeParameter(json, key, value);
        }
    });
    for (const TierObject& each : {bonus, guarantee}) {
        if (each.isNone) more += ",\"" + each.key + "\":null";
        if (!each.tiers.empty()) more += ",\"" + each.key + "\":{" + each.tiers + "}";
    }
    body.insert(body.size() - 1, more);
    return body;
}

void propose(DeskClient& desk, const ParameterOptions& options)
{
    showProposal(desk, desk.post("/api/v1/pools/" + encoded(options.pool) + "/parameters",
                                 parametersBody(options)));
}

struct ProposalsOptions : DeskOptions {
    std::optional<std::string> state;
    std::optional<std::uint64_t> limit;
    std::optional<std::string> before;
};

void listProposals(DeskClient& desk, const ProposalsOptions& options)
{
    const auto answer = desk.get("/api/v1/proposals" + queryOf({{"state", options.state},
                                                                {"before", options.before},
                                                                {"limit", textOf(options.limit)}}));
    desk.show(answer, "proposals",
              {{"PROPOSAL", "proposal"},
               {"STATE", "state"},
               {"BY", "by"},
               {"SECOND", "closed_by"},
               {"MADE", "made_utc"},
               {"WHAT", "words"}});
    printMore(answer);
}

struct ProposalOptions : DeskOptions, Confirmation {
    std::uint64_t id = 0;
    std::optional<std::string> sha256;
    std::string reason;
};

std::string pathOf(const ProposalOptions& options)
{
    return "/api/v1/proposals/" + std::to_string(options.id);
}

void showOne(DeskClient& desk, const ProposalOptions& options)
{
    showProposal(desk, desk.get(pathOf(options)));
}

void approve(DeskClient& desk, const ProposalOptions& options)
{
    const auto& hash = options.sha256;
    if (hash &&
        (hash->size() != 64 || hash->find_first_not_of("0123456789abcdef") != std::string::npos))
        throw cli::UsageError{"--sha256 takes 64 hex digits"};
    requireConfirmable(options, options);
    const auto seen = desk.get(pathOf(options));
    if (!options.yes) {
        printLine(cellOf(seen, "words"));
        printLine("  proposed by " + cellOf(seen, "by") + ": " + cellOf(seen, "reason"));
        printLine("  command  " + cellOf(seen, "proposed"));
        printLine("  sha256   " + cellOf(seen, "sha256"));
    }
    confirm(options, "approve this?");
    showProposal(desk, desk.post(pathOf(options) + "/approve", jsonObject([&](JsonText& json) {
                                     json.textField("sha256",
                                                    hash.value_or(cellOf(seen, "sha256")));
                                 })));
}

void reject(DeskClient& desk, const ProposalOptions& options)
{
    showProposal(desk, desk.post(pathOf(options) + "/reject", reasonBody(options.reason)));
}

void withdraw(DeskClient& desk, const ProposalOptions& options)
{
    showProposal(desk, desk.post(pathOf(options) + "/withdraw",
                                 options.reason.empty() ? "{}" : reasonBody(options.reason)));
}

void addAdjustAndPropose(cli::Command& program)
{
    auto amount = std::make_shared<ParameterOptions>();
    cli::Command& adjustCommand = program.add(
        "adjust", "propose to add to a pool's meter or to subtract from it", kTwoPeopleHeading);
    adjustCommand
        .describe(
            "For supervisors and administrators. Makes a proposal, which an administrator or an "
            "inspector approves.")
        .argument("POOL", amount->pool)
        .argument("AMOUNT", amount->amount, "such as 12.50 or -12.50")
        .option("--reason TEXT", amount->reason, "the reason")
        .required();
    runAtDesk(adjustCommand, amount, adjust);

    auto parameters = std::make_shared<ParameterOptions>();
    cli::Command& proposeCommand =
        program.add("propose", "propose other parameters of a pool", kTwoPeopleHeading);
    proposeCommand
        .describe(
            "For supervisors and administrators. Makes a proposal, which an administrator or an "
            "inspector approves. The new parameters take effect when the pool next resets and has "
            "no open win; those that are not named stay. (jackpotctl change-pool does this on the "
            "daemon's machine, "
            "from the configuration file.)\n\nKEY is increment, reserve_increment (such as 0.235), "
            "minimum, cap, payout_unit (such as 0.05), simultaneity_window_ms, settle_after_ms, "
            "bonus.royal_flush, bonus.straight_flush, guarantee.royal_flush or "
            "guarantee.straight_flush. cap=none, bonus=none and guarantee=none remove them.")
        .argument("POOL", parameters->pool)
        .arguments("KEY=VALUE", parameters->parameters)
        .option("--reason TEXT", parameters->reason, "the reason")
        .required()
        .example("jackpotctl propose B7 minimum=25000 cap=none --reason \"new season\"");
    runAtDesk(proposeCommand, parameters, propose);
}

cli::Command& addProposalCommand(cli::Command& program, ProposalOptions& options,
                                 const std::string& name, const std::string& summary)
{
    return program.add(name, summary, kTwoPeopleHeading)
        .argument("ID", options.id, "as jackpotctl proposals prints it");
}

}  // namespace

void addProposalCommands(cli::Command& program)
{
    addAdjustAndPropose(program);

    auto list = std::make_shared<ProposalsOptions>();
    cli::Command& listCommand = program.add("proposals", "list the proposals", kTwoPeopleHeading);
    listCommand
        .describe(
            "Lists the newest first. A proposal is open, expired, done, refused (approved, but the "
            "rules did not accept it by then), rejected, withdrawn, or approved (the daemon was "
            "stopped before it was done: propose it again).")
        .choice("--state STATE", list->state,
                {"open", "expired", "done", "refused", "rejected", "withdrawn", "approved"},
                "only proposals in this state")
        .number("--limit N", list->limit, kLimits, kLimitHelp)
        .option("--before ID", list->before, "continue a long list");
    runAtDesk(listCommand, list, listProposals);

    auto one = std::make_shared<ProposalOptions>();
    runAtDesk(addProposalCommand(program, *one, "proposal",
                                 "print a proposal: the exact command, its hash, its state"),
              one, showOne);

    auto approved = std::make_shared<ProposalOptions>();
    cli::Command& approveCommand =
        addProposalCommand(program, *approved, "approve", "approve a proposal, which is then done");
    approveCommand
        .describe(
            "Prints the exact command and its hash, and asks. Payments, withholdings, releases, "
            "voids and corrections are approved by another supervisor or an administrator, "
            "adjustments and parameters by an "
            "administrator or inspector; never by the person who made the proposal.")
        .option("--sha256 HASH", approved->sha256,
                "the hash of the command that you have read: a proposal with another is refused")
        .flag("--yes", approved->yes, "do not ask");
    runAtDesk(approveCommand, approved, approve);

    auto rejected = std::make_shared<ProposalOptions>();
    cli::Command& rejectCommand =
        addProposalCommand(program, *rejected, "reject", "reject the proposal of another person");
    rejectCommand.option("--reason TEXT", rejected->reason, "the reason").required();
    runAtDesk(rejectCommand, rejected, reject);

    auto withdrawn = std::make_shared<ProposalOptions>();
    cli::Command& withdrawCommand =
        addProposalCommand(program, *withdrawn, "withdraw", "withdraw your own proposal");
    withdrawCommand.option("--reason TEXT", withdrawn->reason, "the reason");
    runAtDesk(withdrawCommand, withdrawn, withdraw);
}

}  // namespace jackpot::ctl
