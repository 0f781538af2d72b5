#pragma once
#include <cstdint>
#include <utility>

#include "tilewright/kernel/copy/copy.hpp"
#include "tilewright/kernel/elementwise_loops.hpp"
#include "tilewright/kernel/mask.hpp"
#include "tilewright/kernel/vector/line.hpp"
#include "tilewright/operand/view.hpp"

namespace tilewright::kernel {

/// Returns one run of an operand as a line of batches.
template <std::int64_t stride, class T>
inline auto run_line(T* data) {
  if constexpr (std::is_same_v<T, bool> && stride == 0) return BroadcastMask{*data};
  else if constexpr (std::is_same_v<T, bool>) return MaskLine{data};
  else if constexpr (stride == 0) return BroadcastLine<T>{static_cast<compute_t<T>>(*data)};
  else return Line<T, stride>{data};
}

/// A formula whose bools are masks, with a result in the form in which elements of type T are stored.
template <class F, class T>
struct Converted {
  auto operator()(const auto&... x) const { return as_element<T>(F()(x...)); }
};
/// Returns whether a formula uses masks for bools.
template <class F>
constexpr bool bools_are_masks() {
  if constexpr (requires { F::bools_are_masks; }) return F::bools_are_masks;
  else return false;
}

/// Computes out = f(ins...), element by element, with the ins broadcast to out's shape.
template <class F, class Out, class... In>
inline void assign_elements(const F& f, Out out, In... ins) {
  constexpr int operands = 1 + static_cast<int>(sizeof...(In));
  static constexpr auto loops = formula_loops<operands>({Out::spec, In::spec...});
  for_each_offset<operands>(loops.outer, loops.strides, [&](const auto& offsets) {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      for (std::int64_t k = 0; k < loops.run; ++k)
        out.data[offsets[0] + k * loops.run_strides[0]] = element_cast<typename Out::element>(
            f(static_cast<compute_t<typename In::element>>(ins.data[offsets[i + 1] + k * loops.run_strides[i + 1]])...));
    }(std::index_sequence_for<In...>{});
  });
}

/// Sets every element of out to a value.
template <class Out>
inline void fill_elements(Out out, typename Out::element value) {
  static constexpr auto loops = elementwise_loops<1>({Out::spec});
  for_each_offset<1>(loops.outer, loops.strides, [&](const auto& offsets) {
    auto* const to = out.data + offsets[0];
    for (std::int64_t k = 0; k < loops.run; ++k) to[k * loops.run_strides[0]] = value;
  });
}

/// Computes out = F()(ins...), element by element, with the ins broadcast to out's shape. Contiguous elements are computed in
/// batches of floats, if all operands are floats, or are bool and F uses masks for bools. All other elements are computed one by
/// one.
template <class F, class Out, class... In>
inline void assign_elementwise(Out out, In... ins) {
  constexpr int operands = 1 + static_cast<int>(sizeof...(In));
  static constexpr auto loops = formula_loops<operands>({Out::spec, In::spec...});
  constexpr bool contiguous = [] {
    bool result = loops.run > 1 && loops.run_strides[0] == 1;
    for (auto stride : loops.run_strides) result = result && (stride == 0 || stride == 1);
    return result;
  }();
  constexpr bool masks = bools_are_masks<F>();
  constexpr auto fits = [](DType dtype) { return computes_in_float(dtype) || (masks && dtype == boolean); };
  constexpr bool batches = fits(Out::spec.dtype) && (fits(In::spec.dtype) && ...) &&
                           (computes_in_float(Out::spec.dtype) || ... || computes_in_float(In::spec.dtype));
  using G = std::conditional_t<masks, Converted<F, typename Out::element>, F>;
  if constexpr (requires { requires F::is_copy; }) return copy_elements(out, ins...);
  else if constexpr (!contiguous || !batches) return assign_elements(F(), out, ins...);
  else
    for_each_offset<operands>(loops.outer, loops.strides, [&](const auto& offsets) {
      [&]<std::size_t... i>(std::index_sequence<i...>) {
        line_assign<loops.run>(G(), run_line<1>(out.data + offsets[0]),
                               run_line<loops.run_strides[i + 1]>(ins.data + offsets[i + 1])...);
      }(std::index_sequence_for<In...>{});
    });
}

}  // namespace tilewright::kernel
