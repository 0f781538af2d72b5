#!/usr/bin/env python3
"""The suite's workloads in PyTorch, for comparison: `pytorch.py WORKLOAD THREADS [OPTION...]`, measured as protocol.hpp says.

Options: `compiled`: by torch.compile, the update too; `fused`: attention as one function, images with their channels last;
`values`: print what `./dev bench --only values` compares, and end. Without `compiled` PyTorch is eager, or TorchScript for one inference. Inputs lie
in memory, the loss or the result is fetched in every step, float32.
Debian: python3-torch libopenblas0-pthread; with the plain BLAS in place of OpenBLAS, PyTorch is ten times slower.
"""
import logging
import os
import subprocess
import sys
import tempfile
import time

WORKLOAD, THREADS, *OPTIONS = sys.argv[1:]
COMPILED, FUSED = "compiled" in OPTIONS, "fused" in OPTIONS
# What torch.compile makes stays there, for the next time.
CACHE = os.path.join(tempfile.gettempdir(), f"tilewright_torch_compile_{THREADS}")
# torch.set_num_threads alone does not keep PyTorch to one core: these are read when it is loaded
os.environ.update(OMP_NUM_THREADS=THREADS, OPENBLAS_NUM_THREADS=THREADS, MKL_NUM_THREADS=THREADS, TORCHINDUCTOR_CACHE_DIR=CACHE,
                  TORCHINDUCTOR_AUTOGRAD_CACHE="1", TORCHINDUCTOR_COMPILE_THREADS="1")

import torch  # noqa: E402
from torch import nn  # noqa: E402

BATCHES, LABEL_BATCHES = 16, 13  # in memory; as workloads/session.hpp says


def set_up_compiler():
    """torch.compile with vectors. Debian's libtorch does not give the functions of SLEEF on, which its vectors call: without
    them the compiler's test of vectors fails, and torch.compile makes scalar code."""
    import torch._inductor.config as config
    os.makedirs(CACHE, exist_ok=True)
    sleef = ["-Wl,--no-as-needed", "-lsleef"]
    link = ["g++", "-shared", "-x", "c++", os.devnull, "-o", os.path.join(CACHE, "empty.so"), *sleef]
    has_sleef = subprocess.run(link, stderr=subprocess.DEVNULL).returncode == 0
    compiler = os.path.join(CACHE, "g++")
    with open(compiler, "w") as script:
        script.write(f'#!/bin/sh\nexec g++ -march=native "$@" {" ".join(sleef) if has_sleef else ""}\n')
    os.chmod(compiler, 0o755)
    config.cpp.cxx, config.cpp.threads = (None, compiler), int(THREADS)
    torch._logging.set_logs(all=logging.ERROR)
    from torch._inductor.cpu_vec_isa import pick_vec_isa
    if not pick_vec_isa():
        print("torch.compile makes scalar code here", file=sys.stderr)


def compiled(function):
    return torch.compile(function, dynamic=False) if COMPILED else function


def numbers(count, tensor):
    """Numbers from -1 to 1 for the elements of a tensor with a number, by a hash: others have the same, as onednn.hpp."""
    bits = (torch.arange(count) * 2654435761 + tensor * 97531) & 0xFFFFFFFF
    bits = ((bits ^ (bits >> 15)) * 2246822519) & 0xFFFFFFFF
    return (bits ^ (bits >> 13)).double().mul(2**-31).sub(1).float()


def below(end, count, tensor):
    """Likewise integers from 0 to before `end`."""
    return ((numbers(count, tensor).double() + 1) / 2 * end).long().clamp(max=end - 1)


def images_of(*shape, first=1000):
    """Batches of a shape with numbers from -1 to 1. They are tensors of so many numbers from `first` on."""
    count = 1
    for extent in shape:
        count *= extent
    batches = [numbers(count, first + i).view(shape) for i in range(BATCHES)]
    return [batch.contiguous(memory_format=torch.channels_last) for batch in batches] if FUSED and len(shape) == 4 else batches


def labels_of(count):
    return [below(10, count, 3000 + i) for i in range(LABEL_BATCHES)]


def gelu():
    return nn.GELU(approximate="tanh")


