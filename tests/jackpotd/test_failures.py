"""The journal cannot be written: the messages to tables, and the journal afterwards."""

import itertools
import os
import resource
import signal
import subprocess
import sys
import time

from support import link_client
from support.link_client import pb
from support.programs import free_port, until
from support.site import SiteTest, hello, main, open_round, refusal_of

FAIL_DISK = os.environ["FAIL_DISK"]
KILL_FLOOR = os.environ["KILL_FLOOR"]


class Disk(SiteTest):
    options = {"tables": ["BJ01", "BJ02", "UTH01"]}

    def setUp(self):
        super().setUp()
        self.switch = self.site.folder / "fail"
        self.site.env = {"LD_PRELOAD": FAIL_DISK, "JACKPOT_FAIL": str(self.switch)}

    def check_told(self, raw, number):
        """The failed command has no decision; the table gets UNAVAILABLE."""
        unavailable = False
        try:
            while True:
                message = raw.receive(5)
                self.assertNotIn(number, [each.number for each in message.decisions.decisions])
                unavailable |= message.pool.unavailable
                if message.HasField("goodbye"):
                    self.assertEqual(pb.Goodbye.Why.Name(message.goodbye.why), "UNAVAILABLE")
                    return unavailable
        except link_client.LinkError:
            self.fail("no goodbye")

    def resend(self, raw, table, number, lost, how):
        """As a table does. After a sync that failed the kernel may have kept what was written: then
        the command is there and is answered again; after a write that failed it is not."""
        there = raw.welcome.last_number == number
        self.assertIn(raw.welcome.last_number, (number - 1, number))
        if how.startswith("write"):
            self.assertFalse(there)
            self.assertEqual(self.account.compare(self.site), [])
        decision = raw.ask(number, open_round=open_round(lost))
        self.assertEqual(decision.again, there)
        self.account.opened(table, lost, (1,))
        self.account.decided[table, number] = decision.record

    def fail_and_recover(self, how):
        self.site.start()
        one, two = self.raw("BJ01"), self.raw("BJ02")
        number = self.play(one, "BJ01", 1, 1, 3)
        self.play(two, "BJ02", 1, 1, 2)
        acknowledged = [each for each in self.site.records()]
        self.switch.write_text(how)
        # Several, because the first calls may be let through.
        tried = 0
        lost = None
        for each in range(10, 200):
            one.send_bytes(one.command(number, open_round=open_round(each)))
            tried += 1
            try:
                message = one.expect("decisions", 5)
            except Exception:
                lost = each
                break
            self.assertIsNone(refusal_of(message.decisions[0]))
            self.account.opened("BJ01", each, (1,))
            self.account.decided["BJ01", number] = message.decisions[0].record
            number += 1
        self.assertIsNotNone(lost, "the journal never failed")
        self.assertEqual(self.site.wait_exit(), 3)
        self.switch.unlink()
        self.site.start()
        self.assertEqual(self.site.records()[:len(acknowledged)], acknowledged)
        one = self.raw("BJ01")
        self.resend(one, "BJ01", number, lost, how)
        self.play(one, "BJ01", number + 1, 500, 1)
        self.site.stop()
        self.check_books()

    def test_a_sync_that_fails(self):
        self.fail_and_recover("sync")

    def test_a_sync_that_fails_later(self):
        self.fail_and_recover("sync 7")

    def test_a_full_disk(self):
        self.fail_and_recover("write")

    def test_a_disk_that_fills_up_in_a_commit(self):
        self.fail_and_recover("write 5")

    def test_a_limit_on_the_file(self):
        # The kernel's own refusal: the write-ahead log may not grow beyond this.
        self.site.env = {}
        self.site.start(preexec=lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
                                         resource.setrlimit(resource.RLIMIT_FSIZE,
                                                            (300_000, 300_000))))
        raw = self.raw()
        number = 1
        try:
            for each in range(1, 5000):
                number = self.play(raw, "BJ01", number, each, 1)
        except Exception:
            pass
        self.assertEqual(self.site.wait_exit(), 3)
        self.site.start()
        raw = self.raw()
        self.assertLessEqual(raw.welcome.last_number, number)
        self.assertGreaterEqual(raw.welcome.last_number, number - 1)
        self.assertEqual(self.account.compare(self.site), [])
        self.play(raw, "BJ01", raw.welcome.last_number + 1, 9000, 1)
        self.site.stop()
        self.check_books()

    def test_every_table_gets_unavailable_and_no_decision_of_the_batch(self):
        self.site.start()
        raws = {table: self.raw(table) for table in self.site.tables}
        for table, raw in raws.items():
            self.play(raw, table, 1, 1, 1)
        greeting = self.raw("BJ02", greet=False)  # has no Welcome yet, and gets no news
        self.switch.write_text("sync")
        for raw in raws.values():
            raw.send_bytes(raw.command(3, open_round=open_round(2)))
        for table, raw in raws.items():
            self.assertTrue(self.check_told(raw, 3), table)
        self.assertEqual(greeting.goodbye(), "UNAVAILABLE")
        self.assertEqual(self.site.wait_exit(), 3)
        self.switch.unlink()
        self.site.start()
        for table in self.site.tables:
            self.resend(self.raw(table), table, 3, 2, "sync")
        self.site.stop()
        self.check_books()

    def test_an_idle_daemon_notices_at_its_next_record(self):
        self.site.journal_options = {"heartbeat_s": 1}
        self.site.write_config()
        self.site.start()
        raw = self.raw()
        self.play(raw, "BJ01", 1, 1, 1)
        self.switch.write_text("sync")
        self.assertTrue(self.check_told(raw, 0))
        self.assertEqual(self.site.wait_exit(), 3)
        self.switch.unlink()
        self.site.start()
        self.site.stop()
        self.check_books()

    def test_a_reload_during_a_failure_gets_an_answer(self):
        self.site.start()
        raw = self.raw()
        self.play(raw, "BJ01", 1, 1, 1)
        self.switch.write_text("sync")
        self.site.issue("BJ07")
        self.site.tables.append("BJ07")
        self.site.write_config()
        answer = self.site.reload()
        self.assertTrue(answer.startswith("refused\n"), answer)
        self.assertEqual(self.site.wait_exit(), 3)
        self.switch.unlink()
        self.site.start()
        self.site.stop()
        self.check_books()

    def test_tables_return_the_wagers_and_the_books_agree(self):
        self.site.start()
        table, other = self.table("BJ01"), self.table("BJ02")
        for each in (table, other):
            each.connect()
            each.wait(each.open(1, [1, 2]))
            self.account.opened(each.table, 1, [1, 2])
        self.switch.write_text("sync")
        number = table.open(2, [3])  # without a decision when it fails
        for each in (table, other):
            with self.assertRaises(link_client.Goodbye) as caught:
                while True:
                    each.idle(5)
            self.assertEqual(caught.exception.why, "UNAVAILABLE")
            self.assertFalse(each.may_open_round)
        self.assertNotIn(number, table.decisions)
        self.assertEqual(self.site.wait_exit(), 3)
        self.switch.unlink()
        for each in (table, other):  # a supervisor's decision at each table (BJ 16.18)
            each.suspend(by="sue")
            each.resume(by="sue")

        self.site.start()
        self.account.opened("BJ01", 2, [3])
        self.account.voided("BJ01", 2)
        self.account.voided("BJ02", 1)
        for each in (table, other):
            each.port = self.site.port
            each.connect(patience=5)
            until(lambda: each.idle(0.05) or not each.outbox.entries, 5)
            self.assertTrue(each.may_open_round)
        suspended = self.site.records("table_suspended")
        self.assertEqual({(each["command"]["table"], each["command"]["ground"],
                           each["refunds"][0]["round"]) for each in suspended},
                         {("BJ01", "malfunction", 2), ("BJ02", "malfunction", 1)})
        self.site.stop()
        self.check_books()

    def test_the_table_library_reports_the_failure_and_the_supervisor_returns_the_wagers(self):
        self.site.link["listen"] = f"127.0.0.1:{free_port()}"
        self.site.write_config()
        self.site.start()
        floor = subprocess.Popen([KILL_FLOOR, str(self.site.folder), str(self.site.port), "BJ01",
                                  "BJ02", "--mid-round"])
        self.addCleanup(floor.wait)
        failures = 0
        for each in range(5):
            time.sleep(0.5)
            self.switch.write_text(f"{('sync', 'write')[each % 2]} {each}")
            self.assertEqual(self.site.wait_exit(), 3)
            failures += 1
            self.switch.unlink()
            self.site.start()
        time.sleep(0.5)
        floor.send_signal(signal.SIGTERM)
        self.assertEqual(floor.wait(30), 0)
        self.assertEqual(self.site.stop(), 0)
        opened = {(each["command"]["table"], each["command"]["round"]): each
                  for each in self.site.records("round_opened") if "refused" not in each}
        voided = {(each["table"], each["round"]) for record in self.site.records("table_suspended")
                  for each in record.get("refunds", [])}
        print(f"    {failures} failures, {len(opened)} rounds, {len(voided)} voided", file=sys.stderr)
        self.assertGreater(len(voided), 0)
        self.read_floor(["BJ01", "BJ02"], voided)
        self.check_books()

    def read_floor(self, tables, voided):
        for table in tables:
            intents = {}
            for line in (self.site.folder / f"{table}.notes").read_text().splitlines():
                what, *words = line.split()
                self.assertNotEqual(what, "fault", line)
                if what == "intent":
                    intents[int(words[0])] = [int(seat) for seat in words[1]]
                elif what == "stored":
                    self.account.opened(table, int(words[0]), intents[int(words[0])])
                elif what == "suspended":
                    self.account.voided(table, int(words[0]))
        self.assertEqual(voided, {(table, number) for table, number, _ in self.account.returned})


