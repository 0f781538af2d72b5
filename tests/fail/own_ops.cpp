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

/// Without a case: an op with all that is asked for. A case's op hides it.
struct Own : WithCompute<Own> {
  struct Attributes {
    double number = 1;
    std::int64_t count = 2;
  };
  static constexpr void gradient(tw::GradientContext&) {}
};

namespace cases {

// CASE no_name
// expect: Own: no name: `static constexpr std::string_view name` expected
#ifdef CASE_no_name
struct Own : tw::UnaryOp<Own> {
  template <class X> static X forward(X x) { return x; }
};
#endif

// CASE no_infer
// expect: Own: no infer: `static constexpr void infer(Inference&)` expected
#ifdef CASE_no_infer
struct Own : tw::Op<Own> {
  static constexpr std::string_view name = "Own";
  template <tw::PackedAttributes, class X, class Y>
  static void compute(X, Y) {}
};
#endif

// CASE infer_of_another_type
// expect: Own: infer of another type, or not public: `static constexpr void infer(Inference&)` expected
#ifdef CASE_infer_of_another_type
struct Own : WithCompute<Own> {
  static constexpr tw::TensorSpec infer(tw::TensorSpec in) { return in; }
};
#endif

// CASE misspelt_gradient
// expect: Own: a member `gradiant`, which nothing reads: `gradient` expected
#ifdef CASE_misspelt_gradient
struct Own : WithCompute<Own> {
  static constexpr void gradiant(tw::GradientContext&) {}
};
#endif

// CASE misspelt_modifies
// expect: Own: a member `modifes`, which nothing reads: `modifies` expected
#ifdef CASE_misspelt_modifies
struct Own : WithCompute<Own> {
  static constexpr int modifes = 0;
};
#endif

// CASE misspelt_template
// expect: Own: a member `forwards`, which nothing reads: `forward` expected
#ifdef CASE_misspelt_template
struct Own : tw::UnaryOp<Own> {
  static constexpr std::string_view name = "Own";
  template <class X> static X forwards(X x) { return x; }
};
#endif

// CASE misspelt_attributes
// expect: Own: a member `Atributes`, which nothing reads: `Attributes` expected
#ifdef CASE_misspelt_attributes
struct Own : WithCompute<Own> {
  struct Atributes {
    double number = 1;
  };
};
#endif

// CASE private_gradient
// expect: Own: gradient of another type, or not public: `static constexpr void gradient(GradientContext&)` expected
#ifdef CASE_private_gradient
struct Own : WithCompute<Own> {
 private:
  static constexpr void gradient(tw::GradientContext&) {}
};
#endif

// CASE work_of_another_type
// expect: Own: work of another type, or not public: `static constexpr Work work(
#ifdef CASE_work_of_another_type
struct Own : WithCompute<Own> {
  static constexpr tw::Work work(std::span<const tw::TensorSpec>) { return tw::Work{}; }
};
#endif

// CASE no_result
// expect: Own: nothing that gives its result: compute, view, expand or collective_items expected
#ifdef CASE_no_result
struct Own : Base<Own> {};
#endif

// CASE view_and_compute
// expect: Own: view and compute: one of them expected
#ifdef CASE_view_and_compute
struct Own : WithCompute<Own> {
  static constexpr tw::Layout view(const tw::Shape&, const tw::Layout& layout, const tw::Shape&, const tw::PackedAttributes&) {
    return layout;
  }
};
#endif

// CASE view_of_another_type
// expect: Own: view of another type, or not public: `static constexpr Layout view(
#ifdef CASE_view_of_another_type
struct Own : Base<Own> {
  static constexpr tw::Layout view(const tw::Layout& layout) { return layout; }
};
#endif

// CASE epilogue_without_kernel
// expect: Own: has_epilogue without compute_with: both expected
#ifdef CASE_epilogue_without_kernel
struct Own : WithCompute<Own> {
  static constexpr bool has_epilogue = true;
};
#endif

// CASE kernel_without_epilogue
// expect: Own: compute_with without has_epilogue: both expected
#ifdef CASE_kernel_without_epilogue
struct Own : WithCompute<Own> {
  template <tw::PackedAttributes, class Y, class Epilogue, class X>
  static void compute_with(const Epilogue&, X) {}
};
#endif

// CASE formula_without_forward
// expect: Own: has_formula without forward: both expected
#ifdef CASE_formula_without_forward
struct Own : tw::UnaryOp<Own> {
  static constexpr std::string_view name = "Own";
};
#endif

// CASE alias_without_view
// expect: Own: is_alias without view: both expected
#ifdef CASE_alias_without_view
struct Own : WithCompute<Own> {
  static constexpr bool is_alias = true;
};
#endif

// CASE stops_with_a_gradient
// expect: Own: differentiation `stops` and a gradient: one of them expected
#ifdef CASE_stops_with_a_gradient
struct Own : WithCompute<Own> {
  static constexpr tw::Differentiation differentiation = tw::Differentiation::stops;
  static constexpr void gradient(tw::GradientContext&) {}
};
#endif

// CASE many_attributes
// expect: Own: Attributes of 328 bytes: at most 40 members of 8 bytes expected
#ifdef CASE_many_attributes
struct Own : WithCompute<Own> {
  struct Attributes {
    double numbers[41]{};
  };
};
#endif

// CASE small_attributes
// expect: Own: Attributes with members of other than 8 bytes: std::int64_t and double expected
#ifdef CASE_small_attributes
struct Own : WithCompute<Own> {
  struct Attributes {
    double number = 1;
    bool flag = true;
  };
};
#endif

constexpr bool traces() {
  tw::Ir ir;
  tw::apply<Own>({ir.constant({1, 2}, {2})});
  return true;
}
static_assert(traces());

}  // namespace cases
