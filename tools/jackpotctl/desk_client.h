// What the commands of jackpotctl that go through the claims desk have in common: where the desk
// is, whom it is asked as, and how an answer is shown.
//
//     int claimsCommand(const std::vector<std::string>& given)
//     {
//         return withDesk("claims", kHelp, given, {{"--pool", Form::Value}},
//                         [](DeskClient& desk, const audit::Arguments& arguments) {
//                             arguments.requirePositional(0, 0, "no argument but its options");
//                             desk.show(desk.get("/api/v1/claims"), "claims",
//                                       {{"TABLE", "table"}, {"ROUND", "round"}});
//                         });
//     }
//
// One thread. What cannot be done ends the command by audit::Stop.
#pragma once

#include <rapidjson/document.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/json_text.h"
#include "tools/jackpot-audit/cli.h"

namespace jackpot::tools {

// Exit statuses of every command that goes through the desk.
inline constexpr int kDeskRefused = 1;      // it may not be, or not so; the reason is printed
inline constexpr int kDeskNotSignedIn = 3;  // jackpotctl login
inline constexpr int kDeskTryAgain = 4;     // busy, locked out, or the journal cannot be written

inline constexpr std::string_view kDeskOptionsHelp =
    R"(  --desk URL          the desk, such as https://jackpot.star.example:7780
  --ca FILE           the authority that certifies the desk
  --config FILE       take both from the daemon's configuration
  --certificate FILE  the own certificate, where the account needs one; its key is FILE with .key, or --key FILE
  --json              the answer as the desk gives it, for programs
  --help              print this

Unless given, the desk and the authority are those of the last login, or JACKPOT_DESK and JACKPOT_DESK_CA.

Exit status: 0 done; 1 refused, and the reason is printed; 2 the command line is wrong, or no desk answers;
3 not signed in (see jackpotctl login); 4 try again later
)";

// What the desk would not do, with the code that programs go by.
class Refused : public audit::Stop {
public:
    Refused(int status, const std::string& message, std::string code)
        : Stop{status, message}, code_{std::move(code)}
    {}
    [[nodiscard]] const std::string& code() const { return code_; }

private:
    std::string code_;
};

class DeskClient {
public:
    explicit DeskClient(const audit::Arguments& arguments);

    // The answer, where the desk has done it. Every other status ends the command.
    rapidjson::Document get(const std::string& path) { return send("GET", path, ""); }
    rapidjson::Document post(const std::string& path, const std::string& json)
    {
        return send("POST", path, json);
    }
    // `json` is empty for none; the answer is null where the desk has no more to say.
    rapidjson::Document send(const std::string& method, const std::string& path,
                             const std::string& json);

    // A report or a proof, as it comes.
    struct Text {
        std::string text;
        bool agrees = true;  // false for a reconciliation that does not
    };
    Text getText(const std::string& path);

    [[nodiscard]] bool wantsJson() const { return wantsJson_; }
    struct Column {
        std::string_view title;
        std::string_view key;  // "round.result_in" is in an object of its own
        bool isMoney = false;  // those at the end stand to the right
    };
    // The objects of the answer's list as a table; with --json the answer as it is.
    void show(const rapidjson::Document& answer, const char* list,
              const std::vector<Column>& columns) const;
    // The fields of one object, a line each; with --json the answer as it is.
    void show(const rapidjson::Document& answer) const;

    // Of this person, in a file that only they can read.
    void keepSession(const std::string& token, const std::string& name);
    void forgetSession();
    [[nodiscard]] const std::string& url() const { return url_; }

private:
    void readSession();
    Text exchange(const std::string& method, const std::string& path, const std::string& json);

    std::string url_;
    std::string ca_;
    std::string certificate_;
    std::string key_;
    std::string token_;
    bool wantsJson_ = false;
};

// Runs a command with the options that all of them take besides its own; prints its help or why it
// ended.
int withDesk(const std::string& command, std::string_view help,
             const std::vector<std::string>& given, std::vector<audit::Option> options,
             const std::function<void(DeskClient&, const audit::Arguments&)>& work);

// What the answer says there: words, figures, a list with commas; an amount as "$1,234.50"; "" for
// nothing.
std::string cellOf(const rapidjson::Value& row, std::string_view key, bool isMoney = false);

bool inputIsTerminal();

// An object with what `write` writes into it.
std::string jsonObject(const std::function<void(storage::JsonText&)>& write);

// "a%2Fb", for a part of a path or a query.
std::string encoded(std::string_view text);

// From the terminal without echo, or a line of standard input.
std::string readPassword(const std::string& prompt);
// The same, asked for twice on a terminal.
std::string readNewPassword(const std::string& prompt);

}  // namespace jackpot::tools
