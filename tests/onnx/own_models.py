#!/usr/bin/env python3
"""Compares what onnx's models leave out with NumPy: sums of integers above 2^24, scales and zero points of axes, and scales that are
whole numbers; shifts at the ends of dtypes; inverse functions where they cancel; sizes, regions and other cubics of Resize;
distributions of random numbers."""

import argparse
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(PROJECT / "cmake/onnx"), str(Path(__file__).parent)]
try:
    import numpy as np
    import onnx
    from onnx import helper
    from onnx.backend.test.case.node import resize as node

    import models
    import programs
except ImportError as error:
    print(f"python3-{error.name} is not installed: left out")
    sys.exit(77)


def write(folder, op, inputs, outputs, constants=(), **attributes):
    """A model of one operator and its test data. inputs, outputs: arrays in their order; None: not given."""
    def value(name, array):
        return helper.make_tensor_value_info(name, onnx.helper.mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype], array.shape)
    names = ["" if each is None else f"x{i}" for i, each in enumerate(inputs)]
    given = [(name, each) for name, each in zip(names, inputs) if each is not None]
    fixed = [onnx.numpy_helper.from_array(each, name) for name, each in given if int(name[1:]) in constants]
    streams = [(name, each) for name, each in given if int(name[1:]) not in constants]
    results = [(f"y{i}", each) for i, each in enumerate(outputs)]
    graph = helper.make_graph([helper.make_node(op, names, [name for name, _ in results], **attributes)], op,
                              [value(*each) for each in streams], [value(*each) for each in results], fixed)
    (folder / "test_data_set_0").mkdir(parents=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), folder / "model.onnx")
    for kind, arrays in ("input", streams), ("output", results):
        for i, (name, array) in enumerate(arrays):
            tensor = onnx.numpy_helper.from_array(array, name)
            (folder / "test_data_set_0" / f"{kind}_{i}.pb").write_bytes(tensor.SerializeToString())


def convolved(x, w, pad, stride, groups=1):
    """Sums of int64."""
    x = np.pad(x.astype("i8"), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))[:, :, ::stride, ::stride]
    parts = zip(np.split(windows, groups, 1), np.split(w.astype("i8"), groups))
    return np.concatenate([np.einsum("nchwij,mcij->nmhw", a, b) for a, b in parts], 1)


def requantised(total, factor, zero, dtype):
    ends = np.iinfo(dtype)
    return np.clip(np.round(total.astype("f4") * factor.astype("f4")) + np.float32(zero), ends.min, ends.max).astype(dtype)


