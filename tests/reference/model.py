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
import re
import sys
from collections import Counter
from dataclasses import dataclass, field

# -------------------------------------------------------------------------------------------------
# [rules: Money]
# -------------------------------------------------------------------------------------------------

DOLLAR = 10**8  # in units
CENT = 10**6
RATE_ONE = 10**6  # rates are in parts per million
INT64_MAX = 2**63 - 1


class Malformed(Exception):
    """The scenario is not run: exit status 2."""


class BadConfiguration(Malformed):
    """The site is well formed and breaks a rule; of an amendment in play it is a refusal."""


class Refused(Exception):
    """An event is refused; it changes nothing."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


def read_decimal(text, places, where, signed=False):
    """A decimal string as an integer number of 10**-places."""
    if type(text) is not str:
        raise Malformed(f"{where}: a decimal string is needed")
    match = re.fullmatch(r"(-?)([0-9]+)(?:\.([0-9]+))?", text)
    if not match or (match[1] and not signed):
        raise Malformed(f"{where}: {text!r} is not a decimal number")
    fraction = match[3] or ""
    if len(fraction) > places:
        raise Malformed(f"{where}: {text!r} has more than {places} decimal places")
    value = int(match[2] + fraction.ljust(places, "0"))
    if value > INT64_MAX:
        raise Malformed(f"{where}: {text!r} does not fit")
    return -value if match[1] else value


def read_money(text, where, signed=False):
    return read_decimal(text, 8, where, signed)


def read_rate(text, where):
    rate = read_decimal(text, 6, where)
    if rate > RATE_ONE:
        raise Malformed(f"{where}: {text!r} is not between 0 and 1")
    return rate


def write_money(amount, places):
    """With eight places exactly; with two places the amount has to be a number of whole cents."""
    sign = "-" if amount < 0 else ""
    dollars, units = divmod(abs(amount), DOLLAR)
    fraction = f"{units:08d}"
    assert set(fraction[places:]) <= {"0"}, "an amount with two decimals is a number of whole cents"
    return f"{sign}{dollars}.{fraction[:places]}"


def displayed(amount):
    """The exact amount rounded down to the cent."""
    return amount // CENT * CENT


def rounded_up(numerator, denominator, unit):
    """numerator / denominator, rounded up to a multiple of unit."""
    return -(-numerator // (denominator * unit)) * unit


# -------------------------------------------------------------------------------------------------
# Pay tables [rules: A round]
# -------------------------------------------------------------------------------------------------

RANKS = "23456789TJQKA"
SUITS = "CDHS"
RED = "DH"

ALL = "100 %"
TENTH = "10 %"

# A tier pays a fixed amount, or one of the two parts of the jackpot.
# Blazing 7's (BJ 14.24), by wager.
BLAZING7S_PAYS = {
    250 * CENT: {
        "three_sevens_diamonds": ALL,
        "three_suited_sevens": TENTH,
        "three_same_colour_sevens": 1250 * DOLLAR,
        "three_sevens": 500 * DOLLAR,
        "two_player_sevens": 50 * DOLLAR,
        "one_each_sevens": 25 * DOLLAR,
    },
    500 * CENT: {
        "three_sevens_diamonds": ALL,
        "three_suited_sevens": TENTH,
        "three_same_colour_sevens": 2500 * DOLLAR,
        "three_sevens": 1000 * DOLLAR,
        "two_player_sevens": 100 * DOLLAR,
        "one_each_sevens": 50 * DOLLAR,
    },
}

# Ultimate Texas Hold'em (UTH 15.2.9).
UTH_PAYS = {
    "royal_flush": ALL,
    "straight_flush": TENTH,
    "four_of_a_kind": 500 * DOLLAR,
    "full_house": 150 * DOLLAR,
    "flush": 100 * DOLLAR,
}
UTH_ROYAL_FLUSH_GUARANTEE = 50_000 * DOLLAR
UTH_STRAIGHT_FLUSH_GUARANTEE = 5_000 * DOLLAR


def is_card(text):
    return len(text) == 2 and text[0] in RANKS and text[1] in SUITS


def blazing7s_tier(dealer, cards):
    """The highest tier of the player's two cards and the dealer's first, or None (BJ 14.24)."""
    player_sevens = [card for card in cards if card[0] == "7"]
    dealer_sevens = [card for card in [dealer] if card[0] == "7"]
    if len(player_sevens) == 2 and len(dealer_sevens) == 1:
        suits = [card[1] for card in player_sevens + dealer_sevens]
        if suits == ["D", "D", "D"]:
            return "three_sevens_diamonds"
        if len(set(suits)) == 1:
            return "three_suited_sevens"
        if len({suit in RED for suit in suits}) == 1:
            return "three_same_colour_sevens"
        return "three_sevens"
    if len(player_sevens) == 2:
        return "two_player_sevens"
    if len(player_sevens) == 1 and len(dealer_sevens) == 1:
        return "one_each_sevens"
    return None


def uth_tier(flop, cards):
    """The highest tier of the two hole cards and the flop, or None (UTH 15.2.9)."""
    five = flop + cards
    ranks = sorted(RANKS.index(card[0]) for card in five)
    suited = len({card[1] for card in five}) == 1
    ace_high_run = [8, 9, 10, 11, 12]  # T J Q K A
    ace_low_run = [0, 1, 2, 3, 12]  # 2 3 4 5 and the ace
    run = ranks == list(range(ranks[0], ranks[0] + 5)) or ranks == ace_low_run
    if suited and ranks == ace_high_run:
        return "royal_flush"
    if suited and run:
        return "straight_flush"
    times = sorted(Counter(ranks).values())
    if times == [1, 4]:
        return "four_of_a_kind"
    if times == [2, 3]:
        return "full_house"
    if suited:
        return "flush"
    return None


# -------------------------------------------------------------------------------------------------
# The state of the floor
# -------------------------------------------------------------------------------------------------


PARAMETERS = ("increment", "reserve_increment", "minimum", "cap", "payout_unit", "window_ms",
              "bonus")
OPTIONAL_PARAMETERS = ("reserve_increment", "cap", "payout_unit", "simultaneity_window_ms", "bonus")


@dataclass(eq=False)
class Change:
    """One entry in the list of everything that has happened to a pool's meter since it opened."""

    at_ms: int
    what: str  # contribution, return, adjustment, settlement; a confirmation changes nothing
    amount: int = 0  # what it adds to the meter
    round: "Round | None" = None  # of a confirmation


