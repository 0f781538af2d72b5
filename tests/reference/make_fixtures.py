#!/usr/bin/python3
"""Writes ops.txt: inputs, results and gradients of every op, computed by PyTorch in float64.

    python3 tests/reference/make_fixtures.py        (Debian: apt-get install python3-torch python3-numpy)

Each line is a tensor: its name, its rank, its extents and its elements. Names are <case>.<tensor>: inputs are x0, x1, ...,
results y0, y1, ..., dy0 is the gradient of the result y0, and dx0, dx1, ... are those of the inputs.
Inputs are multiples of 1/16, probabilities of 1/256: float16, float32 and the text hold them exactly.
"""

from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

random = np.random.default_rng(2024)
lines = []


def tensor(*shape, low=-2.0, high=2.0):
    """Random elements in [low, high], none close to 0, where some gradients jump."""
    values = np.round(random.uniform(low, high, shape) * 16) / 16
    return torch.tensor(np.where(np.abs(values) < 0.125, 0.25, values))


def positive(*shape):
    return tensor(*shape, low=0.25, high=3.0)


def integers(*shape, low=-9, high=9):
    values = random.integers(low, high + 1, shape)
    return torch.tensor(np.where(values == 0, 4, values))


def probabilities(*shape):
    """Rows whose sum is exactly 1, of probabilities far from 0, where log is steep."""
    p = torch.round(torch.softmax(tensor(*shape, low=-0.25, high=0.25), -1) * 256) / 256
    p[..., -1] = 1 - p[..., :-1].sum(-1)
    return p


def write(name, values):
    array = values.detach().numpy()
    elements = " ".join(format(element, ".8g") for element in array.reshape(-1).tolist())
    lines.append(" ".join([name, str(array.ndim), *map(str, array.shape), elements]))


def forward(name, op, *inputs):
    """A case without gradients; the op may have several results."""
    results = op(*inputs)
    for i, x in enumerate(inputs):
        write(f"{name}.x{i}", x)
    for i, y in enumerate(results if isinstance(results, tuple) else (results,)):
        write(f"{name}.y{i}", y)


def differentiable(name, op, *inputs, dy=None):
    """A case with the gradients of its floating point inputs, given a gradient of the result, or else a random one."""
    inputs = [x.requires_grad_() if x.is_floating_point() else x for x in inputs]
    y = op(*inputs)
    dy = tensor(*y.shape) if dy is None else torch.tensor(dy, dtype=y.dtype)
    y.backward(dy)
    forward(name, lambda *_: y, *inputs)
    write(f"{name}.dy0", dy)
    for i, x in enumerate(inputs):
        if x.is_floating_point():
            write(f"{name}.dx{i}", x.grad)


def nll(p, labels, smallest=1e-7, smallest_in_gradient=1e-10, **options):
    """The loss of probabilities raised to the smallest; the gradient is not 0 below, but divides by its own smallest."""
    log = (p + (p.clamp(min=smallest_in_gradient) - p).detach()).log()
    log = log + (p.clamp(min=smallest).log() - log).detach()
    return F.nll_loss(log.reshape(-1, p.shape[-1]), labels.reshape(-1), **options).reshape(
        labels.shape if options.get("reduction") == "none" else ())


def loss_and_gradient(scale=1.0, **options):
    """The loss of p = softmax(x), and the gradient of x times scale."""

    def op(p, labels, *factor):
        x = p.log().detach().requires_grad_()
        loss = F.cross_entropy(x, labels, **options)
        (loss.sum() * (factor[0].item() if factor else scale)).backward()
        return loss, x.grad

    return op


def gelu(x):
    return F.gelu(x, approximate="tanh")


def truncated(a, b):
    return torch.div(a, b, rounding_mode="trunc")


