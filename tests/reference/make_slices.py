#!/usr/bin/python3
"""Writes ops_slices.txt: concats, splits, slices and what else takes parts of tensors, computed by PyTorch and NumPy.

    python3 tests/reference/make_slices.py        (Debian: apt-get install python3-torch python3-numpy)
"""

import numpy as np
import torch

from fixtures import Fixtures

ops = Fixtures(2026)
tensor, integers, forward, differentiable = ops.tensor, ops.integers, ops.forward, ops.differentiable


def steps(x, *keys):
    """NumPy's indexing, with the gradient that PyTorch gives a gather: PyTorch has no negative steps."""
    numbers = np.arange(x.numel()).reshape(tuple(x.shape))[keys]
    return x.reshape(-1)[torch.tensor(numbers.copy())]


S = slice

# Slices
differentiable("slice_first", lambda x: steps(x, S(1, 6)), tensor(7, 5))
differentiable("slice_number_of_last_axis", lambda x: steps(x, ..., 3), tensor(7, 5))
differentiable("slice_steps", lambda x: steps(x, S(1, None, 2), S(None, None, 3)), tensor(7, 20))
differentiable("slice_back", lambda x: steps(x, S(None, None, -1), S(5, 1, -1)), tensor(3, 19))
differentiable("slice_back_in_steps", lambda x: steps(x, S(-1, None, -2), S(-2, -18, -3)), tensor(6, 19))
differentiable("slice_beyond", lambda x: steps(x, S(-100, 100), S(100, -100, -4)), tensor(3, 19))
differentiable("slice_one", lambda x: steps(x, S(2, 3), S(-1, None)), tensor(3, 4))
differentiable("slice_vector", lambda x: steps(x, S(3, 36)), tensor(37))
differentiable("slice_middle_axis", lambda x: steps(x, S(None), S(1, 3)), tensor(2, 4, 17))
differentiable("slice_six_axes", lambda x: steps(
    x, S(0, 3, 2), S(-1, None, -2), S(1, 2), S(None, 0, -1), S(1, None), S(3, 0, -2)), tensor(3, 3, 2, 3, 2, 4))
differentiable("slice_of_slice", lambda x: steps(steps(x, S(None, None, -2), S(1, 18)), S(1, None), S(None, None, 3)),
               tensor(8, 19))
differentiable("subscript_all_numbers", lambda x: steps(x, 1, -2), tensor(3, 4))
differentiable("subscript_mixed", lambda x: steps(x, S(1, None), 2, ..., S(None, None, -1)), tensor(3, 4, 2, 5))
differentiable("subsample", lambda x: steps(x, S(None, None, 3), S(None, None, 2)), tensor(7, 4, 3))
differentiable("subsample_first_axis", lambda x: steps(x, S(None, None, 2)), tensor(5, 3))
differentiable("flip", lambda x: torch.flip(x, (1, 2)), tensor(2, 3, 17))
differentiable("squeeze", torch.squeeze, tensor(1, 3, 1, 4))
differentiable("squeeze_axes", lambda x: x.squeeze(2).squeeze(0), tensor(1, 3, 1, 1))
differentiable("squeeze_transposed", lambda x: x.permute(2, 1, 0).squeeze(1), tensor(4, 1, 3))

# Readers of views
differentiable("sum_of_slice", lambda x: steps(x, S(1, None), S(None, None, -2)).sum(), tensor(5, 41))
differentiable("row_sums_of_slice", lambda x: steps(x, S(1, 4), S(1, 20)).sum(1), tensor(5, 23))
differentiable("column_sums_of_slice", lambda x: steps(x, S(None, None, 2), S(2, 39)).sum(0), tensor(5, 41))
differentiable("matmul_of_slices", lambda a, b: steps(a, S(None, None, -1), S(1, 18)) @ steps(b, S(17, 0, -1), S(None, None, 2)),
               tensor(9, 19), tensor(18, 20))
differentiable("matmul_of_steps", lambda a, b: steps(a, S(None), S(None, None, 2)) @ steps(b, S(None, None, 3), S(None, None, -2)),
               tensor(5, 24), tensor(36, 14))
differentiable("softmax_of_slice", lambda x: torch.softmax(steps(x, S(None), S(None, None, -2)), 1), tensor(4, 37))
differentiable("reshape_of_slice", lambda x: steps(x, S(None), S(1, 4)).reshape(2, -1), tensor(4, 6))
differentiable("mul_of_slices", lambda x: steps(x, S(None), S(0, 20)) * steps(x, S(None), S(20, 40)), tensor(3, 40))
differentiable("rotary", lambda x: torch.stack(
    (-steps(x, ..., S(1, None, 2)), steps(x, ..., S(0, None, 2)) * 2), -1).reshape(3, 20), tensor(3, 20))

