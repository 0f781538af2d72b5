"""Computes what does not depend on the inputs of a graph: chains of Shape, Gather and Concat, and what is done with weights."""

import numpy as np

from model import Constant, Unsupported, array_of

MOST_FOLDED = 1 << 26  # elements of a result; larger ones are left to the run


def axes_of(values, rank):
    return tuple(int(axis) % max(rank, 1) for axis in np.ravel(values))


def slices(x, starts, ends, axes=None, steps=None):
    """The index that takes ONNX's Slice of an array of x's shape."""
    axes = range(len(starts)) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    index = [slice(None)] * x.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps):
        extent, step = x.shape[axis], int(step)
        if step == 0:
            raise Unsupported("a step of 0: another step expected")
        index[axis] = slice(*_bounds(int(start), int(end), step, extent), step)
    return tuple(index)


def _bounds(start, end, step, extent):
    start, end = (at + extent if at < 0 else at for at in (start, end))
    if step > 0:
        return min(max(start, 0), extent), min(max(end, 0), extent)
    start, end = min(max(start, 0), extent - 1), min(max(end, -1), extent - 1)
    return start, None if end < 0 else end


def reshaped(x, shape, allow_zero=False):
    shape = [x.shape[i] if extent == 0 and not allow_zero else int(extent) for i, extent in enumerate(shape)]
    return x.reshape(shape)


def unsqueezed(x, axes):
    rank = x.ndim + len(axes)
    shape = list(x.shape)
    for axis in sorted(axes_of(axes, rank)):
        shape.insert(axis, 1)
    return x.reshape(shape)


def squeezed(x, axes=None):
    axes = [i for i, extent in enumerate(x.shape) if extent == 1] if axes is None else axes_of(axes, x.ndim)
    return x.reshape([extent for i, extent in enumerate(x.shape) if i not in axes])


def limited(shape):
    """A shape, if the result of it is not too large to be made."""
    if np.prod([int(extent) for extent in shape], dtype=object) > MOST_FOLDED:
        raise Unsupported("more elements than are computed before the run")
    return tuple(int(extent) for extent in shape)


def divided(a, b):
    if a.dtype.kind == "f":
        return a / b
    return (np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))).astype(a.dtype)


def split(a, x, parts=None):
    axis = a.get("axis", 0)
    if parts is None:
        return np.array_split(x, a["_outputs"], axis)
    return np.split(x, np.cumsum(parts)[:-1], axis)


def reduced(function):
    def fold(a, x, axes=None):
        axes = a.get("axes") if axes is None else axes
        if axes is None or len(axes) == 0:
            if a.get("noop_with_empty_axes", 0):
                return x
            axes = range(x.ndim)
        return function(x, axis=axes_of(axes, x.ndim), keepdims=bool(a.get("keepdims", 1))).astype(x.dtype)
    return fold


def window(a, size, *factors):
    """A sum of cosines over a period, which includes its last element unless it is periodic."""
    size = int(size)
    at = np.arange(limited([size])[0]) * (2 * np.pi / (size if a.get("periodic", 1) else size - 1))
    return sum(factor * np.cos(i * at) for i, factor in enumerate(factors)).astype(FOLDED_CASTS[a.get("output_datatype", 1)])


def value_of(a):
    if "value" in a:
        return array_of(a["value"])[0]
    for key, dtype in ("value_float", "float32"), ("value_int", "int64"), ("value_floats", "float32"), ("value_ints", "int64"):
        if key in a:
            return np.array(a[key], dtype)
    raise Unsupported("a constant of texts or a sparse one: a tensor expected")


