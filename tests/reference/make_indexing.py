#!/usr/bin/python3
"""Writes ops_indexing.txt: ops with indices that are known in the run, computed by PyTorch in float64.

    python3 tests/reference/make_indexing.py        (Debian: apt-get install python3-torch python3-numpy)
"""

import numpy as np
import torch

from fixtures import Fixtures

f = Fixtures(1313)
tensor, distinct, integers, forward, differentiable = f.tensor, f.distinct, f.integers, f.forward, f.differentiable


def indices(*shape, below):
    return torch.tensor(f.random.integers(0, below, shape))


def unlike(*shape, below, axis):
    """Indices of which no two along the axis are equal."""
    return torch.tensor(f.random.random((*shape[:axis], below, *shape[axis + 1:])).argsort(axis).take(range(shape[axis]), axis))


def take(axis=0):
    """numpy.take, with zeros for indices out of range."""

    def op(t, i):
        known = (i >= 0) & (i < t.shape[axis])
        y = torch.index_select(t, axis, torch.where(known, i, 0).reshape(-1))
        y = y.reshape(*t.shape[:axis], *i.shape, *t.shape[axis + 1:])
        return y * known.reshape(*i.shape, *[1] * (t.ndim - axis - 1))

    return op


def grouped_take(axis):
    return lambda t, i: torch.stack([take(axis - 1)(t[g], i[g]) for g in range(len(t))])


# Gather
differentiable("gather", take(), tensor(7, 5), indices(4, below=7))
differentiable("gather_repeated", take(), tensor(7, 19), torch.tensor([[3, 3, 0], [6, 3, 0]]))
differentiable("gather_one", take(), tensor(5, 3), torch.tensor(3))
differentiable("gather_vector", take(), tensor(9), indices(2, 2, below=9))
differentiable("gather_last", take(1), tensor(3, 7), indices(5, below=7))
differentiable("gather_middle", take(1), tensor(2, 7, 3), indices(2, 2, below=7))
differentiable("gather_wide", take(), tensor(3, 520), indices(4, below=3))
differentiable("gather_zero_oor", take(), tensor(5, 3), torch.tensor([4, -1, 2, 5, -5]))
differentiable("gather_transposed", lambda t, i: take()(t.T, i), tensor(3, 7), indices(4, below=7))
differentiable("gather_expanded", lambda t, i: take()(t.expand(7, 3), i.T), tensor(3), indices(2, 3, below=7))
differentiable("tied_gather", take(), tensor(7, 5), indices(2, 2, below=7))
differentiable("gather_many", take(), tensor(40, 3), indices(70, below=40))
differentiable("groupedgather", grouped_take(1), tensor(2, 7, 3), indices(2, 4, below=7))
differentiable("groupedgather_last", grouped_take(2), tensor(2, 3, 7), indices(2, 2, 2, below=7))


# Scatter
def scatter(axis=0):
    return lambda t, i, v: t.scatter(axis, i, v)


def spread(i, shape, axis):
    """Indices for places along an axis, as indices of all elements."""
    return i.reshape(*[-1 if a == axis else 1 for a in range(len(shape))]).expand(shape)


differentiable("scatter", scatter(), tensor(5, 4), unlike(3, 4, below=5, axis=0), tensor(3, 4))
differentiable("scatter_last", scatter(-1), tensor(2, 3, 9), unlike(2, 3, 4, below=9, axis=2), tensor(2, 3, 4))
differentiable("scatter_rows", lambda t, i, v: t.scatter(0, spread(i, v.shape, 0), v), tensor(7, 4), torch.tensor([5, 0, 2]),
               tensor(3, 4))
differentiable("scatter_vector", scatter(), tensor(20), unlike(17, below=20, axis=0), tensor(17))
# indices for a part of the values: gradients are those of that part
differentiable("scatter_part", lambda t, i, v: t.scatter(1, i, v[:2, :3]), tensor(3, 5), unlike(2, 3, below=5, axis=1),
               tensor(3, 4))


def last_wins(t, i, v):
    y = t.clone()
    for row in range(len(i)):
        y[i[row]] = v[row]
    return y


forward("scatter_repeated", last_wins, tensor(4, 3), torch.tensor([1, 3, 1, 3, 0]), tensor(5, 3))


# Scatter with a reduction
def unequal(*shape):
    """Elements of which none is equal to another or to an initial value: of equal ones, PyTorch gives each a part of dy."""
    return distinct(*shape) + 1 / 32


