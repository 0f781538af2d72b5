#!/usr/bin/env python3
"""Writes ops_random.txt: random numbers, dropout and seeds, computed in exact fractions that are rounded as IEEE 754 rounds.

This file follows the definition of Philox 4x32-10 and docs/how-to/random.md, and shares no code with the library. So its numbers are the
same bits on every machine.
"""

import math
from fractions import Fraction

import numpy as np
from fixtures import Fixtures

PRECISION = {"float16": (11, -14), "float32": (24, -126), "float64": (53, -1022)}


def rounded(x, dtype):
    """The element nearest to x, ties to even."""
    precision, smallest = PRECISION[dtype]
    if x == 0:
        return x
    size = abs(x)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, smallest) - precision + 1)
    return round(x / unit) * unit


def root(x, dtype):
    if x == 0:
        return x
    scale = 1 << 200
    floor = math.isqrt(x.numerator * scale * scale // x.denominator)
    exact = Fraction(floor, scale) ** 2 == x
    return rounded(Fraction(2 * floor + (not exact), 2 * scale), dtype)


def philox(counter, key):
    for _ in range(10):
        a, b = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [(b >> 32) ^ counter[1] ^ key[0], b & 0xFFFFFFFF, (a >> 32) ^ counter[3] ^ key[1], a & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


def words_of(seed, counter):
    return philox([counter & 0xFFFFFFFF, counter >> 32, 0, 0], list(seed))


def word(seed, position):
    """The word of an element: 64 elements share 16 counters."""
    group, place = divmod(position, 64)
    return words_of(seed, 16 * group + place % 16)[place // 16]


def wide_word(seed, position):
    group, place = divmod(position, 32)
    words = words_of(seed, 16 * group + place % 16)
    high, low = words[2 * (place // 16)], words[2 * (place // 16) + 1]
    return high << 32 | low


class Arithmetic:
    """Of float32 or float64: each operation is rounded once."""

    def __init__(self, dtype):
        self.dtype = dtype

    def fma(self, a, b, c):
        return rounded(a * b + c, self.dtype)

    def polynomial(self, x, coefficients):
        """Coefficients are rounded to float64 first, as literals of C++ are."""
        numbers = [rounded(rounded(Fraction(c), "float64"), self.dtype) for c in coefficients]
        result = numbers[-1]
        for number in reversed(numbers[:-1]):
            result = self.fma(result, x, number)
        return result


def compute_dtype(dtype):
    return "float64" if dtype == "float64" else "float32"


def uniform(seed, position, low, high, dtype):
    arithmetic = Arithmetic(compute_dtype(dtype))
    low, high = rounded(Fraction(low), dtype), rounded(Fraction(high), dtype)
    if dtype == "float64":
        u = Fraction(wide_word(seed, position) >> 11, 1 << 53)
    else:
        u = Fraction(word(seed, position) >> 8, 1 << 24)
    scale = rounded(high - low, arithmetic.dtype)
    exact = min(arithmetic.fma(u, scale, low), below(high, dtype))
    result = rounded(exact, dtype)
    return below(result, dtype) if dtype == "float16" and result > exact else result  # half precision is rounded down


def below(x, dtype):
    numpy_type = getattr(np, dtype)
    return Fraction(float(np.nextafter(numpy_type(float(x)), numpy_type(-np.inf))))


def normal(seed, position, mean, std, dtype):
    wide = dtype == "float64"
    arithmetic = Arithmetic(compute_dtype(dtype))
    fma, polynomial = arithmetic.fma, arithmetic.polynomial
    size = 32 if wide else 64
    group, place = divmod(position, size)
    words = words_of(seed, 16 * group + place % 16)
    if wide:
        for_radius, for_angle = words[0] << 32 | words[1], words[2] << 32 | words[3]
        second = place >= 16
        u = fma(rounded(Fraction(for_radius >> 11), "float64"), Fraction(1, 1 << 53), Fraction(1, 1 << 54))
        bits, half_pi, log_2, root_half = 64, "0x1.921fb54442d18p+0", "0x1.62e42fefa39efp-1", "0x1.6a09e667f3bcdp-1"
    else:
        pair = place // 32
        for_radius, for_angle = words[2 * pair], words[2 * pair + 1]
        second = place // 16 % 2 == 1
        u = fma(rounded(Fraction(for_radius >> 1), "float32"), Fraction(1, 1 << 31), Fraction(1, 1 << 32))
        bits, half_pi, log_2, root_half = 32, "0x1.921fb6p+0", "0x1.62e42fefa39efp-1", "0x1.6a09e6p-1"
    root_half = Fraction(float.fromhex(root_half))
    exponent = 0
    while u < root_half * Fraction(2) ** exponent:
        exponent -= 1
    m = u / Fraction(2) ** exponent
    s = rounded((m - 1) / rounded(m + 1, arithmetic.dtype), arithmetic.dtype)
    y = rounded(s * s, arithmetic.dtype)
    series = polynomial(y, [Fraction(1, n) for n in range(3, 23 if wide else 11, 2)])
    log_m = fma(rounded(2 * s * y, arithmetic.dtype), series, 2 * s)
    radius = root(-2 * fma(exponent, rounded(Fraction(float.fromhex(log_2)), arithmetic.dtype), log_m), arithmetic.dtype)
    quarter = for_angle >> (bits - 2)
    angle = for_angle << 2 & ((1 << bits) - 1)
    angle -= (angle >> (bits - 1)) << bits
    t = rounded(rounded(Fraction(angle), arithmetic.dtype) * Fraction(float.fromhex(half_pi)) / (1 << bits), arithmetic.dtype)
    y = rounded(t * t, arithmetic.dtype)
    sines = [Fraction((-1) ** (n // 2), math.factorial(n)) for n in range(3, 16 if wide else 10, 2)]
    cosines = [Fraction((-1) ** (n // 2), math.factorial(n)) for n in range(0, 17 if wide else 9, 2)]
    sine = fma(rounded(t * y, arithmetic.dtype), polynomial(y, sines), t)
    cosine = polynomial(y, cosines)
    factor = [(cosine, sine), (-sine, cosine), (-cosine, -sine), (sine, -cosine)][quarter][second]
    z = rounded(radius * factor, arithmetic.dtype)
    mean, std = (rounded(Fraction(x), arithmetic.dtype) for x in (mean, std))
    return rounded(fma(z, std, mean), dtype)


def drops(seed, position, p):
    return word(seed, position) < int(p * 2**32 + 0.5)


def create_random_seed(seed, modifier):
    modifier %= 1 << 64
    return philox([modifier & 0xFFFFFFFF, modifier >> 32, 0, 1], list(seed))[:2]


class ExactFixtures(Fixtures):
    def write(self, name, values):
        array = np.asarray(values)
        elements = " ".join(format(float(e), ".17g") for e in array.reshape(-1).tolist())
        self.lines.append(" ".join([name, str(array.ndim), *map(str, array.shape), elements]))

    def numbers(self, name, function, seed, shape, *arguments):
        self.write(f"{name}.x0", seed)
        elements = [float(function(seed, i, *arguments)) for i in range(int(np.prod(shape)))]
        self.write(f"{name}.y0", np.array(elements).reshape(shape))

    def dropout(self, name, seed, shape, p, dtype, mask_shape=None, special=False):
        mask_shape = shape if mask_shape is None else mask_shape
        numpy_type = getattr(np, dtype)
        compute_type = getattr(np, compute_dtype(dtype))
        count = int(np.prod(mask_shape))
        scale = compute_type(1 / (1 - p))
        factor = np.array([0 if drops(seed, i, p) else scale for i in range(count)], compute_type).reshape(mask_shape)
        x, dy = (self.tensor(*shape).numpy() for _ in range(2))
        if special:
            x.reshape(-1)[::3] = np.nan
            x.reshape(-1)[1::3] = np.inf
        with np.errstate(invalid="ignore"):
            y, dx = ((v.astype(compute_type) * factor).astype(numpy_type) for v in (x, dy))
        for tensor, values in (("x0", x), ("x1", seed), ("y0", y)) + ((("dy0", dy), ("dx0", dx)) if not special else ()):
            self.write(f"{name}.{tensor}", values)


def main():
    fixtures = ExactFixtures(13)
    seed, other = (0x243F6A88, 0x85A308D3), (0, 42)
    fixtures.numbers("uniform", uniform, seed, (3, 5, 7), -2, 3, "float32")
    fixtures.numbers("uniform_of_one_ulp", uniform, seed, (70,), 1, 1 + 2**-23, "float32")
    fixtures.numbers("uniform_scalar", uniform, other, (), 0, 1, "float32")
    fixtures.numbers("uniform_half", uniform, seed, (9, 11), 0.1, 0.7, "float16")
    fixtures.numbers("uniform_wide", uniform, seed, (5, 13), -0.1, 0.3, "float64")
    fixtures.numbers("normal", normal, seed, (13, 15), 0, 1, "float32")
    fixtures.numbers("normal_moved", normal, other, (2, 3, 1, 33), 0.1, 3, "float32")
    fixtures.numbers("normal_half", normal, seed, (1, 65), -1, 0.3, "float16")
    fixtures.numbers("normal_wide", normal, seed, (7, 11), 0.1, 0.7, "float64")
    fixtures.dropout("dropout", seed, (9, 23), 0.3, "float32")
    fixtures.dropout("dropout_of_few", other, (5,), 0.5, "float32")
    fixtures.dropout("dropout_nothing", other, (5, 3), 0.0, "float32")
    fixtures.dropout("dropout_half", seed, (9, 23), 0.3, "float16")
    fixtures.dropout("dropout_wide", seed, (9, 23), 0.3, "float64")
    fixtures.dropout("dropout_special", seed, (4, 6), 0.5, "float32", special=True)
    fixtures.dropout("dropout_rows", seed, (9, 4), 0.4, "float32", (9, 1))
    fixtures.dropout("dropout_columns", seed, (3, 9), 0.4, "float32", (9,))
    fixtures.dropout("dropout_columns_half", seed, (3, 9), 0.4, "float16", (9,))
    fixtures.dropout("dropout_columns_wide", seed, (3, 9), 0.4, "float64", (9,))
    fixtures.dropout("dropout_all", other, (2, 3), 0.4, "float32", ())
    fixtures.dropout("dropout_shaped_fully", seed, (9, 23), 0.3, "float32")
    fixtures.write("split.x0", seed)
    for i in range(3):
        fixtures.write(f"split.y{i}", create_random_seed(seed, i))
    for name, modifier in (("seed_of_number", -5), ("seed_of_large_number", 2**40 + 7)):
        fixtures.write(f"{name}.x0", seed)
        fixtures.write(f"{name}.y0", create_random_seed(seed, modifier))
    for name, modifier in (("seed_of_int32", -5), ("seed_of_uint32", 2**32 - 5)):
        fixtures.write(f"{name}.x0", seed)
        fixtures.write(f"{name}.x1", modifier)
        fixtures.write(f"{name}.y0", create_random_seed(seed, modifier))
    for name, modifier in (("seed_of_int64", -(2**40) - 7), ("seed_of_uint64", 2**63 + 2**20)):
        fixtures.write(f"{name}.x0", seed)
        fixtures.write(f"{name}.x1", modifier)
        fixtures.write(f"{name}.y0", create_random_seed(seed, modifier))
    fixtures.save("ops_random.txt")


if __name__ == "__main__":
    main()
