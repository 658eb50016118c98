// The receipts of histories that people have given up, after a journal was restored from a backup
// that was behind. docs/decisions/0008-restore.md says why each receipt is named.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "storage/json_text.h"
#include "storage/note.h"

namespace jackpot {

// What a table has shown that this journal never gave, by the table's id.
using ShownReceipts = std::map<std::string, storage::Checkpoint>;

// The thread that writes the journal.
class AcceptedRestores {
public:
    static constexpr std::string_view kKind = "restore_accepted";

    // A file beside the journal names the records that accept; what they say is read from the
    // journal. Where the file is lost, people are asked again.
    explicit AcceptedRestores(std::filesystem::path journalDirectory);

    [[nodiscard]] bool covers(const storage::Checkpoint& receipt) const;
    // Of a record that is durable.
    Result<void> add(std::uint64_t record);

    // The fields of such a record about the receipts: the largest, and each.
    static void write(storage::JsonText& json, const ShownReceipts& shown);

private:
    void read(std::uint64_t record);

    std::filesystem::path directory_;
    std::multimap<std::uint64_t, storage::Hash> receipts_;
};

// The one of the largest tree; there is one.
const storage::Checkpoint& largestOf(const ShownReceipts& shown);

}  // namespace jackpot
