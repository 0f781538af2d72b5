// labels: strict tsan
// What print_tensor prints, and when.
#include "tilewright/ops/memory/print_tensor.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <thread>

#include "../../support/elements.hpp"
#include "../../support/environment.hpp"
#include "tilewright/transform/recompute_graph.hpp"

namespace {

using tw::Graph, tw::Ir, tw::Tensor;
namespace ops = tw::ops;

/// What is printed while it lives.
class Printed {
 public:
  Printed() : before_(tw::set_print_stream(&text_)) {}
  Printed(const Printed&) = delete;
  ~Printed() { tw::set_print_stream(before_); }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::ostream* before_;
};
/// Takes some texts, then refuses all.
class Refusing : public std::stringbuf {
 public:
  explicit Refusing(int texts) : left_(texts) {}

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    return left_-- > 0 ? std::stringbuf::xsputn(text, size) : 0;
  }

 private:
  int left_;
};
template <class Session>
std::string printed_by(Session& session) {
  const Printed printed;
  session.run();
  return printed.text();
}
/// Checks what a program without inputs prints in each run, on both targets, with one thread and two.
template <auto program>
void check_prints(const std::string& expected) {
  for (int threads : {1, 2}) {
    tw::Session<program> cpu({.threads = threads});
    TestSession<program, tw::ipu_model> ipu({.threads = threads});
    for (int run = 0; run < 2; ++run) {
      CHECK(printed_by(cpu) == expected);
      CHECK(printed_by(ipu) == expected);
    }
  }
}

constexpr void texts(Ir& ir) {
  const Tensor x = ir.constant({1, -2.5, 3, 4}, {2, 2}), number = ir.constant(3, tw::int32);
  const Tensor y = ops::print_tensor(x, {.title = "x"});
  store("y", y);
  ops::print_tensor(ir.variable(tw::ones(), {3}, tw::float16, "w"));
  ops::print_tensor(x * 2);
  ops::print_tensor(x.T(), {.title = "options", .separator = ',', .open_bracket = '(', .close_bracket = ')'});
  ops::print_tensor(number, {.title = "number"});
  ops::print_tensor(x.cast(tw::boolean), {.title = "", .print_self = true, .digits = 0});
  ops::print_tensor(ops::expand(number, {2000}), {.title = "summary", .edge_items = 1});
  ops::print_tensor(x.flatten(), {.title = "format", .max_line_width = 25, .float_format = tw::FloatFormat::scientific});
  ops::print_tensor(x, {.title = "0123456789012345678901234567890123456789012345678901234567890123",
                        .summarise_threshold = 1,
                        .edge_items = 1,
                        .digits = 1,
                        .float_format = tw::FloatFormat::fixed});
  ops::print_tensor(ir.constant({6e-8, 1}, {2}, tw::float16), {.title = "half"});
  ops::print_tensor(x, {.title = "not printed", .print_self = false});
  store("number", ops::print_tensor(number, {.print_self = false}));
  store("half", ops::print_tensor(x.cast(tw::float16), {.print_self = false}));
}

/// Not all work is for one vertex, and what is small could go first.
constexpr void order(Ir& ir) {
  const Tensor w = ir.variable(tw::zeros(), {64, 64}, tw::float32, "w"), step = ir.variable(tw::zeros(), {}, tw::float32, "step");
  const auto show = [](Tensor x, std::string_view title) { ops::print_tensor(ops::sum(x, {0, 1}), {.title = title}); };
  ops::accumulator_zero_(w);
  ops::accumulator_zero_(step);
  show(w, "a");
  ops::print_tensor(step, {.title = "b"});
  ops::scaled_add_(w, ir.constant({1}, {64, 64}));
  ops::scaled_add_(step, ir.constant(1));
  show(w, "c");
  ops::print_tensor(step, {.title = "d"});
  show(w.matmul(w), "e");
  show(w * 2, "f");
}

constexpr Tensor show_twice(Tensor x) { return ops::print_tensor(x, {.title = "inner"}) * 2; }
constexpr void called(Ir& ir) {
  const Tensor x = ir.constant({1, 2}, {2});
  const Graph graph = ir.create_graph(show_twice, x);
  const Tensor y = tw::call(graph, x);
  ops::print_tensor(y, {.title = "outer"});
  tw::call(graph, y);  // nobody uses its result
  tw::call(ir.create_graph([](Tensor t) { ops::print_tensor(t, {.title = "called once"}); }, x), x);
}
constexpr void loop(Ir& ir) {
  const Tensor x = ir.constant({1, 2}, {2});
  store("y", tw::repeat(ir.create_graph(show_twice, x), 3, x));
}
constexpr void branches(Ir& ir) {
  const Tensor x = ir.constant({1, 2}, {2});
  const auto branch = [&](std::string_view title) {
    return ir.create_graph([=](Tensor t) { return ops::print_tensor(t, {.title = title}); }, x);
  };
  for (const bool condition : {true, false})
    tw::conditional(ir.constant({condition ? 1.0 : 0.0}, {}, tw::boolean), {branch("then"), {x}}, {branch("else"), {x}});
}

