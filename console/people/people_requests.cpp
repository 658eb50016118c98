#include "console/people/people_requests.h"

#include <algorithm>

#include "console/people/passwords.h"
#include "storage/json_object_reader.h"

namespace jackpot::console {
namespace {

using storage::BadJson;
using storage::JsonObjectReader;
using storage::readJsonObject;

constexpr std::size_t kFingerprintDigits = 64;
constexpr std::size_t kMaxRoleBytes = 32;

// Accepts "AB:CD:...", as openssl prints it, and the digits alone.
std::string readFingerprint(std::string text)
{
    std::erase(text, ':');
    for (char& c : text)
        if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
    const bool valid =
        text.empty() || (text.size() == kFingerprintDigits &&
                         text.find_first_not_of("0123456789abcdef") == std::string::npos);
    if (!valid) throw BadJson{"\"certificate\" is not a SHA-256 fingerprint in hex"};
    return text;
}

Role readRole(const std::string& id)
{
    const auto role = roleOfId(id);
    if (!role)
        throw BadJson{
            "\"role\" is not supervisor, surveillance, auditor, inspector or administrator"};
    return *role;
}

}  // namespace

bool isPersonName(std::string_view name)
{
    const auto isLetter = [](char c) { return c >= 'a' && c <= 'z'; };
    return !name.empty() && name.size() <= kMaxPersonNameBytes && isLetter(name.front()) &&
           std::ranges::all_of(name, [&](char c) {
               return isLetter(c) || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
           });
}

Result<Credentials> readCredentials(std::string_view body)
{
    return readJsonObject(body, [](JsonObjectReader& fields) {
        // An impossible name is rejected later, in the same way as an unknown one.
        return Credentials{fields.text("name", kMaxPasswordBytes),
                           fields.text("password", kMaxPasswordBytes)};
    });
}

Result<NewPassword> readNewPassword(std::string_view body)
{
    return readJsonObject(body, [](JsonObjectReader& fields) {
        return NewPassword{fields.text("old", kMaxPasswordBytes),
                           fields.text("new", kMaxPasswordBytes)};
    });
}

Result<NewPerson> readNewPerson(std::string_view body)
{
    return readJsonObject(body, [](JsonObjectReader& fields) {
        NewPerson person;
        person.name = fields.text("name", kMaxPasswordBytes);
        if (!isPersonName(person.name))
            throw BadJson{
                "\"name\" is not 1 to 32 of a-z, 0-9, '.', '_' and '-', beginning with a letter"};
        person.role = readRole(fields.text("role", kMaxRoleBytes));
        person.password = fields.text("password", kMaxPasswordBytes);
        if (const auto checked = checkPassword(person.password, person.name); !checked)
            throw BadJson{checked.error().message};
        person.certificate = readFingerprint(
            fields.optionalText("certificate", 2 * kFingerprintDigits).value_or(""));
        person.mustChangePassword = fields.optionalFlag("must_change_password").value_or(true);
        return person;
    });
}

Result<PersonChange> readPersonChange(std::string_view body)
{
    return readJsonObject(body, [](JsonObjectReader& fields) {
        PersonChange change;
        if (const auto role = fields.optionalText("role", kMaxRoleBytes))
            change.role = readRole(*role);
        change.password = fields.optionalText("password", kMaxPasswordBytes);
        if (auto certificate = fields.optionalText("certificate", 2 * kFingerprintDigits))
            change.certificate = readFingerprint(std::move(*certificate));
        change.disabled = fields.optionalFlag("disabled");
        change.mustChangePassword = fields.optionalFlag("must_change_password");
        return change;
    });
}

}  // namespace jackpot::console
