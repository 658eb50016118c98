// Daemons that are wrong in one place, once: the books must find each out.
#include <doctest/doctest.h>

#include <atomic>

#include "tests/tools/floorsim/in_process_daemon.h"

namespace jackpot::floorsim {
namespace {

namespace v1 = linkproto::v1;
using linkproto::CommandReceived;
using linkproto::Decided;
using linkproto::Delivery;
using linkproto::Incoming;

// The nth time, and never again.
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
            if (auto* decided = std::get_if<Decided>(&each.what)) change(*decided);
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

TEST_CASE("a wager that was dropped is found out")
{
    InProcessDaemon daemon{kSmall, heardRounds([once = Once{50}](rules::OpenRound& open) mutable {
                               if (open.wagers.size() > 1 && once.isNow()) open.wagers.pop_back();
                           })};
    const FloorResult result = playWith(daemon);
    CHECK(says(result, "wagers in this run"));
    CHECK(says(result, "by the books"));
}

TEST_CASE("a wager that was counted twice is found out")
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

TEST_CASE("a fixed award of a cent less is found out")
{
    InProcessDaemon daemon{kSmall, changedDecisions([once = Once{5}](Decided& decided) mutable {
                               if (!decided.details || decided.details->awards_size() == 0) return;
                               v1::Award& award = *decided.details->mutable_awards(0);
                               if (once.isNow()) award.set_amount_cents(award.amount_cents() - 1);
                           })};
    const FloorResult result = playWith(daemon);
    CHECK(result.view.books.mistakeCount() == 1);
    CHECK(says(result, "pays $"));
}

TEST_CASE("a jackpot of a cent less is found out")
{
    InProcessDaemon daemon{kSmall, {.onDelivery = [once = Once{2}](Delivery& delivery) mutable {
                               for (linkproto::Outgoing& each : delivery.outgoing) {
                                   auto* message = std::get_if<v1::ToTable>(&each.what);
                                   if (!message || message->settlement().awards_size() == 0)
                                       continue;
                                   v1::Award& award =
                                       *message->mutable_settlement()->mutable_awards(0);
                                   if (once.isNow())
                                       award.set_amount_cents(award.amount_cents() - 1);
                               }
                           }}};
    const FloorResult result = daemon.play({"--rounds", "20", "--force-jackpots", "8"});
    INFO(words(result));
    CHECK(says(result, "is awarded $"));
}

TEST_CASE("an award that is left out is found out")
{
    InProcessDaemon daemon{
        kSmall, changedDecisions([once = Once{5}](Decided& decided) mutable {
            if (decided.details && decided.details->awards_size() > 0 && once.isNow())
                decided.details->mutable_awards()->RemoveLast();
        })};
    const FloorResult result = playWith(daemon);
    CHECK(says(result, "no award was reported"));
}

TEST_CASE("an amount that is a cent lower is found out")
{
    InProcessDaemon daemon{kSmall, changedDecisions([once = Once{200}](Decided& decided) mutable {
                               if (once.isNow()) --decided.displayedCents;
                           })};
    const FloorResult result = playWith(daemon);
    CHECK(says(result, "it shows $"));
}

TEST_CASE("a round that was refused for no reason is found out")
{
    InProcessDaemon daemon{kSmall, heardRounds([once = Once{30}](rules::OpenRound& open) mutable {
                               if (!open.wagers.empty() && once.isNow())
                                   open.wagers.front().baseWager = false;
                           })};
    CHECK(says(playWith(daemon), "was refused: no_base_wager"));
}

TEST_CASE("a receipt that is not signed by the journal's key is found out")
{
    InProcessDaemon daemon{kSmall, {.onDelivery = [once = Once{40}](Delivery& delivery) mutable {
                               const bool isDecision =
                                   std::ranges::any_of(delivery.outgoing, [](const auto& each) {
                                       return std::holds_alternative<Decided>(each.what);
                                   });
                               if (!isDecision || !once.isNow()) return;
                               std::string& note = *delivery.receipt.mutable_note();
                               char& last = note[note.size() - 10];
                               last = last == 'A' ? 'B' : 'A';
                           }}};
    CHECK(says(playWith(daemon), "is not signed"));
}

TEST_CASE("receipts that shrink are found out")
{
    InProcessDaemon daemon{
        kSmall, {.onDelivery = [once = Once{60}, old = v1::Receipt{}](Delivery& delivery) mutable {
            const bool isDecision = std::ranges::any_of(delivery.outgoing, [](const auto& each) {
                return std::holds_alternative<Decided>(each.what);
            });
            if (old.size() == 0 && delivery.receipt.size() > 20) old = delivery.receipt;
            if (isDecision && once.isNow()) delivery.receipt = old;
        }}};
    const FloorResult result = playWith(daemon);
    CHECK(says(result, "came after one for"));
    CHECK(says(result, "came with a decision in record"));
}

TEST_CASE("a record that is given to two commands is found out")
{
    InProcessDaemon daemon{kSmall, changedDecisions([once = Once{100}](Decided& decided) mutable {
                               if (once.isNow()) decided.record -= 1;
                           })};
    CHECK_FALSE(agrees(playWith(daemon)));
}

TEST_CASE("a daemon that does not look at the tables' counts is found out")
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

TEST_CASE("another key than the one that was given is found out")
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
