#include "tools/jackpotctl/desk_client.h"

#include <fcntl.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include "base/printable.h"
#include "net/https_client.h"
#include "net/socket.h"
#include "storage/json_read.h"
#include "storage/json_text.h"
#include "tools/cli/output.h"
#include "tools/cli/read_file.h"
#include "tools/jackpotctl/loaded_config.h"

namespace jackpot::ctl {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kRequestTimeout{30};
constexpr std::size_t kMaxAnswerBytes = 64U << 20U;
constexpr std::size_t kMaxSessionBytes = 64U << 10U;
constexpr std::size_t kMaxPasswordBytes = 1024;

std::string environment(const char* name)
{
    const char* const value = std::getenv(name);
    return value ? value : "";
}

fs::path sessionFile()
{
    if (const std::string runtime = environment("XDG_RUNTIME_DIR"); !runtime.empty())
        return fs::path{runtime} / "jackpotctl" / "session";
    if (const std::string home = environment("HOME"); !home.empty())
        return fs::path{home} / ".cache" / "jackpotctl" / "session";
    throw cli::CommandError{cli::kBadInput,
                            "a session is kept in XDG_RUNTIME_DIR or HOME: set one of them"};
}

std::string textIn(const rapidjson::Value& value)
{
    if (value.IsString()) return std::string{storage::viewOf(value)};
    if (value.IsBool()) return value.GetBool() ? "yes" : "no";
    if (value.IsInt64()) return std::to_string(value.GetInt64());
    if (value.IsNull()) return "";
    if (value.IsArray()) {
        std::string list;
        for (const auto& each : value.GetArray()) list += (list.empty() ? "" : ", ") + textIn(each);
        return list;
    }
    return "...";
}

[[noreturn]] void refuse(int status, const std::string& body)
{
    rapidjson::Document json;
    json.Parse<rapidjson::kParseIterativeFlag>(body.data(), body.size());
    std::string message = "the daemon answered " + std::to_string(status);
    std::string code;
    if (!json.HasParseError() && json.IsObject() && json.HasMember("error") &&
        json["error"].IsObject()) {
        if (const auto* text = storage::find(json["error"], "message"); text && text->IsString())
            message = storage::viewOf(*text);
        if (const auto* text = storage::find(json["error"], "code"); text && text->IsString())
            code = storage::viewOf(*text);
    }
    if (status == 401 && code == "not_signed_in")
        throw cli::CommandError{kDeskNotSignedIn, "not signed in, or no longer: jackpotctl login"};
    throw DeskRefusal{status == 401                    ? kDeskNotSignedIn
                      : status == 429 || status >= 500 ? kDeskTryAgain
                                                       : kDeskRefused,
                      message, code};
}

}  // namespace

bool inputIsTerminal() { return ::isatty(STDIN_FILENO) == 1; }

std::string cellOf(const rapidjson::Value& row, std::string_view key, bool isMoney)
{
    const rapidjson::Value* value = &row;
    while (value && !key.empty()) {
        const auto dot = std::min(key.find('.'), key.size());
        value = value->IsObject() ? storage::find(*value, key.substr(0, dot)) : nullptr;
        key.remove_prefix(std::min(dot + 1, key.size()));
    }
    if (!value) return "";
    return isMoney ? rules::toRead(storage::moneyIn(textIn(*value))) : textIn(*value);
}

std::string jsonObject(const std::function<void(storage::JsonText&)>& write)
{
    std::string text;
    storage::JsonText json{text};
    json.beginObject();
    write(json);
    json.endObject();
    return text;
}

std::string encoded(std::string_view text)
{
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
        if (plain) {
            out += c;
        } else {
            out += '%';
            out += kHex[byte >> 4U];
            out += kHex[byte & 15U];
        }
    }
    return out;
}

void addDeskOptions(cli::Command& command, DeskOptions& options)
{
    command.section("The desk")
        .option("--desk URL", options.url,
                "the desk, such as https://jackpot.star.example:7780; that of the last login or "
                "JACKPOT_DESK unless given")
        .option("--ca FILE", options.ca,
                "the authority that certifies the desk; that of the last login or JACKPOT_DESK_CA "
                "unless given")
        .option("--certificate FILE", options.certificate,
                "your certificate, if your account requires one")
        .option("--key FILE", options.key,
                "the key of that certificate; its name with .key unless given")
        .flag("--json", options.json, "print the daemon's answer as JSON, for programs");
    if (options.isAboutSession) {
        command.option("--config FILE", options.config,
                       "read the desk and its authority from the daemon's configuration");
    } else {
        addSocketOptions(command, options);
        command.exclusive("--desk", "--config").exclusive("--desk", "--journal");
    }
    command.exitStatuses({{0, "done"},
                          {1, "refused; the reason is printed"},
                          {2, "the command line is wrong, or no daemon answers"},
                          {3, "not signed in (see jackpotctl login)"},
                          {4, "try again later"}});
}