# By operator: the result from the attributes and the arrays of the inputs, with None for inputs that are not given.
FOLDERS = {
    "Identity": lambda a, x: x, "Constant": lambda a: value_of(a),
    "Gather": lambda a, x, i: np.take(x, i, a.get("axis", 0)),
    "Concat": lambda a, *x: np.concatenate(x, a["axis"]),
    "Unsqueeze": lambda a, x, axes=None: unsqueezed(x, a["axes"] if axes is None else axes),
    "Squeeze": lambda a, x, axes=None: squeezed(x, a.get("axes") if axes is None else axes),
    "Reshape": lambda a, x, shape: reshaped(x, shape, a.get("allowzero", 0)),
    "Flatten": lambda a, x: x.reshape(int(np.prod(x.shape[:a.get("axis", 1) % (x.ndim + 1)])), -1),
    "Transpose": lambda a, x: np.transpose(x, a.get("perm")),
    "Slice": lambda a, x, *rest: x[slices(x, *rest)],
    "Expand": lambda a, x, shape: np.broadcast_to(x, limited(np.broadcast_shapes(x.shape, tuple(map(int, shape))))).copy(),
    "Tile": lambda a, x, repeats: np.tile(x, repeats) if limited(x.shape * repeats) else x,
    "ConstantOfShape": lambda a, shape: np.full(limited(shape), value_of(a).ravel()[0] if "value" in a else np.float32(0)),
    "Range": lambda a, first, end, step: np.arange(first, end, step, first.dtype) if limited([(end - first) // step]) else first,
    "Add": lambda a, x, y: x + y, "Sub": lambda a, x, y: x - y, "Mul": lambda a, x, y: x * y,
    "Div": lambda a, x, y: divided(x, y),
    "Neg": lambda a, x: -x, "Relu": lambda a, x: np.maximum(x, 0),
    "Abs": lambda a, x: np.abs(x), "Sqrt": lambda a, x: np.sqrt(x), "Exp": lambda a, x: np.exp(x),
    "Pow": lambda a, x, y: np.power(x, y).astype(x.dtype), "Floor": lambda a, x: np.floor(x), "Ceil": lambda a, x: np.ceil(x),
    "Reciprocal": lambda a, x: (1 / x).astype(x.dtype), "Min": lambda a, *x: np.min(np.broadcast_arrays(*x), 0),
    "Max": lambda a, *x: np.max(np.broadcast_arrays(*x), 0), "Log": lambda a, x: np.log(x), "Cos": lambda a, x: np.cos(x),
    "Sin": lambda a, x: np.sin(x), "Mod": lambda a, x, y: np.fmod(x, y) if a.get("fmod", 0) else np.mod(x, y),
    "Equal": lambda a, x, y: x == y, "Less": lambda a, x, y: x < y, "Greater": lambda a, x, y: x > y,
    "GreaterOrEqual": lambda a, x, y: x >= y, "LessOrEqual": lambda a, x, y: x <= y,
    "Not": lambda a, x: ~x, "And": lambda a, x, y: x & y, "Or": lambda a, x, y: x | y,
    "Where": lambda a, c, x, y: np.where(c, x, y),
    "ReduceSum": reduced(np.sum), "ReduceProd": reduced(np.prod), "ReduceMin": reduced(np.min), "ReduceMax": reduced(np.max),
    "Trilu": lambda a, x, k=0: (np.triu if a.get("upper", 1) else np.tril)(x, int(k)),
    "Split": split,
    "HannWindow": lambda a, size: window(a, size, 0.5, -0.5),
    "HammingWindow": lambda a, size: window(a, size, 25 / 46, -21 / 46),
    "BlackmanWindow": lambda a, size: window(a, size, 0.42, -0.5, 0.08),
}
MOVES = {"Identity", "Gather", "Concat", "Unsqueeze", "Squeeze", "Reshape", "Flatten", "Transpose", "Slice", "Split"}


def fold(node, constants, types, whole=True):
    """The constants that a node gives, by name; nothing if they depend on an input. Of weights, which are trained, only moves are folded;
    if `whole`, only those that give each element once."""
    if node.domain or not node.outputs:
        return {}
    known = [constants.get(name) for name in node.inputs]
    if node.op in ("Shape", "Size") and node.inputs[0] in types:
        return {node.outputs[0]: Constant(size_of(node, types[node.inputs[0]].shape), "int64")}
    if node.op not in (*FOLDERS, "Cast") or any(name and each is None for name, each in zip(node.inputs, known)):
        return {}
    if any(each is not None and each.dtype == "bfloat16" for each in known):
        return {}
    weights = [each for each in known if each is not None and each.weight]
    if weights and node.op not in MOVES:
        return {}
    arrays = [None if each is None else each.array for each in known]
    if sum(0 if each is None else each.size for each in arrays) > MOST_FOLDED:
        return {}
    given = {**node.attributes, "_outputs": len(node.outputs)}
    if node.op == "Cast":
        if given["to"] not in FOLDED_CASTS:
            return {}
        results = arrays[0].astype(FOLDED_CASTS[given["to"]])
    else:
        with np.errstate(all="ignore"):
            results = FOLDERS[node.op](given, *arrays)
    results = results if isinstance(results, list) else [results]
    if whole and weights and not moves_whole(node, known, results):
        return {}
    numbers = moved_elements(node, given, known, results)
    sources = {each.source for each in weights}
    made = {}
    for name, result, numbers_of_result in zip(node.outputs, results, numbers):
        result = np.asarray(result)
        is_weight = bool(weights) and result.ndim > 0
        made[name] = Constant(result, str(result.dtype), is_weight, min(sources) if len(sources) == 1 else name,
                              numbers_of_result if is_weight else None)
    return made


def moves_whole(node, known, results):
    """Whether a move of weights gives each of their elements once, and nothing else."""
    if node.op == "Concat":
        return all(each is not None and each.weight for each in known) and len(set(node.inputs)) == len(node.inputs)
    if node.op == "Gather":
        return results[0].size == known[0].array.size and len(np.unique(known[1].array)) == known[1].array.size
    return node.op != "Slice" or results[0].size == known[0].array.size


def constant_of(name, makers, constants, types):
    """A constant, also one that moves give which are not folded; None if it is none."""
    node = makers.get(name)
    if node is None or node.op not in MOVES:
        return constants.get(name)
    return fold(node, {each: constant_of(each, makers, constants, types) for each in node.inputs}, types, False).get(name)


def moved_elements(node, given, known, results):
    """For each result of moved weights, the numbers of its elements: the node moves the numbers of its inputs' elements."""
    if node.op not in MOVES or not any(each is not None and each.weight for each in known):
        return [None] * len(results)
    arrays = [None if each is None else each.elements if each.elements is not None else
              np.full(each.array.shape, -1) if each.array.dtype.kind == "f" else each.array for each in known]
    moved = FOLDERS[node.op](given, *arrays)
    return moved if isinstance(moved, list) else [moved]


FOLDED_CASTS = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
                11: "float64", 12: "uint32", 13: "uint64"}


def size_of(node, shape):
    if node.op == "Size":
        return np.array(np.prod(shape, dtype="int64"))
    return np.array(shape, "int64")[node.attributes.get("start", 0):node.attributes.get("end", None)]
