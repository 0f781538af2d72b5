// labels: rest strict
// A small GPT-2 against PyTorch's: values, gradients, training steps, and generation token by token.
#include "../../../examples/gpt/session_trainer.hpp"
#include "../../../examples/gpt/writer.hpp"
#include "../../../examples/gpt2/tensor_rules.hpp"
#include "language_checks.hpp"

namespace {

using tw::Ir, tw::Tensor;
namespace ops = tw::ops;

constexpr gpt::Size small{.vocabulary = 11, .context = 6, .layers = 2, .heads = 2, .width = 8};
constexpr gpt::Size unbiased{.vocabulary = 11, .context = 6, .layers = 2, .heads = 2, .width = 8, .bias = false};
constexpr int prompt_length = 4;

/// Logits, loss and the gradients of all weights.
constexpr void loss_and_gradients(Ir& ir) {
  const Tensor tokens = ir.variable(tw::zeros(), {2, 6}, tw::int32, "tokens"),
               targets = ir.variable(tw::zeros(), {2, 6}, tw::int32, "targets");
  const auto mode = tw::training(ir);
  const auto [factories, forward] = tw::create_graph(ir, gpt::Gpt<small>{}, tokens);
  const auto backward = tw::autodiff(forward);
  const tw::NamedTensors variables = factories.init();
  const auto call = forward.bind(variables).call_with_info(tokens);
  const auto [loss, gradient] = ops::cross_entropy_with_grad(call.output(0), targets);
  store("logits", call.output(0));
  store("loss", loss);
  const auto info = backward.grad_graph_info();
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(call, backward.call_with_info(gradient, info.inputs_dict(call)));
  for (const auto& [name, variable] : variables.named_tensors())
    store(tw::text("gradient_of_", name).view(), gradients[variable]);
}

/// The elements from `first` on as an array of int32.
template <std::size_t rank>
xt::xtensor<std::int32_t, rank> integers(const std::vector<double>& elements, std::size_t first,
                                         const std::array<std::size_t, rank>& shape) {
  xt::xtensor<std::int32_t, rank> array(shape);
  for (std::size_t i = 0; i < array.size(); ++i) array.data()[i] = static_cast<std::int32_t>(elements[first + i]);
  return array;
}

}  // namespace

TEST_CASE("language model: GPT-2's logits and gradients") {
  check_results<loss_and_gradients>("gpt", 5e-6);
  check_results<loss_and_gradients, tw::ipu_model>("gpt", 5e-6);
}

/// The fixture's three steps; their losses and the weights after them.
template <gpt::Size size, int batch, int micro_batches>
void check_training(double loss_tolerance, double tolerance) {
  gpt::SessionTrainer<size, batch, micro_batches> trainer(1, 1);
  const Values wanted = expected("trained."), before = expected("trained.before.");
  tw::TensorFile file("trained");
  for (const auto& tensor : trainer.host_tensors()) {
    const auto found = before.find(std::string(tensor.name));
    auto bytes = found == before.end() ? std::vector(tensor.bytes.begin(), tensor.bytes.end())
                                       : bytes_of(tensor.spec, found->second);
    file.add(std::string(tensor.name), tensor.spec, file.keep(std::move(bytes)));
  }
  trainer.load_tensors(file, {});
  for (std::size_t step = 0; step < 3; ++step) {
    const tw::data::TextBatch texts{integers<2>(wanted.at("tokens"), 12 * step, {2, 6}),
                                    integers<2>(wanted.at("targets"), 12 * step, {2, 6})};
    CHECK(std::abs(static_cast<double>(trainer.run(texts, 0.01F, step)) - wanted.at("losses")[step]) < loss_tolerance);
  }
  Values trained = wanted, all;
  std::erase_if(trained,
                [](const auto& entry) { return !entry.first.ends_with(".weight") || entry.first.starts_with("before."); });
  CHECK(trained.size() == 15);
  for (const auto& tensor : trainer.host_tensors()) all[std::string(tensor.name)] = elements_of(tensor);
  check(all, trained, tolerance);
}
TEST_CASE("language model: steps of AdamW with clipped gradients, of a batch and of two micro-batches") {
  check_training<unbiased, 2, 1>(5e-6, 2e-5);
  check_training<unbiased, 1, 2>(5e-6, 2e-5);
}
TEST_CASE("language model: dropout is another one in each step, and the same in each run") {
  constexpr gpt::Size with_dropout{
      .vocabulary = 11, .context = 6, .layers = 1, .heads = 2, .width = 8, .bias = false, .dropout = 0.25};
  using Trainer = gpt::SessionTrainer<with_dropout, 1, 2>;
  const Values wanted = expected("trained.");
  const tw::data::TextBatch texts{integers<2>(wanted.at("tokens"), 0, {2, 6}), integers<2>(wanted.at("targets"), 0, {2, 6})};
  const auto loss = [&](std::uint64_t step) { return Trainer(1, 1).run(texts, 0.0F, step); };
  CHECK(loss(3) == loss(3));
  CHECK(loss(3) != loss(4));
}

