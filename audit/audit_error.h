// Why a journal could not be read for people.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <system_error>

namespace jackpot::audit {

enum class AuditErrorKind : std::uint8_t {
    DoesNotVerify,  // the journal, the export or the proof is not what was signed
    Unreadable,     // the input is missing, cannot be read, or is not what was asked for
    Interrupted,    // the caller ended the work
};
using enum AuditErrorKind;

// Thrown by the functions of this folder. The caller reports the message: a command prints it and
// ends, the desk answers the request with it.
class AuditError : public std::runtime_error {
public:
    AuditError(AuditErrorKind kind, const std::string& message)
        : std::runtime_error{message}, kind_{kind}
    {}
    [[nodiscard]] AuditErrorKind kind() const { return kind_; }

private:
    AuditErrorKind kind_;
};

inline std::string systemError(int error) { return std::generic_category().message(error); }

}  // namespace jackpot::audit
