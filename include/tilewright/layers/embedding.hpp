#pragma once
#include "tilewright/core/requirements.hpp"

#include <cstdint>

#include "tilewright/core/optional_number.hpp"
#include "tilewright/module/create_graph.hpp"
#include "tilewright/ops/elementwise/compare.hpp"
#include "tilewright/ops/elementwise/select.hpp"
#include "tilewright/ops/index/gather.hpp"
#include "tilewright/ops/linear/matmul.hpp"

namespace tilewright::layers {

/// Options of Embedding. `dtype` and `padding_idx` are torch.nn.Embedding's; `std` has no counterpart in PyTorch.
struct EmbeddingOptions {
  double std = 1;  ///< standard deviation of the initial weights; PyTorch's is 1
  DType dtype = float32;  ///< dtype of the weights and of the result
  /// Index of padding: its row begins with zeros, and a lookup gives the row no gradient. A negative number counts from the end
  OptionalNumber padding_idx{};
};

/// Looks up a row of a table for each index: torch.nn.Embedding. indices: (...), integers from 0 to num_embeddings - 1. Result:
/// (..., embedding_dim). An index outside of the table is a fault: the run throws FaultError when it ends. Errors: indices that
/// are not integers; a padding_idx outside of the table.
///
/// Variable: `weight` (num_embeddings, embedding_dim), as in PyTorch. Initial values: normal with mean 0 and the standard
/// deviation `std`; the default 1 is PyTorch's; Hugging Face's Llama and GPT-2 use 0.02. The row of `padding_idx` is zero.
template <int num_embeddings, int embedding_dim, EmbeddingOptions options = {}>
struct Embedding : Module<Embedding<num_embeddings, embedding_dim, options>> {
  constexpr Tensor build(Tensor indices) {
    if (indices.valid() && !is_int(indices.dtype()))
      return indices.ir().fail(text("Embedding: indices ", to_text(indices.spec()), ": integers expected"));
    Initialiser first = normal(0, options.std);
    if constexpr (options.padding_idx.given) {
      if (!check_padding(indices.ir())) return Tensor::invalid(indices.ir());
      first.first_zero = padding_row() * embedding_dim;
      first.zero_count = embedding_dim;
    }
    weight_ = this->add_variable_input("weight", first, {num_embeddings, embedding_dim}, options.dtype);
    const Tensor rows = ops::tied_gather(weight_, indices);
    if constexpr (!options.padding_idx.given) return rows;
    else return without_gradient_of_padding(rows, indices);
  }
  /// Returns x weight^T: the output projection of a model that ties it to the embedding table. Call it after the embedding, in
  /// the same graph. x: (..., embedding_dim), of the table's dtype. Result: (..., num_embeddings).
  constexpr Tensor logits(Tensor x) const {
    if (!weight_.valid())
      return x.ir().fail(text("Embedding: logits of ", to_text(x.spec()), " before the embedding was called: a call expected"));
    return x.matmul(weight_.T());
  }

 private:
  static constexpr bool check_padding(Ir& ir) {
    constexpr double row = options.padding_idx.value;
    if (row >= -num_embeddings && row < num_embeddings && row == static_cast<double>(static_cast<std::int64_t>(row))) return true;
    ir.fail(text("Embedding: padding_idx ", number_text(row), " of ", num_embeddings, " rows: a whole number from ",
                 -std::int64_t{num_embeddings}, " to ", num_embeddings - 1, " expected"));
    return false;
  }
  static constexpr std::int64_t padding_row() {
    const auto row = static_cast<std::int64_t>(options.padding_idx.value);
    return row < 0 ? row + num_embeddings : row;
  }
  static constexpr Tensor without_gradient_of_padding(Tensor rows, Tensor indices) {
    if (!rows.valid()) return rows;
    Shape shape = indices.shape();
    shape.push_back(1);
    const Tensor is_padding = ops::equal(indices, padding_row()).reshape(shape);
    return ops::where(is_padding, rows.detach(), rows);
  }

  Tensor weight_;
};

}  // namespace tilewright::layers
