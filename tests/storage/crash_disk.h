// The operations on a disk, in order, and the states that a power cut may leave.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/storage/fault_vfs.h"

namespace jackpot::storage {

// The files of one directory by their names.
using DiskImage = std::map<std::string, std::string>;

// Without the files that a start makes again: locks and the log's shared index.
DiskImage imageOf(const std::filesystem::path& directory);
// The same for the same bytes; long runs of zeros cost little.
std::size_t hashOf(std::string_view bytes);
// The directory has nothing else then.
void placeImage(const DiskImage& image, const std::filesystem::path& directory);

struct DiskEvent {
    enum class Kind : std::uint8_t {
        Create,
        Write,
        Truncate,
        Sync,
        SyncFailed,
        Remove,
        Rename,
        SyncDirectory,
        Acknowledge,  // not the disk: the outcome was sent
    };
    Kind kind{};
    std::size_t file = 0;      // of Create, Write, Truncate, Sync, SyncFailed
    std::uint64_t number = 0;  // an offset, a size, or how many records were acknowledged
    std::string bytes{};       // of Write
    std::string name{};        // of Create, Remove, Rename
    std::string to{};          // of Rename
    int key = 0;               // of Acknowledge: which one signs from here on
};

// Records what is done to the files of one directory: by SQLite through ShimVfs, and past it by
// anyone (rename, remove, pwrite, fsync and fdatasync are interposed in this program). One at
// a time.
class RecordedDisk final : public VfsWatcher {
public:
    // Planted faults of the disk, for the controls of the tests.
    struct Betrayal {
        // The write-ahead log is synced before a checkpoint alone, as with synchronous=NORMAL.
        bool lazyLog = false;
        bool forgetsDirectories = false;
    };

    explicit RecordedDisk(std::filesystem::path directory);
    RecordedDisk(std::filesystem::path directory, Betrayal betrayal);
    ~RecordedDisk() override;

    // Ends the record, so that another may be made; what is still done is not recorded.
    void stop();

    void acknowledge(std::uint64_t records, int key);
    // The events before this point are the same as in other records.
    void watchFromHere() { watchFrom_ = events_.size(); }
    [[nodiscard]] std::size_t watchFrom() const { return watchFrom_; }
    // The nth sync from now on fails, once.
    void failSync(std::uint64_t nth) { failAt_ = nth; }

    [[nodiscard]] const DiskImage& atFirst() const { return atFirst_; }
    [[nodiscard]] const std::vector<DiskEvent>& events() const { return events_; }
    [[nodiscard]] std::uint64_t count(DiskEvent::Kind kind) const;
    // How often a file could not be written any more while it still had its old name.
    [[nodiscard]] std::uint64_t readOnlyRenames() const { return readOnlyRenames_; }

    int before(FileOp op, const std::string& file) override;
    void opened(const std::string& file, bool created) override;
    void wrote(const std::string& file, std::uint64_t offset, std::string_view bytes) override;
    void truncated(const std::string& file, std::uint64_t size) override;
    void synced(const std::string& file) override;
    void deleted(const std::string& file) override;

    // Past SQLite.
    void renamed(const std::string& from, const std::string& to);
    void wroteDirectly(const std::string& file, std::uint64_t offset, std::string_view bytes);
    void syncedDirectly(const std::string& fileOrDirectory);

private:
    [[nodiscard]] std::optional<std::string> nameHere(const std::string& path) const;
    void changed(const std::string& file, DiskEvent event);

    std::filesystem::path directory_;
    Betrayal betrayal_;
    DiskImage atFirst_;
    std::vector<DiskEvent> events_;
    std::map<std::string, std::size_t> files_;  // by name, as the running system sees them
    std::map<std::string, bool> owedSync_;
    std::size_t nextFile_ = 0;
    std::uint64_t failAt_ = 0;
    std::size_t watchFrom_ = 0;
    std::uint64_t readOnlyRenames_ = 0;
    bool stopped_ = false;
    bool withinVfs_ = false;  // what the interposed functions see is SQLite's
};

// Which of the changes that were not synced have reached the disk.
enum class Survival : std::uint8_t {
    Nothing,
    Everything,
    AllButOne,
    OnlyOne,
    Writes,    // any subset of the writes
    Pages,     // of 4 KiB each
    Sectors,   // of 512 bytes each
    Shuffled,  // sectors, in any order
    Grown,     // sectors; where the file has grown without its data, there is rubbish
    Torn,      // up to some byte of one write
};
inline constexpr Survival kSurvivals[] = {
    Survival::Nothing, Survival::Everything, Survival::AllButOne, Survival::OnlyOne,
    Survival::Writes,  Survival::Pages,      Survival::Sectors,   Survival::Shuffled,
    Survival::Grown,   Survival::Torn,
};

// Goes through a record event by event and knows at each what is certainly on the disk and what may
// be. Names are as uncertain as contents until the directory is synced, each for itself.
class PowerCut {
public:
    // What a failed sync had to bring to the disk is never written, not even by the next sync: so
    // Linux does it. Or it was written all the same.
    enum class AfterFailedSync : std::uint8_t { Lost, Pending };

    explicit PowerCut(const RecordedDisk& disk, AfterFailedSync after = AfterFailedSync::Lost);
    // The record begins when so many had been acknowledged.
    PowerCut(const RecordedDisk& disk, std::uint64_t acknowledged, int key);
    // The process was killed at `killed` and the power stayed on: what was pending still is while
    // the next process, whose record begins with all of it in place, does its work.
    PowerCut(const PowerCut& killed, const RecordedDisk& next);

    [[nodiscard]] bool atEnd() const { return next_ == events_.size(); }
    [[nodiscard]] std::size_t position() const { return next_; }
    void advance();

    [[nodiscard]] std::uint64_t acknowledged() const { return acknowledged_; }
    [[nodiscard]] int key() const { return key_; }
    // Changes that a cut here may lose.
    [[nodiscard]] std::size_t pending() const;
    // As long as the power stays on.
    [[nodiscard]] DiskImage seen() const;
    // The next event makes something certain.
    [[nodiscard]] bool beforeSync() const;

    DiskImage image(Survival survival, std::mt19937_64& random) const;

private:
    struct File {
        std::string seen;
        std::string durable;
        std::vector<const DiskEvent*> pending;
    };
    struct NameChange {
        const DiskEvent* event;
        std::size_t file;  // of Create
    };
    using Names = std::map<std::string, std::size_t>;

    File& fileOf(const DiskEvent& event) { return files_.at(number_.at(event.file)); }
    static void applyName(Names& names, const NameChange& change);
    [[nodiscard]] Names allNames() const;
    [[nodiscard]] std::string contents(const File& file, Survival survival,
                                       std::mt19937_64& random) const;
    [[nodiscard]] Names names(Survival survival, std::mt19937_64& random) const;

    const std::vector<DiskEvent>& events_;
    AfterFailedSync afterFailedSync_;
    std::size_t next_ = 0;
    std::vector<File> files_;
    std::vector<std::size_t> number_;  // in files_, by the event's
    Names durableNames_;
    std::vector<NameChange> pendingNames_;
    std::uint64_t acknowledged_ = 0;
    int key_ = 0;
};

}  // namespace jackpot::storage
