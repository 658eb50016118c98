"""Displays that poll the real daemon: with mbpoll, with pymodbus, and with everything that is not
Modbus."""

import os
import re
import select
import socket
import struct
import sys
import time

from support.link_client import pb
from support.programs import JACKPOTCTL, JACKPOTD, ROOT, run, until
from support.site import Display, SiteTest, amount, main, open_round, read_request, result
from displays import TcpSlave
from pymodbus.client import ModbusTcpClient

OPEN, PENDING, WON, FAULT, HELD, NO_JOURNAL = (1 << bit for bit in range(6))
FAIL_DISK = os.environ["FAIL_DISK"]


class MeterTest(SiteTest):
    options = {"tables": ["BJ01", "BJ02", "UTH01"], "meters": {"listen": "127.0.0.1:0"}}

    def setUp(self):
        super().setUp()
        self.site.start()

    @property
    def port(self):
        return self.site.meter_port

    def display(self):
        display = Display(self.port)
        self.addCleanup(display.close)
        return display


class Reading(MeterTest):
    def test_mbpoll_reads_what_the_journal_says(self):
        table = self.raw()
        for number in range(1, 4):
            table.ask(number, open_round=open_round(number, (1, 2)))

        def mbpoll(*arguments, write=()):
            return run("mbpoll", "-m", "tcp", "-p", self.port, "-0", "-1", *arguments, "127.0.0.1", *write)

        cents = 5_000_000 + 6 * 5_00 * 235 // 1000
        for function in ("3", "4"):  # of mbpoll: input and holding registers
            done = mbpoll("-a", "1", "-r", "0", "-c", "40", "-t", f"{function}:hex")
            self.assertEqual(done.returncode, 0, done.stdout)
            values = [int(each, 16) for each in re.findall(r"^\[\d+\]:\s+0x([0-9A-F]{4})$", done.stdout, re.M)]
            self.assertEqual(len(values), 40)
            self.assertEqual((values[0], values[1]), (1, OPEN))
            self.assertEqual(amount(values), cents)
            self.assertEqual("".join(f"{each:04x}" for each in values[6:10]), f"{cents:016}")
            self.assertEqual(values[10] << 16 | values[11], cents // 100)
            self.assertEqual(values[13], values[39])
            self.assertEqual(struct.pack(">8H", *values[31:39]).rstrip(b"\0"), b"B7")
        self.assertIn("Target device failed to respond", self.refusal_of(mbpoll("-a", "9", "-r", "0", "-c", "1")))
        self.assertIn("Illegal data address", self.refusal_of(mbpoll("-a", "1", "-r", "39", "-c", "2")))
        self.assertIn("Illegal function", self.refusal_of(mbpoll("-a", "1", "-r", "2", "-t", "4", write=["7"])))
        self.assertEqual(self.display().cents(), cents)

    @staticmethod
    def refusal_of(done):
        return done.stdout + done.stderr

    def test_the_document_s_reads_work_as_written(self):
        page = (ROOT / "docs" / "modbus.md").read_text()
        examples = re.findall(r"^```console\n\$ (mbpoll [^\n]*)\n(.*?)^```$", page, re.M | re.S)
        self.assertEqual(len(examples), 4)
        for command, expected in examples:
            self.assertIn(" -p 1502 ", command)
            done = run(*command.replace("1502", str(self.port)).split())
            self.assertEqual(done.returncode, 0, command)
            self.assertEqual([line for line in done.stdout.splitlines() if line.startswith("[")],
                             expected.splitlines(), command)

    def test_pymodbus_reads_and_may_not_write(self):
        client = ModbusTcpClient("127.0.0.1", port=self.port)
        self.assertTrue(client.connect())
        self.addCleanup(client.close)
        for ask in (client.read_input_registers, client.read_holding_registers):
            answer = ask(0, 40, slave=2)
            self.assertFalse(answer.isError(), answer)
            self.assertEqual(amount(answer.registers), 5_000_000)
            self.assertEqual(ask(0, 1, slave=9).exception_code, 11)
            self.assertEqual(ask(39, 2, slave=2).exception_code, 2)
        before = client.read_input_registers(0, 40, slave=1).registers
        for refused in (client.write_register(2, 7, slave=1), client.write_registers(2, [7, 7], slave=1),
                        client.write_coil(0, True, slave=1), client.read_coils(0, 1, slave=1)):
            self.assertEqual(refused.exception_code, 1, refused)
        self.assertEqual(client.read_input_registers(0, 40, slave=1).registers, before)

    def test_an_acknowledged_wager_is_on_the_display(self):
        display, table = self.display(), self.raw()
        for number in range(1, 201):
            table.ask(number, open_round=open_round(number))
            self.assertEqual(display.cents(), 5_000_000 + number * 500 * 235 // 1000)

    def test_jackpotctl_lists_them(self):
        self.display().registers(1)
        done = run(JACKPOTCTL, "meters", "--config", self.site.config)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertRegex(lines[1], r"^m-B7 +B7 +open +read \d+\.\d s ago by 127\.0\.0\.1 +\$50,000\.00 +1 reads$")
        self.assertRegex(lines[2], r"^m-UTH +UTH +open +never +\$50,000\.00 +0 reads$")
        self.assertIn('"last_read_by":"127.0.0.1"',
                      run(JACKPOTCTL, "meters", "--json", "--config", self.site.config).stdout)


class Truth(MeterTest):
    """What happens shows in the status word in 200 ms."""

    def within(self, display, condition, unit=1):
        """How long it took; the display asks as fast as it can."""
        start = time.monotonic()
        self.assertTrue(until(lambda: condition(display.registers(unit)), every=0))
        return time.monotonic() - start

    def test_pending_held_won_and_suspended(self):
        display, one, other = self.display(), self.raw("BJ01"), self.raw("BJ02")
        for table in (one, other):
            table.ask(1, open_round=open_round(1))
            table.ask(2, report_result=result(1, ("7D",), {1: ("7D", "7D")}))
        self.assertEqual(display.status(), OPEN)
        one.ask(3, confirm_jackpot=pb.ConfirmJackpot(round=1))
        took = [self.within(display, lambda each: each[1] == OPEN | PENDING)]
        other.ask(3, confirm_jackpot=pb.ConfirmJackpot(round=1))
        took.append(self.within(display, lambda each: each[1] == OPEN | HELD))
        self.assertEqual(display.registers()[16:23], (0,) * 7)
        self.assertLess(max(took), 0.2, took)

    def test_a_win_is_shown(self):
        display, table = self.display(), self.raw("BJ01")
        table.ask(1, open_round=open_round(1))
        table.ask(2, report_result=result(1, ("7D",), {1: ("7D", "7D")}))
        table.ask(3, confirm_jackpot=pb.ConfirmJackpot(round=1))
        before = display.cents()
        self.within(display, lambda each: each[1] == OPEN | WON)
        registers = display.registers()
        self.assertEqual(amount(registers), 5_000_000)
        won = int.from_bytes(struct.pack(">4H", *registers[16:20]), "big")
        self.assertEqual(won, -(-before // 5) * 5)  # all of it, up to the payout unit
        self.assertLess(abs((registers[20] << 16 | registers[21]) - time.time()), 60)
        self.assertEqual(registers[22], 1)
        self.assertEqual(struct.pack(">8H", *registers[23:31]).rstrip(b"\0"), b"BJ01")
        # It is there after a restart too.
        self.assertEqual(self.site.stop(), 0)
        self.site.start()
        self.assertEqual(self.display().registers()[16:31], registers[16:31])


class LongId(MeterTest):
    TABLE = "BJ-PIT-NORTH-BLACKJACK-TABLE-012"
    options = {"tables": [TABLE, "UTH01"], "meters": {"listen": "127.0.0.1:0"}}

    def test_a_display_gets_the_beginning_and_people_get_all_of_it(self):
        self.assertEqual(len(self.TABLE), 32)
        table = self.raw(self.TABLE)
        table.ask(1, open_round=open_round(1))
        table.ask(2, report_result=result(1, ("7D",), {1: ("7D", "7D")}))
        table.ask(3, confirm_jackpot=pb.ConfirmJackpot(round=1))
        client = ModbusTcpClient("127.0.0.1", port=self.port)
        self.assertTrue(client.connect())
        self.addCleanup(client.close)
        self.assertTrue(until(lambda: client.read_input_registers(1, 1, slave=1).registers == [OPEN | WON]))
        registers = client.read_input_registers(0, 40, slave=1).registers
        self.assertEqual(struct.pack(">8H", *registers[23:31]), self.TABLE[:16].encode())
        self.assertEqual(struct.pack(">8H", *registers[31:39]).rstrip(b"\0"), b"B7")
        self.assertEqual(registers[13], registers[39])
        listed = run(JACKPOTCTL, "meters", "--json", "--config", self.site.config).stdout
        self.assertIn(f'"tables":["{self.TABLE}"]', listed)
        self.assertEqual(self.site.stop(), 0)
        self.site.verify()

    def test_one_character_more_is_refused(self):
        self.site.stop()
        self.site.config.write_text(self.site.config.read_text().replace(self.TABLE, self.TABLE + "3"))
        checked = run(JACKPOTD, "--check-config", "--config", self.site.config)
        self.assertEqual(checked.returncode, 2, checked.stderr)
        self.assertIn("is not an id: it takes 1 to 32", checked.stderr)


class Failing(MeterTest):
    def test_a_disk_that_hangs_shows_before_anyone_waits_for_it(self):
        """And the control: while it does not hang, there is no fault."""
        self.assertEqual(self.site.stop(), 0)
        flag = self.site.folder / "hang"
        self.site.env = {"LD_PRELOAD": FAIL_DISK, "JACKPOT_FAIL": str(flag)}
        self.site.start()
        display, table = self.display(), self.raw()
        for number in range(1, 20):
            table.ask(number, open_round=open_round(number))
            self.assertEqual(display.status(), OPEN)
        cents = display.cents()
        flag.write_text("hang")
        start = time.monotonic()
        table.send_bytes(table.command(20, open_round=open_round(20)))
        self.assertTrue(until(lambda: display.status() == FAULT | NO_JOURNAL, every=0))
        self.assertLess(time.monotonic() - start, 0.2)
        self.assertEqual(display.cents(), cents)  # not yet durable
        flag.unlink()
        self.assertTrue(until(lambda: display.status() == OPEN))
        self.assertGreater(display.cents(), cents)


class Silent(MeterTest):
    options = {"tables": ["BJ01", "UTH01"], "meters": {"listen": "127.0.0.1:0"},
               "meter_options": {"B7": {"silent_after_s": 1, "suspend_when_silent": True},
                                 "UTH": {"silent_after_s": 1}}}

    def test_no_meter_no_jackpot(self):
        display = self.display()
        self.assertTrue(until(lambda: display.registers(1) and len(self.site.alarms("meter_silent")) == 1))
        alarm = self.site.alarms("meter_silent")[0]
        self.assertIn("meter m-UTH (table UTH01) was not seen for 1 s", alarm["detail"])
        self.assertEqual(self.site.records("table_suspended"), [])
        display.registers(2)
        self.assertTrue(until(lambda: self.site.records("meter_seen_again")))
        # Nobody looks at the other.
        self.assertTrue(until(lambda: display.registers(2) and self.site.records("table_suspended")))
        suspended = self.site.records("table_suspended")[0]["command"]
        self.assertEqual((suspended["table"], suspended["by"]), ("BJ01", "jackpotd"))
        self.assertEqual(self.raw().ask(1, open_round=open_round(1)).refusal.code, b"table_suspended")
        listed = run(JACKPOTCTL, "meters", "--config", self.site.config)
        self.assertEqual(listed.returncode, 1)
        self.assertIn("SILENT", listed.stdout)
        self.assertEqual(self.site.stop(), 0)
        self.site.verify()


class Driven(SiteTest):
    """The daemon as master of a display that is pymodbus's."""

    options = {"tables": ["BJ01", "UTH01"]}

    def test_a_display_is_driven_until_the_daemon_ends(self):
        slave = TcpSlave(units=(7,))
        self.addCleanup(slave.stop)
        self.site.meter_options = {"B7": {"silent_after_s": 2}, "UTH": {}}
        self.site.meter_drives = {"B7": {"to": slave.line, "unit": 7, "format": "uint32_cents",
                                         "status_address": 10, "read_back": True, "timeout_ms": 2000}}
        self.site.write_config()
        self.site.start()
        registers = slave.registers[7]
        shown = lambda: tuple(registers.at(0, 2))  # noqa: E731
        status = lambda: registers.at(10)[0]  # noqa: E731
        self.assertTrue(until(lambda: (shown(), status()) == ((76, 19264), OPEN)), (shown(), status()))
        self.raw().ask(1, open_round=open_round(1))
        self.assertTrue(until(lambda: shown() == (76, 19264 + 117)), shown())
        listed = run(JACKPOTCTL, "meters", "--config", self.site.config)
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertRegex(listed.stdout, r"m-B7 .* written \d+\.\d s ago over tcp://127\.0\.0\.1:\d+ .* writes, 0 errors")
        self.assertEqual(self.site.stop(), 0)
        self.assertEqual(status() & FAULT, FAULT)  # told that nobody looks after it any more

        slave.stop()
        self.site.start()
        self.assertTrue(until(lambda: self.site.alarms("meter_silent"), 10))
        listed = run(JACKPOTCTL, "meters", "--config", self.site.config)
        self.assertEqual(listed.returncode, 1)
        self.assertRegex(listed.stdout, r"m-B7 .* SILENT, never: .*")


class Malformed(MeterTest):
    """Every function in every shape, all at once, each on a connection of its own."""

    shapes = {
        "nothing after the function": lambda f: struct.pack(">HHHBB", 9, 0, 2, 1, f),
        "one byte short": lambda f: struct.pack(">HHHBBHB", 9, 0, 5, 1, f, 0, 0),
        "one byte more": lambda f: struct.pack(">HHHBBHHB", 9, 0, 7, 1, f, 0, 1, 0),
        "as long as can be": lambda f: struct.pack(">HHHBB", 9, 0, 254, 1, f) + bytes(252),
        "quantity 0": lambda f: read_request(0, 0, 1, f),
        "quantity 126": lambda f: read_request(0, 126, 1, f),
        "quantity 65535": lambda f: read_request(0, 65535, 1, f),
        "one beyond the end": lambda f: read_request(39, 2, 1, f),
        "around the end": lambda f: read_request(65535, 2, 1, f),
        "another protocol": lambda f: struct.pack(">HHHBBHH", 9, 1, 6, 1, f, 0, 1),
        "length 0": lambda f: struct.pack(">HHHBBHH", 9, 0, 0, 1, f, 0, 1),
        "length 1": lambda f: struct.pack(">HHHBBHH", 9, 0, 1, 1, f, 0, 1),
        "length 255": lambda f: struct.pack(">HHHBBHH", 9, 0, 255, 1, f, 0, 1),
        "more promised than sent": lambda f: struct.pack(">HHHBBHH", 9, 0, 7, 1, f, 0, 1),
        "cut in the header": lambda f: struct.pack(">HHHBB", 9, 0, 6, 1, f)[:7],
        "cut in the question": lambda f: read_request(0, 1, 1, f)[:11],
    }

    def round(self, port, frames):
        """Seconds from sending until a whole exception or the end came, for each frame."""
        sockets = [socket.create_connection(("127.0.0.1", port), 5) for _ in frames]
        took, received = [None] * len(frames), [b""] * len(frames)
        poll, index = select.poll(), {each.fileno(): at for at, each in enumerate(sockets)}
        sent = []
        for each, frame in zip(sockets, frames):
            each.setblocking(False)
            poll.register(each, select.POLLIN)
            each.send(frame)
            sent.append(time.monotonic())
        end = time.monotonic() + 3
        while None in took and time.monotonic() < end:
            for descriptor, _ in poll.poll(100):
                at = index[descriptor]
                try:
                    piece = sockets[at].recv(4096)
                except OSError:
                    piece = b""
                received[at] += piece
                if not piece or len(received[at]) >= 9:
                    took[at] = time.monotonic() - sent[at]
                    poll.unregister(descriptor)
        for each in sockets:
            each.close()
        return took, received

    def late(self, port, frames):
        """Frames that three times in a row had no answer in 50 ms, and what was wrongly answered."""
        wrong = []
        for _ in range(3):
            took, received = self.round(port, frames)
            for frame, answer in zip(frames, received):
                is_exception = len(answer) == 9 and answer[7] & 0x80 and answer[8] in (1, 2, 3, 11)
                if answer and not is_exception:
                    wrong.append((frame, answer))
            frames = [frame for frame, each in zip(frames, took) if each is None or each > 0.05]
            if not frames:
                break
        return frames, wrong

    def test_exception_or_close_in_50_ms(self):
        port, cases = self.port, 0
        watching = self.display()
        before = watching.registers()
        for name, shape in self.shapes.items():
            for first in range(0, 256, 64):
                functions = [f for f in range(first, first + 64)]
                frames = [shape(f) for f in functions]
                late, wrong = self.late(port, frames)
                self.assertEqual((late, wrong), ([], []), name)
                cases += len(frames)
                self.assertEqual(watching.registers(), before)
        self.assertEqual(cases, 256 * len(self.shapes))
        print(f"    {cases} malformed requests", file=sys.stderr)
        self.assertEqual(watching.registers(), before)

    def test_the_control_a_server_that_waits_longer_is_found(self):
        self.assertEqual(self.site.stop(), 0)
        self.site.meters["frame_timeout_ms"] = 300
        self.site.write_config()
        self.site.start()
        late, _ = self.late(self.port, [read_request(0, 1)[:11]])
        self.assertEqual(len(late), 1)
        _, wrong = self.late(self.port, [read_request(0, 1)])  # and a good read is no exception
        self.assertEqual(len(wrong), 1)

    def test_drips_and_half_open_connections_disturb_nobody(self):
        port = self.port
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
        dripping = [socket.create_connection(("127.0.0.1", port)) for _ in range(50)]
        frame, watching, slowest = read_request(0, 40), self.display(), 0.0
        for at in range(300):
            for each in dripping:
                try:
                    each.send(frame[at % 12:at % 12 + 1])
                except OSError:
                    pass
            start = time.monotonic()
            watching.registers()
            slowest = max(slowest, time.monotonic() - start)
        self.assertLess(slowest, 1.0)
        for each in idle + dripping:
            each.close()


if __name__ == "__main__":
    main()
