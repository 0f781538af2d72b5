"""Finds multi-head attention as PyTorch exports torch.nn.MultiheadAttention: products with the weights of queries, keys and values,
nodes that make heads of them, attention, and a product with the weight of the results."""

import math
import os.path
from dataclasses import dataclass

import numpy as np

import folding
from attention import parts_of, unscaled
from axes import MOVES, REORDERS, Axes, Mismatch, axes_of, require
from model import Constant, Node, Type


@dataclass
class Projection:
    """A product with a weight (inputs, results), and its bias, or None."""
    x: str
    result: str
    weight: Constant
    bias: Constant


@dataclass
class Side:
    """Queries, keys or values. order: the axes of x that are the batch, and then those that are the length."""
    x: str
    order: tuple
    batch: int
    length: int
    factor: float  # of their elements
    weight: Constant
    bias: Constant
    source: Projection  # weight and bias are some columns of its own


class MultiheadFinder:
    def __init__(self, finder):
        self.finder, self.graph, self.types, self.users = finder, finder.graph, finder.graph.types, finder.users
        self.makers = {name: node for node in self.graph.nodes for name in node.outputs}

    def replace(self):
        """Puts layers in the place of the last nodes of their patterns. Nothing else reads the others."""
        made = {}
        for node in self.graph.nodes:
            try:
                last, nodes = self.layer(node)
                made[id(last)] = nodes
            except (Mismatch, KeyError, ZeroDivisionError):  # a shape that is not known, or has no elements
                continue
        self.graph.nodes = [each for node in self.graph.nodes for each in made.get(id(node), [node])]
        self.graph.prune()

    def layer(self, node):
        """The last node of the pattern whose product with the values is `node`, and the nodes that take its place."""
        parts = parts_of(self.graph, node, self.makers)
        require(parts is not None)
        shape = self.types[parts.v].shape
        path, out = self.projection_after(node.outputs[0])
        width, rank = out.weight.array.shape[0], len(shape)
        require(out.weight.array.shape == (width, width) and width % shape[-1] == 0)
        heads = width // shape[-1]
        same, swapped = [*range(rank)], [*range(rank - 2), rank - 1, rank - 2]
        q, k, v = (self.side(name, order, width, heads) for name, order in ((parts.q, same), (parts.k, swapped), (parts.v, same)))
        require(abs(parts.scale * q.factor * k.factor * shape[-1] ** 0.5 - 1) < 1e-6 and v.factor == 1)
        require(q.batch == k.batch == v.batch and k.length == v.length and len({each.bias is None for each in (q, k, v, out)}) == 1)
        require_whole([q.source.weight, k.source.weight, v.source.weight], 3 * width * width)
        if out.bias is not None:
            require_whole([q.source.bias, k.source.bias, v.source.bias], 3 * width)
        self_attention = q.x == k.x == v.x and q.order == k.order == v.order
        before, after = [], []
        inputs = [self.laid_out(each, width, before) for each in ((q,) if self_attention else (q, k, v))]
        if parts.padding:
            require(len(self.types[parts.padding].shape) == rank)
            inputs.append(self.mask(parts.padding, v, heads, before))
        result, target = self.result(node.outputs[0], path, out.result, (q.batch, q.length, width), heads, after)
        self.require_closed(target, {q.x, k.x, v.x, parts.padding})
        weights = {"in_proj_weight": joined(q.weight, k.weight, v.weight), "out_proj.weight": out.weight}
        if out.bias is not None:
            weights |= {"in_proj_bias": joined(q.bias, k.bias, v.bias), "out_proj.bias": out.bias}
        options = [".is_causal = true"] * parts.causal + [".bias = false"] * (out.bias is None)
        type_ = f"MultiheadAttention<{width}, {heads}{', {' + ', '.join(options) + '}' if options else ''}>"
        made = self.finder.made(node, inputs, [result], type_, weights, "attention", module_of((q, k, v), out))
        last, self.makers[target] = self.makers[target], made
        return last, [*before, made, *after]

    def weight(self, name, rank):
        each = folding.constant_of(name, self.makers, self.graph.constants, self.types)
        is_one = each is not None and each.weight and each.array.ndim == rank and each.dtype in ("float16", "bfloat16", "float32")
        return each if is_one else None

    def with_bias(self, node):
        """The product and the bias that a node adds; (None, None) if it does not."""
        if node is not None and node.op == "Add":
            for product, other in node.inputs, node.inputs[::-1]:
                if (bias := self.weight(other, 1)) is not None:
                    return product, bias
        return None, None

    def projection(self, result):
        product, bias = self.with_bias(self.makers.get(result))
        node = self.makers.get(product or result)
        require(node is not None and node.op in ("MatMul", "Gemm"))
        weight, given = self.weight(node.inputs[1], 2), node.attributes
        require(weight is not None)
        if node.op == "Gemm":
            require(given.get("alpha", 1) == 1 and given.get("beta", 1) == 1 and not given.get("transA", 0) and bias is None)
            if given.get("transB", 0):
                weight = Constant(weight.array.T, weight.dtype, True, weight.source, weight.elements.T)
            if len(node.inputs) > 2 and node.inputs[2]:
                bias = self.weight(node.inputs[2], 1)
                require(bias is not None)
        require(bias is None or bias.array.shape == weight.array.shape[1:])
        return Projection(node.inputs[0], result, weight, bias)

    def only_user(self, name):
        """The node that alone reads a value, or None."""
        users = self.users.get(name, [])
        return users[0] if len(users) == 1 else None

    def projection_after(self, name):
        """The product of what reorders a value's elements with a weight, and the path to it."""
        path = []
        while (node := self.only_user(name)) is not None and node.op in REORDERS:
            name = node.outputs[0]
            path.append((node, name))
        require(node is not None and node.op in ("MatMul", "Gemm") and node.inputs[0] == name)
        after = self.only_user(node.outputs[0])
        is_sum = self.with_bias(after)[0] == node.outputs[0]
        return path, self.projection(after.outputs[0] if is_sum else node.outputs[0])

    def side(self, name, order, width, heads):
        """What a value of axes (batch heads, length, columns) or (batch, heads, length, columns), in this order, comes from."""
        path, factor = [], 1.0
        while True:
            bare, number = unscaled(self.graph, name, self.makers)
            require(bare in self.types and self.types[bare].shape == self.types[name].shape)
            node, name, factor = self.makers.get(bare), bare, factor * number
            if node is None or node.op not in MOVES:
                break
            path.insert(0, (node, name))
            name = node.inputs[0]
            require(name in self.types)
        source, shape = self.projection(name), self.types[name].shape
        require(len(shape) > 1 and shape[-1] % width == 0 and source.weight.array.shape[0] == width)
        columns = [("part", shape[-1] // width), ("head", heads), ("column", width // heads)]
        axes = Axes([*([axis] for axis in enumerate(shape[:-1])), columns]).through(path, self.graph)
        require(len(axes.axes) == len(order) and set(axes.taken) <= {"part"})
        axes = Axes([axes.axes[axis] for axis in order], axes.taken)
        batch, length = axes.names(0, -2), axes.names(-2, -1)
        if heads > 1:
            require(batch[-1:] == ["head"])
            batch.pop()
        require(axes.names(-1) == ["column"] * (width > heads) and all(isinstance(each, int) for each in (*batch, *length)))
        first = axes.taken.get("part", 0) * width
        weight, bias = (None if each is None else
                        Constant(each.array[..., first:first + width], each.dtype, True, each.source, each.elements[..., first:first + width])
                        for each in (source.weight, source.bias))
        extents = [math.prod(shape[axis] for axis in part) for part in (batch, length)]
        return Side(source.x, (*batch, *length), *extents, factor, weight, bias, source)

    def laid_out(self, side, width, nodes):
        """x or an earlier value as (batch, length, width); nodes that make it of x if there is none."""
        shape, path, name, same = (side.batch, side.length, width), [], side.x, None
        try:
            while same is None or self.types[same].shape != shape:
                axes = axes_of(self.types[name].shape).through(path, self.graph)
                flat = [each for axis in (*side.order, len(axes.axes) - 1) for each, _ in axes.axes[axis]]
                same = name if flat == axes_of(self.types[name].shape).names() else same  # it has the elements in this order
                node = self.makers.get(name)
                require(node is not None and node.op in REORDERS and node.inputs[0] in self.types)
                path.insert(0, (node, name))
                name = node.inputs[0]
        except Mismatch:
            pass
        name = same or side.x
        if same is None:
            old = self.types[name].shape
            permutation = [*(axis for axis in range(len(old) - 1) if axis not in side.order), *side.order, len(old) - 1]
            name = self.moved("Transpose", name, f"{name}/by_batch", [old[axis] for axis in permutation], nodes, perm=permutation)
        return name if self.types[name].shape == shape else self.moved("Reshape", name, f"{name}/in_rows", shape, nodes)

    def moved(self, op, name, result, shape, nodes, **attributes):
        """The name of the result of a new one of `nodes`, or of an equal one."""
        shape = tuple(shape)
        for node in nodes:
            if (node.op, node.inputs, node.attributes, self.types[node.outputs[0]].shape) == (op, [name], attributes, shape):
                return node.outputs[0]
        result = self.new(result, shape, name)
        nodes.append(Node(op, [name], [result], attributes, result))
        return result

    def new(self, name, shape, like):
        """A new name for a value of the dtype of another."""
        name = name.replace("_output_0/", "/")
        while name in self.types:
            name += "_"
        self.types[name] = Type(self.types[like].dtype, tuple(shape))
        return name

    def mask(self, name, keys, heads, nodes):
        """The mask (batch, keys), true where a key is hidden, of which `name` has copies for the heads."""
        path, last = [], self.types[name].shape
        while (node := self.makers.get(name)) is not None and node.op in (*MOVES, "Cast"):
            if self.types[node.inputs[0]].dtype != "bool":
                break
            path = [(node, name)] * (node.op != "Cast") + path
            name = node.inputs[0]
        old, shape = self.types[name].shape, (keys.batch, keys.length)
        axes = axes_of(old).through(path, self.graph)
        require(last[-2:] == (1, keys.length) and math.prod(last[:-2]) == keys.batch * (heads if len(last) == 3 else last[1]))
        batch = axes.names(0, -2)
        if batch[-1:] == ["copies"]:
            batch.pop()
        require([*batch, *axes.names(-1)] == axes_of(old).names() and math.prod(old) == math.prod(shape))
        return name if old == shape else self.moved("Reshape", name, f"{name}/in_rows", shape, nodes)

    def result(self, name, path, product, shape, heads, nodes):
        """The name of the layer's result, (batch, length, width), and of the value that it, or a node after it, gives."""
        batch, length, width = (("batch", shape[0]), ("length", shape[1]), ("width", shape[2]))
        own = self.types[name].shape
        require(len(own) == 3 or own[1] == heads)
        first = [[batch, ("head", heads)]] if len(own) == 3 else [[batch], [("head", heads)]]
        axes = Axes([*first, [length], [("column", own[-1])]]).through(path, self.graph)
        require(axes.names(-1) == ["head"] * (heads > 1) + ["column"] * (own[-1] > 1))
        axes, name = Axes([*axes.axes[:-1], [width]]), product
        candidates, wanted = [(name, axes)], Axes([[batch], [length], [width]]).names()
        while self.types[name].shape != shape or axes.names() != wanted:
            node = self.only_user(name)
            if node is None or node.op not in REORDERS:
                break
            try:
                axes, name = axes.moved(node, node.outputs[0], self.graph), node.outputs[0]
            except Mismatch:
                break
            candidates.append((name, axes))
        else:
            return name, name
        same = [each for each in candidates if each[1].names() == wanted]
        name, axes = same[-1] if same else next((each for each in candidates if len(self.types[each[0]].shape) == 3), candidates[0])
        result = before = self.new(f"{name}/by_batch", shape, name)
        if axes.names() != wanted:
            require(axes.names() == Axes([[length], [batch], [width]]).names())
            swapped = (shape[1], shape[0], shape[2])
            if self.types[name].shape == swapped:
                nodes.append(Node("Transpose", [result], [name], {"perm": [1, 0, 2]}, name))
                return result, name
            before = self.moved("Transpose", result, f"{name}/length_first", swapped, nodes, perm=[1, 0, 2])
        nodes.append(Node("Reshape", [before], [name], {}, name))
        return result, name

    def require_closed(self, target, stops):
        """That nothing else reads the values and weights of which a value is made, from `stops` on."""
        inside, pending = {}, [target]
        while pending:
            name = pending.pop()
            node = self.makers.get(name)
            if name not in stops and node is not None and id(node) not in inside:
                inside[id(node)] = node
                pending += node.inputs
        for node in inside.values():
            weights = [name for name in node.inputs if name in self.graph.constants and self.graph.constants[name].weight]
            for name in (*weights, *(each for each in node.outputs if each != target)):
                require(all(id(user) in inside for user in self.users.get(name, [])))


def require_whole(constants, size):
    """That weights have this many elements together, each of them counted once."""
    require(sum({int(each.elements.ravel()[0]): each.array.size for each in constants}.values()) == size)


def joined(*parts):
    """Constants side by side."""
    arrays, numbers = ([getattr(part, name) for part in parts] for name in ("array", "elements"))
    return Constant(np.concatenate(arrays, -1), parts[0].dtype, True, parts[0].source, np.concatenate(numbers, -1))


def module_of(sides, out):
    """What the names of the weights have in common, where the projection of the results has one more word; nothing if there is none."""
    words = [(each.source.split("."), last) for side, last in (*((side, 1) for side in sides), (out, 2))
             for each in (side.weight, side.bias) if each is not None and "." in each.source]
    common = os.path.commonprefix([each[:-last] for each, last in words])
    return [".".join([*common, ""])] if common else []