def reduced(kind, axis=0, size=None):
    """Without initial values, places to which nothing comes are 0."""

    def op(data, i, *initial):
        i = i if i.ndim == data.ndim else spread(i, data.shape, axis)
        shape = [size if a == axis else n for a, n in enumerate(data.shape)]
        start = initial[0] if initial else torch.zeros(shape, dtype=data.dtype)
        return start.scatter_reduce(axis, i, data, kind, include_self=len(initial) > 0)

    return op


differentiable("scatter_sum", reduced("sum", size=4), tensor(6, 5), indices(6, below=4))
differentiable("scatter_sum_elements", reduced("sum", 1, 4), tensor(3, 6), indices(3, 6, below=4))
differentiable("scatter_sum_initial", reduced("sum"), tensor(6, 3), indices(6, below=4), tensor(4, 3))
differentiable("scatter_sum_long", reduced("sum", size=3), tensor(50), indices(50, below=3))
differentiable("scatter_sum_one_axis", reduced("sum", 1, 5), tensor(2, 4, 3), indices(4, below=5))
differentiable("scatter_max", reduced("amax", size=4), unequal(6, 5), torch.tensor([3, 0, 0, 3, 3, 2]))
differentiable("scatter_max_initial", reduced("amax", 1), unequal(3, 6), indices(3, 6, below=4), tensor(3, 4))
differentiable("scatter_min", reduced("amin", size=4), unequal(6, 5), torch.tensor([3, 0, 0, 3, 3, 2]))
differentiable("scatter_min_initial", reduced("amin"), unequal(6, 3), indices(6, below=4), tensor(4, 3))
differentiable("scatter_none", lambda x, i: torch.zeros(9, 3, dtype=x.dtype).scatter(0, spread(i, x.shape, 0), x), tensor(4, 3),
               torch.tensor([8, 0, 3, 2]))
differentiable("scatter_none_initial", lambda x, i, t: t.scatter(0, spread(i, x.shape, 0), x), tensor(4, 3),
               torch.tensor([8, 0, 3, 2]), tensor(9, 3))
differentiable("scatter_grouped", lambda x, i: torch.stack([reduced("sum", 0, 5)(x[g], i[g]) for g in range(2)]), tensor(2, 4, 3),
               indices(2, 4, below=5))
differentiable("scatter_grouped_max", lambda x, i: torch.stack([reduced("amax", 1, 5)(x[g], i[g]) for g in range(2)]),
               unequal(2, 3, 4), indices(2, 4, below=5))
# indices for a part of the data
differentiable("scatter_sum_part", lambda x, i, t: t.scatter_add(0, i, x[:2, :3]), tensor(3, 4), indices(2, 3, below=5),
               tensor(5, 4))
nan = tensor(5, 3)
nan[1, 0] = nan[4, 2] = np.nan
forward("scatter_max_nan", reduced("amax", size=3), nan, torch.tensor([1, 1, 0, 1, 2]))
forward("scatter_min_nan", reduced("amin"), nan, torch.tensor([1, 1, 0, 1, 2]), tensor(3, 3))
forward("scatter_sum_int64", reduced("sum", size=4), integers(6, 2), indices(6, below=4))
forward("scatter_max_int32", reduced("amax", size=4), integers(6, 2), torch.tensor([3, 0, 0, 3, 3, 2]))
forward("scatter_min_uint8", reduced("amin", size=4), integers(6, 2, low=0), torch.tensor([3, 0, 0, 3, 3, 2]))
forward("scatter_sum_float16", reduced("sum", size=4), tensor(6, 19), indices(6, below=4))
forward("scatter_max_float16", reduced("amax", size=4), distinct(6, 19), torch.tensor([3, 0, 0, 3, 3, 2]))
forward("scatter_sum_float64", reduced("sum", size=4), tensor(6, 19), indices(6, below=4))


# Sparse accumulation
def accumulate(axis=0, factor=1.0):
    def op(t, x, i, *f):
        x = x.reshape(*t.shape[:axis], -1, *t.shape[axis + 1:])
        return t.index_add(axis, i.reshape(-1), x * (f[0] if f else factor))

    return op


