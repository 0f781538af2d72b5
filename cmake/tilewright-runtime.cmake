# What sessions, loaders and prefetching have in common in all programs: compiled.cpp, which a target of tilewright::tilewright compiles
# once, as one more source, with its own options. A source with options of its own does not find it: the linker stops, and names them.
#
# A target's property TILEWRIGHT_RUNTIME, or the variable of that name when the target is made, says where that code is:
#
#   (empty)   in the target
#   linked    in a library that the target links, and that links tilewright::tilewright itself
#   headers   in each source, as with tilewright::header_only
define_property(TARGET PROPERTY TILEWRIGHT_RUNTIME INITIALIZE_FROM_VARIABLE TILEWRIGHT_RUNTIME)
# With the property TILEWRIGHT_LIBRARY_KERNELS the code also has the kernels of tw::cpu.with_library_kernels(). Without it, each source
# that uses them compiles them.
define_property(TARGET PROPERTY TILEWRIGHT_LIBRARY_KERNELS INITIALIZE_FROM_VARIABLE TILEWRIGHT_LIBRARY_KERNELS)

# Gives the first target that source, and the second one the property.
function(tilewright_add_runtime target header_only)
  include(GNUInstallDirs)
  set(where $<TARGET_PROPERTY:TILEWRIGHT_RUNTIME>)
  foreach(kind IN ITEMS BUILD INSTALL)
    set(source ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/compiled.cpp)
    if(kind STREQUAL "INSTALL")
      set(source $<INSTALL_PREFIX>/${CMAKE_INSTALL_DATADIR}/cmake/tilewright/compiled.cpp)
    endif()
    target_sources(${target} INTERFACE $<${kind}_INTERFACE:$<$<STREQUAL:${where},>:${source}>>)
  endforeach()
  target_compile_definitions(${target} INTERFACE $<$<NOT:$<STREQUAL:${where},headers>>:TILEWRIGHT_COMPILED>)
  set(has_kernels $<BOOL:$<TARGET_PROPERTY:TILEWRIGHT_LIBRARY_KERNELS>>)
  target_compile_definitions(${target} INTERFACE $<$<AND:${has_kernels},$<NOT:$<STREQUAL:${where},headers>>>:TILEWRIGHT_LIBRARY_KERNELS>)
  set_target_properties(${header_only} PROPERTIES INTERFACE_TILEWRIGHT_RUNTIME headers
                                                  COMPATIBLE_INTERFACE_STRING TILEWRIGHT_RUNTIME)
endfunction()
