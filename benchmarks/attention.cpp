// Attention with its gradients on one thread: ops::scaled_dot_product_attention, the composed form (matmul, softmax, matmul), and
// the seven matrix products that the former computes, of which a causal mask leaves half. The rate is that of these products.
#include <benchmark/benchmark.h>

#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
using tw::Tensor;

namespace {

struct Size {
  std::int64_t batch, heads, length, width;
  bool is_causal;
  constexpr double flops() const {
    return 7.0 * 2 * static_cast<double>(batch * heads * length * length * width) / (is_causal ? 2 : 1);
  }
};

constexpr Tensor by_op(Tensor q, Tensor k, Tensor v, const Size& size) {
  return tw::ops::scaled_dot_product_attention(q, k, v, {.is_causal = size.is_causal, .scale = 0.125});
}
constexpr Tensor composed(Tensor q, Tensor k, Tensor v, const Size& size) {
  Tensor scores = q.matmul(k.transpose({0, 1, 3, 2})) * 0.125;
  if (size.is_causal) scores = scores + q.ir().constant(tw::causal_mask(), {size.length, size.length}, tw::float32);
  return tw::ops::softmax(scores).matmul(v);
}

/// The result, and for its gradient dy those of q, k and v.
template <Size size, auto attention>
constexpr void with_gradients(tw::Ir& ir) {
  const tw::TensorSpec spec{{size.batch, size.heads, size.length, size.width}, tw::float32};
  const auto variable = [&](std::string_view name) { return ir.variable(tw::normal(0, 1), spec.shape, tw::float32, name); };
  const Tensor q = variable("q"), k = variable("k"), v = variable("v"), dy = variable("dy");
  const tw::Graph graph = ir.create_graph([](Tensor a, Tensor b, Tensor c) { return attention(a, b, c, size); }, spec, spec,
                                          spec);
  const auto call = tw::call_with_info(graph, std::vector<Tensor>{q, k, v});
  const tw::GradGraphInfo gradient = tw::autodiff(graph);
  const auto gradients = gradient.fwd_graph_ins_to_grad_parent_outs(
      tw::call_with_info(gradient.graph(), dy, gradient.inputs_dict(call)));
  tw::ops::host_store(ir.d2h_stream("y", spec), call.output(0));
  int number = 0;
  for (const Tensor& input : graph.inputs()) {
    const Tensor dx = *gradients.find(input);
    tw::ops::host_store(ir.d2h_stream(tw::text("d", number++).view(), dx.spec()), dx);
  }
}

/// Four products with the scores as the result and three that sum over keys, of one head after the other.
template <Size size>
void multiply(std::vector<float>& a, std::vector<float>& b, std::vector<float>& scores) {
  constexpr std::int64_t t = size.length, d = size.width;
  constexpr tw::kernel::MatMulShape to_scores{t, t, d, d, 1, 1, d, t, 1}, from_scores{t, d, t, t, 1, d, 1, d, 1};
  for (std::int64_t head = 0; head < size.batch * size.heads; ++head) {
    float *left = a.data() + head * t * d, *right = b.data() + head * t * d;
    for (int i = 0; i < 3; ++i) tw::kernel::matmul_kernel<to_scores>(left, right, scores.data());
    for (int i = 0; i < 4; ++i) tw::kernel::matmul_kernel<from_scores>(scores.data(), right, left);
    benchmark::DoNotOptimize(scores.data());
  }
}

void report(benchmark::State& state, const Size& size) {
  state.counters["GFlop/s"] = benchmark::Counter(size.flops() / 1e9, benchmark::Counter::kIsIterationInvariantRate);
}
template <Size size, auto attention>
void session_benchmark(benchmark::State& state) {
  tw::Session<with_gradients<size, attention>> session({.threads = 1});
  for (auto _ : state) session.run();
  report(state, size);
}
/// All products of whole matrices; the time of a causal form is half of it.
template <Size size>
void products_benchmark(benchmark::State& state) {
  const auto elements = static_cast<std::size_t>(size.batch * size.heads * size.length * size.width);
  std::vector<float> a(elements, 1e-3F), b(elements, 1e-3F), scores(static_cast<std::size_t>(size.length * size.length));
  for (auto _ : state) multiply<size>(a, b, scores);
  Size whole = size;
  whole.is_causal = false;
  report(state, whole);
}

template <Size size>
void add(const std::string& name) {
  const auto with = [&](const char* form, auto function) {
    benchmark::RegisterBenchmark(("Attention/" + name + "/" + form).c_str(), function)->Unit(benchmark::kMillisecond);
  };
  with("op", session_benchmark<size, by_op>);
  with("composed", session_benchmark<size, composed>);
  with("products", products_benchmark<size>);
}

const bool added = [] {
  add<Size{1, 12, 1024, 64, true}>("12 heads, 1024 x 64, causal");
  add<Size{1, 12, 1024, 64, false}>("12 heads, 1024 x 64");
  add<Size{12, 4, 64, 32, true}>("12 x 4 heads, 64 x 32, causal");
  add<Size{12, 4, 64, 32, false}>("12 x 4 heads, 64 x 32");
  return true;
}();

}  // namespace
