#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <thread>

#include "base/encoding.h"
#include "console/people/passwords.h"
#include "tests/console/console_fixture.h"

namespace jackpot::console {
namespace {

using testing::ConsoleFixture;

Request requestOf(const std::string& name, const std::string& session,
                  const std::string& address = "10.0.0.1")
{
    Request request;
    request.person = {name, Role::Auditor};
    request.session = session;
    request.address = address;
    return request;
}

auto signIn(ConsoleFixture& house, const std::string& name, const std::string& password,
            const std::string& address = "10.0.0.1", const std::string& certificate = "")
{
    return house.people->signIn({name, password}, certificate, address);
}

int statusOf(const Result<People::SignInResult, PeopleError>& result)
{
    return result ? 201 : result.error().status;
}

TEST_CASE("a password is stored with scrypt, its own salt, and N of at least 2^15")
{
    const std::string kept = hashPassword("correct horse battery");
    CHECK(kept.starts_with("scrypt$15$8$1$"));
    CHECK(kept != hashPassword("correct horse battery"));
    CHECK(verifyPassword("correct horse battery", kept));
    CHECK(!verifyPassword("correct horse batterx", kept));
    CHECK(!verifyPassword("", kept));
    CHECK(!needsRehash(kept));
    CHECK(kept.find("horse") == std::string::npos);
    for (const char* bad :
         {"", "scrypt$15$8$1$$", "md5$1$1$1$AAAA$AAAA", "scrypt$40$8$1$AAAA$AAAA"})
        CHECK(!verifyPassword("x", bad));
}

TEST_CASE("a password stored with weaker parameters still works, and is recognised as outdated")
{
    // RFC 7914, 12: N=1024, r=8, p=16 of "password" with "NaCl", the first 32 bytes.
    const auto hash = decodeHex("fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162");
    const std::string kept = "scrypt$10$8$16$" + encodeBase64("NaCl") + "$" + encodeBase64(*hash);
    CHECK(verifyPassword("password", kept));
    CHECK(needsRehash(kept));
}

TEST_CASE("a password has 12 to 1024 bytes of UTF-8 and is not the name")
{
    CHECK(checkPassword("twelve bytes", "ann"));
    CHECK(!checkPassword("eleven byte", "ann"));
    CHECK(checkPassword(std::string(1024, 'x'), "ann"));
    CHECK(!checkPassword(std::string(1025, 'x'), "ann"));
    CHECK(!checkPassword("ann.the.administrator", "ann.the.administrator"));
    CHECK(!checkPassword("not utf-8 at all \xff", "ann"));
}

TEST_CASE("names ignore case, so that nobody can imitate another person")
{
    for (const char* good : {"ann", "a", "ann.b-c_9"}) CHECK(isPersonName(good));
    for (const char* bad : {"", "Ann", "9ann", "ann b", "(local)", "ann/../b", "\xc3\xa9"})
        CHECK(!isPersonName(bad));
    CHECK(!isPersonName(std::string(33, 'a')));
}

TEST_CASE("signing in and out is journaled")
{
    ConsoleFixture house;
    house.add("ann", Role::Supervisor);
    const auto ann = signIn(house, "ann", ConsoleFixture::passwordOf("ann"));
    REQUIRE(ann);
    CHECK(ann->account.role == Role::Supervisor);
    const auto session = house.sessions->use(ann->session.token, "10.0.0.1");
    REQUIRE(session);
    CHECK(statusOf(signIn(house, "ann", "wrong password!")) == 401);
    CHECK(statusOf(signIn(house, "nobody", "wrong password!")) == 401);
    CHECK(house.people->signOut(requestOf("ann", session->id)));
    CHECK(!house.sessions->use(ann->session.token, "10.0.0.1"));

    CHECK(house.notes("person_added").size() == 1);
    CHECK(house.notes("person_signed_in") ==
          std::vector<std::string>{R"({"kind":"person_signed_in","who":"ann","role":"supervisor",)"
                                   R"("address":"10.0.0.1","certificate":false})"});
    CHECK(house.notes("person_signed_out").size() == 1);
    for (const std::string& note : house.notes()) {
        CHECK(note.find("password") == std::string::npos);
        CHECK(note.find("scrypt") == std::string::npos);
        CHECK(note.find(ann->session.token) == std::string::npos);
        CHECK(note.find("nobody") == std::string::npos);  // it could have been a password
    }
}

TEST_CASE("without the journal nobody signs in and nothing changes")
{
    ConsoleFixture house;
    house.add("ann", Role::Supervisor);
    house.failNotes(true);
    CHECK(statusOf(signIn(house, "ann", ConsoleFixture::passwordOf("ann"))) == 503);
    CHECK(house.people->add({"bob", Role::Auditor, "bob's password", "", false}, "ann")
              .error()
              .status == 503);
    PersonChange change;
    change.role = Role::Administrator;
    CHECK(house.people->change("ann", change, "(local)").error().status == 503);
    house.failNotes(false);
    const auto list = house.people->list();
    REQUIRE(list->size() == 1);
    CHECK(list->at(0).role == Role::Supervisor);
    house.reopen();
    CHECK(house.people->list()->size() == 1);
}

TEST_CASE("five failures lock a name for fifteen minutes, and an administrator unlocks it")
{
    ConsoleFixture house;
    house.add("ann", Role::Supervisor);
    house.add("bob", Role::Supervisor);
    for (int i = 0; i < 4; ++i)
        CHECK(statusOf(signIn(house, "ann", "wrong password", "10.0.1." + std::to_string(i))) ==
              401);
    // A successful sign-in resets the count.
    CHECK(signIn(house, "ann", ConsoleFixture::passwordOf("ann")));
    for (int i = 0; i < 5; ++i)
        CHECK(statusOf(signIn(house, "ann", "wrong password", "10.0.2." + std::to_string(i))) ==
              401);
    const auto locked = signIn(house, "ann", ConsoleFixture::passwordOf("ann"));
    CHECK(statusOf(locked) == 429);
    CHECK(locked.error().code == "locked_out");
    CHECK(signIn(house, "bob", ConsoleFixture::passwordOf("bob")));
    CHECK(house.notes("person_locked_out").size() == 1);
    CHECK(!house.warnings().empty());
    CHECK(house.people->list()->at(0).lockedForMs == LoginLimiter::kLockMs);

    CHECK(house.people->unlock("ann", "bob"));
    CHECK(house.people->unlock("nobody", "bob").error().status == 404);
    CHECK(signIn(house, "ann", ConsoleFixture::passwordOf("ann")));

    for (int i = 0; i < 5; ++i)
        (void)signIn(house, "ann", "wrong password", "10.0.3." + std::to_string(i));
    house.pass(LoginLimiter::kLockMs - 1);
    CHECK(statusOf(signIn(house, "ann", ConsoleFixture::passwordOf("ann"))) == 429);
    house.pass(1);
    CHECK(signIn(house, "ann", ConsoleFixture::passwordOf("ann")));
}

TEST_CASE("old failures do not count towards a lock")
{
    ConsoleFixture house;
    house.add("ann", Role::Supervisor);
    for (int i = 0; i < 9; ++i) {
        CHECK(statusOf(signIn(house, "ann", "wrong password", "10.0.1." + std::to_string(i))) ==
              401);
        house.pass(4 * 60 * 1000);
    }
    CHECK(house.notes("person_locked_out").empty());
}

TEST_CASE("an unknown name is locked like a known one, so that the answer does not reveal accounts")
{
    ConsoleFixture house;
    for (int i = 0; i < 5; ++i)
        CHECK(statusOf(signIn(house, "nobody", "wrong password", "10.0.1." + std::to_string(i))) ==
              401);
    CHECK(statusOf(signIn(house, "nobody", "wrong password")) == 429);
    CHECK(house.notes("person_locked_out").empty());
}

TEST_CASE("an address that keeps failing waits longer each time, and others do not wait")
{
    LoginLimiter failures;
    std::int64_t now = 1000;
    for (int i = 0; i < 5; ++i) {
        CHECK(failures.addressWaitMs("10.0.0.1", now) == 0);
        failures.countAddressAttempt("10.0.0.1", now);
    }
    for (const std::int64_t expected : {1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000}) {
        CHECK(failures.addressWaitMs("10.0.0.1", now) == expected);
        CHECK(failures.addressWaitMs("10.0.0.2", now) == 0);
        now += expected;
        failures.countAddressAttempt("10.0.0.1", now);
    }
    CHECK(failures.addressWaitMs("10.0.0.1", now + LoginLimiter::kWindowMs) == 0);
}

TEST_CASE("IPv6 clients are counted by /64, and the number of stored failures is bounded")
{
    CHECK(networkOf("2001:db8::1") == networkOf("2001:db8::ffff:1"));
    CHECK(networkOf("2001:db8::1") != networkOf("2001:db8:0:1::1"));
    CHECK(networkOf("10.0.0.1") == "10.0.0.1");
    LoginLimiter failures;
    for (int i = 0; i < 5; ++i) failures.countNameAttempt("ann", 1'000'000);
    for (int i = 0; i < 10'000; ++i) {
        failures.countNameAttempt("n" + std::to_string(i), 1000 + i);
        failures.countAddressAttempt("a" + std::to_string(i), 1000 + i);
    }
    CHECK(failures.nameWaitMs("ann", 1'000'000) > 0);  // locked names are dropped last
}

TEST_CASE("refusals of an address make one record at once, then one a minute")
{
    ConsoleFixture house;
    for (int i = 0; i < 9; ++i) {
        (void)signIn(house, "n" + std::to_string(i), "wrong password");
        house.pass(100);
    }
    CHECK(house.notes("sign_in_refused").size() == 1);
    house.pass(People::kRefusalIntervalMs);
    for (int i = 0; i < 300 && house.notes("sign_in_refused").size() < 2; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    const auto notes = house.notes("sign_in_refused");
    REQUIRE(notes.size() == 2);
    CHECK(notes[0].find("\"count\":1,") != std::string::npos);
    CHECK(notes[1].find("\"count\":8,") != std::string::npos);
}

TEST_CASE("an account with a certificate needs it, and nobody without it can lock the account")
{
    ConsoleFixture house;
    const std::string print(64, 'a');
    CHECK(house.people->add(
        {"ann", Role::Inspector, ConsoleFixture::passwordOf("ann"), print, false}, "(local)"));
    for (int i = 0; i < 7; ++i)
        CHECK(statusOf(signIn(house, "ann", ConsoleFixture::passwordOf("ann"),
                              "10.0.1." + std::to_string(i))) == 401);
    CHECK(statusOf(signIn(house, "ann", ConsoleFixture::passwordOf("ann"), "10.0.1.9",
                          std::string(64, 'b'))) == 401);
    CHECK(signIn(house, "ann", ConsoleFixture::passwordOf("ann"), "10.0.0.1", print));
    CHECK(statusOf(signIn(house, "ann", "wrong password", "10.0.0.1", print)) == 401);
    CHECK(house.notes("person_locked_out").empty());
}

TEST_CASE("a change of a person ends their sessions; disabling keeps them out")
{
    ConsoleFixture house;
    house.add("ann", Role::Supervisor);
    house.add("adm", Role::Administrator);
    const auto check = [&](const PersonChange& change, bool mayReturn) {
        const auto before = signIn(house, "ann", ConsoleFixture::passwordOf("ann"));
        REQUIRE(before);
        REQUIRE(house.people->change("ann", change, "adm"));
        CHECK(!house.sessions->use(before->session.token, "10.0.0.1"));
        CHECK(bool{signIn(house, "ann", ConsoleFixture::passwordOf("ann"))} == mayReturn);
    };
    PersonChange role;
    role.role = Role::Auditor;
    check(role, true);
    CHECK(house.notes("person_changed").back() ==
          R"({"kind":"person_changed","who":"ann","by":"adm","role_before":"supervisor",)"
          R"("role":"auditor"})");
    PersonChange disable;
    disable.disabled = true;
    check(disable, false);
    CHECK(house.notes("person_disabled").size() == 1);
    PersonChange enable;
    enable.disabled = false;
    REQUIRE(house.people->change("ann", enable, "adm"));
    CHECK(signIn(house, "ann", ConsoleFixture::passwordOf("ann")));
    // It survives a restart.
    REQUIRE(house.people->change("ann", disable, "adm"));
    house.reopen();
    CHECK(!signIn(house, "ann", ConsoleFixture::passwordOf("ann")));
}

TEST_CASE("an administrator cannot change their own role or account, so that one is always left")
{
    ConsoleFixture house;
    house.add("adm", Role::Administrator);
    PersonChange change;
    change.disabled = true;
    CHECK(house.people->change("adm", change, "adm").error().status == 409);
    change = {};
    change.role = Role::Auditor;
    CHECK(house.people->change("adm", change, "adm").error().status == 409);
    CHECK(house.people->change("nobody", change, "adm").error().status == 404);
    CHECK(house.people->add({"adm", Role::Auditor, "another password", "", true}, "adm")
              .error()
              .status == 409);
}

TEST_CASE("changing your own password needs the old one and ends the other sessions")
{
    ConsoleFixture house;
    house.add("ann", Role::Supervisor, true);
    const auto here = signIn(house, "ann", ConsoleFixture::passwordOf("ann"));
    const auto there = signIn(house, "ann", ConsoleFixture::passwordOf("ann"));
    const auto session = house.sessions->use(here->session.token, "10.0.0.1");
    CHECK(session->mustChangePassword);
    const Request request = requestOf("ann", session->id);
    CHECK(house.people->changePassword(request, {"wrong password", "a new password"})
              .error()
              .status == 403);
    CHECK(house.people->changePassword(request, {ConsoleFixture::passwordOf("ann"), "short"})
              .error()
              .status == 400);
    CHECK(house.people
              ->changePassword(
                  request, {ConsoleFixture::passwordOf("ann"), ConsoleFixture::passwordOf("ann")})
              .error()
              .status == 400);
    CHECK(house.people->changePassword(request,
                                       {ConsoleFixture::passwordOf("ann"), "a new password"}));
    CHECK(!house.sessions->use(there->session.token, "10.0.0.1"));
    CHECK(!house.sessions->use(here->session.token, "10.0.0.1")->mustChangePassword);
    CHECK(!signIn(house, "ann", ConsoleFixture::passwordOf("ann")));
    CHECK(signIn(house, "ann", "a new password"));
}

TEST_CASE("people.db is for its owner alone, and holds no password")
{
    ConsoleFixture house;
    house.add("ann", Role::Supervisor);
    const auto file = house.directory() / "people.db";
    struct stat status {};
    REQUIRE(::stat(file.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0600U);
    std::ifstream in{file, std::ios::binary};
    const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
    CHECK(bytes.find("scrypt$") != std::string::npos);
    CHECK(bytes.find(ConsoleFixture::passwordOf("ann")) == std::string::npos);
    ::chmod(file.c_str(), 0644);
    CHECK_THROWS(house.reopen());
}

TEST_CASE("many people sign in and fail at once, and every success is journaled")
{
    ConsoleFixture house;
    house.add("ann", Role::Supervisor);
    std::vector<std::jthread> threads;
    std::atomic<int> good{0};
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&, i] {
            for (int j = 0; j < 3; ++j) {
                const std::string address = "10.1." + std::to_string(i) + "." + std::to_string(j);
                if (signIn(house, "ann", ConsoleFixture::passwordOf("ann"), address)) ++good;
                (void)house.people->list();
            }
        });
    threads.clear();
    CHECK(good > 0);
    CHECK(house.notes("person_signed_in").size() == static_cast<std::size_t>(good.load()));
}

}  // namespace
}  // namespace jackpot::console
