#!/usr/bin/python3
"""Writes lr_schedulers.txt: the rates, and momenta, that PyTorch 1.13's schedulers set, step by step.

    /usr/bin/python3 tests/reference/make_lr_schedulers.py        (Debian: apt-get install python3-torch)

Rates have all their digits. A line is a list, in the format of ops.txt: <scheduler>.<case>, and with `.momentum` its momenta.
"""

import warnings
from pathlib import Path

import torch
from torch.optim import lr_scheduler as s

warnings.filterwarnings("ignore", message=".*epoch parameter.*")
LR = 0.5
lines = []


def write(name, values):
    lines.append(" ".join([name, "1", str(len(values)), *(format(value, ".17g") for value in values)]))


def rates(name, make, steps=200, momentum=False):
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=LR, momentum=0.5)
    scheduler = make(optimiser)
    found, momenta = [], []
    for step in range(steps):
        found.append(optimiser.param_groups[0]["lr"])
        momenta.append(optimiser.param_groups[0]["momentum"])
        optimiser.step()
        if step + 1 < steps:
            scheduler.step()
    write(name, found)
    if momentum:
        write(f"{name}.momentum", momenta)


rates("LambdaLR.root", lambda o: s.LambdaLR(o, lambda step: (1 + step) ** -0.5))
rates("StepLR.default", lambda o: s.StepLR(o, 30))
rates("StepLR.slow", lambda o: s.StepLR(o, step_size=7, gamma=0.95))
rates("MultiStepLR.default", lambda o: s.MultiStepLR(o, [30, 80, 150]))
rates("MultiStepLR.twice", lambda o: s.MultiStepLR(o, [80, 30, 30, 0], gamma=0.5))
rates("ConstantLR.default", lambda o: s.ConstantLR(o), 20)
rates("ConstantLR.long", lambda o: s.ConstantLR(o, factor=0.25, total_iters=60))
rates("LinearLR.default", lambda o: s.LinearLR(o), 20)
rates("LinearLR.up", lambda o: s.LinearLR(o, start_factor=0.001, end_factor=0.9, total_iters=150))
rates("LinearLR.down", lambda o: s.LinearLR(o, start_factor=1.0, end_factor=0.0, total_iters=100))
rates("ExponentialLR.default", lambda o: s.ExponentialLR(o, 0.9))
rates("ExponentialLR.growing", lambda o: s.ExponentialLR(o, gamma=1.02))
rates("PolynomialLR.default", lambda o: s.PolynomialLR(o), 20)
rates("PolynomialLR.square", lambda o: s.PolynomialLR(o, total_iters=150, power=2.0))
rates("PolynomialLR.root", lambda o: s.PolynomialLR(o, total_iters=90, power=0.5))
rates("CosineAnnealingLR.default", lambda o: s.CosineAnnealingLR(o, 50), 300)
rates("CosineAnnealingLR.least", lambda o: s.CosineAnnealingLR(o, T_max=37, eta_min=0.1), 300)
rates("CosineAnnealingLR.ones", lambda o: s.CosineAnnealingLR(o, T_max=1, eta_min=0.1), 20)
rates("CosineAnnealingWarmRestarts.default", lambda o: s.CosineAnnealingWarmRestarts(o, 30))
rates("CosineAnnealingWarmRestarts.longer", lambda o: s.CosineAnnealingWarmRestarts(o, T_0=10, T_mult=2, eta_min=0.01), 300)
rates("CosineAnnealingWarmRestarts.thrice", lambda o: s.CosineAnnealingWarmRestarts(o, T_0=1, T_mult=3), 200)
rates("OneCycleLR.default", lambda o: s.OneCycleLR(o, 0.4, total_steps=200), 200, True)
rates("OneCycleLR.epochs", lambda o: s.OneCycleLR(o, max_lr=0.4, epochs=7, steps_per_epoch=13), 91, True)
rates(
    "OneCycleLR.linear",
    lambda o: s.OneCycleLR(
        o, max_lr=0.4, total_steps=150, pct_start=0.25, anneal_strategy="linear", base_momentum=0.7, max_momentum=0.9, div_factor=10,
        final_div_factor=100,
    ),
    150,
    True,
)  # fmt: skip
rates("OneCycleLR.three", lambda o: s.OneCycleLR(o, max_lr=0.4, total_steps=150, pct_start=0.37, three_phase=True), 150, True)
rates("OneCycleLR.late", lambda o: s.OneCycleLR(o, max_lr=0.4, total_steps=50, pct_start=0.8, three_phase=True), 50, True)
rates("OneCycleLR.down", lambda o: s.OneCycleLR(o, max_lr=0.4, total_steps=50, pct_start=0.0), 50, True)
rates("OneCycleLR.up", lambda o: s.OneCycleLR(o, max_lr=0.4, total_steps=50, pct_start=1.0), 50, True)
rates("CyclicLR.default", lambda o: s.CyclicLR(o, 0.01, 0.1), 200, True)
rates("CyclicLR.triangular", lambda o: s.CyclicLR(o, base_lr=0.01, max_lr=0.1, step_size_up=13, step_size_down=21), 300, True)
rates("CyclicLR.triangular2", lambda o: s.CyclicLR(o, base_lr=0.01, max_lr=0.1, step_size_up=20, mode="triangular2"), 300, True)
rates(
    "CyclicLR.exp_range",
    lambda o: s.CyclicLR(
        o, base_lr=0.01, max_lr=0.1, step_size_up=20, step_size_down=0, mode="exp_range", gamma=0.99, base_momentum=0.5,
        max_momentum=0.95,
    ),
    200,
    True,
)  # fmt: skip
rates("SequentialLR.two", lambda o: s.SequentialLR(o, [s.LinearLR(o, total_iters=10), s.CosineAnnealingLR(o, T_max=100)], [10]))
rates(
    "SequentialLR.four",
    lambda o: s.SequentialLR(
        o,
        [s.ConstantLR(o, total_iters=20), s.ExponentialLR(o, gamma=0.9), s.StepLR(o, step_size=5),
         s.CosineAnnealingWarmRestarts(o, T_0=8)],
        [15, 60, 90],
    ),
)  # fmt: skip


def plateau(name, metrics, **options):
    """The rates after 0, 1, 2, ... metrics."""
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=LR)
    scheduler = s.ReduceLROnPlateau(optimiser, **options)
    found = [LR]
    for metric in metrics:
        scheduler.step(metric)
        found.append(optimiser.param_groups[0]["lr"])
    write(f"ReduceLROnPlateau.{name}", found)


# falling, with steps up and down between, then flat
metrics = [round(3 / (1 + min(step, 80) // 9) + ((step * 7) % 5 - 2) / 50, 6) for step in range(150)]
write("ReduceLROnPlateau.metrics", metrics)
plateau("default", metrics)
plateau("relative", metrics, factor=0.5, patience=2, threshold=0.2, cooldown=5, min_lr=0.01)
plateau("absolute", metrics, factor=0.5, patience=3, threshold=0.3, threshold_mode="abs", eps=0.02)
plateau("most", metrics, mode="max", factor=0.8, patience=4, cooldown=1)
plateau("most_absolute", metrics, mode="max", factor=0.8, patience=0, threshold=0.01, threshold_mode="abs", min_lr=1e-3)

path = Path(__file__).with_name("lr_schedulers.txt")
path.write_text("\n".join(lines) + "\n")
print(f"{path.name}: {len(lines)} lists, {path.stat().st_size} bytes")
