// labels: none
// Kernels of collectives against plain loops, bit by bit: every reduction, dtype and grouping, and work shared in any way.
#include "tilewright/ops/collective/collectives.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "../../catch.hpp"
#include "tilewright/core/random/random.hpp"

namespace {

namespace tw = tilewright;
using tw::CollectiveOperator, tw::DType, tw::GatheredShape, tw::PackedAttributes, tw::ReplicaGroups, tw::TensorSpec;
using tw::ReplicatedAllGather, tw::ReplicatedAllReduce, tw::ReplicatedAllReduceInplace, tw::ReplicatedReduceScatter;

/// A tensor of every replica.
template <class T>
using Replicas = std::vector<std::vector<T>>;

template <class T>
std::vector<T> random_elements(std::int64_t count, tw::Random& random) {
  std::vector<T> result(static_cast<std::size_t>(count));
  for (auto& x : result) {
    const double uniform = random.uniform();
    if (uniform < 0.1) x = T(0);
    else if constexpr (std::is_integral_v<T>) x = static_cast<T>(static_cast<std::int64_t>(uniform * 0x1p32) - 0x7fffffff);
    else x = static_cast<T>(4 * uniform - 2);
  }
  return result;
}
template <class T>
Replicas<T> random_replicas(std::int64_t replicas, std::int64_t count) {
  tw::Random random(static_cast<std::uint64_t>(replicas * count));
  Replicas<T> result;
  for (std::int64_t r = 0; r < replicas; ++r) result.push_back(random_elements<T>(count, random));
  return result;
}

/// What a collective gives if its work is done in shares of so many items, the last ones first.
template <class Op, PackedAttributes attributes, TensorSpec in, TensorSpec out>
auto exchange(Replicas<tw::element_t<in.dtype>> inputs, std::int64_t share) {
  using T = tw::element_t<in.dtype>;
  Replicas<T> outputs(inputs.size(), std::vector<T>(static_cast<std::size_t>(out.nelms()), T(77)));
  Replicas<T>& results = tw::op_info<Op>.modifies == 0 ? inputs : outputs;
  std::vector<std::byte*> operands;
  for (auto& input : inputs) operands.push_back(reinterpret_cast<std::byte*>(input.data()));
  for (auto& result : results) operands.push_back(reinterpret_cast<std::byte*>(result.data()));
  const std::int64_t items = Op::collective_items(attributes, in, out);
  for (std::int64_t first = (items - 1) / share * share; first >= 0; first -= share)
    Op::template run_collective<attributes, in, out>(operands.data(), first, std::min(first + share, items));
  return results;
}

template <class T>
bool same(const Replicas<T>& a, const Replicas<T>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t r = 0; r < a.size(); ++r)
    if (a[r].size() != b[r].size() || std::memcmp(a[r].data(), b[r].data(), a[r].size() * sizeof(T)) != 0) return false;
  return true;
}

