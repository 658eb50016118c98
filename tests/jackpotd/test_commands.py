"""Commands that come twice, out of order, with other contents, too fast, or make no sense."""

import time

from support.link_client import pb
from support.programs import until
from support.site import POOLS, SiteTest, main, open_round, refusal_of, result

WHY = pb.Rejected.Why.Name
SEVENS = {1: ("7D", "7D")}


def without_words(decision):
    """The fields of a Decision that a repeated answer must have: all except the texts and `again`."""
    copy = pb.Decision()
    copy.CopyFrom(decision)
    copy.refusal.detail = b""
    if not decision.HasField("refusal"):
        copy.ClearField("refusal")
    copy.again = False
    return copy


class Again(SiteTest):
    options = {"link": {"offline_after_ms": 2000}, "pools": {
        **POOLS, "B7": {**POOLS["B7"], "simultaneity_window_ms": 500}}}

    # One of each kind, and refused ones among them. Numbers begin at 1.
    def commands(self):
        return [
            {"open_round": open_round(1, (1, 2, 3))},
            {"void_wager": pb.VoidWager(round=1, seat=3, ground=pb.VoidWager.REFUSED,
                                         reason=b"late", by=b"sue")},
            {"report_result": result(1, ("9H",), SEVENS)},
            {"correct_result": pb.CorrectResult(result=result(1, ("7D",), SEVENS), by=b"sue")},
            {"confirm_jackpot": pb.ConfirmJackpot(round=1)},
            {"close_round": pb.CloseRound(round=1)},
            {"open_round": open_round(2, (1, 1))},                              # refused
            {"open_round": open_round(2, (4,), player_card=b"P-77")},
            {"void_round": pb.VoidRound(round=2, ground=pb.VoidRound.DEALING_ERROR, by=b"sue")},
            {"report_result": result(9, ("9H",))},                              # refused
            {"suspend": pb.Suspend(ground=pb.Suspend.MALFUNCTION, reason=b"shuffler",
                                   by=b"sue")},
            {"open_round": open_round(3)},                                      # refused
            {"resume": pb.Resume(reason=b"mended", by=b"sue")},
            {"confirm_jackpot": pb.ConfirmJackpot(round=2)},                    # refused
        ]

    def first_time(self, raw):
        first = {}
        for number, what in enumerate(self.commands(), 1):
            first[number] = raw.ask(number, **what)
            self.assertIsInstance(first[number], pb.Decision)
            self.assertFalse(first[number].again)
        refused = [number for number, each in first.items() if each.HasField("refusal")]
        self.assertEqual(refused, [7, 10, 12, 14])
        self.account.opened("BJ01", 1, (1, 2, 3))
        self.account.returned.add(("BJ01", 1, 3))
        self.account.opened("BJ01", 2, (4,))
        self.account.voided("BJ01", 2)
        self.account.decided = {("BJ01", number): each.record for number, each in first.items()}
        return first

    def check_again(self, raw, first):
        for number, what in enumerate(self.commands(), 1):
            again = raw.ask(number, **what)
            self.assertIsInstance(again, pb.Decision, f"{number}: {again}")
            self.assertTrue(again.again)
            self.assertEqual(without_words(again), without_words(first[number]), number)
            self.assertGreater(raw.receipt.size, again.record)

    def test_every_kind_gets_the_same_answer_again(self):
        self.site.start()
        raw = self.raw(beats=True)
        first = self.first_time(raw)
        raw.idle(self.site.settle_after_ms("B7") / 1000)
        self.assertTrue(self.site.records("settle_due"))  # the jackpot of round 1
        before = len(self.site.records())
        self.check_again(raw, first)
        self.check_again(self.raw(), first)
        self.assertEqual(len(self.site.records()), before, "what came again left a record")
        self.site.kill()
        self.site.start()
        self.check_again(self.raw(), first)
        self.site.stop()
        self.check_books(jackpots=True)

    def test_a_repeated_command_is_in_flight_only_until_its_answer(self):
        self.site.start()
        raw = self.raw()
        self.play(raw, "BJ01", 1, 1, 1)
        for _ in range(100):
            self.assertTrue(raw.ask(1, open_round=open_round(1, (1, 2))).again)
        self.play(raw, "BJ01", 3, 2, 5)
        self.site.stop()
        self.check_books()

    def test_a_repeated_command_may_differ_only_in_its_age(self):
        self.site.start()
        raw = self.raw()
        first = self.first_time(raw)
        raw.send_bytes(raw.command(5, age_ms=777, confirm_jackpot=pb.ConfirmJackpot(round=1)))
        again = raw.answer(5)
        self.assertTrue(again.again)
        self.assertEqual(again.record, first[5].record)
        # An age of another kind of command is not journaled at all.
        raw.send_bytes(raw.command(1, age_ms=777, open_round=open_round(1, (1, 2, 3))))
        self.assertTrue(raw.answer(1).again)

        before = [each for each in self.site.records() if "from" in each]
        others = [
            (1, {"open_round": open_round(1, (1, 2))}),
            (1, {"open_round": open_round(7, (1, 2, 3))}),
            (1, {"open_round": open_round(1, (1, 2, 3)), "clock_ms": 5}),
            (1, {"suspend": pb.Suspend(ground=pb.Suspend.CLOSED, by=b"y")}),
            (2, {"void_wager": pb.VoidWager(round=1, seat=3, ground=pb.VoidWager.REFUSED,
                                             reason=b"late", by=b"tom")}),
            (3, {"report_result": result(1, ("8H",), SEVENS)}),
            (5, {"confirm_jackpot": pb.ConfirmJackpot(round=3)}),
            (6, {"close_round": pb.CloseRound(round=2)}),
            (7, {"open_round": open_round(2, (1, 2))}),
            (8, {"open_round": open_round(2, (4,), player_card=b"P-78")}),
            (11, {"suspend": pb.Suspend(ground=pb.Suspend.MALFUNCTION, reason=b"shuffler",
                                        by=b"tom")}),
            (0, {"open_round": open_round(8)}),
        ]
        for number, what in others:
            rejected = raw.ask(number, **what)
            self.assertIsInstance(rejected, pb.Rejected, f"{number}: {rejected}")
            self.assertEqual(WHY(rejected.why), "CONFLICT")
            self.assertEqual(rejected.expected, len(first) + 1)
        self.assertEqual([each for each in self.site.records() if "from" in each], before)
        self.assertEqual(len(self.site.alarms("conflict")), 1, "more than one alarm a minute")
        self.play(raw, "BJ01", 15, 20, 2)
        self.site.stop()
        self.check_books(jackpots=True)

    def test_numbers_that_were_decided_long_ago_are_conflicts(self):
        self.site.start()
        raw = self.raw()
        self.play(raw, "BJ01", 1, 1, 20)
        self.assertTrue(raw.ask(9, open_round=open_round(5, (1, 2))).again)
        self.assertEqual(WHY(raw.ask(8, report_result=result(4)).why), "CONFLICT")
        self.site.stop()
        self.check_books()


