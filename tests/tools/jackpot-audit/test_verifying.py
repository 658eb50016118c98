"""jackpot-audit verify of journals, and checkpoint."""

import json
import re
import shutil
import sqlite3
import subprocess
import threading
import unittest

from audit_support import (AUDIT, MAY_1, NAME, SITE, AuditTest, FloorTest, Maker, audit, check_note,
                           edit, files_of, last_note, leaf_hash, make_floor, public_key, tree_root,
                           verifier_key)


class Good(FloorTest):
    def test_the_summary_of_a_good_journal(self):
        text = self.good(audit("verify", "--key", self.vkey, self.journal))
        commands = sum("command" in record for record in self.records)
        self.assertIn(f"The journal {NAME} verifies.", text)
        self.assertRegex(text, rf"records +{self.size}, from 0 to {self.size - 1}\n")
        self.assertRegex(text, rf"commands +{commands}, ")
        self.assertRegex(text, r"first +2026-05-01T00:00:00\.000Z\n")
        self.assertRegex(text, r"last +2026-05-04T02:00:00\.000Z\n")

    def test_the_result_as_json(self):
        outcome = json.loads(self.good(audit("verify", "--json", "--key", self.vkey, self.journal)))
        checkpoints = 0
        for file in files_of(self.journal):
            with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
                checkpoints += database.execute("SELECT count(*) FROM checkpoint").fetchone()[0]
            database.close()
        self.assertIs(outcome["verified"], True)
        self.assertEqual((outcome["first"], outcome["end"]), (0, self.size))
        self.assertEqual(outcome["checkpoints"], checkpoints)
        self.assertEqual(outcome["commands"], sum("command" in each for each in self.records))
        self.assertEqual(outcome["checkpoint"], last_note(self.journal))
        self.assertEqual(outcome["keys"], ["+".join(self.vkey.split("+", 2)[:2])])
        self.assertEqual(outcome["remarks"], [])

    def test_the_checkpoint_agrees_with_openssl_and_an_independent_tree(self):
        """The tree is computed here (RFC 6962), the signature is checked by the openssl program."""
        note = self.good(audit("checkpoint", "--key", self.vkey, self.journal))
        self.assertEqual(note, last_note(self.journal))
        origin, size, root = check_note(note, self.vkey, self.scratch)
        leaves = [leaf_hash(self.payloads[seq]) for seq in range(size)]
        self.assertEqual((origin, size, root), (NAME, self.size, tree_root(leaves)))
        self.assertEqual(self.good(audit("checkpoint", self.journal)), note)

    def test_files_may_be_given_in_any_order(self):
        files = files_of(self.journal)
        self.assertEqual(len(files), 3)
        self.good(audit("verify", "--key", self.vkey, *reversed(files)))
        self.good(audit("verify", "--key", self.vkey, files[0]))
        text = self.good(audit("verify", "--key", self.vkey, files[2], files[1]))
        self.assertIn("were not given", text)

    def test_a_read_only_copy_verifies(self):
        copy = self.scratch / "copy"
        shutil.copytree(self.journal, copy)
        for path in (*copy.iterdir(), copy):
            path.chmod(path.stat().st_mode & 0o555)
        self.good(audit("verify", "--key", self.vkey, copy))
        self.good(audit("report", "reconciliation", copy))
        copy.chmod(0o755)

    def test_nothing_is_written_to_the_journal(self):
        """SQLite may leave -wal and -shm files behind, which hold nothing."""
        def content():
            return {path: (path.stat().st_mtime_ns, path.read_bytes())
                    for path in files_of(self.journal)}

        before = content()
        for command in (("verify", "--key", self.vkey), ("report", "wins"), ("tail",), ("show", 1),
                        ("export", "--format", "csv")):
            self.good(audit(*command, self.journal), quiet=command[0] != "export")
        self.assertTrue(before == content())

    def test_a_key_of_another_journal_is_refused(self):
        self.fault(audit("verify", "--key", self.next_vkey, self.journal),
                   "not a key that you gave")
        self.refused(audit("checkpoint", "--key", self.next_vkey, self.journal), 1,
                     "not a key that you gave")


