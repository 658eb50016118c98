"""Models with one deliberate fault each: what the comparison has to be able to find.

A comparison that finds no difference proves nothing unless it is known to find one where there is
one. Each class here makes a mistake that is easily made; its docstring says which.
"""

import re

from model import Model
from money import CENT, RATE_ONE, BadConfiguration, Refused, displayed, rounded_up
from paytables import ALL, TENTH, is_card
from scenario import shape_of_site, site_by_the_rules, table_by_the_rules
from state import Change


class SettlementTimeMeter(Model):
    """An award is computed from the meter of the time it is settled, not of its moment."""

    def moment(self, pool, rounds):
        return len(pool.history)


class ResetBeforeAllReturns(Model):
    """The minimum is restored after each seat's return, before the next seat's."""

    def return_wagers(self, round, seats):
        for seat in sorted(seats):
            super().return_wagers(round, [seat])


class SecondTenthOfRoundedRest(Model):
    """The second tenth is taken from a rest that was rounded down to the cent."""

    def successive_tenths(self, rest, winners):
        aggregate = 0
        for _ in range(winners):
            take = displayed(rest) // 10
            rest -= take
            aggregate += take
        return aggregate


class TieAtWindowLength(Model):
    """Presses exactly the window's length apart are held."""

    def presses_tie(self, pool, one, other):
        apart = abs(one.pressed_at - other.pressed_at)
        return one.table is not other.table and apart <= pool.window_ms


class SplitAgainOnReplay(Model):
    """Contributions are split at the cap again when they are applied again."""

    def replayed(self, pool, history):
        meter = pool.opening
        for change in history:
            amount = change.amount
            if change.what == "contribution" and pool.cap is not None:
                full = pool.wager * pool.increment // RATE_ONE
                amount = min(full, max(pool.cap - meter, 0))
            meter = self.restored(pool, meter + amount)
        return max(meter, super().replayed(pool, history))


class FixedAwardsLowestSeatFirst(Model):
    """Fixed awards go from the lowest seat up."""

    def take_result(self, round, board, event):
        first = len(self.payouts)
        super().take_result(round, board, event)
        self.payouts[first:] = reversed(self.payouts[first:])


class NoResetBetweenTiers(Model):
    """The minimum is not restored between the 10 % and the 100 % tier."""

    def settle(self, pool, rounds):
        parts = {pool.pays[tier] for round in rounds for tier in round.claims.values()}
        self.in_settlement = parts == {ALL, TENTH}
        super().settle(pool, rounds)

    def replayed(self, pool, history):
        meter = pool.opening
        for change, following in zip(history, [*history[1:], None]):
            meter += change.amount
            between = following is not None and change.what == following.what == "settlement"
            if not (between and change.at_ms == following.at_ms):
                meter = super().restored(pool, meter)
        return meter

    def restored(self, pool, meter):
        if getattr(self, "in_settlement", False):
            self.in_settlement = False  # only the first tier's
            return meter
        return super().restored(pool, meter)


class ResetsSinceKept(Model):
    """Resets made since the moment are applied again as they were, not determined again."""

    def settle(self, pool, rounds):
        position = self.moment(pool, rounds)
        since = pool.meter - self.replayed(pool, pool.history[:position])
        length = len(pool.history)
        super().settle(pool, rounds)
        settled = self.replayed(pool, pool.history[: position + len(pool.history) - length])
        too_much = pool.meter - self.restored(pool, settled + since)
        pool.meter -= too_much
        pool.seeded -= too_much


class AwardFromExactMeter(Model):
    """Awards are computed from the exact amount, not from the displayed one."""

    def shares(self, pool, part, meter, winners):
        aggregate, each = super().shares(pool, part, meter, winners)
        if part == TENTH:
            aggregate = self.successive_tenths(meter, winners)
        else:
            aggregate = meter
        return aggregate, max(each, rounded_up(aggregate, winners, pool.payout_unit))


class MomentBeforeOneSettled(Model):
    """A later settlement is made at its moment although a later moment is settled already."""

    def moment(self, pool, rounds):
        return min(i for i, change in enumerate(pool.history) if change.round in rounds) + 1


class MomentOfTheLatest(Model):
    """A group's moment is that of its latest confirmation."""

    def moment(self, pool, rounds):
        last = max(i for i, change in enumerate(pool.history) if change.round in rounds) + 1
        return max(last, super().moment(pool, rounds))


