// Bodies of the requests about people: JSON text in, checked values out. A body with an unknown,
// missing or doubled key, a wrong type or a value out of bounds is an Error. Pure; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "console/people/access.h"

namespace jackpot::console {

inline constexpr std::size_t kMaxPersonNameBytes = 32;

// a-z, 0-9, '.', '_' and '-', beginning with a letter. There are no capitals, so that two names
// never differ by case alone.
bool isPersonName(std::string_view name);

struct Credentials {
    std::string name;
    std::string password;
};
Result<Credentials> readCredentials(std::string_view body);

struct NewPassword {
    std::string old;
    std::string password;
};
Result<NewPassword> readNewPassword(std::string_view body);

struct NewPerson {
    std::string name;
    Role role = Role::Auditor;
    std::string password;
    std::string certificate;  // SHA-256 fingerprint in hex; empty: none is required
    bool mustChangePassword = true;
};
Result<NewPerson> readNewPerson(std::string_view body);

// An absent member stays as it is.
struct PersonChange {
    std::optional<Role> role;
    std::optional<std::string> password;
    std::optional<std::string> certificate;  // an empty string removes it
    std::optional<bool> disabled;
    std::optional<bool> mustChangePassword;
};
Result<PersonChange> readPersonChange(std::string_view body);

}  // namespace jackpot::console
