#!/usr/bin/env python3
"""Random scenarios, far more eventful than a gaming floor.

    generate.py --seed N               prints a scenario
    generate.py --seed N --malformed   prints one that has to be answered with exit status 2

The generator runs the model beside it, event by event, so that it knows what waits, what is held
and where the edges are: a ruling can name exactly what is held, a press can be one millisecond
inside a window, an adjustment can take the meter one cent below its minimum.
"""

import argparse
import itertools
import json
import random

import model
from model import CENT, DOLLAR, RANKS, SUITS, write_money

JACKPOTS = (model.ALL, model.TENTH)
REASONS = ("misdeal", "foreign card", "sensor failure", "player card of another person")


def money(amount, places=2):
    return write_money(amount, places)


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.scenario = {"name": f"random {seed}", "pools": [], "tables": [], "events": [],
                         "expect": {}}
        self.make_pools()
        self.make_tables()
        self.model = model.Model(*model.check_scenario(self.scenario))
        self.tables = list(self.model.tables.values())
        self.pools = list(self.model.pools.values())
        self.now = self.random.choice([0, 1000])
        self.past_rounds = []  # (table, number) of every round that was opened
        # How trouble is spread differs from scenario to scenario.
        self.faults = self.random.choice([0.02, 0.1, 0.3])  # the part that is wrong on purpose
        self.weights = {
            self.play: 30,
            self.confirm: 14,
            self.race: self.random.choice([2, 8, 20]),
            self.hold_for_offline: self.random.choice([0, 2, 6]),
            self.rule: self.random.choice([5, 15]),
            self.disturb_held: self.random.choice([0, 3, 10]),
            self.void_at_minimum: self.random.choice([0, 1, 3]),
            self.void_round: self.random.choice([0, 2, 5]),
            self.void_wager: self.random.choice([0, 2, 5]),
            self.correct_result: self.random.choice([1, 4]),
            self.suspend_or_resume_table: self.random.choice([0, 1, 4]),
            self.suspend_or_resume_pool: self.random.choice([0, 1, 2]),
            self.link: self.random.choice([0, 3, 8]),
            self.adjust: self.random.choice([0, 2, 6]),
            self.unknown: self.random.choice([0, 0, 2]),
            self.change_parameters: self.random.choice([0, 0, 1, 4]),
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
        if game == "blazing7s" and self.chance(0.8):
            pool["simultaneity_window_ms"] = self.random.choice([0, 500, 500, 2000, 2000])
        if game == "uth" and self.chance(0.6):
            pool["bonus"] = self.random.choice([
                {"royal_flush": "100.00", "straight_flush": "25.00"},
                {"royal_flush": "10.00", "straight_flush": "250.50"},
                {"royal_flush": "1.01"},
                {"straight_flush": "77.77"},
            ])
        return pool

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

    # -- events -----------------------------------------------------------------------------------

    def generate(self):
        length = self.random.randint(5, 60)
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
        if kind < 0.35:  # the edges of a window
            edges = [
                round.confirmed_at + pool.window_ms + offset
                for pool in self.pools for round in pool.waiting for offset in (-1, 0, 1)
            ]
            edges = [edge for edge in edges if edge >= self.now]
            if edges:
                return self.random.choice(edges)
        if kind < 0.85:
            return self.now + self.random.randint(1, 60)
        if kind < 0.95:
            return self.now + self.random.randint(100, 1500)
        return self.now + self.random.choice([499, 500, 501, 1999, 2000, 2001, 5000])

    def number_of(self, table):
        return table.current.number if table.current else 0

    def play(self):
        """The next thing a table would do."""
        table = self.random.choice(self.tables)
        if table.suspended and self.chance(0.6):
            return self.add("table_resumed", table=table.id, reason="repaired")
        current = table.current
        is_open = current is not None and not current.result_in and not current.voided
        if is_open and self.chance(0.93):
            return self.report_result(table)
        if current is not None and current.has_unconfirmed_claim:
            if self.chance(0.2):
                self.open_round(table)  # refused
            return None
        self.open_round(table)
        if self.chance(0.7):
            self.report_result(table)

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
            if self.chance(0.2):
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
        elif fault == 3:
            wager.pop("player_card", None)
            if self.chance(0.5):
                wager["player_card"] = ""
        else:
            for other in self.random.sample(wagers, min(2, len(wagers))):
                other["player_card"] = "twice"
        return True

    # -- results ----------------------------------------------------------------------------------

    def report_result(self, table, jackpot=False):
        fields = self.make_result(table, jackpot)
        number = self.number_of(table)
        if self.chance(self.faults / 4):
            number += self.random.choice([-1, 1])
        self.add("round_result", table=table.id, round=number, **fields)

    def correct_result(self):
        candidates = [table for table in self.tables if table.current is not None
                      and table.current.result_in and table.current.confirmed_at is None
                      and not table.current.voided]
        table = self.random.choice(candidates if candidates and self.chance(0.8) else self.tables)
        fields = self.make_result(table)
        by = self.random.choices([{"by": "s1"}, {"by": ""}, {}], [10, 1, 1])[0]
        number = self.number_of(table) + (1 if self.chance(self.faults / 4) else 0)
        self.add("result_corrected", table=table.id, round=number, **fields, **by)

    def make_result(self, table, jackpot=False):
        seats = list(table.current.wagers) if table.current else [1]
        if self.chance(0.5):
            self.random.shuffle(seats)
        if self.chance(0.3) and len(seats) > 1:
            seats = seats[: self.random.randint(1, len(seats))]  # the others did not qualify
        if table.pool.game == "blazing7s":
            board, hands = self.deal_blazing7s(seats, jackpot or self.chance(0.6))
            fields = {"dealer": board}
        else:
            board, hands = self.deal_uth(seats)
            fields = {"flop": board}
        fields["hands"] = [{"seat": seat, "cards": list(cards)} for seat, cards in hands]
        for _ in range(self.random.choice([1, 1, 2, 3]) if self.chance(self.faults) else 0):
            self.spoil_result(table, fields)
        return fields

    def any_card(self):
        return self.random.choice(RANKS) + self.random.choice(SUITS)

    def deal_blazing7s(self, seats, jackpot):
        suit = self.random.choice("DDDCHS")
        dealer = "7" + suit if jackpot or self.chance(0.7) else self.any_card()
        winners = self.random.choice([1, 1, 2, 2]) if jackpot else 0
        if jackpot and self.chance(self.faults / 4):
            winners = 3  # too many for six decks
        used = {dealer: 1}
        hands = []
        for seat in seats:
            if winners:
                cards = ("7" + suit, "7" + suit)
                winners -= 1
            elif self.chance(0.5):
                cards = ("7" + self.random.choice(SUITS), "7" + self.random.choice(SUITS))
            elif self.chance(0.5):
                cards = ("7" + self.random.choice(SUITS), self.any_card())
            else:
                cards = (self.any_card(), self.any_card())
            for card in cards:
                used[card] = used.get(card, 0) + 1
            if max(used.values()) > 6 and not self.chance(self.faults):
                for card in cards:
                    used[card] -= 1
                cards = ("2C", "3" + SUITS[seat % 4])
            hands.append((seat, cards))
        return dealer, hands

    def deal_uth(self, seats):
        deck = [rank + suit for rank in RANKS for suit in SUITS]
        self.random.shuffle(deck)
        hands = []
        kind = self.random.random()
        if kind < 0.55:  # a straight or royal flush, several where possible
            suit = self.random.choice(SUITS)
            run = self.random.choice(["TJQKA", "TJQKA", "9TJQK", "789TJ", "34567", "A2345"])
            first = self.random.choice([0, 1, 2])
            ranks = run[first:first + 3] if self.chance(0.8) else self.random.sample(run, 3)
            flop = [rank + suit for rank in ranks]
            suited = [rank + suit for rank in RANKS if rank not in ranks]
            pairs = [pair for pair in itertools.combinations(suited, 2)
                     if model.UTH_PAYS.get(model.uth_tier(flop, list(pair))) in JACKPOTS]
            self.random.shuffle(pairs)
            wanted = self.random.choice([1, 2, 2])
            used = set(flop)
            places = list(seats)
            for pair in pairs:
                if wanted and places and not used & set(pair):
                    hands.append((places.pop(0), pair))
                    used |= set(pair)
                    wanted -= 1
            seats = places
        elif kind < 0.75:  # a flush
            suit = self.random.choice(SUITS)
            suited = [card for card in deck if card[1] == suit]
            flop = suited[:3]
            used = set(flop)
            for seat in list(seats)[: self.random.choice([1, 2])]:
                pair = tuple(card for card in suited if card not in used)[:2]
                hands.append((seat, pair))
                used |= set(pair)
            seats = seats[len(hands):]
        elif kind < 0.9:  # four of a kind, full houses
            one, two = self.random.sample(RANKS, 2)
            flop = [one + "C", one + "D", two + "H"]
            used = set(flop)
            choices = [(one + "H", one + "S"), (two + "C", two + "D"), (one + "H", two + "S"),
                       (one + "S", two + "C")]
            for seat in list(seats)[: self.random.choice([1, 2])]:
                pairs = [pair for pair in choices if not used & set(pair)]
                pair = self.random.choice(pairs)
                hands.append((seat, pair))
                used |= set(pair)
            seats = seats[len(hands):]
        else:
            flop = deck[:3]
            used = set(flop)
        rest = [card for card in deck if card not in used]
        for seat in seats:
            hands.append((seat, (rest.pop(), rest.pop())))
        if self.chance(0.5):
            self.random.shuffle(hands)
        return flop, hands

    def spoil_result(self, table, fields):
        hands = fields["hands"]
        place = self.random.randint(0, len(hands))
        fault = self.random.randrange(7)
        own, other = ("dealer", "flop") if table.pool.game == "blazing7s" else ("flop", "dealer")
        if fault == 0 and own in fields:  # the board is missing, or the other game's
            del fields[own]
            if self.chance(0.3):
                fields[other] = ["7D", "8D", "9D"] if other == "flop" else "7D"
        elif fault == 1 and own == "flop" and "flop" in fields:
            fields["flop"] = self.random.choice([fields["flop"][:2], fields["flop"] + ["2C"], []])
        elif fault == 2 and hands:
            seat = self.random.choice(hands)["seat"]
            hands.insert(place, {"seat": seat, "cards": ["2C", "3C"]})
        elif fault == 3:
            wagers = table.current.wagers if table.current else {}
            seat = self.random.choice([seat for seat in range(0, 11) if seat not in wagers])
            hands.insert(place, {"seat": seat, "cards": ["2C", "3C"]})
        elif fault == 4 and hands:
            hand = self.random.choice(hands)
            hand["cards"] = self.random.choice([hand["cards"][:1], hand["cards"] + ["4C"], []])
        elif fault == 5:
            card = self.random.choice(["7X", "1D", "7d", "10H", "", "7", "??"])
            if hands and hands[0]["cards"] and self.chance(0.6):
                self.random.choice(hands)["cards"][:1] = [card]
            elif own == "dealer" and "dealer" in fields:
                fields["dealer"] = card
            elif own == "flop" and fields.get("flop"):
                fields["flop"][0] = card
        elif hands:
            card = hands[0]["cards"][0] if hands[0]["cards"] else "7D"
            for hand in hands:
                hand["cards"] = [card for _ in hand["cards"]]

    # -- the button and its rulings ---------------------------------------------------------------

    def tables_with_claim(self):
        return [table for table in self.tables
                if table.current is not None and table.current.has_unconfirmed_claim]

    def confirm(self):
        candidates = self.tables_with_claim()
        if not candidates or self.chance(self.faults / 2):
            if self.chance(0.7):
                return self.play()
            table = self.random.choice(self.tables)
            number = self.number_of(table) + self.random.choice([-1, 0, 0, 0, 1])
            return self.add("jackpot_confirmed", table=table.id, round=max(1, number))
        self.random.shuffle(candidates)
        for table in candidates if self.chance(0.5) else candidates[:1]:
            number = self.number_of(table)
            if len(table.current.claims) > 1 and self.chance(0.15):
                seat = self.random.choice(list(table.current.claims))
                self.add("wager_voided", table=table.id, round=number, seat=seat, reason="late")
            self.press_button(table)
            if self.chance(0.05):
                self.add("jackpot_confirmed", table=table.id, round=number)  # pressed twice

    def press(self, table):
        """When a confirmation arrives, and how long after its press."""
        if self.chance(0.4):
            return {}
        pool = table.pool
        others = [round for round in pool.waiting + pool.held if round.table is not table]
        if others and self.chance(0.85):
            # So far from another press as to be just inside the window, at its edge or outside.
            window = pool.window_ms
            apart = self.random.choice([window - 1, window, window, window + 1, 1, 0])
            press = self.random.choice(others).pressed_at + apart * self.random.choice([1, -1])
            arrives = self.now + self.random.choice([0, 0, 1, 30])
            if press <= arrives:
                return {"at_ms": arrives, "pressed_ago_ms": arrives - press}
        any_age = self.random.randint(0, 9000)
        return {"pressed_ago_ms": self.random.choice([0, 1, 100, pool.window_ms, any_age])}

    def race(self):
        """Several tables of a pool win at nearly the same time; some of them may be offline."""
        tables = self.rivals()
        for table in tables:
            self.bring_to_claim(table)
        if tables and self.chance(0.25):
            lost = tables.pop()  # its confirmation will come late, or never
            if not lost.offline:
                self.add("table_offline", table=lost.id)
        for table in tables:
            self.press_button(table)
        held = tables[0].pool.held if tables else []
        if held and self.chance(0.3):
            round = self.random.choice(held)
            self.add("round_voided", table=round.table.id, round=round.number, reason="misdeal")

    def hold_for_offline(self):
        """A table wins several times while another is offline with a claim."""
        tables = self.rivals()
        if not tables:
            return
        winner, lost = tables[:2]
        pool = winner.pool
        self.bring_to_claim(lost)
        if not lost.offline:
            self.add("table_offline", table=lost.id)
        for _ in range(self.random.randint(1, 3)):
            self.bring_to_claim(winner)
            self.press_button(winner)
            if self.chance(0.7):
                self.open_round(winner, at_ms=self.now + pool.window_ms)
        if self.chance(0.5) and lost.offline:
            self.add("table_online", table=lost.id)
            if self.chance(0.5):
                self.press_button(lost)
        if pool.held and self.chance(0.5):
            round = self.random.choice(pool.held)
            self.add("round_voided", table=round.table.id, round=round.number, reason="misdeal")

    def rivals(self):
        """Some tables of a pool in which presses can tie; after some play, if there is none."""
        pools = [pool for pool in self.pools if pool.game == "blazing7s" and pool.window_ms
                 and sum(table.pool is pool for table in self.tables) > 1]
        if not pools:
            self.play()
            return []
        pool = self.random.choice(pools)
        tables = [table for table in self.tables if table.pool is pool]
        self.random.shuffle(tables)
        return tables[: self.random.randint(2, 4)]

    def bring_to_claim(self, table):
        """To an unconfirmed claim, as far as nothing is in the way."""
        if table.suspended:
            self.add("table_resumed", table=table.id, reason="repaired")
        if table.current is None or table.current.voided or (
                table.current.result_in and not table.current.has_unconfirmed_claim):
            self.open_round(table)
        if table.current and not table.current.result_in and not table.current.voided:
            self.report_result(table, jackpot=True)

    def press_button(self, table):
        if table.current is not None and table.current.has_unconfirmed_claim:
            self.add("jackpot_confirmed", table=table.id, round=table.current.number,
                     **self.press(table))

    def rule(self):
        pools = [pool for pool in self.pools if pool.held]
        if not pools or self.chance(self.faults / 4):
            if self.chance(0.9):
                return self.play()
            pool = self.random.choice(self.pools)
        else:
            pool = self.random.choice(pools)
            if self.chance(0.2):
                return self.play()  # Surveillance takes its time
        order = self.order_held(pool)
        if self.chance(max(self.faults, 0.2)):
            self.spoil_order(pool, order)
        self.add("surveillance_ruling", pool=pool.id, order=order)

    def order_held(self, pool):
        order = []
        held = list(pool.held)
        self.random.shuffle(held)
        together = self.random.choice([0.2, 0.6, 1])
        for round in held:
            free = [group for group in order if round.table.id not in [table for table, _ in group]]
            if free and self.chance(together):
                self.random.choice(free).append([round.table.id, round.number])
            else:
                order.append([[round.table.id, round.number]])
        return order

    def spoil_order(self, pool, order):
        fault = self.random.randrange(7)
        if fault == 0 or not order:
            order.insert(self.random.randint(0, len(order)), [])
        elif fault == 1:
            self.random.choice(order).pop()
        elif fault == 2:
            self.random.choice(order).append(list(self.random.choice(order)[0]))
        elif fault == 3:
            strangers = [[round.table.id, round.number] for round in pool.waiting]
            strangers += [["nowhere", 1], [self.tables[0].id, 9999]]
            order.append([self.random.choice(strangers)])
        elif fault == 4:
            order.clear()
        elif fault == 5:
            self.random.choice(order)[0][1] += 1
        else:  # all in one group, whether or not a table is there twice
            order[:] = [[item for group in order for item in group]]

    # -- irregularities ---------------------------------------------------------------------------

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
        return f"{rate // model.RATE_ONE}.{rate % model.RATE_ONE:06d}"

    def change_parameters(self):
        """Two people agree, and often a reset follows, at times one while a claim waits."""
        busy = [pool for pool in self.pools if pool.waiting or pool.held]
        pool = self.random.choice(busy if busy and self.chance(0.6) else self.pools)
        self.agree(pool)
        if self.chance(0.4):  # a reset, and what is agreed is agreed anew
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
                  if key in ("increment", "minimum", *model.OPTIONAL_PARAMETERS)}
            if "cap" in to:
                cap = self.random.choice([0, CENT, 2 * DOLLAR, 40_000 * DOLLAR])
                to["cap"] = money(model.read_money(to["minimum"], "") + cap)
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


