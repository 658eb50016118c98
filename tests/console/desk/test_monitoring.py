"""Monitoring: metrics, health and readiness while all is well and while it is not,
the dashboard and the alerts that are made of them; and that no card, password or token is in any of
it or in the log."""

import json
import os
import re
import shutil
import subprocess
import time
from decimal import Decimal
from pathlib import Path

from support import link_client
from support.desk_site import ROLES, DeskTest
from support.link_client import pb
from support.programs import ROOT, until
from support.site import Display, Gone, hello, main, open_round, refusal_of, result

# ./dev installs it there if the system has none.
PROMTOOL = shutil.which("promtool") or str(ROOT / "build" / "tools" / "promtool")
FAIL_DISK = os.environ["FAIL_DISK"]
MONITORING = ROOT / "docs" / "monitoring"
TYPE = "text/plain; version=0.0.4; charset=utf-8"
METRIC = re.compile(r"\b(?:jackpotd|process)_[a-z_]+\b")


def promtool(*arguments, text=None):
    return subprocess.run([PROMTOOL, *map(str, arguments)], input=text, capture_output=True,
                          text=True, timeout=120)


def families(scrape):
    return set(re.findall(r"^# TYPE (\w+) ", scrape, re.MULTILINE))


def values(scrape):
    """{'name{label="value"}': value}, each exactly as it is written."""
    return dict(line.rsplit(" ", 1) for line in scrape.splitlines() if not line.startswith("#"))


def missing(text, scrape):
    """Metrics that the text names and the scrape does not have."""
    have = {name.partition("{")[0] for name in values(scrape)}
    return sorted(set(METRIC.findall(text)) - have)


class Scraped(DeskTest):
    options = {"meters": {"listen": "127.0.0.1:0"}}

    def scrape(self):
        answer = self.client().get("/metrics")
        self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, TYPE), answer.text)
        return answer.text

    def figures(self):
        return values(self.scrape())

    def health(self):
        client = self.client()
        return tuple(client.get(path).status for path in ("/healthz", "/readyz"))


