#pragma once
// The version of xtensor, whose header reads xsimd: programs that are compiled to run need both.
#include "tilewright/core/requirements.hpp"

#include "tilewright/core/platform/foreign_headers.hpp"
#include "tilewright/core/platform/vectors.hpp"
#ifndef TILEWRIGHT_LACKS_REQUIREMENTS
#if !defined(XTENSOR_USE_XSIMD) && !defined(TILEWRIGHT_VECTOR_BYTES)
#define XTENSOR_USE_XSIMD
#endif
TILEWRIGHT_FOREIGN_HEADERS_BEGIN
#if __has_include(<xtensor/core/xtensor_config.hpp>)
#include <xtensor/core/xtensor_config.hpp>
#else
#include <xtensor/xtensor_config.hpp>
#endif
TILEWRIGHT_FOREIGN_HEADERS_END
#if !defined(XTENSOR_VERSION_MAJOR) || XTENSOR_VERSION_MAJOR * 100 + XTENSOR_VERSION_MINOR < 24
#define TILEWRIGHT_LACKS_REQUIREMENTS
#include "tilewright/tilewright.hpp"  // says what is needed
#endif
#endif