def mnist():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 512), gelu(), nn.Linear(512, 512), gelu(), nn.Linear(512, 512), gelu(),
                         nn.Linear(512, 10))


def guide():
    """The user guide's network, which has gelu after its last layer too."""
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 32), gelu(), nn.Linear(32, 10), gelu())


def cnn():
    return nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(64 * 5 * 5, 10))


class EncoderBlock(nn.Module):
    """A transformer encoder block that normalises first, without dropout: hidden 256, 4 heads, feed-forward 1,024.

    The projections to queries, keys and values are one matrix product, as in PyTorch's own layers. Those
    (nn.TransformerEncoderLayer) do the same, as fast.
    """

    def __init__(self, hidden=256, heads=4, feed_forward=1024):
        super().__init__()
        self.heads = heads
        self.register_buffer("mask", None)
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.qkv, self.projection = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.feed_forward = nn.Sequential(nn.Linear(hidden, feed_forward), gelu(), nn.Linear(feed_forward, hidden))

    def mix(self, q, k, v):
        """softmax(q k^T / sqrt(size of a head)) v."""
        if FUSED:
            return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.mask is not None)
        scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
        return torch.softmax(scores if self.mask is None else scores + self.mask, -1) @ v

    def attention(self, x):
        batch, sequence, hidden = x.shape
        q, k, v = self.qkv(x).view(batch, sequence, 3, self.heads, hidden // self.heads).permute(2, 0, 3, 1, 4)
        return self.projection(self.mix(q, k, v).transpose(1, 2).reshape(batch, sequence, hidden))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.feed_forward(self.norm2(x))


class CausalBlock(EncoderBlock):
    """The same where no token sees later ones, as in GPT-2."""

    def __init__(self, hidden, heads, sequence):
        super().__init__(hidden, heads, 4 * hidden)
        self.mask = torch.triu(torch.full((sequence, sequence), -torch.inf), 1)


class CausalAttention(nn.Module):
    """Attention to earlier tokens alone, of variables q, k and v: (batch, heads, tokens, size of a head)."""

    def __init__(self, *shape):
        super().__init__()
        self.q, self.k, self.v = (nn.Parameter(torch.randn(shape)) for _ in range(3))
        self.register_buffer("mask", torch.triu(torch.full((shape[-2], shape[-2]), -torch.inf), 1))

    mix = EncoderBlock.mix

    def forward(self):
        return self.mix(self.q, self.k, self.v)


def gpt(layers, hidden, heads, sequence, classes):
    blocks = (CausalBlock(hidden, heads, sequence) for _ in range(layers))
    return nn.Sequential(*blocks, nn.LayerNorm(hidden), nn.Linear(hidden, classes), nn.Flatten(0, 1))


class Gpt(nn.Module):
    """The whole network, of tokens: learnt positions, and the head's weights are those of the embedding."""

    def __init__(self, layers, hidden, heads, sequence, vocabulary):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, hidden), nn.Embedding(sequence, hidden)
        nn.init.normal_(self.tokens.weight, std=0.02), nn.init.normal_(self.positions.weight, std=0.02)
        self.blocks = nn.Sequential(*(CausalBlock(hidden, heads, sequence) for _ in range(layers)), nn.LayerNorm(hidden))

    def forward(self, tokens):
        x = self.blocks(self.tokens(tokens) + self.positions.weight)
        return (x @ self.tokens.weight.T).flatten(0, 1)


class Step:
    """What is measured: `step(i)` gives a number that it computed; `net` is what it runs."""

    def __init__(self, net, run):
        self.net, self.run = net, run

    def values(self):
        """To compare: what three steps give."""
        return [self.run(i) for i in range(3)]


def training(net, optimiser, inputs, labels, **options):
    """A training step with the cross entropy as loss."""
    if FUSED and len(inputs[0].shape) == 4:
        net = net.to(memory_format=torch.channels_last)
    cross_entropy, optimiser = nn.CrossEntropyLoss(), optimiser(net.parameters(), **options)
    loss_of, update = compiled(lambda x, y: cross_entropy(net(x), y)), compiled(optimiser.step)

    def step(i):
        optimiser.zero_grad()
        loss = loss_of(inputs[i % len(inputs)], labels[i % len(labels)])
        loss.backward()
        update()
        return loss.item()

    return Step(net, step)


