#!/usr/bin/env python3
"""The command line of jackpotctl. JACKPOTCTL is the path of the program."""

import copy
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from support.programs import JACKPOTCTL, ROOT

WORKED_EXAMPLE = ROOT / "docs" / "examples" / "bj-14.27.2.json"
NOBODY = 65534

SCENARIO = {
    "pools": [{"id": "B7", "game": "blazing7s", "wager": "5.00", "increment": "0.2",
               "minimum": "50000.00"}],
    "tables": [{"id": "B1", "pool": "B7"}],
    "events": [
        {"at_ms": 0, "type": "round_opened", "table": "B1", "round": 1, "wagers": [1, 2]},
        {"at_ms": 1, "type": "round_result", "table": "B1", "round": 1, "dealer": "7C",
         "hands": [{"seat": 1, "cards": ["7C", "7C"]}, {"seat": 2, "cards": ["7H", "2S"]}]},
        {"at_ms": 2, "type": "jackpot_confirmed", "table": "B1", "round": 1},
    ],
}
EMPTY = b'{"pools": [], "tables": [], "events": []}'


def jackpotctl(*arguments, stdin=b"", **options):
    options.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([JACKPOTCTL, *map(str, arguments)], input=stdin, stderr=subprocess.PIPE,
                          timeout=120, **options)


def simulate(scenario, *options, **more):
    content = scenario if isinstance(scenario, bytes) else json.dumps(scenario).encode()
    return jackpotctl("simulate", *options, "-", stdin=content, **more)


class CommandLineTest(unittest.TestCase):
    def assertSucceeds(self, run):
        self.assertEqual((run.returncode, run.stderr), (0, b""))
        return run.stdout.decode()

    def assertFails(self, run, *says):
        """Status 2, nothing on standard output, and on standard error each of the texts."""
        message = run.stderr.decode()
        self.assertEqual(run.returncode, 2, message)
        self.assertIn(run.stdout, (b"", None))
        self.assertTrue(message.endswith("\n"))
        for text in says:
            self.assertIn(text, message)
        return message


class Arguments(CommandLineTest):
    def test_help_is_printed_on_standard_output(self):
        for option in ("--help", "-h"):
            text = self.assertSucceeds(jackpotctl(option))
            self.assertIn("Usage:", text)
            self.assertIn("jackpotctl simulate", text)

    def test_help_for_simulate(self):
        for option in ("--help", "-h"):
            text = self.assertSucceeds(jackpotctl("simulate", option))
            for part in ("Usage:", "--explain", "Exit status:", "docs/scenarios.md"):
                self.assertIn(part, text)

    def test_version(self):
        text = self.assertSucceeds(jackpotctl("--version"))
        self.assertRegex(text, r"\Ajackpotctl [0-9]+\.[0-9]+\.[0-9]+\n\Z")

    def test_no_arguments(self):
        self.assertFails(jackpotctl(), "a command is required", "jackpotctl --help")

    def test_unknown_command(self):
        self.assertFails(jackpotctl("gamble"), '"gamble"', "--help")

    def test_terminal_control_characters_are_escaped(self):
        message = self.assertFails(jackpotctl("\x1b[2J\u009b\u202egamble é"), "\\x1b[2J\\u009b\\u202egamble é")
        self.assertTrue(message.replace("\n", "").isprintable(), message)

    def test_unknown_option(self):
        self.assertFails(jackpotctl("--gamble"), "--gamble", "--help")
        self.assertFails(jackpotctl("simulate", "--gamble", WORKED_EXAMPLE), "--gamble", "--help")

    def test_one_file_is_needed(self):
        self.assertFails(jackpotctl("simulate"), "one FILE")
        self.assertFails(jackpotctl("simulate", "--explain"), "one FILE")
        self.assertFails(jackpotctl("simulate", WORKED_EXAMPLE, WORKED_EXAMPLE), "one FILE")