constexpr void levels(Ir& ir) {
  const Tensor x = ir.constant({1, 2}, {2});
  const auto show = [&](tw::LogLevel level, std::string_view title) { ops::print_tensor(x, {.title = title, .level = level}); };
  ops::print_tensor(x, {.title = "always"});
  show(tw::LogLevel::trace, "trace");
  show(tw::LogLevel::debug, "debug");
  ops::print_text(ir, "a text for debugging");
  const Graph graph = ir.create_graph(
      [&](Tensor t) {
        ops::print_text(ir, "in a graph", tw::LogLevel::info);
        return t * 2;
      },
      x);
  store("y", tw::repeat(graph, 2, x));
  show(tw::LogLevel::error, "error");
}

struct Cubed : tw::Module<Cubed> {
  constexpr Tensor build(Tensor x) {
    const Tensor y = ops::print_tensor(x * x, {.title = "y", .print_gradient = true});
    const Tensor z = ops::print_tensor(x, {.title = "z", .print_self = false, .print_gradient = true});
    return ops::print_tensor(y * z, {.title = "no gradient"});
  }
};
template <bool recomputes>
constexpr void gradient(Ir& ir) {
  const Tensor x = ir.constant({1, 2}, {2});
  const tw::GraphWithNamedArgs graph = tw::create_graph(Cubed{}, x).graph;
  auto backward = tw::autodiff(graph);
  if (recomputes) backward = tw::recompute_graph(backward);
  const auto call = tw::call_with_info(graph.graph(), x);
  ops::print_tensor(backward.call(ir.constant({1, 10}, {2}), backward.grad_graph_info().inputs_dict(call)), {.title = "dx"});
}
constexpr void gradient_of_loop(Ir& ir) {
  const Tensor x = ir.constant({1, 2}, {2});
  const Graph square = ir.create_graph([](Tensor t) { return ops::print_tensor(t * t, {.title = "t", .print_gradient = true}); },
                                       x);
  const Graph graph = ir.create_graph([&](Tensor t) { return tw::repeat(square, 2, t); }, x);
  const auto info = tw::autodiff(graph);
  const auto call = tw::call_with_info(graph, x);
  ops::print_tensor(tw::call(info.graph(), ir.constant({1, 1}, {2}), info.inputs_dict(call)), {.title = "dx"});
}
constexpr void gradient_of_branch(Ir& ir) {
  const Tensor x = ir.constant({1, 2}, {2});
  const auto branch = [&](double factor, std::string_view title) {
    return ir.create_graph([=](Tensor t) { return ops::print_tensor(t * t, {.title = title, .print_gradient = true}) * factor; },
                           x);
  };
  const Graph graph = ir.create_graph(
      [&](Tensor t, Tensor condition) {
        return tw::conditional(condition, {branch(2, "then"), {t}}, {branch(3, "else"), {t}})[0];
      },
      x, ir.constant({0}, {}, tw::boolean));
  const auto info = tw::autodiff(graph);
  const auto call = tw::call_with_info(graph, {x, ir.constant({0}, {}, tw::boolean)});
  ops::print_tensor(tw::call(info.graph(), ir.constant({1, 1}, {2}), info.inputs_dict(call)), {.title = "dx"});
}

}  // namespace

