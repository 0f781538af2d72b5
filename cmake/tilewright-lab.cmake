# tilewright_lab(NAME SOURCE net.hpp PROGRAMS program... [LIBRARIES ...])
#
# Makes the program NAME, which plans programs for many simulated IPUs: NAME --help shows its options. SOURCE: a C++ header with the
# programs. PROGRAMS: their names there, which are also those of --program. LIBRARIES: what it needs besides tilewright::lab.
function(tilewright_lab name)
  cmake_parse_arguments(PARSE_ARGV 1 given "" "SOURCE" "PROGRAMS;LIBRARIES")
  if(NOT given_SOURCE OR NOT given_PROGRAMS OR given_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tilewright_lab(${ARGV}): NAME SOURCE file PROGRAMS program... [LIBRARIES name...] expected")
  endif()
  if(NOT TARGET tilewright::lab)
    message(FATAL_ERROR "tilewright_lab(${name}): no tilewright::lab, without ${tilewright_lab_missing}")
  endif()
  cmake_path(ABSOLUTE_PATH given_SOURCE BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set(content "#include \"${given_SOURCE}\"\n\n#include <tilewright/lab.hpp>\n\nint main(int argc, char** argv) {\n")
  string(APPEND content "  return tilewright::lab::run(argc, argv, {\n")
  foreach(program IN LISTS given_PROGRAMS)
    string(APPEND content "      {\"${program}\", ${program}},\n")
  endforeach()
  string(APPEND content "  });\n}\n")
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}_lab.cpp CONTENT "${content}" @ONLY)
  add_executable(${name} ${CMAKE_CURRENT_BINARY_DIR}/${name}_lab.cpp)
  target_link_libraries(${name} PRIVATE tilewright::tilewright tilewright::lab ${given_LIBRARIES})
  set_target_properties(${name} PROPERTIES TILEWRIGHT_RUNTIME headers)  # there is one source, and it runs no session
  target_compile_options(${name} PRIVATE -O1)  # the planner runs
endfunction()
