#!/usr/bin/env python3
"""Writes edge_values.txt: what each differentiable op gives, and its gradients, for inputs at the edges of its dtype.

    /usr/bin/python3 tests/reference/make_edge_values.py        (Debian: apt-get install python3-torch python3-numpy)

PyTorch computes all in float64, from inputs that the dtype holds exactly; denormal numbers that float32 flushes count as 0.

First the file has lists of elements, numbered from 0 on, one a line, and an empty line. Then, of each case, a line with its name and
its tensors, as fixtures.py names them, and a line for each dtype and kind of input: the numbers of the tensors' lists. `sy0` and
`sdx0` say by how much a result moves when each input moves by a rounding of float32, as tests/edges/check.hpp needs it; `-`: by
nothing that matters there.
"""

import math
import re
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from edge_inputs import EACH, KINDS, MOVES, POWERS, TYPES, Input, flushed, gradients, inf, rounded

DIGITS = {"f16": 5, "bf16": 4, "f32": 8}


def short(text):
    """6.5e+04 as 6.5e4."""
    return re.sub(r"e([+-])0*", lambda match: "e" + match[1].strip("+"), text)


def shortest(dtype, x):
    if dtype is None:
        return str(int(x))
    for digits in range(1, 18):
        text = f"{x:.{digits}g}"
        if not math.isfinite(x) or float(rounded(dtype, float(text))) == x:
            return short(text)
    raise ValueError(x)


class File:
    def __init__(self):
        self.lists, self.numbers, self.cases = [], {}, []

    def number(self, texts):
        line = " ".join(texts)
        if line not in self.numbers:
            self.numbers[line] = len(self.lists)
            self.lists.append(line)
        return str(self.numbers[line])

    def inputs(self, dtype, x):
        return self.number([shortest(dtype if x.is_floating_point() else None, e) for e in x.reshape(-1).tolist()])

    def results(self, dtype, x):
        return self.number([short(f"{e:.{DIGITS[dtype]}g}") for e in x.reshape(-1).tolist()])

    def moves(self, dtype, y, move):
        """Moves that a rounding of the result hides are 0."""
        hidden = {"f16": 2.0**-15, "bf16": 2.0**-12, "f32": 2.0**-21}[dtype]
        move = torch.where(8 * move <= hidden * y.abs() + TYPES[dtype][3] / 8, 0.0, move)
        return self.number([short(f"{e:.1g}") for e in move.reshape(-1).tolist()]) if bool((move > 0).any()) else "-"


file = File()


def results_of(op, inputs, dy):
    """The result, and the gradients of inputs of floating point by their numbers."""
    inputs = [x.clone().requires_grad_() if x.is_floating_point() else x for x in inputs]
    y = op(*inputs)
    if y.requires_grad:
        y.backward(dy)
    gradients = {i: torch.zeros_like(x) if x.grad is None else x.grad for i, x in enumerate(inputs) if x.is_floating_point()}
    return y.detach(), gradients


class Between(torch.autograd.Function):
    """What stands between two ops: it may be rounded to a dtype, forwards and backwards. None: it is passed on."""

    dtype, random = None, None

    @classmethod
    def moved(cls, x):
        if cls.dtype is None:
            return x.clone()
        unit = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24}[cls.dtype]
        distance = torch.where(x == 0, 0.0, (unit * x.abs()).clamp(min=TYPES[cls.dtype][3] / 2))
        y = x + distance * torch.tensor(cls.random.choice([-1.0, 1.0], tuple(x.shape)))
        return torch.where(x.abs() > TYPES[cls.dtype][1], inf * x.sign(), y)

    @staticmethod
    def forward(context, x):
        return Between.moved(x)

    @staticmethod
    def backward(context, dy):
        return Between.moved(dy)


