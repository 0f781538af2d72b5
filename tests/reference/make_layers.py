#!/usr/bin/python3
"""Writes layers.txt: layers of torch.nn in float64, and by their formulas those that PyTorch 1.13 lacks. gru.safetensors has the
variables of one of them as PyTorch names and stores them.

    python3 tests/reference/make_layers.py        (Debian: apt-get install python3-torch python3-numpy)

Names are <case>.x0, ..., y0, ..., dy0, dx0, ... as in the other files; <case>.<parameter> and its gradient <case>.d_<parameter>;
<case>.new_<buffer> for what a call changes. Weights that multiply from the left are (in, out), the transposed ones of PyTorch's.
"""

import re
from pathlib import Path

import torch
import torch.nn.functional as F
from fixtures import Fixtures, write_safetensors
from make_random import create_random_seed, drops

fixtures = Fixtures(1613)
TRANSPOSED = re.compile(r"(weight_[ih]h_l\d(_reverse)?|(^|\.)\d\.weight|in_proj_weight|(linear\d|out_proj|[qkvo]_proj|(gate|up|down)_proj)\.weight)$")


def ours(name, tensor):
    """A tensor of PyTorch's as the layer has it."""
    return tensor.T if TRANSPOSED.search(name) else tensor


def case(name, op, parameters, *inputs, buffers=None):
    """op(*inputs) of the named parameters. Buffers are PyTorch's own tensors, which the call may change."""
    buffers = buffers or {}
    for i, x in enumerate(inputs):
        fixtures.write(f"{name}.x{i}", x)
    for key, parameter in [*parameters.items(), *buffers.items()]:
        fixtures.write(f"{name}.{key}", ours(key, parameter))
    inputs = [x.requires_grad_() if x.is_floating_point() else x for x in inputs]
    results = op(*inputs)
    results = results if isinstance(results, (tuple, list)) else (results,)
    dy = fixtures.tensor(*results[0].shape)
    results[0].backward(dy)
    for i, y in enumerate(results):
        fixtures.write(f"{name}.y{i}", y)
    fixtures.write(f"{name}.dy0", dy)
    for i, x in enumerate(inputs):
        if x.is_floating_point():
            fixtures.write(f"{name}.dx{i}", x.grad)
    for key, parameter in parameters.items():
        fixtures.write(f"{name}.d_{key}", ours(key, parameter.grad))
    for key, buffer in buffers.items():
        fixtures.write(f"{name}.new_{key}", buffer)


def module(name, layer, *inputs, call=None, buffers=()):
    """A layer of torch.nn with random parameters."""
    layer = layer.double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(fixtures.tensor(*parameter.shape, low=-0.75, high=0.75))
        for key in buffers:
            getattr(layer, key).copy_(fixtures.positive(*getattr(layer, key).shape))
    case(name, call(layer) if call else layer, dict(layer.named_parameters()), *inputs,
         buffers={key: getattr(layer, key) for key in buffers})


def formula(name, op, shapes, *inputs):
    """op(parameters, *inputs) with random parameters of these shapes."""
    parameters = {key: fixtures.tensor(*shape, low=-0.75, high=0.75).requires_grad_() for key, shape in shapes.items()}
    case(name, lambda *x: op(parameters, *x), parameters, *inputs)


tensor = fixtures.tensor
nn = torch.nn


def rms_norm(x, weight, eps=1e-6):
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps) * weight


formula("rms_norm", lambda w, x: rms_norm(x, w["weight"]), {"weight": (5,)}, tensor(2, 3, 5))
module("group_norm", nn.GroupNorm(2, 6), tensor(2, 6, 3))
statistics = ("running_mean", "running_var")
module("batch_norm", nn.BatchNorm1d(2, momentum=0.25), tensor(3, 2, 4), buffers=statistics)
module("batch_norm_evaluation", nn.BatchNorm1d(2).eval(), tensor(3, 2, 4), buffers=statistics)

module("conv1d", nn.Conv1d(3, 4, 3, stride=2, padding=1), tensor(2, 3, 7))
module("conv2d", nn.Conv2d(2, 4, (3, 2), padding=(2, 0), dilation=(2, 1), groups=2), tensor(2, 2, 5, 4))
module("conv3d", nn.Conv3d(2, 2, 2, bias=False), tensor(1, 2, 3, 3, 3))
module("conv_transpose1d", nn.ConvTranspose1d(2, 4, 3, stride=2, output_padding=1, groups=2), tensor(2, 2, 4))
module("conv_transpose2d", nn.ConvTranspose2d(2, 3, 2, stride=(2, 1), padding=(0, 1)), tensor(1, 2, 3, 4))
module("conv_transpose3d", nn.ConvTranspose3d(2, 2, 2, bias=False), tensor(1, 2, 2, 2, 2))

