"""roi_align in PyTorch, by ONNX's rules: a mean of bilinear samples for each bin of a region."""

import math

import torch


def bilinear(plane, y, x):
    height, width = plane.shape[-2:]
    if y < -1 or y > height or x < -1 or x > width:
        return torch.zeros(plane.shape[0], dtype=plane.dtype)
    y, x = min(max(y, 0.0), height - 1.0), min(max(x, 0.0), width - 1.0)
    top, left = int(y), int(x)
    bottom, right, v, h = min(top + 1, height - 1), min(left + 1, width - 1), y - int(y), x - int(x)
    return ((1 - v) * ((1 - h) * plane[:, top, left] + h * plane[:, top, right])
            + v * ((1 - h) * plane[:, bottom, left] + h * plane[:, bottom, right]))


def roi_align(output_size, scale, sampling):
    def op(x, rois, batch_index):
        regions = []
        for (x1, y1, x2, y2), image in zip((rois * scale).tolist(), batch_index.tolist()):
            bin_h, bin_w = max(y2 - y1, 1.0) / output_size[0], max(x2 - x1, 1.0) / output_size[1]
            grid_h, grid_w = sampling or math.ceil(bin_h), sampling or math.ceil(bin_w)
            bins = [sum(bilinear(x[image], y1 + i * bin_h + (k + 0.5) * bin_h / grid_h, x1 + j * bin_w + (l + 0.5) * bin_w / grid_w)
                        for k in range(grid_h) for l in range(grid_w)) / (grid_h * grid_w)
                    for i in range(output_size[0]) for j in range(output_size[1])]
            regions.append(torch.stack(bins, -1).reshape(-1, *output_size))
        return torch.stack(regions)

    return op
