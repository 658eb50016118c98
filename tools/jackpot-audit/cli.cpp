#include "tools/jackpot-audit/cli.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "base/encoding.h"

namespace jackpot::audit {
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
            throw Stop{kBadInput, file.string() + ": " + key.error().message +
                                      ": it must hold verifier keys, one a line, as "
                                      "jackpot-audit pubkey prints them"};
        keys.push_back(std::move(*key));
    }
    if (keys.size() == before) throw Stop{kBadInput, file.string() + ": it holds no verifier key"};
}

void addKeys(const std::string& text, std::vector<Verifier>& keys)
{
    if (text.starts_with('@')) return addKeysOf(text.substr(1), keys);
    if (auto key = Verifier::parse(trimmed(text))) {
        keys.push_back(std::move(*key));
        return;
    } else {
        std::error_code ignored;
        if (fs::exists(text, ignored)) return addKeysOf(text, keys);
        throw Stop{kBadInput, "\"" + text + "\" is neither a verifier key (" + key.error().message +
                                  ") nor a file that holds one"};
    }
}

}  // namespace

Arguments::Arguments(std::string_view command, const std::vector<std::string>& given,
                     const std::vector<Option>& options, std::string_view program)
    : program_{program}, command_{command}
{
    bool optionsEnded = false;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const std::string& argument = given[i];
        // "-12.50" is an amount, not an option.
        const bool isOption =
            argument.size() >= 2 && argument[0] == '-' && (argument[1] < '0' || argument[1] > '9');
        if (optionsEnded || !isOption) {
            positional_.push_back(argument);
            continue;
        }
        if (argument == "--") {
            optionsEnded = true;
            continue;
        }
        const auto equals = argument.starts_with("--") ? argument.find('=') : std::string::npos;
        const std::string name = argument.substr(0, equals);
        const auto option = std::ranges::find(options, name, &Option::name);
        if (option == options.end()) refuse("unknown option " + name);
        if (option->form == Option::Form::Flag && equals != std::string::npos)
            refuse(name + " takes no value");
        if (option->form != Option::Form::Values && has(name)) refuse(name + " is given twice");
        std::string value;
        if (equals != std::string::npos) {
            value = argument.substr(equals + 1);
        } else if (option->form != Option::Form::Flag) {
            if (++i == given.size()) refuse(name + " takes a value");
            value = given[i];
        }
        given_.push_back({name, std::move(value)});
    }
}

bool Arguments::has(std::string_view option) const
{
    return std::ranges::find(given_, option, &Given::name) != given_.end();
}

std::optional<std::string> Arguments::value(std::string_view option) const
{
    const auto found = std::ranges::find(given_, option, &Given::name);
    if (found == given_.end()) return std::nullopt;
    return found->value;
}

std::vector<std::string> Arguments::values(std::string_view option) const
{
    std::vector<std::string> all;
    for (const Given& each : given_)
        if (each.name == option) all.push_back(each.value);
    return all;
}

void Arguments::requirePositional(std::size_t least, std::size_t most, std::string_view what) const
{
    if (positional_.size() < least || positional_.size() > most)
        refuse("it takes " + std::string{what});
    if (std::ranges::find(positional_, std::string{}) != positional_.end())
        refuse("an argument is empty: it takes " + std::string{what});
}

void Arguments::refuse(const std::string& message) const
{
    throw Stop{kBadInput,
               command_ + ": " + message + " (see " + program_ + " " + command_ + " --help)"};
}

std::vector<fs::path> Arguments::paths(std::size_t from) const
{
    return {positional_.begin() + static_cast<std::ptrdiff_t>(from), positional_.end()};
}

std::uint64_t Arguments::number(std::string_view option, std::uint64_t least, std::uint64_t most,
                                std::uint64_t otherwise) const
{
    const auto text = value(option);
    if (!text) return otherwise;
    const auto parsed = parseDecimal(*text);
    if (!parsed || *parsed < least || *parsed > most)
        refuse(std::string{option} + " takes a number from " + std::to_string(least) + " to " +
               std::to_string(most) + ", not \"" + *text + "\"");
    return *parsed;
}

