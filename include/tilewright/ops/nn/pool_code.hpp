#pragma once
#include "tilewright/kernel/image/pool.hpp"
#include "tilewright/kernel/image/pool_blocks.hpp"
#include "tilewright/kernel/image/pool_loops.hpp"
#include "tilewright/kernel/image/pool_pixels.hpp"
#include "tilewright/ops/nn/pool.hpp"
#include "tilewright/ops/nn/pool_in_blocks.hpp"

namespace tilewright {

namespace detail {
/// Kernel for a plane of elements T.
template <kernel::Windows windows, kernel::PoolGaps gaps, class T>
using pool_kernel = std::conditional_t<gaps.none(), kernel::Pool<windows, T>, kernel::PoolLoops<windows, gaps, T>>;
/// Kernel of a pooling of x, and of the gradient of an average.
template <PackedAttributes A, class X>
struct PoolOfPlane {
  static constexpr auto attributes = unpack<PoolAttributes>(A);
  static constexpr kernel::Windows windows = windows_of(attributes.spread(X::shape), attributes.kernel_size(),
                                                        attributes.windows);
  static constexpr kernel::PoolGaps gaps = attributes.gaps(X::shape.rank - 2);
  using Kernel = pool_kernel<windows, gaps, typename X::element>;
};
template <PackedAttributes A, class DY>
struct AveragePoolGradOfPlane {
  static constexpr kernel::Windows windows = unpack<PoolGradAttributes>(A).windows.windows();
  static constexpr kernel::PoolGaps gaps = unpack<PoolGradAttributes>(A).gaps();
  using Kernel = pool_kernel<windows, gaps, typename DY::element>;
};
}  // namespace detail

template <class D>
template <PackedAttributes A, class X, class Y>
inline void PoolForward<D>::compute(X x, Y y) {
  kernel::for_each_plane(D::template pool<typename detail::PoolOfPlane<A, X>::Kernel, typename X::element>, x, y);
}

template <class D>
template <PackedAttributes A, class X, class Y>
inline void PoolForward<D>::compute_rows(const typename X::element* x, typename Y::element* y, std::int64_t first,
                                         std::int64_t count) {
  using Kernel = typename detail::PoolOfPlane<A, X>::Kernel;
  D::template pool_rows<Kernel>(x, y, Kernel::b.ends_before(first), Kernel::b.ends_before(first + count));
}

template <class D>
template <PackedAttributes A, class X, class Y>
constexpr std::int64_t PoolForward<D>::stack_bytes() {
  return D::template pool_stack_bytes<typename detail::PoolOfPlane<A, X>::Kernel>;
}

template <PackedAttributes A, class X, class DY, class DX>
inline void MaxPoolGrad::compute(X x, DY dy, DX dx) {
  static constexpr kernel::Windows windows = unpack<Attributes>(A).windows.windows();
  static constexpr kernel::PoolGaps gaps = unpack<Attributes>(A).gaps();
  if constexpr (kernel::takes_pixels<X>)
    return kernel::PoolPixels<windows, X, DY>::maximum_gradient(x, dy, [dx](std::int64_t n, std::int64_t row) {
      float* const to = dx.data + n * DX::spec.stride(0) + row * DX::spec.stride(2);
      return [to](std::int64_t column, std::int64_t channel, const auto& gradient) __attribute__((always_inline)) {
        kernel::store_batch(kernel::Line<float, 1>{to + column * DX::spec.stride(3)}, channel, gradient);
      };
    });
  else
    kernel::for_each_plane(
        detail::pool_kernel<windows, gaps, typename X::element>::template maximum_gradient<typename DX::element>, x, dy, dx);
}

template <PackedAttributes A, class X, class DY, class DX>
constexpr std::int64_t MaxPoolGrad::stack_bytes() {
  if constexpr (kernel::takes_pixels<X>) {
    constexpr kernel::Windows windows = unpack<Attributes>(A).windows.windows();
    return sizeof(typename kernel::PoolPixels<windows, X, DY>::Arrays);
  } else {
    return 0;
  }
}

template <PackedAttributes A, class DX, class Epilogue, class X, class DY>
inline void MaxPoolGrad::compute_with(const Epilogue& epilogue, X x, DY dy) {
  if constexpr (takes_epilogue(A)) {
    static constexpr kernel::Windows windows = unpack<Attributes>(A).windows.windows();
    if constexpr (kernel::takes_pixels<X>)
      return kernel::PoolPixels<windows, X, DY>::maximum_gradient(
          x, dy, [&](std::int64_t n, std::int64_t row) { return epilogue.matrix(n * windows[1].in + row); });
    constexpr std::int64_t in = windows[1].in * windows[2].in, out = windows[1].out * windows[2].out;
    std::int64_t matrix = 0;
    kernel::for_each_plane(
        [&](const auto* x_plane, const auto* dy_plane) {
          for (std::int64_t i = 0; i < windows[0].in; ++i)
            kernel::PoolPairs<windows, typename X::element>::maximum_gradient(x_plane + i * in, dy_plane + i * out,
                                                                              epilogue.matrix(matrix++));
        },
        x, dy);
  }
}

template <PackedAttributes A, class X, class Y>
inline void MaxPool::compute(X x, Y y) {
  if constexpr (kernel::takes_pixels<X>) {
    static constexpr kernel::Windows windows = detail::windows_of(X::shape, unpack<Attributes>(A).kernel_size(),
                                                                  unpack<Attributes>(A).windows);
    kernel::PoolPixels<windows, X, Y>::maximum(x, y);
  } else {
    PoolForward::template compute<A>(x, y);
  }
}

template <PackedAttributes A, class X, class Y>
constexpr std::int64_t MaxPool::stack_bytes() {
  if constexpr (kernel::takes_pixels<X>) {
    constexpr kernel::Windows windows = detail::windows_of(X::shape, unpack<Attributes>(A).kernel_size(),
                                                           unpack<Attributes>(A).windows);
    return sizeof(typename kernel::PoolPixels<windows, X, Y>::Arrays);
  } else {
    return PoolForward::template stack_bytes<A, X, Y>();
  }
}

template <PackedAttributes A, class DY, class DX>
inline void AveragePoolGrad::compute(DY dy, DX dx) {
  kernel::for_each_plane(detail::AveragePoolGradOfPlane<A, DY>::Kernel::template average_gradient<typename DX::element>, dy, dx);
}

template <PackedAttributes A, class DY, class DX>
constexpr std::int64_t AveragePoolGrad::stack_bytes() {
  return detail::AveragePoolGradOfPlane<A, DY>::Kernel::average_gradient_stack_bytes;
}

template <class D>
template <PackedAttributes A, class... V>
inline void PoolInBlocks<D>::compute(V... views) {
  using Kernel = kernel::BlockPool<unpack<Attributes>(A).blocks()>;
  if constexpr (std::is_same_v<D, MaxPool>) Kernel::maximum(views...);
  else if constexpr (std::is_same_v<D, AveragePool>) Kernel::average(views...);
  else if constexpr (std::is_same_v<D, MaxPoolGrad>) Kernel::maximum_gradient(views...);
  else Kernel::average_gradient(views...);
}

}  // namespace tilewright
