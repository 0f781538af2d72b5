#!/usr/bin/env python3
"""Runs an example as the first lines of its source say:

    // test: --limit-batches 20 --data $TILEWRIGHT_MNIST
    // test-needs: TILEWRIGHT_MNIST
    // expect: Accuracy
    // expect-regex: loss [0-9.]+
    // last-line-of: mnist_replicas
    // processes: 2 4
    // strict: --strict

Each 'test' line is one run with these arguments, in an empty folder. It must succeed, and its output must hold the texts and
match the regular expressions that follow, up to the next 'test' line. With 'last-line-of', another example with the same
arguments must end with the same line; it is not asked if it is not built beside this one. With 'processes', these numbers of
processes, which launch.py starts, must end with the same line as one, and print the same hashes; without --mpi they are not
started. With 'strict', the run also gets these arguments if run_test.py is given --strict, which leaves out all other runs. A
run that needs an environment variable which is not set is skipped; in the arguments, $NAME of a needed variable stands for its
value. Another line, `// labels:`, is for CMake.

A lesson says what it prints, and has no other lines but that:

    // It prints:
    //
    //     the loss is 0.2...

That is all of its output, where `...` stands for any characters within a line.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

SKIPPED = 77  # the exit status that ctest shows as skipped


@dataclass
class Run:
    arguments: str
    needs: list = field(default_factory=list)
    texts: list = field(default_factory=list)
    patterns: list = field(default_factory=list)
    twins: list = field(default_factory=list)
    processes: list = field(default_factory=list)
    strict: list = field(default_factory=list)  # further arguments
    printed: str = ""  # all of the output, if it is said


PRINTS = re.compile(r"^// It prints:\n//\n((?://     .*\n|//\n)*)", re.MULTILINE)


def printed_by_lesson(source):
    """What the comment at the top of a lesson says that it prints; "" if the file is no lesson."""
    match = PRINTS.search(source.read_text())
    return re.sub(r"^//(?:     )?", "", match[1], flags=re.MULTILINE).strip("\n") if match else ""


def agrees(output, printed):
    """Whether the output is the text, in which ... stands for any characters of a line."""
    pattern = ".*".join(re.escape(part) for part in re.split(r"\.{3}(?!\.)", printed))  # 0....: the point, and any digits
    return re.fullmatch(pattern, "\n".join(line.rstrip() for line in output.strip("\n").splitlines())) is not None


def parse(source):
    """The runs that the comment at the top of the file asks for."""
    if printed := printed_by_lesson(source):
        return [Run("", printed=printed)]
    runs = []
    for line in source.read_text().splitlines():
        if not line.startswith("//"):
            break
        match = re.fullmatch(r"// (test|test-needs|expect|expect-regex|last-line-of|processes|strict):\s*(.*?)\s*", line)
        if not match:
            continue
        kind, value = match.groups()
        if kind == "test":
            runs.append(Run(value))
        elif not runs:
            sys.exit(f"{source}: '// {kind}:' before the first '// test:'")
        else:
            {"test-needs": runs[-1].needs, "expect": runs[-1].texts, "expect-regex": runs[-1].patterns,
             "last-line-of": runs[-1].twins, "processes": runs[-1].processes, "strict": runs[-1].strict}[kind].append(value)
    if not runs:
        sys.exit(f"{source}: no '// test: arguments' at the top")
    return runs


LAUNCH = Path(__file__).with_name("launch.py").resolve()
TAG = re.compile(r"^\[\d+,\d+\]<\w+>:", re.MULTILINE)  # what mpirun writes before a line


def start(command, run):
    """What running the command gives, in an empty folder."""
    arguments = shlex.split(run.arguments)
    for name in run.needs:
        arguments = [argument.replace(f"${name}", os.environ[name]) for argument in arguments]
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([*command, *arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace")


def last_line(output):
    return output.rstrip("\n").rpartition("\n")[2]


def results(output):
    """What does not depend on the number of processes."""
    return [line for line in output.splitlines() if line.startswith("Hash of")] + [last_line(output)]


def execute(executable, run, with_mpi, is_strict):
    """What is wrong with the run, and its output; "" when all is well."""
    result = start([executable, *(shlex.split(" ".join(run.strict)) if is_strict else [])], run)
    problems = [f"exit status {result.returncode}"] if result.returncode != 0 else []
    problems += [f"not in the output: {text}" for text in run.texts if text not in result.stdout]
    problems += [f"not matched by the output: {pattern}" for pattern in run.patterns
                 if not re.search(pattern, result.stdout, re.MULTILINE)]
    if run.printed and not agrees(result.stdout, run.printed):
        problems.append(f"the output is not what the comment says:\n{run.printed}\n  but:")
    for twin in (executable.with_name(name) for name in run.twins):
        if twin.exists() and last_line(result.stdout) != (line := last_line(start([twin], run).stdout)):
            problems.append(f"not the last line of {twin.name}: {line}")
    for count in " ".join(run.processes).split() if with_mpi else []:
        launched = start([sys.executable, LAUNCH, count, executable], run)
        together = TAG.sub("", launched.stdout)
        if launched.returncode != 0:
            problems.append(f"status {launched.returncode} of {count} processes:\n{together}")
        elif results(together) != results(result.stdout):
            problems.append(f"other hashes, or another last line, with {count} processes:\n{together}")
    return "".join(f"\n  {problem}" for problem in problems), result.stdout


def main():
    with_mpi, is_strict = "--mpi" in sys.argv, "--strict" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument not in ("--mpi", "--strict")]
    if len(arguments) != 2:
        sys.exit("usage: run_test.py [--mpi] [--strict] EXECUTABLE SOURCE")
    executable, source = Path(arguments[0]).resolve(), Path(arguments[1])
    statuses = set()
    runs = [run for run in parse(source) if run.strict or not is_strict]
    if not runs:
        sys.exit(f"{source}: no '// strict: arguments' at the top")
    for run in runs:
        name = f"{source.stem} {run.arguments}".strip()
        if unset := [need for need in run.needs if need not in os.environ]:
            print(f"skip {name}: {', '.join(unset)} not set", flush=True)
            statuses.add(SKIPPED)
            continue
        problem, output = execute(executable, run, with_mpi, is_strict)
        print(f"FAIL {name}: {problem}\n{output}" if problem else f"ok   {name}", flush=True)
        statuses.add(1 if problem else 0)
    sys.exit(1 if 1 in statuses else 0 if 0 in statuses else SKIPPED)


if __name__ == "__main__":
    main()
