// labels: arm clang strict tsan
// Ops that users define in their own files: nothing in the library knows of them.
#include "../../support/elements.hpp"

namespace {

using tw::Ir, tw::Tensor;

/// x above 0, alpha x below.
struct LeakyRelu : tw::authoring::UnaryOp<LeakyRelu> {
  static constexpr std::string_view name = "LeakyRelu";
  struct Attributes {
    double alpha = 0.02;
  };
  template <class X>
  static X forward(X x, Attributes attributes) {
    return tw::authoring::math::select(x > tw::authoring::math::number<X>(0), x,
                                       tw::authoring::math::number<X>(attributes.alpha) * x);
  }
  template <class X>
  static X backward(X x, X dy, Attributes attributes) {
    return tw::authoring::math::select(x > tw::authoring::math::number<X>(0), dy,
                                       tw::authoring::math::number<X>(attributes.alpha) * dy);
  }
};
constexpr Tensor leaky_relu(Tensor x, double alpha = 0.02) { return tw::authoring::apply<LeakyRelu>({x}, {alpha}); }

/// The largest element of each row and its column: (rows, columns) to (rows,) and (rows,) int32. Rows may go to any tile.
struct RowMax : tw::authoring::Op<RowMax> {
  static constexpr std::string_view name = "RowMax";
  constexpr operator tw::authoring::KernelOperands() const { return tw::authoring::KernelOperands{.any_layout = true}; }
  static constexpr void infer(tw::authoring::Inference& op) {
    if (op.input(0).shape.rank != 2) return op.fail(tw::to_text(op.input(0)), ": a matrix expected");
    const tw::Shape rows{op.input(0).shape[0]};
    op.output({rows, op.input(0).dtype});
    op.output({rows, tw::int32});
  }
  static constexpr tw::authoring::Work work(std::span<const tw::TensorSpec> operands, int,
                                            const tw::authoring::PackedAttributes&) {
    tw::authoring::Work work;
    const int rows = work.add_axis({.extent = operands[0].shape[0]});
    work.add_axis({.extent = operands[0].shape[1], .kind = tw::authoring::WorkAxisKind::whole});
    for (int operand = 0; operand < 3; ++operand) work.follow(operand, 0, rows);
    return work;
  }
  template <tw::authoring::PackedAttributes, class X, class Values, class Columns>
  static void compute(X x, Values values, Columns columns) {
    for (std::int64_t row = 0; row < X::shape[0]; ++row) {
      const auto at = [&](std::int64_t column) { return x.data[row * X::spec.stride(0) + column * X::spec.stride(1)]; };
      std::int32_t largest = 0;
      for (std::int32_t column = 1; column < X::shape[1]; ++column)
        if (at(column) > at(largest)) largest = column;
      values.data[row * Values::spec.stride(0)] = at(largest);
      columns.data[row * Columns::spec.stride(0)] = largest;
    }
  }
};
struct ValuesAndColumns {
  Tensor values, columns;
};
constexpr ValuesAndColumns row_max(Tensor x) {
  const auto results = tw::authoring::apply_all<RowMax>(x.ir(), {&x, 1});
  return {results[0], results[1]};
}

/// x = x + number, in place. Its codelet takes dense operands only.
struct Increment : tw::authoring::Op<Increment> {
  static constexpr std::string_view name = "Increment";
  constexpr operator tw::authoring::Effects() const { return tw::authoring::Effects{.modifies = 0}; }
  struct Attributes {
    double number = 1;
  };
  static constexpr void infer(tw::authoring::Inference& op) { op.output(op.input(0)); }
  template <tw::authoring::PackedAttributes A, class In, class Out>
  static void compute(In x, Out y) {
    using T = typename Out::element;
    for (std::int64_t i = 0; i < In::shape.nelms(); ++i)
      y.data[i] = static_cast<T>(x.data[i] + static_cast<T>(tw::authoring::unpack<Attributes>(A).number));
  }
};
constexpr Tensor increment_(Tensor x, double number) { return tw::authoring::apply<Increment>({x}, {number}); }

constexpr void program(Ir& ir) {
  const Tensor x = tw::ops::host_load(ir.h2d_stream("x", {3, 4}));
  const tw::Graph graph = ir.create_graph([](Tensor t) { return leaky_relu(leaky_relu(t, 0.5) - 1); }, x);
  const auto call = tw::call_with_info(graph, x);
  store("leaky", call.output(0));
  const tw::GradGraphInfo gradient = tw::autodiff(graph);
  const Tensor dy = ir.constant({1}, {3, 4});
  store("gradient", tw::call_with_info(gradient.graph(), dy, gradient.inputs_dict(call)).output(0));

  const auto [values, columns] = row_max(x);
  store("max", values);
  store("column", columns);
  store("max of columns", row_max(x.T()).values);

  const Tensor count = ir.variable(tw::zeros(), {}, tw::int32, "count");
  const Tensor matrix = ir.variable(tw::values({1, 2, 3, 4, 5, 6}), {2, 3}, tw::float32, "matrix");
  increment_(increment_(count, 1), 2);
  increment_(tw::ops::reshape_(matrix, {6}), 0.5);
  increment_(tw::ops::transpose_(matrix), 0.25);
}

// Kinds of work and of code, which an op states or which follow from the rest of it.
template <class D>
constexpr bool is_of(tw::authoring::WorkKind work, tw::authoring::CodeKind code) {
  return tw::authoring::op_info<D>.work_kind == work && tw::authoring::op_info<D>.code_kind == code;
}
static_assert(is_of<LeakyRelu>(tw::authoring::WorkKind::map, tw::authoring::CodeKind::map));
static_assert(is_of<tw::authoring::UnaryGrad<LeakyRelu>>(tw::authoring::WorkKind::map, tw::authoring::CodeKind::map));
static_assert(is_of<RowMax>(tw::authoring::WorkKind::other, tw::authoring::CodeKind::other));
/// The kind of work says which code it is, and what code it is may be stated for itself.
struct StatedProduct : Increment {
  constexpr operator tw::authoring::OpKind() const {
    return tw::authoring::OpKind{.work_kind = tw::authoring::WorkKind::product};
  }
};
struct StatedCopy : StatedProduct {
  constexpr operator tw::authoring::OpKind() const {
    return tw::authoring::OpKind{.work_kind = tw::authoring::WorkKind::product, .code_kind = tw::authoring::CodeKind::copy};
  }
};
static_assert(is_of<StatedProduct>(tw::authoring::WorkKind::product, tw::authoring::CodeKind::product));
static_assert(is_of<StatedCopy>(tw::authoring::WorkKind::product, tw::authoring::CodeKind::copy));
static_assert(is_of<tw::MatMul>(tw::authoring::WorkKind::product, tw::authoring::CodeKind::product));
static_assert(is_of<tw::Conv>(tw::authoring::WorkKind::convolution, tw::authoring::CodeKind::product));
static_assert(is_of<tw::ReduceSum>(tw::authoring::WorkKind::reduction, tw::authoring::CodeKind::reduction));
static_assert(is_of<tw::MaxPool>(tw::authoring::WorkKind::reduction, tw::authoring::CodeKind::reduction));
static_assert(is_of<tw::Softmax>(tw::authoring::WorkKind::line, tw::authoring::CodeKind::softmax));
static_assert(is_of<tw::LayerNorm>(tw::authoring::WorkKind::line, tw::authoring::CodeKind::norm));
static_assert(is_of<tw::Identity>(tw::authoring::WorkKind::map, tw::authoring::CodeKind::copy));
static_assert(is_of<tw::Expand>(tw::authoring::WorkKind::view, tw::authoring::CodeKind::other));
static_assert(is_of<tw::RemoteStore>(tw::authoring::WorkKind::transfer, tw::authoring::CodeKind::copy));
static_assert(is_of<tw::HostLoad>(tw::authoring::WorkKind::transfer, tw::authoring::CodeKind::copy));
static_assert(is_of<tw::ReplicatedAllReduce>(tw::authoring::WorkKind::collective, tw::authoring::CodeKind::other));
static_assert(is_of<tw::AdamUpdater>(tw::authoring::WorkKind::composite, tw::authoring::CodeKind::other));

template <class Session>
void check() {
  Session session({.threads = 2});
  const xt::xtensor<float, 2> x{{-4, 1, 3, 0}, {2, 2, -1, -2}, {-8, -6, -10, 8}};
  const auto outputs = session.run("x"_s = x);
  const xt::xtensor<float, 2> leaky{{-0.06f, 0, 2, -0.02f}, {1, 1, -0.03f, -0.04f}, {-0.1f, -0.08f, -0.12f, 7}},
      gradient{{0.01f, 0.02f, 1, 0.01f}, {1, 1, 0.01f, 0.01f}, {0.01f, 0.01f, 0.01f, 1}};
  CHECK(xt::allclose(outputs["leaky"_s], leaky));
  CHECK(xt::allclose(outputs["gradient"_s], gradient));
  CHECK(elements(outputs["max"_s]) == Floats{3, 2, 8});
  CHECK(elements(outputs["column"_s]) == Ints{2, 0, 3});
  CHECK(elements(outputs["max of columns"_s]) == Floats{2, 2, 3, 8});
  CHECK(session.get_tensor_data("count"_s)() == 3);
  CHECK(elements(session.get_tensor_data("matrix"_s)) == Floats{1.75f, 2.75f, 3.75f, 4.75f, 5.75f, 6.75f});
}

}  // namespace

TEST_CASE("ops of users work like the library's on every target") {
  check<tw::Session<program>>();
  check<TestSession<program, tw::ipu_model>>();
}
