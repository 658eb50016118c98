"""Checks that a scenario is well formed and keeps the configuration rules [FORMAT: last paragraph]."""

from money import (CENT, DOLLAR, INT64_MAX, RATE_ONE, BadConfiguration, Malformed, read_money,
                   read_rate)
from paytables import BLAZING7S_PAYS, UTH_GUARANTEES, UTH_PAYS
from state import OPTIONAL_PARAMETERS, Pool, Table

DAY_MS = 24 * 60 * 60 * 1000
LARGEST_ROUND = 10**15
ROUND_GROUNDS = ("dealing_error", "missing_or_foreign_card", "shuffling_device", "invalidated")
WAGER_GROUNDS = ("invalid_wager", "loss_limit", "prohibited_device", "refused")
SUSPENSION_GROUNDS = ("malfunction", "closed", "tournament")


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
        "settle_after_ms": None,
        "bonus": None,
        "guarantee": None,
    }
    if "cap" in entry:
        values["cap"] = read_money(entry["cap"], f"{where}.cap", signed=True)
    for name, key in (("window_ms", "simultaneity_window_ms"),
                      ("settle_after_ms", "settle_after_ms")):
        if key in entry:
            values[name] = check_integer(entry[key], f"{where}.{key}")
    for key in ("bonus", "guarantee"):
        if key in entry:
            check_object(entry[key], f"{where}.{key}", required=(),
                         optional=("royal_flush", "straight_flush"))
            values[key] = {tier: read_money(amount, f"{where}.{key}.{tier}", signed=True)
                           for tier, amount in entry[key].items()}
    return values


def parameters_by_the_rules(values, game, opening, where):
    """[rules: Pools and tables] The same values, defaults filled in, or BadConfiguration."""
    if values["increment"] + values["reserve_increment"] > RATE_ONE:
        raise BadConfiguration(f"{where}: rates are between 0 and 1 and together at most 1")
    minimum, cap = values["minimum"], values["cap"]
    if minimum <= 0 or minimum % CENT:
        raise BadConfiguration(f"{where}.minimum: not a positive number of whole cents")
    if opening < minimum:
        raise BadConfiguration(f"{where}.opening: below the minimum")
    if cap is not None and cap < opening:
        raise BadConfiguration(f"{where}.cap: below the opening amount")
    check_stake(values["payout_unit"], f"{where}.payout_unit")
    of_the_game = blazing7s_parameters if game == "blazing7s" else uth_parameters
    return {**values, **of_the_game(values, where)}


def blazing7s_parameters(values, where):
    if values["minimum"] not in (10_000 * DOLLAR, 25_000 * DOLLAR, 50_000 * DOLLAR):
        raise BadConfiguration(f"{where}.minimum: $10,000, $25,000 or $50,000 (BJ 14.28)")
    for key in ("bonus", "guarantee"):
        if values[key] is not None:
            raise BadConfiguration(f"{where}.{key}: in UTH only (UTH 15.2.10, 15.2.13)")
    window_ms = 2000 if values["window_ms"] is None else values["window_ms"]
    settle_after_ms = 10_000 if values["settle_after_ms"] is None else values["settle_after_ms"]
    if not 0 <= window_ms <= DAY_MS or not 0 <= settle_after_ms <= DAY_MS:
        raise BadConfiguration(f"{where}: its times are 0 to 24 hours")
    if settle_after_ms < window_ms:
        raise BadConfiguration(f"{where}.settle_after_ms: less than the window")
    return {"window_ms": window_ms, "settle_after_ms": settle_after_ms, "bonus": {},
            "guarantee": {}}


def uth_parameters(values, where):
    for key in ("window_ms", "settle_after_ms"):
        if values[key] is not None:
            raise BadConfiguration(f"{where}.{key}: Blazing 7's only (BJ 14.27.4)")
    for key in ("bonus", "guarantee"):
        if values[key] == {}:
            raise BadConfiguration(f"{where}.{key}: royal_flush, straight_flush or both")
    for tier, amount in (values["bonus"] or {}).items():
        check_stake(amount, f"{where}.bonus.{tier}")
    for tier, amount in (values["guarantee"] or {}).items():
        if amount % CENT or not UTH_GUARANTEES[tier] <= amount <= 100_000_000 * DOLLAR:
            raise BadConfiguration(f"{where}.guarantee.{tier}: too low or too high (UTH 15.2.9)")
    return {"window_ms": 0, "settle_after_ms": 0, "bonus": values["bonus"] or {},
            "guarantee": {**UTH_GUARANTEES, **(values["guarantee"] or {})}}


def check_windows(parameters, pools_of_tables):
    """A window of 0 is only for a pool with one table (BJ 14.27.4). Parameters by pool id."""
    for pool_id, values in parameters.items():
        if "royal_flush" in values["guarantee"]:
            continue  # UTH
        if values["window_ms"] == 0 and pools_of_tables.count(pool_id) > 1:
            raise BadConfiguration(f"pool {pool_id}: a window of 0 is for one table (BJ 14.27.4)")


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
    check_windows({pool.id: pool.parameters for pool in pools.values()},
                  [table.pool.id for table in tables.values()])
    return pools, tables


