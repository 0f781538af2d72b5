#!/usr/bin/env python3
"""Compares the graphs and plans of all examples and benchmark workloads with golden texts.

Each program is traced, prepared and planned at run time, for cpu and ipu_model. The golden texts are reference/plans/*.txt, one
file for each source. Without options the differences are shown, and are an error; --accept writes the texts anew. --sessions
compares these plans with those that the compiler makes, which sessions run.

The plans are also proven (tilewright/verified). --verified does only this, and says how long each proof takes.

One translation unit holds all programs: the constexpr part of each source in a namespace of its own. Sessions, and functions
that are no constexpr functions, are left out, so that no kernels are compiled.
"""

import argparse
import difflib
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
GOLDEN = TESTS / "reference/plans"

# What is planned of each source. A source with a session that is not here is an error.
PROGRAMS = {
    "examples/more/adam.cpp": ["steps", "train_with_adam", "test_step<Net, 80, 28, 28>"],
    "examples/more/checkpoint.cpp": ["train_with_adam"],
    "examples/more/code_loading.cpp": ["program<false>", "program<true>", "loaded_together<false>", "loaded_together<true>",
                                  "nested_and_branches<false>", "nested_and_branches<true>"],
    "examples/more/conditional.cpp": ["program"],
    "examples/more/custom_op.cpp": ["alone", "train_step", "test_step"],
    "examples/gpt.cpp": ["gpt::train_step<nano, 12>", "gpt::loss_step<nano, 12>", "gpt::generate_step<nano>"],
    "examples/gpt2.cpp": ["gpt::train_step<size_124m, 1, 128>", "gpt::write_step<size_124m, 64>"],
    "examples/more/graphs.cpp": ["program"],
    "examples/more/linear.cpp": ["program"],
    "examples/mnist.cpp": ["train_step<Net, 8, 28, 28>", "test_step<Net, 80, 28, 28>"],
    "examples/more/mnist_float8.cpp": ["train_step<ConvNet, 8, 28, 28>", "float8_test_step<tw::float8_143, 80>"],
    "examples/more/mnist_guide.cpp": ["train_step", "test_step"],
    "examples/more/mnist_phased.cpp": ["train_plain", "train_in_phases", "test_step<HiddenNet, 80, 28, 28>"],
    "examples/more/mnist_replicas.cpp": ["train_on_replicas", "test_step<Net, 80, 28, 28>"],
    "examples/more/mnist_rts.cpp": ["train_with_shards", "test_step<Net, 80, 28, 28>"],
    "examples/more/multiple_bound_graphs.cpp": ["program"],
    "examples/more/net.cpp": ["[](tw::Ir& ir) { tw::create_graph(ir, Net{}, tw::TensorSpec{{28, 28}, tw::float32}); }"],
    "examples/more/net_outlined.cpp": [
        "[](tw::Ir& ir) { tw::create_graph(ir, NetOutlined{}, tw::TensorSpec{{28, 28}, tw::float32}); }"],
    "examples/more/pipeline.cpp": ["train_in_pipeline"],
    "examples/more/remote_variable.cpp": ["add_two", "all_at_once", "in_phases"],
    "examples/more/repeat.cpp": ["increment", "stream", "accumulate<4>", "accumulate<1>"],
    "examples/more/replication.cpp": ["groups", "train<1>", "train<4>", "sharded"],
    "examples/more/session.cpp": ["program"],
    "benchmarks/workloads/attention_causal.cpp": ["attention"],
    "benchmarks/workloads/cnn.cpp": ["train_step<ConvolutionalNet, 32, 1, 28, 28>"],
    "benchmarks/workloads/encoder_block.cpp": ["forward_and_backward<EncoderBlock>"],
    "benchmarks/workloads/encoder_inlined.cpp": ["forward_and_backward<EncoderInlined<12>>"],
    "benchmarks/workloads/encoder_outlined.cpp": ["forward_and_backward<EncoderOutlined<12>>"],
    "benchmarks/workloads/gpt_124m.cpp": ["gpt_step<gpt2, 1, parameters>"],
    "benchmarks/workloads/gpt_124m_clipped.cpp": ["gpt_step<gpt2, 1, parameters, 1>"],
    "benchmarks/workloads/gpt_llmc.cpp": ["llmc_step"],
    "benchmarks/workloads/gpt_nano.cpp": ["gpt_step<nano, nano_batch, nano_parameters>"],
    "benchmarks/workloads/gpt_nano_half.cpp": ["gpt_step<nano, 12, parameters>"],
    "benchmarks/workloads/mnist_adam.cpp": ["adam_step<parameters>"],
    "benchmarks/workloads/mnist_adam_half.cpp": ["adam_step<parameters>"],
    "benchmarks/workloads/mnist_guide.cpp": ["train_step"],
    "benchmarks/workloads/mnist_inference.cpp": ["test_step<Net, 80, 28, 28>"],
    "benchmarks/workloads/mnist_sgd.cpp": ["train_step<Net, 8, 28, 28>"],
}
# dot_tree.cpp prints names only, mnist_instances.cpp has the program of mnist_replicas.cpp, and the ops of the others are in other
# programs. So are those of lessons.
NO_PROGRAM = {f"examples/more/{name}.cpp" for name in ("audio", "curve_fit", "dot_tree", "mnist_instances", "dqn", "fine_tune", "gan", "gru_tokens",
                                                       "heat_equation", "heat_network", "levenberg_marquardt", "llama", "lora", "mnist_remote", "pendulum", "tabular",
                                                       "unet")}

