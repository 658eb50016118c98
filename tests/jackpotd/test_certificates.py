"""Certificates that are each wrong in one way, against the real daemon."""

import shutil
import socket
import ssl
import sys
import time

from support import link_client
from support.link_client import pb
from support.programs import JACKPOTCTL, must, run, until
from support.site import Gone, SiteTest, hello, main

CA_CONFIG = """
[ca]
default_ca = own
[own]
dir = {folder}
new_certs_dir = {folder}
database = {folder}/index.txt
serial = {folder}/serial
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
[table]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = clientAuth
subjectAltName = URI:jackpot:table:{name}
"""


def sign(site, name, start, end):
    """A table's certificate from the site's own authority, with another term."""
    folder = site.folder / f"own-{name}-{start}-{end}"
    folder.mkdir()
    (folder / "index.txt").write_text("")
    (folder / "ca.cnf").write_text(CA_CONFIG.format(folder=folder, name=name))
    key, request, certificate = folder / "key", folder / "csr", folder / "pem"
    must("openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-subj", f"/CN={name}", "-keyout", key, "-out", request)
    must("openssl", "ca", "-batch", "-config", folder / "ca.cnf", "-extensions", "table", "-cert",
         site.pki / "ca.pem", "-keyfile", site.pki / "ca.key", "-startdate", start, "-enddate",
         end, "-in", request, "-out", certificate, "-notext")
    return certificate, key