forward("sparse_accumulate", accumulate(), tensor(7, 19), tensor(2, 3, 19), indices(2, 3, below=7))
forward("sparse_accumulate_factor", accumulate(1, 0.5), tensor(3, 7), tensor(3, 4), indices(4, below=7))
forward("sparse_accumulate_tensor", accumulate(), tensor(7, 3), tensor(9, 3), indices(9, below=7), tensor())
forward("sparse_accumulate_float16", accumulate(0, 0.5), tensor(7, 19), tensor(4, 19), torch.tensor([6, 2, 0, 3]))


# Slices with starts that are tensors
def box(t, start, axes, sizes):
    at = [slice(None)] * t.ndim
    for i, axis in enumerate(axes):
        at[axis] = slice(int(start[i]), int(start[i]) + sizes[i])
    return tuple(at)


def sliced(axes, sizes):
    return lambda t, start: t[box(t, start, axes, sizes)]


def updated(axes, sizes):
    def op(t, start, u):
        y = t.clone()
        y[box(t, start, axes, sizes)] = u
        return y

    return op


starts = torch.tensor
differentiable("dynamic_slice", sliced([0], [3]), tensor(10, 4), starts([5]))
differentiable("dynamic_slice_two", sliced([2, 0], [3, 2]), tensor(4, 3, 7), starts([4, 1]))
differentiable("dynamic_slice_end", sliced([-1], [17]), tensor(2, 40), starts([23]))
differentiable("dynamic_slice_transposed", lambda t, i: sliced([0], [3])(t.T, i), tensor(4, 10), starts([7]))
differentiable("dynamic_update", updated([0], [3]), tensor(10, 4), starts([7]), tensor(3, 4))
differentiable("dynamic_update_two", updated([2, 0], [3, 2]), tensor(4, 3, 7), starts([0, 2]), tensor(2, 3, 3))
differentiable("dynamic_update_columns", updated([1], [9]), tensor(5, 40), starts([20]), tensor(5, 9))
forward("dynamic_update_inplace", updated([0, 1], [2, 3]), tensor(5, 6), starts([3, 1]), tensor(2, 3))
forward("dynamic_slice_bool", sliced([0], [3]), integers(8) > 0, starts([2]))
forward("dynamic_update_int64", updated([0], [3]), integers(8, 3), starts([2]), integers(3, 3))
forward("dynamic_slice_float16", sliced([1], [5]), tensor(3, 8), starts([2]))


# One-hot
def one_hot(classes, axis=-1):
    def op(i, values):
        on = torch.stack([i == c for c in range(classes)], axis)
        return torch.where(on, values[1], values[0])

    return op


differentiable("onehot", one_hot(5), indices(7, below=5), tensor(2))
differentiable("onehot_first", one_hot(5, 0), torch.tensor([[4, -1, 2], [0, 5, 4]]), tensor(2))
differentiable("onehot_long", one_hot(70), indices(2, 3, below=70), tensor(2))
forward("onehot_int32", one_hot(3), indices(4, below=3), torch.tensor([0, 7]))
forward("onehot_bool", one_hot(3, 1), indices(4, 2, below=3), torch.tensor([False, True]))
forward("onehot_float16", one_hot(20), indices(4, below=20), tensor(2))

# Data types that are only moved
for dtype in ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float64"]:
    x = f.integers(5, 3, low=0, high=1 if dtype == "bool" else 9) if dtype[0] in "ub" else f.integers(5, 3)
    if dtype == "bool":
        x = (f.integers(5, 3) > 0)
    forward(f"gather_{dtype}", lambda t, i: t[i], x, torch.tensor([4, 0, 4, 2]))
    forward(f"scatter_{dtype}", last_wins, x, torch.tensor([1, 3]), x[:2].clone() if dtype == "bool" else x[:2] + 1)
for dtype in ["int8", "uint8", "uint32", "int64"]:
    forward(f"gather_by_{dtype}", lambda t, i: t[i], tensor(5, 3), torch.tensor([4, 0, 4, 2]))



# Three steps of training: an embedding, the mean of three of its rows, and a product
def embedding_steps(table, weight, tokens, labels):
    for _ in range(3):
        table, weight = table.detach().requires_grad_(), weight.detach().requires_grad_()
        loss = torch.nn.functional.cross_entropy(table[tokens].mean(1) @ weight, labels)
        loss.backward()
        table, weight = table - 0.5 * table.grad, weight - 0.5 * weight.grad
    return table, weight, loss


forward("embedding", embedding_steps, tensor(20, 6), tensor(6, 4), indices(8, 3, below=20), indices(8, below=4))

