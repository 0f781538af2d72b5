#pragma once
#include <bit>
#include <tuple>

#include "tilewright/core/philox.hpp"
#include "tilewright/op/elementwise.hpp"
#include "tilewright/ops/shape/shape.hpp"

namespace tilewright {

/// Base of ops whose elements depend on their positions and on a seed, which is their last input.
template <class D>
struct RandomOp : Op<D> {
  // Loops, not arrays: an element is made of its position.
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::map}; }
  constexpr operator VertexCost() const { return map_cost({6, 2}, {6, 4}); }
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true, .takes_positions = true}; }

  static constexpr bool require_seed(Inference& op, int input) {
    const TensorSpec& seed = op.input(input);
    if (seed == TensorSpec{{2}, uint32}) return true;
    op.fail("seed ", to_text(seed), ": (2,) uint32 expected");
    return false;
  }
  static constexpr Work work(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&) {
    Work work;
    const Shape& result = operands[static_cast<std::size_t>(input_count)].shape;
    for (int axis = 0; axis < result.rank; ++axis) {
      work.add_axis({.extent = result[axis], .vectorised = axis == result.rank - 1});
      for (int o = 0; o < static_cast<int>(operands.size()); ++o)
        if (o != input_count - 2) work.follow(o, axis, axis);  // all but the seed
    }
    return work;
  }
};

namespace detail {

struct RandomAttributes {
  AxisList shape{};
  std::int64_t dtype = 0;
  double first = 0, second = 1;  ///< low and high, or mean and standard deviation
  constexpr DType type() const { return static_cast<DType>(dtype); }
};
constexpr RandomAttributes random_attributes(const Shape& shape, DType dtype, double first, double second) {
  return {axis_list(shape), static_cast<std::int64_t>(dtype), first, second};
}

/// Bounds of random_uniform, in the dtype of its result.
struct UniformBounds {
  double low = 0, scale = 0;
  double most = 0;  ///< the largest element below high
  bool valid = false;
};
template <class T, class Bits>
constexpr UniformBounds rounded_bounds(double low, double high) {
  const T from = static_cast<T>(low), to = static_cast<T>(high);
  constexpr auto sign_bit = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
  const auto bits = std::bit_cast<Bits>(to);
  const T before = std::bit_cast<T>(static_cast<Bits>(to > 0 ? bits - 1 : to < 0 ? bits + 1 : sign_bit | 1));
  return {static_cast<double>(from), static_cast<double>(to) - static_cast<double>(from), static_cast<double>(before), from < to};
}
constexpr UniformBounds uniform_bounds(double low, double high, DType dtype) {
  if (!is_finite_as(low, dtype) || !is_finite_as(high, dtype)) return {};
  UniformBounds bounds = dtype == float16    ? rounded_bounds<float16_t, std::uint16_t>(low, high)
                         : dtype == bfloat16 ? rounded_bounds<bfloat16_t, std::uint16_t>(low, high)
                         : dtype == float32  ? rounded_bounds<float, std::uint32_t>(low, high)
                                             : rounded_bounds<double, std::uint64_t>(low, high);
  bounds.valid = bounds.valid && is_finite_as(bounds.scale, dtype == float64 ? float64 : float32);
  return bounds;
}

}  // namespace detail

/// Base of random numbers of a distribution: inputs (seed). D defines `require_numbers`, which fails for invalid parameters.
template <class D>
struct RandomNumbers : RandomOp<D> {
  static constexpr Differentiation differentiation = Differentiation::stops;
  using Attributes = detail::RandomAttributes;
  static constexpr void infer(Inference& op) {
    const auto attributes = op.attributes<Attributes>();
    const DType dtype = attributes.type();
    const Shape shape = attributes.shape.shape();
    if (!D::require_seed(op, 0)) return;
    if (!is_floating_point(dtype)) return op.fail(to_text(dtype), ": ", floating_point_dtypes(), " expected");
    for (int axis = 0; axis < shape.rank; ++axis)
      if (shape[axis] < 1) return op.fail("shape ", to_text(shape), ": extents above 0 expected");
    if (D::require_numbers(op, attributes)) op.output({shape, dtype});
  }
};

