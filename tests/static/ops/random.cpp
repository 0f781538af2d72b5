// labels: none
// Random numbers that can be computed when a program is compiled.
#include "tilewright/ops/random/random.hpp"

#include "tilewright/session/seeds.hpp"

namespace tw = tilewright;

// ---- Philox and seeds are constant expressions
static_assert(tw::philox({}, {}) == tw::PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(tw::uint64_to_two_uint32(0x0123456789abcdef) == std::array<std::uint32_t, 2>{0x01234567, 0x89abcdef});
static_assert(tw::two_uint32_to_uint64(0x01234567u, 0x89abcdefu) == 0x0123456789abcdef);

static_assert([] {
  tw::Ir ir;
  return tw::ops::split_random_seed(ir.constant({1, 2}, {2}, tw::uint32), 300).size() == 300;
}());

// ---- numbers of the dtype
static_assert(tw::detail::uniform_bounds(0, 1, tw::float16).most == 1 - 0x1p-11);
static_assert(tw::detail::uniform_bounds(-2, -1, tw::float32).most == -1 - 0x1p-23);
static_assert(tw::detail::uniform_bounds(-1, 0, tw::float64).most < 0);
static_assert(tw::detail::dropout_threshold(0) == 0 && tw::detail::dropout_threshold(0.5) == 0x80000000);
static_assert(tw::detail::dropout_threshold(1 - 0x1p-50) == 0xffffffff, "something may be left");
