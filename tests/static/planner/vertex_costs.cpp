// labels: none
// What ops state of their cost on an IPU, and the cycles that follow.
#include "../../support/same.hpp"
#include "tilewright/target/target.hpp"
#include "tilewright/target/vertex_cycles.hpp"
#include "tilewright/tilewright.hpp"

namespace {

namespace tw = tilewright;
using tw::Confidence, tw::CostFormula, tw::CycleCount, tw::float16, tw::float32, tw::gc200_model;

template <class D>
constexpr CycleCount cycles(tw::DType dtype, std::int64_t elements, std::int64_t reduced = 1,
                            tw::TermOrder order = tw::TermOrder::rows) {
  return tw::vertex_cycles(tw::op_info<D>, dtype, elements, reduced, gc200_model, order);
}

// ---- by formula: 100 vectors for a worker

static_assert(cycles<tw::Relu>(float32, 1200) == CycleCount(20 + 6 * (17 + 300)));
static_assert(cycles<tw::Exp>(float16, 2400) == CycleCount(20 + 6 * (33 + 400)));
static_assert(cycles<tw::Add>(float16, 2400) == CycleCount(11 + 6 * (26 + 300)));
static_assert(cycles<tw::InPlace<tw::Add>>(float32, 1200) == CycleCount(11 + 6 * (58 + 300)), "in place");
static_assert(cycles<tw::Div>(float16, 2400) == CycleCount(11 + 6 * (26 + 2100)));
static_assert(cycles<tw::Identity>(float32, 1024) == CycleCount(288 + 512));
static_assert(cycles<tw::Cast>(float16, 2400) == CycleCount(12 + 6 * (37 + 200)));
static_assert(cycles<tw::InitZero>(float32, 1000) == CycleCount(23 + 500));
static_assert(cycles<tw::ScaledAddLhsInplace>(float32, 1200) == CycleCount(97 + 6 * (24 + 3 * 99)));
static_assert(cycles<tw::ReduceSum>(float32, 1200, 10) == CycleCount(11 + 6 * (16 + 100 * (11 + 9))));
static_assert(cycles<tw::ReduceSum>(float32, 1, 1200) == CycleCount(11 + 6 * (22 + 100) + 6 * 25), "one result");
static_assert(cycles<tw::ReduceSum>(float32, 12, 100, tw::TermOrder::lines) == CycleCount(11 + 6 * 2 * (22 + 50)));
static_assert(cycles<tw::ReduceLogSumExp>(float16, 2400, 10) == CycleCount(11 + 6 * (16 + 100 * (14 + 9 * 13))));
static_assert(cycles<tw::DynamicSlice>(float32, 2400, 1200) == CycleCount(25 + 6 * (39 + 2 * 224)), "two slices");
static_assert(cycles<tw::Gather>(float32, 13 * 64, 64) == CycleCount(6 * (30 + 3 * 83)), "3 rows for a worker");
static_assert(cycles<tw::SparseAccumulate>(float32, 3 * 64, 64) == CycleCount(6 * (38 + 3 * 200)));
static_assert(cycles<tw::NllWithSoftmaxGrad>(float16, 100) == CycleCount(25 + 450));
static_assert(cycles<tw::Reshape>(float32, 1000) == CycleCount() && cycles<tw::Relu>(float32, 0) == CycleCount());

// ---- what users state: a loop of C++, each of whose instructions counts, with 3 for the loop and addresses; and what they
// measure

constexpr std::int64_t stated(const tw::VertexCost& cost, tw::DType dtype, std::int64_t elements) {
  static_assert(tw::compiled_cost(9, 12).is_complete() && !tw::compiled_cost(9, 12, 0).is_complete());
  return tw::vertex_cycles(cost, dtype, elements, 1, gc200_model).cycles;
}
static_assert(stated(tw::compiled_cost(10, 11), float32, 600) == 20 + 6 * (17 + 100 * (10 + 11 + 3)));
static_assert(stated(tw::compiled_cost(10, 11, 2), float32, 600) == 20 + 6 * (17 + 50 * (10 + 11 + 3)), "two elements in a step");
constexpr tw::VertexCost timed = tw::measured_cost({.cycles = 7, .elements = 2, .start = 300}, {.cycles = 2});
static_assert(stated(timed, float32, 601) == 300 + 2104 && stated(timed, float16, 601) == 1202, "as measured, not by worker");
static_assert(timed.confidence == Confidence::given && tw::compiled_cost(1, 1).confidence == Confidence::derived);

/// Whether a is within a quarter of b.
constexpr bool is_near(std::int64_t a, std::int64_t b) { return 4 * a > 3 * b && 4 * a < 5 * b; }
static_assert(is_near(cycles<tw::Softmax>(float32, 12 * 100, 100).cycles, softmax_cycles(gc200_model, float32, 12, 100)));
static_assert(is_near(cycles<tw::Softmax>(float16, 96 * 400, 400).cycles, softmax_cycles(gc200_model, float16, 96, 400)));

// ---- attention: products by the unit for products, and the loops of a softmax over keys

constexpr std::int64_t attention_cycles(std::int64_t queries, std::int64_t keys, std::int64_t heads = 1) {
  return tw::pair_cycles(tw::op_info<tw::ScaledDotProductAttention>.vertex_cost, float16, queries, keys, 64, heads, float32,
                         gc200_model)
      .cycles;
}
constexpr std::int64_t parts_of_attention(std::int64_t queries, std::int64_t keys) {
  const auto& unit = gc200_model.product_unit(float16, float32);
  return tw::amp_cycles(unit, queries, 64, keys) + tw::amp_cycles(unit, queries, keys, 64) +
         tw::softmax_cycles(gc200_model, float16, queries, keys);
}
static_assert(is_near(attention_cycles(128, 128), parts_of_attention(128, 128)));
static_assert(is_near(attention_cycles(128, 512), parts_of_attention(128, 512)));
static_assert(is_near(attention_cycles(128, 512), 4 * attention_cycles(128, 128)), "by keys");
static_assert(is_near(attention_cycles(128, 128, 4), 4 * attention_cycles(128, 128)), "by heads");

// ---- what is assumed

static_assert(cycles<tw::Gelu>(float32, 1200).assumed == cycles<tw::Gelu>(float32, 1200).cycles);
static_assert(cycles<tw::Relu>(tw::int32, 1200) == CycleCount(20 + 6 * (17 + 300), Confidence::assumed), "as float32");
static_assert(cycles<tw::Add>(tw::float64, 1200).cycles > cycles<tw::Add>(float32, 1200).cycles);
static_assert(cycles<tw::MatMul>(float32, 256, 64).assumed > 0, "target/amp.hpp knows better");

static_assert(tw::op_info<tw::MatMul>.vertex_cost.formula == CostFormula::product);
static_assert(tw::op_info<tw::Conv>.vertex_cost.formula == CostFormula::convolution);

// ---- an op of a user's own

struct Cube : tw::UnaryOp<Cube> {
  static constexpr std::string_view name = "Cube";
  constexpr operator tw::VertexCost() const {
    return tw::VertexCost{.formula = CostFormula::map,
                          .float32 = {.cycles = 4, .elements = 2},
                          .float16 = {.cycles = 4, .elements = 4},
                          .confidence = Confidence::given};
  }
  template <class X> static X forward(X x) { return x * x * x; }
  template <class X> static X backward(X x, X dy) { return dy * x * x * tw::math::number<X>(3); }
};
static_assert(cycles<Cube>(float32, 1200) == CycleCount(20 + 6 * (17 + 400)));
static_assert(cycles<tw::InPlace<Cube>>(float32, 1200) == CycleCount(20 + 6 * (17 + 400)));
static_assert(cycles<tw::UnaryGrad<Cube>>(float32, 1200) == CycleCount(11 + 6 * (29 + 800), Confidence::assumed), "4 more");

struct Unpriced : tw::UnaryOp<Unpriced> {
  static constexpr std::string_view name = "Unpriced";
  template <class X> static X forward(X x) { return x; }
  template <class X> static X backward(X, X dy) { return dy; }
};
static_assert(tw::op_info<Unpriced>.vertex_cost == tw::default_vertex_cost(tw::WorkKind::map, tw::CodeKind::map));
static_assert(cycles<Unpriced>(float32, 1200).assumed == cycles<Unpriced>(float32, 1200).cycles);

}  // namespace
