#pragma once
#include "tilewright/core/requirements.hpp"

#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/index/gather.hpp"
#include "tilewright/ops/linear/matmul.hpp"

namespace tilewright::layers {

/// Options of Embedding. `dtype` is torch.nn.Embedding's; `std` has no counterpart in PyTorch.
struct EmbeddingOptions {
  double std = 1;  ///< standard deviation of the initial weights; PyTorch's is 1
  DType dtype = float32;  ///< dtype of the weights and of the result
};

/// Looks up a row of a table for each index: torch.nn.Embedding. indices: (...), integers from 0 to num_embeddings - 1. Result:
/// (..., embedding_dim). An index outside of the table is a fault: the run throws FaultError when it ends. Errors: indices that
/// are not integers.
///
/// Variable: `weight` (num_embeddings, embedding_dim), as in PyTorch. Initial values: normal with mean 0 and the standard
/// deviation `std`; the default 1 is PyTorch's; Hugging Face's Llama and GPT-2 use 0.02.
template <int num_embeddings, int embedding_dim, EmbeddingOptions options = {}>
struct Embedding : Module<Embedding<num_embeddings, embedding_dim, options>> {
  constexpr Tensor build(Tensor indices) {
    if (indices.valid() && !is_int(indices.dtype()))
      return indices.ir().fail(text("Embedding: indices ", to_text(indices.spec()), ": integers expected"));
    weight_ = this->add_variable_input("weight", normal(0, options.std), {num_embeddings, embedding_dim}, options.dtype);
    return ops::tied_gather(weight_, indices);
  }
  /// Returns x weight^T: the output projection of a model that ties it to the embedding table. Call it after the embedding, in
  /// the same graph. x: (..., embedding_dim), of the table's dtype. Result: (..., num_embeddings).
  constexpr Tensor logits(Tensor x) const {
    if (!weight_.valid())
      return x.ir().fail(text("Embedding: logits of ", to_text(x.spec()), " before the embedding was called: a call expected"));
    return x.matmul(weight_.T());
  }

 private:
  Tensor weight_;
};

}  // namespace tilewright::layers
