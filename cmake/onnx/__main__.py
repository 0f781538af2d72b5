"""Writes the network of an ONNX file as C++: this is `./dev import MODEL --name Net --out FOLDER`, and tilewright-import.

In FOLDER appear net.hpp, a module with a program; net.safetensors, its weights; and net_test.cpp, which runs the network and, if the
folder of the model has test_data_set_0, compares its outputs. `net` is the name in lower case. Lines of net.hpp between the marked
ones stay when it is written again.

    ./dev import model.onnx --name Net --out net --shape batch=8,sequence=128
    ./dev import model.onnx --name Net --out net --fix shape=2,3 --fix-from axes.pb
"""

import argparse
import re
import sys
from pathlib import Path

import guard


def pairs(text):
    """NAME=NUMBER,NAME=NUMBER"""
    result = {}
    for part in text.split(","):
        name, equals, value = part.rpartition("=")
        if not equals or not value.isdigit() or int(value) < 1:
            raise argparse.ArgumentTypeError(f"'{part}': NAME=NUMBER with a number above 0 expected")
        result[name] = int(value)
    return result


def file_of_input(text):
    """INPUT=FILE, or FILE, whose tensor has the input's name"""
    name, _, path = text.rpartition("=")
    return name, path


def assignment(text):
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"'{text}': NAME=VALUE expected")
    return name, value


def main():
    parser = argparse.ArgumentParser(prog="./dev import", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, metavar="MODEL")
    parser.add_argument("--name", default="Net", help="of the module (Net), and in lower case of the files")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--shape", type=pairs, action="append", default=[], metavar="NAME=N,...",
                        help="extents of symbolic dimensions; INPUT.AXIS names one without a symbol")
    parser.add_argument("--fix", type=assignment, action="append", default=[], metavar="INPUT=N,...",
                        help="makes an input a constant")
    parser.add_argument("--fix-from", type=file_of_input, action="append", default=[], metavar="[INPUT=]FILE",
                        help="the same, with the tensor of a .pb file, which names the input if INPUT does not")
    options = parser.parse_args()
    if not re.fullmatch(r"[A-Z]\w*", options.name, re.ASCII):
        sys.exit(f"import: name '{options.name}': a name of C++ that begins with a capital letter expected")
    sys.exit(guard.run(options))


if __name__ == "__main__":
    main()
