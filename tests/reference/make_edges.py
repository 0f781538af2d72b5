#!/usr/bin/env python3
"""Writes ops_edges.txt: losses, norms, gradients of functions and reductions at the edges of their dtypes.

    /usr/bin/python3 tests/reference/make_edges.py

All is computed in float64 by PyTorch, from inputs that the case's dtype holds exactly: the names of cases begin with it. Gradients of
logsumexp whose result is infinite, where PyTorch gives NaN, are written here.
"""

import numpy as np
import torch
import torch.nn.functional as F
from fixtures import Fixtures

f = Fixtures(17)
inf = float("inf")
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def values(dtype, *numbers, shape=None):
    x = torch.tensor(numbers, dtype=torch.float64).to(TYPES[dtype]).double()
    return x.reshape(shape) if shape else x


def ones(dy_of, value=1.0):
    return np.full(tuple(dy_of), value)


# Losses of logits: sure and wrong, sure and right, far apart, and with the scale of a loss of half precision.
for dtype, far in ("f32", (30, 100, 1e4)), ("f16", (12, 100, 6e4)), ("bf16", (12, 100, 1e30)):
    logits = values(dtype, 0, far[0], 0, 0, far[1], -1, far[2], 0, 1, 0.5, 0.25, -8, shape=(4, 3))
    labels = torch.tensor([0, 1, 1, 2])
    for reduction in "none", "sum":
        def loss(x, t, reduction=reduction):
            return F.cross_entropy(x, t.long(), reduction=reduction)
        shape = (4,) if reduction == "none" else ()
        f.differentiable(f"{dtype}_cross_entropy_{reduction}", loss, logits.clone(), labels, dy=ones(shape))

    def with_grad(x, t):
        x = x.clone().requires_grad_()
        loss = F.cross_entropy(x, t.long())
        loss.backward()
        return loss.detach(), x.grad

    f.forward(f"{dtype}_cross_entropy_with_grad", with_grad, logits.clone(), labels)
    if dtype == "f16":
        f.differentiable("f16_cross_entropy_scaled", lambda x, t: F.cross_entropy(x, t.long(), reduction="none"), logits.clone(), labels,
                         dy=ones((4,), 32768.0))

# Functions whose gradient is small where the result is rounded to a limit.
tails = [-16, -11, -8, -5.5, -3, -1, -0.125, 0, 0.25, 2, 4, 5.5, 7, 8.5, 11, 16]
for dtype in "f16", "bf16":
    for name, function in (("sigmoid", torch.sigmoid), ("tanh", torch.tanh), ("exp", torch.exp),
                           ("swish", lambda x: x * torch.sigmoid(x)), ("geluerf", F.gelu),
                           ("gelu", lambda x: x * 0.5 * (1 + torch.tanh(0.7978845608028654 * (x + 0.044715 * x**3))))):
        inside = [x for x in tails if name != "exp" or x < 10]
        f.differentiable(f"{dtype}_{name}", function, values(dtype, *inside), dy=ones((len(inside),)))
    f.differentiable(f"{dtype}_sqrt", torch.sqrt, values(dtype, 6e-8, 1e-4, 0.3, 7, 6e4), dy=ones((5,)))
    f.differentiable(f"{dtype}_pow", lambda x, e: x**e, values(dtype, 0.1, 0.9, 3, 100), values(dtype, 6, 0.5, -3, 2.25), dy=ones((4,)))
    f.differentiable(f"{dtype}_logsumexp", lambda x: torch.logsumexp(x, 1), values(dtype, 1000, 1001, 998, 999.5, 0, 1, shape=(2, 3)),
                     dy=ones((2,)))
    f.differentiable(f"{dtype}_l2", lambda x: x.norm(dim=1), values(dtype, 3e4, 6e4, 5e4, 1e-4, 2e-4, 3e-4, shape=(2, 3)), dy=ones((2,)))

