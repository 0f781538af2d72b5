"""Operators of single elements."""

import numpy as np

from model import FLOATING, UNSIGNED
from operators import number, operator

# {0}, {1}: what the inputs are called.
UNARY = {
    "Neg": "-{0}", "Exp": "tw::ops::exp({0})", "Log": "tw::ops::log({0})", "Sqrt": "tw::ops::sqrt({0})",
    "Sin": "tw::ops::sin({0})", "Cos": "tw::ops::cos({0})", "Tanh": "tw::ops::tanh({0})", "Sigmoid": "tw::ops::sigmoid({0})",
    "Tan": "tw::ops::tan({0})", "Asin": "tw::ops::asin({0})", "Acos": "tw::ops::acos({0})", "Atan": "tw::ops::atan({0})",
    "Sinh": "tw::ops::sinh({0})", "Cosh": "tw::ops::cosh({0})", "Erf": "tw::ops::erf({0})",
    "Atanh": "0.5 * (tw::ops::log1p({0}) - tw::ops::log1p(-{0}))",
    "Relu": "tw::ops::relu({0})", "Sign": "tw::ops::sign({0})", "Ceil": "tw::ops::ceil({0})", "Floor": "tw::ops::floor({0})",
    "Round": "tw::ops::round({0})", "Not": "tw::ops::logical_not({0})", "Identity": "{0}", "IsNaN": "tw::ops::isnan({0})",
    "Softplus": "tw::ops::softplus({0})", "Reciprocal": "1 / {0}", "Softsign": "{0} / (1 + tw::ops::abs({0}))",
    "HardSwish": "{0} * tw::ops::clip({0} / 6 + 0.5, 0, 1)", "tw.GeluErf": "tw::ops::geluerf({0})", "tw.Gelu": "tw::ops::gelu({0})",
    "tw.Swish": "tw::ops::swish({0})",
}
# {a}, {b}: operands, of which one may be a number.
BINARY = {
    "Add": "{a} + {b}", "Sub": "{a} - {b}", "Mul": "{a} * {b}", "Div": "{a} / {b}", "Equal": "tw::ops::equal({a}, {b})",
    "Greater": "tw::ops::greater({a}, {b})", "Less": "tw::ops::less({a}, {b})",
    "GreaterOrEqual": "tw::ops::greater_equal({a}, {b})", "LessOrEqual": "tw::ops::less_equal({a}, {b})",
}
BINARY_OF_BOOLS = {"And": "tw::ops::logical_and({0}, {1})", "Or": "tw::ops::logical_or({0}, {1})",
                   "Xor": "tw::ops::not_equal({0}, {1})"}
CASTS = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
         11: "float64", 12: "uint32", 13: "uint64", 16: "bfloat16"}


def cpp_dtype(dtype):
    return "tw::boolean" if dtype == "bool" else f"tw::{dtype}"


def constant_like(place, value, dtype):
    """A constant of one element."""
    return f"ir().constant({number(value, dtype)}, {cpp_dtype(dtype)})"


@operator(*UNARY)
def unary(place):
    if place.node.op == "Sign" and place.dtype() in UNSIGNED:
        return f"tw::ops::minimum({place[0]}, {constant_like(place, 1, place.dtype())})"
    return UNARY[place.node.op].format(place[0])


@operator("Asinh")
def inverse_of_sinh(place):
    """log(x + sqrt(x^2 + 1)) of |x|, so that no sum cancels, and with 1 / |x|, so that no square is infinite. The sum, some 2 |x|, is
    infinite for the upper half of the largest numbers."""
    size = place.let(f"tw::ops::abs({place[0]})", "size")
    inverse = place.let(f"1 / {size}", "inverse")
    return f"tw::ops::sign({place[0]}) * tw::ops::log1p({size} + {size} / ({inverse} + tw::ops::sqrt({inverse} * {inverse} + 1)))"


