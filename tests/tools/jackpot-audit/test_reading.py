"""jackpot-audit show and tail."""

import json
import os
import random
import re
import select
import shutil
import signal
import subprocess
import time
import unittest

from audit_support import (AUDIT, NAME, SITE, AuditTest, FloorTest, Maker, audit, edit, files_of,
                           read_journal)


def dollars(amount):
    """An amount of the journal, formatted for people."""
    sign = "-" if amount.startswith("-") else ""
    whole, _, decimals = amount.lstrip("-").partition(".")
    decimals = decimals.rstrip("0").ljust(2, "0")
    return f"{sign}${int(whole):,}.{decimals}"


class Show(FloorTest):
    NEXT_KEY = True

    def shown(self, seq):
        return self.good(audit("show", seq, self.journal))

    def first(self, kind, **fields):
        return next(record for record in self.records if record["kind"] == kind
                    and all(record["command"].get(name) == value
                            for name, value in fields.items()))

    def test_every_record_can_be_shown(self):
        for record in self.records:
            text = self.shown(record["seq"])
            self.assertRegex(text, rf"\ARecord {record['seq']}, 2026-05-0[1-4] [0-9:.]+ UTC, "
                                   rf"{record['kind']}\n")
            for award in record.get("awards", []) + record.get("withdrawn", []):
                self.assertIn(f"{award['table']} round {award['round']} seat {award['seat']}", text)
                self.assertIn(f"{dollars(award['amount'])} [{award['rule']}]", text)
            for refund in record.get("refunds", []):
                self.assertIn(f"seat {refund['seat']}, {dollars(refund['amount'])}\n", text)
            if "refused" in record:
                self.assertIn(f"REFUSED: {record['refused']['code']}", text)
            for pool in record.get("pools", []):
                self.assertIn(f"  meter {dollars(pool['meter'])}, displayed ", text)
                self.assertIn(f", reserve {dollars(pool['reserve'])}\n", text)

    def test_the_postings_of_a_record_are_shown(self):
        accounts = ("house", "players", "meter", "reserve")
        for record in self.records:
            text = self.shown(record["seq"])
            for pool in record.get("pools", []):
                section = text.split(f"\nPool {pool['pool']}\n")[1].split("\nPool ")[0]
                for cause, amounts in pool["postings"].items():
                    line = re.search(rf"^  {cause} .*$", section, re.M)[0]
                    self.assertEqual(line.split()[1:], [dollars(amounts[account])
                                                        for account in accounts
                                                        if account in amounts])

    def test_the_payload_of_a_record_can_be_printed(self):
        for seq in (0, 1, self.size - 1):
            run = audit("show", "--json", seq, self.journal)
            self.assertEqual((run.returncode, run.stdout), (0, self.payloads[seq] + b"\n"))

    def test_arithmetic_in_words(self):
        """BJ 14.27.2: two successive tenths, shared, rounded up; BJ 14.27.1: all of it, shared."""
        ruling = self.first("surveillance_ruling")
        text = self.shown(ruling["seq"])
        arithmetic = ruling["awards"][0]["arithmetic"]
        self.assertIn(f"10 % of {dollars(arithmetic['displayed'])} = ", text)
        self.assertIn(f"; {dollars(arithmetic['aggregate'])} shared by 2", text)
        self.assertIn("up to the next $0.01 (BJ 5.12)", text)
        self.assertIn("B1 round 9 together with B2 round 8, by surveillance 4", text)
        diamonds = next(record for record in self.records if record["kind"] == "settle_due"
                        and record["awards"][0]["tier"] == "three_sevens_diamonds")
        self.assertIn("100 % of $50,004.00; $50,004.00 shared by 2 = $25,002.00 each; raised to "
                      "the guarantee of $50,000.00", self.shown(diamonds["seq"]))

    def test_actions_of_people(self):
        for record, says in (
                (self.first("result_corrected"), "result corrected, by pit 3: 8C; seat 1: 7H 7H"),
                (self.first("pool_adjusted", reason="counted twice"),
                 "pool B7 adjusted by -$250.50: counted twice, by manager 1 and manager 2"),
                (self.first("award_withheld"),
                 "U1 round 8 seat 1, Straight Flush award withheld: under investigation, by "
                 "manager 1 and inspector 7"),
                (self.first("payment_recorded", how="cheque"),
                 "payment of $8,000.00 recorded (cheque), by cage 2"),
                (self.first("payment_recorded", how="cheque"),
                 "due $5,219.92, paid $8,000.00, difference $2,780.08"),
                (self.first("table_suspended"), "to an inspector [BJ 16.18]"),
                (self.first("jackpot_confirmed", pressed_ago_ms=800), "pressed 800 ms before"),
                (self.first("jackpot_confirmed", pressed_ago_ms=800), "HELD until Surveillance"),
                (self.records[0], "the journal begins, signed with " + self.vkey),
                (next(r for r in self.records if r["kind"] == "key_rotated"),
                 f"the key {self.next_vkey} takes over from {self.vkey}, by security 1 and "
                 "security 2"),
                (next(r for r in self.records if r["kind"] == "strangers_refused"),
                 "count 3, addresses 10.0.0.9")):
            self.assertIn(says, self.shown(record["seq"]))

    def test_a_missing_record_is_an_error(self):
        self.refused(audit("show", self.size, self.journal), 2, f"the last is {self.size - 1}")
        self.refused(audit("show", "99999999999999999999", self.journal), 2, "2^63")


