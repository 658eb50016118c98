#include "tools/floorsim/pool.h"

#include <algorithm>
#include <utility>

#include "rules/money.h"

namespace jackpot::floorsim {
namespace {

constexpr std::int64_t floorCents(std::int64_t units)
{
    return units >= 0 ? units / kUnitsPerCent : -((-units + kUnitsPerCent - 1) / kUnitsPerCent);
}

constexpr std::int64_t roundedUp(std::int64_t units, std::int64_t winners, std::int64_t to)
{
    return (units + winners * to - 1) / (winners * to) * to;
}

bool hasClaim(SeatSet standing, const Tiers& tiers)
{
    for (int seat = 1; seat <= kSeats; ++seat)
        if (has(standing, seat) && isJackpot(tiers[static_cast<std::size_t>(seat)])) return true;
    return false;
}

}  // namespace

std::string dollars(std::int64_t cents) { return rules::toRead(rules::Money::ofCents(cents)); }

std::string exactDollars(std::int64_t units)
{
    return rules::toExact(rules::Money::ofUnits(units));
}

PoolAccount::PoolAccount(PoolTerms terms, Mistake mistake)
    : terms_{std::move(terms)}, mistake_{std::move(mistake)}
{}

void PoolAccount::begin(std::int64_t shownCents, bool isOpening)
{
    hasBegun_ = true;
    meter_ = {shownCents * kUnitsPerCent, 0, kUnitsPerCent, false};
    if (isOpening) {
        meter_ = {terms_.opening, 0, 1, false};
        if (terms_.isAllOurs && shownCents != floorCents(terms_.opening))
            mistake_("pool " + terms_.id + ": nothing was played yet and it shows " +
                     dollars(shownCents) + ", not its opening amount " +
                     dollars(floorCents(terms_.opening)) +
                     ": is --config the daemon's configuration?");
    }
    base_ = meter_;
}

std::int64_t PoolAccount::shownCents() const { return floorCents(meter_.known + meter_.from); }

std::int64_t PoolAccount::paid() const
{
    std::int64_t cents = 0;
    for (const auto& [round, win] : wins_)
        for (const JackpotAward& each : win.awards) cents += each.cents;
    return cents * kUnitsPerCent;
}

PoolAccount::Meter PoolAccount::changed(Meter meter, std::int64_t units) const
{
    meter.known += units;
    // Whenever the displayed amount is below the minimum, it is reset to it (BJ 14.28).
    if (floorCents(meter.known + meter.from) * kUnitsPerCent < terms_.minimum)
        meter = {terms_.minimum, 0, 1, true};
    return meter;
}

void PoolAccount::change(std::int64_t units)
{
    meter_ = changed(meter_, units);
    if (open_ == 0) {
        entries_.clear();
        base_ = meter_;
        base_.wasReset = meter_.wasReset = false;
    } else if (units > 0 && entries_.back().arrival == 0 && entries_.back().units > 0) {
        entries_.back().units += units;
    } else {
        entries_.push_back({.units = units});
    }
}

void PoolAccount::takeWagers(const Movement& movement)
{
    // A former round of the table is kept only while its win is open.
    std::erase_if(contributions_, [&](const auto& each) {
        if (each.first.table != movement.round.table) return false;
        const auto win = wins_.find(each.first);
        return win == wins_.end() || win->second.isFinal;
    });
    Contributions& contributions = contributions_[movement.round];
    std::int64_t sum = 0;
    for (int seat = 1; seat <= kSeats; ++seat) {
        if (!has(movement.seats, seat)) continue;
        std::int64_t toMeter = terms_.toMeter();
        if (terms_.cap)
            toMeter = std::clamp<std::int64_t>(*terms_.cap - (meter_.known + meter_.from + sum), 0,
                                               toMeter);
        toReserve_ += terms_.toReserve() + terms_.toMeter() - toMeter;
        contributions[static_cast<std::size_t>(seat)] = toMeter;
        sum += toMeter;
    }
    contributed_ += sum;
    change(sum);
}

std::int64_t PoolAccount::returnWagers(const Movement& movement)
{
    std::int64_t sum = 0;
    const Contributions& contributions = contributions_[movement.round];
    for (int seat = 1; seat <= kSeats; ++seat)
        if (has(movement.seats, seat)) sum += contributions[static_cast<std::size_t>(seat)];
    returned_ += sum;
    return sum;
}

void PoolAccount::apply(const Movement& movement)
{
    if (!terms_.isAllOurs || !hasBegun_) return;
    lastRecord_ = movement.record;
    if (movement.kind == Movement::Kind::Ruling) {
        continueFrom(movement.shownCents.value());
        return;
    }
    applyChange(movement);
    if (movement.shownCents) compare(*movement.shownCents, movement.record);
}

void PoolAccount::applyChange(const Movement& movement)
{
    switch (movement.kind) {
        case Movement::Kind::Opened: return takeWagers(movement);
        case Movement::Kind::Changed: {
            if (const std::int64_t sum = returnWagers(movement); sum > 0) change(-sum);
            const auto win = wins_.find(movement.round);
            if (win == wins_.end() || win->second.isFinal || !win->second.isKnown) return;
            win->second.standing = movement.standing;
            win->second.tiers = movement.tiers;
            if (!hasClaim(movement.standing, movement.tiers)) {
                wins_.erase(win);
                --open_;
            }
            return recompute();
        }
        case Movement::Kind::Confirmed: {
            if (open_ == 0) {
                base_ = meter_;
                base_.wasReset = false;
            }
            ++open_;
            ++arrivals_;
            entries_.push_back({.arrival = arrivals_});
            wins_[movement.round] = {.standing = movement.standing,
                                     .tiers = movement.tiers,
                                     .arrival = arrivals_,
                                     .place = {arrivals_, 0, 0}};
            return recompute();
        }
        case Movement::Kind::Ruled: return rule(movement.order);
        case Movement::Kind::Final: return makeFinal(movement.round);
        case Movement::Kind::Ruling:
        case Movement::Kind::Nothing: return;
    }
}

// A group's place is that of the arrival of its earliest round, but not before the group before it.
void PoolAccount::rule(const Groups& order)
{
    ++rulings_;
    ++ordersOfRulings_;
    std::array<std::uint64_t, 3> before{};
    for (std::size_t i = 0; i < order.size(); ++i) {
        std::uint64_t arrival = ~std::uint64_t{0};
        for (const RoundKey& round : order[i])
            if (wins_.contains(round)) arrival = std::min(arrival, wins_[round].arrival);
        std::array<std::uint64_t, 3> place = {arrival, 0, 0};
        if (arrival < before[0]) place = {before[0], ordersOfRulings_, i};
        for (const RoundKey& round : order[i])
            if (wins_.contains(round)) wins_[round].place = place;
        before = place;
    }
    recompute();
}

// The win and those of its group never change again: their money is a change of its own.
void PoolAccount::makeFinal(const RoundKey& round)
{
    const auto found = wins_.find(round);
    if (found == wins_.end() || found->second.isFinal || !found->second.isKnown) return;
    const auto place = found->second.place;
    std::int64_t taken = 0;
    for (auto& [key, win] : wins_) {
        if (win.place != place || win.isFinal || !win.isKnown) continue;
        win.isFinal = true;
        taken += win.taken;
        --open_;
    }
    for (Entry& entry : entries_)
        if (entry.arrival == place[0]) entry.finals += taken;
    forgetBefore();
}

// Moves the base forward to the earliest place that an open win has or had.
void PoolAccount::forgetBefore()
{
    std::uint64_t first = ~std::uint64_t{0};
    for (const auto& [key, win] : wins_)
        if (!win.isFinal && win.isKnown) first = std::min({first, win.arrival, win.place[0]});
    std::size_t count = 0;
    for (; count < entries_.size(); ++count) {
        const Entry& entry = entries_[count];
        if (entry.arrival >= first && entry.arrival != 0) break;
        if (entry.units != 0) base_ = changed(base_, entry.units);
        if (entry.finals != 0) base_ = changed(base_, -entry.finals);
    }
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(count));
    if (open_ == 0) base_.wasReset = meter_.wasReset = false;
}