@dataclass(eq=False)
class Pool:
    id: str
    game: str
    wager: int
    opening: int  # what its history begins with
    increment: int
    reserve_increment: int
    minimum: int
    cap: int | None
    payout_unit: int
    window_ms: int
    bonus: dict
    pays: dict
    suspended: bool = False
    # The accounts.
    meter: int = 0
    reserve: int = 0
    seeded: int = 0
    contributed: int = 0
    returned: int = 0
    from_reserve: int = 0
    paid_from_pool: int = 0
    paid_by_house: int = 0
    adjusted: int = 0
    # The meter's history, and the confirmed rounds that are not settled yet.
    history: list = field(default_factory=list)
    waiting: list = field(default_factory=list)  # for the end of their window
    held: list = field(default_factory=list)  # for a ruling
    # Parameters that two people agreed on, and whether the pool was reset since.
    agreed: dict | None = None
    reset_since: bool = False

    @property
    def parameters(self):
        return {name: getattr(self, name) for name in PARAMETERS}

    @property
    def decks(self):
        return 6 if self.game == "blazing7s" else 1

    @property
    def board_size(self):
        return 1 if self.game == "blazing7s" else 3


@dataclass(eq=False)
class Table:
    id: str
    pool: Pool
    seats: int
    require_player_card: bool
    stated_wager: int | None
    suspended: bool = False
    offline: bool = False
    current: "Round | None" = None

    @property
    def configured(self):
        return self.seats, self.require_player_card, self.stated_wager

    @property
    def in_play(self):
        """A round without result, or a jackpot that is not settled."""
        current = self.current
        if current is not None and not current.voided:
            if not current.result_in or (current.claims and not current.settled):
                return True
        return any(round.table is self for round in self.pool.waiting + self.pool.held)


