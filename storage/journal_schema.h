// The schema of a journal file, which its writer creates and its reader expects.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace jackpot::storage {

inline constexpr std::int64_t kApplicationId = 0x4a504f54;  // "JPOT"

struct SchemaObject {
    std::string_view type;
    std::string_view name;
    std::string_view sql;
};

// Nothing is stored that is not signed or derived from what is: columns for people are a view.
inline constexpr std::array kSchema{
    SchemaObject{"table", "journal",
                 "CREATE TABLE journal(seq INTEGER PRIMARY KEY, payload TEXT NOT NULL) STRICT"},
    SchemaObject{"table", "checkpoint",
                 "CREATE TABLE checkpoint(size INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT"},
    SchemaObject{"table", "node",
                 "CREATE TABLE node(idx INTEGER PRIMARY KEY, hash BLOB NOT NULL) STRICT"},
    SchemaObject{"table", "snapshot",
                 "CREATE TABLE snapshot(size INTEGER PRIMARY KEY, state TEXT NOT NULL, frontier "
                 "TEXT NOT NULL) STRICT"},
    SchemaObject{"table", "segment",
                 "CREATE TABLE segment(first INTEGER PRIMARY KEY, frontier TEXT NOT NULL) STRICT"},
    SchemaObject{
        "view", "records",
        "CREATE VIEW records AS SELECT seq,"
        " strftime('%Y-%m-%dT%H:%M:%f', payload ->> '$.time' / 1000.0, 'unixepoch') AS utc,"
        " payload ->> '$.kind' AS kind,"
        " payload ->> '$.command.table' AS \"table\","
        " payload ->> '$.command.round' AS round,"
        " payload ->> '$.pools[0].pool' AS pool,"
        " payload ->> '$.refused.code' AS refused,"
        " payload -> '$.awards' AS awards,"
        " payload ->> '$.pools[0].meter' AS meter"
        " FROM journal"},
    SchemaObject{
        "view", "awards",
        "CREATE VIEW awards AS SELECT seq,"
        " strftime('%Y-%m-%dT%H:%M:%f', payload ->> '$.time' / 1000.0, 'unixepoch') AS utc,"
        " award.value ->> '$.table' AS \"table\","
        " award.value ->> '$.round' AS round,"
        " award.value ->> '$.seat' AS seat,"
        " award.value ->> '$.tier' AS tier,"
        " award.value ->> '$.amount' AS amount,"
        " award.value ->> '$.rule' AS rule"
        " FROM journal, json_each(payload, '$.awards') AS award"},
};

}  // namespace jackpot::storage
