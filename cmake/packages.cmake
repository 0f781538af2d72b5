# Installation, and the packages that are made of what it installs: for find_package, for pkg-config, and for Debian.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/tilewright)
install(DIRECTORY include/tilewright TYPE INCLUDE FILES_MATCHING PATTERN *.hpp)
install(TARGETS tilewright tilewright_headers tilewright_header_only EXPORT tilewright INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT tilewright NAMESPACE tilewright:: FILE tilewright-targets.cmake DESTINATION ${package_dir})
write_basic_package_version_file(tilewright-config-version.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES cmake/tilewright-config.cmake cmake/tilewright-components.cmake cmake/tilewright-check.cmake
              cmake/export.py cmake/export_wasm.py cmake/network.js.in cmake/network.d.ts.in cmake/tilewright-export.cmake cmake/tilewright-lab.cmake cmake/tilewright-precompile.cmake cmake/tilewright-import.cmake cmake/tilewright.cppm cmake/tilewright-runtime.cmake cmake/compiled.cpp cmake/FindLibZip.cmake cmake/gdb/tilewright.py .clangd
              ${PROJECT_BINARY_DIR}/tilewright-config-version.cmake
        DESTINATION ${package_dir})
install(DIRECTORY cmake/onnx DESTINATION ${package_dir} FILES_MATCHING PATTERN *.py PATTERN __pycache__ EXCLUDE)
install(PROGRAMS cmake/tilewright-import TYPE BIN)

# pkg-config does not know the compiler: a file for GCC's options and one for Clang's.
set(pkg_config_dir ${CMAKE_INSTALL_DATADIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${pkg_config_dir} OUTPUT_VARIABLE to_prefix)
function(tilewright_install_pkg_config name compiler)
  list(JOIN ARGN " " options)
  configure_file(cmake/tilewright.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${pkg_config_dir})
endfunction()
tilewright_install_pkg_config(tilewright GCC ${tilewright_GNU_options})
tilewright_install_pkg_config(tilewright-clang Clang ${tilewright_Clang_options})

# A Debian package: `cpack -G DEB` in the folder of the build.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tilewright RENAME copyright)
if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_CONTACT "the tilewright authors")
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE all)
  set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libboost-dev, libxtensor-dev (>= 0.24), libxsimd-dev (>= 8.1)")
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
      "${tilewright_debian_ZLIB}, ${tilewright_debian_PNG}, ${tilewright_debian_LibZip}, ${tilewright_debian_nlohmann_json}")
  set(CPACK_DEBIAN_PACKAGE_SUGGESTS "${tilewright_debian_MPI}, python3-onnx")
  include(CPack)
endif()
