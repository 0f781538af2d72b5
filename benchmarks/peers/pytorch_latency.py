#!/usr/bin/env python3
"""Networks of latency/networks.cpp in PyTorch, traced, frozen and optimised for inference: `pytorch_latency.py NETWORK`, measured as
latency.py says. `pytorch_latency.py NETWORK FILE.onnx` writes the network for others, and prints the shapes of its input and output."""
import os
import sys
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import torch  # noqa: E402
from torch import nn  # noqa: E402


class First(nn.Module):
    """The first of a module's results."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        return self.module(x)[0]


NETWORKS = {
    "perceptron": (lambda: nn.Sequential(nn.Linear(784, 32), nn.GELU(approximate="tanh"), nn.Linear(32, 10)), (1, 784)),
    "controller": (lambda: nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1)), (1, 10)),
    "gru": (lambda: First(nn.GRU(16, 64, batch_first=True)), (1, 8, 16)),
    "dilated": (lambda: nn.Sequential(nn.Conv1d(16, 16, 3, dilation=4), nn.Tanh()), (1, 16, 64)),
}


def main():
    torch.set_num_threads(1)
    make, shape = NETWORKS[sys.argv[1]]
    with torch.inference_mode():
        x = torch.full(shape, 0.5)
        if len(sys.argv) > 2:
            torch.onnx.export(make().eval(), x, sys.argv[2], input_names=["x"], output_names=["y"], opset_version=17)
            return print(*shape, "/", *make()(x).shape)
        network = torch.jit.optimize_for_inference(torch.jit.trace(make().eval(), x))
        for _ in range(10):  # which it specialises for
            network(x)
        print("ready", flush=True)
        for line in sys.stdin:
            times = []
            for _ in range(int(line)):
                start = time.perf_counter_ns()
                network(x)
                times.append(time.perf_counter_ns() - start)
            times.sort()
            print("ns", *(times[(len(times) - 1) * per_mille // 1000] for per_mille in (500, 990, 999, 1000)), flush=True)


if __name__ == "__main__":
    main()
