#!/usr/bin/env python3
"""Writes ops_second.txt: second derivatives as PyTorch computes them in float64.

A case is the gradient of an op. Its inputs are those of the op, the gradient dy of its result, and numbers u in the shapes of
the op's inputs. Its result y0 is the sum of u dx. The gradients of that sum by the op's inputs are second derivatives, those by u
the first ones. y1 is the same number in forward mode: the sum of dy and the op's tangent along u.

/usr/bin/python3 tests/reference/make_second.py
"""

import torch
import torch.nn.functional as F
from fixtures import Fixtures
from regions import roi_align


class ExactFixtures(Fixtures):
    def write(self, name, values):
        array = values.detach().numpy()
        elements = (format(element, ".17g") for element in array.reshape(-1))
        self.lines.append(" ".join([name, str(array.ndim), *map(str, array.shape), *elements]))


f = ExactFixtures(seed=68)
tensor, positive, distinct = f.tensor, f.positive, f.distinct


def twice(name, op, *inputs):
    def first(*given):
        x, dy, u = given[:len(inputs)], given[len(inputs)], given[len(inputs) + 1:]
        dx = torch.autograd.grad(op(*x), x, dy, create_graph=True)
        return sum((a * b).sum() for a, b in zip(dx, u))

    inputs = [x.double() for x in inputs]
    with torch.no_grad():
        shape = op(*inputs).shape
    dy, u = tensor(*shape), [tensor(*x.shape) for x in inputs]
    f.differentiable("second_" + name, first, *inputs, dy, *u)
    tangent = torch.autograd.functional.jvp(op, tuple(inputs), tuple(u))[1]
    f.write(f"second_{name}.y1", (dy * tangent).sum())


def joined(*tensors):
    return torch.cat([t.reshape(-1) for t in tensors])


def gelu(x):
    return F.gelu(x, approximate="tanh")


# elementwise
functions = [torch.exp, torch.sin, torch.cos, torch.tanh, torch.sigmoid, gelu, F.gelu, F.silu, F.softplus, torch.relu, torch.abs,
             torch.neg, lambda x: x**3, lambda x: torch.clamp(x, -1.03, 0.97)]
twice("functions", lambda x: joined(*(function(x) for function in functions)), tensor(5))
of_positive = [torch.log, torch.log2, torch.sqrt, lambda x: x**-1.75, lambda x: 2.5**x]
twice("functions_of_positive", lambda x: joined(*(function(x) for function in of_positive)), positive(5))
twice("arithmetic", lambda a, b: joined(a + b, (a - b) * a, a / b, torch.fmod(a, 0.71) * a, a + b * a), tensor(2, 3), positive(3))
twice("pow", torch.pow, positive(2, 3), tensor(3))
condition = torch.tensor([True, False, True])
twice("choices", lambda a, b: joined(torch.maximum(a, b) * a, torch.minimum(a, b) * b, torch.where(condition, a * a, a * b)),
      distinct(2, 3), tensor(3) + 0.03125)

# reductions
twice("selections", lambda x: joined(x.amax(1) ** 2, x.amin((0, 1)) ** 2, torch.median(x, 1)[0] ** 2), distinct(3, 5))
twice("sums", lambda x: joined(x.sum(1) ** 2, x.mean((0, 2), keepdim=True) ** 2, (x * x).sum(), x.abs().sum(0) ** 2,
                               torch.linalg.vector_norm(x, dim=1), torch.log(x.sum((0, 1))), torch.logsumexp(x, (0, 2)),
                               torch.logsumexp(x, 1)), positive(2, 3, 2))
products = tensor(2, 3, 2)
products[0, 1, 1] = products[1, 0, 0] = products[1, 0, 1] = 0
twice("products", lambda x: joined(x.transpose(0, 1).reshape(3, 4).prod(1), x.prod(1), x.prod(-1)), products)
twice("lines", lambda x: joined(torch.cumsum(x, 1) ** 2, torch.topk(x, 2, 1)[0] ** 2, torch.topk(x, 2, 0, largest=False)[0] ** 3),
      distinct(3, 4))

# shapes and indices
twice("shapes", lambda x: joined(*(t * t for t in (
    x.reshape(2, 6), x.T, x[1:, ::2], x[0], torch.cat([x, x[:, :1]], 1), x.expand(2, 3, 4), x.flip(0), torch.tril(x),
    torch.diagonal(x[:, :3]), x[1:3, 1:3]))), tensor(3, 4))
