#!/usr/bin/python3
"""Writes ops_elementwise.txt: the elementwise ops, computed by PyTorch, with gradients in float64.

    python3 tests/reference/make_elementwise.py        (Debian: apt-get install python3-torch python3-numpy)
"""

import numpy as np
import torch
import torch.nn.functional as F

from fixtures import Fixtures

ops = Fixtures(13)
tensor, positive, integers = ops.tensor, ops.positive, ops.integers
nan, inf = float("nan"), float("inf")


def forward(name, op, *inputs):
    """Bools are written as numbers."""
    ops.forward(name, lambda *x: (lambda y: y.int() if y.dtype == torch.bool else y)(op(*x)), *inputs)


def differentiable(name, op, *inputs):
    ops.differentiable(name, op, *(x.clone() for x in inputs))


def special(*shape):
    """NaN and infinities, zeros of both signs and numbers, more than once in each row."""
    numbers = [nan, 1.0, -0.0, inf, -inf, 0.5, -2.25, 0.0, 3.0, -1.0, 1.0]
    count = int(np.prod(shape))
    return torch.tensor([numbers[i * 7 % 11] for i in range(count)], dtype=torch.float64).reshape(shape)


# Functions of one tensor: full vectors and a rest.
unary = {
    "abs": torch.abs, "sin": torch.sin, "cos": torch.cos, "geluerf": F.gelu, "swish": F.silu, "sigmoid": torch.sigmoid,
    "softplus": F.softplus, "softplus_steep": lambda x: F.softplus(x, 8, 4), "clip": lambda x: x.clamp(-1.03, 0.97),
    "clip_below": lambda x: x.clamp(min=0.28), "square": lambda x: x**2, "cube": lambda x: x**3, "power_of_4": lambda x: x**4,
    "power_of_0": lambda x: x**0, "inverse": lambda x: x**-1, "power_of_number": lambda x: 2.5**x,
}
for name, op in unary.items():
    differentiable(name, op, tensor(2, 19))
differentiable("log2", torch.log2, positive(3, 19))
differentiable("root", lambda x: x**0.5, positive(3, 19))
differentiable("power_of_number_e", lambda x: x**-1.75, positive(3, 19))
differentiable("sign", torch.sign, tensor(3, 19))
differentiable("scalar", lambda x: torch.sin(x), tensor())

# Several tensors.
differentiable("pow", torch.pow, positive(3, 19), tensor(3, 19))
differentiable("pow_row", torch.pow, positive(5, 1), tensor(19))
def far(*shape):
    """Whole numbers: with 1/2 added to some, small steps do not change which is larger."""
    return ops.distinct(*shape) * 16


differentiable("maximum", torch.maximum, far(3, 19), far(3, 19) + 0.5)
differentiable("maximum_outer", torch.maximum, far(4, 1), far(1, 19) + 0.5)
differentiable("maximum_of_three", lambda a, b, c: torch.maximum(torch.maximum(a, b), c), far(3, 5), far(5) + 0.5,
               far(3, 1) + 0.25)
differentiable("minimum", lambda a, b: torch.minimum(torch.minimum(a, b), torch.tensor(1.25, dtype=torch.float64)),
               far(3, 19), far(19) + 0.5)
condition = integers(2, 1, 19) > 0
differentiable("where", torch.where, condition, tensor(5, 1), tensor(2, 5, 19))
differentiable("where_number", lambda c, x: torch.where(c, x, torch.tensor(0.5, dtype=torch.float64)), condition[0], tensor(5, 19))
differentiable("where_integers", lambda c, a, b: torch.where(c != 0, a, b), torch.tensor([0, 1, -3, 0, 2]), tensor(5), tensor(5))
differentiable("masked", lambda a, b: torch.where(a > b, a * b, torch.where(a <= -1.03, b, a)), tensor(3, 19),
               tensor(3, 19) + 1 / 32)
differentiable("mask_of_both", lambda a, b: torch.where((a > 0) & ~(b > 0) | (a < -1.53), a, b), tensor(3, 19),
               tensor(3, 19))
differentiable("mask_as_number", lambda a, b: (a > b).to(a) * b + a, tensor(3, 19), tensor(3, 19) + 1 / 32)
differentiable("half_by_number", torch.mul, tensor(3, 19), tensor(1))

# Where differences of values would jump, or are undefined.
differentiable("ceil", torch.ceil, tensor(3, 19))
differentiable("floor", torch.floor, tensor(3, 19))
differentiable("clip_at_bounds", lambda x: x.clamp(-1, 0.5), torch.tensor([-1.0, 0.5, 0.25, -2, 3, nan, inf, -inf, -1, 0.5] * 2))
differentiable("clip_reversed", lambda x: x.clamp(1, -1), tensor(5))
differentiable("maximum_ties", torch.maximum, special(5, 11), special(11, 5).T.contiguous())
differentiable("minimum_ties", torch.minimum, special(5, 11), special(11, 5).T.contiguous())
differentiable("abs_at_zero", torch.abs, torch.tensor([0.0, -0.0, 2, -2]))
differentiable("power_at_zero", lambda x: x**3, torch.tensor([0.0, -1.0, 2]))
differentiable("pow_at_zero", torch.pow, torch.tensor([0.0, 0.0, 2.0, 1.0, 3.0]), torch.tensor([0.0, 2.0, 0.0, 5.0, 1.0]))
differentiable("where_ignores", lambda c, a, b: torch.where(c, a, b), torch.tensor([True, False, True]),
               torch.tensor([1.0, nan, 2]), torch.tensor([inf, 1, nan]))
