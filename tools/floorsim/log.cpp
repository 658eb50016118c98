#include "tools/floorsim/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace jackpot::floorsim {
namespace {

constexpr std::size_t kHeadBytes = 4 + 1 + 4;
constexpr std::string_view kMagic = "floorsim books 1\n";

std::string headerOf(const std::vector<std::string>& tables)
{
    std::string header{kMagic};
    for (const std::string& table : tables) header += table + "\n";
    return header;
}

void putNumber(std::string& into, std::size_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        into += static_cast<char>(value >> static_cast<unsigned>(shift) & 0xFFU);
}

std::uint32_t numberAt(std::string_view bytes)
{
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8U | static_cast<unsigned char>(bytes[i]);
    return value;
}

}  // namespace

Result<FloorLog> FloorLog::create(const std::filesystem::path& file,
                                  const std::vector<std::string>& tables)
{
    const int opened =
        ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (opened < 0 && errno == EEXIST)
        return Error{file.string() +
                     ": the books of an earlier run are there: go on with --resume, or choose "
                     "another --outbox directory"};
    if (opened < 0) return Error{file.string() + ": " + std::strerror(errno)};
    FloorLog log{opened};
    log.add(Kind::Header, 0, headerOf(tables));
    return log;
}

Result<FloorLog> FloorLog::resume(const std::filesystem::path& file,
                                  const std::vector<std::string>& tables, const Replay& replay)
{
    std::string bytes;
    {
        std::ifstream in{file, std::ios::binary};
        if (!in) return Error{file.string() + ": cannot be opened: there is no run to go on with"};
        bytes.assign(std::istreambuf_iterator<char>{in}, {});
    }
    std::string_view rest = bytes;
    bool isFirst = true;
    while (rest.size() >= kHeadBytes && rest.size() - kHeadBytes >= numberAt(rest)) {
        const std::size_t size = numberAt(rest);
        const auto kind = static_cast<Kind>(rest[4]);
        const std::uint32_t table = numberAt(rest.substr(5));
        const std::string_view payload = rest.substr(kHeadBytes, size);
        rest.remove_prefix(kHeadBytes + size);
        if (isFirst != (kind == Kind::Header) || table >= tables.size())
            return Error{file.string() + ": not floorsim's books, or damaged"};
        if (isFirst && payload != headerOf(tables))
            return Error{file.string() +
                         ": these are the books of other tables: resume with the "
                         "same --tables and --config"};
        if (!isFirst) replay(kind, table, payload);
        isFirst = false;
    }
    const int opened = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (opened < 0) return Error{file.string() + ": " + std::strerror(errno)};
    FloorLog log{opened};
    if (::ftruncate(opened, static_cast<off_t>(bytes.size() - rest.size())) != 0)
        return Error{file.string() + ": " + std::strerror(errno)};
    if (isFirst) log.add(Kind::Header, 0, headerOf(tables));
    return log;
}

FloorLog::~FloorLog()
{
    if (file_ >= 0) ::close(file_);
}

void FloorLog::add(Kind kind, std::uint32_t table, std::string_view bytes)
{
    scratch_.clear();
    putNumber(scratch_, bytes.size());
    scratch_ += static_cast<char>(kind);
    putNumber(scratch_, table);
    scratch_ += bytes;
    std::string_view left = scratch_;
    while (!left.empty() && !hasFailed_) {
        const ssize_t written = ::write(file_, left.data(), left.size());
        if (written < 0 && errno != EINTR) hasFailed_ = true;
        if (written > 0) left.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace jackpot::floorsim
