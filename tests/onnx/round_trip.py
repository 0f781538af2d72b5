#!/usr/bin/env python3
"""Exports networks from PyTorch, imports them, and compares: outputs of the usual export; one step of training, whose weights go back
to PyTorch under its names and layouts; and PyTorch's outputs with them. Of a quantised network, its outputs by one step of their scale.

    tests/onnx/round_trip.py                  five networks
    tests/onnx/round_trip.py --all            all of torch_models.py
    tests/onnx/round_trip.py --only Gpt,UNet
"""

import argparse
import collections
import copy
import json
import re
import sys
import tempfile
import types
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
TESTED = ("Perceptron", "Cnn", "Tagger", "Attentions", "Parameters")
BATCH = 3  # networks of a program
LAYERS = "Linear", "Conv1d", "Conv2d", "ConvTranspose2d", "BatchNorm", "LayerNorm", "LSTM", "GRU", "MultiheadAttention"
sys.path[:0] = [str(PROJECT / "cmake/onnx"), str(HERE)]

TRAIN = """
constexpr tw::Tensor loss(Net& net, tw::Tensor x) {{
  const tw::Tensor y = net(x);
  return (y * y).mean();
}}
constexpr void train(tw::Ir& ir) {{
  tw::train::minimise(ir, Net{{}}, loss, tw::optim::SgdParameters{{.lr = 1}}, {{{{"x", {shape}, {dtype}}}}});
}}
"""


def read_weights(path, origin):
    """The arrays of a .safetensors file under the names and in the layouts of the model: `sources` of the file that the import wrote
    says where each element comes from."""
    def contents(file):
        data = file.read_bytes()
        end = 8 + int.from_bytes(data[:8], "little")
        header = json.loads(data[8:end])
        metadata = header.pop("__metadata__", {})
        return metadata, {name: np.frombuffer(data[end + each["data_offsets"][0]:end + each["data_offsets"][1]], "f4").reshape(each["shape"])
                          for name, each in header.items() if each["dtype"] == "F32"}
    parts = {}
    for variable, array in contents(path)[1].items():
        source = json.loads(contents(origin)[0]["sources"]).get(variable, {"axes": [], "runs": []})
        line, at = array.transpose(source["axes"]).ravel() if source["runs"] else array, 0
        for name, first, count in source["runs"]:
            parts.setdefault(name, []).append((first, line[at:at + count]))
            at += count
    return {name: np.concatenate([part for _, part in sorted(each, key=lambda part: part[0])]) for name, each in parts.items()}


