"""Operators that draw random numbers: from a seed, (2,) uint32, that is the last argument of `build` and a stream, and for an operator
that has a seed of its own, from that. Each node derives a seed of its own."""

import numpy as np

from elementwise import CASTS, cpp_dtype
from model import FLOATING
from operators import listed, number, operator

RANDOM = ("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial")


def draws(graph, node):
    """Whether a node draws random numbers; dropout does in training."""
    if node.op == "Dropout":
        given = [graph.constants[name].array.ravel()[0] if name in graph.constants else None for name in node.inputs[1:]]
        return len(given) == 2 and bool(given[1]) and (given[0] is None or given[0] != 0)
    return node.op in RANDOM and not node.domain


def seed_of(place):
    given = place.attribute("seed")
    if given is None:
        own = place.writer.seed
    else:
        words = int(given) % (1 << 64) if isinstance(given, int) else int(np.float32(given).view("u4"))
        own = f"ir().constant({{{words % (1 << 32)}, {words >> 32}}}, {{2}}, tw::uint32)"
    place.writer.seeds += 1
    return place.let(f"tw::ops::create_random_seed({own}, {place.writer.seeds - 1})", "own_seed")


def floating(place, dtype):
    place.require(dtype in FLOATING, f"dtype {dtype}: floating point expected")
    return "" if dtype == "float32" else f", {cpp_dtype(dtype)}"


@operator("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
def random_numbers(place):
    normal = place.node.op.startswith("RandomNormal")
    names, function = (("mean", "scale"), "normal") if normal else (("low", "high"), "uniform")
    values = [number(place.attribute(name, default), "float32") for name, default in zip(names, (0.0, 1.0))]
    own, type_ = floating(place, place.out().dtype), place.out()
    return f"tw::ops::random_{function}({seed_of(place)}, {listed(type_.shape)}, {', '.join(values)}{own})"


@operator("Bernoulli")
def bernoulli(place):
    """1 with the probability that the input is."""
    own = floating(place, place.dtype())
    drawn = place.let(f"tw::ops::random_uniform({seed_of(place)}, {listed(place.shape())}, 0, 1{own})", "drawn")
    result = f"tw::ops::less({drawn}, {place[0]})"
    return result if place.out().dtype == "bool" else f"{result}.cast({cpp_dtype(place.out().dtype)})"


@operator("Multinomial")
def multinomial(place):
    """The class of the largest sum of a logarithm and a number of Gumbel's distribution (E. J. Gumbel, "Statistical Theory of Extreme
    Values and Some Practical Applications", 1954)."""
    (batch, classes), count, own = place.shape(), place.attribute("sample_size", 1), floating(place, place.dtype())
    drawn = place.let(f"tw::ops::random_uniform({seed_of(place)}, {listed([batch, count, classes])}, 0, 1{own})", "drawn")
    sums = place.let(f"{place[0]}.reshape({listed([batch, 1, classes])}) - tw::ops::log(-tw::ops::log({drawn}))", "sums")
    return f"tw::ops::argmax({sums}, 2).cast({cpp_dtype(place.out().dtype)})"


@operator("Dropout")
def dropout(place):
    """Dropped elements depend on the seed and the ratio alone, so that those of ones make the mask."""
    if not draws(place.graph, place.node):
        if place.has(2):
            place.constant(2)
        return [place[0], f"ir().constant(true, tw::boolean).expand({listed(place.shape())})"]
    ratio = number(place.constant(1).ravel()[0], "float32") if place.has(1) else "0.5"
    floating(place, place.dtype())
    seed = seed_of(place)
    ones = f"ir().constant({number(1, place.dtype())}, {cpp_dtype(place.dtype())}).expand({listed(place.shape())})"
    mask = f"tw::ops::not_equal(tw::ops::dropout({ones}, {seed}, {ratio}), 0)" if place.wants(1) else ""
    return [f"tw::ops::dropout({place[0]}, {seed}, {ratio})", mask]
