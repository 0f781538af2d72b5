// Hierarchical all-reduces of four replicas in 1, 2 or 4 processes, beside those in the order of the replicas.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "../catch.hpp"
#include "../support/count_allocations.hpp"
#include "../support/programs.hpp"
#include "tilewright/distributed/distributed.hpp"
#include "tilewright/tilewright.hpp"

namespace {

namespace tw = tilewright;
namespace ops = tw::ops;
namespace collectives = tw::ops::collectives;
using namespace tw::literals;
using support::load, support::store;
using tw::CollectiveOperator, tw::Ir, tw::Tensor, tw::distributed::AllReduce;

tw::distributed::Processes& processes() { return tw::distributed::Processes::world(); }
inline constexpr std::size_t replicas = 4, elements = 5000;

constexpr void reductions(Ir& ir) {
  ir.set_replication_factor(replicas);
  const Tensor x = load(ir, "x", {elements});
  const Tensor wide = ops::cast(x, tw::float64), whole = ops::cast(x * 1000, tw::int32);
  const auto reduce = [](Tensor t, CollectiveOperator op) { return collectives::replicated_all_reduce(t, {.op = op}); };
  // hierarchical
  store("sum", reduce(x, CollectiveOperator::add));
  store("mean", reduce(x, CollectiveOperator::mean));
  store("product", reduce(x, CollectiveOperator::mul));
  store("least", reduce(x, CollectiveOperator::min));
  store("most", reduce(x, CollectiveOperator::max));
  store("wide_mean", reduce(wide, CollectiveOperator::mean));
  store("wide_least", reduce(wide, CollectiveOperator::min));
  store("whole_sum", reduce(whole, CollectiveOperator::add));
  store("whole_product", reduce(whole, CollectiveOperator::mul));
  store("whole_least", reduce(whole, CollectiveOperator::min));
  const Tensor changed = x * 1;
  collectives::replicated_all_reduce_(changed, {.op = CollectiveOperator::mean});
  store("changed", changed);
  // in the order of the replicas
  store("half_mean", reduce(ops::cast(x, tw::float16), CollectiveOperator::mean));
  store("whole_mean", reduce(whole, CollectiveOperator::mean));
  store("squares", reduce(x, CollectiveOperator::square_add));
  store("all", reduce(ops::greater(x, x * 0), CollectiveOperator::logical_and));
  store("pairs", collectives::replicated_all_reduce(x, {.group = ir.replica_grouping(2, 2)}));
  store("row", reduce(ops::sum(x.reshape({50, 100}), {0}), CollectiveOperator::add));
}
inline constexpr std::int64_t all_collectives = 17, hierarchical_collectives = 11;

inline constexpr std::int64_t large = 40000, updates_of_run = 7;
/// As in training: gradients of variables of several sizes, each reduced before its update. The last gradient needs the result
/// of another one, so that it is not there when the others are.
constexpr void updates(Ir& ir) {
  ir.set_replication_factor(replicas);
  const Tensor x = load(ir, "x", {large});
  const auto variable = [&](std::string_view name, std::int64_t size) {
    return ir.variable(tw::zeros(), {size}, tw::float32, name);
  };
  const Tensor a = variable("a", 10), b = variable("b", 3000), c = variable("c", large), d = variable("d", 3),
               e = variable("e", large), f = variable("f", 4000), last = variable("last", 4000);
  const auto gradient = [&](std::int64_t size, float factor) { return ops::slice(x, {0}, {size}) * factor; };
  const std::array gradients{gradient(10, 1), gradient(3000, 2),  gradient(large, 3),
                             gradient(3, 4),  gradient(large, 5), gradient(4000, 6)};
  const std::array variables{a, b, c, d, e, f};
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const CollectiveOperator op = i % 2 == 0 ? CollectiveOperator::add : CollectiveOperator::mean;
    collectives::replicated_all_reduce_(gradients[i], {.op = op});
    ops::accumulate_(variables[i], gradients[i]);
  }
  const Tensor after = ops::slice(c, {0}, {4000}) + 1;
  collectives::replicated_all_reduce_(after, {});
  ops::accumulate_(last, after);
}

/// All-reduces that travel alone because they are small stand before others that can start with them.
constexpr void after_small(Ir& ir) {
  ir.set_replication_factor(replicas);
  const Tensor x = load(ir, "x", {large});
  const Tensor a = ops::slice(x, {0}, {10}) * 2, b = x * 3, c = ops::slice(x, {0}, {20}) * 4, d = x * 5;
  for (const Tensor t : {a, b}) collectives::replicated_all_reduce_(t, {});
  collectives::replicated_all_reduce_(c, {.op = CollectiveOperator::max});
  collectives::replicated_all_reduce_(d, {});
  store("a", a), store("b", b), store("c", c), store("d", d);
}

