#pragma once
// All that is tested of an op is one struct in one file of this folder; ops of one header share a file. Its members, and who runs
// them:
//
//   op               the op's name                                   coverage, edges/ops, random_programs/ops
//   meanings(m)      what it computes, in float64                    random programs, and the values of `cases`
//   cases(c)         programs of one op: c.add(name, op, inputs...), and c.add_forward without a gradient
//                                                                    run/ops/ops_in_files
//   compared(In<program>, c)         c.add(name, op, inputs...), whose values are those of tests/reference
//                                                                    that program of run/cases
//   fixtures(c)      rows: c.add(program, name, op), of several programs
//   edges(c)         c.add(name, op, inputs...), whose values are those of tests/reference/edge_values.txt
//                                                                    edges
//   shapes(s)        s.result(spec, op, inputs...), s.error(text, op, inputs...)
//                                                                    static/ops/ops_in_files
//   random(x, random, gradients)   a step of random programs that takes an `input`; random_in_place(x, random), and
//                    random_of_two(a, b, random, gradients)          random_programs
//   numbers(list)    wrong numbers as options                        run/wrong_numbers/ops
//   handles(list)    handles of nothing                              run/programs/no_handles
//
// Inputs of cases are odd multiples of 1/32 from -2 to 2, so that no element is where a function jumps. Inputs of cases that
// end in `_edges` are numbers at the edges of the dtype, NaN among them; such a case has one input, and `slope(x)`, its
// derivative, is a member.
#include <array>
#include <cmath>
#include <optional>

#include "../random_programs/known.hpp"
#include "../random_programs/semantics_common.hpp"

