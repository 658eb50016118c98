#include "audit/journal_view.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ranges>
#include <thread>

#include "storage/journal.h"
#include "storage/record.h"
#include "storage/replay.h"
#include "storage/snapshot.h"

namespace jackpot::audit {
namespace {

namespace fs = std::filesystem;
using storage::JournalReader;
using storage::SqliteError;
using storage::SqliteResult;

// The writer closes a segment by renaming two files; a listing in between is of neither state.
constexpr int kTries = 5;
constexpr auto kBetweenTries = std::chrono::milliseconds{50};

const std::string kRunVerify = ": run jackpot-audit verify to learn more";

AuditError cannotRead(const fs::path& file, const SqliteError& error)
{
    const int code = error.primaryCode();
    if (code == SQLITE_CORRUPT)
        return {DoesNotVerify, file.string() + ": the file is damaged: " + error.message};
    if (code == SQLITE_NOTADB || code == SQLITE_ERROR)
        return {Unreadable, file.string() + ": it is not a journal: " + error.message};
    return {Unreadable, file.string() + ": it cannot be read: " + error.message +
                            (code == SQLITE_CANTOPEN || code == SQLITE_READONLY
                                 ? ": check that you may read it, its -wal file and its directory"
                                 : "")};
}

bool isTransient(const SqliteError& error)
{
    const int code = error.primaryCode();
    return code == SQLITE_CANTOPEN || code == SQLITE_READONLY || code == SQLITE_BUSY;
}

// The value, or the error as an AuditError.
template <class T>
T require(const fs::path& file, SqliteResult<T> result)
{
    if (!result) {
        AuditError stop = cannotRead(file, result.error());
        if (isTransient(result.error())) throw JournalMoved{stop.kind(), stop.what()};
        throw AuditError{std::move(stop)};
    }
    if constexpr (!std::is_void_v<T>) return std::move(*result);
}

std::vector<fs::path> listFiles(const std::vector<fs::path>& journal,
                                std::size_t filesAtMost = std::numeric_limits<std::size_t>::max())
{
    std::vector<fs::path> files;
    for (const fs::path& each : journal) {
        std::error_code error;
        const auto status = fs::status(each, error);
        if (!fs::exists(status))
            throw AuditError{Unreadable, each.string() + ": there is no such file or directory"};
        auto found = storage::filesOf(each);
        if (found.empty() && ::access(each.c_str(), R_OK | X_OK) != 0)
            throw AuditError{Unreadable,
                             each.string() + ": it cannot be read: " + systemError(errno)};
        if (found.empty())
            throw AuditError{Unreadable, each.string() +
                                             ": there is no journal in this directory: it would be "
                                             "journal.db or segment-....db"};
        if (found.size() > filesAtMost)
            found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(filesAtMost));
        for (fs::path& file : found) {
            const auto kind = fs::status(file, error);
            if (!fs::exists(kind)) throw JournalMoved{Unreadable, file.string() + ": it is gone"};
            if (!fs::is_regular_file(kind))
                throw AuditError{Unreadable, file.string() + ": it is not a file"};
            files.push_back(std::move(file));
        }
    }
    return files;
}

}  // namespace

JournalView::JournalView(const std::vector<fs::path>& journal, std::size_t filesAtMost, Pause pause)
    : pause_{std::move(pause)}
{
    for (int attempt = 1;; ++attempt) {
        try {
            auto files = listFiles(journal, filesAtMost);
            // In a directory that is being renamed in, a file may be seen under neither name.
            const bool archivesAlone = fs::is_directory(journal.back()) &&
                                       files.back().filename() != storage::kJournalName;
            if (archivesAlone && attempt < kTries)
                throw JournalMoved{Unreadable, journal.back().string() + ": journal.db is gone"};
            // Once the last file is open, the writer cannot close it into a segment any more.
            open(files.back());
            if (listFiles(journal, filesAtMost) != files)
                throw JournalMoved{Unreadable, "the journal's files get new names: try again"};
            files.pop_back();
            for (const fs::path& file : files) open(file);
            checkParts();
            readCheckpoint();
            requireSettled();
            return;
        } catch (const JournalMoved&) {
            if (attempt == kTries) throw;
        }
        parts_.clear();
        last_.reset();
        std::this_thread::sleep_for(kBetweenTries);
    }
}

