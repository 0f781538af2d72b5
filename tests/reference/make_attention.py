#!/usr/bin/env python3
"""Writes ops_attention.txt: attention and its gradients, computed by PyTorch in float64. Needs PyTorch and NumPy."""

import math

import torch
from fixtures import Fixtures
from make_random import drops

fixtures = Fixtures(2205)


SEED = (0x243F6A88, 0x85A308D3)


def attention(is_causal=False, scale=None, offset=0, window=None, dropout=0.0):
    """Attention by its formula; with a mask of keys and a seed, if the weights are dropped, after q, k and v."""

    def op(q, k, v, *more):
        group = q.shape[1] // k.shape[1]
        k, v = (x.repeat_interleave(group, dim=1) for x in (k, v))
        scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
        seen = torch.ones(scores.shape).bool()
        if is_causal:
            seen = seen.tril(offset)
        if window:
            seen = seen.triu(offset - window + 1)
        if len(more) > bool(dropout):
            seen = seen & more[0][:, None, None, :]
        # rows without a key: equal scores, of which none counts
        weights = torch.softmax(scores.masked_fill(~seen, -1e30), -1)
        weights = torch.where(seen.any(-1, keepdim=True), weights, 0.0)
        if dropout:
            kept = [not drops(SEED, i, dropout) for i in range(weights.numel())]
            weights = weights * torch.tensor(kept).reshape(weights.shape) / (1 - dropout)
        return weights @ v

    return op


def case(name, op, queries, keys=None, mask=None, has_seed=False):
    keys = queries if keys is None else keys
    more = [] if mask is None else [torch.tensor(mask).bool()]
    if has_seed:
        more.append(torch.tensor(SEED))
    fixtures.differentiable(name, op, fixtures.tensor(*queries), fixtures.tensor(*keys), fixtures.tensor(*keys), *more)


case("attention", attention(), (2, 3, 5, 4))
case("attention_causal", attention(is_causal=True), (1, 2, 19, 8))
case("attention_one", attention(is_causal=True), (1, 2, 1, 3))
case("attention_keys", attention(), (2, 2, 5, 3), (2, 2, 7, 3))
case("attention_scale", attention(scale=0.25), (1, 2, 6, 5), (1, 2, 3, 5))
case("attention_groups", attention(), (2, 6, 5, 3), (2, 2, 4, 3))
case("attention_groups_causal", attention(is_causal=True), (1, 4, 9, 2), (1, 1, 9, 2))
case("attention_blocks", attention(), (1, 1, 70, 3), (1, 1, 131, 3))
case("attention_blocks_causal", attention(is_causal=True), (1, 2, 70, 5))
case("attention_wide", attention(is_causal=True, scale=0.03125), (1, 1, 3, 261))

case("attention_mask", attention(), (2, 2, 5, 4), (2, 2, 7, 4), mask=[[1, 1, 0, 1, 0, 0, 1], [0] * 7])
case("attention_mask_causal", attention(is_causal=True), (2, 1, 19, 8),
     mask=[[0, 0] + [1] * 17, [1, 0, 1, 1, 1, 0, 0] + [1] * 9 + [0] * 3])
case("attention_mask_blocks", attention(), (1, 2, 70, 3), (1, 1, 131, 3), mask=[[0] * 64 + [1, 0, 1] * 22 + [0]])
case("attention_half", attention(is_causal=True), (1, 2, 19, 16))
case("attention_half_keys", attention(), (2, 4, 5, 6), (2, 2, 9, 6), mask=[[1] * 7 + [0] * 2, [0, 1, 1] * 3])


def split(op):
    """Attention of the parts of one projection (batch, length, 3, heads, width)."""
    return lambda x: op(*(part.transpose(1, 2) for part in x.unbind(2))).transpose(1, 2).reshape(*x.shape[:2], -1)


fixtures.differentiable("attention_views", split(attention(is_causal=True)), fixtures.tensor(2, 7, 3, 2, 5))
fixtures.differentiable("attention_columns", lambda q, k, v: attention()(*(x.transpose(-2, -1) for x in (q, k, v))),
                        fixtures.tensor(1, 2, 5, 6), fixtures.tensor(1, 2, 5, 7), fixtures.tensor(1, 2, 5, 7))

# other numbers of keys than of queries, and windows
case("attention_left", attention(is_causal=True), (1, 2, 4, 3), (1, 2, 7, 3))
case("attention_right", attention(is_causal=True, offset=4), (1, 2, 5, 3), (1, 1, 9, 3))
case("attention_right_more_queries", attention(is_causal=True, offset=-3), (1, 1, 7, 3), (1, 1, 4, 3))
case("attention_left_window", attention(is_causal=True, window=3), (1, 1, 9, 3), (1, 1, 5, 3))
case("attention_window", attention(is_causal=True, window=4), (1, 2, 19, 5))
case("attention_window_mask", attention(is_causal=True, window=2), (2, 1, 6, 3),
     mask=[[1, 0, 0, 1, 1, 1], [0, 1, 1, 0, 1, 0]])
case("attention_right_blocks", attention(is_causal=True, offset=61), (1, 1, 70, 3), (1, 1, 131, 3))
case("attention_window_blocks", attention(is_causal=True, window=20), (1, 1, 150, 3))
case("attention_right_window_blocks", attention(is_causal=True, offset=61, window=70), (1, 1, 70, 3), (1, 1, 131, 3))

case("attention_dropout", attention(dropout=0.3), (2, 2, 5, 3), (2, 1, 7, 3), has_seed=True)
case("attention_dropout_mask", attention(is_causal=True, dropout=0.5), (2, 1, 9, 3),
     mask=[[1, 0, 0] + [1] * 6, [0, 1, 1] * 3], has_seed=True)
case("attention_dropout_blocks", attention(is_causal=True, offset=61, window=90, dropout=0.2), (1, 2, 70, 3), (1, 2, 131, 3),
     has_seed=True)
case("attention_dropout_half", attention(dropout=0.25), (1, 2, 5, 6), (1, 2, 20, 6), has_seed=True)

fixtures.save("ops_attention.txt")
