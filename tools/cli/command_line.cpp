#include "tools/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <limits>
#include <utility>

#include "base/encoding.h"
#include "base/printable.h"
#include "tools/cli/command_error.h"
#include "tools/cli/output.h"
#include "tools/cli/phrases.h"

namespace jackpot::cli {
namespace {

using Arguments = std::vector<std::string>;

constexpr int kAnyNumber = 1 << 20;
constexpr std::uint64_t kMaxNumber = std::numeric_limits<std::int64_t>::max();

bool isHelp(const std::string& argument) { return argument == "--help" || argument == "-h"; }

void requireText(const std::string& name, const std::string& value)
{
    if (value.find_first_not_of(" \t") == std::string::npos) throw UsageError{name + " is empty"};
}

std::uint64_t numberIn(const std::string& name, const std::string& text, Range range)
{
    const auto number = parseDecimal(text);
    if (number && *number >= range.min && *number <= range.max) return *number;
    const std::string what = range.max >= kMaxNumber
                                 ? " takes a whole number"
                                 : " takes a number from " + std::to_string(range.min) + " to " +
                                       std::to_string(range.max);
    throw UsageError{name + what + ", not \"" + text + "\"" +
                     (number ? "" : ": " + number.error().message)};
}

std::string choiceIn(const std::string& name, const std::string& text,
                     const Command::Choices& choices)
{
    if (std::ranges::find(choices, text) != choices.end()) return text;
    throw UsageError{name + " takes " + listed(choices, "or") + ", not \"" + text + "\""};
}

// "--state STATE" is the option --state with a value that help texts call STATE.
std::pair<std::string, std::string> split(const std::string& spec)
{
    const auto space = spec.find(' ');
    if (space == std::string::npos) return {spec, ""};
    return {spec.substr(0, space), spec.substr(space + 1)};
}

// "TABLE and ROUND", "one FILE", "no arguments"
std::string argumentsOf(const CLI::App& app)
{
    std::vector<std::string> names;
    bool several = false;
    for (const CLI::Option* each :
         app.get_options([](const CLI::Option* option) { return option->get_positional(); })) {
        names.push_back(each->get_name(true));
        several = each->get_items_expected_max() > 1;
    }
    if (names.empty()) return "no arguments";
    return (names.size() == 1 && !several ? "one " : "") + listed(names, "and");
}

std::string commandsOf(const Command& command)
{
    std::vector<std::string> names;
    for (const auto& each : command.commands()) names.push_back(each->app().get_name());
    return listed(names, "or");
}

bool looksLikeOption(const std::string& argument)
{
    return argument.size() > 1 && argument[0] == '-' && (argument[1] < '0' || argument[1] > '9');
}

// What is wrong with the command line, given that CLI11 did not accept it.
std::string messageOf(const Command& command, const CLI::ParseError& error, const Arguments& given)
{
    const CLI::App& app = command.app();
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
        for (const CLI::Option* option : app.get_options()) {
            const bool isOnce = option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw;
            if (isOnce && option->count() > 1 && !option->get_positional())
                return option->get_name() + " is given twice";
        }
        if (error.get_name() == "ArgumentMismatch")
            for (const std::string& each : given) {
                const auto equals = each.find('=');
                const CLI::Option* option = equals == std::string::npos
                                                ? nullptr
                                                : app.get_option_no_throw(each.substr(0, equals));
                if (option != nullptr && option->get_items_expected_max() == 0)
                    return option->get_name() + " takes no value";
            }
        return given.back() + " takes a value";
    }
    if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
        if (!command.commands().empty()) return "it takes " + commandsOf(command);
        for (const CLI::Option* option : app.get_options())
            if (option->get_required() && option->count() == 0)
                return option->get_positional() ? "it takes " + argumentsOf(app)
                                                : option->get_name() + " is required";
    }
    return error.what();
}

// The first argument that belongs to no declared option or argument; empty if there is none.
std::string surplusOf(const CLI::App& root)
{
    for (const std::string& each : root.remaining(true))
        if (each != "--") return each;
    return "";
}

std::string messageOfSurplus(const Command& command, const std::string& argument)
{
    if (!command.commands().empty())
        return "unknown command \"" + argument + "\": it takes " + commandsOf(command);
    if (looksLikeOption(argument))
        return "unknown option " + argument.substr(0, argument.find('='));
    return "unexpected argument \"" + argument + "\": it takes " + argumentsOf(command.app());
}

void print(const std::string& text)
{
    FileOutput out;
    out.write(text);
    out.commit();
}

}  // namespace

int exitStatusOf(audit::AuditErrorKind kind)
{
    switch (kind) {
        case audit::DoesNotVerify: return kDoesNotVerify;
        case audit::Unreadable: return kBadInput;
        case audit::Interrupted: return kInterrupted;
    }
    return kBadInput;
}

// --- Command
// -----------------------------------------------------------------------------------------

