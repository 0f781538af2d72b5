"""Writes rounded_attention.txt, which tests/run/nn/rounded_attention.cpp expects: attention of float16, and its gradients, whose
products NumPy sums in float16.

After each group of 16 products a sum is rounded to float16. Operands of products are float16: weights and the gradients of scores
are rounded before they are multiplied. Blocks of at most 64 keys are summed separately, and the sums are added in float32. Each
line of the file is a tensor: its name, its rank, its extents and its elements.
"""
from pathlib import Path

import numpy
from make_rounded_sums import eighths

HALF, SINGLE = numpy.float16, numpy.float32
# Name, shape of queries, shape of keys, whether causal, scale.
CASES = [("keys", (1, 1, 5, 20), (1, 1, 70, 20), False, 0.0625), ("causal", (1, 1, 36, 20), (1, 1, 36, 20), True, 0.125)]


def product(a, b, rounds):
    """a (m, k) by b (k, n), operands rounded to float16. Products are added one after the other in float32, and `rounds` says
    whether the sum is rounded to float16 after each 16."""
    a, b = (x.astype(HALF).astype(SINGLE) for x in (a, b))
    total = numpy.zeros((a.shape[0], b.shape[1]), SINGLE)
    for first in range(0, a.shape[1], 16):
        part = numpy.zeros_like(total)
        for k in range(first, min(first + 16, a.shape[1])):
            part += a[:, k:k + 1] * b[k:k + 1, :]
        total = total + part
        if rounds:
            total = total.astype(HALF).astype(SINGLE)
    return total


def blocks(keys):
    """Blocks of keys, as even as possible."""
    count = -(-keys // 64)
    size = -(-keys // count)
    return [slice(first, min(first + size, keys)) for first in range(0, keys, size)]


def attention(q, k, v, dy, causal, scale, rounds):
    """y, dq, dk and dv of one head: matrices."""
    scale = SINGLE(scale)
    seen = numpy.tril(numpy.ones((len(q), len(k)), bool)) if causal else numpy.ones((len(q), len(k)), bool)
    scores = numpy.where(seen, product(q, k.T, rounds) * scale, SINGLE(-numpy.inf))
    most = numpy.full((len(q), 1), numpy.finfo(SINGLE).min, SINGLE)
    sums, total = numpy.zeros((len(q), 1), SINGLE), numpy.zeros(q.shape, SINGLE)
    for block in blocks(len(k)):
        now = numpy.maximum(most, scores[:, block].max(1, keepdims=True))
        weights, correction = numpy.exp(scores[:, block] - now), numpy.exp(most - now)
        sums = sums * correction + weights.sum(1, keepdims=True, dtype=SINGLE)
        total = total * correction + product(weights, v[block], rounds)
        most = now
    y = (total * (1 / sums)).astype(HALF)
    p = numpy.exp(scores - (most + numpy.log(sums)))
    dp = product(dy, v.T, rounds)
    ds = p * (dp - (p * dp).sum(1, keepdims=True, dtype=SINGLE) / p.sum(1, keepdims=True, dtype=SINGLE))
    dq = sum(product(ds[:, block], k[block], rounds) for block in blocks(len(k))) * scale
    return [x.astype(HALF) for x in (y, dq, product(ds.T, q, rounds) * scale, product(p.T, dy, rounds))]


def results(q_shape, k_shape, causal, scale, rounds):
    """y, dq, dk and dv of all heads."""
    q, k, v, dy = (eighths(shape, step, modulus) for shape, step, modulus in
                   [(q_shape, 7, 61), (k_shape, 11, 53), (k_shape, 5, 47), (q_shape, 5, 31)])
    heads = [attention(*(x[head] for x in (q, k, v, dy)), causal, scale, rounds) for head in numpy.ndindex(q_shape[:2])]
    return [numpy.array(parts).reshape(shape) for parts, shape in zip(zip(*heads), [q_shape, q_shape, k_shape, k_shape])]


def main():
    lines = []
    for name, q_shape, k_shape, causal, scale in CASES:
        other = results(q_shape, k_shape, causal, scale, False)
        for part, values, of_float32 in zip(["y", "dq", "dk", "dv"], results(q_shape, k_shape, causal, scale, True), other):
            elements = [f"{x:.6g}" for x in values.ravel().tolist()]
            lines.append(" ".join([f"{name}.{part}", "4", *map(str, values.shape), *elements]))
            print(name, part, f"{(values == of_float32).mean():.0%} of the elements are equal with sums of float32")
    Path(__file__).with_name("rounded_attention.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
