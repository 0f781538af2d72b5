// Layers that do not compile.
#include <tilewright/layers/dropout.hpp>
#include <tilewright/layers/embedding.hpp>

#include "traced.hpp"

namespace layers = tw::layers;
constexpr tw::TensorSpec x{{2, 4}, tw::float32};

// CASE no_mode
// expect: Dropout: traced without a mode: tw::training(ir) or tw::evaluation(ir) before create_graph expected
// expect: in Dropout
Traced<[](Ir& ir) { (void)tw::create_graph(ir, layers::Dropout(0.5), x, tw::TensorSpec{{2}, tw::uint32}); }> no_mode;

// CASE no_seed
// expect: Dropout: (2, 4) float32 in training without a seed: dropout(x, seed) expected
Traced<[](Ir& ir) {
  const auto mode = tw::training(ir);
  (void)tw::create_graph(ir, layers::Dropout(0.5), x);
}> no_seed;

// CASE head_before_embedding
// expect: Embedding: logits of (2, 4) float32 before the embedding was called: a call expected
struct Head : tw::Module<Head> {
  using Table = layers::Embedding<7, 4>;
  BOOST_HANA_DEFINE_STRUCT(Head, (Table, table));
  constexpr Tensor build(Tensor y) { return table.logits(y); }
};
Traced<[](Ir& ir) { (void)tw::create_graph(ir, Head{}, x); }> head_before_embedding;
