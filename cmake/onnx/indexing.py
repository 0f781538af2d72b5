"""Operators that read and write elements whose numbers another tensor has."""

import math

import numpy as np

from elementwise import cpp_dtype
from model import FLOATING
from operators import listed, operator
from shaping import sliced


def counted(place, i, extent):
    """Indices of input i, of which negative ones count from the end; a constant's are computed here."""
    if place.is_constant(i):
        indices = place.constant(i).astype("int64")
        place.require(((indices >= -extent) & (indices < extent)).all(), f"an index outside of {extent} elements")
        return np.where(indices < 0, indices + extent, indices)
    indices = place[i] if place.dtype(i) not in FLOATING else f"{place[i]}.cast(tw::int64)"
    if place.dtype(i).startswith("u"):
        return indices
    return place.let(f"tw::ops::where(tw::ops::less({indices}, 0), {indices} + {extent}, {indices})", "indices")


def as_expression(place, indices):
    return indices if isinstance(indices, str) else place.writer.constant(indices, "int64")


@operator("Gather")
def gather(place):
    axis, shape = place.axis(0), place.shape()
    indices = counted(place, 1, shape[axis])
    if not isinstance(indices, str):
        line = indices.ravel()
        step = int(line[1] - line[0]) if line.size > 1 else 1
        if indices.ndim <= 1 and step > 0 and (np.diff(line) == step).all():  # a slice
            part = sliced(place[0], [(axis, int(line[0]), int(line[-1]) + 1, step)], shape)
            return part if indices.ndim == 1 else f"{part}.reshape({listed(place.out().shape)})"
    return f"tw::ops::gather({place[0]}, {as_expression(place, indices)}{f', {axis}' if axis else ''})"


def strides(shape):
    return [math.prod(shape[i + 1:]) for i in range(len(shape))]


@operator("GatherElements")
def gather_elements(place):
    axis = place.axis(0)
    return gathered(place, counted(place, 1, place.shape()[axis]), axis, place.shape(1), place.dtype(1))


def gathered(place, indices, axis, at, dtype):
    """The elements of x at indices of shape `at` along an axis. The number of each in the flat tensor is that of the index, and of
    the element's own place on the other axes."""
    steps = strides(place.shape())
    others = [i for i in range(len(at)) if i != axis and at[i] > 1]
    if not isinstance(indices, str):
        flat = indices * steps[axis] + sum(np.arange(at[i]).reshape([-1 if j == i else 1 for j in range(len(at))]) * steps[i]
                                           for i in others)
        flat = place.writer.constant(np.broadcast_to(flat, at), "int64")
    else:
        flat = indices if steps[axis] == 1 else f"{indices} * {steps[axis]}"
        for i in others:
            own = f"ir().constant(tw::range(), {listed(at[i] if j == i else 1 for j in range(len(at)))}, {cpp_dtype(dtype)})"
            flat += f" + {own}" if steps[i] == 1 else f" + {own} * {steps[i]}"
        flat = place.let(flat, "flat")
    return f"tw::ops::gather({place[0]}.flatten(), {flat})"


@operator("ReverseSequence")
def reverse_sequence(place):
    """Each element comes from its mirror image within the length of its sequence, or from its own place beyond."""
    batch, time, shape = place.attribute("batch_axis", 1), place.attribute("time_axis", 0), place.shape()
    along = [shape[time] if i == time else 1 for i in range(len(shape))]
    lengths = place.let(f"{place[1]}.reshape({listed(shape[batch] if i == batch else 1 for i in range(len(shape)))})", "lengths")
    steps = place.let(f"ir().constant(tw::range(), {listed(along)}, {cpp_dtype(place.dtype(1))})", "steps")
    source = place.let(f"tw::ops::where(tw::ops::less({steps}, {lengths}), {lengths} - 1 - {steps}, {steps})", "source")
    whole = place.let(f"{source}.expand({listed(shape)})", "source")
    return gathered(place, whole, time, shape, place.dtype(1))


def flat_rows(place, i, shape, batch_axes=0):
    """The numbers of the rows that tuples of indices name, (tuples,) or with batch axes, and the number of axes that they name."""
    at = place.shape(i)
    count = at[-1]
    steps = strides(shape[batch_axes:batch_axes + count])
    if place.is_constant(i):
        parts = place.constant(i).astype("int64")
        extents = np.array(shape[batch_axes:batch_axes + count])
        flat = (np.where(parts < 0, parts + extents, parts) * steps).sum(-1)
        return flat, count
    dtype = cpp_dtype(place.dtype(i))
    extents = f"ir().constant({listed(shape[batch_axes:batch_axes + count])}, {listed([count])}, {dtype})"
    parts = place.let(f"tw::ops::where(tw::ops::less({place[i]}, 0), {place[i]} + {extents}, {place[i]})", "indices")
    factors = f"ir().constant({listed(steps)}, {listed([count])}, {dtype})"
    return place.let(f"tw::ops::sum({parts} * {factors}, {len(at) - 1})", "rows"), count


@operator("GatherND")
def gather_nd(place):
    shape, batch_axes = place.shape(), place.attribute("batch_dims", 0)
    rows, count = flat_rows(place, 1, shape, batch_axes)
    named = math.prod(shape[batch_axes:batch_axes + count])
    if batch_axes:
        groups = math.prod(shape[:batch_axes])
        own = np.arange(groups).reshape(shape[:batch_axes] + (1,) * (len(place.shape(1)) - 1 - batch_axes)) * named
        rows = rows + own if not isinstance(rows, str) else f"{rows} + {place.writer.constant(own, place.dtype(1))}"
        named *= groups
    table = f"{place[0]}.reshape({listed([named, *shape[batch_axes + count:]])})"
    return f"tw::ops::gather({table}, {as_expression(place, rows)})"


@operator("ScatterElements", "Scatter")
def scatter_elements(place):
    axis = place.axis(0)
    indices = as_expression(place, counted(place, 1, place.shape()[axis]))
    return scattered(place, place[0], indices, place[2], axis)


def scattered(place, x, indices, values, axis):
    reduction = place.attribute("reduction", "none")
    place.require(reduction in ("none", "add"), f"reduction {reduction}: none or add expected")
    if reduction == "none":
        return f"tw::ops::scatter({x}, {indices}, {values}{f', {axis}' if axis else ''})"
    options = f"{{.initial_values = {x}, .axis = {axis}}}"
    return f"tw::ops::scatter_reduce({values}, {indices}, tw::ScatterReduction::sum, {options})"


@operator("ScatterND")
def scatter_nd(place):
    shape = place.shape()
    rows, count = flat_rows(place, 1, shape)
    number, rest = math.prod(place.shape(1)[:-1]), shape[count:]
    rows = rows.ravel() if not isinstance(rows, str) else f"{rows}.flatten()"
    table = place.let(f"{place[0]}.reshape({listed([math.prod(shape[:count]), math.prod(rest)])})", "table")
    values = f"{place[2]}.reshape({listed([number, math.prod(rest)])})"
    result = scattered(place, table, as_expression(place, rows), values, 0)
    return f"{result}.reshape({listed(shape)})"


@operator("OneHot")
def one_hot(place):
    depth = int(place.constant(1).ravel()[0])
    axis = place.attribute("axis", -1)
    indices = as_expression(place, counted(place, 0, depth))
    return f"tw::ops::onehot({indices}, {depth}, {place[2]}, {axis})"
