"""People sign in, are locked out and sign out; no secret is written to a file or the log."""

import time

from support.desk_site import DeskTest, must_fingerprint
from support.programs import JACKPOTCTL, JACKPOTD, must, run
from support.site import main


class Coming(DeskTest):
    def setUp(self):
        super().setUp()
        self.site.start()
        self.site.add("root", "administrator")

    def finish(self):
        self.site.stop()
        self.site.verify()
        self.check_no_secrets()

    def test_a_person_from_the_first_day_to_the_last(self):
        root = self.signed_in("root")
        first = self.site.secret("a first password")
        answer = root.ask("POST", "/api/v1/people",
                          {"name": "ann", "role": "supervisor", "password": first})
        self.assertEqual(answer.status, 201, answer.text)
        self.assertEqual(root.ask("POST", "/api/v1/people",
                                  {"name": "ann", "role": "auditor", "password": first}).status,
                         409)
        ann = self.signed_in("ann", first)
        self.assertTrue(ann.get("/api/v1/session").json["must_change_password"])
        self.assertEqual(ann.get("/api/v1/feed").code, "password_must_change")
        second = self.site.secret("a second password")
        self.assertEqual(ann.ask("PUT", "/api/v1/session/password",
                                 {"old": first, "new": second}).status, 204)
        self.assertEqual(ann.get("/api/v1/feed").status, 200)
        self.assertEqual(self.client().sign_in("ann", first).status, 401)
        elsewhere = self.signed_in("ann", second, how="bearer")
        self.assertEqual(root.ask("PATCH", "/api/v1/people/ann", {"role": "auditor"}).status, 200)
        for client in (ann, elsewhere):
            self.assertEqual(client.get("/api/v1/session").status, 401)
        again = self.signed_in("ann", second)
        self.assertEqual(again.get("/api/v1/session").json["role"], "auditor")
        self.assertEqual(root.ask("DELETE", "/api/v1/people/ann").json["disabled"], True)
        self.assertEqual(again.get("/api/v1/session").status, 401)
        self.assertEqual(self.client(address="127.0.0.9").sign_in("ann", second).status, 401)
        self.assertEqual(root.ask("DELETE", "/api/v1/people/root").status, 409)
        kinds = [each["kind"] for each in self.site.records()]
        for kind in ("person_added", "person_changed", "person_disabled", "person_signed_in",
                     "sign_in_refused"):
            self.assertIn(kind, kinds)
        self.assertEqual({each["by"] for each in self.site.records("person_added")},
                         {"(local)", "root"})
        self.finish()

    def test_accounts_outlive_a_restart_and_sessions_do_not(self):
        root = self.signed_in("root")
        self.site.stop()
        self.site.start()
        root.close()
        self.assertEqual(root.get("/api/v1/session").status, 401)
        self.signed_in("root")
        self.finish()

    def test_a_stolen_session_is_rejected(self):
        """It is rejected from another address, and everywhere after the logout."""
        for how in ("cookie", "bearer"):
            root = self.signed_in("root", how=how)
            thief = self.client(address="127.0.0.66", how=how)
            thief.token, thief.csrf = root.token, root.csrf
            self.assertEqual(thief.get("/api/v1/session").status, 401)
            neighbour = self.client(how=how)
            neighbour.token, neighbour.csrf = root.token, root.csrf
            self.assertEqual(neighbour.get("/api/v1/session").status, 200)
            feed = self.connect()
            header = (f"Cookie: __Host-jackpot={root.token}" if how == "cookie"
                      else f"Authorization: Bearer {root.token}")
            feed.sendall(f"GET /api/v1/feed HTTP/1.1\r\nHost: d\r\n{header}\r\n\r\n".encode())
            self.assertIn(b"200 OK", feed.recv(4096))
            self.assertEqual(root.ask("DELETE", "/api/v1/session").status, 204)
            for client in (root, neighbour, thief):
                self.assertEqual(client.get("/api/v1/session").status, 401)
            feed.settimeout(5)
            while feed.recv(4096):
                pass  # open feeds end with the session
        self.assertEqual(len(self.site.records("person_signed_out")), 2)
        self.finish()

    def test_unbound_sessions_where_that_is_configured(self):
        self.site.desk["bind_session_to_address"] = False
        self.site.write_config()
        self.assertTrue(self.site.reload().startswith("ok\n"))
        root = self.signed_in("root")
        elsewhere = self.client(address="127.0.0.66")
        elsewhere.token = root.token
        self.assertEqual(elsewhere.get("/api/v1/session").status, 200)
        root.ask("DELETE", "/api/v1/session")
        self.assertEqual(elsewhere.get("/api/v1/session").status, 401)
        self.finish()

    def test_failed_attempts_lock_an_account(self):
        self.site.add("ann", "auditor")
        ann = self.signed_in("ann")
        for each in range(5):
            answer = self.client(address=f"127.0.1.{each}").sign_in("ann", "not her password")
            self.assertEqual((answer.status, answer.code), (401, "wrong_credentials"))
        answer = self.client(address="127.0.2.1").sign_in("ann")
        self.assertEqual((answer.status, answer.code), (429, "locked_out"))
        self.assertGreater(int(answer.headers["Retry-After"]), 800)
        # Existing sessions continue, other people can sign in, and the lock is visible.
        self.assertEqual(ann.get("/api/v1/session").status, 200)
        root = self.signed_in("root")
        locked, = self.site.records("person_locked_out")
        self.assertEqual((locked["who"], locked["address"]), ("ann", "127.0.1.4"))
        self.assertTrue(any("ann is locked" in line for line in self.site.log))
        people = {each["name"]: each for each in root.get("/api/v1/people").json["people"]}
        self.assertGreater(people["ann"]["locked_for_s"], 0)
        self.assertEqual(people["root"]["locked_for_s"], 0)
        self.assertEqual(root.ask("POST", "/api/v1/people/ann/unlock", "").status, 200)
        self.signed_in("ann", address="127.0.2.1")
        # All administrators are locked out: the machine's owner unlocks one.
        for each in range(5):
            self.client(address=f"127.0.3.{each}").sign_in("root", "not the password")
        self.assertEqual(self.client(address="127.0.3.9").sign_in("root").status, 429)
        self.assertEqual(self.site.local("POST", "/api/v1/people/root/unlock")[0], 200)
        self.signed_in("root", address="127.0.3.9")
        self.finish()

    def test_password_guessing_is_slowed_down(self):
        """Guessing is slowed down, makes few records, reveals nothing, and delays nobody else."""
        self.site.add("ann", "auditor")
        ann = self.signed_in("ann", address="127.0.9.1")
        guesser = self.client(address="127.0.5.5")
        statuses = []
        end = time.monotonic() + 5
        while time.monotonic() < end:
            who = ("root", "nobody")[len(statuses) % 2]
            statuses.append((who, guesser.sign_in(who, f"guess number {len(statuses)}").status))
        self.assertEqual({status for _, status in statuses}, {401, 429})
        tried = sum(status == 401 for _, status in statuses)
        self.assertLess(tried, 12)
        self.assertGreater(len(statuses), 100)
        self.assertEqual(len(self.site.records("sign_in_refused")), 1)
        slowest = 0.0
        for _ in range(10):
            start = time.monotonic()
            self.assertEqual(ann.get("/api/v1/session").status, 200)
            slowest = max(slowest, time.monotonic() - start)
        self.assertLess(slowest, 1)
        self.signed_in("ann", address="127.0.9.1")
        self.site.stop()
        refused = self.site.records("sign_in_refused")
        self.assertEqual(sum(each["count"] for each in refused), len(statuses))
        self.assertLessEqual(len(refused), 2)
        self.assertEqual({name for each in refused for name in each["names"]}, {"root"})
        self.site.verify()
        self.check_no_secrets()

    def test_sign_in_takes_as_long_for_unknown_names(self):
        """An unknown name takes as long as a known one."""
        took = {"root": [], "nobody": []}
        for each in range(4):
            for name in took:
                client = self.client(address=f"127.0.6.{each}")
                client.get("/healthz")
                start = time.monotonic()
                self.assertEqual(client.sign_in(name, "not the password").status, 401)
                took[name].append(time.monotonic() - start)
        self.assertLess(min(took["root"]), 2 * min(took["nobody"]))
        self.assertLess(min(took["nobody"]), 2 * min(took["root"]))
        self.site.stop()

    def test_malformed_requests_about_people_are_refused(self):
        for method, path, body, status in (
                ("POST", "", None, 400), ("POST", "", {}, 400), ("POST", "", "{", 400),
                ("PATCH", "/root", None, 400), ("PATCH", "/root", {"x": 1}, 400),
                ("PATCH", "/nobody", {}, 404), ("POST", "/nobody/unlock", None, 404),
                ("DELETE", "/nobody", None, 404), ("PUT", "/root", {}, 405)):
            self.assertEqual(self.site.local(method, "/api/v1/people" + path, body)[0], status,
                             (method, path, body))
        self.site.stop()


