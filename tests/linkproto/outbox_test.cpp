#include "linkproto/client/outbox.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <random>
#include <thread>
#include <vector>

#include "tests/support/scratch.h"

namespace jackpot::linkproto {
namespace {

namespace fs = std::filesystem;

Outbox::Entry entry(std::uint64_t number)
{
    const auto n = static_cast<std::int64_t>(number);
    return {.number = number,
            .happened = {.bootMs = 1000 * n, .wallMs = 1'000'000 * n},
            .command = "command " + std::to_string(number),
            .sameBoot = true};
}

Outbox opened(const fs::path& file)
{
    auto outbox = Outbox::open(file, "BJ01", "boot-a");
    REQUIRE_MESSAGE(outbox, (outbox ? "" : outbox.error().message));
    return *std::move(outbox);
}

std::vector<std::uint64_t> numbersOf(const Outbox& outbox)
{
    std::vector<std::uint64_t> numbers;
    for (const auto& each : outbox.entries()) numbers.push_back(each.number);
    return numbers;
}

Outbox::Memory memoryAfter(std::uint64_t decided, std::uint64_t last)
{
    Outbox::Memory memory;
    memory.isNew = false;
    memory.last = last;
    memory.decided = memory.counted = decided;
    memory.wagers = 3 * decided;
    memory.receiptSize = 10 * decided;
    memory.receipt = "note " + std::to_string(decided);
    return memory;
}

using Numbers = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("after a restart, appended commands are there and decided commands are not")
{
    const ScratchDirectory scratch;
    const auto file = scratch / "outbox";
    {
        auto outbox = opened(file);
        CHECK(outbox.memory() == Outbox::Memory{});
        for (std::uint64_t n = 1; n <= 3; ++n) REQUIRE(outbox.append(entry(n)));
        std::vector<Outbox::Entry> batch{entry(4), entry(5)};
        REQUIRE(outbox.append(batch));
        auto memory = memoryAfter(2, 5);
        memory.openRound = -7;
        REQUIRE(outbox.remember(memory));
        CHECK(numbersOf(outbox) == Numbers{3, 4, 5});
    }
    for (int restart = 0; restart < 2; ++restart) {
        const auto outbox = opened(file);
        CHECK(numbersOf(outbox) == Numbers{3, 4, 5});
        CHECK(outbox.memory().last == 5);
        CHECK(outbox.memory().wagers == 6);
        CHECK(outbox.memory().openRound == -7);
        CHECK(outbox.memory().receipt == "note 2");
        CHECK(outbox.entries()[0].command == "command 3");
        CHECK(outbox.entries()[0].happened.bootMs == 3000);
        CHECK(outbox.entries()[0].happened.wallMs == 3'000'000);
        CHECK(outbox.entries()[0].sameBoot);
        CHECK(outbox.tornBytes() == 0);
    }
    const auto rebooted = Outbox::open(file, "BJ01", "boot-b");
    REQUIRE(rebooted);
    CHECK_FALSE(rebooted->entries()[0].sameBoot);
    struct stat status {};
    REQUIRE(::stat(file.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0600);
}

TEST_CASE("a command of an earlier boot stays marked as such")
{
    const ScratchDirectory scratch;
    {
        REQUIRE(opened(scratch / "outbox").append(entry(1)));
    }
    for (int start = 0; start < 3; ++start) {
        const auto outbox = Outbox::open(scratch / "outbox", "BJ01", "boot-b");
        REQUIRE(outbox);
        CHECK_FALSE(outbox->entries()[0].sameBoot);
    }
}

TEST_CASE("another table's outbox, a used one, a foreign file and a missing folder are refused")
{
    const ScratchDirectory scratch;
    const auto file = scratch / "outbox";
    {
        const auto outbox = opened(file);
        const auto second = Outbox::open(file, "BJ01", "boot-a");
        REQUIRE_FALSE(second);
        CHECK(second.error().message.find("another process") != std::string::npos);
    }
    const auto other = Outbox::open(file, "BJ02", "boot-a");
    REQUIRE_FALSE(other);
    CHECK(other.error().message.find("of table BJ01, not of BJ02") != std::string::npos);
    scratch.write("text", "something else");
    CHECK_FALSE(Outbox::open(scratch / "text", "BJ01", "boot-a"));
    scratch.write("empty", "");
    CHECK_FALSE(Outbox::open(scratch / "empty", "BJ01", "boot-a"));
    CHECK_FALSE(Outbox::open(scratch / "none" / "outbox", "BJ01", "boot-a"));
    CHECK_FALSE(Outbox::open(scratch / "new", "", "boot-a"));
    CHECK_FALSE(Outbox::open(scratch / "new", "longer-than-16-by", "boot-a"));
}

TEST_CASE("numbers increase, and a full outbox accepts no more commands")
{
    for (const bool onDisk : {false, true}) {
        const ScratchDirectory scratch;
        auto outbox = onDisk ? opened(scratch / "outbox") : Outbox::inMemory();
        REQUIRE(outbox.append(entry(5)));
        CHECK_FALSE(outbox.append(entry(5)));
        CHECK_FALSE(outbox.append(entry(4)));
        std::vector<Outbox::Entry> batch;
        for (std::uint64_t n = 6; batch.size() < Outbox::kMaxEntries - 1; ++n)
            batch.push_back(entry(n));
        REQUIRE(outbox.append(batch));
        CHECK(outbox.isFull());
        const auto refused = outbox.append(entry(5000));
        REQUIRE_FALSE(refused);
        CHECK(refused.error().message.find("full") != std::string::npos);
        REQUIRE(outbox.remember(memoryAfter(5, 6 + Outbox::kMaxEntries)));
        CHECK(outbox.append(entry(5000)));
    }
}

TEST_CASE("the file stays small, and its contents survive a rewrite")
{
    const ScratchDirectory scratch;
    const auto file = scratch / "outbox";
    {
        auto outbox = opened(file);
        for (std::uint64_t n = 1; n <= 3000; ++n) {
            auto memory = memoryAfter(n - 1, n - 1);
            memory.receipt = std::string(200, 'n') + std::to_string(n - 1);
            REQUIRE(outbox.remember(memory));
            if (n % 500 == 0) CHECK(fs::file_size(file) < 300'000);
        }
        REQUIRE(outbox.append(entry(3000)));
    }
    const auto outbox = opened(file);
    CHECK(numbersOf(outbox) == Numbers{3000});
    CHECK(outbox.memory().decided == 2999);
    CHECK(outbox.memory().receipt.ends_with("n2999"));
    CHECK_FALSE(fs::exists(scratch / "outbox.new"));
}

TEST_CASE("a file cut off at any byte opens with its complete entries or is refused")
{
    const ScratchDirectory scratch;
    {
        auto outbox = opened(scratch / "outbox");
        REQUIRE(outbox.append(entry(1)));
        REQUIRE(outbox.append(entry(2)));
        REQUIRE(outbox.remember(memoryAfter(1, 2)));
        REQUIRE(outbox.append(entry(3)));
    }
    const std::string whole = bytesOf(scratch / "outbox");
    std::size_t refused = 0;
    std::size_t torn = 0;
    Numbers last;
    for (const bool withZeros : {false, true}) {
        for (std::size_t size = 0; size < whole.size(); ++size) {
            std::string bytes = whole.substr(0, size);
            if (withZeros) bytes.append(whole.size() - size, '\0');
            scratch.write("cut", bytes);
            const auto outbox = Outbox::open(scratch / "cut", "BJ01", "boot-a");
            if (!outbox) {
                ++refused;
                // Only while not even the first entry is whole; it is never written in place.
                REQUIRE(size < 8 + 1 + 24 + 5 + 9);
                continue;
            }
            if (outbox->tornBytes() > 0) ++torn;
            const Numbers numbers = numbersOf(*outbox);
            const bool isPrefix = numbers.empty() || numbers == Numbers{1} ||
                                  numbers == Numbers{1, 2} || numbers == Numbers{2};
            REQUIRE(isPrefix);
            // The incomplete entry is removed permanently: the file opens again without a fault.
            last = numbers;
        }
        const auto again = opened(scratch / "cut");
        CHECK(numbersOf(again) == last);
        CHECK(again.tornBytes() == 0);
    }
    CHECK(refused > 0);
    CHECK(torn > 100);
}

TEST_CASE("any flipped bit is refused")
{
    const ScratchDirectory scratch;
    {
        auto outbox = opened(scratch / "outbox");
        REQUIRE(outbox.append(entry(1)));
        REQUIRE(outbox.append(entry(2)));
        REQUIRE(outbox.remember(memoryAfter(1, 2)));
        REQUIRE(outbox.append(entry(3)));
    }
    const std::string whole = bytesOf(scratch / "outbox");
    std::size_t accepted = 0;
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            std::string bytes = whole;
            bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << bit));
            scratch.write("flipped", bytes);
            const auto outbox = Outbox::open(scratch / "flipped", "BJ01", "boot-a");
            if (outbox)
                ++accepted;
            else
                REQUIRE_FALSE(outbox.error().message.empty());
            // A refused file is left as it is.
            if (!outbox) REQUIRE(bytesOf(scratch / "flipped") == bytes);
        }
    }
    CHECK(accepted == 0);
}

