"""Checkpoints on other machines: the daemon's [witness], and jackpot-audit witness."""

import base64
import http.client
import re
import socket
import sqlite3
import ssl
import subprocess
import threading
import time
from contextlib import closing

from support.backup_site import BackupTest
from support.link_client import pb
from support.programs import JACKPOT_AUDIT, JACKPOTCTL, must, run, until
from support.site import main, toml

LINE_FORM = re.compile(r"^\S+Z \d+ \S+$")


class WitnessTest(BackupTest):
    def setUp(self):
        super().setUp()
        self.store = self.site.folder / "store"
        self.process = None
        self.addCleanup(self.end_witness)

    def start_witness(self, port=0, *options):
        self.process = subprocess.Popen(
            [JACKPOT_AUDIT, "witness", "--listen", f"127.0.0.1:{port}", "--key",
             self.site.verifier, "--store", str(self.store), "--cert",
             str(self.site.pki / "server" / "jackpotd.pem"), "--tls-key",
             str(self.site.pki / "server" / "jackpotd.key"), *options],
            stderr=subprocess.PIPE, text=True)
        self.witness_log = []
        reader = threading.Thread(target=lambda pipe, log: log.extend(iter(pipe.readline, "")),
                                  args=(self.process.stderr, self.witness_log), daemon=True)
        reader.start()
        line = until(lambda: next((each for each in self.witness_log if "listening" in each), None), 20)
        self.assertTrue(line, self.witness_log)
        self.port = int(line.rpartition(":")[2])

    def end_witness(self):
        if self.process is None:
            return None
        self.process.terminate()
        status = self.process.wait(20)
        self.process = None
        return status

    def push_to(self, url, **more):
        options = {"url": url, "ca": "pki/ca.pem", "every_s": 1, **more}
        self.write_witness(options)

    def write_witness(self, options):
        self.site.write_config()
        with self.site.config.open("a") as file:
            file.write("\n[witness]\n" + "".join(f"{key} = {toml(value)}\n"
                                                 for key, value in options.items()))

    def post(self, body, path="/add-checkpoint", method="POST"):
        context = ssl.create_default_context(cafile=self.site.pki / "ca.pem")
        connection = http.client.HTTPSConnection("localhost", self.port, context=context,
                                                 timeout=20)
        connection.request(method, path, body.encode() if isinstance(body, str) else body)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, text

    def seen(self):
        return int(self.store.read_text().splitlines()[1]) if self.store.exists() else 0

    def evidence(self):
        file = self.site.folder / "store.evidence"
        return file.read_text() if file.exists() else ""


