"""Makes the files of an import."""

from pathlib import Path

import numpy as np
import onnx

import program
import reader
import statics
import table  # noqa: F401
import tensors
import writer
from model import Fault, array_of


def fixed_inputs(options):
    result = {}
    for name, text in options.fix:
        try:
            result[name] = np.array([float(each) if "." in each or "e" in each else int(each) for each in text.split(",") if each])
        except ValueError:
            raise Fault(f"--fix {name}={text}: numbers with commas expected") from None
    for name, path in options.fix_from:
        own, array, _ = read_pb(Path(path))
        if not (name or own):
            raise Fault(f"--fix-from {path}: a tensor without a name: --fix-from INPUT={path} expected")
        result[name or own] = array
    return result


def read_pb(path):
    """The name of the tensor of a .pb file, its array, and its dtype."""
    try:
        tensor = onnx.TensorProto()
        tensor.ParseFromString(path.read_bytes())
        return tensor.name, *array_of(tensor)
    except Exception:
        raise Fault(f"{path}: a tensor expected") from None


def test_data(options, graph, model):
    """The inputs and outputs of the model's first set of test data, as arrays and dtypes by name; nothing without it."""
    folder, result = options.model.parent / "test_data_set_0", {}
    if not folder.is_dir():
        return {}
    for kind, values, used in ("input", model.graph.input, graph.inputs), ("output", model.graph.output, graph.outputs):
        names = [each.name for each in values]
        for number, name in enumerate(names):
            if name in used:
                try:
                    result[kind, name] = read_pb(folder / f"{kind}_{number}.pb")[1:]
                except Fault:
                    return {}
    return result


def imported(options):
    """The writer that has all lines of a model, its graph, and its test data."""
    model = reader.read_model(options.model)
    data = onnx.ModelProto()
    data.CopyFrom(model)
    shapes = {name: extent for each in options.shape for name, extent in each.items()}
    graph = statics.static_graph(model, shapes, fixed_inputs(options))
    if not graph.outputs:
        raise Fault("a graph without outputs: one expected")
    made = writer.Writer(graph, options.name)
    for name in graph.inputs:
        if name not in graph.types:
            raise Fault(f"input '{name}': a tensor of numbers with a static shape expected")
        try:
            statics.check_type(name, graph.types[name])
        except writer.Unsupported as problem:
            raise Fault(f"input {problem}") from None
    made.write_nodes()
    return made, graph, test_data(options, graph, data)


def problem_text(problems, model):
    """The operators that are not supported, as one list with their places."""
    lines = [f"import: {model}: {len(problems)} {'operator' if len(problems) == 1 else 'operators'} not supported; nothing is written:"]
    return "\n".join([*lines, *("  " + " ".join(f"{node.place}: {why}".split()) for node, why in problems)])


def write(options, folder):
    """Writes net.hpp, net.safetensors and net_test.cpp into a folder. Returns what is not supported, or None."""
    made, graph, data = imported(options)
    if made.problems:
        return problem_text(made.problems, options.model)
    stem = options.name.lower()
    earlier = options.out / f"{stem}.hpp"
    kept = writer.kept_lines(earlier.read_text()) if earlier.exists() else ""
    (folder / f"{stem}.hpp").write_text(made.header(options.model.name, kept))
    (folder / f"{stem}.safetensors").write_bytes(
        tensors.safetensors(made.variables, tensors.sources(made.elements, graph.sources_of_weights)))
    data = {} if made.is_random else data  # of random numbers, there is nothing to compare
    if data:
        (folder / f"{stem}_test.safetensors").write_bytes(tensors.safetensors(
            {f"{kind}.{name}": each for (kind, name), each in data.items()}))
    (folder / f"{stem}_test.cpp").write_text(program.test_program(options.name, graph, bool(data)))
    return None
