#!/usr/bin/python3
"""Writes ops.txt: inputs, results and gradients of every op, computed by PyTorch in float64.

    python3 tests/reference/make_fixtures.py        (Debian: apt-get install python3-torch python3-numpy)
"""

import torch
import torch.nn.functional as F

from fixtures import Fixtures

ops = Fixtures(2024)
tensor, positive, distinct, integers, probabilities = ops.tensor, ops.positive, ops.distinct, ops.integers, ops.probabilities
write, forward, differentiable, random = ops.write, ops.forward, ops.differentiable, ops.random


def nll(p, labels, smallest=1e-7, smallest_in_gradient=1e-10, **options):
    """The loss of probabilities raised to the smallest; the gradient is not 0 below, but divides by its own smallest."""
    log = (p + (p.clamp(min=smallest_in_gradient) - p).detach()).log()
    log = log + (p.clamp(min=smallest).log() - log).detach()
    return F.nll_loss(log.reshape(-1, p.shape[-1]), labels.reshape(-1), **options).reshape(
        labels.shape if options.get("reduction") == "none" else ())


def loss_and_gradient(scale=1.0, **options):
    """The loss of p = softmax(x), and the gradient of x times scale."""

    def op(p, labels, *factor):
        x = p.log().detach().requires_grad_()
        loss = F.cross_entropy(x, labels, **options)
        (loss.sum() * (factor[0].item() if factor else scale)).backward()
        return loss, x.grad

    return op


def gelu(x):
    return F.gelu(x, approximate="tanh")


def truncated(a, b):
    return torch.div(a, b, rounding_mode="trunc")


# Products of matrices
differentiable("matmul", torch.matmul, tensor(2, 3), tensor(3, 4))
differentiable("matmul_vectors", torch.matmul, tensor(5), tensor(5))
differentiable("matmul_row", torch.matmul, tensor(3), tensor(3, 4))
differentiable("matmul_column", torch.matmul, tensor(2, 3), tensor(3))
differentiable("matmul_batched", torch.matmul, tensor(2, 3, 4), tensor(2, 4, 5))
differentiable("matmul_broadcast", torch.matmul, tensor(2, 1, 2, 3), tensor(3, 3, 2))
differentiable("matmul_large", torch.matmul, tensor(9, 70), tensor(70, 21))
differentiable("matmul_transposed", lambda a, b: a.T @ b.T, tensor(70, 9), tensor(21, 70))

# Arithmetic
differentiable("add", torch.add, tensor(2, 3), tensor(2, 3))
differentiable("add_row", torch.add, tensor(2, 3), tensor(3))
differentiable("sub_axes", torch.sub, tensor(2, 1, 3), tensor(4, 1))
differentiable("mul_scalar", torch.mul, tensor(2, 3), tensor())
differentiable("mul_column", torch.mul, tensor(3, 1), tensor(3, 21))
differentiable("div_outer", torch.div, tensor(3, 1), positive(1, 4))
differentiable("numbers", lambda x: (2 * x + 1) / 4 - 3 / x, tensor(2, 3))
differentiable("scaled_add", lambda x, y: 0.5 * x - 2 * y, tensor(3, 19), tensor(3, 19))
differentiable("scaled_add_tensors", lambda x, y, a, b: a * x + b * y, tensor(2, 3), tensor(2, 3), tensor(), tensor(1))
forward("scaled_add_inplace", lambda x, y: 2 * x - y, tensor(3, 19), tensor(3, 19))

# Functions of one input
differentiable("negate", torch.neg, tensor(3, 19))
differentiable("gelu", gelu, tensor(3, 19))
differentiable("relu", torch.relu, tensor(3, 19))
differentiable("exp", torch.exp, tensor(3, 19))
differentiable("log", torch.log, positive(3, 19))
differentiable("sqrt", torch.sqrt, positive(3, 19))
differentiable("tanh", torch.tanh, tensor(3, 19))
differentiable("identity", torch.clone, tensor(2, 3))

