#!/usr/bin/env python3
"""Instructions of products, convolutions and a training step on a Cortex-M7 in QEMU: this is `./dev bench microcontrollers`.

microcontrollers/loops.c has plain loops on the same shapes. Library and loops have the same options: those of the line, -mcpu=cortex-m7,
-mfpu=fpv5-d16. It fails if the library takes more than 1.4 times the instructions of a loop with -Os or -O2."""

import argparse
import re
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "embedded"))
import cortex  # noqa: E402

PROGRAMS = ["product", "weight_gradient", "convolution", "train_step"]
MOST = 1.4


def count(level, folder):
    """Instructions by program, of the library and of the loop."""
    machine = cortex.MACHINES[0]
    cortex.export(HERE / "microcontrollers" / "products.hpp", folder, "arm-none-eabi-g++", f"{level} {machine.flags}", *PROGRAMS, name="products")
    cortex.link_for_device(folder, machine, folder / "loops", HERE / "microcontrollers" / "loops.c", flags=[level, "-ffp-contract=fast"],
                           name="products")
    text, _ = cortex.run_on_device(folder / "loops", machine, folder, "-icount", "shift=0")
    return {words[:2]: int(words[2]) for words in re.findall(r"(\w+) (library|loop) (\d+)", text)}


def main():
    parser = argparse.ArgumentParser(prog="./dev bench microcontrollers", description=__doc__)
    parser.add_argument("--levels", default="-Os -O2 -O3", help="of optimisation (%(default)s); write --levels=-Os")
    options = parser.parse_args()
    if not cortex.is_set_up():
        sys.exit(cortex.SKIPPED)
    failed = False
    for level in options.levels.split():
        with tempfile.TemporaryDirectory() as folder:
            counts = count(level, Path(folder))
        for program in PROGRAMS:
            library, loop = counts[program, "library"], counts.get((program, "loop"))
            print(f"{level} {program}: {library}" + (f", loop {loop}: {library / loop:.2f}" if loop else ""))
            failed |= level in ("-Os", "-O2") and loop is not None and library > MOST * loop
    sys.exit(failed)


if __name__ == "__main__":
    main()
