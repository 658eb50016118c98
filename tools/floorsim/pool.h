// The account of one pool as floorsim keeps it: what every record did to the meter, in the order of
// the records, by arithmetic of its own. It is compared with each amount the daemon names.
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
    std::int64_t minimum = 0;  // in units, as all below
    std::int64_t opening = 0;
    std::optional<std::int64_t> cap;
    std::int64_t payoutUnit = kUnitsPerCent;
    std::int64_t windowMs = 0;
    std::int64_t bonusRoyal = 0;
    std::int64_t bonusStraight = 0;
    bool isAllOurs = false;  // the terms are known, and all of its tables are played here

    [[nodiscard]] std::int64_t toMeter() const { return wagerCents * increment; }
    [[nodiscard]] std::int64_t toReserve() const { return wagerCents * reserveIncrement; }
};

struct RoundKey {
    std::uint32_t table = 0;
    std::int64_t round = 0;
    auto operator<=>(const RoundKey&) const = default;
};

// What a record did, as far as it concerns the meter.
struct Movement {
    enum class Kind : std::uint8_t { Nothing, Opened, Returned, Confirmed, Settled };
    std::uint64_t record = 0;
    RoundKey round;
    std::optional<std::int64_t> shownCents{};  // what the daemon says the pool shows after it
    Kind kind = Kind::Nothing;
    SeatSet seats = 0;  // whose wagers were taken or returned; of a confirmation those that stand
    Tiers tiers{};      // of a confirmation
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

    // Where the account begins. A pool that was played before shows whole cents only: the rest is
    // then known up to a cent, and each amount that is shown narrows it down.
    void begin(std::int64_t shownCents, bool isOpening, bool hasClaims);
    [[nodiscard]] bool hasBegun() const { return hasBegun_; }

    // In the order of the records.
    void apply(const Movement& movement);
    // All is applied; this is what the daemon shows now.
    void end(std::int64_t shownCents);

    // A ruling is needed; its content is not known here.
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
        std::size_t moment = 0;  // how many of changes_ come before it
        bool isHeld = false;
    };
    struct Posted {
        std::int64_t round = 0;
        std::array<std::int64_t, kSeats + 1> toMeter{};
    };

    void compare(std::int64_t shownCents, std::uint64_t record);
    bool agrees(std::int64_t shownCents) const;
    void narrow(std::int64_t shownCents);
    void change(std::int64_t units);
    [[nodiscard]] Meter changed(Meter meter, std::int64_t units) const;
    void settle(std::size_t claim);
    void forget(std::size_t claim);
    [[nodiscard]] std::size_t find(const RoundKey& round) const;
    void restart();

    PoolTerms terms_;
    Expect expect_;
    Mistake mistake_;
    bool hasBegun_ = false;
    bool isUnknown_ = false;  // a jackpot from before the run, or a ruling, is still to change it
    std::vector<Posted> posted_;  // by table: its newest round's

    Meter meter_;
    // Since the oldest confirmation that is not settled: a settlement is made as if at its moment.
    Meter base_;
    std::vector<std::int64_t> changes_;
    std::size_t settledTo_ = 0;
    std::vector<ConfirmedClaim> claims_;
    std::set<RoundKey> held_;

    std::int64_t contributed_ = 0;
    std::int64_t toReserve_ = 0;
    std::int64_t returned_ = 0;
    std::int64_t paid_ = 0;  // to players by settlements, with what the house adds
    std::uint64_t compared_ = 0;
    std::uint64_t rulings_ = 0;
    std::uint64_t lastRecord_ = 0;
};

std::string dollars(std::int64_t cents);       // "$47,500.00"
std::string exactDollars(std::int64_t units);  // "47500.00000000"

}  // namespace jackpot::floorsim
