#!/usr/bin/env python3
"""Writes ops_losses.txt: losses by PyTorch's names with all reductions and options, in several dtypes and at edges, and their
gradients, computed by PyTorch in float64. Needs PyTorch and NumPy."""

import torch
import torch.nn.functional as F
from fixtures import Fixtures

fixtures = Fixtures(1317)
tensor, positive, integers = fixtures.tensor, fixtures.positive, fixtures.integers
differentiable = fixtures.differentiable
# Weights of classes are constants of the cases: PyTorch has no gradient for them.
WEIGHTS = {3: [0.5, 2, 1.25], 5: [1.5, 0, 0.25, 3, 1], 40: [(7 * i % 16) / 8 for i in range(40)]}


def values(*elements, shape=None):
    x = torch.tensor(elements, dtype=torch.float64)
    return x.reshape(shape) if shape else x


def labels(*shape, classes):
    return torch.tensor(fixtures.random.integers(0, classes, shape))


def signs(*shape):
    return torch.tensor(fixtures.random.choice([-1, 1], shape))


def bce(x, t, weight=None, pos_weight=None, reduction="mean"):
    """With gradients of the weights, which PyTorch does not have."""
    zero = torch.zeros_like(x)
    softplus, softplus_of_negative = torch.logaddexp(x, zero), torch.logaddexp(-x, zero)
    p = 1 if pos_weight is None else pos_weight
    losses = (1 if weight is None else weight) * (p * t * softplus_of_negative + (1 - t) * softplus)
    y = losses.mean() if reduction == "mean" else losses.sum() if reduction == "sum" else losses
    theirs = F.binary_cross_entropy_with_logits(*(None if e is None else e.detach() for e in (x, t, weight)), reduction=reduction,
                                                pos_weight=None if pos_weight is None else pos_weight.detach())
    assert torch.allclose(y, theirs)
    return y


def cross_entropy(classes=None, **options):
    weight = values(*WEIGHTS[classes]) if classes else None
    return lambda x, t: F.cross_entropy(x.reshape(-1, x.shape[-1]), t.reshape(-1).long(), weight, **options).reshape(
        t.shape if options.get("reduction") == "none" else ())


def smooth(prefix):
    def case(name, op, *inputs, dy=None):
        differentiable(f"loss_{prefix}_{name}", op, *(x.detach().clone() for x in inputs), dy=dy)

    case("mse_mean", F.mse_loss, tensor(3, 4), tensor(3, 4))
    case("mse_sum", lambda x, t: F.mse_loss(x, t, reduction="sum"), tensor(2, 3, 5), tensor(2, 3, 5))
    case("mse_none", lambda x, t: F.mse_loss(x, t, reduction="none"), tensor(7), tensor(7))
    p = fixtures.probabilities
    case("bce_mean", bce, tensor(3, 4), p(3, 4))
    case("bce_sum_pos_weight", lambda x, t, w: bce(x, t, None, w, "sum"), tensor(2, 3, 5), p(2, 3, 5), positive(5))
    case("bce_none_weight", lambda x, t, w: bce(x, t, w, None, "none"), tensor(3, 4), p(3, 4), positive(3, 1))
    case("bce_mean_both", lambda x, t, v, w: bce(x, t, v, w), tensor(3, 7), p(3, 7), positive(3, 7), positive(7))
    case("kl_mean", F.kl_div, tensor(3, 4), p(3, 4))
    case("kl_sum", lambda x, t: F.kl_div(x, t, reduction="sum"), tensor(2, 3, 5), p(2, 3, 5))
    case("kl_none", lambda x, t: F.kl_div(x, t, reduction="none"), tensor(7), p(7))
    case("kl_mean_log", lambda x, t: F.kl_div(x, t, log_target=True), tensor(3, 5), tensor(3, 5))
    case("kl_none_log", lambda x, t: F.kl_div(x, t, log_target=True, reduction="none"), tensor(6), tensor(6))

    def cosine(**options):
        def op(a, b, t):
            y = F.cosine_embedding_loss(a.reshape(-1, a.shape[-1]), b.reshape(-1, b.shape[-1]), t.reshape(-1), **options)
            return y.reshape(t.shape if options.get("reduction") == "none" else ())

        return op

    case("cosine_mean", cosine(), tensor(6, 5), tensor(6, 5), signs(6))
    case("cosine_sum_margin", cosine(margin=0.25, reduction="sum"), tensor(9, 3), tensor(9, 3), signs(9))
    case("cosine_none", cosine(margin=-0.5, reduction="none"), tensor(2, 3, 4), tensor(2, 3, 4), signs(2, 3))
    case("cosine_line", cosine(), tensor(9), tensor(9), torch.tensor(-1))
    case("ce_mean_smoothed", cross_entropy(label_smoothing=0.1), tensor(6, 3), labels(6, classes=3))
    case("ce_none_smoothed", cross_entropy(label_smoothing=0.5, reduction="none"), tensor(2, 3, 40), labels(2, 3, classes=40))
    case("ce_mean_weight", cross_entropy(3), tensor(6, 3), labels(6, classes=3))
    case("ce_sum_weight", cross_entropy(40, reduction="sum"), tensor(4, 40), labels(4, classes=40))
    case("ce_none_weight", cross_entropy(5, reduction="none"), tensor(5, 5), labels(5, classes=5))
    case("ce_mean_both", cross_entropy(5, label_smoothing=0.25), tensor(5, 5), torch.tensor([0, 4, 1, 1, 3]))
    case("ce_sum_both", cross_entropy(40, label_smoothing=0.1, reduction="sum"), tensor(4, 40), labels(4, classes=40))
    case("ce_mean_ignored", cross_entropy(3, label_smoothing=0.2, ignore_index=1), tensor(2, 4, 3), labels(2, 4, classes=3))
    case("ce_mean_smoothed_ignored", cross_entropy(label_smoothing=0.2, ignore_index=-100), tensor(4, 3),
         torch.tensor([0, -100, 2, -100]))
    case("ce_smoothed_away", cross_entropy(5, label_smoothing=1.0), tensor(4, 5), labels(4, classes=5))


