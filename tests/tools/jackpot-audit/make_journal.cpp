// Makes journals for the tests of jackpot-audit: reads one operation a line (JSON) from standard
// input, carries it out on the journal in the directory given, and answers with a line.
#include <rapidjson/document.h>

#include <chrono>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "rules/settle_due.h"
#include "storage/command_json.h"
#include "storage/journal.h"
#include "storage/json_read.h"
#include "storage/merkle.h"

namespace {

using namespace jackpot;
using storage::Json;
using storage::numberAt;
using storage::textAt;

template <class T, class E>
T must(Result<T, E> result)
{
    if (!result) throw std::runtime_error{result.error().message};
    return std::move(*result);
}

storage::Signer signerOf(const std::string& name, std::string_view pemFile)
{
    return must(storage::Signer::make(name, must(storage::PrivateKey::load(pemFile))));
}

class Maker {
public:
    explicit Maker(std::filesystem::path directory) : directory_{std::move(directory)} {}

    std::string carryOut(const Json& json)
    {
        const std::string_view op = textAt(json, "op");
        if (op == "create" || op == "open") return begin(json, op == "create");
        if (op == "close") return journal_.reset(), "ok";
        if (op == "forge") return forge(json);
        if (op == "sleep") {
            std::this_thread::sleep_for(std::chrono::milliseconds{numberAt(json, "ms")});
            return "ok";
        }
        storage::Journal& journal = journal_.value();
        if (op == "decide") return decide(json);
        if (op == "fill") return fill(json);
        if (op == "heartbeat") return journal.heartbeat(numberAt(json, "time")), "ok";
        if (op == "add") {
            journal.add(textAt(json, "kind"), numberAt(json, "time"), [&](storage::JsonText& out) {
                for (const auto& field : storage::at(json, "fields").GetObject())
                    out.textField(storage::viewOf(field.name), storage::viewOf(field.value));
            });
            return "ok";
        }
        if (op == "commit") return must(journal.commit()).note;
        if (op == "rotate")
            return must(journal.rotateKey(signerOf(name_, textAt(json, "key")),
                                          storage::textsAt(json, "by"), numberAt(json, "time")))
                .note;
        if (op == "segment") return closeSegment(numberAt(json, "time"));
        throw std::runtime_error{"unknown operation"};
    }

private:
    std::string begin(const Json& json, bool isNew)
    {
        name_ = textAt(json, "name");
        storage::JournalSettings settings;
        settings.directory = directory_;
        if (storage::find(json, "snapshot_every"))
            settings.snapshotEvery = static_cast<std::uint64_t>(numberAt(json, "snapshot_every"));
        const auto now = numberAt(json, "time");
        storage::Signer signer = signerOf(name_, textAt(json, "key"));
        journal_.emplace(
            must(isNew ? storage::Journal::create(settings, std::move(signer), now)
                       : storage::Journal::open(settings, std::move(signer), now, lostKey(json))));
        return "ok";
    }

    static std::optional<storage::LostKey> lostKey(const Json& json)
    {
        if (!storage::find(json, "lost")) return std::nullopt;
        return storage::LostKey{must(storage::Verifier::parse(textAt(json, "lost"))),
                                storage::textsAt(json, "by")};
    }

    rules::Outcome give(const rules::Command& command, rules::TimeMs now)
    {
        storage::Journal& journal = journal_.value();
        rules::settleDue(
            journal.state(), now,
            [&](const rules::SettleDue& due, rules::TimeMs atMs) { journal.decide(due, atMs); });
        return journal.decide(command, now);
    }

    std::string decide(const Json& json)
    {
        const auto command =
            must(storage::readCommand(textAt(json, "kind"), storage::at(json, "command")));
        const rules::Outcome outcome = give(command, numberAt(json, "time"));
        return std::to_string(journal_->size() - 1) +
               (outcome.refusal ? " " + std::string{idOf(outcome.refusal->code)} : "");
    }

    // It is refused while a reader has the file open.
    std::string closeSegment(rules::TimeMs now)
    {
        for (int attempt = 0;; ++attempt) {
            auto closed = journal_->closeSegment(now);
            if (closed || attempt == 200 ||
                closed.error().kind != storage::JournalError::Kind::Refused)
                return must(std::move(closed)).string();
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }
    }

    // Rounds at one table after the other, some with fixed awards, committed in batches.
    std::string fill(const Json& json)
    {
        const std::int64_t rounds = numberAt(json, "rounds");
        const std::int64_t batch = numberAt(json, "batch");
        rules::TimeMs now = numberAt(json, "time");
        const rules::TimeMs step = numberAt(json, "step_ms");
        const auto& tables = journal_->state().tables;
        for (std::int64_t i = 0; i < rounds; ++i) {
            const rules::Table& table = tables[static_cast<std::size_t>(i) % tables.size()];
            const bool holdem =
                journal_->state().pools[table.pool].config.game == rules::Game::UltimateTexasHoldem;
            const std::string id = table.config.id;
            const std::int64_t round = table.current.number + 1;
            give(rules::OpenRound{id, round, {{1, true, "c1", {}}, {2, true, "c2", {}}}},
                 now += step);
            std::vector<std::string> board{"9C"};
            if (holdem) board = {"2C", "7D", "9H"};
            give(rules::ReportResult{id,
                                     round,
                                     std::move(board),
                                     {{1, {i % 20 == 0 ? "7H" : "TH", i % 20 == 0 ? "7S" : "4S"}},
                                      {2, {"3S", "QD"}}}},
                 now += step);
            if (i % batch == batch - 1) must(journal_->commit());
        }
        must(journal_->commit());
        return std::to_string(journal_->size());
    }

    // Appends forged records: payloads as given, signed by any keys.
    std::string forge(const Json& json)
    {
        journal_.reset();
        const auto file = directory_ / storage::kJournalName;
        storage::Frontier frontier;
        {
            auto reader = storage::orThrow(storage::JournalReader::open(file));
            frontier = must(storage::Frontier::parse(reader.firstFrontier()));
            storage::orThrow(reader.forEachPayload(reader.firstSeq(),
                                                   storage::orThrow(reader.endSeq()),
                                                   [&](std::uint64_t, std::string_view payload) {
                                                       frontier.append(storage::leafHash(payload));
                                                       return true;
                                                   }));
        }
        auto opened = must(storage::JournalFile::open(file, frontier));
        std::vector<storage::Signer> signers;
        for (const std::string& key : storage::textsAt(json, "keys"))
            signers.push_back(signerOf(name_, key));
        std::vector<storage::Signer*> borrowed;
        for (storage::Signer& each : signers) borrowed.push_back(&each);
        return must(opened.append(storage::textsAt(json, "payloads"), borrowed)).note;
    }

    std::filesystem::path directory_;
    std::string name_;
    std::optional<storage::Journal> journal_;
};

}  // namespace

int main(int argc, char** argv)
{
    if (argc != 2) {
        std::cerr << "usage: make_journal DIRECTORY < OPERATIONS\n";
        return 2;
    }
    Maker maker{argv[1]};
    std::string line;
    while (std::getline(std::cin, line)) {
        try {
            rapidjson::Document json;
            json.Parse<rapidjson::kParseIterativeFlag>(line.data(), line.size());
            std::string answer = maker.carryOut(json);
            for (char& c : answer)
                if (c == '\n') c = '|';
            std::cout << answer << std::endl;
        } catch (const std::exception& error) {
            std::cerr << "make_journal: " << line << ": " << error.what() << "\n";
            return 1;
        }
    }
    return 0;
}
