// labels: clang
// Ops of users with a wrong, missing or misspelt member.
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;

/// What the ops have in common.
template <class D>
struct Base : tw::Op<D> {
  static constexpr std::string_view name = "Own";
  static constexpr void infer(tw::Inference& op) { op.output(op.input(0)); }
};
template <class D>
struct WithCompute : Base<D> {
  template <tw::PackedAttributes, class X, class Y>
  static void compute(X, Y) {}
};

template <class D>
struct Collective : Base<D> {
  static constexpr std::int64_t items(const tw::PackedAttributes&, const tw::TensorSpec&, const tw::TensorSpec&) { return 1; }
  constexpr operator tw::CollectiveWork() const { return tw::CollectiveWork{.collective_items = items}; }
};

template <class D>
constexpr bool traces() {
  tw::Ir ir;
  tw::authoring::apply<D>({ir.constant({1, 2}, {2})});
  return true;
}

template <class D>
constexpr void differentiate(tw::Ir& ir) {
  tw::autodiff(ir.create_graph([](tw::Tensor x) { return tw::authoring::apply<D>({x}); }, tw::TensorSpec{{2}, tw::float32}));
}

/// An op with all that is asked for.
struct Complete : WithCompute<Complete> {
  struct Attributes {
    double number = 1;
    std::int64_t count = 2;
  };
  static constexpr void gradient(tw::GradientContext&) {}
};
static_assert(traces<Complete>());

/// An op may have members of any name for itself, also of one that is like a group's.
struct WithHelpers : WithCompute<WithHelpers> {
  static constexpr int cost = 3, modify = 1, epilogue = 2;
  static constexpr bool alias() { return true; }
  static constexpr int transfer(int number) { return number; }
};
static_assert(traces<WithHelpers>());

// CASE no_name
// expect: Own: no name: `static constexpr std::string_view name` expected
namespace no_name {
struct Own : tw::UnaryOp<Own> {
  template <class X> static X forward(X x) { return x; }
};
static_assert(traces<Own>());
}  // namespace no_name

// CASE no_infer
// expect: Own: no infer: `static constexpr void infer(Inference&)` expected
namespace no_infer {
struct Own : tw::Op<Own> {
  static constexpr std::string_view name = "Own";
  template <tw::PackedAttributes, class X, class Y>
  static void compute(X, Y) {}
};
static_assert(traces<Own>());
}  // namespace no_infer

// CASE infer_of_another_type
// expect: Own: infer of another type, or not public: `static constexpr void infer(Inference&)` expected
namespace infer_of_another_type {
struct Own : WithCompute<Own> {
  static constexpr tw::TensorSpec infer(tw::TensorSpec in) { return in; }
};
static_assert(traces<Own>());
}  // namespace infer_of_another_type

// CASE misspelt_group
// expect: error:
// expect-in-source: Efects
namespace misspelt_group {
struct Own : WithCompute<Own> {
  constexpr operator tw::Efects() const { return {.modifies = 0}; }
};
}  // namespace misspelt_group

// CASE misspelt_member
// expect: 'modifes'
// expect: Effects'
namespace misspelt_member {
struct Own : WithCompute<Own> {
  constexpr operator tw::Effects() const { return tw::Effects{.modifes = 0}; }
};
}  // namespace misspelt_member

// CASE member_of_another_group
// expect: 'any_layout'
// expect: Effects'
namespace member_of_another_group {
struct Own : WithCompute<Own> {
  constexpr operator tw::Effects() const { return tw::Effects{.any_layout = true}; }
};
}  // namespace member_of_another_group

// CASE rule_of_another_type
// expect: TransferRule'
namespace rule_of_another_type {
struct Own : WithCompute<Own> {
  static constexpr int transfer(const tw::PackedAttributes&) { return 0; }
  constexpr operator tw::Movement() const { return tw::Movement{.transfer = transfer}; }
};
}  // namespace rule_of_another_type

// CASE private_group
// expect: operator
// expect: private
namespace private_group {
struct Own : WithCompute<Own> {
 private:
  constexpr operator tw::Effects() const { return tw::Effects{.modifies = 0}; }
};
static_assert(traces<Own>());
}  // namespace private_group

// CASE misspelt_member_of_a_loop
// expect: 'cycle'
// expect: LoopCost'
namespace misspelt_member_of_a_loop {
struct Own : WithCompute<Own> {
  constexpr operator tw::VertexCost() const { return tw::VertexCost{.float32 = {.cycle = 3, .elements = 2}}; }
};
}  // namespace misspelt_member_of_a_loop

// CASE misspelt_template
// expect: Own: has_formula without forward: both expected
namespace misspelt_template {
struct Own : tw::UnaryOp<Own> {
  static constexpr std::string_view name = "Own";
  template <class X> static X forwards(X x) { return x; }
};
static_assert(traces<Own>());
}  // namespace misspelt_template

