#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "tilewright/kernel/elementwise.hpp"
#include "tilewright/kernel/math.hpp"
#include "tilewright/kernel/vector/half.hpp"
#include "tilewright/kernel/vector/line.hpp"
#include "tilewright/operand/pieces.hpp"

namespace tilewright::kernel {

/// Returns the sum of a contiguous run of floats or halves, in several independent partial sums.
template <std::int64_t run, class T>
inline float sum_run(const T* data) {
  using batch = simd::batch<float>;
  constexpr auto width = static_cast<std::int64_t>(batch::size);
  return sum_of_parts<float, run, width * terms_of_accumulator>([&](std::int64_t first, auto terms) {
    constexpr std::int64_t count = terms(), whole = count / width * width;
    const T* from = data + first;
    float total = 0;
    if constexpr (whole > 0) {
      batch sum(0.f);
      for (std::int64_t k = 0; k < whole; k += width) sum += load_floats<batch>(from + k);
      total = math::sum(sum);
    }
    for (std::int64_t k = whole; k < count; ++k) total += static_cast<float>(from[k]);
    return total;
  });
}

/// Returns the sum of `run` numbers at steps of `stride` elements, in several independent partial sums, because one would wait
/// for each addition.
template <std::int64_t run, std::int64_t stride, class T>
inline float sum_strided_run(const T* data) {
  constexpr std::int64_t sums = 16;
  return sum_of_parts<float, run, sums * terms_of_accumulator>([&](std::int64_t first, auto terms) {
    constexpr std::int64_t count = terms(), whole = count / sums * sums;
    const T* from = data + first * stride;
    float partial[sums]{};
    for (std::int64_t k = 0; k < whole; k += sums)
      for (std::int64_t i = 0; i < sums; ++i) partial[i] += static_cast<float>(from[(k + i) * stride]);
    for (std::int64_t k = whole; k < count; ++k) partial[k - whole] += static_cast<float>(from[k * stride]);
    for (std::int64_t half = sums / 2; half > 0; half /= 2)
      for (std::int64_t i = 0; i < half; ++i) partial[i] += partial[i + half];
    return partial[0];
  });
}

/// The axes of a sum's input, with kept and summed ones separate, and their strides.
template <std::uint64_t reduced, ViewSpec in>
struct SumLoops {
  using Strides = std::array<std::array<std::int64_t, max_rank>, 1>;
  Shape kept{}, summed{};
  Strides kept_strides{}, summed_strides{};

