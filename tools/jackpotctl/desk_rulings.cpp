// jackpotctl rulings and rule.
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "storage/json_read.h"
#include "tools/jackpotctl/desk_arguments.h"
#include "tools/jackpotctl/desk_command.h"

namespace jackpot::tools {
namespace {

using audit::Arguments;
using Form = audit::Option::Form;
using storage::JsonText;

// What people see of a token; the desk knows the whole one.
constexpr std::size_t kShortToken = 12;
constexpr std::size_t kLeastToken = 8;

constexpr std::string_view kRulingsHelp =
    R"(jackpotctl rulings - what is held for a ruling, and what each possible ruling would pay

Usage:
  jackpotctl rulings POOL

Prints the held rounds and, numbered, every ruling there can be (of more than three rounds: all together, and one by
one as they were confirmed), each made by the rules on a copy of the present state: the awards in the order of
payment with rule and arithmetic, the meter and reserve afterwards, and a token. The token is of these claims and
these payments: give it to jackpotctl rule, and the ruling is refused if they have changed since.

Options:
)";

constexpr std::string_view kRuleHelp =
    R"(jackpotctl rule - rule in which order the held rounds have won; for surveillance

Usage:
  jackpotctl rule POOL (--ruling N | --order ORDER) --reason TEXT [--token TOKEN] [--yes]

Shows what the ruling pays by a fresh preview and asks. A ruling cannot be taken back. If the claims change between
the preview and the answer, it is refused and nothing is done: look again with jackpotctl rulings.

Options:
  --ruling N          as numbered by jackpotctl rulings; the numbers change with the claims, so give --token as well
                      where nobody looks
  --order ORDER       "T1/17+T2/4, T3/9": table T1's round 17 and T2's round 4 together, then T3's round 9
  --reason TEXT       why, such as what was seen on which camera
  --token TOKEN       as shown by jackpotctl rulings: refused if it would now pay something else
  --yes               do not ask
)";

std::string_view trimmed(std::string_view text)
{
    const auto begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Calls `each` with the trimmed parts between the separators, also the empty ones.
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
std::string orderBody(const Arguments& arguments, const std::string& order)
{
    return jsonObject([&](JsonText& json) {
        json.key("order");
        json.beginArray();
        forParts(order, ',', [&](std::string_view group) {
            json.beginArray();
            forParts(group, '+', [&](std::string_view round) {
                const auto slash = round.rfind('/');
                if (slash == std::string_view::npos || slash == 0)
                    arguments.refuse("\"" + order + "\" is no order, such as \"T1/17+T2/4, T3/9\"");
                json.beginObject();
                json.textField("table", trimmed(round.substr(0, slash)));
                json.numberField(
                    "round",
                    wholeNumber(arguments, "round", std::string{trimmed(round.substr(slash + 1))}));
                json.endObject();
            });
            json.endArray();
        });
        json.endArray();
    });
}

void sayPreview(const std::string& title, const rapidjson::Value& preview)
{
    say(title + cellOf(preview, "words"));
    sayAwards(storage::arrayAt(preview, "awards"));
    say("  then the meter is " + cellOf(preview, "meter_after", true) + ", displayed " +
        cellOf(preview, "displayed_after", true) + ", the reserve " +
        cellOf(preview, "reserve_after", true));
    say("  token " + cellOf(preview, "token").substr(0, kShortToken));
}

void rulings(DeskClient& desk, const Arguments& arguments)
{
    const std::string& pool = arguments.positional()[0];
    const auto answer = desk.get("/api/v1/pools/" + encoded(pool) + "/rulings");
    if (desk.wantsJson()) return desk.show(answer);
    std::string held;
    for (const auto& each : storage::arrayAt(answer, "held").GetArray())
        held +=
            (held.empty() ? "" : ", ") + cellOf(each, "table") + " round " + cellOf(each, "round");
    if (held.empty()) return say("nothing of pool " + pool + " is held");
    say("held for a ruling: " + held);
    std::size_t number = 0;
    for (const auto& each : storage::arrayAt(answer, "previews").GetArray()) {
        say("");
        sayPreview("ruling " + std::to_string(++number) + ": ", each);
    }
    if (!storage::flagAt(answer, "all_rulings"))
        say("There are more: name one by jackpotctl rule --order.");
}

rapidjson::Document previewOf(DeskClient& desk, const Arguments& arguments, const std::string& path)
{
    if (const auto order = arguments.value("--order"))
        return desk.post(path + "/preview", orderBody(arguments, *order));
    const std::uint64_t number = arguments.number("--ruling", 1, 1000, 1);
    auto answer = desk.get(path);
    if (number > storage::arrayAt(answer, "previews").Size())
        throw audit::Stop{kDeskRefused, "there is no ruling " + std::to_string(number) +
                                            " now: see jackpotctl rulings"};
    rapidjson::Document preview;
    preview.CopyFrom(answer["previews"][static_cast<rapidjson::SizeType>(number - 1)],
                     preview.GetAllocator());
    return preview;
}

// A short token stands for the one that it begins, if that is still what would be ruled; any other
// is left to the desk to refuse.
std::string tokenOf(const Arguments& arguments, const std::string& fresh)
{
    const auto given = arguments.value("--token");
    if (!given) return fresh;
    if (given->size() < kLeastToken ||
        given->find_first_not_of("0123456789abcdef") != std::string::npos)
        arguments.refuse("\"" + *given + "\" is no token: jackpotctl rulings shows them");
    return fresh.starts_with(*given) ? fresh : *given;
}

void rule(DeskClient& desk, const Arguments& arguments)
{
    if (arguments.has("--ruling") == arguments.has("--order"))
        arguments.refuse("it takes either --ruling or --order");
    const std::string reason = required(arguments, "--reason");
    (void)tokenOf(arguments, "");  // of the right form
    requireConfirmable(arguments);
    const std::string& pool = arguments.positional()[0];
    const std::string path = "/api/v1/pools/" + encoded(pool) + "/rulings";
    const auto preview = previewOf(desk, arguments, path);
    const std::string token = tokenOf(arguments, cellOf(preview, "token"));
    if (token == cellOf(preview, "token")) {
        if (!desk.wantsJson()) sayPreview("", preview);
        confirm(arguments, "give this ruling?");
    }
    rapidjson::StringBuffer order;
    rapidjson::Writer writer{order};
    storage::at(preview, "order").Accept(writer);
    std::string body = jsonObject([&](JsonText& json) {
        json.textField("reason", reason);
        json.textField("token", token);
    });
    body.insert(1, "\"order\":" + std::string{order.GetString()} + ",");
    try {
        const auto answer = desk.post(path, body);
        if (desk.wantsJson()) return desk.show(answer);
        say("ruled; to be paid:");
        sayAwards(storage::arrayAt(answer, "awards"));
    } catch (const Refused& refused) {
        if (refused.code() != "preview_outdated") throw;
        throw audit::Stop{kDeskRefused, "nothing was ruled: " + std::string{refused.what()} +
                                            " with jackpotctl rulings " + pool +
                                            ", and rule on what it shows"};
    }
}

}  // namespace

std::vector<DeskCommand> rulingCommands()
{
    return {
        {"rulings", kRulingsHelp, {}, 1, 1, "one POOL", rulings, ""},
        {"rule",
         kRuleHelp,
         {{"--ruling", Form::Value},
          {"--order", Form::Value},
          {"--token", Form::Value},
          kReasonOption,
          kYesOption},
         1,
         1,
         "one POOL",
         rule,
         ""},
    };
}

}  // namespace jackpot::tools