class Figures(Scraped):
    def test_prometheus_accepts_the_metrics(self):
        self.site.start()
        self.play(self.raw(), "BJ01", 1, 1, 2)
        scrape = self.scrape()
        done = promtool("check", "metrics", text=scrape)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))
        for wrong in (scrape.replace("jackpotd_alarms_total", "jackpotd_alarms"),
                      scrape.replace('le="+Inf"', 'le="lots"'), scrape + scrape):
            self.assertNotEqual(promtool("check", "metrics", text=wrong).returncode, 0)

    def test_metrics_count_what_was_played(self):
        self.site.start()
        before = self.figures()
        raw = self.raw()
        number = self.play(raw, "BJ01", 1, 1, 3)
        self.assertEqual(refusal_of(raw.ask(number, open_round=open_round(9, (99,)))),
                         "seat_out_of_range")
        self.assertEqual(raw.ask(number + 9, open_round=open_round(10)).why,
                         pb.Rejected.OUT_OF_ORDER)
        raw.send_bytes(raw.command(1, open_round=open_round(1, (1, 2))))  # again
        self.assertTrue(raw.answer(1).again)
        with self.assertRaises(Gone):
            stranger = self.raw(credentials=self.site.credentials("jackpotd", "server"))
            stranger.expect("welcome")
        shown = Display(self.site.meter_port)
        self.addCleanup(shown.close)
        cents = shown.cents()
        after = self.figures()

        def count(name):
            return int(after[name]) - int(before[name])

        kind = 'jackpotd_commands_total{kind="%s",outcome="%s"}'
        self.assertEqual(count(kind % ("round_opened", "accepted")), 3)
        self.assertEqual(count(kind % ("round_opened", "refused")), 1)
        self.assertEqual(count(kind % ("round_result", "accepted")), 3)
        self.assertEqual(count('jackpotd_refusals_total{code="seat_out_of_range"}'), 1)
        self.assertEqual(count('jackpotd_commands_rejected_total{reason="out_of_order"}'), 1)
        self.assertEqual(count("jackpotd_commands_repeated_total"), 1)
        self.assertEqual(count("jackpotd_link_rejected_connections_total"), 1)
        self.assertEqual(count("jackpotd_meters_reads_total"), 1)
        self.assertEqual(count('jackpotd_meter_reads_total{meter="m-B7"}'), 1)
        self.assertLess(abs(time.time() - float(
            after['jackpotd_meter_last_seen_timestamp_seconds{meter="m-B7"}'])), 60)
        self.assertEqual(after['jackpotd_meter_last_seen_timestamp_seconds{meter="m-UTH"}'], "0")
        self.assertEqual(after["jackpotd_link_connections"], "1")

        # Pools: the exact amounts of the journal.
        records = self.site.records()
        pool = [each for record in records for each in record.get("pools", [])
                if each["pool"] == "B7"][-1]
        self.assertEqual(after['jackpotd_pool_reserve_dollars{pool="B7"}'], pool["reserve"])
        self.assertNotEqual(Decimal(pool["reserve"]), 0)
        self.assertEqual(Decimal(after['jackpotd_pool_displayed_dollars{pool="B7"}']) * 100, cents)
        self.assertEqual(cents, int(Decimal(pool["meter"]) * 100))
        self.assertEqual(int(after["jackpotd_journal_records"]), len(records))
        committed = int(after["jackpotd_journal_records"]) - int(before["jackpotd_journal_records"])
        self.assertEqual(count("jackpotd_commit_records_sum"), committed)
        self.assertEqual(count('jackpotd_commit_records_bucket{le="+Inf"}'),
                         count("jackpotd_commit_duration_seconds_count"))
        self.assertGreater(float(after["jackpotd_commit_duration_seconds_sum"]), 0)
        self.assertEqual(Decimal(after["jackpotd_journal_last_commit_timestamp_seconds"]) * 1000,
                         records[-1]["time"])

        # The process.
        pid = self.site.process.pid
        self.assertLess(abs(int(after["process_resident_memory_bytes"]) / 1024
                            - self.site.resident_kb()), 20_000)
        self.assertLess(abs(int(after["process_open_fds"])
                            - len(os.listdir(f"/proc/{pid}/fd"))), 5)
        self.assertLess(abs(float(after["process_start_time_seconds"])
                            - Path(f"/proc/{pid}").stat().st_mtime), 60)
        self.assertEqual(after["process_start_time_seconds"], before["process_start_time_seconds"])
        self.assertEqual(self.site.status()["commands"],
                         sum(int(value) for name, value in self.figures().items()
                             if name.startswith("jackpotd_commands_total")))

    def test_metrics_show_suspended_pools_and_disconnected_tables(self):
        self.site.link["offline_after_ms"] = 1000
        self.site.write_config()
        self.site.start()
        self.site.add("ann", "supervisor")
        ann = self.signed_in("ann")
        self.raw("BJ01").close()
        answer = ann.ask("POST", "/api/v1/pools/UTH/suspend", {"reason": "a test"})
        self.assertEqual(answer.status, 200, answer.text)
        asked = self.raw("BJ02").ask(1, suspend=pb.Suspend(ground=pb.Suspend.MALFUNCTION, by=b"ann"))
        self.assertIsNone(refusal_of(asked))
        # Both tables are silent now, and one is disconnected.
        self.assertTrue(until(
            lambda: self.figures()['jackpotd_pool_tables_offline{pool="B7"}'] == "2", 20, 0.1))
        figures = self.figures()
        self.assertEqual([figures[f'jackpotd_pool_tables_suspended{{pool="{pool}"}}']
                          for pool in ("B7", "UTH")], ["1", "0"])
        self.assertEqual([figures[f'jackpotd_pool_tables{{pool="{pool}"}}']
                          for pool in ("B7", "UTH")], ["2", "1"])
        for pool, suspended in (("B7", 0), ("UTH", 1)):
            self.assertEqual(figures[f'jackpotd_pool_status{{pool="{pool}",status="suspended"}}'],
                             str(suspended))
            self.assertEqual(figures[f'jackpotd_pool_status{{pool="{pool}",status="open"}}'],
                             str(1 - suspended))


class Elsewhere(Scraped):
    metrics = {"allow": ["127.0.7.0/24"]}

    def test_metrics_need_a_session_or_an_allowed_address(self):
        self.site.start()
        self.assertEqual(self.client().get("/metrics").status, 401)
        self.assertEqual(self.client(address="127.0.7.200").get("/metrics").status, 200)
        self.assertEqual(self.client(address="127.0.8.1").get("/metrics").status, 401)
        for role in ROLES:
            self.site.add(role, role)
            for how in ("cookie", "bearer"):
                self.assertEqual(self.signed_in(role, how=how).get("/metrics").status, 200)
        self.assertEqual(self.client(address="127.0.7.200").get("/api/v1/pools").status, 401)
        # The health routes need no session, and contain nothing else.
        self.assertEqual(self.client().get("/readyz").text, '{"status":"ok"}')
        self.site.stop()
        self.check_no_secrets()


