#include "tests/storage/crash_disk.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace jackpot::storage {
namespace {

namespace fs = std::filesystem;
using Kind = DiskEvent::Kind;
static_assert(sizeof(off_t) == sizeof(off64_t));

constexpr std::string_view kLogSuffix = "-wal";
constexpr std::uint64_t kSector = 512;
constexpr std::uint64_t kPage = 4096;

RecordedDisk* recording = nullptr;

bool isMadeAnew(std::string_view name) { return name.ends_with("-shm") || name.ends_with(".lock"); }

// A part of a pending change; its bytes belong to the event.
struct Piece {
    bool truncates = false;
    std::uint64_t at = 0;  // or the size to truncate to
    std::string_view bytes;
};

std::vector<Piece> piecesOf(const std::vector<const DiskEvent*>& events, std::uint64_t unit)
{
    std::vector<Piece> pieces;
    for (const DiskEvent* event : events) {
        if (event->kind == Kind::Truncate) {
            pieces.push_back({true, event->number, {}});
            continue;
        }
        std::string_view rest = event->bytes;
        std::uint64_t at = event->number;
        while (!rest.empty()) {
            const std::uint64_t fits = unit == 0 ? rest.size() : unit - at % unit;
            pieces.push_back({false, at, rest.substr(0, fits)});
            at += pieces.back().bytes.size();
            rest.remove_prefix(pieces.back().bytes.size());
        }
    }
    return pieces;
}

void put(std::string& file, const Piece& piece)
{
    if (piece.truncates) {
        file.resize(piece.at);
        return;
    }
    if (file.size() < piece.at + piece.bytes.size()) file.resize(piece.at + piece.bytes.size());
    file.replace(piece.at, piece.bytes.size(), piece.bytes);
}

void fillWithRubbish(std::string& file, const Piece& piece, std::mt19937_64& random)
{
    if (piece.truncates) return;
    const std::uint64_t end = piece.at + piece.bytes.size();
    if (end <= file.size()) return;
    std::uint64_t at = std::max<std::uint64_t>(file.size(), piece.at);
    file.resize(end);
    while (at < end) file[at++] = static_cast<char>(random());
}

// A log that was grown in advance is mostly zeros; a file without them reads the same.
template <class Visit>
void forEachChunk(std::string_view bytes, Visit&& visit)
{
    static const std::string zeros(1U << 16U, '\0');
    for (std::size_t at = 0; at < bytes.size(); at += zeros.size()) {
        const std::string_view chunk = bytes.substr(at, zeros.size());
        if (chunk != std::string_view{zeros}.substr(0, chunk.size())) visit(at, chunk);
    }
}

bool chance(std::mt19937_64& random) { return (random() & 1U) != 0; }

}  // namespace

DiskImage imageOf(const fs::path& directory)
{
    DiskImage image;
    for (const auto& entry : fs::directory_iterator{directory}) {
        const std::string name = entry.path().filename().string();
        if (isMadeAnew(name)) continue;
        std::ifstream in{entry.path(), std::ios::binary};
        image[name].assign(std::istreambuf_iterator<char>{in}, {});
    }
    return image;
}

std::size_t hashOf(std::string_view bytes)
{
    std::size_t value = bytes.size();
    forEachChunk(bytes, [&](std::size_t at, std::string_view chunk) {
        value = value * 31 + (at ^ std::hash<std::string_view>{}(chunk));
    });
    return value;
}

