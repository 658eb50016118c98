"""Scenarios with one fault each, that are not run."""

import json
import random

from generator import generate
from money import CENT, money, read_money
from scenario import EVENT_FIELDS


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
    of_pools = {"reserve_increment", "cap", "opening", "payout_unit", "simultaneity_window_ms",
                "settle_after_ms", "bonus", "guarantee"}
    of_events = {"pressed_ago_ms", "dealer", "flop", "by", "reason", "how", "forfeited", "from"}
    optional = {"name", "expect", "seats", "require_player_card", "wager", *of_pools, *of_events}
    kind = chooser.choice(["scenario", "pools", "tables", "events", "events", "events"])
    entry = scenario if kind == "scenario" else chooser.choice(scenario[kind])
    keys = [key for key in entry if key not in optional or (kind, key) == ("pools", "wager")]
    if kind == "events":
        if entry["type"] not in EVENT_FIELDS:
            keys = ["at_ms", "type"]
        elif entry["type"] == "payment_recorded" and "tier" in keys:
            keys.remove("tier")
    key = chooser.choice(keys)
    del entry[key]
    return f"{kind} without {key}"


def unknown_key(scenario, chooser):
    places = [scenario, *scenario["pools"], *scenario["tables"]]
    for event in scenario["events"]:
        if event["type"] in EVENT_FIELDS:
            places += [event] * 2 + event.get("hands", [])
            places += event.get("pools", []) + event.get("tables", [])
            places += [event["to"]] * 2 if "to" in event else []
            places += [wager for wager in event.get("wagers", []) if type(wager) is dict]
    place = chooser.choice(places)
    place[chooser.choice(["colour", "Seat", "at", "ID"])] = chooser.choice([1, "x", None])
    return "unknown key"


WRONG_VALUES = {
    # key: values that are of another type than the key's, in every object
    "id": [1, None],
    "pool": [1, None, []],
    "table": [1, None, {}],
    "game": [7, None, "pontoon"],
    "wager": [5, 2.5, None, "five", "", "5,00", "5.", ".5"],
    "increment": [0.2, None, "1/5", "0.2000001", "-0.1", "1.000001"],
    "reserve_increment": [0, None, "x", "2"],
    "minimum": [50000, None, "50000 $", "1e4", "-1.00", "0.00"],
    "opening": [60000, None, "much", "999999999999999999999.00"],
    "cap": [70000, None, "high", "1.00"],
    "payout_unit": [1, None, "0", "0.00", "0.005", "-0.05"],
    "simultaneity_window_ms": ["2000", 0.5, -1, None, True],
    "settle_after_ms": ["2000", 0.5, -1, None, True],
    "guarantee": ["100.00", [], None, {}, {"flush": "5.00"}, {"royal_flush": 50000},
                  {"royal_flush": "49999.99"}, {"straight_flush": "5000.005"}],
    "bonus": ["100.00", [], None, {"flush": "5.00"}, {"royal_flush": 5}, {"royal_flush": "0.00"},
              {"straight_flush": "0.005"}],
    "seats": ["7", 7.5, 0, 10, -1, True, None],
    "require_player_card": ["yes", 1, None],
    "at_ms": ["0", 1.5, None, True, []],
    "type": [1, None, {}],
    "round": ["1", 1.5, None, True, [1], 0, -1, 10**15 + 1],
    "wagers": [None, 1, {}, "1", ["1"], [1.5], [[1]], [{}], [None], [True], [{"seat": "1"}],
               [{"seat": 1, "base_wager": 1}], [{"seat": 1, "player_card": 5}],
               [{"seat": 1, "approved_by": ["x"]}]],
    "hands": [None, {}, "x", [1], [{}], [{"seat": 1}], [{"cards": ["7D", "7D"]}],
              [{"seat": "1", "cards": []}], [{"seat": 1, "cards": "7D7D"}],
              [{"seat": 1, "cards": [7, 7]}]],
    "dealer": [7, None, ["7D"], {}],
    "flop": [None, "7D7D7D", [1, 2, 3], {}],
    "pressed_ago_ms": ["1", -1, 0.5, None, False],
    "order": [None, {}, "x", [1], [["A", 1]], [[["A"]]], [[["A", "1"]]], [[[1, "A"]]],
              [[["A", 1, 1]]], [[["A", 0]]], [[["A", 10**15 + 1]]]],
    "reason": [1, None, ["x"]],
    "how": [1, None, {}],
    "ground": [1, None, "misdeal", "", "Malfunction", []],
    "from": [1, None, "dealer", ""],
    "forfeited": [1, None, ["1"], [1.5], {}],
    "tier": [1, None, []],
    "paid": [1, 12.5, None, "", "1e3", "0.005", "99999999999.00", "--1"],
    "seat": ["1", 1.5, None, True],
    "amount": [1, 12.5, None, "", "-", "--1", "1e3", "$5", "12.345.6", "0.123456789",
               "99999999999999999999", "10000000000.01", "0.001", "-0.00000001"],
    "by": [1, None, {}, [1], [["x"]]],
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
    if kind == "events" and entry["type"] not in EVENT_FIELDS:
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
    minimum = read_money(pool["minimum"], "")
    opening = read_money(pool.get("opening", pool["minimum"]), "")
    changes = [
        (pool, "wager", "0.00"),
        (pool, "wager", "2.505"),
        (pool, "wager", "-5.00"),
        (pool, "wager", "10.00" if blazing7s else "0.001"),
        (pool, "minimum", "20000.00" if blazing7s else "0.00"),
        (pool, "guarantee", {"straight_flush": "6000.00" if blazing7s else "4999.99"}),
        (pool, "settle_after_ms", pool.get("simultaneity_window_ms", 2000) - 1),
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


def window_of_nothing(scenario, chooser):
    """A window of 0 is only for a pool with one table (BJ 14.27.4)."""
    for pool in scenario["pools"]:
        tables = [table for table in scenario["tables"] if table["pool"] == pool["id"]]
        if pool["game"] == "blazing7s" and len(tables) > 1:
            pool["simultaneity_window_ms"] = 0
            return "several tables"
    return None


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
          broken_configuration, broken_configuration, rates_above_one, window_of_nothing, id_twice, time_decreases,
          entry_of_no_object, no_json]
