#pragma once
#include <algorithm>
#include <cstdint>

#include "tilewright/execute/library/rows.hpp"
#include "tilewright/kernel/reduce/sum.hpp"
#include "tilewright/ops/reduce/sum.hpp"

namespace tilewright::internal {

/// A sum over axes, whose extents are arguments.
class LibrarySum {
 public:
  explicit LibrarySum(const LibraryCall& call) : in_(call.operands[0].view), columns_(call.columns) {
    const auto attributes = unpack<ReductionAttributes>(call.stage->attributes);
    const std::uint64_t reduced = ReductionRules::axis_bits(attributes, in_.shape.rank);
    scale_ = attributes.scale;
    int out_axis = 0;
    for (int axis = 0; axis < in_.shape.rank; ++axis) {
      if ((reduced >> axis & 1) != 0) {
        summed_.push_back(in_.shape[axis]);
        summed_strides_[0][static_cast<std::size_t>(summed_.rank - 1)] = in_.stride(axis);
        out_axis += attributes.keep_axes != 0 ? 1 : 0;
      } else if (out_axis++ == call.leading.rank) {
        column_ = in_.stride(axis);
      } else {
        row_.rows[static_cast<std::size_t>(out_axis - 1)] = in_.stride(axis);
      }
    }
  }

  /// Calls end(row, column, count, sums) for all elements. `first_only`: each sum is its first term.
  template <class T, class End>
  void compute(const T* in, const Shape& leading, bool first_only, End& end) {
    for (std::int64_t row = 0; row < leading.nelms(); ++row)
      for (std::int64_t j = 0; j < columns_; j += library_columns) {
        const std::int64_t count = (std::min)(library_columns, columns_ - j);
        const T* const from = in + row_.offset_of_row(leading, row) + j * column_;
        if (first_only) copy_terms(from, count);
        else if (is_along_runs()) add_runs(from, count);
        else add_rows(from, count);
        for (std::int64_t i = 0; i < count; ++i) sums_[i] *= static_cast<float>(scale_);
        end(row, j, count, sums_);
      }
  }

 private:
  /// Whether terms of a sum follow each other in memory, more closely than the sums.
  bool is_along_runs() const {
    return summed_.rank > 0 && summed_[-1] > 1 && (columns_ == 1 || column_ != 1) &&
           summed_strides_[0][static_cast<std::size_t>(summed_.rank - 1)] == 1;
  }
  template <class T>
  void copy_terms(const T* from, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) sums_[i] = static_cast<float>(from[i * column_]);
  }
  /// Adds terms to all sums of a row, in float64 after each terms_of_accumulator of them.
  template <class T>
  void add_rows(const T* from, std::int64_t count) {
    const bool is_long = summed_.nelms() > kernel::terms_of_accumulator;
    std::int64_t terms = 0;
    std::fill_n(sums_, count, 0.f);
    if (is_long) std::fill_n(totals_, count, 0.);
    const auto empty = [&] {
      for (std::int64_t i = 0; i < count; ++i) totals_[i] += static_cast<double>(sums_[i]);
      std::fill_n(sums_, count, 0.f);
      terms = 0;
    };
    for_each_offset<1>(summed_, summed_strides_, [&](const auto& at) {
      const T* const term = from + at[0];
      if (column_ == 1)
        for (std::int64_t i = 0; i < count; ++i) sums_[i] += static_cast<float>(term[i]);
      else
        for (std::int64_t i = 0; i < count; ++i) sums_[i] += static_cast<float>(term[i * column_]);
      if (is_long && ++terms == kernel::terms_of_accumulator) empty();
    });
    if (!is_long) return;
    empty();
    for (std::int64_t i = 0; i < count; ++i) sums_[i] = static_cast<float>(totals_[i]);
  }
  /// Adds the terms of each sum, run by run.
  template <class T>
  void add_runs(const T* from, std::int64_t count) {
    Shape outer = summed_;
    outer.extents[--outer.rank] = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      double total = 0;
      for_each_offset<1>(outer, summed_strides_,
                         [&](const auto& at) { total += of_run(from + i * column_ + at[0], summed_[-1]); });
      sums_[i] = static_cast<float>(total);
    }
  }
  template <class T>
  static double of_run(const T* from, std::int64_t terms) {
    using kernel::FloatBatch, kernel::float_width;
    double total = 0;
    while (terms >= float_width) {
      const std::int64_t part = (std::min)(terms / float_width, kernel::terms_of_accumulator) * float_width;
      FloatBatch sum(0.f);
      for (std::int64_t k = 0; k < part; k += float_width) sum += kernel::load_floats<FloatBatch>(from + k);
      total += static_cast<double>(math::sum(sum));
      from += part, terms -= part;
    }
    float rest = 0;
    for (std::int64_t k = 0; k < terms; ++k) rest += static_cast<float>(from[k]);
    return total + static_cast<double>(rest);
  }

  ViewSpec in_;
  std::int64_t columns_, column_ = 0;
  RowOperand row_;
  Shape summed_;
  std::array<std::array<std::int64_t, max_rank>, 1> summed_strides_{};
  double scale_ = 1;
  alignas(memory_alignment) float sums_[library_columns];
  double totals_[library_columns];
};

template <class End>
void run_sum(const LibraryCall& call, std::byte* const* locations, std::byte* scratch, End& end, bool first_only) {
  LibrarySum sum(call);
  with_float_type(call.operands[0].view.dtype, [&]<class T>(T*) {
    sum.compute(reinterpret_cast<const T*>(call.address(0).base(locations, scratch)), call.leading, first_only, end);
  });
}

}  // namespace tilewright::internal
