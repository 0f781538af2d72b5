#!/usr/bin/env python3
"""Makes docs/generated/tested-ops.md: of each op the dtypes, shapes, forms, targets and derivatives that tests/run compares with PyTorch
and NumPy.

The programs are those that sources in tests/run give to check_reference and check_finite_differences; they are traced at run
time, so that no kernels are compiled. Without options the page is compared with what they have; --write writes it. Either fails
for an op of the library that no program has, unless ELSEWHERE says which test has it; for one with a kernel whose struct and bases
state no VertexCost; and for one with a gradient that is not compared in both modes and twice, unless ONCE names it.
"""

import argparse
import collections
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from flags import flags  # noqa: E402

TESTS = Path(__file__).resolve().parent.parent
PROJECT = TESTS.parent
PAGE = PROJECT / "docs/generated/tested-ops.md"

HEAD = """# What is tested of each op

Tests compare the results of all ops below with those of PyTorch or NumPy. This page lists what they compare, and not what an op
accepts. [Ops](ops.md) describes the ops. `./dev docs` makes this page from the programs that [tests/run](../../tests/run) compares.
The test `coverage` fails if no program has an op of the library.

- dtypes: the dtypes of operands and results. `integers` means all dtypes from int8 to uint64.
- shapes: the largest number of axes, and special shapes among the operands and results: `scalar`, `extent 1`, `odd` (the last
  extent is at least 3 and not a multiple of 4), and `empty`.
- forms: `view` means that an operand is a view of another tensor. `derivative` means that gradients are compared with PyTorch's.
  `differences` means that they are also compared with finite differences. [Derivatives](#derivatives) has the other ones.
- targets: `cpu`, `ipu_model`, and `3 tiles`, which is the host cut as if it had three tiles.

[Random programs](../../CONTRIBUTING.md) have calls, loops, branches and fusion of these ops.

| op | dtypes | shapes | forms | targets |
| --- | --- | --- | --- | --- |
"""
DERIVATIVES_HEAD = """
## Derivatives

These ops have a gradient. Left out are gradients and their parts, ops in place, and ops that give their input or move it. `reverse`
means that gradients are compared with PyTorch's; `forward` means the same of tangents, as `tw::jvp` computes them; `second` means the
same of gradients of gradients. Where a cell is empty, there is no such derivative, and an error names the op.

| op | reverse | forward | second |
| --- | --- | --- | --- |
"""
ELSEWHERE_HEAD = """
## Tested elsewhere

Other tests cover ops that have a file of their own, move data, are views in place or products of float8, and the parts of ops that the
planner makes.

| op | test |
| --- | --- |
"""

# Ops that no program of op_checks.hpp has, and the source that has them.
ELSEWHERE = {
    "AdamFactors": "run/training/optimisers.cpp",
    "BiasAdd": "run/layers/half.cpp",
    "CastThenPow2Scale": "run/programs/float8.cpp",
    "ConvPow2Scaled": "run/programs/float8.cpp",
    "ConvTransposePow2Scaled": "run/programs/float8.cpp",
    "CopyInto": "run/ops/slices.cpp",
    "DetachInplace": "run/programs/aliases.cpp",
    "DiagonalInplace": "run/ops/slices.cpp",
    "DiffersByReplica": "run/programs/replication.cpp",
    "DropoutMask": "run/ops/random.cpp",
    "DropoutProduct": "run/ops/random.cpp",
    "Float8ToFloat": "run/programs/float8.cpp",
    "GridSampleGrad": "ops/nn/grid_sample.hpp",
    "GridSampleGridGrad": "ops/nn/grid_sample.hpp",
    "HostLoad": "run/sessions/sessions.cpp",
    "InitUndefined": "run/ops/slices.cpp",
    "MatMulPow2Scaled": "run/programs/float8.cpp",
    "MergeParts": "run/targets/split_gathers.cpp",
    "Pow2ScaleThenCast": "run/programs/float8.cpp",
    "PrintTensor": "run/ops/print_tensor.cpp",
    "RemoteCodeLoad": "run/programs/remote_memory.cpp",
    "RemoteLoad": "run/programs/remote_memory.cpp",
    "RemoteLoadInplace": "run/programs/remote_memory.cpp",
    "RemoteStore": "run/programs/remote_memory.cpp",
    "ReplicatedAllGather": "run/kernels/collectives.cpp",
    "ReplicatedAllReduce": "run/kernels/collectives.cpp",
    "ReplicatedAllReduceIdenticalGradInputs": "run/programs/tensor_parallel.cpp",
    "ReplicatedAllReduceIdenticalInputs": "run/programs/tensor_parallel.cpp",
    "ReplicatedAllReduceInplace": "run/programs/replication.cpp",
    "ReplicatedReduceScatter": "run/kernels/collectives.cpp",
    "ReshapeInplace": "run/programs/aliases.cpp",
    "ShardIndices": "run/programs/tensor_parallel.cpp",
    "IpuCopy": "run/programs/pipelines.cpp",
    "IoTileCopy": "run/programs/pipelines.cpp",
    "ConvDataGradInBlocks": "run/targets/convolution_blocks.cpp",
    "ConvInBlocks": "run/targets/convolution_blocks.cpp",
    "ConvWeightsGradInBlocks": "run/targets/convolution_blocks.cpp",
    "ImageBlocks": "run/targets/convolution_blocks.cpp",
    "TransposeInplace": "run/programs/aliases.cpp",
    "TrustRatio": "run/training/optimisers.cpp",
}

