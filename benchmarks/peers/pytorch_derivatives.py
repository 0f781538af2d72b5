#!/usr/bin/env python3
"""The problems of derivatives.py in PyTorch: `pytorch_derivatives.py PROBLEM value|derivatives FILE`, measured as protocol.hpp says.

The file has the inputs and the results by hand, as benchmarks/derivatives/problem.hpp writes them. Before anything is measured, the
results are compared: they differ by at most 1e-8 of the largest.
"""
import os
import sys

THREADS = "1"
# torch.set_num_threads alone does not keep PyTorch to one core: these are read when it is loaded
os.environ.update(OMP_NUM_THREADS=THREADS, OPENBLAS_NUM_THREADS=THREADS, MKL_NUM_THREADS=THREADS)

import time  # noqa: E402
from math import log, pi  # noqa: E402

import numpy as np  # noqa: E402
import torch  # noqa: E402

BITS = 14  # of a character


def cut(tensor, *shapes):
    """Parts of a flat tensor, one after the other; -1 for what is left."""
    parts, at = [], 0
    for shape in shapes:
        count = tensor.numel() - at if -1 in shape else int(np.prod(shape))
        parts.append(tensor[at:at + count].reshape(shape))
        at += count
    return parts


class Gmm:
    def __init__(self, inputs, d, k):
        self.logits, self.means, self.matrices, self.points = cut(inputs, (k,), (k, d), (k, d + d * (d - 1) // 2), (-1, d))
        self.parameters = [self.logits, self.means, self.matrices]
        self.d, self.k, self.n = d, k, len(self.points)
        columns, rows = torch.triu_indices(d, d, 1)  # column by column
        self.rows, self.columns = rows, columns
        self.constant = -0.5 * self.n * d * log(2 * pi) + k * (0.5 * (d + 1) * d * log(2)
                                                              + float(torch.mvlgamma(torch.tensor(0.5 * (d + 1)).double(), d)))

    def value(self):
        q, below = self.matrices[:, :self.d], self.matrices[:, self.d:]
        matrix = torch.diag_embed(q.exp())
        matrix = matrix.index_put((torch.arange(self.k)[:, None], self.rows[None], self.columns[None]), below)
        products = self.points @ matrix.reshape(-1, self.d).T - (matrix @ self.means[:, :, None]).reshape(-1)
        squares = products.square().reshape(self.n, self.k, self.d).sum(-1)
        terms = self.logits + q.sum(-1) - 0.5 * squares
        prior = 0.5 * (q.exp().square().sum() + below.square().sum())
        return terms.logsumexp(-1).sum() - self.n * self.logits.logsumexp(0) + prior + self.constant

    def derivatives(self):
        return torch.autograd.grad(self.value(), self.parameters)


class Lstm:
    def __init__(self, inputs, layers, _):
        self.weights, self.extra, self.state, self.characters = cut(inputs, (layers, 2, 4, BITS), (3, BITS), (layers, 2, BITS),
                                                                    (-1, BITS))
        self.parameters = [self.weights, self.extra]

    def value(self):
        total, (scale, factor, bias) = 0, self.extra
        layers = [(*weight, *offset) for weight, offset in self.weights]
        state = [tuple(pair) for pair in self.state]
        for given, following in zip(self.characters[:-1], self.characters[1:]):
            x = given * scale
            for i, (w0, w1, w2, w3, b0, b1, b2, b3) in enumerate(layers):
                hidden, cell = state[i]
                forget, in_, out = torch.sigmoid(x * w0 + b0), torch.sigmoid(hidden * w1 + b1), torch.sigmoid(x * w2 + b2)
                cell = cell * forget + in_ * torch.tanh(hidden * w3 + b3)
                x = out * torch.tanh(cell)
                state[i] = x, cell
            y = x * factor + bias
            total = total + (following * y).sum() - following.sum() * torch.log(y.exp().sum() + 2)
        return -total / (len(self.characters) - 1) / BITS

    derivatives = Gmm.derivatives


class Bundle:
    def __init__(self, inputs):
        cameras, points, count = 49, 7776, 31843
        cameras, points, self.weights, self.places, of_camera, of_point = cut(inputs, (cameras, 11), (points, 3), (count, 1), (count, 2),
                                                                              (count,), (count,))
        rows = torch.cat([cameras[of_camera.long()], points[of_point.long()], self.weights], 1)
        self.rows, self.parameters = rows, [rows]

    def errors(self):
        r, x, w = self.rows[:, :3], self.rows[:, 11:14] - self.rows[:, 3:6], self.rows[:, 14:]
        angle = r.square().sum(1, keepdim=True).sqrt()
        axis, cos, sin = r / angle, angle.cos(), angle.sin()
        rotated = x * cos + torch.cross(axis, x, dim=1) * sin + axis * (axis * x).sum(1, keepdim=True) * (1 - cos)
        seen = rotated[:, :2] / rotated[:, 2:]
        square = seen.square().sum(1, keepdim=True)
        factor = (1 + square * (self.rows[:, 9:10] + square * self.rows[:, 10:11])) * self.rows[:, 6:7]
        return (seen * factor + self.rows[:, 7:9] - self.places) * w

    def value(self):
        return self.errors(), 1 - self.weights.square()

    def derivatives(self):
        errors = self.errors()
        lines = [torch.autograd.grad(errors[:, i].sum(), self.rows, retain_graph=i == 0)[0] for i in range(2)]
        return torch.stack(lines, 1), -2 * self.weights.detach()


def flat(results):
    return torch.cat([each.detach().reshape(-1) for each in (results if isinstance(results, (list, tuple)) else [results])]).numpy()


def main():
    torch.set_num_threads(int(THREADS))
    name, what, path = sys.argv[1:]
    numbers, lists = np.fromfile(path), []
    while len(numbers):
        count = int(numbers[0])
        lists.append(numbers[1:count + 1])
        numbers = numbers[count + 1:]
    inputs, expected = torch.from_numpy(lists[0]), lists[1 if what == "value" else 2]
    kind, *sizes = name.split("-")
    problem = {"gmm": Gmm, "lstm": Lstm, "bundle": Bundle}[kind](inputs, *map(int, sizes))
    if what == "derivatives":
        for parameter in problem.parameters:
            parameter.requires_grad_()
    compute = getattr(problem, what)
    difference = np.abs(flat(compute()) - expected).max() / np.abs(expected).max()
    print(f"  within {difference:.1e} of the largest", file=sys.stderr)
    if not difference <= 1e-8:
        sys.exit("other results than by hand")
    print("ready", flush=True)
    for line in sys.stdin:
        seconds, least, start = float(line), float("inf"), time.perf_counter()
        while least == float("inf") or time.perf_counter() - start < seconds:
            begin = time.perf_counter()
            compute()
            least = min(least, time.perf_counter() - begin)
        print(f"it/s {1 / least:.3f} threads {torch.get_num_threads()}", flush=True)


if __name__ == "__main__":
    main()
