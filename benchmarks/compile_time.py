#!/usr/bin/env python3
"""Measures what compiling costs: processor time and peak memory, for the headers, the MNIST example and ever deeper networks.

The networks are linear and gelu layers that are traced, differentiated and planned in a constant expression; nothing is made
to run. Time that grows faster than the number of layers shows a pass that is not linear.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FLAGS = ["-std=c++20", "-O3", "-march=native", "-DXTENSOR_USE_XSIMD", f"-I{ROOT}/include", f"-I{ROOT}/examples"]
LIMITS = {
    "gcc": ["-fconstexpr-ops-limit=4000000000", "-fconstexpr-loop-limit=100000000", "-fconstexpr-depth=4096"],
    "clang": ["-fconstexpr-steps=2000000000", "-fconstexpr-depth=4096"],
}
HEADERS = "#include <tilewright/tilewright.hpp>\nint main() {}\n"
NETWORK = """
#include "tutorial/linear.hpp"

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
CHECKS = {"traced": "ir.next_op_id > 100", "traced and planned": "tw::lower(ir, tw::cpu).steps.size() > 0"}


def measure(compiler, source):
    """Seconds of processor time and peak megabytes of compiling a file."""
    limits = LIMITS["clang" if "clang" in compiler[0] else "gcc"]
    process = subprocess.Popen([*compiler, *FLAGS, *limits, "-c", "-o", os.devnull, str(source)])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{source} does not compile")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++", type=shlex.split, help='with options: "g++ -O0"')
    parser.add_argument("--layers", default=[10, 30, 100], type=int, nargs="*")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as directory:
        def generated(text):
            path = Path(directory) / "generated.cpp"
            path.write_text(text)
            return path

        print(f"{'':36} {'seconds':>8} {'MB':>6}")

        def show(what, source):
            seconds, megabytes = measure(options.compiler, source)
            print(f"{what:36} {seconds:8.1f} {megabytes:6.0f}", flush=True)

        show("headers alone", generated(HEADERS))
        show("examples/mnist.cpp", ROOT / "examples/mnist.cpp")
        for what, check in CHECKS.items():
            for layers in options.layers:
                text = NETWORK.replace("LAYERS", str(layers)).replace("CHECK", check)
                show(f"{layers:3} layers, {what}", generated(text))


if __name__ == "__main__":
    main()
