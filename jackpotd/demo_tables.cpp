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
#include "rules/paytable.h"
#include "storage/json_text.h"

namespace jackpot {
namespace {

using net::Reply;
using storage::JsonText;

constexpr std::chrono::milliseconds kReplyTimeout{3000};
constexpr std::size_t kMaxRemembered = 64;  // awards; refunds

template <class T>
void remember(std::deque<T>& all, T one)
{
    all.push_back(std::move(one));
    if (all.size() > kMaxRemembered) all.pop_front();
}

link::Command toLink(const rules::OpenRound& open)
{
    link::OpenRound sent{.round = open.round};
    for (const rules::Wager& wager : open.wagers)
        sent.wagers.push_back({.seat = wager.seat, .playerCard = wager.playerCard});
    return sent;
}
link::ReportResult resultToLink(const rules::ReportResult& result)
{
    link::ReportResult sent{.round = result.round, .board = result.board};
    for (const rules::Hand& hand : result.hands)
        sent.hands.push_back({.seat = hand.seat, .cards = hand.cards});
    return sent;
}
std::string firstOf(const rules::People& by) { return by.empty() ? std::string{} : by.front(); }

link::Command toLink(const rules::ReportResult& result) { return resultToLink(result); }
link::Command toLink(const rules::CorrectResult& correction)
{
    return link::CorrectResult{.result = resultToLink(correction.result),
                               .by = firstOf(correction.by)};
}
link::Command toLink(const rules::ConfirmJackpot& press)
{
    return link::ConfirmJackpot{.round = press.round};
}
link::Command toLink(const rules::CloseRound& closed)
{
    return link::CloseRound{.round = closed.round};
}
link::Command toLink(const rules::VoidRound& voided)
{
    // The link's grounds are the same ones, counted from 1; it has none that takes two people.
    return link::VoidRound{
        .round = voided.round,
        .ground = static_cast<link::VoidRoundGround>(static_cast<int>(voided.ground) + 1),
        .by = firstOf(voided.by),
        .reason = voided.reason};
}

bool isSameAward(const link::Award& one, const link::Award& other)
{
    return one.round == other.round && one.seat == other.seat && one.tier == other.tier;
}

bool has(const std::vector<link::Award>& list, const link::Award& award)
{
    return std::ranges::any_of(list, [&](const link::Award& each) {
        return isSameAward(each, award) && each.amountCents == award.amountCents;
    });
}

// The daemon lists the jackpots that are due without a payment; of fixed awards it lists none.
bool isPaid(const link::TableState& state, const link::Award& award)
{
    const auto tier = rules::tierOfId(award.tier);
    return tier && rules::isJackpot(*tier) && !has(state.due, award);
}

Reply unknownTable()
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
    json.boolField("locked", pool.locked);
    json.boolField("held", pool.held);
    json.boolField("unavailable", pool.unavailable);
    json.endObject();
}

}  // namespace

