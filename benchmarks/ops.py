#!/usr/bin/env python3
"""Measures single ops beside eager PyTorch, each on one thread, and prints a table of times and ratios.

Both programs of an op get copies of the same inputs, and each call takes the next copy. All copies together are larger than the caches,
so both programs read them from memory. Both keep the results of all copies; the script compares these results before it measures.
tilewright makes one call for each copy in one run of a session: inputs are variables, and results stay in the session's memory. PyTorch
makes one call after the other in a loop. If PyTorch has several forms of an op, the fastest one counts.

The programs of an op stay alive and take turns, round after round. Times are medians of the rounds. Each round gives one ratio, and the
table has the median of them; above 1 it says that tilewright is faster. This script builds nothing: `./dev bench ops` does.
"""

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from statistics import mean, median

from programs import KEEP_MEMORY, PEERS, Program, in_turns, openblas_settings, pytorch_is_there

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Op:
    case: str      # of a program in ops/, and of peers/pytorch_ops.py
    what: str
    program: str   # in ops/
    forms: tuple   # of peers/pytorch_ops.py
    uses_blas: bool = False


OPS = (
    Op("gather", "gather of 4,096 rows from 32,768 x 256", "indexing", ("index_select", "subscript", "embedding")),
    Op("gather_gradient", "its gradient", "indexing", ("index_select", "subscript", "embedding")),
    Op("scatter_sum", "scatter_reduce of 4,096 rows to 32,768 x 256, sum", "indexing",
       ("index_add", "scatter_reduce", "scatter_add")),
    Op("scatter_elements_sum", "the same with an index for each element, onto a copy of a table", "indexing",
       ("scatter_reduce", "scatter_add")),
    Op("scatter_elements_max", "the same, max", "indexing", ("scatter_reduce",)),
    Op("topk", "topk of 64 in rows of 4,096 x 1,000", "lines", ("topk",)),
    Op("argmax", "argmax of rows of 4,096 x 1,000", "lines", ("argmax",)),
    Op("cumsum_rows", "cumsum along rows of 4,096 x 1,024", "lines", ("cumsum",)),
    Op("cumsum_columns", "along columns", "lines", ("cumsum",)),
    Op("max_rows", "max of rows of 4,096 x 1,024", "lines", ("amax", "max")),
    Op("max_columns", "of columns", "lines", ("amax", "max")),
    Op("concat_rows", "concat of 8 x (512 x 512), axis 0", "slices", ("cat",)),
    Op("concat_columns", "axis 1", "slices", ("cat",)),
    Op("split_copies", "split of 4,096 x 1,024 in 4 along axis 1, as dense copies", "slices", ("contiguous",)),
    Op("split_sum", "as views, added up", "slices", ("add", "reduce")),
    Op("strided_copy", "slice of every 2nd column of 4,096 x 1,024, as a dense copy", "slices", ("contiguous",)),
    Op("strided_sum", "as a view, summed along rows", "slices", ("sum",)),
    Op("where", "where(where(a > b, a, c) > c, b, ...) of 1 M floats", "elementwise", ("where",)),
    Op("maximum", "maximum(maximum(a, b), c) of 1 M floats", "elementwise", ("maximum",)),
    Op("clip", "clip(clip(a) + b) of 1 M floats", "elementwise", ("clamp", "in_place")),
    Op("random_normal", "random_normal of 1 M floats", "elementwise", ("randn",)),
    Op("dropout", "dropout of 1 M floats", "elementwise", ("dropout",)),
    Op("conv_transpose", "conv_transpose of 32 x 64 x 14 x 14 to 32 channels, kernel 4, stride 2", "conv_transpose",
       ("conv_transpose2d",), uses_blas=True),
    Op("conv_transpose_gradients", "both its gradients", "conv_transpose", ("conv_transpose2d",), uses_blas=True),
)


def measure(op, executable, options, folder):
    """The programs of tilewright and of PyTorch, with their rates; the latter check the results of the former as they start."""
    results = Path(folder) / "results"
    ours = Program("tilewright", [executable, op.case, results])
    settings = [KEEP_MEMORY | setting for setting in (openblas_settings() if op.uses_blas else [{}])]
    peers = [Program(form, ["/usr/bin/python3", PEERS / "pytorch_ops.py", op.case, form, results], **setting)
             for form in op.forms for setting in settings]
    in_turns([ours, *peers], options.rounds, options.seconds)
    results.unlink()
    return ours, peers


def time(rate):
    microseconds = 1e6 / rate
    return f"{microseconds / 1000:,.2f} ms" if microseconds >= 1000 else f"{microseconds:,.0f} us"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=Path, default=HERE.parent / "build/gcc")
    parser.add_argument("--only", help=f"some of {','.join(op.case for op in OPS)}")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.3, help="of each program in each round")
    parser.add_argument("--quick", action="store_true", help="5 rounds of 0.1 s")
    parser.add_argument("--output", type=Path, help="file for the table")
    parser.add_argument("--json", type=Path, help="file for all figures")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds = 5, 0.1
    only = options.only.split(",") if options.only else [op.case for op in OPS]
    if unknown := set(only) - {op.case for op in OPS}:
        parser.error(f"no op {', '.join(sorted(unknown))}")
    if not pytorch_is_there():
        sys.exit("/usr/bin/python3 has no torch to compare with")

    lines = ["| op | tilewright | PyTorch | its form | ratio |", "| --- | ---: | ---: | --- | ---: |"]
    ratios, raw = [], {}
    for op in (op for op in OPS if op.case in only):
        print(op.case, file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            ours, peers = measure(op, options.build_dir / "benchmarks" / f"ops_{op.program}", options, folder)
        peer = max(peers, key=lambda program: median(program.rates))
        rate, peer_rate = median(ours.rates), median(peer.rates)
        ratios.append(median(own / other for own, other in zip(ours.rates, peer.rates, strict=True)))
        lines.append(f"| {op.what} | {time(rate)} | {time(peer_rate)} | {peer.label} | {ratios[-1]:.2f} |")
        raw[op.case] = {"tilewright": ours.rates, "PyTorch": [{"form": program.label, "settings": program.settings,
                                                               "it/s": program.rates} for program in peers]}
    text = "\n".join([*lines, f"| geometric mean | | | | {exp(mean(map(log, ratios))):.2f} |"])
    print(text)
    if options.output:
        options.output.write_text(text + "\n")
    if options.json:
        options.json.write_text(json.dumps(raw, indent=1) + "\n")


if __name__ == "__main__":
    main()
