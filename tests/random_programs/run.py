#!/usr/bin/env python3
"""Compiles and runs random programs (program.hpp), and compares what they give with the interpreter of graphs.

    ./dev fuzz programs                       1,000 programs
    ./dev fuzz programs --count 40 --seed 7   those of the seeds 7 to 46
    ./dev fuzz programs --ops                 whether the programs of 30,000 seeds have all ops of the library; compiles none
    ./dev fuzz programs --plans               proves the plans of 1,000 programs, and checks each pass of the planner

Each seed gives one program without gradients, which runs on the host and on the IPU model, and one with gradients, which runs on
one of the two; with --spread only one of the three, of five programs one with gradients. What fails is listed with its seed:
`--count 1 --seed N` shows it again, and with --print the program.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
sys.path.append(str(HERE.parent / "embedded"))
from machines import BITS_32, has_32_bits  # noqa: E402

PRELUDE = f'#include "{HERE}/check.hpp"\n'
CALLS = ("check_results<{first}, {count}, tw::cpu>(report, \"on the host\");",
         "check_results<{first}, {count}, tw::ipu_model>(report, \"on the IPU model\");",
         "check_gradients<{first}, {count}, tw::{target}>(report, \"gradients, {target}\");")
OPS_PROGRAM = f"""#include "{HERE}/op_names.hpp"
#include <iostream>
int main() {{
  for (const auto& name : random_programs::op_names(1, 30000)) std::cout << name << '\\n';
}}
"""
PLANS_PROGRAM = f"""#include "{HERE}/verify_plans.hpp"
int main() {{ random_programs::verify_plans(FIRST, COUNT); }}
"""
PRINT_PROGRAM = f"""#include "{HERE}/program.hpp"
#include <cstdio>
namespace tw = tilewright;
int main() {{
  for (const bool gradients : {{false, true}}) {{
    tw::Ir ir;
    random_programs::add_program(ir, SEED, "s.", {{.gradients = gradients, .only_loss = gradients}});
    std::puts(tw::print_schedule(ir.main_graph()).string().c_str());
  }}
}}
"""

# Ops that no random program has, and why.
EXCEPTIONS = {
    "DiffersByReplica": "several replicas: tests/run/programs/replication.cpp",
    "HostLoad": "programs have variables in place of inputs; what a run loads is for tests/run/sessions/sessions.cpp",
    "RemoteLoad": "streaming memory: tests/run/programs/remote_memory.cpp",
    "RemoteLoadInplace": "streaming memory: tests/run/programs/remote_memory.cpp",
    "RemoteStore": "streaming memory: tests/run/programs/remote_memory.cpp",
    "RemoteCodeLoad": "moves no elements: tests/static/planner/code_memory.cpp",
    "ReplicatedAllReduce": "several replicas: tests/run/kernels/collectives.cpp",
    "ReplicatedAllReduceIdenticalGradInputs": "several replicas: tests/run/programs/tensor_parallel.cpp",
    "ReplicatedAllReduceIdenticalInputs": "several replicas: tests/run/programs/tensor_parallel.cpp",
    "ShardIndices": "several replicas: tests/run/programs/tensor_parallel.cpp",
    "ReplicatedAllReduceInplace": "several replicas: tests/run/kernels/collectives.cpp",
    "ReplicatedReduceScatter": "several replicas: tests/run/kernels/collectives.cpp",
    "ReplicatedAllGather": "several replicas: tests/run/kernels/collectives.cpp",
    "IpuCopy": "between IPUs: tests/run/programs/pipelines.cpp",
    "IoTileCopy": "between sets of tiles: tests/run/programs/pipelines.cpp",
    "ConvDataGradInBlocks": "the planner makes it of convolutions: tests/run/targets/convolution_blocks.cpp",
    "ConvInBlocks": "the planner makes it of convolutions: tests/run/targets/convolution_blocks.cpp",
    "ConvWeightsGradInBlocks": "the planner makes it of convolutions: tests/run/targets/convolution_blocks.cpp",
    "ImageBlocks": "the planner makes it of convolutions: tests/run/targets/convolution_blocks.cpp",
    "Cholesky": "matrices must not be singular: tests/ops/linear/solve.hpp",
    "Solve": "matrices must not be singular: tests/ops/linear/solve.hpp",
    "SolveTriangular": "matrices must not be singular: tests/ops/linear/solve.hpp",
    "GridSampleGrad": "points of random grids are where it bends: tests/ops/nn/grid_sample.hpp",
    "GridSampleGridGrad": "points of random grids are where it bends: tests/ops/nn/grid_sample.hpp",
    "MergeParts": "the planner makes it of gathers: tests/run/targets/split_gathers.cpp",
    "PrintTensor": "writes a text: tests/run/ops/print_tensor.cpp",
    "BiasAdd": "a part of linear layers: tests/run/layers/half.cpp",
    "ScaledDotProductAttention": "compared with float64: tests/run/nn/attention.cpp",
    "ScaledDotProductAttentionGrad": "compared with float64: tests/run/nn/attention.cpp",
}


def default_flags(include):
    options = re.search(r"^set\(tilewright_GNU_options (.*)\)$", (PROJECT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
    return shlex.split(f"-std=c++20 -O0 -w -march=native -I{include} -I{PROJECT / 'tests'} -DXTENSOR_USE_XSIMD -pthread {options}")


def source_of(first, count, spread):
    ends = [first, first + count * 2 // 5, first + count * 4 // 5, first + count]  # gradients cost the compiler most
    parts = list(zip(ends, ends[1:])) if spread else [(first, first + count)] * 3
    targets = ("cpu", "ipu_model") if count == 1 else ("cpu",) if first // count % 2 == 0 else ("ipu_model",)
    calls = [call.format(first=begin, count=end - begin, target=target)
             for call, (begin, end) in zip(CALLS, parts) if end > begin for target in (targets if "{target}" in call else ("",))]
    return f"{PRELUDE}using namespace random_programs;\nint main() {{\n  Report report;\n  " + "\n  ".join(calls) + \
        "\n  return report.failures() > 0;\n}\n"


def run_batch(command, folder, spread, first, count):
    """What is wrong with the programs of these seeds, as a text; empty if nothing is."""
    source, program = folder / f"{first}.cpp", folder / f"{first}"
    source.write_text(source_of(first, count, spread))
    built = subprocess.run([*command, "-include", str(folder / "prelude.hpp"), str(source), "-o", str(program)],
                           capture_output=True, text=True)
    where = f"seeds {first} to {first + count - 1}"
    if built.returncode != 0:
        return f"{where} do not compile:\n{built.stderr[:4000]}"
    try:
        result = subprocess.run([str(program)], capture_output=True, text=True, timeout=300,
                                env={**os.environ, "TILEWRIGHT_LOG_LEVEL": "ERROR"})
    except subprocess.TimeoutExpired:
        return f"{where} do not end"
    finally:
        program.unlink()
    return "" if result.returncode == 0 else f"{where} end with {result.returncode}:\n{result.stdout[:8000]}{result.stderr[:1000]}"


def run(compiler, include, first, count, batch, jobs, spread=False, stop_at_first=False):
    """The texts of all failures; prints them as they come."""
    command = [*shlex.split(compiler), *default_flags(include)]
    failures = []
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(jobs) as pool:
        folder = Path(name)
        (folder / "prelude.hpp").write_text(PRELUDE)
        subprocess.run([*command, "-x", "c++-header", str(folder / "prelude.hpp")], check=True)
        batches = [(start, min(batch, first + count - start)) for start in range(first, first + count, batch)]
        for number in range(0, len(batches), jobs):
            for text in pool.map(lambda each: run_batch(command, folder, spread, *each), batches[number:number + jobs]):
                if text:
                    failures.append(text)
                    print(text, flush=True)
            done = min(count, (number + jobs) * batch)
            print(f"{done} of {count} programs, {len(failures)} batches failed", flush=True)
            if failures and stop_at_first:
                break
    return failures


def output_of(command, source):
    """What a program prints that is compiled from this source."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program"
        subprocess.run([*command, "-x", "c++", "-", "-o", str(program)], input=source, text=True, check=True)
        return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout


