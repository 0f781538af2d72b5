// Kernels of integers that choose among two arrays, and of numbers by functions of xtensor.
#include <tilewright/array.hpp>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
using namespace tw::literals;

template <tw::DType dtype>
struct Chosen : tw::authoring::Op<Chosen<dtype>> {
  static constexpr std::string_view name = "Chosen";
  static constexpr void infer(tw::authoring::Inference& op) { op.output(op.input(0)); }
  template <tw::authoring::PackedAttributes, class A, class B, class Y>
  static void compute(A a, B b, Y y) {
    y.array() = xt::where(a.array() > b.array(), xt::clip(a.array(), 2, 9), xt::abs(b.array()));
  }
};

template <tw::DType dtype>
struct Functions : tw::authoring::Op<Functions<dtype>> {
  static constexpr std::string_view name = "Functions";
  static constexpr void infer(tw::authoring::Inference& op) { op.output(op.input(0)); }
  template <tw::authoring::PackedAttributes, class A, class Y>
  static void compute(A a, Y y) {
    const auto x = a.array();
    y.array() = xt::exp(x) + xt::log(x) + xt::log2(x) + xt::log10(x) + xt::log1p(x) + xt::pow(x, x) + xt::tgamma(x) +
                xt::lgamma(x) + xt::sin(x) + xt::atan2(x, x) + xt::cbrt(x) + xt::erf(x) + xt::floor(x) + xt::fmod(x, x) +
                xt::hypot(x, x);
  }
};

template <tw::DType dtype>
constexpr void program(tw::Ir& ir) {
  const auto a = tw::ops::host_load(ir.h2d_stream("a", {64}, dtype)), b = tw::ops::host_load(ir.h2d_stream("b", {64}, dtype));
  tw::ops::host_store(ir.d2h_stream("y", {64}, dtype), tw::authoring::apply<Chosen<dtype>>({a, b}));
}

template <tw::DType dtype, class T>
void run() {
  const xt::xtensor<T, 1> a = xt::arange<T>(64), b = xt::ones<T>({64});
  tw::Session<program<dtype>>().run("a"_s = a, "b"_s = b);
}

template <tw::DType dtype>
constexpr void functions(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {64}, dtype));
  tw::ops::host_store(ir.d2h_stream("y", {64}, dtype), tw::authoring::apply<Functions<dtype>>({x}));
  tw::ops::host_store(ir.d2h_stream("z", {64}, dtype), tw::ops::log(x));
}

int main() {
  const xt::xtensor<float, 1> ones = xt::ones<float>({64});
  tw::Session<functions<tw::float32>>().run("x"_s = ones);
  tw::Session<functions<tw::float64>>().run("x"_s = xt::xtensor<double, 1>(ones));
  run<tw::int32, std::int32_t>();
  run<tw::int64, std::int64_t>();
  run<tw::uint8, std::uint8_t>();
}
