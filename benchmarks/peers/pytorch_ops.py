#!/usr/bin/env python3
"""The single ops of ops.py in eager PyTorch: `pytorch_ops.py CASE FORM RESULTS`, measured as protocol.hpp says.

A case has one form or several, of which the fastest counts. RESULTS is the file that the case's program of tilewright wrote:
before anything is measured, the results in it are compared with this program's, or if they are random, both with what is expected
of them. Inputs are the same numbers as there, in as many copies; the results of all copies are kept, as they are there.
"""
import os
import sys

THREADS = "1"
# torch.set_num_threads alone does not keep PyTorch to one core: these are read when it is loaded
os.environ.update(OMP_NUM_THREADS=THREADS, OPENBLAS_NUM_THREADS=THREADS, MKL_NUM_THREADS=THREADS)

import argparse  # noqa: E402
import time  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from math import sqrt  # noqa: E402
from typing import Callable  # noqa: E402

import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch.nn import functional  # noqa: E402


@dataclass(frozen=True)
class Ints:
    """An input of integers from 0 to below `below`."""
    shape: tuple
    below: int


SEED = Ints((2,), 0)  # an input that only the other side has


@dataclass(frozen=True)
class Case:
    copies: int  # as in benchmarks/ops, as are the inputs: shapes of floats in [-1, 1), Ints or SEED
    inputs: tuple
    forms: dict  # by name: of the tensors of one copy, which are no seeds, to the function that is measured
    check: Callable  # (inputs, results of the other side as flat arrays, own results), each for one copy


class Disagreement(Exception):
    pass


def require(condition, *message):
    if not condition:
        raise Disagreement(" ".join(str(part) for part in message))


# ---- checks

def floats(theirs, own):
    return np.frombuffer(theirs, np.float32).reshape(own.shape)


def equal(inputs, theirs, own):
    for i, (their, mine) in enumerate(zip(theirs, own, strict=True)):
        require(np.array_equal(floats(their, mine), mine), "result", i, "differs")


def close(relative):
    """The norm of the difference is at most so much of the norm of the result, and no element is far off."""
    def check(inputs, theirs, own):
        for i, (their, mine) in enumerate(zip(theirs, own, strict=True)):
            difference = np.abs(floats(their, mine) - mine)
            norms = [np.linalg.norm(array.astype(np.float64)) for array in (difference, mine)]
            require(norms[0] <= relative * norms[1], "result", i, "differs by", norms[0], "of", norms[1])
            largest = difference.max()
            require(largest <= 10 * relative * np.abs(mine).max(), "an element of result", i, "differs by", largest)
    return check


def same_places(inputs, theirs, own):
    """Where largest elements are; of equal ones another may be found."""
    indices, = own
    found = np.frombuffer(theirs[0], np.int32).astype(np.int64)
    largest = [np.take_along_axis(inputs[0], places.reshape(-1, 1), 1) for places in (found, indices)]
    require(np.array_equal(*largest), "other elements were found")


def same_values_and_places(inputs, theirs, own):
    values, indices = own
    require(np.array_equal(floats(theirs[0], values), values), "values differ")
    found = np.frombuffer(theirs[1], np.int32).reshape(indices.shape).astype(np.int64)
    require(np.array_equal(np.take_along_axis(inputs[0], found, 1), values), "indices are of other elements")
    require((np.diff(np.sort(found, 1), axis=1) > 0).all(), "an index comes twice")


def standard_normal(inputs, theirs, own):
    """Mean, variance, skewness and kurtosis within five standard errors."""
    for who, sample in (("tilewright", np.frombuffer(theirs[0], np.float32)), ("PyTorch", own[0])):
        x = sample.astype(np.float64)
        for power, (expected, variance) in enumerate(((0, 1), (1, 2), (0, 15), (3, 96)), 1):
            moment, error = (x ** power).mean(), sqrt(variance / x.size)
            require(abs(moment - expected) < 5 * error, who, "moment", power, "is", moment, "and not", expected)


def dropped(probability):
    def check(inputs, theirs, own):
        x = inputs[0]
        for who, y in (("tilewright", floats(theirs[0], x)), ("PyTorch", own[0])):
            kept = y != 0
            require(np.allclose(y[kept], x[kept] / np.float32(1 - probability), rtol=1e-6, atol=0), who, "scales wrongly")
            share, error = 1 - kept.mean(), sqrt(probability * (1 - probability) / x.size)
            require(abs(share - probability) < 5 * error, who, "drops", share)
    return check