class Daemon(WitnessTest):
    def test_the_witness_file_gets_a_line_for_each_checkpoint(self):
        file = self.site.folder / "checkpoints"
        self.write_witness({"file": "checkpoints", "every_s": 1, "syslog": True})
        self.site.start()
        raw = self.raw()
        self.play(raw, "BJ01", 1, 1, 2)
        self.assertTrue(until(lambda: file.exists() and len(file.read_text().splitlines()) >= 2))
        self.play(raw, "BJ01", 5, 3, 1)
        size = raw.receipt.size
        self.assertTrue(until(lambda: int(file.read_text().split()[-2]) >= size))
        self.site.stop()
        lines = file.read_text().splitlines()
        self.assertTrue(all(LINE_FORM.match(line) for line in lines), lines)
        sizes = [int(line.split()[1]) for line in lines]
        self.assertEqual(sizes, sorted(set(sizes)))
        # The last one is a checkpoint that the journal has.
        kept = self.site.folder / "kept"
        kept.write_bytes(base64.b64decode(lines[-1].split()[2]))
        self.verify(self.site.journal, "--since", kept)

    def test_an_unreachable_witness_raises_one_alarm_and_blocks_nothing(self):
        silent = socket.create_server(("127.0.0.1", 0))  # accepts connections, sends nothing
        self.addCleanup(silent.close)
        self.push_to(f"https://localhost:{silent.getsockname()[1]}", file="/dev/full")
        self.site.start()
        raw = self.raw()
        began = time.monotonic()
        self.play(raw, "BJ01", 1, 1, 50)
        took = time.monotonic() - began
        self.assertLess(took, 4.5, "the witness holds the tables up")
        self.assertEqual(len(until(lambda: self.site.alarms("witness") if
                                   len(self.site.alarms("witness")) > 1 else [], 20)), 2)
        time.sleep(2.5)
        details = [each["detail"] for each in self.site.alarms("witness")]
        self.assertEqual(len(details), 2, details)
        self.assertTrue(any("/dev/full" in each for each in details), details)
        began = time.monotonic()
        self.assertEqual(self.site.stop(), 0)
        self.assertLess(time.monotonic() - began, 10)

    def test_each_checkpoint_comes_with_a_proof_and_is_kept(self):
        self.start_witness()
        self.push_to(f"https://localhost:{self.port}")
        self.site.start()
        raw, number = self.raw(), 1
        for rounds in (1, 7, 150):  # within a block of 256 records, and across one
            number = self.play(raw, "BJ01", number, number, rounds)
            size = raw.receipt.size
            self.assertTrue(until(lambda: self.seen() >= size, 20), (self.seen(), size, self.witness_log))
        # A witness gets checkpoints again after it was stopped, and after the daemon was.
        port = self.port
        self.assertEqual(self.end_witness(), 0)
        number = self.play(raw, "BJ01", number, number, 3)
        self.assertTrue(until(lambda: self.site.alarms("witness"), 10))
        self.start_witness(port)
        size = raw.receipt.size
        self.assertTrue(until(lambda: self.seen() >= size, 20))
        self.site.stop()
        must(JACKPOTCTL, "journal", "archive", "--key", self.site.folder / "journal.key",
             self.site.journal)
        self.site.start()
        raw = self.raw()
        self.play(raw, "BJ01", number, number, 2)
        size = raw.receipt.size
        self.assertTrue(until(lambda: self.seen() >= size, 20), self.witness_log)
        self.site.stop()
        self.verify(self.site.journal, "--since", self.store)
        self.assertEqual((self.end_witness(), self.evidence()), (0, ""))

    def test_a_rollback_and_another_history_are_noticed(self):
        self.start_witness()
        self.push_to(f"https://localhost:{self.port}")
        self.site.start()
        raw = self.raw()
        number = self.play(raw, "BJ01", 1, 1, 2)
        old = self.backup("old")
        self.play(raw, "BJ01", number, 3, 3)
        size = raw.receipt.size
        self.assertTrue(until(lambda: self.seen() >= size, 20))
        self.site.stop()
        kept, sizes = self.store.read_text(), self.seen()
        self.lose_journal()
        self.restore(old, "--witness", self.store, status=1)
        self.restore(old)
        # No table has connected yet: only the witness can detect it.
        self.site.start()
        self.assertTrue(until(lambda: any("rolled back" in each for each in self.witness_log), 20),
                        self.witness_log)
        self.assertTrue(until(lambda: self.site.alarms("witness"), 10))
        self.assertIn("rolled back", self.site.alarms("witness")[0]["detail"])
        self.play(self.raw("BJ02"), "BJ02", 1, 1, 20)
        self.assertGreater(self.size(self.site.journal), sizes)
        self.assertTrue(until(lambda: any("another history" in each for each in self.witness_log), 20),
                        self.witness_log)
        self.site.stop()
        self.assertEqual(self.store.read_text(), kept)
        self.assertGreaterEqual(self.evidence().count(kept), 2)
        self.assertEqual(self.end_witness(), 1)

    def test_a_witness_with_an_untrusted_certificate_gets_nothing(self):
        self.start_witness()
        must(JACKPOTCTL, "pki", "init", "--dir", self.site.folder / "stranger")
        self.push_to(f"https://localhost:{self.port}", ca="stranger/ca.pem")
        self.site.start()
        self.assertTrue(until(lambda: self.site.alarms("witness"), 20))
        self.assertFalse(self.store.exists())
        self.site.stop()
        self.push_to(f"https://127.0.0.2:{self.port}")  # not a name of that certificate
        self.site.start()
        self.assertTrue(until(lambda: len(self.site.alarms("witness")) > 1, 20))
        self.assertFalse(self.store.exists())
        self.site.stop()
        self.push_to(f"https://localhost:{self.port}")
        self.site.start()
        self.assertTrue(until(self.store.exists, 20))
        self.site.stop()


