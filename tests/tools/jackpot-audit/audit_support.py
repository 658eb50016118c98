"""Support for the tests of jackpot-audit: the programs, sample journals, and a second, independent
reader of journals (RFC 6962, signed notes, exact sums)."""

import base64
import hashlib
import json
import os
import sqlite3
import subprocess
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path

from support.programs import JACKPOT_AUDIT as AUDIT

MAKE_JOURNAL = os.environ["MAKE_JOURNAL"]

NAME = "star.example/jackpot"
DAY_MS = 86_400_000
MAY_1 = 1_777_593_600_000  # 2026-05-01T00:00:00Z

SITE = {
    "pools": [
        {"id": "B7", "game": "blazing7s", "wager": "5.00000000", "increment": "0.2",
         "reserve_increment": "0.01", "minimum": "50000.00000000", "opening": "61000.00000000",
         "payout_unit": "0.01000000", "simultaneity_window_ms": 2000},
        {"id": "UTH", "game": "uth", "wager": "5.00000000", "increment": "0.235",
         "reserve_increment": "0", "minimum": "50000.00000000", "payout_unit": "0.01000000",
         "bonus": {"royal_flush": "1000.00000000", "straight_flush": "200.00000000"}},
    ],
    "tables": [{"id": table, "pool": pool, "seats": 7, "require_player_card": False,
                "shuffling_device": True}
               for table, pool in (("B1", "B7"), ("B2", "B7"), ("U1", "UTH"))],
}


def audit(*arguments, **options):
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    environment = dict(os.environ, **options.pop("env", {}))
    environment.setdefault("JACKPOT_AUDIT_KEY", "")
    return subprocess.run([AUDIT, *map(str, arguments)], timeout=300, env=environment, **options)


