#!/usr/bin/env python3
"""Does what docs/operations.md says: every block marked sh, in order, in one shell and one empty directory, with real
daemons. systemctl is a stand-in that starts and stops the daemon of that directory; ports are those of the sample
configuration, in a network of the test's own.

usage: run_operations_page.py PAGE BIN"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

SYSTEMCTL = r"""#!/bin/bash
# start, stop, restart, reload or is-active jackpotd
set -euo pipefail
start() {
    : >daemon.log
    setsid jackpotd --config jackpotd.toml 2>>daemon.log &
    echo $! >daemon.pid
    for _ in $(seq 300); do
        if grep -q "the desk is open" daemon.log; then return; fi
        if ! kill -0 "$(cat daemon.pid)" 2>/dev/null; then break; fi
        sleep 0.1
    done
    cat daemon.log >&2
    exit 1
}
stop() {
    if [[ ! -e daemon.pid ]]; then return; fi
    kill "$(cat daemon.pid)" 2>/dev/null || true
    for _ in $(seq 300); do
        if ! kill -0 "$(cat daemon.pid)" 2>/dev/null; then rm daemon.pid; return; fi
        sleep 0.1
    done
    exit 1
}
case "$1 $2" in
    "start jackpotd") start ;;
    "stop jackpotd") stop ;;
    "restart jackpotd") stop; start ;;
    "reload jackpotd") kill -HUP "$(cat daemon.pid)"; sleep 1 ;;
    "is-active jackpotd") kill -0 "$(cat daemon.pid)" && echo active ;;
    *) echo "systemctl $*: not here" >&2; exit 2 ;;
esac
"""


def blocks(page):
    """(line, text) of each."""
    for match in re.finditer(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        yield page.count("\n", 0, match.start()) + 1, match.group(1)


def unexplained(page, source):
    """Alarm codes of the program that the page does not explain."""
    codes = set(re.findall(r"\b(?:raise|raiseAlarm|raiseForTable|raise_|suspend)\(\s*[^\"();]*\"([a-z_]+)\"", source))
    return {code for code in codes if f"| `{code}` |" not in page}, len(codes)


def isolated():
    root = os.geteuid() == 0
    return ["unshare", *([] if root else ["-r"]), "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]


def run(page, programs, directory):
    helpers = directory / "helpers"
    helpers.mkdir()
    (helpers / "systemctl").write_text(SYSTEMCTL)
    (helpers / "systemctl").chmod(0o755)
    site = directory / "site"
    site.mkdir()
    root = pathlib.Path(__file__).resolve().parents[2]
    script = "ip link set lo up\nset -euo pipefail\n"
    for line, text in blocks(page):
        text = text.replace("/usr/share/doc/jackpotd/examples", str(root / "config"))
        script += f"echo '== line {line}'\n{text}"
    environment = {**os.environ, "HOME": str(directory), "XDG_CONFIG_HOME": str(directory / "config"),
                   "PATH": f"{helpers}:{programs}:/usr/sbin:/usr/bin:/sbin:/bin"}
    return subprocess.run([*isolated(), "bash", "-c", script], cwd=site, env=environment, text=True,
                          capture_output=True, timeout=500, check=False)


def main():
    page = pathlib.Path(sys.argv[1]).read_text()
    programs = sys.argv[2]
    found = list(blocks(page))
    root = pathlib.Path(__file__).resolve().parents[2]
    source = "".join(each.read_text() for each in sorted((root / "jackpotd").glob("*.cpp")))
    missing, codes = unexplained(page, source)
    assert not missing and codes >= 8, (missing, codes)
    assert unexplained(page, 'raiseForTable(index, "made_up", why);')[0] == {"made_up"}
    with tempfile.TemporaryDirectory() as directory:
        done = run(page, programs, pathlib.Path(directory))
    if done.returncode != 0:
        sys.exit(f"{done.stdout[-6000:]}\n{done.stderr[-3000:]}\na step ended with {done.returncode}")
    # Control: a step that fails is detected.
    with tempfile.TemporaryDirectory() as directory:
        doctored = "```sh\njackpotctl journal archive --key nowhere.key journal\n```\n```sh\necho went on\n```\n"
        failed = run(doctored, programs, pathlib.Path(directory))
    assert failed.returncode != 0 and "went on" not in failed.stdout
    print(done.stdout[-3000:])
    print(f"{len(found)} blocks, each did what the page says")


main()
