"""kill -9 of the daemon and of the tables, again and again: nothing is lost, nothing counts twice."""

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

from support.site import SEED, SOAK, Account, SiteTest, main

KILL_FLOOR = os.environ["KILL_FLOOR"]
KILLS = 5000 if SOAK else 260  # of each


class Kills(SiteTest):
    options = {"tables": [f"BJ{each:02}" for each in range(1, 9)]}

    def start_floor(self):
        return subprocess.Popen([KILL_FLOOR, str(self.site.folder), str(self.port), *self.site.tables])

    def kill_floors(self, source):
        floor = self.start_floor()
        for _ in range(KILLS):
            time.sleep(source.uniform(0.02, 0.2))
            floor.kill()
            floor.wait()
            floor = self.start_floor()
        self.floor = floor

    def kill_daemons(self, source):
        for _ in range(KILLS):
            time.sleep(source.uniform(0.02, 0.15))
            self.site.kill()
            self.site.start()

    def read_notes(self):
        """The account from the tables' notes, and the commands that may or may not be in the journal."""
        account, may, faults = Account(), {}, []
        counts = {"stored": 0, "decided": 0, "again": 0, "undecided at a start": 0, "starts": 0}
        for table in self.site.tables:
            intents = {}
            for line in (self.site.folder / f"{table}.notes").read_text().splitlines():
                what, *words = line.split()
                if what == "intent":
                    intents[int(words[0])] = [int(seat) for seat in words[1]]
                elif what == "stored":
                    counts["stored"] += 1
                    account.opened(table, int(words[0]), intents.pop(int(words[0])))
                elif what == "decided":
                    number, record, again = map(int, words)
                    counts["decided"] += 1
                    counts["again"] += again
                    known = account.decided.setdefault((table, number), record)
                    if known != record:
                        faults.append(f"{table} {number} is in record {known} and in {record}")
                elif what == "undecided":
                    counts["starts"] += 1
                    counts["undecided at a start"] += int(words[0]) > 0
                else:
                    faults.append(f"{table}: {line}")
            may[table] = intents
        return account, may, faults, counts

    def test_nothing_is_lost_and_nothing_counts_twice(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.site.link["listen"] = f"127.0.0.1:{self.port}"
        self.site.write_config()
        self.site.start()
        source = random.Random(SEED)
        began = time.monotonic()
        floors = threading.Thread(target=self.kill_floors, args=(random.Random(source.random()),))
        floors.start()
        try:
            self.kill_daemons(random.Random(source.random()))
        finally:
            floors.join()
        took = time.monotonic() - began
        self.floor.send_signal(signal.SIGTERM)
        self.assertEqual(self.floor.wait(60), 0)
        self.assertEqual(self.site.stop(), 0)

        self.account, may, faults, counts = self.read_notes()
        self.assertEqual(faults, [])
        # A kill between the intent and the next line: only the journal has the outcome.
        ambiguous = 0
        for record in self.site.records("round_opened"):
            table, number = record["command"]["table"], record["command"]["round"]
            if number in may[table]:
                ambiguous += 1
                self.account.opened(table, number, may[table].pop(number))
        print(f"    {2 * KILLS} kills in {took:.0f} s: {counts}, {ambiguous} stored unnoted, "
              f"{len(self.account.wagers)} rounds", file=sys.stderr)
        self.assertLessEqual(ambiguous, KILLS * len(self.site.tables))
        self.assertGreater(counts["again"], 20, "hardly an acknowledgement was lost")
        self.assertGreater(counts["undecided at a start"], 20, "hardly a table was killed in flight")
        self.assertEqual(self.site.alarms(), [])
        self.assertFalse([each for each in self.site.records() if "refused" in each])
        self.check_books()


if __name__ == "__main__":
    main()