def case(name, op, *inputs, kinds=KINDS, jumps=False, cancels=False, keeps_result=False, rounds=False):
    """A case of all kinds of input. `jumps`: rounding changes which elements the result is made of; then it is exact. `cancels`: what
    is lost where float32 rounds terms that cancel counts as a move, by the error of PyTorch's float32. `keeps_result`: in float32 the
    gradient is computed from the result, which was rounded, as in PyTorch. `rounds`: results are rounded between ops."""
    made = [x if isinstance(x, (Input, torch.Tensor)) else Input(*x) for x in inputs]
    rows, names = [], None
    kinds = [*kinds, "hidden"] if any(isinstance(x, Input) and x.hidden for x in made) else kinds
    Between.random = np.random.default_rng(1)  # so that a case does not depend on those before
    for dtype in TYPES:
        for kind in kinds:
            if kind == "denormal" and dtype != "f16" or kind == "close" and dtype == "f32":
                continue
            given = [x.make(dtype, kind, slot) if isinstance(x, Input) else x for slot, x in enumerate(made)]
            used = [flushed(dtype, x) if x.is_floating_point() else x for x in given]
            shape = op(*used).shape
            dy = gradients(dtype, kind, int(np.prod(shape))).reshape(shape)
            y, dx = results_of(op, used, dy)
            all_results = [y, *dx.values()]
            moved = [torch.zeros_like(r) for r in all_results]
            random = np.random.default_rng(1)
            for _ in range(0 if jumps else 8):

                def move(x):
                    signs = torch.tensor(random.choice([-1.0, 1.0], tuple(x.shape)))
                    return x * (1 + 2.0**-24 * signs) if x.is_floating_point() else x

                near = [move(x) for x in used]
                Between.dtype = dtype if rounds else None
                pairs = [(all_results, results_of(op, near, move(dy)))]
                if cancels:
                    near = [x.float() if x.is_floating_point() else x for x in near]
                    exact = results_of(op, [x.double() if x.is_floating_point() else x for x in near], dy)
                    pairs.append(([exact[0], *exact[1].values()], results_of(op, near, dy.float())))
                Between.dtype = None
                for expected, (other, other_dx) in pairs:
                    for i, (a, b) in enumerate(zip(expected, [other, *other_dx.values()])):
                        difference = torch.where((a == b) | (a.isnan() & b.isnan()), 0.0, (a - b).abs())
                        moved[i] = torch.maximum(moved[i], torch.where(difference.isnan(), inf, difference))
            if keeps_result and dtype == "f32":
                moved[1] += dy.abs() * 2.0**-24
            row = [file.inputs(dtype, x) for x in given] + [file.inputs(dtype, dy)]
            row += [file.results(dtype, r) for r in all_results] + [file.moves(dtype, r, m) for r, m in zip(all_results, moved)]
            rows.append(" ".join([dtype, kind, *row]))
            names = [f"x{i}" for i in range(len(given))] + ["dy0", "y0"] + [f"dx{i}" for i in dx] + ["sy0"] + [f"sdx{i}" for i in dx]
    file.cases += [" ".join([name, *names]), *rows, ""]


def numbers(*values, shape=None):
    x = torch.tensor(values)
    return x.reshape(shape) if shape else x


class Attend(torch.autograd.Function):
    """Values weighted by the softmax of scores. The gradient of float32 takes sums of dy y, as PyTorch's fused kernels do."""

    @staticmethod
    def forward(context, scores, values):
        weights = torch.softmax(scores, -1)
        y = weights @ values
        context.reads_result = Between.dtype == "f32"
        context.save_for_backward(weights, values, Between.moved(y))
        return y

    @staticmethod
    def backward(context, dy):
        weights, values, y = context.saved_tensors
        of_weights = dy @ values.transpose(-2, -1)
        dot = (dy * y if context.reads_result else weights * of_weights).sum(-1, keepdim=True)
        return weights * (of_weights - dot), weights.transpose(-2, -1) @ dy


