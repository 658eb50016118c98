#include "tools/jackpotctl/people_command.h"

#include <unistd.h>

#include <iostream>
#include <map>

#include "base/printable.h"
#include "config/config.h"
#include "net/control_socket.h"
#include "storage/json_read.h"
#include "storage/json_text.h"
#include "tools/jackpot-audit/cli.h"
#include "tools/jackpotctl/desk_client.h"

namespace jackpot::tools {
namespace {

using audit::Arguments;
using audit::Option;
using audit::Stop;
using Given = std::vector<std::string>;

constexpr std::string_view kLoginHelp =
    R"(jackpotctl login - sign in at the claims desk

Usage:
  jackpotctl login [--name NAME] [--desk URL] [--ca FILE]

Asks for the password (without echo; or a line of standard input) and keeps the session in a file that only you can
read, in $XDG_RUNTIME_DIR or ~/.cache, until it expires or jackpotctl logout.

Options:
  --name NAME         who; the system's user unless given
)";

constexpr std::string_view kLogoutHelp =
    R"(jackpotctl logout - end the session, everywhere

Usage:
  jackpotctl logout

Options:
)";

constexpr std::string_view kWhoamiHelp =
    R"(jackpotctl whoami - who is signed in, in which role, and for how long

Usage:
  jackpotctl whoami [--json]

Options:
)";

constexpr std::string_view kUsersHelp =
    R"(jackpotctl users - the people of the claims desk; for administrators

Usage:
  jackpotctl users list
  jackpotctl users add NAME --role ROLE [--fingerprint HEX]   asks for a first password
  jackpotctl users change NAME [--role ROLE] [--fingerprint HEX | --no-fingerprint] [--enable]
                               [--reset-password]
  jackpotctl users disable NAME                               ends their sessions; the name stays taken
  jackpotctl users unlock NAME                                after repeated failures
  jackpotctl users password                                   change your own; for everyone

ROLE is supervisor, surveillance, auditor, inspector or administrator. Passwords are asked for without echo, or read
from standard input, a line each. A first password must be changed at the first login.

Options:
  --role ROLE         what the person may do
  --fingerprint HEX   SHA-256 of the certificate that the person must show
  --no-fingerprint    the person needs no certificate
  --enable            a disabled person may sign in again
  --reset-password    asks for a new first password
)";

constexpr std::string_view kUserHelp =
    R"(jackpotctl user - people of the claims desk, on the machine itself

Usage:
  jackpotctl user add NAME --role ROLE [--config FILE]    such as the first administrator
  jackpotctl user password NAME [--config FILE]           a new password for who has lost theirs
  jackpotctl user unlock NAME [--config FILE]             after repeated failures

Asks the running daemon over its control socket, which only the owner of the journal can open; it is journaled. The
password is asked for without echo, or is a line of standard input. Everything else is jackpotctl users, from
anywhere.

Options:
  --role ROLE    supervisor, surveillance, auditor, inspector or administrator
  --config FILE  the daemon's configuration; /etc/jackpotd/jackpotd.toml unless given
  --help         print this

Exit status: 0 done; 1 refused, and the reason is printed; 2 there is no daemon, or the command line is wrong
)";

int login(const Given& given)
{
    return withDesk(
        "login", kLoginHelp, given, {{"--name", Option::Form::Value}},
        [](DeskClient& desk, const Arguments& arguments) {
            arguments.requirePositional(0, 0, "no argument but its options");
            const char* const user = std::getenv("USER");
            const std::string name = arguments.value("--name").value_or(user ? user : "");
            if (name.empty()) arguments.refuse("who? Give --name");
            const std::string password = readPassword("Password of " + name);
            auto answer =
                desk.post("/api/v1/session?bearer", jsonObject([&](storage::JsonText& json) {
                              json.textField("name", name);
                              json.textField("password", password);
                          }));
            if (!answer.IsObject() || !answer.HasMember("token") || !answer["token"].IsString())
                throw Stop{audit::kBadInput, desk.url() + ": this is no desk"};
            desk.keepSession(answer["token"].GetString(), name);
            answer.RemoveMember("token");
            answer.RemoveMember("csrf");
            desk.show(answer);
            if (storage::flagAt(answer, "must_change_password"))
                std::cerr << "jackpotctl: change the password first: jackpotctl users password\n";
        });
}

int logout(const Given& given)
{
    return withDesk("logout", kLogoutHelp, given, {},
                    [](DeskClient& desk, const Arguments& arguments) {
                        arguments.requirePositional(0, 0, "no argument but its options");
                        try {
                            desk.send("DELETE", "/api/v1/session", "");
                        } catch (const Stop& stop) {
                            if (stop.status() != kDeskNotSignedIn) throw;
                        }
                        desk.forgetSession();
                    });
}

int whoami(const Given& given)
{
    return withDesk("whoami", kWhoamiHelp, given, {},
                    [](DeskClient& desk, const Arguments& arguments) {
                        arguments.requirePositional(0, 0, "no argument but its options");
                        auto answer = desk.get("/api/v1/session");
                        if (answer.IsObject()) answer.RemoveMember("csrf");
                        desk.show(answer);
                    });
}

void changeUser(DeskClient& desk, const Arguments& arguments, const std::string& path)
{
    if (arguments.has("--fingerprint") && arguments.has("--no-fingerprint"))
        arguments.refuse("--fingerprint and --no-fingerprint contradict each other");
    const std::string change = jsonObject([&](storage::JsonText& json) {
        if (const auto role = arguments.value("--role")) json.textField("role", *role);
        if (const auto print = arguments.value("--fingerprint"))
            json.textField("certificate", *print);
        if (arguments.has("--no-fingerprint")) json.textField("certificate", "");
        if (arguments.has("--enable")) json.boolField("disabled", false);
        if (arguments.has("--reset-password"))
            json.textField("password", readNewPassword("New first password"));
    });
    if (change == "{}") arguments.refuse("it takes something to change");
    desk.show(desk.send("PATCH", path, change));
}