SESSION_ALIAS = re.compile(r"^using \w+ = tw::Session<.*\n", re.MULTILINE)
# A function at the beginning of a line that is neither constexpr nor a template, to its closing brace.
FUNCTION = re.compile(r"^(?:template <[^\n]*>\n)?(?!constexpr|inline|struct|class|template|namespace|using|#|//|\s|\})\w[^\n]*\)"
                      r"(?: const)? \{(?:[^\n]*\}|\n.*?^\})\n|^int main\(.*", re.MULTILINE | re.DOTALL)
# What such functions are in headers that only they need.
LEFT_OUT = {"options.hpp", "training.hpp", "progress.hpp", "session.hpp", "protocol.hpp"}


def constexpr_part(path, includes, seen):
    """The text of a source with the headers beside it, but for its run-time functions; angle includes are collected."""
    lines = []
    text = FUNCTION.sub("", SESSION_ALIAS.sub("", path.read_text()))
    for line in text.splitlines():
        if match := re.match(r"#include <(.*)>", line):
            includes.add(match[1])
        elif match := re.match(r'#include "(.*)"', line):
            header = (path.parent / match[1]).resolve()
            if header not in seen and header.name not in LEFT_OUT:
                seen.add(header)
                lines.append(constexpr_part(header, includes, seen))
        elif line != "#pragma once":
            lines.append(line)
    return "\n".join(lines)


def part_of(source, includes, *functions):
    """The programs of a source in a namespace, and functions, each of them a heading and its statements."""
    name = Path(source).stem if source.startswith("examples") else f"workload_{Path(source).stem}"
    part = constexpr_part(PROJECT / source, includes, set())
    bodies = [line for heading, statements in functions for line in (f"void {heading} {{", *statements, "}")]
    return name, "\n".join([f"namespace {name} {{\nnamespace tw = tilewright;\nusing namespace tw::literals;\n{part}", *bodies,
                            f"}}  // namespace {name}\n"])


def heads(includes):
    return ['#include "plans/plan_text.hpp"', *(f"#include <{include}>" for include in sorted(includes - {"CLI/CLI.hpp"}))]


