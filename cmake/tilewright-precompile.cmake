# tilewright_precompile(TARGET... [HEADERS net.hpp ...])
#
# Compiles tilewright's headers for programs once, for all these targets together, so that each of their sources takes less time to
# compile. HEADERS: more headers that most sources of the targets include, and that rarely change. A compiler uses a precompiled
# header only with the options that it was made with. So all targets of a call need equal options, and CMake stops if they differ.
# Targets with other options need a call of their own.
#
# If TILEWRIGHT_COMPILED is on, the targets of a call also share a static library of what sessions of all programs have in common:
# each source takes less time to compile, because it does not compile this code again. The library has the options of the targets.
option(TILEWRIGHT_COMPILED "tilewright_precompile also makes a library of the code that is equal in all programs" OFF)

function(tilewright_precompile)
  cmake_parse_arguments(PARSE_ARGV 0 given "" "" "HEADERS")
  set(targets ${given_UNPARSED_ARGUMENTS})
  if(NOT targets)
    message(FATAL_ERROR "tilewright_precompile(${ARGV}): TARGET... [HEADERS file...] expected")
  endif()
  foreach(target IN LISTS targets)
    if(NOT TARGET ${target})
      message(FATAL_ERROR "tilewright_precompile: ${target} is no target: the name of a target that exists expected")
    endif()
  endforeach()
  list(GET targets 0 first)
  set(owner ${first})  # of the precompiled header
  set(sharers ${targets})
  if(TILEWRIGHT_COMPILED)
    set(owner ${first}_tilewright)
    add_library(${owner} STATIC ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/compiled.cpp)
  else()
    list(POP_FRONT sharers)
  endif()
  target_precompile_headers(${owner} PRIVATE <tilewright/precompiled.hpp> ${given_HEADERS})
  foreach(target IN LISTS sharers)
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endforeach()
  # The options may change until the end of the caller's file. A deferred call needs its arguments as they are now.
  list(JOIN targets " " targets)
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _tilewright_finish_precompile ${owner} ${targets})")
endfunction()

function(_tilewright_finish_precompile owner first)
  foreach(target IN LISTS ARGN)
    _tilewright_require_equal_options(${first} ${target})
  endforeach()
  foreach(target IN LISTS first ARGN)  # GCC forgets in precompiled headers which warnings its headers for AVX-512 turn off
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized;-Wno-uninitialized>")
  endforeach()
  if(NOT owner STREQUAL first)
    _tilewright_share_library(${owner} ${first} ${ARGN})
  endif()
endfunction()

# Gives the library the options of the first target, and links it to all targets.
function(_tilewright_share_library library first)
  foreach(target IN LISTS first ARGN)
    target_compile_definitions(${target} PRIVATE TILEWRIGHT_COMPILED)
    # by properties: a target may use either signature of target_link_libraries
    set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES ${library})
    get_target_property(type ${target} TYPE)
    if(type MATCHES "STATIC|OBJECT")
      set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES $<LINK_ONLY:${library}>)
    endif()
  endforeach()
  foreach(property IN ITEMS COMPILE_FLAGS CXX_STANDARD CXX_EXTENSIONS POSITION_INDEPENDENT_CODE INTERPROCEDURAL_OPTIMIZATION)
    get_target_property(value ${first} ${property})
    if(NOT value STREQUAL "value-NOTFOUND")
      set_property(TARGET ${library} PROPERTY ${property} ${value})
    endif()
  endforeach()
  get_target_property(type ${first} TYPE)
  get_target_property(is_independent ${first} POSITION_INDEPENDENT_CODE)
  if(type STREQUAL "EXECUTABLE" AND is_independent)  # CMake compiles executables with another option than libraries
    set_property(TARGET ${library} PROPERTY POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${library} PRIVATE ${CMAKE_CXX_COMPILE_OPTIONS_PIE})
  elseif(type MATCHES "SHARED|MODULE" AND NOT is_independent STREQUAL "FALSE")
    set_property(TARGET ${library} PROPERTY POSITION_INDEPENDENT_CODE ON)
  endif()
  # with what the first target gets from others, which the library does not link: they may link it
  target_compile_features(${library} PRIVATE $<TARGET_PROPERTY:${first},COMPILE_FEATURES>)
  target_compile_options(${library} PRIVATE $<TARGET_PROPERTY:${first},COMPILE_OPTIONS>)
  target_compile_definitions(${library} PRIVATE $<TARGET_PROPERTY:${first},COMPILE_DEFINITIONS>)
  target_include_directories(${library} SYSTEM PRIVATE $<TARGET_PROPERTY:${first},INCLUDE_DIRECTORIES>)
endfunction()

# Stops if a target cannot use the precompiled header of the other one.
function(_tilewright_require_equal_options first target)
  foreach(property IN ITEMS COMPILE_OPTIONS COMPILE_FLAGS COMPILE_DEFINITIONS COMPILE_FEATURES CXX_STANDARD CXX_EXTENSIONS
                            POSITION_INDEPENDENT_CODE INTERPROCEDURAL_OPTIMIZATION)
    foreach(each IN ITEMS ${first} ${target})
      get_target_property(${each}_has ${each} ${property})
      if(NOT ${each}_has)
        get_target_property(type ${each} TYPE)
        set(${each}_has "")
        if(property STREQUAL "POSITION_INDEPENDENT_CODE" AND type MATCHES "SHARED|MODULE")
          set(${each}_has ON)
        endif()
      endif()
    endforeach()
    if(NOT "${${first}_has}" STREQUAL "${${target}_has}")
      message(FATAL_ERROR "tilewright_precompile: ${property} is '${${first}_has}' for ${first} and '${${target}_has}' for "
                          "${target}: equal options, or a call for each target, expected")
    endif()
  endforeach()
endfunction()
