#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "tilewright/checkpoint/tensor_file.hpp"

/// A fuzzer's input as bytes of a file.
inline std::vector<std::byte> as_file(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  return {bytes.begin(), bytes.end()};
}

/// Ends the program unless both files hold the same tensors and metadata.
inline void require_equal(const tilewright::TensorFile& a, const tilewright::TensorFile& b) {
  if (a.tensors().size() != b.tensors().size() || !(a.metadata() == b.metadata())) std::abort();
  for (const auto& tensor : a.tensors()) {
    const auto* other = b.find(tensor.name);
    if (std::cmp_not_equal(tensor.bytes.size(), tensor.spec.bytes())) std::abort();
    if (!other || other->spec != tensor.spec || !std::ranges::equal(other->bytes, tensor.bytes)) std::abort();
  }
}
