"""Sample journals, and tools to change and sign them, for the tests of verifier.py. MAKE_SAMPLE_JOURNAL is the
program that makes them."""

import base64
import collections
import contextlib
import functools
import hashlib
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import tempfile
import unittest
from pathlib import Path

import verifier
import verifier_crypto
from support.programs import ROOT

PROGRAM = os.environ["MAKE_SAMPLE_JOURNAL"]
PAGE = ROOT / "docs" / "journal-format.md"
SEED = int(os.environ.get("JACKPOT_TEST_SEED", random.SystemRandom().randrange(2**32)))
TABLES = {"journal": ("seq", "payload"), "checkpoint": ("size", "note"), "node": ("idx", "hash"),
          "snapshot": ("size", "state", "frontier"), "segment": ("first", "frontier")}

scratch = Path(tempfile.mkdtemp(prefix="verifier_test."))
journals = {}  # shape -> directory
keys = {}  # shape -> verifier keys in the order of use
tally = collections.Counter()


def setUpModule():
    print(f"rerun with JACKPOT_TEST_SEED={SEED}")
    # Pure functions, cached because most cases use the same bytes.
    verifier.parse_record = functools.lru_cache(maxsize=10_000)(verifier.parse_record)
    verifier.parse_state = functools.lru_cache(maxsize=100)(verifier.parse_state)
    for shape in ("example", "floor", "lost", "other", "random", "rotated", "segments", "amended",
                  "amended_segments"):
        journals[shape] = scratch / shape
        made = subprocess.run([PROGRAM, shape, journals[shape]], check=True, stdout=subprocess.PIPE,
                              env={**os.environ, "JACKPOT_TEST_SEED": str(SEED)}).stdout.decode()
        keys[shape] = re.findall("^key (.*)$", made, re.M)


def tearDownModule():
    shutil.rmtree(scratch)
    for what, count in sorted(tally.items()):
        print(f"{what}: {count}")


def database_of(directory):
    """The file of the directory that has the most records."""
    return max(Path(directory).glob("*.db"), key=lambda file: file.stat().st_size)


@contextlib.contextmanager
def writing(path):
    path.chmod(0o600)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.text_factory = bytes
        database.execute("PRAGMA synchronous = OFF")
        yield database


def content_of(path):
    """The schema and all rows of the file."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        database.text_factory = bytes
        content = [database.execute(f"PRAGMA {name}").fetchall()
                   for name in ("application_id", "user_version", "encoding")]
        content.append(database.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall())
        for table, columns in TABLES.items():
            types = ", ".join(f"typeof({column})" for column in columns)
            content.append(database.execute(f"SELECT *, {types} FROM {table} ORDER BY 1").fetchall())
        return content


def payloads_of(*paths):
    payloads = []
    for path in paths:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            database.text_factory = bytes
            payloads += [row[0] for row in database.execute("SELECT payload FROM journal ORDER BY seq")]
    return payloads


def notes_of(path):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        database.text_factory = bytes
        return dict(database.execute("SELECT size, note FROM checkpoint ORDER BY size"))


def handed_over(shape):
    """The sizes of the checkpoints with two signatures: those of a change of key."""
    return [size for size, note in notes_of(database_of(journals[shape])).items() if len(note.splitlines()) == 6]


# --- signing, for those who have the private key -------------------------------------------------------------

SEEDS = [bytes([number]) * 32 for number in range(1, 6)]


def encode_point(point):
    inverse = pow(point[2], -1, verifier_crypto.P)
    x, y = point[0] * inverse % verifier_crypto.P, point[1] * inverse % verifier_crypto.P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def times_base(scalar):
    return encode_point(verifier_crypto.base_multiples().add_product(scalar, (0, 1, 1, 0)))


def secret_of(seed):
    digest = hashlib.sha512(seed).digest()
    return int.from_bytes(digest[:32], "little") & (1 << 254) - 8 | 1 << 254, digest[32:]


def sign(seed, message):
    secret, prefix = secret_of(seed)
    nonce = int.from_bytes(hashlib.sha512(prefix + message).digest(), "little") % verifier_crypto.ORDER
    commitment = times_base(nonce)
    challenge = hashlib.sha512(commitment + times_base(secret) + message).digest()
    answer = (nonce + int.from_bytes(challenge, "little") * secret) % verifier_crypto.ORDER
    return commitment + answer.to_bytes(32, "little")


def key_of(name, seed):
    public = times_base(secret_of(seed)[0])
    key_id = hashlib.sha256(name.encode() + b"\n\x01" + public).digest()[:4]
    return verifier_crypto.Key(name, key_id, public)


def signed_note(origin, size, root, seeds):
    text = f"{origin}\n{size}\n{base64.b64encode(root).decode()}\n"
    lines = [f"\u2014 {origin} "
             + base64.b64encode(key_of(origin, seed).key_id + sign(seed, text.encode())).decode() + "\n"
             for seed in seeds]
    return text + "\n" + "".join(lines)


def make_anew(path, change=lambda payloads: None, seeds_at=lambda size: None, sizes=lambda sizes: sizes):
    """Changes the payloads of a one-file journal and computes everything else again, with the private
    keys that are in use; seeds_at gives the records where other keys sign."""
    with writing(path) as database:
        payloads = [row[0] for row in database.execute("SELECT payload FROM journal ORDER BY seq")]
        change(payloads)
        was = [row[0] for row in database.execute("SELECT size FROM checkpoint ORDER BY size")]
        was[-1] = len(payloads)
        snapshots = dict(database.execute("SELECT size, state FROM snapshot"))
        database.execute("BEGIN")
        for table in ("journal", "checkpoint", "node", "snapshot"):
            database.execute(f"DELETE FROM {table}")
        frontier, commits, seeds, name = verifier_crypto.Frontier(), set(sizes(was)), SEEDS[:1], "jackpot.example/floor"
        for seq, payload in enumerate(payloads):
            if seq in snapshots:
                database.execute("INSERT INTO snapshot VALUES (?, CAST(? AS TEXT), CAST(? AS TEXT))",
                                 (seq, snapshots[seq], frontier.text()))
            database.execute("INSERT INTO journal VALUES (?, CAST(? AS TEXT))", (seq, payload))
            completed = frontier.append(verifier_crypto.leaf_hash(payload))
            if completed:
                database.execute("INSERT INTO node VALUES (?, ?)", (seq >> 8, completed))
            kind = re.search(rb'"kind":"(\w+)"', payload)
            if kind and kind[1] in (b"journal_opened", b"key_rotated"):
                record = json.loads(payload)
                known = {str(key_of(name, seed)): seed for seed in SEEDS}
                if kind[1] == b"journal_opened" or record["lost"]:
                    seeds = []
                seeds = [*seeds, known.get(record.get("new", record.get("key")), SEEDS[0])]
            if seq + 1 in commits:
                note = signed_note(name, seq + 1, frontier.root(), seeds_at(seq + 1) or seeds)
                database.execute("INSERT INTO checkpoint VALUES (?, ?)", (seq + 1, note))
                seeds = seeds[-1:]
        database.execute("COMMIT")


class Case(unittest.TestCase):
    def copy(self, shape):
        directory = Path(tempfile.mkdtemp(dir=scratch))
        self.addCleanup(shutil.rmtree, directory)
        shutil.copytree(journals[shape], directory, dirs_exist_ok=True)
        return directory

    def assert_verified(self, result):
        self.assertIsNone(result.fault)
        return result

    def assert_fault(self, result, *says):
        self.assertIsNotNone(result.fault, "nothing was found")
        for text in says:
            self.assertIn(text, str(result.fault))
        return result
