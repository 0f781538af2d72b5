#pragma once
// Runs random programs on a target and compares them with the interpreter. The programs are run without a session, whose
// functions take names as types: that would cost the compiler more than the programs do.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "../support/one_object.hpp"
#include "program.hpp"
#include "semantics.hpp"

namespace random_programs {

/// Programs of the seeds [first, first + count), in one Ir. Where bfloat16 may be, each second program has it in place of
/// float16.
template <std::uint64_t first, int count, bool gradients, bool has_bfloat16 = false>
constexpr void programs(Ir& ir) {
  for (std::uint64_t seed = first; seed < first + count; ++seed)
    add_program(ir, seed, tw::text("s", seed, ".").view(),
                {.gradients = gradients, .half = has_bfloat16 && seed % 2 == 0 ? tw::bfloat16 : tw::float16});
}

/// The first letter of a tensor's name after the prefix: what kind of variable or result it is.
inline char kind_of(const std::string& name) { return name[name.find('.') + 1]; }

/// Elements for the variables, as variable_elements says: multiples of 1/16, integers, or bools.
inline Results random_variables(const Ir& ir) {
  Results result;
  for (const auto& variable : ir.tables.variables) {
    const tw::TensorRecord& record = ir.tables.record(tw::GraphId::main).tensors[variable.tensor];
    const std::string name(record.name.view());
    Random random(std::hash<std::string>()(name));
    const Elements bounds = variable_elements(kind_of(name));
    const double unit = power_of_two(-bounds.grain);
    auto& elements = result[name];
    for (std::int64_t i = 0; i < record.spec.nelms(); ++i)
      elements.push_back(bounds.low + unit * random.below(static_cast<std::int64_t>((bounds.high - bounds.low) / unit) + 1));
  }
  return result;
}

// Elements in memory, and as numbers.
inline void write_elements(std::byte* memory, DType dtype, const std::vector<double>& elements) {
  tw::visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    for (std::size_t i = 0; i < elements.size(); ++i) reinterpret_cast<T*>(memory)[i] = static_cast<T>(elements[i]);
  });
}
inline std::vector<double> read_elements(const std::byte* memory, const TensorSpec& spec) {
  std::vector<double> elements(static_cast<std::size_t>(spec.nelms()));
  tw::visit_dtype(spec.dtype, [&]<class T>(std::type_identity<T>) {
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<double>(reinterpret_cast<const T*>(memory)[i]);
  });
  return elements;
}

/// What the planned programs give to their streams, and their variables after the run.
template <auto build, tw::Target target>
Results run(const Results& variables) {
  using Program = tw::internal::Program<build, target>;
  constexpr const auto& plan = Program::plan;
  tw::internal::Executor executor(Program::view(), 2);
  tw::fill_constants(Program::view(), executor.constants());
  for (std::size_t v = 0; v < plan.variables.size(); ++v)
    write_elements(executor.variables() + plan.variables[v].offset, tw::host_spec(plan, v).dtype,
                   variables.at(std::string(plan.variable_name(v))));
  std::vector<std::vector<std::max_align_t>> arrays(plan.streams.size());
  std::vector<tw::internal::OperandAddress> streams;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    arrays[i].resize(static_cast<std::size_t>(plan.streams[i].spec.bytes()) / sizeof(std::max_align_t) + 1);
    streams.push_back(reinterpret_cast<std::byte*>(arrays[i].data()));
  }
  const std::vector<std::byte> before(executor.variables(), executor.variables() + plan.memory.variables);
  executor.run(streams);
  if constexpr (target.ipu == nullptr) {
    support::Bytes first, outputs, last;
    for (const auto& variable : plan.variables) {
      first.push_back(before.data() + variable.offset);
      last.push_back(executor.variables() + variable.offset);
    }
    for (const auto& stream : streams) outputs.push_back(stream.get());
    if (const auto name = support::differs_in_one_object<Program>(first, outputs, last); !name.empty()) {
      std::printf("%s has other bits in one object\n", name.c_str());
      std::exit(1);
    }
  }
  Results results;
  for (std::size_t i = 0; i < arrays.size(); ++i)
    results[std::string(plan.stream_name(i))] = read_elements(streams[i].get(), plan.streams[i].spec);
  for (std::size_t v = 0; v < plan.variables.size(); ++v)
    results[std::string(plan.variable_name(v))] = read_elements(executor.variables() + plan.variables[v].offset,
                                                                tw::host_spec(plan, v));
  return results;
}

/// Prints what is wrong, and counts it.
class Report {
 public:
  template <class... Arguments>
  void fail(const char* format, const Arguments&... arguments) {
    if (++failures_ <= 20) std::printf(format, arguments...);
  }
  int failures() const { return failures_; }