def library_ops(include):
    """The names of all op types of the library, as their headers write them."""
    text = "\n".join(path.read_text() for path in sorted((include / "tilewright").rglob("*.hpp")))
    names, structs = set(), {}
    for struct in re.finditer(r"\nstruct (\w+)(?: : ([^{]*))? \{(.*?)\n\};", text, re.S):
        structs[struct[1]] = (struct[2] or "", re.findall(r"std::string_view name = ([^;]*);", struct[3]))
    for name, (bases, written) in structs.items():
        own = [literal for value in written for literal in re.findall(r'"(\w+)"', value)]
        names.update(own)
        if re.match(r"UnaryWithSlope<", bases) and own:
            names.update({own[0] + "Grad", own[0] + "Slope"})
        if re.match(r"(UnaryOp|SelectionOp|Normalisation)<", bases) and own:
            body = text[text.index(f"struct {name} : {bases}"):]
            if "UnaryOp" not in bases or re.search(r"\bbackward\(", body[:body.index("\n};")]):
                names.add(own[0] + "Grad")
    for struct in re.findall(r"apply<InPlace<(\w+)>>", text):
        names.add(structs[struct][1][0].strip('"') + "Inplace")
    return names


def check_ops(command, include):
    """Names of ops that are neither in the programs of many seeds nor exceptions, and of exceptions that are no longer any."""
    known = set(output_of(command, OPS_PROGRAM).split())
    library = library_ops(include)
    missing = sorted(library - known - set(EXCEPTIONS))
    idle = sorted((set(EXCEPTIONS) & known) | (set(EXCEPTIONS) - library))
    print(f"{len(library)} ops in the library, {len(library & known)} in random programs, {len(EXCEPTIONS)} exceptions")
    if missing:
        print("no random program has: " + ", ".join(missing))
    if idle:
        print("no exceptions: " + ", ".join(idle))
    return not missing and not idle


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--bits", choices=("64", "32"), default="64")
    parser.add_argument("--include", type=Path, default=PROJECT / "include", help="another copy of the library")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1, help="the first one")
    parser.add_argument("--batch", type=int, default=5, help="programs in one source")
    parser.add_argument("--spread", action="store_true", help="each program in one of the three ways only")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--ops", action="store_true", help="check only that random programs have all ops of the library")
    parser.add_argument("--plans", action="store_true", help="prove the plans of the programs only")
    parser.add_argument("--print", action="store_true", help="print the programs of the first seed only")
    options = parser.parse_args()
    if options.bits == "32":
        if not has_32_bits(options.compiler):
            print("skipped: g++-12-multilib is missing, ./dev setup multilib installs it")
            sys.exit(77)
        options.compiler += f" -msse2 -mfpmath=sse {BITS_32}"
    command = [*shlex.split(options.compiler), *default_flags(options.include)]
    if options.print:
        print(output_of(command, PRINT_PROGRAM.replace("SEED", str(options.seed))))
    elif options.ops:
        sys.exit(not check_ops(command, options.include))
    elif options.plans:
        source = PLANS_PROGRAM.replace("FIRST", str(options.seed)).replace("COUNT", str(options.count))
        begin = time.monotonic()
        wrong = output_of([*command, "-O1"], source).splitlines()
        print("\n".join([*wrong, f"{options.count} programs in {time.monotonic() - begin:.0f} s, {len(wrong)} wrong plans"]))
        sys.exit(wrong != [])
    elif run(options.compiler, options.include, options.seed, options.count, options.batch, options.jobs, options.spread):
        sys.exit(1)


if __name__ == "__main__":
    main()