void JournalView::open(const fs::path& file)
{
    const auto identity = storage::identityOf(file);
    auto reader = std::make_unique<JournalReader>(require(file, JournalReader::open(file)));
    if (const auto& fault = reader->schemaFault()) {
        const bool isJournal = require(file, reader->hasJournalTable());
        throw AuditError{isJournal ? DoesNotVerify : Unreadable,
                         file.string() + ": " + fault->message};
    }
    const JournalPart part{file, identity, reader->firstSeq(), require(file, reader->endSeq())};
    if (!last_ || part.first >= parts_.back().first) last_ = std::move(reader);
    parts_.push_back(part);
    std::ranges::sort(parts_, {}, &JournalPart::first);
}

void JournalView::checkParts() const
{
    for (std::size_t i = 1; i < parts_.size(); ++i) {
        if (parts_[i].first == parts_[i - 1].first)
            throw AuditError{Unreadable,
                             parts_[i].file.string() + " and " + parts_[i - 1].file.string() +
                                 " begin at the same record: give the files of one journal, "
                                 "each once"};
        if (parts_[i].first != parts_[i - 1].end)
            throw JournalMoved{DoesNotVerify,
                               parts_[i].file.string() + ": it begins at record " +
                                   std::to_string(parts_[i].first) + ", but " +
                                   parts_[i - 1].file.string() + " ends before record " +
                                   std::to_string(parts_[i - 1].end) +
                                   ": give the segments in between too, or" + kRunVerify.substr(1)};
    }
}

bool JournalView::isSettled() const
{
    return storage::identityOf(parts_.back().file) == parts_.back().identity;
}

// SQLite finds a file's write-ahead log by the name, which by now may be another file's.
void JournalView::requireSettled() const
{
    if (!isSettled())
        throw JournalMoved{Unreadable,
                           parts_.back().file.string() +
                               ": the journal went on in a new file while it was read: run the "
                               "command again"};
}

void JournalView::readCheckpoint()
{
    JournalPart& part = parts_.back();
    const auto text = require(part.file, last_->lastNote());
    if (!text)
        throw AuditError{DoesNotVerify, part.file.string() + ": it has no checkpoint" + kRunVerify};
    auto note = storage::Note::parse(*text);
    if (!note)
        throw AuditError{DoesNotVerify,
                         part.file.string() + ": the last checkpoint: " + note.error().message};
    auto checkpoint = storage::Checkpoint::parse(note->text);
    if (!checkpoint)
        throw AuditError{DoesNotVerify, part.file.string() +
                                            ": the last checkpoint: " + checkpoint.error().message};
    noteText_ = *text;
    note_ = std::move(*note);
    checkpoint_ = std::move(*checkpoint);
    part.end = checkpoint_.size;
    const auto there = require(part.file, last_->endSeq());
    if (there < part.end || part.end <= part.first)
        throw AuditError{DoesNotVerify, part.file.string() + ": the last checkpoint has " +
                                            std::to_string(part.end) +
                                            " records, the file ends before record " +
                                            std::to_string(there) + kRunVerify};
}

std::vector<fs::path> JournalView::filesInOrder(const std::vector<fs::path>& journal)
{
    std::vector<std::pair<std::uint64_t, fs::path>> files;
    for (fs::path& file : listFiles(journal)) {
        // A file that cannot be read comes last: the code that reads it reports the error.
        const auto reader = JournalReader::open(file);
        files.emplace_back(reader ? reader->firstSeq() : storage::kMaxTreeSize, std::move(file));
    }
    std::ranges::sort(files);
    std::vector<fs::path> sorted;
    for (auto& each : files) sorted.push_back(std::move(each.second));
    return sorted;
}

std::vector<fs::path> JournalView::files() const
{
    std::vector<fs::path> files;
    for (const JournalPart& part : parts_) files.push_back(part.file);
    return files;
}

