#pragma once
// Layers in half precision beside tests/reference/layers.txt, whose inputs and parameters float16 and bfloat16 hold exactly.
#include <cmath>
#include <string_view>

#include "checks.hpp"

namespace layer_cases {

/// The most roundings to half precision on a path from a case's inputs to its results, on a simulated IPU: there, the product and
/// the bias of a linear layer are two. What is computed in float32 counts once, where its result is rounded.
struct Roundings {
  std::string_view name;
  int count;
};
inline constexpr int of_linear = 2, of_projection = 1, of_attention = 2 * of_linear + 1, of_rms_norm = 2, of_swiglu = 4;
/// A GRU's step: product, bias, sum, sigmoid, product, sum, tanh, difference, product, sum. An LSTM's: product, bias, sum,
/// sigmoid, product, sum, tanh, product. Of the state before, a gate lets through about half: all earlier steps are as one more.
inline constexpr int of_gru = of_linear + 2 * 10, of_lstm = of_linear + 2 * 8;
inline constexpr Roundings roundings[] = {
    {"embedding", 0},
    {"linear", of_linear},
    {"layer_norm", 1},
    {"rms_norm", of_rms_norm},
    {"group_norm", 1},
    {"batch_norm", 1},
    {"batch_norm_evaluation", 1},
    {"conv1d", 2},
    {"conv2d", 2},
    {"conv3d", 1},
    {"conv_transpose1d", 2},
    {"conv_transpose2d", 2},
    {"conv_transpose3d", 1},
    {"max_pool1d", 0},
    {"max_pool2d", 0},
    {"max_pool3d", 0},
    {"avg_pool1d", 1},
    {"avg_pool2d", 1},
    {"avg_pool3d", 1},
    {"avg_pool1d_padded", 1},
    {"avg_pool2d_padded", 1},
    {"feed_forward", of_linear + 1 + of_linear},
    {"swiglu", of_swiglu},
    {"padded_cross", of_attention},
    {"block", 1 + of_attention + 1 + 1 + of_linear + 1 + of_linear + 1},
    {"llama", of_rms_norm + of_projection + 1 + 1 + of_projection + 1 + of_rms_norm + of_swiglu + 1},
    {"gru", 2 * of_gru},
    {"lstm_without_bias", of_lstm},
};

/// Programs in half precision, with each layer once.
template <DType dtype>
constexpr void half_for_texts(Ir& ir) {
  norms<dtype>(ir);
  feed_forward<dtype>(ir);
  swiglu<dtype>(ir);
  attention_to_others<dtype>(ir);
  block<dtype>(ir);
  llama_block<dtype>(ir);
  gru<dtype>(ir);
  lstm_without_bias<dtype>(ir);
}
template <DType dtype>
constexpr void half_for_images(Ir& ir) {
  convolutions<dtype>(ir);
  pools<dtype>(ir);
}

}  // namespace layer_cases

/// The error that a tensor in half precision may have whose elements are at most `largest`. One rounding has a relative error of
/// at most u, half the dtype's epsilon; if it is random within that, its root mean square is u / sqrt(3). Errors of k roundings
/// are independent: their root mean square is u sqrt(k / 3) ("A New Approach to Probabilistic Rounding Error Analysis", SIAM
/// Journal on Scientific Computing 41(5), 2019), of which the bound, 2 u sqrt(k), is 3.5 times. A sum of n terms of random signs
/// is sqrt(n) times as large as a term, and so is its error: relative to the largest element, errors neither grow nor shrink. The
/// path of a gradient leads to the result and back, with the gradient of each op rounded once, and ends with a sum: 2 k + 1
/// roundings.
inline double half_error_bound(tw::DType dtype, int count, bool is_gradient, double largest) {
  const double u = dtype == tw::float16 ? 0x1p-11 : 0x1p-8, of_float32 = 0x1p-20;
  return (2 * u * std::sqrt(is_gradient ? 2 * count + 1 : count) + of_float32) * largest;
}
/// Compares all results of a program of half precision with those that PyTorch computed in float64.
template <auto program, tw::DType dtype, tw::Target target = tw::cpu>
void check_half_layers() {
  TestSession<program, target> session({.threads = 1});
  write_variables(session, layer_reference());
  for (const auto& tensor : session.host_tensors()) {
    INFO(tensor.name);
    CHECK(elements_of(tensor) == layer_reference().at(std::string(tensor.name)));
  }
  const auto results = session.run();
  for (const auto& tensor : results.host_tensors()) {
    const std::string name(tensor.name), name_of_case = case_of(name), kind = name.substr(name_of_case.size() + 1);
    INFO(tw::to_text(dtype) << ": " << name);
    const bool is_statistic = kind.starts_with("new_");
    CHECK(tensor.spec.dtype == (is_statistic ? tw::float32 : dtype));
    const std::vector<double> actual = elements_of(tensor), &expected = layer_reference().at(name);
    REQUIRE(actual.size() == expected.size());
    double largest = 0, error = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
      largest = std::max(largest, std::abs(expected[i]));
      const double difference = std::abs(actual[i] - expected[i]);
      error = difference <= error ? error : difference;  // NaN counts
    }
    const auto found = std::ranges::find(layer_cases::roundings, name_of_case, &layer_cases::Roundings::name);
    REQUIRE(found != std::end(layer_cases::roundings));
    CHECK(error <= half_error_bound(dtype, is_statistic ? 0 : found->count, kind.starts_with("d"), largest));
  }
  check_names(session, results.host_tensors());
}
