"""jackpotctl pki as its users call it; what it makes is verified with openssl and Python's TLS."""

import fcntl
import json
import os
import re
import resource
import shutil
import signal
import ssl
import stat
import subprocess
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path

from support.programs import JACKPOTCTL, ROOT, run

COMMANDS = ("init", "issue", "renew", "revoke", "crl", "list")
DAY = 24 * 60 * 60


def openssl(*arguments):
    return run("openssl", *arguments)


def moment(text):
    return datetime.strptime(text, "%b %d %H:%M:%S %Y %Z").replace(tzinfo=timezone.utc)


class Certificate:
    """What `openssl x509 -text` says."""

    def __init__(self, path):
        done = openssl("x509", "-in", path, "-noout", "-text")
        assert done.returncode == 0, done.stderr
        self.text = done.stdout
        self.serial = openssl("x509", "-in", path, "-noout", "-serial").stdout.strip()[7:].lower()
        self.not_before = moment(re.search(r"Not Before: (.*)", self.text)[1])
        self.not_after = moment(re.search(r"Not After : (.*)", self.text)[1])
        self.subject = re.search(r"Subject: (.*)", self.text)[1]

    def extension(self, name):
        """Its value, and whether it is critical."""
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


class Help(PkiTest):
    def test_help(self):
        for option in ("--help", "-h", "help"):
            text = self.good(option)
            for command in COMMANDS:
                self.assertIn(f"jackpotctl pki {command}", text)
        self.assertIn("jackpotctl pki COMMAND", run(JACKPOTCTL, "--help").stdout)

    def test_each_command_has_its_help(self):
        for command in COMMANDS:
            for arguments in ((command, "--help"), (command, "-h"), (command, "x", "--help")):
                text = self.good(*arguments)
                self.assertTrue(text.startswith(f"jackpotctl pki {command} - "), text)
                for part in ("Usage:", "--dir DIR", "--help", "Exit status"):
                    self.assertIn(part, text)

    def test_wrong_command_lines(self):
        self.good("init")
        for arguments in ((), ("gamble",), ("issue",), ("issue", "table"), ("issue", "BJ01"),
                          ("issue", "chair", "BJ01"), ("issue", "table", "BJ01", "BJ02"),
                          ("issue", "table", ""), ("issue", "table", "BJ01", "--gamble"),
                          ("issue", "table", "BJ01", "--days"),
                          ("issue", "table", "BJ01", "--days", "0"),
                          ("issue", "table", "BJ01", "--days", "-1"),
                          ("issue", "table", "BJ01", "--days", "3651"),
                          ("issue", "table", "BJ01", "--days", "many"),
                          ("issue", "table", "BJ01", "--dir", ""),
                          ("issue", "table", "BJ01", "--dir", "a", "--dir", "b"),
                          ("revoke",), ("revoke", "table", "BJ01", "--reason", "boredom"),
                          ("renew", "table"), ("list", "BJ01"), ("crl", "x"), ("init", "x"),
                          ("list", "--json=1")):
            with self.subTest(arguments):
                self.refused(*arguments, says=["jackpotctl pki"])

    def test_full_standard_output(self):
        self.good("init")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([JACKPOTCTL, "pki", "list"], stdout=full, cwd=self.folder,
                                  stderr=subprocess.PIPE, timeout=60)
        self.assertNotEqual(done.returncode, 0)


