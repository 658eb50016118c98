// How a command ends early, and with which exit status.
#pragma once

#include <stdexcept>
#include <string>

#include "audit/audit_error.h"

namespace jackpot::cli {

inline constexpr int kSuccess = 0;
inline constexpr int kDoesNotVerify = 1;
inline constexpr int kBadInput = 2;  // the command line, or a file that cannot be read or written
inline constexpr int kInterrupted = 130;  // 128 + SIGINT, as shells report it

// Ends the command. The program prints the message and exits with the status.
class CommandError : public std::runtime_error {
public:
    CommandError(int status, const std::string& message)
        : std::runtime_error{message}, status_{status}
    {}
    [[nodiscard]] int status() const { return status_; }

private:
    int status_;
};

// The command line is wrong. The program adds which --help describes it.
class UsageError : public CommandError {
public:
    explicit UsageError(const std::string& message) : CommandError{kBadInput, message} {}
};

// The exit status for an error of audit/.
int exitStatusOf(audit::AuditErrorKind kind);

}  // namespace jackpot::cli
