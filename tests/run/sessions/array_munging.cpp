// labels: standard-library
// Arrays of the host in shards and repeated: each element is where its indices say.
#include "tilewright/session/array_munging.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>

#include "../../catch.hpp"
#include "tilewright/core/dtype.hpp"

namespace {

namespace munging = tilewright::array_munging;
using Catch::Matchers::Message;
template <std::size_t rank> using Array = xt::xtensor<std::int32_t, rank>;
template <std::size_t rank> using Extents = std::array<std::size_t, rank>;

/// Each element of a (4, 6, 2) array tells its indices.
std::int32_t element(std::size_t i, std::size_t j, std::size_t k) { return static_cast<std::int32_t>(100 * i + 10 * j + k); }
Array<3> whole() {
  Array<3> result({4, 6, 2});
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 6; ++j)
      for (std::size_t k = 0; k < 2; ++k) result(i, j, k) = element(i, j, k);
  return result;
}
/// Calls f(p, i, j, k) for each element of an array of four axes.
void for_each_index(const Array<4>& array, auto f) {
  for (std::size_t p = 0; p < array.shape(0); ++p)
    for (std::size_t i = 0; i < array.shape(1); ++i)
      for (std::size_t j = 0; j < array.shape(2); ++j)
        for (std::size_t k = 0; k < array.shape(3); ++k) f(p, i, j, k);
}

}  // namespace

TEST_CASE("a shard has the elements of its part of an axis") {
  const Array<4> rows = munging::shard(whole(), 2), columns = munging::shard(whole(), 3, 1),
                 last = munging::shard(whole(), 2, -1);
  REQUIRE(rows.shape() == Extents<4>{2, 2, 6, 2});
  REQUIRE(columns.shape() == Extents<4>{3, 4, 2, 2});
  REQUIRE(last.shape() == Extents<4>{2, 4, 6, 1});
  for_each_index(rows, [&](auto p, auto i, auto j, auto k) { CHECK(rows(p, i, j, k) == element(2 * p + i, j, k)); });
  for_each_index(columns, [&](auto p, auto i, auto j, auto k) { CHECK(columns(p, i, j, k) == element(i, 2 * p + j, k)); });
  for_each_index(last, [&](auto p, auto i, auto j, auto k) { CHECK(last(p, i, j, k) == element(i, j, p + k)); });
  CHECK(munging::shard(whole(), 1, 1).shape() == Extents<4>{1, 4, 6, 2});
  CHECK((munging::shard(Array<1>{1, 2, 3, 4}, 2) == Array<2>{{1, 2}, {3, 4}}));
}
TEST_CASE("popxl.addons' tables of shards and repeats") {
  const Array<2> rows{{0, 1}, {2, 3}, {4, 5}, {6, 7}};
  CHECK((munging::shard(rows, 2, 0) == Array<3>{{{0, 1}, {2, 3}}, {{4, 5}, {6, 7}}}));
  CHECK((munging::shard(rows, 2, 1) == Array<3>{{{0}, {2}, {4}, {6}}, {{1}, {3}, {5}, {7}}}));
  // columns, and rows of these: the shard of one replica of 2 x 2
  const Array<4> blocks = munging::shard(munging::shard(rows, 2, 1), 2, 1);
  CHECK((blocks == Array<4>{{{{0}, {2}}, {{1}, {3}}}, {{{4}, {6}}, {{5}, {7}}}}));
  CHECK((munging::repeat(Array<1>{0, 1, 2}, 2) == Array<2>{{0, 1, 2}, {0, 1, 2}}));
  CHECK((munging::repeat(Array<1>{0, 1, 2}, 2, 1) == Array<2>{{0, 0}, {1, 1}, {2, 2}}));
}
TEST_CASE("joined shards are the array") {
  for (const int axis : {0, 1, 2, -1, -2, -3}) CHECK((munging::unshard(munging::shard(whole(), 2, axis), axis) == whole()));
  const Array<2> joined = munging::unshard(Array<3>{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}, 1);
  CHECK((joined == Array<2>{{1, 2, 5, 6}, {3, 4, 7, 8}}));
}
TEST_CASE("a repeated array has copies along a new axis") {
  const Array<4> first = munging::repeat(whole(), 3), middle = munging::repeat(whole(), 3, 1),
                 last = munging::repeat(whole(), 3, -1);
  REQUIRE(first.shape() == Extents<4>{3, 4, 6, 2});
  REQUIRE(middle.shape() == Extents<4>{4, 3, 6, 2});
  REQUIRE(last.shape() == Extents<4>{4, 6, 2, 3});
  for_each_index(first, [&](auto p, auto i, auto j, auto k) { CHECK(first(p, i, j, k) == element(i, j, k)); });
  for_each_index(middle, [&](auto i, auto p, auto j, auto k) { CHECK(middle(i, p, j, k) == element(i, j, k)); });
  for_each_index(last, [&](auto i, auto j, auto k, auto p) { CHECK(last(i, j, k, p) == element(i, j, k)); });
  const xt::xtensor<tilewright::float16_t, 0> number(static_cast<tilewright::float16_t>(0.5f));
  CHECK(munging::repeat(number, 2).shape() == Extents<1>{2});
}
TEST_CASE("counts and axes that an array cannot have are errors") {
  CHECK_THROWS_MATCHES(munging::shard(whole(), 4, 1), std::invalid_argument,
                       Message("shard: (4, 6, 2) in 4 shards along axis 1: a divisor of 6 expected"));
  CHECK_THROWS_MATCHES(munging::shard(whole(), 0), std::invalid_argument,
                       Message("shard: (4, 6, 2) in 0 shards: at least 1 expected"));
  CHECK_THROWS_MATCHES(munging::shard(whole(), 2, 3), std::invalid_argument,
                       Message("shard: (4, 6, 2) in 2 shards: axis 3: one from -3 to 2 expected"));
  CHECK_THROWS_MATCHES(munging::unshard(whole(), 2), std::invalid_argument,
                       Message("unshard: (4, 6, 2): axis 2: one from -2 to 1 expected"));
  CHECK_THROWS_MATCHES(munging::repeat(whole(), -1), std::invalid_argument,
                       Message("repeat: (4, 6, 2) -1 times: at least 1 expected"));
  CHECK_THROWS_MATCHES(munging::repeat(whole(), 2, -5), std::invalid_argument,
                       Message("repeat: (4, 6, 2) 2 times: axis -5: one from -4 to 3 expected"));
}
