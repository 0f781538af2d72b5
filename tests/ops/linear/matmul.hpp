#pragma once
#include "../op_test.hpp"

namespace op_tests {

struct MatMul : OpTest {
  static constexpr std::string_view op = "MatMul";
  static constexpr auto matmul = [](Tensor a, Tensor b) { return a.matmul(b); };
  static constexpr auto product_to(DType dtype) {
    return [dtype](Tensor a, Tensor b) { return ops::matmul(a, b, {.output_type = dtype}); };
  }
  static std::vector<Array> value(const tw::Node&, Inputs inputs, Specs outputs) {
    const Array &a = inputs[0], &b = inputs[1];
    Array result(outputs[0]);
    for (std::size_t i = 0; i < result.size(); ++i) {
      const Index index = index_of(i, result.spec.shape);
      for (std::int64_t k = 0; k < a.extent(-1); ++k) {
        Index left = index, right = index;
        left.back() = k;
        right[right.size() - 2] = k;
        result[i] += broadcast_at(a, left) * broadcast_at(b, right);
      }
    }
    return {result};
  }
  static void meanings(auto& m) { m[op] = value; }
  static constexpr void compared(In<matrices_and_arithmetic>, const auto& c) {
    c.add("matmul", matmul, f32(2, 3), f32(3, 4));
    c.add("matmul_vectors", matmul, f32(5), f32(5));
    c.add("matmul_row", matmul, f32(3), f32(3, 4));
    c.add("matmul_column", matmul, f32(2, 3), f32(3));
    c.add("matmul_batched", matmul, f32(2, 3, 4), f32(2, 4, 5));
    c.add("matmul_broadcast", matmul, f32(2, 1, 2, 3), f32(3, 3, 2));
    c.add("matmul_large", matmul, f32(9, 70), f32(70, 21));
    c.add("matmul_transposed", [](Tensor a, Tensor b) { return a.T().matmul(b.T()); }, f32(70, 9), f32(21, 70));
  }
  static constexpr void compared(In<half_precision>, const auto& c) { c.add("half_matmul", matmul, f16(4, 70), f16(70, 3)); }
  static constexpr void compared(In<integers_and_casts>, const auto& c) {
    c.add_forward("int_matmul", matmul, i32(2, 70), i32(70, 3));
  }
  static constexpr void compared(In<networks_in_float64>, const auto& c) {
    c.add("double_matmul", matmul, f64(2, 37), f64(37, 3));
  }
  static constexpr void compared(In<networks_in_float16>, const auto& c) {
    c.add("matmul_to_half", product_to(tw::float16), f32(2, 30), f32(30, 5));
    c.add("matmul_to_float", product_to(tw::float32), f16(2, 37), f16(37, 3));
  }
  static constexpr void compared(In<other_networks>, const auto& c) {
    c.add("matmul_to_double", product_to(tw::float64), f32(2, 30), f32(30, 5));
  }
  static constexpr void compared(In<products_of_integers>, const auto& c) {
    for (const tw::DType dtype : {tw::int8, tw::int16, tw::int32, tw::int64, tw::uint8, tw::uint16, tw::uint32, tw::uint64})
      c.add_forward(tw::text("matmul_", tw::to_text(dtype)).view(), matmul, TensorSpec{{2, 19}, dtype},
                    TensorSpec{{19, 3}, dtype});
  }
  static constexpr void compared(In<in_bfloat16>, const auto& c) { c.add("matmul", matmul, c.real({5, 37}), c.real({37, 19})); }
  static constexpr void compared(In<views_of_lines>, const auto& c) {
    c.add("view_matmul", [](Tensor a, Tensor b) { return a.T().matmul(b[{all, every_second}]); }, f32(37, 5), f32(37, 14));
  }
  static constexpr void compared(In<lines_of_one>, const auto& c) { c.add("one_matmul", matmul, f32(1, 1), f32(1, 1)); }
  static constexpr void compared(In<second_of_products>, const auto& c) { c.add("matmul", matmul, f64(2, 3, 2), f64(2, 4)); }
  static constexpr void compared(In<exact_functions_and_losses>, const auto& c) {
    c.add("exact_matmul", matmul, f64(3, 19), f64(19, 3));
  }
  static constexpr void edges(const auto& c) {
    c.add("matmul", matmul, c.real({3, 5}), c.real({5, 4}));
    c.add("matmul_of_groups", matmul, c.real({2, 3, 4}), c.real({4, 2}));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f32(8, 512), matmul, f32(8, 784), f32(784, 512));
    s.result(f32(3, 8, 5), matmul, f32(3, 8, 4), f32(4, 5));
    s.result(f32(3, 8, 5), matmul, f32(8, 4), f32(3, 4, 5));
    s.result(f32(6, 3, 8, 5), matmul, f32(6, 1, 8, 4), f32(3, 4, 5));
    s.result(f32(5), matmul, f32(4), f32(4, 5));
    s.result(f32(8), matmul, f32(8, 4), f32(4));
    s.result(f32(), matmul, f32(4), f32(4));
    s.result(f32(3, 5), matmul, f32(4), f32(3, 4, 5));
    s.result(f32(3, 8), matmul, f32(3, 8, 4), f32(4));
    s.result(f16(2, 2), matmul, f16(2, 3), f16(3, 2));
    s.error("MatMul: (8, 784) x (783, 512): inner dimensions 784 and 783 differ, in graph", matmul, f32(8, 784), f32(783, 512));
    s.error("MatMul: (2, 8, 4) x (3, 4, 5): leading axes that broadcast expected, in graph", matmul, f32(2, 8, 4), f32(3, 4, 5));
    s.error("MatMul: () x (4, 5): vectors or matrices expected, in graph", matmul, f32(), f32(4, 5));
    s.error("MatMul: (2, 3) float32 and (3, 2) float16: equal dtypes expected, in graph", matmul, f32(2, 3), f16(3, 2));
  }
  static void numbers(auto& list) {
    list.real("MatMulOptions.available_memory_proportion", list.part,
              [](auto& s, auto n) { return ops::matmul(s.x, s.tensor({6, 2}), {.available_memory_proportion = n}); });
  }
  static constexpr void handles(auto& list) {
    list.add("matmul", [] { (void)ops::matmul(Tensor(), Tensor()); });
    list.add("static_sparse_matmul", [] { (void)ops::static_sparse_matmul(Tensor(), {}, Tensor()); });
  }
};

}  // namespace op_tests
