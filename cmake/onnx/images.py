"""Operators that sample images."""

import math

import numpy as np

from folding import limited
from networks import braced
from operators import listed, number, operator


@operator("RoiAlign")
def roi_align(place):
    mode = place.attribute("coordinate_transformation_mode", "half_pixel")
    place.require(place.attribute("mode", "avg") == "avg" and mode == "output_half_pixel",
                  f"coordinate_transformation_mode {mode}: output_half_pixel, and mode avg, expected")
    size = listed([place.attribute("output_height", 1), place.attribute("output_width", 1)])
    options = [f".output_size = {size}", f".spatial_scale = {number(place.attribute('spatial_scale', 1.0), 'float32')}",
               f".sampling_ratio = {place.attribute('sampling_ratio', 0)}"]
    return f"tw::ops::roi_align({place[0]}, {place[1]}, {place[2]}.cast(tw::int32){braced(options)})"


@operator("GridSample")
def grid_sample(place):
    mode, padding = place.attribute("mode", "bilinear"), place.attribute("padding_mode", "zeros")
    place.require(mode in ("bilinear", "nearest"), f"mode {mode}: bilinear or nearest expected")
    options = [f".mode = tw::GridSampleMode::{mode}"] if mode != "bilinear" else []
    options += [f".padding_mode = tw::GridPaddingMode::{padding}"] if padding != "zeros" else []
    options += [".align_corners = true"] if place.attribute("align_corners", 0) else []
    return f"tw::ops::grid_sample({place[0]}, {place[1]}.cast(tw::{place.dtype()}){braced(options)})"


@operator("Resize")
def resize(place):
    """interpolate, or a product with weights along each axis for what that has not: regions, and other cubics."""
    scales, shape = scales_of(place), place.out().shape
    mode, kind = place.attribute("coordinate_transformation_mode", "half_pixel"), place.attribute("mode", "nearest")
    place.require(all(math.floor(extent * scale) == out for extent, scale, out in zip(place.shape(), scales, shape)),
                  f"sizes {place.out()}: those of the scales expected")
    place.require(mode != "align_corners" or not has_scales(place) or
                  all(extent * scale == out for extent, scale, out in zip(place.shape(), scales, shape)),
                  "align_corners with scales that give no whole extents, for which ONNX's text and its test data differ")
    if mode == "tf_crop_and_resize" or kind == "cubic" and (
            place.attribute("cubic_coeff_a", -0.75) != -0.75 or place.attribute("exclude_outside", 0)):
        return by_weights(place, scales, mode, kind)
    options = []
    if kind != "nearest":
        options.append(f".mode = tw::ResizeMode::{kind}")
    elif place.attribute("nearest_mode", "round_prefer_floor") != "round_prefer_floor":
        options.append(f".nearest_mode = tw::NearestMode::{place.attribute('nearest_mode')}")
    if mode != "half_pixel":
        options.append(f".coordinate_transformation_mode = tw::CoordinateMode::{mode}")
    return f"tw::ops::interpolate({place[0]}, {{{', '.join(number(scale, 'float64') for scale in scales)}}}{braced(options)})"


def has_scales(place):
    return place.has(2) and place.constant(2).size > 0


def scales_of(place):
    """The factors of all axes; one that sizes give is the least double whose product is the size."""
    if has_scales(place):
        return [float(each) for each in place.constant(2)]
    scales = []
    for size, extent in zip(place.constant(3).tolist(), place.shape()):
        scale = size / extent
        scales.append(scale if math.floor(extent * scale) == size else math.nextafter(scale, math.inf))
    return scales


def by_weights(place, scales, mode, kind):
    place.require(kind != "nearest", f"mode nearest with {mode}: linear or cubic expected")
    rank, x = place.rank(), place[0]
    is_region = mode == "tf_crop_and_resize"
    roi = place.constant(1).tolist() if is_region else [0] * rank + [1] * rank
    for axis, (extent, scale, out) in enumerate(zip(place.shape(), scales, place.out().shape)):
        region = roi[axis], roi[axis + rank]
        if extent == out and region == (0, 1):
            continue
        limited([extent, out])
        at = places(extent, scale, out, mode, region)
        weights = weights_of(at, extent, kind, place.attribute("cubic_coeff_a", -0.75), place.attribute("exclude_outside", 0))
        outside = (at < 0) | (at > extent - 1) if is_region else np.zeros(out, bool)
        weights[outside] = 0
        order = [*range(axis), *range(axis + 1, rank), axis]
        x = f"{x}.transpose({listed(order)}).matmul({place.writer.constant(weights.T, place.dtype(), 'weights')})"
        if outside.any():
            x += f" + {place.writer.constant(outside * place.attribute('extrapolation_value', 0.0), place.dtype(), 'outside')}"
            x = f"({x})"
        x = place.let(f"{x}.transpose({listed(np.argsort(order))})", "resized")
    return x


def places(extent, scale, out, mode, region):
    """Where the results of an axis are among its elements."""
    i, last = np.arange(out, dtype="float64"), extent - 1
    if mode == "tf_crop_and_resize":
        begin, end = region
        return last * (begin + i * (end - begin) / (out - 1)) if out > 1 else np.array([last * (begin + end) / 2])
    if mode == "align_corners":
        return i * last / max(out - 1, 1)
    if mode == "asymmetric":
        return i / scale
    return np.zeros(1) if mode == "pytorch_half_pixel" and out == 1 else (i + 0.5) / scale - (mode != "tf_half_pixel_for_nn") / 2


def weights_of(at, extent, kind, a, excludes):
    """The weights of the elements of an axis for each result: linear, or Keys' cubic with a."""
    first = np.floor(at)
    result = np.zeros((len(at), extent))
    for tap in (0, 1) if kind == "linear" else (-1, 0, 1, 2):
        distance = np.abs(at - first - tap)
        near = ((a + 2) * distance - (a + 3)) * distance ** 2 + 1
        far = ((distance - 5) * distance + 8) * distance * a - 4 * a
        weight = 1 - distance if kind == "linear" else np.where(distance <= 1, near, far)
        element = first.astype(int) + tap
        weight = np.where((element < 0) | (element >= extent), 0, weight) if excludes else weight
        np.add.at(result, (np.arange(len(at)), np.clip(element, 0, extent - 1)), weight)
    return result / result.sum(1, keepdims=True)