class Reads(SiteTest):
    """The daemon can't open the journal's files for reading, because it has no descriptor left. That
    is the error of the request that needs them: the table connects again, and the daemon goes on."""

    def setUp(self):
        super().setUp()
        self.site.start()
        self.assertTrue(until(lambda: any("records verify" in line for line in self.site.log)))
        self.raws = {table: self.raw(table) for table in ("BJ01", "BJ02")}
        for table, raw in self.raws.items():
            self.play(raw, table, 1, 1, 2)

    def set_free_descriptors(self, count):
        """Lets the daemon open that many more descriptors; all that it may have if None."""
        pid = self.site.process.pid
        _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        limit = hard
        if count is not None:
            used = {int(each) for each in os.listdir(f"/proc/{pid}/fd")}
            unused = (each for each in itertools.count() if each not in used)
            limit = next(itertools.islice(unused, count, None))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (limit, hard))

    def check_recovery(self, failed_reads):
        """The other table has played on; BJ01 connects again and gets its decisions."""
        self.play(self.raws["BJ02"], "BJ02", 5, 3, 2)
        self.set_free_descriptors(None)
        self.assertEqual(self.site.status()["failed_reads"], failed_reads)
        self.assertTrue(until(lambda: any(
            "table BJ01 is disconnected, because the journal could not be read" in line
            for line in self.site.log)))
        raw = self.raw("BJ01", receipt=self.raws["BJ01"].receipt.note)
        self.assertEqual(raw.welcome.last_number, 4)
        again = raw.ask(3, open_round=open_round(2, (1, 2)))
        self.assertTrue(again.again)
        self.assertEqual(again.record, self.account.decided["BJ01", 3])
        self.play(raw, "BJ01", 5, 3, 1)
        self.assertEqual(self.site.stop(), 0)
        self.check_books()

    def test_a_decision_that_cannot_be_read_again(self):
        raw = self.raws["BJ01"]
        self.set_free_descriptors(0)
        raw.send_bytes(raw.command(3, open_round=open_round(2, (1, 2))))
        self.assertEqual(raw.goodbye(), "BUSY")
        self.check_recovery(1)

    def test_a_receipt_that_cannot_be_checked(self):
        for _ in range(3):
            self.set_free_descriptors(1)  # for the connection
            raw = self.raw("BJ01", greet=False)
            raw.send(hello(self.raws["BJ01"].receipt.note))
            self.assertEqual(raw.goodbye(), "BUSY")
        self.check_recovery(3)


if __name__ == "__main__":
    main()