 private:
  int failures_ = 0;
};

inline bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// All results are those of the interpreter: exact ones the same, of others what rounding may do is measured. Results in float64
/// and results that are rounded to the dtypes after each op differ by so much that a result may differ 16 times as much.
inline void compare(Report& report, const std::string& where, const Results& all, const Results& exact, const Results& rounded) {
  for (const auto& [name, expected] : exact) {
    const std::vector<double>& actual = all.at(name);
    const bool is_exact = kind_of(name) == 'e';
    double largest = 1e-6, noise = 1e-6;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      largest = std::max(largest, std::abs(expected[i]));
      noise = std::max(noise, std::abs(expected[i] - rounded.at(name)[i]));
    }
    const double tolerance = is_exact ? 0 : 16 * noise + 1e-5 * largest;
    if (actual.size() != expected.size())
      report.fail("%s, %s: %zu elements: %zu expected\n", where.c_str(), name.c_str(), actual.size(), expected.size());
    for (std::size_t i = 0; i < std::min(actual.size(), expected.size()); ++i)
      if (!same(actual[i], expected[i]) && !(std::abs(actual[i] - expected[i]) <= tolerance)) {
        report.fail("%s, %s: element %zu of %zu is %.9g: %.9g expected, to %.3g\n", where.c_str(), name.c_str(), i,
                    expected.size(), actual[i], expected[i], tolerance);
        break;
      }
  }
}
template <std::uint64_t first, int count, tw::Target target>
void check_results(Report& report, const std::string& where) {
  constexpr auto build = programs < first, count, false, target.ipu == nullptr > ;  // IPUs have no bfloat16
  Ir ir;
  build(ir);
  const Results variables = random_variables(ir);
  const Results exact = Interpreter(ir, false).run(variables), rounded = Interpreter(ir, true).run(variables);
  compare(report, where, run<build, target>(variables), exact, rounded);
}

/// The gradients of each program's loss are those of central differences of the interpreter, along random directions.
template <std::uint64_t first, int count, tw::Target target>
void check_gradients(Report& report, const std::string& where) {
  Ir ir;
  for (std::uint64_t seed = first; seed < first + count; ++seed)
    add_program(ir, seed, tw::text("s", seed, ".").view(), {.gradients = true, .only_loss = true});
  Interpreter interpreter(ir, false);
  const Results variables = random_variables(ir), losses = interpreter.run(variables);
  const Results actual = run<programs<first, count, true>, target>(variables);
  Random random(first);
  for (int direction = 0; direction < 3; ++direction) {
    Results v;
    for (const auto& [name, elements] : variables)
      for (std::size_t i = 0; i < elements.size(); ++i) v[name].push_back((random.below(65) - 32) / 32.0);
    const auto losses_at = [&](double step) {
      Results moved = variables;
      for (auto& [name, elements] : moved)
        for (std::size_t i = 0; i < elements.size(); ++i) elements[i] += step * v[name][i];
      return interpreter.run(moved);
    };
    const double h = most_moved / 2;
    const Results after = losses_at(h), before = losses_at(-h), far_after = losses_at(2 * h), far_before = losses_at(-2 * h);
    for (const auto& [name, loss] : losses) {
      if (kind_of(name) != 'l') continue;  // a variable
      const double near = (after.at(name)[0] - before.at(name)[0]) / (2 * h),
                   far = (far_after.at(name)[0] - far_before.at(name)[0]) / (4 * h);
      const std::string prefix = name.substr(0, name.find('.') + 1);
      double given = 0, size = 1e-3;
      for (const auto& [dname, gradient] : actual) {
        if (!dname.starts_with(prefix + "d")) continue;
        const std::string variable = prefix + dname.substr(prefix.size() + 1);
        for (std::size_t i = 0; i < gradient.size(); ++i) {
          given += gradient[i] * v.at(variable)[i];
          size += std::abs(gradient[i] * v.at(variable)[i]);
        }
      }
      if (!(std::abs(actual.at(name)[0] - loss[0]) <= 1e-4 * std::max(1.0, std::abs(loss[0]))))
        report.fail("%s, %s: %.9g: %.9g expected\n", where.c_str(), name.c_str(), actual.at(name)[0], loss[0]);
      const double tolerance = 1e-4 * size + 8 * std::abs(near - far);
      if (!(std::abs(given - near) <= tolerance))
        report.fail("%s, %s: derivative %.9g: %.9g expected, to %.3g\n", where.c_str(), name.c_str(), given, near, tolerance);
    }
  }
}

}  // namespace random_programs
