"""Tables over real links that send heartbeats by themselves, and the people at the desk: for tests of
what happens to a jackpot while time passes."""

import threading
import time

from support.desk_site import DeskTest
from support.link_client import LinkError, pb
from support.programs import until
from support.site import POOLS, refusal_of

TIER = "three_suited_sevens"
SEVENS = ["7S", "7S"]


class LiveTable:
    """A table whose thread receives and sends heartbeats. cut() and connect() lose and restore the link."""

    def __init__(self, table):
        self.table = table
        self.lock = threading.RLock()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.ended.is_set():
            with self.lock:
                try:
                    if self.table.stream is not None:
                        self.table.step(0.02)
                except LinkError:
                    pass
            time.sleep(0.005)

    def connect(self, port=None):
        with self.lock:
            self.table.port = port or self.table.port
            return self.table.connect(patience=10.0).state

    def cut(self):
        with self.lock:
            self.table.disconnect()

    def close(self):
        self.ended.set()
        self.thread.join()
        self.table.close()

    def send(self, what, *arguments, **options):
        """The number of the command; without a link it waits in the outbox."""
        with self.lock:
            return getattr(self.table, what)(*arguments, **options)

    def decision(self, number, timeout=10.0):
        assert until(lambda: number in self.table.decisions, timeout), f"{number} is not decided"
        return self.table.decisions[number]

    def do(self, what, *arguments, **options):
        return self.decision(self.send(what, *arguments, **options))

    def state(self):
        """The daemon's present state of the table."""
        with self.lock:
            known = len(self.table.news)
            self.table._send_bytes(b"\0\0\0\2\x22\0")  # Query
        found = until(lambda: next((each for each in self.table.news[known:]
                                    if isinstance(each, pb.TableState)), None))
        assert found, "no state"
        return found

    def settlements(self):
        return [each for each in self.table.news if isinstance(each, pb.Settlement)]

    def settlement(self, condition, timeout=10.0):
        """The first settlement for which the condition holds."""
        found = until(lambda: next(filter(condition, self.settlements()), None), timeout)
        assert found, f"no such settlement: {self.settlements()}"
        return found


def awards_of(awards):
    """[(round, seat, tier, cents)]"""
    return [(each.round, each.seat, each.tier.decode(), each.amount_cents) for each in awards]


def states_of(claims):
    return [(each.round, each.seat, each.state.decode()) for each in claims]


class LiveTest(DeskTest):
    """A pool at $80,000: window 0.5 s, offline after 2 s, so due 3.5 s after the button."""

    options = {"tables": ("BJ01", "BJ02"), "link": {"offline_after_ms": 2000}, "pools": {
        "B7": {**POOLS["B7"], "opening": "80000.00", "simultaneity_window_ms": 500}}}

    def arrive(self):
        """Starts the daemon; the people sign in before the tables connect."""
        self.site.start()
        for name, role in (("ann", "supervisor"), ("bob", "supervisor"), ("eye", "surveillance")):
            self.site.add(name, role)
        self.people = {name: self.signed_in(name) for name in ("ann", "bob", "eye")}

    def live(self, name):
        table = LiveTable(self.site.table(name))
        self.addCleanup(table.close)
        table.connect()
        return table

    def play(self, table, hands, board=("7S",), number=1, seats=None):
        """Opens the round and reports its result."""
        seats = seats or sorted(hands)
        self.assertIsNone(refusal_of(table.do("open", number, seats)))
        self.account.opened(table.table.table, number, seats)
        decision = table.do("result", number, board, hands)
        self.assertIsNone(refusal_of(decision))
        return decision

    def ask(self, name, path, body, status=200):
        answer = self.people[name].ask("POST", "/api/v1/" + path, body)
        self.assertEqual(answer.status, status, answer.text)
        return answer.json

    def by_two(self, path, body):
        """Ann proposes it and Bob approves."""
        proposal = self.ask("ann", path, body, 202)
        self.ask("bob", f"proposals/{proposal['id']}/approve", {"sha256": proposal["sha256"]})

    def rule(self, *order):
        """Surveillance rules; a group is a list of tables, each with its round 1."""
        rounds = [[{"table": table, "round": 1} for table in group] for group in order]
        shown = self.ask("eye", "pools/B7/rulings/preview", {"order": rounds})
        return self.ask("eye", "pools/B7/rulings",
                        {"order": rounds, "reason": "seen on camera 7", "token": shown["token"]})

    def meter(self):
        return self.site.local("GET", "/api/v1/pools/B7")[1]["meter"]

    def notices(self):
        """[(kind, recipients)] of all records."""
        return [(each["kind"], each["to"]) for record in self.site.records()
                for each in record.get("notices", [])]

    def end(self):
        self.assertEqual(self.site.stop(), 0)
        self.check_books(jackpots=True)
