"""Permissions: every route by every method, for every role, without a session, with sessions that have
expired or belong to another person, and without the CSRF token; and on the daemon's socket, for the owner of
the machine and for other users. The table of routes is the program's, and must agree with
console/desk/openapi.json."""

import copy
import json
import os
import re
import time
import unittest

from support.desk_site import OPENAPI, PRINT_ROUTES, ROLES, DeskTest, LocalClient
from support.programs import must
from support.site import as_nobody, main

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
TABLE = json.loads(must(PRINT_ROUTES))
# Not part of the API, and open to anyone: they contain no data.
PAGES = {("GET", "/"), ("GET", "/sign/{pool}"), ("GET", "/table/{table}"), ("GET", "/assets/{name}")}


def described(openapi):
    """{(method, path): (who may over HTTPS, whether the owner of the machine may)}"""
    return {(method.upper(), path): (sorted(operation.get("x-roles", ["not classified"])),
                                     operation.get("x-owner", False))
            for path, item in openapi["paths"].items()
            for method, operation in item.items() if method != "parameters"}


def built(table):
    return {(route["method"], route["pattern"]):
            (sorted(route["roles"]) if route["access"] == "roles" else [route["access"]],
             route["owner"])
            for route in table if (route["method"], route["pattern"]) not in PAGES}


def differences(table, openapi):
    have, said = built(table), described(openapi)
    found = [f"not described: {key}" for key in have if key not in said]
    found += [f"not there: {key}" for key in said if key not in have]
    found += [f"{key}: for {have[key]}, described for {said[key]}"
              for key in have if key in said and have[key] != said[key]]
    found += [f"for no role: {key}" for key, (roles, owner) in have.items()
              if not (roles or owner)
              or not set(roles) <= {*ROLES, "anyone", "monitoring", "signed_in"}]
    return found


class Description(DeskTest):
    def test_openapi_equals_the_route_table(self):
        openapi = json.loads(OPENAPI.read_text())
        self.assertEqual(differences(TABLE, openapi), [])
        self.assertGreater(len(TABLE), 10)
        # Control: each kind of difference is detected.
        new = {"method": "POST", "pattern": "/api/v1/new", "access": "roles",
               "roles": ["supervisor"], "owner": False}
        self.assertIn("not described", differences(TABLE + [new], openapi)[0])
        self.assertIn("not there", differences(TABLE[1:], openapi)[0])
        self.assertIn("for no role", differences(TABLE + [{**new, "roles": []}], openapi)[-1])
        wider = copy.deepcopy(TABLE)
        next(each for each in wider if each["access"] == "roles")["roles"].append("auditor")
        self.assertIn("described for", differences(wider, openapi)[0])
        opened = copy.deepcopy(TABLE)
        next(each for each in opened if not each["owner"] and each["access"] == "roles")["owner"] = True
        self.assertIn("described for", differences(opened, openapi)[0])
        unclassified = copy.deepcopy(openapi)
        del unclassified["paths"]["/api/v1/people"]["get"]["x-roles"]
        self.assertIn("not classified", differences(TABLE, unclassified)[0])

    def test_openapi_references_resolve_and_paths_name_their_parameters(self):
        openapi = json.loads(OPENAPI.read_text())

        def references(value):
            if isinstance(value, dict):
                for key, each in value.items():
                    if key == "$ref":
                        yield each
                    else:
                        yield from references(each)
            elif isinstance(value, list):
                for each in value:
                    yield from references(each)

        def resolved(reference):
            value = openapi
            for part in reference.removeprefix("#/").split("/"):
                value = value[part]
            return value

        for reference in references(openapi):
            self.assertTrue(resolved(reference))
        for path, item in openapi["paths"].items():
            for operation in (each for key, each in item.items() if key != "parameters"):
                self.assertTrue(operation["summary"])
                self.assertTrue(operation["responses"])
                parameters = item.get("parameters", []) + operation.get("parameters", [])
                names = {(resolved(each["$ref"]) if "$ref" in each else each)["name"]
                         for each in parameters}
                self.assertLessEqual(set(re.findall(r"{(\w+)}", path)), names, path)

    def test_the_daemon_serves_the_openapi_document(self):
        self.site.start()
        self.assertEqual(self.client().get("/api/v1/openapi.json").json,
                         json.loads(OPENAPI.read_text()))
        self.site.stop()


