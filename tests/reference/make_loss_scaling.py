#!/usr/bin/env python3
"""Writes loss_scaling.txt: steps of one layer with PyTorch's GradScaler, in float32. Needs PyTorch 2.3 or later, whose GradScaler
works on the CPU.

    python3 tests/reference/make_loss_scaling.py

12 images of 4 numbers, 3 classes. Step 4 and step 9 have an infinite number in an image: they are skipped. The scale grows after
3 steps that were not. The format is that of ops.txt.
"""

from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

STEPS, SKIPPED, INTERVAL = 12, (4, 9), 3
random = np.random.default_rng(5)
lines = []


def tensor(*shape):
    """Multiples of 1/64."""
    return torch.tensor(np.round(random.uniform(-1, 1, shape) * 64) / 64, dtype=torch.float32)


def write(name, values):
    array = values.detach().numpy()
    elements = " ".join(format(element, ".9g") for element in array.reshape(-1).tolist())
    lines.append(" ".join([name, str(array.ndim), *map(str, array.shape), elements]))


images, labels, start = tensor(STEPS, 12, 4), torch.tensor(random.integers(0, 3, (STEPS, 12))), tensor(4, 3)
for step in SKIPPED:
    images[step, 5, 2] = torch.inf
write("images", images)
write("labels", labels)
write("start", start)


def train(name, make, max_norm, init_scale):
    weight = torch.nn.Parameter(start.clone())
    optimiser = make([weight])
    scaler = torch.amp.GradScaler("cpu", init_scale=init_scale, growth_interval=INTERVAL)
    weights, scales = [], []
    for step in range(STEPS):
        optimiser.zero_grad()
        scaler.scale(F.cross_entropy(images[step] @ weight, labels[step])).backward()
        scaler.unscale_(optimiser)
        if max_norm:
            torch.nn.utils.clip_grad_norm_([weight], max_norm)
        scaler.step(optimiser)
        scaler.update()
        weights.append(weight.detach().clone())
        scales.append(scaler.get_scale())
    write(f"{name}.weights", torch.stack(weights))
    write(f"{name}.scales", torch.tensor(scales))


train("adamw", lambda weights: torch.optim.AdamW(weights, lr=0.05, weight_decay=0.1), 0.125, 65536)
train("momentum", lambda weights: torch.optim.SGD(weights, lr=0.5, momentum=0.9), 0, 1024)
train("descent", lambda weights: torch.optim.SGD(weights, lr=0.5), 0, 1024)

path = Path(__file__).with_name("loss_scaling.txt")
path.write_text("\n".join(lines) + "\n")
print(f"{path.name}: {len(lines)} tensors, {path.stat().st_size} bytes")
