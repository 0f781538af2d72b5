#pragma once
// The cases of tests/reference/ops_types.txt.
#include "op_case.hpp"

namespace op_cases {

using tw::DType;

inline constexpr DType integer_dtypes[] = {tw::int8,  tw::int16,  tw::int32,  tw::int64,
                                           tw::uint8, tw::uint16, tw::uint32, tw::uint64};

/// The results of one dtype.
class TypeCase {
 public:
  constexpr TypeCase(Ir& ir, tw::Text name, DType dtype) : ir_(ir), name_(std::move(name)), dtype_(dtype) {}

  constexpr Tensor variable(std::string_view kind, const Shape& shape) const {
    return ir_.variable(tw::zeros(), shape, dtype_, tw::text(name_, ".", kind).view());
  }
  constexpr void store(std::string_view kind, Tensor tensor) const {
    ops::host_store(ir_.d2h_stream(tw::text(name_, ".", kind).view(), tensor.spec()), tensor);
  }

 private:
  Ir& ir_;
  tw::Text name_;
  DType dtype_;
};

template <DType... dtypes>
constexpr void integers(Ir& ir) {
  for (const DType dtype : {dtypes...}) {
    const TypeCase test(ir, tw::to_text(dtype), dtype);
    const Tensor x = test.variable("x0", {2, 3}), y = test.variable("x1", {2, 3});
    const Tensor row = ops::sum(y * ir.constant({1, 1, 1, 0, 0, 0}, {2, 3}, dtype), 0);  // the first
    test.store("doubled", x + x);
    test.store("sub", y - x);
    test.store("mul", x * row);
    test.store("div", x / y);
    test.store("neg", -x);
    test.store("numbers", 3 - x * 5);
    test.store("sum", ops::sum(x, 0));
    test.store("sum_all", ops::sum(x, {}, true));
    test.store("mean", ops::mean(x, 1));
    test.store("matmul", x.matmul(y.T()));
    test.store("views", ops::expand(x.T().reshape({2, 1, 3}), {2, 2, 3}) + y);
    test.store("accumulate", ops::accumulate_(ops::identity(x), y, 3));
    test.store("accumulate_square", ops::accumulate_square_(ops::identity(x), y));
    test.store("scale", ops::accumulator_scale_(ops::identity(x), ir.constant({3}, {1}, dtype)));
    test.store("zero", ops::accumulator_zero_(ops::identity(x)));
    test.store("copy", ops::copy_var_update_(ops::identity(row), ir.constant({1.5, -1e30, 1e30}, {3})));
  }
}

constexpr void bool_and_float64(Ir& ir) {
  const TypeCase logic(ir, "bool", tw::boolean);
  const Tensor p = logic.variable("x0", {2, 3}), q = logic.variable("x1", {3});
  logic.store("or", p + q);
  logic.store("and", p * q);
  logic.store("views", p.T().reshape({2, 3}));
  logic.store("copy", ops::copy_var_update_(ops::identity(p), ir.constant({0.25, 0, -3, NAN, INFINITY, 1e-30}, {2, 3})));

  const TypeCase wide(ir, "float64", tw::float64);
  const Tensor x = wide.variable("x0", {2, 3}), y = wide.variable("x1", {2, 3});
  const Tensor row = ops::sum(y * ir.constant({1, 1, 1, 0, 0, 0}, {2, 3}, tw::float64), 0);
  wide.store("add", x + y);
  wide.store("sub", x - y);
  wide.store("mul", x * row);
  wide.store("div", x / y);
  wide.store("neg", -x);
  wide.store("numbers", 3 - x / 7);
  wide.store("sum", ops::sum(x, 0));
  wide.store("mean", ops::mean(x, 1));
  wide.store("matmul", x.matmul(y.T()));
  wide.store("accumulate", ops::accumulate_(ops::identity(x), y, 0.1));
  wide.store("accumulate_square", ops::accumulate_square_(ops::identity(x), y, 0.1));
  wide.store("accumulate_mean", ops::accumulate_mean_(ops::identity(x), y, 3));
  wide.store("moving_average", ops::accumulate_moving_average_(ops::identity(x), y, 0.9));
  wide.store("scale", ops::accumulator_scale_(ops::identity(x), 0.1));
  wide.store("copy", ops::copy_var_update_(ops::identity(x), y));
}

/// Elements of a source of casts in the fixtures.
constexpr std::int64_t cast_elements(DType dtype) {
  constexpr std::int64_t counts[] = {2, 6, 6, 6, 6, 4, 5, 5, 5, 10, 10, 12};
  return counts[static_cast<std::size_t>(dtype)];
}
template <DType... sources>
constexpr void casts(Ir& ir) {
  for (const DType from : {sources...}) {
    const tw::Text name = tw::text("cast.", tw::to_text(from));
    const Tensor x = ir.variable(tw::zeros(), {cast_elements(from)}, from, name.view());
    const TypeCase test(ir, name, from);
    for (int to = 0; to <= static_cast<int>(tw::float64); ++to)
      if (static_cast<DType>(to) != from) test.store(tw::to_text(static_cast<DType>(to)), x.cast(static_cast<DType>(to)));
  }
}

/// What several tiles share.
constexpr void cut(Ir& ir) {
  for (const DType dtype : {tw::int8, tw::uint16, tw::int64, tw::float64}) {
    const TypeCase test(ir, tw::text("cut.", tw::to_text(dtype)), dtype);
    const Tensor x = test.variable("x0", {4, 37}), y = test.variable("x1", {37, 5});
    test.store("square", x * x);
    test.store("sum", ops::sum(x, 1));
    test.store("matmul", x.matmul(y));
    test.store("accumulate", ops::accumulate_(ops::identity(x), x));
    test.store("cast", x.cast(tw::int16));
  }
}

}  // namespace op_cases
