"""A site with a desk, and clients that can send valid and invalid requests."""

import hashlib
import http.client
import json
import os
import re
import socket
import ssl
from contextlib import nullcontext
from pathlib import Path

from support.programs import ROOT, until
from support.site import Account, LocalConnection, Site, SiteTest, toml

PRINT_ROUTES = os.environ["PRINT_ROUTES"]
OPENAPI = ROOT / "console" / "desk" / "openapi.json"
ROLES = ("supervisor", "surveillance", "auditor", "inspector", "administrator")
COOKIE = "__Host-jackpot"


class DeskSite(Site):
    """start() also waits for the desk. The first administrator is called root."""

    def __init__(self, desk=None, demo=None, metrics=None, **options):
        self.desk, self.demo, self.metrics = dict(desk or {}), demo, dict(metrics or {})
        self.desk_port = None
        self.secrets = set()  # everything that must never be in a log
        super().__init__(**options)

    def write_config(self):
        super().write_config()
        desk = {"listen": "127.0.0.1:0", "certificate": "pki/server/jackpotd.pem",
                "key": "pki/server/jackpotd.key", **self.desk}
        lines = ["[desk]"] + [f"{key} = {toml(value)}" for key, value in desk.items()]
        if self.demo:
            lines += ["[demo]"] + [f"{key} = {toml(value)}" for key, value in self.demo.items()]
        lines += ["[metrics]"] + [f"{key} = {toml(value)}" for key, value in self.metrics.items()]
        with self.config.open("a") as file:
            file.write("\n".join(lines) + "\n")

    def start(self, **options):
        super().start(**options)
        line = until(lambda: next((each for each in self.log if "the desk is open" in each), None))
        assert line, self.log
        self.desk_port = int(re.search(r":(\d+)$", line).group(1))
        return self

    def secret(self, text):
        self.secrets.add(text)
        return text

    def add(self, name, role, password=None, must_change=False):
        """As the owner of the machine, as jackpotctl users add --config does."""
        body = {"name": name, "role": role, "password": self.password(name, password),
                "must_change_password": must_change}
        status, answer = self.local("POST", "/api/v1/people", body)
        assert status == 201, answer

    def password(self, name, password=None):
        return self.secret(password or f"the password of {name}")

    def tls(self, certificate=None):
        context = ssl.create_default_context(cafile=self.pki / "ca.pem")
        if certificate:
            context.load_cert_chain(*certificate)
        return context

    def connect(self, address="127.0.0.1", timeout=20.0, certificate=None):
        plain = socket.create_connection(("127.0.0.1", self.desk_port), timeout,
                                         source_address=(address, 0))
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self.tls(certificate).wrap_socket(plain, server_hostname="localhost")

    def client(self, **options):
        return Client(self, **options)

    def signed_in(self, name, password=None, **options):
        client = Client(self, **options)
        answer = client.sign_in(name, password)
        assert answer.status == 201, answer.text
        return client


class Answer:
    def __init__(self, response, body):
        self.status, self.text = response.status, body.decode()
        self.headers = response.headers
        self.json = None
        if self.headers.get("Content-Type") == "application/json" and body:
            self.json = json.loads(body)

    @property
    def code(self):
        return self.json["error"]["code"] if self.json and "error" in self.json else None


