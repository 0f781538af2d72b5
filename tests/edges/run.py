#!/usr/bin/env python3
"""Compiles and runs a case of each differentiable op with inputs at the edges of its dtype, and compares what they give with PyTorch.

    ./dev fuzz edges                     all cases, on the host, and on a simulated IPU, there also in strict mode
    ./dev fuzz edges --quick             those that tell most, in float16 on the host
    ./dev fuzz edges --only exp,div      some cases
    ./dev fuzz edges --ops               whether each differentiable op of the library has a case; runs none

cases.hpp has the cases, check.hpp the rule by which results agree, tests/reference/make_edge_values.py the inputs.
"""

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
VALUES = PROJECT / "tests/reference/edge_values.txt"


def module(path):
    """Another folder's script, as a module: several have the name run.py."""
    spec = importlib.util.spec_from_file_location(path.replace("/", "_"), PROJECT / "tests" / f"{path}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


QUICK = ("exp sigmoid tanh gelu div mul_row softmax logsumexp l2 cross_entropy_sum layer_norm_small_epsilon gather scatter_sum "
         "where loop attention").split()
# By name: the targets and dtypes of a program, and whether ops are fused. IPUs have no bfloat16. What is built for a simulated
# IPU runs twice, the second time in strict mode.
WAYS = {
    "quick": [("cpu", "float16", "false")],
    "host": [("cpu", dtype, "false") for dtype in ("float16", "bfloat16", "float32")],
    "fused": [("cpu", dtype, "true") for dtype in ("float16", "bfloat16", "float32")],
    "tiles": [("ipu_model.with_tiles(3)", dtype, "false") for dtype in ("float16", "float32")],
}
# Differentiable ops without a case, and why. Forms in place have the formulas of the others.
EXCEPTIONS = {
    "DiffersByReplica": "gives its input: tests/run/training/local_steps.cpp",
    "AveragePoolGrad": "linear: tests/run/derivatives/second_networks.cpp",
    "ResizeGrad": "linear: tests/run/derivatives/second_networks.cpp",
    "TopKGrad": "it puts elements at their places: tests/run/derivatives/second_functions.cpp",
    "BiasAdd": "the planner makes it of sums",
    "Dropout": "random: tests/run/ops/random.cpp",
    "ShapedDropout": "random: tests/run/ops/random.cpp",
    "GeluSlope": "made for gradients of gradients: tests/run/training/check_gradients.cpp",
    "IoTileCopy": "moves elements between sets of tiles",
    "IpuCopy": "moves elements between IPUs",
    "PrintTensor": "gives its input",
    "ReplicatedAllReduceIdenticalGradInputs": "several replicas: tests/run/programs/tensor_parallel.cpp",
    "ReplicatedAllReduceIdenticalInputs": "several replicas: tests/run/programs/tensor_parallel.cpp",
    "ReplicatedAllGather": "several replicas: tests/run/kernels/collectives.cpp",
    "ReplicatedReduceScatter": "several replicas: tests/run/kernels/collectives.cpp",
    "SliceGrad": "the gradient of a slice, which cases have; it adds nothing",
}


def case_names():
    return re.findall(r"^(\w+) x0 ", VALUES.read_text(), re.MULTILINE)


def list_of(names):
    return "constexpr std::array<std::string_view, %d> names{%s};\n" % (len(names), ", ".join(f'"{name}"' for name in names))


def run_batch(command, folder, batch):
    """The names of the cases that failed, and the text."""
    number, way, names = batch
    calls = "".join(f"  edges::check<names, tilewright::{dtype}, tilewright::{target}, {fused}>(argv[1], failures);\n"
                    for target, dtype, fused in WAYS[way])
    source, program = folder / f"{number}.cpp", folder / str(number)
    source.write_text(f"{list_of(names)}int main(int, char** argv) {{\n  edges::Failures failures;\n{calls}"
                      "  return edges::report(failures);\n}\n")
    built = subprocess.run([*command, "-include", str(folder / "prelude.hpp"), str(source), "-o", str(program)],
                           capture_output=True, text=True)
    if built.returncode != 0:
        return names, f"{' '.join(names)} do not compile:\n{built.stderr[:4000]}"
    result = subprocess.run([str(program), str(VALUES)], capture_output=True, text=True,
                            env={**os.environ, "TILEWRIGHT_LOG_LEVEL": "ERROR"})
    program.unlink()
    failed = re.findall(r"^failed:(.*)$", result.stdout, re.MULTILINE)
    if not failed:
        return names, f"{' '.join(names)} end with {result.returncode}:\n{result.stdout[-4000:]}{result.stderr[:1000]}"
    return failed[0].split(), re.sub(r"^failed:.*\n", "", result.stdout, flags=re.MULTILINE)


def run(compiler, include, names, ways, jobs, batch=12):
    """The names of the cases that failed; prints what differed."""
    command = [compiler, *module("random_programs/run").default_flags(include)]
    failed = set()
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(jobs) as pool:
        folder = Path(name)
        (folder / "prelude.hpp").write_text(f'#include "{HERE}/check.hpp"\n')
        subprocess.run([*command, "-x", "c++-header", str(folder / "prelude.hpp")], check=True)
        batches = [(way, names[first:first + batch]) for way in ways for first in range(0, len(names), batch)]
        for failures, text in pool.map(lambda each: run_batch(command, folder, each),
                                       [(i, *each) for i, each in enumerate(batches)]):
            failed |= set(failures)
            print(text, end="", flush=True)
    print(f"{len(names)} cases, {len(failed)} failed{': ' if failed else ''}{' '.join(sorted(failed))}")
    return failed


def check_ops(compiler, include):
    """Whether each op of the library that has a gradient is in a case or an exception, and each case of the values in cases.hpp."""
    types = module("coverage/run").types_of_ops()
    headers = sorted(f'#include "{path.relative_to(include)}"\n' for path in (include / "tilewright/ops").rglob("*.hpp"))
    source = "".join([*headers, f'#include "{HERE}/list_ops.hpp"\nnamespace tw = tilewright;\n', list_of(case_names()),
                      "int main() {\n  edges::list_cases(names);\n", *(f"  edges::list_op<{type_}>();\n" for type_ in types), "}\n"])
    programs = module("random_programs/run")
    lines = [line.split("\t") for line in programs.output_of([compiler, *programs.default_flags(include)], source).splitlines()]
    names = {kind: {name for its_kind, name in lines if its_kind == kind} for kind in ("case", "op", "unknown")}
    required = {name for name in names["op"] if not name.endswith("Inplace")}
    missing, idle = required - names["case"] - set(EXCEPTIONS), set(EXCEPTIONS) & names["case"] | set(EXCEPTIONS) - required
    print(f"{len(required)} differentiable ops, {len(required & names['case'])} in cases, {len(EXCEPTIONS)} exceptions")
    for what, which in ("no case has", missing), ("no exceptions", idle), ("not in cases.hpp", names["unknown"]):
        if which:
            print(f"{what}: {', '.join(sorted(which))}")
    return not (missing or idle or names["unknown"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--include", type=Path, default=PROJECT / "include", help="another copy of the library")
    parser.add_argument("--only", help="names of cases, with commas")
    parser.add_argument("--ways", default="host,fused,tiles", help="some of host, fused and tiles, with commas")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--quick", action="store_true", help="the cases that tell most, in float16 on the host")
    parser.add_argument("--ops", action="store_true", help="check only that all differentiable ops have cases")
    options = parser.parse_args()
    if options.ops:
        sys.exit(not check_ops(options.compiler, options.include))
    names = options.only.split(",") if options.only else QUICK if options.quick else case_names()
    ways = ["quick"] if options.quick else options.ways.split(",")
    sys.exit(bool(run(options.compiler, options.include, names, ways, options.jobs)))


if __name__ == "__main__":
    main()
