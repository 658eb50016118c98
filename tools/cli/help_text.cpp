// The text that --help prints, at most 80 columns wide.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "tools/cli/command_line.h"
#include "tools/cli/phrases.h"

namespace jackpot::cli {
namespace {

constexpr std::size_t kWidth = 80;
constexpr char kNoBreak = '\x01';
constexpr std::size_t kMaxNameWidth = 26;
constexpr std::size_t kMaxCommandWidth = 32;

using Rows = std::vector<std::pair<std::string, std::string>>;

// Breaks the text between words. The first line begins at column `at`, the others at `indent`.
std::string wrapped(const std::string& text, std::size_t at, std::size_t indent)
{
    std::string out;
    std::istringstream words{text};
    bool isFirst = true;
    for (std::string word; words >> word;) {
        if (!isFirst && at + 1 + word.size() > kWidth) {
            out += "\n" + std::string(indent, ' ');
            at = indent;
        } else if (!isFirst) {
            out += " ";
            ++at;
        }
        out += word;
        at += word.size();
        isFirst = false;
    }
    std::ranges::replace(out, kNoBreak, ' ');
    return out + "\n";
}

std::string paragraphs(const std::string& text)
{
    std::string out;
    std::string paragraph;
    const auto flush = [&] {
        if (!paragraph.empty()) out += wrapped(paragraph, 0, 0);
        paragraph.clear();
    };
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line.starts_with(' ')) {
            flush();
            out += line + "\n";
        } else {
            paragraph += line + " ";
        }
    }
    flush();
    return out;
}

// The longest name that is not wider than `limit`.
std::size_t nameWidth(const Rows& rows, std::size_t limit)
{
    std::size_t width = 0;
    for (const auto& [name, text] : rows)
        if (name.size() <= limit) width = std::max(width, name.size());
    return width;
}

std::string table(const Rows& rows, std::size_t width)
{
    const std::size_t column = width + 4;
    std::string out;
    for (const auto& [name, text] : rows) {
        out += "  " + name;
        if (text.empty()) {
            out += "\n";
        } else if (name.size() > width) {
            out += "\n" + std::string(column, ' ') + wrapped(text, column, column);
        } else {
            out += std::string(column - 2 - name.size(), ' ') + wrapped(text, column, column);
        }
    }
    return out;
}

std::string argumentName(const Command& command, const CLI::Option& option)
{
    std::string name;
    for (const std::string& each : command.choicesOf(option))
        name += (name.empty() ? "" : "|") + each;
    if (name.empty()) name = option.get_name(true);
    return name + (option.get_items_expected_max() > 1 ? "..." : "");
}

std::string optionName(const CLI::Option& option)
{
    const std::string value = option.get_type_name();
    return option.get_name(false, true) +
           (option.get_items_expected_max() == 0 || value.empty() ? "" : " " + value);
}

// Keeps an option and its value on one line; wrapped() turns the mark into a space.
std::string unbroken(std::string text)
{
    std::ranges::replace(text, ' ', kNoBreak);
    return text;
}

// " TABLE ROUND --seat N [OPTIONS]": the arguments and the options that must be given.
std::string usageOf(const Command& command)
{
    if (!command.commands().empty()) return "COMMAND ...";
    std::string usage;
    bool hasOthers = false;
    for (const CLI::Option* option : command.app().get_options())
        if (option->get_positional()) usage += argumentName(command, *option) + " ";
    for (const CLI::Option* option : command.app().get_options()) {
        if (option->get_positional()) continue;
        if (option->get_required())
            usage += unbroken(optionName(*option)) + " ";
        else
            hasOthers = true;
    }
    if (hasOthers) usage += "[OPTIONS]";
    while (usage.ends_with(' ')) usage.pop_back();
    return usage;
}

// What follows the name in the list of commands.
std::string argumentsInList(const Command& command)
{
    if (!command.commands().empty()) return " COMMAND ...";
    std::string arguments;
    for (const CLI::Option* option : command.app().get_options())
        if (option->get_positional()) arguments += " " + argumentName(command, *option);
    return arguments;
}

std::string commandList(const Command& command)
{
    std::vector<std::pair<std::string, Rows>> lists;
    std::size_t width = 0;
    for (const auto& each : command.commands()) {
        const std::string heading = each->app().get_group();
        auto list = std::ranges::find(lists, heading, &std::pair<std::string, Rows>::first);
        if (list == lists.end()) list = lists.insert(list, {heading, {}});
        list->second.emplace_back(each->path() + argumentsInList(*each),
                                  each->app().get_description());
        width = std::max(width, nameWidth(list->second, kMaxCommandWidth));
    }
    std::string out;
    for (const auto& [heading, rows] : lists) out += "\n" + heading + ":\n" + table(rows, width);
    return out;
}

std::string optionList(const Command& command)
{
    std::vector<std::string> headings;
    for (const CLI::Option* option : command.app().get_options())
        if (std::ranges::find(headings, option->get_group()) == headings.end())
            headings.push_back(option->get_group());
    if (std::ranges::find(headings, "Options") == headings.end()) headings.emplace_back("Options");
    // The arguments come before the options.
    std::ranges::stable_partition(headings, [](const auto& each) { return each == "Arguments"; });
    std::string out;
    for (const std::string& heading : headings) {
        Rows rows;
        for (const CLI::Option* option : command.app().get_options()) {
            if (option->get_group() != heading) continue;
            if (option->get_positional() && option->get_description().empty()) continue;
            std::string text = option->get_description();
            if (const std::string normal = option->get_default_str(); !normal.empty())
                text += " (default " + normal + ")";
            rows.emplace_back(
                option->get_positional() ? option->get_name(true) : optionName(*option), text);
        }
        if (heading == headings.back()) rows.emplace_back("-h, --help", "print this help");
        if (!rows.empty())
            out += "\n" + heading + ":\n" + table(rows, nameWidth(rows, kMaxNameWidth));
    }
    return out;
}

}  // namespace

std::string Command::help() const
{
    std::string out = wrapped(path_ + " - " + app_.get_description(), 0, 4) + "\nUsage:\n";
    const std::size_t indent = 2 + path_.size() + 1;
    for (const std::string& each : usages_.empty() ? std::vector{usageOf(*this)} : usages_)
        out += wrapped("  " + path_ + " " + each, 2, std::min<std::size_t>(indent, 24))
                   .insert(0, "  ");
    if (!text_.empty()) out += "\n" + paragraphs(text_);
    if (!commands_.empty()) out += commandList(*this);
    out += optionList(*this);
    if (!statuses_.empty()) {
        Rows rows;
        for (const ExitStatus& each : statuses_)
            rows.emplace_back(std::to_string(each.status), each.meaning);
        out += "\nExit status:\n" + table(rows, nameWidth(rows, kMaxNameWidth));
    }
    if (!examples_.empty()) out += "\nExamples:\n";
    for (const std::string& each : examples_) out += "  " + each + "\n";
    return out;
}

}  // namespace jackpot::cli