class MomentByPress(Model):
    """Order of payment goes by the time of the press."""

    def in_order_of_payment(self, winners):
        return sorted(winners, key=lambda w: (w[0].pressed_at, w[0].table.id, -w[1]))


class PaidInOrderOfEvents(Model):
    """Confirmations of one millisecond are paid in the order of their events, not by table id."""

    def in_order_of_payment(self, winners):
        return sorted(winners, key=lambda w: (w[0].arrival, -w[1]))


class LowestSeatFirst(Model):
    """Within a step payment goes from the lowest seat up."""

    def in_order_of_payment(self, winners):
        return sorted(winners, key=lambda w: (w[0].confirmed_at, w[0].table.id, w[1]))


class AllTierFirst(Model):
    """The 100 % tier is paid before the 10 % tier."""

    def settle(self, pool, rounds):
        first = len(self.payouts)
        super().settle(pool, rounds)
        self.payouts[first:] = sorted(
            self.payouts[first:], key=lambda payout: pool.pays.get(payout["tier"]) == TENTH)


class DrawsInAllWaiting(Model):
    """When presses tie, every waiting one is held."""

    def draw_in(self, pool):
        if pool.held:
            pool.held += pool.waiting
            pool.waiting = []


class DrawsInNone(Model):
    """One that joins those held does not draw in a waiting one that it ties with."""

    def draw_in(self, pool):
        if len(pool.held) == 1:
            super().draw_in(pool)


class DoesNotJoin(Model):
    """One confirmed while others are held is held only if its press ties."""

    def jackpot_confirmed(self, event):
        super().jackpot_confirmed(event)
        round = self.tables[event["table"]].current
        pool = round.table.pool
        ties = any(self.presses_tie(pool, round, other) for other in pool.held)
        if round in pool.held and not ties:
            pool.held.remove(round)
            pool.waiting.append(round)


class PressesCountAtArrival(Model):
    """Whether presses tie is decided by when their confirmations arrived."""

    def presses_tie(self, pool, one, other):
        apart = abs(one.confirmed_at - other.confirmed_at)
        return one.table is not other.table and apart < pool.window_ms


class OneTableTiesWithItself(Model):
    """Two rounds of one table can tie."""

    def presses_tie(self, pool, one, other):
        return one is not other and abs(one.pressed_at - other.pressed_at) < pool.window_ms


class NoLookAtOfflineTables(Model):
    """A lone one settles although another table is offline with an unconfirmed claim."""

    def offline_claim_elsewhere(self, round):
        return False


class AnyOfflineTableHolds(Model):
    """An offline table without an unconfirmed claim holds others."""

    def offline_claim_elsewhere(self, round):
        return any(table.offline and table.pool is round.table.pool and table is not round.table
                   for table in self.tables.values())


class ReleasedWhenTableComesBack(Model):
    """One held for an offline table is let go when that table comes back."""

    def table_online(self, event):
        super().table_online(event)
        pool = self.tables[event["table"]].pool
        if len({round.table for round in pool.held}) == 1:
            pool.waiting += pool.held
            pool.held = []
            self.settle_due(self.now)


class TieNotEndedByVoid(Model):
    """What a void leaves of a tie stays held."""

    def drop_claims(self, round, seats):
        pool = round.table.pool
        if round in pool.held and set(seats) == set(round.claims):
            pool.held.remove(round)
        super().drop_claims(round, seats)


class TieEndedWithoutWindow(Model):
    """What a void leaves of a tie settles at once, whether or not its window has passed."""

    def drop_claims(self, round, seats):
        pool = round.table.pool
        before = list(pool.held)
        super().drop_claims(round, seats)
        if before and not pool.held:
            for other in list(pool.waiting):
                if other in before:
                    self.window_ended(other)


class TieEndedWithoutLook(Model):
    """What a void leaves of a tie settles without a look at offline tables."""

    def drop_claims(self, round, seats):
        self.looking_away = True
        super().drop_claims(round, seats)
        self.looking_away = False

    def offline_claim_elsewhere(self, round):
        return not getattr(self, "looking_away", False) and super().offline_claim_elsewhere(round)


class WindowEndsAfterTheEvent(Model):
    """A window that ends at an event's time ends after that event."""

    def settle_due(self, until_ms):
        super().settle_due(None if until_ms is None else until_ms - 1)


class GroupsByConfirmation(Model):
    """Groups settle in the order of their confirmations, not in the ruling's."""

    def surveillance_ruling(self, event):
        held = self.pools[event["pool"]].held
        arrivals = {(round.table.id, round.number): round.arrival for round in held}
        order = sorted(event["order"],
                       key=lambda group: [arrivals.get(tuple(item), 0) for item in group])
        super().surveillance_ruling({**event, "order": order})


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


