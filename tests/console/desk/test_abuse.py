"""Slow, flooding, malformed and guessing clients. They do not delay other people or tables."""

import json
import random
import re
import time

from support.desk_site import DeskTest, raw_exchange, status_of
from support.programs import until
from support.site import main

HOST = b"Host: desk\r\n"


class Requests(DeskTest):
    desk = {"request_timeout_ms": 1000}

    def setUp(self):
        super().setUp()
        self.site.start()

    def exchange(self, data, **options):
        stream = self.site.connect(**options)
        try:
            return raw_exchange(stream, data)
        finally:
            stream.close()

    def test_rejections_are_json(self):
        json_type = b"Content-Type: application/json\r\n"
        for status, data in (
                (400, b"GARBAGE\r\n\r\n"), (400, b"\r\n\r\n"), (400, b"GET / HTTP/1.1\r\n\r\n"),
                (400, b"GET / HTTP/3\r\n" + HOST + b"\r\n"),
                (400, b"GET / HTTP/1.1\r\n" + HOST + b"a\x00b: c\r\n\r\n"),
                (400, b"GET /%zz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"),
                (404, b"GET /%2e%2e/etc/passwd HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"),
                (411, b"POST /api/v1/session HTTP/1.1\r\n" + HOST + b"\r\n"),
                (411, b"POST /api/v1/session HTTP/1.1\r\n" + HOST +
                 b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
                (413, b"POST /api/v1/session HTTP/1.1\r\n" + HOST + json_type +
                 b"Content-Length: 65537\r\n\r\n" + b"x" * 65537),
                (413, b"POST /api/v1/session HTTP/1.1\r\n" + HOST + json_type +
                 b"Content-Length: 1000000\r\n\r\n" + b"x" * 1000000),
                (415, b"POST /api/v1/session HTTP/1.1\r\n" + HOST + b"Content-Length: 2\r\n\r\n{}"),
                (431, b"GET / HTTP/1.1\r\n" + HOST + b"a: b\r\n" * 100 + b"\r\n"),
                (431, b"GET / HTTP/1.1\r\n" + HOST + b"a: " + b"b" * 20000 + b"\r\n\r\n"),
                (431, b"GET /" + b"a" * 100000)):
            answer = self.exchange(data)
            self.assertEqual(status_of(answer), status, (data[:60], answer))
            head, _, body = answer.partition(b"\r\n\r\n")
            self.assertTrue(json.loads(body)["error"]["message"])
            self.assertIn(b"nosniff", head)
        client = self.client()
        for body in ("", "[]", "{", '{"name":"a"}', '{"name":1,"password":2}', "[" * 60000,
                     '{"name":"a","password":"b","c":1}'):
            self.assertEqual(client.ask("POST", "/api/v1/session", body).status, 400, body[:40])
        self.assertEqual(client.ask("POST", "/api/v1/session", "{}" + " " * 65534).status, 400)
        self.assertEqual(self.site.stop(), 0)

    def test_pipelined_requests_and_kept_connections_are_answered(self):
        one = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"
        last = b"GET /healthz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
        self.assertEqual(self.exchange(one * 300 + last).count(b"HTTP/1.1 200 OK"), 301)
        missing = b"GET /nowhere HTTP/1.1\r\n" + HOST + b"\r\n"
        self.assertEqual(self.exchange(missing * 2000 + last).count(b"HTTP/1.1 404 "), 2000)
        stream = self.connect()
        body = b'{"name":"x","password":"y"}'
        stream.sendall(b"POST /api/v1/session HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\n"
                       b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body))
        self.assertEqual(status_of(stream.recv(4096)), 100)
        stream.sendall(body)
        self.assertEqual(status_of(stream.recv(4096)), 401)
        self.assertEqual(self.site.stop(), 0)

    def test_slow_clients_are_disconnected(self):
        """Bytes of a head, of a body, of a handshake; each within its own deadline."""
        for begin, drop in ((b"GET / HTTP/1.1\r\n", b"a"),
                            (b"POST /api/v1/session HTTP/1.1\r\n" + HOST +
                             b"Content-Type: application/json\r\nContent-Length: 60000\r\n\r\n",
                             b" ")):
            stream = self.connect()
            stream.sendall(begin)
            start = time.monotonic()
            stream.settimeout(0.1)
            answer = b""
            while time.monotonic() - start < 10:
                try:
                    stream.sendall(drop)
                    piece = stream.recv(4096)
                    answer += piece
                    if not piece:
                        break
                except TimeoutError:
                    pass
                except OSError:
                    break
            self.assertEqual(status_of(answer), 408, answer)
            self.assertLess(time.monotonic() - start, 3.5)
        import socket
        plain = socket.create_connection(("127.0.0.1", self.site.desk_port), 10)
        start = time.monotonic()
        try:
            plain.sendall(b"\x16\x03\x01\x02\x00\x01")
            while time.monotonic() - start < 10:
                plain.settimeout(0.2)
                try:
                    if not plain.recv(1):
                        break
                except TimeoutError:
                    plain.sendall(b"\x00")
        except OSError:
            pass
        self.assertTrue(4 < time.monotonic() - start < 7)
        plain.close()
        self.assertGreaterEqual(self.site.status()["desk_too_slow"], 3)
        # A connection that is closed between requests is no error, and a client may wait between requests.
        client = self.client()
        for _ in range(2):
            self.assertEqual(client.get("/healthz").status, 200)
            time.sleep(1.5)
        self.assertEqual(self.site.stop(), 0)

    def test_random_bytes_do_no_harm(self):
        random.seed(7)
        good = (b"POST /api/v1/session?bearer HTTP/1.1\r\n" + HOST +
                b"Content-Type: application/json\r\nContent-Length: 27\r\n\r\n"
                b'{"name":"x","password":"y"}')
        for _ in range(60):
            data = bytearray(good)
            for _ in range(random.randint(1, 6)):
                data[random.randrange(len(data))] = random.randrange(256)
            self.exchange(bytes(data) + b"\r\n\r\n", address=f"127.0.7.{random.randint(1, 250)}")
        self.assertEqual(self.client().get("/healthz").status, 200)
        self.assertEqual(self.site.stop(), 0)
        self.assertFalse([line for line in self.site.log if "fault" in line or "warning" in line])


