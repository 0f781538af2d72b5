# tilewright_check(NAME HEADER net.hpp PROGRAMS train_step test_step [LIBRARIES ...] [FITS gc200])
#
# Adds the target NAME, which traces programs that a header declares, and compiles if nothing is wrong with them: tw::check. With FITS,
# NAME_memory plans them for that machine, and compiles if they fit its memory: tw::require_fits. Neither is part of `all`: `cmake
# --build build --target NAME`. The header should include tilewright/model.hpp in place of tilewright/tilewright.hpp, so that a check
# takes half the time. LIBRARIES: what it needs besides tilewright::tilewright.
function(tilewright_check name)
  cmake_parse_arguments(PARSE_ARGV 1 given "" "HEADER;FITS" "PROGRAMS;LIBRARIES")
  if(given_UNPARSED_ARGUMENTS OR NOT given_HEADER OR NOT given_PROGRAMS)
    message(FATAL_ERROR "tilewright_check(${ARGV}): NAME HEADER file PROGRAMS name... [LIBRARIES name...] [FITS machine] expected")
  endif()
  cmake_path(ABSOLUTE_PATH given_HEADER BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set(traced "#include \"${given_HEADER}\"\n\n#include <tilewright/check.hpp>\n\n")
  set(planned "#include \"${given_HEADER}\"\n\n#include <tilewright/tilewright.hpp>\n\n")
  foreach(program IN LISTS given_PROGRAMS)
    string(APPEND traced "static_assert(tilewright::check<${program}>);\n")
    string(APPEND planned "static_assert(tilewright::require_fits<${program}, tilewright::${given_FITS}>());\n")
  endforeach()
  _tilewright_add_check(${name} "${traced}" ${given_LIBRARIES})
  target_precompile_headers(${name} PRIVATE <tilewright/model.hpp> <tilewright/check.hpp>)
  if(given_FITS)
    _tilewright_add_check(${name}_memory "${planned}" ${given_LIBRARIES})
    target_precompile_headers(${name}_memory PRIVATE <tilewright/tilewright.hpp>)
  endif()
endfunction()

function(_tilewright_add_check name content)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp CONTENT "${content}" @ONLY)
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE tilewright::tilewright ${ARGN})
  set_target_properties(${name} PROPERTIES TILEWRIGHT_RUNTIME linked)  # nothing of it runs
  target_compile_options(${name} PRIVATE -O0 -g0)
endfunction()
