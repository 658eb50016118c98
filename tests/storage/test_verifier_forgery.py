#!/usr/bin/env python3
"""Journals changed and signed again by a person who has the private key: verifier.py sees what does not agree with the
books or the form."""

import hashlib
import json
import unittest

import verifier
import verifier_records
from verifier_case import (SEEDS, Case, database_of, journals, key_of, keys, make_anew, payloads_of, setUpModule,
                           tally, tearDownModule, writing)


class WithTheKey(Case):
    """Changes by a person who has the private key: contradictions are still detected."""

    def forge(self, change, at=None, says="", shape="floor", good=False, **options):
        directory = self.copy(shape)
        make_anew(database_of(directory), change, **options)
        result = verifier.verify([directory], keys[shape])
        if good:
            self.assert_verified(result)
            return
        self.assert_fault(result, says)
        if at is not None:
            self.assertEqual(result.fault.seq, at, result.fault)
        tally["signed anew: detected"] += 1

    def setUp(self):
        self.records = [json.loads(each) for each in payloads_of(database_of(journals["floor"]))]

    def first(self, holds, kind=None):
        return next(record["seq"] for record in self.records
                    if (kind is None or record["kind"] == kind) and holds(record))

    def edit(self, seq, change, says="", **options):
        """Changes the record as parsed."""
        def all_of(payloads):
            record = json.loads(payloads[seq])
            change(record)
            payloads[seq] = verifier_records.to_text(record).encode()
        self.forge(all_of, seq, says, **options)

    def test_control_an_unchanged_journal_verifies(self):
        self.forge(lambda payloads: None, good=True)
        self.forge(lambda payloads: None, good=True, shape="rotated")
        self.forge(lambda payloads: payloads.append(
            b'{"seq":%d,"time":1800000000000,"kind":"restore_overridden","pools":[{"pool":"x"}]}' % len(payloads)),
                   good=True)

    def test_wrong_amounts_are_detected(self):
        def shift(record, cause, amounts):
            postings = record["pools"][0]["postings"][cause]
            for account, amount in amounts.items():
                postings[account] = verifier_records.amount_text(verifier_records.units(postings[account]) + amount)

        def set_after(record, name, amount):
            after = record["pools"][0]
            after[name] = verifier_records.amount_text(verifier_records.units(after[name]) + amount)

        opened = self.first(lambda r: "contribution" in r["pools"][0]["postings"], "round_opened")
        settled = self.first(lambda r: "awards" in r and r["awards"][0]["arithmetic"]["winners"] == 1, "settle_due")
        locked = self.first(lambda r: "locked" in r, "jackpot_confirmed")
        shared = self.first(lambda r: r["awards"][0]["arithmetic"]["winners"] > 1 if "awards" in r else False,
                            "surveillance_ruling")
        voided = self.first(lambda r: "refunds" in r and "return" in r["pools"][0]["postings"])
        refused = self.first(lambda r: "refused" in r and r["pools"])
        adjusted = self.first(lambda r: "adjustment" in r["pools"][0]["postings"], "pool_adjusted")
        paid = self.first(lambda r: "payment" in r, "payment_recorded")
        withdrawn = self.first(lambda r: "withdrawn" in r)
        fixed = self.first(lambda r: "awards" in r, "round_result")

        zero = "do not sum to zero"
        self.edit(opened, lambda r: shift(r, "contribution", {"meter": 1}), zero)
        self.edit(opened, lambda r: shift(r, "wager", {"house": 1}), zero)
        self.edit(opened, lambda r: shift(r, "contribution", {"meter": 1, "house": -1}), "lead pool")
        self.edit(opened, lambda r: (shift(r, "contribution", {"meter": 1, "house": -1}), set_after(r, "meter", 1)),
                  "the rest of the record makes it")
        self.edit(opened, lambda r: set_after(r, "meter", 1), "lead pool")
        self.edit(opened, lambda r: set_after(r, "reserve", -1), "lead pool")
        self.edit(opened, lambda r: r["command"]["wagers"].pop(), "the rest of the record makes it")
        self.edit(opened, lambda r: r["pools"][0]["postings"].update(adjustment={"house": "-1.00000000",
                                                                                 "meter": "1.00000000"}), "cannot post")
        self.edit(opened, lambda r: r["pools"][0]["postings"]["wager"].update(meter="0.00000000"), "is not possible")
        self.edit(opened, lambda r: r["pools"][0]["postings"].update(wager={}), zero)
        self.edit(opened, lambda r: shift(r, "wager", {"house": -10**12, "players": 10**12}), "is not possible")
        self.edit(opened, lambda r: r.update(pools=[]), "not those that its command is about")
        self.edit(opened, lambda r: r["pools"].append(r["pools"][0]), "not those that its command is about")
        self.edit(opened, lambda r: r["pools"][0].update(pool="B8"), "not those that its command is about")
        self.edit(opened, lambda r: r["command"].update(table="T9"), "not refused for that")
        self.edit(opened, lambda r: r["command"].update(table="U1" if r["command"]["table"][0] == "T" else "T1"),
                  "not those that its command is about")
        self.edit(settled, lambda r: r["awards"][0].update(amount="1.00000000"), "does not work out")
        self.edit(settled, lambda r: r.pop("awards"), "its award is not")
        self.edit(settled, lambda r: r["awards"][0].pop("arithmetic"), "not that of its tier")
        self.edit(settled, lambda r: r["awards"][0]["arithmetic"].update(winners=0), "does not work out")
        self.edit(settled, lambda r: r["awards"][0]["arithmetic"].update(winners=5), "does not work out")
        self.edit(settled, lambda r: r["awards"][0]["arithmetic"].update(payout_unit="0.00000000"), "work out")
        self.edit(settled, lambda r: r["awards"][0]["arithmetic"].update(displayed="1.00000000"), "work out")
        # The house pays a part of what the pool owes.
        def by_house(record):
            award = record["pools"][0]["postings"]["award"]
            moved = {name: verifier_records.units(award.get(name, "0")) for name in ("house", "players", "meter")}
            moved["house"] -= 10**7
            moved["meter"] += 10**7
            record["pools"][0]["postings"]["award"] = {
                name: verifier_records.amount_text(amount) for name, amount in moved.items()}
            set_after(record, "meter", 10**7)
        self.edit(locked, by_house, "the pool pays")
        self.edit(locked, lambda r: r["locked"][0].update(amount="1.00000000"), "does not work out")
        self.edit(locked, lambda r: r["locked"][0].update(seat=9))
        self.edit(shared, lambda r: r["awards"].pop())
        self.edit(shared, lambda r: r["awards"][0].update(amount="5000.00000001"), "does not work out")
        self.edit(voided, lambda r: r["refunds"].pop() if len(r["refunds"]) > 1 else r.pop("refunds"),
                  "the rest of the record makes it")
        self.edit(voided, lambda r: r["refunds"][0].update(table="U1" if r["refunds"][0]["table"][0] == "T" else "T1"),
                  "another pool")
        self.edit(refused, lambda r: r["pools"][0].update(
            postings={"seed": {"house": "-1.00000000", "meter": "1.00000000"}}), "refused and yet")
        self.edit(refused, lambda r: set_after(r, "meter", 1), "lead pool")
        self.edit(adjusted, lambda r: r["command"].update(amount="0.00000001"), "the rest of the record makes it")
        self.edit(paid, lambda r: r["payment"].update(due="1.00000000"), "its payment")
        self.edit(paid, lambda r: r["payment"].update(paid="1.00000000"), "its payment")
        self.edit(paid, lambda r: r["payment"].update(sum="1.00000000"), "its payment")
        self.edit(paid, lambda r: (pools := r.pop("pools"), r.pop("payment"), r.update(pools=pools)), "a payment")
        self.edit(withdrawn, lambda r: r["withdrawn"].pop() if len(r["withdrawn"]) > 1 else r.pop("withdrawn"),
                  "the rest of the record makes it")
        self.edit(withdrawn, lambda r: r["withdrawn"][0].update(amount="1.00000000"))
        self.edit(fixed, lambda r: r["awards"][0].update(amount="1.00000000"), "the rest of the record makes it")
        self.edit(1, lambda r: r["pools"].pop(), "not those that its command is about")
        self.edit(1, lambda r: r["command"]["site"]["pools"][0].update(opening="50101.00000000"),
                  "the rest of the record makes it")
        self.edit(1, lambda r: r["command"]["site"]["tables"][0].update(pool="none"), "belongs to no pool")
        self.edit(1, lambda r: r["command"]["site"]["tables"][0].update(id="T2"), "same id")
        self.edit(1, lambda r: r["command"]["site"]["pools"][0].update(minimum="50100.00000001"), "below its minimum")
        repeated = self.first(lambda r: True, "heartbeat")

        def second_site(payloads):
            payloads[repeated] = payloads[1].replace(b'"seq":1,"time":1767225600000', b'"seq":%d,"time":%d' % (
                repeated, self.records[repeated]["time"]))
        self.forge(second_site, repeated, "lead pool")

        # A command of an unknown kind is not counted, so its money is missing in the books.
        def renamed(payloads):
            payloads[opened] = payloads[opened].replace(b'"kind":"round_opened"', b'"kind":"round_ended"')
        self.forge(renamed, None, "lead pool")

    def test_wrong_changes_of_the_site_are_detected(self):
        self.records = [json.loads(each) for each in payloads_of(database_of(journals["amended"]))]

        def edit(seq, change, says):
            self.edit(seq, change, says, shape="amended")

        def state(name):
            return lambda r: r.get("parameters", {}).get("state") == name

        def amends(name):
            return lambda r: name in r.get("amended", {})

        def moved(record, name, **values):
            record["parameters"][name] = {
                key: values.get(key, value) for key, value in record["parameters"][name].items()}

        agreed = self.first(state("agreed"))
        edit(agreed, lambda r: moved(r, "to", payout_unit="7.00000000"), "other parameters than were asked")
        edit(agreed, lambda r: moved(r, "from", payout_unit="7.00000000"), "those of the pool until then")
        edit(agreed, lambda r: r["command"]["to"].update(minimum="77.00000000"), "other parameters than were asked")
        edit(agreed, lambda r: r["parameters"].update(state="in_force"), "by another command")
        edit(agreed, lambda r: r["parameters"].update(state="taken_back"), "not those that were agreed")
        edit(agreed, lambda r: r["parameters"].update(pool="other"), "those of the pool until then")
        edit(agreed, lambda r: (pools := r.pop("pools"), r.pop("parameters"), r.update(pools=pools)),
             "has no outcome")
        in_force = self.first(state("in_force"))
        edit(in_force, lambda r: moved(r, "to", payout_unit="7.00000000"), "not those that were agreed")
        edit(in_force, lambda r: moved(r, "from", payout_unit="7.00000000"), "those of the pool until then")
        edit(in_force, lambda r: r["parameters"].update(state="agreed"), "by another command")
        back = self.first(state("taken_back"))
        edit(back, lambda r: r["command"]["to"].update(payout_unit="7.00000000"), "asks for others")
        without_reset = self.first(
            lambda r: r["seq"] > agreed and "refused" not in r and "parameters" not in r
            and r["pools"][0]["pool"] == self.records[agreed]["parameters"]["pool"], "round_opened")
        if without_reset < in_force:
            edit(without_reset, lambda r: (pools := r.pop("pools"), r.update(
                parameters=dict(self.records[agreed]["parameters"], state="in_force"), pools=pools)),
                 "without a reset")

        table = self.first(amends("new_tables"))
        edit(table, lambda r: (pools := r.pop("pools"), r.pop("amended"), r.update(pools=pools)), "something else")
        edit(table, lambda r: r["amended"]["new_tables"].append("x"), "something else")
        edit(table, lambda r: r["command"]["site"]["pools"][0].update(payout_unit="7.00000000"), "takes two people")
        edit(table, lambda r: r["command"]["site"]["pools"][0].update(wager="2.50000000"), "game or wager")
        edit(table, lambda r: r["command"]["site"].update(
            tables=[each for each in r["command"]["site"]["tables"] if each["id"] != "T1"]), "removes a table")
        edit(table, lambda r: r["pools"][0].update(
            postings={"seed": {"house": "-1.00000000", "meter": "1.00000000"}}), "lead pool")
        pool = self.first(amends("new_pools"))
        edit(pool, lambda r: r["command"]["site"]["pools"][-1].update(minimum="25000.00000000"),
             "the rest of the record makes it")
        changed = self.first(amends("changed_tables"))
        edit(changed, lambda r: r["amended"].update(changed_tables=["U1", "T1"]), "something else")
        self.edit(1, lambda r: (pools := r.pop("pools"), r.update(amended={"new_pools": ["B7"]}, pools=pools)),
                  "was not there")

    def test_wrong_form_order_and_time_are_detected(self):
        beat = self.first(lambda r: True, "heartbeat")
        opened = self.first(lambda r: r["command"]["wagers"] and "refused" not in r, "round_opened")

        def raw(seq, old, new, says, count=1):
            def change(payloads):
                self.assertIn(old, payloads[seq])
                payloads[seq] = payloads[seq].replace(old, new, count)
            self.forge(change, seq, says)

        raw(beat, b'"seq":%d' % beat, b'"seq":%d' % (beat + 1), "it says that it is record")
        raw(beat, b'"time":17', b'"time":16', "its time is before")
        raw(beat, b'"heartbeat"', b'"heartbeat","x":1', "not expected here")
        raw(beat, b'"heartbeat"', b'"journal_opened","format":2,"key":"%s"' % keys["floor"][0].encode(),
            "begins within a file")
        raw(beat, b'"heartbeat"', b'"segment_opened","sha256":"%s","key":"%s"' % (b"0" * 64, keys["floor"][0].encode()),
            "begins within a file")
        raw(0, b'"format":2', b'"format":1', "not one of those")
        raw(0, b"journal_opened", b"journal_reopened", "the first record of the file")
        raw(opened, b'"command":{"table":', b'"command":{ "table":', "not in the journal's form")
        raw(opened, b'"round":', b'"round":0,"round":', "a key twice")
        raw(opened, b'"round":', b'"round":0.5', "which is not whole")
        raw(opened, b'"wagers":[', b'"wagers":[{"seat":1,"player_card":""},', "would be left out")
        raw(opened, b'"wagers":[', b'"wagers":[{"seat":1,"no_base_wager":false},', "not one of those")
        raw(opened, b'"wagers":[', b'"wagers":[{"player_card":"x","seat":1},', "not where it should be")
        raw(opened, b',"pools":', b',"awards":[],"pools":', "would be left out")

        def swapped(payloads):
            payloads[beat], payloads[beat + 1] = payloads[beat + 1], payloads[beat]
        self.forge(swapped, beat, "it says that it is record")
        self.forge(lambda payloads: payloads.pop(beat), beat, "it says that it is record")
        self.forge(lambda payloads: payloads.insert(beat, payloads[beat]), beat + 1, "it says that it is record")

    def test_wrong_snapshots_are_detected(self):
        snapshot = [r["seq"] for r in self.records if r["kind"] == "snapshot"][-1]
        self.edit(snapshot, lambda r: r.update(sha256="0" * 64), "not the one whose hash")
        self.edit(snapshot, lambda r: r.update(sha256="0" * 63), "not a SHA-256")
        for name in ("meter", "reserve", *verifier_records.TOTALS):
            with self.subTest(name):
                directory = self.copy("floor")
                path = database_of(directory)
                with writing(path) as database:
                    state = json.loads(database.execute("SELECT state FROM snapshot WHERE size = ?",
                                                        (snapshot,)).fetchone()[0])
                    pool = state["pools"][1]
                    pool[name] = verifier_records.amount_text(verifier_records.units(pool[name]) + 1)
                    text = verifier_records.to_text(state)
                    database.execute("UPDATE snapshot SET state = ? WHERE size = ?", (text, snapshot))

                def change(payloads):
                    payloads[snapshot] = verifier_records.to_text(
                        {**self.records[snapshot], "sha256": hashlib.sha256(text.encode()).hexdigest()}).encode()
                make_anew(path, change)
                self.assert_fault(verifier.verify([directory], keys["floor"]), f"record {snapshot}: the snapshot has")
                tally["signed anew: detected"] += 1

    def test_wrong_changes_of_key_are_detected(self):
        name = "jackpot.example/floor"
        mine = [str(key_of(name, seed)) for seed in SEEDS]
        records = [json.loads(each) for each in payloads_of(database_of(journals["lost"]))]
        handed, lost = (r["seq"] for r in records if r["kind"] == "key_rotated" and r["seq"] < 100)

        def edit(seq, says, at=None, seeds_at=lambda size: None, **values):
            def change(payloads):
                payloads[seq] = verifier_records.to_text({**records[seq], **values}).encode()
            self.forge(change, seq if at is None else at, says, "lost", seeds_at=seeds_at)

        edit(handed, "not the one in use", old=mine[2])
        edit(handed, "or is the old one", new=mine[0])
        edit(handed, "another name", new=str(key_of("other.example", SEEDS[1])))
        edit(handed, "not a verifier key", new="x")
        edit(handed, "fewer than two people", lost=True, by=["a", "a", ""])
        edit(lost, "fewer than two people", by=[])
        edit(lost, "is not signed by", lost=False, seeds_at=lambda size: SEEDS[2:3] if size == lost + 1 else None)
        edit(handed, "is not signed by", at=handed,
             seeds_at=lambda size: SEEDS[1:2] if size == handed + 1 else None)
        edit(handed, "is not signed by", at=handed,
             seeds_at=lambda size: SEEDS[0:1] if size == handed + 1 else None)
        after = lost + 1
        edit(lost, "is not signed by", at=after, seeds_at=lambda size: SEEDS[0:1] if size > after else None)

        # As lost as if it were handed over: then the key before is good for nothing.
        directory = self.copy("rotated")

        def as_lost(payloads):
            at = [seq for seq, payload in enumerate(payloads) if b'"kind":"key_rotated"' in payload][-1]
            payloads[at] = payloads[at].replace(b'"lost":false', b'"lost":true')
        make_anew(database_of(directory), as_lost)
        self.assert_fault(verifier.verify([directory], keys["rotated"][:2]), "replaced as lost")
        self.assert_verified(verifier.verify([directory], keys["rotated"][2:]))


class Counts(unittest.TestCase):
    """Runs last (load_tests): how many forgeries were detected."""

    def test_at_least_as_many_cases_as_there_should_be(self):
        self.assertGreaterEqual(tally["signed anew: detected"], 60)


def load_tests(loader, tests, pattern):
    suite = unittest.TestSuite()
    for case in (WithTheKey, Counts):
        suite.addTests(loader.loadTestsFromTestCase(case))
    return suite


if __name__ == "__main__":
    unittest.main()
