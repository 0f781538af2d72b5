#pragma once
// Networks out of oneDNN's primitives, versions 2 and 3, for comparison. Weights lie in the format that the forward pass asks
// for. What has no primitive is a loop: the update, sums of gradients and the cross entropy.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dnnl.hpp>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../protocol.hpp"

namespace onednn {

using dnnl::algorithm, dnnl::memory, dnnl::primitive_attr, dnnl::prop_kind;
using Desc = memory::desc;
using Dims = memory::dims;
using Arguments = std::unordered_map<int, memory>;

inline const dnnl::engine& engine() {
  static const dnnl::engine result(dnnl::engine::kind::cpu, 0);
  return result;
}
inline dnnl::stream& stream() {
  static dnnl::stream result(engine());
  return result;
}

inline Desc dense(const Dims& dims) {
  using Tag = memory::format_tag;
  constexpr Tag tags[] = {Tag::a, Tag::ab, Tag::abc, Tag::abcd};
  return Desc(dims, memory::data_type::f32, tags[dims.size() - 1]);
}
inline Desc strided(const Dims& dims, const Dims& strides) { return Desc(dims, memory::data_type::f32, strides); }
/// The format is the primitive's choice.
inline Desc any(const Dims& dims) { return Desc(dims, memory::data_type::f32, memory::format_tag::any); }
template <class D>
Dims dims_of(const D& desc) {
  if constexpr (requires { desc.get_dims(); }) return desc.get_dims();
  else return desc.dims();
}
inline std::int64_t count(const Dims& dims) {
  std::int64_t result = 1;
  for (const auto extent : dims) result *= extent;
  return result;
}

inline memory zeros(const Desc& desc) {
  memory result(desc, engine());
  std::memset(result.get_data_handle(), 0, desc.get_size());
  return result;
}
/// Memory of the caller's, which is set before a run.
inline memory outside(const Dims& dims) { return memory(dense(dims), engine(), nullptr); }
inline float* data(const memory& of) { return static_cast<float*>(of.get_data_handle()); }
inline std::int64_t size(const memory& of) { return static_cast<std::int64_t>(of.get_desc().get_size() / sizeof(float)); }
/// The same bytes, from the offset-th number on, with another shape.
inline memory viewed(const memory& of, const Desc& desc, std::int64_t offset = 0) {
  return memory(desc, engine(), data(of) + offset);
}

/// The primitive descriptor of P, whose constructor takes a descriptor of the operation before version 3.
template <class P, class... Given>
auto described(const primitive_attr& attributes, const Given&... given) {
  if constexpr (requires { typename P::desc; })
    return typename P::primitive_desc(typename P::desc(given...), attributes, engine());
  else return typename P::primitive_desc(engine(), given..., attributes);
}
/// Likewise of a backward primitive, which belongs to a forward one.
template <class P, class Forward, class... Given>
auto described_backward(const Forward& forward, const Given&... given) {
  if constexpr (requires { typename P::desc; })
    return typename P::primitive_desc(typename P::desc(given...), primitive_attr(), engine(), forward);
  else return typename P::primitive_desc(engine(), given..., forward);
}
template <class P>
inline constexpr bool has_descs = requires { typename P::desc; };

template <class PostOps = dnnl::post_ops>
primitive_attr then(algorithm function, float alpha = 0, float beta = 0) {
  PostOps ops;
  if constexpr (requires { ops.append_eltwise(1.f, function, alpha, beta); }) ops.append_eltwise(1.f, function, alpha, beta);
  else ops.append_eltwise(function, alpha, beta);
  primitive_attr result;
  result.set_post_ops(ops);
  return result;
}
inline primitive_attr then_add(const Desc& other) {
  dnnl::post_ops ops;
  ops.append_binary(algorithm::binary_add, other);
  primitive_attr result;
  result.set_post_ops(ops);
  return result;
}
inline constexpr int added_argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1;

/// What runs in order.
class Program {
 public:
  void add(const dnnl::primitive& primitive, const Arguments& arguments) {
    steps_.push_back([primitive, arguments] { primitive.execute(stream(), arguments); });
  }
  void add(std::function<void()> step) { steps_.push_back(std::move(step)); }
  /// x in a format, for which it is copied in each run if it has another.
  memory in_format(memory x, const Desc& wanted) {
    if (x.get_desc() == wanted) return x;
    memory result = zeros(wanted);
    add(dnnl::reorder(x, result), {{DNNL_ARG_FROM, x}, {DNNL_ARG_TO, result}});
    return result;
  }
  void add_to(const memory& sum, const memory& x) {
    add([to = data(sum), from = x, end = size(sum)] {
      const float* numbers = data(from);
#pragma omp parallel for simd if (end > 16384)
      for (std::int64_t i = 0; i < end; ++i) to[i] += numbers[i];
    });
  }
  void run() const {
    for (const auto& step : steps_) step();
    stream().wait();
  }