std::vector<std::vector<RoundKey>> PoolAccount::groupsAt(std::uint64_t arrival) const
{
    std::map<std::array<std::uint64_t, 3>, std::vector<RoundKey>> groups;
    if (arrival != 0)
        for (const auto& [key, win] : wins_)
            if (win.place[0] == arrival && !win.isFinal && win.isKnown)
                groups[win.place].push_back(key);
    std::vector<std::vector<RoundKey>> all;
    for (auto& [place, group] : groups) all.push_back(std::move(group));
    return all;
}

void PoolAccount::recompute()
{
    Meter meter = base_;
    for (const Entry& entry : entries_) {
        if (entry.units != 0) meter = changed(meter, entry.units);
        for (const auto& group : groupsAt(entry.arrival)) meter = settle(group, meter);
        if (entry.finals != 0) meter = changed(meter, -entry.finals);
    }
    meter_ = meter;
    if (open_ == 0) {
        entries_.clear();
        base_ = meter_;
        base_.wasReset = meter_.wasReset = false;
    }
}

void PoolAccount::award(const std::vector<RoundKey>& group, bool (*pays)(Tier), Tier tier,
                        std::int64_t units)
{
    for (const RoundKey& key : group) {
        Win& win = wins_[key];
        for (int seat = kSeats; seat >= 1; --seat) {
            const Tier own = win.tiers[static_cast<std::size_t>(seat)];
            if (has(win.standing, seat) && pays(own))
                win.awards.push_back(
                    {seat, tier == Tier::Bonus ? tier : own, units / kUnitsPerCent});
        }
    }
}