Command::Command(CLI::App& app, std::string path) : app_{app}, path_{std::move(path)}
{
    // --help works in any place, also beside mistakes; CLI11's own flag does not.
    app_.set_help_flag();
}

Command::~Command() = default;

Command& Command::add(const std::string& name, const std::string& summary,
                      const std::string& heading)
{
    app_.require_subcommand(1);
    CLI::App* const app = app_.add_subcommand(name, summary);
    app->group(heading);
    return *commands_.emplace_back(std::make_unique<Command>(*app, path_ + " " + name));
}

Command& Command::describe(std::string text)
{
    text_ = std::move(text);
    return *this;
}

Command& Command::usage(std::string arguments)
{
    usages_.push_back(std::move(arguments));
    return *this;
}

Command& Command::exitStatuses(std::vector<ExitStatus> statuses)
{
    statuses_ = std::move(statuses);
    return *this;
}

Command& Command::example(std::string line)
{
    examples_.push_back(std::move(line));
    return *this;
}

Command& Command::section(std::string heading)
{
    section_ = std::move(heading);
    return *this;
}

CLI::Option& Command::declare(const std::string& spec, const std::string& help, Store store)
{
    const auto [name, value] = split(spec);
    CLI::Option* const option = app_.add_option(
        name,
        [name = name, store = std::move(store)](const CLI::results_t& results) {
            for (const std::string& each : results) requireText(name, each);
            store(results);
            return true;
        },
        help);
    option->type_name(value)->group(section_);
    last_ = option;
    return *option;
}

CLI::Option& Command::declareArgument(const std::string& name, const std::string& help, Store store)
{
    CLI::Option& option = declare(name, help, std::move(store));
    option.required()->group("Arguments");
    return option;
}

Command& Command::flag(const std::string& name, bool& target, const std::string& help)
{
    last_ = app_.add_flag_function(
                    name, [&target](std::int64_t /*count*/) { target = true; }, help)
                ->disable_flag_override()
                ->multi_option_policy(CLI::MultiOptionPolicy::Throw)
                ->group(section_);
    return *this;
}

Command& Command::option(const std::string& spec, std::string& target, const std::string& help)
{
    declare(spec, help, [&target](const Arguments& values) {
        target = values.front();
    }).default_str(target);
    return *this;
}

Command& Command::option(const std::string& spec, std::optional<std::string>& target,
                         const std::string& help)
{
    declare(spec, help, [&target](const Arguments& values) { target = values.front(); });
    return *this;
}

Command& Command::option(const std::string& spec, std::filesystem::path& target,
                         const std::string& help)
{
    declare(spec, help, [&target](const Arguments& values) {
        target = values.front();
    }).default_str(target.string());
    return *this;
}

Command& Command::option(const std::string& spec, std::vector<std::string>& target,
                         const std::string& help)
{
    declare(spec, help + "; may be given several times", [&target](const Arguments& values) {
        target = values;
    }).multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    return *this;
}

Command& Command::number(const std::string& spec, std::uint64_t& target, Range range,
                         const std::string& help)
{
    const std::string limits = range.max >= kMaxNumber ? ""
                                                       : "; " + std::to_string(range.min) + " to " +
                                                             std::to_string(range.max);
    declare(spec, help + limits,
            [&target, range, name = split(spec).first](const Arguments& values) {
                target = numberIn(name, values.front(), range);
            })
        .default_str(std::to_string(target));
    return *this;
}

Command& Command::number(const std::string& spec, std::optional<std::uint64_t>& target, Range range,
                         const std::string& help)
{
    const std::string limits = range.max >= kMaxNumber ? ""
                                                       : "; " + std::to_string(range.min) + " to " +
                                                             std::to_string(range.max);
    declare(spec, help + limits,
            [&target, range, name = split(spec).first](const Arguments& values) {
                target = numberIn(name, values.front(), range);
            });
    return *this;
}

Command& Command::choice(const std::string& spec, std::string& target, const Choices& choices,
                         const std::string& help)
{
    CLI::Option& option =
        declare(spec, help + ": " + listed(choices, "or"),
                [&target, choices, name = split(spec).first](const Arguments& values) {
                    target = choiceIn(name, values.front(), choices);
                });
    option.default_str(target);
    choices_.emplace_back(&option, choices);
    return *this;
}

Command& Command::choice(const std::string& spec, std::optional<std::string>& target,
                         const Choices& choices, const std::string& help)
{
    CLI::Option& option =
        declare(spec, help + ": " + listed(choices, "or"),
                [&target, choices, name = split(spec).first](const Arguments& values) {
                    target = choiceIn(name, values.front(), choices);
                });
    choices_.emplace_back(&option, choices);
    return *this;
}

Command& Command::suggest(const Choices& choices)
{
    last_->description(last_->get_description() + ": " + listed(choices, "or"));
    choices_.emplace_back(last_, choices);
    return *this;
}

Command& Command::required()
{
    last_->required();
    return *this;
}

