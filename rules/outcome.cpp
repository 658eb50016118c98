#include "rules/outcome.h"

#include <algorithm>

namespace jackpot::rules {
namespace {

template <class Enum, std::size_t N>
std::string_view nameIn(const std::array<std::string_view, N>& names, Enum value)
{
    return names.at(static_cast<std::size_t>(value));
}

constexpr std::array<std::string_view, 36> kRefusalCodes{
    "unknown_table",     "unknown_pool",        "table_suspended",
    "pool_suspended",    "round_not_newer",     "claim_unconfirmed",
    "seat_out_of_range", "duplicate_seat",      "no_base_wager",
    "no_player_card",    "player_wagers_twice", "no_open_round",
    "wrong_round",       "round_voided",        "result_already_reported",
    "no_result",         "already_confirmed",   "needs_supervisor",
    "wrong_card_count",  "seat_has_no_wager",   "bad_card",
    "impossible_cards",  "nothing_to_confirm",  "round_settled",
    "nothing_held",      "bad_ruling",          "not_suspended",
    "table_offline",     "not_offline",         "needs_two_people",
    "needs_reason",      "out_of_range",        "bad_configuration",
    "no_such_award",     "award_withheld",      "award_paid",
};
static_assert(kRefusalCodes.size() == static_cast<std::size_t>(RefusalCode::AwardPaid) + 1);

constexpr std::array<std::string_view, std::variant_size_v<Command>> kKinds{
    "site_configured",   "round_opened",        "round_result",       "result_corrected",
    "jackpot_confirmed", "surveillance_ruling", "round_voided",       "wager_voided",
    "table_suspended",   "table_resumed",       "table_offline",      "table_online",
    "pool_suspended",    "pool_resumed",        "pool_adjusted",      "settle_due",
    "award_withheld",    "payment_recorded",    "pool_change_agreed",
};

constexpr std::array<std::string_view, 4> kAccounts{"house", "players", "meter", "reserve"};

constexpr std::array<std::string_view, 10> kCauses{
    "wager", "contribution", "refund", "return",       "make_good",
    "award", "withdrawal",   "seed",   "from_reserve", "adjustment"};

constexpr std::array<std::string_view, 3> kParametersStates{"agreed", "in_force", "taken_back"};

constexpr std::array<std::string_view, 5> kClaimStates{"claimed", "pending", "held", "settled",
                                                       "dropped"};

}  // namespace

std::string_view idOf(RefusalCode code) { return nameIn(kRefusalCodes, code); }
std::string_view idOf(Account account) { return nameIn(kAccounts, account); }
std::string_view idOf(Cause cause) { return nameIn(kCauses, cause); }
std::string_view idOf(ClaimState state) { return nameIn(kClaimStates, state); }
std::string_view idOf(ParametersState state) { return nameIn(kParametersStates, state); }
std::string_view kindOf(const Command& command) { return kKinds.at(command.index()); }

const std::string* tableOf(const Command& command)
{
    return std::visit(
        [](const auto& each) -> const std::string* {
            if constexpr (requires { each.table; })
                return &each.table;
            else if constexpr (requires { each.result; })
                return &each.result.table;
            else if constexpr (requires { each.award; })
                return &each.award.table;
            else
                return nullptr;
        },
        command);
}

std::size_t differentPeople(std::vector<std::string> people)
{
    std::erase(people, std::string{});
    std::ranges::sort(people);
    return static_cast<std::size_t>(std::ranges::unique(people).begin() - people.begin());
}

std::optional<std::size_t> commandOfKind(std::string_view kind)
{
    const auto found = std::ranges::find(kKinds, kind);
    if (found == kKinds.end()) return std::nullopt;
    return static_cast<std::size_t>(found - kKinds.begin());
}

}  // namespace jackpot::rules
