#!/usr/bin/env python3
"""CHANGELOG.md as Debian's changelog.

    changelog.py VERSION MAINTAINER FILE

Each section becomes an entry: a release has its date; the unreleased section gets VERSION and the date of the
file's last commit.
"""

import re
import subprocess
import sys
import textwrap
from datetime import datetime, timezone
from email.utils import format_datetime
from pathlib import Path


def last_commit(file):
    """The time of the file's last commit; without git, of its last change."""
    try:
        output = subprocess.run(["git", "log", "-1", "--format=%ct", "--", file.name], cwd=file.parent,
                              capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        output = ""
    return datetime.fromtimestamp(int(output) if output else int(file.stat().st_mtime), timezone.utc)


def bullets(section):
    """Each item of the section's lists as one line of text, without Markdown's code marks."""
    found = re.findall(r"(?ms)^- (.*?)(?=^- |^$|^#|\Z)", section)
    return [" ".join(item.replace("`", "").split()) for item in found]


def entries(text, version, unreleased):
    for heading, section in re.findall(r"(?ms)^## (.*?)\n(.*?)(?=^## |\Z)", text):
        items = bullets(section)
        if match := re.fullmatch(r"\[([0-9][0-9.]*)\] - ([0-9-]{10})", heading):
            when = datetime.fromisoformat(match[2]).replace(tzinfo=timezone.utc)
            yield match[1] + "-1", when, items
        elif heading == "[Unreleased]":
            if items:
                yield version, unreleased, items
        else:
            raise ValueError(f"a heading that is neither [Unreleased] nor [VERSION] - DATE: {heading}")


def main(version, maintainer, name):
    file = Path(name).resolve()
    for number, when, items in entries(file.read_text(encoding="utf-8"), version, last_commit(file)):
        print(f"jackpotd ({number}) unstable; urgency=medium\n")
        for item in items:
            print(textwrap.fill(item, 78, initial_indent="  * ", subsequent_indent="    ",
                                break_long_words=False, break_on_hyphens=False))
        print(f"\n -- {maintainer}  {format_datetime(when)}\n")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
