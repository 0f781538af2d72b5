// labels: clang
// Errors of models that are compiled without exceptions.
#include <tilewright/embedded.hpp>

namespace tw = tilewright;

// CASE reshape
// flags: -fno-exceptions -fno-rtti -fno-threadsafe-statics
// precompiled: no
// expect: Reshape: (8, 28, 28) float32 to (-1, 756): a shape of 6272 elements expected
#ifdef CASE_reshape
constexpr void reshape(tw::Ir& ir) { tw::ops::host_load(ir.h2d_stream("x", {8, 28, 28})).reshape({-1, 27 * 28}); }
tw::StaticSession<reshape> session;
#endif

// CASE nine_axes
// flags: -fno-exceptions -fno-rtti -fno-threadsafe-statics
// precompiled: no
// expect-in-source: TraceError(text("Shape: ", to_text(*this), " and an axis of ", extent, ": at most 6 axes expected")
#ifdef CASE_nine_axes
constexpr void nine_axes(tw::Ir& ir) { tw::ops::host_load(ir.h2d_stream("x", {8, 5})).reshape({1, 1, 1, 1, 1, 1, 1, 8, 5}); }
tw::StaticSession<nine_axes> session;
#endif
