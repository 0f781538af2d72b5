#pragma once
#include <concepts>
#include <initializer_list>
#include <limits>
#include <optional>

#include "tilewright/core/dtype.hpp"
#include "tilewright/core/list.hpp"
#include "tilewright/core/number.hpp"
#include "tilewright/graph/emit.hpp"
#include "tilewright/operand/conv_sums.hpp"

namespace tilewright {

/// An optional dtype as an attribute of an op: one byte, so that attributes have no padding, which std::optional would add.
struct OptionalDType {
  std::uint8_t code = 0;  ///< 1 + the dtype; 0: none

  constexpr OptionalDType() = default;
  constexpr OptionalDType(DType dtype) : code(static_cast<std::uint8_t>(1 + static_cast<int>(dtype))) {}
  constexpr OptionalDType(std::optional<DType> dtype) : OptionalDType(dtype ? OptionalDType(*dtype) : OptionalDType()) {}

  constexpr bool given() const { return code != 0; }
  constexpr DType value_or(DType other) const { return given() ? static_cast<DType>(code - 1) : other; }
  friend constexpr bool operator==(OptionalDType, OptionalDType) = default;
};

namespace detail {
/// Returns whether a partials_type is one that PopXL takes. Fails if not.
constexpr bool require_partials_type(Inference& op, OptionalDType partials_type) {
  const DType dtype = partials_type.value_or(float32);
  if (dtype == float16 || dtype == float32) return true;
  op.fail("partials_type ", to_text(dtype), ": float16 or float32 expected");
  return false;
}
/// Adds a dtype that is given to the options of a printed op.
constexpr void add_dtype_option(List<Text>& options, std::string_view name, OptionalDType dtype) {
  if (dtype.given()) options.push_back(text(name, "=", to_text(dtype.value_or(float32))));
}
}  // namespace detail

/// Planner options of products and convolutions, as attributes: 2 words, all 0 without options. `partials_type` is the dtype of
/// partial sums: of float16 operands, and, if a sum is divided into blocks, of the blocks' sums. `available_memory_proportion`
/// limits the share of a tile's memory for a product on a simulated IPU. The planner uses both. Dithering exists for PopXL's
/// sake: printed graphs show it, and nothing else reads it.
struct PlannerAttributes {
  double available_memory_proportion = 0;
  std::int8_t has_proportion = 0;
  OptionalDType partials_type{};
  std::int8_t dithering = 0;  ///< 1: false, 2: true
  std::int8_t lists = 0;      ///< bits of lists with more than one element: proportions, partials types, dithering
  /// Of a convolution on the host, chosen by the planner: the number of images of a vertex, which share the points of weights in
  /// Winograd's form; 0: direct sums
  std::int8_t images_together = 0;
  /// Of the gradient of a convolution's weights on the host, chosen by the planner: the smallest number of images of a vertex,
  /// which makes a part of the sums; 0: a vertex has all images
  std::int8_t images_of_part = 0;
  std::int8_t takes_epilogue = 0;  ///< of a convolution on the host, chosen by the planner: 1 if it runs epilogues
  std::int8_t reserved[1] = {};

  static constexpr PlannerAttributes make(std::optional<double> proportion, std::optional<DType> partials_type) {
    PlannerAttributes result;
    if (proportion) result.available_memory_proportion = *proportion, result.has_proportion = 1;
    result.partials_type = partials_type;
    return result;
  }
  static constexpr PlannerAttributes make(const List<double>& proportions, const List<DType>& partials_types,
                                          const List<bool>& dithering) {
    PlannerAttributes result = make(proportions.empty() ? std::nullopt : std::optional(proportions[0]),
                                    partials_types.empty() ? std::nullopt : std::optional(partials_types[0]));
    if (!dithering.empty()) result.dithering = dithering[0] ? 2 : 1;
    result.lists = static_cast<std::int8_t>((proportions.size() > 1 ? 1 : 0) | (partials_types.size() > 1 ? 2 : 0) |
                                            (dithering.size() > 1 ? 4 : 0));
    return result;
  }
  /// Returns the proportion, or -1 if it is not set.
  constexpr double memory_proportion() const { return has_proportion != 0 ? available_memory_proportion : -1; }