# Functions of one tensor.
N = 8
x, positive = (N,), Input(N, positive=True)
case("gelu", lambda x: x * torch.sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)), x, kinds=EACH)
case("geluerf", lambda x: x * torch.erfc(-x / math.sqrt(2)) / 2, x, kinds=EACH)
case("relu", F.relu, Input(N, hidden=[(1, -inf), (4, -inf)]), kinds=EACH)
case("sigmoid", torch.sigmoid, x, kinds=EACH, keeps_result=True)
case("swish", F.silu, x, kinds=EACH)
case("softplus", lambda x: torch.logaddexp(x, torch.zeros_like(x)), x, kinds=EACH)
case("exp", torch.exp, x, kinds=EACH)
case("log", torch.log, positive, kinds=EACH)
case("log2", torch.log2, positive, kinds=EACH)
case("sqrt", torch.sqrt, positive, kinds=EACH)
case("sin", torch.sin, Input(N, below=1000), kinds=POWERS)
case("cos", torch.cos, Input(N, below=1000), kinds=POWERS)
case("tanh", torch.tanh, x, kinds=EACH, keeps_result=True)
case("negate", torch.neg, x, kinds=EACH)
case("identity", lambda x: x * 1, x, kinds=EACH)
case("abs", torch.abs, x, kinds=EACH)
case("sign", torch.sign, x, jumps=True, kinds=POWERS)
case("ceil", torch.ceil, x, jumps=True, kinds=POWERS)
case("floor", torch.floor, x, jumps=True, kinds=POWERS)
case("clip", lambda x: torch.clamp(x, -1.5, 2), x, kinds=EACH)
case("cube", lambda x: x**3, Input(N, below=1e12, above=1e-12), kinds=POWERS)
case("square", lambda x: x**2, Input(N, below=1e18), kinds=POWERS)
case("inverse_root", lambda x: x**-0.5, positive, kinds=POWERS)
case("power_of_half", lambda x: x**0.5, positive, kinds=POWERS)
case("cast", lambda x: x * 1, x, kinds=EACH)

# Arithmetic.
nonzero = Input(N, nonzero=True)
case("add", torch.add, x, x, kinds=EACH)
case("sub", torch.sub, x, x, kinds=EACH)
case("mul", torch.mul, x, x, kinds=EACH)
case("div", torch.div, x, nonzero, kinds=EACH)
case("fmod", torch.fmod, Input(N, below=500), Input(N, nonzero=True, above=0.25), jumps=True, kinds=POWERS)
case("pow", torch.pow, Input(N, positive=True, below=1e5, above=1e-5), Input(N, below=6), kinds=POWERS)
case("maximum", torch.maximum, Input(N, hidden=[(1, -inf)]), x, jumps=True, kinds=POWERS)
case("minimum", torch.minimum, Input(N, hidden=[(1, inf)]), x, jumps=True, kinds=POWERS)
case("scaled_add", lambda a, b: 0.5 * a - 3 * b, x, x, kinds=EACH)
case("where", lambda c, a, b: torch.where(c, a, b), numbers(*[True, False] * 4), Input(N, hidden=[(1, inf), (5, -inf)]),
     Input(N, hidden=[(0, inf), (4, -inf)]), kinds=MOVES)
row = (4,)
case("add_row", torch.add, (6, 4), row)
within = {"below": 1e3, "above": 1e-3}  # so that no element of a sum leaves the range of float32
case("mul_row", torch.mul, Input(6, 4, **within), Input(4, **within))
case("div_row", torch.div, Input(6, 4, **within), Input(4, nonzero=True, **within))
case("div_by_column", torch.div, Input(3, 4, **within), Input(3, 1, nonzero=True, **within))
case("sub_column", torch.sub, (3, 4), (3, 1))
case("pow_row", torch.pow, Input(3, 4, positive=True, below=1e5, above=1e-5), Input(4, below=6), kinds=POWERS)
case("where_row", lambda c, a, b: torch.where(c, a, b), numbers(*[True, False, True] * 4, shape=(3, 4)), (4,), (3, 1))

