// labels: quick
// Text, shapes, dtypes and names of types.
#include "tilewright/core/fixed_vector.hpp"
#include "tilewright/core/tensor_spec.hpp"
#include "tilewright/core/text/type_name.hpp"
#include "tilewright/operand/view.hpp"

namespace tw = tilewright;
using tw::Shape, tw::Text;

// ---- Text: made of strings and numbers, compared as strings
static_assert(tw::text("a", 1, ":", -20, Text("b")) == "a1:-20b");
static_assert(tw::text(0) == "0");
static_assert(tw::text(INT64_MAX) == "9223372036854775807");
static_assert(tw::text(INT64_MIN) == "-9223372036854775808");
static_assert(tw::text(UINT64_MAX) == "18446744073709551615");
static_assert([] {
  char name[3]{};  // no literal: GCC does not know its length before it runs
  name[0] = 'x';
  return tw::text(name, 1) == "x1";
}());
static_assert(tw::text() == "" && Text().empty() && Text("abc").size() == 3);
static_assert(Text("10") < Text("2") && Text("bias") < Text("weight") && Text("a") < Text("ab"));
// A name is a Text or a std::string_view: functions of either take both, and both compare with literals.
constexpr std::size_t size_of_name(std::string_view name) { return name.size(); }
constexpr std::size_t size_of_text(const Text& name) { return name.size(); }
static_assert(size_of_name(Text("bias")) == 4 && size_of_text(std::string_view("bias")) == 4 && size_of_text("bias") == 4);
static_assert(Text("a") == "a" && Text("a") == std::string_view("a") && std::string_view("a") == Text("a") && "a" == Text("a"));
static_assert(Text("a") != std::string_view("b") && Text("a") < "b" && Text("a") < std::string_view("b") && "a" < Text("b"));
static_assert(Text("fc1.weight").starts_with("fc1.") && Text("fc1.weight").ends_with(".weight") && !Text("a").starts_with("ab"));
constexpr Text joined(int count) {
  std::vector<Text> pieces;
  for (int i = 0; i < count; ++i) pieces.push_back(tw::text(i));
  return tw::join(pieces, ", ");
}
static_assert(joined(3) == "0, 1, 2" && joined(1) == "0" && joined(0) == "");

// ---- Shape
static_assert(Shape{8, 28, 28}.rank == 3 && Shape{}.rank == 0);
static_assert(Shape{8, 28, 28}.nelms() == 6272 && Shape{}.nelms() == 1 && Shape{3, 0}.nelms() == 0);
static_assert(Shape{2, 3, 5}[0] == 2 && Shape{2, 3, 5}[-1] == 5 && Shape{2, 3, 5}[-3] == 2);
static_assert(Shape{2, 3} == Shape{2, 3} && Shape{2, 3} != Shape{3, 2} && Shape{2} != Shape{2, 1} && Shape{} != Shape{1});
static_assert(to_text(Shape{8, 784}) == "(8, 784)" && to_text(Shape{512}) == "(512,)" && to_text(Shape{}) == "()");
static_assert(tw::dense_strides({2, 3, 5}) == std::array<std::int64_t, tw::max_rank>{15, 5, 1});

// ---- DType: PopXL's names, sizes and kinds, and the C++ types
static_assert(to_text(tw::float32) == "float32" && to_text(tw::float16) == "float16" && to_text(tw::boolean) == "bool");
static_assert(to_text(tw::uint8) == "uint8" && to_text(tw::int64) == "int64" && to_text(tw::float64) == "float64");
static_assert(is_floating_point(tw::float16) && is_floating_point(tw::float64) && !is_floating_point(tw::uint64));
static_assert(is_int(tw::int8) && is_int(tw::uint64) && !is_int(tw::boolean) && !is_int(tw::float16));
static_assert(to_text(tw::bfloat16) == "bfloat16" && is_floating_point(tw::bfloat16) && is_half(tw::bfloat16) &&
              size_of(tw::bfloat16) == 2);
static_assert(size_of(tw::boolean) == 1 && size_of(tw::float16) == 2 && size_of(tw::float32) == 4 && size_of(tw::int64) == 8);
static_assert(std::same_as<tw::element_t<tw::int32>, std::int32_t> && std::same_as<tw::element_t<tw::float32>, float>);
static_assert(tw::dtype_of<float> == tw::float32 && tw::dtype_of<bool> == tw::boolean && tw::dtype_of<const int&> == tw::int32);
static_assert(tw::dtype_of<long> == tw::int64 && tw::dtype_of<unsigned long long> == tw::uint64 &&
              tw::dtype_of<signed char> == tw::int8);
static_assert(tw::dtype_of<tw::bfloat16_t> == tw::bfloat16 && tw::has_arithmetic(tw::bfloat16));
static_assert(tw::dtype_of<tw::float16_t> == tw::float16 && tw::dtype_of<double> == tw::float64);

