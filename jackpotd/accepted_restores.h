// The receipts of discarded histories: after a journal was restored from an older backup, two
// people accept that the records after the backup are lost. docs/decisions/0008-restore.md says why
// each receipt is named.
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

// By the table's id: the receipt that it has shown and that this journal never issued.
using ShownReceipts = std::map<std::string, storage::Checkpoint>;

// Used in the writer's turn only.
class AcceptedRestores {
public:
    static constexpr std::string_view kKind = "restore_accepted";

    explicit AcceptedRestores(std::filesystem::path journalDirectory)
        : directory_{std::move(journalDirectory)}
    {}

    // A file beside the journal has the numbers of the records that accept; the receipts are read
    // from those records. If the file is lost, two people must accept again.
    Result<void> load();
    [[nodiscard]] bool covers(const storage::Checkpoint& receipt) const;
    // `record` is durable and accepts these receipts. They are covered even if the file can't be
    // written, until the daemon ends.
    Result<void> add(std::uint64_t record, const ShownReceipts& receipts);

    // Writes the fields of such a record about the receipts: the largest, and each.
    static void write(storage::JsonText& json, const ShownReceipts& shown);

private:
    Result<void> read(std::uint64_t record);

    std::filesystem::path directory_;
    std::multimap<std::uint64_t, storage::Hash> receipts_;
};

// The receipt with the most records. `shown` is not empty.
const storage::Checkpoint& largestOf(const ShownReceipts& shown);

}  // namespace jackpot
