// jackpotctl login, logout, whoami and users.
#include <cstdlib>
#include <iostream>

#include "storage/json_read.h"
#include "storage/json_text.h"
#include "tools/cli/command_error.h"
#include "tools/jackpotctl/commands.h"
#include "tools/jackpotctl/desk_client.h"
#include "tools/jackpotctl/desk_command.h"

namespace jackpot::ctl {
namespace {

const cli::Command::Choices kRoles{"supervisor", "surveillance", "auditor", "inspector",
                                   "administrator"};

struct SessionOptions : DeskOptions {
    SessionOptions() { isAboutSession = true; }
    std::string name;
};

struct PersonOptions : DeskOptions {
    std::string name;
    std::optional<std::string> role;
    std::optional<std::string> fingerprint;
    bool noFingerprint = false;
    bool enable = false;
    bool resetPassword = false;
};

void login(DeskClient& desk, const SessionOptions& options)
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

void logout(DeskClient& desk, const SessionOptions& /*options*/)
{
    try {
        desk.send("DELETE", "/api/v1/session", "");
    } catch (const cli::CommandError& error) {
        if (error.status() != kDeskNotSignedIn) throw;
    }
    desk.forgetSession();
}

void whoami(DeskClient& desk, const SessionOptions& /*options*/)
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
                            // The owner of the machine sets the password that stays.
                            if (desk.isLocal()) json.boolField("must_change_password", false);
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

void changeOwnPassword(DeskClient& desk, const SessionOptions& /*options*/)
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
        "For administrators; and with --config or --journal for the owner of the daemon's machine, "
        "who adds the first administrator and helps when all are locked. Passwords are asked for "
        "without echo, or read from standard input, one per line. A first password must be changed "
        "at the first login, unless the owner of the machine has added the person.");

    runAtDesk(users.add("list", "list the people"), std::make_shared<DeskOptions>(), listUsers);

    auto added = std::make_shared<PersonOptions>();
    cli::Command& add = users.add("add", "add a person; asks for a first password");
    add.argument("NAME", added->name)
        .option("--role ROLE", added->role, "what the person may do")
        .suggest(kRoles)
        .required()
        .option("--fingerprint HEX", added->fingerprint,
                "SHA-256 of the certificate that the person must present")
        .example("jackpotctl users add ann --role administrator --config " +
                 std::string{kDefaultConfig});
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
              std::make_shared<SessionOptions>(), changeOwnPassword);
}

}  // namespace

void addPeopleCommands(cli::Command& program)
{
    auto who = std::make_shared<SessionOptions>();
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
              std::make_shared<SessionOptions>(), logout);
    runAtDesk(
        program.add("whoami", "print who is signed in, the role, and for how long", kDeskHeading),
        std::make_shared<SessionOptions>(), whoami);
    addUsersCommands(program);
}

}  // namespace jackpot::ctl
