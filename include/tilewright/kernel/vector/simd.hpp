#pragma once
// Vectors of kernels, in the namespace `simd`: those of xsimd, or the compiler's where TILEWRIGHT_VECTOR_BYTES says their width.
#include "tilewright/core/platform/foreign_headers.hpp"
#include "tilewright/core/platform/vectors.hpp"
#include "tilewright/core/platform/xtensor_config.hpp"
#include "tilewright/kernel/vector/compiler_vectors.hpp"

#ifndef TILEWRIGHT_VECTOR_BYTES
TILEWRIGHT_FOREIGN_HEADERS_BEGIN
#include <xsimd/xsimd.hpp>
TILEWRIGHT_FOREIGN_HEADERS_END

namespace tilewright::simd {
using namespace ::xsimd;
}  // namespace tilewright::simd
#endif