// CASE gradient_of_another_shape
// expect: Own: gradient (1, 2) float32 for input 0 of (2,) float32: the input`s shape and dtype expected
namespace gradient_of_another_shape {
struct Own : WithCompute<Own> {
  static constexpr void gradient(tw::GradientContext& op) { op.input_gradient(0, op.output_gradient(0).reshape({1, 2})); }
};
tw::Session<differentiate<Own>> session;
}  // namespace gradient_of_another_shape

// CASE gradient_needs_a_result
// expect: Own: its gradient rule asks for result 0: gradient_needs_no_result = false expected
namespace gradient_needs_a_result {
struct Own : WithCompute<Own> {
  constexpr operator tw::Effects() const { return tw::Effects{.gradient_needs_no_result = true}; }
  static constexpr void gradient(tw::GradientContext& op) { op.input_gradient(0, op.output_gradient(0) * op.output(0)); }
};
tw::Session<differentiate<Own>> session;
}  // namespace gradient_needs_a_result

// CASE private_gradient
// expect: Own: gradient of another type, or not public: `static constexpr void gradient(GradientContext&)` expected
namespace private_gradient {
struct Own : WithCompute<Own> {
 private:
  static constexpr void gradient(tw::GradientContext&) {}
};
static_assert(traces<Own>());
}  // namespace private_gradient

// CASE work_of_another_type
// expect: Own: work of another type, or not public: `static constexpr Work work(
namespace work_of_another_type {
struct Own : WithCompute<Own> {
  static constexpr tw::Work work(std::span<const tw::TensorSpec>) { return tw::Work{}; }
};
static_assert(traces<Own>());
}  // namespace work_of_another_type

// CASE no_result
// expect: Own: nothing that gives its result: compute, view, expand or collective_items expected
namespace no_result {
struct Own : Base<Own> {};
static_assert(traces<Own>());
}  // namespace no_result

// CASE view_and_compute
// expect: Own: view and compute: one of them expected
namespace view_and_compute {
struct Own : WithCompute<Own> {
  static constexpr tw::Layout view(const tw::Shape&, const tw::Layout& layout, const tw::Shape&, const tw::PackedAttributes&) {
    return layout;
  }
};
static_assert(traces<Own>());
}  // namespace view_and_compute

// CASE view_of_another_type
// expect: Own: view of another type, or not public: `static constexpr Layout view(
namespace view_of_another_type {
struct Own : Base<Own> {
  static constexpr tw::Layout view(const tw::Layout& layout) { return layout; }
};
static_assert(traces<Own>());
}  // namespace view_of_another_type

// CASE epilogue_without_kernel
// expect: Own: has_epilogue without compute_with: both expected
namespace epilogue_without_kernel {
struct Own : WithCompute<Own> {
  constexpr operator tw::Fusion() const { return tw::Fusion{.has_epilogue = true}; }
};
static_assert(traces<Own>());
}  // namespace epilogue_without_kernel

// CASE kernel_without_epilogue
// expect: Own: compute_with without has_epilogue: both expected
namespace kernel_without_epilogue {
struct Own : WithCompute<Own> {
  template <tw::PackedAttributes, class Y, class Epilogue, class X>
  static void compute_with(const Epilogue&, X) {}
};
static_assert(traces<Own>());
}  // namespace kernel_without_epilogue

// CASE rows_without_kernel
// expect: Own: reads_rows without compute_rows: both expected
namespace rows_without_kernel {
struct Own : WithCompute<Own> {
  static constexpr bool reads_rows(const tw::PackedAttributes&, const tw::TensorSpec&) { return true; }
  constexpr operator tw::HostRules() const { return tw::HostRules{.reads_rows = reads_rows}; }
};
static_assert(traces<Own>());
}  // namespace rows_without_kernel

// CASE formula_without_forward
// expect: Own: has_formula without forward: both expected
namespace formula_without_forward {
struct Own : tw::UnaryOp<Own> {
  static constexpr std::string_view name = "Own";
};
static_assert(traces<Own>());
}  // namespace formula_without_forward

// CASE alias_without_view
// expect: Own: is_alias without view: both expected
namespace alias_without_view {
struct Own : WithCompute<Own> {
  constexpr operator tw::Effects() const { return tw::Effects{.is_alias = true}; }
};
static_assert(traces<Own>());
}  // namespace alias_without_view

// CASE stops_with_a_gradient
// expect: Own: differentiation `stops` and a gradient: one of them expected
namespace stops_with_a_gradient {
struct Own : WithCompute<Own> {
  static constexpr tw::Differentiation differentiation = tw::Differentiation::stops;
  static constexpr void gradient(tw::GradientContext&) {}
};
static_assert(traces<Own>());
}  // namespace stops_with_a_gradient

