#!/usr/bin/env python3
"""Writes ops_types.txt: ops on integers, bool and float64, and casts between all pairs of dtypes, as NumPy has them.

    /usr/bin/python3 tests/reference/make_types.py
"""

import numpy as np
from fixtures import Fixtures

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES = ["bool", *INTEGERS, "float16", "float32", "float64"]


class TypeFixtures(Fixtures):
    def write(self, name, values):
        array = np.asarray(values)
        elements = " ".join(str(int(e)) if array.dtype.kind in "biu" else repr(float(e)) for e in array.reshape(-1))
        self.lines.append(" ".join([name, str(array.ndim), *map(str, array.shape), elements]))

    def large(self, dtype, *shape):
        """Integers of the whole range of the dtype, which a double holds."""
        bits, signed = np.iinfo(dtype).bits, np.iinfo(dtype).min < 0
        kept = min(bits, 53)
        low, high = (-(2 ** (kept - 1)), 2 ** (kept - 1)) if signed else (0, 2**kept)
        values = self.random.integers(low, high, shape).astype(np.int64 if signed else np.uint64)
        return (values << np.array(bits - kept, values.dtype)).astype(dtype)

    def small(self, dtype, *shape):
        values = self.random.integers(1, 10, shape)
        if np.iinfo(dtype).min < 0:
            values = values * self.random.choice([-1, 1], shape)
        return values.astype(dtype)


def truncated(values, divisors):
    """Quotients that are truncated towards 0, as C has them."""
    quotients = [abs(int(a)) // abs(int(b)) * (-1 if (a < 0) != (b < 0) else 1) for a, b in np.nditer([values, divisors])]
    return np.array(quotients, object).reshape(np.broadcast(values, divisors).shape).astype(values.dtype)


def mean(x, axis):
    wide = x.sum(axis, dtype=np.int64 if x.dtype.kind == "i" else np.uint64)
    return truncated(wide, np.full(wide.shape, x.shape[axis])).astype(x.dtype)


def cast(values, dtype):
    if dtype == "bool" or values.dtype.kind != "f" or dtype.startswith("float"):
        return values.astype(dtype)
    info = np.iinfo(dtype)
    limited = [0 if np.isnan(v) else info.max if v >= info.max else info.min if v <= info.min else int(v) for v in values]
    return np.array(limited, dtype)


SOURCES = {
    "bool": [False, True],
    "int8": [0, 1, -1, 127, -128, 77],
    "int16": [0, -1, 300, 32767, -32768, 2049],
    "int32": [0, -1, 70000, 2147483647, -2147483648, 16777217],
    "int64": [0, -1, 2**40 + 3, 2**62, -(2**63), 2**33 + 2**7],
    "uint8": [0, 1, 255, 128],
    "uint16": [0, 1, 65535, 32768, 4097],
    "uint32": [0, 1, 4294967295, 2147483648, 16777217],
    "uint64": [0, 1, 2**63, 2**64 - 2**11, 2**32 + 5],
    "float16": [0, -0.5, 1.9375, -2.75, 300.25, -65504, 65504, np.inf, -np.inf, np.nan],
    "float32": [0, -0.5, 1.9375, -2.75, 300.25, -70000, 3e9, -3e38, np.inf, np.nan],
    "float64": [0, 1e-300, 1.9375, -2.75, 300.25, 2.0**31, 2.0**63, 2.0**64, -1e300, 1e300, -np.inf, np.nan],
}


def main():
    fixtures = TypeFixtures(7)
    write = fixtures.write
    for dtype in INTEGERS:
        x, y = fixtures.large(dtype, 2, 3), fixtures.small(dtype, 2, 3)
        write(f"{dtype}.x0", x)
        write(f"{dtype}.x1", y)
        write(f"{dtype}.doubled", x + x)
        write(f"{dtype}.sub", y - x)
        write(f"{dtype}.mul", x * y[0])
        write(f"{dtype}.div", truncated(x, y))
        write(f"{dtype}.neg", -x)
        write(f"{dtype}.numbers", 3 - x * 5)
        write(f"{dtype}.sum", x.sum(0, dtype=dtype))
        write(f"{dtype}.sum_all", x.sum(dtype=dtype).reshape(1, 1))
        write(f"{dtype}.mean", mean(x, 1))
        write(f"{dtype}.matmul", x @ y.T)
        write(f"{dtype}.views", np.broadcast_to(x.T.reshape(2, 3)[:, None], (2, 2, 3)) + y)
        write(f"{dtype}.accumulate", x + 3 * y)
        write(f"{dtype}.accumulate_square", x + y * y)
        write(f"{dtype}.scale", x * 3)
        write(f"{dtype}.zero", 0 * x)
        write(f"{dtype}.copy", cast(np.array([1.5, -1e30, 1e30], np.float32), dtype))

    x, y = np.array([[True, False, True], [False, False, True]]), np.array([True, True, False])
    write("bool.x0", x)
    write("bool.x1", y)
    write("bool.or", x + y)
    write("bool.and", x * y)
    write("bool.views", x.T.reshape(2, 3))
    write("bool.copy", np.array([[True, False, True], [True, True, True]]))

    x, y = fixtures.random.normal(size=(2, 3)), fixtures.random.normal(size=(2, 3))
    write("float64.x0", x)
    write("float64.x1", y)
    write("float64.add", x + y)
    write("float64.sub", x - y)
    write("float64.mul", x * y[0])
    write("float64.div", x / y)
    write("float64.neg", -x)
    write("float64.numbers", 3 - x / 7)
    write("float64.sum", x.sum(0))
    write("float64.mean", x.mean(1))
    write("float64.matmul", x @ y.T)
    write("float64.accumulate", x + 0.1 * y)
    write("float64.accumulate_square", x + 0.1 * y * y)
    write("float64.accumulate_mean", x * 3 / 4 + y / 4)
    write("float64.moving_average", 0.9 * x + 0.1 * y)
    write("float64.scale", x * 0.1)
    write("float64.copy", y)

    for source, values in SOURCES.items():
        array = np.array(values, source)
        write(f"cast.{source}", array)
        for target in DTYPES:
            if target != source:
                write(f"cast.{source}.{target}", cast(array, target))

    for dtype in ["int8", "uint16", "int64", "float64"]:
        if dtype == "float64":
            x, y = fixtures.random.normal(size=(4, 37)), fixtures.random.normal(size=(37, 5))
        else:
            x, y = fixtures.large(dtype, 4, 37), fixtures.small(dtype, 37, 5)
        write(f"cut.{dtype}.x0", x)
        write(f"cut.{dtype}.x1", y)
        write(f"cut.{dtype}.square", x * x)
        write(f"cut.{dtype}.sum", x.sum(1, dtype=dtype))
        write(f"cut.{dtype}.matmul", x @ y)
        write(f"cut.{dtype}.accumulate", x + x)
        write(f"cut.{dtype}.cast", (x if dtype != "float64" else np.trunc(x)).astype("int16"))
    fixtures.save("ops_types.txt")


with np.errstate(all="ignore"):
    main()
