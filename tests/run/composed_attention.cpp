// Composed forms of attention: that the op replaces them, with the results and gradients that they have without it.
#include <map>
#include <random>

#include "cases_attention.hpp"
#include "elements.hpp"
#include "op_checks.hpp"

namespace {

using namespace op_cases;

constexpr std::int64_t batch = 2, heads = 3, width = 8;
constexpr double infinity = std::numeric_limits<double>::infinity();

constexpr Tensor scores_of(Tensor q, Tensor k) { return q.matmul(k.transpose({0, 1, 3, 2})); }
/// Positions of queries as a column and of keys as a row.
constexpr Tensor queries_of(Tensor scores, double first = 0) {
  const std::int64_t count = scores.shape(-2);
  return scores.ir().constant(tw::range(first), {count}, tw::int32).reshape({count, 1});
}
constexpr Tensor keys_of(Tensor scores, double first = 0) {
  return scores.ir().constant(tw::range(first), {scores.shape(-1)}, tw::int32);
}
constexpr Tensor mask_of_keys(Tensor mask) { return mask.reshape({mask.shape(0), 1, 1, mask.shape(1)}); }

// Forms: functions of q, k, v, a mask of keys and a seed.
constexpr auto plain = [](Tensor q, Tensor k, Tensor v, Tensor, Tensor) {
  return ops::softmax(scores_of(q, k) * 0.25).matmul(v);
};
constexpr auto scaled_queries = [](Tensor q, Tensor k, Tensor v, Tensor, Tensor) {
  return ops::softmax(scores_of(q / 4.0, k)).matmul(v);
};
constexpr auto added_mask = [](Tensor q, Tensor k, Tensor v, Tensor, Tensor seed) {
  const Tensor scores = scores_of(q, k) / 2.0;
  const Tensor mask = q.ir().constant(tw::causal_mask(), {scores.shape(-2), scores.shape(-1)}, q.dtype());
  return ops::dropout(ops::softmax(scores + mask), seed, 0.25).matmul(v);
};
constexpr auto causal_where = [](Tensor q, Tensor k, Tensor v, Tensor, Tensor) {
  const Tensor scores = scores_of(q, k) * 0.25;
  return ops::softmax(ops::where(ops::less_equal(keys_of(scores), queries_of(scores)), scores, -1e9)).matmul(v);
};
constexpr auto later_keys_hidden = [](Tensor q, Tensor k, Tensor v, Tensor, Tensor seed) {  // queries are the last ones
  const Tensor scores = scores_of(q, k) * 0.25;
  const Tensor later = ops::greater(keys_of(scores), queries_of(scores, static_cast<double>(k.shape(2) - q.shape(2))));
  return ops::dropout(ops::softmax(ops::where(later, -infinity, scores)), seed, 0.5).matmul(v);
};
constexpr auto window = [](Tensor q, Tensor k, Tensor v, Tensor, Tensor) {  // the last 5 keys
  const Tensor scores = scores_of(q, k) * 0.25, query = queries_of(scores);
  const Tensor seen = ops::logical_and(ops::greater_equal(query, keys_of(scores)), ops::less(query, keys_of(scores, 5)));
  return ops::softmax(ops::where(seen, scores, -infinity)).matmul(v);
};
constexpr auto padded = [](Tensor q, Tensor k, Tensor v, Tensor mask, Tensor seed) {
  const Tensor scores = ops::where(mask_of_keys(mask), scores_of(q, k) * 0.25, -1e4);
  return ops::dropout(ops::softmax(scores), seed, 0.25).matmul(v);
};
constexpr auto padded_and_causal = [](Tensor q, Tensor k, Tensor v, Tensor mask, Tensor) {
  const Tensor scores = ops::where(ops::logical_not(mask_of_keys(mask)), -1e4, scores_of(q, k) * 0.25);
  return ops::softmax(scores + q.ir().constant(tw::causal_mask(-1e9), {1, 1, q.shape(2), k.shape(2)}, q.dtype())).matmul(v);
};
constexpr auto row_of_keys = [](Tensor q, Tensor k, Tensor v, Tensor mask, Tensor) {
  return ops::softmax(ops::where(mask[0], scores_of(q, k) * 0.25, -1e30)).matmul(v);
};

// Not replaced.
constexpr auto scores_read_twice = [](Tensor q, Tensor k, Tensor v, Tensor, Tensor) {
  const Tensor scores = scores_of(q, k);
  return ops::softmax(scores).matmul(v) + ops::sum(scores);
};
constexpr auto weights_are_a_result = [](Tensor q, Tensor k, Tensor v, Tensor, Tensor) {
  const Tensor weights = ops::softmax(scores_of(q, k));
  return std::pair(weights.matmul(v), weights);
};
constexpr auto named_weights = [](Tensor q, Tensor k, Tensor v, Tensor, Tensor) {
  const Tensor weights = ops::softmax(scores_of(q, k));
  q.ir().rename(weights, "weights");
  return weights.matmul(v);
};
constexpr auto other_axis = [](Tensor q, Tensor k, Tensor v, Tensor, Tensor) {
  return ops::softmax(scores_of(q, k), 2).matmul(v);
};
constexpr auto finite_mask_outside = [](Tensor q, Tensor k, Tensor v, Tensor mask, Tensor) {
  const Tensor scores = scores_of(q, k) + q.ir().constant(tw::causal_mask(), {q.shape(2), k.shape(2)}, q.dtype());
  return ops::softmax(ops::where(mask_of_keys(mask), scores, -1e4)).matmul(v);
};
constexpr auto small_mask = [](Tensor q, Tensor k, Tensor v, Tensor mask, Tensor) {
  return ops::softmax(ops::where(mask_of_keys(mask), scores_of(q, k), -10.0)).matmul(v);
};
constexpr auto changed_keys = [](Tensor q, Tensor k, Tensor v, Tensor, Tensor) {
  const Tensor copy = k + 0.0, weights = ops::softmax(scores_of(q, copy));
  ops::add_(copy, k);
  return weights.matmul(v);
};

constexpr auto before_a_call = [](Tensor q, Tensor k, Tensor v, Tensor, Tensor) {
  const Tensor y = ops::softmax(scores_of(q, k)).matmul(v);
  return Tensor(tw::call(q.ir().create_graph([](Tensor x) { return x + 1; }, y), y));
};

/// Ops of a name in a graph of the form, when it has been differentiated or searched.
template <auto form>
constexpr int count_attention(std::int64_t queries, std::int64_t keys, bool replaces = true, tw::DType dtype = tw::float32) {
  Ir ir;
  tw::replaces_composed_forms(ir, replaces);
  const TensorSpec kv{{batch, heads, keys, width}, dtype}, of_queries{{batch, heads, queries, width}, dtype};
  const tw::Graph graph = ir.create_graph(form, of_queries, kv, kv, bools({batch, keys}), attention_seed);
  tw::replace_composed_forms(ir, graph.id());
  int count = 0;
  for (const tw::Node& node : ir.record(graph.id()).nodes) count += node.op->name == "ScaledDotProductAttention";
  return count;
}
static_assert(count_attention<plain>(16, 256) == 1 && count_attention<scaled_queries>(20, 256) == 1);
static_assert(count_attention<plain>(16, 256, false) == 0, "the switch");
static_assert(count_attention<added_mask>(64, 64, true, tw::float16) == 1 &&
              count_attention<added_mask>(64, 64, true, tw::bfloat16) == 1 &&
              count_attention<plain>(16, 256, true, tw::float64) == 0);
static_assert(count_attention<plain>(15, 256) == 0 && count_attention<plain>(256, 255) == 0, "few queries or keys");
static_assert(count_attention<added_mask>(64, 64) == 1 && count_attention<causal_where>(64, 64) == 1);
static_assert(count_attention<causal_where>(63, 63) == 0, "few keys");
static_assert(count_attention<later_keys_hidden>(16, 70) == 1 && count_attention<window>(70, 70) == 1);
static_assert(count_attention<padded>(16, 256) == 1 && count_attention<padded_and_causal>(64, 64) == 1);
static_assert(count_attention<row_of_keys>(16, 256) == 1);
static_assert(count_attention<scores_read_twice>(16, 256) == 0 && count_attention<weights_are_a_result>(16, 256) == 0);
static_assert(count_attention<named_weights>(16, 256) == 0 && count_attention<other_axis>(16, 256) == 0);
static_assert(count_attention<finite_mask_outside>(64, 64) == 0 && count_attention<small_mask>(16, 256) == 0);
static_assert(count_attention<changed_keys>(16, 256) == 0 && count_attention<before_a_call>(16, 256) == 0);

/// All forms with their gradients.
template <bool replaces>
constexpr void forms(Ir& ir) {
  tw::replaces_composed_forms(ir, replaces);
  const auto add = [&](std::string_view name, auto form, std::int64_t queries, std::int64_t keys) {
    const auto kv = f32({batch, heads, keys, width});
    differentiable(ir, name, form, f32({batch, heads, queries, width}), kv, kv, bools({batch, keys}), attention_seed);
  };
  add("plain", plain, 16, 256);
  add("scaled_queries", scaled_queries, 20, 256);
  add("added_mask", added_mask, 70, 70);
  add("causal_where", causal_where, 64, 64);
  add("later_keys_hidden", later_keys_hidden, 16, 70);
  add("window", window, 70, 70);
  add("padded", padded, 16, 256);
  add("padded_and_causal", padded_and_causal, 64, 64);
  add("row_of_keys", row_of_keys, 16, 256);
}

}  // namespace

