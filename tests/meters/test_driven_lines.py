"""Lines with several displays, silent displays, and lines that fail and recover."""

import os
import subprocess
import time

from displays import FAULT, OPEN, DisplaysTest, FakeTcp, RtuSlave, TcpSlave, free_port, main

AMOUNT = 5_000_000


def cents(registers, address=0):
    high, low = registers.at(address, 2)
    return high << 16 | low


class Turns(DisplaysTest):
    KEYS = {"format": "uint32_cents", "status_address": 9}

    def delays(self, drive, registers, seconds):
        """How long each new amount took to be in the registers."""
        found = []
        amount = AMOUNT
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            amount += 1
            begun = time.monotonic()
            drive.set(amount)
            self.eventually(lambda: cents(registers) == amount, lambda: drive.states())
            found.append(next(at for at, _, values in registers.log
                              if at >= begun and values == [amount >> 16, amount & 0xFFFF]) - begun)
        return found

    def check(self, slave, line):
        """Unit 2 does not exist. Unit 1 waits for it at most for the timeout, and not every time."""
        drive = self.drive({"here": {"to": line, "unit": 1, **self.KEYS},
                            "silent": {"to": line, "unit": 2, "timeout_ms": 300, **self.KEYS}})
        drive.set(AMOUNT)
        self.eventually(lambda: drive.state("here").cents == AMOUNT, lambda: drive.states())
        delays = self.delays(drive, slave.registers[1], 3.0)
        print([round(1000 * each) for each in sorted(delays)[-5:]], "of", len(delays))
        self.assertLess(max(delays), 0.3 + 0.2)
        self.assertLess(sorted(delays)[len(delays) // 2], 0.15)
        states = drive.states()
        self.assertEqual(states["here"].errors, 0, states)
        self.assertFalse(states["silent"].connected)
        self.assertEqual(states["silent"].writes, 0)
        self.assertIn(states["silent"].errors, range(2, 6), "its rests grow")
        # A fault is written to the display that answers; the silent one delays nothing.
        self.assertLess(drive.stop(), 1000)
        self.assertEqual(slave.registers[1].at(9), [OPEN | FAULT])

    def test_rtu(self):
        wire = self.wire()
        self.check(self.slave(RtuSlave(wire.far)), wire.line)

    def test_gateway(self):
        slave = self.slave(TcpSlave())
        self.check(slave, slave.line)

    def test_control_a_longer_delay_is_detected(self):
        """Negative control: with a timeout beyond the bound, the bound is broken."""
        wire = self.wire()
        slave = self.slave(RtuSlave(wire.far))
        drive = self.drive({"here": {"to": wire.line, "unit": 1, **self.KEYS},
                            "silent": {"to": wire.line, "unit": 2, "timeout_ms": 1000, **self.KEYS}})
        drive.set(AMOUNT)
        self.assertGreater(max(self.delays(drive, slave.registers[1], 1.5)), 0.3 + 0.2)

    def test_a_silent_line_does_not_delay_other_lines(self):
        slave = self.slave(TcpSlave())
        hole = self.slave(FakeTcp(lambda *_: []))
        drive = self.drive({"here": {"to": slave.line, "unit": 1, **self.KEYS},
                            "hole": {"to": hole.line, "unit": 1, "timeout_ms": 2000},
                            "nobody": {"to": f"tcp://127.0.0.1:{free_port()}", "unit": 1}})
        delays = self.delays(drive, slave.registers[1], 1.0)
        self.assertLess(max(delays), 0.3)
        self.assertIn("Connection refused", drive.state("nobody").last_error)

    def test_stopping_while_all_are_silent(self):
        hole = self.slave(FakeTcp(lambda *_: []))
        wire = self.wire()
        drive = self.drive({
            **{f"tcp{i}": {"to": hole.line, "unit": i} for i in range(1, 9)},
            **{f"rtu{i}": {"to": wire.line, "unit": i} for i in range(1, 9)},
            "dead": {"to": "tcp://192.0.2.1:502", "unit": 1},
            "gone": {"to": f"rtu://{self.folder}/nothing", "unit": 1}})
        self.eventually(lambda: drive.state("tcp2").errors, lambda: drive.states())
        self.assertLess(drive.stop(), 1000)


class Again(DisplaysTest):
    """Displays and lines recover without a restart."""

    def check_back(self, drive, name, registers, amount):
        drive.set(amount)
        self.eventually(lambda: drive.state(name).cents == amount, lambda: drive.states(), 15)
        self.assertEqual(cents(registers), amount)

    def test_tcp_slave_down_and_back(self):
        slave = self.slave(TcpSlave())
        drive = self.drive({"one": {"to": slave.line, "unit": 1, "format": "uint32_cents",
                                    "heartbeat_ms": 100}})
        self.check_back(drive, "one", slave.registers[1], AMOUNT)
        slave.stop()
        self.eventually(lambda: not drive.state("one").connected)
        drive.set(AMOUNT + 1)
        time.sleep(0.5)
        state = drive.state("one")
        self.assertEqual((state.cents, state.connected), (AMOUNT, False))
        again = self.slave(TcpSlave(port=slave.port))
        self.check_back(drive, "one", again.registers[1], AMOUNT + 1)
        self.assertTrue(drive.state("one").connected)

    def test_tcp_slave_that_closes_between_requests(self):
        """Many displays close idle connections; that is no error."""
        closing = self.slave(FakeTcp(lambda body, reply, frame: [(0, frame(reply)), (0, None)]))
        drive = self.drive({"one": {"to": closing.line, "unit": 1, "heartbeat_ms": 100}})
        self.eventually(lambda: drive.state("one").writes >= 5)
        self.assertEqual(drive.state("one").errors, 0)
        self.assertGreaterEqual(closing.connections, 5)

    def test_adapter_unplugged_and_plugged_in(self):
        wire = self.wire()
        slave = self.slave(RtuSlave(wire.far))
        drive = self.drive({"one": {"to": wire.line, "unit": 1, "format": "uint32_cents",
                                    "heartbeat_ms": 100}})
        self.check_back(drive, "one", slave.registers[1], AMOUNT)
        for round_ in range(1, 3):
            wire.unplug()
            self.eventually(lambda: not drive.state("one").connected)
            self.eventually(lambda: "cannot open" in drive.state("one").last_error,
                            lambda: drive.states())
            slave.stop()
            # The device is closed, so that the system can use its name again.
            held = os.listdir(f"/proc/{drive.process.pid}/fd")
            self.assertFalse([each for each in held if "pts" in
                              os.readlink(f"/proc/{drive.process.pid}/fd/{each}")])
            wire.plug()
            slave = self.slave(RtuSlave(wire.far))
            self.check_back(drive, "one", slave.registers[1], AMOUNT + round_)

    def test_a_device_that_appears_later_is_driven(self):
        wire = self.wire()
        wire.unplug()
        drive = self.drive({"one": {"to": wire.line, "unit": 1, "format": "uint32_cents"}})
        drive.set(AMOUNT)
        self.eventually(lambda: "No such file" in drive.state("one").last_error)
        wire.plug()
        slave = self.slave(RtuSlave(wire.far))
        self.check_back(drive, "one", slave.registers[1], AMOUNT)

    def test_a_reload_changes_the_driven_displays(self):
        first, second, third = (self.slave(TcpSlave((1, 2))) for _ in range(3))
        keys = {"format": "uint32_cents", "status_address": 9}
        stays = {"to": first.line, "unit": 1, **keys}
        drive = self.drive({"stays": stays, "goes": {"to": second.line, "unit": 1, **keys}})
        drive.set(AMOUNT)
        self.eventually(lambda: all(state.cents == AMOUNT for state in drive.states().values()))
        log = len(first.registers[1].log)
        drive.command("drive " + drive.write_configuration(
            {"stays": stays, "comes": {"to": third.line, "unit": 2, **keys}}))
        self.eventually(lambda: drive.state("comes").cents == AMOUNT)
        self.assertEqual(set(drive.states()), {"stays", "comes"})
        self.assertEqual(second.registers[1].at(9), [OPEN | FAULT])
        self.assertFalse([entry for entry in first.registers[1].log[log:]
                          if entry[1] == 9 and entry[2] != [OPEN]], "it did not notice")


class Descriptors(DisplaysTest):
    def test_displays_are_driven_beside_more_than_1024_descriptors(self):
        """libmodbus takes no descriptor from 1024 on; lines have theirs from before the tables."""
        slave = self.slave(TcpSlave())
        wire = self.wire()
        serial = self.slave(RtuSlave(wire.far))
        closing = self.slave(FakeTcp(lambda body, reply, frame: [(0, frame(reply)), (0, None)]))
        keys = {"unit": 1, "format": "uint32_cents", "heartbeat_ms": 100}
        drive = self.drive({"tcp": {"to": slave.line, **keys}, "rtu": {"to": wire.line, **keys},
                            "closing": {"to": closing.line, **keys}}, descriptors=1100)
        drive.set(AMOUNT)
        self.eventually(lambda: all(state.cents == AMOUNT and state.writes > 5
                                    for state in drive.states().values()), lambda: drive.states())
        folder = f"/proc/{drive.process.pid}/fd"
        links = {int(each): os.readlink(f"{folder}/{each}") for each in os.listdir(folder)}
        self.assertGreater(max(links), 1024)
        lines = [number for number, link in links.items() if "socket" in link or "pts" in link]
        self.assertGreaterEqual(len(lines), 2)
        self.assertLess(max(lines), 1024)
        for registers in (slave.registers[1], serial.registers[1]):
            self.assertEqual(cents(registers), AMOUNT)

    def test_without_a_low_descriptor_no_line_is_driven(self):
        """Negative control: if all low descriptors are in use, that is reported, and none is overwritten."""
        drive = self.drive({"one": {"to": "tcp://127.0.0.1:1", "unit": 1}}, descriptors=1100,
                           first=True)
        self.assertEqual(drive.process.wait(timeout=10), 1)
        self.assertIn("no descriptor below 1024", drive.process.stderr.read())


class Names(DisplaysTest):
    def test_displays_are_reached_by_name_and_by_ipv6(self):
        slave = self.slave(TcpSlave())
        drive = self.drive({
            "name": {"to": f"tcp://localhost:{slave.port}", "unit": 1, "format": "uint32_cents"},
            "none": {"to": "tcp://nowhere.invalid:502", "unit": 1},
            "ipv6": {"to": "tcp://[::1]:1", "unit": 1}})
        drive.set(AMOUNT)
        self.eventually(lambda: drive.state("name").cents == AMOUNT, lambda: drive.states())
        self.eventually(lambda: drive.state("none").errors and drive.state("ipv6").errors)
        self.assertIn("nowhere.invalid", drive.state("none").last_error)
        self.assertIn("::1", drive.state("ipv6").last_error)

    def test_mbpoll_reads_the_written_amount(self):
        """A third implementation, over the same line as ours."""
        slave = self.slave(TcpSlave())
        drive = self.drive({"one": {"to": slave.line, "unit": 1}})
        drive.set(AMOUNT)
        self.eventually(lambda: drive.state("one").cents == AMOUNT)
        output = subprocess.run(["mbpoll", "-m", "tcp", "-p", str(slave.port), "-a", "1", "-t", "4",
                               "-0", "-r", "2", "-c", "4", "-1", "127.0.0.1"],
                              capture_output=True, text=True, timeout=10).stdout
        self.assertIn("[4]: \t76\n[5]: \t19264\n", output)


if __name__ == "__main__":
    main()
