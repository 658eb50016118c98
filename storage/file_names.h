// The names of the files in the journal's directory (docs/journal-format.md).
#pragma once

#include <string_view>

namespace jackpot::storage {

// The journal. Its archive segments are segment-FIRST-END.db, with the numbers of 12 digits.
inline constexpr std::string_view kJournalName = "journal.db";
inline constexpr std::string_view kSegmentPrefix = "segment-";
inline constexpr std::string_view kSegmentSuffix = ".db";
// A journal that is being created, and the file that continues it after a segment is closed.
inline constexpr std::string_view kNewName = "journal.db.new";
inline constexpr std::string_view kNextName = "journal.db.next";
// Locked by the one process that writes the journal.
inline constexpr std::string_view kLockName = "journal.lock";

// The numbers of the records that accept a restore. Only a help to find them.
inline constexpr std::string_view kAcceptedRestoresName = "accepted-restores";
// In a restored journal, the checkpoint of a witness that has seen more records. The daemon is
// locked until people have accepted the loss.
inline constexpr std::string_view kWitnessedName = "witnessed";

// Accounts of people, and the search index, which can be rebuilt from the journal.
inline constexpr std::string_view kPeopleName = "people.db";
inline constexpr std::string_view kSearchName = "search.db";

}  // namespace jackpot::storage
