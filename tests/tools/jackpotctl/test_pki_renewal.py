"""jackpotctl pki revoke, renew and list, several at once, and TLS with the certificates."""

import fcntl
import os
import re
import resource
import shutil
import signal
import ssl
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

from pki_case import DAY, PkiTest, moment, openssl
from support.programs import JACKPOTCTL, ROOT


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
        output = self.good("revoke", "table", "BJ01", "--reason", "key-compromise")
        self.assertIn("crl.pem", output)
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

    def test_a_certificate_that_was_never_issued_cannot_be_revoked(self):
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

    def test_one_certificate_can_be_revoked_by_its_serial(self):
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

    def test_renew_can_revoke_the_old_certificate(self):
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

    def test_the_list_as_text(self):
        self.good("issue", "table", "BJ01")
        lines = self.good("list").splitlines()
        self.assertEqual(lines[0].split(), ["kind", "name", "expires", "serial", "state"])
        self.assertRegex(lines[2], r"^table     BJ01      \d{4}-\d\d-\d\d  [0-9a-f]{32}  valid$")
        self.assertIn("the revocation list", lines[-1])

    def test_certificates_that_expire_soon(self):
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

    def test_list_changes_no_file(self):
        before = self.contents()
        self.good("list")
        self.listed()
        self.assertEqual(self.contents(), before)

    def test_certificates_and_lists_expire(self):
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
    """Several commands at once, and interrupted commands."""

    def test_many_names_issued_at_once(self):
        self.good("init")
        with ThreadPoolExecutor(8) as pool:
            runs = list(pool.map(lambda i: self.pki("issue", "table", f"T{i}"), range(24)))
        self.assertEqual([done.returncode for done in runs], [0] * 24)
        self.assertEqual({each["name"] for each in self.listed()["certificates"]},
                         {"jackpotd", *(f"T{i}" for i in range(24))})
        for i in range(24):
            self.assert_pair(f"table/T{i}")

    def test_one_name_issued_several_times_at_once(self):
        self.good("init")
        with ThreadPoolExecutor(8) as pool:
            runs = list(pool.map(lambda _: self.pki("issue", "table", "BJ01"), range(8)))
        self.assertEqual(sorted(done.returncode for done in runs), [0] + [2] * 7)
        self.assert_pair("table/BJ01")

    def test_one_directory_initialised_several_times_at_once(self):
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

    def test_an_interrupted_write_leaves_the_old_state(self):
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

    def test_a_disk_error_is_reported(self):
        self.good("init")
        done = self.pki("issue", "table", "BJ01", preexec_fn=lambda: (
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))))
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot be written: File too large", done.stderr)
        self.good("issue", "table", "BJ01")

    def test_an_interrupted_renewal_in_the_index_is_completed(self):
        self.good("init")
        self.good("issue", "table", "BJ01")
        folder = self.directory / "table"
        old = {suffix: (folder / f"BJ01{suffix}").read_bytes() for suffix in (".pem", ".key")}
        self.good("renew", "table", "BJ01")
        new = {suffix: (folder / f"BJ01{suffix}").read_bytes() for suffix in (".pem", ".key")}
        for done in ((), (".key",)):  # the file that had its name when the command was interrupted
            with self.subTest(done):
                for suffix in (".pem", ".key"):
                    if suffix not in done:
                        (folder / f"BJ01{suffix}.new").write_bytes(new[suffix])
                        (folder / f"BJ01{suffix}").write_bytes(old[suffix])
                self.good("crl")
                for suffix in (".pem", ".key"):
                    self.assertEqual((folder / f"BJ01{suffix}").read_bytes(), new[suffix])
                self.assertEqual(len(list(folder.iterdir())), 2)

    def test_new_files_that_the_index_does_not_know_are_removed(self):
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

    def test_a_command_killed_at_any_time_leaves_a_consistent_directory(self):
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
    """A new site after two commands."""

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

    def test_other_certificates_are_refused(self):
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
