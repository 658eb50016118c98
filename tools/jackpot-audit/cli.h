// The command line of jackpot-audit: arguments, keys, and how a command ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/journal_view.h"
#include "audit/stop.h"
#include "storage/keys.h"
#include "storage/note.h"

namespace jackpot::audit {

struct Option {
    enum class Form : std::uint8_t { Flag, Value, Values };
    std::string_view name;  // "--from"
    Form form = Form::Flag;
};

// What a command was given. Options may stand anywhere, as "--from X" or "--from=X"; "--" ends
// them.
class Arguments {
public:
    Arguments(std::string_view command, const std::vector<std::string>& given,
              const std::vector<Option>& options, std::string_view program = "jackpot-audit");

    [[nodiscard]] bool has(std::string_view option) const;
    [[nodiscard]] std::optional<std::string> value(std::string_view option) const;
    [[nodiscard]] std::vector<std::string> values(std::string_view option) const;
    [[nodiscard]] const std::vector<std::string>& positional() const { return positional_; }

    // At least `least` and at most `most` arguments that are no options, or a Stop that says `what`
    // is needed.
    void requirePositional(std::size_t least, std::size_t most, std::string_view what) const;
    // "verify: MESSAGE (see jackpot-audit verify --help)"
    [[noreturn]] void refuse(const std::string& message) const;

    // The paths from the nth argument on.
    [[nodiscard]] std::vector<std::filesystem::path> paths(std::size_t from) const;
    // A whole number within the limits; `otherwise` where the option is not given.
    [[nodiscard]] std::uint64_t number(std::string_view option, std::uint64_t least,
                                       std::uint64_t most, std::uint64_t otherwise) const;

private:
    struct Given {
        std::string name;
        std::string value;
    };
    std::string program_;
    std::string command_;
    std::vector<Given> given_;
    std::vector<std::string> positional_;
};

// The record number in an argument.
std::uint64_t recordNumber(const Arguments& arguments, const std::string& text);

inline constexpr Option kKeyOption{"--key", Option::Form::Values};

// The verifier keys of --key, or else of JACKPOT_AUDIT_KEY: each is a key, @FILE, or a file that
// holds keys, one a line. Empty where none is given.
std::vector<storage::Verifier> trustedKeys(const Arguments& arguments);
// The same, but it must not be empty.
std::vector<storage::Verifier> requiredKeys(const Arguments& arguments);

// The first of the keys that a signature of the note names; nullptr where there is none.
const storage::Verifier* signerAmong(const std::vector<storage::Verifier>& keys,
                                     const storage::Note& note);
// Why the note proves nothing to who holds these keys, none of which has signed it, and how to go
// on.
std::string notSignedBy(const std::vector<storage::Verifier>& keys, const storage::Note& note);
// One of the keys, if there are any, has signed the journal's last checkpoint; else a Stop.
void requireSignedBy(const JournalView& journal, const std::vector<storage::Verifier>& keys);
// "name+1a2b3c4d" for each signature.
std::vector<std::string> signersOf(const storage::Note& note);

// The whole of a file that is expected to be small.
std::string readFile(const std::filesystem::path& file, std::size_t mostBytes);

}  // namespace jackpot::audit
