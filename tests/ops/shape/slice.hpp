#pragma once
#include "../op_test.hpp"

namespace op_tests {

/// And of splits and subscripts, which are slices.
struct Slice : OpTest {
  static constexpr std::string_view op = "Slice";
  static void meanings(auto& m) {
    m.view({op, "SliceInplace", "Squeeze"}, [](const tw::Node& node, const Index& index, const Shape& input, const Shape&) {
      const auto attributes = tw::unpack<tw::SliceAttributes>(node.attributes);
      Index from;
      std::size_t next = 0;
      for (int axis = 0; axis < input.rank; ++axis)
        from.push_back(attributes.start(axis) + (attributes.drops(axis) ? 0 : index[next++] * attributes.step(axis)));
      return number_of(from, input);
    });
    m["SliceGrad"] = [](const tw::Node& node, Inputs inputs, Specs outputs) {
      const auto slice = tw::unpack<tw::SliceGrad::Attributes>(node.attributes).slice;
      Array result(outputs[0]);
      for (std::size_t i = 0; i < inputs[0].size(); ++i) {
        const Index index = index_of(i, inputs[0].spec.shape);
        Index to;
        std::size_t next = 0;
        for (int axis = 0; axis < result.rank(); ++axis)
          to.push_back(slice.start(axis) + (slice.drops(axis) ? 0 : index[next++] * slice.step(axis)));
        result[number_of(to, result.spec.shape)] = inputs[0][i];
      }
      return std::vector{result};
    };
  }
  static constexpr void compared(In<slices>, const auto& c) {
    c.add("slice_first", [](Tensor x) { return ops::slice(x, 1, 6); }, f32(7, 5));
    c.add("slice_number_of_last_axis", [](Tensor x) { return x[{ellipsis, 3}]; }, f32(7, 5));
    c.add("slice_steps", [](Tensor x) { return ops::slice(x, {1, none}, none, {2, 3}); }, f32(7, 20));
    c.add("slice_back", [](Tensor x) { return x[{back, tw::slice(5, 1, -1)}]; }, f32(3, 19));
    c.add("slice_back_in_steps", [](Tensor x) { return ops::slice(x, {-2, -1}, {-18, none}, {-3, -2}, {-1, 0}); }, f32(6, 19));
    c.add("slice_beyond", [](Tensor x) { return ops::slice(x, {-100, 100}, {100, -100}, {1, -4}); }, f32(3, 19));
    c.add("slice_one", [](Tensor x) { return x[{tw::slice(2, 3), tw::slice(-1, none)}]; }, f32(3, 4));
    c.add("slice_vector", [](Tensor x) { return x[tw::slice(3, 36)]; }, f32(37));
    c.add("slice_middle_axis", [](Tensor x) { return ops::slice(x, 1, 3, none, 1); }, f32(2, 4, 17));
    c.add(
        "slice_six_axes",
        [](Tensor x) { return ops::slice(x, {0, -1, 1, none, 1, 3}, {3, none, 2, 0, none, 0}, {2, -2, none, -1, 1, -2}); },
        f32(3, 3, 2, 3, 2, 4));
    c.add(
        "slice_of_slice",
        [](Tensor x) { return x[{tw::slice(none, none, -2), tw::slice(1, 18)}][{tw::slice(1, none), tw::slice(none, none, 3)}]; },
        f32(8, 19));
    c.add("subscript_all_numbers", [](Tensor x) { return x[{1, -2}]; }, f32(3, 4));
    c.add("subscript_mixed", [](Tensor x) { return x[{tw::slice(1, none), 2, ellipsis, back}]; }, f32(3, 4, 2, 5));
    c.add("subsample", [](Tensor x) { return ops::subsample(x, {3, 2}); }, f32(7, 4, 3));
    c.add("subsample_first_axis", [](Tensor x) { return ops::subsample(x, 2); }, f32(5, 3));
    c.add("flip", [](Tensor x) { return ops::flip(x, {1, -1}); }, f32(2, 3, 17));
  }
  static constexpr void compared(In<readers_of_slices>, const auto& c) {
    const auto subscript = [](Tensor x, Tensor index) { return x[index]; };
    c.add("sum_of_slice", [](Tensor x) { return x[{tw::slice(1, none), tw::slice(none, none, -2)}].sum(); }, f32(5, 41));
    c.add("row_sums_of_slice", [](Tensor x) { return x[{tw::slice(1, 4), tw::slice(1, 20)}].sum(1); }, f32(5, 23));
    c.add("column_sums_of_slice", [](Tensor x) { return x[{tw::slice(none, none, 2), tw::slice(2, 39)}].sum(0); }, f32(5, 41));
    c.add(
        "matmul_of_slices",
        [](Tensor a, Tensor b) {
          return a[{back, tw::slice(1, 18)}].matmul(b[{tw::slice(17, 0, -1), tw::slice(none, none, 2)}]);
        },
        f32(9, 19), f32(18, 20));
    c.add(
        "matmul_of_steps",
        [](Tensor a, Tensor b) {
          return a[{all, tw::slice(none, none, 2)}].matmul(b[{tw::slice(none, none, 3), tw::slice(none, none, -2)}]);
        },
        f32(5, 24), f32(36, 14));
    c.add("softmax_of_slice", [](Tensor x) { return ops::softmax(x[{all, tw::slice(none, none, -2)}], 1); }, f32(4, 37));
    c.add("reshape_of_slice", [](Tensor x) { return x[{all, tw::slice(1, 4)}].reshape({2, -1}); }, f32(4, 6));
    c.add("mul_of_slices", [](Tensor x) { return x[{all, tw::slice(0, 20)}] * x[{all, tw::slice(20, 40)}]; }, f32(3, 40));
    c.add(
        "rotary",
        [](Tensor x) {
          const Tensor even = ops::subsample(x, {1, 2}), odd = x[{ellipsis, tw::slice(1, none, 2)}];
          return ops::concat({(-odd).reshape({3, 10, 1}), (even * 2).reshape({3, 10, 1})}, -1).reshape({3, 20});
        },
        f32(3, 20));
    c.add("subscript_rows", subscript, f32(5, 3), i32(2, 2));
    c.add("subscript_mask", subscript, f32(5, 3), spec_of(tw::boolean, {3}));
    c.add("slices_with_gaps", [](Tensor x) { return x[tw::slice(1, 3)] * 2 + x[tw::slice(5, 7)]; }, f32(9, 5));
    c.add("slices_overlap", [](Tensor x) { return x[tw::slice(0, 5)] * x[tw::slice(1, 6)] + x[tw::slice(2, 7)]; }, f32(7, 3));
    c.add(
        "slices_two_axes",
        [](Tensor x) {
          return x[{tw::slice(0, 2), tw::slice(1, 4)}] +
                 x[{tw::slice(1, 3), tw::slice(0, 3)}] * x[{tw::slice(2, none, -1), tw::slice(1, 4)}][tw::slice(1, none)];
        },
        f32(3, 4));
    c.add("rows_by_number", [](Tensor x) { return x[0] * x[2] + x[-1]; }, f32(4, 6));
    c.add("slice_and_whole", [](Tensor x) { return x[tw::slice(1, 2)] * x; }, f32(3, 4));
  }
  static constexpr void compared(In<concats>, const auto& c) {
    c.add(
        "split_equal",
        [](Tensor x) {
          const auto [first, second, third] = ops::split<3>(x);
          return first * second + third;
        },
        f32(6, 5));
    c.add(
        "split_lengths",
        [](Tensor x) {
          const auto parts = ops::split(x, {5, 1, 3}, -1);
          return ops::concat({parts[1] * parts[0], parts[2] + 1}, 1);
        },
        f32(2, 9));
    c.add("split_one_unused", [](Tensor x) { return ops::split(x, 3, 1)[1] * 2; }, f32(2, 9));
  }
  static constexpr void compared(In<parts_in_place>, const auto& c) {
    c.add_forward(
        "slice_in_place",
        [](Tensor x, Tensor u) {
          ops::accumulate_(ops::slice_(x, {1, 2}, {4, 5}), u);
          return x;
        },
        f32(6, 7), f32(3, 3));
    c.add_forward(
        "slice_back_in_place",
        [](Tensor x, Tensor u) {
          ops::accumulate_(ops::slice_(x, {1, none}, {2, none}, {none, -1}), u.reshape({1, 5}));
          return x;
        },
        f32(3, 5), f32(5));
    c.add_forward(
        "diagonal_early",
        [](Tensor x, Tensor u) {
          const Tensor early = ops::slice(x, 1, 3);  // what it was before x changes
          ops::accumulate_(x, u);
          return std::array{early, x};
        },
        f32(4, 3), f32(4, 3));
  }
  static constexpr void compared(In<parts_of_other_dtypes>, const auto& c) {
    const auto parts = [](Tensor a, Tensor b) {
      return std::array{ops::concat({a, b}, 1)[{tw::slice(none, none, -2), tw::slice(1, 9)}], a[2], ops::subsample(b, {1, 2}),
                        a.diag(), b[1].diag()};
    };
    const auto of = [&](std::string_view name, tw::DType dtype) {
      c.add_forward(tw::text("parts_", name).view(), parts, TensorSpec{{3, 5}, dtype}, TensorSpec{{3, 5}, dtype});
    };
    of("i8", tw::int8), of("u8", tw::uint8), of("i16", tw::int16), of("i32", tw::int32), of("i64", tw::int64);
    of("u64", tw::uint64), of("bool", tw::boolean), of("f16", tw::float16), of("f64", tw::float64);
    of("u16", tw::uint16), of("u32", tw::uint32);
  }
  static constexpr void compared(In<other_dropouts_and_seeds>, const auto& c) {
    c.add_forward(
        "split",
        [](Tensor seed) {
          const auto seeds = ops::split_random_seed(seed, 3);
          return std::vector<Tensor>{seeds[0], seeds[1], seeds[2]};
        },
        seed_spec);
  }
  static constexpr void compared(In<views_at_indices>, const auto& c) {
    c.add("view_slice", [](Tensor t) { return t.T()[{tw::slice(1, tw::none), every_second}]; }, f32(19, 5));
  }
  static constexpr void compared(In<float_lines_and_indices>, const auto& c) {
    c.add("floats_slice", [](Tensor t) { return t[{tw::slice(1, tw::none), tw::slice(tw::none, tw::none, 2)}]; }, c.real({3, 7}));
  }
  static constexpr void shapes(const auto& s) {
    s.result(f32(3), [](Tensor x) { return x[tw::slice(2, 5)]; }, f32(10));
    s.result(f32(3), [](Tensor x) { return x[tw::slice(-3, none)]; }, f32(10));
    s.result(f32(7), [](Tensor x) { return x[tw::slice(none, -3)]; }, f32(10));
    s.result(f32(3), [](Tensor x) { return x[tw::slice(1, 100, 4)]; }, f32(10));
    s.result(f32(1), [](Tensor x) { return x[tw::slice(9, none, 100)]; }, f32(10));
    s.result(f32(10), [](Tensor x) { return x[tw::slice(none, none, -1)]; }, f32(10));
    s.result(f32(4), [](Tensor x) { return x[tw::slice(100, -100, -3)]; }, f32(10));
    s.result(f32(2), [](Tensor x) { return x[tw::slice(1, none, -1)]; }, f32(10));
    s.result(f32(1), [](Tensor x) { return x[tw::slice(none, none, std::numeric_limits<std::int64_t>::min())]; }, f32(10));
    s.result(f32(3, 4, 3), [](Tensor x) { return x[{0, ellipsis, tw::slice(none, none, 2)}]; }, f32(2, 3, 4, 5));
    s.result(f32(2, 4), [](Tensor x) { return x[{ellipsis}][{all, -1}]; }, f32(2, 3, 4));
    s.result(f32(), [](Tensor x) { return x[{1, -1}]; }, f32(2, 3));
    s.result(f32(2, 2, 3), [](Tensor x) { return x[x.ir().constant({1, 0, 1, 1}, {2, 2}, tw::int32)]; }, f32(2, 3));
    s.result(f32(2, 3), [](Tensor x) { return x[x.ir().constant({1, 0, 1}, {3}, tw::boolean)]; }, f32(2, 3));
    s.result(f32(2, 3), [](Tensor x) { return ops::slice(x, {}, {}, {}, 1); }, f32(2, 3));  // x itself
    s.result(f32(2, 2), [](Tensor x) { return ops::slice(x, 1, none, none, {-1}); }, f32(2, 3));
    s.error(
        "Slice: (8, 4) float32, [3:3] along axis 0: at least one element expected, in graph",
        [](Tensor x) { return x[tw::slice(3, 3)]; }, f32(8, 4));
    s.error(
        "Slice: (8, 4) float32, [::0] along axis 1: a step that is not 0 expected, in graph",
        [](Tensor x) { return x[{all, tw::slice(none, none, 0)}]; }, f32(8, 4));
    s.error(
        "Slice: (8, 4) float32, with 1 and with 2 positions: lists of one length expected, in graph",
        [](Tensor x) { return ops::slice(x, {1, 2}, 3); }, f32(8, 4));
    s.error(
        "Slice: (8, 4) float32 along axis 2: an axis from -2 to 1 expected, in graph",
        [](Tensor x) { return ops::slice(x, 1, none, none, 2); }, f32(8, 4));
    s.error(
        "Slice: (8, 4) float32 along axis 0 twice: distinct axes expected, in graph",
        [](Tensor x) { return ops::slice(x, {1, 1}, none, none, {0, -2}); }, f32(8, 4));
    s.error(
        "Slice: (8, 4) float32, with 2 positions along 1 axes: equal numbers of positions and axes expected, in graph",
        [](Tensor x) { return ops::slice(x, {1, 1}, none, none, 0); }, f32(8, 4));
    s.error(
        "Slice: (8, 4) float32, with 3 positions: at most one for each of its 2 axes expected, in graph",
        [](Tensor x) { return ops::slice(x, {1, 1, 1}); }, f32(8, 4));
    s.error(
        "Slice: (8, 4) float32 by 3 indices: at most one for each of its 2 axes expected, in graph",
        [](Tensor x) { return x[{0, 0, 0}]; }, f32(8, 4));
    s.error(
        "Slice: (8, 4) float32 by 2 ellipses: at most one expected, in graph", [](Tensor x) { return x[{ellipsis, ellipsis}]; },
        f32(8, 4));
    s.error(
        "Slice: (8, 4) float32, element -5 along axis 1: one from -4 to 3 expected, in graph",
        [](Tensor x) { return x[{all, -5}]; }, f32(8, 4));
    s.error(
        "x[...]: Tensor[float32 (8, 4)] as index of Tensor[float32 (8, 4)]: integers, or a mask of bools, expected, in graph",
        [](Tensor x) { return x[x]; }, f32(8, 4));
    s.error(
        "Subsample: (8, 4) float32 by (1, 1, 2): at most a stride for each axis expected, in graph",
        [](Tensor x) { return ops::subsample(x, {1, 1, 2}); }, f32(8, 4));
    s.error(
        "Subsample: (8, 4) float32 by (0,): strides above 0 expected, in graph", [](Tensor x) { return ops::subsample(x, 0); },
        f32(8, 4));
    s.error(
        "Split: (8, 4) float32 into 3 parts along axis 0: a number that divides 8 expected, in graph",
        [](Tensor x) { return ops::split(x, 3)[0]; }, f32(8, 4));
    s.error(
        "Split: (8, 4) float32 into parts with the sum 5 along axis 1: the sum 4 expected, in graph",
        [](Tensor x) { return ops::split(x, {2, 3}, -1)[1]; }, f32(8, 4));
    s.error(
        "Split: (8, 4) float32 into parts of 0 along axis 1: extents above 0 expected, in graph",
        [](Tensor x) { return ops::split(x, {4, 0}, 1)[1]; }, f32(8, 4));
    s.error(
        "Split: (8, 4) float32 along axis 2: an axis from -2 to 1 expected, in graph",
        [](Tensor x) { return ops::split<2>(x, 2)[0]; }, f32(8, 4));
  }
  static constexpr void handles(auto& list) {
    list.add("slice", [] { (void)ops::slice(Tensor()); });
    list.add("slice_", [] { (void)ops::slice_(Tensor()); });
    list.add("flip", [] { (void)ops::flip(Tensor()); });
    list.add("subsample", [] { (void)ops::subsample(Tensor(), Shape{2}); });
    list.add("subsample", [] { (void)ops::subsample(Tensor(), 0); });
    list.add("split", [] { (void)ops::split(Tensor(), 2); });
    list.add("split", [] { (void)ops::split<2>(Tensor()); });
  }
};
struct Squeeze : OpTest {
  static constexpr std::string_view op = "Squeeze";
  static constexpr void compared(In<slices>, const auto& c) {
    c.add("squeeze", [](Tensor x) { return x.squeeze(); }, f32(1, 3, 1, 4));
    c.add("squeeze_axes", [](Tensor x) { return x.squeeze({0, -2}); }, f32(1, 3, 1, 1));
    c.add("squeeze_transposed", [](Tensor x) { return x.T().squeeze(1); }, f32(4, 1, 3));
  }
  static constexpr void edges(const auto& c) {
    c.add("squeeze", [](Tensor x) { return ops::squeeze(x, {1}) * 1; }, c.real({6, 1}));
  }
  static constexpr void shapes(const auto& s) {
    s.error(
        "Squeeze: (1, 4) float32 without axis 1, whose extent is 4: an extent of 1 expected, in graph",
        [](Tensor x) { return x.squeeze(1); }, f32(1, 4));
    s.error(
        "Squeeze: (1, 4) float32 without axis -2, which is given twice: distinct axes expected, in graph",
        [](Tensor x) { return x.squeeze({0, -2}); }, f32(1, 4));
    s.error(
        "Squeeze: (1, 4) float32 without axis 2: an axis from -2 to 1 expected, in graph", [](Tensor x) { return x.squeeze(2); },
        f32(1, 4));
  }
  static constexpr void handles(auto& list) {
    list.add("squeeze", [] { (void)ops::squeeze(Tensor()); });
  }
};
struct Diagonal : OpTest {
  static constexpr std::string_view op = "Diagonal";
  static void meanings(auto& m) {
    m.view({op, "DiagonalInplace"}, [](const tw::Node&, const Index& index, const Shape& input, const Shape&) {
      return number_of({index[0], index[0]}, input);
    });
    m["DiagonalMatrix"] = [](const tw::Node&, Inputs inputs, Specs outputs) {
      Array result(outputs[0]);
      for (std::size_t i = 0; i < inputs[0].size(); ++i) result[i * at(result.extent(1)) + i] = inputs[0][i];
      return std::vector{result};
    };
  }
  static constexpr void compared(In<concats>, const auto& c) {
    c.add("diag_square", [](Tensor x) { return x.diag(); }, f32(4, 4));
    c.add("diag_wide", [](Tensor x) { return x.diag(); }, f32(3, 5));
    c.add("diag_tall", [](Tensor x) { return x.diag(); }, f32(5, 3));
    c.add("diag_of_vector", [](Tensor x) { return ops::diag(x); }, f32(4));
  }
  static constexpr void edges(const auto& c) {
    c.add("diagonal", [](Tensor x) { return ops::diag(ops::diag(x)); }, c.real({3, 3}));
  }
  static constexpr void shapes(const auto& s) {
    s.error(
        "Diagonal: (1, 4, 2) float32: a matrix or a vector expected, in graph", [](Tensor x) { return x.diag(); }, f32(1, 4, 2));
  }
  static constexpr void handles(auto& list) {
    list.add("diag", [] { (void)ops::diag(Tensor()); });
  }
};

}  // namespace op_tests
