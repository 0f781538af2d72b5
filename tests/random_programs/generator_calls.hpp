#pragma once
// Steps of the generator: calls, loops and conditionals.
#include "generator.hpp"

namespace random_programs {

/// A graph of random ops on these inputs. It has one result of `result`, if given, from -1 to 1; else one or two of any shape.
/// With `counts`, input 1 is a number of int32, and result 1 is larger by 1.
constexpr Generator::Called Generator::graph(const std::vector<Known>& inputs, int depth, std::optional<TensorSpec> result,
                                             bool counts, bool is_branch) {
  std::vector<Elements> results;
  std::vector<Tensor> tensors;
  for (const Known& input : inputs) tensors.push_back(input.tensor);
  const tw::Graph graph = ir_.create_graph(
      [&](const std::vector<Tensor>& given) {
        Generator inner(ir_, random_, features_);
        inner.features_.repeats = features_.repeats || is_branch;
        for (std::size_t i = 0; i < given.size(); ++i)
          inner.add(given[i], inputs[i].elements, !features_.gradients && !(counts && i == 1));
        inner.begin();
        inner.run(1 + random_.below(2), depth - 1);
        std::vector<Tensor> outputs;
        if (!result) {
          for (const Known& each : inner.results(1 + static_cast<std::size_t>(random_.below(2)))) {
            outputs.push_back(each.tensor);
            results.push_back(each.elements);
          }
          return outputs;
        }
        Tensor sum = given[0];
        for (const Known& each : inner.results(2)) {
          if (!each.is_real()) continue;
          const Tensor part = each.tensor.cast(result->dtype);
          const auto common = tw::broadcast(part.shape(), result->shape);
          sum = sum + (common && *common == result->shape ? part : ops::mean(part));
        }
        outputs.push_back(ops::tanh(sum));
        results.push_back({-1, 1});
        if (counts) outputs.push_back(given[1] + 1);
        return outputs;
      },
      tensors);
  return {graph, results};
}

constexpr void Generator::call(int depth) {
  const std::vector<Known> inputs{recent(), recent()};
  const Called called = graph(inputs, depth, {}, false);
  const auto run = [&](const std::vector<Known>& given) {
    std::vector<Tensor> tensors;
    for (const Known& each : given) tensors.push_back(each.tensor);
    const auto site = tw::call_with_info(called.graph, tensors);
    for (std::size_t i = 0; i < called.results.size(); ++i) push(site.output(static_cast<int>(i)), called.results[i]);
  };
  run(inputs);
  if (random_.one_in(2)) return;
  std::vector<Known> others = inputs;  // the same code again, on another tensor
  for (Known& other : others)
    if (const Known y = like(other); other.elements.includes(y.elements)) other = y;
  run(others);
}

/// A graph that changes its caller's tensor.
constexpr void Generator::call_by_reference(int depth) {
  const auto target = find([](const Known& k) { return k.changeable && k.is_real() && k.bound() <= 4; });
  if (!target || features_.gradients) return call(depth);
  Known other = recent();
  if (other.tensor == target->tensor) other = constant({3}, tw::float32);
  Elements after = target->elements;
  const tw::Graph graph = ir_.create_graph(
      [&](tw::TensorByRef changed, Tensor given) {
        Generator inner(ir_, random_, features_);
        inner.add(given, other.elements, true);
        inner.add(changed, target->elements, true);
        inner.begin();
        const Known whole = inner.known_.back();
        if (random_.one_in(2)) inner.unary_in_place(whole, false);
        else inner.update_in_place(whole, false);
        inner.run(1, depth - 1);
        after = inner.known_[1].elements;
        return ops::mean(changed);
      },
      target->tensor, other.tensor);
  push(tw::call_with_info(graph, {target->tensor, other.tensor}).output(0), {-256, 256});
  change(*target, after, false);
}

constexpr void Generator::loop(int depth) {
  const auto x = find([](const Known& k) { return k.is_real() && k.bound() <= 16; });
  if (!x) return call(depth);
  const int count = random_.below(4);
  const bool counts = random_.one_in(2) && !features_.gradients;
  Known carried = *x;
  carried.elements = hull(x->elements.rounded(), {-1, 1});
  std::vector<Known> inputs{carried};
  if (counts) inputs.push_back({ir_.constant(0, tw::int32), {0, 4, 0, 0}, 0, false});
  inputs.push_back(recent());
  const Called body = graph(inputs, depth, x->tensor.spec(), counts);
  std::vector<Tensor> tensors;
  for (const Known& input : inputs) tensors.push_back(input.tensor);
  const auto site = tw::repeat_with_info(body.graph, count, tensors);
  push(site.output(0), carried.elements);
  if (counts) push(site.output(1), {0, 4, 0, 0});
}

constexpr void Generator::branch(int depth) {
  const auto x = find([](const Known& k) { return k.is_real(); });
  if (!x) return call(depth);
  const Known y = recent();
  Tensor which = ir_.constant(random_.below(2), tw::boolean);
  if (random_.one_in(2)) {
    const Known c = condition();
    if (c.tensor.nelms() == 1) which = c.tensor;
    else which = ops::slice(c.tensor.flatten(), 0, 1);
  }
  const Called first = graph({*x, y}, depth, x->tensor.spec(), false, true),
               second = graph({*x}, depth, x->tensor.spec(), false, true);
  push(tw::conditional(which, {first.graph, {x->tensor, y.tensor}}, {second.graph, {x->tensor}})[0], {-1, 1});
}

}  // namespace random_programs
