#include "storage/record.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "storage/command_json.h"
#include "storage/json_read.h"

namespace jackpot::storage {
namespace {

using namespace rules;

void writePlace(JsonText& json, const State& state, std::uint32_t table, std::int64_t round,
                int seat)
{
    json.textField("table", state.tables[table].config.id);
    json.numberField("round", round);
    json.numberField("seat", seat);
}

void writeArithmetic(JsonText& json, const Arithmetic& arithmetic)
{
    if (arithmetic.kind != Arithmetic::Kind::Tenth && arithmetic.kind != Arithmetic::Kind::All)
        return;
    json.key("arithmetic");
    json.beginObject();
    json.textField("takes", arithmetic.kind == Arithmetic::Kind::Tenth ? "10 %" : "100 %");
    json.moneyField("displayed", arithmetic.displayed);
    json.moneyField("aggregate", arithmetic.aggregate);
    json.numberField("winners", arithmetic.winners);
    json.moneyField("share", arithmetic.share);
    json.moneyField("guarantee", arithmetic.guarantee);
    json.moneyField("payout_unit", arithmetic.payoutUnit);
    json.endObject();
}

// Lists that are empty are left out.
template <class T, class WriteOne>
void writeList(JsonText& json, std::string_view key, const std::vector<T>& list,
               WriteOne&& writeOne)
{
    if (!list.empty()) json.objectsField(key, list, writeOne);
}

void writeParametersChange(JsonText& json, const Pool& pool, const ParametersChange& change)
{
    json.key("parameters");
    json.beginObject();
    json.textField("pool", pool.config.id);
    json.textField("state", idOf(change.state));
    json.key("from");
    writeParameters(json, change.from);
    json.key("to");
    writeParameters(json, change.to);
    json.endObject();
}

void writeAmendment(JsonText& json, const State& state, const Amendment& amendment)
{
    const auto ids = [&](std::string_view key, const std::vector<std::uint32_t>& indices,
                         const auto& all) {
        if (indices.empty()) return;
        json.key(key);
        json.beginArray();
        for (const std::uint32_t i : indices) json.text(all[i].config.id);
        json.endArray();
    };
    json.key("amended");
    json.beginObject();
    ids("new_pools", amendment.newPools, state.pools);
    ids("new_tables", amendment.newTables, state.tables);
    ids("changed_tables", amendment.changedTables, state.tables);
    json.endObject();
}

// Words for people (a refusal's detail, a notice's text) are not journaled: they follow from what
// is, and may be put better one day without making old journals look wrong.
void writeOutcome(JsonText& json, const Outcome& outcome, const State& state)
{
    if (outcome.refusal) {
        json.key("refused");
        json.beginObject();
        json.textField("code", idOf(outcome.refusal->code));
        if (!outcome.refusal->rule.empty()) json.textField("rule", outcome.refusal->rule);
        json.endObject();
    }
    const auto award = [&](const Award& each) {
        writePlace(json, state, each.table, each.round, each.seat);
        json.textField("tier", idOf(each.tier));
        json.moneyField("amount", each.amount);
        json.textField("rule", each.rule);
        writeArithmetic(json, each.arithmetic);
    };
    writeList(json, "awards", outcome.awards, award);
    writeList(json, "withdrawn", outcome.withdrawn, award);
    writeList(json, "refunds", outcome.refunds, [&](const Refund& each) {
        writePlace(json, state, each.table, each.round, each.seat);
        json.moneyField("amount", each.amount);
    });
    writeList(json, "claims", outcome.claims, [&](const ClaimChange& each) {
        writePlace(json, state, each.table, each.round, each.seat);
        json.textField("tier", idOf(each.tier));
        json.textField("state", idOf(each.state));
    });
    writeList(json, "notices", outcome.notices, [&](const Notice& each) {
        json.textField("whom",
                       each.whom == Notify::Inspector ? "inspector" : "surveillance_and_inspector");
        json.textField("rule", each.rule);
    });
    if (outcome.payment) {
        json.key("payment");
        json.beginObject();
        json.moneyField("due", outcome.payment->due);
        json.moneyField("paid", outcome.payment->paid);
        json.endObject();
    }
    if (outcome.parameters)
        writeParametersChange(json, state.pools[*outcome.pool], *outcome.parameters);
    if (outcome.amendment) writeAmendment(json, state, *outcome.amendment);
}

constexpr std::size_t kCauses = static_cast<std::size_t>(Cause::Adjustment) + 1;
constexpr std::size_t kAccounts = 4;

// What each account gained, cause by cause; the amounts of a cause sum to zero.
void writePoolPostings(JsonText& json, const Outcome& outcome, std::uint32_t pool)
{
    std::array<std::array<Money, kAccounts>, kCauses> sums{};
    std::array<bool, kCauses> used{};
    for (const Posting& posting : outcome.postings) {
        if (posting.pool != pool) continue;
        const auto cause = static_cast<std::size_t>(posting.cause);
        sums.at(cause).at(static_cast<std::size_t>(posting.account)) += posting.amount;
        used.at(cause) = true;
    }
    json.beginObject();
    for (std::size_t cause = 0; cause < kCauses; ++cause) {
        if (!used.at(cause)) continue;
        json.key(idOf(static_cast<Cause>(cause)));
        json.beginObject();
        for (std::size_t account = 0; account < kAccounts; ++account)
            if (const Money sum = sums.at(cause).at(account); sum != Money{})
                json.moneyField(idOf(static_cast<Account>(account)), sum);
        json.endObject();
    }
    json.endObject();
}

// A pool id may hold anything, so it is a value here, not a key.
void writeMovements(JsonText& json, const Outcome& outcome, const State& state)
{
    json.key("pools");
    json.beginArray();
    const auto writeOne = [&](std::uint32_t i) {
        const Pool& pool = state.pools[i];
        json.beginObject();
        json.textField("pool", pool.config.id);
        json.key("postings");
        writePoolPostings(json, outcome, i);
        json.moneyField("meter", pool.meter);
        json.moneyField("reserve", pool.reserve);
        json.endObject();
    };
    if (outcome.pool)
        writeOne(*outcome.pool);
    else if (!outcome.refusal)
        for (std::uint32_t i = 0; i < state.pools.size(); ++i) writeOne(i);
    json.endArray();
}

// What only a command has. The views show it of any record.
constexpr std::array<std::string_view, 11> kOutcomeKeys{
    "command", "refused", "awards",     "withdrawn", "refunds", "claims",
    "notices", "payment", "parameters", "amended",   "pools"};

void readPlain(const Json& json, Record& record)
{
    for (const std::string_view key : kOutcomeKeys)
        if (find(json, key)) throw BadJson{"it has an outcome and no command of the rules"};
    const std::string& kind = record.head.kind;
    if (kind == "journal_opened" || kind == "segment_opened") record.key = textAt(json, "key");
    if (kind == "snapshot" || kind == "segment_opened") record.stateHash = textAt(json, "sha256");
    if (kind != "key_rotated") return;
    KeyRotation& rotation = record.rotation.emplace();
    rotation.from = textAt(json, "old");
    rotation.to = textAt(json, "new");
    rotation.lost = flagAt(json, "lost");
    rotation.by = textsAt(json, "by");
}

// Takes the text that the journal writes there off the front.
void take(std::string_view& rest, std::string_view expected)
{
    if (!rest.starts_with(expected)) throw BadJson{std::string{expected} + " is missing"};
    rest.remove_prefix(expected.size());
}

// A whole number in the one form that the journal writes: no leading zero, no -0.
bool skipNumber(std::string_view& rest, std::int64_t& into)
{
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), into);
    if (error != std::errc{}) return false;
    const std::string_view digits{rest.data(), end};
    if (digits.size() > 1 && (digits[0] == '0' || digits.starts_with("-0"))) return false;
    rest.remove_prefix(digits.size());
    return true;
}

