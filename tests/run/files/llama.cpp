// labels: none
// A small Llama as Hugging Face publishes one, against the results of tests/reference/make_llama.py.
#include <tilewright/checkpoint/checkpoint.hpp>
#include <tilewright/layers/llama_model.hpp>

#include "../../support/elements.hpp"
#include "../../support/reference.hpp"
#include "../../support/temporary_folder.hpp"
#include "files.hpp"

namespace {

constexpr tw::layers::LlamaConfig small{.vocab_size = 96,
                                        .hidden_size = 32,
                                        .intermediate_size = 48,
                                        .num_hidden_layers = 2,
                                        .num_attention_heads = 4,
                                        .num_key_value_heads = 2,
                                        .rms_norm_eps = 1e-5,
                                        .rope_theta = 50000};
constexpr tw::layers::LlamaConfig with(tw::layers::LlamaConfig config, tw::DType dtype, bool is_tied = false) {
  config.dtype = dtype;
  config.tie_word_embeddings = is_tied;
  return config;
}
constexpr std::size_t prompt = 8, vocabulary = 96;

/// The logits after each token of a text.
template <tw::layers::LlamaConfig config, int length>
constexpr void read_text(tw::Ir& ir) {
  const auto mode = tw::evaluation(ir);
  const tw::Tensor tokens = support::load(ir, "tokens", {1, length}, tw::int32);
  const auto [factories, graph] = tw::create_graph(ir, tw::layers::Llama<config>{}, tokens);
  store("logits", graph.bind(factories.init()).call(tokens));
}

const std::filesystem::path folder_of_llama = std::filesystem::path(TILEWRIGHT_REFERENCE_DIR) / "llama";
const Values& expected() {
  static const Values values = [] {
    Values all;
    read_reference("llama.txt", all);
    return all;
  }();
  return values;
}
/// The logits of the first tokens of the fixture's text by a session that loads a folder.
template <tw::layers::LlamaConfig config, int length>
std::vector<double> logits(const std::filesystem::path& folder = folder_of_llama) {
  tw::Session<read_text<config, length>> session({.threads = 1});
  session.load_tensors(tw::hugging_face_llama(folder, config));
  xt::xtensor<std::int32_t, 2> tokens({1, length});
  for (std::size_t i = 0; i < length; ++i) tokens(0, i) = static_cast<std::int32_t>(expected().at("llama.tokens")[i]);
  return elements_of(session.run("tokens"_s = tokens).host_tensors()[0]);
}
double largest_error(const std::vector<double>& found, const std::vector<double>& wanted) {
  double largest = found.size() == wanted.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < wanted.size() && i < found.size(); ++i) {
    const double error = std::abs(found[i] - wanted[i]);
    if (!(error <= largest)) largest = error;
  }
  return largest;
}
/// A copy of the folder with another text in config.json.
void copy_with_config(const std::filesystem::path& folder, const std::string& config) {
  for (const auto& file : std::filesystem::directory_iterator(folder_of_llama))
    std::filesystem::copy_file(file, folder / file.path().filename(), std::filesystem::copy_options::overwrite_existing);
  std::ofstream(folder / "config.json") << config;
}
std::string replaced(std::string text, const std::string& part, const std::string& by) {
  REQUIRE(text.find(part) != text.npos);
  return text.replace(text.find(part), part.size(), by);
}
std::string published_config() {
  std::ifstream file(folder_of_llama / "config.json");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("Llama: logits in float32, and 48 tokens, are those of the reference") {
  const std::vector<double> found = logits<small, 56>(), &tokens = expected().at("llama.tokens");
  const std::vector<double>& wanted = expected().at("llama.logits");
  CHECK(difference({found.begin(), found.begin() + static_cast<std::ptrdiff_t>(wanted.size())}, wanted) < 1e-5);
  // If each next token is the most probable one after those before it, then so are those that a program writes one by one.
  for (std::size_t i = prompt; i < tokens.size(); ++i) {
    const auto* const row = found.data() + (i - 1) * vocabulary;
    CHECK(std::max_element(row, row + vocabulary) - row == static_cast<std::ptrdiff_t>(tokens[i]));
  }
}
TEST_CASE("Llama: half precision is as close to float64 as if the result of each op were rounded to it") {
  const std::vector<double>& wanted = expected().at("llama.logits");
  CHECK(largest_error(logits<with(small, tw::bfloat16), 16>(), wanted) < 1.25 * expected().at("llama.bfloat16_error")[0]);
  CHECK(largest_error(logits<with(small, tw::float16), 16>(), wanted) < 1.25 * expected().at("llama.float16_error")[0]);
}
TEST_CASE("Llama: a head that is tied to the embedding") {
  const TemporaryFolder folder;
  copy_with_config(folder.path,
                   replaced(published_config(), R"("tie_word_embeddings": false)", R"("tie_word_embeddings": true)"));
  const auto found = logits<with(small, tw::float32, true), 16>(folder.path);
  CHECK(difference({found.end() - vocabulary, found.end()}, expected().at("llama.tied_logits")) < 1e-5);
}

TEST_CASE("hugging_face_llama: one file, and what differs from the type") {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& text, const tw::layers::LlamaConfig& config = small) -> std::string {
    copy_with_config(folder.path, text);
    try {
      (void)tw::hugging_face_llama(folder.path, config);
    } catch (const tw::LoadError& found) {
      const std::string begin = "hugging_face_llama: " + (folder.path / "config.json").string() + ": ";
      REQUIRE(std::string(found.what()).starts_with(begin));
      return std::string(found.what()).substr(begin.size());
    }
    return "none";
  };
  const std::string text = published_config();
  CHECK(error(text) == "none");
  auto other = small;
  other.num_key_value_heads = 4;
  other.rope_theta = 10000;
  other.hidden_size = 64;
  CHECK(error(text, other) ==
        "hidden_size 32, num_key_value_heads 2, rope_theta 50000: hidden_size 64, num_key_value_heads 4, "
        "rope_theta 10000 expected");
  CHECK(error(text, with(small, tw::float32, true)) == "tie_word_embeddings 0: tie_word_embeddings 1 expected");
  CHECK(error(replaced(text, R"("rms_norm_eps": 1e-05)", R"("rms_norm_eps": 1e-06)")) ==
        "rms_norm_eps 1e-6: rms_norm_eps 1e-5 expected");
  CHECK(error(replaced(text, R"("vocab_size": 96,)", "")) == "no vocab_size: vocab_size 96 expected");
  CHECK(error(replaced(text, R"("vocab_size": 96)", R"("vocab_size": "96")")) ==
        "vocab_size that is no number: vocab_size 96 expected");
  CHECK(error(replaced(text, R"("model_type": "llama")", R"("model_type": "gpt2")")) ==
        "model_type gpt2: model_type llama expected");
  CHECK(error(replaced(text, R"("hidden_act": "silu",)", R"("hidden_act": 1,)")) ==
        "hidden_act no text: hidden_act silu expected");
  CHECK(error(replaced(text, R"("rope_scaling": null)", R"("rope_scaling": {"factor": 8.0, "rope_type": "llama3"})")) ==
        "rope_type llama3: rope_type default expected");
  CHECK(error(replaced(text, R"("rope_theta": 50000.0)",
                       R"("rope_parameters": {"rope_theta": 50000.0, "rope_type": "default"})")) == "none");
  CHECK(error(replaced(text, R"("rope_theta": 50000.0)", R"("head_dim": 16)")) ==
        "head_dim 16, rope_theta 10000: head_dim 8, rope_theta 50000 expected");
  // Scaled positions in the older spelling, and in both places.
  const auto with_rope = [&](const std::string& entries) {
    return error(replaced(text, R"("rope_scaling": null)", R"("rope_scaling": )" + entries));
  };
  CHECK(with_rope(R"({"type": "linear", "factor": 4.0})") == "rope_type linear: rope_type default expected");
  CHECK(with_rope(R"({"type": "dynamic", "factor": 2.0, "rope_type": "default"})") ==
        "rope_type dynamic: rope_type default expected");
  CHECK(with_rope(R"({"type": null, "factor": 2.0})") == "the unknown entry 'factor': none of this name expected");
  CHECK(with_rope(R"({"type": "default", "factor": 2.0, "mrope_section": [1, 1]})") ==
        "the unknown entry 'mrope_section': none of this name expected");
  CHECK(with_rope(R"({"type": "default", "factor": 2.0, "original_max_position_embeddings": 32})") == "none");
  CHECK(with_rope(R"("linear")") == "rope_scaling that is no object: an object expected");
  CHECK(with_rope(R"({"type": "default", "rope_theta": 10000})") == "rope_theta 10000: rope_theta 50000 expected");
  CHECK(with_rope(R"({"type": "default", "partial_rotary_factor": 0.5})") ==
        "partial_rotary_factor 0.5: partial_rotary_factor 1 expected");
  // Entries with an effect that the library does not have, and those without any.
  const auto with_entry = [&](const std::string& entry) { return error("{" + entry + "," + text.substr(text.find('{') + 1)); };
  CHECK(with_entry(R"("quantization_config": {"bits": 4})") ==
        "the unknown entry 'quantization_config': none of this name expected");
  CHECK(with_entry(R"("attn_logit_softcapping": 50.0, "logit_scale": 2)") ==
        "the unknown entry 'attn_logit_softcapping', the unknown entry 'logit_scale': none of this name, none of this name "
        "expected");
  CHECK(with_entry(R"("use_cache dtype": 1)") == "the unknown entry 'use_cache dtype': none of this name expected");
  CHECK(with_entry(R"("mlp_bias": true, "head_dim": 16)") == "head_dim 16, mlp_bias 1: head_dim 8, mlp_bias 0 expected");
  CHECK(with_entry(R"("partial_rotary_factor": 0.25)") == "partial_rotary_factor 0.25: partial_rotary_factor 1 expected");
  CHECK(with_entry(R"("quantization_config": null, "head_dim": 8, "mlp_bias": false, "partial_rotary_factor": 1.0)") == "none");
  CHECK(with_entry(R"("_name_or_path": "x", "attention_dropout": 0.1, "dtype": "float16", "initializer_range": 0.02,
                      "pretraining_tp": 1, "transformers_version": "4.37.0", "use_cache": true, "pad_token_id": 0)") == "none");
  for (const std::string name : {"rope_scaling", "rope_parameters", "other"})
    CHECK(error("{\"" + name + "\":" + std::string(200'000, '[') + std::string(200'000, ']') + "}") ==
          "no JSON object: one of the model's options expected");
  CHECK(error("[]") == "no JSON object: one of the model's options expected");
  CHECK(error(std::string(200'000, '[')) == "no JSON object: one of the model's options expected");

  copy_with_config(folder.path, text);
  const auto whole = tw::load_safetensors(folder.path / "model.safetensors.index.json");
  tw::save_safetensors(folder.path / "model.safetensors", whole.tensors());
  std::filesystem::remove(folder.path / "model.safetensors.index.json");
  const auto of_one = tw::hugging_face_llama(folder.path, small), of_two = tw::hugging_face_llama(folder_of_llama, small);
  REQUIRE(of_one.tensors().size() == 21);
  for (const auto& tensor : of_two.tensors()) {
    REQUIRE(of_one.find(tensor.name));
    CHECK(bytes_of(*of_one.find(tensor.name)) == bytes_of(tensor));
  }
  std::filesystem::remove(folder.path / "model.safetensors");
  CHECK_THROWS_WITH(
      tw::hugging_face_llama(folder.path, small),
      "load_safetensors: " + (folder.path / "model.safetensors").string() + ": no such file: a readable file expected");
  CHECK_THROWS_AS(tw::hugging_face_llama(folder.path / "none", small), tw::LoadError);
}
