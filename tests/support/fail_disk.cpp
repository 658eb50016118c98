// LD_PRELOAD: once the file that JACKPOT_FAIL names is there, the journal's disk is full or broken.
// It says "sync" (fdatasync and fsync give EIO) or "write" (pwrite gives ENOSPC), and after it how
// many such calls still pass; or "hang" (fdatasync waits until the file is gone). Other files are
// not affected.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {

bool isJournal(int descriptor)
{
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    std::array<char, 4096> path{};
    const ssize_t size = ::readlink(link.c_str(), path.data(), path.size());
    return size > 0 &&
           std::string(path.data(), static_cast<std::size_t>(size)).find("journal.db") !=
               std::string::npos;
}

bool fails(const std::string& what, int descriptor)
{
    static std::atomic<int> passed{0};
    const char* const file = std::getenv("JACKPOT_FAIL");
    if (!file || ::access(file, F_OK) != 0 || !isJournal(descriptor)) return false;
    std::ifstream in{file};
    std::string kind;
    int pass = 0;
    in >> kind >> pass;
    return kind == what && ++passed > pass;
}

template <class Function>
Function next(const char* name)
{
    return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

ssize_t writeOrFail(int descriptor, const void* data, size_t size, off64_t at)
{
    static const auto real = next<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
    if (!fails("write", descriptor)) return real(descriptor, data, size, at);
    errno = ENOSPC;
    return -1;
}

}  // namespace

extern "C" {

int fdatasync(int descriptor)
{
    static const auto real = next<int (*)(int)>("fdatasync");
    while (fails("hang", descriptor)) ::usleep(1000);
    if (!fails("sync", descriptor)) return real(descriptor);
    errno = EIO;
    return -1;
}

int fsync(int descriptor)
{
    static const auto real = next<int (*)(int)>("fsync");
    if (!fails("sync", descriptor)) return real(descriptor);
    errno = EIO;
    return -1;
}

ssize_t pwrite(int descriptor, const void* data, size_t size, off_t at)
{
    return writeOrFail(descriptor, data, size, at);
}

ssize_t pwrite64(int descriptor, const void* data, size_t size, off64_t at)
{
    return writeOrFail(descriptor, data, size, at);
}
}