/// Replica by replica, in the widest way.
template <class T>
T reduced(CollectiveOperator op, const std::vector<T>& x) {
  const auto count = static_cast<std::int64_t>(x.size());
  if constexpr (std::is_integral_v<T>) {
    std::uint64_t sum = 0, product = 1, squares = 0;  // which wrap around
    std::int64_t exact = 0;
    for (const T value : x) {
      const auto wide = static_cast<std::int64_t>(value);
      sum += static_cast<std::uint64_t>(wide), product *= static_cast<std::uint64_t>(wide), exact += wide;
      squares += static_cast<std::uint64_t>(wide) * static_cast<std::uint64_t>(wide);
    }
    switch (op) {
      case CollectiveOperator::mean:
        if constexpr (std::is_same_v<T, std::uint64_t>) return sum / static_cast<std::uint64_t>(count);
        else return static_cast<T>(exact / count);
      case CollectiveOperator::mul: return static_cast<T>(product);
      case CollectiveOperator::square_add: return static_cast<T>(squares);
      case CollectiveOperator::min: return *std::ranges::min_element(x);
      case CollectiveOperator::max: return *std::ranges::max_element(x);
      case CollectiveOperator::logical_and: return std::ranges::count(x, T(0)) == 0;
      case CollectiveOperator::logical_or: return std::ranges::count(x, T(0)) != count;
      default: return static_cast<T>(sum);
    }
  } else {  // half precision in float
    using Wide = tw::compute_t<T>;
    Wide result = static_cast<Wide>(x[0]);
    if (op == CollectiveOperator::square_add) result *= result;
    if (op == CollectiveOperator::logical_and || op == CollectiveOperator::logical_or) result = result != 0;
    for (std::size_t i = 1; i < x.size(); ++i) {
      const auto value = static_cast<Wide>(x[i]);
      switch (op) {
        case CollectiveOperator::mul: result *= value; break;
        case CollectiveOperator::square_add: result = tw::math::fma(value, value, result); break;
        case CollectiveOperator::min: result = std::min(result, value); break;
        case CollectiveOperator::max: result = std::max(result, value); break;
        case CollectiveOperator::logical_and: result = result != 0 && value != 0; break;
        case CollectiveOperator::logical_or: result = result != 0 || value != 0; break;
        default: result += value;
      }
    }
    if (op == CollectiveOperator::mean) result /= static_cast<Wide>(count);
    return static_cast<T>(result);
  }
}
template <class T>
T reduced_at(CollectiveOperator op, const Replicas<T>& inputs, ReplicaGroups groups, std::size_t replica, std::size_t place) {
  std::vector<T> elements;
  for (std::size_t other = 0; other < inputs.size(); ++other)
    if (groups.group_of(static_cast<std::int64_t>(other)) == groups.group_of(static_cast<std::int64_t>(replica)))
      elements.push_back(inputs[other][place]);
  return reduced(op, elements);
}

/// Checks an op for inputs of random elements against `expected(inputs, replica, place in the result)`.
template <class Op, auto attributes, TensorSpec in, TensorSpec out>
bool agrees(auto expected) {
  using T = tw::element_t<in.dtype>;
  constexpr std::int64_t replicas = attributes.groups.num_replicas;
  const Replicas<T> inputs = random_replicas<T>(replicas, in.nelms());
  Replicas<T> results(static_cast<std::size_t>(replicas), std::vector<T>(static_cast<std::size_t>(out.nelms())));
  for (std::size_t replica = 0; replica < results.size(); ++replica)
    for (std::size_t place = 0; place < results[replica].size(); ++place)
      results[replica][place] = expected(inputs, replica, place);
  for (const std::int64_t share : {1, 3, 1000})
    if (!same(exchange<Op, pack(attributes), in, out>(inputs, share), results)) return false;
  return true;
}

inline constexpr std::array groupings{ReplicaGroups{8, 1, 8}, ReplicaGroups{8, 2, 4}, ReplicaGroups{8, 2, 2},
                                      ReplicaGroups{8, 4, 2}, ReplicaGroups{8, 1, 1}};
inline constexpr std::array dtypes{tw::float32, tw::float16, tw::bfloat16, tw::int32,
                                   tw::uint32,  tw::int8,    tw::uint64,   tw::float64};
inline constexpr std::array operators{
    CollectiveOperator::add, CollectiveOperator::mean,        CollectiveOperator::mul,        CollectiveOperator::min,
    CollectiveOperator::max, CollectiveOperator::logical_and, CollectiveOperator::logical_or, CollectiveOperator::square_add};
/// f with the index as a constant, for each of [0, count).
template <std::size_t count>
void for_each_index(auto f) {
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (f(std::integral_constant<std::size_t, i>()), ...);
  }(std::make_index_sequence<count>());
}
constexpr std::int64_t number(auto enumerator) { return static_cast<std::int64_t>(enumerator); }

