// Fine-tuning by low-rank adapters (LoRA; Hu et al., 2021): a small GPT of characters learns a text, and then the same language
// in an accent. Its own weights stay as they are. Each of its linear layers gets an adapter, two small matrices, and these alone
// are trained and saved. In the end they are added to the weights: the result is a GPT without adapters.
//
// labels: more
// test:
// expect-regex: the accent, before: loss [2-9]\.
// expect-regex: the accent, with adapters: loss (0\.[0-9]*|1\.[01][0-9]*)$
// expect-regex: merged: loss (0\.[0-9]*|1\.[01][0-9]*), with adapters the same: yes
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <tilewright/checkpoint/checkpoint.hpp>
#include <tilewright/data/generated_text.hpp>
#include <tilewright/data/text_batches.hpp>
#include <tilewright/layers/attention.hpp>
#include <tilewright/layers/embedding.hpp>
#include <tilewright/layers/layer_norm.hpp>
#include <tilewright/layers/lora.hpp>
#include <tilewright/tilewright.hpp>
#include <tilewright/train/train.hpp>
#include <type_traits>
#include <vector>

namespace tw = tilewright;
using namespace tw::literals;
using tw::Tensor;

constexpr int vocabulary = 128, context = 32, features = 64, heads = 4, blocks = 2, batch = 16;
constexpr int rank = 4;  // of the adapters: their matrices are (in, 4) and (4, out)

/// A linear layer, alone or with an adapter.
template <int out, bool has_adapter>
using Projection =
    std::conditional_t<has_adapter, tw::layers::LoraLinear<out, rank, {.bias = false}>, tw::layers::Linear<out, {.bias = false}>>;

template <bool has_adapters>
struct Block : tw::Module<Block<has_adapters>> {
  using Square = Projection<features, has_adapters>;
  using Widen = Projection<4 * features, has_adapters>;
  using Norm = tw::layers::LayerNorm<>;
  BOOST_HANA_DEFINE_STRUCT(Block, (Norm, norm1), (Square, query), (Square, key), (Square, value), (Square, mix), (Norm, norm2),
                           (Widen, widen), (Square, narrow));
  constexpr Tensor build(Tensor x) {
    const Tensor y = norm1(x);
    const auto split = [](Tensor t) { return tw::layers::split_heads(t, heads); };
    const Tensor seen = tw::layers::attend(split(query(y)), split(key(y)), split(value(y)), {.is_causal = true});
    x = x + mix(tw::layers::merge_heads(seen));
    return x + narrow(tw::ops::gelu(widen(norm2(x))));
  }
};

/// (batch, context) characters to (batch, context, vocabulary) logits of the next ones.
template <bool has_adapters = false>
struct Gpt : tw::Module<Gpt<has_adapters>> {
  using Characters = tw::layers::Embedding<vocabulary, features, {.std = 0.02}>;
  using Places = tw::layers::Embedding<context, features, {.std = 0.02}>;
  BOOST_HANA_DEFINE_STRUCT(Gpt, (Characters, characters), (Places, places), (tw::layers::LayerNorm<>, norm));
  constexpr Tensor build(Tensor text) {
    Tensor x = characters(text) + places(this->ir().constant(tw::range(), {context}, tw::int32));
    const auto [factories, block] = tw::create_graph(Block<has_adapters>{}, x);
    for (int i = 0; i < blocks; ++i) x = block.bind(this->add_variable_inputs(tw::text("blocks.", i).view(), factories)).call(x);
    return characters.logits(norm(x));
  }
};

