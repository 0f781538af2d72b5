#!/usr/bin/env python3
"""Trains the network of examples/embedded/mps2 on Cortex-M machines that QEMU simulates, and on the host with the same plan, vectors
of one number and the same rounding. All variables have equal bits, and RAM is what the library's header says, with the program's own.
Without --all: the Cortex-M7 only."""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parents[2]
EXAMPLE = PROJECT / "examples" / "embedded" / "mps2"
SKIPPED = 77
MOST_TEXT = 64_000  # of the network's two programs, the digits and the C library


class Machine(NamedTuple):
    qemu: str
    flags: str
    host_flags: str  # with the same fused products
    steps: int


MACHINES = {
    "Cortex-M7": Machine("mps2-an500", "-mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-d16", "-march=x86-64-v3", 200),
    "Cortex-M4": Machine("mps2-an386", "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16", "-march=x86-64-v3", 100),
    "Cortex-M3": Machine("mps2-an385", "-mcpu=cortex-m3 -mthumb", "-march=x86-64", 100),
}
ROUNDING = "-ffp-contract=off"


def run(*command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{command[0]}:\n{result.stdout}{result.stderr}")
    return result.stdout + result.stderr  # where QEMU writes a device's text


def export(folder, compiler, flags):
    run(sys.executable, PROJECT / "cmake" / "export.py", EXAMPLE / "digits.hpp", "train_step", "test_step", "--c", folder, "--name",
        "digits", "--compiler", compiler, f"--flags={flags} {ROUNDING}")


def run_on_device(folder, machine):
    """What the program writes, and the bytes of its text, data and variables."""
    export(folder, "arm-none-eabi-g++", f"-Os {machine.flags}")
    program = folder / "digits.elf"
    run("arm-none-eabi-gcc", *machine.flags.split(), "-O2", "-Wall", "-Wextra", ROUNDING, f"-DSTEPS={machine.steps}", f"-I{folder}",
        EXAMPLE / "start.c", EXAMPLE / "train.c", "-nostartfiles", "-Wl,--gc-sections", "-T", EXAMPLE / "mps2.ld", f"-L{folder}",
        "-ldigits", "-lm", "-o", program)
    sizes = [int(word) for word in run("arm-none-eabi-size", program).splitlines()[1].split()[:3]]
    return run("timeout", "300", "qemu-system-arm", "-M", machine.qemu, "-display", "none", "-semihosting-config",
               "enable=on,target=native", "-kernel", program), sizes


def run_on_host(folder, machine):
    export(folder, "g++", f"-O1 {machine.host_flags} -DTILEWRIGHT_VECTOR_BYTES=4")
    run("gcc", "-O2", ROUNDING, f"-DSTEPS={machine.steps}", f"-I{folder}", EXAMPLE / "host.c", EXAMPLE / "train.c", f"-L{folder}", "-ldigits",
        "-lm", "-o", folder / "host")
    return run(folder / "host")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="also the Cortex-M4 and M3")
    options = parser.parse_args()
    if not shutil.which("arm-none-eabi-g++") or not shutil.which("qemu-system-arm"):
        print("skipped: without arm-none-eabi-g++ and qemu-system-arm; ./dev setup cortex installs them")
        sys.exit(SKIPPED)
    problems = []
    for name, machine in MACHINES.items() if options.all else list(MACHINES.items())[:1]:
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            on_device, (text, data, bss) = run_on_device(folder, machine)
            network = int(re.search(r"DIGITS_BYTES (\d+)", (folder / "digits.h").read_text())[1])
            on_host = run_on_host(folder, machine)
        right = int(re.findall(r"(\d+) of 200", on_device)[-1])
        if on_device != on_host:
            problems.append(f"{name}:\n{on_device}on the host:\n{on_host}where equal bits were expected")
        if right < 140:
            problems.append(f"{name}: {right} of 200 digits are right: 140 expected")
        if text > MOST_TEXT:
            problems.append(f"{name}: {text} bytes of text: at most {MOST_TEXT} expected")
        if not network <= bss <= network + 30_000:
            problems.append(f"{name}: {bss} bytes of variables, of which the network has {network}: at most 30000 more expected")
        print(f"{name}, {machine.steps} steps: {text} bytes of text, {data} of data, {bss} of variables; {on_device.split()[-1]}")
    print("\n".join(problems) or "equal bits on the devices and on the host")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