  constexpr SumLoops() {
    for (int axis = 0; axis < in.shape.rank; ++axis) {
      Shape& axes = (reduced >> axis & 1) != 0 ? summed : kept;
      ((reduced >> axis & 1) != 0 ? summed_strides : kept_strides)[0][static_cast<std::size_t>(axes.rank)] = in.stride(axis);
      axes.push_back(in.shape[axis]);
    }
  }
  static constexpr bool is_contiguous(const Shape& axes, const Strides& strides) {
    return axes.rank > 0 && axes[-1] > 1 && strides[0][static_cast<std::size_t>(axes.rank - 1)] == 1;
  }
  /// Returns whether the elements of the kept axes are contiguous.
  constexpr bool keeps_one_run() const {
    std::int64_t stride = 1;
    for (int axis = kept.rank; axis-- > 0; stride *= kept[axis])
      if (kept[axis] != 1 && kept_strides[0][static_cast<std::size_t>(axis)] != stride) return false;
    return true;
  }
  /// Makes the kept axes one: see keeps_one_run.
  constexpr void join_kept() {
    kept = {kept.nelms()};
    kept_strides = {{{1}}};
  }
  /// Makes the last summed axes one as far as their elements are evenly spaced.
  constexpr void join_summed() {
    auto& strides = summed_strides[0];
    while (summed.rank > 1) {
      const auto last = static_cast<std::size_t>(summed.rank - 1);
      if (strides[last - 1] != strides[last] * summed[-1]) return;
      strides[last - 1] = strides[last];
      strides[last] = 0;
      summed.extents[last - 1] *= summed.extents[last];
      summed = without_last(summed);
    }
  }
  static constexpr Shape without_last(Shape axes) {
    if (axes.rank > 0) axes.extents[--axes.rank] = 0;
    return axes;
  }
};

/// Calls f(offset) for the terms of a sum, or only for the first one.
template <const auto& loops, class FirstOnly, class F>
inline void for_each_term(FirstOnly first_only, const F& f) {
  if (first_only) f(std::array<std::int64_t, 1>{});
  else for_each_offset<1>(loops.summed, loops.summed_strides, f);
}
/// Returns what sums start with. A sum of the first term only is that term, even if the term is -0.
inline float start_of_sum(bool first_only) { return first_only ? -0.f : 0.f; }

/// For each v below `vectors`, sums the batches that load(offset of a term, v) returns for all terms, multiplies the sum by
/// scale, and calls f(v, sum). With first_only, there is only the first term.
template <const auto& loops, std::int64_t vectors, class Batch, class Load, class FirstOnly, class F>
inline void sum_vectors(Load&& load, double scale, FirstOnly first_only, const F& f) {
  constexpr auto width = static_cast<std::int64_t>(Batch::size);
  constexpr bool in_parts = loops.summed.nelms() > terms_of_accumulator;
  Batch sum[std::size_t(vectors)];
  for (std::int64_t v = 0; v < vectors; ++v) sum[v] = Batch(start_of_sum(first_only));
  [[maybe_unused]] double totals[static_cast<std::size_t>(in_parts ? vectors * width : 1)]{};
  [[maybe_unused]] std::int64_t terms = 0;
  [[maybe_unused]] const auto empty = [&] {
    alignas(Batch) float elements[static_cast<std::size_t>(vectors * width)];
    for (std::int64_t v = 0; v < vectors; ++v) {
      sum[v].store_aligned(elements + v * width);
      sum[v] = Batch(0.f);
    }
    for (std::int64_t i = 0; i < vectors * width; ++i) totals[i] += static_cast<double>(elements[i]);
    terms = 0;
  };
  for_each_term<loops>(first_only, [&](const auto& at) {
    for (std::int64_t v = 0; v < vectors; ++v) sum[v] += load(at[0], v);
    if constexpr (in_parts)
      if (++terms == terms_of_accumulator) empty();
  });
  if constexpr (in_parts) {
    empty();
    alignas(Batch) float elements[static_cast<std::size_t>(vectors * width)];
    for (std::int64_t i = 0; i < vectors * width; ++i) elements[i] = static_cast<float>(totals[i] * scale);
    for (std::int64_t v = 0; v < vectors; ++v) f(v, Batch::load_aligned(elements + v * width));
  } else {
    for (std::int64_t v = 0; v < vectors; ++v) f(v, sum[v] * Batch(static_cast<float>(scale)));
  }
}

/// Calls epilogue.matrix(b)(i, j, x) for the elements of scale * (sum of in over the axes of `reduced`), a tensor of Out's shape:
/// x is the element (b, i, j), where b counts all leading axes, or an batch of it and its neighbours along j, or a part of
/// a batch at the end of a row. Half precision is summed in float. With first_only, the sums have only the first term, which is
/// the sum of all terms; they are then at most 15 terms of float, at least two elements apart. With long_runs, runs go across the
/// ends of rows: other roundings, and fewer operations.
template <std::uint64_t reduced, class Out, bool long_runs = false, class In, class Epilogue, class FirstOnly = std::false_type>
inline void sum_elements(In in, double scale, const Epilogue& epilogue, FirstOnly first_only = {}) {
  using Sum = compute_t<typename Out::element>;
  using Batch = simd::batch<float>;
  constexpr auto width = static_cast<std::int64_t>(Batch::size);
  constexpr bool floats = computes_in_float(In::spec.dtype) && computes_in_float(Out::spec.dtype);
  // Few terms have one chain of additions in any order of the loops. So the elements can be one row, as in a sum of parts.
  constexpr std::int64_t few_terms = 15;
  static constexpr SumLoops<reduced, In::spec> axes;
  constexpr bool one_row = axes.summed.nelms() <= few_terms && axes.keeps_one_run() && Epilogue::elements_are_one_row;
  static constexpr auto loops = [] {
    SumLoops<reduced, In::spec> result = axes;
    if (one_row) result.join_kept();
    if (long_runs) result.join_summed();
    return result;
  }();
  constexpr std::int64_t columns = one_row ? Out::shape.nelms() : Out::shape.rank > 0 ? Out::shape[-1] : 1;
  constexpr std::int64_t rows = one_row || Out::shape.rank < 2 ? 1 : Out::shape[-2];
  std::int64_t element = 0;  // its number in Out
  const auto give = [&](std::int64_t number, const auto& x) {
    epilogue.matrix(number / columns / rows)(number / columns % rows, number % columns, x);
  };
  const auto sum_one = [&](std::int64_t from) {
    const auto* first = in.data + from;
    // Runs along the last axis are added up one by one, each in several partial sums.
    constexpr bool dense = floats && loops.is_contiguous(loops.summed, loops.summed_strides);
    constexpr bool strided = floats && !dense && loops.summed.rank > 0 && loops.summed[-1] >= 16;
    static constexpr Shape terms = dense || strided ? loops.without_last(loops.summed) : loops.summed;
    const auto term = [&](std::int64_t at) {
      if constexpr (dense) return sum_run<loops.summed[-1]>(first + at);
      else if constexpr (strided)
        return sum_strided_run<loops.summed[-1], loops.summed_strides[0][static_cast<std::size_t>(loops.summed.rank - 1)]>(first +
                                                                                                                           at);
      else return static_cast<Sum>(first[at]);
    };
    // the sums of runs have the roundings of up to terms_of_accumulator terms already
    constexpr std::int64_t most_terms = dense || strided ? 1 : terms_of_accumulator;
    if constexpr (std::is_floating_point_v<Sum> && terms.nelms() > most_terms) {
      double total = 0;
      for_each_offset<1>(terms, loops.summed_strides, [&](const auto& at) { total += static_cast<double>(term(at[0])); });
      give(element++, static_cast<Sum>(total * scale));
    } else {
      Sum sum{};
      if constexpr (std::is_same_v<Sum, float>) sum = start_of_sum(first_only);
      if (first_only) sum = math::add(sum, static_cast<Sum>(term(0)));
      else
        for_each_offset<1>(terms, loops.summed_strides,
                           [&](const auto& at) { sum = math::add(sum, static_cast<Sum>(term(at[0]))); });
      give(element++, math::multiply(sum, static_cast<Sum>(scale)));
    }
  };
  if constexpr (floats && loops.is_contiguous(loops.kept, loops.kept_strides) && loops.kept.rank > 0 &&
                loops.kept[-1] == columns) {  // rows are added up
    static constexpr Shape outer = loops.without_last(loops.kept);
    for_each_offset<1>(outer, loops.kept_strides, [&](const auto& at) {
      constexpr std::int64_t chunk = 4 * width, rest = columns % chunk / width;
      const auto* row = in.data + at[0];
      std::int64_t j = 0;
      const auto load = [&](std::int64_t term, std::int64_t v) { return load_floats<Batch>(row + term + j + v * width); };
      const auto vector = [&](std::int64_t v, const Batch& x) { give(element + j + v * width, x); };
      for (; j + chunk <= columns; j += chunk) sum_vectors<loops, 4, Batch>(load, scale, first_only, vector);
      if constexpr (rest > 0) {
        sum_vectors<loops, rest, Batch>(load, scale, first_only, vector);
        j += rest * width;
      }
      if constexpr (constexpr std::int64_t last = columns % width; last > 0)
        sum_vectors<loops, 1, Batch>(
            [&](std::int64_t term, std::int64_t) {
              return Line<std::remove_pointer_t<decltype(row)>, 1>{row + term}.template load<last>(j);
            },
            scale, first_only, [&](std::int64_t, const Batch& x) { give(element + j, PartOfBatch<last, Batch>{x}); });
      element += columns;
    });
  } else {
    for_each_offset<1>(loops.kept, loops.kept_strides, [&](const auto& at) { sum_one(at[0]); });
  }
}

/// Stores the elements that a kernel passes to its epilogue.
template <class Out>
struct StoreElements {
  static constexpr bool elements_are_one_row = tilewright::elements_are_one_row(Out::spec, Out::shape);
  typename Out::element* data;