def generate(seed):
    """A scenario; the same for the same seed."""
    return Generator(seed).generate()


# -------------------------------------------------------------------------------------------------
# Scenarios that are not run
# -------------------------------------------------------------------------------------------------


def malformed(seed):
    """A scenario's text with one fault in it, and what the fault is."""
    chooser = random.Random(f"malformed {seed}")
    while True:
        scenario = generate(seed)
        fault = chooser.choice(FAULTS)
        what = fault(scenario, chooser)
        if what is None:
            continue  # there is no place for this fault in this scenario
        if isinstance(what, bytes):
            return what, fault.__name__
        return json.dumps(scenario).encode(), f"{fault.__name__}: {what}"


def pick(chooser, entries, condition=lambda entry: True):
    entries = [entry for entry in entries if condition(entry)]
    return chooser.choice(entries) if entries else None


def missing_key(scenario, chooser):
    optional = {"name", "expect", "reserve_increment", "cap", "opening", "payout_unit",
                "simultaneity_window_ms", "bonus", "seats", "require_player_card", "wager",
                "pressed_ago_ms", "dealer", "flop"}
    kind = chooser.choice(["scenario", "pools", "tables", "events", "events", "events"])
    entry = scenario if kind == "scenario" else chooser.choice(scenario[kind])
    keys = [key for key in entry if key not in optional or (kind, key) == ("pools", "wager")]
    if kind == "events":
        if entry["type"] not in model.EVENT_FIELDS:
            keys = ["at_ms", "type"]
        if "by" in keys:
            keys.remove("by")
    key = chooser.choice(keys)
    del entry[key]
    return f"{kind} without {key}"


