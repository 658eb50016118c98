#!/usr/bin/env python3
"""Runs a program over every scenario of a directory and compares its answers with `expect`.

    check_scenarios.py DIR --program "jackpotctl simulate"
    check_scenarios.py DIR --model

With --model the second implementation beside this file answers, in this process. The program is called with the scenario's file as its last argument. Every key in `expect` has to be
answered exactly; more keys in the answer are allowed. A scenario that expects
{"exit": 2, "message_contains": "..."} has to end with status 2, that text in its message on
standard error and nothing on standard output.
"""

import argparse
import contextlib
import io
import json
import shlex
import subprocess
import sys
from pathlib import Path

import model


def differences(expected, actual, where=""):
    """Every place where the answer differs from what is expected, as a list of sentences."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        found = []
        for key, value in expected.items():
            if key in actual:
                found += differences(value, actual[key], f"{where}.{key}".lstrip("."))
            else:
                found.append(f"{where}.{key}".lstrip(".") + ": missing")
        return found
    if isinstance(expected, list) and isinstance(actual, list):
        found = []
        for index in range(max(len(expected), len(actual))):
            at = f"{where}[{index}]"
            if index >= len(actual):
                found.append(f"{at}: expected {json.dumps(expected[index])}, got nothing")
            elif index >= len(expected):
                found.append(f"{at}: expected nothing, got {json.dumps(actual[index])}")
            else:
                found += differences(expected[index], actual[index], at)
        return found
    if type(expected) is not type(actual) or expected != actual:
        return [f"{where}: expected {json.dumps(expected)}, got {json.dumps(actual)}"]
    return []


def run_model(path):
    output, message = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(message):
        status = model.main([str(path)])
    return subprocess.CompletedProcess([], status, output.getvalue(), message.getvalue())


def run_program(command, path):
    return subprocess.run([*command, str(path)], capture_output=True, text=True, timeout=60)


def check(answer_of, path):
    expect = json.loads(path.read_text(encoding="utf-8")).get("expect")
    if not isinstance(expect, dict) or not expect:
        return ["the scenario expects nothing"]
    run = answer_of(path)
    if "exit" in expect:
        found = []
        if run.returncode != expect["exit"]:
            found.append(f"exit status: expected {expect['exit']}, got {run.returncode}")
        if run.stdout:
            found.append("something was printed on standard output")
        contained = expect.get("message_contains", "")
        if contained not in run.stderr:
            found.append(f"message: {contained!r} is not in {run.stderr.strip()!r}")
        return found
    if run.returncode != 0:
        return [f"exit status {run.returncode}: {run.stderr.strip()}"]
    try:
        answer = json.loads(run.stdout)
    except ValueError as error:
        return [f"the answer is not JSON: {error}"]
    return differences(expect, answer)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument("--program", help="a command; the scenario's file is its last argument")
    who.add_argument("--model", action="store_true", help="the model beside this file")
    arguments = parser.parse_args()
    if arguments.model:
        answer_of = run_model
    else:
        command = shlex.split(arguments.program)
        answer_of = lambda path: run_program(command, path)
    scenarios = sorted(arguments.directory.glob("*.json"))
    if not scenarios:
        print(f"there is no scenario in {arguments.directory}")
        return 1
    failed = 0
    for path in scenarios:
        found = check(answer_of, path)
        if found:
            failed += 1
            print(f"{path.name}:")
            for sentence in found:
                print(f"  {sentence}")
    print(f"{len(scenarios) - failed} of {len(scenarios)} scenarios as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
