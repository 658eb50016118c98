// A SQLite VFS that calls a watcher before and after each operation; the system's VFS does the
// work.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace jackpot::storage {

enum class FileOp : std::uint8_t { Open, Read, Write, Truncate, Sync, Delete, Map };

std::string_view nameOf(FileOp op);

// Files are named by their whole path. One thread at a time.
class VfsWatcher {
public:
    // Reports success to SQLite for an operation that the disk did not do.
    static constexpr int kSwallow = -1;

    VfsWatcher() = default;
    VfsWatcher(const VfsWatcher&) = delete;
    VfsWatcher& operator=(const VfsWatcher&) = delete;
    virtual ~VfsWatcher() = default;

    // SQLITE_OK lets it happen; an error code or kSwallow comes instead of it.
    virtual int before(FileOp /*op*/, const std::string& /*file*/) { return SQLITE_OK; }

    // What has happened.
    virtual void opened(const std::string& /*file*/, bool /*created*/) {}
    virtual void readBytes(const std::string& /*file*/, std::size_t /*count*/) {}
    virtual void wrote(const std::string& /*file*/, std::uint64_t /*offset*/,
                       std::string_view /*bytes*/)
    {}
    virtual void truncated(const std::string& /*file*/, std::uint64_t /*size*/) {}
    virtual void synced(const std::string& /*file*/) {}
    virtual void deleted(const std::string& /*file*/) {}
};

// Registered under its name for as long as it lives, which must be longer than any connection.
class ShimVfs {
public:
    ShimVfs(std::string name, VfsWatcher& watcher);
    ShimVfs(const ShimVfs&) = delete;
    ShimVfs& operator=(const ShimVfs&) = delete;
    ~ShimVfs();

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] sqlite3_vfs& system() const { return system_; }
    [[nodiscard]] VfsWatcher& watcher() const { return watcher_; }

private:
    std::string name_;
    sqlite3_vfs& system_;
    VfsWatcher& watcher_;
    sqlite3_vfs vfs_{};
};

}  // namespace jackpot::storage
