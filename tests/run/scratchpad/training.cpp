// labels: none
// A third kind of machine, which the library does not know: one core with a scratchpad of 256 KiB.
#include <tilewright/data/generated_digits.hpp>
#include <tilewright/data/loader.hpp>
#include <tilewright/verified/verified.hpp>

#include "../../support/elements.hpp"
#include "programs.hpp"
#include "tilewright/lower/print_passes.hpp"

namespace {

using scratchpad::target, scratchpad::train_step;
using tw::Tensor;

constexpr std::int64_t half = target.bytes_per_tile / 2;

tw::Plan plan_of(const auto& program, const tw::Target& machine = target) {
  const tw::Prepared prepared = support::prepared(program, machine);
  tw::Plan plan = tw::lower(prepared);
  CHECK(tw::fault_of_plan(prepared, plan).string() == "");
  return plan;
}

/// Trains on the same digits, and returns the losses.
Floats losses_of(auto& session) {
  Floats losses;
  const auto digits = tw::data::generated_digits(240, /*seed*/ 1);
  tw::data::Loader batches(digits.train, {.batch_size = 8, .shuffle = true});
  tw::train::run_epochs(session, batches, {.epochs = 2},
                        [&](const tw::train::Progress& progress) { losses.push_back(static_cast<float>(progress.loss)); });
  return losses;
}
void check_close(const auto& values, const auto& expected) {
  REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) REQUIRE(values[i] == Approx(expected[i]).epsilon(1e-4).margin(1e-6));
}

}  // namespace

TEST_CASE("scratchpad: the network of the README trains to the values of the host") {
  tw::Session<train_step, target> session({.seed = 1});
  tw::Session<train_step, tw::cpu> host({.seed = 1});
  const Floats losses = losses_of(session), expected = losses_of(host);
  REQUIRE(losses.size() >= 40);
  CHECK(expected.back() < 0.9F * expected.front());  // it learns
  check_close(losses, expected);
  check_close(elements(session.get_tensor_data("fc1.weight"_s)), elements(host.get_tensor_data("fc1.weight"_s)));
  check_close(elements(session.get_tensor_data("fc3.bias"_s)), elements(host.get_tensor_data("fc3.bias"_s)));
}

TEST_CASE("scratchpad: the text of its steps says what moves") {
  const tw::Plan plan = plan_of(train_step);
  const std::string text = scratchpad::print_steps(plan).string();
  CHECK(
      text.starts_with("body 0\n"
                       "  0: 16 vertices of 32 x 8 x 784: MatMul [Add, Gelu, GeluSlope], 127616 bytes each\n"
                       "     at 0: load once 8 x 784 of stream image\n"
                       "     at 25088: load 784 x 32 of fc1.weight\n"
                       "     at 125440: load 32 of fc1.bias\n"
                       "     at 125568: store 8 x 32 of frame + 0\n"));
  CHECK(text.find("load, store 200 x 64 of fc1.weight") != std::string::npos);
  for (const auto& step : plan.steps) CHECK(scratchpad::bytes_of(plan, step) <= half);
  CHECK(plan.memory.fullest_tile == 2 * 127616);
  CHECK(tw::print_passes(support::prepared(train_step, target)).string().find("VIOLATION") == std::string::npos);
}

TEST_CASE("scratchpad: a smaller one has smaller blocks, down to a size that names what is missing") {
  const auto smaller = [](std::int64_t bytes) { return target.with_bytes_per_tile(bytes); };
  CHECK(plan_of(train_step, smaller(151552)).memory.fullest_tile == 151552);
  CHECK_THROWS_WITH(
      plan_of(train_step, smaller(151551)),
      Catch::Matchers::ContainsSubstring(
          "memory: the scratchpad needs 151552 bytes for two vertices of a step: at most 151551 expected; 32 vertices "
          "of 16 x 8 x 784: MatMul, 75776 bytes each, of which 784 x 16 of fc1.weight has 50176"));
}

TEST_CASE("scratchpad: its rules keep a table in main memory, of which a step reads a few rows") {
  const auto rows = [](tw::Ir& ir) {
    const Tensor table = ir.variable(tw::zeros(), {4096, 64}, tw::float32, "table");  // 1 MiB
    support::store("y", tw::ops::gather(table, support::load(ir, "i", {32}, tw::int32)));
  };
  CHECK(scratchpad::print_steps(plan_of(rows)).string() ==
        "body 0\n"
        "  0: 1 vertex of 32 x 64: Gather; Identity, 16512 bytes each\n"
        "     at 0: load once 32 of stream i\n"
        "     at 128: store once 32 x 64 of stream y\n");
}

TEST_CASE("scratchpad: calls, convolutions and reductions are planned, too") {
  const auto images = [](tw::Ir& ir) {
    const Tensor x = support::load(ir, "x", {16, 8, 32, 32}), w = support::variable(ir, "w", {16, 8, 3, 3});
    const Tensor y = tw::ops::max_pool(tw::ops::relu(tw::ops::conv(x, w)), {2, 2});
    support::store("mean", tw::ops::mean(y.reshape({16, -1}), {1}));
    support::store("y", tw::ops::softmax(y.reshape({16, -1})));
  };
  const tw::Plan plan = plan_of(images);
  CHECK(std::any_of(plan.steps.begin(), plan.steps.end(), [](const auto& step) { return step.vertices > 1; }));
}

TEST_CASE("scratchpad: it has no float16, and a program that is traced for the host is not for it") {
  const auto halves = [](tw::Ir& ir) { support::store("y", tw::ops::exp(support::load(ir, "x", {4}, tw::float16))); };
  CHECK_THROWS_WITH(plan_of(halves), Catch::Matchers::ContainsSubstring(
                                         "(4,) float16 on the scratchpad machine, which has no float16: float32 expected"));
  tw::Ir ir;
  train_step(ir);
  CHECK_THROWS_WITH(tw::prepare(ir, target),
                    Catch::Matchers::ContainsSubstring("traced for the host, for the scratchpad machine: trace(build, target)"));
}
