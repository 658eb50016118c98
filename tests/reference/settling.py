"""How jackpots are settled [rules: Settling]."""

from money import displayed, rounded_up
from paytables import ALL, TENTH, UTH_ROYAL_FLUSH_GUARANTEE, UTH_STRAIGHT_FLUSH_GUARANTEE
from state import Change


class Settling:
    """The part of the model that settles jackpots [rules: Settling]."""

    def settle(self, pool, rounds):
        """A settlement is made as if at its confirmed moment."""
        # The meter as it stood then,
        position = self.moment(pool, rounds)
        before = pool.history[:position]
        since = pool.history[position:]
        meter = self.replayed(pool, before)

        # then the steps:
        settlement = []
        # 1. Bonus awards,
        for round in rounds:
            self.pay_bonus(pool, round)
        # 2. the 10 % tier, 3. the 100 % tier. Whenever the displayed amount falls below the
        # minimum, it is restored to it: also between the two.
        for part in (TENTH, ALL):
            winners = self.in_order_of_payment(
                (round, seat)
                for round in rounds
                for seat, tier in round.claims.items()
                if pool.pays[tier] == part
            )
            if not winners:
                continue
            aggregate, each = self.shares(pool, part, meter, len(winners))
            for round, seat in winners:
                self.pay(round, seat, round.claims[seat], each)
            # 4. The pool pays the aggregate; the house pays what rounding and guarantees add.
            pool.paid_from_pool += aggregate
            pool.paid_by_house += each * len(winners) - aggregate
            settlement.append(Change(self.now, "settlement", -aggregate))
            meter = self.restored(pool, meter - aggregate)
            if part == ALL:
                self.note_reset(pool)

        # then everything that has changed the meter since, in order, applied again on top.
        pool.history = before + settlement + since
        as_if_then = self.replayed(pool, pool.history)

        # The difference to the meter as it stands is paid in by the reserve, then by the house.
        pool.meter += sum(change.amount for change in settlement)
        self.pay_in(pool, as_if_then - pool.meter)
        for round in rounds:
            round.settled = True
        if any(change.amount for change in since):
            self.occurred["settled with changes since its moment"] += 1

    def moment(self, pool, rounds):
        """Where in the pool's history the settlement belongs: after the earliest confirmation of
        the group; never earlier than a moment already settled."""
        confirmed = [i for i, change in enumerate(pool.history)
                     if change.what == "confirmation" and change.round in rounds]
        settled = [i for i, change in enumerate(pool.history) if change.what == "settlement"]
        if settled and settled[-1] > confirmed[0]:
            self.occurred["moment moved to one already settled"] += 1
        return max([confirmed[0]] + settled) + 1

    def replayed(self, pool, history):
        """The meter after all these changes since the pool opened. Whenever the displayed
        amount falls below the minimum, it is restored to it."""
        meter = pool.opening
        for change in history:
            meter = self.restored(pool, meter + change.amount)
        return meter

    def in_order_of_payment(self, winners):
        """Within a step: by confirmation time, then table id, then from the highest seat down."""
        def key(winner):
            round, seat = winner
            return round.confirmed_at, round.table.id, -seat

        return sorted(winners, key=key)

    def shares(self, pool, part, meter, winners):
        """What the pool pays for this tier, and what each winner gets."""
        blazing7s = pool.game == "blazing7s"
        if part == TENTH:
            aggregate = self.successive_tenths(displayed(meter), winners)
            guarantee = pool.minimum // 10 if blazing7s else UTH_STRAIGHT_FLUSH_GUARANTEE
        else:
            aggregate = displayed(meter)
            guarantee = pool.minimum if blazing7s else UTH_ROYAL_FLUSH_GUARANTEE
        # [rules: Money] Each award of the two tiers is rounded up to the pool's payout unit.
        each = rounded_up(aggregate, winners, pool.payout_unit)
        guaranteed = rounded_up(guarantee, 1, pool.payout_unit)
        if guaranteed > each:
            self.occurred["guarantee paid"] += 1
        if winners > 1:
            self.occurred[f"{part} tier shared"] += 1
        return aggregate, max(each, guaranteed)

    def successive_tenths(self, rest, winners):
        """n successive takes of 10 %, each of what the former left, added up. A take is rounded
        down to 1e-8 dollar, not to the cent (BJ 14.27.2, UTH 15.2.13.2)."""
        aggregate = 0
        for _ in range(winners):
            take = rest // 10
            rest -= take
            aggregate += take
        return aggregate

    def pay_bonus(self, pool, round):
        """1. Bonus awards (UTH 15.2.10.4): to the seats with a valid jackpot wager in that round
        that hold no jackpot claim in it. Where both tiers were hit, the higher amount, once. House
        money."""
        amounts = [pool.bonus[tier] for tier in round.claims.values() if tier in pool.bonus]
        if not amounts:
            return
        for seat in sorted(round.wagers, reverse=True):
            if seat not in round.claims:
                self.pay(round, seat, "bonus", max(amounts))
                pool.paid_by_house += max(amounts)
