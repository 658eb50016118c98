#include "rules/settlement.h"

#include <algorithm>

#include "rules/pool_ledger.h"

namespace jackpot::rules {
namespace {

struct Winner {
    std::uint32_t table = 0;
    Round* round = nullptr;
    int seat = 0;
    Tier tier = Tier::None;
};

class Settlement {
public:
    Settlement(State& state, std::uint32_t pool, Outcome& outcome)
        : state_{state}, pool_{state.pools[pool]}, ledger_{pool_, pool, outcome}, outcome_{outcome}
    {}

    void run(std::vector<std::size_t> group)
    {
        const std::size_t earliest = *std::ranges::min_element(group);
        orderForPayment(group);

        Money meter = pool_.confirmations[earliest].meter;
        for (const std::size_t i : group) payBonus(pool_.confirmations[i]);
        meter = payStep(Pays::Tenth, group, meter);
        meter = payStep(Pays::All, group, meter);
        replayFrom(earliest, meter);
        close(std::move(group));
    }

private:
    // By confirmation time, then table id; the seats of a table come from the highest down
    // (UTH 15.2.12).
    void orderForPayment(std::vector<std::size_t>& group) const
    {
        std::ranges::sort(group, [this](std::size_t a, std::size_t b) {
            const Confirmation& first = pool_.confirmations[a];
            const Confirmation& second = pool_.confirmations[b];
            if (first.arrivedMs != second.arrivedMs) return first.arrivedMs < second.arrivedMs;
            return state_.tables[first.table].config.id < state_.tables[second.table].config.id;
        });
    }

    [[nodiscard]] Round& roundOf(const Confirmation& confirmation) const
    {
        return *state_.tables[confirmation.table].findRound(confirmation.round);
    }

    // The house's money, to the seats that hold a valid wager and no claim; where both tiers were
    // hit, the higher amount, once (UTH 15.2.10).
    void payBonus(const Confirmation& confirmation)
    {
        if (!pool_.config.bonus) return;
        Round& round = roundOf(confirmation);
        const auto hit = [&round](Tier tier) {
            return std::ranges::any_of(
                round.seats, [tier](const Seat& seat) { return seat.claims && seat.tier == tier; });
        };
        Money bonus;
        if (hit(Tier::RoyalFlush)) bonus = pool_.config.bonus->royalFlush.value_or(Money{});
        if (hit(Tier::StraightFlush))
            bonus = std::max(bonus, pool_.config.bonus->straightFlush.value_or(Money{}));
        if (bonus == Money{}) return;

        for (int seat = kMaxSeats; seat >= 1; --seat) {
            if (!round.seat(seat).wagered || round.seat(seat).claims) continue;
            ledger_.payByHouse(bonus);
            round.due.push_back({round.number, seat, Tier::Bonus, bonus, DueAward::Status::Due});
            outcome_.awards.push_back({confirmation.table, round.number, seat, Tier::Bonus, bonus,
                                       "UTH 15.2.10.2",
                                       Arithmetic::plain(Arithmetic::Kind::Bonus, bonus)});
        }
    }

    // One tier for the whole group; returns the meter that it leaves.
    Money payStep(Pays pays, const std::vector<std::size_t>& group, Money meter)
    {
        const std::vector<Winner> winners = winnersOf(pays, group);
        if (winners.empty()) return meter;

        const auto count = static_cast<std::int64_t>(winners.size());
        const Money displayed = meter.roundedDownToCent();
        const Money aggregate =
            pays == Pays::Tenth ? successiveTenths(displayed, count) : displayed;
        const PayTableRow& row = *findRow(pool_.payTable, winners.front().tier);
        const Share share = equalShare(aggregate, count, row.guarantee, pool_.config.payoutUnit);

        ledger_.payFromPool(aggregate, share.each * count);
        // Also where the minimum is nothing, so that nothing need be put in.
        if (pays == Pays::All) pool_.noteReset();
        const Arithmetic arithmetic{
            .kind = pays == Pays::Tenth ? Arithmetic::Kind::Tenth : Arithmetic::Kind::All,
            .displayed = displayed,
            .aggregate = aggregate,
            .winners = count,
            .share = share.part,
            .guarantee = row.guarantee,
            .payoutUnit = pool_.config.payoutUnit,
        };
        for (const Winner& winner : winners) {
            const std::int64_t round = winner.round->number;
            outcome_.awards.push_back({winner.table, round, winner.seat, winner.tier, share.each,
                                       count == 1 ? row.rule : row.sharedRule, arithmetic});
            outcome_.claims.push_back(
                {winner.table, round, winner.seat, winner.tier, ClaimState::Settled});
            state_.tables[winner.table].jackpotsDue.push_back(
                {round, winner.seat, winner.tier, share.each, DueAward::Status::Due});
        }
        return std::max(meter - aggregate, pool_.config.minimum);
    }

    [[nodiscard]] std::vector<Winner> winnersOf(Pays pays,
                                                const std::vector<std::size_t>& group) const
    {
        std::vector<Winner> winners;
        for (const std::size_t i : group) {
            const Confirmation& confirmation = pool_.confirmations[i];
            Round& round = roundOf(confirmation);
            for (int seat = kMaxSeats; seat >= 1; --seat) {
                const Seat& held = round.seat(seat);
                if (held.claims && findRow(pool_.payTable, held.tier)->pays == pays)
                    winners.push_back({confirmation.table, &round, seat, held.tier});
            }
        }
        return winners;
    }

    // Everything that has changed the meter since comes on top of the settled one, and no later
    // settlement of an earlier confirmation goes behind this moment.
    void replayFrom(std::size_t moment, Money meter)
    {
        auto& confirmations = pool_.confirmations;
        for (std::size_t i = 0; i < confirmations.size(); ++i) {
            confirmations[i].meter = meter;
            if (i < moment)
                confirmations[i].since = Change::none(pool_.config.minimum);
            else
                meter = confirmations[i].since.appliedTo(meter);
        }
        ledger_.raiseMeterTo(meter);
    }

    void close(std::vector<std::size_t> group)
    {
        std::ranges::sort(group, std::greater{});
        for (const std::size_t i : group) {
            const Confirmation& confirmation = pool_.confirmations[i];
            Table& table = state_.tables[confirmation.table];
            Round& round = roundOf(confirmation);
            round.settled = true;
            for (Seat& seat : round.seats) seat.claims = false;
            table.dropIfDone(&round);
            forget(pool_, i);
        }
    }

    State& state_;
    Pool& pool_;
    PoolLedger ledger_;
    Outcome& outcome_;
};

}  // namespace

Money successiveTenths(Money displayed, std::int64_t winners)
{
    Money left = displayed;
    for (std::int64_t i = 0; i < winners; ++i) left -= left.dividedDown(10);
    return displayed - left;
}

Share equalShare(Money aggregate, std::int64_t winners, Money guarantee, Money payoutUnit)
{
    const Money part = aggregate.dividedUp(winners).roundedUpTo(payoutUnit);
    const Money each = std::max(part, guarantee.roundedUpTo(payoutUnit));
    return {.part = part, .each = each, .fromHouse = each * winners - aggregate};
}

void settleTogether(State& state, std::uint32_t pool, std::vector<std::size_t> group,
                    Outcome& outcome)
{
    Settlement{state, pool, outcome}.run(std::move(group));
}

void forget(Pool& pool, std::size_t confirmation)
{
    auto& all = pool.confirmations;
    if (confirmation > 0) all[confirmation - 1].since.then(all[confirmation].since);
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(confirmation));
}

}  // namespace jackpot::rules