/// The input of all replicas; some elements are NaN, infinite or zeros of both signs.
xt::xtensor<float, 2> inputs() {
  auto x = xt::xtensor<float, 2>::from_shape({replicas, elements});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i * 2654435761u % 10007) / 3000.f - 1.5f;
  x(1, 7) = std::numeric_limits<float>::quiet_NaN();
  x(2, 8) = std::numeric_limits<float>::infinity();
  for (std::size_t replica = 0; replica < replicas; ++replica) x(replica, 9) = replica % 2 == 0 ? -0.f : 0.f;
  return x;
}
xt::xtensor<float, 2> own_inputs(const auto& session) {
  const auto all = inputs();
  const auto first = static_cast<std::size_t>(session.first_replica());
  const auto count = static_cast<std::size_t>(session.instance_replication_factor());
  auto own = xt::xtensor<float, 2>::from_shape({count, elements});
  std::copy_n(all.data() + first * elements, count * elements, own.data());
  return own;
}
/// `large` whole numbers for each of the process's replicas: their sums are exact.
xt::xtensor<float, 2> whole_inputs(const auto& session) {
  const auto held = static_cast<std::size_t>(session.instance_replication_factor());
  auto x = xt::xtensor<float, 2>::from_shape({held, static_cast<std::size_t>(large)});
  const auto first = static_cast<std::size_t>(session.first_replica() * large);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>((i + first) * std::size_t{2654435761u} % 97);
  return x;
}
auto values(const auto& array) {
  using T = std::remove_cvref_t<decltype(array.data()[0])>;
  using Value = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;  // a std::vector<bool> has no elements in memory
  return std::vector<Value>(array.data(), array.data() + array.size());
}

/// The bits of process 0, on all processes.
template <class T>
std::vector<T> of_first(std::vector<T> own) {
  MPI_Bcast(own.data(), static_cast<int>(own.size() * sizeof(T)), MPI_BYTE, 0, MPI_COMM_WORLD);
  return own;
}
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

}  // namespace

TEST_CASE("hierarchical all-reduces differ from those in the order of the replicas by rounding, and are the same everywhere") {
  for (const int threads : {1, 2}) {
    tw::distributed::Session<reductions> exact({.threads = threads});
    tw::distributed::Session<reductions> session({.threads = threads, .all_reduce = AllReduce::hierarchical});
    CHECK(exact.options().all_reduce == AllReduce::replica_order);
    CHECK(session.options().all_reduce == AllReduce::hierarchical);
    CHECK(session.options().threads == threads);
    const auto x = inputs();
    const auto own = own_inputs(session);
    for (int run = 0; run < 2; ++run) {
      const auto expected = exact.run("x"_s = own);
      const auto outputs = session.run("x"_s = own);
      const auto is_same = [&](auto name) {
        INFO(name.view());
        CHECK(same_bits(values(outputs[name]), values(expected[name])));
        const auto shared = values(outputs[name]);
        CHECK(same_bits(shared, of_first(shared)));
      };
      /// `bound(i)` is the largest difference of element i.
      const auto is_near = [&](auto name, auto bound) {
        const auto found = values(outputs[name]), wanted = values(expected[name]);
        CHECK(same_bits(found, of_first(found)));
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
          const bool is_equal = found[i] == wanted[i] || (std::isnan(found[i]) && std::isnan(wanted[i]));
          if (!is_equal && !(std::abs(found[i] - wanted[i]) <= bound(i % elements))) ++wrong;
        }
        INFO(name.view());
        CHECK(wrong == 0);
      };
      // two orders of R terms: 2 (R - 1) roundings of at most half a unit in the last place of the sum of magnitudes
      const auto of_sum = [&](std::size_t i) {
        double magnitude = 0;
        for (std::size_t replica = 0; replica < replicas; ++replica) magnitude += std::abs(x(replica, i));
        return 2 * replicas * magnitude * std::ldexp(1., -24);
      };
      const auto of_product = [&](std::size_t i) {
        double magnitude = 1;
        for (std::size_t replica = 0; replica < replicas; ++replica) magnitude *= std::abs(x(replica, i));
        return 2 * replicas * magnitude * std::ldexp(1., -24);
      };
      is_near("sum"_s, of_sum), is_near("product"_s, of_product);
      is_near("mean"_s, [&](std::size_t i) { return of_sum(i) / replicas; });
      is_near("changed"_s, [&](std::size_t i) { return of_sum(i) / replicas; });
      is_near("wide_mean"_s, [&](std::size_t i) { return of_sum(i) / replicas * std::ldexp(1., -29); });
      const auto none = [](std::size_t) { return 0.; };
      is_near("least"_s, none), is_near("most"_s, none), is_near("wide_least"_s, none);
      CHECK(std::isnan(outputs["least"_s](0, 7)));
      CHECK(std::isnan(outputs["most"_s](0, 7)));
      CHECK(outputs["most"_s](0, 8) == std::numeric_limits<float>::infinity());
      is_same("whole_sum"_s), is_same("whole_product"_s), is_same("whole_least"_s);
      is_same("half_mean"_s), is_same("whole_mean"_s), is_same("squares"_s), is_same("all"_s), is_same("row"_s);
      CHECK(same_bits(values(outputs["pairs"_s]), values(expected["pairs"_s])));
    }
  }
}