# Ops that have a gradient, and neither forward mode nor a second derivative.
ONCE = {"GridSample"}
# Ops with a gradient that are no row of the table: parts of gradients and of plans, and ops that give their input or move it.
NO_ROW = {"BiasAdd", "GatherElements", "GeluSlope", "LogSumExpShare", "SelectEqual", "DiffersByReplica", "PrintTensor", "IoTileCopy",
          "IpuCopy", "ReplicatedAllGather", "ReplicatedAllReduceIdenticalGradInputs", "ReplicatedAllReduceIdenticalInputs",
          "ReplicatedReduceScatter"}

# Those that have a file of their own in tests/ops, some beside programs.
IN_FILES = {name: str(path.relative_to(TESTS)) for path in sorted((TESTS / "ops").rglob("*.hpp"))
            for name in re.findall(r'string_view op = "(\w+)"', path.read_text())}

# Templates that are ops, of which an instance is looked at: no op derives from them, and no alias names one of them.
INSTANCES = {
    "ExtremeGrad": "tw::ExtremeGrad<true>",
    "InPlace": "tw::InPlace<tw::Add>",
    "NormGrad": "tw::NormGrad<tw::LayerNorm>",
    "PoolInBlocks": "tw::PoolInBlocks<tw::MaxPool>",
    "Pow2ScaleOfSums": "tw::detail::Pow2ScaleOfSums<tw::MatMulPow2Scaled>",
    "SelectionGrad": "tw::SelectionGrad<tw::ReduceMax>",
    "Slope": "tw::Slope<tw::Gelu>",
    "SplitGather": "tw::SplitGather<tw::Gather>",
    "UnaryGrad": "tw::UnaryGrad<tw::Gelu>",
    "UnaryGradOfHalf": "tw::UnaryGradOfHalf<tw::Tanh>",
}

CHECK = re.compile(r"\b(check_reference|check_finite_differences)<\s*(?:op_cases::)?([\w:]+(?:<[^<>]*>)?)\s*,\s*([^>]+?)>\(")
INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
DTYPES = ["float64", "float32", "float16", "bfloat16", "float8_143", "float8_152", *INTEGERS, "bool"]
TARGETS = {"tw::cpu": "cpu", "tw::cpu.with_tiles(3)": "3 tiles", "tw::ipu_model": "ipu_model"}


def checks():
    """(program, target, function) of all checks; those in a template of targets, for each target that a source gives it."""
    found = set()
    sources = {path: path.read_text() for path in sorted((TESTS / "run").rglob("*.[ch]pp"))}
    for text in sources.values():
        for match in CHECK.finditer(text):
            function, program, target = match.groups()
            if target != "target":
                found.add((program, target, function))
                continue
            template = re.findall(r"^void (\w+)\(\)", text[:match.start()], re.MULTILINE)[-1]
            found |= {(program, each, function) for other in sources.values()
                      for each in re.findall(rf"\b{template}<([^;]*?)>\(\)", other)}
    return sorted(found)