  /// Fails for values that PopXL refuses.
  constexpr bool validate(Inference& op) const {
    constexpr std::string_view names[] = {"available_memory_proportions", "partials_types", "enable_conv_dithering"};
    for (int i = 0; i < 3; ++i)
      if (lists >> i & 1) return op.fail(names[i], " of several elements: one, or none, expected"), false;
    if (has_proportion != 0 && !(available_memory_proportion >= 0 && available_memory_proportion <= 1))
      return op.fail("available_memory_proportion ", number_text(available_memory_proportion), ": a number from 0 to 1 expected"),
             false;
    return detail::require_partials_type(op, partials_type);
  }
  /// Returns the options for a printed graph; empty if none are set.
  constexpr Text options() const {
    List<Text> given;
    if (has_proportion != 0) given.push_back(text("available_memory_proportion=", number_text(available_memory_proportion)));
    detail::add_dtype_option(given, "partials_type", partials_type);
    if (dithering != 0) given.push_back(text("enable_conv_dithering=", dithering == 2 ? "true" : "false"));
    if (images_together != 0) given.push_back(text("form=", kernel::form_name(sums_of(float32))));
    return join(given, ", ");
  }
  /// Whether kernels round their sums to float16: those of float16 operands, as the units of IPUs do.
  constexpr bool rounds_sums(DType operand) const { return partials_type == float16 && operand == float16; }
  constexpr kernel::ConvSums sums_of(DType operand) const { return kernel::conv_sums(rounds_sums(operand), images_together); }
};

namespace detail {
/// The value of a deprecated option, which printed graphs show and nothing else reads.
template <class T>
struct NoEffect {
  constexpr NoEffect() = default;
  template <std::convertible_to<T> U>
  [[deprecated("since 0.3.0: use the op without this option, which has no effect")]] constexpr NoEffect(const U& given)
      : value(given) {}
  template <class U>
    requires std::constructible_from<T, std::initializer_list<U>>
  [[deprecated("since 0.3.0: use the op without this option, which has no effect")]] constexpr NoEffect(
      std::initializer_list<U> given)
      : value(given) {}

  T value{};
};

/// The value of an unset `available_memory_proportion` in ops that have no other planner option. Printed graphs show the option,
/// and results do not depend on it.
inline constexpr double no_proportion = std::numeric_limits<double>::lowest();
constexpr double proportion_or_none(const std::optional<double>& proportion) { return proportion.value_or(no_proportion); }
constexpr bool require_proportion(Inference& op, double proportion) {
  if (proportion == no_proportion || (proportion >= 0 && proportion <= 1)) return true;
  op.fail("available_memory_proportion ", number_text(proportion), ": a number from 0 to 1 expected");
  return false;
}
constexpr Text proportion_option(double proportion) {
  if (proportion == no_proportion) return {};
  return text("available_memory_proportion=", number_text(proportion));
}
}  // namespace detail

/// Returns the planner options of ops whose Attributes have a member `planner`.
template <class Attributes>
constexpr Text planner_options(const PackedAttributes& packed) {
  return unpack<Attributes>(packed).planner.options();
}
/// Returns the partials_type of an op's attributes, which may be in a member `planner`.
template <class Attributes>
constexpr auto& partials_type_of(Attributes& attributes) {
  if constexpr (requires { attributes.planner; }) return attributes.planner.partials_type;
  else return attributes.partials_type;
}
/// The rule CutRules::partials_dtype of an op with a partials_type.
template <class Attributes>
constexpr DType partials_dtype(const PackedAttributes& packed, DType output) {
  const auto attributes = unpack<Attributes>(packed);
  return computes_in_float(output) ? partials_type_of(attributes).value_or(float32) : output;
}
/// The rule CutRules::with_partials_type of such an op.
template <class Attributes>
constexpr PackedAttributes with_partials_type(const PackedAttributes& packed, DType dtype) {
  auto attributes = unpack<Attributes>(packed);
  if (auto& own = partials_type_of(attributes); !own.given()) own = dtype;
  return pack(attributes);
}
/// How the planner divides such an op.
template <class Attributes>
inline constexpr CutRules planner_cut_rules{.partials_dtype = partials_dtype<Attributes>,
                                            .with_partials_type = with_partials_type<Attributes>};

}  // namespace tilewright
