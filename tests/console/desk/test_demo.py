"""Dealers in a browser, without the browser: both games over the demo floor's own links, from the
wager to the payment; ties, refusals, links that are lost, and sites that are no demo floor."""

import json
import os
import time

from support.demo_site import DemoTest, pools
from support.desk_site import DeskTest
from support.programs import JACKPOTD, run, until
from support.site import main


class Games(DemoTest):
    def test_blazing_sevens_from_the_wager_to_the_payment(self):
        dealer, = self.arrive("BJ06")
        number = dealer.open([1, 3, 5])
        shown = dealer.deal(number, "7D", {1: "7S 9H", 3: "7D 7D", 5: "7H 7C"})
        self.assertEqual([(each["seat"], each["tier"], each.get("claim"))
                          for each in shown["round"]["wagered"]],
                         [(1, "one_each_sevens", None), (3, "three_sevens_diamonds", "claimed"),
                          (5, "three_sevens", None)])
        self.assertEqual(shown["round"]["board"], ["7D"])
        self.assertEqual(shown["round"]["hands"][1], {"seat": 3, "cards": ["7D", "7D"]})
        # Fixed awards at once, from the dealer's right (BJ 14.27.3); the jackpot after the button.
        fixed = [(5, "three_sevens", 100000), (1, "one_each_sevens", 5000)]
        self.assertEqual(dealer.awards(number), fixed)
        self.assertTrue(dealer.press(number)["round"]["confirmed"])
        self.assertEqual(dealer.settled(number, 3),
                         fixed + [(3, "three_sevens_diamonds", 5000355)])
        shown = dealer.look()
        self.assertEqual(shown["pool"]["displayed_cents"], 5000000)
        jackpot = shown["awards"][-1]
        self.assertEqual(jackpot["rule"], "BJ 14.24")
        self.assertIn("$50,003.52", jackpot["arithmetic"])
        # A void round: the wagers are returned.
        number = dealer.open([2])
        shown = dealer.do("void", round=number, ground="dealing_error", reason="a card was exposed")
        self.account.voided("BJ06", number)
        self.assertTrue(shown["round"]["voided"])
        self.assertEqual(shown["refunds"], [{"round": number, "seat": 2, "cents": 500}])
        voided = self.site.records("round_voided")[-1]["command"]
        self.assertEqual((voided["ground"], voided["by"], voided["reason"]),
                         ("dealing_error", ["ann"], "a card was exposed"))
        self.site.stop()
        self.check_books(jackpots=True)

    def test_holdem_with_a_bonus_for_the_others(self):
        dealer, = self.arrive("UTH05")
        number = dealer.open([1, 2, 6])
        dealer.deal(number, "AS KS QS", {1: "2H 7C", 2: "JS TS", 6: "9S 2S"})
        self.assertEqual(dealer.awards(number), [(6, "flush", 10000)])
        dealer.press(number)
        self.assertEqual(dealer.settled(number, 4),
                         [(6, "flush", 10000), (6, "bonus", 100000), (1, "bonus", 100000),
                          (2, "royal_flush", 5000150)])
        self.site.stop()
        self.check_books(jackpots=True)