class Init(PkiTest):
    def test_the_authority(self):
        said = self.good("init")
        self.assertIn("Next: jackpotctl pki issue table BJ01", said)
        ca = self.certificate("ca")
        self.assertEqual(ca.extension("Basic Constraints"), ("CA:TRUE, pathlen:0", True))
        self.assertEqual(ca.extension("Key Usage"), ("Certificate Sign, CRL Sign", True))
        self.assertEqual(ca.extension("Subject Key Identifier")[0],
                         ca.extension("Authority Key Identifier")[0])
        self.assertIn("NIST CURVE: P-256", ca.text)
        self.assertIn("Signature Algorithm: ecdsa-with-SHA256", ca.text)
        self.assertEqual(ca.not_after - ca.not_before, timedelta(days=3650, minutes=5))
        self.assert_pair("ca")
        self.assertEqual(self.verify("ca.pem").returncode, 0)

    def test_the_server(self):
        self.good("init")
        server = self.certificate("server/jackpotd")
        self.assertEqual(server.subject, "CN = jackpotd")
        self.assertEqual(server.extension("Subject Alternative Name")[0],
                         "DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1")
        self.assertEqual(server.extension("Extended Key Usage")[0], "TLS Web Server Authentication")
        self.assertEqual(server.not_after - server.not_before, timedelta(days=397, minutes=5))
        done = self.verify_with_crl("server/jackpotd.pem", "-purpose", "sslserver",
                                    "-verify_hostname", "localhost")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_pair("server/jackpotd")

    def test_hosts_and_names(self):
        self.good("init", "--dir", "elsewhere", "--server", "main.floor", "--days", "10",
                  "--host", "jackpot.star.example", "--host=10.1.2.3", "--host", "fe80::1")
        server = Certificate(self.folder / "elsewhere" / "server" / "main.floor.pem")
        self.assertEqual(server.extension("Subject Alternative Name")[0],
                         "DNS:jackpot.star.example, IP Address:10.1.2.3, "
                         "IP Address:FE80:0:0:0:0:0:0:1")
        self.assertEqual(server.not_after - server.not_before, timedelta(days=10, minutes=5))
        self.good("issue", "table", "BJ01", "--dir", "elsewhere")

    def test_modes(self):
        old = os.umask(0)
        self.addCleanup(os.umask, old)
        self.good("init")
        self.good("issue", "table", "BJ01")
        for path in [self.directory, *self.directory.rglob("*")]:
            mode = stat.S_IMODE(path.stat().st_mode)
            if path.is_dir():
                self.assertEqual(mode, 0o700, path)
            elif path.suffix == ".pem":
                self.assertEqual(mode, 0o644, path)
            else:
                self.assertEqual(mode, 0o600, path)

    def test_a_strict_umask(self):
        old = os.umask(0o777)
        try:
            self.good("init")
        finally:
            os.umask(old)
        self.assertEqual(stat.S_IMODE((self.directory / "ca.key").stat().st_mode), 0o600)

    def test_nothing_is_overwritten(self):
        self.good("init")
        self.refused("init", says=["there is an authority already"])
        (self.folder / "mine").mkdir()
        (self.folder / "mine" / "file").write_text("precious")
        self.refused("init", "--dir", "mine", says=["not an empty directory"])
        (self.folder / "plain").write_text("precious")
        self.refused("init", "--dir", "plain")
        self.refused("init", "--dir", "no/such/parent", says=["cannot be created"])

    def test_an_empty_directory_will_do(self):
        self.directory.mkdir()
        self.good("init", "--dir", "pki/")
        self.assertEqual(len(self.listed()["certificates"]), 1)

    def test_a_failed_init_leaves_nothing(self):
        self.refused("init", "--host", "not a host", says=["--host"])
        self.refused("init", "--server", "../up", says=["is not a name"])
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_two_authorities_have_two_names(self):
        self.good("init")
        self.good("init", "--dir", "other")
        self.assertNotEqual(self.certificate("ca").subject,
                            Certificate(self.folder / "other" / "ca.pem").subject)
        self.assertNotEqual(openssl("verify", "-CAfile", self.folder / "other" / "ca.pem",
                                    self.directory / "server" / "jackpotd.pem").returncode, 0)


