"""jackpot-audit: help, arguments, keys, and outputs that cannot be written."""

import os
import pty
import signal
import socket
import subprocess
import unittest

from audit_support import (AUDIT, NAME, AuditTest, FloorTest, audit, openssl, public_key,
                           verifier_key)

COMMANDS = ("verify", "export", "prove", "check-proof", "checkpoint", "show", "tail", "report",
            "witness", "keygen", "pubkey")
NOBODY = 65534


class Arguments(AuditTest):
    def test_help_is_printed_on_standard_output(self):
        for option in ("--help", "-h", "help"):
            text = self.good(audit(option))
            for command in COMMANDS:
                self.assertIn(command, text)

    def test_each_command_has_its_help(self):
        for command in COMMANDS:
            for option in ("--help", "-h"):
                text = self.good(audit(command, option))
                self.assertTrue(text.startswith(f"jackpot-audit {command} - "), text)
                for part in ("Usage:", "--help", "Exit status"):
                    self.assertIn(part, text)

    def test_help_is_printed_even_beside_mistakes(self):
        self.assertIn("Usage:", self.good(audit("export", "--gamble", "--help")))

    def test_version(self):
        self.assertRegex(self.good(audit("--version")),
                         r"\Ajackpot-audit [0-9]+\.[0-9]+\.[0-9]+\n\Z")

    def test_wrong_command_lines(self):
        for arguments, says in (
                ((), "--help"),
                (("gamble",), '"gamble"'),
                (("--gamble",), '"--gamble"'),
                (("verify",), "JOURNAL"),
                (("verify", "--gamble", "x"), "unknown option --gamble"),
                (("verify", "x"), "--key"),
                (("verify", "--key"), "--key takes a value"),
                (("verify", "--json=1", "x"), "--json takes no value"),
                (("verify", "--since", "a", "--since", "b", "x"), "given twice"),
                (("export", "x"), "--format"),
                (("export", "--format", "xml", "x"), "jsonl or csv"),
                (("export", "--format", "csv", "--pool", "", "x"), "--pool is empty"),
                (("export", "--format", "csv"), "JOURNAL"),
                (("export", "--format", "csv", "--from", "yesterday", "x"), '"yesterday"'),
                (("export", "--format", "csv", "--from", "2026-02-30", "x"), '"2026-02-30"'),
                (("export", "--format", "csv", "--from", "2026-05-01T25:00Z", "x"), "25:00"),
                (("export", "--format", "csv", "--from", "2026-05-02", "--to", "2026-05-01", "x"),
                 "not before"),
                (("prove", "1", "x"), "--out"),
                (("prove", "one", "--out", "p", "x"), '"one"'),
                (("prove", "-1", "--out", "p", "x"), "-1"),
                (("prove", "01", "--out", "p", "x"), '"01"'),
                (("check-proof", "x", "--key", "y"), "RECORD and PROOF"),
                (("check-proof", "x", "y"), "--key"),
                (("show", "1"), "SEQ and JOURNAL"),
                (("tail", "-n", "some", "x"), "-n"),
                (("tail", "-n", "1000001", "x"), "-n"),
                (("tail",), "JOURNAL"),
                (("tail", ""), "empty"),
                (("report", "wins"), "JOURNAL"),
                (("report", "losses", "x"), '"losses"'),
                (("report", "wins", "--last", "0", "x"), "--last"),
                (("report", "differences", "--last", "9", "x"), "--last is for wins"),
                (("report", "wins", "--format", "pdf", "x"), "text, csv or json"),
                (("report", "wins", "--month", "2026-13", "x"), '"2026-13"'),
                (("report", "wins", "--month", "2026-05", "--to", "0", "x"), "--month"),
                (("report", "wins", "--timezone-offset", "10", "x"), '"10"'),
                (("report", "wins", "--timezone-offset", "+15:00", "x"), '"+15:00"'),
                (("keygen",), "--out"),
                (("keygen", "x", "--out", "y"), "no argument"),
                (("pubkey", "x"), "--name"),
                (("pubkey", "--name", NAME), "one FILE")):
            with self.subTest(arguments=arguments):
                self.refused(audit(*arguments), 2, says, "--help")

    def test_a_file_that_is_no_journal_is_refused(self):
        (self.scratch / "text").write_text("hello")
        (self.scratch / "empty").write_text("")
        (self.scratch / "directory").mkdir()
        subprocess.run(["sqlite3", self.scratch / "other.db", "CREATE TABLE a(b)"], check=True)
        key = ("--key", verifier_key(NAME, bytes(32)))
        for name, says in (("missing", "no such file"), ("text", "journal"), ("empty", "journal"),
                           ("directory", "no journal in this directory"), ("other.db", "journal")):
            path = self.scratch / name
            for command in (("verify", *key, path), ("checkpoint", path), ("show", 0, path),
                            ("tail", path), ("report", "wins", path),
                            ("prove", 0, "--out", self.scratch / "p", path),
                            ("export", "--format", "csv", path)):
                with self.subTest(command=command):
                    self.refused(audit(*command), 2, str(path), says)
        self.only("text", "empty", "directory", "other.db")

    def test_names_are_escaped_for_the_terminal(self):
        message = self.refused(audit("checkpoint", "no\x1b[2Jsuch\u202efile"), 2)
        self.assertIn("no\\x1b[2Jsuch\\u202efile", message)


