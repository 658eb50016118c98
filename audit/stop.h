// How reading a journal for people ends early.
#pragma once

#include <stdexcept>
#include <string>
#include <system_error>

namespace jackpot::audit {

// What jackpot-audit then exits with.
inline constexpr int kGood = 0;
inline constexpr int kDoesNotVerify = 1;
inline constexpr int kBadInput = 2;  // the command line, or what cannot be read or written
inline constexpr int kInterrupted = 130;

// Thrown anywhere inside, caught by whoever asked: the tool prints the message, the desk answers
// with it.
class Stop : public std::runtime_error {
public:
    Stop(int status, const std::string& message) : std::runtime_error{message}, status_{status} {}
    [[nodiscard]] int status() const { return status_; }

private:
    int status_;
};

inline std::string systemError(int error) { return std::generic_category().message(error); }

}  // namespace jackpot::audit
