#pragma once
// Random programs of calls with elementwise ops before and behind them: what they compute before and after these ops have moved
// into the graphs that are called.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "program.hpp"
#include "semantics.hpp"
#include "tilewright/verified/lower_verified.hpp"

namespace random_programs {

/// Makes one such program. All tensors but scalars are (4, 4) float32.
class ProgramOfCalls {
 public:
  ProgramOfCalls(Ir& ir, std::uint64_t seed) : ir_(ir), random_(seed) {}

  void make() {
    for (int i = 0; i < 6; ++i) weights_.push_back(ir_.variable(tw::zeros(), {4, 4}, tw::float32, tw::text("v", i).view()));
    scale_ = ir_.variable(tw::zeros(), {}, tw::float32, "v6");
    update_ = ir_.create_graph(
        [](tw::TensorByRef weight, Tensor gradient) { ops::scaled_add_(weight, ops::tanh(gradient), {.b = -0.25}); }, weights_[0],
        weights_[0]);
    const tw::Graph inner = leaf(), outer = random_.one_in(2) ? caller(inner) : inner;
    std::vector<Tensor> results{weights_[0] + 1};
    run_calls(random_.one_in(4) ? inner : outer, results, weights_);
    if (random_.one_in(3)) results.push_back(tw::repeat(caller(inner), 2, {results[0], weights_[1], weights_[2]})[0]);
    for (std::size_t i = 0; i < results.size(); ++i)
      if (results[i].valid()) ops::host_store(ir_.d2h_stream(tw::text("y", i).view(), results[i].spec()), results[i]);
  }

 private:
  /// A graph of a few ops: (x, p, q) to one or two results.
  tw::Graph leaf() {
    const int ops = 1 + random_.below(3), kinds[] = {random_.below(8), random_.below(8), random_.below(8)};
    const bool changes = random_.one_in(4), returns_input = random_.one_in(6), two = random_.one_in(2), adds = random_.one_in(2);
    const auto build = [&](Tensor x, Tensor p, Tensor q) {
      Tensor first = x, y = (adds ? x + q : x).matmul(p);
      for (int i = 0; i < ops; ++i) {
        first = y;
        switch (kinds[i]) {
          case 0: y = y + q; break;
          case 1: y = y * p; break;
          case 2: y = ops::tanh(y); break;
          case 3: y = y.matmul(q); break;
          case 4: y = y.T(); break;
          case 5: y = ops::relu(y) + x; break;
          default: y = y - 0.5;
        }
      }
      if (changes) ops::scaled_add_(q, y, {.b = 0.5});
      std::vector<Tensor> outputs{y};
      if (returns_input) outputs.push_back(random_.one_in(2) ? q : p.T());
      else if (two) outputs.push_back(first + p);
      return outputs;
    };
    if (random_.one_in(4))
      return ir_.create_graph([&](Tensor x, Tensor p, tw::TensorByRef q) { return build(x, p, q); }, weights_[0], weights_[0],
                              weights_[0]);
    return ir_.create_graph([&](Tensor x, Tensor p, Tensor q) { return build(x, p, q); }, weights_[0], weights_[0], weights_[0]);
  }
  /// A graph that calls another one.
  tw::Graph caller(tw::Graph inner) {
    const auto build = [&](Tensor x, Tensor p, Tensor q) {
      std::vector<Tensor> results{x + 0};
      run_calls(inner, results, {p, q});
      return results[0];
    };
    return ir_.create_graph([&](Tensor x, Tensor p, Tensor q) { return build(x, p, q); }, weights_[0], weights_[0], weights_[0]);
  }
  /// Calls of a graph, each with about the same ops before it, and behind it or behind all of them.
  void run_calls(tw::Graph graph, std::vector<Tensor>& results, std::vector<Tensor> weights) {
    const int calls = 1 + random_.below(3);
    const bool waits = random_.one_in(2);
    std::vector<int> head, tail;
    for (int n = random_.below(4); n > 0; --n) head.push_back(random_.below(9));
    for (int n = random_.below(5); n > 0; --n) tail.push_back(random_.below(15));
    const bool rotates = random_.one_in(2);
    std::vector<std::vector<Tensor>> given, made;
    const auto follow = [&](std::size_t call) {
      for (int kind : tail) add_tail(random_.one_in(15) ? random_.below(15) : kind, given[call], made[call]);
      results[0] = made[call][0];
      if (random_.one_in(8)) results.push_back(made[call].back() * 1);
    };
    for (int c = 0; c < calls; ++c) {
      const auto pick = [&](int i) { return weights[static_cast<std::size_t>(rotates ? 2 * c + i : i) % weights.size()]; };
      given.push_back({results[0], pick(0), pick(1)});
      for (int kind : head) add_head(random_.one_in(20) ? random_.below(9) : kind, given.back(), weights);
      if (random_.one_in(12)) interfere(weights, results);
      made.emplace_back();
      for (const Tensor& made_tensor : tw::call_with_info(graph, given.back()).outputs()) made.back().push_back(made_tensor);
      if (!waits) follow(made.size() - 1);
      else results[0] = made.back()[0];
      if (random_.one_in(8)) interfere(weights, results);
    }
    if (waits)
      for (std::size_t c = 0; c < made.size(); ++c) follow(c);
  }
  void interfere(std::vector<Tensor>& weights, std::vector<Tensor>& results) {
    const Tensor weight = weights[static_cast<std::size_t>(random_.below(static_cast<int>(weights.size())))];
    if (random_.one_in(2)) ops::scaled_add_(weight, results[0], {.b = 0.125});
    else results[0] = results[0] + weight;
  }
  /// An op before a call with some inputs: it makes the first of them.
  void add_head(int kind, std::vector<Tensor>& given, const std::vector<Tensor>& weights) {
    Tensor& x = given[0];
    switch (kind) {
      case 0: x = x * 0.5; return;
      case 1: x = ops::tanh(x); return;
      case 2: x = x + given[1]; return;
      case 3: x = given[2] * x; return;
      case 4: x = x * x; return;
      case 5: x = x + weights.front(); return;
      case 6: x = ir_.tables.current_graph == tw::GraphId::main ? x * scale_ : x * 2; return;
      case 7: given[1] = given[1] + 0.25; return;
      default: x = weights.back() + 1;
    }
  }
  /// An op behind a call with some inputs and results.
  void add_tail(int kind, const std::vector<Tensor>& given, std::vector<Tensor>& made) {
    Tensor& y = made[0];
    const bool main = ir_.tables.current_graph == tw::GraphId::main;
    switch (kind) {
      case 0: y = y + given[1]; return;
      case 1: y = ops::relu(y); return;
      case 2: y = y * 0.5; return;
      case 3: y = given[0] + y; return;
      case 4: y = y * y; return;
      case 5: y = y + made.back(); return;
      case 6: ops::scaled_add_(given[1], made.back(), {.b = -0.5}); return;
      case 7: ops::scaled_add_(given[2], made.back() * given[1], {.b = -0.5}); return;
      case 8: tw::call(update_, {given[1], made.back()}); return;
      case 9: tw::call(update_, {given[2], made[0]}); return;
      case 10: y = main ? y * scale_ : y * 2; return;
      case 11:
        if (main) ops::scaled_add_(given[1], made.back(), {.b = -scale_});
        return;
      case 12: y = y + given[2]; return;
      case 13: ops::scaled_add_(given[2], y, {.b = 0.25}); return;
      default: y = y + y.T();
    }
  }