class Client:
    """One connection at a time; how="cookie" is a browser, "bearer" a program."""

    def __init__(self, site, address="127.0.0.1", how="cookie", certificate=None):
        self.site, self.address, self.how, self.certificate = site, address, how, certificate
        self.token = self.csrf = None
        self.connection = None

    def open(self):
        if self.connection is None:
            self.connection = http.client.HTTPSConnection(
                "localhost", self.site.desk_port, timeout=30, source_address=(self.address, 0),
                context=self.site.tls(self.certificate))
        return self.connection

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def ask(self, method, path, body=None, headers=None, csrf=True, token=None):
        sent = {}
        token = token or self.token
        if token:
            if self.how == "cookie":
                sent["Cookie"] = f"a=b; {COOKIE}={token}"
            else:
                sent["Authorization"] = f"Bearer {token}"
        if csrf and self.csrf and self.how == "cookie":
            sent["X-CSRF-Token"] = self.csrf
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if body is not None:
            sent["Content-Type"] = "application/json"
        sent.update(headers or {})
        for attempt in (1, 2):
            try:
                connection = self.open()
                connection.request(method, path, body, sent)
                response = connection.getresponse()
                is_feed = response.headers.get("Content-Type") == "text/event-stream"
                answer = Answer(response, b"" if is_feed else response.read())
                if is_feed or response.will_close:
                    self.close()
                return answer
            except (http.client.RemoteDisconnected, ConnectionError, ssl.SSLEOFError):
                self.close()  # it was kept alive for too long
                if attempt == 2:
                    raise

    def get(self, path, **options):
        return self.ask("GET", path, **options)

    def sign_in(self, name, password=None):
        password = self.site.password(name, password)
        query = "?bearer" if self.how == "bearer" else ""
        answer = self.ask("POST", "/api/v1/session" + query,
                          {"name": name, "password": password})
        if answer.status == 201:
            self.csrf = self.site.secret(answer.json["csrf"])
            if self.how == "cookie":
                cookie = answer.headers["Set-Cookie"]
                self.token = re.match(COOKIE + "=([0-9a-f]{64});", cookie).group(1)
            else:
                self.token = answer.json["token"]
            self.site.secret(self.token)
        return answer


class LocalClient(Client):
    """On the daemon's socket, as the owner of the machine or as nobody."""

    def __init__(self, site, user=nullcontext):
        super().__init__(site)
        self.user = user

    def open(self):
        if self.connection is None:
            self.connection = LocalConnection(self.site.socket)
            with self.user():
                self.connection.connect()
        return self.connection


def raw_exchange(stream, data, timeout=20.0):
    """Sends the bytes and returns everything received until the end of the connection."""
    stream.settimeout(timeout)
    try:
        stream.sendall(data)
    except OSError:
        pass
    answer = b""
    try:
        while piece := stream.recv(65536):
            answer += piece
    except OSError:
        pass
    return answer


def status_of(answer):
    match = re.match(rb"HTTP/1\.1 (\d{3}) ", answer)
    return int(match.group(1)) if match else None


class DeskTest(SiteTest):
    desk = {}
    metrics = {}

    def setUp(self):
        self.site = DeskSite(desk=self.desk, metrics=self.metrics, **self.options)
        self.addCleanup(self.site.close)
        self.account = Account()

    def client(self, **options):
        client = self.site.client(**options)
        self.addCleanup(client.close)
        return client

    def signed_in(self, name, password=None, **options):
        client = self.client(**options)
        answer = client.sign_in(name, password)
        self.assertEqual(answer.status, 201, answer.text)
        return client

    def connect(self, **options):
        stream = self.site.connect(**options)
        self.addCleanup(stream.close)
        return stream

    def everywhere(self):
        """The log, the journal and all other files of the site, as one text."""
        text = "\n".join(self.site.log)
        for file in self.site.journal.iterdir():
            if file.is_file() and file.suffix != ".sock":
                text += file.read_bytes().decode("latin-1")
        return text

    def check_no_secrets(self):
        """No password or token is in the log or in a file; names are (control)."""
        written = self.everywhere()
        self.assertIn("person_signed_in", written)
        self.assertTrue(self.site.secrets)
        for secret in self.site.secrets:
            self.assertNotIn(secret, written)
        # Control: a secret in a file would be found.
        name = next(each["who"] for each in self.site.records("person_signed_in"))
        self.assertIn(name, written)


def must_fingerprint(certificate):
    """SHA-256 of a certificate in PEM, as openssl prints it."""
    der = ssl.PEM_cert_to_DER_cert(Path(certificate).read_text())
    return ":".join(f"{byte:02X}" for byte in hashlib.sha256(der).digest())
