// labels: strict tsan
// Merged loads and stores: every program gives what it gives without merge_exchange.
#include <random>
#include <string>

#include "../../support/elements.hpp"

namespace {

using tw::Graph, tw::Ir, tw::RemoteBuffer, tw::Tensor;
namespace ops = tw::ops;

using support::load;
/// A merge_exchange scope, if there is to be one.
template <bool merged>
constexpr auto scope_of(Ir& ir) {
  if constexpr (merged) return tw::merge_exchange(ir);
  else return ir.tables.current_graph;
}

/// Calls f, whose numbers are to be exact in any order of sums, with sessions of the merged program for each machine and several
/// numbers of threads, and with what it gives for a session of the plain one.
template <auto merged, auto plain>
void compare(auto f) {
  tw::Session<plain> reference;
  const auto expected = f(reference);
  on_all_machines<merged>([&](auto& session) { CHECK(f(session) == expected); });
}

/// Everything in one scope: rows that a run chooses, loads in place and stores of transposed tensors, values that come from one
/// exchange and go into the next.
template <bool merged>
constexpr void tangle(Ir& ir) {
  const RemoteBuffer buffer = ir.remote_buffer({3, 2}, tw::float32, 5);
  for (int row = 0; row < 3; ++row) ir.remote_variable(tw::normal(0, 1), buffer, row, tw::text("row", row).view());
  ir.remote_variable(tw::zeros(), buffer, 3, "row3");
  ir.remote_variable(tw::zeros(), buffer, 4, "row4");
  const Tensor v = ir.variable(tw::normal(0, 1), {2, 3}, tw::float32, "v");
  const Tensor w = ir.variable(tw::normal(0, 1), {2, 3}, tw::float32, "w");
  const Tensor row = load(ir, "row", {}, tw::uint32);
  [[maybe_unused]] const auto scope = scope_of<merged>(ir);
  const Tensor x = load(ir, "x", {3, 2}), a = ops::remote_load(buffer, row), doubled = a * 2, b = ops::remote_load(buffer, 1);
  ops::remote_load_(buffer, 0, ops::transpose_(v));
  ops::scaled_add_(w, v, {.b = 0.5});
  ops::remote_store(buffer, 3, w.T());
  ops::remote_store(buffer, 0, x);
  store("a + b", doubled + b);
  ops::remote_load_(buffer, 2, ops::transpose_(w));
  store("w", w);
  ops::remote_store(buffer, row, x * 3);
  const Tensor c = ops::remote_load(buffer, 2);
  ops::remote_store(buffer, 4, x + c);
}

/// Four iterations, in each of which a stream is loaded twice and a row of a table is replaced.
template <bool merged>
constexpr void loop(Ir& ir) {
  ir.set_num_host_transfers(8);
  const auto x = ir.h2d_stream("x", {4}), z = ir.h2d_stream("z", {4});
  const auto y = ir.d2h_stream("y", {4});
  const RemoteBuffer table = ir.remote_buffer({4}, tw::float32, 4), sums = ir.remote_buffer({4});
  for (int row = 0; row < 4; ++row) ir.remote_variable(tw::full(row), table, row, tw::text("row", row).view());
  ir.remote_variable(tw::zeros(), sums, 0, "sum");
  const auto body = [&](Tensor last, Tensor row) {
    Tensor first, second, third, known, sum;
    {
      [[maybe_unused]] const auto scope = scope_of<merged>(ir);
      first = ops::host_load(x);
      known = ops::remote_load(table, row);
      sum = ops::remote_load(sums, 0);
      second = ops::host_load(x);
      third = ops::host_load(z);
      ops::host_store(y, last);
    }
    const Tensor next = (first - second * known) * 0.5 + third;
    [[maybe_unused]] const auto scope = scope_of<merged>(ir);
    ops::remote_store(table, row, next);
    ops::remote_store(sums, 0, sum + next);
    ops::host_store(y, next);
    return std::array{next, row + ir.constant(1, tw::uint32)};
  };
  const Graph graph = ir.create_graph(body, tw::TensorSpec{{4}, tw::float32}, tw::TensorSpec{{}, tw::uint32});
  tw::repeat(graph, 4, {ir.constant({0}, {4}), ir.constant(0, tw::uint32)});
}

/// The gradient of a product by rows that the forward graph loads together; the graph is called twice, and inlined once.
template <bool merged>
constexpr void gradient(Ir& ir) {
  const RemoteBuffer buffer = ir.remote_buffer({3, 2}, tw::float32, 2);
  ir.remote_variable(tw::values({1, 2, -3, 4, -5, 6}), buffer, 0, "w");
  ir.remote_variable(tw::values({3, -1, 0, 2, 1, -2}), buffer, 1, "b");
  const Tensor x = load(ir, "x", {2, 3});
  const auto forward = [&](Tensor t) {
    [[maybe_unused]] const auto scope = scope_of<merged>(ir);
    const Tensor w = ops::remote_load(buffer, 0), b = ops::remote_load(buffer, 1);
    return ops::relu(t.matmul(w)).matmul(b.T());
  };
  const Graph graph = ir.create_graph(forward, x);
  const auto info = tw::autodiff(graph);
  const auto call = tw::call_with_info(graph, tw::call_with_info(graph, x).output(0));
  store("dx", tw::call(info.graph(), x, info.inputs_dict(call)));
  store("once", tw::call(ir.create_graph(forward, x), x));
}

/// Code of two graphs, loaded with a row; one of them loads the other's code again.
template <bool merged>
constexpr void code(Ir& ir) {
  const RemoteBuffer buffer = ir.remote_buffer({4, 4});
  ir.remote_variable(tw::values({1, 2, 0, 1, 3, -1, 2, 2, 1, 0, 0, -2, 5, 1, 1, 1}), buffer, 0, "w");
  const Tensor x = load(ir, "x", {4, 4});
  const Graph inner = ir.create_graph([](Tensor t) { return ops::relu(t) - t.T(); }, x);
  const auto outer_graph = [&](Tensor t) {
    [[maybe_unused]] const auto scope = scope_of<merged>(ir);
    const Tensor w = ops::remote_load(buffer, 0);
    ops::remote_code_load(inner);
    return Tensor(tw::call(inner, t)).matmul(w);
  };
  const Graph outer = ir.create_graph(outer_graph, x);
  Tensor w, y;
  {
    [[maybe_unused]] const auto scope = scope_of<merged>(ir);
    ops::remote_code_load(outer);
    w = ops::remote_load(buffer, 0);
    ops::remote_code_load(inner);
  }
  y = tw::call(inner, Tensor(tw::call(outer, x)));
  store("y", Tensor(tw::call(outer, y)) + w);
}

/// Runs the ops of a main graph with symbols for values: what it computes shows which values it saw.
class Symbols {
 public:
  explicit Symbols(const Ir& ir)
      : ir_(ir),
        copied_(tw::internal::find_copied_views(ir.tables.graphs[tw::GraphId::main])),
        memory_(ir.tables.graphs[tw::GraphId::main].tensors.size()),
        loaded_(ir.tables.streams.size(), 0) {
    for (std::size_t t = 0; t < memory_.size(); ++t) memory_[tw::TensorId(t)] = t + 1;
    for (const auto& buffer : ir.tables.remote_buffers) rows_.emplace_back(static_cast<std::size_t>(buffer.entries), 0);
  }
  void run(tw::NodeId number) {
    const tw::Node& node = ir_.tables.graphs[tw::GraphId::main].nodes[number];
    const auto input = [&](std::size_t i) -> std::size_t& { return value(node.inputs[i]); };
    const auto row = [&](std::size_t offset) -> std::size_t& {
      const auto [buffer, known] = tw::unpack<tw::RemoteAttributes>(node.attributes);
      auto& rows = rows_[static_cast<std::size_t>(buffer)];
      return rows[known >= 0 ? static_cast<std::size_t>(known) : input(offset) % rows.size()];
    };
    if (node.op == &tw::op_info<tw::RemoteLoad>) value(node.outputs[0]) = row(0);
    else if (node.op == &tw::op_info<tw::RemoteLoadInplace>) input(0) = row(1);
    else if (node.op == &tw::op_info<tw::RemoteStore>) row(1) = input(0);
    else if (node.op == &tw::op_info<tw::HostLoad>) value(node.outputs[0]) = mixed(1000, loaded_[stream(node)]++);
    else if (node.op == &tw::op_info<tw::HostStore>) stored_.push_back(input(0));
    else if (node.op->modifies == 0) input(0) = mixed(input(0), input(1));
    else if (!is_shared_view(number)) value(node.outputs[0]) = mixed(input(0), input(node.inputs.size() - 1));
    if (node.op->name == "PrintTensor") printed_.push_back(input(0));
  }
  bool operator==(const Symbols& other) const {
    return memory_ == other.memory_ && rows_ == other.rows_ && loaded_ == other.loaded_ && stored_ == other.stored_ &&
           printed_ == other.printed_;
  }

