#!/usr/bin/env python3
"""Writes residuals.txt: those of NumPy's solutions of the systems of tests/run/kernels/matrices.cpp.

/usr/bin/python3 tests/reference/make_residuals.py
"""

from pathlib import Path

import numpy as np

ROWS, COLUMNS, COUNT = 64, 3, 2


def numbers(*shape):
    """Multiples of 2^-23 from -1 to 1, of a linear congruential generator."""
    state, result = 68, []
    for _ in range(int(np.prod(shape))):
        state = (state * 1664525 + 1013904223) % 2**32
        result.append((state >> 8) / 2**23 - 1)
    return np.array(result).reshape(shape)


def residual(a, x, b):
    """The largest |a x - b| beside the largest row of |a| and the largest |x|."""
    a, x = a.astype(np.float64), x.astype(np.float64)
    return max(np.abs(m @ y - c).max() / (np.abs(m).sum(1).max() * np.abs(y).max()) for m, y, c in zip(a, x, b))


general, b = numbers(COUNT, ROWS, ROWS), numbers(COUNT, ROWS, COLUMNS)
triangle = np.tril(general) / 8 + 2 * np.eye(ROWS)
positive = general @ general.transpose(0, 2, 1) / ROWS + np.eye(ROWS) / 8
lines = []
for dtype in (np.float32, np.float64):
    given = [x.astype(dtype) for x in (general, triangle, positive, b)]
    lower = np.linalg.cholesky(given[2]).astype(np.float64)
    results = {"solve": residual(given[0], np.linalg.solve(given[0], given[3]), given[3]),
               "triangle": residual(given[1], np.linalg.solve(given[1], given[3]), given[3]),
               "cholesky": np.abs(lower @ lower.transpose(0, 2, 1) - given[2]).max() / np.abs(given[2]).max()}
    lines += [f"{np.dtype(dtype)}.{name} 0 {value:.6g}" for name, value in results.items()]
(Path(__file__).parent / "residuals.txt").write_text("\n".join(lines) + "\n")
