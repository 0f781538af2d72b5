#pragma once
#include <string_view>

#include "tilewright/graph/graph.hpp"

namespace tilewright {

/// While it lives, names of new tensors get the prefix `name/`.
class [[nodiscard]] NameScope {
 public:
  constexpr NameScope(Ir& ir, std::string_view name) : ir_(ir) { ir_.name_scopes.push_back(name); }
  constexpr ~NameScope() { ir_.name_scopes.pop_back(); }
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;

 private:
  Ir& ir_;
};
constexpr NameScope name_scope(Ir& ir, std::string_view name) { return {ir, name}; }

/// While it lives, every new op of the graph that was current at its creation runs after the one created before it.
/// Inside another one of the same graph it changes nothing.
class [[nodiscard]] InSequence {
 public:
  constexpr explicit InSequence(Ir& ir)
      : ir_(ir), outermost_(ir.sequences.empty() || ir.sequences.back().first != ir.current_graph) {
    if (outermost_) ir_.sequences.push_back({ir.current_graph, {}});
  }
  constexpr ~InSequence() {
    if (outermost_) ir_.sequences.pop_back();
  }
  InSequence(const InSequence&) = delete;
  InSequence& operator=(const InSequence&) = delete;

 private:
  Ir& ir_;
  bool outermost_;
};
constexpr InSequence in_sequence(Ir& ir) { return InSequence(ir); }

/// While it lives, errors name this step of the module path.
class PathScope {
 public:
  constexpr PathScope(Ir& ir, std::string_view name) : ir_(ir) { ir_.module_path.push_back(name); }
  constexpr ~PathScope() { ir_.module_path.pop_back(); }
  PathScope(const PathScope&) = delete;
  PathScope& operator=(const PathScope&) = delete;

 private:
  Ir& ir_;
};

}  // namespace tilewright
