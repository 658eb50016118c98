#include "audit/record.h"

#include <rapidjson/document.h>

#include <algorithm>
#include <array>

#include "audit/audit_error.h"
#include "rules/explain.h"
#include "storage/record.h"

namespace jackpot::audit {
namespace {

using storage::moneyAt;
using storage::numberAt;
using storage::textAt;
using storage::viewOf;

// A share is divided by as many winners as there can be seats; more than this is no record of ours.
constexpr std::int64_t kMaxWinners = 1'000'000;

rules::Arithmetic readArithmetic(const Json* json, rules::Tier tier, rules::Money amount)
{
    using Kind = rules::Arithmetic::Kind;
    if (!json)
        return rules::Arithmetic::plain(tier == rules::Tier::Bonus ? Kind::Bonus : Kind::Fixed,
                                        amount);
    rules::Arithmetic arithmetic;
    arithmetic.kind = textAt(*json, "takes") == "10 %" ? Kind::Tenth : Kind::All;
    arithmetic.displayed = moneyAt(*json, "displayed");
    arithmetic.aggregate = moneyAt(*json, "aggregate");
    arithmetic.winners = numberAt(*json, "winners");
    if (arithmetic.winners < 1 || arithmetic.winners > kMaxWinners)
        throw storage::BadJson{"\"winners\" is out of range"};
    arithmetic.share = moneyAt(*json, "share");
    arithmetic.guarantee = moneyAt(*json, "guarantee");
    arithmetic.payoutUnit = moneyAt(*json, "payout_unit");
    return arithmetic;
}

int seatAt(const Json& json)
{
    const std::int64_t seat = numberAt(json, "seat");
    if (seat < 1 || seat > rules::kMaxSeats) throw storage::BadJson{"\"seat\" is out of range"};
    return static_cast<int>(seat);
}

rules::Tier tierAt(const Json& json)
{
    const auto tier = rules::tierOfId(textAt(json, "tier"));
    if (!tier) throw storage::BadJson{"\"tier\" is unknown"};
    return *tier;
}

}  // namespace

struct Payload::Memory {
    using Allocator = rapidjson::MemoryPoolAllocator<>;
    using Document = rapidjson::GenericDocument<rapidjson::UTF8<>, Allocator, Allocator>;

    // Most records fit into these; the allocators take more from the heap where one does not.
    std::array<char, 1U << 15U> valueBytes;
    std::array<char, 1U << 12U> stackBytes;
    std::optional<Allocator> values;
    std::optional<Allocator> stack;
    std::optional<Document> document;
};

Payload::Payload() : memory_{std::make_unique<Memory>()} {}

Payload::~Payload() = default;

void Payload::parse(std::uint64_t seq, std::string_view payload)
{
    seq_ = seq;
    if (payload.size() > storage::kMaxRecordBytes) fail("it is larger than any record can be");
    memory_->document.reset();
    memory_->values.emplace(memory_->valueBytes.data(), memory_->valueBytes.size());
    memory_->stack.emplace(memory_->stackBytes.data(), memory_->stackBytes.size());
    Memory::Document& document =
        memory_->document.emplace(&*memory_->values, 1U << 10U, &*memory_->stack);
    json_ = &document;
    document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(
        payload.data(), payload.size());
    if (document.HasParseError()) fail("it is not well-formed JSON");
    read([this] {
        if (const std::int64_t stated = numberAt(*json_, "seq");
            stated < 0 || static_cast<std::uint64_t>(stated) != seq_)
            throw storage::BadJson{"it says that it is record " + std::to_string(stated)};
        timeMs_ = numberAt(*json_, "time");
        kind_ = textAt(*json_, "kind");
    });
    if (!isTime(timeMs_)) fail("its time is none");
}

void Payload::fail(const std::string& what) const
{
    throw AuditError{DoesNotVerify, "record " + std::to_string(seq_) + " cannot be read: " + what +
                                        ": run jackpot-audit verify to learn more"};
}

void Payload::forEach(std::string_view list, const std::function<void(const Json&)>& visit) const
{
    read([&] {
        const Json* found = find(list);
        if (!found) return;
        if (!found->IsArray())
            throw storage::BadJson{"\"" + std::string{list} + "\" is not a list"};
        for (const Json& each : found->GetArray()) visit(each);
    });
}

std::string_view Payload::commandText(std::string_view name) const
{
    const Json* command = find("command");
    if (!command || !command->IsObject()) return {};
    const Json* value = storage::find(*command, name);
    return value && value->IsString() ? viewOf(*value) : std::string_view{};
}

std::string_view Payload::refusalText(std::string_view name) const
{
    const Json* refused = find("refused");
    if (!refused || !refused->IsObject()) return {};
    const Json* value = storage::find(*refused, name);
    return value && value->IsString() ? viewOf(*value) : std::string_view{};
}

std::optional<std::int64_t> Payload::round() const
{
    const Json* command = find("command");
    if (!command || !command->IsObject()) return std::nullopt;
    const Json* value = storage::find(*command, "round");
    if (!value || !value->IsInt64()) return std::nullopt;
    return value->GetInt64();
}

std::string_view Payload::pool() const
{
    const Json* pools = find("pools");
    if (!pools || !pools->IsArray() || pools->Size() != 1) return commandText("pool");
    std::string_view pool;
    read([&] { pool = textAt((*pools)[0], "pool"); });
    return pool;
}

bool Payload::concernsPool(std::string_view pool) const
{
    bool found = commandText("pool") == pool;
    forEach("pools", [&](const Json& each) { found = found || textAt(each, "pool") == pool; });
    return found;
}

bool Payload::concernsTable(std::string_view table) const
{
    bool found = commandText("table") == table;
    for (const std::string_view list : {"awards", "withdrawn", "refunds", "claims"})
        forEach(list, [&](const Json& each) { found = found || textAt(each, "table") == table; });
    if (found || kind_ != "surveillance_ruling") return found;
    read([&] {
        for (const Json& group :
             storage::arrayAt(storage::at(*json_, "command"), "order").GetArray())
            if (group.IsArray())
                for (const Json& each : group.GetArray())
                    found = found || textAt(each, "table") == table;
    });
    return found;
}

RecordedAward::RecordedAward(const Json& json)
    : table{textAt(json, "table")}, rule{textAt(json, "rule")}
{
    award.round = numberAt(json, "round");
    award.seat = seatAt(json);
    award.tier = tierAt(json);
    award.amount = moneyAt(json, "amount");
    award.rule = rule;
    award.arithmetic = readArithmetic(storage::find(json, "arithmetic"), award.tier, award.amount);
}

RecordedAward::RecordedAward(const RecordedAward& other)
    : table{other.table}, award{other.award}, rule{other.rule}
{
    award.rule = rule;
}

std::string_view RecordedAward::form() const
{
    if (isJackpot()) return "jackpot";
    return award.tier == rules::Tier::Bonus ? "bonus" : "fixed";
}

std::string RecordedAward::inWords() const
{
    try {
        return arithmeticInWords(award);
    } catch (const rules::MoneyOverflow&) {
        return "arithmetic that cannot be: run jackpot-audit verify";
    }
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
