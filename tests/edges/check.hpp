#pragma once
// Runs the cases with inputs of all kinds, and compares results and gradients with those of tests/reference/edge_values.txt.
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "all_cases.hpp"
#include "tilewright/execute/strict_executor.hpp"
#include "tolerance.hpp"

namespace edges {

using Elements = std::vector<double>;
/// Of one case and kind of input, by the tensor's name, such as dx0.
using Row = std::map<std::string, Elements>;

/// The rows of one dtype by kind of input and case.
inline std::map<std::string, std::map<std::string, Row>> read_rows(const std::string& path, const std::string& dtype) {
  std::ifstream file(path);
  std::vector<Elements> lists;
  std::string line;
  while (std::getline(file, line) && !line.empty()) {
    std::istringstream words(line);
    Elements& list = lists.emplace_back();
    for (std::string word; words >> word;) list.push_back(std::strtod(word.c_str(), nullptr));  // also nan and inf
  }
  std::map<std::string, std::map<std::string, Row>> rows;
  std::string name;
  std::vector<std::string> tensors;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string kind, word;
    if (name.empty()) {
      words >> name;
      tensors.clear();
      while (words >> word) tensors.push_back(word);
    } else if (line.empty()) {
      name.clear();
    } else if (words >> word >> kind; word == dtype) {
      Row& row = rows[kind][name];
      for (const std::string& tensor : tensors)
        if (words >> word; word != "-") row[tensor] = lists.at(std::stoul(word));
    }
  }
  return rows;
}

struct Failures {
  std::set<std::string> cases{};  ///< that have any
  int count = 0;
};

/// Runs a program once for each kind of input.
template <auto build, tw::Target target>
class Check {
  using Program = tw::internal::Program<build, target>;
  static constexpr const auto& plan = Program::plan;

 public:
  /// `negated`: results have the other sign, and inputs are given it.
  Check(DType dtype, bool negated, int threads, bool strict)
      : dtype_(dtype), sign_(negated ? -1 : 1), executor_(Program::view(), threads, strict), arrays_(plan.streams.size()) {
    tw::fill_constants(Program::view(), executor_.constants());
    for (std::size_t i = 0; i < arrays_.size(); ++i)
      arrays_[i].resize(static_cast<std::size_t>(plan.streams[i].spec.bytes()) / sizeof(std::max_align_t) + 1);
  }
  void run(const std::string& where, const std::map<std::string, Row>& rows, Failures& failures) {
    for (std::size_t v = 0; v < plan.variables.size(); ++v) {
      const auto [name, tensor] = split(plan.variable_name(v));
      const TensorSpec spec = tw::host_spec(plan, v);
      Elements elements(static_cast<std::size_t>(spec.nelms()));
      if (const auto row = rows.find(name); row != rows.end()) elements = row->second.at(tensor);
      if (elements.size() != static_cast<std::size_t>(spec.nelms())) throw std::length_error(where + name + "." + tensor);
      const double sign = tensor[0] == 'x' && tw::is_floating_point(spec.dtype) ? sign_ : 1;
      tw::visit_dtype(spec.dtype, [&]<class T>(std::type_identity<T>) {
        T* memory = reinterpret_cast<T*>(executor_.variables() + plan.variables[v].offset);
        for (std::size_t i = 0; i < elements.size(); ++i) memory[i] = static_cast<T>(sign * elements[i]);
      });
    }
    std::vector<tw::internal::OperandAddress> streams;
    for (auto& array : arrays_) streams.push_back(reinterpret_cast<std::byte*>(array.data()));
    executor_.run(streams);
    for (std::size_t s = 0; s < arrays_.size(); ++s) {
      const auto [name, tensor] = split(plan.stream_name(s));
      const auto row = rows.find(name);
      if (row == rows.end()) continue;
      compare(where, name, tensor, row->second, streams[s].get(), plan.streams[s].spec, failures);
    }
  }

 private:
  static std::pair<std::string, std::string> split(std::string_view name) {
    return {std::string(name.substr(0, name.find('.'))), std::string(name.substr(name.find('.') + 1))};
  }
  void compare(const std::string& where, const std::string& name, const std::string& tensor, const Row& row,
               const std::byte* memory, const TensorSpec& spec, Failures& failures) const {
    const Elements& expected = row.at(tensor);
    const auto moves = row.find("s" + tensor);
    if (expected.size() != static_cast<std::size_t>(spec.nelms())) throw std::length_error(where + name + "." + tensor);
    tw::visit_dtype(spec.dtype, [&]<class T>(std::type_identity<T>) {
      bool wrong = false;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const double actual = static_cast<double>(reinterpret_cast<const T*>(memory)[i]) * (tensor[0] == 'y' ? sign_ : 1);
        const double move = moves == row.end() ? 0 : moves->second[i];
        if (agree(dtype_, actual, expected[i], move)) continue;
        if (!wrong) {
          std::printf("%s: %s.%s[%zu]: %.9g: %.9g expected, to %.2g\n", where.c_str(), name.c_str(), tensor.c_str(), i, actual,
                      expected[i], tolerance(dtype_, expected[i], move));
          ++failures.count;
        }
        wrong = true;
      }
      if (wrong) failures.cases.insert(name);
    });
  }

  DType dtype_;
  double sign_;
  tw::internal::Executor executor_;
  std::vector<std::vector<std::max_align_t>> arrays_;  // by stream
};

constexpr std::string_view short_name(DType dtype) {
  return dtype == tw::float16 ? "f16" : dtype == tw::bfloat16 ? "bf16" : "f32";
}
/// Runs the cases of a dtype on 1 and 3 threads of the host, or on a simulated IPU, also in strict mode.
template <const auto& names, DType dtype, tw::Target target, bool fused>
void check(const std::string& path, Failures& failures) {
  constexpr auto build = [](Ir& ir) { add_cases(ir, dtype, fused, names); };
  const std::string text(short_name(dtype));
  const auto rows = read_rows(path, text);
  constexpr bool simulated = target.ipu != nullptr;
  for (const bool more : {false, true}) {
    Check<build, target> program(dtype, fused, more && !simulated ? 3 : 1, more && simulated);
    const std::string where = simulated ? more ? " in strict mode" : " on tiles" : more ? " on 3 threads" : " on the host";
    for (const auto& [kind, cases] : rows) program.run(text + where + (fused ? ", fused, " : ", ") + kind, cases, failures);
  }
}
/// Says which cases failed; the exit status.
inline int report(const Failures& failures) {
  std::printf("failed:");
  for (const std::string& name : failures.cases) std::printf(" %s", name.c_str());
  std::printf("\n");
  return failures.count > 0;
}

}  // namespace edges
