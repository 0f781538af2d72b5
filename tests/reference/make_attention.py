#!/usr/bin/env python3
"""Writes ops_attention.txt: attention and its gradients, computed by PyTorch in float64. Needs PyTorch and NumPy."""

import math

import torch
from fixtures import Fixtures

fixtures = Fixtures(2205)


def attention(is_causal=False, scale=None):
    def op(q, k, v, *mask):
        group = q.shape[1] // k.shape[1]
        k, v = (x.repeat_interleave(group, dim=1) for x in (k, v))
        scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
        if is_causal:
            scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -math.inf)
        if mask:  # rows without a key: equal scores, of which none counts
            scores = scores.masked_fill(~mask[0][:, None, None, :], -1e30)
            sees_some = scores.max(-1, keepdim=True).values > -1e29
            return torch.where(sees_some, torch.softmax(scores.clamp(min=-1e30), -1), 0.0) @ v
        return torch.softmax(scores, -1) @ v

    return op


def case(name, op, queries, keys=None, mask=None):
    keys = queries if keys is None else keys
    more = [] if mask is None else [torch.tensor(mask).bool()]
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

fixtures.save("ops_attention.txt")
