#pragma once
// Programs of vendor_rows.hpp. All operands are variables; results go to the host, whose cycles do not count.
#include <string_view>
#include <tilewright/layers/recurrent.hpp>
#include <tilewright/tilewright.hpp>

#include "plans.hpp"
#include "vendor_rows.hpp"

namespace fidelity {

namespace tw = tilewright;

/// The program of a row.
struct VendorProgram {
  const VendorRow& row;

  void operator()(tw::Ir& ir) const {
    switch (row.kind) {
      case convolutions:
      case depthwise: return convolution(ir);
      case max_pool: return pool(ir);
      case embedding: return lookup(ir);
      case reductions: return reduction(ir);
      case dense:
      case grouped_products: return layer(ir);
      case products_512:
      case products_64: return product(ir);
      case recurrent: return row.shape[0] == 0 ? steps<tw::layers::LSTM<1024>>(ir) : steps<tw::layers::GRU<1024>>(ir);
    }
  }

 private:
  static tw::Tensor variable(tw::Ir& ir, std::string_view name, const tw::Shape& shape, tw::DType dtype = tw::float16) {
    return ir.variable(tw::zeros(), shape, dtype, name);
  }
  static void give(tw::Ir& ir, std::string_view name, tw::Tensor result) {
    tw::ops::host_store(ir.d2h_stream(name, result.spec()), result);
  }
  void product(tw::Ir& ir) const {
    const auto [m, k, n, a, b, c, d, e] = row.shape;
    tw::ops::scaled_add_(variable(ir, "c", {m, n}), variable(ir, "a", {m, k}).matmul(variable(ir, "b", {k, n})));
  }
  void layer(tw::Ir& ir) const {
    const auto [groups, batch, in, out, bytes, a, b, c] = row.shape;
    const tw::DType dtype = bytes == 4 ? tw::float32 : tw::float16;
    const auto matrix = [&, all = groups](std::string_view name, std::int64_t rows, std::int64_t columns) {
      return variable(ir, name, all == 1 ? tw::Shape{rows, columns} : tw::Shape{all, rows, columns}, dtype);
    };
    const auto turned = [&, all = groups](tw::Tensor x) { return all == 1 ? x.transpose({1, 0}) : x.transpose({0, 2, 1}); };
    const tw::Tensor x = matrix("x", batch, in), weight = matrix("weight", in, out), dy = matrix("dy", batch, out);
    give(ir, "y", x.matmul(weight));
    give(ir, "dx", dy.matmul(turned(weight)));
    tw::ops::scaled_add_(weight, turned(x).matmul(dy), {.b = -0.5});
  }
  void convolution(tw::Ir& ir) const {
    const auto [images, channels, height, width, results, kernel, stride, padding] = row.shape;
    const std::int64_t groups = row.kind == depthwise ? channels : 1;
    const tw::ConvOptions options{.stride = {stride, stride}, .padding = {padding, padding, padding, padding}, .groups = groups};
    const tw::Tensor x = variable(ir, "x", {images, channels, height, width});
    const tw::Tensor weight = variable(ir, "weight", {results, channels / groups, kernel, kernel});
    const auto [dx, dweight] = passes(
        ir, [&](tw::Tensor data, tw::Tensor of) { return tw::ops::conv(data, of, options); }, x, weight);
    give(ir, "dx", dx);
    tw::ops::scaled_add_(weight, dweight, {.b = -0.05});
  }
  void pool(tw::Ir& ir) const {
    const auto [extent, channels, stride, padding, a, b, c, d] = row.shape;
    const tw::PoolOptions options{.stride = {stride, stride}, .padding = {padding, padding, padding, padding}};
    const tw::Tensor x = variable(ir, "x", {1, channels, extent, extent});
    give(ir, "dx", passes(ir, [&](tw::Tensor data) { return tw::ops::max_pool(data, {3, 3}, options); }, x)[0]);
  }
  /// Gives the result of a function, and returns the gradients of its inputs for a gradient of the result.
  template <class Function, class... Inputs>
  static std::array<tw::Tensor, sizeof...(Inputs)> passes(tw::Ir& ir, const Function& function, Inputs... inputs) {
    const tw::Graph forward = ir.create_graph(function, inputs.spec()...);
    const auto call = tw::call_with_info(forward, {inputs...});
    const tw::Tensor y = call.outputs()[0];
    give(ir, "y", y);
    const tw::GradGraphInfo backward = tw::autodiff(forward);
    const auto gradients = backward.fwd_graph_ins_to_grad_parent_outs(
        tw::call_with_info(backward.graph(), {variable(ir, "dy", y.shape())}, backward.inputs_dict(call)));
    std::array<tw::Tensor, sizeof...(Inputs)> result;
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = *gradients.find(forward.inputs()[i]);
    return result;
  }
  void lookup(tw::Ir& ir) const {
    const auto [rows, columns, taken, a, b, c, d, e] = row.shape;
    const tw::Tensor table = variable(ir, "table", {rows, columns}), indices = variable(ir, "indices", {taken}, tw::int32);
    give(ir, "y", tw::ops::gather(table, indices));
    tw::ops::sparse_accumulate_(table, variable(ir, "dy", {taken, columns}), indices, 0, -0.5);
  }
  void reduction(tw::Ir& ir) const {
    tw::Shape shape;
    for (std::size_t i = 2; i < row.shape.size() && row.shape[i] > 0; ++i) shape.push_back(row.shape[i]);
    const tw::Axes axes = shape.rank > 3 ? tw::Axes{1, 3} : tw::Axes{1};
    const tw::Tensor x = variable(ir, "x", shape);
    give(ir, "y",
         row.shape[1] == 0   ? tw::ops::max(x, axes)
         : row.shape[1] == 1 ? tw::ops::sum(x, axes)
                             : tw::ops::sumsquare(x, axes));
  }
  template <class Layer>
  void steps(tw::Ir& ir) const {
    const tw::Tensor x = variable(ir, "x", {row.shape[1], row.shape[2], row.shape[3]});
    const auto [factories, layer] = tw::create_graph(Layer{}, x);
    give(ir, "y", layer.bind(factories.init()).call(x)[0]);
  }
};

/// Returns the plan of a row, for gc200 or for gc2.
inline Planned plan_of(const VendorRow& row, bool for_gc200) {
  const tw::Target& chip = for_gc200 ? tw::gc200 : tw::gc2;
  const std::int64_t tiles = row.kind == reductions && row.shape[0] > 0 ? row.shape[0] : chip.tiles;
  return plan(VendorProgram{row}, chip.with_tiles(tiles));
}

}  // namespace fidelity
