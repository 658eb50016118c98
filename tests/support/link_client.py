#!/usr/bin/env python3
"""An independent table client, written from linkproto/link.proto and docs/link.md alone.

    link_client.py --host HOST --port PORT --table ID --pki DIR --outbox FILE [--rounds N] [--first ROUND]

plays N rounds of one wager each and prints a line of JSON for each decision and a last one with
totals. The exit status is 0 when every command was decided and none refused, else 1.

As a module: Table(...), connect(), send(kind=...), wait(number), close(). One thread; nothing
happens between calls but what wait(), idle() and connect() do. The generated link_pb2 must be on
the path: protoc --python_out.
"""

import argparse
import fcntl
import json
import os
import socket
import ssl
import struct
import sys
import time
import zlib
from pathlib import Path

import link_pb2 as pb

VERSION = 2
MAX_FRAME = 16384
MAX_IN_FLIGHT = 32
HEARTBEAT_S = 1.0
SILENCE_S = 5.0
KINDS = {field.name for field in pb.Command.DESCRIPTOR.oneofs_by_name["what"].fields}


class LinkError(Exception):
    """The connection is gone, or could not be made. Connect again."""


class Fault(Exception):
    """A fault that people must resolve."""


class Goodbye(LinkError):
    def __init__(self, goodbye):
        self.why = pb.Goodbye.Why.Name(goodbye.why)
        super().__init__(f"{self.why} {goodbye.detail.decode(errors='replace')}".rstrip())


def frame(message):
    payload = message.SerializeToString()
    if not 1 <= len(payload) <= MAX_FRAME:
        raise ValueError(f"a frame of {len(payload)} bytes")
    return struct.pack(">I", len(payload)) + payload


def boot_id():
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def boot_ms():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000


def wall_ms():
    return time.time_ns() // 1_000_000


class Outbox:
    """Lines of JSON, each after its CRC; a last line with a wrong CRC was never synced."""

    def __init__(self, path, table):
        self.path = Path(path)
        self.lock = open(f"{path}.lock", "w")
        fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.entries = {}  # number -> {command, boot, boot_ms, wall_ms}; in order
        self.memory = {"table": table, "new": True, "last": 0, "decided": 0, "counted": 0,
                       "wagers": 0, "receipt_size": 0, "receipt": ""}
        if self.path.exists():
            self._load()
        if self.memory["table"] != table:
            raise Fault(f"{path}: the outbox of table {self.memory['table']}, not of {table}")
        self._rewrite()

    def close(self):
        self.file.close()
        self.lock.close()

    def append(self, number, command, ago_ms):
        entry = {"number": number, "command": command.SerializeToString().hex(),
                 "boot": boot_id(), "boot_ms": boot_ms() - ago_ms, "wall_ms": command.clock_ms}
        self._write(entry)
        os.fsync(self.file.fileno())
        self.entries[number] = entry
        self.memory["last"] = number

    def remember(self, **changes):
        self.memory.update(changes)
        for number in [each for each in self.entries if each <= self.memory["decided"]]:
            del self.entries[number]
        self._write({"memory": self.memory})
        if self.file.tell() > 1 << 18:
            self._rewrite()

    def begin_anew(self, known, wagers, numbers):
        """After an accepted restore: without the receipt, and with the numbers that come next."""
        self.memory.update(receipt_size=0, receipt="")
        if numbers:
            entries, self.entries = self.entries.values(), {}
            self.memory.update(last=known, decided=known, counted=known, wagers=wagers)
            for number, entry in enumerate(entries, known + 1):
                command = pb.Command.FromString(bytes.fromhex(entry["command"]))
                command.number = number
                self.entries[number] = {**entry, "number": number,
                                        "command": command.SerializeToString().hex()}
                self.memory["last"] = number
        self._rewrite()

    def _load(self):
        lines = self.path.read_bytes().split(b"\n")
        for at, line in enumerate(lines):
            crc, _, text = line.partition(b" ")
            if crc != b"%08x" % zlib.crc32(text):
                if at != len(lines) - 1:
                    raise Fault(f"{self.path}: damaged in line {at + 1}")
                break
            content = json.loads(text)
            if "memory" in content:
                self.memory = content["memory"]
                self.entries = {number: entry for number, entry in self.entries.items()
                                if number > self.memory["decided"]}
            else:
                self.entries[content["number"]] = content
                self.memory["last"] = max(self.memory["last"], content["number"])

    def _write(self, content):
        text = json.dumps(content).encode()
        self.file.write(b"%08x %s\n" % (zlib.crc32(text), text))
        self.file.flush()

    def _rewrite(self):
        new = Path(f"{self.path}.new")
        self.file = open(new, "wb")
        self._write({"memory": self.memory})
        for entry in self.entries.values():
            self._write(entry)
        os.fsync(self.file.fileno())
        os.rename(new, self.path)
        directory = os.open(self.path.parent, os.O_RDONLY)
        os.fsync(directory)
        os.close(directory)


