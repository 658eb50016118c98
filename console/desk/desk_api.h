// The claims desk: everything behind the routes. Each route has one line in desk.cpp that says who
// may ask it; what it then does is here.
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
    // An award or payment of so much is paid by a supervisor with a second person.
    rules::Money secondPersonFrom = rules::Money::ofDollars(10'000);
    std::chrono::milliseconds proposalLife = std::chrono::hours{24};
    std::chrono::milliseconds patience{5000};     // for the book
    std::chrono::milliseconds reportTime{30000};  // at most, for one report
    std::function<rules::TimeMs()> now;           // wall clock, unless given
};

// Handlers are for any thread; they borrow the desk. The daemon's writer must outlive it.
class Desk {
public:
    Desk(DeskSettings settings, Controller controller, SearchIndex& book);
    Desk(const Desk&) = delete;
    Desk& operator=(const Desk&) = delete;

    std::vector<Route> routes();
    // What takes long is given up from now on: whoever ends the daemon does not wait for a report.
    void end() { ended_ = true; }

private:
    using State = std::shared_ptr<const rules::State>;

    // Reading; desk_reading.cpp.
    Reply pools(const Request& request);
    Reply pool(const Request& request);
    Reply history(const Request& request);
    Reply tables(const Request& request);
    Reply table(const Request& request);
    Reply meters(const Request& request);
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

    // Changing; desk.cpp.
    Reply rule(const Request& request);
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

    // A journal that was restored; desk_restore.cpp.
    Reply lock(const Request& request);
    Reply acceptRestore(const Request& request);

    Reply propose(const Request& request, const rules::State& state, rules::Command command,
                  const std::string& reason);
    Reply close(const Request& request, std::string_view kind, const std::string& reason,
                bool byProposer);
    // Nothing where it was carried out; else what to answer.
    std::optional<Reply> carryOut(rules::Command command);
    Reply refuse(const Request& request, const std::string& asked, const rules::Refusal& refusal);
    // Of a round in which something was just paid, it is never said that there is nothing.
    Reply claimReply(const std::string& table, std::int64_t round, bool justPaid);
    Reply proposalReply(std::uint64_t id, int status = 200);
    Reply tableReply(const std::string& id);
    Reply poolReply(const std::string& id);
    [[nodiscard]] rules::TimeMs now() const;

    DeskSettings settings_;
    Controller controller_;
    SearchIndex& book_;
    // Proposals are closed and rulings given one at a time: what was looked at is what is decided.
    std::mutex deciding_;
    // What the first of two people has said about a restore; gone when the daemon restarts.
    struct Agreed {
        Person person;
        RestoreBody body;
        rules::TimeMs at = 0;
    };
    std::optional<Agreed> agreed_;
    std::mutex reporting_;
    std::atomic<bool> ended_{false};
};

}  // namespace jackpot::console
