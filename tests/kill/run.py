#!/usr/bin/env python3
"""Kills examples/checkpoint at random moments and lets it resume: it must end as the run that nobody killed.

    python3 tests/kill/run.py build/gcc/examples/checkpoint --kills 50 --seed 1

A run is started, killed (SIGKILL) and started again in the same folder, until it gets to its end. Each start must go on
from a step that had been saved, at least the last one that was reported as saved; the last one must print the hash of all
variables that the undisturbed run prints, and no unfinished file may be left.
"""

import argparse
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def fail(message):
    sys.exit(f"FAIL: {message}")


def last_number(pattern, output):
    """The last number in the output that follows the pattern, or None."""
    found = re.findall(pattern + r" (\d+)", output)
    return int(found[-1]) if found else None


def final_hash(output):
    found = re.search(r"^Variables after step \d+: ([0-9a-f]{16})$", output, re.MULTILINE)
    return found.group(1) if found else fail(f"no hash in the output:\n{output}")


class Training:
    def __init__(self, arguments):
        self.command = [str(arguments.executable.resolve()), "--limit-batches", str(arguments.steps), "--every",
                        str(arguments.every), "--threads", "1"]

    def run(self, folder, *more, kill_after=None):
        """The output, and whether the run was killed before its end."""
        process = subprocess.Popen([*self.command, "--folder", str(folder), *more], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            output, _ = process.communicate(timeout=kill_after)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.communicate()[0], True
        if process.returncode != 0:
            fail(f"exit status {process.returncode}:\n{output}")
        return output, False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("executable", type=Path)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--every", type=int, default=10)
    arguments = parser.parse_args()
    training, moments = Training(arguments), random.Random(arguments.seed)

    with tempfile.TemporaryDirectory() as parent:
        start = time.monotonic()
        output, _ = training.run(Path(parent) / "undisturbed")
        duration = time.monotonic() - start
        expected = final_hash(output)

        kills = writing = resumed = runs = 0
        # kills before the first save prove nothing: one run at least must have resumed from a checkpoint
        while kills < arguments.kills or (resumed == 0 and kills < 10 * arguments.kills):
            folder, saved, killed = Path(parent) / f"killed{runs}", None, True
            runs += 1
            while killed:
                kill_again = kills < arguments.kills or (resumed == 0 and kills < 10 * arguments.kills)
                kill_after = moments.uniform(0, duration) if kill_again else None
                output, killed = training.run(folder, "--resume", kill_after=kill_after)
                begin = last_number("Resuming after step", output)
                if begin is not None:  # it got so far
                    if begin < (saved or 0) or begin % arguments.every != 0:
                        fail(f"resumed after step {begin}, but step {saved} had been saved:\n{output}")
                    resumed += begin > 0
                if "Skipped" in output:
                    fail(f"a checkpoint was not whole:\n{output}")
                saved = last_number("Saved step", output) or saved
                if killed:
                    kills += 1
                    writing += any(folder.glob("*.partial"))
            if left := list(folder.glob("*.partial")):
                fail(f"unfinished files were left: {left}")
            if final_hash(output) != expected:
                fail(f"run {runs} ended with {final_hash(output)}, the undisturbed one with {expected}:\n{output}")
    print(f"{kills} kills, {writing} of them while a checkpoint was written; {resumed} starts from a checkpoint; "
          f"all {runs} runs ended with {expected}")
    if resumed == 0:
        fail("no run resumed from a checkpoint: nothing was tested")


if __name__ == "__main__":
    main()