  StoreElements matrix(std::int64_t number) const {
    std::int64_t offset = 0;
    for (int axis = 3; axis <= Out::shape.rank; ++axis) {
      offset += number % Out::shape[-axis] * Out::spec.stride(-axis);
      number /= Out::shape[-axis];
    }
    return {data + offset};
  }
  template <class X>
  void operator()(std::int64_t i, std::int64_t j, const X& x) const {
    constexpr std::int64_t row = Out::shape.rank > 1 ? Out::spec.stride(-2) : 0;
    constexpr std::int64_t column = Out::shape.rank > 0 ? Out::spec.stride(-1) : 0;
    auto* at = data + i * row + j * column;
    if constexpr (is_part_of_batch<X>) {
      Line<typename Out::element, column>{at}.template store<X::count>(0, x.batch);
    } else if constexpr (std::is_arithmetic_v<X> || is_half_type<X>) {
      *at = static_cast<typename Out::element>(x);
    } else if constexpr (column == 1) {
      store_floats(at, x);
    } else {
      float elements[X::size];
      x.store_unaligned(elements);
      for (std::size_t k = 0; k < X::size; ++k)
        at[static_cast<std::int64_t>(k) * column] = static_cast<typename Out::element>(elements[k]);
    }
  }
};

/// Stores the elements of a part of sums, which a kernel passes to its epilogue, or adds them to the parts before it. Sums start
/// from 0, as in sum_elements.
template <class Out>
struct AddElements {
  using Element = typename Out::element;
  static_assert(Out::shape.rank == 0 || Out::shape[-1] == 1 || Out::spec.stride(-1) == 1,
                "rows whose elements follow each other");
  static constexpr bool rows_are_one_matrix = true;  // parts are dense
  static constexpr bool elements_are_one_row = tilewright::elements_are_one_row(Out::spec, Out::shape);
  static constexpr bool takes_registers = true;
  Element* data;  // of part 0 if parts are added
  SumPart part{};