class Trip:
    """One network: what programs.build needs, and what PyTorch computes."""

    def __init__(self, name, network, given, folder):
        self.name, self.network, self.given, self.folder = name, network, given, folder
        self.problems, self.texts, self.graphs, self.variables = [], [], [], []
        folder.mkdir()
        self.is_quantised = isinstance(network, torch_models.Quantised)
        for training in (False,) if self.is_quantised else (False, True):  # in this order: the second export changes the statistics of batch norms
            network.train(training)
            if not training:
                with torch.no_grad():
                    self.expected = network(given).numpy()
            path = folder / ("training" if training else "usual") / "model.onnx"
            path.parent.mkdir()
            torch_models.export(network, given, path, training)
            options = types.SimpleNamespace(model=path, name="Net", out=folder, shape=[], fix=[], fix_from=[])
            made, graph, _ = files.imported(options)
            self.problems += [f"{node.place}: {why}" for node, why in made.problems]
            if self.problems:
                return
            text = made.header("model.onnx", "")
            self.texts.append("\n".join(line for line in text.split("\n") if not line.startswith("#")))
            if training:
                self.require_layers(text)
            self.graphs.append(graph)
            self.variables.append(tensors.safetensors(made.variables, tensors.sources(made.elements, graph.sources_of_weights)))

    def require_layers(self, text):
        """That each module that the library has as a layer is one."""
        kinds = collections.Counter(re.sub("Norm[12]d", "Norm", type(each).__name__) for each in self.network.modules())
        kinds.subtract(getattr(self.network, "composed", {}))
        found = {kind: text.count(f"tw::layers::{kind}<") for kind in LAYERS}
        own = found["MultiheadAttention"] - kinds["MultiheadAttention"]  # which the network has as two linear layers each
        for kind in LAYERS:
            wanted = kinds[kind] - (2 * own if kind == "Linear" else 0)
            if found[kind] < wanted:
                self.problems.append(f"{found[kind]} layers {kind}: {wanted} expected")

    def source(self, i):
        if self.is_quantised:
            return f"namespace model_{2 * i} {{\n{self.texts[0]}\n}}"
        type_ = self.graphs[1].types["x"]
        train = TRAIN.format(shape=listed(type_.shape), dtype=cpp_dtype(type_.dtype))
        return f"namespace model_{2 * i} {{\n{self.texts[0]}\n}}\nnamespace model_{2 * i + 1} {{\n{self.texts[1]}{train}\n}}"

    def calls(self, i):
        sizes = [type_.size * numpy_dtype(type_.dtype).itemsize for type_ in (self.graphs[0].types["x"], self.graphs[0].types["y"])]
        infers = f"  run<model_{2 * i}::infer_net>({2 * i}, argv[1], {{{sizes[0]}}}, {{{sizes[1]}}});\n"
        return infers + ("" if self.is_quantised else f"  run<model_{2 * i + 1}::train>({2 * i + 1}, argv[1], {{{sizes[0]}}}, {{4}});")

    def write(self, i, folder):
        for k in range(len(self.texts)):
            path = folder / str(2 * i + k)
            path.mkdir()
            (path / "weights").write_bytes(self.variables[k])
            (path / "inputs").write_bytes(self.given.numpy().tobytes())

    def judge(self, i, folder):
        """Compares what the programs gave with what PyTorch gives."""
        found = np.frombuffer((folder / str(2 * i) / "outputs").read_bytes(), "f4").reshape(self.expected.shape)
        if self.is_quantised:
            if not (difference := np.abs(found - self.expected).max()) <= 1.001 * self.network.head.scale:
                self.problems.append(f"outputs: a difference of {difference:.3g}, where the scale is {self.network.head.scale:.3g}")
            return
        self.compare("outputs", found, self.expected, 1e-5)
        before = {name: each.clone() for name, each in self.network.state_dict().items()}
        trained = copy.deepcopy(self.network).train()
        loss = (trained(self.given) ** 2).mean()
        loss.backward()
        torch.optim.SGD(trained.parameters(), lr=1.0).step()
        path = folder / str(2 * i + 1)
        self.compare("loss", np.frombuffer((path / "outputs").read_bytes(), "f4"), np.array([loss.item()]), 1e-4)
        state, ours = trained.state_dict(), read_weights(path / "weights_after", path / "weights")
        wanted = {name: each for name, each in state.items() if each.dtype == torch.float32}
        if missing := set(wanted) - set(ours):
            self.problems.append(f"no weights {', '.join(sorted(missing))}")
            return
        for name, each in wanted.items():
            old, line = before[name].numpy(), ours[name].reshape(each.shape)
            self.compare(f"step of {name}", line - old, each.numpy() - old, 1e-4)
        back = copy.deepcopy(self.network)
        back.load_state_dict({**state, **{name: torch.tensor(ours[name]).reshape(each.shape) for name, each in wanted.items()}})
        with torch.no_grad():
            self.compare("outputs of the weights in PyTorch", back.eval()(self.given).numpy(), trained.eval()(self.given).numpy(), 1e-4)

    def compare(self, what, found, expected, tolerance):
        """That nothing differs by more than a part of the largest element, or the rounding of a weight."""
        difference, largest = np.abs(found - expected).max(), np.abs(expected).max()
        if not difference <= tolerance * largest + (2e-7 if what.startswith("step") else 0):
            self.problems.append(f"{what}: a difference of {difference:.3g}, where the largest element is {largest:.3g}")


def run(trips, command, folder):
    good = [trip for trip in trips if not trip.problems]
    for first in range(0, len(good), BATCH):
        batch, place = good[first:first + BATCH], folder / f"batch{first}"
        place.mkdir()
        models = "\n".join(trip.source(i) for i, trip in enumerate(batch))
        text = f'#include "{HERE}/run.hpp"\n#include <tilewright/train/minimise.hpp>\n{models}\nint main(int, char** argv) {{\n' + \
            "\n".join(trip.calls(i) for i, trip in enumerate(batch)) + "\n}\n"
        errors, program = programs.build(command, text, place, "program", "-O1")
        for i, trip in enumerate(batch):
            trip.write(i, place)
        lines = "" if errors else programs.subprocess.run([str(program), str(place)], capture_output=True, text=True).stdout
        for i, trip in enumerate(batch):
            if errors or "".join(f"{2 * i + k} ok\n" for k in range(len(trip.texts))) not in lines:
                trip.problems.append(errors[:2000] or lines)
            else:
                trip.judge(i, place)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", help="names of networks, with commas")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--include", type=Path, default=PROJECT / "include")
    options = parser.parse_args()
    networks = torch_models.networks() | torch_models.more_networks()
    names = options.only.split(",") if options.only else list(networks) if options.all else TESTED
    with tempfile.TemporaryDirectory() as name:
        trips = [Trip(each, *networks[each], Path(name) / each) for each in names]
        run(trips, programs.command(options.compiler, options.include), Path(name))
    for trip in trips:
        print(f"{trip.name}: {'agrees' if not trip.problems else '; '.join(trip.problems)}")
    sys.exit(any(trip.problems for trip in trips))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    try:
        import numpy as np
        import torch

        import files
        import programs
        import tensors
        import torch_models
        from elementwise import cpp_dtype
        from model import numpy_dtype
        from operators import listed
    except ImportError as error:
        print(f"python3-{error.name} is not installed: left out")
        sys.exit(77)
    main()