def translation_unit(only_proofs):
    includes, parts, calls = set(), [], []
    for source, programs in PROGRAMS.items():
        name, part = part_of(
            source, includes,
            ("print(std::ostream& out)", [f'  plans::print_program(out, "{program}", {program});' for program in programs]),
            ("prove()", [f'  plans::prove_program(std::cout, "{source}: {program}", {program});' for program in programs]))
        parts.append(part)
        if not only_proofs:
            calls.append(f"  write(\"{name}\", {name}::print);")
        calls.append(f"  {name}::prove();")
    main = ["int main(int, char** argv) {",
            "  const auto write = [&](const char* name, auto print) {",
            "    std::ofstream file(std::filesystem::path(argv[1]) / (std::string(name) + \".txt\"));",
            "    print(file);",
            "  };"]
    return "\n".join([*heads(includes), *parts, *main, *calls, "}", ""])


def build_and_run(options, folder, text, *arguments):
    source, program = Path(folder, "plans.cpp"), Path(folder, "plans")
    source.write_text(text)
    subprocess.run([options.compiler, *shlex.split(options.flags), "-O1", "-w", str(source), "-o", str(program)], check=True)
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def compare_sessions(options):
    """Whether the compiler's plan of each program of the examples is the one that is made at run time."""
    different = []
    for source, programs in PROGRAMS.items():
        if not source.startswith("examples"):
            continue
        includes = set()
        statements = [f'  plans::compare_session<{program}>(out, "{program}");' for program in programs]
        name, part = part_of(source, includes, ("print(std::ostream& out)", statements))
        with tempfile.TemporaryDirectory() as folder:
            text = "\n".join([*heads(includes), part, f"int main() {{ {name}::print(std::cout); }}", ""])
            different += [f"{source}: {line}" for line in build_and_run(options, folder, text).splitlines()]
    if different:
        sys.exit("\n".join(different))
    print("the compiler's plans are those that are made at run time")


def wrong_proofs(proofs):
    """The lines of the plans that are not proven."""
    if not proofs:
        return ["no plan is proven: a line for each expected"]
    return [line for line in proofs if ": proven in " not in line]


def check_table():
    """Every source with a session is in PROGRAMS."""
    sources = [*(PROJECT / "examples").glob("*.cpp"), *(PROJECT / "examples/more").glob("*.cpp"),
               *(PROJECT / "benchmarks/workloads").glob("*.cpp")]
    missing = sorted({str(source.relative_to(PROJECT)) for source in sources} - PROGRAMS.keys() - NO_PROGRAM)
    if missing:
        sys.exit(f"no programs of {', '.join(missing)}: an entry in {Path(__file__).name}'s PROGRAMS expected")


def texts(folder):
    return {path.name: path.read_text() for path in sorted(Path(folder).glob("*.txt"))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", default=flags(), help="options for the compiler, as a shell takes them")
    parser.add_argument("--accept", action="store_true", help="write the golden texts anew")
    parser.add_argument("--verified", action="store_true", help="prove all plans, and print for how long")
    parser.add_argument("--sessions", action="store_true", help="compare with the plans that the compiler makes")
    options = parser.parse_args()
    check_table()
    if options.sessions:
        return compare_sessions(options)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "texts")
        out.mkdir()
        proofs = build_and_run(options, folder, translation_unit(options.verified), out).splitlines()
        wrong = wrong_proofs(proofs)
        if options.verified:
            print("\n".join(proofs))
            sys.exit("\n".join(wrong) or 0)
        actual = texts(out)
    golden = texts(GOLDEN)
    different = [name for name in sorted(actual.keys() | golden.keys()) if actual.get(name) != golden.get(name)]
    for name in different:
        before, now = (each.get(name, "").splitlines(keepends=True) for each in (golden, actual))
        sys.stdout.writelines(difflib.unified_diff(before, now, f"{name}, accepted", f"{name}, now"))
    if options.accept:
        for name in different:
            if name in actual:
                (GOLDEN / name).write_text(actual[name])
            else:
                (GOLDEN / name).unlink()
        print(f"{len(different)} of {len(actual)} texts accepted")
    elif different:
        sys.exit(f"{len(different)} of {len(actual)} texts of plans differ: ./dev plans --accept takes those of now")
    elif not wrong:
        print(f"{len(actual)} texts of plans are as before, and {len(proofs)} plans are proven")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
