#!/usr/bin/env python3
"""Trains two networks on several machines from their exports, and compares the bits of all variables: in node as WebAssembly, as C
libraries for x86-64 with SSE2, with the vectors of xsimd and of the compiler, and for 32 bits. Without vectors sums have another
order: there losses are nearly equal. The module of WebAssembly needs nothing of others. Plans for 32 bits are those for 64."""

import argparse
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parent))
from flags import flags as flags_of_project  # noqa: E402

EXPORT = [sys.executable, FOLDER.parents[1] / "cmake" / "export.py", FOLDER / "for_node.hpp", "train_step", "infer", "images_step"]
SSE2 = "-march=x86-64 -msse2 -mfpmath=sse -ffp-contract=off"
# asm/errno.h: Debian has a link for -m32 only in gcc-multilib, which cannot be installed beside compilers for ARM.
BITS_32 = "-m32 -idirafter /usr/include/x86_64-linux-gnu"
LIBRARIES = {"x86-64": "", "the compiler's vectors": "-DTILEWRIGHT_VECTOR_BYTES=16", "32 bits": BITS_32,
             "no vectors": "-DTILEWRIGHT_VECTOR_BYTES=4"}
IMPORTS = "import fs from 'fs'; console.log(WebAssembly.Module.imports(new WebAssembly.Module(fs.readFileSync(process.argv[1]))).length)"
MOST_BYTES = 70_000
PLANS = """#include "plans/plan_text.hpp"
#include "embedded/net.hpp"
#include "embedded/real_time.hpp"
int main() {
  plans::print_program(std::cout, "train_step", train_step);
  plans::print_program(std::cout, "gru", gru);
}
"""


def run(*command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{command[0]}:\n{result.stdout}{result.stderr}")
    return result.stdout


def lacks_of_wasm():
    for program in ("node", "clang++-19", "wasm-ld-19"):
        if not shutil.which(program):
            return program
    if not Path("/usr/include/wasm32-wasi").exists() or not Path("/usr/lib/llvm-19/include/wasm32-wasi").exists():
        return "the C and C++ libraries' headers for wasm32-wasi"
    return None


def has_32_bits(compiler):
    return subprocess.run([compiler, *BITS_32.split(), "-xc++", "-fsyntax-only", "-"], input="#include <array>\n#include <cerrno>\n", text=True,
                          stderr=subprocess.DEVNULL).returncode == 0


def run_in_node(folder, problems):
    run(*EXPORT, "--wasm", folder, "--name", "net", "--flags=-O2")
    imports, size = run("node", "-e", IMPORTS, folder / "net.wasm").strip(), (folder / "net.wasm").stat().st_size
    if imports != "0":
        problems.append(f"net.wasm imports {imports} functions: none expected")
    if size > MOST_BYTES:
        problems.append(f"net.wasm has {size} bytes: at most {MOST_BYTES} expected")
    return run("node", FOLDER / "in_node.mjs", folder)


def run_library(folder, compiler, flags):
    run(*EXPORT, "--c", folder, "--name", "host", "--compiler", compiler, f"--flags=-O1 {SSE2} {flags}")
    run("gcc", *(flags.split() if flags == BITS_32 else []), "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", FOLDER / "in_node.c",
        f"-I{folder}", f"-L{folder}", "-lhost", "-o", folder / "host")
    return run(folder / "host")


def plans(folder, compiler, flags):
    (folder / "plans.cpp").write_text(PLANS)
    run(compiler, *shlex.split(flags_of_project()), "-O0", "-w", "-march=native", *flags.split(), folder / "plans.cpp", "-o", folder / "plans")
    return run(folder / "plans")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="g++", help="of the C libraries")
    options = parser.parse_args()
    problems, results = [], {}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        if lacks := lacks_of_wasm():
            print(f"WITHOUT node: {lacks} is missing, ./dev setup wasm installs it")
        else:
            results["node"] = run_in_node(folder, problems).split()
        for machine, flags in LIBRARIES.items():
            if flags == BITS_32 and not has_32_bits(options.compiler):
                print("WITHOUT 32 bits: g++-12-multilib is missing, ./dev setup multilib installs it")
                continue
            results[machine] = run_library(folder, options.compiler, flags).split()
        if "32 bits" in results and plans(folder, options.compiler, "") != plans(folder, options.compiler, f"{BITS_32} -msse2 -mfpmath=sse"):
            problems.append("plans for 32 bits are others: those for 64 bits expected")
    first = results["x86-64"]
    for machine, result in results.items():
        is_exact = machine != "no vectors"
        if (is_exact and result[-1] != first[-1]) or any(abs(float(a) - float(b)) > (1e-7 if is_exact else 1e-3)
                                                         for a, b in zip(result[:-1], first[:-1], strict=True)):
            problems.append(f"{machine}: {' '.join(result)}, where {' '.join(first)} were expected")
    print("\n".join(problems) or f"{', '.join(results)}: {' '.join(first)}")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
