// Guards against a journal that was rolled back or replaced. A table, or a witness, that has a
// receipt which this journal never issued locks the daemon: it decides nothing until two people
// have accepted that the other history is lost. Used in the writer's turn only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "jackpotd/accepted_restores.h"
#include "jackpotd/alarms.h"
#include "jackpotd/decider.h"
#include "jackpotd/log.h"
#include "jackpotd/publisher.h"
#include "jackpotd/replies.h"
#include "storage/note.h"

namespace jackpot {

struct LockState {
    std::string reason;  // empty if not locked
    std::uint64_t records = 0;
    ShownReceipts shown;
};

// Two people accept that the history of the shown receipts is lost. `size` and `root` are those of
// the largest receipt, as these people have seen it.
struct RestoreAcceptance {
    std::uint64_t size = 0;
    std::string root;  // base64
    std::vector<std::string> by;
    std::string reason;
};

class RestoreGuard {
public:
    static constexpr const char* kLocked =
        "it is locked: the journal is not the one that a table has a receipt of";

    // The others outlive it.
    RestoreGuard(std::filesystem::path journalDirectory, Decider& decider, Alarms& alarms,
                 Replies& replies, Publisher& publisher, const Log& log);

    // At the start: loads the accepted restores, and locks if a witness had seen more of this
    // journal when it was restored. The caller commits the alarm.
    Result<void> load();

    enum class Verdict : std::uint8_t {
        Good,      // no receipt, or one of this journal
        Restored,  // a receipt of a history that people have discarded
        Locked,    // a receipt that this journal never issued: the daemon is locked now
    };
    // The receipt that a table shows when it connects. An error: the journal could not be read, and
    // nothing has changed.
    Result<Verdict> checkReceipt(std::uint32_t table, const std::string& receipt);
    // While locked: keeps the table's receipt, so that one acceptance covers those of all tables.
    Result<void> collectReceipt(std::uint32_t table, const std::string& receipt);
    // A table of a discarded history no longer has the commands in its outbox that were decided
    // there. `decided` is the newest number that it has a decision on.
    void reportLostCommands(std::uint32_t table, std::uint64_t decided);

    // People sign in and discuss the restore while the daemon is locked: these events are
    // journaled.
    [[nodiscard]] static bool allows(std::string_view eventKind);
    [[nodiscard]] bool isLocked() const { return !reason_.empty(); }
    [[nodiscard]] const std::string& reason() const { return reason_; }
    [[nodiscard]] LockState state() const;
    // Adds the record of the acceptance and returns its number; unlock() when that is durable.
    Result<std::uint64_t> accept(const RestoreAcceptance& acceptance);
    void unlock(std::uint64_t record, const RestoreAcceptance& acceptance);

private:
    struct ReceiptFault {
        std::string reason;
        storage::Checkpoint receipt;
        bool isAccepted = false;
    };
    Result<std::optional<ReceiptFault>> findFault(const std::string& receipt,
                                                  const std::string& table) const;
    void lock(const std::string& reason);

    const std::filesystem::path directory_;
    Decider& decider_;
    Alarms& alarms_;
    Replies& replies_;
    Publisher& publisher_;
    const Log& log_;
    std::string reason_;
    ShownReceipts shown_;
    AcceptedRestores accepted_;
};

}  // namespace jackpot
