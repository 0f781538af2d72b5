#!/usr/bin/env python3
"""Trains the networks of examples/embedded/mps2 on Cortex-M machines that QEMU simulates, and on the host with the same plan, vectors
of one number and the same rounding. The .safetensors files that they write are equal. One goes from the host to the device, and
trains on there: the bits are those of a run without a break. RAM is what the library's header says, with the program's own. The
digits are generated, or those of MNIST where TILEWRIGHT_MNIST names its folder.
Without --all: one network on the Cortex-M7 only, for 200 steps."""

import argparse
import gzip
import os
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


class Machine(NamedTuple):
    name: str
    qemu: str
    flags: str
    host_flags: str  # with the same fused products
    steps: int
    right: int  # of 200 digits, at least


class Network(NamedTuple):
    name: str
    most_text: int  # bytes of both programs, of the example and of the C library


MACHINES = [
    Machine("Cortex-M7", "mps2-an500", "-mcpu=cortex-m7 -mthumb -mfloat-abi=hard -mfpu=fpv5-d16", "-march=x86-64-v3", 1000, 140),
    Machine("Cortex-M4", "mps2-an386", "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16", "-march=x86-64-v3", 100, 80),
    Machine("Cortex-M3", "mps2-an385", "-mcpu=cortex-m3 -mthumb", "-march=x86-64", 100, 80),
]
NETWORKS = [Network("digits", 64_000), Network("conv", 64_000)]
QUICK_STEPS = 200
ROUNDING = "-ffp-contract=off"
MNIST = {"train": 8000, "test": 200}
# Functions of a float32 program that compute with doubles: the page's table says why.
DOUBLES = re.compile(r"detail::(fused|fill_|scale_values|write_values)|log_of_double|ClassLoss|kernel::sum|draw_between")
# Both programs share variables, and take turns in the frame; arrays of streams are the caller's.
BYTES = """
constexpr auto of_train = tw::static_bytes<train_step, tw::one_core>, of_test = tw::static_bytes<test_step, tw::one_core>;
constexpr auto larger(auto member) { return of_train.*member < of_test.*member ? of_test.*member : of_train.*member; }
static_assert(larger(&tw::StaticBytes::variables) + of_train.constants + of_test.constants + of_train.remote + of_test.remote +
              larger(&tw::StaticBytes::frame) + larger(&tw::StaticBytes::faults) + larger(&tw::StaticBytes::state) == %d);
"""


def run(*command, **options):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if result.returncode != 0:
        sys.exit(f"{command[0]}:\n{result.stdout}{result.stderr}")
    return result.stdout + result.stderr  # where QEMU writes a device's text


def export(source, folder, compiler, flags, *programs, name="digits"):
    run(sys.executable, PROJECT / "cmake" / "export.py", source, *programs, "--c", folder, "--name", name, "--compiler", compiler,
        f"--flags={flags} {ROUNDING}")


def link_for_device(folder, machine, program, *sources, flags=(), name="digits"):
    """Links a program of C with the library in a folder, and writes a map beside it."""
    run("arm-none-eabi-gcc", *machine.flags.split(), "-O2", "-Wall", "-Wextra", "-fdata-sections", ROUNDING, *flags, f"-I{EXAMPLE}",
        f"-I{folder}", EXAMPLE / "start.c", *sources, "-nostartfiles", "-Wl,--gc-sections", f"-Wl,-Map={program}.map", "-T", EXAMPLE / "mps2.ld",
        f"-L{folder}", f"-l{name}", "-lm", "-o", program)


def run_on_device(program, machine, folder, *options):
    """What the program writes, and the bytes of its stack."""
    text = run("timeout", "1200", "qemu-system-arm", "-M", machine.qemu, "-display", "none", "-semihosting-config",
               "enable=on,target=native", *options, "-kernel", program, cwd=folder)
    found = re.fullmatch(r"(.*)stack: (\d+) bytes\n", text, re.DOTALL)
    if not found:
        sys.exit(f"{machine.name}:\n{text}")
    return found[1], int(found[2])


def link_for_host(folder, program, *sources, flags=(), name="digits"):
    run("gcc", "-O2", "-Wall", "-Wextra", ROUNDING, *flags, f"-I{EXAMPLE}", f"-I{folder}", *sources, f"-L{folder}", f"-l{name}", "-lm", "-o",
        program)


