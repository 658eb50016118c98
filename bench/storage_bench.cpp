// The journal against a bare loop that formats, hashes, signs once a batch and inserts the same
// bytes, and verification against a bare scan that hashes the same file. Ratios inside one run,
// rounds interleaved, medians. Figures for docs/benchmarks.md: ./dev bench storage
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "bench/bare_loop.h"
#include "bench/measurement.h"
#include "rules/apply.h"
#include "storage/journal.h"
#include "storage/merkle.h"
#include "storage/sqlite.h"
#include "storage/verify.h"

namespace jackpot::storage {
namespace {

constexpr int kRounds = 5;

[[noreturn]] void stop(const std::string& why)
{
    std::fprintf(stderr, "bench_storage: %s\n", why.c_str());
    std::exit(EXIT_FAILURE);
}

Run throughJournal(const PrivateKey& key, std::int64_t batch, std::int64_t batches)
{
    auto journal = Journal::create({emptied("journal"), 50'000, {}}, signer(key), 1);
    if (!journal) stop(inWords(journal.error()));
    (void)journal->decide(rules::ConfigureSite{site()}, 1);
    if (!journal->commit() || !journal->tidy())
        stop("commit");  // as in the idle moment after a start
    Run run;
    std::int64_t number = 0;
    const auto start = Clock::now();
    for (std::int64_t i = 0; i < batches; ++i) {
        const auto began = Clock::now();
        for (std::int64_t j = 0; j < batch; ++j, ++number)
            (void)journal->decide(round(number + 1), number);
        if (!journal->commit()) stop("commit");
        run.commitSeconds.push_back(secondsSince(began));
    }
    run.perSecond = static_cast<double>(batch * batches) / secondsSince(start);
    return run;
}

bool writing(const PrivateKey& key)
{
    bool good = true;
    for (const auto& [batch, batches] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {1, 3'000}, {100, 1'500}, {1'000, 200}}) {
        std::vector<double> ratios;
        std::vector<double> rates;
        std::vector<double> spreads;
        for (int i = 0; i < kRounds; ++i) {
            const Run ours = throughJournal(key, batch, batches);
            const Run bare = throughBareLoop(key, batch, batches);
            ratios.push_back(ours.perSecond / bare.perSecond);
            rates.push_back(ours.perSecond);
            std::vector<double> sorted = ours.commitSeconds;
            std::ranges::sort(sorted);
            spreads.push_back(sorted[sorted.size() * 99 / 100] / sorted[sorted.size() / 2]);
        }
        std::printf("batches of %lld: %.0f records/s\n", static_cast<long long>(batch),
                    median(rates));
        good = checkTarget("journal / bare loop, " + std::to_string(batch) + " records a commit",
                           median(ratios), 0.9) &&
               good;
        if (batch == 100)
            good = checkTarget("4 x median commit / p99 commit", 4 / median(spreads), 1.0) && good;
    }
    return good;
}

// Reads every row in order and hashes it: the least that any verification does.
double bareScan(const fs::path& file)
{
    const auto start = Clock::now();
    Database database{"file:" + file.string(), Database::Mode::ReadOnly};
    Statement rows = database.prepare("SELECT seq, payload FROM journal ORDER BY seq");
    std::size_t bytes = 0;
    while (rows.step()) bytes += leafHash(rows.bytes(1)).bytes[0];
    if (bytes == 0) stop("nothing was hashed");
    return secondsSince(start);
}

double verifyFor(const fs::path& file, const Verifier& verifier, bool signatures, bool outcomes)
{
    VerifyOptions options;
    options.trusted.push_back(verifier);
    options.signatures = signatures;
    options.outcomes = outcomes;
    const auto start = Clock::now();
    const auto verified = verify({file}, options);
    if (!verified) stop(inWords(verified.error()));
    return secondsSince(start);
}

bool verifying(const PrivateKey& key)
{
    constexpr std::int64_t kRecords = 1'000'000;
    const fs::path directory = emptied("verify");
    {
        auto journal = Journal::create({directory, 50'000, {}}, signer(key), 1);
        if (!journal) stop(inWords(journal.error()));
        (void)journal->decide(rules::ConfigureSite{site()}, 1);
        for (std::int64_t i = 1; i <= kRecords; ++i) {
            (void)journal->decide(round(i), i);
            if (i % 100 == 0 && !journal->commit()) stop("commit");
        }
    }
    const fs::path file = directory / kJournalName;
    const Verifier verifier = signer(key).verifier();
    std::vector<double> tree;
    std::vector<double> withSignatures;
    std::vector<double> withOutcomes;
    std::vector<double> opening;
    (void)bareScan(file);
    for (int i = 0; i < 3; ++i) {
        const double bare = bareScan(file);
        tree.push_back(bare / verifyFor(file, verifier, false, false));
        withSignatures.push_back(bare / verifyFor(file, verifier, true, false));
        withOutcomes.push_back(bare / verifyFor(file, verifier, true, true));
        const auto start = Clock::now();
        if (!Journal::open({directory, 50'000, {}}, signer(key), 1)) stop("open");
        opening.push_back(secondsSince(start));
        std::printf("verify %lld records, 100 a commit, on two cores; bare scan on one: %.2f s\n",
                    static_cast<long long>(kRecords), bare);
    }
    bool good = checkTarget("verify tree and roots / bare scan", median(tree), 1.0);
    good =
        checkTarget("verify with all signatures / bare scan", median(withSignatures), 0.45) && good;
    good = checkTarget("verify with every outcome recomputed / bare scan", median(withOutcomes),
                       0.3) &&
           good;
    std::printf("  opening it takes %.3f s\n", median(opening));
    return good;
}

}  // namespace
}  // namespace jackpot::storage

// With "write" or "verify" only that half.
int main(int count, char** arguments)
{
    using namespace jackpot::storage;
    const std::string only = count > 1 ? arguments[1] : "";
    const PrivateKey key = PrivateKey::generate();
    const bool written = only == "verify" || writing(key);
    const bool verified = only == "write" || verifying(key);
    std::filesystem::remove_all(kDirectory);
    return written && verified ? EXIT_SUCCESS : EXIT_FAILURE;
}
