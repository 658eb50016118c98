"""jackpotctl pki init and issue; openssl verifies the certificates."""

import os
import re
import stat
import subprocess
import unittest
from datetime import datetime, timedelta, timezone

from pki_case import COMMANDS, Certificate, PkiTest, openssl
from support.programs import JACKPOTCTL, run


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
    def test_the_certificate_of_the_authority(self):
        output = self.good("init")
        self.assertIn("Next: jackpotctl pki issue table BJ01", output)
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

    def test_the_certificate_of_the_server(self):
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

    def test_hosts_and_names_of_the_server(self):
        self.good("init", "--dir", "elsewhere", "--server", "main.floor", "--days", "10",
                  "--host", "jackpot.star.example", "--host=10.1.2.3", "--host", "fe80::1")
        server = Certificate(self.folder / "elsewhere" / "server" / "main.floor.pem")
        self.assertEqual(server.extension("Subject Alternative Name")[0],
                         "DNS:jackpot.star.example, IP Address:10.1.2.3, "
                         "IP Address:FE80:0:0:0:0:0:0:1")
        self.assertEqual(server.not_after - server.not_before, timedelta(days=10, minutes=5))
        self.good("issue", "table", "BJ01", "--dir", "elsewhere")

    def test_file_modes_of_keys_and_certificates(self):
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

    def test_init_accepts_an_empty_directory(self):
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

    def test_the_certificate_of_a_table(self):
        output = self.good("issue", "table", "BJ01")
        self.assertIn("ca.pem to the table's controller", output)
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

    def test_the_certificate_of_an_operator(self):
        self.good("issue", "operator", "ann.of-surveillance_2", "--days", "7")
        person = self.certificate("operator/ann.of-surveillance_2")
        self.assertEqual(person.subject, "CN = ann.of-surveillance_2")
        self.assertEqual(person.extension("Subject Alternative Name")[0],
                         "URI:jackpot:operator:ann.of-surveillance_2")
        self.assertEqual(person.extension("Extended Key Usage")[0], "TLS Web Client Authentication")
        self.assertEqual(person.not_after - person.not_before, timedelta(days=7, minutes=5))

    def test_the_certificate_of_a_second_server(self):
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

    def test_invalid_names_are_refused(self):
        for name in ("", ".", "..", "../BJ01", "a/b", "-BJ", "_a", "B J", "BJ\n01", "BJ\u00e9",
                     "a" * 33, "BJ*", "BJ,O=x", "BJ/CN=x", "BJ\"", "$(id)", "BJ\x7f"):
            with self.subTest(name):
                self.refused("issue", "table", "--", name)
        self.good("issue", "table", "a" * 32)
        self.good("issue", "operator", "a" * 64)
        for name in ("a" * 65, "a b", "ann/ben", ".ann", "an\u00f1a"):
            self.refused("issue", "operator", "--", name, says=["is not a name"])

    def test_invalid_hosts_are_refused(self):
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
        # A few seconds of the authority's ten years have passed.
        subprocess.run(["sleep", "1.1"], check=True)
        self.refused("issue", "table", "BJ01", "--days", "3650", says=["outlive its authority"])

    def test_a_damaged_authority_is_reported(self):
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

    def test_a_damaged_index_is_reported(self):
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


if __name__ == "__main__":
    unittest.main()
