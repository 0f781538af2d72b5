#!/usr/bin/python3
"""Writes programs.txt: what whole programs compute, by PyTorch in float64.

    python3 tests/reference/make_programs.py        (Debian: apt-get install python3-torch python3-numpy)

The format is that of ops.txt.
"""

from pathlib import Path

import numpy as np
import torch

random = np.random.default_rng(7)
lines = []


def tensor(*shape):
    """Multiples of 1/64 in [-1, 1]."""
    return torch.tensor(np.round(random.uniform(-1, 1, shape) * 64) / 64)


def write(name, values):
    array = values.detach().numpy()
    elements = " ".join(format(element, ".9g") for element in array.reshape(-1).tolist())
    lines.append(" ".join([name, str(array.ndim), *map(str, array.shape), elements]))


def gradients(name, function, inputs, dy):
    """Inputs, result, and the gradients of all inputs for the gradient dy of the result."""
    for i, x in enumerate(inputs):
        write(f"{name}.x{i}", x)
    leaves = [x.clone().requires_grad_() for x in inputs]
    y = function(*leaves)
    write(f"{name}.dy", dy)
    write(f"{name}.y", y)
    y.backward(dy)
    for i, x in enumerate(leaves):
        write(f"{name}.dx{i}", torch.zeros_like(x) if x.grad is None else x.grad)


def recurrent(x, w, b):
    for _ in range(5):
        x = torch.tanh(x @ w + b) * x + b
    return x


gradients("repeat", recurrent, [tensor(4, 3), tensor(3, 3), tensor(3)], tensor(4, 3))
branches = [tensor(4, 3), tensor(3, 3)]
gradients("then", lambda x, w: torch.tanh(x @ w) * x, branches, tensor(4, 3))
gradients("else", lambda x, w: x * x * x, branches, tensor(4, 3))

start, steps = tensor(2, 3), tensor(6, 2, 3)
write("optimiser.start", start)
write("optimiser.gradients", steps)


def optimise(name, make):
    weight = start.clone().requires_grad_()
    optimiser = make([weight])
    for gradient in steps:
        weight.grad = gradient.clone()
        optimiser.step()
    write(f"optimiser.{name}", weight)


optimise("adam", lambda w: torch.optim.Adam(w, lr=0.01, eps=1e-5))
optimise("adamw", lambda w: torch.optim.AdamW(w, lr=0.01, weight_decay=0.1))
optimise("sgd", lambda w: torch.optim.SGD(w, lr=0.1, weight_decay=0.1))
optimise("momentum", lambda w: torch.optim.SGD(w, lr=0.1, momentum=0.9))
optimise("nesterov", lambda w: torch.optim.SGD(w, lr=0.1, momentum=0.9, weight_decay=0.1, nesterov=True))


def lamb(lr, beta1, beta2, epsilon, weight_decay, max_weight_norm):
    """arXiv 1904.00962, algorithm 2."""
    w, m, v = start.clone(), torch.zeros_like(start), torch.zeros_like(start)
    for t, g in enumerate(steps, 1):
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        step = m / (1 - beta1**t) / ((v / (1 - beta2**t)).sqrt() + epsilon) + weight_decay * w
        w = w - lr * min(w.norm().item(), max_weight_norm) / step.norm() * step
    return w


write("optimiser.lamb", lamb(0.01, 0.9, 0.999, 1e-6, 0.1, 1.0))


def tensor_parallel():
    """Three steps of Adam for (x f1) f2 with mean squared error, on all of a batch."""
    f1, f2, x, target = tensor(6, 8), tensor(8, 4), tensor(3, 8, 6), tensor(3, 8, 4)
    for name, values in ("f1", f1), ("f2", f2), ("x", x), ("target", target):
        write(f"tensor_parallel.{name}", values)
    weights = [f1.clone().requires_grad_(), f2.clone().requires_grad_()]
    optimiser = torch.optim.Adam(weights, lr=0.01, eps=1e-5)
    results = []
    for inputs, targets in zip(x, target):
        y = (inputs @ weights[0]) @ weights[1]
        results.append(y.detach())
        optimiser.zero_grad()
        ((y - targets) ** 2).mean().backward()
        optimiser.step()
    write("tensor_parallel.y", torch.stack(results))
    for name, weight in zip(("f1", "f2"), weights):
        write(f"tensor_parallel.new_{name}", weight)
        state = optimiser.state[weight]
        write(f"tensor_parallel.{name}.first_order", state["exp_avg"])
        write(f"tensor_parallel.{name}.second_order", state["exp_avg_sq"])


def schedule(name, make):
    weight = torch.zeros(1, requires_grad=True)
    optimiser = torch.optim.SGD([weight], lr=0.5)
    scheduler = make(optimiser)
    rates = []
    for _ in range(12):
        rates.append(scheduler.get_last_lr()[0])
        optimiser.step()
        scheduler.step()
    write(f"schedule.{name}", torch.tensor(rates, dtype=torch.float64))


rates = torch.optim.lr_scheduler
schedule("step", lambda o: rates.StepLR(o, step_size=5, gamma=0.1))
schedule("linear", lambda o: rates.LinearLR(o, start_factor=1, end_factor=0.2, total_iters=8))
# of CosineAnnealingLR only the way down: it rises again afterwards
schedule("cosine", lambda o: rates.CosineAnnealingLR(o, T_max=11, eta_min=0.1))
tensor_parallel()

Path(__file__).with_name("programs.txt").write_text("\n".join(lines) + "\n")