 private:
  /// In the memory that the planner gives it: views that are no copies have that of what they view.
  std::size_t& value(tw::TensorId tensor) {
    const tw::GraphRecord& graph = ir_.tables.graphs[tw::GraphId::main];
    for (tw::TensorId next = tensor; next != tw::TensorId::none;) {
      tensor = next;
      const tw::NodeId made_by = graph.tensors[tensor].producer;
      if (made_by == tw::NodeId::none) break;
      const tw::Node& node = graph.nodes[made_by];
      next = is_shared_view(made_by) ? node.inputs[0] : tw::aliased_input(node, tensor);
    }
    return memory_[tensor];
  }
  bool is_shared_view(tw::NodeId node) const {
    return ir_.tables.graphs[tw::GraphId::main].nodes[node].op->view && (copied_.empty() || !copied_[node]);
  }
  static std::size_t stream(const tw::Node& node) {
    return static_cast<std::size_t>(tw::unpack<tw::StreamAttributes>(node.attributes).stream);
  }
  static std::size_t mixed(std::size_t a, std::size_t b) {
    return (a * 0x9e3779b97f4a7c15u + b) * 0xff51afd7ed558ccdu ^ (a >> 29);
  }

  const Ir& ir_;
  tw::List<bool, tw::NodeId> copied_;
  tw::List<std::size_t, tw::TensorId> memory_;
  std::vector<std::size_t> loaded_, stored_{}, printed_{};
  std::vector<std::vector<std::size_t>> rows_{};
};

/// A scope of loads, stores and other ops on two buffers, variables and views of them, two streams from the host and one to it.
void trace_at_random(Ir& ir, std::mt19937& random) {
  const auto below = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  const tw::Shape shape{2, 2};
  const std::array buffers{ir.remote_buffer(shape, tw::float32, 3), ir.remote_buffer(shape, tw::float32, 2)};
  const std::array from{ir.h2d_stream("a", shape), ir.h2d_stream("b", shape)};
  const auto to = ir.d2h_stream("c", shape);
  std::vector<Tensor> tensors;
  for (const char* name : {"x", "y", "z"}) tensors.push_back(ir.variable(tw::zeros(), shape, tw::float32, name));
  const Tensor row = ir.variable(tw::zeros(), {}, tw::uint32, "row");
  const auto scope = tw::merge_exchange(ir);
  for (std::size_t i = 0, count = 2 + below(14); i < count; ++i) {
    const Tensor x = tensors[below(tensors.size())], y = tensors[below(tensors.size())];
    const RemoteBuffer buffer = buffers[below(2)];
    const std::size_t number = below(3);
    const tw::RemoteOffset offset = number < 2 ? tw::RemoteOffset(number) : tw::RemoteOffset(row);
    switch (below(11)) {
      case 0:
      case 1: tensors.push_back(ops::remote_load(buffer, offset)); break;
      case 2: tensors.push_back(ops::remote_load_(buffer, offset, x)); break;
      case 3:
      case 4: ops::remote_store(buffer, offset, x); break;
      case 5: tensors.push_back(ops::host_load(from[below(2)])); break;
      case 6: ops::host_store(to, x); break;
      case 7: tensors.push_back(x + y); break;
      case 8: ops::scaled_add_(x, y); break;
      case 9: tensors.push_back(below(2) == 0 ? x.T() : ops::detach_(x)); break;
      default: tensors.push_back(ops::print_tensor(x)); break;
    }
  }
}

}  // namespace