def with_kinks(prefix):
    """With differences at the kinks, and of 0."""

    def case(name, op, *inputs, dy=None):
        differentiable(f"loss_{prefix}_{name}", op, *(x.detach().clone() for x in inputs), dy=dy)

    case("l1_mean", F.l1_loss, tensor(3, 4), tensor(3, 4))
    case("l1_sum", lambda x, t: F.l1_loss(x, t, reduction="sum"), tensor(2, 3, 5), tensor(2, 3, 5))
    around = (0, 0, 0.5, -0.5, 0.5625, -0.5625, 2, -2, 2.25, -1.75, 0.0625)
    case("l1_none", lambda x, t: F.l1_loss(x, t, reduction="none"), values(*around), values(0, 1, *[0] * 9))
    case("smooth_l1_mean", F.smooth_l1_loss, tensor(3, 4), tensor(3, 4))
    case("smooth_l1_sum", lambda x, t: F.smooth_l1_loss(x, t, reduction="sum", beta=0.3), tensor(2, 3, 5), tensor(2, 3, 5))
    # With a beta of 0 PyTorch's gradient of no difference is dy; l1_loss, which it shall be then, has 0.
    case("smooth_l1_none_0", lambda x, t: F.l1_loss(x, t, reduction="none"), values(*around), values(*[0] * 11))
    for name, beta in ("none", 0.5), ("none_2", 2.0), ("none_small", 1e-7):
        case(f"smooth_l1_{name}", lambda x, t, beta=beta: F.smooth_l1_loss(x, t, reduction="none", beta=beta), values(*around),
             values(*[0] * 11))
    case("huber_mean", F.huber_loss, tensor(3, 4), tensor(3, 4))
    case("huber_sum", lambda x, t: F.huber_loss(x, t, reduction="sum", delta=0.3), tensor(2, 3, 5), tensor(2, 3, 5))
    for name, delta in ("none", 0.5), ("none_2", 2.0), ("none_small", 1e-7):
        case(f"huber_{name}", lambda x, t, delta=delta: F.huber_loss(x, t, reduction="none", delta=delta), values(*around),
             values(*[0] * 11))


def at_edges(prefix, large):
    """Logits up to `large`, equal elements, zeros, and weights of 0."""

    def case(name, op, *inputs, dy=None):
        differentiable(f"loss_{prefix}_{name}", op, *(x.detach().clone() for x in inputs), dy=dy)

    x = values(large, -large, 100, -100, 20, -20, 1, -1, 0)
    for name, t in ("0", 0), ("1", 1), ("half", 0.5):
        case(f"bce_{name}", lambda x, t: bce(x, t, reduction="none"), x, values(*[t] * 9), dy=[1] * 9)
    case("bce_no_weight", lambda x, t, v, w: bce(x, t, v, w, "none"), x, values(*[0.5] * 9), values(*[0, 1, 0] * 3),
         values(*[0, 0, 2] * 3), dy=[1] * 9)
    target = values(0, 0, 0, 0.5, 1)  # a constant: PyTorch's gradient of 0 is NaN
    case("kl_zeros", lambda x: F.kl_div(x, target, reduction="none"), values(-100, -1, 0, -large, 0))
    case("mse_far", lambda x, t: F.mse_loss(x, t, reduction="mean"), values(200, -200, 3, 3), values(-50, 40, 3, 3))
    case("huber_far", F.huber_loss, values(large, -large, 3, 3), values(-100, 100, 3, 3))
    case("cosine_zeros", F.cosine_embedding_loss, values(0, 0, 1, 2, 3, -3, shape=(3, 2)), values(1, 2, 1, 2, 3, 3, shape=(3, 2)),
         torch.tensor([-1, 1, -1]))
    logits = values(large, 0, -large, 0, -large, large, 3, 3, 3, 100, -100, 0, shape=(4, 3))
    smoothed = {"label_smoothing": 0.1}
    for name, options in ("weight", {"classes": 3}), ("smoothed", smoothed), ("both", {"classes": 3, **smoothed}):
        case(f"ce_{name}", cross_entropy(reduction="none", **options), logits, torch.tensor([2, 1, 0, 1]))
    case("ce_no_weight", cross_entropy(5), tensor(4, 5), torch.tensor([1, 0, 1, 4]))


for kind in ("f32", "f16", "bf16", "f64"):
    smooth(kind)
    if kind != "bf16":  # float16 has the same path
        with_kinks(kind)
at_edges("f32_edge", 1e4)
at_edges("f16_edge", 6e4)
# Many rows, which are cut into parts.
differentiable("loss_parts_ce_mean", cross_entropy(5, label_smoothing=0.25, ignore_index=2), tensor(130, 5), labels(130, classes=5))
differentiable("loss_parts_ce_none", cross_entropy(5, reduction="none"), tensor(5, 26, 5), labels(5, 26, classes=5))
differentiable("loss_parts_bce", bce, tensor(130, 5), fixtures.probabilities(130, 5))
differentiable("loss_parts_huber", F.huber_loss, tensor(130, 5), tensor(130, 5))
fixtures.save("ops_losses.txt")
