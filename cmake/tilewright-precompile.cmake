# tilewright_precompile(TARGET... [HEADERS net.hpp ...])
#
# Compiles tilewright's headers for programs once, for all these targets together, so that each of their sources takes less time to
# compile. HEADERS: more headers that most sources of the targets include, and that rarely change. A compiler uses a precompiled
# header only with the options that it was made with. So all targets of a call need equal options, and CMake stops if they differ.
# Targets with other options need a call of their own.
function(tilewright_precompile)
  cmake_parse_arguments(PARSE_ARGV 0 given "" "" "HEADERS")
  set(targets ${given_UNPARSED_ARGUMENTS})
  if(NOT targets)
    message(FATAL_ERROR "tilewright_precompile(${ARGV}): TARGET... [HEADERS file...] expected")
  endif()
  _tilewright_require_targets(tilewright_precompile ${targets})
  list(POP_FRONT targets owner)
  target_precompile_headers(${owner} PRIVATE <tilewright/precompiled.hpp> ${given_HEADERS})
  foreach(target IN LISTS targets)
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endforeach()
  # The options may change until the end of the caller's file. A deferred call needs its arguments as they are now.
  list(JOIN targets " " targets)
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _tilewright_finish_precompile ${owner} ${targets})")
endfunction()

# Stops if one of the names is no target.
function(_tilewright_require_targets caller)
  foreach(target IN LISTS ARGN)
    if(NOT TARGET ${target})
      message(FATAL_ERROR "${caller}: ${target} is no target: the name of a target that exists expected")
    endif()
  endforeach()
endfunction()

function(_tilewright_finish_precompile owner)
  foreach(target IN LISTS ARGN)
    _tilewright_require_equal_options(${owner} ${target})
  endforeach()
  foreach(target IN LISTS owner ARGN)  # GCC forgets in precompiled headers which warnings its headers for AVX-512 turn off
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized;-Wno-uninitialized>")
    set_target_properties(${target} PROPERTIES TILEWRIGHT_PRECOMPILED ON)
  endforeach()
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
