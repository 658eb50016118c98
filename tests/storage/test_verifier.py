#!/usr/bin/env python3
"""verifier.py accepts the journals that jackpotd writes, and docs/journal-format.md describes them."""

import base64
import collections
import contextlib
import hashlib
import itertools
import json
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import unittest
from pathlib import Path

import verifier
import verifier_crypto
import verifier_records
from verifier_case import (PAGE, PROGRAM, SEED, SEEDS, Case, database_of, handed_over, journals, keys, notes_of,
                           payloads_of, scratch, secret_of, setUpModule, sign, signed_note, tally, tearDownModule,
                           times_base, writing)

HERE = Path(__file__).resolve().parent


class GoodJournals(Case):
    def test_every_shape_verifies(self):
        for shape, directory in journals.items():
            with self.subTest(shape):
                result = self.assert_verified(verifier.verify([directory], keys[shape][-1:]))
                self.assertEqual(result.keys, keys[shape])
                tally["good records"] += result.end
                tally["good checkpoints"] += result.checkpoints

    def test_the_samples_contain_every_kind_of_record(self):
        payloads = payloads_of(*verifier.files_of(journals["floor"]))
        records = [json.loads(payload) for payload in payloads]
        self.assertGreaterEqual(len(records), 300)
        kinds = {json.loads(payload)["kind"] for directory in journals.values()
                 for payload in payloads_of(*verifier.files_of(directory))}
        self.assertLessEqual(set(verifier_records.COMMANDS), kinds)
        self.assertLessEqual({"heartbeat", "snapshot"}, kinds)
        states = {claim["state"] for record in records for claim in record.get("claims", ())}
        self.assertEqual(states, {"claimed", "locked", "held", "due", "final", "dropped"})
        causes = {cause for directory in journals.values() for payload in payloads_of(*verifier.files_of(directory))
                  for pool in json.loads(payload).get("pools", ()) for cause in pool["postings"]}
        self.assertEqual(causes, set(verifier_records.CAUSES))
        everything = b"".join(payloads)
        for escaped in (b"\\u0009", b"\\u000a", b"\\u0000", b"\\u007f", b'\\"', b"\\\\", "\ufffd".encode(),
                        "\u2028".encode(), "🂡".encode()):
            self.assertIn(escaped, everything)
        self.assertEqual(len(handed_over("rotated")), 2)

    def test_a_site_that_changes_while_tables_play_verifies(self):
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

    def test_a_key_from_before_a_rotation_is_accepted_and_one_from_before_a_loss_is_not(self):
        for key in keys["rotated"]:
            self.assert_verified(verifier.verify([journals["rotated"]], [key]))
        first, second, third, fourth = keys["lost"]
        for trusted in ([third], [fourth], [first, fourth]):
            self.assert_verified(verifier.verify([journals["lost"]], trusted))
        for trusted in ([first], [second], [first, second]):
            self.assert_fault(verifier.verify([journals["lost"]], trusted), "replaced as lost")
        self.assert_fault(verifier.verify([journals["floor"]], keys["other"]), "not a key that you gave")

    def test_some_of_the_files_verify_without_the_others(self):
        files = verifier.files_of(journals["segments"])
        self.assertEqual(len(files), 5)
        for begin, end in itertools.combinations(range(len(files) + 1), 2):
            result = self.assert_verified(verifier.verify(files[begin:end][::-1]))
            self.assertEqual(result.first > 0, begin > 0)
        # The given key was used only in the files that are left out.
        self.assert_fault(verifier.verify(files[3:], keys["segments"][:1]), "not a key that you gave")
        for missing in range(1, len(files) - 1):
            self.assert_fault(verifier.verify(files[:missing] + files[missing + 1:]), "the next file begins at")
        self.assert_fault(verifier.verify([files[0], files[0]]), "the next file begins at record 0")
        self.assert_fault(verifier.verify([scratch]), "there is no journal")
        self.assert_fault(verifier.verify([scratch / "nothing.db"]), "there is no such file")

    def test_an_earlier_checkpoint_is_compared(self):
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
        forged = signed_note("jackpot.example/floor", size, verifier_crypto.Checkpoint.parse(lost[size]).root, SEEDS[4:5])
        self.assert_fault(verifier.verify([journals["lost"]], keys["lost"][-1:], forged.encode()), "is not signed by")

    def test_a_journal_verifies_while_it_is_written(self):
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

    def test_an_interrupted_closing_of_a_segment_verifies(self):
        end = verifier.verify([journals["segments"]]).end
        directory = self.copy("segments")
        (directory / "journal.db").rename(directory / "journal.db.next")
        self.assertEqual(self.assert_verified(verifier.verify([directory])).end, end)
        shutil.copy(directory / "journal.db.next", directory / "journal.db")
        (directory / "journal.db.next").write_bytes(b"half")
        self.assertEqual(self.assert_verified(verifier.verify([directory])).end, end)


