"""Operators of quantised tensors: integers of 8 bits with a scale and a zero point. Sums are exact: of int32, which wrap around, and
in convolutions of float64, which holds each sum of int32."""

import numpy as np

from elementwise import cpp_dtype
from networks import braced, conv_options
from operators import listed, number, operator

RANGES = {"uint8": "0, 255", "int8": "-128, 127"}


def spread(place, i, after, dtype):
    """A scale or a zero point: one number, or one for each element of an axis, which `after` axes follow."""
    if place.number(i) is not None:
        return place.number(i)
    value, shape = place[i] if place.dtype(i) == dtype else f"{place[i]}.cast({cpp_dtype(dtype)})", place.shape(i)
    if shape == (1,):
        return f"{value}.reshape({{}})"
    return f"{value}.reshape({listed([*shape, *[1] * after])})" if len(shape) == 1 and after else value


def centred(place, i, zero, dtype, after=0):
    """Input i less its zero point, in a dtype that holds all of the results."""
    x = place[i] if place.dtype(i) == dtype else f"{place[i]}.cast({cpp_dtype(dtype)})"
    if not place.has(zero) or place.number(zero) == "0":
        return x
    return place.let(f"{x} - {spread(place, zero, after, dtype)}".replace("- -", "+ "), "centred")


def quantised(place, quotient, zero, dtype):
    """The integers nearest to a quotient, plus a zero point, within the range of their dtype."""
    place.require(dtype in RANGES, f"{place.out()}: int8 or uint8 expected")
    shifted = f"tw::ops::round({quotient})" + (f" + {zero}" if zero not in (None, "0") else "")
    return f"tw::ops::clip({shifted}, {RANGES[dtype]}).cast({cpp_dtype(dtype)})".replace("+ -", "- ")


def axis_after(place):
    return place.rank() - 1 - place.axis(1) if place.rank() > 1 else 0


@operator("QuantizeLinear")
def quantize(place):
    after = axis_after(place)
    zero = spread(place, 2, after, "float32") if place.has(2) else None
    x = place[0] if place.dtype() == "float32" else f"{place[0]}.cast(tw::float32)"
    return quantised(place, f"{x} / {spread(place, 1, after, 'float32')}", zero, place.out().dtype)


@operator("DequantizeLinear")
def dequantize(place):
    after, dtype = axis_after(place), "int32" if place.dtype() == "int32" else "float32"
    x = centred(place, 0, 2, dtype, after)
    return f"{x}{'.cast(tw::float32)' if dtype == 'int32' else ''} * {spread(place, 1, after, 'float32')}"


@operator("DynamicQuantizeLinear")
def dynamic_quantize(place):
    """The range of the integers is that of the elements and 0."""
    low = place.let(f"tw::ops::minimum(tw::ops::min({place[0]}), 0)", "low")
    scale = place.let(f"(tw::ops::maximum(tw::ops::max({place[0]}), 0) - {low}) / 255", "scale")
    zero = place.let(f"tw::ops::clip(tw::ops::round(-{low} / {scale}), 0, 255)", "zero_point")
    return [quantised(place, f"{place[0]} / {scale}", zero, "uint8"), scale, f"{zero}.cast(tw::uint8)"]


@operator("MatMulInteger")
def matmul_integer(place):
    return f"{centred(place, 0, 2, 'int32', 1)}.matmul({centred(place, 1, 3, 'int32')})"


def requantised(place, total, scales, zero):
    """A sum of products, by the scales of both factors and of the result. `scales`: the number of each input, and of the axes that
    follow its axis."""
    a, b, y = (spread(place, i, after, "float32") for i, after in scales)
    if all(place.number(i) is not None for i, _ in scales):
        factor = number(np.prod([place.constant(i).ravel()[0] for i, _ in scales[:2]]) / place.constant(scales[2][0]).ravel()[0], "float32")
    else:
        factor = f"({a} * {b} / {y})"
    return quantised(place, f"{total}.cast(tw::float32) * {factor}", spread(place, zero, 0, "float32"), place.out().dtype)


@operator("QLinearMatMul")
def qlinear_matmul(place):
    product = f"{centred(place, 0, 2, 'int32', 1)}.matmul({centred(place, 3, 5, 'int32')})"
    return requantised(place, product, ((1, 1), (4, 0), (6, 0)), 7)


@operator("ConvInteger")
def conv_integer(place):
    x, weight = centred(place, 0, 2, "float64"), centred(place, 1, 3, "float64", place.rank() - 1)
    return f"tw::ops::conv({x}, {weight}{braced(conv_options(place))}).cast(tw::int32)"


@operator("QLinearConv")
def qlinear_conv(place):
    after = place.rank() - 2
    x, weight = centred(place, 0, 2, "float64"), centred(place, 3, 5, "float64", after + 1)
    total = f"tw::ops::conv({x}, {weight}{braced(conv_options(place))})"
    if place.has(8):
        total = f"({total} + {place[8]}.cast(tw::float64).reshape({listed([place.shape(8)[0], *[1] * after])}))"
    return requantised(place, total, ((1, 0), (4, after), (6, 0)), 7)
