// What a request's body may say, route by route. Strict: an unknown, missing or doubled key,
// another type or a value out of bounds is an error in words. Pure functions of any bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "console/desk/preview.h"
#include "net/http_parser.h"
#include "rules/commands.h"

namespace jackpot::console {

inline constexpr std::size_t kMaxReasonBytes = 500;
inline constexpr std::size_t kMaxRuledRounds = 64;

struct RulingBody {
    RulingOrder order;
    std::string reason;
    std::string token;
};
Result<RulingBody> readRuling(std::string_view body);
Result<RulingOrder> readRulingOrder(std::string_view body);  // of a preview

struct PaymentBody {
    std::int64_t seat = 0;
    rules::Tier tier = rules::Tier::None;
    rules::Money paid;
    std::string how;
};
Result<PaymentBody> readPayment(std::string_view body);

struct WithholdBody {
    std::int64_t seat = 0;
    rules::Tier tier = rules::Tier::None;
    std::string reason;
};
Result<WithholdBody> readWithhold(std::string_view body);

// Of suspensions and voids, and of who rejects a proposal.
Result<std::string> readReason(std::string_view body);
// The same where it may be left out, as may the whole body.
Result<std::string> readRemark(std::string_view body);

struct CorrectionBody {
    std::vector<std::string> board;
    std::vector<rules::Hand> hands;
};
Result<CorrectionBody> readCorrection(std::string_view body);

// What a dealer did at a table of a demo floor; the table is the path's.
Result<rules::OpenRound> readOpenRound(std::string_view body);
Result<rules::ReportResult> readReportResult(std::string_view body);
Result<rules::ConfirmJackpot> readConfirmation(std::string_view body);
Result<rules::VoidRound> readVoidRound(std::string_view body);

struct AdjustmentBody {
    rules::Money amount;
    std::string reason;
};
Result<AdjustmentBody> readAdjustment(std::string_view body);

// Names what changes; null takes a cap or a bonus away.
struct ParametersBody {
    std::optional<rules::Rate> increment;
    std::optional<rules::Rate> reserveIncrement;
    std::optional<rules::Money> minimum;
    std::optional<std::optional<rules::Money>> cap;
    std::optional<rules::Money> payoutUnit;
    std::optional<std::int64_t> simultaneityWindowMs;
    std::optional<std::optional<rules::BonusAmounts>> bonus;
    std::string reason;

    [[nodiscard]] rules::PoolParameters appliedTo(rules::PoolParameters present) const;
};
Result<ParametersBody> readParametersBody(std::string_view body);

// The history that is to be given up, as its newest receipt names it.
struct RestoreBody {
    std::int64_t size = 0;
    std::string root;
    std::string reason;

    [[nodiscard]] bool isOfSame(const RestoreBody& other) const
    {
        return size == other.size && root == other.root;
    }
};
Result<RestoreBody> readRestore(std::string_view body);

// The hash of what was proposed.
Result<std::string> readApproval(std::string_view body);

}  // namespace jackpot::console
