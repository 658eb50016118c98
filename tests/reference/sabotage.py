"""Models with one deliberate fault each: what the comparison has to be able to find.

A comparison that finds no difference proves nothing unless it is known to find one where there is
one. Each class here makes a mistake that is easily made; its docstring says which. The faults of
wins, holds and changes of the site are in `sabotage_wins.py` and `sabotage_site.py`.
"""

import re

import sabotage_site
import sabotage_wins
from irregularities import people_of
from model import Model
from money import CENT, RATE_ONE, Refused, displayed, rounded_up
from paytables import ALL, TENTH, is_card
from state import Share


# -- money --------------------------------------------------------------------------------------------


class SecondTenthOfRoundedRest(Model):
    """The second tenth is taken from a rest that was rounded down to the cent."""

    def successive_tenths(self, rest, winners):
        aggregate = 0
        for _ in range(winners):
            take = displayed(rest) // 10
            rest -= take
            aggregate += take
        return aggregate


class AwardFromExactMeter(Model):
    """Awards are computed from the exact amount, not from the displayed one."""

    def shares(self, pool, part, meter, winners):
        aggregate, each = super().shares(pool, part, meter, winners)
        if part == TENTH:
            aggregate = self.successive_tenths(meter, winners)
        else:
            aggregate = meter
        return aggregate, max(each, rounded_up(aggregate, winners, pool.payout_unit))


class RoundedDown(Model):
    """Awards are rounded down to the payout unit."""

    def shares(self, pool, part, meter, winners):
        aggregate, each = super().shares(pool, part, meter, winners)
        rounded = rounded_up(aggregate, winners, pool.payout_unit)
        if aggregate % (winners * pool.payout_unit) and each == rounded:
            each -= pool.payout_unit
        return aggregate, each


class RoundedToTheCent(Model):
    """The payout unit is not looked at."""

    def shares(self, pool, part, meter, winners):
        unit, pool.payout_unit = pool.payout_unit, CENT
        try:
            return super().shares(pool, part, meter, winners)
        finally:
            pool.payout_unit = unit


