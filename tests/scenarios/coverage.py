#!/usr/bin/env python3
"""Fails if the scenarios here are few, or leave out a refusal code, tier or event type."""

import json
import sys
from pathlib import Path

AT_LEAST = 40

CODES = """
    unknown_event unknown_table unknown_pool
    table_suspended pool_suspended round_not_newer claim_unconfirmed
    seat_out_of_range duplicate_seat no_base_wager no_player_card player_wagers_twice
    no_open_round wrong_round round_voided
    result_already_reported no_result already_confirmed needs_supervisor
    wrong_card_count seat_has_no_wager bad_card impossible_cards
    nothing_to_confirm round_settled nothing_held bad_ruling
    not_suspended table_offline not_offline needs_two_people needs_reason bad_configuration
""".split()

FIXED_BLAZING = "three_same_colour_sevens three_sevens two_player_sevens one_each_sevens".split()
JACKPOTS_BLAZING = "three_sevens_diamonds three_suited_sevens".split()
TIERS_UTH = "royal_flush straight_flush four_of_a_kind full_house flush bonus".split()

TYPES = """
    round_opened round_result result_corrected jackpot_confirmed surveillance_ruling
    round_voided wager_voided table_suspended table_resumed table_offline table_online
    pool_suspended pool_resumed pool_adjusted pool_change_agreed site_configured
""".split()


def main():
    folder = Path(__file__).parent
    scenarios = [json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))]
    codes, tiers, types = set(), set(), set()
    for scenario in scenarios:
        sites = [scenario, *(event for event in scenario["events"] if "tables" in event)]
        pools = {pool["id"]: pool for site in sites for pool in site["pools"]}
        pool_of = {table["id"]: pools.get(table["pool"]) for site in sites for table in site["tables"]}
        refused = {refusal["event"] for refusal in scenario["expect"]["refused"]}
        codes |= {refusal["code"] for refusal in scenario["expect"]["refused"]}
        for award in scenario["expect"]["payouts"]:
            pool = pool_of[award["table"]]
            tiers.add((pool["game"], pool["wager"], award["tier"]))
        for index, event in enumerate(scenario["events"]):
            if index not in refused:
                types.add(event["type"])

    missing = [f"refusal code {code}" for code in CODES if code not in codes]
    for wager in ("2.50", "5.00"):
        missing += [f"tier {tier} at ${wager}" for tier in JACKPOTS_BLAZING + FIXED_BLAZING
                    if ("blazing7s", wager, tier) not in tiers]
    tiers_uth = {tier for game, _, tier in tiers if game == "uth"}
    missing += [f"tier {tier}" for tier in TIERS_UTH if tier not in tiers_uth]
    missing += [f"event {kind} that is not refused" for kind in TYPES if kind not in types]
    if len(scenarios) < AT_LEAST:
        missing.append(f"{AT_LEAST} scenarios: there are {len(scenarios)}")

    unknown = sorted(codes - set(CODES))
    for what in missing:
        print(f"missing: {what}")
    for code in unknown:
        print(f"not listed here: refusal code {code}")
    print(f"{len(scenarios)} scenarios, {len(codes)} refusal codes, {len(types)} event types")
    return 1 if missing or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
