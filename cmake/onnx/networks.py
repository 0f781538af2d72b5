"""Products, convolutions, poolings and norms."""

import math

import numpy as np

from elementwise import constant_like, cpp_dtype
from model import FLOATING
from operators import listed, number, operator
from shaping import sliced

PAD_TYPES = {"SAME_UPPER": "tw::PadType::same_upper", "SAME_LOWER": "tw::PadType::same_lower", "VALID": "tw::PadType::valid"}


@operator("MatMul")
def matmul(place):
    return f"{place[0]}.matmul({place[1]})"


@operator("Gemm")
def gemm(place):
    a, b = (f"{place[i]}.T()" if place.attribute(name, 0) else place[i] for i, name in enumerate(("transA", "transB")))
    alpha, beta = (place.attribute(name, 1.0) for name in ("alpha", "beta"))
    result = f"{a}.matmul({b})"
    if alpha != 1:
        result = f"{number(alpha, 'float32')} * {result}"
    if not place.has(2) or beta == 0:
        return result
    c = place[2] if beta == 1 else f"{number(beta, 'float32')} * {place[2]}"
    return f"{result} + {c}"


def window_options(place, axes, pad_name):
    """The options of windows of convolutions and poolings that are not the default, as C++."""
    options = []
    for name, attribute in ("stride", "strides"), ("padding", "pads"), ("dilation", "dilations"):
        values = place.attribute(attribute)
        if values and any(each != (attribute != "pads") for each in values):
            place.require(len(values) == axes * (1 + (attribute == "pads")), f"{attribute} {values}: one for each axis expected")
            place.require(all(each >= (attribute != "pads") for each in values), f"{attribute} {values}: other numbers expected")
            options.append(f".{name} = {listed(values)}")
    auto = place.attribute("auto_pad", "NOTSET")
    if auto in PAD_TYPES and auto != "VALID":
        options = [option for option in options if not option.startswith(".padding")]
        options.append(f".{pad_name} = {PAD_TYPES[auto]}")
    elif auto == "VALID":
        options = [option for option in options if not option.startswith(".padding")]
    return options


def braced(options):
    return f", {{{', '.join(options)}}}" if options else ""


def with_bias(place, result, i=2):
    if not place.has(i):
        return result
    return f"{result} + {place[i]}.reshape({listed([place.shape(i)[0]] + [1] * (place.rank() - 2))})"


def conv_options(place):
    axes = place.rank() - 2
    place.require(1 <= axes <= 3, f"{place.type()}: 1 to 3 spatial axes expected")
    options = window_options(place, axes, "pad_type")
    if place.attribute("group", 1) != 1:
        options.append(f".groups = {place.attribute('group')}")
    return options


@operator("Conv", "ConvTranspose")
def conv(place):
    options = conv_options(place)
    if any(place.attribute("output_padding") or []):
        options.append(f".output_padding = {listed(place.attribute('output_padding'))}")
    if place.attribute("output_shape"):
        options.append(f".output_shape = {listed(place.attribute('output_shape'))}")
    function = "conv" if place.node.op == "Conv" else "conv_transpose"
    return with_bias(place, f"tw::ops::{function}({place[0]}, {place[1]}{braced(options)})")


@operator("MaxPool", "AveragePool")
def pool(place):
    axes, kernel = place.rank() - 2, place.attribute("kernel_shape")
    place.require(1 <= axes <= 3, f"{place.type()}: 1 to 3 spatial axes expected")
    place.require(not place.wants(1), "its second result, indices: the values alone expected")
    options = window_options(place, axes, "auto_pad")
    ceil = place.attribute("ceil_mode", 0)
    x = place[0]
    if place.node.op == "AveragePool" and place.attribute("count_include_pad", 0):
        pads = place.attribute("pads") or [0] * 2 * axes
        place.require(not ceil and place.attribute("auto_pad", "NOTSET") == "NOTSET", "count_include_pad with ceil_mode or auto_pad")
        x = zero_padded(place, x, {i + 2: (pads[i], pads[axes + i]) for i in range(axes)})
        options = [option for option in options if not option.startswith(".padding")]
    if ceil:
        options.append(".ceil_mode = true")
    cast = place.dtype() not in FLOATING
    x = f"{x}.cast(tw::float32)" if cast else x
    function = "max_pool" if place.node.op == "MaxPool" else "average_pool"
    result = f"tw::ops::{function}({x}, {listed(kernel)}{braced(options)})"
    return f"{result}.cast(tw::{place.dtype()})" if cast else result


