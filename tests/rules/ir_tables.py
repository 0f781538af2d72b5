#!/usr/bin/env python3
"""Only the IR, the language, transforms and planners name the tables of an Ir, and the headers of OTHERS; examples and benchmarks do
not."""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
LIBRARY = PROJECT / "include" / "tilewright"
NAME = re.compile(r"(?:\.|->)tables\b|\bIrTables\b")
ROOMS = {"graph", "program", "module", "transform", "derivatives", "lower"}

# What else names them, and for what.
OTHERS = {
    "layers/attention.hpp": "whether composed forms become ops",
    "layers/linear.hpp": "whether composed forms become ops",
    "op/composed_form.hpp": "nodes and constants of a composed form",
    "op/gradient_context.hpp": "tensors of the forward graph",
    "ops/collective/collectives.hpp": "shapes of whole tensors",
    "ops/collective/ipu_collectives.hpp": "placements, and a gradient graph",
    "ops/collective/replica_sharding.hpp": "shapes of whole tensors",
    "ops/memory/host.hpp": "specs of streams",
    "ops/memory/ipu_copy.hpp": "placements",
    "ops/memory/named_remote_buffers.hpp": "shapes of whole tensors",
    "ops/memory/remote.hpp": "shapes of whole tensors",
    "ops/memory/remote_code_load.hpp": "the graph that is open",
    "ops/nn/composed_attention.hpp": "the graph that is open",
    "train/phased_layers.hpp": "inputs by reference",
    "verified/called_graphs.hpp": "all graphs that are called",
    "verified/globals.hpp": "names and values outside of graphs",
    "verified/graph_run.hpp": "all graphs, which it runs",
    "verified/op_uses.hpp": "all ops of graphs",
}


def main():
    found = set()
    for folder in (LIBRARY, PROJECT / "examples", PROJECT / "benchmarks"):
        for source in sorted(folder.rglob("*.[ch]pp")):
            if NAME.search(re.sub(r"//[^\n]*", "", source.read_text())):
                found.add(str(source.relative_to(LIBRARY if folder == LIBRARY else PROJECT)))
    others = {path for path in found if path.split("/")[0] not in ROOMS}
    problems = [f"{path}: names tables of an Ir: a handle's functions, or a line in OTHERS of {Path(__file__).name}, expected"
                for path in sorted(others - set(OTHERS))]
    problems += [f"{path}: take it from OTHERS in {Path(__file__).name}" for path in sorted(set(OTHERS) - others)]
    print("\n".join(problems) or f"{len(found)} headers name tables of an Ir, {len(others)} of them neither of the IR, the language, "
                                 "transforms nor planners")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
