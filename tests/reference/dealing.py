"""Results, right and wrong, for the generator of scenarios."""

import itertools

from paytables import ALL, RANKS, SUITS, TENTH, UTH_PAYS, uth_tier

JACKPOTS = (ALL, TENTH)


class Dealing:
    """The part of the generator that deals cards."""

    def report_result(self, table, jackpot=False):
        fields = self.make_result(table, jackpot)
        number = self.number_of(table)
        if self.chance(self.faults / 4) and number > 1:
            number += self.random.choice([-1, 1])
        self.add("round_result", table=table.id, round=max(1, number), **fields)

    def correct_result(self, table=None):
        candidates = [each for each in self.tables if each.current is not None
                      and each.current.result_in and each.current.is_open]
        if table is None:
            table = self.random.choice(candidates if candidates and self.chance(0.85)
                                       else self.tables)
        kind = self.random.random()
        if kind < 0.25:  # no claim, or none at all
            fields = {"hands": []}
            fields["dealer" if table.pool.game == "blazing7s" else "flop"] = (
                "2C" if table.pool.game == "blazing7s" else ["2C", "7D", "9H"])
        else:
            fields = self.make_result(table, jackpot=kind < 0.6)
        number = self.number_of(table) + (1 if self.chance(self.faults / 4) else 0)
        needs_two = table.current is not None and (
            table.current.has_open_win or self.model.touched_by_people(table.current))
        self.add("result_corrected", table=table.id, round=max(1, number), **fields,
                 **self.people(2 if needs_two else 1))

    def make_result(self, table, jackpot=False):
        seats = list(table.current.wagers) if table.current else [1]
        if self.chance(0.5):
            self.random.shuffle(seats)
        if self.chance(0.3) and len(seats) > 1 and not jackpot:
            seats = seats[: self.random.randint(1, len(seats))]  # the others did not qualify
        seats = seats or [1]
        if table.pool.game == "blazing7s":
            board, hands = self.deal_blazing7s(seats, jackpot or self.chance(0.6))
            fields = {"dealer": board}
        else:
            board, hands = self.deal_uth(seats, jackpot)
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

    def deal_uth(self, seats, jackpot):
        deck = [rank + suit for rank in RANKS for suit in SUITS]
        self.random.shuffle(deck)
        hands = []
        kind = 0 if jackpot else self.random.random()
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
