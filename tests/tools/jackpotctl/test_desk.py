"""jackpotctl at the desk, as people call it."""

import json
import os
import pty
import re
import subprocess
import tempfile
import time
import unittest

from support.desk_commands import CommandTest
from support.desk_site import ROLES
from support.programs import JACKPOTCTL, must, run
from support.site import main

# A correct command line for each command of the desk.
GOOD = """
claims --state held --pool B7 --table BJ01 --limit 5
claim BJ01 1
rulings B7
rule B7 --ruling 1 --reason x --yes
rule B7 --order BJ01/1+BJ02/4,BJ02/5 --token 0123456789ab --reason x --yes --json
pay BJ01 1 --seat 2 --paid 2.50 --how chips
withhold BJ01 1 --seat 2 --tier three_sevens --reason x
void BJ01 1 --reason x
void BJ01 1 --seat 2 --reason x
correct BJ01 1 --board 7H --hand 1=7H,7D --hand 2=7H7D
adjust B7 -12.50 --reason x
propose B7 --reason x minimum=25000 cap=none increment=0.2 simultaneity_window_ms=100
propose B7 --reason x bonus.royal_flush=1000 bonus.straight_flush=100.00
proposals --state open
proposal 5
approve 5 --yes
reject 5 --reason x
withdraw 5
lock
accept-restore --size 5 --root AAAA --reason x
pools
tables
suspend table BJ01 --reason x
resume pool B7 --reason x
notices --all
acknowledge 17.1
records --kind round_opened --from 2026-01-01
record 5
proof 5
report wins --format csv --last 3
""".strip().splitlines()

# Wrong command lines, each with its error message.
WRONG = """
claims now | no argument
claims --state | takes a value
claim BJ01 | TABLE and ROUND
claim BJ01 seventeen | ROUND takes a whole number
claim BJ01 -1 | ROUND takes a whole number
claim BJ01 99999999999999999999 | ROUND takes a whole number
rulings | one POOL
rule B7 --reason x --yes | either --ruling or --order
rule B7 --ruling 1 --order BJ01/1 --reason x --yes | either --ruling or --order
rule B7 --ruling 1 --yes | --reason is required
rule B7 --ruling 0 --reason x --yes | --ruling
rule B7 --ruling one --reason x --yes | --ruling
rule B7 --ruling 1 --reason x | add --yes
rule B7 --ruling 1 --reason x --json | add --yes
rule B7 --ruling 1 --reason x --yes --token 0123 | is not a token
rule B7 --ruling 1 --reason x --yes --token 0123456789AB | is not a token
rule B7 --order BJ01 --reason x --yes | is not an order
rule B7 --order BJ01/1, --reason x --yes | is not an order
rule B7 --order BJ01/1++BJ02/1 --reason x --yes | is not an order
rule B7 --order ,BJ01/1 --reason x --yes | is not an order
rule B7 --order /1 --reason x --yes | is not an order
rule B7 --order BJ01/ --reason x --yes | is not a round
rule B7 --order BJ01/1x --reason x --yes | is not a round
rule B7 --order BJ01/-1 --reason x --yes | is not a round
pay BJ01 1 --paid 2.50 --how chips | --seat is required
pay BJ01 1 --seat 2 --how chips | --paid is required
pay BJ01 1 --seat 2 --paid 2.50 | --how is required
pay BJ01 1 --seat two --paid 2.50 --how chips | --seat takes a whole number
pay BJ01 1 --seat 2 --paid $2.50 --how chips | is not an amount
pay BJ01 1 --seat 2 --paid 2,500.00 --how chips | is not an amount
pay BJ01 1 --seat 2 --paid 1e3 --how chips | is not an amount
pay BJ01 1 --seat 2 --paid 0.123456789 --how chips | is not an amount
pay BJ01 1 --seat 2 --paid 99999999999.00 --how chips | is not an amount
pay BJ01 1 --seat 2 --paid -1.00 --how chips | is negative
withhold BJ01 1 --seat 2 | --reason is required
void BJ01 1 | --reason is required
void BJ01 1 --seat 1.5 --reason x | --seat takes a whole number
correct BJ01 1 --hand 1=7H,7D | --board is required
correct BJ01 1 --board 7H | --hand is required
correct BJ01 1 --board 7X --hand 1=7H,7D | are not cards
correct BJ01 1 --board 7H --hand 1=7 | are not cards
correct BJ01 1 --board 7H --hand 7H,7D | is not a hand
correct BJ01 1 --board 7H --hand one=7H,7D | is not a seat
adjust B7 5 | --reason is required
adjust B7 lots --reason x | is not an amount
adjust B7 --reason x | POOL and AMOUNT
propose B7 --reason x | POOL and KEY=VALUE
propose B7 minimum=1 | --reason is required
propose B7 --reason x minimum | is not KEY=VALUE
propose B7 --reason x minimum= | is not KEY=VALUE
propose B7 --reason x minimum=none | is not an amount
propose B7 --reason x colour=red | no parameter
propose B7 --reason x increment=2 | increment
propose B7 --reason x minimum=1 minimum=2 | twice
propose B7 --reason x bonus=none bonus.royal_flush=1 | contradict
propose B7 --reason x simultaneity_window_ms=2s | milliseconds
proposal first | ID takes a whole number
approve 5 | add --yes
approve 5 --yes --sha256 0123 | 64 hex digits
reject 5 | --reason is required
suspend BJ01 --reason x | table or pool
suspend seat BJ01 --reason x | table or pool
suspend table BJ01 | --reason is required
resume pool B7 | --reason is required
acknowledge | one ID
record last | RECORD takes a whole number
proof 5 --json | remove --json
report losses | wins, reconciliation or differences
report wins --format pdf | txt, csv or json
report wins --format csv --json | contradict
""".strip().splitlines()


