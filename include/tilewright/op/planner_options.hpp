#pragma once
#include <limits>
#include <optional>

#include "tilewright/core/list.hpp"
#include "tilewright/core/number.hpp"
#include "tilewright/graph/emit.hpp"
#include "tilewright/operand/conv_sums.hpp"

namespace tilewright {

/// Planner options of products and convolutions, as attributes: 2 words, all 0 without options. `partials_type` is the dtype of
/// partial sums: of float16 operands, and, if a sum is divided into blocks, of the blocks' sums. `available_memory_proportion`
/// limits the share of a tile's memory for a product on a simulated IPU. The planner uses both. Dithering exists for PopXL's
/// sake: printed graphs show it, and nothing else reads it.
struct PlannerAttributes {
  double available_memory_proportion = 0;
  std::int8_t has_proportion = 0;
  std::int8_t partials = 0;   ///< 1 + the dtype
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
    if (partials_type) result.partials = static_cast<std::int8_t>(1 + static_cast<int>(*partials_type));
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
  constexpr DType partials_type() const { return static_cast<DType>(partials - 1); }

  /// Fails for values that PopXL refuses.
  constexpr bool validate(Inference& op) const {
    constexpr std::string_view names[] = {"available_memory_proportions", "partials_types", "enable_conv_dithering"};
    for (int i = 0; i < 3; ++i)
      if (lists >> i & 1) return op.fail(names[i], " of several elements: one, or none, expected"), false;
    if (has_proportion != 0 && !(available_memory_proportion >= 0 && available_memory_proportion <= 1))
      return op.fail("available_memory_proportion ", number_text(available_memory_proportion), ": a number from 0 to 1 expected"),
             false;
    if (partials != 0 && partials_type() != float16 && partials_type() != float32)
      return op.fail("partials_type ", to_text(partials_type()), ": float16 or float32 expected"), false;
    return true;
  }
  /// Returns the options for a printed graph; empty if none are set.
  constexpr Text options() const {
    List<Text> given;
    if (has_proportion != 0) given.push_back(text("available_memory_proportion=", number_text(available_memory_proportion)));
    if (partials != 0) given.push_back(text("partials_type=", to_text(partials_type())));
    if (dithering != 0) given.push_back(text("enable_conv_dithering=", dithering == 2 ? "true" : "false"));
    if (images_together != 0) given.push_back(text("form=", kernel::form_name(sums_of(float32))));
    return join(given, ", ");
  }
  /// Whether kernels round their sums to float16: those of float16 operands, as the units of IPUs do.
  constexpr bool rounds_sums(DType operand) const { return partials != 0 && partials_type() == float16 && operand == float16; }
  constexpr kernel::ConvSums sums_of(DType operand) const { return kernel::conv_sums(rounds_sums(operand), images_together); }
  constexpr DType partials_dtype(DType output) const {
    if (!computes_in_float(output)) return output;
    return partials == 0 ? float32 : partials_type();
  }
};

namespace detail {
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
/// Returns the attributes of such an op with a partials_type, if they have none.
template <class Attributes>
constexpr PackedAttributes with_planner_partials(const PackedAttributes& packed, DType partials_type) {
  auto attributes = unpack<Attributes>(packed);
  if (attributes.planner.partials != 0) return packed;
  attributes.planner.partials = static_cast<std::int8_t>(1 + static_cast<int>(partials_type));
  return pack(attributes);
}
/// How the planner divides such an op.
template <class Attributes>
inline constexpr CutRules planner_cut_rules{
    .partials_dtype = [](const PackedAttributes& of,
                         DType output) { return unpack<Attributes>(of).planner.partials_dtype(output); },
    .with_partials_type = with_planner_partials<Attributes>};

}  // namespace tilewright
