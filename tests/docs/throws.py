#!/usr/bin/env python3
"""Runs a program that must end with an exception, and looks for the texts in what it prints.

    throws.py PROGRAM SOURCE      each line `// prints: TEXT` of the source has a text

The program runs in a folder with net.safetensors, the state of a torch.nn.Linear(784, 10) whose elements are 0, by the names
`head.weight` and `head.bias`.
"""

import json
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path


def write_linear(path):
    weight, bias = 4 * 10 * 784, 4 * 10
    header = json.dumps({"head.bias": {"dtype": "F32", "shape": [10], "data_offsets": [0, bias]},
                         "head.weight": {"dtype": "F32", "shape": [10, 784], "data_offsets": [bias, bias + weight]}}).encode()
    header += b" " * (-len(header) % 8)
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(bias + weight))


def main():
    program, source = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    expected = re.findall(r"^// prints: (.*)$", source.read_text(), re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder:
        write_linear(Path(folder) / "net.safetensors")
        result = subprocess.run([program], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    printed = " ".join(result.stdout.split())
    missing = [text for text in expected if text not in printed]
    if result.returncode == 0 or missing or not expected:
        sys.exit(f"exit status {result.returncode}; not printed: {missing}\n{result.stdout}")


if __name__ == "__main__":
    main()