def unknown_key(scenario, chooser):
    places = [scenario, *scenario["pools"], *scenario["tables"]]
    for event in scenario["events"]:
        if event["type"] in model.EVENT_FIELDS:
            places += [event] * 2 + event.get("hands", [])
            places += event.get("pools", []) + event.get("tables", [])
            places += [event["to"]] * 2 if "to" in event else []
            places += [wager for wager in event.get("wagers", []) if type(wager) is dict]
    place = chooser.choice(places)
    place[chooser.choice(["colour", "Seat", "at", "ID"])] = chooser.choice([1, "x", None])
    return "unknown key"


WRONG_VALUES = {
    # key: values that are of another type than the key's, wherever it stands
    "id": [1, None],
    "pool": [1, None, []],
    "table": [1, None, {}],
    "game": [7, None, "pontoon"],
    "wager": [5, 2.5, None, "five", "", "5,00", "5.", ".5"],
    "increment": [0.2, None, "1/5", "0.2000001", "-0.1", "1.000001"],
    "reserve_increment": [0, None, "x", "2"],
    "minimum": [50000, None, "50000 $", "1e4", "-1.00"],
    "opening": [60000, None, "much", "999999999999999999999.00"],
    "cap": [70000, None, "high", "1.00"],
    "payout_unit": [1, None, "0", "0.00", "0.005", "-0.05"],
    "simultaneity_window_ms": ["2000", 0.5, -1, None, True],
    "bonus": ["100.00", [], None, {"flush": "5.00"}, {"royal_flush": 5}, {"royal_flush": "0.00"},
              {"straight_flush": "0.005"}],
    "seats": ["7", 7.5, 0, 10, -1, True, None],
    "require_player_card": ["yes", 1, None],
    "at_ms": ["0", 1.5, None, True, []],
    "type": [1, None, {}],
    "round": ["1", 1.5, None, True, [1]],
    "wagers": [None, 1, {}, "1", ["1"], [1.5], [[1]], [{}], [None], [True], [{"seat": "1"}],
               [{"seat": 1, "base_wager": 1}], [{"seat": 1, "player_card": 5}]],
    "hands": [None, {}, "x", [1], [{}], [{"seat": 1}], [{"cards": ["7D", "7D"]}],
              [{"seat": "1", "cards": []}], [{"seat": 1, "cards": "7D7D"}],
              [{"seat": 1, "cards": [7, 7]}]],
    "dealer": [7, None, ["7D"], {}],
    "flop": [None, "7D7D7D", [1, 2, 3], {}],
    "pressed_ago_ms": ["1", -1, 0.5, None, False],
    "order": [None, {}, "x", [1], [["A", 1]], [[["A"]]], [[["A", "1"]]], [[[1, "A"]]],
              [[["A", 1, 1]]]],
    "reason": [1, None, ["x"]],
    "seat": ["1", 1.5, None, True],
    "amount": [1, 12.5, None, "", "-", "--1", "1e3", "$5", "12.345.6", "0.123456789",
               "99999999999999999999"],
    "by": [1, None, {}, [1]],
    "to": [None, 1, [], {}, {"increment": "0.1"}, {"increment": 0.1, "minimum": "10000.00"},
           {"increment": "1.1", "minimum": "10000.00"}, {"increment": "0.1", "minimum": 10000},
           {"increment": "0.1", "minimum": "10000.00", "opening": "10000.00"},
           {"increment": "0.1", "minimum": "10000.00", "bonus": {"flush": "5.00"}}],
    "pools": [None, {}, 1, [1], [{}]],
    "tables": [None, {}, "x", [None], [{}], [{"id": "x", "pool": 1}]],
    "events": [None, {}, 3],
}