def inference(net, *shape):
    images = images_of(*shape)
    if COMPILED:
        from torch._inductor import config
        config.freezing = True  # weights are constants
        net.eval()
    result_of = compiled(net)

    def step(i):
        with torch.no_grad():
            return result_of(images[i % BATCHES])[0, 0].item()

    return Step(net, step)


class ForwardAndBackward(Step):
    """The result, and the gradients of all weights for a given gradient of the result; no update."""

    def __init__(self, net, *shape, takes_input=True):
        super().__init__(net, self.step)
        self.inputs = [(x,) for x in images_of(*shape)] if takes_input else [()] * BATCHES
        self.gradients, self.result_of = images_of(*shape, first=2000), compiled(net)

    def step(self, i):
        self.net.zero_grad(set_to_none=True)
        result = self.result_of(*self.inputs[i % BATCHES])
        result.backward(self.gradients[i % BATCHES])
        return result[(0,) * result.dim()].item()

    def values(self):
        """An element of the result, and the mean size of each gradient."""
        return [self.step(0), *(parameter.grad.abs().mean().item() for parameter in self.net.parameters())]


SGD, ADAM, ADAMW = torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW
WORKLOADS = {
    "mnist_sgd": lambda: training(mnist(), SGD, images_of(8, 28, 28), labels_of(8), lr=0.05),
    "mnist_adam": lambda: training(mnist(), ADAM, images_of(8, 28, 28), labels_of(8), lr=1e-3),
    "mnist_inference": lambda: inference(mnist(), 80, 28, 28),
    "mnist_inference_script": lambda: inference(torch.jit.optimize_for_inference(torch.jit.script(mnist().eval())), 80, 28, 28),
    "mnist_guide": lambda: training(guide(), SGD, images_of(8, 28, 28), labels_of(8), lr=0.05),
    "encoder_block": lambda: ForwardAndBackward(EncoderBlock(), 4, 128, 256),
    "cnn": lambda: training(cnn(), SGD, images_of(32, 1, 28, 28), labels_of(32), lr=0.05),
    "gpt_nano": lambda: training(gpt(4, 128, 4, 64, 65), ADAM, images_of(12, 64, 128), labels_of(12 * 64), lr=1e-4),
    "gpt_124m": lambda: training(gpt(12, 768, 12, 128, 512), SGD, images_of(1, 128, 768), labels_of(128), lr=0.05),
    "gpt_llmc": lambda: training(Gpt(4, 128, 4, 64, 512), ADAMW, [below(512, 4 * 64, 1000 + i).view(4, 64) for i in range(BATCHES)],
                                 labels_of(4 * 64), lr=1e-4, weight_decay=0),
    "attention": lambda: ForwardAndBackward(CausalAttention(1, 12, 1024, 64), 1, 12, 1024, 64, takes_input=False),
    "encoder": lambda: ForwardAndBackward(nn.Sequential(*(EncoderBlock() for _ in range(12))), 4, 128, 256),
}


def print_values():
    """With weights and biases up to 0.1, norms' weights of 0.9 to 1.1, each parameter a tensor with its number."""
    step = WORKLOADS[WORKLOAD]()
    modules = {f"{name}.weight": module for name, module in step.net.named_modules()}
    with torch.no_grad():
        for number, (name, parameter) in enumerate(step.net.named_parameters()):
            start = 1 if isinstance(modules.get(name), nn.LayerNorm) else 0
            parameter.copy_(start + 0.1 * numbers(parameter.numel(), number).view(parameter.shape))
    print("values", *(f"{value:.8g}" for value in step.values()))


def main():
    torch.set_num_threads(int(THREADS))
    torch.manual_seed(1)
    if COMPILED:
        set_up_compiler()
    if "values" in OPTIONS:
        print_values()
        return
    step = WORKLOADS[WORKLOAD]().run
    step(0)
    print("ready", flush=True)
    for line in sys.stdin:
        seconds, count, start = float(line), 0, time.perf_counter()
        while (elapsed := time.perf_counter() - start) < seconds:
            step(count)
            count += 1
        print(f"it/s {count / elapsed:.3f} threads {torch.get_num_threads()}", flush=True)


if __name__ == "__main__":
    main()
