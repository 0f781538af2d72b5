// What 3 x 3 convolutions with their gradients take on the model of a GC200, as Markdown. Nothing runs: all figures are the
// planner's.
#include "tables.hpp"

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Tensor;

namespace {

/// Images (images, channels, rows, rows) to as many channels, with a border of 1.
struct Layer {
  std::int64_t images, channels, rows;

  void operator()(tw::Ir& ir) const {
    const tw::Shape shape{images, channels, rows, rows}, kernel{channels, channels, 3, 3};
    const Tensor x = ir.variable(tw::zeros(), shape, tw::float16, "x"), w = ir.variable(tw::zeros(), kernel, tw::float16, "w"),
                 dy = ir.variable(tw::zeros(), shape, tw::float16, "dy");
    const tw::Graph forward = ir.create_graph(
        [](Tensor data, Tensor weight) { return ops::conv(data, weight, {.padding = {1, 1, 1, 1}}); }, x.spec(), w.spec());
    const auto call = tw::call_with_info(forward, {x, w});
    const tw::GradGraphInfo backward = tw::autodiff(forward);
    const auto gradients = backward.fwd_graph_ins_to_grad_parent_outs(
        tw::call_with_info(backward.graph(), {dy}, backward.inputs_dict(call)));
    ops::host_store(ir.d2h_stream("y", shape, tw::float16), call.outputs()[0]);
    ops::host_store(ir.d2h_stream("dx", shape, tw::float16), *gradients.find(forward.inputs()[0]));
    ops::host_store(ir.d2h_stream("dw", kernel, tw::float16), *gradients.find(forward.inputs()[1]));
  }
};

void print_row(const Layer& layer) {
  const auto [name, target, plan, steps] = planned::plan("", layer, tw::gc200);
  const std::int64_t cycles = plan.cycles.total() - plan.cycles.host;
  std::printf("| %lld | %lld | %lld x %lld | %s | %s | %.1f | %s |\n", static_cast<long long>(layer.images),
              static_cast<long long>(layer.channels), static_cast<long long>(layer.rows), static_cast<long long>(layer.rows),
              planned::grouped(cycles).c_str(), planned::grouped(plan.cycles.exchange).c_str(),
              static_cast<double>(plan.cycles.flops) / target.seconds(cycles) / 1e12,
              planned::grouped(plan.tile.total()).c_str());
}

}  // namespace

int main() {
  std::printf(
      "### 3 x 3 convolutions with both gradients on gc200, float16\n\n"
      "| images | channels | places | cycles without the host's | of exchange | TFLOP/s | bytes of the fullest tile |\n"
      "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (const Layer& layer : {Layer{1, 64, 56}, Layer{1, 128, 28}, Layer{1, 512, 7}, Layer{16, 64, 56}, Layer{16, 256, 14}})
    print_row(layer);
}
