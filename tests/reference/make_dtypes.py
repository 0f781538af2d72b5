#!/usr/bin/env python3
"""Writes ops_dtypes.txt: ops in dtypes in which the other files do not have them, computed by PyTorch in float64 and by NumPy.

    /usr/bin/python3 tests/reference/make_dtypes.py

Numbers have all their digits, so that float64 can be told from float32. Programs of several dtypes share a case where its inputs
are exact in all of them.
"""

import numpy as np
import torch
import torch.nn.functional as F
from fixtures import Fixtures

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


class ExactFixtures(Fixtures):
    def write(self, name, values):
        array = values.detach().numpy() if isinstance(values, torch.Tensor) else np.asarray(values)
        elements = " ".join(repr(float(e)) if array.dtype.kind == "f" else str(int(e)) for e in array.reshape(-1).tolist())
        self.lines.append(" ".join([name, str(array.ndim), *map(str, array.shape), elements]))


f = ExactFixtures(77)
tensor, positive, distinct, forward, differentiable = f.tensor, f.positive, f.distinct, f.forward, f.differentiable
nan, inf = float("nan"), float("inf")


def indices(*shape, below):
    return torch.tensor(f.random.integers(0, below, shape))


# Elementwise, float16 and float64
functions = {
    "exp": torch.exp, "cos": torch.cos, "tanh": torch.tanh, "gelu": lambda x: F.gelu(x, approximate="tanh"), "relu": torch.relu,
    "sigmoid": torch.sigmoid, "softplus": F.softplus, "sign": torch.sign, "ceil": torch.ceil, "floor": torch.floor,
    "clip": lambda x: x.clamp(-1.25, 0.875), "negate": torch.neg, "log": torch.log, "log2": torch.log2, "sqrt": torch.sqrt,
}
for name, op in functions.items():
    differentiable(f"floats_{name}", op, positive(2, 7) if name in ("log", "log2", "sqrt") else tensor(2, 7))
differentiable("floats_minimum", torch.minimum, distinct(5, 1) * 16, distinct(1, 7) * 16 + 0.5)
differentiable("floats_div", torch.div, tensor(3, 7), tensor(7, low=1, high=3))
differentiable("floats_scaled_add", lambda x, y: 2 * x - 0.5 * y, tensor(3, 7), tensor(3, 7))
in_place = [torch.relu, torch.exp, torch.tanh, torch.sigmoid, torch.sqrt, functions["gelu"], F.gelu, F.silu, functions["clip"],
            torch.neg, lambda x: torch.fmod(x + 1.5, 2)]
forward("floats_inplace", lambda x: [op(x) for op in in_place], positive(3, 7))
forward("floats_assignments", lambda a, b: (((a + b) * a - b) / b, 2 * a - b, 0.5 * a), tensor(3, 7), tensor(7, low=1, high=3))
forward("floats_increment_mod", lambda x: torch.fmod(x + 1.5, 2), tensor(3, 7))
special = torch.tensor([nan, 1.0, -0.0, inf, -inf, 0.5, -2.25, 0.0, 3.0, -1.0, 1.0])
comparisons = [torch.lt, torch.le, torch.ge, torch.ne]
forward("floats_compared", lambda a, b: [op(a, b) for op in comparisons] + [torch.isfinite(a), torch.isinf(a), torch.isnan(a)],
        special[torch.arange(33) * 7 % 11].reshape(3, 11), special[torch.arange(33) * 5 % 11].reshape(3, 11))


# Lines and sums
differentiable("floats_cumsum", lambda x: torch.cumsum(x, 1), tensor(3, 7))
differentiable("floats_topk", lambda x: torch.topk(x, 3, 1)[0], distinct(3, 7))
forward("floats_places", lambda x: (x.argmax(1), x.argmin(1)), distinct(3, 7))
levels = [-1.0, -0.5, 0.0, 0.25, 2.0]
forward("floats_histogram", lambda x: np.histogram(x.numpy(), levels)[0], tensor(5, 7))
forward("floats_lamb_square", lambda x: (x * x).sum(), tensor(5, 7))
reductions = {
    "max": lambda x: torch.amax(x, 1), "min": lambda x: torch.amin(x, 1), "median": lambda x: torch.median(x, 1)[0],
    "prod": lambda x: torch.prod(x, 1), "sumsquare": lambda x: (x * x).sum(1), "l1": lambda x: x.abs().sum(1),
    "l2": lambda x: torch.linalg.vector_norm(x, dim=1), "logsum": lambda x: torch.log(x.sum(1)),
    "logsumexp": lambda x: torch.logsumexp(x, 1),
}
for name, op in reductions.items():
    make = distinct if name in ("max", "min", "median") else positive if name == "logsum" else tensor
    differentiable(f"floats_{name}", op, make(2, 7))