class CommandLines(unittest.TestCase):
    """Command lines without a desk: mistakes are found before a connection is made."""

    def ctl(self, words):
        nowhere = ["--desk", "https://localhost:1"]
        with tempfile.TemporaryDirectory() as home:
            return subprocess.run([JACKPOTCTL, words[0], *nowhere, *words[1:]],
                                  capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                  env={"HOME": home}, timeout=20)

    def test_wrong_command_lines_are_refused(self):
        for line in WRONG:
            words, _, expected = line.partition(" | ")
            done = self.ctl(words.split())
            self.assertEqual((done.returncode, done.stdout), (2, ""), line)
            self.assertIn(expected, done.stderr, line)
            self.assertIn(f"(see jackpotctl {words.split()[0]} --help)", done.stderr, line)

    def test_blank_reasons_are_refused(self):
        for reason in ("", "  "):
            done = self.ctl(["void", "BJ01", "1", "--reason", reason])
            self.assertIn("--reason is empty", done.stderr)

    def test_good_command_lines_reach_the_desk(self):
        for line in GOOD:
            done = self.ctl(line.split())
            self.assertEqual(done.returncode, 2, line)
            self.assertIn("no desk answers", done.stderr, line)


class Commands(CommandTest):
    def test_commands_without_a_session_are_rejected(self):
        for line in GOOD:
            done = self.ctl(*line.split(), *self.where)
            self.assertEqual((done.returncode, done.stdout), (3, ""), (line, done.stderr))
            self.assertIn("jackpotctl login", done.stderr, line)
        self.assertEqual({line.split()[0] for line in GOOD}, self.desk_commands())
        self.site.stop()

    def desk_commands(self):
        """The commands listed below the desk's headings, without those for one's own account."""
        listed = run(JACKPOTCTL, "--help").stdout.partition("The claims desk")[2]
        return (set(re.findall(r"(?m)^  jackpotctl ([a-z][a-z-]*)", listed))
                - {"login", "logout", "whoami", "users"})

    def test_the_first_administrator_and_a_colleague(self):
        self.add_root()
        again = self.ctl("users", "add", "root", "--role", "auditor", "--config", self.site.config,
                         typed="another password\n")
        self.assertEqual(again.returncode, 1)
        self.assertIn("never reused", again.stderr)
        self.assertEqual(self.ctl("whoami", *self.where).returncode, 3)
        self.assertEqual(self.login(password="not the password").returncode, 3)
        done = self.login()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("role: administrator", done.stdout)
        for secret in self.site.secrets:
            self.assertNotIn(secret, done.stdout + done.stderr)
        file = self.home / ".cache" / "jackpotctl" / "session"
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        self.assertEqual(file.parent.stat().st_mode & 0o777, 0o700)
        self.site.secret(json.loads(file.read_text())["token"])
        # The session file also stores the desk's address.
        self.assertEqual(json.loads(self.must("whoami", "--json"))["name"], "root")
        first, second = self.site.secret("ann's first one"), self.site.secret("ann's second one")
        self.must("users", "add", "ann", "--role", "auditor", typed=first + "\n")
        self.assertRegex(self.must("users", "list"), r"(?m)^ann +auditor +no +yes")
        people = json.loads(self.must("users", "list", "--json"))["people"]
        self.assertEqual([each["name"] for each in people], ["ann", "root"])
        anns = self.site.folder / "ann"
        done = self.login("ann", first, home=anns)
        self.assertIn("users password", done.stderr)
        refused = self.ctl("users", "list", home=anns)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("change the password", refused.stderr)
        self.must("users", "password", typed=f"{first}\n{second}\n", home=anns)
        refused = self.ctl("users", "list", home=anns)
        self.assertEqual((refused.returncode, "role" in refused.stderr), (1, True))
        self.must("users", "change", "ann", "--role", "inspector")
        self.assertEqual(self.ctl("whoami", home=anns).returncode, 3)
        self.must("users", "disable", "ann")
        self.assertEqual(self.login("ann", second, home=anns).returncode, 3)
        self.must("users", "change", "ann", "--enable", "--reset-password", typed=first + "\n")
        self.assertEqual(self.login("ann", first, home=anns).returncode, 0)
        self.assertEqual(self.ctl("users", "unlock", "nobody").returncode, 1)
        self.must("users", "unlock", "ann")
        self.must("logout")
        self.assertFalse(file.exists())
        self.assertEqual(self.ctl("whoami", *self.where).returncode, 3)
        self.site.stop()
        self.check_no_secrets()

    def test_the_owner_of_the_machine_manages_accounts_without_signing_in(self):
        self.add_root()
        config = ["--config", self.site.config]
        for each in range(5):
            self.login(password=f"not the password {each}")
        self.assertEqual(self.login().returncode, 4)
        self.assertIn("root", self.must("users", "unlock", "root", *config))
        time.sleep(2.1)  # the delay of the address stays
        self.assertEqual(self.login().returncode, 0)
        self.must("users", "change", "root", "--reset-password", *config,
                  typed=self.site.secret("another one!") + "\n")
        self.assertEqual(self.ctl("whoami").returncode, 3)
        time.sleep(1.1)
        self.assertEqual(self.login(password="another one!").returncode, 0)
        for wrong in (["users", "add", "x", *config], ["users", "add", *config],
                      ["users", "unlock", "x", "--role", "auditor", *config],
                      ["users", "drop", "x", *config], ["user", "unlock", "root", *config]):
            self.assertEqual(self.ctl(*wrong).returncode, 2, wrong)
        for typed in ("short\n", ""):
            self.assertNotEqual(self.ctl("users", "add", "bob", "--role", "auditor", *config,
                                         typed=typed).returncode, 0)
        self.assertEqual(self.ctl("users", "add", "Bob", "--role", "auditor", *config,
                                  typed="a good password\n").returncode, 1)
        self.assertEqual(self.ctl("users", "add", "bob", "--role", "dealer", *config,
                                  typed="a good password\n").returncode, 1)
        self.site.stop()
        self.assertEqual(self.ctl("users", "unlock", "root", *config).returncode, 2)

    def test_the_certificate_of_the_desk_is_checked(self):
        """A foreign certificate, a wrong name and a missing authority are all refused."""
        self.add_root()
        must(JACKPOTCTL, "pki", "init", "--dir", self.site.folder / "other")
        for desk, ca in ((self.url, self.site.folder / "other" / "ca.pem"), (self.url, None),
                         (self.url.replace("localhost", "127.0.0.2"), self.site.pki / "ca.pem"),
                         (self.url.replace("https", "http"), self.site.pki / "ca.pem"),
                         ("https://localhost:1", self.site.pki / "ca.pem")):
            where = ["--desk", desk] + (["--ca", str(ca)] if ca else [])
            done = self.ctl("login", "--name", "root", *where,
                            typed=self.site.password("root") + "\n")
            self.assertEqual(done.returncode, 2, (desk, ca, done.stderr))
        self.assertEqual(self.site.records("person_signed_in"), [])
        for desk in (self.url, self.url.replace("localhost", "127.0.0.1")):
            self.where[1] = desk
            self.assertEqual(self.login().returncode, 0)
        # A token is sent to no other desk.
        self.assertEqual(self.ctl("whoami", "--desk", self.url, *self.where[2:]).returncode, 3)
        self.assertEqual(self.ctl("whoami").returncode, 0)
        self.site.stop()

    def test_the_address_of_the_desk(self):
        self.add_root()
        typed = self.site.password("root") + "\n"
        variables = {"JACKPOT_DESK": self.url, "JACKPOT_DESK_CA": str(self.site.pki / "ca.pem")}
        self.must("login", "--name", "root", typed=typed, **variables)
        self.must("whoami")
        other = self.site.folder / "runtime"
        other.mkdir()
        self.must("login", "--name", "root", typed=typed, XDG_RUNTIME_DIR=str(other), **variables)
        self.assertTrue((other / "jackpotctl" / "session").exists())
        nowhere = self.ctl("whoami", home=self.site.folder / "empty")
        self.assertEqual(nowhere.returncode, 2)
        self.assertIn("JACKPOT_DESK", nowhere.stderr)
        self.site.stop()

    def test_a_password_is_not_echoed(self):
        self.add_root()
        leader, follower = pty.openpty()
        shown = b""
        process = subprocess.Popen([JACKPOTCTL, "login", "--name", "root", *self.where],
                                   stdin=follower, stdout=follower, stderr=follower,
                                   env={"HOME": str(self.home)}, close_fds=True)
        os.close(follower)
        while b"Password" not in shown:
            shown += os.read(leader, 1024)
        os.write(leader, self.site.password("root").encode() + b"\n")
        try:
            while piece := os.read(leader, 1024):
                shown += piece
        except OSError:
            pass
        self.assertEqual(process.wait(20), 0, shown)
        os.close(leader)
        self.assertIn(b"administrator", shown)
        self.assertNotIn(self.site.password("root").encode(), shown)
        self.site.stop()

    def test_completion_knows_every_command(self):
        script = run(JACKPOTCTL, "completion", "bash").stdout
        listed = set(re.findall(r"(?m)^  jackpotctl ([a-z][a-z-]*)", run(JACKPOTCTL, "--help").stdout))
        self.assertGreater(len(listed), 10)

        def complete(*words):
            done = run("bash", "-c", script + f"\nCOMP_WORDS=(jackpotctl {' '.join(words)})\n"
                       f"COMP_CWORD={len(words)}\n_jackpotctl\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"")
            self.assertEqual(done.returncode, 0, done.stderr)
            return set(done.stdout.split())

        self.assertEqual(complete("''") - {"--help", "--version"}, listed)
        self.assertEqual(complete("us"), {"users"})
        self.assertEqual(complete("rul"), {"rule", "rulings"})
        self.assertEqual(complete("suspend", "''"), {"table", "pool"})
        self.assertEqual(complete("report", "di"), {"differences"})
        self.assertEqual(complete("report", "wins", "--format", "''"), {"txt", "csv", "json"})
        self.assertIn("held", complete("claims", "--state", "''"))
        self.assertEqual(complete("proposals", "--state", "re"), {"refused", "rejected"})
        self.assertEqual(complete("rule", "B7", "--r"), {"--ruling", "--reason"})
        self.assertEqual(complete("users", "un"), {"unlock"})
        self.assertEqual(complete("users", "add", "x", "--role", "''"), set(ROLES))
        self.assertIn("--desk", complete("whoami", "--d"))
        for command in listed:
            done = run(JACKPOTCTL, command, "--help")
            self.assertEqual((done.returncode, bool(done.stdout)), (0, True), command)
        self.assertEqual(run(JACKPOTCTL, "completion", "fish").returncode, 2)
        self.site.stop()


if __name__ == "__main__":
    main()
