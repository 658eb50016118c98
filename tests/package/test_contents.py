"""The files of the packages, their owners, the dependencies, and the findings of lintian."""

import gzip
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

from packages import JACKPOTD, LINK, changed, field, package
from support.programs import ROOT, must, run

PATHS = {
    JACKPOTD: """
        usr/sbin/jackpotd usr/bin/jackpotctl usr/bin/jackpot-audit usr/bin/floorsim
        usr/lib/systemd/system/jackpotd.service usr/lib/systemd/system/jackpotd-modbus.socket
        usr/lib/sysusers.d/jackpotd.conf usr/lib/tmpfiles.d/jackpotd.conf
        usr/share/man/man8/jackpotd.8.gz usr/share/man/man5/jackpotd.toml.5.gz
        usr/share/man/man1/jackpotctl.1.gz usr/share/man/man1/jackpot-audit.1.gz
        usr/share/man/man1/floorsim.1.gz usr/share/bash-completion/completions/jackpotctl
        usr/share/doc/jackpotd/copyright usr/share/doc/jackpotd/changelog.gz
        usr/share/doc/jackpotd/changelog.Debian.gz usr/share/doc/jackpotd/auditing.md
        usr/share/doc/jackpotd/journal-format.md usr/share/doc/jackpotd/modbus.md
        usr/share/doc/jackpotd/examples/jackpotd.toml
        usr/share/doc/jackpotd/examples/bj-14.27.2.json""",
    LINK: """
        usr/include/jackpotlink/linkproto/client/table_link.h
        usr/include/jackpotlink/linkproto/client/table_messages.h usr/include/jackpotlink/base/result.h
        usr/include/jackpotlink/link.proto usr/share/doc/libjackpotlink-dev/link.md
        usr/share/doc/libjackpotlink-dev/copyright
        usr/share/doc/libjackpotlink-dev/examples/table/table.cpp
        usr/share/doc/libjackpotlink-dev/examples/table/CMakeLists.txt
        usr/share/doc/libjackpotlink-dev/examples/table/Makefile""",
}


def listed(deb):
    """Mode, owner and path of each file in a package."""
    return [(words[0], words[1], words[5].removeprefix("./"))
            for words in (line.split(None, 5) for line in must("dpkg-deb", "-c", deb).splitlines())]


def oddities(deb):
    """Files that root does not own, that others can write, or that run with the owner's rights (setuid)."""
    return [entry for entry in listed(deb)
            if entry[1] != "root/root" or entry[0] not in ("drwxr-xr-x", "-rw-r--r--", "-rwxr-xr-x")]


def lintian(*debs):
    """The findings of lintian. package/ has the overrides and their reasons."""
    done = run("lintian", "--allow-root", "--tag-display-limit", "0", "--fail-on", "none", *debs)
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)
    return [line for line in done.stdout.splitlines() if re.match("[EWIPX]: ", line)]


class Contents(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def test_all_files_are_there_and_owned_by_root(self):
        for name, paths in PATHS.items():
            there = {path for _, _, path in listed(package(name))}
            self.assertEqual(set(paths.split()) - there, set())
            self.assertEqual(oddities(package(name)), [])
            # The package owns no configuration file, so that it never overwrites or removes one.
            self.assertEqual([path for path in there if path.startswith(("etc/", "var/"))], [])

    def test_files_that_root_does_not_own_are_detected(self):
        def lend(tree):
            (tree / "usr/sbin/jackpotd").chmod(0o4755)
            (tree / "usr/share/doc/jackpotd/copyright").chmod(0o666)

        odd = changed(package(JACKPOTD), self.folder, lend)
        self.assertEqual([path for _, _, path in oddities(odd)],
                         ["usr/sbin/jackpotd", "usr/share/doc/jackpotd/copyright"])

    def test_the_package_depends_on_the_libraries_it_uses(self):
        depends = field(package(JACKPOTD), "Depends")
        for library in ("libssl3", "libsqlite3-0", "libmodbus5", "libpoconetssl80", "libc6", "systemd"):
            self.assertRegex(depends, rf"(^|, ){re.escape(library)}( |,|$)")
        self.assertRegex(field(package(LINK), "Depends"), "libprotobuf-dev.*libssl-dev")

    def test_versions_agree(self):
        version = must(Path(os.environ["BIN"]) / "jackpotd", "--version").split()[1]
        for name in PATHS:
            self.assertEqual(field(package(name), "Version"), f"{version}-1")
            self.assertEqual(field(package(name), "Maintainer"),
                             "jackpotd engineers <engineering@jackpotd.example>")

    def test_the_changelog_is_that_of_the_project(self):
        must("dpkg-deb", "-x", package(JACKPOTD), self.folder)
        documents = self.folder / "usr/share/doc/jackpotd"
        log = gzip.decompress((documents / "changelog.Debian.gz").read_bytes()).decode()
        (self.folder / "changelog").write_text(log)
        newest = must("dpkg-parsechangelog", "-l", self.folder / "changelog", "-S", "Version").strip()
        self.assertEqual(newest, field(package(JACKPOTD), "Version"))
        words = " ".join(log.split())
        items = re.findall(r"(?ms)^- (.*?)(?=^- |^$|\Z)", (ROOT / "CHANGELOG.md").read_text())
        self.assertGreater(len(items), 10)
        for item in items:
            self.assertIn(" ".join(item.replace("`", "").split()), words)

    def test_releases_are_entries_of_the_changelog(self):
        def converted(text):
            (self.folder / "CHANGELOG.md").write_text(text)
            return run(sys.executable, ROOT / "package/changelog.py", "0.3.0-1", "A <a@b.example>",
                       self.folder / "CHANGELOG.md")

        log = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2027-01-02\n\n### Added\n\n- `Two`\n  lines.\n"
        self.assertEqual(converted(log).stdout, "jackpotd (0.2.0-1) unstable; urgency=medium\n\n  * Two lines.\n\n"
                         " -- A <a@b.example>  Sat, 02 Jan 2027 00:00:00 +0000\n\n")
        for wrong in ("[0.2.0]", "0.2.0 - 2027-01-02", "[0.2.0] - 2027-13-02"):
            self.assertNotEqual(converted(log.replace("[0.2.0] - 2027-01-02", wrong)).returncode, 0, wrong)

    def test_the_copyright_file_names_all_bundled_libraries(self):
        copyright_file = (ROOT / "package" / "copyright").read_text()
        sources = "".join(file.read_text() for file in (ROOT / "console/web/src").rglob("*.ts*"))
        bundled = set(re.findall(r'from "([a-z@][^"]*)"', sources))
        self.assertIn("preact", bundled)
        for name in bundled:
            self.assertIn(f"node_modules/{name.split('/')[0]}/", copyright_file)

    def test_lintian_reports_nothing(self):
        self.assertEqual(lintian(*map(package, PATHS)), [])
        for name in PATHS:
            overrides = (ROOT / "package" / f"{name}.lintian-overrides").read_text()
            for override in overrides.split("\n\n"):
                self.assertTrue(override.startswith("# "), "an override without its reason")

    def test_control_lintian_detects_a_planted_fault(self):
        def spoil(tree):
            (tree / "usr/share/doc" / LINK / "copyright").unlink()

        self.assertIn(f"E: {LINK}: no-copyright-file", lintian(changed(package(LINK), self.folder, spoil)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
