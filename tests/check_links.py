#!/usr/bin/env python3
"""Checks that the documents point to things that exist.

    check_links.py [ROOT]       checks the Markdown files of ROOT (default: the project's root)
    check_links.py --self-test  checks that planted faults are found

Each relative link must lead to a file and each #anchor to a heading. The pages of FILES_EXIST name source files in
backticks: each must exist. One line for each fault; exit status 0 for none, 1 for some, 2 for a wrong call.
"""

import re
import sys
import tempfile
from pathlib import Path

# Pages whose file names in backticks are those of the tree, from its root.
FILES_EXIST = ("README.md", "docs/architecture.md", "docs/invariants.md", "docs/glossary.md")
SOURCE = re.compile(r"`([a-z][\w.-]*(?:/[\w.-]+)+\.(?:cpp|h|py|proto|md|toml|mjs))`")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")


def prose(text):
    """The page without code, where brackets mean something else."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"(?ms)^```.*?^```$", "", text))


def anchors(text):
    found = set()
    for heading in re.findall(r"(?m)^#+ (.*)$", re.sub(r"(?ms)^```.*?^```$", "", text)):
        found.add(re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-"))
    return found


def faults(root, pages):
    found = []
    for page in pages:
        path = root / page
        text = path.read_text(encoding="utf-8")
        for groups in LINK.findall(prose(text)):
            target = groups[0] or groups[1]
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            goal = (path.parent / file).resolve() if file else path
            if not goal.exists():
                found.append(f"{page}: {target}: there is no such file")
            elif anchor and goal.suffix == ".md" and anchor not in anchors(goal.read_text(encoding="utf-8")):
                found.append(f"{page}: {target}: there is no such heading")
        if page in FILES_EXIST:
            found += [f"{page}: `{name}`: there is no such file" for name in sorted(set(SOURCE.findall(text)))
                      if not (root / name).exists()]
    return found


def pages_of(root):
    return [str(path.relative_to(root)) for path in sorted(root.rglob("*.md"))
            if not {"node_modules", "build", ".git"} & set(path.relative_to(root).parts)]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "docs").mkdir()
        (root / "docs/page.md").write_text("# A page\n\n## The file's name (1)\n")
        (root / "README.md").write_text(
            "[good](docs/page.md), [good](docs/page.md#the-files-name-1), [far](https://example.org/x), `docs/page.md`\n"
            "[bad](docs/none.md) [bad](docs/page.md#nowhere) ![bad](docs/none.png) `rules/none.cpp`\n")
        found = faults(root, ["README.md", "docs/page.md"])
    expected = ["README.md: docs/none.md: there is no such file", "README.md: docs/page.md#nowhere: there is no such heading",
                "README.md: docs/none.png: there is no such file", "README.md: `rules/none.cpp`: there is no such file"]
    if found != expected:
        print("\n".join(["expected", *expected, "found", *found]))
        return 1
    print(f"{len(found)} planted faults found")
    return 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        print(__doc__, file=sys.stderr)
        return 2
    root = Path(arguments[0]).resolve() if arguments else Path(__file__).resolve().parent.parent
    found = faults(root, pages_of(root))
    print("\n".join(found) if found else "every link leads to something")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
