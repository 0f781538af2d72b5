#pragma once
#include <cstdint>

namespace tilewright::kernel {

/// Largest number of terms that a matrix product or a convolution adds in sequence in float32. A longer sum is divided into parts
/// of at most this length, which are added with their rounding errors: the error of each element is at most terms_of_product + 8
/// roundings of the sum of its terms' absolute values, for any number of terms.
inline constexpr std::int64_t terms_of_product = 4096;
constexpr bool is_long_product(std::int64_t terms) { return terms > terms_of_product; }

/// Largest number of terms that an accumulator adds in its own type before it is moved to one of float64: a sum's error is at
/// most terms_of_accumulator + 8 roundings of the sum of the terms' absolute values, for any number of terms.
inline constexpr std::int64_t terms_of_accumulator = 256;

/// Largest number of terms of a short sum: up to it, writing the result takes longer than the sum. [fc1, dW; fc2, dW; fc4, dW: 8
/// terms; and a step of MNIST]
inline constexpr std::int64_t short_sum = 32;

}  // namespace tilewright::kernel
