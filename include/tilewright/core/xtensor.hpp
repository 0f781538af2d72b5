#pragma once
// The xtensor headers that arrays of the host need, wherever this version of xtensor keeps them (0.26 moved them into
// sub-folders).
#include "tilewright/core/platform/foreign_headers.hpp"
#include "tilewright/core/platform/xtensor_config.hpp"
TILEWRIGHT_FOREIGN_HEADERS_BEGIN
#if __has_include(<xtensor/containers/xadapt.hpp>)
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/containers/xarray.hpp>
#include <xtensor/containers/xfixed.hpp>
#include <xtensor/containers/xtensor.hpp>
#include <xtensor/core/xmath.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xfixed.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xtensor.hpp>
#if defined(__clang__)  // from 19 on, svector matches two specialisations, so that no xarray compiles
template <class X, class T, std::size_t N>
struct xt::rebind_container<X, xt::svector<T, N>> {
  using type = xt::svector<X, N>;
};
#endif
#endif
TILEWRIGHT_FOREIGN_HEADERS_END
