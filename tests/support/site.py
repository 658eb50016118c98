"""A site in a temporary directory with the real programs, tables that can misbehave, and an
independent account of what the journal must contain."""

import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import sqlite3
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path

from support import link_client
from support.link_client import pb
from support.programs import JACKPOT_AUDIT, JACKPOTCTL, JACKPOTD, ROOT, must, run

NAME = "test.example/floor"
SOAK = os.environ.get("JACKPOT_SOAK") == "1"
SEED = int(os.environ.get("JACKPOT_TEST_SEED", "20261116"))

# Pay tables as in the sample configuration.
PAYTABLES = (ROOT / "config" / "jackpotd.toml").read_text()
PAYTABLES = PAYTABLES[PAYTABLES.index("[[paytable]]"):PAYTABLES.index("# Pools:")]
POOLS = {"B7": {"game": "blazing7s", "paytable": "blazing7s-5", "wager": "5.00",
                "increment": "0.235", "reserve_increment": "0.015", "minimum": "50000.00",
                "payout_unit": "0.05", "simultaneity_window_ms": 2000},
         "UTH": {"game": "uth", "paytable": "uth-2.50", "wager": "2.50", "increment": "0.2",
                 "minimum": "50000.00", "bonus.royal_flush": "1000.00",
                 "bonus.straight_flush": "100.00"}}


def toml(value):
    return json.dumps(value)


class LocalConnection(http.client.HTTPConnection):
    """HTTP on a Unix socket."""

    def __init__(self, path, timeout=30):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))


@contextmanager
def as_nobody():
    """This thread is the user nobody; for root."""
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


