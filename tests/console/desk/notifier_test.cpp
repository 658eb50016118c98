// Notices: each is delivered once to its receivers, and acknowledged by people.
#include "console/desk/notifier.h"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "rules/apply.h"
#include "tests/console/desk_fixture.h"
#include "tests/support/eventually.h"
#include "tests/support/scratch.h"

namespace jackpot::console {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// A program for the notifier.
fs::path program(DeskFixture& house, const std::string& name, const std::string& script)
{
    const fs::path file = house.path() / name;
    std::ofstream{file} << "#!/bin/sh\ncd '" << house.path().string() << "' || exit 9\n" << script;
    fs::permissions(file, fs::perms::owner_all);
    return file;
}

NotifierSettings settingsFor(DeskFixture& house, const fs::path& file)
{
    NotifierSettings settings;
    settings.command = {file.string(), "an argument; with $things"};
    settings.minInterval = 10ms;
    settings.retryDelay = 20ms;
    settings.programTimeout = 3000ms;
    settings.now = [&house] { return house.now; };
    return settings;
}

std::size_t count(DeskFixture& house, const std::string& kind)
{
    return house.get("/api/v1/records?limit=500&kind=" + kind).count("records");
}

void suspend(DeskFixture& house, const std::string& table)
{
    REQUIRE(house
                .post("/api/v1/tables/" + table + "/suspend",
                      R"({"ground":"malfunction","reason":"screen is dark"})", kAnn)
                .status == 200);
}

TEST_CASE("the inspector gets one notice of a suspension, and acknowledges it (UTH 11.11)")
{
    DeskFixture house;
    const fs::path file =
        program(house, "tell", "cat >> told\nenv > environment\necho \"$1\" > argument\n");
    {
        const Notifier notifier{settingsFor(house, file), house.controller(), house.book(),
                                house.changes};
        suspend(house, "U1");
        REQUIRE(eventually([&] { return count(house, "notice_delivered") == 1; }));
    }
    const std::string told = bytesOf(house.path() / "told");
    CHECK(
        told.find(
            R"("kind":"malfunction","to":["inspector"],"rule":"UTH 11.11","text":"table U1 suspended from the desk, malfunction: screen is dark, by Ann")") !=
        std::string::npos);
    CHECK(std::ranges::count(told, '\n') == 1);
    CHECK(bytesOf(house.path() / "argument") == "an argument; with $things\n");
    const std::string environment = bytesOf(house.path() / "environment");
    CHECK(environment.find("PATH=") != std::string::npos);
    CHECK(environment.find("HOME=") == std::string::npos);

    // Neither a restart nor the loss of the search database delivers it again.
    house.restart([&] { fs::remove(house.path() / "search.db"); });
    {
        const Notifier notifier{settingsFor(house, file), house.controller(), house.book(),
                                house.changes};
        suspend(house, "T1");
        REQUIRE(eventually([&] { return count(house, "notice_delivered") == 2; }));
    }
    CHECK(std::ranges::count(bytesOf(house.path() / "told"), '\n') == 2);

    const Answer open = house.get("/api/v1/notices?acknowledged=false");
    REQUIRE(open.count("notices") == 2);
    CHECK(open.at("notices/1/delivery") == "delivered");
    const std::string id = open.at("notices/1/notice");
    CHECK(house.post("/api/v1/notices/" + id + "/acknowledge", "", kAnn).status == 403);
    CHECK(house.post("/api/v1/notices/" + id + "/acknowledge", "", kEye).code() == "not_for_you");
    const Answer noted =
        house.post("/api/v1/notices/" + id + "/acknowledge", R"({"reason":"on my way"})", kIvy);
    REQUIRE(noted.status == 200);
    CHECK(noted.at("acknowledged_by") == "Ivy");
    CHECK(noted.at("remark") == "on my way");
    CHECK(house.post("/api/v1/notices/" + id + "/acknowledge", "", kIvy).code() == "acknowledged");
    CHECK(house.get("/api/v1/notices?acknowledged=false").count("notices") == 1);
    CHECK(house.get("/api/v1/notices?acknowledged=true").at("notices/0/notice") == id);
    house.verify();
}

TEST_CASE("alarms, foreign cards and suspended pools also produce notices")
{
    DeskFixture house;
    (void)house.give(rules::OpenRound{"T1", 1, {{1, true, {}, {}}}});
    (void)house.post("/api/v1/tables/T1/rounds/1/void", R"({"ground":"missing_or_foreign_card"})",
                     kAnn);
    (void)house.post("/api/v1/pools/UTH/suspend", R"({"reason":"audit"})", kIvy);
    (void)house.note("alarm_raised", [](storage::JsonText& json) {
        json.textField("code", "malformed_command");
        json.textField("detail", "frame of 3 bytes");
    });
    const Answer open = house.get("/api/v1/notices");
    REQUIRE(open.count("notices") == 3);
    CHECK(open.at("notices/0/text") == "alarm malformed_command: frame of 3 bytes");
    CHECK(open.at("notices/1/text") == "pool UTH suspended: audit, by Ivy");
    CHECK(open.at("notices/2/rule") == "BJ 16.16.4");
    CHECK(open.at("notices/2/kind") == "missing_or_foreign_card");
    CHECK(open.at("notices/2/to/0") == "surveillance");
    CHECK(open.at("notices/2/to/1") == "inspector");
    CHECK(house.post("/api/v1/notices/" + open.at("notices/2/notice") + "/acknowledge", "", kEye)
              .status == 200);
}

TEST_CASE("a notice program that fails is run again, and its failure is recorded")
{
    DeskFixture house;
    SUBCASE("it fails twice and then succeeds")
    {
        const fs::path file = program(
            house, "tell", "echo x >> tries\n[ $(wc -l < tries) -ge 3 ] || exit 1\ncat > told\n");
        const Notifier notifier{settingsFor(house, file), house.controller(), house.book(),
                                house.changes};
        suspend(house, "T1");
        REQUIRE(eventually([&] { return count(house, "notice_delivered") == 1; }));
        CHECK(std::ranges::count(bytesOf(house.path() / "tries"), '\n') == 3);
        CHECK(count(house, "notice_failed") == 0);
    }
    SUBCASE("it always fails")
    {
        const fs::path file = program(house, "tell", "echo x >> tries\nexit 1\n");
        const Notifier notifier{settingsFor(house, file), house.controller(), house.book(),
                                house.changes};
        suspend(house, "T1");
        REQUIRE(eventually([&] { return count(house, "notice_failed") == 1; }));
        CHECK(std::ranges::count(bytesOf(house.path() / "tries"), '\n') == 5);
        CHECK(house.get("/api/v1/notices").at("notices/0/delivery") == "failed");
    }
    SUBCASE("it does not exist")
    {
        const Notifier notifier{settingsFor(house, house.path() / "nothing"), house.controller(),
                                house.book(), house.changes};
        suspend(house, "T1");
        REQUIRE(eventually([&] { return count(house, "notice_failed") == 1; }));
    }
    SUBCASE("neither it nor its child process ends")
    {
        NotifierSettings settings =
            settingsFor(house, program(house, "tell", "sleep 300 & echo $! > child\nsleep 300\n"));
        settings.programTimeout = 300ms;
        settings.maxAttempts = 1;
        const Notifier notifier{settings, house.controller(), house.book(), house.changes};
        suspend(house, "T1");
        REQUIRE(eventually([&] { return count(house, "notice_failed") == 1; }));
        const std::string child = bytesOf(house.path() / "child");
        REQUIRE(child.size() > 1);
        // The process has ended, or is a zombie that nobody has waited for yet.
        CHECK(eventually([&] {
            const std::string status =
                bytesOf("/proc/" + child.substr(0, child.size() - 1) + "/stat");
            return status.empty() || status.find(") Z ") != std::string::npos;
        }));
    }
}

TEST_CASE("shutdown does not wait for a notice program")
{
    DeskFixture house;
    const fs::path file = program(house, "tell", "echo x > started\nsleep 300\n");
    const auto start = std::chrono::steady_clock::now();
    {
        NotifierSettings settings = settingsFor(house, file);
        settings.programTimeout = 100s;
        const Notifier notifier{settings, house.controller(), house.book(), house.changes};
        suspend(house, "T1");
        REQUIRE(eventually([&] { return fs::exists(house.path() / "started"); }));
    }
    CHECK(std::chrono::steady_clock::now() - start < 30s);
    CHECK(count(house, "notice_failed") == 0);
}

TEST_CASE("many notices are delivered a few at a time, and old ones are not delivered")
{
    DeskFixture house;
    suspend(house, "T1");
    house.now += 25 * 3'600'000;
    const fs::path file =
        program(house, "tell", "echo 1 >> running\nsleep 0.05\ncat >> told\necho -1 >> running\n");
    NotifierSettings settings = settingsFor(house, file);
    settings.maxParallel = 3;
    const Notifier notifier{settings, house.controller(), house.book(), house.changes};
    for (int i = 0; i < 10; ++i)
        (void)house.note("alarm_raised", [](storage::JsonText& json) {
            json.textField("code", "malformed_command");
            json.textField("detail", "d");
        });
    REQUIRE(eventually([&] { return count(house, "notice_delivered") == 10; }));
    CHECK(std::ranges::count(bytesOf(house.path() / "told"), '\n') == 10);
    int running = 0;
    int most = 0;
    std::ifstream changes{house.path() / "running"};
    for (int change = 0; changes >> change;) most = std::max(most, running += change);
    CHECK(most <= 3);
    CHECK(running == 0);
}

}  // namespace
}  // namespace jackpot::console
