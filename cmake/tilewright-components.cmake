# What tilewright's targets are for the compiler and the packages of whoever uses them. Both the project itself and the installed
# package include this.

# Components: the extras of docs/architecture.md, and data, whose readers of files need zlib. Those whose packages are found become
# targets; some need none beyond the core's.
set(tilewright_components data profile checkpoint scaling distributed)
set(tilewright_data_packages ZLIB)
set(tilewright_profile_packages)
set(tilewright_checkpoint_packages ZLIB LibZip nlohmann_json)
set(tilewright_scaling_packages)
set(tilewright_distributed_packages ZLIB MPI)
# Debian's and Ubuntu's names.
set(tilewright_debian_ZLIB zlib1g-dev)
set(tilewright_debian_LibZip libzip-dev)
set(tilewright_debian_nlohmann_json nlohmann-json3-dev)
set(tilewright_debian_MPI libopenmpi-dev)

list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})  # FindLibZip.cmake
find_package(ZLIB QUIET)
find_package(LibZip QUIET)
find_package(nlohmann_json QUIET)
find_package(MPI QUIET COMPONENTS CXX)
list(REMOVE_ITEM CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})

# Sets tilewright_<component>_missing to a text of the packages that are not there, and makes the target if there are none.
function(tilewright_add_component component)
  set(missing)
  set(debian)
  foreach(package IN LISTS tilewright_${component}_packages)
    if(NOT ${package}_FOUND)
      list(APPEND missing ${package})
      list(APPEND debian ${tilewright_debian_${package}})
    endif()
  endforeach()
  if(missing)
    list(JOIN missing ", " missing)
    list(JOIN debian " " debian)
    string(APPEND missing " (on Debian: ${debian})")
  endif()
  set(tilewright_${component}_missing "${missing}" PARENT_SCOPE)
  if(NOT missing AND NOT TARGET tilewright::${component})
    add_library(tilewright::${component} INTERFACE IMPORTED GLOBAL)
    target_link_libraries(tilewright::${component} INTERFACE tilewright::tilewright ${ARGN})
  endif()
endfunction()
tilewright_add_component(data ZLIB::ZLIB)
tilewright_add_component(profile)
tilewright_add_component(checkpoint ZLIB::ZLIB LibZip::LibZip nlohmann_json::nlohmann_json)
tilewright_add_component(scaling)
tilewright_add_component(distributed ZLIB::ZLIB MPI::MPI_CXX)

# clang-cl takes Clang's own options after "/clang:".
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND CMAKE_CXX_COMPILER_FRONTEND_VARIANT STREQUAL "MSVC")
  get_target_property(target tilewright::tilewright ALIASED_TARGET)
  if(NOT target)
    set(target tilewright::tilewright)
  endif()
  get_target_property(options ${target} INTERFACE_COMPILE_OPTIONS)
  string(REGEX REPLACE "(^|;|:)-f" "\\1/clang:-f" options "${options}")
  set_target_properties(${target} PROPERTIES INTERFACE_COMPILE_OPTIONS "${options}")
endif()