class Order(SiteTest):
    def test_a_gap_is_out_of_order_and_uses_no_number(self):
        self.site.start()
        raw = self.raw()
        for number in (2, 3, 40, 2**64 - 1):
            rejected = raw.ask(number, open_round=open_round(1))
            self.assertEqual((WHY(rejected.why), rejected.expected), ("OUT_OF_ORDER", 1))
        self.play(raw, "BJ01", 1, 1, 3)
        self.assertEqual(raw.ask(9, open_round=open_round(9)).expected, 7)
        self.play(raw, "BJ01", 7, 4, 3)
        self.site.stop()
        self.check_books()

    def test_more_than_32_in_flight_ends_the_connection(self):
        self.site.start()
        raw = self.raw()
        self.play(raw, "BJ01", 1, 1, 1)
        frames = b"".join(raw.command(number, open_round=open_round(number, ()))
                          for number in range(3, 3 + 2000))
        raw.send_bytes(frames)
        self.assertEqual(raw.goodbye(), "TOO_MUCH")
        raw = self.raw()
        numbers = [each["from"]["number"] for each in self.site.records() if "from" in each]
        self.assertEqual(numbers, list(range(1, len(numbers) + 1)))
        self.assertEqual(raw.welcome.last_number, len(numbers))
        for number in numbers[2:]:
            self.account.opened("BJ01", number, ())
        self.play(raw, "BJ01", len(numbers) + 1, 5000, 1)
        self.site.stop()
        self.check_books()

    def test_commands_beyond_one_read_do_not_wait(self):
        self.site.start()
        raw = self.raw()

        def void(number, reason=b""):
            return raw.command(number + 1, void_round=pb.VoidRound(
                round=number, ground=pb.VoidRound.DEALING_ERROR, by=b"sue", reason=reason))

        def rounds(size):
            text = b"P" * size
            return b"".join(
                raw.command(number, open_round=open_round(number, (1, 2, 3), approved_by=text))
                + void(number, text) for number in range(1, 31, 2))

        # To a full TLS record; the last frame has a small one of its own right behind it.
        frames = next(each for each in map(rounds, range(256, 0, -1)) if len(each) < 16384 - 60)
        last, text = b"", b""
        while len(frames + last) < 16384:
            last = raw.command(31, open_round=open_round(31, approved_by=text))
            text += b"x"
        self.assertEqual(len(frames + last), 16384)
        for number in range(1, 31, 2):
            self.account.opened("BJ01", number, (1, 2, 3))
            self.account.voided("BJ01", number)
        self.account.opened("BJ01", 31, (1,))
        self.account.voided("BJ01", 31)
        for _ in range(3):
            raw.stream.settimeout(5)
            start = time.monotonic()
            raw.send_bytes(frames + last + void(31))
            raw.answer(32, 0.6)
            self.assertLess(time.monotonic() - start, 0.6)
        self.site.stop()
        self.check_books()

    def test_commands_that_cannot_be_read_are_malformed(self):
        self.site.start()
        raw = self.raw()
        ground = pb.Suspend.MALFUNCTION
        for what in ({"suspend": pb.Suspend(ground=ground, reason=b"\xff\xfe", by=b"sue")},
                     {"suspend": pb.Suspend(ground=ground, reason=b"x" * 257, by=b"sue")},
                     {"suspend": pb.Suspend(by=b"sue")},
                     {"void_round": pb.VoidRound(round=1, by=b"sue")},
                     {"void_wager": pb.VoidWager(round=1, seat=1, by=b"sue")},
                     {"open_round": pb.OpenRound(round=1, wagers=[pb.Wager(seat=1)] * 65)}):
            self.assertEqual(WHY(raw.ask(1, **what).why), "MALFORMED")
        raw.send(pb.ToDaemon(command=pb.Command(number=1)))
        self.assertEqual(WHY(raw.answer(1).why), "MALFORMED")
        self.play(raw, "BJ01", 1, 1, 1)  # decided after the alarm was journaled
        self.assertEqual(len(self.site.alarms("malformed_command")), 1)
        self.site.stop()
        self.check_books()


