"""The package under a real apt and a real systemd, in a container that boots: installed, set up as
jackpotd(8) says, played on, upgraded, removed and purged. Where there can be no container, it says
why and is skipped."""

import hashlib
import os
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from packages import JACKPOTD, changed, field, package, replace

from support.container import Container, Impossible
from support.programs import ROOT

SKIPPED = 77
UNIT = "jackpotd.service"
CONFIG = "/etc/jackpotd/jackpotd.toml"
KEPT = ("/etc/jackpotd", "/var/lib/jackpotd")
# The changes of the sample that jackpotd(8) describes, and the addresses of the container.
EDITS = (('directory = "journal"', 'directory = "/var/lib/jackpotd/journal"'), ('key = "journal.key"', ""),
         ('player_card_key = "player_card.key"', ""), ('"pki/server/', '"tls/'), ('"pki/', '"tls/'))


def set_up_commands():
    """The commands of the man page, for a shell."""
    source = (ROOT / "docs/man/jackpotd.8").read_text()
    block = re.search(r"(?ms)^\.Sh SETTING UP A SITE$.*?^\.Bd[^\n]*\n(.*?)^\.Ed", source)[1]
    return block.replace("\\e", "\\")


class Install(unittest.TestCase):
    """The tests build on each other and run in the order of their names."""

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="jp-install"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        purge = 'if [ "$1" = purge ]; then'
        for number, spoil in ((2, None), (3, None), (6, None),
                              (4, ("postinst", f"elif systemctl --quiet is-active {UNIT}", "elif true")),
                              (5, ("postrm", purge, purge + "\n    rm -rf /var/lib/jackpotd"))):
            cls.make(number, spoil)
        shutil.copy(package(JACKPOTD), cls.folder / "jackpotd-1.deb")
        try:
            cls.container = Container(Path(os.environ["BUILD"]) / "service-root", cls.folder / "boot.log",
                                      [(cls.folder, "/packages", True)])
        except Impossible as why:
            print(f"skipped: {why}", file=sys.stderr, flush=True)
            cls.doClassCleanups()
            os._exit(SKIPPED)
        cls.addClassCleanup(cls.container.close)

    @classmethod
    def make(cls, number, spoil):
        """The next version of the package, with a planted fault if `spoil` is given."""
        def change(tree):
            replace(tree / "DEBIAN/control", field(package(JACKPOTD), "Version"), f"99-{number}")
            if spoil:
                script, old, new = spoil
                replace(tree / "DEBIAN" / script, old, new)

        work = cls.folder / "work"
        work.mkdir()
        changed(package(JACKPOTD), work, change).rename(cls.folder / f"jackpotd-{number}.deb")
        shutil.rmtree(work)

    # ---- commands in the container

    def run_there(self, *command, status=0):
        done = self.container.run(*command, timeout=300)
        if status is not None:
            self.assertEqual(done.returncode, status, f"{command}: {done.stdout}{done.stderr}\n{self.log()}")
        return done.stdout + done.stderr

    def log(self):
        done = self.container.run("journalctl", "-q", "-n", "30", "-o", "cat", "-u", UNIT)
        return done.stdout

    def apt(self, *arguments):
        return self.run_there("env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8", "apt-get", "-q", "-y",
                              *arguments)

    def install(self, number):
        return self.apt("install", "--allow-downgrades", f"/packages/jackpotd-{number}.deb")

    def show(self, name):
        return self.run_there("systemctl", "show", "-P", name, UNIT).strip()

    def enabled(self):
        return self.run_there("systemctl", "is-enabled", UNIT, status=None).split()[0]

    def play(self):
        """Plays rounds at a table; floorsim compares every message with its own books."""
        self.run_there("floorsim", "--config", CONFIG, "--pki", "/root/pki", "--tables", "BJ01", "--rounds", "3",
                       "--patience", "60")

    def rounds(self):
        """The number of rounds in the journal."""
        output = self.run_there("jackpot-audit", "export", "--format", "jsonl", "--kind", "round_opened",
                              "/var/lib/jackpotd/journal")
        return int(re.search(r"exported (\d+) records", output)[1])

    def kept(self):
        """Contents, owner and mode of each file that must outlive the package."""
        found = {}
        for top in KEPT:
            root = self.container.path(top)
            for path in [root, *root.rglob("*")] if root.exists() else []:
                if path.is_socket():
                    continue
                status = path.stat()
                data = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
                found[str(path)] = status.st_uid, status.st_mode, data
        return found

    # ---- the tests

    def test_1_after_installation_the_daemon_waits_for_its_configuration(self):
        output = self.install(1)
        self.assertIn("jackpotd starts once there is /etc/jackpotd/jackpotd.toml", output)
        self.assertEqual(self.enabled(), "enabled")
        self.assertEqual(self.show("ActiveState"), "inactive", self.log())
        self.assertEqual(self.run_there("stat", "-c", "%U:%G %a", "/var/lib/jackpotd").strip(),
                         "jackpotd:jackpotd 700")
        for program in ("jackpotd", "jackpotctl", "jackpot-audit", "floorsim"):
            self.assertIn(program, self.run_there(program, "--version"))
        completed = self.run_there("bash", "-c", "source /usr/share/bash-completion/completions/jackpotctl; "
                                   "COMP_WORDS=(jackpotctl pki re); COMP_CWORD=2; _jackpotctl; "
                                   "echo ${COMPREPLY[*]}")
        self.assertEqual(completed.split(), ["renew", "revoke"])

    def test_2_the_setup_of_the_manual_works(self):
        edits = "\n".join(f"sed -i 's|^{old}|{new}|; s|= {old}|= {new}|' jackpotd.toml" for old, new in EDITS)
        commands = set_up_commands().replace("--host jackpot.star.example", "--host 127.0.0.1")
        self.assertIn("editor jackpotd.toml", commands)
        self.run_there("bash", "-euc", commands.replace("editor jackpotd.toml", edits))
        self.assertEqual(self.show("ActiveState"), "active", self.log())
        self.play()
        self.assertEqual(self.rounds(), 3)

    def test_3_an_upgrade_restarts_the_daemon_and_keeps_all_data(self):
        before, config = self.show("MainPID"), self.container.path(CONFIG).read_bytes()
        self.install(2)
        self.assertEqual(self.show("ActiveState"), "active", self.log())
        self.assertNotEqual(self.show("MainPID"), before)
        self.assertEqual(self.container.path(CONFIG).read_bytes(), config)
        self.play()
        self.assertEqual(self.rounds(), 6)

    def test_4_an_upgrade_reports_a_daemon_that_does_not_start(self):
        config = self.container.path(CONFIG)
        good = config.read_text()
        config.write_text(good + "[unheard-of]\n")
        self.assertIn("jackpotd did not start", self.install(6))
        self.assertEqual(self.show("ActiveState"), "failed")
        config.write_text(good)
        self.run_there("systemctl", "start", UNIT)

    def test_5_a_stopped_service_stays_stopped(self):
        self.run_there("systemctl", "stop", UNIT)
        before = self.kept()
        self.assertIn("jackpotd was not running and is not started", self.install(3))
        self.assertEqual(self.show("ActiveState"), "inactive")
        self.assertEqual(self.kept(), before)
        self.install(4)  # control: this version starts a stopped service, and the test detects it
        self.assertEqual(self.show("ActiveState"), "active", self.log())

    def test_6_a_disabled_service_stays_disabled(self):
        self.run_there("systemctl", "disable", UNIT)
        before = self.show("MainPID")
        self.install(3)
        self.assertEqual((self.show("ActiveState"), self.enabled()), ("active", "disabled"))
        self.assertNotEqual(self.show("MainPID"), before)

    def test_7_removing_and_purging_keeps_the_journal(self):
        pid = self.show("MainPID")
        self.apt("remove", JACKPOTD)
        self.assertFalse(self.container.path(f"/proc/{pid}").exists(), "it still runs")
        self.assertFalse(self.container.path("/usr/sbin/jackpotd").exists())
        before = self.kept()
        self.assertIn(str(self.container.path("/var/lib/jackpotd/journal/journal.db")), before)
        output = self.apt("purge", JACKPOTD)
        for each in KEPT:
            self.assertIn(f"jackpotd: {each} is left as it is", output)
        self.assertEqual(self.kept(), before)

    def test_8_after_a_new_installation_the_journal_continues(self):
        self.install(1)
        self.assertEqual(self.show("ActiveState"), "active", self.log())
        self.play()
        self.assertEqual(self.rounds(), 9)
        key = self.run_there("jackpot-audit", "pubkey", "--name", "star.example/jackpot",
                             "/etc/jackpotd/journal.key").strip()
        self.run_there("jackpot-audit", "verify", "--key", key, "/var/lib/jackpotd/journal")

    def test_9_control_a_package_that_deletes_the_journal_is_detected(self):
        self.install(5)
        self.apt("remove", JACKPOTD)
        before = self.kept()
        self.apt("purge", JACKPOTD)
        self.assertNotEqual(self.kept(), before)


if __name__ == "__main__":
    unittest.main(verbosity=2, failfast=True)
