// labels: clang strict tsan
// Kernels that are expressions of xtensor: all dtypes and layouts, against loops in double.
#include "../../support/count_allocations.hpp"
#include "../../support/elements.hpp"
#include "tilewright/array.hpp"
#include "tilewright/xtensor.hpp"

namespace authoring = tw::authoring;

namespace {

constexpr tw::ViewSpec dense(tw::DType dtype, const tw::Shape& shape) {
  return tw::written_out({dtype, shape, tw::dense_strides(shape)});
}
constexpr tw::ViewSpec with_strides(tw::DType dtype, const tw::Shape& shape, std::array<std::int64_t, tw::max_rank> strides) {
  return tw::written_out({dtype, shape, strides});
}

/// Memory around a view's first element, and the view.
template <tw::ViewSpec spec>
struct Memory {
  using T = tw::element_t<spec.dtype>;
  static constexpr std::int64_t room = 4096;
  std::vector<T> elements = std::vector<T>(2 * room);

  explicit Memory(int seed = 1) {
    std::uint32_t state = static_cast<std::uint32_t>(seed);
    for (T& element : elements) {
      state = state * 1664525u + 1013904223u;
      const double value = static_cast<double>(state >> 16) / 16384 - 2;  // from -2 to 2
      element = std::is_same_v<T, std::int32_t> ? static_cast<T>(static_cast<int>(value * 50))
                                                : static_cast<T>(static_cast<float>(value));
    }
  }
  tw::View<spec, true> input() { return {elements.data() + room}; }
  tw::View<spec> output() { return {elements.data() + room}; }
  double operator()(std::int64_t i, std::int64_t j) const {
    return static_cast<double>(static_cast<tw::compute_t<T>>(
        elements[static_cast<std::size_t>(room + i * spec.stride(0) + (spec.shape.rank > 1 ? j * spec.stride(1) : 0))]));
  }
};

template <tw::ViewSpec spec>
constexpr double tolerance = spec.dtype == tw::float16    ? 6e-4
                             : spec.dtype == tw::bfloat16 ? 5e-3
                             : spec.dtype == tw::float64  ? 1e-13
                                                          : 1e-6;

/// Elements, rows and columns of an array of 5 x 37.
template <tw::ViewSpec in, tw::ViewSpec out, tw::DType dtype = out.dtype>
void check() {
  Memory<in> x;
  Memory<out> y(2);
  constexpr std::int64_t rows = in.shape[0], columns = in.shape[1];
  const auto near = [](double given, double expected) {
    CHECK_THAT(given, Catch::Matchers::WithinAbs(expected, tolerance<out> * (1 + std::abs(expected))));
  };
  const auto a = x.input().array();
  if constexpr (dtype == tw::int32) y.output().array() = 3 * a - authoring::max<1>(a, xt::keep_dims);
  else y.output().array() = 3 * xt::exp(-a) - authoring::max<1>(a, xt::keep_dims);
  for (std::int64_t i = 0; i < rows; ++i) {
    double largest = x(i, 0);
    for (std::int64_t j = 1; j < columns; ++j) largest = std::max(largest, x(i, j));
    for (std::int64_t j = 0; j < columns; ++j) near(y(i, j), 3 * (dtype == tw::int32 ? x(i, j) : std::exp(-x(i, j))) - largest);
  }
  Memory<dense(dtype, {rows})> of_rows;
  Memory<dense(dtype, {columns})> of_columns;
  of_rows.output().array() = authoring::sum<1>(xt::square(a));
  of_columns.output().array() = authoring::sum<0>(a * 2) + 1;
  for (std::int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < columns; ++j) sum += x(i, j) * x(i, j);
    near(of_rows(i, 0), sum);
  }
  for (std::int64_t j = 0; j < columns; ++j) {
    double sum = 1;
    for (std::int64_t i = 0; i < rows; ++i) sum += 2 * x(i, j);
    near(of_columns(j, 0), sum);
  }
}
template <tw::DType dtype>
void check_dtype() {
  check<dense(dtype, {5, 37}), dense(dtype, {5, 37})>();
}

}  // namespace

