// labels: clang
// Names without the header that has them.
#include <tilewright/operand/view.hpp>

namespace tw = tilewright;

// CASE array_without_its_header
// precompiled: no
// expect: array(): `#include <tilewright/array.hpp>` expected
#ifdef CASE_array_without_its_header
using X = tw::View<tw::written_out({tw::float32, {8, 4}, tw::dense_strides({8, 4})}), true>;
void array_without_its_header(X x) { x.array(); }
#endif

// CASE library_kernels_without_their_header
// precompiled: no
// expect: with_library_kernels(): `#include <tilewright/library_kernels.hpp>` expected
#ifdef CASE_library_kernels_without_their_header
#include <tilewright/tilewright.hpp>
constexpr void program(tw::Ir& ir) {
  const auto x = tw::ops::host_load(ir.h2d_stream("x", {2, 2}));
  tw::ops::host_store(ir.d2h_stream("y", {2, 2}), x + 1);
}
auto run_on_library = [] { return tw::Session<program, tw::cpu.with_library_kernels()>({.threads = 1}); };
#endif