namespace {

/// What rank 0 logs of all-reduces while `f` runs.
std::vector<std::string> lines_of_log(auto f) {
  const auto path = std::filesystem::temp_directory_path() / ("tilewright-log-" + std::to_string(::getpid()));
  const std::string before = std::getenv("TILEWRIGHT_LOG_LEVEL") ? std::getenv("TILEWRIGHT_LOG_LEVEL") : "";
  ::setenv("TILEWRIGHT_LOG_LEVEL", "INFO", 1);
  ::setenv("TILEWRIGHT_LOG_DEST", path.c_str(), 1);
  f();
  ::setenv("TILEWRIGHT_LOG_LEVEL", before.c_str(), 1);
  ::unsetenv("TILEWRIGHT_LOG_DEST");
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.find("all-reduce") != line.npos) lines.push_back(line);
  std::filesystem::remove(path);
  return lines;
}
std::vector<std::string> expected_lines(std::int64_t collectives, std::int64_t hierarchical, std::int64_t messages,
                                        std::int64_t overlapped) {
  if (!processes().is_first()) return {};
  const bool is_alone = processes().count() == 1;
  return {std::string("tilewright INFO: ") + (is_alone ? "" : "rank 0: ") +
          "all-reduce: hierarchical, by MPI_Iallreduce between processes; of " + std::to_string(collectives) +
          " collectives: " + std::to_string(is_alone ? 0 : hierarchical) + ", in " + std::to_string(is_alone ? 0 : messages) +
          " messages, " + std::to_string(is_alone ? 0 : overlapped) +
          " while other steps are computed; processes: " + std::to_string(processes().count())};
}

}  // namespace

TEST_CASE("all-reduces whose inputs are there start together, and small ones share a message") {
  tw::distributed::Session<updates> exact({.threads = 1});
  std::optional<tw::distributed::Session<updates>> session;
  const auto lines = lines_of_log(
      [&] { session.emplace(tw::distributed::SessionOptions{.threads = 1, .all_reduce = AllReduce::hierarchical}); });
  // one for a, b, d and f, one for each of c and e, and one for the last, which starts later
  CHECK(lines == expected_lines(updates_of_run, updates_of_run, 4, 5));
  const auto x = whole_inputs(*session);
  for (int run = 0; run < 3; ++run) {
    exact.run("x"_s = x), session->run("x"_s = x);
    const auto check = [&](auto name) {
      INFO(name.view());
      const auto expected = values(exact.get_tensor_data(name));
      CHECK(same_bits(values(session->get_tensor_data(name)), expected));
      CHECK(expected[1] > 0);
    };
    check("a"_s), check("b"_s), check("c"_s), check("d"_s), check("e"_s), check("f"_s), check("last"_s);
  }
  CHECK(support::allocations_of([&] {
          for (int run = 0; run < 20; ++run) session->run("x"_s = x), exact.run("x"_s = x);
        }) == 0);
}

