#pragma once
#include <concepts>
#include <optional>

#include "tilewright/graph/ir.hpp"

namespace tilewright {

/// A number, which becomes a constant of the graph, or a tensor of one element, whose value is known at run time only. In
/// create_graph, a spec stands for such a tensor.
struct NumberOrTensor {
  double number = 0;  ///< the number, if neither tensor nor spec is given
  std::optional<Tensor> tensor{};  ///< a tensor of one element
  std::optional<TensorSpec> spec{};  ///< an input of the graph, of one element
  ExactNumber exact{};  ///< the number with all bits of an integer
  template <class Number>
    requires(std::integral<Number> || std::floating_point<Number>)
  constexpr NumberOrTensor(Number value) : number(static_cast<double>(value)), exact(value) {}
  constexpr NumberOrTensor(Tensor value) : tensor(value) {}
  constexpr NumberOrTensor(const TensorSpec& value) : spec(value) {}
  template <class Schedule>
    requires std::invocable<const Schedule&, std::int64_t>
  constexpr NumberOrTensor(const Schedule&) {
    static_assert(!std::invocable<const Schedule&, std::int64_t>,
                  "a schedule, which the host calls: a tensor, `lr = ops::host_load(ir.h2d_stream(\"lr\", {}))`, and "
                  "`session.run(\"lr\"_s = static_cast<float>(schedule(step)), ...)`, expected");
  }
};

}  // namespace tilewright