Command& Command::exclusive(const std::string& one, const std::string& other)
{
    app_.get_option(one)->excludes(app_.get_option(other));
    return *this;
}

Command& Command::argument(const std::string& name, std::string& target, const std::string& help)
{
    declareArgument(name, help, [&target](const Arguments& values) { target = values.front(); });
    return *this;
}

Command& Command::argument(const std::string& name, std::uint64_t& target, const std::string& help)
{
    declareArgument(name, help, [&target, name](const Arguments& values) {
        target = numberIn(name, values.front(), {0, kMaxNumber});
    });
    return *this;
}

Command& Command::argumentChoice(const std::string& name, std::string& target,
                                 const Choices& choices, const std::string& help)
{
    CLI::Option& option =
        declareArgument(name, help, [&target, choices, name](const Arguments& values) {
            target = choiceIn(name, values.front(), choices);
        });
    choices_.emplace_back(&option, choices);
    return *this;
}

Command& Command::arguments(const std::string& name, std::vector<std::string>& target,
                            const std::string& help)
{
    declareArgument(name, help, [&target](const Arguments& values) { target = values; })
        .expected(1, kAnyNumber)
        ->allow_extra_args();
    return *this;
}

Command& Command::run(std::function<int()> action)
{
    action_ = std::move(action);
    return *this;
}

const Command* Command::find(std::string_view name) const
{
    for (const auto& each : commands_)
        if (each->app().get_name() == name) return each.get();
    return nullptr;
}

const Command::Choices& Command::choicesOf(const CLI::Option& option) const
{
    static const Choices kNone;
    for (const auto& [declared, choices] : choices_)
        if (declared == &option) return choices;
    return kNone;
}

// --- Program
// -----------------------------------------------------------------------------------------

Program::Program(const std::string& name, std::string version, const std::string& summary)
    : version_{std::move(version)},
      app_{std::make_unique<CLI::App>(summary, name)},
      root_{std::make_unique<Command>(*app_, name)}
{}

Program::~Program() = default;

const Command& Program::parse(const Arguments& arguments)
{
    const Command* command = root_.get();
    const auto findCommand = [&] {
        command = root_.get();
        for (const CLI::App* app = app_.get(); !app->get_subcommands().empty();) {
            app = app->get_subcommands().front();
            command = command->find(app->get_name());
        }
    };
    const auto fail = [&](const std::string& message) {
        findCommand();
        const std::string surplus = surplusOf(*app_);
        throw UsageError{(surplus.empty() ? message : messageOfSurplus(*command, surplus)) +
                         " (see " + command->path() + " --help)"};
    };
    // CLI11 would take the next argument as the value.
    for (const std::string& each : arguments) {
        if (each == "--") break;
        if (each.starts_with("--") && each.find('=') == each.size() - 1)
            fail(each.substr(0, each.size() - 1) + " is empty");
    }
    try {
        Arguments reversed{arguments.rbegin(), arguments.rend()};
        app_->parse(reversed);
    } catch (const CLI::ParseError& error) {
        findCommand();
        fail(messageOf(*command, error, arguments));
    } catch (const UsageError& error) {
        fail(error.what());
    }
    findCommand();
    return *command;
}

bool Program::printHelpOrVersion(const Arguments& arguments) const
{
    const Command* command = root_.get();
    bool isPath = true;
    for (const std::string& each : arguments) {
        if (each == "--") return false;
        if (each == "--version" && command == root_.get()) {
            print(app_->get_name() + " " + version_ + "\n");
            return true;
        }
        const Command* const next = isPath ? command->find(each) : nullptr;
        isPath = next != nullptr;
        if (isPath) command = next;
        if (isHelp(each) || (!isPath && each == "help" && !command->commands().empty())) {
            print(command->help());
            return true;
        }
    }
    return false;
}

void Program::printError(const std::string& message) const
{
    std::cout << std::flush;
    std::cerr << app_->get_name() << ": " << printable(message) << "\n";
}

int Program::run(const Arguments& arguments)
{
    std::string path;
    try {
        if (printHelpOrVersion(arguments)) return kSuccess;
        if (arguments.empty() && !root_->commands().empty()) {
            printError("a command is required (see " + root_->path() + " --help)");
            return kBadInput;
        }
        const Command& command = parse(arguments);
        path = command.path();
        const int status = command.execute();
        std::cout.flush();
        if (!std::cout) throw CommandError{kBadInput, "standard output cannot be written"};
        return status;
    } catch (const UsageError& error) {
        // parse() has named the --help already.
        printError(path.empty() ? error.what() : error.what() + (" (see " + path + " --help)"));
        return error.status();
    } catch (const CommandError& error) {
        printError(error.what());
        return error.status();
    } catch (const audit::AuditError& error) {
        printError(error.what());
        return exitStatusOf(error.kind());
    } catch (const std::exception& error) {
        printError(std::string{"a fault of the program itself: "} + error.what());
        return faultStatus_;
    }
}

}  // namespace jackpot::cli
