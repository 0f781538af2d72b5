#pragma once
#include <array>
#include <cstddef>
#include <utility>

#include "tilewright/kernel/vector/half.hpp"
#include "tilewright/lower/draft/partition.hpp"
#include "tilewright/lower/plan.hpp"
#include "tilewright/op/elementwise.hpp"
#include "tilewright/operand/faults.hpp"

namespace tilewright::internal::detail {

using Extents = FixedVector<std::int64_t, max_work_axes>;

template <const OpTag* tag>
using OpType = typename decltype(op_of(ByTag<tag>{}))::type;

/// Where an operand of a vertex is: a location, or bytes from the begin of the scratch.
struct Address {
  Source source = Source::memory;
  int index = 0;
};
/// Pointer to an operand, as elements of type T. (Many operands share one, and compilers take time for each function.)
template <class T, Address address>
struct PointerTo {
  static T* in(std::byte* const* locations, std::byte* scratch) {
    if constexpr (address.source == Source::memory) return reinterpret_cast<T*>(locations[address.index]);
    else if constexpr (address.source == Source::scratch) return reinterpret_cast<T*>(scratch + address.index);
    else return nullptr;
  }
};

/// Operands of a compute set's stages for a vertex of the given extents.
template <const auto& plan, std::size_t set_index, Extents extents>
struct Block {
  static constexpr const ComputeSet& set = plan.compute_sets[set_index];
  static constexpr const Stage& stage(int s) { return plan.stages[static_cast<std::size_t>(set.first_stage + s)]; }
  static constexpr const StageOperand& operand(int s, int o) {
    return plan.operands[static_cast<std::size_t>(stage(s).first_operand + o)];
  }
  /// Returns the bytes from one block to the next along an axis of the grid.
  static constexpr std::int64_t stride(int axis, int location) {
    return plan.strides[static_cast<std::size_t>(set.first_stride + axis + location * set.blocks.size())];
  }
  static constexpr ViewSpec slice(int s, int o) { return slice_of(operand(s, o), extents); }
  template <int s, int o>
  using Element = element_t<operand(s, o).view.dtype>;
  template <int s>
  using OpOf = OpType<stage(s).op>;

  /// Returns where a stage reports faults: records follow the locations, one for each stage that can fault.
  template <int s>
  static Faults faults(std::byte* const* locations) {
    constexpr int number = [] {
      int before = 0;
      for (int earlier = 0; earlier < s; ++earlier) before += stage(earlier).can_fault ? 1 : 0;
      return before;
    }();
    return Faults(reinterpret_cast<FaultRecord*>(locations[set.location_count])[number]);
  }

  static constexpr Address address(int s, int o) { return {operand(s, o).source, operand(s, o).index}; }
};

/// Names an operand of a compute set: operand `operand` of stage `stage`.
struct Leaf {
  int stage = 0, operand = 0;
};

/// Values of an expression's leaves by number, in one object. (Compilers instantiate many functions of std::tuple for each.)
template <std::size_t number, class X>
struct LeafValue {
  const X& value;
};
template <class Numbers, class... X>
struct LeafValues;
template <std::size_t... numbers, class... X>
struct LeafValues<std::index_sequence<numbers...>, X...> : LeafValue<numbers, X>... {};
template <std::size_t number, class X>
const X& leaf_value(const LeafValue<number, X>& leaf) {
  return leaf.value;
}

/// The formula of stage s, with the formulas of its nested stages replacing their values: a function of the remaining operands,
/// the leaves, for floats and batches. The value of a nested stage is rounded to its dtype, as memory would round it.
template <class B, int s>
struct Expression {
  static constexpr int input_count = B::stage(s).input_count;
  static constexpr bool is_nested(int input) {
    const StageOperand& operand = B::operand(s, input);
    return operand.source == Source::value && B::stage(operand.index).evaluation == Evaluation::expression;
  }
  template <int input>
  using Nested = Expression<B, B::operand(s, input).index>;
  template <int input>
  static constexpr int leaves_of() {
    if constexpr (is_nested(input)) return Nested<input>::leaf_count;
    else return 1;
  }
  /// The number of the first leaf of each input. The last entry is the number of all leaves.
  static constexpr auto first_leaf = []<std::size_t... i>(std::index_sequence<i...>) {
    std::array<int, sizeof...(i) + 1> result{};
    ((result[i + 1] = result[i] + leaves_of<static_cast<int>(i)>()), ...);
    return result;
  }(std::make_index_sequence<static_cast<std::size_t>(input_count)>{});
  static constexpr int leaf_count = first_leaf.back();
  static constexpr auto leaves = [] {
    std::array<Leaf, static_cast<std::size_t>(leaf_count)> result{};
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      const auto take = [&]<int input>() {
        auto at = static_cast<std::size_t>(first_leaf[input]);
        if constexpr (is_nested(input))
          for (const Leaf& leaf : Nested<input>::leaves) result[at++] = leaf;
        else result[at] = {s, input};
      };
      (take.template operator()<static_cast<int>(i)>(), ...);
    }(std::make_index_sequence<static_cast<std::size_t>(input_count)>{});
    return result;
  }();

  /// Whether all stages with bools use masks for them.
  static constexpr bool bools_are_masks = []<std::size_t... i>(std::index_sequence<i...>) {
    bool result = op_info<typename B::template OpOf<s>>.bools_are_masks;
    if (!result) {
      result = true;
      for (int o = 0; o <= input_count; ++o) result = result && B::operand(s, o).view.dtype != boolean;
    }
    const auto all = [&]<int input>() {
      if constexpr (is_nested(input)) result = result && Nested<input>::bools_are_masks;
    };
    (all.template operator()<static_cast<int>(i)>(), ...);
    return result;
  }(std::make_index_sequence<static_cast<std::size_t>(input_count)>{});
  /// Whether it returns its only leaf unchanged.
  static constexpr bool is_copy = [] {
    if constexpr (requires { B::template OpOf<s>::copies; }) return input_count == 1 && !is_nested(0);
    else return false;
  }();

  /// Whether all its inputs are leaves.
  static constexpr bool is_flat = [] {
    for (int i = 0; i < input_count; ++i)
      if (is_nested(i)) return false;
    return true;
  }();

  template <class... X>
  auto operator()(const X&... x) const {
    if constexpr (is_flat) return Formula<typename B::template OpOf<s>, B::stage(s).attributes>()(x...);
    else return evaluate<0>(LeafValues<std::index_sequence_for<X...>, X...>{{x}...}, inputs);
  }
  /// Returns the value of the expression whose leaves are `values` from number `first` on.
  template <int first, class Values, std::size_t... i>
  static auto evaluate(const Values& values, std::index_sequence<i...>) {
    return Formula<typename B::template OpOf<s>, B::stage(s).attributes>()(
        input_value<first + first_leaf[i], static_cast<int>(i)>(values)...);
  }
  static constexpr std::make_index_sequence<static_cast<std::size_t>(input_count)> inputs{};

 private:
  template <int leaf, int input, class Values>
  static auto input_value(const Values& values) {
    if constexpr (is_nested(input))
      return kernel::rounded_to<typename B::template Element<s, input>>(
          Nested<input>::template evaluate<leaf>(values, Nested<input>::inputs));
    else return leaf_value<static_cast<std::size_t>(leaf)>(values);
  }
};

}  // namespace tilewright::internal::detail
