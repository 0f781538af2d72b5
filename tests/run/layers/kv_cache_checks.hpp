#pragma once
// A program of layers with caches of keys and values, beside whole texts in PyTorch (tests/reference/kv_cache.txt).
#include "../../support/elements.hpp"
#include "../../support/reference.hpp"
#include "tilewright/layers/layers.hpp"

namespace kv_cache {

using tw::Ir, tw::Tensor;
namespace layers = tw::layers;
namespace ops = tw::ops;

constexpr std::int64_t batch = 2, length = 9, width = 16, prompt_length = 5;
constexpr int window = 3;

template <int sliding_window>
using Llama = layers::LlamaBlock<width, 12, 4, 2,
                                 {.attention = {.rope_theta = 100, .sliding_window = sliding_window, .cache_length = length}}>;
using Gpt = layers::TransformerBlock<width, 4,
                                     {.dim_feedforward = 12,
                                      .activation = layers::Activation::gelu,
                                      .norm_first = true,
                                      .is_causal = true,
                                      .dropout = 0,
                                      .cache_length = length}>;

/// The results of three blocks for the last token of each text. All texts of the GPT end at the first one's position.
struct Blocks : tw::Module<Blocks> {
  BOOST_HANA_DEFINE_STRUCT(Blocks, (Llama<0>, llama), (Llama<window>, sliding), (Gpt, gpt));
  constexpr auto build(Tensor x, Tensor position) {
    const Tensor first = position[tw::slice(0, 1)];
    return std::array{layers::last_token(llama(x, position), position), layers::last_token(sliding(x, position), position),
                      layers::last_token(gpt(x, first), first)};
  }
};
/// A step reads the first token of x.
constexpr void blocks(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {batch, prompt_length, width})),
               position = ops::host_load(ir.h2d_stream("position", {batch}, tw::int32)),
               is_prompt = ops::host_load(ir.h2d_stream("is_prompt", {}, tw::boolean));
  const Tensor token = x[{tw::all, tw::slice(0, 1)}];
  const auto [factories, step] = tw::create_graph(ir, Blocks{}, token, position);
  const auto prompt = tw::create_graph(ir, Blocks{}, x, position).graph;
  const tw::NamedTensors variables = factories.init();
  const auto results = tw::conditional(is_prompt, prompt.bind(variables).branch({x, position}),
                                       step.bind(variables).branch({token, position}));
  store("llama", results[0]);
  store("sliding", results[1]);
  store("gpt", results[2]);
}

inline const Values& expected() {
  static const Values values = [] {
    Values read;
    read_reference("kv_cache.txt", read);
    for (const auto& [name, elements] : Values(read))
      if (name.starts_with("llama.")) read["sliding." + name.substr(6)] = elements;
    read["sliding.y"] = read.at("llama.y_of_window");
    return read;
  }();
  return values;
}

/// The reference's values for a session's variables, and NaN for its caches, since what a cache has at first is not read.
Values with_unread_caches(const auto& session) {
  Values values = expected();
  for (const auto& variable : session.host_tensors())
    if (const std::string name(variable.name); name.find(".cache.") != name.npos)
      values[name].assign(std::size_t(variable.spec.nelms()), NAN);
  return values;
}

/// A session of `blocks` that reads the texts of the reference.
template <class Session>
class Reader {
 public:
  explicit Reader(Session& session) : session_(session) { write_variables(session, with_unread_caches(session)); }

  /// Reads the prompts, which end at these positions. What stands behind them is not a number.
  void read_prompt(std::array<std::int32_t, batch> last) {
    for (std::size_t b = 0; b < batch; ++b)
      for (std::size_t t = 0; t < prompt_length; ++t) set(b, t, static_cast<std::int32_t>(t), t > std::size_t(last[b]));
    run(last, true);
  }
  /// Reads the tokens at these positions.
  void read_tokens(std::array<std::int32_t, batch> positions) {
    for (std::size_t b = 0; b < batch; ++b) set(b, 0, positions[b]);
    run(positions, false);
  }
  /// The largest difference of a block's results from those for the whole texts.
  double error(const std::string& block) const {
    std::vector<double> wanted;
    for (std::size_t b = 0; b < batch; ++b)
      for (std::size_t i = 0; i < width; ++i)
        wanted.push_back(expected().at(block + ".y")[(b * length + std::size_t(positions_[b])) * width + i]);
    return difference(results_.at(block), wanted);
  }
  void check() const {
    INFO(positions_[0] << ", " << positions_[1]);
    CHECK(error("llama") < 1e-5);
    CHECK(error("sliding") < 1e-5);
    if (positions_[0] == positions_[1]) CHECK(error("gpt") < 1e-5);
  }

 private:
  void set(std::size_t b, std::size_t t, std::int32_t position, bool is_padding = false) {
    const auto& x = expected().at("x");
    const std::size_t at = (b * length + std::size_t(std::clamp(position, 0, std::int32_t(length) - 1))) * width;
    for (std::size_t i = 0; i < width; ++i) x_(b, t, i) = is_padding ? NAN : static_cast<float>(x[at + i]);
  }
  void run(std::array<std::int32_t, batch> positions, bool is_prompt) {
    positions_ = positions;
    const xt::xtensor<std::int32_t, 1> position{positions[0], positions[1]};
    const auto outputs = session_.run("x"_s = x_, "position"_s = position, "is_prompt"_s = is_prompt);
    for (const auto& tensor : outputs.host_tensors()) results_[std::string(tensor.name)] = elements_of(tensor);
  }

  Session& session_;
  xt::xtensor<float, 3> x_ = xt::zeros<float>({batch, prompt_length, width});
  std::array<std::int32_t, batch> positions_{};
  Values results_{};
};

/// Prompts in one pass, then single tokens.
template <class Session>
void check_texts(Session& session) {
  Reader reader(session);
  SECTION("prompts of one length") {
    reader.read_prompt({3, 3});
    reader.check();
    for (std::int32_t i = 4; i < length; ++i) reader.read_tokens({i, i}), reader.check();
  }
  SECTION("prompts with padding, and without it") {
    reader.read_prompt({1, 4});
    reader.check();
    for (std::int32_t i = 0; i < 4; ++i) reader.read_tokens({2 + i, 5 + i}), reader.check();
  }
  SECTION("tokens only, after another text") {
    reader.read_prompt({4, 4});
    for (std::int32_t i = 0; i < length; ++i) reader.read_tokens({i, i}), reader.check();
  }
  SECTION("a position behind the context") {
    reader.read_prompt({4, 4});
    for (std::int32_t i = 5; i < length; ++i) reader.read_tokens({i, i});
    CHECK_THROWS_AS(reader.read_tokens({8, 9}), tw::FaultError);
    CHECK_THROWS_AS(reader.read_tokens({-1, 8}), tw::FaultError);
    reader.read_tokens({8, 8});  // the cache is unchanged
    CHECK(reader.error("llama") < 1e-5);
    CHECK_THROWS_AS(reader.read_prompt({4, 5}), tw::FaultError);
  }
}

}  // namespace kv_cache