constexpr tw::TensorSpec text_spec{{batch, context}, tw::int32};
constexpr tw::optim::AdamWParameters adam{.lr = 3e-3};
constexpr tw::train::StepOptions options{.input = "tokens", .target = "targets", .target_shape = {batch, context}};
constexpr void pretrain(tw::Ir& ir) { tw::train::train_step(ir, Gpt{}, adam, text_spec, options); }
constexpr void adapt(tw::Ir& ir) {
  tw::train::StepOptions adapters = options;
  adapters.groups = {tw::train::only("*.lora_*")};
  tw::train::train_step(ir, Gpt<true>{}, adam, text_spec, adapters);
}
constexpr void test(tw::Ir& ir) { tw::train::loss_step(ir, Gpt{}, text_spec, options); }
constexpr void merge(tw::Ir& ir) { tw::layers::merge_lora(tw::create_graph(ir, Gpt<true>{}, text_spec).factories.init()); }

/// The text of somebody who says z for th, and v for w.
std::string with_accent(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_th = (text[i] == 't' || text[i] == 'T') && text.substr(i + 1).starts_with('h');
    if (is_th) result += text[i++] == 't' ? 'z' : 'Z';
    else result += text[i] == 'w' ? 'v' : text[i];
  }
  return result;
}

/// The mean loss of some runs of a session, each on a batch of its own.
double run(auto& session, tw::data::TextBatches& batches, std::uint64_t runs) {
  tw::train::Mean loss;
  tw::train::run_steps(session, batches, {.steps = runs}, [&](const tw::train::Progress& progress) { loss.add(progress.loss); });
  return loss.value();
}

int main() {
  const std::string text = tw::data::generated_text(200'000, /*seed*/ 1), accent = with_accent(text);
  const std::string unseen = with_accent(tw::data::generated_text(20'000, /*seed*/ 2));
  const std::vector<std::int32_t> characters(text.begin(), text.end()), accented(accent.begin(), accent.end());
  const std::vector<std::int32_t> held_out(unseen.begin(), unseen.end());
  const tw::data::TextBatchesOptions sizes{.batch_size = batch, .context = context, .seed = 1};
  tw::data::TextBatches batches(characters, sizes), new_batches(accented, sizes), test_batches(held_out, sizes);

  tw::Session<pretrain> base({.seed = 1});
  run(base, batches, 500);
  std::printf("the first language: loss %.3f\n", run(base, batches, 20));
  tw::Session<test> tester;
  tester.load_from_session(base);
  std::printf("the accent, before: loss %.3f\n", run(tester, test_batches, 20));

  tw::Session<adapt> adapted({.seed = 2});
  adapted.load_from_session(base, {.allow_extra = true, .allow_missing = {"*.lora_*"}});
  run(adapted, new_batches, 300);
  std::vector<tw::HostTensor> adapters;
  std::int64_t trained = 0, all = 0;
  for (const tw::HostTensor& tensor : adapted.host_tensors()) {
    const bool is_adapter = tensor.name.find(".lora_") != tensor.name.npos && !tensor.name.starts_with("optimiser.");
    if (is_adapter) adapters.push_back(tensor);
    if (is_adapter) trained += tensor.spec.nelms();
    if (!tensor.name.starts_with("optimiser.")) all += tensor.spec.nelms();
  }
  tw::save_safetensors("adapters.safetensors", adapters);
  std::printf("saved: %.1f %% of the weights\n", 100.0 * static_cast<double>(trained) / static_cast<double>(all));

  // The adapters of the file, and the weights of the first language.
  tw::Session<merge> merger;
  merger.load_from_session(base, {.allow_extra = true, .allow_missing = {"*.lora_*"}});
  merger.load_tensors(tw::load_safetensors("adapters.safetensors"), {.allow_missing = true});
  merger.run();
  tester.load_from_session(merger);
  test_batches.go_to(0);
  const double merged = run(tester, test_batches, 1);
  test_batches.go_to(0);
  const double unmerged = run(adapted, test_batches, 1);  // of the weights before this step
  std::printf("the accent, with adapters: loss %.3f\n", unmerged);
  std::printf("merged: loss %.3f, with adapters the same: %s\n", merged, std::abs(merged - unmerged) < 1e-4 ? "yes" : "no");
}
