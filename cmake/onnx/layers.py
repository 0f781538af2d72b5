"""Finds what the library has as a layer or as one op, and puts one node in its place."""

import os.path

import numpy as np

from attention import find_attention
from model import Constant, Node
from multihead import MultiheadFinder
from names import identifier
from recurrent_layers import find_recurrent

LAYERS = "tw::layers::"


def find_layers(graph, names):
    """Replaces groups of nodes; the names of members are new ones of `names`."""
    for find in (find_gelu, find_swish):
        replace(graph, find)
    MultiheadFinder(Finder(graph, graph.users(), names)).replace()
    find_attention(graph)
    finder = Finder(graph, graph.users(), names)
    replaced, gone = {}, set()
    for node in graph.nodes:
        if id(node) not in gone and (found := finder.layer(node)) is not None:
            layer, others = found
            gone |= {id(each) for each in others}
            replaced[id(others[-1] if others else node)] = layer
            if others:
                gone.discard(id(others[-1]))
                gone.add(id(node))
    graph.nodes = [replaced.get(id(node), node) for node in graph.nodes if id(node) not in gone]


def replace(graph, find):
    """Puts the node that `find` makes in the place of the last node of a pattern."""
    makers = {name: node for node in graph.nodes for name in node.outputs}
    users = graph.users()
    graph.nodes = [find(graph, node, makers, users) or node for node in graph.nodes]
    graph.prune()


def operands(graph, node, op, number):
    """The other operand of a node of this operator with a constant number; None if it is no such node."""
    if node is None or node.op != op:
        return None
    for i, j in (0, 1), (1, 0):
        value = graph.number(node.inputs[j])
        if value is not None and abs(value - number) < 1e-6 * abs(number) and (op in ("Mul", "Add") or j == 1):
            return node.inputs[i]
    return None


def find_gelu(graph, node, makers, users):
    """0.5 (x (1 + erf(x / sqrt(2)))), as PyTorch exports it."""
    product = makers.get(operands(graph, node, "Mul", 0.5))
    if product is None or product.op != "Mul":
        return None
    for x, other in product.inputs, product.inputs[::-1]:
        erf = makers.get(operands(graph, makers.get(other), "Add", 1))
        if erf is not None and erf.op == "Erf" and operands(graph, makers.get(erf.inputs[0]), "Div", 2 ** 0.5) == x:
            return Node("tw.GeluErf", [x], node.outputs, {}, node.name, "tilewright")
    return None


def find_swish(graph, node, makers, users):
    """x sigmoid(x)"""
    if node.op != "Mul":
        return None
    for x, other in node.inputs, node.inputs[::-1]:
        gate = makers.get(other)
        if gate is not None and gate.op == "Sigmoid" and gate.inputs[0] == x and len(users[other]) == 1:
            return Node("tw.Swish", [x], node.outputs, {}, node.name, "tilewright")
    return None


