#include "rules/win_update.h"

#include <algorithm>
#include <tuple>

#include "rules/awards.h"
#include "rules/holds.h"
#include "rules/timeline.h"

namespace jackpot::rules {
namespace {

ClaimState stateOf(const Win& win)
{
    if (win.hold != 0) return ClaimState::Held;
    return win.due ? ClaimState::Due : ClaimState::Locked;
}

std::string roundText(const Context& context, const Win& win)
{
    return "table " + context.state.tables[win.table].config.id + ", round " +
           std::to_string(win.round);
}

}  // namespace

void tellClaims(Context& context, const Win& win, ClaimState claimState)
{
    const Round& round = *context.state.tables[win.table].findRound(win.round);
    for (int seat = kMaxSeats; seat >= 1; --seat)
        if (round.seat(seat).claims)
            context.out.claims.push_back(
                {win.table, round.number, seat, round.seat(seat).tier, claimState});
}

void planNextLook(Pool& pool)
{
    pool.nextLookMs = Pool::kNever;
    for (const Win& win : pool.wins) pool.nextLookMs = std::min(pool.nextLookMs, pool.lookMs(win));
}

void makeFinal(Context& context, PlaceKey place)
{
    Pool& pool = context.pool();
    std::vector<PlaceKey> left{place};
    for (const Win& win : pool.wins) {
        if (win.place != place) continue;
        left.push_back({win.order, 0, 0});
        tellClaims(context, win, ClaimState::Final);
        Table& table = context.state.tables[win.table];
        if (!table.lastFinal || table.lastFinal->arrivedMs <= win.arrivedMs)
            table.lastFinal = {win.arrivedMs, win.latestPressMs()};
        table.findRound(win.round)->final = true;
        table.dropIfDone(win.round);
    }
    std::erase_if(pool.wins, [&](const Win& win) { return win.place == place; });
    for (const PlaceKey& key : left) dropPlaceIfUnneeded(pool, key);
}

void WinUpdate::confirm(Table& table, std::int64_t pressedAgoMs)
{
    Round& round = table.current;
    const bool impossible = pressedAgoMs > context_.now - round.openedMs;
    round.confirmed = true;
    Win& win = pool_.wins.emplace_back();
    win.table = context_.indexOf(table);
    win.round = round.number;
    win.order = context_.state.confirmations++;
    win.arrivedMs = context_.now;
    win.pressedMs = impossible ? round.openedMs : context_.now - pressedAgoMs;
    win.impossible = impossible;
    win.place = {win.order, 0, 0};
    addPlace(pool_, win.order);
    change(win.place);

    holdTogether(win);
    if (win.hold != 0)
        context_.notify(NoticeKind::Held, context_.rule("BJ 14.27.4", "UTH 15.2.13"),
                        roundText(context_, win) + " waits for Surveillance's ruling");
    if (comesLate(context_.state, *context_.out.pool, win))
        context_.notify(NoticeKind::LatePress, context_.rule("BJ 14.27.4", "UTH 15.2.13"),
                        roundText(context_, win) +
                            " may have been pressed before, or at the time of, a win that is "
                            "final");
    if (win.hold == 0 && context_.game() == Game::UltimateTexasHoldem)
        makeDue(win);
    else if (win.hold == 0)
        tellClaims(context_, win, ClaimState::Locked);
}

void WinUpdate::holdTogether(Win& newest)
{
    const std::int64_t windowMs = pool_.config.windowMs();
    std::vector<PlaceKey> groups;
    for (const Win& win : pool_.wins)
        if (win.table != newest.table &&
            mayTieOrPrecede(win.latestPressMs(), newest.pressedMs, windowMs))
            groups.push_back(win.place);
    newest.holdsItself = newest.impossible;
    if (groups.empty() && !newest.impossible) return;

    const std::uint64_t number = newest.order + 1;
    std::vector<std::uint64_t> joined{number};
    for (Win& win : pool_.wins) {
        if (std::ranges::find(groups, win.place) == groups.end()) continue;
        if (win.hold != 0) joined.push_back(win.hold);
        hold(win, number);
    }
    for (Win& win : pool_.wins)
        if (win.hold != 0 && std::ranges::find(joined, win.hold) != joined.end()) win.hold = number;
    hold(newest, number);
}

void WinUpdate::hold(Win& win, std::uint64_t number)
{
    const bool already = win.hold != 0;
    if (win.due) {
        change(win.place);
        win.due = false;
    }
    win.hold = number;
    if (!already) tellClaims(context_, win, ClaimState::Held);
}

void WinUpdate::roundChanged(Table& table, Round& round)
{
    if (!round.hasClaims()) return remove(table, round);
    const Win& win = *findWin(pool_, context_.indexOf(table), round.number);
    change(win.place);
    tellClaims(context_, win, stateOf(win));
}

void WinUpdate::remove(Table& table, Round& round)
{
    const auto win = pool_.wins.begin() +
                     (findWin(pool_, context_.indexOf(table), round.number) - pool_.wins.data());
    const Win removed = *win;
    change(removed.place);
    pool_.wins.erase(win);
    round.confirmed = false;
    table.dropIfDone(round.number);
    dropPlaceIfUnneeded(pool_, removed.place);
    dropPlaceIfUnneeded(pool_, {removed.order, 0, 0});
    releaseIfNothingToRule(removed.hold);
}

// A void or a correction has left the hold with wins of one table only, and none that holds itself.
void WinUpdate::releaseIfNothingToRule(std::uint64_t number)
{
    if (number == 0) return;
    const Win* one = nullptr;
    for (const Win& win : pool_.wins) {
        if (win.hold != number) continue;
        if (win.holdsItself || (one && one->table != win.table)) return;
        one = &win;
    }
    for (Win& win : pool_.wins) {
        if (win.hold != number) continue;
        win.hold = 0;
        if (pool_.lookMs(win) <= context_.now)
            endWait(win);
        else
            tellClaims(context_, win, ClaimState::Locked);
    }
}

void WinUpdate::endWait(Win& win)
{
    if (context_.game() == Game::BlazingSevens &&
        anOfflineTableMayTie(context_.state, *context_.out.pool, win.table)) {
        win.holdsItself = true;
        hold(win, win.order + 1);
        context_.notify(NoticeKind::Held, "BJ 14.27.4",
                        roundText(context_, win) +
                            " waits for Surveillance's ruling: another table is offline");
    } else {
        makeDue(win);
    }
}

void WinUpdate::makeDue(Win& win)
{
    change(win.place);
    win.due = true;
    tellClaims(context_, win, ClaimState::Due);
}

void WinUpdate::rule(const std::vector<std::vector<RoundRef>>& order)
{
    ++pool_.rulings;
    std::vector<PlaceKey> left;
    PlaceKey former;
    for (std::size_t i = 0; i < order.size(); ++i) {
        std::vector<Win*> group;
        for (const RoundRef& ref : order[i])
            group.push_back(findWin(pool_, *context_.state.findTable(ref.table), ref.round));
        const std::uint64_t arrival = (*std::ranges::min_element(group, {}, &Win::order))->order;
        const PlaceKey place =
            i == 0 || arrival > former.arrival
                ? PlaceKey{arrival, 0, 0}
                : PlaceKey{former.arrival, pool_.rulings, static_cast<std::uint32_t>(i)};
        former = place;
        if (place.ruling != 0) insertMovedPlace(pool_, place);
        for (Win* win : group) {
            change(win->place);
            left.push_back(win->place);
            win->place = place;
            win->hold = 0;
            win->holdsItself = false;
            makeDue(*win);
        }
    }
    for (const PlaceKey& key : left) dropPlaceIfUnneeded(pool_, key);
}

// From here on the place is settled again. Call before its group changes.
void WinUpdate::change(PlaceKey place)
{
    std::vector<Win*> group;
    for (Win& win : pool_.wins)
        if (win.place == place) group.push_back(&win);
    takeBack(place, group);
    changed_.push_back(place);
}

// Takes the awards of a place back, remembering those that were due.
void WinUpdate::takeBack(PlaceKey key, Group group)
{
    for (Win* win : group) {
        Table& table = context_.state.tables[win->table];
        for (const WinAward& award : win->awards) {
            if (win->due)
                before_[{win->table, win->round, award.seat, award.tier}] = {
                    key, stepOf(pool_.payTable, award.tier), win->arrivedMs, award.amount};
            players_ -= award.amount;
            if (AwardRecord* record = findAward(table, win->round, award.seat, award.tier))
                record->state = AwardRecord::State::Withdrawn;
        }
        win->awards.clear();
    }
    const auto place = findPlace(pool_, key);
    if (place == pool_.places.end()) return;
    fromPool_ -= place->paid;
    place->paid = Money{};
}

void WinUpdate::finish()
{
    settleAgain();
    PoolLedger ledger = context_.ledger();
    ledger.changeAwards(players_, fromPool_);
    ledger.resetTo(pool_.places.empty() ? pool_.base
                                        : pool_.places.back().after(pool_.config.minimum));
    withdrawOthers();
    for (const PlaceKey& place : paid_) makeFinal(context_, place);
    planNextLook(pool_);
}

void WinUpdate::settleAgain()
{
    if (changed_.empty()) return;
    std::ranges::sort(changed_);
    const PlaceKey first = changed_.front();
    std::vector<Win*> wins;
    for (Win& win : pool_.wins)
        if (win.place >= first) wins.push_back(&win);
    const auto& tables = context_.state.tables;
    std::ranges::sort(wins, [&tables](const Win* a, const Win* b) {
        return std::tie(a->place, a->arrivedMs, tables[a->table].config.id) <
               std::tie(b->place, b->arrivedMs, tables[b->table].config.id);
    });

    const Money minimum = pool_.config.minimum;
    auto place = std::ranges::lower_bound(pool_.places, first, {}, &Place::key);
    Money meter = place == pool_.places.begin() ? pool_.base : std::prev(place)->after(minimum);
    context_.firstPlace = static_cast<std::size_t>(place - pool_.places.begin());
    for (auto win = wins.begin(); place != pool_.places.end(); ++place) {
        const auto end = std::find_if(win, wins.end(),
                                      [&](const Win* each) { return each->place != place->key; });
        const Group group{win, end};
        win = end;
        const bool changed = std::ranges::binary_search(changed_, place->key);
        if (changed || meter != place->before) {
            if (!changed) takeBack(place->key, group);
            Settlement settlement =
                settle(context_.state, pool_, {group.begin(), group.end()}, meter);
            place->before = meter;
            place->paid = settlement.fromPool;
            fromPool_ += settlement.fromPool;
            publish(std::move(settlement), group);
        }
        meter = place->after(minimum);
    }
}

// The awards of one group as they come out now.
void WinUpdate::publish(Settlement&& settlement, Group group)
{
    for (Award& award : settlement.awards) {
        Win& win = **std::ranges::find(group, award.table, &Win::table);
        const WinAward& made =
            win.awards.emplace_back(WinAward{award.seat, award.tier, award.amount});
        players_ += award.amount;
        const AwardRecord& record =
            recordAward(context_.state.tables[win.table], win.round, made, win.due);
        if (!win.due) {
            context_.out.locked.push_back(std::move(award));
            continue;
        }
        const auto before = before_.find({award.table, award.round, award.seat, award.tier});
        if (before != before_.end() && before->second.amount == award.amount) {
            before->second.stands = true;
            continue;
        }
        if (isJackpot(award.tier) && record.payments > 0) paid_.push_back(win.place);
        context_.out.awards.push_back(std::move(award));
    }
}

void WinUpdate::withdrawOthers()
{
    std::erase_if(before_, [](const auto& each) { return each.second.stands; });
    std::vector<std::pair<AwardKey, Standing>> withdrawn{before_.begin(), before_.end()};
    const auto& tables = context_.state.tables;
    std::ranges::sort(withdrawn, [&tables](const auto& a, const auto& b) {
        const auto& [tableA, roundA, seatA, tierA] = a.first;
        const auto& [tableB, roundB, seatB, tierB] = b.first;
        return std::tie(a.second.place, a.second.step, a.second.arrivedMs, tables[tableA].config.id,
                        seatB) < std::tie(b.second.place, b.second.step, b.second.arrivedMs,
                                          tables[tableB].config.id, seatA);
    });
    for (const auto& [key, standing] : withdrawn) {
        const auto& [table, round, seat, tier] = key;
        context_.out.withdrawn.push_back({table, round, seat, tier, standing.amount});
        if (AwardRecord* record = findAward(context_.state.tables[table], round, seat, tier))
            record->withheld = false;
    }
}

}  // namespace jackpot::rules
