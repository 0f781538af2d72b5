#!/usr/bin/python3
"""Writes the variables of models of torch.nn by PyTorch's names, state_dict.safetensors and encoder_layer.safetensors, and
state_dict.txt, their inputs and results.

    python3 tests/reference/make_state_dict.py        (Debian: apt-get install python3-torch python3-numpy)

Results are computed in float64 from the float32 variables of the files.
"""

from pathlib import Path

import torch
from fixtures import Fixtures, write_safetensors

nn = torch.nn


class Classifier(nn.Module):
    """Words, two blocks of a transformer, the mean of all places with a batch norm, and gates of one matrix in three parts."""

    def __init__(self):
        super().__init__()
        block = nn.TransformerEncoderLayer(8, 2, 12, dropout=0, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.ModuleDict({"words": nn.Embedding(11, 8), "norm": nn.BatchNorm1d(8)})
        self.transformer = nn.TransformerEncoder(block, 2, enable_nested_tensor=False)
        self.qkv = nn.Linear(8, 24)

    def forward(self, words, padding):
        x = self.transformer(self.encoder["words"](words), src_key_padding_mask=padding)
        q, k, v = self.qkv(self.encoder["norm"](x.mean(1))).chunk(3, -1)
        return q * torch.sigmoid(k) + v


torch.manual_seed(1613)
model = Classifier()
with torch.no_grad():
    for parameter in model.parameters():  # also those that begin as ones, zeros, or the same in all blocks
        parameter.add_(0.25 * torch.randn(parameter.shape))
    norm = model.encoder["norm"]
    norm.running_mean.copy_(torch.randn(8))
    norm.running_var.copy_(0.5 + torch.rand(8))
write_safetensors(Path(__file__).with_name("state_dict.safetensors"), model.state_dict())

fixtures = Fixtures(1613)
words = torch.tensor([[3, 0, 10, 7, 3], [5, 1, 8, 2, 9]])
padding = torch.tensor([[False, False, True, False, True], [True, False, False, False, False]])
model = model.double()
norm.eval()  # the rest stays in training mode, which is the same without dropout, and whose formulas are the usual ones
fixtures.forward("state_dict", model, words, padding)

layer = nn.TransformerEncoderLayer(4, 2, batch_first=True)  # with its defaults
with torch.no_grad():
    for parameter in layer.parameters():
        parameter.add_(0.25 * torch.randn(parameter.shape))
write_safetensors(Path(__file__).with_name("encoder_layer.safetensors"), layer.state_dict())
layer.double().eval().requires_grad_(True)  # with gradients, PyTorch takes its usual formulas
fixtures.forward("encoder_layer", layer, fixtures.tensor(2, 5, 4))
fixtures.save("state_dict.txt")
