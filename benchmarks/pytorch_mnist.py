#!/usr/bin/env python3
"""The training of examples/mnist.cpp in eager PyTorch on one thread, for comparison: prints steps per second.

    /usr/bin/python3 benchmarks/pytorch_mnist.py [steps]      (Debian: python3-torch libopenblas0-pthread)

The data are random: only the time counts. With the plain BLAS instead of
OpenBLAS, PyTorch is ten times slower.
"""
import os
import sys
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when torch is loaded

import torch  # noqa: E402
from torch import nn  # noqa: E402


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    torch.set_num_threads(1)
    torch.manual_seed(1)
    gelu = nn.GELU(approximate="tanh")
    net = nn.Sequential(nn.Flatten(), nn.Linear(784, 512), gelu, nn.Linear(512, 512), gelu, nn.Linear(512, 512), gelu,
                        nn.Linear(512, 10))
    optimiser = torch.optim.SGD(net.parameters(), lr=0.05)
    loss_of = nn.CrossEntropyLoss()
    images, labels = torch.randn(steps, 8, 28, 28), torch.randint(0, 10, (steps, 8))

    def train(batches):
        for batch in batches:
            optimiser.zero_grad()
            loss_of(net(images[batch]), labels[batch]).backward()
            optimiser.step()

    train(range(20))
    start = time.perf_counter()
    train(range(steps))
    print(f"PyTorch {torch.__version__}: {steps / (time.perf_counter() - start):.0f} it/s")


if __name__ == "__main__":
    main()
