"""The connection is cut at every byte, in both directions; then the table reconnects and resends."""

import socket
import sys
import threading

from support import link_client
from support.site import SiteTest, hello, main, open_round, result


class Outward(SiteTest):
    def test_a_cut_at_every_byte_that_a_table_sends(self):
        self.site.start()
        cuts = commands = 0
        greeting = link_client.frame(hello())
        for at in range(len(greeting)):
            raw = self.raw(greet=False)
            raw.send_bytes(greeting[:at])
            raw.stream.unwrap() if at % 3 == 0 else raw.close()
            cuts += 1
        raw = self.raw()
        number = self.play(raw, "BJ01", 1, 1, 70)  # numbers of one length from here on
        each = 1
        for what in ("open_round", "report_result"):
            size = len(self.frame(raw, what, number, each))
            for at in range(size + 1):
                if what == "report_result":
                    self.decide(raw, "open_round", number, each)
                    number += 1
                data = self.frame(raw, what, number, each)
                self.assertEqual(len(data), size)
                raw.send_bytes(data[:at])
                raw.close()
                cuts += 1
                raw = self.raw()
                # Only a complete frame was a command, and then it counts once.
                if at < size:
                    self.assertEqual(raw.welcome.last_number, number - 1, f"{what} cut at {at}")
                decision = self.decide(raw, what, number, each)
                self.assertEqual(decision.again, raw.welcome.last_number == number)
                commands += 1
                number += 1
                if what == "open_round":
                    self.decide(raw, "report_result", number, each)
                    number += 1
                each += 1
        print(f"    {cuts} cuts, {commands} commands resent", file=sys.stderr)
        self.site.stop()
        self.check_books()

    def frame(self, raw, what, number, each):
        content = (open_round(10**6 + each, (1, 2), approved_by=b"sue") if what == "open_round"
                   else result(10**6 + each, ("9H",), {1: ("KS", "4D")}))
        return raw.command(number, **{what: content})

    def decide(self, raw, what, number, each):
        raw.send_bytes(self.frame(raw, what, number, each))
        decision = raw.answer(number)
        self.assertFalse(decision.HasField("refusal"))
        if what == "open_round":
            self.account.opened("BJ01", 10**6 + each, (1, 2))
        self.account.decided["BJ01", number] = decision.record
        return decision


class Proxy:
    """A proxy that forwards everything to the daemon and a number of bytes to the table; then it cuts."""

    def __init__(self, port):
        self.port = port
        self.passed = 0
        self.listener = socket.create_server(("127.0.0.1", 0))

    def serve_once(self, most):
        self.passed = 0

        def serve():
            table, _ = self.listener.accept()
            daemon = socket.create_connection(("127.0.0.1", self.port))
            for each in (table, daemon):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

            def outward():
                try:
                    while data := table.recv(65536):
                        daemon.sendall(data)
                    daemon.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

            threading.Thread(target=outward, daemon=True).start()
            try:
                while self.passed < most:
                    data = daemon.recv(min(65536, most - self.passed))
                    if not data:
                        break
                    table.sendall(data)
                    self.passed += len(data)
            except OSError:
                pass
            for each in (table, daemon):
                try:
                    each.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                each.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        return thread


class Inward(SiteTest):
    def test_a_cut_at_every_byte_that_a_table_receives(self):
        self.site.start()
        proxy = Proxy(self.site.port)
        self.addCleanup(proxy.listener.close)
        port = proxy.listener.getsockname()[1]
        table = self.table()

        def store(rounds, number, send):
            """The link may be cut after it is stored and before it is sent: it is stored then, too."""
            last = table.outbox.memory["last"]
            try:
                return send()
            finally:
                if table.outbox.memory["last"] > last:
                    rounds.append(number)

        def play(number):
            """A round as far as it gets; what is stored stays stored."""
            table.connect()
            greeted.append(proxy.passed)
            if number not in opened:
                table.wait(store(opened, number, lambda: table.open(number, [1, 2])))
            if number not in finished:
                table.wait(store(finished, number, lambda: table.result(number, ["9H"], {})))
            until_decided()

        def until_decided():
            while table.outbox.entries:
                table.step(1.0)

        opened, finished, greeted = [], [], []
        table.port = port
        thread = proxy.serve_once(10**9)
        play(1)
        table.disconnect()
        thread.join(5)
        whole = proxy.passed
        cut = resent = 0
        number = 2
        # The handshake is OpenSSL's own: there every 40th byte does.
        handshake = min(greeted) - 400
        for most in [*range(1, handshake, 40), *range(handshake, whole + 40)]:
            thread = proxy.serve_once(most)
            resent += len(table.outbox.entries)
            try:
                play(number)
                number += 1
                table.disconnect()
            except (link_client.LinkError, TimeoutError):
                cut += 1
            thread.join(5)
            self.assertIsNone(self.site.process.poll(), self.site.log[-5:])
        table.port = self.site.port
        table.connect()
        until_decided()
        # Commands whose answer was cut off. A decided command gets its answer however often it is sent.
        again = sum(each.again for each in table.decisions.values())
        print(f"    {cut} cuts within {whole} bytes, {number - 1} rounds, {resent} commands sent again, "
              f"{again} of them decided before", file=sys.stderr)
        self.assertGreater(cut, 500)
        self.assertGreater(resent, 50)
        self.assertGreater(again, 0)
        self.assertEqual(self.site.alarms(), [])
        self.assertEqual([each for each in self.site.records() if "refused" in each], [])
        table.close()
        self.site.stop()
        for each in opened:
            self.account.opened("BJ01", each, [1, 2])
        self.check_books()


if __name__ == "__main__":
    main()