def quantised_models():
    draw = np.random.default_rng(1)
    scale = np.array([0.5, 2, 0.1], "f4")
    x, zeros = draw.normal(size=(2, 3, 8)).astype("f4") * 40, np.array([3, -5, 0], "i1")
    x[0, 0, :4] = 0.25, 0.75, -1.25, 1e9  # halves, and beyond the range
    rows = scale[:, None], zeros[:, None].astype("f4")
    yield "QuantizeLinear", [x, scale, zeros], [np.clip(np.round(x / rows[0]) + rows[1], -128, 127).astype("i1")], {}
    yield "QuantizeLinear", [x, np.array(2, "f4")], [np.clip(np.round(x / 2), 0, 255).astype("u1")], {"constants": [1]}
    whole = draw.integers(-(1 << 28), 1 << 28, (4, 3)).astype("i4")
    yield "DequantizeLinear", [whole, scale], [whole.astype("f4") * scale], {"axis": -1}
    small = draw.integers(-128, 128, (2, 3, 4)).astype("i1")
    yield "DequantizeLinear", [small, scale, zeros], [(small.astype("f4") - rows[1]) * rows[0]], {"constants": [1, 2]}
    zero_array = np.zeros((3, 4), "f4")
    yield "DynamicQuantizeLinear", [zero_array], [zero_array.astype("u1"), np.float32(0), np.uint8(0)], {}
    a, b = draw.integers(200, 256, (5, 901)).astype("u1"), draw.integers(0, 256, (901, 7)).astype("u1")
    za, zb = np.array([0, 1, 2, 0, 3], "u1"), draw.integers(0, 3, 7).astype("u1")
    product = (a.astype("i8") - za[:, None]) @ (b.astype("i8") - zb)
    assert product.max() > 1 << 24
    yield "MatMulInteger", [a, b, za, zb], [product.astype("i4")], {"constants": [1, 3]}
    one, two, four = (np.array(each, "f4") for each in (1, 2, 1 << 18))
    signed = b.astype("i2").astype("i1")
    total = a.astype("i8") @ (signed.astype("i8") + 1)
    rows, columns = np.array([1, 2, 0.5, 1, 4], "f4"), np.array([2, 1, 2, 0.25, 2, 2, 1], "f4")
    yield "QLinearMatMul", [a, one, np.uint8(0), signed, two, np.int8(-1), four, np.uint8(7)], \
        [requantised(total, one * two / four, 7, "u1")], {"constants": [1, 2, 4, 5, 6, 7]}
    zeros = np.arange(-3, 4).astype("i1")
    total = (a.astype("i8") - za[:, None]) @ (signed.astype("i8") - zeros)
    yield "QLinearMatMul", [a, rows, za, signed, columns, zeros, four, np.uint8(7)], \
        [requantised(total, rows[:, None] * columns / four, 7, "u1")], {"constants": [1, 2, 4, 5, 6, 7]}
    image, kernel = draw.integers(128, 256, (2, 64, 6, 6)).astype("u1"), draw.integers(0, 256, (6, 32, 3, 3)).astype("u1")
    sums = convolved(image.astype("i8") - 2, kernel.astype("i8") - np.arange(6).reshape(6, 1, 1, 1), 1, 2, 2)
    yield "ConvInteger", [image, kernel, np.uint8(2), np.arange(6).astype("u1")], [sums.astype("i4")], \
        {"constants": [3], "pads": [1] * 4, "strides": [2, 2], "group": 2}
    odd, full = np.full((1, 300, 3, 3), 255, "u1"), np.full((2, 300, 3, 3), 255, "u1")
    odd[0, 0, 0, 0] = 254
    deep = convolved(odd, full, 0, 1)
    assert deep.max() > 1 << 24
    yield "ConvInteger", [odd, full], [deep.astype("i4")], {}
    weight, scales = draw.integers(-128, 128, (6, 64, 3, 3)).astype("i1"), draw.uniform(0.5, 1.5, 6).astype("f4")
    bias, of_y = draw.integers(-5000, 5000, 6).astype("i4"), np.array(1000, "f4")
    total = convolved(image.astype("i8") - 130, weight, 1, 1) + bias.reshape(6, 1, 1)
    yield "QLinearConv", [image, two, np.uint8(130), weight, scales, np.zeros(6, "i1"), of_y, np.uint8(100), bias], \
        [requantised(total, (two * scales / of_y).reshape(6, 1, 1), 100, "u1")], {"constants": [3, 4, 5], "pads": [1] * 4}


def other_models():
    bits, counts = np.array([255, 129, 1, 0, 128], "u1"), np.array([7, 1, 0, 3, 7], "u1")
    yield "BitShift", [bits, counts], [bits << counts], {"direction": "LEFT"}
    yield "BitShift", [bits, counts], [bits >> counts], {"direction": "RIGHT"}
    large = np.array([(1 << 64) - 1, 1 << 63, 12345678901234567890], "u8")
    yield "BitShift", [large, np.array([63, 62, 1], "u8")], [large >> np.array([63, 62, 1], "u8")], {"direction": "RIGHT"}
    ends = np.array([0, 1e-6, -1e-6, 0.5, 3, -20, 1e4, -1e4, 1e25, -1e25], "f4")
    yield "Asinh", [ends], [np.arcsinh(ends)], {}
    above = np.array([1, 1 + 1e-6, 1.5, 100, 1e25], "f4")
    yield "Acosh", [above], [np.arccosh(above)], {}
    inside = np.array([0, 1e-5, -1e-5, 0.5, 0.9999, -0.9999], "f4")
    yield "Atanh", [inside], [np.arctanh(inside)], {}
    image = np.random.default_rng(2).normal(size=(1, 2, 7, 10)).astype("f4")

    def resized(coefficients, sizes, roi=None, **attributes):
        options = {key: each for key, each in attributes.items() if key not in ("mode", "cubic_coeff_a")}
        wanted = node.interpolate_nd(image.astype("f8"), coefficients, output_size=sizes, roi=roi, **options)
        given = [image, np.array(roi, "f4") if roi else None, None, np.array(sizes)]
        constants = {"constants": [1, 3] if roi else [3]}
        return "Resize", given, [wanted.astype("f4")], {**attributes, **constants}
    for mode in "half_pixel", "align_corners", "asymmetric":
        yield resized(node.linear_coeffs, [1, 2, 3, 7], mode="linear", coordinate_transformation_mode=mode)
        yield resized(lambda ratio: node.cubic_coeffs(ratio, A=-0.5), [1, 2, 9, 4], mode="cubic", cubic_coeff_a=-0.5,
                      coordinate_transformation_mode=mode)
    yield resized(node.cubic_coeffs, [1, 2, 3, 13], mode="cubic", exclude_outside=1)
    yield resized(node.linear_coeffs, [1, 2, 5, 8], [0, 0, 0.25, -0.2, 1, 1, 0.9, 0.7], mode="linear",
                  coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=9.0)


