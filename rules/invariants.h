// What must be true whatever happens, numbered in docs/invariants.md. A breach is a fault of ours
// and stops the program's work in every build type.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rules/outcome.h"
#include "rules/state.h"

namespace jackpot::rules {

class InvariantViolation : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

// A pool's money before a command.
struct PoolBefore {
    Money meter;
    Money reserve;
};

// One pool, and the tables of it to look at; where a command has just been carried out, its outcome
// and the pool's money before it.
struct Scope {
    const State& state;
    std::uint32_t pool = 0;
    const Outcome* outcome = nullptr;
    PoolBefore before;

    [[nodiscard]] const Pool& poolChecked() const { return state.pools[pool]; }
};

class Invariant {
public:
    Invariant(int number, std::string_view name) : number_{number}, name_{name} {}
    virtual ~Invariant() = default;
    Invariant(const Invariant&) = delete;
    Invariant& operator=(const Invariant&) = delete;

    [[nodiscard]] int number() const { return number_; }
    [[nodiscard]] std::string_view name() const { return name_; }
    // What is wrong, in words; empty where the invariant holds.
    [[nodiscard]] virtual std::string check(const Scope& scope) const = 0;

private:
    int number_;
    std::string_view name_;
};

std::span<const Invariant* const> allInvariants();

// Throws InvariantViolation on the first breach in what a command touched. `before` is the money of
// the outcome's pool; of a configuration, that of the pools there were, in their order.
void checkTouched(const State& state, const Outcome& outcome, std::span<const PoolBefore> before);

// Every breach in the whole state.
std::vector<std::string> checkWhole(const State& state);

}  // namespace jackpot::rules