def wrong_value(scenario, chooser):
    kind = chooser.choice(["scenario", "pools", "tables", "events", "events"])
    entry = scenario if kind == "scenario" else chooser.choice(scenario[kind])
    keys = [key for key in entry if key in WRONG_VALUES]
    if kind == "events" and entry["type"] not in model.EVENT_FIELDS:
        keys = ["at_ms"]
    key = chooser.choice(keys)
    entry[key] = chooser.choice(WRONG_VALUES[key])
    return f"{kind}.{key} = {entry[key]!r}"


def entry_of_no_object(scenario, chooser):
    kind = chooser.choice(["pools", "tables", "events"])
    scenario[kind][chooser.randrange(len(scenario[kind]))] = chooser.choice([None, 1, "x", []])
    return kind


def broken_configuration(scenario, chooser):
    pool = chooser.choice(scenario["pools"])
    table = chooser.choice(scenario["tables"])
    blazing7s = pool["game"] == "blazing7s"
    games = {entry["id"]: entry["game"] for entry in scenario["pools"]}
    minimum = model.read_money(pool["minimum"], "")
    opening = model.read_money(pool.get("opening", pool["minimum"]), "")
    changes = [
        (pool, "wager", "0.00"),
        (pool, "wager", "2.505"),
        (pool, "wager", "-5.00"),
        (pool, "wager", "10.00" if blazing7s else "0.001"),
        (pool, "minimum", "20000.00" if blazing7s else "-1.00"),
        (pool, "minimum", "50000.01" if blazing7s else "x"),
        (pool, "increment", "1.1"),
        (pool, "opening", money(minimum - CENT)),
        (pool, "cap", money(opening - 1, 8)),
        (pool, "bonus", {"royal_flush": "100.00" if blazing7s else "-1.00"}),
        (pool, "simultaneity_window_ms", -1 if blazing7s else 2000),
        (table, "seats", 4 if games[table["pool"]] == "blazing7s" else 0),
        (table, "seats", 10),
        (table, "pool", "nowhere"),
        (table, "wager", "5.55"),
    ]
    entry, key, value = chooser.choice(changes)
    entry[key] = value
    return f"{key} = {value!r}"


