#include "storage/file_verification.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "storage/journal_file.h"
#include "storage/record.h"
#include "storage/snapshot.h"

namespace jackpot::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kChunkRecords = 2048;
// Bounds what is in memory: chunks read ahead of the replay, and chunks whose signatures wait.
constexpr std::uint64_t kChunksAhead = 6;
constexpr std::size_t kSignatureJobsAtMost = 64;

struct StoredCheckpoint {
    std::uint64_t size = 0;
    std::string text;
    Result<Note> note{Error{}};
    Result<Checkpoint> checkpoint{Error{}};
};

// A run of records with what can be made of it without knowing what came before.
struct Chunk {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::string bytes;              // of all payloads
    std::vector<std::size_t> ends;  // of each in `bytes`
    std::vector<Hash> leaves;
    std::vector<Record> records;                       // used again; those of the leaves count
    std::optional<std::pair<std::size_t, Error>> bad;  // the first that cannot be read
    std::vector<StoredCheckpoint> checkpoints;
    std::optional<Fault> fault;

    // Empty again, with the memory that it has.
    void clear()
    {
        bytes.clear();
        ends.clear();
        leaves.clear();
        bad.reset();
        checkpoints.clear();
        fault.reset();
    }
    // Of the newest leaf. What comes after one that cannot be read does not matter any more.
    bool parse(std::string_view text)
    {
        const std::size_t index = leaves.size() - 1;
        if (records.size() <= index) records.resize(index + 1);
        auto read = readRecord(text, records[index]);
        if (!read) bad.emplace(index, std::move(read.error()));
        return !bad;
    }
    [[nodiscard]] std::string_view payload(std::size_t i) const
    {
        const std::size_t begin = i == 0 ? 0 : ends[i - 1];
        return std::string_view{bytes}.substr(begin, ends[i] - begin);
    }
};

struct SignatureJob {
    std::uint64_t seq = 0;
    Note note;
    std::vector<Verifier> signers;
};

// One file, on several threads: chunks are read, hashed and parsed by any of them, replayed in
// order by one at a time, and their signatures checked by any.
class FileVerification {
public:
    FileVerification(const fs::path& file, const VerifyOptions& options,
                     const std::optional<Checkpoint>& since, VerificationProgress& progress,
                     Verified& verified)
        : file_{file},
          options_{options},
          since_{since},
          progress_{progress},
          verified_{verified},
          reader_{orThrow(JournalReader::open(file))}
    {}

    // Throws VerificationFailed. Returns false if it was requested to stop.
    bool run(bool isFirst, bool isLast)
    {
        begin(isFirst, isLast);
        const unsigned others = std::max(options_.threads, 1U) - 1;
        {
            std::vector<std::jthread> workers;
            for (unsigned i = 0; i < others; ++i) workers.emplace_back([this] { work(nullptr); });
            work(&reader_);
        }
        if (fault_) throw VerificationFailed{*fault_};
        if (options_.stop.stop_requested()) return false;
        finish(isLast);
        return true;
    }

private:
    [[nodiscard]] Fault at(std::uint64_t seq, std::string what) const
    {
        return {seq, std::move(what), file_};
    }
    [[nodiscard]] Fault whole(std::string what) const
    {
        return {std::nullopt, std::move(what), file_};
    }

    void begin(bool isFirst, bool isLast)
    {
        // One transaction, so that all of it is of one moment of a journal that is being written.
        orThrow(reader_.beginRead());
        if (const auto& fault = reader_.schemaFault())
            throw VerificationFailed{whole(fault->message)};
        if (const auto fault = orThrow(reader_.findIndexFault()))
            throw VerificationFailed{whole(fault->message)};
        if (const auto fault = orThrow(reader_.findExtentFault()))
            throw VerificationFailed{whole(fault->message)};
        first_ = reader_.firstSeq();
        end_ = orThrow(reader_.endSeq());
        const auto checkpoint = readCheckpoint(orThrow(reader_.lastNote()).value_or(""));
        if (!checkpoint)
            throw VerificationFailed{whole("the last checkpoint: " + checkpoint.error().message)};
        if (checkpoint->size != end_)
            throw VerificationFailed{
                at(std::min(checkpoint->size, end_), "there are " + std::to_string(end_) +
                                                         " records, the last checkpoint has " +
                                                         std::to_string(checkpoint->size))};
        if (const std::uint64_t stored = orThrow(reader_.lastSize()); stored != end_)
            throw VerificationFailed{whole("the last checkpoint is stored as one of " +
                                           std::to_string(stored) + " records")};
        orThrow(reader_.forEachNode(
            [this](std::uint64_t index, std::string_view hash) { nodes_[index] = hash; }));
        for (SnapshotRow& row : orThrow(reader_.snapshots())) {
            const std::uint64_t size = row.size;
            snapshots_.emplace(size, std::move(row));
        }
        orThrow(reader_.endRead());
        joinToBefore(isFirst);
        // It may have grown since the files were counted.
        if (isLast) progress_.total = std::max(progress_.total, progress_.done + end_ - first_);
        chunks_ = (end_ - first_ + kChunkRecords - 1) / kChunkRecords;
    }

