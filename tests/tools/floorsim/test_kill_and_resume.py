"""floorsim against the real jackpotd, both killed and started again."""

import json
import os
import signal
import subprocess
import time

from support.programs import free_port, run
from support.site import POOLS, SiteTest, main

FLOORSIM = os.environ["FLOORSIM"]
TABLES = ("BJ01", "BJ02", "BJ03", "UTH01", "UTH02")
FAULTS = ("--disconnect 20 --resend 20 --duplicate 30 --void 40 --late-result 10 "
          "--wrong-count 5").split()


def ended(process):
    out, err = process.communicate(timeout=60)
    return process.returncode, (json.loads(out) if out else None), err


class FloorsimTest(SiteTest):
    options = {"tables": TABLES,
               "pools": {**POOLS, "B7": {**POOLS["B7"], "simultaneity_window_ms": 80}}}

    def setUp(self):
        super().setUp()
        self.site.link["listen"] = f"127.0.0.1:{free_port()}"  # floorsim reads it from the file
        self.site.write_config()
        self.site.start()

    def floorsim(self, *options):
        return subprocess.Popen([FLOORSIM, "--config", self.site.config, "--pki", self.site.pki,
                                 "--json", *options],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def check_agrees(self, status, report, err):
        self.assertEqual(status, 0, (report or {}).get("different") or err)
        self.assertTrue(report["agrees"])

    def test_the_daemon_is_killed_while_tables_play(self):
        floor = self.floorsim("--seconds", "3", "--in-flight", "4", "--key", self.site.verifier,
                                   "--force-jackpots", "6", *FAULTS)
        for _ in range(3):
            time.sleep(0.7)
            self.site.kill()
            self.site.start()
        status, report, err = ended(floor)
        self.check_agrees(status, report, err)
        self.assertGreater(report["connections"], 5)
        self.assertGreater(report["rounds"], 100)
        self.assertTrue(all(pool["exact"] for pool in report["pools"]))

    def test_floorsim_is_killed_and_resumed(self):
        options = ["--rounds", "250", "--in-flight", "3", "--force-jackpots", "10", "--outbox",
                   str(self.site.folder / "outbox"), *FAULTS]
        floor = self.floorsim(*options)
        time.sleep(0.5)
        floor.kill()
        floor.communicate()
        for _ in range(2):
            floor = self.floorsim("--resume", *options)
            time.sleep(0.5)
            floor.kill()
            floor.communicate()
        status, report, err = ended(self.floorsim("--resume", *options))
        self.check_agrees(status, report, err)
        self.assertEqual(report["rounds"], 250 * len(TABLES))
        self.assertTrue(all(pool["exact"] for pool in report["pools"]))

    def test_an_interrupt_finishes_the_open_rounds(self):
        floor = self.floorsim("--seconds", "1000", "--rate", "1200", "--live")
        time.sleep(1.5)
        floor.send_signal(signal.SIGINT)
        status, report, err = ended(floor)
        self.check_agrees(status, report, err)
        self.assertTrue(report["interrupted"])
        self.assertIn("playing: 5/5 tables", err)

    def test_missing_options_or_certificates_and_a_stopped_daemon_are_errors(self):
        self.assertEqual(run(FLOORSIM).returncode, 2)
        self.assertIn("--config", run(FLOORSIM, "--help").stdout)
        refused = run(FLOORSIM, "--config", self.site.config, "--pki", "/nowhere", "--rounds", "1")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("jackpotctl pki issue table BJ01", refused.stderr)
        self.site.kill()
        status, report, _ = ended(self.floorsim("--rounds", "1", "--patience", "1"))
        self.assertEqual(status, 1)
        self.assertIn("is jackpotd running", report["different"][0])


if __name__ == "__main__":
    main()