@operator("Acosh")
def inverse_of_cosh(place):
    """log(x + sqrt(x^2 - 1)), from x - 1. The sum is infinite for the upper half of the largest numbers."""
    above = place.let(f"{place[0]} - 1", "above_one")
    return f"tw::ops::log1p({above} + tw::ops::sqrt({above}) * tw::ops::sqrt({above} + 2))"


@operator("BitShift")
def shift(place):
    """A product with a power of two, which wraps around, or a quotient; counts below the bits of the dtype, as in C."""
    factor = f"tw::ops::pow({constant_like(place, 2, place.dtype())}, {place[1]})"
    return f"{place[0]} {'*' if place.attribute('direction') == 'LEFT' else '/'} {factor}"


@operator("Abs")
def absolute(place):
    return place[0] if place.dtype() in UNSIGNED else f"tw::ops::abs({place[0]})"


@operator(*BINARY)
def binary(place):
    """A number stands for an operand of one element where the other has the result's shape and is no constant of one itself."""
    shape = np.broadcast_shapes(place.shape(0), place.shape(1))
    a, b = (place.number(i) if place.shape(1 - i) == shape and place.number(1 - i) is None else None for i in (0, 1))
    if b is not None and b.startswith("-") and place.node.op in ("Add", "Sub") and b[1:2].isdigit():
        return f"{place[0]} {'-' if place.node.op == 'Add' else '+'} {b[1:]}"
    return BINARY[place.node.op].format(a=a or place[0], b=b or place[1])


@operator(*BINARY_OF_BOOLS)
def binary_of_bools(place):
    return BINARY_OF_BOOLS[place.node.op].format(place[0], place[1])


@operator("Max", "Min", "Sum", "Mean")
def variadic(place):
    values = [place[i] for i in range(len(place.node.inputs))]
    if len(values) == 1:
        return values[0]
    if place.node.op in ("Max", "Min"):
        return f"tw::ops::{'maximum' if place.node.op == 'Max' else 'minimum'}({', '.join(values)})"
    total = " + ".join(values)
    return total if place.node.op == "Sum" else f"({total}) / {len(values)}"


@operator("Where")
def where(place):
    return f"tw::ops::where({place[0]}, {place[1]}, {place[2]})"


@operator("Clip")
def clip(place):
    bounds = [place.number(i) if place.is_constant(i) else None for i in (1, 2)]
    if all(bound is not None or not place.has(i) for i, bound in enumerate(bounds, 1)):
        low, high = bounds
        if low is None and high is None:
            return place[0]
        low = low or "-std::numeric_limits<double>::infinity()"
        return f"tw::ops::clip({place[0]}, {low}{f', {high}' if high is not None else ''})"
    result = place[0]
    if place.has(1):
        result = f"tw::ops::maximum({result}, {place[1]})"
    return f"tw::ops::minimum({result}, {place[2]})" if place.has(2) else result


@operator("Cast", "CastLike")
def cast(place):
    to = place.out().dtype
    if to == place.dtype():
        return place[0]
    if place.dtype() in FLOATING and to in ("uint8", "int8", "uint16", "int16"):
        return f"{place[0]}.cast(tw::int64).cast({cpp_dtype(to)})"
    return f"{place[0]}.cast({cpp_dtype(to)})"


@operator("Pow")
def power(place):
    base, exponent = place.dtype(0), place.dtype(1)
    if place.number(1) is not None and np.broadcast_shapes(place.shape(0), place.shape(1)) == place.shape(0):
        value = place.constant(1).ravel()[0]
        if base in FLOATING or value >= 0 and float(value).is_integer():
            return f"tw::ops::pow({place[0]}, {place.number(1)})"
    if base == exponent:
        return f"tw::ops::pow({place[0]}, {place[1]})"
    if base in FLOATING:
        return f"tw::ops::pow({place[0]}, {place[1]}.cast({cpp_dtype(base)}))"
    if exponent not in FLOATING:
        return f"tw::ops::pow({place[0]}, {place[1]}.cast({cpp_dtype(base)}))"
    return f"tw::ops::pow({place[0]}.cast(tw::float64), {place[1]}.cast(tw::float64)).cast({cpp_dtype(base)})"