twice("copies", lambda x: joined(*(t * t for t in (x, x, x, torch.diag(x[0]), x.floor() * x, x.ceil() * x, x.round() * x,
                                                  x.sign() * x))), tensor(2, 3) + 0.03125)
places, distinct_places = torch.tensor([[1, 0, 2], [1, 1, 0]]), torch.tensor([[1, 0, 2], [2, 1, 0]])


def scattered(x, t):
    changed = t.clone()
    changed = changed.index_copy(0, torch.tensor([2, 0]), x)
    added = torch.zeros(4, 3, dtype=x.dtype).index_add(0, torch.tensor([1, 1]), x)
    return joined(*(y * y for y in (x[torch.tensor([1, 0, 1])], changed, added, t.scatter(1, distinct_places, x),
                                    t.scatter_add(1, places, x), t.scatter_reduce(1, places, x, "amax"),
                                    torch.cat([t[:1], x[:1], t[2:]]))))


twice("indices", scattered, distinct(2, 3), distinct(3, 3) + 0.03125)
on = torch.tensor([[0, 1, 0], [0, 0, 0], [0, 1, 0]], dtype=torch.float64)
twice("onehot", lambda v: ((1 - on) * v[0] + on * v[1]) ** 2, tensor(2))

# products, and ops of networks
twice("matmul", torch.matmul, tensor(2, 3, 2), tensor(2, 4))
twice("conv", lambda x, w: F.conv2d(x, w, None, (2, 1), (1, 0), (1, 2), 2), tensor(2, 4, 4, 5), tensor(2, 2, 3, 2))
twice("conv_line", lambda x, w: F.conv1d(x, w), tensor(1, 2, 5), tensor(3, 2, 2))
twice("conv_transpose", lambda x, w: F.conv_transpose2d(x, w, None, (2, 1), (1, 0), (1, 0), 1, (1, 1)), tensor(1, 2, 3, 3),
      tensor(2, 2, 3, 2))
twice("average_pool", lambda x: F.avg_pool2d(x, (2, 3), (1, 2), (0, 1), count_include_pad=False) ** 2, tensor(1, 2, 3, 4))
twice("max_pool", lambda x: F.max_pool2d(x, (2, 3), (1, 2), (0, 1), ceil_mode=True) ** 2, distinct(1, 2, 3, 4))
twice("max_pool_line", lambda x: F.max_pool1d(x, 2) ** 2, distinct(1, 2, 5))
twice("interpolate", lambda x: joined(F.interpolate(x, scale_factor=2, mode="linear") ** 2,
                                      F.interpolate(x, scale_factor=3, mode="nearest") ** 2), tensor(1, 2, 3))
boxes = torch.tensor([[0.0, 0.5, 3.0, 2.25], [1.0, 1.0, 2.5, 3.5]])
twice("roi_align", lambda x: roi_align((2, 2), 1.0, 2)(x, boxes, torch.tensor([0, 0])) ** 2, tensor(1, 1, 4, 4))
twice("softmax", lambda x: joined(torch.softmax(x, 0), torch.softmax(x, -1)), tensor(3, 4))
twice("layer_norm", lambda x, w, b: F.layer_norm(x, (5,), w, b, 0.125), tensor(2, 3, 5), tensor(5), tensor(5))
twice("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b, 0.0625), tensor(2, 4, 3), tensor(4), tensor(4))
twice("batch_norm", lambda x, w, b: F.batch_norm(x, None, None, w, b, True, eps=0.125), tensor(3, 2, 2), tensor(2), tensor(2))
mean, variance = torch.tensor([0.25, -0.5], dtype=torch.float64), torch.tensor([0.5, 2.0], dtype=torch.float64)
twice("batch_norm_inference", lambda x, w, b: F.batch_norm(x, mean, variance, w, b, False, eps=0.125) ** 2, tensor(3, 2, 2),
      tensor(2), tensor(2))


def attention(q, k, v):
    """Causal, aligned to the last key, in windows of 3 keys; two heads of queries for each of keys, and a key that is no key."""
    i, j = torch.arange(3)[:, None], torch.arange(4)
    seen = ((j <= i + 1) & (j > i - 2))[None, None] & torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1]]).bool()[:, None, None]
    k, v = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
    scores = q @ k.transpose(-1, -2) / 2**0.5
    return torch.softmax(scores.masked_fill(~seen, -float("inf")), -1) @ v


