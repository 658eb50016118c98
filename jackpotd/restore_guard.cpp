#include "jackpotd/restore_guard.h"

#include <fstream>

#include "jackpotd/committed_records.h"
#include "rules/invariants.h"
#include "storage/backup.h"
#include "storage/journal.h"

namespace jackpot {
namespace {

constexpr const char* kWitness = "(witness)";  // not a valid id of a table
constexpr std::size_t kMaxNoteBytes = 16U << 10U;

std::string readWitnessedNote(const std::filesystem::path& directory)
{
    std::ifstream file{directory / storage::kWitnessedName, std::ios::binary};
    std::string note(kMaxNoteBytes, '\0');
    file.read(note.data(), static_cast<std::streamsize>(note.size()));
    note.resize(static_cast<std::size_t>(file.gcount()));
    return note;
}

}  // namespace

RestoreGuard::RestoreGuard(std::filesystem::path journalDirectory, Decider& decider, Alarms& alarms,
                           Replies& replies, Publisher& publisher, const Log& log)
    : directory_{std::move(journalDirectory)},
      decider_{decider},
      alarms_{alarms},
      replies_{replies},
      publisher_{publisher},
      log_{log},
      accepted_{directory_}
{}

Result<void> RestoreGuard::load()
{
    if (auto loaded = accepted_.load(); !loaded) return loaded;
    const auto fault = findFault(readWitnessedNote(directory_), {});
    if (!fault) return fault.error();
    if (!*fault || (*fault)->isAccepted) return {};
    alarms_.raise("receipt", (*fault)->reason);
    shown_.insert_or_assign(kWitness, (*fault)->receipt);
    lock((*fault)->reason);
    return {};
}

Result<RestoreGuard::Verdict> RestoreGuard::checkReceipt(std::uint32_t table,
                                                         const std::string& receipt)
{
    const std::string& id = decider_.table(table).config.id;
    const auto fault = findFault(receipt, id);
    if (!fault) return fault.error();
    if (!*fault) return Verdict::Good;
    if ((*fault)->isAccepted) return Verdict::Restored;
    alarms_.raiseForTable(table, "receipt", (*fault)->reason);
    shown_.insert_or_assign(id, (*fault)->receipt);
    lock((*fault)->reason);
    return Verdict::Locked;
}

Result<void> RestoreGuard::collectReceipt(std::uint32_t table, const std::string& receipt)
{
    const std::string& id = decider_.table(table).config.id;
    const auto fault = findFault(receipt, id);
    if (!fault) return fault.error();
    if (*fault && !(*fault)->isAccepted) shown_.insert_or_assign(id, (*fault)->receipt);
    return {};
}

// Only a receipt with this journal's signature counts. Any other is the fault of who shows it: a
// table, or a witness if `table` is empty.
Result<std::optional<RestoreGuard::ReceiptFault>> RestoreGuard::findFault(
    const std::string& receipt, const std::string& table) const
{
    using Found = std::optional<ReceiptFault>;
    if (receipt.empty()) return Found{};
    const std::string holder = table.empty() ? "a witness" : "table " + table;
    const auto note = storage::Note::parse(receipt);
    const auto checkpoint = note ? storage::openCheckpoint(*note, decider_.journal().verifier())
                                 : Result<storage::Checkpoint>{note.error()};
    if (!checkpoint) {
        log_.warning(holder + " shows a receipt that this journal's key has not signed: " +
                         checkpoint.error().message,
                     {.table = table, .code = "receipt"});
        return Found{};
    }
    if (accepted_.covers(*checkpoint))
        return Found{{"its history was discarded", *checkpoint, true}};
    const std::string claim =
        holder + " has a receipt for " + std::to_string(checkpoint->size) + " records";
    if (const std::uint64_t size = decider_.journal().lastReceipt().size; checkpoint->size > size)
        return Found{
            {claim + ", the journal has only " + std::to_string(size) + ": it was rolled back",
             *checkpoint}};
    const auto match = matchCheckpoint(directory_, *checkpoint);
    if (!match) return match.error();
    if (*match != CheckpointMatch::Different) return Found{};
    return Found{{claim + " that this journal never issued: it is another history", *checkpoint}};
}

void RestoreGuard::reportLostCommands(std::uint32_t table, std::uint64_t decided)
{
    const std::uint64_t known = decider_.table(table).sequence.last();
    if (decided > known)
        alarms_.raiseForTable(
            table, "commands_lost",
            "the commands " + std::to_string(known + 1) + " to " + std::to_string(decided) +
                " of this table (" + std::to_string(decided - known) +
                ") were decided in the discarded history and are not in this journal: compare the "
                "table's paper records with the journal");
    else if (decided == 0)
        alarms_.raiseForTable(
            table, "commands_lost",
            "the table does not report which commands were decided in the discarded history; this "
            "journal has its commands up to " +
                std::to_string(known) + ": compare the table's paper records with the journal");
}

bool RestoreGuard::allows(std::string_view eventKind)
{
    return eventKind.starts_with("person_") || eventKind == "sign_in_refused" ||
           eventKind == "restore_agreed";
}

LockState RestoreGuard::state() const { return {reason_, decider_.journal().size(), shown_}; }

void RestoreGuard::lock(const std::string& reason)
{
    reason_ = reason;
    decider_.pause();
    publisher_.fail(kLocked);
    log_.error("locked: " + reason + "; nothing is decided until people have resolved it",
               {.code = "locked"});
    replies_.addGoodbyeToAll(decider_.state(), linkproto::GoodbyeReason::Locked, reason);
}

Result<std::uint64_t> RestoreGuard::accept(const RestoreAcceptance& acceptance)
{
    if (!isLocked()) return Error{"nothing is locked"};
    if (rules::differentPeople(acceptance.by) < 2) return Error{"it takes two different people"};
    const storage::Checkpoint& largest = largestOf(shown_);
    if (acceptance.size != largest.size || acceptance.root != largest.root.base64())
        return Error{"this is not the newest receipt that tables have shown: look again"};
    return decider_.appendEvent(AcceptedRestores::kKind, [&](storage::JsonText& json) {
        json.textField("reason", acceptance.reason);
        json.key("by");
        json.beginArray();
        for (const std::string& each : acceptance.by) json.text(each);
        json.endArray();
        AcceptedRestores::write(json, shown_);
    });
}

void RestoreGuard::unlock(std::uint64_t record, const RestoreAcceptance& acceptance)
{
    if (const auto added = accepted_.add(record, shown_); !added) log_.error(added.error().message);
    log_.warning("unlocked: " + acceptance.by[0] + " and " + acceptance.by[1] +
                 " have discarded a history of " + std::to_string(acceptance.size) + " records");
    reason_.clear();
    shown_.clear();
    decider_.resume();
    publisher_.recover();
}

}  // namespace jackpot
