// jackpotctl login, logout, whoami, users and user.
#include <cstdlib>
#include <functional>
#include <iostream>

#include "net/control_socket.h"
#include "storage/json_read.h"
#include "storage/json_text.h"
#include "tools/cli/command_error.h"
#include "tools/jackpotctl/commands.h"
#include "tools/jackpotctl/desk_client.h"
#include "tools/jackpotctl/desk_command.h"
#include "tools/jackpotctl/loaded_config.h"

namespace jackpot::ctl {
namespace {

const cli::Command::Choices kRoles{"supervisor", "surveillance", "auditor", "inspector",
                                   "administrator"};

struct PersonOptions : DeskOptions {
    std::string name;
    std::optional<std::string> role;
    std::optional<std::string> fingerprint;
    bool noFingerprint = false;
    bool enable = false;
    bool resetPassword = false;
};

void login(DeskClient& desk, const PersonOptions& options)
{
    const char* const user = std::getenv("USER");
    const std::string name = !options.name.empty() ? options.name : user ? user : "";
    if (name.empty()) throw cli::UsageError{"USER is not set: give --name"};
    const std::string password = readPassword("Password of " + name);
    auto answer = desk.post("/api/v1/session?bearer", jsonObject([&](storage::JsonText& json) {
                                json.textField("name", name);
                                json.textField("password", password);
                            }));
    if (!answer.IsObject() || !answer.HasMember("token") || !answer["token"].IsString())
        throw cli::CommandError{cli::kBadInput, desk.url() + ": this is not a claims desk"};
    desk.keepSession(answer["token"].GetString(), name);
    answer.RemoveMember("token");
    answer.RemoveMember("csrf");
    desk.show(answer);
    if (storage::flagAt(answer, "must_change_password"))
        std::cerr << "jackpotctl: change the password first: jackpotctl users password\n";
}

void logout(DeskClient& desk, const DeskOptions& /*options*/)
{
    try {
        desk.send("DELETE", "/api/v1/session", "");
    } catch (const cli::CommandError& error) {
        if (error.status() != kDeskNotSignedIn) throw;
    }
    desk.forgetSession();
}

void whoami(DeskClient& desk, const DeskOptions& /*options*/)
{
    auto answer = desk.get("/api/v1/session");
    if (answer.IsObject()) answer.RemoveMember("csrf");
    desk.show(answer);
}

std::string pathOf(const PersonOptions& options)
{
    return "/api/v1/people/" + encoded(options.name);
}

void listUsers(DeskClient& desk, const DeskOptions& /*options*/)
{
    desk.show(desk.get("/api/v1/people"), "people",
              {{"NAME", "name"},
               {"ROLE", "role"},
               {"DISABLED", "disabled"},
               {"MUST CHANGE PASSWORD", "must_change_password"},
               {"LOCKED FOR S", "locked_for_s"},
               {"CERTIFICATE", "certificate"}});
}

void addUser(DeskClient& desk, const PersonOptions& options)
{
    const std::string password = readNewPassword("First password of " + options.name);
    desk.show(desk.post("/api/v1/people", jsonObject([&](storage::JsonText& json) {
                            json.textField("name", options.name);
                            json.textField("role", options.role.value());
                            json.textField("password", password);
                            if (options.fingerprint)
                                json.textField("certificate", *options.fingerprint);
                        })));
}

void changeUser(DeskClient& desk, const PersonOptions& options)
{
    const std::string change = jsonObject([&](storage::JsonText& json) {
        if (options.role) json.textField("role", *options.role);
        if (options.fingerprint) json.textField("certificate", *options.fingerprint);
        if (options.noFingerprint) json.textField("certificate", "");
        if (options.enable) json.boolField("disabled", false);
        if (options.resetPassword)
            json.textField("password", readNewPassword("New first password"));
    });
    if (change == "{}") throw cli::UsageError{"it needs an option that changes something"};
    desk.show(desk.send("PATCH", pathOf(options), change));
}

void disableUser(DeskClient& desk, const PersonOptions& options)
{
    desk.show(desk.send("DELETE", pathOf(options), ""));
}

void unlockUser(DeskClient& desk, const PersonOptions& options)
{
    desk.show(desk.send("POST", pathOf(options) + "/unlock", ""));
}

void changeOwnPassword(DeskClient& desk, const DeskOptions& /*options*/)
{
    const std::string old = readPassword("Old password");
    const std::string wanted = readNewPassword("New password");
    desk.send("PUT", "/api/v1/session/password", jsonObject([&](storage::JsonText& json) {
                  json.textField("old", old);
                  json.textField("new", wanted);
              }));
}

void addUsersCommands(cli::Command& program)
{
    cli::Command& users =
        program.add("users", "manage the people of the claims desk", kDeskHeading);
    users.describe(
        "For administrators. Passwords are asked for without echo, or read from standard input, "
        "one "
        "per line. A first password must be changed at the first login.");

    runAtDesk(users.add("list", "list the people"), std::make_shared<DeskOptions>(), listUsers);

    auto added = std::make_shared<PersonOptions>();
    cli::Command& add = users.add("add", "add a person; asks for a first password");
    add.argument("NAME", added->name)
        .option("--role ROLE", added->role, "what the person may do")
        .suggest(kRoles)
        .required()
        .option("--fingerprint HEX", added->fingerprint,
                "SHA-256 of the certificate that the person must present");
    runAtDesk(add, added, addUser);

    auto changed = std::make_shared<PersonOptions>();
    cli::Command& change = users.add("change", "change a person");
    change.argument("NAME", changed->name)
        .option("--role ROLE", changed->role, "what the person may do")
        .suggest(kRoles)
        .option("--fingerprint HEX", changed->fingerprint,
                "SHA-256 of the certificate that the person must present")
        .flag("--no-fingerprint", changed->noFingerprint, "the person needs no certificate")
        .flag("--enable", changed->enable, "a disabled person may sign in again")
        .flag("--reset-password", changed->resetPassword, "ask for a new first password")
        .exclusive("--fingerprint", "--no-fingerprint");
    runAtDesk(change, changed, changeUser);

    auto disabled = std::make_shared<PersonOptions>();
    runAtDesk(users.add("disable", "disable a person and end their sessions; the name stays in use")
                  .argument("NAME", disabled->name),
              disabled, disableUser);

    auto unlocked = std::make_shared<PersonOptions>();
    runAtDesk(users.add("unlock", "unlock a person after repeated failures")
                  .argument("NAME", unlocked->name),
              unlocked, unlockUser);

    runAtDesk(users.add("password", "change your own password; for everyone"),
              std::make_shared<DeskOptions>(), changeOwnPassword);
}

// --- on the daemon's machine
// ----------------------------------------------------------------------------------------

struct LocalUserOptions {
    std::string name;
    std::string role;
    std::filesystem::path config = kDefaultConfig;
};

int sendToDaemon(const LocalUserOptions& options, const std::function<std::string()>& makeRequest)
{
    // The name is a word of the request.
    if (options.name.find_first_of(" \t\r\n") != std::string::npos)
        throw cli::UsageError{"a name is one word"};
    const config::Config config = loadedConfig(options.config);
    const auto answer = net::askDaemon(config.journal.directory, makeRequest());
    if (!answer) throw cli::CommandError{cli::kBadInput, answer.error().message};
    const bool good = answer->starts_with("ok\n");
    const auto end = answer->find('\n');
    const std::string text = answer->substr(end == std::string::npos ? answer->size() : end + 1);
    (good ? std::cout : std::cerr) << (good ? "" : "jackpotctl: ") << text;
    return good ? cli::kSuccess : kDeskRefused;
}

int addLocalUser(const LocalUserOptions& options)
{
    return sendToDaemon(options, [&] {
        return "user-add " + jsonObject([&](storage::JsonText& json) {
                   json.textField("name", options.name);
                   json.textField("role", options.role);
                   json.textField("password", readNewPassword("Password of " + options.name));
                   json.boolField("must_change_password", false);
               });
    });
}

int setLocalPassword(const LocalUserOptions& options)
{
    return sendToDaemon(options, [&] {
        return "user-change " + options.name + " " + jsonObject([&](storage::JsonText& json) {
                   json.textField("password", readNewPassword("New password of " + options.name));
               });
    });
}

int unlockLocalUser(const LocalUserOptions& options)
{
    return sendToDaemon(options, [&] { return "user-unlock " + options.name; });
}

cli::Command& addLocalUserCommand(cli::Command& user, std::shared_ptr<LocalUserOptions> options,
                                  const std::string& name, const std::string& summary,
                                  int (*work)(const LocalUserOptions&))
{
    return user.add(name, summary)
        .argument("NAME", options->name)
        .option("--config FILE", options->config, "the daemon's configuration")
        .exitStatuses({{0, "done"},
                       {1, "refused; the reason is printed"},
                       {2, "no daemon answers, or the command line is wrong"}})
        .run([options, work] { return work(*options); });
}

}  // namespace

void addPeopleCommands(cli::Command& program)
{
    auto who = std::make_shared<PersonOptions>();
    cli::Command& loginCommand = program.add("login", "sign in at the claims desk", kDeskHeading);
    loginCommand
        .describe(
            "Asks for the password (without echo; or reads a line of standard input) and stores "
            "the "
            "session in a file that only you can read, in $XDG_RUNTIME_DIR or ~/.cache, until it "
            "expires or you run jackpotctl logout.")
        .option("--name NAME", who->name, "your name at the desk; the system's user unless given");
    runAtDesk(loginCommand, who, login);

    runAtDesk(program.add("logout", "end the session, on every machine", kDeskHeading),
              std::make_shared<DeskOptions>(), logout);
    runAtDesk(
        program.add("whoami", "print who is signed in, the role, and for how long", kDeskHeading),
        std::make_shared<DeskOptions>(), whoami);
    addUsersCommands(program);
}

void addUserCommands(cli::Command& program)
{
    cli::Command& user = program.add("user", "add and unlock people of the desk", kDaemonHeading);
    user.describe(
        "Sends the request to the running daemon over its control socket, which only the owner of "
        "the journal can open; it is journaled. The password is asked for without echo, or read "
        "from standard input. For everything else see jackpotctl users.");
    auto added = std::make_shared<LocalUserOptions>();
    addLocalUserCommand(user, added, "add", "add a person, such as the first administrator",
                        addLocalUser)
        .option("--role ROLE", added->role, "what the person may do")
        .suggest(kRoles)
        .required()
        .example("jackpotctl user add ann --role administrator");
    addLocalUserCommand(user, std::make_shared<LocalUserOptions>(), "password",
                        "set a new password for a person who has lost it", setLocalPassword);
    addLocalUserCommand(user, std::make_shared<LocalUserOptions>(), "unlock",
                        "unlock a person after repeated failures", unlockLocalUser);
}

}  // namespace jackpot::ctl