def openssl(*arguments, **options):
    return subprocess.run(["openssl", *map(str, arguments)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=60, **options)


# --- keys and notes, by the C2SP texts ---------------------------------------------------------

def private_pem(seed):
    """PKCS#8 of an Ed25519 key (RFC 8410) from its 32 bytes."""
    der = bytes.fromhex("302e020100300506032b657004220420") + seed
    return ("-----BEGIN PRIVATE KEY-----\n" + base64.b64encode(der).decode()
            + "\n-----END PRIVATE KEY-----\n")


def public_key(pem_file):
    """The 32 bytes of the public key, by the openssl program."""
    run = openssl("pkey", "-in", pem_file, "-pubout", "-outform", "DER")
    assert run.returncode == 0, run.stderr
    return run.stdout[-32:]


def key_id(name, public):
    return hashlib.sha256(name.encode() + b"\n\x01" + public).digest()[:4]


def verifier_key(name, public):
    return f"{name}+{key_id(name, public).hex()}+{base64.b64encode(bytes([1]) + public).decode()}"


def check_note(note, vkey, directory):
    """Checks a signed note with the openssl program; returns origin, size and root."""
    name, _, key = vkey.split("+", 2)
    public = base64.b64decode(key)[1:]
    text, _, signatures = note.rpartition("\n\n")
    text += "\n"
    for line in signatures.splitlines():
        dash, signer, encoded = line.split(" ")
        signature = base64.b64decode(encoded)
        if dash != "\u2014" or signer != name or signature[:4] != key_id(name, public):
            continue
        directory = Path(directory)
        (directory / "text").write_bytes(text.encode())
        (directory / "signature").write_bytes(signature[4:])
        (directory / "public.der").write_bytes(
            bytes.fromhex("302a300506032b6570032100") + public)
        run = openssl("pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey",
                      directory / "public.der", "-rawin", "-in", directory / "text", "-sigfile",
                      directory / "signature")
        assert run.returncode == 0, run.stderr
        origin, size, root = text.splitlines()
        return origin, int(size), base64.b64decode(root)
    raise AssertionError("not signed by this key")


# --- RFC 6962 ----------------------------------------------------------------------------------

def leaf_hash(data):
    return hashlib.sha256(b"\0" + data).digest()


def node_hash(left, right):
    return hashlib.sha256(b"\1" + left + right).digest()


def tree_root(leaves):
    if not leaves:
        return hashlib.sha256().digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1 << ((len(leaves) - 1).bit_length() - 1)
    return node_hash(tree_root(leaves[:split]), tree_root(leaves[split:]))


def root_from_proof(index, size, leaf, proof):
    """RFC 9162 section 2.1.3.2, which checks the proofs of RFC 6962; None for a wrong length."""
    if index >= size:
        return None
    fn, sn, root = index, size - 1, leaf
    for hash_ in proof:
        if sn == 0:
            return None
        if fn & 1 or fn == sn:
            root = node_hash(hash_, root)
            while not fn & 1 and fn:
                fn >>= 1
                sn >>= 1
        else:
            root = node_hash(root, hash_)
        fn >>= 1
        sn >>= 1
    return root if sn == 0 else None


# --- journals ----------------------------------------------------------------------------------

class Maker:
    """Drives make_journal; time is in milliseconds since MAY_1."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.process = subprocess.Popen([MAKE_JOURNAL, str(directory)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=60)

    def do(self, op, **fields):
        if "at" in fields:
            fields["time"] = MAY_1 + fields.pop("at")
        self.process.stdin.write(json.dumps({"op": op, **fields}) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, f"make_journal failed at {op} {fields}"
        return answer.rstrip("\n").replace("|", "\n")

    def decide(self, at, kind, **command):
        """Returns the record's number, or the code of the refusal."""
        answer = self.do("decide", at=at, kind=kind, command=command).split(" ")
        return answer[1] if len(answer) > 1 else int(answer[0])

    def round(self, at, table, number, board, *hands, seats=(1, 2, 3)):
        """Opens a round and reports its result; the hands are those of seats 1, 2, ..."""
        self.decide(at, "round_opened", table=table, round=number,
                    wagers=[{"seat": seat} for seat in seats])
        self.decide(at + 20_000, "round_result", table=table, round=number, board=board.split(),
                    hands=[{"seat": seat, "cards": cards.split()}
                           for seat, cards in zip(seats, hands)])

    def press(self, at, table, number, ago=0):
        return self.decide(at, "jackpot_confirmed", table=table, round=number, pressed_ago_ms=ago)

    def pay(self, at, table, number, seat, tier, paid, how="cash", by="cage 2"):
        return self.decide(at, "payment_recorded", table=table, round=number, seat=seat, tier=tier,
                           paid=paid, how=how, by=by)


def files_of(directory):
    directory = Path(directory)
    return sorted(directory.glob("segment-*.db")) + [directory / "journal.db"]


def read_journal(*files):
    """All payloads by number, as bytes, straight from SQLite."""
    payloads = {}
    for file in files:
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
            for seq, payload in database.execute("SELECT seq, CAST(payload AS BLOB) FROM journal"):
                assert seq not in payloads
                payloads[seq] = payload
        database.close()
    return payloads


def records_of(directory):
    payloads = read_journal(*files_of(directory))
    return [json.loads(payloads[seq]) for seq in sorted(payloads)]


def last_note(directory):
    with sqlite3.connect(f"file:{Path(directory) / 'journal.db'}?mode=ro", uri=True) as database:
        note = database.execute("SELECT note FROM checkpoint ORDER BY size DESC").fetchone()[0]
    database.close()
    return note


def edit(file, *statements):
    """Changes a journal's file with SQLite."""
    Path(file).chmod(0o644)
    database = sqlite3.connect(file)
    for statement in statements:
        database.execute(*(statement if isinstance(statement, tuple) else (statement,)))
    database.commit()
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


def make_floor(directory, key, next_key=None, segments=True):
    """Four days on a small floor, with nearly everything that can happen on one.

    With next_key the key is rotated on the third day; with segments two files are archived."""
    hour = 3_600_000
    with Maker(directory) as floor:
        floor.do("create", name=NAME, key=str(key), at=0, snapshot_every=40)
        floor.decide(1000, "site_configured", site=SITE)
        floor.do("commit")
        # 1 May: play, fixed awards, a lone jackpot of 10 %.
        for number in range(1, 8):
            floor.round(number * hour, "B1", number, "7C", "7H 2S", "9C 9D", "7D 7H")
            floor.round(number * hour + 60_000, "B2", number, "KD", "7H 7S", "2C 3D", "AC AD")
            floor.round(number * hour + 120_000, "U1", number, "2C 2D 9H", "2H 9C", "5S 6S",
                        "AH KD")
            floor.do("commit")
        floor.round(9 * hour, "B1", 8, "7C", "7C 7C", "9C 9D", "5D 7H")
        floor.press(9 * hour + 30_000, "B1", 8)
        floor.do("commit")
        floor.pay(9 * hour + 600_000, "B1", 8, 1, "three_suited_sevens", "6104.20000000")
        floor.do("heartbeat", at=10 * hour)
        floor.do("commit")
        if segments:
            floor.do("segment", at=DAY_MS - 1)
        # 2 May: two tables within the window, Surveillance rules; payments that differ.
        at = DAY_MS + hour
        floor.round(at, "B1", 9, "7S", "7S 7S", "4C 5D", "6H 6C")
        floor.round(at + 30_000, "B2", 8, "7H", "7H 7H", "2C 3D", "6H 6C")
        floor.press(at + 60_000, "B1", 9)
        floor.press(at + 61_500, "B2", 8, ago=800)
        floor.do("commit")
        floor.decide(at + 120_000, "surveillance_ruling", pool="B7", by="surveillance 4",
                     order=[[{"table": "B1", "round": 9}, {"table": "B2", "round": 8}]])
        floor.do("commit")
        floor.pay(at + 180_000, "B1", 9, 1, "three_suited_sevens", "8000.00000000", how="cheque")
        floor.pay(at + 190_000, "B2", 8, 1, "three_suited_sevens", "4000.00000000")
        floor.round(at + hour, "B1", 10, "7C", "7H 2S", "7D 2S", "9D 9H")
        floor.pay(at + hour + 60_000, "B1", 10, 1, "one_each_sevens", "55.00000000")
        floor.pay(at + hour + 61_000, "B1", 10, 2, "one_each_sevens", "45.00000000")
        floor.do("commit")
        # 3 May: irregularities.
        at = 2 * DAY_MS + hour
        floor.round(at, "B1", 11, "7C", "7H 7H", "7D 2S", "9D 9H")
        floor.decide(at + 60_000, "result_corrected", table="B1", round=11, board=["8C"],
                     hands=[{"seat": 1, "cards": ["7H", "7H"]}], by="pit 3")
        floor.decide(at + 120_000, "round_opened", table="B1", round=11, wagers=[])  # refused
        floor.decide(at + 121_000, "round_opened", table="B9", round=1, wagers=[])  # refused
        floor.decide(at + 122_000, "pool_adjusted", pool="B7", amount="100.00000000", reason="one",
                     by=["one"])  # refused
        floor.decide(at + 130_000, "round_opened", table="B1", round=12,
                     wagers=[{"seat": 1}, {"seat": 2}])
        floor.decide(at + 140_000, "wager_voided", table="B1", round=12, seat=2,
                     reason="over the loss limit", by="pit 3")
        floor.decide(at + 150_000, "round_voided", table="B1", round=12,
                     reason="misdeal \u001b[2J\u202e gone", by="pit 3")
        floor.do("commit")
        floor.decide(at + 160_000, "table_suspended", table="B2", reason="button broken",
                     by="inspector 7")
        floor.decide(at + 170_000, "table_resumed", table="B2", reason="repaired", by="pit 3")
        floor.decide(at + 180_000, "pool_adjusted", pool="B7", amount="-250.50000000",
                     reason="counted twice", by=["manager 1", "manager 2"])
        floor.decide(at + 190_000, "table_offline", table="B2")
        floor.decide(at + 200_000, "table_online", table="B2")
        floor.do("commit")
        if next_key:
            floor.do("rotate", key=str(next_key), by=["security 1", "security 2"],
                     at=at + 210_000)
        floor.round(at + 300_000, "U1", 8, "5H 6H 7H", "8H 9H", "2C 3D", "KC QD")
        floor.press(at + 330_000, "U1", 8)
        floor.decide(at + 340_000, "award_withheld", table="U1", round=8, seat=1,
                     tier="straight_flush", reason="under investigation",
                     by=["manager 1", "inspector 7"])
        floor.do("add", kind="strangers_refused", at=at + 350_000,
                 fields={"count": "3", "addresses": "10.0.0.9"})
        floor.do("commit")
        if segments:
            floor.do("segment", at=at + 400_000)
        # 4 May: everything in the pool, twice at one table; a void when the reserve is spent.
        at = 3 * DAY_MS + hour
        floor.decide(at - 1000, "round_opened", table="B1", round=13, wagers=[{"seat": 1}])
        floor.round(at, "B2", 9, "7D", "7D 7D", "7D 7D", "7C 7C")
        floor.press(at + 30_000, "B2", 9)
        floor.decide(at + 40_000, "round_voided", table="B1", round=13, reason="foreign card",
                     by="pit 3")
        floor.decide(at + 90_000, "pool_suspended", pool="B7", reason="end of the promotion",
                     by="manager 1")
        floor.decide(at + 91_000, "round_opened", table="B1", round=14, wagers=[{"seat": 1}])
        floor.decide(at + 92_000, "pool_resumed", pool="B7", reason="go on", by="manager 1")
        floor.do("heartbeat", at=at + hour)
        floor.do("commit")


class AuditTest(unittest.TestCase):
    """A scratch directory, and checks that apply to every command."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="jackpot-audit-")
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name)

    def write_key(self, name, seed):
        path = self.scratch / name
        path.write_text(private_pem(hashlib.sha256(seed.encode()).digest()))
        path.chmod(0o600)
        return path

    def good(self, run, quiet=True):
        self.assertEqual(run.returncode, 0, run.stderr.decode(errors="replace"))
        if quiet:
            self.assertEqual(run.stderr, b"")
        return run.stdout.decode() if run.stdout is not None else ""

    def refused(self, run, status, *says):
        """The status, nothing on standard output, and on standard error one line with the texts."""
        message = run.stderr.decode()
        self.assertEqual(run.returncode, status, message)
        self.assertIn(run.stdout, (b"", None))
        self.assertTrue(message.startswith("jackpot-audit: "), message)
        self.assertEqual(message.count("\n"), 1, message)
        for text in says:
            self.assertIn(text, message)
        return message

    def fault(self, run, *says):
        """The result of verify for a bad journal: status 1, and the fault on standard output."""
        text = run.stdout.decode()
        self.assertEqual((run.returncode, run.stderr), (1, b""), text)
        for each in says:
            self.assertIn(each, text)
        return text

    def only(self, *names):
        self.assertEqual(sorted(path.name for path in self.scratch.iterdir()), sorted(names))


def money(text):
    return Decimal(text)


class FloorTest(AuditTest):
    """Shares one journal, which no test may change, among the tests of a class."""

    NEXT_KEY = False
    SEGMENTS = True

    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="jackpot-audit-")
        cls.addClassCleanup(holder.cleanup)
        cls.home = Path(holder.name)
        cls.keys = []
        for seed in ("first", "second"):
            path = cls.home / f"{seed}.pem"
            path.write_text(private_pem(hashlib.sha256(seed.encode()).digest()))
            path.chmod(0o600)
            cls.keys.append(path)
        cls.vkey, cls.next_vkey = (verifier_key(NAME, public_key(path)) for path in cls.keys)
        cls.journal = cls.home / "journal"
        make_floor(cls.journal, cls.keys[0], cls.keys[1] if cls.NEXT_KEY else None, cls.SEGMENTS)
        cls.payloads = read_journal(*files_of(cls.journal))
        cls.records = [json.loads(cls.payloads[seq]) for seq in sorted(cls.payloads)]
        cls.size = len(cls.records)