template <class Op, DType dtype, CollectiveOperator op, ReplicaGroups groups, std::int64_t extent>
bool reduction_agrees() {
  constexpr TensorSpec spec{{extent}, dtype};
  return agrees<Op, typename Op::Attributes{groups, number(op)}, spec, spec>(
      [](const auto& inputs, std::size_t replica, std::size_t place) { return reduced_at(op, inputs, groups, replica, place); });
}
template <DType dtype, CollectiveOperator op, ReplicaGroups groups, std::int64_t elements>
bool scatter_agrees() {
  constexpr std::int64_t piece = (elements + groups.group_size - 1) / groups.group_size;
  constexpr ReplicatedReduceScatter::Attributes attributes{groups, number(op)};
  return agrees<ReplicatedReduceScatter, attributes, TensorSpec{{elements}, dtype}, TensorSpec{{piece}, dtype}>(
      [](const auto& inputs, std::size_t replica, std::size_t place) {
        using T = tw::element_t<dtype>;
        const auto member = static_cast<std::size_t>(groups.index_in_group(static_cast<std::int64_t>(replica)));
        const std::size_t at = member * static_cast<std::size_t>(piece) + place;
        if (at >= static_cast<std::size_t>(elements)) return T(0);
        return op == CollectiveOperator::local ? inputs[replica][at] : reduced_at(op, inputs, groups, replica, at);
      });
}

TEST_CASE("replicated_all_reduce, replicated_reduce_scatter: all reductions and dtypes") {
  for_each_index<operators.size()>([](auto o) {
    for_each_index<dtypes.size()>([o](auto d) {
      constexpr CollectiveOperator op = operators[o.value];
      constexpr DType dtype = dtypes[d.value];
      INFO(to_text(op) << " of " << to_text(dtype));
      CHECK(reduction_agrees<ReplicatedAllReduce, dtype, op, groupings[1], 1100>());
      if constexpr (dtype == tw::float16) CHECK(scatter_agrees<dtype, op, groupings[1], 1101>());
    });
  });
}

TEST_CASE("replicated_all_reduce, replicated_reduce_scatter: all groupings") {
  for_each_index<groupings.size()>([](auto g) {
    constexpr ReplicaGroups groups = groupings[g.value];
    INFO("stride " << groups.stride << ", groups of " << groups.group_size);
    CHECK(reduction_agrees<ReplicatedAllReduce, tw::float32, CollectiveOperator::add, groups, 2500>());
    CHECK(reduction_agrees<ReplicatedAllReduceInplace, tw::float32, CollectiveOperator::add, groups, 2500>());
    CHECK(reduction_agrees<ReplicatedAllReduceInplace, tw::float16, CollectiveOperator::mean, groups, 1>());
    CHECK(scatter_agrees<tw::float32, CollectiveOperator::add, groups, 9001>());
    CHECK(scatter_agrees<tw::float32, CollectiveOperator::local, groups, 9001>());
    CHECK(scatter_agrees<tw::float16, CollectiveOperator::local, groups, 4>());  // shards of zeros only
    CHECK(scatter_agrees<tw::int32, CollectiveOperator::min, groups, 1>());
  });
}

TEST_CASE("replicated_all_reduce: what is not a number stays so") {
  const auto of = []<CollectiveOperator op>(std::integral_constant<CollectiveOperator, op>) {
    constexpr TensorSpec spec{{3}, tw::float32};
    constexpr ReplicatedAllReduce::Attributes attributes{{2, 1, 2}, number(op)};
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    return exchange<ReplicatedAllReduce, pack(attributes), spec, spec>({{nan, 1, 3}, {2, nan, 4}}, 1)[0];
  };
  for (const auto& results : {of(std::integral_constant<CollectiveOperator, CollectiveOperator::min>()),
                              of(std::integral_constant<CollectiveOperator, CollectiveOperator::max>())}) {
    CHECK(std::isnan(results[0]));
    CHECK(std::isnan(results[1]));
    CHECK(!std::isnan(results[2]));
  }
}