@dataclass(eq=False)
class Wager:
    to_meter: int  # its contribution exactly as it was posted
    to_reserve: int


@dataclass(eq=False)
class Round:
    table: Table
    number: int
    wagers: dict  # seat -> Wager; a wager that is returned is removed
    result_in: bool = False
    voided: bool = False
    fixed: dict = field(default_factory=dict)  # seat -> (tier, amount): fixed awards that are due
    claims: dict = field(default_factory=dict)  # seat -> tier: jackpots
    confirmed_at: int | None = None  # when the confirmation arrived
    pressed_at: int | None = None  # when the button was pressed
    arrival: int | None = None  # the how-manieth confirmation it was
    settled: bool = False  # its jackpots were paid
    held_for_offline: bool = False  # until a ruling, whatever becomes of the table that was offline

    @property
    def has_unconfirmed_claim(self):
        return bool(self.claims) and self.confirmed_at is None


# -------------------------------------------------------------------------------------------------
# Is the scenario well formed, and does it keep the configuration rules? [FORMAT: last paragraph]
# -------------------------------------------------------------------------------------------------


def check_object(value, where, required, optional=()):
    if type(value) is not dict:
        raise Malformed(f"{where}: an object is needed")
    for key in value:
        if key not in required and key not in optional:
            raise Malformed(f"{where}: unknown key {key!r}")
    for key in required:
        if key not in value:
            raise Malformed(f"{where}: {key!r} is missing")
    return value


def check_text(value, where):
    if type(value) is not str:
        raise Malformed(f"{where}: a string is needed")
    return value


def check_integer(value, where):
    if type(value) is not int:  # true and false are no integers
        raise Malformed(f"{where}: an integer is needed")
    if abs(value) > INT64_MAX:
        raise Malformed(f"{where}: {value} does not fit")
    return value


def check_boolean(value, where):
    if type(value) is not bool:
        raise Malformed(f"{where}: true or false is needed")
    return value


def check_list(value, where):
    if type(value) is not list:
        raise Malformed(f"{where}: a list is needed")
    return value


def shape_of_parameters(entry, where):
    """What two people may change of a pool, as values; whether the rules allow them comes later."""
    values = {
        "increment": read_rate(entry["increment"], f"{where}.increment"),
        "reserve_increment": read_rate(entry.get("reserve_increment", "0"),
                                       f"{where}.reserve_increment"),
        "minimum": read_money(entry["minimum"], f"{where}.minimum", signed=True),
        "cap": None,
        "payout_unit": read_money(entry.get("payout_unit", "0.01"), f"{where}.payout_unit",
                                  signed=True),
        "window_ms": None,
        "bonus": None,
    }
    if "cap" in entry:
        values["cap"] = read_money(entry["cap"], f"{where}.cap", signed=True)
    if "simultaneity_window_ms" in entry:
        values["window_ms"] = check_integer(entry["simultaneity_window_ms"],
                                            f"{where}.simultaneity_window_ms")
    if "bonus" in entry:
        check_object(entry["bonus"], f"{where}.bonus", required=(),
                     optional=("royal_flush", "straight_flush"))
        values["bonus"] = {tier: read_money(amount, f"{where}.bonus.{tier}", signed=True)
                           for tier, amount in entry["bonus"].items()}
    return values


