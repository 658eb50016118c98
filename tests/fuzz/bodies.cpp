// Any bytes as a request of the desk: the head, the path, the query, the cookie and every body that
// is about people or a dealer's. An accepted request is within its limits; a refused one has a
// reason.
#include <cstdint>
#include <string>

#include "base/utf8.h"
#include "console/desk/desk_requests.h"
#include "console/people/passwords.h"
#include "console/people/people_requests.h"
#include "net/http_parser.h"
#include "net/router.h"
#include "tests/fuzz/require.h"

namespace {

using namespace jackpot;
using namespace jackpot::console;

template <class T>
bool accepted(const Result<T>& read)
{
    if (!read) REQUIRE_HOLDS(!read.error().message.empty());
    return bool{read};
}

bool isFingerprint(const std::string& text)
{
    return text.empty() ||
           (text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos);
}

void readBodies(const std::string& text)
{
    if (const auto given = readCredentials(text); accepted(given)) {
        REQUIRE_HOLDS(given->password.size() <= kMaxPasswordBytes);
        REQUIRE_HOLDS(isUtf8(given->name) && isUtf8(given->password));
    }
    if (const auto given = readNewPassword(text); accepted(given))
        REQUIRE_HOLDS(given->password.size() <= kMaxPasswordBytes);
    if (const auto person = readNewPerson(text); accepted(person)) {
        REQUIRE_HOLDS(isPersonName(person->name));
        REQUIRE_HOLDS(checkPassword(person->password, person->name));
        REQUIRE_HOLDS(isFingerprint(person->certificate));
    }
    if (const auto change = readPersonChange(text); accepted(change))
        REQUIRE_HOLDS(isFingerprint(change->certificate.value_or("")));
}

void readDealersBodies(const std::string& text)
{
    if (const auto open = readOpenRound(text); accepted(open)) {
        REQUIRE_HOLDS(open->round > 0 && open->wagers.size() <= rules::kMaxSeats);
        for (const rules::Wager& wager : open->wagers)
            REQUIRE_HOLDS(wager.seat >= 1 && wager.seat <= rules::kMaxSeats &&
                          isUtf8(wager.playerCard));
    }
    if (const auto result = readReportResult(text); accepted(result)) {
        REQUIRE_HOLDS(result->round > 0 && result->hands.size() <= rules::kMaxSeats);
        for (const std::string& card : result->board) REQUIRE_HOLDS(rules::parseCard(card));
        for (const rules::Hand& hand : result->hands)
            for (const std::string& card : hand.cards) REQUIRE_HOLDS(rules::parseCard(card));
    }
    if (const auto press = readConfirmation(text); accepted(press))
        REQUIRE_HOLDS(press->round > 0 && press->pressedAgoMs >= 0);
    if (const auto voided = readVoidRound(text); accepted(voided))
        REQUIRE_HOLDS(!voided->reason.empty() && isUtf8(voided->reason));
}

void readHead(const std::string& text)
{
    const auto end = net::endOfHead(text);
    const auto head = net::parseRequestHead(end ? text.substr(0, *end) : text);
    if (!head) {
        REQUIRE_HOLDS(head.error().status >= 400 && head.error().status < 500);
        return;
    }
    REQUIRE_HOLDS(head->path.starts_with('/'));
    REQUIRE_HOLDS(head->bodyBytes <= net::kMaxBodyBytes);
    REQUIRE_HOLDS(head->headers.size() <= net::kMaxHeaders);
    const auto handle = [](const net::Request&) { return net::Reply{}; };
    static const net::Router router{
        {net::publicRoute("GET", "/a/{b}", handle), net::publicRoute("POST", "/a/{b}/c", handle)},
        "nothing here"};
    if (const auto found = router.find(head->method, head->path); found)
        REQUIRE_HOLDS(!found->path.at("b").empty() && isUtf8(found->path.at("b")));
    if (const auto query = net::parseQuery(head->query))
        REQUIRE_HOLDS(query->size() <= net::kMaxQueryFields);
    net::Reply reply;
    reply.headers["X"] = std::string{head->header("x")};
    const std::string written = net::formatReplyHead(reply, head->keepAlive);
    REQUIRE_HOLDS(net::endOfHead(written) == written.size());
    REQUIRE_HOLDS(net::cookieValue(head->header("cookie"), "c").find(';') ==
                  std::string_view::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string text{reinterpret_cast<const char*>(data), size};
    readBodies(text);
    readDealersBodies(text);
    readHead(text);
    return 0;
}