template <ReplicaGroups groups>
std::size_t member(std::size_t replica, std::size_t i) {
  return static_cast<std::size_t>(
      groups.member(groups.group_of(static_cast<std::int64_t>(replica)), static_cast<std::int64_t>(i)));
}
/// A tensor that is cut into slices of an axis, and slices that are put together.
template <DType dtype, ReplicaGroups groups, int axis>
bool slices_agree() {
  constexpr std::array<std::int64_t, 3> n{axis == 0 ? groups.group_size : 1, axis == 1 ? groups.group_size : 1,
                                          axis == 2 ? groups.group_size : 1};
  constexpr TensorSpec whole{{8, 16, 24}, dtype}, part{{8 / n[0], 16 / n[1], 24 / n[2]}, dtype};
  constexpr std::size_t inner = static_cast<std::size_t>(ReplicatedReduceScatter::elements_from(whole.shape, axis + 1)),
                        extent = static_cast<std::size_t>(part.shape[axis]),
                        members = static_cast<std::size_t>(groups.group_size);
  constexpr ReplicatedReduceScatter::Attributes slice{groups, number(CollectiveOperator::local), 0, 1, axis};
  const bool sliced = agrees<ReplicatedReduceScatter, slice, whole, part>(
      [](const auto& inputs, std::size_t replica, std::size_t place) {
        const auto index = static_cast<std::size_t>(groups.index_in_group(static_cast<std::int64_t>(replica)));
        const std::size_t i = place % inner, at = place / inner % extent, row = place / inner / extent;
        return inputs[replica][(row * extent * members + index * extent + at) * inner + i];
      });
  constexpr ReplicatedAllGather::Attributes concat{groups, number(GatheredShape::concat), axis};
  return sliced &&
         agrees<ReplicatedAllGather, concat, part, whole>([](const auto& inputs, std::size_t replica, std::size_t place) {
           const std::size_t i = place % inner, at = place / inner % (extent * members), row = place / inner / (extent * members);
           return inputs[member<groups>(replica, at / extent)][(row * extent + at % extent) * inner + i];
         });
}
TEST_CASE("replicated_slice, replicated_all_gather: all axes and groupings") {
  for_each_index<groupings.size()>([](auto g) {
    constexpr ReplicaGroups groups = groupings[g.value];
    INFO("stride " << groups.stride << ", groups of " << groups.group_size);
    CHECK(slices_agree<tw::float32, groups, 0>());
    CHECK(slices_agree<tw::float16, groups, 1>());
    CHECK(slices_agree<tw::uint32, groups, 2>());
  });
}

template <ReplicaGroups groups>
bool stacks_agree() {
  constexpr ReplicatedAllGather::Attributes stack{groups, number(GatheredShape::new_axis), 1};
  constexpr TensorSpec part{{30, 50}, tw::int32}, stacked{{30, groups.group_size, 50}, tw::int32};
  return agrees<ReplicatedAllGather, stack, part, stacked>([](const auto& inputs, std::size_t replica, std::size_t place) {
    const std::size_t row = place / 50, members = static_cast<std::size_t>(groups.group_size);
    return inputs[member<groups>(replica, row % members)][row / members * 50 + place % 50];
  });
}
template <ReplicaGroups groups, std::int64_t elements>
bool shards_agree() {
  constexpr std::int64_t shard = (elements + groups.group_size - 1) / groups.group_size;
  constexpr ReplicatedAllGather::Attributes gather{groups, number(GatheredShape::meta_shape)};
  constexpr TensorSpec part{{shard}, tw::float32}, whole{{elements}, tw::float32};
  return agrees<ReplicatedAllGather, gather, part, whole>([](const auto& inputs, std::size_t replica, std::size_t place) {
    return inputs[member<groups>(replica, place / static_cast<std::size_t>(shard))][place % static_cast<std::size_t>(shard)];
  });
}
TEST_CASE("replicated_all_gather: new axes and shards") {
  for_each_index<groupings.size()>([](auto g) {
    constexpr ReplicaGroups groups = groupings[g.value];
    INFO("stride " << groups.stride << ", groups of " << groups.group_size);
    CHECK(stacks_agree<groups>());
    CHECK(shards_agree<groups, 9001>());
    CHECK(shards_agree<groups, 3>());
  });
}

}  // namespace