class Issue(PkiTest):
    def setUp(self):
        super().setUp()
        self.good("init")

    def test_a_table(self):
        said = self.good("issue", "table", "BJ01")
        self.assertIn("ca.pem to the table's controller", said)
        table = self.certificate("table/BJ01")
        self.assertEqual(table.subject, "CN = BJ01")
        self.assertEqual(table.extension("Subject Alternative Name")[0], "URI:jackpot:table:BJ01")
        self.assertEqual(table.extension("Extended Key Usage")[0], "TLS Web Client Authentication")
        self.assertEqual(table.extension("Basic Constraints"), ("CA:FALSE", True))
        self.assertEqual(table.extension("Key Usage"), ("Digital Signature", True))
        self.assertEqual(table.extension("Authority Key Identifier"),
                         self.certificate("ca").extension("Authority Key Identifier"))
        self.assertEqual(table.not_after - table.not_before, timedelta(days=730, minutes=5))
        now = datetime.now(timezone.utc)
        self.assertLess(abs(now - table.not_before - timedelta(minutes=5)), timedelta(minutes=1))
        self.assert_pair("table/BJ01")
        self.assertEqual(self.verify_with_crl("table/BJ01.pem", "-purpose", "sslclient").returncode, 0)
        self.assertNotEqual(self.verify("table/BJ01.pem", "-purpose", "sslserver").returncode, 0)

    def test_an_operator(self):
        self.good("issue", "operator", "ann.of-surveillance_2", "--days", "7")
        person = self.certificate("operator/ann.of-surveillance_2")
        self.assertEqual(person.subject, "CN = ann.of-surveillance_2")
        self.assertEqual(person.extension("Subject Alternative Name")[0],
                         "URI:jackpot:operator:ann.of-surveillance_2")
        self.assertEqual(person.extension("Extended Key Usage")[0], "TLS Web Client Authentication")
        self.assertEqual(person.not_after - person.not_before, timedelta(days=7, minutes=5))

    def test_a_second_server(self):
        self.good("issue", "server", "standby", "--host", "standby.example")
        self.assertEqual(self.certificate("server/standby").extension("Subject Alternative Name")[0],
                         "DNS:standby.example")

    def test_serials_are_random_and_large(self):
        for i in range(8):
            self.good("issue", "table", f"T{i}")
        serials = [each["serial"] for each in self.listed()["certificates"]]
        self.assertEqual(len(set(serials)), 9)
        self.assertTrue(all(re.fullmatch("[0-9a-f]{32}", serial) for serial in serials))
        self.assertEqual(self.certificate("table/T3").serial.zfill(32), serials[4])

    def test_strange_names(self):
        for name in ("", ".", "..", "../BJ01", "a/b", "-BJ", "_a", "B J", "BJ\n01", "BJ\u00e9",
                     "a" * 17, "BJ*", "BJ,O=x", "BJ/CN=x", "BJ\"", "$(id)", "BJ\x7f"):
            with self.subTest(name):
                self.refused("issue", "table", "--", name)
        self.good("issue", "table", "a" * 16)
        self.good("issue", "operator", "a" * 64)
        for name in ("a" * 65, "a b", "ann/ben", ".ann", "an\u00f1a"):
            self.refused("issue", "operator", "--", name, says=["is not a name"])

    def test_strange_hosts(self):
        for host in ("", "a b", "*.example", "http://a", "a:1", "1.2.3", "256.1.1.1", "a..b",
                     ".a", "a.", "-a", "a" * 254, "a\n", "::g"):
            with self.subTest(host):
                self.refused("issue", "server", "s", "--host", host)
        self.refused("issue", "table", "BJ01", "--host", "a.example", says=["--host is for servers"])

    def test_nothing_is_issued_twice(self):
        self.good("issue", "table", "BJ01")
        self.refused("issue", "table", "BJ01", says=["jackpotctl pki renew table BJ01"])
        self.good("issue", "operator", "BJ01")
        stray = self.directory / "table" / "BJ02.key"
        stray.write_text("precious")
        self.refused("issue", "table", "BJ02", says=["BJ02.key", "move it away"])

    def test_no_certificate_outlives_the_authority(self):
        self.refused("issue", "table", "BJ01", "--days", "3650", "--dir", "nowhere",
                     says=["there is no authority here"])
        # The authority has lost a few seconds of its ten years by now.
        subprocess.run(["sleep", "1.1"], check=True)
        self.refused("issue", "table", "BJ01", "--days", "3650", says=["outlive its authority"])

    def test_the_authority_can_be_damaged(self):
        key = self.directory / "ca.key"
        key.chmod(0o640)
        self.refused("issue", "table", "BJ01", says=["ca.key", "chmod 600"])
        key.chmod(0o600)
        whole = key.read_bytes()
        key.write_bytes(b"nonsense")
        self.refused("issue", "table", "BJ01", says=["not an unencrypted PEM key"])
        self.good("init", "--dir", "other")
        key.write_bytes((self.folder / "other" / "ca.key").read_bytes())
        self.refused("issue", "table", "BJ01", says=["does not belong to its certificate"])
        key.unlink()
        self.refused("issue", "table", "BJ01", says=["ca.key", "No such file"])
        self.refused("revoke", "server", "jackpotd", says=["ca.key"])
        self.good("list")
        key.write_bytes(whole)
        key.chmod(0o600)
        self.good("issue", "table", "BJ01")

    def test_a_damaged_index(self):
        index = self.directory / "index"
        whole = index.read_text()
        for text in ("", "x\n", whole + "x\n", whole[:-10], whole.replace("server", "waiter"),
                     whole.replace("- -", "- - -"), whole.replace("- -", "- superseded"),
                     whole.replace("jackpotd", "../../x"), whole + whole.splitlines()[0] + "\n"):
            with self.subTest(text):
                index.write_text(text)
                self.refused("list", says=["index", "backup"])
                self.refused("issue", "table", "BJ01", says=["index"])
        index.unlink()
        self.refused("list", says=["no authority here"])


