#include "jackpotd/demo_tables.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "linkproto/client/table_link.h"
#include "storage/json_text.h"

namespace jackpot {
namespace {

using net::Reply;
using storage::JsonText;

constexpr std::chrono::milliseconds kDecisionPatience{3000};
constexpr std::size_t kMaxRemembered = 64;  // awards, and refunds

template <class T>
void remember(std::deque<T>& all, T one)
{
    all.push_back(std::move(one));
    if (all.size() > kMaxRemembered) all.pop_front();
}

link::Command onLink(const rules::OpenRound& open)
{
    link::OpenRound sent{.round = open.round};
    for (const rules::Wager& wager : open.wagers)
        sent.wagers.push_back({.seat = wager.seat, .playerCard = wager.playerCard});
    return sent;
}
link::Command onLink(const rules::ReportResult& result)
{
    link::ReportResult sent{.round = result.round, .board = result.board};
    for (const rules::Hand& hand : result.hands)
        sent.hands.push_back({.seat = hand.seat, .cards = hand.cards});
    return sent;
}
link::Command onLink(const rules::ConfirmJackpot& press)
{
    return link::ConfirmJackpot{.round = press.round};
}
link::Command onLink(const rules::VoidRound& voided)
{
    return link::VoidRound{.round = voided.round, .reason = voided.reason, .by = voided.by};
}

Reply notHere()
{
    return net::errorReply(404, "unknown_table", "the demo floor has no such table");
}

void textsField(JsonText& json, std::string_view name, const std::vector<std::string>& texts)
{
    json.key(name);
    json.beginArray();
    for (const std::string& each : texts) json.text(each);
    json.endArray();
}

void writePool(JsonText& json, const link::PoolNews& pool)
{
    json.key("pool");
    json.beginObject();
    json.textField("pool", pool.pool);
    json.numberField("displayed_cents", pool.displayedCents);
    json.boolField("open", pool.open);
    json.boolField("pending", pool.pending);
    json.boolField("held", pool.held);
    json.boolField("unavailable", pool.unavailable);
    json.endObject();
}

}  // namespace

class DemoFloor::Table {
public:
    Result<void> open(const link::Options& options, const Log& log)
    {
        // The link's thread may have something to tell before the link is here.
        const std::scoped_lock lock{mutex_};
        const std::string& id = options.table;
        auto link = link::TableLink::open(
            options,
            {.onOnline = [this](const link::TableState&) { hear(std::string{}); },
             .onOffline = [this](const std::string& why) { hear(why); },
             .onDecision = [this](const link::Decision& decision) { hear(decision); },
             .onSettlement = [this](const link::Settlement& told) { hear(told); },
             .onPool = [this](const link::PoolNews&) { hear(); },
             .onState = [this](const link::TableState&) { hearState(); },
             .onUnavailable = [this](std::optional<std::int64_t>) { hear(); },
             .onFault =
                 [&log, id](const std::string& fault, const std::string& detail) {
                     log.warning("the demo floor's table " + id + ": " + fault + ": " + detail);
                 }});
        if (!link) return Error{"the demo floor's table " + id + ": " + link.error().message};
        link_ = *std::move(link);
        return {};
    }

    Reply readTable(const std::vector<std::string>& floor)
    {
        std::unique_lock lock{mutex_};
        if (isStale_) refresh(lock, 0);
        return show(200, floor);
    }

    template <class Action>
    Reply perform(const Action& action, const std::vector<std::string>& floor)
    {
        std::unique_lock lock{mutex_};
        std::chrono::milliseconds ago{0};
        if constexpr (std::is_same_v<Action, rules::ConfirmJackpot>)
            ago = std::chrono::milliseconds{action.pressedAgoMs};
        const auto number = link_->send(onLink(action), ago);
        if (!number) return net::errorReply(503, "not_sent", number.error().message);
        const bool isOnline = link_->status().online;
        lock.unlock();
        const auto decision =
            link_->wait(*number, isOnline ? kDecisionPatience : std::chrono::milliseconds{0});
        lock.lock();
        if (decision && decision->refusal) {
            const link::Refusal& refusal = *decision->refusal;
            return net::errorReply(
                409, refusal.code,
                refusal.detail + (refusal.rule.empty() ? "" : " (" + refusal.rule + ")"));
        }
        if constexpr (std::is_same_v<Action, rules::ReportResult>) dealt_ = action;
        if (decision) refresh(lock, *number);
        return show(decision ? 200 : 202, floor);
    }

private:
    struct RememberedAward {
        link::Award award;
        bool isWithdrawn = false;
    };

