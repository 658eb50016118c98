"""jackpotctl journal on the command line; jackpot-audit verifies the results."""

import fcntl
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import tempfile
import unittest
from contextlib import closing
from pathlib import Path

from support.programs import JACKPOT_AUDIT, JACKPOTCTL, ROOT, run

EXAMPLE = ROOT / "docs" / "examples" / "bj-14.27.2.json"
NAME = "casino.example/floor1"


class JournalCommand(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.journal = self.folder / "journal"
        self.key, self.verifier = self.make_key("one.pem")

    def make_key(self, file, name=NAME):
        made = run(JACKPOT_AUDIT, "keygen", "--name", name, "--out", self.folder / file)
        self.assertEqual(made.returncode, 0, made.stderr)
        return self.folder / file, made.stdout.strip()

    def journal_command(self, *arguments):
        return run(JACKPOTCTL, "journal", *arguments)

    def record(self):
        done = self.journal_command("record", "--key", self.key, "--name", NAME, EXAMPLE, self.journal)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def verify(self, *keys):
        options = [part for key in keys for part in ("--key", key)]
        return run(JACKPOT_AUDIT, "verify", *options, self.journal)

    def payloads(self, file="journal.db"):
        with closing(sqlite3.connect(f"file:{self.journal / file}?mode=ro", uri=True)) as database:
            return [json.loads(row[0]) for row in database.execute("SELECT payload FROM journal ORDER BY seq")]

    def assert_refused(self, done, status, *words):
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        for word in words:
            self.assertIn(word, done.stderr)

    def test_create_makes_a_journal_that_verifies(self):
        done = self.journal_command("create", "--key", self.key, "--name", NAME, self.journal)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(self.verifier, done.stdout)
        self.assertEqual([each["kind"] for each in self.payloads()], ["journal_opened"])
        self.assertEqual(self.verify(self.verifier).returncode, 0)

    def test_record_enters_a_scenario(self):
        self.record()
        kinds = [each["kind"] for each in self.payloads()]
        self.assertEqual(kinds[:2], ["journal_opened", "site_configured"])
        self.assertEqual(kinds[-1], "settle_due")
        awards = self.payloads()[-1]["awards"]
        self.assertEqual([each["amount"] for each in awards], ["47500.00000000"] * 2)
        self.assertEqual(self.verify(self.verifier).returncode, 0)

    def test_record_refuses_a_scenario_that_cannot_run_and_leaves_nothing(self):
        broken = self.folder / "broken.json"
        broken.write_text('{"pools": [], "tables": [], "events": [1]}')
        done = self.journal_command("record", "--key", self.key, "--name", NAME, broken, self.journal)
        self.assert_refused(done, 2, "/events/0")
        self.assertFalse(self.journal.exists())

    def test_a_journal_is_not_made_over_another(self):
        self.record()
        before = self.payloads()
        done = self.journal_command("create", "--key", self.key, "--name", NAME, self.journal)
        self.assert_refused(done, 2, "there is a journal already")
        self.assertEqual(self.payloads(), before)

    def test_rotation_is_signed_by_both_keys(self):
        self.record()
        new_key, new_verifier = self.make_key("two.pem")
        done = self.journal_command("rotate-key", "--key", self.key, "--new-key", new_key, "--by", "ann", "--by", "bob",
                                    self.journal)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("\u2014 " + NAME), 2)
        record = self.payloads()[-1]
        self.assertEqual((record["kind"], record["by"], record["lost"]), ("key_rotated", ["ann", "bob"], False))
        self.assertEqual(self.verify(self.verifier).returncode, 0)
        self.assertEqual(self.verify(new_verifier).returncode, 0)
        done = self.journal_command("archive", "--key", self.key, self.journal)
        self.assert_refused(done, 6, "not signed with the key")

    def test_a_lost_key_needs_two_people_and_the_new_verifier_key(self):
        self.record()
        new_key, new_verifier = self.make_key("two.pem")
        done = self.journal_command("rotate-key", "--lost", self.verifier, "--new-key", new_key, "--by", "ann",
                                    "--by", "ann", self.journal)
        self.assert_refused(done, 2, "two different people")
        done = self.journal_command("rotate-key", "--lost", self.verifier, "--new-key", new_key, "--by", "ann",
                                    "--by", "bob", self.journal)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.verify(new_verifier).returncode, 0)
        old_alone = self.verify(self.verifier)
        self.assertEqual(old_alone.returncode, 1)
        self.assertIn("lost", old_alone.stdout + old_alone.stderr)

    def test_rotation_refuses_a_key_of_another_name_and_the_same_key(self):
        self.record()
        same = self.journal_command("rotate-key", "--key", self.key, "--new-key", self.key, "--by", "ann", self.journal)
        self.assert_refused(same, 2, "the new key is the old one")

    def test_archive_closes_a_read_only_segment_and_starts_a_new_file(self):
        self.record()
        records = len(self.payloads())
        done = self.journal_command("archive", "--key", self.key, self.journal)
        self.assertEqual(done.returncode, 0, done.stderr)
        segment = self.journal / f"segment-{0:012d}-{records:012d}.db"
        self.assertEqual(stat.S_IMODE(segment.stat().st_mode), 0o444)
        self.assertEqual([each["kind"] for each in self.payloads()], ["segment_opened"])
        self.assertEqual(self.payloads()[0]["seq"], records)
        self.assertEqual(self.verify(self.verifier).returncode, 0)

    def reader(self):
        """Opens the file like jackpot-audit: without a transaction, but with SQLite's lock."""
        database = sqlite3.connect(f"file:{self.journal / 'journal.db'}?mode=ro", uri=True)
        database.execute("SELECT count(*) FROM journal").fetchone()
        return closing(database)

    def test_archive_waits_for_readers(self):
        self.record()
        with self.reader():
            archiving = subprocess.Popen([JACKPOTCTL, "journal", "archive", "--key", self.key, self.journal],
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            with self.assertRaises(subprocess.TimeoutExpired):
                archiving.wait(timeout=1.5)
        output, errors = archiving.communicate(timeout=60)
        self.assertEqual(archiving.returncode, 0, errors)
        self.assertIn("closed ", output)
        self.assertEqual(self.verify(self.verifier).returncode, 0)

    def test_archive_stops_waiting_after_its_limit_and_changes_nothing(self):
        self.record()
        before = self.payloads()
        with self.reader():
            done = self.journal_command("archive", "--key", self.key, "--wait", "0", self.journal)
            self.assert_refused(done, 2, "a reader has it open")
        self.assertEqual(self.payloads(), before)
        self.assertEqual([each.name for each in self.journal.iterdir() if "segment" in each.name or "next" in each.name],
                         [])
        self.assertEqual(self.verify(self.verifier).returncode, 0)

    def test_an_interrupted_archive_is_finished_by_the_next_command(self):
        self.record()
        self.assertEqual(self.journal_command("archive", "--key", self.key, self.journal).returncode, 0)
        records = self.payloads()[0]["seq"] + 1
        (self.journal / "journal.db").rename(self.journal / "journal.db.next")
        done = self.verify(self.verifier)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(f"from 0 to {records - 1}", done.stdout)
        self.assert_refused(self.journal_command("create", "--key", self.key, "--name", NAME, self.journal), 2,
                            "there is a journal already")
        done = self.journal_command("archive", "--key", self.key, self.journal)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.payloads()[0]["seq"], records)
        self.assertFalse((self.journal / "journal.db.next").exists())

    def test_a_second_process_is_refused(self):
        self.record()
        with open(self.journal / "journal.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = self.journal_command("archive", "--key", self.key, self.journal)
        self.assert_refused(done, 4, "another process")

    def test_a_journal_that_does_not_verify_is_not_opened(self):
        self.record()
        with closing(sqlite3.connect(self.journal / "journal.db")) as database:
            database.execute("UPDATE journal SET payload = replace(payload, '405000', '505000') WHERE seq = 5")
            database.commit()
        done = self.journal_command("archive", "--key", self.key, self.journal)
        self.assert_refused(done, 5, "record 5")

    def test_a_key_that_others_can_read_is_refused(self):
        os.chmod(self.key, 0o644)
        done = self.journal_command("create", "--key", self.key, "--name", NAME, self.journal)
        self.assert_refused(done, 2, "chmod 600")

    def test_the_command_line_is_checked(self):
        for arguments, words in [
            ([], "takes create, record, rotate-key or archive"),
            (["burn"], "takes create"),
            (["create", self.journal], "--key is required (see jackpotctl journal create --help)"),
            (["archive", "--key", self.key, "--wait", "soon", self.journal], "--wait takes a number"),
            (["create", "--key", self.key, "--name", NAME], "DIRECTORY"),
            (["archive", "--key", self.key, self.folder / "nowhere"], "there is no journal here"),
            (["rotate-key", "--new-key", self.key, "--by", "ann", self.journal], "either --key FILE or --lost"),
        ]:
            with self.subTest(arguments=arguments):
                self.assert_refused(self.journal_command(*arguments), 2, words, "jackpotctl: ")
        self.assertEqual(self.journal_command("--help").returncode, 0)
        self.assertEqual(self.journal_command("create", "--help").returncode, 0)


if __name__ == "__main__":
    unittest.main()
