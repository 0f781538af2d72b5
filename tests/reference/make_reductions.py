#!/usr/bin/env python3
"""Writes ops_reductions.txt: reductions, indices and running sums as PyTorch computes them in float64.

/usr/bin/python3 tests/reference/make_reductions.py
"""

import numpy as np
import torch
import torch.nn.functional as F
from fixtures import Fixtures

f = Fixtures(seed=13)
nan, inf = float("nan"), float("inf")


def axes_of(x, axes):
    return tuple(range(x.ndim)) if axes is None else tuple(axes)


def flat(x, axes):
    """x with the reduced axes as its last one, in row-major order, and the shape with these as extents of 1."""
    axes = sorted(a % x.ndim for a in axes_of(x, axes))
    kept = [a for a in range(x.ndim) if a not in axes]
    shape = [1 if a in axes else x.shape[a] for a in range(x.ndim)]
    return x.permute(kept + axes).reshape([x.shape[a] for a in kept] + [-1]), shape


def selection(rank):
    """The element of a rank: the gradient goes to the first that is equal to it."""

    def op(x, axes, keep):
        lines, shape = flat(x, axes)
        n = lines.shape[-1]
        ordered = torch.sort(lines.detach(), -1)[0]  # NaN last
        sought = ordered[..., {"max": n - 1, "min": 0, "median": (n - 1) // 2}[rank]]
        sought = torch.where(torch.isnan(ordered[..., -1]), ordered[..., -1], sought)
        equal = (lines == sought[..., None]) | torch.isnan(lines)
        first = torch.argmax(equal.to(torch.int64), -1, keepdim=True)  # PyTorch 1.13: the first
        y = torch.gather(lines, -1, first)
        return y.reshape(shape) if keep else y.squeeze(-1)

    return op


def on_lines(function):
    def op(x, axes, keep):
        lines, shape = flat(x, axes)
        y = function(lines)
        return y.reshape(shape) if keep else y

    return op


reductions = {
    "max": selection("max"),
    "min": selection("min"),
    "median": selection("median"),
    "prod": on_lines(lambda x: torch.prod(x, -1)),
    "sumsquare": on_lines(lambda x: (x * x).sum(-1)),
    "l1": on_lines(lambda x: x.abs().sum(-1)),
    "l2": on_lines(lambda x: torch.linalg.vector_norm(x, dim=-1)),
    "logsum": on_lines(lambda x: torch.log(x.sum(-1))),
    "logsumexp": on_lines(lambda x: torch.logsumexp(x, -1)),
}


def inputs(name, *shape):
    if name in ("max", "min", "median"):
        return f.distinct(*shape)
    if name == "prod":
        return f.tensor(*shape, low=0.5, high=1.5) * torch.tensor(f.random.choice([-1.0, 1.0], shape))
    return f.positive(*shape) if name == "logsum" else f.tensor(*shape)



for name, op in reductions.items():
    f.differentiable(name, lambda x: op(x, None, False), inputs(name, 2, 3, 4))
    f.differentiable(name + "_rows", lambda x: op(x, [-1], False), inputs(name, 2, 35))
    f.differentiable(name + "_columns", lambda x: op(x, [0], False), inputs(name, 3, 19))
    f.differentiable(name + "_axes", lambda x: op(x, [0, 2], True), inputs(name, 2, 3, 4))
    f.differentiable(name + "_transposed", lambda x: op(x.permute(2, 1, 0), [1], False), inputs(name, 2, 2, 19))

for axis, name in ((0, "first"), (1, "middle"), (2, "last")):
    f.differentiable("cumsum_" + name, lambda x: torch.cumsum(x, axis), f.tensor(2, 2, 19))
f.differentiable("cumsum_transposed", lambda x: torch.cumsum(x.T, 1), f.tensor(5, 19))
f.differentiable("cumsum_one", lambda x: torch.cumsum(x, 1), f.tensor(3, 1))
f.differentiable("topk", lambda x: torch.topk(x, 5, -1)[0], f.distinct(3, 37))
f.differentiable("topk_smallest", lambda x: torch.topk(x, 2, 0, False)[0], f.distinct(5, 7))
f.differentiable("topk_transposed", lambda x: torch.topk(x.T, 3, 0)[0], f.distinct(4, 6))

# Ties, zeros and numbers that are none; not for finite differences.
few = lambda *shape: torch.tensor(f.random.integers(-1, 2, shape) * 1.0)
for name in ("max", "min", "median"):
    op = reductions[name]
    f.differentiable(name + "_ties_rows", lambda x: op(x, [1], False), few(3, 37))
    f.differentiable(name + "_ties_columns", lambda x: op(x, [0], False), few(4, 21))
    f.differentiable(name + "_ties_all", lambda x: op(x, None, False), few(4, 19))
    special = f.tensor(5, 19)
    special[0, 3] = special[2, 18] = special[2, 4] = nan
    special[1, 2], special[3, 5], special[4, :] = inf, -inf, -inf
    special[1, 6] = -inf
    f.differentiable(name + "_nan_rows", lambda x: op(x, [1], False), special.clone())
    f.differentiable(name + "_nan_columns", lambda x: op(x, [0], False), special.clone())
zeros = f.tensor(4, 5)
zeros[1, 2] = zeros[2, 0] = zeros[2, 4] = 0
f.differentiable("prod_zeros", lambda x: torch.prod(x, 1), zeros.clone())
f.differentiable("l2_zero", lambda x: torch.linalg.vector_norm(x, dim=1), torch.tensor([[0.0, 0, 0], [3, 0, 4]], dtype=torch.float64))
f.differentiable("l1_zero", lambda x: x.abs().sum(), zeros.clone())
f.forward("logsumexp_large", lambda x: torch.logsumexp(x, 1),
          torch.tensor([[1000.0, 1000, 999], [-1000, -1001, -1002], [inf, 0, 1], [-inf, -inf, -inf], [nan, 1, 2], [-inf, 2, 2]],
                       dtype=torch.float64))
for name, op in reductions.items():
    f.differentiable(name + "_scalar", lambda x: op(x.reshape(1), None, False), torch.tensor(1.25, dtype=torch.float64))

# Indices.
arg = {"argmax": np.argmax, "argmin": np.argmin}
special = f.tensor(5, 37)
special[0, 3] = special[2, 18] = special[2, 35] = special[3, 36] = nan
special[1, 20], special[4, :] = inf, -inf
for name, op in arg.items():
    f.forward(name + "_rows", lambda x: op(x.numpy(), 1).astype(np.int32), special)
    f.forward(name + "_columns", lambda x: op(x.numpy(), 0).astype(np.int32), special)
    f.forward(name + "_ties", lambda x: op(x.numpy(), 1)[:, None].astype(np.int32), few(3, 4, 19))
    f.forward(name + "_transposed", lambda x: op(x.numpy().T, 0).astype(np.int32), few(6, 19))


def top(x, k, axis, largest):
    """PyTorch's values, and of equal elements the first."""
    a = np.moveaxis(x.numpy(), axis, -1)
    key = np.where(np.isnan(a), np.inf, a)
    order = np.lexsort((np.arange(a.shape[-1]) + np.zeros(a.shape), key if not largest else -key,
                        np.isnan(a) != largest), axis=-1)[..., :k]  # NaN is larger than infinity
    values = np.take_along_axis(a, order, -1)
    expected = torch.topk(x, k, axis, largest)[0].numpy()
    values = np.moveaxis(values, -1, axis)
    assert np.array_equal(values, expected, equal_nan=True)
    return values, np.moveaxis(order, -1, axis).astype(np.int32)


f.forward("topk_special", lambda x: top(x, 4, 1, True), special)
f.forward("topk_special_smallest", lambda x: top(x, 36, 1, False), special)
f.forward("topk_ties", lambda x: top(x, 7, 1, True), few(4, 19))
f.forward("topk_all", lambda x: top(x, 6, 0, True), few(6, 5))
f.forward("topk_one", lambda x: top(x, 1, 0, False), few(1))

levels = [-1.0, -0.5, 0.0, 0.25, 2.0]
edges = f.tensor(4, 33, low=-3, high=3)
edges[0, :5] = torch.tensor(levels)
edges[1, 0], edges[1, 1], edges[1, 2] = inf, -inf, nan
count = lambda x: np.histogram(x[np.isfinite(x)], levels)[0].astype(np.uint32)
f.forward("histogram", lambda x: count(x.numpy()), edges)
f.forward("histogram_absolute", lambda x: count(np.abs(x.numpy())), edges)
f.forward("histogram_one", lambda x: np.histogram(x.numpy(), [0.0, 1.0])[0].astype(np.uint32), torch.tensor(1.0))

# Integers.
whole = f.integers(5, 19)
f.forward("reduced_int_mean", lambda x: torch.div(x.sum(1), 19, rounding_mode="trunc"), whole)
f.forward("reduced_int_mean_all", lambda x: torch.div(x.sum(), 95, rounding_mode="trunc"), torch.tensor(f.random.integers(-99, 9, (5, 19))))
f.forward("reduced_int_sum", lambda x: x.sum(0), whole)
f.forward("reduced_int_max", lambda x: x.max(1)[0], whole)
f.forward("reduced_int_topk", lambda x: top(x, 3, 1, True), whole)
f.forward("reduced_int_cumsum", lambda x: torch.cumsum(x, 1), whole)

# Half precision.
halves = torch.round(torch.tensor(f.random.uniform(0.5, 1.5, (2, 19))) * 16) / 16
for name, op in reductions.items():
    x = inputs(name, 2, 19) if name != "prod" else halves.clone()
    f.differentiable("reduced_half_" + name, lambda x: op(x, [1], False), x)
f.forward("reduced_half_columns", lambda x: x.max(0)[0], f.tensor(5, 37))
f.forward("reduced_half_argmax", lambda x: np.argmax(x.numpy(), 0).astype(np.int32), few(3, 37))
f.forward("reduced_half_topk", lambda x: top(x, 3, 1, True), few(3, 19))
f.forward("reduced_half_cumsum", lambda x: torch.cumsum(x, 1), halves)
f.forward("reduced_half_cumsum_columns", lambda x: torch.cumsum(x, 0), halves)

# All of a tensor that several tiles have parts of.
for name, op in reductions.items():
    x = inputs(name, 5, 34) if name != "prod" else 1 + torch.tensor(f.random.integers(-1, 2, (5, 34))) / 16.0
    f.differentiable("tiles_" + name, lambda x: op(x, None, False), x)
f.differentiable("tiles_rows", lambda x: torch.amax(x, 1), f.distinct(5, 34))
f.differentiable("tiles_cumsum", lambda x: torch.cumsum(x, 1), f.tensor(5, 19))
f.differentiable("tiles_topk", lambda x: torch.topk(x, 3, 1)[0], f.distinct(5, 19))
f.forward("tiles_argmax", lambda x: np.argmax(x.numpy(), 0).astype(np.int32), few(9, 34))
f.forward("tiles_histogram", lambda x: count(x.numpy()), f.tensor(9, 34))
f.forward("tiles_mean", lambda x: torch.div(x.sum(), 9 * 34, rounding_mode="trunc"),
          torch.tensor(f.random.integers(0, 99, (9, 34))))

# Double precision.
for name, op in reductions.items():
    f.differentiable("reduced_double_" + name, lambda x: op(x, [1], False), inputs(name, 2, 19))
f.differentiable("reduced_double_cumsum", lambda x: torch.cumsum(x, 0), f.tensor(2, 19))
f.differentiable("reduced_double_topk", lambda x: torch.topk(x, 5, 1)[0], f.distinct(2, 19))
f.forward("reduced_double_indices", lambda x: (np.argmax(x.numpy(), 1).astype(np.int32), np.argmin(x.numpy(), 0).astype(np.int32),
                                               *top(x, 3, 1, False)), special)
f.forward("reduced_double_histogram", lambda x: count(x.numpy()), edges)
f.forward("reduced_half_histogram", lambda x: count(x.numpy()), edges)

# Integers of all kinds, the ends of their ranges among them. A double holds the 64-bit ones.
for name in ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]:
    info = np.iinfo(name)
    low, high = (info.min, info.max) if info.bits < 64 else (0 if info.min == 0 else -(2**20), 2**20)
    x = f.random.integers(low, high, (3, 11), endpoint=True).astype(name)
    x[0, 3], x[1, 5], x[2, :5] = high, low, 3
    if info.bits == 64:
        x[:, 1:] %= 9  # so are products
    def reduced(x):
        with np.errstate(over="ignore"):
            sizes = np.abs(x).astype(name)
            values, places = top(torch.tensor(x.astype(np.float64)), 2, 1, True)
            return (x.max(1), x.min(1), np.sort(x, 1)[:, 5], np.prod(x, 1, dtype=name), np.sum(x * x, 1, dtype=name),
                    np.sum(sizes, 1, dtype=name), np.cumsum(x, 1, dtype=name), np.argmax(x, 1).astype(np.int32),
                    np.argmin(x, 1).astype(np.int32), values.astype(name), places)
    f.forward("reduced_" + name, reduced, x)

# Lines of which blocks have parts.
for name, op in reductions.items():
    x = inputs(name, 2, 70) if name != "prod" else 1 + torch.tensor(f.random.integers(-1, 2, (2, 70))) / 16.0
    f.differentiable("parts_" + name, lambda x: op(x, None, False), x)
both = few(66, 65)
both[65, 64], both[31, 33] = 2, -2
for name in ("max", "min"):
    op = reductions[name]
    f.forward(f"parts_{name}_both", lambda x: op(x, None, True), both)
    special = few(3, 200)
    special[0, 199] = special[1, 31] = special[1, 64] = nan
    special[2, :] = inf if name == "min" else -inf
    f.forward(f"parts_{name}_nan", lambda x: op(x, [1], False), special)
f.forward("parts_logsumexp_large", lambda x: torch.logsumexp(x, 1),
          torch.tensor([[-inf] * 150, [inf] + [0.0] * 149, [-inf] * 149 + [2.0], [-1000.0] * 150, [nan] + [1.0] * 149, [1000.0] * 150],
                       dtype=torch.float64))
for name, options in (("mean", {}), ("sum", {"reduction": "sum"}), ("ignore", {"ignore_index": 2})):
    p, labels = f.probabilities(130, 5), torch.tensor(f.random.integers(0, 5, 130))
    f.differentiable("parts_nll_" + name, lambda p, t: F.nll_loss(p.log(), t, **options), p, labels)
p, labels = f.probabilities(3, 70, 4), torch.tensor(f.random.integers(0, 4, (3, 70)))
f.differentiable("parts_nll_axes", lambda p, t: F.nll_loss(p.log().reshape(-1, 4), t.reshape(-1)), p, labels)
f.differentiable("parts_nll_none", lambda p, t: F.nll_loss(p.log().reshape(-1, 4), t.reshape(-1), reduction="none").reshape(3, 70),
                 p.detach(), labels)


def loss_and_gradient(p, labels, scale, **options):
    """Of softmax's result."""
    x = p.log().reshape(-1, p.shape[-1]).requires_grad_()
    loss = F.cross_entropy(x, labels.reshape(-1), **options)
    loss.backward(torch.as_tensor(scale, dtype=x.dtype))
    return loss, x.grad.reshape(p.shape)


p = p.detach()
f.forward("parts_loss_grad", lambda p, t: loss_and_gradient(p, t, 1), p, labels)
f.forward("parts_loss_grad_ignore", lambda p, t: loss_and_gradient(p, t, 2, ignore_index=1), p, labels)
f.forward("parts_loss_grad_tensor", lambda p, t, s: loss_and_gradient(p, t, s), p, labels, torch.tensor(4.0, dtype=torch.float64))

f.forward("parts_half", lambda x: (x.max(), x.min(), torch.prod(x), torch.logsumexp(x, 0)), halves.reshape(-1).repeat(3)[:100] / 2 + 0.5)
wrap = f.random.integers(-128, 127, 300, endpoint=True).astype(np.int8) | np.int8(1)
f.forward("parts_int8", lambda x: (x.max(), x.min(), np.prod(x, dtype=np.int8)), wrap)

f.save("ops_reductions.txt")