# Of equal elements each has an equal part of the gradient. (None is 0: PyTorch would count the zeros of the start.)
def few(*shape):
    return torch.tensor(f.random.integers(1, 4, shape) * 1.0)


differentiable("scatter_max_ties", reduced("amax", size=4), few(9, 5), indices(9, below=4))
differentiable("scatter_min_ties", reduced("amin", 1, 3), few(4, 7), indices(4, 7, below=3))
differentiable("scatter_max_ties_initial", reduced("amax"), few(9, 5), indices(9, below=4), few(4, 5))
differentiable("scatter_min_ties_initial", reduced("amin", 1), few(3, 8), indices(3, 8, below=4), few(3, 4))
differentiable("scatter_grouped_max_ties", lambda x, i: torch.stack([reduced("amax", 0, 3)(x[g], i[g]) for g in range(2)]),
               few(2, 6, 3), indices(2, 6, below=3))

# Gradients in double and half precision
for kind in ("double", "half"):
    differentiable(f"{kind}_gather", take(), tensor(7, 19), torch.tensor([[3, 3, 0], [6, 3, 0]]))
    differentiable(f"{kind}_groupedgather", grouped_take(1), tensor(2, 7, 3), indices(2, 4, below=7))
    differentiable(f"{kind}_tied_gather", take(1), tensor(2, 7), indices(5, below=7))
    differentiable(f"{kind}_scatter", scatter(-1), tensor(2, 3, 9), unlike(2, 3, 4, below=9, axis=2), tensor(2, 3, 4))
    differentiable(f"{kind}_scatter_sum", reduced("sum"), tensor(6, 3), indices(6, below=4), tensor(4, 3))
    differentiable(f"{kind}_scatter_max", reduced("amax", 1), unequal(3, 6), indices(3, 6, below=4), tensor(3, 4))
    differentiable(f"{kind}_scatter_min", reduced("amin", size=4), unequal(6, 5), torch.tensor([3, 0, 0, 3, 3, 2]))
    differentiable(f"{kind}_dynamic_slice", sliced([2, 0], [3, 2]), tensor(4, 3, 7), starts([4, 1]))
    differentiable(f"{kind}_dynamic_update", updated([1], [9]), tensor(5, 40), starts([20]), tensor(5, 9))
    differentiable(f"{kind}_onehot", one_hot(5, 0), torch.tensor([[4, -1, 2], [0, 5, 4]]), tensor(2))
forward("double_sparse_accumulate", accumulate(1, 0.5), tensor(3, 7), tensor(3, 4), indices(4, below=7))

# Integers
for dtype in ["int8", "int16", "uint16", "uint32", "uint64"]:
    forward(f"scatter_{dtype}_reduced", lambda x, i: [reduced(kind, size=3)(x, i) for kind in ("sum", "amax", "amin")],
            f.integers(7, 3, low=0 if dtype[0] == "u" else -9), torch.tensor([2, 0, 0, 2, 2, 1, 0]))
    forward(f"onehot_by_{dtype}", one_hot(4), indices(5, below=4), tensor(2))

# Dtypes that the cases above do not have
for dtype in ["int16", "uint16", "uint64"]:
    forward(f"gather_by_{dtype}", lambda t, i: t[i], tensor(5, 3), torch.tensor([4, 0, 4, 2]))
for dtype in ["uint8", "int64"]:
    forward(f"onehot_by_{dtype}", one_hot(4), indices(5, below=4), tensor(2))
for dtype in ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float64"]:
    low, high = (0, 1) if dtype == "bool" else (0 if dtype[0] == "u" else -9, 9)
    t, u = (torch.tensor(f.random.integers(low, high + 1, shape)) for shape in ((8, 3), (3, 2)))
    forward(f"dynamic_{dtype}", lambda t, i, u: (sliced([0, 1], [3, 2])(t, i), updated([0, 1], [3, 2])(t, i, u)), t,
            starts([4, 1]), u)
    forward(f"onehot_of_{dtype}", one_hot(4), indices(5, below=4), torch.tensor([0, 1]))
forward("scatter_none_bool", lambda x, i: torch.zeros(5, 3, dtype=x.dtype).scatter(0, spread(i, x.shape, 0), x),
        torch.tensor(f.random.integers(0, 2, (4, 3))), torch.tensor([4, 0, 3, 1]))
forward("sparse_accumulate_of_half", accumulate(), tensor(7, 19), tensor(4, 19), torch.tensor([6, 2, 0, 3]))

f.save("ops_indexing.txt")