class Table:
    def __init__(self, table, host, port, certificate, key, ca, outbox, software="link_client 1"):
        self.table, self.host, self.port, self.software = table, host, port, software
        self.outbox = Outbox(outbox, table)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_3
        self.context.load_verify_locations(ca)
        self.context.load_cert_chain(certificate, key)
        self.stream = None
        self.welcome = None
        self.state = None
        self.decisions = {}   # number -> Decision
        self.news = []        # PoolNews, Suspension, Settlement, TableState, as they came
        self.rejected = []    # faults that people must resolve
        self.open_round = None  # the open round without a result, by the commands sent
        self.lost = range(0)  # numbers decided in a history that was discarded by a restore

    # ---- the connection

    def connect(self, timeout=5.0, patience=0.0):
        """Connects and waits for the Welcome; retries for `patience` seconds."""
        until = time.monotonic() + patience
        delay = 0.1
        while True:
            try:
                return self._connect(timeout)
            except LinkError:
                if time.monotonic() + delay > until:
                    raise
            time.sleep(delay)
            delay = min(2 * delay, 10.0)

    def _connect(self, timeout):
        self.disconnect()
        try:
            raw = socket.create_connection((self.host, self.port), timeout)
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.stream = self.context.wrap_socket(raw, server_hostname=self.host)
        except OSError as error:
            raise LinkError(str(error)) from error
        self.received = b""
        self.last_received = self.last_sent = time.monotonic()
        self.in_flight = []
        self.rewinding = False
        hello = pb.ToDaemon()
        hello.hello.version = VERSION
        hello.hello.software = self.software.encode()
        hello.hello.receipt = bytes.fromhex(self.outbox.memory["receipt"])
        hello.hello.decided = self.outbox.memory["decided"]
        self._send_bytes(frame(hello))
        while self.welcome is None:
            message = self._receive(timeout)
            if message is None:
                self.disconnect()
                raise LinkError("no welcome")
            self._take_welcome(message)
        self._pump()
        return self.welcome

    def disconnect(self):
        """Closes the connection without a TLS close, as if the link were lost."""
        if self.stream is not None:
            self.stream.close()
        self.stream = self.welcome = None

    def close(self):
        self.disconnect()
        self.outbox.close()

    def _take_welcome(self, message):
        if message.WhichOneof("message") != "welcome":
            self.disconnect()
            raise Fault(f"before the welcome: {message.WhichOneof('message')}")
        welcome = message.welcome
        if welcome.version != VERSION or welcome.state.table.decode() != self.table:
            self.disconnect()
            raise Fault(f"version {welcome.version}, table {welcome.state.table}")
        self.welcome, self.state = welcome, welcome.state
        memory, known = self.outbox.memory, welcome.last_number
        oldest = next(iter(self.outbox.entries), memory["last"] + 1)
        if welcome.restored:
            self.lost = range(known + 1, oldest)
            self.decisions = {number: each for number, each in self.decisions.items()
                              if number <= known}
            self.outbox.begin_anew(known, welcome.state.wagers, numbers=oldest > known + 1)
            memory, oldest = self.outbox.memory, known + 1
        if not memory["new"] and oldest > known + 1:
            self.disconnect()
            raise Fault(f"the daemon knows commands up to {known}, those before {oldest} were decided")
        if memory["new"] or known > memory["last"]:
            self.outbox.remember(new=False, last=known, counted=known, wagers=welcome.state.wagers,
                                 decided=memory["decided"] if self.outbox.entries else known)
        if not self.outbox.entries:
            is_open = self.state.round_opened and not (self.state.result_in or self.state.voided or self.state.closed)
            self.open_round = self.state.round if is_open else None
        if self.state.pool.unavailable:
            self._be_unavailable()

    def _send_bytes(self, data):
        try:
            self.stream.sendall(data)
        except OSError as error:
            self.disconnect()
            raise LinkError(str(error)) from error
        self.last_sent = time.monotonic()

    def _receive(self, timeout):
        """The next message; None after `timeout` seconds without one."""
        until = time.monotonic() + timeout
        while True:
            if len(self.received) >= 4:
                size = struct.unpack(">I", self.received[:4])[0]
                if not 1 <= size <= MAX_FRAME:
                    self.disconnect()
                    raise Fault(f"a frame of {size} bytes")
                if len(self.received) >= 4 + size:
                    message = pb.ToTable.FromString(self.received[4:4 + size])
                    self.received = self.received[4 + size:]
                    self.last_received = time.monotonic()
                    if message.WhichOneof("message") == "goodbye":
                        self.disconnect()
                        if message.goodbye.why == pb.Goodbye.UNAVAILABLE:
                            self._be_unavailable()
                        raise Goodbye(message.goodbye)
                    return message
            left = until - time.monotonic()
            if left <= 0:
                return None
            self.stream.settimeout(left)
            try:
                data = self.stream.recv(65536)
            except TimeoutError:
                return None
            except OSError as error:
                self.disconnect()
                raise LinkError(str(error)) from error
            if not data:
                self.disconnect()
                raise LinkError("the daemon closed the connection")
            self.received += data

    # ---- commands

    @property
    def may_open_round(self):
        return (self.stream is not None and self.welcome is not None and not self.rejected
                and time.monotonic() - self.last_received < SILENCE_S
                and not self.state.pool.unavailable)

    def send(self, ago_ms=0, **what):
        """send(open_round=pb.OpenRound(...)): stores the command, sends it if connected, returns its number."""
        (kind, content), = what.items()
        if kind not in KINDS:
            raise ValueError(kind)
        if self.outbox.memory["new"]:
            raise LinkError("the first number is not known before the first welcome")
        if kind == "open_round" and not self.may_open_round:
            raise LinkError("no round can be opened without a link")
        number = self.outbox.memory["last"] + 1
        command = pb.Command(number=number, clock_ms=wall_ms() - ago_ms)
        getattr(command, kind).CopyFrom(content)
        getattr(command, kind).SetInParent()
        self.outbox.append(number, command, ago_ms)
        if kind == "open_round":
            self.open_round = content.round
        elif kind in ("report_result", "void_round") and content.round == self.open_round:
            self.open_round = None
        elif kind == "suspend":
            self.open_round = None
        self._pump()
        return number

    def open(self, round_number, seats, cards=None):
        """Each seat has a player card, unless `cards` says which have one."""
        if cards is None:
            cards = {seat: f"{self.table}-{seat}" for seat in seats}
        wagers = [pb.Wager(seat=seat, player_card=cards.get(seat, "").encode()) for seat in seats]
        return self.send(open_round=pb.OpenRound(round=round_number, wagers=wagers))

    def result(self, round_number, board, hands):
        return self.send(report_result=pb.ReportResult(
            round=round_number, board=[card.encode() for card in board],
            hands=[pb.Hand(seat=seat, cards=[card.encode() for card in cards])
                   for seat, cards in hands.items()]))

    def confirm(self, round_number, ago_ms=0):
        return self.send(ago_ms, confirm_jackpot=pb.ConfirmJackpot(round=round_number))

    def close_round(self, round_number):
        return self.send(close_round=pb.CloseRound(round=round_number))

    def void(self, round_number, ground=pb.VoidRound.DEALING_ERROR, by="sue", reason=""):
        return self.send(void_round=pb.VoidRound(round=round_number, ground=ground, by=by.encode(),
                                                 reason=reason.encode()))

    def suspend(self, ground=pb.Suspend.MALFUNCTION, by="sue", reason=""):
        return self.send(suspend=pb.Suspend(ground=ground, by=by.encode(), reason=reason.encode()))

    def resume(self, by="sue", reason=""):
        return self.send(resume=pb.Resume(by=by.encode(), reason=reason.encode()))

    def command_frame(self, number):
        """The frame of the stored command, with its present age."""
        entry = self.outbox.entries[number]
        command = pb.Command.FromString(bytes.fromhex(entry["command"]))
        age = (boot_ms() - entry["boot_ms"] if entry["boot"] == boot_id()
               else wall_ms() - entry["wall_ms"])
        command.age_ms = max(age, 0)
        return frame(pb.ToDaemon(command=command))

    def _pump(self):
        if self.stream is None or self.welcome is None or self.rejected or self.rewinding:
            return
        after = self.in_flight[-1] if self.in_flight else 0
        waiting = [number for number in self.outbox.entries if number > after]
        waiting = waiting[:MAX_IN_FLIGHT - len(self.in_flight)]
        if waiting:
            self.in_flight += waiting
            self._send_bytes(b"".join(self.command_frame(number) for number in waiting))

    # ---- messages from the daemon

    def wait(self, number, timeout=5.0):
        """The Decision on that command."""
        until = time.monotonic() + timeout
        while number not in self.decisions:
            if self.rejected:
                raise Fault(str(self.rejected[0]))
            if time.monotonic() >= until:
                raise TimeoutError(f"command {number} is not decided")
            self.step(min(0.5, until - time.monotonic()))
        return self.decisions[number]

    def idle(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.step(min(0.2, max(until - time.monotonic(), 0.001)))

    def step(self, timeout):
        """Handles at most one message, and sends a heartbeat if one is due."""
        if self.stream is None:
            raise LinkError("not connected")
        message = self._receive(timeout)
        if message is not None:
            self._take(message)
        if time.monotonic() - self.last_received >= SILENCE_S:
            self.disconnect()
            raise LinkError("silence")
        if time.monotonic() - self.last_sent >= HEARTBEAT_S:
            memory = self.outbox.memory
            self._send_bytes(frame(pb.ToDaemon(heartbeat=pb.Heartbeat(
                clock_ms=wall_ms(), wagers=memory["wagers"], as_of=memory["counted"]))))

    def _take(self, message):
        kind = message.WhichOneof("message")
        if kind == "decisions":
            self._take_decisions(message.decisions)
        elif kind == "rejected":
            self._take_rejected(message.rejected)
        elif kind == "state":
            self.state = message.state
            self.news.append(message.state)
        elif kind == "pool":
            self.state.pool.CopyFrom(message.pool)
            self.news.append(message.pool)
        elif kind == "suspension":
            self.state.suspended = message.suspension.suspended
            self.state.suspended_by_desk = message.suspension.by_desk
            self.news.append(message.suspension)
        elif kind == "settlement":
            self.news.append(message.settlement)
            self.outbox.remember(**self._receipt(message.settlement.receipt))
        elif kind == "welcome":
            self.disconnect()
            raise Fault("a second welcome")
        if kind in ("pool", "state") and self.state.pool.unavailable:
            self._be_unavailable()

    def _receipt(self, receipt):
        if not receipt.note or receipt.size < self.outbox.memory["receipt_size"]:
            return {}
        return {"receipt_size": receipt.size, "receipt": receipt.note.hex()}

    def _take_decisions(self, decisions):
        memory = dict(self.outbox.memory)
        for decision in decisions.decisions:
            if decision.number <= memory["decided"]:
                continue
            entry = self.outbox.entries.get(decision.number)
            oldest = next((each for each in self.outbox.entries if each > memory["decided"]), None)
            if entry is None or decision.number != oldest:
                self.disconnect()
                raise Fault(f"a decision on {decision.number}, and {oldest} is next")
            memory["decided"] = decision.number
            if decision.number > memory["counted"]:
                memory["counted"] = decision.number
                if not decision.HasField("refusal"):
                    command = pb.Command.FromString(bytes.fromhex(entry["command"]))
                    memory["wagers"] += len(command.open_round.wagers)
            self.decisions[decision.number] = decision
            if decision.number in self.in_flight:
                self.in_flight.remove(decision.number)
        self.outbox.remember(**memory)
        self.outbox.remember(**self._receipt(decisions.receipt))
        self._rewound()
        self._pump()

    def _take_rejected(self, rejected):
        if rejected.why not in (pb.Rejected.OUT_OF_ORDER, pb.Rejected.TOO_FAST):
            self.rejected.append(rejected)
            return
        if rejected.number in self.in_flight:
            self.in_flight.remove(rejected.number)
        if rejected.why == pb.Rejected.TOO_FAST:
            time.sleep(1.0)
        self.rewinding = True
        self._rewound()
        self._pump()

    def _rewound(self):
        """Rejected commands are sent again when no command is in flight any more."""
        if self.rewinding and not self.in_flight:
            self.rewinding = False

    def _be_unavailable(self):
        """No round can be opened. A supervisor decides on the open one: suspend()."""
        if self.state is not None:
            self.state.pool.unavailable = True


def play(table, rounds, first):
    refused = 0
    for number in range(first, first + rounds):
        sent = [table.open(number, [1])]
        if table.state.game == b"uth":
            sent.append(table.result(number, ["2C", "7D", "9H"], {1: ["KS", "4D"]}))
        else:
            sent.append(table.result(number, ["9H"], {1: ["KS", "4D"]}))
        for each in sent:
            decision = table.wait(each)
            refused += decision.HasField("refusal")
            print(json.dumps({"number": decision.number, "record": decision.record,
                              "refusal": decision.refusal.code.decode() or None,
                              "again": decision.again,
                              "displayed_cents": decision.displayed_cents}), flush=True)
    memory = table.outbox.memory
    print(json.dumps({"decided": memory["decided"], "wagers": memory["wagers"],
                      "refused": refused}), flush=True)
    return 1 if refused else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="localhost")
    parser.add_argument("--port", type=int, default=7707)
    parser.add_argument("--table", required=True)
    parser.add_argument("--pki", type=Path, required=True, help="as jackpotctl pki makes it")
    parser.add_argument("--outbox", required=True)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--first", type=int, help="round number; default: after the newest one")
    given = parser.parse_args()
    table = Table(given.table, given.host, given.port,
                  given.pki / "table" / f"{given.table}.pem",
                  given.pki / "table" / f"{given.table}.key", given.pki / "ca.pem", given.outbox)
    try:
        table.connect(patience=10.0)
        first = given.first if given.first is not None else table.state.round + 1
        return play(table, given.rounds, first)
    except (LinkError, Fault, TimeoutError) as error:
        print(f"link_client: {error}", file=sys.stderr)
        return 1
    finally:
        table.close()


if __name__ == "__main__":
    sys.exit(main())
