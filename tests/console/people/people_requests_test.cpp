#include "console/people/people_requests.h"

#include <doctest/doctest.h>

namespace jackpot::console {
namespace {

TEST_CASE("a body is one JSON object with known keys, each once, each of its type")
{
    CHECK(readCredentials(R"({"name":"ann","password":"x"})")->name == "ann");
    for (const char* bad :
         {"", "null", "[]", "{", "{}", R"({"name":"ann"})", R"({"name":"ann","password":1})",
          R"({"name":"ann","password":"x","more":1})",
          R"({"name":"ann","name":"bob","password":"x"})", R"({"name":"ann","password":"x"} x)",
          "{\"name\":\"\xff\",\"password\":\"x\"}"})
        CHECK_MESSAGE(!readCredentials(bad), bad);
    CHECK(!readCredentials(R"({"name":"ann","password":")" + std::string(1025, 'x') + "\"}"));
    CHECK(!readCredentials(std::string(60'000, '[')));
}

TEST_CASE("a new person needs a valid name, role and password")
{
    const auto person =
        readNewPerson(R"({"name":"ann","role":"inspector","password":"twelve bytes",)"
                      R"("certificate":"AA:)" +
                      std::string(62, 'b') + R"("})");
    REQUIRE(person);
    CHECK(person->role == Role::Inspector);
    CHECK(person->certificate == "aa" + std::string(62, 'b'));
    CHECK(person->mustChangePassword);
    for (const char* bad : {R"({"name":"Ann","role":"inspector","password":"twelve bytes"})",
                            R"({"name":"ann","role":"dealer","password":"twelve bytes"})",
                            R"({"name":"ann","role":"inspector","password":"short"})",
                            R"({"name":"ann","role":"inspector","password":"twelve bytes",)"
                            R"("certificate":"abc"})"})
        CHECK_MESSAGE(!readNewPerson(bad), bad);
}

TEST_CASE("a change request contains only the changed fields")
{
    const auto change = readPersonChange(R"({"role":"auditor","disabled":false})");
    REQUIRE(change);
    CHECK(change->role == Role::Auditor);
    CHECK(change->disabled == false);
    CHECK(!change->password);
    CHECK(readPersonChange("{}"));
    CHECK(readPersonChange(R"({"certificate":""})")->certificate == "");
    CHECK(!readPersonChange(R"({"disabled":"yes"})"));
    CHECK(!readPersonChange(R"({"name":"bob"})"));
}

}  // namespace
}  // namespace jackpot::console
