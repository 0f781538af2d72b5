#!/usr/bin/env python3
"""Measures values and derivatives in float64 on one core beside ADOL-C, Sacado, Eigen's AutoDiff, PyTorch, and code by hand.

The problems are those of ADBench (arXiv 1807.10129), with numbers of our own: a mixture of Gaussians, a recurrent network, and bundle
adjustment. Each program compares its results with those by hand before it is measured: they differ by at most 1e-8 of the largest.
Ours computes the blocks of bundle adjustment as the gradients of two sums, of all first errors and of all second ones: each row of
inputs has a part in the errors of one observation only.

The programs of a problem stay alive and take turns, round after round. Times are those of the fastest run, in milliseconds. The
last column is the derivatives' time beside that by hand. This script builds nothing: `./dev bench derivatives` does.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from programs import KEEP_MEMORY, PEERS, Program, in_turns, pytorch_is_there

HERE = Path(__file__).resolve().parent
PROBLEMS = {
    "gmm-2-5": "mixture of 5 Gaussians, 2 dimensions",
    "gmm-2-25": "mixture of 25, 2",
    "gmm-10-5": "mixture of 5, 10",
    "gmm-10-25": "mixture of 25, 10",
    "gmm-20-50": "mixture of 50, 20",
    "lstm-2-1024": "recurrent network, 2 layers",
    "lstm-4-1024": "recurrent network, 4 layers",
    "bundle": "bundle adjustment",
}


def programs_of(problem, folder, file):
    """The programs by peer, then by what they compute."""
    peers = folder / "derivatives"
    ours = folder / f"derivatives_{problem.split('-')[0]}"
    subprocess.run([peers, problem, "make", file], check=True)
    names = subprocess.run([peers, problem], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    programs = {"tilewright": {what: Program(what, [ours, problem, what, file]) for what in ("value", "derivatives")}}
    for name in names:
        peer, what = name.rsplit(" ", 1)
        programs.setdefault(peer, {})[what] = Program(name, [peers, problem, name, file])
    if pytorch_is_there():
        command = ["/usr/bin/python3", PEERS / "pytorch_derivatives.py", problem]
        programs["PyTorch"] = {what: Program(what, [*command, what, file], **KEEP_MEMORY) for what in ("value", "derivatives")}
    return programs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=Path, default=HERE.parent / "build/gcc")
    parser.add_argument("--only", help=f"some of {','.join(PROBLEMS)}")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.3, help="of each program in each round")
    parser.add_argument("--json", type=Path, help="file for all figures")
    options = parser.parse_args()
    only = options.only.split(",") if options.only else list(PROBLEMS)
    if unknown := set(only) - set(PROBLEMS):
        parser.error(f"no problem {', '.join(sorted(unknown))}")

    print("| problem | by | value, ms | derivatives, ms | beside by hand |\n| --- | --- | ---: | ---: | ---: |")
    raw = {}
    for problem in only:
        print(problem, file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            programs = programs_of(problem, options.build_dir / "benchmarks", Path(folder) / "problem")
            expected = ("ADOL-C", "Sacado", "PyTorch", *(["Eigen"] if problem == "bundle" else []))
            if missing := [peer for peer in expected if peer not in programs]:
                print(f"  without {', '.join(missing)}: not installed", file=sys.stderr)
            in_turns([program for each in programs.values() for program in each.values()], options.rounds, options.seconds)
        times = {peer: {what: 1000 / max(program.rates) for what, program in each.items()} for peer, each in programs.items()}
        raw[problem] = times
        for peer, each in times.items():
            value = f"{each['value']:.3f}" if "value" in each else ""
            ratio = each["derivatives"] / times["hand"]["derivatives"]
            print(f"| {PROBLEMS[problem]} | {peer} | {value} | {each['derivatives']:.3f} | {ratio:.2f} |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(raw, indent=1) + "\n")


if __name__ == "__main__":
    main()
