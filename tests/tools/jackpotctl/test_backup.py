"""jackpotctl backup: the copy is complete or absent, and verified; tables are not delayed."""

import os
import sqlite3
import subprocess
import threading
import time
from contextlib import closing
from pathlib import Path

from support.backup_site import FAIL_DISK, BackupTest
from support.programs import JACKPOT_AUDIT, JACKPOTCTL, must, run
from support.site import main, open_round, result

IN_FLIGHT = 30
LOG_BYTES = 1500 * (4096 + 24) + 32  # the largest size of the writer's write-ahead log


class Load:
    """A table that plays as fast as it can, in a thread of its own."""

    def __init__(self, raw):
        self.raw, self.number, self.round = raw, 1, 1
        self.stop, self.slowest, self.requests = threading.Event(), 0.0, 0

    def __enter__(self):
        self.slowest, self.requests = 0.0, 0
        self.stop.clear()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()

    def batch(self):
        frames = b""
        for _ in range(IN_FLIGHT // 2):
            frames += self.raw.command(self.number, open_round=open_round(self.round, (1, 2, 3)))
            frames += self.raw.command(self.number + 1, report_result=result(self.round))
            self.number, self.round = self.number + 2, self.round + 1
        began = time.monotonic()
        self.raw.send_bytes(frames)
        self.raw.answer(self.number - 1, 30)
        self.slowest = max(self.slowest, time.monotonic() - began)
        self.requests += 1

    def run(self):
        while not self.stop.is_set():
            self.batch()


class Running(BackupTest):
    def log_bytes(self):
        return (self.site.journal / "journal.db-wal").stat().st_size

    def test_a_backup_under_load_is_complete_and_delays_no_table(self):
        self.site.start()
        load = Load(self.raw())
        with load:
            time.sleep(4)
        alone = load.slowest
        with load:
            began = time.monotonic()
            first = self.backup("first", "--key", self.site.verifier)
            took = time.monotonic() - began
            meanwhile = load.requests
            self.backup("second")
        with_backup = load.slowest
        self.assertGreater(meanwhile, 3, "nothing was decided while it was copied")
        self.assertLess(with_backup, max(20 * alone, 1.5), f"it took {took:.1f} s")
        # The log was moved into the file during the backup.
        self.assertLess(self.log_bytes(), 2 * LOG_BYTES)
        self.verify(first)
        kept = self.keep(first, "kept")
        self.verify(self.site.journal, "--since", kept)
        self.assertGreater(self.size(self.site.journal), self.size(first))
        # Control: during one long transaction the log grows.
        file = f"file:{self.site.journal / 'journal.db'}?mode=ro"
        with closing(sqlite3.connect(file, uri=True, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM checkpoint").fetchone()
            end = time.monotonic() + 60
            with load:
                while self.log_bytes() < 2 * LOG_BYTES and time.monotonic() < end:
                    time.sleep(0.1)
        self.assertGreaterEqual(self.log_bytes(), 2 * LOG_BYTES)
        self.site.stop()
        self.site.verify()

    def test_a_killed_backup_is_complete_or_absent(self):
        self.site.start()
        load = Load(self.raw())
        with load:
            time.sleep(2)
        self.site.stop()
        began = time.monotonic()
        self.backup("whole")
        took = time.monotonic() - began
        target = self.site.folder / "killed"
        unfinished = Path(f"{target}.unfinished")
        halves = 0
        for step in range(24):
            process = subprocess.Popen([JACKPOTCTL, "backup", "--config", str(self.site.config),
                                        str(target)], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(took * (step + 0.5) / 24)
            process.kill()
            process.wait()
            if target.exists():
                self.verify(target)
                target.rename(self.site.folder / f"done{step}")
                continue
            if (unfinished / "journal.db").exists():
                halves += 1
        self.assertGreater(halves, 0, "no kill was in the middle")
        self.backup("killed")
        self.verify(target)
        self.assertFalse(unfinished.exists())

    def test_two_simultaneous_backups_to_one_name(self):
        self.site.start()
        load = Load(self.raw())
        with load:
            time.sleep(1)
        processes = [subprocess.Popen([JACKPOTCTL, "backup", "--config", str(self.site.config),
                                       str(self.site.folder / "one")], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE) for _ in range(3)]
        outputs = [each.communicate(timeout=60) for each in processes]
        codes = sorted(each.returncode for each in processes)
        self.assertEqual(codes[0], 0, outputs)
        self.assertTrue(set(codes[1:]) <= {2, 4}, (codes, outputs))
        self.verify(self.site.folder / "one")


class Idle(BackupTest):
    """Backups while no daemon runs: refusals and contents."""

    def setUp(self):
        super().setUp()
        self.site.start()
        self.play(self.raw(), "BJ01", 1, 1, 5)
        self.site.stop()

    def test_a_backup_contains_the_segments_and_prints_its_result(self):
        for _ in range(2):
            must(JACKPOTCTL, "journal", "archive", "--key", self.site.folder / "journal.key",
                 self.site.journal)
        target = self.backup("copy", "--key", self.site.verifier)
        self.assertEqual({each.name for each in target.iterdir()},
                         {each.name for each in self.site.journal.iterdir()
                          if each.suffix == ".db"})
        self.assertIn("Private keys are not in it", self.output)
        self.assertTrue(self.output.endswith(self.checkpoint(self.site.journal)), self.output)
        self.assertIn("verifies", self.verify(target))
        # Without --key a remark is printed.
        self.backup("other")
        self.assertIn("give --key", self.output)

    def test_a_backup_contains_no_secret(self):
        target = self.backup("copy")
        found = [file for file in target.rglob("*") if b"PRIVATE KEY" in file.read_bytes()]
        self.assertEqual(found, [])
        self.assertIn(b"PRIVATE KEY", (self.site.folder / "journal.key").read_bytes())

    def test_nothing_is_overwritten(self):
        target = self.site.folder / "taken"
        target.mkdir()
        self.backup("taken")  # an empty directory is accepted
        before = (target / "journal.db").read_bytes()
        self.backup("taken", status=2)
        self.assertIn("nothing is overwritten", self.output)
        self.assertEqual((target / "journal.db").read_bytes(), before)
        (self.site.folder / "file").write_text("mine")
        self.backup("file", status=2)
        self.assertEqual((self.site.folder / "file").read_text(), "mine")

    def test_a_failing_disk_leaves_nothing(self):
        switch = self.site.folder / "fail"
        env = {**os.environ, "LD_PRELOAD": FAIL_DISK, "JACKPOT_FAIL": str(switch)}
        target = self.site.folder / "copy"
        for how in ("write 0", "write 5", "sync 0", "sync 2"):
            switch.write_text(how)
            done = subprocess.run([JACKPOTCTL, "backup", "--config", str(self.site.config),
                                   str(target)], capture_output=True, text=True, env=env,
                                  timeout=60)
            self.assertEqual(done.returncode, 3, (how, done.stdout, done.stderr))
            self.nothing_left(target)
        switch.unlink()
        self.backup("copy")

    def test_a_journal_that_was_changed_is_not_backed_up(self):
        with closing(sqlite3.connect(self.site.journal / "journal.db")) as database:
            database.execute("UPDATE journal SET payload = replace(payload, '\"round\":2',"
                             " '\"round\":7') WHERE payload LIKE '%\"round\":2%'")
            database.commit()
        target = self.backup("copy", "--key", self.site.verifier, status=1)
        self.assertIn("does NOT verify", self.output)
        self.nothing_left(target)

    def test_a_wrong_key_and_a_missing_journal_are_refused(self):
        other = must(JACKPOT_AUDIT, "keygen", "--name", "test.example/floor", "--out",
                     self.site.folder / "other.key").strip()
        self.nothing_left(self.backup("copy", "--key", other, status=1))
        done = run(JACKPOTCTL, "backup", "--journal", self.site.folder, self.site.folder / "copy")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no journal here", done.stderr)
        for wrong in ([], ["a", "b"], ["--journal", "x", "--config", "y", "z"], ["--to", "x"]):
            done = run(JACKPOTCTL, "backup", *wrong)
            self.assertEqual((done.returncode, done.stdout), (2, ""), wrong)


if __name__ == "__main__":
    main()
