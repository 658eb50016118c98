// What the commands at the desk read from their arguments and say alike. A Stop where it is wrong.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tools/jackpotctl/desk_client.h"

namespace jackpot::tools {

inline constexpr audit::Option kReasonOption{"--reason", audit::Option::Form::Value};
inline constexpr audit::Option kYesOption{"--yes", audit::Option::Form::Flag};

// The value of an option that must be there and not blank.
std::string required(const audit::Arguments& arguments, std::string_view option);
// A whole number of a round, seat, record or proposal.
std::int64_t wholeNumber(const audit::Arguments& arguments, std::string_view what,
                         const std::string& text);
// An amount as the desk takes it: "2.50".
std::string amountIn(const audit::Arguments& arguments, const std::string& text);
// "7H 7D" or "7H,7D" or "7H7D".
std::vector<std::string> cardsIn(const audit::Arguments& arguments, const std::string& text);

// "?state=held&pool=B7" of those of the options that are given; each is its key with dashes.
std::string queryOf(const audit::Arguments& arguments,
                    std::initializer_list<std::string_view> options);
// {"reason": ...} of --reason, which must be there.
std::string reasonBody(const audit::Arguments& arguments);
// "/api/v1/claims/T1/17" from "/api/v1/claims" and the first two arguments.
std::string roundPath(const audit::Arguments& arguments, std::string_view before);

// A line for people.
void say(const std::string& line);
// The awards in the order of payment, each with its rule, arithmetic and what became of it.
void sayAwards(const rapidjson::Value& awards);
// The rest of a list that is longer than its limit is told on standard error.
void sayMore(const rapidjson::Value& answer);

// There is a terminal to ask on, or --yes.
void requireConfirmable(const audit::Arguments& arguments);
// Asks, unless there is --yes. A Stop where the answer is no.
void confirm(const audit::Arguments& arguments, const std::string& question);

// The proposal, what it takes, and how the second person goes on.
void showProposal(const DeskClient& desk, const rapidjson::Document& answer);

}  // namespace jackpot::tools
