#include "storage/journal.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "rules/apply.h"
#include "storage/replay.h"
#include "storage/snapshot.h"

namespace jackpot::storage {
namespace {

using Kind = JournalError::Kind;
namespace fs = std::filesystem;

// Closing a segment is two renames: a second listing is enough, unless they go on without end.
constexpr int kListingsAtMost = 10;

JournalError notVerified(const fs::path& file, const std::string& what,
                         std::optional<std::uint64_t> seq = std::nullopt)
{
    return {Kind::NotVerified, what + " (" + file.string() + ")", seq};
}

JournalError refused(const std::string& why) { return {Kind::Refused, why, std::nullopt}; }

// All keys of a journal have one name.
Result<void, JournalError> checkSuccessor(const Verifier& old, const Verifier& next)
{
    if (next.name() != old.name())
        return refused("the new key's name is \"" + next.name() + "\", the journal's is \"" +
                       old.name() + "\"");
    if (next.publicKey() == old.publicKey()) return refused("the new key is the old one");
    return {};
}

struct Recovered {
    rules::State state;
    Frontier frontier;
    rules::TimeMs lastTimeMs = 0;
    std::uint64_t snapshotAt = 0;
    Receipt receipt;
};

// The record that holds a snapshot's hash is the one at its size, so it is part of the tail that is
// verified.
Result<Replay, JournalError> startAt(const SnapshotRow& snapshot, JournalReader& reader,
                                     const fs::path& file)
{
    const auto payload = orThrow(reader.payload(snapshot.size));
    const auto record = payload ? readRecord(*payload) : Result<Record>{Error{"it is missing"}};
    const bool named = record && record->stateHash == stateHash(snapshot.state);
    if (!named)
        return notVerified(file, "the snapshot is not the one that this record names",
                           snapshot.size);
    auto state = readState(snapshot.state);
    if (!state) return notVerified(file, state.error().message, snapshot.size);
    return Replay{std::move(*state)};
}

Result<Receipt, JournalError> lastReceiptOf(JournalReader& reader, const Verifier& verifier,
                                            const fs::path& file)
{
    const auto text = orThrow(reader.lastNote());
    if (!text) return notVerified(file, "it has no checkpoint");
    const auto note = Note::parse(*text);
    if (!note) return notVerified(file, "the last checkpoint: " + note.error().message);
    // Where a key handed over to another, the new one has signed last, and the old one signs no
    // more.
    const bool ours = !note->signatures.empty() &&
                      note->signatures.back().keyName == verifier.name() &&
                      note->signatures.back().keyId == verifier.keyId();
    if (!ours)
        return JournalError{
            Kind::BadKey,
            file.string() + ": its last checkpoint is not signed with the key " + verifier.format(),
            std::nullopt};
    const auto checkpoint = openCheckpoint(*note, verifier);
    if (!checkpoint) return notVerified(file, "the last checkpoint: " + checkpoint.error().message);
    return Receipt{checkpoint->size, checkpoint->root, *text};
}

Result<Recovered, JournalError> recoverFrom(const fs::path& file, const Verifier& verifier,
                                            const std::string& vfs)
{
    JournalReader reader = orThrow(JournalReader::open(file, vfs));
    if (const auto& fault = reader.schemaFault())
        return reader.isNewer()
                   ? JournalError{Kind::Newer, file.string() + ": " + fault->message, std::nullopt}
                   : notVerified(file, fault->message);
    if (const auto fault = orThrow(reader.findExtentFault()))
        return notVerified(file, fault->message);
    auto receipt = lastReceiptOf(reader, verifier, file);
    if (!receipt) return receipt.error();
    const std::uint64_t end = orThrow(reader.endSeq());
    const std::uint64_t storedSize = orThrow(reader.lastSize());
    if (end != receipt->size || storedSize != receipt->size)
        return notVerified(file, "there are " + std::to_string(end) +
                                     " records, the last checkpoint has " +
                                     std::to_string(receipt->size) + " and is stored as one of " +
                                     std::to_string(storedSize));

    Recovered recovered;
    recovered.receipt = std::move(*receipt);
    std::string frontierText = reader.firstFrontier();
    Replay replay;
    std::uint64_t from = reader.firstSeq();
    const auto snapshots = orThrow(reader.snapshots());
    if (!snapshots.empty()) {
        const SnapshotRow& newest = snapshots.back();
        auto started = startAt(newest, reader, file);
        if (!started) return started.error();
        replay = std::move(*started);
        frontierText = newest.frontier;
        from = recovered.snapshotAt = newest.size;
    } else if (from != 0) {
        return notVerified(file, "it goes on from a file before and has no snapshot");
    }
    auto frontier = Frontier::parse(frontierText);
    if (!frontier || frontier->size() != from)
        return notVerified(file, "the tree before this record cannot be read", from);

    std::uint64_t next = from;
    std::optional<JournalError> fault;
    orThrow(reader.forEachPayload(
        from, recovered.receipt.size, [&](std::uint64_t seq, std::string_view payload) {
            const auto wrong = [&](const std::string& what) {
                fault = notVerified(file, what, seq);
                return false;
            };
            if (seq != next)
                return wrong("record " + std::to_string(next) + " is missing before it");
            ++next;
            frontier->append(leafHash(payload));
            const auto record = readRecord(payload);
            if (!record) return wrong("the record cannot be read: " + record.error().message);
            const std::string what = replay.step(seq, *record, payload);
            return what.empty() || wrong(what);
        }));
    if (fault) return *fault;
    if (next != recovered.receipt.size) return notVerified(file, "the record is missing", next);
    if (frontier->root() != recovered.receipt.root)
        return notVerified(file, "the records from " + std::to_string(from) +
                                     " on do not have the root that was signed");

    recovered.lastTimeMs = replay.lastTimeMs();
    recovered.state = replay.takeState();
    recovered.frontier = std::move(*frontier);
    return recovered;
}

std::string segmentName(std::uint64_t first, std::uint64_t end)
{
    const auto padded = [](std::uint64_t number) {
        const std::string digits = std::to_string(number);
        return std::string(12 - std::min<std::size_t>(12, digits.size()), '0') + digits;
    };
    return std::string{kSegmentPrefix} + padded(first) + "-" + padded(end) +
           std::string{kSegmentSuffix};
}

void removeNext(const fs::path& next)
{
    std::error_code ignored;
    for (const char* suffix : {"", "-wal", "-shm", "-journal"})
        fs::remove(next.string() + suffix, ignored);
}

// The file that goes on after a segment, complete with its first record.
Result<Receipt, JournalError> writeNext(const fs::path& next, const Frontier& start,
                                        const std::string& opening, const SnapshotRow* snapshot,
                                        Signer& signer, const std::string& vfs)
{
    if (auto created = JournalFile::create(next, start, vfs); !created) return created.error();
    auto opened = JournalFile::open(next, start, vfs);
    if (!opened) return opened.error();
    const std::array<Signer*, 1> signers{&signer};
    auto appended = opened->append(std::span{&opening, 1}, signers, snapshot);
    if (!appended) return appended.error();
    if (auto finished = opened->finish(); !finished) return finished.error();
    return appended;
}

// What is there while nothing gets a new name; else perhaps some of before and some of after.
std::vector<fs::path> listing(const fs::path& directory)
{
    std::error_code error;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator{directory, error}) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(kSegmentPrefix) && name.ends_with(kSegmentSuffix))
            files.push_back(entry.path());
    }
    std::ranges::sort(files);  // the names have the first record's number, padded
    // Without a journal the next one is complete, see finishClosing().
    for (const std::string_view name : {kJournalName, kNextName}) {
        if (!fs::exists(directory / name, error)) continue;
        files.push_back(directory / name);
        break;
    }
    return files;
}

