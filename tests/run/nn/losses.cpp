// labels: strict
// Losses by PyTorch's names and their gradients, against PyTorch in float64.
#include "../cases/losses.hpp"

#include "../cases/op_checks.hpp"
#include "../cases/relative_checks.hpp"

using namespace op_cases;

TEST_CASE("ops_losses.txt and the programs have the same cases") {
  check_same_cases("ops_losses.txt",
                   {losses_in_float32, losses_in_float16, smooth_losses_in_bfloat16, smooth_losses_in_float64,
                    losses_with_kinks_in_float64, edges_of_losses_in_float32, edges_of_losses_in_float16, losses_of_many_rows});
}
TEST_CASE("losses of float32 agree with PyTorch") {
  check_relative<losses_in_float32, tw::cpu>(tw::float32, 2e-6, 2e-7);
  check_relative<losses_in_float32, tw::cpu>(tw::float32, 2e-6, 2e-7, 3);
  check_relative<edges_of_losses_in_float32, tw::cpu>(tw::float32, 2e-6, 2e-7);
  check_reference<losses_in_float32, tw::cpu>(2e-6);
}
TEST_CASE("losses in parts agree with PyTorch") {
  check_relative<losses_of_many_rows, tw::cpu.with_tiles(3)>(tw::float32, 2e-6, 2e-7);
  check_relative<losses_of_many_rows, tw::ipu_model>(tw::float32, 2e-6, 2e-7);
  check_reference<losses_of_many_rows, tw::cpu.with_tiles(3)>(2e-6);
  check_reference<losses_of_many_rows, tw::ipu_model>(2e-6);
}

namespace {

constexpr void zeros_of_losses(Ir& ir) {
  using enum Reduction;
  using op_tests::BinaryCrossEntropy, op_tests::CrossEntropy, op_tests::Losses;
  differentiable(ir, "kl", Losses::kl({.reduction = none}), f32({3}), f32({3}));
  differentiable(ir, "kl_log", Losses::kl({.log_target = true, .reduction = none}), f32({2}), f32({2}));
  differentiable(ir, "bce", BinaryCrossEntropy::binary_cross_entropy<BinaryCrossEntropy::Weights::weight>(none), f32({4}),
                 f32({4}), f32({4}));
  const auto of_positives = [](Tensor x, Tensor w) {
    return ops::binary_cross_entropy_with_logits(x, x.ir().constant({1}, {2}, x.dtype()), {.pos_weight = w, .reduction = none});
  };
  differentiable(ir, "bce_positive", of_positives, f32({2}), f32({2}));
  differentiable(ir, "ce", CrossEntropy::cross_entropy_of(5, {.reduction = sum}), f32({2, 5}), i32({2}));
  differentiable(ir, "ce_smoothed", CrossEntropy::cross_entropy_of(5, {.label_smoothing = 0.25}), f32({5}), i32({}));
  differentiable(ir, "ce_no_weight", CrossEntropy::cross_entropy_of(5, {}), f32({2, 5}), i32({2}));
  differentiable(ir, "ce_none_counts", CrossEntropy::cross_entropy_of(0, {.ignore_index = 7, .label_smoothing = 0.25}),
                 f32({2, 5}), i32({2}));
}
constexpr double inf = std::numeric_limits<double>::infinity();
const double log4 = std::log(4.0);

}  // namespace

