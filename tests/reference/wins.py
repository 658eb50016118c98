"""From the button to the payment [rules: The life of a jackpot]."""

from money import Refused
from state import Change, Group, Hold, Win

DAY_MS = 24 * 60 * 60 * 1000


class Wins:
    """The part of the model for confirmations, holds, rulings and final wins."""

    # -- the button -------------------------------------------------------------------------------

    def jackpot_confirmed(self, event):
        round = self.find_round(event)
        pool = round.table.pool
        if round.win is not None:
            raise Refused("already_confirmed")
        if not round.claims:
            raise Refused("nothing_to_confirm")
        win = self.lock(round, event.get("pressed_ago_ms", 0))
        self.hold_if_needed(pool, win)
        if pool.game == "uth" and win.hold is None:
            win.due = True  # UTH: at once at its arrival unless held
        self.changed(pool)

    def lock(self, round, pressed_ago_ms):
        pool = round.table.pool
        press = self.now - pressed_ago_ms
        self.confirmations += 1
        win = Win(round, arrival=len(pool.history), arrived_ms=self.now, pressed_from=press,
                  pressed_to=press, number=self.confirmations)
        pool.history.append(Change("arrival"))
        if self.is_impossible(round, press):
            # (c) anywhere from that opening to its arrival, both included
            win.pressed_from, win.pressed_to = round.opened_ms, self.now
            win.reason_of_its_own = "impossible"
        win.group = Group(self.place(win.arrival), [win])
        pool.groups.append(win.group)
        round.win = win
        return win

    def is_impossible(self, round, press):
        """(c) By its age it was pressed before its round was opened."""
        return press < round.opened_ms

    def place(self, arrival, own=True, ruling=0, order=0):
        """At one place comes first the group whose own arrival place it is, then those moved
        there, by ruling and by their order in it."""
        return (arrival, 0 if own else 1, ruling, order)

    # -- [rules: Held] ----------------------------------------------------------------------------

    def ties(self, pool, one, other):
        """(a) Less than the window apart, at any possible time of the presses. Blazing 7's only."""
        if pool.game != "blazing7s":
            return False
        apart = max(one.pressed_from - other.pressed_to, other.pressed_from - one.pressed_to, 0)
        return apart < pool.window_ms

    def out_of_order(self, new, earlier):
        """(b) The other press came later than this one but arrived earlier, if that could be."""
        return new.pressed_from < earlier.pressed_to

    def meet(self, pool, new, earlier):
        """Whether (a) or (b) holds between a new win and one of another table."""
        if earlier.table is new.table:
            return False
        return self.ties(pool, new, earlier) or self.out_of_order(new, earlier)

    def hold_if_needed(self, pool, win):
        others = [other for other in pool.open_wins if other is not win]
        met = [other for other in others if self.meet(pool, win, other)]
        if met:
            self.note_meetings(pool, win, met)
            together = self.held_together(pool, win, met)
            for hold in {member.hold for member in together if member.hold is not None}:
                pool.holds.remove(hold)
            hold = Hold(together)
            pool.holds.append(hold)
            for member in together:
                if member.due:
                    self.occurred["due win held again"] += 1
                member.hold = hold
                member.due = False  # awards that were due are withdrawn
        elif win.reason_of_its_own:
            self.hold_alone(pool, win)
            self.occurred["held: impossible"] += 1
        if win.hold is not None:
            self.notice("held", own=True)
        if any(self.meet(pool, win, other) for other in self.remembered(pool)):
            self.notice("late_press", own=True)

    def held_together(self, pool, win, met):
        """The new one, those that it meets, every open win that is in one group with one of these
        by its latest ruling, and every win that is held together with one of them."""
        together = [win, *met]
        together += [mate for other in met for mate in other.group.wins
                     if not mate.final and mate not in together]
        for member in list(together):
            if member.hold is not None:
                together += [mate for mate in member.hold.wins if mate not in together]
        return sorted(set(together), key=lambda member: member.number)

    def note_meetings(self, pool, win, met):
        if any(self.ties(pool, win, other) for other in met):
            self.occurred["held: tie"] += 1
        if any(self.out_of_order(win, other) for other in met):
            self.occurred["held: out of order"] += 1
        if win.reason_of_its_own:
            self.occurred["held: impossible"] += 1
        if len({other.hold for other in met if other.hold is not None}) > 1:
            self.occurred["two holds joined"] += 1

    def hold_alone(self, pool, win):
        win.hold = Hold([win])
        pool.holds.append(win.hold)

    def remembered(self, pool):
        """For less than 24 hours after a final win's arrival its press is remembered."""
        return [win for win in pool.wins + self.past_wins.get(pool.id, [])
                if win.final and self.now - win.arrived_ms < DAY_MS]

    def drop_win(self, round):
        """Its claims are gone: it is no win any more, and its press is forgotten."""
        win, pool = round.win, round.table.pool
        win.group.wins.remove(win)
        if win.hold is not None:
            win.hold.wins.remove(win)
        round.win = None
        self.occurred["win dropped"] += 1
        self.end_holds(pool)

    def end_holds(self, pool):
        """If only wins of one table are left in a hold, and none because of (c) or (d), nothing is
        left to rule on. Being held no longer changes no place and no group."""
        for hold in list(pool.holds):
            if len({win.table for win in hold.wins}) > 1:
                continue
            if any(win.reason_of_its_own for win in hold.wins):
                continue
            pool.holds.remove(hold)
            for win in hold.wins:
                self.occurred["held no longer without a ruling"] += 1
                win.hold = None
                if pool.game == "uth":
                    win.due = True
                elif self.now - win.arrived_ms >= pool.settle_after_ms:
                    self.try_due(win)

    # -- [rules: Due] and [rules: Final], at the look before an event -------------------------------

    def look(self, now):
        """[FORMAT] Before each event, at its time: first wins that became final by age, then wins
        that are due, in the order of arrival over all pools. None: the end of time."""
        wins = [win for pool in self.pools.values() for win in pool.wins]
        wins.sort(key=lambda win: win.number)
        for win in wins:
            if not win.final and win.due and self.has_passed(win, DAY_MS, now):
                self.occurred["final by age"] += 1
                self.make_final(win)
        for win in wins:
            if not win.due and win.hold is None:
                if self.has_passed(win, win.table.pool.settle_after_ms, now):
                    self.try_due(win)
                    self.changed(win.table.pool)
        self.end_command()

    def has_passed(self, win, wait_ms, now):
        return now is None or now - win.arrived_ms >= wait_ms

    def try_due(self, win):
        """Due, with the look at offline tables (d)."""
        pool = win.table.pool
        if self.offline_table_may_win(win):
            self.hold_alone(pool, win)
            win.reason_of_its_own = "offline"
            self.notice("held")
            self.occurred["held: offline"] += 1
        else:
            win.due = True

    def offline_table_may_win(self, win):
        """(d) Another table of the pool is offline and its current round is open, has a wager that
        stands, and has no result or an unconfirmed claim."""
        return any(
            table.pool is win.table.pool and table is not win.table and table.offline
            and self.may_still_win(table.current)
            for table in self.tables.values()
        )

    def may_still_win(self, round):
        if round is None or not round.is_open or not round.wagers:
            return False
        return not round.result_in or round.has_unconfirmed_claim

    def make_final(self, win):
        """Rounds that are in one group by their latest ruling become final together. They are all
        due: a hold that has several of them has several tables, and ends by a ruling only."""
        if win.group.final:
            return
        win.group.final = True
        if len(win.group.wins) > 1:
            self.occurred["several wins final together"] += 1
        for member in win.group.wins:
            member.final = True
            self.occurred["win final"] += 1

    def make_final_what_is_paid(self, pool):
        """As soon as a win is due and a payment of one of the jackpot awards that it then has is
        recorded, or one of them is withheld."""
        for win in pool.open_wins:
            if win.due and any(self.is_settled_with_people(share) for share in win.awards):
                self.make_final(win)

    def is_settled_with_people(self, share):
        if share.step == 1:  # not of a bonus
            return False
        award = self.award_of(share.win.round, share.seat, share.tier)
        return bool(award.payments) or award.withheld

    # -- [rules: Ruling] --------------------------------------------------------------------------

    def surveillance_ruling(self, event):
        pool = self.pools[event["pool"]]
        if not pool.holds:
            raise Refused("nothing_held")
        hold = self.hold_ruled_on(pool, event["order"])
        by_name = {(win.table.id, win.round.number): win for win in hold.wins}
        pool.holds.remove(hold)
        pool.rulings += 1
        former_place = -1
        for order, names in enumerate(event["order"]):
            wins = [by_name[table, number] for table, number in names]
            former_place = self.make_group(pool, wins, former_place, order)
        for win in hold.wins:
            win.hold = None
            win.reason_of_its_own = ""  # a ruling settles that reason
            win.due = True  # after a ruling: at once
        self.occurred["ruling"] += 1
        self.changed(pool)

    def hold_ruled_on(self, pool, order):
        """It names every round of one hold once, in groups: a Blazing 7's group has at most one
        round of each table, a UTH group is one round."""
        named = sorted((table, number) for group in order for table, number in group)
        for group in order:
            if not group or len({table for table, _ in group}) != len(group):
                raise Refused("bad_ruling")
            if pool.game == "uth" and len(group) > 1:
                raise Refused("bad_ruling")
        for hold in pool.holds:
            if named == sorted((win.table.id, win.round.number) for win in hold.wins):
                return hold
        raise Refused("bad_ruling")

    def make_group(self, pool, wins, former_place, order):
        """A group's place is the arrival place of its earliest round, but not before the place of
        the group before it in that ruling."""
        earliest = min(win.arrival for win in wins)
        place = max(earliest, former_place)
        group = Group(self.place(place, place == earliest, pool.rulings, order), list(wins))
        if place != earliest:
            self.occurred["group moved to another place"] += 1
        if len(wins) > 1:
            self.occurred["group of several tables"] += 1
        for win in wins:
            win.group.wins.remove(win)
            win.group = group
        pool.groups.append(group)
        return place
