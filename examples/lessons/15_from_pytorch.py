#!/usr/bin/env python3
"""Trains a network in PyTorch to tell three waves apart, and writes it as FOLDER/model.onnx: `15_from_pytorch.py FOLDER`. It needs
Debian's python3-torch. 15_from_pytorch.cpp goes on."""

import sys
from pathlib import Path

import torch
from torch import nn

PERIODS, NOISE = 3, 0.2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv1d(1, 8, 5, stride=2), nn.Conv1d(8, 16, 5, stride=2)
        self.head = nn.Linear(16 * 13, 3)

    def forward(self, wave):
        x = torch.relu(self.conv1(wave))
        return self.head(torch.relu(self.conv2(x)).flatten(1))


def draw():
    """32 waves of 64 samples, and of which kind each is: a sine, a square or a saw."""
    label = torch.randint(3, (32,))
    turn = (torch.arange(64) * (PERIODS / 64) + torch.rand(32, 1)) % 1
    kinds = torch.stack([torch.sin(2 * torch.pi * turn), torch.where(turn < 0.5, 1.0, -1.0), 2 * turn - 1])
    return (kinds[label, torch.arange(32)] + NOISE * torch.randn(32, 64))[:, None], label


torch.manual_seed(1)
network = Net()
optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
for _ in range(300):
    wave, label = draw()
    optimiser.zero_grad()
    nn.functional.cross_entropy(network(wave), label).backward()
    optimiser.step()
wave, label = draw()
print(f"{int((network(wave).argmax(1) == label).sum())} of 32 waves are right")
folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
torch.onnx.export(network, wave, str(folder / "model.onnx"), opset_version=17, training=torch.onnx.TrainingMode.TRAINING,
                  do_constant_folding=False, input_names=["wave"], output_names=["scores"])
