// The floor whose rounds the storage benchmarks record.
#pragma once

#include <string>

#include "bench/measurement.h"
#include "rules/commands.h"
#include "storage/keys.h"

namespace jackpot::storage {

inline constexpr int kTables = 12;

inline rules::Site site()
{
    rules::Site site;
    rules::PoolConfig& pool = site.pools.emplace_back();
    pool.id = "B7";
    pool.wager = rules::Money::ofDollars(5);
    pool.increment = rules::Rate::ofPartsPerMillion(235'000);
    pool.minimum = rules::Money::ofDollars(50'000);
    for (int i = 0; i < kTables; ++i) {
        rules::TableConfig& table = site.tables.emplace_back();
        table.id = "BJ" + std::to_string(i);
        table.pool = pool.id;
    }
    return site;
}

// Rounds of three seats, the tables in turn.
inline rules::Command round(std::int64_t number)
{
    rules::OpenRound open{"BJ" + std::to_string(number % kTables), number, {}};
    for (int seat = 1; seat <= 3; ++seat) open.wagers.push_back({seat, true, {}, {}});
    return open;
}

inline Signer signer(const PrivateKey& key)
{
    return Signer::make("bench.example/jackpot", key).value();
}

}  // namespace jackpot::storage