    // ---- in the link's thread
    // ----------------------------------------------------------------------

    // The pool has changed: by this table, by others, or by people who voided a round of it.
    void hear()
    {
        const std::scoped_lock lock{mutex_};
        isStale_ = true;
    }
    void hear(const std::string& whyOffline)
    {
        const std::scoped_lock lock{mutex_};
        whyOffline_ = whyOffline;
        isStale_ = true;
    }
    void hear(const link::Decision& decision)
    {
        const std::scoped_lock lock{mutex_};
        for (const link::Award& gone : decision.withdrawn)
            for (RememberedAward& each : awards_)
                if (each.award.round == gone.round && each.award.seat == gone.seat &&
                    each.award.tier == gone.tier)
                    each.isWithdrawn = true;
        for (const link::Award& award : decision.awards) remember(awards_, {award});
        for (const link::Refund& refund : decision.refunds) remember(refunds_, refund);
        isStale_ = true;
    }
    void hear(const link::Settlement& settlement)
    {
        const std::scoped_lock lock{mutex_};
        for (const link::Award& award : settlement.awards) remember(awards_, {award});
        isStale_ = true;
    }
    void hearState()
    {
        {
            const std::scoped_lock lock{mutex_};
            ++statesHeard_;
        }
        changed_.notify_all();
    }

    // ---- for the desk
    // ------------------------------------------------------------------------------

    // What the daemon says of the table, that command included; without a link, what it said last.
    void refresh(std::unique_lock<std::mutex>& lock, std::uint64_t number)
    {
        if (!link_->status().online) return;
        isStale_ = false;
        const std::uint64_t before = statesHeard_;
        link_->query();
        changed_.wait_for(lock, kDecisionPatience, [&] {
            return statesHeard_ != before && link_->state().lastNumber >= number;
        });
    }

    Reply show(int status, const std::vector<std::string>& floor) const
    {
        const link::TableState state = link_->state();
        const link::Status link = link_->status();
        if (state.table.empty())
            return net::errorReply(503, "link_down",
                                   "the table has no link to the controller yet" +
                                       (whyOffline_.empty() ? "" : ": " + whyOffline_));
        Reply reply;
        reply.status = status;
        JsonText json{reply.body};
        json.beginObject();
        json.textField("table", state.table);
        json.textField("game", state.game);
        json.numberField("seats", state.seats);
        json.boolField("require_player_card", state.requirePlayerCard);
        json.numberField("wager_cents", state.wagerCents);
        textsField(json, "floor", floor);
        json.boolField("suspended", state.suspended);
        json.key("link");
        json.beginObject();
        json.boolField("online", link.online);
        json.boolField("takes_wagers", link.mayTakeWagers);
        json.numberField("undecided", static_cast<std::int64_t>(link.undecided));
        if (!link.online) json.textField("why", whyOffline_);
        if (!link.stoppedBy.empty()) json.textField("stopped_by", link.stoppedBy);
        json.endObject();
        writePool(json, state.pool);
        json.numberField("next_round", std::min(state.round.value_or(0), INT64_MAX - 1) + 1);
        if (state.round) writeRound(json, state);
        writeAwards(json, state);
        json.key("refunds");
        json.beginArray();
        for (const link::Refund& each : refunds_) {
            json.beginObject();
            json.numberField("round", each.round);
            json.numberField("seat", each.seat);
            json.numberField("cents", each.amountCents);
            json.endObject();
        }
        json.endArray();
        json.endObject();
        return reply;
    }

