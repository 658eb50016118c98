// The bodies of requests about people: JSON in, checked values out. Every key is known and there
// once; every text is bounded. Pure functions, any thread.
#pragma once

#include <rapidjson/document.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "console/people/access.h"

namespace jackpot::console {

// Reads one object key by key and notes the first thing that is wrong with it.
class Body {
public:
    explicit Body(const std::string& text);

    std::string text(std::string_view key, std::size_t mostBytes);
    std::optional<std::string> optionalText(std::string_view key, std::size_t mostBytes);
    std::optional<bool> optionalFlag(std::string_view key);
    void refuse(const std::string& why)
    {
        if (problem_.empty()) problem_ = why;
    }
    // To be called when everything has been asked for: what is wrong, or nothing.
    Result<void> finish();

private:
    const rapidjson::Value* take(std::string_view key);

    rapidjson::Document json_;
    std::size_t taken_ = 0;
    std::string problem_;
};

inline constexpr std::size_t kMaxNameBytes = 32;

// a-z, 0-9, '.', '_', '-', beginning with a letter: so that nobody passes for another by a capital.
bool isName(std::string_view name);

struct SignIn {
    std::string name;
    std::string password;
};
Result<SignIn> readSignIn(const std::string& body);

struct NewPassword {
    std::string old;
    std::string password;
};
Result<NewPassword> readNewPassword(const std::string& body);

struct NewPerson {
    std::string name;
    Role role = Role::Auditor;
    std::string password;
    std::string certificate;  // SHA-256 of it in hex, or empty
    bool mustChangePassword = true;
};
Result<NewPerson> readNewPerson(const std::string& body);

struct PersonChange {
    std::optional<Role> role;
    std::optional<std::string> password;
    std::optional<std::string> certificate;  // empty takes it away
    std::optional<bool> disabled;
    std::optional<bool> mustChangePassword;
};
Result<PersonChange> readPersonChange(const std::string& body);

}  // namespace jackpot::console
