#pragma once
#include "tilewright/core/requirements.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/checkpoint/read_bytes.hpp"
#include "tilewright/checkpoint/safetensors.hpp"
#include "tilewright/checkpoint/tensor_rules.hpp"
#include "tilewright/core/number.hpp"
#include "tilewright/layers/llama_config.hpp"

namespace tilewright {

namespace detail {

/// Compares the entries of a config.json with what a program has.
class PublishedConfig {
 public:
  /// Throws LoadError for a file that is no JSON object.
  PublishedConfig(std::string_view function, const std::filesystem::path& path) : function_(function), path_(path.string()) {
    const auto bytes = read_bytes(function, path);
    const auto* const characters = reinterpret_cast<const char*>(bytes.data());
    json_ = nlohmann::json::parse(characters, characters + bytes.size(), nullptr, false);
    if (!json_.is_object()) throw LoadError(function_, path_, "", "no JSON object", "one of the model's options");
  }

  /// Compares a number or a truth value. `if_missing`: what the library that wrote the file takes for a missing entry.
  void validate(const std::string& name, double expected, std::optional<double> if_missing = {}) {
    const nlohmann::json* const entry = find(name);
    const std::optional<double> found = entry ? number(*entry) : if_missing;
    if (found == expected) return;
    differ(found   ? name + " " + number_text(*found).string()
           : entry ? name + " that is no number"
                   : "no " + name,
           name + " " + number_text(expected).string());
  }
  void validate(const std::string& name, const std::string& expected, const std::string& if_missing = "") {
    const nlohmann::json* const entry = find(name);
    const std::string found = !entry ? if_missing : entry->is_string() ? entry->get<std::string>() : "no text";
    if (found != expected) differ(name + " " + found, name + " " + expected);
  }
  /// Takes the entries of an object as if they were not in it.
  void lift(const std::string& name) {
    const nlohmann::json* const entry = find(name);
    if (!entry || !entry->is_object()) return;
    const nlohmann::json inner = *entry;
    for (const auto& [key, value] : inner.items())
      if (!json_.contains(key)) json_[key] = value;
  }
  /// Throws one LoadError for all differences, if there are any.
  void report() const {
    if (!found_.empty()) throw LoadError(function_, path_, "", found_, expected_);
  }

 private:
  const nlohmann::json* find(const std::string& name) const {
    const auto entry = json_.find(name);
    return entry == json_.end() || entry->is_null() ? nullptr : &*entry;
  }
  static std::optional<double> number(const nlohmann::json& entry) {
    if (entry.is_boolean()) return entry.get<bool>() ? 1 : 0;
    return entry.is_number() ? std::optional(entry.get<double>()) : std::nullopt;
  }
  void differ(const std::string& found, const std::string& expected) {
    found_ += (found_.empty() ? "" : ", ") + found;
    expected_ += (expected_.empty() ? "" : ", ") + expected;
  }

  std::string_view function_;
  std::string path_;
  nlohmann::json json_;
  std::string found_{}, expected_{};
};

/// Compares a config.json with the type of a Llama.
inline void check_llama_config(PublishedConfig file, const layers::LlamaConfig& config) {
  file.lift("rope_parameters");  // where transformers 5 has rope_theta
  file.lift("rope_scaling");
  file.validate("model_type", "llama");
  file.validate("hidden_act", "silu", "silu");
  file.validate("vocab_size", config.vocab_size);
  file.validate("hidden_size", config.hidden_size);
  file.validate("intermediate_size", config.intermediate_size);
  file.validate("num_hidden_layers", config.num_hidden_layers);
  file.validate("num_attention_heads", config.num_attention_heads);
  file.validate("num_key_value_heads", config.key_value_heads(), config.num_attention_heads);
  const int head_dim = config.num_attention_heads > 0 ? config.hidden_size / config.num_attention_heads : 0;
  file.validate("head_dim", head_dim, head_dim);
  file.validate("rms_norm_eps", config.rms_norm_eps, 1e-6);
  file.validate("rope_theta", config.rope_theta, 10000);
  file.validate("rope_type", "default", "default");
  file.validate("tie_word_embeddings", config.tie_word_embeddings, 0);
  file.validate("attention_bias", config.attention_bias, 0);
  file.validate("mlp_bias", 0, 0);
  file.validate("sliding_window", config.sliding_window, 0);
  file.report();
}

}  // namespace detail

/// Returns the rules that turn the tensors of a Llama with Hugging Face's names into the variables of layers::Llama: names lose
/// "model.", linear weights are transposed, and a head that is tied to the embedding is left out.
inline std::vector<TensorRule> hugging_face_llama_rules(bool tie_word_embeddings = false) {
  return {left_out("*.rotary_emb.inv_freq"), tie_word_embeddings ? left_out("lm_head.weight") : transposed("lm_head.weight"),
          transposed("model.layers.*_proj.weight", "layers.*_proj.weight"), renamed("model.*", "*"), cast()};
}

/// Loads a Llama that Hugging Face's transformers wrote, for a session of layers::Llama<config>: a folder with config.json, and
/// model.safetensors or several files with model.safetensors.index.json. Elements are rounded if the variables' dtype does not
/// hold them, as float16 does not hold bfloat16. Throws LoadError if config.json differs from `config`, with a list of what
/// differs, and the exceptions of load_safetensors. Scaled rotary positions, as in Llama 3.1, differ, too.
///
///     session.load_tensors(tw::hugging_face_llama("TinyLlama-1.1B", config));
inline TensorFile hugging_face_llama(const std::filesystem::path& folder, const layers::LlamaConfig& config) {
  detail::check_llama_config(detail::PublishedConfig("hugging_face_llama", folder / "config.json"), config);
  const std::filesystem::path index = folder / "model.safetensors.index.json";
  std::error_code ignored;
  TensorFile file = load_safetensors(std::filesystem::exists(index, ignored) ? index : folder / "model.safetensors");
  return map_tensors(std::move(file), hugging_face_llama_rules(config.tie_word_embeddings));
}

}  // namespace tilewright