class Since(FloorTest):
    def kept(self, name="kept"):
        path = self.scratch / name
        self.good(audit("verify", "--key", self.vkey, "--keep", path, self.journal))
        self.assertEqual(path.read_text(), last_note(self.journal))
        return path

    def copy(self):
        copy = self.scratch / "copy"
        shutil.copytree(self.journal, copy)
        return copy

    def test_the_same_and_a_longer_journal_agree_with_the_checkpoint(self):
        kept = self.kept()
        self.good(audit("verify", "--key", self.vkey, "--since", kept, self.journal))
        copy = self.copy()
        with Maker(copy) as floor:
            floor.do("open", name=NAME, key=str(self.keys[0]), at=4 * 86_400_000)
            floor.do("heartbeat", at=4 * 86_400_000)
            floor.do("commit")
        self.good(audit("verify", "--key", self.vkey, "--since", kept, copy))

    def test_each_earlier_checkpoint_agrees(self):
        for file in files_of(self.journal):
            with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
                notes = [note for note, in database.execute("SELECT note FROM checkpoint")]
            database.close()
            for note in notes[::3]:
                (self.scratch / "note").write_text(note)
                self.good(audit("verify", "--key", self.vkey, "--since", self.scratch / "note",
                                self.journal))

    def test_a_journal_that_was_cut_off_is_detected(self):
        kept = self.kept()
        copy = self.copy()
        with sqlite3.connect(copy / "journal.db") as database:
            sizes = [size for size, in database.execute("SELECT size FROM checkpoint")]
        database.close()
        edit(copy / "journal.db", f"DELETE FROM journal WHERE seq >= {sizes[0]}",
             f"DELETE FROM checkpoint WHERE size > {sizes[0]}",
             f"DELETE FROM snapshot WHERE size > {sizes[0]}")
        self.good(audit("verify", "--key", self.vkey, copy))  # undetectable without --since
        self.fault(audit("verify", "--key", self.vkey, "--since", kept, copy),
                   f"first bad record  {sizes[0]}", "cut off or rolled back")

    def test_another_history_is_detected(self):
        kept = self.kept()
        other = self.scratch / "other"
        make_floor(other, self.keys[0], segments=False)
        with Maker(other) as floor:
            floor.do("open", name=NAME, key=str(self.keys[0]), at=4 * 86_400_000)
            for _ in range(3):
                floor.do("heartbeat", at=4 * 86_400_000)
            floor.do("commit")
        self.good(audit("verify", "--key", self.vkey, other))
        self.fault(audit("verify", "--key", self.vkey, "--since", kept, other),
                   "not the one of your earlier checkpoint")

    def test_malformed_checkpoints_are_refused(self):
        kept = self.kept()
        for name, content, status in (
                ("empty", "", 2), ("text", "hello\n", 2), ("large", "x" * 200_000, 2),
                ("cut", kept.read_text()[:-20], 2),
                ("forged", kept.read_text().replace(f"\n{self.size}\n", f"\n{self.size - 1}\n"),
                 1)):
            path = self.scratch / name
            path.write_text(content)
            run = audit("verify", "--key", self.vkey, "--since", path, self.journal)
            with self.subTest(name=name):
                self.refused(run, status)
        self.refused(audit("verify", "--key", self.vkey, "--since", "/nowhere", self.journal), 2,
                     "/nowhere")