# Products of matrices
differentiable("matmul", torch.matmul, tensor(2, 3), tensor(3, 4))
differentiable("matmul_vectors", torch.matmul, tensor(5), tensor(5))
differentiable("matmul_row", torch.matmul, tensor(3), tensor(3, 4))
differentiable("matmul_column", torch.matmul, tensor(2, 3), tensor(3))
differentiable("matmul_batched", torch.matmul, tensor(2, 3, 4), tensor(2, 4, 5))
differentiable("matmul_broadcast", torch.matmul, tensor(2, 1, 2, 3), tensor(3, 3, 2))
differentiable("matmul_large", torch.matmul, tensor(9, 70), tensor(70, 21))
differentiable("matmul_transposed", lambda a, b: a.T @ b.T, tensor(70, 9), tensor(21, 70))

# Arithmetic
differentiable("add", torch.add, tensor(2, 3), tensor(2, 3))
differentiable("add_row", torch.add, tensor(2, 3), tensor(3))
differentiable("sub_axes", torch.sub, tensor(2, 1, 3), tensor(4, 1))
differentiable("mul_scalar", torch.mul, tensor(2, 3), tensor())
differentiable("mul_column", torch.mul, tensor(3, 1), tensor(3, 21))
differentiable("div_outer", torch.div, tensor(3, 1), positive(1, 4))
differentiable("numbers", lambda x: (2 * x + 1) / 4 - 3 / x, tensor(2, 3))
differentiable("scaled_add", lambda x, y: 0.5 * x - 2 * y, tensor(3, 19), tensor(3, 19))
differentiable("scaled_add_tensors", lambda x, y, a, b: a * x + b * y, tensor(2, 3), tensor(2, 3), tensor(), tensor(1))
forward("scaled_add_inplace", lambda x, y: 2 * x - y, tensor(3, 19), tensor(3, 19))

# Functions of one input
differentiable("negate", torch.neg, tensor(3, 19))
differentiable("gelu", gelu, tensor(3, 19))
differentiable("relu", torch.relu, tensor(3, 19))
differentiable("exp", torch.exp, tensor(3, 19))
differentiable("log", torch.log, positive(3, 19))
differentiable("sqrt", torch.sqrt, positive(3, 19))
differentiable("tanh", torch.tanh, tensor(3, 19))
differentiable("identity", torch.clone, tensor(2, 3))

# Shapes and reductions
differentiable("reshape", lambda x: x.reshape(3, -1), tensor(2, 6))
differentiable("transpose", lambda x: x.permute(2, 0, 1), tensor(2, 3, 4))
differentiable("transpose_reversed", lambda x: x.permute(2, 1, 0), tensor(2, 3, 4))
differentiable("expand", lambda x: x.expand(2, 3, 4), tensor(3, 1))
differentiable("sum", torch.sum, tensor(2, 3, 4))
differentiable("sum_axis", lambda x: x.sum(1), tensor(2, 3, 4))
differentiable("sum_keep", lambda x: x.sum((0, -1), keepdim=True), tensor(2, 3, 4))
differentiable("sum_long", lambda x: x.sum(1), tensor(3, 130))
differentiable("sum_tall", lambda x: x.sum(0), tensor(130, 3))
differentiable("mean", lambda x: x.mean((0, 1, 2), keepdim=True), tensor(2, 3, 4))
differentiable("mean_axis", lambda x: x.mean(0), tensor(2, 3, 4))
differentiable("mean_axes", lambda x: x.mean((0, 2)), tensor(2, 3, 4))
differentiable("sum_transposed", lambda x: x.permute(2, 0, 1).sum(1), tensor(2, 3, 4))

