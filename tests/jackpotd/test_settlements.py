"""Rounds across restarts of the table, and the settlements that tables receive."""

import os
import signal
import sys
import time

from support.link_client import pb
from support.programs import until
from support.site import SiteTest, main, open_round, refusal_of, result


class MidRound(SiteTest):
    def test_a_table_that_restarts_continues_its_round(self):
        self.site.start()
        table = self.table()
        table.connect()
        table.wait(table.open(7, [2, 5]))
        self.account.opened("BJ01", 7, [2, 5])
        table.close()
        (self.site.folder / "BJ01.outbox").unlink()  # even with a new disk
        table = self.table()
        table.connect()
        state = table.state
        self.assertEqual((state.round_opened, state.round, state.result_in, state.voided),
                         (True, 7, False, False))
        self.assertEqual([each.seat for each in state.wagered], [2, 5])
        self.assertEqual((state.wagers, state.last_number, state.wager_cents), (2, 1, 500))
        decision = table.wait(table.result(7, ["7D"], {2: ["7D", "7D"]}))
        self.assertEqual(decision.claims[0].state, b"claimed")
        table.close()

        table = self.table()
        table.connect()
        self.assertTrue(table.state.result_in)
        self.assertEqual([(each.seat, each.tier, each.claims) for each in table.state.wagered],
                         [(2, b"three_sevens_diamonds", True), (5, b"", False)])
        self.assertFalse(table.state.confirmed)
        table.wait(table.confirm(7))
        table.idle(2.5)
        self.assertTrue([each for each in table.news if isinstance(each, pb.Settlement)])
        self.site.stop()
        self.check_books(jackpots=True)


