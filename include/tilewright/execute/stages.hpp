#pragma once
#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

#include "tilewright/kernel/faults.hpp"
#include "tilewright/kernel/half.hpp"
#include "tilewright/kernel/line.hpp"
#include "tilewright/kernel/streamed_copy.hpp"
#include "tilewright/lower/partition.hpp"
#include "tilewright/lower/plan.hpp"
#include "tilewright/ops/elementwise.hpp"

namespace tilewright::internal::detail {

using Extents = FixedVector<std::int64_t, max_work_axes>;

template <const OpTag* tag>
using OpType = typename decltype(op_of(ByTag<tag>{}))::type;

template <ViewSpec spec>
inline View<spec> view_at(std::byte* data) {
  return {reinterpret_cast<element_t<spec.dtype>*>(data)};
}

/// The operands of a compute set's stages for a vertex of the given extents.
template <const auto& plan, std::size_t set_index, Extents extents>
struct Block {
  static constexpr const ComputeSet& set = plan.compute_sets[set_index];
  static constexpr const Stage& stage(int s) { return plan.stages[static_cast<std::size_t>(set.first_stage + s)]; }
  static constexpr const StageOperand& operand(int s, int o) {
    return plan.operands[static_cast<std::size_t>(stage(s).first_operand + o)];
  }
  static constexpr ViewSpec slice(int s, int o) { return slice_of(operand(s, o), extents); }
  template <int s, int o>
  using Element = element_t<operand(s, o).view.dtype>;
  template <int s>
  using OpOf = OpType<stage(s).op>;

  /// Where a stage reports faults: records follow the locations, one for each stage that can fault.
  template <int s>
  static Faults faults(std::byte* const* locations) {
    constexpr int number = [] {
      int before = 0;
      for (int earlier = 0; earlier < s; ++earlier) before += stage(earlier).can_fault ? 1 : 0;
      return before;
    }();
    return Faults(reinterpret_cast<FaultRecord*>(locations[set.location_count])[number]);
  }

  template <int s, int o>
  static std::byte* data(std::byte* const* locations, std::byte* scratch) {
    constexpr const StageOperand& which = operand(s, o);
    if constexpr (which.source == Source::memory) return locations[which.index];
    else if constexpr (which.source == Source::scratch) return scratch + which.index;
    else return nullptr;
  }
};

/// An operand by number: of stage `stage` of a compute set, operand `operand`.
struct Leaf {
  int stage = 0, operand = 0;
};

/// The formula of stage s with the formulas of its nested stages in place of their values: a function of the remaining operands,
/// the leaves, for floats and batches alike. The value of a nested stage is rounded to its dtype, as memory would round it.
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
  /// By input: the number of its first leaf. The last entry is the number of leaves.
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

  /// Whether all stages that have bools take and give them as masks.
  static constexpr bool bools_are_masks = []<std::size_t... i>(std::index_sequence<i...>) {
    bool result = B::template OpOf<s>::bools_are_masks;
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
  /// Whether it gives the only leaf as it is.
  static constexpr bool is_copy = [] {
    if constexpr (requires { B::template OpOf<s>::copies; }) return input_count == 1 && !is_nested(0);
    else return false;
  }();

  template <class... X>
  auto operator()(const X&... x) const {
    return evaluate<0>(std::tie(x...));
  }
  /// The value, if the expression's own leaves are `values` from number `first` on.
  template <int first, class Leaves>
  static auto evaluate(const Leaves& values) {
    const auto input = [&]<int i>() {
      if constexpr (is_nested(i))
        return rounded_to<typename B::template Element<s, i>>(Nested<i>::template evaluate<first + first_leaf[i]>(values));
      else return std::get<static_cast<std::size_t>(first + first_leaf[i])>(values);
    };
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return Formula<typename B::template OpOf<s>, B::stage(s).attributes>()(input.template operator()<static_cast<int>(i)>()...);
    }(std::make_index_sequence<static_cast<std::size_t>(input_count)>{});
  }
};

/// The epilogue of a kernel: `epilogue.matrix(b)(i, j, x)` gets the elements (i, j), (i, j + 1), ... of the result's b-th matrix
/// in registers, evaluates the stages after the kernel on them, and stores all values that have a place in memory.
template <class B, int kernel>
class Epilogue {
 public:
  static constexpr int result = B::stage(kernel).input_count;
  static constexpr ViewSpec block = B::slice(kernel, result);

