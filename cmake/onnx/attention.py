"""Finds attention: softmax(scale q k^T) v with numbers as scales, and perhaps a causal mask, as PyTorch exports it."""

import numpy as np

from model import FLOATING, Node
from operators import listed, number, operator


def find_attention(graph):
    """Puts one node in the place of the product with the values; the others go if nothing else reads them."""
    makers = {name: node for node in graph.nodes for name in node.outputs}
    users = graph.users()
    graph.nodes = [attention_of(graph, node, makers, users) or node for node in graph.nodes]
    graph.prune()


def attention_of(graph, node, makers, users):
    softmax = makers.get(node.inputs[0]) if node.op == "MatMul" else None
    if softmax is None or softmax.op != "Softmax" or node.inputs[1] not in graph.types or len(users[softmax.outputs[0]]) != 1:
        return None
    shape = graph.types[softmax.outputs[0]].shape
    if softmax.attributes.get("axis", -1) not in (-1, len(shape) - 1) or len(shape) not in (3, 4):
        return None
    scores, causal = unmasked(graph, softmax.inputs[0], makers)
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
    order = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]  # of the axes of keys in those of k
    if k in makers and makers[k].op == "Transpose" and makers[k].attributes.get("perm"):
        order = [makers[k].attributes["perm"][axis] for axis in order]
        k = makers[k].inputs[0]
    attributes = {"scale": scale * of_q * of_k, "causal": causal, "order": order}
    return Node("tw.Attention", [q, k, node.inputs[1]], node.outputs, attributes, node.name, "tilewright")


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
    """Scores without a causal mask, and whether they have one."""
    node = makers.get(name)
    if node is None or node.op not in ("Where", "Add"):
        return name, False
    if node.op == "Where":
        mask, hidden = graph.constants.get(node.inputs[0]), graph.number(node.inputs[1])
        hides, rest = (None if mask is None else mask.array, node.inputs[2]) if hidden == -np.inf else (None, name)
    else:
        mask = next((each for each in node.inputs if each in graph.constants), "")
        rest = next((each for each in node.inputs if each != mask), "")
        array = graph.constants[mask].array if mask else np.ones(1)
        hides = np.isneginf(array) if (np.isneginf(array) | (array == 0)).all() else None
    shape = graph.types[rest].shape if rest in graph.types else ()
    if hides is None or len(shape) < 2 or shape[-1] != shape[-2]:
        return name, False
    causal = ~np.tri(shape[-1], dtype=bool)
    return (rest, True) if hides.shape[-2:] == causal.shape and (hides == causal).all() else (name, False)


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
