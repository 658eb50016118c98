"""What the tests of backups share: a site, jackpotctl backup and restore, and checkpoints."""

import os
import shutil
from pathlib import Path

from support.programs import JACKPOT_AUDIT, JACKPOTCTL, ROOT, must, run
from support.site import SiteTest

FAIL_DISK = os.environ["FAIL_DISK"]
VERIFIER = ROOT / "tests" / "storage" / "verifier.py"


class BackupTest(SiteTest):
    def backup(self, name, *options, status=0, **more):
        """Makes a backup and returns its directory; self.output has the text that was printed."""
        target = self.site.folder / name
        done = run(JACKPOTCTL, "backup", "--config", self.site.config, *options, target, **more)
        self.output = done.stdout + done.stderr
        self.assertEqual(done.returncode, status, self.output)
        return target

    def restore(self, backup, *options, to=None, status=0):
        done = run(JACKPOTCTL, "restore", backup, "--to", to or self.site.journal, "--key",
                   self.site.verifier, *options)
        self.output = done.stdout + done.stderr
        self.assertEqual(done.returncode, status, self.output)

    def lose_journal(self):
        """Removes the journal, as if the disk were lost; a copy is kept for the test."""
        lost = self.site.folder / "lost"
        shutil.rmtree(lost, ignore_errors=True)
        self.site.journal.rename(lost)
        return lost

    def verify(self, directory, *options, status=0):
        done = run(JACKPOT_AUDIT, "verify", "--key", self.site.verifier, *options, directory)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def checkpoint(self, directory):
        return must(JACKPOT_AUDIT, "checkpoint", directory)

    def keep(self, directory, name):
        file = self.site.folder / name
        file.write_text(self.checkpoint(directory))
        return file

    def size(self, directory):
        return int(self.checkpoint(directory).splitlines()[1])

    def nothing_left(self, target):
        self.assertFalse(target.exists())
        self.assertFalse(Path(f"{target}.unfinished").exists())
