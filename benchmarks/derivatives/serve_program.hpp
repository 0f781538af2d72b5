#pragma once
// The programs of derivatives.py: `derivatives_NAME PROBLEM value|derivatives FILE`.
#include <tilewright/derivatives.hpp>
#include <tilewright/tilewright.hpp>

#include "problem.hpp"

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace tw::literals;
using tw::Tensor;

/// Loads the inputs of a problem, of these shapes, from a flat stream each: "x0", "x1", ...
template <std::size_t count>
constexpr std::array<Tensor, count> load_inputs(tw::Ir& ir, const tw::TensorSpec (&specs)[count]) {
  std::array<Tensor, count> inputs;
  for (std::size_t i = 0; i < count; ++i) {
    const tw::Shape flat{specs[i].nelms()};
    inputs[i] = ops::host_load(ir.h2d_stream(tw::text("x", i).view(), flat, specs[i].dtype)).reshape(specs[i].shape);
  }
  return inputs;
}
/// Stores results: "y0", "y1", ...
constexpr void store_results(tw::Ir& ir, std::initializer_list<Tensor> results) {
  std::size_t i = 0;
  for (const Tensor& each : results) ops::host_store(ir.d2h_stream(tw::text("y", i++).view(), each.spec()), each);
}

/// Serves a program that takes the first parts of `inputs` as its arrays. Results are compared in the order of the streams.
template <auto program>
int serve_program(const Numbers& expected, const auto&... inputs) {
  tw::Session<program> session({.threads = 1});
  auto outputs = session.create_host_outputs();
  const auto run = [&]<std::size_t... i>(std::index_sequence<i...>) {
    constexpr std::tuple names("x0"_s, "x1"_s, "x2"_s, "x3"_s, "x4"_s, "x5"_s);
    session.run_with_outputs(outputs, (std::get<i>(names) = inputs)...);
  };
  const auto results = [&] {
    Numbers all;
    const auto add = [&all](const auto& array) { all.insert(all.end(), array.data(), array.data() + array.size()); };
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      constexpr std::tuple names("y0"_s, "y1"_s, "y2"_s);
      (add(outputs[std::get<i>(names)]), ...);
    }(std::make_index_sequence<tw::Session<program>::expected_outputs().size()>());
    return all;
  };
  return serve_checked(expected, [&] { run(std::index_sequence_for<decltype(inputs)...>()); }, results);
}
