"""The life of a jackpot with real links: locked at the press, held in time, put right until it is paid.

The amounts are computed by hand. Each wager of $5.00 adds $1.175 to the meter; two wagers make
$80,002.35. A tenth of it is $8,000.235, paid as $8,000.25; a tenth of the $72,002.11 that are then
displayed is $7,200.211, paid as $7,200.25. Two who won at the same time share $8,000.235 + $7,200.2115,
$7,600.25 each."""

import os
import time

from support.live_tables import SEVENS, TIER, LiveTest, awards_of, states_of
from support.programs import until
from support.site import main, refusal_of

SHIFT_CLOCK = os.environ["SHIFT_CLOCK"]
ALONE, SECOND, TOGETHER = 8_000_25, 7_200_25, 7_600_25


def award(cents, seat=1, tier=TIER):
    return (1, seat, tier, cents)


class Ties(LiveTest):
    def test_two_tables_tie_across_a_cut_link(self):
        self.arrive()
        one, two = self.live("BJ01"), self.live("BJ02")
        self.play(one, {1: SEVENS})
        self.play(two, {1: SEVENS})
        two.cut()
        decision = one.do("confirm", 1)
        late = two.send("confirm", 1)  # at the same time; it waits in the outbox
        self.assertEqual(awards_of(decision.locked), [award(ALONE)])
        self.assertEqual(decision.displayed_cents, 72_002_11)

        # The other table is offline with a claim when this win would be due: it is held instead.
        held = one.settlement(lambda each: states_of(each.claims) == [(1, 1, "held")])
        self.assertEqual((len(held.awards), len(one.state().due)), (0, 0))
        record = self.site.records()[held.record]
        self.assertEqual(record["kind"], "settle_due")
        self.assertGreaterEqual(record["time"] - self.site.records("jackpot_confirmed")[0]["time"],
                                3500)

        two.connect()
        decision = two.decision(late)
        self.assertEqual(states_of(decision.claims), [(1, 1, "held")])
        self.assertEqual(awards_of(decision.locked), [award(SECOND)])
        self.assertEqual(decision.displayed_cents, 64_801_90)
        command = self.site.records("jackpot_confirmed")[1]["command"]
        self.assertGreater(command["pressed_ago_ms"], 3000)
        holds = self.site.local("GET", "/api/v1/pools/B7/rulings")[1]["holds"]
        self.assertEqual([[each["table"] for each in hold["rounds"]] for hold in holds],
                         [["BJ01", "BJ02"]])

        self.rule(["BJ01", "BJ02"])
        for table in (one, two):
            due = table.settlement(lambda each: each.awards)
            self.assertEqual(awards_of(due.awards), [award(TOGETHER)])
            self.assertEqual(due.displayed_cents, 64_801_90)
        self.assertEqual(self.meter(), "64801.90350000")
        self.assertEqual(self.notices(), [("held", ["surveillance"])] * 2)
        self.end()

    def test_without_a_round_at_the_other_table_a_cut_link_holds_nothing(self):
        self.arrive()
        one, two = self.live("BJ01"), self.live("BJ02")
        self.play(one, {1: SEVENS}, seats=[1, 2])
        two.cut()
        one.do("confirm", 1)
        due = one.settlement(lambda each: each.awards)
        self.assertEqual(awards_of(due.awards), [award(ALONE)])
        self.assertTrue(self.site.records("table_offline"))
        self.assertEqual(self.notices(), [])
        self.end()


