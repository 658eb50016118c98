#include "tools/cli/verifier_keys.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "tools/cli/command_error.h"
#include "tools/cli/read_file.h"

namespace jackpot::cli {
namespace {

using storage::Verifier;
namespace fs = std::filesystem;

constexpr std::size_t kMaxKeysFileBytes = 64U << 10U;
constexpr const char* kKeyVariable = "JACKPOT_AUDIT_KEY";

std::string_view trimmed(std::string_view text)
{
    constexpr std::string_view kSpace = " \t\r\n";
    const auto begin = text.find_first_not_of(kSpace);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

void addKeysOf(const fs::path& file, std::vector<Verifier>& keys)
{
    const std::string content = readFile(file, kMaxKeysFileBytes);
    const std::size_t before = keys.size();
    std::string_view rest = content;
    while (!rest.empty()) {
        const auto end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = trimmed(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (line.empty() || line.starts_with('#')) continue;
        auto key = Verifier::parse(line);
        if (!key)
            throw CommandError{kBadInput, file.string() + ": " + key.error().message +
                                              ": the file must hold verifier keys, one per line, "
                                              "as jackpot-audit pubkey prints them"};
        keys.push_back(std::move(*key));
    }
    if (keys.size() == before)
        throw CommandError{kBadInput, file.string() + ": it holds no verifier key"};
}

void addKeys(const std::string& text, std::vector<Verifier>& keys)
{
    if (text.starts_with('@')) return addKeysOf(text.substr(1), keys);
    auto key = Verifier::parse(trimmed(text));
    if (key) {
        keys.push_back(std::move(*key));
        return;
    }
    std::error_code ignored;
    if (fs::exists(text, ignored)) return addKeysOf(text, keys);
    throw CommandError{kBadInput, "\"" + text + "\" is neither a verifier key (" +
                                      key.error().message + ") nor a file that holds one"};
}

}  // namespace

std::vector<Verifier> trustedKeys(const std::vector<std::string>& given)
{
    std::vector<Verifier> keys;
    for (const std::string& each : given) addKeys(each, keys);
    if (!given.empty()) return keys;
    const char* const variable = std::getenv(kKeyVariable);
    if (variable == nullptr || trimmed(variable).empty()) return keys;
    try {
        addKeys(variable, keys);
    } catch (const CommandError& error) {
        throw CommandError{error.status(), std::string{kKeyVariable} + ": " + error.what()};
    }
    return keys;
}

std::vector<Verifier> requiredKeys(const std::vector<std::string>& given)
{
    auto keys = trustedKeys(given);
    if (keys.empty())
        throw UsageError{
            "it needs the verifier key that you hold: give --key VKEY, --key @FILE or "
            "JACKPOT_AUDIT_KEY"};
    return keys;
}

}  // namespace jackpot::cli
