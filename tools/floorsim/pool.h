// The account of one pool as floorsim keeps it: what every record did to the meter, in the order of
// the records, computed without the rules' code. It is compared with each amount that the daemon
// reports.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/floorsim/cards.h"

namespace jackpot::floorsim {

inline constexpr std::int64_t kUnitsPerCent = 1'000'000;  // a unit is 1e-8 dollar

// As configured. Without a configuration only game and wager are known, from the daemon itself.
struct PoolTerms {
    std::string id;
    Game game = Game::BlazingSevens;
    std::int64_t wagerCents = 0;
    std::int64_t increment = 0;  // parts per million
    std::int64_t reserveIncrement = 0;
    std::int64_t minimum = 0;  // in units, like all amounts below
    std::int64_t opening = 0;
    std::optional<std::int64_t> cap;
    std::int64_t payoutUnit = kUnitsPerCent;
    std::int64_t windowMs = 0;
    std::int64_t bonusRoyal = 0;
    std::int64_t bonusStraight = 0;
    bool isAllOurs = false;  // the terms are known, and floorsim plays all of its tables

    [[nodiscard]] std::int64_t toMeter() const { return wagerCents * increment; }
    [[nodiscard]] std::int64_t toReserve() const { return wagerCents * reserveIncrement; }
};

struct RoundKey {
    std::uint32_t table = 0;
    std::int64_t round = 0;
    auto operator<=>(const RoundKey&) const = default;
};

// The effect of a record on the meter.
struct Movement {
    enum class Kind : std::uint8_t { Nothing, Opened, Returned, Confirmed, Settled };
    std::uint64_t record = 0;
    RoundKey round;
    std::optional<std::int64_t> shownCents{};  // the pool's amount after it, by the daemon
    Kind kind = Kind::Nothing;
    // Opened, Returned: the seats whose wagers were taken or returned. Confirmed: those not void.
    SeatSet seats = 0;
    Tiers tiers{};  // of a confirmation
};

struct JackpotAward {
    RoundKey round;
    int seat = 0;
    Tier tier = Tier::None;
    std::int64_t cents = 0;
};

class PoolAccount {
public:
    using Expect = std::function<void(const JackpotAward&)>;
    using Mistake = std::function<void(std::string)>;
    PoolAccount(PoolTerms terms, std::size_t tables, Expect expect, Mistake mistake);

    // Sets the first amount. A pool that was played before shows whole cents only: its fraction of
    // a cent is unknown, and each displayed amount narrows the range.
    void begin(std::int64_t shownCents, bool isOpening, bool hasClaims);
    [[nodiscard]] bool hasBegun() const { return hasBegun_; }

    // Call in the order of the records.
    void apply(const Movement& movement);
    // Call when every record is applied, with the amount that the daemon shows.
    void end(std::int64_t shownCents);

    // The claim needs a ruling. floorsim does not receive the ruling's content.
    void hold(const RoundKey& round);

    [[nodiscard]] const PoolTerms& terms() const { return terms_; }
    [[nodiscard]] bool isChecked() const { return terms_.isAllOurs && hasBegun_ && !isUnknown_; }
    [[nodiscard]] bool isExact() const { return isChecked() && meter_.to - meter_.from == 1; }
    [[nodiscard]] std::int64_t shownCents() const;
    [[nodiscard]] std::int64_t units() const { return meter_.known + meter_.from; }
    [[nodiscard]] std::int64_t contributed() const { return contributed_; }
    [[nodiscard]] std::int64_t contributedToReserve() const { return toReserve_; }
    [[nodiscard]] std::int64_t returned() const { return returned_; }
    [[nodiscard]] std::int64_t paid() const { return paid_; }
    [[nodiscard]] std::size_t unsettled() const { return claims_.size(); }
    [[nodiscard]] std::uint64_t compared() const { return compared_; }
    [[nodiscard]] std::uint64_t rulings() const { return rulings_; }

private:
    // The exact amount is known + x, with from <= x < to.
    struct Meter {
        std::int64_t known = 0;
        std::int64_t from = 0;
        std::int64_t to = 1;
        bool wasReset = false;
        bool operator==(const Meter&) const = default;
    };
    struct ConfirmedClaim {
        RoundKey round;
        SeatSet standing = 0;
        Tiers tiers{};
        std::size_t changesBefore = 0;  // the number of changes_ before it
        bool isHeld = false;
    };
    struct RoundContributions {
        std::int64_t round = 0;
        std::array<std::int64_t, kSeats + 1> toMeter{};
    };

    void compare(std::int64_t shownCents, std::uint64_t record);
    bool agrees(std::int64_t shownCents) const;
    void narrow(std::int64_t shownCents);
    void change(std::int64_t units);
    [[nodiscard]] Meter changed(Meter meter, std::int64_t units) const;
    void settle(std::size_t claim);
    void removeClaim(std::size_t claim);
    [[nodiscard]] std::size_t find(const RoundKey& round) const;
    void restart();

    PoolTerms terms_;
    Expect expect_;
    Mistake mistake_;
    bool hasBegun_ = false;
    // A jackpot from before the run, or a ruling, will still change the meter.
    bool isUnknown_ = false;
    std::vector<RoundContributions> contributions_;  // by table: of its newest round

    Meter meter_;
    // The meter at the oldest unsettled confirmation, and the changes since: a settlement is
    // computed as of its confirmation.
    Meter base_;
    std::vector<std::int64_t> changes_;
    std::size_t settledTo_ = 0;
    std::vector<ConfirmedClaim> claims_;
    std::set<RoundKey> held_;

    std::int64_t contributed_ = 0;
    std::int64_t toReserve_ = 0;
    std::int64_t returned_ = 0;
    std::int64_t paid_ = 0;  // to players by settlements, with the part that the house pays
    std::uint64_t compared_ = 0;
    std::uint64_t rulings_ = 0;
    std::uint64_t lastRecord_ = 0;
};

std::string dollars(std::int64_t cents);       // "$47,500.00"
std::string exactDollars(std::int64_t units);  // "47500.00000000"

}  // namespace jackpot::floorsim
