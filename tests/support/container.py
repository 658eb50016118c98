"""A Debian that boots, in a container: systemd as PID 1, with a network of its own."""

import ctypes
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from support.programs import run

CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1
RELEASE = "bookworm"
LIBC = ctypes.CDLL(None, use_errno=True)

# What the programs and their tests need there.
PACKAGES = ("systemd", "libsystemd0", "libssl3", "libsqlite3-0", "libmodbus5", "libprotobuf-lite32",
            "libtomlplusplus3", "libpoconetssl80")


class Impossible(Exception):
    """A container cannot be run on this machine; the text gives the reason."""


def mirror():
    """The package mirror of this machine; [] uses the default of debootstrap."""
    found = run("apt-get", "indextargets", "--format", "$(CODENAME) $(COMPONENT) $(REPO_URI)",
                "Created-By: Packages").stdout
    return [line.split()[2] for line in found.splitlines()
            if line.split()[:2] == [RELEASE, "main"]][:1]


def prepare(root):
    """Checks that a container can run, and makes a small Debian below build, once, in a minute or two."""
    if os.geteuid() != 0:
        raise Impossible("only root can boot one")
    for program in ("systemd-nspawn", "debootstrap", "nsenter"):
        if shutil.which(program) is None:
            raise Impossible(f"there is no {program}")
    stamp = root.with_name(root.name + ".made")
    wanted = " ".join((RELEASE,) + PACKAGES)
    if stamp.exists() and stamp.read_text() == wanted:
        return
    if f"VERSION_CODENAME={RELEASE}" not in Path("/etc/os-release").read_text():
        raise Impossible("the programs are not built for Debian 12")
    stamp.unlink(missing_ok=True)
    shutil.rmtree(root, ignore_errors=True)
    made = run("debootstrap", "--variant=minbase", "--include=" + ",".join(PACKAGES), RELEASE, root,
               *mirror(), timeout=900)
    if made.returncode != 0:
        raise Impossible(f"debootstrap: {made.stdout[-1000:]}{made.stderr[-1000:]}")
    stamp.write_text(wanted)


def make_cgroups(name):
    """Makes control groups for the container, if no systemd on this machine does."""
    made = []
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, where, kind, options = line.split()[:4]
        if kind == "cgroup2" or (kind == "cgroup" and "name=systemd" in options.split(",")):
            group = Path(where) / name
            try:
                group.mkdir(exist_ok=True)
            except OSError as error:
                raise Impossible(f"no control group can be made: {error}") from error
            made.append(group)
    if not made:
        raise Impossible("there are no control groups: neither cgroup2 nor systemd's is mounted")
    return made


class Container:
    """Booted when it is made. `binds` are files and directories of this machine that are to be
    there, with their paths there and whether they are read-only; everything else that changes in it
    is gone with it."""

    def __init__(self, root, log, binds):
        prepare(root)
        self.log = log
        self.groups = []
        options = ["--register=no"]
        if not Path("/run/systemd/system").exists():
            self.groups = make_cgroups(f"jackpot-test-{os.getpid()}")
            options.append("--keep-unit")
        options += [f"--bind{'-ro' if read_only else ''}={here}:{there}"
                    for here, there, read_only in binds]

        def enter():
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            for group in self.groups:
                (group / "cgroup.procs").write_text("0")

        with open(log, "wb") as out:
            self.process = subprocess.Popen(
                ["systemd-nspawn", "--boot", "--directory", str(root), "--volatile=overlay",
                 "--private-network", "--link-journal=no", f"--machine=jackpot-{os.getpid()}",
                 *options], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                preexec_fn=enter)
        try:
            self.leader = self._wait_for_boot()
        except Impossible:
            self.close()
            raise

    def _wait_for_boot(self):
        end = time.monotonic() + 90
        while time.monotonic() < end and self.process.poll() is None:
            pid = self.process.pid
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            for child in children:
                state = run("nsenter", "-t", child, "-a", "systemctl", "is-system-running")
                if state.stdout.strip() in ("running", "degraded"):
                    return int(child)
            time.sleep(0.1)
        raise Impossible("systemd-nspawn does not boot here:\n" +
                         self.log.read_text(errors="replace")[-2000:])

    def join_network(self):
        """This process uses the container's network from now on."""
        with open(f"/proc/{self.leader}/ns/net", "rb") as network:
            if LIBC.setns(network.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")

    def run(self, *command, timeout=60):
        return run("nsenter", "-t", self.leader, "-a", *command, timeout=timeout)

    def path(self, there):
        """The path on this machine of a path in the container."""
        return Path(f"/proc/{self.leader}/root{there}")

    def pid_here(self, pid_there):
        for entry in Path("/proc").iterdir():
            try:
                if not entry.name.isdigit():
                    continue
                status = (entry / "status").read_text()
                same = os.readlink(entry / "ns/pid") == os.readlink(f"/proc/{self.leader}/ns/pid")
            except OSError:
                continue
            numbers = next(line.split()[1:] for line in status.splitlines()
                           if line.startswith("NSpid:"))
            if same and numbers[-1] == str(pid_there):
                return int(entry.name)
        raise AssertionError(f"there is no process {pid_there}")

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        # A process of the container may still be ending. A control group that stays does no harm.
        for _ in range(50):
            for group in self.groups:
                for folder, _, _ in os.walk(group, topdown=False):
                    try:
                        os.rmdir(folder)
                    except OSError:
                        pass
            if not any(group.exists() for group in self.groups):
                break
            time.sleep(0.1)
