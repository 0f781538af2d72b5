// labels: none
// Handles of nothing, as they are before a program assigns them, in each function that takes one: an error, never a crash.
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../../catch.hpp"
#include "../../ops/ops.hpp"
#include "../../support/child_process.hpp"
#include "tilewright/graph/dot.hpp"
#include "tilewright/layers/layers.hpp"
#include "tilewright/program/instance_grouping.hpp"
#include "tilewright/tilewright.hpp"
#include "tilewright/transform/batch_serialise_gradients.hpp"
#include "tilewright/transform/repeat_graph.hpp"
#include "tilewright/transform/route_tensor.hpp"

namespace {
namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Graph, tw::Shape, tw::Tensor;

const std::span<const Tensor> none{};

struct Case {
  std::string_view name;
  void (*use)();
};
/// What is wrong with a case: no TraceError, or a crash.
std::string problems(std::span<const Case> cases) {
  std::string found;
  std::size_t next = 0;
  while (next < cases.size()) {  // a child for all cases up to one that ends it
    const std::string of_child = in_child([&](Report& report) {
      for (std::size_t i = next; i < cases.size(); ++i) {
        std::snprintf(report.at, sizeof report.at, "%s (case %zu)", std::string(cases[i].name).c_str(), i);
        try {
          cases[i].use();
          report.add(std::string(report.at) + ": no error");
        } catch (const tw::TraceError& error) {
          if (std::string_view(error.what()).find("expected") == std::string_view::npos)
            report.add(report.at + std::string(": ") + error.what());
        } catch (const std::exception& error) {
          report.add(report.at + std::string(": another exception: ") + error.what());
        }
      }
    });
    found += of_child;
    const std::size_t crash = of_child.rfind("(case ");
    const bool has_ended = crash != of_child.npos && of_child.find(": ended by signal", crash) != of_child.npos;
    next = has_ended ? std::stoul(of_child.substr(crash + 6)) + 1 : cases.size();
  }
  return found;
}

const Case of_functions[] = {
    {"batch_serialise", [] { (void)tw::batch_serialise(Graph(), 2); }},
    {"batch_serialise_fwd_and_grad", [] { (void)tw::batch_serialise_fwd_and_grad(Graph(), Graph(), {}, 2); }},
    {"batch_serial_buffer", [] { (void)tw::batch_serial_buffer(Tensor(), 2); }},
    {"repeat_graph", [] { (void)tw::repeat_graph(Graph(), 2); }},
    {"is_subgraph", [] { (void)tw::is_subgraph(Graph(), Graph()); }},
    {"route_tensor_into_graph", [] { (void)tw::route_tensor_into_graph(Tensor(), Graph()); }},
    {"call", [] { (void)tw::call(Graph(), {Tensor()}); }},
    {"call", [] { (void)tw::call(Graph(), Tensor()); }},
    {"call", [] { (void)tw::call(Graph(), {1}); }},
    {"call_with_info", [] { (void)tw::call_with_info(Graph(), none); }},
    {"call_with_info", [] { (void)tw::call_with_info(Graph(), {Tensor()}); }},
    {"call_with_info", [] { (void)tw::call_with_info(Graph(), Tensor()); }},
    {"call_with_info", [] { (void)tw::call_with_info(Graph(), {1}); }},
    {"repeat", [] { (void)tw::repeat(Graph(), 1, {Tensor()}); }},
    {"repeat", [] { (void)tw::repeat(Graph(), 1, Tensor()); }},
    {"repeat", [] { (void)tw::repeat(Graph(), 1, {1}); }},
    {"repeat_with_info", [] { (void)tw::repeat_with_info(Graph(), 1, none); }},
    {"repeat_with_info", [] { (void)tw::repeat_with_info(Graph(), 1, {Tensor()}); }},
    {"repeat_with_info", [] { (void)tw::repeat_with_info(Graph(), 1, Tensor()); }},
    {"repeat_with_info", [] { (void)tw::repeat_with_info(Graph(), 1, {1}); }},
    {"conditional", [] { (void)tw::conditional(Tensor(), {Graph(), {}}, {Graph(), {}}); }},
    {"conditional_with_info", [] { (void)tw::conditional_with_info(Tensor(), {Graph(), {}}, {Graph(), {}}); }},
};

const Case of_graphs[] = {
    {"Tensor::replica_grouping", [] { (void)Tensor().replica_grouping(); }},
    {"Tensor::retrieval_mode", [] { (void)Tensor().retrieval_mode(); }},
    {"Tensor::shape_on_host", [] { (void)Tensor().shape_on_host(); }},
    {"Tensor::shape_on_replica", [] { (void)Tensor().shape_on_replica(); }},
    {"Tensor::location_info", [] { (void)Tensor().location_info(); }},
    {"Tensor::ipu", [] { (void)Tensor().ipu(); }},
    {"Tensor::tile_set", [] { (void)Tensor().tile_set(); }},
    {"Tensor::operator[]", [] { (void)Tensor()[0]; }},
    {"Tensor::operator[]", [] { (void)Tensor()[Tensor()]; }},
    {"Tensor::operator+", [] { (void)(Tensor() + 1); }},
    {"Tensor::operator-", [] { (void)-Tensor(); }},
    {"Graph::main_graph", [] { (void)Graph().main_graph(); }},
    {"Graph::name", [] { (void)Graph().name(); }},
    {"Graph::inputs", [] { (void)Graph().inputs(); }},
    {"Graph::outputs", [] { (void)Graph().outputs(); }},
    {"Graph::input", [] { (void)Graph().input(0); }},
    {"Graph::output", [] { (void)Graph().output(0); }},
    {"Graph::tensors", [] { (void)Graph().tensors(); }},
    {"Graph::variables", [] { (void)Graph().variables(); }},
    {"Graph::constants", [] { (void)Graph().constants(); }},
    {"Graph::inputs_by_name", [] { (void)Graph().inputs_by_name(); }},
    {"Graph::get_tensor", [] { (void)Graph().get_tensor("x"); }},
    {"Graph::register_op_created_hook", [] { Graph().register_op_created_hook([](const tw::CreatedOp&) {}); }},
    {"Graph::remove_op_created_hook", [] { Graph().remove_op_created_hook(0); }},
    {"Graph::op_count", [] { (void)Graph().op_count(); }},
    {"Graph::called_graphs", [] { (void)Graph().called_graphs(); }},
    {"Graph::contains", [] { (void)Graph().contains(Tensor()); }},
    {"GraphScope", [] { const tw::GraphScope scope{Graph()}; }},
    {"GraphWithNamedArgs::call", [] { (void)tw::GraphWithNamedArgs(Graph()).call(Tensor()); }},
    {"GraphWithNamedArgs::bind", [] { (void)tw::GraphWithNamedArgs(Graph()).bind({}).call(); }},
    {"GraphWithNamedArgs::grad_graph_info", [] { (void)tw::GraphWithNamedArgs(Graph()).grad_graph_info(); }},
    {"GraphWithNamedArgs::print_schedule", [] { (void)tw::GraphWithNamedArgs(Graph()).print_schedule(); }},
    {"BoundGraph::branch", [] { (void)tw::BoundGraph(Graph(), {}).branch({Tensor()}); }},
    {"repeat", [] { (void)tw::repeat(tw::BoundGraph(Graph(), {}), 2); }},
    {"GradGraphInfo", [] { (void)tw::GradGraphInfo(Graph(), Graph(), {}, {}); }},
    {"recompute_graph", [] { (void)tw::recompute_graph(Graph()); }},
    {"to_dot", [] { (void)tw::to_dot(Graph()); }},
    {"autodiff", [] { (void)tw::autodiff(Graph()); }},
    {"print_schedule", [] { (void)tw::print_schedule(Graph()); }},
    {"RemoteBuffer::set_entries", [] { tw::RemoteBuffer().set_entries(2); }},
    {"RemoteBuffer::set_meta_shape", [] { tw::RemoteBuffer().set_meta_shape({4}, 2); }},
    {"RemoteBuffer::set_remote_buffer_info", [] { tw::RemoteBuffer().set_remote_buffer_info({4}, tw::float32, 2); }},
    {"RemoteBuffer::validate_tensor_matches_buffer", [] { tw::RemoteBuffer().validate_tensor_matches_buffer(Tensor()); }},
    {"RemoteBuffer::note_use", [] { tw::RemoteBuffer().note_use(); }},
    {"RemoteBuffer::check_offset", [] { (void)tw::RemoteBuffer().check_offset("a test", 0); }},
    {"Ir::remote_variable", [] { (void)tw::Ir().remote_variable(tw::zeros(), tw::RemoteBuffer(), 0, "v"); }},
    {"Ir::remote_variable", [] { (void)tw::Ir().remote_variable(tw::zeros(), tw::RemoteBuffer(), 0, "v", {}); }},
    {"Ir::remote_replica_sharded_variable",
     [] { (void)tw::Ir().remote_replica_sharded_variable(tw::zeros(), tw::RemoteBuffer(), 0, "v"); }},
    {"Stream::name", [] { (void)tw::HostToDeviceStream().name(); }},
    {"Stream::name", [] { (void)tw::DeviceToHostStream().name(); }},
    {"Stream::program", [] { (void)tw::HostToDeviceStream().program(); }},
    {"ReplicaGrouping::group_of", [] { (void)tw::ReplicaGrouping().group_of(7); }},
    {"ReplicaGrouping::transpose", [] { (void)tw::is_cross_instance(tw::ReplicaGrouping(), 2); }},
    {"ReplicaGrouping::ir", [] { (void)tw::ReplicaGrouping().ir(); }},
    {"ReplicaGrouping::member", [] { (void)tw::ReplicaGrouping().member(0, 7); }},
    {"ReplicaGrouping::index_in_group", [] { (void)tw::ReplicaGrouping().index_in_group(7); }},
    {"VariableFactory::create_tensor", [] { (void)tw::VariableFactory().create_tensor("x"); }},
    {"VariableFactory::create_input", [] { (void)tw::VariableFactory().create_input("x"); }},
    {"VariableFactory::create_buffer", [] { (void)tw::VariableFactory().create_buffer(2); }},
    {"VariableFactory::create_remote_tensor",
     [] { (void)tw::VariableFactory().create_remote_tensor(tw::RemoteBuffer(), 0, "x"); }},
    {"VariableFactory::replica_sharded", [] { (void)tw::VariableFactory().replica_sharded("x"); }},
    {"VariableFactory::replica_grouping", [] { (void)tw::VariableFactory().replica_grouping(); }},
    {"VariableFactory::shard_grouping", [] { (void)tw::VariableFactory().shard_grouping(); }},
    {"split_heads", [] { (void)tw::layers::split_heads(Tensor(), 2); }},
    {"merge_heads", [] { (void)tw::layers::merge_heads(Tensor()); }},
    {"last_token", [] { (void)tw::layers::last_token(Tensor(), Tensor()); }},
    {"rotary_embedding", [] { (void)tw::layers::rotary_embedding(Tensor(), 4); }},
    {"apply_rotary", [] { (void)tw::layers::apply_rotary(Tensor(), {}); }},
};

constexpr void two_streams(tw::Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {2})), w = ir.variable(tw::ones(), {2}, tw::float32, "w");
  ops::host_store(ir.d2h_stream("y", {2}), x * w + ir.constant({1, 2}, {2}, tw::float32, "c"));
}
}  // namespace