namespace op_tests {

namespace tw = tilewright;
namespace ops = tw::ops;
using random_programs::Array, random_programs::Index, random_programs::index_of, random_programs::number_of;
using random_programs::Elements, random_programs::Input, random_programs::Known, random_programs::Random;
using random_programs::larger, random_programs::smaller;
using tw::all, tw::ellipsis, tw::none;
using namespace random_programs::meaning;  // what `meanings` are made of
using tw::DType, tw::Shape, tw::Tensor, tw::TensorSpec;

using Function = Tensor (*)(Tensor);
using Function2 = Tensor (*)(Tensor, Tensor);
using Result = std::optional<Elements>;  ///< nothing: elements that the op does not take

/// Programs of tests/run/cases, which state the dtype and, unless a case does, the shape.
enum class Program : std::uint8_t {
  float32,
  half,
  functions,
  steps,  ///< where the derivative jumps
  special,  ///< zeros, infinities and NaN; without gradients
  predicates,
  integers,
  narrow_integers,  ///< of less than 64 bits
  numbers_of_int32,
  precision,  ///< float16 and float64
  precision_of_steps,
  precision_of_two,
  smooth_precision_of_two,
  powers,
  choices,
  arithmetic_of_floats,
  arithmetic_in_bfloat16,
  floats,  ///< bfloat16, too
  exact,  ///< all digits of float64
  at_edges,  ///< of float16 and bfloat16
  at_edges_of_float32,
  at_edges_of_float16,
  at_edges_of_exponents,
  few_elements,
  in_bfloat16,
  selections,
  sums_of_functions,
  ties,
  of_integers,
  reduced_half,
  reduced_double,
  reduced_floats,
  in_tiles,
  in_parts,
  in_place_of_input,
  in_place_of_product,
  matrices_and_arithmetic,
  functions_and_reductions,
  softmax_and_losses,
  half_precision,
  integers_and_casts,
  normalisation,
  variable_updates,
  optimisers,
  adam_in,
  double_updates,
  half_precision_norms_and_updates,
  convolutions,
  half_convolutions,
  other_gradients,
  without_steps,
  signed_integers,
  of_precision,
  doubles,
  halves,
  doubles_without_steps,
  slices,
  readers_of_slices,
  concats,
  parts_in_place,
  parts_of_other_dtypes,
  gathers,
  scatters,
  scattered_extremes,
  scattered_ties,
  indexed_slices,
  indexed_dtypes,
  indexed_gradients,
  sparse_accumulations,
  lines,
  indices,
  half_reductions,
  double_reductions,
  reductions_of_other_dtypes,
  reductions_in_tiles,
  losses_in_parts,
  random_numbers,
  dropouts,
  other_dropouts_and_seeds,
  transposed_convolutions,
  normalisation_of_batches,
  images,
  pools_with_gaps,
  networks_in_float64,
  networks_in_float16,
  other_networks,
  products_of_integers,
  smooth_losses,
  losses_with_kinks,
  losses_at_their_edges,
  losses_of_many_rows,
  attentions,
  attentions_in_blocks,
  attentions_in_half,
  bfloat16_norm,
  bfloat16_attention,
  views_of_elements,
  views_of_lines,
  views_of_images,
  views_of_resized_images,
  views_at_indices,
  lines_of_one,
  images_of_one,
  indices_of_one,
  other_index_dtypes,
  interpolated_halves,
  second_of_functions,
  second_of_shapes,
  second_of_products,
  second_of_matrices,
  second_of_pools,
  second_of_norms,
  second_in_float32,
  second_of_losses,
  losses_at_edges,
  float16_at_edges,
  bfloat16_at_edges,
  float_arithmetic,
  float_lines_and_indices,
  exact_functions_and_losses,
  exact_networks,
  few_outer,
  more_of_integers
};
using enum Program;
inline constexpr Program last_program_of_rows = in_place_of_product;
/// The program that `fixtures` adds to.
template <Program>
struct In {};

/// A case of a program, of the function's name and the program's shape, or of others.
struct Row {
  Program program;
  std::optional<tw::Shape> a{}, b{};
  std::string_view name{};
  constexpr Row(Program given) : program(given) {}
  constexpr Row(Program given, const tw::Shape& own_a, std::string_view own_name = {})
      : program(given), a(own_a), name(own_name) {}
  constexpr Row(Program given, const tw::Shape& own_a, const tw::Shape& own_b, std::string_view own_name = {})
      : program(given), a(own_a), b(own_b), name(own_name) {}
};

struct Step {
  Tensor tensor;
  Elements elements;
};

/// Of f32(2, 3), or f32(2, 3).
template <DType dtype>
struct SpecOf {
  constexpr TensorSpec operator()(auto... extents) const { return {{extents...}, dtype}; }
  constexpr TensorSpec operator()(const Shape& shape) const { return {shape, dtype}; }
};
inline constexpr SpecOf<tw::float16> f16;
inline constexpr SpecOf<tw::float32> f32;
inline constexpr SpecOf<tw::float64> f64;
inline constexpr SpecOf<tw::int32> i32;
inline constexpr SpecOf<tw::uint32> u32;
inline constexpr SpecOf<tw::boolean> bools;
/// Of any dtype.
constexpr TensorSpec spec_of(DType dtype, const Shape& shape) { return {shape, dtype}; }
inline constexpr TensorSpec seed_spec{{2}, tw::uint32};
inline constexpr DType moved_dtypes[] = {tw::boolean, tw::int8,   tw::int16,  tw::int32,   tw::int64,  tw::uint8,
                                         tw::uint16,  tw::uint32, tw::uint64, tw::float16, tw::float64};
inline constexpr DType integer_dtypes[] = {tw::int8,  tw::int16,  tw::int32,  tw::int64,
                                           tw::uint8, tw::uint16, tw::uint32, tw::uint64};

/// Base of all tests: nothing.
struct OpTest {
  static constexpr Input input = Input::none;
  static constexpr bool has_cases = false, changes_input = false;  ///< whether there are `cases` and `random_in_place`
  static void meanings(auto&) {}
  static constexpr void cases(const auto&) {}
  static constexpr void fixtures(const auto&) {}
  static constexpr void edges(const auto&) {}
  static constexpr void shapes(const auto&) {}
  static constexpr void numbers(auto&) {}
  static constexpr void handles(auto&) {}
  static constexpr std::optional<Step> random(const Known&, Random&, bool) { return std::nullopt; }
  static constexpr std::optional<Step> random_in_place(const Known&, Random&) { return std::nullopt; }
  static constexpr std::optional<Step> random_of_two(const Known&, const Known&, Random&, bool) { return std::nullopt; }
};

constexpr auto back = tw::slice(none, none, -1), every_second = tw::slice(none, none, 2), odd_ones = tw::slice(1, none, 2);
/// The elements of all tensors in a line.
constexpr Tensor joined(std::same_as<Tensor> auto... tensors) { return ops::concat({ops::flatten(tensors)...}); }
constexpr Tensor joined_squares(std::same_as<Tensor> auto... tensors) { return joined(tensors * tensors...); }
/// Images whose channels stand behind their pixels in memory.
constexpr Tensor channels_first(Tensor x) { return x.transpose({0, 3, 1, 2}); }

enum class Takes : std::uint8_t { floating_point, numbers, all };

/// Base of tests of functions of one tensor. D has `op` and `function`, their names, and `call(x)`, `value(x)`, `slope(x)` and
/// `random`. If values and edges stand in tests/reference, it has `rows`, which say in which programs. A function that is not
/// defined from -2 to 2 has `inside(x)`, a function of tensors whose results it takes.
template <class D>
struct UnaryTest : OpTest {
  static constexpr int count_of_edges = 64;  ///< numbers at the edges of a dtype
  static constexpr bool has_cases = true;
  static constexpr Takes takes = Takes::floating_point;

