#include "rules/settlement.h"

#include <algorithm>

namespace jackpot::rules {
namespace {

class Settling {
public:
    Settling(const State& state, const Pool& pool, const std::vector<const Win*>& group,
             Money meter)
        : state_{state}, pool_{pool}, group_{group}, meter_{meter}
    {}

    Settlement run() &&
    {
        for (const Win* win : group_) payBonus(*win);
        payStep(Pays::Tenth);
        payStep(Pays::All);
        return std::move(done_);
    }

private:
    [[nodiscard]] const Round& roundOf(const Win& win) const
    {
        return *state_.tables[win.table].findRound(win.round);
    }

    // The house's money, to the seats whose wager stands and that have no claim; where both tiers
    // were hit, the higher amount, once (UTH 15.2.10).
    void payBonus(const Win& win)
    {
        if (!pool_.config.bonus) return;
        const Round& round = roundOf(win);
        const auto hit = [&round](Tier tier) {
            return std::ranges::any_of(
                round.seats, [tier](const Seat& seat) { return seat.claims && seat.tier == tier; });
        };
        Money bonus;
        if (hit(Tier::RoyalFlush)) bonus = pool_.config.bonus->royalFlush.value_or(Money{});
        if (hit(Tier::StraightFlush))
            bonus = std::max(bonus, pool_.config.bonus->straightFlush.value_or(Money{}));
        if (bonus == Money{}) return;

        for (int number = kMaxSeats; number >= 1; --number) {
            const Seat& seat = round.seat(number);
            if (seat.wagered && !seat.claims)
                done_.awards.push_back(
                    {win.table, win.round, number, Tier::Bonus, bonus, "UTH 15.2.10.2",
                     Arithmetic::plain(Arithmetic::Kind::Bonus, bonus), seat.playerCard});
        }
    }

    struct Winner {
        const Win* win = nullptr;
        int seat = 0;
    };

    // One tier for the whole group.
    void payStep(Pays pays)
    {
        std::vector<Winner> winners;
        const PayTableRow& row = *std::ranges::find(pool_.payTable, pays, &PayTableRow::pays);
        for (const Win* win : group_)
            for (int seat = kMaxSeats; seat >= 1; --seat)
                if (const Seat& held = roundOf(*win).seat(seat);
                    held.claims && held.tier == row.tier)
                    winners.push_back({win, seat});
        if (winners.empty()) return;

        const auto count = static_cast<std::int64_t>(winners.size());
        const Money displayed = meter_.roundedDownToCent();
        const Money aggregate =
            pays == Pays::Tenth ? successiveTenths(displayed, count) : displayed;
        const Share share = equalShare(aggregate, count, row.guarantee, pool_.config.payoutUnit);
        const Arithmetic arithmetic{
            .kind = pays == Pays::Tenth ? Arithmetic::Kind::Tenth : Arithmetic::Kind::All,
            .displayed = displayed,
            .aggregate = aggregate,
            .winners = count,
            .share = share.part,
            .guarantee = row.guarantee,
            .payoutUnit = pool_.config.payoutUnit,
        };
        for (const Winner& winner : winners)
            done_.awards.push_back({winner.win->table, winner.win->round, winner.seat, row.tier,
                                    share.each, count == 1 ? row.rule : row.sharedRule, arithmetic,
                                    roundOf(*winner.win).seat(winner.seat).playerCard});
        done_.fromPool += aggregate;
        meter_ = std::max(meter_ - aggregate, pool_.config.minimum);
    }

    const State& state_;
    const Pool& pool_;
    const std::vector<const Win*>& group_;
    Money meter_;
    Settlement done_;
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

Settlement settle(const State& state, const Pool& pool, const std::vector<const Win*>& group,
                  Money meter)
{
    return Settling{state, pool, group, meter}.run();
}

int stepOf(const PayTable& payTable, Tier tier)
{
    const PayTableRow* row = findRow(payTable, tier);
    if (!row) return 0;
    return row->pays == Pays::All ? 2 : 1;
}

}  // namespace jackpot::rules