class Server(WitnessTest):
    def checkpoints(self):
        """Of a journal with a fork: (the first, a longer one, another as long) as notes."""
        self.site.start()
        self.play(self.raw(), "BJ01", 1, 1, 1)
        first = self.backup("first")
        self.play(self.raw(), "BJ01", 3, 2, 2)
        self.site.stop()
        longer = self.checkpoint(self.site.journal)
        self.lose_journal()
        self.restore(first)
        self.site.start()
        raw = self.raw("BJ02")
        number, size = 1, int(longer.splitlines()[1])
        while self.size(self.site.journal) < size:
            raw.ask(number, resume=pb.Resume(reason=b"x", by=b"y"))
            number += 1
        self.site.stop()
        with closing(sqlite3.connect(self.site.journal / "journal.db")) as database:
            other = database.execute("SELECT note FROM checkpoint WHERE size = ?", (size,))
            return self.checkpoint(first), longer, other.fetchone()[0]

    def test_replies_of_the_witness(self):
        first, longer, other = self.checkpoints()
        small, large = (int(each.splitlines()[1]) for each in (first, longer))
        self.start_witness()
        for garbage in ("", "\n", "old\n\n", f"old x\n\n{first}", f"old 01\n\n{first}",
                        f"old -1\n\n{first}", "old 0\n" + "A" * 43 + "=\n" * 70 + "\n" + first,
                        f"old 0\nnot base64\n\n{first}", f"old 0\n{first}", "old 0\n\nnonsense",
                        f"old {2**64}\n\n{first}", "\0" * 1000, f"old {small + 1}\n\n{first}"):
            status, text = self.post(garbage)
            self.assertEqual(status, 400, (garbage, text))
        stranger = must(JACKPOT_AUDIT, "keygen", "--name", "test.example/floor", "--out",
                        self.site.folder / "other.key").strip()
        must(JACKPOTCTL, "journal", "create", "--key", self.site.folder / "other.key", "--name",
             "test.example/floor", self.site.folder / "theirs")
        foreign = must(JACKPOT_AUDIT, "checkpoint", "--key", stranger,
                       self.site.folder / "theirs")
        self.assertEqual(self.post(f"old 0\n\n{foreign}")[0], 403)
        self.assertEqual(self.post(f"old 0\n\n{first.replace(str(small), str(small + 1), 1)}")[0],
                         403)
        self.assertEqual(self.post(b"x" * 70000)[0], 413)
        self.assertEqual(self.post("", path="/")[0], 404)
        self.assertEqual(self.post("", method="GET")[0], 405)
        self.assertEqual((self.seen(), self.evidence()), (0, ""))

        self.assertEqual(self.post(f"old 1\n\n{first}"), (409, "0\n"))
        self.assertEqual(self.post(f"old 0\n\n{first}"), (200, ""))
        self.assertEqual(self.store.read_text(), first)
        self.assertEqual(self.post(f"old 0\n\n{longer}"), (409, f"{small}\n"))
        self.assertEqual(self.post(f"old {small}\n\n{first}"), (200, ""))
        self.assertEqual(self.evidence(), "")
        # Without a proof it keeps the old checkpoint and reports that.
        self.assertEqual(self.post(f"old {small}\n\n{longer}")[0], 422)
        self.assertEqual(self.store.read_text(), first)
        self.assertTrue(until(lambda: any("COMPLAINT" in each for each in self.witness_log)))
        self.assertIn(longer, self.evidence())
        self.assertEqual(self.end_witness(), 1)

        # A stored checkpoint is accepted again; two histories of one size are a fault.
        self.store.write_text(longer)
        self.start_witness()
        self.assertEqual(self.post(f"old {large}\n\n{longer}"), (200, ""))
        self.assertEqual(self.post(f"old {large}\n\n{other}"), (409, f"{large}\n"))
        self.assertIn("two histories of one size", self.evidence())
        self.assertEqual(self.post(f"old {small}\n\n{first}"), (409, f"{large}\n"))
        self.assertIn("rolled back", self.evidence())
        size = len(self.evidence())
        for _ in range(20):  # reported only once
            self.post(f"old {small}\n\n{first}")
        self.assertEqual(len(self.evidence()), size)
        self.assertEqual(self.store.read_text(), longer)
        self.assertEqual(self.end_witness(), 1)

    def test_the_witness_rejects_a_foreign_store_and_wrong_addresses(self):
        self.store.write_text("something else")
        done = run(JACKPOT_AUDIT, "witness", "--listen", "127.0.0.1:0", "--key",
                   self.site.verifier, "--store", self.store, "--cert",
                   self.site.pki / "server" / "jackpotd.pem", "--tls-key",
                   self.site.pki / "server" / "jackpotd.key")
        self.assertEqual(done.returncode, 2)
        self.assertIn("name another file", done.stderr)
        self.assertEqual(self.store.read_text(), "something else")
        for wrong in ([], ["--listen", "here"], ["--listen", "127.0.0.1:99999"]):
            done = run(JACKPOT_AUDIT, "witness", "--key", self.site.verifier, *wrong)
            self.assertEqual(done.returncode, 2, done.stderr)


if __name__ == "__main__":
    main()