/// Uniform random numbers of a seed: inputs (seed).
struct RandomUniform : RandomNumbers<RandomUniform> {
  static constexpr std::string_view name = "RandomUniform";
  static constexpr bool require_numbers(Inference& op, const Attributes& attributes) {
    if (detail::uniform_bounds(attributes.first, attributes.second, attributes.type()).valid) return true;
    op.fail("low ", number_text(attributes.first), " and high ", number_text(attributes.second), " of ",
            to_text(attributes.type()), ": low below high, and their difference finite, expected");
    return false;
  }
  template <PackedAttributes A, class Seed, class Positions, class Y>
  static void compute(Seed seed, Positions positions, Y y);
};

/// Normal random numbers of a seed: inputs (seed).
struct RandomNormal : RandomNumbers<RandomNormal> {
  static constexpr std::string_view name = "RandomNormal";
  constexpr operator VertexCost() const { return map_cost({12, 2}, {10, 4}); }
  static constexpr bool require_numbers(Inference& op, const Attributes& attributes) {
    const double mean = attributes.first, deviation = attributes.second;
    const DType dtype = attributes.type();
    if (detail::is_finite_as(mean, dtype) && detail::is_finite_as(deviation, dtype) && deviation >= 0) return true;
    op.fail("mean ", number_text(mean), " and standard deviation ", number_text(deviation), " of ", to_text(dtype),
            ": finite numbers, the second at least 0, expected");
    return false;
  }
  template <PackedAttributes A, class Seed, class Positions, class Y>
  static void compute(Seed seed, Positions positions, Y y);
};

namespace detail {
/// Returns how many of the 2^32 values of a word drop an element.
constexpr std::uint32_t dropout_threshold(double p) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(static_cast<std::uint64_t>(p * 0x1p32 + 0.5), 0xffffffff));
}
/// Fails unless p, called `what`, is a probability of at least 0 and below 1.
constexpr bool require_probability(Inference& op, std::string_view what, double p) {
  if (p >= 0 && p < 1) return true;
  op.fail(what, " ", number_text(p), ": a number of at least 0, and below 1, expected");
  return false;
}
struct SameElement {
  template <class X>
  auto operator()(const X& x) const -> X {
    return x;
  }
};
}  // namespace detail

/// x times 0 or 1 / (1 - p), at random: inputs (x, seed). The op is linear in x, so it is its own gradient.
struct Dropout : RandomOp<Dropout> {
  static constexpr std::string_view name = "Dropout";
  constexpr operator Fusion() const { return Fusion{.elementwise = true}; }
  struct Attributes {
    double p = 0;
  };
  static constexpr void infer(Inference& op) {
    if (!op.require_floating_point(0) || !require_seed(op, 1)) return;
    if (detail::require_probability(op, "p", op.attributes<Attributes>().p)) op.output(op.input(0));
  }
  static constexpr void gradient(GradientContext& op) {
    if (op.needs(0)) op.input_gradient(0, apply<Dropout>({op.output_gradient(0), op.input(1)}, op.attributes<Attributes>()));
  }
  template <PackedAttributes A, class X, class Seed, class Positions, class Y>
  static void compute(X x, Seed seed, Positions positions, Y y);
};

