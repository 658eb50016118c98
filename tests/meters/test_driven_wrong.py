"""Slaves that misbehave: only confirmed writes count, and other displays are not affected."""

import random
import struct
import time

from displays import DisplaysTest, FakeRtu, FakeTcp, main, rightly

SEED = 20261116
AMOUNT = 5_000_000
TIMEOUT = 0.2
KEYS = {"format": "uint32_cents", "timeout_ms": int(1000 * TIMEOUT), "heartbeat_ms": 100}


def changed(data, at, by=1):
    return data[:at] + bytes([data[at] ^ by]) + data[at + 1:]


def drip(data, seconds):
    return [(seconds, bytes([byte])) for byte in data]


# Faults that any kind of frame can have.
BODIES = {
    "late": lambda body, reply, frame: [(1.5 * TIMEOUT, frame(reply))],
    "silent": lambda body, reply, frame: [],
    "another unit": lambda body, reply, frame: [(0, frame(changed(reply, 0, 0x10)))],
    "unit 0": lambda body, reply, frame: [(0, frame(b"\0" + reply[1:]))],
    "another function": lambda body, reply, frame: [(0, frame(changed(reply, 1, 0x05)))],
    "another address": lambda body, reply, frame: [(0, frame(changed(reply, 3)))],
    "another quantity": lambda body, reply, frame: [(0, frame(changed(reply, 5)))],
    "slow bytes": lambda body, reply, frame: drip(frame(reply), 0.6 * TIMEOUT),
    "cut short": lambda body, reply, frame: [(0, frame(reply)[:-3])],
    "too long": lambda body, reply, frame: [(0, frame(reply + b"\0\0"))],
    "busy": lambda body, reply, frame: [(0, frame(bytes([body[0], body[1] | 0x80, 6])))],
    "exception of another function": lambda body, reply, frame: [(0, frame(bytes([body[0], 0x83, 6])))],
    "exception 255": lambda body, reply, frame: [(0, frame(bytes([body[0], body[1] | 0x80, 255])))],
    "garbage": lambda body, reply, frame: [(0, random.Random(SEED).randbytes(300))],
    "the request itself": lambda body, reply, frame: [(0, frame(body))],
}
TCP = BODIES | {
    "another transaction": lambda body, reply, frame: [(0, changed(frame(reply), 1))],
    "another protocol": lambda body, reply, frame: [(0, changed(frame(reply), 3))],
    "another length": lambda body, reply, frame: [(0, changed(frame(reply), 5, 0x08))],
    "closes at once": lambda body, reply, frame: [(0, None)],
    "closes in the middle": lambda body, reply, frame: [(0, frame(reply)[:8]), (0, None)],
}
RTU = BODIES | {
    "chatter of others": lambda body, reply, frame: 300 * [(0.001, frame(changed(reply, 0, 0x10)))],
    "wrong checksum": lambda body, reply, frame: [(0, changed(frame(reply), -1 % len(frame(reply))))],
}
# Bytes that arrive during the request to another display may damage its reply. The request is repeated, and soon the
# two displays no longer disturb each other: otherwise both would fail permanently.
DISTURBING = {"late", "slow bytes", "chatter of others"}
# The replies that are accepted in these cases are correct.
RIGHT_ALL_THE_SAME = {
    "right": rightly,
    "twice": lambda body, reply, frame: [(0, 2 * frame(reply))],
    "and more": lambda body, reply, frame: [(0, frame(reply) + b"\0\0\0")],
    "in pieces": lambda body, reply, frame: drip(frame(reply), 0.01 * TIMEOUT),
}