std::size_t JournalView::partOf(std::uint64_t seq) const
{
    const auto after = std::ranges::upper_bound(parts_, seq, {}, &JournalPart::first);
    if (after == parts_.begin())
        throw AuditError{Unreadable,
                         "record " + std::to_string(seq) +
                             " is in an archive segment that was not given: the files given "
                             "begin at record " +
                             std::to_string(first())};
    return static_cast<std::size_t>(after - parts_.begin()) - 1;
}

JournalReader& JournalView::readerOf(std::size_t part)
{
    if (part + 1 == parts_.size()) return *last_;
    if (!other_ || otherPart_ != part) {
        other_.reset();
        const fs::path& file = parts_[part].file;
        other_ = std::make_unique<JournalReader>(require(file, JournalReader::open(file)));
        otherPart_ = part;
    }
    return *other_;
}

void JournalView::forEach(std::uint64_t from, std::uint64_t to, const Visit& visit)
{
    to = std::min(to, end());
    const std::uint64_t start = from;
    const auto pause = [&] {
        if (pause_ && to > start + 1) pause_(from - start, to - start);
    };
    std::string bytes;
    std::vector<std::size_t> ends;
    while (from < to) {
        pause();
        const std::size_t index = partOf(from);
        const JournalPart& part = parts_[index];
        const std::uint64_t pageEnd = std::min({to, part.end, from + kPageRecords});
        bytes.clear();
        ends.clear();
        require(part.file, readerOf(index).forEachPayload(
                               from, pageEnd, [&](std::uint64_t seq, std::string_view payload) {
                                   if (seq != from + ends.size()) return false;
                                   bytes += payload;
                                   ends.push_back(bytes.size());
                                   return true;
                               }));
        if (index + 1 == parts_.size()) requireSettled();
        std::size_t begin = 0;
        for (const std::size_t stop : ends) {
            if (!visit(from++, std::string_view{bytes}.substr(begin, stop - begin))) return;
            begin = stop;
        }
        if (from != pageEnd)
            throw AuditError{DoesNotVerify, part.file.string() + ": record " +
                                                std::to_string(from) + " is missing" + kRunVerify};
    }
    pause();
}

std::string JournalView::payload(std::uint64_t seq)
{
    if (seq >= end())
        throw AuditError{Unreadable, "there is no record " + std::to_string(seq) +
                                         ": the last is " + std::to_string(end() - 1)};
    std::string found;
    forEach(seq, seq + 1, [&](std::uint64_t, std::string_view payload) {
        found = payload;
        return true;
    });
    return found;
}

std::uint64_t JournalView::firstNotBefore(rules::TimeMs timeMs)
{
    std::uint64_t low = first();
    std::uint64_t high = end();
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        const auto record = storage::readRecord(payload(middle));
        if (!record)
            throw AuditError{DoesNotVerify, "record " + std::to_string(middle) + ": " +
                                                record.error().message + kRunVerify};
        if (record->head.timeMs < timeMs)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

std::optional<storage::Hash> JournalView::node(std::uint64_t index)
{
    // It is in the file in which the last of its records is.
    const std::size_t part = partOf(((index + 1) << storage::kNodeLevel) - 1);
    return require(parts_[part].file, readerOf(part).node(index));
}

const std::string& JournalView::firstFrontier() { return readerOf(0).firstFrontier(); }

JournalView::Start JournalView::startBefore(std::uint64_t seq)
{
    for (std::size_t part = partOf(seq) + 1; part-- > 0;) {
        const fs::path& file = parts_[part].file;
        const auto snapshots = require(file, readerOf(part).snapshots());
        for (const storage::SnapshotRow& each : snapshots | std::views::reverse) {
            if (each.size > seq) continue;
            const auto record = storage::readRecord(payload(each.size));
            if (!record || record->stateHash != storage::stateHash(each.state)) continue;
            auto state = storage::readState(each.state);
            if (state) return {each.size, std::move(*state)};
        }
    }
    if (first() != 0)
        throw AuditError{
            DoesNotVerify,
            parts_.front().file.string() +
                ": the snapshot that it begins with is missing or not the one that its "
                "first record names" +
                kRunVerify};
    return {};
}

}  // namespace jackpot::audit