std::int64_t takeNumber(std::string_view& rest)
{
    std::int64_t number = 0;
    if (!skipNumber(rest, number)) throw BadJson{"a number is missing or does not fit"};
    return number;
}

std::uint64_t takeSeq(std::string_view& rest)
{
    take(rest, "{\"seq\":");
    const std::int64_t seq = takeNumber(rest);
    if (seq < 0) throw BadJson{"its seq is negative"};
    return static_cast<std::uint64_t>(seq);
}

std::optional<Origin> takeOrigin(std::string_view& rest)
{
    constexpr std::string_view kBegin = ",\"from\":{\"number\":";
    if (!rest.starts_with(kBegin)) return std::nullopt;
    rest.remove_prefix(kBegin.size());
    Origin from;
    from.number = static_cast<std::uint64_t>(takeNumber(rest));
    take(rest, ",\"clock\":");
    from.clockMs = takeNumber(rest);
    take(rest, "}");
    return from;
}

// Nearly all records of a journal are rounds of plain wagers. Those are read here, at a quarter of
// what a document costs; anything that is not exactly of the form in which the journal writes it
// goes the long way.
class PlainRound {
public:
    // Takes it off the front of `text`, or leaves both of no use.
    static bool read(std::string_view& text, OpenRound& open)
    {
        PlainRound reader{text};
        std::size_t wagers = 0;
        if (!reader.skip("{\"table\":\"") || !reader.text(open.table) ||
            !reader.skip(",\"round\":") || !reader.number(open.round) ||
            !reader.skip(",\"wagers\":["))
            return false;
        do {
            if (open.wagers.size() == wagers) open.wagers.emplace_back();
            Wager& wager = open.wagers[wagers++];
            wager.baseWager = true;
            wager.playerCard.clear();
            wager.approvedBy.clear();
            if (!reader.skip("{\"seat\":") || !reader.number(wager.seat)) return false;
            if (reader.skip(",\"player_card\":\"") &&
                (!reader.text(wager.playerCard) || wager.playerCard.empty()))
                return false;
            if (!reader.skip("}")) return false;
        } while (reader.skip(","));
        open.wagers.resize(wagers);
        if (!reader.skip("]}")) return false;
        text = reader.rest_;
        return true;
    }

private:
    explicit PlainRound(std::string_view text) : rest_{text} {}