class Revoke(PkiTest):
    def setUp(self):
        super().setUp()
        self.good("init")
        self.good("issue", "table", "BJ01")
        self.good("issue", "table", "BJ02")

    def crl(self):
        return openssl("crl", "-in", self.directory / "crl.pem", "-noout", "-text",
                       "-CAfile", self.directory / "ca.pem")

    def test_a_revoked_certificate_does_not_verify(self):
        self.assertEqual(self.verify_with_crl("table/BJ01.pem").returncode, 0)
        said = self.good("revoke", "table", "BJ01", "--reason", "key-compromise")
        self.assertIn("crl.pem", said)
        done = self.verify_with_crl("table/BJ01.pem")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("certificate revoked", done.stderr)
        for other in ("table/BJ02.pem", "server/jackpotd.pem"):
            self.assertEqual(self.verify_with_crl(other).returncode, 0)
        self.assertIn("Key Compromise", self.crl().stdout)
        entry = self.listed()["certificates"][1]
        self.assertEqual((entry["state"], entry["reason"]), ("revoked", "key-compromise"))
        self.refused("revoke", "table", "BJ01", says=["no valid certificate"])

    def test_the_list_of_revoked_certificates(self):
        text = self.crl().stdout
        self.assertIn("Version 2", text)
        self.assertIn("No Revoked Certificates", text)
        self.assertIn("verify OK", self.crl().stderr)
        last = moment(re.search(r"Last Update: (.*)", text)[1])
        following = moment(re.search(r"Next Update: (.*)", text)[1])
        self.assertEqual(following - last, timedelta(days=30, minutes=5))

        def number():
            return int(re.search(r"CRL Number: \n\s+(\d+)", self.crl().stdout)[1])
        before = number()
        self.good("crl")
        self.good("revoke", "table", "BJ02")
        self.good("issue", "table", "BJ03")
        self.assertEqual(number(), before + 3)
        self.assertNotIn("Reason", self.crl().stdout)

    def test_what_was_never_issued(self):
        self.refused("revoke", "table", "BJ09", says=["has not been issued"])
        self.refused("revoke", "operator", "BJ01", says=["has not been issued"])
        self.refused("renew", "table", "BJ09", says=["jackpotctl pki issue table BJ09"])
        self.refused("revoke", "table", "BJ01", "--serial", "00", says=["serial 00"])

    def test_every_certificate_of_a_name_is_revoked(self):
        self.good("renew", "table", "BJ01")
        self.good("revoke", "table", "BJ01")
        states = [each["state"] for each in self.listed()["certificates"] if each["name"] == "BJ01"]
        self.assertEqual(states, ["revoked", "revoked"])
        self.assertEqual(self.crl().stdout.count("Serial Number"), 2)

    def test_or_only_one(self):
        self.good("renew", "table", "BJ01")
        old = self.listed()["certificates"][1]["serial"]
        self.good("revoke", "table", "BJ01", "--serial", old)
        self.assertNotEqual(self.verify_with_crl(f"issued/{old}.pem").returncode, 0)
        self.assertEqual(self.verify_with_crl("table/BJ01.pem").returncode, 0)

    def test_a_damaged_list_is_not_followed_by_a_lower_number(self):
        (self.directory / "crl.pem").write_text("nonsense")
        self.refused("crl", says=["crl.pem", "move it away"])


