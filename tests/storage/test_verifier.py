#!/usr/bin/env python3
"""The signed journal against verifier.py and docs/journal-format.md. MAKE_SAMPLE_JOURNAL is the path of that program.

Tamperings are of two kinds: by someone without the private key, which must be seen or leave the content as it was,
and by someone who has it and signs anew, which must be seen where the books or the form do not agree.
"""

import base64
import collections
import contextlib
import functools
import hashlib
import itertools
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import verifier

HERE = Path(__file__).resolve().parent

PROGRAM = os.environ.get("MAKE_SAMPLE_JOURNAL", "make_sample_journal")
PAGE = HERE.parents[1] / "docs" / "journal-format.md"
SEED = int(os.environ.get("JACKPOT_TEST_SEED", random.SystemRandom().randrange(2**32)))
TABLES = {"journal": ("seq", "payload"), "checkpoint": ("size", "note"), "node": ("idx", "hash"),
          "snapshot": ("size", "state", "frontier"), "segment": ("first", "frontier")}

scratch = None
journals = {}  # shape -> directory
keys = {}  # shape -> verifier keys in the order of use
tally = collections.Counter()


def setUpModule():
    global scratch
    print(f"rerun with JACKPOT_TEST_SEED={SEED}")
    # Functions of their bytes alone, which are the same in most cases.
    verifier.parse_record = functools.lru_cache(maxsize=10_000)(verifier.parse_record)
    verifier.parse_state = functools.lru_cache(maxsize=100)(verifier.parse_state)
    scratch = Path(tempfile.mkdtemp(prefix="verifier_test."))
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
    """All that SQLite shows of the file."""
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


# --- signing, for those who have the private key -------------------------------------------------------------

SEEDS = [bytes([number]) * 32 for number in range(1, 6)]


def encode_point(point):
    inverse = pow(point[2], -1, verifier.P)
    x, y = point[0] * inverse % verifier.P, point[1] * inverse % verifier.P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def times_base(scalar):
    return encode_point(verifier.base_multiples().add_product(scalar, (0, 1, 1, 0)))


def secret_of(seed):
    digest = hashlib.sha512(seed).digest()
    return int.from_bytes(digest[:32], "little") & (1 << 254) - 8 | 1 << 254, digest[32:]


def sign(seed, message):
    secret, prefix = secret_of(seed)
    nonce = int.from_bytes(hashlib.sha512(prefix + message).digest(), "little") % verifier.ORDER
    commitment = times_base(nonce)
    challenge = hashlib.sha512(commitment + times_base(secret) + message).digest()
    answer = (nonce + int.from_bytes(challenge, "little") * secret) % verifier.ORDER
    return commitment + answer.to_bytes(32, "little")


def key_of(name, seed):
    public = times_base(secret_of(seed)[0])
    key_id = hashlib.sha256(name.encode() + b"\n\x01" + public).digest()[:4]
    return verifier.Key(name, key_id, public)


def signed_note(origin, size, root, seeds):
    text = f"{origin}\n{size}\n{base64.b64encode(root).decode()}\n"
    lines = [f"\u2014 {origin} "
             + base64.b64encode(key_of(origin, seed).key_id + sign(seed, text.encode())).decode() + "\n"
             for seed in seeds]
    return text + "\n" + "".join(lines)


def make_anew(path, change=lambda payloads: None, seeds_at=lambda size: None, sizes=lambda sizes: sizes):
    """Changes the payloads of a one-file journal and makes everything that follows from them anew, with the private
    keys that are in use; seeds_at says where others sign."""
    with writing(path) as database:
        payloads = [row[0] for row in database.execute("SELECT payload FROM journal ORDER BY seq")]
        change(payloads)
        was = [row[0] for row in database.execute("SELECT size FROM checkpoint ORDER BY size")]
        was[-1] = len(payloads)
        snapshots = dict(database.execute("SELECT size, state FROM snapshot"))
        database.execute("BEGIN")
        for table in ("journal", "checkpoint", "node", "snapshot"):
            database.execute(f"DELETE FROM {table}")
        frontier, commits, seeds, name = verifier.Frontier(), set(sizes(was)), SEEDS[:1], "jackpot.example/floor"
        for seq, payload in enumerate(payloads):
            if seq in snapshots:
                database.execute("INSERT INTO snapshot VALUES (?, CAST(? AS TEXT), CAST(? AS TEXT))",
                                 (seq, snapshots[seq], frontier.text()))
            database.execute("INSERT INTO journal VALUES (?, CAST(? AS TEXT))", (seq, payload))
            completed = frontier.append(verifier.leaf_hash(payload))
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


