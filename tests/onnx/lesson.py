#!/usr/bin/env python3
"""Runs the three commands of lesson 15, whose module is what the import writes. The C library gives PyTorch's scores, and learns three
other waves while its convolutions stay."""

import argparse
import ctypes
import re
import runpy
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
LESSON = PROJECT / "examples/lessons/15_from_pytorch"
MODULE = re.compile(r"^struct Net.*?^}\n\n", re.MULTILINE | re.DOTALL)  # and infer_net


def run(*command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{command[0]}: {result.stdout}{result.stderr[:3000]}")


class Library:
    """The C library of a network, with its memory."""

    def __init__(self, path):
        self.code = ctypes.CDLL(str(path))
        size, alignment = (ctypes.c_size_t.in_dll(self.code, f"net_{name}").value for name in ("bytes", "alignment"))
        block = np.zeros(size + alignment, "u1")
        self.memory = block[-block.ctypes.data % alignment:][:size]

    def call(self, function, *arguments):
        given = [each if isinstance(each, ctypes.c_size_t) else ctypes.c_void_p(each.ctypes.data) for each in (self.memory, *arguments)]
        status = self.code[f"net_{function}"](*given, None)
        if status != 0:
            sys.exit(f"net_{function}: {status}")

    def saved(self):
        file = np.zeros(ctypes.c_size_t.in_dll(self.code, "net_file_bytes").value, "u1")
        self.call("save", file, ctypes.c_size_t(file.size))
        return file.tobytes()


def draw(random):
    """Waves that PyTorch has not seen: a short pulse, the size of a sine or a triangle."""
    label = random.integers(3, size=32).astype("i4")
    turn = (np.arange(64) * 3 / 64 + random.random((32, 1))) % 1
    kinds = np.stack([np.where(turn < 0.2, 1, -1), 2 * np.sin(np.pi * turn) - 1, 1 - 4 * np.abs(turn - 0.5)])
    return (kinds[label, np.arange(32)] + 0.2 * random.normal(size=(32, 64))).astype("f4"), label


def share_right(net, random):
    scores, right = np.zeros((32, 3), "f4"), 0
    for _ in range(10):
        wave, label = draw(random)
        net.call("run_infer_net", wave, scores)
        right += int((scores.argmax(1) == label).sum())
    return right / 320


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="g++")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sys.argv = ["", name]
        pytorch = runpy.run_path(f"{LESSON}.py")
        run(sys.executable, PROJECT / "cmake/onnx", folder / "model.onnx", "--out", folder)
        if MODULE.search((folder / "net.hpp").read_text())[0] not in Path(f"{LESSON}.cpp").read_text():
            sys.exit(f"lesson 15 has another module than the import writes:\n{(folder / 'net.hpp').read_text()}")
        run(sys.executable, PROJECT / "cmake/export.py", f"{LESSON}.cpp", "fine_tune", "infer_net", "--c", folder / "net", "--compiler",
            options.compiler)
        run("gcc", "-shared", "-o", folder / "net.so", "-Wl,--whole-archive", folder / "net/libnet.a", "-Wl,--no-whole-archive", "-lm")
        net = Library(folder / "net.so")
        weights = np.frombuffer((folder / "net.safetensors").read_bytes(), "u1")
        net.code.net_init(ctypes.c_void_p(net.memory.ctypes.data), ctypes.c_uint64(1), None)
        net.call("load", weights, ctypes.c_size_t(weights.size))
    scores, loss, random = np.zeros((32, 3), "f4"), np.zeros(1, "f4"), np.random.default_rng(1)
    wave, _ = pytorch["draw"]()
    net.call("run_infer_net", wave.numpy(), scores)
    np.testing.assert_allclose(scores, pytorch["network"](wave).detach().numpy(), 1e-4, 1e-5)
    before, convolutions = share_right(net, np.random.default_rng(2)), pytorch["network"].conv2.weight.detach().numpy()
    for _ in range(300):
        net.call("run_fine_tune", *draw(random), loss)
    after = share_right(net, np.random.default_rng(2))
    print(f"of the other waves, {before:.0%} are right before, and {after:.0%} after")
    if not before < 0.5 < 0.9 < after:
        sys.exit("less than 50 % before, and more than 90 % after expected")
    if convolutions.tobytes() not in net.saved():
        sys.exit("frozen convolutions that changed")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    try:
        import numpy as np
        import onnx  # noqa: F401
        import torch  # noqa: F401
    except ImportError as error:
        print(f"python3-{error.name} is not installed: left out")
        sys.exit(77)
    main()
