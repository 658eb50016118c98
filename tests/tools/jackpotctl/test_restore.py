"""jackpotctl restore, and a journal that lacks records which tables have receipts for."""

import base64
import os
import re
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

from support import link_client
from support.backup_site import VERIFIER, BackupTest
from support.desk_commands import CommandTest
from support.programs import JACKPOT_AUDIT, JACKPOTCTL, JACKPOTD, ROOT, must, run
from support.site import hello, main


class Refused(BackupTest):
    """Backups that must be refused, and controls."""

    def setUp(self):
        super().setUp()
        self.site.start()
        raw = self.raw()
        self.play(raw, "BJ01", 1, 1, 2)
        self.old = self.backup("old")
        self.play(raw, "BJ01", 5, 3, 2)
        self.new = self.backup("new")
        self.site.stop()
        self.seen = self.keep(self.new, "seen")
        self.lost = self.lose_journal()

    def test_a_backup_behind_a_witness_is_refused(self):
        self.restore(self.old, "--witness", self.seen, status=1)
        self.assertIn("look for a newer copy first", self.output)
        self.nothing_left(self.site.journal)
        self.restore(self.old, "--witness", self.seen, "--accept-lost-records")
        behind = self.size(self.new) - self.size(self.old)
        self.assertIn(f"{behind} records are lost with it", self.output)
        self.verify(self.site.journal)

    def test_a_backup_as_new_as_the_witness_is_restored(self):
        self.restore(self.new, "--witness", self.seen, "--witness", self.keep(self.old, "first"))
        self.assertIn("have seen the same history", self.output)
        self.assertNotIn("No witness was given", self.output)
        self.assertEqual(self.checkpoint(self.site.journal), self.checkpoint(self.new))
        # The daemon and the tables continue with it.
        self.site.start()
        raw = self.raw(receipt=self.seen.read_bytes())
        self.assertEqual(raw.welcome.last_number, 8)
        self.assertFalse(raw.welcome.restored)
        self.play(raw, "BJ01", 9, 5, 1)
        self.site.stop()
        self.check_books()

    def test_without_a_witness_the_missing_check_is_reported(self):
        self.restore(self.old)
        self.assertIn("No witness was given", self.output)
        self.assertIn("The tables' receipts could not be checked", self.output)

    def test_the_witness_file_of_the_daemon_is_accepted_as_a_witness(self):
        lines = "".join(f"2026-11-16T21:00:00.000Z {self.size(each)} "
                        f"{base64.b64encode(self.checkpoint(each).encode()).decode()}\n"
                        for each in (self.old, self.new))
        file = self.site.folder / "lines"
        file.write_text(lines + "2026-11-16T21:00:00.000Z 7 cut")
        self.restore(self.old, "--witness", file, status=1)
        self.assertIn(f"has seen {self.size(self.new)}", self.output)
        file.write_text(lines.splitlines()[0] + "\n")
        self.restore(self.old, "--witness", file)

    def test_a_backup_with_another_history_than_the_witness_is_refused(self):
        self.restore(self.old)
        self.site.start()
        self.play(self.raw("BJ02"), "BJ02", 1, 1, 20)
        fork = self.backup("fork")
        self.site.stop()
        shutil.rmtree(self.site.journal)
        self.assertGreater(self.size(fork), self.size(self.new))
        for options in ([], ["--accept-lost-records"]):
            self.restore(fork, "--witness", self.seen, *options, status=1)
            self.assertIn("does NOT verify", self.output)
            self.nothing_left(self.site.journal)

    def test_invalid_witnesses_and_targets_are_rejected(self):
        for bad in (b"", b"garbage\n", bytes(range(256)) * 100,
                    self.seen.read_bytes().replace(b"test.example/floor\n", b"other\n")):
            file = self.site.folder / "bad"
            file.write_bytes(bad)
            self.restore(self.new, "--witness", file, status=2)
            self.nothing_left(self.site.journal)
        self.restore(self.new, "--witness", self.site.folder / "none", status=2)
        self.site.journal.mkdir()
        (self.site.journal / "mine").write_text("mine")
        self.restore(self.new, status=2)
        self.assertEqual([each.name for each in self.site.journal.iterdir()], ["mine"])
        self.restore(self.site.folder / "nowhere", to=self.site.folder / "there", status=2)

    def test_a_changed_backup_is_refused(self):
        file = self.new / "journal.db"
        data = bytearray(file.read_bytes())
        at = data.index(b'"round":3')
        data[at + 8:at + 9] = b"9"
        file.write_bytes(data)
        self.restore(self.new, status=1)
        self.nothing_left(self.site.journal)


    def test_a_receipt_of_another_history_in_an_archived_segment_locks_the_daemon(self):
        self.restore(self.old)
        self.site.start()
        self.play(self.raw("BJ02"), "BJ02", 1, 1, 20)
        ours = self.raw("BJ02")
        number = self.play(ours, "BJ02", 41, 21, 1)
        self.site.stop()
        must(JACKPOTCTL, "journal", "archive", "--key", self.site.folder / "journal.key",
             self.site.journal)
        self.site.start()
        raw = self.raw("BJ02", receipt=ours.receipt.note)
        self.assertEqual(raw.welcome.last_number, number - 1)
        raw = self.raw(greet=False)
        raw.send(hello(self.seen.read_bytes()))
        self.assertEqual(raw.goodbye(), "LOCKED")
        self.assertIn("another history", self.site.alarms("receipt")[0]["detail"])


