"""Writes out loops and branches whose counts and conditions are constants, as the nodes of their graphs."""

import onnx
import onnx.helper
import onnx.numpy_helper

import numpy as np

from model import Fault, Node

MOST_ITERATIONS = 1024


def expand(node, constants, types):
    """The nodes that stand for one; None if it stays as it is."""
    expander = {"If": expand_if, "Loop": expand_loop, "Scan": expand_scan}.get(node.op)
    return expander(node, constants, types) if expander and not node.domain else None


def prefix_of(node, number=""):
    return f"{node.name or node.outputs[0] or node.op}.{number}{'.' if number != '' else ''}"


def copied(graph, prefix, given):
    """The nodes of a graph with names of their own, and the names of its results. given: outer names by those of its inputs."""
    names = dict(given)
    nodes = []
    for tensor in graph.initializer:
        names[tensor.name] = prefix + tensor.name
        nodes.append(constant_node(names[tensor.name], tensor))
    for node in graph.node:
        for name in node.output:
            if name:
                names[name] = prefix + name
    for proto in graph.node:
        node = Node.of(renamed(proto, names))
        node.name = prefix + (node.name or node.op)
        nodes.append(node)
    return nodes, [names.get(each.name, each.name) for each in graph.output]


def renamed(proto, names):
    """A node with other names, also where graphs in it read them."""
    result = onnx.NodeProto()
    result.CopyFrom(proto)
    for i, name in enumerate(result.input):
        result.input[i] = names.get(name, name)
    for i, name in enumerate(result.output):
        result.output[i] = names.get(name, name)
    for attribute in result.attribute:
        for graph in [attribute.g] if attribute.HasField("g") else attribute.graphs:
            own = {each.name for each in (*graph.input, *graph.initializer)} | {name for each in graph.node for name in each.output}
            outer = {name: new for name, new in names.items() if name not in own}
            nodes = [renamed(each, outer) for each in graph.node]
            del graph.node[:]
            graph.node.extend(nodes)
            for each in graph.output:
                each.name = outer.get(each.name, each.name)
    return result


def constant_node(name, tensor):
    return Node.of(onnx.helper.make_node("Constant", [], [name], value=tensor))


def constant_of(name, array):
    return constant_node(name, onnx.numpy_helper.from_array(np.asarray(array)))


def identity(name, result):
    return Node.of(onnx.helper.make_node("Identity", [name], [result]))


def expand_if(node, constants, types):
    condition = constants.get(node.inputs[0])
    if condition is None:
        return None
    branch = node.attributes["then_branch" if condition.array.ravel()[0] else "else_branch"]
    nodes, results = copied(branch, prefix_of(node), {})
    return nodes + [identity(name, result) for name, result in zip(results, node.outputs)]


def expand_loop(node, constants, types):
    """The body as often as the loop runs: its count is a constant, and its condition holds until then."""
    count, condition = (constants.get(name) if name else None for name in node.inputs[:2])
    if count is None or node.inputs[1] and condition is None:
        return None
    body = node.attributes["body"]
    if condition is not None and not condition.array.ravel()[0]:
        iterations = 0
    elif keeps_condition(body):
        iterations = int(count.array.ravel()[0])
    else:
        return None
    if iterations > MOST_ITERATIONS:
        raise Fault(f"{node.place}: {iterations} iterations: at most {MOST_ITERATIONS} expected")
    states, scans, result = list(node.inputs[2:]), [], []
    for i in range(iterations):
        number = f"{prefix_of(node)}iteration.{i}"
        result.append(constant_of(number, np.int64(i)))
        inputs = [each.name for each in body.input]
        nodes, results = copied(body, prefix_of(node, i), dict(zip(inputs, [number, node.inputs[1] or number, *states])))
        result += nodes
        states, rows = results[1:1 + len(states)], results[1 + len(states):]
        scans.append(rows)
    result += [identity(name, output) for name, output in zip(states, node.outputs)]
    return result + joined(node, scans, node.outputs[len(states):], [0] * len(node.outputs), [False] * len(node.outputs))


def keeps_condition(body):
    """Whether the condition that a body gives is the one that it got, or true."""
    name, makers = body.output[0].name, {output: each for each in body.node for output in each.output}
    while name in makers and makers[name].op_type == "Identity":
        name = makers[name].input[0]
    if len(body.input) > 1 and name == body.input[1].name:
        return True
    tensors = {each.name: each for each in body.initializer}
    if name in makers and makers[name].op_type == "Constant":
        tensors[name] = makers[name].attribute[0].t
    return name in tensors and bool(onnx.numpy_helper.to_array(tensors[name]).ravel()[0])


def joined(node, scans, outputs, axes, backwards):
    """Rows of each iteration, one after the other along an axis."""
    result = []
    for number, output in enumerate(outputs):
        if not output or not scans:
            continue
        rows, axis = [each[number] for each in scans], int(axes[number])
        axis_name = f"{output}.axis"
        result.append(constant_of(axis_name, np.array([axis], "int64")))
        lines = [f"{output}.row.{i}" for i in range(len(rows))]
        result += [Node.of(onnx.helper.make_node("Unsqueeze", [row, axis_name], [line])) for row, line in zip(rows, lines)]
        lines = lines[::-1] if backwards[number] else lines
        result.append(Node.of(onnx.helper.make_node("Concat", lines, [output], axis=axis)))
    return result


def expand_scan(node, constants, types):
    body, given = node.attributes["body"], node.attributes
    scanned = given["num_scan_inputs"]
    states, sequences = list(node.inputs[:len(node.inputs) - scanned]), node.inputs[len(node.inputs) - scanned:]
    if any(name not in types for name in sequences):
        return None
    axes = given.get("scan_input_axes") or [0] * scanned
    backwards = given.get("scan_input_directions") or [0] * scanned
    steps = types[sequences[0]].shape[axes[0]] if sequences else 0
    if steps > MOST_ITERATIONS:
        raise Fault(f"{node.place}: {steps} steps: at most {MOST_ITERATIONS} expected")
    scans, result, count = [], [], len(node.outputs) - len(states)
    for i in range(steps):
        rows = []
        for k, (name, axis, backward) in enumerate(zip(sequences, axes, backwards)):
            row = f"{prefix_of(node)}{k}.row.{i}"
            result.append(constant_of(f"{row}.at", np.int64(steps - 1 - i if backward else i)))
            result.append(Node.of(onnx.helper.make_node("Gather", [name, f"{row}.at"], [row], axis=axis)))
            rows.append(row)
        nodes, results = copied(body, prefix_of(node, i), dict(zip([each.name for each in body.input], [*states, *rows])))
        result += nodes
        states, given_rows = results[:len(states)], results[len(states):]
        scans.append(given_rows)
    result += [identity(name, output) for name, output in zip(states, node.outputs)]
    return result + joined(node, scans, node.outputs[len(states):], given.get("scan_output_axes") or [0] * count,
                           given.get("scan_output_directions") or [0] * count)
