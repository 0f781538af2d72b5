"""Einsum: one or two operands as matrix products, more of them by products of elements."""

import math
import string

from elementwise import cpp_dtype
from operators import listed, operator


@operator("Einsum")
def einsum(place):
    terms, result = parsed(place)
    extents = {}
    for i, term in enumerate(terms):
        for letter, extent in zip(term, place.shape(i)):
            place.require(extents.setdefault(letter, extent) == extent, f"'{letter}' of several extents")
    operands = [distinct(place, i, term, extents) for i, term in enumerate(terms)]
    while len(operands) > 1:
        (a, left), (b, right), *rest = operands
        kept = set(result).union(*(term for _, term in rest))
        operands = [product(place, a, left, b, right, kept, extents), *rest]
    x, term = operands[0]
    gone = [i for i, letter in enumerate(term) if letter not in result]
    if gone:
        x, term = f"tw::ops::sum({x}, {listed(gone)})", "".join(letter for letter in term if letter in result)
    order = [term.index(letter) for letter in result]
    return x if order == sorted(order) else f"{x}.transpose({listed(order)})"


def parsed(place):
    """The letters of each operand and of the result. An ellipsis becomes letters of its own."""
    text = place.attribute("equation").replace(" ", "")
    left, _, result = text.partition("->")
    terms = left.split(",")
    place.require(len(terms) == len(place.node.inputs), f"{text}: an operand for each input expected")
    if "->" not in text:
        result = "".join(sorted(c for c in set(left) - set(",.") if left.count(c) == 1))
        result = "..." + result if "..." in left else result
    free = [c for c in string.ascii_uppercase if c not in text]
    dots = max((place.rank(i) - len(term.replace("...", "")) for i, term in enumerate(terms) if "..." in term), default=0)
    for i, term in enumerate(terms):
        own = place.rank(i) - len(term.replace("...", ""))
        place.require(own == dots if "..." in term else own == 0, f"{text} of {place.type(i)}: a letter for each axis expected")
    return [term.replace("...", "".join(free[:dots])) for term in terms], result.replace("...", "".join(free[:dots]))


def distinct(place, i, term, extents):
    """An operand without two axes of one letter: its diagonal is the sum of what a unit matrix keeps."""
    x = place[i]
    for letter in dict.fromkeys(term):
        while term.count(letter) > 1:
            first, second = term.index(letter), term.rindex(letter)
            shape = [extents[letter] if axis in (first, second) else 1 for axis in range(len(term))]
            unit = f"ir().constant(tw::ones(), {listed([extents[letter]])}, {cpp_dtype(place.dtype(i))}).diag().reshape({listed(shape)})"
            x = place.let(f"tw::ops::sum({x} * {unit}, {listed([second])})", "diagonal")
            term = term[:second] + term[second + 1:]
    return x, term


def product(place, a, left, b, right, kept, extents):
    """Two operands as a product of matrices, and the letters of its axes."""
    both = [letter for letter in left if letter in right]
    shared, summed = [c for c in both if c in kept], [c for c in both if c not in kept]
    rows, columns = [c for c in left if c not in right], [c for c in right if c not in left]
    a = moved(a, left, [shared, rows, summed], extents)
    b = moved(b, right, [shared, summed, columns], extents)
    term = [*shared, *rows, *columns]
    return place.let(f"{a}.matmul({b}).reshape({listed(extents[c] for c in term)})", "product"), "".join(term)


def moved(x, term, groups, extents):
    """x as matrices: an axis for each group of letters."""
    order = [term.index(letter) for group in groups for letter in group]
    if order != sorted(order):
        x = f"{x}.transpose({listed(order)})"
    return f"{x}.reshape({listed(math.prod(extents[c] for c in group) for group in groups)})"