def parameters_by_the_rules(values, game, opening, where):
    """[rules: Pools and tables] The same values, defaults filled in, or BadConfiguration."""
    if values["increment"] + values["reserve_increment"] > RATE_ONE:
        raise BadConfiguration(f"{where}: rates are between 0 and 1 and together at most 1")
    minimum, cap, window_ms = values["minimum"], values["cap"], values["window_ms"]
    if minimum < 0 or minimum % CENT:
        raise BadConfiguration(f"{where}.minimum: not a number of whole cents")
    if opening < minimum:
        raise BadConfiguration(f"{where}.opening: below the minimum")
    if cap is not None and cap < opening:
        raise BadConfiguration(f"{where}.cap: below the opening amount")
    check_stake(values["payout_unit"], f"{where}.payout_unit")
    if game == "blazing7s":
        if minimum not in (10_000 * DOLLAR, 25_000 * DOLLAR, 50_000 * DOLLAR):
            raise BadConfiguration(f"{where}.minimum: $10,000, $25,000 or $50,000 (BJ 14.28)")
        if values["bonus"] is not None:
            raise BadConfiguration(f"{where}.bonus: there is a bonus in UTH only (UTH 15.2.10)")
    elif window_ms is not None:
        raise BadConfiguration(f"{where}.simultaneity_window_ms: Blazing 7's only (BJ 14.27.4)")
    if window_ms is not None and not 0 <= window_ms <= 24 * 60 * 60 * 1000:
        raise BadConfiguration(f"{where}.simultaneity_window_ms: 0 to 24 hours")
    if values["bonus"] == {}:
        raise BadConfiguration(f"{where}.bonus: royal_flush, straight_flush or both")
    for tier, amount in (values["bonus"] or {}).items():
        check_stake(amount, f"{where}.bonus.{tier}")
    return {**values, "window_ms": 2000 if window_ms is None else window_ms,
            "bonus": values["bonus"] or {}}


def shape_of_pool(entry, where):
    check_object(entry, where, required=("id", "game", "wager", "increment", "minimum"),
                 optional=(*OPTIONAL_PARAMETERS, "opening"))
    pool = {"id": check_text(entry["id"], f"{where}.id")}
    pool["game"] = check_text(entry["game"], f"{where}.game")
    if pool["game"] not in ("blazing7s", "uth"):
        raise Malformed(f"{where}.game: {pool['game']!r} is not a game")
    pool["wager"] = read_money(entry["wager"], f"{where}.wager", signed=True)
    pool["opening"] = None
    if "opening" in entry:
        pool["opening"] = read_money(entry["opening"], f"{where}.opening", signed=True)
    pool["parameters"] = shape_of_parameters(entry, where)
    return pool


def pool_by_the_rules(shape, where):
    game, wager = shape["game"], shape["wager"]
    where = f"{where} ({shape['id']})"
    check_id(shape["id"], where)
    check_stake(wager, f"{where}.wager")
    if game == "blazing7s" and wager not in BLAZING7S_PAYS:
        raise BadConfiguration(f"{where}.wager: Blazing 7's: $2.50 and $5 (BJ 14.24)")
    minimum = shape["parameters"]["minimum"]
    opening = minimum if shape["opening"] is None else shape["opening"]
    parameters = parameters_by_the_rules(shape["parameters"], game, opening, where)
    pays = BLAZING7S_PAYS[wager] if game == "blazing7s" else UTH_PAYS
    pool = Pool(shape["id"], game, wager, opening=opening, pays=pays, **parameters)
    # [rules: Pools and tables] A pool opens at its minimum, or at a higher amount.
    pool.meter = opening
    pool.seeded = opening
    return pool


def shape_of_table(entry, where):
    check_object(entry, where, required=("id", "pool"),
                 optional=("seats", "require_player_card", "wager"))
    table = {
        "id": check_text(entry["id"], f"{where}.id"),
        "pool": check_text(entry["pool"], f"{where}.pool"),
        "seats": check_integer(entry.get("seats", 7), f"{where}.seats"),
        "require_player_card": check_boolean(entry.get("require_player_card", False),
                                             f"{where}.require_player_card"),
        "wager": None,
    }
    if "wager" in entry:
        table["wager"] = read_money(entry["wager"], f"{where}.wager", signed=True)
    return table


