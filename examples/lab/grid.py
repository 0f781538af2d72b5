#!/usr/bin/env python3
"""Plans a grid of machines from Python, and reads the rows with pandas: grid.py PROGRAM, which tilewright_lab made."""

import io
import json
import subprocess
import sys

import pandas

grid = [{"base": "gc200", "bytes_per_tile": [2**18, 2**19], "tiles": {"from": 64, "to": 256, "step": 64}}, {"base": ["gc2", "bow"]}]
rows = subprocess.run([sys.argv[1], "--grid", "-", "--csv", "-"], input=json.dumps(grid), stdout=subprocess.PIPE, check=True, text=True)
designs = pandas.read_csv(io.StringIO(rows.stdout))
print(designs[designs.fits].sort_values("seconds")[["program", "machine", "seconds", "limit"]].to_string(index=False))
