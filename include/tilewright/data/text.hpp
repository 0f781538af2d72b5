#pragma once
// Texts to train with: characters as tokens, files, random crops. Needs zlib.
#include "tilewright/core/requirements.hpp"

#include "tilewright/data/character_vocabulary.hpp"
#include "tilewright/data/generated_text.hpp"
#include "tilewright/data/text_batches.hpp"
#include "tilewright/data/text_corpus.hpp"