def table_by_the_rules(shape, where, pools):
    where = f"{where} ({shape['id']})"
    check_id(shape["id"], where)
    if shape["pool"] not in pools:
        raise BadConfiguration(f"{where}.pool: no pool {shape['pool']!r} (UTH 15.1.2.2)")
    pool = pools[shape["pool"]]
    seats = shape["seats"]
    if pool.game == "blazing7s" and not 5 <= seats <= 9:
        raise BadConfiguration(f"{where}.seats: a Blackjack table has 5 to 9 seats (BJ 2.2.1)")
    if pool.game == "uth" and not 1 <= seats <= 9:
        raise BadConfiguration(f"{where}.seats: an Ultimate Texas Hold'em table has 1 to 9 seats")
    if shape["wager"] not in (None, pool.wager):
        raise BadConfiguration(f"{where}.wager: not its pool's (BJ 14.26, UTH 15.2.5)")
    return Table(shape["id"], pool, seats, shape["require_player_card"], shape["wager"])


def check_id(value, where):
    if not 1 <= len(value.encode()) <= 64:
        raise BadConfiguration(f"{where}.id: 1 to 64 bytes")


def check_stake(amount, where):
    if amount <= 0 or amount % CENT or amount > 1_000_000 * DOLLAR:
        raise BadConfiguration(f"{where}: not a positive number of whole cents up to $1,000,000")


def shape_of_site(entry):
    pools = [shape_of_pool(each, f"pools[{index}]")
             for index, each in enumerate(check_list(entry["pools"], "pools"))]
    tables = [shape_of_table(each, f"tables[{index}]")
              for index, each in enumerate(check_list(entry["tables"], "tables"))]
    return pools, tables


def site_by_the_rules(pool_shapes, table_shapes):
    """Pools and tables by id, in their order, all as they would open; or BadConfiguration."""
    pools, tables = {}, {}
    for index, shape in enumerate(pool_shapes):
        if shape["id"] in pools:
            raise BadConfiguration(f"pools[{index}].id: {shape['id']!r} is there twice")
        pools[shape["id"]] = pool_by_the_rules(shape, f"pools[{index}]")
    for index, shape in enumerate(table_shapes):
        if shape["id"] in tables:
            raise BadConfiguration(f"tables[{index}].id: {shape['id']!r} is there twice")
        tables[shape["id"]] = table_by_the_rules(shape, f"tables[{index}]", pools)
    return pools, tables


def check_wagers(value, where):
    for index, wager in enumerate(check_list(value, where)):
        at = f"{where}[{index}]"
        if type(wager) is dict:
            check_object(wager, at, required=("seat",), optional=("base_wager", "player_card"))
            check_integer(wager["seat"], f"{at}.seat")
            check_boolean(wager.get("base_wager", True), f"{at}.base_wager")
            check_text(wager.get("player_card", ""), f"{at}.player_card")
        else:
            check_integer(wager, at)


def check_cards(value, where):
    for index, card in enumerate(check_list(value, where)):
        check_text(card, f"{where}[{index}]")


def check_hands(value, where):
    for index, hand in enumerate(check_list(value, where)):
        at = f"{where}[{index}]"
        check_object(hand, at, required=("seat", "cards"))
        check_integer(hand["seat"], f"{at}.seat")
        check_cards(hand["cards"], f"{at}.cards")


def check_people(value, where):
    for index, person in enumerate(check_list(value, where)):
        check_text(person, f"{where}[{index}]")


def check_order(value, where):
    for index, group in enumerate(check_list(value, where)):
        for place, item in enumerate(check_list(group, f"{where}[{index}]")):
            at = f"{where}[{index}][{place}]"
            if len(check_list(item, at)) != 2:
                raise Malformed(f"{at}: a table and a round are needed")
            check_text(item[0], at)
            check_integer(item[1], at)


def check_pressed_ago(value, where):
    if check_integer(value, where) < 0:
        raise Malformed(f"{where}: negative")


def check_adjustment(value, where):
    read_money(value, where, signed=True)


def check_parameters(value, where):
    check_object(value, where, required=("increment", "minimum"), optional=OPTIONAL_PARAMETERS)
    shape_of_parameters(value, where)


def check_pools(value, where):
    shape_of_site({"pools": value, "tables": []})


def check_tables(value, where):
    shape_of_site({"pools": [], "tables": value})


