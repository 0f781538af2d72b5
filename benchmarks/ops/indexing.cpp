// Gathers and scatters of 4,096 rows, or as many elements as they have, and a table of 32,768 x 256.
#include "op_program.hpp"

namespace {

constexpr Input table{{32768, 256}}, rows{{4096, 256}}, places{{4096}, tw::int64, 32768},
    element_places{{4096, 256}, tw::int64, 32768};
constexpr int copies = 4;

struct Gather {
  static constexpr int copies = ::copies;
  static constexpr std::array inputs{table, places};
  static constexpr tw::Shape result = rows.shape;
  static constexpr Tensor build(Tensor x, Tensor indices) { return ops::gather(x, indices); }
};
/// Into zeros.
template <tw::ScatterReduction reduction>
struct Scatter {
  static constexpr int copies = ::copies;
  static constexpr std::array inputs{rows, places};
  static constexpr Tensor build(Tensor x, Tensor indices) {
    return ops::scatter_reduce(x, indices, reduction, {.axis_size = table.shape[0]});
  }
};
/// Into a copy of a table.
template <tw::ScatterReduction reduction>
struct ScatterElements {
  static constexpr int copies = ::copies;
  static constexpr std::array inputs{rows, element_places, table};
  static constexpr Tensor build(Tensor x, Tensor indices, Tensor initial) {
    return ops::scatter_reduce(x, indices, reduction, {.initial_values = initial});
  }
};

}  // namespace

int main(int argc, char** argv) {
  using tw::ScatterReduction;
  return serve_cases(argc, argv,
                     {{"gather", serve_case<Gather>},
                      {"gather_gradient", serve_case<GradientOf<Gather>>},
                      {"scatter_sum", serve_case<Scatter<ScatterReduction::sum>>},
                      {"scatter_elements_sum", serve_case<ScatterElements<ScatterReduction::sum>>},
                      {"scatter_elements_max", serve_case<ScatterElements<ScatterReduction::max>>}});
}
