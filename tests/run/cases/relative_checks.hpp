#pragma once
#include "op_checks.hpp"

/// The number as an element of a dtype: one beyond its range is infinite.
inline double as_element(tw::DType dtype, double number) {
  return tw::visit_dtype(dtype, [&]<class T>(std::type_identity<T>) { return static_cast<double>(static_cast<T>(number)); });
}
/// All results of the program are the reference's to a relative error, but for `least`. Beyond the dtype's range they are
/// infinite.
template <auto cases, tw::Target target>
void check_relative(tw::DType dtype, double tolerance, double least, int threads = 1) {
  TestSession<cases, target> session({.threads = threads});
  write_variables(session, reference());
  for (const auto& [name, elements] : run_both(session)) {
    const std::vector<double>& expected = reference().at(name);
    REQUIRE(elements.size() == expected.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      INFO(name << "[" << i << "]: " << elements[i] << ", " << expected[i] << " expected");
      const double error = std::abs(elements[i] - expected[i]);
      CHECK((elements[i] == as_element(dtype, expected[i]) || error <= tolerance * std::abs(expected[i]) + least));
    }
  }
}
