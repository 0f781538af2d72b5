# tilewright_check(NAME HEADER net.hpp PROGRAMS train_step test_step [LIBRARIES ...])
#
# Adds the target NAME, which traces programs that a header declares, and compiles if nothing is wrong with them: tw::check. It is not
# part of `all`: `cmake --build build --target NAME`. The header should include tilewright/model.hpp in place of
# tilewright/tilewright.hpp, so that the check takes half the time. LIBRARIES: what it needs besides tilewright::tilewright.
function(tilewright_check name)
  cmake_parse_arguments(PARSE_ARGV 1 given "" HEADER "PROGRAMS;LIBRARIES")
  if(given_UNPARSED_ARGUMENTS OR NOT given_HEADER OR NOT given_PROGRAMS)
    message(FATAL_ERROR "tilewright_check(${ARGV}): NAME HEADER file PROGRAMS name... [LIBRARIES name...] expected")
  endif()
  cmake_path(ABSOLUTE_PATH given_HEADER BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set(content "#include \"${given_HEADER}\"\n\n#include <tilewright/check.hpp>\n\n")
  foreach(program IN LISTS given_PROGRAMS)
    string(APPEND content "static_assert(tilewright::check<${program}>);\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp CONTENT "${content}" @ONLY)
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE tilewright::tilewright ${given_LIBRARIES})
  target_compile_options(${name} PRIVATE -O0 -g0)  # nothing of it runs
endfunction()
