"""How jackpots are settled [rules: Computed again; Settling the rounds of one group]."""

from money import displayed, rounded_up
from paytables import ALL, TENTH
from state import Change, Share


class Settling:
    """The part of the model that computes the meter and the awards of the wins."""

    # -- [rules: Computed again] -------------------------------------------------------------------

    def compute(self, pool):
        """The meter and the awards of the open wins, from the beginning of the pool's history.

        Called once for each event that changed something, after all of its changes.
        """
        before = pool.order_of_payment
        pool.order_of_payment = []
        meter, resets = pool.opening, 0
        for item in self.in_their_order(pool):
            if isinstance(item, Change):
                meter, resets = self.apply_steps(pool, meter, resets, [item.amount])
            elif item.final:
                # Final wins as what the pool paid for them.
                meter, resets = self.apply_steps(pool, meter, resets, [-paid for paid in item.paid])
            else:
                meter, resets = self.settle(pool, item, meter, resets)
            if not isinstance(item, Change):
                pool.order_of_payment += self.by_step([share for win in item.wins
                                                       for share in win.awards])
        pool.meter = meter
        self.post_resets(pool, resets - pool.resets)
        pool.resets = resets
        self.post_awards(pool)
        self.withdraw_shares(pool, before)
        self.show_due(pool)

    def in_their_order(self, pool):
        """What has happened, in its order, with each group at its place."""
        items = [((index, -1), change) for index, change in enumerate(pool.history)]
        items += [(group.place, group) for group in pool.groups if group.wins]
        return [item for _, item in sorted(items, key=lambda item: item[0])]

    def apply_steps(self, pool, meter, resets, steps):
        """The minimum is restored after each change and each step."""
        for amount in steps:
            restored = self.restored(pool, meter + amount)
            resets += restored - (meter + amount)
            meter = restored
        return meter, resets

    def restored(self, pool, meter):
        """[rules: Pools and tables] Whenever the displayed amount is below the minimum, the meter
        is reset to the minimum (BJ 14.28)."""
        return pool.minimum if displayed(meter) < pool.minimum else meter

    def post_resets(self, pool, more):
        """What resets came out larger than they were is paid in by the reserve, then by the house.
        If they come out smaller, the difference goes into the reserve."""
        from_reserve = min(pool.reserve, more)
        pool.reserve -= from_reserve
        pool.from_reserve += from_reserve
        pool.seeded += more - from_reserve
        if more < 0:
            self.occurred["resets came out smaller"] += 1
        if from_reserve > 0:
            self.occurred["reset from the reserve"] += 1
        if more > from_reserve:
            self.occurred["reset from the house"] += 1
        if more > 0:
            self.note_reset(pool)

    def post_awards(self, pool):
        """[FORMAT] Awards count from when they are locked, less what was withdrawn or replaced."""
        groups = [group for group in pool.groups if group.wins]
        from_pool = sum(sum(group.paid) for group in groups)
        by_house = sum(group.by_house for group in groups)
        pool.paid_from_pool += from_pool - pool.groups_from_pool
        pool.paid_by_house += by_house - pool.groups_by_house
        pool.groups_from_pool, pool.groups_by_house = from_pool, by_house

    # -- [rules: Settling the rounds of one group] ------------------------------------------------

    def settle(self, pool, group, meter, resets):
        former = [win.awards for win in group.wins]
        group.paid = []
        group.by_house = 0
        for win in group.wins:
            win.awards = []
        # 1. Bonus awards.
        for win in group.wins:
            self.award_bonus(pool, group, win)
        # 2. The 10 % tier. 3. The 100 % tier, of what is displayed then.
        for step, part in ((2, TENTH), (3, ALL)):
            winners = [(win, seat) for win in group.wins for seat, tier in win.round.claims.items()
                       if pool.pays[tier] == part]
            if not winners:
                continue
            aggregate, each = self.shares(pool, part, meter, len(winners))
            for win, seat in winners:
                win.awards.append(Share(win, seat, win.round.claims[seat], each, step))
            # 4. The pool pays the aggregate; the house pays what rounding and guarantees add.
            group.paid.append(aggregate)
            group.by_house += each * len(winners) - aggregate
            meter, resets = self.apply_steps(pool, meter, resets, [-aggregate])
        for win in group.wins:
            win.awards = self.by_step(win.awards)
        if any(former) and [self.amounts(awards) for awards in former] != [
                self.amounts(win.awards) for win in group.wins]:
            self.occurred["awards computed again with another result"] += 1
        return meter, resets

    def amounts(self, awards):
        return [(share.seat, share.tier, share.amount) for share in awards]

    def by_step(self, shares):
        """Order of payment within a group: by step; within a step by arrival, then table id, then
        from the highest seat down."""
        def key(share):
            return share.step, share.win.arrived_ms, share.win.table.id, -share.seat

        return sorted(shares, key=key)

    def shares(self, pool, part, meter, winners):
        """What the pool pays for this tier, and what each winner gets."""
        blazing7s = pool.game == "blazing7s"
        if part == TENTH:
            aggregate = self.successive_tenths(displayed(meter), winners)
            guarantee = pool.minimum // 10 if blazing7s else pool.guarantee["straight_flush"]
        else:
            aggregate = displayed(meter)
            guarantee = pool.minimum if blazing7s else pool.guarantee["royal_flush"]
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

    def award_bonus(self, pool, group, win):
        """1. Bonus awards (UTH 15.2.10.4): to the seats with a jackpot wager that stands in that
        round and no jackpot claim in it. Where both tiers were hit, the higher amount, once. House
        money."""
        claims = win.round.claims
        amounts = [pool.bonus[tier] for tier in claims.values() if tier in pool.bonus]
        if not amounts:
            return
        for seat in win.round.wagers:
            if seat not in claims:
                win.awards.append(Share(win, seat, "bonus", max(amounts), 1))
                group.by_house += max(amounts)

    # -- awards that become due, and those that are withdrawn -------------------------------------

    def withdraw_shares(self, pool, before):
        """[FORMAT] Withdrawals in the order in which the awards stood for payment. An award of a
        due win that comes out the same is not touched."""
        for share in before:
            win, key = share.win, (share.seat, share.tier)
            if key not in win.shown:
                continue
            now = {(each.seat, each.tier): each.amount for each in win.awards}
            stands = win.due and win.round.win is win and now.get(key) == win.shown[key]
            if not stands:
                self.withdraw(win.round, *key, win.shown.pop(key))
                self.occurred["jackpot or bonus award withdrawn"] += 1

    def show_due(self, pool):
        """New jackpot and bonus awards in their order of payment."""
        for share in pool.order_of_payment:
            win, key = share.win, (share.seat, share.tier)
            self.award_of(win.round, *key)  # known from now on, also while it is locked
            if win.due and key not in win.shown:
                win.shown[key] = share.amount
                self.pay(win.round, *key, share.amount)
