"""Models with a fault in holds, rulings, due and final wins, and in what is computed again."""

from model import Model
from state import Change
from wins import DAY_MS


# -- held -------------------------------------------------------------------------------------------


class TieAtWindowLength(Model):
    """Presses exactly the window's length apart are held."""

    def ties(self, pool, one, other):
        pool.window_ms += 1
        try:
            return super().ties(pool, one, other)
        finally:
            pool.window_ms -= 1


class TiesInUth(Model):
    """Presses in UTH tie within 2 seconds."""

    def ties(self, pool, one, other):
        if pool.game == "uth":
            return abs(one.pressed_to - other.pressed_to) < 2000
        return super().ties(pool, one, other)


class PressesCountAtArrival(Model):
    """Whether presses tie is decided by when their confirmations arrived."""

    def ties(self, pool, one, other):
        apart = abs(one.arrived_ms - other.arrived_ms)
        return pool.game == "blazing7s" and apart < pool.window_ms


class SamePressOutOfOrder(Model):
    """Presses of the same millisecond are out of order."""

    def out_of_order(self, new, earlier):
        return new.pressed_from <= earlier.pressed_to


class OrderNotLookedAt(Model):
    """A press that comes out of order is not held."""

    def out_of_order(self, new, earlier):
        return False


class OneTableTiesWithItself(Model):
    """Two rounds of one table can tie."""

    def meet(self, pool, new, earlier):
        return self.ties(pool, new, earlier) or self.out_of_order(new, earlier)


class PressAtTheOpeningImpossible(Model):
    """A press in the millisecond in which its round was opened is impossible."""

    def is_impossible(self, round, press):
        return press <= round.opened_ms


class ImpossibleTakenAsStated(Model):
    """An impossible press counts at the time that the table states, and is not held."""

    def is_impossible(self, round, press):
        return False


class ImpossibleCountsAtItsArrival(Model):
    """An impossible press is compared as if it was pressed at its arrival."""

    def lock(self, round, pressed_ago_ms):
        win = super().lock(round, pressed_ago_ms)
        win.pressed_from = win.pressed_to
        return win


class DueWinsNotHeldAgain(Model):
    """A win that is due is not held by a late press."""

    def meet(self, pool, new, earlier):
        return not (earlier.due and not earlier.final) and super().meet(pool, new, earlier)


class GroupNotHeldTogether(Model):
    """A late press does not hold the wins that are in one group with the one it meets."""

    def held_together(self, pool, win, met):
        groups = {other: other.group.wins for other in met}
        for other in met:
            other.group.wins = [other]
        together = super().held_together(pool, win, met)
        for other, wins in groups.items():
            other.group.wins = wins
        return together


class HoldsNotJoined(Model):
    """A press that meets one of two held wins leaves the other one in its hold."""

    def held_together(self, pool, win, met):
        together = [win, *met]
        for member in together:
            if member.hold is not None:
                member.hold.wins.remove(member)
                if member.hold.wins:
                    member.hold = None
        return sorted(together, key=lambda member: member.number)


class OneHoldForAPool(Model):
    """A win that is confirmed while others are held joins them."""

    def meet(self, pool, new, earlier):
        return super().meet(pool, new, earlier) or (
            earlier.hold is not None and earlier.table is not new.table)


class NoLookAtOfflineTables(Model):
    """A win is due although another table is offline in a round that can still win."""

    def offline_table_may_win(self, win):
        return False


class OfflineRoundWithoutResultIgnored(Model):
    """Only an unconfirmed claim of an offline table holds others."""

    def may_still_win(self, round):
        return super().may_still_win(round) and round.result_in


class OfflineClaimIgnored(Model):
    """Only a round without result of an offline table holds others."""

    def may_still_win(self, round):
        return super().may_still_win(round) and not round.result_in


class AnyOfflineTableHolds(Model):
    """An offline table with nothing to report holds others."""

    def may_still_win(self, round):
        return round is not None


class OfflineLooksInUth(Model):
    """A UTH win is held for an offline table too."""

    def jackpot_confirmed(self, event):
        super().jackpot_confirmed(event)
        win = self.tables[event["table"]].current.win
        if win.table.pool.game == "uth" and win.due and self.offline_table_may_win(win):
            win.due = False
            self.try_due(win)
            self.changed(win.table.pool)