    bool skip(std::string_view expected)
    {
        if (!rest_.starts_with(expected)) return false;
        rest_.remove_prefix(expected.size());
        return true;
    }
    bool text(std::string& into)
    {
        const std::size_t end = rest_.find('"');
        if (end == std::string_view::npos) return false;
        into = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        return std::ranges::all_of(into, [](char c) { return c >= ' ' && c <= '~' && c != '\\'; });
    }
    bool number(std::int64_t& into) { return skipNumber(rest_, into); }

    std::string_view rest_;
};

// A document in buffers of its own, which most records fit into; the allocators take more from the
// heap where one does not. Parsed in place, in a copy: strings need no memory of their own.
class ParsedJson {
public:
    // Reads one value; what follows it is left alone where `stopWhenDone`. Bytes that are not UTF-8
    // pass: a command with such bytes is seen by the replay, which writes it anew.
    ParsedJson(std::string_view text, bool stopWhenDone)
    {
        char* const copy = copyOf(text);
        constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseInsituFlag;
        if (stopWhenDone)
            document_.ParseInsitu<kFlags | rapidjson::kParseStopWhenDoneFlag>(copy);
        else
            document_.ParseInsitu<kFlags | rapidjson::kParseValidateEncodingFlag>(copy);
        if (document_.HasParseError()) throw BadJson{"it is not well-formed JSON"};
    }
    [[nodiscard]] const Json& value() const { return document_; }

private:
    using Pool = rapidjson::MemoryPoolAllocator<>;

    char* copyOf(std::string_view text)
    {
        if (text.size() >= textBuffer_.size()) return (longText_ = text).data();
        std::memcpy(textBuffer_.data(), text.data(), text.size());
        textBuffer_[text.size()] = '\0';
        return textBuffer_.data();
    }