TEST_CASE("attention that replaces a composed form has its results and gradients") {
  tw::Session<forms<true>> replaced({.threads = 1});
  tw::Session<forms<false>> composed({.threads = 1});
  std::mt19937 random(11);
  std::uniform_real_distribution<float> uniform(-2, 2);
  Values values;
  for (const auto& tensor : composed.host_tensors()) {
    std::vector<double>& elements = values[std::string(tensor.name)];
    elements.resize(static_cast<std::size_t>(tensor.spec.nelms()));
    for (double& x : elements) {
      if (tensor.spec.dtype == tw::boolean) x = random() % 3 != 0;
      else if (tensor.spec.dtype == tw::uint32) x = static_cast<double>(random());
      else x = uniform(random);
    }
  }
  for (const char* name : {"padded.x3", "padded_and_causal.x3"}) {  // samples without a key, or without one at first
    auto& mask = values.at(name);
    std::fill_n(mask.begin(), mask.size() / 2, 0.0);
    std::fill_n(mask.begin() + static_cast<std::ptrdiff_t>(mask.size() / 2), 3, 0.0);
  }
  write_variables(replaced, values);
  write_variables(composed, values);
  const Values expected = run(composed);
  const Values actual = run(replaced);
  CHECK(actual.size() == expected.size());
  for (const auto& [name, elements] : expected) {
    INFO(name);
    // In a row that sees no key all scores are -1e4, and their logarithm, which the gradient takes, is off by 2^-11. So are, as a
    // part, weights whose sum over queries is below 5, times gradients below 2.
    const bool has_such_rows = name.starts_with("padded");
    CHECK(difference(actual.at(name), elements) < (has_such_rows ? 10 * std::ldexp(1.0, -11) : 1e-5));
  }
}