constexpr bool every_dtype_visits_a_type_of_its_size() {
  for (int i = 0; i <= static_cast<int>(tw::float8_152); ++i) {
    const auto dtype = static_cast<tw::DType>(i);
    const bool fits = visit_dtype(dtype, []<class T>(std::type_identity<T>) { return tw::dtype_of<T>; }) == dtype &&
                      visit_dtype(dtype, []<class T>(std::type_identity<T>) { return sizeof(T); }) ==
                          static_cast<std::size_t>(size_of(dtype));
    if (!fits) return false;
  }
  return true;
}
static_assert(every_dtype_visits_a_type_of_its_size());
static_assert(tw::computes_in_float(tw::bfloat16) && tw::computed_dtype(tw::bfloat16) == tw::float32);
static_assert(tw::computes_in_float(tw::float16) && tw::computes_in_float(tw::float32) && !tw::computes_in_float(tw::float64));
static_assert(!tw::computes_in_float(tw::int32) && !tw::computes_in_float(tw::boolean) && !is_floating_point(tw::boolean));
static_assert(tw::dtype_of<char> == (std::is_signed_v<char> ? tw::int8 : tw::uint8) && tw::dtype_of<long long> == tw::int64);
static_assert(tw::detail::dtype_column(&tw::detail::DTypeFacts::npy)[8] == "<u8");

// ---- TensorSpec
static_assert(to_text(tw::TensorSpec{{8, 784}, tw::float32}) == "(8, 784) float32");
static_assert(tw::TensorSpec{{8, 784}, tw::float16}.bytes() == 2 * 8 * 784);
static_assert(tw::TensorSpec{{2}, tw::float32} != tw::TensorSpec{{2}, tw::int32});

// ---- FixedVector
constexpr tw::FixedVector<int, 3> two_numbers() {
  tw::FixedVector<int, 3> result;
  result.push_back(7);
  result.push_back(9);
  return result;
}
static_assert(two_numbers().size() == 2 && two_numbers()[1] == 9 && two_numbers() == two_numbers());

// ---- names of types
struct Plain {};
template <class...> struct Template {
  struct Inner {};
};
namespace app::layers {
struct Nested {};
}  // namespace app::layers
namespace {
struct Hidden {};
}  // namespace
constexpr bool local_types_have_names() {
  struct Local {};
  return tw::type_name<Local>() == "Local";
}
static_assert(tw::type_name<Plain>() == "Plain");
static_assert(tw::type_name<app::layers::Nested>() == "Nested");
static_assert(tw::type_name<Template<app::layers::Nested, int>>() == "Template");
static_assert(tw::type_name<Template<int>::Inner>() == "Inner");
static_assert(tw::type_name<Hidden>() == "Hidden");
static_assert(local_types_have_names());
static_assert(tw::type_name<decltype([](int) {})>().empty(), "a lambda has no name");

// The first items of a list, by names of their own.
constexpr int difference() {
  const auto [a, b] = tw::List<int>{7, 3, 1}.as<2>();
  return a - b;
}
static_assert(difference() == 4 && tw::List<int>{}.as<0>().empty());

// Lists with an index of their own.
namespace {
enum class Row : int {};
enum class Column : int {};
enum class RowId : int { none = -1 };
enum class Mode : std::int64_t { one, none };
template <class L, class I>
concept takes = requires(L list, I i) { list[i]; };
}  // namespace
static_assert(takes<tw::List<int, Row>, Row>);
static_assert(!takes<tw::List<int, Row>, Column>, "another enumeration");
static_assert(!takes<tw::List<int, Row>, int>, "a bare number");
static_assert(takes<tw::List<int>, int> && takes<tw::List<int>, std::size_t>);
static_assert(!takes<tw::List<int>, Row>);

// Ids: texts show their numbers. Other enumerations have none.
static_assert(tw::text("row ", RowId(12), ", ", RowId::none) == "row 12, -1");
static_assert(tw::Id<RowId> && !tw::Id<int> && !tw::Id<Row> && !tw::Id<Mode> && !tw::Id<tw::DType>);

// ---- Views: rows of several matrices that are as far apart as those of one
constexpr bool rows_are_one(const Shape& shape, const std::array<std::int64_t, tw::max_rank>& strides, const Shape& result) {
  return tw::rows_are_one_matrix({tw::float32, shape, strides}, result);
}
static_assert(rows_are_one({2, 3, 5}, {15, 5, 1}, {2, 3, 5}) && rows_are_one({2, 3, 5}, {60, 20, 1}, {2, 3, 5}));
static_assert(!rows_are_one({2, 3, 5}, {5, 10, 1}, {2, 3, 5}), "rows of the matrices in turn");
static_assert(!rows_are_one({2, 3, 5}, {40, 5, 1}, {2, 3, 5}), "elements between the matrices");
static_assert(rows_are_one({4, 2, 3, 5}, {30, 15, 5, 1}, {4, 2, 3, 5}) &&
              !rows_are_one({4, 2, 3, 5}, {15, 60, 5, 1}, {4, 2, 3, 5}));
static_assert(rows_are_one({5}, {1}, {2, 3, 5}) && rows_are_one({1, 1, 5}, {5, 5, 1}, {2, 3, 5}), "the same row for all");
static_assert(!rows_are_one({3, 5}, {5, 1}, {2, 3, 5}), "the same rows for all matrices");
static_assert(!rows_are_one({2, 1, 5}, {5, 5, 1}, {2, 3, 5}), "a row for each matrix");
