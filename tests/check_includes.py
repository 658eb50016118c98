#!/usr/bin/env python3
"""Checks that each folder includes only what it may.

    check_includes.py [ROOT]       checks the sources under ROOT (default: the project's root)
    check_includes.py --self-test  checks that each rule is enforced, on small trees that break it

Each violation is one line, file:line: message. The exit status is 0 for none, 1 for some, 2 for a
wrong call.
"""

import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

# What the rules may use of the standard library: nothing that tells the time, reads or writes
# anything, draws a random number, starts a thread, depends on a locale or counts in floating point.
# <cassert> is left out because an invariant must hold in every build type.
PURE = set("""
    algorithm any array bit bitset cctype charconv chrono climits compare concepts cstddef cstdint
    cstdlib cstring deque exception forward_list functional initializer_list iterator limits list
    map memory new numeric optional queue ranges ratio set source_location span stack stdexcept
    string string_view system_error tuple type_traits typeindex typeinfo unordered_map
    unordered_set utility variant vector version
""".split())

STANDARD = PURE | set("""
    atomic barrier cassert cerrno cfenv cfloat cinttypes clocale cmath codecvt complex
    condition_variable coroutine csetjmp csignal cstdarg cstdio ctime cuchar cwchar cwctype
    execution filesystem fstream future iomanip ios iosfwd iostream istream latch locale
    memory_resource mutex numbers ostream random regex scoped_allocator semaphore shared_mutex
    sstream stop_token streambuf strstream syncstream thread valarray
""".split())

# A name that ends in "/" stands for every header below it.
POSIX_FILES = {"dirent.h", "fcntl.h", "sys/file.h", "sys/mman.h", "sys/resource.h", "sys/stat.h",
               "sys/statvfs.h", "sys/sysmacros.h", "sys/types.h", "sys/uio.h", "unistd.h"}
POSIX_SOCKETS = {"arpa/inet.h", "fcntl.h", "net/if.h", "netdb.h", "netinet/in.h",
                 "netinet/tcp.h", "poll.h", "sys/epoll.h", "sys/eventfd.h", "sys/ioctl.h",
                 "sys/resource.h", "sys/socket.h", "sys/timerfd.h", "sys/types.h", "sys/uio.h",
                 "sys/un.h", "unistd.h"}
POSIX_SERIAL = {"termios.h"}
# To run the program that notices are given to, with a clean environment, which POCO cannot.
POSIX_PROGRAMS = {"fcntl.h", "spawn.h", "sys/wait.h", "syslog.h", "unistd.h"}
JSON = {"rapidjson/"}
OPENSSL = {"openssl/"}
POCO = {"Poco/"}
PROTOBUF = {"google/protobuf/"}

ANYTHING = None


@dataclass(frozen=True)
class Allowance:
    folders: frozenset
    headers: set | None = ANYTHING
    generated: bool = False  # may include *.pb.h


PARTS = {"base", "rules", "config", "storage", "audit", "net", "linkproto", "meters", "console"}


def may(*folders, headers=ANYTHING, generated=False):
    return Allowance(frozenset(folders), headers, generated)