# Updates of variables
def adam(m, v, w, step):
    m, v = m / (1 - 0.9 ** (step + 1)), v / (1 - 0.875 ** (step + 1))
    return m / (v.sqrt() + 1e-7) + 0.125 * w


forward("floats_adam", adam, tensor(3, 7), positive(3, 7), tensor(3, 7), torch.tensor(2.0, dtype=torch.float64))
# the roots are exact: sqrt(2.25) / sqrt(0.25) is 3
forward("floats_adam_var_update", lambda w, x: w - 0.5 * 3 * x, tensor(3, 7), tensor(3, 7))


# At indices
rows = torch.tensor([3, 0, 0, 3, 3, 2])
spread = rows[:, None].expand(6, 7)
differentiable("floats_gather", lambda t, i: t[i], tensor(5, 7), indices(3, below=5))
differentiable("floats_tied_gather", lambda t, i: t[i], tensor(5, 7), indices(3, below=5))
differentiable("floats_scatter", lambda t, i, v: t.scatter(0, i, v), tensor(5, 3), torch.tensor([[4, 0, 2], [1, 3, 0]]), tensor(2, 3))
differentiable("floats_scatter_max", lambda x, _: torch.zeros(4, 7).double().scatter_reduce(0, spread, x, "amax", include_self=False),
               distinct(6, 7) + 1 / 32, rows.clone())
differentiable("floats_onehot", lambda i, v: torch.where(F.one_hot(i, 5) == 1, v[1], v[0]), indices(7, below=5), tensor(2))
differentiable("floats_dynamic_slice", lambda t, i: t[:, int(i):int(i) + 3], tensor(3, 7), torch.tensor([4]))
differentiable("floats_dynamic_update", lambda t, i, u: torch.cat((t[:, :int(i)], u, t[:, int(i) + 3:]), 1), tensor(3, 7),
               torch.tensor([2]), tensor(3, 3))
differentiable("floats_slice", lambda x: x[1:, ::2], tensor(3, 7))
forward("floats_sparse_accumulate", lambda t, x, i: t.index_add(0, i, 0.5 * x), tensor(5, 7), tensor(4, 7), torch.tensor([4, 2, 2, 0]))


# What only moves, of any dtype: numbers that all of them have, and bool
def moved(x, y, at, rows):
    places, start = torch.zeros(2, *x.shape[1:], dtype=x.dtype), int(at[0])
    for row, place in zip(x, rows.tolist()):
        places[place] = row if x.dtype == torch.bool else torch.maximum(places[place], row)
    updated = torch.cat((x[:, :start], y[:, 1:4], x[:, start + 3:]), 1)
    onehot = torch.where(torch.arange(4) == at[:, None], x[0, 1], x[0, 0])
    return [torch.cat((x, y), 1), torch.cat((x, y)), torch.diag(x), torch.diag(x[0]), torch.tensor(x.numpy()[::-2, 1:4].copy()),
            torch.cat((x[:1], y[:2])), x, torch.stack((x, x)), torch.cat((torch.zeros_like(x[:1]), x[1:2], torch.zeros_like(x[:1]))),
            x, x[:, start:start + 3], updated, updated, onehot, x[at], places]


x, y = (torch.tensor(f.random.permutation(15).reshape(3, 5)) for _ in range(2))
forward("moved", moved, x, y, torch.tensor([2, 0]), torch.tensor([1, 0, 1]))
x, y = (torch.tensor(f.random.integers(0, 2, (3, 5))) == 1 for _ in range(2))
forward("moved_bool", moved, x, y, torch.tensor([2, 0]), torch.tensor([1, 0, 1]))
forward("compared_bool", lambda a, b: [op(a, b) for op in comparisons] + [a | b, a & b], x.clone(), y.clone())


# Integers
def sized(dtype, *shape):
    """Of the whole range of the dtype, but within 40 bits: results of 64 bits stay numbers that a double holds."""
    info = np.iinfo(dtype)
    return f.random.integers(max(info.min, -(2**40)), min(info.max, 2**40), shape, dtype=dtype, endpoint=True)


def small(dtype, *shape):
    values = f.random.integers(1, 10, shape)
    return (values * f.random.choice([-1, 1], shape) if np.iinfo(dtype).min < 0 else values).astype(dtype)