def same_name(site):
    """A table's certificate from an authority that has the name of the site's, and another key."""
    folder = site.folder / "same-name"
    (folder / "pki").mkdir(parents=True)
    subject = must("openssl", "x509", "-in", site.pki / "ca.pem", "-noout", "-subject", "-nameopt",
                   "multiline").rpartition("= ")[2].strip()
    must("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-subj", f"/CN={subject}", "-days", "30", "-keyout", folder / "pki/ca.key", "-out",
         folder / "pki/ca.pem", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
    other = type("Other", (), {"folder": folder, "pki": folder / "pki"})
    return sign(other, "BJ01", "20200101000000Z", "20450101000000Z")


class Strangers(SiteTest):
    def context(self, credentials=None, ca=None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(ca or self.site.pki / "ca.pem")
        if credentials:
            context.load_cert_chain(*credentials)
        return context

    def refusal(self, credentials=None, ca=None, context=None):
        """The refusal that a client gets: a TLS error or a Goodbye. The client must read to get it."""
        try:
            raw = self.raw(greet=False, context=context or self.context(credentials, ca))
            raw.send(hello())
            message = raw.receive()
            return pb.Goodbye.Why.Name(message.goodbye.why)
        except (OSError, Gone) as error:
            return str(error) or type(error).__name__

    def plaintext(self):
        with socket.create_connection(("127.0.0.1", self.site.port), 5) as plain:
            plain.sendall(link_client.frame(hello()))
            answer = b""
            try:
                while piece := plain.recv(4096):
                    answer += piece
            except ConnectionResetError:
                pass
            return answer

    def test_bad_certificates_are_refused_and_only_the_attempt_is_journaled(self):
        for arguments in (("operator", "BJ01"), ("table", "BJ99"), ("operator", "ann"),
                          ("table", "BJ03")):
            must(JACKPOTCTL, "pki", "issue", *arguments, "--dir", self.site.pki)
        revoked = self.site.credentials("BJ03")
        self.site.tables.append("BJ03")
        self.site.write_config()
        must(JACKPOTCTL, "pki", "revoke", "table", "BJ03", "--dir", self.site.pki)
        expired = sign(self.site, "BJ01", "20200101000000Z", "20210101000000Z")
        too_early = sign(self.site, "BJ01", "20400101000000Z", "20450101000000Z")
        good = sign(self.site, "BJ01", "20200101000000Z", "20450101000000Z")
        old = self.context(self.site.credentials("BJ01"))
        old.maximum_version = ssl.TLSVersion.TLSv1_2

        self.site.start()
        table = self.raw("BJ01", credentials=good)  # control: the helper's certificates are accepted
        self.play(table, "BJ01", 1, 1, 1)
        before = len(self.site.records())
        met = {
            "no certificate": self.refusal(),
            "another authority of the same name": self.refusal(same_name(self.site)),
            "expired": self.refusal(expired),
            "not yet valid": self.refusal(too_early),
            "revoked": self.refusal(revoked),
            "no table of the site": self.refusal(self.site.credentials("BJ99")),
            "an operator": self.refusal(self.site.credentials("ann", "operator")),
            "an operator named like a table": self.refusal(self.site.credentials("BJ01", "operator")),
            "the daemon's own": self.refusal(self.site.credentials("jackpotd", "server")),
            "TLS 1.2": self.refusal(context=old),
        }
        for why, said in met.items():
            print(f"    {why}: {said}", file=sys.stderr)
        for why in ("no table of the site", "an operator", "an operator named like a table"):
            self.assertEqual(met.pop(why), "NOT_A_TABLE", why)
        words = {"no certificate": "CERTIFICATE_REQUIRED", "expired": "EXPIRED", "not yet valid": "",
                 "revoked": "REVOKED", "another authority of the same name": "UNKNOWN_CA",
                 "TLS 1.2": "PROTOCOL_VERSION", "the daemon's own": "CERTIFICATE"}
        for why, said in met.items():
            self.assertIn(words[why], said.upper(), why)
            self.assertNotIn("TIMED OUT", said.upper(), why)
        self.assertNotIn(b"\x0a", self.plaintext()[:1])

        strangers = until(lambda: self.site.records("strangers_refused"), 2)
        time.sleep(0.3)
        strangers = self.site.records("strangers_refused")
        self.assertEqual(len(strangers), 1, "more than one record a minute")
        new = self.site.records()[before:]
        self.assertEqual({each["kind"] for each in new} - {"table_offline"}, {"strangers_refused"})
        self.assertEqual(self.site.status()["strangers"], 11)
        self.assertEqual(table.ask(3, open_round=pb.OpenRound(round=2)).number, 3)
        self.account.opened("BJ01", 2, ())
        self.site.stop()
        self.check_books()

    def test_a_table_refuses_a_daemon_with_another_host_or_authority(self):
        # Its certificate is for another host, or of another authority: nothing is sent to it.
        must(JACKPOTCTL, "pki", "issue", "server", "elsewhere", "--host", "elsewhere.example",
             "--dir", self.site.pki)
        self.site.link = {"certificate": "pki/server/elsewhere.pem",
                          "key": "pki/server/elsewhere.key"}
        self.site.write_config()
        self.site.start()
        table = self.table()
        with self.assertRaises(link_client.LinkError) as caught:
            table.connect()
        self.assertIn("certificate", str(caught.exception))
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.raw()
        other = self.site.folder / "other-pki"
        must(JACKPOTCTL, "pki", "init", "--dir", other)
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.raw(ca=other / "ca.pem")
        self.assertEqual([each for each in self.site.records() if "from" in each], [])

    def test_a_revocation_applies_from_the_reload(self):
        self.site.start()
        one, two = self.raw("BJ01"), self.raw("BJ02")
        number = self.play(one, "BJ01", 1, 1, 1)
        must(JACKPOTCTL, "pki", "revoke", "table", "BJ01", "--dir", self.site.pki)
        self.play(one, "BJ01", number, 2, 1)
        self.assertTrue(self.site.reload().startswith("ok\n"))
        # Existing connections are closed too: the key may be stolen.
        self.assertEqual(one.goodbye(), "NOT_A_TABLE")
        self.assertIn("REVOKED", self.refusal(self.site.credentials("BJ01")).upper())
        self.play(two, "BJ02", 1, 1, 1)
        must(JACKPOTCTL, "pki", "renew", "table", "BJ01", "--dir", self.site.pki)
        self.play(self.raw("BJ01"), "BJ01", 5, 3, 1)
        self.site.stop()
        self.check_books()

    def test_an_expired_list_refuses_everyone(self):
        self.site.start()
        shutil.copy(self.site.pki / "crl.pem", self.site.folder / "kept.pem")
        folder = self.site.folder / "expired"
        folder.mkdir()
        (folder / "index.txt").write_text("")
        (folder / "crlnumber").write_text("01\n")
        (folder / "ca.cnf").write_text(CA_CONFIG.format(folder=folder, name="x"))
        made = run("openssl", "ca", "-config", folder / "ca.cnf", "-gencrl", "-cert",
                   self.site.pki / "ca.pem", "-keyfile", self.site.pki / "ca.key", "-crl_lastupdate",
                   "20200101000000Z", "-crl_nextupdate", "20210101000000Z", "-out",
                   self.site.pki / "crl.pem")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.site.reload()
        self.assertIn("EXPIRED", self.refusal(self.site.credentials("BJ01")).upper())
        shutil.copy(self.site.folder / "kept.pem", self.site.pki / "crl.pem")
        self.assertTrue(self.site.reload().startswith("ok\n"))
        self.play(self.raw("BJ01"), "BJ01", 1, 1, 1)
        self.site.stop()
        self.check_books()


if __name__ == "__main__":
    main()
