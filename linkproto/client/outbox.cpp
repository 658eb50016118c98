#include "linkproto/client/outbox.h"

#include <fcntl.h>
#include <openssl/sha.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "linkproto/frame.h"

namespace jackpot::linkproto {
namespace {

// An entry: length, the length's complement (four bytes each, big-endian), payload, the first eight
// bytes of its SHA-256, and a mark that no single flipped bit turns into a zero.
constexpr std::size_t kHeadBytes = 8;
constexpr std::size_t kCheckBytes = 8;
constexpr char kEndMark = '\n';
constexpr std::size_t kMaxPayloadBytes = kMaxFrameBytes + 256;
constexpr std::size_t kMaxBootIdBytes = 64;
constexpr std::string_view kMagic = "jackpotd table outbox 1\n";
// From here on a file of which most is old is replaced.
constexpr std::size_t kCompactBytes = 256U << 10U;

enum Kind : char { kHeader = 'H', kCommand = 'C', kMemory = 'M' };

void putNumber(std::string& out, std::uint64_t value, unsigned bytes)
{
    for (unsigned i = bytes; i-- > 0;) out += static_cast<char>(value >> (8 * i) & 0xFFU);
}

// Reads what put...() wrote; isGood() tells whether all of it was there.
class Reader {
public:
    explicit Reader(std::string_view bytes) : rest_{bytes} {}

    std::string_view bytes(std::size_t count)
    {
        if (count > rest_.size()) isGood_ = false;
        const std::string_view taken = rest_.substr(0, count);
        rest_.remove_prefix(taken.size());
        return taken;
    }
    std::uint64_t number(unsigned count)
    {
        std::uint64_t value = 0;
        for (const char byte : bytes(count)) value = value << 8U | static_cast<unsigned char>(byte);
        return value;
    }
    std::int64_t signedNumber() { return static_cast<std::int64_t>(number(8)); }
    std::string_view text() { return bytes(number(1)); }
    std::string_view rest() { return bytes(rest_.size()); }
    [[nodiscard]] bool isGood() const { return isGood_; }

private:
    std::string_view rest_;
    bool isGood_ = true;
};

std::string checkOf(std::string_view payload)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256(reinterpret_cast<const unsigned char*>(payload.data()), payload.size(), digest);
    return {reinterpret_cast<const char*>(digest), kCheckBytes};
}

void putEntry(std::string& out, std::string_view payload)
{
    putNumber(out, payload.size(), 4);
    putNumber(out, ~payload.size(), 4);
    out.append(payload).append(checkOf(payload)) += kEndMark;
}

void putText(std::string& out, std::string_view text)
{
    putNumber(out, text.size(), 1);
    out.append(text);
}

void putHeader(std::string& out, std::string_view table)
{
    std::string payload{kHeader};
    payload.append(kMagic);
    putText(payload, table);
    putEntry(out, payload);
}

void putCommand(std::string& out, const Outbox::Entry& entry, std::string_view bootId)
{
    std::string payload{kCommand};
    putNumber(payload, entry.number, 8);
    putNumber(payload, static_cast<std::uint64_t>(entry.happened.bootMs), 8);
    putNumber(payload, static_cast<std::uint64_t>(entry.happened.wallMs), 8);
    putText(payload, entry.sameBoot ? bootId : std::string_view{});
    putEntry(out, payload.append(entry.command));
}

void putMemory(std::string& out, const Outbox::Memory& memory)
{
    std::string payload{kMemory};
    putNumber(payload, memory.isNew ? 1 : 0, 1);
    putNumber(payload, memory.last, 8);
    putNumber(payload, memory.decided, 8);
    putNumber(payload, memory.counted, 8);
    putNumber(payload, memory.wagers, 8);
    putNumber(payload, memory.openRound ? 1 : 0, 1);
    putNumber(payload, static_cast<std::uint64_t>(memory.openRound.value_or(0)), 8);
    putNumber(payload, memory.receiptSize, 8);
    putEntry(out, payload.append(memory.receipt));
}

std::string systemError() { return std::strerror(errno); }

bool isZero(std::string_view bytes)
{
    return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; });
}

