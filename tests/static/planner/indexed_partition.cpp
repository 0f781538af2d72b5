// labels: none
// Where a simulated IPU has the rows of tables, and what a step at indices costs.
#include "../../support/programs.hpp"
#include "tilewright/tilewright.hpp"

namespace {

namespace tw = tilewright;
namespace ops = tw::ops;
using std::int64_t, tw::Tensor;

/// A gather, and an update of its table at the same indices.
template <int64_t rows, int64_t columns, int64_t indices>
constexpr void embedding(tw::Ir& ir) {
  const Tensor table = support::variable(ir, "table", {rows, columns}, tw::float16);
  const Tensor at = support::variable(ir, "at", {indices}, tw::int32);
  support::store("y", ops::gather(table, at));
  ops::sparse_accumulate_(table, support::variable(ir, "dy", {indices, columns}, tw::float16), at, 0, -0.5);
}
constexpr auto large = embedding<100'000, 200, 1440>;
static_assert(tw::fits<large, tw::gc200> && tw::fits<large, tw::gc2>);
static_assert(tw::peak_memory<large, tw::gc200>.variables < 32 * 1024, "an even spread has 27,175 bytes on a tile");
constexpr tw::CycleUse use = tw::cycle_use<large, tw::gc200>;
static_assert(use.exchange < use.compute / 4, "rows come from the tiles that have them");
static_assert(use.compute > 6 * 1440 * 9 && use.compute < 2 * 6 * 1440 * 9, "one worker may add all rows of 4 elements");

constexpr int count(const tw::Text& text, std::string_view word) {
  int found = 0;
  for (std::size_t at = 0; (at = text.view().find(word, at)) != std::string_view::npos; ++at) ++found;
  return found;
}
static_assert(count(support::plan_text(large, tw::gc200), "MergeParts") == 1);
static_assert(count(support::plan_text(embedding<12, 8, 64>, tw::gc200), "MergeParts") == 0, "each tile has all rows");
static_assert(count(support::plan_text(large), "MergeParts") == 0, "the host has one memory");

}  // namespace