class Wrong(DisplaysTest):
    def lines(self, behaviours, make):
        """For each behaviour a line with unit 1, which behaves so, and unit 2, which behaves well."""
        fakes, displays = {}, {}
        for i, (why, behave) in enumerate(behaviours.items()):
            fake, line = make(i, lambda body, reply, frame, wrong=behave:
                              (wrong if body[0] == 1 else rightly)(body, reply, frame))
            fakes[why] = fake
            displays[f"bad-{i}"] = {"to": line, "unit": 1, **KEYS}
            displays[f"good-{i}"] = {"to": line, "unit": 2, **KEYS}
        return fakes, self.drive(displays)

    def tcp(self, i, behave):
        fake = self.slave(FakeTcp(behave, (1, 2)))
        return fake, fake.line

    def rtu(self, i, behave):
        wire = self.wire(f"bus{i}")
        return self.slave(FakeRtu(wire, behave, (1, 2))), wire.line

    def check(self, behaviours, make):
        fakes, drive = self.lines(behaviours, make)
        for step in range(20):
            drive.set(AMOUNT + step)
            time.sleep(0.1)
        drive.set(AMOUNT)
        self.eventually(lambda: all(state.cents == AMOUNT and state.writes >= 5
                                    for state in drive.states().values() if "good" in state.id),
                        lambda: drive.states())
        states = drive.states()
        for i, (why, fake) in enumerate(fakes.items()):
            with self.subTest(why):
                bad, good = states[f"bad-{i}"], states[f"good-{i}"]
                self.believed_nothing(bad, fake)
                if why not in DISTURBING:
                    self.assertEqual(good.errors, 0, good)
                self.assertEqual(fake.registers[2][:2], [AMOUNT >> 16, AMOUNT & 0xFFFF])
        return {why: states[f"bad-{i}"].last_error for i, why in enumerate(fakes)}

    def believed_nothing(self, state, fake):
        self.assertTrue([body for body in fake.requests if body[0] == 1], "it was never asked")
        self.assertEqual((state.writes, state.cents, state.connected), (0, None, False), state)
        self.assertGreaterEqual(state.errors, 2, state)
        self.assertTrue(state.last_error)

    def test_tcp(self):
        said = self.check(TCP, self.tcp)
        self.assertEqual(said["busy"], "exception 6: Slave device or server is busy")
        self.assertEqual(said["exception 255"], "exception 255")
        self.assertEqual(said["silent"], "no reply in time")
        self.assertEqual(said["another unit"], "a reply of another unit")

    def test_rtu(self):
        said = self.check(RTU, self.rtu)
        self.assertEqual(said["busy"], "exception 6: Slave device or server is busy")
        self.assertEqual(said["another unit"], "a reply of another unit")
        self.assertEqual(said["wrong checksum"], "Invalid CRC")

    def test_unusual_but_valid_replies_are_accepted(self):
        """Negative control: the same checks fail for a correct slave."""
        for make in (self.tcp, lambda i, behave: self.rtu(50 + i, behave)):
            fakes, drive = self.lines(RIGHT_ALL_THE_SAME, make)
            drive.set(AMOUNT)
            self.eventually(lambda: all(state.cents == AMOUNT and state.writes >= 5
                                        for state in drive.states().values()),
                            lambda: drive.states())
            for i, (why, fake) in enumerate(fakes.items()):
                self.assertEqual(fake.registers[1][:2], [AMOUNT >> 16, AMOUNT & 0xFFFF], why)
                self.assertEqual(drive.state(f"bad-{i}").errors, 0, why)
                with self.assertRaises(AssertionError):
                    self.believed_nothing(drive.state(f"bad-{i}"), fake)
            drive.stop()

    def test_a_reply_with_another_register_value_is_rejected(self):
        """The reply to function 6 repeats the value, which libmodbus does not look at."""
        wrong = self.slave(FakeTcp(lambda body, reply, frame: [(0, frame(changed(reply, 5)))]))
        right = self.slave(FakeTcp(rightly))
        keys = {**KEYS, "unit": 1, "format": "ascii_dollars", "digits": 6, "function": 6}
        drive = self.drive({"wrong": {"to": wrong.line, **keys}, "right": {"to": right.line, **keys}})
        drive.set(AMOUNT)
        self.eventually(lambda: drive.state("right").cents == AMOUNT)
        self.eventually(lambda: drive.state("wrong").errors >= 2)
        self.believed_nothing(drive.state("wrong"), wrong)
        self.assertEqual(bytes(right.registers[1][:6]), b" 50000")
        # Only the register that marks the amount as invalid was written.
        self.assertEqual(set(body[2:] for body in wrong.requests), {struct.pack(">HH", 0, ord("-"))})

    def test_a_display_that_ignores_a_write_is_found_by_reading_back(self):
        """A display that confirms a write and ignores it is detected by reading it back."""
        read, unread, right = (self.slave(FakeTcp(rightly)) for _ in range(3))
        read.take = unread.take = False
        keys = {**KEYS, "unit": 1, "status_address": 9}
        drive = self.drive({"read": {"to": read.line, "read_back": True, **keys},
                            "right": {"to": right.line, "read_back": True, **keys},
                            "unread": {"to": unread.line, **keys}})
        drive.set(AMOUNT)
        self.eventually(lambda: drive.state("right").cents == AMOUNT)
        self.eventually(lambda: drive.state("read").errors >= 2)
        self.believed_nothing(drive.state("read"), read)
        self.assertEqual(drive.state("read").last_error, "it holds other values than were written")
        # Negative control: without reading back the write is accepted.
        self.eventually(lambda: drive.state("unread").cents == AMOUNT)
        # From now on it accepts writes, and the display is right.
        read.take = True
        self.eventually(lambda: drive.state("read").cents == AMOUNT, timeout=10)

    def test_a_display_that_recovers_has_everything_again(self):
        """After an error the display's contents are unknown, so all registers are written."""
        failing = []
        fake = self.slave(FakeTcp(lambda body, reply, frame: [] if failing else [(0, frame(reply))]))
        drive = self.drive({"one": {"to": fake.line, "unit": 1, "status_address": 9,
                                    **KEYS, "heartbeat_ms": 60000}})
        drive.set(AMOUNT)
        self.eventually(lambda: drive.state("one").cents == AMOUNT)
        failing.append(True)
        drive.set(AMOUNT + 1)
        self.eventually(lambda: drive.state("one").errors)
        fake.registers[1][:10] = [0] * 10  # it was switched off
        failing.clear()
        self.eventually(lambda: drive.state("one").cents == AMOUNT + 1)
        self.assertEqual(fake.registers[1][:2], [(AMOUNT + 1) >> 16, (AMOUNT + 1) & 0xFFFF])
        self.assertEqual(fake.registers[1][9], 1)

    def test_an_interrupted_update_by_single_registers_shows_a_fault(self):
        """If function 6 breaks off in the middle of an amount, the status shows a fault."""
        cut = []
        def behave(body, reply, frame):
            if cut and body[3] == 1 and body[1] == 6:
                return []
            return [(0, frame(reply))]
        fake = self.slave(FakeTcp(behave))
        drive = self.drive({"one": {"to": fake.line, "unit": 1, "status_address": 9, "function": 6,
                                    **KEYS}})
        drive.set(0x1FFFF)
        self.eventually(lambda: drive.state("one").cents == 0x1FFFF)
        self.assertEqual(fake.registers[1][9], 1)
        cut.append(True)
        fake.answer_before = fake.answer
        fake.answer = lambda body: None if cut and body[3] == 1 else fake.answer_before(body)
        drive.set(0x20000)
        self.eventually(lambda: drive.state("one").errors)
        self.assertEqual(fake.registers[1][:2], [2, 0xFFFF], "a mixture, as meant by this test")
        self.assertEqual(fake.registers[1][9], 1 | 8)
        cut.clear()
        self.eventually(lambda: drive.state("one").cents == 0x20000)
        self.assertEqual(fake.registers[1][:2] + fake.registers[1][9:10], [2, 0, 1])


if __name__ == "__main__":
    main()
