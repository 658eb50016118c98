#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <regex>
#include <sstream>
#include <string>

#include "meters/display_format.h"

namespace jackpot::meters {
namespace {

using Words = std::vector<std::uint16_t>;

constexpr std::int64_t kMostCents = 9'223'372'036'854;  // money ends there

struct Published {
    PoolReading reading;
    PoolStatus status;
};

// `more` are bits of the status word.
Published published(std::int64_t cents, std::uint32_t changes = 1, std::uint16_t more = 0)
{
    Published made;
    made.reading.pool = "B7";
    made.reading.open = true;
    made.reading.displayed = rules::Money::ofCents(cents);
    made.reading.changes = changes;
    made.reading.changedUnixSeconds = 1'700'000'000;
    made.status.open = true;
    made.status.pending = (more & status::kPending) != 0;
    made.status.fault = (more & status::kFault) != 0;
    made.status.journalUnavailable = (more & status::kNoJournal) != 0;
    return made;
}

Shown shown(const Published& published, const Format& format)
{
    return shown(published.reading, published.status, format);
}

Format formatOf(std::string_view name, std::size_t digits = 0)
{
    Format format = formatNamed(name).value();
    format.digits = digits;
    return format;
}

Words amountOf(std::string_view name, std::int64_t cents, std::size_t digits = 0)
{
    return shown(published(cents), formatOf(name, digits)).amount;
}

Words text(std::string_view letters) { return {letters.begin(), letters.end()}; }

std::uint64_t joined(const Words& words)
{
    std::uint64_t value = 0;
    for (const std::uint16_t word : words) value = value << 16U | word;
    return value;
}

float floatIn(const Words& words)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(joined(words)));
}

std::vector<std::int64_t> boundaries()
{
    std::vector<std::int64_t> found{kMostCents};
    for (std::int64_t i = 1; i < kMostCents; i *= 2)
        for (const std::int64_t each : {i, 100 * i})
            for (std::int64_t near = each - 101; near <= each + 101; ++near)
                if (near >= 0 && near <= kMostCents) found.push_back(near);
    for (std::int64_t i = 1; i < kMostCents; i *= 10)
        for (const std::int64_t each : {i - 1, i, i + 1}) found.push_back(each);
    return found;
}

void property(const std::string& description, const auto& testable)
{
    INFO(description);
    CHECK(rc::check(description, testable));
}

TEST_CASE("names of formats")
{
    for (const char* kind : {"uint32", "uint64", "bcd", "ascii", "float32"})
        for (const char* unit : {"cents", "dollars"}) {
            const auto format = formatNamed(std::string{kind} + "_" + unit);
            REQUIRE(format);
            CHECK(format->kind != Kind::Block);
            CHECK(format->dollars == (std::string_view{unit} == "dollars"));
        }
    CHECK(formatNamed("block").value() == Format{});
    for (const char* name : {"", "block_cents", "uint32", "uint32_", "uint32_cent", "uint16_cents"})
        CHECK_FALSE(formatNamed(name));
}

