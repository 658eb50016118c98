#!/usr/bin/env python3
"""floorsim against the real jackpotd, both killed and started again.

BIN is the directory with floorsim, jackpotd, jackpotctl and jackpot-audit.
"""

import json
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

BIN = Path(os.environ["BIN"])
TABLES = {"BJ01": "B7", "BJ02": "B7", "BJ03": "B7", "UTH01": "UTH", "UTH02": "UTH"}
NAME = "floor.example/jackpot"
SAMPLE = Path(__file__).resolve().parents[3] / "config" / "jackpotd.toml"
FAULTS = ("--disconnect 20 --resend 20 --duplicate 30 --void 40 --late-result 10 "
          "--wrong-count 5").split()


def run(program, *arguments, **options):
    return subprocess.run([BIN / program, *arguments], text=True, capture_output=True, timeout=60,
                          **options)


class Site:
    """A daemon with a journal and certificates of its own."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.daemon = None
        self.port = 0
        self.pki = str(self.directory / "pki")
        assert run("jackpotctl", "pki", "init", "--dir", self.pki).returncode == 0
        for table in TABLES:
            made = run("jackpotctl", "pki", "issue", "table", table, "--dir", self.pki)
            assert made.returncode == 0, made.stderr
        key = str(self.directory / "journal.key")
        made = run("jackpot-audit", "keygen", "--name", NAME, "--out", key)
        assert made.returncode == 0, made.stderr
        self.key = made.stdout.strip()
        made = run("jackpotctl", "journal", "create", "--key", key, "--name", NAME,
                   str(self.directory / "journal"))
        assert made.returncode == 0, made.stderr
        secret = self.directory / "player_card.key"
        secret.write_text("a secret of the test's own")
        secret.chmod(0o600)
        self.config = self.directory / "jackpotd.toml"
        self.write_config(0)

    def write_config(self, port):
        text = SAMPLE.read_text()
        text = re.sub(r'^name = ".*"', f'name = "{NAME}"', text, flags=re.M)
        text = text.replace('"127.0.0.1:7707"', f'"127.0.0.1:{port}"')
        text = text.replace('"127.0.0.1:7780"', '"127.0.0.1:0"')
        text = text.replace("simultaneity_window_ms = 2000", "simultaneity_window_ms = 80")
        text = text[:text.index("[[table]]")]
        for table, pool in TABLES.items():
            text += f'[[table]]\nid = "{table}"\npool = "{pool}"\n'
        for unit, pool in enumerate(dict.fromkeys(TABLES.values()), start=1):
            tables = ", ".join(f'"{t}"' for t, p in TABLES.items() if p == pool)
            text += f'[[meter]]\nid = "{pool}"\nunit = {unit}\ntables = [{tables}]\n'
        self.config.write_text(text)

    def start(self):
        with open(self.directory / "daemon.log", "w", encoding="utf-8") as log:
            self.daemon = subprocess.Popen([BIN / "jackpotd", "--config", self.config], stderr=log)
        until = time.monotonic() + 20
        while time.monotonic() < until:
            said = (self.directory / "daemon.log").read_text()
            if match := re.search(r"listening on \S+:(\d+)", said):
                if self.port == 0:
                    self.port = int(match[1])
                    self.write_config(self.port)
                return
            assert self.daemon.poll() is None, said
            time.sleep(0.02)
        raise AssertionError("the daemon does not listen: " + said)

    def kill(self):
        self.daemon.kill()
        self.daemon.wait()

    def floorsim(self, *options):
        return subprocess.Popen([BIN / "floorsim", "--config", self.config, "--pki", self.pki,
                                 "--json", *options],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process):
    out, err = process.communicate(timeout=60)
    return process.returncode, (json.loads(out) if out else None), err


class FloorsimTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.site = Site(self.directory.name)
        self.site.start()
        self.addCleanup(self.site.kill)

    def check_agrees(self, status, report, err):
        self.assertEqual(status, 0, (report or {}).get("different") or err)
        self.assertTrue(report["agrees"])

    def test_the_daemon_is_killed_while_tables_play(self):
        floor = self.site.floorsim("--seconds", "3", "--in-flight", "4", "--key", self.site.key,
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
                   str(Path(self.directory.name) / "outbox"), *FAULTS]
        floor = self.site.floorsim(*options)
        time.sleep(0.5)
        floor.kill()
        floor.communicate()
        for _ in range(2):
            floor = self.site.floorsim("--resume", *options)
            time.sleep(0.5)
            floor.kill()
            floor.communicate()
        status, report, err = ended(self.site.floorsim("--resume", *options))
        self.check_agrees(status, report, err)
        self.assertEqual(report["rounds"], 250 * len(TABLES))
        self.assertTrue(all(pool["exact"] for pool in report["pools"]))

    def test_an_interrupt_ends_it_in_order(self):
        floor = self.site.floorsim("--seconds", "1000", "--rate", "1200", "--live")
        time.sleep(1.5)
        floor.send_signal(signal.SIGINT)
        status, report, err = ended(floor)
        self.check_agrees(status, report, err)
        self.assertTrue(report["interrupted"])
        self.assertIn("playing: 5/5 tables", err)

    def test_what_cannot_be_used(self):
        self.assertEqual(run("floorsim").returncode, 2)
        self.assertIn("--config", run("floorsim", "--help").stdout)
        refused = run("floorsim", "--config", self.site.config, "--pki", "/nowhere", "--rounds", "1")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("jackpotctl pki issue table BJ01", refused.stderr)
        self.site.kill()
        status, report, _ = ended(self.site.floorsim("--rounds", "1", "--patience", "1"))
        self.assertEqual(status, 1)
        self.assertIn("is jackpotd running", report["different"][0])


if __name__ == "__main__":
    unittest.main()
