// One record's payload, parsed once, for those who read it: reports, exports, people.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/iso_time.h"
#include "rules/outcome.h"
#include "storage/json_read.h"

namespace jackpot::audit {

using storage::Json;

// Its memory is used again for the next record; views live until then. A payload that is not of
// the journal's form is an AuditError that names the record.
class Payload {
public:
    Payload();
    Payload(const Payload&) = delete;
    Payload& operator=(const Payload&) = delete;
    ~Payload();

    void parse(std::uint64_t seq, std::string_view payload);

    [[nodiscard]] const Json& json() const { return *json_; }
    [[nodiscard]] std::uint64_t seq() const { return seq_; }
    [[nodiscard]] rules::TimeMs timeMs() const { return timeMs_; }
    [[nodiscard]] std::string_view kind() const { return kind_; }
    // What the command names; empty where it names none.
    [[nodiscard]] std::string_view table() const { return commandText("table"); }
    [[nodiscard]] std::optional<std::int64_t> round() const;
    // The one pool that it concerns; empty where it concerns none, or all.
    [[nodiscard]] std::string_view pool() const;
    [[nodiscard]] bool concernsPool(std::string_view pool) const;
    // Named by the command, or by an award, a refund, a claim or a ruling.
    [[nodiscard]] bool concernsTable(std::string_view table) const;
    // The code and the rule of a refusal; empty where it was not refused.
    [[nodiscard]] std::string_view refusal() const { return refusalText("code"); }
    [[nodiscard]] std::string_view refusalRule() const { return refusalText("rule"); }

    // nullptr where the record has no such list or object.
    [[nodiscard]] const Json* find(std::string_view name) const
    {
        return storage::find(*json_, name);
    }
    // Calls for each element of a list, if there is one, and turns what is not of the journal's
    // form into an AuditError.
    void forEach(std::string_view list, const std::function<void(const Json&)>& visit) const;
    // The same for whatever looks into the record.
    template <class Work>
    void read(Work&& work) const
    {
        try {
            work();
        } catch (const storage::BadJson& error) {
            fail(error.what());
        } catch (const rules::MoneyOverflow& error) {
            fail(error.what());
        }
    }
    [[noreturn]] void fail(const std::string& what) const;

private:
    struct Memory;

    [[nodiscard]] std::string_view commandText(std::string_view name) const;
    [[nodiscard]] std::string_view refusalText(std::string_view name) const;

    std::unique_ptr<Memory> memory_;
    const Json* json_ = nullptr;
    std::uint64_t seq_ = 0;
    rules::TimeMs timeMs_ = 0;
    std::string_view kind_;
};

// An award as its record tells it.
struct RecordedAward {
    std::string table;
    rules::Award award;  // without the table's index
    std::string rule;    // what award.rule looks at

    RecordedAward(const Json& json);
    RecordedAward(const RecordedAward& other);
    RecordedAward& operator=(const RecordedAward&) = delete;
    ~RecordedAward() = default;

    [[nodiscard]] bool isJackpot() const
    {
        return award.arithmetic.kind == rules::Arithmetic::Kind::Tenth ||
               award.arithmetic.kind == rules::Arithmetic::Kind::All;
    }
    // "jackpot", "fixed", "bonus"
    [[nodiscard]] std::string_view form() const;
    // How the amount came about.
    [[nodiscard]] std::string inWords() const;
};

// Which records are meant: those of the period that concern the pool and the table and are of one
// of the kinds; what is empty does not matter.
struct Selection {
    Period period;
    std::string pool;
    std::string table;
    std::vector<std::string> kinds;

    [[nodiscard]] bool byTimeAlone() const
    {
        return pool.empty() && table.empty() && kinds.empty();
    }
    [[nodiscard]] bool contains(const Payload& payload) const;
    [[nodiscard]] std::string inWords() const;
};

}  // namespace jackpot::audit
