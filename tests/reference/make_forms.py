#!/usr/bin/env python3
"""Writes ops_forms.txt: each kind of op with operands that are views, and of shapes of few elements, computed by PyTorch.

    /usr/bin/python3 tests/reference/make_forms.py
"""

import torch
import torch.nn.functional as F
from fixtures import Fixtures
from make_random import drops, uniform

f = Fixtures(78)
tensor, positive, distinct, integers = f.tensor, f.positive, f.distinct, f.integers
forward, differentiable = f.forward, f.differentiable
SEEDS = torch.tensor([[7, 9], [0x243F6A88, 0x85A308D3]])


def indices(*shape, below):
    return torch.tensor(f.random.integers(0, below, shape))


def back(x, axis=0):
    return x.flip(axis)


def adam(m, v):
    return m / (v.sqrt() + 1e-7)


def kept(seed, shape, p):
    """The factors of a dropout."""
    count = torch.Size(shape).numel()
    return torch.tensor([0.0 if drops(seed.tolist(), i, p) else 1 / (1 - p) for i in range(count)]).double().reshape(shape)


def uniform_numbers(seed, *shape):
    return torch.tensor([float(uniform(seed.tolist(), i, -2, 3, "float32")) for i in range(torch.Size(shape).numel())]).reshape(shape)


# Views: elements and lines
differentiable("view_exp", lambda x: torch.exp(x[:, ::2]), tensor(5, 38))
differentiable("view_mul", lambda a, b: a.T * back(b), tensor(19, 5), tensor(5, 19))
differentiable("view_inplace", lambda a, b: -(a * 2 + b.T), tensor(5, 19), tensor(19, 5))
differentiable("view_where", lambda c, a, b: torch.where(c.T, back(a), b[:, 1::2]), integers(19, 5) > 0, tensor(5, 19), tensor(5, 38))
differentiable("view_maximum", lambda a, b: torch.maximum(a.T, b[:, ::2]), distinct(19, 5) * 16, distinct(5, 38) * 16 + 0.5)
forward("view_less_equal", lambda a, b: (a.T <= back(b)).int(), integers(19, 5), integers(5, 19))
differentiable("view_cast", lambda x: x.T * 1, tensor(19, 5))
differentiable("view_scaled_add", lambda x, y: 0.5 * x.T - 2 * back(y), tensor(19, 5), tensor(5, 19))
forward("view_adam", lambda m, v: adam(m.T, v[:, ::2]), tensor(19, 5), positive(5, 38))
differentiable("view_matmul", lambda a, b: a.T @ b[:, ::2], tensor(37, 5), tensor(37, 14))
differentiable("view_sum", lambda x: x[:, 1::2].sum(0), tensor(5, 38))
differentiable("view_max", lambda x: torch.amax(x.T, 1), distinct(7, 19))
differentiable("view_cumsum", lambda x: torch.cumsum(x.T, 1), tensor(19, 5))
differentiable("view_topk", lambda x: torch.topk(x.T, 3, 1)[0], distinct(19, 5))
forward("view_argmax", lambda x: x[:, ::2].argmax(1), distinct(5, 38))
forward("view_histogram", lambda x: torch.histc(x[:, ::2].float(), 4, -2, 2), tensor(5, 38) + 1 / 32)

# Views: losses, windows and norms
differentiable("view_softmax", lambda x: torch.softmax(x.T, 1), tensor(19, 5))
differentiable("view_nll_loss", lambda p, t: F.nll_loss(p.T.log(), back(t)), f.probabilities(9, 5).T.contiguous(), indices(9, below=5))
differentiable("view_cross_entropy", lambda x, t: F.cross_entropy(x.T, t[::2]), tensor(5, 9), indices(18, below=5))


def with_grad(x, t):
    x = x.T.detach().requires_grad_()
    loss = F.cross_entropy(x, t[::2])
    return loss, torch.autograd.grad(loss, x)[0]


forward("view_loss_grad", with_grad, tensor(5, 9), indices(18, below=5))
images = lambda x: x.permute(0, 3, 1, 2)
differentiable("view_conv", lambda x, w: F.conv2d(images(x), images(w), padding=1), tensor(2, 5, 6, 3), tensor(4, 3, 3, 3))
differentiable("view_conv_transpose", lambda x, w: F.conv_transpose2d(images(x), images(w), stride=2), tensor(1, 3, 4, 3),
               tensor(3, 3, 2, 4))