class Tampered(FloorTest):
    """Changes by a person with the files, but without the key."""

    def tampered(self, file, *statements):
        copy = self.scratch / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.journal, copy)
        edit(files_of(copy)[file], *statements)
        return copy

    def test_each_change_is_detected(self):
        swap = ("UPDATE journal SET payload = replace(payload, '\"amount\":\"50.', "
                "'\"amount\":\"90.') WHERE seq = 4")
        award = next(record["seq"] for record in self.records if "awards" in record)
        cases = {
            "an amount": (0, (swap.replace("seq = 4", f"seq = {award}"),), award),
            "a reason": (1, ("UPDATE journal SET payload = replace(payload, 'counted', 'Counted')"
                             ,), None),
            "white space": (0, ("UPDATE journal SET payload = payload || ' ' WHERE seq = 5",), 5),
            "a record gone": (0, ("DELETE FROM journal WHERE seq = 7",), 7),
            "the last record gone": (2, (f"DELETE FROM journal WHERE seq = {self.size - 1}",),
                                     None),
            "a record more": (2, (f"INSERT INTO journal VALUES ({self.size}, '{{}}')",), None),
            "a checkpoint gone": (2, ("DELETE FROM checkpoint WHERE size = (SELECT max(size) FROM "
                                      "checkpoint)",), None),
            "a root": (0, ("UPDATE checkpoint SET note = replace(note, 'A', 'B') WHERE size = "
                           "(SELECT min(size) FROM checkpoint WHERE size > 3)",), None),
            "a snapshot": (1, ("UPDATE snapshot SET state = replace(state, '0', '1')",), None),
            "the first frontier": (1, ("UPDATE segment SET frontier = "
                                       "replace(frontier, 'A', 'B')",), None),
            "a trigger": (2, ("CREATE TRIGGER t AFTER INSERT ON journal BEGIN SELECT 1; END",),
                          None),
            "a record before the first": (1, ("INSERT INTO journal VALUES (-1, '{}')",), None),
            "a record of another file": (1, ("INSERT INTO journal VALUES (3, '{}')",), None),
            "a checkpoint before the first": (2, ("INSERT INTO checkpoint VALUES (-5, 'x')",),
                                              None),
            "a snapshot of the future": (2, ("UPDATE snapshot SET size = size + 1000000",), None),
            "not JSON": (0, ("UPDATE journal SET payload = 'x' WHERE seq = 9",), 9),
            "two records exchanged": (0, ("UPDATE journal SET seq = -1 WHERE seq = 4",
                                          "UPDATE journal SET seq = 4 WHERE seq = 6",
                                          "UPDATE journal SET seq = 6 WHERE seq = -1"), 4),
        }
        for name, (file, statements, seq) in cases.items():
            with self.subTest(name=name):
                copy = self.tampered(file, *statements)
                text = self.fault(audit("verify", "--key", self.vkey, copy), "does NOT verify")
                if seq is not None:
                    self.assertIn(f"first bad record  {seq}\n", text)
                outcome = audit("verify", "--json", "--key", self.vkey, copy)
                self.assertEqual(outcome.returncode, 1)
                self.assertIs(json.loads(outcome.stdout)["verified"], False)

    def test_a_missing_segment_is_detected(self):
        files = files_of(self.journal)
        run = audit("verify", "--key", self.vkey, files[0], files[2])
        self.fault(run, "does NOT verify")
        for command in (("checkpoint",), ("show", 3), ("export", "--format", "csv")):
            self.refused(audit(*command, files[0], files[2]), 1, "segments in between")
        self.refused(audit("checkpoint", files[0], files[0]), 2, "each once")

    def test_a_damaged_file_is_detected(self):
        copy = self.scratch / "copy"
        shutil.copytree(self.journal, copy)
        file = files_of(copy)[0]
        file.chmod(0o644)
        content = bytearray(file.read_bytes())
        content[8192:12288] = bytes(4096)
        file.write_bytes(content)
        self.fault(audit("verify", "--key", self.vkey, copy), "does NOT verify", str(file))

    def test_other_commands_also_report_damaged_records(self):
        copy = self.tampered(0, "UPDATE journal SET payload = replace(payload, '50.', '90.')")
        for command in (("export", "--format", "csv"), ("export", "--format", "jsonl"),
                        ("prove", 5, "--out", self.scratch / "p")):
            run = audit(*command, copy)
            # A small journal's proofs are checked against the signed root as a whole.
            self.assertEqual(run.returncode, 1, command)
        self.only("copy")
        copy = self.tampered(0, "UPDATE journal SET payload = 'x' WHERE seq = 9")
        for command in (("show", 9), ("tail", "-n", 100), ("report", "wins"),
                        ("report", "reconciliation"), ("report", "differences")):
            run = audit(*command, copy)
            self.assertEqual(run.returncode, 1, command)
            self.assertIn(b"record 9 cannot be read", run.stderr)
        copy = self.tampered(0, "UPDATE journal SET payload = replace(payload, '\"meter\":\"61', "
                                "'\"meter\":\"60') WHERE seq = 5")
        run = audit("report", "reconciliation", "--format", "csv", copy)
        self.assertEqual(run.returncode, 1)
        self.assertIn(b"DIFFERS", run.stdout)

    def test_impossible_numbers_of_winners_are_an_error(self):
        seq = next(record["seq"] for record in self.records
                   if "arithmetic" in record.get("awards", [{}])[0])
        file = 0 if seq < 51 else 1
        for winners in ("0", "-1", "9223372036854775807"):
            copy = self.tampered(file, "UPDATE journal SET payload = replace(payload, "
                                       f"'\"winners\":', '\"winners\":{winners},\"w\":') "
                                       f"WHERE seq = {seq}")
            for command in (("show", seq), ("report", "wins")):
                self.refused(audit(*command, copy), 1, f"record {seq} cannot be read", "winners")


