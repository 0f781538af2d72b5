#!/usr/bin/env python3
"""What a program of tilewright_lab writes, read from Python: lab.py LAB FIGURES EXAMPLES."""

import array
import ast
import csv
import importlib.util
import io
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

LAB, FIGURES, EXAMPLES = sys.argv[1:]


def run(*arguments, given=None):
    return subprocess.run([LAB, *arguments], input=given, capture_output=True, text=True)


def rows_of(*arguments, given=None):
    """The rows, as JSON and CSV have them."""
    from_json = json.loads(run(*arguments, "--json", "-", given=given).stdout)
    from_csv = list(csv.DictReader(io.StringIO(run(*arguments, "--csv", "-", given=given).stdout)))
    assert [list(row) for row in from_json] == [list(row) for row in from_csv]
    for row, cells in zip(from_json, from_csv):
        for name, value in row.items():
            text = "" if value is None else str(value).lower() if isinstance(value, bool) else value
            assert cells[name] == text or float(cells[name]) == value, (name, value, cells[name])
    return from_json


def of_npy(entry):
    """The numbers of an array of int64 in NumPy's format 1.0."""
    length = int.from_bytes(entry[8:10], "little")
    header = ast.literal_eval(entry[10:10 + length].decode())
    assert entry[:8] == b"\x93NUMPY\x01\x00" and header["descr"] == "<i8" and not header["fortran_order"] and (10 + length) % 64 == 0
    values = array.array("q", entry[10 + length:])
    assert header["shape"] == (len(values),)
    return values.tolist()


def main():
    constants = list(csv.reader(io.StringIO(subprocess.run([FIGURES], capture_output=True, check=True, text=True).stdout)))
    grid = json.dumps([{"base": ["gc200", "gc2"]}, {"base": "bow", "tiles": 64}])
    rows = rows_of("--grid", "-", given=grid)
    found = {(row["program"], row["machine"]): (row["cycles"], row["tile_bytes"]) for row in rows}
    assert len(rows) == 6 and len(constants) == 5
    for program, machine, cycles, tile_bytes in constants:
        assert found[program, machine] == (int(cycles), int(tile_bytes)), (program, machine, found[program, machine])
    assert run("--grid", "-", "--json", "-", given=grid).stdout == run("--grid", "-", "--json", "-", given=grid).stdout

    tight = rows_of("--program", "train_step", "--tiles", "1", "--bytes_per_tile", "16Ki,256Ki")
    assert [row["fits"] for row in tight] == [False, True]
    assert tight[0]["seconds"] is None and tight[1]["seconds"] > 0
    assert tight[0]["interleaved_bytes"] == 0 and "interleaved_bytes=0" in tight[0]["machine"]

    for arguments, text in ((["--tile", "8"], "unknown key 'tile': a name that --knobs lists expected, such as tiles"),
                            (["--base", "gc3"], "lab: base 'gc3': one of gc2, gc200, bow, c600 expected"),
                            (["--program", "x"], "lab: program 'x': one of train_step, predict<512> expected"),
                            (["--tiles"], "lab: --tiles: a value expected"), (["tiles"], "lab: 'tiles': an option expected")):
        answer = run(*arguments)
        assert answer.returncode == 2 and text in answer.stderr, (arguments, answer)
    assert "tiles = 1472 tiles\n" in run("--knobs").stdout
    columns = [line.split(": ")[0] for line in run("--columns").stdout.splitlines()]
    assert set(columns) <= set(rows[0])
    with tempfile.TemporaryDirectory() as folder:
        run_of = ["--program", "predict<512>", "--tiles", "8"]
        read = Path(EXAMPLES) / "read_traces.py"
        assert len(read.read_text().splitlines()) <= 30
        for ending in ("csv", "npz"):
            assert run(*run_of, "--report", f"{folder}/run", "--exchange_rows", f"{folder}/step.{ending}").returncode == 0
        with open(f"{folder}/step.csv") as file:
            written = list(csv.DictReader(file))
        with zipfile.ZipFile(f"{folder}/step.npz") as file:
            assert file.testzip() is None
            arrays = {name.removesuffix(".npy"): of_npy(file.read(name)) for name in file.namelist()}
        for name in ("from", "to", "bytes", "after"):
            assert arrays[name] == [int(row[name]) for row in written]
        total = sum(arrays["bytes"])
        assert total > 0
        endings = ["csv"] + (["npz"] if importlib.util.find_spec("numpy") else [])
        answers = {subprocess.run([sys.executable, read, f"{folder}/run.trace.json", f"{folder}/step.{ending}"],
                                  capture_output=True, check=True, text=True).stdout for ending in endings}
        assert len(answers) == 1 and f"{total} bytes; most to tile " in answers.pop()
        if importlib.util.find_spec("pandas"):
            shown = subprocess.run([sys.executable, Path(EXAMPLES) / "grid.py", LAB], capture_output=True, check=True, text=True).stdout
            assert "gc200 with tiles=192, bytes_per_tile=524288" in shown
        profiles = run("--program", "train_step", "--tiles", "8,16,32", "--report", f"{folder}/three")
        assert profiles.returncode == 0
        assert [each["target"] for each in json.loads(Path(f"{folder}/three.json").read_text())] == [
            f"gc200 with tiles={tiles}" for tiles in (8, 16, 32)]
    print(f"{len(rows)} rows, {len(columns)} columns")


if __name__ == "__main__":
    main()