/// Factors of dropout for a shape: inputs (seed).
struct DropoutMask : RandomOp<DropoutMask> {
  static constexpr std::string_view name = "DropoutMask";
  static constexpr Differentiation differentiation = Differentiation::stops;
  using Attributes = detail::RandomAttributes;  // first: the probability of 0
  static constexpr void infer(Inference& op) {
    const auto attributes = op.attributes<Attributes>();
    op.output({attributes.shape.shape(), attributes.type()});
  }
  template <PackedAttributes A, class Seed, class Positions, class Y>
  static void compute(Seed seed, Positions positions, Y y);
};
/// x times a mask that broadcasts to it: inputs (x, mask of the type in which x is computed).
struct DropoutProduct : Elementwise<DropoutProduct> {
  static constexpr std::string_view name = "DropoutProduct";
  constexpr operator VertexCost() const { return binary_map_cost({5, 2}, {5, 4}); }
  static constexpr void infer(Inference& op) { op.output(op.input(0)); }
  template <class X>
  static X forward(X x, X factor) {
    return x * factor;
  }
};
/// Dropout of whole slices: inputs (x, seed). A mask of a smaller shape is broadcast to x.
struct ShapedDropout : Op<ShapedDropout> {
  static constexpr std::string_view name = "ShapedDropout";
  struct Attributes {
    detail::AxisList shape{};
    double ratio = 0;
  };
  static constexpr void infer(Inference& op) {
    const auto attributes = op.attributes<Attributes>();
    const Shape mask = attributes.shape.shape(), &whole = op.input(0).shape;
    if (!op.require_floating_point(0) || !Dropout::require_seed(op, 1)) return;
    if (const auto common = broadcast(mask, whole); !common || *common != whole)
      return op.fail("mask of ", to_text(mask), " for ", to_text(op.input(0)), ": a shape that broadcasts to ", to_text(whole),
                     " expected");
    if (detail::require_probability(op, "ratio", attributes.ratio)) op.output(op.input(0));
  }
  static constexpr void gradient(GradientContext& op) {
    if (op.needs(0))
      op.input_gradient(0, apply<ShapedDropout>({op.output_gradient(0), op.input(1)}, op.attributes<Attributes>()));
  }
  static constexpr List<OpPart> expand(std::span<const TensorSpec> operands, int, const PackedAttributes& packed) {
    const auto attributes = unpack<Attributes>(packed);
    if (attributes.shape.shape() == operands[0].shape)
      return {OpPart{&op_info<Dropout>, pack(Dropout::Attributes{attributes.ratio}), {0, 1}}};
    const DType dtype = operands[0].dtype == float64 ? float64 : float32;
    const TensorSpec mask{attributes.shape.shape(), dtype};
    return {OpPart{&op_info<DropoutMask>, pack(detail::random_attributes(mask.shape, dtype, attributes.ratio, 0)), {1}, {mask}},
            OpPart{&op_info<DropoutProduct>, {}, {0, 2}}};
  }
};

/// A seed that is derived from another one and a number, the modifier: inputs (seed[, modifier]).
struct CreateRandomSeed : Op<CreateRandomSeed> {
  static constexpr std::string_view name = "CreateRandomSeed";
  constexpr operator VertexCost() const { return loop_cost(CostFormula::other, {20, 1}, {20, 1}); }
  constexpr operator OpKind() const { return OpKind{.work_kind = WorkKind::map}; }
  constexpr operator KernelOperands() const { return KernelOperands{.any_layout = true}; }
  static constexpr Differentiation differentiation = Differentiation::stops;
  struct Attributes {
    std::int64_t modifier = 0;  ///< used if the modifier is not an input
  };
  static constexpr void infer(Inference& op) {
    if (!Dropout::require_seed(op, 0)) return;
    if (op.input_count() == 2) {
      const auto& [shape, dtype] = op.input(1);
      if (shape.nelms() != 1 || (dtype != int32 && dtype != uint32 && dtype != int64 && dtype != uint64))
        return op.fail("modifier ", to_text(op.input(1)), ": one element of int32, uint32, int64 or uint64 expected");
    }
    op.output(op.input(0));
  }
  template <PackedAttributes A, class Seed, class... Rest>
  static void compute(Seed seed, Rest... rest) {
    auto operands = std::tie(rest...);
    auto modifier = static_cast<std::uint64_t>(unpack<Attributes>(A).modifier);
    if constexpr (sizeof...(Rest) == 2) modifier = static_cast<std::uint64_t>(std::get<0>(operands).data[0]);
    const auto words = philox({static_cast<std::uint32_t>(modifier), static_cast<std::uint32_t>(modifier >> 32), 0,
                               static_cast<std::uint32_t>(detail::PhiloxUse::child_seeds)},
                              {seed.data[0], seed.data[Seed::spec.stride(0)]});
    auto& result = std::get<sizeof...(Rest) - 1>(operands);
    for (std::size_t i = 0; i < 2; ++i) result.data[i] = words[i];
  }
};

