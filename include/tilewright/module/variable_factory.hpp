#pragma once
#include "tilewright/module/named_tensors.hpp"

namespace tilewright {

/// Makes a variable later, in the main graph: an initialiser with the shape and dtype of the input it is for.
class VariableFactory {
 public:
  constexpr VariableFactory() = default;
  constexpr VariableFactory(Ir& ir, Initialiser initialiser, const TensorSpec& spec, bool by_ref = false)
      : ir_(&ir), initialiser_(std::move(initialiser)), spec_(spec), by_ref_(by_ref) {}
  static constexpr VariableFactory invalid(Ir& ir) { return {ir, zeros(), {}}; }

  constexpr Ir& ir() const { return *ir_; }
  constexpr const TensorSpec& spec() const { return spec_; }
  /// An input for the variable in the graph that is being built.
  constexpr Tensor create_input(std::string_view name) const { return ir_->add_input(spec_, name, by_ref_); }
  /// A new variable in the main graph.
  constexpr Tensor create_tensor(std::string_view name) const {
    return ir_->variable(initialiser_, spec_.shape, spec_.dtype, name);
  }

 private:
  Ir* ir_ = nullptr;
  Initialiser initialiser_;
  TensorSpec spec_;
  bool by_ref_ = false;
};

constexpr Text to_text(const VariableFactory& factory) { return text("VariableFactory(", to_text(factory.spec()), ")"); }

/// The factories of a module's variables by name.
class NamedVariableFactories : public DotTree<VariableFactory> {
 public:
  constexpr NamedVariableFactories() = default;
  constexpr NamedVariableFactories(DotTree<VariableFactory> tree) : DotTree(std::move(tree)) {}

  /// A new variable for every factory, in alphabetical order of the names; the tensors are called `prefix.name`.
  /// Each call makes an independent set. The main graph must be the current one.
  constexpr NamedTensors init(std::string_view prefix = "") const {
    return sorted().transform<Tensor>(
        prefix, [](std::string_view name, const VariableFactory& factory) { return factory.create_tensor(name); });
  }
};

}  // namespace tilewright
