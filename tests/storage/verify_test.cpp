// How far a verification is, and verification beside the writer: what Journal::open leaves to it,
// and that it is in nobody's way.
#include "storage/verify.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "tests/storage/fault_floor.h"

namespace jackpot::storage {
namespace {

namespace fs = std::filesystem;
using Ending = Result<Verified, Fault>;

JournalSettings settingsFor(const fs::path& directory) { return {directory, 200, {}}; }

VerifyOptions trusting(const Signer& signer)
{
    VerifyOptions options;
    options.trusted = {signer.verifier()};
    return options;
}

void fill(const fs::path& directory, std::uint64_t records)
{
    auto journal = Journal::create(settingsFor(directory), testSigner(), 0);
    REQUIRE(journal);
    BusyFloor floor{21};
    while (journal->size() < records) {
        floor.play(*journal, 50);
        REQUIRE(journal->commit());
    }
}

// As the daemon does it: opens the journal, and has what is older than its snapshot verified.
Ending openAndVerify(const fs::path& directory)
{
    const auto journal = Journal::open(settingsFor(directory), testSigner(), 0);
    REQUIRE_MESSAGE(journal, (journal ? "" : inWords(journal.error())));
    std::promise<Ending> ended;
    const BackgroundVerification verification{filesOf(directory), trusting(testSigner()),
                                              [&](const Ending& how) { ended.set_value(how); }};
    return ended.get_future().get();
}

int niceness() { return ::getpriority(PRIO_PROCESS, 0); }

// Before any test, because a changed priority would be taken for the original one later.
const int kOurs = niceness();

}  // namespace

TEST_CASE("progress is of all files together")
{
    const MemoryDirectory directory;
    fill(directory.path(), 3'000);
    auto journal = Journal::open(settingsFor(directory.path()), testSigner(), 0);
    REQUIRE(journal);
    for (int i = 0; i < 2; ++i) {
        REQUIRE(journal->closeSegment(0));
        for (int j = 0; j < 2'500; ++j) journal->heartbeat(0);
        REQUIRE(journal->commit());
    }
    const auto told = [&](const std::vector<fs::path>& files) {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
        VerifyOptions options = trusting(testSigner());
        options.progress = [&](std::uint64_t done, std::uint64_t total) {
            all.emplace_back(done, total);
        };
        REQUIRE(verify(files, options));
        return all;
    };
    const auto check = [&](const std::vector<fs::path>& files, std::uint64_t records) {
        std::uint64_t before = 0;
        for (const auto& [done, total] : told(files)) {
            CHECK(done > before);
            CHECK(total == records);
            before = done;
        }
        CHECK(before == records);
    };
    const auto files = filesOf(directory.path());
    REQUIRE(files.size() == 3);
    check(files, journal->size());
    // Control: of fewer files there are fewer.
    check({files.back()}, journal->size() - orThrow(JournalReader::open(files.back())).firstSeq());
}

TEST_CASE("a journal that is written meanwhile verifies up to where it stood at the beginning")
{
    const MemoryDirectory directory;
    fill(directory.path(), 1'000);
    auto journal = Journal::open(settingsFor(directory.path()), testSigner(), 0);
    REQUIRE(journal);
    const std::uint64_t before = journal->size();

    std::promise<void> begun;
    std::promise<void> written;
    std::promise<Ending> ended;
    VerifyOptions options = trusting(testSigner());
    options.progress = [&, first = true](std::uint64_t, std::uint64_t) mutable {
        if (!std::exchange(first, false)) return;
        begun.set_value();
        written.get_future().wait();
    };
    const BackgroundVerification verification{filesOf(directory.path()), options,
                                              [&](const Ending& how) { ended.set_value(how); }};
    begun.get_future().wait();
    BusyFloor floor{22};
    for (int i = 0; i < 50; ++i) {
        floor.play(*journal, 20);
        CHECK(journal->commit());
        CHECK(journal->tidy());
    }
    written.set_value();
    const Ending how = ended.get_future().get();
    REQUIRE_MESSAGE(how, (how ? "" : inWords(how.error())));
    CHECK(how->end == before);
    CHECK(journal->size() > before);
}

TEST_CASE("a journal whose older rows are bad still opens, and the verification names the record")
{
    const MemoryDirectory directory;
    fill(directory.path(), 1'000);
    // Control: nothing is wrong with it yet.
    REQUIRE(openAndVerify(directory.path()));

    const auto payloads = payloadsOf(directory.path());
    std::uint64_t forged = 300;
    while (payloads[forged].find("\"meter\":\"") == std::string::npos) ++forged;
    REQUIRE(forged < orThrow(JournalReader::open(directory.path() / kJournalName))
                         .snapshots()
                         .value()
                         .front()
                         .size);
    std::string forgery = payloads[forged];
    forgery.insert(forgery.find("\"meter\":\"") + 9, "1");
    const auto store = [&](const std::string& payload) {
        Database database{(directory.path() / kJournalName).string(), Database::Mode::ReadWrite};
        database.prepare("UPDATE journal SET payload = ? WHERE seq = ?")
            .bindText(1, payload)
            .bind(2, static_cast<std::int64_t>(forged))
            .run();
    };
    store(forgery);
    const Ending how = openAndVerify(directory.path());
    REQUIRE_FALSE(how);
    CHECK(how.error().seq == forged);
    CHECK(how.error().file == directory.path() / kJournalName);

    store(payloads[forged]);
    CHECK(openAndVerify(directory.path()));
}

TEST_CASE("a verification that is destroyed ends early and says nothing")
{
    using namespace std::chrono_literals;
    const MemoryDirectory directory;
    {
        auto journal = Journal::create({directory.path(), 1'000'000, {}}, testSigner(), 0);
        REQUIRE(journal);
        for (int i = 0; i < 25'000; ++i) journal->heartbeat(i);
        REQUIRE(journal->commit());
    }
    std::atomic<int> ends = 0;
    std::atomic<std::uint64_t> done = 0;
    std::uint64_t total = 0;
    std::promise<void> begun;
    VerifyOptions options = trusting(testSigner());
    // Slowed down to a second and more, so that the verification can be destroyed before its end.
    options.progress = [&](std::uint64_t records, std::uint64_t all) {
        if (done.exchange(records) == 0) {
            total = all;
            begun.set_value();
        }
        std::this_thread::sleep_for(100ms);
    };
    const auto count = [&](const Ending&) { ++ends; };
    {
        const BackgroundVerification verification{filesOf(directory.path()), options, count};
        begun.get_future().wait();
    }
    CHECK(ends.load() == 0);
    CHECK(done.load() < total);

    // Control: the same that is left alone comes to its end.
    options.progress = nullptr;
    std::promise<void> ended;
    const BackgroundVerification verification{filesOf(directory.path()), options,
                                              [&](const Ending& how) {
                                                  CHECK(how);
                                                  ended.set_value();
                                              }};
    ended.get_future().wait();
}

TEST_CASE("only the thread that verifies has a low priority")
{
    const MemoryDirectory directory;
    fill(directory.path(), 100);
    int its = 0;
    int besideIt = 0;
    std::promise<Ending> ended;
    VerifyOptions options = trusting(testSigner());
    options.progress = [&](std::uint64_t, std::uint64_t) { its = niceness(); };
    const BackgroundVerification verification{filesOf(directory.path()), options,
                                              [&](const Ending& how) { ended.set_value(how); }};
    CHECK(ended.get_future().get());
    std::jthread{[&] { besideIt = niceness(); }}.join();
    CHECK(its >= 10);
    CHECK(its >= kOurs);
    CHECK(niceness() == kOurs);
    CHECK(besideIt == kOurs);
}

}  // namespace jackpot::storage
