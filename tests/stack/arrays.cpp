// labels: more
// Kernels with arrays: sums over both axes, and elements that are held.
#include <tilewright/array.hpp>

#include "painted.hpp"

namespace authoring = tw::authoring;

/// What the ops have in common: any operands, one vertex.
template <class D>
struct ArrayOp : authoring::Op<D> {
  constexpr operator authoring::KernelOperands() const { return authoring::KernelOperands{.any_layout = true}; }
};
struct ColumnNorms : ArrayOp<ColumnNorms> {
  static constexpr std::string_view name = "ColumnNorms";
  static constexpr void infer(authoring::Inference& op) { op.output({{op.input(0).shape[1]}, op.input(0).dtype}); }
  template <authoring::PackedAttributes, class X, class Y>
  static void compute(X x, Y y) {
    y.array() = xt::sqrt(authoring::sum<0>(xt::square(x.array()))) / authoring::max(x.array());
  }
};
struct ColumnSums : ArrayOp<ColumnSums> {
  static constexpr std::string_view name = "ColumnSums";
  static constexpr void infer(authoring::Inference& op) { op.output({{op.input(0).shape[1]}, op.input(0).dtype}); }
  template <class X>
  static auto sums(X x) {
    return authoring::sum<0>(xt::square(x.array()));
  }
  template <authoring::PackedAttributes, class X, class Y>
  static void compute(X x, Y y) {
    y.array() = sums(x);
  }
  template <authoring::PackedAttributes, class X, class Y>
  static constexpr std::int64_t stack_bytes() {
    return authoring::reduction_stack_bytes<decltype(sums(std::declval<X>())), Y>;
  }
};
struct Softmax : ArrayOp<Softmax> {
  static constexpr std::string_view name = "HeldSoftmax";
  static constexpr void infer(authoring::Inference& op) { op.output(op.input(0)); }
  template <authoring::PackedAttributes, class X, class Y>
  static constexpr std::int64_t stack_bytes() {
    return X::shape[1] * static_cast<std::int64_t>(sizeof(float)) + 64;
  }
  template <authoring::PackedAttributes, class X, class Y>
  static void compute(X x, Y y) {
    authoring::for_each_line<1>(
        [](auto from, auto to) {
          const auto powers = authoring::hold(xt::exp(from.array() - authoring::max(from.array())));
          to.array() = powers * (1 / authoring::sum(powers));
        },
        x, y);
  }
};

constexpr void program(tw::Ir& ir) {
  const tw::Tensor x = ir.variable(tw::normal(0, 1), {6, 5000}, tw::float16, "x");
  const auto store = [&](const char* name, tw::Tensor y) { tw::ops::host_store(ir.d2h_stream(name, y.spec()), y); };
  store("norms", authoring::apply<ColumnNorms>({x}));
  store("softmax", authoring::apply<Softmax>({x}));
}

constexpr void column_sums(tw::Ir& ir) {
  const tw::Tensor x = ir.variable(tw::normal(0, 1), {300, 5000}, tw::float64, "x");
  const tw::Tensor y = authoring::apply<ColumnSums>({x});
  tw::ops::host_store(ir.d2h_stream("y", y.spec()), y);
}

int main() { return check_memory<program>("arrays") + check_memory<column_sums>("column sums"); }
