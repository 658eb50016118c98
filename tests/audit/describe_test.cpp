#include "audit/describe.h"

#include <doctest/doctest.h>

#include "audit/journal_view.h"
#include "rules/explain.h"
#include "tests/audit/small_journal.h"

namespace jackpot::audit {
namespace {

// The description of the first record of the kind.
std::string inWords(JournalView& journal, std::string_view kind,
                    std::string (*words)(const Payload&))
{
    std::string found;
    journal.forEach(0, journal.end(), [&](std::uint64_t seq, std::string_view text) {
        Payload payload;
        payload.parse(seq, text);
        if (payload.kind() == kind) found = words(payload);
        return found.empty();
    });
    return found;
}

}  // namespace

TEST_CASE("a command is described by a sentence with its amounts, its reason and its people")
{
    CHECK(commandInWords(rules::AdjustPool{
              "B7", rules::dollars("5.00"), "meter was read wrongly", {"Ann", "Bob"}}) ==
          "pool B7 adjusted by $5.00: meter was read wrongly, by Ann and Bob");
    CHECK(commandInWords(rules::AdjustPool{"B7", rules::dollars("-1234.50"), "x", {"Ann", "Bob"}})
              .find("-$1,234.50") != std::string::npos);
}

TEST_CASE("a record is described by its outcome; its line adds the time and the new meter amount")
{
    const SmallJournal small;
    JournalView journal{{small.scratch.path()}};
    CHECK(inWords(journal, "round_opened", happenedInWords) ==
          "T1 round 1 opened, jackpot wagers on seats 1, 2");
    const std::string line = inWords(journal, "round_opened", oneLine);
    CAPTURE(line);
    CHECK(line.find("2026-05-01 00:00:01.000  round_opened  T1 round 1 opened") !=
          std::string::npos);
    CHECK(line.find("50,002.00") != std::string::npos);
    CHECK(inWords(journal, "round_result", oneLine).find("$50.00") != std::string::npos);
}

TEST_CASE("a payload that is not a journal record gives an error that names the record")
{
    Payload payload;
    for (const char* bad : {"", "{", "[]", "{}", R"({"kind":"heartbeat"})", R"({"kind":7})"}) {
        CAPTURE(bad);
        CHECK_THROWS_WITH(payload.parse(17, bad), doctest::Contains("17"));
    }
}

}  // namespace jackpot::audit
