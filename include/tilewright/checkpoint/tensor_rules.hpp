#pragma once
#include "tilewright/core/requirements.hpp"

#include <initializer_list>
#include <span>
#include <utility>

#include "tilewright/checkpoint/tensor_file.hpp"
#include "tilewright/session/tensor_rules.hpp"

namespace tilewright {

/// Renames and reshapes the tensors of a file by rules, for a session's load_tensors. The first rule that matches a tensor's name
/// applies, together with all others of the same `tensor`, and with cast(). A tensor that no rule matches does not change. Throws
/// LoadError for a transposed tensor without two axes, and for one that cannot be divided into the required parts.
///
///     // a file of torch.nn.TransformerEncoderLayer, for layers::TransformerBlock
///     session.load_tensors(tw::map_tensors(
///         tw::load_safetensors("block.safetensors"),
///         {tw::transposed({"*in_proj_weight", "*out_proj.weight", "*linear1.weight", "*linear2.weight"}), {"encoder.*", "*"}}));
[[nodiscard]] inline TensorFile map_tensors(TensorFile file, std::span<const TensorRule> rules) {
  TensorFile result(file.path());
  result.metadata() = file.metadata();
  detail::MappedTensors mapped = detail::apply_rules("map_tensors", file, rules);
  for (const HostTensor& tensor : mapped.tensors) result.add(tensor);
  for (auto& bytes : mapped.memory) result.keep(std::move(bytes));
  result.keep(std::move(file));
  return result;
}
[[nodiscard]] inline TensorFile map_tensors(TensorFile file, std::initializer_list<TensorRules> rules) {
  return map_tensors(std::move(file), std::span<const TensorRule>(TensorRules(rules).rules()));
}

}  // namespace tilewright