    void joinToBefore(bool isFirst)
    {
        const auto frontier = Frontier::parse(reader_.firstFrontier());
        if (!frontier || frontier->size() != first_)
            throw VerificationFailed{whole("the tree before its first record cannot be read")};
        if (!isFirst) {
            if (first_ != progress_.frontier.size())
                throw VerificationFailed{at(progress_.frontier.size(),
                                            "the file begins at record " + std::to_string(first_) +
                                                ", the one before it ends here")};
            if (*frontier != progress_.frontier)
                throw VerificationFailed{
                    at(first_, "the file does not go on from the one before it")};
            return;
        }
        verified_.first = first_;
        progress_.frontier = *frontier;
        if (since_ && since_->size == first_) checkSince(first_);
        if (first_ == 0) return;
        verified_.remarks.push_back(
            "records before " + std::to_string(first_) +
            " were not given; the signed root covers them, nothing else was checked of them");
        const auto snapshot = snapshots_.find(first_);
        if (snapshot == snapshots_.end())
            throw VerificationFailed{
                at(first_, "the snapshot that the file begins with is missing")};
        auto state = readState(snapshot->second.state);
        if (!state) throw VerificationFailed{at(first_, state.error().message)};
        progress_.replay = Replay{std::move(*state)};
    }

    // Threads.

    void work(JournalReader* reader)
    {
        // Each thread reads through a connection of its own.
        std::unique_ptr<JournalReader> own;
        std::unique_lock lock{mutex_};
        while (!isOver()) {
            if (!replaying_ && ready_.contains(nextReplay_)) {
                replayOne(lock);
            } else if (signatures_.size() >= kSignatureJobsAtMost) {
                checkSignatures(lock);
            } else if (nextRead_ < chunks_ && nextRead_ < nextReplay_ + kChunksAhead) {
                readOne(lock, reader, own);
            } else if (!signatures_.empty()) {
                checkSignatures(lock);
            } else {
                changed_.wait(lock);
            }
        }
        changed_.notify_all();
    }

    [[nodiscard]] bool isOver() const
    {
        if (options_.stop.stop_requested()) return true;
        const bool allReplayed = nextReplay_ == chunks_ || fault_;
        return allReplayed && !replaying_ && signatures_.empty() && checking_ == 0;
    }

    void readOne(std::unique_lock<std::mutex>& lock, JournalReader*& reader,
                 std::unique_ptr<JournalReader>& own)
    {
        const std::uint64_t index = nextRead_++;
        Chunk chunk;
        if (!spare_.empty()) {
            chunk = std::move(spare_.back());
            spare_.pop_back();
        }
        lock.unlock();
        read(index, chunk, reader, own);
        lock.lock();
        ready_.emplace(index, std::move(chunk));
        changed_.notify_all();
    }

    void replayOne(std::unique_lock<std::mutex>& lock)
    {
        replaying_ = true;
        Chunk chunk = std::move(ready_.extract(nextReplay_).mapped());
        lock.unlock();
        std::vector<SignatureJob> jobs;
        std::optional<Fault> fault;
        try {
            replay(chunk, jobs);
        } catch (const VerificationFailed& found) {
            fault = found.fault;
        }
        progress_.done += chunk.to - chunk.from;
        if (options_.progress)
            options_.progress(progress_.done, std::max(progress_.done, progress_.total));
        chunk.clear();
        lock.lock();
        spare_.push_back(std::move(chunk));
        if (!jobs.empty()) signatures_.push_back(std::move(jobs));
        replaying_ = false;
        ++nextReplay_;
        if (fault) note(*fault);
        changed_.notify_all();
    }

