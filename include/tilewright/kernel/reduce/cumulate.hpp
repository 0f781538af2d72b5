#pragma once
#include "tilewright/kernel/reduce/reduction.hpp"

namespace tilewright::kernel {

/// Shifts the pack's elements by `by` places forwards, or, reversed, backwards, and fills with zeros.
template <std::size_t by, bool reversed, class P, std::size_t... i>
[[gnu::always_inline]] inline P shifted(P x, std::index_sequence<i...>) {
  constexpr auto width = sizeof...(i);
  if constexpr (reversed) return __builtin_shufflevector(x, P{}, (i + by < width ? i + by : width)...);
  else return __builtin_shufflevector(x, P{}, (i >= by ? i - by : width)...);
}
/// Returns running sums: of the first 1, 2, ... elements, or, if reversed, of the last ones. Takes log2(size) additions.
template <bool reversed, std::size_t by = 1, class P>
[[gnu::always_inline]] inline P running_sums(P x) {
  constexpr auto width = static_cast<std::size_t>(pack_size<typename PackElement<P>::type>);
  if constexpr (by >= width) return x;
  else return running_sums<reversed, 2 * by>(P(x + shifted<by, reversed>(x, std::make_index_sequence<width>())));
}

/// Loops of assign_running_sums: all axes other than `axis` are kept.
template <int axis, class In, class Out>
inline constexpr auto running_sum_loops = [] {
  typename ReductionLoops<2>::Strides strides{};
  for (int a = 0; a < In::shape.rank; ++a) {
    strides[0][static_cast<std::size_t>(a)] = In::spec.stride(a);
    strides[1][static_cast<std::size_t>(a)] = Out::spec.stride(a);
  }
  return ReductionLoops<2>(In::shape, std::uint64_t{1} << axis, strides, false);
}();
/// Whether it processes columns, and moves their sums to float64.
template <int axis, class In, class Out>
inline constexpr bool sums_run_by_columns = [] {
  constexpr auto& loops = running_sum_loops<axis, In, Out>;
  return loops.has_contiguous_columns() && loops.last_stride(loops.kept, loops.kept_strides, 1) == 1;
}();
template <int axis, class In>
inline constexpr bool running_sums_in_parts = std::is_floating_point_v<wrapping_t<typename In::element>> &&
                                              (In::shape[axis] > terms_of_accumulator);
/// Bytes of assign_running_sums' arrays on the stack: for each column a sum, and if sums are moved, what was moved in both types.
template <int axis, class In, class Out>
inline constexpr std::int64_t running_sums_stack_bytes = [] {
  using C = wrapping_t<typename In::element>;
  if constexpr (!sums_run_by_columns<axis, In, Out>) return std::int64_t{0};
  else {
    constexpr std::int64_t extent = running_sum_loops<axis, In, Out>.kept[-1];
    return running_sums_in_parts<axis, In> ? column_stack_bytes<C, C, double>(extent) : column_stack_bytes<C>(extent);
  }
}();

/// Computes running sums along an axis: each element of out is the sum of in's elements from the first up to its position, or, if
/// reversed, from its position to the last. Sums of lines of half precision and of contiguous floats continue in double.
template <int axis, bool reversed, class In, class Out>
inline void assign_running_sums(In in, Out out) {
  using T = typename In::element;
  using C = wrapping_t<T>;
  using Wide = std::conditional_t<std::is_floating_point_v<C>, double, C>;
  static constexpr auto loops = running_sum_loops<axis, In, Out>;
  constexpr std::int64_t n = In::shape[axis], width = pack_size<C>;
  constexpr std::int64_t from_step = In::spec.stride(axis), to_step = Out::spec.stride(axis);
  constexpr auto nth = [](std::int64_t k) { return reversed ? n - 1 - k : k; };
  if constexpr (sums_run_by_columns<axis, In, Out>) {
    constexpr std::int64_t extent = loops.kept[-1];
    static constexpr Shape outer = loops.without_last(loops.kept);
    for_each_offset<2>(outer, loops.kept_strides, [&](const auto& at) {
      for_each_batch<extent, columns_at_once>([&](std::int64_t j, auto size) {
        constexpr std::int64_t count = size();
        alignas(64)
            C sums[std::size_t(count)]{};  // of the latest rows; those before are in `emptied`, and as elements in `before`
        constexpr bool in_parts = running_sums_in_parts<axis, In>;
        alignas(64) C before[std::size_t(in_parts ? count : 1)]{};
        [[maybe_unused]] double emptied[std::size_t(in_parts ? count : 1)]{};
        for (std::int64_t k = 0; k < n; ++k) {
          const T* row = in.data + at[0] + j + nth(k) * from_step;
          T* to = out.data + at[1] + j + nth(k) * to_step;
          std::int64_t i = 0;
          for (; i + width <= count; i += width) {
            auto sum = load_pack(sums + i) + (Pack<C>)load_pack(row + i);
            store_pack(sums + i, sum);
            if constexpr (in_parts) sum += load_pack(before + i);
            if constexpr (sizeof(T) == sizeof(C) && !is_half_type<T>) {
              std::memcpy(to + i, &sum, sizeof(sum));
            } else {
              wide_t<T> elements[std::size_t(width)];
              std::memcpy(elements, &sum, sizeof(sum));
              store_wide<1>(elements, width, to + i);
            }
          }
          for (i = count / width * width; i < count; ++i) {
            sums[i] += static_cast<C>(row[i]);
            to[i] = static_cast<T>(in_parts ? sums[i] + before[i] : sums[i]);
          }
          if constexpr (in_parts)
            if ((k + 1) % terms_of_accumulator == 0)
              for (i = 0; i < count; ++i) {
                emptied[i] += static_cast<double>(std::exchange(sums[i], C(0)));
                before[i] = static_cast<C>(emptied[i]);
              }
        }
      });
    });
  } else {
    for_each_offset<2>(loops.kept, loops.kept_strides, [&](const auto& at) {
      const T* from = in.data + at[0];
      T* to = out.data + at[1];
      Wide total = 0;
      constexpr bool vectors = from_step == 1 && to_step == 1 && std::is_same_v<T, float>;
      if constexpr (vectors) {
        for (std::int64_t k = 0; k + width <= n; k += width) {
          const std::int64_t first = reversed ? n - k - width : k;
          const Pack<C> sums = running_sums<reversed>(load_pack(from + first));
          store_pack(to + first, sums + static_cast<C>(total));
          total += static_cast<Wide>(sums[reversed ? 0 : width - 1]);
        }
      }
      for (std::int64_t k = vectors ? n / width * width : 0; k < n; ++k) {
        total += static_cast<Wide>(static_cast<C>(from[nth(k) * from_step]));
        to[nth(k) * to_step] = static_cast<T>(total);
      }
    });
  }
}

/// Computes dx = dy times the product of all other elements of x that are reduced with each: the product of those before it,
/// times the product of those after it, so zeros need no division. dy has x's axes, the reduced ones with extent 1.
template <std::uint64_t reduced, class X, class DY, class DX>
inline void assign_products_of_others(X x, DY dy, DX dx) {
  using C = wide_t<typename X::element>;
  static constexpr auto loops = reduction_loops<reduced, true, X, DY, DX>();
  [[maybe_unused]] static constexpr auto backward = [] {
    auto strides = loops.reduced_strides;
    for (auto& operand : strides)
      for (auto& stride : operand) stride = -stride;
    return strides;
  }();
  constexpr auto last = [](std::size_t operand) {
    std::int64_t offset = 0;
    for (int axis = 0; axis < loops.reduced.rank; ++axis)
      offset += (loops.reduced[axis] - 1) * loops.reduced_strides[operand][static_cast<std::size_t>(axis)];
    return offset;
  };
  for_each_offset<3>(loops.kept, loops.kept_strides, [&](const auto& at) {
    C product = 1;
    for_each_offset<3>(loops.reduced, loops.reduced_strides, [&](const auto& row) {
      dx.data[at[2] + row[2]] = product;
      product *= x.data[at[0] + row[0]];
    });
    product = dy.data[at[1]];
    for_each_offset<3>(loops.reduced, backward, [&](const auto& row) {
      dx.data[at[2] + last(2) + row[2]] *= product;
      product *= x.data[at[0] + last(0) + row[0]];
    });
  });
}

}  // namespace tilewright::kernel