namespace ops {
/// Returns random numbers, uniform in [low, high), from a seed, (2,) uint32. shape: extents above 0. dtype: float16, bfloat16,
/// float32 or float64. low and high are rounded to the dtype. Elements are low + (high - low) u, where u is a multiple of 2^-24
/// (float64: 2^-53) in [0, 1). They are rounded to the dtype: half precision rounds down, so that the probability of a number is
/// proportional to its distance to the next one. Other dtypes round to nearest, but high is replaced by the largest number below
/// it.
///
/// An element depends on the seed and on its row-major index only, so ops with one seed draw equal numbers; see
/// docs/how-to/random.md. No gradient passes. Errors: another seed or dtype; low not below high, or not finite.
[[nodiscard]] constexpr Tensor random_uniform(Tensor seed, const Shape& shape, double low = 0, double high = 1,
                                              DType dtype = float32) {
  return apply<RandomUniform>({seed}, detail::random_attributes(shape, dtype, low, high));
}
/// Returns random numbers of a normal distribution, mean + std z, from a seed, (2,) uint32. shape: extents above 0. dtype:
/// float16, bfloat16, float32 or float64. |z| is at most 6.67 (float64: 8.66).
///
/// An element depends on the seed and on its row-major index only, so ops with one seed draw equal numbers; see
/// docs/how-to/random.md. No gradient passes. Errors: another seed or dtype; mean or std not finite, or std below 0.
[[nodiscard]] constexpr Tensor random_normal(Tensor seed, const Shape& shape, double mean = 0, double std = 1,
                                             DType dtype = float32) {
  return apply<RandomNormal>({seed}, detail::random_attributes(shape, dtype, mean, std));
}
/// Sets each element of t to 0 with probability p, and multiplies the others by 1 / (1 - p). t: float16, bfloat16, float32 or
/// float64, of any shape; seed: (2,) uint32; p: at least 0, and below 1. The result has t's shape and dtype. NaN stays NaN, and a
/// dropped infinity becomes NaN, as in PyTorch.
///
/// The dropped elements depend on the seed and p only, not on the dtype. Gradient: dropout of dy with the same seed, so no mask
/// is stored. Errors: another seed, dtype or p.
[[nodiscard]] constexpr Tensor dropout(Tensor t, Tensor seed, double p) { return apply<Dropout>({t, seed}, {p}); }
/// Drops whole slices of t: makes one decision for each element of a tensor of `shape`, which is broadcast to t. `{n, 1}` drops
/// whole rows. Kept elements are multiplied by 1 / (1 - ratio). Operands are those of dropout. Gradient: shaped_dropout of dy
/// with the same seed. Errors: those of dropout; a shape that does not broadcast to t's.
[[nodiscard]] constexpr Tensor shaped_dropout(Tensor t, Tensor seed, const Shape& shape, double ratio) {
  return apply<ShapedDropout>({t, seed}, {detail::axis_list(shape), ratio});
}
/// Derives a seed, (2,) uint32, from a seed and a number. Seeds of different modifiers, and the original seed, give independent
/// random numbers. Errors: another seed.
constexpr Tensor create_random_seed(Tensor seed, std::int64_t modifier) { return apply<CreateRandomSeed>({seed}, {modifier}); }
/// Derives a seed, (2,) uint32, from a seed and a modifier that is a tensor: one element of int32, uint32, int64 or uint64, such
/// as the count of a loop's iterations. Equal to the seed for the number.
constexpr Tensor create_random_seed(Tensor seed, Tensor modifier) { return apply<CreateRandomSeed>({seed, modifier}, {}); }
/// Derives n new seeds: create_random_seed(seed, i) for i from 0 on; `const auto [a, b] = split_random_seed(seed).as<2>()`.
/// Errors: another seed; n below 1, or above 2^20.
[[nodiscard]] constexpr List<Tensor>&& split_random_seed(Tensor seed, int n = 2) {
  constexpr int most = 1 << 20;
  List<Tensor> seeds;
  if (n < 1 || n > most)
    seeds.push_back(seed.valid() ? seed.ir().fail(text("split_random_seed: ", n, " seeds: from 1 to ", most, " expected"))
                                 : seed);
  for (int i = 0; i < n && n <= most; ++i) seeds.push_back(create_random_seed(seed, i));
  return tilewright::detail::keep(seed.ir(), std::move(seeds));
}
}  // namespace ops

}  // namespace tilewright
