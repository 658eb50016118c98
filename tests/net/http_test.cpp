#include <doctest/doctest.h>

#include "net/http_parser.h"
#include "net/router.h"

namespace jackpot::net {
namespace {

int statusOf(const std::string& head)
{
    const auto parsed = parseRequestHead(head);
    return parsed ? 200 : parsed.error().status;
}

TEST_CASE("a request's head is parsed")
{
    const std::string text =
        "POST /api/v1/people/ann%20b?x=1&y=a+b HTTP/1.1\r\nHost: desk\r\nX-CSRF-Token:  abc \r\n"
        "Content-Type: application/json; charset=utf-8\r\nContent-Length: 12\r\n\r\n";
    CHECK(endOfHead(text) == text.size());
    CHECK(!endOfHead(text.substr(0, text.size() - 1)));
    const auto head = parseRequestHead(text);
    REQUIRE(head);
    CHECK(head->method == "POST");
    CHECK(head->path == "/api/v1/people/ann%20b");
    CHECK(head->query == "x=1&y=a+b");
    CHECK(head->header("x-csrf-token") == "abc");
    CHECK(head->bodyBytes == 12);
    CHECK(head->keepAlive);
}

TEST_CASE("an ambiguous, too large or malformed request is refused with its status")
{
    const std::string get = "GET / HTTP/1.1\r\nHost: d\r\n";
    CHECK(statusOf(get + "\r\n") == 200);
    CHECK(statusOf("GET / HTTP/1.1\r\n\r\n") == 400);
    CHECK(statusOf("GET / HTTP/1.0\r\n\r\n") == 200);
    CHECK(statusOf("GET / HTTP/2.0\r\nHost: d\r\n\r\n") == 400);
    CHECK(statusOf("GET http://d/ HTTP/1.1\r\nHost: d\r\n\r\n") == 400);
    CHECK(statusOf("GET  / HTTP/1.1\r\nHost: d\r\n\r\n") == 400);
    CHECK(statusOf("GET /\x01 HTTP/1.1\r\nHost: d\r\n\r\n") == 400);
    CHECK(statusOf("\r\n\r\n") == 400);
    CHECK(statusOf("") == 400);
    CHECK(statusOf(get + " folded: x\r\n\r\n") == 400);
    CHECK(statusOf(get + "name : x\r\n\r\n") == 400);
    CHECK(statusOf(get + "no colon\r\n\r\n") == 400);
    CHECK(statusOf(get + "a: b\nc: d\r\n\r\n") == 400);
    CHECK(statusOf(get + "Transfer-Encoding: chunked\r\n\r\n") == 411);
    CHECK(statusOf(get + "Content-Length: 1x\r\n\r\n") == 400);
    CHECK(statusOf(get + "Content-Length: -1\r\n\r\n") == 400);
    CHECK(statusOf(get + "Content-Length: \r\n\r\n") == 400);
    CHECK(statusOf(get + "Content-Length: 0\r\nContent-Length: 0\r\n\r\n") == 400);
    CHECK(statusOf(get + "Content-Length: 65537\r\n\r\n") == 413);
    CHECK(statusOf(get + "Content-Length: 99999999999999999999999\r\n\r\n") == 413);
    CHECK(statusOf(get + "Content-Length: 5\r\n\r\n") == 415);
    CHECK(statusOf("POST / HTTP/1.1\r\nHost: d\r\n\r\n") == 411);
    std::string many = get;
    for (int i = 0; i < 64; ++i) many += "a" + std::to_string(i) + ": b\r\n";
    CHECK(statusOf(many + "\r\n") == 431);
}

TEST_CASE("percent signs decode to UTF-8 without control characters, or not at all")
{
    CHECK(percentDecode("a%2Fb", false) == "a/b");
    CHECK(percentDecode("a+b", false) == "a+b");
    CHECK(percentDecode("a+b", true) == "a b");
    CHECK(percentDecode("%C3%A9", false) == "é");
    for (const char* bad : {"%", "%4", "%zz", "%00", "%0a", "%FF", "%7f"})
        CHECK(!percentDecode(bad, false));
    CHECK(parseQuery("a=1&a=2&b&c=%20")->at("a") == "2");
    CHECK(parseQuery("b")->contains("b"));
    CHECK(!parseQuery("a=%zz"));
    CHECK(!parseQuery(std::string(64, '&')));
}

TEST_CASE("a cookie is found among others, and only under its whole name")
{
    CHECK(cookieValue("a=1; __Host-jackpot=tok; b=2", "__Host-jackpot") == "tok");
    CHECK(cookieValue("x__Host-jackpot=tok", "__Host-jackpot").empty());
    CHECK(cookieValue("", "__Host-jackpot").empty());
}

TEST_CASE(
    "a path is matched to its route, literal segments first; else the allowed methods are given")
{
    const auto handle = [](const Request&) { return Reply{}; };
    const Router router{{publicRoute("GET", "/a/{x}", handle), publicRoute("GET", "/a/b", handle),
                         publicRoute("POST", "/a/{x}", handle)},
                        "nothing here"};
    CHECK(router.find("GET", "/a/b")->route->pattern == "/a/b");
    CHECK(router.find("GET", "/a/c")->path.at("x") == "c");
    CHECK(router.find("GET", "/a/%2F")->path.at("x") == "/");
    CHECK(router.find("HEAD", "/a/c")->route->method == "GET");
    CHECK(router.find("GET", "/a/").error().status == 404);
    CHECK(router.find("GET", "/a").error().status == 404);
    CHECK(router.find("GET", "/a/b/").error().status == 404);
    CHECK(router.find("GET", "/a/%zz").error().status == 400);
    const auto wrong = router.find("DELETE", "/a/c");
    CHECK(wrong.error().status == 405);
    CHECK(wrong.error().headers.at("Allow") == "GET, POST, HEAD, OPTIONS");
    CHECK(router.find("OPTIONS", "/a/c").error().status == 204);
}

TEST_CASE(
    "a reply has the headers that protect browsers, and a handler's header value cannot add a line")
{
    Reply reply;
    reply.body = "{}";
    reply.headers["X-Name"] = "a\r\nSet-Cookie: b";
    const std::string head = formatReplyHead(reply, true);
    CHECK(head.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(head.find("Strict-Transport-Security: ") != std::string::npos);
    CHECK(head.find("X-Content-Type-Options: nosniff") != std::string::npos);
    CHECK(head.find("Content-Security-Policy: default-src 'none'") != std::string::npos);
    CHECK(head.find("Cache-Control: no-store") != std::string::npos);
    CHECK(head.find("Content-Length: 2\r\n") != std::string::npos);
    CHECK(head.find("\r\nSet-Cookie") == std::string::npos);
}

}  // namespace
}  // namespace jackpot::net
