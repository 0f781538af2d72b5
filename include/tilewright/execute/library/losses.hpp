#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "tilewright/execute/library/rows.hpp"
#include "tilewright/operand/faults.hpp"
#include "tilewright/ops/nn/cross_entropy.hpp"
#include "tilewright/ops/nn/cross_entropy_code.hpp"

namespace tilewright::internal {

/// Losses of logits and their gradients, whose extents are arguments. T: the logits' type; L: the labels'.
template <class T, class L>
class LibraryLoss {
 public:
  LibraryLoss(const LibraryCall& call, std::byte* const* locations, std::byte* scratch)
      : call_(call), locations_(locations), scratch_(scratch), attributes_(unpack<NllAttributes>(call.stage->attributes)) {
    const Shape& shape = view(0).shape;
    classes_ = shape[-1];
    for (int axis = 0; axis + 1 < shape.rank; ++axis) rows_.push_back(shape[axis]);
    has_all_labels_ = call.stage->input_count > 2 && is_int(view(call.stage->input_count - 1).dtype);
  }

  void compute(FaultRecord* record) {
    const int results = call_.stage->input_count;
    const bool has_loss = call_.kernel != LibraryKernel::loss_gradient;
    const int dx = call_.kernel == LibraryKernel::loss ? -1 : has_loss ? results + 1 : results;
    const bool takes_factor = results - (has_all_labels_ ? 1 : 0) == 3;
    const double divisor = divisor_of(has_all_labels_ ? results - 1 : 1);
    double total = 0;
    for (std::int64_t row = 0; row < rows_.nelms(); ++row) {
      const auto given = static_cast<std::int64_t>(*at<const L>(1, row));
      const bool is_ignored = attributes_.ignores != 0 && given == attributes_.ignore_index;
      if (record != nullptr && !is_ignored && (given < 0 || given >= classes_)) Faults(*record).report(given);
      const std::int64_t label = given < 0 || given >= classes_ || is_ignored ? -1 : given;
      double factor = call_.kernel == LibraryKernel::loss_with_gradient ? attributes_.loss_grad : 1;
      if (takes_factor) factor = static_cast<double>(*at<const T>(2, has_loss ? 0 : row));
      T* const gradient = dx < 0 ? nullptr : at<T>(dx, row);
      double value = 0;
      if (label >= 0) value = loss_of_row(at<const T>(0, row), label, factor / divisor, gradient);
      else if (gradient != nullptr) std::fill_n(gradient, classes_, T(0.f));
      if (has_loss && attributes_.reduction == Reduction::none) *at<T>(results, row) = static_cast<T>(static_cast<float>(value));
      total += value;
    }
    if (has_loss && attributes_.reduction != Reduction::none)
      *at<T>(results, 0) = static_cast<T>(static_cast<float>(total / divisor));
  }

 private:
  const ViewSpec& view(int o) const { return call_.operands[static_cast<std::size_t>(o)].view; }
  /// Returns the address of a row's first element in an operand, or of the only element.
  template <class E>
  E* at(int o, std::int64_t row) const {
    const ViewSpec& spec = view(o);
    std::int64_t offset = 0;
    if (spec.shape.rank >= rows_.rank)
      for (int axis = rows_.rank; axis-- > 0; row /= rows_[axis]) offset += row % rows_[axis] * spec.stride(axis);
    return reinterpret_cast<E*>(call_.address(static_cast<std::size_t>(o)).base(locations_, scratch_)) + offset;
  }
  double divisor_of(int all_labels) const {
    if (attributes_.reduction != Reduction::mean) return 1;
    const auto* const labels = at<const L>(all_labels, 0);
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < view(all_labels).shape.nelms(); ++i) {
      const auto label = static_cast<std::int64_t>(labels[i]);
      count += label >= 0 && label < classes_ && !(attributes_.ignores != 0 && label == attributes_.ignore_index);
    }
    return static_cast<double>(std::max<std::int64_t>(count, 1));
  }
  /// Returns the loss of a row, and writes its gradient if there is one, which may lie where the logits do.
  double loss_of_row(const T* logits, std::int64_t label, double factor, T* gradient) const {
    const auto logit = static_cast<float>(logits[label]);
    const float largest = largest_of(logits);
    const auto sum = static_cast<float>(over_parts(
        logits,
        [&](const float* x, std::int64_t count, std::int64_t) {
          float part = 0;
          for (std::int64_t i = 0; i < count; ++i) part += x[i];
          return static_cast<double>(part);
        },
        largest));
    if (gradient != nullptr) {
      const auto scale = static_cast<float>(factor), scaled = scale / sum;
      over_parts(
          logits,
          [&](const float* x, std::int64_t count, std::int64_t first) {
            for (std::int64_t i = 0; i < count; ++i) gradient[first + i] = static_cast<T>(x[i] * scaled);
            return 0.;
          },
          largest);
      gradient[label] = static_cast<T>((math::exp(logit - largest) / sum - 1) * scale);
    }
    return tilewright::detail::cross_entropy_of(kernel::ExponentialSum<float>{largest, sum}, logit);
  }
  float largest_of(const T* logits) const {
    float largest = -std::numeric_limits<float>::infinity();
    for (std::int64_t i = 0; i < classes_; ++i) largest = (math::max)(largest, static_cast<float>(logits[i]));
    return largest;
  }
  /// Calls f(exponentials, count, first class) for parts of a row, and returns the sum of what it returns.
  template <class F>
  double over_parts(const T* logits, const F& f, float largest) const {
    using kernel::FloatBatch, kernel::float_width;
    alignas(memory_alignment) float x[library_columns];
    double total = 0;
    for (std::int64_t first = 0; first < classes_; first += library_columns) {
      const std::int64_t count = (std::min)(library_columns, classes_ - first);
      for (std::int64_t i = 0; i < count; ++i) x[i] = static_cast<float>(logits[first + i]) - largest;
      std::fill(x + count, x + (count + float_width - 1) / float_width * float_width, 0.f);
      for (std::int64_t i = 0; i < count; i += float_width) math::exp(FloatBatch::load_aligned(x + i)).store_aligned(x + i);
      total += f(x, count, first);
    }
    return total;
  }

  const LibraryCall& call_;
  std::byte* const* locations_;
  std::byte* scratch_;
  NllAttributes attributes_;
  std::int64_t classes_ = 1;
  Shape rows_;
  bool has_all_labels_ = false;
};

template <class Call>
void run_loss(const Call& call, std::byte* const* locations, std::byte* scratch, FaultRecord* record) {
  with_float_type(call.operands[0].view.dtype, [&]<class T>(T*) {
    if (call.operands[1].view.dtype == int32) LibraryLoss<T, std::int32_t>(call, locations, scratch).compute(record);
    else LibraryLoss<T, std::uint32_t>(call, locations, scratch).compute(record);
  });
}

}  // namespace tilewright::internal
