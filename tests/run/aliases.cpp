// Ops that work in place change a tensor and everything that views it, and read what was there before.
#include "elements.hpp"

namespace {

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;

constexpr void program(Ir& ir) {
  const auto matrix = [&](std::string_view name) { return ir.variable(tw::values({1, 2, 3, 4}), {2, 2}, tw::float32, name); };
  const Tensor through_view = matrix("through view");
  ops::scaled_add_(through_view.T(), ir.constant({0, 0, 10, 0}, {2, 2}));

  const Tensor own_transpose = matrix("own transpose");
  ops::scaled_add_(own_transpose, own_transpose.T(), {.b = 10});

  const Tensor from_rows = matrix("from rows");
  const Tensor before = from_rows + 0;
  const Tensor alias = ops::scaled_add_(from_rows, from_rows, {.a = 0, .b = 3});
  ops::scaled_add_(alias, before);
  store("before", before);
  store("after", from_rows);

  const Tensor constant = ir.constant({1, 2, 3, 4}, {4});
  const Tensor view = constant.reshape({2, 2});
  ops::scaled_add_(view, view);
  store("changed view", view);
}

}  // namespace

TEST_CASE("ops in place read and write the same memory safely") {
  tw::Session<program, tw::cpu.with_tiles(3)> session({.threads = 2});
  for (int run = 1; run <= 2; ++run) {
    const auto outputs = session.run();
    CHECK(elements(outputs["changed view"_s]) == Floats{2, 4, 6, 8});
    if (run > 1) continue;
    CHECK(elements(session.get_tensor_data("through view"_s)) == Floats{1, 12, 3, 4});
    CHECK(elements(session.get_tensor_data("own transpose"_s)) == Floats{11, 32, 23, 44});
    CHECK(elements(outputs["before"_s]) == Floats{1, 2, 3, 4});
    CHECK(elements(outputs["after"_s]) == Floats{4, 8, 12, 16});
  }
}
