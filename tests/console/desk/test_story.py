"""The whole story by command line, against the running daemon with two tables of Blazing 7's."""

import json
import re
import sys
import time
from datetime import datetime, timezone
from decimal import ROUND_DOWN, ROUND_UP, Decimal

from support.desk_commands import CommandTest
from support.link_client import pb
from support.programs import JACKPOT_AUDIT, run, until
from support.site import main, open_round, refusal_of

TIER = "three_suited_sevens"
CARDS = {"BJ01": "6035-7710-0042", "BJ02": "6035-7710-0077"}  # of players; they must never be shown
PER_WAGER = Decimal("5.00") * Decimal("0.235")


def cents(amount):
    return amount.quantize(Decimal("0.01"), ROUND_DOWN)


def paid(amount):
    """Up to the payout unit."""
    return (amount / Decimal("0.05")).quantize(Decimal(1), ROUND_UP) * Decimal("0.05")


def together(meter, winners):
    """BJ 14.27.2: successive tenths of what is displayed, shared; what each is paid, and what is left."""
    left = cents(meter)
    for _ in range(winners):
        left -= left / 10
    aggregate = cents(meter) - left
    return paid(aggregate / winners), max(meter - aggregate, Decimal(50000))


def dollars(amount):
    return f"${Decimal(amount):,.2f}"


