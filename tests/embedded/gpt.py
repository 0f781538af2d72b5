#!/usr/bin/env python3
"""Trains the GPT of examples/browser for 50 steps in node and on the host, x86-64 with SSE2 and without fused products: it learns, losses
are nearly equal, and all that the page needs is in its module."""

import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "benchmarks"))
from browser import NETWORKS, Steps, build_host, build_module  # noqa: E402
from machines import SSE2, lacks_of_wasm  # noqa: E402

STEPS, MOST_APART, MOST_LOSS = 50, 1e-4, 4.4  # ln(128) = 4.85 before
SKIPPED = 77


def main():
    if lacks := lacks_of_wasm():
        print(f"skipped: without {lacks}")
        sys.exit(SKIPPED)
    network = next(network for network in NETWORKS if network.name == "gpt")
    losses = []
    with tempfile.TemporaryDirectory() as folder:
        for build, flags in ((build_host, f"-O2 {SSE2}"), (build_module, "-O2")):
            program = Steps(build(network, Path(folder) / build.__name__, flags))
            program.run(STEPS)
            program.close()
            losses.append(program.loss)
    host, node = losses
    print(f"after {STEPS} steps: {host} on the host, {node} in node")
    sys.exit(not (abs(host - node) <= MOST_APART and host <= MOST_LOSS))


if __name__ == "__main__":
    main()
