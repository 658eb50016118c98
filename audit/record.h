// One record of a journal, read once for reports, exports and people.
#pragma once

#include <rapidjson/document.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/iso_time.h"
#include "storage/json_read.h"
#include "storage/outcome_json.h"
#include "storage/record.h"

namespace jackpot::audit {

using storage::Json;

// Views are valid until the next parse().
class Payload {
public:
    // Throws an AuditError that names the record if the payload is not of the journal's form.
    void parse(std::uint64_t seq, std::string_view payload);

    [[nodiscard]] std::uint64_t seq() const { return record_.head.seq; }
    [[nodiscard]] rules::TimeMs timeMs() const { return record_.head.timeMs; }
    [[nodiscard]] const std::string& kind() const { return record_.head.kind; }
    [[nodiscard]] const storage::Record& record() const { return record_; }

    // The command as this type; nullptr if it is another command or an event.
    template <class Command>
    [[nodiscard]] const Command* commandAs() const
    {
        return record_.command ? std::get_if<Command>(&*record_.command) : nullptr;
    }
    // Of a command; an event's outcome is empty.
    [[nodiscard]] const storage::RecordedOutcome& outcome() const { return outcome_; }
    [[nodiscard]] bool isRefused() const { return outcome_.refusal.has_value(); }

    // The table, round and pool that the command names; empty if it names none.
    [[nodiscard]] std::string_view table() const;
    [[nodiscard]] std::optional<std::int64_t> round() const;
    // The only pool of the outcome, else the pool that the command names.
    [[nodiscard]] std::string_view pool() const;
    [[nodiscard]] bool concernsPool(std::string_view pool) const;
    // Named by the command, or by an award, a refund, a claim or a ruling.
    [[nodiscard]] bool concernsTable(std::string_view table) const;
    // The code of a refusal; empty if the command was not refused.
    [[nodiscard]] std::string_view refusal() const;

    // All fields of an event. Each kind of event has its own; storage does not know them.
    [[nodiscard]] const Json& event() const { return event_; }
    // Runs a function that reads the fields of an event. Turns its BadJson into an AuditError.
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
    std::uint64_t seq_ = 0;
    storage::Record record_;
    storage::RecordedOutcome outcome_;
    rapidjson::Document event_;
};

// The records of a period that concern the pool and the table and are of one of the kinds. An empty
// field matches every record.
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