class GoodJournals(Case):
    def test_every_shape_verifies(self):
        for shape, directory in journals.items():
            with self.subTest(shape):
                result = self.assert_verified(verifier.verify([directory], keys[shape][-1:]))
                self.assertEqual(result.keys, keys[shape])
                tally["good records"] += result.end
                tally["good checkpoints"] += result.checkpoints

    def test_the_samples_have_what_they_should(self):
        payloads = payloads_of(*verifier.files_of(journals["floor"]))
        records = [json.loads(payload) for payload in payloads]
        self.assertGreaterEqual(len(records), 300)
        kinds = {record["kind"] for record in records}
        self.assertLessEqual(set(verifier.COMMANDS) - {"award_withheld", "pool_change_agreed"}, kinds)
        self.assertLessEqual({"heartbeat", "snapshot"}, kinds)
        states = {claim["state"] for record in records for claim in record.get("claims", ())}
        self.assertEqual(states, {"claimed", "pending", "held", "settled", "dropped"})
        causes = {cause for directory in journals.values() for payload in payloads_of(*verifier.files_of(directory))
                  for pool in json.loads(payload).get("pools", ()) for cause in pool["postings"]}
        self.assertEqual(causes, set(verifier.CAUSES))
        everything = b"".join(payloads)
        for escaped in (b"\\u0009", b"\\u000a", b"\\u0000", b"\\u007f", b'\\"', b"\\\\", "\ufffd".encode(),
                        "\u2028".encode(), "🂡".encode()):
            self.assertIn(escaped, everything)
        self.assertEqual(len(notes_of(database_of(journals["rotated"]))[145].splitlines()), 6)

    def test_a_site_that_changes_in_play(self):
        records = [json.loads(payload) for payload in payloads_of(database_of(journals["amended"]))]
        states = collections.Counter(record["parameters"]["state"] for record in records if "parameters" in record)
        self.assertEqual(set(states), {"agreed", "in_force", "taken_back"})
        self.assertGreaterEqual(states["in_force"], 3)
        amended = [set(record["amended"]) for record in records if "amended" in record]
        self.assertEqual(set().union(*amended), {"new_pools", "new_tables", "changed_tables"})
        self.assertTrue(any(record["kind"] == "site_configured" and "amended" not in record
                            and "refused" not in record for record in records[2:]))
        files = verifier.files_of(journals["amended_segments"])
        with contextlib.closing(sqlite3.connect(files[-1])) as database:
            begun_with = json.loads(database.execute("SELECT state FROM snapshot ORDER BY size").fetchone()[0])
        self.assertTrue(any("next" in pool for pool in begun_with["pools"]))
        for first in range(len(files)):
            self.assert_verified(verifier.verify(files[first:], keys["amended_segments"]))

    def test_a_key_before_a_rotation_is_as_good_and_one_before_a_loss_is_not(self):
        for key in keys["rotated"]:
            self.assert_verified(verifier.verify([journals["rotated"]], [key]))
        first, second, third, fourth = keys["lost"]
        for trusted in ([third], [fourth], [first, fourth]):
            self.assert_verified(verifier.verify([journals["lost"]], trusted))
        for trusted in ([first], [second], [first, second]):
            self.assert_fault(verifier.verify([journals["lost"]], trusted), "replaced as lost")
        self.assert_fault(verifier.verify([journals["floor"]], keys["other"]), "not a key that you gave")

    def test_files_without_those_before_or_after_them(self):
        files = verifier.files_of(journals["segments"])
        self.assertEqual(len(files), 5)
        for begin, end in itertools.combinations(range(len(files) + 1), 2):
            result = self.assert_verified(verifier.verify(files[begin:end][::-1]))
            self.assertEqual(result.first > 0, begin > 0)
        # Its key was not yet in use in the files that are left out.
        self.assert_fault(verifier.verify(files[3:], keys["segments"][:1]), "not a key that you gave")
        for missing in range(1, len(files) - 1):
            self.assert_fault(verifier.verify(files[:missing] + files[missing + 1:]), "the next file begins at")
        self.assert_fault(verifier.verify([files[0], files[0]]), "the next file begins at record 0")
        self.assert_fault(verifier.verify([scratch]), "there is no journal")
        self.assert_fault(verifier.verify([scratch / "nothing.db"]), "there is no such file")

    def test_an_earlier_checkpoint(self):
        files = verifier.files_of(journals["segments"])
        for file in files:
            for note in list(notes_of(file).values())[::7]:
                self.assert_verified(verifier.verify([journals["segments"]], keys["segments"], note))
        border = list(notes_of(files[0]).values())[-1]
        self.assert_verified(verifier.verify(files[1:], keys["segments"], border))
        before = list(notes_of(files[0]).values())[-2]
        self.assert_fault(verifier.verify(files[1:], keys["segments"], before), "give the earlier segments")
        later = list(notes_of(files[1]).values())[-1]
        self.assert_fault(verifier.verify(files[:1], keys["segments"][:1], later), "the journal ends here")
        for foreign in (notes_of(database_of(journals["other"])), notes_of(database_of(journals["random"]))):
            note = foreign[sorted(foreign)[20]]
            self.assert_fault(verifier.verify([journals["floor"]], keys["floor"], note), "not that of your earlier")
        lost = notes_of(database_of(journals["lost"]))
        for note in lost.values():
            self.assert_verified(verifier.verify([journals["lost"]], keys["lost"][-1:], note))
        size = sorted(lost)[5]
        forged = signed_note("jackpot.example/floor", size, verifier.Checkpoint.parse(lost[size]).root, SEEDS[4:5])
        self.assert_fault(verifier.verify([journals["lost"]], keys["lost"][-1:], forged.encode()), "is not signed by")

    def test_a_journal_that_is_being_written(self):
        directory = scratch / "live"
        with subprocess.Popen([PROGRAM, "live", directory], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
            key = writer.stdout.readline().decode().split()[1]
            self.assertEqual(writer.stdout.readline(), b"ready\n")
            sizes, since = [], None
            while len(set(sizes)) < 5:
                result = self.assert_verified(verifier.verify([directory], [key], since))
                since = result.last_note
                sizes.append(result.end)
            self.assertTrue((directory / "journal.db-wal").exists())
            copy = scratch / "backup.db"
            with contextlib.closing(sqlite3.connect(f"file:{directory}/journal.db?mode=ro", uri=True)) as database, \
                    contextlib.closing(sqlite3.connect(copy)) as target:
                database.backup(target)
            self.assert_verified(verifier.verify([copy], [key], since))
            writer.stdin.close()
            self.assertEqual(writer.wait(), 0)
        self.assertEqual(sizes, sorted(sizes))
        self.assert_verified(verifier.verify([directory], [key], since))

    def test_a_closing_that_was_cut_short(self):
        directory = self.copy("segments")
        (directory / "journal.db").rename(directory / "journal.db.next")
        self.assertEqual(self.assert_verified(verifier.verify([directory])).end, 691)
        shutil.copy(directory / "journal.db.next", directory / "journal.db")
        (directory / "journal.db.next").write_bytes(b"half")
        self.assertEqual(self.assert_verified(verifier.verify([directory])).end, 691)


class CommandLine(Case):
    def run_verifier(self, *arguments):
        run = subprocess.run([sys.executable, HERE / "verifier.py", *map(str, arguments)],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        return run.returncode, run.stdout.decode(), run.stderr.decode()

    def test_exit_status_and_what_it_says(self):
        since = scratch / "since"
        since.write_bytes(notes_of(database_of(journals["rotated"]))[73])
        status, said, errors = self.run_verifier("--key", keys["rotated"][0], "--since", since, "--openssl-all",
                                                 journals["rotated"])
        self.assertEqual((status, errors), (0, ""))
        self.assertIn("verified: records 0 to 205, 194 commands, 72 checkpoints, 74 signatures also by openssl\n", said)
        self.assertTrue(said.endswith(notes_of(database_of(journals["rotated"]))[206].decode()))

        directory = self.copy("rotated")
        with writing(database_of(directory)) as database:
            database.execute("DELETE FROM journal WHERE seq = 17")
        self.assertEqual(self.run_verifier(directory)[:2],
                         (1, "record 17: it is missing; a checkpoint of size 18 has it\n"))
        status, said, errors = self.run_verifier(HERE)
        self.assertEqual((status, errors), (1, ""))
        self.assertTrue(said.endswith(": there is no journal\n"))
        for wrong in ([], ["--key", "x", directory], ["--since", scratch / "none", directory],
                      ["--since", PAGE, directory], ["--what"]):
            self.assertEqual(self.run_verifier(*wrong)[:2], (2, ""))


class Primitives(Case):
    # RFC 8032 section 7.1, tests 1 to 3.
    VECTORS = [
        ("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
         "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
         "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595b"
         "be24655141438e7a100b"),
        ("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
         "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
         "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302"
         "aeeb00d291612bb0c00"),
        ("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
         "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
         "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed"
         "28dc027beceea1ec40a"),
    ]

    def test_ed25519_by_rfc_8032_and_as_openssl_has_it(self):
        choose = random.Random(SEED)
        for seed, public, message, signature in ([bytes.fromhex(part) for part in each] for each in self.VECTORS):
            self.assertEqual(times_base(secret_of(seed)[0]), public)
            self.assertEqual(sign(seed, message), signature)
            self.assertTrue(verifier.ed25519_holds(public, message, signature))
            self.assertFalse(verifier.ed25519_holds(public, message + b"x", signature))
            beyond = (int.from_bytes(signature[32:], "little") + verifier.ORDER).to_bytes(32, "little")
            wrong = [signature[:32] + beyond, signature[:63], bytes(64), signature[32:] + signature[:32]]
            for _ in range(6):
                bit = choose.randrange(512)
                wrong.append((int.from_bytes(signature, "big") ^ 1 << bit).to_bytes(64, "big"))
            for each in [signature, *wrong]:
                self.assertEqual(verifier.ed25519_holds(public, message, each), each == signature)
                if message:  # OpenSSL 3.0's program does not take an empty file
                    self.assertEqual(verifier.openssl_holds(public, message, each), each == signature)

    def test_the_frontier_is_the_tree_of_rfc_6962(self):
        def root(leaves):
            if len(leaves) < 2:
                return leaves[0] if leaves else hashlib.sha256(b"").digest()
            split = 1 << (len(leaves) - 1).bit_length() - 1
            return verifier.node_hash(root(leaves[:split]), root(leaves[split:]))

        frontier, leaves = verifier.Frontier(), []
        for number in range(300):
            self.assertEqual(frontier.root(), root(leaves))
            again = verifier.Frontier.parse(frontier.text())
            self.assertEqual((again.root(), again.text()), (frontier.root(), frontier.text()))
            leaves.append(verifier.leaf_hash(b"%d" % number))
            completed = frontier.append(leaves[-1])
            self.assertEqual(completed, root(leaves) if number == 255 else None)

    def test_what_is_not_in_the_form_of_a_payload(self):
        good = b'{"seq":1,"time":2,"kind":"x","a":["b\\u000a\xc3\xa9",-1,true,{}]}'
        verifier.parse_record(good)
        bad = [good[:-1], good + b" ", b" " + good, b"\xef\xbb\xbf" + good, good.replace(b'"a":', b'"a": '),
               good.replace(b"\\u000a", b"\\n"), good.replace(b"\\u000a", b"\\u000A"), good.replace(b"\\u000a", b"\n"),
               good.replace(b"\\u000a", b"\\/"), good.replace(b"\xc3\xa9", b"\\u00e9"),
               good.replace(b"\xc3\xa9", b"\xc3"), good.replace(b"\xc3\xa9", b"\xc1\xa9"),
               good.replace(b"\xc3\xa9", b"\xed\xa0\x80"), good.replace(b"\xc3\xa9", b"\\ud800"),
               good.replace(b"\\u000a", b"\x7f"), good.replace(b"-1", b"-1.0"), good.replace(b"-1", b"1e3"),
               good.replace(b"-1", b"-0"), good.replace(b"-1", b"01"), good.replace(b"-1", b"+1"),
               good.replace(b"-1", b"9223372036854775808"), good.replace(b"-1", b"NaN"),
               good.replace(b"true", b"null"), good.replace(b"true", b"True"), good.replace(b'"a"', b'"seq"'),
               good.replace(b'"seq":1,"time":2', b'"time":2,"seq":1'), good.replace(b'"seq":1', b'"seq":-1'),
               good.replace(b'"seq":1', b'"seq":true'), good.replace(b'"kind":"x"', b'"kind":1'), b"[]", b"1", b"",
               b"[" * 100_000, good.replace(b'"x"', b'"x","b":' + b"[" * 5000 + b"]" * 5000),
               good.replace(b"{}", b'"' + b"x" * (4 << 20) + b'"'), b"{}", good.replace(b"time", b"Time"),
               good.replace(b'"x"', b'"heartbeat"')]
        for payload in bad:
            with self.subTest(payload[:80]), self.assertRaises(verifier.Malformed):
                verifier.parse_record(payload)
        for amount in ("1", "1.0", "01.00000000", "-0.00000000", "+1.00000000", ".00000000", "1.000000000",
                       "92233720368.54775808", "1,00000000", "\u0661.00000000", " 1.00000000", "1.00000000\n", 1):
            with self.subTest(amount), self.assertRaises(verifier.Malformed):
                verifier.money(amount)
        for amount in ("0.00000000", "-92233720368.54775808", "92233720368.54775807", "-0.00000001"):
            verifier.money(amount)
            self.assertEqual(verifier.amount_text(verifier.units(amount)), amount)
        for rate in ("0.20", "00", "1.0", ".5", "0.", "0.1234567", "2", ""):
            with self.subTest(rate), self.assertRaises(verifier.Malformed):
                verifier.rate(rate)
        self.assertEqual([verifier.parts_per_million(each) for each in ("0", "1", "0.2", "0.000001")],
                         [0, 1_000_000, 200_000, 1])

    def test_verifier_keys_that_are_none(self):
        good = keys["example"][0]
        self.assertEqual(str(verifier.Key.parse(good)), good)
        name, key_id, key = good.split("+", 2)
        for bad in ("", name, f"{name}+{key_id}", f"x{good}", f"{name}+{key_id.upper()}+{key}",
                    f"{name}+{key_id}+{key[:-1]}b", f"{name}+{key_id}+{key}\n", f"{name}+{key_id}+B{key[1:]}",
                    f"a b+{key_id}+{key}", f"{name}+{key_id}+{key[:-4]}", f"{name}+{key_id}+{key}===="):
            with self.subTest(bad), self.assertRaises(verifier.Malformed):
                verifier.Key.parse(bad)


class ThePage(Case):
    """docs/journal-format.md says what is true."""

    def setUp(self):
        self.page = PAGE.read_text()
        self.files = verifier.files_of(journals["example"])

    def blocks(self, language):
        return [block for kind, block in re.findall(r"^```(\w*)\n(.*?)^```$", self.page, re.M | re.S)
                if kind == language]

    def test_records_and_checkpoints_are_those_of_the_example(self):
        payloads = payloads_of(*self.files)
        shown = "".join(self.blocks("json")).splitlines()
        self.assertGreaterEqual(len(shown), 5)
        for line in shown:
            self.assertIn(line.encode(), payloads)
        notes = {note.decode() for file in self.files for note in notes_of(file).values()}
        *checkpoints, proof = self.blocks("")
        self.assertEqual(len(checkpoints), 2)
        self.assertLessEqual(set(checkpoints), notes)
        self.assertEqual(proof, (journals["example"] / "record-6.tlog-proof").read_text())
        self.assertIn(keys["example"][0], self.page)
        with contextlib.closing(sqlite3.connect(self.files[1])) as database:
            frontier = database.execute("SELECT frontier FROM segment").fetchone()[0]
        self.assertIn("".join(f"    {line}\n" for line in frontier.splitlines()), self.page)

    def test_the_commands_work_as_written(self):
        if not shutil.which("sqlite3"):
            self.skipTest("there is no sqlite3 program")
        session = "".join(self.blocks("console"))
        commands = re.findall(r"^\$ (.*)$", session, re.M)
        self.assertGreater(len(commands), 15)
        run = subprocess.run(["bash", "-e", "-u", "-o", "pipefail"], cwd=self.copy("example"),
                             input="\n".join(commands).encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             check=False)
        expected = "".join(line for line in session.splitlines(True) if not line.startswith("$ "))
        self.assertEqual(run.stdout.decode(), expected)
        self.assertEqual(run.returncode, 0)

    def test_the_schema_is_the_one_of_the_file(self):
        rows = re.findall(r"^\| (table|view) \| (\w+) \| `(CREATE .*)` \|$", self.page, re.M)
        self.assertEqual(rows, verifier.SCHEMA)
        with contextlib.closing(sqlite3.connect(self.files[0])) as database:
            self.assertEqual(database.execute("SELECT type, name, sql FROM sqlite_schema").fetchall(), rows)
            self.assertIn(str(database.execute("PRAGMA application_id").fetchone()[0]), self.page)

    def test_every_word_of_the_format_is_on_the_page(self):
        words = set(re.findall("`([a-z0-9_]+)`", self.page)) | set(re.findall('`"([a-z0-9_]+)"`', self.page))
        for known in (verifier.RECORDS, verifier.CAUSES, verifier.ACCOUNTS, verifier.TIERS, verifier.REFUSALS,
                      verifier.TOTALS):
            self.assertLessEqual(set(known) - {"house", "players"}, words)
        signs = {0: "±", 1: "+", -1: "-", None: ""}
        for cause, accounts in verifier.CAUSES.items():
            cells = " | ".join(signs[accounts.get(account)] for account in verifier.ACCOUNTS)
            self.assertIn(f"| `{cause}` | {cells} |".replace("  ", " "), self.page)

    def test_the_steps_of_a_proof(self):
        def included(index, size, leaf, proof):
            """As the page says."""
            i, n, h = index, size - 1, leaf
            for p in proof:
                if n == 0:
                    return None
                if i % 2 == 1 or i == n:
                    h = verifier.node_hash(p, h)
                    while i % 2 == 0:
                        i, n = i // 2, n // 2
                else:
                    h = verifier.node_hash(h, p)
                i, n = i // 2, n // 2
            return h if n == 0 else None

        def path(index, leaves):
            """RFC 6962 section 2.1.1, and the root."""
            if len(leaves) == 1:
                return [], leaves[0]
            split = 1 << (len(leaves) - 1).bit_length() - 1
            left, right = (path(index, half)[1] for half in (leaves[:split], leaves[split:])) \
                if index is None else (path(None, leaves[:split])[1], path(None, leaves[split:])[1])
            below = [] if index is None else \
                path(index, leaves[:split])[0] + [right] if index < split else \
                path(index - split, leaves[split:])[0] + [left]
            return below, verifier.node_hash(left, right)

        for size in range(1, 24):
            leaves = [verifier.leaf_hash(b"%d" % number) for number in range(size)]
            for index in range(size):
                proof, root = path(index, leaves)
                self.assertEqual(included(index, size, leaves[index], proof), root)
        lines = self.blocks("")[-1].splitlines()
        payload = payloads_of(*self.files)[6]
        proof = [base64.b64decode(line) for line in lines[2:6]]
        self.assertEqual(included(6, 10, verifier.leaf_hash(payload), proof), base64.b64decode(lines[9]))


class WithoutTheKey(Case):
    """Whoever can write the files, and no more."""

    def tamper(self, shape, change, *, what, unchanged_allowed=False):
        """Changes a copy; it must be seen, or where that is allowed, the records be the same."""
        directory = self.copy(shape)
        changed = change(directory)
        if changed is False:
            return None
        result = verifier.verify([directory], keys[shape])
        if result.fault:
            tally[f"{what}: detected"] += 1
            return result
        self.assertTrue(unchanged_allowed, f"not seen: {shape}")
        self.assertEqual(payloads_of(*verifier.files_of(directory)), payloads_of(*verifier.files_of(journals[shape])))
        tally[f"{what}: content provably unchanged"] += 1
        return None

    def sql(self, shape, *statements, **options):
        """Each a statement, or a pair of one and its parameters."""
        def change(directory):
            with writing(database_of(directory)) as database:
                for statement in statements:
                    database.execute(*([statement] if isinstance(statement, str) else statement))
        return self.tamper(shape, change, **options)

    def rows(self, path, table):
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            database.text_factory = bytes
            return database.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()

    @staticmethod
    def set_column(table, column, key, value):
        name = TABLES[table][0]
        if isinstance(value, bytes) and table != "node":
            return f"UPDATE {table} SET {column} = CAST(? AS TEXT) WHERE {name} = ?", (value, key)
        return f"UPDATE {table} SET {column} = ? WHERE {name} = ?", (value, key)

    def test_one_bit_in_every_column_of_ten_rows(self):
        choose = random.Random(SEED)
        for shape in ("floor", "rotated", "lost", "segments"):
            path = database_of(journals[shape])
            for table, columns in TABLES.items():
                rows = self.rows(path, table)
                for row in choose.sample(rows, min(10, len(rows))):
                    for column, value in zip(columns, row):
                        if isinstance(value, int):
                            taken = {each[0] for each in rows}
                            flipped = next(each for each in iter(lambda v=value: v ^ 1 << choose.randrange(63), None)
                                           if each not in taken)
                        else:
                            bit = choose.randrange(8 * len(value))
                            flipped = (int.from_bytes(value, "big") ^ 1 << bit).to_bytes(len(value), "big")
                        with self.subTest(shape=shape, table=table, column=column, row=row[0], flipped=flipped):
                            self.sql(shape, self.set_column(table, column, row[0], flipped), what="one bit")

    def test_every_bit_of_one_checkpoint_of_each_kind(self):
        """A note outside its text is signed by nobody: its form alone protects it."""
        choose = random.Random(SEED)
        for shape, size in (("rotated", 145), ("rotated", 206)):
            note = notes_of(database_of(journals[shape]))[size]
            for at in range(0, len(note), 3):
                flipped = bytearray(note)
                flipped[at] ^= 1 << choose.randrange(8)
                with self.subTest(size=size, at=at):
                    self.sql(shape, self.set_column("checkpoint", "note", size, bytes(flipped)), what="one bit")

    def test_rows_that_are_deleted_inserted_swapped_or_doubled(self):
        choose = random.Random(SEED)
        for shape in ("floor", "rotated"):
            path = database_of(journals[shape])
            sizes = sorted(notes_of(path))
            protected = {sizes[-1], 73, 145} if shape == "rotated" else {sizes[-1]}
            for table, columns in TABLES.items():
                rows = self.rows(path, table)
                key, value = columns[0], columns[1]
                for row in choose.sample(rows, min(10, len(rows))):
                    where = dict(shape=shape, table=table, row=row[0])
                    with self.subTest("delete", **where):
                        self.sql(shape, (f"DELETE FROM {table} WHERE {key} = ?", row[:1]), what="rows",
                                 unchanged_allowed=table == "checkpoint" and row[0] not in protected)
                    numbers = [rows[-1][0] + 1, -1, -(2**63), 2**63 - 1, rows[-1][0] + 1000]
                    for number in choose.sample(numbers, 3):
                        columns_after = ", ".join(columns[1:])
                        with self.subTest("double", number=number, **where):
                            self.sql(shape, (f"INSERT INTO {table} SELECT ?, {columns_after} FROM {table} "
                                             f"WHERE {key} = ?", (number, row[0])), what="rows")
                        with self.subTest("move", number=number, **where):
                            self.sql(shape, (f"UPDATE {table} SET {key} = ? WHERE {key} = ?", (number, row[0])),
                                     what="rows")
                    other = choose.choice(rows)
                    if len(rows) > 1 and other[1:] != row[1:]:
                        with self.subTest("swap", other=other[0], **where):
                            self.sql(shape, *[self.set_column(table, name, here[0], there)
                                              for here, values in ((row, other), (other, row))
                                              for name, there in zip(columns[1:], values[1:])], what="rows")
                        with self.subTest("replace", other=other[0], **where):
                            self.sql(shape, self.set_column(table, value, row[0], other[1]), what="rows")

    def test_records_moved_up_after_one_was_taken_out(self):
        def change(directory):
            with writing(database_of(directory)) as database:
                database.execute("DELETE FROM journal WHERE seq = 40")
                database.execute("UPDATE journal SET seq = -seq WHERE seq > 40")
                database.execute("UPDATE journal SET seq = -seq - 1 WHERE seq < 0")
        self.tamper("floor", change, what="rows")

    def cut(self, directory, size, *tables):
        with writing(database_of(directory)) as database:
            for table in tables:
                limit = {"journal": size, "checkpoint": size + 1, "node": size >> 8, "snapshot": size}[table]
                database.execute(f"DELETE FROM {table} WHERE {TABLES[table][0]} >= ?", (limit,))

    def test_truncation(self):
        path = database_of(journals["floor"])
        sizes = sorted(notes_of(path))
        newest = self.rows(path, "snapshot")[-1][0]
        last = notes_of(path)[sizes[-1]]
        for size in [*sizes[:-1:9], sizes[-2]]:
            for tables in (["journal"], ["checkpoint"], ["journal", "node", "snapshot"],
                           ["checkpoint", "node", "snapshot"]):
                with self.subTest(size=size, tables=tables):
                    self.tamper("floor", lambda directory: self.cut(directory, size, *tables), what="truncation")
            with self.subTest(size=size):
                directory = self.copy("floor")
                self.cut(directory, size, "journal", "checkpoint", "node", "snapshot")
                result = verifier.verify([directory], keys["floor"])
                self.assertEqual(bool(result), size > newest or size <= 100)
                if result:
                    tally["truncation: only seen with an earlier checkpoint"] += 1
                self.assert_fault(verifier.verify([directory], keys["floor"], last))
                tally["truncation: detected with an earlier checkpoint"] += 1
        # To a size between two checkpoints.
        between = next(a + 1 for a, b in itertools.pairwise(sizes) if b - a > 1 and a > newest)
        self.tamper("floor", lambda directory: self.cut(directory, between, "journal", "checkpoint", "node"),
                    what="truncation")

    def test_the_last_file_is_gone(self):
        directory = self.copy("segments")
        since = notes_of(directory / "journal.db")
        (directory / "journal.db").unlink()
        self.assert_verified(verifier.verify([directory], keys["segments"]))
        tally["truncation: only seen with an earlier checkpoint"] += 1
        self.assert_fault(verifier.verify([directory], keys["segments"], since[max(since)]), "the journal ends here")

    def test_checkpoints_removed(self):
        path = database_of(journals["rotated"])
        sizes = sorted(notes_of(path))
        for size in sizes:
            seen = size in (73, 145, sizes[-1])
            with self.subTest(size):
                result = self.sql("rotated", f"DELETE FROM checkpoint WHERE size = {size}",
                                  unchanged_allowed=not seen, what="checkpoint removed")
                self.assertEqual(result is not None, seen)
        result = self.sql("floor", "DELETE FROM checkpoint WHERE size < 322", unchanged_allowed=True,
                          what="checkpoint removed")
        self.assertIsNone(result)

    def test_signatures(self):
        notes = notes_of(database_of(journals["rotated"]))
        sizes = sorted(notes)
        text, signature = {}, {}
        for size, note in notes.items():
            text[size], signature[size] = note.split(b"\n\n")

        def replaced(size, note):
            return self.sql("rotated", self.set_column("checkpoint", "note", size, note), what="signatures")

        for a, b in itertools.pairwise(sizes[::4]):
            replaced(a, text[a] + b"\n\n" + signature[b])
            self.sql("rotated", self.set_column("checkpoint", "note", a, text[a] + b"\n\n" + signature[b]),
                     self.set_column("checkpoint", "note", b, text[b] + b"\n\n" + signature[a]), what="signatures")
        root = verifier.Checkpoint.parse(notes[145]).root
        origin = "jackpot.example/floor"
        right = signed_note(origin, 145, root, [SEEDS[1], SEEDS[2]])
        self.assertEqual(right.encode(), notes[145])
        for seeds in ([SEEDS[1]], [SEEDS[2]], [SEEDS[2], SEEDS[1]], [SEEDS[0], SEEDS[2]], [SEEDS[1], SEEDS[3]],
                      [SEEDS[3]], [SEEDS[1], SEEDS[2], SEEDS[3]], [SEEDS[1], SEEDS[2], SEEDS[2]]):
            replaced(145, signed_note(origin, 145, root, seeds).encode())
        for note in (notes[145] + b"\n", notes[145][:-1], notes[145].replace(b"\n\n", b"\nextension\n\n"),
                     notes[145].replace(b"\n\n", b"\n\n\n"), notes[145].replace(b"\n145\n", b"\n0145\n"),
                     b"\n" + notes[145], notes[145].replace(b"floor\n", b"floor \n"),
                     notes[145] + b"\xe2\x80\x94 witness.example AAAAAAAA\n",
                     signed_note("other.example", 145, root, [SEEDS[1], SEEDS[2]]).encode(), b"", b"\n\n"):
            replaced(145, note)
        # The journal signed anew by another key of the same name, which it then says is its own.
        other = str(key_of(origin, SEEDS[4]))

        def all_anew(directory):
            def change(payloads):
                payloads[0] = payloads[0].replace(keys["floor"][0].encode(), other.encode())
            make_anew(database_of(directory), change)
        self.tamper("floor", all_anew, what="signatures")
        directory = self.copy("floor")
        make_anew(database_of(directory))
        self.assertEqual(content_of(database_of(directory)), content_of(database_of(journals["floor"])))

    def test_a_forged_change_of_key(self):
        """Records and checkpoints added by one who has no key of the journal's."""
        mine = [key_of("jackpot.example/floor", seed) for seed in SEEDS[3:5]]

        def rotation(payloads, old, new, lost=False):
            record = {"seq": len(payloads), "time": 1 << 50, "kind": "key_rotated", "old": str(old), "new": str(new),
                      "lost": lost, "by": ["a", "b"]}
            payloads.append(verifier.to_text(record).encode())

        theirs = keys["floor"][0]
        attempts = {
            "by the new key alone": ([(theirs, mine[0], False)], [SEEDS[3]]),
            "by two new keys": ([(theirs, mine[0], False)], [SEEDS[4], SEEDS[3]]),
            "twice in one commit": ([(theirs, mine[0], False), (mine[0], mine[1], False)], SEEDS[3:5]),
            "as lost": ([(theirs, mine[0], True)], [SEEDS[3]]),
            "as lost and handed on": ([(theirs, mine[0], True), (mine[0], mine[1], False)], SEEDS[3:5]),
            "handed on and lost": ([(theirs, mine[0], False), (mine[0], mine[1], True)], [SEEDS[4]]),
        }
        for name, (rotations, seeds) in attempts.items():
            def change(payloads, rotations=rotations):
                for old, new, lost in rotations:
                    rotation(payloads, old, new, lost)

            size = 322 + len(rotations)
            with self.subTest(name):
                self.tamper("floor", lambda directory: make_anew(
                    database_of(directory), change, lambda at: seeds if at == size else None,
                    lambda sizes: [*sizes[:-1], 322, size]), what="forged key")

    def test_another_journal_spliced_in(self):
        theirs = database_of(journals["other"])

        def splice(*statements):
            def change(directory):
                with writing(database_of(directory)) as database:
                    database.execute("ATTACH ? AS theirs", (str(theirs),))
                    for statement in statements:
                        database.execute(statement)
                    return database.total_changes > 0
            return self.tamper("floor", change, what="spliced")

        for table, columns in TABLES.items():
            if table != "segment":
                for low in (0, 100, 257, 300, 321):
                    splice(f"INSERT OR REPLACE INTO main.{table} SELECT * FROM theirs.{table} "
                           f"WHERE {columns[0]} >= {low if table != 'node' else 0}")
        everything = [f"INSERT OR REPLACE INTO main.{table} SELECT * FROM theirs.{table}" for table in TABLES]
        splice(*everything)
        splice(everything[1])
        self.tamper("floor", lambda directory: shutil.copy(theirs, directory / "journal.db"), what="spliced")
        # The same keys and site, another history.
        fork = database_of(journals["rotated"])
        self.tamper("floor", lambda directory: (directory / "segment-000000000322-000000000400.db").write_bytes(
            fork.read_bytes()), what="spliced")
        segments = verifier.files_of(journals["segments"])
        for number, file in enumerate(segments[:-1]):
            with self.subTest(number):
                self.tamper("segments", lambda directory: shutil.copy(
                    database_of(journals["floor"]), directory / file.name), what="spliced")
                self.tamper("segments", lambda directory: shutil.copy(
                    segments[number + 1], directory / file.name), what="spliced")
                if number:
                    self.tamper("segments", lambda directory: (directory / file.name).unlink(), what="spliced")

    def test_the_schema(self):
        view = next(sql for _, name, sql in verifier.SCHEMA if name == "awards")
        lying = view.replace("'$.amount' AS", "'$.rule' AS")
        edits = [
            ["CREATE TRIGGER late AFTER INSERT ON journal BEGIN DELETE FROM journal WHERE seq = new.seq; END"],
            ["CREATE INDEX quick ON journal(payload)"], ["CREATE TABLE more(x)"], ["CREATE VIEW more AS SELECT 1"],
            ["ANALYZE"], ["DROP VIEW awards"], ["DROP VIEW awards", lying],
            ["DROP VIEW records", "CREATE VIEW records AS SELECT 1 AS seq"], ["DROP VIEW awards", view + " WHERE 1"],
            ["DROP VIEW records", next(sql for _, name, sql in verifier.SCHEMA if name == "records")],
            ["PRAGMA application_id = 0"], ["PRAGMA user_version = 2"], ["PRAGMA user_version = 0"],
            ["ALTER TABLE journal ADD COLUMN note TEXT"], ["ALTER TABLE node RENAME TO nodes"],
            ["ALTER TABLE journal RENAME COLUMN payload TO content"], ["DROP TABLE node"],
            ["CREATE TABLE copy(seq INTEGER PRIMARY KEY, payload TEXT NOT NULL)",
             "INSERT INTO copy SELECT * FROM journal", "DROP VIEW records", "DROP VIEW awards", "DROP TABLE journal",
             "ALTER TABLE copy RENAME TO journal"],
            ["PRAGMA writable_schema = 1", "UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', 'strict')"],
            ["PRAGMA writable_schema = 1", "UPDATE sqlite_schema SET sql = sql || ' ' WHERE name = 'node'"],
            ["PRAGMA writable_schema = 1", "UPDATE sqlite_schema SET sql = replace(sql, ' STRICT', '')"],
            ["PRAGMA writable_schema = 1", "UPDATE sqlite_schema SET tbl_name = 'node' WHERE name = 'awards'"],
            ["PRAGMA writable_schema = 1", "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema "
             "WHERE name = 'checkpoint') WHERE name = 'journal'"],
            ["PRAGMA writable_schema = 1", "DELETE FROM sqlite_schema WHERE name = 'segment'"],
            ["PRAGMA writable_schema = 1", "UPDATE sqlite_schema SET sql = "
             "'CREATE TABLE segment(first INTEGER PRIMARY KEY, frontier TEXT NOT NULL) STRICT' || char(0) || 'x' "
             "WHERE name = 'segment'"],
        ]
        for statements in edits:
            with self.subTest(statements):
                self.sql("floor", *statements, what="schema")
        # Values of another type, which STRICT does not let in but a file may have.
        for table, column in (("journal", "payload"), ("checkpoint", "note"), ("snapshot", "state"),
                              ("snapshot", "frontier"), ("segment", "frontier")):
            sql = next(sql for _, name, sql in verifier.SCHEMA if name == table)
            self.sql("floor", "PRAGMA writable_schema = 1",
                     ("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (sql[:-7], table)),
                     "PRAGMA writable_schema = RESET",
                     f"UPDATE {table} SET {column} = CAST({column} AS BLOB)", "PRAGMA writable_schema = 1",
                     ("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (sql, table)), what="schema")

        def as_utf16(directory):
            path = database_of(directory)
            (directory / "new.db").touch()
            with writing(directory / "new.db") as database:
                database.execute("PRAGMA encoding = 'UTF-16le'")
                database.execute("ATTACH ? AS old", (str(path),))
                database.execute(f"PRAGMA application_id = {verifier.APPLICATION_ID}")
                database.execute("PRAGMA user_version = 1")
                for _, _, sql in verifier.SCHEMA:
                    database.execute(sql)
                for table in TABLES:
                    database.execute(f"INSERT INTO main.{table} SELECT * FROM old.{table}")
            (directory / "new.db").replace(path)

        def as_dump(directory):
            """Made anew with the same content: nothing to see."""
            path = database_of(directory)
            with writing(path) as database:
                database.execute("VACUUM")

        with contextlib.suppress(sqlite3.OperationalError):  # attached databases must have the same encoding
            self.tamper("floor", as_utf16, what="schema")
        self.assertIsNone(self.tamper("floor", as_dump, unchanged_allowed=True, what="schema"))

    def test_snapshots_nodes_and_where_a_file_begins(self):
        for shape in ("floor", "segments"):
            path = database_of(journals[shape])
            (size, state, frontier), *_ = self.rows(path, "snapshot")
            index, node = self.rows(path, "node")[0]
            first, before = self.rows(path, "segment")[0]
            richer = re.sub(rb'"meter":"(\d)', rb'"meter":"9', state, count=1)
            edits = [
                self.set_column("snapshot", "state", size, richer),
                self.set_column("snapshot", "state", size, state.replace(b'"suspended":false', b'"suspended":true', 1)),
                self.set_column("snapshot", "state", size, state + b" "),
                self.set_column("snapshot", "state", size, b"{}"),
                self.set_column("snapshot", "frontier", size, frontier + b"\n"),
                self.set_column("snapshot", "frontier", size, frontier[::-1]),
                self.set_column("snapshot", "frontier", size, b"0\n"),
                ("INSERT INTO snapshot VALUES (?, CAST(? AS TEXT), CAST(? AS TEXT))", (size + 1, state, frontier)),
                "DELETE FROM snapshot",
                self.set_column("node", "hash", index, bytes(32)),
                self.set_column("node", "hash", index, node + b"\0"),
                self.set_column("node", "hash", index, node[:31]),
                self.set_column("node", "hash", index, b""),
                ("INSERT INTO node VALUES (?, ?)", (index + 1000, node)),
                ("INSERT INTO node VALUES (-2, ?)", (node,)),
                "DELETE FROM node",
                f"UPDATE segment SET first = {first + 1}",
                f"UPDATE segment SET first = {first - 1}",
                "DELETE FROM segment",
                "INSERT INTO segment VALUES (77, '0' || char(10))",
                self.set_column("segment", "frontier", first, b""),
                self.set_column("segment", "frontier", first, b"1\n" + base64.b64encode(bytes(32)) + b"\n"),
                self.set_column("segment", "frontier", first, before[:-1]),
                self.set_column("segment", "frontier", first, before + b"\n"),
            ]
            for edit in edits:
                with self.subTest(shape=shape, edit=edit):
                    self.sql(shape, edit, what="derived rows")

    def test_a_write_ahead_log_of_another_journal(self):
        def log_of(source, *statements):
            """Bytes of a log with these changes in it."""
            directory = Path(tempfile.mkdtemp(dir=scratch))
            self.addCleanup(shutil.rmtree, directory)
            path = directory / "journal.db"
            shutil.copy(source, path)
            with writing(path) as database:
                database.execute("PRAGMA journal_mode = WAL")
                database.execute("PRAGMA wal_autocheckpoint = 0")
                for statement in statements:
                    database.execute(statement)
                return Path(f"{path}-wal").read_bytes()

        ours, theirs = database_of(journals["floor"]), database_of(journals["other"])
        # Not in one statement: SQLite does not write a page that stays the same.
        touch_all = ["UPDATE journal SET payload = payload || ' '", "UPDATE journal SET payload = rtrim(payload)"]
        award = "UPDATE journal SET payload = replace(payload, '\"5000.0', '\"9000.0') WHERE seq = 54"
        logs = {
            "all of another": log_of(theirs, "VACUUM"),
            "most of another": log_of(theirs, *touch_all),
            "a page of another": log_of(theirs, *(f"{each} WHERE seq = 200" for each in touch_all)),
            "its last page": log_of(theirs, *(f"{each} WHERE seq = 321" for each in touch_all)),
            "an award raised": log_of(ours, award),
            "a record taken out": log_of(ours, "DELETE FROM journal WHERE seq = 300"),
            "of a shorter one": log_of(database_of(journals["lost"]), *touch_all),
            "the same": log_of(ours, *touch_all),
        }
        torn = logs["an award raised"]
        logs["torn"] = torn[:len(torn) - 100]
        logs["garbage"] = bytes(range(256)) * 300
        for name, log in logs.items():
            with self.subTest(name):
                result = self.tamper("floor", lambda directory: (directory / "journal.db-wal").write_bytes(log),
                                     unchanged_allowed=True, what="write-ahead log")
                self.assertEqual(result is None, name in ("the same", "torn", "garbage"))

        def rollback_journal(directory):
            """A hot journal that would put altered pages back."""
            altered = directory / "altered.db"
            shutil.copy(database_of(directory), altered)
            with writing(altered) as database:
                database.execute("PRAGMA journal_mode = DELETE")
                database.execute("PRAGMA cache_size = 1")
                database.execute(award)
                database.execute("BEGIN IMMEDIATE")
                for statement in touch_all:
                    database.execute(statement)
                content = Path(f"{altered}-journal").read_bytes()
                database.execute("ROLLBACK")
            altered.unlink()
            Path(f"{database_of(directory)}-journal").write_bytes(content)
        self.tamper("floor", rollback_journal, unchanged_allowed=True, what="write-ahead log")

    def test_bytes_of_the_file(self):
        choose = random.Random(SEED)
        original = database_of(journals["rotated"]).read_bytes()
        content = content_of(database_of(journals["rotated"]))
        for _ in range(250):
            at, bit = choose.randrange(len(original)), choose.randrange(8)

            def flip(directory):
                flipped = bytearray(original)
                flipped[at] ^= 1 << bit
                database_of(directory).write_bytes(flipped)
            self.damage(flip, content, at=at, bit=bit)
        pages = len(original) // 4096
        for _ in range(30):
            a, b = choose.sample(range(pages), 2)

            def swap(directory):
                swapped = bytearray(original)
                swapped[4096 * a:4096 * a + 4096] = original[4096 * b:4096 * b + 4096]
                swapped[4096 * b:4096 * b + 4096] = original[4096 * a:4096 * a + 4096]
                database_of(directory).write_bytes(swapped)
            self.damage(swap, content, a=a, b=b)
            self.damage(lambda directory: database_of(directory).write_bytes(
                original[:4096 * a] + bytes(4096) + original[4096 * a + 4096:]), content, zeroed=a)
            self.damage(lambda directory: database_of(directory).write_bytes(original[:4096 * a + 17]), content, cut=a)
        self.damage(lambda directory: database_of(directory).write_bytes(b""), content)
        self.damage(lambda directory: database_of(directory).write_bytes(original + bytes(4096)), content)

    def damage(self, change, content, **where):
        with self.subTest(**where):
            directory = self.copy("rotated")
            change(directory)
            result = verifier.verify([directory], keys["rotated"])
            if result:
                self.assertEqual(content_of(database_of(directory)), content)
            tally["damaged bytes: " + ("content provably unchanged" if result else "detected")] += 1


class WithTheKey(Case):
    """Whoever has the private key too: what does not agree with itself is still seen."""

    def forge(self, change, at=None, says="", shape="floor", good=False, **options):
        directory = self.copy(shape)
        make_anew(database_of(directory), change, **options)
        result = verifier.verify([directory], keys[shape])
        if good:
            self.assert_verified(result)
            return
        self.assert_fault(result, says)
        if at is not None:
            self.assertEqual(result.fault.seq, at, result.fault)
        tally["signed anew: detected"] += 1

    def setUp(self):
        self.records = [json.loads(each) for each in payloads_of(database_of(journals["floor"]))]

    def first(self, holds, kind=None):
        return next(record["seq"] for record in self.records
                    if (kind is None or record["kind"] == kind) and holds(record))

    def edit(self, seq, change, says="", **options):
        """Changes the record as parsed."""
        def all_of(payloads):
            record = json.loads(payloads[seq])
            change(record)
            payloads[seq] = verifier.to_text(record).encode()
        self.forge(all_of, seq, says, **options)

    def test_nothing_changed(self):
        self.forge(lambda payloads: None, good=True)
        self.forge(lambda payloads: None, good=True, shape="rotated")
        self.forge(lambda payloads: payloads.append(
            b'{"seq":322,"time":1800000000000,"kind":"restore_overridden","pools":[{"pool":"x"}]}'), good=True)

    def test_the_books(self):
        def shift(record, cause, amounts):
            postings = record["pools"][0]["postings"][cause]
            for account, amount in amounts.items():
                postings[account] = verifier.amount_text(verifier.units(postings[account]) + amount)

        def set_after(record, name, amount):
            after = record["pools"][0]
            after[name] = verifier.amount_text(verifier.units(after[name]) + amount)

        opened = self.first(lambda r: "contribution" in r["pools"][0]["postings"], "round_opened")
        settled = self.first(lambda r: "awards" in r and r["awards"][0]["arithmetic"]["winners"] == 1, "settle_due")
        shared = self.first(lambda r: r["awards"][0]["arithmetic"]["winners"] > 1 if "awards" in r else False,
                            "surveillance_ruling")
        voided = self.first(lambda r: "refunds" in r and "return" in r["pools"][0]["postings"])
        refused = self.first(lambda r: "refused" in r and r["pools"])
        adjusted = self.first(lambda r: "adjustment" in r["pools"][0]["postings"], "pool_adjusted")
        paid = self.first(lambda r: "payment" in r, "payment_recorded")
        withdrawn = self.first(lambda r: "withdrawn" in r)
        fixed = self.first(lambda r: "awards" in r, "round_result")

        zero = "do not sum to zero"
        self.edit(opened, lambda r: shift(r, "contribution", {"meter": 1}), zero)
        self.edit(opened, lambda r: shift(r, "wager", {"house": 1}), zero)
        self.edit(opened, lambda r: shift(r, "contribution", {"meter": 1, "house": -1}), "lead pool")
        self.edit(opened, lambda r: (shift(r, "contribution", {"meter": 1, "house": -1}), set_after(r, "meter", 1)),
                  "the rest of the record makes it")
        self.edit(opened, lambda r: set_after(r, "meter", 1), "lead pool")
        self.edit(opened, lambda r: set_after(r, "reserve", -1), "lead pool")
        self.edit(opened, lambda r: r["command"]["wagers"].pop(), "the rest of the record makes it")
        self.edit(opened, lambda r: r["pools"][0]["postings"].update(adjustment={"house": "-1.00000000",
                                                                                 "meter": "1.00000000"}), "cannot post")
        self.edit(opened, lambda r: r["pools"][0]["postings"]["wager"].update(meter="0.00000000"), "is not possible")
        self.edit(opened, lambda r: r["pools"][0]["postings"].update(wager={}), zero)
        self.edit(opened, lambda r: shift(r, "wager", {"house": -10**12, "players": 10**12}), "is not possible")
        self.edit(opened, lambda r: r.update(pools=[]), "not those that its command is about")
        self.edit(opened, lambda r: r["pools"].append(r["pools"][0]), "not those that its command is about")
        self.edit(opened, lambda r: r["pools"][0].update(pool="B8"), "not those that its command is about")
        self.edit(opened, lambda r: r["command"].update(table="T9"), "not refused for that")
        self.edit(opened, lambda r: r["command"].update(table="U1" if r["command"]["table"][0] == "T" else "T1"),
                  "not those that its command is about")
        self.edit(settled, lambda r: r["awards"][0].update(amount="1.00000000"), "does not work out")
        self.edit(settled, lambda r: r.pop("awards"), "the rest of the record makes it")
        self.edit(settled, lambda r: r["awards"][0].pop("arithmetic"), "not that of its tier")
        self.edit(settled, lambda r: r["awards"][0]["arithmetic"].update(winners=0), "shared by as many")
        self.edit(settled, lambda r: r["awards"][0]["arithmetic"].update(winners=5), "shared by as many")
        self.edit(settled, lambda r: r["awards"][0]["arithmetic"].update(payout_unit="0.00000000"), "work out")
        self.edit(settled, lambda r: r["awards"][0]["arithmetic"].update(displayed="1.00000000"), "work out")
        self.edit(shared, lambda r: r["awards"].pop())
        self.edit(shared, lambda r: r["awards"][0].update(amount="5000.00000001"), "does not work out")
        self.edit(voided, lambda r: r["refunds"].pop() if len(r["refunds"]) > 1 else r.pop("refunds"),
                  "the rest of the record makes it")
        self.edit(voided, lambda r: r["refunds"][0].update(table="U1" if r["refunds"][0]["table"][0] == "T" else "T1"),
                  "another pool")
        self.edit(refused, lambda r: r["pools"][0].update(
            postings={"seed": {"house": "-1.00000000", "meter": "1.00000000"}}), "refused and yet")
        self.edit(refused, lambda r: set_after(r, "meter", 1), "lead pool")
        self.edit(adjusted, lambda r: r["command"].update(amount="0.00000001"), "the rest of the record makes it")
        self.edit(paid, lambda r: r["payment"].update(due="1.00000000"), "its payment")
        self.edit(paid, lambda r: r["payment"].update(paid="1.00000000"), "its payment")
        self.edit(paid, lambda r: (pools := r.pop("pools"), r.pop("payment"), r.update(pools=pools)), "a payment")
        self.edit(withdrawn, lambda r: r["withdrawn"].pop() if len(r["withdrawn"]) > 1 else r.pop("withdrawn"),
                  "the rest of the record makes it")
        self.edit(withdrawn, lambda r: r["withdrawn"][0].update(amount="1.00000000"))
        self.edit(fixed, lambda r: r["awards"][0].update(amount="1.00000000"), "the rest of the record makes it")
        self.edit(1, lambda r: r["pools"].pop(), "not those that its command is about")
        self.edit(1, lambda r: r["command"]["site"]["pools"][0].update(opening="50101.00000000"),
                  "the rest of the record makes it")
        self.edit(1, lambda r: r["command"]["site"]["tables"][0].update(pool="none"), "belongs to no pool")
        self.edit(1, lambda r: r["command"]["site"]["tables"][0].update(id="T2"), "same id")
        self.edit(1, lambda r: r["command"]["site"]["pools"][0].update(minimum="50100.00000001"), "below its minimum")
        repeated = self.first(lambda r: True, "heartbeat")

        def second_site(payloads):
            payloads[repeated] = payloads[1].replace(b'"seq":1,"time":1767225600000', b'"seq":%d,"time":%d' % (
                repeated, self.records[repeated]["time"]))
        self.forge(second_site, repeated, "lead pool")

        # A command made a kind that nobody knows takes its money out of the books.
        def renamed(payloads):
            payloads[opened] = payloads[opened].replace(b'"kind":"round_opened"', b'"kind":"round_closed"')
        self.forge(renamed, None, "lead pool")

    def test_a_site_that_changes_in_play(self):
        self.records = [json.loads(each) for each in payloads_of(database_of(journals["amended"]))]

        def edit(seq, change, says):
            self.edit(seq, change, says, shape="amended")

        def state(name):
            return lambda r: r.get("parameters", {}).get("state") == name

        def amends(name):
            return lambda r: name in r.get("amended", {})

        def moved(record, name, **values):
            record["parameters"][name] = {
                key: values.get(key, value) for key, value in record["parameters"][name].items()}

        agreed = self.first(state("agreed"))
        edit(agreed, lambda r: moved(r, "to", payout_unit="7.00000000"), "other parameters than were asked")
        edit(agreed, lambda r: moved(r, "from", payout_unit="7.00000000"), "those of the pool until then")
        edit(agreed, lambda r: r["command"]["to"].update(minimum="77.00000000"), "other parameters than were asked")
        edit(agreed, lambda r: r["parameters"].update(state="in_force"), "by another command")
        edit(agreed, lambda r: r["parameters"].update(state="taken_back"), "not those that were agreed")
        edit(agreed, lambda r: r["parameters"].update(pool="other"), "those of the pool until then")
        edit(agreed, lambda r: (pools := r.pop("pools"), r.pop("parameters"), r.update(pools=pools)),
             "has no outcome")
        in_force = self.first(state("in_force"))
        edit(in_force, lambda r: moved(r, "to", payout_unit="7.00000000"), "not those that were agreed")
        edit(in_force, lambda r: moved(r, "from", payout_unit="7.00000000"), "those of the pool until then")
        edit(in_force, lambda r: r["parameters"].update(state="agreed"), "by another command")
        back = self.first(state("taken_back"))
        edit(back, lambda r: r["command"]["to"].update(payout_unit="7.00000000"), "asks for others")
        without_reset = self.first(
            lambda r: r["seq"] > agreed and "refused" not in r and "parameters" not in r
            and r["pools"][0]["pool"] == self.records[agreed]["parameters"]["pool"], "round_opened")
        if without_reset < in_force:
            edit(without_reset, lambda r: (pools := r.pop("pools"), r.update(
                parameters=dict(self.records[agreed]["parameters"], state="in_force"), pools=pools)),
                 "without a reset")

        table = self.first(amends("new_tables"))
        edit(table, lambda r: (pools := r.pop("pools"), r.pop("amended"), r.update(pools=pools)), "something else")
        edit(table, lambda r: r["amended"]["new_tables"].append("x"), "something else")
        edit(table, lambda r: r["command"]["site"]["pools"][0].update(payout_unit="7.00000000"), "takes two people")
        edit(table, lambda r: r["command"]["site"]["pools"][0].update(wager="2.50000000"), "game or wager")
        edit(table, lambda r: r["command"]["site"]["tables"].pop(), "removes a table")
        edit(table, lambda r: r["pools"][0].update(
            postings={"seed": {"house": "-1.00000000", "meter": "1.00000000"}}), "lead pool")
        pool = self.first(amends("new_pools"))
        edit(pool, lambda r: r["command"]["site"]["pools"][-1].update(minimum="25000.00000000"),
             "the rest of the record makes it")
        changed = self.first(amends("changed_tables"))
        edit(changed, lambda r: r["amended"].update(changed_tables=["U1", "T1"]), "something else")
        self.edit(1, lambda r: (pools := r.pop("pools"), r.update(amended={"new_pools": ["B7"]}, pools=pools)),
                  "was not there")

    def test_form_order_and_time(self):
        beat = self.first(lambda r: True, "heartbeat")
        opened = self.first(lambda r: r["command"]["wagers"] and "refused" not in r, "round_opened")

        def raw(seq, old, new, says, count=1):
            def change(payloads):
                self.assertIn(old, payloads[seq])
                payloads[seq] = payloads[seq].replace(old, new, count)
            self.forge(change, seq, says)

        raw(beat, b'"seq":%d' % beat, b'"seq":%d' % (beat + 1), "it says that it is record")
        raw(beat, b'"time":17', b'"time":16', "its time is before")
        raw(beat, b'"heartbeat"', b'"heartbeat","x":1', "not expected here")
        raw(beat, b'"heartbeat"', b'"journal_opened","format":1,"key":"%s"' % keys["floor"][0].encode(),
            "begins within a file")
        raw(beat, b'"heartbeat"', b'"segment_opened","sha256":"%s","key":"%s"' % (b"0" * 64, keys["floor"][0].encode()),
            "begins within a file")
        raw(0, b'"format":1', b'"format":2', "not one of those")
        raw(0, b"journal_opened", b"journal_reopened", "the first record of the file")
        raw(opened, b'"command":{"table":', b'"command":{ "table":', "not in the journal's form")
        raw(opened, b'"round":', b'"round":0,"round":', "a key twice")
        raw(opened, b'"round":', b'"round":0.5', "which is not whole")
        raw(opened, b'"wagers":[', b'"wagers":[{"seat":1,"player_card":""},', "would be left out")
        raw(opened, b'"wagers":[', b'"wagers":[{"seat":1,"no_base_wager":false},', "not one of those")
        raw(opened, b'"wagers":[', b'"wagers":[{"player_card":"x","seat":1},', "not where it should be")
        raw(opened, b',"pools":', b',"awards":[],"pools":', "would be left out")

        def swapped(payloads):
            payloads[beat], payloads[beat + 1] = payloads[beat + 1], payloads[beat]
        self.forge(swapped, beat, "it says that it is record")
        self.forge(lambda payloads: payloads.pop(beat), beat, "it says that it is record")
        self.forge(lambda payloads: payloads.insert(beat, payloads[beat]), beat + 1, "it says that it is record")

    def test_snapshots(self):
        snapshot = [r["seq"] for r in self.records if r["kind"] == "snapshot"][-1]
        self.edit(snapshot, lambda r: r.update(sha256="0" * 64), "not the one whose hash")
        self.edit(snapshot, lambda r: r.update(sha256="0" * 63), "not a SHA-256")
        for name in ("meter", "reserve", *verifier.TOTALS):
            with self.subTest(name):
                directory = self.copy("floor")
                path = database_of(directory)
                with writing(path) as database:
                    state = json.loads(database.execute("SELECT state FROM snapshot WHERE size = ?",
                                                        (snapshot,)).fetchone()[0])
                    pool = state["pools"][1]
                    pool[name] = verifier.amount_text(verifier.units(pool[name]) + 1)
                    text = verifier.to_text(state)
                    database.execute("UPDATE snapshot SET state = ? WHERE size = ?", (text, snapshot))

                def change(payloads):
                    payloads[snapshot] = verifier.to_text(
                        {**self.records[snapshot], "sha256": hashlib.sha256(text.encode()).hexdigest()}).encode()
                make_anew(path, change)
                self.assert_fault(verifier.verify([directory], keys["floor"]), f"record {snapshot}: the snapshot has")
                tally["signed anew: detected"] += 1

    def test_changes_of_key(self):
        name = "jackpot.example/floor"
        mine = [str(key_of(name, seed)) for seed in SEEDS]
        records = [json.loads(each) for each in payloads_of(database_of(journals["lost"]))]
        handed, lost = (r["seq"] for r in records if r["kind"] == "key_rotated" and r["seq"] < 100)

        def edit(seq, says, at=None, seeds_at=lambda size: None, **values):
            def change(payloads):
                payloads[seq] = verifier.to_text({**records[seq], **values}).encode()
            self.forge(change, seq if at is None else at, says, "lost", seeds_at=seeds_at)

        edit(handed, "not the one in use", old=mine[2])
        edit(handed, "or is the old one", new=mine[0])
        edit(handed, "another name", new=str(key_of("other.example", SEEDS[1])))
        edit(handed, "not a verifier key", new="x")
        edit(handed, "fewer than two people", lost=True, by=["a", "a", ""])
        edit(lost, "fewer than two people", by=[])
        edit(lost, "is not signed by", lost=False, seeds_at=lambda size: SEEDS[2:3] if size == lost + 1 else None)
        edit(handed, "is not signed by", at=handed,
             seeds_at=lambda size: SEEDS[1:2] if size == handed + 1 else None)
        edit(handed, "is not signed by", at=handed,
             seeds_at=lambda size: SEEDS[0:1] if size == handed + 1 else None)
        after = lost + 1
        edit(lost, "is not signed by", at=after, seeds_at=lambda size: SEEDS[0:1] if size > after else None)

        # As lost as if it were handed over: then the key before is good for nothing.
        directory = self.copy("rotated")

        def as_lost(payloads):
            payloads[143] = payloads[143].replace(b'"lost":false', b'"lost":true')
        make_anew(database_of(directory), as_lost)
        self.assert_fault(verifier.verify([directory], keys["rotated"][:2]), "replaced as lost")
        self.assert_verified(verifier.verify([directory], keys["rotated"][2:]))


class Counts(unittest.TestCase):
    """Runs last (load_tests): what was seen of what was done."""

    def test_at_least_as_many_cases_as_there_should_be(self):
        wanted = {"one bit: detected": 300, "rows: detected": 300, "truncation: detected": 40,
                  "truncation: detected with an earlier checkpoint": 12, "checkpoint removed: detected": 3,
                  "checkpoint removed: content provably unchanged": 60, "signatures: detected": 50,
                  "forged key: detected": 6, "spliced: detected": 30, "schema: detected": 29,
                  "derived rows: detected": 40, "write-ahead log: detected": 6, "damaged bytes: detected": 100,
                  "signed anew: detected": 60}
        for what, least in wanted.items():
            self.assertGreaterEqual(tally[what], least, what)


def load_tests(loader, tests, pattern):
    suite = unittest.TestSuite()
    for case in (Primitives, GoodJournals, CommandLine, ThePage, WithoutTheKey, WithTheKey, Counts):
        suite.addTests(loader.loadTestsFromTestCase(case))
    return suite


if __name__ == "__main__":
    unittest.main()
