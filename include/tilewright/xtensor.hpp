#pragma once
// Those parts of xtensor that programs use and tilewright.hpp does not have: views and random numbers. xtensor 0.26 moved its headers
// into sub-folders; this includes them wherever the version at hand keeps them.
#include "tilewright/kernel/xtensor.hpp"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#if __has_include(<xtensor/views/xview.hpp>)
#include <xtensor/generators/xrandom.hpp>
#include <xtensor/views/xindex_view.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xindex_view.hpp>
#include <xtensor/xrandom.hpp>
#include <xtensor/xview.hpp>
#endif
#pragma GCC diagnostic pop
