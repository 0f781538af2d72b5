// labels: asan strict tsan ubsan
// Which arrays a session reads and writes in place, copies or refuses. docs/generated/host-arrays.md is made from what these
// tests see: after a change, `run_tests "write docs/generated/host-arrays.md"` writes it anew.
#include <fstream>
#include <sstream>

#include "../../support/elements.hpp"
#include "../../support/environment.hpp"
#include "tilewright/xtensor.hpp"

namespace {

/// y = x; notes where x is.
struct Witness : tw::Op<Witness> {
  static constexpr std::string_view name = "Witness";
  static inline const float* read = nullptr;
  static constexpr void infer(tw::Inference& op) { op.output(op.input(0)); }
  template <tw::PackedAttributes, class X, class Y>
  static void compute(X x, Y y) {
    read = x.data;
    for (std::int64_t i = 0; i < X::shape.nelms(); ++i) y.data[i] = x.data[i];
  }
};
template <tw::Shape shape>
constexpr void copy(tw::Ir& ir) {
  ir.variable(tw::zeros(), shape, tw::float32, "w");
  store("y", tw::apply<Witness>({tw::ops::host_load(ir.h2d_stream("x", {shape, tw::float32}))}));
}
template <tw::Shape tensor_shape>
struct Use {
  static constexpr tw::TensorSpec spec{tensor_shape, tw::float32};
  static constexpr std::string_view name() { return "x"; }
  static constexpr tw::Text note() { return {}; }
};

constexpr std::string_view in_place = "in place", copied = "a copy", does_not_compile = "compile error", throws = "exception";
/// What becomes of an array.
struct Behaviour {
  std::string_view input, output, variable;
  bool operator==(const Behaviour&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Behaviour& b) {
    return out << b.input << " | " << b.output << " | " << b.variable;
  }
};
constexpr Behaviour writable{in_place, in_place, copied}, read_only{in_place, does_not_compile, copied};
constexpr Behaviour refused{does_not_compile, does_not_compile, does_not_compile}, fails{throws, throws, throws};

struct Row {
  std::string kind;
  Behaviour behaviour;
};

/// What a session made of an array, of which `first` is the first element, if that is known.
class Observer {
 public:
  explicit Observer(Behaviour& seen) : seen_(seen) {}

  /// `all` are the elements of the container to which the array belongs, `values` what its own must be.
  template <tw::Shape shape, class Array>
  void observe(Array&& array, const float* first, std::span<const float> all, const Floats& values) {
    tw::Session<copy<shape>> session({.threads = 1});
    observe_in<shape>(session, std::forward<Array>(array), first, all, values);
  }
  template <tw::Shape shape, class Session, class Array>
  void observe_in(Session& session, Array&& array, const float* first, std::span<const float> all, const Floats& values) {
    using Type = std::remove_cvref_t<Array>;
    constexpr bool fits = tw::detail::host_type_problem<Type, Use<shape>>("").empty();
    if constexpr (!fits) {
      seen_ = refused;
    } else {
      seen_.input = attempt([&] {
        auto y = elements(session.run("x"_s = std::forward<Array>(array))["y"_s]);
        CHECK(y == values);
        return Witness::read == first ? in_place : copied;
      });
      seen_.variable = attempt([&] {
        session.write_variable_data("w"_s, array);
        CHECK(elements(session.get_tensor_data("w"_s)) == values);
        return copied;
      });
      if constexpr (!tw::detail::is_writable<Array>()) {
        seen_.output = does_not_compile;
      } else {
        const Floats before(all.begin(), all.end());
        xt::xtensor<float, static_cast<std::size_t>(shape.rank)> x(tw::extents_of<shape>());
        for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = 100 + static_cast<float>(i);
        seen_.output = attempt([&] {
          session.run_with_outputs("x"_s = x, "y"_s = std::forward<Array>(array));
          CHECK(Floats(first, first + x.size()) == elements(x));
          return in_place;
        });
        for (std::size_t i = 0; i < all.size(); ++i)
          if (seen_.output == throws || &all[i] < first || &all[i] >= first + x.size()) CHECK(all[i] == before[i]);
      }
    }
  }

