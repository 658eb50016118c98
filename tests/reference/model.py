#!/usr/bin/env python3
"""A second, independent implementation of the rules, for comparison with `jackpotctl simulate`.

    python3 model.py FILE|-      prints the outcome of a scenario as JSON

It is written to be read beside rules.md and scenarios/FORMAT.md, sentence by sentence, and does
everything the slow and literal way. Headings of those two documents are cited in [brackets].
All money is an integer number of units of 1e-8 dollar.

Exit status 0: the scenario was run. 2: it is malformed or breaks a configuration rule; the reason
is on standard error and nothing is on standard output.
"""

import json
import sys
from collections import Counter

from irregularities import Irregularities
from money import INT64_MAX, RATE_ONE, BadConfiguration, Malformed, Refused, displayed, write_money
from paytables import ALL, TENTH, blazing7s_tier, is_card, uth_tier
from scenario import (check_scenario, parameters_by_the_rules, shape_of_parameters, shape_of_site,
                      site_by_the_rules)
from settling import Settling
from state import Change, Round, Wager


class Model(Settling, Irregularities):
    """Takes the events one after the other. The scenario has been checked."""

    def __init__(self, pools, tables):
        self.pools = pools
        self.tables = tables
        self.now = 0
        self.confirmations = 0
        self.payouts = []
        self.withdrawn = []
        self.refunds = []
        self.refused = []
        self.changes = []
        self.occurred = Counter()  # what happened how often, to know what a test has covered
        self.handlers = {
            "round_opened": self.round_opened,
            "round_result": self.round_result,
            "result_corrected": self.result_corrected,
            "jackpot_confirmed": self.jackpot_confirmed,
            "surveillance_ruling": self.surveillance_ruling,
            "round_voided": self.round_voided,
            "wager_voided": self.wager_voided,
            "table_suspended": self.table_suspended,
            "table_resumed": self.table_resumed,
            "table_offline": self.table_offline,
            "table_online": self.table_online,
            "pool_suspended": self.pool_suspended,
            "pool_resumed": self.pool_resumed,
            "pool_adjusted": self.pool_adjusted,
            "pool_change_agreed": self.pool_change_agreed,
            "site_configured": self.site_configured,
        }

    # -- time -----------------------------------------------------------------------------------

    def step(self, index, event):
        """One event. Returns the code it is refused with, or None."""
        # [FORMAT] Claims whose window ends at or before an event's time settle before that event.
        self.settle_due(event["at_ms"])
        self.now = event["at_ms"]
        try:
            # [FORMAT: Refusal codes] any
            if event["type"] not in self.handlers:
                raise Refused("unknown_event")
            if "table" in event and event["table"] not in self.tables:
                raise Refused("unknown_table")
            if "pool" in event and event["pool"] not in self.pools:
                raise Refused("unknown_pool")
            self.handlers[event["type"]](event)
            self.end_command()
        except Refused as refusal:
            self.refused.append({"event": index, "code": refusal.code})
            return refusal.code
        finally:
            self.check_books()
        return None

    def finish(self):
        """[FORMAT] After the last event, time runs on until nothing more can happen by itself."""
        self.settle_due(None)
        self.check_books()

    def settle_due(self, until_ms):
        """Lets the windows end that end at or before the time (None: all of them)."""
        while True:
            due = [
                (round.confirmed_at + pool.window_ms, round.arrival, round)
                for pool in self.pools.values()
                for round in pool.waiting
                if until_ms is None or round.confirmed_at + pool.window_ms <= until_ms
            ]
            if not due:
                return
            # Windows that end at the same time: in the order of the confirmations.
            ends_ms, _, round = min(due, key=lambda item: item[:2])
            self.now = max(self.now, ends_ms)
            self.window_ended(round)
            self.end_command()

    # -- [rules: Money] accounts ------------------------------------------------------------------

    def check_books(self):
        for pool in self.pools.values():
            assert pool.meter + pool.reserve == (
                pool.seeded + pool.contributed - pool.returned - pool.paid_from_pool + pool.adjusted
            ), "the books of a pool do not balance"
            assert pool.reserve >= 0, "a reserve is never negative"
            for amount in (pool.meter, pool.reserve, pool.seeded, pool.contributed, pool.returned,
                           pool.from_reserve, pool.paid_from_pool, pool.paid_by_house,
                           pool.adjusted):
                if abs(amount) > INT64_MAX:
                    raise Malformed(f"pool {pool.id}: an amount does not fit")

    def pay_in(self, pool, amount):
        """Into the meter: from the reserve as far as it goes, then from the house."""
        assert amount >= 0
        from_reserve = min(pool.reserve, amount)
        pool.reserve -= from_reserve
        pool.from_reserve += from_reserve
        pool.seeded += amount - from_reserve
        pool.meter += amount
        if amount:
            self.note_reset(pool)
        if from_reserve:
            self.occurred["reset from the reserve"] += 1
        if amount > from_reserve:
            self.occurred["reset from the house"] += 1

    def restored(self, pool, meter):
        """[rules: Pools and tables] Whenever the displayed amount is below the minimum, the meter
        is reset to the minimum (BJ 14.28)."""
        return max(meter, pool.minimum) if displayed(meter) < pool.minimum else meter

    def restore_minimum(self, pool):
        self.pay_in(pool, self.restored(pool, pool.meter) - pool.meter)

    def pay(self, round, seat, tier, amount):
        self.payouts.append(self.award(round, seat, tier, amount))
        self.occurred[f"tier {tier}"] += 1

    def award(self, round, seat, tier, amount):
        return {"table": round.table.id, "round": round.number, "seat": seat, "tier": tier,
                "amount": write_money(amount, 2)}

    # -- [rules: A round] 1. wagers ---------------------------------------------------------------

    def round_opened(self, event):
        table = self.tables[event["table"]]
        pool = table.pool
        if table.suspended:
            raise Refused("table_suspended")
        if pool.suspended:
            raise Refused("pool_suspended")
        if table.current is not None and event["round"] <= table.current.number:
            raise Refused("round_not_newer")
        if table.current is not None and table.current.has_unconfirmed_claim:
            raise Refused("claim_unconfirmed")

        seats = []
        player_cards = []
        for wager in event["wagers"]:  # seat by seat, as they are listed
            if type(wager) is int:
                wager = {"seat": wager}
            seat = wager["seat"]
            player_card = wager.get("player_card", "")
            if not 1 <= seat <= table.seats:
                raise Refused("seat_out_of_range")
            if seat in seats:  # BJ 5.6, UTH 5.7
                raise Refused("duplicate_seat")
            if not wager.get("base_wager", True):  # BJ 14.7, UTH 15.2.1
                raise Refused("no_base_wager")
            if table.require_player_card and not player_card:  # BJ 5.1, UTH 5.1
                raise Refused("no_player_card")
            if pool.game == "uth" and player_card and player_card in player_cards:  # UTH 5.6
                raise Refused("player_wagers_twice")
            seats.append(seat)
            player_cards.append(player_card)

        if table.current is not None and table.current in pool.waiting + pool.held:
            self.occurred["next round opened while a claim waits or is held"] += 1
        table.current = Round(table, event["round"], wagers={})
        for seat in sorted(seats):  # seat by seat from 1 up
            table.current.wagers[seat] = self.contribute(pool)

    def contribute(self, pool):
        """[rules: Pools and tables] One wager's contributions."""
        to_meter = pool.wager * pool.increment // RATE_ONE
        to_reserve = pool.wager * pool.reserve_increment // RATE_ONE
        assert pool.wager * pool.increment % RATE_ONE == 0, "cents times a rate are exact"
        assert pool.wager * pool.reserve_increment % RATE_ONE == 0
        # What would take the present meter past the cap goes to the reserve instead.
        if pool.cap is not None and pool.meter + to_meter > pool.cap:
            fits = max(pool.cap - pool.meter, 0)
            to_reserve += to_meter - fits
            to_meter = fits
            self.occurred["contribution split at the cap"] += 1
        pool.meter += to_meter
        pool.reserve += to_reserve
        pool.contributed += to_meter + to_reserve
        pool.history.append(Change(self.now, "contribution", to_meter))
        return Wager(to_meter, to_reserve)

    # -- [rules: A round] 2. the result, 3. fixed awards ------------------------------------------

    def find_round(self, event, or_waiting=False):
        """[FORMAT: Refusal codes] events on a round."""
        table = self.tables[event["table"]]
        if table.current is None:
            raise Refused("no_open_round")
        found = None
        if table.current.number == event["round"]:
            found = table.current
        elif or_waiting:
            # [rules: Irregularities] Voids concern the table's current round, or an earlier one
            # whose confirmed claim still waits.
            for round in table.pool.waiting + table.pool.held:
                if round.table is table and round.number == event["round"]:
                    found = round
        if found is None:
            raise Refused("wrong_round")
        if found.voided:
            raise Refused("round_voided")
        return found

    def check_result(self, round, event):
        """[FORMAT: Refusal codes] round_result and result_corrected, both. Returns the board."""
        pool = round.table.pool
        if pool.game == "blazing7s":
            board = [event["dealer"]] if "dealer" in event else []
        else:
            board = event.get("flop", [])
        if len(board) != pool.board_size:
            raise Refused("wrong_card_count")
        seats = []
        for hand in event["hands"]:
            if hand["seat"] in seats:
                raise Refused("duplicate_seat")
            if hand["seat"] not in round.wagers:
                raise Refused("seat_has_no_wager")
            if len(hand["cards"]) != 2:
                raise Refused("wrong_card_count")
            seats.append(hand["seat"])
        cards = board + [card for hand in event["hands"] for card in hand["cards"]]
        if not all(is_card(card) for card in cards):
            raise Refused("bad_card")
        if any(times > pool.decks for times in Counter(cards).values()):
            raise Refused("impossible_cards")
        return board

    def take_result(self, round, board, event):
        pool = round.table.pool
        round.result_in = True
        round.fixed = {}
        round.claims = {}
        for hand in event["hands"]:
            if pool.game == "blazing7s":
                tier = blazing7s_tier(board[0], hand["cards"])
            else:
                tier = uth_tier(board, hand["cards"])
            if tier is None:
                continue
            if pool.pays[tier] in (ALL, TENTH):
                round.claims[hand["seat"]] = tier
            else:
                round.fixed[hand["seat"]] = (tier, pool.pays[tier])
        # 3. Fixed awards are due at once, before any jackpot (BJ 14.27.3).
        # [rules: Settling] Fixed awards of a round go from the highest seat down.
        for seat in sorted(round.fixed, reverse=True):
            tier, amount = round.fixed[seat]
            self.pay(round, seat, tier, amount)
            pool.paid_by_house += amount

    def round_result(self, event):
        round = self.find_round(event)
        if round.result_in:
            raise Refused("result_already_reported")
        board = self.check_result(round, event)
        self.take_result(round, board, event)

    def result_corrected(self, event):
        """[rules: Irregularities] Reconstruction (BJ 16.8)."""
        round = self.find_round(event)
        if not round.result_in:
            raise Refused("no_result")
        if round.confirmed_at is not None:
            raise Refused("already_confirmed")
        if not event.get("by", ""):
            raise Refused("needs_supervisor")
        board = self.check_result(round, event)
        # What was due by the first result is withdrawn.
        self.withdraw(round, list(round.fixed))
        self.take_result(round, board, event)

    def withdraw(self, round, seats):
        """Fixed awards that were due and no longer are; seat by seat from 1 up."""
        for seat in sorted(seats):
            tier, amount = round.fixed.pop(seat)
            self.withdrawn.append(self.award(round, seat, tier, amount))
            round.table.pool.paid_by_house -= amount
            self.occurred["fixed award withdrawn"] += 1

    # -- [rules: A round] 4. the dealer's button --------------------------------------------------

    def jackpot_confirmed(self, event):
        round = self.find_round(event)
        pool = round.table.pool
        if round.confirmed_at is not None:
            raise Refused("already_confirmed")
        if not round.claims:
            raise Refused("nothing_to_confirm")
        round.confirmed_at = self.now
        round.pressed_at = self.now - event.get("pressed_ago_ms", 0)
        self.confirmations += 1
        round.arrival = self.confirmations
        # The moment the confirmation was taken: what is in the list before it came in before it.
        pool.history.append(Change(self.now, "confirmation", round=round))

        # [rules: Wins at the same time] UTH wins on different tables are settled in the order of
        # their confirmations, at once. With a window of 0 nothing is ever held.
        if pool.game == "uth" or pool.window_ms == 0:
            self.settle(pool, [round])
            return
        if pool.held:
            # One confirmed while others are held joins them.
            pool.held.append(round)
            self.occurred["joined those held"] += 1
        elif any(self.presses_tie(pool, round, other) for other in pool.waiting):
            pool.held.append(round)
            self.occurred["held because presses tie"] += 1
        else:
            pool.waiting.append(round)
        self.draw_in(pool)

    def presses_tie(self, pool, one, other):
        """Presses for one pool on different tables less than the window apart; a press counts at
        the time the button was pressed."""
        apart = abs(one.pressed_at - other.pressed_at)
        return one.table is not other.table and apart < pool.window_ms

    def draw_in(self, pool):
        """A waiting one that ties with one that is held is held too; one that ties with none of
        them is not drawn in."""
        again = True
        while again:
            again = False
            for round in list(pool.waiting):
                if any(self.presses_tie(pool, round, other) for other in pool.held):
                    pool.waiting.remove(round)
                    pool.held.append(round)
                    again = True

    def window_ended(self, round):
        """A lone one settles when the window has passed since its confirmation arrived; but if
        another table of the pool is then offline with an unconfirmed claim, it is held until a
        ruling, also when that table comes back or its claim is voided."""
        pool = round.table.pool
        pool.waiting.remove(round)
        if self.offline_claim_elsewhere(round):
            pool.held.append(round)
            round.held_for_offline = True
            self.occurred["held because a table is offline"] += 1
        else:
            self.occurred["settled alone"] += 1
            self.settle(pool, [round])

    def offline_claim_elsewhere(self, round):
        return any(
            table.pool is round.table.pool
            and table is not round.table
            and table.offline
            and table.current is not None
            and table.current.has_unconfirmed_claim
            for table in self.tables.values()
        )

    def surveillance_ruling(self, event):
        pool = self.pools[event["pool"]]
        if not pool.held:
            raise Refused("nothing_held")
        # It names every held round once, and no group holds two rounds of one table.
        named = [(table, number) for group in event["order"] for table, number in group]
        if sorted(named) != sorted((round.table.id, round.number) for round in pool.held):
            raise Refused("bad_ruling")
        for group in event["order"]:
            if not group:
                raise Refused("bad_ruling")
            if len({table for table, _ in group}) != len(group):
                raise Refused("bad_ruling")

        by_name = {(round.table.id, round.number): round for round in pool.held}
        pool.held = []
        # [rules: Settling] Groups settle in the ruling's order.
        for group in event["order"]:
            self.occurred["group of a ruling settled"] += 1
            if len(group) > 1:
                self.occurred["group of several tables settled"] += 1
            self.settle(pool, [by_name[table, number] for table, number in group])

    # -- changes to a site in play [decisions 4] --------------------------------------------------

    def pool_change_agreed(self, event):
        """Two people agree on the parameters from the next reset on; the present ones take back
        what was agreed. What was agreed before is replaced, and its reset forgotten."""
        pool = self.pools[event["pool"]]
        self.check_two_people(event)
        values = shape_of_parameters(event["to"], "to")
        try:
            values = parameters_by_the_rules(values, pool.game, values["minimum"], "to")
        except BadConfiguration:
            raise Refused("bad_configuration") from None
        if values != pool.parameters:
            if pool.agreed is not None:
                self.occurred["change of parameters replaced"] += 1
            pool.agreed = values
            self.note_change(pool, "agreed")
        elif pool.agreed is not None:
            pool.agreed = None
            self.note_change(pool, "taken_back")
        pool.reset_since = False

    def note_change(self, pool, state):
        self.changes.append({"at_ms": self.now, "pool": pool.id, "state": state})
        self.occurred[f"parameters {state}"] += 1

    def note_reset(self, pool):
        """Money was put in to restore the minimum, or all of the pool was paid."""
        if pool.agreed is not None:
            pool.reset_since = True
            if pool.waiting or pool.held:
                self.occurred["reset while parameters are agreed and a claim waits"] += 1

    def end_command(self):
        """What was agreed is in force once there was a reset and no confirmation waits."""
        for pool in self.pools.values():
            if pool.agreed is None or not pool.reset_since or pool.waiting or pool.held:
                continue
            if pool.agreed["minimum"] > pool.minimum:
                self.occurred["minimum raised by new parameters"] += 1
            for name, value in pool.agreed.items():
                setattr(pool, name, value)
            pool.agreed = None
            pool.reset_since = False
            self.note_change(pool, "in_force")
            self.restore_minimum(pool)
            # No settlement goes back behind this moment: none waits.
            pool.opening = pool.meter
            pool.history = []

    def site_configured(self, event):
        """The whole site as it shall be: all of it or nothing."""
        pool_shapes, table_shapes = shape_of_site(event)
        for shape in pool_shapes:
            if shape["id"] in self.pools:
                shape["opening"] = None  # it opened long ago
        try:
            pools, tables = site_by_the_rules(pool_shapes, table_shapes)
        except BadConfiguration:
            raise Refused("bad_configuration") from None
        for pool in self.pools.values():
            given = pools.get(pool.id)
            if given is None or (given.game, given.wager) != (pool.game, pool.wager):
                raise Refused("bad_configuration")
            if given.parameters not in (pool.parameters, pool.agreed):
                raise Refused("bad_configuration")
        for table in self.tables.values():
            given = tables.get(table.id)
            if given is None or given.pool.id != table.pool.id:
                raise Refused("bad_configuration")
            if given.configured != table.configured and table.in_play:
                self.occurred["change of a table in play refused"] += 1
                raise Refused("bad_configuration")

        for pool in pools.values():
            if pool.id not in self.pools:
                self.pools[pool.id] = pool
                self.occurred["pool added"] += 1
        for table in tables.values():
            if table.id not in self.tables:
                table.pool = self.pools[table.pool.id]
                self.tables[table.id] = table
                self.occurred["table added"] += 1
                continue
            known = self.tables[table.id]
            if known.configured != table.configured:
                self.occurred["table changed"] += 1
            known.seats, known.require_player_card, known.stated_wager = table.configured

    # -- [FORMAT: Outcome] ------------------------------------------------------------------------

    def outcome(self):
        held = []
        for pool in sorted(self.pools.values(), key=lambda pool: pool.id):
            if pool.held:
                rounds = sorted([round.table.id, round.number] for round in pool.held)
                held.append({"pool": pool.id, "rounds": rounds})
        pools = []
        for pool in self.pools.values():
            entry = {"id": pool.id, "displayed": write_money(displayed(pool.meter), 2)}
            for key, amount in (
                ("amount", pool.meter),
                ("reserve", pool.reserve),
                ("seeded", pool.seeded),
                ("contributed", pool.contributed),
                ("returned", pool.returned),
                ("from_reserve", pool.from_reserve),
                ("paid_from_pool", pool.paid_from_pool),
                ("paid_by_house", pool.paid_by_house),
                ("adjusted", pool.adjusted),
            ):
                entry[key] = write_money(amount, 8)
            pools.append(entry)
        return {"payouts": self.payouts, "withdrawn": self.withdrawn, "refunds": self.refunds,
                "refused": self.refused, "held": held, "pools": pools, "changes": self.changes}


def run(scenario, model_class=Model):
    """The model after the whole scenario. Raises Malformed."""
    model = model_class(*check_scenario(scenario))
    for index, event in enumerate(scenario["events"]):
        model.step(index, event)
    model.finish()
    return model


# -------------------------------------------------------------------------------------------------
# The program
# -------------------------------------------------------------------------------------------------


def parse(text):
    def no_key_twice(pairs):
        keys = [key for key, _ in pairs]
        if len(set(keys)) != len(keys):
            raise Malformed("a key is there twice in one object")
        return dict(pairs)

    def no_constant(name):
        raise Malformed(f"{name} is not JSON")

    try:
        return json.loads(text, object_pairs_hook=no_key_twice, parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"not JSON: {error}") from None


def main(arguments):
    if len(arguments) != 1:
        print("usage: model.py FILE|-", file=sys.stderr)
        return 2
    try:
        if arguments[0] == "-":
            content = sys.stdin.buffer.read()
        else:
            with open(arguments[0], "rb") as file:
                content = file.read()
        model = run(parse(content))
    except (Malformed, OSError) as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return 2
    print(json.dumps(model.outcome(), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
