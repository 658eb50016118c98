"""Voids, suspensions, lost links and adjustments [rules: Irregularities]."""

from money import Refused, read_money, write_money
from state import Change


class Irregularities:
    """The part of the model for voids, suspensions, links and adjustments [rules: Irregularities]."""

    def round_voided(self, event):
        """Void round or misdeal."""
        round = self.find_round(event, or_waiting=True)
        pool = round.table.pool
        if pool.game == "uth" and round.settled:
            raise Refused("round_settled")
        self.note_void(round)
        if pool.game == "blazing7s":
            # Interim settlement stands: a seat whose award is due keeps it, its wager is settled.
            keeps = set(round.fixed) | (set(round.claims) if round.settled else set())
        else:
            # No interim settlement: fixed awards of the round are withdrawn.
            keeps = set()
            self.withdraw(round, list(round.fixed))
        self.return_wagers(round, [seat for seat in round.wagers if seat not in keeps])
        round.voided = True
        self.drop_claims(round, [] if round.settled else list(round.claims))

    def wager_voided(self, event):
        """Invalid wager."""
        round = self.find_round(event, or_waiting=True)
        seat = event["seat"]
        if seat not in round.wagers:
            raise Refused("seat_has_no_wager")
        if round.settled:
            raise Refused("round_settled")
        self.note_void(round)
        if seat in round.fixed:
            self.withdraw(round, [seat])
        self.return_wagers(round, [seat])
        self.drop_claims(round, [seat] if seat in round.claims else [])

    def note_void(self, round):
        pool = round.table.pool
        if round in pool.held:
            state = "held"
        elif round in pool.waiting:
            state = "waiting"
        elif round.settled:
            state = "settled"
        elif round.claims:
            state = "unconfirmed"
        else:
            state = "without a claim"
        self.occurred[f"void in a round that is {state}"] += 1

    def return_wagers(self, round, seats):
        """Jackpot wagers returned, their contributions taken back exactly as they were posted, all
        of them before the minimum is restored."""
        pool = round.table.pool
        from_meter = 0
        from_reserve = 0
        for seat in sorted(seats):
            wager = round.wagers.pop(seat)
            from_meter += wager.to_meter
            from_reserve += wager.to_reserve
            self.refunds.append({"table": round.table.id, "round": round.number, "seat": seat,
                                 "amount": write_money(pool.wager, 2)})
        pool.meter -= from_meter
        pool.reserve -= from_reserve
        pool.returned += from_meter + from_reserve
        pool.history.append(Change(self.now, "return", -from_meter))
        # A reserve that was meanwhile spent is made good by the house.
        if pool.reserve < 0:
            pool.seeded += -pool.reserve
            pool.reserve = 0
            self.occurred["spent reserve made good"] += 1
        self.restore_minimum(pool)

    def drop_claims(self, round, seats):
        """Unsettled claims dropped."""
        pool = round.table.pool
        for seat in seats:
            del round.claims[seat]
        if round.claims:
            return
        if round in pool.waiting:
            pool.waiting.remove(round)
        if round in pool.held:
            pool.held.remove(round)
            tied = {other.table for other in pool.held}
            # [rules: Wins at the same time] If a void leaves only one table in a tie, nothing is
            # left to rule on: what is left settles when its own window has passed, at once if it
            # has, subject to the same look at offline tables. One held because a table was offline
            # stays until a ruling, and those that joined it too.
            if len(tied) == 1 and not any(other.held_for_offline for other in pool.held):
                self.occurred["tie ended by a void"] += 1
                pool.waiting += pool.held
                pool.held = []
                self.settle_due(self.now)

    def table_suspended(self, event):
        """Malfunction."""
        table = self.tables[event["table"]]
        if table.suspended:
            raise Refused("table_suspended")
        table.suspended = True
        # The wagers of a round whose result is not in are returned and the round counts as void.
        # Claims already made stand and can still be confirmed.
        round = table.current
        if round is not None and not round.result_in and not round.voided:
            self.return_wagers(round, list(round.wagers))
            round.voided = True
            self.occurred["round voided by a suspension"] += 1

    def table_resumed(self, event):
        table = self.tables[event["table"]]
        if not table.suspended:
            raise Refused("not_suspended")
        table.suspended = False

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
        """Adjustment: only with a reason and two different people."""
        pool = self.pools[event["pool"]]
        self.check_two_people(event)
        amount = read_money(event["amount"], "amount", signed=True)
        pool.meter += amount
        pool.adjusted += amount
        pool.history.append(Change(self.now, "adjustment", amount))
        if pool.waiting or pool.held:
            self.occurred["adjusted while a claim waits or is held"] += 1
        self.restore_minimum(pool)

    def check_two_people(self, event):
        if len({person for person in event.get("by", []) if person}) < 2:
            raise Refused("needs_two_people")
        if not event["reason"]:
            raise Refused("needs_reason")
