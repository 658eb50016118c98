"""Proves that ./dev installs everything that it and the tests use.

The closure is what apt installs on an empty Debian for the packages of ./dev, without recommended ones. Outside of
it, or of no package at all, must be no Python module that a test imports (directly, or through a module that it
imports), no program that a test or ./dev calls, and no header that is compiled. The npm packages of the lock file must
run on Debian's Node.js.

usage: check_packages.py BUILD_DIRECTORY
       check_packages.py --self-test BUILD_DIRECTORY   prove that a missing package of each kind is found
"""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = "/usr/bin/python3"
SKIPPED = 77

# Words that are names of programs on some machines, and are not called here.
NOT_CALLED = {
    "bc": "bytes of a frame",
    "clang": "named in an option's description",
    "clang-tidy": "a label; clang-tidy-16 is called",
    "editor": "quoted from a page",
    "time": "a column",
    "view": "a word of SQL",
}
# Programs that may come from elsewhere: ./dev takes any Node.js, and npm with it.
ANY_ORIGIN = {"node", "npm", "npx"}
# The major version of Debian 12's Node.js, which ./dev installs on a machine without Node.js.
DEBIAN_NODE = 18


def output_of(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout


def packages_of_dev():
    """The packages that ./dev installs, by purpose: {"test": {...}, "bench": {...}, ...}."""
    by_purpose = {}
    for line in output_of(ROOT / "dev", "packages").splitlines():
        purpose, package = line.split()
        by_purpose.setdefault(purpose, set()).add(package)
    return by_purpose


def closure_of(packages):
    """What a Debian has that was empty before these packages were installed without recommended ones."""
    with tempfile.NamedTemporaryFile() as empty:
        simulated = subprocess.run(
            ["apt-get", "--simulate", "--no-install-recommends", "-o", f"Dir::State::status={empty.name}",
             "-o", "Debug::NoLocking=1", "install", "?priority(required)", "apt", *sorted(packages)],
            capture_output=True, text=True, check=False)
    if simulated.returncode != 0:
        sys.exit(f"apt-get cannot simulate the installation (run apt-get update first?):\n{simulated.stderr}")
    return {line.split()[1] for line in simulated.stdout.splitlines() if line.startswith("Inst ")}


class Owners:
    """Which package owns a file."""

    def __init__(self):
        self.owner = {}
        for listing in Path("/var/lib/dpkg/info").glob("*.list"):
            package = listing.name.removesuffix(".list").split(":")[0]
            for path in listing.read_text(encoding="utf-8", errors="replace").splitlines():
                self.owner.setdefault(path, package)

    def of(self, path):
        """None where no package has it. Files of /usr/bin may be listed as of /bin, and links lead elsewhere."""
        for each in (str(path), os.path.realpath(path)):
            for name in (each, each.removeprefix("/usr"), "/usr" + each):
                if name in self.owner:
                    return self.owner[name]
        return None


def tracked(*patterns):
    listed = output_of("git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--",
                       *patterns).split("\0")
    return [ROOT / name for name in listed if name and (ROOT / name).is_file()]


def imported_modules(paths):
    """{module: a file that imports it}, without the modules and packages of the repository."""
    own = {path.stem for path in paths} | {path.parent.name for path in paths} | {"link_pb2"}
    modules = {}
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module]
            for name in names:
                if name.split(".")[0] not in own:
                    modules.setdefault(name, path)
    return modules


# Imports every module of the command line and prints the file of each one that was loaded for it.
LOAD = """
import importlib, sys
before = set(sys.modules)
for name in sys.argv[1:]:
    importlib.import_module(name)
for name, module in sorted(sys.modules.items()):
    if name not in before and getattr(module, "__file__", None):
        print(name, module.__file__)
"""


# A fact is (what is used, the file it is in, who uses it).
def python_facts():
    # link_pb2, which the build generates, needs protobuf.
    modules = sorted({*imported_modules(tracked("*.py")), "google.protobuf.message"})
    loaded = subprocess.run([PYTHON, "-I", "-c", LOAD, *modules], capture_output=True, text=True, check=False)
    if loaded.returncode != 0:
        sys.exit(f"a module that the tests import cannot be loaded by {PYTHON}: {loaded.stderr.splitlines()[-1]}")
    for line in loaded.stdout.splitlines():
        name, file = line.split(" ", 1)
        yield f"Python module {name}", file, "the tests"