class Ties(DemoTest):
    options = {**DemoTest.options, "pools": pools(5000)}

    def test_two_simultaneous_presses_wait_for_a_ruling(self):
        here, there = self.arrive("BJ06", "BJ07")
        self.site.add("eve", "surveillance")
        eve = self.signed_in("eve")
        rounds = []
        for dealer in (here, there):
            rounds.append(dealer.open([4]))
            dealer.deal(rounds[-1], "7S", {4: "7S 7S"})
        shown = here.press(rounds[0])
        self.assertEqual(shown["round"]["wagered"][0]["claim"], "locked")
        shown = there.press(rounds[1])
        for dealer in (here, there):
            shown = dealer.look()
            self.assertTrue(shown["pool"]["held"])
            self.assertEqual(shown["round"]["wagered"][0]["claim"], "held")
            self.assertEqual([each["state"] for each in shown["awards"]], ["locked"])
        hold, = eve.get("/api/v1/pools/B7/rulings").json["holds"]
        self.assertEqual(hold["held_for"], ["tie"])
        previews = hold["previews"]
        together = next(each for each in previews if len(each["order"]) == 1)
        answer = eve.ask("POST", "/api/v1/pools/B7/rulings",
                         {"order": together["order"], "reason": "camera 12", "token":
                          together["token"]})
        self.assertEqual(answer.status, 200, answer.text)
        # Two successive tenths, shared, are less than a tenth of the minimum (BJ 14.27.2).
        for dealer, number in zip((here, there), rounds):
            self.assertEqual(dealer.settled(number, 1), [(4, "three_suited_sevens", 500000)])
            self.assertEqual(dealer.look()["round"]["wagered"][0]["claim"], "due")
        self.site.stop()
        self.check_books(jackpots=True)

    def test_the_time_of_the_press_counts(self):
        """Both presses arrive within the window; only their ages show that they are no tie."""
        here, there = self.arrive("BJ06", "BJ07")
        rounds = []
        for dealer in (here, there):
            rounds.append(dealer.open([4]))
            dealer.deal(rounds[-1], "7S", {4: "7S 7S"})
        time.sleep(6)  # a press is not older than its round
        here.press(rounds[0], age_ms=5500)
        there.press(rounds[1])
        self.assertFalse(here.look()["pool"]["held"])
        self.assertEqual(here.settled(rounds[0], 1)[0][1:], ("three_suited_sevens", 500025))
        self.assertEqual(there.settled(rounds[1], 1)[0][1:], ("three_suited_sevens", 500000))
        self.site.stop()
        self.check_books(jackpots=True)


    def test_a_press_before_its_round_is_held(self):
        dealer, = self.arrive("BJ06")
        number = dealer.open([4])
        dealer.deal(number, "7S", {4: "7S 7S"})
        dealer.press(number, age_ms=60_000)
        self.assertEqual(dealer.look()["round"]["wagered"][0]["claim"], "held")

    def test_a_result_is_corrected_and_the_round_closed(self):
        dealer, = self.arrive("BJ06")
        number = dealer.open([4])
        dealer.deal(number, "9S", {4: "7S 7S"})
        hands = [{"seat": 4, "cards": ["7S", "9H"]}]
        shown = dealer.do("correct", round=number, board=["7S"], hands=hands)
        self.assertEqual(shown["round"]["hands"], hands)
        self.assertEqual(dealer.awards(number), [(4, "one_each_sevens", 5000)])
        corrected = self.site.records("result_corrected")[-1]["command"]
        self.assertEqual(corrected["by"], ["ann"])
        self.assertTrue(dealer.do("close", round=number)["round"]["closed"])
        answer = dealer.ask("correct", round=number, board=["7S"], hands=hands)
        self.assertEqual((answer.status, answer.code), (409, "round_closed"), answer.text)
        self.site.stop()
        self.check_books()