// The next entry's payload; nullopt if it is incomplete.
std::optional<std::string_view> entryAt(std::string_view rest)
{
    if (rest.size() < kHeadBytes) return std::nullopt;
    Reader head{rest};
    const std::uint64_t size = head.number(4);
    if (head.number(4) != (~size & 0xFFFF'FFFFU) || size == 0 || size > kMaxPayloadBytes ||
        rest.size() - kHeadBytes < size + kCheckBytes + 1)
        return std::nullopt;
    const std::string_view payload = rest.substr(kHeadBytes, size);
    const std::string_view tail = rest.substr(kHeadBytes + size, kCheckBytes + 1);
    if (tail.back() != kEndMark || tail.substr(0, kCheckBytes) != checkOf(payload))
        return std::nullopt;
    return payload;
}

std::size_t sizeOnDisk(std::string_view payload)
{
    return kHeadBytes + payload.size() + kCheckBytes + 1;
}

// What is not whole is torn if the file ends before the entry does, or if zeros begin before its
// end and go on to the file's end: a length that reached the disk before the data did.
bool isTorn(std::string_view rest)
{
    if (rest.size() < kHeadBytes) return true;
    Reader head{rest};
    const std::uint64_t size = head.number(4);
    const bool isHeadGood =
        head.number(4) == (~size & 0xFFFF'FFFFU) && size > 0 && size <= kMaxPayloadBytes;
    const std::size_t end = isHeadGood ? kHeadBytes + size + kCheckBytes + 1 : kHeadBytes;
    return rest.size() < end || isZero(rest.substr(end - 1));
}

Result<std::string> contentsOf(int file)
{
    std::string bytes;
    char buffer[16384];
    while (true) {
        const ssize_t got = ::pread(file, buffer, sizeof buffer, static_cast<off_t>(bytes.size()));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return Error{systemError()};
        if (got == 0) return bytes;
        bytes.append(buffer, static_cast<std::size_t>(got));
    }
}

bool writeAll(int file, std::string_view bytes, std::size_t at)
{
    while (!bytes.empty()) {
        const ssize_t written = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(at));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
        at += static_cast<std::size_t>(written);
    }
    return true;
}

constexpr int kPrivate = S_IRUSR | S_IWUSR;  // player cards are in it

}  // namespace

Outbox::Descriptor& Outbox::Descriptor::operator=(Descriptor&& other) noexcept
{
    std::swap(number_, other.number_);
    return *this;
}

Outbox::Descriptor::~Descriptor()
{
    if (number_ >= 0) ::close(number_);
}

Outbox Outbox::inMemory(std::string_view table)
{
    Outbox outbox;
    outbox.table_ = table;
    return outbox;
}

Outbox::Outbox(Outbox&& other) noexcept = default;

Outbox::~Outbox()
{
    if (open_.number() >= 0 && !synced_ && !failed_) (void)::fdatasync(open_.number());
}

Error Outbox::about(std::string_view what) const
{
    return Error{file_.string() + ": " + std::string{what}};
}

Result<Outbox> Outbox::open(const std::filesystem::path& file, std::string_view table,
                            std::string_view bootId)
{
    Outbox outbox;
    outbox.file_ = file;
    outbox.table_ = table;
    outbox.bootId_ = bootId.substr(0, kMaxBootIdBytes);
    if (table.empty() || table.size() > 16) return outbox.about("a table's id has 1 to 16 bytes");

    // A file of its own, because the outbox itself is replaced.
    const std::string lock = file.string() + ".lock";
    outbox.lock_ = Descriptor{::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kPrivate)};
    if (outbox.lock_.number() < 0) return Error{lock + ": " + systemError()};
    if (::flock(outbox.lock_.number(), LOCK_EX | LOCK_NB) != 0)
        return outbox.about(errno == EWOULDBLOCK ? "another process uses this outbox"
                                                 : systemError());

    outbox.open_ = Descriptor{::open(file.c_str(), O_RDWR | O_CLOEXEC)};
    if (outbox.open_.number() < 0 && errno != ENOENT) return outbox.about(systemError());
    if (outbox.open_.number() >= 0) {
        const auto bytes = contentsOf(outbox.open_.number());
        if (!bytes) return outbox.about(bytes.error().message);
        if (auto loaded = outbox.load(*bytes); !loaded) return loaded.error();
    }
    // Also what is only in the page cache becomes durable here, before anybody relies on it.
    if (auto compacted = outbox.compact(); !compacted) return compacted.error();
    return outbox;
}

Result<void> Outbox::load(std::string_view bytes)
{
    std::size_t at = 0;
    while (at < bytes.size()) {
        const std::string_view rest = bytes.substr(at);
        const auto payload = entryAt(rest);
        if (!payload) {
            if (at > 0 && isTorn(rest)) {
                tornBytes_ = rest.size();
                break;
            }
            return about("damaged at byte " + std::to_string(at) +
                         ": look at the disk, keep the file, and see docs/link.md on how to go on");
        }
        if (auto taken = take(*payload, at == 0); !taken) return taken;
        at += sizeOnDisk(*payload);
    }
    if (at == 0) return about("empty: an outbox begins with its table's id");
    return {};
}

