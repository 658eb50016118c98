"""Makes random scenarios, beside a model that runs them."""

import random

from button import Button
from dealing import Dealing
from disturbances import Disturbances
from model import Model
from money import CENT, DOLLAR, money
from scenario import check_scenario
from site_changes import SiteChanges
from wins import DAY_MS


class Generator(Dealing, Button, Disturbances, SiteChanges):
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.scenario = {"name": f"random {seed}", "pools": [], "tables": [], "events": [],
                         "expect": {}}
        self.make_pools()
        self.make_tables()
        self.model = Model(*check_scenario(self.scenario))
        self.tables = list(self.model.tables.values())
        self.pools = list(self.model.pools.values())
        self.now = self.random.choice([0, 1000])
        self.past_rounds = []  # (table, number) of every round that was opened
        # How trouble is spread differs from scenario to scenario.
        self.faults = self.random.choice([0.02, 0.1, 0.3])  # the part that is wrong on purpose
        self.weights = {
            self.play: 25,
            self.confirm: 12,
            self.race: self.random.choice([2, 8, 20]),
            self.hold_for_offline: self.random.choice([0, 2, 6]),
            self.hold_again: self.random.choice([0, 2, 6]),
            self.rule_twice: self.random.choice([0, 0, 2]),
            self.late_after_payment: self.random.choice([0, 1, 4]),
            self.rule: self.random.choice([5, 15]),
            self.disturb_open_win: self.random.choice([0, 3, 10]),
            self.void_round: self.random.choice([0, 2, 5]),
            self.void_wager: self.random.choice([0, 2, 5]),
            self.correct_result: self.random.choice([1, 4]),
            self.pay_award: self.random.choice([1, 3, 8]),
            self.pay_and_withdraw: self.random.choice([0, 0, 1]),
            self.withhold_or_release: self.random.choice([0, 1, 4]),
            self.close_round: self.random.choice([0, 2, 5]),
            self.suspend_or_resume_table: self.random.choice([0, 1, 4]),
            self.suspend_or_resume_pool: self.random.choice([0, 0, 1]),
            self.link: self.random.choice([0, 3, 8]),
            self.adjust: self.random.choice([0, 1, 4]),
            self.wait_a_day: self.random.choice([0, 0, 1, 2]),
            self.win_again_and_again: self.random.choice([0] * 15 + [4]),
            self.unknown: self.random.choice([0, 0, 2]),
            self.change_parameters: self.random.choice([0, 0, 2, 6]),
            self.amend_site: self.random.choice([0, 0, 1, 4]),
        }

    def chance(self, probability):
        return self.random.random() < probability

    # -- configuration ----------------------------------------------------------------------------

    def make_pools(self):
        number = self.random.choice([1, 1, 1, 1, 2, 2, 3])
        for pool_id in self.random.sample(["B7", "UTH", "A1", "Z9", "main"], number):
            self.scenario["pools"].append(self.make_pool(pool_id))

    def make_pool(self, pool_id, game=None):
        game = game or self.random.choice(["blazing7s", "blazing7s", "uth"])
        pool = {"id": pool_id, "game": game}
        if game == "blazing7s":
            pool["wager"] = self.random.choice(["2.50", "5.00", "5"])
            minimum = self.random.choice([10_000, 25_000, 50_000]) * DOLLAR
        else:
            pool["wager"] = self.random.choice(["5.00", "2.50", "1", "7.77", "0.05", "25.00"])
            thousands = self.random.choice([1, 5, 30, 50, 50, 100, 200])
            minimum = thousands * 1000 * DOLLAR + self.random.choice([0, 0, 0, 1, 99]) * CENT
        pool["increment"], reserve = self.random.choice([
            ("0.20", None), ("0.2", None), ("0", "0.05"), ("1", "0"), ("0.50", "0.25"),
            ("0.235", "0.05"), ("0.2375", "0.0325"), ("0.333333", "0.666667"),
            ("0.000001", "0.000001"), ("0.015625", "0.984375"),
        ])
        if reserve is not None:
            pool["reserve_increment"] = reserve
        pool["minimum"] = money(minimum)
        opening = self.choose_opening(minimum)
        if opening != minimum or self.chance(0.2):
            pool["opening"] = money(opening, 8) if opening % CENT else money(opening)
        if self.chance(0.4):
            any_room = self.random.randrange(15 * DOLLAR)
            cap = opening + self.random.choice([0, CENT, 55 * CENT, 2 * DOLLAR, any_room])
            pool["cap"] = money(cap, 8) if cap % CENT else money(cap)
        if self.chance(0.6):
            pool["payout_unit"] = self.random.choice(["0.01", "0.05", "0.50", "5.00", "25.00"])
        if game == "blazing7s":
            self.make_times(pool)
        if game == "uth" and self.chance(0.4):
            pool["guarantee"] = self.random.choice([
                {"royal_flush": "60000.00", "straight_flush": "5000.00"},
                {"royal_flush": "50000.05"},
                {"straight_flush": "7500.00"},
            ])
        if game == "uth" and self.chance(0.6):
            pool["bonus"] = self.random.choice([
                {"royal_flush": "100.00", "straight_flush": "25.00"},
                {"royal_flush": "10.00", "straight_flush": "250.50"},
                {"royal_flush": "1.01"},
                {"straight_flush": "77.77"},
            ])
        return pool

    def make_times(self, pool):
        window = self.random.choice([None, 0, 500, 500, 2000, 2000])
        if window is not None:
            pool["simultaneity_window_ms"] = window
        least = 2000 if window is None else window
        settle_after = self.random.choice([None, least, least, least + 1, 3000, 10_000])
        if settle_after is not None:
            pool["settle_after_ms"] = max(settle_after, least)

    def choose_opening(self, minimum):
        kind = self.random.randrange(6)
        if kind <= 1:
            return minimum
        if kind == 2:  # within a few wagers of the minimum
            return minimum + self.random.randrange(500) * CENT
        if kind == 3:  # a tenth takes it below the minimum
            return minimum + minimum * self.random.randrange(1, 16) // 100
        if kind == 4:
            return minimum * self.random.randrange(2, 9) + self.random.randrange(10**8) * CENT
        return minimum * 3 + self.random.randrange(DOLLAR)  # carried over with fractions of a cent

    def make_tables(self):
        number = self.random.choice([1, 2, 2, 3, 3, 4, 5, 6])
        pools = list(self.scenario["pools"])
        for table_id in self.random.sample(["T1", "T10", "T2", "BJ01", "a", "Z"], number):
            # One for each pool, then most of them for the first.
            pool = pools.pop(0) if pools else self.random.choice(
                [self.scenario["pools"][0]] * 3 + self.scenario["pools"])
            table = {"id": table_id, "pool": pool["id"]}
            if self.chance(0.4):
                fewest = 5 if pool["game"] == "blazing7s" else 1
                table["seats"] = self.random.randint(fewest, 9)
            if self.chance(0.2):
                table["require_player_card"] = self.chance(0.8)
            if self.chance(0.1):
                table["wager"] = pool["wager"]
            self.scenario["tables"].append(table)
        for pool in self.scenario["pools"]:
            tables = [table for table in self.scenario["tables"] if table["pool"] == pool["id"]]
            if pool.get("simultaneity_window_ms") == 0 and len(tables) > 1:
                pool["simultaneity_window_ms"] = 500
                pool["settle_after_ms"] = self.random.choice([500, 3000])

    # -- events -----------------------------------------------------------------------------------

    def generate(self):
        length = self.random.randint(5, 80)
        while len(self.scenario["events"]) < length:
            actions = list(self.weights)
            self.random.choices(actions, [self.weights[action] for action in actions])[0]()
        del self.scenario["events"][length:]
        return self.scenario

    def add(self, kind, at_ms=None, **fields):
        """Appends an event and lets the model take it."""
        self.now = self.next_time() if at_ms is None else at_ms
        event = {"at_ms": self.now, "type": kind, **fields}
        self.model.step(len(self.scenario["events"]), event)
        self.scenario["events"].append(event)
        self.tables = list(self.model.tables.values())
        self.pools = list(self.model.pools.values())

    def next_time(self):
        kind = self.random.random()
        if kind < 0.20:
            return self.now
        if kind < 0.40:  # the edges of a wait
            edges = [
                win.arrived_ms + pool.settle_after_ms + offset
                for pool in self.pools for win in pool.open_wins if not win.due
                for offset in (-1, 0, 1)
            ]
            edges = [edge for edge in edges if edge >= self.now]
            if edges:
                return self.random.choice(edges)
        if kind < 0.85:
            return self.now + self.random.randint(1, 60)
        if kind < 0.95:
            return self.now + self.random.randint(100, 1500)
        return self.now + self.random.choice([499, 500, 501, 1999, 2000, 2001, 5000, 12_000])

    def wait_a_day(self):
        """The edges of 24 hours after an arrival: wins become final, presses are forgotten."""
        arrivals = [win.arrived_ms for pool in self.pools for win in pool.wins
                    if win.arrived_ms + DAY_MS > self.now]
        if not arrivals:
            return self.play()
        at_ms = self.random.choice(arrivals) + DAY_MS + self.random.choice([-1, 0, 1])
        if at_ms < self.now:
            return None
        self.add(self.random.choice(["table_offline", "table_online"]), at_ms,
                 table=self.random.choice(self.tables).id)
        if self.chance(0.5):
            self.disturb_open_win()
        else:
            self.now = at_ms
            for table in self.tables_with_claim():
                wins = [win for win in table.pool.wins if win.arrived_ms + DAY_MS >= at_ms - 1]
                for win in wins[:1]:
                    self.press_with(table, win, at_ms)

    def people(self, needed):
        """Mostly as many as are needed, at times one too few."""
        if self.chance(0.15):
            needed -= 1
        if needed >= 2:
            return {"by": self.random.choice([["s1", "s2"], ["s1", "s2"], ["s2", "", "s1"]])}
        if needed == 1:
            return {"by": self.random.choice(["s1", ["s1"], ["s1", "s1"], ["s2", ""]])}
        return self.random.choice([{}, {"by": ""}, {"by": []}, {"by": [""]}])

    def number_of(self, table):
        return table.current.number if table.current else 0

    def play(self):
        """The next thing a table would do."""
        table = self.random.choice(self.tables)
        if table.suspended_by and self.chance(0.6):
            return self.resume(table)
        current = table.current
        is_open = current is not None and current.is_open
        if is_open and not current.result_in and self.chance(0.93):
            return self.report_result(table)
        if is_open and current.has_unconfirmed_claim:
            if self.chance(0.2):
                self.open_round(table)  # refused
            return None
        self.open_round(table)
        if self.chance(0.7):
            self.report_result(table)

    def close_round(self):
        tables = [table for table in self.tables if table.current is not None
                  and table.current.result_in and table.current.is_open]
        table = self.random.choice(tables if tables and self.chance(0.8) else self.tables)
        self.add("round_closed", table=table.id, round=max(1, self.number_of(table)))

    def open_round(self, table, at_ms=None):
        number = self.number_of(table) + self.random.choice([1, 1, 1, 4])
        if self.chance(self.faults / 2):
            number = self.random.randint(1, max(1, self.number_of(table)))
        seats = self.random.sample(range(1, table.seats + 1), self.random.randint(1, table.seats))
        if self.chance(0.7):
            seats.sort()
        needs_objects = table.require_player_card or self.chance(0.15)
        wagers = []
        for seat in seats:
            wager = {"seat": seat}
            if table.require_player_card or self.chance(0.5):
                wager["player_card"] = f"P{seat}"
                if table.pool.game == "blazing7s" and self.chance(0.2):
                    wager["player_card"] = "P1"  # one player may play several boxes
            if self.chance(0.1):
                wager["approved_by"] = "s1"
                if table.pool.game == "uth" and self.chance(0.5):
                    wager["base_wager"] = False
                    needs_objects = True
            elif self.chance(0.2):
                wager["base_wager"] = True
            wagers.append(wager)
        for _ in range(self.random.choice([1, 1, 2, 3]) if self.chance(self.faults) else 0):
            needs_objects = self.spoil_wagers(table, wagers) or needs_objects
        if not needs_objects:
            wagers = [wager["seat"] for wager in wagers]
        if self.chance(0.01):
            wagers = []
        self.add("round_opened", at_ms, table=table.id, round=number, wagers=wagers)
        if table.current is not None and table.current.number == number:
            self.past_rounds.append((table.id, number))

    def spoil_wagers(self, table, wagers):
        """Returns whether the fault can only be said with objects."""
        place = self.random.randint(0, len(wagers))
        fault = self.random.randrange(5)
        if fault == 0:
            seat = self.random.choice([0, table.seats + 1, 10])
            wagers.insert(place, {"seat": seat, "player_card": "X"})
            return False
        if fault == 1:
            wagers.insert(place, {"seat": self.random.choice(wagers)["seat"], "player_card": "Y"})
            return False
        wager = self.random.choice(wagers)
        if fault == 2:
            wager["base_wager"] = False
            if self.chance(0.5):
                wager["approved_by"] = ""
        elif fault == 3:
            wager.pop("player_card", None)
            if self.chance(0.5):
                wager["player_card"] = ""
        else:
            for other in self.random.sample(wagers, min(2, len(wagers))):
                other["player_card"] = "twice"
        return True

def generate(seed):
    """A scenario; the same for the same seed."""
    return Generator(seed).generate()
