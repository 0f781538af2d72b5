#pragma once
#include "tilewright/core/items.hpp"
#include "tilewright/graph/call_site.hpp"
#include "tilewright/module/dot_tree.hpp"

namespace tilewright {

/// A tree of tensors by name.
class NamedTensors : public DotTree<Tensor> {
 public:
  constexpr NamedTensors() = default;
  constexpr NamedTensors(DotTree<Tensor> tree) : DotTree(std::move(tree)) {}

  using DotTree::pack;
  /// Returns a call's outputs with their names; invalid tensors after an error.
  static constexpr NamedTensors pack(const List<Text>& names, const Outputs& outputs) {
    List<Tensor> tensors(outputs.begin(), outputs.end());
    if (outputs.ir().failed()) tensors.assign(names.size(), Tensor::invalid(outputs.ir()));
    return DotTree::pack(names, tensors);
  }

  /// Returns the subtree of a dotted name, for example the tensors of one module.
  [[nodiscard]] constexpr NamedTensors subtree(std::string_view name) const { return DotTree::subtree(name); }
  [[nodiscard]] constexpr NamedTensors subtree(std::int64_t key) const { return DotTree::subtree(key); }
  /// Returns all tensors, sorted by the tensors' own names.
  constexpr List<Tensor> tensors() const {
    List<Tensor> result;
    for (const auto& [name, tensor] : to_dict()) result.push_back(tensor);
    sort_items(result, [](const Tensor& a, const Tensor& b) { return a.name() < b.name(); });
    return result;
  }
  /// Returns all tensors with their dotted names.
  constexpr List<std::pair<Text, Tensor>> named_tensors() const { return to_dict(); }
  /// Replaces each tensor by the one that a map has for it, under the same name, for example variables by their gradients. Fails
  /// for a tensor that the map does not have.
  [[nodiscard]] constexpr NamedTensors remap(const TensorMap& map) const {
    return transform<Tensor>("", [&map](std::string_view, Tensor tensor) { return map[tensor]; });
  }
  /// Maps this tree's tensors to the other's, for the names that both have.
  constexpr TensorMap to_mapping(const DotTree<Tensor>& other) const {
    TensorMap result;
    for_common(other, [&](Tensor mine, Tensor theirs) { result.insert(mine, theirs); });
    return result;
  }
};

/// Maps the tensors of `from` to those of `to`, for the names that both have.
[[nodiscard]] constexpr TensorMap to_mapping(const NamedTensors& from, const DotTree<Tensor>& to) { return from.to_mapping(to); }

/// Returns a line for each tensor: its dotted name, then the tensor's own name, dtype and shape.
[[nodiscard]] constexpr Text print_named_tensors(const DotTree<Tensor>& tensors) {
  Text result;
  for (const auto& [name, tensor] : tensors.to_dict()) result += text(name, ": ", to_text(tensor), "\n");
  return result;
}

}  // namespace tilewright