TEST_CASE("examples of each format")
{
    CHECK(amountOf("block", 5'123'456) == [] {
        const Published block = published(5'123'456);
        const Registers registers = registersOf(block.reading, block.status);
        return Words{registers.begin(), registers.end()};
    }());
    CHECK(amountOf("uint32_cents", 5'123'456) == Words{0x004E, 0x2D80});
    CHECK(amountOf("uint32_dollars", 5'123'499) == Words{0, 51'234});
    CHECK(amountOf("uint64_cents", 5'123'456) == Words{0, 0, 0x004E, 0x2D80});
    CHECK(amountOf("uint64_dollars", 5'123'499) == Words{0, 0, 0, 51'234});
    CHECK(amountOf("bcd_cents", 5'123'456, 8) == Words{0x0512, 0x3456});
    CHECK(amountOf("bcd_dollars", 5'123'499, 5) == Words{0x0005, 0x1234});
    CHECK(amountOf("ascii_cents", 5'123'456, 9) == text("  5123456"));
    CHECK(amountOf("ascii_dollars", 5'123'499, 5) == text("51234"));
    CHECK(amountOf("ascii_dollars", 0, 3) == text("  0"));
    CHECK(amountOf("float32_dollars", 5'123'450) == Words{0x4748, 0x2280});  // 51234.5
    CHECK(amountOf("float32_cents", 5'123'456) == Words{0x4A9C, 0x5B00});
    CHECK(amountOf("float32_dollars", 0) == Words{0, 0});

    Format low = formatOf("uint32_cents");
    low.lowFirst = true;
    CHECK(shown(published(5'123'456), low).amount == Words{0x2D80, 0x004E});
    low = formatOf("ascii_cents", 9);
    low.lowFirst = true;
    CHECK(shown(published(5'123'456), low).amount == text("6543215  "));
}

TEST_CASE("the examples in the document for display vendors are true")
{
    std::ifstream document{JACKPOT_DRIVEN_DOCUMENT};
    const std::regex row{R"(\| `([a-z0-9_]+)`(?:, `digits = (\d+)`)? \| .* \| ([0-9A-F ]+) \|)"};
    int examples = 0;
    for (std::string line; std::getline(document, line);) {
        std::smatch found;
        if (!std::regex_match(line, found, row) || !formatNamed(found[1].str())) continue;
        CAPTURE(line);
        ++examples;
        Words stated;
        std::istringstream registers{found[3]};
        for (unsigned each = 0; registers >> std::hex >> each;)
            stated.push_back(static_cast<std::uint16_t>(each));
        CHECK(amountOf(found[1].str(), 5'123'456, found[2].matched ? std::stoul(found[2]) : 0) ==
              stated);
    }
    CHECK(examples == 10);
}

TEST_CASE("integers, BCD and ASCII say exactly the amount, or nothing")
{
    for (const std::int64_t cents : boundaries())
        for (const bool dollars : {false, true}) {
            const std::int64_t value = dollars ? cents / 100 : cents;
            const std::string unit = dollars ? "dollars" : "cents";
            const std::string digits = std::to_string(value);
            CAPTURE(cents);
            REQUIRE(joined(amountOf("uint64_" + unit, cents)) == static_cast<std::uint64_t>(value));

            Shown made = shown(published(cents), formatOf("uint32_" + unit));
            REQUIRE(made.fits == (value <= std::numeric_limits<std::uint32_t>::max()));
            REQUIRE(made.amount.empty() == !made.fits);
            if (made.fits) REQUIRE(joined(made.amount) == static_cast<std::uint64_t>(value));

            for (std::size_t count = 1; count <= 16; ++count) {
                made = shown(published(cents), formatOf("ascii_" + unit, count));
                REQUIRE(made.fits == (digits.size() <= count));
                const std::string spaces(count - std::min(count, digits.size()), ' ');
                const std::string dashes(count, '-');
                REQUIRE(made.amount == text(made.fits ? spaces + digits : dashes));

                made = shown(published(cents), formatOf("bcd_" + unit, count));
                REQUIRE(made.fits == (digits.size() <= count));
                REQUIRE(made.amount.size() == (count + 3) / 4);
                const std::uint64_t nibbles =
                    made.fits ? std::stoull(digits, nullptr, 16)
                              : ~std::uint64_t{0} >> (64 - 16 * made.amount.size());
                REQUIRE(joined(made.amount) == nibbles);
            }
        }
}

TEST_CASE("a float is the greatest that is not above the amount")
{
    const auto check = [](std::int64_t cents) {
        const float dollars = floatIn(amountOf("float32_dollars", cents));
        const float wholeCents = floatIn(amountOf("float32_cents", cents));
        const float above = std::numeric_limits<float>::infinity();
        // All exact: 24 bits times 100 have room in 64.
        const auto hundredfold = [](float value) { return static_cast<long double>(value) * 100; };
        const auto exact = static_cast<long double>(cents);
        return hundredfold(dollars) <= exact &&
               hundredfold(std::nextafter(dollars, above)) > exact &&
               static_cast<long double>(wholeCents) <= exact &&
               static_cast<long double>(std::nextafter(wholeCents, above)) > exact;
    };
    for (const std::int64_t cents : boundaries()) {
        CAPTURE(cents);
        REQUIRE(check(cents));
    }
    for (std::int64_t cents = 0; cents < 200'000; ++cents) REQUIRE(check(cents));
    property("of any amount",
             [&check] { RC_ASSERT(check(*rc::gen::inRange<std::int64_t>(0, kMostCents))); });
}

TEST_CASE("an amount that does not fit is shown by the status, or as no amount, and is never cut")
{
    Format format = formatOf("uint32_cents");
    const std::int64_t tooMuch = std::int64_t{1} << 32;
    Shown made = shown(published(tooMuch), format);
    CHECK_FALSE(made.fits);
    CHECK_FALSE(made.cents);
    CHECK(made.amount.empty());
    CHECK(writesFor(made, std::nullopt, format).empty());

    format.statusAddress = 9;
    made = shown(published(tooMuch), format);
    CHECK(made.amount.empty());
    CHECK(writesFor(made, std::nullopt, format) ==
          std::vector<Write>{{9, {status::kOpen | status::kFault}}});

    format = formatOf("float32_dollars");
    CHECK(shown(published(kMostCents), format).fits);
    CHECK(shown(published(kMostCents), formatOf("block")).fits);
}

TEST_CASE("without a register for the status a fault is shown as no amount")
{
    const Published faulty = published(5'000'000, 1, status::kFault | status::kNoJournal);
    CHECK(shown(faulty, formatOf("ascii_dollars", 6)).amount == text("------"));
    CHECK(shown(faulty, formatOf("bcd_cents", 8)).amount == Words{0xFFFF, 0xFFFF});
    CHECK(std::isnan(floatIn(shown(faulty, formatOf("float32_dollars")).amount)));
    const Shown silent = shown(faulty, formatOf("uint64_cents"));
    CHECK(silent.amount.empty());
    CHECK(silent.fits);

    Format format = formatOf("ascii_dollars", 6);
    format.statusAddress = 100;
    const Shown made = shown(faulty, format);
    CHECK(made.amount == text(" 50000"));
    CHECK(made.status == (status::kOpen | status::kFault | status::kNoJournal));
}

TEST_CASE("before anything is published there is no amount, which is not zero")
{
    const Published nothing{{}, {.fault = true}};
    Format format = formatOf("uint32_cents");
    format.statusAddress = 2;
    const Shown made = shown(nothing, format);
    CHECK(made.fits);
    CHECK_FALSE(made.cents);
    CHECK(made.amount.empty());
    format = formatOf("ascii_cents", 4);
    format.statusAddress = 4;
    CHECK(shown(nothing, format).amount == text("----"));
    CHECK(shown(published(0), format).amount == text("   0"));
    CHECK(shown(published(0), format).cents == 0);
}

TEST_CASE("only what changed is written, a fault first and its end last; a heartbeat is all of it")
{
    Format format = formatOf("uint32_cents");
    format.address = 10;
    format.statusAddress = 20;
    const Shown first = shown(published(100), format);
    const Shown second = shown(published(200), format);
    const Shown faulty = shown(published(200, 1, status::kFault), format);
    const Write amount{10, {0, 200}};
    CHECK(writesFor(second, std::nullopt, format) ==
          std::vector<Write>{amount, {20, {status::kOpen}}});
    CHECK(writesFor(second, first, format) == std::vector<Write>{amount});
    CHECK(writesFor(second, second, format) == std::vector<Write>{amount, {20, {status::kOpen}}});
    CHECK(writesFor(faulty, first, format) ==
          std::vector<Write>{{20, {status::kOpen | status::kFault}}, amount});
    CHECK(writesFor(second, faulty, format) == std::vector<Write>{{20, {status::kOpen}}});
}

TEST_CASE("the status of a block is written alone where nothing else has changed")
{
    Format format;
    format.address = 100;
    const Shown before = shown(published(100), format);
    const Shown pending = shown(published(100, 1, status::kPending), format);
    const Shown other = shown(published(200, 2, status::kPending), format);
    CHECK(writesFor(pending, before, format) ==
          std::vector<Write>{{101, {status::kOpen | status::kPending}}});
    CHECK(writesFor(other, before, format) == std::vector<Write>{{100, other.amount}});
    CHECK(writesFor(pending, pending, format) == std::vector<Write>{{100, pending.amount}});
    CHECK(writesFor(pending, std::nullopt, format) == std::vector<Write>{{100, pending.amount}});
}

TEST_CASE("which formats are safe to be written one by one")
{
    for (const char* name : {"block", "bcd_cents", "ascii_cents", "float32_cents"}) {
        Format format = formatOf(name, 8);
        format.oneByOne = true;
        CHECK(isSafe(format));
    }
    for (const char* name : {"uint32_cents", "uint64_dollars"}) {
        Format format = formatOf(name);
        CHECK(isSafe(format));
        format.oneByOne = true;
        CHECK_FALSE(isSafe(format));
        format.statusAddress = 4;
        CHECK(isSafe(format));
    }
}

// A display that takes writes, and what a player reads from it at any moment: the registers of an
// amount, or nothing where it says that it does not count.
struct Display {
    Format format;
    std::map<std::uint16_t, std::uint16_t> holds;

    void take(const Write& write)
    {
        for (std::size_t i = 0; i < write.values.size(); ++i)
            holds[static_cast<std::uint16_t>(write.address + i)] = write.values[i];
    }

    [[nodiscard]] std::uint16_t at(std::size_t address) const
    {
        const auto found = holds.find(static_cast<std::uint16_t>(address));
        return found == holds.end() ? std::uint16_t{0} : found->second;
    }

    [[nodiscard]] std::optional<Words> counts() const
    {
        Words amount;
        const std::size_t count = registerCount(format);
        for (std::size_t i = 0; i < count; ++i) amount.push_back(at(format.address + i));
        const bool isBlock = format.kind == Kind::Block;
        const std::uint16_t status = isBlock                ? amount[address::kStatus]
                                     : format.statusAddress ? at(*format.statusAddress)
                                                            : std::uint16_t{0};
        if ((status & status::kFault) != 0) return std::nullopt;
        if (isBlock) return Words{amount.begin() + address::kCents, amount.begin() + 12};
        const std::uint16_t highest = format.lowFirst ? amount.back() : amount.front();
        if (format.kind == Kind::Ascii && highest == '-') return std::nullopt;
        if (format.kind == Kind::Bcd && highest == 0xFFFF) return std::nullopt;
        if (format.kind == Kind::Float32 && highest == 0x7FC0) return std::nullopt;
        return amount;
    }
};

Format anySafeFormat()
{
    Format format = formatOf(
        *rc::gen::element<std::string>("block", "uint32_cents", "uint32_dollars", "uint64_cents",
                                       "bcd_cents", "bcd_dollars", "ascii_cents", "ascii_dollars",
                                       "float32_dollars", "float32_cents"),
        *rc::gen::inRange<std::size_t>(1, 17));
    format.address = 100;
    format.oneByOne = *rc::gen::arbitrary<bool>();
    if (format.kind == Kind::Block) return format;
    format.lowFirst = *rc::gen::arbitrary<bool>();
    if (*rc::gen::arbitrary<bool>() || !isSafe(format)) format.statusAddress = 50;
    return format;
}

// Whether some moment of the writes shows an amount that is neither the old one nor the new one.
bool everMixed(Display& display, const std::vector<Write>& writes, const Display& after)
{
    const auto before = display.counts();
    const auto end = after.counts();
    bool mixed = false;
    for (const Write& write : writes) {
        display.take(write);
        const auto counts = display.counts();
        mixed = mixed || (counts && counts != before && counts != end);
    }
    return mixed;
}

TEST_CASE("no moment of an update shows an amount that is neither the old nor the new one")
{
    int naiveIsCaught = 0;
    property("any changes of any safe format", [&naiveIsCaught] {
        const Format format = anySafeFormat();
        Display display{format, {}};
        std::optional<Shown> known;
        for (std::uint32_t change = 1; change < 12; ++change) {
            const std::int64_t cents = *rc::gen::oneOf(
                rc::gen::inRange<std::int64_t>(0, 100'000),
                rc::gen::element<std::int64_t>(0x1'0000, 0xFFFF, 0x1'0000'0000, 99'999'999, 7),
                rc::gen::inRange<std::int64_t>(0, kMostCents));
            const std::uint16_t more =
                *rc::gen::element<std::uint16_t>(0, 0, 0, status::kFault, status::kPending);
            const Shown wanted = shown(published(cents, change, more), format);
            Display after = display;
            if (!wanted.amount.empty()) after.take({format.address, wanted.amount});
            if (format.statusAddress) after.take({*format.statusAddress, {wanted.status}});

            if (format.oneByOne && known) {  // negative control: in the order of addresses
                Display naive = display;
                std::vector<Write> plain;
                for (std::size_t i = 0; i < wanted.amount.size(); ++i)
                    plain.push_back(
                        {static_cast<std::uint16_t>(format.address + i), {wanted.amount[i]}});
                if (everMixed(naive, plain, after)) ++naiveIsCaught;
            }
            RC_ASSERT(!everMixed(display, writesFor(wanted, known, format), after));
            RC_ASSERT(display.holds == after.holds);
            // Again, as a heartbeat.
            RC_ASSERT(!everMixed(display, writesFor(wanted, wanted, format), after));
            RC_ASSERT(display.holds == after.holds);
            known = wanted;
            if (*rc::gen::inRange(0, 4) == 0) known.reset();
        }
    });
    CHECK(naiveIsCaught > 50);
}

TEST_CASE("one by one, all registers of a function 6 are single")
{
    Format format = formatOf("uint64_cents");
    format.oneByOne = true;
    format.statusAddress = 9;
    const Shown first = shown(published(0x1'FFFF), format);
    const Shown second = shown(published(0x2'0000), format);
    CHECK(writesFor(second, first, format) ==
          std::vector<Write>{
              {9, {status::kOpen | status::kFault}}, {2, {2}}, {3, {0}}, {9, {status::kOpen}}});
    const Shown third = shown(published(0x2'0001), format);
    CHECK(writesFor(third, second, format) == std::vector<Write>{{3, {1}}});
    CHECK(writesFor(third, third, format).size() == 5);
}

}  // namespace
}  // namespace jackpot::meters