def write_digits(folder, library):
    """Writes train.digits and test.digits."""
    if mnist := os.environ.get("TILEWRIGHT_MNIST"):
        for (name, count), prefix in zip(MNIST.items(), ("train", "t10k")):
            pixels = gzip.open(Path(mnist) / f"{prefix}-images-idx3-ubyte.gz").read()[16:]
            labels = gzip.open(Path(mnist) / f"{prefix}-labels-idx1-ubyte.gz").read()[8:]
            digits = b"".join(pixels[784 * i:784 * (i + 1)] + labels[i:i + 1] for i in range(count))
            (folder / f"{name}.digits").write_bytes(digits)
    else:
        link_for_host(library, folder / "draw", EXAMPLE / "draw.c")
        for name, count, seed in (("train", 8000, 1000), ("test", 200, 1)):
            run(folder / "draw", folder / f"{name}.digits", count, seed)


def sizes_of(program, library):
    """Bytes by section and origin: the library, C's library and the rest, from the linker's map."""
    sizes, section = {}, ""
    for line in Path(f"{program}.map").read_text().split("Linker script and memory map")[1].replace("\n  ", " ").splitlines():
        if found := re.match(r"^(\.text|\.data|\.bss)\b", line):
            section = found[1]
        elif re.match(r"^\.", line):
            section = ""
        elif section and (found := re.match(r"^ \S*\s+0x[0-9a-f]+\s+(0x[0-9a-f]+) (\S+)", line)):
            origin = "network" if library in found[2] else "C library" if re.search(r"lib(c|m|gcc)\w*\.a", found[2]) else "program"
            sizes[section, origin] = sizes.get((section, origin), 0) + int(found[1], 16)
    return sizes


def check_doubles(library, problems):
    """Functions that call those of doubles must be in the page's table."""
    function = ""
    for line in run("arm-none-eabi-objdump", "-dr", "-C", library).splitlines():
        if found := re.match(r"^[0-9a-f]+ <(.*)>:$", line):
            function = found[1]
        elif re.search(r"R_ARM_THM_\w+\s+__aeabi_(?:c?d|\w+2d)", line) and not DOUBLES.search(function):
            problems.append(f"{function[:3000]}: computes with doubles")
            function = "ClassLoss"  # once is enough


