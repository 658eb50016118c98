"""Receipts: connections that are replaced, and journals that are restarted, rolled back or forked."""

import base64
import shutil
import time

from support import link_client
from support.link_client import pb
from support.programs import JACKPOT_AUDIT, JACKPOTCTL, must, until
from support.site import NAME, SiteTest, hello, main, open_round, result


class Replaced(SiteTest):
    def test_the_newest_connection_of_a_table_wins_and_nothing_is_lost(self):
        self.site.start()
        old = self.raw()
        number = self.play(old, "BJ01", 1, 1, 2)
        # On its way when the other comes.
        old.send_bytes(old.command(number, open_round=open_round(3)))
        new = self.raw()
        self.assertEqual(old.goodbye(), "REPLACED")
        again = new.ask(number, open_round=open_round(3))
        self.assertEqual(again.again, new.welcome.last_number == number)
        self.account.opened("BJ01", 3, (1,))
        self.account.decided["BJ01", number] = again.record
        new.ask(number + 1, report_result=result(3))
        self.play(new, "BJ01", number + 2, 4, 2)
        self.site.stop()
        self.check_books()

    def test_two_controllers_that_take_turns_lose_nothing(self):
        self.site.start()
        number, goodbyes = 1, 0
        previous = None
        for each in range(1, 41):
            raw = self.raw()
            raw.send_bytes(raw.command(number, open_round=open_round(each))
                           + raw.command(number + 1, report_result=result(each)))
            if each % 2 == 0:
                raw.answer(number + 1)
            if previous is not None:
                goodbyes += previous.goodbye() == "REPLACED"
            previous = raw
            # The next connection resends the commands without an answer, like a table.
            if each % 2 == 1:
                raw = self.raw()
                raw.send_bytes(raw.command(number, open_round=open_round(each))
                               + raw.command(number + 1, report_result=result(each)))
                raw.answer(number + 1)
                goodbyes += previous.goodbye() == "REPLACED"
                previous = raw
            self.account.opened("BJ01", each, (1,))
            number += 2
        self.assertEqual(goodbyes, 59)
        self.site.stop()
        self.check_books()


class RolledBack(SiteTest):
    options = {"journal": {"heartbeat_s": 1}}

    def copy(self, name):
        target = self.site.folder / name
        shutil.copytree(self.site.journal, target,
                        ignore=shutil.ignore_patterns("control.sock", "journal.lock"))
        return target

    def restore(self, copy):
        shutil.rmtree(self.site.journal)
        shutil.copytree(copy, self.site.journal)

    def commands(self):
        return [each for each in self.site.records() if "command" in each]

    def test_a_restarted_daemon_accepts_the_receipt(self):
        self.site.start()
        table = self.table()
        table.connect()
        for each in range(1, 4):
            table.wait(table.open(each, [1]))
            self.account.opened("BJ01", each, [1])
            table.wait(table.result(each, ["9H"], {}))
        for how in (self.site.kill, self.site.stop):
            how()
            self.site.start()
            table.port = self.site.port
            table.connect(patience=5)
            self.assertEqual(self.site.alarms("receipt"), [])
        self.site.stop()
        self.check_books()

    def test_a_journal_behind_a_receipt_locks_the_daemon(self):
        self.site.start()
        raw = self.raw()
        number = self.play(raw, "BJ01", 1, 1, 2)
        self.site.stop()
        copy = self.copy("copy")
        self.site.start()
        raw = self.raw()
        self.play(raw, "BJ01", number, 3, 3)
        newest = raw.receipt.note
        self.site.stop()
        self.restore(copy)

        self.site.start()
        other = self.raw("BJ02")
        self.play(other, "BJ02", 1, 1, 1)  # nobody knows yet
        before = self.commands()
        raw = self.raw(greet=False)
        raw.send(hello(newest))
        self.assertEqual(raw.goodbye(), "LOCKED")
        self.assertEqual(other.goodbye(), "LOCKED")
        late = self.raw("UTH01", greet=False)
        late.send(hello())
        self.assertEqual(late.goodbye(), "LOCKED")
        alarm, = self.site.alarms("receipt")
        self.assertEqual(alarm["table"], "BJ01")
        self.assertIn("rolled back", alarm["detail"])
        # Nothing is decided, and the daemon uses no processor time while it waits.
        busy = self.site.cpu_seconds()
        time.sleep(2.5)
        self.assertLess(self.site.cpu_seconds() - busy, 0.3, "a locked daemon is busy")
        self.assertEqual([each for each in self.commands()
                          if each["kind"] != "table_offline"], before)
        self.assertEqual(self.site.stop(), 0)
        self.site.verify()

    def test_a_locked_daemon_settles_nothing(self):
        self.site.link["offline_after_ms"] = 2000
        self.site.pools["B7"]["simultaneity_window_ms"] = 2000  # and 5 s until it is due
        self.site.write_config()
        self.site.start()
        raw = self.raw()
        raw.ask(1, open_round=open_round(1))
        raw.ask(2, report_result=result(1, ("7D",), {1: ("7D", "7D")}))
        raw.ask(3, confirm_jackpot=pb.ConfirmJackpot(round=1))
        self.site.kill()
        copy = self.copy("copy")
        self.site.start()
        raw = self.raw()
        self.play(raw, "BJ01", 4, 2, 1)
        newest = raw.receipt.note
        self.site.kill()
        self.restore(copy)
        self.site.start()
        raw = self.raw(greet=False)
        raw.send(hello(newest))
        self.assertEqual(raw.goodbye(), "LOCKED")
        self.assertEqual(self.site.records("settle_due"), [], "too slow for this test")
        time.sleep(5.5)
        self.assertEqual(self.site.records("settle_due"), [])
        self.site.stop()
        # After a restart the daemon is not locked until a table shows its receipt: the jackpot is still due.
        self.site.start()
        self.assertEqual(len(until(lambda: self.site.records("settle_due"), 2)), 1)
        self.site.stop()
        self.site.verify()

    def test_a_forked_history_locks_the_daemon(self):
        self.site.start()
        raw = self.raw()
        number = self.play(raw, "BJ01", 1, 1, 2)
        self.site.stop()
        copy = self.copy("copy")
        self.site.start()
        raw = self.raw()
        self.play(raw, "BJ01", number, 3, 1)
        receipt = raw.receipt
        self.site.stop()
        self.restore(copy)
        self.site.start()
        other = self.raw("BJ02")
        self.play(other, "BJ02", 1, 1, 20)  # longer than the other branch
        self.assertGreater(len(self.site.records()), receipt.size)
        raw = self.raw(greet=False)
        raw.send(hello(receipt.note))
        self.assertEqual(raw.goodbye(), "LOCKED")
        self.assertIn("another history", self.site.alarms("receipt")[0]["detail"])
        self.site.stop()
        self.site.verify()

    def test_the_python_client_sends_its_receipt(self):
        self.site.start()
        table = self.table()
        table.connect()
        table.wait(table.open(1, [1]))
        self.site.kill()
        copy = self.copy("copy")
        self.site.start()
        table.port = self.site.port
        table.connect(patience=5)
        table.wait(table.result(1, ["9H"], {}))
        self.site.kill()
        self.restore(copy)
        self.site.start()
        table.port = self.site.port
        with self.assertRaises(link_client.Goodbye) as caught:
            table.connect()
        self.assertEqual(caught.exception.why, "LOCKED")


