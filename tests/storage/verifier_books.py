"""Recomputes the effects of the records on the pools, for verifier.py."""

import collections
import itertools
from dataclasses import dataclass, field

from verifier_crypto import Malformed
from verifier_records import (CAUSES, CHANGING, COMMANDS, PARAMETER_NAMES, TAKES, TOTALS, amount_text,
                              parts_per_million, units)

# The award of a claim in each of its states; one that is withdrawn, or was not made, does not stand.
AWARD_STATE = {"claimed": "withdrawn", "locked": "locked", "held": "locked", "due": "due", "final": "due",
               "dropped": "withdrawn"}
MAX_WINNERS = 1000  # far more than the seats of a site

# --- the books -----------------------------------------------------------------------------------------------

@dataclass
class Pool:
    config: dict
    meter: int = 0
    reserve: int = 0
    totals: dict = field(default_factory=lambda: dict.fromkeys(TOTALS, 0))
    next: dict | None = None  # the parameters that were agreed
    was_reset: bool = False  # since then
    last_win: dict | None = None
    shares: dict = field(default_factory=dict)  # the awards that share an aggregate -> that aggregate, or None
    shares_known: bool = True  # False if an aggregate may have changed without its award

    def named(self, config):
        """Its parameters, with the defaults filled in."""
        given = {name: config[name] for name in PARAMETER_NAMES if name in config}
        if self.config["game"] == "blazing7s":
            return {"simultaneity_window_ms": 2000, "settle_after_ms": 10000} | given
        guarantee = {"royal_flush": "50000.00000000", "straight_flush": "5000.00000000"} | given.get("guarantee", {})
        return given | {"guarantee": guarantee}

    @property
    def parameters(self):
        return self.named(self.config)


