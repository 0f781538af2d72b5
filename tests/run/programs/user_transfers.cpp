// labels: asan strict tsan ubsan
// Loads, stores and collectives that users define in their own files: they are planned, merged, counted and run as the library's.
#include <algorithm>
#include <stdexcept>

#include "../../support/elements.hpp"

namespace {

using tw::Graph, tw::Ir, tw::authoring::PackedAttributes, tw::RemoteBuffer, tw::Tensor, tw::TensorSpec;
namespace ops = tw::ops;

// ---- ops that a user writes, with attributes of their own

struct Feed : tw::authoring::Op<Feed> {
  static constexpr std::string_view name = "Feed";
  constexpr operator tw::authoring::Effects() const { return tw::authoring::Effects{.has_side_effect = true}; }
  struct Attributes {
    double note = 0;
    std::int64_t from = -1;
  };
  constexpr operator tw::authoring::Movement() const { return tw::authoring::Movement{.transfer = transfer}; }
  static constexpr tw::authoring::Transfer transfer(const PackedAttributes& attributes) {
    return {.kind = tw::authoring::TransferKind::stream, .number = tw::authoring::unpack<Attributes>(attributes).from};
  }
  static constexpr void infer(tw::authoring::Inference& op) {
    op.output(op.ir().tables.streams[op.attributes<Attributes>().from].spec);
  }
};

/// The next element of a stream, written to a tensor.
struct FeedInto : tw::authoring::Op<FeedInto> {
  static constexpr std::string_view name = "FeedInto";
  constexpr operator tw::authoring::Effects() const { return tw::authoring::Effects{.modifies = 0, .has_side_effect = true}; }
  using Attributes = Feed::Attributes;
  constexpr operator tw::authoring::Movement() const { return tw::authoring::Movement{.transfer = transfer}; }
  static constexpr tw::authoring::Transfer transfer(const PackedAttributes& attributes) { return Feed::transfer(attributes); }
  static constexpr void infer(tw::authoring::Inference& op) { op.output(op.input(0)); }
};

/// Its input number 1 goes to the host; number 0 is a stamp that nobody reads.
struct Report : tw::authoring::Op<Report> {
  static constexpr std::string_view name = "Report";
  constexpr operator tw::authoring::Effects() const { return tw::authoring::Effects{.has_side_effect = true}; }
  struct Attributes {
    std::int64_t to = -1;
  };
  constexpr operator tw::authoring::Movement() const { return tw::authoring::Movement{.transfer = transfer}; }
  static constexpr tw::authoring::Transfer transfer(const PackedAttributes& attributes) {
    return {.kind = tw::authoring::TransferKind::stream,
            .number = tw::authoring::unpack<Attributes>(attributes).to,
            .stores = true,
            .tensor = 1};
  }
  static constexpr void infer(tw::authoring::Inference&) {}
};

struct RowAttributes {
  std::int64_t row = -1, buffer = -1;
};
/// A vertex's part of a row that a run chooses; null, and a fault, if there is none.
template <class Table>
typename Table::element* row_of(tw::authoring::Faults faults, Table table, auto offset) {
  const auto row = static_cast<std::int64_t>(*offset.data);
  if (row >= 0 && row < Table::shape[0]) return table.data + row * Table::spec.stride(0);
  faults.report(row);
  return nullptr;
}
constexpr tw::authoring::Work row_work(const TensorSpec& tensor, int table_operand, int tensor_operand) {
  tw::authoring::Work work;
  const int axis = work.add_axis({.extent = tensor.shape[0], .vectorised = true});
  work.follow(table_operand, 1, axis);
  work.follow(tensor_operand, 0, axis);
  return work;
}

/// Twice a row of a remote buffer.
struct DoublingLoad : tw::authoring::Op<DoublingLoad> {
  static constexpr std::string_view name = "DoublingLoad";
  constexpr operator tw::authoring::Effects() const { return tw::authoring::Effects{.has_side_effect = true}; }
  using Attributes = RowAttributes;
  constexpr operator tw::authoring::Movement() const { return tw::authoring::Movement{.transfer = transfer}; }
  static constexpr tw::authoring::Transfer transfer(const PackedAttributes& packed) {
    const auto [row, buffer] = tw::authoring::unpack<Attributes>(packed);
    return {.kind = tw::authoring::TransferKind::remote, .number = buffer, .offset = row < 0 ? 0 : -1, .row = row};
  }
  static constexpr void infer(tw::authoring::Inference& op) {
    op.output(op.ir().tables.remote_buffers[op.attributes<Attributes>().buffer].spec);
  }
  static constexpr tw::authoring::Work work(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&) {
    return row_work(operands[static_cast<std::size_t>(input_count)], 0, input_count);
  }
  template <PackedAttributes, class Table, class X>
  static void compute(Table table, X x) {
    for (std::int64_t i = 0; i < X::shape[0]; ++i) x.data[i] = 2 * table.data[i];
  }
  constexpr operator tw::authoring::OpTexts() const { return tw::authoring::OpTexts{.fault = fault}; }
  static constexpr tw::authoring::FaultText fault(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    return tw::authoring::row_fault(operands, operands.front());
  }
  template <PackedAttributes, class Table, class Offset, class X>
  static void compute_checked(tw::authoring::Faults faults, Table table, Offset offset, X x) {
    const auto* const from = row_of(faults, table, offset);
    for (std::int64_t i = 0; i < X::shape[0]; ++i) x.data[i] = from ? 2 * from[i] : 0;
  }
};
/// Twice a row, written to a tensor.
struct DoublingLoadInto : tw::authoring::Op<DoublingLoadInto> {
  static constexpr std::string_view name = "DoublingLoadInto";
  constexpr operator tw::authoring::Effects() const { return tw::authoring::Effects{.modifies = 0, .has_side_effect = true}; }
  using Attributes = RowAttributes;
  constexpr operator tw::authoring::Movement() const { return tw::authoring::Movement{.transfer = transfer}; }
  static constexpr tw::authoring::Transfer transfer(const PackedAttributes& packed) {
    tw::authoring::Transfer result = DoublingLoad::transfer(packed);
    if (result.offset == 0) result.offset = 1;
    result.kernel = &tw::authoring::op_info<DoublingLoad>;
    return result;
  }
  static constexpr void infer(tw::authoring::Inference& op) { op.output(op.input(0)); }
};
/// A tensor plus 1, written to a row.
struct IncrementingStore : tw::authoring::Op<IncrementingStore> {
  static constexpr std::string_view name = "IncrementingStore";
  constexpr operator tw::authoring::Effects() const { return tw::authoring::Effects{.has_side_effect = true}; }
  using Attributes = RowAttributes;
  constexpr operator tw::authoring::Movement() const { return tw::authoring::Movement{.transfer = transfer}; }
  static constexpr tw::authoring::Transfer transfer(const PackedAttributes& packed) {
    const auto [row, buffer] = tw::authoring::unpack<Attributes>(packed);
    return {
        .kind = tw::authoring::TransferKind::remote, .number = buffer, .stores = true, .offset = row < 0 ? 1 : -1, .row = row};
  }
  static constexpr void infer(tw::authoring::Inference&) {}
  static constexpr tw::authoring::Work work(std::span<const TensorSpec> operands, int input_count, const PackedAttributes&) {
    return row_work(operands[0], input_count, 0);
  }
  template <PackedAttributes, class X, class Table>
  static void compute(X x, Table table) {
    for (std::int64_t i = 0; i < X::shape[0]; ++i) table.data[i] = x.data[i] + 1;
  }
  constexpr operator tw::authoring::OpTexts() const { return tw::authoring::OpTexts{.fault = fault}; }
  static constexpr tw::authoring::FaultText fault(std::span<const TensorSpec> operands, int, const PackedAttributes&) {
    return tw::authoring::row_fault(operands, operands.back());
  }
  template <PackedAttributes, class X, class Offset, class Table>
  static void compute_checked(tw::authoring::Faults faults, X x, Offset offset, Table table) {
    auto* const to = row_of(faults, table, offset);
    for (std::int64_t i = 0; to && i < X::shape[0]; ++i) to[i] = x.data[i] + 1;
  }
};
struct BringCode : tw::authoring::Op<BringCode> {
  static constexpr std::string_view name = "BringCode";
  constexpr operator tw::authoring::Effects() const { return tw::authoring::Effects{.has_side_effect = true}; }
  struct Attributes {
    std::int64_t why = 0, of = -1;
  };
  constexpr operator tw::authoring::Movement() const { return tw::authoring::Movement{.transfer = transfer}; }
  static constexpr tw::authoring::Transfer transfer(const PackedAttributes& attributes) {
    return {.kind = tw::authoring::TransferKind::code, .number = tw::authoring::unpack<Attributes>(attributes).of};
  }
  static constexpr void infer(tw::authoring::Inference&) {}
};

/// On every replica the sum over all replicas of their number, from 1, times their element.
struct WeightedSum : tw::authoring::Op<WeightedSum> {
  static constexpr std::string_view name = "WeightedSum";
  struct Attributes {
    tw::ReplicaGroups groups;
  };
  static constexpr void infer(tw::authoring::Inference& op) { op.output(op.input(0)); }
  constexpr operator tw::authoring::CollectiveWork() const {
    return tw::authoring::CollectiveWork{.collective_items = collective_items, .collective_volume = collective_volume};
  }
  static constexpr std::int64_t collective_items(const PackedAttributes&, const TensorSpec&, const TensorSpec& out) {
    return tw::kernel::collective_chunks(out.nelms());
  }
  static constexpr tw::authoring::CollectiveVolume collective_volume(const PackedAttributes& packed, const TensorSpec& in,
                                                                     const TensorSpec&) {
    return {.bytes = in.bytes(), .reduces = true, .gathers = true, .groups = tw::authoring::unpack<Attributes>(packed).groups};
  }
  template <PackedAttributes A, TensorSpec in, TensorSpec out>
  static void run_collective(std::byte* const* operands, std::int64_t first, std::int64_t last) {
    constexpr std::int64_t replicas = tw::authoring::unpack<Attributes>(A).groups.num_replicas;
    const auto element = [&](std::int64_t operand, std::int64_t i) -> float& {
      return reinterpret_cast<float*>(operands[operand])[i];
    };
    for (std::int64_t i = first * tw::kernel::collective_chunk; i < std::min(last * tw::kernel::collective_chunk, out.nelms());
         ++i) {
      float sum = 0;
      for (std::int64_t r = 0; r < replicas; ++r) sum += static_cast<float>(r + 1) * element(r, i);
      for (std::int64_t r = 0; r < replicas; ++r) element(replicas + r, i) = sum;
    }
  }
};

// ---- by the user's ops, or by the library's

template <bool own>
constexpr Tensor load(tw::HostToDeviceStream stream) {
  if constexpr (own) return tw::authoring::apply_all<Feed>(*stream.ir, {}, {0.5, stream.id})[0];
  else return ops::host_load(stream);
}
template <bool own>
constexpr void store(tw::DeviceToHostStream stream, Tensor x) {
  if constexpr (own) tw::authoring::apply_all<Report>(*stream.ir, std::array{stream.ir->constant(1), x}, {stream.id});
  else ops::host_store(stream, x);
}
template <bool own>
constexpr Tensor load_row(RemoteBuffer buffer, std::int64_t row) {
  if constexpr (!own) return ops::remote_load(buffer, row);
  buffer.check_offset("DoublingLoad", row);
  return tw::authoring::apply_all<DoublingLoad>(buffer.ir(), {}, {row, buffer.id() - 1})[0];
}
template <bool own>
constexpr Tensor load_row(RemoteBuffer buffer, Tensor row) {
  if constexpr (own) return tw::authoring::apply<DoublingLoad>({row}, {-1, buffer.id() - 1});
  else return ops::remote_load(buffer, row);
}
template <bool own>
constexpr Tensor load_row_into(RemoteBuffer buffer, std::int64_t row, Tensor t) {
  if constexpr (own) return tw::authoring::apply<DoublingLoadInto>({t}, {row, buffer.id() - 1});
  else return ops::remote_load_(buffer, row, t);
}
template <bool own>
constexpr void store_row(RemoteBuffer buffer, Tensor row, Tensor t) {
  if constexpr (own) tw::authoring::apply_all<IncrementingStore>(buffer.ir(), std::array{t, row}, {-1, buffer.id() - 1});
  else ops::remote_store(buffer, row, t);
}

/// One exchange of loads in the main graph, into a view too, and one of stores.
template <bool own>
constexpr void rows(Ir& ir) {
  const RemoteBuffer buffer = ir.remote_buffer({2, 2}, tw::float32, 3);
  ir.remote_variable(tw::values({1, 2, 3, 4}), buffer, 0, "row0");
  ir.remote_variable(tw::values({10, 20, 30, 40}), buffer, 1, "row1");
  ir.remote_variable(tw::zeros(), buffer, 2, "row2");
  const Tensor v = ir.variable(tw::zeros(), {2, 2}, tw::float32, "v");
  const Tensor row = ops::host_load(ir.h2d_stream("row", {}, tw::uint32));
  Tensor x, a, b;
  {
    const auto scope = tw::merge_exchange(ir);
    x = load<own>(ir.h2d_stream("x", {2, 2}));
    a = load_row<own>(buffer, 0);
    b = load_row<own>(buffer, row);
    load_row_into<own>(buffer, 1, ops::transpose_(v));
  }
  store<own>(ir.d2h_stream("sum", {2, 2}), a + b);
  store_row<own>(buffer, row + 1, x.T());
}

/// A graph whose code comes and goes, and which moves streams on: three times.
template <bool own>
struct Iteration {
  tw::HostToDeviceStream x;
  tw::DeviceToHostStream y;
  constexpr Tensor operator()(Tensor sum, Tensor last) const {
    const Tensor next = sum + load<own>(x);
    if constexpr (own) tw::authoring::apply<FeedInto>({last}, {0, x.id});
    else ops::copy_var_update_(last, ops::host_load(x));
    store<own>(y, next);
    return next;
  }
};
template <bool own>
constexpr void streams(Ir& ir) {
  ir.set_num_host_transfers(6);
  const Tensor start = ir.variable(tw::zeros(), {2}, tw::float32, "start"),
               last = ir.variable(tw::zeros(), {2}, tw::float32, "last");
  const Graph graph = ir.create_graph(Iteration<own>{ir.h2d_stream("x", {2}), ir.d2h_stream("y", {2})}, start, last);
  if constexpr (own) tw::authoring::apply_all<BringCode>(ir, {}, {3, static_cast<std::int64_t>(graph.id())});
  else ops::remote_code_load(graph);
  auto loop = tw::repeat_with_info(graph, 3, {start, last});
  loop.set_parent_input_modified(last);
  ::store("sum", loop.output(0));
}

template <bool own>
constexpr void replicas(Ir& ir) {
  ir.set_replication_factor(3);
  const Tensor x = ops::host_load(ir.h2d_stream("x", {5}));
  if constexpr (own) ::store("y", tw::authoring::apply<WeightedSum>({x}, {ir.replica_grouping().groups()}));
  else ::store("y", ops::collectives::replicated_all_reduce(x));
}

// ---- plans

/// The text of a plan with the user's names in place of the library's.
constexpr std::string plan_text(const auto& plan) {
  std::string text(tw::print_plan(plan).view());
  const auto rename = [&](std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  };
  rename("RemoteLoad", "DoublingLoad");
  rename("RemoteStore", "IncrementingStore");
  rename("ReplicatedAllReduce", "WeightedSum");
  return text;
}
tw::Plan plan_of(auto program, const tw::Target& target) { return tw::lower(tw::prepare(*tw::trace(program, target), target)); }
void check_same_plans(auto own, auto librarys) {
  for (const tw::Target& target : {tw::ipu_model, tw::cpu, tw::cpu.without_fusion()}) {
    const tw::Plan mine = plan_of(own, target), theirs = plan_of(librarys, target);
    CHECK(mine.remote == theirs.remote);
    CHECK(mine.collectives == theirs.collectives);
    CHECK(mine.memory.remote == theirs.memory.remote);
    CHECK(mine.memory.code == theirs.memory.code);
    CHECK(mine.memory.loaded_code == theirs.memory.loaded_code);
    CHECK(mine.exchanges.size() == theirs.exchanges.size());
    CHECK(plan_text(mine) == plan_text(theirs));
  }
}

}  // namespace