void addSocketOptions(cli::Command& command, DeskOptions& options)
{
    command.section("On the daemon's own machine, as its user or root")
        .option("--config FILE", options.config,
                "the daemon's configuration, which has the journal's directory")
        .option("--journal DIRECTORY", options.journal,
                "the journal's directory, which has the daemon's socket")
        .exclusive("--config", "--journal");
}

DeskClient::DeskClient(const DeskOptions& options)
    : url_{options.url},
      ca_{options.ca},
      certificate_{options.certificate},
      key_{options.key},
      wantsJson_{options.json}
{
    ::signal(SIGPIPE, SIG_IGN);
    if (!options.isAboutSession && url_.empty()) {
        fs::path journal = options.journal;
        if (journal.empty() && !options.config.empty())
            journal = loadedConfig(options.config).journal.directory;
        if (!journal.empty()) {
            socket_ = journal / net::kLocalSocketName;
            return;
        }
    }
    if (key_.empty() && !certificate_.empty())
        key_ = fs::path{certificate_}.replace_extension(".key").string();
    if (options.isAboutSession && !options.config.empty()) takeAddressFrom(options.config);
    if (url_.empty()) url_ = environment("JACKPOT_DESK");
    if (ca_.empty()) ca_ = environment("JACKPOT_DESK_CA");
    readSession();
    if (url_.empty())
        throw cli::CommandError{
            cli::kBadInput,
            "the desk is not known: give --desk or JACKPOT_DESK, or --config on "
            "the daemon's own machine"};
    std::error_code failed;
    if (!ca_.empty()) ca_ = fs::absolute(ca_, failed).string();
}

void DeskClient::takeAddressFrom(const std::string& file)
{
    const config::Config config = loadedConfig(file);
    if (!config.desk) throw cli::CommandError{cli::kBadInput, file + ": it has no [desk]"};
    const config::Endpoint& at = config.desk->listen;
    const bool anywhere = at.host == "0.0.0.0" || at.host == "::";
    const bool bracketed = at.host.find(':') != std::string::npos;
    const std::string host = anywhere ? "localhost" : bracketed ? "[" + at.host + "]" : at.host;
    if (url_.empty()) url_ = "https://" + host + ":" + std::to_string(at.port);
    if (ca_.empty()) ca_ = config.link.ca.string();
}

rapidjson::Document DeskClient::send(const std::string& method, const std::string& path,
                                     const std::string& json)
{
    const std::string body = exchange(method, path, json).text;
    rapidjson::Document answer;
    if (body.empty()) return answer;
    answer.Parse<rapidjson::kParseIterativeFlag>(body.data(), body.size());
    if (answer.HasParseError())
        throw cli::CommandError{cli::kBadInput, "the daemon's answer is not JSON"};
    return answer;
}

DeskClient::Text DeskClient::getText(const std::string& path) { return exchange("GET", path, ""); }

DeskClient::Text DeskClient::exchange(const std::string& method, const std::string& path,
                                      const std::string& json)
{
    net::HttpsRequest request{.method = method, .path = path, .body = json, .headers = {}};
    if (!token_.empty()) request.headers["Authorization"] = "Bearer " + token_;
    if (!json.empty()) request.headers["Content-Type"] = "application/json";
    const net::HttpsClient client{{.url = url_,
                                   .localSocket = socket_,
                                   .ca = ca_,
                                   .certificate = certificate_,
                                   .key = key_,
                                   .timeout = kRequestTimeout,
                                   .maxReplyBytes = kMaxAnswerBytes}};
    const auto reply = client.send(request);
    if (!reply)
        throw cli::CommandError{
            cli::kBadInput, (isLocal() ? socket_.string() + ": no daemon" : url_ + ": no desk") +
                                " answers: " + reply.error().message};
    if (reply->status < 200 || reply->status >= 300) refuse(reply->status, reply->body);
    const auto reconciled = reply->headers.find("x-jackpot-reconciled");
    return {reply->body, reconciled == reply->headers.end() || reconciled->second != "no"};
}

