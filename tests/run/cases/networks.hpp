#pragma once
// The cases of tests/reference/ops_networks.txt.
#include "of_ops.hpp"

namespace op_cases {

constexpr void transposed_convolutions(Ir& ir) { add_cases<Program::transposed_convolutions>({ir}); }

constexpr void normalisation_of_batches(Ir& ir) { add_cases<Program::normalisation_of_batches>({ir}); }
constexpr void images(Ir& ir) { add_cases<Program::images>({ir}); }

constexpr void pools_with_gaps(Ir& ir) { add_cases<Program::pools_with_gaps>({ir}); }

/// Of the above: one of each kind of work, for machines on which it is cut.
constexpr void networks_in_tiles(Ir& ir) {
  constexpr std::string_view names[] = {"conv_transpose_stride", "conv_transpose_groups", "batch_norm",
                                        "batch_norm_inference",  "interpolate_linear",    "roi_align",
                                        "max_pool_out_pads",     "average_pool_gaps"};
  add_some<Program::transposed_convolutions, Program::normalisation_of_batches, Program::images, Program::pools_with_gaps>(ir,
                                                                                                                           names);
}

constexpr void networks_in_float64(Ir& ir) { add_cases<Program::networks_in_float64>({ir}); }
/// Results and gradients with the rounding of half precision.
constexpr void networks_in_float16(Ir& ir) { add_cases<Program::networks_in_float16>({ir}); }
constexpr void other_networks(Ir& ir) { add_cases<Program::other_networks>({ir}); }
/// Integers wrap around.
constexpr void products_of_integers(Ir& ir) { add_cases<Program::products_of_integers>({ir}); }

}  // namespace op_cases
