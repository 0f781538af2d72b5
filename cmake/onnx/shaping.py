"""Operators that change shapes, cut, join and repeat."""

import math

import numpy as np

from elementwise import cpp_dtype
from folding import slices
from model import Unsupported
from operators import listed, number, operator


def reshape(place, shape=None, x=None):
    shape = place.out().shape if shape is None else shape
    if x is None and tuple(shape) == place.shape():
        return place[0]
    return f"{x or place[0]}.reshape({listed(shape)})"


@operator("Reshape", "Flatten", "Squeeze", "Unsqueeze")
def to_shape(place):
    return reshape(place)


@operator("Transpose")
def transpose(place):
    permutation = list(place.attribute("perm") or reversed(range(place.rank())))
    if permutation == list(range(place.rank())):
        return place[0]
    if permutation == list(reversed(range(place.rank()))):
        return f"{place[0]}.T()"
    return f"{place[0]}.transpose({listed(permutation)})"


@operator("Expand")
def expand(place):
    return place[0] if place.out().shape == place.shape() else f"{place[0]}.expand({listed(place.out().shape)})"


@operator("Concat")
def concat(place):
    axis = place.attribute("axis")
    if len(place.node.inputs) == 1:
        return place[0]
    return f"tw::ops::concat({{{', '.join(place[i] for i in range(len(place.node.inputs)))}}}, {axis})"


@operator("Split")
def split(place):
    axis = place.axis(0)
    ends = np.cumsum([place.graph.types[name].shape[axis] for name in place.node.outputs]).tolist()
    return [sliced(place[0], [(axis, begin, end, 1)], place.shape())
            for begin, end in zip([0, *ends], ends)]


def sliced(x, parts, shape):
    """x at parts (axis, begin, end, step) with 0 <= begin; end may be None at a negative step."""
    parts = [part for part in parts if part[1:] != (0, shape[part[0]], 1)]
    if not parts:
        return x
    bounds = [", ".join("tw::none" if each is None else str(each) for each in column) for column in zip(*parts)]
    axes, begins, ends, steps = (f"{{{column}}}" for column in bounds)
    if set(steps) <= set("{}1, ") and all(part[3] == 1 for part in parts):
        steps = "{}"
    axes_expected = "{" + ", ".join(map(str, range(len(parts)))) + "}"
    tail = "" if axes == axes_expected and steps == "{}" else f", {steps}" if axes == axes_expected else f", {steps}, {axes}"
    return f"tw::ops::slice({x}, {begins}, {ends}{tail})"


@operator("Slice")
def slice_(place):
    starts, ends = place.constant(1), place.constant(2)
    axes = place.constant(3).tolist() if place.has(3) else range(len(starts))
    axes = [axis % place.rank() for axis in axes]
    steps = place.constant(4).tolist() if place.has(4) else [1] * len(starts)
    index = slices(np.broadcast_to(np.int8(0), place.shape()), starts, ends, axes, steps)
    return sliced(place[0], [(axis, index[axis].start, index[axis].stop, int(step)) for axis, step in zip(axes, steps)],
                  place.shape())


@operator("Pad")
def pad(place):
    """Parts are joined at both ends of each axis: of the padding's value, or copies of x's own elements."""
    mode, pads = place.attribute("mode", "constant"), place.constant(1).tolist()
    rank = place.rank()
    axes = [axis % rank for axis in place.constant(3).tolist()] if place.has(3) else list(range(rank))
    before, after = dict(zip(axes, pads[:len(axes)])), dict(zip(axes, pads[len(axes):]))
    value = number(place.constant(2).ravel()[0], place.dtype()) if place.has(2) else number(0, place.dtype())
    shape, x = list(place.shape()), place[0]
    for axis in axes:
        begin, end = before[axis], after[axis]
        if begin < 0 or end < 0:
            cut = max(-begin, 0), shape[axis] - max(-end, 0)
            x = place.let(sliced(x, [(axis, *cut, 1)], shape), "cut")
            shape[axis] = cut[1] - cut[0]
            begin, end = max(begin, 0), max(end, 0)
        if begin == end == 0:
            continue
        parts = [padding(place, mode, x, shape, axis, begin, False, value), x,
                 padding(place, mode, x, shape, axis, end, True, value)]
        shape[axis] += begin + end
        x = place.let(f"tw::ops::concat({{{', '.join(part for part in parts if part)}}}, {axis})", "padded")
    return x


