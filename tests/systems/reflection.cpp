// Names of members without a macro, where the compiler has reflection: `-std=c++26 -freflection`.
#include <array>
#include <string_view>
#include <tuple>

#include "tilewright/layers/linear.hpp"
#include "tilewright/module/create_graph.hpp"
#include "tilewright/module/module_list.hpp"

#ifndef __cpp_impl_reflection
#error "a compiler with reflection expected"
#endif

namespace tw = tilewright;
using tw::Tensor, tw::layers::Linear;

template <class M>
constexpr bool has_names(std::initializer_list<std::string_view> expected) {
  tw::Ir ir;
  const auto names = tw::create_graph(ir, M{}, tw::TensorSpec{{2, 4}, tw::float32}).factories.keys_flat();
  if (names.size() != expected.size()) return false;
  std::size_t next = 0;
  for (const std::string_view name : expected)
    if (names[next++].view() != name) return false;
  return true;
}

struct Block : tw::Module<Block> {
  Linear<4> up;
  const int count = 1;
  unsigned scale : 3 = 2;
  std::array<double, 100'000> numbers{};
  constexpr Tensor build(Tensor x) { return down(up(x)) * scale; }

 private:
  Linear<4, {.bias = false}> down;
};
static_assert(has_names<Block>({"up.weight", "up.bias", "down.weight"}));

struct WithMacro : tw::Module<WithMacro> {
  BOOST_HANA_DEFINE_STRUCT(WithMacro, (Linear<4>, named));
  constexpr Tensor build(Tensor x) { return named(x); }
};
struct Net : tw::Module<Net> {
  using Last = tw::ModuleList<Linear<4, {.bias = false}>, WithMacro>;
  std::array<Block, 2> blocks;
  std::tuple<Linear<4>, int> pair;
  Last last;
  constexpr Tensor build(Tensor x) {
    for (Block& block : blocks) x = block(x);
    return last.get<1>()(last.get<0>()(std::get<0>(pair)(x)));
  }
};
static_assert(has_names<Net>({"blocks.0.up.weight", "blocks.0.up.bias", "blocks.0.down.weight", "blocks.1.up.weight",
                              "blocks.1.up.bias", "blocks.1.down.weight", "pair.0.weight", "pair.0.bias", "last.0.weight",
                              "last.1.named.weight", "last.1.named.bias"}));

/// More members than the macro takes.
struct Wide : tw::Module<Wide> {
  using L = Linear<4, {.bias = false}>;
  L a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27,
      a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40, a41;
  constexpr Tensor build(Tensor x) { return a41(a40(x)); }
};
static_assert(has_names<Wide>({"a40.weight", "a41.weight"}));

int main() {}
