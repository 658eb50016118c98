"""A journal of an earlier version opens and continues; one of a later version is refused."""

import sqlite3
import tarfile
import tempfile
import unittest
from contextlib import closing
from pathlib import Path

from support.backup_site import VERIFIER, BackupTest
from support.desk_site import DeskTest
from support.programs import JACKPOT_AUDIT, JACKPOTCTL, JACKPOTD, must, run
from support.site import main

HERE = Path(__file__).resolve().parent


def set_version(file, version):
    """Sets the version of the file and returns the old one."""
    with closing(sqlite3.connect(file)) as database:
        before, = database.execute("PRAGMA user_version").fetchone()
        database.execute(f"PRAGMA user_version={version}")
        database.commit()
    return before


class Earlier(unittest.TestCase):
    def unpacked(self, name):
        folder = tempfile.TemporaryDirectory(prefix="jp")
        self.addCleanup(folder.cleanup)
        with tarfile.open(HERE / name) as archive:
            archive.extractall(folder.name)
        return Path(folder.name)

    def verified(self, folder):
        return run(JACKPOT_AUDIT, "verify", "--key", f"@{folder / 'vkey'}", folder / "journal")

    def test_a_journal_of_0_1_0_opens_and_continues(self):
        folder = self.unpacked("journal-of-0.1.0.tar.xz")
        done = self.verified(folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        must(JACKPOTCTL, "journal", "archive", "--key", folder / "journal.key", folder / "journal")
        must(JACKPOTCTL, "backup", "--journal", folder / "journal", folder / "copy")
        done = self.verified(folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        key = (folder / "vkey").read_text().strip()
        done = run("/usr/bin/python3", VERIFIER, "--key", key, folder / "copy")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_control_snapshots_of_another_format_are_detected(self):
        # Made before a pool's last win was part of the state. It shows what a change of the state's
        # text without a new version would do to the journal above.
        done = self.verified(self.unpacked("journal-of-other-snapshots.tar.xz"))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("segment_opened", done.stdout)


class Later(BackupTest):
    def test_a_journal_of_a_later_version_is_refused(self):
        self.site.start()
        self.play(self.raw(), "BJ01", 1, 1, 1)
        self.site.stop()
        file = self.site.journal / "journal.db"
        for version, status in ((2, 7), (999, 7), (0, 5)):
            set_version(file, version)
            done = run(JACKPOTD, "--config", self.site.config)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(f"its format is version {version}, this program knows version 1",
                          done.stderr)
            self.assertEqual("a newer version of jackpotd wrote it" in done.stderr, status == 7)
            done = run(JACKPOT_AUDIT, "verify", "--key", self.site.verifier, self.site.journal)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"its format is version {version}", done.stdout)
            self.nothing_left(self.backup("copy", status=status))
        set_version(file, 1)
        self.site.start()
        self.site.stop()
        self.site.verify()


class Beside(DeskTest):
    """The other databases: unknown accounts are refused, an unknown search index is rebuilt."""

    def test_another_version_of_people_db_is_refused_and_of_search_db_rebuilt(self):
        self.site.start()
        self.site.add("ann", "auditor")
        self.site.stop()
        people, search = self.site.journal / "people.db", self.site.journal / "search.db"
        version = set_version(people, 99)
        done = run(JACKPOTD, "--config", self.site.config)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("people.db: the file was made by another version of jackpotd", done.stderr)
        set_version(people, version)
        version = set_version(search, 99)
        self.site.start()
        found = self.signed_in("ann").get("/api/v1/records?kind=person_added").json["records"]
        self.assertEqual(len(found), 1)
        self.site.stop()
        self.assertEqual(set_version(search, version), version)


if __name__ == "__main__":
    main()
