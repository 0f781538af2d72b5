#!/usr/bin/env python3
"""Writes ops_networks.txt: transposed convolutions, batch normalisation, resizing, regions of interest, pooling with gaps, and
convolutions, norms and losses in other dtypes, computed by PyTorch in float64. Needs PyTorch and NumPy."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from fixtures import Fixtures
from regions import roi_align

fixtures = Fixtures(1304)
tensor, distinct, positive, integers = fixtures.tensor, fixtures.distinct, fixtures.positive, fixtures.integers
forward, differentiable = fixtures.forward, fixtures.differentiable


def small(*shape):
    return tensor(*shape, low=-1.0, high=1.0)


# Transposed convolutions. Padding is all beginnings, then all ends: what it takes off the result.
def conv_transpose(padding=None, zeros=None, output_padding=0, **options):
    def op(x, weight):
        axes = x.ndim - 2
        y = getattr(F, f"conv_transpose{axes}d")(x, weight, output_padding=output_padding, **options)
        if zeros:
            y = F.pad(y, [0 if i % 2 == 0 else zeros[axes - 1 - i // 2] for i in range(2 * axes)])
        if padding:
            y = y[(...,) + tuple(slice(padding[i], y.shape[2 + i] - padding[axes + i]) for i in range(axes))]
        return y

    return op


def transposed(name, op, x, weight, make=small):
    differentiable(name, op, make(*x), make(*weight))


transposed("conv_transpose", conv_transpose(), (2, 3, 4, 3), (3, 2, 3, 3))
transposed("conv_transpose_stride", conv_transpose((1, 1, 1, 1), stride=2), (1, 2, 3, 4), (2, 3, 4, 4))
transposed("conv_transpose_uneven", conv_transpose((1, 0, 0, 1), stride=(2, 3)), (1, 5, 2, 3), (5, 2, 3, 4))
transposed("conv_transpose_output_padding", conv_transpose((1, 1, 1, 1), stride=(2, 3), output_padding=(1, 2)),
           (1, 2, 4, 3), (2, 3, 3, 3))
transposed("conv_transpose_groups", conv_transpose((1, 1, 1, 1), stride=2, groups=2), (1, 4, 3, 2), (4, 3, 4, 4))
transposed("conv_transpose_blocks", conv_transpose(stride=2, groups=3), (1, 6, 4, 3), (6, 2, 2, 2))
transposed("conv_transpose_depthwise", conv_transpose((1, 1, 1, 1), stride=2, groups=5), (1, 5, 4, 3), (5, 1, 3, 3))
transposed("conv_transpose_dilation", conv_transpose((1, 2, 1, 0), stride=(1, 2), dilation=(2, 3)), (1, 9, 4, 3), (9, 2, 3, 2))
transposed("conv_transpose_common", conv_transpose(stride=(2, 4), dilation=(2, 2)), (1, 2, 3, 2), (2, 5, 3, 3))
transposed("conv_transpose_gaps", conv_transpose(stride=3), (1, 2, 3, 4), (2, 3, 2, 2))
transposed("conv_transpose_phases", conv_transpose((2, 1, 1, 0), stride=(4, 3)), (1, 2, 3, 2), (2, 3, 5, 4))
transposed("conv_transpose_crop", conv_transpose((3, 4, 2, 0), stride=2), (1, 3, 5, 4), (3, 2, 3, 2))
transposed("conv_transpose_output_shape", conv_transpose((1, 1, 0, 1), stride=2), (1, 2, 3, 4), (2, 3, 3, 4))
transposed("conv_transpose_output_shape_upper", conv_transpose((0, 1, 1, 1), stride=2), (1, 2, 3, 4), (2, 3, 3, 4))
transposed("conv_transpose_output_shape_more", conv_transpose(zeros=(2, 3), stride=2), (1, 2, 3, 2), (2, 3, 3, 2))
transposed("conv_transpose_same_upper", conv_transpose((0, 1, 1, 1), stride=2), (1, 2, 3, 4), (2, 3, 3, 4))
transposed("conv_transpose_same_lower", conv_transpose((1, 1, 0, 1), stride=2), (1, 2, 3, 4), (2, 3, 3, 4))
transposed("conv_transpose_1d", conv_transpose((2, 1), stride=3), (1, 3, 7), (3, 5, 5))
transposed("conv_transpose_3d", conv_transpose((1, 0, 1, 0, 1, 1), stride=(1, 2, 1)), (2, 2, 3, 2, 3), (2, 3, 2, 3, 3))
for kind in ("half", "double"):
    transposed(f"conv_transpose_{kind}", conv_transpose((1, 1, 1, 1), stride=2), (2, 3, 3, 4), (3, 2, 4, 3))


# Batch normalisation.
def batch_norm(momentum=0.1, eps=1e-5, result=0):
    def op(x, scale, bias, mean, var):
        mean, var = mean.double().clone(), var.double().clone()  # which it changes
        y = F.batch_norm(x, mean, var, scale, bias, training=True, momentum=momentum, eps=eps)
        return (y, mean, var) if result is None else y

    return op


for name, shape, arguments in [("batch_norm", (3, 4, 3, 3), {}), ("batch_norm_rows", (7, 5), {"eps": 0.125}),
                               ("batch_norm_one", (1, 3, 19), {"eps": 0.5}), ("batch_norm_half", (4, 3, 7), {"eps": 0.125}),
                               ("batch_norm_double", (3, 2, 2, 3, 2), {})]:
    channels = shape[1]
    inputs = [tensor(*shape), tensor(channels), tensor(channels), integers(channels, low=-2, high=2), integers(channels, low=1, high=3)]
    differentiable(name, batch_norm(**arguments), *inputs)
for name in ("batch_norm_running", "batch_norm_running_half"):
    forward(name, batch_norm(0.25, result=None), tensor(3, 4, 5), tensor(4), tensor(4), tensor(4), positive(4))


def batch_norm_inference(eps=1e-5):
    return lambda x, scale, bias, mean, var: (
        (x - shaped(mean, x)) / torch.sqrt(shaped(var, x) + eps) * shaped(scale, x) + shaped(bias, x))


def shaped(t, x):
    return t.reshape(-1, *[1] * (x.ndim - 2))


for name, shape in [("batch_norm_inference", (3, 4, 3, 3)), ("batch_norm_inference_rows", (7, 5)),
                    ("batch_norm_inference_half", (2, 3, 19)), ("batch_norm_inference_double", (2, 3, 2, 3, 2))]:
    differentiable(name, batch_norm_inference(), tensor(*shape), *[tensor(shape[1]) for _ in range(3)], positive(shape[1]))


# Resizing, as ONNX defines it: a matrix of weights for each axis.
def place(i, n, out, scale, coordinates):
    if coordinates == "align_corners":
        return i * (n - 1) / (out - 1) if out > 1 else 0.0
    if coordinates == "asymmetric":
        return i / scale
    if coordinates == "tf_half_pixel_for_nn":
        return (i + 0.5) / scale
    if coordinates == "pytorch_half_pixel" and out == 1:
        return 0.0
    return (i + 0.5) / scale - 0.5


def resize_matrix(n, scale, mode, nearest, coordinates):
    out = math.floor(n * scale)
    matrix = torch.zeros(out, n, dtype=torch.float64)
    for i in range(out):
        x = place(i, n, out, scale, coordinates)
        if mode == "nearest":
            low, part = math.floor(x), x - math.floor(x)
            at = {"floor": low, "ceil": math.ceil(x), "round_prefer_floor": low + (part > 0.5),
                  "round_prefer_ceil": low + (part >= 0.5)}[nearest]
            taps = {at: 1.0}
        elif mode == "linear":
            x = min(max(x, 0.0), n - 1.0)
            low = math.floor(x)
            taps = {low: 1 - (x - low), low + 1: x - low}
        else:
            low = math.floor(x)
            keys = lambda d: (1.25 * d - 2.25) * d * d + 1 if d <= 1 else ((-0.75 * d + 3.75) * d - 6) * d + 3
            taps = {low + k: keys(abs(x - low - k)) for k in range(-1, 3)}
        for element, weight in taps.items():
            matrix[i, min(max(element, 0), n - 1)] += weight
    return matrix


def interpolate(scales, mode="nearest", nearest="round_prefer_floor", coordinates="half_pixel"):
    def op(x):
        for axis, scale in enumerate(scales):
            if scale != 1:
                matrix = resize_matrix(x.shape[axis], scale, mode, nearest, coordinates)
                x = torch.movedim(torch.tensordot(x, matrix, ([axis], [1])), -1, axis)
        return x

    return op


check = tensor(2, 3, 4, 5)  # ours is PyTorch's, where PyTorch has it
for ours, theirs in [((("nearest", "floor", "asymmetric")), {"mode": "nearest"}),
                     (("linear", "", "pytorch_half_pixel"), {"mode": "bilinear"}),
                     (("linear", "", "align_corners"), {"mode": "bilinear", "align_corners": True}),
                     (("cubic", "", "half_pixel"), {"mode": "bicubic"}),
                     (("cubic", "", "align_corners"), {"mode": "bicubic", "align_corners": True})]:
    assert torch.allclose(interpolate((1, 1, 2, 1.5), *ours)(check), F.interpolate(check, scale_factor=(2, 1.5), **theirs)), ours

for name, shape, arguments in [
    ("interpolate", (1, 2, 4, 5), [(1, 1, 2, 3)]),
    ("interpolate_ceil", (2, 2, 3, 5), [(1, 1, 1.5, 2.5), "nearest", "ceil", "asymmetric"]),
    ("interpolate_floor", (2, 2, 5), [(1, 1, 1.75), "nearest", "floor", "asymmetric"]),
    ("interpolate_round_ceil", (1, 2, 3, 4), [(1, 1, 2, 2), "nearest", "round_prefer_ceil", "align_corners"]),
    ("interpolate_round_floor", (1, 2, 3, 4), [(1, 1, 2, 2), "nearest", "round_prefer_floor", "asymmetric"]),
    ("interpolate_round_half", (1, 2, 3, 4), [(1, 1, 2, 2), "nearest", "round_prefer_ceil", "asymmetric"]),
    ("interpolate_tf", (1, 3, 4), [(1, 1, 2.5), "nearest", "floor", "tf_half_pixel_for_nn"]),
    ("interpolate_channels", (2, 3, 4), [(2, 1.5, 1)]),
    ("interpolate_linear", (1, 1, 2, 37), [(1, 1, 2, 1.25), "linear"]),
    ("interpolate_linear_1d", (2, 3, 7), [(1, 1, 2.5), "linear", "", "asymmetric"]),
    ("interpolate_linear_corners", (2, 2, 3, 4), [(1, 1, 3, 1.5), "linear", "", "align_corners"]),
    ("interpolate_linear_3d", (1, 2, 2, 3, 4), [(1, 1, 2, 1.5, 1.25), "linear", "", "pytorch_half_pixel"]),
    ("interpolate_linear_one", (1, 2, 1, 3), [(1, 1, 1.5, 2), "linear", "", "pytorch_half_pixel"]),
    ("interpolate_cubic", (1, 2, 4, 5), [(1, 1, 2, 1.5), "cubic"]),
    ("interpolate_cubic_corners", (1, 2, 3, 2), [(1, 1, 1.5, 3), "cubic", "", "align_corners"]),
    ("interpolate_half", (1, 2, 4, 5), [(1, 1, 2, 1.5), "linear"]),
    ("interpolate_double", (1, 2, 4, 5), [(1, 1, 2, 1.5), "cubic"]),
]:
    differentiable(name, interpolate(*arguments), tensor(*shape))


# Regions of interest, with integers as coordinates.
def regions(*boxes):
    return torch.tensor(boxes)


boxes = regions((0, 0, 6, 5), (2, 3, 9, 4), (-4, -3, 3, 30), (5, 5, 5, 5))
images = torch.tensor([1, 0, 1, 0])
differentiable("roi_align", roi_align((2, 3), 0.75, 2), tensor(2, 3, 6, 7), boxes, images)
differentiable("roi_align_adaptive", roi_align((2, 2), 0.5, 0), tensor(2, 2, 6, 7), boxes, images)
differentiable("roi_align_half", roi_align((2, 2), 0.5, 2), tensor(2, 2, 5, 6), boxes, images)
differentiable("roi_align_double", roi_align((1, 2), 1.0, 1), tensor(2, 2, 5, 6), boxes, images)


# Pooling with gaps: elements that stand apart, with padding between, and zeros around the result.
def spread(x, spacing, fill):
    result = torch.full([*x.shape[:2], *[(n - 1) * s + 1 for n, s in zip(x.shape[2:], spacing)]], fill, dtype=x.dtype)
    result[(...,) + tuple(slice(None, None, s) for s in spacing)] = x
    return result


def torch_pads(padding):
    axes = len(padding) // 2
    return [padding[axis + end * axes] for axis in reversed(range(axes)) for end in range(2)]


def max_pool(kernel, spacing, padding, out_pads, **options):
    return lambda x: F.pad(getattr(F, f"max_pool{x.ndim - 2}d")(
        F.pad(spread(x, spacing, -torch.inf), torch_pads(padding), value=-torch.inf), kernel, **options), torch_pads(out_pads))


def average_pool(kernel, spacing, padding, out_pads, **options):
    def op(x):
        axes, ones = x.ndim - 2, torch.ones(x.shape[1], 1, *kernel, dtype=x.dtype)
        conv = lambda t: getattr(F, f"conv{axes}d")(F.pad(spread(t, spacing, 0.0), torch_pads(padding)), ones, groups=x.shape[1], **options)
        return F.pad(conv(x) / conv(torch.ones_like(x)), torch_pads(out_pads))

    return op


none = (0, 0, 0, 0)
differentiable("max_pool_out_pads", max_pool((2, 2), (1, 1), none, (1, 0, 2, 1), stride=2), distinct(2, 3, 6, 5))
differentiable("max_pool_in_dilations", max_pool((3, 4), (2, 3), (1, 0, 1, 0), none, stride=(2, 1)), distinct(2, 2, 4, 3))
differentiable("max_pool_gaps_1d", max_pool((3,), (2,), (1, 1), (0, 2), stride=1), distinct(2, 2, 7))
differentiable("max_pool_gaps_3d", max_pool((2, 2, 2), (1, 2, 1), (0, 0, 0, 0, 1, 0), (1, 0, 0, 0, 0, 1), stride=1), distinct(1, 2, 3, 2, 4))
differentiable("average_pool_dilation", average_pool((2, 3), (1, 1), (1, 2, 1, 1), none, dilation=(3, 2)), tensor(1, 2, 7, 6))
differentiable("average_pool_dilation_stride", average_pool((3,), (1,), (2, 1), (0, 0), stride=2, dilation=2), tensor(1, 3, 13))
differentiable("average_pool_gaps", average_pool((2, 3), (2, 2), (0, 1, 0, 1), (0, 1, 2, 0), stride=1), tensor(2, 2, 4, 3))
differentiable("max_pool_gaps_half", max_pool((2, 2), (2, 1), (0, 0, 0, 0), (1, 0, 0, 1), stride=1), distinct(2, 2, 4, 3))
differentiable("average_pool_gaps_half", average_pool((2, 2), (2, 1), (0, 0, 0, 0), (1, 0, 0, 1), stride=1), tensor(2, 2, 4, 3))
differentiable("max_pool_gaps_double", max_pool((2, 2), (2, 1), (0, 0, 0, 0), (1, 0, 0, 1), stride=1), distinct(2, 2, 4, 3))

# Other dtypes of what tests/run/cases/ops.hpp has in float32.
differentiable("double_conv", lambda x, w: F.conv2d(x, w, padding=1, stride=2), small(1, 3, 5, 6), small(2, 3, 3, 3))
differentiable("double_conv_groups", lambda x, w: F.conv1d(x, w, groups=2, dilation=2), small(2, 4, 9), small(6, 2, 3))
differentiable("double_max_pool", lambda x: F.max_pool2d(x, 3, stride=2, padding=1), distinct(1, 2, 7, 6))
differentiable("double_max_pool_tiles", lambda x: F.max_pool2d(x, 2), distinct(1, 2, 4, 19))
differentiable("double_average_pool", lambda x: F.avg_pool2d(x, 3, stride=2, padding=1, count_include_pad=False), tensor(1, 2, 7, 6))
differentiable("double_matmul", torch.matmul, tensor(2, 37), tensor(37, 3))
differentiable("double_softmax", lambda x: torch.softmax(x, -1), tensor(3, 19))
differentiable("double_layer_norm", lambda x, w, b: F.layer_norm(x, (19,), w, b, 0.125), tensor(4, 19), tensor(19), tensor(19))
differentiable("double_group_norm", lambda x, w, b: F.group_norm(x, 2, w, b, 0.125), tensor(2, 4, 3, 5), tensor(4), tensor(4))
labels = torch.tensor([2, 0, 1, 2])
differentiable("double_nll_loss", lambda p, t: F.nll_loss(torch.log(p), t), fixtures.probabilities(4, 3), labels)
differentiable("double_cross_entropy", lambda x, t: F.cross_entropy(x, t, ignore_index=0), tensor(4, 3), labels)
for name in ("half_cross_entropy", "cross_entropy_sum"):
    differentiable(name, lambda x, t: F.cross_entropy(x, t, reduction="sum"), tensor(4, 3), labels)


def with_grad(reduction):
    def op(x, t, scaling):
        x = x.detach().requires_grad_()
        loss = F.cross_entropy(x, t, reduction=reduction)
        gradient, = torch.autograd.grad(loss.sum() * scaling, x)
        return loss, gradient

    return op


forward("cross_entropy_with_grad_tensor", with_grad("mean"), tensor(4, 3), labels, torch.tensor(8.0))
forward("half_cross_entropy_with_grad", with_grad("sum"), tensor(4, 3), labels, torch.tensor(8.0))
forward("double_cross_entropy_with_grad", with_grad("none"), tensor(4, 3), labels, torch.tensor(0.5))

# Products of matrices with a result of another dtype, and of integers, which wrap around.
differentiable("matmul_to_float", torch.matmul, tensor(2, 37), tensor(37, 3))
differentiable("matmul_to_half", torch.matmul, tensor(2, 30), tensor(30, 5))
differentiable("matmul_to_double", torch.matmul, tensor(2, 30), tensor(30, 5))
for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
    least, most = np.iinfo(name).min, np.iinfo(name).max
    high = min(most, 2**24)
    a, b = (fixtures.random.integers(max(least, -high), high, shape, endpoint=True).astype(name) for shape in ((2, 19), (19, 3)))
    if name in ("int64", "uint64"):  # within 53 bits: a double holds the file's numbers
        a, b = a % 4096, b % 4096
    forward(f"matmul_{name}", np.matmul, a, b)

differentiable("average_pool_gaps_double", average_pool((2, 2), (2, 1), (0, 0, 0, 0), (1, 0, 0, 1), stride=1), tensor(2, 2, 4, 3))
differentiable("nll_loss_uint32", lambda p, t: F.nll_loss(torch.log(p), t), fixtures.probabilities(4, 3), labels)
forward("cross_entropy_with_grad_uint32", with_grad("sum"), tensor(4, 3), labels, torch.tensor(2.0))

fixtures.save("ops_networks.txt")
