"""jackpotctl at the desk of a site: each person has their own home directory and session."""

import json
import os
import pty
import subprocess

from support.desk_site import DeskTest
from support.programs import JACKPOTCTL


class CommandTest(DeskTest):
    def setUp(self):
        super().setUp()
        self.home = self.site.folder / "home"
        self.home.mkdir()
        self.printed = []  # all that jackpotctl has printed
        self.site.start()
        self.url = f"https://localhost:{self.site.desk_port}"
        self.where = ["--desk", self.url, "--ca", str(self.site.pki / "ca.pem")]

    def ctl(self, *arguments, typed="", home=None, **env):
        plain = {key: value for key, value in os.environ.items()
                 if key not in ("XDG_RUNTIME_DIR", "JACKPOT_DESK", "JACKPOT_DESK_CA")}
        done = subprocess.run([JACKPOTCTL, *map(str, arguments)], input=typed, text=True,
                              capture_output=True, timeout=60,
                              env={**plain, "HOME": str(home or self.home), **env})
        self.printed.append(done.stdout + done.stderr)
        return done

    def must(self, *arguments, **options):
        done = self.ctl(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def add_root(self):
        self.must("users", "add", "root", "--role", "administrator", "--config", self.site.config,
                  typed=self.site.password("root") + "\n")

    def login(self, name="root", password=None, **options):
        return self.ctl("login", "--name", name, *self.where,
                        typed=self.site.password(name, password) + "\n", **options)

    # ---- people, by name

    def arrive(self, name, role):
        self.site.add(name, role)
        done = self.login(name, home=self.site.folder / name)
        self.assertEqual(done.returncode, 0, done.stderr)

    def by(self, name, *arguments):
        """The output of a command that the person runs and that succeeds."""
        return self.must(*arguments, home=self.site.folder / name)

    def json_by(self, name, *arguments):
        return json.loads(self.by(name, *arguments, "--json"))

    def refused(self, name, *arguments, status=1):
        """The error message of a command that the person runs and that is refused."""
        done = self.ctl(*arguments, home=self.site.folder / name)
        self.assertEqual((done.returncode, done.stdout if status == 2 else ""), (status, ""),
                         done.stdout + done.stderr)
        return done.stderr

    def on_terminal(self, name, answer, *arguments):
        """(exit status, output) of a command on a terminal, where the question gets this answer."""
        leader, follower = pty.openpty()
        process = subprocess.Popen([JACKPOTCTL, *map(str, arguments)], stdin=follower,
                                   stdout=follower, stderr=follower, close_fds=True,
                                   env={"HOME": str(self.site.folder / name)})
        os.close(follower)
        shown = b""
        try:
            while b"[y/N]" not in shown:
                shown += os.read(leader, 4096)
            os.write(leader, answer.encode() + b"\n")
            while piece := os.read(leader, 4096):
                shown += piece
        except OSError:
            pass
        status = process.wait(20)
        os.close(leader)
        self.printed.append(shown.decode())
        return status, shown.decode()
