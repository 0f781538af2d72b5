#!/usr/bin/env python3
"""examples/gpt.cpp in PyTorch, eager: `pytorch_gpt.py TEXT SEED STEPS EVAL_BATCHES THREADS`.

nanoGPT's published setting for characters on a CPU (its README, MIT
license): 4 blocks of 4 heads, width 128, 64 characters, batches of 12, no dropout, no biases, AdamW with beta2 0.99 and decay 0.1
of matrices, gradients clipped to a norm of 1, 100 steps of warm-up to a rate of 1e-3, then a cosine to 1e-4. The last tenth of the
text is for validation. Prints the validation loss, and the seconds of training and of validation.
"""
import math
import os
import sys
import time

TEXT, SEED, STEPS, EVAL_BATCHES, THREADS = sys.argv[1], *map(int, sys.argv[2:])
os.environ.update(OMP_NUM_THREADS=str(THREADS), OPENBLAS_NUM_THREADS=str(THREADS), MKL_NUM_THREADS=str(THREADS))

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

LAYERS, HEADS, WIDTH, CONTEXT, BATCH = 4, 4, 128, 64, 12
torch.set_num_threads(THREADS)
torch.manual_seed(SEED)


def linear(inputs, outputs, std=0.02):
    layer = nn.Linear(inputs, outputs, bias=False)
    nn.init.normal_(layer.weight, std=std)
    return layer


class LayerNorm(nn.Module):
    """Without a bias, which nn.LayerNorm of PyTorch 1.13 always has."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return functional.layer_norm(x, (WIDTH,), self.weight)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        branch_std = 0.02 / math.sqrt(2 * LAYERS)
        self.ln_1, self.ln_2 = LayerNorm(), LayerNorm()
        self.c_attn, self.c_proj = linear(WIDTH, 3 * WIDTH), linear(WIDTH, WIDTH, branch_std)
        self.mlp = nn.Sequential(linear(WIDTH, 4 * WIDTH), nn.GELU(), linear(4 * WIDTH, WIDTH, branch_std))
        self.register_buffer("is_later", torch.ones(CONTEXT, CONTEXT).triu(1).bool(), persistent=False)

    def attention(self, x):
        q, k, v = (part.view(len(x), CONTEXT, HEADS, -1).transpose(1, 2) for part in self.c_attn(x).split(WIDTH, dim=2))
        if hasattr(functional, "scaled_dot_product_attention"):
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = (q @ k.mT / math.sqrt(WIDTH // HEADS)).masked_fill(self.is_later, -torch.inf)
            mixed = scores.softmax(-1) @ v
        return self.c_proj(mixed.transpose(1, 2).reshape(x.shape))

    def forward(self, x):
        x = x + self.attention(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        for table in (self.wte, self.wpe):
            nn.init.normal_(table.weight, std=0.02)
        self.blocks, self.ln_f = nn.Sequential(*(Block() for _ in range(LAYERS))), LayerNorm()

    def loss(self, tokens, targets):
        logits = self.ln_f(self.blocks(self.wte(tokens) + self.wpe.weight)) @ self.wte.weight.T
        return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def crops(text):
    """Random rows of the text, and the characters that follow theirs."""
    rows = text.unfold(0, CONTEXT + 1, 1)[torch.randint(len(text) - CONTEXT, (BATCH,))]
    return rows[:, :-1], rows[:, 1:]


def rate_of(step, warm_up=100, peak=1e-3, least=1e-4):
    if step < warm_up:
        return peak * (step + 1) / (warm_up + 1)
    return least + (peak - least) * (1 + math.cos(math.pi * (step - warm_up) / max(1, STEPS - warm_up))) / 2


with open(TEXT, encoding="utf-8") as file:
    characters = file.read()
numbers = {character: number for number, character in enumerate(sorted(set(characters)))}
tokens = torch.tensor([numbers[character] for character in characters])
training, validation = tokens[:len(tokens) * 9 // 10], tokens[len(tokens) * 9 // 10:]
net = Gpt(len(numbers))
groups = [{"params": [p for p in net.parameters() if (p.ndim >= 2) == decays], "weight_decay": 0.1 if decays else 0.0}
          for decays in (True, False)]
optimiser = torch.optim.AdamW(groups, betas=(0.9, 0.99))

begin = time.perf_counter()
for step in range(STEPS):
    for group in optimiser.param_groups:
        group["lr"] = rate_of(step)
    optimiser.zero_grad(set_to_none=True)
    net.loss(*crops(training)).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimiser.step()
with torch.no_grad():
    losses = [net.loss(*crops(validation)).item() for _ in range(EVAL_BATCHES)]
print(f"PyTorch {torch.__version__}: validation loss {sum(losses) / len(losses):.4f}, {time.perf_counter() - begin:.2f} seconds")
