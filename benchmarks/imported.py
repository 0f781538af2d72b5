#!/usr/bin/env python3
"""Runs of imported networks beside onnxruntime in node, on one thread each: `/usr/bin/python3 benchmarks/imported.py`. It needs python3-torch,
python3-onnx, node and npm. The networks are those of tests/onnx/torch_models.py. Both repeat a run for some milliseconds, in 20 rounds;
the least mean of a round counts. --write puts the table into docs/generated/imported-speed.md. --compile compares what compiling an
imported network costs with the same network by hand, by processor time, the least of three."""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import types
import warnings
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
PEER = "1.20.1"
PAGE = PROJECT / "docs/generated/imported-speed.md"
HEAD = """# Runs of imported networks

`benchmarks/imported.py --write` writes this page: microseconds of a run, on one thread of {cpu}, of the networks of
[torch_models.py](../../tests/onnx/torch_models.py), which PyTorch exports. onnxruntime {peer} runs in node {node}, where an empty model
takes {empty:.1f} microseconds.

| network | batch | tilewright | onnxruntime | times as fast | less the empty model |
| --- | ---: | ---: | ---: | ---: | ---: |
{rows}
"""
TIMES = """#include <chrono>
#include "{tests}/run.hpp"
template <auto program>
void measure(int number, const std::string& folder, const std::vector<std::size_t>& inputs, const std::vector<std::size_t>& outputs) {{
  using Programs = tilewright::ExportedPrograms<tilewright::one_core, tilewright::UnchangedVariables::in_object, program>;
  const std::string path = folder + "/" + std::to_string(number), weights = read(path + "/weights"), given = read(path + "/inputs");
  void* const memory = memory_of(std::strtoull(Programs::facts().string().c_str() + 6, nullptr, 10));
  std::vector<void*> arrays;
  for (const std::size_t bytes : inputs) std::copy_n(given.data(), bytes, static_cast<char*>(arrays.emplace_back(memory_of(bytes))));
  for (const std::size_t bytes : outputs) arrays.push_back(memory_of(bytes));
  Programs::init(memory, 1, nullptr);
  if (Programs::load(memory, weights.data(), weights.size(), nullptr) != 0 || Programs::template run<0>(memory, arrays.data(), nullptr) != 0)
    std::exit(1);
  double best = 1e9;
  for (int round = 0, runs = 1; round < 20;) {{
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < runs; ++i) Programs::template run<0>(memory, arrays.data(), nullptr);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (seconds < 0.01) runs *= 2;
    else best = std::min(best, seconds / runs), ++round;
  }}
  std::printf("%d %.9f\\n", number, best);
}}
{models}
int main(int, char** argv) {{
{calls}
}}
"""
NODE = """const ort = require('onnxruntime-node'), fs = require('fs');
(async () => {
  for (const {path, data, dtype, shape} of JSON.parse(fs.readFileSync(process.argv[2]))) {
    const session = await ort.InferenceSession.create(path, {intraOpNumThreads: 1, interOpNumThreads: 1});
    const values = dtype === 'int64' ? BigInt64Array.from(data, BigInt) : Float32Array.from(data);
    const feeds = {x: new ort.Tensor(dtype, values, shape)};
    let best = 1e9;
    for (let round = 0, runs = 1; round < 20;) {
      const begin = performance.now();
      for (let i = 0; i < runs; ++i) await session.run(feeds);
      const seconds = (performance.now() - begin) / 1000;
      if (seconds < 0.01) runs *= 2;
      else best = Math.min(best, seconds / runs), ++round;
    }
    console.log(best);
  }
})();
"""
BY_HAND = {
    "Perceptron": ((4, 6), """using Hidden = tw::layers::Linear<8>;
  BOOST_HANA_DEFINE_STRUCT(Net, (Hidden, fc1), (Hidden, fc2), (tw::layers::Linear<3>, fc3));
  constexpr tw::Tensor build(tw::Tensor x) { return fc3(tw::ops::tanh(fc2(tw::ops::relu(fc1(x))))); }"""),
    "Cnn": ((4, 1, 8, 8), """using Conv = tw::layers::Conv2d<4, 3, {.padding = 1}>;
  BOOST_HANA_DEFINE_STRUCT(Net, (Conv, conv1), (Conv, conv2), (tw::layers::MaxPool2d<2>, pool), (tw::layers::Linear<5>, head));
  constexpr tw::Tensor build(tw::Tensor x) {
    x = pool(tw::ops::relu(conv1(x)));
    return head(tw::ops::relu(conv2(x) + x).reshape({4, -1}));
  }"""),
    "Encoder": ((2, 4, 8), """using Block = tw::layers::TransformerBlock<
      8, 2, {.dim_feedforward = 16, .activation = tw::layers::Activation::gelu, .dropout = 0}>;
  BOOST_HANA_DEFINE_STRUCT(Net, (Block, block1), (Block, block2), (tw::layers::Linear<3>, head));
  constexpr tw::Tensor build(tw::Tensor x) { return head(tw::ops::mean(block2(block1(x)), {1})); }"""),
}
NET = """struct Net : tw::Module<Net> {{
  {module}
}};
constexpr void infer_net(tw::Ir& ir) {{
  const auto mode = tw::evaluation(ir);
  const tw::Tensor x = tw::ops::host_load(ir.h2d_stream("x", {shape}));
  const auto [factories, graph] = tw::create_graph(ir, Net{{}}, x);
  const tw::Tensor y = graph.bind(factories.init()).call(x)[0];
  tw::ops::host_store(ir.d2h_stream("y", y.spec()), y);
}}
"""
PROGRAM = """#include <tilewright/model.hpp>
#include <tilewright/layers/layers.hpp>
#include <tilewright/session/static_session.hpp>
namespace tw = tilewright;
{net}
constinit static tw::StaticSession<infer_net, tw::one_core> session;
int main() {{ return session.init().is_done() && session.run().is_done() ? 0 : 1; }}
"""


