// A copy of a journal, whether it is being written or not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "storage/journal_file.h"

namespace jackpot::storage {

// Told how many records are copied, of how many. May throw to end it.
using CopyProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

// Copies all files of the journal in `from` into the directory `to`, which has none: what was
// committed when it began, and beside it people.db, accepted-restores and witnessed if they are
// there. Reads
// pages of records in transactions of their own, so that the writer is never held up and its log
// does not grow; it only cannot close a segment meanwhile. All of it is synced when it returns.
// After an error `to` holds something unfinished. What is copied is not verified: verify() does
// that.
Result<void, JournalError> copyJournal(const std::filesystem::path& from,
                                       const std::filesystem::path& to,
                                       const CopyProgress& progress = {});

// Leaves the checkpoint beside a restored journal, synced.
Result<void, JournalError> keepWitnessed(const std::filesystem::path& directory,
                                         const std::string& note);

}  // namespace jackpot::storage