class Files(CommandLineTest):
    def test_a_file(self):
        outcome = json.loads(self.assertSucceeds(jackpotctl("simulate", WORKED_EXAMPLE)))
        amounts = [award["amount"] for award in outcome["payouts"]]
        self.assertEqual(amounts, ["47500.00", "47500.00"])

    def test_standard_input(self):
        self.assertEqual(self.assertSucceeds(simulate(WORKED_EXAMPLE.read_bytes())),
                         self.assertSucceeds(jackpotctl("simulate", WORKED_EXAMPLE)))

    def test_missing_file(self):
        self.assertFails(jackpotctl("simulate", "/nowhere/scenario.json"), "/nowhere/scenario.json")

    def test_a_directory_is_no_scenario(self):
        self.assertFails(jackpotctl("simulate", ROOT), str(ROOT))

    def test_file_that_cannot_be_read(self):
        path = "/proc/self/mem"
        self.assertFails(jackpotctl("simulate", path), path, "cannot be read")

    def test_file_without_permission(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            path = Path(folder) / "scenario.json"
            path.write_bytes(EMPTY)
            path.chmod(0)
            as_nobody = {}
            if os.geteuid() == 0:
                as_nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
            try:
                run = jackpotctl("simulate", path, **as_nobody)
            except PermissionError:
                self.skipTest("the program itself is out of nobody's reach")
            self.assertFails(run, str(path), "permission")

    def test_file_too_large(self):
        self.assertFails(simulate(b" " * (64 * 2**20 + 1)), "64 MiB")
        self.assertFails(simulate(b" " * (64 * 2**20)), "line 1")


class Json(CommandLineTest):
    def test_empty_file(self):
        self.assertFails(simulate(b""), "line 1, column 1")

    def test_malformed_json_has_a_line_and_a_column(self):
        broken = b'{\n "pools": [],\n "tables": [}\n}'
        self.assertFails(simulate(broken), "line 3, column 13: ", "JSON")
        self.assertFails(simulate(EMPTY + b"\n x"), "line 2, column 2")
        self.assertFails(simulate(EMPTY[:-1] + b",}"), "line 1")
        self.assertFails(simulate(EMPTY[:-1]), "line 1")
        self.assertFails(simulate(b"{'pools': []}"), "line 1, column 2")
        self.assertFails(simulate(EMPTY.replace(b"[]", b"[NaN]", 1)), "line 1")

    def test_deep_nesting(self):
        for opening, closing in ((b"[", b"]"), (b'{"pools":', b"}")):
            self.assertFails(simulate(opening * 1_000_000))
            self.assertFails(simulate(opening * 1_000_000 + b"[]" + closing * 1_000_000))
        deep = b"[" * 1_000_000 + b"]" * 1_000_000
        self.assertFails(simulate(EMPTY.replace(b"[]", b"[" + deep + b"]", 1)), "/pools/0")
        self.assertSucceeds(simulate(EMPTY[:-1] + b', "expect": ' + deep + b"}"))

    def test_invalid_utf8(self):
        for octets in (b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xe2\x82"):
            named = EMPTY[:-1] + b', "name": "' + octets + b'"}'
            self.assertFails(simulate(named), "line 1, column")

    def test_nul_bytes(self):
        self.assertFails(simulate(b"\0" + EMPTY), "line 1, column 1")
        self.assertFails(simulate(EMPTY[:10] + b"\0" + EMPTY[10:]), "line 1")
        self.assertFails(simulate(EMPTY[:-1] + b', "name": "a\0b"}'), "line 1")
        self.assertSucceeds(simulate(EMPTY[:-1] + b', "name": "a\\u0000b"}'))

    def test_nul_byte_after_the_scenario(self):
        self.assertFails(simulate(EMPTY + b"\0"), "line 1")
        self.assertFails(simulate(EMPTY + b"\0 and what else"), "line 1")

    def test_duplicate_keys(self):
        twice = "the key is there twice"
        self.assertFails(simulate(EMPTY[:-1] + b', "events": []}'), f"/events: {twice}")
        pool = json.dumps(SCENARIO["pools"][0]).encode()[:-1] + b', "wager": "2.50"}'
        scenario = EMPTY.replace(b"[]", b"[" + pool + b"]", 1)
        self.assertFails(simulate(scenario), f"/pools/0/wager: {twice}")

    def test_huge_numbers(self):
        event = b'{"at_ms": %s, "type": "x"}'
        for number in (b"9223372036854775808", b"-9223372036854775809", b"1" * 400, b"1e999",
                       b"1e3", b"0.5"):
            self.assertFails(simulate(EMPTY.replace(b"[]}", b"[" + event % number + b"]}")))

    def test_not_an_object(self):
        for document in (b"[]", b"null", b"7", b'"scenario"'):
            self.assertFails(simulate(document), "/: takes an object")

    def test_all_errors_at_once(self):
        scenario = copy.deepcopy(SCENARIO)
        scenario["pools"][0].update(wager=5, cap="a lot")
        scenario["tables"][0]["seats"] = "7"
        scenario["events"][0]["wagers"] = 1
        scenario["events"][2]["at_ms"] = -1
        message = self.assertFails(
            simulate(scenario), "/pools/0/wager", "/pools/0/cap", "/tables/0/seats",
            "/events/0/wagers", "/events/2/at_ms")
        self.assertEqual(message.count("\n"), 5)

    def test_all_broken_rules_at_once(self):
        scenario = copy.deepcopy(SCENARIO)
        scenario["pools"][0].update(wager="3.00", minimum="20000.00", payout_unit="0.001")
        scenario["tables"] += [{"id": "B1", "pool": "B7"}, {"id": "B2", "pool": "B8"}]
        message = self.assertFails(
            simulate(scenario), "(BJ 14.24)", "(BJ 14.28)", "(BJ 5.12)", "/tables/1/id",
            "/tables/2/pool")
        self.assertEqual(message.count("\n"), 5)

    def test_errors_are_named_with_their_file(self):
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            file.write(b"{}")
            file.flush()
            for line in self.assertFails(jackpotctl("simulate", file.name)).splitlines():
                self.assertTrue(line.startswith(file.name + ": "))


class Outcome(CommandLineTest):
    def test_keys_and_their_order(self):
        outcome = json.loads(self.assertSucceeds(simulate(SCENARIO)))
        self.assertEqual(list(outcome),
                         ["payouts", "withdrawn", "refunds", "refused", "held", "locked", "differences",
                          "notices", "pools", "changes"])
        for award in outcome["payouts"]:
            self.assertEqual(list(award), ["table", "round", "seat", "tier", "amount"])
        self.assertEqual(list(outcome["pools"][0]),
                         ["id", "displayed", "amount", "reserve", "seeded", "contributed",
                          "returned", "from_reserve", "paid_from_pool", "paid_by_house",
                          "adjusted"])

    def test_keys_of_the_other_lists(self):
        scenario = copy.deepcopy(SCENARIO)
        scenario["tables"].append({"id": "B2", "pool": "B7"})
        scenario["events"] += [
            {"at_ms": 2, "type": "payment_recorded", "table": "B1", "round": 1, "seat": 2,
             "tier": "one_each_sevens", "paid": "40.00", "by": "ann"},
            {"at_ms": 2, "type": "wager_voided", "table": "B1", "round": 1, "seat": 2,
             "ground": "invalid_wager", "reason": "late", "by": ["ann", "ben"]},
            {"at_ms": 2, "type": "coffee_break"},
            {"at_ms": 2, "type": "round_opened", "table": "B2", "round": 9, "wagers": [4]},
            {"at_ms": 2, "type": "round_result", "table": "B2", "round": 9, "dealer": "7C",
             "hands": [{"seat": 4, "cards": ["7C", "7C"]}]},
            {"at_ms": 3, "type": "jackpot_confirmed", "table": "B2", "round": 9},
        ]
        outcome = json.loads(self.assertSucceeds(simulate(scenario)))
        self.assertEqual(list(outcome["withdrawn"][0]),
                         ["table", "round", "seat", "tier", "amount"])
        self.assertEqual(list(outcome["refunds"][0]), ["table", "round", "seat", "amount"])
        self.assertEqual(list(outcome["refused"][0]), ["event", "code"])
        self.assertEqual(outcome["held"], [{"pool": "B7", "rounds": [["B1", 1], ["B2", 9]]}])
        self.assertEqual(list(outcome["held"][0]), ["pool", "rounds"])
        self.assertEqual(list(outcome["locked"][0]), ["table", "round", "seat", "tier", "amount"])
        self.assertEqual(outcome["differences"], [
            {"table": "B1", "round": 1, "seat": 2, "tier": "one_each_sevens", "due": "0.00",
             "paid": "40.00"}])
        self.assertEqual(list(outcome["differences"][0]),
                         ["table", "round", "seat", "tier", "due", "paid"])
        self.assertEqual(outcome["notices"],
                         [{"event": 8, "kind": "held", "to": ["surveillance"]}])
        self.assertEqual(list(outcome["notices"][0]), ["event", "kind", "to"])

    def test_names_survive(self):
        text = json.dumps(SCENARIO).replace("B1", "T\\\"\\u0000 \\u00e9 \U0001f0cf")
        outcome = json.loads(self.assertSucceeds(simulate(text.encode())))
        self.assertEqual(outcome["payouts"][0]["table"], 'T"\0 é \U0001f0cf')

    def test_no_events(self):
        self.assertEqual(list(json.loads(self.assertSucceeds(simulate(EMPTY))).values()), [[]] * 10)

    def test_the_same_each_time(self):
        self.assertEqual(simulate(SCENARIO).stdout, simulate(SCENARIO).stdout)

    def test_full_standard_output(self):
        for arguments in (["simulate", WORKED_EXAMPLE], ["simulate", "--explain", WORKED_EXAMPLE]):
            with open("/dev/full", "wb") as full:
                run = jackpotctl(*arguments, stdout=full)
            self.assertNotEqual(run.returncode, 0)
            self.assertIn(b"standard output", run.stderr)

    def test_full_standard_output_for_help_and_version(self):
        for arguments in (["--help"], ["--version"], ["simulate", "--help"]):
            with open("/dev/full", "wb") as full:
                self.assertNotEqual(jackpotctl(*arguments, stdout=full).returncode, 0, arguments)

    def test_closed_standard_output(self):
        run = subprocess.run(
            ["sh", "-c", 'exec "$0" simulate "$1" >&-', JACKPOTCTL, str(WORKED_EXAMPLE)],
            stderr=subprocess.PIPE, timeout=120)
        self.assertNotEqual(run.returncode, 0)


class Limits(CommandLineTest):
    """Limits that the program checks beyond the rules."""

    @staticmethod
    def adjustment(amount, reason="count", by=("ann", "ben")):
        return {"at_ms": 0, "type": "pool_adjusted", "pool": "B7", "amount": amount,
                "reason": reason, "by": by}

    def refusals(self, *events):
        outcome = json.loads(self.assertSucceeds(simulate({**SCENARIO, "events": events})))
        return [(refusal["event"], refusal["code"]) for refusal in outcome["refused"]]

    def test_an_adjustment_needs_two_people(self):
        refusals = self.refusals(
            self.adjustment("1.00", ""),
            self.adjustment("1.00", "", ["ann"]),
            self.adjustment("1.00"))
        self.assertEqual(refusals, [(1, "needs_two_people")])

    def test_a_pool_whose_totals_would_pass_the_limit(self):
        refusals = self.refusals(
            self.adjustment("9999950000.00"),
            self.adjustment("10000000000.00"),
            self.adjustment("10000000000.00"),
            self.adjustment("0.01"),
            SCENARIO["events"][0])
        self.assertEqual(refusals, [(3, "out_of_range"), (4, "out_of_range")])


class Explanation(CommandLineTest):
    def explain(self, path):
        return self.assertSucceeds(jackpotctl("simulate", "--explain", path))

    def test_worked_example(self):
        text = self.explain(WORKED_EXAMPLE)
        arithmetic = ("10 % of $500,000.00 = $50,000.00, then 10 % of $450,000.00 = $45,000.00; "
                      "$95,000.00 shared by 2 = $47,500.00 each")
        self.assertEqual(text.count(arithmetic), 4)  # two awards, when they are locked and when due
        for line in ("Scenario: the worked example of BJ 14.27.2",
                     "B7: Blazing 7's, wager $5.00, increment 0, minimum $50,000.00, "
                     "opening amount $500,000.00",
                     "00:00:00.000    BJ07 round 118 opened, jackpot wagers on seats 1, 3, 6",
                     "at the end      pool B7: the time has come for wins that are due or final",
                     "Three Suited Sevens, $47,500.00 [BJ 14.27.2]",
                     "pool B7: $500,000.00 -> $405,000.00 (awards $95,000.00)"):
            self.assertIn(line, text)

    def test_explain_lists_events_in_the_order_of_time(self):
        text = self.explain(WORKED_EXAMPLE)
        parts = ("opened", "result: 7H", "confirmed by the dealer", "award 1:", "award 2:",
                 "Awards as they became due, in the order of payment", "= meter and reserve")
        places = [text.index(part) for part in parts]
        self.assertEqual(places, sorted(places))

    def test_the_documented_example_is_true(self):
        page = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")
        self.assertIn(self.assertSucceeds(jackpotctl("simulate", WORKED_EXAMPLE)), page)
        award = self.explain(WORKED_EXAMPLE).partition("at the end  ")[2].partition("\n\n")[0]
        self.assertIn(award, page)

    def test_the_option_may_follow_the_file(self):
        text = self.assertSucceeds(jackpotctl("simulate", WORKED_EXAMPLE, "--explain"))
        self.assertEqual(text, self.explain(WORKED_EXAMPLE))

    def test_a_refusal_is_explained_with_its_code_and_rule(self):
        scenario = copy.deepcopy(SCENARIO)
        scenario["events"] = scenario["events"][:1]
        scenario["events"][0]["wagers"] = [{"seat": 1, "base_wager": False}]
        text = self.assertSucceeds(simulate(scenario, "--explain"))
        self.assertIn("no_base_wager", text)
        self.assertIn("BJ 14.7", text)

    def test_every_scenario_can_be_explained(self):
        scenarios = sorted((ROOT / "tests" / "scenarios").glob("*.json"))
        self.assertTrue(scenarios)
        for path in scenarios:
            with self.subTest(path.name):
                name = json.loads(path.read_bytes())["name"]
                text = self.explain(path)
                self.assertTrue(text.startswith(f"Scenario: {name}\n"))
                awards = json.loads(jackpotctl("simulate", path).stdout)["payouts"]
                described = sum(f" award {n}: " in text for n in range(1, len(awards) + 2))
                self.assertEqual(described, len(awards))


if __name__ == "__main__":
    unittest.main()
