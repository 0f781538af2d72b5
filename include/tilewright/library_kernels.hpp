#pragma once
// Kernels whose extents are arguments, for Target::with_library_kernels(): docs/start/compiling.md.
#include "tilewright/core/requirements.hpp"

#include "tilewright/execute/library/library_program_code.hpp"
#include "tilewright/execute/library/library_sets.hpp"

#ifdef TILEWRIGHT_LIBRARY_KERNELS  // the library of the user's build has them: cmake/compiled.cpp
extern template class tilewright::internal::LibraryProgram<tilewright::ThisBuild>;
#endif