class Unwell(Scraped):
    options = {**Scraped.options, "journal": {"heartbeat_s": 1}}

    def test_a_hanging_disk_is_reported(self):
        switch = self.site.folder / "fail"
        self.site.env = {"LD_PRELOAD": FAIL_DISK, "JACKPOT_FAIL": str(switch)}
        self.site.start()
        self.site.add("ann", "auditor")
        waiting = [self.signed_in("ann", how="bearer") for _ in range(6)]
        self.assertEqual(self.health(), (200, 200))
        self.assertEqual(self.figures()["jackpotd_ready"], "1")
        switch.write_text("hang")
        # More requests than there are threads wait for the journal, and /healthz still reports that it hangs.
        for each in waiting:
            each.open().request("GET", "/api/v1/pools",
                                headers={"Authorization": f"Bearer {each.token}"})
        self.assertTrue(until(lambda: self.health() == (200, 503), 20, 0.1), self.health())
        answer = self.client().get("/readyz")
        self.assertEqual(answer.code, "not_ready")
        self.assertRegex(answer.text, r"nothing has become durable for \d+ s")
        figures = self.figures()
        self.assertEqual(figures["jackpotd_ready"], "0")
        self.assertGreater(float(figures["jackpotd_writer_seconds_since_last_turn"]), 2.5)
        self.assertTrue(until(lambda: self.health() == (503, 503), 30, 0.2), self.health())
        self.assertEqual(self.client().get("/healthz").code, "not_alive")
        switch.unlink()
        self.assertTrue(until(lambda: self.health() == (200, 200), 20, 0.1), self.health())
        self.site.stop()
        self.site.verify()

    def test_a_journal_that_was_rolled_back_is_reported(self):
        self.site.start()
        self.play(self.raw(), "BJ01", 1, 1, 1)
        self.site.stop()
        old = self.site.folder / "old"
        shutil.copytree(self.site.journal, old)
        self.site.start()
        raw = self.raw()
        self.play(raw, "BJ01", 3, 2, 1)
        receipt = raw.receipt.note
        self.site.stop()
        shutil.rmtree(self.site.journal)
        shutil.copytree(old, self.site.journal, ignore=shutil.ignore_patterns("control.sock"))
        self.site.start()
        self.assertEqual(self.health(), (200, 200))
        self.raw(greet=False).send(hello(receipt))
        # A restart would not help.
        self.assertTrue(until(lambda: self.health() == (200, 503), 20, 0.1), self.health())
        self.assertIn("locked", self.client().get("/readyz").text)
        figures = self.figures()
        self.assertEqual(figures["jackpotd_ready"], "0")
        self.assertEqual(figures['jackpotd_alarms_total{code="receipt"}'], "1")


class Rules(Scraped):
    """docs/monitoring: the dashboard and the alerts."""

    def test_dashboard_and_alerts_name_existing_metrics(self):
        self.site.start()
        scrape = self.scrape()
        alerts = (MONITORING / "alerts.yml").read_text()
        dashboard = json.loads((MONITORING / "jackpotd.json").read_text())
        expressions = [target["expr"] for panel in dashboard["panels"]
                       for target in panel["targets"]]
        self.assertGreater(len(expressions), 20)
        for text in (alerts, "\n".join(expressions), json.dumps(dashboard["templating"])):
            self.assertTrue(METRIC.findall(text))
            self.assertEqual(missing(text, scrape), [])
        self.assertEqual(missing(alerts.replace("jackpotd_ready", "jackpotd_redy"), scrape),
                         ["jackpotd_redy"])
        # Each has its line in the document, and nothing else has.
        described = set(re.findall(r"^\| `(\w+)", (ROOT / "docs" / "monitoring.md").read_text(),
                                   re.MULTILINE))
        self.assertEqual(described & set(METRIC.findall("\n".join(described))), families(scrape))
        names = set(re.findall(r"alert: (\w+)", alerts))
        self.assertEqual({each for each in described if each.startswith("Jackpotd")}, names)

    def test_each_alert_is_raised_by_its_fault_and_not_without(self):
        tests = Path(__file__).with_name("alerts_test.yml")
        done = promtool("check", "rules", MONITORING / "alerts.yml")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = promtool("test", "rules", tests)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        alerts, tested = (MONITORING / "alerts.yml").read_text(), tests.read_text()
        for name in re.findall(r"alert: (\w+)", alerts):
            for how in ("on its fault", "without"):
                self.assertIn(f"- name: {name}, {how}\n", tested)
        # With other rules the same tests fail.
        shutil.copy(tests, self.site.folder / "alerts_test.yml")
        for was, now in (("jackpotd_ready == 0", "jackpotd_ready == 2"),
                         ("jackpotd_meters_silent > 0", "jackpotd_meters_silent >= 0")):
            self.assertIn(was, alerts)
            folder = self.site.folder / "docs" / "monitoring"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "alerts.yml").write_text(alerts.replace(was, now))
            changed = self.site.folder / "a" / "b" / "alerts_test.yml"
            changed.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(tests, changed)
            self.assertNotEqual(promtool("test", "rules", changed).returncode, 0, now)


