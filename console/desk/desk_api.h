// The API of the claims desk: pools, tables, claims, rulings, payments, proposals, records, reports
// and notices. DeskApi::routes() lists every route with the roles that may use it.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "console/desk/controller.h"
#include "console/desk/desk_requests.h"
#include "console/people/access.h"
#include "console/search/search_index.h"

namespace jackpot::console {

struct DeskSettings {
    std::filesystem::path journal;  // the directory
    // From this amount, a payment needs a second person.
    rules::Money secondPersonFrom = rules::Money::ofDollars(10'000);
    std::chrono::milliseconds proposalLifetime = std::chrono::hours{24};
    std::chrono::milliseconds searchTimeout{5000};   // for the search index to catch up
    std::chrono::milliseconds reportTimeout{30000};  // for one report
    std::function<rules::TimeMs()> now;              // default: the wall clock
};

// Handlers are thread-safe and borrow the DeskApi, which borrows the search index and the functions
// of the controller.
class DeskApi {
public:
    DeskApi(DeskSettings settings, Controller controller, SearchIndex& index);
    DeskApi(const DeskApi&) = delete;
    DeskApi& operator=(const DeskApi&) = delete;

    std::vector<Route> routes();
    // Cancels the report that is being made, so that shutdown does not wait for it.
    void stopReports() { stopping_ = true; }

private:
    using State = std::shared_ptr<const rules::State>;

    // Reading; desk_queries.cpp.
    Reply pools(const Request& request);
    Reply pool(const Request& request);
    Reply history(const Request& request);
    Reply tables(const Request& request);
    Reply table(const Request& request);
    Reply claims(const Request& request);
    Reply claim(const Request& request);
    Reply rulings(const Request& request);
    Reply previewRuling(const Request& request);
    Reply records(const Request& request);
    Reply record(const Request& request);
    Reply proof(const Request& request);
    Reply checkpoint(const Request& request);
    Reply report(const Request& request);
    Reply notices(const Request& request);
    Reply proposals(const Request& request);
    Reply proposal(const Request& request);

    // Changing; desk_api.cpp.
    Reply ruleOnClaims(const Request& request);
    Reply pay(const Request& request);
    Reply withhold(const Request& request);
    Reply suspendTable(const Request& request);
    Reply resumeTable(const Request& request);
    Reply suspendPool(const Request& request);
    Reply resumePool(const Request& request);
    Reply voidRound(const Request& request);
    Reply voidWager(const Request& request);
    Reply correct(const Request& request);
    Reply adjust(const Request& request);
    Reply changeParameters(const Request& request);
    Reply acknowledge(const Request& request);
    Reply approve(const Request& request);
    Reply reject(const Request& request);
    Reply withdraw(const Request& request);

    // The restore lock; desk_restore.cpp.
    Reply lock(const Request& request);
    Reply acceptRestore(const Request& request);

    Reply propose(const Request& request, const rules::State& state, rules::Command command,
                  const std::string& reason);
    Reply closeProposal(const Request& request, std::string_view kind, const std::string& reason,
                        bool byProposer);
    // Decides the command. Nothing on success; otherwise the error reply.
    std::optional<Reply> decide(rules::Command command);
    Reply recordRefusal(const Request& request, const std::string& asked,
                        const rules::Refusal& refused);
    // `justPaid`: never 404, even if the search index has not caught up yet.
    Reply claimReply(const std::string& table, std::int64_t round, bool justPaid);
    Reply proposalReply(std::uint64_t id, int status = 200);
    Reply tableReply(const std::string& id);
    Reply poolReply(const std::string& id);
    [[nodiscard]] rules::TimeMs now() const;

    DeskSettings settings_;
    Controller controller_;
    SearchIndex& index_;
    // Held from reading a proposal or a preview until the decision on it is made.
    std::mutex decisionMutex_;
    // The first of the two people who accept a restore; forgotten when the daemon restarts.
    struct FirstAcceptance {
        Person person;
        RestoreRequest body;
        rules::TimeMs at = 0;
    };
    std::optional<FirstAcceptance> firstAcceptance_;
    std::mutex reportMutex_;
    std::atomic<bool> stopping_{false};
};

}  // namespace jackpot::console