class Finder:
    """Finds nodes whose weights no other node has."""

    def __init__(self, graph, users, names):
        self.graph, self.users, self.names = graph, users, names

    def layer(self, node):
        find = {"Gemm": self.gemm, "MatMul": self.matmul, "Conv": self.conv, "ConvTranspose": self.conv,
                "LayerNormalization": self.layer_norm, "BatchNormalization": self.batch_norm,
                "LSTM": self.recurrent, "GRU": self.recurrent, "Gather": self.embedding}.get(node.op)
        return find(node) if find else None

    def weight(self, name, rank):
        """A weight of float32 or half precision that one node alone reads."""
        each = self.graph.constants.get(name)
        if each is None or not each.weight or each.array.ndim != rank or len(self.users[name]) != 1:
            return None
        return each if each.dtype in ("float16", "float32", "bfloat16") else None

    def made(self, node, inputs, outputs, type_, weights, kind, sources=None):
        """The node of a layer. weights: constants by the names of the layer's variables; sources: names that give it its own."""
        sources = [each.source for each in weights.values()] if sources is None else sources
        member = self.names.new(self.member(node, sources, kind))
        return Node("tw.Layer", inputs, outputs, {"type": LAYERS + type_, "member": member, "weights": weights}, node.name, "tilewright")

    def member(self, node, sources, kind):
        """What the weights' names have in common before their last dot, or the name of the node, or the kind of the layer."""
        for source in reversed(sources):
            if "." in source:
                return identifier(source.rpartition(".")[0])
        scope = os.path.dirname(node.name).strip("/")
        return identifier(scope.split("/")[-1]) if scope else kind

    def recurrent(self, node):
        found = find_recurrent(self, node)
        return None if found is None else (found, [])

    def embedding(self, node):
        """A table of weights; its layer takes no indices from the end, which PyTorch's has not either."""
        weight, indices = self.weight(node.inputs[0], 2), self.graph.types.get(node.inputs[1])
        if weight is None or weight.dtype != "float32" or node.attributes.get("axis", 0) or indices is None or \
                node.inputs[1] in self.graph.constants:
            return None
        rows, width = weight.array.shape
        made = self.made(node, node.inputs[1:2], node.outputs, f"Embedding<{rows}, {width}>", {"weight": weight}, "embedding")
        return made, []

    def gemm(self, node):
        given = node.attributes
        weight, bias = self.weight(node.inputs[1], 2), self.weight(node.inputs[2], 1) if len(node.inputs) > 2 else None
        if weight is None or given.get("alpha", 1) != 1 or given.get("beta", 1) != 1 or given.get("transA", 0):
            return None
        if len(node.inputs) > 2 and node.inputs[2] and bias is None:
            return None
        transposed = Constant(weight.array.T, weight.dtype, True, weight.source, weight.elements.T)
        weight = transposed if given.get("transB", 0) else weight
        array = weight.array
        if bias is not None and bias.array.shape != array.shape[1:]:
            return None
        return self.linear(node, weight, bias, node.outputs), []

    def linear(self, node, weight, bias, outputs):
        options = "" if bias is not None else ", {.bias = false}"
        weights = {"weight": weight} | ({"bias": bias} if bias is not None else {})
        return self.made(node, node.inputs[:1], outputs, f"Linear<{weight.array.shape[1]}{options}>", weights, "linear")

    def matmul(self, node):
        weight = self.weight(node.inputs[1], 2)
        if weight is None or node.inputs[0] not in self.graph.types or len(self.graph.types[node.inputs[0]].shape) < 2:
            return None
        following = self.users.get(node.outputs[0], [])
        if len(following) == 1 and following[0] is not None and following[0].op == "Add":
            add = following[0]
            other = next((name for name in add.inputs if name != node.outputs[0]), "")
            bias = self.weight(other, 1)
            if bias is not None and bias.array.shape == weight.array.shape[1:]:
                return self.linear(node, weight, bias, add.outputs), [add]
        return self.linear(node, weight, None, node.outputs), []

    def conv(self, node):
        weight = self.weight(node.inputs[1], len(self.graph.types[node.inputs[0]].shape))
        has_bias = len(node.inputs) > 2 and node.inputs[2] != ""
        bias = self.weight(node.inputs[2], 1) if has_bias else None
        given, axes = node.attributes, len(self.graph.types[node.inputs[0]].shape) - 2
        if weight is None or has_bias and bias is None or not 1 <= axes <= 3:
            return None
        if given.get("auto_pad", b"NOTSET") not in (b"NOTSET", b"VALID"):
            return None
        pads = given.get("pads") or [0] * 2 * axes
        if pads[:axes] != pads[axes:] or given.get("output_shape") or min(pads) < 0:
            return None
        groups = given.get("group", 1)
        channels = weight.array.shape[0] if node.op == "Conv" else weight.array.shape[1] * groups
        values = [("stride", given.get("strides"), 1), ("padding", pads[:axes], 0), ("dilation", given.get("dilations"), 1),
                  ("output_padding", given.get("output_padding"), 0)]
        options = [f".{name} = {per_axis(each)}" for name, each, default in values if each and any(e != default for e in each)]
        options += [f".groups = {groups}"] if groups != 1 else []
        options += [".bias = false"] if not has_bias else []
        tail = f", {{{', '.join(options)}}}" if options else ""
        weights = {"weight": weight} | ({"bias": bias} if has_bias else {})
        kernel = per_axis(weight.array.shape[2:])
        return self.made(node, node.inputs[:1], node.outputs, f"{node.op}{axes}d<{channels}, {kernel}{tail}>", weights, "conv"), []

    def layer_norm(self, node):
        shape = self.graph.types[node.inputs[0]].shape
        weights = [self.weight(name, 1) for name in node.inputs[1:3]]
        if len(weights) != 2 or None in weights or node.attributes.get("axis", -1) not in (-1, len(shape) - 1):
            return None
        if any(self.users.get(name) for name in node.outputs[1:]):
            return None
        options = f"{{.eps = {number(node)}}}" if number(node) != "1e-05" else ""
        return self.made(node, node.inputs[:1], node.outputs[:1], f"LayerNorm<{options}>",
                         dict(zip(("weight", "bias"), weights)), "norm"), []

    def batch_norm(self, node):
        weights = [self.weight(name, 1) for name in node.inputs[1:5]]
        if None in weights or any(self.users.get(name) for name in node.outputs[1:]):
            return None
        momentum = str(np.float32(1 - np.float32(node.attributes.get("momentum", 0.9))))
        options = [f".momentum = {momentum}"] if momentum not in ("0.1", "0.100000024") else []
        options += [f".eps = {number(node)}"] if number(node) != "1e-05" else []
        return self.made(node, node.inputs[:1], node.outputs[:1], f"BatchNorm<{'{' + ', '.join(options) + '}' if options else ''}>",
                         dict(zip(("weight", "bias", "running_mean", "running_var"), weights)), "norm"), []


def number(node):
    return str(np.float32(node.attributes.get("epsilon", 1e-5)))


def per_axis(values):
    values = [int(each) for each in values]
    return str(values[0]) if len(set(values)) == 1 else "{" + ", ".join(map(str, values)) + "}"
