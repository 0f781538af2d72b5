// labels: rest
// Composed forms of attention: that the op replaces them, with the results and gradients that they have without it.
#include <functional>
#include <map>
#include <numeric>
#include <random>

#include "../../support/elements.hpp"
#include "../cases/attention.hpp"
#include "../cases/op_checks.hpp"

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

/// A number that hides positions.
constexpr double lowest(Tensor scores) { return scores.dtype() == tw::float16 ? -65504 : -1e9; }
template <double dropped>
constexpr Tensor weights(Tensor scores, Tensor seed) {
  const Tensor all = ops::softmax(scores);
  return dropped > 0 ? ops::dropout(all, seed, dropped) : all;
}
constexpr Tensor hide_later_keys(Tensor scores, double score) {
  return ops::where(ops::less_equal(keys_of(scores), queries_of(scores)), scores, score);
}
constexpr Tensor add_causal_mask(Tensor scores, double score) {
  return scores + scores.ir().constant(tw::causal_mask(score), {scores.shape(-2), scores.shape(-1)}, scores.dtype());
}

// Forms: functions of q, k, v, a mask of keys and a seed.
template <double dropped = 0.0>
constexpr auto plain =
    [](Tensor q, Tensor k, Tensor v, Tensor, Tensor seed) { return weights<dropped>(scores_of(q, k) * 0.25, seed).matmul(v); };
constexpr auto scaled_queries = [](Tensor q, Tensor k, Tensor v, Tensor, Tensor) {
  return ops::softmax(scores_of(q / 4.0, k)).matmul(v);
};
constexpr auto added_mask = [](Tensor q, Tensor k, Tensor v, Tensor, Tensor seed) {
  return weights<0.25>(add_causal_mask(scores_of(q, k) / 4.0, -infinity), seed).matmul(v);
};
template <double dropped = 0.0>
constexpr auto causal_where = [](Tensor q, Tensor k, Tensor v, Tensor, Tensor seed) {
  return weights<dropped>(hide_later_keys(scores_of(q, k) * 0.25, lowest(q)), seed).matmul(v);
};
constexpr auto later_keys_hidden = [](Tensor q, Tensor k, Tensor v, Tensor, Tensor seed) {  // queries are the last ones
  const Tensor scores = scores_of(q, k) * 0.25;
  const Tensor later = ops::greater(keys_of(scores), queries_of(scores, static_cast<double>(k.shape(2) - q.shape(2))));
  return weights<0.5>(ops::where(later, -infinity, scores), seed).matmul(v);
};
template <double dropped = 0.0>
constexpr auto window = [](Tensor q, Tensor k, Tensor v, Tensor, Tensor seed) {  // the last 5 keys
  const Tensor scores = scores_of(q, k) * 0.25, query = queries_of(scores);
  const Tensor seen = ops::logical_and(ops::greater_equal(query, keys_of(scores)), ops::less(query, keys_of(scores, 5)));
  return weights<dropped>(ops::where(seen, scores, -infinity), seed).matmul(v);
};
constexpr auto padded = [](Tensor q, Tensor k, Tensor v, Tensor mask, Tensor seed) {
  return weights<0.25>(ops::where(mask_of_keys(mask), scores_of(q, k) * 0.25, -1e4), seed).matmul(v);
};
template <double dropped = 0.0>
constexpr auto padded_and_causal = [](Tensor q, Tensor k, Tensor v, Tensor mask, Tensor seed) {
  const Tensor scores = ops::where(ops::logical_not(mask_of_keys(mask)), -1e4, scores_of(q, k) * 0.25);
  return weights<dropped>(add_causal_mask(scores, lowest(q)), seed).matmul(v);
};
constexpr auto row_of_keys = [](Tensor q, Tensor k, Tensor v, Tensor mask, Tensor) {
  return ops::softmax(ops::where(mask[0], scores_of(q, k) * 0.25, -1e30)).matmul(v);
};
/// Masks of keys and of later keys, by these numbers.
template <double of_keys, double of_positions, bool adds = false>
constexpr auto two_masks = [](Tensor q, Tensor k, Tensor v, Tensor mask, Tensor) {
  const Tensor scores = ops::where(mask_of_keys(mask), scores_of(q, k) * 0.25, of_keys);
  return ops::softmax(adds ? add_causal_mask(scores, of_positions) : hide_later_keys(scores, of_positions)).matmul(v);
};
/// A mask of later keys by this number.
template <double score, bool adds = false>
constexpr auto one_mask = [](Tensor q, Tensor k, Tensor v, Tensor, Tensor) {
  const Tensor scores = scores_of(q, k) * 0.25;
  return ops::softmax(adds ? add_causal_mask(scores, score) : hide_later_keys(scores, score)).matmul(v);
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
  q.ir().tables.rename(weights, "weights");
  return weights.matmul(v);
};
constexpr auto other_axis = [](Tensor q, Tensor k, Tensor v, Tensor, Tensor) {
  return ops::softmax(scores_of(q, k), 2).matmul(v);
};
constexpr auto finite_mask_outside = [](Tensor q, Tensor k, Tensor v, Tensor mask, Tensor) {
  return ops::softmax(ops::where(mask_of_keys(mask), add_causal_mask(scores_of(q, k), -infinity), -1e4)).matmul(v);
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
  const tw::Graph graph = ir.create_graph(form, of_queries, kv, kv, bools({batch, keys}), op_tests::seed_spec);
  tw::replace_composed_forms(ir, graph.id());
  int count = 0;
  for (const tw::Node& node : ir.tables.record(graph.id()).nodes) count += node.op->name == "ScaledDotProductAttention";
  return count;
}
static_assert(count_attention<plain<>>(16, 256) == 1 && count_attention<scaled_queries>(20, 256) == 1);
static_assert(count_attention<plain<>>(16, 256, false) == 0, "the switch");
static_assert(count_attention<added_mask>(64, 64, true, tw::float16) == 1 &&
              count_attention<added_mask>(64, 64, true, tw::bfloat16) == 1 &&
              count_attention<plain<>>(16, 256, true, tw::float64) == 0);