class Keys(AuditTest):
    def test_a_key_is_made(self):
        key = self.scratch / "key.pem"
        os.umask(os.umask(0o777))
        text = self.good(audit("keygen", "--name", NAME, "--out", key))
        self.assertEqual(key.stat().st_mode & 0o777, 0o600)
        self.assertEqual(text, verifier_key(NAME, public_key(key)) + "\n")
        self.assertTrue(key.read_text().startswith("-----BEGIN PRIVATE KEY-----\n"))
        self.assertEqual(self.good(audit("pubkey", "--name", NAME, key)), text)

    def test_each_new_key_is_different(self):
        texts = {self.good(audit("keygen", "--name", NAME, "--out", self.scratch / str(i)))
                 for i in range(3)}
        self.assertEqual(len(texts), 3)

    def test_the_default_name_contains_the_host_name(self):
        text = self.good(audit("keygen", "--out", self.scratch / "key"))
        self.assertTrue(text.startswith(f"jackpotd/{socket.gethostname()}+"), text)

    def test_a_key_is_never_overwritten(self):
        key = self.scratch / "key"
        key.write_text("precious")
        self.refused(audit("keygen", "--name", NAME, "--out", key), 2, str(key), "already exists")
        self.assertEqual(key.read_text(), "precious")
        key.unlink()
        key.symlink_to(self.scratch / "elsewhere")
        self.refused(audit("keygen", "--name", NAME, "--out", key), 2, str(key))
        self.only("key")

    def test_a_key_that_cannot_be_printed_is_not_left_behind(self):
        with open("/dev/full", "wb") as full:
            run = audit("keygen", "--name", NAME, "--out", self.scratch / "key", stdout=full)
        self.refused(run, 2, "standard output")
        self.only()

    def test_a_missing_directory_is_an_error(self):
        self.refused(audit("keygen", "--out", self.scratch / "no" / "key"), 2, "no/key")

    def test_bad_names_are_refused(self):
        for name in ("", "with space", "a+b", "a\nb", "\u00a0"):
            with self.subTest(name=name):
                self.refused(audit("keygen", "--name", name, "--out", self.scratch / "k"), 2,
                             "--name")
        self.only()

    def test_a_key_that_others_can_read_is_refused(self):
        key = self.write_key("key", "one")
        for mode in (0o640, 0o604, 0o660, 0o601, 0o644):
            key.chmod(mode)
            self.refused(audit("pubkey", "--name", NAME, key), 2, "chmod 600", str(key))
        key.chmod(0o400)
        self.good(audit("pubkey", "--name", NAME, key))

    def test_files_that_hold_no_key_are_refused(self):
        def written(name, content):
            path = self.scratch / name
            path.write_bytes(content)
            path.chmod(0o600)
            return path

        rsa = openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048").stdout
        encrypted = openssl("genpkey", "-algorithm", "ed25519", "-aes256", "-pass",
                            "pass:secret").stdout
        for path, says in ((written("text", b"hello"), "PEM"), (written("rsa", rsa), "Ed25519"),
                           (written("encrypted", encrypted), "encrypted"),
                           (written("large", b"x" * 5000), "larger"),
                           (self.scratch, "regular file"), (self.scratch / "none", "none")):
            with self.subTest(path=path):
                self.refused(audit("pubkey", "--name", NAME, path), 2, says)


