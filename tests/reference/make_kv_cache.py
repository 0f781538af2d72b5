#!/usr/bin/python3
"""Writes kv_cache.txt: decoder layers over whole texts in float64, which caches of keys and values must reproduce.

    python3 tests/reference/make_kv_cache.py        (Debian: apt-get install python3-torch python3-numpy)

x is (batch, length, width). <layer>.y is the result; <layer>.<parameter> are ours: weights that multiply from the left are (in,
out). The layers are Hugging Face's LlamaDecoderLayer with all keys and with a sliding window of 3, and PyTorch's
TransformerEncoderLayer with norms first and a causal mask.
"""

import torch
import torch.nn.functional as F
from fixtures import Fixtures

BATCH, LENGTH, WIDTH, HIDDEN, HEADS, KV_HEADS, THETA, WINDOW = 2, 9, 16, 12, 4, 2, 100.0, 3
fixtures = Fixtures(4211)


def weights(*shape):
    return fixtures.tensor(*shape, low=-0.75, high=0.75)


def rotate(x):
    """Of x (batch, heads, length, d): elements i and i + d / 2 turned by position theta^(-2 i / d), as complex numbers."""
    half = x.shape[-1] // 2
    angles = torch.arange(x.shape[2])[:, None] * THETA ** (-torch.arange(half, dtype=torch.float64) / half)
    turned = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([turned.real, turned.imag], -1)


def rms_norm(x, weight):
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weight


def llama(w, x, window):
    """window: how many keys a query sees, its own included."""
    normalised = rms_norm(x, w["input_layernorm.weight"])
    heads = lambda part, count: (normalised @ w[f"self_attn.{part}_proj.weight"]).view(BATCH, LENGTH, count, -1).transpose(1, 2)
    q = rotate(heads("q", HEADS))
    k, v = (t.repeat_interleave(HEADS // KV_HEADS, dim=1) for t in (rotate(heads("k", KV_HEADS)), heads("v", KV_HEADS)))
    behind = torch.arange(LENGTH)[:, None] - torch.arange(LENGTH)[None, :]
    scores = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).masked_fill((behind < 0) | (behind >= window), -torch.inf)
    mixed = (torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(BATCH, LENGTH, WIDTH)
    x = x + mixed @ w["self_attn.o_proj.weight"]
    gate, up, down = (w[f"mlp.{part}_proj.weight"] for part in ("gate", "up", "down"))
    y = rms_norm(x, w["post_attention_layernorm.weight"])
    return x + (F.silu(y @ gate) * (y @ up)) @ down


x = fixtures.tensor(BATCH, LENGTH, WIDTH)
fixtures.write("x", x)

narrow = WIDTH // HEADS * KV_HEADS
columns = {"self_attn.q_proj": WIDTH, "self_attn.k_proj": narrow, "self_attn.v_proj": narrow, "self_attn.o_proj": WIDTH,
           "mlp.gate_proj": HIDDEN, "mlp.up_proj": HIDDEN}
of_llama = {f"{name}.weight": weights(WIDTH, count) for name, count in columns.items()}
of_llama["mlp.down_proj.weight"] = weights(HIDDEN, WIDTH)
of_llama |= {f"{name}.weight": fixtures.positive(WIDTH) for name in ("input_layernorm", "post_attention_layernorm")}
for name, tensor in of_llama.items():
    fixtures.write(f"llama.{name}", tensor)
fixtures.write("llama.y", llama(of_llama, x, LENGTH))
fixtures.write("llama.y_of_window", llama(of_llama, x, WINDOW))

layer = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, HIDDEN, dropout=0, activation="gelu", batch_first=True,
                                         norm_first=True).double()
with torch.no_grad():
    for name, parameter in layer.named_parameters():
        parameter.copy_(weights(*parameter.shape))
        fixtures.write(f"gpt.{name}", parameter.T if parameter.ndim == 2 else parameter)
    fixtures.write("gpt.y", layer(x, src_mask=torch.ones(LENGTH, LENGTH).triu(1).bool()))

fixtures.save("kv_cache.txt")
