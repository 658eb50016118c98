#include "console/people/people_requests.h"

#include <algorithm>

#include "base/utf8.h"
#include "console/people/passwords.h"
#include "storage/json_read.h"

namespace jackpot::console {
namespace {

constexpr std::size_t kFingerprintDigits = 64;

std::string inQuotes(std::string_view key) { return "\"" + std::string{key} + "\""; }

// "AB:CD:..." as openssl prints it, or the digits alone.
std::string readFingerprint(Body& body, std::string text)
{
    std::erase(text, ':');
    for (char& c : text)
        if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
    const bool fine =
        text.empty() || (text.size() == kFingerprintDigits &&
                         text.find_first_not_of("0123456789abcdef") == std::string::npos);
    if (!fine) body.refuse("\"certificate\" is not a SHA-256 fingerprint in hex");
    return text;
}

Role readRole(Body& body, const std::string& id)
{
    const auto role = roleOfId(id);
    if (!role)
        body.refuse("\"role\" is supervisor, surveillance, auditor, inspector or administrator");
    return role.value_or(Role::Auditor);
}

template <class T>
Result<T> finished(Body& body, T read)
{
    if (auto fine = body.finish(); !fine) return fine.error();
    return read;
}

}  // namespace

Body::Body(const std::string& text)
{
    json_.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(
        text.data(), text.size());
    if (json_.HasParseError())
        refuse("the body is not well-formed JSON");
    else if (!json_.IsObject())
        refuse("the body is not a JSON object");
}

const rapidjson::Value* Body::take(std::string_view key)
{
    if (!problem_.empty()) return nullptr;
    const rapidjson::Value* const value = storage::find(json_, key);
    if (value) ++taken_;
    return value;
}

std::optional<std::string> Body::optionalText(std::string_view key, std::size_t mostBytes)
{
    const rapidjson::Value* const value = take(key);
    if (!value) return std::nullopt;
    if (!value->IsString()) {
        refuse(inQuotes(key) + " is not a string");
        return std::nullopt;
    }
    const std::string_view text = storage::viewOf(*value);
    if (text.size() > mostBytes)
        refuse(inQuotes(key) + " has more than " + std::to_string(mostBytes) + " bytes");
    else if (!isUtf8(text))
        refuse(inQuotes(key) + " is not UTF-8");
    else
        return std::string{text};
    return std::nullopt;
}

std::string Body::text(std::string_view key, std::size_t mostBytes)
{
    auto text = optionalText(key, mostBytes);
    if (!text) refuse(inQuotes(key) + " is missing");
    return std::move(text).value_or("");
}

std::optional<bool> Body::optionalFlag(std::string_view key)
{
    const rapidjson::Value* const value = take(key);
    if (!value) return std::nullopt;
    if (!value->IsBool()) refuse(inQuotes(key) + " is not true or false");
    return value->IsBool() && value->GetBool();
}

Result<void> Body::finish()
{
    if (problem_.empty() && taken_ != json_.MemberCount())
        refuse("the body has a key that is not known, or one twice");
    if (!problem_.empty()) return Error{problem_};
    return {};
}

bool isName(std::string_view name)
{
    const auto isLetter = [](char c) { return c >= 'a' && c <= 'z'; };
    return !name.empty() && name.size() <= kMaxNameBytes && isLetter(name.front()) &&
           std::ranges::all_of(name, [&](char c) {
               return isLetter(c) || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
           });
}

Result<SignIn> readSignIn(const std::string& text)
{
    Body body{text};
    SignIn read;
    // A name that cannot be is refused later, as an unknown one is.
    read.name = body.text("name", kMaxPasswordBytes);
    read.password = body.text("password", kMaxPasswordBytes);
    return finished(body, std::move(read));
}

Result<NewPassword> readNewPassword(const std::string& text)
{
    Body body{text};
    NewPassword read;
    read.old = body.text("old", kMaxPasswordBytes);
    read.password = body.text("new", kMaxPasswordBytes);
    return finished(body, std::move(read));
}

Result<NewPerson> readNewPerson(const std::string& text)
{
    Body body{text};
    NewPerson read;
    read.name = body.text("name", kMaxPasswordBytes);
    if (!isName(read.name))
        body.refuse("\"name\" is 1 to 32 of a-z, 0-9, '.', '_' and '-', and begins with a letter");
    read.role = readRole(body, body.text("role", kMaxPasswordBytes));
    read.password = body.text("password", kMaxPasswordBytes);
    if (const auto fine = checkPassword(read.password, read.name); !fine)
        body.refuse(fine.error().message);
    read.certificate = readFingerprint(
        body, body.optionalText("certificate", 2 * kFingerprintDigits).value_or(""));
    read.mustChangePassword = body.optionalFlag("must_change_password").value_or(true);
    return finished(body, std::move(read));
}

Result<PersonChange> readPersonChange(const std::string& text)
{
    Body body{text};
    PersonChange read;
    if (const auto role = body.optionalText("role", kMaxPasswordBytes))
        read.role = readRole(body, *role);
    read.password = body.optionalText("password", kMaxPasswordBytes);
    if (auto certificate = body.optionalText("certificate", 2 * kFingerprintDigits))
        read.certificate = readFingerprint(body, std::move(*certificate));
    read.disabled = body.optionalFlag("disabled");
    read.mustChangePassword = body.optionalFlag("must_change_password");
    return finished(body, std::move(read));
}

}  // namespace jackpot::console
