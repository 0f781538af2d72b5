// labels: none
// Programs on tiles with memory of their own give what the fast mode gives, and ops that use more than they declare are found.
#include "../../support/environment.hpp"
#include "../../support/test_session.hpp"
#include "../cases/ops.hpp"
#include "run.hpp"
#include "tilewright/verified/verified.hpp"

namespace {

namespace ops = tw::ops;
using support::load, support::store;
using namespace tw::literals;

constexpr tw::Target three_tiles = tw::ipu_model.with_tiles(3).with_bytes_per_tile(16 << 20);

/// An op along a vector.
template <class D>
struct VectorOp : tw::authoring::Op<D> {
  static constexpr void infer(tw::authoring::Inference& op) { op.output(op.input(0)); }
  static constexpr tw::authoring::Work work(std::span<const tw::TensorSpec> operands, int,
                                            const tw::authoring::PackedAttributes&) {
    tw::authoring::Work work;
    const int axis = work.add_axis({.extent = operands[0].shape[0], .kind = tw::authoring::WorkAxisKind::parallel});
    work.follow(0, 0, axis);
    work.follow(1, 0, axis);
    return work;
  }
};
/// y = x. Its kernel can do what it does not declare: add the element after the block of x to its last result, write the element
/// after the block of y, leave the first element of the block of y as it is, or overwrite x.
template <bool reads_more, bool writes_more, bool leaves_first = false, bool spoils_input = false>
struct Line : VectorOp<Line<reads_more, writes_more, leaves_first, spoils_input>> {
  static constexpr std::string_view name = "Line";
  template <tw::authoring::PackedAttributes, class X, class Y>
  static void compute(X x, Y y) {
    constexpr std::int64_t count = X::shape[0];
    for (std::int64_t i = leaves_first ? 1 : 0; i < count; ++i) y.data[i] = x.data[i];
    if constexpr (reads_more) y.data[count - 1] = static_cast<typename Y::element>(x.data[count - 1] + x.data[count]);
    if constexpr (writes_more) y.data[count] = x.data[0];
    if constexpr (spoils_input) *const_cast<float*>(x.data) = 7;
  }
};
template <bool reads_more, bool writes_more, tw::DType dtype>
constexpr void line(tw::Ir& ir) {
  const tw::Tensor x = load(ir, "x", {40}, dtype);
  store("y", tw::authoring::apply<Line<reads_more, writes_more>>({x}));
}
/// The same on the whole vector, so that what is more is outside of the tensor.
template <bool reads_more, bool writes_more>
constexpr void short_line(tw::Ir& ir) {
  store("y", tw::authoring::apply<Line<reads_more, writes_more>>({load(ir, "x", {1})}));
}

/// That op between other ops of a step: it reads and writes their scratch.
template <bool reads_more, bool writes_more, bool leaves_first, bool spoils_input>
constexpr void fused_line(tw::Ir& ir) {
  const tw::Tensor x = ops::softmax(load(ir, "x", {40}));
  store("y", tw::authoring::apply<Line<reads_more, writes_more, leaves_first, spoils_input>>({x}) * 2);
}

/// y[i] = x[j], while the op promises that j is i. It is the neighbour, or the element at the other end.
template <bool neighbour>
struct Moved : VectorOp<Moved<neighbour>> {
  static constexpr std::string_view name = "Moved";
  constexpr operator tw::authoring::Fusion() const { return tw::authoring::Fusion{.elementwise = true}; }
  template <tw::authoring::PackedAttributes, class X, class Y>
  static void compute(X x, Y y) {
    constexpr std::int64_t count = X::shape[0];
    for (std::int64_t i = 0; i < count; ++i) y.data[i] = x.data[neighbour ? i ^ 1 : count - 1 - i];
  }
};

/// That op after an op whose result another op reads, too.
constexpr void spoiling_line(tw::Ir& ir) {
  const tw::Tensor t = ops::exp(load(ir, "x", {40}));
  store("y", tw::authoring::apply<Line<false, false, false, true>>({t}));
  store("t", t * 2);
}

/// y = y + x: it reads what y had before.
struct AddedTo : VectorOp<AddedTo> {
  static constexpr std::string_view name = "AddedTo";
  template <tw::authoring::PackedAttributes, class X, class Y>
  static void compute(X x, Y y) {
    for (std::int64_t i = 0; i < X::shape[0]; ++i) y.data[i] += x.data[i];
  }
};
constexpr void fused_sum(tw::Ir& ir) { store("y", tw::authoring::apply<AddedTo>({ops::softmax(load(ir, "x", {40}))}) * 2); }

/// a += b in place, which overwrites the first element of its block of b.
struct SpoilsSecond : tw::authoring::Op<SpoilsSecond> {
  static constexpr std::string_view name = "SpoilsSecond";
  constexpr operator tw::authoring::Effects() const { return tw::authoring::Effects{.modifies = 0}; }
  static constexpr void infer(tw::authoring::Inference& op) { op.output(op.input(0)); }
  static constexpr tw::authoring::Work work(std::span<const tw::TensorSpec> operands, int,
                                            const tw::authoring::PackedAttributes&) {
    tw::authoring::Work work;
    const int axis = work.add_axis({.extent = operands[0].shape[0], .kind = tw::authoring::WorkAxisKind::parallel});
    for (std::size_t operand = 0; operand < operands.size(); ++operand) work.follow(static_cast<int>(operand), 0, axis);
    return work;
  }
  template <tw::authoring::PackedAttributes, class A, class B, class Y>
  static void compute(A, B b, Y y) {
    for (std::int64_t i = 0; i < B::shape[0]; ++i) y.data[i] += b.data[i];
    *const_cast<float*>(b.data) = 7;
  }
};
constexpr void fused_update(tw::Ir& ir) {
  const tw::Tensor v = ir.variable(tw::zeros(), {40}, tw::float32, "v");
  store("y", tw::authoring::apply<SpoilsSecond>({v, ops::softmax(load(ir, "x", {40}))}) * 2);
}

/// Ops on slices of what an op gives, of which most consist of whole blocks on 8 tiles and on 24; one changes them.
constexpr void slices(tw::Ir& ir) {
  const tw::Tensor y = ops::exp(load(ir, "x", {24, 20}));
  store("up", ops::concat({ops::slice(y, 1), ops::slice(y, 0, 1)}) - y);
  store("down", ops::concat({ops::slice(y, -3), ops::slice(y, 0, -3)}) - y);
  store("rows", ops::tanh(ops::slice(y, 3)));
  store("columns", ops::tanh(ops::slice(y, {0, 8}, {24, 19})));
  store("corner", ops::tanh(ops::slice(y, {3, 8})));
  const tw::Tensor changed = y * 2;
  ops::add_(ops::slice_(changed, 3, 24), ops::slice(y, 0, 21));
  store("changed", changed);
}

/// Each block of y is declared to have all elements.
struct Everywhere : VectorOp<Everywhere> {
  static constexpr std::string_view name = "Everywhere";
  static constexpr tw::authoring::Work work(std::span<const tw::TensorSpec> operands, int,
                                            const tw::authoring::PackedAttributes&) {
    tw::authoring::Work work;
    work.follow(0, 0, work.add_axis({.extent = operands[0].shape[0], .kind = tw::authoring::WorkAxisKind::parallel}));
    return work;
  }
  template <tw::authoring::PackedAttributes, class X, class Y>
  static void compute(X x, Y y) {
    for (std::int64_t i = 0; i < Y::shape[0]; ++i) y.data[i] = x.data[0];
  }
};
constexpr void everywhere(tw::Ir& ir) { store("y", tw::authoring::apply<Everywhere>({load(ir, "x", {40})})); }

template <bool neighbour, bool fused>
constexpr void moved(tw::Ir& ir) {
  tw::Tensor x = load(ir, "x", {40});
  if (fused) x = ops::softmax(x);
  store("y", tw::authoring::apply<Moved<neighbour>>({x}));
}

template <auto build, tw::Target target = three_tiles.without_fusion()>
std::string error_of() {
  ProgramRun<build, target> run(true);
  try {
    run.run();
  } catch (const tw::StrictError& error) {
    return error.what();
  }
  return "";
}
/// Whether the error names the op and says all of this.
template <auto build>
void check_error(std::initializer_list<const char*> parts) {
  const std::string error = error_of<build>();
  INFO(error);
  CHECK(error.find("(Line in the main graph), vertex ") != std::string::npos);
  for (const char* const part : parts) CHECK(error.find(part) != std::string::npos);
}

constexpr void nothing_wrong(tw::Ir& ir) { store("y", ops::exp(load(ir, "x", {40})) + 1); }

}  // namespace

