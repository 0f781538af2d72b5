#pragma once
// The cases of tests/reference/ops_indexing.txt.
#include "of_ops.hpp"

namespace op_cases {

constexpr void gathers(Ir& ir) { add_cases<Program::gathers>({ir}); }

constexpr void scatters(Ir& ir) { add_cases<Program::scatters>({ir}); }
constexpr void scattered_extremes(Ir& ir) { add_cases<Program::scattered_extremes>({ir}); }
/// Of equal elements each has a part of the gradient, which small steps would change.
constexpr void scattered_ties(Ir& ir) { add_cases<Program::scattered_ties>({ir}); }
constexpr void indexed_slices(Ir& ir) { add_cases<Program::indexed_slices>({ir}); }

/// Results that are exact in all dtypes.
constexpr void indexed_dtypes(Ir& ir) { add_cases<Program::indexed_dtypes>({ir}); }
/// Each op that has a gradient, in double or half precision.
constexpr void indexed_gradients(Ir& ir, std::string_view kind, tw::DType dtype) {
  add_cases<Program::indexed_gradients>({ir, dtype, {}, tw::text(kind, "_").view()});
}
constexpr void indexed_doubles(Ir& ir) { indexed_gradients(ir, "double", tw::float64); }
constexpr void indexed_halves(Ir& ir) { indexed_gradients(ir, "half", tw::float16); }

constexpr void sparse_accumulations(Ir& ir) { add_cases<Program::sparse_accumulations>({ir}); }

/// Three steps of training: an embedding, the mean of three of its rows, and a product.
constexpr void embedding(Ir& ir) {
  const Case test(ir, "embedding");
  const auto loss = [](Tensor table, Tensor weight, Tensor tokens, Tensor labels) {
    return ops::cross_entropy(ops::mean(ops::gather(table, tokens), 1).matmul(weight), labels);
  };
  const tw::Graph graph = ir.create_graph(loss, f32({20, 6}), f32({6, 4}), i32({8, 3}), i32({8}));
  const tw::GradGraphInfo gradient = tw::autodiff(graph);
  const Tensor table = test.variable("x", 0, f32({20, 6})), weight = test.variable("x", 1, f32({6, 4})),
               tokens = test.variable("x", 2, i32({8, 3})), labels = test.variable("x", 3, i32({8}));
  Tensor last;
  for (int step = 0; step < 3; ++step) {
    const auto call = tw::call_with_info(graph, std::vector<Tensor>{table, weight, tokens, labels});
    const auto gradient_call = tw::call_with_info(gradient.graph(), ir.constant(1.0), gradient.inputs_dict(call));
    const auto gradients = gradient.fwd_graph_ins_to_grad_parent_outs(gradient_call);
    ops::scaled_add_(table, *gradients.find(graph.inputs()[0]), {.b = -0.5});
    ops::scaled_add_(weight, *gradients.find(graph.inputs()[1]), {.b = -0.5});
    last = call.output(0);
  }
  test.store("y", 0, table);
  test.store("y", 1, weight);
  test.store("y", 2, last);
}

/// One case of each kind of work, for machines on which it is cut in other ways.
constexpr void some_indexing(Ir& ir) {
  constexpr std::string_view names[] = {"gather_middle",          "gather_many",      "gather_wide",
                                        "groupedgather",          "scatter_part",     "scatter_vector",
                                        "scatter_max_initial",    "scatter_repeated", "dynamic_slice_two",
                                        "dynamic_update_columns", "onehot_first",     "sparse_accumulate"};
  add_some<Program::gathers, Program::scatters, Program::scattered_extremes, Program::indexed_slices,
           Program::sparse_accumulations>(ir, names);
}

}  // namespace op_cases