// A crash while a segment was being closed leaves either the old file in place, and then the new
// one counts for nothing, or the new one complete.
Result<void, JournalError> finishClosing(const fs::path& directory)
{
    const fs::path next = directory / kNextName;
    const fs::path journal = directory / kJournalName;
    std::error_code error;
    if (!fs::exists(next, error)) return {};
    if (!fs::exists(journal, error)) {
        fs::rename(next, journal, error);
    } else {
        removeNext(next);
    }
    if (error) return JournalError{Kind::Io, next.string() + ": " + error.message(), std::nullopt};
    return syncDirectory(directory);
}

}  // namespace

Journal::Journal(JournalSettings settings, JournalLock lock, Signer signer)
    : settings_{std::move(settings)},
      lock_{std::move(lock)},
      signer_{std::make_unique<Signer>(std::move(signer))}
{}

Result<Journal, JournalError> Journal::create(JournalSettings settings, Signer signer,
                                              rules::TimeMs now)
{
    std::error_code error;
    fs::create_directories(settings.directory, error);
    if (error)
        return JournalError{Kind::Io, settings.directory.string() + ": " + error.message(),
                            std::nullopt};
    auto lock = JournalLock::take(settings.directory);
    if (!lock) return lock.error();
    const fs::path file = settings.directory / kJournalName;
    for (const fs::path& there : filesOf(settings.directory))
        if (fs::exists(there, error))
            return JournalError{Kind::Refused,
                                there.string() + ": there is a journal already: open it",
                                std::nullopt};

    // The name comes last: what a crash leaves under the other is nobody's journal.
    const fs::path unfinished = settings.directory / kNewName;
    removeNext(unfinished);
    const std::string opening = writePlainRecord(0, now, "journal_opened", [&](JsonText& json) {
        json.numberField("format", kFormatVersion);
        json.textField("key", signer.verifier().format());
    });
    auto receipt = writeNext(unfinished, Frontier{}, opening, nullptr, signer, settings.vfs);
    if (!receipt) {
        removeNext(unfinished);
        return receipt.error();
    }
    fs::rename(unfinished, file, error);
    if (error) return JournalError{Kind::Io, file.string() + ": " + error.message(), std::nullopt};
    if (auto synced = syncDirectory(settings.directory); !synced) return synced.error();
    Frontier end;
    end.append(leafHash(opening));
    auto opened = JournalFile::open(file, std::move(end), settings.vfs);
    if (!opened) return opened.error();

    Journal journal{std::move(settings), std::move(*lock), std::move(signer)};
    journal.file_ = std::make_unique<JournalFile>(std::move(*opened));
    journal.lastTimeMs_ = now;
    journal.receipt_ = std::move(*receipt);
    return journal;
}

