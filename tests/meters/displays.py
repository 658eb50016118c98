"""Displays as slaves: real ones of pymodbus, and fake ones that can be made to misbehave; and the
program that drives them."""

import asyncio
import logging
import os
import select
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import tty
import unittest
from pathlib import Path

from pymodbus.datastore import (ModbusSequentialDataBlock, ModbusServerContext,
                                ModbusSlaveContext)
from pymodbus.server.async_io import ModbusSerialServer, ModbusTcpServer
from support.programs import ROOT, free_port, until

DRIVE = os.environ["DRIVE"]
OPEN, PENDING, WON, FAULT, HELD, NO_JOURNAL = (1 << bit for bit in range(6))

SAMPLE = (ROOT / "config" / "jackpotd.toml").read_text()
SAMPLE = SAMPLE[:SAMPLE.index("[[meter]]")]
TABLES = {"B7": [f"BJ0{i}" for i in range(1, 8)], "UTH": [f"UTH0{i}" for i in range(1, 6)]}


def toml(value):
    return {True: "true", False: "false"}.get(value, value) if isinstance(value, bool) else (
        f'"{value}"' if isinstance(value, str) else str(value))


class State:
    def __init__(self, line):
        fields = line.split("\t")
        self.id = fields[0]
        self.connected = fields[1] == "1"
        self.writes = int(fields[2])
        self.errors = int(fields[3])
        self.cents = None if fields[4] == "-" else int(fields[4])
        self.status = int(fields[5])
        self.age_ms = None if fields[6] == "-" else int(fields[6])
        self.last_error = fields[7]

    def __repr__(self):
        return str(vars(self))


class Drive:
    """The program, with displays given as dictionaries of [meter.drive], all of pool B7 unless they
    say otherwise."""

    def __init__(self, folder, displays, descriptors=None, first=False):
        self.folder = Path(folder)
        arguments = [DRIVE, self.write_configuration(displays)]
        if descriptors:
            arguments.append(str(descriptors))
        if first:
            arguments.append("first")
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)

    def write_configuration(self, displays):
        text = SAMPLE + "".join(f'[[meter]]\nid = "all-{pool}"\nunit = {i + 1}\ntables = {tables}\n'
                                for i, (pool, tables) in enumerate(TABLES.items()))
        for name, keys in displays.items():
            # A pseudo terminal has no parity.
            keys = {"parity": "none"} | keys if keys["to"].startswith("rtu:") else dict(keys)
            table = TABLES[keys.pop("pool", "B7")][0]
            text += f'[[meter]]\nid = "{name}"\ntables = ["{table}"]\n[meter.drive]\n'
            text += "".join(f"{key} = {toml(value)}\n" for key, value in keys.items())
        file = self.folder / f"drive-{time.monotonic_ns()}.toml"
        file.write_text(text)
        return str(file)

    def command(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        output = []
        while True:
            got = self.process.stdout.readline()
            if not got:
                raise AssertionError("it ended: " + self.process.stderr.read())
            if got == ".\n":
                return output
            output.append(got.rstrip("\n"))

    def set(self, cents, *words, pool="B7"):
        self.command(" ".join(["set", pool, str(cents), *words]))

    def states(self):
        return {state.id: state for state in map(State, self.command("state"))}

    def state(self, name):
        return self.states()[name]

    def stop(self):
        """How long it reported stopping took, in milliseconds."""
        if self.process.stdin.closed:
            return None
        self.process.stdin.close()
        output = self.process.stdout.read()
        code = self.process.wait(timeout=30)
        errors = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        if code != 0:
            raise AssertionError(f"status {code}: {errors}")
        return int(output.split("stopped in ")[1].split()[0])

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()


class Registers(ModbusSequentialDataBlock):
    """What a display holds, and each write with its time."""

    def __init__(self):
        super().__init__(0, [0] * 1000)
        self.log = []  # (time, address, values)

    def setValues(self, address, values):
        super().setValues(address, values)
        if isinstance(values, list):
            self.log.append((time.monotonic(), address, list(values)))

    def at(self, address, count=1):
        return list(self.values[address:address + count])


class Slave:
    """A pymodbus server in its own thread. It does not answer for other units."""

    def __init__(self, make_server, units=(1,), registers=None):
        self.registers = registers or {unit: Registers() for unit in units}
        slaves = {unit: ModbusSlaveContext(hr=block, zero_mode=True)
                  for unit, block in self.registers.items()}
        self.context = ModbusServerContext(slaves=slaves, single=False)
        self.loop = asyncio.new_event_loop()
        self.ready = threading.Event()
        self.make_server = make_server
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        if not self.ready.wait(10):
            raise AssertionError("pymodbus does not start")

    def run(self):
        logging.getLogger("pymodbus").setLevel(logging.CRITICAL)
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self.serve())
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.run_until_complete(asyncio.sleep(0))
        self.loop.close()

    async def serve(self):
        self.stopping = asyncio.Event()
        server = await self.make_server(self.context)
        self.ready.set()
        await self.stopping.wait()
        if isinstance(server, ModbusTcpServer):
            server.server.close()
            for handler in list(server.active_connections.values()):
                handler.transport.abort()
        else:
            await server.shutdown()

    def stop(self):
        if self.thread.is_alive():
            self.loop.call_soon_threadsafe(self.stopping.set)
            self.thread.join(10)