class ChangesInPlay(AuditTest):
    def setUp(self):
        super().setUp()
        key = self.write_key("key", "changes")
        self.journal = self.scratch / "journal"
        with Maker(self.journal) as floor:
            floor.do("create", name=NAME, key=str(key), at=0)
            floor.decide(1000, "site_configured", site=SITE)
            present = {name: value for name, value in SITE["pools"][0].items()
                       if name not in ("id", "game", "wager", "opening")}
            to = {**present, "minimum": "25000.00000000"}
            for at, parameters in ((2000, to), (3000, present), (4000, to)):
                floor.decide(at, "pool_change_agreed", pool="B7", to=parameters, reason="season",
                             by=["manager 1", "manager 2"])
            floor.decide(5000, "pool_adjusted", pool="B7", amount="-90000.00000000",
                         reason="carried over", by=["manager 1", "manager 2"])
            later = {**SITE["pools"][0], "id": "B8", "opening": "60000.00000000"}
            table = {**SITE["tables"][0], "id": "B9", "pool": "B8"}
            first = {**SITE["tables"][0], "seats": 9}
            floor.decide(6000, "site_configured", site={
                "pools": [later, {**SITE["pools"][0], **to}, *SITE["pools"][1:]],
                "tables": [table, first, *SITE["tables"][1:]]})
            floor.decide(7000, "site_configured", site=SITE)  # refused
            floor.do("commit")

    def test_each_change_is_described(self):
        change = "minimum $50,000.00 -> $25,000.00"
        for seq, says in (
                (1, "the site is configured; pools: B7, UTH; tables: "),
                (2, "parameters of B7 agreed for the next reset: " + change),
                (2, ": season, by manager 1 and manager 2"),
                (3, "parameters of B7 taken back, not in force: " + change),
                (5, "parameters of B7 IN FORCE from this record on: " + change),
                (5, "to an inspector [BJ 14.26.2]"),
                (6, "new pools: B8"),
                (6, "new tables: B9"),
                (6, "changed tables: B1"),
                (7, "REFUSED: bad_configuration; nothing was changed")):
            self.assertIn(says, self.good(audit("show", seq, self.journal)))
        lines = self.good(audit("tail", self.journal)).splitlines()
        self.assertIn("IN FORCE from this record on: " + change, lines[5])
        self.assertIn("; new pools: B8; new tables: B9; changed tables: B1; B7 $", lines[6])

    def test_reports_name_a_pool_that_was_opened_later(self):
        report = self.good(audit("report", "reconciliation", "--pool", "B8", self.journal))
        self.assertIn("$60,000.00", report)
        self.assertIn("Every day agrees", report)


class Tail(FloorTest):
    def test_the_last_records(self):
        for options, count in (((), 10), (("-n", 3), 3), (("-n", 0), 0), (("-n", 1000), self.size)):
            lines = self.good(audit("tail", *options, self.journal)).splitlines()
            self.assertEqual([int(line.split()[0]) for line in lines],
                             list(range(self.size - count, self.size)))
            for line in lines:
                record = self.records[int(line.split()[0])]
                self.assertEqual(line.split()[3], record["kind"])

    def test_each_record_is_one_line_whatever_its_text(self):
        self.assertEqual(self.good(audit("tail", "-n", 1000, self.journal)).count("\n"), self.size)


