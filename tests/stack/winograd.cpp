// labels: more
// Convolutions in Winograd's form and their gradients, each alone, and those that vertices divide.
#include "alone.hpp"

using op_cases::f32, tw::Tensor;
namespace ops = tw::ops;

constexpr auto x_type = f32({32, 32, 13, 13}), w_type = f32({64, 32, 3, 3}), y_type = f32({32, 64, 13, 13});
constexpr tw::WindowAttributes padded{.padding = {1, 1, 1, 1}, .padding_count = 4};
constexpr auto windows = tw::WindowsAttributes::make(tw::detail::windows_of(x_type.shape, {3, 3}, padded));

constexpr auto forward = [](Tensor x, Tensor w) { return ops::conv(x, w, {.padding = {1, 1, 1, 1}}); };
constexpr auto data_gradient = [](Tensor dy, Tensor w) { return tw::apply<tw::ConvDataGrad>({dy, w}, windows); };
constexpr auto weights_gradient = [](Tensor x, Tensor dy) { return tw::apply<tw::ConvWeightsGrad>({x, dy}, windows); };

int main() {
  int wrong = 0;
  wrong += check_memory<alone<forward, x_type, w_type>>("forward");
  wrong += check_memory<alone<data_gradient, y_type, w_type>>("of data");
  wrong += check_memory<alone<weights_gradient, x_type, y_type>>("of weights");
  wrong += check_memory<with_gradients<forward, f32({2, 16, 40, 36}), f32({48, 16, 3, 3})>>("of two images");
  return wrong;
}
