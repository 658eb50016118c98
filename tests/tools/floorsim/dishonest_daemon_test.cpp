// Daemons with one planted fault each: the books must detect it.
#include <doctest/doctest.h>

#include <atomic>

#include "tests/tools/floorsim/in_process_daemon.h"

namespace jackpot::floorsim {
namespace {

using linkproto::CommandReceived;
using linkproto::Decision;
using linkproto::Delivery;
using linkproto::Incoming;
using linkproto::Receipt;
using linkproto::Settlement;

constexpr rules::Money kCent = rules::Money::ofCents(1);

// True at the nth call only.
class Once {
public:
    explicit Once(int nth) : left_{nth} {}
    bool isNow() { return --left_ == 0; }

private:
    int left_;
};

const std::vector<std::string> kPlay = {"--rounds", "60"};

const DaemonOptions kSmall{.sevens = 3, .holdem = 2};

FloorResult playWith(InProcessDaemon& daemon)
{
    FloorResult result = daemon.play(kPlay);
    INFO(words(result));
    CHECK_FALSE(agrees(result));
    return result;
}

template <class Change>
Cheats changedDecisions(Change change)
{
    return {.onDelivery = [change](Delivery& delivery) mutable {
        for (linkproto::Outgoing& each : delivery.outgoing)
            if (auto* decided = std::get_if<Decision>(&each.reply)) change(*decided);
    }};
}

template <class Change>
Cheats heardRounds(Change change)
{
    return {.heard = [change](Incoming& incoming) mutable {
        auto* asked = std::get_if<CommandReceived>(&incoming.what);
        auto* open = asked ? std::get_if<rules::OpenRound>(&asked->command) : nullptr;
        if (open) change(*open);
    }};
}

}  // namespace

TEST_CASE("a dropped wager is detected")
{
    InProcessDaemon daemon{kSmall, heardRounds([once = Once{50}](rules::OpenRound& open) mutable {
                               if (open.wagers.size() > 1 && once.isNow()) open.wagers.pop_back();
                           })};
    const FloorResult result = playWith(daemon);
    CHECK(says(result, "wagers in this run"));
    CHECK(says(result, "by the books"));
}

TEST_CASE("a wager that is counted twice is detected")
{
    InProcessDaemon daemon{
        {}, heardRounds([once = Once{50}](rules::OpenRound& open) mutable {
            for (std::int64_t seat = 1; seat <= 6; ++seat) {
                if (std::ranges::find(open.wagers, seat, &rules::Wager::seat) != open.wagers.end())
                    continue;
                if (!once.isNow()) return;
                rules::Wager twin;
                twin.seat = seat;
                twin.playerCard = "p-twin";
                open.wagers.push_back(twin);
                return;
            }
        })};
    const FloorResult result = playWith(daemon);
    CHECK(says(result, "wagers in this run"));
    CHECK(says(result, "by the books"));
}

TEST_CASE("a fixed award that is a cent too low is detected")
{
    InProcessDaemon daemon{kSmall, changedDecisions([once = Once{5}](Decision& decided) mutable {
                               if (!decided.details || decided.details->awards.empty()) return;
                               if (once.isNow()) decided.details->awards[0].amount -= kCent;
                           })};
    const FloorResult result = playWith(daemon);
    CHECK(result.view.books.mistakeCount() == 1);
    CHECK(says(result, "pays $"));
}

TEST_CASE("a jackpot that is a cent too low is detected")
{
    InProcessDaemon daemon{kSmall, {.onDelivery = [once = Once{2}](Delivery& delivery) mutable {
                               for (linkproto::Outgoing& each : delivery.outgoing) {
                                   auto* settlement = std::get_if<Settlement>(&each.reply);
                                   if (!settlement || settlement->details.awards.empty()) continue;
                                   if (once.isNow()) settlement->details.awards[0].amount -= kCent;
                               }
                           }}};
    const FloorResult result = daemon.play({"--rounds", "20", "--force-jackpots", "8"});
    INFO(words(result));
    CHECK(says(result, "is awarded $"));
}

TEST_CASE("a missing award is detected")
{
    InProcessDaemon daemon{
        kSmall, changedDecisions([once = Once{5}](Decision& decided) mutable {
            if (decided.details && !decided.details->awards.empty() && once.isNow())
                decided.details->awards.pop_back();
        })};
    const FloorResult result = playWith(daemon);
    CHECK(says(result, "no award was reported"));
}

TEST_CASE("a displayed amount that is a cent too low is detected")
{
    InProcessDaemon daemon{kSmall, changedDecisions([once = Once{200}](Decision& decided) mutable {
                               if (once.isNow()) --decided.displayedCents;
                           })};
    const FloorResult result = playWith(daemon);
    CHECK(says(result, "it shows $"));
}

TEST_CASE("a round that is refused without a reason is detected")
{
    InProcessDaemon daemon{kSmall, heardRounds([once = Once{30}](rules::OpenRound& open) mutable {
                               if (!open.wagers.empty() && once.isNow())
                                   open.wagers.front().baseWager = false;
                           })};
    CHECK(says(playWith(daemon), "was refused: no_base_wager"));
}

TEST_CASE("a receipt that is not signed by the journal's key is detected")
{
    InProcessDaemon daemon{kSmall, {.onDelivery = [once = Once{40}](Delivery& delivery) mutable {
                               const bool isDecision =
                                   std::ranges::any_of(delivery.outgoing, [](const auto& each) {
                                       return std::holds_alternative<Decision>(each.reply);
                                   });
                               if (!isDecision || !once.isNow()) return;
                               std::string& note = delivery.receipt.note;
                               char& last = note[note.size() - 10];
                               last = last == 'A' ? 'B' : 'A';
                           }}};
    CHECK(says(playWith(daemon), "is not signed"));
}

TEST_CASE("receipts that shrink are detected")
{
    InProcessDaemon daemon{
        kSmall, {.onDelivery = [once = Once{60}, old = Receipt{}](Delivery& delivery) mutable {
            const bool isDecision = std::ranges::any_of(delivery.outgoing, [](const auto& each) {
                return std::holds_alternative<Decision>(each.reply);
            });
            if (old.size == 0 && delivery.receipt.size > 20) old = delivery.receipt;
            if (isDecision && once.isNow()) delivery.receipt = old;
        }}};
    const FloorResult result = playWith(daemon);
    CHECK(says(result, "came after one for"));
    CHECK(says(result, "came with a decision in record"));
}

TEST_CASE("a record number that two commands get is detected")
{
    InProcessDaemon daemon{kSmall, changedDecisions([once = Once{100}](Decision& decided) mutable {
                               if (once.isNow()) decided.record -= 1;
                           })};
    CHECK_FALSE(agrees(playWith(daemon)));
}

TEST_CASE("a daemon that does not check the tables' wager counts is detected")
{
    InProcessDaemon daemon{
        {.sevens = 2, .holdem = 1}, {.ignores = [](const Incoming& incoming) {
            return std::holds_alternative<linkproto::WagerCountReport>(incoming.what);
        }}};
    FloorResult result =
        daemon.play({"--rounds", "10", "--wrong-count", "100", "--seed", "3", "--patience", "1"});
    INFO(words(result));
    REQUIRE(result.view.injected.wrongCounts > 0);
    CHECK(says(result, "was not suspended"));
}

TEST_CASE("a journal key other than the given one is detected")
{
    InProcessDaemon daemon{{.sevens = 2, .holdem = 0}};
    const auto other = storage::Verifier::make("house.example/jackpot",
                                               storage::PrivateKey::generate().publicKey());
    const FloorResult result = daemon.play({"--rounds", "2", "--key", other->format()});
    INFO(words(result));
    CHECK(says(result, "the Welcome names the key"));
    CHECK(says(result, "is not signed"));
}

}  // namespace jackpot::floorsim