class Unreasonable(SiteTest):
    options = {"link": {"refusals_per_minute": 5, "rounds_per_minute": 8}}

    def test_results_and_rounds_that_make_no_sense_are_refused(self):
        self.site.start()
        raw = self.raw()
        self.assertEqual(refusal_of(raw.ask(1, report_result=result(1))), "no_open_round")
        self.play(raw, "BJ01", 2, 5, 1)
        self.assertEqual(refusal_of(raw.ask(4, open_round=open_round(4))), "round_not_newer")
        self.assertEqual(refusal_of(raw.ask(5, open_round=open_round(6, (1, 8)))),
                         "seat_out_of_range")
        self.assertEqual(refusal_of(raw.ask(6, report_result=result(6))), "wrong_round")
        refused = [each["refused"]["code"] for each in self.site.records() if "refused" in each]
        self.assertEqual(refused, ["no_open_round", "round_not_newer", "seat_out_of_range",
                                   "wrong_round"])
        self.play(raw, "BJ01", 7, 7, 1)
        self.site.stop()
        self.check_books()

    def test_more_refusals_than_configured_suspend_the_table(self):
        self.site.start()
        raw = self.raw()
        self.play(raw, "BJ01", 1, 1, 1)
        for number in range(3, 8):
            raw.ask(number, report_result=result(99))
        self.assertEqual(self.site.records("table_suspended"), [])
        raw.send_bytes(raw.command(8, report_result=result(99)))
        suspension = raw.expect("suspension")
        self.assertTrue(suspension.suspended)
        self.assertIn(b"5 refusals", suspension.reason)
        record, = self.site.records("table_suspended")
        command = record["command"]
        self.assertEqual((command["table"], command["ground"], command["from"], command["by"]),
                         ("BJ01", "malfunction", "desk", ["jackpotd"]))
        self.assertTrue(suspension.by_desk)
        until(lambda: any("notice to the inspector" in line for line in self.site.log))
        self.assertEqual(len(self.site.alarms("refusals")), 1)
        self.assertEqual(refusal_of(raw.ask(9, open_round=open_round(9))), "table_suspended")
        state = self.raw().welcome.state
        self.assertTrue(state.suspended and state.suspended_by_desk)
        # A table can't end it.
        self.assertEqual(refusal_of(self.raw().ask(10, resume=pb.Resume(by=b"sue"))),
                         "suspended_by_desk")
        self.play(self.raw("BJ02"), "BJ02", 1, 1, 1)
        self.site.stop()
        self.check_books()

    def test_conflicts_and_garbage_count_as_refusals(self):
        self.site.start()
        raw = self.raw()
        self.play(raw, "BJ01", 1, 1, 1)
        for _ in range(6):
            raw.ask(1, open_round=open_round(77))
        self.assertTrue(raw.expect("suspension").suspended)
        raw = self.raw("BJ02")
        for _ in range(6):
            raw.ask(1, suspend=pb.Suspend(reason=b"\xff"))
        self.assertTrue(raw.expect("suspension").suspended)
        self.site.stop()
        self.check_books()

    def test_a_wrong_count_of_wagers_suspends_the_table(self):
        self.site.start()
        raw = self.raw()
        self.play(raw, "BJ01", 1, 1, 2)
        good = pb.ToDaemon(heartbeat=pb.Heartbeat(wagers=4, as_of=4))
        early = pb.ToDaemon(heartbeat=pb.Heartbeat(wagers=2, as_of=2))
        raw.send(good)
        raw.send(early)  # counted before the newest decision: cannot be compared
        raw.send(pb.ToDaemon(query=pb.Query()))
        self.assertFalse(raw.expect("state").suspended)
        raw.send(pb.ToDaemon(heartbeat=pb.Heartbeat(wagers=5, as_of=4)))
        suspension = raw.expect("suspension")
        self.assertIn(b"5 wagers", suspension.reason)
        self.assertEqual(len(self.site.alarms("wager_count")), 1)
        self.assertEqual(len(self.site.records("table_suspended")), 1)
        raw.send(pb.ToDaemon(heartbeat=pb.Heartbeat(wagers=5, as_of=4)))
        self.assertEqual(refusal_of(raw.ask(5, open_round=open_round(5))), "table_suspended")
        self.assertEqual(len(self.site.records("table_suspended")), 1)
        self.site.stop()
        self.check_books()

    def test_more_rounds_than_a_table_plays_are_too_fast(self):
        self.site.start()
        raw = self.raw()
        number = self.play(raw, "BJ01", 1, 1, 8)
        before = len(self.site.records("round_opened"))
        for _ in range(3):
            rejected = raw.ask(number, open_round=open_round(9))
            self.assertEqual((WHY(rejected.why), rejected.expected), ("TOO_FAST", number))
        self.assertEqual(len(self.site.records("round_opened")), before)
        self.assertEqual(len(self.site.alarms("too_fast")), 1)
        self.assertTrue(raw.ask(1, open_round=open_round(1, (1, 2))).again)
        self.play(self.raw("BJ02"), "BJ02", 1, 1, 8)
        self.site.stop()
        self.check_books()


if __name__ == "__main__":
    main()