@operator("Mod")
def modulo(place):
    """fmod has the sign of the dividend; ONNX's integers that of the divisor, as in Python."""
    a, b, dtype = place[0], place[1], place.dtype()
    if place.attribute("fmod", 0) or dtype in UNSIGNED:
        return f"tw::ops::fmod({a}, {b})"
    place.require(dtype not in FLOATING, f"fmod 0 of {place.type()}: integers expected")
    rest = place.let(f"tw::ops::fmod({a}, {b})", "remainder")
    differs = place.let(f"tw::ops::not_equal(tw::ops::less({rest}, 0), tw::ops::less({b}, 0))", "differs")
    return f"tw::ops::where(tw::ops::logical_and({differs}, tw::ops::not_equal({rest}, 0)), {rest} + {b}, {rest})"


@operator("IsInf")
def isinf(place):
    if not place.attribute("detect_positive", 1):
        return f"tw::ops::logical_and(tw::ops::isinf({place[0]}), tw::ops::less({place[0]}, 0))"
    if not place.attribute("detect_negative", 1):
        return f"tw::ops::logical_and(tw::ops::isinf({place[0]}), tw::ops::greater({place[0]}, 0))"
    return f"tw::ops::isinf({place[0]})"


# {0}: the input; the others are attributes, with their defaults, and minus_ the negative of one.
EXPONENTIAL = "(tw::ops::exp(tw::ops::minimum({0}, 0)) - 1)"
BELOW_ZERO = {
    "LeakyRelu": ("{alpha} * {0}", {"alpha": 0.01}),
    "Elu": ("{alpha} * " + EXPONENTIAL, {"alpha": 1.0}),
    "Selu": ("{alpha} * " + EXPONENTIAL, {"alpha": 1.67326319217681884765625}),
    "Celu": ("{alpha} * (tw::ops::exp(tw::ops::minimum({0}, 0) / {alpha}) - 1)", {"alpha": 1.0}),
}
NUMBERED = {
    "ThresholdedRelu": ("tw::ops::where(tw::ops::greater({0}, {alpha}), {0}, 0)", {"alpha": 1.0}),
    "HardSigmoid": ("tw::ops::clip({alpha} * {0} + {beta}, 0, 1)", {"alpha": 0.2, "beta": 0.5}),
    "Shrink": ("tw::ops::where(tw::ops::less({0}, {minus_lambd}), {0} + {bias}, "
               "tw::ops::where(tw::ops::greater({0}, {lambd}), {0} - {bias}, 0))", {"lambd": 0.5, "bias": 0.0}),
}


def with_numbers(place, text, defaults):
    values = {name: place.attribute(name, default) for name, default in defaults.items()}
    values |= {f"minus_{name}": -each for name, each in values.items()}
    return text.format(place[0], **{name: number(each, "float32") for name, each in values.items()})


@operator(*NUMBERED)
def numbered(place):
    return with_numbers(place, *NUMBERED[place.node.op])


@operator(*BELOW_ZERO)
def below_zero(place):
    """x where it is at least 0, otherwise a function of it."""
    result = f"tw::ops::where(tw::ops::less({place[0]}, 0), {with_numbers(place, *BELOW_ZERO[place.node.op])}, {place[0]})"
    if place.node.op != "Selu":
        return result
    return f"{number(place.attribute('gamma', 1.05070102214813232421875), 'float32')} * {result}"


@operator("PRelu")
def prelu(place):
    """Slopes broadcast; before opset 7, a list of them is by channel."""
    shape, slopes, slope = place.shape(0), place.shape(1), place[1]
    if len(slopes) == 1 and slopes[0] not in (1, shape[-1]) and len(shape) > 1 and slopes[0] == shape[1]:
        slope = f"{slope}.reshape({{{', '.join(map(str, [slopes[0], *[1] * (len(shape) - 2)]))}}})"
    return f"tw::ops::where(tw::ops::less({place[0]}, 0), {slope} * {place[0]}, {place[0]})"