class Refusals(DemoTest):
    def refused(self, answer, status, code, words=""):
        self.assertEqual((answer.status, answer.code), (status, code), answer.text)
        self.assertIn(words, answer.json["error"]["message"])

    def test_each_refusal_names_the_fault_and_changes_nothing(self):
        cards, holdem = self.arrive("BJ07", "UTH05")
        first = cards.look()["next_round"]
        self.refused(cards.ask("round", round=first, wagers=[{"seat": 1}]), 409,
                     "no_player_card", "BJ 5.1")
        card = {"player_card": "P-1"}
        self.refused(cards.ask("round", round=first, wagers=[{"seat": 1, **card},
                                                             {"seat": 1, **card}]), 409,
                     "duplicate_seat", "BJ 5.6")
        self.refused(cards.ask("round", round=first, wagers=[{"seat": 8, **card}]), 409,
                     "seat_out_of_range")
        self.refused(cards.ask("confirm", round=first, age_ms=0), 409, "no_open_round")
        number = cards.open([1, 2])
        # The page that did not see the answer asks again.
        self.refused(cards.ask("round", round=number, wagers=[{"seat": 1, **card}]), 409,
                     "round_not_newer")
        # Six decks have six sevens of diamonds.
        hands = [{"seat": seat, "cards": ["7D", "7D"]} for seat in (1, 2)]
        self.refused(cards.ask("result", round=number, board=["7D"] * 3, hands=hands), 409,
                     "wrong_card_count")
        self.assertEqual(cards.look()["round"]["result_in"], False)
        self.assertNotIn("board", cards.look()["round"])
        cards.deal(number, "9H", {1: "7D 7D", 2: "7D 7D"})
        self.refused(cards.ask("confirm", round=number, age_ms=0), 409, "nothing_to_confirm")
        number = holdem.open([1, 2])
        self.refused(holdem.ask("result", round=number, board=["AS", "KS", "QS"],
                                hands=[{"seat": 1, "cards": ["JS", "TS"]},
                                       {"seat": 2, "cards": ["AS", "2C"]}]), 409,
                     "impossible_cards", "AS")
        shown = holdem.deal(number, "AS KS QS", {1: "JS TS"})
        self.assertEqual(shown["round"]["wagered"][0]["claim"], "claimed")
        self.site.stop()
        self.check_books(jackpots=True)

    def test_malformed_bodies_are_refused(self):
        dealer, = self.arrive("BJ06")
        records = len(self.site.records("round_opened"))
        for what, body, words in (
                ("round", {}, "\"round\" is missing"),
                ("round", {"round": 1}, "\"wagers\" is missing"),
                ("round", {"round": 0, "wagers": []}, "not between 1"),
                ("round", {"round": 1, "wagers": [{"seat": 10}]}, "not between 1 and 9"),
                ("round", {"round": 1, "wagers": [{"seat": 1, "player_card": "x" * 101}]},
                 "longer than 100"),
                ("round", {"round": 1, "wagers": [], "more": 1}, "unknown key"),
                ("round", {"round": 1, "wagers": [{"seat": 1}] * 10}, "a list of at most 9"),
                ("result", {"round": 1, "board": ["1D"], "hands": []}, "not a card"),
                ("result", {"round": 1, "board": "7D", "hands": []}, "not a list"),
                ("result", {"round": 1, "board": [], "hands": [{"seat": 1, "cards": ["7D"] * 6}]},
                 "a list of at most 5"),
                ("confirm", {"round": 1}, "\"age_ms\" is missing"),
                ("confirm", {"round": 1, "age_ms": -1}, "not between 0"),
                ("confirm", {"round": 1, "age_ms": 86_400_001}, "not between 0"),
                ("void", {"round": 1}, "\"ground\" is missing"),
                ("void", {"round": 1, "ground": "misdeal"}, "not one of the grounds"),
                ("void", {"round": 1, "ground": "invalidated"}, "two people at the desk"),
                ("void", {"round": 1, "ground": "dealing_error", "reason": "x" * 257},
                 "longer than 256"),
                ("void", {"round": 1, "ground": "dealing_error", "reason": "\u0007"},
                 "control character"),
                ("correct", {"round": 1, "board": ["7S"]}, "\"hands\" is missing"),
                ("close", {}, "\"round\" is missing")):
            self.refused(dealer.ask(what, **body), 400, "bad_body", words)
        self.assertEqual(len(self.site.records("round_opened")), records)
        for table in ("BJ01", "BJ99"):  # the first has a controller of its own
            for answer in (dealer.client.get(f"/api/v1/demo/tables/{table}"),
                           dealer.client.ask("POST", f"/api/v1/demo/tables/{table}/confirm",
                                             {"round": 1, "age_ms": 0})):
                self.refused(answer, 404, "unknown_table", "the demo floor has no such table")
        self.site.stop()


