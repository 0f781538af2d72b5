#!/usr/bin/env python3
"""Reads what a laboratory wrote of one design: the steps of a run, and the bytes from tile to tile in one of them.

    ./dev lab bert_layer --tiles 64 --report run --exchange_rows step.npz
    examples/lab/read_traces.py run.trace.json step.npz
"""
import csv
import json
import sys
from collections import Counter

trace, exchange = sys.argv[1:]
with open(trace) as file:
    events = [event for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
slowest = max(events, key=lambda event: event["dur"])
print(f"slowest: {slowest['name']} in step {slowest['args']['step']}, {slowest['dur']:.1f} us of {sum(e['dur'] for e in events):.1f}")
if exchange.endswith(".npz"):
    import numpy
    arrays = numpy.load(exchange)
    rows = list(zip(*(arrays[name].tolist() for name in ("from", "to", "bytes"))))
else:
    with open(exchange) as file:
        rows = [tuple(int(row[name]) for name in ("from", "to", "bytes")) for row in csv.DictReader(file)]
received = Counter()
for _, to, count in rows:
    received[to] += count
print(f"{received.total()} bytes; most to tile {max(received, key=received.get)}: {max(received.values())}")
