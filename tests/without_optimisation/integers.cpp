// Kernels of integers that choose among two arrays.
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
constexpr void program(tw::Ir& ir) {
  const auto a = tw::ops::host_load(ir.h2d_stream("a", {64}, dtype)), b = tw::ops::host_load(ir.h2d_stream("b", {64}, dtype));
  tw::ops::host_store(ir.d2h_stream("y", {64}, dtype), tw::authoring::apply<Chosen<dtype>>({a, b}));
}

template <tw::DType dtype, class T>
void run() {
  const xt::xtensor<T, 1> a = xt::arange<T>(64), b = xt::ones<T>({64});
  tw::Session<program<dtype>>().run("a"_s = a, "b"_s = b);
}

int main() {
  run<tw::int32, std::int32_t>();
  run<tw::int64, std::int64_t>();
  run<tw::uint8, std::uint8_t>();
}
