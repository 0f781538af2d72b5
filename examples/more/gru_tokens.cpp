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
#include <tilewright/layers/embedding.hpp>
#include <tilewright/layers/linear.hpp>
#include <tilewright/layers/recurrent.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/minimise.hpp>
#include <tilewright/xtensor.hpp>

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
constexpr int test_rows = 500;   // held-out sequences

/// Two logits for each token: that its letter is new, and that it occurred before.
struct Tagger : tw::Module<Tagger> {
  using Embedding = tw::layers::Embedding<letters + 1, 16>;
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

/// Tags sequences.
constexpr void tag(tw::Ir& ir) {
  const auto tokens = ops::host_load(ir.h2d_stream("tokens", {test_rows, longest}, tw::int32));
  const auto [factories, tagger] = tw::create_graph(ir, Tagger{}, tokens);
  const Tensor logits = tagger.bind(factories.init()).call(tokens);
  ops::host_store(ir.d2h_stream("tags", {test_rows, longest}, tw::int32), ops::argmax(logits, -1));
}

using Numbers = xt::xtensor<std::int32_t, 2>;

/// Fills rows with sequences of random lengths and letters, and with their tags.
void draw_sequences(std::mt19937& random, auto& tokens, auto& tags) {
  std::uniform_int_distribution<std::size_t> any_length(shortest, longest);
  std::uniform_int_distribution<std::int32_t> any_letter(1, letters);
  for (std::size_t row = 0; row < tokens.shape(0); ++row) {
    const std::size_t length = any_length(random);
    bool occurred[letters + 1] = {};
    for (std::size_t i = 0; i < longest; ++i) {
      const std::int32_t letter = i < length ? any_letter(random) : 0;
      tokens(row, i) = letter;
      tags(row, i) = i < length ? occurred[letter] : no_tag;
      occurred[letter] = true;
    }
  }
}

int main() {
  std::mt19937 random(1);
  Numbers test_tokens({test_rows, longest}), test_tags({test_rows, longest});
  draw_sequences(random, test_tokens, test_tags);

  tw::Session<train> session({.seed = 1});
  xt::xtensor<std::int32_t, 3> tokens({micro_batches, batch, longest}), tags({micro_batches, batch, longest});
  constexpr int steps = 600;
  for (int step = 1; step <= steps; ++step) {
    for (int i = 0; i < micro_batches; ++i) {
      auto some_tokens = xt::view(tokens, i), some_tags = xt::view(tags, i);
      draw_sequences(random, some_tokens, some_tags);
    }
    const auto losses = session.run("tokens"_s = tokens, "tags"_s = tags)["loss"_s];  // one of each micro-batch
    if (step % 100 == 0) std::printf("step %d: loss %.4f\n", step, static_cast<double>(losses(0)));
  }

  tw::Session<tag> tagging;
  tagging.load_from_session(session);
  const auto answers = tagging.run("tokens"_s = test_tokens)["tags"_s];
  int right = 0, all = 0;
  for (std::size_t row = 0; row < test_rows; ++row)
    for (std::size_t i = 0; i < longest; ++i) {
      if (test_tags(row, i) == no_tag) continue;
      right += answers(row, i) == test_tags(row, i);
      ++all;
    }
  std::printf("accuracy on held-out sequences: %.1f %%\n", 100.0 * right / all);
}
