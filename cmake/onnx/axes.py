"""Follows the axes of a value through nodes that move its elements."""

import numpy as np

import folding

REGROUPS = ("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity")
REORDERS = (*REGROUPS, "Transpose")
MOVES = (*REORDERS, "Slice", "Split", "Gather", "Expand")


class Mismatch(Exception):
    """Nodes that are no pattern of a layer."""


def require(holds):
    if not holds:
        raise Mismatch


class Axes:
    """The axes of a value as factors of those of another: for each axis a list of (name, extent), the slowest first, without extents of 1.
    `taken`: of a factor that a node cut, by its name, the index that is left."""

    def __init__(self, axes, taken=()):
        self.axes, self.taken = [[factor for factor in axis if factor[1] != 1] for axis in axes], dict(taken)

    def names(self, begin=None, end=None):
        return [name for axis in self.axes[begin:end] for name, _ in axis]

    def regrouped(self, shape):
        """The factors as axes of another shape, which parts none of them."""
        left, result = [factor for axis in self.axes for factor in axis], []
        for extent in shape:
            result.append([])
            while extent > 1:
                require(left and extent % left[0][1] == 0)
                extent //= left[0][1]
                result[-1].append(left.pop(0))
        require(not left)
        return Axes(result, self.taken)

    def cut(self, axis, start, count, extent):
        """`count` elements of an axis of this extent: all, or those at one index of its slowest factor."""
        if count == extent:
            return self
        require(self.axes[axis] and count * self.axes[axis][0][1] == extent and start % count == 0)
        (name, _), *rest = self.axes[axis]
        return Axes([*self.axes[:axis], rest, *self.axes[axis + 1:]], {**self.taken, name: start // count})

    def moved(self, node, name, graph):
        """The axes of the result `name` of a node, whose first input has these."""
        shape, result = graph.types[node.inputs[0]].shape, graph.types[name].shape
        if node.op in REGROUPS:
            return self.regrouped(result)
        if node.op == "Transpose":
            return Axes([self.axes[axis] for axis in node.attributes.get("perm") or range(len(shape))[::-1]], self.taken)
        if node.op == "Expand":
            require(len(shape) == len(result))
            return Axes([axis if before == now else [("copies", now)] for axis, before, now in zip(self.axes, shape, result)], self.taken)
        axis = node.attributes.get("axis", 0) % max(len(shape), 1)
        if node.op == "Split":
            extents = [graph.types[each].shape[axis] if each in graph.types else 0 for each in node.outputs]
            return self.cut(axis, sum(extents[:node.outputs.index(name)]), result[axis], shape[axis])
        require(all(each in graph.constants for each in node.inputs[1:]))
        known = [graph.constants[each].array for each in node.inputs[1:]]
        if node.op == "Gather":
            require(known[0].ndim == 0)
            part = self.cut(axis, int(known[0]) % shape[axis], 1, shape[axis])
            return Axes([*part.axes[:axis], *part.axes[axis + 1:]], part.taken)
        part = self
        for axis, index in enumerate(folding.slices(np.broadcast_to(np.int8(0), shape), *known)):
            first, last, step = index.indices(shape[axis])
            require(step == 1)
            part = part.cut(axis, first, last - first, shape[axis])
        return part

    def through(self, path, graph):
        """The axes after (node, result) of a path."""
        axes = self
        for node, name in path:
            axes = axes.moved(node, name, graph)
        return axes


def axes_of(shape):
    """Those of a value itself, whose factors' names are their numbers."""
    return Axes([[(axis, extent)] for axis, extent in enumerate(shape)])
