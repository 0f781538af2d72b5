// labels: none
// Rules of own ops for one kind of machine: what its planner does differently.
#include "../../support/programs.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;

namespace {

using std::int64_t, tw::Ir, tw::Tensor;
namespace ops = tw::ops;

// ---- for a host

/// -x, by a kernel of its own.
template <bool any_result_layout>
struct Negated : tw::authoring::Op<Negated<any_result_layout>> {
  static constexpr std::string_view name = "Negated";
  constexpr operator tw::authoring::HostRules() const { return tw::authoring::HostRules{.any_result_layout = any_result_layout}; }
  static constexpr void infer(tw::Inference& op) { op.output(op.input(0)); }
  template <tw::PackedAttributes, class X, class Y>
  static void compute(X x, Y y) {
    y.array() = -x.array();
  }
};
template <bool any_result_layout>
constexpr void parts(Ir& ir) {
  const Tensor x = support::load(ir, "x", {4, 6, 8});
  const Tensor y = ops::concat({tw::apply<Negated<any_result_layout>>({x}), ops::exp(x)}, 1);
  support::store("y", y.reshape({4, 96}).matmul(ir.variable(tw::zeros(), {96, 4}, tw::float32, "w")));
}
constexpr int copies(auto program) {
  const tw::Text text = support::plan_text(program);
  int count = 0;
  for (std::size_t at = 0; (at = text.view().find("Identity", at)) != std::string_view::npos; ++at) ++count;
  return count;
}
static_assert(copies(parts<true>) == 1, "the store to the host");
static_assert(copies(parts<false>) == 2, "and the copy of its result");
static_assert(tw::host_rules_of(tw::op_info<Negated<true>>).any_result_layout);
static_assert(tw::host_rules_of(tw::op_info<tw::MatMul>).takes_pieces && !tw::host_rules_of(tw::op_info<tw::Exp>).takes_pieces);

// ---- for a simulated IPU

/// A product of matrices with a share of a tile's memory.
template <bool has_share>
struct Product : tw::authoring::Op<Product<has_share>> {
  static constexpr std::string_view name = "Product";
  struct Attributes {
    double share = 0.6;
  };
  static constexpr double share(const tw::PackedAttributes& packed) { return tw::unpack<Attributes>(packed).share; }
  static constexpr tw::PackedAttributes with_share(const tw::PackedAttributes&, double share) {
    return tw::pack(Attributes{share});
  }
  constexpr operator tw::authoring::IpuRules() const {
    return tw::authoring::IpuRules{.memory_proportion = has_share ? share : nullptr, .with_memory_proportion = with_share};
  }
  constexpr operator tw::authoring::OpKind() const { return tw::authoring::OpKind{.work_kind = tw::WorkKind::product}; }
  static constexpr void infer(tw::Inference& op) { op.output({{op.input(0).shape[0], op.input(1).shape[1]}, op.input(0).dtype}); }
  static constexpr tw::Work work(std::span<const tw::TensorSpec> operands, int, const tw::PackedAttributes& packed) {
    return tw::MatMul::work(operands, 2, packed);
  }
  template <tw::PackedAttributes, class A, class B, class C>
  static void compute(A, B, C) {}
};
template <bool has_share, int percent>
constexpr void product(Ir& ir) {
  const Tensor x = support::load(ir, "x", {2048, 2048}, tw::float16), w = support::load(ir, "w", {2048, 2048}, tw::float16);
  support::store("y", tw::apply<Product<has_share>>({x, w}));
  tw::set_available_memory_proportion_by_ipu(ir, {percent / 100.});
}
static_assert(tw::peak_bytes<product<true, 0>, tw::gc200> < tw::peak_bytes<product<true, 60>, tw::gc200>);
static_assert(tw::peak_bytes<product<false, 0>, tw::gc200> == tw::peak_bytes<product<true, 60>, tw::gc200>);

}  // namespace
