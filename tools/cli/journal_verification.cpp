#include "tools/cli/journal_verification.h"

#include <algorithm>
#include <stop_token>
#include <thread>

#include "tools/cli/interrupts.h"
#include "tools/cli/progress.h"

namespace jackpot::cli {
namespace {

using audit::JournalView;

constexpr int kAttempts = 3;

std::unique_ptr<JournalView> openIfReadable(const std::vector<std::filesystem::path>& paths,
                                            const JournalView::Pause& pause)
{
    try {
        return std::make_unique<JournalView>(paths, JournalView::kAllFiles, pause);
    } catch (const audit::AuditError& error) {
        if (error.kind() != audit::DoesNotVerify) throw;
        return nullptr;
    }
}

Result<storage::Verified, storage::Fault> verifyFiles(
    const std::vector<std::filesystem::path>& files, const std::vector<storage::Verifier>& keys,
    const std::optional<std::string>& since)
{
    storage::VerifyOptions options;
    options.trusted = keys;
    options.since = since;
    options.threads = std::clamp(std::thread::hardware_concurrency(), 1U, 16U);
    std::stop_source stop;
    options.stop = stop.get_token();
    Progress progress{"verifying"};
    options.progress = [&](std::uint64_t done, std::uint64_t total) {
        if (isInterrupted()) stop.request_stop();
        progress.show(done, total);
    };
    auto result = storage::verify(files, options);
    progress.clear();
    throwIfInterrupted();
    return result;
}

}  // namespace

Verification verifyWhole(const std::vector<std::filesystem::path>& paths,
                         const std::vector<storage::Verifier>& keys,
                         const std::optional<std::string>& since, JournalView::Pause pause)
{
    for (int attempt = 1;; ++attempt) {
        auto journal = openIfReadable(paths, pause);
        auto files = journal ? journal->files() : JournalView::filesInOrder(paths);
        auto result = verifyFiles(files, keys, since);
        // The writer may have closed the last file into a segment just before it was opened here.
        if (!result && journal && !journal->isSettled() && attempt < kAttempts) continue;
        return {std::move(journal), std::move(files), std::move(result)};
    }
}

}  // namespace jackpot::cli
