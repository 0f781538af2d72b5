#!/usr/bin/python3
"""Writes optimisers.txt: weights after each step of optimisers, by PyTorch 1.13 in float64, or by a paper's algorithm in NumPy.

    /usr/bin/python3 tests/reference/make_optimisers.py        (Debian: apt-get install python3-torch python3-numpy)

12 steps of a weight of 2 x 4 elements with given gradients. One element has no gradient at all, and the gradients of the steps 4
to 7 are larger than the others, so that AMSGrad differs from Adam. The weights of `half.` start from numbers of float16 and are
rounded to float16 after each step; the state and the arithmetic are NumPy's in float32. The format is that of ops.txt.
"""

from pathlib import Path

import numpy as np
import torch

STEPS = 12
random = np.random.default_rng(11)
lines = []


def write(name, values):
    array = np.asarray(values, dtype=np.float64)
    elements = " ".join(format(element, ".9g") for element in array.reshape(-1).tolist())
    lines.append(" ".join([name, str(array.ndim), *map(str, array.shape), elements]))


def multiples(*shape):
    """Multiples of 1/64 in [-1, 1], none of them 0: float16 has them exactly."""
    values = np.round(random.uniform(-1, 1, shape) * 64) / 64
    return np.where(values == 0, 0.5, values)


start, gradients = multiples(2, 4), multiples(STEPS, 2, 4)
gradients[4:8] *= 4
gradients[:, 1, 3] = 0
write("start", start)
write("gradients", gradients)


def torch_steps(name, make):
    weight = torch.nn.Parameter(torch.tensor(start))
    optimiser = make([weight])
    weights = []
    for gradient in gradients:
        weight.grad = torch.tensor(gradient)
        optimiser.step()
        weights.append(weight.detach().numpy().copy())
    write(name, weights)
    return np.array(weights)


optim = torch.optim
torch_steps("sgd", lambda w: optim.SGD(w, 1e-3))
torch_steps("adamw", lambda w: optim.AdamW(w))
torch_steps("rmsprop", lambda w: optim.RMSprop(w))
torch_steps("rmsprop.decay", lambda w: optim.RMSprop(w, lr=0.02, alpha=0.9, eps=1e-3, weight_decay=0.1))
torch_steps("rmsprop.momentum", lambda w: optim.RMSprop(w, lr=0.02, alpha=0.9, eps=1e-6, momentum=0.9))
torch_steps("rmsprop.centered", lambda w: optim.RMSprop(w, lr=0.02, alpha=0.9, eps=1e-3, centered=True))
torch_steps(
    "rmsprop.all", lambda w: optim.RMSprop(w, lr=0.02, alpha=0.8, eps=0.01, weight_decay=0.1, momentum=0.5, centered=True)
)
torch_steps("adagrad", lambda w: optim.Adagrad(w))
torch_steps("adagrad.decay", lambda w: optim.Adagrad(w, lr=0.1, lr_decay=0.2, weight_decay=0.1))
torch_steps("adagrad.initial", lambda w: optim.Adagrad(w, lr=0.1, initial_accumulator_value=0.25, eps=0.01))
bounded = torch_steps("adam.amsgrad", lambda w: optim.Adam(w, lr=0.02, betas=(0.8, 0.7), eps=1e-5, amsgrad=True))
torch_steps("adamw.amsgrad", lambda w: optim.AdamW(w, lr=0.02, betas=(0.8, 0.7), weight_decay=0.1, amsgrad=True))
plain = torch_steps("adam.plain", lambda w: optim.Adam(w, lr=0.02, betas=(0.8, 0.7), eps=1e-5))
assert np.abs(bounded - plain).max() > 0.01


def lion(dtype, lr, beta1, beta2, weight_decay):
    """arXiv 2302.06675, algorithm 2."""
    number = np.float32 if dtype == np.float16 else np.float64
    weight, moment, weights = start.astype(dtype), np.zeros_like(start, number), []
    for gradient in gradients.astype(number):
        direction = number(beta1) * moment + number(1 - beta1) * gradient
        assert np.all((np.abs(direction) > 1e-4) | (direction == 0))  # rounding does not change a sign
        step = np.sign(direction) + number(weight_decay) * weight.astype(number)
        weight = (weight.astype(number) - number(lr) * step).astype(dtype)
        moment = number(beta2) * moment + number(1 - beta2) * gradient
        weights.append(weight)
    return weights


write("lion", lion(np.float64, 1e-4, 0.9, 0.99, 0))
write("lion.decay", lion(np.float64, 0.02, 0.8, 0.9, 0.5))


# float16 weights, float32 state

F = np.float32


def half_steps(name, step):
    """step(weight, gradient, t) in float32: the new weight."""
    weight, weights = start.astype(np.float16), []
    for t, gradient in enumerate(gradients.astype(F)):
        weight = step(weight.astype(F), gradient, t).astype(np.float16)
        weights.append(weight)
    write(f"half.{name}", weights)


def rmsprop(lr, alpha, eps, weight_decay, momentum, centered):
    square, mean, velocity = (np.zeros_like(start, F) for _ in range(3))

    def step(weight, gradient, _):
        nonlocal square, mean, velocity
        gradient = gradient + F(weight_decay) * weight
        square = F(alpha) * square + F(1 - alpha) * gradient * gradient
        mean = F(alpha) * mean + F(1 - alpha) * gradient
        root = np.sqrt(square - mean * mean if centered else square)
        velocity = F(momentum) * velocity + gradient / (root + F(eps))
        return weight - F(lr) * velocity

    return step


def adagrad(lr, lr_decay, weight_decay, eps):
    total = np.zeros_like(start, F)

    def step(weight, gradient, t):
        nonlocal total
        gradient = gradient + F(weight_decay) * weight
        total = total + gradient * gradient
        return weight - F(lr / (1 + t * lr_decay)) * (gradient / (np.sqrt(total) + F(eps)))

    return step


def amsgrad(lr, beta1, beta2, eps, weight_decay):
    first, second, largest = (np.zeros_like(start, F) for _ in range(3))

    def step(weight, gradient, t):
        nonlocal first, second, largest
        first = F(beta1) * first + F(1 - beta1) * gradient
        second = F(beta2) * second + F(1 - beta2) * gradient * gradient
        largest = np.maximum(largest, second)
        root = np.sqrt(largest / F(1 - beta2 ** (t + 1)))
        return weight - F(lr) * (first / F(1 - beta1 ** (t + 1)) / (root + F(eps)) + F(weight_decay) * weight)

    return step


half_steps("rmsprop", rmsprop(0.02, 0.9, 1e-3, 0.1, 0, False))
half_steps("rmsprop.all", rmsprop(0.02, 0.8, 0.01, 0.1, 0.5, True))
half_steps("adagrad", adagrad(0.1, 0.2, 0.1, 1e-6))
half_steps("adamw.amsgrad", amsgrad(0.02, 0.8, 0.7, 1e-6, 0.1))
write("half.lion", lion(np.float16, 0.02, 0.8, 0.9, 0.5))

path = Path(__file__).with_name("optimisers.txt")
path.write_text("\n".join(lines) + "\n")
print(f"{path.name}: {len(lines)} tensors, {path.stat().st_size} bytes")