    void checkSignatures(std::unique_lock<std::mutex>& lock)
    {
        const std::vector<SignatureJob> jobs = std::move(signatures_.front());
        signatures_.pop_front();
        ++checking_;
        lock.unlock();
        std::optional<Fault> fault;
        for (const SignatureJob& job : jobs) {
            for (const Verifier& signer : job.signers) {
                const auto signedBy = job.note.verify(signer);
                if (!signedBy && !fault)
                    fault = at(job.seq, "the checkpoint after it: " + signedBy.error().message);
            }
        }
        lock.lock();
        --checking_;
        if (fault) note(*fault);
        changed_.notify_all();
    }

    // Keeps the one that concerns the earliest record.
    void note(const Fault& fault)
    {
        const auto rank = [](const Fault& each) { return each.seq ? *each.seq + 1 : 0; };
        if (!fault_ || rank(fault) < rank(*fault_)) fault_ = fault;
    }

    // On any thread.

    void read(std::uint64_t index, Chunk& chunk, JournalReader*& reader,
              std::unique_ptr<JournalReader>& own) const
    {
        chunk.from = first_ + index * kChunkRecords;
        chunk.to = std::min(chunk.from + kChunkRecords, end_);
        try {
            if (!reader) {
                own = std::make_unique<JournalReader>(orThrow(JournalReader::open(file_)));
                reader = own.get();
            }
            // One transaction: the many small questions cost less.
            orThrow(reader->beginRead());
            std::uint64_t next = chunk.from;
            orThrow(reader->forEachPayloadVerified(
                chunk.from, chunk.to, [&](std::uint64_t seq, std::string_view payload) {
                    if (seq != next) {
                        chunk.fault = at(std::min(seq, next), "the records are not in order here");
                        return false;
                    }
                    ++next;
                    chunk.bytes += payload;
                    chunk.ends.push_back(chunk.bytes.size());
                    chunk.leaves.push_back(leafHash(payload));
                    return !options_.outcomes || chunk.parse(payload);
                }));
            if (next != chunk.to && !chunk.fault && !chunk.bad)
                chunk.fault = at(next, "the record is missing");
            orThrow(reader->forEachCheckpoint(
                chunk.from, chunk.to, [&](std::uint64_t size, std::string_view text) {
                    StoredCheckpoint& stored = chunk.checkpoints.emplace_back();
                    stored.size = size;
                    stored.text = text;
                    stored.note = Note::parse(text);
                    stored.checkpoint = stored.note ? Checkpoint::parse(stored.note->text)
                                                    : Result<Checkpoint>{stored.note.error()};
                    return true;
                }));
            orThrow(reader->endRead());
        } catch (const SqliteFailure& failure) {
            if (reader) reader->abandonRead();
            chunk.fault = at(chunk.from + chunk.leaves.size(),
                             std::string{"the file is damaged here or after: "} + failure.what());
        }
    }

    // In the order of the records, on one thread at a time.

    void replay(const Chunk& chunk, std::vector<SignatureJob>& jobs)
    {
        auto checkpoint = chunk.checkpoints.begin();
        std::uint64_t seq = chunk.from;
        const NodeSink check = [&](unsigned level, std::uint64_t index, const Hash& hash) {
            if (level == kNodeLevel) checkNode(seq, index, hash);
        };
        for (std::size_t i = 0; i < chunk.leaves.size(); ++i, ++seq) {
            checkSnapshot(seq, chunk.payload(i));
            progress_.frontier.append(chunk.leaves[i], check);
            if (chunk.bad && chunk.bad->first == i)
                throw VerificationFailed{
                    at(seq, "the record cannot be read: " + chunk.bad->second.message)};
            if (options_.outcomes)
                replayRecord(seq, chunk.records[i], chunk.payload(i));
            else
                lookForKeys(seq, chunk.payload(i));
            if (checkpoint != chunk.checkpoints.end() && checkpoint->size == seq + 1)
                checkCheckpoint(*checkpoint++, jobs);
            if (since_ && since_->size == seq + 1) checkSince(seq);
        }
        if (chunk.fault) throw VerificationFailed{*chunk.fault};
        if (checkpoint != chunk.checkpoints.end())
            throw VerificationFailed{at(chunk.from, "there is a checkpoint for no record")};
    }