twice("attention", attention, tensor(2, 4, 3, 2), tensor(2, 2, 4, 2), tensor(2, 2, 4, 2))

# losses
labels = torch.tensor([2, 0, 1, 2])
weight = torch.tensor([0.5, 2.0, 1.25], dtype=torch.float64)
twice("cross_entropy", lambda x: F.cross_entropy(x, labels, ignore_index=1), tensor(4, 3))
twice("cross_entropy_none", lambda x: F.cross_entropy(x, labels, reduction="none"), tensor(4, 3))
twice("cross_entropy_weight", lambda x: F.cross_entropy(x, labels, weight, ignore_index=0, label_smoothing=0.25), tensor(4, 3))
twice("nll", lambda p: F.nll_loss(torch.log(p), labels, reduction="sum"), f.probabilities(4, 3))
twice("nll_of_logarithms", lambda x: F.nll_loss(x, labels) ** 2, tensor(4, 3))
# PyTorch's own function has no gradient of its weight.
twice("bce", lambda x, t, p: (p * t * F.softplus(-x) + (1 - t) * F.softplus(x)).mean(), tensor(2, 3), positive(2, 3), positive(3))
twice("losses", lambda x, t: torch.stack([F.mse_loss(x, t), F.l1_loss(x, t) ** 2, F.smooth_l1_loss(x, t, beta=0.3),
                                          F.huber_loss(x, t, delta=0.55)]), distinct(2, 3), tensor(2, 3) + 0.03125)
twice("kl", lambda x, t: F.kl_div(x, t, reduction="mean"), tensor(2, 3), positive(2, 3))
signs = torch.tensor([1, -1])
twice("cosine", lambda a, b: F.cosine_embedding_loss(a, b, signs, -0.75), tensor(2, 3), tensor(2, 3))

# matrices
def with_diagonal(a):
    return a + 3 * torch.eye(3, dtype=a.dtype)


solve, solve_triangular = torch.linalg.solve, torch.linalg.solve_triangular
twice("cholesky", lambda x: torch.linalg.cholesky(with_diagonal(x @ x.transpose(1, 2))), tensor(2, 3, 3))
twice("solve", lambda a, b: solve(with_diagonal(a), b), tensor(2, 3, 3), tensor(3, 2))
twice("solve_vector", lambda a, b: solve(with_diagonal(a).flip(0), b), tensor(3, 3), tensor(3))
twice("solve_triangular", lambda x, b: joined(
    solve_triangular(with_diagonal(x), b, upper=False), solve_triangular(with_diagonal(x), b, upper=True),
    solve_triangular(with_diagonal(x), b.transpose(1, 2), upper=False, left=False),
    solve_triangular(with_diagonal(x), b, upper=True, unitriangular=True),
    solve_triangular(with_diagonal(x), b, upper=False, unitriangular=True)), tensor(3, 3), tensor(2, 3, 2))

# functions of angles, and their kind
of_angles = [torch.atan, torch.sinh, torch.cosh, torch.erf, torch.expm1, lambda x: torch.atan2(x, 0.375 * x * x + 1),
             lambda x: torch.rsqrt(0.375 * x * x + 1)]
of_parts = [torch.tan, torch.asin, torch.acos, torch.log1p]
twice("functions_of_angles", lambda x: joined(*(function(0.375 * x) for function in of_parts), *(function(x) for function in of_angles)),
      tensor(5))
# shapes with an extent of 1, and another dtype
twice("shapes_of_one", lambda x: joined(x.squeeze() ** 2, x.squeeze(1)[torch.tensor([1, 0, 1])] ** 2), tensor(2, 1, 3))
twice("cast", lambda x: x**3, tensor(5))
twice("hypot", torch.hypot, tensor(2, 3), tensor(3))


def linear_recurrence(a, b):
    columns = [b[:, 0]]
    for i in range(1, b.shape[1]):
        columns.append(a[:, i] * columns[-1] + b[:, i])
    return torch.stack(columns, 1)


twice("recurrence", linear_recurrence, tensor(2, 4), tensor(2, 4))
factors = tensor(3, 4)
factors[0, 1] = factors[1, 1] = factors[2, 0] = 0
twice("cumprod", lambda x: joined(torch.cumprod(x, 0), torch.cumprod(x, 1)), factors)

f.save("ops_second.txt")