class Site:
    """Directories, keys and certificates are made once; start() and stop() may be called repeatedly."""

    def __init__(self, tables=("BJ01", "BJ02", "UTH01"), link=None, journal=None, pools=None,
                 table_options=None, certificates=True, meters=None, meter_options=None):
        self.folder = Path(tempfile.mkdtemp(prefix="jp"))
        self.tables = list(tables)
        self.link, self.journal_options = dict(link or {}), dict(journal or {})
        self.pools = {pool: dict(each) for pool, each in (pools or POOLS).items()}
        self.table_options = table_options or {}
        self.meters, self.meter_options = dict(meters or {}), meter_options or {}
        self.meter_drives = {}
        self.log_level = "information"
        self.process = None
        self.port = None
        self.log = []
        self.env = {}
        self.wrapper = []
        self.journal = self.folder / "journal"
        self.pki = self.folder / "pki"
        self.config = self.folder / "jackpotd.toml"
        self.verifier = must(JACKPOT_AUDIT, "keygen", "--name", NAME, "--out",
                             self.folder / "journal.key").strip()
        must(JACKPOTCTL, "journal", "create", "--key", self.folder / "journal.key", "--name", NAME,
             self.journal)
        secret = self.folder / "player_card.key"
        secret.write_text("0123456789abcdef0123456789abcdef")
        secret.chmod(0o600)
        must(JACKPOTCTL, "pki", "init", "--dir", self.pki)
        if certificates:
            for table in self.tables:
                self.issue(table)
        self.write_config()

    def issue(self, table):
        must(JACKPOTCTL, "pki", "issue", "table", table, "--dir", self.pki)

    def settle_after_ms(self, pool):
        """The least that the configuration allows, unless the pool has its own."""
        options = self.pools[pool]
        return options.get("settle_after_ms", options["simultaneity_window_ms"]
                           + self.link.get("offline_after_ms", 5000) + 1000)

    def write_config(self):
        link = {"listen": "127.0.0.1:0", "certificate": "pki/server/jackpotd.pem",
                "key": "pki/server/jackpotd.key", "ca": "pki/ca.pem", "crl": "pki/crl.pem",
                "player_card_key": "player_card.key", **self.link}
        lines = ["[site]", f"name = {toml(NAME)}", "[journal]", 'directory = "journal"',
                 'key = "journal.key"']
        lines += [f"{key} = {toml(value)}" for key, value in self.journal_options.items()]
        lines += ["[link]"] + [f"{key} = {toml(value)}" for key, value in link.items()]
        if self.meters:
            lines += ["[meters]"] + [f"{key} = {toml(value)}" for key, value in self.meters.items()]
        lines += ["[log]", f"level = {toml(self.log_level)}", PAYTABLES]
        for pool, options in self.pools.items():
            lines += ["[[pool]]", f"id = {toml(pool)}"]
            lines += [f"{key} = {toml(value)}" for key, value in options.items()]
            if options["game"] == "blazing7s" and "settle_after_ms" not in options:
                lines += [f"settle_after_ms = {self.settle_after_ms(pool)}"]
        for table in self.tables:
            lines += ["[[table]]", f"id = {toml(table)}", f"pool = {toml(self.pool_of(table))}"]
            options = {"seats": 7 if table.startswith("BJ") else 9,
                       **self.table_options.get(table, {})}
            lines += [f"{key} = {toml(value)}" for key, value in options.items()]
        for unit, pool in enumerate(self.pools, 1):
            mine = [table for table in self.tables if self.pool_of(table) == pool]
            if mine:
                lines += ["[[meter]]", f"id = {toml('m-' + pool)}", f"unit = {unit}",
                          f"tables = {toml(mine)}"]
                lines += [f"{key} = {toml(value)}"
                          for key, value in self.meter_options.get(pool, {}).items()]
                if pool in self.meter_drives:
                    lines += ["[meter.drive]"] + [f"{key} = {toml(value)}" for key, value
                                                  in self.meter_drives[pool].items()]
        self.config.write_text("\n".join(lines) + "\n")

    def pool_of(self, table):
        return "B7" if table.startswith("BJ") else "UTH"

    # ---- the daemon

    def start(self, patience=20.0, preexec=None):
        assert self.process is None
        self.log = []
        self.process = subprocess.Popen(self.wrapper + [JACKPOTD, "--config", str(self.config)],
                                        stderr=subprocess.PIPE, env={**os.environ, **self.env},
                                        preexec_fn=preexec)
        listening = threading.Event()
        log, pipe = self.log, self.process.stderr

        def read():
            for line in pipe:
                log.append(line.decode(errors="replace").rstrip("\n"))
                if "listening on " in log[-1]:
                    listening.set()
            pipe.close()
            listening.set()

        self.reader = threading.Thread(target=read, daemon=True)
        self.reader.start()
        listening.wait(patience)
        line = next((each for each in log if "listening on " in each), None)
        if line is None:
            status = self.process.wait(5)
            self.process = None
            raise AssertionError(f"it did not start: exit {status}: {log}")
        self.port = int(re.search(r"listening on .*:(\d+)$", line).group(1))
        return self

    @property
    def meter_port(self):
        line = next(each for each in self.log if "displays poll at " in each)
        return int(line.rpartition(":")[2])

    def wait_exit(self, timeout=30.0):
        status = self.process.wait(timeout)
        self.reader.join(5)
        self.process = None
        return status

    def stop(self, timeout=30.0):
        self.process.send_signal(signal.SIGTERM)
        return self.wait_exit(timeout)

    def kill(self):
        self.process.kill()
        self.wait_exit()

    @property
    def socket(self):
        return self.journal / "control.sock"

    def local(self, method, path, body=None):
        """(status, JSON) of a request on the daemon's socket, as the owner of the machine."""
        with closing(LocalConnection(self.socket)) as connection:
            connection.request(method, path, None if body is None else json.dumps(body),
                               {"Content-Type": "application/json"} if body is not None else {})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    def reload(self):
        """The lines that jackpotctl prints, after one that says whether everything was applied."""
        status, report = self.local("POST", "/api/v1/reload")
        assert status == 200, report
        lines = report["problems"] + [f"applied: {each}" for each in report["applied"]]
        lines += [f"not applied: {each}" for each in report["not_applied"]]
        good = not report["problems"] and not report["not_applied"]
        return "\n".join(["ok" if good else "refused", *lines, ""])

    def status(self):
        status, counters = self.local("GET", "/api/v1/status")
        assert status == 200, counters
        return counters

    def resident_kb(self):
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text).group(1))

    def cpu_seconds(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self):
        if self.process is not None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- the journal

    def records(self, kind=None):
        files = sorted(self.journal.glob("segment-*.db")) + [self.journal / "journal.db"]
        found = []
        for file in files:
            with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=20)) as database:
                found += [json.loads(row[0]) for row in
                          database.execute("SELECT payload FROM journal ORDER BY seq")]
        return [each for each in found if kind in (None, each["kind"])]

    def alarms(self, code=None):
        return [each for each in self.records("alarm_raised") if code in (None, each["code"])]

    def verify(self):
        done = run(JACKPOT_AUDIT, "verify", "--key", self.verifier, self.journal, timeout=300)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)

    # ---- tables

    def credentials(self, table, kind="table"):
        return self.pki / kind / f"{table}.pem", self.pki / kind / f"{table}.key"

    def table(self, table, outbox=None):
        certificate, key = self.credentials(table)
        return link_client.Table(table, "localhost", self.port, certificate, key, self.pki / "ca.pem",
                              outbox or self.folder / f"{table}.outbox")

    def raw(self, table="BJ01", **options):
        return Raw(self, table, **options)


