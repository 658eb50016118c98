#include "tools/floorsim/pool.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace jackpot::floorsim {
namespace {

constexpr std::int64_t kHoldemAll = 50'000'00 * kUnitsPerCent;  // UTH 15.2.9
constexpr std::int64_t kHoldemTenth = 5'000'00 * kUnitsPerCent;

constexpr std::int64_t floorCents(std::int64_t units)
{
    return units >= 0 ? units / kUnitsPerCent : -((-units + kUnitsPerCent - 1) / kUnitsPerCent);
}

constexpr std::int64_t roundedUp(std::int64_t units, std::int64_t winners, std::int64_t to)
{
    return (units + winners * to - 1) / (winners * to) * to;
}

}  // namespace

std::string dollars(std::int64_t cents) { return rules::toRead(rules::Money::ofCents(cents)); }

std::string exactDollars(std::int64_t units)
{
    return rules::toExact(rules::Money::ofUnits(units));
}

PoolAccount::PoolAccount(PoolTerms terms, std::size_t tables, Expect expect, Mistake mistake)
    : terms_{std::move(terms)},
      expect_{std::move(expect)},
      mistake_{std::move(mistake)},
      posted_(tables)
{}

void PoolAccount::begin(std::int64_t shownCents, bool isOpening, bool hasClaims)
{
    hasBegun_ = true;
    isUnknown_ = hasClaims;
    meter_ = {shownCents * kUnitsPerCent, 0, kUnitsPerCent, false};
    if (isOpening) {
        meter_ = {terms_.opening, 0, 1, false};
        if (terms_.isAllOurs && shownCents != floorCents(terms_.opening))
            mistake_("pool " + terms_.id + ": nothing was played yet and it shows " +
                     dollars(shownCents) + ", not its opening amount " +
                     dollars(floorCents(terms_.opening)) +
                     ": is --config the daemon's configuration?");
    }
    restart();
}

void PoolAccount::restart()
{
    base_ = meter_;
    base_.wasReset = meter_.wasReset = false;
    changes_.clear();
    settledTo_ = 0;
}

std::int64_t PoolAccount::shownCents() const { return floorCents(meter_.known + meter_.from); }

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
    if (claims_.empty()) return restart();
    // What only adds can be added up, unless a confirmation or settlement came in between.
    const bool isBoundary =
        changes_.size() == settledTo_ ||
        std::ranges::any_of(claims_, [&](const auto& c) { return c.moment == changes_.size(); });
    if (units > 0 && !isBoundary && changes_.back() > 0)
        changes_.back() += units;
    else
        changes_.push_back(units);
}

void PoolAccount::apply(const Movement& movement)
{
    if (!terms_.isAllOurs || !hasBegun_) return;
    lastRecord_ = movement.record;
    Posted& posted = posted_[movement.round.table];
    switch (movement.kind) {
        case Movement::Kind::Nothing: break;
        case Movement::Kind::Opened: {
            posted.round = movement.round.round;
            std::int64_t sum = 0;
            for (int seat = 1; seat <= kSeats; ++seat) {
                if (!has(movement.seats, seat)) continue;
                std::int64_t toMeter = terms_.toMeter();
                if (terms_.cap)
                    toMeter = std::clamp<std::int64_t>(
                        *terms_.cap - (meter_.known + meter_.from + sum), 0, toMeter);
                toReserve_ += terms_.toReserve() + terms_.toMeter() - toMeter;
                posted.toMeter[static_cast<std::size_t>(seat)] = toMeter;
                sum += toMeter;
            }
            contributed_ += sum;
            change(sum);
            break;
        }
        case Movement::Kind::Returned: {
            std::int64_t sum = 0;
            for (int seat = 1; seat <= kSeats; ++seat)
                if (has(movement.seats, seat))
                    sum += posted.toMeter[static_cast<std::size_t>(seat)];
            returned_ += sum;
            change(-sum);
            break;
        }
        case Movement::Kind::Confirmed:
            claims_.push_back({.round = movement.round,
                               .standing = movement.seats,
                               .tiers = movement.tiers,
                               .moment = changes_.size(),
                               .isHeld = held_.contains(movement.round)});
            if (terms_.game == Game::UltimateTexasHoldem || terms_.windowMs == 0)
                settle(claims_.size() - 1);
            break;
        case Movement::Kind::Settled: {
            const std::size_t claim = find(movement.round);
            if (claim == claims_.size()) return;  // found out before by the amount
            if (claims_[claim].isHeld) {
                // The ruling's order is not sent to tables: continue from the displayed amount.
                forget(claim);
                ++rulings_;
                isUnknown_ = std::ranges::any_of(claims_, &ConfirmedClaim::isHeld);
                meter_ = {*movement.shownCents * kUnitsPerCent, 0, kUnitsPerCent, false};
                restart();
                return;
            }
            settle(claim);
            break;
        }
    }
    if (movement.shownCents && !isUnknown_) compare(*movement.shownCents, movement.record);
}

std::size_t PoolAccount::find(const RoundKey& round) const
{
    const auto found = std::ranges::find(claims_, round, &ConfirmedClaim::round);
    return static_cast<std::size_t>(found - claims_.begin());
}

void PoolAccount::forget(std::size_t claim)
{
    claims_.erase(claims_.begin() + static_cast<std::ptrdiff_t>(claim));
    if (claims_.empty()) restart();
}

void PoolAccount::hold(const RoundKey& round)
{
    held_.insert(round);
    if (const std::size_t claim = find(round); claim < claims_.size()) claims_[claim].isHeld = true;
}

