#pragma once
// Those parts of xtensor that programs use and tilewright.hpp does not have: views and random numbers. xtensor 0.26 moved its
// headers into sub-folders; this includes them wherever the version at hand keeps them.
#include "tilewright/core/requirements.hpp"

#include "tilewright/core/foreign_headers.hpp"
#include "tilewright/kernel/xtensor.hpp"
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
