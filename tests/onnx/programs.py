"""Compiles imported models as one program, runs it, and compares what it gives with the test data."""

import functools
import hashlib
import re
import shlex
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import tensors
from model import numpy_dtype
from writer import program_name

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
PASSED = PROJECT / "build/onnx-models"  # a file for each batch
TOLERANCE = {"float16": (1e-2, 1e-3), "bfloat16": (1e-2, 1e-3)}  # relative and absolute; of the others:
USUAL = 1e-3, 1e-6
MODEL = re.compile(r"\bmodel_(\d+)\b")
PRECOMPILED = tempfile.TemporaryDirectory()
TRACE = '#include "{here}/trace.hpp"\n{models}\nint main() {{\n{calls}\n}}\n'
RUN = '#include "{here}/{header}"\n{models}\nint main(int, char** argv) {{\n{calls}\n}}\n'


def command(compiler, include):
    text = (PROJECT / "CMakeLists.txt").read_text()
    options = re.search(r"^set\(tilewright_GNU_options (.*)\)$", text, re.MULTILINE)[1]
    return shlex.split(f"{compiler} -std=c++20 -w -march=native -I{include} -DXTENSOR_USE_XSIMD -pthread {options}")


def source(template, calls, batch, indices, header="run.hpp"):
    """A program with the modules of these models, each in a namespace of its own."""
    models = "\n".join(f"namespace model_{i} {{\n{body_of(batch[i])}\n}}" for i in indices)
    return template.format(here=HERE, header=header, models=models, calls="\n".join(calls(i, batch[i]) for i in indices))


def body_of(tried):
    if not hasattr(tried, "body"):
        text = tried.made.header(tried.folder.name, "")
        tried.body = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    return tried.body


def traced(i, tried):
    return f'  trace({i}, model_{i}::{program_name("Net")});'


def ran(i, tried):
    types = [tried.graph.types[name] for name in tried.graph.inputs], [tried.graph.types[name] for name in tried.graph.outputs]
    sizes = ["{" + ", ".join(str(each.size * numpy_dtype(each.dtype).itemsize) for each in part) + "}" for part in types]
    return f'  run<model_{i}::{program_name("Net")}>({i}, argv[1], {sizes[0]}, {sizes[1]});'


def precompiled(command, name):
    """The command with a header precompiled that all programs include."""
    header = Path(PRECOMPILED.name) / name
    if not header.exists():
        header.write_text(f'#include "{HERE}/{name}"\n')
        subprocess.run([*command, "-O1", "-x", "c++-header", str(header)], check=True)
    return [*command, "-include", str(header)]


def build(command, text, folder, name, level):
    """What the compiler says, and the program."""
    file, program = folder / f"{name}.cpp", folder / name
    file.write_text(text)
    result = subprocess.run([*command, level, str(file), "-o", str(program)], capture_output=True, text=True)
    return result.stderr if result.returncode else "", program


@functools.cache
def digest_of_library(include):
    files = [*Path(include).rglob("*.hpp"), *HERE.glob("*.hpp"), HERE / "programs.py"]
    return hashlib.sha256(b"".join(file.read_bytes() for file in sorted(files))).hexdigest()


def resumed(command, batch, header):
    """As `run`, but runs no batch that passed before with the same programs, weights, command and library."""
    library = digest_of_library(next(word[2:] for word in command if word.startswith("-I")))
    digest = hashlib.sha256(repr((command, header, library, [(each.folder.name, body_of(each)) for each in batch])).encode())
    for each in batch:
        digest.update(tensors.safetensors(each.made.variables))
    mark = PASSED / digest.hexdigest()
    if mark.exists():
        for each in batch:
            each.state = "passes"
        return
    run(command, batch, header)
    if all(each.state == "passes" for each in batch):
        PASSED.mkdir(parents=True, exist_ok=True)
        mark.touch()


