"""Voids, payments, suspensions, lost links and adjustments, for the generator of scenarios."""

from money import CENT, DOLLAR, money
from scenario import ROUND_GROUNDS, SUSPENSION_GROUNDS, WAGER_GROUNDS


class Disturbances:
    """The part of the generator for what interrupts play."""

    def some_round(self):
        """A round to void: one with an open win, a current one in any state, or a past one."""
        open_wins = [win.round for pool in self.pools for win in pool.open_wins]
        if open_wins and self.chance(0.5):
            return self.random.choice(open_wins)
        final = [table.current for table in self.tables
                 if table.current is not None and table.current.has_final_win]
        if final and self.chance(0.2):
            return self.random.choice(final)
        if self.chance(0.1 + self.faults / 2):
            past = [round for table in self.tables for round in table.rounds.values()]
            if past:
                return self.random.choice(past)
        return self.random.choice(self.tables).current

    def void_round(self, round=None):
        round = round or self.some_round()
        ground = self.random.choice(ROUND_GROUNDS)
        if round is None:
            table = self.random.choice(self.tables)
            return self.add("round_voided", table=table.id, round=self.number_of(table) + 1,
                            ground=ground, **self.people(1))
        if round.closed and self.chance(0.7):
            ground = "invalidated"
        fields = {"ground": ground, **self.people(self.people_to_void(round, ground))}
        if ground == "invalidated" and self.chance(0.6):
            seats = [*round.wagers, 1, 9]
            fields["forfeited"] = self.random.sample(seats, self.random.randint(0, 2))
        if self.chance(0.3):
            fields["reason"] = self.random.choice(["misdeal", ""])
        number = round.number + (1 if self.chance(self.faults / 10) else 0)
        return self.add("round_voided", table=round.table.id, round=number, **fields)

    def people_to_void(self, round, ground, seat=None):
        two = (round.closed or round.has_open_win or ground == "invalidated"
               or self.model.touched_by_people(round, seat))
        return 2 if two else 1

    def void_win(self, win):
        """A round that is held or due, or the wagers of its winners."""
        if self.chance(0.6):
            return self.void_round(win.round)
        for seat in list(win.round.claims):
            self.add("wager_voided", table=win.table.id, round=win.round.number, seat=seat,
                     ground=self.random.choice(WAGER_GROUNDS[:3]), **self.people(2))
        return None

    def void_wager(self):
        round = self.some_round()
        ground = self.random.choice(WAGER_GROUNDS)
        if round is None:
            table = self.random.choice(self.tables)
            return self.add("wager_voided", table=table.id, round=self.number_of(table) + 1,
                            seat=1, ground=ground, **self.people(1))
        if not round.result_in and self.chance(0.5):
            ground = "refused"
        seats = list(round.claims if round.claims and self.chance(0.6) else round.wagers)
        if not seats or self.chance(0.1):
            seats = range(0, 11)
        seat = self.random.choice(seats)
        return self.add("wager_voided", table=round.table.id, round=round.number, seat=seat,
                        ground=ground, **self.people(self.people_to_void(round, ground, seat)))

    def disturb_open_win(self):
        """Something happens while a win is open."""
        pools = [pool for pool in self.pools if pool.open_wins]
        if not pools:
            return self.play()
        pool = self.random.choice(pools)
        win = self.random.choice(pool.open_wins)
        kind = self.random.randrange(6)
        if kind == 0:
            return self.void_win(win)
        if kind == 1:
            return self.adjust(pool)
        if kind == 2 and win.table.current is win.round and win.round.is_open:
            return self.correct_result(win.table)
        if kind == 3:
            others = [table for table in self.tables
                      if table.pool is pool and table is not win.table]
            if others:
                other = self.random.choice(others)
                kind = "table_online" if other.offline else "table_offline"
                return self.add(kind, table=other.id)
        if kind == 4:
            return self.pay_award(win.round)
        if win.table.current is win.round:
            return self.open_round(win.table)
        return self.play()

    # -- payments ---------------------------------------------------------------------------------

    def some_award(self, round=None):
        """(table, round, seat, tier): mostly an award that there is or was."""
        known = [key for key in self.model.awards if key[3] != "none"]
        if round is not None:
            of_round = [key for key in known if key[:2] == (round.table.id, round.number)]
            jackpots = [key for key in of_round if key[2] in round.claims]
            known = jackpots if jackpots and self.chance(0.9) else of_round or known
        if known and self.chance(0.93):
            return self.random.choice(known)
        table = self.random.choice(self.tables)
        tier = self.random.choice(["flush", "bonus", "three_sevens", "none", "gold"])
        return table.id, max(1, self.number_of(table)), self.random.randint(1, 7), tier

    def pay_award(self, round=None, at_ms=None):
        table, number, seat, tier = self.some_award(round)
        award = self.model.awards.get((table, number, seat, tier))
        due = award.due if award else 0
        paid = self.random.choice([due, due, due, due + 5 * DOLLAR, due - CENT, 0, -due,
                                   1000 * DOLLAR])
        if award and award.payments and self.chance(0.6):  # what rectifies it
            paid = due - sum(award.payments)
        fields = {"table": table, "round": number, "seat": seat, "paid": money(paid),
                  **self.people(1)}
        if self.chance(0.9):
            fields["tier"] = tier
        if self.chance(0.2):
            fields["how"] = "chips"
        self.add("payment_recorded", at_ms, **fields)

    def pay_and_withdraw(self):
        """A fixed award is paid and then withdrawn; what follows takes two people."""
        rounds = [table.current for table in self.tables if table.current is not None
                  and table.current.is_open and table.current.fixed and table.current.win is None]
        if not rounds:
            return self.play()
        round = self.random.choice(rounds)
        seat = self.random.choice(list(round.fixed))
        named = {"table": round.table.id, "round": round.number}
        tier, amount = round.fixed[seat]
        self.add("payment_recorded", **named, seat=seat, tier=tier, paid=money(amount), by="s1")
        board = {"dealer": "2C"} if round.table.pool.game == "blazing7s" else {
            "flop": ["2C", "7D", "9H"]}
        self.add("result_corrected", **named, **board, hands=[], by=["s1", "s2"])
        if self.chance(0.5):
            return self.correct_result(round.table)
        return self.add("wager_voided", **named, seat=self.random.choice(list(round.wagers)),
                        ground="loss_limit", by="s1")

    def withhold_or_release(self):
        withheld = [key for key, award in self.model.awards.items() if award.withheld]
        if withheld and self.chance(0.6):
            key = self.random.choice(withheld)
            kind = self.random.choice(["award_released", "award_released", "award_withheld"])
        else:
            due = [key for key, award in self.model.awards.items() if award.is_due]
            key = self.random.choice(due) if due and self.chance(0.7) else self.some_award()
            kind = self.random.choice(["award_withheld"] * 5 + ["award_released"])
        table, number, seat, tier = key
        self.add(kind, table=table, round=number, seat=seat, tier=tier, **self.people(2))
        if self.chance(0.2):
            self.pay_award()

    # -- tables and pools -------------------------------------------------------------------------

    def resume(self, table):
        fields = self.people(1)
        if table.suspended_by == "desk" and self.chance(0.8) or self.chance(0.2):
            fields["from"] = "desk"
        self.add("table_resumed", table=table.id, **fields)

    def suspend_or_resume_table(self):
        table = self.random.choice(self.tables)
        if bool(table.suspended_by) != self.chance(0.15):
            return self.resume(table)
        is_open = table.current is not None and table.current.is_open
        if is_open and table.current.result_in and self.chance(0.4):
            self.add("round_closed", table=table.id, round=table.current.number)
        fields = {"ground": self.random.choice(["malfunction", *SUSPENSION_GROUNDS]),
                  **self.people(1)}
        if self.chance(0.4):
            fields["from"] = self.random.choice(["table", "desk", "desk"])
        self.add("table_suspended", table=table.id, **fields)
        if self.chance(0.4):
            self.random.choice([self.open_round, self.report_result])(table)
        return None

    def suspend_or_resume_pool(self):
        pool = self.random.choice(self.pools)
        kind = "pool_resumed" if pool.suspended != self.chance(0.15) else "pool_suspended"
        self.add(kind, pool=pool.id, reason="audit")
        if kind == "pool_suspended" and self.chance(0.7):
            if self.chance(0.5):
                self.open_round(self.random.choice(self.tables))
            self.add("pool_resumed", pool=pool.id)

    def link(self):
        """Links are lost most often where it matters: with a round that can still win."""
        playing = [table for table in self.tables if self.model.may_still_win(table.current)]
        offline = [table for table in self.tables if table.offline]
        if playing and self.chance(0.6):
            table = self.random.choice(playing)
        elif offline and self.chance(0.5):
            table = self.random.choice(offline)
        else:
            table = self.random.choice(self.tables)
        kind = "table_online" if table.offline != self.chance(0.1) else "table_offline"
        self.add(kind, table=table.id)

    def adjust(self, pool=None):
        pool = pool or self.random.choice(self.pools)
        below = self.random.choice([-CENT, 0, CENT])
        beside = self.random.choice([-CENT, 0, CENT, 5 * DOLLAR])
        amount = self.random.choice([
            pool.minimum - pool.meter + below,
            self.random.randint(-5000, 5000) * DOLLAR,
            self.random.randint(-500, 500) * CENT,
            (pool.cap or pool.meter) - pool.meter + beside,
            pool.minimum // 2,
            0,
        ])
        amount = -(-amount // CENT) * CENT  # whole cents
        self.add("pool_adjusted", pool=pool.id, amount=money(amount), reason="count",
                 **self.people(2))

    def unknown(self):
        kind = self.random.randrange(4)
        if kind == 0:
            fields = self.random.choice([{}, {"table": self.tables[0].id}, {"table": "nowhere"},
                                         {"pool": "none", "x": 1}])
            return self.add(self.random.choice(["launch", "settle_due", "Round_opened"]), **fields)
        if kind == 1:
            kind = self.random.choice(["pool_suspended", "pool_resumed"])
            return self.add(kind, pool="none", reason="x")
        if kind == 2:
            return self.add("surveillance_ruling", pool="none", order=[])
        event = self.random.choice([
            ("round_opened", {"round": 1, "wagers": [1, 1]}),
            ("round_result", {"round": 1, "hands": []}),
            ("jackpot_confirmed", {"round": 1}),
            ("round_closed", {"round": 1}),
            ("round_voided", {"round": 1, "ground": "dealing_error"}),
            ("wager_voided", {"round": 1, "seat": 1, "ground": "loss_limit"}),
            ("payment_recorded", {"round": 1, "seat": 1, "paid": "5.00"}),
            ("award_withheld", {"round": 1, "seat": 1, "tier": "flush", "by": ["a", "b"]}),
            ("table_suspended", {"ground": "malfunction", "by": "s1"}),
            ("table_online", {}),
        ])
        return self.add(event[0], table="nowhere", **event[1])
