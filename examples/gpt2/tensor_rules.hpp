#pragma once
#include <tilewright/checkpoint/tensor_rules.hpp>
#include <vector>

namespace gpt2 {

/// Which variables of gpt::Gpt have which tensors of a file of GPT-2 with Hugging Face's names. All have the same shapes: such
/// files have matrices as (in, out). Left out are the causal masks, and the head, which shares the table of tokens.
inline const std::vector<tilewright::TensorRule>& tensor_rules() {
  static const std::vector<tilewright::TensorRule> rules{
      tilewright::left_out("*.attn.bias"),
      tilewright::left_out("*.attn.masked_bias"),
      tilewright::left_out("lm_head.weight"),
      tilewright::renamed("transformer.*", "*"),
  };
  return rules;
}

}  // namespace gpt2