  Epilogue(std::byte* const* locations, std::byte* scratch) {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      ((pointers_[i] = B::template data<places[i].stage, places[i].operand>(locations, scratch)), ...);
    }(std::make_index_sequence<places.size()>{});
  }
  Epilogue matrix(std::int64_t number) const {
    if constexpr (matrices == 1) return *this;
    Epilogue moved = *this;
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      ((moved.pointers_[i] += offset_of_matrix<places[i]>(number) * static_cast<std::int64_t>(sizeof(ElementAt<i>))), ...);
    }(std::make_index_sequence<places.size()>{});
    return moved;
  }
  template <class X>
  void operator()(std::int64_t i, std::int64_t j, const X& x) const {
    using Result = typename B::template Element<kernel, result>;  // what memory would round it to
    if constexpr (is_part_of_batch<X>) give<X::count>(i, j, rounded_to<Result>(x.batch));
    else give<whole>(i, j, rounded_to<Result>(x));
  }
  /// Prefetches the operands of a call (i, j, ...).
  void prefetch(std::int64_t i, std::int64_t j) const {
    [&]<std::size_t... p>(std::index_sequence<p...>) {
      const auto ask = [&]<std::size_t place>() {
        constexpr ViewSpec view = B::slice(places[place].stage, places[place].operand);
        if constexpr (broadcast_stride(view, -2) != 0 && broadcast_stride(view, -1) != 0)
          __builtin_prefetch(address<place>(i, j));
      };
      (ask.template operator()<p>(), ...);
    }(std::make_index_sequence<places.size()>{});
  }

 private:
  static constexpr std::int64_t whole = -1;  // all elements of a batch

  /// Whether the epilogue goes on to this stage: it ends before the next kernel. A nested stage is evaluated with its reader.
  static constexpr bool has(int stage) { return stage < B::set.stage_count && B::stage(stage).evaluation != Evaluation::kernel; }
  /// The operands in memory, of the kernel's result and the epilogue's stages, and their number.
  static constexpr auto place_list = [] {
    std::array<Leaf, 64> result{};
    std::size_t count = 0;
    const auto add = [&](int s, int o) {
      if (B::operand(s, o).source != Source::value) result[count++] = {s, o};
    };
    add(kernel, B::stage(kernel).input_count);
    for (int s = kernel + 1; has(s); ++s)
      for (int o = 0; o < B::stage(s).operand_count; ++o) add(s, o);
    return std::pair(result, count);
  }();
  static constexpr auto places = [] {
    std::array<Leaf, place_list.second> result{};
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = place_list.first[i];
    return result;
  }();
  static constexpr std::size_t place_of(int s, int o) {
    std::size_t i = 0;
    while (places[i].stage != s || places[i].operand != o) ++i;
    return i;
  }
  static constexpr std::int64_t matrices = [] {
    std::int64_t count = 1;
    for (int axis = 0; axis < block.shape.rank - 2; ++axis) count *= block.shape[axis];
    return count;
  }();
  template <Leaf place>
  static std::int64_t offset_of_matrix(std::int64_t number) {
    constexpr ViewSpec view = B::slice(place.stage, place.operand);
    std::int64_t offset = 0;
    for (int axis = 3; axis <= block.shape.rank; ++axis) {
      if (axis <= view.shape.rank && view.shape[-axis] != 1) offset += number % block.shape[-axis] * view.stride(-axis);
      number /= block.shape[-axis];
    }
    return offset;
  }
  template <std::size_t place>
  using ElementAt = typename B::template Element<places[place].stage, places[place].operand>;
  template <std::size_t place>
  ElementAt<place>* address(std::int64_t i, std::int64_t j) const {
    constexpr ViewSpec view = B::slice(places[place].stage, places[place].operand);
    return reinterpret_cast<ElementAt<place>*>(pointers_[place]) + i * broadcast_stride(view, -2) +
           j * broadcast_stride(view, -1);
  }
  // `count`: of the elements of a batch, the first ones that there are.
  template <std::int64_t count, class X>
  void give(std::int64_t i, std::int64_t j, const X& x) const {
    if constexpr (B::operand(kernel, result).source != Source::value) store<place_of(kernel, result), count>(i, j, x);
    run_from<kernel + 1, count>(i, j, x);
  }
  template <Leaf leaf, std::int64_t count, class X>
  auto load(std::int64_t i, std::int64_t j, const X& x) const {
    if constexpr (B::operand(leaf.stage, leaf.operand).source == Source::value) {
      return x;
    } else {
      constexpr std::size_t place = place_of(leaf.stage, leaf.operand);
      auto* const data = address<place>(i, j);
      constexpr bool is_bool = std::is_same_v<ElementAt<place>, bool>;
      if constexpr (std::is_arithmetic_v<X>) return static_cast<std::conditional_t<is_bool, bool, X>>(*data);
      else if constexpr (is_bool && broadcast_stride(B::slice(leaf.stage, leaf.operand), -1) == 0)
        return typename X::batch_bool_type(*data);
      else if constexpr (is_bool && count != whole) return tilewright::detail::MaskLine{data}.template load<count>(0);
      else if constexpr (is_bool) return load_mask<typename X::batch_bool_type>(data);
      else if constexpr (broadcast_stride(B::slice(leaf.stage, leaf.operand), -1) == 0) return X(static_cast<float>(*data));
      else if constexpr (count != whole)
        return Line<const ElementAt<place>, broadcast_stride(B::slice(leaf.stage, leaf.operand), -1)>{data}.template load<count>(
            0);
      else return load_floats<X>(data);
    }
  }
  template <std::size_t place, std::int64_t count, class X>
  void store(std::int64_t i, std::int64_t j, const X& x) const {
    auto* data = address<place>(i, j);
    if constexpr (std::is_arithmetic_v<X>) *data = static_cast<ElementAt<place>>(x);
    else if constexpr (is_mask<X> && count != whole) tilewright::detail::MaskLine{data}.template store<count>(0, x);
    else if constexpr (count != whole)
      Line<ElementAt<place>, broadcast_stride(B::slice(places[place].stage, places[place].operand), -1)>{data}
          .template store<count>(0, x);
    else if constexpr (is_mask<X>) store_mask(data, x);
    else store_floats(data, x);
  }
  template <int s, std::int64_t count, class X>
  void run_from(std::int64_t i, std::int64_t j, const X& x) const {
    if constexpr (has(s)) {
      if constexpr (B::stage(s).evaluation == Evaluation::epilogue) {
        using E = Expression<B, s>;
        const auto value = [&]<std::size_t... l>(std::index_sequence<l...>) {
          return as_element<typename B::template Element<s, B::stage(s).input_count>>(E()(load<E::leaves[l], count>(i, j, x)...));
        }(std::make_index_sequence<E::leaves.size()>{});
        store<place_of(s, B::stage(s).input_count), count>(i, j, value);
      }
      run_from<s + 1, count>(i, j, x);
    }
  }

  std::array<std::byte*, places.size()> pointers_;

 public:
  /// Whether it may be called as the epilogue of one matrix with the rows of all.
  static constexpr bool rows_are_one_matrix = [] {
    for (const Leaf& place : places)
      if (!tilewright::rows_are_one_matrix(B::slice(place.stage, place.operand), block.shape)) return false;
    return true;
  }();
};

