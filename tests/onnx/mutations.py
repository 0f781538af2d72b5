#!/usr/bin/env python3
"""Changes bytes of models at random, from a seed, and imports them: each must be imported, or give lines that say what is wrong. No
traceback, no half a folder, no more than 2 GB or 10 s.

    tests/onnx/mutations.py [--count N] [--seed N]
"""

import argparse
import os
import random
import sys
import tempfile
import time
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent
DATA = Path("/usr/share/libonnx-testdata/data")
MODELS = ("pytorch-converted/test_Conv2d", "pytorch-converted/test_BatchNorm2d_eval", "pytorch-converted/test_Embedding",
          "pytorch-operator/test_operator_reduced_mean", "node/test_lstm_with_peepholes", "node/test_slice", "node/test_loop11",
          "node/test_scan_sum", "node/test_einsum_batch_matmul", "node/test_layer_normalization_2d_axis1_expanded",
          "simple/test_expand_shape_model1", "node/test_shape_example")
MOST_SECONDS = 12  # those of an import, and the start of a process
sys.path.insert(0, str(HERE.parents[1] / "cmake/onnx"))


def mutated(data, draw):
    """The bytes with a few changes: other bytes, parts that are gone or twice, an early end."""
    data = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 4))):
        at, end = sorted(draw.randrange(len(data)) for _ in range(2))
        kind = draw.randrange(5)
        if kind == 0:
            data[at] = draw.randrange(256)
        elif kind == 1:
            data[at] ^= 1 << draw.randrange(8)
        elif kind == 2:
            del data[at:min(end, at + 16)]
        elif kind == 3:
            data[at:at] = data[at:min(end, at + 32)]
        elif draw.random() < 0.3:
            del data[max(at, 1):]
    return bytes(data)


def wrong(options, out, errors):
    """What an import did that it must not do; nothing if all is well."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as file:
        saved = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            status = guard.run(options)
        finally:
            os.dup2(saved, 2)
            os.close(saved)
        file.seek(0)
        text = file.read().decode(errors="replace")
    errors.append(text)
    seconds, files = time.monotonic() - begin, sorted(each.name for each in out.glob("*"))
    for each in out.glob("*"):
        each.unlink()
    if seconds > MOST_SECONDS:
        return f"{seconds:.1f} seconds"
    if "Traceback" in text or status and not text.startswith("import: "):
        return f"this text: {text}"
    if status and "\n" in text.strip() and " not supported; nothing is written:\n" not in text:
        return f"more than a line: {text}"
    if " in " in text and ".py:" in text:
        return f"a defect: {text}"
    if bool(status) == bool(files) or files and "net.hpp" not in files:
        return f"status {status} with the files {files}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not DATA.is_dir():
        print("libonnx-testdata is not installed: left out")
        sys.exit(77)
    draw, failures, good, errors = random.Random(options.seed), 0, 0, []
    with tempfile.TemporaryDirectory() as name:
        model, out = Path(name) / "model.onnx", Path(name) / "out"
        models = [*(DATA / each for each in MODELS), *own_models.write_all(Path(name))]
        for i in range(options.count):
            folder = models[i % len(models)]
            data = (folder / "model.onnx").read_bytes()
            model.write_bytes(mutated(data, draw) if i >= len(models) else data)
            given = types.SimpleNamespace(model=model, name="Net", out=out, shape=[], fix=[], fix_from=[])
            problem = wrong(given, out, errors)
            good += errors[-1] == ""
            if problem:
                failures += 1
                print(f"mutation {i} of {folder.name}: {problem}", flush=True)
    kinds = len({text.split(": ", 2)[-1][:40] for text in errors})
    print(f"{options.count} files, {good} imported, {kinds} kinds of errors, {failures} failed")
    sys.exit(failures > 0 or good == options.count)


if __name__ == "__main__":
    try:
        import files  # noqa: F401: read once, for all imports
        import guard
        import own_models
    except ImportError as error:
        print(f"python3-{error.name} is not installed: left out")
        sys.exit(77)
    main()