class Gone(Exception):
    """The daemon has closed the connection."""


def hello(receipt=b"", version=link_client.VERSION):
    return pb.ToDaemon(hello=pb.Hello(version=version, software=b"raw", receipt=receipt))


class Raw:
    """A connection that can send any bytes. With greet it waits for the Welcome."""

    def __init__(self, site, table="BJ01", greet=True, receipt=b"", credentials=None, ca=None,
                 timeout=5.0, context=None):
        if context is None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.minimum_version = ssl.TLSVersion.TLSv1_3
            context.load_verify_locations(ca or site.pki / "ca.pem")
            context.load_cert_chain(*(credentials or site.credentials(table)))
        plain = socket.create_connection(("127.0.0.1", site.port), timeout)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream = context.wrap_socket(plain, server_hostname="localhost")
        self.received = b""
        self.clock = 1_800_000_000_000
        self.welcome = None
        self.receipt = None
        if greet:
            self.send(hello(receipt))
            self.welcome = self.expect("welcome")

    def send(self, message):
        self.send_bytes(link_client.frame(message))

    def send_bytes(self, data):
        self.stream.sendall(data)

    def command(self, number, age_ms=0, clock_ms=None, **what):
        """Bytes of a command's frame; the same for the same arguments."""
        (kind, content), = what.items()
        command = pb.Command(number=number, clock_ms=self.clock if clock_ms is None else clock_ms,
                             age_ms=age_ms)
        getattr(command, kind).CopyFrom(content)
        getattr(command, kind).SetInParent()
        return link_client.frame(pb.ToDaemon(command=command))

    def ask(self, number, timeout=5.0, **what):
        """Sends a command and returns its Decision or Rejected."""
        self.send_bytes(self.command(number, **what))
        return self.answer(number, timeout)

    def answer(self, number, timeout=5.0):
        end = time.monotonic() + timeout
        while True:
            message = self.receive(max(end - time.monotonic(), 0.001))
            if message.HasField("rejected") and message.rejected.number == number:
                return message.rejected
            for decision in message.decisions.decisions:
                if decision.number == number:
                    self.receipt = message.decisions.receipt
                    return decision
            if message.HasField("goodbye"):
                raise AssertionError(f"goodbye: {message.goodbye}")

    def receive(self, timeout=5.0):
        """The next message. Raises Gone at the end of the connection, TimeoutError after `timeout` seconds."""
        end = time.monotonic() + timeout
        while True:
            if len(self.received) >= 4:
                size = struct.unpack(">I", self.received[:4])[0]
                if len(self.received) >= 4 + size:
                    message = pb.ToTable.FromString(self.received[4:4 + size])
                    self.received = self.received[4 + size:]
                    return message
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self.stream.settimeout(left)
            try:
                data = self.stream.recv(65536)
            except TimeoutError:
                raise
            except OSError as error:
                raise Gone(str(error)) from error
            if not data:
                raise Gone("closed")
            self.received += data

    def expect(self, kind, timeout=5.0):
        """The next message of that kind; those of other kinds are skipped, a Goodbye is not."""
        end = time.monotonic() + timeout
        while True:
            message = self.receive(max(end - time.monotonic(), 0.001))
            got = message.WhichOneof("message")
            if got == kind:
                return getattr(message, kind)
            if got == "goodbye":
                raise Gone(pb.Goodbye.Why.Name(message.goodbye.why))

    def goodbye(self, timeout=5.0):
        """The reason of the daemon's Goodbye, skipping other messages; "" if it sent none."""
        end = time.monotonic() + timeout
        try:
            while True:
                message = self.receive(max(end - time.monotonic(), 0.001))
                if message.HasField("goodbye"):
                    return pb.Goodbye.Why.Name(message.goodbye.why)
        except Gone:
            return ""

    def close(self):
        self.stream.close()


