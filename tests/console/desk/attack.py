"""attack.py PORT CA TOKEN FEEDS SECONDS: all attacks at once, against a desk. Prints its counts as JSON.
A separate process with the lowest priority, so that only the desk is measured."""

import asyncio
import json
import os
import ssl
import sys
import time

PORT, CA, TOKEN, FEEDS, SECONDS = int(sys.argv[1]), sys.argv[2], sys.argv[3], *map(int, sys.argv[4:])
END = time.monotonic() + SECONDS
CONTEXT = ssl.create_default_context(cafile=CA)
counts = {"feeds": 0, "events": 0, "silent": 0, "drips": 0, "guesses": 0, "hashed": 0, "junk": 0}


async def connect(address="127.0.0.1"):
    return await asyncio.open_connection("127.0.0.1", PORT, ssl=CONTEXT, server_hostname="localhost",
                                         local_addr=(address, 0))


async def feed():
    reader, writer = await connect()
    writer.write(f"GET /api/v1/feed HTTP/1.1\r\nHost: d\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
                 .encode())
    assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")
    counts["feeds"] += 1
    events = 0
    while time.monotonic() < END:
        try:
            events += (await asyncio.wait_for(reader.readuntil(b"\n\n"), 1)).startswith(b"event: ")
        except asyncio.TimeoutError:
            pass
    counts["events"] += events
    counts["silent"] += events == 0
    writer.close()


async def drip(address):
    while time.monotonic() < END:
        try:
            _, writer = await connect(address)
            counts["drips"] += 1
            writer.write(b"GET / HTTP/1.1\r\n")
            while time.monotonic() < END:
                writer.write(b"X")
                await writer.drain()
                await asyncio.sleep(0.3)
        except OSError:
            await asyncio.sleep(0.1)


async def guess(network):
    """Guesses from new addresses and for new names each time, so that only the hashing slows it down."""
    number = 0
    while time.monotonic() < END:
        number += 1
        body = json.dumps({"name": f"n{network}.{number}", "password": "a guess, no more"}).encode()
        try:
            reader, writer = await connect(f"127.{network}.{number // 250}.{number % 250 + 1}")
            for _ in range(10):
                writer.write(b"POST /api/v1/session HTTP/1.1\r\nHost: d\r\nContent-Type: "
                             b"application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(head.split(b"Content-Length: ")[1].split(b"\r")[0]))
                counts["guesses"] += 1
                counts["hashed"] += b" 401 " in head.split(b"\r\n")[0]
                await asyncio.sleep(0.02)
            writer.close()
        except (OSError, asyncio.IncompleteReadError, IndexError):
            await asyncio.sleep(0.1)


async def junk(address):
    pieces = (b"\x00" * 100, b"POST / HTTP/1.1\r\nHost: d\r\nContent-Length: 999999999\r\n\r\n",
              b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 5000, b"GET /" + b"a" * 20000, os.urandom(200))
    while time.monotonic() < END:
        for piece in pieces:
            try:
                _, writer = await connect(address)
                writer.write(piece)
                await writer.drain()
                writer.close()
                counts["junk"] += 1
            except OSError:
                pass
            await asyncio.sleep(0.1)


async def main():
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    work = [feed() for _ in range(FEEDS)]
    work += [drip(f"127.0.10.{each}") for each in range(1, 31)]
    work += [guess(each) for each in range(1, 9)]
    work += [junk(f"127.0.12.{each}") for each in range(1, 4)]
    await asyncio.gather(*work)
    print(json.dumps(counts))


asyncio.run(main())
