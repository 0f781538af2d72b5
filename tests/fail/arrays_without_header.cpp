// labels: clang
// Arrays of kernels without the header that has them.
#include <tilewright/operand/view.hpp>

namespace tw = tilewright;

using X = tw::View<tw::written_out({tw::float32, {8, 4}, tw::dense_strides({8, 4})}), true>;

// CASE array_without_its_header
// precompiled: no
// expect: array(): `#include <tilewright/array.hpp>` expected
#ifdef CASE_array_without_its_header
void array_without_its_header(X x) { x.array(); }
#endif
