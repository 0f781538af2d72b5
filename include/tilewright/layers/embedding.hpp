#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/index/gather.hpp"
#include "tilewright/ops/linear/matmul.hpp"

namespace tilewright::layers {

/// `dtype` is torch.nn.Embedding's; `std` has no counterpart there.
struct EmbeddingOptions {
  double std = 1;         ///< standard deviation of the first weights; 1: PyTorch's
  DType dtype = float32;  ///< of the weights, and of the result
};

/// A row of a table for each index: torch.nn.Embedding. indices: (...), integers from 0 to num_embeddings - 1; result: (...,
/// embedding_dim). Another index is a fault: the run throws FaultError when it has ended. Errors: indices that are no
/// integers.
///
/// Variable: `weight` (num_embeddings, embedding_dim); PyTorch's is the same. First values: normal with mean 0, and the standard
/// deviation 1, as PyTorch's; Hugging Face's Llama and GPT-2 have 0.02.
template <int num_embeddings, int embedding_dim, EmbeddingOptions options = {}>
struct Embedding : Module<Embedding<num_embeddings, embedding_dim, options>> {
  constexpr Tensor build(Tensor indices) {
    if (indices.valid() && !is_int(indices.dtype()))
      return indices.ir().fail(text("Embedding: indices ", to_text(indices.spec()), ": integers expected"));
    weight_ = this->add_variable_input("weight", normal(0, options.std), {num_embeddings, embedding_dim}, options.dtype);
    return ops::tied_gather(weight_, indices);
  }
  /// x weight^T: the product of a model's head that shares the table, after the call of the embedding and in the same graph.
  /// x: (..., embedding_dim), of the table's dtype; result: (..., num_embeddings).
  constexpr Tensor logits(Tensor x) const {
    if (!weight_.valid())
      return x.ir().fail(text("Embedding: logits of ", to_text(x.spec()), " before the embedding was called: a call expected"));
    return x.matmul(weight_.T());
  }

 private:
  Tensor weight_;
};

}  // namespace tilewright::layers