TEST_CASE("arrays of all dtypes") {
  check_dtype<tw::float32>();
  check_dtype<tw::float64>();
  check_dtype<tw::float16>();
  check_dtype<tw::bfloat16>();
  check_dtype<tw::int32>();
}

TEST_CASE("arrays of all layouts") {
  check<with_strides(tw::float32, {5, 37}, {1, 5}), dense(tw::float32, {5, 37})>();          // transposed
  check<dense(tw::float32, {5, 37}), with_strides(tw::float32, {5, 37}, {1, 5})>();          // into a transposed one
  check<with_strides(tw::float32, {5, 37}, {-37, -1}), dense(tw::float32, {5, 37})>();       // reversed
  check<with_strides(tw::float16, {5, 37}, {100, 2}), with_strides(tw::float16, {5, 37}, {80, -2})>();  // parts
  check<with_strides(tw::float32, {5, 37}, {0, 1}), dense(tw::float32, {5, 37})>();          // broadcast
  check<with_strides(tw::bfloat16, {5, 37}, {1, 0}), dense(tw::bfloat16, {5, 37})>();
}

TEST_CASE("arrays of several dtypes, scalars and functions") {
  Memory<dense(tw::float32, {3, 4})> x;
  Memory<dense(tw::int32, {4})> n;
  Memory<dense(tw::float64, {3, 4})> y;
  Memory<dense(tw::float32, {})> scalar;
  y.output().array() = x.input().array() * n.input().array() + scalar.input().array();
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j)
      CHECK(y(i, j) ==
            static_cast<double>(static_cast<float>(x(i, j)) * static_cast<float>(n(j, 0)) + scalar.elements[scalar.room]));
  Memory<dense(tw::int32, {3, 4})> whole;
  whole.output().array() = 10 * x.input().array();  // truncated
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) CHECK(whole(i, j) == std::trunc(static_cast<float>(10 * x(i, j))));
  Memory<dense(tw::int32, {4})> halves;
  halves.output().array() = 0.5 * n.input().array();  // in double, truncated
  for (int j = 0; j < 4; ++j) CHECK(halves(j, 0) == std::trunc(0.5 * n(j, 0)));
  Memory<dense(tw::float32, {3, 4})> z;
  z.output().array() = x.input().array() > 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) CHECK(z(i, j) == (x(i, j) > 0 ? 1 : 0));
  z.output().array() = 1.5;
  CHECK(z(2, 3) == 1.5);
  z.output().array() = authoring::mean(x.input().array());
  CHECK(z(0, 0) == z(2, 3));
  z.output().array() = xt::where(x.input().array() > 0, x.input().array(),
                                 xt::make_lambda_xfunction([](auto e) { return tw::math::sigmoid(e); }, x.input().array()));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) CHECK(std::abs(z(i, j) - (x(i, j) > 0 ? x(i, j) : 1 / (1 + std::exp(-x(i, j))))) < 1e-6);
  Memory<dense(tw::float32, {4, 1})> column;  // the last axis has one element
  Memory<dense(tw::float32, {4, 1})> twice;
  twice.output().array() = 2 * column.input().array();
  for (int i = 0; i < 4; ++i) CHECK(twice(i, 0) == 2 * column(i, 0));
  // xtensor takes arrays as it takes its own
  const xt::xtensor<float, 2> copy = z.output().array() + 1;
  CHECK(copy(1, 2) == static_cast<float>(z(1, 2)) + 1);
  CHECK(xt::view(x.input().array(), 1, xt::all())(2) == static_cast<float>(x(1, 2)));
}