    void replayRecord(std::uint64_t seq, const Record& record, std::string_view payload)
    {
        if (std::string what = progress_.replay.step(seq, record, payload); !what.empty())
            throw VerificationFailed{at(seq, std::move(what))};
        if (record.command) ++verified_.commands;
        takeKeys(seq, record);
    }

    // Without outcomes most records need not be parsed at all.
    void lookForKeys(std::uint64_t seq, std::string_view payload)
    {
        constexpr std::string_view kRotated = ",\"kind\":\"key_rotated\"";
        const auto kind = payload.find(",\"k");
        if (seq != first_ && (kind == std::string_view::npos ||
                              payload.compare(kind, kRotated.size(), kRotated) != 0))
            return;
        const auto record = readRecord(payload);
        if (!record)
            throw VerificationFailed{
                at(seq, "the record cannot be read: " + record.error().message)};
        takeKeys(seq, *record);
    }

    void takeKeys(std::uint64_t seq, const Record& record)
    {
        const auto parsed = [&](const std::string& text) {
            auto key = Verifier::parse(text);
            if (!key) throw VerificationFailed{at(seq, "its key: " + key.error().message)};
            return std::move(*key);
        };
        if (seq == first_) {
            if (record.head.kind != (seq == 0 ? "journal_opened" : "segment_opened"))
                throw VerificationFailed{at(seq, "the file does not begin as a journal does")};
            const Verifier key = parsed(record.key);
            if (progress_.keys.empty())
                progress_.keys.push_back(key);
            else if (progress_.keys.back().format() != key.format())
                throw VerificationFailed{
                    at(seq, "the file goes on with another key than the one before it")};
        } else if (!record.key.empty()) {
            throw VerificationFailed{at(seq, "a journal begins in the middle of another")};
        }
        if (!record.rotation) return;
        // Each change of key has a checkpoint of its own, or the key in use would never have to
        // sign it.
        if (rotatedAt_)
            throw VerificationFailed{at(seq, "a second change of key before a checkpoint")};
        if (record.rotation->lost && rules::differentPeople(record.rotation->by) < 2)
            throw VerificationFailed{at(seq, "a lost key was replaced by fewer than two people")};
        if (record.rotation->from != progress_.keys.back().format())
            throw VerificationFailed{at(seq, "the key that is replaced is not the one in use")};
        progress_.keys.push_back(parsed(record.rotation->to));
        rotatedAt_ = seq;
        rotationLost_ = record.rotation->lost;
        std::string by;
        for (const std::string& each : record.rotation->by)
            by += (by.empty() ? "" : " and ") + each;
        verified_.remarks.push_back(
            "record " + std::to_string(seq) + ": the key " + record.rotation->to +
            (rotationLost_ ? " replaced a lost one" : " took over") + ", by " + by);
        if (rotationLost_) progress_.trustFrom = progress_.keys.size() - 1;
    }

    void checkCheckpoint(const StoredCheckpoint& stored, std::vector<SignatureJob>& jobs)
    {
        const std::uint64_t seq = stored.size - 1;
        if (!stored.checkpoint)
            throw VerificationFailed{
                at(seq, "the checkpoint after it: " + stored.checkpoint.error().message)};
        const Verifier& key = progress_.keys.back();
        if (stored.checkpoint->origin != key.name())
            throw VerificationFailed{
                at(seq, "the checkpoint after it is of \"" + stored.checkpoint->origin + "\"")};
        if (stored.checkpoint->size != stored.size ||
            stored.checkpoint->root != progress_.frontier.root())
            throw VerificationFailed{
                at(seq, "the checkpoint after it has another root than the records up to here")};
        ++verified_.checkpoints;
        if (stored.size == end_) {
            verified_.last = *stored.checkpoint;
            verified_.lastNote = stored.text;
        }
        // The key in use from here on signs last; opening goes by that.
        if (options_.signatures && stored.note->signatures.back().keyId != key.keyId())
            throw VerificationFailed{
                at(seq, "the checkpoint after it is not signed last by " + key.format())};
        std::vector<Verifier> signers;
        signers.reserve(2);
        signers.push_back(key);
        if (rotatedAt_) {
            if (!rotationLost_) signers.push_back(progress_.keys[progress_.keys.size() - 2]);
            rotatedAt_.reset();
        }
        if (stored.note->signatures.size() != signers.size())
            throw VerificationFailed{at(seq, "the checkpoint after it has " +
                                                 std::to_string(stored.note->signatures.size()) +
                                                 " signatures, not " +
                                                 std::to_string(signers.size()))};
        if (options_.signatures) jobs.push_back({seq, *stored.note, std::move(signers)});
    }

