#pragma once
#include <vector>

#include "../catch.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;
using namespace tw::literals;

/// An array's elements in row-major order, in a type that Catch2 compares and prints.
template <class Array>
auto elements(const Array& array) {
  return std::vector(array.data(), array.data() + array.size());
}
using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;

/// Stores a tensor in a new stream to the host.
constexpr void store(std::string_view name, tw::Tensor tensor) {
  tw::ops::host_store(tensor.ir().d2h_stream(name, tensor.spec()), tensor);
}
