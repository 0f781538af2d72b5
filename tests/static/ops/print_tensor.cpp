// labels: none
// How print_tensor is traced and planned.
#include "tilewright/ops/memory/print_tensor.hpp"

#include "../../support/programs.hpp"
#include "../../support/same.hpp"
#include "tilewright/lower/print_plan.hpp"
#include "tilewright/tilewright.hpp"

namespace {

namespace tw = tilewright;
namespace ops = tw::ops;
using tw::Ir, tw::Tensor;

using support::plan_text;
template <bool print_self>
constexpr void between(Ir& ir) {
  const Tensor x = ops::host_load(ir.h2d_stream("x", {64, 1024}));
  const Tensor y = ops::print_tensor(x * 2, {.title = "y", .print_self = print_self}) + 1;
  ops::host_store(ir.d2h_stream("y", x.spec()), y);
}
TW_SAME(plan_text(between<true>),
        "Body 0 : 3 steps, 262144 bytes\n"
        "  8 of 8 x 1024: Mul\n"
        "  --\n"
        "  1 of : PrintTensor\n"
        "  --\n"
        "  8 of 8 x 1024: Identity <Add>\n",
        "one vertex, alone, prints");
TW_SAME(plan_text(between<false>), "Body 0 : 1 steps, 0 bytes\n  16 of 4 x 1024: Identity <Mul, PrintTensor, Add>\n",
        "what does not print is a copy like others");

template <bool print_self>
constexpr std::size_t steps_of_unused() {
  Ir ir;
  ops::print_tensor(ir.variable(tw::zeros(), {2}, tw::float32, "x"), {.print_self = print_self});
  return tw::lower(tw::prepare(std::move(ir), tw::cpu)).steps.size();
}
static_assert(steps_of_unused<true>() == 1 && steps_of_unused<false>() == 0);

constexpr std::size_t steps_of_texts() {
  Ir ir;
  ops::print_text(ir, "begin", tw::LogLevel::info);
  ops::print_text(ir, "end");
  return tw::lower(tw::prepare(std::move(ir), tw::cpu)).steps.size();
}
static_assert(steps_of_texts() == 2);

constexpr bool a_result_is_as_its_input() {
  Ir ir;
  const Tensor x = ir.variable(tw::zeros(), {2, 3}, tw::int16, "x");
  return ops::print_tensor(x).spec() == x.spec() && ops::print_tensor(x, {.print_self = false}).spec() == x.spec();
}
static_assert(a_result_is_as_its_input());

// without a title, the name of the tensor makes it, however long
constexpr tw::Text title_error(std::string_view name) {
  Ir ir(tw::OnError::record);
  ops::print_tensor(ir.variable(tw::zeros(), {2}, tw::float32, name));
  return ir.failure();
}
TW_SAME(title_error("a name of fifty-eight characters, which just fits a title."), "");
TW_SAME(title_error("a name of fifty-nine characters, which is too long a title."),
        "print_tensor: title 'print_a name of fifty-nine characters, which is too long a title.' of 65 characters: "
        "at most 64 expected");

TW_SAME(support::failure([](Ir& ir) { ops::print_text(ir, "a text", tw::LogLevel::off); }),
        "print_text: level off: one from trace to error expected");
TW_SAME(support::failure([](Ir& ir) {
          ops::print_text(ir, "a text of sixty-nine characters, which are five more than fit in one.");
        }),
        "print_text: 'a text of sixty-nine characters, which are five more than fit in one.' of 69 characters: "
        "at most 64 expected");

}  // namespace