    std::array<char, 1U << 10U> textBuffer_;
    std::string longText_;
    std::array<char, 1U << 13U> valueBuffer_;
    std::array<char, 1U << 11U> stackBuffer_;
    Pool values_{valueBuffer_.data(), valueBuffer_.size()};
    Pool stack_{stackBuffer_.data(), stackBuffer_.size()};
    rapidjson::GenericDocument<rapidjson::UTF8<>, Pool, Pool> document_{&values_, 512, &stack_};
};

}  // namespace

void writeRotation(JsonText& json, const KeyRotation& rotation)
{
    json.textField("old", rotation.from);
    json.textField("new", rotation.to);
    json.boolField("lost", rotation.lost);
    json.key("by");
    json.beginArray();
    for (const std::string& each : rotation.by) json.text(each);
    json.endArray();
}

bool beginCommandRecord(std::string& out, std::uint64_t seq, TimeMs timeMs, const Command& command,
                        const std::optional<Origin>& from)
{
    JsonText json{out};
    json.beginObject();
    json.numberField("seq", static_cast<std::int64_t>(seq));
    json.numberField("time", timeMs);
    json.textField("kind", kindOf(command));
    if (from) {
        json.key("from");
        json.beginObject();
        json.numberField("number", static_cast<std::int64_t>(from->number));
        json.numberField("clock", from->clockMs);
        json.endObject();
    }
    json.key("command");
    writeCommand(json, command);
    return json.isFaithful();
}

void finishCommandRecord(std::string& out, const Outcome& outcome, const State& after)
{
    JsonText json = JsonText::continued(out);
    writeOutcome(json, outcome, after);
    writeMovements(json, outcome, after);
    json.endObject();
}

Result<Record> readRecord(std::string_view payload)
{
    Result<Record> result{Record{}};  // filled in place: it is large to move
    if (auto read = readRecord(payload, *result); !read) return read.error();
    return result;
}

Result<void> readRecord(std::string_view payload, Record& record)
{
    if (payload.size() > kMaxRecordBytes)
        return Error{"the record is larger than any record can be"};
    // RapidJSON would take a NUL byte for the end of the text.
    if (payload.find('\0') != std::string_view::npos) return Error{"the record has a NUL byte"};
    try {
        record.from.reset();
        record.asWritten = 0;
        record.key.clear();
        record.stateHash.clear();
        record.rotation.reset();
        std::string_view rest = payload;
        record.head.seq = takeSeq(rest);
        take(rest, ",\"time\":");
        record.head.timeMs = takeNumber(rest);
        take(rest, ",\"kind\":\"");
        const auto quote = rest.find('"');
        if (quote == std::string_view::npos) throw BadJson{"its kind has no end"};
        record.head.kind = rest.substr(0, quote);
        rest.remove_prefix(quote + 1);

        // Of a command's record only the command is parsed: a replay compares all the rest.
        const bool isCommand = isCommandKind(record.head.kind);
        if (isCommand) record.from = takeOrigin(rest);
        if (isCommand) take(rest, ",\"command\":");
        if (record.head.kind == "round_opened") {
            if (!record.command || !std::holds_alternative<OpenRound>(*record.command))
                record.command.emplace(OpenRound{});
            std::string_view command = rest;
            if (PlainRound::read(command, std::get<OpenRound>(*record.command))) {
                record.asWritten = payload.size() - command.size();
                return {};
            }
        }
        const ParsedJson json{isCommand ? rest : payload, isCommand};
        if (isCommand) {
            auto command = readCommand(record.head.kind, json.value());
            if (!command) return command.error();
            record.command = std::move(*command);
        } else {
            record.command.reset();
            readPlain(json.value(), record);
        }
        return {};
    } catch (const BadJson& error) {
        return Error{"the record cannot be read: " + std::string{error.what()}};
    }
}

}  // namespace jackpot::storage
