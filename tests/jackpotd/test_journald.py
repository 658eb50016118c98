"""The log in systemd's journal: a real journald, in a namespace of its own, so that the machine's
is left alone."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import unittest

if os.environ.get("JACKPOT_NAMESPACE") != "1":
    os.environ["JACKPOT_NAMESPACE"] = "1"
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    os.execvp("unshare", ["unshare", "--mount", *as_root, sys.executable, *sys.argv])

from support.link_client import pb
from support.programs import JACKPOTD, must, run, until
from support.site import Site, SiteTest, main, open_round

RUN = "/run/systemd/journal"


def setUpModule():
    must("mount", "-t", "tmpfs", "none", "/run")
    must("mount", "--bind", "/dev/null", "/dev/kmsg")  # the kernel's messages are the machine's
    os.makedirs(RUN)
    os.makedirs("/run/log/journal")
    journald = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", "/lib/systemd/systemd-journald"],
                                stderr=subprocess.DEVNULL)
    unittest.addModuleCleanup(lambda: (journald.terminate(), journald.wait()))
    assert until(lambda: os.path.exists(RUN + "/stdout"), 20), "there is no journald"


def messages(pid):
    """Each of the process's, as a dictionary of its fields."""
    run("journalctl", "--sync")
    done = run("journalctl", "--directory=/run/log/journal", "--output=json", "--all",
               "SYSLOG_IDENTIFIER=jackpotd", f"_PID={pid}")
    return [json.loads(line) for line in done.stdout.splitlines()]


class JournalSite(Site):
    """Its standard error is connected to the journal, as a service's is."""

    def start(self, stream=None):
        with socket.socket(socket.AF_UNIX) as error:
            error.connect(RUN + "/stdout")
            error.sendall(b"jackpotd\n\n6\n1\n0\n0\n0\n")
            status = os.fstat(error.fileno())
            stream = stream or f"{status.st_dev}:{status.st_ino}"
            self.process = subprocess.Popen([JACKPOTD, "--config", str(self.config)], stderr=error,
                                            env={**os.environ, "JOURNAL_STREAM": stream})
        self.reader = threading.Thread(target=lambda: None)
        self.reader.start()
        self.pid = self.process.pid
        said = until(lambda: next((each["MESSAGE"] for each in messages(self.pid)
                                   if "listening on " in each["MESSAGE"]), None), 20, 0.1)
        assert said, messages(self.pid)
        self.port = int(re.search(r":(\d+)$", said).group(1))
        return self


class Journald(SiteTest):
    def setUp(self):
        super().setUp()
        self.site.close()
        self.site = JournalSite()
        self.addCleanup(self.site.close)

    def test_messages_have_fields(self):
        self.site.start()
        raw = self.raw("BJ02")
        raw.ask(1, open_round=open_round(1))
        raw.ask(1, open_round=open_round(2))  # a conflict
        # A notice to the inspector.
        raw.ask(2, suspend=pb.Suspend(ground=pb.Suspend.MALFUNCTION, by=b"ann"))
        self.site.stop()
        said = messages(self.site.pid)
        self.assertEqual({each["_TRANSPORT"] for each in said}, {"journal"})

        def only(text):
            found = [each for each in said if text in each["MESSAGE"]]
            self.assertEqual(len(found), 1, text)
            return found[0]

        connected = only("table BJ02 is connected")
        self.assertEqual((connected["PRIORITY"], connected["JACKPOT_TABLE"]), ("6", "BJ02"))
        self.assertNotIn("JACKPOT_CODE", connected)
        alarm = only("alarm: conflict")
        self.assertEqual((alarm["PRIORITY"], alarm["JACKPOT_TABLE"], alarm["JACKPOT_CODE"]),
                         ("3", "BJ02", "conflict"))
        self.assertNotIn("CODE_FILE", alarm)
        notice = only("notice to the inspector")
        self.assertEqual((notice["PRIORITY"], notice["JACKPOT_POOL"], notice["JACKPOT_CODE"]),
                         ("4", "B7", "notice"))
        by_field = must("journalctl", "--directory=/run/log/journal", "--output=cat",
                        "JACKPOT_CODE=conflict", f"_PID={self.site.pid}")
        self.assertEqual(by_field.splitlines(), [alarm["MESSAGE"]])

    def test_a_variable_that_is_not_about_standard_error_changes_nothing(self):
        # As lines, which journald takes from the stream.
        self.site.start(stream="1:2")
        self.site.stop()
        last = messages(self.site.pid)[-1]
        self.assertEqual(last["_TRANSPORT"], "stdout")
        self.assertEqual(last["MESSAGE"], "jackpotd: information: ended by a signal")


if __name__ == "__main__":
    main()
