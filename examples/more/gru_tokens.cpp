// A recurrent network (GRU; Cho et al., 2014) tags each token of sequences of different lengths: has this letter occurred in the
// sequence before? To know that, the network has to remember a set of letters. Shorter sequences are padded at their end; what
// stands there counts neither for the loss nor for the accuracy. Each training step takes four micro-batches.
//
// labels: more
// test:
// expect-regex: accuracy on held-out sequences: (9[7-9]|100)\.[0-9] %
#include <cstdint>
#include <cstdio>
#include <random>
#include <tilewright/data/arrays.hpp>
#include <tilewright/layers/embedding.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/layers/recurrent.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/evaluate.hpp>
#include <tilewright/train/loop.hpp>
#include <tilewright/train/minimise.hpp>

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace tw::literals;
using tw::Tensor, tw::train::minimise;

constexpr int letters = 8;       // tokens 1 to 8; token 0 is padding
constexpr int shortest = 4;      // letters in a sequence, at least
constexpr int longest = 16;      // and at most: the length of all rows with their padding
constexpr int no_tag = -1;       // the tag of padding
constexpr int micro_batches = 4;
constexpr int batch = 16;         // sequences in a micro-batch
constexpr int test_rows = 100;  // sequences in a batch of the test

/// Two logits for each token: that its letter is new, and that it occurred before.
struct Tagger : tw::Module<Tagger> {
  using Embedding = tw::layers::Embedding<letters + 1, 16, {.padding_idx = 0}>;
  BOOST_HANA_DEFINE_STRUCT(Tagger, (Embedding, embedding), (tw::layers::GRU<64>, gru), (tw::layers::Linear<2>, head));

  constexpr Tensor build(Tensor tokens) {  // (batch, length) int32
    const auto [states, last_state] = gru(embedding(tokens));
    return head(states);  // (batch, length, 2)
  }
};

/// The mean over all tokens that count, in all micro-batches: a micro-batch with more of them weighs more.
constexpr tw::train::MeanLoss loss_of_tokens(Tagger& tagger, Tensor tokens, Tensor tags) {
  const Tensor sum = ops::cross_entropy(tagger(tokens), tags, {.ignore_index = no_tag, .reduction = tw::Reduction::sum});
  return {sum, ops::sum(ops::not_equal(tags, no_tag).cast(tw::float32))};
}
constexpr void train(tw::Ir& ir) {
  minimise(ir, Tagger{}, loss_of_tokens, tw::optim::AdamWParameters{.lr = 5e-3},
           {{"tokens", {batch, longest}, tw::int32}, {"tags", {batch, longest}, tw::int32}},
           {.micro_batches = micro_batches, .max_norm = 1});
}

/// The logits of all tokens' tags.
constexpr void tag(tw::Ir& ir) {
  const auto tokens = ops::host_load(ir.h2d_stream("tokens", {test_rows, longest}, tw::int32));
  const auto [factories, tagger] = tw::create_graph(ir, Tagger{}, tokens);
  ops::host_store(ir.d2h_stream("logits", {test_rows, longest, 2}), tagger.bind(factories.init()).call(tokens));
}

/// Sequences of random lengths and letters, with their tags.
auto draw_sequences(std::mt19937& random, std::size_t count) {
  std::uniform_int_distribution<std::size_t> any_length(shortest, longest);
  std::uniform_int_distribution<std::int32_t> any_letter(1, letters);
  using Numbers = xt::xtensor<std::int32_t, 2>;
  tw::data::Arrays sequences("tokens"_s = Numbers({count, longest}), "tags"_s = Numbers({count, longest}));
  for (std::size_t row = 0; row < count; ++row) {
    const std::size_t length = any_length(random);
    bool occurred[letters + 1] = {};
    for (std::size_t i = 0; i < longest; ++i) {
      const std::int32_t letter = i < length ? any_letter(random) : 0;
      sequences["tokens"_s](row, i) = letter;
      sequences["tags"_s](row, i) = i < length ? occurred[letter] : no_tag;
      occurred[letter] = true;
    }
  }
  return sequences;
}

int main() {
  std::mt19937 random(1);
  const auto held_out = draw_sequences(random, 700);

  tw::Session<train> session({.seed = 1});
  const auto draw = [&](std::uint64_t) { return draw_sequences(random, micro_batches * batch); };
  tw::train::run_steps(session, draw, {.steps = 600}, [](const tw::train::Progress& progress) {
    if (progress.step % 100 == 0) std::printf("step %d: loss %.4f\n", static_cast<int>(progress.step), double{progress.loss});
  });

  tw::Session<tag> tagging;
  tagging.load_from_session(session);
  tw::train::Accuracy accuracy({.ignore_index = no_tag});
  tw::train::evaluate(tagging, held_out, [&](const auto& outputs, const auto& sequences, std::size_t count) {
    accuracy.add(outputs["logits"_s], sequences["tags"_s], count);
  });
  std::printf("accuracy on held-out sequences: %.1f %%\n", 100 * accuracy.value());
}
