#include "storage/replay.h"

#include <stdexcept>

#include "rules/apply.h"
#include "storage/sha256.h"
#include "storage/snapshot.h"

namespace jackpot::storage {
namespace {

// The rules add windows to times, and a tampered record may have any.
constexpr rules::TimeMs kMaxTimeMs = 253'402'300'799'999;

// Enough of both sides around the first difference to see what it is about.
std::string difference(std::string_view recorded, std::string_view recomputed)
{
    constexpr std::size_t kBefore = 30;
    constexpr std::size_t kShown = 70;
    std::size_t at = 0;
    while (at < recorded.size() && at < recomputed.size() && recorded[at] == recomputed[at]) ++at;
    const std::size_t from = at < kBefore ? 0 : at - kBefore;
    return "the record says ..." + std::string{recorded.substr(from, kShown)} +
           "..., the rules give ..." +
           std::string{recomputed.substr(std::min(from, recomputed.size()), kShown)} + "...";
}

}  // namespace

std::string stateHash(std::string_view stateText) { return sha256({stateText}).hex(); }

std::string Replay::step(std::uint64_t seq, const Record& record, std::string_view payload)
{
    if (record.head.seq != seq)
        return "it says that it is record " + std::to_string(record.head.seq);
    if (record.head.timeMs < lastTimeMs_)
        return "its time " + std::to_string(record.head.timeMs) +
               " is before that of the record before it";
    if (record.head.timeMs > kMaxTimeMs)
        return "its time " + std::to_string(record.head.timeMs) + " is beyond the year 9999";
    lastTimeMs_ = record.head.timeMs;
    if (!record.command) return checkPlain(record, payload);

    // What is known to be as it would be written need not be written to be compared.
    const std::size_t same = record.asWritten;
    recomputed_.clear();
    if (same == 0 &&
        !beginCommandRecord(recomputed_, seq, record.head.timeMs, *record.command, record.from))
        return "its command is not UTF-8";
    if (record.from)
        if (const auto added = addToSequence(state_, *record.command, record.from->number, seq);
            !added)
            return added.error().message;
    try {
        const rules::Outcome outcome = apply(state_, *record.command, record.head.timeMs);
        finishCommandRecord(recomputed_, outcome, state_);
    } catch (const std::logic_error& error) {
        return "its command cannot have been carried out: " + std::string{error.what()};
    } catch (const std::overflow_error& error) {
        return "its command cannot have been carried out: " + std::string{error.what()};
    }
    if (recomputed_ == payload.substr(same)) return {};
    return difference(payload, std::string{payload.substr(0, same)} + recomputed_);
}

// The journal's own records hold nothing but what is read from them, and a snapshot's hash is that
// of the state.
std::string Replay::checkPlain(const Record& record, std::string_view payload) const
{
    const std::string& kind = record.head.kind;
    const bool ofState = kind == "snapshot" || kind == "segment_opened";
    if (!ofState && kind != "journal_opened" && kind != "heartbeat" && kind != "key_rotated")
        return {};
    const std::string expected =
        writePlainRecord(record.head.seq, record.head.timeMs, kind, [&](JsonText& json) {
            if (kind == "journal_opened") json.numberField("format", kFormatVersion);
            if (ofState) json.textField("sha256", stateHash(writeState(state_)));
            if (!record.key.empty()) json.textField("key", record.key);
            if (record.rotation) writeRotation(json, *record.rotation);
        });
    if (payload == expected) return {};
    return difference(payload, expected);
}

}  // namespace jackpot::storage
