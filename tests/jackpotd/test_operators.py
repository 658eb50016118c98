"""jackpotctl reload, status and change-pool against a running daemon."""

import json
import os

from support.link_client import pb
from support.programs import JACKPOTCTL, run
from support.site import SiteTest, main, open_round, result


SHIFT_CLOCK = os.environ["SHIFT_CLOCK"]


class Operators(SiteTest):
    options = {"pools": {"B7": {"game": "blazing7s", "paytable": "blazing7s-5", "wager": "5.00",
                                "increment": "0.2", "minimum": "50000.00",
                                "simultaneity_window_ms": 0}},
               "tables": ("BJ01",)}

    def ctl(self, *arguments):
        return run(JACKPOTCTL, arguments[0], "--config", self.site.config, *arguments[1:])

    def test_reload_reports_applied_and_rejected_changes(self):
        self.assertEqual(self.ctl("reload").returncode, 2, "there is no daemon yet")
        self.site.start()
        done = self.ctl("reload")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.site.link["refusals_per_minute"] = 7
        self.site.pools["B7"]["increment"] = "0.3"
        self.site.write_config()
        done = self.ctl("reload")
        self.assertEqual(done.returncode, 1)
        self.assertIn("applied: [link] refusals_per_minute", done.stdout)
        self.assertIn("jackpotctl change-pool", done.stdout)
        self.site.config.write_text("[site\n")
        self.assertEqual(self.ctl("reload").returncode, 2)

    def test_status_counts_what_was_done(self):
        self.site.start()
        self.play(self.raw(), "BJ01", 1, 1, 3)
        done = self.ctl("status")
        self.assertEqual(done.returncode, 0)
        counts = dict(line.split() for line in done.stdout.splitlines())
        self.assertEqual((counts["connections"], counts["alarms"]), ("1", "0"))
        self.assertGreaterEqual(int(counts["commands"]), 6)
        done = self.ctl("status", "--json")
        self.assertEqual(done.returncode, 0)
        self.assertEqual({key: str(value) for key, value in json.loads(done.stdout).items()},
                         counts)
        self.assertEqual(self.ctl("reload", "--json").returncode, 2)

    def test_two_people_change_a_pool_from_its_next_reset_on(self):
        self.site.start()
        raw = self.raw()
        number = self.play(raw, "BJ01", 1, 1, 1)
        self.site.pools["B7"]["increment"] = "0.3"
        self.site.write_config()
        agree = ("change-pool", "B7", "--reason", "a new rate")
        for people in ((), ("--by", "ann"), ("--by", "ann", "--by", "ann")):
            done = self.ctl(*agree, *people)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("two different people", done.stdout)
        self.assertEqual(self.ctl("change-pool", "NONE", *agree[2:], "--by", "a", "--by",
                                  "b").returncode, 2)
        done = self.ctl(*agree, "--by", "ann", "--by", "bob")
        self.assertEqual(done.returncode, 0, done.stdout)
        number = self.play(raw, "BJ01", number, 2, 1)  # still 0.2
        self.assertEqual(self.site.records()[-1]["pools"][0]["meter"], "50004.00000000")

        self.site.stop()  # the agreement survives, and the configuration with it is the right one
        self.site.start()
        raw = self.raw()
        raw.ask(number, open_round=open_round(3, (1,)))
        raw.ask(number + 1, report_result=result(3, ("7D",), {1: ("7D", "7D")}))
        raw.ask(number + 2, confirm_jackpot=pb.ConfirmJackpot(round=3))
        decision = raw.ask(number + 3, open_round=open_round(4, (1,)))
        self.assertEqual(decision.displayed_cents, 5000100, "the old rate while the win is open")
        raw.ask(number + 4, report_result=result(4))

        # A day later the win is final, and the new rate is in force.
        self.site.stop()
        shift = self.site.folder / "shift"
        shift.write_text(str(25 * 60 * 60))
        self.site.env = {"LD_PRELOAD": SHIFT_CLOCK, "JACKPOT_CLOCK": str(shift)}
        self.site.start()
        decision = self.raw().ask(number + 5, open_round=open_round(5, (1,)))
        self.assertEqual(decision.displayed_cents, 5000250)
        states = [each["parameters"]["state"] for each in self.site.records()
                  if "parameters" in each]
        self.assertEqual(states, ["agreed", "in_force"])
        self.site.stop()
        self.site.verify()


if __name__ == "__main__":
    main()