class DemoTables::Table {
public:
    Result<void> open(const link::Options& options, const Log& log)
    {
        // The link's thread may call before link_ is set.
        const std::scoped_lock lock{mutex_};
        const std::string& id = options.table;
        auto link = link::TableLink::open(
            options,
            {.onOnline = [this](const link::TableState&) { onOnlineChange({}); },
             .onOffline = [this](const std::string& reason) { onOnlineChange(reason); },
             .onDecision = [this](const link::Decision& decision) { onDecision(decision); },
             .onSettlement =
                 [this](const link::Settlement& settlement) { onSettlement(settlement); },
             .onPool = [this](const link::PoolNews&) { onChange(); },
             .onState = [this](const link::TableState&) { onState(); },
             .onUnavailable = [this](std::optional<std::int64_t>) { onChange(); },
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
        const auto number = link_->send(toLink(action), ago);
        if (!number) return net::errorReply(503, "not_sent", number.error().message);
        const bool isOnline = link_->status().online;
        lock.unlock();
        const auto decision =
            link_->wait(*number, isOnline ? kReplyTimeout : std::chrono::milliseconds{0});
        lock.lock();
        if (decision && decision->refusal) {
            const link::Refusal& refusal = *decision->refusal;
            return net::errorReply(
                409, refusal.code,
                refusal.detail + (refusal.rule.empty() ? "" : " (" + refusal.rule + ")"));
        }
        if constexpr (std::is_same_v<Action, rules::ReportResult>) dealt_ = action;
        if constexpr (std::is_same_v<Action, rules::CorrectResult>) dealt_ = action.result;
        if (decision) refresh(lock, *number);
        return show(decision ? 200 : 202, floor);
    }

private:
    enum class State : std::uint8_t { Locked, Due, Withdrawn };
    struct RememberedAward {
        link::Award award;
        State state = State::Due;
    };

    // ---- in the link's thread

    // This table, another table, or people at the desk have changed the pool.
    void onChange()
    {
        const std::scoped_lock lock{mutex_};
        isStale_ = true;
    }
    void onOnlineChange(const std::string& whyOffline)
    {
        const std::scoped_lock lock{mutex_};
        whyOffline_ = whyOffline;
        isStale_ = true;
    }
    void onDecision(const link::Decision& decision) { rememberAll(decision); }
    void onSettlement(const link::Settlement& settlement) { rememberAll(settlement); }
    // Of a decision or a settlement.
    template <class Outcome>
    void rememberAll(const Outcome& outcome)
    {
        const std::scoped_lock lock{mutex_};
        for (const link::Award& gone : outcome.withdrawn)
            for (RememberedAward& each : awards_)
                if (isSameAward(each.award, gone)) each.state = State::Withdrawn;
        const auto add = [&](const link::Award& award, State state) {
            std::erase_if(awards_, [&](const RememberedAward& each) {
                return each.state == State::Locked && isSameAward(each.award, award);
            });
            remember(awards_, {award, state});
        };
        for (const link::Award& award : outcome.awards) add(award, State::Due);
        for (const link::Award& award : outcome.locked) add(award, State::Locked);
        for (const link::Refund& refund : outcome.refunds) remember(refunds_, refund);
        isStale_ = true;
    }
    void onState()
    {
        {
            const std::scoped_lock lock{mutex_};
            ++statesReceived_;
        }
        changed_.notify_all();
    }

    // ---- in the desk's threads

    // Gets the table's state from the daemon, command `number` included. Without a link the last
    // state stays.
    void refresh(std::unique_lock<std::mutex>& lock, std::uint64_t number)
    {
        if (!link_->status().online) return;
        isStale_ = false;
        const std::uint64_t before = statesReceived_;
        link_->query();
        changed_.wait_for(lock, kReplyTimeout, [&] {
            return statesReceived_ != before && link_->state().lastNumber >= number;
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
        json.boolField("suspended_by_desk", state.suspendedByDesk);
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
        json.objectsField("claims", state.claims, [&](const link::Claim& claim) {
            json.numberField("round", claim.round);
            json.numberField("seat", claim.seat);
            json.textField("tier", claim.tier);
            json.textField("state", claim.state);
        });
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
        json.boolField("closed", state.closed);
        json.boolField("confirmed", state.confirmed);
        json.objectsField("wagered", state.wagered, [&](const link::Seat& seat) {
            json.numberField("seat", seat.seat);
            if (!seat.tier.empty()) json.textField("tier", seat.tier);
            for (const link::Claim& claim : state.claims)
                if (claim.round == *state.round && claim.seat == seat.seat)
                    json.textField("claim", claim.state);
        });
        // Only this side has the cards; the daemon has the result.
        if (dealt_.round == *state.round) {
            textsField(json, "board", dealt_.board);
            json.objectsField("hands", dealt_.hands, [&](const rules::Hand& hand) {
                json.numberField("seat", hand.seat);
                textsField(json, "cards", hand.cards);
            });
        }
        json.endObject();
    }

    // In the order in which they were received, which is the order of payment; then jackpots from
    // before this side started, or of a time when it had no link.
    void writeAwards(JsonText& json, const link::TableState& state) const
    {
        json.key("awards");
        json.beginArray();
        const auto write = [&](const link::Award& award, std::string_view awardState) {
            json.beginObject();
            json.numberField("round", award.round);
            json.numberField("seat", award.seat);
            json.textField("tier", award.tier);
            json.numberField("cents", award.amountCents);
            json.textField("rule", award.rule);
            json.textField("arithmetic", award.arithmetic);
            json.textField("player", award.player);
            json.textField("state", awardState);
            json.endObject();
        };
        for (const RememberedAward& each : awards_)
            if (each.state == State::Withdrawn)
                write(each.award, "withdrawn");
            else if (each.state == State::Due)
                write(each.award, has(state.withheld, each.award) ? "withheld"
                                  : isPaid(state, each.award)     ? "paid"
                                                                  : "due");
            else if (has(state.locked, each.award))
                write(each.award, "locked");
        const auto writeOthers = [&](const std::vector<link::Award>& list,
                                     std::string_view awardState) {
            for (const link::Award& award : list)
                if (std::ranges::none_of(awards_, [&](const RememberedAward& each) {
                        return each.state != State::Withdrawn && isSameAward(each.award, award) &&
                               each.award.amountCents == award.amountCents;
                    }))
                    write(award, awardState);
        };
        writeOthers(state.locked, "locked");
        writeOthers(state.due, "due");
        writeOthers(state.withheld, "withheld");
        json.endArray();
    }

    std::mutex mutex_;  // protects the members up to link_
    std::condition_variable changed_;
    std::uint64_t statesReceived_ = 0;
    bool isStale_ = false;  // the table may have changed since the last state
    std::string whyOffline_;
    rules::ReportResult dealt_;  // the newest
    std::deque<RememberedAward> awards_;
    std::deque<link::Refund> refunds_;

    std::unique_ptr<link::TableLink> link_;  // last: its thread uses the members above
};

DemoTables::DemoTables(std::vector<std::string> names) : names_{std::move(names)} {}
DemoTables::~DemoTables() = default;

Result<std::unique_ptr<DemoTables>> DemoTables::open(const config::Config& config,
                                                     std::uint16_t port, const Log& log)
{
    const config::DemoConfig& demo = *config.demo;
    std::error_code failed;
    std::filesystem::create_directories(demo.outbox, failed);
    // The outboxes contain player cards in plain text.
    if (!failed)
        std::filesystem::permissions(demo.outbox, std::filesystem::perms::owner_all, failed);
    if (failed) return Error{demo.outbox.string() + ": " + failed.message()};

    std::string host = config.link.listen.host;
    if (host == "0.0.0.0") host = "127.0.0.1";
    if (host == "::") host = "::1";
    std::unique_ptr<DemoTables> floor{new DemoTables{demo.tables}};
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
    log.warning("THIS IS A DEMO FLOOR: everyone who is signed in at the desk can deal at " + names +
                ". Remove the section [demo] before anyone plays for money");
    return floor;
}

Reply DemoTables::readTable(const std::string& table)
{
    const auto at = tables_.find(table);
    return at == tables_.end() ? unknownTable() : at->second->readTable(names_);
}

Reply DemoTables::perform(const std::string& table, const console::DealerAction& action)
{
    const auto at = tables_.find(table);
    if (at == tables_.end()) return unknownTable();
    return std::visit([&](const auto& done) { return at->second->perform(done, names_); }, action);
}

}  // namespace jackpot