Result<void> Outbox::take(std::string_view payload, bool isFirst)
{
    const auto kind = static_cast<Kind>(payload.front());
    Reader reader{payload.substr(1)};
    if (isFirst != (kind == kHeader)) return about("not a table's outbox");
    if (kind == kHeader) {
        if (reader.bytes(kMagic.size()) != kMagic) return about("not a table's outbox");
        const std::string_view table = reader.text();
        if (!reader.isGood() || !reader.rest().empty()) return about("not a table's outbox");
        if (table != table_)
            return about("the outbox of table " + std::string{table} + ", not of " + table_);
        return {};
    }
    if (kind == kCommand) {
        Entry entry;
        entry.number = reader.number(8);
        entry.happened.bootMs = reader.signedNumber();
        entry.happened.wallMs = reader.signedNumber();
        entry.sameBoot = reader.text() == bootId_ && !bootId_.empty();
        entry.command = reader.rest();
        const auto before = entries_.empty() ? memory_.decided : entries_.back().number;
        if (!reader.isGood() || entry.number <= before) return about("its numbers do not rise");
        memory_.last = std::max(memory_.last, entry.number);
        entries_.push_back(std::move(entry));
        return {};
    }
    if (kind != kMemory) return about("written by newer software");
    Memory memory;
    memory.isNew = reader.number(1) != 0;
    memory.last = reader.number(8);
    memory.decided = reader.number(8);
    memory.counted = reader.number(8);
    memory.wagers = reader.number(8);
    const bool hasRound = reader.number(1) != 0;
    const std::int64_t round = reader.signedNumber();
    if (hasRound) memory.openRound = round;
    memory.receiptSize = reader.number(8);
    memory.receipt = reader.rest();
    if (!reader.isGood() || memory.last < memory_.last || memory.decided < memory_.decided)
        return about("what it remembers goes backwards");
    memory_ = std::move(memory);
    while (!entries_.empty() && entries_.front().number <= memory_.decided) entries_.pop_front();
    return {};
}

Result<void> Outbox::append(std::span<Entry> entries)
{
    if (failed_) return about("could not be written; restart when the disk is sound");
    if (entries.size() > kMaxEntries - entries_.size())
        return Error{"the outbox is full: " + std::to_string(entries_.size()) +
                     " commands wait for a decision"};
    std::uint64_t last = memory_.last;
    for (const Entry& entry : entries) {
        if (entry.number <= last) return Error{"the numbers of commands must rise"};
        if (entry.command.size() > kMaxFrameBytes) return Error{"the command is too long"};
        last = entry.number;
    }
    if (!file_.empty()) {
        std::string bytes;
        for (const Entry& entry : entries) putCommand(bytes, entry, bootId_);
        if (auto written = write(bytes); !written) return written;
        if (::fdatasync(open_.number()) != 0) {
            failed_ = true;
            return about(systemError());
        }
        synced_ = true;
    }
    memory_.last = last;
    for (Entry& entry : entries) entries_.push_back(std::move(entry));
    return {};
}

Result<void> Outbox::remember(const Memory& memory)
{
    memory_ = memory;
    while (!entries_.empty() && entries_.front().number <= memory_.decided) entries_.pop_front();
    if (file_.empty()) return {};
    if (failed_) return about("could not be written; restart when the disk is sound");
    if (fileBytes_ >= kCompactBytes && entries_.size() < kMaxEntries / 8) return compact();
    std::string bytes;
    putMemory(bytes, memory_);
    return write(bytes);
}

Result<void> Outbox::replace(const Memory& memory, std::deque<Entry> entries)
{
    const Memory memoryBefore = std::exchange(memory_, memory);
    entries_.swap(entries);
    if (file_.empty()) return {};
    auto compacted = failed_ ? Result<void>{about("could not be written")} : compact();
    if (!compacted) {
        memory_ = memoryBefore;
        entries_.swap(entries);
    }
    return compacted;
}

Result<void> Outbox::write(std::string_view bytes)
{
    synced_ = false;
    if (writeAll(open_.number(), bytes, fileBytes_)) {
        fileBytes_ += bytes.size();
        return {};
    }
    const Error error = about(systemError());
    // Half an entry in the middle of the file would be damage.
    if (::ftruncate(open_.number(), static_cast<off_t>(fileBytes_)) != 0) failed_ = true;
    return error;
}

Result<void> Outbox::compact()
{
    std::string bytes;
    putHeader(bytes, table_);
    putMemory(bytes, memory_);
    for (const Entry& entry : entries_) putCommand(bytes, entry, bootId_);

    const std::string next = file_.string() + ".new";
    Descriptor written{::open(next.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, kPrivate)};
    if (written.number() < 0 || !writeAll(written.number(), bytes, 0) ||
        ::fdatasync(written.number()) != 0 || ::rename(next.c_str(), file_.c_str()) != 0)
        return Error{next + ": " + systemError()};
    open_ = std::move(written);
    fileBytes_ = bytes.size();
    synced_ = true;

    const auto directory = file_.has_parent_path() ? file_.parent_path() : ".";
    const Descriptor opened{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (opened.number() >= 0 && ::fsync(opened.number()) == 0) return {};
    failed_ = true;
    return Error{directory.string() + ": " + systemError()};
}

}  // namespace jackpot::linkproto
