"""The form of records and states of a journal, for verifier.py."""

import itertools
import json
import re

from verifier_crypto import Key, Malformed, decode_utf8

FORMAT = 2
MAX_RECORD_BYTES = 4 << 20

# --- payloads ------------------------------------------------------------------------------------------------

ESCAPED = re.compile('["\\\\\0-\x1f\x7f]')


def escape(match):
    character = match[0]
    return "\\" + character if character in '"\\' else f"\\u{ord(character):04x}"


def to_text(value):
    """The value as canonical JSON. Booleans are tested first: in Python they are also numbers."""
    if isinstance(value, str):
        return '"' + ESCAPED.sub(escape, value) + '"'
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join([f"{to_text(key)}:{to_text(each)}" for key, each in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + ",".join([to_text(each) for each in value]) + "]"
    raise Malformed("it holds a value that no record has")


def unique_keys(pairs):
    value = dict(pairs)
    if len(value) != len(pairs):
        raise Malformed("it has a key twice")
    return value


def whole_number(digits):
    value = int(digits) if len(digits) <= 20 else 1 << 64
    if not -(1 << 63) <= value < 1 << 63:
        raise Malformed("it has a number beyond 64 bits")
    return value


def no_number(digits):
    raise Malformed(f"it has the number {digits[:20]}, which is not whole")


DECODER = json.JSONDecoder(object_pairs_hook=unique_keys, parse_int=whole_number, parse_float=no_number,
                           parse_constant=no_number)


def parse_json(data):
    text = decode_utf8(data, "it")
    try:
        value = DECODER.decode(text)
        same = to_text(value) == text
    except (ValueError, RecursionError):
        raise Malformed("it is not well-formed JSON") from None
    if not same:
        raise Malformed("it is not in the journal's form of JSON")
    return value


def text(value):
    if not isinstance(value, str):
        raise Malformed("not a string")


def some_text(value):
    text(value)
    if not value:
        raise Malformed("an empty string where it would be left out")


def number(value):
    if not isinstance(value, int) or isinstance(value, bool):
        raise Malformed("not a whole number")


def natural(value):
    number(value)
    if value < 0:
        raise Malformed("a negative number")


def seat(value):
    number(value)
    if not 1 <= value <= 9:
        raise Malformed("not a seat")


def flag(value):
    if not isinstance(value, bool):
        raise Malformed("not true or false")


def money(value):
    text(value)
    if not re.fullmatch(r"-?(0|[1-9][0-9]*)\.[0-9]{8}", value, re.ASCII) or len(value) > 21 \
            or not -(1 << 63) <= units(value) < 1 << 63 or value == "-0.00000000":
        raise Malformed("not an amount with eight decimals in its only form")


def units(value):
    return int(value.replace(".", ""))


def amount_text(amount):
    return f"{'-' if amount < 0 else ''}{abs(amount) // 10**8}.{abs(amount) % 10**8:08}"


def rate(value):
    text(value)
    if not re.fullmatch(r"0|1|0\.[0-9]{0,5}[1-9]", value, re.ASCII):
        raise Malformed("not a rate")


def parts_per_million(rate_text):
    whole, _, decimals = rate_text.partition(".")
    return int(whole + decimals.ljust(6, "0"))


def sha256_hex(value):
    text(value)
    if not re.fullmatch("[0-9a-f]{64}", value, re.ASCII):
        raise Malformed("not a SHA-256 in lower-case hex")


def verifier_key(value):
    text(value)
    Key.parse(value)


def literally(*allowed):
    def check(value):
        if not any(value == each and type(value) is type(each) for each in allowed):
            raise Malformed(f"{to_text(value)[:40]} is not one of those that are known")
    return check


def list_of(check):
    def checks(value):
        if not isinstance(value, list):
            raise Malformed("not a list")
        for each in value:
            check(each)
    return checks


def some_of(check):
    checks = list_of(check)

    def checks_some(value):
        checks(value)
        if not value:
            raise Malformed("an empty list where it would be left out")
    return checks_some


def fields(*specification):
    """An object with these fields in this order; one whose name begins with "?" may be missing."""
    wanted = [(each.lstrip("?"), each.startswith("?"), check) for each, check in specification]

    def checks(value):
        if not isinstance(value, dict):
            raise Malformed("not an object")
        keys = iter(value)
        key = next(keys, None)
        for name, optional, check in wanted:
            if key != name:
                if optional:
                    continue
                raise Malformed(f'"{name}" is not where it should be')
            try:
                check(value[name])
            except Malformed as fault:
                raise Malformed(f'"{name}": {fault}') from None
            key = next(keys, None)
        if key is not None:
            raise Malformed(f'"{key[:40]}" is not expected here')
    return checks


TIERS = ["three_sevens_diamonds", "three_suited_sevens", "three_same_colour_sevens", "three_sevens",
         "two_player_sevens", "one_each_sevens", "royal_flush", "straight_flush", "four_of_a_kind",
         "full_house", "flush", "bonus"]
TAKES = {"three_sevens_diamonds": "100 %", "royal_flush": "100 %",
         "three_suited_sevens": "10 %", "straight_flush": "10 %"}
CHANGING = {*TAKES, "bonus"}  # awards of a win: computed again until it is final
REFUSALS = """
    unknown_table unknown_pool table_suspended pool_suspended round_not_newer no_result claim_unconfirmed
    too_many_open_wins seat_out_of_range duplicate_seat no_base_wager no_player_card player_wagers_twice
    no_open_round wrong_round round_voided round_closed result_already_reported already_confirmed
    needs_supervisor wrong_card_count seat_has_no_wager bad_card impossible_cards nothing_to_confirm
    nothing_held bad_ruling round_open not_suspended suspended_by_desk table_offline not_offline
    needs_two_people needs_reason below_minimum out_of_range bad_configuration no_such_award award_not_due
    award_withheld not_withheld award_paid""".split()
# For each cause, in the order of writing: its accounts and whether each gains or pays.
ACCOUNTS = ["house", "players", "meter", "reserve"]
CAUSES = {
    "wager": {"house": 1, "players": -1},
    "contribution": {"house": -1, "meter": 1, "reserve": 1},
    "refund": {"house": -1, "players": 1},
    "return": {"house": 1, "meter": -1, "reserve": -1},
    "make_good": {"house": -1, "reserve": 1},
    "award": {"house": 0, "players": 1, "meter": 0},
    "withdrawal": {"house": 0, "players": -1, "meter": 0},
    "seed": {"house": -1, "meter": 1},
    "from_reserve": {"meter": 0, "reserve": 0},
    "adjustment": {"house": 0, "meter": 0},
}

BY_TIER = fields(("?royal_flush", money), ("?straight_flush", money))
BEFORE_OPENING = (("increment", rate), ("reserve_increment", rate), ("minimum", money))
AFTER_OPENING = (("?cap", money), ("payout_unit", money), ("?simultaneity_window_ms", number),
                 ("?settle_after_ms", number), ("?bonus", BY_TIER), ("?guarantee", BY_TIER))
PARAMETERS = fields(*BEFORE_OPENING, *AFTER_OPENING)
PARAMETER_NAMES = [name.lstrip("?") for name, _ in BEFORE_OPENING + AFTER_OPENING]
SITE = fields(
    ("pools", list_of(fields(
        ("id", text), ("game", literally("blazing7s", "uth")), ("wager", money), *BEFORE_OPENING,
        ("?opening", money), *AFTER_OPENING))),
    ("tables", list_of(fields(
        ("id", text), ("pool", text), ("seats", number), ("require_player_card", flag), ("?wager", money),
        ("?decks", number), ("shuffling_device", flag)))))

ROUND = (("table", text), ("round", number))
RESULT = (*ROUND, ("board", list_of(text)),
          ("hands", list_of(fields(("seat", number), ("cards", list_of(text))))))
PEOPLE = ("by", list_of(text))
REASON = (("reason", text), PEOPLE)
FROM = ("from", literally("table", "desk"))
AWARD_NAMED = (*ROUND, ("seat", number), ("tier", literally("none", *TIERS)))
CHANGES = ("award", "withdrawal", "seed", "from_reserve")
RETURNS = ("refund", "return", "make_good", "award", "withdrawal", "seed", "from_reserve")

# For each kind of command: its fields, and the causes that it may post.
COMMANDS = {
    "site_configured": (fields(("site", SITE)), ("seed",)),
    "round_opened": (fields(*ROUND, ("wagers", list_of(fields(
        ("seat", number), ("?no_base_wager", literally(True)), ("?player_card", some_text),
        ("?approved_by", some_text))))), ("wager", "contribution")),
    "round_result": (fields(*RESULT), ("award",)),
    "result_corrected": (fields(*RESULT, PEOPLE), CHANGES),
    "jackpot_confirmed": (fields(*ROUND, ("pressed_ago_ms", number)), CHANGES),
    "round_closed": (fields(*ROUND), ()),
    "surveillance_ruling": (fields(("pool", text), ("order", list_of(list_of(fields(*ROUND)))),
                                   PEOPLE), CHANGES),
    "round_voided": (fields(*ROUND, ("ground", literally(
        "dealing_error", "missing_or_foreign_card", "shuffling_device", "invalidated")),
        ("forfeited", list_of(number)), *REASON), RETURNS),
    "wager_voided": (fields(*ROUND, ("seat", number), ("ground", literally(
        "invalid_wager", "loss_limit", "prohibited_device", "refused")), *REASON), RETURNS),
    "table_suspended": (fields(("table", text), ("ground", literally(
        "malfunction", "closed", "tournament")), FROM, *REASON), RETURNS),
    "table_resumed": (fields(("table", text), FROM, *REASON), ()),
    "table_offline": (fields(("table", text)), ()),
    "table_online": (fields(("table", text)), ()),
    "pool_suspended": (fields(("pool", text), *REASON), ()),
    "pool_resumed": (fields(("pool", text), *REASON), ()),
    "pool_adjusted": (fields(("pool", text), ("amount", money), *REASON), ("adjustment",)),
    "pool_change_agreed": (fields(("pool", text), ("to", PARAMETERS), *REASON),
                           ()),
    "settle_due": (fields(("pool", text)), CHANGES),
    "award_withheld": (fields(*AWARD_NAMED, *REASON), ("seed", "from_reserve")),
    "award_released": (fields(*AWARD_NAMED, *REASON), ()),
    "payment_recorded": (fields(*ROUND, ("seat", number), ("?tier", literally("none", *TIERS)), ("paid", money),
                                ("how", text), PEOPLE), ("seed", "from_reserve")),
}

PLACE = (*ROUND, ("seat", seat))
AWARDS = some_of(fields(
    *PLACE, ("tier", literally(*TIERS)), ("amount", money), ("rule", some_text),
    ("?player_card", some_text), ("?arithmetic", fields(
        ("takes", literally("10 %", "100 %")), ("displayed", money), ("aggregate", money),
        ("winners", natural), ("share", money), ("guarantee", money), ("payout_unit", money)))))
NOTICES = {
    "missing_or_foreign_card": ["surveillance", "inspector"],
    "malfunction": ["inspector"],
    "held": ["surveillance"],
    "late_press": ["surveillance", "inspector"],
    "parameters_in_force": ["inspector"],
}


def notice(value):
    fields(("kind", literally(*NOTICES)), ("to", list_of(text)), ("rule", text))(value)
    if value["to"] != NOTICES[value["kind"]]:
        raise Malformed('"to": not those who receive such a notice')


POOL_AFTER = fields(
    ("pool", text),
    ("postings", fields(*[("?" + cause, fields(*[("?" + account, money) for account in ACCOUNTS]))
                          for cause in CAUSES])),
    ("meter", money), ("reserve", money))
HEAD = (("seq", natural), ("time", natural))
RECORDS = {
    kind: fields(
        *HEAD, ("kind", text), ("?from", fields(("number", natural), ("clock", number))), ("command", command),
        ("?refused", fields(("code", literally(*REFUSALS)), ("?rule", some_text))),
        ("?awards", AWARDS),
        ("?withdrawn", some_of(fields(*PLACE, ("tier", literally(*TIERS)), ("amount", money)))),
        ("?locked", AWARDS),
        ("?refunds", some_of(fields(*PLACE, ("amount", money)))),
        ("?claims", some_of(fields(*PLACE, ("tier", literally(*TIERS)), (
            "state", literally("claimed", "locked", "held", "due", "final", "dropped"))))),
        ("?notices", some_of(notice)),
        ("?payment", fields(("due", money), ("paid", money), ("sum", money))),
        ("?parameters", fields(("pool", text), ("state", literally("agreed", "in_force", "taken_back")),
                               ("from", PARAMETERS), ("to", PARAMETERS))),
        ("?amended", fields(("?new_pools", some_of(text)), ("?new_tables", some_of(text)),
                            ("?changed_tables", some_of(text)))),
        ("pools", list_of(POOL_AFTER)))
    for kind, (command, causes) in COMMANDS.items()
} | {
    "journal_opened": fields(*HEAD, ("kind", text), ("format", literally(FORMAT)), ("key", verifier_key)),
    "heartbeat": fields(*HEAD, ("kind", text)),
    "snapshot": fields(*HEAD, ("kind", text), ("sha256", sha256_hex)),
    "segment_opened": fields(*HEAD, ("kind", text), ("sha256", sha256_hex), ("key", verifier_key)),
    "key_rotated": fields(*HEAD, ("kind", text), ("old", verifier_key), ("new", verifier_key), ("lost", flag),
                          ("by", list_of(text))),
}


def other_kind(value):
    """Any fields may follow; the first three are those of every record."""
    head = dict(itertools.islice(value.items(), 3))
    fields(*HEAD, ("kind", text))(head)


def parse_record(payload):
    if len(payload) > MAX_RECORD_BYTES:
        raise Malformed("it is larger than any record can be")
    record = parse_json(payload)
    if not isinstance(record, dict):
        raise Malformed("it is not an object")
    kind = record.get("kind")
    check = RECORDS.get(kind, other_kind) if isinstance(kind, str) else other_kind
    check(record)
    return record


TOTALS = ["seeded", "contributed", "returned", "from_reserve", "paid_from_pool", "paid_by_house", "adjusted"]
AWARD_RECORD = fields(
    ("round", number), ("seat", seat), ("tier", literally(*TIERS)), ("amount", money), ("paid", money),
    ("payments", natural), ("state", literally(0, 1, 2)), ("was_due", flag), ("withheld", flag))
STATE_ROUND = fields(
    ("opened", flag), ("number", number), ("opened_ms", number), ("result_in", flag), ("voided", flag),
    ("closed", flag), ("confirmed", flag), ("final", flag),
    ("seats", list_of(fields(
        ("seat", seat), ("wagered", flag), ("to_meter", money), ("to_reserve", money),
        ("?tier", literally(*TIERS)), ("claims", flag), ("player_card", text)))))
PLACE_KEY = (("arrival", natural), ("ruling", natural), ("index", natural))
CHANGE = fields(("sum", money), ("floor", money))
WIN = fields(
    ("table", natural), ("round", number), ("order", natural), ("arrived_ms", number), ("pressed_ms", number),
    ("impossible", flag), ("due", flag), ("hold", natural), ("holds_itself", flag), ("place", fields(*PLACE_KEY)),
    ("awards", list_of(fields(("seat", seat), ("tier", literally(*TIERS)), ("amount", money)))))
STATE = fields(
    ("site", SITE), ("confirmations", natural),
    ("pools", list_of(fields(
        ("suspended", flag), ("meter", money), ("reserve", money), *[(total, money) for total in TOTALS],
        ("wins", list_of(WIN)), ("base", money),
        ("places", list_of(fields(*PLACE_KEY, ("before", money), ("paid", money), ("finals", CHANGE),
                                  ("since", CHANGE)))),
        ("rulings", natural),
        ("?last_win", fields(("amount", money), ("at_ms", number), ("tier", literally(*TIERS)), ("table", natural))),
        ("?next_look_ms", number), ("?next", PARAMETERS), ("?next_is_due", flag)))),
    ("tables", list_of(fields(
        ("?suspended", literally("table", "desk")), ("offline", flag), ("current", STATE_ROUND),
        ("earlier", list_of(STATE_ROUND)), ("awards", list_of(AWARD_RECORD)), ("jackpots", list_of(AWARD_RECORD)),
        ("?last_final", fields(("arrived_ms", number), ("pressed_ms", number))), ("wagers", natural),
        ("last_number", natural), ("records", list_of(natural))))))


def parse_state(data):
    state = parse_json(data)
    STATE(state)
    for each in ("pools", "tables"):
        if len(state[each]) != len(state["site"][each]):
            raise Malformed(f"its {each} are not those of its site")
    return state