void placeImage(const DiskImage& image, const fs::path& directory)
{
    for (const auto& entry : fs::directory_iterator{directory}) ::unlink(entry.path().c_str());
    for (const auto& [name, bytes] : image) {
        const int file =
            ::open((directory / name).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        bool written = file >= 0 && ::ftruncate(file, static_cast<off_t>(bytes.size())) == 0;
        forEachChunk(bytes, [&](std::size_t at, std::string_view chunk) {
            written =
                written && ::pwrite(file, chunk.data(), chunk.size(), static_cast<off_t>(at)) ==
                               static_cast<ssize_t>(chunk.size());
        });
        ::close(file);
        if (!written) throw std::runtime_error{"cannot place an image in " + directory.string()};
    }
}

// --- recording

RecordedDisk::RecordedDisk(fs::path directory) : RecordedDisk{std::move(directory), Betrayal{}} {}

RecordedDisk::RecordedDisk(fs::path directory, Betrayal betrayal)
    : directory_{std::move(directory)}, betrayal_{betrayal}, atFirst_{imageOf(directory_)}
{
    if (recording != nullptr) throw std::logic_error{"one disk is recorded at a time"};
    for (const auto& [name, bytes] : atFirst_) files_[name] = nextFile_++;
    recording = this;
}

RecordedDisk::~RecordedDisk() { stop(); }

void RecordedDisk::stop()
{
    stopped_ = true;
    if (recording == this) recording = nullptr;
}

std::uint64_t RecordedDisk::count(Kind kind) const
{
    return static_cast<std::uint64_t>(std::ranges::count(events_, kind, &DiskEvent::kind));
}

void RecordedDisk::acknowledge(std::uint64_t records, int key)
{
    DiskEvent event{Kind::Acknowledge};
    event.number = records;
    event.key = key;
    events_.push_back(std::move(event));
}

std::optional<std::string> RecordedDisk::nameHere(const std::string& path) const
{
    const fs::path whole{path};
    if (stopped_ || whole.parent_path() != directory_ || isMadeAnew(path)) return std::nullopt;
    return whole.filename().string();
}

void RecordedDisk::changed(const std::string& file, DiskEvent event)
{
    const auto name = nameHere(file);
    if (!name) return;
    event.file = files_.at(*name);
    events_.push_back(std::move(event));
}

int RecordedDisk::before(FileOp op, const std::string& file)
{
    withinVfs_ = true;
    if (op != FileOp::Sync || failAt_ == 0 || --failAt_ != 0) return SQLITE_OK;
    changed(file, {Kind::SyncFailed});
    withinVfs_ = false;
    return SQLITE_IOERR_FSYNC;
}

void RecordedDisk::opened(const std::string& file, bool created)
{
    withinVfs_ = false;
    const auto name = nameHere(file);
    if (!name || (!created && files_.contains(*name))) return;
    files_[*name] = nextFile_++;
    DiskEvent event{Kind::Create};
    event.name = *name;
    changed(file, std::move(event));
}

void RecordedDisk::wrote(const std::string& file, std::uint64_t offset, std::string_view bytes)
{
    withinVfs_ = false;
    if (const auto owed = owedSync_.find(file + std::string{kLogSuffix});
        owed != owedSync_.end() && owed->second) {
        owed->second = false;
        changed(owed->first, {Kind::Sync});
    }
    DiskEvent event{Kind::Write};
    event.number = offset;
    event.bytes = bytes;
    changed(file, std::move(event));
}

void RecordedDisk::truncated(const std::string& file, std::uint64_t size)
{
    withinVfs_ = false;
    DiskEvent event{Kind::Truncate};
    event.number = size;
    changed(file, std::move(event));
}

void RecordedDisk::synced(const std::string& file)
{
    withinVfs_ = false;
    if (betrayal_.lazyLog && file.ends_with(kLogSuffix))
        owedSync_[file] = true;
    else
        changed(file, {Kind::Sync});
}

void RecordedDisk::deleted(const std::string& file)
{
    const auto name = nameHere(file);
    if (!name || files_.erase(*name) == 0) return;
    owedSync_.erase(file);
    DiskEvent event{Kind::Remove};
    event.name = *name;
    events_.push_back(std::move(event));
}

void RecordedDisk::renamed(const std::string& from, const std::string& to)
{
    const auto old = nameHere(from);
    const auto fresh = nameHere(to);
    if (!old || !fresh || !files_.contains(*old)) return;
    if ((fs::status(to).permissions() & fs::perms::owner_write) == fs::perms::none)
        ++readOnlyRenames_;
    files_[*fresh] = files_.at(*old);
    files_.erase(*old);
    DiskEvent event{Kind::Rename};
    event.name = *old;
    event.to = *fresh;
    events_.push_back(std::move(event));
}

void RecordedDisk::wroteDirectly(const std::string& file, std::uint64_t offset,
                                 std::string_view bytes)
{
    const auto name = nameHere(file);
    if (withinVfs_ || !name || !files_.contains(*name)) return;
    wrote(file, offset, bytes);
}

// SQLite's VFS syncs a directory itself, within the sync or the removal of a file.
void RecordedDisk::syncedDirectly(const std::string& fileOrDirectory)
{
    if (fileOrDirectory == directory_) {
        if (!betrayal_.forgetsDirectories) events_.push_back({Kind::SyncDirectory});
        return;
    }
    const auto name = nameHere(fileOrDirectory);
    if (withinVfs_ || !name || !files_.contains(*name)) return;
    synced(fileOrDirectory);
}

// --- cutting

PowerCut::PowerCut(const RecordedDisk& disk, AfterFailedSync after)
    : events_{disk.events()}, afterFailedSync_{after}
{
    for (const auto& [name, bytes] : disk.atFirst()) {
        number_.push_back(files_.size());
        durableNames_[name] = files_.size();
        files_.push_back({bytes, bytes, {}});
    }
}

PowerCut::PowerCut(const RecordedDisk& disk, std::uint64_t acknowledged, int key) : PowerCut{disk}
{
    acknowledged_ = acknowledged;
    key_ = key;
}

PowerCut::PowerCut(const PowerCut& killed, const RecordedDisk& next)
    : events_{next.events()},
      afterFailedSync_{killed.afterFailedSync_},
      files_{killed.files_},
      durableNames_{killed.durableNames_},
      pendingNames_{killed.pendingNames_},
      acknowledged_{killed.acknowledged_},
      key_{killed.key_}
{
    const Names names = killed.allNames();
    for (const auto& [name, bytes] : next.atFirst()) number_.push_back(names.at(name));
}

void PowerCut::applyName(Names& names, const NameChange& change)
{
    const DiskEvent& event = *change.event;
    if (event.kind == Kind::Create) {
        names[event.name] = change.file;
    } else if (event.kind == Kind::Remove) {
        names.erase(event.name);
    } else if (const auto found = names.find(event.name); found != names.end()) {
        names[event.to] = found->second;
        names.erase(event.name);
    }
}

PowerCut::Names PowerCut::allNames() const
{
    Names names = durableNames_;
    for (const NameChange& each : pendingNames_) applyName(names, each);
    return names;
}

void PowerCut::advance()
{
    const DiskEvent& event = events_.at(next_++);
    switch (event.kind) {
        case Kind::Create:
            number_.push_back(files_.size());
            pendingNames_.push_back({&event, files_.size()});
            files_.emplace_back();
            break;
        case Kind::Remove:
        case Kind::Rename: pendingNames_.push_back({&event, 0}); break;
        case Kind::Write:
        case Kind::Truncate: {
            File& file = fileOf(event);
            file.pending.push_back(&event);
            put(file.seen, piecesOf({&event}, 0).at(0));
            break;
        }
        case Kind::Sync: {
            File& file = fileOf(event);
            for (const Piece& piece : piecesOf(file.pending, 0)) put(file.durable, piece);
            file.pending.clear();
            break;
        }
        case Kind::SyncFailed:
            if (afterFailedSync_ == AfterFailedSync::Lost) fileOf(event).pending.clear();
            break;
        case Kind::SyncDirectory:
            durableNames_ = allNames();
            pendingNames_.clear();
            break;
        case Kind::Acknowledge:
            acknowledged_ = std::max(acknowledged_, event.number);
            key_ = event.key;
            break;
    }
}

std::size_t PowerCut::pending() const
{
    std::size_t count = pendingNames_.size();
    for (const File& file : files_) count += file.pending.size();
    return count;
}

DiskImage PowerCut::seen() const
{
    DiskImage image;
    for (const auto& [name, file] : allNames()) image[name] = files_.at(file).seen;
    return image;
}

bool PowerCut::beforeSync() const
{
    if (atEnd()) return true;
    const Kind kind = events_[next_].kind;
    return kind == Kind::Sync || kind == Kind::SyncDirectory || kind == Kind::Acknowledge;
}

std::string PowerCut::contents(const File& file, Survival survival, std::mt19937_64& random) const
{
    std::string bytes = file.durable;
    if (file.pending.empty() || survival == Survival::Nothing) return bytes;
    const bool whole = survival != Survival::Pages && survival != Survival::Sectors &&
                       survival != Survival::Shuffled && survival != Survival::Grown;
    auto pieces =
        piecesOf(file.pending, whole ? 0 : (survival == Survival::Pages ? kPage : kSector));
    if (survival == Survival::Shuffled) std::ranges::shuffle(pieces, random);
    // Sometimes few are lost and sometimes few survive: half of each write is the rarest case.
    const std::uint64_t outOf8 = 1 + random() % 7;
    const std::size_t one = random() % pieces.size();
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        Piece piece = pieces[i];
        bool survives = true;
        switch (survival) {
            case Survival::Nothing:
            case Survival::Everything: break;
            case Survival::AllButOne: survives = i != one; break;
            case Survival::OnlyOne: survives = i == one; break;
            case Survival::Torn:
                if (i == one && !piece.truncates)
                    piece.bytes = piece.bytes.substr(0, random() % piece.bytes.size());
                survives = i <= one || chance(random);
                break;
            default: survives = random() % 8 < outOf8; break;
        }
        if (survives)
            put(bytes, piece);
        else if (survival == Survival::Grown)
            fillWithRubbish(bytes, piece, random);
    }
    return bytes;
}

