#!/usr/bin/env python3
"""Tests what ./dev launch says of a process that ended, with a stand-in for mpirun that waits forever, as Open MPI sometimes does.

    python3 tests/kill/launch_test.py
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

LAUNCH = Path(__file__).resolve().parents[2] / "examples/launch.py"

# Starts processes that end as the shell commands say, and says as little as mpirun does before it waits for its lock.
STAND_IN = """#!{python}
import subprocess, sys, time
children = [subprocess.Popen(["sh", "-c", command]) for command in {commands}]
print("Primary job terminated normally, but 1 process returned", file=sys.stderr, flush=True)
print({text!r}, file=sys.stderr, flush=True)
time.sleep(60)
"""


def launched(commands, text=""):
    """The status of a launch, and the lines of ours on standard error."""
    with tempfile.TemporaryDirectory() as folder:
        stand_in = Path(folder) / "mpirun"
        stand_in.write_text(STAND_IN.format(python=sys.executable, commands=commands, text=text))
        stand_in.chmod(0o755)
        result = subprocess.run([sys.executable, LAUNCH, str(len(commands)), "program"], capture_output=True, text=True, timeout=50,
                                env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
    return result.returncode, [line for line in result.stderr.splitlines() if "tilewright:" in line]


def main():
    own = "[1,0]<stderr>:tilewright: rank 0 of 2 on here, step 3: an error"
    for commands, text, expected in (
            (["sleep 1", "kill -KILL $$"], "", (1, ["tilewright: rank 1 of 2: killed by signal 9 (SIGKILL)"])),
            (["kill -TERM $$", "kill -SEGV $$", "exit 1"], "", (1, ["tilewright: rank 1 of 3: killed by signal 11 (SIGSEGV)"])),
            (["kill -TERM $$", "exit 7"], "", (1, ["tilewright: rank 1 of 2: it ended with status 7 while others ran"])),
            (["exit 1", "kill -KILL $$"], own, (1, [own])),
            (["true", "true"], "", (0, []))):
        if (found := launched(commands, text)) != expected:
            sys.exit(f"{commands}: {found}: {expected} expected")
    print("launch says which process ended")


if __name__ == "__main__":
    main()
