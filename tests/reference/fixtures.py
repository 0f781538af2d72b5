"""What the makers of fixtures share: random inputs, and a file of tensors that PyTorch or NumPy computed.

Each line of a file is a tensor: its name, its rank, its extents and its elements. Names are <case>.<tensor>: inputs are x0, x1,
..., results y0, y1, ..., dy0 is the gradient of the result y0, and dx0, dx1, ... are those of the inputs.
Inputs are multiples of 1/16, probabilities of 1/256: float16, float32 and the text hold them exactly.
"""

import json
import struct
from pathlib import Path

import numpy as np
import torch

SAFETENSORS_DTYPES = {torch.float32: "F32", torch.int64: "I64"}


def write_safetensors(path, tensors):
    """Puts a file together from the format's description: eight bytes with the header's length, the header in JSON, the tensors'
    bytes."""
    header, buffer = {"__metadata__": {"format": "pt"}}, b""
    for name, tensor in tensors.items():
        content = tensor.contiguous().numpy().tobytes()
        header[name] = {"dtype": SAFETENSORS_DTYPES[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [len(buffer), len(buffer) + len(content)]}
        buffer += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # as the library pads it
    path.write_bytes(struct.pack("<Q", len(text)) + text + buffer)


class Fixtures:
    """The tensors of one file, and the random numbers of which its inputs are made."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.lines = []

    def tensor(self, *shape, low=-2.0, high=2.0):
        """Random elements in [low, high], none close to 0, where some gradients jump."""
        values = np.round(self.random.uniform(low, high, shape) * 16) / 16
        return torch.tensor(np.where(np.abs(values) < 0.125, 0.25, values))

    def positive(self, *shape):
        return self.tensor(*shape, low=0.25, high=3.0)

    def distinct(self, *shape):
        """Elements of which no two are closer than 1/16, so that a small step does not change which is the largest."""
        count = int(np.prod(shape))
        return torch.tensor((self.random.permutation(count) - count // 2).reshape(shape) / 16.0)

    def integers(self, *shape, low=-9, high=9):
        values = self.random.integers(low, high + 1, shape)
        return torch.tensor(np.where(values == 0, 4, values))

    def probabilities(self, *shape):
        """Rows whose sum is exactly 1, of probabilities far from 0, where log is steep."""
        p = torch.round(torch.softmax(self.tensor(*shape, low=-0.25, high=0.25), -1) * 256) / 256
        p[..., -1] = 1 - p[..., :-1].sum(-1)
        return p

    def write(self, name, values):
        array = values.detach().numpy() if isinstance(values, torch.Tensor) else np.asarray(values)
        elements = " ".join(str(int(e)) if isinstance(e, int) else format(e, ".8g") for e in array.reshape(-1).tolist())
        self.lines.append(" ".join([name, str(array.ndim), *map(str, array.shape), elements]))

    def forward(self, name, op, *inputs):
        """A case without gradients; the op may have several results."""
        results = op(*inputs)
        for i, x in enumerate(inputs):
            self.write(f"{name}.x{i}", x)
        for i, y in enumerate(results if isinstance(results, (tuple, list)) else (results,)):
            self.write(f"{name}.y{i}", y)

    def differentiable(self, name, op, *inputs, dy=None):
        """A case with the gradients of its floating point inputs, given a gradient of the result, or else a random one."""
        inputs = [x.requires_grad_() if x.is_floating_point() else x for x in inputs]
        y = op(*inputs)
        dy = self.tensor(*y.shape) if dy is None else torch.tensor(dy, dtype=y.dtype)
        y.backward(dy)
        self.forward(name, lambda *_: y, *inputs)
        self.write(f"{name}.dy0", dy)
        for i, x in enumerate(inputs):
            if x.is_floating_point():
                self.write(f"{name}.dx{i}", torch.zeros_like(x) if x.grad is None else x.grad)

    def save(self, name):
        path = Path(__file__).with_name(name)
        path.write_text("\n".join(self.lines) + "\n")
        print(f"{path.name}: {len(self.lines)} tensors, {path.stat().st_size} bytes")
