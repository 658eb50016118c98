"""jackpot-audit report: every figure against sums made here, exactly, from the records."""

import csv
import io
import json
import shutil
import unittest
from collections import defaultdict
from decimal import Decimal

from audit_support import DAY_MS, MAY_1, FloorTest, audit, edit, files_of, read_journal

ZERO = Decimal("0.00000000")
POOLS = ("B7", "UTH")


def exact(amount):
    return f"{amount:.8f}"


class ReportTest(FloorTest):
    def report(self, name, *options, journal=None):
        return self.good(audit("report", name, *options, journal or self.journal))

    def as_json(self, name, *options, **more):
        return json.loads(self.report(name, "--format", "json", *options, **more))

    def as_csv(self, name, *options, **more):
        text = self.report(name, "--format", "csv", *options, **more)
        return list(csv.DictReader(io.StringIO(text, newline="")))


class Wins(ReportTest):
    def expected(self, pool, jackpots, start=0, end=None):
        """Each award with its later state: paid, withheld or withdrawn."""
        wins = []
        for record in self.records:
            pools = [each["pool"] for each in record.get("pools", [])]
            if "refused" in record or pool not in pools:
                continue
            fates = [(each, "withdrawn") for each in record.get("withdrawn", [])]
            if record["kind"] == "award_withheld":
                fates.append((record["command"], "withheld"))
            if record["kind"] == "payment_recorded":
                fates.append((record["command"], "paid " + record["payment"]["paid"]))
            for ref, fate in fates:
                for win in reversed(wins):
                    if all(win[each] == ref[each] for each in ("table", "round", "seat", "tier")) \
                            and win.get("status") != "withdrawn":
                        win.update(status=fate, status_seq=record["seq"])
                        break
            if not start <= record["time"] - MAY_1 < (end or 10 ** 15):
                continue
            wins += [{"pool": pool, "seq": record["seq"], "table": award["table"],
                      "round": award["round"], "seat": award["seat"], "tier": award["tier"],
                      "amount": award["amount"], "rule": award["rule"], "is": "arithmetic" in award}
                     for award in record.get("awards", [])]
        return [{name: value for name, value in win.items() if name != "is"} for win in wins
                if win["is"] == jackpots]

    def both(self, last, **more):
        return [win for pool in POOLS for jackpots in (True, False)
                for win in self.expected(pool, jackpots, **more)[-last:]]

    def compare(self, wins, expected):
        self.assertEqual([{name: value for name, value in win.items()
                           if name not in ("form", "utc", "arithmetic")} for win in wins], expected)

    def test_the_last_wins_of_each_pool_are_listed(self):
        for last in (1, 3, 25, 1000):
            self.compare(self.as_json("wins", "--last", last)["wins"], self.both(last))
        self.compare(self.as_json("wins")["wins"], self.both(25))
        statuses = {win.get("status", "").split(" ")[0] for win in self.as_json("wins")["wins"]}
        self.assertEqual(statuses, {"", "withdrawn", "withheld", "paid"})

    def test_csv_has_the_same(self):
        rows = self.as_csv("wins")
        for row, win in zip(rows, self.as_json("wins")["wins"], strict=True):
            self.assertEqual({name: value for name, value in row.items() if value},
                             {name: str(value) for name, value in win.items()})

    def test_text(self):
        text = self.report("wins", "--last", 2)
        self.assertIn("Pool B7, jackpots: the last 2 of 5\n", text)
        self.assertIn("WITHHELD (record ", text)
        self.assertIn("raised to the guarantee of $50,000.00", text)
        self.assertIn("WITHDRAWN (record ", self.report("wins"))
        self.assertIn("; paid $4,000.00 (record ", self.report("wins"))

    def test_wins_can_be_limited_to_a_pool_and_a_period(self):
        self.compare(self.as_json("wins", "--pool", "UTH")["wins"],
                     [win for win in self.both(25) if win["pool"] == "UTH"])
        period = ("--from", "2026-05-02", "--to", "2026-05-03")
        self.compare(self.as_json("wins", *period)["wins"],
                     self.both(25, start=DAY_MS, end=2 * DAY_MS))
        # The later state of an award is shown although it is after the period.
        edge = ("--to", "2026-05-03T01:00:30Z", "--from", "2026-05-03")
        wins = self.as_json("wins", *edge)["wins"]
        self.assertEqual([win["status"] for win in wins], ["withdrawn", "withdrawn"])

    def test_an_unknown_pool_is_an_error(self):
        for name in ("wins", "reconciliation", "differences"):
            self.refused(audit("report", name, "--pool", "B8", self.journal), 2, '"B8"', "B7, UTH")