def run(command, batch, header="run.hpp"):
    """Sets the state and text of the models of a batch, whose programs a function of the header runs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        indices, traces = list(range(len(batch))), False
        while indices:
            errors, program = build(precompiled(command, header), source(RUN, ran, batch, indices, header), folder, "run", "-O1")
            if not errors:
                break
            if not traces:  # what a trace refuses is found sooner without a plan
                indices, traces = trace_all(command, batch, folder), True
                continue
            guilty = {int(each) for each in MODEL.findall(errors)} & set(indices) or set(indices)
            for i in guilty:
                batch[i].state, batch[i].text = "fails", "it does not compile: " + first_error(errors, i)
            indices = [i for i in indices if i not in guilty]
        for i in indices:
            write_inputs(batch[i], folder / str(i))
        while indices:
            result = subprocess.run([str(program), str(folder)], capture_output=True, text=True, timeout=600)
            lines = dict(re.findall(r"^(\d+) (.*)$", result.stdout, re.MULTILINE))
            done = [i for i in indices if str(i) in lines]
            for i in done:
                judge(batch[i], folder / str(i), lines[str(i)])
            break
        for i in indices:
            if str(i) not in lines:
                batch[i].state, batch[i].text = "fails", f"the program ended with {result.returncode} before"


def first_error(errors, i):
    lines = [line for line in errors.splitlines() if "error:" in line or "expected" in line]
    own = next((line for line in lines if f"model_{i}" in line), lines[0] if lines else errors[:200])
    return own[:400]


def trace_all(command, batch, folder):
    """The numbers of the models whose graphs can be traced, which a program finds that does not plan them."""
    indices = list(range(len(batch)))
    while indices:
        errors, program = build(command, source(TRACE, traced, batch, indices), folder, "trace", "-O0")
        if not errors:
            break
        guilty = {int(each) for each in MODEL.findall(errors)} & set(indices) or set(indices)
        for i in guilty:
            batch[i].state, batch[i].text = "fails", "it does not compile: " + first_error(errors, i)
        indices = [i for i in indices if i not in guilty]
    if not indices:
        return []
    result = subprocess.run([str(program)], capture_output=True, text=True)
    lines = dict(re.findall(r"^(\d+) (.*)$", result.stdout, re.MULTILINE))
    for i in indices:
        if lines.get(str(i), "the program ended before") != "ok":
            batch[i].state, batch[i].text = "fails", lines.get(str(i), "the program ended before")
    return [i for i in indices if batch[i].state == "imports"]


def write_inputs(tried, folder):
    folder.mkdir()
    (folder / "weights").write_bytes(tensors.safetensors(tried.made.variables))
    arrays = [tried.data.get(("input", name), (np.zeros(2, "u4"),))[0] for name in tried.graph.inputs]  # a seed is not among the data
    (folder / "inputs").write_bytes(b"".join(np.ascontiguousarray(each).tobytes() for each in arrays))


def judge(tried, folder, line):
    if line != "ok":
        tried.state, tried.text = "fails", line
        return
    if not tried.data:
        tried.state, tried.text = "fails", "no test data"
        return
    data, at = (folder / "outputs").read_bytes(), 0
    for name in tried.graph.outputs:
        expected, type_ = tried.data["output", name][0], tried.graph.types[name]
        size = type_.size * numpy_dtype(type_.dtype).itemsize
        found = np.frombuffer(data[at:at + size], numpy_dtype(type_.dtype)).reshape(type_.shape)
        at += size
        tried.found[name] = found
        text = difference(found, expected, type_.dtype, tried.made.is_random)
        if text:
            tried.state, tried.text = "fails", f"output {name}: {text}"
            return
    tried.state = "passes"


def difference(found, expected, dtype, is_random=False):
    """What differs by more than the tolerance; nothing if nothing does. Of random numbers, the dtype and shape are compared."""
    if (found.dtype, found.shape) != (expected.dtype, expected.shape):
        return f"{found.shape} {found.dtype}: {expected.shape} {expected.dtype} expected"
    if is_random:
        return ""
    if dtype == "bfloat16":
        found, expected = ((each.astype("uint32") << 16).view("float32") for each in (found, expected))
    if found.dtype.kind != "f":
        wrong = found != expected
    else:
        relative, absolute = TOLERANCE.get(dtype, USUAL)
        wrong = ~np.isclose(found, expected, relative, absolute, equal_nan=True)
    if not wrong.any():
        return ""
    at = tuple(int(each[0]) for each in np.nonzero(wrong)) if wrong.ndim else ()
    return f"{int(wrong.sum())} of {wrong.size} elements, at {at} {found[at]}: {expected[at]} expected"
