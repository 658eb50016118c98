// All that the rules remember. A plain value: copyable, comparable, the same after the same
// commands. Its size depends on pools, tables, open wins and unpaid jackpots, never on how much has
// happened.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
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

// Where a group of wins is settled among the others of its pool: at the arrival of one of its
// rounds, or moved to a later one's by a ruling. Places are ordered as they compare.
struct PlaceKey {
    std::uint64_t arrival = 0;  // Win::order of the win that arrived there
    std::uint64_t ruling = 0;   // that moved the group there; 0 for the arrival's own group
    std::uint32_t index = 0;    // of the group in that ruling
    auto operator<=>(const PlaceKey&) const = default;
};

// There is one while an open win is settled there or arrived there (then it may be empty).
struct Place {
    PlaceKey key;
    Money before;   // the meter just before the group is settled
    Money paid;     // by the pool to the group
    Change finals;  // wins at the same arrival, after this one, that are final by now
    Change since;   // what changed the meter after that, to the next place or to now
    bool operator==(const Place&) const = default;

    // The meter at the next place, or now.
    [[nodiscard]] Money after(Money minimum) const
    {
        return since.appliedTo(finals.appliedTo(std::max(before - paid, minimum)));
    }
};

struct WinAward {
    int seat = 0;
    Tier tier = Tier::None;
    Money amount;
    bool operator==(const WinAward&) const = default;
};

// A confirmed round with claims, until it is final.
struct Win {
    std::uint32_t table = 0;
    std::int64_t round = 0;
    std::uint64_t order = 0;  // of arrival, over all pools
    TimeMs arrivedMs = 0;
    TimeMs pressedMs = 0;      // the earliest that it can have been
    bool impossible = false;   // pressed before its round was opened: any time until the arrival
    bool due = false;          // else its awards are locked
    std::uint64_t hold = 0;    // the wins with the same number wait for one ruling; 0: not held
    bool holdsItself = false;  // impossible, or held for an offline table, until a ruling
    PlaceKey place;            // the wins with the same are one group
    std::vector<WinAward> awards;  // in the order of payment
    bool operator==(const Win&) const = default;

    [[nodiscard]] TimeMs latestPressMs() const { return impossible ? arrivedMs : pressedMs; }
};

inline constexpr TimeMs kFinalAfterMs = 24LL * 60 * 60 * 1000;
inline constexpr std::size_t kMaxOpenWins = 8;  // of a table

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

// An award that is or was due or locked, for payments and withholding. Known by round, seat and
// tier.
struct AwardRecord {
    enum class State : std::uint8_t { Locked, Due, Withdrawn };  // Withdrawn: or replaced
    std::int64_t round = 0;
    Money amount;
    Money paid;  // in sum
    std::uint32_t payments = 0;
    std::int8_t seat = 0;
    Tier tier = Tier::None;
    State state = State::Due;
    bool wasDue = false;
    bool withheld = false;
    bool operator==(const AwardRecord&) const = default;

    [[nodiscard]] Money due() const { return state == State::Due ? amount : Money{}; }
};

// The jackpot that became due last; of several at one time, the one paid last.
struct LastWin {
    Money amount;
    TimeMs atMs = 0;
    Tier tier = Tier::None;
    std::uint32_t table = 0;
    bool operator==(const LastWin&) const = default;
};

struct Pool {
    PoolConfig config;
    PayTable payTable;
    bool suspended = false;
    Money meter;
    Money reserve;
    Totals totals;
    std::vector<Win> wins;               // the open ones, in the order of arrival
    Money base;                          // the meter before the first place
    std::vector<Place> places;           // in their order
    std::uint64_t rulings = 0;           // so far
    std::optional<PoolParameters> next;  // agreed by two people, for the next reset
    bool nextIsDue = false;              // there was a reset since; it waits only for open wins
    std::optional<LastWin> lastWin;
    // The next time at which a win is due or final; kNever if there is none.
    TimeMs nextLookMs = kNever;
    bool operator==(const Pool&) const = default;

    static constexpr TimeMs kNever = std::numeric_limits<TimeMs>::max();

