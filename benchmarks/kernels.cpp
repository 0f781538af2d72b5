// Codelets on one thread: matrix products of the tutorial's network, of its slices on 8 tiles and of a transformer block, beside
// the same by OpenBLAS where it was found (set OPENBLAS_NUM_THREADS=1); and elementwise ops with operands in the cache.
#include <string>

#include "codelet.hpp"
#ifdef TILEWRIGHT_OPENBLAS
#include <cblas.h>
#endif

constexpr tw::ViewSpec transposed(tw::ViewSpec view) {
  std::swap(view.shape[0], view.shape[1]);
  std::swap(view.strides[0], view.strides[1]);
  return view;
}

/// The first rows and columns of a matrix.
constexpr tw::ViewSpec slice(tw::ViewSpec view, std::int64_t rows, std::int64_t columns) {
  view.shape[0] = rows;
  view.shape[1] = columns;
  return view;
}

/// Which operand is the large one, of which a cold benchmark takes another copy each time.
enum class Weight { b, c };

/// Extents and strides of c = a b.
template <tw::ViewSpec a, tw::ViewSpec b, tw::ViewSpec c>
inline constexpr tw::kernel::MatMulShape shape_of{a.shape[0],  b.shape[1],  a.shape[1],  a.stride(0), a.stride(1),
                                                  b.stride(0), b.stride(1), c.stride(0), c.stride(1)};

/// w -= 1e-6 x, as an optimiser does with the gradient x of a weight.
template <tw::kernel::MatMulShape s>
struct Update {
  float* w;
  template <class X>
  void operator()(std::int64_t i, std::int64_t j, const X& x) const {
    float* at = w + i * s.c_m + j * s.c_n;
    if constexpr (std::is_arithmetic_v<X>) *at -= 1e-6f * x;
    else (X::load_unaligned(at) - X(1e-6f) * x).store_unaligned(at);
  }
  void prefetch(std::int64_t i, std::int64_t j) const { __builtin_prefetch(w + i * s.c_m + j * s.c_n); }
};

/// Products as functions of a, b and c: c = a b, or c -= 1e-6 a b where c is the weight.
template <tw::kernel::MatMulShape s, Weight weight>
void by_tilewright(const float* a, const float* b, float* c) {
  if constexpr (weight == Weight::b) tw::kernel::matmul_kernel<s>(a, b, c);
  else tw::kernel::matmul_kernel<s>(a, b, Update<s>{c});
}
#ifdef TILEWRIGHT_OPENBLAS
template <tw::kernel::MatMulShape s, Weight weight>
void by_openblas(const float* a, const float* b, float* c) {
  constexpr auto order = [](std::int64_t column_stride) { return column_stride == 1 ? CblasNoTrans : CblasTrans; };
  constexpr auto leading = [](std::int64_t x, std::int64_t y) { return static_cast<int>(std::max(x, y)); };
  constexpr bool updates = weight == Weight::c;
  cblas_sgemm(CblasRowMajor, order(s.a_k), order(s.b_n), static_cast<int>(s.m), static_cast<int>(s.n), static_cast<int>(s.k),
              updates ? -1e-6f : 1.f, a, leading(s.a_m, s.a_k), b, leading(s.b_k, s.b_n), updates ? 1.f : 0.f, c,
              leading(s.c_m, s.c_n));
}
#endif

/// Adds benchmarks of a product, with 2 m n k floating point operations: hot, and cold from 24 MB of weights.
template <tw::ViewSpec a, tw::ViewSpec b, tw::ViewSpec c, Weight weight = Weight::b>
void add_product(const std::string& name) {
  constexpr auto s = shape_of<a, b, c>;
  constexpr auto elements = [](const tw::ViewSpec& view) {
    return static_cast<std::size_t>((view.shape[0] - 1) * view.stride(0) + (view.shape[1] - 1) * view.stride(1) + 1 + 63) / 64 *
           64;
  };
  const auto add = [&](const std::string& by, void (*product)(const float*, const float*, float*)) {
    for (const bool cold : {false, true})
      benchmark::RegisterBenchmark((by + name + (cold ? ", cold" : "")).c_str(), [=](benchmark::State& state) {
        constexpr std::size_t step = weight == Weight::b ? elements(b) : elements(c);
        const std::size_t copies = cold ? 6 * 1024 * 1024 / step : 1;
        std::minstd_rand random(1);
        std::uniform_real_distribution<float> value(-1, 1);
        const auto matrix = [&](std::size_t size) {
          std::vector<float, xsimd::aligned_allocator<float, 4096>> result(size);
          std::ranges::generate(result, [&] { return value(random); });
          return result;
        };
        const auto lhs = matrix(elements(a)), rhs = matrix(elements(b) * (weight == Weight::b ? copies : 1));
        auto result = matrix(elements(c) * (weight == Weight::c ? copies : 1));
        std::size_t copy = 0;
        for (auto _ : state) {
          const std::size_t at = copy * step;
          product(lhs.data(), rhs.data() + (weight == Weight::b ? at : 0), result.data() + (weight == Weight::c ? at : 0));
          benchmark::ClobberMemory();
          if (++copy == copies) copy = 0;
        }
        set_rate(state, "FLOP/s", 2 * s.m * s.n * s.k);
      });
  };
  add("MatMul/", by_tilewright<s, weight>);
#ifdef TILEWRIGHT_OPENBLAS
  add("OpenBLAS/", by_openblas<s, weight>);
#endif
}

