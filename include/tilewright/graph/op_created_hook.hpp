#pragma once
#include <concepts>
#include <string_view>
#include <utility>

#include "tilewright/core/list.hpp"
#include "tilewright/core/move_only_function.hpp"
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

/// A function of a CreatedOp that is registered with a graph. Graph::register_op_created_hook creates it.
class OpCreatedHook {
 public:
  template <std::invocable<const CreatedOp&> F>
  constexpr OpCreatedHook(int handle, GraphId graph, F function)
      : handle_(handle), graph_(graph), function_(std::move(function)) {}

  constexpr int handle() const { return handle_; }
  constexpr GraphId graph() const { return graph_; }
  constexpr void operator()(const CreatedOp& op) const { function_(op); }

 private:
  int handle_;
  GraphId graph_;
  detail::MoveOnlyFunction<void(const CreatedOp&)> function_;
};

}  // namespace tilewright