def random_models():
    """Models of random numbers, whose outputs RANDOM judges."""
    many, x = (np.zeros((400, 500), dtype) for dtype in ("f4", "f4"))
    yield "RandomNormal", [], [many], {"mean": 2.0, "scale": 3.0, "shape": many.shape}
    yield "RandomUniform", [], [many.astype("f2")], {"low": -1.0, "high": 5.0, "dtype": 10, "shape": many.shape}
    yield "RandomNormalLike", [x], [many.astype("f8")], {"dtype": 11, "seed": 3.5}
    x[:] = np.linspace(0, 1, 400, dtype="f4")[:, None]
    yield "Bernoulli", [x], [many.astype("i4")], {"dtype": 6}
    yield "Multinomial", [np.log(np.array([[1, 2, 0, 5], [6, 1, 1, 0]], "f4") + np.float32(1e-30))], [np.zeros((2, 50000), "i4")], \
        {"sample_size": 50000}
    yield "Dropout", [x + 1, np.float32(0.25), np.bool_(True)], [many, many.astype(bool)], {"constants": [1, 2]}


def frequencies(found):
    return np.stack([(found == value).mean(1) for value in range(4)], 1)


# Whether the outputs have the distribution, within 5 standard deviations of its estimates at the least.
RANDOM = {
    "RandomNormal": lambda y: abs(y.mean() - 2) < 0.04 and abs(y.std() - 3) < 0.03 and abs((y > 5).mean() - 0.1587) < 0.005,
    "RandomUniform": lambda y: -1 <= y.min() < -0.99 and 4.99 < y.max() < 5 and abs(y.astype("f4").mean() - 2) < 0.02,
    "RandomNormalLike": lambda y: abs(y.mean()) < 0.013 and abs(y.std() - 1) < 0.01,
    "Bernoulli": lambda y: np.abs(y.mean(1) - np.linspace(0, 1, 400)).max() < 0.12 and not y[0].any() and abs(y.mean() - 0.5) < 0.006,
    "Multinomial": lambda y: np.abs(frequencies(y) - np.array([[1, 2, 0, 5], [6, 1, 1, 0]]) / 8).max() < 0.012,
    "Dropout": lambda y, mask: abs(mask.mean() - 0.75) < 0.006 and (np.isclose(y, y.max(1, keepdims=True)) == mask).all() and
    not y[~mask].any() and np.allclose(y.max(1), (np.linspace(0, 1, 400) + 1) / 0.75),
}


def write_all(folder):
    """The folders of all models."""
    folders = []
    for i, (op, inputs, outputs, attributes) in enumerate((*quantised_models(), *other_models(), *random_models())):
        folders.append(folder / f"{i}_{op}")
        write(folders[-1], op, inputs, [np.asarray(each) for each in outputs], **attributes)
    return folders


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="g++")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        tried = [models.attempt(folder) for folder in write_all(Path(name))]
        programs.run(programs.command(options.compiler, PROJECT / "include"), [each for each in tried if each.state == "imports"])
    for each in tried:
        judge = RANDOM.get(each.folder.name.partition("_")[2])
        if judge and each.state == "passes" and not judge(*(each.found[name] for name in each.graph.outputs)):
            each.state = "draws from another distribution"
        if each.state != "passes":
            print(f"{each.folder.name}: {each.state} {each.text} {each.problems}")
    print(f"{sum(each.state == 'passes' for each in tried)} of {len(tried)} models pass")
    sys.exit(any(each.state != "passes" for each in tried))


if __name__ == "__main__":
    main()