class NotOurs(SiteTest):
    def test_other_receipts_are_ignored_with_a_warning(self):
        self.site.start()
        raw = self.raw()
        number = self.play(raw, "BJ01", 1, 1, 2)
        good = raw.receipt.note
        lines = good.decode().split("\n")
        tampered = "\n".join([lines[0], str(10**6)] + lines[2:]).encode()
        name, _, signature = lines[4].rpartition(" ")
        bits = bytearray(base64.b64decode(signature))
        bits[-1] ^= 1
        badly_signed = "\n".join(lines[:4] + [f"{name} {base64.b64encode(bits).decode()}"] +
                                 lines[5:]).encode()
        self.assertNotEqual(badly_signed, good)

        # A journal of the same name, longer, with another key.
        other = self.site.folder / "other"
        must(JACKPOT_AUDIT, "keygen", "--name", NAME, "--out", self.site.folder / "other.key")
        must(JACKPOTCTL, "journal", "create", "--key", self.site.folder / "other.key", "--name",
             NAME, other)
        foreign = must(JACKPOT_AUDIT, "checkpoint", "--key",
                       must(JACKPOT_AUDIT, "pubkey", "--name", NAME,
                            self.site.folder / "other.key").strip(), other).encode()

        for receipt in (tampered, badly_signed, foreign, b"garbage", b"\x00\xff" * 2000,
                        good[:50], good + b"x" * 5000, b"\n" * 4096):
            raw = self.raw(receipt=receipt)
            self.assertEqual(raw.welcome.last_number, number - 1)
        until(lambda: sum("receipt that this journal's key has not signed" in line for line in self.site.log) == 8)
        warned = [line for line in self.site.log if "receipt that this journal's key has not signed" in line]
        self.assertEqual(len(warned), 8, self.site.log)
        self.assertEqual(self.site.alarms("receipt"), [])
        raw = self.raw(receipt=good)
        self.play(raw, "BJ01", number, 3, 1)
        self.site.stop()
        self.check_books()

    def test_another_protocol_version_gets_a_goodbye(self):
        self.site.start()
        for version in (0, 2, 2**32 - 1):
            raw = self.raw(greet=False)
            raw.send(hello(version=version))
            self.assertEqual(raw.goodbye(), "VERSION")


class Reordered(SiteTest):
    def test_the_order_of_the_tables_in_the_file_makes_no_difference(self):
        self.site.start()
        one, two = self.raw("BJ01"), self.raw("UTH01")
        self.play(one, "BJ01", 1, 1, 2)
        self.play(two, "UTH01", 1, 1, 3)
        self.site.stop()
        self.site.issue("BJ05")
        self.site.tables = ["UTH01", "BJ05", "BJ02", "BJ01"]
        self.site.write_config()
        self.site.start()
        one, two, five = self.raw("BJ01"), self.raw("UTH01"), self.raw("BJ05")
        self.assertEqual([each.welcome.state.table for each in (one, two, five)],
                         [b"BJ01", b"UTH01", b"BJ05"])
        self.assertEqual([each.welcome.last_number for each in (one, two, five)], [4, 6, 0])
        self.play(one, "BJ01", 5, 3, 2)
        self.play(two, "UTH01", 7, 4, 2)
        self.play(five, "BJ05", 1, 1, 2)
        # And while it runs.
        self.site.issue("BJ06")
        self.site.tables = ["BJ06", "BJ01", "BJ02", "BJ05", "UTH01"]
        self.site.write_config()
        self.assertTrue(self.site.reload().startswith("ok\n"))
        six, two = self.raw("BJ06"), self.raw("UTH01")
        self.play(six, "BJ06", 1, 1, 2)
        self.play(two, "UTH01", 11, 6, 2)
        self.site.stop()
        self.check_books()


if __name__ == "__main__":
    main()