static_assert(count_attention<plain<>>(15, 256) == 0 && count_attention<plain<>>(256, 255) == 0, "few queries or keys");
static_assert(count_attention<added_mask>(64, 64) == 1 && count_attention<causal_where<>>(64, 64) == 1);
static_assert(count_attention<causal_where<>>(63, 63) == 0, "few keys");
static_assert(count_attention<later_keys_hidden>(16, 70) == 1 && count_attention<window<>>(70, 70) == 1);
static_assert(count_attention<later_keys_hidden>(80, 70) == 0, "the first queries see no key");
static_assert(count_attention<window<>>(74, 70) == 1 && count_attention<window<>>(75, 70) == 0, "the last one sees none");
static_assert(count_attention<padded>(16, 256) == 1 && count_attention<padded_and_causal<>>(64, 64) == 1);
static_assert(count_attention<row_of_keys>(16, 256) == 1);

/// Whether the number of a mask of positions is low enough.
template <auto form>
constexpr bool hides(tw::DType dtype = tw::float32) {
  return count_attention<form>(64, 64, true, dtype) == 1;
}
static_assert(hides<one_mask<-1e9>>() && hides<one_mask<-1e9, true>>() && hides<one_mask<-1e9>>(tw::bfloat16));
static_assert(!hides<one_mask<-1e4>>() && !hides<one_mask<-1e4, true>>(), "scores may be as low");
static_assert(!hides<one_mask<-65504.0>>() && hides<one_mask<-65504.0>>(tw::float16), "the lowest number of float16");
static_assert(!hides<one_mask<-65472.0>>(tw::float16) && hides<one_mask<-65504.0, true>>(tw::float16));
static_assert(hides<two_masks<-1e4, -1e9>>() && hides<two_masks<-1e4, -infinity>>());
static_assert(!hides<two_masks<-1e9, -1e9>>(), "a query that sees hidden keys only has the mean of all values");
static_assert(hides<two_masks<-1e9, -1e9, true>>(), "of those to its own");
static_assert(hides<two_masks<-1e9, -2e9>>() && !hides<two_masks<-1e30, -1e9, true>>(), "-1e30 - 1e9 is -1e30");
static_assert(!hides<two_masks<-infinity, -1e9>>() && hides<two_masks<-infinity, -infinity>>());
static_assert(count_attention<scores_read_twice>(16, 256) == 0 && count_attention<weights_are_a_result>(16, 256) == 0);
static_assert(count_attention<named_weights>(16, 256) == 0 && count_attention<other_axis>(16, 256) == 0);
static_assert(count_attention<finite_mask_outside>(64, 64) == 0 && count_attention<small_mask>(16, 256) == 0);
static_assert(count_attention<changed_keys>(16, 256) == 0 && count_attention<before_a_call>(16, 256) == 0);

/// Forms with their gradients.
template <bool replaces, tw::DType dtype>
constexpr auto add_form(Ir& ir) {
  tw::replaces_composed_forms(ir, replaces);
  return [&ir](std::string_view name, auto form, std::int64_t queries, std::int64_t keys) {
    const auto rows = [](std::int64_t count) { return TensorSpec{{batch, heads, count, width}, dtype}; };
    differentiable(ir, name, form, rows(queries), rows(keys), rows(keys), bools({batch, keys}), op_tests::seed_spec);
  };
}
template <bool replaces, tw::DType dtype>
constexpr void main_forms(Ir& ir) {
  const auto add = add_form<replaces, dtype>(ir);
  add("added_mask", added_mask, 70, 70);
  add("padded_and_causal", padded_and_causal<0.25>, 64, 64);
  if (dtype == tw::bfloat16) return;  // two forms show what differs from float16
  add("dropped", plain<0.25>, 16, 256);
  add("causal_where", causal_where<0.25>, 64, 64);
  add("window", window<0.25>, 70, 70);
}
template <bool replaces>
constexpr void forms(Ir& ir) {
  main_forms<replaces, tw::float32>(ir);
  const auto add = add_form<replaces, tw::float32>(ir);
  add("plain", plain<>, 16, 256);
  add("scaled_queries", scaled_queries, 20, 256);
  add("causal_where_whole", causal_where<>, 64, 64);
  add("later_keys_hidden", later_keys_hidden, 16, 70);
  add("window_whole", window<>, 70, 70);
  add("padded", padded, 16, 256);
  add("padded_and_causal_whole", padded_and_causal<>, 64, 64);
  add("padded_low", two_masks<-1e9, -infinity>, 70, 70);
  add("row_of_keys", row_of_keys, 16, 256);
}