class Certificates(DeskTest):
    desk = {"client_ca": "pki/ca.pem"}

    def test_an_account_may_need_a_certificate(self):
        for name in ("ann", "bob"):
            must(JACKPOTCTL, "pki", "issue", "operator", name, "--dir", self.site.pki)
        self.site.start()
        self.site.add("root", "administrator")
        anns, bobs = (self.site.credentials(name, "operator") for name in ("ann", "bob"))
        root = self.signed_in("root")
        password = self.site.password("ann")
        answer = root.ask("POST", "/api/v1/people",
                          {"name": "ann", "role": "inspector", "password": password,
                           "must_change_password": False,
                           "certificate": must_fingerprint(anns[0])})
        self.assertEqual(answer.status, 201, answer.text)
        self.assertEqual(self.client().sign_in("ann").status, 401)
        self.assertEqual(self.client(certificate=bobs).sign_in("ann").status, 401)
        ann = self.signed_in("ann", certificate=anns)
        self.assertEqual(ann.get("/api/v1/session").json["role"], "inspector")
        # A person without the certificate cannot lock the account.
        for each in range(7):
            self.client(address=f"127.0.4.{each}").sign_in("ann", "not her password")
        self.signed_in("ann", certificate=anns)
        self.signed_in("root", certificate=bobs)
        self.site.stop()
        self.check_no_secrets()


class NoDesk(DeskTest):
    def test_a_desk_that_cannot_open_is_reported(self):
        self.site.desk["certificate"] = "nowhere.pem"
        self.site.write_config()
        done = run(JACKPOTD, "--config", self.site.config)
        self.assertEqual(done.returncode, 2)
        self.assertIn("nowhere.pem", done.stderr)

    def test_a_reload_applies_new_certificates(self):
        self.site.start()
        before = self.connect().getpeercert()["serialNumber"]
        must(JACKPOTCTL, "pki", "renew", "server", "jackpotd", "--dir", self.site.pki)
        self.assertTrue(self.site.reload().startswith("ok\n"))
        self.assertNotEqual(self.connect().getpeercert()["serialNumber"], before)
        (self.site.pki / "server" / "jackpotd.key").write_text("garbage")
        self.assertTrue(self.site.reload().startswith("refused\n"))
        self.connect()
        self.site.stop()


if __name__ == "__main__":
    main()
