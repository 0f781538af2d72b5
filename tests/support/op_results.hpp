#pragma once
#include "programs.hpp"
#include "same.hpp"

/// What an op gives for tensors of some specs.
namespace op_results {

namespace tw = tilewright;

constexpr tw::TensorSpec f32(auto... extents) { return {{extents...}, tw::float32}; }
constexpr tw::TensorSpec f16(auto... extents) { return {{extents...}, tw::float16}; }
constexpr tw::TensorSpec i32(auto... extents) { return {{extents...}, tw::int32}; }
constexpr tw::TensorSpec bools(auto... extents) { return {{extents...}, tw::boolean}; }

/// The result of a function of tensors with these specs.
constexpr tw::TensorSpec result(auto function, const auto&... specs) {
  tw::Ir ir;
  return ir.create_graph(function, specs...).output(0).spec();
}
/// The message of the error that it meets.
constexpr tw::Text failure(auto function, const auto&... specs) {
  return support::failure([&](tw::Ir& ir) { ir.create_graph(function, specs...); });
}

}  // namespace op_results
