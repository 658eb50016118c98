"""The vendors' example, built against the package as it is unpacked, plays a round against the
daemon of the other package."""

import os
import shutil
import tempfile
import unittest
from pathlib import Path

from packages import JACKPOTD, LINK, package
from support import site
from support.programs import must, run
from support.site import Site

SCRATCH = Path(tempfile.mkdtemp(prefix="jp-package"))
DAEMON, VENDOR = SCRATCH / "daemon", SCRATCH / "vendor"
for name, where in ((JACKPOTD, DAEMON), (LINK, VENDOR)):
    must("dpkg-deb", "-x", package(name), where)
# The site runs the programs of the package.
site.JACKPOTD = str(DAEMON / "usr/sbin/jackpotd")
site.JACKPOTCTL = str(DAEMON / "usr/bin/jackpotctl")
site.JACKPOT_AUDIT = str(DAEMON / "usr/bin/jackpot-audit")


def example(folder):
    shutil.copytree(VENDOR / "usr/share/doc/libjackpotlink-dev/examples/table", folder)
    return folder


def by_cmake(folder, root=VENDOR):
    """The program and the output; None for the program if the build failed."""
    source = example(folder)
    done = run("cmake", "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={root / 'usr'}",
               "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF")
    if done.returncode == 0:
        done = run("cmake", "--build", source / "build")
    return (source / "build" / "table" if done.returncode == 0 else None), done.stdout + done.stderr


def by_make(folder, root=VENDOR):
    found = next((root / "usr/lib").rglob("pkgconfig"), root)
    source = example(folder)
    done = run("make", "-C", source, env={**os.environ, "PKG_CONFIG_PATH": str(found)})
    return (source / "table" if done.returncode == 0 else None), done.stdout + done.stderr


class Example(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(shutil.rmtree, SCRATCH)
        cls.site = Site(tables=("BJ01", "BJ02"))
        cls.addClassCleanup(cls.site.close)
        cls.site.start()

    def play(self, program, table, pki=None):
        return run(program, "localhost", self.site.port, table, pki or self.site.pki,
                   SCRATCH / f"{table}.outbox", timeout=60)

    def check_round(self, program, table):
        wagers = len(self.site.records("round_opened"))
        done = self.play(program, table)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        opened, reported, *_ = done.stdout.splitlines()
        self.assertRegex(opened, r"^two wagers: acknowledged in record \d+")
        self.assertRegex(reported, r"^the result: acknowledged in record \d+")
        self.assertIn("pay seat 3 10000 cents (BJ 14.24)", done.stdout)
        records = self.site.records("round_opened")
        self.assertEqual(len(records), wagers + 1)
        self.assertEqual(records[-1]["command"]["table"], table)
        self.assertIn(f"record {records[-1]['seq']};", opened)

    def test_built_by_cmake_it_plays_rounds(self):
        program, output = by_cmake(SCRATCH / "cmake")
        self.assertIsNotNone(program, output)
        self.check_round(program, "BJ01")
        self.check_round(program, "BJ01")  # with the outbox of the first run

        # With another authority than the daemon's, nothing is acknowledged.
        other = SCRATCH / "pki"
        must(os.environ["JACKPOTCTL"], "pki", "init", "--dir", other)
        must(os.environ["JACKPOTCTL"], "pki", "issue", "table", "BJ01", "--dir", other)
        before = len(self.site.records())
        done = self.play(program, "BJ01", other)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertNotIn("acknowledged", done.stdout)
        self.assertEqual([each for each in self.site.records()[before:] if "from" in each], [])

    def test_built_with_pkg_config_it_plays_a_round(self):
        program, output = by_make(SCRATCH / "make")
        self.assertIsNotNone(program, output)
        self.check_round(program, "BJ02")
        self.site.verify()

    def test_the_example_builds_against_the_package_alone(self):
        for build, part in ((by_make, "result.h"), (by_cmake, "libjackpotlink.a")):
            root = SCRATCH / f"no-{part}"
            shutil.copytree(VENDOR, root)
            for file in root.rglob(part):
                file.unlink()
            program, output = build(SCRATCH / f"with-no-{part}", root)
            self.assertIsNone(program, f"it is built without {part}")
            self.assertIn(part, output)

    def test_the_schema_compiles(self):
        must("protoc", f"-I{VENDOR / 'usr/include/jackpotlink'}", f"--python_out={SCRATCH}", "link.proto")


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
