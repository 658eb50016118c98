#include "rules/outcome.h"

#include <algorithm>

namespace jackpot::rules {
namespace {

template <class Enum, std::size_t N>
std::string_view nameIn(const std::array<std::string_view, N>& names, Enum value)
{
    return names.at(static_cast<std::size_t>(value));
}

constexpr std::array<std::string_view, 42> kRefusalCodes{
    "unknown_table",       "unknown_pool",       "table_suspended",
    "pool_suspended",      "round_not_newer",    "no_result",
    "claim_unconfirmed",   "too_many_open_wins", "seat_out_of_range",
    "duplicate_seat",      "no_base_wager",      "no_player_card",
    "player_wagers_twice", "no_open_round",      "wrong_round",
    "round_voided",        "round_closed",       "result_already_reported",
    "already_confirmed",   "needs_supervisor",   "wrong_card_count",
    "seat_has_no_wager",   "bad_card",           "impossible_cards",
    "nothing_to_confirm",  "nothing_held",       "bad_ruling",
    "round_open",          "not_suspended",      "suspended_by_desk",
    "table_offline",       "not_offline",        "needs_two_people",
    "needs_reason",        "below_minimum",      "out_of_range",
    "bad_configuration",   "no_such_award",      "award_not_due",
    "award_withheld",      "not_withheld",       "award_paid",
};
static_assert(kRefusalCodes.size() == static_cast<std::size_t>(RefusalCode::AwardPaid) + 1);

constexpr std::array<std::string_view, std::variant_size_v<Command>> kKinds{
    "site_configured",    "round_opened",    "round_result",        "result_corrected",
    "jackpot_confirmed",  "round_closed",    "surveillance_ruling", "round_voided",
    "wager_voided",       "table_suspended", "table_resumed",       "table_offline",
    "table_online",       "pool_suspended",  "pool_resumed",        "pool_adjusted",
    "settle_due",         "award_withheld",  "award_released",      "payment_recorded",
    "pool_change_agreed",
};

constexpr std::array<std::string_view, 4> kAccounts{"house", "players", "meter", "reserve"};

constexpr std::array<std::string_view, 10> kCauses{
    "wager", "contribution", "refund", "return",       "make_good",
    "award", "withdrawal",   "seed",   "from_reserve", "adjustment"};

constexpr std::array<std::string_view, 3> kParametersStates{"agreed", "in_force", "taken_back"};

constexpr std::array<std::string_view, 6> kClaimStates{"claimed", "locked", "held",
                                                       "due",     "final",  "dropped"};

constexpr std::array<std::string_view, 5> kNoticeKinds{"missing_or_foreign_card", "malfunction",
                                                       "held", "late_press", "parameters_in_force"};

constexpr std::array<std::string_view, 4> kVoidRoundGrounds{
    "dealing_error", "missing_or_foreign_card", "shuffling_device", "invalidated"};
constexpr std::array<std::string_view, 4> kVoidWagerGrounds{"invalid_wager", "loss_limit",
                                                            "prohibited_device", "refused"};
constexpr std::array<std::string_view, 3> kSuspensionGrounds{"malfunction", "closed", "tournament"};
constexpr std::array<std::string_view, 2> kOrigins{"table", "desk"};

template <class Enum, std::size_t N>
std::optional<Enum> valueIn(const std::array<std::string_view, N>& names, std::string_view id)
{
    const auto found = std::ranges::find(names, id);
    if (found == names.end()) return std::nullopt;
    return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::string_view idOf(RefusalCode code) { return nameIn(kRefusalCodes, code); }
std::string_view idOf(Account account) { return nameIn(kAccounts, account); }
std::string_view idOf(Cause cause) { return nameIn(kCauses, cause); }
std::string_view idOf(ClaimState state) { return nameIn(kClaimStates, state); }
std::string_view idOf(NoticeKind kind) { return nameIn(kNoticeKinds, kind); }
std::string_view idOf(VoidRoundGround ground) { return nameIn(kVoidRoundGrounds, ground); }
std::string_view idOf(VoidWagerGround ground) { return nameIn(kVoidWagerGrounds, ground); }
std::string_view idOf(SuspensionGround ground) { return nameIn(kSuspensionGrounds, ground); }
std::string_view idOf(Origin origin) { return nameIn(kOrigins, origin); }
std::optional<VoidRoundGround> voidRoundGroundOfId(std::string_view id)
{
    return valueIn<VoidRoundGround>(kVoidRoundGrounds, id);
}
std::optional<VoidWagerGround> voidWagerGroundOfId(std::string_view id)
{
    return valueIn<VoidWagerGround>(kVoidWagerGrounds, id);
}
std::optional<SuspensionGround> suspensionGroundOfId(std::string_view id)
{
    return valueIn<SuspensionGround>(kSuspensionGrounds, id);
}
std::optional<Origin> originOfId(std::string_view id) { return valueIn<Origin>(kOrigins, id); }
std::string_view idOf(ParametersState state) { return nameIn(kParametersStates, state); }
std::string_view kindOf(const Command& command) { return kKinds.at(command.index()); }

Notify recipientsOf(NoticeKind kind)
{
    switch (kind) {
        case NoticeKind::Held: return Notify::Surveillance;
        case NoticeKind::Malfunction:
        case NoticeKind::ParametersInForce: return Notify::Inspector;
        case NoticeKind::MissingOrForeignCard:
        case NoticeKind::LatePress: break;
    }
    return Notify::SurveillanceAndInspector;
}

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

std::size_t differentPeople(People people)
{
    std::erase(people, std::string{});
    std::ranges::sort(people);
    return static_cast<std::size_t>(std::ranges::unique(people).begin() - people.begin());
}

std::optional<std::size_t> commandOfKind(std::string_view kind)
{
    return valueIn<std::size_t>(kKinds, kind);
}

}  // namespace jackpot::rules
