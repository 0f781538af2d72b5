#pragma once
// Programs of single ops for ops.py: `ops_NAME CASE RESULTS` fills the inputs of a case, runs it once, writes the results to a
// file and then speaks the protocol.
#include <CLI/CLI.hpp>
#include <concepts>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <tilewright/tilewright.hpp>
#include <vector>

#include "../protocol.hpp"

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace tw::literals;
using tw::Tensor;

/// An input of a measured op: floats in [-1, 1), or integers from 0 to below `below`; seeds take all of their words.
struct Input {
  tw::Shape shape;
  tw::DType dtype = tw::float32;
  std::int64_t below = 0;  ///< of integers
};

/// What a case says, and what it may leave out:
///
///     struct Argmax {
///       static constexpr int copies = 4;                                         // of the inputs
///       static constexpr std::array inputs{Input{{4096, 1000}}};
///       static constexpr Tensor build(Tensor x) { return ops::argmax(x, -1); }   // or several tensors
///     };
///
/// One run of its program calls the op once for each copy of the inputs. The copies are slices of variables, and the calls write
/// their results to the session's memory: nothing else is copied. There are as many copies as push each other out of the caches.
template <class C>
concept Case = requires {
  { C::copies } -> std::convertible_to<int>;
  { C::inputs.size() } -> std::convertible_to<std::size_t>;
  &C::build;
};
/// A case that measures the gradients of all floating-point inputs for a given gradient of the one result: its last input.
/// `build` takes the others.
template <class C>
concept GradientCase = Case<C> && requires { C::forward; };

/// The gradients of a forward case.
template <Case C>
struct GradientOf {
  static constexpr bool forward = false;
  static constexpr int copies = C::copies;
  static constexpr auto inputs = [] {
    std::array<Input, C::inputs.size() + 1> result{};
    std::ranges::copy(C::inputs, result.begin());
    result.back() = {C::result};
    return result;
  }();
  static constexpr auto build = &C::build;
};

template <Case C>
constexpr tw::Graph forward_graph(tw::Ir& ir) {
  constexpr std::size_t count = C::inputs.size() - (GradientCase<C> ? 1 : 0);
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return ir.create_graph(C::build, tw::TensorSpec{C::inputs[i].shape, C::inputs[i].dtype}...);
  }(std::make_index_sequence<count>());
}

/// The program of a case: variables "x0", "x1", ... with all copies, streams "y0", "y1", ... of results.
template <Case C>
constexpr void program(tw::Ir& ir) {
  std::vector<Tensor> stacks;
  for (const Input& input : C::inputs) {
    tw::Shape stacked{C::copies};
    for (int a = 0; a < input.shape.rank; ++a) stacked.push_back(input.shape[a]);
    stacks.push_back(ir.variable(tw::zeros(), stacked, input.dtype, tw::text("x", stacks.size()).view()));
  }
  const tw::Graph graph = forward_graph<C>(ir);
  std::vector<tw::DeviceToHostStream> streams;
  const auto store = [&](std::size_t o, Tensor result) {
    if (streams.size() == o) streams.push_back(ir.d2h_stream(tw::text("y", o).view(), result.spec()));
    ops::host_store(streams[o], result);
  };
  if constexpr (GradientCase<C>) {
    const tw::GradGraphInfo gradient = tw::autodiff(graph);
    for (int copy = 0; copy < C::copies; ++copy) {
      std::vector<Tensor> inputs;
      for (const Tensor& stack : stacks) inputs.push_back(stack[copy]);
      const Tensor dy = inputs.back();
      inputs.pop_back();
      const auto call = tw::call_with_info(graph, inputs);  // dead code, if the gradient needs no result of it
      const auto gradients = gradient.fwd_graph_ins_to_grad_parent_outs(
          tw::call_with_info(gradient.graph(), dy, gradient.inputs_dict(call)));
      std::size_t o = 0;
      for (const Tensor& input : graph.inputs())
        if (const Tensor* dx = gradients.find(input)) store(o++, *dx);
    }
  } else {
    for (int copy = 0; copy < C::copies; ++copy) {
      std::vector<Tensor> inputs;
      for (const Tensor& stack : stacks) inputs.push_back(stack[copy]);
      std::size_t o = 0;
      for (const Tensor& result : tw::call_with_info(graph, inputs).outputs()) store(o++, result);
    }
  }
}

/// Numbers that peers/pytorch_ops.py makes too, input by input.
inline void fill(std::byte* data, const tw::TensorSpec& spec, const Input& input, std::mt19937& random) {
  const auto put = [&](auto make) {
    for (std::int64_t i = 0; i < spec.shape.nelms(); ++i) {
      const auto element = make(static_cast<std::uint32_t>(random()));
      std::memcpy(data + static_cast<std::size_t>(i) * sizeof(element), &element, sizeof(element));
    }
  };
  switch (input.dtype) {
    case tw::float32: return put([](std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-23F - 1; });
    case tw::int64: return put([&](std::uint32_t word) { return static_cast<std::int64_t>(word) * input.below >> 32; });
    case tw::uint32: return put([](std::uint32_t word) { return word; });
    default: std::abort();
  }
}
template <Case C, class Session>
void fill_inputs(Session& session) {
  std::mt19937 random(1);
  auto tensors = session.host_tensors();
  std::vector<std::vector<std::byte>> memory;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    auto& bytes = memory.emplace_back(tensors[i].bytes.size());
    fill(bytes.data(), tensors[i].spec, C::inputs[i], random);
    tensors[i].bytes = bytes;
  }
  session.load_tensors({"inputs", tensors});
}

template <Case C>
int serve_case(const std::string& results) {
  using Session = tw::Session<program<C>>;
  Session session({.threads = 1});
  fill_inputs<C>(session);
  const auto write_results = [&] {
    const auto outputs = session.run();
    std::ofstream file(results, std::ios::binary);
    const auto write = [&](const auto& array) {
      file.write(reinterpret_cast<const char*>(array.data()), static_cast<std::streamsize>(array.size() * sizeof(*array.data())));
    };
    [&]<std::size_t... o>(std::index_sequence<o...>) {
      constexpr std::tuple names("y0"_s, "y1"_s, "y2"_s, "y3"_s);
      (write(outputs[std::get<o>(names)]), ...);
    }(std::make_index_sequence<Session::expected_outputs().size()>());
    if (!file.flush()) throw std::runtime_error(results + " cannot be written");
  };
  const auto rate = [&](double seconds) {
    return C::copies * iterations_per_second(seconds, [&](std::size_t) { session.run(); });
  };
  return serve(write_results, rate, [&] { return session.threads(); });
}

using Cases = std::map<std::string, int (*)(const std::string& results)>;

inline int serve_cases(int argc, char** argv, const Cases& cases) {
  CLI::App app("Measures an op, as ops.py asks it to.");
  std::string name, results;
  std::vector<std::string> names;
  for (const auto& [known, run] : cases) names.push_back(known);
  app.add_option("case", name, "what to measure")->required()->check(CLI::IsMember(names));
  app.add_option("results", results, "the file for the results of a first run")->required();
  CLI11_PARSE(app, argc, argv);
  return cases.at(name)(results);
}
