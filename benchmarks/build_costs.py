#!/usr/bin/env python3
"""Measures what building costs: processor time and peak memory.

As a program it measures the headers, the examples, two of them with proofs of their plans, encoders of 12 and 24 outlined blocks,
and networks of growing depth. The networks have linear and gelu layers. The compiler traces, differentiates and plans them in a
constant expression; nothing runs. A time that grows faster than the number of layers shows a pass that is not linear. suite.py
measures its own programs with it, link included.
"""

import argparse
import json
import os
import resource
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADERS = "#include <tilewright/tilewright.hpp>\nint main() {}\n"
NETWORK = """
#include <tilewright/layers/linear.hpp>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
using tw::layers::Linear;

struct Net : tw::Module<Net> {
  using Layers = std::array<Linear<512>, LAYERS>;
  BOOST_HANA_DEFINE_STRUCT(Net, (Layers, layers));
  constexpr tw::Tensor build(tw::Tensor x) {
    for (auto& layer : layers) x = tw::ops::gelu(layer(x));
    return x;
  }
};
constexpr void step(tw::Ir& ir) {
  const auto images = tw::ops::host_load(ir.h2d_stream("image", {8, 512}));
  const auto [factories, forward] = tw::create_graph(Net{}, images);
  const auto backward = tw::autodiff(forward);
  const auto variables = factories.init();
  const auto forward_call = forward.bind(variables).call_with_info(images);
  const auto info = backward.grad_graph_info();
  const auto backward_call = backward.call_with_info(forward_call.output(0), info.inputs_dict(forward_call));
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(forward_call, backward_call);
  for (const auto& variable : variables.tensors()) tw::ops::scaled_add_(variable, gradients[variable], {.b = -0.05});
}
static_assert([] {
  tw::Ir ir;
  step(ir);
  return CHECK;
}());
"""
# Its body is planned once, and called.
ENCODER = """
#include "workloads/encoder.hpp"

int main(int argc, char** argv) { return serve_encoder<EncoderOutlined<BLOCKS>>(argc, argv); }
"""
# The translation units of examples: those of one program are compiled side by side.
EXAMPLES = ["mnist.cpp", "gpt.cpp", "gpt/nano_float16.cpp", "gpt2.cpp", "gpt2/trainer_124m.cpp"]
# The same with proofs of the steps that they train and test with: the rows differ by what the proofs cost.
PROVEN = {"mnist.cpp": ["train_step<Net, 8, 28, 28>", "test_step<Net, 80, 28, 28>"],
          "gpt.cpp": ["gpt::train_step<nano, nano_batch, nano.context, nano_micro_batches>"]}
CHECKS = {"traced": "ir.next_op_id > 100", "traced and planned": "tw::lower(tw::prepare(ir, tw::cpu)).steps.size() > 0"}


def measure(command, folder=None, memory_limit=None, error=""):
    """Seconds of processor time and peak megabytes of a command and what it starts; None, with its output printed, if it fails. With
    an `error`, the command must fail and say so."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (memory_limit, memory_limit))

    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, cwd=folder, env=os.environ | {"CCACHE_DISABLE": "1"}, stdout=output,
                                   stderr=subprocess.STDOUT, preexec_fn=limit if memory_limit else None)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if (process.returncode != 0) != bool(error) or error not in text:
        print(text, file=sys.stderr)
        return None
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def compile_command(build_dir, target):
    """How CMake compiles a program of the benchmarks: the command without source and object, and the source."""
    for entry in json.loads((build_dir / "compile_commands.json").read_text()):
        arguments = shlex.split(entry["command"])
        if f"benchmark_{target}.dir" in entry["command"]:
            at = arguments.index("-o")
            return arguments[:at], entry["file"]
    sys.exit(f"{build_dir}/compile_commands.json has no {target}: cmake --preset bench configures it")


def build_program(build_dir, target, memory_limit=8_000_000_000):
    """What building a program from its source costs: (seconds of processor time, peak megabytes); None if it fails."""
    executable = build_dir / "benchmarks" / target
    for path in [executable, *build_dir.glob(f"benchmarks/CMakeFiles/benchmark_{target}.dir/**/*.o")]:
        path.unlink(missing_ok=True)
    return measure(["cmake", "--build", str(build_dir), "--target", f"benchmark_{target}"], memory_limit=memory_limit)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=Path, default=ROOT / "build/gcc", help="configured by the preset bench")
    parser.add_argument("--layers", default=[10, 30, 100], type=int, nargs="*")
    options = parser.parse_args()
    compiler, _ = compile_command(options.build_dir, "mnist_sgd")

    with tempfile.TemporaryDirectory() as directory:
        def generated(text):
            path = Path(directory) / "generated.cpp"
            path.write_text(text)
            return path

        print(f"{'':36} {'seconds':>8} {'MB':>6}")

        def show(what, source):
            includes = [f"-I{ROOT}/examples", f"-I{ROOT}/benchmarks"]
            seconds, megabytes = measure([*compiler, *includes, "-c", str(source), "-o", os.devnull]) or (float("nan"),) * 2
            print(f"{what:36} {seconds:8.1f} {megabytes:6.0f}", flush=True)

        show("headers alone", generated(HEADERS))
        for example in EXAMPLES:
            show(f"examples/{example}", ROOT / "examples" / example)
        for example, steps in PROVEN.items():
            proofs = "".join(f"static_assert(tilewright::verified<{step}, tilewright::cpu>);\n" for step in steps)
            show(f"examples/{example}, proven",
                 generated(f'#include "{example}"\n#include <tilewright/verified/verified.hpp>\n{proofs}'))
        for blocks in (12, 24):
            show(f"{blocks} encoder blocks, outlined", generated(ENCODER.replace("BLOCKS", str(blocks))))
        for what, check in CHECKS.items():
            for layers in options.layers:
                text = NETWORK.replace("LAYERS", str(layers)).replace("CHECK", check)
                show(f"{layers:3} layers, {what}", generated(text))


if __name__ == "__main__":
    main()
