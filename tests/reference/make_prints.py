#!/usr/bin/python3
"""Writes prints.txt: tensors, and how NumPy prints them.

    python3 tests/reference/make_prints.py        (Debian: apt-get install python3-numpy)

A case has a line `name dtype rank extents... threshold edge_items width digits format separator brackets lines`, where
`_` is a space, a line with the elements, and as many lines of text. What NumPy has no option for (a forced format, numbers
each by itself) is taken from its functions for single numbers.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.core import arrayprint

random = np.random.default_rng(2025)
lines = []


class Scientific(arrayprint.FloatingFormat):
    def fillFormat(self, data):
        self.exp_format = True
        super().fillFormat(data)


class Fixed(arrayprint.FloatingFormat):
    exp_format = property(lambda self: False, lambda self, value: None)


def formatter(array, form, digits, threshold, edge):
    if form == "automatic":
        return None
    shown = arrayprint._leading_trailing(array, edge) if 0 < threshold < array.size else array
    if form == "none" or digits == 0:
        words = [str(x) for x in shown.ravel()]
        width = max(map(len, words)) if digits else 0
        return {"all": lambda x: str(x).rjust(width)}
    kind = {"fixed": Fixed, "scientific": Scientific}[form]
    return {"float_kind": kind(shown, digits, "maxprec", False, legacy=sys.maxsize)}


def case(name, array, threshold=1000, edge=3, width=75, digits=8, form="automatic", separator=" ", brackets="[]"):
    array = np.asarray(array)
    given_form = form
    if digits == 0:
        form = "none"
    with np.errstate(all="ignore"):
        text = np.array2string(array, threshold=threshold or sys.maxsize, edgeitems=edge, max_line_width=width or sys.maxsize,
                               precision=digits, separator=separator,
                               formatter=formatter(array, form, digits, threshold, edge))
    if brackets != "[]":
        text = text.replace("[", brackets[0]).replace("]", brackets[1])
    text = text.split("\n")
    extents = " ".join(map(str, array.shape))
    lines.append(f"{name} {array.dtype} {array.ndim} {extents} {threshold} {edge} {width} {digits} {given_form} "
                 f"{separator.replace(' ', '_')} {brackets} {len(text)}")
    lines.append(" ".join(repr(x.item()) if array.dtype != bool else str(int(x)) for x in array.ravel()))
    lines.extend(text)


def numbers(*shape, dtype=np.float32):
    """Multiples of 1/8 with different numbers of digits."""
    return (np.round(random.uniform(-20, 20, shape) * 8) / 8).astype(dtype)


f32, f16, f64 = np.float32, np.float16, np.float64
case("scalar", f32(2.5))
case("scalar_int", np.int32(-7))
case("scalar_bool", np.bool_(True))
case("scalar_nan", f32("nan"))
case("one", np.array([0.1], f32))
case("five", numbers(5))
case("matrix", numbers(3, 4))
case("cube", numbers(2, 3, 4))
case("four_axes", numbers(2, 2, 2, 2))
case("long_rows", numbers(3, 40))
case("vector_2000", np.arange(2000, dtype=f32))
case("matrix_60", np.arange(3600, dtype=np.int32).reshape(60, 60))
case("matrix_60_float", numbers(60, 60))
case("cube_summarised", np.arange(2 * 30 * 40, dtype=f32).reshape(2, 30, 40))
case("half", numbers(3, 4, dtype=f16))
case("half_digits", np.array([0.1, 0.3333, 1e-3, 65504, 6e-8, 2.5e-5], f16))
case("int", np.array([[1, -20, 300], [4000, 5, -6]], np.int32))
case("uint8", np.array([0, 255, 10], np.uint8))
case("int64", np.array([-(2**62), 1], np.int64))
case("bool", np.array([[True, False, True], [False, False, True]]))
case("all_true", np.array([True, True]))
case("nan_and_inf", np.array([1, np.nan, np.inf, -np.inf, -2.25], f32))
case("no_finite", np.array([np.nan, np.inf], f32))
case("one_digit_and_inf", np.array([1, -np.inf], f32))
case("zeros", np.zeros((2, 2), f32))
case("negative_zero", np.array([-0.0, 0.0, 1], f32))
case("large", np.array([1e8, 2.5, -3], f32))
case("small", np.array([1e-5, 0.5, 0.25], f32))
case("just_not_small", np.array([1e-3, 0.5, 0.9], f32))
case("wide_range", np.array([0.125, 1, 500], f32))
case("exponent_of_three_digits", np.array([1e-120, 1, 1e100], f64))
case("scientific_and_nan", np.array([1e20, np.nan, -np.inf, 0], f32))
case("thirds", np.array([1 / 3, 2 / 3, 1], f32))
case("thirds_double", np.array([1 / 3, 2 / 3, -1], f64))
case("digits_3", random.normal(size=(3, 4)).astype(f32), digits=3)
case("digits_3_scientific", np.array([1e-7, 123.456, -9999.9], f32), digits=3)
case("ties", np.array([0.125, 0.375, 2.5, 0.0625], f32), digits=2)
case("digits_12", np.array([0.1, 0.2], f64), digits=12)
case("digits_0", np.array([[1.5, -20, 3e20], [0.1, np.nan, np.inf]], f32), digits=0)
case("digits_0_int", np.array([1, -20, 300], np.int32), digits=0, form="none")
case("none", np.array([[1.5, -20, 3e20], [0.1, 1e-5, -0.0]], f32), form="none")
case("none_half", np.array([0.1, 1000, 6e-8], f16), form="none")
case("fixed", np.array([1e-5, 0.5, 1e9], f32), form="fixed")
case("fixed_tiny", np.array([1e-12, 0.5, 3], f32), form="fixed", digits=4)
case("scientific", np.array([[1, 2.5], [-0.1, 0]], f32), form="scientific")
case("scientific_digits", np.array([1 / 3, 200 / 3], f32), form="scientific", digits=2)
case("comma", numbers(2, 3), separator=",")
case("comma_wraps", numbers(30), separator=",", width=40)
case("brackets", numbers(2, 2, 2), brackets="{}")
case("no_threshold", np.arange(1500, dtype=np.int32), threshold=0)
case("threshold_is_met", np.arange(12, dtype=np.int32), threshold=12)
case("threshold_10", np.arange(11, dtype=np.int32), threshold=10, edge=2)
case("edge_1", numbers(5, 6, 7), threshold=100, edge=1)
case("edges_of_some_axes", numbers(2, 20), threshold=30)
case("no_width", numbers(2, 40), width=0)
case("narrow", numbers(2, 5), width=10)
case("narrower_than_an_element", numbers(2, 3), width=3)

if __name__ == "__main__":
    (Path(__file__).parent / "prints.txt").write_text("\n".join(lines) + "\n")