class Rotated(FloorTest):
    NEXT_KEY = True

    def test_the_old_and_the_new_key_both_verify_it(self):
        for key in (self.vkey, self.next_vkey):
            text = self.good(audit("verify", "--key", key, self.journal))
            self.assertIn(self.next_vkey, text)
            self.assertIn("security 1", text)

    def test_the_last_checkpoint_has_the_new_key(self):
        self.good(audit("checkpoint", "--key", self.next_vkey, self.journal))
        self.refused(audit("checkpoint", "--key", self.vkey, self.journal), 1, "key was changed")
        check_note(last_note(self.journal), self.next_vkey, self.scratch)

    def test_a_holder_of_the_old_key_learns_how_to_continue(self):
        exports = [self.scratch / "export.csv", self.scratch / "export.jsonl"]
        for path in exports:
            audit("export", "--format", path.suffix[1:], "--out", path, self.journal)
        prefix = self.scratch / "one"
        audit("prove", 3, "--out", prefix, self.journal)
        check_proof = ("check-proof", f"{prefix}.record", f"{prefix}.tlog-proof")
        says = ("+".join(self.next_vkey.split("+")[:2]), "the journal's key was changed",
                "Verify the journal itself", "it names the key that took over")
        for path in exports:
            self.fault(audit("verify", "--key", self.vkey, path), *says)
        self.refused(audit(*check_proof, "--key", self.vkey), 1, *says)

        text = self.good(audit("verify", "--key", self.vkey, self.journal))
        named = re.search(r"the key (\S+) took over", text).group(1)
        for path in exports:
            self.good(audit("verify", "--key", named, path))
        self.good(audit(*check_proof, "--key", named))

    def test_a_key_of_another_journal_is_not_reported_as_rotated(self):
        other = verifier_key("moon.example/jackpot", public_key(self.keys[0]))
        export = self.scratch / "export.csv"
        audit("export", "--format", "csv", "--out", export, self.journal)
        text = self.fault(audit("verify", "--key", other, export), "of another journal")
        self.assertNotIn("was changed", text)

    def test_the_old_key_needs_the_segments_that_lead_to_the_new_one(self):
        last = self.journal / "journal.db"
        self.fault(audit("verify", "--key", self.vkey, last), "not a key that you gave",
                   "if the key was changed", "give them too")
        self.good(audit("verify", "--key", self.next_vkey, last))
        self.good(audit("verify", "--key", self.vkey, self.journal))

    def test_a_key_replaced_as_lost_must_be_handed_over(self):
        copy = self.scratch / "copy"
        shutil.copytree(self.journal, copy)
        third = self.write_key("third", "third")
        with Maker(copy) as floor:
            floor.do("open", name=NAME, key=str(third), at=5 * 86_400_000, lost=self.next_vkey,
                     by=["manager 1", "inspector 7"])
        for key in (self.vkey, self.next_vkey):
            self.fault(audit("verify", "--key", key, copy), "replaced as lost")
        self.good(audit("verify", "--key", verifier_key(NAME, public_key(third)), copy))


