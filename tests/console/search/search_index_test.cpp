// The search index is filled from the journal; when it is interrupted, deleted or damaged, it is
// rebuilt.
#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "rules/apply.h"
#include "storage/sqlite.h"
#include "tests/console/desk_fixture.h"
#include "tests/support/eventually.h"
#include "tests/support/rules_fixture.h"

namespace jackpot::console {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::seconds kLong{20};

// Something of everything: claims in each state, notices, proposals, refusals.
void live(DeskFixture& house, std::int64_t round)
{
    house.claim("T1", round, {2});
    house.confirm("T1", round);
    house.wait(10'000);
    (void)house.post("/api/v1/claims/T1/" + std::to_string(round) + "/payments",
                     R"({"seat":2,"tier":"three_suited_sevens","paid":"100.00","how":"chips"})",
                     kAnn);
    house.claim("T2", round, {1, 3});
    (void)house.post("/api/v1/tables/T2/rounds/" + std::to_string(round) + "/correct",
                     R"({"board":["7H"],"hands":[{"seat":3,"cards":["7H","7H"]}],"reason":"r"})",
                     kAnn);
    house.claim("T3", round, {5});
    house.confirm("T2", round);
    house.confirm("T3", round);
    (void)house.postByTwo("/api/v1/tables/T3/rounds/" + std::to_string(round) + "/void",
                          R"({"ground":"missing_or_foreign_card"})");
    house.wait(10'000);
    (void)house.post("/api/v1/tables/T4/suspend",
                     R"({"ground":"malfunction","reason":"screen is dark"})", kEye);
    (void)house.post("/api/v1/tables/T4/resume", R"({"reason":"repaired"})", kAnn);
    (void)house.post("/api/v1/pools/B7/adjustments", R"({"amount":"1.00","reason":"r"})", kAnn);
    (void)house.note("alarm_raised", [](storage::JsonText& json) {
        json.textField("code", "malformed_command");
        json.textField("table", "T4");
        json.textField("detail", "frame of 3 bytes");
    });
    (void)house.give(rules::OpenRound{"nowhere", round, {}});
}

std::string told(DeskFixture& house)
{
    REQUIRE(house.book().catchUp(kLong));
    return everything(house.book());
}

TEST_CASE("the search index has the same content after a restart, after a rebuild and in memory")
{
    DeskFixture house;
    for (int round = 1; round <= 3; ++round) live(house, round);
    const std::string first = told(house);
    CHECK(first.find("|withdrawn|") != std::string::npos);
    CHECK(first.find("|dropped|") != std::string::npos);

    house.restart();
    CHECK(told(house) == first);
    house.restart([&] { fs::remove(house.path() / "search.db"); });
    CHECK(told(house) == first);
    // In memory, where the directory may not be written.
    SearchIndex elsewhere{{house.path(), "/proc/search.db", std::chrono::milliseconds{20}, 3},
                          house.changes};
    REQUIRE(elsewhere.catchUp(kLong));
    CHECK(everything(elsewhere) == first);
    CHECK_FALSE(fs::exists("/proc/search.db"));
    // Control: a search index without one record gives another result.
    live(house, 4);
    CHECK(told(house) != first);
}

TEST_CASE("the search index resumes where it stopped, page by page")
{
    DeskFixture house;
    for (int round = 1; round <= 3; ++round) live(house, round);
    const std::string whole = told(house);
    house.stopBook();
    // Interrupt it at every page: start it, and stop it as soon as it has some records.
    fs::remove(house.path() / "search.db");
    std::uint64_t before = 0;
    for (int i = 0; i < 200 && before < house.size(); ++i) {
        SearchIndex book{{house.path(), {}, std::chrono::milliseconds{1000}, 1}, house.changes};
        (void)book.waitForRecord(before, kLong);
        const std::uint64_t size = book.size();
        CHECK(size > before);
        before = size;
    }
    house.startBook();
    CHECK(told(house) == whole);
}

TEST_CASE("the search index follows the journal into new segments, also after a pause")
{
    DeskFixture house;
    live(house, 1);
    REQUIRE(house.book().catchUp(kLong));
    house.closeSegment();
    live(house, 2);
    REQUIRE(house.book().catchUp(kLong));
    CHECK(house.book().size() == house.size());
    house.stopBook();
    house.closeSegment();
    house.claim("T1", 3, {2});
    house.confirm("T1", 3);
    house.closeSegment();
    house.wait(5000);
    (void)house.give(rules::SuspendPool{"UTH", "r", {"Ann"}});
    house.startBook();
    const std::string resumed = told(house);
    CHECK(house.book().size() == house.size());
    house.restart([&] { fs::remove(house.path() / "search.db"); });
    CHECK(told(house) == resumed);
    // Every record is there once, by its number.
    for (std::uint64_t seq = 0; seq < house.size(); ++seq)
        CHECK(storage::orThrow(house.book().record(seq)));
    // A record of the first segment shows its proof.
    CHECK(house.get("/api/v1/records/2/proof").status == 200);
}

TEST_CASE("a search database of another journal, or of one that was rolled back, is rebuilt")
{
    DeskFixture house;
    live(house, 1);
    REQUIRE(house.book().catchUp(kLong));
    const fs::path kept = house.path() / "kept";
    house.restart([&] {
        fs::create_directory(kept);
        fs::copy(house.path() / "journal.db", kept / "journal.db");
    });
    live(house, 2);
    const std::string abandoned = told(house);
    house.restart([&] {
        fs::copy(house.path() / "search.db", kept / "search.db");
        for (const char* name : {"journal.db", "journal.db-wal", "journal.db-shm"})
            fs::remove(house.path() / name);
        fs::copy(kept / "journal.db", house.path() / "journal.db");
    });
    SUBCASE("the journal is shorter") {}
    SUBCASE("the journal continues differently")
    {
        house.now += 1'000'000;
        live(house, 2);
        live(house, 3);
        // The new journal is longer than the indexed one, which was discarded.
        house.restart([&] {
            fs::copy(kept / "search.db", house.path() / "search.db",
                     fs::copy_options::overwrite_existing);
        });
    }
    const std::string now = told(house);
    CHECK(now != abandoned);
    CHECK(house.book().size() == house.size());
    house.restart([&] { fs::remove(house.path() / "search.db"); });
    CHECK(told(house) == now);
}

TEST_CASE("a search database that is damaged, foreign or of another version is rebuilt")
{
    DeskFixture house;
    live(house, 1);
    const std::string right = told(house);
    const fs::path file = house.path() / "search.db";
    const auto after = [&](const std::function<void()>& harm) {
        house.restart(harm);
        return told(house);
    };
    CHECK(after([&] { std::ofstream{file} << "this is no database, but it is long enough"; }) ==
          right);
    CHECK(after([&] {
              storage::Database database{file.string(), storage::Database::Mode::ReadWrite};
              database.execute("PRAGMA user_version = 999");
          }) == right);
    CHECK(after([&] {
              fs::remove(file);
              storage::Database database{file.string(), storage::Database::Mode::Create};
              database.execute("CREATE TABLE mine(a)");
          }) == right);
    CHECK(after([&] {
              fs::resize_file(file, 4096);  // the first page alone
          }) == right);
}

TEST_CASE(
    "an unreadable record stops the search index before its page, and the error names the record")
{
    DeskFixture house;
    live(house, 1);
    live(house, 2);
    const std::string right = told(house);
    const auto alter = [&](const std::string& from, const std::string& to) {
        storage::Database database{(house.path() / "journal.db").string(),
                                   storage::Database::Mode::ReadWrite};
        database.execute("UPDATE journal SET payload = replace(payload, '" + from + "', '" + to +
                         "') WHERE seq = 3");
    };
    house.restart([&] {
        fs::remove(house.path() / "search.db");
        alter("\"kind\"", "\"Kind\"");
    });
    CHECK_FALSE(house.book().catchUp(kLong));
    CHECK(house.book().fault().starts_with("record 3 cannot be read"));
    CHECK(house.book().size() == 0);
    CHECK(storage::orThrow(house.book().records({})).empty());
    alter("\"Kind\"", "\"kind\"");
    CHECK(told(house) == right);
    CHECK(house.book().fault().empty());
}

TEST_CASE("the search index contains only committed records, and adds them automatically")
{
    DeskFixture house;
    REQUIRE(house.book().catchUp(kLong));
    CHECK(house.book().size() == house.size());
    (void)house.give(rules::SuspendPool{"UTH", "r", {"Ann"}});
    CHECK(house.book().waitForRecord(house.size() - 1, kLong));
    CHECK_FALSE(house.book().waitForRecord(house.size() + 5, std::chrono::milliseconds{50}));
    for (int i = 0; i < 1000 && house.book().size() < house.size(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    CHECK(house.book().size() == house.size());
}

TEST_CASE("a notification after a commit starts a pass, and without one no pass is made")
{
    DeskFixture house;
    ChangeSignal other;
    SearchIndex unnotified{{house.path(), "/proc/search.db", std::chrono::milliseconds{1}, 100},
                           other};
    REQUIRE(unnotified.catchUp(kLong));
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    const std::uint32_t seen = other.count();
    live(house, 1);
    CHECK(eventually([&] { return house.book().size() == house.size(); }));
    std::this_thread::sleep_for(std::chrono::milliseconds{200});
    CHECK(unnotified.size() < house.size());
    CHECK(other.count() == seen);
    other.notify();
    CHECK(eventually([&] { return unnotified.size() == house.size(); }));
    // The index notifies those who wait for new rows, and is not woken by that itself.
    CHECK(eventually([&] { return other.count() == seen + 2; }));
}

TEST_CASE("searches are answered while the search index is filled")
{
    DeskFixture house;
    for (int round = 1; round <= 3; ++round) live(house, round);
    house.stopBook();
    fs::remove(house.path() / "search.db");
    SearchIndex book{{house.path(), {}, std::chrono::milliseconds{1}, 1}, house.changes};
    std::vector<std::jthread> readers;
    for (int i = 0; i < 2; ++i)
        readers.emplace_back([&book](const std::stop_token& stop) {
            while (!stop.stop_requested()) {
                const auto rows = storage::orThrow(book.records({}));
                for (std::size_t at = 1; at < rows.size(); ++at)
                    if (rows[at - 1].seq != rows[at].seq + 1) std::abort();
                (void)storage::orThrow(book.claims({}));
            }
        });
    CHECK(book.catchUp(kLong));
    CHECK(book.size() == house.size());
}

TEST_CASE("records are found by their subject, in pages")
{
    DeskFixture house;
    for (int round = 1; round <= 3; ++round) live(house, round);
    const std::uint64_t size = house.size();
    // All of them in pages of five, both ways.
    std::vector<std::string> down;
    std::string target = "/api/v1/records?limit=5";
    while (true) {
        const Answer page = house.get(target);
        for (std::size_t i = 0; i < page.count("records"); ++i)
            down.push_back(page.at("records/" + std::to_string(i) + "/record"));
        if (page.at("before").empty()) break;
        target = "/api/v1/records?limit=5&before=" + page.at("before");
    }
    CHECK(down.size() == size);
    std::vector<std::string> up{"0"};
    while (true) {
        const Answer page = house.get("/api/v1/records?limit=7&after=" + up.back());
        for (std::size_t i = 0; i < page.count("records"); ++i)
            up.push_back(page.at("records/" + std::to_string(i) + "/record"));
        if (page.at("after").empty()) break;
    }
    std::ranges::reverse(up);
    CHECK(up == down);

    CHECK(house.get("/api/v1/records?kind=jackpot_confirmed&table=T1").count("records") == 3);
    CHECK(house.get("/api/v1/records?table=T1&round=2").count("records") == 4);
    CHECK(house.get("/api/v1/records?kind=alarm_raised&table=T4").count("records") == 3);
    CHECK(house.get("/api/v1/records?who=ann&kind=proposal_made").count("records") == 6);
    CHECK(house.get("/api/v1/records?who=nobody").count("records") == 0);
    CHECK(house.get("/api/v1/records?from=2026-01-01&to=2026-01-02&limit=500").count("records") ==
          size);
    CHECK(house.get("/api/v1/records?from=2026-01-02").count("records") == 0);
    CHECK(house.get("/api/v1/records?limit=500&pool=B7").count("records") > 30);
    // Pseudonyms of player cards are in no list.
    (void)house.give(rules::OpenRound{"U1", 1, {{1, true, "p-secret", {}}}});
    CHECK(house.get("/api/v1/records").body.find("p-secret") == std::string::npos);
}

}  // namespace
}  // namespace jackpot::console