# Shapes and reductions
differentiable("reshape", lambda x: x.reshape(3, -1), tensor(2, 6))
differentiable("transpose", lambda x: x.permute(2, 0, 1), tensor(2, 3, 4))
differentiable("transpose_reversed", lambda x: x.permute(2, 1, 0), tensor(2, 3, 4))
differentiable("expand", lambda x: x.expand(2, 3, 4), tensor(3, 1))
differentiable("sum", torch.sum, tensor(2, 3, 4))
differentiable("sum_axis", lambda x: x.sum(1), tensor(2, 3, 4))
differentiable("sum_keep", lambda x: x.sum((0, -1), keepdim=True), tensor(2, 3, 4))
differentiable("sum_long", lambda x: x.sum(1), tensor(3, 130))
differentiable("sum_tall", lambda x: x.sum(0), tensor(130, 3))
differentiable("mean", lambda x: x.mean((0, 1, 2), keepdim=True), tensor(2, 3, 4))
differentiable("mean_axis", lambda x: x.mean(0), tensor(2, 3, 4))
differentiable("mean_axes", lambda x: x.mean((0, 2)), tensor(2, 3, 4))
differentiable("sum_transposed", lambda x: x.permute(2, 0, 1).sum(1), tensor(2, 3, 4))

# Softmax and losses
differentiable("softmax", lambda x: x.softmax(-1), tensor(4, 5))
differentiable("softmax_first", lambda x: x.softmax(0), tensor(4, 5))
differentiable("softmax_middle", lambda x: x.softmax(1), tensor(2, 3, 4))
labels = torch.tensor([2, 0, 1, 2])
differentiable("nll_loss", nll, probabilities(4, 3), labels)
differentiable("nll_loss_sum", lambda p, l: nll(p, l, reduction="sum"), probabilities(4, 3), labels)
differentiable("nll_loss_none", lambda p, l: nll(p, l, reduction="none"), probabilities(2, 2, 3), labels.reshape(2, 2))
differentiable("nll_loss_ignore", lambda p, l: nll(p, l, ignore_index=2), probabilities(4, 3), labels)
differentiable("nll_loss_log_prob", F.nll_loss, tensor(4, 3, low=-3, high=-0.25), labels)
small = [[2.0**-30, 0.5, 0.5], [0.5, 2.0**-20, 0.5], [0.25, 0.75, 0.0], [0.25, 0.25, 0.5]]
differentiable("nll_loss_small", nll, torch.tensor(small, dtype=torch.float64), torch.tensor([0, 1, 2, 1]), dy=0.75)
differentiable("cross_entropy", lambda x, l: F.cross_entropy(x, l, ignore_index=0), tensor(4, 3), labels)
forward("loss_grad", loss_and_gradient(), probabilities(4, 3), labels)
forward("loss_grad_scaled", loss_and_gradient(8.0, reduction="sum"), probabilities(4, 3), labels)
forward("loss_grad_none", loss_and_gradient(reduction="none"), probabilities(4, 3), labels)
forward("loss_grad_ignore", loss_and_gradient(ignore_index=2), probabilities(4, 3), labels)
forward("loss_grad_tensor", loss_and_gradient(), probabilities(4, 3), labels, torch.tensor(2.5))
forward("cross_entropy_with_grad", lambda x, l: loss_and_gradient(4.0)(x.softmax(-1), l), tensor(4, 3), labels)

# Half precision, and what has a gradient that is not its derivative
differentiable("detach", lambda x: x * x.detach(), tensor(2, 3))
differentiable("half_add", torch.add, tensor(2, 3), tensor(3))
differentiable("half_gelu", gelu, tensor(3, 19))
differentiable("half_matmul", torch.matmul, tensor(4, 70), tensor(70, 3))
differentiable("half_sum", lambda x: x.sum(1), tensor(3, 130))
differentiable("half_mean", lambda x: x.mean(0), tensor(5, 3))
differentiable("half_softmax", lambda x: x.softmax(-1), tensor(4, 5))
differentiable("half_nll_loss", nll, probabilities(4, 3), labels)
small = [[2.0**-20, 0.5, 0.5], [0.5, 2.0**-10, 0.5], [0.25, 0.75, 0.0], [0.25, 0.25, 0.5]]
differentiable("half_nll_loss_small", lambda p, l: nll(p, l, 6.104e-5, 6.104e-5), torch.tensor(small, dtype=torch.float64),
               torch.tensor([0, 1, 2, 1]), dy=0.75)
forward("half_loss_grad", loss_and_gradient(16.0), probabilities(4, 3), labels)
differentiable("half_scaled_add", lambda x, y: x + 0.5 * y, tensor(2, 3), tensor(2, 3))