class ReleasedWhenTableComesBack(Model):
    """A win that is held for an offline table is due when that table comes back."""

    def table_online(self, event):
        super().table_online(event)
        pool = self.tables[event["table"]].pool
        for hold in list(pool.holds):
            if [win.reason_of_its_own for win in hold.wins] == ["offline"]:
                pool.holds.remove(hold)
                hold.wins[0].hold = None
                hold.wins[0].due = True
        self.changed(pool)


class HoldNotEndedByVoid(Model):
    """What a void leaves of a hold stays held."""

    def end_holds(self, pool):
        pool.holds = [hold for hold in pool.holds if hold.wins]


class HoldEndedInAnyCase(Model):
    """A void ends the hold of one table also where a press was impossible or a table offline."""

    def end_holds(self, pool):
        for hold in pool.holds:
            for win in hold.wins:
                win.reason_of_its_own = ""
        super().end_holds(pool)


class RulingLeavesTheReason(Model):
    """A ruling does not settle that a press was impossible or a table offline."""

    def surveillance_ruling(self, event):
        reasons = {win: win.reason_of_its_own for win in self.pools[event["pool"]].wins}
        super().surveillance_ruling(event)
        for win, reason in reasons.items():
            win.reason_of_its_own = reason


class HoldEndedWithoutWait(Model):
    """What a void leaves of a hold is due at once, whether or not its wait has passed."""

    def end_holds(self, pool):
        wait, pool.settle_after_ms = pool.settle_after_ms, 0
        super().end_holds(pool)
        pool.settle_after_ms = wait


class HoldEndedWithoutLook(Model):
    """What a void leaves of a hold is due without a look at offline tables."""

    def end_holds(self, pool):
        self.looking_away = True
        super().end_holds(pool)
        self.looking_away = False

    def offline_table_may_win(self, win):
        return not getattr(self, "looking_away", False) and super().offline_table_may_win(win)


class HeldTwiceForAConfirmation(Model):
    """Each win that a confirmation holds is a notice."""

    def hold_if_needed(self, pool, win):
        due = [other for other in pool.open_wins if other.due]
        super().hold_if_needed(pool, win)
        for other in due:
            if other.hold is not None:
                self.notice("held", own=True)


# -- due and final ----------------------------------------------------------------------------------


class DueAfterTheEvent(Model):
    """A win whose wait ends at an event's time is due after that event."""

    def has_passed(self, win, wait_ms, now):
        if wait_ms == DAY_MS:
            return super().has_passed(win, wait_ms, now)
        return super().has_passed(win, wait_ms + 1, now)


class WaitRunsFromThePress(Model):
    """The wait of a win runs from its press."""

    def has_passed(self, win, wait_ms, now):
        if now is None or wait_ms == DAY_MS:
            return super().has_passed(win, wait_ms, now)
        return now - win.pressed_from >= wait_ms


class FinalAfterMoreThanADay(Model):
    """A win is final by age when more than 24 hours have passed."""

    def has_passed(self, win, wait_ms, now):
        return super().has_passed(win, wait_ms + (wait_ms == DAY_MS), now)


class NeverFinalByAge(Model):
    """A win is open until it is paid or withheld."""

    def has_passed(self, win, wait_ms, now):
        return wait_ms != DAY_MS and super().has_passed(win, wait_ms, now)


class FinalByABonus(Model):
    """The payment of a bonus makes a win final."""

    def is_settled_with_people(self, share):
        award = self.award_of(share.win.round, share.seat, share.tier)
        return bool(award.payments) or award.withheld


class NotFinalByWithholding(Model):
    """A win is not final when one of its awards is withheld."""

    def is_settled_with_people(self, share):
        award = self.award_of(share.win.round, share.seat, share.tier)
        return share.step != 1 and bool(award.payments)


class FinalOnlyByAPaymentWhileDue(Model):
    """A payment that was recorded while a win was held again does not make it final."""

    def changed(self, pool):
        self.compute(pool)


class FinalOneByOne(Model):
    """The other wins of a group stay open when one of them is paid."""

    def make_final(self, win):
        group, place = win.group, win.group.place
        if len(group.wins) > 1 and not group.final:
            group.wins.remove(win)
            win.group = type(group)(place, [win])
            win.group.paid = [share.amount for share in win.awards]
            win.table.pool.groups.append(win.group)
        super().make_final(win)


class FinalPressesForgotten(Model):
    """Nobody is notified of a late press against a final win."""

    def remembered(self, pool):
        return []


