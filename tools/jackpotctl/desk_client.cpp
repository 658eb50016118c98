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
#include "config/config.h"
#include "net/https_client.h"
#include "storage/json_read.h"
#include "storage/json_text.h"
#include "tools/jackpot-audit/output.h"

namespace jackpot::tools {
namespace {

using audit::Arguments;
using audit::Stop;
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
    throw Stop{audit::kBadInput, "there is neither XDG_RUNTIME_DIR nor HOME to keep a session in"};
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
    std::string message = "the desk answered " + std::to_string(status);
    std::string code;
    if (!json.HasParseError() && json.IsObject() && json.HasMember("error") &&
        json["error"].IsObject()) {
        if (const auto* text = storage::find(json["error"], "message"); text && text->IsString())
            message = storage::viewOf(*text);
        if (const auto* text = storage::find(json["error"], "code"); text && text->IsString())
            code = storage::viewOf(*text);
    }
    if (status == 401 && code == "not_signed_in")
        throw Stop{kDeskNotSignedIn, "not signed in, or no longer: jackpotctl login"};
    throw Refused{status == 401                    ? kDeskNotSignedIn
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

DeskClient::DeskClient(const Arguments& arguments) : wantsJson_{arguments.has("--json")}
{
    ::signal(SIGPIPE, SIG_IGN);
    url_ = arguments.value("--desk").value_or("");
    ca_ = arguments.value("--ca").value_or("");
    certificate_ = arguments.value("--certificate").value_or("");
    key_ = arguments.value("--key").value_or(
        certificate_.empty() ? "" : fs::path{certificate_}.replace_extension(".key").string());
    if (const auto file = arguments.value("--config")) {
        const auto config = config::load(*file);
        if (!config || !config->desk)
            throw Stop{audit::kBadInput, *file + ": it does not load, or has no [desk]"};
        const config::Endpoint& at = config->desk->listen;
        const bool anywhere = at.host == "0.0.0.0" || at.host == "::";
        const bool bracketed = at.host.find(':') != std::string::npos;
        const std::string host = anywhere ? "localhost" : bracketed ? "[" + at.host + "]" : at.host;
        if (url_.empty()) url_ = "https://" + host + ":" + std::to_string(at.port);
        if (ca_.empty()) ca_ = config->link.ca.string();
    }
    if (url_.empty()) url_ = environment("JACKPOT_DESK");
    if (ca_.empty()) ca_ = environment("JACKPOT_DESK_CA");
    readSession();
    if (url_.empty())
        throw Stop{audit::kBadInput, "where is the desk? Name it with --desk or JACKPOT_DESK"};
    std::error_code failed;
    if (!ca_.empty()) ca_ = fs::absolute(ca_, failed).string();
}

rapidjson::Document DeskClient::send(const std::string& method, const std::string& path,
                                     const std::string& json)
{
    const std::string body = exchange(method, path, json).text;
    rapidjson::Document answer;
    if (body.empty()) return answer;
    answer.Parse<rapidjson::kParseIterativeFlag>(body.data(), body.size());
    if (answer.HasParseError()) throw Stop{audit::kBadInput, "the answer is no JSON"};
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
                                   .ca = ca_,
                                   .certificate = certificate_,
                                   .key = key_,
                                   .timeout = kRequestTimeout,
                                   .maxReplyBytes = kMaxAnswerBytes}};
    const auto reply = client.send(request);
    if (!reply) throw Stop{audit::kBadInput, url_ + ": no desk answers: " + reply.error().message};
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
    std::cout << std::flush;  // what was said before comes before
    audit::FileOutput out;
    table.print(out, "");
    out.flush();
}

void DeskClient::show(const rapidjson::Document& answer) const
{
    if (wantsJson_) {
        rapidjson::StringBuffer text;
        rapidjson::Writer writer{text};
        answer.Accept(writer);
        std::cout << text.GetString() << "\n";
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
    const std::string text = audit::readFile(file, kMaxSessionBytes);
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
    if (!written) throw Stop{audit::kBadInput, file.string() + ": " + audit::systemError(problem)};
    token_ = token;
}

void DeskClient::forgetSession()
{
    std::error_code ignored;
    fs::remove(sessionFile(), ignored);
    token_.clear();
}

int withDesk(const std::string& command, std::string_view help,
             const std::vector<std::string>& given, std::vector<audit::Option> options,
             const std::function<void(DeskClient&, const audit::Arguments&)>& work)
{
    using Form = audit::Option::Form;
    try {
        for (const audit::Option& each :
             std::initializer_list<audit::Option>{{"--desk", Form::Value},
                                                  {"--ca", Form::Value},
                                                  {"--config", Form::Value},
                                                  {"--certificate", Form::Value},
                                                  {"--key", Form::Value},
                                                  {"--json", Form::Flag},
                                                  {"--help", Form::Flag}})
            options.push_back(each);
        const audit::Arguments arguments{command, given, options, "jackpotctl"};
        if (arguments.has("--help")) {
            std::cout << help << kDeskOptionsHelp;
            return audit::kGood;
        }
        DeskClient desk{arguments};
        work(desk, arguments);
        return audit::kGood;
    } catch (const audit::Stop& stop) {
        std::cerr << "jackpotctl: " << printable(stop.what()) << "\n";
        return stop.status();
    } catch (const storage::BadJson& error) {
        std::cerr << "jackpotctl: the answer is not as a desk's: " << printable(error.what())
                  << "\n";
        return audit::kBadInput;
    }
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
    if (!read) throw Stop{audit::kBadInput, "there is no password on standard input"};
    if (line.ends_with('\r')) line.pop_back();
    if (line.size() > kMaxPasswordBytes)
        throw Stop{audit::kBadInput, "a password has at most 1024 bytes"};
    return line;
}

std::string readNewPassword(const std::string& prompt)
{
    std::string password = readPassword(prompt);
    if (inputIsTerminal() && readPassword(prompt + ", again") != password)
        throw Stop{audit::kBadInput, "these are two different passwords"};
    return password;
}

}  // namespace jackpot::tools