def check(machine, network, steps, folder, problems):
    device, host = folder / "device", folder / "host"
    programs = "train_step", "test_step"
    export(EXAMPLE / f"{network.name}.hpp", device, "arm-none-eabi-g++", f"-Os {machine.flags}", *programs)
    export(EXAMPLE / f"{network.name}.hpp", host, "g++", f"-O1 {machine.host_flags} -DTILEWRIGHT_VECTOR_BYTES=4", *programs)
    if not (folder.parent / "train.digits").exists():
        write_digits(folder.parent, host)
    for name in MNIST:
        (folder / f"{name}.digits").symlink_to(folder.parent / f"{name}.digits")
    saved = folder / "digits.safetensors"

    def run_for(name, first, last, is_device):
        flags = [f"-DFIRST={first}", f"-DSTEPS={last}"]
        if is_device:
            link_for_device(device, machine, folder / name, EXAMPLE / "train.c", flags=flags)
            text, stack = run_on_device(folder / name, machine, folder)
        else:
            link_for_host(host, folder / name, EXAMPLE / "host.c", EXAMPLE / "train.c", flags=flags)
            text, stack = run(folder / name, cwd=folder), 0
        return text, stack, saved.read_bytes()

    on_host, _, host_file = run_for("on_host", 0, steps, False)
    saved.unlink()
    on_device, stack, device_file = run_for("on_device", 0, steps, True)
    saved.unlink()
    if on_device != on_host or device_file != host_file:
        problems.append(f"{machine.name}, {network.name}:\n{on_device}on the host:\n{on_host}where equal bits were expected")
    if machine is MACHINES[0]:
        run_for("half", 0, steps // 2, False)
        if run_for("rest", steps // 2, steps, True)[2] != host_file:
            problems.append(f"{machine.name}, {network.name}: a checkpoint of the host that trained on: the bits of one run expected")
    right = int(re.findall(r"(\d+) of 200", on_device)[-1])
    if right < machine.right:
        problems.append(f"{machine.name}, {network.name}: {right} of 200 digits are right: {machine.right} expected")
    if "fpv5" not in machine.flags:
        check_doubles(device / "libdigits.a", problems)
    sizes, header = sizes_of(folder / "on_device", "libdigits.a"), (device / "digits.h").read_text()
    text = sum(size for (section, _), size in sizes.items() if section == ".text")
    memory, file = (int(re.search(rf"DIGITS_{name} (\d+)", header)[1]) for name in ("BYTES", "FILE_BYTES"))
    in_map = re.search(r"\.bss\.net\s+0x\w+\s+(0x\w+)", Path(f"{folder / 'on_device'}.map").read_text())
    if sizes.get((".data", "network"), 0) + sizes.get((".bss", "network"), 0) != 0 or int(in_map[1], 16) != memory:
        problems.append(f"{machine.name}, {network.name}: {sizes}: the network in the {memory} bytes of the program expected")
    if text > network.most_text:
        problems.append(f"{machine.name}, {network.name}: {text} bytes of text: at most {network.most_text} expected")
    if steps > QUICK_STEPS:  # with --all: static_bytes of the device
        (folder / "bytes.hpp").write_text(f'#include "{EXAMPLE / network.name}.hpp"\n{BYTES % memory}')
        export(folder / "bytes.hpp", folder / "bytes", "arm-none-eabi-g++", f"-O0 {machine.flags}", "test_step")
    print(f"{machine.name}, {network.name}, {steps} steps, {right} of 200 right: network {memory}, file {file}, stack {stack}; "
          + ", ".join(f"{section} {origin} {size}" for (section, origin), size in sorted(sizes.items()) if size))


def check_job(machine, folder, problems):
    """A network of the PC continues on the device for new users, in little memory, as it does on the host: layers that it does not
    train are in flash."""
    example, host, device = EXAMPLE.parent / "movement", folder / "host", folder / "device"
    programs = "train_step", "adapt_step", "test_step"
    host_options = f"-O1 {machine.host_flags} -DTILEWRIGHT_VECTOR_BYTES=4"
    export(example / "movement.hpp", host, "g++", host_options, *programs, name="movement")
    as_device = folder / "as_device"
    for place, compiler, options in ((device, "arm-none-eabi-g++", f"-Os {machine.flags}"), (as_device, "g++", host_options)):
        export(example / "movement.hpp", place, compiler, options, *programs[1:], "--read-only", name="movement")
    link_for_host(host, folder / "pc", example / "pc.c", name="movement")
    run(folder / "pc", cwd=folder)
    flags = [f"-Wa,-I{folder}"]
    link_for_host(as_device, folder / "on_host", example / "device.c", EXAMPLE / "host.c", flags=flags, name="movement")
    on_host = run(folder / "on_host", cwd=folder)
    link_for_device(device, machine, folder / "on_device", example / "device.c", flags=flags, name="movement")
    on_device, stack = run_on_device(folder / "on_device", machine, folder)
    new_before, old_before, new_after, old_after = (int(word) for word in re.findall(r": (\d+) of 1000", on_device))
    ram = stack + sum(size for (section, _), size in sizes_of(folder / "on_device", "libmovement.a").items() if section != ".text")
    if on_device != on_host:
        problems.append(f"movements:\n{on_device}on the host:\n{on_host}where the same was expected")
    if new_after < new_before + 100 or old_after < old_before - 20:
        problems.append(f"movements:\n{on_device}where 100 more for new users and at most 20 less for old ones were expected")
    if ram > 24_000:
        problems.append(f"movements: {ram} bytes of RAM with the stack: at most 24000 expected")
    print(f"movements: {ram} bytes of RAM, {stack} of them stack\n{on_device}", end="")


def check_cmake(machine, folder, problems):
    """A tool chain's file makes a program that trains."""
    run("cmake", "-S", EXAMPLE, "-B", folder, "--toolchain", "cortex-m7.cmake")
    run("cmake", "--build", folder)
    for name in MNIST:
        (folder / f"{name}.digits").symlink_to(folder.parent / f"{name}.digits")
    text, _ = run_on_device(folder / "digits.elf", machine, folder)
    if "step 1000: " not in text:
        problems.append(f"built by CMake:\n{text}where 1000 steps were expected")
    print(f"built by CMake: {text.splitlines()[-1]}")


def is_set_up():
    found = all(shutil.which(program) for program in ("arm-none-eabi-g++", "qemu-system-arm"))
    if not found:
        print("skipped: without arm-none-eabi-g++ and qemu-system-arm; ./dev setup cortex installs them")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="also the Cortex-M4 and M3, a convolutional network, and new users of another")
    options = parser.parse_args()
    if not is_set_up():
        sys.exit(SKIPPED)
    problems = []
    with tempfile.TemporaryDirectory() as root:
        for network in NETWORKS if options.all else NETWORKS[:1]:
            for machine in MACHINES if options.all else MACHINES[:1]:
                folder = Path(root) / f"{network.name}-{machine.name}"
                folder.mkdir()
                check(machine, network, machine.steps if options.all else QUICK_STEPS, folder, problems)
        if options.all:
            (Path(root) / "movement").mkdir()
            check_job(MACHINES[0], Path(root) / "movement", problems)
            check_cmake(MACHINES[0], Path(root) / "cmake", problems)
    print("\n".join(problems) or "equal bits on the devices and on the host")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