TEST_CASE("arrays reduced over several axes") {
  Memory<dense(tw::float32, {3, 4, 5})> x;
  Memory<dense(tw::float32, {4})> sums;
  Memory<dense(tw::float32, {5})> means;
  Memory<dense(tw::float32, {})> least;
  const auto at = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    return static_cast<double>(x.elements[static_cast<std::size_t>(x.room + (i * 4 + j) * 5 + k)]);
  };
  const auto a = x.input().array();
  sums.output().array() = authoring::sum<0, -1>(a);
  means.output().array() = authoring::mean<0, 1>(a);
  least.output().array() = authoring::min(a);
  double all = 1e9;
  for (std::int64_t j = 0; j < 4; ++j) {
    double sum = 0;
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t k = 0; k < 5; ++k) sum += at(i, j, k), all = std::min(all, at(i, j, k));
    CHECK(std::abs(sums(j, 0) - sum) < 1e-5);
  }
  for (std::int64_t k = 0; k < 5; ++k) {
    double sum = 0;
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t j = 0; j < 4; ++j) sum += at(i, j, k);
    CHECK(std::abs(means(k, 0) - sum / 12) < 1e-6);
  }
  CHECK(least(0, 0) == all);
  Memory<dense(tw::float32, {50, 3, 1})> narrow;  // its axes are one run
  Memory<with_strides(tw::float32, {50, 3, 1}, {4, 1, 1})> apart;
  const auto sum_of = [&](auto& memory, std::int64_t row) {
    double sum = 0;
    for (std::int64_t i = 0; i < 50; ++i)
      for (std::int64_t k = 0; k < 3; ++k) sum += memory.elements[static_cast<std::size_t>(memory.room + i * row + k)];
    return sum;
  };
  Memory<dense(tw::float32, {})> total;
  total.output().array() = authoring::sum(narrow.input().array());
  CHECK(std::abs(total(0, 0) - sum_of(narrow, 3)) < 1e-5);
  total.output().array() = authoring::sum(apart.input().array());
  CHECK(std::abs(total(0, 0) - sum_of(apart, 4)) < 1e-5);
  total.output().array() = authoring::sum(narrow.input().array() + apart.input().array());
  CHECK(std::abs(total(0, 0) - sum_of(narrow, 3) - sum_of(apart, 4)) < 1e-5);
  x.elements[x.room + 17] = std::numeric_limits<float>::quiet_NaN();
  least.output().array() = authoring::max(a);
  CHECK(std::isnan(least(0, 0)));
}

TEST_CASE("long sums of arrays have the bounds of docs/reference/numerics.md") {
  constexpr std::int64_t terms = 100'000, columns = 20;
  std::vector<float> x(terms * columns, 0.1f);
  std::vector<float> line(1), all(columns);
  tw::View<dense(tw::float32, {})>{line.data()}.array() = authoring::sum(
      tw::View<dense(tw::float32, {terms * columns}), true>{x.data()}.array());
  tw::View<dense(tw::float32, {columns})>{all.data()}.array() = authoring::sum<0>(
      tw::View<dense(tw::float32, {terms, columns}), true>{x.data()}.array());
  const double bound = 264 * 0x1p-24;
  CHECK(std::abs(line[0] / (terms * columns * static_cast<double>(0.1f)) - 1) < bound);
  for (const float sum : all) CHECK(std::abs(sum / (terms * static_cast<double>(0.1f)) - 1) < bound);
  float one_after_the_other = 0;
  for (const float term : x) one_after_the_other += term;
  CHECK(std::abs(one_after_the_other / (terms * columns * static_cast<double>(0.1f)) - 1) > bound);
}

