"""The tested programs, and functions to run them and to wait for a condition."""

import os
import socket
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
JACKPOTD = os.environ["JACKPOTD"]
JACKPOTCTL = os.environ["JACKPOTCTL"]
JACKPOT_AUDIT = os.environ["JACKPOT_AUDIT"]


def run(*arguments, timeout=300, **options):
    """The ended process with its output as text, whatever its exit status."""
    return subprocess.run([str(each) for each in arguments], capture_output=True, text=True,
                          timeout=timeout, **options)


def must(*arguments, **options):
    """The output of a program that must succeed."""
    done = run(*arguments, **options)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: {done.stdout}{done.stderr}")
    return done.stdout


def until(condition, timeout=5.0, every=0.01):
    """The condition's first true value; after the timeout in seconds, its last value."""
    end = time.monotonic() + timeout
    while True:
        got = condition()
        if got or time.monotonic() >= end:
            return got
        time.sleep(every)


def free_port():
    """A TCP port that a daemon can have again after a restart."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