class Reconciliation(ReportTest):
    def expected(self, offset_ms=0, start=None, end=None):
        """The rows of the CSV report, added up with Decimal."""
        rows = {}
        balances = defaultdict(lambda: (ZERO, ZERO))
        for record in self.records:
            counts = (start is None or record["time"] >= start) and (
                end is None or record["time"] < end)
            day = (record["time"] + offset_ms) // DAY_MS
            if counts:
                for pool in POOLS:
                    if (day, pool) not in rows:
                        rows[day, pool] = defaultdict(lambda: ZERO)
                        rows[day, pool]["opening_meter"], rows[day, pool]["opening_reserve"] = \
                            balances[pool]
            for pool in record.get("pools", []):
                balances[pool["pool"]] = Decimal(pool["meter"]), Decimal(pool["reserve"])
                if counts:
                    self.post(rows[day, pool["pool"]], pool["postings"])
            for pool in POOLS:
                if counts:
                    rows[day, pool]["closing_meter"], rows[day, pool]["closing_reserve"] = \
                        balances[pool]
        return rows

    @staticmethod
    def post(row, postings):
        def moved(cause, account):
            return Decimal(postings.get(cause, {}).get(account, "0"))

        row["contributions_meter"] += moved("contribution", "meter")
        row["contributions_reserve"] += moved("contribution", "reserve")
        row["returned_meter"] -= moved("return", "meter")
        row["returned_reserve"] -= moved("return", "reserve")
        row["seeds"] += moved("seed", "meter")
        row["made_good"] += moved("make_good", "reserve")
        row["from_reserve"] += moved("from_reserve", "meter")
        row["paid_from_pool"] -= moved("award", "meter")
        row["adjustments"] += moved("adjustment", "meter")
        row["paid_by_house"] -= moved("award", "house") + moved("withdrawal", "house")

    def compare(self, rows, expected):
        self.assertEqual(len(rows), len(expected))
        for row, ((day, pool), sums) in zip(rows, expected.items()):
            self.assertEqual(row["pool"], pool)
            self.assertEqual(row["check"], "ok")
            amounts = {name: Decimal(row[name]) for name in row
                       if name not in ("pool", "day", "check")}
            self.assertEqual(amounts, {name: sums[name] for name in amounts}, (day, pool))
            for name in amounts:
                self.assertEqual(row[name], exact(amounts[name]))
            self.assertEqual(
                amounts["opening_meter"] + amounts["contributions_meter"]
                - amounts["returned_meter"] + amounts["seeds"] + amounts["from_reserve"]
                - amounts["paid_from_pool"] + amounts["adjustments"], amounts["closing_meter"])
            self.assertEqual(
                amounts["opening_reserve"] + amounts["contributions_reserve"]
                - amounts["returned_reserve"] + amounts["made_good"] - amounts["from_reserve"],
                amounts["closing_reserve"])

    def test_every_day_and_pool(self):
        rows = self.as_csv("reconciliation")
        self.compare(rows, self.expected())
        self.assertEqual([row["day"] for row in rows],
                         [f"2026-05-0{day}" for day in (1, 2, 3, 4) for _ in POOLS])
        # Control: every column is used.
        for name in ("contributions_meter", "contributions_reserve", "returned_meter",
                     "returned_reserve", "seeds", "made_good", "from_reserve", "paid_from_pool",
                     "adjustments", "paid_by_house"):
            self.assertTrue(any(Decimal(row[name]) for row in rows), name)

    def test_json_has_the_same(self):
        self.assertEqual(self.as_json("reconciliation")["days"], self.as_csv("reconciliation"))

    def test_days_follow_the_time_zone(self):
        hour = DAY_MS // 24
        for zone, offset in (("+10:00", 10 * hour), ("-11:30", -11 * hour - hour // 2)):
            rows = self.as_csv("reconciliation", "--timezone-offset", zone)
            self.compare(rows, self.expected(offset))
        rows = self.as_csv("reconciliation", "--timezone-offset=-11:30")
        self.assertEqual(rows[0]["day"], "2026-04-30")

    def test_periods_begin_where_the_day_before_ended(self):
        for start, end, options in (
                (MAY_1 + DAY_MS, None, ("--from", "2026-05-02")),
                (MAY_1 + 2 * DAY_MS, MAY_1 + 3 * DAY_MS,
                 ("--from", "2026-05-03", "--to", "2026-05-04")),
                (MAY_1 + 5 * DAY_MS // 2, None, ("--from", "2026-05-03T12:00Z")),
                (MAY_1, None, ("--month", "2026-05")),
                (MAY_1 + 31 * DAY_MS, None, ("--month", "2026-06"))):
            self.compare(self.as_csv("reconciliation", *options),
                         self.expected(start=start, end=end))

    def test_reconciliation_without_the_archived_files(self):
        """The snapshot at the beginning of a file holds the amounts of the pools."""
        for given in (1, 2):
            files = files_of(self.journal)[given:]
            first = min(read_journal(*files))
            start = self.records[first]["time"]
            text = self.good(audit("report", "reconciliation", "--format", "csv", *files))
            rows = list(csv.DictReader(io.StringIO(text, newline="")))
            # A snapshot is taken when a file begins, so the day may have begun before.
            self.compare(rows, self.expected(start=start))

    def test_text(self):
        text = self.report("reconciliation", "--pool", "B7")
        self.assertEqual(text.count("check: ok;"), 5)
        self.assertIn("Pool B7, 2026-05-01", text)
        self.assertIn("Pool B7, all 4 days", text)
        self.assertIn("Every day agrees to the last 1e-8 dollar.\n", text)
        self.assertNotIn("UTH,", text)

    def test_a_difference_of_1e_8_dollar_is_detected(self):
        copy = self.scratch / "copy"
        shutil.copytree(self.journal, copy)
        record = next(each for each in self.records if each["kind"] == "round_opened")
        meter = record["pools"][0]["meter"]
        more = exact(Decimal(meter) + Decimal("0.00000001"))
        edit(files_of(copy)[0],
             ("UPDATE journal SET payload = replace(payload, ?, ?) WHERE seq = ?",
              (f'"meter":"{meter}"', f'"meter":"{more}"', record["seq"])))
        run = audit("report", "reconciliation", copy)
        self.assertEqual(run.returncode, 1)
        text = run.stdout.decode()
        self.assertIn(f"first in record {record['seq']}", text)
        self.assertIn("NOT every day agrees", text)


class Differences(ReportTest):
    def payments(self, pool=None):
        for record in self.records:
            if record["kind"] == "payment_recorded" and "payment" in record and (
                    pool in (None, record["pools"][0]["pool"])):
                due, paid = (Decimal(record["payment"][name]) for name in ("due", "paid"))
                yield record, due, paid

    def test_differences_agree_with_the_records(self):
        for options, pool in (((), None), (("--month", "2026-05"), None),
                              (("--pool", "UTH"), "UTH")):
            report = self.as_json("differences", *options)
            large = [(record, paid - due) for record, due, paid in self.payments(pool)
                     if abs(paid - due) > 1000]
            self.assertEqual(
                [(each["seq"], each["table"], each["round"], each["seat"], each["tier"],
                  each["due"], each["paid"], each["difference"], each["by"], each["how"])
                 for each in report["differences"]],
                [(record["seq"], *(record["command"][name] for name in
                                   ("table", "round", "seat", "tier")),
                  record["payment"]["due"], record["payment"]["paid"], exact(difference),
                  record["command"]["by"], record["command"]["how"])
                 for record, difference in large])
            differences = [paid - due for _, due, paid in self.payments(pool)]
            for name, which in (("overpaid_listed", lambda d: d > 1000),
                                ("underpaid_listed", lambda d: d < -1000),
                                ("overpaid_smaller", lambda d: 0 < d <= 1000),
                                ("underpaid_smaller", lambda d: -1000 <= d < 0)):
                chosen = [each for each in differences if which(each)]
                self.assertEqual(report[name], {"count": len(chosen),
                                                "amount": exact(sum(chosen, ZERO))})
            self.assertEqual(report["as_due"], differences.count(0))
            self.assertEqual(report["payments"]["count"], len(differences))
        self.assertEqual(len(self.as_json("differences")["differences"]), 2)

    def test_a_month_without_differences(self):
        report = self.as_json("differences", "--month", "2026-04")
        self.assertEqual((report["differences"], report["payments"]["count"]), ([], 0))

    def test_csv_has_the_same(self):
        report = self.as_json("differences")
        rows = self.as_csv("differences")
        for row, each in zip(rows, report["differences"]):
            self.assertEqual({name: value for name, value in row.items() if name in each},
                             {name: str(value) for name, value in each.items()})
        totals = {row["what"]: row for row in rows if row["what"] != "payment"}
        for name in ("overpaid_listed", "underpaid_listed", "overpaid_smaller",
                     "underpaid_smaller"):
            self.assertEqual((int(totals[name]["count"]), totals[name]["difference"]),
                             (report[name]["count"], report[name]["amount"]))

    def test_text(self):
        text = self.report("differences", "--month", "2026-05")
        self.assertIn("[BJ 16.21.2, UTH 11.15]: 2\n", text)
        for says in ("due $5,219.92, paid $8,000.00, overpaid by $2,780.08; cheque; by cage 2\n",
                     "due $5,219.92, paid $4,000.00, underpaid by $1,219.92; cash; by cage 2\n"):
            self.assertIn(says, text)


if __name__ == "__main__":
    unittest.main()
