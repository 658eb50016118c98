// Records that no journal of ours ever had: a verifier recomputes before it has checked a
// signature, so that whatever lies in the file must end in a fault, never in anything worse.
#include <doctest/doctest.h>
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <set>

#include "tests/storage/tamper_journal.h"

namespace jackpot::storage::tamper {
namespace {

// Writes a value with another in the place of one of those in it, counted from the outside in.
class Rewriter {
public:
    Rewriter(std::ptrdiff_t place, std::string_view instead) : left_{place}, instead_{instead} {}

    std::string operator()(const rapidjson::Value& value)
    {
        if (left_-- == 0) return std::string{instead_};
        if (value.IsObject()) {
            std::string out;
            for (const auto& member : value.GetObject())
                out += (out.empty() ? "" : ",") + scalar(member.name) + ':' + (*this)(member.value);
            return '{' + out + '}';
        }
        if (value.IsArray()) {
            std::string out;
            for (const auto& each : value.GetArray())
                out += (out.empty() ? "" : ",") + (*this)(each);
            return '[' + out + ']';
        }
        return scalar(value);
    }
    // Whether there was such a place.
    [[nodiscard]] bool isDone() const { return left_ < 0; }

private:
    static std::string scalar(const rapidjson::Value& value)
    {
        rapidjson::StringBuffer buffer;
        rapidjson::Writer<rapidjson::StringBuffer> writer{buffer};
        value.Accept(writer);
        return {buffer.GetString(), buffer.GetSize()};
    }

    std::ptrdiff_t left_;
    std::string_view instead_;
};

// One record of each kind, refused and not.
std::vector<std::int64_t> oneOfEachKind()
{
    std::set<std::string> seen;
    std::vector<std::int64_t> chosen;
    for (const auto& [seq, payload] : original().contents.payloads) {
        rapidjson::Document document;
        document.Parse(payload.data(), payload.size());
        const bool refused = document.HasMember("refused");
        if (seen.insert(document["kind"].GetString() + std::string(refused ? 1 : 0, '-')).second)
            chosen.push_back(seq);
    }
    return chosen;
}

struct Hostile {
    MemoryDirectory directory;
    Specimen specimen{directory / "journal.db"};
    Family family;

    explicit Hostile(std::string name) : family{std::move(name)} { REQUIRE(specimen.verify()); }
    ~Hostile()
    {
        specimen.restore();
        const auto verdict = specimen.verify();
        CHECK_MESSAGE(verdict, inWords(verdict));
    }

    void tryIt(std::int64_t key, const std::string& payload)
    {
        const auto seq = static_cast<std::uint64_t>(key);
        specimen.restore();
        specimen.edit([&](Database& database) {
            database.prepare("UPDATE journal SET payload=? WHERE seq=?")
                .bindText(1, payload)
                .bind(2, key)
                .run();
        });
        family.mustDetect(specimen.verify(withoutSignatures()), between(seq, shownBy(seq)),
                          [&] { return "record " + std::to_string(key) + ": " + payload; });
    }
};

}  // namespace

TEST_CASE("each value of a record of each kind replaced by something absurd")
{
    Hostile hostile{"absurd values in a record of each kind"};
    const std::vector<std::string> absurd{
        "null",
        "true",
        "[]",
        "{}",
        "0",
        "-1",
        "8",
        "1e5",
        "0.5",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615",
        R"("")",
        R"("x")",
        R"("T2")",
        R"("0.00000000")",
        R"("92233720368.54775807")",
        R"("-92233720368.54775808")",
        R"("\u0000")",
        "[[[[[[[[]]]]]]]]",
    };
    std::uint64_t cases = 0;
    const auto records = oneOfEachKind();
    CHECK(records.size() >= 24);
    for (const std::int64_t seq : records) {
        const std::string& payload = original().contents.payloads.at(seq);
        rapidjson::Document document;
        document.Parse(payload.data(), payload.size());
        for (const std::string& value : absurd)
            for (std::ptrdiff_t place = 0;; ++place) {
                Rewriter rewrite{place, value};
                const std::string text = rewrite(document);
                if (!rewrite.isDone()) break;
                if (text == payload) continue;
                hostile.tryIt(seq, text);
                ++cases;
            }
    }
    CHECK(cases > 5000);
    hostile.family.expect(cases);
}

TEST_CASE("records that are too large, too deep, or no text")
{
    Hostile hostile{"records that are too large, too deep or no text"};
    const std::string deep(200'000, '[');
    const std::string wide(5'000'000, 'x');
    std::uint64_t cases = 0;
    for (const std::int64_t seq : oneOfEachKind()) {
        const std::string& payload = original().contents.payloads.at(seq);
        std::string nested = payload;
        nested.insert(nested.size() - 1, R"(,"x":)" + deep);
        std::string closed = payload;
        closed.insert(closed.size() - 1, R"(,"x":)" + deep + std::string(deep.size(), ']'));
        std::string objects = payload;
        std::string inner;
        for (int i = 0; i < 50'000; ++i) inner += R"({"command":)";
        objects.insert(objects.size() - 1, R"(,"x":)" + inner);
        std::string large = payload;
        large.insert(large.size() - 1, R"(,"x":")" + wide + '"');
        for (const std::string& each :
             {nested, closed, objects, large, deep, std::string{}, std::string{"{}"},
              std::string(3, '\0'), std::string{"\xFF\xFE{"}, payload + payload, payload + '\0',
              '\0' + payload, payload + ' ', payload.substr(0, payload.size() / 2)}) {
            hostile.tryIt(seq, each);
            ++cases;
        }
    }
    hostile.family.expect(14 * oneOfEachKind().size());
    CHECK(cases == 14 * oneOfEachKind().size());
}

// The rules add to times: a time must leave them room, which a sanitizer sees.
TEST_CASE("all times from a record on at the end of time")
{
    Hostile hostile{"all times from a record on at the end of time"};
    Contents contents = original().contents;
    for (auto each = contents.payloads.rbegin(); each != contents.payloads.rend(); ++each) {
        std::string& payload = each->second;
        const std::size_t from = payload.find(R"("time":)") + 7;
        payload.replace(from, payload.find(',', from) - from, "9223372036854775807");
        store(contents, hostile.specimen.file());
        const auto seq = static_cast<std::uint64_t>(each->first);
        hostile.family.mustDetect(hostile.specimen.verify(withoutSignatures()),
                                  between(seq, shownBy(seq)),
                                  [&] { return "from record " + std::to_string(seq); });
    }
    hostile.family.expect(kRecords);
}

}  // namespace jackpot::storage::tamper