class CommandLine(Case):
    def run_verifier(self, *arguments):
        run = subprocess.run([sys.executable, HERE / "verifier.py", *map(str, arguments)],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        return run.returncode, run.stdout.decode(), run.stderr.decode()

    def test_exit_status_and_messages(self):
        since = scratch / "since"
        since.write_bytes(notes_of(database_of(journals["rotated"]))[handed_over("rotated")[0]])
        status, said, errors = self.run_verifier("--key", keys["rotated"][0], "--since", since, "--openssl-all",
                                                 journals["rotated"])
        self.assertEqual((status, errors), (0, ""))
        notes = notes_of(database_of(journals["rotated"]))
        records = [json.loads(each) for each in payloads_of(database_of(journals["rotated"]))]
        commands = sum(record["kind"] in verifier_records.COMMANDS for record in records)
        self.assertIn(f"verified: records 0 to {len(records) - 1}, {commands} commands, {len(notes)} checkpoints, "
                      f"{len(notes) + 2} signatures also by openssl\n", said)
        self.assertTrue(said.endswith(notes[len(records)].decode()))

        directory = self.copy("rotated")
        with writing(database_of(directory)) as database:
            database.execute("DELETE FROM journal WHERE seq = 17")
        self.assertEqual(self.run_verifier(directory)[:2],
                         (1, "record 17: it is missing; a checkpoint of size "
                             f"{min(size for size in notes if size > 17)} has it\n"))
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
            self.assertTrue(verifier_crypto.ed25519_holds(public, message, signature))
            self.assertFalse(verifier_crypto.ed25519_holds(public, message + b"x", signature))
            beyond = (int.from_bytes(signature[32:], "little") + verifier_crypto.ORDER).to_bytes(32, "little")
            wrong = [signature[:32] + beyond, signature[:63], bytes(64), signature[32:] + signature[:32]]
            for _ in range(6):
                bit = choose.randrange(512)
                wrong.append((int.from_bytes(signature, "big") ^ 1 << bit).to_bytes(64, "big"))
            for each in [signature, *wrong]:
                self.assertEqual(verifier_crypto.ed25519_holds(public, message, each), each == signature)
                if message:  # the program of OpenSSL 3.0 does not accept an empty file
                    self.assertEqual(verifier_crypto.openssl_holds(public, message, each), each == signature)

    def test_the_frontier_is_the_tree_of_rfc_6962(self):
        def root(leaves):
            if len(leaves) < 2:
                return leaves[0] if leaves else hashlib.sha256(b"").digest()
            split = 1 << (len(leaves) - 1).bit_length() - 1
            return verifier_crypto.node_hash(root(leaves[:split]), root(leaves[split:]))

        frontier, leaves = verifier_crypto.Frontier(), []
        for number in range(300):
            self.assertEqual(frontier.root(), root(leaves))
            again = verifier_crypto.Frontier.parse(frontier.text())
            self.assertEqual((again.root(), again.text()), (frontier.root(), frontier.text()))
            leaves.append(verifier_crypto.leaf_hash(b"%d" % number))
            completed = frontier.append(leaves[-1])
            self.assertEqual(completed, root(leaves) if number == 255 else None)

    def test_malformed_payloads_are_rejected(self):
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
            with self.subTest(payload[:80]), self.assertRaises(verifier_crypto.Malformed):
                verifier.parse_record(payload)
        for amount in ("1", "1.0", "01.00000000", "-0.00000000", "+1.00000000", ".00000000", "1.000000000",
                       "92233720368.54775808", "1,00000000", "\u0661.00000000", " 1.00000000", "1.00000000\n", 1):
            with self.subTest(amount), self.assertRaises(verifier_crypto.Malformed):
                verifier_records.money(amount)
        for amount in ("0.00000000", "-92233720368.54775808", "92233720368.54775807", "-0.00000001"):
            verifier_records.money(amount)
            self.assertEqual(verifier_records.amount_text(verifier_records.units(amount)), amount)
        for rate in ("0.20", "00", "1.0", ".5", "0.", "0.1234567", "2", ""):
            with self.subTest(rate), self.assertRaises(verifier_crypto.Malformed):
                verifier_records.rate(rate)
        self.assertEqual([verifier_records.parts_per_million(each) for each in ("0", "1", "0.2", "0.000001")],
                         [0, 1_000_000, 200_000, 1])

    def test_malformed_verifier_keys_are_rejected(self):
        good = keys["example"][0]
        self.assertEqual(str(verifier_crypto.Key.parse(good)), good)
        name, key_id, key = good.split("+", 2)
        for bad in ("", name, f"{name}+{key_id}", f"x{good}", f"{name}+{key_id.upper()}+{key}",
                    f"{name}+{key_id}+{key[:-1]}b", f"{name}+{key_id}+{key}\n", f"{name}+{key_id}+B{key[1:]}",
                    f"a b+{key_id}+{key}", f"{name}+{key_id}+{key[:-4]}", f"{name}+{key_id}+{key}===="):
            with self.subTest(bad), self.assertRaises(verifier_crypto.Malformed):
                verifier_crypto.Key.parse(bad)


class ThePage(Case):
    """The statements and examples of docs/journal-format.md are correct."""

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
        for known in (verifier_records.RECORDS, verifier_records.CAUSES, verifier_records.ACCOUNTS, verifier_records.TIERS, verifier_records.REFUSALS,
                      verifier_records.TOTALS):
            self.assertLessEqual(set(known) - {"house", "players"}, words)
        signs = {0: "±", 1: "+", -1: "-", None: ""}
        for cause, accounts in verifier_records.CAUSES.items():
            cells = " | ".join(signs[accounts.get(account)] for account in verifier_records.ACCOUNTS)
            self.assertIn(f"| `{cause}` | {cells} |".replace("  ", " "), self.page)

    def test_the_steps_of_a_proof_as_on_the_page(self):
        def included(index, size, leaf, proof):
            """As the page says."""
            i, n, h = index, size - 1, leaf
            for p in proof:
                if n == 0:
                    return None
                if i % 2 == 1 or i == n:
                    h = verifier_crypto.node_hash(p, h)
                    while i % 2 == 0:
                        i, n = i // 2, n // 2
                else:
                    h = verifier_crypto.node_hash(h, p)
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
            return below, verifier_crypto.node_hash(left, right)

        for size in range(1, 24):
            leaves = [verifier_crypto.leaf_hash(b"%d" % number) for number in range(size)]
            for index in range(size):
                proof, root = path(index, leaves)
                self.assertEqual(included(index, size, leaves[index], proof), root)
        lines = self.blocks("")[-1].splitlines()
        payload = payloads_of(*self.files)[6]
        proof = [base64.b64decode(line) for line in lines[2:6]]
        self.assertEqual(included(6, 10, verifier_crypto.leaf_hash(payload), proof), base64.b64decode(lines[9]))


if __name__ == "__main__":
    unittest.main()