class Follow(AuditTest):
    def setUp(self):
        super().setUp()
        self.key = self.write_key("key", "follow")
        self.journal = self.scratch / "journal"
        self.floor = self.enterContext(Maker(self.journal))
        self.floor.do("create", name=NAME, key=str(self.key), at=0)
        self.floor.decide(1000, "site_configured", site=SITE)
        self.floor.do("commit")

    def follow(self, *options, **more):
        run = subprocess.Popen([AUDIT, "tail", "-f", *map(str, options), str(self.journal)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.stderr.close)
        self.seen = b""
        return run

    def numbers(self, run, last):
        """Reads until the record `last` was seen; the numbers seen so far."""
        deadline = time.monotonic() + 30
        while f"\n{last}  ".encode() not in b"\n" + self.seen or not self.seen.endswith(b"\n"):
            ready, _, _ = select.select([run.stdout], [], [], deadline - time.monotonic())
            self.assertTrue(ready, f"record {last} is not seen; {self.seen.decode()}")
            piece = os.read(run.stdout.fileno(), 65536)
            if not piece:
                self.fail(f"it has ended: {run.stderr.read().decode()}")
            self.seen += piece
        return [int(line.split()[0]) for line in self.seen.decode().splitlines()]

    def heartbeats(self, count, at):
        for _ in range(count):
            self.floor.do("heartbeat", at=at)
            self.floor.do("commit")

    def test_following_continues_across_segments(self):
        run = self.follow("-n", 1)
        self.assertEqual(self.numbers(run, 1), [1])
        self.heartbeats(3, 5000)
        self.assertEqual(self.numbers(run, 4), list(range(1, 5)))
        at, last = 6000, 4
        for turn in range(6):  # tail -f never prevents the writer from closing a segment
            self.heartbeats(2, at)
            self.floor.do("segment", at=at)
            last += 3
            if turn % 2:
                self.assertEqual(self.numbers(run, last), list(range(1, last + 1)))
        self.heartbeats(1, at)
        self.assertEqual(self.numbers(run, last + 1), list(range(1, last + 2)))
        run.send_signal(signal.SIGINT)
        self.assertEqual((run.wait(timeout=30), run.stderr.read()), (0, b""))

    def test_many_new_records_at_once_are_followed(self):
        run = self.follow("-n", 1)
        self.numbers(run, 1)
        end = int(self.floor.do("fill", rounds=2000, batch=100, at=9000, step_ms=10))
        self.assertEqual(self.numbers(run, end - 1), list(range(1, end)))
        run.terminate()
        self.assertEqual(run.wait(timeout=30), 0)

    def test_follow_ends_when_the_reader_closes_the_pipe(self):
        run = self.follow()
        self.numbers(run, 1)
        run.stdout.close()
        self.assertEqual((run.wait(timeout=30), run.stderr.read()), (0, b""))

    def test_following_a_journal_that_shrinks_is_an_error(self):
        run = self.follow()
        self.numbers(run, 1)
        self.floor.do("close")
        for path in self.journal.iterdir():
            path.unlink()
        self.floor.do("create", name=NAME, key=str(self.key), at=0)
        self.assertEqual(run.wait(timeout=30), 1 if run.poll() != 2 else 2)
        self.assertRegex(run.stderr.read().decode(), "shorter|there is no|gone|cannot be read")


class Hostile(FloorTest):
    """Records that no controller wrote: every command ends with 0, 1 or 2."""

    ODD = (None, True, -1, 0, 2 ** 63 - 1, -2 ** 63, 2 ** 64, 1.5, 1e300, "", "x", "-0.00000001",
           "92233720368.54775807", "-92233720368.54775808", "99999999999.00000000", [], {}, [[]],
           [None], "\x1b]0;title\x07", "\x9b2J", "\u202e", "a" * 5000)

    def places(self, value, path=()):
        """The path of every value in a record."""
        yield path
        items = value.items() if isinstance(value, dict) else (
            enumerate(value) if isinstance(value, list) else ())
        for key, each in items:
            yield from self.places(each, (*path, key))

    def test_unexpected_values_never_crash_a_command(self):
        seed = int(os.environ.get("JACKPOT_TEST_SEED", random.randrange(1 << 32)))
        chance = random.Random(seed)
        copy = self.scratch / "copy"
        for turn in range(int(os.environ.get("JACKPOT_HOSTILE_TURNS", "12"))):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(self.journal, copy)
            record = json.loads(self.payloads[chance.randrange(1, self.size)])
            seq = record["seq"]
            *path, last = chance.choice([path for path in self.places(record) if path])
            place = record
            for key in path:
                place = place[key]
            if chance.random() < 0.2 and isinstance(place, dict):
                del place[last]
            else:
                place[last] = chance.choice(self.ODD)
            text = json.dumps(record, separators=(",", ":"), ensure_ascii=False)
            file = next(file for file in files_of(copy) if seq in read_journal(file))
            edit(file, ("UPDATE journal SET payload = ? WHERE seq = ?", (text, seq)))
            for command in (("show", seq), ("show", "--json", seq), ("tail", "-n", 1000),
                            ("report", "wins"), ("report", "reconciliation"),
                            ("report", "differences"), ("export", "--format", "csv"),
                            ("verify", "--key", self.vkey)):
                with self.subTest(seed=seed, turn=turn, command=command, record=text):
                    run = audit(*command, copy)
                    self.assertIn(run.returncode, (0, 1, 2), run.stderr)
                    self.assertNotIn(b"fault in this program", run.stderr)
                    self.assertNotIn(b"\x1b", run.stderr)
                    if command[0] in ("verify", "export"):
                        self.assertEqual(run.returncode, 1)
                    if command[0] == "show" and command[1] == seq:
                        self.assertNotRegex(run.stdout.decode(), "[\x1b\x07\x9b\u202e]")


if __name__ == "__main__":
    unittest.main()