  Ir& ir_;
  Random random_;
  std::vector<Tensor> weights_{};
  Tensor scale_{};
  tw::Graph update_{ir_, tw::GraphId::main};
};

/// In how many programs ops moved into graphs, from behind their calls and from before them.
struct ProgramsWithMovedOps {
  int behind = 0, before = 0;
};
/// The numbers of a graph's ops.
inline std::vector<int> ids_of(const tw::GraphRecord& graph) {
  std::vector<int> ids;
  for (const tw::Node& node : graph.nodes) ids.push_back(node.id);
  return ids;
}

/// Prints a line for each program of the seeds [first, first + count) that computes something else after ops have moved, or whose
/// plan is wrong: it breaks the contract of a pass, or is not proven.
inline ProgramsWithMovedOps check_fused_calls(std::uint64_t first, std::uint64_t count) {
  ProgramsWithMovedOps moved;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    try {
      Ir ir;
      ProgramOfCalls(ir, seed).make();
      Results variables;
      Random random(seed);
      for (const auto& variable : ir.tables.variables) {
        const tw::TensorRecord& record = ir.tables.record(tw::GraphId::main).tensors[variable.tensor];
        auto& elements = variables[std::string(record.name.view())];
        for (std::int64_t i = 0; i < record.spec.nelms(); ++i) elements.push_back((random.below(31) - 15) / 16.0);
      }
      std::vector<std::vector<int>> known;
      for (const auto& graph : ir.tables.graphs) known.push_back(ids_of(graph));
      const Results expected = Interpreter(ir, true).run(variables);
      tw::move_ops_into_callees(ir, 0);
      bool behind = false, before = false;
      for (std::size_t g = 0; g < known.size(); ++g) {
        const std::vector<int> ids = ids_of(ir.tables.graphs[tw::GraphId(g)]);
        if (ids.empty()) continue;
        behind = behind || std::ranges::find(known[g], ids.back()) == known[g].end();
        before = before || std::ranges::find(known[g], ids.front()) == known[g].end();
      }
      moved.behind += behind;
      moved.before += before;
      const Results actual = Interpreter(ir, true).run(variables);
      for (const auto& [name, elements] : expected)
        for (std::size_t i = 0; i < elements.size(); ++i)
          if (elements[i] != actual.at(name)[i] && !(elements[i] != elements[i])) {
            std::printf("calls of seed %llu, %s: element %zu is %.9g: %.9g expected\n", static_cast<unsigned long long>(seed),
                        name.c_str(), i, actual.at(name)[i], elements[i]);
            break;
          }
      tw::lower_verified(tw::prepare(ir, tw::cpu));
    } catch (const tw::TraceError& error) {
      std::printf("calls of seed %llu: %s\n", static_cast<unsigned long long>(seed), error.what());
    }
  }
  return moved;
}

}  // namespace random_programs