TEST_CASE("print_tensor: title and elements, in the order of the trace") {
  check_prints<texts>(
      "x: [[ 1.  -2.5]\n [ 3.   4. ]]\n"
      "print_w: [1. 1. 1.]\n"
      "print_Mul.103: [[ 2. -5.]\n [ 6.  8.]]\n"
      "options: (( 1. , 3. ),\n (-2.5, 4. ))\n"
      "number: 3\n"
      "print_Cast.108: [[True True]\n [True True]]\n"
      "summary: [3 ... 3]\n"
      "format: [ 1.0e+00 -2.5e+00\n  3.0e+00  4.0e+00]\n"
      "0123456789012345678901234567890123456789012345678901234567890123: [[ 1.  -2.5]\n [ 3.   4. ]]\n"
      "half: [6.e-08 1.e+00]\n");
}
TEST_CASE("print_tensor gives the tensor") {
  tw::Session<texts> session;
  const Printed printed;
  const auto outputs = session.run();
  CHECK(elements(outputs["y"_s]) == Floats{1, -2.5, 3, 4});
  CHECK(outputs["number"_s]() == 3);
  CHECK(static_cast<float>(outputs["half"_s](0, 1)) == -2.5f);
}
TEST_CASE("print_tensor: what is changed in place is printed as it is then") {
  check_prints<order>("a: 0.\nb: 0.\nc: 4096.\nd: 1.\ne: 262144.\nf: 8192.\n");
}
TEST_CASE("print_tensor: each time the program comes there") {
  check_prints<called>("inner: [1. 2.]\nouter: [2. 4.]\ninner: [2. 4.]\ncalled once: [1. 2.]\n");
  check_prints<loop>("inner: [1. 2.]\ninner: [2. 4.]\ninner: [4. 8.]\n");
  check_prints<branches>("then: [1. 2.]\nelse: [1. 2.]\n");
}
TEST_CASE("print_tensor: gradients") {
  const std::string forward = "y: [1. 4.]\nno gradient: [1. 8.]\n";
  const std::string backward = "z_gradient: [ 1. 40.]\ny_gradient: [ 1. 20.]\ndx: [  3. 120.]\n";
  check_prints<gradient<false>>(forward + backward);
  check_prints<gradient<true>>(forward + forward + backward);
  check_prints<gradient_of_loop>("t: [1. 4.]\nt: [ 1. 16.]\nt_gradient: [1. 1.]\nt_gradient: [2. 8.]\ndx: [ 4. 32.]\n");
  check_prints<gradient_of_branch>("else: [1. 4.]\nelse: [1. 4.]\nelse_gradient: [3. 3.]\ndx: [ 6. 12.]\n");
}
TEST_CASE("print_tensor and print_text: by level") {
  const EnvironmentVariable variable("TILEWRIGHT_LOG_CONFIG", "prints=INFO");
  const std::string all = "always: [1. 2.]\n", trace = "trace: [1. 2.]\n", debug = "debug: [1. 2.]\na text for debugging\n",
                    info = "in a graph\nin a graph\n", error = "error: [1. 2.]\n";
  check_prints<levels>(all + info + error);
  const auto check = [&](tw::LogLevel level, const std::string& expected) {
    const tw::LogLevel before = tw::set_print_level(level);
    check_prints<levels>(expected);
    CHECK(tw::set_print_level(before) == level);
    CHECK(tw::set_print_level(before) == tw::LogLevel::info);  // the environment's
  };
  check(tw::LogLevel::trace, all + trace + debug + info + error);
  check(tw::LogLevel::debug, all + debug + info + error);
  check(tw::LogLevel::error, all + error);
  check(tw::LogLevel::off, all);
}
TEST_CASE("print_tensor: texts of sessions that run at the same time do not mix") {
  constexpr int runs = 50;
  const Printed printed;
  {
    const auto work = [] {
      tw::Session<loop> session({.threads = 1});
      for (int run = 0; run < runs; ++run) session.run();
    };
    const std::jthread first(work), second(work);
  }
  std::map<std::string, int> counts;
  std::istringstream text(printed.text());
  for (std::string line; std::getline(text, line);) ++counts[line];
  CHECK(counts ==
        std::map<std::string, int>{{"inner: [1. 2.]", 2 * runs}, {"inner: [2. 4.]", 2 * runs}, {"inner: [4. 8.]", 2 * runs}});
}
TEST_CASE("print_tensor: no stream, no text") {
  tw::Session<called> session;
  std::ostringstream text;
  std::ostream* const before = tw::set_print_stream(nullptr);
  session.run();
  CHECK(tw::set_print_stream(&text) == nullptr);
  session.run();
  CHECK(tw::set_print_stream(before) == &text);
  CHECK(text.str().substr(0, 15) == "inner: [1. 2.]\n");
}
TEST_CASE("print_tensor: what the stream throws ends the run, and the next run is right") {
  const std::string expected = "a: 0.\nb: 0.\nc: 4096.\nd: 1.\ne: 262144.\nf: 8192.\n";
  on_all_machines<order>([&](auto& session) {
    for (const int texts : {0, 1, 3, 5}) {
      INFO(texts << " texts before the stream fails");
      Refusing buffer(texts);
      std::ostream stream(&buffer);
      stream.exceptions(std::ios::badbit);
      std::ostream* const before = tw::set_print_stream(&stream);
      CHECK_THROWS_AS(session.run(), std::ios::failure);
      tw::set_print_stream(before);
      const std::string text = buffer.str();
      CHECK(std::count(text.begin(), text.end(), '\n') == texts);
      CHECK(expected.starts_with(text));
      CHECK(printed_by(session) == expected);
    }
  });
}
