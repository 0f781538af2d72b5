#pragma once
#include "op_checks.hpp"
#include "ops.hpp"

/// The cases of ops.txt but for convolutions: functions of float32, then layers and updates, and other dtypes.
template <tw::Target target>
void check_functions() {
  check_reference<op_cases::float32_functions, target>(1e-5);
}
template <tw::Target target>
void check_layers() {
  check_reference<op_cases::float32_layers, target>(1e-5);
  check_reference<op_cases::other_gradients, target>(1e-5);
  check_reference<op_cases::half_precision, target>(1e-3);  // rounding is up to 2^-11
  check_reference<op_cases::half_precision_norms_and_updates, target>(1e-3);
  check_reference<op_cases::integers_and_casts, target>(0);
}