def rates_above_one(scenario, chooser):
    pool = chooser.choice(scenario["pools"])
    rates = chooser.choice([("0.5", "0.500001"), ("1", "0.000001"), ("0.999999", "1")])
    pool["increment"], pool["reserve_increment"] = rates
    return "together"


def id_twice(scenario, chooser):
    kind = chooser.choice(["pools", "tables"])
    scenario[kind].append(dict(chooser.choice(scenario[kind])))
    return kind


def time_decreases(scenario, chooser):
    index = chooser.randrange(1, len(scenario["events"]))
    earlier = scenario["events"][index - 1]["at_ms"]
    if earlier == 0:
        return None
    scenario["events"][index]["at_ms"] = earlier - 1
    return f"event {index}"


def no_json(scenario, chooser):
    text = json.dumps(scenario).encode()
    return chooser.choice([b"", b"[]", b"{}", b"null", b'"x"', text[:-1], text[: len(text) // 2],
                           text + b"}", text.replace(b":", b"=", 1), text.replace(b'"', b"'", 2)])


FAULTS = [missing_key, missing_key, unknown_key, unknown_key, wrong_value, wrong_value, wrong_value,
          broken_configuration, broken_configuration, rates_above_one, id_twice, time_decreases,
          entry_of_no_object, no_json]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--malformed", action="store_true",
                        help="a scenario that has to be answered with exit status 2")
    arguments = parser.parse_args()
    if arguments.malformed:
        text, what = malformed(arguments.seed)
        print(text.decode())
    else:
        print(json.dumps(generate(arguments.seed), indent=1))


if __name__ == "__main__":
    main()
