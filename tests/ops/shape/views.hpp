#pragma once
#include "../op_test.hpp"

namespace op_tests {

/// The number of the element at an index of a view with the elements' order.
inline std::size_t same_number(const tw::Node&, const Index& index, const Shape&, const Shape& output) {
  return number_of(index, output);
}

struct Reshape : OpTest {
  static constexpr std::string_view op = "Reshape";
  static void meanings(auto& m) { m.view({op, "ReshapeInplace"}, same_number); }
  static constexpr auto reshaped(const Shape& shape) {
    return [shape](Tensor x) { return x.reshape(shape); };
  }
  static constexpr void compared(In<functions_and_reductions>, const auto& c) { c.add("reshape", reshaped({3, -1}), f32(2, 6)); }
  static constexpr void shapes(const auto& s) {
    s.result(f32(1, 784), reshaped({-1, 784}), f32(28, 28));
    s.result(f32(2, 5, 2), reshaped({2, -1, 2}), f32(4, 5));
    s.result(f32(), reshaped({}), f32(1, 1));
    s.result(f32(1), reshaped({-1}), f32());
    s.result(f32(24), [](Tensor x) { return x.flatten(); }, f32(2, 3, 4));
    s.error("Reshape: (2, 3) float32 to (5, 4): a shape of 6 elements expected, in graph", reshaped({5, 4}), f32(2, 3));
    s.error("Reshape: (2, 3) float32 to (4, -1): a shape of 6 elements expected, in graph", reshaped({4, -1}), f32(2, 3));
    s.error("Reshape: (2, 3) float32 to (-1, -1): at most one -1 expected, in graph", reshaped({-1, -1}), f32(2, 3));
    s.error("Reshape: (2, 3) float32 to (0, 6): extents above 0, or one -1, expected, in graph", reshaped({0, 6}), f32(2, 3));
    s.error("Reshape: (2, 3) float32 to (-2, -3): extents above 0, or one -1, expected, in graph", reshaped({-2, -3}), f32(2, 3));
  }
  static constexpr void handles(auto& list) {
    list.add("reshape", [] { (void)ops::reshape(Tensor(), Shape{2}); });
    list.add("reshape_", [] { (void)ops::reshape_(Tensor(), Shape{2}); });
    list.add("flatten", [] { (void)ops::flatten(Tensor()); });
    list.add("flatten_", [] { (void)ops::flatten_(Tensor()); });
  }
};
struct Transpose : OpTest {
  static constexpr std::string_view op = "Transpose";
  static void meanings(auto& m) {
    m.view({op, "TransposeInplace"}, [](const tw::Node& node, const Index& index, const Shape& input, const Shape&) {
      const Shape order = tw::unpack<tw::Transpose::Attributes>(node.attributes).shape();
      Index from(index.size());
      for (int axis = 0; axis < order.rank; ++axis) from[at(order[axis])] = index[at(axis)];
      return number_of(from, input);
    });
  }
  static constexpr auto transposed(const Shape& permutation) {
    return [permutation](Tensor x) { return x.transpose(permutation); };
  }
  static constexpr void compared(In<functions_and_reductions>, const auto& c) {
    c.add("transpose", transposed({2, 0, 1}), f32(2, 3, 4));
    c.add("transpose_reversed", [](Tensor x) { return x.T(); }, f32(2, 3, 4));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f32(4, 3, 2), [](Tensor x) { return x.T(); }, f32(2, 3, 4));
    s.result(f32(), [](Tensor x) { return x.T(); }, f32());
    s.result(f32(3, 4, 2), transposed({1, 2, 0}), f32(2, 3, 4));
    s.error("Transpose: (2, 3) float32 by (0, 0): a permutation of the axes 0 to 1 expected, in graph", transposed({0, 0}),
            f32(2, 3));
    s.error("Transpose: (2, 3) float32 by (0,): a permutation of the axes 0 to 1 expected, in graph", transposed({0}), f32(2, 3));
    s.error("Transpose: (2, 3) float32 by (0, 2): a permutation of the axes 0 to 1 expected, in graph", transposed({0, 2}),
            f32(2, 3));
  }
  static constexpr void handles(auto& list) {
    list.add("transpose", [] { (void)ops::transpose(Tensor(), Shape{2}); });
    list.add("transpose", [] { (void)ops::transpose(Tensor()); });
    list.add("transpose_", [] { (void)ops::transpose_(Tensor(), Shape{2}); });
    list.add("transpose_", [] { (void)ops::transpose_(Tensor()); });
  }
};
struct Detach : OpTest {
  static constexpr std::string_view op = "Detach";
  static void meanings(auto& m) { m.view({op, "DetachInplace"}, same_number); }
  static constexpr void compared(In<other_gradients>, const auto& c) {
    c.add("detach", [](Tensor x) { return x * x.detach(); }, f32(2, 3));
  }
  static constexpr void shapes(const auto& s) { s.result(f16(2, 3), ops::detach, f16(2, 3)); }
  static constexpr void handles(auto& list) {
    list.add("detach", [] { (void)ops::detach(Tensor()); });
    list.add("detach_", [] { (void)ops::detach_(Tensor()); });
  }
};
struct Expand : OpTest {
  static constexpr std::string_view op = "Expand";
  static void meanings(auto& m) {
    m.view({op}, [](const tw::Node&, const Index& index, const Shape& input, const Shape&) {
      Index from(index.end() - input.rank, index.end());
      for (int axis = 0; axis < input.rank; ++axis)
        if (input[axis] == 1) from[at(axis)] = 0;
      return number_of(from, input);
    });
  }
  static constexpr auto expanded(const Shape& shape) {
    return [shape](Tensor x) { return ops::expand(x, shape); };
  }
  static constexpr void compared(In<functions_and_reductions>, const auto& c) { c.add("expand", expanded({2, 3, 4}), f32(3, 1)); }
  static constexpr void edges(const auto& c) { c.add("expand", expanded({8, 3}), c.real({3})); }
  static constexpr void shapes(const auto& s) {
    s.result(f32(5, 2, 3), expanded({5, 2, 3}), f32(2, 1));
    s.result(f32(4), expanded({4}), f32());
    s.error("Expand: (2, 3) float32 to (2, 4): a shape that it broadcasts to expected, in graph", expanded({2, 4}), f32(2, 3));
    s.error("Expand: (2, 3) float32 to (3,): a shape that it broadcasts to expected, in graph", expanded({3}), f32(2, 3));
    s.error("Expand: (3,) float32 to (-1, 3): a shape that it broadcasts to expected, in graph", expanded({-1, 3}), f32(3));
  }
  static constexpr void handles(auto& list) {
    list.add("expand", [] { (void)ops::expand(Tensor(), Shape{2}); });
  }
};

}  // namespace op_tests
