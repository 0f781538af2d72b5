// labels: more
// A transformer whose embedding, blocks and head take turns on the machine: what fits there, and that it learns as a plain one.
#include <random>

#include "../../support/elements.hpp"
#include "tilewright/layers/embedding.hpp"
#include "tilewright/layers/transformer_block.hpp"
#include "tilewright/train/phased_layers.hpp"
#include "tilewright/train/step.hpp"

namespace {

using tw::Ir, tw::Tensor;
namespace layers = tw::layers;
namespace ops = tw::ops;
namespace train = tw::train;

struct Size {
  int width, length, blocks, vocabulary = 512;
};

template <Size size>
struct Embedding : tw::Module<Embedding<size>> {
  using Tokens = layers::Embedding<size.vocabulary, size.width, {.std = 0.02}>;
  using Positions = layers::Embedding<size.length, size.width, {.std = 0.02}>;
  BOOST_HANA_DEFINE_STRUCT(Embedding, (Tokens, tokens), (Positions, positions));
  constexpr Tensor build(Tensor x) { return tokens(x) + positions(this->ir().constant(tw::range(), {size.length}, tw::int32)); }
};
template <Size size>
using Block = layers::TransformerBlock<size.width, size.width / 64,
                                       {.dim_feedforward = 4 * size.width,
                                        .activation = layers::Activation::gelu,
                                        .norm_first = true,
                                        .is_causal = true,
                                        .dropout = 0,
                                        .std = 0.02}>;
template <Size size>
struct Head : tw::Module<Head<size>> {
  using Linear = layers::Linear<size.vocabulary, {.bias = false, .std = 0.02}>;
  BOOST_HANA_DEFINE_STRUCT(Head, (layers::LayerNorm<>, norm), (Linear, linear));
  constexpr Tensor build(Tensor x) { return linear(norm(x)); }
};

constexpr tw::optim::AdamParameters adam{.lr = 1e-3};

/// All variables and states are on the machine; the blocks have one graph.
template <Size size>
struct Transformer : tw::Module<Transformer<size>> {
  BOOST_HANA_DEFINE_STRUCT(Transformer, (Embedding<size>, embedding), (Head<size>, head));
  constexpr Tensor build(Tensor tokens) {
    Tensor x = embedding(tokens);
    const auto [factories, block] = tw::create_graph(Block<size>{}, x);
    for (int i = 0; i < size.blocks; ++i) x = block.bind(this->add_variable_inputs(tw::text("h.", i).view(), factories)).call(x);
    return head(x);
  }
};
template <Size size>
constexpr void plain(Ir& ir) {
  train::train_step(ir, Transformer<size>{}, adam, {{1, size.length}, tw::int32}, {.target_shape = {1, size.length}});
}

/// The embedding, the blocks and the head are rows of remote buffers.
template <Size size>
constexpr void phased(Ir& ir) {
  using train::PhasedLayers, train::LayerNames;
  const Tensor tokens = support::load(ir, "image", {1, size.length}, tw::int32);
  const Tensor targets = support::load(ir, "label", {1, size.length}, tw::int32);
  PhasedLayers embedding(tw::create_graph(Embedding<size>{}, tokens), {"embedding"}, adam,
                         {.input_gradient = false, .load_code = true});
  const Tensor embedded = embedding.forward(tokens);
  PhasedLayers blocks(tw::create_graph(Block<size>{}, embedded), LayerNames::numbered("h", size.blocks), adam,
                      {.load_code = true});
  const Tensor x = blocks.forward(embedded);
  PhasedLayers head(tw::create_graph(Head<size>{}, x), {"head"}, adam, {.load_code = true});
  const auto [loss, dy] = ops::cross_entropy_with_grad(head.forward(x), targets);
  store("loss", loss);
  embedding.backward(blocks.backward(head.backward(dy)));
}

// Twelve blocks of width 768 fit on an IPU, because one at a time is there. The bytes follow from the layers' shapes.
constexpr Size large{.width = 768, .length = 128, .blocks = 12};
constexpr auto& large_plan = tw::Session<phased<large>, tw::ipu_model>::plan;
constexpr std::int64_t w = large.width, activations = large.length * w;
constexpr std::int64_t of_embedding = (large.vocabulary + large.length) * w, of_head = large.vocabulary * w + 2 * w,
                       of_block = 12 * w * w + 13 * w;
constexpr int variables_of_block = 12, variables_of_embedding = 2, variables_of_head = 3;
static_assert(large_plan.memory.variables == 0);
static_assert(large_plan.memory.fullest_tile <= tw::ipu_model.bytes_per_tile && tw::ipu_model.bytes_per_tile == 624 * 1024);
// on the machine: variables, gradients and two moments of one block, and its activations, but not those of a second block
static_assert(large_plan.memory.frame > 4 * 4 * of_block && large_plan.memory.frame < 5 * 4 * of_block);
// variables are loaded forward and backward, moments and steps backward; a layer's input is stored and loaded
constexpr std::int64_t state = large.blocks * (2 * of_block + variables_of_block) + 2 * of_embedding + variables_of_embedding +
                               2 * of_head + variables_of_head;
constexpr std::int64_t variables = large.blocks * of_block + of_embedding + of_head;
constexpr std::int64_t kept_inputs = large.length + (large.blocks + 1) * activations;
static_assert(large_plan.remote.loaded_bytes == 4 * (2 * variables + state + kept_inputs));
static_assert(large_plan.remote.stored_bytes == 4 * (variables + state + kept_inputs));

constexpr Size small{.width = 128, .length = 32, .blocks = 4};

template <tw::Target machine>
void compare() {
  tw::Session<plain<small>, machine> expected({.seed = 1});
  tw::Session<phased<small>, machine> session({.seed = 1});
  std::minstd_rand random(1);
  const auto draw = [&random] {
    xt::xtensor<std::int32_t, 2> result(std::array{std::size_t{1}, std::size_t{small.length}});
    for (auto& token : result) token = static_cast<std::int32_t>(random() % small.vocabulary);
    return result;
  };
  float first = 0, last = 0;
  const auto tokens = draw(), targets = draw();
  for (int step = 0; step < 20; ++step) {
    last = session.run("image"_s = tokens, "label"_s = targets)["loss"_s]();
    CHECK(last == expected.run("image"_s = tokens, "label"_s = targets)["loss"_s]());
    if (step == 0) first = last;
  }
  CHECK(last < first / 2);
  const auto same = [&](auto name) {
    CHECK(elements(session.get_tensor_data(name)) == elements(expected.get_tensor_data(name)));
  };
  same("h.0.self_attn.in_proj_weight"_s);
  same("h.3.linear2.bias"_s);
  same("embedding.tokens.weight"_s);
  same("optimiser.head.linear.weight.second_order"_s);
}

}  // namespace

TEST_CASE("phased layers: four blocks of a transformer learn as a plain one on the host, bit for bit") { compare<tw::cpu>(); }
TEST_CASE("phased layers: four blocks of a transformer learn as a plain one on a simulated IPU, bit for bit") {
  compare<tw::ipu_model>();
}
