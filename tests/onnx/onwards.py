#!/usr/bin/env python3
"""Imports a network, fine-tunes it with a frozen layer, in a StaticSession and as a C object, and compares with NumPy; its step has a
budget on a simulated IPU. The step stands between the marked lines of what the import writes. Its test program runs, too."""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
STEPS, RATE = 5, 0.5
sys.path.insert(0, str(PROJECT / "cmake/onnx"))

TUNE = """#include <tilewright/train/minimise.hpp>
constexpr tw::Tensor loss(Net& net, tw::Tensor x, tw::Tensor label) { return tw::ops::cross_entropy(net(x), label); }
constexpr void tune(tw::Ir& ir) {
  tw::train::minimise(ir, Net{}, loss, tw::optim::SgdParameters{.lr = 0.5}, {{"x", {8, 6}}, {"label", {8}, tw::int32}},
                      {.groups = {tw::train::frozen("hidden.*")}});
}
"""
BUDGET = """#include <tilewright/budget.hpp>
#include "net.hpp"
static_assert(tw::require_budget<tune, tw::gc200, tw::Limits{.frame = 4096, .cycles = CYCLES}>());
"""
OBJECT = BUDGET + """#include <tilewright/session/static_session.hpp>

#include "files.h"

constinit static tw::StaticSession<tune, tw::one_core> net;
using namespace tw::literals;

int main(int, char** argv) {
  static float x[8][6];
  static std::int32_t label[8];
  const auto bytes = [](unsigned char* data, std::size_t count) { return std::span(reinterpret_cast<std::byte*>(data), count); };
  read_files(argv[1], x, label);
  if (!net.init(1).is_done() || !net.load_safetensors(bytes(weights, weights_bytes)).is_done()) return 1;
  for (int step = 0; step < 5; ++step) {
    if (!net.run("x"_s = x, "label"_s = label).is_done()) return 1;
    std::printf("%.9g\\n", static_cast<double>(net.stream("loss"_s)[0]));
  }
  const std::size_t count = net.safetensors_bytes();
  return net.save_safetensors(bytes(weights, count)).is_done() ? write_file(argv[2], count) : 1;
}
"""
FILES = """#include <stdio.h>
static unsigned char weights[1 << 16];
static size_t weights_bytes;
static void read_files(const char* folder, void* x, void* label) {
  char path[200];
  snprintf(path, sizeof path, "%s/net.safetensors", folder);
  FILE* file = fopen(path, "rb");
  weights_bytes = fread(weights, 1, sizeof weights, file);
  fclose(file);
  snprintf(path, sizeof path, "%s/batch", folder);
  file = fopen(path, "rb");
  if (fread(x, 4, 48, file) != 48 || fread(label, 4, 8, file) != 8) puts("a batch expected");
  fclose(file);
}
static int write_file(const char* path, size_t count) {
  FILE* file = fopen(path, "wb");
  const int is_done = fwrite(weights, 1, count, file) == count;
  fclose(file);
  return !is_done;
}
"""
IN_C = """#include "net.h"
#include "files.h"

static _Alignas(NET_ALIGNMENT) unsigned char net[NET_BYTES];

int main(int argc, char** argv) {
  float x[8][6], loss;
  int32_t label[8];
  (void)argc;
  read_files(argv[1], x, label);
  if (net_init(net, 1, 0) || net_load(net, weights, weights_bytes, 0)) return 1;
  for (int step = 0; step < 5; ++step) {
    if (net_run_tune(net, x[0], label, &loss, 0)) return 1;
    printf("%.9g\\n", loss);
  }
  return net_save(net, weights, sizeof weights, 0) ? 1 : write_file(argv[2], NET_FILE_BYTES);
}
"""


def write_model(folder, draw):
    """An ONNX file of a perceptron."""
    shapes = {"hidden.weight": (8, 6), "hidden.bias": (8,), "head.weight": (3, 8), "head.bias": (3,)}
    tensors = [onnx.numpy_helper.from_array(draw.normal(size=shape).astype("f4"), name) for name, shape in shapes.items()]
    nodes = [helper.make_node("Gemm", ["x", "hidden.weight", "hidden.bias"], ["sum"], transB=1), helper.make_node("Relu", ["sum"], ["h"]),
             helper.make_node("Gemm", ["h", "head.weight", "head.bias"], ["y"], transB=1)]
    values = [[helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)] for name, shape in (("x", [8, 6]), ("y", [8, 3]))]
    graph = helper.make_graph(nodes, "perceptron", *values, tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), folder / "model.onnx")
    x = draw.normal(size=(8, 6)).astype("f4")
    weights = {each.name: onnx.numpy_helper.to_array(each) for each in tensors}
    y = np.maximum(x @ weights["hidden.weight"].T + weights["hidden.bias"], 0) @ weights["head.weight"].T + weights["head.bias"]
    (folder / "test_data_set_0").mkdir()
    for name, array in ("input_0", x), ("output_0", y):
        (folder / f"test_data_set_0/{name}.pb").write_bytes(onnx.numpy_helper.from_array(array).SerializeToString())


