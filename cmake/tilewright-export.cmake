# tilewright_export(NAME SOURCE net.hpp PROGRAMS program... [WASM] [READ_ONLY] [TARGET one_core] [FLAGS option...])
#
# Makes a C library of programs: NAME is a target that C and C++ targets link, and that has NAME.h. Its memory, its functions and its
# variables are in that header. With WASM it makes a module for browsers and node: NAME is a target that writes NAME.wasm, NAME.js and
# NAME.d.ts to the folder NAME of the current binary folder. With READ_ONLY, variables that no program changes are in a .safetensors
# file in place, such as one in flash. SOURCE: a C++ header with the programs. TARGET: the machine,
# tilewright::one_core without it. FLAGS: options of the compiler, in place of -O3 -march=native, or -O3 with WASM. What is made is made
# again when SOURCE changes, or one of tilewright's own headers.
function(tilewright_export name)
  cmake_parse_arguments(PARSE_ARGV 1 given "WASM;READ_ONLY" "SOURCE;TARGET" "PROGRAMS;FLAGS")
  if(NOT given_SOURCE OR NOT given_PROGRAMS OR given_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tilewright_export(${ARGV}): NAME SOURCE file PROGRAMS program... [WASM] [READ_ONLY] [TARGET machine] [FLAGS option...] expected")
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/export.py)
  cmake_path(ABSOLUTE_PATH given_SOURCE BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name})
  set(options)
  if(given_TARGET)
    list(APPEND options --target ${given_TARGET})
  endif()
  if(given_FLAGS)
    list(JOIN given_FLAGS " " flags)
    list(APPEND options "--flags=${flags}")
  endif()
  if(given_READ_ONLY)
    list(APPEND options --read-only)
  endif()
  set(library ${folder}/lib${name}.a)
  set(header ${folder}/${name}.h)
  if(given_WASM)
    set(library ${folder}/${name}.wasm)
    set(header ${folder}/${name}.js ${folder}/${name}.d.ts)
    list(APPEND options --wasm ${folder})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      list(APPEND options --compiler ${CMAKE_CXX_COMPILER})
    endif()
  else()
    list(APPEND options --c ${folder} --compiler ${CMAKE_CXX_COMPILER})
  endif()
  add_custom_command(
    OUTPUT ${library} ${header}
    COMMAND Python3::Interpreter ${script} ${given_SOURCE} ${given_PROGRAMS} --name ${name} --depfile ${folder}/${name}.d
            "--include=$<TARGET_PROPERTY:tilewright::headers,INTERFACE_INCLUDE_DIRECTORIES>" ${options}
    DEPENDS ${given_SOURCE} ${script}
    DEPFILE ${folder}/${name}.d
    COMMENT "Exporting ${name}"
    VERBATIM)
  if(given_WASM)
    add_custom_target(${name} ALL DEPENDS ${library})
    return()
  endif()
  add_custom_target(${name}_export DEPENDS ${library})
  add_library(${name} INTERFACE)
  add_dependencies(${name} ${name}_export)
  target_include_directories(${name} INTERFACE ${folder})
  target_link_libraries(${name} INTERFACE ${library} m)
endfunction()
