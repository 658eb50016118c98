"""Certificates as openssl reads them, and a directory to make them in, for the tests of jackpotctl pki."""

import json
import re
import shutil
import tempfile
import unittest
from datetime import datetime, timezone
from pathlib import Path

from support.programs import JACKPOTCTL, run

COMMANDS = ("init", "issue", "renew", "revoke", "crl", "list")
DAY = 24 * 60 * 60


def openssl(*arguments):
    return run("openssl", *arguments)


def moment(text):
    return datetime.strptime(text, "%b %d %H:%M:%S %Y %Z").replace(tzinfo=timezone.utc)


class Certificate:
    """A certificate as `openssl x509 -text` prints it."""

    def __init__(self, path):
        done = openssl("x509", "-in", path, "-noout", "-text")
        assert done.returncode == 0, done.stderr
        self.text = done.stdout
        self.serial = openssl("x509", "-in", path, "-noout", "-serial").stdout.strip()[7:].lower()
        self.not_before = moment(re.search(r"Not Before: (.*)", self.text)[1])
        self.not_after = moment(re.search(r"Not After : (.*)", self.text)[1])
        self.subject = re.search(r"Subject: (.*)", self.text)[1]

    def extension(self, name):
        """The value of the extension, and whether it is critical."""
        match = re.search(rf"{name}: ?(critical)?\n\s+(.*)", self.text)
        return (match[2].strip(), match[1] == "critical") if match else None


class PkiTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.directory = self.folder / "pki"

    def pki(self, *arguments, **options):
        return run(JACKPOTCTL, "pki", *arguments, cwd=self.folder, **options)

    def good(self, *arguments):
        done = self.pki(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def refused(self, *arguments, says=()):
        before = self.contents()
        done = self.pki(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertTrue(done.stderr.startswith("jackpotctl: "), done.stderr)
        for text in says:
            self.assertIn(text, done.stderr)
        self.assertEqual(self.contents(), before)
        return done.stderr

    def contents(self):
        return {str(path.relative_to(self.folder)): path.read_bytes()
                for path in self.folder.rglob("*") if path.is_file()}

    def certificate(self, name):
        return Certificate(self.directory / f"{name}.pem")

    def listed(self):
        done = self.pki("list", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def verify(self, path, *options):
        return openssl("verify", "-x509_strict", "-CAfile", self.directory / "ca.pem", *options,
                       self.directory / path)

    def verify_with_crl(self, path, *options):
        return self.verify(path, "-crl_check", "-CRLfile", self.directory / "crl.pem", *options)

    def assert_pair(self, name):
        """The key belongs to the certificate."""
        key = openssl("pkey", "-in", self.directory / f"{name}.key", "-pubout")
        certificate = openssl("x509", "-in", self.directory / f"{name}.pem", "-noout", "-pubkey")
        self.assertEqual(key.stdout, certificate.stdout)
        self.assertIn("BEGIN PUBLIC KEY", key.stdout)