differentiable("subscript_rows", lambda x, i: x[i.long()], tensor(5, 3), torch.tensor([[4, 0], [1, 4]]))
differentiable("subscript_mask", lambda x, m: torch.where(m.bool(), x, 0.0), tensor(5, 3), torch.tensor([1, 0, 1]))

# Gradients of several slices of one tensor
differentiable("slices_with_gaps", lambda x: steps(x, S(1, 3)) * 2 + steps(x, S(5, 7)), tensor(9, 5))
differentiable("slices_overlap", lambda x: steps(x, S(0, 5)) * steps(x, S(1, 6)) + steps(x, S(2, 7)), tensor(7, 3))
differentiable("slices_two_axes", lambda x: steps(x, S(0, 2), S(1, 4)) + steps(x, S(1, 3), S(0, 3)) * steps(x, S(2, None, -1), S(1, 4))[1:],
               tensor(3, 4))
differentiable("rows_by_number", lambda x: x[0] * x[2] + x[-1], tensor(4, 6))
differentiable("slice_and_whole", lambda x: steps(x, S(1, 2)) * x, tensor(3, 4))

# Concat and split
differentiable("concat_rows", lambda a, b, c: torch.cat((a, b, c)), tensor(2, 5), tensor(1, 5), tensor(4, 5))
differentiable("concat_columns", lambda a, b, c: torch.cat((a, b, c), 1), tensor(3, 17), tensor(3, 1), tensor(3, 6))
differentiable("concat_middle", lambda a, b: torch.cat((a, b), -2), tensor(2, 3, 4), tensor(2, 1, 4))
differentiable("concat_of_one", lambda a: torch.cat((a,)), tensor(3))
differentiable("concat_twice_the_same", lambda a: torch.cat((a, a), 1), tensor(2, 3))
differentiable("concat_of_made", lambda a, b: torch.cat((a.exp(), (a @ b) * 2), 1) * 3, tensor(4, 4), tensor(4, 5))
differentiable("concat_of_views", lambda a, b: torch.cat((a.T, steps(b, S(None, None, -2))), 0), tensor(3, 4), tensor(5, 3))
differentiable("split_equal", lambda x: x[:2] * x[2:4] + x[4:], tensor(6, 5))
differentiable("split_lengths", lambda x: torch.cat((x[:, 5:6] * x[:, :5], x[:, 6:] + 1), 1), tensor(2, 9))
differentiable("split_one_unused", lambda x: x[:, 3:6] * 2, tensor(2, 9))

# Diagonals
differentiable("diag_square", torch.diag, tensor(4, 4))
differentiable("diag_wide", torch.diag, tensor(3, 5))
differentiable("diag_tall", torch.diag, tensor(5, 3))
differentiable("diag_of_vector", torch.diag, tensor(4))

# In place, and values as they were
forward("slice_in_place", lambda x, u: torch.cat((x[:1], torch.cat((x[1:4, :2], x[1:4, 2:5] + u, x[1:4, 5:]), 1), x[4:])),
        tensor(6, 7), tensor(3, 3))
forward("slice_back_in_place", lambda x, u: x + torch.stack((0 * u, u.flip(0), 0 * u)), tensor(3, 5), tensor(5))
forward("diagonal_early", lambda x, u: (x[1:3] + 0, x + u), tensor(4, 3), tensor(4, 3))
forward("init_and_fill", lambda u: torch.cat((torch.zeros(2, 3), u, torch.zeros(1, 3))), tensor(2, 3))

# Other dtypes: bits move, numbers do not
KINDS = (("i8", -100, 100), ("u8", 0, 200), ("i16", -9000, 9000), ("i32", -9, 9), ("i64", -9, 9), ("u64", 0, 9),
                        ("bool", 0, 2), ("f16", -9, 9), ("f64", -9, 9), ("u16", 0, 60000), ("u32", 0, 2**31))
for kind, low, high in KINDS:
    a, b = (torch.tensor(ops.random.integers(low, high, (3, 5))) for _ in range(2))
    forward(f"parts_{kind}", lambda a, b: (steps(torch.cat((a, b), 1), S(None, None, -2), S(1, 9)), steps(a, 2),
                                          steps(b, S(None), S(None, None, 2)), torch.diag(a), torch.diag(b[1])), a, b)

ops.save("ops_slices.txt")
