"""Operators that reduce axes."""

from model import FLOATING
from operators import listed, operator

REDUCTIONS = {"ReduceSum": "sum", "ReduceMean": "mean", "ReduceMax": "max", "ReduceMin": "min", "ReduceProd": "prod",
              "ReduceL1": "l1", "ReduceL2": "l2", "ReduceSumSquare": "sumsquare", "ReduceLogSum": "logsum",
              "ReduceLogSumExp": "logsumexp"}


@operator(*REDUCTIONS)
def reduce(place):
    axes = place.constant(1).tolist() if place.has(1) else place.attribute("axes")
    keep = place.attribute("keepdims", 1)
    if not axes:
        if place.attribute("noop_with_empty_axes", 0) and place.node.op == "ReduceSum":
            return place[0]
        axes = range(place.rank())
    axes = sorted({axis % max(place.rank(), 1) for axis in axes})
    if place.rank() == 0:
        axes = []
    place.require(place.dtype() != "bool", f"{place.type()}: numbers expected")
    if place.dtype() not in FLOATING and place.node.op in ("ReduceL2", "ReduceLogSum", "ReduceLogSumExp"):
        place.require(False, f"{place.type()}: floating point expected")
    given = "{}" if len(axes) == place.rank() else listed(axes)
    if given == "{}" and not keep:
        return f"tw::ops::{REDUCTIONS[place.node.op]}({place[0]})"
    return f"tw::ops::{REDUCTIONS[place.node.op]}({place[0]}, {given}{', true' if keep else ''})"


@operator("ArgMax", "ArgMin")
def argument(place):
    """The index of the first of equal elements, or of the last: that of the first from the end."""
    axis, keep = place.axis(0), place.attribute("keepdims", 1)
    function = "argmax" if place.node.op == "ArgMax" else "argmin"
    if not place.attribute("select_last_index", 0):
        return f"tw::ops::{function}({place[0]}, {axis}{', true' if keep else ''}).cast(tw::int64)"
    last = place.let(f"tw::ops::{function}(tw::ops::flip({place[0]}, {axis}), {axis}{', true' if keep else ''})", "from_end")
    return f"{place.shape()[axis] - 1} - {last}.cast(tw::int64)"


@operator("CumSum")
def cumulative_sum(place):
    axis = int(place.constant(1).ravel()[0]) % place.rank()
    x = f"tw::ops::flip({place[0]}, {axis})" if place.attribute("reverse", 0) else place[0]
    total = f"tw::ops::cumsum({x}, {axis})"
    if place.attribute("exclusive", 0):
        total = f"{total} - {x}"
        return f"tw::ops::flip({total}, {axis})" if place.attribute("reverse", 0) else total
    return f"tw::ops::flip({total}, {axis})" if place.attribute("reverse", 0) else total


@operator("TopK")
def top(place):
    count, axis = int(place.constant(1).ravel()[0]), place.axis(-1)
    largest = "true" if place.attribute("largest", 1) else "false"
    both = place.writer.let_auto(f"tw::ops::topk({place[0]}, {count}, {axis}, {largest})", "top")
    return [f"{both}.values", f"{both}.indices.cast(tw::int64)"]


@operator("Hardmax")
def hardmax(place):
    axis = place.axis(-1)
    values = f"ir().constant({{0, 1}}, {{2}}, tw::{place.dtype()})"
    return f"tw::ops::onehot(tw::ops::argmax({place[0]}, {axis}), {place.shape()[axis]}, {values}, {axis})"


@operator("Softmax")
def softmax(place):
    axis = place.axis(-1)
    return f"tw::ops::softmax({place[0]})" if axis == place.rank() - 1 else f"tw::ops::softmax({place[0]}, {axis})"


@operator("LogSoftmax")
def log_softmax(place):
    return f"{place[0]} - tw::ops::logsumexp({place[0]}, {place.axis(-1)}, true)"