TEST_CASE("functions of tensors and graphs of nothing are errors") { CHECK(problems(of_functions) == ""); }
TEST_CASE("ops of tensors of nothing are errors") {
  struct Cases : std::vector<Case> {
    void add(std::string_view name, void (*use)()) { push_back({name, use}); }
  } cases;
  op_tests::for_each([&](auto test) { test.handles(cases); });
  CHECK(problems(cases) == "");
}
TEST_CASE("members and functions of handles of nothing are errors") { CHECK(problems(of_graphs) == ""); }
TEST_CASE("each member of a session that was moved from is an error") {
  using namespace tw::literals;
  using Session = tw::Session<two_streams>;
  Session from({.threads = 1});
  const xt::xtensor<float, 1> x{1, 2};
  Session to = std::move(from);
  xt::xtensor<float, 1> y{0, 0};
  auto outputs = Session::create_host_outputs();
  const std::vector<std::pair<const char*, std::function<void()>>> uses{
      {"options", [&] { (void)from.options(); }},
      {"threads", [&] { (void)from.threads(); }},
      {"run", [&] { from.run("x"_s = x); }},
      {"run_with_outputs", [&] { from.run_with_outputs("x"_s = x, "y"_s = y); }},
      {"run_with_outputs", [&] { from.run_with_outputs(outputs, "x"_s = x); }},
      {"context", [&] { const auto context = from.context(); }},
      {"is_attached", [&] { (void)from.is_attached(); }},
      {"attach", [&] { from.attach(); }},
      {"detach", [&] { from.detach(); }},
      {"weights_from_host", [&] { from.weights_from_host(); }},
      {"weights_to_host", [&] { from.weights_to_host(); }},
      {"in_sync", [&] { (void)from.in_sync(); }},
      {"transfers", [&] { (void)from.transfers(); }},
      {"variables", [&] { (void)from.variables(); }},
      {"get_tensor_data", [&] { (void)from.get_tensor_data("w"_s); }},
      {"get_tensor_data", [&] { (void)from.get_tensor_data("c"_s); }},
      {"get_tensors_data", [&] { (void)from.get_tensors_data(); }},
      {"write_variable_data", [&] { from.write_variable_data("w"_s, x); }},
      {"write_variables_data", [&] { from.write_variables_data(to.get_tensors_data()); }},
      {"load_from_session", [&] { from.load_from_session(to); }},
      {"host_tensors", [&] { (void)from.host_tensors(); }},
      {"load_tensors", [&] { from.load_tensors({"", to.host_tensors()}); }},
  };
  for (const auto& [name, use] : uses) {
    CAPTURE(name);
    CHECK_THROWS_AS(use(), std::logic_error);
  }
  from = std::move(to);
  CHECK(from.run("x"_s = x)["y"_s](1) == 4);
}
