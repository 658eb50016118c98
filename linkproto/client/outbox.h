// What a table has told the daemon and has no decision on yet, kept on disk until it has one. One
// thread at a time.
//
// The file is appended to and replaced by a short one now and then. A command is on the disk before
// append() returns. What an append that was cut short left at the end is cut off by open(); any
// other damage is refused with a message, because a number that is used twice with other contents
// is a conflict that people must sort out. docs/link.md describes the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "linkproto/client/clock_reading.h"

namespace jackpot::linkproto {

class Outbox {
public:
    static constexpr std::size_t kMaxEntries = 1024;
    static constexpr std::size_t kMaxReceiptBytes = 4096;

    struct Entry {
        std::uint64_t number = 0;
        ClockReading happened;
        std::string command;   // a Command without its age
        bool sameBoot = true;  // happened.bootMs can be compared with the clock
    };

    // What outlives the entries.
    struct Memory {
        bool isNew = true;                      // no daemon has told the first number yet
        std::uint64_t last = 0;                 // the newest number in use
        std::uint64_t decided = 0;              // entries up to here are gone
        std::uint64_t counted = 0;              // what follows takes account of commands up to here
        std::uint64_t wagers = 0;               // accepted, ever
        std::optional<std::int64_t> openRound;  // no result is in, and it is not void
        std::uint64_t receiptSize = 0;
        std::string receipt;  // the newest Receipt.note

        bool operator==(const Memory&) const = default;
    };

    // Without a file and without durability, for load generators and tests.
    static Outbox inMemory(std::string_view table = {});
    // Creates the file if there is none. `bootId` names this boot of the machine.
    static Result<Outbox> open(const std::filesystem::path& file, std::string_view table,
                               std::string_view bootId);

    Outbox(Outbox&& other) noexcept;
    Outbox& operator=(Outbox&&) = delete;
    ~Outbox();  // stores what is not on the disk yet

    // Durable when it returns; all of them or, on an error, none. Numbers rise. After a failed sync
    // nothing is taken any more: what is on the disk is then not known.
    Result<void> append(Entry entry) { return append(std::span{&entry, 1}); }
    Result<void> append(std::span<Entry> entries);

    // Takes the first entries up to memory.decided off, and keeps `memory`. Survives the process at
    // once, a power cut only with the next append: then the entries are there again, and the daemon
    // gives its answers again. An error leaves the new state in memory all the same.
    Result<void> remember(const Memory& memory);

    // Other entries and another memory, in one step and durable when it returns; an error leaves
    // the file as it was. For commands that get new numbers.
    Result<void> replace(const Memory& memory, std::deque<Entry> entries);

    [[nodiscard]] const std::deque<Entry>& entries() const { return entries_; }
    [[nodiscard]] const Memory& memory() const { return memory_; }
    [[nodiscard]] const std::string& table() const { return table_; }
    [[nodiscard]] bool isFull() const { return entries_.size() >= kMaxEntries; }
    // How many bytes of an append that was cut short open() has cut off.
    [[nodiscard]] std::size_t tornBytes() const { return tornBytes_; }

private:
    class Descriptor {
    public:
        explicit Descriptor(int number = -1) : number_{number} {}
        Descriptor(Descriptor&& other) noexcept : number_{other.number_} { other.number_ = -1; }
        Descriptor& operator=(Descriptor&& other) noexcept;
        ~Descriptor();
        [[nodiscard]] int number() const { return number_; }

    private:
        int number_;
    };

    Outbox() = default;
    Result<void> load(std::string_view bytes);
    Result<void> take(std::string_view payload, bool isFirst);
    Result<void> write(std::string_view bytes);
    Result<void> compact();
    [[nodiscard]] Error about(std::string_view what) const;

    std::filesystem::path file_;  // empty in memory
    std::string table_;
    std::string bootId_;
    Descriptor lock_;
    Descriptor open_;
    std::size_t fileBytes_ = 0;
    std::size_t tornBytes_ = 0;
    bool synced_ = true;
    bool failed_ = false;
    Memory memory_;
    std::deque<Entry> entries_;
};

}  // namespace jackpot::linkproto
