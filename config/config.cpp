#include "config/config.h"

#include <algorithm>
#include <fstream>

#include "base/utf8.h"
#include "config/identifiers.h"
#include "config/sections.h"
#include "config/toml_section.h"

namespace jackpot::config {
namespace {

namespace fs = std::filesystem;

// toml++ 3.3 makes a table of each part of a dotted key and recurses over them without a limit; a
// key of ours has three parts at most.
constexpr std::ptrdiff_t kMaxDotsInLine = 64;

Place placeAt(std::string_view text, std::size_t offset)
{
    const std::string_view before = text.substr(0, offset);
    const auto lines = std::ranges::count(before, '\n');
    const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
    const auto characters = std::ranges::count_if(before.substr(start), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    });
    return {static_cast<std::uint32_t>(lines) + 1, static_cast<std::uint32_t>(characters) + 1};
}

void refuseTooManyDots(std::string_view text, Problems& problems)
{
    std::uint32_t line = 1;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view current = text.substr(0, end);
        const std::size_t first = current.find_first_not_of(" \t");
        const bool comment = first != std::string_view::npos && current[first] == '#';
        if (!comment && std::ranges::count(current, '.') > kMaxDotsInLine)
            problems.add({line, 1}, "there are more than " + std::to_string(kMaxDotsInLine) +
                                        " dots in this line: break it into several");
        text.remove_prefix(std::min(end + 1, text.size()));
        ++line;
    }
}

}  // namespace

std::string inWords(const ConfigProblem& problem)
{
    std::string text = problem.file;
    if (problem.line > 0)
        text += ":" + std::to_string(problem.line) + ":" + std::to_string(problem.column);
    text += ": " + problem.message;
    if (!problem.rule.empty()) text += " (" + problem.rule + ")";
    return text;
}

std::int64_t leastSettleAfterMs(const rules::PoolConfig& pool, const LinkConfig& link)
{
    if (pool.game != rules::Game::BlazingSevens) return 0;
    return pool.windowMs() + link.offlineAfterMs + kHeartbeatMs;
}

Loaded parse(std::string_view text, const fs::path& file)
{
    Problems problems{file.string()};
    if (text.size() > kMaxFileBytes)
        problems.add({1, 1}, "the file is larger than 1 MiB: is it the right one?");
    else if (const std::size_t bad = findBadUtf8(text); bad != std::string_view::npos)
        problems.add(placeAt(text, bad), "this is not UTF-8: save the file as UTF-8");
    else
        refuseTooManyDots(text, problems);
    if (problems.any()) return problems.inOrder();

    toml::table document;
    try {
        document = toml::parse(text, std::string_view{});
    } catch (const toml::parse_error& error) {
        const auto begin = error.source().begin;
        problems.add({std::max(begin.line, 1U), std::max(begin.column, 1U)},
                     "this is not TOML: " + std::string{error.description()} +
                         " (the rest of the file was not checked)");
        return problems.inOrder();
    }

    std::error_code ignored;
    const fs::path whole = fs::absolute(file, ignored);
    Config config;
    config.file = file;
    TomlSection root{&document, {}, "", problems};
    const fs::path base = (whole.empty() ? file : whole).parent_path();
    readSettings(root, base, config);
    readFloor(root, config);
    readDemo(root.section("demo"), base, config);
    root.refuseUnknownKeys();
    if (problems.any()) return problems.inOrder();
    return config;
}

Loaded load(const fs::path& file)
{
    const auto unreadable = [&file](std::string why) {
        return std::vector{ConfigProblem{file.string(), 0, 0, {}, std::move(why)}};
    };
    std::error_code ignored;
    if (fs::is_directory(file, ignored)) return unreadable("this is a directory: name the file");
    std::ifstream in{file, std::ios::binary};
    if (!in) return unreadable("cannot be opened: check the name and its permissions");
    std::string text(kMaxFileBytes + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (in.bad()) return unreadable("cannot be read");
    text.resize(static_cast<std::size_t>(in.gcount()));
    return parse(text, file);
}

}  // namespace jackpot::config
