// Damaged files load, or their problems have a place in the file.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>

#include "tests/support/sample_config.h"

namespace jackpot::config {
namespace {

using testing::kSampleConfig;
using testing::problemsOf;

constexpr std::uint32_t kSeed = 20261116;

std::string sample()
{
    std::ifstream in{JACKPOT_SAMPLE, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

// Each problem has a place inside the text, and the problems are in the order of the text.
bool isWellFormed(const std::vector<ConfigProblem>& problems, std::string_view text)
{
    const auto lines = static_cast<std::uint32_t>(std::ranges::count(text, '\n')) + 1;
    return std::ranges::all_of(problems,
                               [lines](const ConfigProblem& problem) {
                                   return problem.line >= 1 && problem.line <= lines &&
                                          problem.column >= 1 && !problem.message.empty();
                               }) &&
           std::ranges::is_sorted(problems, {}, &ConfigProblem::line);
}

TEST_CASE("a sample cut off at any byte loads or is refused without a crash")
{
    const std::string whole = sample();
    std::size_t refused = 0;
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto problems = problemsOf(std::string_view{whole}.substr(0, size));
        if (!problems.empty()) ++refused;
        if (!isWellFormed(problems, whole)) FAIL_CHECK("cut at " << size);
    }
    // At most two cuts load: without the last line end, and without a last line that has no effect.
    CHECK(refused >= whole.size() - 2);
}

TEST_CASE("a sample with changed, inserted and removed bytes loads or is refused without a crash")
{
    const std::string whole = sample();
    std::mt19937 random{kSeed};
    const auto below = [&random](std::size_t end) { return random() % end; };
    for (int round = 0; round < 4000; ++round) {
        std::string text = whole;
        for (std::size_t changes = 1 + below(3); changes > 0; --changes) {
            const std::size_t at = below(text.size());
            switch (below(4)) {
                case 0: text[at] = static_cast<char>(random()); break;
                case 1:
                    text[at] =
                        static_cast<char>(static_cast<unsigned char>(text[at]) ^ (1U << below(8)));
                    break;
                case 2: text.insert(at, 1, "[]{}=.,\"'\\#\n0"[below(13)]); break;
                default: text.erase(at, 1 + below(20));
            }
        }
        if (!isWellFormed(problemsOf(text), text))
            FAIL_CHECK("seed " << kSeed << ", round " << round);
    }
}

TEST_CASE("a small file with any one bit changed loads or is refused without a crash")
{
    for (std::size_t at = 0; at < kSampleConfig.size(); ++at)
        for (unsigned bit = 0; bit < 8; ++bit) {
            std::string text{kSampleConfig};
            text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ (1U << bit));
            if (!isWellFormed(problemsOf(text), text)) FAIL_CHECK("byte " << at << " bit " << bit);
        }
}

TEST_CASE("endless nesting is refused")
{
    const auto repeated = [](std::string_view text, std::size_t times) {
        std::string all;
        for (std::size_t i = 0; i < times; ++i) all += text;
        return all;
    };
    for (const std::string& text :
         {"[" + repeated("a.", 300'000) + "a]\n", repeated("a.", 300'000) + "a = 1\n",
          repeated("a . ", 200'000) + "a = 1\n", "a = " + repeated("[", 1'000'000),
          "a = " + repeated("{a=", 300'000), repeated("[", 1'000'000), repeated("{", 1'000'000),
          "a = " + repeated("[\n{" + repeated("a.", 60) + "a=", 8000), repeated("\"", 1'000'000),
          "a = " + repeated("\n", 1'000'000), repeated("[[pool]]\n", 100'000),
          repeated("[a.b.c]\n", 1000), std::string(1000, '\0')})
        CHECK_FALSE(problemsOf(text).empty());
}

}  // namespace
}  // namespace jackpot::config
