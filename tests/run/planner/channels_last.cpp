// labels: more
// Images between convolutions have channels as the last axis of memory where all ops that use them support it.
#include "tilewright/lower/host/channels_last.hpp"

#include "fusion_checks.hpp"
#include "tilewright/verified/lower_verified.hpp"

namespace {

namespace ops = tw::ops;
using support::load;
using tw::Ir, tw::Tensor;

/// What is done with the first image after its pooling.
enum class Middle { nothing, residual, stored, wide_windows };
template <Middle middle, std::int64_t channels>
struct Net : tw::Module<Net<middle, channels>> {
  constexpr Tensor layer(Tensor x, std::string_view name, std::int64_t results, const tw::ConvOptions& options = {}) {
    const Tensor w = this->add_variable_input(tw::text("weight", name).view(), tw::zeros(), {results, x.shape(1), 3, 3});
    const Tensor b = this->add_variable_input(tw::text("bias", name).view(), tw::zeros(), {results, 1, 1});
    return ops::relu(ops::conv(x, w * 0.25, options) + b);
  }
  static constexpr Tensor halved(Tensor x) { return ops::max_pool(x, {2, 2}, {.stride = {2, 2}}); }
  constexpr Tensor build(Tensor x) {
    x = layer(x, "1", channels);
    if (middle == Middle::wide_windows) x = ops::max_pool(x, {3, 3}, {.stride = {2, 2}});
    else x = halved(x);
    if (middle == Middle::stored) store("image", x);
    if (middle == Middle::residual) x = x + layer(x, "2", channels, {.padding = {1, 1, 1, 1}});
    x = halved(layer(x, "3", 64));
    return x.reshape({x.shape(0), -1})
        .matmul(this->add_variable_input("weight4", tw::zeros(), {x.nelms() / x.shape(0), 10}) * 0.25);
  }
};
template <Middle middle, std::int64_t channels = 32>
constexpr void trained(Ir& ir) {
  train<Net<middle, channels>>(variable(ir, "x", {8, 1, 20, 22}), descend);
}
/// Poolings and formulas without a convolution.
constexpr void without_convolutions(Ir& ir) {
  const Tensor x = ops::relu(load(ir, "x", {8, 32, 12, 12}));
  store("y", ops::max_pool(x, {2, 2}, {.stride = {2, 2}}));
}

/// Convolutions and poolings with operands whose channels are the last axis, and the numbers of these operands, in their order.
std::string users_of(auto program) {
  const auto ir = tw::trace(program);
  std::string users;
  const auto observe = [&]<class... A>(const A&... a) {
    if constexpr (sizeof...(A) == 4) {
      const auto& [pass, body, draft, plan] = std::tie(a...);
      if (pass != tw::internal::Pass::put_channels_last) return;
      for (const tw::internal::Operation& operation : draft.operations) {
        if (operation.is_call() || !tw::host_rules_of(*operation.op).channels_last) continue;
        std::string numbers;
        for (std::size_t o = 0; o < operation.operands.size(); ++o)
          if (tw::is_channels_last(operation.operands[o].spec.shape, operation.operands[o].layout.strides))
            numbers += std::to_string(o);
        if (!numbers.empty()) users += std::string(operation.op->name) + " " + numbers + ", ";
      }
    }
  };
  tw::lower(tw::prepare(*ir, tw::cpu), observe);
  return users;
}
tw::Text fault_of(auto program) { return tw::lower_verified(tw::prepare(*tw::trace(program), tw::cpu)).failure; }

}  // namespace

TEST_CASE("channels last: images that convolutions, poolings and formulas use") {
  CHECK(users_of(trained<Middle::nothing>) ==
        "Conv 2, MaxPool 01, Conv 02, MaxPool 0, MaxPoolGrad 02, ReduceSum 0, ConvDataGrad 02, ConvWeightsGrad 01, "
        "MaxPoolGrad 012, ReduceSum 0, ConvWeightsGrad 1, ");
  CHECK(users_of(trained<Middle::residual>) ==
        "Conv 2, MaxPool 01, Conv 02, Conv 02, MaxPool 0, MaxPoolGrad 02, ReduceSum 0, ConvDataGrad 02, ConvWeightsGrad 01, "
        "ReduceSum 0, ConvDataGrad 02, ConvWeightsGrad 01, MaxPoolGrad 012, ReduceSum 0, ConvWeightsGrad 1, ");
}
TEST_CASE("channels last: images that others use stay planes") {
  // the host gets the first pooling's result
  CHECK(users_of(trained<Middle::stored>) ==
        "Conv 2, MaxPool 0, Conv 2, MaxPool 0, MaxPoolGrad 02, ReduceSum 0, ConvDataGrad 02, ConvWeightsGrad 1, "
        "MaxPoolGrad 012, ReduceSum 0, ConvWeightsGrad 1, ");
  CHECK(users_of(trained<Middle::wide_windows>) == "");
  CHECK(users_of(trained<Middle::nothing, 24>) == "");
  CHECK(users_of(without_convolutions) == "");
}
TEST_CASE("channels last: plans are proved") {
  CHECK(fault_of(trained<Middle::nothing>).view() == "");
  CHECK(fault_of(trained<Middle::residual>).view() == "");
}