def check_test_program(compiler, folder):
    """That the program that the import wrote finds that the outputs are those of the test data, and one that is not."""
    run(*compiler, "-O0", folder / "net_test.cpp", "-o", folder / "net_test", "-lzip", "-lz")
    run(folder / "net_test", folder)
    file = folder / "net_test.safetensors"
    data = bytearray(file.read_bytes())
    data[-1] ^= 64  # of the exponent of the last element: outputs come after inputs
    file.write_bytes(data)
    result = subprocess.run([folder / "net_test", folder], capture_output=True, text=True)
    if (result.returncode, result.stdout) != (1, "output.y: 1 of 24 elements differ\n"):
        sys.exit(f"test data with one wrong element: {result.returncode} {result.stdout}{result.stderr}")


def arrays_of(file):
    """The arrays of float32 of a .safetensors file."""
    data = file.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    header.pop("__metadata__", None)
    return {name: np.frombuffer(data[end + each["data_offsets"][0]:end + each["data_offsets"][1]], "f4").reshape(each["shape"])
            for name, each in header.items()}


def reference(weights, x, label):
    """The losses of the steps, and the weights of the head after them, in float64."""
    weight, bias = weights["head.weight"].astype("f8"), weights["head.bias"].astype("f8")
    h = np.maximum(x.astype("f8") @ weights["hidden.weight"] + weights["hidden.bias"], 0)
    losses, hot = [], np.eye(3)[label]
    for _ in range(STEPS):
        scores = np.exp(h @ weight + bias)
        shares = scores / scores.sum(1, keepdims=True)
        losses.append(-np.log((shares * hot).sum(1)).mean())
        slope = RATE * (shares - hot) / len(x)
        weight, bias = weight - h.T @ slope, bias - slope.sum(0)
    return losses, {"head.weight": weight, "head.bias": bias}


def run(*command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    return result.stdout if result.returncode == 0 else sys.exit(f"{command[0]}: {result.stdout}{result.stderr[:3000]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="g++")
    options = parser.parse_args()
    compiler = programs.command(options.compiler, PROJECT / "include")
    draw = np.random.default_rng(1)
    x, label = draw.normal(size=(8, 6)).astype("f4"), draw.integers(3, size=8).astype("i4")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_model(folder, draw)
        command = sys.executable, PROJECT / "cmake/onnx", folder / "model.onnx", "--out", folder
        run(*command)
        net = folder / "net.hpp"
        net.write_text(re.sub(r"(// Yours, .* begin\n)", lambda line: line[1] + TUNE, net.read_text()))
        run(*command)  # keeps the step
        (folder / "batch").write_bytes(x.tobytes() + label.tobytes())
        (folder / "files.h").write_text(FILES)
        for file, text in ("object.cpp", OBJECT.replace("CYCLES", "20'000")), ("slow.cpp", BUDGET.replace("CYCLES", "10")), ("in_c.c", IN_C):
            (folder / file).write_text(text)
        slow = subprocess.run([*compiler, "-fsyntax-only", folder / "slow.cpp"], capture_output=True, text=True)
        if slow.returncode == 0 or "cycles" not in slow.stderr:
            sys.exit(f"a step with a budget of 10 cycles: an error expected\n{slow.stderr[:3000]}")
        run(*compiler, "-O1", folder / "object.cpp", "-o", folder / "object")
        run(sys.executable, PROJECT / "cmake/export.py", net, "tune", "--c", folder / "net", "--compiler", options.compiler, "--flags=-O1")
        run("gcc", folder / "in_c.c", f"-I{folder}/net", f"-L{folder}/net", "-lnet", "-lm", "-o", folder / "in_c")
        check_test_program(compiler, folder)
        before, (losses, head) = arrays_of(folder / "net.safetensors"), reference(arrays_of(folder / "net.safetensors"), x, label)
        for kind in "object", "in_c":
            found = [float(line) for line in run(folder / kind, folder, folder / f"{kind}.safetensors").split()]
            np.testing.assert_allclose(found, losses, 1e-5)
            after = arrays_of(folder / f"{kind}.safetensors")
            for each, wanted in {**{key: before[key] for key in before if key.startswith("hidden.")}, **head}.items():
                is_frozen = each.startswith("hidden.")
                np.testing.assert_allclose(after[each], wanted, 0 if is_frozen else 1e-5, 0 if is_frozen else 1e-6, err_msg=each)
    print("an imported network, fine-tuned with a frozen layer: a StaticSession and a C object agree with NumPy")


if __name__ == "__main__":
    try:
        import numpy as np
        import onnx
        import onnx.numpy_helper
        from onnx import helper

        sys.path.insert(0, str(Path(__file__).parent))
        import programs
    except ImportError as error:
        print(f"python3-{error.name} is not installed: left out")
        sys.exit(77)
    main()
