#!/usr/bin/python3
"""Writes tensor_parallel.txt: what replicas with parts of a network compute together, computed on whole tensors in float64.

    python3 tests/reference/make_tensor_parallel.py        (Debian: apt-get install python3-torch python3-numpy)

Cases `loss_mean`, `loss_sum`, `loss_none` and `norm` are those of other files: x0, x1, ..., y0, dy0, dx0, ... `gpt` is a GPT with
one block: its weights, the gradients `gpt.d.NAME` of the first step, and the losses of 20 steps of gradient descent.
"""

import torch
import torch.nn.functional as F
from fixtures import Fixtures

BATCH, LENGTH, VOCABULARY, WIDTH, HEADS, HIDDEN, STEPS, LEARNING_RATE = 2, 6, 20, 16, 4, 32, 20, 0.1
IGNORED = 3
fixtures = Fixtures(2043)


def losses():
    logits, labels = fixtures.tensor(5, 8), torch.tensor([7, 0, IGNORED, 4, 2])
    for reduction in "mean", "sum", "none":
        fixtures.differentiable(f"loss_{reduction}", lambda x, y: F.cross_entropy(x, y, ignore_index=IGNORED, reduction=reduction),
                                logits.clone(), labels)


def norm():
    fixtures.differentiable("norm", lambda x, w, b: F.layer_norm(x, (8,), w, b), fixtures.tensor(5, 8), fixtures.tensor(8),
                            fixtures.tensor(8))


def loss_of(w, text, labels):
    def normed(name, x):
        return F.layer_norm(x, (WIDTH,), w[f"{name}.weight"], w[f"{name}.bias"])

    def linear(name, x):
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    x = w["wte.weight"][text] + w["wpe"]
    q, k, v = linear("attn.c_attn", normed("ln_1", x)).reshape(BATCH, LENGTH, HEADS, 3, -1).permute(3, 0, 2, 1, 4)
    scores = q @ k.transpose(-1, -2) / (WIDTH / HEADS) ** 0.5
    scores = scores.masked_fill(torch.ones(LENGTH, LENGTH).triu(1).bool(), -torch.inf)
    mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(BATCH, LENGTH, WIDTH)
    x = x + linear("attn.c_proj", mixed)
    x = x + linear("mlp.c_proj", F.gelu(linear("mlp.c_fc", normed("ln_2", x)), approximate="tanh"))
    logits = normed("ln_f", x) @ w["wte.weight"].T
    return F.cross_entropy(logits.reshape(-1, VOCABULARY), labels.reshape(-1))


def gpt():
    shapes = {"wte.weight": (VOCABULARY, WIDTH), "wpe": (LENGTH, WIDTH), "attn.c_attn.weight": (WIDTH, 3 * WIDTH),
              "attn.c_attn.bias": (3 * WIDTH,), "attn.c_proj.weight": (WIDTH, WIDTH), "attn.c_proj.bias": (WIDTH,),
              "mlp.c_fc.weight": (WIDTH, HIDDEN), "mlp.c_fc.bias": (HIDDEN,), "mlp.c_proj.weight": (HIDDEN, WIDTH),
              "mlp.c_proj.bias": (WIDTH,)}
    for name in "ln_1", "ln_2", "ln_f":
        shapes |= {f"{name}.weight": (WIDTH,), f"{name}.bias": (WIDTH,)}
    w = {name: fixtures.tensor(*shape, low=-0.5, high=0.5) for name, shape in shapes.items()}
    text, labels = (fixtures.integers(BATCH, LENGTH, low=0, high=VOCABULARY - 1) for _ in range(2))
    for name, values in [*w.items(), ("text", text), ("labels", labels)]:
        fixtures.write(f"gpt.{name}", values)
    losses_of_steps = []
    for step in range(STEPS):
        for weight in w.values():
            weight.requires_grad_().grad = None
        loss = loss_of(w, text, labels)
        loss.backward()
        losses_of_steps.append(loss.item())
        if step == 0:
            for name, weight in w.items():
                fixtures.write(f"gpt.d.{name}", weight.grad)
        w = {name: (weight - LEARNING_RATE * weight.grad).detach() for name, weight in w.items()}
    fixtures.write("gpt.losses", torch.tensor(losses_of_steps, dtype=torch.float64))


losses()
norm()
gpt()
fixtures.save("tensor_parallel.txt")
