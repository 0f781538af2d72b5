#pragma once
#include "tilewright/kernel/image/roi_align.hpp"
#include "tilewright/operand/view.hpp"
#include "tilewright/ops/nn/roi_align.hpp"

namespace tilewright {

template <PackedAttributes, class Rois, class Index, class DY, class DX>
constexpr std::int64_t RoiAlignGrad::stack_bytes() {
  using Sum = compute_t<typename DX::element>;
  return std::is_same_v<typename DX::element, Sum>
             ? 0
             : rows_at_once(DX::shape) * DX::shape[3] * static_cast<std::int64_t>(sizeof(Sum));
}

template <PackedAttributes A, class Rois, class Index, class DY, class DX>
inline void RoiAlignGrad::compute(Rois rois, Index index, DY dy, DX dx) {
  using T = typename DX::element;
  using Sum = compute_t<T>;
  constexpr std::int64_t channels = DX::shape[1], rows = DX::shape[2], columns = DX::shape[3];
  static constexpr kernel::RoiBins bins = unpack<Attributes>(A).bins(rows, columns);
  // Half precision is added up in float, some rows at a time.
  constexpr bool direct = std::is_same_v<T, Sum>;
  constexpr std::int64_t block = direct ? rows : rows_at_once(DX::shape);
  for (std::int64_t image = 0; image < DX::shape[0]; ++image)
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      T* const plane = dx.data + image * DX::spec.stride(0) + channel * DX::spec.stride(1);
      for (std::int64_t row = 0; row < rows; row += block) {
        const std::int64_t begin = row * columns, count = (std::min)(block, rows - row) * columns;
        Sum sums[direct ? 1 : std::size_t(block * columns)];
        Sum* const to = [&] {
          if constexpr (direct) return plane + begin;
          else return sums;
        }();
        std::fill_n(to, count, Sum{});
        for (std::int64_t roi = 0; roi < DY::shape[0]; ++roi) {
          if (static_cast<std::int64_t>(index.data[roi]) != image) continue;
          const auto* const from = dy.data + roi * DY::spec.stride(0) + channel * DY::spec.stride(1);
          const auto* const box = rois.data + roi * Rois::spec.stride(0);
          bins.for_each_weight(box[0], box[1], box[2], box[3], [&](std::int64_t bin, std::int64_t element, double weight) {
            if (element < begin || element >= begin + count) return;
            to[element - begin] += static_cast<Sum>(weight) * static_cast<Sum>(from[bin]);
          });
        }
        if constexpr (!direct) std::transform(to, to + count, plane + begin, [](Sum sum) { return static_cast<T>(sum); });
      }
    }
}

template <PackedAttributes, class X, class Rois, class Index, class Y>
constexpr std::int64_t RoiAlign::stack_bytes() {
  return Y::shape[2] * Y::shape[3] * static_cast<std::int64_t>(sizeof(compute_t<typename Y::element>));
}

template <PackedAttributes A, class... V>
inline void RoiAlign::compute(V... views) {
  align<A>([](std::int64_t) {}, views...);
}

template <PackedAttributes A, class... V>
inline void RoiAlign::compute_checked(Faults faults, V... views) {
  align<A>([&](std::int64_t index) { faults.report(index); }, views...);
}

template <PackedAttributes A, class Report, class X, class Rois, class Index, class Y>
inline void RoiAlign::align(const Report& report, X x, Rois rois, Index index, Y y) {
  using Sum = compute_t<typename Y::element>;
  constexpr std::int64_t channels = X::shape[1], count = Y::shape[2] * Y::shape[3];
  static constexpr kernel::RoiBins bins = unpack<Attributes>(A).bins(X::shape[2], X::shape[3]);
  for (std::int64_t roi = 0; roi < Y::shape[0]; ++roi) {
    const auto image = static_cast<std::int64_t>(index.data[roi]);
    const bool exists = image >= 0 && image < X::shape[0];
    if (!exists) report(image);
    const auto* const box = rois.data + roi * Rois::spec.stride(0);
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      Sum sums[std::size_t(count)]{};
      if (exists) {
        const auto* const plane = x.data + image * X::spec.stride(0) + channel * X::spec.stride(1);
        bins.for_each_weight(box[0], box[1], box[2], box[3], [&](std::int64_t bin, std::int64_t element, double weight) {
          sums[bin] += static_cast<Sum>(weight) * static_cast<Sum>(plane[element]);
        });
      }
      auto* const to = y.data + roi * Y::spec.stride(0) + channel * Y::spec.stride(1);
      std::transform(sums, sums + count, to, [](Sum sum) { return static_cast<typename Y::element>(sum); });
    }
  }
}

}  // namespace tilewright
