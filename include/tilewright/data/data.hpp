#pragma once
// Data to train with. Needs zlib.
#include "tilewright/core/requirements.hpp"

#include "tilewright/data/arrays.hpp"
#include "tilewright/data/augment.hpp"
#include "tilewright/data/cifar.hpp"
#include "tilewright/data/csv.hpp"
#include "tilewright/data/generated_digits.hpp"
#include "tilewright/data/loader.hpp"
#include "tilewright/data/mnist.hpp"
#include "tilewright/data/subset.hpp"
#include "tilewright/data/text.hpp"