def words_of(path):
    """Everything in the file that could be the name of a program: words of a script, strings of a source."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".py":
        strings = [node.value for node in ast.walk(ast.parse(text))
                   if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        # A string with blanks may be a command line.
        return {word for each in strings if len(each) < 400 for word in re.split(r"[\s;|&()`$\"']+", each)[:1]}
    if path.suffix in (".mjs", ".cpp", ".h"):
        return set(re.findall(r"[\"'`]([\w./+-]+)[\"'`]", text))
    text = re.sub(r"(?m)(^|\s)#.*$", " ", text)
    return set(re.findall(r"[\w./+-]+", text))


def program_of(word):
    if not re.fullmatch(r"(/usr)?(/s?bin/)?[a-z][\w.+-]*", word):
        return None
    path = word if word.startswith("/") else shutil.which(word, path="/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
    return path if path and os.access(path, os.X_OK) and os.path.isfile(path) else None


def is_script(path):
    return path.suffix == "" and path.read_bytes()[:2] == b"#!"


def program_facts(paths):
    seen = set()
    for path in paths:
        for word in sorted(words_of(path) - set(NOT_CALLED) - ANY_ORIGIN - seen):
            if program := program_of(word):
                seen.add(word)
                yield f"program {word}", program, path.relative_to(ROOT)


def header_facts(build, of_bench):
    seen = set()
    target = ""
    for line in output_of("ninja", "-C", build, "-t", "deps").splitlines():
        if line and not line.startswith(" "):
            target = line.split(":")[0]
        elif line.startswith("    /usr") and target.startswith("bench/") == of_bench:
            header = line.strip()
            if header not in seen:
                seen.add(header)
                yield f"header {header}", header, target


def runs_on_debian_node(engines):
    """Whether a range of npm such as ">=16.20.0" or "^18 || >=20" contains Debian's Node.js. Other forms do not."""
    for each in engines.split("||"):
        simple = re.fullmatch(r"\s*(>=|\^|)\s*(\d+)(?:\.[\dx*]+){0,2}\s*", each)
        if each.strip() == "*" or simple and (
                int(simple[2]) <= DEBIAN_NODE if simple[1] == ">=" else int(simple[2]) == DEBIAN_NODE):
            return True
    return False


def npm_faults(lock):
    """Packages of a lock file that need another Node.js than Debian's."""
    packages = lock["packages"].items()
    ranges = [(path, package.get("engines", {}).get("node", "*")) for path, package in packages]
    return [f"{path} needs Node.js {engines}, and Debian 12 has {DEBIAN_NODE}"
            for path, engines in ranges if not runs_on_debian_node(engines)]


class Check:
    def __init__(self, build):
        self.packages = packages_of_dev()
        owners = Owners()
        sources = [path for path in tracked("tests", "package", "bench", "*CMakeLists.txt")
                   if path.suffix in (".py", ".mjs", ".cpp", ".h", ".txt", ".cmake") or is_script(path)]
        bench = [path for path in sources if path.relative_to(ROOT).parts[0] == "bench"]
        tests = [path for path in sources if path not in bench]
        # What is used, by the lists of ./dev that are installed by then.
        self.used = [
            ({"test"}, [*python_facts(), *program_facts(tests), *header_facts(build, of_bench=False)]),
            (set(self.packages), [*program_facts([*bench, ROOT / "dev", ROOT / ".ci/run"]),
                                  *header_facts(build, of_bench=True)]),
        ]
        self.used = [(purposes, [(what, file, user, owners.of(file)) for what, file, user in facts])
                     for purposes, facts in self.used]

    def faults(self):
        return [fault for purposes, facts in self.used for fault in self.faults_of(purposes, facts)]

    def faults_of(self, purposes, facts, without=frozenset()):
        """What is outside the closure, had ./dev not listed the packages `without`."""
        closure = closure_of(set().union(*(self.packages[each] for each in purposes)) - without)
        return [f"{what} ({file}), used by {user}, is of {package or 'no package'}"
                for what, file, user, package in facts if package not in closure]


def self_test(check):
    """A package of each kind, taken off the list, must be missed by name."""
    left_out = {"python3-serial-asyncio": "Python module serial_asyncio ", "mbpoll": "program mbpoll ",
                "doctest-dev": "header /usr/include/doctest/doctest.h "}
    found = check.faults_of(*check.used[0], without=set(left_out))
    missed = [package for package, fault in left_out.items()
              if not any(each.startswith(fault) for each in found)]
    for package in missed:
        print(f"the check does not notice that {package} is left out")
    print(f"{len(left_out)} packages left out, {len(missed)} not noticed")
    planted = {">=20": False, "^20 || >=22": False, ">=16.20.0": True, "^16 || 18.x": True, ">= 18": True, "*": True}
    wrong = [engines for engines, runs in planted.items()
             if bool(npm_faults({"packages": {"planted": {"engines": {"node": engines}}}})) == runs]
    for engines in wrong:
        print(f"the check judges Node.js {engines} wrongly")
    return 1 if missed or wrong else 0


def main(arguments):
    proving = arguments[:1] == ["--self-test"]
    if len(arguments) != 1 + proving:
        print(__doc__, file=sys.stderr)
        return 2
    if shutil.which("apt-get") is None:
        print("not a Debian system: there are no packages to compare with")
        return SKIPPED
    check = Check(arguments[-1])
    if proving:
        return self_test(check)
    faults = check.faults()
    for fault in faults:
        print(f"{fault}. List its package in ./dev, or say in {Path(__file__).name} why it is not needed.")
    too_new = npm_faults(json.loads((ROOT / "console/web/package-lock.json").read_text(encoding="utf-8")))
    for fault in too_new:
        print(f"{fault}. Choose an older version of it in console/web/package.json.")
    return 1 if faults or too_new else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
