#pragma once
#include "../ipu/bert.hpp"

/// A training step of an encoder layer of BERT-Large, for 128 tokens in float16.
inline constexpr auto bert_layer = bert::training<1>;