// A lone table's settlement, as if at its confirmed moment; then what changed since, on top.
void PoolAccount::settle(std::size_t index)
{
    const ConfirmedClaim claim = claims_[index];
    const std::size_t moment = std::max(claim.moment, settledTo_);
    Meter meter = base_;
    for (std::size_t i = 0; i < moment; ++i) meter = changed(meter, changes_[i]);

    const auto each = [&](auto&& pays, std::int64_t units) {
        for (int seat = kSeats; seat >= 1; --seat) {
            const Tier tier = claim.tiers[static_cast<std::size_t>(seat)];
            if (!has(claim.standing, seat) || !pays(tier)) continue;
            paid_ += units;
            if (!isUnknown_)
                expect_({claim.round, seat, isJackpot(tier) ? tier : Tier::Bonus,
                         units / kUnitsPerCent});
        }
    };
    std::int64_t bonus = 0;
    std::int64_t tenths = 0;
    std::int64_t alls = 0;
    for (int seat = 1; seat <= kSeats; ++seat) {
        if (!has(claim.standing, seat)) continue;
        const Tier tier = claim.tiers[static_cast<std::size_t>(seat)];
        if (isTenth(tier)) ++tenths;
        if (isAll(tier)) ++alls;
        if (tier == Tier::RoyalFlush) bonus = std::max(bonus, terms_.bonusRoyal);
        if (tier == Tier::StraightFlush) bonus = std::max(bonus, terms_.bonusStraight);
    }
    if (bonus > 0) each([](Tier tier) { return !isJackpot(tier); }, bonus);

    const bool isSevens = terms_.game == Game::BlazingSevens;
    std::vector<std::int64_t> taken;
    if (tenths > 0) {
        std::int64_t rest = floorCents(meter.known + meter.from) * kUnitsPerCent;
        std::int64_t aggregate = 0;
        for (std::int64_t i = 0; i < tenths; ++i) {
            aggregate += rest / 10;
            rest -= rest / 10;
        }
        const std::int64_t least = isSevens ? terms_.minimum / 10 : kHoldemTenth;
        each(isTenth, std::max(roundedUp(aggregate, tenths, terms_.payoutUnit),
                               roundedUp(least, 1, terms_.payoutUnit)));
        taken.push_back(-aggregate);
        meter = changed(meter, -aggregate);
    }
    if (alls > 0) {
        const std::int64_t aggregate = floorCents(meter.known + meter.from) * kUnitsPerCent;
        const std::int64_t least = isSevens ? terms_.minimum : kHoldemAll;
        each(isAll, std::max(roundedUp(aggregate, alls, terms_.payoutUnit),
                             roundedUp(least, 1, terms_.payoutUnit)));
        taken.push_back(-aggregate);
    }

    changes_.insert(changes_.begin() + static_cast<std::ptrdiff_t>(moment), taken.begin(),
                    taken.end());
    for (ConfirmedClaim& other : claims_)
        if (other.moment >= moment) other.moment += taken.size();
    settledTo_ = moment + taken.size();
    meter_ = base_;
    for (const std::int64_t units : changes_) meter_ = changed(meter_, units);
    forget(index);
}

bool PoolAccount::agrees(std::int64_t shownCents) const
{
    const std::int64_t shown = shownCents * kUnitsPerCent;
    return meter_.known + meter_.from < shown + kUnitsPerCent && shown < meter_.known + meter_.to;
}

void PoolAccount::narrow(std::int64_t shownCents)
{
    const std::int64_t from = shownCents * kUnitsPerCent - meter_.known;
    meter_.from = std::max(meter_.from, from);
    meter_.to = std::min(meter_.to, from + kUnitsPerCent);
    if (meter_.wasReset) return;
    base_.from = meter_.from;
    base_.to = meter_.to;
}

void PoolAccount::compare(std::int64_t shownCents, std::uint64_t record)
{
    ++compared_;
    if (agrees(shownCents)) return narrow(shownCents);
    // A window may have ended without our hearing of it yet, or ever: the amount tells.
    if (!claims_.empty()) {
        const auto before = std::tuple{meter_, base_, changes_, settledTo_, claims_, paid_};
        std::vector<JackpotAward> awards;
        const Expect expect =
            std::exchange(expect_, [&](const JackpotAward& award) { awards.push_back(award); });
        while (!claims_.empty() && !claims_.front().isHeld && !agrees(shownCents)) settle(0);
        expect_ = expect;
        if (agrees(shownCents)) {
            for (const JackpotAward& award : awards) expect_(award);
            return narrow(shownCents);
        }
        std::tie(meter_, base_, changes_, settledTo_, claims_, paid_) = before;
        if (std::ranges::any_of(claims_, &ConfirmedClaim::isHeld)) {
            isUnknown_ = true;  // a ruling has come
            return;
        }
    }
    mistake_("pool " + terms_.id + ": after record " + std::to_string(record) + " it shows " +
             dollars(shownCents) + ", and by the books " + exactDollars(units()) +
             (meter_.to - meter_.from > 1 ? " and less than a cent" : ""));
    // Continue from the daemon's amount, so that one difference is reported once.
    meter_ = {shownCents * kUnitsPerCent, 0, kUnitsPerCent, false};
    restart();
    for (ConfirmedClaim& claim : claims_) claim.moment = 0;
}

void PoolAccount::end(std::int64_t shownCents)
{
    if (isChecked()) compare(shownCents, lastRecord_);
}

}  // namespace jackpot::floorsim
