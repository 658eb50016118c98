// All that the rules remember. A plain value: copyable, comparable, the same after the same
// commands. Its size depends on pools, tables and claims still open, never on how much has
// happened.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rules/commands.h"
#include "rules/link_sequence.h"
#include "rules/money.h"
#include "rules/paytable.h"
#include "rules/site.h"

namespace jackpot::rules {

// What has happened to a meter since some moment. Each change adds its amount and then restores the
// minimum, x -> max(x + amount, minimum), and such steps compose into one of the same form; so a
// moment can be replayed at a cost that does not grow with what came after it.
struct Change {
    Money sum;
    Money floor;
    bool operator==(const Change&) const = default;

    static Change none(Money minimum) { return {{}, minimum}; }
    void then(Money amount, Money minimum)
    {
        sum += amount;
        floor = std::max(floor + amount, minimum);
    }
    void then(const Change& later)
    {
        sum += later.sum;
        floor = std::max(floor + later.sum, later.floor);
    }
    [[nodiscard]] Money appliedTo(Money meter) const { return std::max(meter + sum, floor); }
};

enum class Hold : std::uint8_t {
    None,     // settles by itself when the window has passed
    Tied,     // with another table's, or confirmed while others were held
    Offline,  // another table was offline with an unconfirmed claim when the window had passed
};

// A confirmed jackpot that is not settled yet. `meter` is the pool's as it stood at the
// confirmation and `since` what has changed it from there to the next confirmation's moment, or to
// now for the last.
struct Confirmation {
    std::uint32_t table = 0;
    std::int64_t round = 0;
    std::uint64_t order = 0;  // of arrival, over all pools
    TimeMs arrivedMs = 0;
    TimeMs pressedMs = 0;
    Hold hold = Hold::None;
    Money meter;
    Change since;
    bool operator==(const Confirmation&) const = default;
};

struct Totals {
    Money seeded;
    Money contributed;
    Money returned;
    Money fromReserve;
    Money paidFromPool;
    Money paidByHouse;
    Money adjusted;
    bool operator==(const Totals&) const = default;
};

struct DueAward {
    enum class Status : std::uint8_t { Due, Paid, Withheld };
    std::int64_t round = 0;
    int seat = 0;
    Tier tier = Tier::None;
    Money amount;
    Status status = Status::Due;
    bool operator==(const DueAward&) const = default;
};

// The jackpot that was settled last; of several settled together, the one paid last.
struct Win {
    Money amount;
    TimeMs atMs = 0;
    Tier tier = Tier::None;
    std::uint32_t table = 0;
    bool operator==(const Win&) const = default;
};

struct Pool {
    PoolConfig config;
    PayTable payTable;
    bool suspended = false;
    Money meter;
    Money reserve;
    Totals totals;
    std::vector<Confirmation> confirmations;  // in the order of arrival
    std::optional<PoolParameters> next;       // agreed by two people, for the next reset
    bool nextIsDue = false;  // there was a reset since; it waits only for confirmations to settle
    std::optional<Win> lastWin;
    bool operator==(const Pool&) const = default;

    void noteReset() { nextIsDue = next.has_value(); }
    [[nodiscard]] Money displayed() const { return meter.roundedDownToCent(); }
    // A confirmed jackpot waits for its window to pass.
    [[nodiscard]] bool isPending() const
    {
        return std::ranges::any_of(
            confirmations, [](const Confirmation& each) { return each.hold == Hold::None; });
    }
    // One waits for people.
    [[nodiscard]] bool isHeld() const
    {
        return std::ranges::any_of(
            confirmations, [](const Confirmation& each) { return each.hold != Hold::None; });
    }
};

struct Seat {
    bool wagered = false;  // and the wager was not returned since
    Money toMeter;
    Money toReserve;
    Tier tier = Tier::None;  // by the result
    bool claims = false;     // a jackpot that is not settled
    std::string playerCard;
    bool operator==(const Seat&) const = default;
};

struct Round {
    bool opened = false;  // true once any round has been opened
    std::int64_t number = 0;
    bool resultIn = false;
    bool voided = false;
    bool confirmed = false;
    bool settled = false;  // a jackpot of it
    std::array<Seat, kMaxSeats> seats;
    std::vector<DueAward> due;  // of the house's money; jackpots are in Table::jackpotsDue
    bool operator==(const Round&) const = default;

    Seat& seat(int number1) { return seats.at(static_cast<std::size_t>(number1 - 1)); }
    [[nodiscard]] const Seat& seat(int number1) const
    {
        return seats.at(static_cast<std::size_t>(number1 - 1));
    }
    [[nodiscard]] bool hasWager(std::int64_t seatNumber) const
    {
        return seatNumber >= 1 && seatNumber <= kMaxSeats &&
               seat(static_cast<int>(seatNumber)).wagered;
    }
    [[nodiscard]] bool hasClaims() const
    {
        return std::any_of(seats.begin(), seats.end(), [](const Seat& s) { return s.claims; });
    }
    [[nodiscard]] bool hasUnconfirmedClaims() const { return !confirmed && hasClaims(); }
    [[nodiscard]] bool awaitsSettlement() const { return confirmed && hasClaims(); }
    void startAnew(std::int64_t roundNumber);
};

struct Table {
    TableConfig config;
    std::uint32_t pool = 0;
    bool suspended = false;
    bool offline = false;
    Round current;
    std::vector<Round> waiting;         // earlier ones whose confirmed claim is not settled
    std::vector<DueAward> jackpotsDue;  // settled and not yet recorded as paid
    std::uint64_t wagers = 0;           // accepted, ever; the table keeps a count of its own
    LinkSequence sequence;              // of its commands
    bool operator==(const Table&) const = default;

    // The current round or an earlier one that waits; nullptr if neither has this number.
    Round* findRound(std::int64_t number);
    [[nodiscard]] const Round* findRound(std::int64_t number) const;
    // Lets an earlier round go once nothing of it waits any more.
    void dropIfDone(const Round* round);
};

class State {
public:
    std::vector<Pool> pools;
    std::vector<Table> tables;

    std::uint64_t confirmations = 0;  // taken so far

    bool operator==(const State& other) const
    {
        return pools == other.pools && tables == other.tables &&
               confirmations == other.confirmations;
    }

    // Adds the pools and tables that are not there yet and leaves the others where they are; those
    // tables take the configuration given. `site` has passed validate() and checkAmendment().
    void configure(const Site& site);

    [[nodiscard]] std::optional<std::uint32_t> findPool(std::string_view id) const
    {
        return find(poolIndex_, id);
    }
    [[nodiscard]] std::optional<std::uint32_t> findTable(std::string_view id) const
    {
        return find(tableIndex_, id);
    }

    // The next moment at which a window ends, and its pool; of several at one moment, the one whose
    // confirmation arrived first.
    struct Due {
        TimeMs atMs = 0;
        std::uint32_t pool = 0;
    };
    [[nodiscard]] std::optional<Due> nextDue() const;

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const
        {
            return std::hash<std::string_view>{}(text);
        }
    };
    using Index = std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>>;
    static std::optional<std::uint32_t> find(const Index& index, std::string_view id);

    Index poolIndex_;
    Index tableIndex_;
};

// As it is configured now, after all amendments.
Site siteOf(const State& state);

}  // namespace jackpot::rules
