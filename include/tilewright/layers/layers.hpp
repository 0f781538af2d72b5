#pragma once
/// Includes all layers.
#include "tilewright/core/requirements.hpp"

#include "tilewright/layers/attention.hpp"
#include "tilewright/layers/batch_norm.hpp"
#include "tilewright/layers/conv.hpp"
#include "tilewright/layers/dropout.hpp"
#include "tilewright/layers/embedding.hpp"
#include "tilewright/layers/feed_forward.hpp"
#include "tilewright/layers/group_norm.hpp"
#include "tilewright/layers/layer_norm.hpp"
#include "tilewright/layers/linear.hpp"
#include "tilewright/layers/llama.hpp"
#include "tilewright/layers/pool.hpp"
#include "tilewright/layers/recurrent.hpp"
#include "tilewright/layers/rms_norm.hpp"
#include "tilewright/layers/rotary.hpp"
#include "tilewright/layers/transformer_block.hpp"