TEST_CASE("merge_exchange: any scope computes what it computes without, also if an exchange runs backwards") {
  std::mt19937 random(1);
  int merged = 0;
  for (int program = 0; program < 2000; ++program) {
    Ir ir;
    trace_at_random(ir, random);
    Symbols as_traced(ir), in_exchanges(ir), backwards(ir);
    std::vector<int> runs(ir.tables.graphs[tw::GraphId::main].nodes.size(), 0);
    for (std::size_t n = 0; n < runs.size(); ++n) as_traced.run(tw::NodeId(n));
    tw::detail::for_each_op(ir, tw::GraphId::main, [&](std::span<const tw::NodeId> nodes) {
      merged += nodes.size() > 1;
      const auto is_of_host = [&](tw::NodeId n) {
        const tw::OpInfo* op = ir.tables.graphs[tw::GraphId::main].nodes[n].op;
        return op == &tw::op_info<tw::HostLoad> || op == &tw::op_info<tw::HostStore>;
      };
      for (const tw::NodeId n : nodes) {
        ++runs[static_cast<std::size_t>(n)];
        in_exchanges.run(n);
        if (is_of_host(n)) backwards.run(n);  // elements of a stream keep their order
      }
      for (std::size_t i = nodes.size(); i-- > 0;)
        if (!is_of_host(nodes[i])) backwards.run(nodes[i]);
    });
    INFO(tw::print_schedule(ir.main_graph()).view());
    REQUIRE(runs == std::vector<int>(runs.size(), 1));
    REQUIRE(in_exchanges == as_traced);
    REQUIRE(backwards == as_traced);
  }
  CHECK(merged > 1000);
}
TEST_CASE("merge_exchange: rows and variables") {
  STATIC_REQUIRE(tw::Session<tangle<true>>::plan.remote.exchanges < tw::Session<tangle<false>>::plan.remote.exchanges);
  for (std::uint32_t row = 0; row < 5; ++row)
    compare<tangle<true>, tangle<false>>([row](auto& session) {
      std::vector<Floats> all;
      for (int run = 0; run < 2; ++run) {
        const xt::xtensor<float, 2> x{{1, 2}, {3, 4}, {5, static_cast<float>(run)}};
        const auto outputs = session.run("x"_s = x, "row"_s = row);
        all.push_back(elements(outputs["a + b"_s]));
        all.push_back(elements(outputs["w"_s]));
      }
      all.push_back(elements(session.get_tensor_data("row0"_s)));
      all.push_back(elements(session.get_tensor_data("row1"_s)));
      all.push_back(elements(session.get_tensor_data("row2"_s)));
      all.push_back(elements(session.get_tensor_data("row3"_s)));
      all.push_back(elements(session.get_tensor_data("row4"_s)));
      all.push_back(elements(session.get_tensor_data("v"_s)));
      all.push_back(elements(session.get_tensor_data("w"_s)));
      return all;
    });
}
TEST_CASE("merge_exchange: streams and rows in a loop") {
  STATIC_REQUIRE(tw::Session<loop<true>>::plan.remote.exchanges == 8);
  STATIC_REQUIRE(tw::Session<loop<false>>::plan.remote.exchanges == 16);
  compare<loop<true>, loop<false>>([](auto& session) {
    std::vector<Floats> all;
    for (int run = 0; run < 2; ++run) {
      xt::xtensor<float, 2> x(std::array<std::size_t, 2>{8, 4}), z(x.shape());
      for (std::size_t i = 0; i < x.size(); ++i) {
        x.data()[i] = static_cast<float>(i);
        z.data()[i] = static_cast<float>(i % 3);
      }
      all.push_back(elements(session.run("x"_s = x, "z"_s = z)["y"_s]));
      all.push_back(elements(session.get_tensor_data("row3"_s)));
      all.push_back(elements(session.get_tensor_data("sum"_s)));
    }
    return all;
  });
}
TEST_CASE("merge_exchange: gradients") {
  compare<gradient<true>, gradient<false>>([](auto& session) {
    const xt::xtensor<float, 2> x{{1, -2, 3}, {0.5f, 2, 1}};
    const auto outputs = session.run("x"_s = x);
    return std::array{elements(outputs["dx"_s]), elements(outputs["once"_s])};
  });
}
TEST_CASE("merge_exchange: code") {
  compare<code<true>, code<false>>([](auto& session) {
    const xt::xtensor<float, 2> x{{1, 2, 3, 4}, {0, 1, 0, 1}, {2, 0, 0, 1}, {0.5f, 0.25f, 1, 0}};
    return elements(session.run("x"_s = x)["y"_s]);
  });
}
TEST_CASE("merge_exchange: errors leave the scope while a program is traced") {
  const auto error_of = [](auto trace) -> std::string {
    Ir ir;
    try {
      trace(ir);
    } catch (const tw::TraceError& error) {
      return error.what() + std::string(ir.tables.merged_exchanges.empty() ? "" : ", and a scope");
    }
    return "none";
  };
  CHECK(error_of([](Ir& ir) {
          const RemoteBuffer buffer = ir.remote_buffer({2});
          const auto scope = tw::merge_exchange(ir, {.into_one = true});
          ops::remote_store(buffer, 0, ops::remote_load(buffer, 0));
        }) ==
        "merge_exchange: RemoteStore.101 has to come after RemoteLoad.100: loads and stores that one exchange can hold "
        "expected");
  CHECK(error_of([](Ir& ir) {
          const RemoteBuffer buffer = ir.remote_buffer({2});
          const auto scope = tw::merge_exchange(ir, {.into_one = true});
          ops::remote_store(buffer, 0, ops::remote_load(buffer, 0));
          ops::remote_load(buffer, 1);
        }) == "remote_load: offset 1 of remote buffer 1 with 1 rows of (2,) float32: an offset from 0 to 0 expected");
}
