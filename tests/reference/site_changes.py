"""Changes of parameters and of the site, for the generator of scenarios."""

from money import CENT, DOLLAR, RATE_ONE, money, read_money
from paytables import UTH_GUARANTEES
from state import OPTIONAL_PARAMETERS


class SiteChanges:
    """The part of the generator for changes to a site in play."""

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
        if pool.game == "blazing7s":
            if parameters["window_ms"] != 2000 or self.chance(0.5):
                to["simultaneity_window_ms"] = parameters["window_ms"]
            if parameters["settle_after_ms"] != 10_000 or self.chance(0.5):
                to["settle_after_ms"] = parameters["settle_after_ms"]
        elif parameters["guarantee"] != UTH_GUARANTEES or self.chance(0.5):
            to["guarantee"] = {tier: money(amount)
                               for tier, amount in parameters["guarantee"].items()}
        if parameters["bonus"]:
            to["bonus"] = {tier: money(amount) for tier, amount in parameters["bonus"].items()}
        return to

    def written_rate(self, rate):
        return f"{rate // RATE_ONE}.{rate % RATE_ONE:06d}"

    def change_parameters(self):
        """Two people agree, and often a reset follows, at times one while a win is open."""
        busy = [pool for pool in self.pools if pool.open_wins]
        pool = self.random.choice(busy if busy and self.chance(0.6) else self.pools)
        self.agree(pool)
        if self.chance(0.6):
            self.win_and_pay(pool)
        if self.chance(0.3):
            self.agree(pool)
        for win in pool.open_wins if self.chance(0.5) else []:
            if win.hold is not None and self.chance(0.5):
                self.rule_on(pool, win.hold)
            elif self.chance(0.5):
                self.pay_award(win.round)
            else:
                self.void_win(win)
        if self.chance(0.4):
            self.win_and_pay(pool)

    def win_and_pay(self, pool):
        tables = [table for table in self.tables if table.pool is pool]
        if not tables:
            return
        table = self.random.choice(tables)
        self.bring_to_claim(table)
        self.press_button(table)
        if table.current is not None and table.current.has_open_win and self.chance(0.8):
            self.now += pool.settle_after_ms
            self.pay_award(table.current)

    def agree(self, pool):
        if self.chance(0.3 if pool.agreed else 0.1):
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
                    {"minimum": "0.00"},
                    {"minimum": "-10000.00"},
                    {"cap": "999.99"},
                    {"payout_unit": self.random.choice(["0.00", "0.015", "-5.00"])},
                    {"increment": "0.6", "reserve_increment": "0.400001"},
                    {"simultaneity_window_ms": -1 if blazing7s else 2000},
                    {"settle_after_ms": 1 if blazing7s else 2000},
                    {"simultaneity_window_ms": 0, "settle_after_ms": 0},
                    {"guarantee": {"royal_flush": "60000.00" if blazing7s else "49999.99"}},
                    {"bonus": {"royal_flush": "10.00" if blazing7s else "0.00"}},
                    {"bonus": {}},
                ]))
        reason = "" if self.chance(0.05) else "board"
        self.add("pool_change_agreed", pool=pool.id, to=to, reason=reason, **self.people(2))

    def amend_site(self):
        winners = [win.table for pool in self.pools for win in pool.open_wins]
        table = self.random.choice(winners) if winners and self.chance(0.5) else None
        if table:  # only an earlier round of it is in the way
            if table.current.has_open_win:
                self.open_round(table)
            if not table.current.result_in and table.current.is_open:
                self.add("round_result", table=table.id, round=table.current.number, dealer="2C",
                         flop=["2C", "7D", "9H"], hands=[])
        self.name_site(table)

    def name_site(self, changed):
        pools = []
        for pool in self.pools:
            parameters = pool.agreed if pool.agreed and self.chance(0.5) else pool.parameters
            entry = {"id": pool.id, "game": pool.game, "wager": money(pool.wager),
                     **self.written(pool, parameters)}
            if self.chance(0.2):  # it is ignored
                entry["opening"] = self.random.choice(["0.00", "77777.77"])
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
                {"simultaneity_window_ms": 501},
                {"settle_after_ms": 3001}, {"guarantee": {"royal_flush": "50000.01"}}]))
        elif kind == 12:
            table["pool"] = self.random.choice(pools)["id"]
        else:
            tables.append(dict(table))