namespace {

/// Bits of what a part of a tensor gives: those of the whole.
template <class F>
void check_parts(F f) {
  static constexpr std::int64_t rows = 67, columns = 61;
  Memory<dense(tw::float32, {rows, columns})> x;
  std::vector<float> whole(rows * columns), part(rows * columns);
  f(x.input(), whole.data(), std::integral_constant<std::int64_t, rows>(), std::integral_constant<std::int64_t, columns>());
  const auto compare = [&](auto first_row, auto count_rows, auto first_column, auto count_columns) {
    constexpr tw::ViewSpec spec = with_strides(tw::float32, {count_rows(), count_columns()}, {columns, 1});
    tw::View<spec, true> view{x.input().data + first_row() * columns + first_column()};
    f(view, part.data() + first_row() * columns + first_column(), count_rows, count_columns);
    for (std::int64_t i = first_row(); i < first_row() + count_rows(); ++i)
      for (std::int64_t j = first_column(); j < first_column() + count_columns(); ++j)
        if (F::is_kept(i - first_row(), j - first_column()))
          CHECK(std::bit_cast<std::uint32_t>(part[static_cast<std::size_t>(i * columns + j)]) ==
                std::bit_cast<std::uint32_t>(
                    whole[static_cast<std::size_t>((F::keeps_rows ? i : 0) * columns + (F::keeps_columns ? j : 0))]));
  };
  using std::integral_constant;
  if constexpr (F::keeps_rows) {
    compare(integral_constant<std::int64_t, 5>(), integral_constant<std::int64_t, 1>(), integral_constant<std::int64_t, 0>(),
            integral_constant<std::int64_t, columns>());
    compare(integral_constant<std::int64_t, 11>(), integral_constant<std::int64_t, 40>(), integral_constant<std::int64_t, 0>(),
            integral_constant<std::int64_t, columns>());
  }
  if constexpr (F::keeps_columns) {
    compare(integral_constant<std::int64_t, 0>(), integral_constant<std::int64_t, rows>(), integral_constant<std::int64_t, 5>(),
            integral_constant<std::int64_t, 1>());
    compare(integral_constant<std::int64_t, 0>(), integral_constant<std::int64_t, rows>(), integral_constant<std::int64_t, 3>(),
            integral_constant<std::int64_t, 50>());
  }
}
struct Elements {
  static constexpr bool keeps_rows = true, keeps_columns = true;
  static bool is_kept(std::int64_t, std::int64_t) { return true; }
  template <class X, class R, class C>
  void operator()(X x, float* to, R, C) const {
    tw::View<with_strides(tw::float32, {R::value, C::value}, {61, 1})>{to}.array() = xt::tanh(x.array()) * xt::exp(x.array()) +
                                                                                     0.3 * x.array() /
                                                                                         (2 - xt::log(xt::square(x.array()) + 1));
  }
};
struct Rows {
  static constexpr bool keeps_rows = true, keeps_columns = false;
  static bool is_kept(std::int64_t, std::int64_t column) { return column == 0; }
  template <class X, class R, class C>
  void operator()(X x, float* to, R, C) const {
    tw::View<with_strides(tw::float32, {R::value}, {61})>{to}.array() = xt::sqrt(authoring::sum<1>(xt::square(x.array())));
  }
};
struct Columns {
  static constexpr bool keeps_rows = false, keeps_columns = true;
  static bool is_kept(std::int64_t row, std::int64_t) { return row == 0; }
  template <class X, class R, class C>
  void operator()(X x, float* to, R, C) const {
    tw::View<with_strides(tw::float32, {C::value}, {1})>{to}.array() = authoring::sum<0>(xt::exp(x.array()));
  }
};

}  // namespace

TEST_CASE("an element's bits do not depend on the part of a tensor that it is computed with") {
  check_parts(Elements());
  check_parts(Rows());
  check_parts(Columns());
}

