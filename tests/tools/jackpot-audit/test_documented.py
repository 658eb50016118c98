"""docs/auditing.md: each example is run, and must print the output on the page."""

import os
import re
import subprocess
import unittest
from pathlib import Path

from audit_support import AUDIT, FloorTest, audit
from support.programs import ROOT
from test_basics import COMMANDS

PAGE = ROOT / "docs" / "auditing.md"


def replayed(page, directory, program):
    """The page, with the present output of the commands in its console blocks."""
    programs = Path(directory) / ".programs"
    programs.mkdir(exist_ok=True)
    (programs / "jackpot-audit").unlink(missing_ok=True)
    (programs / "jackpot-audit").symlink_to(Path(program).resolve())
    environment = dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}", LC_ALL="C.UTF-8")
    environment.pop("JACKPOT_AUDIT_KEY", None)

    def run(block):
        lines = []
        for line in block[2].splitlines():
            if not line.startswith("$ "):
                continue
            done = subprocess.run(["bash", "-c", line[2:]], cwd=directory, env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
            lines += [line, done.stdout.decode().replace("\r\n", "\n").rstrip("\n")]
        return block[1] + "\n".join(line for line in lines if line != "") + "\n" + block[3]

    return re.sub(r"(?ms)(^```console\n)(.*?)(^```$)", run, page)


class Documented(FloorTest):
    def test_the_examples_of_the_page_work(self):
        (self.home / "star.vkey").write_text(self.vkey + "\n")
        page = PAGE.read_text()
        self.maxDiff = None
        self.assertEqual(page.splitlines(), replayed(page, self.home, AUDIT).splitlines())

    def test_every_command_and_option_is_documented(self):
        page = PAGE.read_text()
        for command in COMMANDS:
            self.assertRegex(page, rf"(?m)^### .*\b{command}\b")
            for option in re.findall(r"--[a-z-]+", self.good(audit(command, "--help"))):
                self.assertIn(option, page, command)


if __name__ == "__main__":
    unittest.main()
