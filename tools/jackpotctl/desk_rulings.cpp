// jackpotctl rulings and rule.
#include "storage/json_read.h"
#include "tools/jackpotctl/desk_arguments.h"
#include "tools/jackpotctl/desk_command.h"

namespace jackpot::ctl {
namespace {

using storage::JsonText;

constexpr std::size_t kShortToken = 12;  // printed for people; the desk knows the whole token
constexpr std::size_t kMinToken = 8;

std::string_view trimmed(std::string_view text)
{
    const auto begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Calls `each` with the trimmed parts between the separators, empty ones included.
template <class Each>
void forParts(std::string_view text, char separator, Each&& each)
{
    while (true) {
        const auto end = text.find(separator);
        each(trimmed(text.substr(0, end)));
        if (end == std::string_view::npos) return;
        text.remove_prefix(end + 1);
    }
}

// {"order": [[{"table": "T1", "round": 17}, ...], ...]}
std::string orderBody(const std::string& order)
{
    return jsonObject([&](JsonText& json) {
        json.key("order");
        json.beginArray();
        forParts(order, ',', [&](std::string_view group) {
            json.beginArray();
            forParts(group, '+', [&](std::string_view round) {
                const auto slash = round.rfind('/');
                if (slash == std::string_view::npos || slash == 0)
                    throw cli::UsageError{"\"" + order +
                                          "\" is not an order, such as \"T1/17+T2/4, T3/9\""};
                json.beginObject();
                json.textField("table", trimmed(round.substr(0, slash)));
                json.numberField(
                    "round", wholeNumber("round", std::string{trimmed(round.substr(slash + 1))}));
                json.endObject();
            });
            json.endArray();
        });
        json.endArray();
    });
}

// Awards of other wins that the ruling changes.
void printChanged(const rapidjson::Value& preview)
{
    if (const auto& withdrawn = storage::arrayAt(preview, "withdrawn"); !withdrawn.Empty()) {
        printLine("  withdrawn, because they come out otherwise:");
        for (const auto& each : withdrawn.GetArray())
            printLine("     " + cellOf(each, "table") + " round " + cellOf(each, "round") +
                      " seat " + cellOf(each, "seat") + "  " + cellOf(each, "tier") + "  " +
                      cellOf(each, "amount", true));
    }
    if (const auto& locked = storage::arrayAt(preview, "locked"); !locked.Empty()) {
        printLine("  not due yet, and then:");
        printAwards(locked);
    }
}

void printPreview(const std::string& title, const rapidjson::Value& preview)
{
    printLine(title + cellOf(preview, "words"));
    printAwards(storage::arrayAt(preview, "awards"));
    printChanged(preview);
    printLine("  then the meter is " + cellOf(preview, "meter_after", true) + ", displayed " +
              cellOf(preview, "displayed_after", true) + ", the reserve " +
              cellOf(preview, "reserve_after", true));
    printLine("  token " + cellOf(preview, "token").substr(0, kShortToken));
}

struct RulingOptions : DeskOptions, Confirmation {
    std::string pool;
    std::optional<std::uint64_t> ruling;
    std::optional<std::string> order;
    std::optional<std::string> token;
    std::string reason;
};

std::string rulingsPath(const RulingOptions& options)
{
    return "/api/v1/pools/" + encoded(options.pool) + "/rulings";
}

// The rulings are numbered through all holds.
void listRulings(DeskClient& desk, const RulingOptions& options)
{
    const auto answer = desk.get(rulingsPath(options));
    if (desk.wantsJson()) return desk.show(answer);
    const auto& holds = storage::arrayAt(answer, "holds");
    if (holds.Empty()) return printLine("nothing of pool " + options.pool + " is held");
    std::size_t number = 0;
    for (const auto& hold : holds.GetArray()) {
        std::string held;
        for (const auto& each : storage::arrayAt(hold, "rounds").GetArray())
            held += (held.empty() ? "" : ", ") + cellOf(each, "table") + " round " +
                    cellOf(each, "round");
        printLine("held for a ruling: " + held + " (" + cellOf(hold, "held_for") + ")");
        for (const auto& each : storage::arrayAt(hold, "previews").GetArray()) {
            printLine("");
            printPreview("ruling " + std::to_string(++number) + ": ", each);
        }
        if (!storage::flagAt(hold, "all_rulings"))
            printLine("There are more: give one with jackpotctl rule --order.");
        printLine("");
    }
}

rapidjson::Document previewOf(DeskClient& desk, const RulingOptions& options)
{
    if (options.order)
        return desk.post(rulingsPath(options) + "/preview", orderBody(*options.order));
    const auto answer = desk.get(rulingsPath(options));
    std::uint64_t number = 0;
    for (const auto& hold : storage::arrayAt(answer, "holds").GetArray())
        for (const auto& each : storage::arrayAt(hold, "previews").GetArray())
            if (++number == options.ruling.value()) {
                rapidjson::Document preview;
                preview.CopyFrom(each, preview.GetAllocator());
                return preview;
            }
    throw cli::CommandError{kDeskRefused, "there is no ruling " + std::to_string(*options.ruling) +
                                              " now: run jackpotctl rulings"};
}

// A short token stands for the fresh one if that begins with it. The desk refuses any other.
std::string tokenOf(const RulingOptions& options, const std::string& fresh)
{
    if (!options.token) return fresh;
    if (options.token->size() < kMinToken ||
        options.token->find_first_not_of("0123456789abcdef") != std::string::npos)
        throw cli::UsageError{"\"" + *options.token +
                              "\" is not a token: jackpotctl rulings prints them"};
    return fresh.starts_with(*options.token) ? fresh : *options.token;
}

void rule(DeskClient& desk, const RulingOptions& options)
{
    if (options.ruling.has_value() == options.order.has_value())
        throw cli::UsageError{"it takes either --ruling or --order"};
    (void)tokenOf(options, "");  // checks its form
    requireConfirmable(options, options);
    const auto preview = previewOf(desk, options);
    const std::string token = tokenOf(options, cellOf(preview, "token"));
    if (token == cellOf(preview, "token")) {
        if (!desk.wantsJson()) printPreview("", preview);
        confirm(options, "give this ruling?");
    }
    std::string body = jsonObject([&](JsonText& json) {
        json.textField("reason", options.reason);
        json.textField("token", token);
    });
    body.insert(1, "\"order\":" + jsonOf(storage::at(preview, "order")) + ",");
    try {
        const auto answer = desk.post(rulingsPath(options), body);
        if (desk.wantsJson()) return desk.show(answer);
        printLine("ruled; to be paid:");
        printAwards(storage::arrayAt(answer, "awards"));
        printChanged(answer);
    } catch (const DeskRefusal& refusal) {
        if (refusal.code() != "preview_outdated") throw;
        throw cli::CommandError{kDeskRefused, "nothing was ruled: " + std::string{refusal.what()} +
                                                  " with jackpotctl rulings " + options.pool +
                                                  ", and rule on what it shows"};
    }
}

}  // namespace

void addRulingCommands(cli::Command& program)
{
    auto listed = std::make_shared<RulingOptions>();
    cli::Command& rulings =
        program.add("rulings", "print the held rounds, and what each possible ruling would pay",
                    kClaimsHeading);
    rulings
        .describe(
            "Prints each hold, that is the rounds that wait for one ruling together, with the "
            "reason (tie, out_of_order, impossible, offline), and numbered every possible ruling "
            "(for more than three rounds: all together, and one by one as they were confirmed). "
            "The rules compute each on a copy of the present state: the awards in the order of "
            "payment with rule and "
            "arithmetic, the meter and reserve afterwards, and a token. The token stands for these "
            "claims and these payments: give it to jackpotctl rule, and the ruling is refused if "
            "they have changed since.")
        .argument("POOL", listed->pool);
    runAtDesk(rulings, listed, listRulings);

    auto given = std::make_shared<RulingOptions>();
    cli::Command& command =
        program.add("rule", "rule in which order the held rounds have won", kClaimsHeading);
    command.usage("POOL (--ruling N | --order ORDER) --reason TEXT [OPTIONS]")
        .describe(
            "For surveillance. A ruling names each round of one hold once. Prints what the ruling "
            "pays by a fresh preview, and asks. If the claims change between the preview and your "
            "answer, the "
            "ruling is refused and nothing is done: run jackpotctl rulings again.")
        .argument("POOL", given->pool)
        .number(
            "--ruling N", given->ruling, {1, 1000},
            "the number that jackpotctl rulings prints; numbers change with the claims, so give "
            "--token as well in scripts")
        .option("--order ORDER", given->order,
                "\"T1/17+T2/4, T3/9\": table T1's round 17 and T2's round 4 together, then T3's "
                "round 9")
        .option("--reason TEXT", given->reason, "the reason, such as the camera and what it shows")
        .required()
        .option("--token TOKEN", given->token,
                "as jackpotctl rulings prints it: the ruling is refused if it would now pay "
                "something else")
        .flag("--yes", given->yes, "do not ask")
        .example("jackpotctl rule B7 --ruling 1 --reason \"camera 12: T1 pressed first\"");
    runAtDesk(command, given, rule);
}

}  // namespace jackpot::ctl
