#include "jackpotd/reading_json.h"

#include "storage/json_text.h"

namespace jackpot {

std::string readingJson(const meters::PoolReading& reading, const meters::PoolStatus& status)
{
    std::string text;
    storage::JsonText json{text};
    json.beginObject();
    json.textField("pool", reading.pool.view());
    json.numberField("displayed_cents", reading.displayed.cents());
    json.numberField("changes", reading.changes);
    json.boolField("open", status.open);
    json.boolField("pending", status.pending);
    json.boolField("held", status.held);
    json.boolField("fault", status.fault);
    if (reading.locked) {
        json.key("locked");
        json.beginObject();
        json.textField("table", reading.locked->table.view());
        json.numberField("cents", reading.locked->amount.cents());
        json.endObject();
    }
    if (reading.lastWin) {
        json.key("won");
        json.beginObject();
        json.textField("table", reading.lastWin->table.view());
        json.numberField("cents", reading.lastWin->amount.cents());
        json.numberField("percent", reading.lastWin->percent);
        json.numberField("at", reading.lastWin->unixSeconds);
        json.boolField("shown", status.winShown);
        json.endObject();
    }
    json.endObject();
    return text;
}

std::optional<std::string> readingJson(const meters::PublishedReadings& readings,
                                       std::string_view pool)
{
    for (std::size_t i = 0; i < readings.size(); ++i) {
        const meters::PoolReading reading = readings.read(i);
        if (reading.changes != 0 && reading.pool.view() == pool)
            return readingJson(reading, readings.statusAt(reading, meters::Clock::now()));
    }
    return std::nullopt;
}

}  // namespace jackpot
