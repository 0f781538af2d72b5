#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tilewright/execute/expression.hpp"
#include "tilewright/kernel/vector/line.hpp"
#include "tilewright/rules/host/rules_of_ops.hpp"

namespace tilewright::internal::detail {

/// Values of stages that later stages read.
template <class Before, class Value>
struct PassedValues : Before, Value {};

/// The epilogue of a kernel. `epilogue.matrix(b)(i, j, x)` gets the elements (i, j), (i, j + 1), ... of the result's b-th matrix
/// in registers, evaluates the stages after the kernel on them, and stores all values that have a place in memory.
template <class B, int kernel>
class Epilogue {
  static constexpr std::int64_t whole = -1;  // all elements of a batch

 public:
  static constexpr int result = B::stage(kernel).input_count;
  /// Whether the result's channels are the last axis in memory. They are then the last axis of the matrices, too.
  static constexpr bool channels_are_last = is_channels_last(B::slice(kernel, result));
  static constexpr ViewSpec slice(int s, int o) {
    return channels_are_last ? with_channels_last(B::slice(s, o)) : B::slice(s, o);
  }
  static constexpr ViewSpec block = slice(kernel, result);

  /// `row_memory`: aligned memory for row_floats.
  Epilogue(std::byte* const* locations, std::byte* scratch, [[maybe_unused]] float* row_memory) {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      ((pointers_[i] = table.address[i].source == Source::memory ? locations[table.address[i].index]
                                                                 : scratch + table.address[i].index),
       ...);
      if constexpr (row_floats > 0) (convert_row<i>(row_memory), ...);
    }(std::make_index_sequence<places.size()>{});
  }
  Epilogue matrix([[maybe_unused]] std::int64_t number) const {
    Epilogue moved = *this;
    if constexpr (matrices > 1)
      [&]<std::size_t... i>(std::index_sequence<i...>) {
        ((moved.pointers_[i] += offset_of_matrix<places[i]>(number) * static_cast<std::int64_t>(sizeof(ElementAt<i>))), ...);
      }(std::make_index_sequence<places.size()>{});
    return moved;
  }
  /// `count`: of the elements of a batch, the first ones that there are.
  template <class X, std::int64_t count = whole>
  void operator()(std::int64_t i, std::int64_t j, const X& x) const {
    if constexpr (kernel::is_part_of_batch<X>) {
      operator()<decltype(x.batch), X::count>(i, j, x.batch);
    } else {
      using Result = typename B::template Element<kernel, result>;  // what memory would round it to
      const auto value = kernel::rounded_to<Result>(x);
      using Value = std::remove_const_t<decltype(value)>;
      if constexpr (B::operand(kernel, result).source != Source::value) store<place_of(kernel, result), count>(i, j, value);
      if constexpr (next<kernel>() < end)
        run<next<kernel>(), count, Value>(i, j, LeafValue<kernel, Value>{value}, Leaves<next<kernel>()>{});
    }
  }
  /// Runs the stages that read rows: `count` rows of a plane of the result have been passed, from `first` on. Called on `matrix`.
  void finish_rows([[maybe_unused]] std::int64_t first, [[maybe_unused]] std::int64_t count) const {
    if constexpr (reads_rows)
      [&]<std::size_t... s>(std::index_sequence<s...>) {
        const auto run = [&]<int stage>() {
          if constexpr (is_row_reader<stage>())
            B::template OpOf<stage>::template compute_rows<B::stage(stage).attributes, View<B::slice(stage, 0), true>,
                                                           View<B::slice(stage, 1)>>(plane<stage, 0>(), plane<stage, 1>(), first,
                                                                                     count);
        };
        (run.template operator()<kernel + 1 + static_cast<int>(s)>(), ...);
      }(std::make_index_sequence<static_cast<std::size_t>(end - kernel - 1)>{});
  }
  /// Prefetches the operands of a call (i, j, ...).
  void prefetch(std::int64_t i, std::int64_t j) const {
    [&]<std::size_t... p>(std::index_sequence<p...>) {
      ((table.row[p] != 0 && table.column[p] != 0 ? __builtin_prefetch(address(p, i, j)) : void()), ...);
    }(std::make_index_sequence<places.size()>{});
  }