class Renew(PkiTest):
    def setUp(self):
        super().setUp()
        self.good("init", "--host", "jackpot.example", "--host", "::1")
        self.good("issue", "table", "BJ01")
        self.old = self.certificate("table/BJ01")
        self.old_key = (self.directory / "table" / "BJ01.key").read_bytes()

    def test_a_new_key_while_the_old_certificate_stays_valid(self):
        self.good("renew", "table", "BJ01")
        new = self.certificate("table/BJ01")
        self.assertNotEqual(new.serial, self.old.serial)
        self.assertNotEqual((self.directory / "table" / "BJ01.key").read_bytes(), self.old_key)
        self.assert_pair("table/BJ01")
        self.assertEqual(self.verify_with_crl("table/BJ01.pem").returncode, 0)
        self.assertEqual(self.verify_with_crl(f"issued/{self.old.serial.zfill(32)}.pem").returncode, 0)

    def test_revoke_old(self):
        self.good("renew", "table", "BJ01", "--revoke-old", "--days", "90")
        self.assertEqual(self.verify_with_crl("table/BJ01.pem").returncode, 0)
        self.assertNotEqual(
            self.verify_with_crl(f"issued/{self.old.serial.zfill(32)}.pem").returncode, 0)
        self.assertEqual(self.listed()["certificates"][1]["reason"], "superseded")

    def test_a_revoked_name_can_be_renewed(self):
        self.good("revoke", "table", "BJ01")
        self.refused("issue", "table", "BJ01", says=["renew"])
        self.good("renew", "table", "BJ01")
        self.assertEqual(self.verify_with_crl("table/BJ01.pem").returncode, 0)

    def test_a_server_keeps_its_hosts(self):
        hosts = self.certificate("server/jackpotd").extension("Subject Alternative Name")
        self.good("renew", "server", "jackpotd")
        self.assertEqual(self.certificate("server/jackpotd").extension("Subject Alternative Name"),
                         hosts)
        self.good("renew", "server", "jackpotd", "--host", "new.example")
        self.assertEqual(
            self.certificate("server/jackpotd").extension("Subject Alternative Name")[0],
            "DNS:new.example")


class List(PkiTest):
    def setUp(self):
        super().setUp()
        self.good("init")

    def test_a_table_for_people(self):
        self.good("issue", "table", "BJ01")
        lines = self.good("list").splitlines()
        self.assertEqual(lines[0].split(), ["kind", "name", "expires", "serial", "state"])
        self.assertRegex(lines[2], r"^table     BJ01      \d{4}-\d\d-\d\d  [0-9a-f]{32}  valid$")
        self.assertIn("the revocation list", lines[-1])

    def test_what_expires_soon(self):
        self.good("issue", "table", "BJ01", "--days", "29")
        self.good("issue", "table", "BJ02", "--days", "31")
        self.good("issue", "table", "BJ03", "--days", "1")
        self.good("renew", "table", "BJ03")
        self.good("issue", "table", "BJ04", "--days", "1")
        self.good("revoke", "table", "BJ04")
        done = self.pki("list")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("table BJ01 expires on ", done.stderr)
        self.assertIn("jackpotctl pki renew table BJ01", done.stderr)

    def test_a_revocation_list_that_expires_soon(self):
        self.good("crl", "--days", "9")
        warning = self.pki("list").stderr
        self.assertIn("the revocation list expires on ", warning)
        self.assertIn("jackpotctl pki crl", warning)
        self.good("crl")
        self.good("list")

    def test_it_changes_nothing(self):
        before = self.contents()
        self.good("list")
        self.listed()
        self.assertEqual(self.contents(), before)

    def test_expiry(self):
        self.good("issue", "table", "BJ01", "--days", "1")
        now = int(datetime.now().timestamp())
        self.assertEqual(self.verify("table/BJ01.pem", "-attime", now + DAY - 60).returncode, 0)
        late = self.verify("table/BJ01.pem", "-attime", now + DAY + 60)
        self.assertIn("certificate has expired", late.stderr)
        early = self.verify("table/BJ01.pem", "-attime", now - 400)
        self.assertIn("not yet valid", early.stderr)
        stale = self.verify_with_crl("server/jackpotd.pem", "-attime", now + 31 * DAY)
        self.assertIn("CRL has expired", stale.stderr)


