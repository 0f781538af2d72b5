#pragma once
#include <cstddef>
#include <string_view>

#include "tilewright/core/span.hpp"
#include "tilewright/core/tensor_spec.hpp"

namespace tilewright {

/// A tensor in host memory whose spec is known at run time only: row-major elements without gaps, of any alignment.
struct HostTensor {
  std::string_view name{};
  TensorSpec spec{};
  Span<const std::byte> bytes{};
  int log2_scale = 0;  ///< float8: scale of pow2scale_then_cast that made the elements, for files
  bool may_round = false;  ///< whether load_tensors may round the elements to the variable's dtype: the rule cast()
};

/// Tensors and their source for errors, such as the path of a file.
struct HostTensors {
  std::string_view source{};
  Span<const HostTensor> tensors{};
};

}  // namespace tilewright
