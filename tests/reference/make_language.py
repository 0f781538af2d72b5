#!/usr/bin/python3
"""Writes language.txt: attention layers and a small GPT-2, by PyTorch in float64.

    python3 tests/reference/make_language.py        (Debian: apt-get install python3-torch python3-numpy)

The format is that of ops.txt. Weights of linear layers are (in, out), the transposed ones of PyTorch's.
"""

from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

random = np.random.default_rng(11)
lines = []


def tensor(*shape, scale=1.0):
    """Multiples of 1/64, times the scale."""
    return torch.tensor(np.round(random.uniform(-1, 1, shape) * 64) / 64 * scale)


def write(name, values):
    array = values.detach().numpy()
    elements = " ".join(format(element, ".9g") for element in array.reshape(-1).tolist())
    lines.append(" ".join([name, str(array.ndim), *map(str, array.shape), elements]))


def attention(name, inputs, causal):
    """torch.nn.MultiheadAttention of 2 heads for the inputs, queries first: values and all gradients."""
    layer = torch.nn.MultiheadAttention(8, 2, batch_first=True).double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(tensor(*parameter.shape))
    inputs = [x.requires_grad_() for x in inputs]
    query, key, value = inputs if len(inputs) == 3 else inputs * 3
    mask = torch.triu(torch.ones(query.shape[1], key.shape[1], dtype=torch.bool), 1) if causal else None
    y = layer(query, key, value, attn_mask=mask, need_weights=False)[0]
    dy = tensor(*y.shape)
    y.backward(dy)
    for i, x in enumerate(inputs):
        write(f"{name}.x{i}", x)
        write(f"{name}.gradient_of_x{i}", x.grad)
    write(f"{name}.y", y)
    write(f"{name}.dy", dy)
    for key, parameter in layer.named_parameters():
        write(f"{name}.{key}", parameter.T if parameter.ndim == 2 else parameter)
        write(f"{name}.gradient_of_{key}", parameter.grad.T if parameter.ndim == 2 else parameter.grad)


class Gpt:
    """GPT-2 as a function of its weights, which have Hugging Face's names."""

    def __init__(self, vocabulary, context, layers, heads, width, bias):
        self.layers, self.heads = layers, heads
        self.weights = {"wte.weight": tensor(vocabulary, width), "wpe.weight": tensor(context, width)}
        for i in range(layers):
            self.norm(f"h.{i}.ln_1", width, bias)
            self.linear(f"h.{i}.attn.c_attn", width, 3 * width, bias)
            self.linear(f"h.{i}.attn.c_proj", width, width, bias)
            self.norm(f"h.{i}.ln_2", width, bias)
            self.linear(f"h.{i}.mlp.c_fc", width, 4 * width, bias)
            self.linear(f"h.{i}.mlp.c_proj", 4 * width, width, bias)
        self.norm("ln_f", width, bias)
        for weight in self.weights.values():
            weight.requires_grad_()

    def norm(self, name, width, bias):
        self.weights[f"{name}.weight"] = 1 + tensor(width, scale=0.25)
        if bias:
            self.weights[f"{name}.bias"] = tensor(width, scale=0.25)

    def linear(self, name, inputs, outputs, bias):
        self.weights[f"{name}.weight"] = tensor(inputs, outputs, scale=0.5)
        if bias:
            self.weights[f"{name}.bias"] = tensor(outputs, scale=0.25)

    def logits(self, tokens):
        w = self.weights
        batch, length = tokens.shape
        width = w["wte.weight"].shape[1]

        def norm(name, x):
            return F.layer_norm(x, (width,), w[f"{name}.weight"], w.get(f"{name}.bias"))

        def linear(name, x):
            return x @ w[f"{name}.weight"] + w.get(f"{name}.bias", 0)

        x = w["wte.weight"][tokens] + w["wpe.weight"][:length]
        mask = torch.triu(torch.full((length, length), -torch.inf, dtype=torch.float64), 1)
        for i in range(self.layers):
            q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2)
                       for part in linear(f"h.{i}.attn.c_attn", norm(f"h.{i}.ln_1", x)).split(width, -1))
            scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5 + mask
            mixed = (torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(batch, length, width)
            x = x + linear(f"h.{i}.attn.c_proj", mixed)
            inner = F.gelu(linear(f"h.{i}.mlp.c_fc", norm(f"h.{i}.ln_2", x)), approximate="tanh")
            x = x + linear(f"h.{i}.mlp.c_proj", inner)
        return norm("ln_f", x) @ w["wte.weight"].T

    def loss(self, tokens, targets):
        return F.cross_entropy(self.logits(tokens).flatten(0, 1), targets.flatten())


def tokens(*shape):
    return torch.tensor(random.integers(0, 11, shape))


attention("self", [tensor(2, 5, 8)], causal=False)
attention("causal", [tensor(2, 5, 8)], causal=True)
attention("cross", [tensor(2, 3, 8), tensor(2, 5, 8), tensor(2, 5, 8)], causal=False)

net = Gpt(vocabulary=11, context=6, layers=2, heads=2, width=8, bias=True)
given, wanted = tokens(2, 6), tokens(2, 6)
write("gpt.tokens", given)
write("gpt.targets", wanted)
write("gpt.logits", net.logits(given))
loss = net.loss(given, wanted)
write("gpt.loss", loss)
loss.backward()
for key, weight in net.weights.items():
    write(f"gpt.{key}", weight)
    write(f"gpt.gradient_of_{key}", weight.grad)

# Training without biases: the gradient_of_the keys' bias is 0, of which Adam would make a step of rounding errors.
net = Gpt(vocabulary=11, context=6, layers=2, heads=2, width=8, bias=False)
for key, weight in net.weights.items():
    write(f"trained.before.{key}", weight)
optimiser = torch.optim.AdamW([{"params": [w for w in net.weights.values() if w.ndim >= 2], "weight_decay": 0.1},
                               {"params": [w for w in net.weights.values() if w.ndim < 2], "weight_decay": 0.0}],
                              lr=0.01, betas=(0.9, 0.99))
all_tokens, all_targets, losses, norms = tokens(3, 2, 6), tokens(3, 2, 6), [], []
for given, wanted in zip(all_tokens, all_targets):
    optimiser.zero_grad()
    loss = net.loss(given, wanted)
    loss.backward()
    norms.append(torch.nn.utils.clip_grad_norm_(net.weights.values(), 1.0))
    optimiser.step()
    losses.append(loss.detach())
assert min(norms) > 1, norms
write("trained.tokens", all_tokens)
write("trained.targets", all_targets)
write("trained.losses", torch.stack(losses))
for key, weight in net.weights.items():
    write(f"trained.{key}", weight)

path = Path(__file__).with_name("language.txt")
path.write_text("\n".join(lines) + "\n")
print(f"{path.name}: {len(lines)} tensors, {path.stat().st_size} bytes")
