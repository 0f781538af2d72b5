#!/usr/bin/python3
"""Prints the numbers of SciPy's curve_fit that examples/more/curve_fit.cpp compares with, for the points that it has.

    /usr/bin/python3 tests/reference/make_curve_fit.py        (Debian: apt-get install python3-scipy)
"""

import re
from pathlib import Path

import numpy as np
from scipy import optimize, stats

SOURCE = Path(__file__).resolve().parents[2] / "examples/more/curve_fit.cpp"


def curve(x, a, b, c):
    return a * np.exp(-b * x) + c


def main():
    measured = np.array([float(number) for number in re.search(r"measured\{(.*?)\}", SOURCE.read_text(), re.DOTALL)[1].split(",")])
    x = 0.1 * np.arange(len(measured))
    parameters, covariance = optimize.curve_fit(curve, x, measured)
    print("parameters", *(format(value, ".9g") for value in parameters))
    print("errors", *(format(value, ".9g") for value in np.sqrt(np.diag(covariance))))
    print("quantile", format(stats.t.ppf(0.975, len(measured) - 3), ".9g"))


if __name__ == "__main__":
    main()