// Where PyTorch has NaN, 0 times infinity or 0 / 0.
TEST_CASE("factors of 0 and sums of weights of 0 give 0") {
  const Values given{{"kl.x0", {-inf, -1, -2}},
                     {"kl.x1", {0, 0, 1}},
                     {"kl.dy0", {1, 1, 1}},
                     {"kl_log.x0", {-inf, -1}},
                     {"kl_log.x1", {-inf, 0}},
                     {"kl_log.dy0", {1, 1}},
                     {"bce.x0", {-inf, inf, inf, 0}},
                     {"bce.x1", {0, 1, 0, 0.5}},
                     {"bce.x2", {1, 1, 0, 0}},
                     {"bce.dy0", {1, 1, 1, 1}},
                     {"bce_positive.x0", {-inf, 0}},
                     {"bce_positive.x1", {0, 0}},
                     {"bce_positive.dy0", {1, 1}},
                     {"ce.x0", {0, -inf, 0, 0, 0, 0, -inf, 0, 0, 0}},
                     {"ce.x1", {1, 0}},
                     {"ce.dy0", {1}},
                     {"ce_smoothed.x0", {0, -inf, 0, 0, 0}},
                     {"ce_smoothed.x1", {0}},
                     {"ce_smoothed.dy0", {1}},
                     {"ce_no_weight.x0", {1, 2, 3, 4, 5, 6, 7, 8, 9, 0}},
                     {"ce_no_weight.x1", {1, 1}},
                     {"ce_no_weight.dy0", {1}},
                     {"ce_none_counts.x0", {1, 2, 3, 4, 5, 6, 7, 8, 9, 0}},
                     {"ce_none_counts.x1", {7, 7}},
                     {"ce_none_counts.dy0", {1}}};
  const std::vector<double> none(10);
  const double s = 1.125 + 0.05 * 5.75, p = s / 4;  // of the smoothed label: its weights, and that of each class that can be
  const Values expected{{"kl.y0", {0, 0, 2}},
                        {"kl.dx0", {0, 0, -1}},
                        {"kl.dx1", {0, 0, 3}},
                        {"kl_log.y0", {0, 1}},
                        {"kl_log.dx0", {0, -1}},
                        {"kl_log.dx1", {0, 2}},
                        {"bce.y0", {0, 0, 0, 0}},
                        {"bce.dx0", {0, 0, 0, 0}},
                        {"bce.dx1", {inf, -inf, 0, 0}},
                        {"bce.dx2", {0, 0, 0, std::log(2.0)}},
                        {"bce_positive.y0", {0, 0}},
                        {"bce_positive.dx0", {0, 0}},
                        {"bce_positive.dx1", {inf, std::log(2.0)}},
                        {"ce.y0", {1.5 * log4}},
                        {"ce.dx0", {0, 0, 0, 0, 0, -1.125, 0, 0.375, 0.375, 0.375}},
                        {"ce_smoothed.y0", {s / 1.5 * log4}},
                        {"ce_smoothed.dx0", {(p - 1.2) / 1.5, 0, (p - 0.0125) / 1.5, (p - 0.15) / 1.5, (p - 0.05) / 1.5}},
                        {"ce_no_weight.y0", {0}},
                        {"ce_no_weight.dx0", none},
                        {"ce_none_counts.y0", {0}},
                        {"ce_none_counts.dx0", none}};
  TestSession<zeros_of_losses, tw::cpu> session({.threads = 1});
  write_variables(session, given);
  const Values results = run(session);
  CHECK(results.size() == expected.size());
  for (const auto& [name, elements] : results) {
    INFO(name);
    CAPTURE(elements, expected.at(name));
    CHECK(difference(elements, expected.at(name)) <= 1e-6);
  }
}

TEST_CASE("cross_entropy is the op without weights where there are none") {
  const auto op_of = [](auto loss) {
    tw::Ir ir;
    const Tensor logits = ops::init(ir, {4, 3}, tw::float32), labels = ops::init(ir, {4}, tw::int32);
    loss(logits, labels);
    return ir.tables.record(tw::GraphId::main).nodes.back().op->name;
  };
  CHECK(op_of([](Tensor x, Tensor t) { ops::cross_entropy(x, t); }) == "CrossEntropy");
  CHECK(op_of([](Tensor x, Tensor t) { ops::cross_entropy(x, t, {}); }) == "CrossEntropy");
  CHECK(op_of([](Tensor x, Tensor t) { ops::cross_entropy(x, t, {.ignore_index = 1}); }) == "CrossEntropy");
  CHECK(op_of([](Tensor x, Tensor t) { ops::cross_entropy(x, t, {.reduction = Reduction::sum}); }) == "CrossEntropy");
  CHECK(op_of([](Tensor x, Tensor t) { ops::cross_entropy(x, t, {.label_smoothing = 0}); }) == "CrossEntropy");
  CHECK(op_of([](Tensor x, Tensor t) { ops::cross_entropy(x, t, tw::CrossEntropyOptions{.ignore_index = 1}); }) ==
        "CrossEntropy");
  CHECK(op_of([](Tensor x, Tensor t) { ops::cross_entropy(x, t, {.ignore_index = 1, .label_smoothing = 0.1}); }) ==
        "WeightedCrossEntropy");
  CHECK(op_of([](Tensor x, Tensor t) { ops::cross_entropy(x, t, {.weight = ops::init(x.ir(), {3}, tw::float32)}); }) ==
        "WeightedCrossEntropy");
}
