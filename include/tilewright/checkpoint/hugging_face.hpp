#pragma once
#include "tilewright/core/requirements.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright/checkpoint/parse_json.hpp"
#include "tilewright/checkpoint/read_bytes.hpp"
#include "tilewright/checkpoint/safetensors.hpp"
#include "tilewright/checkpoint/tensor_rules.hpp"
#include "tilewright/core/number.hpp"
#include "tilewright/layers/llama_config.hpp"

namespace tilewright {

namespace detail {

/// Entries of a Llama's config.json that do not change its logits: of training, of drawing tokens, of the library that wrote it.
/// Names: PretrainedConfig and LlamaConfig of Hugging Face's transformers 4 and 5, and files that are published with them.
inline constexpr std::string_view llama_entries_without_effect =
    " _attn_implementation _attn_implementation_autoset _commit_hash _flash_attn_2_enabled _name_or_path add_cross_attention "
    "architectures attention_dropout bad_words_ids begin_suppress_tokens bos_token_id chunk_size_feed_forward "
    "cross_attention_hidden_size decoder_start_token_id diversity_penalty do_sample dtype early_stopping "
    "encoder_no_repeat_ngram_size eos_token_id exponential_decay_length_penalty finetuning_task forced_bos_token_id "
    "forced_eos_token_id gradient_checkpointing hidden_dropout id2label initializer_range is_decoder is_encoder_decoder "
    "is_llama_config label2id length_penalty max_length max_position_embeddings max_sequence_length min_length "
    "no_repeat_ngram_size num_beam_groups num_beams num_labels num_return_sequences output_attentions output_hidden_states "
    "output_scores pad_token_id prefix pretraining_tp problem_type remove_invalid_values repetition_penalty return_dict "
    "return_dict_in_generate sep_token_id suppress_tokens task_specific_params temperature tf_legacy_loss "
    "tie_encoder_decoder tokenizer_class top_k top_p torch_dtype torchscript transformers.js_config transformers_version "
    "typical_p unk_token_id unsloth_fixed unsloth_version use_bfloat16 use_cache ";
/// Entries that only scaled rotary positions use.
inline constexpr std::string_view entries_of_rope_scaling =
    " attention_factor beta_fast beta_slow factor finetuned high_freq_factor long_factor low_freq_factor mscale "
    "mscale_all_dim original_max_position_embeddings short_factor ";
inline bool is_one_of(std::string_view names, const std::string& name) {
  return name.find(' ') == name.npos && names.find(' ' + name + ' ') != names.npos;
}

/// Compares the entries of a config.json with what a program has. An entry that is null is a missing one.
class PublishedConfig {
 public:
  /// Throws LoadError for a file that is no JSON object.
  PublishedConfig(std::string_view function, const std::filesystem::path& path) : function_(function), path_(path.string()) {
    const auto bytes = read_bytes(function, path);
    json_ = parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (!json_.is_object()) throw LoadError(function_, path_, "", "no JSON object", "one of the model's options");
    for (const auto& [name, value] : json_.items()) add(name, value);
  }
  PublishedConfig(const PublishedConfig&) = delete;
  PublishedConfig& operator=(const PublishedConfig&) = delete;

