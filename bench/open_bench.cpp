// How long a long journal takes to open and to verify: bench_open [RECORDS], 10,000,000 unless
// given. Figures for docs/benchmarks.md: ./dev bench open
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/encoding.h"
#include "bench/storage_floor.h"
#include "storage/journal.h"
#include "storage/verify.h"

namespace jackpot::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kRecords = 10'000'000;
constexpr std::uint64_t kRecordsACommit = 1'000;
constexpr double kOpenSecondsAtMost = 2;
constexpr int kRounds = 3;
const fs::path kDirectory = "build/bench-open";

[[noreturn]] void stop(const std::string& why)
{
    std::fprintf(stderr, "bench_open: %s\n", why.c_str());
    fs::remove_all(kDirectory);
    std::exit(EXIT_FAILURE);
}

template <class T, class E>
T must(Result<T, E> result)
{
    if (!result) stop(inWords(result.error()));
    return std::move(*result);
}

// The journal ends as far after its newest snapshot as possible: opening then replays the most
// records.
std::uint64_t write(const JournalSettings& settings, const PrivateKey& key, std::uint64_t records)
{
    Journal journal = must(Journal::create(settings, signer(key), 1));
    (void)journal.decide(rules::ConfigureSite{site()}, 1);
    std::uint64_t snapshotAt = 0;
    std::int64_t number = 0;
    const auto tail = [&] { return journal.size() - snapshotAt; };
    while (journal.size() < records || tail() + kRecordsACommit < settings.snapshotEvery) {
        for (std::uint64_t i = 0; i < kRecordsACommit; ++i, ++number)
            (void)journal.decide(round(number + 1), number);
        const std::uint64_t asked = journal.size();
        if (must(journal.commit()).size != asked) snapshotAt = asked;
    }
    return journal.size();
}

// Drops the file from the page cache, as after a start of the machine; the system may ignore this.
void forget(const fs::path& file)
{
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 || ::fsync(descriptor) != 0 ||
        ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) != 0)
        stop(file.string() + " stays in memory");
    ::close(descriptor);
}

double openSeconds(const JournalSettings& settings, const PrivateKey& key, std::uint64_t size)
{
    const auto start = Clock::now();
    const Journal journal = must(Journal::open(settings, signer(key), 1));
    const double took = secondsSince(start);
    if (journal.size() != size) stop("records are missing");
    return took;
}

bool run(std::uint64_t records)
{
    const PrivateKey key = PrivateKey::generate();
    const JournalSettings settings{kDirectory, 50'000, {}};
    const fs::path file = kDirectory / kJournalName;
    fs::remove_all(kDirectory);

    auto start = Clock::now();
    const std::uint64_t size = write(settings, key, records);
    std::printf("%llu records, %.2f GB, written in %.1f s, %llu a commit\n",
                static_cast<unsigned long long>(size),
                static_cast<double>(fs::file_size(file)) / 1e9, secondsSince(start),
                static_cast<unsigned long long>(kRecordsACommit));

    double slowest = 0;
    for (const bool cold : {true, false}) {
        std::printf("  opening it, %s:", cold ? "its file dropped from memory" : "warm");
        for (int i = 0; i < kRounds; ++i) {
            if (cold) forget(file);
            const double took = openSeconds(settings, key, size);
            slowest = std::max(slowest, took);
            std::printf(" %.3f s", took);
        }
        std::printf("\n");
    }

    VerifyOptions options;
    options.trusted = {signer(key).verifier()};
    start = Clock::now();
    if (must(verify({file}, options)).end != size) stop("records are missing");
    const double took = secondsSince(start);
    std::printf("  verifying all of it, on two cores: %.1f s, %.0f records/s\n", took,
                static_cast<double>(size) / took);
    return checkTarget("seconds to open a journal of " + std::to_string(size) + " records", slowest,
                       kOpenSecondsAtMost, false);
}

}  // namespace
}  // namespace jackpot::storage

int main(int argc, char** argv)
{
    using namespace jackpot::storage;
    std::uint64_t records = kRecords;
    if (argc > 1) {
        const auto given = jackpot::parseDecimal(argv[1]);
        if (!given || argc > 2) {
            std::fprintf(stderr, "usage: bench_open [RECORDS]\n");
            return 2;
        }
        records = *given;
    }
    const bool good = run(records);
    std::filesystem::remove_all(kDirectory);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