namespace {

/// What the ops have in common: rows may go to any tile.
template <class D, int outputs_rank>
struct ByRows : authoring::Op<D> {
  constexpr operator authoring::KernelOperands() const { return authoring::KernelOperands{.any_layout = true}; }
  static constexpr void infer(authoring::Inference& op) {
    const tw::TensorSpec x = op.input(0);
    if constexpr (outputs_rank == 1) op.output({{x.shape[0]}, x.dtype});
    else op.output(x);
  }
  static constexpr authoring::Work work(std::span<const tw::TensorSpec> operands, int, const authoring::PackedAttributes&) {
    authoring::Work work;
    const int rows = work.add_axis({.extent = operands[0].shape[0]});
    for (int operand = 0; operand < 2; ++operand) work.follow(operand, 0, rows);
    return work;
  }
};
struct RowNorm : ByRows<RowNorm, 1> {
  static constexpr std::string_view name = "RowNorm";
  template <authoring::PackedAttributes, class X, class Y>
  static void compute(X x, Y y) {
    y.array() = xt::sqrt(authoring::sum<1>(xt::square(x.array())));
  }
};
struct RowSoftmax : ByRows<RowSoftmax, 2> {
  static constexpr std::string_view name = "RowSoftmax";
  template <authoring::PackedAttributes, class X, class... Y>
  static constexpr std::int64_t stack_bytes() {
    return X::shape[1] * 4 + 64;
  }
  template <authoring::PackedAttributes, class X, class Y>
  static void compute(X x, Y y) {
    authoring::for_each_line<1>(
        [](auto line, auto result) {
          const auto powers = authoring::hold(xt::exp(line.array() - authoring::max(line.array())));
          result.array() = powers * (1 / authoring::sum(powers));
        },
        x, y);
  }
};
template <tw::DType dtype>
constexpr void program(tw::Ir& ir) {
  const tw::Tensor x = tw::ops::host_load(ir.h2d_stream("x", {19, 45}, dtype));
  store("norm", authoring::apply<RowNorm>({x}));
  store("columns", authoring::apply<RowNorm>({x.T()}));
  store("softmax", authoring::apply<RowSoftmax>({x}));
}

template <tw::DType dtype>
void check_session() {
  using T = tw::element_t<dtype>;
  xt::xtensor<T, 2> x = xt::zeros<T>({19, 45});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<T>(static_cast<float>(i % 23) / 8 - 1);
  std::vector<T> first;
  on_all_machines<program<dtype>>([&](auto& session) {
    const auto outputs = session.run("x"_s = x);
    const double close = dtype == tw::float32 ? 1e-6 : 1e-3;
    for (std::size_t i = 0; i < 19; ++i) {
      double squares = 0, powers = 0;
      for (std::size_t j = 0; j < 45; ++j) {
        const auto value = static_cast<double>(static_cast<float>(x(i, j)));
        squares += value * value;
        powers += std::exp(value);
      }
      CHECK(std::abs(static_cast<double>(static_cast<float>(outputs["norm"_s](i))) / std::sqrt(squares) - 1) < close);
      for (std::size_t j = 0; j < 45; ++j)
        CHECK(std::abs(static_cast<double>(static_cast<float>(outputs["softmax"_s](i, j))) -
                       std::exp(static_cast<double>(static_cast<float>(x(i, j)))) / powers) < close);
    }
    for (std::size_t j = 0; j < 45; ++j) {
      double squares = 0;
      for (std::size_t i = 0; i < 19; ++i) squares += std::pow(static_cast<double>(static_cast<float>(x(i, j))), 2);
      CHECK(std::abs(static_cast<double>(static_cast<float>(outputs["columns"_s](j))) / std::sqrt(squares) - 1) < close);
    }
    std::vector<T> all = elements(outputs["norm"_s]);
    for (const T& e : elements(outputs["softmax"_s])) all.push_back(e);
    if (first.empty()) first = all;
    CHECK(std::memcmp(all.data(), first.data(), all.size() * sizeof(T)) == 0);  // on all machines, with all numbers of threads
  });
}

}  // namespace

TEST_CASE("ops with arrays give the same bits on all machines and with all numbers of threads") {
  check_session<tw::float32>();
  check_session<tw::float16>();
}

TEST_CASE("a run of ops with arrays allocates nothing") {
  tw::Session<program<tw::float32>> session({.threads = 2});
  const xt::xtensor<float, 2> x = xt::ones<float>({19, 45});
  float sum = 0;
  CHECK(support::allocations_of([&] {
          for (int run = 0; run < 10; ++run) sum += session.run("x"_s = x)["norm"_s](0);
        }) == 0);
  CHECK(sum > 0);
}