distinct = fixtures.distinct
module("max_pool1d", nn.MaxPool1d(3, stride=2, padding=1), distinct(2, 2, 7))
module("max_pool2d", nn.MaxPool2d((2, 3), dilation=(2, 1)), distinct(1, 2, 6, 6))
module("max_pool3d", nn.MaxPool3d(2), distinct(1, 2, 4, 2, 2))
module("avg_pool1d", nn.AvgPool1d(2), tensor(2, 2, 6))
module("avg_pool2d", nn.AvgPool2d(3, stride=(2, 3), padding=1, count_include_pad=False), tensor(1, 2, 5, 6))
module("avg_pool3d", nn.AvgPool3d(2, ceil_mode=True), tensor(1, 1, 3, 2, 4))


class FeedForward(nn.Module):
    def __init__(self, width, hidden, activation, bias=True):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(width, hidden, bias), nn.Linear(hidden, width, bias)
        self.activation = activation

    def forward(self, x):
        return self.linear2(self.activation(self.linear1(x)))


def swiglu(w, x, prefix=""):
    gate, up, down = (w[f"{prefix}{part}_proj.weight"].T for part in ("gate", "up", "down"))
    return (F.silu(x @ gate) * (x @ up)) @ down


def swiglu_shapes(width, hidden, prefix=""):
    return {f"{prefix}gate_proj.weight": (hidden, width), f"{prefix}up_proj.weight": (hidden, width),
            f"{prefix}down_proj.weight": (width, hidden)}


module("feed_forward", FeedForward(6, 10, F.gelu), tensor(2, 3, 6))
module("feed_forward_silu", FeedForward(6, 5, F.silu, bias=False), tensor(3, 6))
formula("swiglu", swiglu, swiglu_shapes(6, 10), tensor(2, 3, 6))
padding = torch.tensor([[False, False, True, False, True], [True, False, False, False, False]])


def to_itself(layer):
    return lambda x, mask: layer(x, x, x, key_padding_mask=mask, need_weights=False)[0]


def to_others(layer):
    return lambda q, k, v, mask: layer(q, k, v, key_padding_mask=mask, need_weights=False)[0]


module("padded", nn.MultiheadAttention(8, 2, batch_first=True), tensor(2, 5, 8), padding, call=to_itself)
module("padded_cross", nn.MultiheadAttention(8, 2, batch_first=True), tensor(2, 3, 8), tensor(2, 5, 8), tensor(2, 5, 8), padding,
       call=to_others)
module("block", nn.TransformerEncoderLayer(8, 2, 12, dropout=0, activation="gelu", batch_first=True, norm_first=True),
       tensor(2, 5, 8), padding, call=lambda layer: lambda x, mask: layer(x, src_key_padding_mask=mask))
causal = torch.ones(5, 5).triu(1).bool()
module("block_norm_last", nn.TransformerEncoderLayer(8, 2, 12, dropout=0, batch_first=True), tensor(2, 5, 8),
       call=lambda layer: lambda x: layer(x, src_mask=causal))


def rotated(x, positions, theta):
    """Of x (batch, heads, length, d): elements i and i + d / 2 turned by position theta^(-2 i / d), as complex numbers."""
    half = x.shape[-1] // 2
    angles = positions[:, None] * theta ** (-torch.arange(half, dtype=torch.float64) / half)
    turned = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([turned.real, turned.imag], -1)