void DeskClient::show(const rapidjson::Document& answer, const char* list,
                      const std::vector<Column>& columns) const
{
    if (wantsJson_) return show(answer);
    std::size_t figuresFrom = columns.size();
    while (figuresFrom > 0 && columns[figuresFrom - 1].isMoney) --figuresFrom;
    audit::TextTable table{figuresFrom};
    std::vector<std::string> titles;
    for (const Column& column : columns) titles.emplace_back(column.title);
    table.add(titles);
    if (answer.IsObject() && answer.HasMember(list) && answer[list].IsArray())
        for (const auto& row : answer[list].GetArray()) {
            std::vector<std::string> cells;
            for (const Column& column : columns)
                cells.push_back(cellOf(row, column.key, column.isMoney));
            table.add(cells);
        }
    std::cout << std::flush;  // the table is not written through std::cout
    cli::FileOutput out;
    table.print(out, "");
    out.flush();
}

void DeskClient::show(const rapidjson::Document& answer) const
{
    if (wantsJson_) {
        std::cout << jsonOf(answer) << "\n";
    } else if (answer.IsObject()) {
        for (const auto& member : answer.GetObject())
            std::cout << printable(storage::viewOf(member.name)) << ": "
                      << printable(textIn(member.value)) << "\n";
    }
}

void DeskClient::readSession()
{
    const fs::path file = sessionFile();
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return;
    const std::string text = cli::readFile(file, kMaxSessionBytes);
    rapidjson::Document json;
    json.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
    try {
        if (json.HasParseError()) return;
        const std::string url = storage::textOr(json, "desk");
        if (url_.empty()) url_ = url;
        // A token is for the desk that gave it, and for no other.
        if (url_ != url) return;
        if (ca_.empty()) ca_ = storage::textOr(json, "ca");
        if (certificate_.empty()) {
            certificate_ = storage::textOr(json, "certificate");
            key_ = storage::textOr(json, "key");
        }
        token_ = storage::textOr(json, "token");
    } catch (const storage::BadJson&) {
        return;
    }
}

void DeskClient::keepSession(const std::string& token, const std::string& name)
{
    const fs::path file = sessionFile();
    std::error_code failed;
    fs::create_directories(file.parent_path(), failed);
    fs::permissions(file.parent_path(), fs::perms::owner_all, failed);
    const std::string text = jsonObject([&](storage::JsonText& json) {
        json.textField("desk", url_);
        json.textField("ca", ca_);
        json.textField("certificate", certificate_);
        json.textField("key", key_);
        json.textField("name", name);
        json.textField("token", token);
    });
    ::unlink(file.c_str());
    const int made = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const bool written =
        made >= 0 && ::write(made, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    const int problem = errno;
    if (made >= 0) ::close(made);
    if (!written)
        throw cli::CommandError{cli::kBadInput, file.string() + ": " + audit::systemError(problem)};
    token_ = token;
}

void DeskClient::forgetSession()
{
    std::error_code ignored;
    fs::remove(sessionFile(), ignored);
    token_.clear();
}

int withDesk(const DeskOptions& options, const std::function<int(DeskClient&)>& work)
{
    try {
        DeskClient desk{options};
        return work(desk);
    } catch (const storage::BadJson& error) {
        throw cli::CommandError{
            cli::kBadInput, std::string{"the daemon's answer is not understood: "} + error.what()};
    }
}

std::string jsonOf(const rapidjson::Value& value)
{
    rapidjson::StringBuffer text;
    rapidjson::Writer writer{text};
    value.Accept(writer);
    return text.GetString();
}

std::string readPassword(const std::string& prompt)
{
    termios before{};
    const bool hidden = inputIsTerminal() && ::tcgetattr(STDIN_FILENO, &before) == 0;
    if (hidden) {
        termios silent = before;
        silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
        std::cerr << prompt << ": " << std::flush;
    }
    std::string line;
    const bool read = static_cast<bool>(std::getline(std::cin, line));
    if (hidden) {
        ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
        std::cerr << "\n";
    }
    if (!read) throw cli::CommandError{cli::kBadInput, "there is no password on standard input"};
    if (line.ends_with('\r')) line.pop_back();
    if (line.size() > kMaxPasswordBytes)
        throw cli::CommandError{cli::kBadInput, "a password has at most 1024 bytes"};
    return line;
}

std::string readNewPassword(const std::string& prompt)
{
    std::string password = readPassword(prompt);
    if (inputIsTerminal() && readPassword(prompt + ", again") != password)
        throw cli::CommandError{cli::kBadInput, "the two passwords differ: nothing was changed"};
    return password;
}

}  // namespace jackpot::ctl
