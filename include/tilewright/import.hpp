#pragma once
// What a source includes that says `import tilewright;`: modules export no macros. It stands before the import.
#include <boost/hana/accessors.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/define_struct.hpp>

// Of these, GCC 16 and Clang 23 find in templates of a module only what the importing source sees.
#include <new>
#include <string_view>

#if defined(__x86_64__) && __has_include(<immintrin.h>)
#include <immintrin.h>  // GCC 16 takes vectors of a module that may lie at any address for aligned ones
#endif