def ceiling(amount, unit):
    return -(-amount // unit) * unit


def total_of(entries):
    return sum(units(each["amount"]) for each in entries)


def award_of(entry):
    """What an award is known by."""
    return entry["table"], entry["round"], entry["seat"], entry["tier"]


@dataclass
class Award:
    amount: int
    state: str  # "locked", "due" or "withdrawn"
    paid: int = 0

    @property
    def standing(self):
        return 0 if self.state == "withdrawn" else self.amount


class Books:
    """The amounts of each pool, summed from the postings of the records."""

    def __init__(self):
        self.site = {"pools": [], "tables": []}
        self.pools = {}
        self.pool_of_table = {}
        self.last_numbers = {}  # table -> the number of its newest command
        self.awards = {}  # table, round, seat, tier -> Award
        self.of_round = collections.defaultdict(set)  # table, round -> its awards of jackpot tiers and bonuses
        self.claims = collections.defaultdict(set)  # table, round -> the seats that claim a jackpot

    def configure(self, site):
        self.site = site
        self.pools = {each["id"]: Pool(each) for each in site["pools"]}
        self.pool_of_table = {each["id"]: each["pool"] for each in site["tables"]}
        if len(self.pools) != len(site["pools"]) or len(self.pool_of_table) != len(site["tables"]):
            raise Malformed("two pools or two tables of its site have the same id")
        if not set(self.pool_of_table.values()) <= set(self.pools):
            raise Malformed("a table of its site belongs to no pool")

    def amend(self, site, amended):
        """Applies a new description of the site; returns the ids of its new pools."""
        after = Books()
        after.configure(site)
        for pool in self.pools.values():
            given = after.pools.get(pool.config["id"])
            if given is None or any(given.config[name] != pool.config[name] for name in ("game", "wager")):
                raise Malformed("it removes a pool or changes its game or wager")
            if given.parameters not in (pool.parameters, pool.next):
                raise Malformed("it changes a pool's parameters, which takes two people")
        for table, pool in self.pool_of_table.items():
            if after.pool_of_table.get(table) != pool:
                raise Malformed("it removes a table or changes its pool")
        given = {each["id"]: each for each in site["tables"]}
        changes = {
            "new_pools": [each["id"] for each in site["pools"] if each["id"] not in self.pools],
            "new_tables": [each["id"] for each in site["tables"] if each["id"] not in self.pool_of_table],
            "changed_tables": [each["id"] for each in self.site["tables"] if given[each["id"]] != each],
        }
        if {name: ids for name, ids in changes.items() if ids} != amended:
            raise Malformed("it amends something else than it says")
        self.site = {
            "pools": [pool.config for pool in self.pools.values()]
            + [each for each in site["pools"] if each["id"] not in self.pools],
            "tables": [given[each["id"]] for each in self.site["tables"]]
            + [each for each in site["tables"] if each["id"] not in self.pool_of_table]}
        for each in changes["new_pools"]:
            self.pools[each] = after.pools[each]
        self.pool_of_table |= after.pool_of_table
        return changes["new_pools"]

    def change(self, record):
        """Applies a change of a pool's parameters: agreed, in force or withdrawn."""
        pool = self.pools[record["pools"][0]["pool"]]
        agreement = record["kind"] == "pool_change_agreed"
        change = record.get("parameters")
        resets = self.resets(record)
        if change is None:
            if agreement and (pool.next is not None or pool.named(record["command"]["to"]) != pool.parameters):
                raise Malformed("it agrees on parameters and has no outcome")
            pool.was_reset |= pool.next is not None and resets
            return
        if change["pool"] != pool.config["id"] or change["from"] != pool.parameters:
            raise Malformed("its parameters are not those of the pool until then")
        if (change["state"] != "in_force") != agreement:
            raise Malformed("its parameters change by another command than they can")
        wanted = pool.named(record["command"]["to"]) if agreement else None
        if change["state"] == "agreed":
            if change["to"] != wanted or wanted == pool.parameters:
                raise Malformed("it agrees on other parameters than were asked for")
            pool.next = change["to"]
        else:
            if change["to"] != pool.next:
                raise Malformed("its parameters are not those that were agreed")
            if change["state"] == "taken_back" and wanted != pool.parameters:
                raise Malformed("it takes parameters back and asks for others")
            if change["state"] == "in_force":
                self.bring_into_force(pool, resets)
            pool.next = None
        pool.was_reset = False

    def bring_into_force(self, pool, resets):
        if not pool.was_reset and not resets:
            raise Malformed("parameters are in force without a reset")
        config = {name: pool.config[name] for name in ("id", "game", "wager")} | pool.next
        at = list(self.pools).index(config["id"])
        self.site["pools"] = [*self.site["pools"][:at], config, *self.site["pools"][at + 1:]]
        pool.config = config

    @staticmethod
    def resets(record):
        """True if money was put in to restore the minimum."""
        postings = record["pools"][0]["postings"]
        return "seed" in postings or units(postings.get("from_reserve", {}).get("meter", "0")) > 0

    def start_from(self, state):
        self.configure(dict(state["site"]))
        for pool, there in zip(self.pools.values(), state["pools"]):
            pool.next, pool.was_reset = there.get("next"), there.get("next_is_due", False)
            pool.meter, pool.reserve = units(there["meter"]), units(there["reserve"])
            pool.totals = {total: units(there[total]) for total in TOTALS}
            pool.last_win = there.get("last_win")
            self.start_shares(pool, there["wins"])
        self.last_numbers = self.last_numbers_in(state)
        self.awards = self.awards_in(state)
        for table, there in zip(state["site"]["tables"], state["tables"]):
            for each in [there["current"], *there["earlier"]]:
                self.claims[table["id"], each["number"]] = {seat["seat"] for seat in each["seats"] if seat["claims"]}
        for award in self.awards:
            if award[3] in CHANGING:
                self.of_round[award[:2]].add(award)

    def start_shares(self, pool, wins):
        """The aggregates of open wins are not in a snapshot."""
        tables = list(self.pool_of_table)
        shares = [frozenset((tables[win["table"]], win["round"], each["seat"], each["tier"])
                            for each in win["awards"] if each["tier"] in TAKES) for win in wins]
        pool.shares = dict.fromkeys(shares)
        pool.shares_known = not shares

    @staticmethod
    def last_numbers_in(state):
        return {table["id"]: there["last_number"]
                for table, there in zip(state["site"]["tables"], state["tables"]) if there["last_number"]}

    @staticmethod
    def awards_in(state):
        states = ("locked", "due", "withdrawn")
        return {(table["id"], each["round"], each["seat"], each["tier"]):
                Award(units(each["amount"]), states[each["state"]], units(each["paid"]))
                for table, there in zip(state["site"]["tables"], state["tables"])
                for each in there["awards"] + there["jackpots"]}

    def compare(self, state):
        if state["site"] != self.site:
            raise Malformed("the snapshot's site is not the one that was configured")
        if self.last_numbers_in(state) != self.last_numbers:
            raise Malformed("the snapshot has other numbers of the tables' commands than the records")
        for award, there in self.awards_in(state).items():
            known = self.awards.get(award)
            if known is None or (known.state, known.paid) != (there.state, there.paid) or \
                    known.standing != there.standing:
                raise Malformed(f"the snapshot has another award {award[3]} of table {award[0]}, round {award[1]}, "
                                f"seat {award[2]} than the records")
        for pool, there in zip(self.pools.values(), state["pools"]):
            if there.get("next") != pool.next or there.get("next_is_due", False) != pool.was_reset:
                raise Malformed(f"the snapshot has other parameters agreed for pool {pool.config['id']}")
            if there.get("last_win") != pool.last_win:
                raise Malformed(f"the snapshot has another last win for pool {pool.config['id']}")
            for name, amount in {"meter": pool.meter, "reserve": pool.reserve, **pool.totals}.items():
                if units(there[name]) != amount:
                    raise Malformed(f"the snapshot has {name} {there[name]} for pool {pool.config['id']}, "
                                    f"the records lead to {amount_text(amount)}")

    def check_number(self, record):
        """Checks that the commands of each table are numbered 1, 2, 3, ..."""
        if "from" not in record:
            return
        number, table = record["from"]["number"], record["command"].get("table")
        if table not in self.pool_of_table:
            raise Malformed("it has a number of a table that there is not")
        if number != self.last_numbers.get(table, 0) + 1:
            raise Malformed(f"it is number {number} of table {table}, after {self.last_numbers.get(table, 0)}")
        self.last_numbers[table] = number

    def take(self, record):
        """Applies one record with a command."""
        refused = "refused" in record
        self.check_number(record)
        if refused and (set(record) - {"seq", "time", "kind", "from", "command", "refused", "pools"}
                        or any(each["postings"] for each in record["pools"])):
            raise Malformed("it is refused and yet has an outcome")
        accepted_site = record["kind"] == "site_configured" and not refused
        opened = []
        if accepted_site and (self.pools or self.pool_of_table):
            opened = self.amend(record["command"]["site"], record.get("amended", {}))
        elif accepted_site:
            if "amended" in record:
                raise Malformed("it amends a site that was not there")
            self.configure(dict(record["command"]["site"]))
            opened = list(self.pools)
        if [each["pool"] for each in record["pools"]] != self.pools_concerned(record, accepted_site):
            raise Malformed("its pools are not those that its command is about")
        if not refused and not accepted_site:
            self.change(record)
        for each in record["pools"]:
            self.post(record, self.pools[each["pool"]], each)
        if not refused:
            self.check_outcome(record, opened)
            self.remember_win(record)

    def remember_win(self, record):
        """Stores the last win of the pool, which displays show, until its award is withdrawn."""
        if record["kind"] == "site_configured":
            return
        tables = list(self.pool_of_table)
        pool = self.pools[record["pools"][0]["pool"]]
        for award in record.get("withdrawn", ()):
            named = {"amount": award["amount"], "tier": award["tier"], "table": tables.index(award["table"])}
            if pool.last_win and named.items() <= pool.last_win.items():
                pool.last_win = None
        for award in record.get("awards", ()):
            if award["tier"] in TAKES:
                pool.last_win = {"amount": award["amount"], "at_ms": record["time"], "tier": award["tier"],
                                 "table": tables.index(award["table"])}

    def pools_concerned(self, record, accepted_site):
        command = record["command"]
        if accepted_site:
            return list(self.pools)
        if record["kind"] == "site_configured":
            return []
        pool = command["pool"] if "pool" in command else self.pool_of_table.get(command["table"])
        if pool in self.pools:
            return [pool]
        if record.get("refused", {}).get("code") != ("unknown_pool" if "pool" in command else "unknown_table"):
            raise Malformed("it names what is not there and is not refused for that")
        return []

    @staticmethod
    def post(record, pool, after):
        allowed = COMMANDS[record["kind"]][1]
        totals = pool.totals
        for cause, postings in after["postings"].items():
            if cause not in allowed:
                raise Malformed(f"its command cannot post a {cause}")
            amounts = {account: units(amount) for account, amount in postings.items()}
            if sum(amounts.values()) or not amounts:
                raise Malformed(f"its postings of {cause} do not sum to zero")
            for account, amount in amounts.items():
                sign = CAUSES[cause].get(account)
                if sign is None or amount == 0 or amount * sign < 0:
                    raise Malformed(f"its posting of {cause} to {account} is not possible")
            pool.meter += amounts.get("meter", 0)
            pool.reserve += amounts.get("reserve", 0)
            if cause in ("seed", "make_good"):
                totals["seeded"] -= amounts["house"]
            elif cause == "contribution":
                totals["contributed"] -= amounts["house"]
            elif cause == "return":
                totals["returned"] += amounts["house"]
            elif cause == "from_reserve":
                totals["from_reserve"] += amounts["meter"]
            elif cause in ("award", "withdrawal"):
                totals["paid_from_pool"] -= amounts.get("meter", 0)
                totals["paid_by_house"] -= amounts.get("house", 0)
            elif cause == "adjustment":
                totals["adjusted"] += amounts["meter"]
        for name, amount in (("meter", pool.meter), ("reserve", pool.reserve)):
            if units(after[name]) != amount:
                raise Malformed(f"its postings lead pool {pool.config['id']} to {name} {amount_text(amount)}, "
                                f"it says {after[name]}")
        if pool.meter < units(pool.config["minimum"]) or pool.reserve < 0:
            raise Malformed(f"it leaves pool {pool.config['id']} below its minimum or its reserve below zero")

    def check_outcome(self, record, opened):
        kind, command = record["kind"], record["command"]
        if kind == "site_configured":
            for each, pool in zip(record["pools"], self.pools.values()):
                opening = units(pool.config.get("opening", pool.config["minimum"]))
                self.expect(each, "seed", "meter", opening if each["pool"] in opened else 0)
            if set(record) & {"awards", "withdrawn", "locked", "refunds", "claims", "notices", "parameters"}:
                raise Malformed("a site's configuration has an outcome of its own")
        else:
            if "amended" in record:
                raise Malformed("it amends the site and does not configure it")
            self.check_movements(record, record["pools"][0])
        if ("payment" in record) != (kind == "payment_recorded"):
            raise Malformed("a payment is there without its command, or the reverse")
        if kind == "payment_recorded":
            self.check_payment(command, record["payment"])

    def check_payment(self, command, payment):
        paid = units(command["paid"])
        due = 0
        total = paid
        if "tier" in command:
            award = self.awards.get(award_of(command))
            if award is None:
                raise Malformed("it is a payment of an award that was not made")
            award.paid += paid
            due = award.amount if award.state == "due" else 0
            total = award.paid
        if [units(payment[name]) for name in ("due", "paid", "sum")] != [due, paid, total]:
            raise Malformed("its payment is not of the award that was due or the amount that was paid")

    @staticmethod
    def posted(after, account, *causes):
        return sum(units(after["postings"].get(cause, {}).get(account, "0")) for cause in causes)

    def expect(self, after, cause, account, amount):
        posted = self.posted(after, account, cause)
        if posted != amount:
            raise Malformed(f"it posts {amount_text(posted)} as {cause} to {account}, "
                            f"the rest of the record makes it {amount_text(amount)}")

    def check_movements(self, record, after):
        kind, command = record["kind"], record["command"]
        pool = self.pools[after["pool"]]
        for each in itertools.chain.from_iterable(
                record.get(name, ()) for name in ("awards", "withdrawn", "locked", "refunds", "claims")):
            if self.pool_of_table.get(each["table"]) != after["pool"]:
                raise Malformed("it has an outcome for a table of another pool")

        shares = [each for name in ("awards", "locked") for each in self.shares_in(record.get(name, []))]
        gained, touched = self.change_awards(record)
        posted = self.posted(after, "players", "award", "withdrawal")
        if posted != gained:
            raise Malformed(f"it posts {amount_text(posted)} to players for awards, "
                            f"the rest of the record makes it {amount_text(gained)}")
        self.check_shares(record, pool, shares, touched, -self.posted(after, "meter", "award", "withdrawal"))
        refunds = record.get("refunds", [])
        self.expect(after, "refund", "players", total_of(refunds))
        wager = units(pool.config["wager"])
        if any(units(each["amount"]) != wager for each in refunds):
            raise Malformed("a refund is not the pool's wager")
        if kind == "round_opened":
            count = len(command["wagers"])
            share = parts_per_million(pool.config["increment"]) + parts_per_million(pool.config["reserve_increment"])
            self.expect(after, "wager", "house", count * wager)
            self.expect(after, "contribution", "house", -(count * wager * share // 10**6))
        if kind == "pool_adjusted":
            self.expect(after, "adjustment", "meter", units(command["amount"]))

    def change_awards(self, record):
        """Applies the awards of the record. Returns what players have more than before, and the awards concerned."""
        gained, touched = 0, set()

        def drop(award):
            nonlocal gained
            gained -= self.awards[award].standing
            self.awards[award].state = "withdrawn"
            touched.add(award)

        def make(entry, state):
            nonlocal gained
            award = award_of(entry)
            known = self.awards.setdefault(award, Award(0, "withdrawn"))
            if known.state == "due":
                raise Malformed("it awards what is due already")
            gained += units(entry["amount"]) - known.standing
            known.amount, known.state = units(entry["amount"]), state
            touched.add(award)
            if entry["tier"] in CHANGING:
                self.of_round[award[:2]].add(award)

        for each in record.get("withdrawn", ()):
            known = self.awards.get(award_of(each))
            if known is None or known.state != "due" or known.amount != units(each["amount"]):
                raise Malformed("it withdraws another amount than was awarded")
            drop(award_of(each))
        # All locked awards of a win that changed are listed again; a round without a claim is no win.
        changed = {(each["table"], each["round"]) for name in ("awards", "locked") for each in record.get(name, ())
                   if each["tier"] in CHANGING}
        for each in record.get("claims", ()):
            claims = self.claims[each["table"], each["round"]]
            (claims.discard if each["state"] == "dropped" else claims.add)(each["seat"])
        changed |= {(each["table"], each["round"]) for each in record.get("claims", ())
                    if not self.claims[each["table"], each["round"]]}
        for each in sorted(changed):
            for award in self.of_round[each]:
                if self.awards[award].state == "locked":
                    drop(award)
        for name, state in (("awards", "due"), ("locked", "locked")):
            for each in record.get(name, ()):
                make(each, state)
        states = {award_of(each): each["state"] for each in record.get("claims", ())}
        for award, state in states.items():
            known = self.awards.get(award)
            if AWARD_STATE[state] != (known.state if known else "withdrawn"):
                raise Malformed(f"a claim of it is {state}, and its award is not")
        return gained, touched

    def check_shares(self, record, pool, shares, touched, taken):
        """Checks what the pool pays for the awards, where the records tell it. An award that is due and comes out
        the same is not in the record, even if its aggregate is another one."""
        was = {share: amount for share, amount in pool.shares.items() if share & touched}
        for share in was:
            del pool.shares[share]
        new = {share: aggregate for share, _, aggregate in shares}
        complete = all(len(share) == winners for share, winners, _ in shares)
        left = [share - touched for share in was if share - touched]
        unlisted = left or any(self.awards[award].state == "due" for share in pool.shares for award in share)
        if pool.shares_known and complete and not unlisted and taken != sum(new.values()) - sum(was.values()):
            raise Malformed(f"the pool pays {amount_text(taken)} for awards, "
                            f"the rest of the record makes it {amount_text(sum(new.values()) - sum(was.values()))}")
        if not complete or unlisted and not set(was.values()) <= set(new.values()):
            pool.shares_known = False
        pool.shares |= new | dict.fromkeys(left)
        final = {(each["table"], each["round"]) for each in record.get("claims", ()) if each["state"] == "final"}
        pool.shares = {share: amount for share, amount in pool.shares.items()
                       if not any(award[:2] in final for award in share)}
        if not pool.shares:
            pool.shares_known = True

    @staticmethod
    def shares_in(awards):
        """The awards that share an aggregate follow each other: they, the number of winners, the aggregate."""
        for arithmetic, group in itertools.groupby(awards, lambda each: each.get("arithmetic")):
            sharing = list(group)
            if any((arithmetic or {}).get("takes") != TAKES.get(each["tier"]) for each in sharing):
                raise Malformed("an award's arithmetic is not that of its tier")
            if not arithmetic:
                continue
            winners = arithmetic["winners"]
            displayed, aggregate, share, guarantee, unit = (
                units(arithmetic[name])
                for name in ("displayed", "aggregate", "share", "guarantee", "payout_unit"))
            left = displayed
            if arithmetic["takes"] == "10 %":
                for _ in range(min(winners, MAX_WINNERS)):
                    left -= left // 10
            else:
                left = 0
            if not 1 <= winners <= MAX_WINNERS or aggregate != displayed - left or unit <= 0 \
                    or share != ceiling(-(-aggregate // winners), unit) \
                    or any(units(each["amount"]) != max(share, ceiling(guarantee, unit)) for each in sharing):
                raise Malformed("an award's arithmetic does not work out")
            # Two groups after each other may have the same arithmetic.
            for at in range(0, len(sharing), winners):
                yield frozenset(award_of(each) for each in sharing[at:at + winners]), winners, aggregate
