#pragma once
// State on disk. Needs libzip, zlib and nlohmann-json.
#include "tilewright/core/requirements.hpp"

#include "tilewright/checkpoint/checkpoints.hpp"
#include "tilewright/checkpoint/hugging_face.hpp"
#include "tilewright/checkpoint/npz.hpp"
#include "tilewright/checkpoint/safetensors.hpp"
#include "tilewright/checkpoint/tensor_rules.hpp"