def grouped_queries(w, x, positions, heads, kv_heads, theta, is_causal, prefix=""):
    batch, length, width = x.shape

    def heads_of(part, count):
        y = x @ w[f"{prefix}{part}_proj.weight"].T + w.get(f"{prefix}{part}_proj.bias", 0)
        return y.view(batch, length, count, width // heads).transpose(1, 2)

    q = rotated(heads_of("q", heads), positions, theta)
    k = rotated(heads_of("k", kv_heads), positions, theta).repeat_interleave(heads // kv_heads, dim=1)
    v = heads_of("v", kv_heads).repeat_interleave(heads // kv_heads, dim=1)
    scores = q @ k.transpose(-2, -1) / (width // heads) ** 0.5
    if is_causal:
        scores = scores.masked_fill(torch.ones(length, length).triu(1).bool(), -torch.inf)
    mixed = (torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(batch, length, width)
    return mixed @ w[f"{prefix}o_proj.weight"].T + w.get(f"{prefix}o_proj.bias", 0)


def grouped_shapes(width, kv_width, bias=False, prefix=""):
    rows = {"q": width, "k": kv_width, "v": kv_width, "o": width}
    shapes = {f"{prefix}{part}_proj.weight": (count, width) for part, count in rows.items()}
    if bias:
        shapes |= {f"{prefix}{part}_proj.bias": (count,) for part, count in rows.items()}
    return shapes


def llama(w, x):
    normalised = rms_norm(x, w["input_layernorm.weight"])
    x = x + grouped_queries(w, normalised, torch.arange(5), 4, 2, 100.0, True, "self_attn.")
    return x + swiglu(w, rms_norm(x, w["post_attention_layernorm.weight"]), "mlp.")


formula("llama", llama,
        {"input_layernorm.weight": (16,), "post_attention_layernorm.weight": (16,)} | grouped_shapes(16, 8, prefix="self_attn.")
        | swiglu_shapes(16, 20, "mlp."), tensor(2, 5, 16))
formula("grouped_queries", lambda w, x, positions: grouped_queries(w, x, positions, 3, 1, 10000.0, False),
        grouped_shapes(12, 4, bias=True), tensor(2, 3, 12), torch.tensor([2, 9, 40]))


def of_recurrent(layer):
    def op(x, *first):
        results, last = layer(x, *first)
        return (results, *last) if isinstance(last, tuple) else (results, last)

    return op


module("gru", nn.GRU(3, 4, num_layers=2, batch_first=True), tensor(2, 5, 3), call=of_recurrent)
module("lstm", nn.LSTM(3, 4, batch_first=True), tensor(2, 5, 3), call=of_recurrent)
module("lstm_without_bias", nn.LSTM(3, 3, bias=False, batch_first=True), tensor(1, 2, 3), call=of_recurrent)

SEED = (0x243F6A88, 0x85A308D3)


def our_dropout(x, p, seed):
    """x without the elements that a seed of ours drops."""
    kept = [not drops(seed, i, p) for i in range(x.numel())]
    return x * torch.tensor(kept).reshape(x.shape) / (1 - p)


def with_our_dropout(layer, seed=SEED):
    """PyTorch's attention, which drops the weights that a seed of ours drops."""

    def op(x, mask, _):
        F.dropout, original = lambda weights, p, training=True: our_dropout(weights, p, seed), F.dropout
        result = layer(x, x, x, key_padding_mask=mask, need_weights=True)[0]
        F.dropout = original
        return result

    return op


def block_with_our_dropout(layer):
    """PyTorch's block, norms first, with a seed of ours for each dropout."""

    def op(x, mask, _):
        def drop(y, place):
            return our_dropout(y, layer.dropout.p, create_random_seed(SEED, place))

        attend = with_our_dropout(layer.self_attn, create_random_seed(SEED, 3))
        x = x + drop(attend(layer.norm1(x), mask, None), 0)
        return x + drop(layer.linear2(drop(layer.activation(layer.linear1(layer.norm2(x))), 1)), 2)

    return op


module("dropped", nn.MultiheadAttention(8, 2, dropout=0.25, batch_first=True), tensor(2, 5, 8), padding, torch.tensor(SEED),
       call=with_our_dropout)
module("block_dropped", nn.TransformerEncoderLayer(8, 2, 12, dropout=0.25, activation="gelu", batch_first=True, norm_first=True),
       tensor(2, 5, 8), padding, torch.tensor(SEED), call=block_with_our_dropout)

formula("linear", lambda w, x: F.linear(x, w["weight"].T, w["bias"]), {"weight": (5, 4), "bias": (4,)}, tensor(2, 3, 5))
module("embedding", nn.Embedding(6, 5), torch.tensor([[3, 0, 3], [5, 1, 3]]))
module("layer_norm", nn.LayerNorm(5), tensor(2, 3, 5))

formula("rms_norm_default", lambda w, x: rms_norm(x, w["weight"], torch.finfo(torch.float32).eps), {"weight": (5,)},
        tensor(2, 3, 5) / 4096)
module("feed_forward_default", FeedForward(6, 4, F.relu), tensor(3, 6))
module("avg_pool1d_padded", nn.AvgPool1d(3, stride=2, padding=1), tensor(2, 2, 7))
module("avg_pool2d_padded", nn.AvgPool2d((3, 4), stride=(2, 3), padding=(1, 2), ceil_mode=True), tensor(1, 2, 6, 8))


def packed(layer):
    """A recurrent layer of padded sequences; the result is as long as x."""

    def op(x, lengths, *first):
        first = first if len(first) < 2 else (first,)
        sequences = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        results, last = layer(sequences, *first)
        results, _ = nn.utils.rnn.pad_packed_sequence(results, batch_first=True, total_length=x.shape[1])
        return (results, *last) if isinstance(last, tuple) else (results, last)

    return op


class LastFirst(nn.Module):
    """The last states of an LSTM before its results, so that they have the given gradient."""

    def __init__(self, lstm):
        super().__init__()
        self.lstm = lstm


def last_first(layer):
    def op(*inputs):
        results, h, c = packed(layer.lstm)(*inputs)
        return torch.cat([h, c], -1), results

    return op


def gru_with_our_dropout(layer):
    """PyTorch's GRU, which drops the elements that a seed of ours drops."""

    def op(x, _):
        last = []
        for number in range(layer.num_layers):
            if number > 0:
                x = our_dropout(x, layer.dropout, create_random_seed(SEED, number - 1))
            weights = [getattr(layer, f"{name}_l{number}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
            first = torch.zeros(1, x.shape[0], layer.hidden_size, dtype=x.dtype)
            x, state = torch.gru(x, first, weights, True, 1, 0.0, True, False, True)
            last.append(state)
        return x, torch.cat(last)

    return op


gru = nn.GRU(3, 4, num_layers=2, bidirectional=True, batch_first=True)
module("gru_packed", gru, tensor(3, 4, 3), torch.tensor([2, 4, 1]), call=packed)
write_safetensors(Path(__file__).with_name("gru.safetensors"), gru.float().state_dict())
module("lstm_packed", LastFirst(nn.LSTM(3, 4, num_layers=2, bidirectional=True, batch_first=True)), tensor(2, 4, 3),
       torch.tensor([3, 4]), tensor(4, 2, 4), tensor(4, 2, 4), call=last_first)
module("gru_both_ways", nn.GRU(3, 5, bidirectional=True, batch_first=True), tensor(2, 3, 3), tensor(2, 2, 5), call=of_recurrent)
module("gru_dropped", nn.GRU(3, 4, num_layers=3, dropout=0.25, batch_first=True), tensor(2, 3, 3), torch.tensor(SEED),
       call=gru_with_our_dropout)


class Residual(nn.Sequential):
    def forward(self, x):
        return x + super().forward(x)


module("sequential", nn.Sequential(nn.Flatten(1, 2), nn.Linear(6, 5), nn.ReLU(), Residual(nn.Linear(5, 5), nn.Tanh())),
       tensor(2, 2, 3))
module("embedding_padded", nn.Embedding(6, 5, padding_idx=-4), torch.tensor([[3, 2, 3], [2, 1, 2]]))
module("adaptive_avg_pool1d", nn.AdaptiveAvgPool1d(3), tensor(2, 2, 6))
module("adaptive_avg_pool2d", nn.AdaptiveAvgPool2d((3, 2)), tensor(1, 2, 5, 7))
module("adaptive_avg_pool3d", nn.AdaptiveAvgPool3d((2, 5, 2)), tensor(1, 1, 3, 3, 2))
module("adaptive_max_pool1d", nn.AdaptiveMaxPool1d(3), distinct(2, 2, 5))
module("adaptive_max_pool2d", nn.AdaptiveMaxPool2d((3, 2)), distinct(1, 2, 5, 6))
module("avg_pool2d_divided", nn.AvgPool2d((2, 3), padding=1, divisor_override=5, ceil_mode=True), tensor(1, 2, 5, 6))

# with all defaults
module("conv2d_default", nn.Conv2d(2, 3, 2), tensor(1, 2, 3, 4))
module("conv_transpose2d_default", nn.ConvTranspose2d(2, 3, 2), tensor(1, 2, 3, 2))
module("gru_default", nn.GRU(3, 4, batch_first=True), tensor(2, 3, 3), call=of_recurrent)
module("batch_norm_default", nn.BatchNorm2d(2), tensor(3, 2, 2, 2), buffers=statistics)

fixtures.save("layers.txt")