class BonusToWinners(Model):
    """A winner of the jackpot has a bonus too."""

    def pay_bonus(self, pool, round):
        claims = dict(round.claims)
        amounts = [pool.bonus[tier] for tier in claims.values() if tier in pool.bonus]
        for seat in sorted(round.wagers, reverse=True) if amounts else []:
            self.pay(round, seat, "bonus", max(amounts))
            pool.paid_by_house += max(amounts)


class BonusForEachTier(Model):
    """Where both tiers are hit the bonus amounts are added up."""

    def pay_bonus(self, pool, round):
        tiers = {tier for tier in round.claims.values() if tier in pool.bonus}
        for seat in sorted(round.wagers, reverse=True) if tiers else []:
            if seat not in round.claims:
                amount = sum(pool.bonus[tier] for tier in tiers)
                self.pay(round, seat, "bonus", amount)
                pool.paid_by_house += amount


class NotSplitAtTheCap(Model):
    """A contribution that would pass the cap goes to the reserve as a whole."""

    def contribute(self, pool):
        wager = super().contribute(pool)
        full = pool.wager * pool.increment // RATE_ONE
        if 0 < wager.to_meter < full:
            pool.meter -= wager.to_meter
            pool.reserve += wager.to_meter
            pool.history[-1] = Change(self.now, "contribution", 0)
            wager.to_meter, wager.to_reserve = 0, wager.to_reserve + wager.to_meter
        return wager


class ReserveNotMadeGood(Model):
    """A return takes from the reserve only what is there."""

    def return_wagers(self, round, seats):
        left = round.table.pool.reserve
        for seat in sorted(seats):
            wager = round.wagers[seat]
            wager.to_reserve = min(wager.to_reserve, left)
            left -= wager.to_reserve
        super().return_wagers(round, seats)


class ResetFromHouseFirst(Model):
    """The minimum is restored by the house although there is a reserve."""

    def pay_in(self, pool, amount):
        pool.seeded += amount
        pool.meter += amount


class VoidReturnsSettledWagers(Model):
    """In a void Blackjack round the wagers of seats that keep their award are returned too."""

    def round_voided(self, event):
        round = self.find_round(event, or_waiting=True)
        if round.table.pool.game == "blazing7s":
            round.fixed = {}
        super().round_voided(event)


class VoidKeepsFixedAwards(Model):
    """In a void UTH round fixed awards stand."""

    def round_voided(self, event):
        round = self.find_round(event, or_waiting=True)
        if round.table.pool.game == "uth" and not round.settled:
            round.fixed = {}
        super().round_voided(event)


class WagerVoidKeepsFixedAward(Model):
    """The fixed award of an invalid wager stands."""

    def wager_voided(self, event):
        round = self.find_round(event, or_waiting=True)
        if not round.settled:
            round.fixed.pop(event["seat"], None)
        super().wager_voided(event)


class SuspensionReturnsNothing(Model):
    """A malfunction leaves the wagers of the open round where they are."""

    def table_suspended(self, event):
        round = self.tables[event["table"]].current
        if round is not None and not round.result_in:
            round.wagers = {}
        super().table_suspended(event)


class SuspensionDropsClaims(Model):
    """A malfunction drops claims already made."""

    def table_suspended(self, event):
        super().table_suspended(event)
        round = self.tables[event["table"]].current
        if round is not None and round.has_unconfirmed_claim:
            round.claims = {}


class CorrectionKeepsAwards(Model):
    """A corrected result leaves the first result's awards due where they are the same."""

    def result_corrected(self, event):
        round = self.tables[event["table"]].current
        before = dict(round.fixed) if round is not None else {}
        first = [len(self.payouts), len(self.withdrawn)]
        super().result_corrected(event)
        same = [seat for seat, award in round.fixed.items() if before.get(seat) == award]
        for awards, new in zip((self.payouts, self.withdrawn), first):
            awards[new:] = [award for award in awards[new:] if award["seat"] not in same]


class ClaimBeforeRoundNumber(Model):
    """claim_unconfirmed is looked for before round_not_newer."""

    def round_opened(self, event):
        table = self.tables[event["table"]]
        if table.current is not None and table.current.has_unconfirmed_claim:
            if not table.suspended and not table.pool.suspended:
                raise Refused("claim_unconfirmed")
        super().round_opened(event)