# ---- what is measured: functions of the inputs of one copy

def call(function):
    return lambda *inputs: lambda: function(*inputs)


def gradients(function, count=1):
    """The gradients of the first inputs for that of the result, which is the last input. The graph is made before."""
    def prepare(*inputs):
        sources = [tensor.requires_grad_() for tensor in inputs[:count]]
        with torch.enable_grad():
            result = function(*sources, *inputs[count:-1])
        return lambda: torch.autograd.grad(result, sources, inputs[-1], retain_graph=True)
    return prepare


def forms(**functions):
    return {name: call(function) for name, function in functions.items()}


def scatter_rows(x, indices):
    return torch.zeros(TABLE).index_add_(0, indices, x)


def scatter_reduce(reduction):
    return lambda x, indices, initial: initial.scatter_reduce(0, indices, x, reduction)


def conv_transpose(x, weight):
    return functional.conv_transpose2d(x, weight, stride=2, padding=1)


TABLE, ROWS, PLACES = (32768, 256), (4096, 256), Ints((4096,), 32768)
ELEMENT_PLACES = Ints(ROWS, 32768)
SCORES, MATRIX, PART, NUMBERS = (4096, 1000), (4096, 1024), (512, 512), (1 << 20,)
CONV = (32, 64, 14, 14), (64, 32, 4, 4)

CASES = {
    "gather": Case(4, (TABLE, PLACES), forms(index_select=lambda x, i: x.index_select(0, i), subscript=lambda x, i: x[i],
                                             embedding=lambda x, i: functional.embedding(i, x)), equal),
    "gather_gradient": Case(4, (TABLE, PLACES, ROWS), {
        "index_select": gradients(lambda x, i: x.index_select(0, i)), "subscript": gradients(lambda x, i: x[i]),
        "embedding": gradients(lambda x, i: functional.embedding(i, x))}, close(1e-6)),
    "scatter_sum": Case(4, (ROWS, PLACES), forms(
        index_add=scatter_rows,
        scatter_reduce=lambda x, i: torch.zeros(TABLE).scatter_reduce_(0, i[:, None].expand(ROWS), x, "sum"),
        scatter_add=lambda x, i: torch.zeros(TABLE).scatter_add_(0, i[:, None].expand(ROWS), x)), close(1e-6)),
    "scatter_elements_sum": Case(4, (ROWS, ELEMENT_PLACES, TABLE), forms(
        scatter_reduce=scatter_reduce("sum"), scatter_add=lambda x, i, initial: initial.scatter_add(0, i, x)), close(1e-6)),
    "scatter_elements_max": Case(4, (ROWS, ELEMENT_PLACES, TABLE), forms(scatter_reduce=scatter_reduce("amax")), equal),
    "topk": Case(4, (SCORES,), forms(topk=lambda x: x.topk(64)), same_values_and_places),
    "argmax": Case(4, (SCORES,), forms(argmax=lambda x: x.argmax(-1)), same_places),
    "cumsum_rows": Case(4, (MATRIX,), forms(cumsum=lambda x: x.cumsum(1)), close(1e-5)),
    "cumsum_columns": Case(4, (MATRIX,), forms(cumsum=lambda x: x.cumsum(0)), close(1e-5)),
    "max_rows": Case(4, (MATRIX,), forms(amax=lambda x: x.amax(1), max=lambda x: x.max(1).values), equal),
    "max_columns": Case(4, (MATRIX,), forms(amax=lambda x: x.amax(0), max=lambda x: x.max(0).values), equal),
    "concat_rows": Case(8, (PART,) * 8, forms(cat=lambda *parts: torch.cat(parts, 0)), equal),
    "concat_columns": Case(8, (PART,) * 8, forms(cat=lambda *parts: torch.cat(parts, 1)), equal),
    "split_copies": Case(4, (MATRIX,), forms(contiguous=lambda x: [part.contiguous() for part in x.split(256, 1)]), equal),
    "split_sum": Case(4, (MATRIX,), forms(add=lambda x: sum_of(x.split(256, 1)),
                                          reduce=lambda x: x.view(4096, 4, 256).sum(1)), close(1e-6)),
    "strided_copy": Case(4, (MATRIX,), forms(contiguous=lambda x: x[:, ::2].contiguous()), equal),
    "strided_sum": Case(4, (MATRIX,), forms(sum=lambda x: x[:, ::2].sum(1)), close(1e-5)),
    "where": Case(16, (NUMBERS,) * 3, forms(where=lambda a, b, c: where_chain(a, b, c)), equal),
    "maximum": Case(16, (NUMBERS,) * 3, forms(maximum=lambda a, b, c: torch.maximum(torch.maximum(a, b), c)), equal),
    "clip": Case(16, (NUMBERS,) * 2, forms(clamp=lambda a, b: (a.clamp(-0.5, 0.5) + b).clamp(-1, 1),
                                           in_place=lambda a, b: a.clamp(-0.5, 0.5).add_(b).clamp_(-1, 1)), equal),
    "random_normal": Case(16, (SEED,), forms(randn=lambda: torch.randn(NUMBERS)), standard_normal),
    "dropout": Case(16, (NUMBERS, SEED), forms(dropout=lambda x: functional.dropout(x, 0.25)), dropped(0.25)),
    "conv_transpose": Case(16, CONV, forms(conv_transpose2d=conv_transpose), close(1e-5)),
    "conv_transpose_gradients": Case(16, (*CONV, (32, 32, 28, 28)), {"conv_transpose2d": gradients(conv_transpose, 2)},
                                     close(1e-5)),
}