class GuaranteeShared(Model):
    """Winners share the guarantee instead of each having it."""

    def shares(self, pool, part, meter, winners):
        aggregate, each = super().shares(pool, part, meter, winners)
        share = rounded_up(aggregate, winners, pool.payout_unit)
        return aggregate, max(share, each // winners // CENT * CENT)


class PoolPaysRounding(Model):
    """The pool pays what rounding adds."""

    def shares(self, pool, part, meter, winners):
        aggregate, each = super().shares(pool, part, meter, winners)
        rounded = rounded_up(aggregate, winners, pool.payout_unit)
        return (each * winners if each == rounded else aggregate), each


class RestoredBetweenTakes(Model):
    """The minimum is restored between the takes of the 10 % tier."""

    def shares(self, pool, part, meter, winners):
        aggregate, each = super().shares(pool, part, meter, winners)
        if part == TENTH:
            rest, aggregate = displayed(meter), 0
            for _ in range(winners):
                aggregate += rest // 10
                rest = self.restored(pool, rest - rest // 10)
            each = max(rounded_up(aggregate, winners, pool.payout_unit), each)
        return aggregate, each


class AllTierFirst(Model):
    """The 100 % tier is settled before the 10 % tier."""

    def settle(self, pool, group, meter, resets):
        rounds = [win.round for win in group.wins]
        claims = [round.claims for round in rounds]
        if {pool.pays[tier] for each in claims for tier in each.values()} != {ALL, TENTH}:
            return super().settle(pool, group, meter, resets)
        awards, paid, by_house = [], [], 0
        for part in (ALL, TENTH):
            for round, each in zip(rounds, claims):
                round.claims = {seat: tier for seat, tier in each.items() if pool.pays[tier] == part}
            meter, resets = super().settle(pool, group, meter, resets)
            awards.append([win.awards for win in group.wins])
            paid += group.paid
            by_house += group.by_house
        for round, each in zip(rounds, claims):
            round.claims = each
        for win, one, other in zip(group.wins, *awards):
            win.awards = one + [share for share in other if share.step != 1]
        group.paid, group.by_house = paid, by_house
        return meter, resets


class NoResetBetweenTiers(Model):
    """The minimum is not restored between the 10 % and the 100 % tier."""

    def settle(self, pool, group, meter, resets):
        self.steps_left = len({pool.pays[tier] for win in group.wins
                               for tier in win.round.claims.values()})
        result = super().settle(pool, group, meter, resets)
        self.steps_left = 0
        return result

    def restored(self, pool, meter):
        if getattr(self, "steps_left", 0) > 1:
            self.steps_left -= 1
            return meter
        return super().restored(pool, meter)


class GuaranteeOfTheRules(Model):
    """The guarantees are the least that the rules allow, not those of the sign."""

    def shares(self, pool, part, meter, winners):
        sign = pool.guarantee
        pool.guarantee = {"royal_flush": 50_000 * 100 * CENT, "straight_flush": 5000 * 100 * CENT}
        try:
            return super().shares(pool, part, meter, winners)
        finally:
            pool.guarantee = sign


class GuaranteeNotRounded(Model):
    """A guarantee is not rounded up to the payout unit."""

    def shares(self, pool, part, meter, winners):
        aggregate, _ = super().shares(pool, part, meter, winners)
        unit, pool.payout_unit = pool.payout_unit, CENT
        _, least = super().shares(pool, part, meter, winners)
        pool.payout_unit = unit
        return aggregate, max(least, rounded_up(aggregate, winners, unit))


class BonusToWinners(Model):
    """A winner of the jackpot has a bonus too."""

    def award_bonus(self, pool, group, win):
        super().award_bonus(pool, group, win)
        amounts = [share.amount for share in win.awards if share.step == 1]
        for seat in win.round.claims if amounts else []:
            win.awards.append(Share(win, seat, "bonus", amounts[0], 1))
            group.by_house += amounts[0]


class BonusOfTheLowerAmount(Model):
    """Where both tiers are hit the lower configured bonus is paid."""

    def award_bonus(self, pool, group, win):
        configured = pool.bonus
        hit = {tier: amount for tier, amount in configured.items()
               if tier in win.round.claims.values()}
        lowest = min(hit, key=hit.get) if hit else None
        pool.bonus = {tier: amount for tier, amount in hit.items() if tier == lowest}
        super().award_bonus(pool, group, win)
        pool.bonus = configured


class LowestSeatFirst(Model):
    """Within a step payment goes from the lowest seat up."""

    def by_step(self, shares):
        return sorted(shares, key=lambda each: (each.step, each.win.arrived_ms, each.win.table.id,
                                                each.seat))


class BonusLast(Model):
    """Bonus awards are paid after the jackpots."""

    def by_step(self, shares):
        shares = super().by_step(shares)
        return sorted(shares, key=lambda share: share.step == 1)


class FixedAwardsLowestSeatFirst(Model):
    """Fixed awards go from the lowest seat up."""

    def pay_fixed(self, round, fixed):
        first = len(self.payouts)
        super().pay_fixed(round, fixed)
        self.payouts[first:] = reversed(self.payouts[first:])


class NotSplitAtTheCap(Model):
    """A contribution that would pass the cap goes to the reserve as a whole."""

    def contribute(self, pool):
        full = pool.wager * pool.increment // RATE_ONE
        if pool.cap is not None and pool.meter < pool.cap < pool.meter + full:
            cap, pool.cap = pool.cap, pool.meter
            try:
                return super().contribute(pool)
            finally:
                pool.cap = cap
        return super().contribute(pool)


class CapIgnored(Model):
    """Contributions pass the cap."""

    def contribute(self, pool):
        cap, pool.cap = pool.cap, None
        try:
            return super().contribute(pool)
        finally:
            pool.cap = cap


class ResetFromHouseFirst(Model):
    """The minimum is restored by the house although there is a reserve."""

    def post_resets(self, pool, more):
        reserve, pool.reserve = pool.reserve, min(pool.reserve, 0)
        super().post_resets(pool, more)
        pool.reserve += reserve


class SmallerResetsToTheHouse(Model):
    """If resets come out smaller the house takes the difference back."""

    def post_resets(self, pool, more):
        if more < 0:
            pool.seeded += more
        else:
            super().post_resets(pool, more)


class ReserveNotMadeGood(Model):
    """A return takes from the reserve only what is there."""

    def return_wagers(self, round, seats):
        left = round.table.pool.reserve
        for seat in sorted(seats):
            wager = round.wagers[seat]
            wager.to_reserve = min(wager.to_reserve, left)
            left -= wager.to_reserve
        super().return_wagers(round, seats)


class AdjustedBelowTheMinimum(Model):
    """An adjustment may take the meter below its minimum, which is then restored."""

    def pool_adjusted(self, event):
        pool = self.pools[event["pool"]]
        meter, pool.meter = pool.meter, pool.meter + 10**15
        try:
            super().pool_adjusted(event)
        except Refused:
            pool.meter = meter
            raise


# -- rounds -----------------------------------------------------------------------------------------


class BadCardFirst(Model):
    """bad_card is looked for before the hands' seats and sizes."""

    def check_result(self, round, event):
        if not all(is_card(card) for hand in event["hands"] for card in hand["cards"]):
            raise Refused("bad_card")
        return super().check_result(round, event)


class ClaimBeforeRoundNumber(Model):
    """claim_unconfirmed is looked for before round_not_newer."""

    def round_opened(self, event):
        table = self.tables[event["table"]]
        if table.current is not None and table.current.has_unconfirmed_claim:
            if not table.suspended_by and not table.pool.suspended and table.current.is_open:
                raise Refused("claim_unconfirmed")
        super().round_opened(event)


class NextRoundWithoutResult(Model):
    """The next round is opened although the former one has no result."""

    def round_opened(self, event):
        current = self.tables[event["table"]].current
        if current is None or current.result_in:
            return super().round_opened(event)
        current.result_in = True
        try:
            return super().round_opened(event)
        finally:
            current.result_in = False


class NineOpenWins(Model):
    """A table may have nine open wins."""

    def has_too_many_open_wins(self, table):
        return len(table.open_wins) > 8


class FinalWinsCountAsOpen(Model):
    """Final wins count among the eight that a table may have open."""

    def has_too_many_open_wins(self, table):
        return len([win for win in table.pool.wins if win.table is table]) >= 8


class AnotherBoxWithoutApproval(Model):
    """A UTH wager on another player's box needs no supervisor."""

    def check_wagers(self, table, wagers):
        return super().check_wagers(table, [
            wager if type(wager) is int or table.pool.game != "uth"
            else {**wager, "approved_by": "anybody"} for wager in wagers])


class AnotherBoxInBlackjack(Model):
    """A Blackjack wager may be on another player's box."""

    def check_wagers(self, table, wagers):
        return super().check_wagers(table, [
            {**wager, "base_wager": True} if type(wager) is dict and wager.get("approved_by")
            else wager for wager in wagers])


class NextRoundLeavesTheFormerOpen(Model):
    """A round is closed by round_closed only."""

    def round_opened(self, event):
        former = self.tables[event["table"]].current
        was_closed = former is not None and former.closed
        super().round_opened(event)
        if former is not None:
            former.closed = was_closed


# -- irregularities -----------------------------------------------------------------------------------


class CorrectionWithdrawsAll(Model):
    """A corrected result withdraws also the fixed awards that come out the same."""

    def result_corrected(self, event):
        round = self.tables[event["table"]].current
        first = len(self.withdrawn)
        before = dict(round.fixed) if round is not None else {}
        super().result_corrected(event)
        for seat, (tier, amount) in before.items():
            if round.fixed.get(seat) == (tier, amount):
                self.withdrawn.insert(first, self.named_award(round, seat, tier, amount))
                self.payouts.append(self.named_award(round, seat, tier, amount))


class CorrectionByOneAfterTheButton(Model):
    """One person corrects the result of an open win."""

    def result_corrected(self, event):
        if len(people_of(event)) == 1:
            event = {**event, "by": ["one", "another"]}
        super().result_corrected(event)


class VoidByOne(Model):
    """One person voids what takes two."""

    def find_voidable(self, event, seat=None):
        if len(people_of(event)) == 1:
            event = {**event, "by": ["one", "another"]}
        return super().find_voidable(event, seat)


class PaymentOfTheRoundForAWager(Model):
    """To void a wager takes two people also where another seat of the round was paid."""

    def touched_by_people(self, round, seat=None):
        return super().touched_by_people(round)


class WithdrawnPaymentForgotten(Model):
    """A payment of an award that was withdrawn since does not ask for two people."""

    def touched_by_people(self, round, seat=None):
        kept = self.awards
        self.awards = {key: award for key, award in kept.items() if award.is_due}
        try:
            return super().touched_by_people(round, seat)
        finally:
            self.awards = kept


class InterimSettlementAfterTheDevice(Model):
    """A failure of the shuffling device leaves interim settlement as it is."""

    def round_voided(self, event):
        if event["ground"] == "shuffling_device":
            event = {**event, "ground": "dealing_error"}
        super().round_voided(event)


class NoInterimSettlement(Model):
    """A dealing error in Blackjack withdraws the fixed awards."""

    def round_voided(self, event):
        if event["ground"] == "dealing_error":
            event = {**event, "ground": "shuffling_device"}
        super().round_voided(event)


class ForfeitedReturned(Model):
    """Wagers of forfeited seats are returned."""

    def round_voided(self, event):
        super().round_voided({**event, "forfeited": []})


class ClosedRoundVoidedByAnyGround(Model):
    """Any ground reaches a closed round with an open win."""

    def find_voidable(self, event, seat=None):
        round = self.tables[event["table"]].rounds.get(event["round"])
        if round is None or not round.closed or not round.has_open_win:
            return super().find_voidable(event, seat)
        return super().find_voidable({**event, "ground": "invalidated"}, seat)


class RefusedAfterTheResult(Model):
    """A wager is refused also after the result."""

    def wager_voided(self, event):
        if event["ground"] == "refused":
            event = {**event, "ground": "loss_limit"}
        super().wager_voided(event)


class ForeignCardWithoutNotice(Model):
    """Nobody is notified of a missing or foreign card."""

    def notice(self, kind, own=False):
        if kind != "missing_or_foreign_card":
            super().notice(kind, own)


class MalfunctionReturnsAll(Model):
    """A malfunction after a Blackjack result returns the wagers of seats with an award too."""

    def return_wagers(self, round, seats):
        if getattr(self, "suspending", False) and round.result_in:
            seats = list(round.wagers)
        super().return_wagers(round, seats)

    def table_suspended(self, event):
        self.suspending = True
        try:
            super().table_suspended(event)
        finally:
            self.suspending = False


class MalfunctionReturnsNothing(Model):
    """A malfunction after a Blackjack result returns nothing."""

    def return_wagers(self, round, seats):
        if not (getattr(self, "suspending", False) and round.result_in):
            super().return_wagers(round, seats)

    def table_suspended(self, event):
        self.suspending = True
        try:
            super().table_suspended(event)
        finally:
            self.suspending = False


class TableEndsSuspensionOfTheDesk(Model):
    """A table ends a suspension that the desk made."""

    def table_resumed(self, event):
        super().table_resumed({**event, "from": "desk"})


class WithdrawnWhileWithheldStaysWithheld(Model):
    """A withdrawal does not end a withholding."""

    def withdraw(self, round, seat, tier, amount):
        withheld = self.award_of(round, seat, tier).withheld
        super().withdraw(round, seat, tier, amount)
        self.award_of(round, seat, tier).withheld = withheld


class LastPaymentCounts(Model):
    """The last payment of an award replaces the former ones."""

    def payment_recorded(self, event):
        super().payment_recorded(event)
        key = (event["table"], event["round"], event["seat"], event.get("tier", "none"))
        del self.awards[key].payments[:-1]


class LockedAwardsArePaid(Model):
    """A payment is recorded against an award that was never due."""

    def find_award(self, event):
        award = super().find_award(event)
        if event["type"] == "payment_recorded":
            award.was_due = True
        return award


class DueThoughWithdrawn(Model):
    """The difference of a withdrawn award is against what was due before."""

    def withdraw(self, round, seat, tier, amount):
        super().withdraw(round, seat, tier, amount)
        self.award_of(round, seat, tier).due = amount


def kebab(name):
    return re.sub("(?<!^)([A-Z])", r"-\1", name).lower()


SABOTAGES = {
    kebab(name): fault
    for names in (globals(), vars(sabotage_wins), vars(sabotage_site))
    for name, fault in list(names.items())
    if isinstance(fault, type) and issubclass(fault, Model) and fault is not Model
}
