# tilewright_import(TARGET...)
#
# For targets that link tilewright::tilewright or tilewright::header_only: their sources may say `import tilewright;` in place of
# including headers, after `#include <tilewright/import.hpp>`, which has the macros. Each target compiles the module once, with its own
# options. Needs CMake 3.28 or newer, a generator that knows modules (Ninja), and GCC 16 or Clang 23.
function(tilewright_import)
  if(CMAKE_VERSION VERSION_LESS 3.28)
    message(FATAL_ERROR "tilewright_import: CMake ${CMAKE_VERSION}: 3.28 or newer expected")
  endif()
  if(NOT ARGV)
    message(FATAL_ERROR "tilewright_import(): TARGET... expected")
  endif()
  _tilewright_require_targets(tilewright_import ${ARGV})
  foreach(target IN LISTS ARGV)
    target_sources(${target} PRIVATE FILE_SET tilewright_module TYPE CXX_MODULES BASE_DIRS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}
                                     FILES ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/tilewright.cppm)
    set_target_properties(${target} PROPERTIES CXX_SCAN_FOR_MODULES ON)
    # else Clang 23 forgets functions of xsimd and of the standard library that templates find by their arguments
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-fno-modules-reduced-bmi>)
  endforeach()
endfunction()
