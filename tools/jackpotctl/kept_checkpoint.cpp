#include "tools/jackpotctl/kept_checkpoint.h"

#include <fstream>
#include <optional>
#include <sstream>

#include "audit/signers.h"
#include "base/encoding.h"
#include "tools/cli/command_error.h"

namespace jackpot::ctl {
namespace {

constexpr std::streamoff kTailBytes = 256 * 1024;

std::string endOf(const std::filesystem::path& file)
{
    std::ifstream in{file, std::ios::binary | std::ios::ate};
    const std::streamoff size = in ? static_cast<std::streamoff>(in.tellg()) : -1;
    if (size < 0) throw cli::CommandError{cli::kBadInput, file.string() + ": it cannot be read"};
    in.seekg(std::max<std::streamoff>(0, size - kTailBytes));
    std::string text(static_cast<std::size_t>(std::min(size, kTailBytes)), '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
}

std::optional<KeptCheckpoint> openedWith(const std::vector<storage::Verifier>& keys,
                                         const std::string& text)
{
    const auto note = storage::Note::parse(text);
    if (!note) return std::nullopt;
    const storage::Verifier* const key = audit::signerAmong(keys, *note);
    if (key == nullptr) return std::nullopt;
    auto checkpoint = openCheckpoint(*note, *key);
    if (!checkpoint) return std::nullopt;
    return KeptCheckpoint{text, std::move(*checkpoint)};
}

}  // namespace

KeptCheckpoint newestIn(const std::filesystem::path& file,
                        const std::vector<storage::Verifier>& keys)
{
    const std::string text = endOf(file);
    if (auto alone = openedWith(keys, text)) return *alone;
    std::optional<KeptCheckpoint> newest;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) {
        const auto encoded = line.substr(line.rfind(' ') + 1);
        const auto note = decodeBase64(encoded);
        if (!note) continue;
        auto found = openedWith(keys, *note);
        if (found && (!newest || found->checkpoint.size > newest->checkpoint.size))
            newest = std::move(found);
    }
    if (!newest)
        throw cli::CommandError{
            cli::kBadInput, file.string() +
                                ": no checkpoint in it is signed with the journal's key: check the "
                                "name and --key"};
    return *newest;
}

}  // namespace jackpot::ctl