  AddElements matrix(std::int64_t number) const { return {StoreElements<Out>{data}.matrix(number).data, part}; }
  template <class X>
  void operator()(std::int64_t i, std::int64_t j, const X& x) const {
    Element* const at = address(i, j);
    if constexpr (is_part_of_batch<X>) {
      const Line<Element, 1> line{at};
      line.template store<X::count>(0, x.batch + before<decltype(x.batch)>([&] { return line.template load<X::count>(0); }));
    } else if constexpr (std::is_arithmetic_v<X>) {
      *at = x + before<X>([&] { return *at; });
    } else {
      (x + before<X>([&] { return X::load_unaligned(at); })).store_unaligned(at);
    }
  }
  void prefetch(std::int64_t i, std::int64_t j) const { __builtin_prefetch(address(i, j), 1); }

 private:
  /// Returns what a part is added to; -0 changes no number.
  template <class X>
  [[gnu::always_inline]] X before(const auto& load) const {
    if (part.number > 0) return load();
    return X(part.is_added() ? 0.f : -0.f);
  }
  Element* address(std::int64_t i, std::int64_t j) const {
    if constexpr (Out::shape.rank > 1) return data + i * Out::spec.stride(-2) + j;
    else return data + j;
  }
};

/// Computes out = scale * (sum of in over the axes of `reduced`). out has in's axes without the reduced ones, or with them as
/// extents of 1.
template <std::uint64_t reduced, bool long_runs = false, class In, class Out>
inline void assign_sum(In in, Out out, double scale) {
  sum_elements<reduced, Out, long_runs>(in, scale, StoreElements<Out>{out.data});
}

}  // namespace tilewright::kernel
