#!/usr/bin/python3
"""Writes sampling.txt: with which probability a sampler draws each token, for logits and a temperature, top_k and top_p.

    python3 tests/reference/make_sampling.py        (Debian: apt-get install python3-torch python3-numpy)

They are computed with NumPy by Hugging Face's definition, which goes from the least probable token up: of the tokens that top_k
leaves, those whose probabilities add up to at most 1 - top_p are taken out, but never the most probable one.
"""

import numpy as np
from fixtures import Fixtures

CASES = [(1.0, 0, 1.0), (0.5, 0, 1.0), (2.5, 0, 1.0), (1.0, 7, 1.0), (1.0, 0, 0.9), (1.0, 0, 0.5), (0.7, 0, 0.95), (3.0, 0, 0.99),
         (0.8, 12, 0.9), (2.0, 40, 0.75), (1.0, 3, 0.01), (1.0, 0, 0.0), (1.5, 100, 0.999)]


def softmax(scores):
    exponentials = np.exp(scores - scores.max())
    return exponentials / exponentials.sum()


def probabilities(logits, temperature, top_k, top_p):
    scores = logits / temperature
    if 0 < top_k < len(scores):
        scores = np.where(scores < np.sort(scores)[-top_k], -np.inf, scores)
    if top_p < 1:
        order = np.argsort(scores)
        is_out = np.cumsum(softmax(scores)[order]) <= 1 - top_p
        is_out[-1] = False
        scores[order[is_out]] = -np.inf
    return softmax(scores)


fixtures = Fixtures(1904)
for number, case in enumerate(CASES):
    logits = fixtures.distinct(64).numpy() * 2.5
    fixtures.write(f"{number}.options", np.array(case))
    fixtures.write(f"{number}.logits", logits)
    fixtures.write(f"{number}.probabilities", probabilities(logits, *case))
fixtures.save("sampling.txt")