# Integers and casts
forward("int_add", torch.add, integers(2, 3), integers(3))
forward("int_mul", torch.mul, integers(2, 3), integers(2, 1))
forward("int_div", truncated, integers(4, 5), integers(4, 5, low=-4, high=4))
forward("int_negate", torch.neg, integers(2, 3))
forward("int_sum", torch.sum, integers(3, 130))
forward("int_matmul", torch.matmul, integers(2, 70), integers(70, 3))
differentiable("cast_to_half", torch.clone, tensor(2, 3))
differentiable("cast_from_half", torch.clone, tensor(2, 3))
forward("cast_to_int", torch.trunc, tensor(3, 19, low=-9, high=9))
forward("cast_from_int", torch.clone, integers(2, 3))
forward("cast_to_bool", lambda x: x.bool(), torch.tensor([0.0, 0.25, -3.0, 0.0]))

# Normalisation, and softmax of long lines
differentiable("softmax_long", lambda x: x.softmax(-1), tensor(3, 37))
differentiable("softmax_long_first", lambda x: x.softmax(0), tensor(37, 3))
differentiable("layer_norm", lambda x, w, b: F.layer_norm(x, (5,), w, b), tensor(4, 5), tensor(5), tensor(5))
differentiable("layer_norm_long", lambda x, w, b: F.layer_norm(x, (37,), w, b, 0.125), tensor(2, 3, 37), tensor(37), tensor(37))
differentiable("layer_norm_line", lambda x, w, b: F.layer_norm(x, (16,), w, b), tensor(16), tensor(16), tensor(16))
differentiable("layer_norm_transposed", lambda x, w, b: F.layer_norm(x.T, (4,), w, b), tensor(4, 5), tensor(4), tensor(4))
differentiable("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b), tensor(3, 6), tensor(6), tensor(6))
differentiable("group_norm_images", lambda x, w, b: F.group_norm(x, 2, w, b, 0.125), tensor(2, 4, 3, 7), tensor(4), tensor(4))
differentiable("half_layer_norm", lambda x, w, b: F.layer_norm(x, (19,), w, b), tensor(4, 19), tensor(19), tensor(19))
differentiable("half_group_norm", lambda x, w, b: F.group_norm(x, 1, w, b), tensor(2, 3, 5), tensor(3), tensor(3))

# Updates of variables
def adam(m, v, w=None, step=None, decay=0.0, beta1=0.9, beta2=0.875, epsilon=1e-7):
    if step is not None:
        m, v = m / (1 - beta1 ** (step + 1)), v / (1 - beta2 ** (step + 1))
    return m / (v.sqrt() + epsilon) + (0 if w is None else decay * w)


def trusted(t, x, r1, r2, learning_rate, limit):
    return t - learning_rate * torch.minimum(r1.sqrt(), limit) / r2.sqrt() * x


forward("accumulate", torch.add, tensor(3, 19), tensor(3, 19))
forward("accumulate_tensor", lambda t, x, f: t + f * x, tensor(3, 19), tensor(3, 19), tensor(1))
forward("accumulate_square", lambda t, x: t + 0.5 * x * x, tensor(3, 19), tensor(3, 19))
forward("accumulate_mean", lambda t, x: t * 3 / 4 + x / 4, tensor(3, 19), tensor(3, 19))
forward("accumulate_mean_tensor", lambda t, x, s: t * s / (s + 1) + x / (s + 1), tensor(2, 3), tensor(2, 3), positive())
forward("accumulate_average", lambda t, x: 0.75 * t + 0.25 * x, tensor(3, 19), tensor(3, 19))
forward("accumulate_average_square", lambda t, x, f: f * t + (1 - f) * x * x, tensor(2, 3), tensor(2, 3), positive())
forward("accumulator_scale", lambda t: 0.5 * t, tensor(3, 19))
forward("accumulator_scale_tensor", torch.mul, tensor(2, 3), tensor())
forward("accumulator_zero", torch.zeros_like, tensor(3, 19))
forward("copy_var_update", lambda t, x: x, tensor(2, 3), tensor(2, 3))
forward("adam", adam, tensor(3, 19), positive(3, 19))
forward("adam_corrected", lambda m, v, s: adam(m, v, step=s), tensor(3, 19), positive(3, 19), torch.tensor(2.0))
forward("adam_decay", lambda m, v, w, s: adam(m, v, w, s, 0.125), tensor(3, 19), positive(3, 19), tensor(3, 19), torch.tensor(0.0))
forward("adam_tensors", lambda m, v, w, s, d, b, c: adam(m, v, w, s, d, b, c), tensor(2, 3), positive(2, 3), tensor(2, 3),
        torch.tensor(4.0), positive(), torch.tensor(0.75), torch.tensor([0.5]))
forward("adamax", lambda m, v, w, s: m / (1 - 0.9 ** (s + 1)) / (v + 1e-7) + 0.125 * w, tensor(3, 19), positive(3, 19),
        tensor(3, 19), torch.tensor(3.0))
forward("adam_var_update", trusted, tensor(2, 3), tensor(2, 3), positive(), positive(), torch.tensor(0.5), torch.tensor(1.25))
forward("adam_var_update_zero", lambda t, x, r1, r2: t - 0.5 * x, tensor(2, 3), tensor(2, 3), torch.tensor(0.0), positive())
forward("half_accumulate", lambda t, x: t + 0.5 * x, tensor(2, 3), tensor(2, 3))
forward("half_copy_var_update", lambda t, x: x, tensor(2, 3), tensor(2, 3))
forward("half_adam", lambda m, v, s: adam(m, v, step=s), tensor(3, 19), positive(3, 19), torch.tensor(2.0))

# Convolution and pooling. They come last, so that the random numbers of the cases above stay as they are.
def conv(padding=None, **options):
    """A convolution of any number of spatial axes; padding is all beginnings, then all ends."""

    def op(x, weight):
        return getattr(F, f"conv{x.ndim - 2}d")(padded(x, padding, 0.0), weight, **options)

    return op


def padded(x, padding, value):
    if not padding:
        return x
    axes = x.ndim - 2
    return F.pad(x, [p for axis in reversed(range(axes)) for p in (padding[axis], padding[axis + axes])], value=value)


def max_pool(kernel, padding=None, **options):
    return lambda x: getattr(F, f"max_pool{x.ndim - 2}d")(padded(x, padding, -torch.inf), kernel, **options)


def average_pool(kernel, padding=0, **options):
    return lambda x: getattr(F, f"avg_pool{x.ndim - 2}d")(x, kernel, padding=padding, count_include_pad=False, **options)


def small(*shape):
    """Weights small enough for sums of many products to stay small."""
    return tensor(*shape, low=-0.5, high=0.5)


differentiable("conv", conv(), tensor(2, 3, 7, 6), tensor(4, 3, 3, 3))
differentiable("conv_channels", conv((1, 1, 1, 1)), small(2, 18, 5, 6), small(34, 18, 3, 2))
differentiable("conv_one_channel", conv((1, 0, 0, 1)), tensor(3, 1, 9, 11), tensor(18, 1, 3, 3))
differentiable("conv_stride", conv((0, 2, 1, 1), stride=(2, 3)), small(2, 17, 6, 8), small(5, 17, 3, 4))
differentiable("conv_dilation", conv((2, 1, 2, 3), stride=(1, 2), dilation=(2, 3)), small(2, 9, 10, 12), small(17, 9, 3, 2))
differentiable("conv_groups", conv((1, 1, 1, 1), groups=2), tensor(3, 4, 5, 6), tensor(6, 2, 3, 3))
differentiable("conv_grouped_blocks", conv(groups=3), tensor(2, 6, 6, 7), tensor(6, 2, 3, 3))
differentiable("conv_depthwise", conv((1, 1, 1, 1), groups=5), tensor(2, 5, 6, 7), tensor(5, 1, 3, 3))
differentiable("conv_same_upper", conv((0, 0, 1, 1), stride=(2, 1)), tensor(2, 3, 6, 5), tensor(4, 3, 3, 2))
differentiable("conv_same_lower", conv((1, 1, 0, 0), stride=(2, 1)), tensor(2, 3, 6, 5), tensor(4, 3, 3, 2))
differentiable("conv_valid", conv(stride=(2, 2)), tensor(2, 3, 7, 6), tensor(4, 3, 2, 2))
differentiable("conv_points", conv(), small(2, 21, 5, 5), small(19, 21, 1, 1))
differentiable("conv_large_kernel", conv((3, 2, 3, 2)), small(1, 5, 6, 7), small(9, 5, 7, 5))
differentiable("conv_cropped", conv((3, 2, 0, 3)), tensor(2, 3, 4, 4), tensor(10, 3, 2, 2))
differentiable("conv_1d", conv((2, 1), stride=2), small(1, 9, 40), small(17, 9, 5))
differentiable("conv_3d", conv((1, 0, 1, 0, 1, 1), stride=(1, 2, 1)), tensor(2, 2, 3, 4, 5), tensor(3, 2, 2, 3, 2))
differentiable("max_pool", max_pool(2, stride=2), distinct(2, 2, 4, 34))
differentiable("max_pool_odd", max_pool(2, stride=2), distinct(2, 3, 7, 5))
differentiable("max_pool_gaps", max_pool((2, 1), stride=(3, 2)), distinct(2, 3, 7, 5))
differentiable("max_pool_overlap", max_pool(3, (1, 1, 1, 1), stride=2), distinct(2, 3, 7, 6))
differentiable("max_pool_dilation", max_pool((2, 3), stride=1, dilation=(3, 2)), distinct(2, 3, 7, 6))
differentiable("max_pool_ceil", max_pool(2, stride=(2, 3), ceil_mode=True), distinct(2, 3, 7, 6))
differentiable("max_pool_same", max_pool((2, 3), (0, 1, 1, 1), stride=(2, 1)), distinct(2, 3, 5, 6))
differentiable("max_pool_1d", max_pool(3, stride=3), distinct(2, 3, 10))
differentiable("max_pool_3d", max_pool(2, stride=(2, 2, 1)), distinct(2, 2, 4, 5, 3))
differentiable("average_pool", average_pool(2, stride=2), tensor(2, 3, 6, 8))
differentiable("average_pool_padding", average_pool((3, 2), (1, 1), stride=(2, 1)), tensor(2, 3, 6, 5))
differentiable("average_pool_ceil", average_pool(2, stride=(2, 3), ceil_mode=True), tensor(2, 3, 7, 6))
differentiable("average_pool_1d", average_pool(4, stride=1), tensor(2, 3, 20))
differentiable("average_pool_3d", average_pool(2, stride=(1, 2, 1)), tensor(2, 2, 3, 4, 3))
differentiable("half_conv", conv((1, 1, 1, 1)), small(2, 3, 5, 5), small(2, 3, 3, 3))
differentiable("half_max_pool", max_pool(2, stride=2), distinct(2, 3, 4, 5))
differentiable("half_average_pool", average_pool(2, (1, 1), stride=1), tensor(2, 3, 4, 5))
differentiable("max_pool_ties", max_pool(2, stride=2),
               torch.tensor([[[[1.0, 1.0, -1.0, -2.0, 0.0, 3.0], [1.0, 1.0, -2.0, -1.0, 3.0, 3.0]]]], dtype=torch.float64))
differentiable("max_pool_ties_overlap", max_pool(2, stride=1), torch.ones(1, 1, 3, 3, dtype=torch.float64))

# Sums of squares, last for the same reason
forward("lamb_square", lambda x: (x * x).sum(), tensor(3, 19))
forward("lamb_square_large", lambda x: (x * x).sum(), tensor(40, 67))
forward("lamb_square_transposed", lambda x: (x * x).sum(), tensor(5, 3, 4))
forward("lamb_square_scalar", lambda x: (x * x).sum(), tensor())
forward("half_lamb_square", lambda x: (x * x).sum(), tensor(7, 50))
forward("half_adam_tensors", lambda m, v, w, s, d, b, c, e: adam(m, v, w, s, d, b, c, e), tensor(3, 19), positive(3, 19),
        tensor(3, 19), torch.tensor(4.0), positive(), torch.tensor(0.75), torch.tensor([0.5]), torch.tensor(0.125))
forward("adam_var_update_numbers", lambda t, x, r1, r2: trusted(t, x, r1, r2, 0.5, torch.tensor(0.75)), tensor(2, 3), tensor(2, 3),
        positive(), positive())

for kind in ("double", "half"):
    forward(f"{kind}_adam_all", lambda m, v, w, s, d, b, c, e: adam(m, v, w, s, d, b, c, e), tensor(3, 19), positive(3, 19),
            tensor(3, 19), torch.tensor(4.0), positive(), torch.tensor(0.75), torch.tensor([0.5]), torch.tensor(0.125))
    forward(f"{kind}_adam_var_update", trusted, tensor(2, 3), tensor(2, 3), positive(), positive(), torch.tensor(0.5),
            torch.tensor(1.25))
forward("double_lamb_square", lambda x: (x * x).sum(), tensor(7, 50))
forward("half_accumulator_scale", torch.mul, tensor(3, 19), tensor())
forward("half_accumulate_half", lambda t, x: t + 0.5 * x, tensor(3, 19), tensor(3, 19))
forward("accumulate_of_half", lambda t, x: t + 0.5 * x, tensor(3, 19), tensor(3, 19))

ops.save("ops.txt")
