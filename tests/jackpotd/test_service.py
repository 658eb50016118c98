"""The daemon's notifications to systemd, and the sockets that it gets from it. tests/systemd has the tests
with a real systemd."""

import os
import re
import shutil
import signal
import socket
import sqlite3
import sys
import time
from contextlib import closing

from support import site
from support.programs import until
from support.site import Display, Gone, SiteTest, main, open_round

FAIL_DISK = os.environ["FAIL_DISK"]
NOTE_LISTENING = os.environ["NOTE_LISTENING"]
JACKPOTD_BAD_RULES = os.environ["JACKPOTD_BAD_RULES"]
PATIENCE_S = 60
QUIET_S = 4  # the writer turns at least once a second

# Passes a socket as systemd does, then runs the daemon.
HAND_OVER = """
import os, socket, sys
kind, name, *daemon = sys.argv[1:]
family = socket.AF_UNIX if kind == "unix" else socket.AF_INET
given = socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
if family == socket.AF_INET:
    given.bind(("127.0.0.1", 0))
if kind == "listening":
    given.listen()
os.dup2(given.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES=name)
os.execv(daemon[0], daemon)
"""


class ServiceTest(SiteTest):
    options = {"tables": ("BJ01",), "meters": {"listen": "127.0.0.1:0"}}

    def setUp(self):
        super().setUp()
        self.site.write_config()
        with open(self.site.config, "a") as config:
            config.write('[desk]\nlisten = "127.0.0.1:0"\ncertificate = "pki/server/jackpotd.pem"\n'
                         'key = "pki/server/jackpotd.key"\n')
        self.told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.told.close)
        self.told.bind(str(self.site.folder / "notify"))
        self.listened = self.site.folder / "listened"
        self.site.env = {"NOTIFY_SOCKET": str(self.site.folder / "notify"),
                         "LD_PRELOAD": NOTE_LISTENING, "JACKPOT_LISTENING": str(self.listened)}

    def hear(self, timeout=PATIENCE_S):
        """The next message; None after `timeout` seconds without one."""
        self.told.settimeout(timeout)
        try:
            return self.told.recv(4096).decode()
        except TimeoutError:
            return None

    def hear_until(self, start):
        heard = []
        while not heard or not heard[-1].startswith(start):
            message = self.hear()
            self.assertIsNotNone(message, f"no {start} among {heard}")
            heard.append(message)
        return heard

    def hear_all(self):
        heard = []
        while message := self.hear(0.1):
            heard.append(message)
        return heard

    def listeners(self):
        return self.listened.read_text().split() if self.listened.exists() else []

    def refused(self, status):
        """The daemon exits with this status, and has neither listened nor reported that it is ready."""
        with self.assertRaisesRegex(AssertionError, f"exit {status}:") as caught:
            self.site.start()
        self.assertEqual(self.listeners(), [])
        heard = self.hear_all()
        self.assertNotIn("READY=1", heard)
        return heard[-1], str(caught.exception)


class Starting(ServiceTest):
    def test_ready_is_sent_when_every_socket_listens(self):
        self.site.start()
        heard = self.hear_until("READY=1")
        # Displays, tables, the desk, jackpotctl: each took its time to listen.
        self.assertEqual(self.listeners(), ["network", "network", "network", "control"])
        self.assertEqual(heard[:2], ["STATUS=checking the rules",
                                     "STATUS=opening and verifying the journal in "
                                     + str(self.site.journal)])
        self.assertEqual(self.site.stop(), 0)
        self.assertEqual([each for each in self.hear_all() if "WATCHDOG" not in each][-2:],
                         ["STOPPING=1", "STATUS=ended by a signal"])

    def test_nothing_listens_if_the_self_check_of_the_rules_fails(self):
        good, site.JACKPOTD = site.JACKPOTD, JACKPOTD_BAD_RULES
        try:
            status, _ = self.refused(70)
        finally:
            site.JACKPOTD = good
        self.assertEqual(status,
                         "STATUS=the self-check failed: the rules are not the approved ones")

    def test_nothing_listens_if_the_journal_does_not_verify(self):
        self.site.start()
        self.play(self.raw(), "BJ01", 1, 1, 3)
        self.site.stop()
        self.listened.unlink()
        self.hear_all()
        with closing(sqlite3.connect(self.site.journal / "journal.db")) as database:
            database.execute("UPDATE journal SET payload = replace(payload, '9H', '8H') WHERE seq ="
                             " (SELECT max(seq) FROM journal WHERE payload LIKE '%9H%')")
            self.assertEqual(database.total_changes, 1)
            database.commit()
        status, _ = self.refused(5)
        self.assertIn("do not have the root that was signed", status)


