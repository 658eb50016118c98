#include "storage/verify.h"

#include <sys/resource.h>

#include <algorithm>

#include "storage/file_verification.h"
#include "storage/journal_reader.h"

namespace jackpot::storage {
namespace {

namespace fs = std::filesystem;

constexpr int kNice = 10;  // of a verification in the background

// As the files themselves say; what is wrong with one is found when it is verified.
std::uint64_t recordsIn(const std::vector<fs::path>& files)
{
    std::uint64_t count = 0;
    for (const fs::path& file : files) {
        auto reader = JournalReader::open(file);
        if (!reader || reader->schemaFault()) continue;
        const auto end = reader->endSeq();
        if (end && *end > reader->firstSeq()) count += *end - reader->firstSeq();
    }
    return count;
}

// The last checkpoint must be traced to a key that the auditor holds.
void requireTrust(const VerifyOptions& options, const VerificationProgress& progress,
                  const fs::path& file, std::uint64_t first)
{
    const auto holds = [&](const Verifier& key) {
        return std::ranges::any_of(
            options.trusted, [&](const Verifier& each) { return each.format() == key.format(); });
    };
    const auto from = progress.keys.begin() + static_cast<std::ptrdiff_t>(progress.trustFrom);
    if (std::any_of(from, progress.keys.end(), holds)) return;
    std::string what =
        "it is signed with " + progress.keys.back().format() + ", which is not a key that you gave";
    if (std::any_of(progress.keys.begin(), from, holds))
        what +=
            ": the key that you gave was replaced as lost; have the new one handed to you by "
            "another way";
    else if (first > 0)
        what += ": if the key was changed, the archive segments before record " +
                std::to_string(first) + " lead from your key to it: give them too";
    throw VerificationFailed{{std::nullopt, what, file}};
}

std::optional<Checkpoint> readSince(const VerifyOptions& options)
{
    if (!options.since) return std::nullopt;
    auto checkpoint = readCheckpoint(*options.since);
    if (!checkpoint)
        throw VerificationFailed{
            {std::nullopt, "your earlier checkpoint: " + checkpoint.error().message, {}}};
    return *checkpoint;
}

// An earlier checkpoint is one of this journal only if one of its keys has signed it.
void requireSinceSigned(const VerifyOptions& options, const VerificationProgress& progress)
{
    if (!options.since) return;
    const auto note = Note::parse(*options.since);
    if (std::ranges::any_of(progress.keys,
                            [&](const Verifier& key) { return bool{note->verify(key)}; }))
        return;
    throw VerificationFailed{
        {std::nullopt, "your earlier checkpoint is not signed with a key of this journal", {}}};
}

}  // namespace

std::string inWords(const Fault& fault)
{
    return (fault.seq ? "record " + std::to_string(*fault.seq) + ": " : "") + fault.what +
           (fault.file.empty() ? "" : " (" + fault.file.string() + ")");
}

Result<Verified, Fault> verify(const std::vector<fs::path>& files, const VerifyOptions& options)
{
    Verified verified;
    VerificationProgress progress;
    fs::path current;
    try {
        if (files.empty()) return Fault{std::nullopt, "there is no journal", {}};
        const std::optional<Checkpoint> since = readSince(options);
        if (options.progress) progress.total = recordsIn(files);
        for (std::size_t i = 0; i < files.size(); ++i) {
            current = files[i];
            if (!verifyFile(current, options, since, progress, verified, i == 0,
                            i + 1 == files.size()))
                return Fault{std::nullopt, "it was stopped before the end", current};
        }
        requireTrust(options, progress, current, verified.first);
        requireSinceSigned(options, progress);
        return verified;
    } catch (const VerificationFailed& found) {
        return found.fault;
    } catch (const SqliteFailure& failure) {
        return Fault{std::nullopt, std::string{"the file cannot be read: "} + failure.what(),
                     current};
    }
}

BackgroundVerification::BackgroundVerification(
    std::vector<fs::path> files, VerifyOptions options,
    std::function<void(const Result<Verified, Fault>&)> finished)
    : thread_{[files = std::move(files), options = std::move(options),
               finished = std::move(finished)](std::stop_token stop) mutable {
          // Of this thread alone on Linux: the tables come first.
          ::setpriority(PRIO_PROCESS, 0, std::max(kNice, ::getpriority(PRIO_PROCESS, 0)));
          options.stop = stop;
          options.threads = 1;
          const auto result = verify(files, options);
          if (!stop.stop_requested()) finished(result);
      }}
{}

}  // namespace jackpot::storage
