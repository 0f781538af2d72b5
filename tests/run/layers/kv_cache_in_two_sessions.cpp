// labels: more
// A session reads a prompt in one pass, another one goes on with its caches, both in float16.
#include "kv_cache_checks.hpp"

namespace {

using namespace kv_cache;

/// Blocks of float16 over x, (batch, x_length, width) float32. Both texts end at one position.
template <std::int64_t x_length>
constexpr void half_blocks(Ir& ir) {
  const auto mode = tw::evaluation(ir);
  const Tensor x = ops::host_load(ir.h2d_stream("x", {batch, x_length, width})).cast(tw::float16),
               position = ops::host_load(ir.h2d_stream("position", {1}, tw::int32));
  const auto add = [&](std::string_view name, const auto& layer) {
    const auto [factories, graph] = tw::create_graph(ir, layer, x, position);
    const Tensor y = graph.bind(factories.init(name)).call(x, position)[0];
    store(name, layers::last_token(y, position).cast(tw::float32));
  };
  add("llama", Llama<0>{});
  add("sliding", Llama<window>{});
  add("gpt", layers::TransformerBlock<width, 4,
                                      {.dim_feedforward = 12,
                                       .activation = layers::Activation::gelu,
                                       .norm_first = true,
                                       .is_causal = true,
                                       .dropout = 0.25,  // in training only
                                       .cache_length = length}>{});
}
/// Results of tokens up to `last`, by block. A prompt has the tokens from position 0 on, which are more.
template <std::int64_t x_length>
Values results_of(auto& session, std::int32_t last) {
  const std::size_t first = x_length == 1 ? static_cast<std::size_t>(last) : 0;
  xt::xtensor<float, 3> x({batch, x_length, width});
  for (std::size_t b = 0; b < batch; ++b)
    for (std::size_t i = 0; i < x_length * width; ++i)
      x(b, i / width, i % width) = static_cast<float>(expected().at("x")[(b * length + first) * width + i]);
  Values results;
  const auto outputs = session.run("x"_s = x, "position"_s = xt::xtensor<std::int32_t, 1>{last});
  for (const auto& tensor : outputs.host_tensors()) results[std::string(tensor.name)] = elements_of(tensor);
  return results;
}

}  // namespace

TEST_CASE("caches of keys and values: a session goes on where another one ended") {
  tw::Session<half_blocks<length>> prompts({.threads = 1});
  write_variables(prompts, with_unread_caches(prompts));
  tw::Session<half_blocks<1>> steps({.threads = 1});
  for (std::int32_t i = 3; i < length; ++i) {
    const Values whole = results_of<length>(prompts, i);
    if (i == 3) steps.load_from_session(prompts);
    else
      for (const auto& [block, elements] : results_of<1>(steps, i)) {
        INFO(block << " at " << i);
        CHECK(difference(elements, whole.at(block)) < 4 * 0x1p-11);  // a result of attention may be rounded to the next number
      }
  }
}