class LatePresses(LiveTest):
    """The clock of the journal jumps by a minute while the daemon is restarted."""

    def setUp(self):
        super().setUp()
        self.shift = self.site.folder / "shift"
        self.shift.write_text("0")
        self.site.env = {"LD_PRELOAD": SHIFT_CLOCK, "JACKPOT_CLOCK": str(self.shift)}

    def due_at_the_first_table(self):
        self.arrive()
        self.one, self.two = self.live("BJ01"), self.live("BJ02")
        self.play(self.one, {1: SEVENS})
        self.play(self.two, {1: SEVENS})
        self.one.do("confirm", 1)
        due = self.one.settlement(lambda each: each.awards)
        self.assertEqual(awards_of(due.awards), [award(ALONE)])

    def press_a_minute_late(self):
        """At the second table, 100 ms after the first one's press. The Decision."""
        pressed = self.site.records("jackpot_confirmed")[0]["time"] + 100
        self.site.stop()
        self.shift.write_text("60")
        self.site.start()
        self.people = {name: self.signed_in(name) for name in ("ann", "bob", "eye")}
        self.one.connect(self.site.port)
        self.two.connect(self.site.port)
        ago = time.time_ns() // 1_000_000 + 60_000 - pressed
        self.assertGreater(ago, 60_000)
        decision = self.two.do("confirm", 1, ago_ms=ago)
        self.assertIsNone(refusal_of(decision))
        return decision

    def test_against_a_win_that_is_due_and_not_paid_it_is_held(self):
        self.due_at_the_first_table()
        decision = self.press_a_minute_late()
        self.assertEqual(states_of(decision.claims), [(1, 1, "held")])
        withdrawn = self.one.settlement(lambda each: each.withdrawn)
        self.assertEqual(awards_of(withdrawn.withdrawn), [award(ALONE)])
        self.assertEqual(states_of(withdrawn.claims), [(1, 1, "held")])
        state = self.one.state()
        self.assertEqual((awards_of(state.due), awards_of(state.locked)), ([], [award(ALONE)]))
        self.assertTrue(state.pool.held)
        # Nobody pays it now. Its payment is recorded all the same if it was handed out before.
        self.assertEqual(self.notices(), [("held", ["surveillance"])] * 2)

        self.rule(["BJ02"], ["BJ01"])
        first = self.two.settlement(lambda each: each.awards)
        second = self.one.settlement(lambda each: each.awards and each.record == first.record)
        self.assertEqual(awards_of(first.awards), [award(ALONE)])
        self.assertEqual(awards_of(second.awards), [award(SECOND)])
        self.assertEqual(self.meter(), "64801.90400000")
        self.end()

    def test_against_a_paid_win_it_raises_a_notice(self):
        self.due_at_the_first_table()
        self.ask("ann", "claims/BJ01/1/payments",
                 {"seat": 1, "tier": TIER, "paid": "8000.25", "how": "chips"})
        self.one.settlement(lambda each: states_of(each.claims) == [(1, 1, "final")])
        decision = self.press_a_minute_late()
        self.assertEqual(states_of(decision.claims), [(1, 1, "locked")])
        self.assertEqual(awards_of(decision.locked), [award(SECOND)])
        self.assertEqual(self.notices(), [("late_press", ["surveillance", "inspector"])])
        due = self.two.settlement(lambda each: each.awards)
        self.assertEqual(awards_of(due.awards), [award(SECOND)])
        self.assertEqual(self.meter(), "64801.90400000")
        self.assertFalse([each for each in self.one.settlements() if each.withdrawn])
        self.end()


class PutRight(LiveTest):
    def test_a_correction_after_the_button_before_the_round_is_closed(self):
        self.arrive()
        table = self.live("BJ01")
        self.play(table, {1: SEVENS}, seats=[1, 2])
        self.assertEqual(awards_of(table.do("confirm", 1).locked), [award(ALONE)])
        right = {"board": ["7D"], "hands": [{"seat": 2, "cards": ["7D", "7D"]}], "reason": "camera 7"}
        self.by_two("tables/BJ01/rounds/1/correct", right)
        changed = table.settlement(lambda each: each.locked)
        diamonds = award(80_002_35, 2, "three_sevens_diamonds")
        self.assertEqual(awards_of(changed.locked), [diamonds])
        self.assertEqual(changed.displayed_cents, 50_000_00)
        self.assertEqual(sorted(states_of(changed.claims)), [(1, 1, "dropped"), (1, 2, "locked")])
        self.assertIsNone(refusal_of(table.do("close_round", 1)))
        answer = self.people["ann"].ask("POST", "/api/v1/tables/BJ01/rounds/1/correct", right)
        self.assertEqual((answer.status, answer.code), (409, "round_closed"), answer.text)

        # The press stands: it is due at its time, for the seat of the new result.
        due = table.settlement(lambda each: each.awards)
        self.assertEqual(awards_of(due.awards), [diamonds])
        waited = (self.site.records()[due.record]["time"]
                  - self.site.records("jackpot_confirmed")[0]["time"])
        self.assertTrue(3500 <= waited < 4500, waited)
        corrected, = self.site.records("result_corrected")
        self.assertEqual(sorted(corrected["command"]["by"]), ["ann", "bob"])
        self.assertEqual(self.meter(), "50000.00000000")
        self.end()

    def test_a_co_winner_is_found_invalid_before_payment(self):
        self.arrive()
        one, two = self.live("BJ01"), self.live("BJ02")
        self.play(one, {1: SEVENS})
        self.play(two, {1: SEVENS})
        one.do("confirm", 1)
        two.do("confirm", 1)
        self.rule(["BJ01", "BJ02"])
        for table in (one, two):
            self.assertEqual(awards_of(table.settlement(lambda each: each.awards).awards),
                             [award(TOGETHER)])

        self.by_two("tables/BJ02/rounds/1/wagers/1/void",
                    {"ground": "invalid_wager", "reason": "not the player's own base wager"})
        self.account.returned.add(("BJ02", 1, 1))
        gone = two.settlement(lambda each: each.withdrawn)
        self.assertEqual(awards_of(gone.withdrawn), [award(TOGETHER)])
        self.assertEqual([(each.round, each.seat, each.amount_cents) for each in gone.refunds],
                         [(1, 1, 500)])
        self.assertEqual(states_of(gone.claims), [(1, 1, "dropped")])
        anew = one.settlement(lambda each: each.withdrawn)
        self.assertEqual(anew.record, gone.record)
        self.assertEqual((awards_of(anew.withdrawn), awards_of(anew.awards)),
                         ([award(TOGETHER)], [award(ALONE)]))
        self.assertEqual(awards_of(one.state().due), [award(ALONE)])
        self.assertEqual(awards_of(two.state().due), [])
        self.assertEqual(self.meter(), "72000.94000000")

        # What is paid is final: the other winner can't be found invalid any more.
        self.ask("ann", "claims/BJ01/1/payments",
                 {"seat": 1, "tier": TIER, "paid": "8000.25", "how": "chips"})
        answer = self.people["ann"].ask(
            "POST", "/api/v1/tables/BJ01/rounds/1/wagers/1/void", {"ground": "invalid_wager"})
        self.assertEqual((answer.status, answer.code), (409, "award_paid"), answer.text)
        self.end()

    def test_withheld_and_released_awards_are_reported_to_the_table(self):
        self.arrive()
        table = self.live("BJ01")
        self.play(table, {1: SEVENS}, seats=[1, 2])
        table.do("confirm", 1)
        table.settlement(lambda each: each.awards)
        which = {"seat": 1, "tier": TIER, "reason": "the player's identity is checked"}
        self.by_two("claims/BJ01/1/withhold", which)
        withheld = table.settlement(lambda each: each.withheld)
        self.assertEqual(awards_of(withheld.withheld), [award(ALONE)])
        state = table.state()
        self.assertEqual((awards_of(state.due), awards_of(state.withheld)), ([], [award(ALONE)]))
        self.by_two("claims/BJ01/1/release", which)
        self.assertEqual(awards_of(table.settlement(lambda each: each.released).released),
                         [award(ALONE)])
        state = table.state()
        self.assertEqual((awards_of(state.due), awards_of(state.withheld)), ([award(ALONE)], []))
        self.end()


