"""The daemon as systemd runs it, with the units as they are installed, in a container that boots.
If no container can run, the tests are skipped with the reason."""

import ctypes
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import unittest
from contextlib import closing
from pathlib import Path

from support.container import LIBC, Container, Impossible, prepare
from support.programs import JACKPOT_AUDIT, JACKPOTCTL, JACKPOTD, ROOT, must, run, until
from support.site import Account, Display, Gone, Site, SiteTest, open_round

BUILD = Path(os.environ["BUILD"])
SKIPPED = 77
UNIT = "jackpotd.service"
SOCKET = "jackpotd-modbus.socket"
CONFIG = "/etc/jackpotd/jackpotd.toml"
LINK, DESK = 7707, 7780
RESTART_S = 2  # as the unit has it
WATCHDOG_S = 4
PATIENCE_S = 60  # enough for a busy machine
PTRACE_SEIZE, PTRACE_INTERRUPT, WALL = 0x4206, 0x4207, 0x40000000


class ServiceSite(Site):
    """A site with the layout of docs/service.md: files of root, and files of the daemon."""

    def __init__(self):
        self.listen_for_displays = None
        self.etc = None
        super().__init__()
        self.etc, self.state = self.folder / "etc", self.folder / "state"
        tls = self.etc / "tls"
        tls.mkdir(parents=True)
        self.mount_state()
        for name in ("journal.key", "player_card.key"):
            shutil.move(self.folder / name, self.etc / name)
        for name in ("ca.pem", "crl.pem", "server/jackpotd.pem", "server/jackpotd.key"):
            shutil.copy(self.pki / name, tls)
        shutil.move(self.journal, self.state / "journal")
        self.journal = self.state / "journal"
        self.config = self.etc / "jackpotd.toml"
        self.port = LINK
        self.write_config()

    def mount_state(self):
        """Mounts a separate file system, which can be frozen."""
        image = self.folder / "disk"
        with open(image, "wb") as disk:
            disk.truncate(64 << 20)
        self.state.mkdir()
        for command in (("mkfs.ext4", "-q", image), ("mount", "-o", "loop", image, self.state)):
            done = run(*command)
            if done.returncode != 0:
                raise Impossible(f"{command[0]}: {done.stderr}")

    def close(self):
        run("umount", "--lazy", self.state)
        super().close()

    def write_config(self):
        super().write_config()
        if self.etc is None:
            return
        text = self.config.read_text()
        for old, new in (('directory = "journal"', 'directory = "/var/lib/jackpotd/journal"'),
                         ('key = "journal.key"\n', ""),
                         ('player_card_key = "player_card.key"\n', ""),
                         ('"pki/server/', '"tls/'), ('"pki/', '"tls/'),
                         ('"127.0.0.1:0"', f'"0.0.0.0:{LINK}"')):
            if old not in text:
                raise AssertionError(f"{old} is not in the configuration")
            text = text.replace(old, new)
        text += (f'[desk]\nlisten = "127.0.0.1:{DESK}"\ncertificate = "tls/jackpotd.pem"\n'
                 'key = "tls/jackpotd.key"\n')
        if self.listen_for_displays:
            text += f'[meters]\nlisten = "{self.listen_for_displays}"\nallow = ["127.0.0.0/8"]\n'
        self.config.write_text(text)

    def give_to(self, uid):
        for path in (self.state, *self.state.rglob("*"), self.etc / "tls" / "jackpotd.key"):
            os.chown(path, uid, uid)


