// What the commands of jackpotctl that ask a running daemon share: its address, the session, and
// how an answer is printed. There are two ways to the same API: HTTPS as a person who is signed in
// at the claims desk, or the socket in the journal's directory as the owner of the machine.
//
//     struct ClaimsOptions : DeskOptions {
//         std::optional<std::string> pool;
//     };
//     void listClaims(DeskClient& desk, const ClaimsOptions& options);
//
//     auto options = std::make_shared<ClaimsOptions>();
//     cli::Command& command = program.add("claims", "list the jackpots that were won");
//     command.option("--pool POOL", options->pool, "only this pool");
//     runAtDesk(command, options, listClaims);
//
// One thread. Errors end the command by a CommandError.
#pragma once

#include <rapidjson/document.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "storage/json_text.h"
#include "tools/cli/command_error.h"
#include "tools/cli/command_line.h"

namespace jackpot::ctl {

// Exit statuses of every command that asks a daemon.
inline constexpr int kDeskRefused = 1;      // the desk has refused it; the reason is printed
inline constexpr int kDeskNotSignedIn = 3;  // run jackpotctl login first
inline constexpr int kDeskTryAgain = 4;     // busy, locked out, or the journal cannot be written

// --journal or --config selects the socket, unless there is --desk.
struct DeskOptions {
    std::string url;
    std::string ca;
    std::string config;
    std::string journal;
    std::string certificate;
    std::string key;
    bool json = false;
    bool isAboutSession = false;  // always HTTPS: --config only has the address of the desk
};
// Those of both ways.
void addDeskOptions(cli::Command& command, DeskOptions& options);
// For a command of the owner of the machine alone.
void addSocketOptions(cli::Command& command, DeskOptions& options);

// The desk has refused the request; `code` is the machine-readable reason.
class DeskRefusal : public cli::CommandError {
public:
    DeskRefusal(int status, const std::string& message, std::string code)
        : CommandError{status, message}, code_{std::move(code)}
    {}
    [[nodiscard]] const std::string& code() const { return code_; }

private:
    std::string code_;
};

class DeskClient {
public:
    explicit DeskClient(const DeskOptions& options);

    // The answer to a request that succeeded. Every other status ends the command.
    rapidjson::Document get(const std::string& path) { return send("GET", path, ""); }
    rapidjson::Document post(const std::string& path, const std::string& json)
    {
        return send("POST", path, json);
    }
    // `json` is empty for a request without a body; the answer is null if it has no body.
    rapidjson::Document send(const std::string& method, const std::string& path,
                             const std::string& json);

    // A report or a proof, as the desk sends it.
    struct Text {
        std::string text;
        bool agrees = true;  // false for a reconciliation that does not agree
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

    // Stores the session in a file that only this user can read.
    void keepSession(const std::string& token, const std::string& name);
    void forgetSession();
    [[nodiscard]] const std::string& url() const { return url_; }
    // True on the socket: the person is the owner of the machine.
    [[nodiscard]] bool isLocal() const { return !socket_.empty(); }

private:
    void takeAddressFrom(const std::string& config);
    void readSession();
    Text exchange(const std::string& method, const std::string& path, const std::string& json);

    std::filesystem::path socket_;  // empty for HTTPS
    std::string url_;
    std::string ca_;
    std::string certificate_;
    std::string key_;
    std::string token_;
    bool wantsJson_ = false;
};

// Calls `work` with a client for these options. Returns the exit status.
int withDesk(const DeskOptions& options, const std::function<int(DeskClient&)>& work);

// Declares the work of the command, which returns the exit status or nothing.
template <class Options, class Outcome>
void runWithDesk(cli::Command& command, std::shared_ptr<Options> options,
                 Outcome (*work)(DeskClient&, const Options&))
{
    command.run([options = std::move(options), work] {
        return withDesk(*options, [&](DeskClient& desk) {
            if constexpr (std::is_same_v<Outcome, int>) return work(desk, *options);
            work(desk, *options);
            return cli::kSuccess;
        });
    });
}

// Declares the desk's options of the command too.
template <class Options, class Outcome>
void runAtDesk(cli::Command& command, std::shared_ptr<Options> options,
               Outcome (*work)(DeskClient&, const Options&))
{
    addDeskOptions(command, *options);
    runWithDesk(command, std::move(options), work);
}

// The value as compact JSON.
std::string jsonOf(const rapidjson::Value& value);

// The field as text: words, figures, a list with commas; an amount as "$1,234.50"; "" if it is
// absent.
std::string cellOf(const rapidjson::Value& row, std::string_view key, bool isMoney = false);

bool inputIsTerminal();

// An object with the fields that `write` writes.
std::string jsonObject(const std::function<void(storage::JsonText&)>& write);

// Percent-encodes a part of a path or a query: "a%2Fb".
std::string encoded(std::string_view text);

// Reads from the terminal without echo, or a line of standard input.
std::string readPassword(const std::string& prompt);
// Like readPassword(), but asks twice on a terminal.
std::string readNewPassword(const std::string& prompt);

}  // namespace jackpot::ctl
