"""jackpotctl at the desk, as people call it."""

import json
import os
import pty
import re
import subprocess
import time

from desk_ctl import CommandTest
from desk_site import JACKPOTCTL, ROLES, main, run


class Commands(CommandTest):
    def test_the_first_administrator_and_a_colleague(self):
        self.add_root()
        again = self.ctl("user", "add", "root", "--role", "auditor", "--config", self.site.config,
                         typed="another password\n")
        self.assertEqual(again.returncode, 1)
        self.assertIn("never used again", again.stderr)
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
        # The desk is remembered with the session.
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

    def test_the_owner_of_the_machine(self):
        self.add_root()
        config = ["--config", self.site.config]
        for each in range(5):
            self.login(password=f"not the password {each}")
        self.assertEqual(self.login().returncode, 4)
        self.assertIn("root", self.must("user", "unlock", "root", *config))
        time.sleep(2.1)  # the address waits all the same
        self.assertEqual(self.login().returncode, 0)
        self.must("user", "password", "root", *config, typed=self.site.secret("another one!") + "\n")
        self.assertEqual(self.ctl("whoami").returncode, 3)
        time.sleep(1.1)
        self.assertEqual(self.login(password="another one!").returncode, 0)
        for wrong in (["user", "add", "x", *config], ["user", "add", *config],
                      ["user", "unlock", "x", "--role", "auditor", *config],
                      ["user", "drop", "x", *config]):
            self.assertEqual(self.ctl(*wrong).returncode, 2, wrong)
        for typed in ("short\n", ""):
            self.assertNotEqual(self.ctl("user", "add", "bob", "--role", "auditor", *config,
                                         typed=typed).returncode, 0)
        self.assertEqual(self.ctl("user", "add", "Bob", "--role", "auditor", *config,
                                  typed="a good password\n").returncode, 1)
        self.assertEqual(self.ctl("user", "add", "bob", "--role", "dealer", *config,
                                  typed="a good password\n").returncode, 1)
        self.site.stop()
        self.assertEqual(self.ctl("user", "unlock", "root", *config).returncode, 2)

    def test_the_desk_is_who_it_says(self):
        """Another's certificate, another's name and no authority are all refused."""
        self.add_root()
        from floor import must
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
        # A token is shown to no other desk.
        self.assertEqual(self.ctl("whoami", "--desk", self.url, *self.where[2:]).returncode, 3)
        self.assertEqual(self.ctl("whoami").returncode, 0)
        self.site.stop()

    def test_where_the_desk_is(self):
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
        self.assertEqual(complete("us"), {"user", "users"})
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