    void noteReset() { nextIsDue = next.has_value(); }
    [[nodiscard]] Money displayed() const { return meter.roundedDownToCent(); }
    // The first time of a look that changes the win; kNever while it is held.
    [[nodiscard]] TimeMs lookMs(const Win& win) const
    {
        if (win.hold != 0) return kNever;
        return win.arrivedMs + (win.due ? kFinalAfterMs : config.waitMs());
    }
    // A win is locked, and waits for its time.
    [[nodiscard]] bool isPending() const
    {
        return std::ranges::any_of(wins, [](const Win& win) { return !win.due && win.hold == 0; });
    }
    // One waits for people.
    [[nodiscard]] bool isHeld() const
    {
        return std::ranges::any_of(wins, [](const Win& win) { return win.hold != 0; });
    }
};

struct Seat {
    bool wagered = false;  // and the wager was not returned since
    Money toMeter;
    Money toReserve;
    Tier tier = Tier::None;  // by the result
    bool claims = false;     // a jackpot, confirmed or not
    std::string playerCard;
    bool operator==(const Seat&) const = default;
};

struct Round {
    bool opened = false;  // true once any round has been opened
    std::int64_t number = 0;
    TimeMs openedMs = 0;
    bool resultIn = false;
    bool voided = false;
    bool closed = false;
    bool confirmed = false;  // by a press that stands: it is a win
    bool final = false;      // its win
    std::array<Seat, kMaxSeats> seats;
    bool operator==(const Round&) const = default;

    Seat& seat(int number1) { return seats.at(static_cast<std::size_t>(number1 - 1)); }
    [[nodiscard]] const Seat& seat(int number1) const
    {
        return seats.at(static_cast<std::size_t>(number1 - 1));
    }
    [[nodiscard]] bool isOpen() const { return opened && !voided && !closed; }
    [[nodiscard]] bool hasWager(std::int64_t seatNumber) const
    {
        return seatNumber >= 1 && seatNumber <= kMaxSeats &&
               seat(static_cast<int>(seatNumber)).wagered;
    }
    [[nodiscard]] bool hasWagers() const
    {
        return std::any_of(seats.begin(), seats.end(), [](const Seat& s) { return s.wagered; });
    }
    [[nodiscard]] bool hasClaims() const
    {
        return std::any_of(seats.begin(), seats.end(), [](const Seat& s) { return s.claims; });
    }
    [[nodiscard]] bool hasUnconfirmedClaims() const { return !confirmed && hasClaims(); }
    [[nodiscard]] bool lacksResult() const { return isOpen() && !resultIn && hasWagers(); }
    [[nodiscard]] bool hasOpenWin() const { return confirmed && !final; }
    void startAnew(std::int64_t roundNumber, TimeMs now);
};

// The press of a final win.
struct FinalPress {
    TimeMs arrivedMs = 0;
    TimeMs pressedMs = 0;  // the latest that it can have been
    bool operator==(const FinalPress&) const = default;
};

// At least as many of a table's awards are known for payments; jackpots are until they are paid.
inline constexpr std::size_t kAwardsKnown = 500;

struct Table {
    TableConfig config;
    std::uint32_t pool = 0;
    std::optional<Origin> suspended;  // by whom
    bool offline = false;
    Round current;
    std::vector<Round> earlier;           // those whose win is open
    std::vector<AwardRecord> awards;      // fixed and bonus, the oldest first
    std::vector<AwardRecord> jackpots;    // 10 % and 100 % tiers, the oldest first
    std::optional<FinalPress> lastFinal;  // of the newest final win: no other can be pressed later
    std::uint64_t wagers = 0;             // accepted, ever; the table keeps a count of its own
    LinkSequence sequence;                // of its commands
    bool operator==(const Table&) const = default;

    // The current round or an earlier one whose win is open; nullptr if neither has this number.
    Round* findRound(std::int64_t number);
    [[nodiscard]] const Round* findRound(std::int64_t number) const;
    [[nodiscard]] std::size_t openWins() const
    {
        return earlier.size() + (current.hasOpenWin() ? 1 : 0);
    }
    // Lets an earlier round go once its win is not open any more.
    void dropIfDone(std::int64_t number);
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

    // The next time at which a win becomes due or final, and its pool: the time for a SettleDue.
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