class Service(SiteTest):
    """Each test starts with a stopped service and continues the same journal."""

    @classmethod
    def setUpClass(cls):
        try:
            cls.boot()
        except Impossible as why:
            print(f"skipped, because there can be no container: {why}", file=sys.stderr, flush=True)
            cls.doClassCleanups()
            os._exit(SKIPPED)

    @classmethod
    def boot(cls):
        began = time.monotonic()
        prepare(BUILD / "service-root")
        cls.site = ServiceSite()
        cls.addClassCleanup(cls.site.close)
        installed = cls.site.folder / "installed"
        subprocess.run(["cmake", "--install", BUILD / "systemd", "--prefix", "/usr"],
                       check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "DESTDIR": str(installed)})
        binds = [(cls.site.etc, "/etc/jackpotd", False),
                 (cls.site.state, "/var/lib/jackpotd", False),
                 (JACKPOTD, "/usr/sbin/jackpotd", True),
                 (JACKPOTCTL, "/usr/bin/jackpotctl", True),
                 (JACKPOT_AUDIT, "/usr/bin/jackpot-audit", True)]
        for file in (installed / "usr" / "lib").rglob("*"):
            if file.is_file():
                binds.append((file, "/" + str(file.relative_to(installed)), True))
        cls.container = Container(BUILD / "service-root", cls.site.folder / "boot.log", binds)
        cls.addClassCleanup(cls.container.close)
        print(f"    a container has booted after {time.monotonic() - began:.1f} s", file=sys.stderr)
        cls.container.join_network()
        cls.uid = int(cls.container.run("id", "-u", "jackpotd").stdout)
        cls.site.give_to(cls.uid)
        cls.account = Account()
        cls.number, cls.round = 1, 1

    def setUp(self):
        self.addCleanup(self.tidy)

    def tidy(self):
        self.systemctl("disable", SOCKET)
        self.systemctl("stop", UNIT, SOCKET)
        self.systemctl("reset-failed")
        shutil.rmtree(self.container.path(f"/etc/systemd/system/{UNIT}.d"), ignore_errors=True)
        self.systemctl("daemon-reload")
        self.site.listen_for_displays = None
        self.site.write_config()

    # ---- commands in the container

    def systemctl(self, *arguments, timeout=90):
        return self.container.run("systemctl", *arguments, timeout=timeout)

    def show(self, name, unit=UNIT):
        return self.systemctl("show", "-P", name, unit).stdout.strip()

    def start(self):
        done = self.systemctl("start", UNIT)
        self.assertEqual(done.returncode, 0, done.stderr + self.log())

    def refused(self, status):
        """Starting fails with this status, and systemd does not retry."""
        before = self.starts()
        self.assertNotEqual(self.systemctl("start", UNIT).returncode, 0)
        time.sleep(2 * RESTART_S)
        self.assertEqual(self.show("ActiveState"), "failed")
        self.assertEqual(self.show("ExecMainStatus"), str(status), self.log())
        self.assertEqual(self.starts() - before, 1, self.log())
        self.assertEqual(self.listening(), set())

    def starts(self):
        """How often systemd has started it since the container has booted."""
        log = self.container.run("journalctl", "--no-pager", "-o", "cat", "-u", UNIT).stdout
        return log.count(f"Starting {UNIT}")

    def log(self):
        """The end of its log."""
        return self.container.run("journalctl", "--no-pager", "-o", "cat", "-u", UNIT, "-n",
                                  "40").stdout

    def drop_in(self, text):
        folder = self.container.path(f"/etc/systemd/system/{UNIT}.d")
        folder.mkdir(exist_ok=True)
        (folder / "test.conf").write_text(text)
        self.systemctl("daemon-reload")

    def main_pid(self):
        """The process id on this machine."""
        return self.container.pid_here(int(self.show("MainPID")))

    @staticmethod
    def listening():
        """TCP ports on the container's network."""
        ports = set()
        for name in ("tcp", "tcp6"):
            for line in Path(f"/proc/thread-self/net/{name}").read_text().splitlines()[1:]:
                words = line.split()
                if words[3] == "0A":
                    ports.add(int(words[1].rpartition(":")[2], 16))
        return ports

    def play_on(self, rounds=2):
        raw = self.raw()
        self.number = self.play(raw, "BJ01", self.number, self.round, rounds)
        type(self).number, type(self).round = self.number, self.round + rounds
        return raw

    # ---- the tests

    def test_the_units_are_without_fault(self):
        for unit in (UNIT, SOCKET):
            done = self.container.run("systemd-analyze", "verify",
                                      f"/usr/lib/systemd/system/{unit}")
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))
        bad = self.container.path("/run/systemd/system/jackpotd-bad.service")
        bad.parent.mkdir(exist_ok=True)
        bad.write_text((ROOT / "systemd" / UNIT).read_text().replace("Type=", "Tpye="))
        self.assertIn("Tpye", self.container.run("systemd-analyze", "verify", bad.name).stderr)

    def test_the_unit_is_sandboxed_as_far_as_possible(self):
        def exposure(text):
            unit = self.site.folder / "exposed.service"
            unit.write_text(text)
            done = run("systemd-analyze", "security", "--offline=true", "--no-pager", unit)
            return float(re.search(r"exposure level.*: ([\d.]+)", done.stdout)[1])

        text = (ROOT / "systemd" / UNIT).read_text()
        self.assertLessEqual(exposure(text), 1.5)
        self.assertGreater(exposure(text.replace("ProtectSystem=strict", "").replace(
            "SystemCallFilter=", "# ")), 1.5)

    def test_the_service_starts_serves_reloads_and_stops(self):
        self.start()
        self.assertEqual(self.systemctl("is-active", UNIT).stdout.strip(), "active")
        self.assertEqual(self.show("StatusText"),
                         "0 tables connected, 0 commands decided, 0 alarms since the start")
        self.assertEqual(self.listening(), {LINK, DESK})
        self.play_on()
        self.assertTrue(until(lambda: self.show("StatusText").startswith("1 table connected, "),
                              PATIENCE_S), self.show("StatusText"))
        done = self.container.run("jackpotctl", "status")
        self.assertIn("connections 1", done.stdout, done.stderr)

        status = Path(f"/proc/{self.main_pid()}/status").read_text()
        found = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        self.assertEqual(found["Uid"].split(), [str(self.uid)] * 4)
        self.assertNotEqual(self.uid, 0)
        self.assertEqual(int(found["CapEff"], 16) | int(found["CapBnd"], 16), 0)
        self.assertEqual((found["NoNewPrivs"], found["Seccomp"]), ("1", "2"))
        limits = Path(f"/proc/{self.main_pid()}/limits").read_text()
        most = Path(f"/proc/{self.container.leader}/limits").read_text()
        most = int(re.search(r"Max open files +\d+ +(\d+)", most)[1])
        self.assertRegex(limits, rf"Max open files +{min(65536, most)} ")
        self.assertRegex(limits, r"Max core file size +0 +0")

        self.site.link["refusals_per_minute"] = 7
        self.site.write_config()
        self.assertEqual(self.systemctl("reload", UNIT).returncode, 0, self.log())
        self.assertIn("applied: [link] refusals_per_minute", self.log())
        self.site.config.write_text("[site\n")
        self.assertNotEqual(self.systemctl("reload", UNIT).returncode, 0)
        self.site.write_config()
        self.assertEqual(self.systemctl("is-active", UNIT).stdout.strip(), "active")

        raw = self.play_on()
        began = time.monotonic()
        self.assertEqual(self.systemctl("stop", UNIT).returncode, 0)
        self.assertLess(time.monotonic() - began, 5)
        self.assertEqual((self.show("Result"), self.show("ExecMainStatus")), ("success", "0"))
        self.assertEqual(raw.goodbye(), "SHUTDOWN")
        self.check_books()
        done = self.container.run("jackpot-audit", "verify", "--key", self.site.verifier,
                                  "/var/lib/jackpotd/journal")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_only_the_daemon_can_read_the_keys(self):
        # The key of the certificate too, if it is configured as a credential.
        self.drop_in("[Service]\nLoadCredential=link.key:/etc/jackpotd/tls/jackpotd.key\n")
        self.site.link["key"] = f"/run/credentials/{UNIT}/link.key"
        self.addCleanup(self.site.link.pop, "key")
        self.site.write_config()
        self.start()
        self.play_on().close()
        pid = self.main_pid()
        environment = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
        folder = next(each for each in environment
                      if each.startswith("CREDENTIALS_DIRECTORY=")).split("=", 1)[1]
        self.assertTrue(self.container.path(f"{folder}/link.key").exists())
        for name in ("journal.key", "player_card.key"):
            kept = f"/etc/jackpotd/{name}"
            handed = f"{folder}/{name}"
            seen = f"/proc/{self.show('MainPID')}/root{handed}"
            for user, path, may in (("root", kept, True), ("root", handed, True),
                                    ("nobody", kept, False), ("nobody", handed, False),
                                    ("nobody", seen, False), ("jackpotd", kept, False)):
                done = self.container.run("runuser", "-u", user, "--", "cat", path)
                self.assertEqual(done.returncode == 0, may, f"{user} reads {path}: {done.stderr}")
        for path in ("/var/lib/jackpotd", "/var/lib/jackpotd/journal/journal.db",
                     "/etc/jackpotd/tls/jackpotd.key"):
            done = self.container.run("runuser", "-u", "nobody", "--", "ls", path + "/.")
            self.assertNotEqual(done.returncode, 0, path)
        done = self.container.run("runuser", "-u", "nobody", "--", "jackpotctl", "status")
        self.assertEqual(done.returncode, 2, done.stdout)

    def test_a_daemon_whose_writer_hangs_is_restarted(self):
        self.drop_in(f"[Service]\nWatchdogSec={WATCHDOG_S}\n")
        self.start()
        self.play_on().close()
        time.sleep(2 * WATCHDOG_S)  # idle, and alive
        self.assertEqual(self.show("NRestarts"), "0", self.log())

        pid = self.main_pid()
        tasks = {int(each.name): (each / "comm").read_text().strip()
                 for each in Path(f"/proc/{pid}/task").iterdir()}
        writer, = (task for task, name in tasks.items() if name == "writer")
        for request in (PTRACE_SEIZE, PTRACE_INTERRUPT):  # stops this thread alone
            self.assertEqual(LIBC.ptrace(ctypes.c_long(request), ctypes.c_long(writer), None, None),
                             0, os.strerror(ctypes.get_errno()))
        # All other threads continue: the daemon answers, and only its writer has no turns.
        self.assertEqual(self.container.run("jackpotctl", "status").returncode, 0)

        def restarted():
            try:
                os.waitpid(writer, os.WNOHANG | WALL)  # a thread that is traced ends for its tracer
            except ChildProcessError:
                pass
            return self.show("NRestarts") == "1"

        self.assertTrue(until(restarted, PATIENCE_S, 0.2), self.log())
        self.assertIn("Watchdog timeout", self.log())
        self.assertTrue(until(lambda: self.show("ActiveState") == "active", PATIENCE_S, 0.2))
        self.play_on()
        self.systemctl("stop", UNIT)
        self.check_books()

    def test_a_daemon_on_a_hanging_disk_is_killed_and_restarted(self):
        self.drop_in(f"[Service]\nWatchdogSec={WATCHDOG_S}\n")
        self.start()
        raw = self.play_on()
        must("fsfreeze", "--freeze", self.site.state)
        try:
            raw.send_bytes(raw.command(self.number, open_round=open_round(self.round, (1, 2))))
            self.assertTrue(until(lambda: "Killing process" in self.log(), PATIENCE_S, 0.2),
                            self.log())
            self.assertIn("Watchdog timeout", self.log())
            self.assertRaises((Gone, TimeoutError), raw.answer, self.number, 1)
        finally:
            must("fsfreeze", "--unfreeze", self.site.state)
        self.assertTrue(until(lambda: self.show("ActiveState") == "active" and
                              self.show("NRestarts") != "0", PATIENCE_S, 0.2), self.log())
        self.play_on()  # the command without an answer is sent again first
        self.systemctl("stop", UNIT)
        self.check_books()

    def test_systemd_gives_up_after_repeated_crashes(self):
        before = self.starts()
        self.start()
        for _ in range(20):
            raw = self.play_on(1)
            os.kill(self.main_pid(), 9)
            self.assertEqual(raw.goodbye(), "")
            self.assertTrue(until(lambda: self.show("ActiveState") in ("active", "failed"),
                                  PATIENCE_S, 0.2), self.log())
            if self.show("ActiveState") == "failed":
                break
        self.assertEqual(self.starts() - before, 5)
        self.assertIn("Start request repeated too quickly", self.log())
        self.assertEqual(self.listening(), set())
        self.systemctl("reset-failed", UNIT)
        self.start()
        self.play_on()
        self.systemctl("stop", UNIT)
        self.check_books()

    def test_a_refused_start_is_not_retried(self):
        self.start()
        self.play_on().close()
        self.systemctl("stop", UNIT)
        whole = self.site.folder / "whole"
        shutil.copytree(self.site.journal, whole)
        self.addCleanup(shutil.rmtree, whole)
        with closing(sqlite3.connect(self.site.journal / "journal.db")) as database:
            database.execute("UPDATE journal SET payload = replace(payload, '9H', '8H') WHERE seq ="
                             " (SELECT max(seq) FROM journal WHERE payload LIKE '%9H%')")
            self.assertEqual(database.total_changes, 1)
            database.commit()
        self.site.give_to(self.uid)
        self.refused(5)
        for file in whole.iterdir():
            shutil.copy(file, self.site.journal)
        self.site.give_to(self.uid)

        self.site.config.write_text("[site\n")
        self.refused(2)
        self.site.write_config()
        key = self.site.etc / "journal.key"
        key.rename(key.with_suffix(".away"))
        self.refused(243)
        key.with_suffix(".away").rename(key)

        self.systemctl("reset-failed", UNIT)
        self.start()
        self.play_on()
        self.systemctl("stop", UNIT)
        self.check_books()

    def test_displays_poll_port_502(self):
        self.site.listen_for_displays = "systemd:modbus"
        self.site.write_config()
        self.refused(2)
        self.assertIn("systemd has passed no socket of this name", self.show("StatusText"))

        self.systemctl("reset-failed", UNIT)
        self.assertEqual(self.systemctl("enable", SOCKET).returncode, 0)
        self.start()
        self.assertEqual(self.listening(), {LINK, DESK, 502})
        display = Display(502)
        self.addCleanup(display.close)
        before = display.cents()
        self.play_on(2)
        self.assertEqual(display.cents() - before, 2 * 2 * 500 * 235 // 1000)
        meters = self.container.run("jackpotctl", "meters", "--json").stdout
        self.assertIn("systemd:modbus:502", meters)

        self.systemctl("stop", UNIT)
        self.assertEqual(self.listening(), set(), "the port closes with the daemon")

        # Displays go on polling a daemon that refuses its configuration. They do not start it.
        over = threading.Event()

        def poll():
            while not over.is_set():
                try:
                    socket.create_connection(("127.0.0.1", 502), 1).close()
                except OSError:
                    time.sleep(0.01)

        polling = threading.Thread(target=poll)
        polling.start()
        try:
            self.site.config.write_text("[site\n")
            self.refused(2)
            self.site.write_config()
            self.systemctl("reset-failed", UNIT, SOCKET)
            self.start()
        finally:
            over.set()
            polling.join()
        os.kill(self.main_pid(), 9)
        self.assertTrue(until(lambda: self.show("NRestarts") == "1" and
                              self.show("ActiveState") == "active", PATIENCE_S, 0.2), self.log())
        again = Display(502)
        self.addCleanup(again.close)
        self.assertGreater(again.cents(), before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