Result<Journal, JournalError> Journal::open(JournalSettings settings, Signer signer,
                                            rules::TimeMs now, std::optional<LostKey> lost)
{
    if (lost) {
        if (rules::differentPeople(lost->by) < 2)
            return refused("a lost key is replaced by two different people");
        if (auto fit = checkSuccessor(lost->old, signer.verifier()); !fit) return fit.error();
    }
    auto lock = JournalLock::take(settings.directory);
    if (!lock) return lock.error();
    // What a killed process did to names comes before what is done to them now.
    if (auto synced = syncDirectory(settings.directory); !synced) return synced.error();
    if (auto finished = finishClosing(settings.directory); !finished) return finished.error();
    const fs::path file = settings.directory / kJournalName;
    std::error_code error;
    if (!fs::exists(file, error))
        return JournalError{Kind::Refused, file.string() + ": there is no journal here",
                            std::nullopt};

    // Asked first: SQLite is content with a file that it may only read, and makes a log of the same
    // kind.
    for (const fs::path& each : {settings.directory, file})
        if (::access(each.c_str(), R_OK | W_OK) != 0)
            return JournalError{Kind::Io,
                                each.string() + ": it cannot be written: check its owner and mode",
                                std::nullopt};
    // What is read from here on is shown to people, so it must not vanish with the next power cut.
    if (auto written = writeAnew(file.string() + "-wal"); !written) return written.error();
    if (auto rolled = JournalFile::rollBack(file, settings.vfs); !rolled) return rolled.error();
    try {
        auto recovered = recoverFrom(file, lost ? lost->old : signer.verifier(), settings.vfs);
        if (!recovered) return recovered.error();
        auto opened = JournalFile::open(file, std::move(recovered->frontier), settings.vfs);
        if (!opened) return opened.error();

        Journal journal{std::move(settings), std::move(*lock), std::move(signer)};
        journal.file_ = std::make_unique<JournalFile>(std::move(*opened));
        journal.state_ = std::move(recovered->state);
        journal.lastTimeMs_ = recovered->lastTimeMs;
        journal.snapshotAt_ = recovered->snapshotAt;
        journal.receipt_ = std::move(recovered->receipt);
        if (lost) {
            journal.addKeyRotation(
                {lost->old.format(), journal.verifier().format(), true, lost->by}, now);
            if (auto committed = journal.commit(); !committed) return committed.error();
        }
        return journal;
    } catch (const SqliteFailure& failure) {
        return JournalError{
            (failure.code() & 0xff) == SQLITE_CORRUPT || (failure.code() & 0xff) == SQLITE_NOTADB
                ? Kind::NotVerified
                : Kind::Io,
            file.string() + ": " + failure.what(), std::nullopt};
    }
}

rules::Outcome Journal::decide(const rules::Command& command, rules::TimeMs now,
                               const std::optional<LinkOrigin>& from)
{
    now = notBefore(now);
    std::string payload;
    payload.reserve(512);
    const bool faithful = beginCommandRecord(payload, size(), now, command, from);
    if (payload.size() > kMaxCommandBytes)
        throw std::length_error{"a command is too large for the journal"};
    if (!faithful) {
        const auto written = readRecord(payload + "}");
        return decide(written->command.value(), now, from);
    }
    if (from)
        if (const auto added = addToSequence(state_, command, from->number, size()); !added)
            throw std::logic_error{added.error().message};
    rules::Outcome outcome = apply(state_, command, now);
    finishCommandRecord(payload, outcome, state_);
    batch_.push_back(std::move(payload));
    return outcome;
}

