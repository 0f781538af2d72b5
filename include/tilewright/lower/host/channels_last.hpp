#pragma once
// takes: operations
// gives: layouts of images between convolutions, poolings and formulas
// keeps: all else
#include <bit>
#include <cstdint>

#include "tilewright/core/list.hpp"
#include "tilewright/lower/draft/body_draft.hpp"
#include "tilewright/rules/host/rules_of_ops.hpp"

namespace tilewright::internal {

namespace detail {

/// Chooses the images (N, C, H, W) with channels as the last axis of memory: convolutions in Winograd's form, and poolings, then
/// load and store whole vectors of channels, which they otherwise transpose or shuffle. An image has this layout if each op that
/// uses it supports the layout (HostRules::channels_last), and if a convolution that supports it for both of its images uses
/// the image, or one that formulas and poolings make of it.
class ChannelsLast {
 public:
  constexpr explicit ChannelsLast(BodyDraft& draft) : draft_(draft), chosen_(draft.storages.size(), false) {}

  constexpr void run() {
    if (!has_convolutions()) return;
    find_images();
    do {
      while (drop_unsupported()) {
      }
    } while (drop_apart());
    for (Operation& operation : draft_.operations)
      for (Value& value : operation.operands)
        if (is_chosen(value)) value.layout.strides = channels_last_strides(value.spec.shape);
  }

 private:
  constexpr bool is_chosen(const Value& value) const { return value.storage != StorageId::none && chosen_[value.storage]; }
  static constexpr bool is_convolution(const Operation& operation) {
    return !operation.is_call() && operation.op->work_kind == WorkKind::convolution;
  }
  constexpr bool has_convolutions() const {
    for (const Operation& operation : draft_.operations)
      if (is_convolution(operation)) return true;
    return false;
  }
  /// Chooses all images in the frame that only ops use, each as a whole.
  constexpr void find_images() {
    for (std::size_t s = 0; s < draft_.storages.size(); ++s) {
      const Storage& storage = draft_.storages[StorageId(s)];
      const Shape& shape = storage.whole.shape;
      chosen_[StorageId(s)] = storage.location.base == Base::frame && !storage.begins_undefined && shape.rank == 4 &&
                              shape[1] > 0 && shape[1] % channel_grain == 0 && shape[2] > 1 && shape[3] > 1;
    }
    for (const Operation& operation : draft_.operations)
      for (const Value& value : operation.operands)
        if (is_chosen(value) && (operation.is_call() || value.spec.shape != draft_.storage(value.storage).whole.shape ||
                                 !is_whole_and_dense(value, draft_.storage(value.storage))))
          chosen_[value.storage] = false;
  }
  /// Returns the chosen operands, as bits.
  constexpr std::uint32_t chosen_of(const Operation& operation) const {
    std::uint32_t bits = 0;
    for (std::size_t o = 0; o < operation.operands.size(); ++o)
      if (is_chosen(operation.operands[o])) bits |= std::uint32_t{1} << o;
    return bits;
  }
  /// Returns those of the operands `asked` for which the op supports the layout.
  static constexpr std::uint32_t supported(const Operation& operation, std::uint32_t asked) {
    if (operation.is_call()) return 0;
    if (is_formula(operation)) return formula_supports(operation, asked) ? asked : 0;
    const auto supports = host_rules_of(*operation.op).channels_last;
    if (!supports) return 0;
    const List<TensorSpec> specs = operand_specs(operation);
    return supports({specs.data(), specs.size()}, operation.attributes, asked);
  }
  /// Returns whether all operands of a formula that have its result's shape are asked for, and the others have runs of channels.
  static constexpr bool formula_supports(const Operation& operation, std::uint32_t asked) {
    const Shape& shape = operation.operands.back().spec.shape;
    for (std::size_t o = 0; o < operation.operands.size(); ++o) {
      const Value& value = operation.operands[o];
      const bool is_asked = (asked >> o & 1) != 0;
      if (value.spec.shape == shape ? !is_asked : is_asked || !has_channel_runs(value.spec.shape, value.layout)) return false;
    }
    return true;
  }
  /// Drops images that some op does not support. Returns whether there were any.
  constexpr bool drop_unsupported() {
    bool drops = false;
    for (const Operation& operation : draft_.operations)
      if (const std::uint32_t asked = chosen_of(operation); asked != 0)
        drops = drop(operation, asked & ~supported(operation, asked)) || drops;
    return drops;
  }
  /// Returns whether the op is a convolution with two images that have the layout: one in direct form has at most one.
  constexpr bool has_two_images(const Operation& operation, std::uint32_t chosen) const {
    const std::uint32_t all = (std::uint32_t{1} << operation.operands.size()) - 1;
    return chosen != 0 && is_convolution(operation) && std::popcount(supported(operation, all)) > 1;
  }
  /// Drops images that are not made, or used, by such a convolution, or by ops between them. Returns whether there were any.
  constexpr bool drop_apart() {
    PerStorage<bool> reached(draft_.storages.size(), false);
    for (bool grows = true; grows;) {
      grows = false;
      for (const Operation& operation : draft_.operations) {
        const std::uint32_t chosen = chosen_of(operation);
        bool is_reached = has_two_images(operation, chosen);
        if (chosen == 0 || (!is_reached && is_convolution(operation))) continue;
        for (const Value& value : operation.operands) is_reached = is_reached || (is_chosen(value) && reached[value.storage]);
        if (!is_reached) continue;
        for (const Value& value : operation.operands)
          if (is_chosen(value) && !reached[value.storage]) reached[value.storage] = grows = true;
      }
    }
    bool drops = false;
    for (std::size_t s = 0; s < draft_.storages.size(); ++s)
      if (chosen_[StorageId(s)] && !reached[StorageId(s)]) {
        chosen_[StorageId(s)] = false;
        drops = true;
      }
    return drops;
  }
  constexpr bool drop(const Operation& operation, std::uint32_t operands) {
    for (std::size_t o = 0; o < operation.operands.size(); ++o)
      if ((operands >> o & 1) != 0) chosen_[operation.operands[o].storage] = false;
    return operands != 0;
  }

  BodyDraft& draft_;
  PerStorage<bool> chosen_;
};

}  // namespace detail

/// Gives images between convolutions the layout in which channels are the last axis of memory.
constexpr void put_channels_last(BodyDraft& draft) { detail::ChannelsLast(draft).run(); }

}  // namespace tilewright::internal