def sum_of(parts):
    return parts[0] + parts[1] + parts[2] + parts[3]


def where_chain(a, b, c):
    larger = torch.where(a > b, a, c)
    return torch.where(larger > c, b, larger)


# ---- running

def made_inputs(case):
    """For each copy its tensors, of the numbers that benchmarks/ops/op_program.hpp makes."""
    random = np.random.RandomState(1)
    stacks = []
    for given in case.inputs:
        shape = given.shape if isinstance(given, Ints) else given
        words = np.frombuffer(random.bytes(4 * case.copies * int(np.prod(shape))), np.uint32).reshape(case.copies, *shape)
        if given is SEED:
            continue
        if isinstance(given, Ints):
            stacks.append(torch.from_numpy((words.astype(np.uint64) * given.below >> 32).astype(np.int64)))
        else:
            stacks.append(torch.from_numpy((words >> 8).astype(np.float32) * np.float32(2 ** -23) - 1))
    return [[stack[copy].clone() for stack in stacks] for copy in range(case.copies)]


def check(case, inputs, results, path):
    """Compares the results of each copy with what a file has of all copies of the first result, of the second and so on."""
    with open(path, "rb") as file:
        content = file.read()
    tensors = [[tensor.detach().numpy() for tensor in (result if isinstance(result, (list, tuple)) else [result])]
               for result in results]
    size = [4 * tensor.size for tensor in tensors[0]]  # float32 and int32
    require(len(content) == case.copies * sum(size), len(content), "bytes of results, not", case.copies * sum(size))
    for copy in range(case.copies):
        begins = [case.copies * sum(size[:i]) + copy * size[i] for i in range(len(size))]
        theirs = [content[begin:begin + bytes_] for begin, bytes_ in zip(begins, size)]
        case.check([tensor.detach().numpy() for tensor in inputs[copy]], theirs, tensors[copy])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("form")
    parser.add_argument("results")
    options = parser.parse_args()
    torch.set_num_threads(int(THREADS))
    torch.set_grad_enabled(False)
    torch.manual_seed(1)

    case = CASES[options.case]
    inputs = made_inputs(case)
    ops = [case.forms[options.form](*tensors) for tensors in inputs]
    results = [op() for op in ops]
    check(case, inputs, results, options.results)
    print("ready", flush=True)
    for line in sys.stdin:
        seconds, count, start = float(line), 0, time.perf_counter()
        while (elapsed := time.perf_counter() - start) < seconds:
            results[count % case.copies] = ops[count % case.copies]()
            count += 1
        print(f"it/s {count / elapsed:.3f} threads {torch.get_num_threads()}", flush=True)


if __name__ == "__main__":
    main()