class PowerCut(LiveTest):
    def test_a_lock_stands_after_a_power_cut_and_is_due_in_time(self):
        self.arrive()
        table = self.live("BJ01")
        self.play(table, {1: SEVENS}, seats=[1, 2])
        decision = table.do("confirm", 1)
        self.assertEqual(awards_of(decision.locked), [award(ALONE)])
        time.sleep(0.5)
        self.site.kill()
        self.assertEqual(self.site.records("settle_due"), [])
        self.site.start()
        state = table.connect(self.site.port)
        self.assertEqual((awards_of(state.locked), awards_of(state.due)), ([award(ALONE)], []))
        self.assertEqual(states_of(state.claims), [(1, 1, "locked")])
        self.assertEqual((state.pool.displayed_cents, state.pool.locked), (72_002_11, True))
        due = table.settlement(lambda each: each.awards)
        self.assertEqual(awards_of(due.awards), [award(ALONE)])
        waited = (self.site.records()[due.record]["time"]
                  - self.site.records("jackpot_confirmed")[0]["time"])
        self.assertTrue(3500 <= waited < 4500, waited)
        self.assertEqual(len(self.site.records("settle_due")), 1)
        self.assertEqual(self.meter(), "72002.11500000")
        self.end()

    def test_a_win_that_falls_due_while_the_daemon_is_down_is_due_at_the_start(self):
        self.arrive()
        table = self.live("BJ01")
        self.play(table, {1: SEVENS}, seats=[1, 2])
        table.do("confirm", 1)
        self.site.kill()
        time.sleep(3.6)
        self.site.start()
        self.assertTrue(until(lambda: self.site.records("settle_due"), 2))
        self.assertEqual(awards_of(table.connect(self.site.port).due), [award(ALONE)])
        self.end()


class Offline(LiveTest):
    options = {**LiveTest.options, "link": {"offline_after_ms": 1000, "offline_notice_after_s": 3}}

    def test_a_table_that_is_offline_for_too_long_is_an_alarm_once(self):
        self.site.start()
        table, other = self.live("BJ01"), self.live("BJ02")
        table.cut()
        self.assertTrue(until(lambda: self.site.records("table_offline"), 5))
        time.sleep(2)
        self.assertEqual(self.site.alarms("table_offline"), [])
        self.assertTrue(until(lambda: self.site.alarms("table_offline"), 5))
        time.sleep(2)
        alarm, = self.site.alarms("table_offline")
        self.assertEqual((alarm["table"], alarm["detail"]), ("BJ01", "no link for more than 3 s"))
        lost = self.site.records("table_offline")[0]
        self.assertGreater(alarm["time"] - lost["time"], 3000)
        table.connect()
        self.assertEqual(other.state().table, b"BJ02")
        self.site.stop()
        self.site.verify()


if __name__ == "__main__":
    main()