def zero_padded(place, x, ends):
    """x with zeros at the ends of axes: by axis, their numbers before and after."""
    shape = list(place.shape())
    for axis, (before, after) in ends.items():
        parts = [None if count == 0 else f"{constant_like(place, 0, place.dtype())}.expand("
                 f"{listed([*shape[:axis], count, *shape[axis + 1:]])})" for count in (before, after)]
        if before + after:
            parts = [part for part in (parts[0], x, parts[1]) if part]
            x = place.let(f"tw::ops::concat({{{', '.join(parts)}}}, {axis})", "padded")
            shape[axis] += before + after
    return x


@operator("GlobalAveragePool", "GlobalMaxPool")
def global_pool(place):
    function = "mean" if place.node.op == "GlobalAveragePool" else "max"
    return f"tw::ops::{function}({place[0]}, {listed(range(2, place.rank()))}, true)"


@operator("LRN")
def local_response(place):
    size, channels = place.attribute("size"), place.shape()[1]
    alpha, beta, bias = (place.attribute(name, default) for name, default in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0)))
    squares = place.let(f"{place[0]} * {place[0]}", "squares")
    padded = zero_padded(place, squares, {1: ((size - 1) // 2, size // 2)})
    shape = list(place.shape())
    shape[1] = channels + size - 1
    total = place.let(" + ".join(sliced(padded, [(1, i, i + channels, 1)], shape) for i in range(size)), "total")
    factor = number(alpha / size, "float32")
    return f"{place[0]} / tw::ops::pow({number(bias, 'float32')} + {factor} * {total}, {number(beta, 'float32')})"


def epsilon(place, default=1e-5):
    value = place.attribute("epsilon", default)
    return "" if np.float32(value) == np.float32(1e-5) else f", {number(value, 'float32')}"


@operator("BatchNormalization")
def batch_norm(place):
    if not place.attribute("training_mode", 0):
        return f"tw::ops::batch_norm_inference({', '.join(place[i] for i in range(5))}{epsilon(place)})"
    axes = [0, *range(2, place.rank())]
    per_channel = listed([place.shape()[1]] + [1] * (place.rank() - 2))
    mean = place.let(f"tw::ops::mean({place[0]}, {listed(axes)}, true)", "mean")
    centred = place.let(f"{place[0]} - {mean}", "centred")
    variance = place.let(f"tw::ops::mean({centred} * {centred}, {listed(axes)}, true)", "variance")
    eps = number(place.attribute("epsilon", 1e-5), "float32")
    scale, bias = (f"{place[i]}.reshape({per_channel})" for i in (1, 2))
    results = [f"{centred} / tw::ops::sqrt({variance} + {eps}) * {scale} + {bias}"]
    momentum = place.attribute("momentum", 0.9)
    old, new = number(momentum, "float32"), number(np.float32(1 - np.float32(momentum)), "float32")
    for i, now in (1, mean), (2, variance):
        results.append(f"{place[i + 2]} * {old} + {now}.flatten() * {new}" if place.wants(i) else "")
    return results


@operator("InstanceNormalization")
def instance_norm(place):
    return f"tw::ops::group_norm({place[0]}, {place[1]}, {place[2]}, {place.shape()[1]}{epsilon(place)})"


@operator("LayerNormalization")
def layer_norm(place):
    axis, shape = place.axis(-1), place.shape()
    columns, dtype = math.prod(shape[axis:]), cpp_dtype(place.dtype())
    last = axis == place.rank() - 1
    x = place[0] if last else place.let(f"{place[0]}.reshape({listed([*shape[:axis], columns])})", "lines")
    weight = place[1] if last else f"{place[1]}.flatten()"
    if place.has(2):
        bias = place[2] if last else f"{place[2]}.flatten()"
    else:
        bias = f"ir().constant(tw::zeros(), {listed([columns])}, {dtype})"
    result = f"tw::ops::layer_norm({x}, {weight}, {bias}{epsilon(place)})"
    results = [result if last else f"{result}.reshape({listed(shape)})"]
    if place.wants(1) or place.wants(2):
        mean = place.let(f"tw::ops::mean({x}, {{{axis}}}, true)", "mean")
        variance = place.let(f"tw::ops::mean(({x} - {mean}) * ({x} - {mean}), {{{axis}}}, true)", "variance")
        eps = number(place.attribute("epsilon", 1e-5), "float32")
        statistics = listed([*shape[:axis]] + [1] * (len(shape) - axis))
        results += [f"{mean}.reshape({statistics})", f"(1 / tw::ops::sqrt({variance} + {eps})).reshape({statistics})"]
    return results


@operator("MeanVarianceNormalization")
def mean_variance(place):
    axes = listed(place.attribute("axes", [0, 2, 3]))
    centred = place.let(f"{place[0]} - tw::ops::mean({place[0]}, {axes}, true)", "centred")
    return f"{centred} / (tw::ops::sqrt(tw::ops::mean({centred} * {centred}, {axes}, true)) + 1e-09)"