class Jackpots(SiteTest):
    def win(self, raw, table, number, round_number, board=("7D",), cards=("7D", "7D"), age_ms=0):
        decision = raw.ask(number, open_round=open_round(round_number, (1,)))
        self.assertIsNone(refusal_of(decision))
        self.account.opened(table, round_number, (1,))
        raw.ask(number + 1, report_result=result(round_number, board, {1: cards}))
        raw.send_bytes(raw.command(number + 2, age_ms=age_ms,
                                   confirm_jackpot=pb.ConfirmJackpot(round=round_number)))
        return raw.answer(number + 2)

    def news(self, raw, wanted, timeout=3.0):
        """Waits for a PoolNews with these flags."""
        end = time.monotonic() + timeout
        while True:
            pool = raw.expect("pool", max(end - time.monotonic(), 0.01))
            if (pool.pending, pool.held) == wanted:
                return pool

    def test_a_settlement_is_pushed_after_its_window(self):
        self.site.start()
        raw, other = self.raw("BJ01"), self.raw("BJ02")
        start = time.monotonic()
        decision = self.win(raw, "BJ01", 1, 1)
        self.assertEqual(decision.claims[0].state, b"pending")
        self.news(other, (True, False))
        settlement = raw.expect("settlement")
        self.assertAlmostEqual(time.monotonic() - start, 2.0, delta=0.4)
        award, = settlement.awards
        self.assertEqual((award.round, award.seat, award.tier, award.amount_cents),
                         (1, 1, b"three_sevens_diamonds", 5000120))
        self.assertEqual(settlement.displayed_cents, 5000000)
        self.assertEqual(settlement.claims[0].state, b"settled")
        self.assertGreater(settlement.receipt.size, settlement.record)
        record = self.site.records()[settlement.record]
        self.assertEqual((record["kind"], record["awards"][0]["amount"]),
                         ("settle_due", "50001.20000000"))
        self.assertEqual(self.news(other, (False, False)).displayed_cents, 5000000)
        self.site.stop()
        self.check_books(jackpots=True)

    def test_a_disconnected_table_finds_its_award_due_on_return(self):
        self.site.start()
        raw = self.raw("BJ01")
        self.win(raw, "BJ01", 1, 1)
        raw.close()
        until(lambda: self.site.records("settle_due"), 4)
        for restart in (False, True):
            if restart:
                self.site.kill()
                self.site.start()
            due, = self.raw("BJ01").welcome.state.due
            self.assertEqual((due.round, due.seat, due.tier, due.amount_cents),
                             (1, 1, b"three_sevens_diamonds", 5000120))
        self.site.stop()
        self.check_books(jackpots=True)

    def test_a_window_that_ends_while_the_daemon_is_down_is_settled_at_the_start(self):
        self.site.start()
        raw = self.raw("BJ01")
        self.win(raw, "BJ01", 1, 1)
        self.site.kill()
        time.sleep(2.1)
        self.site.start()
        self.assertTrue(until(lambda: self.site.records("settle_due"), 2))
        self.assertEqual(len(self.raw("BJ01").welcome.state.due), 1)
        self.site.stop()
        self.check_books(jackpots=True)

    def test_presses_within_the_window_are_held(self):
        self.site.start()
        one, two = self.raw("BJ01"), self.raw("BJ02")
        self.assertEqual(self.win(one, "BJ01", 1, 1).claims[0].state, b"pending")
        self.news(two, (True, False))
        decision = self.win(two, "BJ02", 1, 1)
        self.assertEqual(decision.claims[0].state, b"held")
        pushed = one.expect("settlement")  # of no amount: the claim's new state
        self.assertEqual((pushed.claims[0].state, len(pushed.awards)), (b"held", 0))
        for raw in (one, two):
            self.news(raw, (False, True))
        time.sleep(2.5)
        self.assertEqual(self.site.records("settle_due"), [])
        state = self.raw("BJ01").welcome.state
        self.assertTrue(state.pool.held)
        self.assertEqual(len(state.due), 0)
        self.site.kill()
        self.site.start()
        self.assertTrue(self.raw("BJ02").welcome.state.pool.held)
        self.site.stop()
        self.check_books(jackpots=True)

    def test_the_age_of_a_press_decides(self):
        # Both arrive within the window; one was pressed long before: no tie.
        self.site.start()
        one, two = self.raw("BJ01"), self.raw("BJ02")
        self.win(one, "BJ01", 1, 1)
        decision = self.win(two, "BJ02", 1, 1, age_ms=60_000)
        self.assertEqual(decision.claims[0].state, b"pending")
        self.site.stop()
        self.check_books(jackpots=True)

    def test_more_awards_than_fit_in_a_frame(self):
        self.site.start()
        raw = self.raw("BJ01")
        rounds, number = 60, 1
        sevens = {1: ("7D", "7D"), 2: ("7D", "7D")}
        for each in range(1, rounds + 1):
            raw.send_bytes(
                raw.command(number, open_round=open_round(each, (1, 2)))
                + raw.command(number + 1, report_result=result(each, ("7D",), sevens))
                + raw.command(number + 2, confirm_jackpot=pb.ConfirmJackpot(round=each)))
            self.account.opened("BJ01", each, (1, 2))
            self.assertIsNone(refusal_of(raw.answer(number + 2)))
            number += 3
        # All of them are due at once.
        os.kill(self.site.process.pid, signal.SIGSTOP)
        time.sleep(2.5)
        os.kill(self.site.process.pid, signal.SIGCONT)
        awards, claims, messages = [], [], 0
        while len(awards) < 2 * rounds:
            settlement = raw.expect("settlement")
            awards += settlement.awards
            claims += settlement.claims
            messages += 1
        print(f"    {len(awards)} awards in {messages} messages, "
              f"{len(self.site.records('settle_due'))} records", file=sys.stderr)
        for found in (awards, claims):
            self.assertEqual(len({(each.round, each.seat) for each in found}), 2 * rounds)
        self.site.stop()
        self.check_books(jackpots=True)


    def test_more_claims_than_fit_in_a_frame(self):
        # Hundreds of rounds of one table wait, and another table's press holds all of them.
        self.site.start()
        one, two = self.raw("BJ01"), self.raw("BJ02")
        rounds, number = 200, 1
        sevens = {1: ("7D", "7D"), 2: ("7D", "7D")}
        start = time.monotonic()
        for each in range(1, rounds + 1):
            one.send_bytes(
                one.command(number, open_round=open_round(each, (1, 2)))
                + one.command(number + 1, report_result=result(each, ("7D",), sevens))
                + one.command(number + 2, confirm_jackpot=pb.ConfirmJackpot(round=each)))
            self.assertEqual(one.answer(number + 2).claims[0].state, b"pending")
            self.account.opened("BJ01", each, (1, 2))
            number += 3
        self.assertLess(time.monotonic() - start, 1.8, "too slow for this test")
        self.assertEqual(self.win(two, "BJ02", 1, 1).claims[0].state, b"held")
        claims = []
        while len(claims) < 2 * rounds:
            claims += one.expect("settlement").claims
        self.assertEqual({each.state for each in claims}, {b"held"})
        # Void the other one, and all of them are settled at once.
        decision = two.ask(4, void_round=pb.VoidRound(round=1, reason=b"misdeal", by=b"sue"))
        self.assertIsNone(refusal_of(decision))
        self.account.voided("BJ02", 1)
        awards = []
        while len(awards) < 2 * rounds:
            awards += one.expect("settlement").awards
        self.assertEqual(len({(each.round, each.seat) for each in awards}), 2 * rounds)
        self.assertEqual(len(self.raw("BJ01").welcome.state.due), 64)
        self.assertEqual(self.site.stop(), 0)
        self.check_books(jackpots=True)


if __name__ == "__main__":
    main()