class Limits(DeskTest):
    desk = {"max_connections": 12, "max_connections_per_address": 5, "max_feeds": 3}

    def test_connections_and_feeds_are_limited(self):
        self.site.start()
        self.site.add("root", "administrator")
        idle = [self.connect(address="127.0.3.1") for _ in range(5)]
        with self.assertRaises(OSError):
            self.connect(address="127.0.3.1")
        # New connections are accepted, and idle ones are closed.
        more = [self.connect(address=f"127.0.4.{each}") for each in range(1, 13)]
        self.assertEqual(self.site.status()["desk_connections"], 12)
        self.assertEqual(self.client(address="127.0.5.1").get("/healthz").status, 200)
        for each in idle + more:
            each.close()
        until(lambda: self.site.status()["desk_connections"] < 2)
        root = self.signed_in("root", how="bearer")
        root.close()
        request = (f"GET /api/v1/feed HTTP/1.1\r\nHost: d\r\nAuthorization: Bearer {root.token}"
                   "\r\n\r\n").encode()
        statuses = []
        for _ in range(4):
            stream = self.connect()
            stream.sendall(request)
            statuses.append(status_of(stream.recv(4096)))
        self.assertEqual(statuses, [200, 200, 200, 429])
        self.assertEqual(self.site.status()["desk_feeds"], 3)
        self.assertEqual(self.site.stop(), 0)


class Feeds(DeskTest):
    desk = {"session_idle_minutes": 1}

    def test_a_feed_reports_events_and_ends_with_its_session(self):
        self.site.start()
        self.site.add("root", "administrator")
        root = self.signed_in("root")
        stream = self.connect()
        stream.sendall(f"GET /api/v1/feed HTTP/1.1\r\nHost: d\r\nCookie: __Host-jackpot={root.token}"
                       "\r\n\r\n".encode())
        start = time.monotonic()
        self.assertTrue(until(lambda: self.site.status()["desk_feeds"] == 1))
        raw = self.raw()
        self.play(raw, "BJ01", 1, 1, 1)
        text = b""
        stream.settimeout(1)
        while time.monotonic() - start < 90:
            try:
                piece = stream.recv(65536)
                text += piece
                if not piece:
                    break
            except TimeoutError:
                root.get("/api/v1/pools", headers={"X-Background-Request": "1"})  # as a page does
        took = time.monotonic() - start
        self.assertTrue(58 < took < 64, took)  # it does not count as a person's action
        events = re.findall("event: (.*)\ndata: (.*)\n", text.decode())
        self.assertGreaterEqual([name for name, _ in events].count("alive"), 4)
        pools = [json.loads(data) for name, data in events if name == "pool"]
        self.assertIn(("B7", 5000235), [(each["pool"], each["displayed_cents"]) for each in pools])
        changes = [json.loads(data) for name, data in events if name == "changed"]
        self.assertGreaterEqual(changes[-1]["records"], raw.receipt.size)
        self.assertEqual(root.get("/api/v1/session").status, 401)
        self.assertEqual(self.site.stop(), 0)


if __name__ == "__main__":
    main()
