"""The API on the socket in the journal's directory, and jackpotctl on it: with and without a desk."""

import json
import os
import pwd
import signal
import socket
import subprocess
import time
import unittest
from contextlib import closing

from support.desk_commands import CommandTest
from support.desk_site import raw_exchange, status_of
from support.programs import JACKPOTCTL, JACKPOTD, run, until
from support.site import LocalConnection, SiteTest, main


class SocketTest(SiteTest):
    options = {"tables": ("BJ01",)}

    def stream(self):
        made = socket.socket(socket.AF_UNIX)
        self.addCleanup(made.close)
        made.settimeout(20)
        made.connect(str(self.site.socket))
        return made

    def ctl(self, *arguments, door=None, **options):
        return run(JACKPOTCTL, *arguments, *(door or ("--journal", self.site.journal)), **options)


class WithoutDesk(SocketTest):
    def test_what_needs_no_accounts_is_answered(self):
        self.site.start()
        for path in ("/healthz", "/readyz", "/api/v1/openapi.json", "/api/v1/status",
                     "/api/v1/meters"):
            self.assertEqual(self.site.local("GET", path)[0], 200, path)
        self.assertNotIn("desk_connections", self.site.status())
        self.assertTrue(self.site.reload().startswith("ok\n"))
        for path in ("/api/v1/people", "/api/v1/claims", "/"):
            status, answer = self.site.local("GET", path)
            self.assertEqual((status, "[desk]" in answer["error"]["message"]), (404, True), path)
        self.assertEqual(list(self.site.journal.glob("people.db")), [])
        done = self.ctl("users", "list")
        self.assertEqual(done.returncode, 1)
        self.assertIn("add the section [desk]", done.stderr)
        self.site.stop()
        self.assertFalse(self.site.socket.exists())

    def test_metrics_are_text(self):
        self.site.start()
        with closing(LocalConnection(self.site.socket)) as connection:
            connection.request("GET", "/metrics")
            self.assertIn(b"jackpotd_", connection.getresponse().read())
        self.site.stop()


