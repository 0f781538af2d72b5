"""Finds attention: softmax(scale q k^T) v with numbers as scales, and perhaps a mask, as PyTorch exports it."""

from dataclasses import dataclass

import numpy as np

from model import FLOATING, Node
from operators import listed, number, operator


def find_attention(graph):
    """Puts one node in the place of the product with the values; the others go if nothing else reads them."""
    makers = {name: node for node in graph.nodes for name in node.outputs}
    users = graph.users()
    graph.nodes = [attention_of(graph, node, makers, users) or node for node in graph.nodes]
    graph.prune()


@dataclass
class Parts:
    """softmax(scale q k + mask) v, where k is (..., columns, keys). padding: a value that is true for keys that are hidden, or ""."""
    q: str
    k: str
    v: str
    scale: float
    causal: bool
    padding: str


def parts_of(graph, node, makers):
    """The parts of attention whose last product is `node`, or None."""
    softmax = makers.get(node.inputs[0]) if node.op == "MatMul" else None
    if softmax is None or softmax.op != "Softmax" or not graph.types.keys() >= {softmax.outputs[0], node.inputs[1]}:
        return None
    shape = graph.types[softmax.outputs[0]].shape
    if softmax.attributes.get("axis", -1) not in (-1, len(shape) - 1) or len(shape) not in (3, 4):
        return None
    scores, causal, padding = unmasked(graph, softmax.inputs[0], makers)
    scores, scale = unscaled(graph, scores, makers)
    product = makers.get(scores)
    if product is None or product.op != "MatMul":
        return None
    q, of_q = unscaled(graph, product.inputs[0], makers)
    k, of_k = unscaled(graph, product.inputs[1], makers)
    types = [graph.types.get(name) for name in (q, k, node.inputs[1])]
    if None in types or types[0].dtype not in FLOATING[:3] or len({each.shape[:-2] for each in types}) != 1:
        return None
    if len(types[0].shape) != len(shape) or types[0].shape[-1] != types[2].shape[-1]:
        return None
    return Parts(q, k, node.inputs[1], scale * of_q * of_k, causal, padding)


def attention_of(graph, node, makers, users):
    parts = parts_of(graph, node, makers)
    if parts is None or parts.padding or len(users[node.inputs[0]]) != 1:
        return None
    rank, k = len(graph.types[parts.q].shape), parts.k
    order = [*range(rank - 2), rank - 1, rank - 2]  # of the axes of keys in those of k
    if k in makers and makers[k].op == "Transpose" and makers[k].attributes.get("perm"):
        order = [makers[k].attributes["perm"][axis] for axis in order]
        k = makers[k].inputs[0]
    attributes = {"scale": parts.scale, "causal": parts.causal, "order": order}
    return Node("tw.Attention", [parts.q, k, parts.v], node.outputs, attributes, node.name, "tilewright")


def unscaled(graph, name, makers):
    """A value without products with numbers, and the factor that these are."""
    factor = 1.0
    while name in makers and makers[name].op in ("Mul", "Div"):
        node = makers[name]
        right = graph.number(node.inputs[1])
        left = graph.number(node.inputs[0]) if node.op == "Mul" else None
        if right is not None:
            name, factor = node.inputs[0], factor * right if node.op == "Mul" else factor / right
        elif left is not None:
            name, factor = node.inputs[1], factor * left
        else:
            break
    return name, factor


def unmasked(graph, name, makers):
    """Scores without a mask; whether it is causal; and what hides keys of it, or ""."""
    node, kept = makers.get(name), (name, False, "")
    if node is None or node.op not in ("Where", "Add"):
        return kept
    if node.op == "Where":
        rest, (causal, padding) = node.inputs[2], hidden_by(graph, node.inputs[0], makers)
        if graph.number(node.inputs[1]) != -np.inf or padding:
            return kept
    else:
        for mask, rest in node.inputs, node.inputs[::-1]:
            causal, padding = hidden_by_sum(graph, mask, makers)
            if causal is not None or padding:
                break
    shape = graph.types[rest].shape if rest in graph.types else ()
    if causal is None and not padding or len(shape) < 2:
        return kept
    if causal is not None:
        if shape[-1] != shape[-2] or causal.shape[-2:] != shape[-2:] or not (causal == ~np.tri(shape[-1], dtype=bool)).all():
            return kept
    return rest, causal is not None, padding


def hidden_by(graph, name, makers):
    """What a condition hides: a constant, or None, and a value, or ""."""
    while (node := makers.get(name)) is not None and node.op == "Cast" and \
            graph.types.get(node.inputs[0], "") == graph.types.get(name):
        name = node.inputs[0]
    if name in graph.constants:
        return graph.constants[name].array, ""
    if node is not None and node.op == "Or" and any(each in graph.constants for each in node.inputs):
        constant, value = sorted(node.inputs, key=lambda each: each not in graph.constants)
        return graph.constants[constant].array, value
    return None, name


def hidden_by_sum(graph, name, makers):
    """What an addend hides, as a condition does: it is 0, or minus infinity where it hides. (None, "") for other values."""
    name, factor = unscaled(graph, name, makers)
    if not factor > 0:
        return None, ""
    if name in graph.constants:
        array = graph.constants[name].array
        hides = np.isneginf(array) if array.dtype.kind == "f" else None
        return (hides if hides is not None and (hides | (array == 0)).all() else None), ""
    node = makers.get(name)
    if node is None or node.op != "Where" or graph.number(node.inputs[1]) != -np.inf:
        return None, ""
    constant, padding = hidden_by(graph, node.inputs[0], makers)
    rest = graph.constants.get(node.inputs[2])
    if rest is not None and not rest.weight and not rest.array.any():
        return constant, padding
    other = hidden_by_sum(graph, node.inputs[2], makers)[0]
    return (other, padding) if constant is None and other is not None else (None, "")


@operator("tw.Attention")
def attention(place):
    shape, order = place.shape(), place.attribute("order")
    keys = place[1] if order == sorted(order) else f"{place[1]}.transpose({listed(order)})"
    values = [place[0], keys, place[2]]
    if place.rank() == 3:
        shapes = [shape, tuple(place.shape(1)[axis] for axis in order), place.shape(2)]
        values = [f"{each}.reshape({listed((1, *own))})" for each, own in zip(values, shapes)]
    values = [each if each.isidentifier() else place.let(each, name) for each, name in zip(values, ("queries", "keys", "values"))]
    options = [".is_causal = true"] if place.attribute("causal") else []
    if abs(place.attribute("scale") * shape[-1] ** 0.5 - 1) > 1e-6:
        options.append(f".scale = {number(place.attribute('scale'), 'float64')}")
    result = f"tw::ops::scaled_dot_product_attention({', '.join(values)}{', {' + ', '.join(options) + '}' if options else ''})"
    return f"{result}.reshape({listed(place.out().shape)})" if place.rank() == 3 else result