# Softmax and losses
differentiable("softmax", lambda x: x.softmax(-1), tensor(4, 5))
differentiable("softmax_first", lambda x: x.softmax(0), tensor(4, 5))
differentiable("softmax_middle", lambda x: x.softmax(1), tensor(2, 3, 4))
labels = torch.tensor([2, 0, 1, 2])
differentiable("nll_loss", nll, probabilities(4, 3), labels)
differentiable("nll_loss_sum", lambda p, l: nll(p, l, reduction="sum"), probabilities(4, 3), labels)
differentiable("nll_loss_none", lambda p, l: nll(p, l, reduction="none"), probabilities(2, 2, 3), labels.reshape(2, 2))
differentiable("nll_loss_ignore", lambda p, l: nll(p, l, ignore_index=2), probabilities(4, 3), labels)
differentiable("nll_loss_log_prob", F.nll_loss, tensor(4, 3, low=-3, high=-0.25), labels)
small = [[2.0**-30, 0.5, 0.5], [0.5, 2.0**-20, 0.5], [0.25, 0.75, 0.0], [0.25, 0.25, 0.5]]
differentiable("nll_loss_small", nll, torch.tensor(small, dtype=torch.float64), torch.tensor([0, 1, 2, 1]), dy=0.75)
differentiable("cross_entropy", lambda x, l: F.cross_entropy(x, l, ignore_index=0), tensor(4, 3), labels)
forward("loss_grad", loss_and_gradient(), probabilities(4, 3), labels)
forward("loss_grad_scaled", loss_and_gradient(8.0, reduction="sum"), probabilities(4, 3), labels)
forward("loss_grad_none", loss_and_gradient(reduction="none"), probabilities(4, 3), labels)
forward("loss_grad_ignore", loss_and_gradient(ignore_index=2), probabilities(4, 3), labels)
forward("loss_grad_tensor", loss_and_gradient(), probabilities(4, 3), labels, torch.tensor(2.5))
forward("cross_entropy_with_grad", lambda x, l: loss_and_gradient(4.0)(x.softmax(-1), l), tensor(4, 3), labels)

# Half precision, and what has a gradient that is not its derivative
differentiable("detach", lambda x: x * x.detach(), tensor(2, 3))
differentiable("half_add", torch.add, tensor(2, 3), tensor(3))
differentiable("half_gelu", gelu, tensor(3, 19))
differentiable("half_matmul", torch.matmul, tensor(4, 70), tensor(70, 3))
differentiable("half_sum", lambda x: x.sum(1), tensor(3, 130))
differentiable("half_mean", lambda x: x.mean(0), tensor(5, 3))
differentiable("half_softmax", lambda x: x.softmax(-1), tensor(4, 5))
differentiable("half_nll_loss", nll, probabilities(4, 3), labels)
small = [[2.0**-20, 0.5, 0.5], [0.5, 2.0**-10, 0.5], [0.25, 0.75, 0.0], [0.25, 0.25, 0.5]]
differentiable("half_nll_loss_small", lambda p, l: nll(p, l, 6.104e-5, 6.104e-5), torch.tensor(small, dtype=torch.float64),
               torch.tensor([0, 1, 2, 1]), dy=0.75)
forward("half_loss_grad", loss_and_gradient(16.0), probabilities(4, 3), labels)
differentiable("half_scaled_add", lambda x, y: x + 0.5 * y, tensor(2, 3), tensor(2, 3))

# Integers and casts
forward("int_add", torch.add, integers(2, 3), integers(3))
forward("int_mul", torch.mul, integers(2, 3), integers(2, 1))
forward("int_div", truncated, integers(4, 5), integers(4, 5, low=-4, high=4))
forward("int_negate", torch.neg, integers(2, 3))
forward("int_sum", torch.sum, integers(3, 130))
forward("int_matmul", torch.matmul, integers(2, 70), integers(70, 3))
differentiable("cast_to_half", torch.clone, tensor(2, 3))
differentiable("cast_from_half", torch.clone, tensor(2, 3))
forward("cast_to_int", torch.trunc, tensor(3, 19, low=-9, high=9))
forward("cast_from_int", torch.clone, integers(2, 3))
forward("cast_to_bool", lambda x: x.bool(), torch.tensor([0.0, 0.25, -3.0, 0.0]))

path = Path(__file__).with_name("ops.txt")
path.write_text("\n".join(lines) + "\n")
print(f"{path.name}: {len(lines)} tensors, {path.stat().st_size} bytes")
