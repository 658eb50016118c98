#!/usr/bin/env python3
"""Compares `jackpotctl simulate` with the model on random scenarios.

    compare.py --program PATH_TO_jackpotctl --count N --seed S [--keep DIR]
    compare.py --sabotage NAME [--count N] [--seed S]    a faulty model instead of the program
    compare.py --self-test                               every faulty model has to be detected

Scenario i has the seed S * 1,000,000 + i: `generate.py --seed` makes it again. Every fourth one is
also made malformed; then only exit status 2 and an empty standard output are asked for. Exit status
1: there was a difference, or with 1,000 scenarios or more something in MUST_OCCUR never occurred.
"""

import argparse
import json
import multiprocessing
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import check_scenarios
import model
from generator import generate
from malformed import malformed
from money import CENT, Malformed
from paytables import BLAZING7S_PAYS, UTH_PAYS
from scenario import EVENT_FIELDS, ROUND_GROUNDS, SUSPENSION_GROUNDS, WAGER_GROUNDS
from sabotage import SABOTAGES
from state import OPTIONAL_PARAMETERS

WORKERS = 2
SCENARIOS = Path(__file__).parents[1] / "scenarios"
SHOWN = 5  # differences
TIMEOUT_S = 60
SELF_TEST_SCENARIOS = 3000  # within these each fault has to be found
COVERAGE_SCENARIOS = 1000  # in so many everything has to occur

# [FORMAT: Refusal codes]
REFUSAL_CODES = """
    unknown_event unknown_table unknown_pool
    table_suspended pool_suspended round_not_newer no_result claim_unconfirmed
    too_many_open_wins
    seat_out_of_range duplicate_seat no_base_wager no_player_card player_wagers_twice
    no_open_round wrong_round round_voided round_closed
    result_already_reported award_paid needs_supervisor needs_two_people
    wrong_card_count seat_has_no_wager bad_card impossible_cards
    already_confirmed nothing_to_confirm nothing_held bad_ruling
    round_open not_suspended suspended_by_desk table_offline not_offline below_minimum
    no_such_award award_not_due award_withheld not_withheld needs_reason bad_configuration
""".split()
TIERS = [*BLAZING7S_PAYS[500 * CENT], *UTH_PAYS, "bonus"]
GROUNDS = [*ROUND_GROUNDS, *WAGER_GROUNDS, *SUSPENSION_GROUNDS]
HELD_FOR = ["tie", "out of order", "impossible", "offline"]
STATES = ["held", "locked", "due"]
TRANSITIONS = [
    "due win held again", "two holds joined", "held no longer without a ruling", "ruling",
    "group moved to another place", "group of several tables", "win dropped", "final by age",
    "win final", "several wins final together", "awards computed again with another result",
    "resets came out smaller", "reset from the reserve", "reset from the house",
    "spent reserve made good", "round voided by a suspension", "paid award withdrawn",
    "withheld award withdrawn", "payment rectified", "payment without an award",
    "payment of a withdrawn award", "contribution split at the cap", "guarantee paid",
    "wager on another player's box", "adjusted while a win is open",
    "next round opened while a win is open",
    *[f"void in an open round, {state}" for state in [*STATES, "unconfirmed", "without a claim"]],
    *[f"void in a closed round, {state}" for state in STATES],
    *[f"correction of a win that is {state}: {effect}" for state in STATES
      for effect in ("same claims", "other claims", "no claim")],
    "parameters agreed", "parameters in_force", "parameters taken_back",
    "change of parameters replaced", "minimum raised by new parameters",
    "reset while parameters are agreed and a win is open", "pool added", "table added",
    "table changed", "change of a table in play refused",
    *[f"pool with {key}" for key in OPTIONAL_PARAMETERS],
    "pool with a window of 0", "pool with a wait of 0",
]
MUST_OCCUR = ([f"refused {code}" for code in REFUSAL_CODES] + [f"tier {tier}" for tier in TIERS]
              + [f"event {kind}" for kind in EVENT_FIELDS]
              + [f"ground {ground}" for ground in GROUNDS]
              + [f"held: {reason}" for reason in HELD_FOR]
              + [f"notice {kind}" for kind in model.NOTICES] + TRANSITIONS)


