"""Voids, suspensions, lost links, adjustments and changes of the site, for the generator of scenarios."""

from money import CENT, DOLLAR, RATE_ONE, money, read_money
from state import OPTIONAL_PARAMETERS

REASONS = ("misdeal", "foreign card", "sensor failure", "player card of another person")


class Disturbances:
    """The part of the generator for what interrupts play."""

    def some_round(self):
        """A round to void: one that is held or waits, a current one in any state, or a past one."""
        unsettled = [(round.table.id, round.number)
                     for pool in self.pools for round in pool.held + pool.waiting]
        if unsettled and self.chance(0.5):
            return self.random.choice(unsettled)
        if self.past_rounds and self.chance(0.1 + self.faults / 2):
            return self.random.choice(self.past_rounds)
        table = self.random.choice(self.tables)
        if table.current is None or self.chance(self.faults / 4):
            return table.id, self.number_of(table) + 1
        return table.id, table.current.number

    def void_round(self):
        table, number = self.some_round()
        self.add("round_voided", table=table, round=number, reason=self.random.choice(REASONS))

    def void_at_minimum(self):
        """Wagers are returned when the meter is at its minimum and most of the reserve is spent."""
        tables = [table for table in self.tables if table.current is not None
                  and not table.current.settled and not table.current.voided
                  and len(table.current.wagers) > 1]
        if not tables:
            return self.play()
        table = self.random.choice(tables)
        pool = table.pool
        wager = table.current.wagers[min(table.current.wagers)]
        # What is left of the reserve: about what some of the seats put in.
        left = self.random.randint(0, 3) * wager.to_reserve
        left += self.random.randint(0, 4) * wager.to_meter // 2
        amount = pool.minimum - pool.meter - max(pool.reserve - left, 0)
        self.add("pool_adjusted", pool=pool.id, amount=money(amount, 8), reason="count",
                 by=["a", "b"])
        if self.chance(0.8):
            self.add("round_voided", table=table.id, round=table.current.number, reason="misdeal")
        else:
            self.add("table_suspended", table=table.id, reason="sensor failure")

    def disturb_held(self):
        """Something happens while a claim waits or is held."""
        pools = [pool for pool in self.pools if pool.held or pool.waiting]
        if not pools:
            return self.play()
        pool = self.random.choice(pools)
        rounds = pool.held if pool.held and self.chance(0.5) else pool.held + pool.waiting
        round = self.random.choice(rounds)
        named = {"table": round.table.id, "round": round.number}
        kind = self.random.randrange(5)
        if kind == 0:
            return self.add("round_voided", **named, reason="foreign card")
        if kind == 1:
            for seat in list(round.claims):
                self.add("wager_voided", **named, seat=seat, reason="late")
            return None
        if kind == 2:
            return self.adjust(pool)
        if kind == 3:
            others = [table for table in self.tables
                      if table.pool is pool and table is not round.table]
            if others:
                other = self.random.choice(others)
                kind = "table_online" if other.offline else "table_offline"
                return self.add(kind, table=other.id)
        if round.table.current is round:
            return self.open_round(round.table)
        return self.play()

    def void_wager(self):
        table, number = self.some_round()
        rounds = [round for pool in self.pools for round in pool.held + pool.waiting]
        rounds += [other.current for other in self.tables if other.current is not None]
        seats = [1]
        for round in rounds:
            if (round.table.id, round.number) == (table, number):
                seats = list(round.claims if round.claims and self.chance(0.6) else round.wagers)
        if not seats or self.chance(0.1):
            seats = range(0, 11)
        self.add("wager_voided", table=table, round=number, seat=self.random.choice(seats),
                 reason=self.random.choice(REASONS))

    def suspend_or_resume_table(self):
        table = self.random.choice(self.tables)
        kind = "table_resumed" if table.suspended != self.chance(0.15) else "table_suspended"
        self.add(kind, table=table.id, reason=self.random.choice(REASONS))
        if kind == "table_suspended" and self.chance(0.4):
            self.random.choice([self.open_round, self.report_result])(table)

    def suspend_or_resume_pool(self):
        pool = self.random.choice(self.pools)
        kind = "pool_resumed" if pool.suspended != self.chance(0.15) else "pool_suspended"
        self.add(kind, pool=pool.id, reason="audit")
        if kind == "pool_suspended" and self.chance(0.7):
            if self.chance(0.5):
                self.open_round(self.random.choice(self.tables))
            self.add("pool_resumed", pool=pool.id, reason="done")

    def link(self):
        """Links are lost most often where it matters: with a claim that is not confirmed."""
        claims = self.tables_with_claim()
        offline = [table for table in self.tables if table.offline]
        if claims and self.chance(0.7):
            table = self.random.choice(claims)
        elif offline and self.chance(0.5):
            table = self.random.choice(offline)
        else:
            table = self.random.choice(self.tables)
        kind = "table_online" if table.offline != self.chance(0.1) else "table_offline"
        self.add(kind, table=table.id)

    def adjust(self, pool=None):
        pool = pool or self.random.choice(self.pools)
        below = self.random.choice([-1, 0, 1, -CENT, CENT, -300 * DOLLAR, -3 * DOLLAR])
        beside = self.random.choice([-CENT, 0, CENT, 5 * DOLLAR])
        amount = self.random.choice([
            pool.minimum - pool.meter + below,
            self.random.randint(-5000, 5000) * DOLLAR,
            self.random.randint(-500, 500) * CENT,
            (pool.cap or pool.meter) - pool.meter + beside,
            -pool.meter - DOLLAR,
            pool.minimum // 2,
            0,
        ])
        by = ["a", "b"]
        if self.chance(0.25):
            by = self.random.choice([["a", "a", "b"], ["a"], ["a", "a"], []])
        self.add("pool_adjusted", pool=pool.id, amount=money(amount, 8 if amount % CENT else 2),
                 reason="count", by=by)

    # -- changes to a site in play ----------------------------------------------------------------

    def written(self, pool, parameters):
        """A pool's parameters as the file has them; what is the default is left out at times."""
        to = {"increment": self.written_rate(parameters["increment"]),
              "minimum": money(parameters["minimum"])}
        if parameters["reserve_increment"] or self.chance(0.5):
            to["reserve_increment"] = self.written_rate(parameters["reserve_increment"])
        if parameters["cap"] is not None:
            to["cap"] = money(parameters["cap"], 8)
        if parameters["payout_unit"] != CENT or self.chance(0.5):
            to["payout_unit"] = money(parameters["payout_unit"])
        if pool.game == "blazing7s" and (parameters["window_ms"] != 2000 or self.chance(0.5)):
            to["simultaneity_window_ms"] = parameters["window_ms"]
        if parameters["bonus"]:
            to["bonus"] = {tier: money(amount) for tier, amount in parameters["bonus"].items()}
        return to

    def written_rate(self, rate):
        return f"{rate // RATE_ONE}.{rate % RATE_ONE:06d}"

    def change_parameters(self):
        """Two people agree, and often a reset follows, at times one while a claim waits."""
        busy = [pool for pool in self.pools if pool.waiting or pool.held]
        pool = self.random.choice(busy if busy and self.chance(0.6) else self.pools)
        self.agree(pool)
        if self.chance(0.4):  # a reset, and the change is agreed again
            self.take_below_minimum(pool)
            self.agree(pool)
            if self.chance(0.5):  # and all that waits goes without another reset
                self.add("pool_adjusted", pool=pool.id, amount=money(pool.minimum), reason="count",
                         by=["a", "b"])
                for round in pool.waiting + pool.held:
                    self.add("round_voided", table=round.table.id, round=round.number,
                             reason="misdeal")
        for _ in range(self.random.randint(0, 4)):
            self.random.choice([self.play, self.confirm])()
        if self.chance(0.6):
            self.take_below_minimum(pool)

    def take_below_minimum(self, pool):
        amount = pool.minimum - pool.meter + self.random.choice([0, -1, -CENT, -90 * DOLLAR])
        self.add("pool_adjusted", pool=pool.id, amount=money(amount, 8), reason="count",
                 by=["a", "b"])

    def agree(self, pool):
        if self.chance(0.15):
            to = self.written(pool, pool.parameters)
        else:
            made = self.make_pool(pool.id, pool.game)
            to = {key: value for key, value in made.items()
                  if key in ("increment", "minimum", *OPTIONAL_PARAMETERS)}
            if "cap" in to:
                cap = self.random.choice([0, CENT, 2 * DOLLAR, 40_000 * DOLLAR])
                to["cap"] = money(read_money(to["minimum"], "") + cap)
            if self.chance(0.1):
                # one thing against the rules
                blazing7s = pool.game == "blazing7s"
                to.update(self.random.choice([
                    {"minimum": "20000.00" if blazing7s else "0.001"},
                    {"minimum": "-10000.00"},
                    {"cap": "999.99"},
                    {"payout_unit": self.random.choice(["0.00", "0.015", "-5.00"])},
                    {"increment": "0.6", "reserve_increment": "0.400001"},
                    {"simultaneity_window_ms": -1 if blazing7s else 2000},
                    {"bonus": {"royal_flush": "10.00" if blazing7s else "0.00"}},
                    {"bonus": {}},
                ]))
        by = ["a", "b"]
        reason = "board"
        if self.chance(0.1):
            by = self.random.choice([["a", "a"], ["a", ""], ["b"], []])
        if self.chance(0.05):
            reason = ""
        self.add("pool_change_agreed", pool=pool.id, to=to, reason=reason, by=by)

    def amend_site(self):
        waiting = [round.table for pool in self.pools for round in pool.waiting + pool.held]
        table = self.random.choice(waiting) if waiting and self.chance(0.5) else None
        if table:  # only an earlier round of it is in the way
            if table.current in table.pool.waiting + table.pool.held:
                self.open_round(table)
            if not table.current.result_in and not table.current.voided:
                self.add("round_result", table=table.id, round=table.current.number, dealer="2C",
                         hands=[])
        self.name_site(table)

    def name_site(self, changed):
        pools = []
        for pool in self.pools:
            parameters = pool.agreed if pool.agreed and self.chance(0.5) else pool.parameters
            entry = {"id": pool.id, "game": pool.game, "wager": money(pool.wager),
                     **self.written(pool, parameters)}
            if self.chance(0.2):  # it is ignored
                entry["opening"] = self.random.choice(["0.00", "77777.77", "-1.00"])
            pools.append(entry)
        tables = []
        for table in self.tables:
            entry = {"id": table.id, "pool": table.pool.id, "seats": table.seats,
                     "require_player_card": table.require_player_card}
            if table.stated_wager is not None:
                entry["wager"] = money(table.stated_wager)
            if table is changed:
                entry["seats"] = self.random.choice([5, 9])
            tables.append(entry)
        for _ in range(self.random.choice([0, 1, 1, 1, 2])):
            if pools and tables:
                self.spoil_or_amend(pools, tables)
        if self.chance(0.5):
            self.random.shuffle(pools)
            self.random.shuffle(tables)
        self.add("site_configured", pools=pools, tables=tables)

    def spoil_or_amend(self, pools, tables):
        pool = self.random.choice(pools)
        table = self.random.choice(tables)
        kind = self.random.randrange(14)
        name = f"N{len(self.tables)}-{len(tables)}"
        if kind <= 2:
            tables.append({"id": name, "pool": pool["id"]})
        elif kind == 3 and len(pools) < 6:
            pools.append(self.make_pool(f"{name}-pool"))
            tables.append({"id": name, "pool": f"{name}-pool"})
        elif kind <= 6:
            table["seats"] = self.random.choice([4, 5, 6, 7, 8, 9, 9])
        elif kind == 7:
            table["require_player_card"] = not table.get("require_player_card", False)
        elif kind == 8:
            table["wager"] = self.random.choice(["2.50", "5.00"])
        elif kind == 9:
            tables.remove(table)
        elif kind == 10:
            pools.remove(pool)
        elif kind == 11:
            pool.update(self.random.choice([
                {"increment": "0.111111"}, {"minimum": "10000.00"}, {"minimum": "20000.00"},
                {"cap": "123456.78"}, {"payout_unit": "1.00"}, {"wager": "2.50"},
                {"game": "uth"}, {"bonus": {"straight_flush": "3.00"}},
                {"simultaneity_window_ms": 501}]))
        elif kind == 12:
            table["pool"] = self.random.choice(pools)["id"]
        else:
            tables.append(dict(table))

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
            ("round_voided", {"round": 1, "reason": "x"}),
            ("wager_voided", {"round": 1, "seat": 1, "reason": "x"}),
            ("table_suspended", {"reason": "x"}),
            ("table_online", {}),
        ])
        return self.add(event[0], table="nowhere", **event[1])
