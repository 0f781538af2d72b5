#pragma once
// Images in PNG files. Needs libpng and zlib.
#include "tilewright/core/requirements.hpp"

#include "tilewright/images/image_folder.hpp"
#include "tilewright/images/png.hpp"