class Story(CommandTest):
    options = {"tables": ("BJ01", "BJ02"), "link": {"offline_after_ms": 60000}}

    def setUp(self):
        super().setUp()
        self.pressed = 0
        for name, role in (("ann", "supervisor"), ("bob", "supervisor"), ("eye", "surveillance"),
                           ("ivy", "inspector")):
            self.arrive(name, role)

    # ---- the tables

    def tie(self, number, winners):
        """Both tables play a round, and both press within the window. {table: winning seats}"""
        tables = {name: self.site.table(name) for name in winners}
        for name, table in tables.items():
            table.connect()
            seats = sorted({*winners[name], 5})
            table.wait(table.open(number, seats, {seat: f"{CARDS[name]}-{seat}" for seat in seats}))
            self.account.opened(name, number, seats)
            decision = table.wait(table.result(number, ["7H"], {seat: ["7H", "7H"]
                                                                for seat in winners[name]}))
            self.assertEqual({each.state for each in decision.claims}, {b"claimed"})
        # Not within the window of the tie before.
        time.sleep(max(0, self.pressed + 2.5 - time.monotonic()))
        for name, table in tables.items():
            decision = table.wait(table.confirm(number))
        self.pressed = time.monotonic()
        self.assertEqual({each.state for each in decision.claims}, {b"held"})
        for table in tables.values():
            table.close()
        self.assertTrue(until(lambda: len(self.claims("--state", "held")) ==
                              sum(map(len, winners.values()))))

    def fixed(self, name, number):
        table = self.site.table(name)
        table.connect()
        table.wait(table.open(number, [1], {1: CARDS[name] + "-1"}))
        self.account.opened(name, number, [1])
        table.wait(table.result(number, ["7D"], {1: ["7H", "7D"]}))
        table.close()

    # ---- the answers of the desk

    def claims(self, *options):
        return self.json_by("eye", "claims", *options)["claims"]

    def previews(self):
        hold, = self.json_by("eye", "rulings", "B7")["holds"]
        self.assertEqual(hold["held_for"], ["tie"])
        return hold["previews"]

    def amounts(self, awards):
        return [(each["table"], each["seat"], Decimal(each["amount"])) for each in awards]

    def meter(self):
        return Decimal(self.json_by("ivy", "pools")["pools"][0]["meter"])

    def proposal_in(self, text):
        """The number and hash of a proposal in the output for the first person."""
        return re.search(r"jackpotctl approve (\d+) --sha256 ([0-9a-f]{64})", text).groups()

    def count(self, kind):
        return len(self.site.records(kind))

    # ---- the story

    def test_the_whole_story(self):
        self.two_people_adjust_the_pool()
        self.a_tie_is_ruled_simultaneous()
        self.another_is_ruled_in_order()
        self.payments_by_two_people()
        self.a_payment_by_one()
        self.reports_and_notices()
        self.suspended_and_resumed()
        self.mistakes_are_put_right()
        self.the_journal_has_each_step()
        self.nobody_sees_a_player_card()
        self.site.stop()
        self.nobody_wrote_a_player_card()
        self.site.verify()
        done = run(JACKPOT_AUDIT, "verify", "--key", self.site.verifier, self.site.journal)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        print("    " + done.stdout.strip().replace("\n", "\n    "), file=sys.stderr)
        self.assertEqual(self.account.compare(self.site, jackpots=True), [])

    def two_people_adjust_the_pool(self):
        shown = self.by("ann", "adjust", "B7", "100000", "--reason", "the old pool's money")
        self.assertIn("$100,000.00", shown)
        number, digest = self.proposal_in(shown)
        self.assertIn("another role", self.refused("ann", "approve", number, "--yes"))
        self.assertIn("differs from that of the proposed command",
                      self.refused("ivy", "approve", number, "--sha256", "0" * 64, "--yes"))
        self.assertIn("--yes", self.refused("ivy", "approve", number, status=2))
        status, shown = self.on_terminal("ivy", "n", "approve", number)
        self.assertEqual(status, 1)
        self.assertIn(digest, shown)
        self.assertIn('"amount":"100000.00000000"', shown)
        self.assertEqual(self.count("pool_adjusted"), 0)
        status, shown = self.on_terminal("ivy", "y", "approve", number)
        self.assertEqual(status, 0, shown)
        self.assertEqual(self.meter(), 150000)
        self.assertRegex(self.by("ann", "proposals"),
                         rf"(?m)^{number} +done +ann +ivy .*\$100,000\.00")
        # One that is withdrawn, one that is rejected, and one of parameters.
        for verb, who in (("withdraw", "ann"), ("reject", "ivy")):
            number, _ = self.proposal_in(self.by("ann", "adjust", "B7", "-12.50", "--reason", "x"))
            self.by(who, verb, number, "--reason", "not so")
            self.refused("ivy", "approve", number, "--yes")
        number, digest = self.proposal_in(self.by("ann", "propose", "B7", "--reason", "the board",
                                                  "minimum=25000.00", "cap=none"))
        self.by("ivy", "approve", number, "--sha256", digest, "--yes")
        self.assertEqual(self.json_by("ann", "pools")["pools"][0]["next_parameters"]["minimum"],
                         "25000.00000000")
        self.assertEqual(len(self.json_by("ann", "proposals", "--state", "done")["proposals"]), 2)

    def a_tie_is_ruled_simultaneous(self):
        self.assertIn("nothing of pool B7 is held", self.by("eye", "rulings", "B7"))
        self.tie(1, {"BJ01": [2], "BJ02": [1]})
        meter = 150000 + 4 * PER_WAGER
        shown = self.by("eye", "claims", "--state", "held")
        for line in ("BJ01 +1 +2", "BJ02 +1 +1"):
            self.assertRegex(shown, rf"(?m)^{line} +{TIER} +held +B7 +7H +7H 7H ")
        # Together: two successive tenths of $150,004.70, shared. In order: a tenth, then another.
        each, after = together(meter, 2)
        self.assertEqual(each, Decimal("14250.45"))
        first, between = together(meter, 1)
        second, after_second = together(between, 1)
        self.assertEqual((first, second), (Decimal("15000.50"), Decimal("13500.45")))
        # Both are locked, in the order in which they arrived: no display shows money that is won.
        self.assertEqual(self.meter(), after_second)
        previews = self.previews()
        self.assertEqual([self.amounts(preview["awards"]) for preview in previews],
                         [[("BJ01", 2, each), ("BJ02", 1, each)],
                          [("BJ02", 1, first), ("BJ01", 2, second)],
                          [("BJ01", 2, first), ("BJ02", 1, second)]])
        self.assertEqual([Decimal(preview["meter_after"]) for preview in previews],
                         [after, after_second, after_second])
        shown = self.by("ann", "rulings", "B7")
        self.assertIn("held for a ruling: BJ01 round 1, BJ02 round 1", shown)
        for number, preview in enumerate(previews, 1):
            self.assertIn(f"ruling {number}: {preview['words']}\n", shown)
            self.assertIn(f"token {preview['token'][:12]}\n", shown)
        for amount in (each, first, second):
            self.assertEqual(shown.count(f"  {TIER}  {dollars(amount)}  BJ 14."), 2)
        self.assertIn("shared by 2", shown)
        self.assertNotIn("\\x", shown)

        ruling = ["rule", "B7", "--ruling", "1", "--reason", "camera 12"]
        token = previews[0]["token"][:12]
        self.assertIn("role", self.refused("ann", *ruling, "--yes"))
        self.assertIn("--yes", self.refused("eye", *ruling, "--json", status=2))
        status, shown = self.on_terminal("eye", "", *ruling)
        self.assertEqual(status, 1)
        self.assertIn("give this ruling?", shown)
        self.assertIn(dollars(each), shown)
        self.assertIn("nothing was done", shown)
        # Another ruling's token.
        self.refused("eye", *ruling, "--token", previews[1]["token"], "--yes")
        self.assertEqual(self.count("surveillance_ruling"), 0)
        ruled = self.json_by("eye", *ruling, "--token", token, "--yes")
        self.assertEqual(ruled["awards"], previews[0]["awards"])
        self.assertEqual(self.meter(), after)
        self.refused("eye", *ruling, "--token", token, "--yes")
        record, = self.site.records("surveillance_ruling")
        self.assertEqual(self.amounts(record["awards"]), self.amounts(previews[0]["awards"]))
        self.each = each

    def another_is_ruled_in_order(self):
        before = self.meter()
        self.tie(2, {"BJ01": [2], "BJ02": [1, 3]})
        outdated = self.previews()
        order = [[{"table": "BJ02", "round": 2}], [{"table": "BJ01", "round": 2}]]
        old = next(each for each in outdated if each["order"] == order)
        self.assertEqual(len(old["awards"]), 3)
        # A wager turns out to be void: what was seen is not what would be paid.
        number, digest = self.proposal_in(
            self.by("ann", "void", "BJ02", "2", "--seat", "3", "--ground", "loss_limit"))
        self.by("bob", "approve", number, "--sha256", digest, "--yes")
        self.account.returned.add(("BJ02", 2, 3))
        records = len(self.site.records())
        ruling = ["rule", "B7", "--order", "BJ02/2, BJ01/2", "--reason", "camera 9", "--yes"]
        for token in (old["token"], old["token"][:12]):
            message = self.refused("eye", *ruling, "--token", token)
            self.assertIn("nothing was ruled", message)
            self.assertIn("jackpotctl rulings B7", message)
        self.assertEqual(len(self.site.records()), records)
        preview = next(each for each in self.previews() if each["order"] == order)
        # Of what was displayed when the first button was pressed; the returned wager came later.
        first, between = together(before + 5 * PER_WAGER, 1)
        second, after = together(between, 1)
        after -= PER_WAGER
        self.assertEqual(self.amounts(preview["awards"]),
                         [("BJ02", 1, first), ("BJ01", 2, second)])
        shown = self.by("eye", *ruling, "--token", preview["token"][:12])
        self.assertIn("BJ02 round 2, then BJ01 round 2", shown)
        self.assertRegex(shown, rf"ruled; to be paid:\n  1\. BJ02 round 2 seat 1  {TIER}  "
                         + re.escape(dollars(first)))
        self.assertEqual(self.amounts(self.site.records("surveillance_ruling")[1]["awards"]),
                         self.amounts(preview["awards"]))
        self.assertEqual(self.meter(), after)
        self.assertEqual(self.claims("--state", "held"), [])
        self.in_order = {"BJ02": first, "BJ01": second}

    def pay(self, table, number, seat, amount):
        shown = self.by("ann", "pay", table, number, "--seat", seat, "--paid", amount,
                        "--how", "cheque 4711")
        return self.proposal_in(shown)

    def payments_by_two_people(self):
        number, digest = self.pay("BJ01", 1, 2, self.each)
        self.assertEqual(self.count("payment_recorded"), 0)
        self.assertIn("another person", self.refused("ann", "approve", number, "--sha256", digest,
                                                  "--yes"))
        refusal, = self.site.records("approval_refused")
        self.assertEqual((refusal["by"], refusal["code"]), ("ann", "same_person"))
        shown = self.by("bob", "approve", number, "--sha256", digest, "--yes")
        self.assertIn(f"proposal {number} is done", shown)
        self.assertIn("approved by bob", shown)
        shown = self.by("bob", "claim", "BJ01", "1")
        self.assertRegex(shown, rf"\ABJ01 round 1\nSEAT .*\n2 +{TIER} +paid +7H +7H 7H ")
        self.assertRegex(shown, rf"1\. BJ01 round 1 seat 2  {TIER}  {re.escape(dollars(self.each))}"
                         r"  BJ 14\.27\.2  paid\n")
        self.assertIn(f"paid {dollars(self.each)}, difference $0.00, cheque 4711, by ann, bob",
                      shown)
        # Too little.
        number, digest = self.pay("BJ02", 1, 1, "12000.00")
        open_ones = self.by("bob", "proposals", "--state", "open")
        self.assertRegex(open_ones, rf"(?m)^{number} +open +ann .*\$12,000\.00")
        self.by("bob", "approve", number, "--sha256", digest, "--yes")
        self.short = self.each - 12000
        award, = self.json_by("bob", "claim", "BJ02", "1")["awards"]
        self.assertEqual(Decimal(award["difference"]), -self.short)
        self.assertGreater(self.short, 1000)
        self.refused("ann", "pay", "BJ02", "1", "--seat", "4", "--tier", TIER, "--paid", "1",
                     "--how", "x")
        # Withheld by two.
        shown = self.by("ann", "withhold", "BJ01", "2", "--seat", "2", "--reason", "the seal")
        number, digest = self.proposal_in(shown)
        self.by("bob", "approve", number, "--sha256", digest, "--yes")
        self.refused("ann", "pay", "BJ01", "2", "--seat", "2", "--tier", TIER,
                     "--paid", self.in_order["BJ01"], "--how", "chips")
        states = {(each["table"], each["round"], each["seat"]): each["state"]
                  for each in self.claims()}
        self.assertEqual(states, {("BJ01", 1, 2): "final", ("BJ02", 1, 1): "final",
                                  ("BJ01", 2, 2): "final", ("BJ02", 2, 1): "due",
                                  ("BJ02", 2, 3): "dropped"})
        self.assertEqual(self.json_by("bob", "claim", "BJ01", "2")["awards"][0]["state"], "withheld")

    def a_payment_by_one(self):
        self.fixed("BJ01", 3)
        until(lambda: self.ctl("claim", "BJ01", "3", home=self.site.folder / "ann").returncode == 0)
        shown = self.by("ann", "pay", "BJ01", "3", "--seat", "1", "--paid", "2500.00",
                        "--how", "chips")
        self.assertIn("$2,500.00", shown)
        self.assertIn("by ann", shown)

    def reports_and_notices(self):
        record = next(each for each in self.site.records("payment_recorded")
                      if each["command"]["paid"] == "12000.00000000")
        month = datetime.fromtimestamp(record["time"] / 1000, timezone.utc).strftime("%Y-%m")
        listed = json.loads(self.by("ivy", "report", "differences", "--month", month,
                                    "--json"))["differences"]
        self.assertEqual(len(listed), 1)
        self.assertEqual((Decimal(listed[0]["paid"]), Decimal(listed[0]["due"])),
                         (12000, self.each))
        shown = self.by("ivy", "report", "differences", "--month", month)
        self.assertIn(f"underpaid by {dollars(self.short)}", shown)
        audited = run(JACKPOT_AUDIT, "report", "differences", "--month", month, self.site.journal)
        self.assertEqual(shown, audited.stdout)
        other = json.loads(self.by("ivy", "report", "differences", "--month", "2020-01", "--json"))
        self.assertEqual(other["differences"], [])
        file = self.site.folder / "reconciliation.csv"
        self.by("ivy", "report", "reconciliation", "--format", "csv", "--out", file)
        self.assertIn("B7", file.read_text())
        self.assertIn("Every day agrees", self.by("ivy", "report", "reconciliation"))
        self.refused("ivy", "report", "reconciliation", "--month", "2020-13")

        notice, = [each for each in self.json_by("ivy", "notices")["notices"]
                   if each["rule"] == "BJ 16.19"]
        self.assertIn(dollars(self.short), notice["text"])
        self.assertIn(notice["notice"], self.by("ann", "notices"))
        self.refused("eye", "acknowledge", notice["notice"])
        self.assertIn("by ivy", self.by("ivy", "acknowledge", notice["notice"], "--reason", "seen"))
        self.assertNotIn("BJ 16.19", self.by("ann", "notices"))
        self.assertIn("BJ 16.19", self.by("ann", "notices", "--all"))
        self.refused("ivy", "acknowledge", notice["notice"])

    def suspended_and_resumed(self):
        self.refused("ann", "suspend", "table", "BJ02", "--ground", "closed")  # its round is open
        self.by("ann", "close", "BJ02", "2", "--reason", "the end of the day")
        for what, name, *ground in (("table", "BJ02", "--ground", "closed"), ("pool", "B7")):
            self.assertIn("is suspended",
                          self.by("eye", "suspend", what, name, *ground, "--reason", "cards"))
            listed = self.json_by("ann", what + "s")[what + "s"]
            self.assertEqual([each[what] for each in listed if each["suspended"]], [name])
            self.assertIn("not suspended", self.by("ivy", "resume", what, name, "--reason", "found"))
        self.assertRegex(self.by("ann", "pools"), r"(?m)^B7 +blazing7s +no +0 +BJ01, BJ02 +\$")
        self.assertRegex(self.by("ann", "tables"), r"(?m)^BJ02 +B7 +7 +no +no +2 +1, 5 +1$")
        self.refused("ann", "suspend", "table", "BJ99", "--ground", "closed")

    def mistakes_are_put_right(self):
        self.fixed("BJ02", 3)
        due = self.json_by("ann", "tables")["tables"][1]["awards"]
        self.assertIn((3, 1, "three_same_colour_sevens", "due"),
                      [(each["round"], each["seat"], each["tier"], each["state"]) for each in due])
        right = ["correct", "BJ02", "3", "--board", "7D", "--hand", "1=7H,9C", "--reason", "misread"]
        self.refused("eye", *right)
        self.assertIn("BJ02 round 3 is corrected", self.by("ann", *right))
        record = self.site.records("result_corrected")[-1]
        self.assertEqual((record["command"]["board"], record["command"]["hands"]),
                         (["7D"], [{"seat": 1, "cards": ["7H", "9C"]}]))
        self.assertNotIn("three_same_colour_sevens",
                         [each["tier"]
                          for each in self.json_by("ann", "tables")["tables"][1]["awards"]])
        self.refused("ann", "void", "BJ02", "9", "--ground", "dealing_error")
        table = self.site.table("BJ01")
        table.connect()
        table.wait(table.open(4, [1], {1: CARDS["BJ01"] + "-1"}))
        table.close()
        self.account.opened("BJ01", 4, [1])
        before = self.meter()
        self.assertIn("BJ01 round 4 is void",
                      self.by("ann", "void", "BJ01", "4", "--ground", "dealing_error"))
        self.account.voided("BJ01", 4)
        self.assertEqual(self.meter(), before - PER_WAGER)
        number = self.json_by("ann", "proposals", "--state", "done")["proposals"][0]["proposal"]
        self.assertIn(f"proposal {number} is done", self.by("eye", "proposal", number))

    def the_journal_has_each_step(self):
        kinds = {"pool_adjusted": 1, "pool_change_agreed": 1, "surveillance_ruling": 2,
                 "ruling_reasoned": 2, "proposal_made": 8, "proposal_approved": 6,
                 "proposal_withdrawn": 1, "proposal_rejected": 1, "approval_refused": 1,
                 "payment_recorded": 3, "award_withheld": 1, "notice_acknowledged": 1,
                 "wager_voided": 1, "table_suspended": 1, "pool_suspended": 1,
                 "closing_reasoned": 1, "correction_reasoned": 1}
        for kind, count in kinds.items():
            records = self.json_by("ivy", "records", "--kind", kind)["records"]
            self.assertEqual((kind, len([each for each in records if not each["refused"]])),
                             (kind, count))
        reasons = [(each["reason"], each["by"]) for each in self.site.records("ruling_reasoned")]
        self.assertEqual(reasons, [("camera 12", "eye"), ("camera 9", "eye")])
        by = [each["command"]["by"] for each in self.site.records("payment_recorded")]
        self.assertEqual(by, [["ann", "bob"], ["ann", "bob"], ["ann"]])
        ruling = self.json_by("ivy", "records", "--kind", "surveillance_ruling")["records"][0]
        number = ruling["record"]
        shown = self.by("ivy", "record", number)
        self.assertIn(dollars(self.in_order["BJ02"]), shown)
        self.assertRegex(self.by("ivy", "records", "--who", "eye", "--limit", "3"),
                         r"(?m)^RECORD +UTC +KIND")
        payload = self.site.folder / "record.json"
        payload.write_text(self.json_by("ivy", "record", number)["payload"])
        proof = self.site.folder / "record.proof"
        self.by("ivy", "proof", number, "--out", proof)
        done = run(JACKPOT_AUDIT, "check-proof", payload, proof, "--key", self.site.verifier)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    # ---- player cards

    def nobody_sees_a_player_card(self):
        """Nothing that the desk answers has one, also not the whole of each record."""
        pseudonyms = 0
        for record in self.site.records():
            pseudonyms += "p-" in self.by("ivy", "record", record["seq"], "--json")
        self.assertGreater(pseudonyms, 0)
        for path in ("claims", "pools", "tables", "records?limit=500", "notices", "proposals",
                     "reports/wins.json", "reports/reconciliation.json", "claims/BJ01/1"):
            answer = self.reader().get("/api/v1/" + path)
            self.assertEqual(answer.status, 200, path)
            self.printed.append(answer.text)
        printed = "\n".join(self.printed)
        self.assertIn("BJ01", printed)
        for card in CARDS.values():
            self.assertNotIn(card, printed)

    def test_a_player_card_that_is_refused_is_not_shown_either(self):
        """Of a wager that the rules refuse, of a repeated number with another card, of a command that
        is out of form: neither the log nor the journal nor the desk has it."""
        raw = self.raw("BJ01")
        card = CARDS["BJ01"].encode()
        refused = raw.ask(1, open_round=open_round(1, (99,), player_card=card))
        self.assertEqual(refusal_of(refused), "seat_out_of_range")
        other = raw.ask(1, open_round=open_round(1, (99,), player_card=card + b"-other"))
        self.assertIsInstance(other, pb.Rejected)
        for bad in (card + b"\xff", card * 200):  # not UTF-8, too long
            raw = self.raw("BJ01")
            self.assertIsInstance(raw.ask(2, open_round=open_round(2, (1,), player_card=bad)),
                                  pb.Rejected)
        for record in self.site.records():
            self.by("ivy", "record", record["seq"], "--json")
        self.assertTrue(self.site.alarms())  # an alarm is raised
        self.assertIn("BJ01", self.by("ivy", "notices", "--all") + "\n".join(self.site.log))
        self.site.stop()
        self.assertNotIn(CARDS["BJ01"], "\n".join(self.printed))
        self.assertNotIn(CARDS["BJ01"], self.everywhere())
        self.site.verify()

    def reader(self):
        if not hasattr(self, "client_"):
            self.client_ = self.signed_in("ivy")
        return self.client_

    def nobody_wrote_a_player_card(self):
        written = self.everywhere()
        for card in CARDS.values():
            self.assertNotIn(card, written)
            self.assertNotIn(card, "\n".join(self.site.log))
        wagers = [wager for record in self.site.records("round_opened")
                  for wager in record["command"]["wagers"]]
        self.assertTrue(wagers)
        for wager in wagers:
            self.assertRegex(wager["player_card"], r"^p-[0-9a-f]+$")
        self.assertIn(wagers[0]["player_card"], written)  # control: a card would be found


if __name__ == "__main__":
    main()
