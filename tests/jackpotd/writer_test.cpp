// The writer and the link's server in one process, with many threads on them: for the sanitizers.
#include "jackpotd/writer.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <thread>

#include "jackpotd/journal_clock.h"
#include "jackpotd/self_check.h"
#include "linkproto/client/table_link.h"
#include "linkproto/server/link_server.h"
#include "storage/verify.h"
#include "tests/support/authority.h"
#include "tests/support/eventually.h"
#include "tests/support/rules_fixture.h"
#include "tests/support/scratch.h"

namespace jackpot {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

storage::Signer signer(const storage::PrivateKey& key)
{
    return storage::Signer::make("floor.example/journal", key).value();
}

constexpr int kTables = 4;
constexpr int kRounds = 40;

}  // namespace

TEST_CASE("the rules give the results of the examples in the rule documents")
{
    CHECK(checkRules());
}

TEST_CASE("the journal clock continues from the last record, even if the wall clock is behind")
{
    const rules::TimeMs future = 4'000'000'000'000;
    const JournalClock clock{future};
    CHECK(clock.now() >= future);
    CHECK(clock.now() < future + 60'000);
    CHECK(JournalClock{0}.now() > 1'700'000'000'000);
}

TEST_CASE("a mailbox accepts items up to its capacity, and returns all of them at once")
{
    Mailbox<int> mailbox{3};
    std::vector<int> some{1, 2, 3, 4};
    CHECK(mailbox.putMany(some) == 3);
    int one = 5;
    CHECK_FALSE(mailbox.put(one));
    std::vector<int> taken;
    mailbox.takeAll(taken, std::chrono::steady_clock::now(), 1, 0us);
    CHECK(taken == std::vector{1, 2, 3});
    mailbox.close();
    CHECK_FALSE(mailbox.put(one));
    CHECK(mailbox.putMany(some) == 0);
    taken.clear();
    mailbox.takeAll(taken, std::chrono::steady_clock::now() + 1h, 1, 1h);  // does not wait
    CHECK(taken.empty());
}

// Plays rounds over a link of its own and counts those that were decided.
void playRounds(const std::string& id, const net::TlsFiles& files, std::uint16_t port,
                std::atomic<int>& decided)
{
    auto table = link::TableLink::open({.host = "127.0.0.1",
                                        .port = port,
                                        .table = id,
                                        .certificate = files.certificate,
                                        .key = files.key,
                                        .ca = files.ca},
                                       {});
    if (!table || !(*table)->waitOnline(20s)) return;
    const auto isDone = [&](const link::Command& command) {
        const auto number = (*table)->send(command);
        if (!number) return false;
        const auto decision = (*table)->wait(*number, 20s);
        return decision && !decision->refusal;
    };
    for (int round = 1; round <= kRounds; ++round) {
        if (!isDone(link::OpenRound{.round = round, .wagers = {{.seat = 1}, {.seat = 2}}}) ||
            !isDone(link::ReportResult{.round = round, .board = {"9H"}}))
            return;
        ++decided;
    }
}

TEST_CASE(
    "tables, people and limits at once: every wager is counted once, and the journal verifies")
{
    const ScratchDirectory scratch;
    const auto key = storage::PrivateKey::generate();
    const fs::path directory = scratch / "journal";
    fs::create_directory(directory);
    auto journal = storage::Journal::create({directory, 50, {}}, signer(key), 1);
    REQUIRE(journal);
    const rules::Site site = rules::siteOf(rules::blazingPool(), kTables);
    REQUIRE_FALSE(journal->decide(rules::ConfigureSite{site}, 1).refusal);
    REQUIRE(journal->commit());
    const std::uint64_t before = journal->size();

    Authority authority{scratch.path(), "ca"};
    const Log log{config::LogLevel::Error};
    bool failed = false;
    Writer writer{{directory, 64, 16, 60'000, {}},
                  std::move(*journal),
                  log,
                  [&](const storage::JournalError&) { failed = true; }};
    auto tls = net::TlsContext::make(net::TlsContext::Role::MutualServer, authority.daemon());
    REQUIRE(tls);
    std::vector<std::string> ids;
    for (const rules::TableConfig& table : site.tables) ids.push_back(table.id);
    auto server = linkproto::Server::listen(
        {}, std::move(*tls), ids, [](std::string_view card) { return "p-" + std::string{card}; },
        [&](std::vector<linkproto::Incoming>& heard) { return writer.post(heard); });
    REQUIRE(server);
    writer.setReplySink(
        [&](linkproto::Delivery delivery) { (*server)->deliver(std::move(delivery)); });
    REQUIRE(writer.start());

    std::atomic<int> decided{0};
    {
        // A reader sees counts that never fall, and amounts that are not torn.
        const std::jthread watching{[&](const std::stop_token& stop) {
            std::uint64_t records = 0;
            bool good = true;
            while (!stop.stop_requested()) {
                const std::uint64_t now = writer.metrics().records.value();
                const auto pools = writer.poolMetrics();
                good = good && now >= records && writer.trouble().empty() && pools.size() == 1 &&
                       pools[0].tables == kTables &&
                       writer.readings().read(0).displayed >= site.pools[0].minimum &&
                       writer.sinceLastTurn() < 60s;
                records = now;
                std::this_thread::sleep_for(1ms);
            }
            CHECK(good);
        }};
        std::vector<std::jthread> tables;
        for (const std::string& id : ids) {
            const net::TlsFiles files = authority.table(id);
            tables.emplace_back(
                [&, id, files] { playRounds(id, files, (*server)->port(), decided); });
        }
        for (int i = 0; i < 10; ++i) {
            const auto outcome =
                writer
                    .submit(rules::AdjustPool{
                        site.pools[0].id, rules::Money::ofDollars(1), "count", {"ann", "bob"}})
                    .get();
            CHECK((outcome && !outcome->refusal));
            writer.setLimits({60 + i, std::nullopt, 60});
            writer.raiseAlarm("a_test", "number " + std::to_string(i));
            std::this_thread::sleep_for(2ms);
        }
    }
    CHECK(decided == kTables * kRounds);
    writer.stop();
    (*server)->stop(linkproto::GoodbyeReason::Shutdown, "the test is over");
    CHECK_FALSE(failed);
    const WriterMetrics& metrics = writer.metrics();
    CHECK(metrics.decided[rules::Command{rules::OpenRound{}}.index()].accepted.value() ==
          kTables * kRounds);
    CHECK(metrics.alarms[alarmIndex("other")].value() == 10);
    CHECK(metrics.batch.sum() == metrics.records.value() - before);

    std::vector<linkproto::Incoming> late;
    late.push_back({0, 0, linkproto::TableTimedOut{}});
    CHECK(writer.post(late) == 0);  // nothing is taken any more, and nothing lost unseen
    storage::VerifyOptions options;
    options.trusted.push_back(signer(key).verifier());
    options.threads = 1;
    const auto verified = storage::verify(storage::filesOf(directory), options);
    REQUIRE_MESSAGE(verified, (verified ? "" : inWords(verified.error())));
    CHECK(verified->end >= before + kTables * kRounds + 10);
    auto reader = storage::orThrow(storage::JournalReader::open(directory / storage::kJournalName));
    int opened = 0;
    storage::orThrow(reader.forEachPayload(
        0, storage::orThrow(reader.endSeq()), [&](std::uint64_t, std::string_view payload) {
            if (payload.find("\"round_opened\"") != std::string_view::npos) ++opened;
            return true;
        }));
    CHECK(opened == kTables * kRounds);
}

TEST_CASE(
    "events of people are journaled, a snapshot is a copy, and a suspended pool is published as "
    "such")
{
    const ScratchDirectory scratch;
    const auto key = storage::PrivateKey::generate();
    const fs::path directory = scratch / "journal";
    fs::create_directory(directory);
    auto journal = storage::Journal::create({directory, 50, {}}, signer(key), 1);
    REQUIRE(journal);
    const rules::Site site = rules::siteOf(rules::blazingPool(), 1);
    REQUIRE_FALSE(journal->decide(rules::ConfigureSite{site}, 1).refusal);
    REQUIRE(journal->commit());
    const std::uint64_t before = journal->size();
    const Log log{config::LogLevel::Error};
    Writer writer{{directory, 64, 16, 60'000, {}}, std::move(*journal), log, {}};
    const auto status = [&] {
        return writer.readings().statusAt(writer.readings().read(0), meters::Clock::now());
    };
    CHECK(status() == meters::PoolStatus{.open = true});  // before anyone has started anything
    REQUIRE(writer.start());

    ChangeSignal& changes = writer.readings().changes();
    std::uint32_t seen = changes.count();
    const auto noted =
        writer
            .appendEvent("person_signed_in",
                         [](storage::JsonText& json) { json.textField("name", "ann"); })
            .get();
    REQUIRE(noted);
    CHECK(*noted == before);
    auto reader = storage::orThrow(storage::JournalReader::open(directory / storage::kJournalName));
    CHECK(storage::orThrow(reader.payload(before))
              ->find("\"kind\":\"person_signed_in\",\"name\":\"ann\"") != std::string::npos);

    // One notification for each commit, after its answer, and none for the turns without a record.
    changes.wait(seen, meters::Clock::now() + 5s, {});
    REQUIRE(changes.count() == ++seen);
    REQUIRE(writer.appendEvent("person_signed_out", [](storage::JsonText&) {}).get());
    changes.wait(seen, meters::Clock::now() + 5s, {});
    CHECK(changes.count() == seen + 1);
    const std::uint64_t turns = writer.metrics().turns.value();
    CHECK(eventually([&] { return writer.metrics().turns.value() > turns + 1; }));
    CHECK(changes.count() == seen + 1);

    // What could not be read again is not written.
    CHECK_FALSE(
        writer.appendEvent("x", [](storage::JsonText& json) { json.textField("pools", "B7"); })
            .get());
    CHECK_FALSE(writer.appendEvent("round_opened", [](storage::JsonText&) {}).get());

    CHECK(writer.submit(rules::SuspendPool{site.pools[0].id, "count", {"ann"}}).get());
    CHECK(status() == meters::PoolStatus{});
    const auto copy = writer.snapshot().get();
    REQUIRE(copy);
    CHECK((*copy)->pools[0].suspended);
    CHECK(writer.submit(rules::ResumePool{site.pools[0].id, "counted", {"ann"}}).get());
    CHECK(status() == meters::PoolStatus{.open = true});
    CHECK((*copy)->pools[0].suspended);  // it is a copy
    writer.stop();
    CHECK_FALSE(writer.snapshot().get());
    CHECK_FALSE(writer.appendEvent("late", [](storage::JsonText&) {}).get());
}

}  // namespace jackpot