std::uint64_t recordNumber(const Arguments& arguments, const std::string& text)
{
    const auto seq = parseDecimal(text);
    if (!seq) arguments.refuse("\"" + text + "\" is no record number: " + seq.error().message);
    return *seq;
}

std::vector<Verifier> trustedKeys(const Arguments& arguments)
{
    std::vector<Verifier> keys;
    const auto given = arguments.values("--key");
    for (const std::string& each : given) addKeys(each, keys);
    if (!given.empty()) return keys;
    const char* const variable = std::getenv(kKeyVariable);
    if (variable == nullptr || trimmed(variable).empty()) return keys;
    try {
        addKeys(variable, keys);
    } catch (const Stop& stop) {
        throw Stop{stop.status(), std::string{kKeyVariable} + ": " + stop.what()};
    }
    return keys;
}

std::vector<Verifier> requiredKeys(const Arguments& arguments)
{
    auto keys = trustedKeys(arguments);
    if (keys.empty())
        arguments.refuse(
            "it needs the verifier key that you hold: give --key VKEY, --key @FILE or "
            "JACKPOT_AUDIT_KEY");
    return keys;
}

const Verifier* signerAmong(const std::vector<Verifier>& keys, const storage::Note& note)
{
    for (const Verifier& key : keys)
        for (const storage::NoteSignature& signature : note.signatures)
            if (signature.keyName == key.name() && signature.keyId == key.keyId()) return &key;
    return nullptr;
}

std::string notSignedBy(const std::vector<Verifier>& keys, const storage::Note& note)
{
    const std::string what =
        "it is signed by " + signersOf(note).front() + ", which is not a key that you gave";
    const bool sameName = std::ranges::any_of(
        keys, [&](const Verifier& key) { return key.name() == note.signatures.front().keyName; });
    // All keys of a journal have one name.
    if (!sameName) return what + ": it is of another journal than your key";
    return what +
           ": either the journal's key was changed, or it is forged. Verify the journal itself, "
           "with all its archive segments, with the key that you hold: it names the key that took "
           "over. Then run this again with --key and that key";
}

void requireSignedBy(const JournalView& journal, const std::vector<Verifier>& keys)
{
    if (keys.empty()) return;
    const Verifier* key = signerAmong(keys, journal.note());
    if (key == nullptr)
        throw Stop{kDoesNotVerify, "the last checkpoint: " + notSignedBy(keys, journal.note())};
    if (const auto opened = openCheckpoint(journal.note(), *key); !opened)
        throw Stop{kDoesNotVerify, "the last checkpoint: " + opened.error().message};
}

std::vector<std::string> signersOf(const storage::Note& note)
{
    std::vector<std::string> names;
    for (const storage::NoteSignature& each : note.signatures)
        names.push_back(each.keyName + "+" + encodeHex(storage::keyIdBytes(each.keyId)));
    return names;
}

std::string readFile(const fs::path& file, std::size_t mostBytes)
{
    struct Descriptor {
        int number;
        ~Descriptor()
        {
            if (number >= 0) ::close(number);
        }
    };
    const Descriptor in{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY)};
    if (in.number < 0)
        throw Stop{kBadInput, file.string() + ": it cannot be opened: " + systemError(errno)};
    std::string content;
    std::string chunk(1U << 16U, '\0');
    while (true) {
        const ssize_t got = ::read(in.number, chunk.data(), chunk.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            throw Stop{kBadInput, file.string() + ": it cannot be read: " + systemError(errno)};
        if (got == 0) return content;
        content.append(chunk, 0, static_cast<std::size_t>(got));
        if (content.size() > mostBytes)
            throw Stop{kBadInput,
                       file.string() + ": it is larger than " + std::to_string(mostBytes) +
                           " bytes, which what is expected here never is: check the name"};
    }
}

}  // namespace jackpot::audit
