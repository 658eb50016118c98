#include "net/http_parser.h"

#include <algorithm>
#include <charconv>

#include "base/utf8.h"

namespace jackpot::net {
namespace {

// RFC 9110, 5.6.2
bool isToken(std::string_view text)
{
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos;
    });
}

std::string toLower(std::string_view text)
{
    std::string lower{text};
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

std::string_view trim(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool isPrintable(std::string_view text)
{
    return std::ranges::all_of(text, [](char c) { return c == '\t' || (c >= 0x20 && c != 0x7f); });
}

Reply malformed(std::string_view why) { return errorReply(400, "malformed_request", why); }

int hexDigit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// The request line and the headers, uninterpreted.
Result<RequestHead, Reply> parseLines(std::string_view bytes, std::string& version)
{
    RequestHead head;
    std::size_t count = 0;
    bool first = true;
    while (!bytes.empty()) {
        const std::size_t end = bytes.find("\r\n");
        if (end == std::string_view::npos) return malformed("a line does not end");
        const std::string_view line = bytes.substr(0, end);
        bytes.remove_prefix(end + 2);
        if (line.empty()) break;
        if (!isPrintable(line))
            return malformed("the head has characters that are not printable ASCII");
        if (first) {
            const auto words = split(line, ' ');
            if (words.size() != 3 || !isToken(words[0]) || !words[1].starts_with('/'))
                return malformed("the request line is malformed");
            const std::string_view target = words[1].substr(0, words[1].find('#'));
            const std::size_t question = target.find('?');
            head.method = words[0];
            head.path = target.substr(0, question);
            if (question != std::string_view::npos) head.query = target.substr(question + 1);
            version = words[2];
            first = false;
            continue;
        }
        if (++count > kMaxHeaders)
            return errorReply(431, "too_many_headers", "a request has at most 64 headers");
        const std::size_t colon = line.find(':');
        const std::string name = toLower(line.substr(0, colon));
        if (colon == std::string_view::npos || !isToken(name))
            return malformed("a header has no name or spans lines");
        const std::string_view value = trim(line.substr(colon + 1));
        // Only cookies may be repeated: a joined value of any other header that is read here is
        // invalid.
        if (auto [at, isNew] = head.headers.emplace(name, value); !isNew)
            at->second += (name == "cookie" ? "; " : ", ") + std::string{value};
    }
    if (first) return malformed("the request line is missing");
    return head;
}

std::string_view reasonPhrase(int status)
{
    switch (status) {
        case 200: return "OK";
        case 201: return "Created";
        case 202: return "Accepted";
        case 204: return "No Content";
        case 400: return "Bad Request";
        case 401: return "Unauthorized";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 408: return "Request Timeout";
        case 409: return "Conflict";
        case 411: return "Length Required";
        case 413: return "Content Too Large";
        case 415: return "Unsupported Media Type";
        case 422: return "Unprocessable Content";
        case 429: return "Too Many Requests";
        case 431: return "Request Header Fields Too Large";
        case 500: return "Internal Server Error";
        case 503: return "Service Unavailable";
        default: return "Status";
    }
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator)
{
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::optional<std::size_t> endOfHead(std::string_view bytes)
{
    const std::size_t end = bytes.find("\r\n\r\n");
    if (end == std::string_view::npos) return std::nullopt;
    return end + 4;
}

Result<RequestHead, Reply> parseRequestHead(std::string_view bytes, std::string_view bodyType)
{
    std::string version;
    auto parsed = parseLines(bytes, version);
    if (!parsed) return parsed.error();
    RequestHead& head = *parsed;
    if (version != "HTTP/1.1" && version != "HTTP/1.0")
        return malformed("the protocol is not HTTP/1.1");
    if (version == "HTTP/1.1" && !head.headers.contains("host"))
        return malformed("the Host header is missing");

    const std::string connection = toLower(head.header("connection"));
    head.keepAlive = version == "HTTP/1.1" && connection.find("close") == std::string::npos;
    if (head.headers.contains("transfer-encoding"))
        return errorReply(411, "length_required", "send a Content-Length, not chunks");
    if (head.headers.contains("content-length")) {
        const std::string_view digits = head.header("content-length");
        const char* const end = digits.data() + digits.size();
        std::uint64_t size = 0;
        const auto [stopped, error] = std::from_chars(digits.data(), end, size);
        if (error == std::errc::result_out_of_range || (stopped == end && size > kMaxBodyBytes))
            return errorReply(413, "body_too_large", "a body has at most 64 KiB");
        if (error != std::errc{} || stopped != end)
            return malformed("Content-Length is not a number");
        head.bodyBytes = size;
    } else if (head.method == "POST" || head.method == "PUT" || head.method == "PATCH") {
        return errorReply(411, "length_required", "the Content-Length header is missing");
    }
    if (head.bodyBytes > 0 && !bodyType.empty()) {
        const std::string_view type = head.header("content-type");
        if (toLower(trim(type.substr(0, type.find(';')))) != bodyType)
            return errorReply(415, "not_json",
                              "the body must be JSON: Content-Type: application/json");
    }
    head.expectsContinue = toLower(head.header("expect")) == "100-continue";
    return parsed;
}

std::optional<std::string> percentDecode(std::string_view text, bool plusIsSpace)
{
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (c == '%') {
            if (i + 2 >= text.size()) return std::nullopt;
            const int high = hexDigit(text[i + 1]);
            const int low = hexDigit(text[i + 2]);
            if (high < 0 || low < 0) return std::nullopt;
            c = static_cast<char>(high * 16 + low);
            i += 2;
        } else if (c == '+' && plusIsSpace) {
            c = ' ';
        }
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return std::nullopt;
        decoded += c;
    }
    if (!isUtf8(decoded)) return std::nullopt;
    return decoded;
}

std::optional<std::map<std::string, std::string>> parseQuery(std::string_view query)
{
    std::map<std::string, std::string> fields;
    if (query.empty()) return fields;
    const auto parts = split(query, '&');
    if (parts.size() > kMaxQueryFields) return std::nullopt;
    for (const std::string_view part : parts) {
        if (part.empty()) continue;
        const std::size_t equals = part.find('=');
        const auto name = percentDecode(part.substr(0, equals), true);
        const auto value = equals == std::string_view::npos
                               ? std::optional<std::string>{""}
                               : percentDecode(part.substr(equals + 1), true);
        if (!name || !value) return std::nullopt;
        fields[*name] = *value;
    }
    return fields;
}

std::string_view cookieValue(std::string_view header, std::string_view name)
{
    for (const std::string_view part : split(header, ';')) {
        const std::string_view pair = trim(part);
        const std::size_t equals = pair.find('=');
        if (equals != std::string_view::npos && pair.substr(0, equals) == name)
            return pair.substr(equals + 1);
    }
    return {};
}

std::string formatReplyHead(const Reply& reply, bool keepAlive)
{
    std::map<std::string, std::string> headers{
        {"Cache-Control", "no-store"},
        {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
        {"Referrer-Policy", "no-referrer"},
        {"Strict-Transport-Security", "max-age=31536000"},
        {"X-Content-Type-Options", "nosniff"}};
    if (reply.status != 204) headers["Content-Type"] = reply.contentType;
    if (reply.contentType != kEventStreamType && reply.status != 204)
        headers["Content-Length"] = std::to_string(reply.body.size());
    headers["Connection"] = keepAlive ? "keep-alive" : "close";
    for (const auto& [name, value] : reply.headers) headers[name] = value;
    std::string text =
        "HTTP/1.1 " + std::to_string(reply.status) + " " + std::string{reasonPhrase(reply.status)};
    text += "\r\n";
    for (const auto& [name, value] : headers) {
        text += name + ": ";
        // A value can hold a user's text, which must not start a new line.
        for (const char c : value) text += c == '\r' || c == '\n' ? ' ' : c;
        text += "\r\n";
    }
    return text + "\r\n";
}

}  // namespace jackpot::net