 private:
  static std::string_view attempt(auto f) {
    try {
      return f();
    } catch (const std::invalid_argument&) {
      return throws;
    }
  }
  Behaviour& seen_;
};

template <std::size_t rank, xt::layout_type layout = xt::layout_type::row_major>
auto counted(std::array<std::size_t, rank> shape) {
  xt::xtensor<float, rank, layout> array(shape);
  for (std::size_t i = 0; i < array.size(); ++i) array.data()[i] = static_cast<float>(i);
  return array;
}
std::span<const float> span_of(const auto& container) { return {container.data(), container.size()}; }

/// All kinds of arrays, each shown to a session.
std::vector<Row> observe_all() {
  std::vector<Row> rows;
  constexpr tw::Shape matrix{2, 3}, row{6}, scalar{};
  const Floats from_0{0, 1, 2, 3, 4, 5}, from_6{6, 7, 8, 9, 10, 11};
  const auto add = [&](std::string kind, const Behaviour& expected, auto show) {
    INFO(kind);
    Behaviour seen{};
    show(Observer(seen));
    CHECK(seen == expected);
    rows.push_back({std::move(kind), seen});
  };

  add("`xt::xtensor`", writable, [&](Observer it) {
    auto a = counted<2>({2, 3});
    it.observe<matrix>(a, a.data(), span_of(a), from_0);
  });
  add("`const xt::xtensor`", read_only, [&](Observer it) {
    const auto a = counted<2>({2, 3});
    it.observe<matrix>(a, a.data(), span_of(a), from_0);
  });
  add("`xt::xtensor`, a temporary", read_only, [&](Observer it) {
    auto a = counted<2>({2, 3});
    it.observe<matrix>(std::move(a), a.data(), span_of(a), from_0);
  });
  add("`xt::xtensor`, column-major", fails, [&](Observer it) {
    auto a = counted<2, xt::layout_type::column_major>({2, 3});
    it.observe<matrix>(a, a.data(), span_of(a), from_0);
  });
  add("`xt::xtensor_fixed`", writable, [&](Observer it) {
    xt::xtensor_fixed<float, xt::xshape<2, 3>> a = counted<2>({2, 3});
    it.observe<matrix>(a, a.data(), span_of(a), from_0);
  });
  add("`session.create_host_outputs()[\"y\"_s]`", writable, [&](Observer it) {
    auto outputs = tw::Session<copy<matrix>>::create_host_outputs();
    auto& a = outputs["y"_s];
    it.observe<matrix>(a, a.data(), span_of(a), Floats(6, 0));
  });
  add("`std::vector`, for a tensor of one axis", writable, [&](Observer it) {
    Floats a = from_0;
    it.observe<row>(a, a.data(), a, from_0);
  });
  add("`const std::vector`", read_only, [&](Observer it) { it.observe<row>(from_0, from_0.data(), from_0, from_0); });
  add("`std::vector`, a temporary", read_only, [&](Observer it) {
    Floats a = from_0;
    it.observe<row>(std::move(a), a.data(), a, from_0);
  });
  add("`std::array`, for a tensor of one axis", writable, [&](Observer it) {
    std::array<float, 6> a{0, 1, 2, 3, 4, 5};
    it.observe<row>(a, a.data(), a, from_0);
  });
  add("`std::array` of `std::array`", refused, [&](Observer it) {
    std::array<std::array<float, 3>, 2> a{};
    it.observe<matrix>(a, a[0].data(), a[0], from_0);
  });
  add("`std::span<float>`, a temporary too", writable, [&](Observer it) {
    Floats a = elements(counted<1>({20}));
    it.observe<row>(std::span<float>(a).subspan(6, 6), a.data() + 6, a, from_6);
  });
  add("`std::span<const float>`", read_only,
      [&](Observer it) { it.observe<row>(std::span<const float>(from_0), from_0.data(), from_0, from_0); });
  add("`float[6]`", writable, [&](Observer it) {
    float a[6]{0, 1, 2, 3, 4, 5};
    it.observe<row>(a, a, a, from_0);
  });
  add("`float[2][3]`", writable, [&](Observer it) {
    float a[2][3]{{0, 1, 2}, {3, 4, 5}};
    it.observe<matrix>(a, &a[0][0], std::span(&a[0][0], 6), from_0);
  });
  add("`const float[2][3]`", read_only, [&](Observer it) {
    const float a[2][3]{{0, 1, 2}, {3, 4, 5}};
    it.observe<matrix>(a, &a[0][0], std::span(&a[0][0], 6), from_0);
  });
  add("`float*`", refused, [&](Observer it) {
    Floats a = from_0;
    it.observe<row>(a.data(), a.data(), a, from_0);
  });
  add("`float`, for a scalar tensor", writable, [&](Observer it) {
    float a = 7;
    it.observe<scalar>(a, &a, std::span(&a, 1), Floats{7});
  });
  add("`const float`", read_only, [&](Observer it) {
    const float a = 7;
    it.observe<scalar>(a, &a, std::span(&a, 1), Floats{7});
  });

  add("`xt::adapt` of a pointer, a temporary too", writable, [&](Observer it) {
    auto a = counted<1>({20});
    it.observe<matrix>(xt::adapt(a.data() + 6, std::array<std::size_t, 2>{2, 3}), a.data() + 6, span_of(a), from_6);
  });
  add("`xt::adapt` of a container", writable, [&](Observer it) {
    Floats a = from_0;
    auto adapted = xt::adapt(a, std::array<std::size_t, 2>{2, 3});
    it.observe<matrix>(adapted, a.data(), a, from_0);
  });
  add("rows: `xt::view(a, xt::range(2, 4), xt::all())`", writable, [&](Observer it) {
    auto a = counted<2>({5, 3});
    auto view = xt::view(a, xt::range(2, 4), xt::all());
    it.observe<matrix>(view, a.data() + 6, span_of(a), from_6);
  });
  add("rows of a constant array", read_only, [&](Observer it) {
    const auto a = counted<2>({5, 3});
    it.observe<matrix>(xt::view(a, xt::range(2, 4), xt::all()), a.data() + 6, span_of(a), from_6);
  });
  add("one row: `xt::row(a, 1)`", writable, [&](Observer it) {
    auto a = counted<2>({3, 6});
    it.observe<row>(xt::row(a, 1), a.data() + 6, span_of(a), from_6);
  });
  add("a plane: `xt::view(a, 1)`", writable, [&](Observer it) {
    auto a = counted<3>({4, 2, 3});
    it.observe<matrix>(xt::view(a, 1), a.data() + 6, span_of(a), from_6);
  });
  add("rows of a plane: a view of a view", writable, [&](Observer it) {
    auto a = counted<3>({2, 4, 3});
    auto plane = xt::view(a, 1);
    it.observe<matrix>(xt::view(plane, xt::range(1, 3)), a.data() + 15, span_of(a), Floats{15, 16, 17, 18, 19, 20});
  });
  add("rows of `xt::adapt`", writable, [&](Observer it) {
    auto a = counted<1>({20});
    auto adapted = xt::adapt(a.data() + 3, std::array<std::size_t, 2>{5, 3});
    it.observe<matrix>(xt::view(adapted, xt::range(1, 3)), a.data() + 6, span_of(a), from_6);
  });
  add("rows of `xt::xtensor_fixed`", writable, [&](Observer it) {
    xt::xtensor_fixed<float, xt::xshape<5, 3>> a = counted<2>({5, 3});
    it.observe<matrix>(xt::view(a, xt::range(2, 4)), a.data() + 6, span_of(a), from_6);
  });
  add("columns: `xt::view(a, xt::all(), xt::range(1, 4))`", fails, [&](Observer it) {
    auto a = counted<2>({2, 5});
    it.observe<matrix>(xt::view(a, xt::all(), xt::range(1, 4)), a.data() + 1, span_of(a), from_0);
  });
  add("one column: `xt::col(a, 1)`", fails, [&](Observer it) {
    auto a = counted<2>({6, 3});
    it.observe<row>(xt::col(a, 1), a.data() + 1, span_of(a), from_0);
  });
  add("columns of a column-major array, transposed", writable, [&](Observer it) {
    auto a = counted<2, xt::layout_type::column_major>({3, 5});
    auto columns = xt::view(a, xt::all(), xt::range(2, 4));
    it.observe<matrix>(xt::transpose(columns), a.data() + 6, span_of(a), from_6);
  });
  add("every other row: `xt::view(a, xt::range(0, 4, 2))`", fails, [&](Observer it) {
    auto a = counted<2>({4, 3});
    it.observe<matrix>(xt::view(a, xt::range(0, 4, 2)), a.data(), span_of(a), from_0);
  });
  add("rows backwards: `xt::view(a, xt::range(3, 1, -1))`", fails, [&](Observer it) {
    auto a = counted<2>({4, 3});
    it.observe<matrix>(xt::view(a, xt::range(3, 1, -1)), a.data() + 9, span_of(a), from_0);
  });
  add("`xt::transpose(a)`", fails, [&](Observer it) {
    auto a = counted<2>({3, 2});
    it.observe<matrix>(xt::transpose(a), a.data(), span_of(a), from_0);
  });

  // Clang 19 finds the containers of dynamic rank in xtensor 0.24 ambiguous, so that their rows are observed with GCC only.
#if defined(__clang__)
  for (const auto& [kind, behaviour] :
       {Row{"`xt::xarray`", writable}, Row{"`xt::strided_view` of rows", writable}, Row{"`xt::strided_view` of columns", fails},
        Row{"`xt::reshape_view(a, {2, 3})`", refused}, Row{"`xt::index_view`, `xt::filter`: single elements", refused}})
    rows.push_back({kind, behaviour});
#else
  add("`xt::xarray`", writable, [&](Observer it) {
    xt::xarray<float> a = counted<2>({2, 3});
    it.observe<matrix>(a, a.data(), span_of(a), from_0);
  });
  add("`xt::strided_view` of rows", writable, [&](Observer it) {
    auto a = counted<2>({5, 3});
    it.observe<matrix>(xt::strided_view(a, {xt::range(2, 4), xt::all()}), a.data() + 6, span_of(a), from_6);
  });
  add("`xt::strided_view` of columns", fails, [&](Observer it) {
    auto a = counted<2>({2, 5});
    it.observe<matrix>(xt::strided_view(a, {xt::all(), xt::range(1, 4)}), a.data() + 1, span_of(a), from_0);
  });
  add("`xt::reshape_view(a, {2, 3})`", refused, [&](Observer it) {
    auto a = counted<1>({6});
    it.observe<matrix>(xt::reshape_view(a, {2, 3}), a.data(), span_of(a), from_0);
  });
  add("`xt::index_view`, `xt::filter`: single elements", refused, [&](Observer it) {
    auto a = counted<1>({12});
    it.observe<row>(xt::filter(a, a >= 6), a.data() + 6, span_of(a), from_6);
  });
#endif

  add("an expression: `a + b`", refused, [&](Observer it) {
    auto a = counted<2>({2, 3});
    it.observe<matrix>(a + a, nullptr, span_of(a), from_0);
  });
  add("rows of an expression", refused, [&](Observer it) {
    auto a = counted<2>({5, 3});
    it.observe<matrix>(xt::view(a + 0.f, xt::range(2, 4)), nullptr, span_of(a), from_6);
  });
  add("`xt::broadcast(a, {2, 3})`", refused, [&](Observer it) {
    auto a = counted<1>({3});
    it.observe<matrix>(xt::broadcast(a, {2, 3}), nullptr, span_of(a), from_0);
  });
  add("`xt::eval(a + b)`", read_only, [&](Observer it) {
    auto a = counted<2>({2, 3});
    auto sum = xt::eval(a + a);
    it.observe<matrix>(std::move(sum), sum.data(), span_of(sum), Floats{0, 2, 4, 6, 8, 10});
  });

  add("another dtype", refused, [&](Observer it) {
    xt::xtensor<double, 2> a = counted<2>({2, 3});
    it.observe<matrix>(a, nullptr, {}, from_0);
  });
  add("`std::vector<bool>`", refused, [&](Observer it) {
    std::vector<bool> a(6);
    it.observe<row>(a, nullptr, {}, from_0);
  });
  add("another shape, known at run time", fails, [&](Observer it) {
    auto a = counted<2>({3, 2});
    it.observe<matrix>(a, a.data(), span_of(a), from_0);
  });
  add("another number of elements: `std::array<float, 5>`", fails, [&](Observer it) {
    std::array<float, 5> a{};
    it.observe<row>(a, a.data(), a, from_0);
  });
  add("another shape in the type: `float[5]`, `xt::xtensor_fixed`", refused, [&](Observer it) {
    float a[5]{};
    it.observe<row>(a, a, a, from_0);
    Behaviour fixed_seen{};
    xt::xtensor_fixed<float, xt::xshape<3, 2>> fixed;
    Observer(fixed_seen).observe<matrix>(fixed, fixed.data(), {}, from_0);
    CHECK(fixed_seen == refused);
  });

  add("the session's own outputs: `outputs[\"y\"_s]` of its last `run`", {copied, in_place, copied}, [&](Observer it) {
    tw::Session<copy<matrix>> session({.threads = 1});
    auto y = session.run("x"_s = counted<2>({2, 3}))["y"_s];
    it.observe_in<matrix>(session, y, y.data(), span_of(y), from_0);
  });
  add("the session's own variables: `session.variables()[\"w\"_s]`", {copied, throws, copied}, [&](Observer it) {
    tw::Session<copy<matrix>> session({.threads = 1});
    session.write_variable_data("w"_s, counted<2>({2, 3}));
    auto w = session.variables()["w"_s];
    it.observe_in<matrix>(session, w, w.data(), span_of(w), from_0);
  });
  return rows;
}

std::string page() {
  std::ostringstream text;
  text << R"(# Arrays of the host

This page says what a session does with each kind of array. The table comes from
[tests/run/sessions/host_arrays.cpp](../../tests/run/sessions/host_arrays.cpp), which gives each kind of array to a session and
checks values and addresses, and writes this page. The elements are float32. The tensor's shape is (2, 3) unless a row says
something else. [Sessions](../how-to/sessions.md) says how arrays are given.

- **in place**: the run reads or writes the elements where they are.
- **a copy**: the session copies the elements first. A variable always takes a copy.
- **compile error**: the program does not compile. The message says what you gave and what the session expects.
- **exception**: the session throws `std::invalid_argument` before anything runs. The reason is the array's strides, its shape, or
  memory that it shares with others.

The rule is: elements must be in row-major order without gaps. The first element can be anywhere. If a session refuses an array
because of its strides, or because it is an expression, pass a copy: `xt::xtensor<float, 2>(array)`.

`xt::view`, `xt::row`, `xt::col`, `xt::index_view`, `xt::filter` and `xt::random` need `#include <tilewright/xtensor.hpp>`. The
other arrays of xtensor in this table come with `tilewright.hpp`.

| array | input of `run` | output of `run_with_outputs` | value in `write_variable_data` |
| --- | --- | --- | --- |
)";
  for (const Row& row : observe_all()) text << "| " << row.kind << " | " << row.behaviour << " |\n";
  text << R"(
The inputs of `run_with_outputs` follow the rules of `run`. Its outputs must not share memory with its inputs, with each other, or
with the session's variables. Otherwise it throws `std::invalid_argument`. An expression has no memory, because it computes its
elements on demand. A view of an expression has no memory either. A temporary that owns its elements cannot be an output, because
nobody could read the result.
)";
  return text.str();
}
const char* const page_file = TILEWRIGHT_REFERENCE_DIR "/../../docs/generated/host-arrays.md";

}  // namespace

TEST_CASE("arrays of the host are read in place, copied or refused as docs/generated/host-arrays.md says") {
  CHECK(page() == file_content(page_file));
}
TEST_CASE("write docs/generated/host-arrays.md", "[.]") { std::ofstream(page_file) << page(); }
