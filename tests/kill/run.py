#!/usr/bin/env python3
"""Kills an example at random moments and lets it resume: it must end as the run that nobody killed.

    python3 tests/kill/run.py build/gcc/examples/checkpoint --kills 50 --seed 1
    python3 tests/kill/run.py build/gcc/examples/mnist_instances --kills 20 --processes 1 2 4

A run is started, killed (SIGKILL) and started again in the same folder, until it gets to its end. Each start must go on
from a step that had been saved, at least the last one that was reported as saved; the last one must print the hash of all
variables that the undisturbed run prints, and no unfinished file may be left. With --processes, each start has one of these
numbers of processes, one of which is killed; the others must end within ten seconds, with a line that names it.
"""

import argparse
import os
import random
import re
import signal
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
    found = re.search(r"(?:Variables after step \d+|Hash of weights): ([0-9a-f]{16})$", output, re.MULTILINE)
    return found.group(1) if found else fail(f"no hash in the output:\n{output}")


LAUNCH = Path(__file__).parents[2] / "examples" / "launch.py"


def processes_of(executable):
    """The numbers of the processes that run an executable."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.path.samefile(f"/proc/{process}/exe", executable):
                found.append(int(process))
        except OSError:
            pass  # it has ended, or is another user's
    return sorted(found)


class Training:
    def __init__(self, arguments, random_numbers):
        self.executable, self.random, self.processes = arguments.executable.resolve(), random_numbers, arguments.processes
        self.options = ["--limit-batches", str(arguments.steps), "--every", str(arguments.every), "--threads", "1"]

    def run(self, folder, *more, kill_after=None):
        """The output, and whether the run was killed before its end."""
        launch = [sys.executable, str(LAUNCH), str(self.random.choice(self.processes))] if self.processes else []
        process = subprocess.Popen([*launch, str(self.executable), *self.options, "--folder", str(folder), *more],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            output, _ = process.communicate(timeout=kill_after)
        except subprocess.TimeoutExpired:
            return (self.kill_one(process) if launch else self.kill(process)), True
        if process.returncode != 0:
            fail(f"exit status {process.returncode}:\n{output}")
        return output, False

    @staticmethod
    def kill(process):
        process.kill()
        return process.communicate()[0]

    def kill_one(self, process):
        """Kills one of the launched processes; all must end."""
        victims = processes_of(self.executable)
        if not victims:  # before their start, or after their end
            return process.communicate()[0]
        os.kill(self.random.choice(victims), signal.SIGKILL)
        try:
            output, _ = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            fail(f"others went on for 10 s: {self.kill(process)}")
        if process.returncode == 0 and "Hash of weights" not in output:
            fail(f"status 0 of a run whose process was killed:\n{output}")
        if process.returncode != 0 and "tilewright: rank" not in output:
            fail(f"no line that names the process:\n{output}")
        return output


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("executable", type=Path)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--kills-in-saves", type=int, default=0, help="that many of them at least while a checkpoint is written")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--processes", type=int, nargs="+", help="of a program that mpirun starts; the default: one without it")
    arguments = parser.parse_args()
    moments = random.Random(arguments.seed)
    training = Training(arguments, moments)

    with tempfile.TemporaryDirectory() as parent:
        start = time.monotonic()
        output, _ = training.run(Path(parent) / "undisturbed")
        duration = time.monotonic() - start
        expected = final_hash(output)

        kills = writing = resumed = runs = 0
        def is_enough():
            # kills before the first save prove nothing: one run at least must have resumed from a checkpoint
            proves = resumed > 0 and writing >= arguments.kills_in_saves
            return kills >= arguments.kills and (proves or kills >= 10 * arguments.kills)

        while not is_enough():
            folder, saved, killed = Path(parent) / f"killed{runs}", None, True
            runs += 1
            while killed:
                kill_after = None if is_enough() else moments.uniform(0, duration)
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
    if writing < arguments.kills_in_saves:
        fail(f"{writing} kills while a checkpoint was written: {arguments.kills_in_saves} expected")


if __name__ == "__main__":
    main()
