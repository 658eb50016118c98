"""A site with a desk and its tables, for tests of the pages: it reads one command per line (JSON) and answers
each with one line. tests/console/web/harness.mjs is the other side."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

from support.desk_site import DeskSite
from support.programs import free_port
from support.site import Display


class Played:
    """The site, and tables that stay connected."""

    def __init__(self):
        self.site = None
        self.tables = {}
        self.lock = threading.Lock()
        self.floorsim = None
        threading.Thread(target=self.keep_alive, daemon=True).start()

    def keep_alive(self):
        while True:
            time.sleep(0.2)
            with self.lock:
                for table in self.tables.values():
                    if table.stream is None:
                        continue
                    try:
                        table.step(0.001)
                    except Exception:  # the daemon is gone: connect() brings the table back
                        table.disconnect()

    # ---- commands

    def open(self, tables=("BJ01", "BJ02", "UTH01"), desk=None, meters=None, **options):
        """Makes the site and starts it; people are {name: role}."""
        desk = {"listen": f"127.0.0.1:{free_port()}", **(desk or {})}
        people = options.pop("people", {})
        self.site = DeskSite(desk=desk, tables=tuple(tables),
                             meters=meters or {"listen": "127.0.0.1:0"}, **options)
        self.site.start()
        for name, role in people.items():
            self.site.add(name, role)
        return {"desk": f"https://localhost:{self.site.desk_port}", "link": self.site.port,
                "folder": str(self.site.folder), "meters": self.site.meter_port}

    def add(self, name, role, must_change=False):
        self.site.add(name, role, must_change=must_change)

    def password(self, name):
        return self.site.password(name)

    def kill(self):
        for table in self.tables.values():
            table.disconnect()
        self.site.kill()

    def start(self):
        self.site.start()

    def freeze(self):
        """Stops the daemon's process: connections stay open, and nothing is sent."""
        self.site.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.site.process.send_signal(signal.SIGCONT)

    def connect(self, table):
        if table not in self.tables:
            self.tables[table] = self.site.table(table)
        self.tables[table].port = self.site.port
        self.tables[table].connect(patience=20)

    def leave(self, table):
        """Closes the connection without a TLS close."""
        self.tables[table].disconnect()

    def bet(self, table, round, seats):
        each = self.tables[table]
        return each.wait(each.open(round, seats), 20).record

    def result(self, table, round, board, hands):
        each = self.tables[table]
        hands = {int(seat): cards for seat, cards in hands.items()}
        decision = each.wait(each.result(round, board, hands), 20)
        return [claim.state.decode() for claim in decision.claims]

    def confirm(self, table, round, ago_ms=0):
        each = self.tables[table]
        decision = each.wait(each.confirm(round, ago_ms), 20)
        return [claim.state.decode() for claim in decision.claims]

    def close_round(self, table, round):
        each = self.tables[table]
        return each.wait(each.close_round(round), 20).record

    def suspend(self, table, by):
        """By the table's own controller."""
        each = self.tables[table]
        return each.wait(each.suspend(by=by), 20).record

    def tie(self, round, winners):
        """{table: seat}: each of them wins with three suited sevens, and all press at once."""
        for table, seat in winners.items():
            self.connect(table)
            self.bet(table, round, sorted({seat, 5}))
            self.result(table, round, ["7H"], {seat: ["7H", "7H"]})
        states = []
        for table in winners:
            states = self.confirm(table, round)
        return states

    def records(self, kind=None):
        return self.site.records(kind)

    def verify(self):
        """Stops the daemon and verifies the journal."""
        self.site.stop()
        self.site.verify()

    def play(self, rate=20, force_jackpots=0, seconds=600):
        """A simulated floor of all tables, until stop_playing."""
        with open(self.site.folder / "floorsim.log", "w") as log:
            self.floorsim = subprocess.Popen(
                [os.environ["FLOORSIM"], "--config", self.site.config, "--connect",
                 f"localhost:{self.site.port}", "--pki", self.site.pki, "--seconds", str(seconds),
                 "--rate", str(rate), "--force-jackpots", str(force_jackpots)],
                stdout=log, stderr=log)

    def pass_time(self, seconds, rounds, force_jackpots=0):
        """Restarts the daemon with its clock advanced by `seconds`; then every table plays some rounds."""
        shift = self.site.folder / "shift"
        self.shift = getattr(self, "shift", 0) + seconds
        shift.write_text(str(self.shift))
        self.site.stop()
        self.site.env = {"LD_PRELOAD": os.environ["SHIFT_CLOCK"], "JACKPOT_CLOCK": str(shift)}
        self.site.start()
        done = subprocess.run(
            [os.environ["FLOORSIM"], "--config", self.site.config, "--connect",
             f"localhost:{self.site.port}", "--pki", self.site.pki, "--rounds", str(rounds),
             "--seed", str(self.shift + 1), "--force-jackpots", str(force_jackpots), "--quiet"],
            capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        return time.time() + self.shift

    def look_at_meters(self):
        """Reads all meters once, like a display."""
        for unit in (1, 2):
            display = Display(self.site.meter_port)
            display.registers(unit)
            display.close()

    def stop_playing(self):
        if self.floorsim is not None:
            self.floorsim.terminate()
            self.floorsim.wait(30)
            self.floorsim = None
        return (self.site.folder / "floorsim.log").read_text()[-2000:]

    def close(self):
        if self.floorsim is not None:
            self.stop_playing()
        for table in self.tables.values():
            table.close()
        if self.site is not None:
            self.site.close()


def main():
    answers = os.fdopen(os.dup(1), "w")  # other output must not mix with the answers
    os.dup2(2, 1)
    played = Played()
    try:
        for line in sys.stdin:
            asked = json.loads(line)
            do = asked.pop("do")
            try:
                with played.lock:
                    answer = {"answer": getattr(played, do)(**asked)}
            except Exception as error:
                answer = {"error": f"{do}: {type(error).__name__}: {error}"}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()
    finally:
        played.close()


if __name__ == "__main__":
    main()