TEST_CASE("language model: a prompt in one pass, and tokens one by one, give the logits of the whole text") {
  const Values values = expected("gpt.");
  tw::Session<loss_and_gradients> whole({.threads = 1});
  write_variables(whole, values);
  tw::Session<gpt::write_step<small, prompt_length>> session({.threads = 1});  // reads no targets; keeps keys and values
  CHECK_THROWS_AS(session.load_from_session(whole, {.allow_missing = true}), tw::LoadError);
  CHECK_THROWS_AS(session.load_from_session(whole, {.allow_extra = true}), tw::LoadError);
  // weights from a file with Hugging Face's names, which has masks besides
  tw::TensorFile file("gpt2.safetensors");
  for (const auto& tensor : whole.host_tensors())
    if (tensor.name != "tokens" && tensor.name != "targets")
      file.add("transformer." + std::string(tensor.name), tensor.spec, file.keep({tensor.bytes.begin(), tensor.bytes.end()}));
  file.add("transformer.h.0.attn.bias", {{1, 1}, tw::boolean}, file.keep({std::byte{1}}));
  tw::TensorFile part("part.safetensors");
  for (const auto& tensor : file.tensors())
    if (!tensor.name.ends_with("ln_f.bias")) part.add(std::string(tensor.name), tensor.spec, tensor.bytes);
  CHECK_THROWS_WITH(
      session.load_tensors(tw::map_tensors(std::move(part), gpt2::tensor_rules()), {.allow_missing = gpt::no_weights}),
      "load_tensors: part.safetensors: 'ln_f.bias': no tensor of this name: (8,) float32 expected");
  session.load_tensors(tw::map_tensors(std::move(file), gpt2::tensor_rules()), {.allow_missing = gpt::no_weights});
  /// Reads a token, or the tokens of a prompt up to one, and compares the logits after it.
  const auto read = [&](std::size_t row, std::size_t place, bool is_prompt) {
    xt::xtensor<std::int32_t, 1> tokens = xt::zeros<std::int32_t>({prompt_length});
    const std::size_t first = is_prompt ? 0 : place;
    for (std::size_t i = first; i <= place; ++i) tokens(i - first) = static_cast<std::int32_t>(values.at("tokens")[6 * row + i]);
    const auto logits = session.run("tokens"_s = tokens,
                                    "position"_s = xt::xtensor<std::int32_t, 1>{static_cast<std::int32_t>(place)},
                                    "is_prompt"_s = is_prompt)["logits"_s];
    const auto begin = values.at("logits").begin() + static_cast<std::ptrdiff_t>(11 * (6 * row + place));
    INFO("row " << row << ", place " << place << (is_prompt ? ", a prompt" : ""));
    CHECK(difference(std::vector<double>(logits.begin(), logits.end()), std::vector<double>(begin, begin + 11)) < 5e-6);
  };
  for (std::size_t row = 0; row < 2; ++row) {  // what the first text left in the caches is not seen
    for (std::size_t place = 0; place < 6; ++place) read(row, place, false);
    for (const std::size_t last : {3u, 1u}) {
      read(row, last, true);
      for (std::size_t place = last + 1; place < 6; ++place) read(row, place, false);
    }
  }

  // past the context, texts go on as those of which only the last half of a context is known
  const auto text = integers<1>(values.at("tokens"), 0, {6});
  std::vector<std::int32_t> written(text.begin(), text.end());
  gpt::Writer<small, prompt_length> writer(session, {.temperature = 0});
  writer.read(written);
  for (int i = 0; i < 9; ++i) written.push_back(writer.write());
  for (const std::size_t begin : {4u, 8u}) {
    gpt::Writer<small, prompt_length> other(session, {.temperature = 0});
    other.read(std::span(written).subspan(begin, 3));
    for (std::size_t i = begin + 3; i < begin + 7; ++i) CHECK(other.write() == written[i]);
  }
}
