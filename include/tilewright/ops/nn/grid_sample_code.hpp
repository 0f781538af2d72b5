#pragma once
#include "tilewright/kernel/elementwise.hpp"
#include "tilewright/kernel/image/grid_sample.hpp"
#include "tilewright/ops/nn/grid_sample.hpp"

namespace tilewright {

template <PackedAttributes A, class Grid, class DY, class DX>
inline void GridSampleGrad::compute(Grid grid, DY dy, DX dx) {
  constexpr auto attributes = unpack<Attributes>(A);
  kernel::fill_elements(dx, typename DX::element{});
  kernel::for_each_point(
      grid, attributes.axis(DX::shape[2]), attributes.axis(DX::shape[3]),
      [&](std::int64_t n, std::int64_t r, std::int64_t c, const kernel::GridTaps& rows, const kernel::GridTaps& columns) {
        for (std::int64_t channel = 0; channel < DX::shape[1]; ++channel) {
          const auto value = kernel::plane_of(dy, n, channel)[r * DY::spec.stride(2) + c * DY::spec.stride(3)];
          auto* const plane = kernel::plane_of(dx, n, channel);
          kernel::for_each_element<DX>(rows, columns, [&](std::int64_t offset, double row, double column, double, double) {
            plane[offset] += static_cast<typename DX::element>(row * column) * value;
          });
        }
      });
}

template <PackedAttributes A, class X, class Grid, class DY, class DGrid>
inline void GridSampleGridGrad::compute(X x, Grid grid, DY dy, DGrid dgrid) {
  constexpr auto attributes = unpack<Attributes>(A);
  kernel::for_each_point(
      grid, attributes.axis(X::shape[2]), attributes.axis(X::shape[3]),
      [&](std::int64_t n, std::int64_t r, std::int64_t c, const kernel::GridTaps& rows, const kernel::GridTaps& columns) {
        double of_x = 0, of_y = 0;
        for (std::int64_t channel = 0; channel < X::shape[1]; ++channel) {
          const auto value = static_cast<double>(
              kernel::plane_of(dy, n, channel)[r * DY::spec.stride(2) + c * DY::spec.stride(3)]);
          const auto* const plane = kernel::plane_of(x, n, channel);
          kernel::for_each_element<X>(rows, columns,
                                      [&](std::int64_t offset, double row, double column, double by_y, double by_x) {
                                        const double product = static_cast<double>(plane[offset]) * value;
                                        of_x += row * by_x * product, of_y += by_y * column * product;
                                      });
        }
        auto* const to = dgrid.data + n * DGrid::spec.stride(0) + r * DGrid::spec.stride(1) + c * DGrid::spec.stride(2);
        to[0] = static_cast<typename DGrid::element>(of_x);
        to[DGrid::spec.stride(3)] = static_cast<typename DGrid::element>(of_y);
      });
}

template <PackedAttributes A, class X, class Grid, class Y>
inline void GridSample::compute(X x, Grid grid, Y y) {
  using Sum = compute_t<typename Y::element>;
  constexpr auto attributes = unpack<Attributes>(A);
  kernel::for_each_point(
      grid, attributes.axis(X::shape[2]), attributes.axis(X::shape[3]),
      [&](std::int64_t n, std::int64_t r, std::int64_t c, const kernel::GridTaps& rows, const kernel::GridTaps& columns) {
        for (std::int64_t channel = 0; channel < X::shape[1]; ++channel) {
          const auto* const plane = kernel::plane_of(x, n, channel);
          Sum sum{};
          kernel::for_each_element<X>(rows, columns, [&](std::int64_t offset, double row, double column, double, double) {
            sum += static_cast<Sum>(row * column) * static_cast<Sum>(plane[offset]);
          });
          kernel::plane_of(y, n, channel)[r * Y::spec.stride(2) + c * Y::spec.stride(3)] = static_cast<typename Y::element>(sum);
        }
      });
}

}  // namespace tilewright
