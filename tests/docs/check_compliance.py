#!/usr/bin/env python3
"""docs/compliance.md names files, tests and scenarios: each of them exists.

usage: check_compliance.py PAGE ROOT TEST..."""

import pathlib
import re
import sys

FILE = re.compile(r"^[\w./-]+\.(cpp|h|json|md|py)$")
TEST = re.compile(r"^[a-z]+(_[a-z0-9]+)+$")


def missing(page, root, tests):
    found = []
    for name in sorted(set(re.findall(r"`([^`\n]+)`", page))):
        if FILE.match(name):
            if not (root / name).is_file():
                found.append(f"{name}: there is no such file")
        elif TEST.match(name) and name not in tests:
            found.append(f"{name}: there is no such test")
    return found


def rows_without_proof(page):
    rows = [row for row in page.splitlines()
            if row.startswith("| ") and not row.startswith(("| rule |", "| what is asked |"))]
    return [row[:60] for row in rows if "`" not in row.split("|")[-2]], len(rows)


def main():
    page = pathlib.Path(sys.argv[1]).read_text()
    root, tests = pathlib.Path(sys.argv[2]), set(sys.argv[3:])
    problems = missing(page, root, tests)
    unproved, rows = rows_without_proof(page)
    problems += [f"{row}: shown by nothing" for row in unproved]
    # Control: a missing file, test and proof are detected.
    assert missing("`rules/nowhere.cpp` `no_such_test`", root, tests) == [
        "no_such_test: there is no such test", "rules/nowhere.cpp: there is no such file"]
    assert rows_without_proof("| BJ 1 | what | `rules/apply.cpp` | nothing |")[0]
    if problems:
        sys.exit("\n".join(problems))
    print(f"{rows} rows, each shown by something that is there")


main()
