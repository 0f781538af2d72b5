#pragma once
#include "tilewright/core/platform/foreign_headers.hpp"
#include "tilewright/core/platform/xtensor_config.hpp"
TILEWRIGHT_FOREIGN_HEADERS_BEGIN
#include <xsimd/xsimd.hpp>
TILEWRIGHT_FOREIGN_HEADERS_END