 private:
  std::vector<std::function<void()>> steps_;
};

/// Numbers from -1 to 1 for the elements of a tensor with a number, by a hash: as `numbers` of pytorch.py.
inline std::vector<float> numbers(std::int64_t count, std::uint32_t tensor) {
  std::vector<float> result(static_cast<std::size_t>(count));
  for (std::uint32_t i = 0; auto& number : result) {
    std::uint32_t bits = i++ * 2654435761u + tensor * 97531u;
    bits = (bits ^ (bits >> 15)) * 2246822519u;
    bits ^= bits >> 13;
    number = static_cast<float>(bits * 0x1p-31 - 1);
  }
  return result;
}
/// 16 batches of numbers, 13 of labels from 0 to 9: as workloads/session.hpp has them in memory.
inline std::vector<std::vector<float>> batches(std::int64_t count, std::uint32_t first = 1000) {
  std::vector<std::vector<float>> result;
  for (std::uint32_t i = 0; i < 16; ++i) result.push_back(numbers(count, first + i));
  return result;
}
inline std::vector<std::vector<std::int32_t>> label_batches(std::int64_t count) {
  std::vector<std::vector<std::int32_t>> result;
  for (std::uint32_t i = 0; i < 13; ++i) {
    auto& labels = result.emplace_back();
    for (const float x : numbers(count, 3000 + i)) labels.push_back(std::min(static_cast<int>((double{x} + 1) / 2 * 10), 9));
  }
  return result;
}

struct Parameter {
  memory value, gradient;
  Dims dims;
  float start, size;  ///< of the first values: start and up to `size` more or less
};

/// A network's passes and parameters.
class Network {
 public:
  Program forward, backward;

  /// A parameter, which holds no values yet.
  std::size_t add_parameter(const Desc& desc, const Dims& dims, float start, float size) {
    parameters_.push_back({zeros(desc), {}, dims, start, size});
    return parameters_.size() - 1;
  }
  memory value(std::size_t parameter) const { return parameters_[parameter].value; }
  /// Takes the gradient, in the parameter's format from then on.
  void set_gradient(std::size_t parameter, const memory& gradient) {
    parameters_[parameter].gradient = backward.in_format(gradient, parameters_[parameter].value.get_desc());
  }
  /// Adds an update by gradient descent.
  void update(float rate) {
    for (const Parameter& parameter : parameters_)
      backward.add([value = data(parameter.value), gradient = data(parameter.gradient), end = size(parameter.value), rate] {
#pragma omp parallel for simd if (end > 16384)
        for (std::int64_t i = 0; i < end; ++i) value[i] -= rate * gradient[i];
      });
  }
  /// Gives parameters their first values; those of `values` if `compared`: see print_values of pytorch.py.
  void start(bool compared) const {
    for (std::uint32_t number = 0; const Parameter& parameter : parameters_) {
      auto values = numbers(count(parameter.dims), number++);
      for (float& value : values) value = parameter.start + (compared ? 0.1f : parameter.size) * value;
      memory given(dense(parameter.dims), engine(), values.data()), value = parameter.value;
      dnnl::reorder(given, value).execute(stream(), given, value);
      stream().wait();
    }
  }
  /// The mean size of each gradient's elements.
  std::vector<double> gradient_sizes() const {
    std::vector<double> result;
    for (const Parameter& parameter : parameters_) {
      double sum = 0;
      for (std::int64_t i = 0; i < size(parameter.gradient); ++i) sum += std::abs(data(parameter.gradient)[i]);
      result.push_back(sum / static_cast<double>(count(parameter.dims)));
    }
    return result;
  }

 private:
  std::vector<Parameter> parameters_;
};

/// The mean cross entropy of scores, (rows, 10), and labels, and its gradient.
inline float cross_entropy(const memory& scores, const std::vector<std::int32_t>& labels, const memory& gradient) {
  constexpr int classes = 10;
  const auto rows = static_cast<float>(labels.size());
  float loss = 0;
  const float* row = data(scores);
  float* slope = data(gradient);
  for (const std::int32_t label : labels) {
    const float top = *std::max_element(row, row + classes);
    float sum = 0;
    for (int n = 0; n < classes; ++n) sum += slope[n] = std::exp(row[n] - top);
    loss += (std::log(sum) + top - row[label]) / rows;
    for (int n = 0; n < classes; ++n) slope[n] = (slope[n] / sum - static_cast<float>(n == label)) / rows;
    row += classes, slope += classes;
  }
  return loss;
}

/// The main function of such a peer: `OMP_NUM_THREADS=THREADS NAME THREADS [values]`. `step(i)` runs the network and gives a
/// number that it computed; `values()` gives what is compared.
template <class Step, class Values>
int serve_network(int argc, char** argv, const Network& network, Step&& step, Values&& values) {
  const bool compared = argc == 3 && std::strcmp(argv[2], "values") == 0;
  if (argc < 2 || argc > 2 + compared) return std::fprintf(stderr, "usage: %s THREADS [values]\n", argv[0]), 2;
  const int threads = std::atoi(argv[1]);
  if (threads != omp_get_max_threads())  // of which oneDNN asks while it makes primitives, before this
    return std::fprintf(stderr, "%s %d: OMP_NUM_THREADS=%d expected\n", argv[0], threads, threads), 2;
  network.start(compared);
  if (compared) {
    std::printf("values");
    for (const double value : values()) std::printf(" %.8g", value);
    std::printf("\n");
    return 0;
  }
  [[maybe_unused]] volatile float sink = 0;
  const auto run = [&](std::size_t i) { sink = step(i); };
  return serve([&] { run(0); }, [&](double seconds) { return iterations_per_second(seconds, run); }, [&] { return threads; });
}

}  // namespace onednn