class Links(DemoTest):
    def test_commands_in_the_outbox_count_once(self):
        dealer, = self.arrive("BJ06")
        number = dealer.open([1, 2])
        # Another controller takes the table's link: the dealer's waits for ten seconds.
        other = self.raw("BJ06")
        self.assertTrue(until(lambda: not dealer.look()["link"]["online"], 10))
        shown = dealer.look()
        self.assertIn("REPLACED", shown["link"]["why"])
        answer = dealer.ask("round", round=number + 1, wagers=[{"seat": 1}])
        self.assertEqual((answer.status, answer.code), (503, "not_sent"), answer.text)
        shown = dealer.deal(number, "9H", {1: "7D 7D"}, status=202)
        self.assertEqual(shown["link"]["undecided"], 1)
        self.assertFalse(shown["round"]["result_in"])
        other.close()
        self.assertEqual(self.site.records("round_result"), [])
        # The power fails, and what the dealer did is still there.
        self.site.kill()
        self.site.start()
        dealer.client.close()
        dealer.client.sign_in("ann")
        dealer.ready()
        self.assertTrue(until(lambda: dealer.look()["link"]["undecided"] == 0, 10))
        self.assertEqual(dealer.awards(number), [(1, "two_player_sevens", 10000)])
        for _ in range(2):
            self.site.stop()
            self.site.start()
            dealer.client.close()
            dealer.client.sign_in("ann")
            dealer.ready()
        self.assertEqual(len(self.site.records("round_result")), 1)
        # Control: a result that is sent again under another number is refused and visible.
        answer = dealer.ask("result", round=number, board=["9H"],
                            hands=[{"seat": 1, "cards": ["7D", "7D"]}])
        self.assertEqual((answer.status, answer.code), (409, "result_already_reported"), answer.text)
        self.assertEqual(len(self.site.records("round_result")), 2)
        dealer.open([3])
        self.site.stop()
        self.check_books()

    def test_an_award_that_was_due_before_a_restart_is_shown_after_it(self):
        dealer, = self.arrive("BJ06")
        number = dealer.open([6])
        dealer.deal(number, "7C", {6: "7C 7C"})
        dealer.press(number)
        before = dealer.settled(number, 1)
        self.site.stop()
        self.site.start()
        dealer.client.close()
        dealer.client.sign_in("ann")
        dealer.ready()
        self.assertEqual(dealer.awards(number), before)
        self.site.stop()
        self.check_books(jackpots=True)

    def test_floorsim_does_not_play_demo_tables(self):
        dealer, = self.arrive("BJ06")
        number = dealer.open([1])

        def play(*more):
            done = run(os.environ["FLOORSIM"], "--config", self.site.config, "--connect",
                       f"localhost:{self.site.port}", "--pki", self.site.pki, "--rounds", "3",
                       "--no-jackpots", "--quiet", "--json", *more)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return json.loads(done.stdout)["tables"]

        self.assertEqual(play(), 1)  # BJ01
        self.assertTrue(dealer.look()["link"]["online"])
        dealer.deal(number, "9H", {1: "2C 3C"})
        # With --tables it replaces the dealer's link, and the page shows that.
        self.assertEqual(play("--tables", "BJ06"), 1)
        self.assertIn("REPLACED", dealer.look()["link"]["why"])
        self.site.stop()
        self.site.verify()

    def test_the_demo_floor_warns_in_the_log_and_needs_certificates(self):
        self.site.start()
        self.assertTrue(any("THIS IS A DEMO FLOOR" in line for line in self.site.log))
        self.assertEqual(self.site.stop(), 0)
        (self.site.pki / "table" / "BJ07.pem").unlink()
        done = run(JACKPOTD, "--config", self.site.config)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("the demo floor's table BJ07: ", done.stderr)
        self.site.verify()


class NoDemo(DeskTest):
    def test_without_the_section_there_is_no_demo_floor(self):
        self.site.start()
        self.assertFalse(any("DEMO" in line for line in self.site.log))
        self.site.add("ann", "supervisor")
        ann = self.signed_in("ann")
        answers = [ann.get("/api/v1/demo/tables/BJ01")]
        answers += [ann.ask("POST", f"/api/v1/demo/tables/BJ01/{what}", body) for what, body in
                    (("round", {"round": 1, "wagers": []}), ("result", {}), ("confirm", {}),
                     ("correct", {}), ("close", {}), ("void", {}))]
        for answer in answers:
            self.assertEqual((answer.status, answer.code), (404, "no_demo_floor"), answer.text)
            self.assertIn("[demo]", answer.json["error"]["message"])
        self.assertEqual(self.site.records("round_opened"), [])
        self.assertEqual(self.site.stop(), 0)


if __name__ == "__main__":
    main()
