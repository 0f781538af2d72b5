#pragma once
// Programs in one object for systems without exceptions, heap, threads and the C++ standard library at run time: what
// tilewright/model.hpp has, and StaticSession, which refuses programs that print. Include it before other headers of the library,
// such as those of layers/ and train/step.hpp. It compiles with -fno-exceptions -fno-rtti -fno-threadsafe-statics. The compiler
// needs a hosted standard library; the executable needs memcpy, memmove, memset and memcmp.
#define TILEWRIGHT_EMBEDDED
#include <ostream>

// <iostream> of libstdc++ before version 13 has an object whose constructor is in the library. xtensor includes it for messages
// that nothing here writes.
#if defined(_GLIBCXX_RELEASE) && _GLIBCXX_RELEASE < 13 && !defined(_GLIBCXX_IOSTREAM)
#define _GLIBCXX_IOSTREAM
#define TILEWRIGHT_HIDES_IOSTREAM
namespace std {
extern ostream cout, cerr;
}
#endif

#include "tilewright/core/requirements.hpp"

#include "tilewright/model.hpp"
#include "tilewright/session/static_session.hpp"

#ifdef TILEWRIGHT_HIDES_IOSTREAM
#undef _GLIBCXX_IOSTREAM
#undef TILEWRIGHT_HIDES_IOSTREAM
#endif
