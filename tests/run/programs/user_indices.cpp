// labels: strict tsan
// An op with indices that a user defines in a file of their own, with its gradient and its fault: a table is trained by it.
#include "../../support/elements.hpp"

namespace {

using tw::Ir, tw::Tensor, tw::TensorSpec;
namespace authoring = tw::authoring;

/// A fault of indices (bags, count) into a table of so many rows.
constexpr authoring::FaultText index_fault(std::int64_t rows) {
  return {.possible = true, .value = "index", .expected = tw::text("an index from 0 to ", rows - 1), .of_all_vertices = true};
}
/// Calls f(bag, row) for each index of each bag; indices that no row has are reported.
template <std::int64_t rows, class Indices>
void for_each_index(authoring::Faults faults, Indices indices, auto f) {
  for (std::int64_t bag = 0; bag < Indices::shape[0]; ++bag)
    for (std::int64_t i = 0; i < Indices::shape[1]; ++i) {
      const auto row = static_cast<std::int64_t>(indices.data[bag * Indices::spec.stride(0) + i * Indices::spec.stride(1)]);
      if (row >= 0 && row < rows) f(bag, row);
      else faults.report(row);
    }
}

/// The gradient of a table: each row gets the sum of the gradients of the bags that have it. Inputs (indices, dy).
struct EmbeddingBagGrad : authoring::Op<EmbeddingBagGrad> {
  static constexpr std::string_view name = "EmbeddingBagGrad";
  struct Attributes {
    std::int64_t rows = 0;
  };
  static constexpr void infer(authoring::Inference& op) {
    op.output({{op.attributes<Attributes>().rows, op.input(1).shape[1]}, op.input(1).dtype});
  }
  static constexpr authoring::Work work(std::span<const TensorSpec> operands, int, const authoring::PackedAttributes&) {
    authoring::Work work;
    const int columns = work.add_axis({.extent = operands[1].shape[1]});
    work.follow(1, 1, columns);
    work.follow(2, 1, columns);
    return work;
  }
  constexpr operator authoring::OpTexts() const { return authoring::OpTexts{.fault = fault}; }
  static constexpr authoring::FaultText fault(std::span<const TensorSpec> operands, int, const authoring::PackedAttributes&) {
    return index_fault(operands[2].shape[0]);
  }
  template <authoring::PackedAttributes, class... V>
  static void compute(V...);  // of operands that can have no fault, which there are none of
  template <authoring::PackedAttributes, class Indices, class DY, class DX>
  static void compute_checked(authoring::Faults faults, Indices indices, DY dy, DX dx) {
    for (std::int64_t row = 0; row < DX::shape[0]; ++row)
      for (std::int64_t column = 0; column < DX::shape[1]; ++column) dx.data[row * DX::spec.stride(0) + column] = 0;
    for_each_index<DX::shape[0]>(faults, indices, [&](std::int64_t bag, std::int64_t row) {
      for (std::int64_t column = 0; column < DX::shape[1]; ++column)
        dx.data[row * DX::spec.stride(0) + column] += dy.data[bag * DY::spec.stride(0) + column];
    });
  }
};

/// The sum of some rows of a table for each bag: (rows, columns) and int32 (bags, count) to (bags, columns).
struct EmbeddingBag : authoring::Op<EmbeddingBag> {
  static constexpr std::string_view name = "EmbeddingBag";
  static constexpr void infer(authoring::Inference& op) {
    const TensorSpec &table = op.input(0), &indices = op.input(1);
    if (table.shape.rank != 2) return op.fail(to_text(table), ": a table of rows expected");
    if (indices.shape.rank != 2 || indices.dtype != tw::int32)
      return op.fail("indices ", to_text(indices), ": int32 (bags, count) expected");
    op.output({{indices.shape[0], table.shape[1]}, table.dtype});
  }
  static constexpr void gradient(authoring::GradientContext& op) {
    if (!op.needs(0)) return;
    op.input_gradient(0, authoring::apply<EmbeddingBagGrad>({op.input(1), op.output_gradient(0)}, {op.input_spec(0).shape[0]}));
  }
  /// Vertices take bags and columns; each has all rows.
  static constexpr authoring::Work work(std::span<const TensorSpec> operands, int, const authoring::PackedAttributes&) {
    authoring::Work work;
    const int bags = work.add_axis({.extent = operands[1].shape[0]});
    const int columns = work.add_axis({.extent = operands[0].shape[1]});
    work.follow(0, 1, columns);
    work.follow(1, 0, bags);
    work.follow(2, 0, bags), work.follow(2, 1, columns);
    return work;
  }
  constexpr operator authoring::OpTexts() const { return authoring::OpTexts{.fault = fault}; }
  static constexpr authoring::FaultText fault(std::span<const TensorSpec> operands, int, const authoring::PackedAttributes&) {
    return index_fault(operands[0].shape[0]);
  }
  template <authoring::PackedAttributes, class... V>
  static void compute(V...);  // of operands that can have no fault, which there are none of
  template <authoring::PackedAttributes, class Table, class Indices, class Y>
  static void compute_checked(authoring::Faults faults, Table table, Indices indices, Y y) {
    for (std::int64_t bag = 0; bag < Y::shape[0]; ++bag)
      for (std::int64_t column = 0; column < Y::shape[1]; ++column) y.data[bag * Y::spec.stride(0) + column] = 0;
    for_each_index<Table::shape[0]>(faults, indices, [&](std::int64_t bag, std::int64_t row) {
      for (std::int64_t column = 0; column < Y::shape[1]; ++column)
        y.data[bag * Y::spec.stride(0) + column] += table.data[row * Table::spec.stride(0) + column];
    });
  }
};
constexpr Tensor embedding_bag(Tensor table, Tensor indices) { return authoring::apply<EmbeddingBag>({table, indices}); }

/// One step of training a table of 5 x 3 so that the bags' sums become the targets.
constexpr void train(Ir& ir) {
  const Tensor table = ir.variable(tw::range(), {5, 3}, tw::float32, "table");
  const Tensor indices = support::load(ir, "indices", {2, 2}, tw::int32), target = support::load(ir, "target", {2, 3});
  const tw::Graph graph = ir.create_graph(embedding_bag, table, indices);
  const auto call = tw::call_with_info(graph, {table, indices});
  store("sums", call.output(0));
  const tw::GradGraphInfo gradient = tw::autodiff(graph, {.grads_required = {{graph.input(0)}}});
  const Tensor dtable = tw::call(gradient.graph(), call.output(0) - target, gradient.inputs_dict(call));
  store("gradient", dtable);
  tw::ops::scaled_add_(table, dtable, {.b = -0.25});
}

constexpr tw::Text failure(const tw::Shape& table, tw::DType dtype) {
  return support::failure(
      [&](Ir& ir) { embedding_bag(ir.variable(tw::zeros(), table, tw::float32, "table"), ir.constant({0}, {2, 2}, dtype)); });
}
static_assert(failure({5}, tw::int32) == "EmbeddingBag: (5,) float32: a table of rows expected");
static_assert(failure({5, 3}, tw::float32) == "EmbeddingBag: indices (2, 2) float32: int32 (bags, count) expected");

template <class Session>
std::string fault_of(Session& session, const xt::xtensor<std::int32_t, 2>& indices) {
  try {
    session.run("indices"_s = indices, "target"_s = xt::xtensor<float, 2>(xt::zeros<float>({2, 3})));
  } catch (const tw::FaultError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("an op with indices of a user's own: sums, its gradient, and training") {
  on_all_machines<train>([](auto& session) {
    const xt::xtensor<std::int32_t, 2> indices{{0, 4}, {4, 4}};
    const xt::xtensor<float, 2> target{{0, 0, 0}, {20, 20, 20}};
    const auto outputs = session.run("indices"_s = indices, "target"_s = target);
    CHECK(elements(outputs["sums"_s]) == Floats{12, 14, 16, 24, 26, 28});
    CHECK(elements(outputs["gradient"_s]) == Floats{12, 14, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20, 26, 32});
    float error = 0;
    for (int step = 0; step < 40; ++step) {
      const auto sums = session.run("indices"_s = indices, "target"_s = target)["sums"_s];
      error = xt::amax(xt::abs(sums - target))();
    }
    CHECK(error < 0.01f);
  });
}

TEST_CASE("an op with indices of a user's own: an index that no row has is a fault, and touches no other memory") {
  tw::Session<train, tw::cpu> session({.threads = 1});
  TestSession<train, tw::ipu_model> on_ipu({.threads = 2});
  for (const auto& message : {fault_of(session, {{0, 5}, {1, 1}}), fault_of(on_ipu, {{0, 5}, {1, 1}})})
    CHECK(message.starts_with("EmbeddingBag: index 5: an index from 0 to 4 expected"));
  CHECK(fault_of(session, {{0, -1}, {7, 1}}).starts_with("EmbeddingBag: index -1 (and 1 more): an index from 0 to 4 expected"));
  CHECK(fault_of(session, {{0, 1}, {2, 3}}).empty());
}