def check_wagers(value, where):
    for index, wager in enumerate(check_list(value, where)):
        at = f"{where}[{index}]"
        if type(wager) is dict:
            check_object(wager, at, required=("seat",),
                         optional=("base_wager", "player_card", "approved_by"))
            check_integer(wager["seat"], f"{at}.seat")
            check_boolean(wager.get("base_wager", True), f"{at}.base_wager")
            check_text(wager.get("player_card", ""), f"{at}.player_card")
            check_text(wager.get("approved_by", ""), f"{at}.approved_by")
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
    if type(value) is str:
        return
    for index, person in enumerate(check_list(value, where)):
        check_text(person, f"{where}[{index}]")


def check_round(value, where):
    if not 1 <= check_integer(value, where) <= LARGEST_ROUND:
        raise Malformed(f"{where}: a round is between 1 and 10^15")


def check_order(value, where):
    for index, group in enumerate(check_list(value, where)):
        for place, item in enumerate(check_list(group, f"{where}[{index}]")):
            at = f"{where}[{index}][{place}]"
            if len(check_list(item, at)) != 2:
                raise Malformed(f"{at}: a table and a round are needed")
            check_text(item[0], at)
            check_round(item[1], at)


def check_seats(value, where):
    for index, seat in enumerate(check_list(value, where)):
        check_integer(seat, f"{where}[{index}]")


def check_pressed_ago(value, where):
    if check_integer(value, where) < 0:
        raise Malformed(f"{where}: negative")


def check_whole_cents(value, where):
    if read_money(value, where, signed=True) % CENT:
        raise Malformed(f"{where}: not a number of whole cents")


def one_of(*names):
    def check(value, where):
        if check_text(value, where) not in names:
            raise Malformed(f"{where}: {value!r} is not one of {', '.join(names)}")
    return check


def check_parameters(value, where):
    check_object(value, where, required=("increment", "minimum"), optional=OPTIONAL_PARAMETERS)
    shape_of_parameters(value, where)


def check_pools(value, where):
    shape_of_site({"pools": value, "tables": []})


def check_tables(value, where):
    shape_of_site({"pools": [], "tables": value})


# [FORMAT: event] The fields of each type: those it must have, those it may have.
BY = {"by": check_people}
REASON = {"reason": check_text}
POOL_REASON = ({"pool": check_text}, REASON)
TABLE_ROUND = {"table": check_text, "round": check_round}
TABLE_ROUND_SEAT = {**TABLE_ROUND, "seat": check_integer}
BOARD = {"dealer": check_text, "flop": check_cards}
WITHHOLDING = ({**TABLE_ROUND_SEAT, "tier": check_text}, {**REASON, **BY})
EVENT_FIELDS = {
    "round_opened": ({**TABLE_ROUND, "wagers": check_wagers}, {}),
    "round_result": ({**TABLE_ROUND, "hands": check_hands}, BOARD),
    "result_corrected": ({**TABLE_ROUND, "hands": check_hands}, {**BOARD, **BY}),
    "jackpot_confirmed": (TABLE_ROUND, {"pressed_ago_ms": check_pressed_ago}),
    "round_closed": (TABLE_ROUND, {}),
    "surveillance_ruling": ({"pool": check_text, "order": check_order}, BY),
    "round_voided": ({**TABLE_ROUND, "ground": one_of(*ROUND_GROUNDS)},
                     {"forfeited": check_seats, **REASON, **BY}),
    "wager_voided": ({**TABLE_ROUND_SEAT, "ground": one_of(*WAGER_GROUNDS)}, {**REASON, **BY}),
    "table_suspended": ({"table": check_text, "ground": one_of(*SUSPENSION_GROUNDS)},
                        {"from": one_of("table", "desk"), **REASON, **BY}),
    "table_resumed": ({"table": check_text}, {"from": one_of("table", "desk"), **REASON, **BY}),
    "table_offline": ({"table": check_text}, {}),
    "table_online": ({"table": check_text}, {}),
    "pool_suspended": POOL_REASON,
    "pool_resumed": POOL_REASON,
    "pool_adjusted": ({"pool": check_text, "amount": check_whole_cents}, {**REASON, **BY}),
    "payment_recorded": ({**TABLE_ROUND_SEAT, "paid": check_whole_cents},
                         {"tier": check_text, "how": check_text, **BY}),
    "award_withheld": WITHHOLDING,
    "award_released": WITHHOLDING,
    "pool_change_agreed": ({"pool": check_text, "to": check_parameters}, {**REASON, **BY}),
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
        if "forfeited" in event and event["ground"] != "invalidated":
            raise Malformed(f"{where} ({kind}).forfeited: with the ground invalidated only")
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
