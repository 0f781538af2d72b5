#pragma once
#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>

#include "tilewright/graph/ir.hpp"
#include "tilewright/verified/step_text.hpp"

namespace tilewright::internal::proof::detail {

/// Compares what a plan, or a frozen one, says of data outside of graphs with the program: names, values before a run, and how
/// replicas share them.
template <class AnyPlan>
class GlobalsCheck {
 public:
  constexpr GlobalsCheck(const AnyPlan& plan, const Ir& ir) : plan_(plan), ir_(ir), tables_(ir.tables) {}

  /// Returns whether the plan has a row for each row of the program, and as many replicas.
  constexpr bool has_rows() const {
    return plan_.variables.size() == tables_.variables.size() && plan_.constants.size() == tables_.constants.size() &&
           plan_.streams.size() == tables_.streams.size() && plan_.remote_buffers.size() == tables_.remote_buffers.size() &&
           plan_.replicas == ir_.replication_factor();
  }
  /// Returns what differs; empty: nothing. The plan has all rows.
  constexpr Text run() {
    expect(plan_.num_host_transfers == ir_.num_host_transfers(), "num_host_transfers ", plan_.num_host_transfers);
    for (std::size_t i = 0; i < plan_.variables.size() && problem_.empty(); ++i) check_variable(i);
    if (problem_.empty()) check_constants();
    for (std::size_t i = 0; i < plan_.streams.size() && problem_.empty(); ++i) {
      const auto& stream = plan_.streams[i];
      const StreamRecord& record = tables_.streams[i];
      expect(stream.direction == record.direction && stream.spec == record.spec && has_name(stream, record.name), "stream ", i);
    }
    for (std::size_t i = 0; i < plan_.remote_buffers.size() && problem_.empty(); ++i) {
      const auto& buffer = plan_.remote_buffers[i];
      const RemoteBufferRecord& record = tables_.remote_buffers[i];
      expect(buffer.spec == record.spec && buffer.entries == record.entries && buffer.mapping == record.mapping &&
                 has_name(buffer, record.name),
             "remote buffer ", i);
    }
    return std::move(problem_);
  }

 private:
  constexpr void expect(bool is_equal, const auto&... what) {
    if (!is_equal && problem_.empty())
      problem_ = text("values: ", what..., " of other names, values, types or replicas than in the program: equal ones expected");
  }
  constexpr bool has_name(const auto& row, std::string_view name) const { return name_in(plan_, row.name) == name; }
  /// Returns whether numbers have the same bits.
  static constexpr bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }
  static constexpr bool same(const auto& a, const auto& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!same(static_cast<double>(a.data()[i]), static_cast<double>(b.data()[i]))) return false;
    return true;
  }
  static constexpr bool same(const Generator& a, const Generator& b) {
    return a.write == b.write && same(a.a, b.a) && same(a.b, b.b) && a.axes == b.axes && same(a.scale, b.scale);
  }
  /// Returns whether a row has the numbers of a list, with rests or without.
  constexpr bool has_numbers(const auto& row, const Numbers& numbers) const {
    if constexpr (requires { row.has_rests; })
      return row.has_rests == numbers.has_rests() && same(plan_.numbers(row.values), numbers.list());
    else return row.values.has_rests() == numbers.has_rests() && same(row.values.list(), numbers.list());
  }
  /// Returns whether fills are equal; `row`: an Initialiser, or a FrozenVariable, whose members have the same names.
  constexpr bool same_fill(const auto& row, const Initialiser& initialiser) const {
    return row.fill == initialiser.fill && same(row.a, initialiser.a) && same(row.b, initialiser.b) &&
           same(row.scale, initialiser.scale) && row.first_zero == initialiser.first_zero &&
           row.zero_count == initialiser.zero_count && row.is_given == initialiser.is_given &&
           same(row.generator, initialiser.generator) && has_numbers(row, initialiser.values);
  }
  constexpr void check_variable(std::size_t i) {
    const auto& variable = plan_.variables[i];
    const VariableRecord& record = tables_.variables[i];
    const TensorRecord& tensor = tables_.record(GraphId::main).tensors[record.tensor];
    const Distribution &one = variable.distribution, &other = record.distribution;
    bool is_equal = variable.spec == tensor.spec && has_name(variable, tensor.name) && one.shape == other.shape &&
                    one.groups == other.groups && one.shard_over == other.shard_over && one.all_replicas == other.all_replicas;
    if constexpr (requires { variable.initialiser; })
      is_equal = is_equal && same_fill(variable.initialiser, record.initialiser) && same(variable.assignment, record.assignment);
    else
      is_equal = is_equal && same_fill(variable, record.initialiser) &&
                 same(plan_.numbers(variable.assignment), record.assignment);
    if (record.remote_buffer < 0) {
      is_equal = is_equal && variable.base == Base::variable;
    } else {
      const auto& buffer = plan_.remote_buffers[static_cast<std::size_t>(record.remote_buffer)];
      is_equal = is_equal && variable.base == Base::remote && variable.offset == buffer.offset + record.row * buffer.row_bytes();
    }
    expect(is_equal, "variable ", i, " (", tensor.name, ")");
  }
  constexpr void check_constants() {
    for (std::size_t i = 0; i < plan_.constants.size(); ++i)
      expect(same(plan_.constants[i].generator, tables_.constants[i].generator) &&
                 has_numbers(plan_.constants[i], tables_.constants[i].values),
             "constant ", i);
    List<bool> is_named(plan_.constants.size(), false);
    for (std::size_t g = tables_.graphs.size(); g-- > 0;) {  // the last name counts
      const GraphRecord& graph = tables_.graphs.data()[g];
      for (std::size_t t = graph.tensors.size(); t-- > 0 && problem_.empty();) {
        const TensorRecord& tensor = graph.tensors.data()[t];
        if (tensor.kind != TensorKind::constant) continue;
        const auto number = static_cast<std::size_t>(tensor.payload);
        expect(plan_.constants[number].spec == tensor.spec, "constant ", number);
        if (tensor.name.empty() || std::exchange(is_named[number], true)) continue;
        expect(has_name(plan_.constants[number], text(graph.name, graph.name.empty() ? "" : "/", tensor.name).view()),
               "constant ", number);
      }
    }
    for (std::size_t i = 0; i < is_named.size(); ++i) expect(is_named[i] || has_name(plan_.constants[i], ""), "constant ", i);
  }

  const AnyPlan& plan_;
  const Ir& ir_;
  const IrTables& tables_;
  Text problem_{};
};

}  // namespace tilewright::internal::proof::detail
