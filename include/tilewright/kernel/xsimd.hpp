#pragma once
#include "tilewright/core/foreign_headers.hpp"
TILEWRIGHT_FOREIGN_HEADERS_BEGIN
#include <xsimd/xsimd.hpp>
TILEWRIGHT_FOREIGN_HEADERS_END