PowerCut::Names PowerCut::names(Survival survival, std::mt19937_64& random) const
{
    if (survival == Survival::Nothing) return durableNames_;
    if (survival == Survival::Everything || chance(random)) return allNames();
    Names names = durableNames_;
    for (const NameChange& each : pendingNames_)
        if (chance(random)) applyName(names, each);
    return names;
}

DiskImage PowerCut::image(Survival survival, std::mt19937_64& random) const
{
    DiskImage image;
    for (const auto& [name, file] : names(survival, random))
        image[name] = contents(files_.at(file), survival, random);
    return image;
}

}  // namespace jackpot::storage

// --- what is done to names past SQLite

namespace {

template <class Function>
Function next(const char* name)
{
    return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

std::string pathOf(int descriptor)
{
    std::error_code ignored;
    return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), ignored);
}

void noteSync(int descriptor)
{
    if (jackpot::storage::recording != nullptr)
        jackpot::storage::recording->syncedDirectly(pathOf(descriptor));
}

void noteWrite(int descriptor, off_t offset, const void* bytes, ssize_t count)
{
    if (jackpot::storage::recording != nullptr && count > 0)
        jackpot::storage::recording->wroteDirectly(
            pathOf(descriptor), static_cast<std::uint64_t>(offset),
            {static_cast<const char*>(bytes), static_cast<std::size_t>(count)});
}

}  // namespace

extern "C" {

int rename(const char* from, const char* to) noexcept
{
    static const auto real = next<int (*)(const char*, const char*)>("rename");
    const int result = real(from, to);
    if (result == 0 && jackpot::storage::recording != nullptr)
        jackpot::storage::recording->renamed(from, to);
    return result;
}

int remove(const char* path) noexcept
{
    static const auto real = next<int (*)(const char*)>("remove");
    const int result = real(path);
    if (result == 0 && jackpot::storage::recording != nullptr)
        jackpot::storage::recording->deleted(path);
    return result;
}

int fsync(int descriptor)
{
    static const auto real = next<int (*)(int)>("fsync");
    const int result = real(descriptor);
    if (result == 0) noteSync(descriptor);
    return result;
}

int fdatasync(int descriptor)
{
    static const auto real = next<int (*)(int)>("fdatasync");
    const int result = real(descriptor);
    if (result == 0) noteSync(descriptor);
    return result;
}

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset)
{
    static const auto real = next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
    const ssize_t result = real(descriptor, bytes, count, offset);
    noteWrite(descriptor, offset, bytes, result);
    return result;
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off64_t offset)
{
    return pwrite(descriptor, bytes, count, offset);
}
}
