#pragma once
#include <concepts>
#include <string_view>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/graph/execution_context.hpp"
#include "tilewright/graph/ids.hpp"

namespace tilewright {

class Graph;
class Ir;
class Tensor;

/// An op that was just appended to a graph, as hooks for created ops see it.
class CreatedOp {
 public:
  constexpr CreatedOp(Ir& ir, GraphId graph, NodeId node) : ir_(&ir), graph_(graph), node_(node) {}

  /// Returns the op's type, as print_schedule shows it: "MatMul".
  constexpr std::string_view name() const;
  /// Returns the op's number in its Ir, as printed.
  constexpr int id() const;
  /// Returns the op's execution context, which is Subgraph in all graphs except the main one.
  constexpr ExecutionContext execution_context() const;
  constexpr Graph graph() const;
  constexpr List<Tensor> inputs() const;
  constexpr List<Tensor> outputs() const;

 private:
  Ir* ir_;
  GraphId graph_;
  NodeId node_;
};

/// A function of a CreatedOp that is registered with a graph, with its captures. Graph::register_op_created_hook creates it.
class OpCreatedHook {
 public:
  template <std::invocable<const CreatedOp&> F>
  constexpr OpCreatedHook(int handle, GraphId graph, F function)
      : handle_(handle), graph_(graph), function_(new Holder<F>(std::move(function))) {}
  constexpr OpCreatedHook(OpCreatedHook&& other) noexcept
      : handle_(other.handle_), graph_(other.graph_), function_(std::exchange(other.function_, nullptr)) {}
  constexpr OpCreatedHook& operator=(OpCreatedHook&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(graph_, other.graph_);
    std::swap(function_, other.function_);
    return *this;
  }
  constexpr ~OpCreatedHook() {
    if (function_) function_->destroy(function_);
  }

  constexpr int handle() const { return handle_; }
  constexpr GraphId graph() const { return graph_; }
  constexpr void operator()(const CreatedOp& op) const { function_->call(function_, op); }

 private:
  /// Type-erased function. (GCC 12 does not find virtual functions of a local lambda's class in constant expressions.)
  struct Function {
    void (*call)(Function*, const CreatedOp&);
    void (*destroy)(Function*);
  };
  template <class F>
  struct Holder : Function {
    constexpr explicit Holder(F f)
        : Function{[](Function* self, const CreatedOp& op) { static_cast<Holder*>(self)->function(op); },
                   [](Function* self) { delete static_cast<Holder*>(self); }},
          function(std::move(f)) {}
    F function;
  };

  int handle_;
  GraphId graph_;
  Function* function_;
};

namespace detail {
/// Hooks of a trace. A copy is empty, because hooks belong to those who trace.
class OpCreatedHooks : public List<OpCreatedHook> {
 public:
  constexpr OpCreatedHooks() = default;
  constexpr OpCreatedHooks(const OpCreatedHooks&) : List<OpCreatedHook>() {}
  constexpr OpCreatedHooks(OpCreatedHooks&&) noexcept = default;
  constexpr OpCreatedHooks& operator=(OpCreatedHooks&&) noexcept = default;
};
}  // namespace detail

}  // namespace tilewright
