// Code that is on the tiles only while it is needed: two graphs, one after the other.
//
// labels: more strict
// test:
// strict: --strict
// expect: same result: yes
// expect-regex: code on the fullest tile: always [0-9]+ bytes
// expect-regex: with loads: always [0-9]+ bytes, at most [0-9]+ more
// expect: the fullest tile needs less: yes
// expect: loaded together: same result, 1 exchange in place of 3
// expect-regex: cycles of loads: [0-9]+ apart, [0-9]+ together
// expect: fewer together: yes
// expect: nested loads, and loads in branches: same results, less code always on the tile
#include <iostream>
#include <string_view>
#include <tilewright/execute/strict_executor.hpp>
#include <tilewright/tilewright.hpp>

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace tw::literals;

struct Project : tw::Module<Project> {
  constexpr tw::Tensor build(tw::Tensor x) {
    return ops::gelu(x.matmul(add_variable_input("weight", tw::normal(0, 0.1), {x.shape(-1), x.shape(-1)})));
  }
};
struct Normalise : tw::Module<Normalise> {
  constexpr tw::Tensor build(tw::Tensor x) { return ops::softmax(x); }
};

/// Projects twice, then normalises twice. No code of the one is needed while the other runs.
template <bool loads_code>
constexpr void program(tw::Ir& ir) {
  tw::Tensor x = ops::host_load(ir.h2d_stream("x", {16, 64}));
  const auto [factories, project] = tw::create_graph(Project{}, x);
  const auto [none, normalise] = tw::create_graph(Normalise{}, x);
  const auto bound = project.bind(factories.init());

  if (loads_code) ops::remote_code_load(project.graph());
  for (int i = 0; i < 2; ++i) x = bound.call(x);
  if (loads_code) ops::remote_code_load(normalise.graph());
  for (int i = 0; i < 2; ++i) x = normalise.call(x);
  ops::host_store(ir.d2h_stream("y", x.spec()), x);
}

/// Both graphs take turns, so that their code is there together: one exchange can bring it, and the row of weights that the first
/// of them needs. The tiles wait for streaming memory once in place of three times.
template <bool merges>
constexpr void loaded_together(tw::Ir& ir) {
  tw::Tensor x = ops::host_load(ir.h2d_stream("x", {16, 64}));
  const tw::RemoteBuffer buffer = ir.remote_buffer({64, 64});
  ir.remote_variable(tw::normal(0, 0.1), buffer, 0, "weight");
  const tw::TensorSpec weights{{64, 64}, tw::float32};
  const auto project = ir.create_graph([](tw::Tensor t, tw::Tensor w) { return ops::gelu(t.matmul(w)); }, x, weights);
  const auto normalise = ir.create_graph([](tw::Tensor t) { return ops::softmax(t); }, x);

  tw::Tensor weight;
  const auto load = [&] {
    ops::remote_code_load(project);
    ops::remote_code_load(normalise);
    weight = ops::remote_load(buffer, 0);
  };
  if (merges) {
    const auto exchange = tw::merge_exchange(ir);
    load();
  } else {
    load();
  }
  for (int i = 0; i < 2; ++i) x = tw::call(normalise, tw::call_with_info(project, {x, weight}).output(0));
  ops::host_store(ir.d2h_stream("y", x.spec()), x);
}

/// A graph that is loaded loads the one that it calls.
template <bool loads_code>
struct Outer {
  tw::Graph inner;
  constexpr tw::Tensor build(tw::Tensor x) {
    if (loads_code) ops::remote_code_load(inner);
    return tw::call(inner, x * 0.5);
  }
};
/// Each branch brings the code that it needs: only that of the branch that runs is loaded.
template <bool loads_code>
constexpr void nested_and_branches(tw::Ir& ir) {
  const auto condition = ops::host_load(ir.h2d_stream("condition", {}, tw::boolean));
  tw::Tensor x = ops::host_load(ir.h2d_stream("x", {16, 64}));
  const auto normalise = ir.create_graph([](tw::Tensor t) { return ops::softmax(t); }, x);
  const auto activate = ir.create_graph([](tw::Tensor t) { return ops::gelu(t); }, x);
  const auto outer = ir.create_graph(Outer<loads_code>{normalise}, x);
  if (loads_code) ops::remote_code_load(outer);
  x = tw::call(outer, x);
  const auto first = ir.create_graph(Outer<loads_code>{normalise}, x), second = ir.create_graph(Outer<loads_code>{activate}, x);
  x = tw::conditional(condition, {first, {x}}, {second, {x}});
  ops::host_store(ir.d2h_stream("y", x.spec()), x);
}

int main(int argc, char** argv) {
  const tw::SessionOptions options{.strict = argc > 1 && std::string_view(argv[1]) == "--strict"};
  tw::Session<program<false>, tw::ipu_model> resident(options);
  tw::Session<program<true>, tw::ipu_model> loading(options);
  xt::xtensor<float, 2> x = xt::zeros<float>({16, 64});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i % 7) - 3;
  const bool same = resident.run("x"_s = x)["y"_s] == loading.run("x"_s = x)["y"_s];
  std::cout << "same result: " << (same ? "yes" : "no") << '\n';

  constexpr tw::MemoryUse without = resident.plan.memory, with = loading.plan.memory;
  std::cout << "code on the fullest tile: always " << without.code << " bytes\n"
            << "with loads: always " << with.code << " bytes, at most " << with.loaded_code << " more\n"
            << "the fullest tile needs less: " << (with.fullest_tile < without.fullest_tile ? "yes" : "no") << '\n';

  tw::Session<loaded_together<false>, tw::ipu_model> apart(options);
  tw::Session<loaded_together<true>, tw::ipu_model> together(options);
  constexpr tw::RemoteTraffic one_by_one = apart.plan.remote, at_once = together.plan.remote;
  const bool agree = apart.run("x"_s = x)["y"_s] == together.run("x"_s = x)["y"_s];
  std::cout << "loaded together: " << (agree ? "same result, " : "another result, ") << at_once.exchanges
            << " exchange in place of " << one_by_one.exchanges << '\n'
            << "cycles of loads: " << one_by_one.cycles << " apart, " << at_once.cycles << " together\n"
            << "fewer together: " << (at_once.cycles < one_by_one.cycles ? "yes" : "no") << '\n';

  tw::Session<nested_and_branches<false>, tw::ipu_model> plain(options);
  tw::Session<nested_and_branches<true>, tw::ipu_model> nested(options);
  bool equal = true;
  for (const bool condition : {true, false})
    equal = equal &&
            plain.run("condition"_s = condition, "x"_s = x)["y"_s] == nested.run("condition"_s = condition, "x"_s = x)["y"_s];
  std::cout << "nested loads, and loads in branches: " << (equal ? "same results, " : "different results, ")
            << (nested.plan.memory.code < plain.plan.memory.code ? "less" : "no less") << " code always on the tile\n";
}
