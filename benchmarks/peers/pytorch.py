#!/usr/bin/env python3
"""The suite's workloads in PyTorch, for comparison: `pytorch.py WORKLOAD THREADS`, measured as protocol.hpp says.

Eager PyTorch, and TorchScript for inference. Inputs lie in memory, the loss or the result is fetched in every step, float32.
Debian: python3-torch libopenblas0-pthread; with the plain BLAS in place of OpenBLAS, PyTorch is ten times slower.
"""
import os
import sys
import time

WORKLOAD, THREADS = sys.argv[1], sys.argv[2]
# torch.set_num_threads alone does not keep PyTorch to one core: these are read when it is loaded
os.environ.update(OMP_NUM_THREADS=THREADS, OPENBLAS_NUM_THREADS=THREADS, MKL_NUM_THREADS=THREADS)

import torch  # noqa: E402
from torch import nn  # noqa: E402

BATCHES, LABEL_BATCHES = 16, 13  # in memory; as workloads/session.hpp says


def gelu():
    return nn.GELU(approximate="tanh")


def random(*shape):
    return torch.rand(BATCHES, *shape) * 2 - 1


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
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.qkv, self.projection = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.feed_forward = nn.Sequential(nn.Linear(hidden, feed_forward), gelu(), nn.Linear(feed_forward, hidden))

    def scores(self, q, k):
        return q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5

    def attention(self, x):
        batch, sequence, hidden = x.shape
        q, k, v = self.qkv(x).view(batch, sequence, 3, self.heads, hidden // self.heads).permute(2, 0, 3, 1, 4)
        probabilities = torch.softmax(self.scores(q, k), -1)
        return self.projection((probabilities @ v).transpose(1, 2).reshape(batch, sequence, hidden))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.feed_forward(self.norm2(x))


class CausalBlock(EncoderBlock):
    """The same where no token sees later ones, as in GPT-2."""

    def __init__(self, hidden, heads, sequence):
        super().__init__(hidden, heads, 4 * hidden)
        self.register_buffer("mask", torch.triu(torch.full((sequence, sequence), -torch.inf), 1))

    def scores(self, q, k):
        return super().scores(q, k) + self.mask


def gpt(layers, hidden, heads, sequence, classes):
    blocks = (CausalBlock(hidden, heads, sequence) for _ in range(layers))
    return nn.Sequential(*blocks, nn.LayerNorm(hidden), nn.Linear(hidden, classes), nn.Flatten(0, 1))


class Gpt(nn.Module):
    """With embeddings of tokens and of places; the tokens' is used again for the logits."""

    def __init__(self, layers, hidden, heads, sequence, vocabulary):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, hidden), nn.Embedding(sequence, hidden)
        for table in (self.tokens, self.places):
            nn.init.normal_(table.weight, std=0.02)
        self.blocks = nn.Sequential(*(CausalBlock(hidden, heads, sequence) for _ in range(layers)), nn.LayerNorm(hidden))

    def forward(self, x):
        return (self.blocks(self.tokens(x) + self.places.weight) @ self.tokens.weight.T).flatten(0, 1)


def training(net, optimiser, *shape, tokens=1, vocabulary=0, **options):
    """A training step with the cross entropy as loss; each of a batch's elements has so many tokens, with a label each. With a
    vocabulary, the input is tokens."""
    images = torch.randint(0, vocabulary, (BATCHES, *shape)) if vocabulary else random(*shape)
    labels = torch.randint(0, 10, (LABEL_BATCHES, shape[0] * tokens))
    loss_of, optimiser = nn.CrossEntropyLoss(), optimiser(net.parameters(), **options)

    def step(i):
        optimiser.zero_grad()
        loss = loss_of(net(images[i % BATCHES]), labels[i % LABEL_BATCHES])
        loss.backward()
        optimiser.step()
        return loss.item()

    return step


def inference(net, *shape):
    images = random(*shape)

    def step(i):
        with torch.no_grad():
            return net(images[i % BATCHES])[0, 0].item()

    return step


def forward_and_backward(net, *shape):
    """The result, and the gradients of all weights for a given gradient of the result; no update."""
    inputs, gradients = random(*shape), random(*shape)

    def step(i):
        net.zero_grad(set_to_none=True)
        result = net(inputs[i % BATCHES])
        result.backward(gradients[i % BATCHES])
        return result[0, 0, 0].item()

    return step


WORKLOADS = {
    "mnist_sgd": lambda: training(mnist(), torch.optim.SGD, 8, 28, 28, lr=0.05),
    "mnist_adam": lambda: training(mnist(), torch.optim.Adam, 8, 28, 28, lr=1e-3),
    "mnist_inference": lambda: inference(mnist(), 80, 28, 28),
    "mnist_inference_script": lambda: inference(torch.jit.optimize_for_inference(torch.jit.script(mnist().eval())), 80, 28, 28),
    "mnist_guide": lambda: training(guide(), torch.optim.SGD, 8, 28, 28, lr=0.05),
    "encoder_block": lambda: forward_and_backward(EncoderBlock(), 4, 128, 256),
    "cnn": lambda: training(cnn(), torch.optim.SGD, 32, 1, 28, 28, lr=0.05),
    "gpt_nano": lambda: training(gpt(4, 128, 4, 64, 65), torch.optim.Adam, 12, 64, 128, tokens=64, lr=1e-4),
    "gpt_124m": lambda: training(gpt(12, 768, 12, 128, 512), torch.optim.SGD, 1, 128, 768, tokens=128, lr=0.05),
    "gpt_llmc": lambda: training(Gpt(4, 128, 4, 64, 512), torch.optim.AdamW, 4, 64, tokens=64, vocabulary=512, lr=1e-4,
                                 weight_decay=0),
    "encoder": lambda: forward_and_backward(nn.Sequential(*(EncoderBlock() for _ in range(12))), 4, 128, 256),
}


def main():
    torch.set_num_threads(int(THREADS))
    torch.manual_seed(1)
    step = WORKLOADS[WORKLOAD]()
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
