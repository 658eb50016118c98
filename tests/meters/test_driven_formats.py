"""Every format in the registers of a real slave, over TCP and a serial line, and the delays."""

import os
import signal
import statistics
import struct
import threading
import time

from displays import (FAULT, HELD, NO_JOURNAL, OPEN, PENDING, WON, DisplaysTest, RtuSlave, TcpSlave,
                      main)

# Cents, and the registers of each format at its address.
AMOUNT = 5_123_499


def words(value, count):
    return list(struct.unpack(f">{count}H", value.to_bytes(2 * count, "big")))


def text(letters):
    return [ord(letter) for letter in letters]


FORMATS = {
    "u32c": ({"format": "uint32_cents"}, words(AMOUNT, 2)),
    "u32d": ({"format": "uint32_dollars"}, words(51234, 2)),
    "u64c": ({"format": "uint64_cents", "word_order": "low_first"}, words(AMOUNT, 4)[::-1]),
    "u64d": ({"format": "uint64_dollars"}, words(51234, 4)),
    "bcdc": ({"format": "bcd_cents", "digits": 8}, [0x0512, 0x3499]),
    "bcdd": ({"format": "bcd_dollars", "digits": 5, "word_order": "low_first"}, [0x1234, 0x0005]),
    "ascc": ({"format": "ascii_cents", "digits": 9}, text("  5123499")),
    "ascd": ({"format": "ascii_dollars", "digits": 6, "function": 6}, text(" 51234")),
    "fltd": ({"format": "float32_dollars"}, list(struct.unpack(">2H", struct.pack(">f", 51234.98828125)))),
    "fltc": ({"format": "float32_cents", "function": 6}, list(struct.unpack(">2H", struct.pack(">f", 5123499)))),
}
STATUS = 500


def displays(line):
    """One unit for each format, each at an address of its own, with a status register, read back."""
    made = {name: {"to": line, "unit": unit, "address": 10 * unit, "status_address": STATUS + unit,
                   "read_back": True, **keys}
            for unit, (name, (keys, _)) in enumerate(FORMATS.items(), start=1)}
    made["block"] = {"to": line, "unit": len(FORMATS) + 1, "address": 100}
    return made


class Formats(DisplaysTest):
    def check(self, slave, line):
        drive = self.drive(displays(line))
        block = len(FORMATS) + 1
        # Before anything is published there is a fault, and no amount.
        self.eventually(lambda: all(state.connected for state in drive.states().values()),
                        lambda: drive.states())
        for unit, name in enumerate(FORMATS, start=1):
            self.assertEqual(slave.registers[unit].at(STATUS + unit), [FAULT], name)
            if name.startswith("u"):
                self.assertEqual(slave.registers[unit].log, [entry for entry in slave.registers[unit].log
                                                             if entry[1] == STATUS + unit], name)
        drive.set(AMOUNT)
        self.eventually(lambda: all(state.cents == AMOUNT for state in drive.states().values()),
                        lambda: drive.states())
        for unit, (name, (_, expected)) in enumerate(FORMATS.items(), start=1):
            held = slave.registers[unit]
            self.assertEqual(held.at(10 * unit, len(expected)), expected, name)
            self.assertEqual(held.at(STATUS + unit), [OPEN], name)
        held = slave.registers[block].at(100, 40)
        self.assertEqual(held[:2], [1, OPEN])
        self.assertEqual(held[2:6], words(AMOUNT, 4))
        self.assertEqual(held[6:10], [0, 0, 0x0512, 0x3499])
        self.assertEqual(held[10:12], words(51234, 2))
        self.assertEqual(held[13], held[39])
        self.assertEqual(bytes(b"B7"), struct.pack(">H", held[31]))
        for name, state in drive.states().items():
            self.assertEqual((state.errors, state.last_error), (0, ""), name)

        # At the end a fault is written to each display, and the amount stays.
        took = drive.stop()
        for unit, (name, (_, expected)) in enumerate(FORMATS.items(), start=1):
            self.assertEqual(slave.registers[unit].at(10 * unit, len(expected)), expected, name)
            self.assertEqual(slave.registers[unit].at(STATUS + unit), [OPEN | FAULT], name)
        self.assertEqual(slave.registers[block].at(101), [OPEN | FAULT])
        self.assertLess(took, 1500)

    def test_tcp(self):
        slave = self.slave(TcpSlave(range(1, len(FORMATS) + 2)))
        self.check(slave, slave.line)

    def test_rtu(self):
        wire = self.wire()
        slave = self.slave(RtuSlave(wire.far, range(1, len(FORMATS) + 2)))
        self.check(slave, wire.line)

    def test_amounts_that_exceed_the_registers(self):
        """The fault bit is set, or "no amount" is shown; the registers never hold a part of the amount."""
        slave = self.slave(TcpSlave(range(1, 5)))
        drive = self.drive({
            "ascii": {"to": slave.line, "unit": 1, "format": "ascii_dollars", "digits": 5},
            "bcd": {"to": slave.line, "unit": 2, "format": "bcd_cents", "digits": 7,
                    "status_address": 50},
            "uint": {"to": slave.line, "unit": 3, "format": "uint32_cents", "status_address": 50},
            "mute": {"to": slave.line, "unit": 4, "format": "uint32_cents", "heartbeat_ms": 100}})
        fits, tooMuch = 9_999_999, 2**32 + 7
        drive.set(fits)
        self.eventually(lambda: all(state.cents == fits for state in drive.states().values()))
        drive.set(tooMuch)
        self.eventually(lambda: all(state.errors == 1 for state in drive.states().values()),
                        lambda: drive.states())
        self.assertEqual(slave.registers[1].at(0, 5), text("-----"))
        self.assertEqual(slave.registers[2].at(0, 2), [0xFFFF, 0xFFFF])
        self.assertEqual(slave.registers[2].at(50), [OPEN | FAULT])
        self.assertEqual(slave.registers[3].at(0, 2), words(fits, 2))
        self.assertEqual(slave.registers[3].at(50), [OPEN | FAULT])
        # This one has no status register: it is no longer written to, and can detect that.
        self.assertEqual(slave.registers[4].at(0, 2), words(fits, 2))
        before = len(slave.registers[4].log)
        time.sleep(0.4)
        self.assertEqual(len(slave.registers[4].log), before)
        states = drive.states()
        for name in ("ascii", "bcd", "uint"):
            self.assertIsNone(states[name].cents)
            self.assertEqual(states[name].status, OPEN | FAULT)
            self.assertIn("does not fit", states[name].last_error)
        self.assertEqual(states["mute"].cents, fits)
        drive.set(fits - 1)
        self.eventually(lambda: all(state.cents == fits - 1 for state in drive.states().values()))
        self.assertEqual(slave.registers[1].at(0, 5), text("99999"))
        self.assertEqual(slave.registers[3].at(50), [OPEN])
        self.assertEqual(slave.registers[4].at(0, 2), words(fits - 1, 2))

    def test_without_changes_only_heartbeats_are_written(self):
        slave = self.slave(TcpSlave(range(1, 3)))
        drive = self.drive({"often": {"to": slave.line, "unit": 1, "heartbeat_ms": 200},
                            "seldom": {"to": slave.line, "unit": 2, "heartbeat_ms": 5000}})
        drive.set(AMOUNT)
        self.eventually(lambda: all(state.cents == AMOUNT for state in drive.states().values()))
        often, seldom = (len(slave.registers[unit].log) for unit in (1, 2))
        time.sleep(1.2)
        self.assertIn(len(slave.registers[1].log) - often, range(3, 7))
        self.assertEqual(len(slave.registers[2].log), seldom)


