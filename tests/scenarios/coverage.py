#!/usr/bin/env python3
"""Fails if the scenarios here are few, or leave out a refusal code, ground, notice, tier, ... of the format."""

import json
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "reference"))

import model  # noqa: E402: it knows why a win is held

AT_LEAST = 150

# The refusal codes, by the event that they are for.
CODES = {
    "": "unknown_event unknown_table unknown_pool",
    "round_opened": "table_suspended pool_suspended round_not_newer no_result claim_unconfirmed too_many_open_wins"
                    " seat_out_of_range duplicate_seat no_base_wager no_player_card player_wagers_twice",
    "round_result": "no_open_round wrong_round round_voided round_closed result_already_reported wrong_card_count"
                    " duplicate_seat seat_has_no_wager bad_card impossible_cards",
    "result_corrected": "no_open_round wrong_round round_voided round_closed no_result award_paid needs_supervisor"
                        " needs_two_people wrong_card_count duplicate_seat seat_has_no_wager bad_card impossible_cards",
    "jackpot_confirmed": "no_open_round wrong_round round_voided round_closed already_confirmed nothing_to_confirm",
    "round_closed": "no_open_round wrong_round round_voided round_closed no_result claim_unconfirmed",
    "round_voided": "no_open_round wrong_round round_voided award_paid round_closed needs_supervisor needs_two_people",
    "wager_voided": "no_open_round wrong_round round_voided award_paid round_closed needs_supervisor needs_two_people"
                    " seat_has_no_wager result_already_reported",
    "surveillance_ruling": "nothing_held bad_ruling",
    "table_suspended": "table_suspended needs_supervisor round_open",
    "table_resumed": "not_suspended needs_supervisor suspended_by_desk",
    "pool_suspended": "pool_suspended",
    "pool_resumed": "not_suspended",
    "table_offline": "table_offline",
    "table_online": "not_offline",
    "pool_adjusted": "needs_two_people below_minimum",
    "payment_recorded": "needs_supervisor no_such_award award_not_due award_withheld",
    "award_withheld": "no_such_award needs_two_people award_not_due award_paid award_withheld",
    "award_released": "no_such_award needs_two_people award_not_due not_withheld",
    "pool_change_agreed": "needs_two_people needs_reason bad_configuration",
    "site_configured": "bad_configuration",
}
REFUSALS = [(kind, code) for kind, codes in CODES.items() for code in codes.split()]

GROUNDS = {
    "round_voided": "dealing_error missing_or_foreign_card shuffling_device invalidated".split(),
    "wager_voided": "invalid_wager loss_limit prohibited_device refused".split(),
    "table_suspended": "malfunction closed tournament".split(),
}
HELD_FOR = ("tie", "out of order", "impossible", "offline")
NOTICES = "missing_or_foreign_card malfunction held late_press".split()

FIXED_BLAZING = "three_same_colour_sevens three_sevens two_player_sevens one_each_sevens".split()
JACKPOTS_BLAZING = "three_sevens_diamonds three_suited_sevens".split()
TIERS_UTH = "royal_flush straight_flush four_of_a_kind full_house flush bonus".split()
OUTCOME = "payouts withdrawn refunds refused held locked differences notices pools changes".split()


def main():
    folder = Path(__file__).parent
    scenarios = [json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))]
    refusals, tiers, types, grounds, notices, outcome = set(), set(), set(), set(), set(), set()
    occurred = Counter()
    for scenario in scenarios:
        expect, events = scenario["expect"], scenario["events"]
        sites = [scenario, *(event for event in events if "tables" in event)]
        pools = {pool["id"]: pool for site in sites for pool in site["pools"]}
        pool_of = {table["id"]: pools.get(table["pool"]) for site in sites for table in site["tables"]}
        refused = {refusal["event"]: refusal["code"] for refusal in expect["refused"]}
        for award in expect["payouts"]:
            pool = pool_of[award["table"]]
            tiers.add((pool["game"], pool["wager"], award["tier"]))
        for index, event in enumerate(events):
            if index in refused:
                anywhere = refused[index] in CODES[""].split()
                refusals.add(("" if anywhere else event["type"], refused[index]))
            else:
                types.add(event["type"])
                grounds.add((event["type"], event.get("ground")))
        notices |= {notice["kind"] for notice in expect["notices"]}
        occurred += model.run(scenario).occurred
        outcome |= {key for key, entries in expect.items() if entries}

    missing = [f"refusal code {code} of {kind or 'any event'}" for kind, code in REFUSALS
               if (kind, code) not in refusals]
    for wager in ("2.50", "5.00"):
        missing += [f"tier {tier} at ${wager}" for tier in JACKPOTS_BLAZING + FIXED_BLAZING
                    if ("blazing7s", wager, tier) not in tiers]
    tiers_uth = {tier for game, _, tier in tiers if game == "uth"}
    missing += [f"tier {tier}" for tier in TIERS_UTH if tier not in tiers_uth]
    missing += [f"event {kind} that is not refused" for kind in CODES if kind and kind not in types]
    missing += [f"ground {ground} of {kind}" for kind, names in GROUNDS.items() for ground in names
                if (kind, ground) not in grounds]
    missing += [f"a win held for: {reason}" for reason in HELD_FOR if not occurred[f"held: {reason}"]]
    missing += [f"notice {kind}" for kind in NOTICES if kind not in notices]
    missing += [f"an entry in {key}" for key in OUTCOME if key not in outcome]
    if len(scenarios) < AT_LEAST:
        missing.append(f"{AT_LEAST} scenarios: there are {len(scenarios)}")

    unknown = sorted(refusals - set(REFUSALS))
    for what in missing:
        print(f"missing: {what}")
    for kind, code in unknown:
        print(f"not listed here: refusal code {code} of {kind}")
    print(f"{len(scenarios)} scenarios, {len(refusals)} refusals by event and code, {len(types)} event types")
    return 1 if missing or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