# The dependency rule, as in the folder table of the design. A folder may always include itself.
TABLE = {
    # Two classes for threads: ChangeSignal on the kernel's futex, WakeUpTimer on its timer.
    "base": may(headers=PURE | {"atomic", "cerrno", "ctime", "linux/futex.h", "stop_token", "sys/syscall.h",
                                "sys/timerfd.h", "unistd.h"}),
    "rules": may("base", headers=PURE),
    "config": may("base", "rules", headers=STANDARD | {"toml++/", "arpa/inet.h"}),
    "storage": may("base", "rules", headers=STANDARD | POSIX_FILES | OPENSSL | JSON | {"sqlite3.h"}),
    # The auditor's tool and the desk read the journal for people: reports and words in one way.
    "audit": may("base", "rules", "storage", headers=STANDARD | {"unistd.h"} | JSON),
    "net": may("base", headers=STANDARD | POSIX_SOCKETS | POSIX_FILES | OPENSSL | POCO),
    "linkproto": may("base", "rules", "net", headers=STANDARD | POSIX_SOCKETS | POSIX_FILES | OPENSSL | PROTOBUF,
                     generated=True),
    "meters": may("base", "rules", "net", headers=STANDARD | POSIX_SOCKETS | POSIX_SERIAL
                  | {"modbus/", "modbus.h", "sched.h"}),
    # Its server is one thread on epoll, as docs/decisions/0007-the-desk.md says.
    "console": may("base", "rules", "storage", "audit", "net", headers=STANDARD | POSIX_SOCKETS | POSIX_FILES
                   | POSIX_PROGRAMS | OPENSSL | JSON),
    # The command line of all four programs. CLI11 compiles slowly: no other folder includes it.
    "tools/cli": may("base", "storage", "audit", headers=STANDARD | POSIX_FILES | {"CLI/"}),
    "jackpotd": may(*PARTS, "tools/cli"),
    "tools": may(*PARTS, "tools/cli", generated=True),
    "tests": may(*PARTS, "jackpotd", "tools", "tools/cli", "bench", generated=True),
    "bench": may(*PARTS, "jackpotd", "tools", "tools/cli", "tests", generated=True),
    # The vendors' example: what the installed library has, and nothing else.
    "docs": may("base", "linkproto", headers=STANDARD),
}

# Subfolders, each of which may include itself and those before it.
ORDERED_SUBFOLDERS = {"console": ["people", "search", "desk"]}

# What an allowed header offers and the folder, or the files with this beginning, must still not use.
ENCODED = [(re.compile(r"\b(?:link::|linkproto::)?v2::|\bmeters::(?:address|status|Registers)\b"),
            "the writer hands out domain replies and readings: protobuf and registers are made at the edges")]
FORBIDDEN_WORDS = {
    **{"jackpotd/" + part: ENCODED for part in (
        "writer", "decider", "replies", "table_commands", "restore_guard", "alarms", "publisher")},
    "rules": [
        (re.compile(r"\b(?:system|steady|high_resolution|utc|tai|gps|file)_clock\b"),
         "rules have no clock: time comes with the command"),
        (re.compile(r"\bstd::(?:rand|srand)\b"), "rules have no randomness"),
        (re.compile(r"\bstd::(?:getenv|system)\b"), "rules have no I/O"),
    ],
}

SOURCES = {".h", ".hpp", ".hh", ".cpp", ".cc", ".cxx"}
NOT_SOURCE_FOLDERS = {"build"}
OWN_HEADER = re.compile(r"([a-z][a-z0-9_]*)(?:/[a-z0-9_-]+)+\.h")
GENERATED_HEADER = re.compile(r"(?:[a-z0-9_]+/)*[a-z0-9_]+\.pb\.h")
INCLUDE = re.compile(r"\s*#\s*(?:include|include_next|import)\b\s*(.*?)\s*")
TOKEN = re.compile(
    r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z))
      | (?P<raw>\bR|\b(?:u8|u|U|L)R)"(?P<delimiter>[^()\\\s]{0,16})\(.*?(?:\)(?P=delimiter)"|\Z)
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<digit>(?<=[0-9a-fA-F])'(?=[0-9a-fA-F]))
      | (?P<char>'(?:\\.|[^'\\\n])+')""",
    re.VERBOSE | re.DOTALL)


def blank(text, keep_strings):
    """The text without comments and raw strings, and without strings where asked; lines stay."""
    def replace(match):
        if match["digit"] or (keep_strings and (match["string"] or match["char"])):
            return match[0]
        return " " + "\n" * match[0].count("\n")
    return TOKEN.sub(replace, text)


def allows(headers, name):
    if headers is ANYTHING or name in headers:
        return True
    return any(prefix.endswith("/") and name.startswith(prefix) for prefix in headers)


def folder_of(name):
    """The folder of the table that a path relative to the root belongs to."""
    return "tools/cli" if name.startswith("tools/cli/") else name.split("/")[0]


