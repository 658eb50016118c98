#include "storage/record.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "storage/command_json.h"
#include "storage/outcome_json.h"
#include "storage/parsed_json.h"

namespace jackpot::storage {
namespace {

using namespace rules;

// What only a command has. The views show it of any record.
constexpr std::array<std::string_view, 12> kOutcomeKeys{
    "command", "refused", "awards",  "withdrawn",  "locked",  "refunds",
    "claims",  "notices", "payment", "parameters", "amended", "pools"};

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

std::optional<LinkOrigin> takeOrigin(std::string_view& rest)
{
    constexpr std::string_view kBegin = ",\"from\":{\"number\":";
    if (!rest.starts_with(kBegin)) return std::nullopt;
    rest.remove_prefix(kBegin.size());
    LinkOrigin from;
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
                        const std::optional<LinkOrigin>& from)
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
    if (payload.size() > kMaxRecordBytes) return Error{"it is larger than any record can be"};
    // RapidJSON would take a NUL byte for the end of the text.
    if (payload.find('\0') != std::string_view::npos) return Error{"it has a NUL byte"};
    try {
        record.from.reset();
        record.commandEnd = 0;
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
                record.asWritten = record.commandEnd = payload.size() - command.size();
                return {};
            }
        }
        using enum ParsedJson::Form;
        const ParsedJson json{isCommand ? rest : payload, isCommand ? FirstValue : Whole};
        if (isCommand) {
            record.commandEnd = payload.size() - rest.size() + json.length();
            auto command = readCommand(record.head.kind, json.value());
            if (!command) return command.error();
            record.command = std::move(*command);
        } else {
            record.command.reset();
            readPlain(json.value(), record);
        }
        return {};
    } catch (const BadJson& error) {
        return Error{error.what()};
    }
}

}  // namespace jackpot::storage