a, b = special(5, 11), special(11, 5).T.contiguous()
for name, op in {"equal": torch.eq, "not_equal": torch.ne, "greater": torch.gt, "greater_equal": torch.ge, "less": torch.lt,
                 "less_equal": torch.le, "logical_and": torch.logical_and, "logical_or": torch.logical_or}.items():
    forward(name, op, a, b)
forward("greater_number", lambda x: x > 0.5, a)
forward("number_greater", lambda x: 0.5 > x, a)
for name, op in {"isfinite": torch.isfinite, "isinf": torch.isinf, "isnan": torch.isnan, "logical_not": torch.logical_not,
                 "sign_of_special": torch.sign, "ceil_of_special": torch.ceil}.items():
    forward(name, op, a)
x, y = tensor(3, 4).round(), tensor(4, 3).round()
ops.forward("equal_transposed", lambda a, b: (a == b.T).int(), x, y)
bools = [integers(3, 19) > 0 for _ in range(3)]
forward("bools", lambda a, b, c: torch.where(a, b == c, b ^ a), *(x.clone() for x in bools))
forward("bools_ordered", lambda a, b: a > b, bools[0], bools[1])
forward("fmod", torch.fmod, tensor(4, 19, low=-30, high=30), tensor(4, 1))
forward("fmod_of_special", torch.fmod, a, b)
forward("increment_mod", lambda x: torch.fmod(x + 1.5, 2), tensor(3, 19))
forward("swish_of_special", F.silu, torch.tensor([0.0, 20, -20, inf, nan]))
forward("softplus_of_special", F.softplus, torch.tensor([0.0, 19, 21, -18, inf, -inf, nan], dtype=torch.float64))

# In place.
for name, op in {"relu": F.relu, "exp": torch.exp, "tanh": torch.tanh, "sigmoid": torch.sigmoid, "sqrt": torch.sqrt}.items():
    differentiable(name + "_inplace", lambda a, b, op=op: op(a * b), positive(3, 19), positive(19))
for name, op in {"gelu": lambda x: F.gelu(x, approximate="tanh"), "geluerf": F.gelu, "swish": F.silu,
                 "clip": lambda x: x.clamp(-0.53, 0.53)}.items():
    differentiable(name + "_inplace", op, tensor(3, 19))
differentiable("assignments", lambda a, b: ((a * 2 + b - a * b) * 3 - 1) / 2, tensor(3, 19), tensor(19))
differentiable("mul_inplace", lambda a, b: (a + 1) * b.detach(), tensor(3, 19), tensor(3, 1))
ops.lines.pop()  # b is detached: it has no gradient
forward("increment_mod_inplace", lambda x: torch.fmod(x + 1, 3), torch.tensor([0, 1, 2, 5], dtype=torch.int32))
forward("div_inplace", lambda a, b: torch.div(a, b, rounding_mode="trunc"), integers(5), integers(5))

# Integers: every type, with the numbers at its ends.
for name in ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]:
    info = np.iinfo(name)
    ends = [info.min, info.max, info.min + 1, info.max - 1] if info.bits < 64 else [0, 2**53 - 1, 2**52 + 1]
    x = np.array(ends + [0, 1, 2, 3, 5, 7, 100, 120] + ([] if info.min == 0 else [-1, -2, -7]), dtype=name)
    y = np.array(([3, 1, 7, 2, 5, 4, 11, 3, 2, 100, 6, 1, 9, 3, 2])[: len(x)], dtype=name)

    def record(case, op, *inputs):
        with np.errstate(over="ignore"):
            result = op(*inputs)
        for i, each in enumerate(inputs):
            ops.write(f"{name}_{case}.x{i}", each)
        ops.write(f"{name}_{case}.y0", np.asarray(result) + 0)

    wraps = info.bits < 64
    record("abs", lambda x: np.abs(x).astype(name), x)
    record("sign", lambda x: np.sign(x), x)
    record("fmod", np.fmod, x, y)
    record("maximum", np.maximum, x, y)
    record("minimum", np.minimum, x, y)
    record("greater", lambda a, b: a > b, x, y)
    record("equal", lambda a, b: a == b, x, np.where(y > 4, x, y).astype(name))
    record("where", lambda c, a, b: np.where(c, a, b), (y > 3).astype("int32"), x, y)
    record("clip", lambda x: np.clip(x, 2, 100), x)
    if wraps:
        record("negate", lambda x: (0 - x.astype("int64")).astype(name), x)
        record("add", lambda a, b: a + b, x, y)
        record("cube", lambda x: x * x * x, x)
        record("pow", lambda a, b: np.array([pow(int(i), int(j), 1 << info.bits) for i, j in zip(a, b)], "uint64").astype(name),
               x, y)
        record("increment_mod", lambda x: np.fmod(x + np.array(1, name), np.array(5, name)), x)