class BadCardFirst(Model):
    """bad_card is looked for before the hands' seats and sizes."""

    def check_result(self, round, event):
        if not all(is_card(card) for hand in event["hands"] for card in hand["cards"]):
            raise Refused("bad_card")
        return super().check_result(round, event)


class ChangeInForceAtOnce(Model):
    """Agreed parameters do not wait for a reset."""

    def end_command(self):
        for pool in self.pools.values():
            pool.reset_since = pool.agreed is not None
        super().end_command()


class ChangeWhileClaimsWait(Model):
    """Agreed parameters come into force at a reset although a claim waits or is held."""

    def end_command(self):
        kept = {pool.id: (pool.waiting, pool.held, pool.history, pool.opening)
                for pool in self.pools.values()}
        for pool in self.pools.values():
            pool.waiting, pool.held = [], []
        super().end_command()
        for pool in self.pools.values():
            pool.waiting, pool.held, history, opening = kept[pool.id]
            if pool.waiting or pool.held:
                pool.history, pool.opening = history, opening


class ResetBeforeAgreementCounts(Model):
    """A change that replaces another one takes over the reset that came before it."""

    def pool_change_agreed(self, event):
        before = self.pools[event["pool"]].reset_since
        super().pool_change_agreed(event)
        pool = self.pools[event["pool"]]
        pool.reset_since = before and pool.agreed is not None


class NewMinimumNotPaidIn(Model):
    """The meter is left below the minimum of new parameters until its next change."""

    def note_change(self, pool, state):
        super().note_change(pool, state)
        self.came_into_force = state == "in_force"

    def restore_minimum(self, pool):
        if not getattr(self, "came_into_force", False):
            super().restore_minimum(pool)
        self.came_into_force = False


class PresentValuesTakeNothingBack(Model):
    """An agreement on the present values leaves an earlier one as it is."""

    def pool_change_agreed(self, event):
        pool = self.pools[event["pool"]]
        before = pool.agreed
        super().pool_change_agreed(event)
        if pool.agreed is None and before is not None:
            pool.agreed = before


class AllOfThePoolPaysOldMinimumAgain(Model):
    """A new minimum is paid in whole, on top of the reset to the old one."""

    def note_change(self, pool, state):
        super().note_change(pool, state)
        if state == "in_force":
            self.pay_in(pool, pool.minimum)


class OpeningOfAPoolInPlayChecked(Model):
    """An amendment is refused for an opening amount that was of the past."""

    def site_configured(self, event):
        try:
            site_by_the_rules(*shape_of_site(event))
        except BadConfiguration:
            raise Refused("bad_configuration") from None
        super().site_configured(event)


class AgreedParametersNotNamed(Model):
    """An amendment that names parameters which are agreed and not in force is refused."""

    def site_configured(self, event):
        agreed = {pool: pool.agreed for pool in self.pools.values()}
        for pool in agreed:
            pool.agreed = None
        try:
            super().site_configured(event)
        finally:
            for pool, parameters in agreed.items():
                pool.agreed = parameters


class RefusedAmendmentAddsTables(Model):
    """A refused amendment adds its new tables all the same."""

    def site_configured(self, event):
        try:
            super().site_configured(event)
        except Refused:
            for shape in shape_of_site(event)[1]:
                if shape["id"] not in self.tables and shape["pool"] in self.pools:
                    self.tables[shape["id"]] = table_by_the_rules(
                        {**shape, "seats": 7, "wager": None}, "", self.pools)
            raise


class TablesInPlayChange(Model):
    """A table may change with a round open."""

    def site_configured(self, event):
        rounds = {table: table.current for table in self.tables.values()}
        for table, round in rounds.items():
            if round is not None and not round.result_in:
                table.current = None
        try:
            super().site_configured(event)
        finally:
            for table, round in rounds.items():
                table.current = round


class TablesWithAHeldClaimChange(Model):
    """A table may change while an earlier round of it waits or is held."""

    def site_configured(self, event):
        kept = {pool: (pool.waiting, pool.held) for pool in self.pools.values()}
        for pool in kept:
            pool.waiting, pool.held = [], []
        try:
            super().site_configured(event)
        finally:
            for pool, (waiting, held) in kept.items():
                pool.waiting, pool.held = waiting, held


def kebab(name):
    return re.sub("(?<!^)([A-Z])", r"-\1", name).lower()


SABOTAGES = {
    kebab(name): fault
    for name, fault in list(globals().items())
    if isinstance(fault, type) and issubclass(fault, Model) and fault is not Model
}
