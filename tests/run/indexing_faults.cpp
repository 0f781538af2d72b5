// Indices out of range: the run ends, other memory is as it was, and the error has op, place, index and count.
#include <vector>

#include "catch.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;
namespace ops = tw::ops;
using namespace tw::literals;
using tw::Tensor;

namespace {

constexpr int count = 70;

struct Embedding : tw::Module<Embedding> {
  constexpr Tensor build(Tensor table, Tensor indices) { return ops::gather(table, indices, 1); }
};
/// Tables of 6 rows and a step of each op at the same indices, but for starts.
constexpr void index(tw::Ir& ir) {
  const auto load = [&](std::string_view name, std::int64_t n) { return ops::host_load(ir.h2d_stream(name, {n}, tw::int32)); };
  const auto table = [&](std::string_view name) { return ir.variable(tw::zeros(), {6, 20}, tw::float32, name); };
  const auto store = [&](std::string_view name, Tensor x) { ops::host_store(ir.d2h_stream(name, x.spec()), x); };
  const Tensor ones = ops::expand(ir.constant(1.0), {count, 20});
  const Tensor rows = load("rows", count), sums = load("sums", count), adds = load("adds", count), starts = load("starts", 2);
  const auto [factories, graph] = tw::create_graph(Embedding{}, tw::TensorSpec{{4, 6, 5}, tw::float32}, rows);
  store("gathered", graph.bind(factories.init()).call(table("table").reshape({4, 6, 5}), rows));
  store("zeros", ops::gather(table("other"), rows, 0, {.zero_OOR = true}));
  store("summed", ops::scatter_reduce(ones, sums, tw::ScatterReduction::sum, {.axis_size = 6}));
  ops::sparse_accumulate_(table("added"), ones, adds);
  ops::dynamic_update_(table("updated"), starts, ops::expand(ir.constant(2.0), {2, 7}), {0, 1}, {2, 7});
  store("slice", ops::dynamic_slice(table("sliced"), starts, {0, 1}, {2, 7}));
}

using Ints = std::vector<int>;
struct Inputs {
  Ints rows = Ints(count, 5), sums = Ints(count, 0), adds = Ints(count, 3), starts{4, 13};
};
std::string fault_of(auto& session, const Inputs& in) {
  try {
    session.run("rows"_s = in.rows, "sums"_s = in.sums, "adds"_s = in.adds, "starts"_s = in.starts);
  } catch (const tw::FaultError& error) {
    return error.what();
  }
  return "";
}
template <tw::Target target>
void check_faults() {
  for (const int threads : {1, 2}) {
    tw::Session<index, target> session({.threads = threads});
    const auto row_sum = [&](auto name, int row) {
      const auto table = session.get_tensor_data(name);
      float sum = 0;
      for (int column = 0; column < 20; ++column) sum += table(row, column);
      return sum;
    };
    CHECK(fault_of(session, {}).empty());
    CHECK(row_sum("added"_s, 3) == 20 * count);
    CHECK(row_sum("updated"_s, 4) == 14);

    Inputs wrong;
    wrong.rows[2] = wrong.rows[69] = 6;
    CHECK(fault_of(session, wrong) == "Gather: index 6 (and 1 more): an index from 0 to 5 expected, in Embedding_subgraph(0)");
    wrong = {};
    wrong.sums[0] = -1;
    CHECK(fault_of(session, wrong) == "ScatterReduce: index -1: an index from 0 to 5 expected, in the main graph");
    wrong = {};
    wrong.adds.assign(count, 1 << 30);
    wrong.adds[7] = 2;
    CHECK(fault_of(session, wrong) ==
          "SparseAccumulate: index 1073741824 (and 68 more): an index from 0 to 5 expected, in the main graph");
    CHECK(row_sum("added"_s, 2) == 20);
    CHECK(row_sum("added"_s, 3) == 3 * 20 * count);
    wrong = {};
    wrong.starts = {0, 14};
    CHECK(fault_of(session, wrong) ==
          "DynamicUpdateInplace: start 14: a start of a slice (2, 7) inside of (6, 20) expected, in the main graph; faults of "
          "other ops: 1");
    CHECK(row_sum("updated"_s, 0) == 0);
    CHECK(row_sum("updated"_s, 4) == 14);
    CHECK(fault_of(session, {}).empty());
  }
}

}  // namespace

TEST_CASE("an index out of range ends the run") { check_faults<tw::cpu>(); }
TEST_CASE("an index out of range ends the run on the IPU model") { check_faults<tw::ipu_model>(); }