void addUser(DeskClient& desk, const Arguments& arguments, const std::string& name)
{
    if (!arguments.has("--role")) arguments.refuse("it takes --role");
    const std::string password = readNewPassword("First password of " + name);
    desk.show(desk.post("/api/v1/people", jsonObject([&](storage::JsonText& json) {
                            json.textField("name", name);
                            json.textField("role", *arguments.value("--role"));
                            json.textField("password", password);
                            if (const auto print = arguments.value("--fingerprint"))
                                json.textField("certificate", *print);
                        })));
}

void ownPassword(DeskClient& desk)
{
    const std::string old = readPassword("Old password");
    const std::string wanted = readNewPassword("New password");
    desk.send("PUT", "/api/v1/session/password", jsonObject([&](storage::JsonText& json) {
                  json.textField("old", old);
                  json.textField("new", wanted);
              }));
}

int users(const Given& given)
{
    const std::vector<Option> options{{"--role", Option::Form::Value},
                                      {"--fingerprint", Option::Form::Value},
                                      {"--no-fingerprint", Option::Form::Flag},
                                      {"--enable", Option::Form::Flag},
                                      {"--reset-password", Option::Form::Flag}};
    return withDesk("users", kUsersHelp, given, options,
                    [](DeskClient& desk, const Arguments& arguments) {
                        const auto& words = arguments.positional();
                        const std::string what = words.empty() ? "" : words[0];
                        const bool named = what != "list" && what != "password";
                        arguments.requirePositional(named ? 2 : 1, named ? 2 : 1,
                                                    named ? "what to do and one NAME" : "no NAME");
                        const std::string path = named ? "/api/v1/people/" + encoded(words[1]) : "";
                        if (what == "list")
                            desk.show(desk.get("/api/v1/people"), "people",
                                      {{"NAME", "name"},
                                       {"ROLE", "role"},
                                       {"DISABLED", "disabled"},
                                       {"MUST CHANGE PASSWORD", "must_change_password"},
                                       {"LOCKED FOR S", "locked_for_s"},
                                       {"CERTIFICATE", "certificate"}});
                        else if (what == "add")
                            addUser(desk, arguments, words[1]);
                        else if (what == "change")
                            changeUser(desk, arguments, path);
                        else if (what == "disable")
                            desk.show(desk.send("DELETE", path, ""));
                        else if (what == "unlock")
                            desk.show(desk.send("POST", path + "/unlock", ""));
                        else if (what == "password")
                            ownPassword(desk);
                        else
                            arguments.refuse("there is no \"" + what + "\"");
                    });
}

int user(const Given& given)
{
    const Arguments arguments{"user",
                              given,
                              {{"--role", Option::Form::Value},
                               {"--config", Option::Form::Value},
                               {"--help", Option::Form::Flag}},
                              "jackpotctl"};
    if (arguments.has("--help")) {
        std::cout << kUserHelp;
        return audit::kGood;
    }
    arguments.requirePositional(2, 2, "what to do and one NAME");
    const std::string& what = arguments.positional()[0];
    const std::string& name = arguments.positional()[1];
    if (what != "add" && what != "password" && what != "unlock")
        arguments.refuse("there is no \"" + what + "\"");
    if (arguments.has("--role") != (what == "add"))
        arguments.refuse(what == "add" ? "it takes --role" : "only add takes --role");
    // It is a word of the request.
    if (name.find_first_of(" \t\r\n") != std::string::npos) arguments.refuse("a name is one word");
    const std::filesystem::path file =
        arguments.value("--config").value_or("/etc/jackpotd/jackpotd.toml");
    const auto config = config::load(file);
    if (!config) {
        for (const config::ConfigProblem& problem : config.error())
            std::cerr << inWords(problem) << "\n";
        return audit::kBadInput;
    }
    std::string request = "user-unlock " + name;
    if (what == "add")
        request = "user-add " + jsonObject([&](storage::JsonText& json) {
                      json.textField("name", name);
                      json.textField("role", *arguments.value("--role"));
                      json.textField("password", readNewPassword("Password of " + name));
                      json.boolField("must_change_password", false);
                  });
    if (what == "password")
        request = "user-change " + name + " " + jsonObject([&](storage::JsonText& json) {
                      json.textField("password", readNewPassword("New password of " + name));
                  });
    const auto answer = net::askDaemon(config->journal.directory, request);
    if (!answer) throw Stop{audit::kBadInput, answer.error().message};
    const bool good = answer->starts_with("ok\n");
    const auto end = answer->find('\n');
    const std::string said = answer->substr(end == std::string::npos ? answer->size() : end + 1);
    (good ? std::cout : std::cerr) << (good ? "" : "jackpotctl: ") << said;
    return good ? audit::kGood : kDeskRefused;
}

}  // namespace

int peopleCommand(const std::string& command, const std::vector<std::string>& given)
{
    try {
        if (command == "login") return login(given);
        if (command == "logout") return logout(given);
        if (command == "whoami") return whoami(given);
        if (command == "users") return users(given);
        return user(given);
    } catch (const audit::Stop& stop) {
        std::cerr << "jackpotctl: " << printable(stop.what()) << "\n";
        return stop.status();
    }
}

}  // namespace jackpot::tools