# -- one scenario ---------------------------------------------------------------------------------


def differences(expected, answer):
    """Of two outcomes: in values, keys and the order of keys. The answer may have more keys."""
    return check_scenarios.differences(expected, answer) or order_differences(expected, answer, "")


def order_differences(expected, answer, where):
    found = []
    if isinstance(expected, dict):
        order = [key for key in answer if key in expected]
        if order != list(expected):
            found.append(f"{where or 'outcome'}: keys in the order {order}")
        for key in expected:
            found += order_differences(expected[key], answer[key], f"{where}.{key}")
    if isinstance(expected, list):
        for index in range(len(expected)):
            found += order_differences(expected[index], answer[index], f"{where}[{index}]")
    return found


def ask_program(program, text):
    """Exit status (None: it did not end in time), standard output and standard error."""
    try:
        run = subprocess.run([program, "simulate", "-"], input=text, capture_output=True,
                             timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return None, b"", b"did not end in time"
    return run.returncode, run.stdout, run.stderr


def ask_sabotaged(name, text):
    """A model with a fault, as if it were a program."""
    try:
        return 0, json.dumps(model.run(model.parse(text), SABOTAGES[name]).outcome()).encode(), b""
    except Malformed as error:
        return 2, b"", str(error).encode()
    except AssertionError as error:
        return 1, b"", str(error).encode()


def compare_scenario(ask, whom, seed):
    """What occurred in the scenario, and how the answer differs from the model's."""
    scenario = generate(seed)
    expected = model.run(scenario)
    counts = covered(scenario, expected)
    status, output, message = ask(whom, json.dumps(scenario).encode())
    if status != 0:
        message = message.decode(errors="replace").strip()
        return counts, [f"exit status: expected 0, got {status}: {message}"]
    try:
        answer = json.loads(output)
    except ValueError as error:
        return counts, [f"the answer is not JSON: {error}"]
    return counts, differences(expected.outcome(), answer)


def compare_malformed(ask, whom, seed):
    text, what = malformed(seed)
    try:
        model.run(model.parse(text))
        return Counter(), [f"{what}: the model takes it for well formed"]
    except Malformed:
        pass
    found = []
    status, output, _ = ask(whom, text)
    if status != 2:
        found.append(f"{what}: exit status: expected 2, got {status}")
    if output:
        found.append(f"{what}: something was printed on standard output")
    return Counter({f"malformed: {what.split(':')[0]}": 1}), found


def covered(scenario, outcome_of):
    refused = {entry["event"]: entry["code"] for entry in outcome_of.refused}
    counts = Counter(outcome_of.occurred)
    for index, event in enumerate(scenario["events"]):
        if index in refused:
            counts[f"refused {refused[index]}"] += 1
            known = event["type"] in EVENT_FIELDS
            counts[f"refused {refused[index]} ({event['type'] if known else 'another type'})"] += 1
        else:
            counts[f"event {event['type']}"] += 1
    for pool in scenario["pools"]:
        counts += Counter(f"pool with {key}" for key in OPTIONAL_PARAMETERS if key in pool)
        counts["pool with a window of 0"] += pool.get("simultaneity_window_ms") == 0
        counts["pool with a wait of 0"] += pool.get("settle_after_ms") == 0
    for pool in outcome_of.pools.values():
        counts["pool with rounds still held at the end"] += bool(pool.holds)
    counts["scenarios"] += 1
    counts["events in all"] += len(scenario["events"])
    return counts


# -- many of them ---------------------------------------------------------------------------------


def work(task):
    ask, whom, seed, is_malformed = task
    try:
        counts, found = (compare_malformed if is_malformed else compare_scenario)(ask, whom, seed)
    except Exception as error:  # also of the model or the generator: shown like any difference
        counts, found = Counter(), [f"could not be compared: {type(error).__name__}: {error}"]
    return seed, is_malformed, counts, found


def compare(ask, whom, count, first_seed, keep):
    tasks = []
    for index in range(count):
        tasks.append((ask, whom, first_seed + index, False))
        if index % 4 == 3:
            tasks.append((ask, whom, first_seed + index, True))
    counts = Counter()
    shown = 0
    with multiprocessing.Pool(WORKERS) as workers:
        for seed, is_malformed, occurred, found in workers.imap(work, tasks, chunksize=16):
            counts += occurred
            if not found:
                continue
            shown += 1
            path = write_scenario(seed, is_malformed, keep)
            print(f"seed {seed}{' --malformed' if is_malformed else ''}, written to {path}:")
            for sentence in found[:20]:
                print(f"  {sentence}")
            if shown == SHOWN:
                print("there may be more differences")
                break
    return counts, shown


def write_scenario(seed, is_malformed, keep):
    keep.mkdir(parents=True, exist_ok=True)
    if is_malformed:
        path = keep / f"malformed-{seed}.json"
        path.write_bytes(malformed(seed)[0])
    else:
        path = keep / f"scenario-{seed}.json"
        path.write_text(json.dumps(generate(seed), indent=1) + "\n", encoding="utf-8")
    return path


def report(counts):
    for what in sorted(counts):
        print(f"{counts[what]:9}  {what}")
    compared = counts["scenarios"]
    variants = sum(number for what, number in counts.items() if what.startswith("malformed:"))
    print(f"{compared} scenarios and {variants} malformed variants compared")


def never_occurred(counts):
    return [what for what in MUST_OCCUR if not counts[what]]


def self_test(first_seed):
    """The negative control: each faulty model is detected, by the scenarios of the project and by
    random ones; the generator reaches everything."""
    by_project, by_random = dict(SABOTAGES), dict(SABOTAGES)
    for path in sorted(SCENARIOS.glob("*.json")):
        find_out(by_project, json.loads(path.read_bytes()), path.name)
    counts = Counter()
    for seed in range(first_seed, first_seed + SELF_TEST_SCENARIOS):
        if not by_random and counts["scenarios"] >= COVERAGE_SCENARIOS:
            break
        scenario = generate(seed)
        counts += covered(scenario, find_out(by_random, scenario, f"seed {seed}"))
        _, found = compare_malformed(lambda whom, text: (2, b"", b""), "", seed)
        if found:
            print(f"seed {seed}: {found}")
            return 1
    for left, where in ((by_project, "the project's scenarios"), (by_random, "random ones")):
        for name, fault in left.items():
            print(f"NOT FOUND by {where}: {name}: {fault.__doc__}")
    for what in never_occurred(counts):
        print(f"NEVER OCCURRED: {what}")
    print(f"{len(SABOTAGES)} faults, {counts['scenarios']} random scenarios")
    return 1 if by_project or by_random or never_occurred(counts) else 0


def find_out(left, scenario, where):
    """Takes out of `left` the faulty models that answer otherwise. Returns the sound model."""
    sound = model.run(scenario)
    text = json.dumps(scenario).encode()
    for name in list(left):
        status, output, message = ask_sabotaged(name, text)
        found = [message.decode()]
        if status == 0:
            found = differences(sound.outcome(), json.loads(output))
        if found:
            print(f"{name}: found by {where}: {found[0]}")
            del left[name]
    return sound


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--program", help="path of jackpotctl")
    what.add_argument("--sabotage", choices=sorted(SABOTAGES))
    what.add_argument("--self-test", action="store_true")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="where scenarios with a difference are written",
                        default=Path(tempfile.gettempdir()) / "reference_differences")
    arguments = parser.parse_args()
    first_seed = arguments.seed * 1_000_000
    if arguments.self_test:
        return self_test(first_seed)

    ask, whom = ask_program, arguments.program
    if arguments.sabotage:
        ask, whom = ask_sabotaged, arguments.sabotage
    counts, different = compare(ask, whom, arguments.count, first_seed, arguments.keep)
    report(counts)
    if different:
        return 1
    missing = never_occurred(counts) if arguments.count >= COVERAGE_SCENARIOS else []
    for never in missing:
        print(f"NEVER OCCURRED: {never}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