class TcpSlave(Slave):
    def __init__(self, units=(1,), port=None, registers=None):
        self.port = port or free_port()
        super().__init__(self.make, units, registers)

    async def make(self, context):
        server = ModbusTcpServer(context, address=("127.0.0.1", self.port), allow_reuse_address=True,
                                 ignore_missing_slaves=True)
        self.task = asyncio.get_running_loop().create_task(server.serve_forever())
        while server.server is None or not server.server.is_serving():
            await asyncio.sleep(0.01)
        return server

    @property
    def line(self):
        return f"tcp://127.0.0.1:{self.port}"


class RtuSlave(Slave):
    def __init__(self, device, units=(1,), registers=None):
        self.device = str(device)
        super().__init__(self.make, units, registers)

    async def make(self, context):
        server = ModbusSerialServer(context, port=self.device, baudrate=19200, parity="N",
                                    ignore_missing_slaves=True, timeout=0)
        await server.start()
        return server


class Wire:
    """Two ends of a serial line, of socat."""

    def __init__(self, folder, name="bus"):
        self.near = Path(folder) / f"{name}-near"
        self.far = Path(folder) / f"{name}-far"
        self.plug()

    def plug(self):
        self.process = subprocess.Popen(
            ["socat", *(f"pty,raw,echo=0,link={end}" for end in (self.near, self.far))],
            stderr=subprocess.DEVNULL)
        if not until(lambda: self.near.exists() and self.far.exists()):
            raise AssertionError("socat makes no line")

    def unplug(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()
        for end in (self.near, self.far):
            end.unlink(missing_ok=True)

    @property
    def line(self):
        return f"rtu://{self.near}"


def crc(data):
    value = 0xFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (0xA001 if value & 1 else 0)
    return struct.pack("<H", value)


class Fake:
    """A fake slave. For each request `behave(body, reply)` gives the bytes to send: pairs of seconds
    to wait and bytes, where reply(body) makes a right frame; None closes the connection."""

    def __init__(self, units, behave):
        self.registers = {unit: [0] * 1000 for unit in units}
        self.behave = behave
        self.requests = []  # bodies: unit, function and so on
        self.running = True
        self.take = True  # what is written
        self.thread = threading.Thread(target=self.run, daemon=True)

    def stop(self):
        self.running = False
        self.thread.join(10)

    def answer(self, body):
        """The right reply to the request, or None of a unit that is not there."""
        self.requests.append(body)
        unit, function, address = struct.unpack(">BBH", body[:4])
        if unit not in self.registers:
            return None
        held = self.registers[unit]
        if function == 6:
            if self.take:
                held[address] = struct.unpack(">H", body[4:6])[0]
            return body
        count = struct.unpack(">H", body[4:6])[0]
        if function == 16:
            if self.take:
                held[address:address + count] = struct.unpack(f">{count}H", body[7:])
            return body[:6]
        return body[:2] + struct.pack(f">B{count}H", 2 * count, *held[address:address + count])


class FakeTcp(Fake):
    def __init__(self, behave, units=(1,)):
        super().__init__(units, behave)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.connections = 0
        self.thread.start()

    @property
    def line(self):
        return f"tcp://127.0.0.1:{self.port}"

    def run(self):
        self.listener.settimeout(0.05)
        while self.running:
            try:
                connection, _ = self.listener.accept()
            except TimeoutError:
                continue
            self.connections += 1
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()
        self.listener.close()

    def serve(self, connection):
        with connection:
            connection.settimeout(0.05)
            data = b""
            try:
                while self.running:
                    try:
                        got = connection.recv(1024)
                    except TimeoutError:
                        continue
                    if not got:
                        return
                    data += got
                    while len(data) >= 6 and len(data) >= 6 + (size := struct.unpack(">H", data[4:6])[0]):
                        header, body, data = data[:4], data[6:6 + size], data[6 + size:]
                        reply = self.answer(body)
                        if reply is None:
                            continue
                        frame = lambda body, head=header: head + struct.pack(">H", len(body)) + body
                        for wait, what in self.behave(body, reply, frame):
                            time.sleep(wait)
                            if what is None:
                                return
                            connection.sendall(what)
            except OSError:
                return


class FakeRtu(Fake):
    def __init__(self, wire, behave, units=(1,)):
        super().__init__(units, behave)
        self.device = os.open(wire.far, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self.device)
        self.thread.start()

    def run(self):
        data = b""
        try:
            while self.running:
                if not select.select([self.device], [], [], 0.05)[0]:
                    data = b""  # frames have no gaps of that length
                    continue
                data += os.read(self.device, 1024)
                while len(data) >= 8:
                    size = 9 + data[6] if data[1] == 16 else 8
                    if len(data) < size:
                        break
                    body, check, data = data[:size - 2], data[size - 2:size], data[size:]
                    if crc(body) != check:
                        continue
                    reply = self.answer(body)
                    if reply is None:
                        continue
                    for wait, what in self.behave(body, reply, lambda body: body + crc(body)):
                        time.sleep(wait)
                        os.write(self.device, what)
        except OSError:
            pass
        finally:
            os.close(self.device)


def rightly(body, reply, frame):
    return [(0, frame(reply))]


class DisplaysTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="jpm")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def drive(self, displays, **options):
        drive = Drive(self.folder, displays, **options)
        self.addCleanup(drive.kill)
        return drive

    def slave(self, slave):
        self.addCleanup(slave.stop)
        return slave

    def wire(self, name="bus"):
        wire = Wire(self.folder, name)
        self.addCleanup(wire.unplug)
        return wire

    def eventually(self, condition, why="", timeout=5.0):
        got = until(condition, timeout)
        self.assertTrue(got, why() if callable(why) else why)
        return got


def main():
    unittest.main(verbosity=2)


if __name__ == "__main__":
    sys.exit("this is for the tests")
