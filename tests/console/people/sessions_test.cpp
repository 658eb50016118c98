#include "console/people/sessions.h"

#include <doctest/doctest.h>

#include <set>

namespace jackpot::console {
namespace {

struct Fixture {
    std::int64_t now = 5000;
    Sessions sessions{{60'000, 600'000, true}, [this] { return now; }};
    std::string begin(const std::string& name = "ann", const std::string& address = "10.0.0.1")
    {
        return sessions.begin({name, Role::Auditor}, address, false)->token;
    }
};

TEST_CASE("a token has 256 random bits, and the session's id does not reveal it")
{
    Fixture f;
    std::set<std::string> seen;
    for (int i = 0; i < 10; ++i) {
        const auto begun = f.sessions.begin({"p" + std::to_string(i), Role::Auditor}, "a", false);
        CHECK(begun->token.size() == 64);
        CHECK(seen.insert(begun->token).second);
        CHECK(seen.insert(begun->csrf).second);
        const auto session = f.sessions.use(begun->token, "a");
        CHECK(session->id != begun->token);
        CHECK(!f.sessions.use(session->id, "a"));
        CHECK(!f.sessions.use(begun->csrf, "a"));
    }
}

TEST_CASE("a session ends when it is idle too long, and at its maximum age")
{
    Fixture f;
    const std::string token = f.begin();
    f.now += 59'999;
    CHECK(f.sessions.use(token, "10.0.0.1"));
    f.now += 60'000;
    CHECK(!f.sessions.use(token, "10.0.0.1"));
    const std::string busy = f.begin();
    for (int i = 0; i < 19; ++i) {
        f.now += 30'000;
        CHECK(f.sessions.use(busy, "10.0.0.1"));
    }
    CHECK(f.sessions.remainingMs(*f.sessions.use(busy, "10.0.0.1")) == 30'000);
    f.now += 30'000;
    CHECK(!f.sessions.use(busy, "10.0.0.1"));
}

TEST_CASE("looking up a session by its id does not extend it")
{
    Fixture f;
    const std::string token = f.begin();
    const std::string id = f.sessions.use(token, "10.0.0.1")->id;
    f.now += 40'000;
    CHECK(f.sessions.find(id));
    f.now += 20'000;
    CHECK(!f.sessions.find(id));
    CHECK(!f.sessions.use(token, "10.0.0.1"));
}

TEST_CASE("background requests of a page do not keep a session alive")
{
    Fixture f;
    const std::string token = f.begin();
    f.now += 40'000;
    CHECK(f.sessions.use(token, "10.0.0.1", Sessions::Use::Background));
    f.now += 20'000;
    CHECK(!f.sessions.use(token, "10.0.0.1", Sessions::Use::Background));
    const std::string used = f.begin();
    f.now += 40'000;
    CHECK(f.sessions.use(used, "10.0.0.1"));
    f.now += 20'000;
    CHECK(f.sessions.use(used, "10.0.0.1"));
}

TEST_CASE("a bound session is only valid from its own address")
{
    Fixture f;
    const std::string token = f.begin();
    CHECK(!f.sessions.use(token, "10.0.0.2"));
    CHECK(f.sessions.use(token, "10.0.0.1"));
    f.sessions.setSettings({60'000, 600'000, false});
    CHECK(f.sessions.use(token, "10.0.0.2"));
}

TEST_CASE("an ended session is rejected everywhere")
{
    Fixture f;
    f.sessions.setSettings({60'000, 600'000, false});
    const std::string token = f.begin();
    const std::string other = f.begin();
    const std::string bobs = f.begin("bob");
    f.sessions.end(f.sessions.use(token, "10.0.0.1")->id);
    CHECK(!f.sessions.use(token, "10.0.0.1"));
    CHECK(!f.sessions.use(token, "10.0.0.2"));
    CHECK(f.sessions.use(other, "10.0.0.1"));
    f.sessions.endAllOfPerson("ann");
    CHECK(!f.sessions.use(other, "10.0.0.1"));
    CHECK(f.sessions.use(bobs, "10.0.0.1"));
}

TEST_CASE("the number of sessions is bounded, in total and per person")
{
    Fixture f;
    const std::string first = f.begin();
    f.now += 1;
    for (std::size_t i = 0; i < Sessions::kMaxPerPerson; ++i) f.begin();
    CHECK(!f.sessions.use(first, "10.0.0.1"));
    for (std::size_t i = Sessions::kMaxPerPerson; i < Sessions::kMaxSessions; ++i)
        REQUIRE(f.sessions.begin({"p" + std::to_string(i), Role::Auditor}, "a", false));
    CHECK(!f.sessions.begin({"more", Role::Auditor}, "a", false));
    f.now += 60'000;
    CHECK(f.sessions.begin({"more", Role::Auditor}, "a", false));
}

}  // namespace
}  // namespace jackpot::console
