// labels: quick
// What a session says of itself while the program compiles.
#include "../support/same.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;

namespace {

constexpr void program(tw::Ir& ir) {
  ir.set_num_host_transfers(4);
  const auto image = ir.h2d_stream("image", {2, 3});
  [[maybe_unused]] const auto unused = ir.h2d_stream("unused", {1});
  const auto sum = ir.d2h_stream("sum", {}, tw::int32), loss = ir.d2h_stream("loss", {3});
  tw::ops::host_store(loss, tw::ops::sum(tw::ops::host_load(image), 0));
  tw::ops::host_store(sum, tw::ops::host_load(ir.h2d_stream("label", {}, tw::int32)));
}
using Session = tw::Session<program>;

constexpr auto inputs = Session::expected_inputs();
static_assert(inputs.size() == 2);
static_assert(inputs[0].name == "image" && inputs[0].spec == tw::TensorSpec{{2, 3}, tw::float32});
static_assert(inputs[0].host_shape == tw::Shape{4, 2, 3});
static_assert(inputs[1].name == "label" && inputs[1].spec == tw::TensorSpec{{}, tw::int32});
static_assert(inputs[1].host_shape == tw::Shape{4});

constexpr auto outputs = Session::expected_outputs();
static_assert(outputs.size() == 2);
static_assert(outputs[0].name == "sum" && outputs[0].host_shape == tw::Shape{4});
static_assert(outputs[1].name == "loss" && outputs[1].host_shape == tw::Shape{4, 3});

constexpr void one_transfer(tw::Ir& ir) {
  tw::ops::host_store(ir.d2h_stream("y", {3}), tw::ops::host_load(ir.h2d_stream("x", {3})));
}
static_assert(tw::Session<one_transfer>::expected_inputs()[0].host_shape == tw::Shape{3});

static_assert(Session::device == "cpu" && Session::target == tw::cpu);
TW_SAME((tw::Session<one_transfer, tw::ipu_model>::device), "ipu_model");
TW_SAME(tw::device_name(tw::ipu_model.with_tiles(64)), "custom");

// An array whose rank is known only at run time compiles.
static_assert(std::is_same_v<xt::xarray<float>::strides_type, xt::dynamic_shape<std::ptrdiff_t>>);

}  // namespace