class Secrets(Scraped):
    """Everything that is written to files and the log, at the log level "debug"."""
    options = {**Scraped.options, "link": {"refusals_per_minute": 100_000},
               "table_options": {"UTH01": {"require_player_card": True}}}

    def setUp(self):
        super().setUp()
        self.site.log_level = "debug"
        self.site.write_config()

    def card(self, number):
        return self.site.secret(f"60110000{number:08d}").encode()

    def written(self):
        return self.everywhere() + self.last_scrape

    def test_no_card_password_or_token_is_written_down(self):
        self.site.start()
        self.site.add("ann", "auditor")
        ann = self.signed_in("ann")
        for password in ("not ann's password", "another that is wrong"):
            self.assertEqual(self.client().sign_in("ann", password).status, 401)
        self.client().ask("POST", "/api/v1/session", self.site.secret("{not json at all"))
        self.client(how="bearer").get("/api/v1/pools", token=self.site.secret("ab" * 32))
        self.assertEqual(ann.get("/api/v1/pools").status, 200)

        def wagers(number, *cards):
            return pb.OpenRound(round=number, wagers=[
                pb.Wager(seat=seat, player_card=card) for seat, card in enumerate(cards, 1)])

        raw = self.raw("UTH01")
        self.assertIsNone(refusal_of(raw.ask(1, open_round=wagers(1, self.card(1), self.card(2)))))
        self.assertIsNone(refusal_of(raw.ask(2, report_result=result(1, ("2C", "7D", "9H")))))
        # Refused: the same player twice, none at all, and a seat that is not there.
        self.assertEqual(refusal_of(raw.ask(3, open_round=wagers(2, self.card(3), self.card(3)))),
                         "player_wagers_twice")
        self.assertEqual(refusal_of(raw.ask(4, open_round=wagers(2, self.card(4), b""))),
                         "no_player_card")
        many = wagers(2, *map(self.card, range(10, 20)))
        self.assertEqual(refusal_of(raw.ask(5, open_round=many)), "seat_out_of_range")
        # Not fit to be decided: too long, not UTF-8.
        for bad in (self.card(20) * 100, self.card(21) + b"\xff\xfe"):
            self.assertEqual(raw.ask(6, open_round=wagers(2, bad)).why, pb.Rejected.MALFORMED)
        # Sent again with another card.
        self.assertEqual(raw.ask(5, open_round=wagers(2, self.card(22))).why, pb.Rejected.CONFLICT)
        # Malformed frames from a table, and from a client that has sent no Hello.
        whole = link_client.frame(pb.ToDaemon(command=pb.Command(
            number=6, open_round=wagers(2, self.card(23)))))
        for greet in (True, False):
            for frame in (whole[:4] + b"\xff" * 8 + whole[12:], b"\x00\x7f\xff\xff" + whole):
                broken = self.raw("BJ01", greet=greet)
                broken.send_bytes(frame)
                self.assertEqual(broken.goodbye(), "BAD_FRAME")
        self.last_scrape = self.scrape()
        self.assertIn('player_wagers_twice"} 1', self.last_scrape)
        self.site.stop()

        log = "\n".join(self.site.log)
        self.assertIn("is refused: player_wagers_twice", log)  # control: debug messages are there
        self.assertIn("malformed_command", log)
        written = self.written()
        self.assertIn('"p-', written)  # the pseudonyms
        self.assertGreater(len(self.site.secrets), 20)
        found = [each for each in self.site.secrets if each in written]
        self.assertEqual(found, [])
        # Control: a card in any of these places is found.
        for place in ("the log", "a file", "the metrics"):
            secret = self.card(1).decode()
            if place == "the log":
                self.site.log.append(secret)
            elif place == "a file":
                self.site.log.pop()
                (self.site.journal / "forgotten").write_text(secret)
            else:
                (self.site.journal / "forgotten").unlink()
                self.last_scrape += secret
            self.assertIn(secret, self.written(), place)

    def test_a_flood_of_refusals_is_limited_and_counted(self):
        self.site.start()
        raw = self.raw("BJ01")
        for number in range(1, 251):
            raw.ask(number, open_round=open_round(1, (99,)))
        figures = self.figures()
        self.assertEqual(figures['jackpotd_refusals_total{code="seat_out_of_range"}'], "250")
        written = int(figures['jackpotd_log_messages_total{level="debug"}'])
        self.assertEqual(written + int(figures["jackpotd_log_suppressed_total"]), 250)
        self.site.stop()
        said = [each for each in self.site.log if "is refused: seat_out_of_range" in each]
        left_out = [int(each) for each in
                    re.findall(r"suppressed (\d+) more messages, the last: table", "\n".join(said))]
        self.assertEqual(len(said) - len(left_out) + sum(left_out), 250)
        self.assertLess(len(said), 250)
        self.assertEqual(len(self.site.records("round_opened")), 250)  # the journal has all


if __name__ == "__main__":
    main()
