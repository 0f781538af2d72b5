#!/usr/bin/env python3
"""Interrupts and resumes examples/gpt.cpp, and asks it for what cannot be: that must be told before it trains.

    python3 tests/kill/gpt.py build/gcc/examples/gpt
"""

import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

TEXT = "The quick brown fox jumps over the lazy dog.\n" * 200


def heed_signals():
    """Shells make what they start in the background ignore SIGINT, and nohup SIGHUP."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Example:
    def __init__(self, executable, folder):
        self.executable, self.folder, self.problems = str(Path(executable).resolve()), folder, []

    def start(self, *options, stdout=subprocess.PIPE):
        data = () if "--data" in options else ("--data", "text.txt")
        return subprocess.Popen([self.executable, "--threads", "1", "--eval-batches", "1", *data, *options], cwd=self.folder,
                                text=True, stdout=stdout, stderr=subprocess.PIPE, preexec_fn=heed_signals)

    def check(self, name, is_right, output):
        print(("ok   " if is_right else "FAIL ") + name, flush=True)
        if not is_right:
            self.problems.append(name)
            print(output)

    def passes(self, name, pattern, *options):
        process = self.start(*options)
        output, errors = process.communicate(timeout=120)
        self.check(name, process.returncode == 0 and re.search(pattern, output, re.MULTILINE), output + errors)

    def fails(self, name, message, *options, stdout=subprocess.PIPE):
        """One line of an error, and no step before it."""
        process = self.start(*options, stdout=stdout)
        output, errors = process.communicate(timeout=120)
        lines = [line for line in re.split("[\r\n]", errors) if line.startswith("error: ")]
        self.check(name, process.returncode == 1 and lines == ["error: " + message] and "step" not in (output or ""),
                   (output or "") + errors)

    def is_interrupted(self, name, number=signal.SIGINT):
        """The step after which it ended."""
        process = self.start("--steps", "100000", "--eval-every", "10", "--checkpoint", "run", "--curve", "curve")
        for line in process.stdout:
            if line.startswith("step 10: "):
                break
        process.send_signal(number)
        output, errors = process.communicate(timeout=60)
        found = re.search(r"^validation loss [0-9.]+ after ([1-9]\d*) steps, \d+ tokens/s$", output, re.MULTILINE)
        step = int(found[1]) if found else 0
        self.check(name, process.returncode == -number and step > 0 and
                   (self.folder / f"run/step-{step:012}.safetensors").exists() and
                   (self.folder / "curve.csv").read_text().splitlines()[-1].startswith(f"{step},"), output + errors)
        return step


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "text.txt").write_text(TEXT)
        (folder / "backwards.txt").write_text(TEXT[::-1])
        (folder / "short.txt").write_text(TEXT[:640])
        example = Example(sys.argv[1], folder)

        example.is_interrupted("a terminal that closes ends it after a step, which a checkpoint has", signal.SIGHUP)
        shutil.rmtree(folder / "run")
        step = example.is_interrupted("a signal ends it after a step, which a checkpoint has")
        more = ["--checkpoint", "run", "--resume"]
        run = ", as the run in run, expected"
        for dtype, steps in (("float32", step + 2), ("float16", step + 4), ("float32", step + 6)):
            example.passes(f"it goes on, in {dtype}", rf"^validation loss [0-9.]+ after {steps} steps", *more, "--steps", str(steps),
                           "--dtype", dtype)
        example.fails("another text", "--data backwards.txt: the same text" + run, *more, "--data", "backwards.txt")
        example.fails("another seed", "--seed 2: 1" + run, *more, "--seed", "2")
        example.fails("fewer steps", f"--steps 1: at least {step + 6} steps" + run, *more, "--steps", "1")
        example.fails("a short text", "a text of 640 characters, of which the last 64 are to validate with: more than 64 of these, a "
                                      "context, expected", "--data", "short.txt")
        example.fails("a curve that cannot be written",
                      "Log: no/curve.csv: a file that cannot be written: a writable one expected", "--curve", "no/curve")
        example.fails("a character of the prompt that the text has not",
                      "CharacterVocabulary::encode: '~' at byte 1, line 1: one of the vocabulary's 30 characters expected", "--generate", "1", "--prompt", "a~b")
        with open("/dev/full", "w") as full:
            example.fails("no room for the output", "standard output: it cannot be written: a place for all lines expected",
                          "--steps", "1", stdout=full)
    if example.problems:
        sys.exit(f"FAIL: {', '.join(example.problems)}")


if __name__ == "__main__":
    main()
