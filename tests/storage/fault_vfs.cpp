#include "tests/storage/fault_vfs.h"

#include <unistd.h>

#include <memory>
#include <stdexcept>

namespace jackpot::storage {
namespace {

// SQLite allocates szOsFile bytes: this, and the system's own file behind it.
struct ShimFile {
    sqlite3_file base;
    ShimVfs* vfs;
    std::string* path;
};
static_assert(sizeof(ShimFile) % 8 == 0);

ShimFile& shim(sqlite3_file* file) { return *reinterpret_cast<ShimFile*>(file); }

sqlite3_file* real(sqlite3_file* file)
{
    return reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + sizeof(ShimFile));
}

ShimVfs& shim(sqlite3_vfs* vfs) { return *static_cast<ShimVfs*>(vfs->pAppData); }

int ask(ShimVfs& vfs, FileOp op, const std::string& path) { return vfs.watcher().before(op, path); }

int ask(sqlite3_file* file, FileOp op) { return ask(*shim(file).vfs, op, *shim(file).path); }

VfsWatcher& watcher(sqlite3_file* file) { return shim(file).vfs->watcher(); }

int closeFile(sqlite3_file* file)
{
    const int code = real(file)->pMethods->xClose(real(file));
    const std::unique_ptr<std::string> path{shim(file).path};
    return code;
}

int readFile(sqlite3_file* file, void* buffer, int count, sqlite3_int64 offset)
{
    if (const int code = ask(file, FileOp::Read); code != SQLITE_OK) return code;
    watcher(file).readBytes(*shim(file).path, static_cast<std::size_t>(count));
    return real(file)->pMethods->xRead(real(file), buffer, count, offset);
}

int writeFile(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset)
{
    const int asked = ask(file, FileOp::Write);
    if (asked == VfsWatcher::kSwallow) return SQLITE_OK;
    if (asked != SQLITE_OK) return asked;
    const int code = real(file)->pMethods->xWrite(real(file), bytes, count, offset);
    if (code == SQLITE_OK)
        watcher(file).wrote(*shim(file).path, static_cast<std::uint64_t>(offset),
                            {static_cast<const char*>(bytes), static_cast<std::size_t>(count)});
    return code;
}

int truncateFile(sqlite3_file* file, sqlite3_int64 size)
{
    const int asked = ask(file, FileOp::Truncate);
    if (asked == VfsWatcher::kSwallow) return SQLITE_OK;
    if (asked != SQLITE_OK) return asked;
    const int code = real(file)->pMethods->xTruncate(real(file), size);
    if (code == SQLITE_OK)
        watcher(file).truncated(*shim(file).path, static_cast<std::uint64_t>(size));
    return code;
}

int syncFile(sqlite3_file* file, int flags)
{
    const int asked = ask(file, FileOp::Sync);
    if (asked == VfsWatcher::kSwallow) return SQLITE_OK;
    if (asked != SQLITE_OK) return asked;
    const int code = real(file)->pMethods->xSync(real(file), flags);
    if (code == SQLITE_OK) watcher(file).synced(*shim(file).path);
    return code;
}

int fileSize(sqlite3_file* file, sqlite3_int64* size)
{
    return real(file)->pMethods->xFileSize(real(file), size);
}

int lockFile(sqlite3_file* file, int level)
{
    return real(file)->pMethods->xLock(real(file), level);
}

int unlockFile(sqlite3_file* file, int level)
{
    return real(file)->pMethods->xUnlock(real(file), level);
}

int checkReservedLock(sqlite3_file* file, int* reserved)
{
    return real(file)->pMethods->xCheckReservedLock(real(file), reserved);
}

int fileControl(sqlite3_file* file, int op, void* argument)
{
    return real(file)->pMethods->xFileControl(real(file), op, argument);
}

int sectorSize(sqlite3_file* file) { return real(file)->pMethods->xSectorSize(real(file)); }

int deviceCharacteristics(sqlite3_file* file)
{
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

int shmMap(sqlite3_file* file, int region, int size, int extend, void volatile** memory)
{
    if (const int code = ask(file, FileOp::Map); code != SQLITE_OK) return code;
    return real(file)->pMethods->xShmMap(real(file), region, size, extend, memory);
}

int shmLock(sqlite3_file* file, int offset, int count, int flags)
{
    return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}

void shmBarrier(sqlite3_file* file) { real(file)->pMethods->xShmBarrier(real(file)); }

int shmUnmap(sqlite3_file* file, int deleteIt)
{
    return real(file)->pMethods->xShmUnmap(real(file), deleteIt);
}

// Version 2: without memory-mapped reading, so that nothing passes the watcher by.
constexpr sqlite3_io_methods kMethods{
    2,
    closeFile,
    readFile,
    writeFile,
    truncateFile,
    syncFile,
    fileSize,
    lockFile,
    unlockFile,
    checkReservedLock,
    fileControl,
    sectorSize,
    deviceCharacteristics,
    shmMap,
    shmLock,
    shmBarrier,
    shmUnmap,
    nullptr,
    nullptr,
};

int openFile(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* outFlags)
{
    file->pMethods = nullptr;
    ShimVfs& owner = shim(vfs);
    auto path = std::make_unique<std::string>(name != nullptr ? name : "");
    if (const int code = ask(owner, FileOp::Open, *path); code != SQLITE_OK) return code;
    const bool isNew = name != nullptr && ::access(name, F_OK) != 0;
    const int code = owner.system().xOpen(&owner.system(), name, real(file), flags, outFlags);
    if (code != SQLITE_OK) {
        if (real(file)->pMethods != nullptr) (void)real(file)->pMethods->xClose(real(file));
        return code;
    }
    owner.watcher().opened(*path, isNew);
    shim(file).vfs = &owner;
    shim(file).path = path.release();
    file->pMethods = &kMethods;
    return SQLITE_OK;
}

int deleteFile(sqlite3_vfs* vfs, const char* name, int syncDirectory)
{
    ShimVfs& owner = shim(vfs);
    const int asked = ask(owner, FileOp::Delete, name);
    if (asked == VfsWatcher::kSwallow) return SQLITE_OK;
    if (asked != SQLITE_OK) return asked;
    // Told first: the directory is synced within the call.
    if (::access(name, F_OK) == 0) owner.watcher().deleted(name);
    return owner.system().xDelete(&owner.system(), name, syncDirectory);
}

int accessFile(sqlite3_vfs* vfs, const char* name, int flags, int* result)
{
    return shim(vfs).system().xAccess(&shim(vfs).system(), name, flags, result);
}

int fullPathname(sqlite3_vfs* vfs, const char* name, int size, char* out)
{
    return shim(vfs).system().xFullPathname(&shim(vfs).system(), name, size, out);
}

int randomness(sqlite3_vfs* vfs, int size, char* out)
{
    return shim(vfs).system().xRandomness(&shim(vfs).system(), size, out);
}

int sleepFor(sqlite3_vfs* vfs, int microseconds)
{
    return shim(vfs).system().xSleep(&shim(vfs).system(), microseconds);
}

int currentTime(sqlite3_vfs* vfs, double* now)
{
    return shim(vfs).system().xCurrentTime(&shim(vfs).system(), now);
}

int lastError(sqlite3_vfs* vfs, int size, char* out)
{
    return shim(vfs).system().xGetLastError(&shim(vfs).system(), size, out);
}

int currentTimeInt64(sqlite3_vfs* vfs, sqlite3_int64* now)
{
    return shim(vfs).system().xCurrentTimeInt64(&shim(vfs).system(), now);
}

sqlite3_vfs& systemVfs()
{
    sqlite3_vfs* found = sqlite3_vfs_find("unix");
    if (found == nullptr) throw std::runtime_error{"SQLite has no VFS \"unix\""};
    return *found;
}

}  // namespace

std::string_view nameOf(FileOp op)
{
    switch (op) {
        case FileOp::Open: return "open";
        case FileOp::Read: return "read";
        case FileOp::Write: return "write";
        case FileOp::Truncate: return "truncate";
        case FileOp::Sync: return "sync";
        case FileOp::Delete: return "delete";
        case FileOp::Map: return "map";
    }
    return "?";
}

ShimVfs::ShimVfs(std::string name, VfsWatcher& watcher)
    : name_{std::move(name)}, system_{systemVfs()}, watcher_{watcher}
{
    vfs_.iVersion = 2;
    vfs_.szOsFile = static_cast<int>(sizeof(ShimFile)) + system_.szOsFile;
    vfs_.mxPathname = system_.mxPathname;
    vfs_.zName = name_.c_str();
    vfs_.pAppData = this;
    vfs_.xOpen = openFile;
    vfs_.xDelete = deleteFile;
    vfs_.xAccess = accessFile;
    vfs_.xFullPathname = fullPathname;
    vfs_.xRandomness = randomness;
    vfs_.xSleep = sleepFor;
    vfs_.xCurrentTime = currentTime;
    vfs_.xGetLastError = lastError;
    vfs_.xCurrentTimeInt64 = currentTimeInt64;
    if (sqlite3_vfs_register(&vfs_, 0) != SQLITE_OK)
        throw std::runtime_error{"SQLite takes no VFS \"" + name_ + "\""};
}

ShimVfs::~ShimVfs() { sqlite3_vfs_unregister(&vfs_); }

}  // namespace jackpot::storage
