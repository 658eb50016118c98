"""Voids, suspensions, lost links and adjustments [rules: Irregularities]."""

from money import Refused, read_money, write_money
from state import Change


def people_of(event):
    """[FORMAT] The same name twice is one person; nobody is no name or an empty one."""
    by = event.get("by", [])
    return {name for name in ([by] if type(by) is str else by) if name}


class Irregularities:
    """The part of the model for what people put right, and for what breaks."""

    # -- voids ------------------------------------------------------------------------------------

    def find_voidable(self, event, seat=None):
        """[FORMAT: Refusal codes] round_voided, wager_voided."""
        table = self.tables[event["table"]]
        if table.current is None:
            raise Refused("no_open_round")
        round = table.rounds.get(event["round"])
        if round is None or (round is not table.current and not round.has_open_win):
            raise Refused("wrong_round")
        if round.voided:
            raise Refused("round_voided")
        if round.has_final_win:
            raise Refused("award_paid")
        invalidated = event["ground"] == "invalidated"
        if round.closed and (not round.has_open_win or (seat is None and not invalidated)):
            raise Refused("round_closed")
        people = people_of(event)
        if not people:
            raise Refused("needs_supervisor")
        if len(people) < 2 and (round.closed or round.has_open_win or invalidated
                                or self.touched_by_people(round, seat)):
            raise Refused("needs_two_people")
        return round

    def round_voided(self, event):
        round = self.find_voidable(event)
        self.note_void(round, event["ground"])
        blackjack = round.table.pool.game == "blazing7s"
        if event["ground"] == "missing_or_foreign_card":  # BJ 16.16, UTH 11.7
            self.notice("missing_or_foreign_card", own=True)
        keeps = []
        if blackjack and event["ground"] in ("dealing_error", "missing_or_foreign_card"):
            # Interim settlement stands: a seat with a fixed award due keeps it, its wager is
            # settled (BJ 16.8, 16.16).
            keeps = list(round.fixed)
        else:
            self.withdraw_fixed(round, list(round.fixed))
        if event["ground"] == "invalidated":  # BJ 18.10, UTH 13.10
            keeps = event.get("forfeited", [])
        round.voided = True
        round.claims = {}
        self.return_wagers(round, [seat for seat in round.wagers if seat not in keeps])
        if round.win is not None:
            self.drop_win(round)
        self.changed(round.table.pool)

    def wager_voided(self, event):
        seat = event["seat"]
        round = self.find_voidable(event, seat)
        if seat not in round.wagers:
            raise Refused("seat_has_no_wager")
        if event["ground"] == "refused" and round.result_in:  # BJ 18.16, UTH 13.16
            raise Refused("result_already_reported")
        self.note_void(round, event["ground"])
        if seat in round.fixed:
            self.withdraw_fixed(round, [seat])
        self.return_wagers(round, [seat])
        round.claims.pop(seat, None)
        if round.win is not None and not round.claims:
            self.drop_win(round)
        self.changed(round.table.pool)

    def note_void(self, round, ground):
        win = round.win
        if win is None:
            state = "unconfirmed" if round.claims else "without a claim"
        elif win.hold is not None:
            state = "held"
        else:
            state = "due" if win.due else "locked"
        closed = "closed" if round.closed else "open"
        self.occurred[f"void in an {closed} round, {state}" if closed == "open"
                      else f"void in a {closed} round, {state}"] += 1
        self.occurred[f"ground {ground}"] += 1

    def return_wagers(self, round, seats):
        """A returned wager's contribution is taken back exactly as it was posted; the returns of
        one event are one sum. A reserve that was meanwhile spent is made good by the house."""
        if not seats:
            return
        pool = round.table.pool
        from_meter = from_reserve = 0
        for seat in sorted(seats):
            wager = round.wagers.pop(seat)
            from_meter += wager.to_meter
            from_reserve += wager.to_reserve
            self.refunds.append({"table": round.table.id, "round": round.number, "seat": seat,
                                 "amount": write_money(pool.wager, 2)})
        pool.history.append(Change("return", -from_meter))
        pool.reserve -= from_reserve
        pool.returned += from_meter + from_reserve
        if pool.reserve < 0:
            pool.seeded += -pool.reserve
            pool.reserve = 0
            self.occurred["spent reserve made good"] += 1

    # -- tables -----------------------------------------------------------------------------------

    def table_suspended(self, event):
        table = self.tables[event["table"]]
        round = table.current
        if table.suspended_by:
            raise Refused("table_suspended")
        if not people_of(event):
            raise Refused("needs_supervisor")
        is_open = round is not None and round.is_open
        if event["ground"] != "malfunction" and is_open:  # BJ 18.13, 19
            raise Refused("round_open")
        table.suspended_by = event.get("from", "table")
        self.occurred[f"ground {event['ground']}"] += 1
        if event["ground"] != "malfunction":
            return
        self.notice("malfunction", own=True)  # BJ 16.18, UTH 11.11
        if not is_open:
            return
        if not round.result_in:
            self.return_wagers(round, list(round.wagers))
            round.voided = True
            self.occurred["round voided by a suspension"] += 1
        elif table.pool.game == "blazing7s":  # BJ 16.18.1
            self.return_wagers(round, [seat for seat in round.wagers
                                       if seat not in round.fixed and seat not in round.claims])
        self.changed(table.pool)

    def table_resumed(self, event):
        table = self.tables[event["table"]]
        if not table.suspended_by:
            raise Refused("not_suspended")
        if not people_of(event):
            raise Refused("needs_supervisor")
        if event.get("from", "table") == "table" and table.suspended_by == "desk":
            raise Refused("suspended_by_desk")
        table.suspended_by = ""

    def table_offline(self, event):
        table = self.tables[event["table"]]
        if table.offline:
            raise Refused("table_offline")
        table.offline = True

    def table_online(self, event):
        table = self.tables[event["table"]]
        if not table.offline:
            raise Refused("not_offline")
        table.offline = False

    # -- pools ------------------------------------------------------------------------------------

    def pool_suspended(self, event):
        """Suspending a pool refuses new rounds; what is under way goes on."""
        pool = self.pools[event["pool"]]
        if pool.suspended:
            raise Refused("pool_suspended")
        pool.suspended = True

    def pool_resumed(self, event):
        pool = self.pools[event["pool"]]
        if not pool.suspended:
            raise Refused("not_suspended")
        pool.suspended = False

    def pool_adjusted(self, event):
        """By two different people, and never below its minimum."""
        pool = self.pools[event["pool"]]
        if len(people_of(event)) < 2:
            raise Refused("needs_two_people")
        amount = read_money(event["amount"], "amount", signed=True)
        if amount < 0 and pool.meter + amount < pool.minimum:
            raise Refused("below_minimum")
        pool.adjusted += amount
        pool.history.append(Change("adjustment", amount))
        if pool.open_wins:
            self.occurred["adjusted while a win is open"] += 1
        self.changed(pool)
