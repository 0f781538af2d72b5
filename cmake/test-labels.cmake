# The first line of a test is `// labels: ` and the names of what it is part of, or `none`. An example has the line beside those that
# say how it is run. What the labels mean:
#
#   quick, clang, portable, standard-library, asan, ubsan, tsan, arm
#               part of the preset of that name; of tests/fail, Clang leaves all but those labelled `clang` to `--all`
#   more        left to `./dev test --all`
#   rest        left to `./dev test --rest` with GCC, because other tests of its kind take less time
#   alone       has its own program: its macros or names outside namespaces are not for other tests
#   optimised   computes for long: GCC compiles it as users do also in `./dev test`
#   strict      its sessions for simulated IPUs are TestSessions: also runs on tiles with memory of their own. An example says by
#               `// strict:` with which arguments it does
#   instances   `./dev launch` can put its replicas in several processes
#   windows     also runs on 64-bit Windows
#   systems     also runs in fresh systems
#
# CTest has these labels, too: `strict` for the run in strict mode only, `more` for what this build leaves to `--all`, `rest` for what
# `./dev test` leaves to `--rest`, `joined` for tests that are compiled with others (tests/join.cmake), and `target:NAME` for the
# target that a test needs.

# The name of a test: its source's path in a folder, without the extension.
function(tilewright_name_test name folder source)
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} OUTPUT_VARIABLE result)
  cmake_path(REMOVE_EXTENSION result)
  set(${name} ${result} PARENT_SCOPE)
endfunction()

# Reads the labels of the .cpp files in a folder of tests and in those within it, or in examples/, examples/lessons/ and
# examples/more/, each of which must be one of those given. Sets <prefix>_<label> to the names of the sources that have a label, <prefix>_labels_<name> to the labels of a
# source for CTest, and <prefix>_sources to the sources that have the label `chosen`, or to all if it is empty.
function(tilewright_read_labels prefix folder chosen)
  list(JOIN ARGN ", " known)
  if(chosen AND NOT chosen IN_LIST ARGN)
    message(FATAL_ERROR "${folder}: unknown label '${chosen}' asked for: one of ${known} expected")
  endif()
  if(folder STREQUAL examples)  # its other folders have what examples share
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cpp ${PROJECT_SOURCE_DIR}/examples/lessons/*.cpp
                                        ${PROJECT_SOURCE_DIR}/examples/more/*.cpp)
  else()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
  set(chosen_sources)
  foreach(label IN LISTS ARGN)
    set(names_${label})
  endforeach()
  foreach(source IN LISTS sources)
    tilewright_name_test(name ${folder} ${source})
    file(STRINGS ${source} lines LIMIT_INPUT 4000 REGEX "^// labels:")  # at the top
    list(LENGTH lines count)
    string(REGEX REPLACE "^// labels: *" "" labels "${lines}")
    if(NOT count EQUAL 1 OR labels STREQUAL "")
      message(FATAL_ERROR "${folder}/${name}.cpp: one line '// labels: ' with some of ${known}, or with none, expected at the top")
    endif()
    string(REGEX MATCHALL "[^ ]+" labels "${labels}")
    if(labels STREQUAL "none")
      set(labels)
    endif()
    foreach(label IN LISTS labels)
      if(NOT label IN_LIST ARGN)
        message(FATAL_ERROR "${folder}/${name}.cpp: unknown label '${label}': some of ${known}, or none, expected")
      endif()
      list(APPEND names_${label} ${name})
    endforeach()
    if(NOT chosen OR chosen IN_LIST labels)
      list(APPEND chosen_sources ${source})
    endif()
    list(REMOVE_ITEM labels alone more rest strict)
    set(${prefix}_labels_${name} ${labels} PARENT_SCOPE)
  endforeach()
  if(NOT chosen_sources)
    message(FATAL_ERROR "${folder}: no source has the label '${chosen}'")
  endif()
  foreach(label IN LISTS ARGN)
    set(${prefix}_${label} ${names_${label}} PARENT_SCOPE)
  endforeach()
  set(${prefix}_sources ${chosen_sources} PARENT_SCOPE)
endfunction()

# Gives a test the labels that follow, and that of the target that it needs.
function(tilewright_label_test test target)
  set_property(TEST ${test} APPEND PROPERTY LABELS target:${target} ${ARGN})
endfunction()

# Leaves a test with GCC to `./dev test --rest`, which continuous integration also runs: a target that only it needs is built for
# `rest_tests`, not for `all`.
add_custom_target(rest_tests)
function(tilewright_leave_to_rest test)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set_property(TEST ${test} APPEND PROPERTY LABELS rest)
    foreach(target IN LISTS ARGN)
      set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
      add_dependencies(rest_tests ${target})
    endforeach()
  endif()
endfunction()

# Leaves a test to `./dev test --all`: its target is built for `more_tests`, not for `all`.
add_custom_target(more_tests)
function(tilewright_leave_to_all test target)
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(more_tests ${target})
  set_property(TEST ${test} APPEND PROPERTY LABELS more)
endfunction()