class PressesRememberedForADayAndMore(Model):
    """The press of a final win is remembered for 24 hours and a millisecond."""

    def remembered(self, pool):
        self.now -= 1
        try:
            return super().remembered(pool)
        finally:
            self.now += 1


class LatePressHeldUp(Model):
    """A press that meets only a final win is held."""

    def hold_if_needed(self, pool, win):
        super().hold_if_needed(pool, win)
        if win.hold is None and any(self.meet(pool, win, other)
                                    for other in self.remembered(pool)):
            self.hold_alone(pool, win)


class PressStandsWithoutClaims(Model):
    """A round whose last claim was dropped keeps its press: a later claim needs no button."""

    def jackpot_confirmed(self, event):
        round = self.tables[event["table"]].current
        if round is not None and getattr(round, "pressed_before", False):
            event = {**event, "pressed_ago_ms": 0}
        super().jackpot_confirmed(event)

    def drop_win(self, round):
        self.pressed = getattr(self, "pressed", {})
        self.pressed[round] = round.win.arrived_ms
        super().drop_win(round)

    def result_corrected(self, event):
        super().result_corrected(event)
        round = self.tables[event["table"]].current
        if round in getattr(self, "pressed", {}) and round.has_unconfirmed_claim:
            self.lock(round, 0)
            self.changed(round.table.pool)


# -- computed again ---------------------------------------------------------------------------------


class ReturnsAtTheirContributions(Model):
    """A returned wager counts as if it was never made."""

    def compute(self, pool):
        returns = [change for change in pool.history if change.what == "return"]
        if returns and returns[-1] is pool.history[-1]:
            amount, returns[-1].amount = returns[-1].amount, 0
            pool.history[0] = Change(pool.history[0].what, pool.history[0].amount + amount)
        super().compute(pool)


class PlacesByThePress(Model):
    """A ruling's first group has the place of its latest round."""

    def make_group(self, pool, wins, former_place, order):
        latest = max(win.arrival for win in wins)
        return super().make_group(pool, wins, max(former_place, latest), order)


class PlacesNotMoved(Model):
    """A group may come before the one that won before it in the same ruling."""

    def make_group(self, pool, wins, former_place, order):
        return super().make_group(pool, wins, -1, order)


class MovedGroupsComeFirst(Model):
    """At one place a group that was moved there comes before the one that arrived there."""

    def place(self, arrival, own=True, ruling=0, order=0):
        return (arrival, 1 if own else 0, ruling, order)


class LaterRulingFirst(Model):
    """At one place a later ruling comes before an earlier one."""

    def place(self, arrival, own=True, ruling=0, order=0):
        return (arrival, 0 if own else 1, -ruling, order)


class PlaceLostWithItsEarliestRound(Model):
    """If the earliest round of a group is voided, the others go back to their arrival."""

    def drop_win(self, round):
        group = round.win.group
        super().drop_win(round)
        if group.wins:
            group.place = self.place(min(win.arrival for win in group.wins))


class HoldChangesPlaces(Model):
    """A win that is held again goes back to the place of its arrival."""

    def hold_if_needed(self, pool, win):
        super().hold_if_needed(pool, win)
        for member in win.hold.wins if win.hold is not None else []:
            member.group.place = self.place(min(mate.arrival for mate in member.group.wins))


class AwardsNotComputedAgain(Model):
    """An award that is due keeps its amount when an earlier win is voided."""

    def settle(self, pool, group, meter, resets):
        if not any(win.due and win.shown for win in group.wins):
            return super().settle(pool, group, meter, resets)
        return self.apply_steps(pool, meter, resets, [-paid for paid in group.paid])


class AllWithdrawnAndDueAgain(Model):
    """An award that comes out the same is withdrawn and due again."""

    def withdraw_shares(self, pool, before):
        super().withdraw_shares(pool, before)
        for share in before:
            win, key = share.win, (share.seat, share.tier)
            if key in win.shown and not win.final and pool.rulings:
                self.withdraw(win.round, *key, win.shown.pop(key))


class SettledOnTheMeterOfTheRuling(Model):
    """A ruling settles its wins on the meter of its own time."""

    def make_group(self, pool, wins, former_place, order):
        if former_place < 0:
            pool.history.append(Change("ruling"))
        return super().make_group(pool, wins, max(former_place, len(pool.history) - 1), order)