  /// Compares numbers or truth values. `if_missing`: what the library that wrote the file takes for a missing entry.
  void validate(const std::string& name, double expected, std::optional<double> if_missing = {}) {
    const auto expected_text = name + " " + number_text(expected).string();
    const auto found = take(name);
    if (found.empty() && if_missing != expected)
      differ(if_missing ? name + " " + number_text(*if_missing).string() : "no " + name, expected_text);
    for (const nlohmann::json* const entry : found)
      if (const std::optional<double> value = number(*entry); value != expected)
        differ(name + (value ? " " + number_text(*value).string() : " that is no number"), expected_text);
  }
  void validate(const std::string& name, const std::string& expected, const std::string& if_missing = "") {
    const auto found = take(name);
    if (found.empty() && if_missing != expected) differ(name + " " + if_missing, name + " " + expected);
    for (const nlohmann::json* const entry : found)
      if (*entry != expected)
        differ(name + " " + (entry->is_string() ? entry->get<std::string>() : "no text"), name + " " + expected);
  }
  /// Takes the entries of an object as if they stood beside it, and its "type" as a "rope_type". If it has one of these, the type
  /// says whether positions are scaled.
  void lift_rope(const std::string& name) {
    for (const nlohmann::json* const entry : take(name)) {
      if (!entry->is_object()) {
        differ(name + " that is no object", "an object");
        continue;
      }
      const bool has_type = !entry->value("type", nlohmann::json()).is_null() ||
                            !entry->value("rope_type", nlohmann::json()).is_null();
      for (const auto& [key, value] : entry->items())
        if (!has_type || !is_one_of(entries_of_rope_scaling, key)) add(key == "type" ? "rope_type" : key, value);
    }
  }
  /// Throws one LoadError for all differences, and for all entries that are left and not `without_effect`.
  void report(std::string_view without_effect) {
    for (const auto& [name, value] : entries_)
      if (!is_one_of(without_effect, name)) differ("the unknown entry '" + name + "'", "none of this name");
    if (!found_.empty()) throw LoadError(function_, path_, "", found_, expected_);
  }

 private:
  void add(const std::string& name, const nlohmann::json& value) {
    if (!value.is_null()) entries_.emplace(name, &value);
  }
  /// Removes the entries of a name, and returns them.
  std::vector<const nlohmann::json*> take(const std::string& name) {
    std::vector<const nlohmann::json*> found;
    const auto [first, last] = entries_.equal_range(name);
    for (auto entry = first; entry != last; ++entry) found.push_back(entry->second);
    entries_.erase(first, last);
    return found;
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
  std::multimap<std::string, const nlohmann::json*> entries_{};  // of json_, that nothing was said about
  std::string found_{}, expected_{};
};

/// Compares a config.json with the type of a Llama.
inline void check_llama_config(PublishedConfig& file, const layers::LlamaConfig& config) {
  file.lift_rope("rope_parameters");  // where transformers 5 has rope_theta
  file.lift_rope("rope_scaling");
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
  file.validate("partial_rotary_factor", 1, 1);
  file.validate("rope_interleaved", 0, 0);
  file.validate("tie_word_embeddings", config.tie_word_embeddings, 0);
  file.validate("attention_bias", config.attention_bias, 0);
  file.validate("mlp_bias", 0, 0);
  file.validate("sliding_window", config.sliding_window, 0);
  file.report(llama_entries_without_effect);
}

}  // namespace detail

/// Returns the rules that turn the tensors of a Llama with Hugging Face's names into the variables of layers::Llama: names lose
/// "model.", linear weights are transposed, and a head that is tied to the embedding is left out.
[[nodiscard]] inline std::vector<TensorRule> hugging_face_llama_rules(bool tie_word_embeddings = false) {
  return {left_out("*.rotary_emb.inv_freq"), tie_word_embeddings ? left_out("lm_head.weight") : transposed("lm_head.weight"),
          transposed("model.layers.*_proj.weight", "layers.*_proj.weight"), renamed("model.*", "*"), cast()};
}

/// Loads a Llama that Hugging Face's transformers wrote, for a session of layers::Llama<config>: a folder with config.json, and
/// model.safetensors or several files with model.safetensors.index.json. Elements are rounded if the variables' dtype does not
/// hold them, as float16 does not hold bfloat16. Throws LoadError if config.json differs from `config`, or has an entry
/// that is not known, with a list of what differs, and the exceptions of load_safetensors. Scaled rotary positions, as in Llama
/// 3.1, differ, too.
///
///     session.load_tensors(tw::hugging_face_llama("TinyLlama-1.1B", config));
[[nodiscard]] inline TensorFile hugging_face_llama(const std::filesystem::path& folder, const layers::LlamaConfig& config) {
  detail::PublishedConfig published("hugging_face_llama", folder / "config.json");
  detail::check_llama_config(published, config);
  const std::filesystem::path index = folder / "model.safetensors.index.json";
  std::error_code ignored;
  TensorFile file = load_safetensors(std::filesystem::exists(index, ignored) ? index : folder / "model.safetensors");
  return map_tensors(std::move(file), hugging_face_llama_rules(config.tie_word_embeddings));
}

}  // namespace tilewright