def padding(place, mode, x, shape, axis, count, at_end, value):
    """What stands before or after x, whose shape it is, along an axis."""
    if count == 0:
        return None
    extent = shape[axis]
    part = [*shape[:axis], count, *shape[axis + 1:]]
    if mode == "constant":
        return place.let(f"ir().constant({value}, {cpp_dtype(place.dtype())}).expand({listed(part)})", "border")
    if mode == "edge":
        edge = sliced(x, [(axis, extent - 1, extent, 1) if at_end else (axis, 0, 1, 1)], shape)
        return place.let(f"{edge}.expand({listed(part)})", "border")
    if mode == "reflect" and count < extent:
        inner = (axis, extent - 1 - count, extent - 1, 1) if at_end else (axis, 1, count + 1, 1)
        return place.let(f"tw::ops::flip({sliced(x, [inner], shape)}, {axis})", "border")
    raise Unsupported(f"mode {mode} with a padding of {count}: constant, edge, or reflect of fewer elements than there are expected")


@operator("Tile")
def tile(place):
    """Axes are repeated one after the other, each beside an axis of 1 that is expanded."""
    shape, x = list(place.shape()), place[0]
    for axis, count in enumerate(place.constant(1).tolist()):
        if count > 1:
            before, after = math.prod(shape[:axis]), math.prod(shape[axis:])
            repeated = f"{x}.reshape({listed([before, 1, after])}).expand({listed([before, count, after])})"
            shape[axis] *= count
            x = place.let(f"{repeated}.reshape({listed(shape)})", "tiled")
    return x


@operator("DepthToSpace", "SpaceToDepth")
def depth_and_space(place):
    n, c, h, w = place.shape()
    size = place.attribute("blocksize")
    if place.node.op == "SpaceToDepth":
        apart, order = (n, c, h // size, size, w // size, size), (0, 3, 5, 1, 2, 4)
    elif place.attribute("mode", "DCR") == "DCR":
        apart, order = (n, size, size, c // size ** 2, h, w), (0, 3, 4, 1, 5, 2)
    else:
        apart, order = (n, c // size ** 2, size, size, h, w), (0, 1, 4, 2, 5, 3)
    return f"{place[0]}.reshape({listed(apart)}).transpose({listed(order)}).reshape({listed(place.out().shape)})"


@operator("Trilu")
def triangle(place):
    diagonal = int(place.constant(1).ravel()[0]) if place.has(1) else 0
    function = "triu" if place.attribute("upper", 1) else "tril"
    limit = max(place.shape()[-2:]) + 1
    diagonal = min(max(diagonal, -limit), limit)
    return f"tw::ops::{function}({place[0]}{f', {diagonal}' if diagonal else ''})"


@operator("EyeLike")
def eye(place):
    rows, columns = place.shape()
    matrix = np.eye(rows, columns, place.attribute("k", 0), dtype="int64")
    return place.writer.constant(matrix, place.out().dtype)


@operator("Range", "ConstantOfShape", "HannWindow", "HammingWindow", "BlackmanWindow", "Loop", "If")
def made_of_constants(place):
    """What is left of these when constants are folded has an input that is none."""
    for i in range(min(2 if place.node.op == "Loop" else 3, len(place.node.inputs))):
        if place.has(i):
            place.constant(i)
    raise Unsupported("a condition that its iterations change, or more elements than are computed before the run")
