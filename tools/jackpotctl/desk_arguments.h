// What several commands at the desk read from their arguments, and print.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/jackpotctl/desk_client.h"

namespace jackpot::ctl {

inline constexpr cli::Range kAnyNumber{0, std::numeric_limits<std::int64_t>::max()};
inline constexpr cli::Range kLimits{1, 500};
inline constexpr char kLimitHelp[] = "at most this many; 100 unless given";

// A UsageError unless the text is a whole number; `what` is its name: "round", "seat".
std::int64_t wholeNumber(std::string_view what, const std::string& text);
// Returns the text of an amount that the desk accepts, such as "2.50"; else a UsageError.
std::string amountIn(const std::string& text);
// "7H 7D" or "7H,7D" or "7H7D"; else a UsageError.
std::vector<std::string> cardsIn(const std::string& text);

// A key of the query and its value, absent if the option was not given.
using QueryItem = std::pair<std::string_view, std::optional<std::string>>;
// "?state=held&pool=B7" from the values that are present.
std::string queryOf(std::initializer_list<QueryItem> items);
std::optional<std::string> textOf(const std::optional<std::uint64_t>& number);
// {"reason": ...}
std::string reasonBody(const std::string& reason);
// {"ground": ..., "reason": ...}; an empty reason is left out.
std::string groundBody(const std::string& ground, const std::string& reason);
// "/api/v1/claims/T1/17"
std::string claimPath(const std::string& table, std::uint64_t round);
// "/api/v1/tables/T1/rounds/17"
std::string roundPath(const std::string& table, std::uint64_t round);

// Prints a line, made printable.
void printLine(const std::string& line);
// Prints the payments of an award, or of a seat without one.
void printPayments(const rapidjson::Value& award);
// Prints the awards in the order of payment, each with its rule, arithmetic and payments.
void printAwards(const rapidjson::Value& awards);
// Prints on standard error how to continue a list that is longer than its limit.
void printMore(const rapidjson::Value& answer);

// A command that asks before it acts: --yes.
struct Confirmation {
    bool yes = false;
};
// A UsageError if it can neither ask on a terminal nor has --yes.
void requireConfirmable(const Confirmation& confirmation, const DeskOptions& options);
// Asks, unless there is --yes. A CommandError if the answer is no.
void confirm(const Confirmation& confirmation, const std::string& question);

// Prints the proposal, and the command that the second person runs.
void showProposal(const DeskClient& desk, const rapidjson::Document& answer);

}  // namespace jackpot::ctl