differentiable("view_max_pool", lambda x: F.max_pool2d(images(x), 2, 2), distinct(2, 5, 6, 3))
differentiable("view_average_pool", lambda x: F.avg_pool2d(images(x), 2, 1), tensor(2, 5, 6, 3))
differentiable("view_layer_norm", lambda x, w, b: F.layer_norm(x.T, (19,), w[::2], back(b), 0.125), tensor(19, 5), tensor(38), tensor(19))
differentiable("view_group_norm", lambda x, w, b: F.group_norm(x.permute(0, 2, 1), 2, w[::2], back(b), 0.125), tensor(3, 5, 4),
               tensor(8), tensor(4))
differentiable("view_batch_norm", lambda x, w, b, mean, var: F.batch_norm(x.permute(0, 2, 1), None, None, w[::2], back(b), True, eps=0.125),
               tensor(3, 5, 4), tensor(8), tensor(4), integers(4), integers(4, low=1))
differentiable("view_batch_norm_inference", lambda x, w, b, mean, var: (
    (x.permute(0, 2, 1) - back(mean)[:, None]) / torch.sqrt(var[::2, None] + 1e-5) * w[::2, None] + back(b)[:, None]),
    tensor(3, 5, 4), tensor(8), tensor(4), tensor(4), positive(8))

# Views: indices and random numbers
differentiable("view_gather", lambda t, i: t.T[i.T], tensor(7, 19), indices(3, 4, below=19))
places = torch.tensor([[4, 1], [0, 3], [2, 0], [1, 4], [3, 2], [4, 0], [1, 3]])
differentiable("view_scatter", lambda t, i, v: t.T.scatter(0, i.T, v[:, ::2]), tensor(7, 5), places.clone(), tensor(2, 14))
differentiable("view_scatter_sum", lambda x, i: torch.zeros(4, 7).double().index_add(0, back(i), x.T), tensor(7, 9), indices(9, below=4))
differentiable("view_dynamic_slice", lambda t, i: t.T[int(i[1]):int(i[1]) + 3], tensor(7, 19), torch.tensor([9, 5, 9]))
differentiable("view_dynamic_update", lambda t, i, u: torch.cat((t.T[:int(i[1])], u.T, t.T[int(i[1]) + 3:])), tensor(7, 19),
               torch.tensor([9, 5, 9]), tensor(7, 3))
differentiable("view_onehot", lambda i, v: torch.where(F.one_hot(i.T, 5) == 1, v[0], v[2]), indices(7, 3, below=5), tensor(4))
forward("view_sparse_accumulate", lambda t, x, i: t.index_add(0, i[::2], 0.5 * x.T), tensor(7, 5), tensor(5, 9), indices(18, below=7))
differentiable("view_concat", lambda a, b: torch.cat((a.T, back(b)), 1), tensor(19, 5), tensor(5, 7))
differentiable("view_slice", lambda x: x.T[1:, ::2], tensor(19, 5))
forward("view_uniform", lambda s: uniform_numbers(s[1], 5, 19), SEEDS)
differentiable("view_dropout", lambda x, s: x.T * kept(s[1], (5, 19), 0.25), tensor(19, 5), SEEDS.clone())

# Few elements: elementwise
for name, shape in (("scalar", ()), ("one", (1, 1))):
    differentiable(f"{name}_tanh", torch.tanh, tensor(*shape))
    differentiable(f"{name}_inplace", lambda a, b: -(a * 2 + b), tensor(*shape), tensor(*shape))
    differentiable(f"{name}_where", lambda c, a, b: torch.where(c, a, b), integers(*shape) > 0, tensor(*shape), tensor(*shape))
    forward(f"{name}_less_equal", lambda a, b: (a <= b).int(), integers(*shape), integers(*shape))
    differentiable(f"{name}_cast", torch.clone, tensor(*shape))
    differentiable(f"{name}_scaled_add", lambda x, y: 0.5 * x - 2 * y, tensor(*shape), tensor(*shape))
    forward(f"{name}_adam", adam, tensor(*shape), positive(*shape))
    forward(f"{name}_histogram", lambda x: torch.tensor([0, 1]), torch.tensor(0.5).reshape(shape))
    differentiable(f"{name}_dropout", lambda x, s: x * kept(s, x.shape, 0.25), tensor(*shape), SEEDS[1].clone())
    forward(f"{name}_uniform", lambda s: uniform_numbers(s, *shape), SEEDS[1])