class Check:
    def __init__(self, root):
        self.root = root
        self.violations = []
        self.edges = {}  # (folder, included folder) -> where it was first seen

    def say(self, where, message):
        self.violations.append(f"{where}: {message}")

    def run(self):
        files = sorted(path for path in self.root.rglob("*")
                       if path.suffix in SOURCES and path.is_file() and self.is_ours(path))
        for path in files:
            self.check_file(path)
        self.check_cycles()
        return self.violations

    def is_ours(self, path):
        first = path.relative_to(self.root).parts[0]
        return not first.startswith(".") and first not in NOT_SOURCE_FOLDERS

    def check_file(self, path):
        name = path.relative_to(self.root)
        folder = folder_of(name.as_posix()) if len(name.parts) > 1 else None
        if folder not in TABLE:
            self.say(f"{name}:1", "a source outside the folders that the table knows")
            return
        text = path.read_text(encoding="utf-8")
        for number, line in enumerate(blank(text, keep_strings=True).split("\n"), start=1):
            if match := INCLUDE.fullmatch(line):
                self.check_include(folder, f"{name}:{number}", match[1])
        forbidden = [each for place, words in FORBIDDEN_WORDS.items()
                     if place == folder or ("/" in place and name.as_posix().startswith(place)) for each in words]
        for number, line in enumerate(blank(text, keep_strings=False).split("\n") if forbidden else (), start=1):
            for word, reason in forbidden:
                if match := word.search(line):
                    self.say(f"{name}:{number}", f"{match[0]}: {reason}")

    def check_include(self, folder, where, what):
        if what.startswith("<") and what.endswith(">"):
            header = what[1:-1]
            if header.split("/")[0] in TABLE and (self.root / header).is_file():
                self.say(where, f'<{header}> is a header of ours: write "{header}"')
            elif not allows(TABLE[folder].headers, header):
                self.say(where, f"{folder} may not include <{header}>")
        elif len(what) > 1 and what.startswith('"') and what.endswith('"'):
            self.check_quoted(folder, where, what[1:-1])
        else:
            self.say(where, f"this include is neither <header> nor \"folder/file.h\": {what}")

    def check_quoted(self, folder, where, header):
        if GENERATED_HEADER.fullmatch(header):
            if not TABLE[folder].generated:
                self.say(where, f'{folder} may not include the generated "{header}"')
            elif "/" in header:
                self.check_folder(folder, where, header.split("/")[0])
            return
        match = OWN_HEADER.fullmatch(header)
        if not match:
            self.say(where, f'"{header}" is not of the form "folder/file.h"')
            return
        self.check_folder(folder, where, folder_of(header))
        self.check_subfolder(where, header)
        if not (self.root / header).is_file():
            self.say(where, f'"{header}" does not exist')

    def check_folder(self, folder, where, other):
        if other == folder:
            return
        if other not in TABLE[folder].folders:
            self.say(where, f"{folder} may not include {other}")
        self.edges.setdefault((folder, other), where)

    def check_subfolder(self, where, header):
        folder, own = where.split(":")[0].split("/")[:2]
        other_folder, other = header.split("/")[:2]
        order = ORDERED_SUBFOLDERS.get(folder, [])
        if folder == other_folder and own in order and other in order and order.index(other) > order.index(own):
            self.say(where, f"{folder}/{own} may not include {folder}/{other}")

    def check_cycles(self):
        done = set()

        def visit(folder, trail):
            if folder in trail:
                cycle = trail[trail.index(folder):]
                first = cycle.index(min(cycle))
                cycle = cycle[first:] + cycle[:first + 1]
                self.say(self.edges[cycle[-2], cycle[-1]],
                         "a cycle between folders: " + " -> ".join(cycle))
                return
            if folder in done:
                return
            for start, end in sorted(self.edges):
                if start == folder:
                    visit(end, trail + [folder])
            done.add(folder)

        for start, _ in sorted(self.edges):
            visit(start, [])