TEST_CASE("loads and stores of users: rows of remote buffers") {
  check_same_plans(rows<true>, rows<false>);
  const tw::Plan plan = plan_of(rows<true>, tw::ipu_model);
  CHECK(plan.remote.loaded_bytes == 3 * 16);
  CHECK(plan.remote.stored_bytes == 16);
  CHECK(plan.remote.exchanges == 2);
  REQUIRE(plan.exchanges.size() == 1);
  CHECK(plan.exchanges[0].step_count == 3);

  on_all_machines<rows<true>>([](auto& session) {
    const auto outputs = session.run("row"_s = 1u, "x"_s = xt::xtensor<float, 2>{{5, 6}, {7, 8}});
    CHECK(elements(outputs["sum"_s]) == Floats{22, 44, 66, 88});
    CHECK(elements(session.get_tensor_data("v"_s)) == Floats{20, 60, 40, 80});
    CHECK(elements(session.get_tensor_data("row2"_s)) == Floats{6, 8, 7, 9});
    CHECK_THROWS_AS(session.run("row"_s = 3u, "x"_s = xt::xtensor<float, 2>{{5, 6}, {7, 8}}), tw::FaultError);
    CHECK(elements(session.get_tensor_data("row2"_s)) == Floats{6, 8, 7, 9});
  });
}
TEST_CASE("loads and stores of users: streams and code, in a loop") {
  const tw::Plan mine = plan_of(streams<true>, tw::ipu_model), librarys = plan_of(streams<false>, tw::ipu_model);
  CHECK(mine.memory.loaded_code > 0);
  CHECK(mine.remote.code_bytes == 1472 * mine.memory.loaded_code);
  CHECK(mine.bodies.size() == librarys.bodies.size());
  for (int stream = 0; stream < 2; ++stream) CHECK(mine.streams[stream].moves);

  on_all_machines<streams<true>>([](auto& session) {
    const xt::xtensor<float, 2> x{{1, 2}, {3, 4}, {10, 20}, {30, 40}, {100, 200}, {300, 400}};
    const auto outputs = session.run("x"_s = x);
    CHECK(elements(outputs["y"_s]) == Floats{1, 2, 11, 22, 111, 222, 0, 0, 0, 0, 0, 0});
    CHECK(elements(outputs["sum"_s]) == Floats{111, 222, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    CHECK(elements(session.get_tensor_data("last"_s)) == Floats{300, 400});
  });
}
TEST_CASE("collectives of users") {
  check_same_plans(replicas<true>, replicas<false>);
  CHECK(plan_of(replicas<true>, tw::ipu_model).collectives.bytes == 2 * 2 * 7);  // a third is 7 bytes
  on_all_machines<replicas<true>>([](auto& session) {
    const xt::xtensor<float, 2> x{{1, 2, 3, 4, 5}, {10, 20, 30, 40, 50}, {100, 200, 300, 400, 500}};
    const Floats sums{321, 642, 963, 1284, 1605};
    Floats all;
    for (int replica = 0; replica < 3; ++replica) all.insert(all.end(), sums.begin(), sums.end());
    CHECK(elements(session.run("x"_s = x)["y"_s]) == all);
  });
}
