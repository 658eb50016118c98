// What happens in a round of the simulated floor: who wagers, what is dealt, what goes wrong. A
// pure function of the seed, the table and the round's number, so that a run can be repeated, and a
// killed run resumes with the same cards.
#pragma once

#include <cstdint>
#include <optional>

#include "tools/floorsim/cards.h"

namespace jackpot::floorsim {

// Per thousand rounds.
struct FaultRates {
    std::uint32_t disconnect = 0;
    std::uint32_t resend = 0;
    std::uint32_t duplicate = 0;
    std::uint32_t voids = 0;
    std::uint32_t corrections = 0;
    std::uint32_t suspends = 0;
    std::uint32_t lateResult = 0;
    std::uint32_t latePress = 0;
    std::uint32_t wrongCount = 0;
};

struct PlanSettings {
    std::uint64_t seed = 1;
    FaultRates faults;
    std::uint64_t forcedJackpots = 0;
    std::optional<std::uint64_t> rounds;  // of each table
    bool noJackpots = false;
};

struct RoundPlan {
    enum class Void : std::uint8_t { None, BeforeResult, OneWager, AfterResult, OneAfterResult };
    enum class Suspend : std::uint8_t { None, BeforeResult, AfterResult, BetweenRounds };
    SeatSet seats = 0;
    Deal dealt;
    std::optional<Deal> misread;  // reported first, and then corrected
    bool isForced = false;
    bool disconnect = false;
    bool resend = false;
    bool duplicate = false;
    bool lateResult = false;
    bool latePress = false;
    bool wrongCount = false;
    bool closes = false;  // the table closes the round, not the next one
    Suspend suspend = Suspend::None;
    Void voids = Void::None;
    int voidSeat = 0;
    int voidGround = 1;  // as in link.proto
};

struct PlanTable {
    std::uint32_t index = 0;   // among the tables played
    std::uint32_t tables = 1;  // the number of tables played
    std::uint64_t salt = 0;    // a hash of its id
    Game game = Game::BlazingSevens;
    int seats = 7;
};

// A table that has so many open wins is dealt no jackpot: with one more it could open no round.
inline constexpr std::size_t kMostOpenWins = 7;

// `ordinal` counts the table's rounds in this run from 1. `standing`: the seats of a round that is
// open already.
RoundPlan planOf(const PlanSettings& settings, const PlanTable& table, std::int64_t round,
                 std::uint64_t ordinal, std::size_t openWins,
                 std::optional<SeatSet> standing = std::nullopt);

std::uint64_t saltOf(std::string_view tableId);

}  // namespace jackpot::floorsim
