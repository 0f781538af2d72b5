"""Fresh Debian systems, each in a folder of its own, in which commands run as in a chroot."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

# A mirror that lags behind is good enough for a test.
APT_SETTINGS = 'APT::Install-Recommends "false";\nAcquire::Languages "none";\nAcquire::Check-Valid-Until "false";\n'
DAY = 24 * 3600
PROXIES = {"http_proxy", "https_proxy", "ftp_proxy", "no_proxy"}


class Unavailable(Exception):
    """A system that cannot be made here and now; the text says why."""


@dataclass
class Result:
    status: int
    output: str
    seconds: float  # of processors, the command's and its children's
    megabytes: int  # the most that one of these processes had


def run(command, timeout):
    """Runs a command; its output is stdout and stderr. The status after a timeout is 124."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        deadline, timed_out = time.monotonic() + timeout, False
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)  # tells what the process and its children used
            if pid != 0:
                break
            if time.monotonic() > deadline and not timed_out:
                os.killpg(process.pid, signal.SIGKILL)
                timed_out = True
            time.sleep(0.02)
        process.returncode = 124 if timed_out else os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    return Result(process.returncode, text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1000)


class System:
    """`suite` is Debian's word for the version, `packages` are installed when the system is made."""

    def __init__(self, name, suite, packages, folder, source):
        self.name, self.suite, self.packages, self.source = name, suite, packages, source
        self.root = folder / suite

    def make(self):
        """Takes the system that is there, if it is younger than a day, or makes a new one. Throws Unavailable."""
        made = self.root / "made"
        if not (made.exists() and time.time() - made.stat().st_mtime < DAY):
            self.debootstrap()
        missing = sorted(set(self.packages) - set(self.installed()))
        if missing:
            self.install(missing)
        if not made.exists():
            made.touch()

    def debootstrap(self):
        if os.geteuid() != 0:
            raise Unavailable("root makes systems, this user cannot")
        if not shutil.which("debootstrap"):
            raise Unavailable("no debootstrap")
        if any(line.split()[1].startswith(f"{self.root}/") for line in Path("/proc/mounts").read_text().splitlines()):
            raise Unavailable(f"something is mounted in {self.root}: its removal would remove that, too")
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.parent.mkdir(parents=True, exist_ok=True)
        result = run(["debootstrap", "--variant=minbase", self.suite, str(self.root)], 600)
        if result.status != 0:
            raise Unavailable(f"debootstrap: {last_line(result.output)}")
        (self.root / "etc/apt/apt.conf.d/90tests").write_text(APT_SETTINGS)

    def installed(self):
        return self.run("dpkg-query -W -f '${Package}\\n'", 60).output.split()

    def install(self, packages):
        shutil.copy("/etc/resolv.conf", self.root / "etc/resolv.conf")
        command = "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq " + shlex.join(packages)
        result = self.run(command, 900)
        if result.status != 0:
            raise Unavailable(f"apt-get: {last_line(result.output)}")

    def newest(self, package):
        """The newest of the packages whose names are `package` with a number for {}."""
        self.run("apt-get update -qq", 120)
        pattern = re.compile(re.escape(package).replace(r"\{\}", r"(\d+)"))
        names = self.run("apt-cache pkgnames " + package.split("{}")[0], 60).output.split()
        numbers = [int(match[1]) for name in names if (match := pattern.fullmatch(name))]
        if not numbers:
            raise Unavailable(f"no {package.format('*')}")
        return max(numbers)

    def run(self, command, timeout=1200):
        """Runs a shell command there. The project is in /source, which cannot be written."""
        # nothing of this shell's environment, such as a CMAKE_CXX_COMPILER_LAUNCHER, but the way to the network
        variables = ["LC_ALL=C.UTF-8", "HOME=/root", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
        variables += [f"{name}={value}" for name, value in os.environ.items() if name.lower() in PROXIES]
        inside = f"cd /root && {command}"
        root = shlex.quote(str(self.root))
        # what is mounted is so for the command and its children only
        mounts = (f"mkdir -p {root}/source && mount -t proc proc {root}/proc && mount --rbind /dev {root}/dev && "
                  f"mount --bind {shlex.quote(str(self.source))} {root}/source && mount -o remount,bind,ro {root}/source && "
                  f"exec env -i {shlex.join(variables)} chroot {root} /bin/sh -c {shlex.quote(inside)}")
        return run(["unshare", "--mount", "--fork", "--kill-child", "/bin/sh", "-c", mounts], timeout)


def last_line(output):
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"