// CASE many_attributes
// expect: Own: Attributes of 328 bytes: at most 40 members of 8 bytes expected
namespace many_attributes {
struct Own : WithCompute<Own> {
  struct Attributes {
    double numbers[41]{};
  };
};
static_assert(traces<Own>());
}  // namespace many_attributes

// CASE small_attributes
// expect: Own: Attributes with members of other than 8 bytes: std::int64_t and double expected
namespace small_attributes {
struct Own : WithCompute<Own> {
  struct Attributes {
    double number = 1;
    bool flag = true;
  };
};
static_assert(traces<Own>());
}  // namespace small_attributes

// CASE expand_of_another_type
// expect: Own: expand of another type, or not public: `static constexpr List<OpPart> expand(
namespace expand_of_another_type {
struct Own : Base<Own> {
  static constexpr tw::List<tw::OpPart> expand() { return {}; }
};
static_assert(traces<Own>());
}  // namespace expand_of_another_type

// CASE items_and_compute
// expect: Own: collective_items and compute: one of them expected
namespace items_and_compute {
struct Own : Collective<Own> {
  template <tw::PackedAttributes, class X, class Y>
  static void compute(X, Y) {}
};
static_assert(traces<Own>());
}  // namespace items_and_compute

// CASE items_that_nothing_runs
// expect: Own: collective_items without run_collective: both expected
namespace items_that_nothing_runs {
struct Own : Collective<Own> {};
static_assert(traces<Own>());
}  // namespace items_that_nothing_runs

// CASE items_without_volume
// expect: Own: collective_items without collective_volume: both expected
namespace items_without_volume {
struct Own : Collective<Own> {
  template <tw::PackedAttributes, tw::TensorSpec, tw::TensorSpec>
  static void run_collective(std::byte* const*, std::int64_t, std::int64_t) {}
};
static_assert(traces<Own>());
}  // namespace items_without_volume

// CASE fault_without_check
// expect: Own: fault without compute_checked: both expected
namespace fault_without_check {
struct Own : WithCompute<Own> {
  static constexpr tw::FaultText fault(std::span<const tw::TensorSpec>, int, const tw::PackedAttributes&) { return {}; }
  constexpr operator tw::OpTexts() const { return tw::OpTexts{.fault = fault}; }
};
static_assert(traces<Own>());
}  // namespace fault_without_check

// CASE copy_that_modifies_nothing
// expect: Own: is_copy without modifies = 0: both expected
namespace copy_that_modifies_nothing {
struct Own : Base<Own> {
  constexpr operator tw::Movement() const { return tw::Movement{.is_copy = true}; }
};
static_assert(traces<Own>());
}  // namespace copy_that_modifies_nothing

// CASE positions_in_a_formula
// expect: Own: takes_positions with has_formula = true: has_formula = false and a compute function expected
namespace positions_in_a_formula {
struct Own : tw::UnaryOp<Own> {
  static constexpr std::string_view name = "Own";
  constexpr operator tw::KernelOperands() const { return tw::KernelOperands{.takes_positions = true}; }
  template <class X> static X forward(X x) { return x; }
};
static_assert(traces<Own>());
}  // namespace positions_in_a_formula

// CASE repeats_without_side_effect
// expect: Own: may_repeat without has_side_effect: both expected
namespace repeats_without_side_effect {
struct Own : WithCompute<Own> {
  constexpr operator tw::Effects() const { return tw::Effects{.may_repeat = true}; }
};
static_assert(traces<Own>());
}  // namespace repeats_without_side_effect

// CASE modifies_no_input
// expect: Own: modifies -2: an input`s number, or -1 for none, expected
namespace modifies_no_input {
struct Own : WithCompute<Own> {
  constexpr operator tw::Effects() const { return tw::Effects{.modifies = -2}; }
};
static_assert(traces<Own>());
}  // namespace modifies_no_input

// CASE rule_without_gradient
// expect: Own: differentiation `rule` without gradient: a gradient, `stops` or `refuses` expected
namespace rule_without_gradient {
struct Own : WithCompute<Own> {
  static constexpr tw::Differentiation differentiation = tw::Differentiation::rule;
};
static_assert(traces<Own>());
}  // namespace rule_without_gradient

// CASE vertex_cost_without_loops
// expect: Own: VertexCost with loops of no cycles or no elements: at least 1 cycle and 1 element, for float32 and for float16,
// expect: expected
namespace vertex_cost_without_loops {
struct Own : WithCompute<Own> {
  constexpr operator tw::VertexCost() const {
    return tw::VertexCost{.formula = tw::CostFormula::map, .float32 = {.cycles = 3, .elements = 2}};
  }
};
static_assert(traces<Own>());
}  // namespace vertex_cost_without_loops