class Together(PkiTest):
    """Several commands at once, and commands that are cut short."""

    def test_many_at_once(self):
        self.good("init")
        with ThreadPoolExecutor(8) as pool:
            runs = list(pool.map(lambda i: self.pki("issue", "table", f"T{i}"), range(24)))
        self.assertEqual([done.returncode for done in runs], [0] * 24)
        self.assertEqual({each["name"] for each in self.listed()["certificates"]},
                         {"jackpotd", *(f"T{i}" for i in range(24))})
        for i in range(24):
            self.assert_pair(f"table/T{i}")

    def test_one_name_at_once(self):
        self.good("init")
        with ThreadPoolExecutor(8) as pool:
            runs = list(pool.map(lambda _: self.pki("issue", "table", "BJ01"), range(8)))
        self.assertEqual(sorted(done.returncode for done in runs), [0] + [2] * 7)
        self.assert_pair("table/BJ01")

    def test_one_directory_at_once(self):
        with ThreadPoolExecutor(8) as pool:
            runs = list(pool.map(lambda _: self.pki("init"), range(8)))
        self.assertEqual(sorted(done.returncode for done in runs), [0] + [2] * 7)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["pki"])
        self.assertEqual(self.verify_with_crl("server/jackpotd.pem").returncode, 0)

    def test_a_command_waits_for_another(self):
        self.good("init")
        held = os.open(self.directory, os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX)
        waiting = subprocess.Popen([JACKPOTCTL, "pki", "issue", "table", "BJ01"], cwd=self.folder,
                                   stdout=subprocess.DEVNULL)
        with self.assertRaises(subprocess.TimeoutExpired):
            waiting.wait(0.5)
        self.assertFalse((self.directory / "table" / "BJ01.pem").exists())
        os.close(held)
        self.assertEqual(waiting.wait(60), 0)

    def test_a_write_that_is_cut_short_leaves_the_old_state(self):
        """No file may grow beyond the limit: the kernel ends the process at that write."""
        self.good("init")
        for i in range(16):
            self.good("issue", "table", f"T{i}")
        index = (self.directory / "index").stat().st_size
        certificate = (self.directory / "table" / "T0.pem").stat().st_size
        key = (self.directory / "table" / "T0.key").stat().st_size
        self.assertTrue(key < certificate + 16 < index)
        before = self.contents()
        for limit in (0, key - 1, key + 1, certificate + 16, index - 1, index + 1):
            for arguments in (("renew", "table", "T0"), ("issue", "table", "NEW")):
                with self.subTest((limit, arguments)):
                    done = self.pki(*arguments, preexec_fn=lambda: resource.setrlimit(
                        resource.RLIMIT_FSIZE, (limit, limit)))
                    self.assertEqual(done.returncode, -signal.SIGXFSZ)
                    after = {name: text for name, text in self.contents().items()
                             if not name.endswith((".tmp", ".new")) and (
                                 name in before or "issued" not in name)}
                    self.assertEqual(after, before)
                    self.good("list")
        self.good("issue", "table", "NEW")
        self.good("renew", "table", "T0")
        self.assert_pair("table/NEW")
        self.assert_pair("table/T0")
        self.assertEqual([path for path in self.directory.rglob("*.new")], [])

    def test_a_disk_error_is_told(self):
        self.good("init")
        done = self.pki("issue", "table", "BJ01", preexec_fn=lambda: (
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))))
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot be written: File too large", done.stderr)
        self.good("issue", "table", "BJ01")

    def test_what_the_index_knows_is_finished(self):
        self.good("init")
        self.good("issue", "table", "BJ01")
        folder = self.directory / "table"
        old = {suffix: (folder / f"BJ01{suffix}").read_bytes() for suffix in (".pem", ".key")}
        self.good("renew", "table", "BJ01")
        new = {suffix: (folder / f"BJ01{suffix}").read_bytes() for suffix in (".pem", ".key")}
        for done in ((), (".key",)):  # which of the two had its name when the power went
            with self.subTest(done):
                for suffix in (".pem", ".key"):
                    if suffix not in done:
                        (folder / f"BJ01{suffix}.new").write_bytes(new[suffix])
                        (folder / f"BJ01{suffix}").write_bytes(old[suffix])
                self.good("crl")
                for suffix in (".pem", ".key"):
                    self.assertEqual((folder / f"BJ01{suffix}").read_bytes(), new[suffix])
                self.assertEqual(len(list(folder.iterdir())), 2)

    def test_what_the_index_does_not_know_is_forgotten(self):
        self.good("init")
        self.good("issue", "table", "BJ01")
        self.good("init", "--dir", "other")
        self.good("issue", "table", "BJ01", "--dir", "other")
        folder = self.directory / "table"
        before = (folder / "BJ01.pem").read_bytes()
        for suffix in (".pem", ".key"):
            shutil.copy(self.folder / "other" / "table" / f"BJ01{suffix}",
                        folder / f"BJ01{suffix}.new")
        (folder / "BJ07.pem.new").write_text("half a certif")
        self.good("crl")
        self.assertEqual((folder / "BJ01.pem").read_bytes(), before)
        self.assertEqual(sorted(path.name for path in folder.iterdir()), ["BJ01.key", "BJ01.pem"])
        self.assert_pair("table/BJ01")

    def test_killed_at_any_moment(self):
        self.good("init")
        self.good("issue", "table", "BJ01")
        for i in range(40):
            running = subprocess.Popen([JACKPOTCTL, "pki", "renew", "table", "BJ01"],
                                       cwd=self.folder, stdout=subprocess.DEVNULL)
            try:
                running.wait(0.0005 * i)
            except subprocess.TimeoutExpired:
                running.kill()
                running.wait()
            self.good("crl")
            self.assert_pair("table/BJ01")
            self.assertEqual(self.verify_with_crl("table/BJ01.pem").returncode, 0)
            latest = [each["serial"] for each in self.listed()["certificates"]][-1]
            self.assertEqual(self.certificate("table/BJ01").serial.zfill(32), latest)


