"""Two thousand tables: the daemon's memory, and a fair share for each."""

import os
import resource
import shutil
import sys
import time

from support import link_client
from support.link_client import pb
from support.programs import must
from support.site import Display, SiteTest, main, open_round, refusal_of, result

MANY_CERTIFICATES = os.environ["MANY_CERTIFICATES"]
TABLES = 2000
ROUNDS = 5


class Crowd(SiteTest):
    options = {"tables": [f"BJ{each:04}" for each in range(1, TABLES + 1)], "certificates": False,
               "meters": {"listen": "127.0.0.1:0"}}

    def test_each_table_gets_a_fair_share(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))
        began = time.monotonic()
        shutil.rmtree(self.site.pki)
        must(MANY_CERTIFICATES, self.site.pki, *self.site.tables)
        issued = time.monotonic()
        self.site.start()
        raws = {}
        beat = link_client.frame(pb.ToDaemon(heartbeat=pb.Heartbeat()))
        beaten = time.monotonic()
        for table in self.site.tables:
            raws[table] = self.raw(table)
            if time.monotonic() - beaten > 1.5:  # while the others come
                beaten = time.monotonic()
                for raw in raws.values():
                    raw.send_bytes(beat)
        connected = time.monotonic()
        self.assertEqual(self.site.status()["connections"], TABLES)

        # A display that comes after all of them: its descriptor is beyond what select() can hold.
        display = Display(self.site.meter_port)
        self.addCleanup(display.close)
        self.assertEqual(display.cents(), 5_000_000)

        spreads = []
        for each in range(1, ROUNDS + 1):
            start = time.monotonic()
            for raw in raws.values():
                raw.send_bytes(raw.command(2 * each - 1, open_round=open_round(each))
                               + raw.command(2 * each, report_result=result(each)))
            took = []
            for table, raw in raws.items():
                decision = raw.answer(2 * each, 20)
                self.assertIsNone(refusal_of(decision))
                self.account.opened(table, each, (1,))
                took.append(time.monotonic() - start)
            # By the journal: how far apart the first and the last of this round were decided.
            times = [record["time"] for record in self.site.records("round_result")
                     if record["command"]["round"] == each]
            self.assertEqual(len(times), TABLES)
            spreads.append(max(times) - min(times))
        self.assertEqual(display.cents(), 5_000_000 + TABLES * ROUNDS * 500 * 235 // 1000)
        resident = self.site.resident_kb() >> 10
        print(f"    {TABLES} tables: certificates {issued - began:.0f} s, connected in "
              f"{connected - issued:.0f} s, resident {resident} MiB, a round of all decided within "
              f"{spreads} ms", file=sys.stderr)
        self.assertLessEqual(resident, 200)
        # Sending takes Python longer than deciding; three seconds is the bound for either.
        self.assertLess(max(spreads), 3000)
        for raw in raws.values():
            raw.close()
        self.assertEqual(self.site.stop(), 0)
        self.check_books()


if __name__ == "__main__":
    main()
