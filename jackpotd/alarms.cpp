#include "jackpotd/alarms.h"

namespace jackpot {
namespace {

constexpr rules::TimeMs kIntervalMs = 60'000;

}  // namespace

void Alarms::raise(const std::string& code, const std::string& detail)
{
    metrics_.alarms.at(alarmIndex(code)).add();
    record({}, code, detail);
}

void Alarms::raiseForTable(std::uint32_t table, const std::string& code, const std::string& detail)
{
    metrics_.alarms.at(alarmIndex(code)).add();
    if (lastRecordedMs_.size() <= table) lastRecordedMs_.resize(decider_.state().tables.size());
    rules::TimeMs& lastMs = lastRecordedMs_[table][code];
    const rules::TimeMs now = decider_.now();
    if (lastMs != 0 && now - lastMs < kIntervalMs) return;
    lastMs = now;
    record(decider_.table(table).config.id, code, detail);
}

void Alarms::record(const std::string& table, const std::string& code, const std::string& detail)
{
    log_.error("alarm: " + code + (table.empty() ? "" : " at table " + table) + ": " + detail,
               {.table = table, .code = code});
    decider_.appendEvent("alarm_raised", [&](storage::JsonText& json) {
        json.textField("code", code);
        if (!table.empty()) json.textField("table", table);
        json.textField("detail", detail);
    });
}

}  // namespace jackpot
