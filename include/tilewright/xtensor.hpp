#pragma once
// Views and random numbers of xtensor, which tilewright.hpp does not include. xtensor 0.26 moved these headers into sub-folders.
#include "tilewright/core/requirements.hpp"

#include "tilewright/core/platform/foreign_headers.hpp"
#include "tilewright/core/xtensor.hpp"
TILEWRIGHT_FOREIGN_HEADERS_BEGIN
#if __has_include(<xtensor/views/xview.hpp>)
#include <xtensor/generators/xrandom.hpp>
#include <xtensor/views/xindex_view.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xindex_view.hpp>
#include <xtensor/xrandom.hpp>
#include <xtensor/xview.hpp>
#endif
TILEWRIGHT_FOREIGN_HEADERS_END