class Forged(AuditTest):
    """A person without the journal's key cannot continue the journal."""

    def rotation(self, seq, old, new):
        return json.dumps({"seq": seq, "time": MAY_1 + 9000, "kind": "key_rotated", "old": old,
                           "new": new, "lost": False, "by": ["a", "b"]}, separators=(",", ":"))

    def test_a_rotation_that_the_old_key_did_not_sign_is_detected(self):
        own = self.write_key("own", "own")
        evil = [self.write_key(name, name) for name in ("evil1", "evil2")]
        vkeys = [verifier_key(NAME, public_key(path)) for path in (own, *evil)]
        for chain in (1, 2):
            directory = self.scratch / f"journal{chain}"
            with Maker(directory) as floor:
                floor.do("create", name=NAME, key=str(own), at=0)
                floor.decide(1000, "site_configured", site=SITE)
                floor.do("commit")
                payloads = [self.rotation(2 + i, vkeys[i], vkeys[i + 1]) for i in range(chain)]
                floor.do("forge", payloads=payloads,
                         keys=[str(path) for path in evil[:chain][::-1]])
            with self.subTest(chain=chain):
                self.fault(audit("verify", "--key", vkeys[0], directory), "does NOT verify")


class Live(AuditTest):
    def test_a_journal_in_use_verifies(self):
        key = self.write_key("key", "live")
        vkey = verifier_key(NAME, public_key(key))
        journal = self.scratch / "journal"
        with Maker(journal) as floor:
            floor.do("create", name=NAME, key=str(key), at=0, snapshot_every=500)
            floor.decide(1000, "site_configured", site=SITE)
            floor.do("fill", rounds=200, batch=7, at=2000, step_ms=100)
            self.assertTrue((journal / "journal.db-wal").exists())
            ended = threading.Event()
            writer = threading.Thread(target=lambda: (
                floor.do("fill", rounds=20_000, batch=7, at=2000, step_ms=100), ended.set()))
            writer.start()
            sizes = []
            turns = 0
            while not ended.is_set() or turns == 0:
                turns += 1
                outcome = json.loads(self.good(audit("verify", "--json", "--key", vkey, journal)))
                sizes.append(outcome["end"])
                for form in ("jsonl", "csv"):
                    export = self.scratch / f"export.{form}"
                    export.unlink(missing_ok=True)
                    self.good(audit("export", "--format", form, "--out", export, journal), False)
                    self.good(audit("verify", "--key", vkey, export))
                self.good(audit("report", "reconciliation", journal))
                self.good(audit("tail", "-n", 5, journal))
            writer.join()
            self.assertEqual(sizes, sorted(sizes))
            self.assertEqual(len(sizes), turns)
            # No reader is left: the writer can close the segment.
            self.assertTrue(floor.do("segment", at=10_000_000).endswith(".db"))
            self.good(audit("verify", "--key", vkey, journal))

    def test_interrupted_commands_end_with_status_130(self):
        key = self.write_key("key", "live")
        journal = self.scratch / "journal"
        with Maker(journal) as floor:
            floor.do("create", name=NAME, key=str(key), at=0)
            floor.decide(1000, "site_configured", site=SITE)
            floor.do("fill", rounds=30_000, batch=500, at=2000, step_ms=100)
        vkey = verifier_key(NAME, public_key(key))
        for command in (("verify", "--key", vkey, journal),
                        ("export", "--format", "csv", "--out", self.scratch / "out", journal),
                        ("report", "wins", journal)):
            run = subprocess.Popen([AUDIT, *map(str, command)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
            try:
                run.wait(timeout=0.05)
            except subprocess.TimeoutExpired:
                pass
            run.terminate()
            output, errors = run.communicate(timeout=60)
            # It may have been too early (no handler yet) or too late (done).
            self.assertIn(run.returncode, (130, -15, 0), errors)
            if run.returncode == 130:
                self.assertEqual((output, errors), (b"", b"jackpot-audit: interrupted\n"))
            if run.returncode != 0:
                self.only("key", "journal")
            (self.scratch / "out").unlink(missing_ok=True)


if __name__ == "__main__":
    unittest.main()
