#!/usr/bin/env python3
"""Plants faults of values in copies of the library, one at a time, and shows that the cases at the edges of dtypes find each."""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import run  # noqa: E402

# By name: a header, what stands there, what takes its place, and the cases that must fail.
FAULTS = {
    "a floor: no loss of logits is above that of a probability of 1e-7": (
        "ops/nn/cross_entropy_code.hpp",
        "return math::log(static_cast<double>(exponentials.sum)) +",
        "return static_cast<double>(exponentials.largest) - static_cast<double>(logit) > 16 ? 16 :"
        " math::log(static_cast<double>(exponentials.sum)) +",
        ["cross_entropy_none", "cross_entropy_sum"]),
    "gradients of half precision are computed from the rounded result": (
        "op/elementwise.hpp", "if (is_half(op.input_spec(0).dtype)) return", "if (false) return", ["sigmoid", "tanh"]),
    "rows of a gather's gradient are added up in half precision": (
        "ops/index/gather.hpp", "computed_dtype(op.input(0).dtype)", "op.input(0).dtype", ["gather", "groupedgather"]),
    "a factor of a gradient leaves the range of half precision": (
        "ops/reduce/reductions.hpp", "computed = computed_dtype(dtype);  // 2 dy", "computed = dtype;  // 2 dy", ["sumsquare"]),
    "the gradient of logsumexp takes -infinity from itself": (
        "ops/reduce/reductions.hpp", "math::select(x == nothing, zero, math::exp(math::select(x == y, zero, x - y)))",
        "math::exp(x - y)", ["logsumexp"]),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--plant-only", action="store_true", help="check only that the library still has what the faults replace")
    options = parser.parse_args()
    plant = run.module("random_programs/planted").plant
    missed = []
    for name, (header, sound, faulty, cases) in FAULTS.items():
        print(f"== {name}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            include = Path(folder) / "include"
            shutil.copytree(run.PROJECT / "include", include)
            plant(include, header, sound, faulty)
            if not options.plant_only and run.run(options.compiler, include, cases, ["quick"], 1) != set(cases):
                missed.append(name)
    if missed:
        sys.exit("not found: " + ", ".join(missed))


if __name__ == "__main__":
    main()
