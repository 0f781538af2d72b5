#!/usr/bin/env python3
"""Trains the README's network from Python, by ctypes and NumPy: `train.py libnet.so`. The library comes from `./dev export`:

    ./dev export examples/embedded/net.hpp train_step infer --c build/net
    gcc -shared -o build/net/libnet.so -Wl,--whole-archive build/net/libnet.a -Wl,--no-whole-archive -lm
"""

import ctypes
import sys

import numpy as np

library = ctypes.CDLL(sys.argv[1])
BYTES, ALIGNMENT = (ctypes.c_size_t.in_dll(library, name).value for name in ("net_bytes", "net_alignment"))


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


class Variable(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_char_p), ("offset", ctypes.c_size_t), ("rank", ctypes.c_int),
                ("shape", ctypes.c_int64 * 6)]


block = np.zeros(BYTES + ALIGNMENT, np.uint8)
net = block[-block.ctypes.data % ALIGNMENT:][:BYTES]
assert library.net_init(pointer(net), ctypes.c_uint64(1), None) == 0
table = (Variable * ctypes.c_size_t.in_dll(library, "net_count_of_variables").value).in_dll(library, "net_variables")
variables = {row.name.decode(): net[row.offset:].view(row.dtype.decode())[:np.prod(row.shape[:row.rank])].reshape(row.shape[:row.rank])
             for row in table}

random = np.random.default_rng(1)
pictures = random.random((10, 28, 28), np.float32) - np.float32(0.5)


def draw(count):
    labels = random.integers(0, 10, count, np.int32)
    return pictures[labels] + 2 * random.random((count, 28, 28), np.float32) - 1, labels


loss, logits = np.zeros(1, np.float32), np.zeros((1, 10), np.float32)
for step in range(200):
    images, labels = draw(8)
    assert library.net_run_train_step(pointer(net), pointer(images), pointer(labels), pointer(loss), None) == 0
images, labels = draw(200)
right = 0
for image, label in zip(images, labels):
    assert library.net_run_infer(pointer(net), pointer(image), pointer(logits), None) == 0
    right += logits.argmax() == label
print(f"fc1.weight {variables['fc1.weight'].shape}, loss {loss[0]:.3f}, {right} of 200 are right")