# Normalisations of rows whose deviation or mean half precision does not hold.
def layer_norm(eps):
    return lambda x, w, b: F.layer_norm(x, (4,), w, b, eps)


one, zero = [1.0] * 4, [0.0] * 4
f.differentiable("f16_layer_norm_constant", layer_norm(1e-12), values("f16", 0, 0, 0, 0, 1, 2, 3, 4, shape=(2, 4)), values("f16", *one),
                 values("f16", *zero), dy=ones((2, 4)))
f.differentiable("f16_layer_norm_small", layer_norm(1e-12), values("f16", 0, 1e-7, 2e-7, 0, 1e-4, 2e-4, 0, 0, shape=(2, 4)),
                 values("f16", *one), values("f16", *zero), dy=values("f16", 1, 0, 0, 0, 0, 0, 1e-4, 0, shape=(2, 4)).numpy())
f.differentiable("bf16_layer_norm_mean", layer_norm(1e-5), values("bf16", 100, 100.5, 100, 100.5, shape=(1, 4)), values("bf16", *one),
                 values("bf16", *zero), dy=ones((1, 4)))
f.differentiable("bf16_group_norm_mean", lambda x, w, b: F.group_norm(x, 2, w, b, 1e-5),
                 values("bf16", 100, 100.5, 100, 100.5, -64, -64.5, -64, -64.5, shape=(1, 4, 2)), values("bf16", *one),
                 values("bf16", *zero), dy=ones((1, 4, 2)))

# Divisions of which a part leaves the range and the result does not.
f.differentiable("f32_div", torch.div, values("f32", 1e-28, 1e30, 1e-30, 1e30, 3, 0, 1e-38),
                 values("f32", 1e-10, 1e-10, 1e10, 1e10, -7, 1e-30, 1e-20), dy=values("f32", 1e30, 1e-30, 1e30, 1e-30, 2, 1e20, 1e-20).numpy())
f.differentiable("f16_div", torch.div, values("f16", 1e-4, 6e4, 3), values("f16", 0.01, 200, -7), dy=values("f16", 1000, 1, 2).numpy())

# Norms whose squares leave the range.
f.differentiable("f32_l2_rows", lambda x: x.norm(dim=1), values("f32", 1e20, 1e20, 3e-25, 4e-25, 0, 0, 3, 4, 2e-38, 0, shape=(5, 2)),
                 dy=ones((5,)))
f.differentiable("f32_l2_columns", lambda x: x.norm(dim=0),
                 values("f32", 1e20, 3e-25, 0, 3, 1e38, 1e20, 4e-25, 0, 4, 1e38, shape=(2, 5)), dy=ones((5,)))
f.differentiable("f32_l2_all", lambda x: x.norm(), values("f32", 1e20, 2e20, -2e20), dy=ones(()))

# logsumexp of infinities.
for dtype in "f32", "f16":
    f.write(f"{dtype}_logsumexp_infinite.x0", np.array([[-inf, -inf], [inf, 1], [-inf, 3], [0, -inf]]))
    f.write(f"{dtype}_logsumexp_infinite.y0", np.array([-inf, inf, 3, 0]))
    f.write(f"{dtype}_logsumexp_infinite.dy0", np.ones(4))
    f.write(f"{dtype}_logsumexp_infinite.dx0", np.array([[0.0, 0], [1, 0], [0, 1], [1, 0]]))
# logsumexp whose result rounds away what the gradient needs.
for dtype, large in ("f32", (1e7, 1e7, 1e7, 1e7 + 1, 4e9, 4e9, -2e7, -2e7)), ("f16", (4e4, 4e4, 1e4, 9992, 6e4, 6e4, -3e4, -3e4)):
    f.differentiable(f"{dtype}_logsumexp_large", lambda x: torch.logsumexp(x, 1), values(dtype, *large, shape=(4, 2)), dy=ones((4,)))
f.save("ops_edges.txt")