GOOD = {
    "rules/money.h": "#pragma once\n#include <chrono>\n#include <cstdint>\n",
    "rules/money.cpp": (
        '#include "rules/money.h"\n'
        "// #include <iostream> in a comment\n"
        "/* steady_clock in a comment\n#include <random>\n*/\n"
        'const char* text = "// std::chrono::system_clock in a string";\n'
        'const char* raw = R"x(\n#include "nowhere.h"\n)x";\n'
        "constexpr int million = 1'000'000;\n"
        "std::chrono::milliseconds window{2000};\n"),
    "config/site.cpp": '#include <fstream>\n#include <toml++/toml.h>\n#include "rules/money.h"\n',
    "storage/journal.h": "#include <openssl/evp.h>\n#include <sqlite3.h>\n#include <unistd.h>\n",
    "storage/journal.cpp": '#include <rapidjson/document.h>\n\n#include "storage/journal.h"\n',
    "linkproto/server/link_server.cpp": (
        "#include <google/protobuf/message.h>\n#include <sys/epoll.h>\n"
        '#include "link.pb.h"\n#include "linkproto/link.pb.h"\n#include "rules/money.h"\n'),
    "meters/map.cpp": '#include <modbus/modbus.h>\n#include <poll.h>\n#include "rules/money.h"\n',
    "console/desk/desk_api.cpp": '#include <sys/epoll.h>\n#include "storage/journal.h"\n',
    "jackpotd/writer.h": '#include <systemd/sd-daemon.h>\n#include "storage/journal.h"\n// v2::Decision\n',
    "jackpotd/displays.cpp": "int open = meters::status::kOpen;\n",
    "tools/jackpotctl/main.cpp": '#include <iostream>\n#  include "rules/money.h" // why\n',
    "tests/rules/cards.h": "#pragma once\n",
    "tests/rules/money_test.cpp": (
        "#include <doctest/doctest.h>\n"
        '#include "jackpotd/writer.h"\n#include "tests/rules/cards.h"\n'),
    "bench/rules_bench.cpp": '#include <chrono>\n#include "rules/money.h"\n',
    "build/release/generated.cpp": '#include "anything.h"\n',
}

