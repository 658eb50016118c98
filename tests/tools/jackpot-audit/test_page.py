"""jackpot-audit report --html: the page's figures against the JSON reports, its form, what a hostile
journal can do to it, and what it says of one that does not verify."""

import json
import re
import shutil
import unittest
import xml.etree.ElementTree
from decimal import Decimal
from html.parser import HTMLParser

from audit_support import (DAY_MS, NAME, SITE, AuditTest, FloorTest, Maker, audit, edit,
                           files_of, last_note, public_key, verifier_key)

VOID = {"meta", "br"}


class Parsed(HTMLParser):
    """The page as tables of cells; elements that are not closed in order are an error."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.ids = [], [], [], []
        self.section, self.sections, self.tables, self.text = None, {}, [], ""
        self.feed(page)
        self.close()
        assert self.open == [], self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *each) for each in attrs]
        attrs = dict(attrs)
        assert len(attrs) == len(set(attrs)), tag
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag not in VOID:
            self.open.append(tag)
        if tag == "section":
            self.section = attrs["id"]
            self.sections[self.section] = ""
        if tag == "table":
            self.tables.append({"section": self.section, "caption": "", "rows": [], "scopes": []})
        if tag == "tr":
            self.tables[-1]["rows"].append([])
        if tag in ("td", "th"):
            self.tables[-1]["rows"][-1].append("")
        if tag == "th":
            self.tables[-1]["scopes"].append(attrs.get("scope"))
        if tag == "data":
            self.tables[-1]["rows"][-1][-1] = Decimal(attrs["value"])

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()
        if tag == "section":
            self.section = None

    def handle_data(self, data):
        self.text += data
        if self.section:
            self.sections[self.section] += data
        if "caption" in self.open:
            self.tables[-1]["caption"] += data
        elif "tr" in self.open and {"td", "th"} & set(self.open):
            cell = self.tables[-1]["rows"][-1]
            if isinstance(cell[-1], str):
                cell[-1] += data

    def table(self, section, caption):
        found = [table for table in self.tables
                 if table["section"] == section and caption in table["caption"]]
        assert len(found) == 1, (section, caption, [table["caption"] for table in self.tables])
        return found[0]


def drawings(page):
    return [xml.etree.ElementTree.fromstring(each)
            for each in re.findall(r"(?s)<svg .*?</svg>", page)]


def points_of(drawing):
    """The number of points on the line."""
    return next(path.get("d") for path in drawing.iter("path")
                if path.get("class") == "line").count("V") + 1


class PageTest(AuditTest):
    def make_page(self, journal, vkey, *options, status=0, name="page.html"):
        file = self.scratch / name
        run = audit("report", "--html", file, "--key", vkey, *options, journal)
        self.assertEqual((run.returncode, run.stdout), (status, b""), run.stderr.decode())
        self.assertEqual(run.stderr.decode().count("\n"), 1)
        return file.read_text(encoding="utf-8"), run.stderr.decode()


class Page(FloorTest, PageTest):
    NEXT_KEY = True

    def page(self, *options, **more):
        return self.make_page(self.journal, self.vkey, *options, **more)[0]

    def as_json(self, name, *options):
        return json.loads(self.good(audit("report", name, "--format", "json", *options,
                                          self.journal)))

    def test_awards_are_those_of_the_report(self):
        for options in ((), ("--month", "2026-05"), ("--from", "2026-05-02", "--to", "2026-05-03"),
                        ("--pool", "UTH"), ("--last", "3")):
            last = () if "--last" in options else ("--last", 100_000)
            page = Parsed(self.page(*options, name=f"{len(options)}{options[:1]}.html"))
            wins = self.as_json("wins", *options, *last)["wins"]
            for pool in ("B7", "UTH"):
                for title, forms in (("Jackpots", ("jackpot",)), ("Fixed", ("fixed", "bonus"))):
                    expected = [win for win in wins if win["pool"] == pool and win["form"] in forms]
                    if options == () and title == "Fixed":
                        self.assertEqual(len(expected) > 25, pool == "B7")
                        expected = expected[-25:]
                    shown = [table["rows"][1:] for table in page.tables
                             if table["section"] == "awards"
                             and re.match(rf"{title}.* of pool {pool}:", table["caption"])]
                    rows = shown[0] if shown else []
                    self.assertEqual(
                        [[row[0].replace(" ", "T") + "Z", int(row[1]), row[2], int(row[3]),
                          int(row[4]), row[6], row[7], row[8]] for row in rows],
                        [[win["utc"], win["seq"], win["table"], win["round"], win["seat"],
                          Decimal(win["amount"]), win["rule"], win["arithmetic"]]
                         for win in expected])
                    for row, win in zip(rows, expected):
                        fate = win.get("status", "").split(" ")[0]
                        self.assertEqual(row[9].lower().split(" ")[0], fate)
                        if fate:
                            self.assertIn(f"(record {win['status_seq']})", row[9])

    def test_days_are_those_of_the_report(self):
        for options in ((), ("--timezone-offset", "+10:00"), ("--from", "2026-05-03")):
            page = Parsed(self.page(*options, name=f"{options[1:]}.html".replace(":", "")))
            days = self.as_json("reconciliation", *options)["days"]
            for pool in ("B7", "UTH"):
                rows = page.table("reconciliation", f"Days of pool {pool}")["rows"][1:]
                expected = [day for day in days if day["pool"] == pool]
                self.assertEqual(len(rows), 2 * len(expected) + 2)
                for i, day in enumerate(expected):
                    def of(name, sign=1):
                        return sign * Decimal(day[name])
                    meter, reserve = rows[2 * i:2 * i + 2]
                    self.assertEqual(meter, [
                        day["day"], "meter", of("opening_meter"), of("contributions_meter"),
                        of("returned_meter", -1), of("seeds"), "", of("from_reserve"),
                        of("paid_from_pool", -1), of("adjustments"), of("closing_meter"),
                        of("paid_by_house"), "ok"])
                    self.assertEqual(reserve, [
                        "reserve", of("opening_reserve"), of("contributions_reserve"),
                        of("returned_reserve", -1), "", of("made_good"), of("from_reserve", -1),
                        "", "", of("closing_reserve")])
                total = rows[-2]
                self.assertEqual(total[0], f"all {len(expected)} days")
                self.assertEqual(total[11], sum(Decimal(day["paid_by_house"]) for day in expected))

    def test_differences_are_those_of_the_report(self):
        report = self.as_json("differences", "--month", "2026-05")
        page = Parsed(self.page())
        rows = page.table("differences", "Payments of 2026-05 that differ")["rows"][1:]
        self.assertEqual(
            [[int(row[1]), row[2], *row[4:]] for row in rows],
            [[each["seq"], each["pool"], *(Decimal(each[name]) for name in
                                           ("due", "paid", "difference")),
              each["how"], each["by"]] for each in report["differences"]])
        totals = page.table("differences", "Payments recorded, 2026-05")["rows"][1:]
        self.assertEqual([[int(row[1]), row[2]] for row in totals], [
            [report["payments"]["count"], Decimal(report["payments"]["amount"])],
            [report["as_due"], ""],
            *([report[name]["count"], Decimal(report[name]["amount"])] for name in
              ("overpaid_listed", "underpaid_listed", "overpaid_smaller", "underpaid_smaller"))])

    def test_verification_and_checkpoint(self):
        text = self.page()
        page = Parsed(text)
        verified = json.loads(self.good(audit("verify", "--json", "--key", self.vkey,
                                              self.journal)))
        rows = dict(row[:2] for row in page.table("verification", "What was checked")["rows"])
        self.assertEqual(rows["result"], "it verifies")
        for name, value in (("records", verified["end"]), ("commands", verified["commands"]),
                            ("checkpoints", verified["checkpoints"])):
            self.assertTrue(rows[name].startswith(f"{value}, "), rows)
        self.assertIn("took over", rows["remark"])
        self.assertEqual(rows["verifier key held"], self.vkey)
        self.assertIn(last_note(self.journal), page.sections["checkpoint"])
        self.assertIn("Signed by " + "+".join(self.next_vkey.split("+")[:2]) + ".", page.sections["checkpoint"])
        self.assertIn(f"Jackpot report: {NAME}", page.text)
        self.assertIn('class="banner good"', text)
        self.assertNotIn('class="banner bad"', text)

    def test_actions_of_people_are_listed(self):
        page = Parsed(self.page())
        rows = page.table("changes", "suspensions")["rows"][1:]
        kinds = {"site_configured", "journal_opened", "key_rotated", "pool_suspended",
                 "pool_resumed", "pool_adjusted", "table_suspended", "table_resumed",
                 "award_withheld"}
        self.assertEqual([(int(row[1]), row[2]) for row in rows],
                         [(record["seq"], record["kind"]) for record in self.records
                          if record["kind"] in kinds])
        refused = [row for row in rows if "REFUSED" in row[3]]
        self.assertEqual(len(refused), 1)

    def test_the_chart_shows_the_displayed_amounts(self):
        page = self.page()
        for drawing, pool in zip(drawings(page), ("B7", "UTH"), strict=True):
            meters = [Decimal(each["meter"]) for record in self.records
                      for each in record.get("pools", []) if each["pool"] == pool]
            words = drawing.find("desc").text
            for amount in (min(meters), max(meters)):
                cents = amount.quantize(Decimal("0.01"), "ROUND_DOWN")
                self.assertIn(f"${cents:,}", words)
            jackpots = {record["seq"] for record in self.records
                        for award in record.get("awards", []) if "arithmetic" in award
                        and record["pools"][0]["pool"] == pool}
            marks = next(path.get("d") for path in drawing.iter("path")
                         if path.get("class") == "win")
            self.assertEqual(marks.count("M"), len(jackpots) + 1)  # and the legend's
            self.assertEqual(drawing.find("title").text, f"What pool {pool} displayed")
        events = [table for table in Parsed(page).tables if "marked in the chart" in
                  table["caption"]]
        self.assertEqual([row[2].startswith("jackpot") for row in events[0]["rows"][1:]].count(True),
                         3)

    def test_the_page_is_well_formed(self):
        text = self.page()
        page = Parsed(text)
        self.assertTrue(text.startswith('<!DOCTYPE html>\n<html lang="en">'))
        self.assertEqual(len(page.ids), len(set(page.ids)))
        for tag, name, value in page.attributes:
            if name == "href":
                self.assertIn(value, ["#" + each for each in page.ids])
            self.assertFalse(name == "src" or name == "style" or name.startswith("on"), (tag, name))
        for each in ("script", "link", "img", "iframe", "object", "form", "base"):
            self.assertNotIn(each, page.tags)
        self.assertNotRegex(text, r"https?:|url\(|@import")
        self.assertIn("default-src 'none'; style-src 'unsafe-inline'", text)
        self.assertIn("prefers-color-scheme: dark", text)
        self.assertIn("@media print", text)
        self.assertEqual(page.tags.count("h1"), 1)
        for table in page.tables:
            self.assertTrue(table["caption"], table)
            self.assertNotIn(None, table["scopes"])
        self.assertEqual(sorted(page.sections), sorted((
            "verification", "checkpoint", "pools", "awards", "reconciliation", "differences",
            "changes", "yourself")))

    def test_the_same_journal_gives_the_same_page(self):
        first = self.page("--from", "2026-05-02", "--pool", "B7")
        command = re.search(r"(?m)^(jackpot-audit report --html .*)</pre>", first)[1]
        options = command.replace("&#39;", "").split(" ")
        again = self.scratch / "again.html"
        options[options.index("again.html")] = again
        options[options.index("@key.vkey")] = self.vkey
        options[-1] = self.journal
        self.assertEqual(audit(*options[1:]).returncode, 0)
        self.assertEqual(again.read_text(), first)

    def test_a_period_without_records(self):
        page = Parsed(self.page("--month", "2026-07"))
        self.assertEqual(page.sections["pools"].count("no record in the period"), 2)
        self.assertIn("No payment is recorded", page.sections["differences"])

    def test_a_period_begins_with_the_amount_displayed_then(self):
        text = self.page("--from", "2026-05-02", "--to", "2026-05-03", "--pool", "B7")
        rows = Parsed(text).table("pools", "Displayed in the period")["rows"]
        self.assertEqual(rows[1][:2], ["at first", Decimal("54940.50")])
        self.assertEqual(len(drawings(text)), 1)

    def test_the_page_of_an_altered_journal_shows_the_fault(self):
        for what, (old, new), where in (
                ("an amount", ("61000", "61001"), 1),
                ("no JSON", ("{", "["), 5),
                ("an amount beyond all", ('"61000.00000000"', '"92233720368.00000000"'), 1)):
            with self.subTest(what):
                copy = self.scratch / what
                shutil.copytree(self.journal, copy)
                edit(files_of(copy)[0],
                     ("UPDATE journal SET payload = replace(payload, ?, ?) WHERE seq = ?",
                      (old, new, where)))
                text, errors = self.make_page(copy, self.vkey, status=1, name=what + ".html")
                page = Parsed(text)
                verify = json.loads(audit("verify", "--json", "--key", self.vkey, copy).stdout)
                self.assertIn('<div class="banner bad" role="alert">', text)
                self.assertIn("The journal does NOT verify.", page.text)
                rows = dict(row[:2] for row in
                            page.table("verification", "What was checked")["rows"])
                self.assertEqual((int(rows["first bad record"]), rows["what is wrong"]),
                                 (verify["record"], verify["what"]))
                self.assertIn("does NOT verify", errors)

    def test_the_page_of_an_unreadable_journal_shows_the_fault(self):
        copy = self.scratch / "copy"
        shutil.copytree(self.journal, copy)
        edit(files_of(copy)[-1], "DELETE FROM checkpoint")
        text, _ = self.make_page(copy, self.vkey, status=1)
        self.assertIn("does NOT verify", Parsed(text).text)
        self.assertEqual(drawings(text), [])

    def test_the_page_with_a_wrong_key_shows_the_fault(self):
        other = verifier_key(NAME, bytes(32))
        text, _ = self.make_page(self.journal, other, status=1)
        self.assertIn("does NOT verify", Parsed(text).text)

    def test_wrong_command_lines(self):
        file = self.scratch / "page.html"
        for arguments, says in (
                (("--html", file, self.journal), "--key"),
                (("--html", file, "--key", self.vkey), "JOURNAL"),
                (("--html", file, "--key", self.vkey, "wins", self.journal), 'remove "wins"'),
                (("--html", file, "--key", self.vkey, "--format", "csv", self.journal), "--format"),
                (("--html", file, "--key", self.vkey, "--pool", "B8", self.journal), '"B8"'),
                (("--html", file, "--key", self.vkey, self.scratch / "nowhere"), "nowhere"),
                (("wins", "--key", self.vkey, self.journal), "--key is for --html")):
            self.refused(audit("report", *arguments), 2, says)
        self.only()
        file.write_text("mine")
        self.refused(audit("report", "--html", file, "--key", self.vkey, self.journal), 2,
                     "a file of that name exists")
        self.assertEqual(file.read_text(), "mine")


HOSTILE = "</td><script>alert('1')</script>\"&amp;<!-- \u202egnp.\u05d0 \u0000\x1b[2J & <b"


class Hostile(PageTest):
    def setUp(self):
        super().setUp()
        self.key = self.write_key("signing.pem", "first")
        self.vkey = verifier_key(NAME, public_key(self.key))
        self.journal = self.scratch / "journal"

    def begin(self, floor):
        floor.do("create", name=NAME, key=str(self.key), at=0)
        floor.decide(1000, "site_configured", site=SITE)
        floor.do("commit")

    def test_hostile_texts_are_escaped(self):
        text = HOSTILE.replace("\u0000", "")
        with Maker(self.journal) as floor:
            self.begin(floor)
            for at, kind in ((2000, "pool_suspended"), (3000, "pool_resumed")):
                floor.decide(at, kind, pool="B7", reason=text, by=text)
            floor.round(4000, "B1", 1, "7C", "7C 7C", "9C 9D", "5D 7H")
            floor.press(30_000, "B1", 1)
            floor.decide(40_000, "table_suspended", table="B2", reason=text, by=text)
            floor.pay(50_000, "B1", 1, 1, "three_suited_sevens", "1.00000000", how=text, by=text)
            floor.do("commit")
        page, _ = self.make_page(self.journal, self.vkey)
        self.assertNotRegex(page, "[\u202e\x1b\x00]")
        self.check_texts(page, text)
        # Control: the check detects a page on which they are not escaped.
        visible = text.replace("\u202e", r"\u202e").replace("\x1b", r"\x1b")
        escaped = re.search(r"pool B7 suspended: (.*?), by", page)[1]
        self.assertNotEqual(escaped, visible)
        with self.assertRaises(AssertionError):
            self.check_texts(page.replace(escaped, visible), text)

    def check_texts(self, text, hostile):
        page = Parsed(text)
        self.assertNotIn("script", page.tags)
        self.assertNotIn("<!--", text)
        visible = hostile.replace("\u202e", r"\u202e").replace("\x1b", r"\x1b")
        rows = page.table("changes", "suspensions")["rows"]
        self.assertEqual([row[3] for row in rows if row[2] == "pool_suspended"],
                         [f"pool B7 suspended: {visible}, by {visible}"])
        paid = page.table("differences", "that differ")["rows"][1]
        self.assertEqual(paid[-2:], [visible, visible])

    def test_the_page_of_a_journal_without_rounds(self):
        with Maker(self.journal) as floor:
            self.begin(floor)
        text, _ = self.make_page(self.journal, self.vkey)
        page = Parsed(text)
        self.assertEqual(page.sections["awards"].count(": none."), 4)
        self.assertEqual(len(drawings(text)), 2)
        self.assertIn("No payment is recorded", page.sections["differences"])

    def test_the_page_of_a_journal_without_pools(self):
        with Maker(self.journal) as floor:
            floor.do("create", name=NAME, key=str(self.key), at=0)
            floor.do("commit")
        text, _ = self.make_page(self.journal, self.vkey)
        self.assertIn("There are no pools yet.", Parsed(text).text)

    def test_changed_parameters_are_listed(self):
        to = {name: SITE["pools"][0][name] for name in
              ("reserve_increment", "minimum", "payout_unit", "simultaneity_window_ms")}
        with Maker(self.journal) as floor:
            self.begin(floor)
            floor.decide(2000, "pool_change_agreed", pool="B7",
                         to={"increment": "0.25", **to}, reason="spring",
                         by=["manager 1", "manager 2"])
            floor.round(4000, "B1", 1, "7D", "7D 7D", "9C 9D", "5D 7H")
            floor.press(30_000, "B1", 1)
            floor.do("heartbeat", at=60_000)
            floor.decide(70_000, "table_suspended", table="B2", reason="x", by="y")
            floor.do("commit")
        page = Parsed(self.make_page(self.journal, self.vkey, "--pool", "B7")[0])
        rows = dict(row for row in page.table("pools", "Parameters")["rows"])
        self.assertEqual(rows["increment"], "0.25")
        changes = " ".join(row[3] for row in page.table("changes", "suspensions")["rows"])
        self.assertIn("IN FORCE from this record on: increment 0.2 -> 0.25", changes)

    def test_the_page_stays_small_with_many_records(self):
        with Maker(self.journal) as floor:
            self.begin(floor)
            rounds = 15_000
            floor.do("fill", rounds=rounds, batch=1000, at=2000, step_ms=DAY_MS // 1000)
            at = 2000 + 2 * rounds * (DAY_MS // 1000)
            for number in range(3):
                floor.round(at, "B1", 100_000 + number, "7C", "7C 7C", "9C 9D", "5D 7H")
                floor.press(at + 30_000, "B1", 100_000 + number)
                at += DAY_MS
            floor.do("heartbeat", at=at)
            floor.do("commit")
        text, _ = self.make_page(self.journal, self.vkey)
        self.assertLess(len(text), 1_000_000)
        for drawing in drawings(text):
            self.assertLess(points_of(drawing), 600)
            self.assertGreater(points_of(drawing), 100)
        wins = json.loads(self.good(audit("report", "wins", "--format", "json", self.journal)))
        rows = Parsed(text).table("pools", "marked in the chart")["rows"][1:]
        jackpots = [win for win in wins["wins"] if win["form"] == "jackpot"]
        self.assertEqual([int(row[1]) for row in rows if "jackpot" in row[2]],
                         [win["seq"] for win in jackpots])
        # Both sides of each jackpot are on the line: a tenth of what was displayed before.
        for row, win in zip((row for row in rows if "jackpot" in row[2]), jackpots):
            self.assertAlmostEqual(row[3] / 10, Decimal(win["amount"]), places=1)


if __name__ == "__main__":
    unittest.main()