def types_of_ops():
    """The types and aliases of headers of ops that may be ops, with their namespaces, and instances of templates of ops."""
    types, text = [], ""
    for header in sorted(path for folder in ("op", "ops") for path in (PROJECT / "include/tilewright" / folder).rglob("*.hpp")):
        namespaces, previous = [], ""
        text += header.read_text()
        for line in header.read_text().splitlines():
            if match := re.match(r"namespace ([\w:]+) \{$", line):
                namespaces.append(match[1])
            elif line.startswith("}  // namespace"):
                namespaces = namespaces[:-1]
            elif match := re.match(r"(?:struct|class) (\w+) (?:final )?:|using (\w+) = ", line):
                if not previous.startswith("template <"):
                    types.append("::".join([*namespaces, match[1] or match[2]]))
            previous = line
    templates = re.findall(r"^template <.*>\nstruct (\w+) : (?:(?!};).*\n)*?  static constexpr std::string_view name =", text,
                           re.MULTILINE)
    derived = set(re.findall(r"^(?:struct \w+ : |using \w+ = )(?:detail::)?(\w+)<", text, re.MULTILINE))
    alone = set(templates) - derived
    if alone != INSTANCES.keys():
        sys.exit(f"{', '.join(sorted(alone ^ INSTANCES.keys()))}: the templates of ops without derived ops expected in INSTANCES")
    return [*types, *INSTANCES.values()]


def translation_unit(found):
    headers = sorted(path.name for path in (TESTS / "run/cases").glob("*.hpp") if "check" not in path.name)
    lines = [f'#include "run/cases/{header}"' for header in headers]
    lines += ['#include "coverage/list_costs.hpp"', '#include "coverage/list_ops.hpp"', "using namespace op_cases;", "int main() {"]
    lines += [f'  coverage::list_ops("{TARGETS[target]}", "{function}", {program});' for program, target, function in found]
    lines += [f'  coverage::list_cost<{type_}>("{type_}");' for type_ in types_of_ops()]
    return "\n".join([*lines, "}", ""])


def names_of_ops():
    """The names of all ops of the headers, without families' templates."""
    names = set()
    for header in (PROJECT / "include/tilewright").glob("*/**/*.hpp"):
        text = header.read_text()
        names |= set(re.findall(r'string_view name = "(\w+)";', text))
    return names


def kinds_of(shapes):
    """The largest number of axes, and what is awkward in shapes such as (3, 1)."""
    extents = [[int(extent) for extent in re.findall(r"\d+", shape)] for shape in shapes]
    kinds = [f"{max(map(len, extents), default=0)} axes"]
    kinds += ["scalar"] if [] in extents else []
    kinds += ["extent 1"] if any(1 in shape for shape in extents) else []
    kinds += ["odd"] if any(shape and shape[-1] >= 3 and shape[-1] % 4 for shape in extents) else []
    kinds += ["empty"] if any(0 in shape for shape in extents) else []
    return ", ".join(kinds)


def dtypes_of(names):
    listed = [name for name in DTYPES if name in names]
    if all(name in names for name in INTEGERS):
        first = listed.index(INTEGERS[0])
        listed = [*listed[:first], "integers", *(name for name in listed[first:] if name not in INTEGERS)]
    return ", ".join(listed + sorted(names - set(DTYPES)))


def derivatives(modes, differentiable):
    """The table of derivatives. `modes`: by op, what list_ops.hpp says of its graphs; `differentiable`: the ops that have a gradient."""
    rows = []
    for name in sorted(differentiable - NO_ROW, key=str.lower):
        if name.endswith(("Grad", "Inplace")):
            continue
        has = ["reverse"] if modes.get(name) or name in IN_FILES else []
        has += [column for column, mode in (("forward", "forward"), ("second", "twice")) if mode in modes.get(name, ())]
        if (len(has) < 3) != (name in ONCE):
            sys.exit(f"{name}: {', '.join(has)}: reverse, forward and second expected, of an op that is not in ONCE")
        rows.append(f"| {name} | {' | '.join('yes' if column in has else '' for column in ('reverse', 'forward', 'second'))} |\n")
    return DERIVATIVES_HEAD + "".join(rows)


