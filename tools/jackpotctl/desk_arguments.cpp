#include "tools/jackpotctl/desk_arguments.h"

#include <algorithm>
#include <charconv>
#include <iostream>

#include "base/printable.h"
#include "rules/cards.h"
#include "rules/money.h"
#include "storage/json_read.h"

namespace jackpot::tools {

using audit::Arguments;
using audit::Stop;

std::string required(const Arguments& arguments, std::string_view option)
{
    const std::string value = arguments.value(option).value_or("");
    if (value.find_first_not_of(" \t") == std::string::npos)
        arguments.refuse("it takes " + std::string{option});
    return value;
}

std::int64_t wholeNumber(const Arguments& arguments, std::string_view what, const std::string& text)
{
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < 0)
        arguments.refuse("\"" + text + "\" is no " + std::string{what} +
                         ": it takes a whole number");
    return number;
}

std::string amountIn(const Arguments& arguments, const std::string& text)
{
    const auto amount = rules::parseMoney(text);
    if (!amount)
        arguments.refuse("\"" + text + "\" is no amount, such as 2.50: " + amount.error().message);
    return text;
}

std::vector<std::string> cardsIn(const Arguments& arguments, const std::string& text)
{
    std::vector<std::string> cards;
    constexpr std::string_view kBetween = " ,";
    for (std::size_t at = 0; at < text.size();) {
        if (kBetween.find(text[at]) != std::string_view::npos) {
            ++at;
            continue;
        }
        const std::string card = text.substr(at, 2);
        if (!rules::parseCard(card))
            arguments.refuse("\"" + text + "\" are no cards, such as 7H,7D");
        cards.push_back(card);
        at += 2;
    }
    return cards;
}

std::string queryOf(const Arguments& arguments, std::initializer_list<std::string_view> options)
{
    std::string query;
    for (const std::string_view option : options)
        if (const auto value = arguments.value(option))
            query +=
                (query.empty() ? "?" : "&") + std::string{option.substr(2)} + "=" + encoded(*value);
    return query;
}

std::string reasonBody(const Arguments& arguments)
{
    const std::string reason = required(arguments, "--reason");
    return jsonObject([&](storage::JsonText& json) { json.textField("reason", reason); });
}

std::string roundPath(const Arguments& arguments, std::string_view before)
{
    const auto& words = arguments.positional();
    const bool rounds = before == "/api/v1/tables";
    return std::string{before} + "/" + encoded(words.at(0)) + (rounds ? "/rounds/" : "/") +
           std::to_string(wholeNumber(arguments, "round", words.at(1)));
}

void say(const std::string& line) { std::cout << printable(line) << "\n"; }

void sayAwards(const rapidjson::Value& awards)
{
    for (const auto& each : awards.GetArray()) {
        say("  " + cellOf(each, "place") + ". " + cellOf(each, "table") + " round " +
            cellOf(each, "round") + " seat " + cellOf(each, "seat") + "  " + cellOf(each, "tier") +
            "  " + cellOf(each, "amount", true) + "  " + cellOf(each, "rule") +
            (storage::find(each, "state") ? "  " + cellOf(each, "state") : ""));
        say("     " + cellOf(each, "arithmetic"));
        if (storage::find(each, "payment"))
            say("     paid " + cellOf(each, "payment.paid", true) + ", difference " +
                cellOf(each, "payment.difference", true) + ", " + cellOf(each, "payment.how") +
                ", by " + cellOf(each, "payment.by"));
    }
}

void sayMore(const rapidjson::Value& answer)
{
    for (const char* key : {"before", "after"})
        if (const std::string at = cellOf(answer, key); !at.empty())
            std::cerr << "jackpotctl: there may be more: --" << key << " " << at << "\n";
}

void requireConfirmable(const Arguments& arguments)
{
    if (arguments.has("--yes")) return;
    if (arguments.has("--json")) arguments.refuse("with --json nothing is asked: add --yes");
    if (!inputIsTerminal()) arguments.refuse("there is no terminal to ask on: add --yes");
}

void confirm(const Arguments& arguments, const std::string& question)
{
    if (arguments.has("--yes")) return;
    std::cout << std::flush;
    std::cerr << question << " [y/N] " << std::flush;
    std::string line;
    std::getline(std::cin, line);
    if (line != "y" && line != "Y" && line != "yes") throw Stop{kDeskRefused, "nothing was done"};
}

void showProposal(const DeskClient& desk, const rapidjson::Document& answer)
{
    if (desk.wantsJson()) return desk.show(answer);
    const std::string id = cellOf(answer, "proposal");
    const std::string state = cellOf(answer, "state");
    say("proposal " + id + " is " + state + ": " + cellOf(answer, "words"));
    say("  proposed by " + cellOf(answer, "by") + " at " + cellOf(answer, "made_utc") + ": " +
        cellOf(answer, "reason"));
    const bool isClosed = state == "rejected" || state == "withdrawn";
    if (const std::string who = cellOf(answer, "closed_by"); !who.empty())
        say("  " + (isClosed ? state : "approved") + " by " + who +
            (storage::find(answer, "remark") ? ": " + cellOf(answer, "remark") : "") + ", record " +
            cellOf(answer, "closed_record"));
    if (storage::find(answer, "outcome_record"))
        say("  " + (state == "refused" ? state + " by the rules" : "carried out") + ": record " +
            cellOf(answer, "outcome_record"));
    say("  command  " + cellOf(answer, "proposed"));
    say("  sha256   " + cellOf(answer, "sha256"));
    if (state != "open") return;
    say("It takes a second person, until " + cellOf(answer, "expires_utc") + ":");
    say("  jackpotctl approve " + id + " --sha256 " + cellOf(answer, "sha256"));
}

}  // namespace jackpot::tools