class MutualTls(PkiTest):
    """A newcomer's site after two commands."""

    def setUp(self):
        super().setUp()
        self.good("init")
        self.good("issue", "table", "BJ01")

    def handshake(self, client, server="server/jackpotd", host="localhost"):
        """The table's name as the server sees it."""
        at_server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        at_server.minimum_version = ssl.TLSVersion.TLSv1_3
        at_server.verify_mode = ssl.CERT_REQUIRED
        at_server.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
        at_server.load_verify_locations(self.directory / "ca.pem")
        at_server.load_verify_locations(self.directory / "crl.pem")
        at_server.load_cert_chain(self.directory / f"{server}.pem", self.directory / f"{server}.key")
        at_table = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        at_table.load_verify_locations(self.directory / "ca.pem")
        at_table.load_cert_chain(self.directory / f"{client}.pem", self.directory / f"{client}.key")

        to_server, to_table = ssl.MemoryBIO(), ssl.MemoryBIO()
        ends = [at_table.wrap_bio(to_table, to_server, server_hostname=host),
                at_server.wrap_bio(to_server, to_table, server_side=True)]
        for _ in range(10):
            for end in ends:
                try:
                    end.do_handshake()
                except ssl.SSLWantReadError:
                    pass
        return dict(part[0] for part in ends[1].getpeercert()["subject"])["commonName"]

    def test_a_table_is_known_by_its_certificate(self):
        for host in ("localhost", "127.0.0.1", "::1"):
            self.assertEqual(self.handshake("table/BJ01", host=host), "BJ01")

    def test_others_are_refused(self):
        with self.assertRaisesRegex(ssl.SSLError, "(?i)hostname|IP address mismatch"):
            self.handshake("table/BJ01", host="elsewhere.example")
        with self.assertRaisesRegex(ssl.SSLError, "(?i)unsuitable|unsupported certificate purpose"):
            self.handshake("server/jackpotd")
        with self.assertRaisesRegex(ssl.SSLError, "(?i)unsuitable|unsupported certificate purpose"):
            self.handshake("table/BJ01", server="table/BJ01", host="localhost")
        self.good("revoke", "table", "BJ01")
        with self.assertRaisesRegex(ssl.SSLError, "certificate revoked"):
            self.handshake("table/BJ01")
        self.good("renew", "table", "BJ01")
        self.assertEqual(self.handshake("table/BJ01"), "BJ01")

    def test_the_sample_configuration_names_these_files(self):
        sample = (ROOT / "config" / "jackpotd.toml").read_text(encoding="utf-8")
        named = re.findall(r'"(pki/[^"]+)"', sample)
        self.assertEqual(len(named), 8)
        for path in named:
            self.assertTrue((self.folder / path).is_file(), path)


if __name__ == "__main__":
    unittest.main()