class KeyOption(FloorTest):
    def test_the_forms_of_a_key(self):
        file = self.scratch / "keys"
        file.write_text(f"# the casino's keys\n\n  {self.next_vkey}\r\n{self.vkey}\n")
        one = self.scratch / "one"
        one.write_text(self.vkey)
        for keys in (("--key", self.vkey), (f"--key={self.vkey}",), ("--key", f"@{one}"),
                     ("--key", one), ("--key", f"@{file}"), ("--key", file),
                     ("--key", self.next_vkey, "--key", self.vkey)):
            with self.subTest(keys=keys):
                self.good(audit("verify", *keys, self.journal))
        for value in (self.vkey, f"@{one}", str(one), f" {self.vkey}\n"):
            with self.subTest(variable=value):
                self.good(audit("verify", self.journal, env={"JACKPOT_AUDIT_KEY": value}))

    def test_the_option_overrides_the_variable(self):
        run = audit("verify", "--key", self.next_vkey, self.journal,
                    env={"JACKPOT_AUDIT_KEY": self.vkey})
        self.fault(run, "not a key that you gave")

    def test_values_that_are_no_key_are_refused(self):
        (self.scratch / "empty").write_text("# nothing\n")
        (self.scratch / "text").write_text("hello\n")
        name, id_, key = self.vkey.split("+", 2)
        flipped = "0" if id_[0] != "0" else "1"
        for value, says in (("hello", "neither"), ("@nowhere", "nowhere"), ("@", "cannot"),
                            (self.scratch / "empty", "no verifier key"),
                            (self.scratch / "text", "verifier key"), (self.scratch, "cannot"),
                            (f"{name}+{flipped}{id_[1:]}+{key}", "id"),
                            (f"{name}x+{id_}+{key}", "id")):
            with self.subTest(value=value):
                self.refused(audit("verify", "--key", value, self.journal), 2, says)
        self.refused(audit("verify", self.journal, env={"JACKPOT_AUDIT_KEY": "hello"}), 2,
                     "JACKPOT_AUDIT_KEY", "hello")