class Running(ServiceTest):
    def test_the_begin_and_end_of_a_reload_are_reported(self):
        self.site.start()
        self.hear_until("READY=1")
        for reload in (lambda: self.site.reload(),
                       lambda: self.site.process.send_signal(signal.SIGHUP)):
            before = time.monotonic_ns() // 1000
            reload()
            begun = self.hear_until("RELOADING=1")[-1]
            self.hear_until("READY=1")
            at = int(re.fullmatch(r"RELOADING=1\nMONOTONIC_USEC=(\d+)", begun)[1])
            self.assertTrue(before <= at <= time.monotonic_ns() // 1000)

    def test_the_watchdog_is_notified_only_when_turns_end(self):
        switch = self.site.folder / "fail"
        # The first hangs in the writer's own thread, the second in the link's, which decides a
        # lone command by itself.
        for heartbeat_s, number in ((1, None), (3600, 1)):
            with self.subTest(heartbeat_s=heartbeat_s):
                self.site.journal_options["heartbeat_s"] = heartbeat_s
                self.site.write_config()
                self.site.env.update(WATCHDOG_USEC="20000000", LD_PRELOAD=FAIL_DISK,
                                     JACKPOT_FAIL=str(switch))
                self.site.start()
                raw = self.raw()
                self.hear_until("READY=1")
                for _ in range(3):  # idle, and alive
                    self.hear_until("WATCHDOG=1")
                switch.write_text("hang")
                if number:
                    raw.send_bytes(raw.command(number, open_round=open_round(1)))
                end = time.monotonic() + PATIENCE_S
                fed = time.monotonic()
                while (quiet := time.monotonic() - fed) < QUIET_S and time.monotonic() < end:
                    if "WATCHDOG=1" == self.hear(QUIET_S - quiet + 0.01):
                        fed = time.monotonic()
                self.assertGreaterEqual(quiet, QUIET_S, "it is fed, though the commit hangs")
                # Control: other threads run; only the writer hangs.
                self.assertIn("STATUS=", self.hear_until("STATUS=")[-1])
                self.assertGreater(self.site.status()["commits"], 0)
                switch.unlink()
                self.hear_until("WATCHDOG=1")
                self.assertEqual(self.site.stop(), 0)
                self.site.verify()

    def test_a_locked_daemon_reports_its_lock(self):
        self.site.start()
        self.site.stop()
        shutil.copytree(self.site.journal, self.site.folder / "older")
        self.site.start()
        raw = self.raw()
        self.play(raw, "BJ01", 1, 1, 1)
        self.site.kill()
        shutil.rmtree(self.site.journal)
        shutil.move(self.site.folder / "older", self.site.journal)
        self.hear_all()  # the kernel queues ten messages
        self.site.start()
        with self.assertRaisesRegex(Gone, "LOCKED"):
            self.raw(receipt=raw.receipt.note)
        self.hear_until("STATUS=LOCKED: nothing is decided until people have resolved it")

    def test_nothing_is_sent_without_a_notify_socket(self):
        self.site.env = {}
        self.site.start()
        self.play(self.raw(), "BJ01", 1, 1, 1)
        self.assertEqual(self.site.stop(), 0)
        self.assertEqual(self.hear_all(), [])


class Sockets(ServiceTest):
    def given(self, kind, name="modbus"):
        self.site.wrapper = [sys.executable, "-c", HAND_OVER, kind, name]

    def setUp(self):
        super().setUp()
        del self.site.env["LD_PRELOAD"]  # the socket listens already
        self.site.meters = {"listen": "systemd:modbus", "allow": ["127.0.0.0/8"]}
        self.site.write_config()

    def test_displays_poll_the_socket_from_systemd(self):
        self.given("listening")
        self.site.start()
        display = Display(self.site.meter_port)
        self.addCleanup(display.close)
        self.assertEqual(display.cents(), 5000000)
        self.assertTrue(until(lambda: display.status() & 1))

    def test_another_socket_is_refused(self):
        status, _ = self.refused(2)
        self.assertIn("systemd has passed no socket of this name", status)
        self.given("listening", "other")
        status, _ = self.refused(2)
        self.assertIn("jackpotd-modbus.socket", status)
        for kind in ("unix", "udp", "tcp"):
            self.given(kind)
            _, log = self.refused(2)
            self.assertIn("systemd:modbus: it is not a listening TCP socket", log)


if __name__ == "__main__":
    main()