def page(lines, differentiable):
    """The page, and the ops of the library that are nowhere. `differentiable`: those with a gradient."""
    ops = collections.defaultdict(lambda: collections.defaultdict(set))
    for line in lines:
        target, check, name, differentiated, dtypes, shapes, view = line.split("\t")
        op = ops[name]
        op["targets"].add(target)
        op["dtypes"] |= set(filter(None, dtypes.split(";")))
        op["shapes"] |= set(filter(None, shapes.split(";")))
        modes = set(differentiated.split())
        op["modes"] |= modes
        op["forms"] |= {view} | ({"derivative"} if modes else set())
        op["forms"] |= {"differences"} if modes and check == "check_finite_differences" else set()
    rows = []
    for name in sorted(ops, key=str.lower):
        op = ops[name]
        forms = ", ".join(form for form in ("view", "derivative", "differences") if form in op["forms"])
        targets = ", ".join(target for target in TARGETS.values() if target in op["targets"])
        rows.append(f"| {name} | {dtypes_of(op['dtypes'])} | {kinds_of(op['shapes'])} | {forms} | {targets} |\n")
    for name, test in ELSEWHERE.items():
        if name in ops:
            sys.exit(f"{name}: is compared by {', '.join(sorted(ops[name]['targets']))}: no entry of ELSEWHERE expected")
        if not (TESTS / test).exists() or name not in names_of_ops():
            sys.exit(f"{name}, {test}: an op of the library and its test expected in ELSEWHERE")
    elsewhere = ELSEWHERE | {name: test for name, test in IN_FILES.items()
                             if name not in ops or ops[name]["dtypes"] == {"float64"}}  # of second derivatives alone
    others = [f"| {name} | [{test}](../../tests/{test}) |\n" for name, test in sorted(elsewhere.items(), key=lambda e: e[0].lower())]
    tables = HEAD + "".join(rows) + derivatives({name: op["modes"] for name, op in ops.items()}, differentiable)
    return tables + ELSEWHERE_HEAD + "".join(others), sorted(names_of_ops() - ops.keys() - elsewhere.keys())


def require_costs(lines):
    """Fails for an op with a kernel that states no cost, and for one whose type was not looked at."""
    rows = [line.split("\t")[1:] for line in lines]
    if unseen := names_of_ops() - {row[0] for row in rows}:
        sys.exit(f"{', '.join(sorted(unseen))}: an op's struct in include/tilewright/ops, or an alias of one, expected")
    if missing := [row[1] for row in rows if row[2]]:
        sys.exit(f"{', '.join(missing)}: a VertexCost of its kernel expected, in its struct or in a base")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", default=flags(), help="options for the compiler, as a shell takes them")
    parser.add_argument("--write", action="store_true", help="write the page anew")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "coverage.cpp"), Path(folder, "coverage")
        source.write_text(translation_unit(checks()))
        subprocess.run([options.compiler, *shlex.split(options.flags), f"-I{TESTS}", f"-I{TESTS}/run", "-O0", "-w", str(source), "-o",
                        str(program)], check=True)
        lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    of_types = [line for line in lines if line.startswith("cost\t")]
    require_costs(of_types)
    differentiable = {line.split("\t")[1] for line in of_types if line.endswith("\tgradient")}
    text, missing = page([line for line in lines if not line.startswith("cost\t")], differentiable)
    if missing:
        sys.exit(f"{', '.join(missing)}: a case in tests/run expected, or an entry of ELSEWHERE in {Path(__file__).name}")
    if options.write:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        sys.exit(f"{PAGE.relative_to(PROJECT)} is not what tests/run has: ./dev docs writes it")


if __name__ == "__main__":
    main()