# What each broken tree changes of the good one, and what must be said about it.
BROKEN = [
    *[({"rules/bad.cpp": f"\n#include <{header}>\n"},
       f"rules/bad.cpp:2: rules may not include <{header}>")
      for header in ("random", "iostream", "fstream", "filesystem", "thread", "cstdio", "ctime",
                     "mutex", "cmath", "time.h", "stdio.h", "unistd.h", "sqlite3.h",
                     "openssl/evp.h", "rapidjson/document.h")],
    *[({"rules/bad.cpp": f"auto t = {clock}::now();\n"}, "rules/bad.cpp:1: ")
      for clock in ("std::chrono::system_clock", "std::chrono::steady_clock",
                    "std::chrono::high_resolution_clock", "std::chrono::utc_clock")],
    ({"rules/bad.cpp": "int i = std::rand();\n"}, "rules have no randomness"),
    ({"rules/bad.cpp": 'auto v = std::getenv("X");\n'}, "rules have no I/O"),
    ({"rules/bad.cpp": '/* a */ #include <iostream>\n'}, "rules may not include <iostream>"),
    ({"rules/bad.cpp": 'auto s = "/*";\n#include <iostream>\n'}, "rules/bad.cpp:2: "),
    ({"rules/bad.cpp": "auto n = 1'0 + '\"';\n#include <iostream>\n"}, "rules/bad.cpp:2: "),
    ({"rules/bad.cpp": '#include "storage/journal.h"\n'}, "rules may not include storage"),
    ({"config/bad.cpp": "#include <sqlite3.h>\n"}, "config may not include <sqlite3.h>"),
    ({"config/bad.cpp": '#include "storage/journal.h"\n'}, "config may not include storage"),
    ({"storage/bad.cpp": "#include <toml++/toml.h>\n"}, "storage may not include <toml++/toml.h>"),
    ({"storage/bad.cpp": "#include <sys/epoll.h>\n"}, "storage may not include <sys/epoll.h>"),
    ({"storage/bad.cpp": '#include "link.pb.h"\n'}, 'storage may not include the generated'),
    ({"storage/bad.cpp": '#include "jackpotd/writer.h"\n'}, "storage may not include jackpotd"),
    ({"linkproto/bad.cpp": "#include <Poco/Net/Socket.h>\n"}, "linkproto may not include <Poco/"),
    ({"linkproto/bad.cpp": '#include "storage/journal.h"\n'}, "linkproto may not include storage"),
    ({"meters/bad.cpp": "#include <openssl/ssl.h>\n"}, "meters may not include <openssl/ssl.h>"),
    ({"meters/bad.cpp": '#include "storage/journal.h"\n'}, "meters may not include storage"),
    ({"console/bad.cpp": "#include <sqlite3.h>\n"}, "console may not include <sqlite3.h>"),
    ({"console/bad.cpp": '#include "jackpotd/writer.h"\n'}, "console may not include jackpotd"),
    ({"console/people/bad.cpp": '#include "console/desk/desk_api.h"\n', "console/desk/desk_api.h": ""},
     "console/people may not include console/desk"),
    ({"audit/bad.cpp": '#include "tools/jackpot-audit/cli.h"\n'}, "audit may not include tools"),
    ({"audit/bad.cpp": "#include <sqlite3.h>\n"}, "audit may not include <sqlite3.h>"),
    ({"jackpotd/bad.cpp": '#include "tests/rules/cards.h"\n'}, "jackpotd may not include tests"),
    ({"jackpotd/bad.cpp": '#include "link.pb.h"\n'}, "jackpotd may not include the generated"),
    ({"jackpotd/replies.cpp": "\nlinkproto::v2::Decision decision;\n"},
     "jackpotd/replies.cpp:2: linkproto::v2::: the writer"),
    ({"jackpotd/writer_metrics.h": "v2::Rejected why;\n"}, "jackpotd/writer_metrics.h:1: v2::: the writer"),
    ({"jackpotd/publisher.cpp": "int x = meters::status::kOpen;\n"},
     "jackpotd/publisher.cpp:1: meters::status: the writer"),
    ({"docs/examples/table/bad.cpp": '#include "storage/journal.h"\n'}, "docs may not include storage"),
    ({"tools/bad.cpp": '#include "jackpotd/writer.h"\n'}, "tools may not include jackpotd"),
    ({"tools/bad.cpp": '#include "tests/rules/cards.h"\n'}, "tools may not include tests"),
    ({"rules/bad.cpp": '#include "money.h"\n'}, 'not of the form "folder/file.h"'),
    ({"tests/bad.cpp": '#include "../rules/money.h"\n'}, 'not of the form "folder/file.h"'),
    ({"tests/bad.cpp": '#include "rules/money.hpp"\n'}, 'not of the form "folder/file.h"'),
    ({"tests/bad.cpp": '#include "doctest.h"\n'}, 'not of the form "folder/file.h"'),
    ({"tests/bad.cpp": "#include MONEY_H\n"}, "this include is neither"),
    ({"tests/bad.cpp": "#include <rules/money.h>\n"}, "is a header of ours"),
    ({"tests/bad.cpp": '#include "rules/nothing.h"\n'}, '"rules/nothing.h" does not exist'),
    ({"tests/bad.cpp": '#include "util/money.h"\n', "util/money.h": ""},
     "tests may not include util"),
    ({"util/money.h": ""}, "util/money.h:1: a source outside the folders"),
    ({"loose.cpp": ""}, "loose.cpp:1: a source outside the folders"),
    ({"tests/a.cpp": '#include "bench/a.h"\n', "bench/a.h": '#include "tests/rules/cards.h"\n'},
     "a cycle between folders: bench -> tests -> bench"),
    ({"rules/a.h": '#include "config/a.h"\n', "config/a.h": '#include "rules/money.h"\n'},
     "a cycle between folders: config -> rules -> config"),
    ({"rules/a.h": '#include "config/a.h"\n', "config/a.h": '#include "storage/journal.h"\n',
      "storage/a.h": '#include "rules/money.h"\n'},
     "a cycle between folders: config -> storage -> rules -> config"),
]


def violations_of(files):
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return Check(root).run()


def self_test():
    failures = [f"the good tree: {violation}" for violation in violations_of(GOOD)]
    for change, expected in BROKEN:
        found = violations_of(GOOD | change)
        if not any(expected in violation for violation in found):
            failures.append(f"not caught: {expected!r} in {change!r}; said {found!r}")
        failures += [f"blames a good file: {violation}" for violation in found
                     if violation.split(":")[0] in GOOD and "cycle" not in violation]
    for failure in failures:
        print(failure)
    print(f"{len(BROKEN)} broken trees and a good one, {len(failures)} failures")
    return 1 if failures else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        print(__doc__, file=sys.stderr)
        return 2
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    if not root.is_dir():
        print(f"{root} is not a folder", file=sys.stderr)
        return 2
    violations = Check(root).run()
    for violation in violations:
        print(violation)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
