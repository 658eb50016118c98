"""The Python client with a fake daemon, and its bytes compared with docs/link.md."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import link_client
from support.link_client import pb
from support.programs import ROOT

DAEMON = os.environ["LINK_FAKE_DAEMON"]


class Documented(unittest.TestCase):
    def setUp(self):
        page = (ROOT / "docs" / "link.md").read_text()
        self.hello, self.open_round = (bytes.fromhex(each) for each in
                                       re.findall(r"^[0-9a-f]{30,}$", page, re.MULTILINE))

    def test_the_hello_of_the_page_is_the_one_we_send(self):
        message = pb.ToDaemon(hello=pb.Hello(version=2, software=b"example 1.0"))
        self.assertEqual(link_client.frame(message), self.hello)

    def test_the_command_is_what_the_page_says(self):
        command = pb.ToDaemon.FromString(self.open_round[4:]).command
        self.assertEqual(len(self.open_round), 4 + int.from_bytes(self.open_round[:4], "big"))
        self.assertEqual((command.number, command.clock_ms, command.age_ms),
                         (1, 1_800_000_000_000, 250))
        self.assertEqual(command.open_round.round, 7)
        self.assertEqual([(each.seat, each.player_card) for each in command.open_round.wagers],
                         [(1, b""), (3, b"P-1")])

    def test_the_limits_are_those_of_the_page(self):
        page = (ROOT / "docs" / "link.md").read_text()
        self.assertIn(f"| frame | {link_client.MAX_FRAME} bytes |", page)
        self.assertIn(f"| commands in flight | {link_client.MAX_IN_FLIGHT} |", page)


class AgainstADaemon(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.daemon = subprocess.Popen([DAEMON, self.folder, "BJ01"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.stop)
        self.port = int(self.daemon.stdout.readline())

    def stop(self):
        self.daemon.stdin.close()
        self.assertEqual(self.daemon.wait(10), 0, "the table has broken the protocol")
        self.daemon.stdout.close()

    def send_line(self, line):
        print(line, file=self.daemon.stdin, flush=True)
        self.assertEqual(self.daemon.stdout.readline(), "done\n")

    def table(self, outbox="outbox"):
        return link_client.Table("BJ01", "localhost", self.port, self.folder / "table/BJ01.pem",
                              self.folder / "table/BJ01.key", self.folder / "ca.pem",
                              self.folder / outbox)

    def test_commands_are_decided_in_order(self):
        table = self.table()
        with self.assertRaises(link_client.LinkError):
            table.void(1)  # no number is known yet
        table.connect()
        numbers = [table.open(1, [1, 2])] + [table.result(1, ["9H"], {1: ["KS", "4D"]})
                                             for _ in range(50)]
        for number in numbers:
            self.assertFalse(table.wait(number).again)
        self.assertEqual(numbers, list(range(1, 52)))
        table.idle(1.5)  # a heartbeat: the daemon compares the count
        self.assertEqual(table.outbox.memory["wagers"], 2)
        self.assertEqual(table.outbox.entries, {})
        table.close()

    def test_lost_answers_are_sent_again(self):
        table = self.table()
        table.connect()
        self.send_line("refuse 2")
        for number in range(1, 5):
            self.send_line("lose 1")
            table.open(number, [1])
            with self.assertRaises(link_client.LinkError):
                table.wait(number)
            with self.assertRaises(link_client.LinkError):
                table.open(number + 1, [1])
            table.connect(patience=5)
            decision = table.wait(number)
            self.assertTrue(decision.again)
            self.assertEqual(decision.HasField("refusal"), number == 2)
        self.assertEqual(table.outbox.memory["wagers"], 3)
        table.idle(1.5)
        table.close()

    def test_a_restarted_table_continues_where_it_stopped(self):
        table = self.table()
        table.connect()
        table.wait(table.open(1, [1]))
        receipt = table.outbox.memory["receipt"]
        self.send_line("drop")
        with self.assertRaises(link_client.LinkError):
            table.idle(5)
        self.assertEqual(table.result(1, ["9H"], {}), 2)
        table.close()
        with open(self.folder / "outbox", "ab") as file:
            file.write(b"12345678 {torn")
        table = self.table()
        self.assertEqual(table.outbox.memory["receipt"], receipt)
        self.assertEqual(list(table.outbox.entries), [2])
        table.connect()
        self.assertFalse(table.wait(2).again)
        table.close()
        lost = self.table("another")
        lost.connect()
        self.assertEqual((lost.outbox.memory["last"], lost.outbox.memory["wagers"]), (2, 1))
        lost.close()

    def test_when_unavailable_a_supervisor_suspends_the_table(self):
        table = self.table()
        table.connect()
        table.wait(table.open(1, [1]))
        self.send_line("unavailable")
        table.idle(0.5)
        self.assertEqual((table.open_round, table.outbox.entries), (1, {}))
        self.assertFalse(table.wait(table.suspend(by="sue")).again)
        self.assertIsNone(table.open_round)
        with self.assertRaises(link_client.LinkError):
            table.open(2, [1])
        table.connect()
        self.assertTrue(table.state.voided)
        table.wait(table.open(2, [1]))
        table.close()

    def test_a_daemon_that_lost_commands_is_a_fault(self):
        table = self.table()
        table.outbox.remember(new=False, last=7, decided=7, counted=7)
        with self.assertRaises(link_client.Fault):
            table.connect()
        table.close()

    def test_the_command_line_plays_rounds(self):
        done = subprocess.run(
            [sys.executable, link_client.__file__, "--port", str(self.port), "--table", "BJ01",
             "--pki", self.folder, "--outbox", self.folder / "outbox", "--rounds", "3"],
            capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(lines[-1], {"decided": 6, "wagers": 3, "refused": 0})
        self.assertEqual([line["number"] for line in lines[:-1]], [1, 2, 3, 4, 5, 6])


if __name__ == "__main__":
    unittest.main()