forward("outer_less_equal", lambda a, b: (a <= b).int(), integers(4, 1), integers(1, 7))
differentiable("outer_where", torch.where, integers(4, 1, 1) > 0, tensor(3, 1), tensor(1, 7))

# Few elements: axes of one element, lines and losses
differentiable("one_matmul", torch.matmul, tensor(1, 1), tensor(1, 1))
differentiable("one_sum", lambda x: x.sum(1), tensor(3, 1, 5))
differentiable("one_max", lambda x: torch.amax(x, 0), distinct(1, 5))
differentiable("one_logsumexp", lambda x: torch.logsumexp(x, 1), tensor(3, 1))
differentiable("one_topk", lambda x: torch.topk(x, 1, 1)[0], tensor(3, 1))
forward("one_argmax", lambda x: x.argmax(0), tensor(1, 5))
differentiable("one_softmax", lambda x: torch.softmax(x, 1), tensor(3, 1))
differentiable("line_softmax", lambda x: torch.softmax(x, 0), tensor(7))
differentiable("one_nll_loss", lambda p, t: F.nll_loss(p.log(), t), f.probabilities(1, 3), torch.tensor([2]))
differentiable("one_cross_entropy", F.cross_entropy, tensor(1, 1), torch.tensor([0]))
differentiable("line_cross_entropy", F.cross_entropy, tensor(5), torch.tensor(3))
differentiable("one_layer_norm", lambda x, w, b: F.layer_norm(x, (1,), w, b, 0.125), tensor(3, 1), tensor(1), tensor(1))
differentiable("one_group_norm", lambda x, w, b: (x - x) * w + b, tensor(1, 2), tensor(2), tensor(2))
differentiable("one_batch_norm", lambda x, w, b, mean, var: F.batch_norm(x, None, None, w, b, True, eps=0.125), tensor(3, 1, 1),
               tensor(1), tensor(1), integers(1), integers(1, low=1))

# Few elements: windows
differentiable("one_conv", F.conv2d, tensor(1, 1, 1, 1), tensor(1, 1, 1, 1))
differentiable("one_conv_transpose", F.conv_transpose2d, tensor(1, 1, 1, 1), tensor(1, 1, 1, 1))
differentiable("one_max_pool", lambda x: F.max_pool2d(x, 1), tensor(1, 1, 1, 1))
differentiable("one_average_pool", lambda x: F.avg_pool2d(x, 1), tensor(1, 1, 1, 1))
differentiable("one_interpolate", lambda x: F.interpolate(x, scale_factor=(3, 2), mode="bilinear"), tensor(1, 1, 1, 1))
# an image of one element: all samples in a region of it are that element
differentiable("one_roi_align", lambda x, rois, i: x.expand(1, 1, 2, 2) * 1, tensor(1, 1, 1, 1), torch.tensor([[0, 0, 1, 1]]),
               torch.tensor([0]))

# Few elements: indices and parts
differentiable("one_gather", lambda t, i: t[i], tensor(1, 5), torch.tensor([0]))
differentiable("one_scatter", lambda t, i, v: v * 1 + 0 * t, tensor(1, 3), torch.tensor([0]), tensor(1, 3))
differentiable("one_scatter_sum", lambda x, i: x.sum(0, keepdim=True), tensor(4, 3), torch.tensor([0, 0, 0, 0]))
differentiable("one_dynamic_slice", lambda t, i: t[3:4], tensor(5), torch.tensor([3]))
differentiable("whole_dynamic_slice", lambda t, i: t * 1, tensor(3), torch.tensor([0]))
differentiable("one_dynamic_update", lambda t, i, u: torch.cat((t[:3], u, t[4:])), tensor(5), torch.tensor([3]), tensor(1))
differentiable("scalar_onehot", lambda i, v: torch.where(torch.arange(5) == i, v[1], v[0]), torch.tensor(3), tensor(2))
differentiable("one_onehot", lambda i, v: torch.stack((v[1], v[0], v[0]))[:, None], torch.tensor([0, 1, -1]), tensor(2))
forward("one_sparse_accumulate", lambda t, x, i: t + x.sum(0), tensor(1), tensor(3), torch.tensor([0, 0, 0]))
differentiable("one_concat", lambda a, b: torch.cat((a, b)), tensor(1), tensor(1))

f.save("ops_forms.txt")