class Matrix(DeskTest):
    desk = {"session_idle_minutes": 1}
    metrics = {"allow": ["127.0.9.0/24"]}  # only one client has an address in it

    def path(self, route):
        return re.sub(r"{\w+}", "nobody-such", route["pattern"])

    def body(self, method):
        return {} if method in ("POST", "PUT", "PATCH") else None

    def allowed(self, route, role):
        return route["access"] != "roles" or role in route["roles"]

    def try_route(self, client, route, **options):
        return client.ask(route["method"], self.path(route), self.body(route["method"]), **options)

    def check_passes(self, answer, route, who):
        """The request reached the handler."""
        self.assertNotIn(answer.code, ("not_signed_in", "role_not_allowed", "csrf_token_missing",
                                       "password_must_change"), (route, who, answer.text))
        self.assertNotIn(answer.status, (401, 405), (route, who, answer.text))

    def check_refused(self, answer, status, code, route, who):
        self.assertEqual((answer.status, answer.code), (status, code), (route, who, answer.text))

    def fresh(self, role, how, route):
        """A session of the role; a new one where the route ends it."""
        if (route["method"], route["pattern"]) == ("DELETE", "/api/v1/session"):
            return self.signed_in(role, how=how)
        return self.people[role, how]

    def test_every_route_checks_role_session_and_csrf(self):
        self.site.start()
        for role in ROLES:
            self.site.add(role, role)
        self.site.add("new", "administrator", must_change=True)
        self.people = {}
        for role in ROLES:
            for how in ("cookie", "bearer"):
                self.people[role, how] = self.signed_in(role, how=how)
                # On a busy machine the first would be idle for a minute before the last is there.
                for person in self.people.values():
                    self.assertEqual(person.get("/api/v1/session").status, 200)
        stale = [self.signed_in("administrator", how=how) for how in ("cookie", "bearer")]
        began = time.monotonic()
        new = self.signed_in("new")
        tried = 0
        for route in TABLE:
            unsafe = route["method"] not in ("GET", "HEAD")
            closed = route["access"] != "anyone"
            nobody = self.client()
            answer = self.try_route(nobody, route)
            if closed:
                self.check_refused(answer, 401, "not_signed_in", route, "nobody")
            else:
                self.check_passes(answer, route, "nobody")
            for how in ("cookie", "bearer"):
                stranger = self.client(how=how)
                for token in ("0" * 64, "x", "'", self.people["auditor", how].csrf):
                    answer = self.try_route(stranger, route, token=token)
                    if closed:
                        self.check_refused(answer, 401, "not_signed_in", route, token)
                    else:
                        self.check_passes(answer, route, token)
            for role in ROLES:
                for how in ("cookie", "bearer"):
                    answer = self.try_route(self.fresh(role, how, route), route)
                    tried += 1
                    if self.allowed(route, role):
                        self.check_passes(answer, route, (role, how))
                    else:
                        self.check_refused(answer, 403, "role_not_allowed", route, (role, how))
                # Without the token of this session a browser changes nothing, in any role.
                person = self.people[role, "cookie"]
                other = self.people[ROLES[(ROLES.index(role) + 1) % len(ROLES)], "cookie"]
                for headers in ({}, {"X-CSRF-Token": other.csrf}, {"X-CSRF-Token": ""}):
                    answer = self.try_route(person, route, csrf=False, headers=headers)
                    if closed and unsafe:
                        self.check_refused(answer, 403, "csrf_token_missing", route, role)
                    elif self.allowed(route, role):
                        self.check_passes(answer, route, role)
                # The cookie of one and the token of another.
                if closed and unsafe:
                    answer = self.try_route(person, route, token=other.token)
                    self.check_refused(answer, 403, "csrf_token_missing", route, "mixed")
            if closed and not route["pattern"].startswith("/api/v1/session"):
                self.check_refused(self.try_route(new, route), 403, "password_must_change", route,
                                   "new")
            if route["access"] == "monitoring":
                watching = self.client(address="127.0.9.7")
                self.assertEqual(self.try_route(watching, route).status, 200)
        self.assertEqual(tried, len(TABLE) * len(ROLES) * 2)
        self.check_methods()
        # These sessions were idle for a minute.
        time.sleep(max(0.0, began + 61 - time.monotonic()))
        for route in TABLE:
            for client in stale:
                answer = self.try_route(client, route)
                if route["access"] != "anyone":
                    self.check_refused(answer, 401, "not_signed_in", route, "expired")
                else:
                    self.check_passes(answer, route, "expired")
        self.site.stop()
        self.check_no_secrets()
        self.site.verify()

    def check_on_socket(self, client, allowed, code):
        """Each route passes if allowed(route) is true, and is refused with the code otherwise."""
        for route in TABLE:
            answer = self.try_route(client, route)
            if allowed(route):
                self.check_passes(answer, route, "on the socket")
                self.assertNotIn(answer.code, ("not_the_owner", "sign_in_needed"), route)
            else:
                self.check_refused(answer, 403, code, route, "on the socket")

    def test_every_route_on_the_socket(self):
        self.site.start()
        owner = LocalClient(self.site)
        self.addCleanup(owner.close)
        self.check_on_socket(owner, lambda route: route["owner"], "sign_in_needed")
        allowed = {(route["method"], route["pattern"]) for route in TABLE if route["owner"]}
        # The owner changes nothing of the game but what has always been on the machine.
        self.assertEqual({each for each in allowed if each[0] != "GET"},
                         {("POST", "/api/v1/reload"), ("POST", "/api/v1/pools/{pool}/agreements"),
                          ("POST", "/api/v1/people"), ("PATCH", "/api/v1/people/{name}"),
                          ("DELETE", "/api/v1/people/{name}"),
                          ("POST", "/api/v1/people/{name}/unlock"),
                          ("POST", "/api/v1/pools/{pool}/rulings/preview")})
        self.assertFalse(allowed & {("POST", "/api/v1/session"), ("GET", "/api/v1/session")})
        # A session is of no use there: the socket knows its user.
        self.site.add("ann", "supervisor")
        owner.how, owner.token = "bearer", self.signed_in("ann", how="bearer").token
        refused = owner.ask("POST", "/api/v1/tables/BJ01/suspend",
                            {"ground": "malfunction"})
        self.check_refused(refused, 403, "sign_in_needed", "suspend", "the owner with a session")
        self.assertEqual(self.site.records("table_suspended"), [])
        self.site.stop()
        self.site.verify()

    @unittest.skipIf(os.geteuid() != 0, "needs root to become another user")
    def test_no_route_on_the_socket_for_another_user(self):
        self.site.start()
        for folder in (self.site.folder, self.site.journal):
            folder.chmod(0o755)
        self.assertEqual(self.site.socket.stat().st_mode & 0o777, 0o600)
        with as_nobody():
            with self.assertRaises(PermissionError):
                self.site.local("GET", "/healthz")
        # Even if someone has opened the file to all.
        self.site.socket.chmod(0o666)
        other = LocalClient(self.site, as_nobody)
        self.addCleanup(other.close)
        self.check_on_socket(other, lambda route: False, "not_the_owner")
        owner = LocalClient(self.site)
        self.addCleanup(owner.close)
        self.assertEqual(owner.get("/healthz").status, 200)
        self.site.stop()

    def check_methods(self):
        """A method that a path does not allow is refused for everyone."""
        paths = {}
        for route in TABLE:
            paths.setdefault(self.path(route), set()).add(route["method"])
        for path, methods in paths.items():
            if "GET" in methods:
                methods = methods | {"HEAD"}
            for method in METHODS:
                if method in methods:
                    continue
                for client in (self.client(), self.people["administrator", "bearer"]):
                    answer = client.ask(method, path, self.body(method))
                    if method == "OPTIONS":
                        self.assertEqual(answer.status, 204)
                    else:
                        self.assertEqual(answer.status, 405, (method, path))
                    self.assertEqual({each.strip() for each in answer.headers["Allow"].split(",")},
                                     methods | {"OPTIONS"})

    def test_head_is_get_without_the_body(self):
        self.site.start()
        client = self.client()
        got, head = client.get("/healthz"), client.ask("HEAD", "/healthz")
        self.assertEqual((head.status, head.text), (200, ""))
        self.assertEqual(head.headers["Content-Length"], str(len(got.text)))
        self.assertEqual(client.ask("HEAD", "/api/v1/people").status, 401)
        for name in ("Strict-Transport-Security", "X-Content-Type-Options",
                     "Content-Security-Policy", "Cache-Control"):
            self.assertTrue(got.headers[name], name)
        self.site.stop()


if __name__ == "__main__":
    main()
