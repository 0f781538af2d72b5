#pragma once
#include <string_view>

#include "tilewright/core/list.hpp"
#include "tilewright/core/pair.hpp"
#include "tilewright/graph/ir.hpp"

namespace tilewright {

/// Tensors with their names, in a fixed order: `graph.inputs_by_name()["weight"]`.
class TensorsByName {
 public:
  constexpr explicit TensorsByName(Ir& ir) : ir_(&ir) {}

  constexpr void insert(std::string_view name, Tensor tensor) { entries_.push_back({name, tensor}); }
  constexpr const Tensor* find(std::string_view name) const {
    for (const auto& [known, tensor] : entries_)
      if (same_characters(known, name)) return &tensor;
    return nullptr;
  }
  /// Returns the tensor with the given name. Fails for an unknown name.
  constexpr Tensor operator[](std::string_view name) const {
    if (const Tensor* found = find(name)) return *found;
    if (ir_->failed()) return Tensor::invalid(*ir_);
    List<Text> names;
    for (const auto& [known, tensor] : entries_) names.push_back(text("'", known, "'"));
    return ir_->fail(text("inputs_by_name: '", name, "': one of ", join(names, ", "), " expected"));
  }
  constexpr std::size_t size() const { return entries_.size(); }
  constexpr auto begin() const { return entries_.begin(); }
  constexpr auto end() const { return entries_.end(); }

 private:
  Ir* ir_;
  List<Pair<std::string_view, Tensor>> entries_{};
};

}  // namespace tilewright