class Output(FloorTest):
    def commands(self):
        return (("--help",), ("--version",), ("verify", "--help"),
                ("verify", "--key", self.vkey, self.journal),
                ("verify", "--json", "--key", self.vkey, self.journal),
                ("export", "--format", "jsonl", self.journal),
                ("export", "--format", "csv", self.journal), ("checkpoint", self.journal),
                ("show", 3, self.journal), ("show", "--json", 3, self.journal),
                ("tail", self.journal), ("tail", "-f", self.journal),
                ("report", "wins", self.journal), ("report", "reconciliation", self.journal),
                ("report", "differences", "--format", "json", self.journal))

    def test_a_full_device_as_standard_output_is_an_error(self):
        for command in self.commands():
            with self.subTest(command=command), open("/dev/full", "wb") as full:
                self.refused(audit(*command, stdout=full), 2, "standard output",
                             "No space left on device")

    def test_a_full_device_as_the_output_file_is_an_error(self):
        self.refused(audit("export", "--format", "csv", "--out", "/dev/full", self.journal), 2,
                     "/dev/full", "No space left")

    def test_a_closed_standard_output_is_an_error(self):
        for command in self.commands():
            if command[0] == "tail":
                continue  # tail -f ends with 0 if nobody reads its output
            with self.subTest(command=command):
                run = subprocess.run(["sh", "-c", 'exec "$0" "$@" >&-', AUDIT, *map(str, command)],
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
                self.refused(run, 2, "standard output")

    def test_a_closed_pipe_ends_the_program(self):
        for command in self.commands():
            with self.subTest(command=command):
                read, write = os.pipe()
                os.close(read)
                run = audit(*command, stdout=write)
                os.close(write)
                gone = 0 if command[:2] == ("tail", "-f") else -signal.SIGPIPE
                self.assertEqual((run.returncode, run.stderr), (gone, b""))

    def test_output_files_are_complete_or_absent(self):
        target = self.scratch / "out"
        target.write_text("precious")
        for command in (("export", "--format", "csv", "--out", target, self.journal),
                        ("verify", "--key", self.vkey, "--keep", target, self.journal)):
            self.refused(audit(*command), 2, str(target), "choose another name")
        self.assertEqual(target.read_text(), "precious")
        self.refused(audit("export", "--format", "csv", "--out", self.scratch / "no" / "out",
                           self.journal), 2, "no/out")
        self.only("out")

    def test_control_characters_stay_visible(self):
        seq = next(record["seq"] for record in self.records if record["kind"] == "round_voided")
        for command in (("show", seq, self.journal), ("tail", "-n", 100, self.journal)):
            text = self.good(audit(*command))
            self.assertIn("misdeal \\x1b[2J\\u202e gone", text)
            self.assertNotIn("\x1b", text)
            self.assertNotIn("\u202e", text)

    def on_terminal(self, *command, which):
        """What a command writes to a terminal that is its standard output or error."""
        ours, theirs = pty.openpty()
        run = subprocess.Popen([AUDIT, *map(str, command)], **{which: theirs},
                               **{"stderr" if which == "stdout" else "stdout": subprocess.PIPE})
        os.close(theirs)
        seen = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        os.close(ours)
        run.communicate(timeout=60)
        return run.returncode, seen.decode()

    def test_progress_is_shown_only_on_a_terminal(self):
        for command in (("verify", "--key", self.vkey, self.journal),):
            status, seen = self.on_terminal(*command, which="stderr")
            self.assertEqual(status, 0)
            self.assertIn("100 %", seen)
            self.assertIn("a second", seen)
            self.assertTrue(seen.endswith("\r\x1b[K"), seen)

    def test_an_export_to_a_terminal_is_refused(self):
        status, seen = self.on_terminal("export", "--format", "csv", self.journal, which="stdout")
        self.assertEqual((status, seen), (2, ""))

    def test_json_on_a_terminal_has_no_controls(self):
        seq = next(record["seq"] for record in self.records if record["kind"] == "round_voided")
        status, seen = self.on_terminal("show", "--json", seq, self.journal, which="stdout")
        self.assertEqual(status, 0)
        self.assertNotIn("\u202e", seen)
        self.assertIn("\\u202e", seen)


@unittest.skipUnless(os.geteuid() == 0, "needs root to become somebody else")
class Permissions(FloorTest):
    def test_a_journal_without_read_permission_is_an_error(self):
        self.home.chmod(0o755)
        self.journal.chmod(0o700)
        for command in (("checkpoint", self.journal), ("checkpoint", self.journal / "journal.db"),
                        ("verify", "--key", self.vkey, self.journal),
                        ("verify", "--key", self.vkey, self.journal / "journal.db")):
            with self.subTest(command=command):
                self.refused(audit(*command, user=NOBODY), 2, str(self.journal))
        self.journal.chmod(0o755)
        self.good(audit("verify", "--key", self.vkey, self.journal, user=NOBODY))


if __name__ == "__main__":
    unittest.main()