class Soon(DisplaysTest):
    """A status is in the slave's register within 200 ms of its cause."""

    LIMIT = 0.2

    def delay(self, drive, registers, cause, bits, value):
        begun = time.monotonic()
        drive.command(cause)
        self.eventually(lambda: registers.at(1)[0] & bits == value, lambda: registers.at(1))
        return next(at for at, address, values in registers.log
                    if at >= begun and values[1 - address] & bits == value) - begun

    def check(self, registers, drive):
        drive.set(AMOUNT)
        self.eventually(lambda: registers.at(1) == [OPEN])
        causes = [("set B7 5123499 pending", PENDING, PENDING),
                  ("set B7 5123499 held", PENDING | HELD, HELD),
                  ("set B7 5123499 closed", OPEN | HELD, 0),
                  ("set B7 5123499 won", OPEN | WON, OPEN | WON),
                  ("begin", FAULT | NO_JOURNAL | OPEN, FAULT | NO_JOURNAL),
                  ("end", FAULT | NO_JOURNAL | OPEN, OPEN)]
        delays = {cause: [] for cause, _, _ in causes}
        for _ in range(5):
            for cause, bits, value in causes:
                delays[cause].append(self.delay(drive, registers, cause, bits, value))
        delays["fail"] = [self.delay(drive, registers, "fail", FAULT | NO_JOURNAL | OPEN,
                                     FAULT | NO_JOURNAL)]
        print({cause: [round(1000 * each) for each in sorted(found)]
               for cause, found in delays.items()})
        for cause, found in delays.items():
            # The median of five, because the machine may be busy.
            self.assertLessEqual(statistics.median(found), self.LIMIT, cause)
            self.assertLessEqual(max(found), 5 * self.LIMIT, cause)

    def test_tcp(self):
        slave = self.slave(TcpSlave())
        drive = self.drive({"block": {"to": slave.line, "unit": 1, "heartbeat_ms": 60000}})
        self.check(slave.registers[1], drive)

    def test_rtu(self):
        wire = self.wire()
        slave = self.slave(RtuSlave(wire.far))
        drive = self.drive({"block": {"to": wire.line, "unit": 1, "heartbeat_ms": 60000}})
        self.check(slave.registers[1], drive)

    def test_control_a_delay_is_detected(self):
        """Negative control: a longer stop is measured as a longer delay."""
        slave = self.slave(TcpSlave())
        drive = self.drive({"block": {"to": slave.line, "unit": 1}})
        drive.set(AMOUNT)
        self.eventually(lambda: slave.registers[1].at(1) == [OPEN])
        os.kill(drive.process.pid, signal.SIGSTOP)
        threading.Timer(0.4, os.kill, (drive.process.pid, signal.SIGCONT)).start()
        self.assertGreater(self.delay(drive, slave.registers[1], "set B7 5123499 pending", PENDING,
                                      PENDING), self.LIMIT)


if __name__ == "__main__":
    main()
