"""Makes random scenarios, beside a model that runs them."""

import itertools
import random

from disturbances import Disturbances
from model import Model
from money import CENT, DOLLAR, money
from paytables import ALL, RANKS, SUITS, TENTH, UTH_PAYS, uth_tier
from scenario import check_scenario

JACKPOTS = (ALL, TENTH)


class Generator(Disturbances):
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
                     if UTH_PAYS.get(uth_tier(flop, list(pair))) in JACKPOTS]
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


def generate(seed):
    """A scenario; the same for the same seed."""
    return Generator(seed).generate()