/// Inputs and output gradients of a program: numbers from -2 to 2 that float16 and bfloat16 have, too.
template <class Session>
Values inputs_of(const Session& session) {
  std::mt19937 random(11);
  std::uniform_int_distribution<int> uniform(-64, 64);
  Values values;
  for (const auto& tensor : session.host_tensors()) {
    const std::string name(tensor.name);
    std::vector<double>& elements = values[name];
    elements.resize(static_cast<std::size_t>(tensor.spec.nelms()));
    for (double& x : elements) {
      if (tensor.spec.dtype == tw::boolean) x = random() % 3 != 0;
      else if (tensor.spec.dtype == tw::uint32) x = static_cast<double>(random());
      else x = uniform(random) / 32.0;
    }
    if (tensor.spec.dtype != tw::boolean || !name.starts_with("padded")) continue;
    std::fill_n(elements.begin(), elements.size() / 2, 0.0);  // a sample without a key, and one without one at first
    std::fill_n(elements.begin() + static_cast<std::ptrdiff_t>(elements.size() / 2), 3, 0.0);
  }
  return values;
}
template <auto program>
Values results_of(const Values& values) {
  tw::Session<program> session({.threads = 1});
  write_variables(session, values);
  return run(session);
}
double sum_of_magnitudes(const std::vector<double>& elements) {
  return std::transform_reduce(elements.begin(), elements.end(), 0.0, std::plus(), [](double x) { return std::abs(x); });
}

/// Compares the forms in half precision, with numbers of `bits` bits, with those that are composed in float32.
template <tw::DType dtype>
void check_in_half(const Values& values, const Values& expected, int bits) {
  constexpr double scale = 0.25, largest = 2, rounding_of_float32 = 1e-5;
  const double unit = std::ldexp(1.0, -bits);
  const Values replaced = results_of<main_forms<true, dtype>>(values), composed = results_of<main_forms<false, dtype>>(values);
  CHECK(replaced.size() == (dtype == tw::bfloat16 ? 8 : 20));  // y and three gradients of each form
  for (const auto& [name, elements] : replaced) {
    INFO(name);
    const std::vector<double>& exact = expected.at(name);
    const auto error = [&](const std::vector<double>& x) {
      double sum = 0;
      for (std::size_t i = 0; i < x.size(); ++i) sum += std::abs(x[i] - exact[i]);
      return x.size() == exact.size() ? sum : INFINITY;
    };
    // Sums of errors. The op rounds each result once, by a part of `unit` at most.
    double bound = unit * sum_of_magnitudes(exact) + rounding_of_float32 * static_cast<double>(exact.size());
    // So is y, of which the gradient of query i takes sum(dy y). To first order, an error d_i of it changes ds of key j by p_ij
    // d_i. As the p_ij of a query sum to 1, dq and dk change, in all, by `width` elements times the scale, the largest key or
    // query, and the sum of all d_i.
    if (name.ends_with(".dx0") || name.ends_with(".dx1")) {
      const std::string form = name.substr(0, name.find('.'));
      const auto &y = expected.at(form + ".y0"), &dy = values.at(form + ".dy0");
      bound += width * scale * largest * unit *
               std::transform_reduce(y.begin(), y.end(), dy.begin(), 0.0, std::plus(),
                                     [](double a, double b) { return std::abs(a * b); });
    }
    CHECK(error(elements) <= bound);
    CHECK(error(elements) <= error(composed.at(name)));  // which rounds scores and weights, too
  }
}

}  // namespace

TEST_CASE("attention that replaces a composed form has its results and gradients") {
  const Values values = inputs_of(tw::Session<forms<false>>({.threads = 1}));
  const Values expected = results_of<forms<false>>(values), actual = results_of<forms<true>>(values);
  CHECK(actual.size() == expected.size());
  for (const auto& [name, elements] : expected) {
    INFO(name);
    CHECK(difference(actual.at(name), elements) < 1e-5);
  }
  check_in_half<tw::float16>(values, expected, 11);
  check_in_half<tw::bfloat16>(values, expected, 8);
}
