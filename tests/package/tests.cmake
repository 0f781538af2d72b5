# Projects that use the library: installed, with and without components; in their own folder; fetched; by pkg-config; as one
# header. And the Debian package.
set(package_source_dir ${CMAKE_CURRENT_SOURCE_DIR}/package)
set(package_build_dir ${CMAKE_CURRENT_BINARY_DIR}/package)
add_test(NAME package/install COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${package_build_dir}/prefix)
set_tests_properties(package/install PROPERTIES FIXTURES_SETUP package)
function(tilewright_add_package_test name)
  add_test(NAME package/${name}
           COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test ${package_source_dir} ${package_build_dir}/${name}
                   --build-generator ${CMAKE_GENERATOR}
                   --build-options -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DSOURCE=${PROJECT_SOURCE_DIR}
                                   -DVERSION=${PROJECT_VERSION} -DCMAKE_PREFIX_PATH=${package_build_dir}/prefix ${ARGN}
                   --test-command main)
  set_tests_properties(package/${name} PROPERTIES FIXTURES_REQUIRED package)
endfunction()
set(no_packages -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON -DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON -DCMAKE_DISABLE_FIND_PACKAGE_LibZip=ON
                -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON)
tilewright_add_package_test(use "-DCOMPONENTS=data$<SEMICOLON>images$<SEMICOLON>checkpoint")
set(checked)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # tests/fail has the texts of errors with both
  set(checked "-DCHECKED=train_step$<SEMICOLON>predict<2$<ANGLE-R>")
  # A program that tw::check refuses.
  tilewright_add_package_test(check ${no_packages} -DCHECKED=wrong_step)
  set_tests_properties(package/check PROPERTIES PASS_REGULAR_EXPRESSION "MatMul: .4, 3. x .4, 3.: inner dimensions 3 and 4 differ")
endif()
tilewright_add_package_test(core ${no_packages} ${checked} -DEXPORTED=${UNIX})
tilewright_add_package_test(subdirectory -DHOW=subdirectory ${no_packages} -DEXPORTED=${UNIX})
tilewright_add_package_test(precompiled -DPRECOMPILED=ON)
tilewright_add_package_test(precompiled_mixed -DPRECOMPILED=MIXED)
set_tests_properties(package/precompiled_mixed PROPERTIES PASS_REGULAR_EXPRESSION
                     "COMPILE_OPTIONS is.*for main and.*-O2.*for[ \n]+second:[ \n]+equal[ \n]+options,")
tilewright_add_package_test(lab -DCOMPONENTS=lab -DLAB=ON -DEXAMPLES=${PROJECT_SOURCE_DIR}/examples/lab)
# tests/systems imports the module, where compilers and CMake are new enough.
tilewright_add_package_test(import_refused -DIMPORTED=nothing)
set_tests_properties(package/import_refused PROPERTIES PASS_REGULAR_EXPRESSION
                     "tilewright_import:[ \n]+(CMake[ \n]+[0-9.]+:[ \n]+3.28[ \n]+or[ \n]+newer|nothing[ \n]+is[ \n]+no[ \n]+target)")
add_test(NAME package/onnx COMMAND ${package_build_dir}/prefix/bin/tilewright-import --help)  # its Python files are installed
set_tests_properties(package/onnx PROPERTIES FIXTURES_REQUIRED package PASS_REGULAR_EXPRESSION "--fix-from")
# What all programs have in common, where a target says that it is.
tilewright_add_package_test(runtime -DRUNTIME=ON)
tilewright_add_package_test(runtime_subdirectory -DHOW=subdirectory -DRUNTIME=ON -DPRECOMPILED=ON ${no_packages})
set_tests_properties(package/runtime_subdirectory PROPERTIES LABELS more)
add_test(NAME package/runtime_mixed COMMAND ${CMAKE_COMMAND} --build ${package_build_dir}/runtime --target mixed)
set_tests_properties(package/runtime_mixed PROPERTIES DEPENDS package/runtime PASS_REGULAR_EXPRESSION
                     "undefined reference to .*LibraryWithOptionsOfThisFile<[^\n]*NotOptimised")
find_package(Git QUIET)
set(fetched_from "SOURCE_DIR$<SEMICOLON>${PROJECT_SOURCE_DIR}")  # of an archive, or a checkout that is another user's
set(status 1)
if(GIT_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse HEAD WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} RESULT_VARIABLE status
                  OUTPUT_QUIET ERROR_QUIET)
endif()
if(status EQUAL 0)
  set(fetched_from "GIT_REPOSITORY$<SEMICOLON>${PROJECT_SOURCE_DIR}$<SEMICOLON>GIT_TAG$<SEMICOLON>HEAD")
endif()
tilewright_add_package_test(fetched -DHOW=fetched "-DFETCHED_FROM=${fetched_from}" ${no_packages})
tilewright_add_package_test(missing -DCOMPONENTS=checkpoint ${no_packages})
# CMake breaks the lines of its messages.
set_tests_properties(package/missing PROPERTIES PASS_REGULAR_EXPRESSION
                     "needs ZLIB, LibZip, nlohmann_json .on Debian:[ \n]+zlib1g-dev libzip-dev nlohmann-json3-dev.")
tilewright_add_package_test(unknown -DCOMPONENTS=datta)
set_tests_properties(package/unknown PROPERTIES PASS_REGULAR_EXPRESSION
                     "Component datta is unknown: one of data, images, profile, lab,[ \n]+checkpoint,[ \n]+scaling,[ \n]+verified,[ \n]+distributed expected")
add_test(NAME package/pkg_config COMMAND Python3::Interpreter ${package_source_dir}/pkg_config.py
                                         ${package_build_dir}/prefix ${CMAKE_CXX_COMPILER} ${PROJECT_VERSION})
set_tests_properties(package/pkg_config PROPERTIES FIXTURES_REQUIRED package SKIP_RETURN_CODE 77)
add_test(NAME package/deb COMMAND Python3::Interpreter ${package_source_dir}/deb.py ${PROJECT_BINARY_DIR} ${PROJECT_VERSION})
set_tests_properties(package/deb PROPERTIES SKIP_RETURN_CODE 77)
list(JOIN tilewright_${compiler}_options " " options)
add_test(NAME package/single_header COMMAND Python3::Interpreter ${package_source_dir}/single_header.py
                                            ${CMAKE_CXX_COMPILER} ${options})
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # Clang gets package/use and package/pkg_config
  set_tests_properties(package/core package/lab package/subdirectory package/fetched package/single_header PROPERTIES LABELS more)
endif()

# The Debian package in fresh systems.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_test(NAME package/systems COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/systems/run.py --package)
  set_tests_properties(package/systems PROPERTIES LABELS more SKIP_RETURN_CODE 77 TIMEOUT 1800)
endif()
# One way is enough for a change.
get_directory_property(tests TESTS)
list(FILTER tests INCLUDE REGEX "^package/")
list(REMOVE_ITEM tests package/install package/use)
foreach(test IN LISTS tests)
  tilewright_leave_to_rest(${test})
endforeach()
