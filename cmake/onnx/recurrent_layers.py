"""LSTM and GRU as layers of the library, if their weights are initialisers and they compute what PyTorch's do."""

import numpy as np

from model import Constant
from operators import listed, operator

ORDERS = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2)}  # PyTorch's gates among ONNX's: i f g o of i o f g, and r z n of z r n
ACTIVATIONS = {"LSTM": [b"Sigmoid", b"Tanh", b"Tanh"], "GRU": [b"Sigmoid", b"Tanh"]}
DIRECTIONS = {b"forward": 1, b"bidirectional": 2}


def find_recurrent(finder, node):
    """The node of a layer for an LSTM or a GRU, or None."""
    given, graph = node.attributes, finder.graph
    inputs = node.inputs + [""] * (8 - len(node.inputs))
    directions = DIRECTIONS.get(given.get("direction", b"forward"))
    weights = [finder.weight(name, rank) for name, rank in zip(inputs[1:4], (3, 3, 2))]
    usual = directions and given.get("activations", ACTIVATIONS[node.op] * directions) == ACTIVATIONS[node.op] * directions
    if None in weights or not usual or given.get("clip") is not None or given.get("layout", 0) or inputs[4] or inputs[7]:
        return None
    if given.get("input_forget", 0) or node.op == "GRU" and not given.get("linear_before_reset", 0):
        return None
    states = inputs[5:7] if node.op == "LSTM" else inputs[5:6]
    zeros = [name == "" or name in graph.constants and not graph.constants[name].array.any() for name in states]
    if not all(zeros) and (any(zeros) or "" in states):
        return None
    hidden, members = given["hidden_size"], {}
    for direction in range(directions):
        end = "_l0_reverse" if direction else "_l0"
        members[f"weight_ih{end}"] = part(weights[0], direction, node.op, hidden, True)
        members[f"weight_hh{end}"] = part(weights[1], direction, node.op, hidden, True)
        rows = len(ORDERS[node.op]) * hidden
        for name, first in ("bias_ih", 0), ("bias_hh", rows):
            members[name + end] = part(weights[2], direction, node.op, hidden, False, slice(first, first + rows))
    options = ", {.bidirectional = true}" if directions == 2 else ""
    made = finder.made(node, node.inputs[:1], node.outputs, f"{node.op}<{hidden}{options}>", members, node.op.lower())
    made.op, made.inputs = "tw.Recurrent", [node.inputs[0], *([] if all(zeros) else states)]
    return made


def part(weight, direction, op, hidden, transposes, rows=slice(None)):
    """A direction's part of a weight, with PyTorch's order of gates."""
    order = np.concatenate([np.arange(gate * hidden, (gate + 1) * hidden) for gate in ORDERS[op]])
    arrays = [each[direction][rows][order] for each in (weight.array, weight.elements)]
    return Constant(*([arrays[0].T] if transposes else arrays[:1]), weight.dtype, True, weight.source,
                    arrays[1].T if transposes else arrays[1])


@operator("tw.Recurrent")
def recurrent_layer(place):
    """The layer has the batch as first axis, and the directions side by side."""
    steps, batch, _ = place.shape()
    states = "".join(f", {place[i]}" for i in range(1, len(place.node.inputs)))
    member = place.node.attributes["member"]
    whole = place.writer.let_auto(f"{member}({place[0]}.transpose({{1, 0, 2}}){states})", f"{member}_results")
    type_ = place.node.attributes["type"]
    directions, hidden = 1 + ("bidirectional" in type_), place.node.attributes["weights"]["weight_hh_l0"].array.shape[0]
    lines = f"std::get<0>({whole}).reshape({listed([batch, steps, directions, hidden])}).transpose({{1, 2, 0, 3}})"
    return [lines, *(f"std::get<{i}>({whole})" for i in range(1, 3 if "LSTM" in type_ else 2))]