class Bounds(SocketTest):
    def test_slow_and_oversized_requests_hold_up_nobody(self):
        self.site.start()
        slow = [self.stream() for _ in range(20)]
        for each in slow:
            each.sendall(b"POST /api/v1/reload HTTP/1.1\r\nHost: x\r\nContent-Le")
        start = time.monotonic()
        for _ in range(20):
            self.site.status()
        self.assertLess(time.monotonic() - start, 5)
        head = b"POST /api/v1/pools/B7/agreements HTTP/1.1\r\nHost: x\r\n"
        body = b"Content-Type: application/json\r\nContent-Length: "
        for request, status in ((b"reload\n\r\n\r\n", 400), (b"x" * 20_000, 431),
                                (head + b"X: " + b"x" * 20_000 + b"\r\n\r\n", 431),
                                (head + body + b"65537\r\n\r\n", 413),
                                (head + body + b"2\r\n\r\n{}", 400)):
            stream = self.stream()
            answer = raw_exchange(stream, request, 2.0)
            self.assertEqual(status_of(answer), status, (request[:80], answer))
        self.assertTrue(self.site.reload().startswith("ok\n"))
        # Half a request is answered once its time is over.
        self.assertEqual(status_of(raw_exchange(slow[0], b"n", 15.0)), 408)
        self.site.stop()

    def test_connections_are_limited_and_end(self):
        self.site.start()
        idle = [self.stream() for _ in range(32)]
        self.assertEqual(raw_exchange(self.stream(), b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
                         b"")
        # The tables do not notice; and the idle ones do not stay.
        self.play(self.raw(), "BJ01", 1, 1, 1)
        self.assertTrue(until(lambda: raw_exchange(idle[0], b"", 0.2) == b"", 10))

        def answers():
            try:
                return self.site.local("GET", "/healthz")[0] == 200
            except (ConnectionError, OSError):
                return False

        self.assertTrue(until(answers, 10))
        self.site.stop()

    def test_it_ends_while_requests_wait(self):
        """A reload that main does not serve any more is answered, and the daemon ends."""
        self.site.start()
        streams = [self.stream() for _ in range(8)]
        self.site.process.send_signal(signal.SIGSTOP)
        for each in streams:
            each.sendall(b"POST /api/v1/reload HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
        self.site.process.send_signal(signal.SIGTERM)
        start = time.monotonic()
        self.site.process.send_signal(signal.SIGCONT)
        self.assertEqual(self.site.wait_exit(), 0)
        self.assertLess(time.monotonic() - start, 5)


class Files(SocketTest):
    def test_the_socket_of_a_killed_daemon_is_replaced(self):
        self.site.start()
        self.site.kill()
        self.assertTrue(self.site.socket.is_socket())
        done = self.ctl("status")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("is the daemon running?", done.stderr)
        self.site.start()
        self.assertGreater(self.site.status()["records"], 0)
        # A second daemon leaves the first one's socket alone.
        second = subprocess.run([JACKPOTD, "--config", str(self.site.config)], capture_output=True,
                                timeout=30)
        self.assertEqual(second.returncode, 4, second.stderr)
        self.assertGreater(self.site.status()["records"], 0)
        self.site.stop()
        self.assertFalse(self.site.socket.exists())
        done = self.ctl("status")
        self.assertEqual(done.returncode, 2)
        self.assertIn("is the daemon running?", done.stderr)

    @unittest.skipIf(os.geteuid() != 0, "needs root to become another user")
    def test_another_user(self):
        self.site.start()
        nobody = {"user": pwd.getpwnam("nobody").pw_uid, "extra_groups": []}
        for mode in (0o755, 0o700):
            for folder in (self.site.folder, self.site.journal):
                folder.chmod(mode)
            done = self.ctl("status", cwd="/", **nobody)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("permission denied", done.stderr)
        for folder in (self.site.folder, self.site.journal):
            folder.chmod(0o755)
        self.site.socket.chmod(0o666)
        done = self.ctl("status", cwd="/", **nobody)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("only the daemon's user and root", done.stderr)
        self.assertEqual(self.ctl("status").returncode, 0)
        self.site.stop()

    def test_a_daemon_that_does_not_answer(self):
        self.site.start()
        self.site.process.send_signal(signal.SIGSTOP)
        done = self.ctl("status", timeout=60)
        self.site.process.send_signal(signal.SIGCONT)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("no answer in time", done.stderr)
        self.site.stop()


class BothDoors(CommandTest):
    """Each command that was moved, and the desk's, on the socket and over HTTPS."""

    def test_the_same_answers(self):
        self.add_root()
        self.assertEqual(self.login().returncode, 0)
        doors = (["--config", self.site.config], ["--journal", self.site.journal], self.where)
        for command in (["meters", "--json"], ["pools", "--json"], ["tables"], ["claims"],
                        ["notices", "--all"], ["records", "--kind", "person_added", "--json"],
                        ["users", "list"], ["report", "wins"]):
            said = [self.must(*command, *door) for door in doors]
            self.assertEqual(said[0], said[1], command)
            self.assertEqual(said[0], said[2], command)
        for door in doors:
            self.assertIn("locked: no\n", self.must("lock", *door))
        names = [set(json.loads(self.must("status", "--json", *door))) for door in doors]
        self.assertEqual(names[0], names[2])
        self.assertIn("desk_connections", names[0])
        # Reload and agreements are for the machine alone, and have no --desk.
        for command in (["reload"], ["change-pool", "B7", "--reason", "x", "--by", "a", "--by", "b"]):
            self.assertEqual(self.ctl(*command, *self.where).returncode, 2, command)
        self.must("reload", "--journal", self.site.journal)
        # The owner of the machine is none of the people that an action needs.
        for command in (["suspend", "table", "BJ01", "--reason", "x"],
                        ["adjust", "B7", "5", "--reason", "x"],
                        ["approve", "5", "--sha256", "0" * 64, "--yes"],
                        ["accept-restore", "--size", "5", "--root", "AAAA", "--reason", "x"]):
            done = self.ctl(*command, *doors[0])
            self.assertEqual(done.returncode, 1, (command, done.stderr))
        self.assertIn("sign in at the desk", done.stderr)
        self.assertEqual(self.ctl("pools", *doors[0], *self.where).returncode, 2)
        self.assertEqual(self.ctl("pools", *doors[0], *doors[1]).returncode, 2)
        self.site.stop()

    def test_people_are_managed_on_the_machine(self):
        config = ["--config", self.site.config]
        self.add_root()
        self.must("users", "add", "ann", "--role", "auditor", *config, typed="a good password\n")
        self.must("users", "change", "ann", "--role", "inspector", *config)
        self.must("users", "disable", "ann", *config)
        self.must("users", "unlock", "ann", *config)
        self.assertRegex(self.must("users", "list", *config), r"(?m)^ann +inspector +yes")
        for kind in ("person_added", "person_changed", "person_disabled", "person_unlocked"):
            self.assertEqual({each["by"] for each in self.site.records(kind)}, {"(local)"}, kind)
        self.assertEqual(self.login().returncode, 0, "its password need not be changed first")
        self.must("whoami")
        self.site.stop()
        self.site.verify()


if __name__ == "__main__":
    main()