# [FORMAT: event] The fields of each type: those it must have, those it may have.
TABLE_REASON = {"table": check_text, "reason": check_text}
POOL_REASON = {"pool": check_text, "reason": check_text}
TABLE_ROUND = {"table": check_text, "round": check_integer}
BOARD = {"dealer": check_text, "flop": check_cards}
EVENT_FIELDS = {
    "round_opened": ({**TABLE_ROUND, "wagers": check_wagers}, {}),
    "round_result": ({**TABLE_ROUND, "hands": check_hands}, BOARD),
    "result_corrected": ({**TABLE_ROUND, "hands": check_hands}, {**BOARD, "by": check_text}),
    "jackpot_confirmed": (TABLE_ROUND, {"pressed_ago_ms": check_pressed_ago}),
    "surveillance_ruling": ({"pool": check_text, "order": check_order}, {}),
    "round_voided": ({**TABLE_ROUND, "reason": check_text}, {}),
    "wager_voided": ({**TABLE_ROUND, "seat": check_integer, "reason": check_text}, {}),
    "table_suspended": (TABLE_REASON, {}),
    "table_resumed": (TABLE_REASON, {}),
    "table_offline": ({"table": check_text}, {}),
    "table_online": ({"table": check_text}, {}),
    "pool_suspended": (POOL_REASON, {}),
    "pool_resumed": (POOL_REASON, {}),
    "pool_adjusted": ({**POOL_REASON, "amount": check_adjustment}, {"by": check_people}),
    "pool_change_agreed": ({**POOL_REASON, "to": check_parameters}, {"by": check_people}),
    "site_configured": ({"pools": check_pools, "tables": check_tables}, {}),
}


def check_event(event, where, previous_ms):
    if type(event) is not dict:
        raise Malformed(f"{where}: an object is needed")
    for key in ("at_ms", "type"):
        if key not in event:
            raise Malformed(f"{where}: {key!r} is missing")
    at_ms = check_integer(event["at_ms"], f"{where}.at_ms")
    if previous_ms is not None and at_ms < previous_ms:
        raise Malformed(f"{where}.at_ms: decreases")
    kind = check_text(event["type"], f"{where}.type")
    if kind in EVENT_FIELDS:  # the fields of an unknown event are not known
        required, optional = EVENT_FIELDS[kind]
        check_object(event, f"{where} ({kind})", ("at_ms", "type", *required), optional)
        for key, check in {**required, **optional}.items():
            if key in event:
                check(event[key], f"{where} ({kind}).{key}")
    return at_ms


def check_scenario(scenario):
    """Raises Malformed, or returns the pools and tables as configured."""
    check_object(scenario, "scenario", required=("pools", "tables", "events"),
                 optional=("name", "expect"))
    check_text(scenario.get("name", ""), "name")
    if type(scenario.get("expect", {})) is not dict:
        raise Malformed("expect: an object is needed")

    pools, tables = site_by_the_rules(*shape_of_site(scenario))

    previous_ms = None
    for index, event in enumerate(check_list(scenario["events"], "events")):
        previous_ms = check_event(event, f"events[{index}]", previous_ms)
    return pools, tables


# -------------------------------------------------------------------------------------------------
# The rules
# -------------------------------------------------------------------------------------------------


