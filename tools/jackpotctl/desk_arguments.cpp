#include "tools/jackpotctl/desk_arguments.h"

#include <algorithm>
#include <charconv>
#include <iostream>

#include "base/printable.h"
#include "rules/cards.h"
#include "rules/money.h"
#include "storage/json_read.h"

namespace jackpot::ctl {

std::int64_t wholeNumber(std::string_view what, const std::string& text)
{
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < 0)
        throw cli::UsageError{"\"" + text + "\" is not a " + std::string{what} +
                              ": it takes a whole number"};
    return number;
}

std::string amountIn(const std::string& text)
{
    const auto amount = rules::parseMoney(text);
    if (!amount)
        throw cli::UsageError{"\"" + text +
                              "\" is not an amount, such as 2.50: " + amount.error().message};
    return text;
}

std::vector<std::string> cardsIn(const std::string& text)
{
    std::vector<std::string> cards;
    constexpr std::string_view kSeparators = " ,";
    for (std::size_t at = 0; at < text.size();) {
        if (kSeparators.find(text[at]) != std::string_view::npos) {
            ++at;
            continue;
        }
        const std::string card = text.substr(at, 2);
        if (!rules::parseCard(card))
            throw cli::UsageError{"\"" + text + "\" are not cards, such as 7H,7D"};
        cards.push_back(card);
        at += 2;
    }
    return cards;
}

std::string queryOf(std::initializer_list<QueryItem> items)
{
    std::string query;
    for (const auto& [key, value] : items)
        if (value) query += (query.empty() ? "?" : "&") + std::string{key} + "=" + encoded(*value);
    return query;
}

std::optional<std::string> textOf(const std::optional<std::uint64_t>& number)
{
    if (!number) return std::nullopt;
    return std::to_string(*number);
}

std::string reasonBody(const std::string& reason)
{
    return jsonObject([&](storage::JsonText& json) { json.textField("reason", reason); });
}

std::string groundBody(const std::string& ground, const std::string& reason)
{
    return jsonObject([&](storage::JsonText& json) {
        json.textField("ground", ground);
        if (!reason.empty()) json.textField("reason", reason);
    });
}

std::string claimPath(const std::string& table, std::uint64_t round)
{
    return "/api/v1/claims/" + encoded(table) + "/" + std::to_string(round);
}

std::string roundPath(const std::string& table, std::uint64_t round)
{
    return "/api/v1/tables/" + encoded(table) + "/rounds/" + std::to_string(round);
}

void printLine(const std::string& line) { std::cout << printable(line) << "\n"; }

void printPayments(const rapidjson::Value& award)
{
    if (!storage::find(award, "payments")) return;
    for (const auto& each : storage::arrayAt(award, "payments").GetArray())
        printLine("     paid " + cellOf(each, "paid", true) +
                  (storage::flagAt(each, "rectification") ? " (rectification)" : "") +
                  ", difference " + cellOf(each, "difference", true) + ", " + cellOf(each, "how") +
                  ", by " + cellOf(each, "by"));
}

void printAwards(const rapidjson::Value& awards)
{
    for (const auto& each : awards.GetArray()) {
        const std::string player = cellOf(each, "player");
        printLine("  " + cellOf(each, "place") + ". " + cellOf(each, "table") + " round " +
                  cellOf(each, "round") + " seat " + cellOf(each, "seat") + "  " +
                  cellOf(each, "tier") + "  " + cellOf(each, "amount", true) + "  " +
                  cellOf(each, "rule") +
                  (storage::find(each, "state") ? "  " + cellOf(each, "state") : "") +
                  (player.empty() ? "" : "  player " + player));
        printLine("     " + cellOf(each, "arithmetic"));
        printPayments(each);
    }
}

void printMore(const rapidjson::Value& answer)
{
    for (const char* key : {"before", "after"})
        if (const std::string at = cellOf(answer, key); !at.empty())
            std::cerr << "jackpotctl: the list continues: --" << key << " " << at << "\n";
}

void requireConfirmable(const Confirmation& confirmation, const DeskOptions& options)
{
    if (confirmation.yes) return;
    if (options.json) throw cli::UsageError{"--json does not ask: add --yes"};
    if (!inputIsTerminal()) throw cli::UsageError{"there is no terminal to ask on: add --yes"};
}

void confirm(const Confirmation& confirmation, const std::string& question)
{
    if (confirmation.yes) return;
    std::cout << std::flush;
    std::cerr << question << " [y/N] " << std::flush;
    std::string line;
    std::getline(std::cin, line);
    if (line != "y" && line != "Y" && line != "yes")
        throw cli::CommandError{kDeskRefused, "nothing was done"};
}

void showProposal(const DeskClient& desk, const rapidjson::Document& answer)
{
    if (desk.wantsJson()) return desk.show(answer);
    const std::string id = cellOf(answer, "proposal");
    const std::string state = cellOf(answer, "state");
    printLine("proposal " + id + " is " + state + ": " + cellOf(answer, "words"));
    printLine("  proposed by " + cellOf(answer, "by") + " at " + cellOf(answer, "made_utc") + ": " +
              cellOf(answer, "reason"));
    const bool isClosed = state == "rejected" || state == "withdrawn";
    if (const std::string who = cellOf(answer, "closed_by"); !who.empty())
        printLine("  " + (isClosed ? state : "approved") + " by " + who +
                  (storage::find(answer, "remark") ? ": " + cellOf(answer, "remark") : "") +
                  ", record " + cellOf(answer, "closed_record"));
    if (storage::find(answer, "outcome_record"))
        printLine("  " + (state == "refused" ? state + " by the rules" : "carried out") +
                  ": record " + cellOf(answer, "outcome_record"));
    printLine("  command  " + cellOf(answer, "proposed"));
    printLine("  sha256   " + cellOf(answer, "sha256"));
    if (state != "open") return;
    printLine("It takes a second person, until " + cellOf(answer, "expires_utc") + ":");
    printLine("  jackpotctl approve " + id + " --sha256 " + cellOf(answer, "sha256"));
}

}  // namespace jackpot::ctl