namespace {

/// A layer that is called three times, so that gradients come from calls; each is reduced when the last is there.
struct Layer : tw::Module<Layer> {
  constexpr Tensor build(Tensor x) {
    return ops::tanh(x.matmul(add_variable_input("weight", tw::normal(0, 0.1), {200, 200}, tw::float32)));
  }
};
struct Layers : tw::Module<Layers> {
  constexpr Tensor build(Tensor x) {
    const auto [factories, layer] = tw::create_graph(Layer{}, x);
    for (const char* name : {"a", "b", "c"}) x = layer.bind(add_variable_inputs(name, factories)).call(x);
    return x;
  }
};
constexpr void training(Ir& ir) {
  ir.set_replication_factor(replicas);
  const Tensor x = load(ir, "x", {8, 200});
  const auto [factories, forward] = tw::create_graph(Layers{}, x);
  const auto backward = tw::autodiff(forward);
  const auto variables = factories.init();
  const auto call = forward.bind(variables).call_with_info(x);
  const auto info = backward.grad_graph_info();
  const auto gradients = info.fwd_parent_ins_to_grad_parent_outs(call,
                                                                 backward.call_with_info(call.output(0), info.inputs_dict(call)));
  for (const auto& [name, variable] : variables.named_tensors()) {
    collectives::replicated_all_reduce_(gradients[variable], {.op = CollectiveOperator::mean});
    ops::scaled_add_(variable, gradients[variable], {.b = -0.01});
  }
  store("y", call.output(0));
}
/// The spans of a plan's all-reduces.
template <const auto& plan>
tw::internal::AllReduceSpans spans_of_plan() {
  using tw::internal::HierarchicalAllReduces, tw::internal::Step;
  const auto collective = [](const Step& step) {
    return tw::internal::planned_collectives<plan>[static_cast<std::size_t>(step.compute_set)];
  };
  return {plan,
          [&](const Step& step) {
            return step.kind == tw::internal::StepKind::collective && HierarchicalAllReduces::takes(collective(step));
          },
          [&](const Step& step) { return HierarchicalAllReduces::keeps_apart(collective(step)); }};
}

}  // namespace

TEST_CASE("an all-reduce goes on from the step after the one that gives its input to the one that needs its result") {
  using Session = tw::distributed::Session<training>;
  constexpr auto& plan = Session::plan;
  std::vector<int> calls;  // of the gradients, from the last layer to the first
  for (int s = 0; s < static_cast<int>(plan.steps.size()); ++s)
    if (plan.steps[static_cast<std::size_t>(s)].is_call()) calls.push_back(s);
  REQUIRE(calls.size() == 6);
  const auto spans = spans_of_plan<Session::plan>().spans();
  REQUIRE(spans.size() == 3);
  std::vector<int> starts;
  for (const auto& span : spans) {
    CHECK(span.is_in_frame);
    CHECK(span.finish == span.step + 1);  // the update
    starts.push_back(span.start);
  }
  std::ranges::sort(starts);
  CHECK(starts == std::vector<int>{calls[3] + 1, calls[4] + 1, calls[5] + 1});  // beside the gradients of the layers before

  for (const int threads : {1, 2}) {
    Session replica_order({.seed = 1, .threads = threads});
    Session session({.seed = 1, .threads = threads, .all_reduce = AllReduce::hierarchical});
    auto x = xt::xtensor<float, 3>::from_shape({static_cast<std::size_t>(session.instance_replication_factor()), 8, 200});
    for (std::size_t i = 0; i < x.size(); ++i)
      x.data()[i] = static_cast<float>((i + 1600 * static_cast<std::size_t>(session.first_replica())) * 2654435761u % 97) / 97.f;
    for (int run = 0; run < 5; ++run) {
      replica_order.run("x"_s = x), session.run("x"_s = x);
      for (const auto& [expected, found] :
           {std::pair{replica_order.get_tensor_data("a.weight"_s), session.get_tensor_data("a.weight"_s)},
            std::pair{replica_order.get_tensor_data("c.weight"_s), session.get_tensor_data("c.weight"_s)}})
        CHECK(xt::amax(xt::abs(expected - found))() < 1e-6f);
      const auto weight = values(session.get_tensor_data("b.weight"_s));
      CHECK(same_bits(weight, of_first(weight)));
    }
    CHECK(support::allocations_of([&] {
            for (int run = 0; run < 20; ++run) session.run("x"_s = x);
          }) == 0);
  }
}

TEST_CASE("all-reduces start at the step of one that is left out") {
  tw::distributed::Session<after_small> exact({.threads = 1});
  tw::distributed::Session<after_small> session({.threads = 1, .all_reduce = AllReduce::hierarchical});
  const auto x = whole_inputs(session);
  const auto expected = exact.run("x"_s = x), found = session.run("x"_s = x);
  const auto check = [&](auto name) {
    INFO(name.view());
    CHECK(same_bits(values(found[name]), values(expected[name])));
  };
  check("a"_s), check("b"_s), check("c"_s), check("d"_s);
}

TEST_CASE("a hierarchical all-reduce names itself in one line of the log of rank 0") {
  const auto lines = lines_of_log([] {
    const tw::distributed::Session<reductions> exact({.threads = 1});
    const tw::distributed::Session<reductions> session({.threads = 1, .all_reduce = AllReduce::hierarchical});
  });
  CHECK(lines == expected_lines(all_collectives, hierarchical_collectives, hierarchical_collectives, 5));
}

TEST_CASE("all_reduce: its names") {
  static_assert(tw::distributed::to_text(AllReduce::hierarchical) == "hierarchical");
  static_assert(tw::distributed::to_text(AllReduce::replica_order) == "replica_order");
}
