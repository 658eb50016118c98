// The command line of a program, declared once: parsing, --help and shell completion are made from
// the declarations. CLI11 does the parsing; only the sources of this folder include it.
//
//     cli::Program program{"jackpotctl", JACKPOT_VERSION, "operate the jackpot controller"};
//     auto options = std::make_shared<ClaimsOptions>();
//     program.root().add("claims", "list the jackpots that were won")
//         .choice("--state STATE", options->state, {"held", "paid"}, "only claims in this state")
//         .run([options] { return listClaims(*options); });
//     return program.run({argv + 1, argv + argc});
//
// Options may stand anywhere, as "--from X" or "--from=X"; "--" ends them. Unknown and repeated
// options, missing arguments and empty values are rejected. One thread. The variables that options
// are bound to must live until the program has run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace jackpot::cli {

struct ExitStatus {
    int status;
    std::string_view meaning;
};

struct Range {
    std::uint64_t min;
    std::uint64_t max;
};

// A command, or the program itself. A spec is an option's name and the word for its value in help
// texts: "--state STATE", "-n N".
class Command {
public:
    using Choices = std::vector<std::string>;

    Command(CLI::App& app, std::string path);
    Command(const Command&) = delete;
    Command& operator=(const Command&) = delete;
    ~Command();

    // A command below this one, listed in help below the heading.
    Command& add(const std::string& name, const std::string& summary,
                 const std::string& heading = "Commands");

    // --- help texts
    // Paragraphs are separated by a blank line; a line that begins with a space stays as it is.
    Command& describe(std::string text);
    // Replaces the usage line that is made from the declarations; may be called several times.
    Command& usage(std::string arguments);
    Command& exitStatuses(std::vector<ExitStatus> statuses);
    Command& example(std::string line);
    // The options that follow stand below this heading.
    Command& section(std::string heading);

    // --- options. The variable's value before parsing is the default.
    Command& flag(const std::string& name, bool& target, const std::string& help);
    Command& option(const std::string& spec, std::string& target, const std::string& help);
    Command& option(const std::string& spec, std::optional<std::string>& target,
                    const std::string& help);
    Command& option(const std::string& spec, std::filesystem::path& target,
                    const std::string& help);
    // May be given several times.
    Command& option(const std::string& spec, std::vector<std::string>& target,
                    const std::string& help);
    Command& number(const std::string& spec, std::uint64_t& target, Range range,
                    const std::string& help);
    Command& number(const std::string& spec, std::optional<std::uint64_t>& target, Range range,
                    const std::string& help);
    Command& choice(const std::string& spec, std::string& target, const Choices& choices,
                    const std::string& help);
    Command& choice(const std::string& spec, std::optional<std::string>& target,
                    const Choices& choices, const std::string& help);
    // Known values of the last declared option, for help and completion; others are accepted.
    Command& suggest(const Choices& choices);
    // The last declared option must be given.
    Command& required();
    // At most one of the two may be given.
    Command& exclusive(const std::string& one, const std::string& other);

    // --- arguments that are not options, in this order; all of them must be given
    Command& argument(const std::string& name, std::string& target, const std::string& help = "");
    Command& argument(const std::string& name, std::uint64_t& target, const std::string& help = "");
    Command& argumentChoice(const std::string& name, std::string& target, const Choices& choices,
                            const std::string& help = "");
    // One or more; the last argument.
    Command& arguments(const std::string& name, std::vector<std::string>& target,
                       const std::string& help = "");

    // Does the work and returns the exit status, or throws a CommandError or an AuditError.
    Command& run(std::function<int()> action);

    // Calls what run() was given.
    [[nodiscard]] int execute() const { return action_(); }

    // --- for help and completion
    [[nodiscard]] std::string help() const;
    [[nodiscard]] const CLI::App& app() const { return app_; }
    [[nodiscard]] const std::string& path() const { return path_; }  // "jackpotctl pki init"
    [[nodiscard]] const std::vector<std::unique_ptr<Command>>& commands() const
    {
        return commands_;
    }
    [[nodiscard]] const Command* find(std::string_view name) const;
    // The values that the option takes; empty if there is no list of them.
    [[nodiscard]] const Choices& choicesOf(const CLI::Option& option) const;

private:
    using Store = std::function<void(const std::vector<std::string>&)>;
    CLI::Option& declare(const std::string& spec, const std::string& help, Store store);
    CLI::Option& declareArgument(const std::string& name, const std::string& help, Store store);

    CLI::App& app_;
    std::string path_;
    std::vector<std::unique_ptr<Command>> commands_;
    std::string text_;
    std::vector<std::string> usages_;
    std::vector<ExitStatus> statuses_;
    std::vector<std::string> examples_;
    std::string section_ = "Options";
    CLI::Option* last_ = nullptr;
    std::vector<std::pair<const CLI::Option*, Choices>> choices_;
    std::function<int()> action_;
};

class Program {
public:
    Program(const std::string& name, std::string version, const std::string& summary);
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    ~Program();

    [[nodiscard]] Command& root() { return *root_; }
    [[nodiscard]] const Command& root() const { return *root_; }

    // Sets the variables of the declared options and returns the command that was given. A
    // UsageError, with the --help to read, if the command line is wrong.
    const Command& parse(const std::vector<std::string>& arguments);
    // The exit status for an exception that no command expects.
    void setFaultStatus(int status) { faultStatus_ = status; }
    // Parses, runs the command, prints help, version and errors. Returns the exit status.
    int run(const std::vector<std::string>& arguments);

private:
    bool printHelpOrVersion(const std::vector<std::string>& arguments) const;
    void printError(const std::string& message) const;

    std::string version_;
    int faultStatus_ = 2;
    std::unique_ptr<CLI::App> app_;
    std::unique_ptr<Command> root_;
};

// The script that completes the program's commands, options and choices in bash.
std::string bashCompletion(const Program& program);

}  // namespace jackpot::cli
