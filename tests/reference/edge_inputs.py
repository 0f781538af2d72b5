"""Inputs at the edges of dtypes, of several kinds, and the gradients that meet with them: make_edge_values.py gives them to cases."""

import zlib

import numpy as np
import torch

inf = float("inf")
# Largest, smallest normal and smallest denormal number, and the scale of a distance of neighbours.
TYPES = {"f16": (torch.float16, 65504.0, 2.0**-14, 2.0**-24, 2.0**-10),
         "bf16": (torch.bfloat16, 3.38e38, 2.0**-126, 2.0**-133, 2.0**-7),
         "f32": (torch.float32, 3.4e38, 2.0**-126, 2.0**-149, 2.0**-23)}
TAILS = [-16, -9, -5.5, -0.125, 0.25, 3, 8, 11]
FAR_TAILS = [-103, -87.5, -50, -17, 10, 17, 33, 85]
KINDS = ["largest", "smallest", "denormal", "equal", "close", "one_huge", "wide", "tails", "zeros"]
EACH = ["largest", "smallest", "denormal", "tails", "zeros", "widest"]  # of ops of single elements
POWERS = ["largest", "smallest", "denormal", "wide", "tails"]  # not at zero
MOVES = ["largest", "denormal", "one_huge"]


def rounded(dtype, x):
    return torch.as_tensor(x, dtype=torch.float64).to(TYPES[dtype][0]).double()


def elements(dtype, kind, count, slot):
    """Inputs of one kind; equal arguments give equal ones."""
    random = np.random.default_rng(zlib.crc32(f"{dtype} {kind} {count} {slot}".encode()))
    _, _, _, least, distance = TYPES[dtype]
    signs = random.choice([-1.0, 1.0], count)
    if kind == "largest":
        halves, floats = [65504.0, 6e4, 4e4, 2e4], [3.38e38, 3e38, 2e38, 1e38]
        x = signs * random.choice(halves if dtype == "f16" else floats, count)
    elif kind == "smallest":
        x = signs * (random.choice([6.2e-5, 1e-4, 2e-4], count) if dtype == "f16" else random.choice([1.2e-30, 2e-30, 3e-30], count))
    elif kind == "denormal":
        x = signs * least * random.integers(1, 100, count)
    elif kind == "equal":
        x = np.full(count, 100.0 + 4 * slot)
    elif kind == "close":
        x = 100 + 64 * distance * random.integers(0, 4, count)
    elif kind == "one_huge":
        x = np.round(random.uniform(-1, 1, count) * 64) / 64
        x[3::5] = 8000 if dtype == "f16" else 4e37
    elif kind in ("wide", "widest"):
        exponents = random.integers(*(-4, 5) if dtype == "f16" else (-18, 19) if kind == "wide" else (-37, 38), count)
        x = signs * random.choice([1, 2, 3], count) * 10.0**exponents
    elif kind == "tails":
        tails = FAR_TAILS if dtype == "f32" and slot % 2 else TAILS
        x = np.array([tails[(i + 5 * slot) % len(tails)] for i in range(count)], dtype=float)
    elif kind == "zeros":
        x = np.zeros(count)
    else:
        x = np.round(random.uniform(-2, 2, count) * 16) / 16
        x = np.where(np.abs(x) < 0.125, 0.25, x)
    return rounded(dtype, x)


def gradients(dtype, kind, count):
    """The gradient of a result: such as meet with the inputs of a kind in training, scales of losses among them."""
    x = elements(dtype, "usual", count, 9)
    if kind == "tails":
        x = x * 0 + 2.0**15
    elif kind == "largest":
        x = x * (2.0**-12 if dtype == "f16" else 1e-30)
    elif kind == "smallest":
        x = x * (2.0**11 if dtype == "f16" else 1e30)
    elif kind in ("equal", "zeros"):
        x = x * 0 + 1
    elif kind == "one_huge":
        x = x * 0 + 1
        x[::6] = {"f16": 2.0**11, "bf16": 2.0**8, "f32": 2.0**24}[dtype]
    elif kind in ("wide", "widest"):
        x = elements(dtype, kind, count, 9)
    return rounded(dtype, x)


class Input:
    """An input of floating point: a shape, and what the case takes of the kinds' elements."""

    def __init__(self, *shape, positive=False, nonzero=False, below=inf, above=0.0, hidden=()):
        self.shape, self.positive, self.nonzero, self.below, self.above, self.hidden = shape, positive, nonzero, below, above, hidden

    def make(self, dtype, kind, slot):
        x = elements(dtype, "usual" if kind == "hidden" else kind, int(np.prod(self.shape)), slot)
        if self.positive:
            x = x.abs()
        if self.nonzero or self.positive and kind != "zeros":
            x = torch.where(x == 0, 1.0, x)
        x = torch.where(x.abs() > self.below, x.sign() * rounded(dtype, self.below * (0.5 + x.abs() / TYPES[dtype][1] / 2)), x)
        x = torch.where((x.abs() < self.above) & ((x != 0) | self.positive | self.nonzero), rounded(dtype, self.above), x)
        if kind == "hidden":
            for i, value in self.hidden:
                x[i] = value
        return rounded(dtype, x).reshape(self.shape)


def flushed(dtype, x):
    return torch.where(x.abs() < 2.0**-126, 0.0, x) if dtype != "f16" else x
