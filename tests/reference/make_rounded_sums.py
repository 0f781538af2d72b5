"""Prints what tests/run/ops/rounded_sums.cpp expects: products and convolutions of float16 whose sums NumPy rounds to float16.

After each group of 16 products a sum is rounded to float16. Operands are eighths, so that a group of products is exact in float32.
"""
import numpy


def eighths(shape, step, modulus):
    """Element i of the shape, in row-major order: (step i mod modulus - modulus // 2) / 8."""
    numbers = numpy.arange(numpy.prod(shape)) * step % modulus - modulus // 2
    return (numbers / 8).astype(numpy.float16).reshape(shape)


def dot(x, y, groups):
    """The sum of products of two vectors: groups are lists of indices, after each of which the sum is rounded."""
    total = numpy.float16(0)
    for group in groups:
        part = (x[group].astype(numpy.float32) * y[group].astype(numpy.float32)).sum(dtype=numpy.float32)
        total = numpy.float16(numpy.float32(total) + part)
    return total


def in_sixteens(count, begin=0):
    return [list(range(begin + first, begin + min(first + 16, count))) for first in range(0, count, 16)]


def product(a, b):
    groups = in_sixteens(a.shape[1])
    return numpy.array([[dot(row, column, groups) for column in b.T] for row in a], dtype=numpy.float16)


def conv(x, weight, taps=range(9)):
    """3 x 3, a border of 1, stride 1; groups are channels of one element of the kernel, in the order of `taps`."""
    images, channels, height, width = x.shape
    padded = numpy.zeros((images, channels, height + 2, width + 2), numpy.float16)
    padded[:, :, 1:-1, 1:-1] = x
    groups = [[tap * channels + i for i in group] for tap in taps for group in in_sixteens(channels)]
    result = numpy.zeros((images, weight.shape[0], height, width), numpy.float16)
    for n, m, i, j in numpy.ndindex(*result.shape):
        window = padded[n, :, i:i + 3, j:j + 3].reshape(channels, 9).T.ravel()  # by tap, then by channel
        result[n, m, i, j] = dot(window, weight[m].reshape(channels, 9).T.ravel(), groups)
    return result


def conv_data_gradient(dy, weight):
    return conv(dy, weight.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1], range(8, -1, -1))  # in the order of the weights


def conv_weights_gradient(x, dy):
    images, channels, height, width = x.shape
    padded = numpy.zeros((images, channels, height + 2, width + 2), numpy.float16)
    padded[:, :, 1:-1, 1:-1] = x
    result = numpy.zeros((dy.shape[1], channels, 3, 3), numpy.float16)
    groups = in_sixteens(images * height * width)
    for m, channel, k, l in numpy.ndindex(*result.shape):
        window = padded[:, channel, k:k + height, l:l + width].ravel()
        result[m, channel, k, l] = dot(window, dy[:, m].ravel(), groups)
    return result


def checksum(x):
    """The sum of all elements, each times its place modulo 97, plus 1."""
    return float((x.astype(numpy.float64).ravel() * (numpy.arange(x.size) % 97 + 1)).sum())


def main():
    a, b, dy = eighths((5, 200), 7, 61), eighths((200, 40), 11, 53), eighths((5, 40), 5, 31)
    y = product(a, b)
    exact = a.astype(numpy.float64) @ b.astype(numpy.float64)
    print("product", checksum(y), "first", y[0, :3], "rounded once", checksum(exact.astype(numpy.float16)))
    print("da", checksum(product(dy, b.T)), "db", checksum(product(a.T, dy)))
    print("with an epilogue", checksum(numpy.maximum(y, 0)))
    x, weight, dz = eighths((2, 20, 4, 5), 7, 61), eighths((18, 20, 3, 3), 11, 53), eighths((2, 18, 4, 5), 5, 31)
    print("conv", checksum(conv(x, weight)))
    print("dx", checksum(conv_data_gradient(dz, weight)), "dw", checksum(conv_weights_gradient(x, dz)))


if __name__ == "__main__":
    main()