def truncated(a, b):
    quotients = [abs(int(p)) // abs(int(q)) * (-1 if (p < 0) != (q < 0) else 1) for p, q in zip(a.reshape(-1), b.reshape(-1))]
    return np.array(quotients, a.dtype).reshape(a.shape)


def wrapped(numbers, like):
    bits = np.iinfo(like.dtype).bits
    return np.array([int(n) & ((1 << bits) - 1) for n in numbers], f"uint{bits}").view(like.dtype).reshape(like.shape)


def in_order(x, k):
    order = np.stack([sorted(range(x.shape[1]), key=lambda i: -int(row[i]))[:k] for row in x])
    return np.take_along_axis(x, order, 1), order


for dtype in INTEGERS:
    x, y = sized(dtype, 3, 7), small(dtype, 3, 7)
    name = f"more_{dtype}"
    one = np.array(1, dtype)
    forward(f"{name}_inplace", lambda x, y: (truncated(-((x + y) * y - x), y), np.clip(x, 2, 100), np.fmod(y + 3 * one, 5 * one),
                                             2 * one * x + 3 * one * y, 2 * one * y + 3 * one * x), x, y)
    forward(f"{name}_lines", lambda x: (x.argmax(1), x.argmin(1), *in_order(x, 3), np.cumsum(x, 1, dtype=dtype)), x)
    forward(f"{name}_reduced", lambda x, y: (np.abs(x).sum(1, dtype=dtype), x.max(1), x.min(1), np.sort(x, 1)[:, 3],
                                             np.prod(y, 1, dtype=dtype), (y * y).sum(1, dtype=dtype)), x, y)
    forward(f"{name}_compared", lambda x, y: (x < y, x <= y, x >= y, x != y, y == y, y != y, y != y), x, np.where(y > 4, x, y))
    exponents = f.random.integers(0, 6, (3, 7)).astype(dtype)
    forward(f"{name}_powers", lambda y, e: (wrapped([int(p) ** int(q) for p, q in zip(y.reshape(-1), e.reshape(-1))], y), y * y * y,
                                            np.fmod(y + 3 * one, 5 * one)), y, exponents)


# float64 with all its digits, for what other files have with eight
for name, op in {"abs": torch.abs, "sin": torch.sin, "geluerf": F.gelu, "swish": F.silu, "power": lambda x: x**3}.items():
    differentiable(f"exact_{name}", op, tensor(2, 7))
differentiable("exact_pow", torch.pow, positive(2, 7), tensor(2, 7))
differentiable("exact_matmul", torch.matmul, tensor(3, 19), tensor(19, 3))
differentiable("exact_mean", lambda x: x.mean(1), tensor(3, 7))
differentiable("exact_softmax", lambda x: torch.softmax(x, 1), tensor(3, 7))
differentiable("exact_nll_loss", lambda p, t: F.nll_loss(p.log(), t), f.probabilities(4, 3), torch.tensor([2, 0, 1, 2]))
differentiable("exact_cross_entropy", F.cross_entropy, tensor(4, 3), torch.tensor([2, 0, 1, 2]))


def with_grad(x, t):
    x = x.detach().requires_grad_()
    loss = F.cross_entropy(x, t)
    return loss, torch.autograd.grad(3 * loss, x)[0]


forward("exact_loss_grad", with_grad, tensor(4, 3), torch.tensor([2, 0, 1, 2]))
differentiable("exact_layer_norm", lambda x, w, b: F.layer_norm(x, (7,), w, b, 0.125), tensor(3, 7), tensor(7), tensor(7))
differentiable("exact_group_norm", lambda x, w, b: F.group_norm(x, 2, w, b, 0.125), tensor(2, 4, 3), tensor(4), tensor(4))
differentiable("exact_batch_norm", lambda x, w, b, mean, var: F.batch_norm(x, None, None, w, b, True, eps=0.125), tensor(3, 2, 5),
               tensor(2), tensor(2), f.integers(2), f.integers(2, low=1))
differentiable("exact_conv", lambda x, w: F.conv2d(x, w, padding=1, stride=2), tensor(1, 3, 5, 6), tensor(2, 3, 3, 3))
differentiable("exact_conv_transpose", lambda x, w: F.conv_transpose2d(x, w, stride=2), tensor(1, 3, 2, 3), tensor(3, 2, 2, 3))
differentiable("exact_average_pool", lambda x: F.avg_pool2d(x, (3, 1), 1), tensor(1, 2, 5, 3))
differentiable("exact_interpolate", lambda x: F.interpolate(x, scale_factor=(2, 1.5), mode="bilinear"), tensor(1, 2, 3, 4))
differentiable("exact_interpolate_cubic", lambda x: F.interpolate(x, scale_factor=(2, 1.5), mode="bicubic"), tensor(1, 2, 3, 4))


def four_samples(x, rois, index):
    """Of a region from (1, 1) to (4, 3), one in the middle of each of four parts."""
    places = [[[column / 2.5 - 1, row / 2 - 1] for column in (1.75, 3.25)] for row in (1.5, 2.5)]
    return F.grid_sample(x, torch.tensor([places], dtype=torch.float64), align_corners=True)


differentiable("exact_roi_align", four_samples, tensor(1, 2, 5, 6), torch.tensor([[1, 1, 4, 3]]), torch.tensor([0]))

f.save("ops_dtypes.txt")
