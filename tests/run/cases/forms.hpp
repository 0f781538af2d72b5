#pragma once
// The cases of tests/reference/ops_forms.txt: operands that are views, and tensors of few elements. And cases of other files with
// other dtypes, or for other targets.
#include "of_ops.hpp"

namespace op_cases {

constexpr void views_of_elements(Ir& ir) {
  differentiable(
      ir, "view_inplace",
      [](Tensor a, Tensor b) {
        Tensor t = a * 2;
        t += b.T();
        return ops::negate_(t);
      },
      f32({5, 19}), f32({19, 5}));
  add_cases<Program::views_of_elements>({ir});
}
constexpr void views_of_lines(Ir& ir) { add_cases<Program::views_of_lines>({ir}); }
constexpr void views_of_images(Ir& ir) { add_cases<Program::views_of_images>({ir}); }
/// Cases of networks.hpp, of the same numbers, which stand in memory in the order of the reversed axes.
constexpr void views_of_resized_images(Ir& ir) { add_cases<Program::views_of_resized_images>({ir}); }
constexpr void views_at_indices(Ir& ir) { add_cases<Program::views_at_indices>({ir}); }

constexpr void few_elements(Ir& ir) {
  add_cases<Program::few_elements>({ir, tw::float32, {}, "scalar_"});
  add_cases<Program::few_elements>({ir, tw::float32, {1, 1}, "one_"});
  add_cases<Program::few_outer>({ir});
}
constexpr void lines_of_one(Ir& ir) { add_cases<Program::lines_of_one>({ir}); }
constexpr void images_of_one(Ir& ir) { add_cases<Program::images_of_one>({ir}); }
constexpr void indices_of_one(Ir& ir) { add_cases<Program::indices_of_one>({ir}); }

/// Cases of other files, with labels, indices and numbers of other dtypes.
constexpr void other_index_dtypes(Ir& ir) { add_cases<Program::other_index_dtypes>({ir}); }
/// Sums of at most six elements, which half precision rounds once.
constexpr void interpolated_halves(Ir& ir) { add_cases<Program::interpolated_halves>({ir}); }
/// Random numbers and dropout, for machines on which their work is cut in other ways.
constexpr void some_random_numbers(Ir& ir) {
  constexpr std::string_view names[] = {"uniform", "normal", "dropout", "dropout_columns"};
  add_some<Program::random_numbers, Program::dropouts>(ir, names);
}

}  // namespace op_cases