/// x w, dy w^T and w -= x^T dy of a layer: x is (rows, in), w (in, out).
template <std::int64_t rows, std::int64_t in, std::int64_t out>
void add_layer(const std::string& name) {
  constexpr auto x = dense({rows, in}), w = dense({in, out}), y = dense({rows, out});
  const auto extents = [](std::int64_t m, std::int64_t k, std::int64_t n) {
    return std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n);
  };
  add_product<x, w, y>(name + ": " + extents(rows, in, out));
  add_product<y, transposed(w), x>(name + ", dx: " + extents(rows, out, in));
  add_product<transposed(x), y, w, Weight::c>(name + ", dW: " + extents(in, rows, out));
}
/// What one of 8 tiles does of it: 1/8 of y's columns, of dx's columns, of w's rows.
template <std::int64_t rows, std::int64_t in, std::int64_t out>
void add_slices(const std::string& name) {
  constexpr auto x = dense({rows, in}), w = dense({in, out}), y = dense({rows, out});
  add_product<x, slice(w, in, out / 8), slice(y, rows, out / 8)>(name + ", 1/8");
  add_product<y, slice(transposed(w), out, in / 8), slice(x, rows, in / 8)>(name + ", dx, 1/8");
  add_product<slice(transposed(x), in / 8, rows), y, slice(w, in / 8, out), Weight::c>(name + ", dW, 1/8");
}
/// The same for rows of a transformer's activations, which are cut instead.
template <std::int64_t rows, std::int64_t in, std::int64_t out>
void add_row_slices(const std::string& name) {
  constexpr auto x = dense({rows / 8, in}), w = dense({in, out}), y = dense({rows / 8, out});
  add_product<x, w, y>(name + ", 1/8");
  add_product<y, transposed(w), x>(name + ", dx, 1/8");
}

const bool products_added = [] {
  add_layer<8, 784, 512>("fc1");
  add_layer<8, 512, 512>("fc2");
  add_layer<8, 512, 10>("fc4");
  add_slices<8, 784, 512>("fc1");
  add_slices<8, 512, 512>("fc2");
  add_layer<80, 784, 512>("fc1, batch 80");
  add_layer<80, 512, 512>("fc2, batch 80");
  add_layer<512, 256, 256>("projection");
  add_layer<512, 256, 1024>("feed forward up");
  add_layer<512, 1024, 256>("feed forward down");
  add_row_slices<512, 256, 1024>("feed forward up");
  add_row_slices<512, 1024, 256>("feed forward down");
  // One head of 64 of a hidden size of 256.
  constexpr auto head = slice(dense({128, 256}), 128, 64), scores = dense({128, 128});
  add_product<head, transposed(head), scores>("attention, q k^T: 128x64x128");
  add_product<scores, head, head>("attention, weights v: 128x128x64");
  return true;
}();

/// An op on tensors of one shape, with the bytes of all its operands.
template <class O, int inputs, tw::PackedAttributes attributes = {}, std::int64_t columns = 512>
void elementwise(benchmark::State& state) {
  constexpr auto view = dense({512, columns});
  if constexpr (inputs == 1) run_codelet<O, attributes, view, view>(state);
  else run_codelet<O, attributes, view, view, view>(state);
  set_rate(state, "B/s", (inputs + 1) * view.shape.nelms() * tw::size_of(view.dtype));
}
BENCHMARK(elementwise<tw::Gelu, 1>)->Name("Gelu/512x512");
BENCHMARK(elementwise<tw::UnaryGrad<tw::Gelu>, 2>)->Name("GeluGrad/512x512");
BENCHMARK(elementwise<tw::Add, 2>)->Name("Add/512x512");
BENCHMARK(elementwise<tw::ScaledAddLhsInplace, 2, tw::pack(tw::ScaledAddLhsInplace::Attributes{1, -0.05})>)
    ->Name("scaled_add_/512x512");
constexpr auto last_axis = tw::pack(tw::AxisAttributes{1});
BENCHMARK(elementwise<tw::Softmax, 1, last_axis>)->Name("Softmax/512x512");
BENCHMARK(elementwise<tw::Softmax, 1, last_axis, 128>)->Name("Softmax/512x128");
BENCHMARK(elementwise<tw::SoftmaxGrad, 2, last_axis, 128>)->Name("SoftmaxGrad/512x128");
BENCHMARK(elementwise<tw::AccumulateMovingAverage, 2, tw::pack(tw::AccumulateMovingAverage::Attributes{0.9})>)
    ->Name("accumulate_moving_average_/512x512");
BENCHMARK(elementwise<tw::AdamStep, 2, tw::pack(tw::AdamAttributes{.epsilon = 1e-7})>)->Name("adam_updater/512x512");

/// Normalisation of activations, with the bytes of the matrices.
constexpr auto activations = dense({512, 256}), weights = dense({256}), statistics = dense({512});
constexpr auto norm = tw::pack(tw::NormAttributes{});
void layer_norm(benchmark::State& state) {
  run_codelet<tw::LayerNorm, norm, activations, weights, weights, activations, statistics, statistics>(state);
  set_rate(state, "B/s", 2 * activations.shape.nelms() * tw::size_of(activations.dtype));
}
void layer_norm_gradient(benchmark::State& state) {
  run_codelet<tw::NormGrad<tw::LayerNorm>, norm, activations, weights, statistics, statistics, activations, activations, weights,
              weights>(state);
  set_rate(state, "B/s", 3 * activations.shape.nelms() * tw::size_of(activations.dtype));
}
BENCHMARK(layer_norm)->Name("layer_norm/512x256");
BENCHMARK(layer_norm_gradient)->Name("layer_norm, gradient/512x256");