TEST_CASE(
    "on a full disk a command is refused and earlier ones are kept; with free space commands are "
    "accepted again")
{
    const ScratchDirectory scratch;
    const auto file = scratch / "outbox";
    auto outbox = opened(file);
    REQUIRE(outbox.append(entry(1)));
    const auto size = fs::file_size(file);

    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{.rlim_cur = size + 20, .rlim_max = before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    const auto refused = outbox.append(entry(2));
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    std::signal(SIGXFSZ, handler);

    CHECK_FALSE(refused);
    CHECK(fs::file_size(file) == size);
    CHECK(numbersOf(outbox) == Numbers{1});
    REQUIRE(outbox.append(entry(2)));
    CHECK(numbersOf(outbox) == Numbers{1, 2});
}

TEST_CASE("a process that is killed again and again loses nothing that was appended")
{
    const ScratchDirectory scratch;
    const auto file = scratch / "outbox";
    std::mt19937 random{20261116};
    std::uint64_t appended = 0;  // as far as the processes told
    std::uint64_t decided = 0;
    for (int round = 0; round < 40; ++round) {
        int ends[2];
        REQUIRE(::pipe(ends) == 0);
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            ::close(ends[0]);
            auto outbox = Outbox::open(file, "BJ01", "boot-a");
            if (!outbox) ::_exit(1);
            std::uint64_t last = outbox->memory().last;
            while (true) {
                if (!outbox->append(entry(++last))) ::_exit(2);
                if (last % 3 == 0) {
                    auto memory = memoryAfter(last - 1, last);
                    memory.receipt = std::string(3000, 'r');  // so that it is often rewritten
                    if (!outbox->remember(memory)) ::_exit(3);
                }
                if (::write(ends[1], &last, sizeof last) != sizeof last) ::_exit(4);
            }
        }
        ::close(ends[1]);
        std::this_thread::sleep_for(std::chrono::microseconds{random() % 40'000});
        ::kill(child, SIGKILL);
        std::uint64_t number = 0;
        while (::read(ends[0], &number, sizeof number) == sizeof number) appended = number;
        ::close(ends[0]);
        int status = 0;
        ::waitpid(child, &status, 0);
        REQUIRE(WIFSIGNALED(status));

        const auto outbox = opened(file);
        const auto numbers = numbersOf(outbox);
        REQUIRE(outbox.memory().last >= appended);
        REQUIRE(outbox.memory().decided >= decided);
        decided = outbox.memory().decided;
        if (numbers.empty()) continue;
        REQUIRE(numbers.front() == decided + 1);
        REQUIRE(numbers.back() == outbox.memory().last);
        REQUIRE(numbers.size() == numbers.back() - numbers.front() + 1);
    }
    MESSAGE("appended before the last kill: ", appended);
    CHECK(appended > 0);
}

}  // namespace jackpot::linkproto