/// Whether a stage copies, into a tensor that is too large for caches.
template <class B, int s>
constexpr bool is_streamed_copy() {
  if constexpr (B::template OpOf<s>::has_formula) {
    constexpr int result = B::stage(s).input_count;
    constexpr ViewSpec block = B::slice(s, result);
    return Expression<B, s>::is_copy && B::operand(s, result).source == Source::memory &&
           span_bytes(B::operand(s, result).view) >= streamed_bytes &&
           block.shape.nelms() * size_of(block.dtype) >= streamed_vertex_bytes;
  } else {
    return false;
  }
}

/// Runs a stage that is a kernel, with its expression or epilogue. Other stages run as parts of these.
template <class B, int s>
inline void run_stage(std::byte* const* locations, std::byte* scratch) {
  if constexpr (B::stage(s).evaluation == Evaluation::kernel) {
    using O = typename B::template OpOf<s>;
    constexpr int result = B::stage(s).input_count;
    constexpr bool has_epilogue = s + 1 < B::set.stage_count && B::stage(s + 1).evaluation != Evaluation::kernel;
    const auto view = [&]<int stage, int o>() {
      return view_at<B::slice(stage, o)>(B::template data<stage, o>(locations, scratch));
    };
    if constexpr (B::stage(s).can_fault) {
      [&]<std::size_t... o>(std::index_sequence<o...>) {
        O::template compute_checked<B::stage(s).attributes>(B::template faults<s>(locations),
                                                            view.template operator()<s, static_cast<int>(o)>()...);
      }(std::make_index_sequence<static_cast<std::size_t>(B::stage(s).operand_count)>{});
    } else if constexpr (is_streamed_copy<B, s>()) {
      constexpr Leaf source = Expression<B, s>::leaves[0];
      stream_elements(view.template operator()<s, result>(), view.template operator()<source.stage, source.operand>());
    } else if constexpr (O::has_formula) {
      using E = Expression<B, s>;
      [&]<std::size_t... l>(std::index_sequence<l...>) {
        assign_elementwise<E>(view.template operator()<s, result>(),
                              view.template operator()<E::leaves[l].stage, E::leaves[l].operand>()...);
      }(std::make_index_sequence<E::leaves.size()>{});
    } else if constexpr (O::has_epilogue && has_epilogue) {
      [&]<std::size_t... o>(std::index_sequence<o...>) {
        O::template compute_with<B::stage(s).attributes, View<B::slice(s, result)>>(
            Epilogue<B, s>(locations, scratch), view.template operator()<s, static_cast<int>(o)>()...);
      }(std::make_index_sequence<static_cast<std::size_t>(result)>{});
    } else {
      [&]<std::size_t... o>(std::index_sequence<o...>) {
        O::template compute<B::stage(s).attributes>(view.template operator()<s, static_cast<int>(o)>()...);
      }(std::make_index_sequence<static_cast<std::size_t>(B::stage(s).operand_count)>{});
    }
  }
}

/// The codelet of a compute set for vertices of the given extents: its stages, one after the other.
template <const auto& plan, std::size_t set_index, Extents extents>
inline void run_stages(std::byte* const* locations) {
  using B = Block<plan, set_index, extents>;
  alignas(memory_alignment) std::byte scratch[static_cast<std::size_t>(std::max<std::int64_t>(1, B::set.scratch_bytes))];
  [&]<std::size_t... s>(std::index_sequence<s...>) {
    (run_stage<B, static_cast<int>(s)>(locations, scratch), ...);
  }(std::make_index_sequence<static_cast<std::size_t>(B::set.stage_count)>{});
}

}  // namespace tilewright::internal::detail