TEST_CASE("cases of ops on three tiles give in strict mode what they give in the fast mode") {
  check_strict<op_cases::float32_functions, three_tiles>(1);
}
TEST_CASE("slices of whole blocks") {
  check_strict<slices, tw::gc200.with_tiles(8).without_fusion()>();
  check_strict<slices, tw::gc200.with_tiles(24).without_fusion()>();
  check_strict<slices, tw::gc200.with_tiles(24)>();
}
TEST_CASE("an op that reads one element more than it declares is found") {
  check_strict<line<false, false, tw::float32>, three_tiles.without_fusion()>();
  constexpr const char* text = "depends on elements that the op does not declare to read";
  check_error<line<true, false, tw::float32>>({"on tile 0", text});
  check_error<line<true, false, tw::float16>>({text});
  check_error<line<true, false, tw::int32>>({text});
  check_error<line<true, false, tw::uint8>>({text});
  check_error<short_line<true, false>>({text});
}
TEST_CASE("an op that writes one element more than it declares is found") {
  constexpr const char* text = "is written, and not declared to be";
  check_error<line<false, true, tw::float32>>({"element 14 of the result of step 0", text});
  check_error<line<false, true, tw::float16>>({text});
  check_error<line<false, true, tw::uint8>>({text});
  check_error<short_line<false, true>>({text});
}
TEST_CASE("an op whose vertices write the same elements is found by the proof") {
  constexpr tw::Target target = three_tiles.without_fusion();
  const tw::Prepared prepared = tw::prepare(*tw::trace(everywhere, target), target);
  CHECK(tw::fault_of_plan(prepared, tw::lower(prepared)).string() ==
        "vertices: operand 1 of stage 0 (Everywhere) is written by several vertices: a part for each vertex expected, in step 0 "
        "of body 0, Everywhere of x (40,) float32 to Everywhere (40,) float32, in the main graph");
}
TEST_CASE("an op that overwrites its input is found") {
  check_error<spoiling_line>({"element 0 of ", "is written, and declared to be read only"});
}
TEST_CASE("ops of a fused step that do what they do not declare are found") {
  CHECK(error_of<fused_line<false, false, false, false>, three_tiles>() == "");
  const std::string where = "strict: step 0 of body 0 (Softmax, Line, Mul, Identity in the main graph), vertex 0 on tile 0: ";
  CHECK(error_of<fused_line<true, false, false, false>, three_tiles>() ==
        where + "element 39 of the block of output 0 of Line depends on elements that the op does not declare to read");
  CHECK(error_of<fused_line<false, true, false, false>, three_tiles>() ==
        where + "Line writes scratch memory that it does not declare to write");
  CHECK(error_of<fused_line<false, false, true, false>, three_tiles>() ==
        where + "element 0 of the block of output 0 of Line is declared to be written, and is not");
  CHECK(error_of<fused_line<false, false, false, true>, three_tiles>() ==
        where + "element 0 of the block of input 0 of Line is written, and declared to be read only");
  CHECK(error_of<fused_sum, three_tiles>().find(
            "element 0 of the block of output 0 of AddedTo depends on elements that the op does "
            "not declare to read") != std::string::npos);
  CHECK(error_of<fused_update, three_tiles>().find("is written, and declared to be read only") != std::string::npos);
}
TEST_CASE("an op that promises to be elementwise, and is not, is found") {
  constexpr const char* text = "of the block of output 0 of Moved depends on elements at other positions";
  CHECK(error_of<moved<true, false>>().find(text) != std::string::npos);
  CHECK(error_of<moved<false, false>>().find(text) != std::string::npos);
  CHECK(error_of<moved<true, true>, three_tiles>().find(text) != std::string::npos);
  CHECK(error_of<moved<false, true>, three_tiles>().find(text) != std::string::npos);
}
TEST_CASE("sessions run strictly where they are asked to, on a simulated IPU") {
  const xt::xtensor<float, 1> x = xt::linspace<float>(0, 1, 40);
  tw::Session<nothing_wrong, three_tiles> fast, strict({.strict = true});
  const auto expected = fast.run("x"_s = x)["y"_s], result = strict.run("x"_s = x)["y"_s];
  CHECK(std::memcmp(expected.data(), result.data(), 40 * sizeof(float)) == 0);
  CHECK_THROWS_WITH(tw::Session<nothing_wrong>({.strict = true}),
                    "strict: the target has no tiles with memory of their own: a simulated IPU expected");
}
TEST_CASE("sessions of tests run strictly where the environment asks, on a simulated IPU") {
  for (const char* const value : {"1", "0", ""}) {
    INFO('"' << value << '"');
    const EnvironmentVariable asked("TILEWRIGHT_STRICT", value);
    CHECK(bool(TestSession<nothing_wrong, three_tiles>().options().strict) == (std::string(value) == "1"));
    CHECK_FALSE(bool(TestSession<nothing_wrong, tw::cpu>().options().strict));
  }
}
