#include "audit/record.h"

#include <algorithm>

#include "audit/audit_error.h"
#include "base/utf8.h"

namespace jackpot::audit {
namespace {

std::string_view poolOf(const rules::Command& command)
{
    return std::visit(
        [](const auto& each) -> std::string_view {
            if constexpr (requires { each.pool; })
                return each.pool;
            else
                return {};
        },
        command);
}

}  // namespace

void Payload::parse(std::uint64_t seq, std::string_view payload)
{
    seq_ = seq;
    if (const auto read = storage::readRecord(payload, record_); !read) fail(read.error().message);
    if (record_.head.seq != seq)
        fail("it says that it is record " + std::to_string(record_.head.seq));
    if (!isTime(timeMs())) fail("its time is out of range");
    outcome_ = {};
    if (!record_.command) {
        event_.Parse<rapidjson::kParseIterativeFlag>(payload.data(), payload.size());
        return;
    }
    if (record_.asWritten == 0 && !isUtf8(payload.substr(0, record_.commandEnd)))
        fail("its command is not UTF-8");
    auto outcome = storage::readOutcome(payload.substr(record_.commandEnd));
    if (!outcome) fail(outcome.error().message);
    outcome_ = std::move(*outcome);
}

void Payload::fail(const std::string& what) const
{
    throw AuditError{DoesNotVerify, "record " + std::to_string(seq_) + " cannot be read: " + what +
                                        ": run jackpot-audit verify to learn more"};
}

std::string_view Payload::table() const
{
    const std::string* const table = record_.command ? tableOf(*record_.command) : nullptr;
    return table ? std::string_view{*table} : std::string_view{};
}

std::optional<std::int64_t> Payload::round() const
{
    if (!record_.command) return std::nullopt;
    return std::visit(
        [](const auto& each) -> std::optional<std::int64_t> {
            if constexpr (requires { each.round; })
                return each.round;
            else if constexpr (requires { each.result; })
                return each.result.round;
            else if constexpr (requires { each.award; })
                return each.award.round;
            else
                return std::nullopt;
        },
        *record_.command);
}

std::string_view Payload::pool() const
{
    if (outcome_.pools.size() == 1) return outcome_.pools.front().pool;
    return record_.command ? poolOf(*record_.command) : std::string_view{};
}

bool Payload::concernsPool(std::string_view pool) const
{
    return std::ranges::find(outcome_.pools, pool, &storage::RecordedPool::pool) !=
               outcome_.pools.end() ||
           (record_.command && poolOf(*record_.command) == pool);
}

bool Payload::concernsTable(std::string_view table) const
{
    const auto among = [&](const auto& list) {
        return std::ranges::any_of(list, [&](const auto& each) { return each.table == table; });
    };
    const auto* const ruling = commandAs<rules::RuleOnClaims>();
    return (record_.command && this->table() == table) || among(outcome_.awards) ||
           among(outcome_.withdrawn) || among(outcome_.locked) || among(outcome_.refunds) ||
           among(outcome_.claims) || (ruling && std::ranges::any_of(ruling->order, among));
}

std::string_view Payload::refusal() const
{
    return isRefused() ? idOf(outcome_.refusal->code) : std::string_view{};
}

bool Selection::contains(const Payload& payload) const
{
    if (!period.contains(payload.timeMs())) return false;
    if (!kinds.empty() && std::ranges::find(kinds, payload.kind()) == kinds.end()) return false;
    if (!table.empty() && !payload.concernsTable(table)) return false;
    return pool.empty() || payload.concernsPool(pool);
}

std::string Selection::inWords() const
{
    std::vector<std::string> parts;
    if (period.hasFrom || period.hasTo) parts.push_back(period.inWords());
    if (!pool.empty()) parts.push_back("pool " + pool);
    if (!table.empty()) parts.push_back("table " + table);
    for (const std::string& kind : kinds) parts.push_back("kind " + kind);
    std::string words;
    for (const std::string& part : parts) words += (words.empty() ? "" : "; ") + part;
    return words.empty() ? "everything" : words;
}

}  // namespace jackpot::audit
