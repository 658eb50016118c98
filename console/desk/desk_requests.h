// Bodies of the desk's requests: JSON text in, checked values out. A body with an unknown, missing
// or doubled key, a wrong type or a value out of bounds is an Error. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "console/desk/preview.h"
#include "rules/commands.h"

namespace jackpot::console {

inline constexpr std::size_t kMaxReasonBytes = 500;
inline constexpr std::size_t kMaxRuledRounds = 64;

struct RulingRequest {
    RulingOrder order;
    std::string reason;
    std::string token;
};
Result<RulingRequest> readRuling(std::string_view body);
Result<RulingOrder> readRulingOrder(std::string_view body);  // for a preview

struct PaymentRequest {
    std::int64_t seat = 0;
    rules::Tier tier = rules::Tier::None;  // None: a payment where there is no award
    rules::Money paid;
    std::string how;
};
Result<PaymentRequest> readPayment(std::string_view body);

// To withhold or release an award.
struct WithholdRequest {
    std::int64_t seat = 0;
    rules::Tier tier = rules::Tier::None;
    std::string reason;
};
Result<WithholdRequest> readWithhold(std::string_view body);

struct VoidRoundRequest {
    rules::VoidRoundGround ground{};
    std::vector<std::int64_t> forfeited;
    std::string reason;  // may be empty
};
Result<VoidRoundRequest> readVoidRound(std::string_view body);

struct VoidWagerRequest {
    rules::VoidWagerGround ground{};
    std::string reason;  // may be empty
};
Result<VoidWagerRequest> readVoidWager(std::string_view body);

struct SuspensionRequest {
    rules::SuspensionGround ground{};
    std::string reason;  // may be empty
};
Result<SuspensionRequest> readSuspension(std::string_view body);

// A reason where there is no ground.
Result<std::string> readReason(std::string_view body);
// An optional reason; the body may be empty.
Result<std::string> readRemark(std::string_view body);

struct CorrectionRequest {
    std::vector<std::string> board;
    std::vector<rules::Hand> hands;
    std::string reason;
};
Result<CorrectionRequest> readCorrection(std::string_view body);

// Actions of a dealer at a demo table. The table's id stays empty: it is in the path.
Result<rules::OpenRound> readOpenRound(std::string_view body);
Result<rules::ReportResult> readReportResult(std::string_view body);
Result<rules::ConfirmJackpot> readConfirmation(std::string_view body);
Result<rules::CorrectResult> readDealerCorrection(std::string_view body);
Result<rules::CloseRound> readCloseRound(std::string_view body);
Result<rules::VoidRound> readDealerVoid(std::string_view body);

struct AdjustmentRequest {
    rules::Money amount;
    std::string reason;
};
Result<AdjustmentRequest> readAdjustment(std::string_view body);

// The parameters to change; null removes a cap, a bonus or a guarantee.
struct ParametersRequest {
    std::optional<rules::Rate> increment;
    std::optional<rules::Rate> reserveIncrement;
    std::optional<rules::Money> minimum;
    std::optional<std::optional<rules::Money>> cap;
    std::optional<rules::Money> payoutUnit;
    std::optional<std::int64_t> simultaneityWindowMs;
    std::optional<std::int64_t> settleAfterMs;
    std::optional<std::optional<rules::TierAmounts>> bonus;
    std::optional<std::optional<rules::TierAmounts>> guarantee;
    std::string reason;

    [[nodiscard]] rules::PoolParameters appliedTo(rules::PoolParameters present) const;
};
Result<ParametersRequest> readParameters(std::string_view body);

// Names the lost records by the size and root of the newest receipt.
struct RestoreRequest {
    std::int64_t size = 0;
    std::string root;
    std::string reason;

    [[nodiscard]] bool namesSameHistory(const RestoreRequest& other) const
    {
        return size == other.size && root == other.root;
    }
};
Result<RestoreRequest> readRestore(std::string_view body);

// The SHA-256 of the proposed command.
Result<std::string> readApproval(std::string_view body);

}  // namespace jackpot::console
