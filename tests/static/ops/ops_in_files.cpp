// labels: none
// Shapes and errors of the ops of tests/ops.
#include "../../ops/ops.hpp"
#include "../../support/programs.hpp"
#include "../../support/same.hpp"

namespace {

namespace tw = tilewright;
using tw::Ir, tw::TensorSpec, tw::Text;

/// Keeps the first result or error that is another.
struct Shapes {
  Text& wrong;
  constexpr void compare(const Text& actual, std::string_view expected) const {
    if (wrong.empty() && actual.view() != expected) wrong = tw::text(actual.view(), " for ", expected);
  }
  constexpr void result(const TensorSpec& expected, auto op, const auto&... inputs) const {
    Ir ir;
    compare(to_text(ir.create_graph(op, inputs...).output(0).spec()), to_text(expected).view());
  }
  constexpr void error(std::string_view expected, auto op, const auto&... inputs) const {
    compare(support::failure([&](Ir& ir) { ir.create_graph(op, inputs...); }), expected);
  }
};
/// Each op in a constant expression of its own, whose memory the compiler gives back.
template <class Test>
constexpr Text wrong() {
  Text text;
  Test::shapes(Shapes{text});
  return text;
}
static_assert((op_tests::for_each([]<class Test>(Test) { static_assert(support::is_empty<wrong<Test>>()); }), true));

}  // namespace
