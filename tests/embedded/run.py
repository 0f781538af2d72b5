#!/usr/bin/env python3
"""Exports networks as C libraries, and links programs in C with them, without C++'s library. They leave the bits of sessions.

The libraries ask for no function but those of memory: see docs/how-to/embedded.md. The programs of examples/embedded learn, in C and
in Python."""

import argparse
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PROJECT = FOLDER.parents[1]
MEMORY = {"memcpy", "memmove", "memset", "memcmp"}
EXPECTED = """\
before init: 2 run: a session without initial values: init() first expected
misaligned: 5 memory that is not aligned: a multiple of the alignment expected
no array: 4 run: a stream without an array: one for each stream expected
shared: 3 run: an array shares memory with another one or with the session: memory of its own expected
cut: 7 load_safetensors: data_offsets outside of the file: bytes behind the header expected
small: 7 save_safetensors: memory smaller than the file: safetensors_bytes expected
"""
FAULT = "other: 1 Div: divisor 0: a number other than 0 expected, in the main graph, 1 more, 6\n"


def run(command, **options):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if result.returncode != 0:
        sys.exit(f"{shlex.join(map(str, command))[:2000]}\n{result.stdout}{result.stderr}")
    return result.stdout


def undefined(library):
    """The functions that a library needs of others."""
    needed, own = set(), set()
    for line in run(["nm", library]).splitlines():
        words = line.split()
        if len(words) >= 2:
            (needed if words[-2] == "U" else own).add(words[-1])
    return needed - own - {"_GLOBAL_OFFSET_TABLE_"}


def hashes_of(file):
    """The lines of values.h for the tensors of a .safetensors file."""
    length = int.from_bytes(file[:8], "little")
    for name, entry in json.loads(file[8:8 + length]).items():
        begin, end = entry["data_offsets"]
        if entry["dtype"] != "F32" or end - begin != 4 * math.prod(entry["shape"]):
            sys.exit(f"{name}: {entry}: float32 of its shape expected")
        number = 1469598103934665603
        for byte in file[8 + length + begin:8 + length + end]:
            number = (number ^ byte) * 1099511628211 & (1 << 64) - 1
        yield f"{name} {number:016x}"


def export(options, folder, name, source, *programs):
    run([sys.executable, PROJECT / "cmake" / "export.py", source, *programs, "--c", folder, "--name", name, "--compiler", options.compiler,
         f"--flags={options.level}"])


def run_in_rom(options, folder):
    """What the network prints whose weights are constants of the executable, and what is wrong with its sections."""
    export(options, folder, "rom", FOLDER / "net.hpp", "infer", "--read-only")
    run(["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", FOLDER / "in_rom.c", f"-I{folder}", f"-I{FOLDER}", f"-L{folder}", f"-Wa,-I{folder}",
         "-lrom", "-o", folder / "in_rom"])
    kinds = {words[-1]: words[-2] for words in map(str.split, run(["nm", folder / "in_rom"]).splitlines())}
    size = int(re.search(r"ROM_BYTES (\d+)", (folder / "rom.h").read_text())[1])
    problems = [] if kinds["trained"] == "r" and size < 256 else [f"weights in section {kinds['trained']}, {size} bytes of memory"]
    return run([folder / "in_rom"]), problems


def run_examples(options, folder):
    """What is wrong with the programs of examples/embedded. Of 200 pictures a guess has 20 right."""
    examples = PROJECT / "examples" / "embedded"
    export(options, folder, "net", examples / "net.hpp", "train_step", "infer")
    run(["gcc", "-O2", examples / "main.c", f"-I{folder}", f"-L{folder}", "-lnet", "-o", folder / "main"])
    run(["gcc", "-shared", "-o", folder / "libnet.so", "-Wl,--whole-archive", folder / "libnet.a", "-Wl,--no-whole-archive", "-lm"])
    texts = [run([folder / "main"])]
    pythons = [each for each in (sys.executable, shutil.which("python3", path="/usr/bin"))  # Debian's NumPy is of its own Python
               if each and subprocess.run([each, "-c", "import numpy"], stderr=subprocess.DEVNULL).returncode == 0]
    if pythons:
        texts.append(run([pythons[0], examples / "train.py", folder / "libnet.so"]))
    else:
        print("WITHOUT examples/embedded/train.py: NumPy is missing, ./dev setup onnx installs it")
    return [text for text in texts if int(re.search(r"(\d+) of 200 are right", text)[1]) < 150]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", default="", help="as in a shell; write --flags=...")
    parser.add_argument("--level", default="-O1 -march=native", help="options of optimisation (%(default)s)")
    options = parser.parse_args()
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name, programs in (("net", ["train_step", "infer"]), ("other", ["other::train_step"])):
            export(options, folder, name, FOLDER / f"{name}.hpp", *programs)
        export(options, folder, "functions", FOLDER / "functions.hpp", "float32_functions", "float64_functions")
        for name in ("net", "other", "functions"):
            if more := undefined(folder / f"lib{name}.a") - MEMORY:
                problems.append(f"lib{name}.a: needs {', '.join(sorted(more))}: functions of memory expected")
        run(["gcc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", FOLDER / "in_c.c", f"-I{folder}", f"-I{FOLDER}",
             f"-L{folder}", "-lnet", "-lother", "-o", folder / "in_c"])
        run([options.compiler, "-std=c++20", *shlex.split(options.flags), f"-I{PROJECT / 'include'}", *shlex.split(options.level),
             FOLDER / "in_cpp.cpp", "-o", folder / "in_cpp", "-lpthread"])
        in_c, in_cpp = run([folder / "in_c", folder / "saved"]), run([folder / "in_cpp"], env=os.environ | {"TILEWRIGHT_LOG_LEVEL": "ERROR"})
        if not in_c.startswith(EXPECTED) or not in_c.endswith(FAULT):
            problems.append(f"in C:\n{in_c}\nwhere this is expected:\n{EXPECTED}...\n{FAULT}")
        bits = in_c.removeprefix(EXPECTED).removesuffix(FAULT)
        if len(in_file := set(hashes_of((folder / "saved").read_bytes()))) != 4 or not in_file <= set(bits.splitlines()):
            problems.append(f"in the file:\n{in_file}\nin C:\n{bits}")
        if sorted(bits.splitlines()) != sorted(in_cpp.splitlines()):
            problems.append(f"in C:\n{bits}\nin sessions:\n{in_cpp}")
        in_rom, wrong = run_in_rom(options, folder)
        problems += wrong if in_rom in bits else [f"weights in constants:\n{in_rom}where a line of this was expected:\n{bits}"]
        problems += run_examples(options, folder / "examples")
    print("\n".join(problems) or f"programs in C and in sessions have equal bits:\n{bits}", end="")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