void Journal::heartbeat(rules::TimeMs now)
{
    add("heartbeat", now, [](JsonText&) {});
}

Result<Receipt, JournalError> Journal::commit()
{
    if (!file_)
        return JournalError{Kind::Io,
                            "an archive segment was not closed: the journal must be opened again",
                            std::nullopt};
    if (batch_.empty()) return receipt_;
    return commitWith({signer_.get()});
}

Result<Receipt, JournalError> Journal::commitWith(std::vector<Signer*> signers)
{
    std::optional<SnapshotRow> snapshot;
    if (size() - snapshotAt_ >= settings_.snapshotEvery) {
        Frontier frontier = file_->frontier();
        for (const std::string& payload : batch_) frontier.append(leafHash(payload));
        snapshot = SnapshotRow{size(), writeState(state_), frontier.format()};
        add("snapshot", lastTimeMs_,
            [&](JsonText& json) { json.textField("sha256", stateHash(snapshot->state)); });
    }
    auto receipt = file_->append(batch_, signers, snapshot ? &*snapshot : nullptr);
    if (!receipt) return receipt;
    if (snapshot) snapshotAt_ = snapshot->size;
    batch_.clear();
    receipt_ = *receipt;
    return receipt;
}

Result<void, JournalError> Journal::tidy()
{
    if (auto committed = commit(); !committed) return committed.error();
    return file_->tidy();
}

void Journal::addKeyRotation(const KeyRotation& rotation, rules::TimeMs now)
{
    add("key_rotated", now, [&](JsonText& json) { writeRotation(json, rotation); });
}

Result<Receipt, JournalError> Journal::rotateKey(Signer next, const std::vector<std::string>& by,
                                                 rules::TimeMs now)
{
    if (auto fit = checkSuccessor(verifier(), next.verifier()); !fit) return fit.error();
    // What came before is signed by the old key alone, so that the two keys' checkpoint has one new
    // record.
    if (auto committed = commit(); !committed) return committed;
    addKeyRotation({verifier().format(), next.verifier().format(), false, by}, now);
    auto successor = std::make_unique<Signer>(std::move(next));
    auto receipt = commitWith({signer_.get(), successor.get()});
    if (receipt) signer_ = std::move(successor);
    return receipt;
}

Result<fs::path, JournalError> Journal::closeSegment(rules::TimeMs now)
{
    if (auto committed = commit(); !committed) return committed.error();
    const fs::path current = settings_.directory / kJournalName;
    const fs::path next = settings_.directory / kNextName;
    removeNext(next);

    const Frontier start = file_->frontier();
    const SnapshotRow snapshot{start.size(), writeState(state_), start.format()};
    const std::string opening =
        writePlainRecord(start.size(), notBefore(now), "segment_opened", [&](JsonText& json) {
            json.textField("sha256", stateHash(snapshot.state));
            json.textField("key", verifier().format());
        });
    auto receipt = writeNext(next, start, opening, &snapshot, *signer_, settings_.vfs);
    if (!receipt) {
        removeNext(next);
        return receipt.error();
    }
    const std::uint64_t first = file_->firstSeq();
    if (auto finished = file_->finish(); !finished) {
        removeNext(next);
        return finished.error();
    }

    // From here on the object is of no use unless all goes well; a restart finds its way.
    file_.reset();
    const fs::path segment = settings_.directory / segmentName(first, start.size());
    for (const auto& [from, to] : {std::pair{current, segment}, std::pair{next, current}}) {
        std::error_code error;
        fs::rename(from, to, error);
        if (error)
            return JournalError{Kind::Io, from.string() + ": " + error.message(), std::nullopt};
        if (auto synced = syncDirectory(settings_.directory); !synced) return synced.error();
    }
    std::error_code ignored;  // a segment that can be written is as good, only less plain
    fs::permissions(segment, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read,
                    ignored);

    Frontier end = start;
    end.append(leafHash(opening));
    auto reopened = JournalFile::open(current, std::move(end), settings_.vfs);
    if (!reopened) return reopened.error();
    file_ = std::make_unique<JournalFile>(std::move(*reopened));
    snapshotAt_ = snapshot.size;
    receipt_ = std::move(*receipt);
    return segment;
}

std::vector<fs::path> filesOf(const fs::path& directoryOrFile)
{
    std::error_code error;
    if (!fs::is_directory(directoryOrFile, error)) return {directoryOrFile};
    auto files = listing(directoryOrFile);
    for (int attempt = 0; attempt < kListingsAtMost; ++attempt) {
        auto again = listing(directoryOrFile);
        if (again == files) break;
        files = std::move(again);
    }
    return files;
}

}  // namespace jackpot::storage
