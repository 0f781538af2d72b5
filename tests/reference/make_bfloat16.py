#!/usr/bin/env python3
"""Writes ops_bfloat16.txt, ops on numbers of bfloat16, and state/bfloat16.safetensors, floats that PyTorch rounds to bfloat16.

    /usr/bin/python3 tests/reference/make_bfloat16.py

Ops are computed in bfloat16, but in float64 where PyTorch 1.13 rounds in between: partial sums of products, normalised lines, scores.
Element i of `rounded` is the float with the bits i 2^16 + 40503 i mod 2^16, but
half of the next number's distance above bfloat16 number i for every third: so all signs and exponents are rounded, and ties.
"""

import json
import struct
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from fixtures import Fixtures

f = Fixtures(16)
tensor = f.tensor


def in_bfloat16(name, op, *inputs):
    """A case with gradients, all computed in bfloat16."""
    inputs = [x.bfloat16().requires_grad_() for x in inputs]
    y = op(*inputs)
    dy = tensor(*y.shape).bfloat16()
    y.backward(dy)
    for kind, values in ("x", inputs), ("y", [y]), ("dy", [dy]), ("dx", [x.grad for x in inputs]):
        for i, value in enumerate(values):
            f.write(f"bfloat16_{name}.{kind}{i}", value.detach().double())


in_bfloat16("add", torch.add, tensor(3, 7), tensor(7))
in_bfloat16("mul", torch.mul, tensor(3, 7), tensor(3, 1))
in_bfloat16("sum", lambda x: x.sum(0), tensor(5, 19))
in_bfloat16("mean", lambda x: x.mean(1), tensor(5, 37))
in_bfloat16("softmax", lambda x: torch.softmax(x, 1), tensor(3, 37))
in_bfloat16("conv", lambda x, w: F.conv2d(x, w, padding=1), tensor(2, 5, 6, 7), tensor(17, 5, 3, 3))
in_bfloat16("to_float32_and_back", lambda x: (x.float() * 0.3).bfloat16(), tensor(3, 19))


def attention(q, k, v):
    scores = q @ k.transpose(-1, -2) / 16**0.5
    return torch.softmax(scores.masked_fill(torch.ones(9, 9).triu(1).bool(), -torch.inf), -1) @ v


f.differentiable("bfloat16_matmul", torch.matmul, tensor(5, 37), tensor(37, 19))
f.differentiable("bfloat16_layer_norm", lambda x, w, b: F.layer_norm(x, (37,), w, b), tensor(3, 37), tensor(37), tensor(37))
f.differentiable("bfloat16_attention", attention, *[tensor(1, 2, 9, 16) for _ in range(3)])
f.save("ops_bfloat16.txt")

numbers = np.arange(1 << 16, dtype=np.uint32)
low = np.where(numbers % 3 == 0, 0x8000, numbers * 40503 % (1 << 16)).astype(np.uint32)
rounded = torch.from_numpy((numbers << 16 | low).view(np.float32)).bfloat16().view(torch.int16).numpy()
header = json.dumps({"rounded": {"dtype": "BF16", "shape": [1 << 16], "data_offsets": [0, 2 << 16]}}).encode()
Path(__file__).with_name("state").joinpath("bfloat16.safetensors").write_bytes(
    struct.pack("<Q", len(header)) + header + rounded.astype("<i2").tobytes())
