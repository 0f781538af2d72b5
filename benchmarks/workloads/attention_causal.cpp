// W10: causal attention alone, forward and backward: one text of 1,024 tokens, 12 heads of 64. Queries, keys and values are
// variables.
#include "session.hpp"

constexpr tw::TensorSpec spec{{1, 12, 1024, 64}, tw::float32};

/// The result, and for a given gradient of it those of the queries, keys and values.
constexpr void attention(tw::Ir& ir) {
  const auto variable = [&](std::string_view name) { return ir.variable(tw::normal(0, 1), spec.shape, spec.dtype, name); };
  const tw::Tensor q = variable("q"), k = variable("k"), v = variable("v");
  const tw::Tensor dy = tw::ops::host_load(ir.h2d_stream("dy", spec));
  const tw::Graph graph = ir.create_graph(
      [](tw::Tensor a, tw::Tensor b, tw::Tensor c) {
        return tw::ops::scaled_dot_product_attention(a, b, c, {.is_causal = true});
      },
      spec, spec, spec);
  const auto call = tw::call_with_info(graph, std::vector<tw::Tensor>{q, k, v});
  tw::ops::host_store(ir.d2h_stream("y", spec), call.output(0));
  const tw::GradGraphInfo gradient = tw::autodiff(graph);
  const auto gradients = gradient.fwd_graph_ins_to_grad_parent_outs(
      tw::call_with_info(gradient.graph(), dy, gradient.inputs_dict(call)));
  int number = 0;
  for (const tw::Tensor& input : graph.inputs())
    tw::ops::host_store(ir.d2h_stream(tw::text("gradient ", number++).view(), spec), *gradients.find(input));
}

int main(int argc, char** argv) {
  auto dy = random_numbers(1, 12, 1024, 64);
  return serve_session<tw::Session<attention>>(
      argc, argv, [&](auto& session, std::size_t i) { return session.run("dy"_s = dy[i])["y"_s](0, 0, 0, 0); });
}