def open_round(number, seats=(1,), **options):
    """Each seat has a player card, unless `options` has another."""
    return pb.OpenRound(round=number, wagers=[
        pb.Wager(**{"seat": seat, "player_card": b"P-%d" % seat, **options}) for seat in seats])


def result(number, board=("9H",), hands=None):
    return pb.ReportResult(round=number, board=[card.encode() for card in board],
                           hands=[pb.Hand(seat=seat, cards=[card.encode() for card in cards])
                                  for seat, cards in (hands or {}).items()])


def refusal_of(decision):
    return decision.refusal.code.decode() if decision.HasField("refusal") else None


def read_request(first, count, unit=1, function=4, transaction=1):
    return struct.pack(">HHHBBHH", transaction, 0, 6, unit, function, first, count)


class Display:
    """A display that polls, over a plain socket."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 5)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def registers(self, unit=1):
        self.socket.sendall(read_request(0, 40, unit))
        answer = b""
        while len(answer) < 89:
            piece = self.socket.recv(4096)
            if not piece:
                raise ConnectionError("closed")
            answer += piece
        return struct.unpack(">40H", answer[9:])

    def status(self, unit=1):
        return self.registers(unit)[1]

    def cents(self, unit=1):
        return amount(self.registers(unit))

    def close(self):
        self.socket.close()


def amount(registers):
    return int.from_bytes(struct.pack(">4H", *registers[2:6]), "big")


class Account:
    """The events that the tables know: each accepted wager with its round, in exact amounts."""

    def __init__(self):
        self.wagers = {}  # (table, round) -> seats
        self.returned = set()  # (table, round, seat)
        self.decided = {}  # (table, number) -> record

    def opened(self, table, number, seats):
        assert (table, number) not in self.wagers
        self.wagers[table, number] = sorted(seats)

    def voided(self, table, number):
        self.returned |= {(table, number, seat) for seat in self.wagers[table, number]}

    def compare(self, site, jackpots=False, records=None):
        """The differences between this account and the journal; [] if they agree."""
        faults, opened, numbers, refunds, money = [], {}, {}, set(), {}
        meters = {}
        for record in site.records() if records is None else records:
            for pool in record.get("pools", []):
                meters[pool["pool"]] = Fraction(pool["meter"])
                for cause, sides in pool.get("postings", {}).items():
                    money[record["seq"], pool["pool"], cause] = sum(map(Fraction, sides.values()))
            if "from" in record:
                table, number = record["command"]["table"], record["from"]["number"]
                if (table, number) in numbers:
                    faults.append(f"{table} {number} is there twice")
                numbers[table, number] = record["seq"]
            if record["kind"] == "round_opened" and "refused" not in record:
                command = record["command"]
                key = command["table"], command["round"]
                if key in opened:
                    faults.append(f"round {key} is there twice")
                opened[key] = sorted(each["seat"] for each in command["wagers"])
            for refund in record.get("refunds", []):
                key = refund["table"], refund["round"], refund["seat"]
                if key in refunds:
                    faults.append(f"refund {key} is there twice")
                refunds.add(key)
        faults += [f"lost: {key}" for key in self.wagers if self.wagers[key] != opened.get(key)]
        faults += [f"not asked for: {key}" for key in opened if key not in self.wagers]
        faults += [f"not returned: {key}" for key in self.returned - refunds]
        faults += [f"returned by nobody: {key}" for key in refunds - self.returned]
        faults += [f"decision {key} is in record {numbers.get(key)}, not {seq}"
                   for key, seq in self.decided.items() if numbers.get(key) != seq]
        faults += [f"postings {key} sum to {total}" for key, total in money.items() if total != 0]
        if not money:
            faults.append("no money has moved")
        if not jackpots:
            for pool, meter in meters.items():
                options = site.pools[pool]
                count = sum(len(seats) for (table, _), seats in self.wagers.items()
                            if site.pool_of(table) == pool)
                count -= sum(1 for table, _, _ in self.returned if site.pool_of(table) == pool)
                due = (Fraction(options["minimum"])
                       + count * Fraction(options["wager"]) * Fraction(options["increment"]))
                if meter != due:
                    faults.append(f"the meter of {pool} is {meter}, not {due}")
        return faults


class SiteTest(unittest.TestCase):
    """A test with a site of its own."""

    options = {}

    def setUp(self):
        self.site = Site(**self.options)
        self.addCleanup(self.site.close)
        self.account = Account()

    def raw(self, table="BJ01", **options):
        raw = self.site.raw(table, **options)
        self.addCleanup(raw.close)
        return raw

    def table(self, name="BJ01", **options):
        table = self.site.table(name, **options)
        self.addCleanup(table.close)
        return table

    def play(self, raw, table, first_number, first_round, rounds, seats=(1, 2)):
        """Plays rounds of two commands each; returns the next command number."""
        number = first_number
        for each in range(first_round, first_round + rounds):
            decision = raw.ask(number, open_round=open_round(each, seats))
            self.assertIsNone(refusal_of(decision))
            self.account.opened(table, each, seats)
            self.account.decided[table, number] = decision.record
            board = ("9H",) if table.startswith("BJ") else ("2C", "7D", "9H")
            decision = raw.ask(number + 1, report_result=result(each, board))
            self.assertIsNone(refusal_of(decision))
            self.account.decided[table, number + 1] = decision.record
            number += 2
        return number

    def check_books(self, jackpots=False):
        """The journal verifies and agrees with the account, and differs from a changed account (control)."""
        self.site.verify()
        records = self.site.records()
        self.assertEqual(self.account.compare(self.site, jackpots, records), [])
        key, seats = self.account.wagers.popitem()
        self.assertNotEqual(self.account.compare(self.site, jackpots, records), [],
                            "a wager that is left out is not noticed")
        self.account.wagers[key] = seats
        if self.account.decided:
            key, seq = self.account.decided.popitem()
            self.account.decided[key] = seq + 1
            self.assertNotEqual(self.account.compare(self.site, jackpots, records), [],
                                "another record is not noticed")
            self.account.decided[key] = seq


def main():
    print(f"seed {SEED} (JACKPOT_TEST_SEED)", file=sys.stderr)
    random.seed(SEED)
    unittest.main(verbosity=2, warnings="ignore")
