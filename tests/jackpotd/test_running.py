"""Ending, reloading and odd clocks, while tables play."""

import os
import signal
import socket
import subprocess
import sys
import time

from support.link_client import pb
from support.programs import until
from support.site import POOLS, SiteTest, main, open_round, result

KILL_FLOOR = os.environ["KILL_FLOOR"]
SHIFT_CLOCK = os.environ["SHIFT_CLOCK"]


class Ending(SiteTest):
    options = {"tables": [f"BJ{each:02}" for each in range(1, 9)]}

    def test_sigterm_under_load(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.site.link["listen"] = f"127.0.0.1:{free.getsockname()[1]}"
        self.site.write_config()
        self.site.start()
        tables = self.site.tables[1:]
        floor = subprocess.Popen([KILL_FLOOR, str(self.site.folder), str(self.site.port), *tables])
        self.addCleanup(floor.kill)
        decided, took = 0, []
        for _ in range(6):
            raw = self.raw()
            time.sleep(0.4)
            start = time.monotonic()
            self.assertEqual(self.site.stop(), 0)
            took.append(time.monotonic() - start)
            self.assertEqual(raw.goodbye(), "SHUTDOWN")
            # Immediately: every answer that a table got is in the journal.
            records = {each["seq"]: each for each in self.site.records()}
            for table in tables:
                for line in (self.site.folder / f"{table}.notes").read_text().splitlines():
                    words = line.split()
                    if words[0] == "decided":
                        decided += 1
                        record = records[int(words[2])]
                        self.assertEqual((record["command"]["table"], record["from"]["number"]),
                                         (table, int(words[1])))
            self.site.start()
        floor.send_signal(signal.SIGTERM)
        self.assertEqual(floor.wait(30), 0)
        self.assertEqual(self.site.stop(), 0)
        for table in tables:
            intents = {}
            for line in (self.site.folder / f"{table}.notes").read_text().splitlines():
                what, *words = line.split()
                if what == "intent":
                    intents[int(words[0])] = [int(seat) for seat in words[1]]
                elif what == "stored":
                    self.account.opened(table, int(words[0]), intents[int(words[0])])
        print(f"    {decided} decisions looked up, {len(self.account.wagers)} rounds, ended within "
              f"{max(took):.2f} s", file=sys.stderr)
        # Other programs may keep the disk busy during one of them.
        self.assertLess(sorted(took)[-2], 5)
        self.assertGreater(decided, 500)
        self.check_books()

    def test_a_slow_client_of_the_control_socket_blocks_no_other(self):
        self.site.start()
        raw = self.raw()
        self.play(raw, "BJ01", 1, 1, 1)
        slow = socket.socket(socket.AF_UNIX)
        self.addCleanup(slow.close)
        slow.connect(str(self.site.socket))
        self.site.process.send_signal(signal.SIGTERM)
        start = time.monotonic()
        while self.site.process.poll() is None and time.monotonic() - start < 10:
            try:
                slow.sendall(b"x")
            except OSError:
                pass
            time.sleep(0.2)
        self.assertLess(time.monotonic() - start, 5)
        self.assertEqual(self.site.wait_exit(), 0)
        self.check_books()


class Reloading(SiteTest):
    def reload(self):
        self.site.write_config()
        return self.site.reload()

    def test_a_table_is_added_while_the_others_play(self):
        self.site.start()
        raw = self.raw()
        number = self.play(raw, "BJ01", 1, 1, 1)
        self.site.issue("BJ09")
        with self.assertRaises(Exception):
            self.raw("BJ09")
        self.site.tables.append("BJ09")
        answer = self.reload()
        self.assertTrue(answer.startswith("ok\n"), answer)
        self.assertIn("BJ09", answer)
        self.play(self.raw("BJ09"), "BJ09", 1, 1, 2)
        self.play(raw, "BJ01", number, 2, 1)
        self.assertEqual(len(self.site.records("site_configured")), 2)
        self.site.kill()
        self.site.start()
        self.assertEqual(self.raw("BJ09").welcome.last_number, 4)
        self.assertEqual(len(self.site.records("site_configured")), 2)
        self.site.stop()
        self.check_books()

    def test_a_limit_is_changed_by_a_signal(self):
        self.site.start()
        raw = self.raw()
        number = self.play(raw, "BJ01", 1, 1, 3)
        self.site.link["rounds_per_minute"] = 4
        self.site.write_config()
        self.site.process.send_signal(signal.SIGHUP)
        self.assertTrue(until(lambda: any("rounds_per_minute" in line for line in self.site.log)))
        number = self.play(raw, "BJ01", number, 10, 4)
        self.assertEqual(raw.ask(number, open_round=open_round(99)).why, pb.Rejected.TOO_FAST)
        self.site.stop()
        self.check_books()

    def test_a_pool_parameter_is_refused_with_the_reason(self):
        self.site.start()
        raw = self.raw()
        number = self.play(raw, "BJ01", 1, 1, 1)
        self.site.pools["B7"]["increment"] = "0.3"
        answer = self.reload()
        self.assertTrue(answer.startswith("refused\n"), answer)
        self.assertIn("increment", answer)
        self.assertIn("two people", answer)
        self.site.pools["B7"]["increment"] = "0.235"
        self.play(raw, "BJ01", number, 2, 1)
        self.assertTrue(self.reload().startswith("ok\n"))
        self.assertEqual(len(self.site.records("site_configured")), 1)
        self.site.stop()
        self.check_books()

    def test_a_broken_file_changes_nothing(self):
        self.site.start()
        raw = self.raw()
        number = self.play(raw, "BJ01", 1, 1, 1)
        good = self.site.config.read_text()
        before = self.site.records()
        for broken in ("[site", good.replace('pool = "B7"', 'pool = "NONE"'), "",
                       good + "\nunknown_key = 1\n", good.replace('"0.235"', '"2.35"'),
                       good.replace('id = "BJ02"', 'id = "BJ01"')):
            self.site.config.write_text(broken)
            answer = self.site.reload()
            self.assertTrue(answer.startswith("refused\n"), answer)
        self.site.config.unlink()
        self.assertTrue(self.site.reload().startswith("refused\n"))
        self.assertEqual(self.site.records(), before)
        self.site.config.write_text(good)
        self.play(raw, "BJ01", number, 2, 1)
        self.assertEqual(self.site.local("GET", "/api/v1/no-such-thing")[0], 404)
        self.site.stop()
        self.check_books()

    def test_broken_certificates_are_not_applied(self):
        self.site.start()
        certificate = self.site.pki / "server" / "jackpotd.pem"
        good = certificate.read_text()
        certificate.write_text("garbage")
        answer = self.site.reload()
        self.assertTrue(answer.startswith("refused\n"), answer)
        self.assertIn("jackpotd.pem", answer)
        self.play(self.raw(), "BJ01", 1, 1, 1)
        certificate.write_text(good)
        self.assertTrue(self.site.reload().startswith("ok\n"))
        self.play(self.raw(), "BJ01", 3, 2, 1)
        self.site.stop()
        self.check_books()


class Clock(SiteTest):
    options = {"link": {"offline_after_ms": 2000}, "pools": {
        **POOLS, "B7": {**POOLS["B7"], "simultaneity_window_ms": 500}}}

    def setUp(self):
        super().setUp()
        self.shift = self.site.folder / "shift"
        self.site.env = {"LD_PRELOAD": SHIFT_CLOCK, "JACKPOT_CLOCK": str(self.shift)}

    def times(self):
        return [each["time"] for each in self.site.records()]

    def test_a_wall_clock_that_jumps_changes_nothing(self):
        self.shift.write_text("0")
        self.site.start()
        raw = self.raw(beats=True)
        number, before = 1, time.time() * 1000
        for each, seconds in enumerate((0, 86_400, -86_400, 10**6, -(10**6), 0), 1):
            self.shift.write_text(str(seconds))
            number = self.play(raw, "BJ01", number, each, 1)
        # The time until a jackpot is due keeps its length.
        self.shift.write_text("-500000")
        raw.ask(number, open_round=open_round(50))
        self.account.opened("BJ01", 50, (1,))
        raw.ask(number + 1, report_result=result(50, ("7D",), {1: ("7D", "7D")}))
        start = time.monotonic()
        raw.ask(number + 2, confirm_jackpot=pb.ConfirmJackpot(round=50))
        self.shift.write_text("500000")
        self.assertEqual(raw.expect("settlement").awards[0].round, 50)
        self.assertAlmostEqual(time.monotonic() - start, self.site.settle_after_ms("B7") / 1000,
                               delta=0.5)
        times = self.times()
        self.assertEqual(times, sorted(times))
        self.assertLess(times[-1] - times[-2], 10_000)
        self.assertLess(times[-1] - before, 60_000)
        self.site.stop()
        self.check_books(jackpots=True)

    def test_times_never_decrease_after_a_journal_from_the_future(self):
        self.shift.write_text("100000")
        self.site.start()
        self.play(self.raw(), "BJ01", 1, 1, 1)
        self.site.stop()
        newest = self.times()[-1]
        for each, seconds in enumerate((0, -10**6, 50_000), 1):
            self.shift.write_text(str(seconds))
            self.site.start()
            raw = self.raw(beats=True)
            number = raw.welcome.last_number
            raw.ask(number + 1, open_round=open_round(10 + each))
            self.account.opened("BJ01", 10 + each, (1,))
            raw.ask(number + 2, report_result=result(10 + each, ("7D",), {1: ("7D", "7D")}))
            raw.ask(number + 3, confirm_jackpot=pb.ConfirmJackpot(round=10 + each))
            self.assertEqual(raw.expect("settlement").awards[0].round, 10 + each)
            self.assertEqual(self.site.stop(), 0)
        times = self.times()
        self.assertEqual(times, sorted(times))
        self.assertGreaterEqual(times[-1], newest)
        self.assertLess(times[-1] - newest, 60_000)
        self.check_books(jackpots=True)


if __name__ == "__main__":
    main()