  static constexpr Tensor inside(Tensor x) { return x; }
  static void meanings(auto& m) { m.unary(D::op, D::value); }
  static constexpr void cases(const auto& c) {
    const auto name = [](std::string_view form) { return tw::text(D::function, form); };
    const auto call = [](Tensor x) { return D::call(D::inside(x)); };
    c.add(name("").view(), call, c.real({2, 19}));
    c.add(name("_scalar").view(), call, c.real({}));
    c.add(name("_view").view(), [=](Tensor x) { return call(x.transpose({1, 0})); }, c.real({3, 5}));
    c.add(name("_edges").view(), D::call, c.real({count_of_edges}));
  }
  static constexpr void fixtures(const auto& c) {
    if constexpr (requires { D::rows; })
      for (const Row& row : D::rows) {
        Function function = D::call;
        if constexpr (requires { D::in_place(Tensor()); })
          if (row.program == in_place_of_input || row.program == in_place_of_product) function = D::in_place;
        c.add(row.program, row.name.empty() ? D::function : row.name, function, row.a.value_or(c.shape));
      }
  }
  static constexpr void edges(const auto& c) {
    if constexpr (requires { D::rows; }) c.add(D::function, D::call, c.real({8}));
  }
  static constexpr void shapes(const auto& s) {
    for (const DType dtype : {tw::float16, tw::bfloat16, tw::float32, tw::float64})
      s.result({{2, 3}, dtype}, D::call, TensorSpec{{2, 3}, dtype});
    if (D::takes != Takes::floating_point) s.result(i32(2), D::call, i32(2));
    const auto error = [](std::string_view given, std::string_view expected) {
      return tw::text(D::op, ": (2,) ", given, ": ", expected, " expected", given == "bool" ? ": cast it first" : "",
                      ", in graph");
    };
    if (D::takes == Takes::floating_point)
      s.error(error("int32", "float16, float32, float64 or bfloat16").view(), D::call, i32(2));
    if (D::takes == Takes::numbers) s.error(error("bool", "a dtype other than bool").view(), D::call, bools(2));
  }
  static constexpr void handles(auto& list) {
    list.add(D::function, [] { (void)D::call(Tensor()); });
    if constexpr (requires { D::in_place(Tensor()); }) list.add(D::function, [] { (void)D::in_place(Tensor()); });
  }
};

/// Base of those that have no other values. D has `elements(x)`, those of the result for such elements.
template <class D>
struct FunctionTest : UnaryTest<D> {
  static constexpr Input input = Input::real;
  static constexpr bool has_cases = false, changes_input = requires { D::in_place(Tensor()); };

  static constexpr void cases(const auto&) {}
  static constexpr std::optional<Step> random(const Known& x, Random&, bool) {
    const Result result = D::elements(x.elements);
    return result ? std::optional(Step{D::call(x.tensor), *result}) : std::nullopt;
  }
  static constexpr std::optional<Step> random_in_place(const Known& x, Random&) {
    if constexpr (changes_input)
      if (const Result result = D::elements(x.elements); result && result->bound() <= 32)
        return Step{D::in_place(x.tensor), *result};
    return std::nullopt;
  }
};

/// Base of those of roundings: a slope of 0, and steps of random programs on exact elements only.
template <class D>
struct StepTest : UnaryTest<D> {
  static constexpr Input input = Input::kinked;
  static double slope(double) { return 0; }
  static constexpr std::optional<Step> random(const Known& x, Random&, bool gradients) {
    if (!x.is_real() || !x.exact() || gradients) return std::nullopt;
    return Step{D::call(x.tensor), {x.elements.low - 1, x.elements.high + 1, 0, 0}};
  }
};

/// Base of those of smooth functions, whose second derivatives are tested, too. D has `Op`, the op's type, and `bend(v)`: its
/// slope as a function of what the gradient reads, x or y.
template <class D>
struct SmoothTest : UnaryTest<D> {
  static constexpr Input input = Input::real;

  static double bend(double x) { return D::slope(x); }
  static void meanings(auto& m) {
    UnaryTest<D>::meanings(m);
    m.binary(tw::UnaryGrad<typename D::Op>::name, [](double v, double dy) { return dy * D::bend(v); });
  }
  static constexpr void cases(const auto& c) {
    UnaryTest<D>::cases(c);
    if (tw::is_half(c.dtype)) return;  // whose gradient reads what is rounded
    const auto slope = [](Tensor x) {
      const Tensor inside = D::inside(x), one = x.ir().constant({1}, {}, x.dtype());
      const bool is_of_input = D::Op::gradient_from == tw::GradientFrom::input;
      return tw::apply<tw::UnaryGrad<typename D::Op>>({is_of_input ? inside : D::call(inside), one});
    };
    c.add(tw::text(D::function, "_slope").view(), slope, c.real({2, 19}));
  }
};

}  // namespace op_tests
