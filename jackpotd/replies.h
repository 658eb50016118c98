// The replies that the next commit sends to tables. The writer's parts add them in its turn; the
// link sends none of them before the commit is durable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "linkproto/server/link_messages.h"
#include "rules/outcome.h"
#include "rules/state.h"
#include "storage/journal.h"

namespace jackpot {

struct Recipient {
    std::uint64_t connection = 0;  // 0: the connection that the table has now, if any
    std::uint32_t table = 0;
};

class Replies {
public:
    void add(const Recipient& to, linkproto::Reply reply)
    {
        delivery_.outgoing.push_back({to.connection, to.table, std::move(reply)});
    }
    void addWelcome(const Recipient& to, const storage::Verifier& verifier,
                    const rules::State& state, bool isRestored);
    void addState(const Recipient& to, const rules::State& state);
    // `record` is the number of the command's record, `state` the state after it.
    void addDecision(const Recipient& to, std::uint64_t number, std::uint64_t record,
                     const rules::Outcome& outcome, const rules::State& state);
    // The decision of a command that the table has sent again: `payload` is its record,
    // `checkpoint` the signed note that covers it. A refusal's detail is not journaled and stays
    // empty. After an error nothing was added.
    Result<void> addRepeatedDecision(const Recipient& to, std::uint64_t number,
                                     const std::string& table, const std::string& payload,
                                     const std::string& checkpoint);
    // To each table that the outcome concerns, except the table whose command it was: that table
    // has its part in its decision.
    void addSettlements(const rules::Command& command, const rules::Outcome& outcome,
                        std::optional<std::uint32_t> ownTable, std::uint64_t record,
                        const rules::State& state);
    // Tells the table whether it is suspended, and by whom.
    void addSuspension(std::uint32_t table, const rules::State& state, std::string reason);
    // To each table of the pool.
    void addPoolNews(std::uint32_t pool, const rules::State& state);
    void addGoodbyeToAll(const rules::State& state, linkproto::GoodbyeReason reason,
                         const std::string& detail);
    // To each table: the jackpot is not available, and goodbye.
    void addUnavailableToAll(const rules::State& state, const std::string& detail);

    [[nodiscard]] bool isEmpty() const { return delivery_.outgoing.empty(); }
    void clear() { delivery_ = {}; }
    // Everything that was added since the last call, covered by this receipt.
    linkproto::Delivery release(const storage::Receipt& receipt);
    // The same without a receipt, after a commit that failed.
    linkproto::Delivery release();

private:
    linkproto::Delivery delivery_;
};

}  // namespace jackpot