 private:
  /// Returns whether the epilogue includes a stage. It ends before the next kernel. A nested stage is evaluated with its reader.
  static constexpr bool has(int stage) { return stage < B::set.stage_count && B::stage(stage).evaluation != Evaluation::kernel; }
  /// The first stage after the epilogue.
  static constexpr int end = [] {
    int s = kernel + 1;
    while (has(s)) ++s;
    return s;
  }();
  /// Returns whether a stage of the epilogue reads rows, not elements.
  template <int stage>
  static constexpr bool is_row_reader() {
    if constexpr (stage >= end) return false;
    else
      return B::stage(stage).evaluation == Evaluation::epilogue &&
             host_rules_of(op_info<typename B::template OpOf<stage>>).reads_rows;
  }
  /// The operands in memory: the kernel's result, and operands of the epilogue's stages. Also their number.
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
    constexpr ViewSpec view = slice(place.stage, place.operand);
    std::int64_t offset = 0;
    for (int axis = 3; axis <= block.shape.rank; ++axis) {
      if (axis <= view.shape.rank && view.shape[-axis] != 1) offset += number % block.shape[-axis] * view.stride(-axis);
      number /= block.shape[-axis];
    }
    return offset;
  }
  static constexpr ViewSpec view_of(std::size_t place) { return slice(places[place].stage, places[place].operand); }
  /// Largest number of floats of a converted row: 16 KB of the stack.
  static constexpr std::int64_t most_row_floats = 4096;
  /// Returns whether an operand is one row of half precision for all rows of the result, such as a bias. Such a row is converted
  /// once.
  static constexpr bool is_row(std::size_t place) {
    const ViewSpec view = view_of(place);
    return is_half(view.dtype) && view.shape.rank > 0 && view.shape[-1] == view.shape.nelms() && view.stride(-1) == 1 &&
           view.shape[-1] == block.shape[-1] && view.shape[-1] <= most_row_floats && block.shape.rank > 1 && block.shape[-2] > 1;
  }
  /// Returns the offset of such a row's floats in the memory of all rows; for the next place after the last, the end.
  static constexpr std::int64_t row_offset(std::size_t place) {
    std::int64_t floats = 0;
    for (std::size_t i = 0; i < place; ++i)
      if (is_row(i)) floats += align(view_of(i).shape[-1] * size_of(float32)) / size_of(float32);
    return floats;
  }
  template <std::size_t place>
  using StoredAt = typename B::template Element<places[place].stage, places[place].operand>;
  template <std::size_t place>
  void convert_row([[maybe_unused]] float* row_memory) {
    if constexpr (is_row(place)) {
      float* const to = row_memory + row_offset(place);
      kernel::line_assign<view_of(place).shape[-1]>(
          [](const auto& x) { return x; }, kernel::Line<float, 1>{to},
          kernel::Line<const StoredAt<place>, 1>{reinterpret_cast<const StoredAt<place>*>(pointers_[place])});
      pointers_[place] = reinterpret_cast<std::byte*>(to);
    }
  }
  template <std::size_t place>
  using ElementAt = std::conditional_t<is_row(place), float, StoredAt<place>>;
  /// By place: its address, and bytes from one row, or column, of the result to the next. (std::array has functions.)
  struct Table {
    Address address[places.size()];
    std::int64_t row[places.size()], column[places.size()];
  };
  static constexpr Table table = [] {
    Table result{};
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::int64_t bytes = size_of(is_row(i) ? float32 : view_of(i).dtype);
      result.address[i] = B::address(places[i].stage, places[i].operand);
      result.row[i] = broadcast_stride(view_of(i), -2) * bytes;
      result.column[i] = broadcast_stride(view_of(i), -1) * bytes;
    }
    return result;
  }();
  std::byte* address(std::size_t place, std::int64_t i, std::int64_t j) const {
    return pointers_[place] + i * table.row[place] + j * table.column[place];
  }
  template <int stage, int operand>
  auto* plane() const {
    constexpr std::size_t place = place_of(stage, operand);
    return reinterpret_cast<StoredAt<place>*>(pointers_[place]);
  }
  /// Returns the first stage after `stage` that is evaluated for elements, or `end`.
  template <int stage>
  static consteval int next() {
    if constexpr (stage + 1 >= end) return end;
    else if constexpr (B::stage(stage + 1).evaluation != Evaluation::epilogue || is_row_reader<stage + 1>())
      return next<stage + 1>();
    else return stage + 1;
  }
  template <int stage>
  static constexpr bool is_read_from_registers = [] {
    for (int s = stage + 1; s < end; ++s)
      for (int o = 0; o < B::stage(s).input_count; ++o)
        if (B::operand(s, o).source == Source::value && B::operand(s, o).index == stage) return true;
    return false;
  }();
  template <Leaf leaf, std::int64_t count, class X>
  auto load(std::int64_t i, std::int64_t j, const auto& values) const {
    constexpr const StageOperand& operand = B::operand(leaf.stage, leaf.operand);
    if constexpr (operand.source == Source::value) {
      return leaf_value<operand.index>(values);
    } else {
      constexpr std::size_t place = place_of(leaf.stage, leaf.operand);
      auto* const data = reinterpret_cast<ElementAt<place>*>(address(place, i, j));
      constexpr bool is_bool = std::is_same_v<ElementAt<place>, bool>;
      if constexpr (std::is_arithmetic_v<X>) return static_cast<std::conditional_t<is_bool, bool, X>>(*data);
      else if constexpr (is_bool && broadcast_stride(slice(leaf.stage, leaf.operand), -1) == 0)
        return typename X::batch_bool_type(*data);
      else if constexpr (is_bool && count != whole) return kernel::MaskLine{data}.template load<count>(0);
      else if constexpr (is_bool) return kernel::load_mask<typename X::batch_bool_type>(data);
      else if constexpr (broadcast_stride(slice(leaf.stage, leaf.operand), -1) == 0) return X(static_cast<float>(*data));
      else if constexpr (count != whole)
        return kernel::Line<const ElementAt<place>, broadcast_stride(slice(leaf.stage, leaf.operand), -1)>{data}
            .template load<count>(0);
      else return kernel::load_floats<X>(data);
    }
  }
  template <std::size_t place, std::int64_t count, class X>
  void store(std::int64_t i, std::int64_t j, const X& x) const {
    auto* const data = reinterpret_cast<ElementAt<place>*>(address(place, i, j));
    if constexpr (std::is_arithmetic_v<X>) *data = static_cast<ElementAt<place>>(x);
    else if constexpr (kernel::is_mask<X> && count != whole) kernel::MaskLine{data}.template store<count>(0, x);
    else if constexpr (count != whole)
      kernel::Line<ElementAt<place>, broadcast_stride(view_of(place), -1)>{data}.template store<count>(0, x);
    else if constexpr (kernel::is_mask<X>) kernel::store_mask(data, x);
    else kernel::store_floats(data, x);
  }
  template <int s>
  using Leaves = std::make_index_sequence<Expression<B, s>::leaves.size()>;
  /// Evaluates stage s and those after it. `X`: the type of the kernel's value. `values`: of the stages before s that later
  /// ones read. (One function for a stage: there are many of them.)
  template <int s, std::int64_t count, class X, std::size_t... l>
  void run(std::int64_t i, std::int64_t j, const auto& values, std::index_sequence<l...>) const {
    using E = Expression<B, s>;
    constexpr int output = B::stage(s).input_count;
    using Element = typename B::template Element<s, output>;
    const auto value = kernel::as_element<Element>(E()(load<E::leaves[l], count, X>(i, j, values)...));
    if constexpr (B::operand(s, output).source != Source::value) store<place_of(s, output), count>(i, j, value);
    if constexpr (next<s>() == end) {
      return;
    } else if constexpr (is_read_from_registers<s>) {
      const auto rounded = kernel::rounded_to<Element>(value);
      using Values = PassedValues<std::remove_cvref_t<decltype(values)>, LeafValue<s, std::remove_const_t<decltype(rounded)>>>;
      run<next<s>(), count, X>(i, j, Values{values, {rounded}}, Leaves<next<s>()>{});
    } else {
      run<next<s>(), count, X>(i, j, values, Leaves<next<s>()>{});
    }
  }

  std::byte* pointers_[places.size()];

 public:
  static constexpr std::int64_t row_floats = row_offset(places.size());
  /// Whether finish_rows does anything.
  static constexpr bool reads_rows = []<std::size_t... s>(std::index_sequence<s...>) {
    return (is_row_reader<kernel + 1 + static_cast<int>(s)>() || ...);
  }(std::make_index_sequence<static_cast<std::size_t>(end - kernel - 1)>{});
  /// Whether it only copies floats to memory: kernels then call it for each register (kernel/matmul/epilogue.hpp).
  static constexpr bool takes_registers = [] {
    if constexpr (!has(kernel + 1)) {
      return false;
    } else if constexpr (B::stage(kernel + 1).evaluation == Evaluation::epilogue && !has(kernel + 2)) {
      constexpr int output = B::stage(kernel + 1).input_count;
      return Expression<B, kernel + 1>::is_copy && B::operand(kernel, result).source == Source::value &&
             std::is_same_v<typename B::template Element<kernel + 1, output>, float> &&
             broadcast_stride(slice(kernel + 1, output), -1) == 1;
    } else {
      return false;
    }
  }();
  /// Whether the kernel may call it as if all elements were one row of one matrix.
  static constexpr bool elements_are_one_row = [] {
    for (const Leaf& place : places)
      if (!tilewright::elements_are_one_row(slice(place.stage, place.operand), block.shape)) return false;
    return true;
  }();
  /// Whether the kernel may call it as if the rows of all matrices were one matrix.
  static constexpr bool rows_are_one_matrix = [] {
    for (const Leaf& place : places)
      if (!tilewright::rows_are_one_matrix(slice(place.stage, place.operand), block.shape)) return false;
    return true;
  }();
};

}  // namespace tilewright::internal::detail
