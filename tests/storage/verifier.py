#!/usr/bin/env python3
"""Verifies a signed journal of jackpotd. Written from docs/journal-format.md; shares no code with jackpotd.

    verifier.py [--key VKEY]... [--since CHECKPOINT_FILE] [--openssl-all] DIR_OR_FILES...

VKEY is a verifier key that you trust, CHECKPOINT_FILE the signed checkpoint of an earlier visit. Exit status:
0 verified, with a summary; 1 not, with the first bad record ("record 17: ...") or file; 2 a wrong call.

Ed25519 is checked by the code below, and by the openssl program for the last checkpoint and each key rotation
(with --openssl-all for every checkpoint). Needs Python 3.11 with SQLite 3.37 or later.
"""

import argparse
import base64
import binascii
import functools
import hashlib
import itertools
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path

APPLICATION_ID = 0x4A504F54
FORMAT = 1
NODE_LEVEL = 8
MAX_RECORD_BYTES = 4 << 20
ROWS_A_READ = 1000

SCHEMA = [
    ("table", "journal",
     "CREATE TABLE journal(seq INTEGER PRIMARY KEY, payload TEXT NOT NULL) STRICT"),
    ("table", "checkpoint",
     "CREATE TABLE checkpoint(size INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT"),
    ("table", "node",
     "CREATE TABLE node(idx INTEGER PRIMARY KEY, hash BLOB NOT NULL) STRICT"),
    ("table", "snapshot",
     "CREATE TABLE snapshot(size INTEGER PRIMARY KEY, state TEXT NOT NULL, frontier TEXT NOT NULL) STRICT"),
    ("table", "segment",
     "CREATE TABLE segment(first INTEGER PRIMARY KEY, frontier TEXT NOT NULL) STRICT"),
    ("view", "records",
     "CREATE VIEW records AS SELECT seq,"
     " strftime('%Y-%m-%dT%H:%M:%f', payload ->> '$.time' / 1000.0, 'unixepoch') AS utc,"
     " payload ->> '$.kind' AS kind,"
     " payload ->> '$.command.table' AS \"table\","
     " payload ->> '$.command.round' AS round,"
     " payload ->> '$.pools[0].pool' AS pool,"
     " payload ->> '$.refused.code' AS refused,"
     " payload -> '$.awards' AS awards,"
     " payload ->> '$.pools[0].meter' AS meter"
     " FROM journal"),
    ("view", "awards",
     "CREATE VIEW awards AS SELECT seq,"
     " strftime('%Y-%m-%dT%H:%M:%f', payload ->> '$.time' / 1000.0, 'unixepoch') AS utc,"
     " award.value ->> '$.table' AS \"table\","
     " award.value ->> '$.round' AS round,"
     " award.value ->> '$.seat' AS seat,"
     " award.value ->> '$.tier' AS tier,"
     " award.value ->> '$.amount' AS amount,"
     " award.value ->> '$.rule' AS rule"
     " FROM journal, json_each(payload, '$.awards') AS award"),
]


class Fault(Exception):
    """What is wrong, and with which record; without a number it concerns the file."""

    def __init__(self, what, seq=None, file=None):
        super().__init__(what)
        self.what, self.seq, self.file = what, seq, file

    def __str__(self):
        return f"record {self.seq}: {self.what}" if self.seq is not None else f"{self.file}: {self.what}"


class Malformed(Exception):
    """A text that is not of the form it should have; becomes a Fault where its place is known."""


# --- texts of bytes and numbers ------------------------------------------------------------------------------

def decode_base64(text, length=None):
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Malformed("not base64") from None
    if base64.b64encode(data).decode() != text:
        raise Malformed("base64 in another form than the only one allowed")
    if length is not None and len(data) != length:
        raise Malformed(f"{len(data)} bytes where there should be {length}")
    return data


def decode_utf8(data, what):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Malformed(f"{what} is not UTF-8") from None


def parse_decimal(text):
    if not re.fullmatch(r"0|[1-9][0-9]*", text, re.ASCII) or len(text) > 19 or int(text) >= 1 << 63:
        raise Malformed("not a whole number in its only form")
    return int(text)