class Model:
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

    # -- [rules: Settling] ------------------------------------------------------------------------

    def settle(self, pool, rounds):
        """A settlement is made as if at its confirmed moment."""
        # The meter as it stood then,
        position = self.moment(pool, rounds)
        before = pool.history[:position]
        since = pool.history[position:]
        meter = self.replayed(pool, before)

        # then the steps:
        settlement = []
        # 1. Bonus awards,
        for round in rounds:
            self.pay_bonus(pool, round)
        # 2. the 10 % tier, 3. the 100 % tier. Wherever the displayed amount falls below the
        # minimum, it is restored to it: also between the two.
        for part in (TENTH, ALL):
            winners = self.in_order_of_payment(
                (round, seat)
                for round in rounds
                for seat, tier in round.claims.items()
                if pool.pays[tier] == part
            )
            if not winners:
                continue
            aggregate, each = self.shares(pool, part, meter, len(winners))
            for round, seat in winners:
                self.pay(round, seat, round.claims[seat], each)
            # 4. The pool pays the aggregate; the house pays what rounding and guarantees add.
            pool.paid_from_pool += aggregate
            pool.paid_by_house += each * len(winners) - aggregate
            settlement.append(Change(self.now, "settlement", -aggregate))
            meter = self.restored(pool, meter - aggregate)
            if part == ALL:
                self.note_reset(pool)

        # then everything that has changed the meter since, in order, applied again on top.
        pool.history = before + settlement + since
        as_if_then = self.replayed(pool, pool.history)

        # The difference to the meter as it stands is paid in by the reserve, then by the house.
        pool.meter += sum(change.amount for change in settlement)
        self.pay_in(pool, as_if_then - pool.meter)
        for round in rounds:
            round.settled = True
        if any(change.amount for change in since):
            self.occurred["settled with changes since its moment"] += 1

    def moment(self, pool, rounds):
        """Where in the pool's history the settlement belongs: after the earliest confirmation of
        the group; never earlier than a moment already settled."""
        confirmed = [i for i, change in enumerate(pool.history)
                     if change.what == "confirmation" and change.round in rounds]
        settled = [i for i, change in enumerate(pool.history) if change.what == "settlement"]
        if settled and settled[-1] > confirmed[0]:
            self.occurred["moment moved to one already settled"] += 1
        return max([confirmed[0]] + settled) + 1

    def replayed(self, pool, history):
        """The meter after all these changes since the pool opened. Wherever in this the displayed
        amount falls below the minimum, it is restored to it."""
        meter = pool.opening
        for change in history:
            meter = self.restored(pool, meter + change.amount)
        return meter

    def in_order_of_payment(self, winners):
        """Within a step: by confirmation time, then table id, then from the highest seat down."""
        def key(winner):
            round, seat = winner
            return round.confirmed_at, round.table.id, -seat

        return sorted(winners, key=key)

    def shares(self, pool, part, meter, winners):
        """What the pool pays for this tier, and what each winner gets."""
        blazing7s = pool.game == "blazing7s"
        if part == TENTH:
            aggregate = self.successive_tenths(displayed(meter), winners)
            guarantee = pool.minimum // 10 if blazing7s else UTH_STRAIGHT_FLUSH_GUARANTEE
        else:
            aggregate = displayed(meter)
            guarantee = pool.minimum if blazing7s else UTH_ROYAL_FLUSH_GUARANTEE
        # [rules: Money] Each award of the two tiers is rounded up to the pool's payout unit.
        each = rounded_up(aggregate, winners, pool.payout_unit)
        guaranteed = rounded_up(guarantee, 1, pool.payout_unit)
        if guaranteed > each:
            self.occurred["guarantee paid"] += 1
        if winners > 1:
            self.occurred[f"{part} tier shared"] += 1
        return aggregate, max(each, guaranteed)

    def successive_tenths(self, rest, winners):
        """n successive takes of 10 %, each of what the former left, added up. A take is rounded
        down to 1e-8 dollar, not to the cent (BJ 14.27.2, UTH 15.2.13.2)."""
        aggregate = 0
        for _ in range(winners):
            take = rest // 10
            rest -= take
            aggregate += take
        return aggregate

    def pay_bonus(self, pool, round):
        """1. Bonus awards (UTH 15.2.10.4): to the seats with a valid jackpot wager in that round
        that hold no jackpot claim in it. Where both tiers were hit, the higher amount, once. House
        money."""
        amounts = [pool.bonus[tier] for tier in round.claims.values() if tier in pool.bonus]
        if not amounts:
            return
        for seat in sorted(round.wagers, reverse=True):
            if seat not in round.claims:
                self.pay(round, seat, "bonus", max(amounts))
                pool.paid_by_house += max(amounts)

    # -- [rules: Irregularities] ------------------------------------------------------------------

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
