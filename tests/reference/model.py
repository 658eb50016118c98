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

from changes import Changes
from irregularities import Irregularities, people_of
from money import INT64_MAX, RATE_ONE, Malformed, Refused, displayed, write_money
from paytables import ALL, TENTH, blazing7s_tier, is_card, uth_tier
from payments import Payments
from scenario import check_scenario
from settling import Settling
from state import Change, Round, Wager
from wins import Wins

MOST_OPEN_WINS = 8  # of a table
NOTICES = {
    "missing_or_foreign_card": ["surveillance", "inspector"],
    "malfunction": ["inspector"],
    "held": ["surveillance"],
    "late_press": ["surveillance", "inspector"],
}


class Model(Settling, Wins, Irregularities, Payments, Changes):
    """Takes the events one after the other. The scenario has been checked."""

    def __init__(self, pools, tables):
        self.pools = pools
        self.tables = tables
        self.now = 0
        self.index = 0
        self.confirmations = 0
        self.awards = {}  # (table, round, seat, tier) -> Award
        self.past_wins = {}  # pool id -> wins from before its parameters changed
        self.payouts = []
        self.withdrawn = []
        self.refunds = []
        self.refused = []
        self.notices = []
        self.notices_of_looks = []
        self.changes = []
        self.occurred = Counter()  # what happened how often, to know what a test has covered
        self.handlers = {kind: getattr(self, kind) for kind in (
            "round_opened", "round_result", "result_corrected", "jackpot_confirmed",
            "round_closed", "surveillance_ruling", "round_voided", "wager_voided",
            "table_suspended", "table_resumed", "table_offline", "table_online",
            "pool_suspended", "pool_resumed", "pool_adjusted", "payment_recorded",
            "award_withheld", "award_released", "pool_change_agreed", "site_configured",
        )}

    # -- time -----------------------------------------------------------------------------------

    def step(self, index, event):
        """One event. Returns the code it is refused with, or None."""
        self.index = index
        self.now = event["at_ms"]
        self.look(self.now)
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
            self.file_notices()
            self.check_books()
        return None

    def finish(self):
        """[FORMAT] After the last event there is one more such look, at the end of time."""
        self.index += 1
        self.look(None)
        self.file_notices()
        self.check_books()

    def changed(self, pool):
        """All changes of this event are made: compute the pool, once."""
        self.compute(pool)
        self.make_final_what_is_paid(pool)

    def notice(self, kind, own=False):
        """[FORMAT] An event's own notice comes before those of looks."""
        notice = {"event": self.index, "kind": kind, "to": NOTICES[kind]}
        (self.notices if own else self.notices_of_looks).append(notice)
        self.occurred[f"notice {kind}"] += 1

    def file_notices(self):
        self.notices += self.notices_of_looks
        self.notices_of_looks = []

    # -- [rules: Money] accounts ------------------------------------------------------------------

    def check_books(self):
        for pool in self.pools.values():
            assert pool.meter + pool.reserve == (
                pool.seeded + pool.contributed - pool.returned - pool.paid_from_pool + pool.adjusted
            ), "the books of a pool do not balance"
            assert pool.reserve >= 0, "a reserve is never negative"
            assert displayed(pool.meter) >= pool.minimum, "a meter is below its minimum"
            for amount in (pool.meter, pool.reserve, pool.seeded, pool.contributed, pool.returned,
                           pool.from_reserve, pool.paid_from_pool, pool.paid_by_house,
                           pool.adjusted):
                if abs(amount) > INT64_MAX:
                    raise Malformed(f"pool {pool.id}: an amount does not fit")

    # -- [rules: A round] 1. wagers ---------------------------------------------------------------

    def round_opened(self, event):
        table = self.tables[event["table"]]
        pool, current = table.pool, table.current
        if table.suspended_by:
            raise Refused("table_suspended")
        if pool.suspended:
            raise Refused("pool_suspended")
        if current is not None:
            if event["round"] <= current.number:
                raise Refused("round_not_newer")
            if current.is_open and current.wagers and not current.result_in:
                raise Refused("no_result")
            if current.is_open and current.has_unconfirmed_claim:
                raise Refused("claim_unconfirmed")
        if self.has_too_many_open_wins(table):
            raise Refused("too_many_open_wins")
        seats = self.check_wagers(table, event["wagers"])

        if current is not None:
            current.closed = True
            if current.has_open_win:
                self.occurred["next round opened while a win is open"] += 1
        table.current = Round(table, event["round"], self.now, wagers={})
        table.rounds[event["round"]] = table.current
        for seat in sorted(seats):  # seat by seat from 1 up
            table.current.wagers[seat] = self.contribute(pool)

    def has_too_many_open_wins(self, table):
        return len(table.open_wins) >= MOST_OPEN_WINS

    def check_wagers(self, table, wagers):
        """Wager by wager in the order given. Returns the seats."""
        uth = table.pool.game == "uth"
        seats = []
        player_cards = []
        for wager in wagers:
            if type(wager) is int:
                wager = {"seat": wager}
            seat = wager["seat"]
            player_card = wager.get("player_card", "")
            if not 1 <= seat <= table.seats:
                raise Refused("seat_out_of_range")
            if seat in seats:  # BJ 5.6, UTH 5.7
                raise Refused("duplicate_seat")
            if not wager.get("base_wager", True):  # BJ 14.7, UTH 15.2.1
                if not uth or not wager.get("approved_by", ""):  # UTH 15.2.1.1
                    raise Refused("no_base_wager")
                self.occurred["wager on another player's box"] += 1
            if table.require_player_card and not player_card:  # BJ 5.1, 18.1, UTH 5.1, 13.1
                raise Refused("no_player_card")
            if uth and player_card and player_card in player_cards:  # UTH 5.6
                raise Refused("player_wagers_twice")
            seats.append(seat)
            player_cards.append(player_card)
        return seats

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
        pool.reserve += to_reserve
        pool.contributed += to_meter + to_reserve
        pool.history.append(Change("contribution", to_meter))
        self.changed(pool)
        return Wager(to_meter, to_reserve)

    # -- [rules: A round] 2. the result, 3. fixed awards ------------------------------------------

    def find_round(self, event):
        """[FORMAT: Refusal codes] round_result, result_corrected, jackpot_confirmed, round_closed."""
        round = self.tables[event["table"]].current
        if round is None:
            raise Refused("no_open_round")
        if round.number != event["round"]:
            raise Refused("wrong_round")
        if round.voided:
            raise Refused("round_voided")
        if round.closed:
            raise Refused("round_closed")
        return round

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

    def evaluate(self, pool, board, hands):
        """The fixed awards and the claims of a result, by seat."""
        fixed, claims = {}, {}
        for hand in hands:
            if pool.game == "blazing7s":
                tier = blazing7s_tier(board[0], hand["cards"])
            else:
                tier = uth_tier(board, hand["cards"])
            if tier is None:
                continue
            if pool.pays[tier] in (ALL, TENTH):
                claims[hand["seat"]] = tier
            else:
                fixed[hand["seat"]] = (tier, pool.pays[tier])
        return fixed, claims

    def pay_fixed(self, round, fixed):
        """3. Fixed awards are due at once, before any jackpot (BJ 14.27.3), from the highest seat
        down."""
        for seat in sorted(fixed, reverse=True):
            tier, amount = round.fixed[seat] = fixed[seat]
            self.pay(round, seat, tier, amount)
            round.table.pool.paid_by_house += amount

    def round_result(self, event):
        round = self.find_round(event)
        if round.result_in:
            raise Refused("result_already_reported")
        board = self.check_result(round, event)
        round.result_in = True
        fixed, round.claims = self.evaluate(round.table.pool, board, event["hands"])
        self.pay_fixed(round, fixed)

    def result_corrected(self, event):
        """[rules: Irregularities] Reconstruction (BJ 16.8)."""
        round = self.find_round(event)
        pool = round.table.pool
        if not round.result_in:
            raise Refused("no_result")
        if round.has_final_win:
            raise Refused("award_paid")
        people = people_of(event)
        if not people:
            raise Refused("needs_supervisor")
        if len(people) < 2 and (round.has_open_win or self.touched_by_people(round)):
            raise Refused("needs_two_people")
        board = self.check_result(round, event)

        fixed, claims = self.evaluate(pool, board, event["hands"])
        # Fixed awards that come out the same stand; the others are withdrawn, new ones are due.
        same = {seat for seat, award in round.fixed.items() if fixed.get(seat) == award}
        self.withdraw_fixed(round, [seat for seat in round.fixed if seat not in same])
        self.pay_fixed(round, {seat: award for seat, award in fixed.items() if seat not in same})
        # If the round is confirmed the press stands: its claims are those of the new result.
        self.note_correction(round, claims)
        round.claims = claims
        if round.win is not None:
            if not claims:
                self.drop_win(round)
            self.changed(pool)

    def note_correction(self, round, claims):
        if round.win is None:
            return
        win = round.win
        state = "held" if win.hold is not None else "due" if win.due else "locked"
        effect = "same claims" if claims == round.claims else "other claims" if claims else "no claim"
        self.occurred[f"correction of a win that is {state}: {effect}"] += 1

    def round_closed(self, event):
        round = self.find_round(event)
        if not round.result_in:
            raise Refused("no_result")
        if round.has_unconfirmed_claim:
            raise Refused("claim_unconfirmed")
        round.closed = True

    # -- [FORMAT: Outcome] ------------------------------------------------------------------------

    def outcome(self):
        held = []
        for pool in sorted(self.pools.values(), key=lambda pool: pool.id):
            holds = [sorted([win.table.id, win.round.number] for win in hold.wins)
                     for hold in pool.holds]
            held += [{"pool": pool.id, "rounds": rounds} for rounds in sorted(holds)]
        locked = [self.named_award(share.win.round, share.seat, share.tier, share.amount)
                  for pool in self.pools.values() for share in pool.order_of_payment
                  if not share.win.due]
        return {"payouts": self.payouts, "withdrawn": self.withdrawn, "refunds": self.refunds,
                "refused": self.refused, "held": held, "locked": locked,
                "differences": self.differences(), "notices": self.notices,
                "pools": [self.pool_outcome(pool) for pool in self.pools.values()],
                "changes": self.changes}

    def pool_outcome(self, pool):
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
        return entry


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