def compare_compilers(compiler, folder, networks, names):
    command = [*programs.command(compiler, PROJECT / "include"), "-O3", "-o", folder / "program"]
    for name in (each for each in BY_HAND if each in names):
        shape, module = BY_HAND[name]
        imported = programs.body_of(exported(folder / name, name, *networks[name])[0])
        by_hand = NET.format(module=module, shape="{" + ", ".join(map(str, shape)) + "}")
        costs = {imported: [], by_hand: []}
        for _ in range(3):
            for net, seconds in costs.items():
                (folder / "program.cpp").write_text(PROGRAM.format(net=net.replace("namespace tw = tilewright;", "")))
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run([*command, folder / "program.cpp"], check=True)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        least = [min(each) for each in costs.values()]
        print(f"{name}: imported {least[0]:.2f} s, by hand {least[1]:.2f} s, {least[0] / least[1]:.2f} of it", flush=True)


def exported(folder, name, network, given):
    """What programs.source needs of a model, and a line for node."""
    folder.mkdir()
    torch_models.export(network.eval(), given, folder / "model.onnx", False)
    options = types.SimpleNamespace(model=folder / "model.onnx", name="Net", out=folder, shape=[], fix=[], fix_from=[])
    made, graph, _ = files.imported(options)
    if made.problems:
        sys.exit(files.problem_text(made.problems, name))
    tried = types.SimpleNamespace(made=made, graph=graph, folder=folder)
    return tried, node_line(folder / "model.onnx", given)


def node_line(path, given):
    dtype = str(given.dtype).removeprefix("torch.")
    return {"path": str(path), "data": given.flatten().tolist(), "dtype": dtype, "shape": list(given.shape)}


def own_times(cases, compiler, folder):
    models = "\n".join(f"namespace model_{i} {{\n{programs.body_of(each)}\n}}" for i, (each, _) in enumerate(cases))
    calls = "\n".join(programs.ran(i, each).replace("run<", "measure<") for i, (each, _) in enumerate(cases))
    text = TIMES.format(tests=PROJECT / "tests/onnx", models=models, calls=calls)
    errors, program = programs.build(programs.command(compiler, PROJECT / "include"), text, folder, "times", "-O3")
    if errors:
        sys.exit(errors[:3000])
    for i, (each, line) in enumerate(cases):
        place = folder / str(i)
        place.mkdir()
        (place / "weights").write_bytes(tensors.safetensors(each.made.variables))
        (place / "inputs").write_bytes(np.array(line["data"], {"float32": "f4"}.get(line["dtype"], "i8")).tobytes())
    lines = subprocess.run([str(program), str(folder)], capture_output=True, text=True, check=True).stdout.splitlines()
    return [float(line.split()[1]) for line in lines]


def times_in_node(lines, folder):
    place = PROJECT / "build/onnxruntime"
    if not (place / "node_modules").is_dir():
        place.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--prefix", place, "--ignore-scripts", "--no-audit", "--no-fund", f"onnxruntime-node@{PEER}"],
                       stdout=sys.stderr, check=True)
    (folder / "models.json").write_text(json.dumps(lines))
    (place / "times.cjs").write_text(NODE)
    output = subprocess.run(["node", place / "times.cjs", folder / "models.json"], capture_output=True, text=True, check=True).stdout
    return [float(line) for line in output.split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="names of networks, with commas")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    networks = torch_models.networks()
    names = options.only.split(",") if options.only else list(networks)
    with tempfile.TemporaryDirectory() as name:
        if options.compile:
            return compare_compilers(options.compiler, Path(name), networks, names)
        folder, cases, keys = Path(name), [], [(each, batch) for each in names for batch in (1, 32)]
        for each, batch in keys:
            network, given = networks[each]
            cases.append(exported(folder / f"{each}{batch}", each, network, torch.cat([given] * 32)[:batch]))
        empty, none = torch.nn.Identity(), torch.zeros(1)
        torch_models.export(empty, none, folder / "empty.onnx", False)
        ours = own_times(cases, options.compiler, folder)
        *theirs, nothing = times_in_node([line for _, line in cases] + [node_line(folder / "empty.onnx", none)], folder)
    rows = [f"| {each} | {batch} | {1e6 * own:.1f} | {1e6 * their:.1f} | {their / own:.2f} | {max(their - nothing, 0) / own:.2f} |"
            for (each, batch), own, their in zip(keys, ours, theirs)]
    cpu = next(line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name"))
    node = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout.strip()
    text = HEAD.format(rows="\n".join(rows), empty=1e6 * nothing, cpu=cpu, peer=PEER, node=node)
    print(text)
    if options.write:
        PAGE.write_text(text)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.path[:0] = [str(PROJECT / "cmake/onnx"), str(PROJECT / "tests/onnx")]
    try:
        import numpy as np
        import torch

        import files
        import programs
        import tensors
        import torch_models
    except ImportError as error:
        sys.exit(f"python3-{error.name} expected")
    main()