# --- Ed25519, RFC 8032 section 5.1, verification alone -------------------------------------------------------

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
SQRT_MINUS_1 = pow(2, (P - 1) // 4, P)
WINDOW = 6


def decode_point(data):
    """Extended coordinates, or None."""
    y = int.from_bytes(data, "little")
    sign = y >> 255
    y &= (1 << 255) - 1
    if y >= P:
        return None
    numerator, denominator = (y * y - 1) % P, (D * y * y + 1) % P
    x = numerator * pow(denominator, 3, P) * pow(numerator * pow(denominator, 7, P), (P - 5) // 8, P) % P
    if (denominator * x * x - numerator) % P:
        x = x * SQRT_MINUS_1 % P
    if (denominator * x * x - numerator) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def add_points(a, b):
    return add_ready(a, ready(b))


def ready(point):
    x, y, z, t = point
    return (y - x) % P, (y + x) % P, 2 * D * t % P, 2 * z % P


def add_ready(point, other):
    x, y, z, t = point
    minus, plus, t2d, z2 = other
    a, b, c, d = (y - x) * minus % P, (y + x) * plus % P, t * t2d % P, z * z2 % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


class Multiples:
    """Of one point, so that a product with any scalar is a sum of about 43."""

    def __init__(self, point):
        self.rows = []
        for _ in range(0, 256, WINDOW):
            row, multiple = [None], point
            for _ in range((1 << WINDOW) - 1):
                row.append(ready(multiple))
                multiple = add_ready(multiple, row[1])
            self.rows.append(row)
            point = multiple

    def add_product(self, scalar, to):
        for row in self.rows:
            digit = scalar & ((1 << WINDOW) - 1)
            if digit:
                to = add_ready(to, row[digit])
            scalar >>= WINDOW
        return to


@functools.cache
def base_multiples():
    return Multiples(decode_point((4 * pow(5, -1, P) % P).to_bytes(32, "little")))


@functools.lru_cache(maxsize=64)
def negated_multiples(public_key):
    point = decode_point(public_key)
    if point is None:
        return None
    x, y, z, t = point
    return Multiples((P - x, y, z, P - t))


@functools.lru_cache(maxsize=100_000)
def ed25519_holds(public_key, message, signature):
    multiples = negated_multiples(public_key)
    scalar = int.from_bytes(signature[32:], "little")
    if multiples is None or len(signature) != 64 or scalar >= ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + public_key + message).digest()
    total = base_multiples().add_product(scalar, (0, 1, 1, 0))
    total = multiples.add_product(int.from_bytes(digest, "little") % ORDER, total)
    inverse = pow(total[2], -1, P)
    x, y = total[0] * inverse % P, total[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little") == signature[:32]


@functools.lru_cache(maxsize=100_000)
def openssl_holds(public_key, message, signature):
    der = bytes.fromhex("302a300506032b6570032100") + public_key
    pem = f"-----BEGIN PUBLIC KEY-----\n{base64.b64encode(der).decode()}\n-----END PUBLIC KEY-----\n"
    with tempfile.TemporaryDirectory(prefix="verifier.") as directory:
        scratch = Path(directory)
        (scratch / "key").write_text(pem)
        (scratch / "text").write_bytes(message)
        (scratch / "signature").write_bytes(signature)
        run = subprocess.run(
            ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", scratch / "key", "-rawin",
             "-in", scratch / "text", "-sigfile", scratch / "signature"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return run.returncode == 0 and b"Signature Verified Successfully" in run.stdout


# --- the tree, RFC 6962 section 2.1 --------------------------------------------------------------------------

def leaf_hash(payload):
    return hashlib.sha256(b"\0" + payload).digest()


def node_hash(left, right):
    return hashlib.sha256(b"\1" + left + right).digest()


class Frontier:
    """The roots of the largest complete subtrees, the largest first."""

    def __init__(self, size=0, edge=()):
        self.size, self.edge = size, list(edge)

    @classmethod
    def parse(cls, text):
        lines = decode_utf8(text, "the frontier").split("\n")
        if len(lines) < 2 or lines.pop():
            raise Malformed("the frontier's last line has no newline")
        size = parse_decimal(lines[0])
        if len(lines) - 1 != size.bit_count():
            raise Malformed(f"the frontier has {len(lines) - 1} hashes, its size needs {size.bit_count()}")
        return cls(size, [decode_base64(line, 32) for line in lines[1:]])

    def text(self):
        lines = [str(self.size)] + [base64.b64encode(each).decode() for each in self.edge]
        return "".join(line + "\n" for line in lines).encode()

    def append(self, leaf):
        """Returns the root of the subtree of level NODE_LEVEL that this completes, or None."""
        node, completed, level, index = leaf, None, 0, self.size
        while index & 1:
            node = node_hash(self.edge.pop(), node)
            index >>= 1
            level += 1
            if level == NODE_LEVEL:
                completed = node
        self.edge.append(node)
        self.size += 1
        return completed

    def root(self):
        if not self.edge:
            return hashlib.sha256(b"").digest()
        return functools.reduce(lambda right, left: node_hash(left, right), reversed(self.edge))


# --- keys and notes, C2SP signed-note and tlog-checkpoint ----------------------------------------------------

SPACES = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")


@dataclass(frozen=True)
class Key:
    name: str
    key_id: bytes
    public: bytes

    @classmethod
    def parse(cls, text):
        parts = text.split("+", 2)
        if len(parts) != 3 or not parts[0] or SPACES.search(parts[0]) or re.search("[\0-\x1f]", parts[0]):
            raise Malformed("not a verifier key: name+id+key")
        typed = decode_base64(parts[2], 33)
        if typed[0] != 1:
            raise Malformed("not a verifier key of type 1, Ed25519")
        key_id = hashlib.sha256(parts[0].encode() + b"\n" + typed).digest()[:4]
        if parts[1] != key_id.hex():
            raise Malformed("a verifier key whose id is not that of its name and key")
        return cls(parts[0], key_id, typed[1:])

    def __str__(self):
        return f"{self.name}+{self.key_id.hex()}+{base64.b64encode(bytes([1]) + self.public).decode()}"


@dataclass
class Checkpoint:
    origin: str
    size: int
    root: bytes
    text: bytes
    signatures: list  # of (name, key id, signature)

    @classmethod
    def parse(cls, note):
        text = decode_utf8(note, "the note")
        if re.search("[\0-\x09\x0b-\x1f]", text):
            raise Malformed("the note has a control character")
        body, blank, tail = text.rpartition("\n\n")
        if not blank or not tail.endswith("\n"):
            raise Malformed("the note has no signature after a blank line")
        lines = body.split("\n")
        if len(lines) != 3 or not lines[0]:
            raise Malformed("the note's text is not the three lines of a checkpoint")
        signatures = []
        for line in tail[:-1].split("\n"):
            match = re.fullmatch("\u2014 ([^ ]+) ([^ ]+)", line)
            if not match:
                raise Malformed("the note has a line that is no signature")
            data = decode_base64(match[2])
            signatures.append((match[1], data[:4], data[4:]))
        return cls(lines[0], parse_decimal(lines[1]), decode_base64(lines[2], 32),
                   (body + "\n").encode(), signatures)


# --- payloads ------------------------------------------------------------------------------------------------

ESCAPED = re.compile('["\\\\\0-\x1f\x7f]')


def escape(match):
    character = match[0]
    return "\\" + character if character in '"\\' else f"\\u{ord(character):04x}"


def to_text(value):
    """In the journal's one form. Booleans come before numbers: in Python they are some."""
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
REFUSALS = """
    unknown_table unknown_pool table_suspended pool_suspended round_not_newer claim_unconfirmed
    seat_out_of_range duplicate_seat no_base_wager no_player_card player_wagers_twice no_open_round wrong_round
    round_voided result_already_reported no_result already_confirmed needs_supervisor wrong_card_count
    seat_has_no_wager bad_card impossible_cards nothing_to_confirm round_settled nothing_held bad_ruling
    not_suspended table_offline not_offline needs_two_people needs_reason out_of_range bad_configuration
    no_such_award award_withheld award_paid""".split()
# Of each cause, in the order in which they are written: the accounts and whether each gains or pays.
ACCOUNTS = ["house", "players", "meter", "reserve"]
CAUSES = {
    "wager": {"house": 1, "players": -1},
    "contribution": {"house": -1, "meter": 1, "reserve": 1},
    "refund": {"house": -1, "players": 1},
    "return": {"house": 1, "meter": -1, "reserve": -1},
    "make_good": {"house": -1, "reserve": 1},
    "award": {"house": -1, "players": 1, "meter": -1},
    "withdrawal": {"house": 1, "players": -1},
    "seed": {"house": -1, "meter": 1},
    "from_reserve": {"meter": 1, "reserve": -1},
    "adjustment": {"house": 0, "meter": 0},
}

BEFORE_OPENING = (("increment", rate), ("reserve_increment", rate), ("minimum", money))
AFTER_OPENING = (("?cap", money), ("payout_unit", money), ("?simultaneity_window_ms", number),
                 ("?bonus", fields(("?royal_flush", money), ("?straight_flush", money))))
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
AWARD_NAMED = (*ROUND, ("seat", number), ("tier", literally("none", *TIERS)))
SETTLES = ("award", "seed", "from_reserve")
RETURNS = ("refund", "return", "make_good", "award", "withdrawal", "seed", "from_reserve")

# Of each kind of command: its fields, and the causes that it may post.
COMMANDS = {
    "site_configured": (fields(("site", SITE)), ("seed",)),
    "round_opened": (fields(*ROUND, ("wagers", list_of(fields(
        ("seat", number), ("?no_base_wager", literally(True)), ("?player_card", some_text),
        ("?approved_by", some_text))))), ("wager", "contribution")),
    "round_result": (fields(*RESULT), ("award",)),
    "result_corrected": (fields(*RESULT, ("?by", some_text)), ("award", "withdrawal")),
    "jackpot_confirmed": (fields(*ROUND, ("pressed_ago_ms", number)), SETTLES),
    "surveillance_ruling": (fields(("pool", text), ("order", list_of(list_of(fields(*ROUND)))),
                                   ("?by", some_text)), SETTLES),
    "round_voided": (fields(*ROUND, ("reason", text), ("?by", some_text)), RETURNS),
    "wager_voided": (fields(*ROUND, ("seat", number), ("reason", text), ("?by", some_text)), RETURNS),
    "table_suspended": (fields(("table", text), ("reason", text), ("?by", some_text)), RETURNS),
    "table_resumed": (fields(("table", text), ("reason", text), ("?by", some_text)), ()),
    "table_offline": (fields(("table", text)), ()),
    "table_online": (fields(("table", text)), ()),
    "pool_suspended": (fields(("pool", text), ("reason", text), ("?by", some_text)), ()),
    "pool_resumed": (fields(("pool", text), ("reason", text), ("?by", some_text)), ()),
    "pool_adjusted": (fields(("pool", text), ("amount", money), ("reason", text), ("by", list_of(text))),
                      ("seed", "from_reserve", "adjustment")),
    "pool_change_agreed": (fields(("pool", text), ("to", PARAMETERS), ("reason", text), ("by", list_of(text))),
                           ()),
    "settle_due": (fields(("pool", text)), SETTLES),
    "award_withheld": (fields(*AWARD_NAMED, ("reason", text), ("by", list_of(text))), ()),
    "payment_recorded": (fields(*AWARD_NAMED, ("paid", money), ("how", text), ("?by", some_text)), ()),
}

PLACE = (*ROUND, ("seat", seat))
AWARDS = some_of(fields(
    *PLACE, ("tier", literally(*TIERS)), ("amount", money), ("rule", some_text), ("?arithmetic", fields(
        ("takes", literally("10 %", "100 %")), ("displayed", money), ("aggregate", money),
        ("winners", natural), ("share", money), ("guarantee", money), ("payout_unit", money)))))
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
        ("?awards", AWARDS), ("?withdrawn", AWARDS),
        ("?refunds", some_of(fields(*PLACE, ("amount", money)))),
        ("?claims", some_of(fields(*PLACE, ("tier", literally(*TIERS)), (
            "state", literally("claimed", "pending", "held", "settled", "dropped"))))),
        ("?notices", some_of(fields(("whom", literally("inspector", "surveillance_and_inspector")),
                                    ("rule", text)))),
        ("?payment", fields(("due", money), ("paid", money))),
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
DUE = fields(("round", number), ("seat", seat), ("tier", literally(*TIERS)), ("amount", money),
             ("status", literally(0, 1, 2)))
STATE_ROUND = fields(
    ("opened", flag), ("number", number), ("result_in", flag), ("voided", flag), ("confirmed", flag),
    ("settled", flag),
    ("seats", list_of(fields(
        ("seat", seat), ("wagered", flag), ("to_meter", money), ("to_reserve", money),
        ("?tier", literally(*TIERS)), ("claims", flag), ("player_card", text)))),
    ("due", list_of(DUE)))
STATE = fields(
    ("site", SITE), ("confirmations", natural),
    ("pools", list_of(fields(
        ("suspended", flag), ("meter", money), ("reserve", money), *[(total, money) for total in TOTALS],
        ("confirmations", list_of(fields(
            ("table", natural), ("round", number), ("order", natural), ("arrived_ms", number),
            ("pressed_ms", number), ("hold", literally(0, 1, 2)), ("meter", money), ("since_sum", money),
            ("since_floor", money)))), 
        ("?last_win", fields(("amount", money), ("at_ms", number), ("tier", literally(*TIERS)), ("table", natural))),
        ("?next", PARAMETERS), ("?next_is_due", flag)))),
    ("tables", list_of(fields(
        ("suspended", flag), ("offline", flag), ("current", STATE_ROUND), ("waiting", list_of(STATE_ROUND)),
        ("jackpots_due", list_of(DUE)), ("wagers", natural), ("heard", natural),
        ("heard_in", list_of(natural))))))


def parse_state(data):
    state = parse_json(data)
    STATE(state)
    for each in ("pools", "tables"):
        if len(state[each]) != len(state["site"][each]):
            raise Malformed(f"its {each} are not those of its site")
    return state


# --- the books -----------------------------------------------------------------------------------------------

@dataclass
class Pool:
    config: dict
    meter: int = 0
    reserve: int = 0
    totals: dict = field(default_factory=lambda: dict.fromkeys(TOTALS, 0))
    next: dict | None = None  # the parameters that were agreed
    was_reset: bool = False  # since then
    last_win: dict | None = None

    def named(self, config):
        """Its parameters, the default window named."""
        window = {"simultaneity_window_ms": 2000} if self.config["game"] == "blazing7s" else {}
        return window | {name: config[name] for name in PARAMETER_NAMES if name in config}

    @property
    def parameters(self):
        return self.named(self.config)


def ceiling(amount, unit):
    return -(-amount // unit) * unit


def total_of(entries):
    return sum(units(each["amount"]) for each in entries)


class Books:
    """Each pool's money as the postings of the records lead to it."""

    def __init__(self):
        self.site = {"pools": [], "tables": []}
        self.pools = {}
        self.pool_of_table = {}
        self.heard = {}  # of each table, the newest number
        self.due = {}  # the amount of the last award of each table, round, seat and tier

    def configure(self, site):
        self.site = site
        self.pools = {each["id"]: Pool(each) for each in site["pools"]}
        self.pool_of_table = {each["id"]: each["pool"] for each in site["tables"]}
        if len(self.pools) != len(site["pools"]) or len(self.pool_of_table) != len(site["tables"]):
            raise Malformed("two pools or two tables of its site have the same id")
        if not set(self.pool_of_table.values()) <= set(self.pools):
            raise Malformed("a table of its site belongs to no pool")

    def amend(self, site, amended):
        """The site is named again; returns the ids of its new pools."""
        after = Books()
        after.configure(site)
        for pool in self.pools.values():
            given = after.pools.get(pool.config["id"])
            if given is None or any(given.config[name] != pool.config[name] for name in ("game", "wager")):
                raise Malformed("it removes a pool or changes its game or wager")
            if given.parameters not in (pool.parameters, pool.next):
                raise Malformed("it changes a pool's parameters, which takes two people")
        for table, pool in self.pool_of_table.items():
            if after.pool_of_table.get(table) != pool:
                raise Malformed("it removes a table or changes its pool")
        given = {each["id"]: each for each in site["tables"]}
        changes = {
            "new_pools": [each["id"] for each in site["pools"] if each["id"] not in self.pools],
            "new_tables": [each["id"] for each in site["tables"] if each["id"] not in self.pool_of_table],
            "changed_tables": [each["id"] for each in self.site["tables"] if given[each["id"]] != each],
        }
        if {name: ids for name, ids in changes.items() if ids} != amended:
            raise Malformed("it amends something else than it says")
        self.site = {
            "pools": [pool.config for pool in self.pools.values()]
            + [each for each in site["pools"] if each["id"] not in self.pools],
            "tables": [given[each["id"]] for each in self.site["tables"]]
            + [each for each in site["tables"] if each["id"] not in self.pool_of_table]}
        for each in changes["new_pools"]:
            self.pools[each] = after.pools[each]
        self.pool_of_table |= after.pool_of_table
        return changes["new_pools"]

    def change(self, record):
        """A pool's parameters: agreed, in force or taken back."""
        pool = self.pools[record["pools"][0]["pool"]]
        agreement = record["kind"] == "pool_change_agreed"
        change = record.get("parameters")
        resets = self.resets(record)
        if change is None:
            if agreement and (pool.next is not None or pool.named(record["command"]["to"]) != pool.parameters):
                raise Malformed("it agrees on parameters and has no outcome")
            pool.was_reset |= pool.next is not None and resets
            return
        if change["pool"] != pool.config["id"] or change["from"] != pool.parameters:
            raise Malformed("its parameters are not those of the pool until then")
        if (change["state"] != "in_force") != agreement:
            raise Malformed("its parameters change by another command than they can")
        wanted = pool.named(record["command"]["to"]) if agreement else None
        if change["state"] == "agreed":
            if change["to"] != wanted or wanted == pool.parameters:
                raise Malformed("it agrees on other parameters than were asked for")
            pool.next = change["to"]
        else:
            if change["to"] != pool.next:
                raise Malformed("its parameters are not those that were agreed")
            if change["state"] == "taken_back" and wanted != pool.parameters:
                raise Malformed("it takes parameters back and asks for others")
            if change["state"] == "in_force":
                self.bring_into_force(pool, resets)
            pool.next = None
        pool.was_reset = False

    def bring_into_force(self, pool, resets):
        if not pool.was_reset and not resets:
            raise Malformed("parameters are in force without a reset")
        config = {name: pool.config[name] for name in ("id", "game", "wager")} | pool.next
        at = list(self.pools).index(config["id"])
        self.site["pools"] = [*self.site["pools"][:at], config, *self.site["pools"][at + 1:]]
        pool.config = config

    @staticmethod
    def resets(record):
        """The minimum was restored, or all of the pool paid."""
        postings = record["pools"][0]["postings"]
        return "seed" in postings or "from_reserve" in postings or any(
            TAKES.get(each["tier"]) == "100 %" for each in record.get("awards", ()))

    def start_from(self, state):
        self.configure(dict(state["site"]))
        for pool, there in zip(self.pools.values(), state["pools"]):
            pool.next, pool.was_reset = there.get("next"), there.get("next_is_due", False)
            pool.meter, pool.reserve = units(there["meter"]), units(there["reserve"])
            pool.totals = {total: units(there[total]) for total in TOTALS}
            pool.last_win = there.get("last_win")
        self.heard = self.heard_in(state)

    @staticmethod
    def heard_in(state):
        return {table["id"]: there["heard"]
                for table, there in zip(state["site"]["tables"], state["tables"]) if there["heard"]}

    def compare(self, state):
        if state["site"] != self.site:
            raise Malformed("the snapshot's site is not the one that was configured")
        if self.heard_in(state) != self.heard:
            raise Malformed("the snapshot has other numbers of the tables' commands than the records")
        for pool, there in zip(self.pools.values(), state["pools"]):
            if there.get("next") != pool.next or there.get("next_is_due", False) != pool.was_reset:
                raise Malformed(f"the snapshot has other parameters agreed for pool {pool.config['id']}")
            if there.get("last_win") != pool.last_win:
                raise Malformed(f"the snapshot has another last win for pool {pool.config['id']}")
            for name, amount in {"meter": pool.meter, "reserve": pool.reserve, **pool.totals}.items():
                if units(there[name]) != amount:
                    raise Malformed(f"the snapshot has {name} {there[name]} for pool {pool.config['id']}, "
                                    f"the records lead to {amount_text(amount)}")

    def hear(self, record):
        """Commands over the link are numbered upwards, each table's by itself, from 1."""
        if "from" not in record:
            return
        number, table = record["from"]["number"], record["command"].get("table")
        if table not in self.pool_of_table:
            raise Malformed("it has a number of a table that there is not")
        if number != self.heard.get(table, 0) + 1:
            raise Malformed(f"it is number {number} of table {table}, after {self.heard.get(table, 0)}")
        self.heard[table] = number

    def take(self, record):
        """One record with a command."""
        refused = "refused" in record
        self.hear(record)
        if refused and (set(record) - {"seq", "time", "kind", "from", "command", "refused", "pools"}
                        or any(each["postings"] for each in record["pools"])):
            raise Malformed("it is refused and yet has an outcome")
        accepted_site = record["kind"] == "site_configured" and not refused
        opened = []
        if accepted_site and (self.pools or self.pool_of_table):
            opened = self.amend(record["command"]["site"], record.get("amended", {}))
        elif accepted_site:
            if "amended" in record:
                raise Malformed("it amends a site that was not there")
            self.configure(dict(record["command"]["site"]))
            opened = list(self.pools)
        if [each["pool"] for each in record["pools"]] != self.pools_concerned(record, accepted_site):
            raise Malformed("its pools are not those that its command is about")
        if not refused and not accepted_site:
            self.change(record)
        for each in record["pools"]:
            self.post(record, self.pools[each["pool"]], each)
        if not refused:
            self.check_outcome(record, opened)
            self.remember_win(record)

    def remember_win(self, record):
        """The jackpot that was paid last, for displays."""
        tables = list(self.pool_of_table)
        for award in record.get("awards", ()):
            if TAKES.get(award["tier"]):
                self.pools[record["pools"][0]["pool"]].last_win = {
                    "amount": award["amount"], "at_ms": record["time"], "tier": award["tier"],
                    "table": tables.index(award["table"])}

    def pools_concerned(self, record, accepted_site):
        command = record["command"]
        if accepted_site:
            return list(self.pools)
        if record["kind"] == "site_configured":
            return []
        pool = command["pool"] if "pool" in command else self.pool_of_table.get(command["table"])
        if pool in self.pools:
            return [pool]
        if record.get("refused", {}).get("code") != ("unknown_pool" if "pool" in command else "unknown_table"):
            raise Malformed("it names what is not there and is not refused for that")
        return []

    @staticmethod
    def post(record, pool, after):
        allowed = COMMANDS[record["kind"]][1]
        totals = pool.totals
        for cause, postings in after["postings"].items():
            if cause not in allowed:
                raise Malformed(f"its command cannot post a {cause}")
            amounts = {account: units(amount) for account, amount in postings.items()}
            if sum(amounts.values()) or not amounts:
                raise Malformed(f"its postings of {cause} do not sum to zero")
            for account, amount in amounts.items():
                sign = CAUSES[cause].get(account)
                if sign is None or amount == 0 or amount * sign < 0:
                    raise Malformed(f"its posting of {cause} to {account} is not possible")
            pool.meter += amounts.get("meter", 0)
            pool.reserve += amounts.get("reserve", 0)
            if cause in ("seed", "make_good"):
                totals["seeded"] -= amounts["house"]
            elif cause == "contribution":
                totals["contributed"] -= amounts["house"]
            elif cause == "return":
                totals["returned"] += amounts["house"]
            elif cause == "from_reserve":
                totals["from_reserve"] += amounts["meter"]
            elif cause == "award":
                totals["paid_from_pool"] -= amounts.get("meter", 0)
                totals["paid_by_house"] -= amounts.get("house", 0)
            elif cause == "withdrawal":
                totals["paid_by_house"] -= amounts["house"]
            elif cause == "adjustment":
                totals["adjusted"] += amounts["meter"]
        for name, amount in (("meter", pool.meter), ("reserve", pool.reserve)):
            if units(after[name]) != amount:
                raise Malformed(f"its postings lead pool {pool.config['id']} to {name} {amount_text(amount)}, "
                                f"it says {after[name]}")
        if pool.meter < units(pool.config["minimum"]) or pool.reserve < 0:
            raise Malformed(f"it leaves pool {pool.config['id']} below its minimum or its reserve below zero")

    def check_outcome(self, record, opened):
        kind, command = record["kind"], record["command"]
        if kind == "site_configured":
            for each, pool in zip(record["pools"], self.pools.values()):
                opening = units(pool.config.get("opening", pool.config["minimum"]))
                self.expect(each, "seed", "meter", opening if each["pool"] in opened else 0)
            if set(record) & {"awards", "withdrawn", "refunds", "claims", "notices", "parameters"}:
                raise Malformed("a site's configuration has an outcome of its own")
        else:
            if "amended" in record:
                raise Malformed("it amends the site and does not configure it")
            self.check_movements(record, record["pools"][0])
        if ("payment" in record) != (kind == "payment_recorded"):
            raise Malformed("a payment is there without its command, or the reverse")
        if kind == "payment_recorded":
            place = tuple(command[name] for name in ("table", "round", "seat", "tier"))
            payment = record["payment"]
            if payment["paid"] != command["paid"] or self.due.get(place, payment["due"]) != payment["due"]:
                raise Malformed("its payment is not of the award that was due or the amount that was paid")

    @staticmethod
    def expect(after, cause, account, amount):
        posted = units(after["postings"].get(cause, {}).get(account, "0.00000000"))
        if posted != amount:
            raise Malformed(f"it posts {amount_text(posted)} as {cause} to {account}, "
                            f"the rest of the record makes it {amount_text(amount)}")

    def check_movements(self, record, after):
        kind, command = record["kind"], record["command"]
        pool = self.pools[after["pool"]]
        for each in itertools.chain.from_iterable(
                record.get(name, ()) for name in ("awards", "withdrawn", "refunds", "claims")):
            if self.pool_of_table.get(each["table"]) != after["pool"]:
                raise Malformed("it has an outcome for a table of another pool")

        awards, refunds = record.get("awards", []), record.get("refunds", [])
        withdrawn = record.get("withdrawn", [])
        self.expect(after, "award", "meter", -self.taken_from_pool(awards))
        self.expect(after, "award", "players", total_of(awards))
        self.expect(after, "withdrawal", "house", total_of(withdrawn))
        self.expect(after, "refund", "players", total_of(refunds))
        wager = units(pool.config["wager"])
        if any(units(each["amount"]) != wager for each in refunds):
            raise Malformed("a refund is not the pool's wager")
        if kind == "round_opened":
            count = len(command["wagers"])
            share = parts_per_million(pool.config["increment"]) + parts_per_million(pool.config["reserve_increment"])
            self.expect(after, "wager", "house", count * wager)
            self.expect(after, "contribution", "house", -(count * wager * share // 10**6))
        if kind == "pool_adjusted":
            self.expect(after, "adjustment", "meter", units(command["amount"]))

        # What is withdrawn was due; a correction may award it anew in the same record.
        place = ("table", "round", "seat", "tier")
        for each in withdrawn:
            known = self.due.pop(tuple(each[name] for name in place), each["amount"])
            if known != each["amount"]:
                raise Malformed("it withdraws another amount than was awarded")
        for each in awards:
            self.due[tuple(each[name] for name in place)] = each["amount"]

    @staticmethod
    def taken_from_pool(awards):
        """The sum of the aggregates; awards that share one follow each other."""
        taken, at = 0, 0
        while at < len(awards):
            arithmetic = awards[at].get("arithmetic")
            if (arithmetic or {}).get("takes") != TAKES.get(awards[at]["tier"]):
                raise Malformed("an award's arithmetic is not that of its tier")
            if not arithmetic:
                at += 1
                continue
            winners = arithmetic["winners"]
            sharing = awards[at:at + winners]
            if not sharing or len(sharing) < winners or any(
                    each.get("arithmetic") != arithmetic for each in sharing):
                raise Malformed("an award is not shared by as many as it says")
            displayed, aggregate, share, guarantee, unit = (
                units(arithmetic[name])
                for name in ("displayed", "aggregate", "share", "guarantee", "payout_unit"))
            left = displayed
            if arithmetic["takes"] == "10 %":
                for _ in range(winners):
                    left -= left // 10
            else:
                left = 0
            if aggregate != displayed - left or unit <= 0 or share != ceiling(-(-aggregate // winners), unit) \
                    or any(units(each["amount"]) != max(share, ceiling(guarantee, unit)) for each in sharing):
                raise Malformed("an award's arithmetic does not work out")
            taken += aggregate
            at += winners
        return taken


# --- files ---------------------------------------------------------------------------------------------------

class JournalFile:
    """One file, read-only. What is committed when it is opened is what counts."""

    def __init__(self, path):
        self.path = Path(path)
        if not self.path.is_file():
            raise Fault("there is no such file", file=self.path)
        with self.guarded():
            self.open()

    def guarded(self):
        return Guard(self.path)

    def open(self):
        at_rest = not Path(f"{self.path}-wal").exists() and not os.access(self.path.resolve().parent, os.W_OK)
        uri = "file:" + urllib.parse.quote(str(self.path.resolve())) + "?mode=ro" + "&immutable=1" * at_rest
        self.database = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=2)
        self.database.text_factory = bytes
        for pragma in ("query_only=1", "trusted_schema=0", "cell_size_check=1"):
            self.database.execute(f"PRAGMA {pragma}")
        self.database.execute("BEGIN")
        self.check_schema()
        segments = self.typed("segment", ("frontier",), "")
        if len(segments) != 1:
            raise Fault("it does not say once where it begins", file=self.path)
        self.first, self.first_frontier = segments[0]
        self.low, self.high = self.one("SELECT min(seq), max(seq) FROM journal")
        self.low_size, self.end = self.one("SELECT min(size), max(size) FROM checkpoint")
        self.nodes = dict(self.typed("node", ("hash",), ""))
        self.snapshots = {size: (state, frontier) for size, state, frontier in
                          self.typed("snapshot", ("state", "frontier"), "")}
        self.database.execute("COMMIT")

    def close(self):
        self.database.close()

    def one(self, sql):
        return self.database.execute(sql).fetchone()

    def check_schema(self):
        if self.one("PRAGMA application_id")[0] != APPLICATION_ID:
            raise Fault("it is not a journal of jackpotd", file=self.path)
        if self.one("PRAGMA user_version")[0] != FORMAT:
            raise Fault("it is of a format that this program does not know", file=self.path)
        if self.one("PRAGMA encoding")[0] not in (b"UTF-8", "UTF-8"):
            raise Fault("its texts are not stored as UTF-8", file=self.path)
        there = self.database.execute(
            "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid").fetchall()
        wanted = [tuple(each.encode() for each in (kind, name, name, sql)) for kind, name, sql in SCHEMA]
        for row, expected in itertools.zip_longest(there, wanted):
            if row != expected:
                name = expected[1].decode() if expected else str(row[1])
                raise Fault(f"its schema is not that of a journal: {name}", file=self.path)

    def typed(self, table, columns, where, *arguments):
        """Rows in the order of their key, whose columns have the types of the schema."""
        key = {"journal": "seq", "checkpoint": "size", "node": "idx", "snapshot": "size", "segment": "first"}[table]
        kind = b"blob" if table == "node" else b"text"
        rows = self.database.execute(
            f"SELECT {key}, {', '.join(columns)}, {', '.join(f'typeof({each})' for each in columns)} "
            f"FROM {table} {where} ORDER BY {key}" + f" LIMIT {ROWS_A_READ}" * bool(where), arguments).fetchall()
        for row in rows:
            if any(each != kind for each in row[1 + len(columns):]):
                raise Fault(f"its {table} has a row {row[0]} that is not {kind.decode()}", file=self.path)
        return [row[:1 + len(columns)] for row in rows]

    def rows(self, table, column, low, high):
        """Those with low <= key < high, in short reads that hold no writer up."""
        key = {"journal": "seq", "checkpoint": "size"}[table]
        while True:
            with self.guarded():
                page = self.typed(table, (column,), f"WHERE {key} >= ? AND {key} < ?", low, high)
            yield from page
            if not page:
                return
            if page[-1][0] < low:
                raise Fault(f"the rows of its {table} are not in order", file=self.path)
            low = page[-1][0] + 1

    def check_integrity(self):
        with self.guarded():
            said = self.database.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if said not in (b"ok", "ok"):
                raise Fault(f"SQLite finds it damaged: {said!r}", file=self.path)


@dataclass
class Guard:
    path: Path

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, (sqlite3.Error, sqlite3.Warning, OverflowError)):
            raise Fault(f"SQLite cannot read it: {error}", file=self.path) from None


def files_of(path):
    path = Path(path)
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("segment-*.db"))
    for name in ("journal.db", "journal.db.next"):  # the latter counts where a closing was cut short
        if (path / name).exists():
            return files + [path / name]
    return files


# --- verification --------------------------------------------------------------------------------------------

@dataclass
class Result:
    fault: Fault | None = None
    first: int = 0
    end: int = 0
    commands: int = 0
    checkpoints: int = 0
    by_openssl: int = 0
    last_note: bytes = b""
    keys: list = field(default_factory=list)  # in the order in which they signed
    remarks: list = field(default_factory=list)

    def __bool__(self):
        return self.fault is None


class Verification:
    def __init__(self, trusted, since, openssl_all):
        self.trusted, self.since, self.openssl_all = trusted, since, openssl_all
        self.result = Result()
        self.frontier = Frontier()
        self.books = Books()
        self.last_time = 0
        self.keys = []
        self.trust_from = 0  # into keys: none before the last lost one counts
        self.rotation = None  # of the commit that is being read
        self.key_at = []  # (seq, key): who signs from there on
        self.since_root = None

    # The files are in the order of their records.
    def run(self, files):
        for number_of_file, file in enumerate(files):
            self.file = file
            self.begin(number_of_file == 0)
            self.read_commits()
            self.finish_file()
        self.check_trust()
        self.check_since()
        self.result.end = self.frontier.size
        self.result.keys = [str(key) for key in self.keys]

    def fault(self, what, seq=None):
        return Fault(what, seq, self.file.path)

    def begin(self, is_first):
        file = self.file
        if file.first < 0 or file.high is None or file.end is None:
            raise self.fault("it has no record or no checkpoint")
        if not is_first and file.first != self.frontier.size:
            raise self.fault(f"the next file begins at record {file.first}", self.frontier.size)
        if file.low < file.first:
            raise self.fault(f"it is in a file that begins at record {file.first}", file.low)
        if file.low_size <= file.first:
            raise self.fault(f"it has a checkpoint of size {file.low_size}, from before its first record")
        try:
            frontier = Frontier.parse(file.first_frontier)
        except Malformed as malformed:
            raise self.fault(f"the tree before its first record: {malformed}") from None
        if frontier.size != file.first:
            raise self.fault("the tree before its first record is of another size")
        if is_first:
            self.frontier = frontier
            self.result.first = file.first
            if file.first > 0:
                self.begin_within()
        elif frontier.text() != self.frontier.text():
            raise self.fault("the file does not go on from the tree of the one before it", file.first)
        if self.since and self.since.size == self.frontier.size:
            self.since_root = self.frontier.root()
        self.snapshot_records = []

    # The snapshot's hash is compared when its record is read, which is the first.
    def begin_within(self):
        first = self.file.first
        self.result.remarks.append(f"records before {first} were not given: the signed root covers them, "
                                   "nothing else was checked of them")
        if first not in self.file.snapshots:
            raise self.fault("the snapshot that the file begins with is missing", first)
        try:
            self.books.start_from(parse_state(self.file.snapshots[first][0]))
        except Malformed as malformed:
            raise self.fault(f"its snapshot: {malformed}", first) from None

    def read_commits(self):
        file = self.file
        records = file.rows("journal", "payload", file.first, file.end)
        begin = file.first
        for size, note in file.rows("checkpoint", "note", file.first + 1, file.end + 1):
            for seq, payload in itertools.islice(records, size - begin):
                if seq != self.frontier.size:
                    break
                self.read_record(seq, payload)
            if self.frontier.size != size:
                raise self.fault(f"it is missing; a checkpoint of size {size} has it", self.frontier.size)
            self.read_checkpoint(begin, size, note)
            begin = size
        if begin != file.end:
            raise self.fault("its last checkpoint cannot be found by its size")
        if file.high >= file.end:
            raise self.fault("no checkpoint has it", file.end)

    def read_record(self, seq, payload):
        try:
            record = parse_record(payload)
            if record["seq"] != seq:
                raise Malformed(f"it says that it is record {record['seq']}")
            if record["time"] < self.last_time:
                raise Malformed("its time is before that of the record before it")
            self.last_time = record["time"]
            self.take(seq, record)
        except Malformed as malformed:
            raise self.fault(str(malformed), seq) from None
        completed = self.frontier.append(leaf_hash(payload))
        if completed and self.file.nodes.get(seq >> NODE_LEVEL) != completed:
            raise self.fault(f"the stored tree node {seq >> NODE_LEVEL} is not what the records give", seq)
        if self.since and self.since.size == seq + 1:
            self.since_root = self.frontier.root()

    def take(self, seq, record):
        kind = record["kind"]
        opens = "journal_opened" if seq == 0 else "segment_opened"
        if seq == self.file.first and kind != opens:
            raise Malformed(f'the first record of the file is not "{opens}"')
        if seq != self.file.first and kind in ("journal_opened", "segment_opened"):
            raise Malformed("a journal or segment begins within a file")
        if kind in COMMANDS:
            self.books.take(record)
            self.result.commands += 1
        elif kind in ("journal_opened", "segment_opened"):
            key = Key.parse(record["key"])
            if not self.keys:
                self.use_key(seq, key)
            elif self.keys[-1] != key:
                raise Malformed("its key is not the one in use")
        elif kind == "key_rotated":
            self.rotate(seq, record)
        if kind in ("snapshot", "segment_opened"):
            self.check_snapshot(seq, record)

    def use_key(self, seq, key):
        self.keys.append(key)
        self.key_at.append((seq, key))

    def rotate(self, seq, record):
        old, new = Key.parse(record["old"]), Key.parse(record["new"])
        if self.rotation is not None:
            raise Malformed("the key is rotated twice in one commit")
        if old != self.keys[-1]:
            raise Malformed("the key that is given up is not the one in use")
        if new.name != old.name or new == old:
            raise Malformed("the new key has another name, or is the old one")
        if record["lost"] and len(set(record["by"]) - {""}) < 2:
            raise Malformed("a lost key is replaced by fewer than two people")
        self.rotation = (old, record["lost"])
        self.use_key(seq, new)
        if record["lost"]:
            self.trust_from = len(self.keys) - 1
        how = "replaced a lost one" if record["lost"] else "took over"
        self.result.remarks.append(f"record {seq}: the key {new} {how}, by {', '.join(record['by']) or 'nobody'}")

    def check_snapshot(self, seq, record):
        self.snapshot_records.append(seq)
        row = self.file.snapshots.get(seq)
        if row is None:
            return
        state, frontier = row
        if hashlib.sha256(state).hexdigest() != record["sha256"]:
            raise Malformed("the snapshot is not the one whose hash it has")
        if frontier != self.frontier.text():
            raise Malformed("the snapshot's tree is not what the records give")
        self.books.compare(parse_state(state))

    def read_checkpoint(self, begin, size, note):
        commit = f"records {begin} to {size - 1}, the checkpoint of size {size}"
        try:
            checkpoint = Checkpoint.parse(note)
            if checkpoint.origin != self.keys[-1].name:
                raise Malformed(f"it is of {checkpoint.origin}")
            if checkpoint.size != size:
                raise Malformed(f"it says that its size is {checkpoint.size}")
            if checkpoint.root != self.frontier.root():
                raise Malformed("these are not the records whose root was signed")
            signers = [self.keys[-1]]
            if self.rotation and not self.rotation[1]:
                signers.insert(0, self.rotation[0])
            self.check_signatures(checkpoint, signers, size == self.file.end or self.rotation is not None)
        except Malformed as malformed:
            raise self.fault(f"{commit}: {malformed}", begin) from None
        self.rotation = None
        self.result.checkpoints += 1
        self.result.last_note = note

    def check_signatures(self, checkpoint, signers, by_openssl):
        signed_by = [each[:2] for each in checkpoint.signatures]
        if signed_by != [(key.name, key.key_id) for key in signers]:
            raise Malformed("it is not signed by " + " and ".join(str(key) for key in signers)
                            + (" alone" if len(signers) == 1 else ""))
        for key, (_, _, signature) in zip(signers, checkpoint.signatures):
            if not ed25519_holds(key.public, checkpoint.text, signature):
                raise Malformed(f"the signature by {key} is wrong")
            if by_openssl or self.openssl_all:
                self.result.by_openssl += 1
                if not openssl_holds(key.public, checkpoint.text, signature):
                    raise Malformed(f"the signature by {key} is wrong, says openssl")

    def finish_file(self):
        file = self.file
        wanted = range(file.first >> NODE_LEVEL, file.end >> NODE_LEVEL)
        if sorted(file.nodes) != list(wanted):
            raise self.fault("it has other tree nodes than those that its records complete")
        kept = set(self.snapshot_records[-2:])
        if file.first > 0:
            kept.add(file.first)
        if set(file.snapshots) != kept:
            raise self.fault(f"it has snapshots {sorted(file.snapshots)}, it should have {sorted(kept)}")
        file.check_integrity()

    def check_trust(self):
        if not self.trusted:
            self.result.remarks.append("no key was given: whoever has the file could have made all of it anew")
            return
        if set(self.trusted) & set(self.keys[self.trust_from:]):
            return
        what = f"it is signed with {self.keys[-1]}, which is not a key that you gave"
        if set(self.trusted) & set(self.keys[:self.trust_from]):
            what += ": the one that you gave was replaced as lost; have the new one handed to you another way"
        raise self.fault(what)

    def check_since(self):
        since = self.since
        if not since:
            return
        if since.size > self.frontier.size:
            raise self.fault(f"the journal ends here, your earlier checkpoint has {since.size} records",
                             self.frontier.size)
        if self.since_root is None:
            raise self.fault(f"your earlier checkpoint has {since.size} records: give the earlier segments too")
        if self.since_root != since.root:
            raise self.fault("the history before here is not that of your earlier checkpoint", since.size)
        # The key of that time: the last that came into use with a record before its size.
        signers = [key for seq, key in self.key_at if seq < since.size][-1:]
        signers += [key for key in self.trusted if key not in signers]
        for name, key_id, signature in since.signatures:
            for key in signers:
                if (name, key_id) == (key.name, key.key_id) and since.origin == name and \
                        ed25519_holds(key.public, since.text, signature):
                    return
        raise self.fault("your earlier checkpoint is not signed by the journal's key of that time")


def verify(paths, keys=(), since=None, openssl_all=False):
    """Verifies the files, or the directories of files, of one journal. `keys` are verifier keys that are trusted,
    `since` the bytes of an earlier checkpoint. What is wrong is Result.fault; a key or checkpoint of yours that
    cannot be read raises Malformed."""
    verification = Verification([Key.parse(each) for each in keys],
                                Checkpoint.parse(since) if since is not None else None, openssl_all)
    result = verification.result
    files = []
    try:
        for path in itertools.chain.from_iterable(files_of(each) for each in paths):
            files.append(JournalFile(path))
        if not files:
            raise Fault("there is no journal", file=", ".join(str(each) for each in paths))
        verification.run(sorted(files, key=lambda file: file.first))
    except Fault as fault:
        result.fault = fault
    finally:
        for file in files:
            file.close()
    return result


def main(arguments):
    parser = argparse.ArgumentParser(prog="verifier.py", description="Verifies a signed journal of jackpotd.")
    parser.add_argument("--key", action="append", default=[], metavar="VKEY", help="a verifier key you trust")
    parser.add_argument("--since", metavar="CHECKPOINT_FILE", help="a checkpoint of an earlier visit")
    parser.add_argument("--openssl-all", action="store_true", help="check every signature by openssl too")
    parser.add_argument("paths", nargs="+", metavar="DIR_OR_FILE")
    options = parser.parse_args(arguments)
    try:
        since = Path(options.since).read_bytes() if options.since else None
        result = verify(options.paths, options.key, since, options.openssl_all)
    except (OSError, Malformed) as error:
        print(f"verifier.py: {error}", file=sys.stderr)
        return 2
    if not result:
        print(result.fault)
        return 1
    print(f"verified: records {result.first} to {result.end - 1}, {result.commands} commands, "
          f"{result.checkpoints} checkpoints, {result.by_openssl} signatures also by openssl")
    for remark in result.remarks:
        print(remark)
    print(result.last_note.decode(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
