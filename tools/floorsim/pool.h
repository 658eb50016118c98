// The account of one pool as floorsim keeps it: what every record did to the meter, in the order of
// the records, computed without the rules' code. It is compared with each amount that the daemon
// reports.
//
// A win takes its money at its confirmation. As long as it is open, everything since the earliest
// open win is kept as a list, and a change of a win is computed by going through the whole list
// again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
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
    std::int64_t settleAfterMs = 0;
    std::int64_t bonusRoyal = 0;
    std::int64_t bonusStraight = 0;
    std::int64_t guaranteeRoyal = 50'000'00 * kUnitsPerCent;  // UTH 15.2.9
    std::int64_t guaranteeStraight = 5'000'00 * kUnitsPerCent;
    bool isAllOurs = false;  // the terms are known, and floorsim plays all of its tables

    [[nodiscard]] std::int64_t toMeter() const { return wagerCents * increment; }
    [[nodiscard]] std::int64_t toReserve() const { return wagerCents * reserveIncrement; }
};

struct RoundKey {
    std::uint32_t table = 0;
    std::int64_t round = 0;
    auto operator<=>(const RoundKey&) const = default;
};

using Groups = std::vector<std::vector<RoundKey>>;

// The effect of a record on the meter.
struct Movement {
    enum class Kind : std::uint8_t {
        Opened,     // the wagers of `seats` are taken
        Changed,    // the wagers of `seats` are returned; the round's win is `standing`, `tiers`
        Confirmed,  // the round is a win: `standing`, `tiers`
        Ruled,      // by `order`
        Final,      // the win of the round, and those of its group
        Ruling,     // people have ruled, and the order is not known here
        Nothing,    // only the amount is compared
    };
    std::uint64_t record = 0;
    RoundKey round;
    std::optional<std::int64_t> shownCents{};  // the pool's amount after it, by the daemon
    Kind kind = Kind::Nothing;
    bool isDecision = false;  // on a command of a table
    SeatSet seats = 0;
    SeatSet standing = 0;
    Tiers tiers{};
    Groups order{};
};

struct JackpotAward {
    int seat = 0;
    Tier tier = Tier::None;
    std::int64_t cents = 0;
};

class PoolAccount {
public:
    // A confirmed round with claims. It stays in the account after it is final.
    struct Win {
        SeatSet standing = 0;
        Tiers tiers{};
        std::uint64_t arrival = 0;             // the order of confirmations
        std::array<std::uint64_t, 3> place{};  // arrival, ruling, group in the ruling
        std::int64_t taken = 0;  // from the pool; of a group, all of it at its first round
        bool isFinal = false;
        bool isKnown = true;  // false after a ruling of others
        std::vector<JackpotAward> awards{};
    };
    using Mistake = std::function<void(std::string)>;
    PoolAccount(PoolTerms terms, Mistake mistake);

    // Sets the first amount. A pool that was played before shows whole cents only: its fraction of
    // a cent is unknown, and each displayed amount narrows the range.
    void begin(std::int64_t shownCents, bool isOpening);
    [[nodiscard]] bool hasBegun() const { return hasBegun_; }

    // Call in the order of the records.
    void apply(const Movement& movement);
    // Call when every record is applied, with the amount that the daemon shows.
    void end(std::int64_t shownCents);

    [[nodiscard]] const PoolTerms& terms() const { return terms_; }
    [[nodiscard]] bool isChecked() const { return terms_.isAllOurs && hasBegun_; }
    [[nodiscard]] bool isExact() const { return isChecked() && meter_.to - meter_.from == 1; }
    [[nodiscard]] std::int64_t shownCents() const;
    [[nodiscard]] std::int64_t units() const { return meter_.known + meter_.from; }
    [[nodiscard]] std::int64_t contributed() const { return contributed_; }
    [[nodiscard]] std::int64_t contributedToReserve() const { return toReserve_; }
    [[nodiscard]] std::int64_t returned() const { return returned_; }
    // To players for jackpots and bonuses, with the part that the house pays.
    [[nodiscard]] std::int64_t paid() const;
    [[nodiscard]] const std::map<RoundKey, Win>& wins() const { return wins_; }
    [[nodiscard]] std::uint64_t compared() const { return compared_; }
    [[nodiscard]] std::uint64_t rulings() const { return rulings_; }

private:
    // The exact amount is known + x, with from <= x < to.
    struct Meter {
        std::int64_t known = 0;
        std::int64_t from = 0;
        std::int64_t to = 1;
        bool wasReset = false;
    };
    // A change of the meter; or, with an arrival, the place where a win arrived.
    struct Entry {
        std::int64_t units = 0;
        std::uint64_t arrival = 0;
        std::int64_t finals = 0;  // what final wins have taken at this place
    };
    using Contributions = std::array<std::int64_t, kSeats + 1>;

    void applyChange(const Movement& movement);
    void compare(std::int64_t shownCents, std::uint64_t record);
    void change(std::int64_t units);
    void takeWagers(const Movement& movement);
    std::int64_t returnWagers(const Movement& movement);
    void rule(const Groups& order);
    void makeFinal(const RoundKey& round);
    void recompute();
    void continueFrom(std::int64_t shownCents);
    [[nodiscard]] Meter changed(Meter meter, std::int64_t units) const;
    // Settles the rounds of one group, and returns the meter after it.
    Meter settle(const std::vector<RoundKey>& group, Meter meter);
    void award(const std::vector<RoundKey>& group, bool (*pays)(Tier), Tier tier,
               std::int64_t units);
    [[nodiscard]] std::vector<std::vector<RoundKey>> groupsAt(std::uint64_t arrival) const;
    void forgetBefore();

    PoolTerms terms_;
    Mistake mistake_;
    bool hasBegun_ = false;
    std::map<RoundKey, Contributions> contributions_;  // of newest rounds and open wins

    Meter meter_;
    Meter base_;                  // the meter before the entries
    std::vector<Entry> entries_;  // since the earliest open win
    std::map<RoundKey, Win> wins_;
    std::size_t open_ = 0;  // of the wins
    std::uint64_t arrivals_ = 0;
    std::uint64_t ordersOfRulings_ = 0;

    std::int64_t contributed_ = 0;
    std::int64_t toReserve_ = 0;
    std::int64_t returned_ = 0;
    std::uint64_t compared_ = 0;
    std::uint64_t rulings_ = 0;
    std::uint64_t lastRecord_ = 0;
};

std::string dollars(std::int64_t cents);       // "$47,500.00"
std::string exactDollars(std::int64_t units);  // "47500.00000000"

}  // namespace jackpot::floorsim