class Documented(BackupTest):
    def test_the_commands_of_the_page_work(self):
        page = (ROOT / "docs" / "backup.md").read_text()
        blocks = re.findall(r"(?ms)^```console\n(.*?)^```$", page)
        self.assertEqual(len(blocks), 2)
        (self.site.folder / "journal.vkey").write_text(self.site.verifier + "\n")
        path = {str(Path(each).parent) for each in (JACKPOTCTL, JACKPOT_AUDIT, JACKPOTD)}
        env = {**os.environ, "PATH": ":".join([*path, os.environ["PATH"]])}

        def run_block(block):
            lines = block.splitlines()
            self.assertTrue(lines and all(line.startswith("$ ") for line in lines), lines)
            for line in lines:
                done = subprocess.run(["bash", "-c", line[2:]], cwd=self.site.folder, env=env,
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, line + "\n" + done.stdout + done.stderr)

        self.site.start()
        raw = self.raw()
        number = self.play(raw, "BJ01", 1, 1, 2)
        run_block(blocks[0])
        self.site.stop()
        run_block(blocks[1])
        self.site.start()
        self.play(self.raw(receipt=raw.receipt.note), "BJ01", number, 3, 1)
        self.site.stop()
        self.check_books()


class Story(CommandTest, BackupTest):
    """The disk is lost, the newest backup lacks records, and two people accept the loss."""

    def connect(self, table, patience=0.0):
        table.port = self.site.port
        return table.connect(patience=patience)

    def locked_out(self, table):
        with self.assertRaises(link_client.Goodbye) as caught:
            self.connect(table)
        self.assertEqual(caught.exception.why, "LOCKED")

    def play_round(self, table, number, seats=(1, 2)):
        table.wait(table.open(number, seats))
        return table.wait(table.result(number, ["9H"], {}))

    def lose_and_restore(self, backup):
        """The newest receipts of the lost journal."""
        self.site.stop()
        lost = self.lose_journal()
        self.restore(backup)
        self.start()
        with closing(sqlite3.connect(lost / "journal.db")) as database:
            rows = database.execute("SELECT note FROM checkpoint ORDER BY size DESC LIMIT 9")
            return [row[0].encode() for row in rows]

    def start(self):
        self.site.start()
        self.url = f"https://localhost:{self.site.desk_port}"
        self.where = ["--desk", self.url, "--ca", str(self.site.pki / "ca.pem")]

    def come_back(self, *names):
        """Signs people in again after a restart, which ends all sessions."""
        for name in names:
            done = self.login(name, home=self.site.folder / name)
            self.assertEqual(done.returncode, 0, done.stderr)

    def accept(self, lock, size=None, root=None):
        return ("accept-restore", "--size", size or lock["size"], "--root", root or lock["root"],
                "--reason", "the disk is gone, and this is the newest backup")

    def test_records_that_only_a_witness_has_seen_need_two_people(self):
        self.arrive("ada", "administrator")
        self.arrive("ivy", "inspector")
        raw = self.raw()
        number = self.play(raw, "BJ01", 1, 1, 1)
        old = self.backup("old")
        self.play(raw, "BJ01", number, 2, 3)
        new = self.backup("new")
        self.site.stop()
        seen = self.keep(new, "seen")
        self.lose_journal()
        self.restore(old, "--witness", seen, "--accept-lost-records")
        self.verify(self.site.journal)
        self.start()
        self.come_back("ada", "ivy")
        raw = self.raw("BJ02", greet=False)  # a table without a receipt
        raw.send(hello(b""))
        self.assertEqual(raw.goodbye(), "LOCKED")
        lock = self.json_by("ivy", "lock")
        self.assertEqual((lock["locked"], lock["tables"], lock["size"]),
                         (True, ["(witness)"], self.size(new)))
        self.assertIn("a witness has a receipt", self.site.alarms("receipt")[0]["detail"])
        self.by("ivy", *self.accept(lock))
        self.assertTrue(self.json_by("ada", "lock")["locked"])
        self.by("ada", *self.accept(lock))
        record, = self.site.records("restore_accepted")
        self.assertEqual((sorted(record["by"]), record["size"]), (["ada", "ivy"], self.size(new)))
        self.play(self.raw("BJ02"), "BJ02", 1, 1, 1)
        # The acceptance is in the journal, and so in its backups.
        again = self.backup("again")
        self.site.stop()
        self.lose_journal()
        self.restore(again)
        self.start()
        self.play(self.raw("BJ02"), "BJ02", 3, 2, 1)
        # Control: if the journal is as new as the witness, the daemon is not locked.
        self.site.stop()
        self.lose_journal()
        self.restore(new, "--witness", seen)
        self.start()
        self.raw()
        self.site.stop()
        self.verify(self.site.journal)

    def test_two_people_accept_a_journal_that_lost_records(self):
        for name, role in (("ada", "administrator"), ("ann", "administrator"),
                           ("ivy", "inspector"), ("sue", "supervisor")):
            self.arrive(name, role)
        one, two, idle = self.table("BJ01"), self.table("BJ02"), self.table("UTH01")
        for table in (one, two, idle):
            self.connect(table)
        self.play_round(one, 1)
        self.play_round(two, 1)
        self.assertEqual(self.json_by("ada", "lock")["locked"], False)
        self.assertIn("the daemon is not locked",
                      self.refused("ada", "accept-restore", "--size", 1, "--root", "x",
                                   "--reason", "x"))
        backup = self.backup("backup", "--key", self.site.verifier)
        self.play_round(one, 2)
        self.play_round(one, 3)
        self.play_round(two, 2)
        one.wait(one.open(4, [1]))
        last = one.outbox.memory["last"]  # 7
        abandoned = bytes.fromhex(one.outbox.memory["receipt"])
        shown_too = bytes.fromhex(two.outbox.memory["receipt"])
        # Only the table knows these.
        one.disconnect()
        one.result(4, ["9H"], {})
        two.disconnect()
        two.send(suspend=link_client.pb.Suspend(reason=b"spilled drink", by=b"sue"))
        idle.disconnect()

        given = self.lose_and_restore(backup)
        self.connect(idle)  # has no receipt for a lost record
        self.locked_out(one)
        self.locked_out(two)
        self.locked_out(idle)
        # People can sign in; the daemon decides nothing.
        self.come_back("ada", "ann", "ivy", "sue")
        lock = self.json_by("ivy", "lock")
        self.assertEqual((lock["locked"], lock["tables"]), (True, ["BJ01", "BJ02"]))
        self.assertEqual(lock["size"], int(abandoned.split(b"\n")[1]))
        self.assertIn("rolled back", lock["why"])
        self.assertIn("rolled back", self.ctl("suspend", "table", "BJ01", "--reason", "x",
                                              home=self.site.folder / "sue").stderr)
        self.assertIn("role", self.refused("sue", *self.accept(lock)))
        self.assertIn("read the lock again", self.refused("ivy", *self.accept(lock, size=3)))
        self.assertIn("read the lock again", self.refused("ivy", *self.accept(lock, root="AAAA")))
        # Neither one person nor two administrators can accept it.
        for _ in range(2):
            self.assertIn("one more", self.by("ada", *self.accept(lock)))
        self.refused("ann", *self.accept(lock))
        self.assertEqual(self.site.records("restore_accepted"), [])
        self.locked_out(one)
        self.assertEqual(self.json_by("ivy", "lock")["agreed"], "ada")
        self.assertIn("decides again", self.by("ivy", *self.accept(lock)))
        record, = self.site.records("restore_accepted")
        self.assertEqual((record["by"], record["size"], record["root"]),
                         (["ada", "ivy"], lock["size"], lock["root"]))
        self.assertEqual([each["table"] for each in record["receipts"]], ["BJ01", "BJ02"])

        # Tables continue: commands in their outboxes count once, lost ones are reported.
        welcome = self.connect(one)
        self.assertTrue(welcome.restored)
        self.assertEqual((welcome.last_number, list(one.lost)), (2, list(range(3, last + 1))))
        refused = one.wait(3)  # the result of a round that was opened on the lost branch
        self.assertEqual(refused.refusal.code, b"wrong_round", refused)
        self.play_round(one, 5)
        self.connect(two)
        self.assertFalse(two.wait(3).HasField("refusal"))  # the suspension
        self.assertFalse(self.connect(idle).restored)
        details = {each["table"]: each["detail"] for each in self.site.alarms("commands_lost")}
        self.assertIn("3 to 7 of this table (5)", details["BJ01"])
        self.assertIn("3 to 4 of this table (2)", details["BJ02"])
        self.assertNotIn("UTH01", details)
        one.idle(1.5)  # and their counts agree
        self.assertEqual(self.site.alarms("wager_count"), [])

        # The acceptance is in the journal; a table drops its old receipt and gets a new one.
        second = self.backup("second")
        self.play_round(one, 6)
        self.site.stop()
        self.start()
        self.assertFalse(self.connect(one, patience=5).restored)
        self.assertTrue(self.raw("BJ02", receipt=abandoned).welcome.restored)
        self.site.stop()
        # The file with the position is only an index: without it, or with a wrong one, the daemon locks again.
        accepted = self.site.journal / "accepted-restores"
        kept = accepted.read_text()
        self.assertEqual(kept, f"{record['seq']}\n")
        for other in ("", f"0\n{record['seq'] - 1}\n999999\nnonsense\n"):
            accepted.write_text(other)
            self.start()
            raw = self.raw("BJ02", greet=False)
            raw.send(hello(abandoned))
            self.assertEqual(raw.goodbye(), "LOCKED")
            self.site.stop()
        accepted.write_text(kept)
        self.verify(self.site.journal)
        done = run("/usr/bin/python3", VERIFIER, "--key", self.site.verifier, self.site.journal)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

        # A second loss is detected like the first, despite the acceptance.
        self.lose_journal()
        self.restore(second)
        self.start()
        self.assertTrue(self.raw("BJ02", receipt=abandoned).welcome.restored)
        self.locked_out(one)
        self.site.stop()
        # A receipt of the lost branch that nobody has accepted is detected, too.
        other = next(each for each in given if each not in (abandoned, shown_too))
        self.start()
        raw = self.raw("BJ02", greet=False)
        raw.send(hello(other))
        self.assertEqual(raw.goodbye(), "LOCKED")
        self.check_no_secrets()


if __name__ == "__main__":
    main()
