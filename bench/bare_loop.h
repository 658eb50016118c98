// The loop that the journal's speed is compared with.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/measurement.h"
#include "bench/storage_floor.h"
#include "rules/apply.h"
#include "storage/merkle.h"
#include "storage/note.h"
#include "storage/record.h"
#include "storage/sqlite.h"

namespace jackpot::storage {

namespace fs = std::filesystem;

const fs::path kDirectory = "build/bench-storage";

inline fs::path emptied(const char* name)
{
    fs::path path = kDirectory / name;
    fs::remove_all(path);
    fs::create_directories(path);
    return path;
}

struct Run {
    double perSecond = 0;
    std::vector<double> commitSeconds;
};

// Writes the same bytes in the shortest way: decide, format, hash, sign once per batch, insert,
// commit. Without a tree, without checks, with SQLite's own checkpoints.
inline Run throughBareLoop(const PrivateKey& key, std::int64_t batch, std::int64_t batches)
{
    const fs::path directory = emptied("bare");
    Database database{(directory / "bare.db").string(), Database::Mode::Create};
    database.execute("PRAGMA synchronous=EXTRA");
    (void)database.text("PRAGMA journal_mode=WAL");
    database.execute(
        "CREATE TABLE journal(seq INTEGER PRIMARY KEY, payload TEXT NOT NULL) STRICT;"
        "CREATE TABLE checkpoint(size INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT;");
    Statement insert = database.prepare("INSERT INTO journal VALUES (?, ?)");
    Statement sign = database.prepare("INSERT INTO checkpoint VALUES (?, ?)");
    Signer by = signer(key);
    rules::State state;
    (void)apply(state, rules::ConfigureSite{site()}, 0);
    Run run;
    std::int64_t number = 0;
    const auto start = Clock::now();
    for (std::int64_t i = 0; i < batches; ++i) {
        const auto began = Clock::now();
        database.execute("BEGIN IMMEDIATE");
        Hash last;
        for (std::int64_t j = 0; j < batch; ++j, ++number) {
            const rules::Command command = round(number + 1);
            std::string payload;
            payload.reserve(512);
            beginCommandRecord(payload, static_cast<std::uint64_t>(number), number, command);
            const rules::Outcome outcome = apply(state, command, number);
            finishCommandRecord(payload, outcome, state);
            last = leafHash(payload);
            insert.bind(1, number).bindText(2, payload).run();
        }
        const std::string note =
            *signCheckpoint({by.name(), static_cast<std::uint64_t>(number), last, {}}, by);
        sign.bind(1, number).bindText(2, note).run();
        database.execute("COMMIT");
        run.commitSeconds.push_back(secondsSince(began));
    }
    run.perSecond = static_cast<double>(batch * batches) / secondsSince(start);
    return run;
}

}  // namespace jackpot::storage