# Reductions of rows and columns. Of equal elements the first has all of the gradient.
def selection(rank):
    def op(x):
        ordered = torch.sort(x.detach(), 1)[0]
        sought = ordered[:, {"max": -1, "min": 0, "median": (x.shape[1] - 1) // 2}[rank]][:, None]
        return torch.gather(x, 1, torch.argmax((x == sought).to(torch.int64), 1, keepdim=True))[:, 0]

    return op


def root_of_squares(x):
    """The norm without a square that leaves the range, 0 with a gradient of 0."""
    y = torch.linalg.vector_norm(x / x.detach().abs().amax(1, keepdim=True).clamp(min=1e-300), dim=1)
    return y * x.detach().abs().amax(1)


def log_sum_exp(x):
    """With gradients of 0 in a row of -inf."""
    return torch.logsumexp(torch.where(torch.isinf(x).all(1, keepdim=True), torch.where(x > 0, x, x.detach()), x), 1)


rows = Input(3, 4, below=5e37)  # whose sums are in the range
reductions = {
    "sum": (lambda x: x.sum(1), rows), "mean": (lambda x: x.mean(1), rows),
    "prod": (lambda x: x.prod(1), Input(3, 4, below=1e9, above=1e-9)),
    "sumsquare": (lambda x: (x * x).sum(1), Input(3, 4, below=1e18)), "l1": (lambda x: x.abs().sum(1), rows),
    "l2": (root_of_squares, Input(3, 4, below=1e30)),
    "logsum": (lambda x: torch.log(x.sum(1)), Input(3, 4, below=5e37, positive=True)),
    "logsumexp": (log_sum_exp, Input(3, 4, below=5e37, hidden=[(1, -inf), (6, -inf), *[(i, -inf) for i in range(8, 12)]])),
}
for name, (op, given) in reductions.items():
    case(name, op, given)
    if name in ("sum", "l2", "logsumexp"):
        case(name + "_columns", lambda x, op=op: op(x.T), Input(3, 4, below=1e30))
for name in ("max", "min", "median"):
    hides = -inf if name == "max" else inf
    case(name, selection(name), Input(3, 4, below=5e37, hidden=[(2, hides), (7, hides)]), jumps=True)
case("softmax", lambda x: torch.softmax(x, 1), Input(3, 4, hidden=[(2, -inf), (7, -inf)]), cancels=True)
case("softmax_columns", lambda x: torch.softmax(x, 0), rows, cancels=True)
case("cumsum", lambda x: torch.cumsum(x, 1), rows)
case("cumsum_columns", lambda x: torch.cumsum(x, 0), rows)
case("topk", lambda x: torch.topk(x, 2, 1)[0], rows, jumps=True, kinds=["tails"])

# Losses of classes, with logits and with probabilities.
labels = numbers(0, 1, 2, 1)
ignored = numbers(0, 2, 2, 1)
logits = Input(4, 3, hidden=[(1, -inf), (5, -inf)])
for reduction in ("none", "sum", "mean"):
    def loss(x, t, reduction=reduction):
        return F.cross_entropy(x, t, reduction=reduction)

    case("cross_entropy_" + reduction, loss, logits if reduction == "none" else (4, 3), labels)
case("cross_entropy_ignored", lambda x, t: F.cross_entropy(torch.where((t == 2)[:, None], 0.0, x), t, ignore_index=2),
     Input(4, 3, hidden=[(3, inf), (4, -inf), (6, inf), (8, inf)]), ignored)
case("cross_entropy_one_of_many", lambda x, t: F.cross_entropy(x, t, reduction="sum"), (2, 40), numbers(3, 17))
probabilities = Input(4, 3, positive=True, above=2.0**-9, below=1)
case("nll_loss", lambda p, t: F.nll_loss(p.log(), t), probabilities, labels, kinds=["wide", "tails"])
case("nll_loss_of_logarithms", lambda x, t: F.nll_loss(x, t, reduction="none"), Input(4, 3, hidden=[(1, -inf), (5, -inf)]), labels)

# Normalisations. Squares of more than 1e18 leave the range of float32, in PyTorch too.
norm = {"below": 1e17}
wide = Input(3, 4, **norm)
for name, eps in ("", 1e-5), ("_small_epsilon", 1e-12):
    case("layer_norm" + name, lambda x, w, b, eps=eps: F.layer_norm(x, (4,), w, b, eps), wide, Input(4, **norm),
         Input(4, **norm), cancels=True)
case("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b, 1e-5), Input(2, 4, 2, **norm), Input(4, **norm),
     Input(4, **norm), cancels=True)
mean, var = numbers(1, -2), numbers(1, 3)
case("batch_norm", lambda x, w, b, m, v: F.batch_norm(x, m.to(x), v.to(x), w, b, True, 0.1, 1e-5),
     Input(3, 2, 2, **norm), Input(2, **norm),
     Input(2, **norm), mean, var, cancels=True)
case("batch_norm_inference", lambda x, w, b, m, v: (x - m[:, None]) / torch.sqrt(v + 1e-5)[:, None] * w[:, None] + b[:, None],
     Input(3, 2, 2, **norm), Input(2, **norm), Input(2, **norm), Input(2, **norm), Input(2, positive=True, **norm), cancels=True)

# Indices, of which one is of many rows.
many = numbers(0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)
case("gather", lambda t, i: t[i], Input(4, 2, hidden=[(6, inf), (7, -inf)]), many, kinds=MOVES)
case("tied_gather", lambda t, i: t[i], (3, 2), many)
case("groupedgather", lambda t, i: torch.stack([t[g][i[g]] for g in range(2)]), (2, 3, 2), many.reshape(2, 6), kinds=MOVES)
case("scatter", lambda t, i, v: t.scatter(0, i, v),
     Input(4, 2, hidden=[(0, inf)]), numbers(0, 3, 2, 1, shape=(2, 2)), (2, 2), kinds=MOVES)
spread = lambda i, v: i[:, None].expand(v.shape)  # noqa: E731
case("scatter_sum", lambda v, i: torch.zeros(3, 2, dtype=v.dtype).scatter_add(0, spread(i, v), v), Input(12, 2, below=1e37), many)
case("scatter_sum_initial", lambda v, i, t: t.scatter_add(0, spread(i, v), v), Input(12, 2, below=1e37), many,
     Input(3, 2, below=1e37))
case("scatter_max", lambda v, i: torch.zeros(3, 2, dtype=v.dtype).scatter_reduce(0, spread(i, v), v, "amax", include_self=False),
     (12, 2), many, jumps=True, kinds=["largest", "smallest", "tails"])
case("dynamic_slice", lambda t, i: t[1:3], Input(4, 3, hidden=[(0, inf), (10, -inf)]), numbers(1), kinds=MOVES)
case("dynamic_update", lambda t, i, u: torch.cat([t[:1], u, t[3:]]),
     Input(4, 3, hidden=[(4, inf)]), numbers(1), (2, 3), kinds=MOVES)
case("onehot", lambda i, v: torch.where(i[:, None] == torch.arange(3), v[1], v[0]), many, (2,))

# Moves, and sums of what was copied.
case("moves", lambda x, y: torch.cat([x.T[1:3], y.reshape(2, 4)[:, ::2]], 1),
     Input(4, 3, hidden=[(0, inf), (9, -inf)]), (8,), kinds=MOVES)
case("expand", lambda x: x.reshape(1, 3).expand(8, 3), (3,))
case("diagonal", lambda x: torch.diag(torch.diagonal(x)), Input(3, 3, hidden=[(1, inf)]), kinds=MOVES)
case("squeeze", lambda x: x[:, 0] * 1, (6, 1), kinds=MOVES)
case("used_often", lambda x: sum([x * 2.0**-8 for _ in range(12)], x * 1) + x * 1, Input(6, above=0.02))
case("loop", lambda x: sum([x] * 40), (6,))
between = Between.apply
case("loop_of_products", lambda x, w: between(between(between(x * w) * w) * w) * w, (6,),
     Input(6, below=4), kinds=["close", "tails", "zeros"], rounds=True)

# Products and windows.
case("matmul", torch.matmul, Input(3, 5, below=1e18), Input(5, 4, below=1e18))
case("matmul_of_groups", torch.matmul, Input(2, 3, 4, below=1e18), Input(4, 2, below=1e18))
case("linear", lambda x, w, b: between(x @ w) + b, Input(6, 4, below=1e18), Input(4, 3, below=1e18), Input(3, below=1e18),
     rounds=True)
case("conv", lambda x, w: F.conv2d(x, w, padding=1), Input(1, 2, 3, 4, below=1e18), Input(2, 2, 3, 3, below=1e18))
case("conv_transpose", lambda x, w: F.conv_transpose2d(x, w, stride=2), Input(1, 2, 2, 3, below=1e18),
     Input(2, 2, 2, 2, below=1e18))
case("average_pool", lambda x: F.avg_pool2d(x, 2, 1), Input(1, 2, 3, 4, below=5e37))
case("max_pool", lambda x: F.max_pool2d(x, 2, 1), Input(1, 2, 3, 4, hidden=[(2, -inf), (18, -inf)]), jumps=True, kinds=MOVES)
case("interpolate", lambda x: F.interpolate(x, scale_factor=3, mode="nearest"), (1, 2, 4))
case("interpolate_linear", lambda x: F.interpolate(x, scale_factor=2, mode="linear", align_corners=False), (1, 2, 4))


def bilinear(x):
    """roi_align of one box from (0, 0) to (3, 3), of 3 x 3 samples in the middle of their bins."""
    at = torch.tensor([0.5, 1.5, 2.5], dtype=torch.float64)
    weights = (1 - (at[:, None] - torch.arange(4)).abs()).clamp(min=0)
    return torch.einsum("ia,jb,ncab->ncij", weights, weights, x)


case("roi_align", lambda x, rois, index: bilinear(x), (1, 2, 4, 4), numbers(0, 0, 3, 3, shape=(1, 4)), numbers(0))


def attention(is_causal=False):
    def op(q, k, v, *mask):
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        seen = torch.ones(scores.shape).bool()
        seen = seen.tril() if is_causal else seen
        seen = seen & mask[0][:, None, None, :] if mask else seen
        # what is hidden counts for nothing, whatever it is
        scores = torch.where(seen, scores, torch.full_like(scores, -inf))
        return Attend.apply(scores, v)

    return op


length = (1, 1, 4, 2)
parts = [Input(*length, below=4), Input(*length, below=4), Input(*length, below=1000)]
case("attention", attention(), *parts, cancels=True, rounds=True)
case("attention_causal", attention(is_causal=True), *parts, cancels=True, rounds=True)
case("attention_masked", attention(), *parts, numbers(True, False, True, True, shape=(1, 4)), cancels=True, rounds=True)

class FromResult(torch.autograd.Function):
    """A function whose gradient is computed from its result, which float32 rounds and half precision does not."""

    @staticmethod
    def forward(context, x, function, slope):
        y = function(x)
        context.slope = slope(Between.moved(y) if Between.dtype == "f32" else y)
        return y

    @staticmethod
    def backward(context, dy):
        return dy * context.slope, None, None


# Random programs: each step in PyTorch and in C++; tensors have 3 rows of 4.
STEPS = {
    "tanh": (lambda a: FromResult.apply(a, torch.tanh, lambda y: 1 - y * y), "ops::tanh({0})"),
    "sigmoid": (lambda a: FromResult.apply(a, torch.sigmoid, lambda y: y * (1 - y)), "ops::sigmoid({0})"),
    "swish": (F.silu, "ops::swish({0})"), "negate": (torch.neg, "-{0}"), "softplus": (F.softplus, "ops::softplus({0})"),
    "abs": (torch.abs, "ops::abs({0})"), "relu": (F.relu, "ops::relu({0})"), "half": (lambda a: a * 0.5, "{0} * 0.5"),
    "root": (lambda a: torch.sqrt(between(between(a * a) + 1)), "ops::sqrt({0} * {0} + 1)"),
    "softmax": (lambda a: torch.softmax(a, 1), "ops::softmax({0})"), "cumsum": (lambda a: torch.cumsum(a, 1), "ops::cumsum({0}, 1)"),
    "mean": (lambda a: a - between(a.mean(1, keepdim=True)), "{0} - ops::mean({0}, 1, true)"),
    "sum": (lambda a: a.sum(0, keepdim=True) * torch.ones(3, 1), "ops::expand(ops::sum({0}, 0, true), {{3, 4}})"),
    "logsumexp": (lambda a: a - between(torch.logsumexp(a, 1, keepdim=True)), "{0} - ops::logsumexp({0}, 1, true)"),
    "gather": (lambda a: a[[1, 0, 1]], "ops::gather({0}, {0}.ir().constant({{1, 0, 1}}, {{3}}, tw::int32))"),
    "add": (torch.add, "{0} + {1}"), "sub": (torch.sub, "{0} - {1}"), "mul": (torch.mul, "{0} * {1}"),
    "maximum": (torch.maximum, "ops::maximum({0}, {1})"), "over": (lambda a, b: a / between(b.abs() + 1), "{0} / (ops::abs({1}) + 1)"),
}


def random_program(seed):
    """A function of two tensors, and its body in C++."""
    random = np.random.default_rng(seed)
    steps = []
    for count in range(2, 2 + int(random.integers(3, 7))):
        name = str(random.choice(list(STEPS)))
        steps.append((name, max(0, count - 1 - int(random.integers(0, 2))), int(random.integers(0, count))))

    def op(*inputs):
        known = list(inputs)
        for name, a, b in steps:
            function = STEPS[name][0]
            known.append(between(function(known[a], known[b]) if "{1}" in STEPS[name][1] else function(known[a])))
        return known[-1] + known[-2]

    lines = [f"  const Tensor t{i + 2} = {STEPS[name][1].format(f't{a}', f't{b}')};" for i, (name, a, b) in enumerate(steps)]
    return op, "\n".join([*lines, f"  return t{len(steps) + 1} + t{len(steps)};"])


CPP = """#pragma once
// Random programs, which tests/reference/make_edge_values.py writes and computes.
#include "cases.hpp"

namespace edges {
"""
for seed in range(24):
    op, body = random_program(seed)
    operand = Input(3, 4, below=3)
    case(f"random_{seed}", op, operand, operand, kinds=["close", "wide", "tails", "zeros"], rounds=True)
    CPP += f"\nconstexpr Tensor random_{seed}([[maybe_unused]] Tensor t0, [[maybe_unused]] Tensor t1) {{\n{body}\n}}\n"
CPP += "\nconstexpr void random_programs(const Cases& c) {\n  const auto x = c.real({3, 4});\n"
CPP += "".join(f'  c.add("random_{seed}", random_{seed}, x, x);\n' for seed in range(24)) + "}\n\n}  // namespace edges\n"
Path(__file__).parents[1].joinpath("edges/random_cases.hpp").write_text(CPP)

# Losses with options.
weights, smooth = {"weight": torch.tensor([0.5, 2, 1.25], dtype=torch.float64)}, {"label_smoothing": 0.25}
for name, options in ("weighted", weights), ("smoothed", smooth), ("weighted_and_smoothed", weights | smooth):
    case("cross_entropy_" + name, lambda x, t, options=options: F.cross_entropy(x, t, reduction="none", **options), (4, 3), labels)
targets = torch.tensor([0, 1, 0.5, 0.25] * 2, dtype=torch.float64)


def binary_cross_entropy(x, t, w=1):
    """With a gradient of t in which log(1 + exp(-x)) - log(1 + exp(x)) is -x, also where float64 loses it."""
    zero = torch.zeros_like(x)
    of_positive, of_negative = torch.logaddexp(-x, zero), torch.logaddexp(x, zero)
    slope = ((w - 1) * of_positive - x).detach()
    return w * t.detach() * of_positive + (1 - t.detach()) * of_negative + (t - t.detach()) * slope


case("binary_cross_entropy", binary_cross_entropy, x, targets, kinds=EACH)
case("binary_cross_entropy_of_positives", binary_cross_entropy, Input(N, below=1e37), targets,
     torch.tensor([3, 0.5, 1, 0.25] * 2, dtype=torch.float64), kinds=EACH)
near = Input(N, below=1e38)  # so that differences are in the range
case("huber", lambda x, t: F.huber_loss(x, t, delta=0.75, reduction="none"), near, near, kinds=EACH)
case("smooth_l1", lambda x, t: F.smooth_l1_loss(x, t, beta=0.75, reduction="none"), near, near, kinds=EACH)

path = Path(__file__).with_name("edge_values.txt")
path.write_text("\n".join([*file.lists, "", *file.cases]))
print(f"{path.name}: {len(file.cases)} lines of cases, {len(file.lists)} lists, {path.stat().st_size} bytes")