    void writeRound(JsonText& json, const link::TableState& state) const
    {
        json.key("round");
        json.beginObject();
        json.numberField("number", *state.round);
        json.boolField("result_in", state.resultIn);
        json.boolField("voided", state.voided);
        json.boolField("confirmed", state.confirmed);
        json.objectsField("wagered", state.wagered, [&](const link::Seat& seat) {
            json.numberField("seat", seat.seat);
            if (!seat.tier.empty()) json.textField("tier", seat.tier);
            if (seat.claims)
                json.textField("claim", !state.confirmed  ? "claimed"
                                        : state.pool.held ? "held"
                                                          : "pending");
        });
        // The cards are this side's: the daemon tells what they came to.
        if (dealt_.round == *state.round) {
            textsField(json, "board", dealt_.board);
            json.objectsField("hands", dealt_.hands, [&](const rules::Hand& hand) {
                json.numberField("seat", hand.seat);
                textsField(json, "cards", hand.cards);
            });
        }
        json.endObject();
    }

    // As they were told, which is the order of payment; then jackpots that are due from before this
    // side was started, or were settled without a link.
    void writeAwards(JsonText& json, const link::TableState& state) const
    {
        json.key("awards");
        json.beginArray();
        const auto write = [&](const link::Award& award, bool isWithdrawn) {
            json.beginObject();
            json.numberField("round", award.round);
            json.numberField("seat", award.seat);
            json.textField("tier", award.tier);
            json.numberField("cents", award.amountCents);
            json.textField("rule", award.rule);
            json.textField("arithmetic", award.arithmetic);
            json.boolField("withdrawn", isWithdrawn);
            json.endObject();
        };
        for (const RememberedAward& each : awards_) write(each.award, each.isWithdrawn);
        for (const link::DueAward& due : state.due)
            if (std::ranges::none_of(awards_, [&](const RememberedAward& each) {
                    return each.award.round == due.round && each.award.seat == due.seat &&
                           each.award.tier == due.tier;
                }))
                write({.round = due.round,
                       .seat = due.seat,
                       .tier = due.tier,
                       .amountCents = due.amountCents},
                      false);
        json.endArray();
    }

    std::mutex mutex_;  // what follows
    std::condition_variable changed_;
    std::uint64_t statesHeard_ = 0;
    bool isStale_ = false;  // something has happened since the state was asked for
    std::string whyOffline_;
    rules::ReportResult dealt_;  // last
    std::deque<RememberedAward> awards_;
    std::deque<link::Refund> refunds_;

    std::unique_ptr<link::TableLink> link_;  // its thread tells the above: it ends first
};

DemoFloor::DemoFloor(std::vector<std::string> names) : names_{std::move(names)} {}
DemoFloor::~DemoFloor() = default;

Result<std::unique_ptr<DemoFloor>> DemoFloor::open(const config::Config& config, std::uint16_t port,
                                                   const Log& log)
{
    const config::DemoConfig& demo = *config.demo;
    std::error_code failed;
    std::filesystem::create_directories(demo.outbox, failed);
    // Player cards are in there as they were read.
    if (!failed)
        std::filesystem::permissions(demo.outbox, std::filesystem::perms::owner_all, failed);
    if (failed) return Error{demo.outbox.string() + ": " + failed.message()};

    std::string host = config.link.listen.host;
    if (host == "0.0.0.0") host = "127.0.0.1";
    if (host == "::") host = "::1";
    std::unique_ptr<DemoFloor> floor{new DemoFloor{demo.tables}};
    std::string names;
    for (const std::string& id : demo.tables) {
        auto table = std::make_unique<Table>();
        const auto opened = table->open({.host = host,
                                         .port = port,
                                         .table = id,
                                         .certificate = demo.pki / "table" / (id + ".pem"),
                                         .key = demo.pki / "table" / (id + ".key"),
                                         .ca = demo.pki / "ca.pem",
                                         .outbox = demo.outbox / (id + ".outbox"),
                                         .software = "demo floor"},
                                        log);
        if (!opened) return opened.error();
        floor->tables_[id] = std::move(table);
        names += (names.empty() ? "" : ", ") + id;
    }
    log.warning("THIS IS A DEMO FLOOR: whoever is signed in at the desk deals at " + names +
                ". Remove the section [demo] before any money is played for");
    return floor;
}

Reply DemoFloor::readTable(const std::string& table)
{
    const auto at = tables_.find(table);
    return at == tables_.end() ? notHere() : at->second->readTable(names_);
}

Reply DemoFloor::perform(const std::string& table, const console::DealerAction& action)
{
    const auto at = tables_.find(table);
    if (at == tables_.end()) return notHere();
    return std::visit([&](const auto& done) { return at->second->perform(done, names_); }, action);
}

}  // namespace jackpot