    void checkNode(std::uint64_t seq, std::uint64_t index, const Hash& hash)
    {
        const auto stored = nodes_.find(index);
        if (stored == nodes_.end() || stored->second != hash.view())
            throw VerificationFailed{at(seq, "the stored tree node " + std::to_string(index) +
                                                 " is not what the records give")};
        nodes_.erase(stored);
    }

    void checkSnapshot(std::uint64_t seq, std::string_view payload)
    {
        const auto snapshot = snapshots_.find(seq);
        if (snapshot == snapshots_.end()) return;
        if (snapshot->second.frontier != progress_.frontier.format())
            throw VerificationFailed{at(seq, "the snapshot's tree is not what the records give")};
        // That the hash in the record is the right one is for the replay.
        const std::string hash = "\"sha256\":\"" + stateHash(snapshot->second.state) + "\"";
        if (payload.find(hash) == std::string_view::npos)
            throw VerificationFailed{at(seq, "the snapshot is not the one that this record names")};
        snapshots_.erase(snapshot);
    }

    void checkSince(std::uint64_t seq)
    {
        if (progress_.frontier.root() != since_->root)
            throw VerificationFailed{
                at(seq, "the history up to here is not the one of your earlier checkpoint")};
        progress_.sinceSeen = true;
    }

    void finish(bool isLast)
    {
        if (progress_.frontier.root() != verified_.last.root || verified_.last.size != end_)
            throw VerificationFailed{at(end_ - 1, "the record has no checkpoint")};
        if (!nodes_.empty()) throw VerificationFailed{whole("there is a tree node for no records")};
        if (!snapshots_.empty())
            throw VerificationFailed{whole("there is a snapshot for no record")};
        verified_.end = end_;
        if (isLast && since_ && !progress_.sinceSeen) {
            if (since_->size > end_)
                throw VerificationFailed{
                    at(end_, "the journal ends here, your earlier checkpoint has " +
                                 std::to_string(since_->size) +
                                 " records: it was cut off or rolled back")};
            throw VerificationFailed{whole("your earlier checkpoint has " +
                                           std::to_string(since_->size) +
                                           " records: give the archive segments too")};
        }
    }

    const fs::path& file_;
    const VerifyOptions& options_;
    const std::optional<Checkpoint>& since_;
    VerificationProgress& progress_;
    Verified& verified_;
    JournalReader reader_;
    std::uint64_t first_ = 0;
    std::uint64_t end_ = 0;
    std::uint64_t chunks_ = 0;
    std::map<std::uint64_t, std::string> nodes_;
    std::map<std::uint64_t, SnapshotRow> snapshots_;
    std::optional<std::uint64_t> rotatedAt_;
    bool rotationLost_ = false;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::uint64_t, Chunk> ready_;
    std::vector<Chunk> spare_;
    std::deque<std::vector<SignatureJob>> signatures_;
    std::uint64_t nextRead_ = 0;
    std::uint64_t nextReplay_ = 0;
    bool replaying_ = false;
    int checking_ = 0;
    std::optional<Fault> fault_;
};

}  // namespace

bool verifyFile(const fs::path& file, const VerifyOptions& options,
                const std::optional<Checkpoint>& since, VerificationProgress& progress,
                Verified& verified, bool isFirst, bool isLast)
{
    return FileVerification{file, options, since, progress, verified}.run(isFirst, isLast);
}

}  // namespace jackpot::storage