# Half and double precision.
for kind in ("half", "double"):
    differentiable(f"{kind}_functions", lambda x: torch.sin(x) + torch.abs(x) * F.silu(x) - F.gelu(x) * x**2, tensor(3, 19))
    differentiable(f"{kind}_pow", torch.pow, positive(3, 19), tensor(3, 19))
    differentiable(f"{kind}_maximum", torch.maximum, special(5, 7)[1:2], tensor(5, 7))
    differentiable(f"{kind}_where", lambda a, b: torch.where(a > b, a, b * a), tensor(3, 19), tensor(3, 19) + 1 / 32)
    forward(f"{kind}_fmod", torch.fmod, tensor(4, 19, low=-30, high=30), tensor(4, 1))
    forward(f"{kind}_comparisons", lambda a, b: (a == b) | (a < b) & torch.isfinite(b), a, b)

# More of both precisions, and of integers.
for kind in ("half", "double"):
    for name, op in {"exp": torch.exp, "cos": torch.cos, "tanh": torch.tanh, "relu": F.relu, "sigmoid": torch.sigmoid,
                     "gelu": lambda x: F.gelu(x, approximate="tanh"), "softplus": F.softplus, "identity": torch.clone,
                     "clip": lambda x: x.clamp(-1.03, 0.97), "sign": torch.sign, "ceil": torch.ceil,
                     "floor": torch.floor}.items():
        differentiable(f"{name}_in_{kind}", op, tensor(2, 19))
    for name, op in {"log": torch.log, "log2": torch.log2, "sqrt": torch.sqrt}.items():
        differentiable(f"{name}_in_{kind}", op, positive(2, 19))
    ops.forward(f"predicates_in_{kind}", lambda a, b: [y.int() for y in (a != b, a <= b, a >= b, torch.isinf(a), torch.isnan(b))],
                a, b)
differentiable("scaled_add_in_double", lambda x, y: 0.5 * x - 2 * y, tensor(3, 19), tensor(3, 19))
for name in ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]:
    info = np.iinfo(name)
    high = info.max if info.bits < 64 else 2**53 - 1
    x, y = (np.array([0, high, i, 1, 2, 3, i, 1, 100, high - 1, 7], dtype=name) for i in (2, 100))
    ops.forward(f"{name}_comparisons", lambda a, b: [y + 0 for y in (a != b, a < b, a <= b, a >= b)], x, y)

# Powers by numbers as C has them (by a tensor, so that PyTorch computes no roots), and their inverses, which show signs of zeros.
numbers = torch.tensor([0.0, -0.0, inf, -inf, nan, 1, -1, 4, 0.25, -4, 2, -2], dtype=torch.float64)


def powers(x):
    results = [torch.pow(x, torch.full_like(x, e)) for e in (0, 1, 2, 3, 0.5, -0.5, -1, -2, 1.5)]
    return results + [1 / y for y in results]


ops.forward("powers_of_special", powers, numbers)
ops.forward("double_powers_of_special", powers, numbers)

# What the cases above have not of some dtypes
for kind in ("half", "double"):
    differentiable(f"minimum_in_{kind}", torch.minimum, special(5, 7)[1:2], tensor(5, 7))
    forward(f"increment_mod_in_{kind}", lambda x: torch.fmod(x + 1.5, 2), tensor(3, 19))
    differentiable(f"scaled_add_of_tensors_in_{kind}", lambda x, y, a, b: a * x + b * y, tensor(3, 19), tensor(3, 19), tensor(),
                   tensor(1))
ops.forward("bool_choices", lambda a, b: [y.int() for y in (a < b, a <= b, a >= b, a | b, a & b)],
            *(integers(3, 19) > 0 for _ in range(2)))
for name in ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]:
    info = np.iinfo(name)
    high = info.max if info.bits < 64 else 2**50
    x, y = (np.array([0, high, i, 1, 2, 3, i, 1, 9, high - 1, 7], dtype=name) for i in (2, 100))
    ops.forward(f"{name}_predicates", lambda x: [np.full(x.shape, y) for y in (1, 0, 0)], x)
    with np.errstate(over="ignore"):
        ops.forward(f"{name}_scaled_add", lambda x, y, a, b: (np.array(3, name) * x + np.array(2, name) * y, a * x + b * y), x, y,
                    np.array(2, name), np.array([5], name))
for name in ["int64", "uint64"]:
    x, y = np.array([0, 1, 2, 3, 7, 10, 13, 40], dtype=name), np.array([2, 9, 40, 5, 3, 10, 1, 0], dtype=name)
    ops.forward(f"{name}_powers", lambda x, y: (x**y, x * x * x, np.fmod(x + np.array(1, name), np.array(5, name))), x, y)
ops.forward("increment_mod_inplace_in_float", lambda x: torch.fmod(x - 1.5, 2), tensor(3, 19))
ops.save("ops_elementwise.txt")
