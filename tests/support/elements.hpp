#pragma once
#include <vector>

#include "../catch.hpp"
#include "programs.hpp"
#include "test_session.hpp"
#include "tilewright/tilewright.hpp"

namespace tw = tilewright;
using namespace tw::literals;

/// An array's elements in row-major order, in a type that Catch2 compares and prints.
template <class Array>
auto elements(const Array& array) {
  return std::vector(array.data(), array.data() + array.size());
}
using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;

using support::store;

/// Calls f with a session of the program for each machine and several numbers of threads.
template <auto build>
void on_all_machines(auto f) {
  for (const int threads : {1, 2, 3}) {
    INFO(threads << " threads");
    tw::Session<build> on_cpu({.threads = threads});
    f(on_cpu);
    TestSession<build, tw::ipu_model> on_ipu({.threads = threads});
    f(on_ipu);
    tw::Session<build, tw::cpu.without_fusion()> unfused({.threads = threads});
    f(unfused);
  }
}