PoolAccount::Meter PoolAccount::settle(const std::vector<RoundKey>& group, Meter meter)
{
    std::int64_t tenths = 0;
    std::int64_t alls = 0;
    for (const RoundKey& key : group) {
        Win& win = wins_[key];
        win.awards.clear();
        win.taken = 0;
        std::int64_t bonus = 0;
        for (int seat = 1; seat <= kSeats; ++seat) {
            if (!has(win.standing, seat)) continue;
            const Tier tier = win.tiers[static_cast<std::size_t>(seat)];
            if (isTenth(tier)) ++tenths;
            if (isAll(tier)) ++alls;
            if (tier == Tier::RoyalFlush) bonus = std::max(bonus, terms_.bonusRoyal);
            if (tier == Tier::StraightFlush) bonus = std::max(bonus, terms_.bonusStraight);
        }
        if (bonus > 0)
            award(
                {key}, [](Tier tier) { return !isJackpot(tier); }, Tier::Bonus, bonus);
    }
    const bool isSevens = terms_.game == Game::BlazingSevens;
    if (tenths > 0) {
        std::int64_t rest = floorCents(meter.known + meter.from) * kUnitsPerCent;
        std::int64_t aggregate = 0;
        for (std::int64_t i = 0; i < tenths; ++i) {
            aggregate += rest / 10;
            rest -= rest / 10;
        }
        const std::int64_t least = isSevens ? terms_.minimum / 10 : terms_.guaranteeStraight;
        award(group, isTenth, Tier::None,
              std::max(roundedUp(aggregate, tenths, terms_.payoutUnit),
                       roundedUp(least, 1, terms_.payoutUnit)));
        wins_[group.front()].taken += aggregate;
        meter = changed(meter, -aggregate);
    }
    if (alls > 0) {
        const std::int64_t aggregate = floorCents(meter.known + meter.from) * kUnitsPerCent;
        const std::int64_t least = isSevens ? terms_.minimum : terms_.guaranteeRoyal;
        award(group, isAll, Tier::None,
              std::max(roundedUp(aggregate, alls, terms_.payoutUnit),
                       roundedUp(least, 1, terms_.payoutUnit)));
        wins_[group.front()].taken += aggregate;
        meter = changed(meter, -aggregate);
    }
    return meter;
}

void PoolAccount::compare(std::int64_t shownCents, std::uint64_t record)
{
    ++compared_;
    const std::int64_t shown = shownCents * kUnitsPerCent;
    if (meter_.known + meter_.from < shown + kUnitsPerCent && shown < meter_.known + meter_.to) {
        const std::int64_t from = shown - meter_.known;
        meter_.from = std::max(meter_.from, from);
        meter_.to = std::min(meter_.to, from + kUnitsPerCent);
        if (meter_.wasReset) return;
        base_.from = meter_.from;
        base_.to = meter_.to;
        return;
    }
    mistake_("pool " + terms_.id + ": after record " + std::to_string(record) + " it shows " +
             dollars(shownCents) + ", and by the books " + exactDollars(units()) +
             (meter_.to - meter_.from > 1 ? " and less than a cent" : ""));
    continueFrom(shownCents);
}

// Continues from the daemon's amount, so that one difference is reported once. The open wins are
// not computed again.
void PoolAccount::continueFrom(std::int64_t shownCents)
{
    meter_ = {shownCents * kUnitsPerCent, 0, kUnitsPerCent, false};
    base_ = meter_;
    entries_.clear();
    open_ = 0;
    for (auto& [key, win] : wins_)
        if (!win.isFinal) win.isKnown = false;
}

void PoolAccount::end(std::int64_t shownCents)
{
    if (isChecked()) compare(shownCents, lastRecord_);
}

}  // namespace jackpot::floorsim
